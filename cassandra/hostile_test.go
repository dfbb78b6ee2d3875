package cassandra

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
)

// exampleTable is a random table of version v with something in it, the same
// for a seed.
func exampleTable(tb testing.TB, v Version, seed int) table {
	gen := rapid.Custom(func(t *rapid.T) table {
		return drawTable(t, tb, v)
	})
	for ; ; seed++ {
		x := gen.Example(seed)
		if len(x.events) > 12 && len(x.header.Clustering) < 4 && len(x.header.Regular) > 1 && len(x.header.Regular) < 9 && len(x.body(tb)) < 350 {
			return x
		}
	}
}

// typed reports whether err is one of those that bad input may get.
func typed(err error) bool {
	return errors.Is(err, encoding.ErrCorrupt) || errors.Is(err, encoding.ErrUnsupported)
}

// Every byte turned round and every truncation of every component: an error of
// the right kind, or sound contents. Damage in Data.db is always an error.
func TestHostileFiles(t *testing.T) {
	for i, m := range []struct {
		Version
		making
	}{
		{"mc", making{compressor: "LZ4Compressor", chunkLength: 128, blockLength: 30, trailing: true}},
		{"nb", making{compressor: "SnappyCompressor", chunkLength: 128, maxCompressed: 100}},
		{"oa", making{chunkLength: 64, blockLength: 30}},
		{"da", making{compressor: "LZ4Compressor", chunkLength: 64, blockLength: 60}},
	} {
		v := m.Version
		t.Run(string(v), func(t *testing.T) {
			t.Parallel()
			x := exampleTable(t, v, 100*i)
			files := makeSSTable(t, &x, m.making)
			dir := t.TempDir()
			data := write(t, dir, v, files)
			events, err := readAll(t, data)
			require.NoError(t, err)
			for c, sound := range files {
				path := filepath.Join(dir, Descriptor{v, "1"}.FileName(c))
				try := func(what string, b []byte) {
					require.NoError(t, os.WriteFile(path, b, 0o600))
					got, err := readAll(t, data)
					switch {
					case err != nil:
						require.True(t, typed(err) || c == ComponentTOC && errors.Is(err, os.ErrNotExist), "%s, %s: %v", c, what, err)
					case c == ComponentData:
						t.Fatalf("%s, %s: no error", c, what)
					case v.hasChecksums() || c != ComponentStatistics && c != ComponentCompressionInfo:
						sameEvents(t, events, got)
					}
				}
				for at := range sound {
					bad := bytes.Clone(sound)
					bad[at] ^= byte(1 << (at % 8))
					try(fmt.Sprintf("byte %d", at), bad)
					if at%5 == 0 {
						try(fmt.Sprintf("cut at %d", at), sound[:at])
					}
				}
				require.NoError(t, os.WriteFile(path, sound, 0o600))
			}
		})
	}
}

// readAll opens, verifies and reads an SSTable.
func readAll(t *testing.T, path string) (events []event, err error) {
	s, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if _, err = s.Verify(t.Context()); err != nil {
		return nil, err
	}
	r, err := s.Scan()
	if err != nil {
		return nil, err
	}
	events, err = collect(r.BodyReader)
	return events, errors.Join(err, r.Close())
}

// The same for bodies without checksums: no panic, no hang, an error of the
// right kind or some events that can be written.
func TestHostileBodies(t *testing.T) {
	for i, v := range []Version{"ma", "nb", "oa"} {
		x := exampleTable(t, v, 1000*i)
		body := x.body(t)
		try := func(b []byte) {
			r := NewBodyReader(bytes.NewReader(b), v, x.header)
			w := NewBodyWriter(io.Discard, v, x.header)
			for {
				e, err := r.Next()
				if errors.Is(err, io.EOF) {
					return
				}
				if err != nil {
					require.True(t, typed(err), err)
					return
				}
				_ = w.Write(e, r)
			}
		}
		for at := range body {
			for bit := range 8 {
				bad := bytes.Clone(body)
				bad[at] ^= 1 << bit
				try(bad)
			}
			if at > 0 {
				_, err := collect(NewBodyReader(bytes.NewReader(body[:at]), v, x.header))
				if err != nil {
					require.ErrorIs(t, err, encoding.ErrCorrupt)
				}
			}
		}
	}
}
