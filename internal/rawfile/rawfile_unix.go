//go:build unix

package rawfile

import (
	"errors"
	"io"
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

// Reader is an io.ReaderAt of a file that stays open.
type Reader struct {
	f  *os.File
	fd int
}

// NewReader makes a Reader of f, which must not be closed before its last read.
func NewReader(f *os.File) *Reader { return &Reader{f, int(f.Fd())} }

// ReadAt reads len(p) bytes at off, or fails as os.File does.
func (r *Reader) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		k, err := unix.Pread(r.fd, p[n:], off+int64(n))
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return n, &os.PathError{Op: "read", Path: r.f.Name(), Err: err}
		case k == 0:
			return n, io.EOF
		default:
			n += k
		}
	}
	return n, nil
}
