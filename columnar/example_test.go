package columnar_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/rowgroup"
)

// Two series of a metrics table, each row with its write time, TTL and
// expiry; then a range read backwards, the latest rows, and the live view.
func Example() {
	schema, err := rowgroup.NewSchema(
		[]rowgroup.Column{{Name: "series", Type: rowgroup.Text}}, // partition key
		[]rowgroup.Column{{Name: "time", Type: rowgroup.Int}},    // clustering
		nil, // static
		[]rowgroup.Column{{Name: "value", Type: rowgroup.Float}}) // regular
	check(err)
	timeCol, valueCol := schema.Lookup("time"), schema.Lookup("value")

	var file bytes.Buffer
	w, err := columnar.NewWriter(&file, schema, columnar.WithCompression(0))
	check(err)
	batch := rowgroup.NewBatch(schema)
	for _, key := range []string{"host0.cpu", "host1.cpu"} { // in byte order
		batch.Reset()
		batch.BeginPartition([]byte(key))
		times, values, meta := batch.Int32s(timeCol), batch.Float32s(valueCol), batch.Meta()
		for i := range int32(1000) {
			*times = append(*times, 1_780_000_000+5*i)
			*values = append(*values, 20+float32(i)/8)
			written := int64(1_780_000_000+5*i)*1_000_000 + 2500
			meta.Liveness = append(meta.Liveness, rowgroup.LivenessExpiring)
			meta.WriteTimes = append(meta.WriteTimes, written)
			meta.TTLs = append(meta.TTLs, 3600)
			meta.Expiries = append(meta.Expiries, written/1_000_000+3600)
		}
		check(w.Append(batch))
	}
	check(w.Close())

	ctx := context.Background()
	r, err := columnar.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
	check(err)
	part, err := r.Partition(ctx, []byte("host1.cpu"))
	check(err)
	show := func(what string, it rowgroup.Iter) {
		for ok := true; ok; {
			if ok, err = it.Next(batch); ok {
				fmt.Println(what, *batch.Int32s(timeCol), *batch.Float32s(valueCol), batch.Meta().TTLs)
			}
			check(err)
		}
		check(it.Close())
	}
	at := func(t int64) [][]byte { return [][]byte{rowgroup.AppendInt(nil, rowgroup.Int, t)} }
	show("range", part.Range(ctx, rowgroup.Bound{Prefix: at(1_780_000_100), Inclusive: true},
		rowgroup.Bound{Prefix: at(1_780_000_115)}, rowgroup.ScanOptions{Desc: true}))
	show("latest", part.Latest(ctx, 5, rowgroup.ScanOptions{}))
	live, n := rowgroup.ScanOptions{Live: true, Now: 1_780_000_000 + 3600 + 4990}, 0
	for b, err := range r.All(ctx, live) {
		check(err)
		n += b.Len()
	}
	fmt.Println(r.Rows(), "rows stored,", n, "alive")
	// Output:
	// range [1780000110 1780000105 1780000100] [22.75 22.625 22.5] [3600 3600 3600]
	// latest [1780004995 1780004990 1780004985 1780004980 1780004975] [144.875 144.75 144.625 144.5 144.375] [3600 3600 3600 3600 3600]
	// 2000 rows stored, 2 alive
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
