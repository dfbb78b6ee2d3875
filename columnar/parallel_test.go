package columnar

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/internal/invariants"
	"github.com/colsst/colsst/rowgroup"
)

// stepsOf are the rows that an iterator gives, batch by batch, and its error.
func stepsOf(t testing.TB, it rowgroup.Iter, s *rowgroup.Schema) (all []string, err error) {
	b := rowgroup.NewBatch(s)
	for {
		ok, err := it.Next(b)
		if err != nil || !ok {
			require.NoError(t, it.Close())
			require.NoError(t, it.Close())
			again, err2 := it.Next(b)
			require.False(t, again)
			require.Equal(t, err, err2)
			return all, err
		}
		all = append(all, fmt.Sprint(b.Partition(0).Continued, dump(b)))
	}
}

// A scan by several goroutines gives the same batches, also of damaged files up
// to the same error.
func TestParallelScan(t *testing.T) {
	defer goleak.VerifyNone(t)
	for name, s := range testSchemas(t) {
		r := rand.New(rand.NewPCG(7, 8))
		for _, o := range []historyOptions{{40, 3, false}, {3, 400, false}} {
			b := history(t, s, r, o)
			for combo, opts := range layered() {
				if invariants.Enabled && r.IntN(3) > 0 { // slow builds
					continue
				}
				opts = append(slices.Clone(opts), WithRowGroupRows(8), WithBlockBytes(200))
				file := write(t, b, 1000, opts...)
				if r.IntN(2) == 0 {
					file[r.IntN(len(file)-trailerLen-200)] ^= 1 << r.IntN(8)
				}
				readers := map[string]*Reader{}
				rd, err := Open(bytes.NewReader(file), int64(len(file)))
				if err != nil {
					continue
				}
				readers["ReaderAt"] = rd
				if readers["memory"], err = OpenBytes(file); err != nil {
					continue
				}
				for _, so := range []rowgroup.ScanOptions{{}, {Live: true, Now: 60}, {Columns: []int{}, WithoutMetadata: true}} {
					want, wrong := stepsOf(t, rd.Scan(bg, so), s)
					for source, rd := range readers {
						so.Concurrency = 1 + r.IntN(4)
						got, err := stepsOf(t, rd.Scan(bg, so), s)
						require.Equal(t, want, got, "%s %s %s", name, combo, source)
						require.Equal(t, fmt.Sprint(wrong), fmt.Sprint(err), "%s %s %s", name, combo, source)
					}
				}
			}
		}
	}
}

// Goroutines end with the iterator and with its context, and do not run ahead
// without bound.
func TestParallelScanEnds(t *testing.T) {
	defer goleak.VerifyNone(t)
	file := metrics5File(t)
	for name, rd := range sources(t, file) {
		b := rowgroup.NewBatch(rd.Schema())
		for steps := range 4 {
			ctx, cancel := context.WithCancel(bg)
			it := rd.Scan(ctx, rowgroup.ScanOptions{Concurrency: 3})
			for range steps {
				ok, err := it.Next(b)
				require.True(t, ok, err)
			}
			if steps%2 == 0 {
				require.NoError(t, it.Close(), name)
				ok, err := it.Next(b)
				require.False(t, ok, err)
			} else {
				cancel()
				_, err := it.Next(b)
				require.ErrorIs(t, err, context.Canceled)
			}
			cancel()
		}
	}
}

// What is decoded in advance is bounded by its bytes where the blocks hold far
// more than they are long.
func TestParallelScanIsBounded(t *testing.T) {
	s := table(t, []rowgroup.Column{{Name: "k", Type: rowgroup.Text}}, []rowgroup.Column{{Name: "time", Type: rowgroup.Bigint}},
		[]rowgroup.Column{{Name: "v", Type: rowgroup.Bigint}})
	b := rowgroup.NewBatch(s)
	b.BeginPartition([]byte("k"))
	for i := range int64(1_500_000) {
		*b.Int64s(1), *b.Int64s(2) = append(*b.Int64s(1), i), append(*b.Int64s(2), 7)
	}
	file := write(t, b, 1<<30, WithRowGroupRows(4096), WithRowGroupBytes(1<<20))
	rd := open(t, file)
	it := rd.Scan(bg, rowgroup.ScanOptions{Concurrency: 2}).(*parallelIter)
	dst := rowgroup.NewBatch(s)
	n, most := 0, int64(0)
	for {
		ok, err := it.Next(dst)
		require.NoError(t, err)
		if !ok {
			break
		}
		n += dst.Len()
		it.budget.mu.Lock()
		most = max(most, 2*scannerBytes-it.budget.left)
		it.budget.mu.Unlock()
	}
	require.Equal(t, 1_500_000, n)
	require.LessOrEqual(t, most, int64(2*scannerBytes+stepBytes))
}

// Scans of a table by 1, 2 and 4 goroutines.
func BenchmarkScan(b *testing.B) {
	m := generate.Metrics5{Series: 20, Points: 17_280}
	file := metrics5File(b)
	rd, err := OpenBytes(file)
	require.NoError(b, err)
	dst := rowgroup.NewBatch(rd.Schema())
	for _, n := range []int{1, 2, 4} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				it, rows := rd.Scan(bg, rowgroup.ScanOptions{Concurrency: n}), 0
				for {
					ok, err := it.Next(dst)
					if err != nil {
						b.Fatal(err)
					}
					if !ok {
						break
					}
					rows += dst.Len()
				}
				if rows != m.Series*m.Points {
					b.Fatal(rows)
				}
				if err := it.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(m.Series*m.Points*b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
