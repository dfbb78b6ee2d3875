//go:build linux

package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/cassandra"
	"github.com/colsst/colsst/rowgroup"
)

// Memory of reading an SSTable is at most 128 MiB and three times the largest row.
func TestLargestRow(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a row of 64 MiB")
	}
	const version, size = "nb", 64 << 20
	header, err := cassandra.ParseHeader((&cassandra.Header{
		Key: cassandra.Column{TypeText: "BytesType"}, Regular: []cassandra.Column{{Name: "v", TypeText: "BytesType"}},
	}).Append(nil))
	require.NoError(t, err)
	dir := t.TempDir()
	none := rowgroup.Deletion{MarkedForDeleteAt: rowgroup.NoDeletion, LocalDeletionTime: cassandra.Version(version).NoDeletionTime()}
	value := make([]byte, size)
	for i := range value {
		value[i] = byte(i * i >> 3)
	}
	var body bytes.Buffer
	w := cassandra.NewBodyWriter(&body, version, header)
	require.NoError(t, w.BeginPartition([]byte("k"), none))
	require.NoError(t, w.Row(&cassandra.Row{
		Liveness: rowgroup.LivenessLive, Deletion: none, Cells: []cassandra.Cell{{Kind: rowgroup.CellLive, Value: value}},
	}))
	require.NoError(t, w.EndPartition())
	require.NoError(t, w.Flush())
	path := filepath.Join(dir, "nb-1-big-Data.db")
	require.NoError(t, os.WriteFile(path, body.Bytes(), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "nb-1-big-Statistics.db"), cassandra.AppendStatistics(nil, version, &cassandra.StatisticsFile{RawHeader: header.Append(nil)}), 0o600))

	for _, args := range [][]string{
		{"verify", path},
		{"cassandra", "report", path},
		{"dump", path},
		{"convert", path, "-o", filepath.Join(t.TempDir(), "x.csst")},
	} {
		c := exec.Command("colsst", args...)
		var text bytes.Buffer
		c.Stderr = &text
		require.NoError(t, c.Run(), "%s", &text)
		most := c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss / 1024
		t.Logf("%s: %d MiB", args[0], most)
		require.Less(t, most, int64(128+3*size>>20), args[0])
	}
}
