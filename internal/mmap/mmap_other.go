//go:build !unix

package mmap

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
