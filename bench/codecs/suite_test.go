package codecs

import (
	"io"
	"testing"
	"time"

	"github.com/colsst/colsst/bench/measure"
	"github.com/colsst/colsst/simd"
)

// Every codec keeps what it says it keeps, and every target finds its numbers.
func TestColumns(t *testing.T) {
	x := &run{Options: Options{Log: io.Discard}, plan: measure.Plan{Repeats: 1, Least: time.Microsecond}, values: 2048,
		ourBlocks: []int{128, 1024, 4096}, levels: []simd.Level{simd.Supported()}}
	for _, err := range []error{
		columns(x, int64Columns(x.values), ourInt64(), peersInt64(), []int{1024, 4096}),
		columns(x, int32Columns(x.values), ourInt32(), peersInt32(), []int{1024, 4096}),
		columns(x, float64Columns(x.values), ourFloat64(), peersFloat64(), []int{1024, 4096}),
		columns(x, float32Columns(x.values), ourFloat32(), peersFloat32(), []int{1024, 4096}),
		x.files(), x.group(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	x.kernels()
	x.targets()
	ratios := 0
	for _, r := range x.results {
		if r.Metric == "ratio" {
			ratios++
		}
	}
	if ratios < 15 {
		t.Errorf("%d ratios", ratios)
	}
}
