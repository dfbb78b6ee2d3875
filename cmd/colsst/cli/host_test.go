package cli_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/cmd/colsst/cli"
)

// A host program mounts the commands below one of its own.
func TestHost(t *testing.T) {
	host := &cobra.Command{Use: "database"}
	sst := &cobra.Command{Use: "sst"}
	host.AddCommand(sst)
	sst.AddCommand(cli.New().Commands()...)
	host.SetOut(io.Discard)
	host.SetErr(io.Discard)
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"sst", "version"}, 0},
		{[]string{"sst", "gen", "points", "-o", filepath.Join(t.TempDir(), "p.csst")}, 0},
		{[]string{"sst", "describe"}, 2},
		{[]string{"sst", "describe", "--nope"}, 2},
		{[]string{"sst", "describe", filepath.Join(t.TempDir(), "nope")}, 4},
	} {
		host.SetArgs(c.args)
		require.Equal(t, c.code, cli.ExitCode(host.Execute()), c.args)
	}
}

// Compressed text is read as what it holds; cut, it is corrupt.
func TestGzip(t *testing.T) {
	dir := t.TempDir()
	path, out := filepath.Join(dir, "day.csv.gz"), filepath.Join(dir, "day.csst")
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte("host,ts,v\na,1704067200000,1\nb,1704067200001,2\n"))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	run(t, 0, "convert", path, "-o", out, "--partition-key", "host", "--time", "ts:ms", "--verify")
	got, _ := run(t, 0, "diff", path, out)
	require.Equal(t, "equal: 2 rows\n", got)
	require.NoError(t, os.WriteFile(path, b.Bytes()[:b.Len()-5], 0o600))
	_, errs := run(t, 3, "convert", path, "-o", out, "-f", "--partition-key", "host", "--time", "ts:ms", "-q")
	require.Contains(t, errs, path+": ")
}
