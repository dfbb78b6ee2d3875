package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/cmd/colsst/cli"
)

// run runs a command line in this process.
func run(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code := cli.Execute(args, strings.NewReader(""), &out, &errs)
	require.Equal(t, want, code, "%v: %s%s", args, &out, &errs)
	return out.String(), errs.String()
}

// Damage is named by file, part and offset, in every command that reads it,
// with exit code 3.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.csst")
	run(t, 0, "gen", "metrics5", "--series", "2", "--points", "10000", "-o", path, "-q")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)

	broken := filepath.Join(dir, "broken.csst")
	b := bytes.Clone(whole)
	b[len(b)/2] ^= 0x10
	require.NoError(t, os.WriteFile(broken, b, 0o600))
	out, errs := run(t, 3, "verify", broken)
	require.Empty(t, out)
	require.Regexp(t, `^`+broken+`: .* at \d+: (block: )?checksum mismatch`, errs)
	require.Equal(t, 1, strings.Count(errs, "\n"), errs)
	out, errs = run(t, 3, "verify", broken, path, "--format", "json")
	require.Contains(t, errs, "checksum mismatch")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, 2)
	var v struct {
		OK       bool
		Findings []struct {
			Part   string
			Offset int64
			Error  string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(lines[0]), &v))
	require.False(t, v.OK)
	require.Positive(t, v.Findings[0].Offset)
	require.NotEmpty(t, v.Findings[0].Part)
	run(t, 0, "verify", broken, "--level", "footer")
	for _, args := range [][]string{
		{"dump", broken}, {"describe", broken}, {"query", broken}, {"diff", broken, path},
		{"convert", broken, "-o", filepath.Join(dir, "x.csv")},
	} {
		_, errs := run(t, 3, args...)
		require.True(t, strings.HasPrefix(errs, broken+": "), errs)
		require.Contains(t, errs, "checksum mismatch")
	}
	require.NoFileExists(t, filepath.Join(dir, "x.csv"))

	for _, n := range []int{0, 1, 15, 47, 48, len(whole) / 2, len(whole) - 1} {
		require.NoError(t, os.WriteFile(broken, whole[:n], 0o600))
		_, errs := run(t, 3, "verify", broken)
		require.True(t, strings.HasPrefix(errs, broken+": "), errs)
	}
}
