//go:build !linux

package atomicfile

import (
	"errors"
	"io/fs"
)

func (osFS) OpenUnnamed(string, fs.FileMode) (handle, error) { return nil, errors.ErrUnsupported }
func (osFS) LinkUnnamed(handle, string) error                { return errors.ErrUnsupported }
