package atomicfile

import (
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// fdFolder names the open files of the process.
const fdFolder = "/proc/self/fd/"

func (osFS) OpenUnnamed(dir string, mode fs.FileMode) (handle, error) {
	if _, err := os.Stat(fdFolder); err != nil {
		return nil, err // it could not be linked
	}
	f, err := os.OpenFile(dir, os.O_RDWR|unix.O_TMPFILE, mode)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (osFS) LinkUnnamed(f handle, path string) error {
	from := fdFolder + strconv.Itoa(int(f.(*os.File).Fd()))
	if err := unix.Linkat(unix.AT_FDCWD, from, unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW); err != nil {
		return &os.LinkError{Op: "link", Old: from, New: path, Err: err}
	}
	return nil
}
