package columnar_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/rowgroup"
)

// One Query answers question after question without allocating; a cache keeps
// the blocks that were read.
func ExampleReader_NewQuery() {
	dir, err := os.MkdirTemp("", "colsst")
	check(err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "metrics.csst")
	schema, err := rowgroup.NewSchema(
		[]rowgroup.Column{{Name: "series", Type: rowgroup.Text}},
		[]rowgroup.Column{{Name: "time", Type: rowgroup.Int}},
		nil,
		[]rowgroup.Column{{Name: "value", Type: rowgroup.Float}})
	check(err)
	f, err := os.Create(path)
	check(err)
	w, err := columnar.NewWriter(f, schema)
	check(err)
	b := rowgroup.NewBatch(schema)
	for _, key := range []string{"a", "b"} {
		b.BeginPartition([]byte(key))
		for i := range int32(5000) {
			*b.Int32s(1), *b.Float32s(2) = append(*b.Int32s(1), 10*i), append(*b.Float32s(2), float32(i%7))
		}
	}
	check(w.Append(b))
	check(errors.Join(w.Close(), f.Close()))

	ctx, cache := context.Background(), columnar.NewCache(64<<20)
	r, err := columnar.OpenFile(path, columnar.WithCache(cache))
	check(err)
	q := r.NewQuery()
	rows := func(err error) (times []int32) {
		check(err)
		for ok := true; ok; times = append(times, *b.Int32s(1)...) {
			ok, err = q.Next(b)
			check(err)
		}
		return times
	}
	at := func(t int64) [][]byte { return [][]byte{rowgroup.AppendInt(nil, rowgroup.Int, t)} }
	for _, key := range []string{"a", "b", "a", "b"} {
		fmt.Println(key, rows(q.Latest(ctx, []byte(key), 2, rowgroup.ScanOptions{})),
			rows(q.Range(ctx, []byte(key), rowgroup.Bound{Prefix: at(20_000)}, rowgroup.Bound{Prefix: at(20_030), Inclusive: true}, rowgroup.ScanOptions{})))
	}
	fmt.Println(errors.Is(q.Latest(ctx, []byte("c"), 1, rowgroup.ScanOptions{}), rowgroup.ErrNotFound))
	st := cache.Stats()
	fmt.Println(st.Hits+st.Misses, "blocks,", st.Evictions, "evictions; some were there:", st.Hits > 0)
	check(errors.Join(q.Close(), r.Close()))
	// Output:
	// a [49990 49980] [20010 20020 20030]
	// b [49990 49980] [20010 20020 20030]
	// a [49990 49980] [20010 20020 20030]
	// b [49990 49980] [20010 20020 20030]
	// true
	// 8 blocks, 0 evictions; some were there: true
}
