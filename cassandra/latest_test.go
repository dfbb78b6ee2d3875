package cassandra

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

// The latest rows where one clustering column ascends, the next descends and the
// last ascends, from partitions with and without blocks.
func TestLatestOfOppositeOrders(t *testing.T) {
	h := makeHeader(t, "BytesType", []string{"Int32Type", "ReversedType(" + marshal + "Int32Type)", "Int32Type"}, []string{"s Int32Type"}, []string{"v Int32Type"})
	x := oneTable("nb", h)
	x.events = x.events[:1]
	x.events = append(x.events, event{Event: StaticRow, Row: Row{Deletion: noDeletion("nb"), Cells: []Cell{{Kind: rowgroup.CellLive, Timestamp: 1, Value: []byte{0, 0, 0, 1}}}}})
	for a := range byte(4) {
		for b := range byte(4) {
			for c := range byte(3) {
				x.events = append(x.events, event{Event: ClusteringRow, Row: Row{
					Clustering: [][]byte{{0, 0, 0, a}, {0, 0, 0, 3 - b}, {0, 0, 0, c}}, Timestamp: 1, Deletion: noDeletion("nb"),
					Cells: []Cell{{Kind: rowgroup.CellLive, Timestamp: 1, Value: []byte{0, a, 3 - b, c}}},
				}})
			}
		}
	}
	x.events = append(x.events, event{Event: PartitionEnd})
	for _, blocks := range []int{0, 40, 300} {
		src := sourceOf(t, x, making{chunkLength: 64, blockLength: blocks}, nil)
		p, err := src.Partition(t.Context(), []byte("k"))
		require.NoError(t, err)
		for _, o := range []rowgroup.ScanOptions{{}, {Live: true}} {
			for _, n := range []int{0, 1, 2, 7, 48, 100} {
				it := p.Latest(t.Context(), n, o)
				b := rowgroup.NewBatch(src.schema)
				at, heads := 0, 0
				for {
					some, err := it.Next(b)
					require.NoError(t, err)
					if !some {
						break
					}
					require.NoError(t, b.Check())
					require.Equal(t, 1, b.NumPartitions())
					if !b.Partition(0).Continued {
						require.Equal(t, rowgroup.StaticFull, b.Partition(0).Static)
						heads++
					}
					for i := range b.Len() {
						a, c, d := 3-at/12, 3-at/3%4, 2-at%3
						require.Equal(t, int32(a<<16|c<<8|d), (*b.Int32s(src.schema.Lookup("v")))[i], fmt.Sprint(at))
						at++
					}
				}
				require.NoError(t, it.Close())
				require.Equal(t, min(n, 48), at)
				require.Equal(t, min(n, 1), heads)
			}
		}
	}
}
