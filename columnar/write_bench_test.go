package columnar

import (
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/rowgroup"
)

// batches are all of it's, kept.
func batches(b testing.TB, s *rowgroup.Schema, it rowgroup.Iter) (all []*rowgroup.Batch) {
	for {
		bt := rowgroup.NewBatch(s)
		ok, err := it.Next(bt)
		require.NoError(b, err)
		if !ok {
			return all
		}
		all = append(all, bt)
	}
}

// benchmarkWrite writes a file of n rows, b.N times.
func benchmarkWrite(b *testing.B, s *rowgroup.Schema, n int, all func(add func(*rowgroup.Batch))) {
	b.ReportAllocs()
	rows := 0
	for b.Loop() {
		w, err := NewWriter(io.Discard, s)
		require.NoError(b, err)
		all(func(bt *rowgroup.Batch) {
			if err := w.Append(bt); err != nil {
				b.Fatal(err)
			}
		})
		require.NoError(b, w.Close())
		rows += n
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
}

// BenchmarkWriteMetrics5 writes twenty series from batches that are there, and
// from a batch filled row by row.
func BenchmarkWriteMetrics5(b *testing.B) {
	for _, v := range []generate.Variant{generate.Full, generate.TwoDecimals} {
		m := generate.Metrics5{Series: 20, Points: 24_000, Variant: v, Seed: generate.Seed}
		s := m.Schema()
		all := batches(b, s, m.Rows())
		b.Run("columns/"+v.String(), func(b *testing.B) {
			benchmarkWrite(b, s, m.Series*m.Points, func(add func(*rowgroup.Batch)) {
				for _, bt := range all {
					add(bt)
				}
			})
		})
		b.Run("rows/"+v.String(), func(b *testing.B) {
			out := rowgroup.NewBatch(s)
			benchmarkWrite(b, s, m.Series*m.Points, func(add func(*rowgroup.Batch)) {
				for _, bt := range all {
					out.Reset()
					times, values, meta := out.Int32s(1), out.Float32s(2), out.Meta()
					in := bt.Meta()
					for p := range bt.NumPartitions() {
						from, to := bt.PartitionRows(p)
						out.BeginPartition(bt.Key(p))
						for i := from; i < to; i++ {
							*times = append(*times, (*bt.Int32s(1))[i])
							*values = append(*values, (*bt.Float32s(2))[i])
							meta.Liveness = append(meta.Liveness, rowgroup.LivenessExpiring)
							meta.WriteTimes = append(meta.WriteTimes, in.WriteTimes[i])
							meta.TTLs = append(meta.TTLs, in.TTLs[i])
							meta.Expiries = append(meta.Expiries, in.Expiries[i])
						}
					}
					add(out)
				}
			})
		})
	}
}

// BenchmarkWriteIrregular writes twenty series with gaps, nulls and deletions.
func BenchmarkWriteIrregular(b *testing.B) {
	m := generate.Metrics5{Series: 20, Points: 24_000, Seed: generate.Seed}
	s := m.Schema()
	all, rows := batches(b, s, m.Irregular()), 0
	for _, bt := range all {
		rows += bt.Len()
	}
	benchmarkWrite(b, s, rows, func(add func(*rowgroup.Batch)) {
		for _, bt := range all {
			add(bt)
		}
	})
}

// accessLog is an access log in the order of its lines, without a key: skewed
// clients, paths and agents, sizes of all kinds, one in twenty without a size.
func accessLog(b testing.TB, lines, perBatch int) (*rowgroup.Schema, []*rowgroup.Batch) {
	s, err := rowgroup.NewSchema(nil, nil, nil, []rowgroup.Column{
		{Name: "ts", Type: rowgroup.Bigint}, {Name: "client", Type: rowgroup.Text}, {Name: "method", Type: rowgroup.Text},
		{Name: "path", Type: rowgroup.Text}, {Name: "proto", Type: rowgroup.Text}, {Name: "status", Type: rowgroup.Bigint},
		{Name: "bytes", Type: rowgroup.Bigint}, {Name: "referer", Type: rowgroup.Text}, {Name: "agent", Type: rowgroup.Text},
	})
	require.NoError(b, err)
	r := rand.New(rand.NewPCG(generate.Seed, 77))
	clients := rand.NewZipf(r, 1.2, 1, 20_000)
	paths := rand.NewZipf(r, 1.1, 4, 5_000)
	agents := rand.NewZipf(r, 1.3, 1, 300)
	methods, statuses := []string{"GET", "GET", "GET", "GET", "POST", "HEAD"}, []int64{200, 200, 200, 200, 304, 404, 301, 500}
	var all []*rowgroup.Batch
	t := int64(1_780_000_000)
	for n := 0; n < lines; n += perBatch {
		bt := rowgroup.NewBatch(s)
		text := func(col int, format string, args ...any) {
			require.NoError(b, bt.Bytes(col).Append(fmt.Appendf(nil, format, args...)))
		}
		for range perBatch {
			t += r.Int64N(3)
			c, p, a := clients.Uint64(), paths.Uint64(), agents.Uint64()
			*bt.Int64s(0) = append(*bt.Int64s(0), t)
			text(1, "10.%d.%d.%d", c>>8&255, c&255, c%250)
			text(2, "%s", methods[r.IntN(len(methods))])
			text(3, "/section%d/item%d.html?from=%d", p%40, p, r.IntN(100))
			text(4, "HTTP/1.1")
			*bt.Int64s(5) = append(*bt.Int64s(5), statuses[r.IntN(len(statuses))])
			*bt.Int64s(6) = append(*bt.Int64s(6), int64(200+p*37%90_000))
			size := rowgroup.CellAsRow
			if r.IntN(20) == 0 {
				size = rowgroup.CellAbsent
			}
			bt.CellMeta(6).Cells = append(bt.CellMeta(6).Cells, size)
			referer := rowgroup.CellAbsent
			if r.IntN(3) > 0 {
				referer = rowgroup.CellAsRow
				text(7, "https://www.example.org/section%d/page%d.html", p%40, p%700)
			} else {
				text(7, "")
			}
			bt.CellMeta(7).Cells = append(bt.CellMeta(7).Cells, referer)
			text(8, "Mozilla/5.0 (X11; Linux x86_64; rv:%d.0) Gecko/20100101, like Browser/%d.0", 50+a, a)
		}
		all = append(all, bt)
	}
	return s, all
}

func BenchmarkWriteAccessLog(b *testing.B) {
	const lines, perBatch = 96_000, 2000
	s, all := accessLog(b, lines, perBatch)
	benchmarkWrite(b, s, lines, func(add func(*rowgroup.Batch)) {
		for i, bt := range all {
			bt.Partition(0).Continued = i > 0
			add(bt)
		}
	})
}

// BenchmarkWritePoints writes partitions of one row and of twelve.
func BenchmarkWritePoints(b *testing.B) {
	for _, per := range []int{1, 12} {
		p := generate.Points{Partitions: 48_000 / per, PerKey: per, Seed: generate.Seed}
		all := batches(b, p.Schema(), p.Rows())
		b.Run(fmt.Sprint(per), func(b *testing.B) {
			benchmarkWrite(b, p.Schema(), p.Partitions*per, func(add func(*rowgroup.Batch)) {
				for _, bt := range all {
					add(bt)
				}
			})
		})
	}
}
