// Package atomicfile writes files that appear whole or not at all: without a
// name where the system has such files (Linux), else under a temporary name in
// the folder of the target, then fsync, link or rename, fsync of the folder.
// After a crash the target is the old file, is absent, or is complete; what may
// be left behind ends in ".tmp", and has no name until its last moment where
// that can be.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// File is a file being written. It is not safe for concurrent use.
type File struct {
	fs      system
	path    string
	temp    string // the temporary name, or ""
	inPlace bool   // the target is written itself
	f       handle
	replace bool
	err     error // the first of Write
	done    bool
}

// Create begins a file that Commit will put at path. Without replace an
// existing file makes it, or Commit, fail with fs.ErrExist. A symbolic link is
// followed. A target that is a device or a pipe is written in place.
func Create(path string, replace bool) (*File, error) { return create(osFS{}, path, replace) }

func create(sys system, path string, replace bool) (*File, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	mode := fs.FileMode(0o666)
	info, err := sys.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, &fs.PathError{Op: "create", Path: path, Err: errors.New("is a directory")}
	case err == nil && !info.Mode().IsRegular():
		f, err := sys.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		return &File{fs: sys, path: path, f: f, inPlace: true}, nil
	case err == nil && !replace:
		return nil, &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	case err == nil:
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	file := &File{fs: sys, path: path, replace: replace}
	if file.f, err = sys.OpenUnnamed(filepath.Dir(path), mode); err == nil {
		return file, nil
	}
	err = file.named(func(temp string) (err error) {
		file.f, err = sys.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		return err
	})
	if err != nil {
		return nil, err
	}
	return file, nil
}

// named makes a temporary name with f.
func (f *File) named(make func(temp string) error) (err error) {
	for range 100 {
		temp := filepath.Join(filepath.Dir(f.path), "."+filepath.Base(f.path)+"."+strconv.FormatUint(uint64(rand.Uint32()), 36)+".tmp")
		if err = make(temp); err == nil {
			f.temp = temp
		}
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return err
}

// Write appends to the file. The first error sticks.
func (f *File) Write(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	n, err := f.f.Write(p)
	f.err = err
	return n, err
}

// ReadAt reads back what was written. A target that is a device or a pipe
// cannot be read back.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if f.inPlace {
		return 0, fmt.Errorf("%s cannot be read back", f.path)
	}
	return f.f.ReadAt(p, off)
}

// Commit makes the file durable under its name. After an error the target is
// as it was before Create, unless it is the folder's fsync that failed: then
// the target is complete, but a crash may take it back.
func (f *File) Commit() error {
	if f.done {
		return errors.New("commit of a file that is closed")
	}
	if f.inPlace {
		f.done = true
		return errors.Join(f.err, f.f.Close())
	}
	err := f.err
	if err == nil {
		err = f.f.Sync()
	}
	if err != nil {
		f.Abort()
		return err
	}
	f.done = true
	if f.temp == "" {
		err = f.link()
		_ = f.f.Close() // all of it was synced
	} else {
		err = f.f.Close()
	}
	if err == nil && f.temp != "" {
		err = f.rename()
	}
	if err != nil {
		if f.temp != "" {
			_ = f.fs.Remove(f.temp) // the first error is the one to tell
		}
		return err
	}
	return f.fs.SyncDir(filepath.Dir(f.path))
}

// link gives an unnamed file its name, or a temporary one to rename to that of
// a file which is there.
func (f *File) link() error {
	err := f.fs.LinkUnnamed(f.f, f.path)
	if f.replace && errors.Is(err, fs.ErrExist) {
		err = f.named(func(temp string) error { return f.fs.LinkUnnamed(f.f, temp) })
	}
	return err
}

func (f *File) rename() error {
	if !f.replace {
		// A link fails where a file of the name has come since Create. Where the
		// file system has no links, look and rename.
		err := f.fs.Link(f.temp, f.path)
		if err == nil {
			_ = f.fs.Remove(f.temp) // a second name, which ends in .tmp
			return nil
		}
		if errors.Is(err, fs.ErrExist) {
			return err
		}
		if _, err := f.fs.Stat(f.path); !errors.Is(err, fs.ErrNotExist) {
			return &fs.PathError{Op: "create", Path: f.path, Err: fs.ErrExist}
		}
	}
	return f.fs.Rename(f.temp, f.path)
}

// Abort removes the temporary file. After Commit or Abort it is a no-op.
func (f *File) Abort() {
	if f.done {
		return
	}
	f.done = true
	_ = f.f.Close() // nothing of it is wanted any more
	if f.temp != "" {
		_ = f.fs.Remove(f.temp) // at worst a file that ends in .tmp stays
	}
}
