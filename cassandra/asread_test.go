package cassandra

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

// Cassandra's view of stored rows: dropped columns, columns dropped and made
// again, rows that hold nothing, expiries past 2038.
func TestAsRead(t *testing.T) {
	h := makeHeader(t, "BytesType", []string{"Int32Type"}, []string{"gone UTF8Type", "s UTF8Type"},
		[]string{"again UTF8Type", "gone_set SetType(" + marshal + "Int32Type)", "old UTF8Type", "v UTF8Type", "w SetType(" + marshal + "Int32Type)"})
	const again, old, v, goneSet, w = 0, 1, 2, 3, 4
	cell := func(column int, at int64, text string) Cell {
		return Cell{Column: column, Kind: rowgroup.CellLive, Timestamp: at, Value: []byte(text)}
	}
	row := func(n byte, r Row) event {
		r.Clustering = [][]byte{{0, 0, 0, n}}
		if r.Timestamp == 0 {
			r.Liveness = rowgroup.LivenessNone
		}
		if !r.HasDeletion {
			r.Deletion = noDeletion("nb")
		}
		return event{Event: ClusteringRow, Row: r}
	}
	deleted := rowgroup.Deletion{MarkedForDeleteAt: 30, LocalDeletionTime: 3}
	path := []Cell{{Column: w, Kind: rowgroup.CellLive, Timestamp: 60, Path: []byte{0, 0, 0, 7}, Value: []byte{}}}
	gone := []Cell{{Column: goneSet, Kind: rowgroup.CellLive, Timestamp: 60, Path: []byte{0, 0, 0, 7}, Value: []byte{}}}
	x := &table{version: "nb", header: h, events: []event{
		{Event: PartitionBegin, Partition: Partition{Key: []byte("k"), Deletion: noDeletion("nb")}},
		{Event: StaticRow, Row: Row{Liveness: rowgroup.LivenessNone, Deletion: noDeletion("nb"), Cells: []Cell{cell(0, 99, "hidden"), cell(1, 1, "static")}}},
		row(1, Row{Liveness: rowgroup.LivenessLive, Timestamp: 1, Cells: []Cell{cell(again, 50, "hidden"), cell(old, 99, "hidden"), cell(v, 1, "v")}}),
		row(2, Row{Cells: []Cell{cell(again, 50, "hidden")}}), // nothing else: hidden
		row(3, Row{Cells: []Cell{cell(again, 51, "new")}}),
		row(4, Row{}), // stored without anything
		row(5, Row{HasDeletion: true, Deletion: deleted}),
		row(6, Row{Complex: []ComplexColumn{{Column: goneSet, Deletion: deleted, Cells: gone}, {Column: w, Deletion: deleted, Cells: path}}}),
		row(7, Row{Complex: []ComplexColumn{{Column: goneSet, Deletion: deleted}}}),
		row(8, Row{Liveness: rowgroup.LivenessExpiring, Timestamp: 9, TTL: 600, ExpirationTime: -5, Cells: []Cell{
			{Column: v, Kind: rowgroup.CellExpiring, Timestamp: 9, TTL: 600, LocalDeletionTime: -5, Value: []byte("x")},
		}}),
		{Event: PartitionEnd},
	}}
	names := &Table{
		PartitionKey: []rowgroup.Column{{Name: "k", Type: rowgroup.Blob}}, Clustering: []rowgroup.Column{{Name: "c", Type: rowgroup.Int}},
		Static:  []rowgroup.Column{{Name: "s", Type: rowgroup.Text}},
		Regular: []rowgroup.Column{{Name: "again", Type: rowgroup.Text}, {Name: "v", Type: rowgroup.Text}, {Name: "w", Type: rowgroup.Type{Kind: rowgroup.KindSet, Args: []rowgroup.Type{rowgroup.Int}}}},
		Dropped: []Dropped{{Column: rowgroup.Column{Name: "again", Type: rowgroup.Text}, At: 50}, {Column: rowgroup.Column{Name: "gone", Type: rowgroup.Text}, Static: true, At: 50}},
	}
	for _, blocks := range []int{0, 30} {
		src := sourceOf(t, x, making{chunkLength: 4096, blockLength: blocks}, names)
		src.limits.rows = 2
		o := rowgroup.ScanOptions{}
		stored := shown(t, src.schema, src.Scan(t.Context(), o), &o)
		require.Contains(t, stored, "hidden")
		read := src.AsRead(names)
		want := `{"type":"partition","key":{"k":"0x6b"},"key_hex":"6b","static":{"cells":{"s":{"value":"static","write_time":1,"live":true}}}}
{"type":"row","clustering":{"c":1},"liveness":{"write_time":1},"cells":{"v":{"value":"v"}}}
{"type":"row","clustering":{"c":3},"cells":{"again":{"value":"new","write_time":51,"live":true}}}
{"type":"row","clustering":{"c":5},"deletion":{"marked_for_delete_at":30,"local_deletion_time":3},"cells":{}}
{"type":"row","clustering":{"c":6},"cells":{"w":{"deletion":{"marked_for_delete_at":30,"local_deletion_time":3},"cells":[{"path":7,"write_time":60,"live":true}]}}}
{"type":"row","clustering":{"c":8},"liveness":{"write_time":9,"ttl":600,"expiry":4294967294},"cells":{"v":{"value":"x"}}}
`
		require.Equal(t, want, shown(t, read.schema, read.Scan(t.Context(), o), &o))
		desc := rowgroup.ScanOptions{Desc: true}
		p, err := read.Partition(t.Context(), []byte("k"))
		require.NoError(t, err)
		require.NotContains(t, shown(t, read.schema, p.Range(t.Context(), rowgroup.Bound{}, rowgroup.Bound{}, desc), &desc), "hidden")
		require.Equal(t, stored, shown(t, src.schema, src.Scan(t.Context(), o), &o))

		// Of the header alone only rows without anything are hidden.
		plain := src.AsRead(nil)
		text := shown(t, plain.schema, plain.Scan(t.Context(), o), &o)
		require.Contains(t, text, "hidden")
		require.NotContains(t, text, `{"c":4}`)
	}
}
