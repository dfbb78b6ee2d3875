package cassandra

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

// What no file at hand has: more clustering columns than a block of their header
// says, DynamicCompositeType and EmptyType, deletions at negative times, rows of
// a materialised view. It is read, held by a table file, and comes back.
func TestUnusual(t *testing.T) {
	var clustering []string
	for i := range 70 {
		clustering = append(clustering, []string{"Int32Type", "UTF8Type", "ReversedType(" + marshal + "LongType)"}[i%3])
	}
	h := makeHeader(t, "DynamicCompositeType(a=>"+marshal+"BytesType,i=>"+marshal+"Int32Type)", clustering, []string{"s EmptyType"},
		[]string{"d DynamicCompositeType(t=>" + marshal + "TimeUUIDType)", "e EmptyType", "v Int32Type"})
	const d, e, v = 0, 1, 2
	at := func(n byte) (values [][]byte) {
		for i := range 70 {
			switch value := []byte{0, 0, 0, n}; {
			case i%31 == 5: // null, as in old compact tables
				values = append(values, nil)
			case i%37 == 7:
				values = append(values, []byte{})
			case i%3 == 0:
				values = append(values, value)
			case i%3 == 1:
				values = append(values, fmt.Appendf(nil, "text %d", i))
			default:
				values = append(values, append([]byte{0, 0, 0, 0}, value...))
			}
		}
		return values
	}
	for _, version := range versions {
		deleted := rowgroup.Deletion{MarkedForDeleteAt: 50, LocalDeletionTime: version.LocalDeletionTime(0x8000_0010)} // past 2038
		partition := deleted
		if !version.unsignedDeletionTimes() {
			partition.MarkedForDeleteAt = -5 // which oa cannot say
		}
		row := func(n byte, r Row) event {
			r.Clustering = at(n)
			if !r.HasDeletion {
				r.Deletion = noDeletion(version)
			}
			return event{Event: ClusteringRow, Row: r}
		}
		four := []byte{0, 0, 0, 4}
		x := &table{version: version, header: h, events: []event{
			{Event: PartitionBegin, Partition: Partition{Key: []byte("\x80a\x00\x03abc\x00"), Deletion: partition}},
			{Event: StaticRow, Row: Row{Liveness: rowgroup.LivenessNone, Deletion: noDeletion(version), Cells: []Cell{{Kind: rowgroup.CellLive, Timestamp: 60, Value: []byte{}}}}},
			row(1, Row{Liveness: rowgroup.LivenessLive, Timestamp: 60, Cells: []Cell{
				{Column: d, Kind: rowgroup.CellLive, Timestamp: 60, Value: []byte("\x80t\x00\x10abcdefghijklmnop\x00")},
				{Column: e, Kind: rowgroup.CellLive, Timestamp: 60, Value: []byte{}},
				{Column: v, Kind: rowgroup.CellLive, Timestamp: 60, Value: four},
			}}),
			// Of a view: a row that its base no longer has.
			row(2, Row{Liveness: rowgroup.LivenessExpired, Timestamp: 60, TTL: expiredTTL, ExpirationTime: 1, HasDeletion: true, Shadowable: true, Deletion: deleted}),
			row(3, Row{Liveness: rowgroup.LivenessLive, Timestamp: 70, HasDeletion: true, Shadowable: true, Deletion: deleted, Cells: []Cell{
				{Column: v, Kind: rowgroup.CellLive, Timestamp: 70, Value: four}, // newer than it
			}}),
			row(4, Row{Liveness: rowgroup.LivenessNone, Cells: []Cell{{Column: v, Kind: rowgroup.CellTombstone, Timestamp: -9, LocalDeletionTime: deleted.LocalDeletionTime}}}),
			{Event: PartitionEnd},
		}}
		roundTrip(t, x)
		src := sourceOf(t, x, making{compressor: "LZ4Compressor", chunkLength: 256, blockLength: 1000}, nil)
		rep, err := src.sst.Verify(t.Context())
		require.NoError(t, err)
		require.Equal(t, int64(4), rep.Rows)
		file, err := tableFile(t, src)
		require.NoError(t, err)
		require.Equal(t, x.body(t), bodyOf(t, file))
		for _, o := range []rowgroup.ScanOptions{{}, {Live: true, Now: 5}} {
			text := shown(t, src.schema, src.Scan(t.Context(), o), &o)
			require.Equal(t, text, shown(t, file.Schema(), file.Scan(t.Context(), o), &o))
			if o.Live {
				require.Contains(t, text, `"ck1":1`)
				require.NotContains(t, text, `"ck1":2`)
				require.Contains(t, text, `"ck1":3`)
				require.NotContains(t, text, `"ck1":4`)
			}
		}
		p, err := src.Partition(t.Context(), x.events[0].Partition.Key)
		require.NoError(t, err)
		o := rowgroup.ScanOptions{}
		require.NotEmpty(t, shown(t, src.schema, p.Range(t.Context(), rowgroup.Bound{}, rowgroup.Bound{}, o), &o))
	}
}
