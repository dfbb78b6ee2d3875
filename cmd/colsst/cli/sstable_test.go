package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/cassandra"
	"github.com/colsst/colsst/rowgroup"
)

// nb is the version of the SSTables that tests write.
const nb = cassandra.Version("nb")

// alive is the deletion of what is not deleted.
var alive = rowgroup.Deletion{MarkedForDeleteAt: rowgroup.NoDeletion, LocalDeletionTime: nb.NoDeletionTime()}

// writeSSTable writes an uncompressed SSTable of version nb, without checksums,
// whose body fill writes, and returns the path of its Data.db.
func writeSSTable(t *testing.T, dir, id string, h *cassandra.Header, stats *cassandra.Stats, fill func(w *cassandra.BodyWriter)) string {
	h, err := cassandra.ParseHeader(h.Append(nil))
	require.NoError(t, err)
	var body bytes.Buffer
	w := cassandra.NewBodyWriter(&body, nb, h)
	fill(w)
	require.NoError(t, w.Flush())
	d := cassandra.Descriptor{Version: nb, ID: id}
	validation := cassandra.Validation{Partitioner: "org.apache.cassandra.dht.ByteOrderedPartitioner"}
	require.NoError(t, os.MkdirAll(dir, 0o700))
	for c, b := range map[cassandra.Component][]byte{
		cassandra.ComponentData: body.Bytes(),
		cassandra.ComponentStatistics: cassandra.AppendStatistics(nil, nb, &cassandra.StatisticsFile{
			RawHeader: h.Append(nil), RawStats: stats.Append(nil, nb), RawValidation: validation.Append(nil),
		}),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, d.FileName(c)), b, 0o600))
	}
	return filepath.Join(dir, d.FileName(cassandra.ComponentData))
}

// writePartitions writes an SSTable of partitions with one row of one cell
// each. The cells were written at a time; where value is "" they are tombstones
// of second 100.
func writePartitions(t *testing.T, dir, id string, at int64, keys []string, value string) string {
	h := &cassandra.Header{Key: cassandra.Column{TypeText: "BytesType"}, Regular: []cassandra.Column{{Name: "v", TypeText: "UTF8Type"}}}
	stats := &cassandra.Stats{
		MinTimestamp: at, MaxTimestamp: at, MinLocalDeletionTime: nb.NoDeletionTime(), MaxLocalDeletionTime: nb.NoDeletionTime(),
		TotalColumnsSet: int64(len(keys)), TotalRows: int64(len(keys)),
	}
	cell := cassandra.Cell{Kind: rowgroup.CellLive, Timestamp: at, Value: []byte(value)}
	if value == "" {
		cell = cassandra.Cell{Kind: rowgroup.CellTombstone, Timestamp: at, LocalDeletionTime: 100}
		stats.MinLocalDeletionTime, stats.MaxLocalDeletionTime = 100, 100
		stats.Tombstones = []cassandra.TombstoneBin{{Point: 100, Count: int64(len(keys))}}
	}
	return writeSSTable(t, dir, id, h, stats, func(w *cassandra.BodyWriter) {
		for _, key := range keys {
			require.NoError(t, w.BeginPartition([]byte(key), alive))
			require.NoError(t, w.Row(&cassandra.Row{Liveness: rowgroup.LivenessNone, Deletion: alive, Cells: []cassandra.Cell{cell}}))
			require.NoError(t, w.EndPartition())
		}
	})
}

// writeRows writes an SSTable of one partition, "k", whose rows have these
// clusterings, and one cell each that expires at a second.
func writeRows(t *testing.T, dir string, expiry int64, clusterings ...byte) string {
	h := &cassandra.Header{
		Key: cassandra.Column{TypeText: "UTF8Type"}, Clustering: []cassandra.Column{{TypeText: "Int32Type"}},
		Regular: []cassandra.Column{{Name: "v", TypeText: "UTF8Type"}},
	}
	return writeSSTable(t, dir, "1", h, &cassandra.Stats{TotalRows: int64(len(clusterings))}, func(w *cassandra.BodyWriter) {
		require.NoError(t, w.BeginPartition([]byte("k"), alive))
		for _, c := range clusterings {
			cell := cassandra.Cell{Kind: rowgroup.CellExpiring, Timestamp: 6, TTL: 500, LocalDeletionTime: expiry, Value: []byte("x")}
			require.NoError(t, w.Row(&cassandra.Row{
				Clustering: [][]byte{{0, 0, 0, c}}, Liveness: rowgroup.LivenessNone, Deletion: alive, Cells: []cassandra.Cell{cell},
			}))
		}
		require.NoError(t, w.EndPartition())
	})
}

// Expiries that overflowed in an old version are counted by name.
func TestReportOverflowedExpiries(t *testing.T) {
	path := writeRows(t, t.TempDir(), -2_147_400_000, 1, 2)
	out, _ := run(t, 0, "cassandra", "report", path, "--now", "1900000000")
	require.Contains(t, out, "\n  overflowed expiries    2\n")
	path = writeRows(t, t.TempDir(), 1_800_000_000, 1, 2)
	out, _ = run(t, 0, "cassandra", "report", path)
	require.NotContains(t, out, "overflowed")
}

// What is out of order is damage that is named by its place, in every command
// that reads it, or left out.
func TestSSTableOutOfOrder(t *testing.T) {
	partitions := writePartitions(t, t.TempDir(), "1", 1, []string{"a", "c", "b", "d"}, "x")
	rows := writeRows(t, t.TempDir(), 1_800_000_000, 1, 3, 2, 4)
	out := filepath.Join(t.TempDir(), "x.csst")
	const (
		places = ": partition 62, unfiltered at 46 of the body, chunk 0 at 0: key 62 is out of order, or twice"
		placed = ": partition 6b, unfiltered at 53 of the body, chunk 0 at 0: out of order, or twice"
	)
	for _, args := range [][]string{
		{"verify"}, {"dump"}, {"dump", "--live"}, {"query"}, {"query", "--agg", "count"}, {"convert", "-o", out},
		{"convert", "-o", out + ".csv"}, {"convert", "-o", out + ".parquet"}, {"query", "--key", "k"}, {"query", "--key", "k", "--latest", "1"},
		{"query", "--key", "k", "--since", "4"}, {"dump", "--sstabledump"}, {"cassandra", "report"},
	} {
		if args[0] != "cassandra" && args[len(args)-1] != "--sstabledump" { // which check partitions alone
			_, errs := run(t, 3, append(args, rows)...)
			require.Contains(t, errs, rows+placed, args)
		}
		if !slices.Contains(args, "--key") {
			_, errs := run(t, 3, append(args, partitions)...)
			require.Contains(t, errs, partitions+places, args)
		}
		require.NoFileExists(t, out)
	}
	run(t, 3, "diff", partitions, partitions)
	_, errs := run(t, 6, "convert", partitions, "-o", out, "--on-error", "skip")
	require.Contains(t, errs, "left out: partition 62: partition 62")
	text, _ := run(t, 0, "query", out, "--columns", "key", "--format", "csv")
	require.Equal(t, "key\n0x61\n0x63\n0x64\n", text)
}

// An SSTable of nothing but old tombstones could go as a whole, unless another
// one of its table has data as old.
func TestReportBlockedBy(t *testing.T) {
	dir := t.TempDir()
	dead := writePartitions(t, dir, "1", 1000, []string{"a", "b"}, "")
	args := []string{"cassandra", "report", dir, "--now", "200", "--gc-grace", "99"}
	out, _ := run(t, 0, args...)
	require.Contains(t, out, "expired               all of it; no other SSTable given keeps it")
	require.Contains(t, out, "by Statistics.db          2")
	writePartitions(t, dir, "2", 1001, []string{"a"}, "newer")
	older := writePartitions(t, dir, "3", 1000, []string{"a"}, "as old")
	out, _ = run(t, 0, args...)
	require.Contains(t, out, "all of it; kept by older data in")
	require.Equal(t, 1, strings.Count(out, "kept by older data"))
	out, _ = run(t, 0, append(args, "--format", "json")...)
	requireSchema(t, "report", out)
	require.Contains(t, out, `"blocked_by": [`+"\n"+`    "`+older+`"`+"\n")
	out, _ = run(t, 0, "cassandra", "report", dead, "--now", "200", "--gc-grace", "100")
	require.NotContains(t, out, "expired               all")
}
