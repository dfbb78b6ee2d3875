package atomicfile

import (
	"io"
	"io/fs"
	"os"
	"runtime"
)

// system is what is needed of a file system; tests make each call fail.
type system interface {
	Stat(path string) (fs.FileInfo, error)
	OpenFile(path string, flag int, mode fs.FileMode) (handle, error)
	Link(from, to string) error
	Rename(from, to string) error
	Remove(path string) error
	SyncDir(path string) error
	// OpenUnnamed opens a new file of a folder that has no name, if that can be;
	// LinkUnnamed gives it one.
	OpenUnnamed(dir string, mode fs.FileMode) (handle, error)
	LinkUnnamed(f handle, path string) error
}

type handle interface {
	io.WriteCloser
	io.ReaderAt
	Sync() error
}

type osFS struct{}

func (osFS) Stat(path string) (fs.FileInfo, error) { return os.Stat(path) }
func (osFS) Link(from, to string) error            { return os.Link(from, to) }
func (osFS) Rename(from, to string) error          { return os.Rename(from, to) }
func (osFS) Remove(path string) error              { return os.Remove(path) }

func (osFS) OpenFile(path string, flag int, mode fs.FileMode) (handle, error) {
	f, err := os.OpenFile(path, flag, mode)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// SyncDir makes renames in a folder durable. Windows cannot open folders for
// that; NTFS journals its names.
func (osFS) SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	err = d.Sync()
	if runtime.GOOS == "windows" {
		err = nil
	}
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}
