package cli_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/cassandra"
	"github.com/colsst/colsst/rowgroup"
)

// writeHistory writes an SSTable of partitions with static rows, deletions and
// range tombstones, some of them many rows long.
func writeHistory(t *testing.T, dir string, r *rand.Rand) string {
	h := &cassandra.Header{
		Key: cassandra.Column{TypeText: "UTF8Type"}, Clustering: []cassandra.Column{{TypeText: "Int32Type"}},
		Static: []cassandra.Column{{Name: "s", TypeText: "UTF8Type"}}, Regular: []cassandra.Column{{Name: "v", TypeText: "UTF8Type"}},
	}
	deletion := func() rowgroup.Deletion {
		return rowgroup.Deletion{MarkedForDeleteAt: r.Int64N(1000), LocalDeletionTime: 1_700_000_000 + r.Int64N(1000)}
	}
	cells := func() []cassandra.Cell {
		return []cassandra.Cell{{Kind: rowgroup.CellLive, Timestamp: r.Int64N(2000), Value: strconv.AppendInt(nil, r.Int64(), 36)}}
	}
	return writeSSTable(t, dir, "1", h, &cassandra.Stats{}, func(w *cassandra.BodyWriter) {
		for p := range 1 + r.IntN(12) {
			deleted := alive
			if r.IntN(3) == 0 {
				deleted = deletion()
			}
			require.NoError(t, w.BeginPartition(fmt.Appendf(nil, "p%02d", p), deleted))
			static := &cassandra.Row{Deletion: alive}
			if r.IntN(2) == 0 {
				static.Cells = cells()
			}
			require.NoError(t, w.StaticRow(static))
			open := alive
			for i := range []int{0, 1, 20, 300, 1500}[r.IntN(5)] {
				at := [][]byte{binary.BigEndian.AppendUint32(nil, uint32(i))}
				switch {
				case !open.Live() && r.IntN(200) == 0:
					require.NoError(t, w.Marker(&cassandra.Marker{Bound: cassandra.Bound{Kind: rowgroup.InclEnd, Values: at}, Close: open, Open: alive}))
					open = alive
				case open.Live() && r.IntN(100) == 0:
					open = deletion()
					require.NoError(t, w.Marker(&cassandra.Marker{Bound: cassandra.Bound{Kind: rowgroup.InclStart, Values: at}, Close: alive, Open: open}))
				default:
					row := &cassandra.Row{Clustering: at, Liveness: rowgroup.LivenessLive, Timestamp: 1000 + r.Int64N(1000), Deletion: alive, Cells: cells()}
					if r.IntN(20) == 0 {
						row.HasDeletion, row.Deletion = true, deletion()
					}
					require.NoError(t, w.Row(row))
				}
			}
			if !open.Live() {
				require.NoError(t, w.Marker(&cassandra.Marker{Bound: cassandra.Bound{Kind: rowgroup.InclEnd}, Close: open, Open: alive}))
			}
			require.NoError(t, w.EndPartition())
		}
	})
}

// Parts of whatever size are whole tables that together hold what was cut, and
// so do the parts of the shards of several inputs.
func TestParts(t *testing.T) {
	most := 0
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 9))
		dir := t.TempDir()
		var tables []string
		for i := range 3 {
			table := filepath.Join(dir, fmt.Sprintf("t%d.csst", i))
			run(t, 0, "convert", writeHistory(t, filepath.Join(dir, strconv.Itoa(i)), r), "-o", table, "-q", "--set", "row_group_rows=2")
			tables = append(tables, table)
		}
		size := []string{"1B", "20kB", "1kB", "1GB", "5kB"}[seed]
		out := filepath.Join(dir, "out") + "/"
		for shard := range 2 {
			args := append([]string{"convert", "-o", out, "--output-format", "parquet", "--lossless", "--verify", "-q", "--output-size", size,
				"--shard", fmt.Sprintf("%d/2", 1+shard)}, tables...)
			run(t, 0, args...)
		}
		for i, table := range tables {
			parts, err := filepath.Glob(filepath.Join(out, fmt.Sprintf("t%d-?????.parquet", i)))
			require.NoError(t, err)
			slices.Sort(parts)
			require.NotEmpty(t, parts)
			most = max(most, len(parts))
			if size == "1GB" {
				require.Len(t, parts, 1)
			}
			run(t, 0, append([]string{"verify"}, parts...)...)
			back := filepath.Join(dir, fmt.Sprintf("back%d.csst", i))
			run(t, 0, append([]string{"convert", "-o", back, "-q"}, parts...)...)
			run(t, 0, "diff", table, back)
		}
	}
	require.Greater(t, most, 10)
}
