//go:build unix

package mmap

import (
	"os"

	"golang.org/x/sys/unix"
)

// Map maps the first size bytes of f, at least one. The mapping outlives f.
func Map(f *os.File, size int) ([]byte, error) {
	b, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: f.Name(), Err: err}
	}
	return b, nil
}

// Unmap ends a mapping, of which nothing may be read afterwards.
func Unmap(b []byte) error { return os.NewSyscallError("munmap", unix.Munmap(b)) }
