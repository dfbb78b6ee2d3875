package columnar

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

// A scan of all columns of a table in memory.
func BenchmarkScanMetrics5(b *testing.B) {
	r, err := OpenBytes(metrics5File(b))
	require.NoError(b, err)
	dst := rowgroup.NewBatch(r.Schema())
	b.ReportAllocs()
	for b.Loop() {
		it := r.Scan(bg, rowgroup.ScanOptions{})
		rows := 0
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
		if rows != 20*17_280 {
			b.Fatal(rows)
		}
		_ = it.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*20*17_280), "ns/row")
}
