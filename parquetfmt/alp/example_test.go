package alp_test

import (
	"bytes"
	"fmt"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/colsst/colsst/parquetfmt/alp"
)

// A column of prices is written as ALP if that is the smaller, and read back as
// any other.
func Example() {
	prices := []float64{9.99, 10.25, 10.5, 9.75, 10, 10.01, 9.98, 10.1}

	var chosen encoding.Encoding = &parquet.ByteStreamSplit
	if alp.EstimateDouble(prices) < int64(8*len(prices)) {
		chosen = new(alp.Encoding)
	}
	schema := parquet.NewSchema("prices", parquet.Group{
		"price": parquet.Encoded(parquet.Leaf(parquet.DoubleType), chosen),
	})
	type row struct {
		Price float64 `parquet:"price"`
	}
	var file bytes.Buffer
	w := parquet.NewGenericWriter[row](&file, schema)
	for _, p := range prices {
		if _, err := w.Write([]row{{p}}); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}

	rows, err := parquet.Read[row](bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		panic(err)
	}
	fmt.Println(chosen, rows)
	// Output: ALP [{9.99} {10.25} {10.5} {9.75} {10} {10.01} {9.98} {10.1}]
}
