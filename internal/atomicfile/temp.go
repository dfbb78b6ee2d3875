package atomicfile

import "os"

// Temp opens a temporary file for reading and writing in a folder, "" for that
// of the system. It has no name where that can be, so that nothing is left of it
// when the process ends in whatever way; else it has none from now on, or until
// Close at the latest.
func Temp(dir string) (*TempFile, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	if h, err := (osFS{}).OpenUnnamed(dir, 0o600); err == nil {
		return &TempFile{File: h.(*os.File)}, nil
	}
	f, err := os.CreateTemp(dir, "colsst-*.tmp")
	if err != nil {
		return nil, err
	}
	t := &TempFile{f, f.Name()}
	if os.Remove(t.path) == nil {
		t.path = "" // the open file lives on
	}
	return t, nil
}

// TempFile is a file that goes when it is closed.
type TempFile struct {
	*os.File
	path string // to be removed, or ""
}

// Close closes the file and removes it.
func (t *TempFile) Close() error {
	err := t.File.Close()
	if t.path != "" {
		_ = os.Remove(t.path) // at worst a file that ends in .tmp stays
	}
	return err
}
