package columnar

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

// addedUp is what Aggregate must say: from the rows themselves.
func addedUp(t testing.TB, it rowgroup.Iter, s *rowgroup.Schema, o rowgroup.AggregateOptions) rowgroup.Aggregates {
	a, err := rowgroup.NewAggregator(s, o.Columns, o.Sums)
	require.NoError(t, err)
	require.NoError(t, a.AddAll(it, s))
	return a.Result()
}

// aggregates are the questions to ask of a table of testSchemas.
func aggregates(s *rowgroup.Schema) (all []rowgroup.AggregateOptions) {
	from, _ := s.Range(rowgroup.Clustering)
	v, n, str := s.Lookup("v"), s.Lookup("n"), s.Lookup("s")
	for _, now := range []int64{-1, 0, 50} {
		for _, o := range []rowgroup.AggregateOptions{
			{},
			{Columns: []int{v, n}},
			{Columns: []int{v, n}, Sums: []int{n, v}},
			{Columns: []int{str}},
			{Columns: []int{n, from}},
		} {
			if n < 0 { // multi-cell columns: values and nulls are counted
				o.Columns, o.Sums = []int{v, s.NumColumns() - 2, from}, nil
			}
			o.Live, o.Now = now >= 0, max(0, now)
			all = append(all, o)
		}
	}
	return all
}

func TestAggregateIsThatOfTheRows(t *testing.T) {
	seeds := uint64(2)
	if testing.Short() {
		seeds = 1
	}
	for name, s := range testSchemas(t) {
		for seed := range seeds {
			r := rand.New(rand.NewPCG(seed, 9))
			b := history(t, s, r, historyOptions{partitions: 3, rows: 250, plain: seed%2 == 0})
			rd := open(t, write(t, b, 1000, WithRowGroupRows(2), WithBlockBytes(128)))
			ctx := context.Background()
			for _, o := range aggregates(s) {
				scan := rowgroup.ScanOptions{Live: o.Live, Now: o.Now}
				got, err := rd.Aggregate(ctx, o)
				require.NoError(t, err)
				require.Equal(t, addedUp(t, rd.Scan(ctx, scan), s, o), got, "%s, %d, %+v", name, seed, o)
				for p := range b.NumPartitions() {
					part, err := rd.Partition(ctx, b.Key(p))
					require.NoError(t, err)
					lo := r.Int64N(400)
					for _, to := range []rowgroup.Bound{{}, bound(lo+r.Int64N(40), true), bound(lo+r.Int64N(400), false)} {
						from := bound(lo, r.IntN(2) == 0)
						if to.Prefix == nil || s.Lookup("name") >= 0 || name == "lines" || name == "desc" {
							from, to = rowgroup.Bound{}, rowgroup.Bound{}
						}
						got, err := part.(rowgroup.Aggregating).Aggregate(ctx, from, to, o)
						require.NoError(t, err)
						require.Equal(t, addedUp(t, part.Range(ctx, from, to, scan), s, o), got, "%s, %d, %q %+v", name, seed, b.Key(p), o)
					}
				}
			}
		}
	}
}

// counted counts the bytes that are read.
type counted struct {
	io.ReaderAt
	reads int
	bytes int64
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	c.reads++
	c.bytes += int64(len(p))
	return c.ReaderAt.ReadAt(p, off)
}

func TestAggregateReadsLittle(t *testing.T) {
	b := points(t, sequence(200_000, 5)...)
	file := write(t, b, 50_000)
	src := &counted{ReaderAt: bytes.NewReader(file)}
	rd, err := Open(src, int64(len(file)))
	require.NoError(t, err)
	ctx := context.Background()
	src.reads = 0
	o := rowgroup.AggregateOptions{Columns: []int{0, 1}}
	got, err := rd.Aggregate(ctx, o)
	require.NoError(t, err)
	require.Equal(t, int64(200_000), got.Rows)
	require.Equal(t, rowgroup.AppendInt(nil, rowgroup.Bigint, 999_995), got.Columns[1].Max)
	require.Zero(t, src.reads)

	src.bytes = 0
	part, err := rd.Partition(ctx, nil)
	require.NoError(t, err)
	got, err = part.(rowgroup.Aggregating).Aggregate(ctx, bound(333, true), bound(900_001, true), o)
	require.NoError(t, err)
	require.Equal(t, int64(900_001/5-333/5), got.Rows)
	require.Equal(t, rowgroup.AppendInt(nil, rowgroup.Bigint, 335), got.Columns[1].Min)
	require.Less(t, src.bytes, int64(len(file)/4), "only the edges, the index and the statistics are read")
}

func TestAggregateOfDamage(t *testing.T) {
	b := points(t, sequence(30_000, 5)...)
	file := write(t, b, 30_000, WithBlockBytes(512))
	rd := open(t, file)
	at := rd.file.physical(rd.foot.statistics[0].off)
	file[at+8] ^= 1
	rd = open(t, file)
	part, err := rd.Partition(context.Background(), nil)
	require.NoError(t, err)
	_, err = part.(rowgroup.Aggregating).Aggregate(context.Background(), bound(1, true), rowgroup.Bound{}, rowgroup.AggregateOptions{Columns: []int{1}})
	require.ErrorContains(t, err, "statistics page")
}
