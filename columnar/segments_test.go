package columnar

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

// manySegments is a table of n partitions of rows each, whose values v lie in
// [1000 p, 1000 p + rows) in partition p, in no order.
func manySegments(t testing.TB, n, rows int) *rowgroup.Batch {
	s := table(t, []rowgroup.Column{{Name: "k", Type: rowgroup.Text}}, []rowgroup.Column{{Name: "time", Type: rowgroup.Bigint}},
		[]rowgroup.Column{{Name: "v", Type: rowgroup.Bigint}})
	b := rowgroup.NewBatch(s)
	for p := range n {
		b.BeginPartition(fmt.Appendf(nil, "%04d", p)).Start = p * rows
		for i := range rows {
			*b.Int64s(1) = append(*b.Int64s(1), int64(i))
			*b.Int64s(2) = append(*b.Int64s(2), int64(1000*p+7919*i%rows))
		}
	}
	b.SetLen(n * rows)
	return b
}

// Whole partitions are added up, and left out, by the statistics of their
// segments alone, wherever the pages of these end.
func TestSegmentsTellOfPartitions(t *testing.T) {
	const n, rows = 400, 1000
	b := manySegments(t, n, rows)
	file := write(t, b, 50_000, WithRowGroupRows(8), WithBlockBytes(256))
	src := &counted{ReaderAt: bytes.NewReader(file)}
	rd, err := Open(src, int64(len(file)))
	require.NoError(t, err)
	require.Greater(t, len(rd.foot.statistics), 2)
	ctx := context.Background()
	value := func(v int64) []byte { return rowgroup.AppendInt(nil, rowgroup.Bigint, v) }
	two := 0 // whose segments are in two pages
	for p := range n {
		part, err := rd.Partition(ctx, b.Key(p))
		require.NoError(t, err)
		for _, live := range []bool{false, true} {
			src.reads = 0
			got, err := part.(rowgroup.Aggregating).Aggregate(ctx, rowgroup.Bound{}, rowgroup.Bound{}, rowgroup.AggregateOptions{Columns: []int{1, 2}, Live: live})
			require.NoError(t, err)
			require.EqualValues(t, rows, got.Rows)
			require.Equal(t, value(int64(1000*p)), got.Columns[1].Min)
			require.Equal(t, value(int64(1000*p+rows-1)), got.Columns[1].Max)
			require.LessOrEqual(t, src.reads, 2, "pages of statistics alone")
			if src.reads == 2 {
				two++
			}
		}
	}
	require.Positive(t, two)

	within := []rowgroup.ValueRange{{Column: 2, Min: value(70_005), Max: value(70_010)}}
	for _, live := range []bool{false, true} {
		rd, err := Open(src, int64(len(file)))
		require.NoError(t, err)
		src.reads = 0
		require.Len(t, wantedRows(t, rd.Scan(ctx, rowgroup.ScanOptions{Live: live, Within: within}), b.Schema(), within), 6)
		require.Less(t, src.reads, n/4, "time indexes of few partitions")
	}
}
