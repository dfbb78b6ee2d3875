package columnar_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/rowgroup"
)

func ExampleWriter() {
	schema, err := rowgroup.NewSchema(
		[]rowgroup.Column{{Name: "host", Type: rowgroup.Text}},
		[]rowgroup.Column{{Name: "time", Type: rowgroup.Timestamp(rowgroup.Millis)}},
		nil,
		[]rowgroup.Column{{Name: "load", Type: rowgroup.Double}})
	check(err)

	var file bytes.Buffer // any io.Writer
	w, err := columnar.NewWriter(&file, schema)
	check(err)
	batch := rowgroup.NewBatch(schema)
	batch.BeginPartition([]byte("host1"))
	for i := range 1000 {
		*batch.Int64s(1) = append(*batch.Int64s(1), 1_780_000_000_000+int64(i)*5000)
		*batch.Float64s(2) = append(*batch.Float64s(2), float64(i%40)/100)
	}
	check(w.Append(batch)) // again and again; partitions and rows in order
	check(w.Close())

	r, err := columnar.Open(bytes.NewReader(file.Bytes()), int64(file.Len())) // any io.ReaderAt
	check(err)
	host, err := r.Partition(context.Background(), []byte("host1"))
	check(err)
	latest := host.Latest(context.Background(), 2, rowgroup.ScanOptions{})
	ok, err := latest.Next(batch)
	check(err)
	fmt.Println(ok, *batch.Int64s(1), *batch.Float64s(2))
	// Output: true [1780004995000 1780004990000] [0.39 0.38]
}
