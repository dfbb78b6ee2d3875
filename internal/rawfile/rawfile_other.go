//go:build !unix

package rawfile

import (
	"errors"
	"os"
)

// Map fails with errors.ErrUnsupported.
func Map(f *os.File, size int) ([]byte, error) {
	return nil, &os.PathError{Op: "mmap", Path: f.Name(), Err: errors.ErrUnsupported}
}

// Unmap does nothing.
func Unmap([]byte) error { return nil }

// Reader is an io.ReaderAt of a file that stays open.
type Reader struct{ *os.File }

// NewReader makes a Reader of f, which must not be closed before its last read.
func NewReader(f *os.File) *Reader { return &Reader{f} }
