package rawfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func mapped(t *testing.T, content []byte) (path string, b []byte) {
	path = filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	f, err := os.Open(path)
	require.NoError(t, err)
	b, err = Map(f, len(content))
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	require.NoError(t, err)
	require.NoError(t, f.Close())
	t.Cleanup(func() { require.NoError(t, Unmap(b)) })
	return path, b
}

func TestMap(t *testing.T) {
	content := bytes.Repeat([]byte("content"), 10_000)
	_, b := mapped(t, content)
	require.Equal(t, content, b)
}

func TestReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	content := bytes.Repeat([]byte("content"), 10_000)
	require.NoError(t, os.WriteFile(path, content, 0o600))
	f, err := os.Open(path)
	require.NoError(t, err)
	r := NewReader(f)
	p := make([]byte, 1000)
	n, err := r.ReadAt(p, 777)
	require.NoError(t, err)
	require.Equal(t, content[777:777+n], p)
	n, err = r.ReadAt(p, int64(len(content)-10))
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, content[len(content)-10:], p[:n])
	n, err = r.ReadAt(nil, 5)
	require.NoError(t, err)
	require.Zero(t, n)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if _, err := r.ReadAt(p, 0); err != nil {
			t.Fatal(err)
		}
	}))
	_, err = r.ReadAt(p, -1)
	require.Error(t, err)
	require.NoError(t, f.Close())
	_, err = r.ReadAt(p, 0)
	var e *os.PathError
	require.ErrorAs(t, err, &e)
	require.Equal(t, path, e.Path)
}

// A file that became shorter gives an error, and other panics pass.
func TestCatch(t *testing.T) {
	path, b := mapped(t, make([]byte, 1<<20))
	require.NoError(t, os.Truncate(path, 10))
	read := func() (x byte, err error) {
		defer Catch(Guard(), &err)
		return b[len(b)-1], nil
	}
	_, err := read()
	var fault *Error
	require.ErrorAs(t, err, &fault)
	require.ErrorContains(t, err, "was it cut?")
	require.PanicsWithValue(t, "other", func() {
		var err error
		defer Catch(Guard(), &err)
		panic("other")
	})
	require.Panics(t, func() {
		var err error
		defer Catch(Guard(), &err)
		write(nil)
	})
}

func write(p *int) { *p = 1 }
