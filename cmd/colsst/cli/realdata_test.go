package cli_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Real series go to table files and back under every combination of layers.
func TestNAB(t *testing.T) {
	const root = "../../../../shared/testdata/real/nab"
	if _, err := os.Stat(root); err != nil {
		t.Skip("no ../shared/testdata")
	}
	if testing.Short() {
		t.Skip("converts many files: not in short mode")
	}
	combinations := [][]string{
		nil, // default
		{"--compression", "zstd:16", "--column-compression", "zstd"},
		{"--compression", "zstd:16"},
		{"--column-compression", "zstd"},
		{"--column-compression", "zstd", "--set", "row_group_rows=512"},
	}
	dir := t.TempDir()
	files := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.Contains(path, ".csv") {
			return err
		}
		files++
		table, back := filepath.Join(dir, "x.csst"), filepath.Join(dir, "x.csv")
		args := append([]string{"convert", path, "--time", "timestamp", "--sort", "-o", table, "-f", "-q"}, combinations[files%5]...)
		run(t, 0, args...)
		run(t, 0, "verify", table)
		run(t, 0, "convert", table, "-o", back, "-f", "-q")
		for _, text := range []string{path, back} {
			out, errs := run(t, 0, "diff", text, table, "--time", "timestamp")
			require.Regexp(t, `^equal: [0-9,]+ rows\n$`, out)
			require.Empty(t, errs)
		}
		return nil
	}))
	require.Equal(t, 47, files)
}
