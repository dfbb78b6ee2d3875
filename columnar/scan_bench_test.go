package columnar

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

// A scan of all columns of a table in memory.
func BenchmarkScanMetrics5(b *testing.B) {
	b.Run("regular", func(b *testing.B) { benchmarkScan(b, metrics5File(b)) })
	b.Run("irregular", func(b *testing.B) { benchmarkScan(b, fileOf(b, day.Irregular())) })
}

func benchmarkScan(b *testing.B, file []byte) {
	r, err := OpenBytes(file)
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
		if int64(rows) != r.Rows() {
			b.Fatal(rows)
		}
		_ = it.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(int64(b.N)*r.Rows()), "ns/row")
}
