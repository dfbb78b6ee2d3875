package textfmt

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
)

func unhex(s string) string {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

const packedText = "a,b\n1,2\n"

// packedForms are packedText in every form.
func packedForms() map[string]string {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return map[string]string{
		"gzip":  gzipped(packedText),
		"zstd":  string(z.EncodeAll([]byte(packedText), nil)),
		"bzip2": unhex("425a6839314159265359bf87407f00000359000010000430003000200030c00869b28823278bb9229c28485fc3a03f80"),
		"xz": unhex("fd377a585a000004e6d6b4460200210116000000742fe5a3010007612c620a312c320a00be9cbd49b5122afe" +
			"00012008bb19d9bb1fb6f37d010000000004595a"),
	}
}

func decompress(r io.Reader) (string, error) {
	r, err := Decompress(r, "f")
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(r)
	return string(b), err
}

func TestDecompress(t *testing.T) {
	for name, in := range packedForms() {
		got, err := decompress(strings.NewReader(in))
		require.NoError(t, err, name)
		require.Equal(t, packedText, got)
		got, err = decompress(iotest.OneByteReader(strings.NewReader(in + in)))
		require.NoError(t, err, name)
		require.Equal(t, packedText+packedText, got)
		for n := range len(in) {
			_, err := decompress(strings.NewReader(in[:n]))
			if n < 6 || n < 10 && name == "bzip2" { // may be no magic yet
				continue
			}
			require.EqualError(t, err, "f: "+name+" data: it ends early", n)
			require.ErrorIs(t, err, encoding.ErrCorrupt)
			_, err = decompress(io.MultiReader(strings.NewReader(in[:n]), iotest.ErrReader(iotest.ErrTimeout)))
			require.ErrorIs(t, err, iotest.ErrTimeout, "%s %d", name, n)
		}
		_, err = decompress(strings.NewReader(in + "junk, and more than that"))
		require.ErrorIs(t, err, encoding.ErrCorrupt, name)
		if name == "gzip" {
			for _, junk := range []string{"j", "junk", "junk, and more than that", "\x00\x00", "\x1e\x8b\x08"} {
				got, err := decompress(strings.NewReader(in + in + junk))
				require.EqualError(t, err, "f: gzip data: bytes after the end of the gzip data")
				require.ErrorIs(t, err, encoding.ErrCorrupt)
				require.Equal(t, packedText+packedText, got)
			}
			for n := 1; n < len(in); n++ {
				_, err := decompress(strings.NewReader(in + in[:n]))
				require.EqualError(t, err, "f: gzip data: it ends early", n)
			}
		}
		for i := range in {
			bad := []byte(in)
			bad[i] ^= 0x20
			if got, err := decompress(bytes.NewReader(bad)); err != nil {
				require.True(t, errors.Is(err, encoding.ErrCorrupt), "%s %d %v", name, i, err)
			} else if got != packedText {
				require.Equal(t, string(bad), got, "%s %d", name, i) // not packed any more
			}
		}
	}
	for _, text := range []string{"", "\x1f", "BZh", "BZh9,text and more\n", "1,2\n"} {
		got, err := decompress(strings.NewReader(text))
		require.NoError(t, err)
		require.Equal(t, text, got)
	}
	empty, err := decompress(strings.NewReader(unhex("425a683917724538509000000000")))
	require.NoError(t, err)
	require.Empty(t, empty)
}
