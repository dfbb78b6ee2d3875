package columnar

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

// wantedRows are the rows of it, one line each, whose values lie in the ranges.
func wantedRows(t testing.TB, it rowgroup.Iter, s *rowgroup.Schema, within []rowgroup.ValueRange) (lines []string) {
	defer func() { require.NoError(t, it.Close()) }()
	for b, key := rowgroup.NewBatch(s), []byte(nil); ; {
		ok, err := it.Next(b)
		require.NoError(t, err)
		if !ok {
			return lines
		}
		for p := range b.NumPartitions() {
			key = append(key[:0], b.Key(p)...)
			from, to := b.PartitionRows(p)
			for i := from; i < to; i++ {
				if b.MarkerAt(i) == nil && isWithin(b, i, within) {
					line := fmt.Sprintf("%q", key)
					for col := range s.NumColumns() {
						if r := s.Role(col); r == rowgroup.Clustering || r == rowgroup.Regular {
							v, ok := b.AppendValue(nil, col, i)
							line += fmt.Sprintf(" %x/%v", v, ok)
						}
					}
					lines = append(lines, line)
				}
			}
		}
	}
}

func isWithin(b *rowgroup.Batch, i int, within []rowgroup.ValueRange) bool {
	for _, r := range within {
		t := b.Schema().Column(r.Column).Type
		v, ok := b.AppendValue(nil, r.Column, i)
		if !ok || r.Min != nil && t.Collate(v, r.Min) < 0 || r.Max != nil && t.Collate(v, r.Max) > 0 {
			return false
		}
	}
	return true
}

func TestWithinLosesNothing(t *testing.T) {
	ctx := context.Background()
	for name, s := range testSchemas(t) {
		n, v := s.Lookup("n"), s.Lookup("v")
		if n < 0 || v < 0 {
			continue
		}
		for seed := range uint64(2) {
			r := rand.New(rand.NewPCG(seed, 21))
			b := history(t, s, r, historyOptions{partitions: 6, rows: 150, plain: seed == 0})
			rd := open(t, write(t, b, 500, WithRowGroupRows(1+int(seed)), WithBlockBytes(128)))
			for range 12 {
				lo := int64(r.IntN(2000) - 1000)
				hi := lo + int64(r.IntN(40))
				within := []rowgroup.ValueRange{{Column: n, Min: rowgroup.AppendInt(nil, rowgroup.Int, lo), Max: rowgroup.AppendInt(nil, rowgroup.Int, hi)}}
				switch r.IntN(4) {
				case 0:
					within[0].Max = nil
				case 1:
					within = append(within, rowgroup.ValueRange{Column: v, Max: rowgroup.AppendFloat64(nil, r.NormFloat64()*100)})
				case 2:
					within = []rowgroup.ValueRange{{Column: v, Min: rowgroup.AppendFloat64(nil, r.NormFloat64()*1000)}}
				}
				o := rowgroup.ScanOptions{Live: r.IntN(2) == 0, Now: 50}
				all := wantedRows(t, rd.Scan(ctx, o), s, within)
				o.Within = within
				require.Equal(t, all, wantedRows(t, rd.Scan(ctx, o), s, within), "%s %d", name, seed)
				part, err := rd.Partition(ctx, b.Key(r.IntN(b.NumPartitions())))
				require.NoError(t, err)
				for _, desc := range []bool{false, true} {
					o := rowgroup.ScanOptions{Live: o.Live, Now: 50, Desc: desc}
					want := wantedRows(t, part.Range(ctx, rowgroup.Bound{}, rowgroup.Bound{}, o), s, within)
					o.Within = within
					require.Equal(t, want, wantedRows(t, part.Range(ctx, rowgroup.Bound{}, rowgroup.Bound{}, o), s, within), "%s %d", name, seed)
				}
			}
		}
	}
}

func TestWithinReadsLittle(t *testing.T) {
	b := points(t, sequence(200_000, 5)...)
	file := write(t, b, 50_000)
	src := &counted{ReaderAt: bytes.NewReader(file)}
	rd, err := Open(src, int64(len(file)))
	require.NoError(t, err)
	within := []rowgroup.ValueRange{{Column: 1, Min: rowgroup.AppendInt(nil, rowgroup.Bigint, 500_000), Max: rowgroup.AppendInt(nil, rowgroup.Bigint, 500_100)}}
	src.bytes = 0
	rows := wantedRows(t, rd.Scan(context.Background(), rowgroup.ScanOptions{Within: within}), b.Schema(), within)
	require.Len(t, rows, 21)
	require.Less(t, src.bytes, int64(len(file)/4))
}
