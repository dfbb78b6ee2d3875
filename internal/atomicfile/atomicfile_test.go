package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func names(t *testing.T, dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestCommit(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	f, err := Create(path, false)
	require.NoError(t, err)
	_, err = f.Write([]byte("one"))
	require.NoError(t, err)
	require.NoFileExists(t, path)
	got := make([]byte, 2)
	_, err = f.ReadAt(got, 1)
	require.NoError(t, err)
	require.Equal(t, "ne", string(got))
	require.NoError(t, f.Commit())
	require.Equal(t, []string{"a"}, names(t, dir))
	f.Abort()
	require.Error(t, f.Commit())

	_, err = Create(path, false)
	require.ErrorIs(t, err, fs.ErrExist)
	require.NoError(t, os.Chmod(path, 0o600))
	f, err = Create(path, true)
	require.NoError(t, err)
	f.Abort()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "one", string(b))
	f, err = Create(path, true)
	require.NoError(t, err)
	require.NoError(t, f.Commit())
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Zero(t, info.Size())
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	require.Equal(t, []string{"a"}, names(t, dir))
}

func TestTargets(t *testing.T) {
	dir := t.TempDir()
	_, err := Create(dir, true)
	require.ErrorContains(t, err, "is a directory")
	_, err = Create(filepath.Join(dir, "no", "a"), true)
	require.ErrorIs(t, err, fs.ErrNotExist)
	f, err := Create(os.DevNull, false)
	require.NoError(t, err)
	_, err = f.Write([]byte("x"))
	require.NoError(t, err)
	_, err = f.ReadAt(make([]byte, 1), 0)
	require.ErrorContains(t, err, "read back")
	require.NoError(t, f.Commit())
	require.Empty(t, names(t, dir))
}

func TestSymbolicLink(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	if err := os.Symlink("a", link); err != nil {
		t.Skip("no symbolic links")
	}
	f, err := Create(link, true)
	require.NoError(t, err)
	_, err = f.Write([]byte("x"))
	require.NoError(t, err)
	require.NoError(t, f.Commit())
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "x", string(b))
	target, err := os.Readlink(link)
	require.NoError(t, err)
	require.Equal(t, "a", target)
}

// A file that comes between Create and Commit is not replaced.
func TestLateFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	for _, sys := range []*failing{{}, {noLinks: true}, {unnamed: true}} {
		f, err := create(sys, path, false)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, []byte("other"), 0o600))
		require.ErrorIs(t, f.Commit(), fs.ErrExist)
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "other", string(b))
		require.Equal(t, []string{"a"}, names(t, dir))
		require.NoError(t, os.Remove(path))
	}
}

// failing fails at the named call.
type failing struct {
	osFS
	at      string
	noLinks bool
	unnamed bool // files without a name
}

var errInjected = errors.New("injected")

func (f *failing) fail(call string) error {
	if f.at == call {
		return errInjected
	}
	return nil
}

func (f *failing) OpenFile(path string, flag int, mode fs.FileMode) (handle, error) {
	if f.at == "open" {
		return nil, errInjected
	}
	h, err := f.osFS.OpenFile(path, flag, mode)
	if err != nil {
		return nil, err
	}
	return failingHandle{h, f}, nil
}

func (f *failing) OpenUnnamed(dir string, mode fs.FileMode) (handle, error) {
	if f.at == "open" || !f.unnamed {
		return nil, errInjected
	}
	h, err := f.osFS.OpenUnnamed(dir, mode)
	if err != nil {
		return nil, err
	}
	return failingHandle{h, f}, nil
}

func (f *failing) LinkUnnamed(h handle, path string) error {
	if err := f.fail("rename"); err != nil {
		return err
	}
	return f.osFS.LinkUnnamed(h.(failingHandle).handle, path)
}

func (f *failing) Link(from, to string) error {
	if f.noLinks {
		return errors.New("no links here")
	}
	return errors.Join(f.fail("rename"), f.osFS.Link(from, to))
}

func (f *failing) Rename(from, to string) error {
	if err := f.fail("rename"); err != nil {
		return err
	}
	return f.osFS.Rename(from, to)
}

func (f *failing) SyncDir(path string) error {
	return errors.Join(f.fail("syncdir"), f.osFS.SyncDir(path))
}

type failingHandle struct {
	handle
	f *failing
}

func (h failingHandle) Write(p []byte) (int, error) {
	if err := h.f.fail("write"); err != nil {
		n, _ := h.handle.Write(p[:len(p)/2])
		return n, err
	}
	return h.handle.Write(p)
}

func (h failingHandle) Sync() error  { return errors.Join(h.f.fail("sync"), h.handle.Sync()) }
func (h failingHandle) Close() error { return errors.Join(h.f.fail("close"), h.handle.Close()) }

func TestT39FailuresLeaveTheOldFile(t *testing.T) {
	for _, at := range []string{"open", "write", "sync", "close", "rename", "syncdir"} {
		for i := range 4 {
			old, unnamed := i&1 > 0, i&2 > 0
			if unnamed && at == "close" {
				continue // after all was synced
			}
			t.Run(at, func(t *testing.T) {
				dir := t.TempDir()
				path := filepath.Join(dir, "a")
				want := []string(nil)
				if old {
					require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
					want = []string{"a"}
				}
				err := func() error {
					f, err := create(&failing{at: at, noLinks: true, unnamed: unnamed}, path, old)
					if err != nil {
						return err
					}
					defer f.Abort()
					if _, err := f.Write([]byte("new content")); err != nil {
						_, again := f.Write(nil)
						require.ErrorIs(t, again, errInjected)
						return f.Commit() // a caller that does not look
					}
					return f.Commit()
				}()
				require.ErrorIs(t, err, errInjected)
				if at == "syncdir" {
					b, err := os.ReadFile(path)
					require.NoError(t, err)
					require.Equal(t, "new content", string(b))
					return
				}
				require.Equal(t, want, names(t, dir))
				if old {
					b, err := os.ReadFile(path)
					require.NoError(t, err)
					require.Equal(t, "old", string(b))
				}
			})
		}
	}
}

// Where the system can, a file that is not committed has no name to leave
// behind.
func TestUnnamed(t *testing.T) {
	dir := t.TempDir()
	if f, err := (osFS{}).OpenUnnamed(dir, 0o600); err != nil {
		t.Skip(err)
	} else {
		require.NoError(t, f.Close())
	}
	f, err := Create(filepath.Join(dir, "a"), false)
	require.NoError(t, err)
	_, err = f.Write([]byte("x"))
	require.NoError(t, err)
	require.Empty(t, names(t, dir))
	require.NoError(t, f.Commit())
	require.Equal(t, []string{"a"}, names(t, dir))
}

func TestTemp(t *testing.T) {
	dir := t.TempDir()
	f, err := Temp(dir)
	require.NoError(t, err)
	_, err = f.WriteString("abc")
	require.NoError(t, err)
	b := make([]byte, 2)
	_, err = f.ReadAt(b, 1)
	require.NoError(t, err)
	require.Equal(t, "bc", string(b))
	require.NoError(t, f.Close())
	require.Empty(t, names(t, dir))
	_, err = Temp(filepath.Join(dir, "no"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}
