package cassandra

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
)

// Any number of goroutines yields the same bytes, and after damage the same
// error behind them; a Stream may be closed at any time.
func TestStreamWorkers(t *testing.T) {
	body := make([]byte, 3<<20+777)
	src := rand.New(rand.NewPCG(7, 8))
	for i := 0; i < len(body); i += 3 {
		body[i] = byte(src.Uint32())
	}
	const chunk = 32 << 10
	data, info, _ := makeData(t, "nb", body, making{compressor: "LZ4Compressor", chunkLength: chunk, trailing: true})
	d := &DataFile{Name: "Data.db", File: bytes.NewReader(data), Size: int64(len(data)), Compression: info}
	spoilt := bytes.Clone(data)
	spoilt[info.Offsets[61]+9] ^= 1
	bad := *d
	bad.File = bytes.NewReader(spoilt)
	for _, workers := range []int{0, 1, 2, 4, 9} {
		for _, from := range []int64{0, 1, chunk, 5*chunk + 17, int64(len(body)) - 1, int64(len(body))} {
			s, err := d.stream(from, workers)
			require.NoError(t, err)
			got, err := io.ReadAll(s)
			require.NoError(t, err)
			require.True(t, bytes.Equal(body[from:], got))
			_, err = s.Read(make([]byte, 1))
			require.ErrorIs(t, err, io.EOF)
			require.NoError(t, s.Close())
			require.NoError(t, s.Close())
		}
		s, err := bad.stream(100, workers)
		require.NoError(t, err)
		got, err := io.ReadAll(s)
		require.ErrorIs(t, err, encoding.ErrCorrupt)
		require.ErrorContains(t, err, "chunk 61 at ")
		require.True(t, bytes.Equal(body[100:61*chunk], got))
		_, again := s.Read(make([]byte, 1))
		require.Equal(t, err, again)
		require.NoError(t, s.Close())
		for _, n := range []int64{0, 10, 1 << 20} {
			s, err := d.stream(0, workers)
			require.NoError(t, err)
			_, err = io.CopyN(io.Discard, s, n)
			require.NoError(t, err)
			require.NoError(t, s.Close())
			_, err = s.Read(make([]byte, 1))
			require.True(t, errors.Is(err, io.ErrClosedPipe))
		}
	}
}
