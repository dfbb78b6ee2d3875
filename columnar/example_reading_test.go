package columnar_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/rowgroup"
)

// hours is a table of one series of n values, an hour apart.
func hours(n int32) *rowgroup.Batch {
	schema, err := rowgroup.NewSchema(
		[]rowgroup.Column{{Name: "series", Type: rowgroup.Text}},
		[]rowgroup.Column{{Name: "time", Type: rowgroup.Int}},
		nil,
		[]rowgroup.Column{{Name: "value", Type: rowgroup.Int}})
	check(err)
	b := rowgroup.NewBatch(schema)
	b.BeginPartition([]byte("a"))
	for i := range n {
		*b.Int32s(1), *b.Int32s(2) = append(*b.Int32s(1), 3600*i), append(*b.Int32s(2), i)
	}
	return b
}

// tableOf is a table file of b in memory.
func tableOf(b *rowgroup.Batch, opts ...columnar.Option) []byte {
	var file bytes.Buffer
	w, err := columnar.NewWriter(&file, b.Schema(), opts...)
	check(err)
	check(errors.Join(w.Append(b), w.Close()))
	return file.Bytes()
}

// A mapped file is decoded where it lies. The mapping ends when the Reader and
// its iterators are closed; All closes its own.
func ExampleOpenFile() {
	dir, err := os.MkdirTemp("", "colsst")
	check(err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "hours.csst")
	check(os.WriteFile(path, tableOf(hours(1000)), 0o600))

	r, err := columnar.OpenFile(path, columnar.WithMmap())
	check(err)
	rows := 0
	for b, err := range r.All(context.Background(), rowgroup.ScanOptions{}) {
		check(err)
		rows += b.Len()
	}
	fmt.Println(rows, "of", r.Rows(), "rows")
	check(r.Close())
	// Output: 1000 of 1000 rows
}

// Several goroutines encode, and several decode; the bytes and the rows are
// those of one.
func ExampleWithConcurrency() {
	b := hours(100_000)
	one, four := tableOf(b), tableOf(b, columnar.WithConcurrency(4))
	fmt.Println("equal bytes:", bytes.Equal(one, four))

	r, err := columnar.OpenBytes(four)
	check(err)
	it := r.Scan(context.Background(), rowgroup.ScanOptions{Concurrency: 4})
	defer it.Close()
	sum := int64(0)
	for {
		ok, err := it.Next(b)
		check(err)
		if !ok {
			break
		}
		for _, v := range *b.Int32s(2) {
			sum += int64(v)
		}
	}
	fmt.Println(sum)
	// Output:
	// equal bytes: true
	// 4999950000
}

// Counts, least and greatest values come from statistics; a sum from the
// column's values alone.
func ExampleReader_Aggregate() {
	r, err := columnar.OpenBytes(tableOf(hours(100_000)))
	check(err)
	ctx, value := context.Background(), r.Schema().Lookup("value")
	all, err := r.Aggregate(ctx, rowgroup.AggregateOptions{Columns: []int{value}, Sums: []int{value}})
	check(err)
	fmt.Println(all.Rows, "rows, sum", all.Columns[0].IntSum, "mean", all.Columns[0].Mean())

	part, err := r.Partition(ctx, []byte("a"))
	check(err)
	from := rowgroup.Bound{Prefix: [][]byte{rowgroup.AppendInt(nil, rowgroup.Int, 36_000)}, Inclusive: true}
	some, err := part.(rowgroup.Aggregating).Aggregate(ctx, from, rowgroup.Bound{}, rowgroup.AggregateOptions{Columns: []int{value}})
	check(err)
	fmt.Println(some.Rows, "rows from", binary.BigEndian.Uint32(some.Columns[0].Min), "to", binary.BigEndian.Uint32(some.Columns[0].Max))
	// Output:
	// 100000 rows, sum 4999950000 mean 49999.5
	// 99990 rows from 10 to 99999
}

// A scan leaves out what statistics rule out; the rest is for the caller to
// look at.
func ExampleReader_Scan_within() {
	r, err := columnar.OpenBytes(tableOf(hours(100_000)))
	check(err)
	value := r.Schema().Lookup("value")
	within := []rowgroup.ValueRange{{Column: value, Min: rowgroup.AppendInt(nil, rowgroup.Int, 99_997)}}
	decoded := 0
	for b, err := range r.All(context.Background(), rowgroup.ScanOptions{Within: within}) {
		check(err)
		decoded += b.Len()
		for _, v := range *b.Int32s(value) {
			if v >= 99_997 {
				fmt.Println(v)
			}
		}
	}
	fmt.Println("few were decoded:", decoded < 20_000)
	// Output:
	// 99997
	// 99998
	// 99999
	// few were decoded: true
}
