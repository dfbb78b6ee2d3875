package columnar

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

func BenchmarkShortRange(b *testing.B) {
	times := sequence(100_000, 1000)
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "k", Type: rowgroup.Text}}, []rowgroup.Column{{Name: "time", Type: rowgroup.Bigint}}, nil,
		[]rowgroup.Column{{Name: "v", Type: rowgroup.Double}})
	require.NoError(b, err)
	bt := rowgroup.NewBatch(s)
	bt.BeginPartition([]byte("a"))
	*bt.Int64s(1) = append(*bt.Int64s(1), times...)
	for i := range times {
		*bt.Float64s(2) = append(*bt.Float64s(2), float64(i%1000)/10)
	}
	for name, opts := range map[string][]Option{"plain": nil, "zstd": {WithColumnCompression("*")}} {
		b.Run(name, func(b *testing.B) {
			rd := open(b, write(b, bt, 1<<20, opts...))
			dst := rowgroup.NewBatch(s)
			b.ReportAllocs()
			for i := 0; i < b.N; i++ {
				q, err := rd.Partition(bg, []byte("a"))
				if err != nil {
					b.Fatal(err)
				}
				at := int64(i%90_000) * 1000
				it := q.Range(bg, bound(at, true), bound(at+60_000, false), rowgroup.ScanOptions{})
				for {
					ok, err := it.Next(dst)
					if err != nil {
						b.Fatal(err)
					}
					if !ok {
						break
					}
				}
				it.Close()
			}
		})
	}
}

func BenchmarkUnknownOrder(b *testing.B) {
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "k", Type: rowgroup.Text}}, []rowgroup.Column{{Name: "time", Type: rowgroup.Bigint}}, nil,
		[]rowgroup.Column{{Name: "v", Type: rowgroup.Double}}, rowgroup.WithOrder("custom:x"))
	require.NoError(b, err)
	bt := rowgroup.NewBatch(s)
	for i := range 100_000 {
		bt.BeginPartition(fmt.Appendf(nil, "%07d", i))
		*bt.Int64s(1) = append(*bt.Int64s(1), 1)
		*bt.Float64s(2) = append(*bt.Float64s(2), math.Pi)
	}
	rd := open(b, write(b, bt, 1<<20))
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		if _, err := rd.Partition(bg, []byte("0099999")); err != nil {
			b.Fatal(err)
		}
	}
}

// The latest row of a partition of many blocks, and of one within a block.
func BenchmarkLatest(b *testing.B) {
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "k", Type: rowgroup.Text}}, []rowgroup.Column{{Name: "time", Type: rowgroup.Bigint}}, nil,
		[]rowgroup.Column{{Name: "v", Type: rowgroup.Double}})
	require.NoError(b, err)
	for name, rows := range map[string]int{"many blocks": 100_000, "one block": 60} {
		bt := rowgroup.NewBatch(s)
		for _, k := range []string{"a", "b"} {
			bt.BeginPartition([]byte(k))
			for i := range rows {
				*bt.Int64s(1) = append(*bt.Int64s(1), int64(i)*1000)
				*bt.Float64s(2) = append(*bt.Float64s(2), float64(i%1000)/10)
			}
		}
		b.Run(name, func(b *testing.B) {
			rd := open(b, write(b, bt, 1<<20))
			dst := rowgroup.NewBatch(s)
			b.ReportAllocs()
			for b.Loop() {
				q, err := rd.Partition(bg, []byte("b"))
				if err != nil {
					b.Fatal(err)
				}
				it := q.Latest(bg, 1, rowgroup.ScanOptions{})
				if ok, err := it.Next(dst); err != nil || !ok || dst.Len() != 1 {
					b.Fatal(ok, err)
				}
				it.Close()
			}
		})
	}
}
