package columnar

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/rowgroup"
)

var day = generate.Metrics5{Series: 20, Points: 17_280, Seed: generate.Seed}

// metrics5File is a table of 20 series of a day.
func metrics5File(t testing.TB) []byte { return fileOf(t, day.Rows()) }

// fileOf is a table of metrics5 of these rows.
func fileOf(t testing.TB, rows rowgroup.Iter) []byte {
	var out bytes.Buffer
	w, err := NewWriter(&out, day.Schema())
	require.NoError(t, err)
	b := rowgroup.NewBatch(day.Schema())
	for {
		ok, err := rows.Next(b)
		require.NoError(t, err)
		if !ok {
			break
		}
		require.NoError(t, w.Append(b))
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

// Random queries, from a file in the page cache and from memory.
func BenchmarkQuery(b *testing.B) {
	file := metrics5File(b)
	path := filepath.Join(b.TempDir(), "table")
	require.NoError(b, os.WriteFile(path, file, 0o644))
	f, err := os.Open(path)
	require.NoError(b, err)
	defer f.Close()
	var keys [][]byte
	rd := open(b, file)
	for bt, err := range rd.All(bg, rowgroup.ScanOptions{Columns: []int{}}) {
		require.NoError(b, err)
		for p := range bt.NumPartitions() {
			if !bt.Partition(p).Continued {
				keys = append(keys, bytes.Clone(bt.Key(p)))
			}
		}
	}
	require.Len(b, keys, 20)
	onFile, err := Open(f, int64(len(file)))
	require.NoError(b, err)
	inMemory, err := OpenBytes(file)
	require.NoError(b, err)
	for _, s := range []struct {
		name string
		r    *Reader
	}{{"file", onFile}, {"memory", inMemory}} {
		dst, q := rowgroup.NewBatch(s.r.Schema()), s.r.NewQuery()
		var from, to rowgroup.Bound
		from.Prefix, from.Inclusive = make([][]byte, 1), true
		to.Prefix, to.Inclusive = make([][]byte, 1), true
		for _, rows := range []int{0, 60, 720, 17_280} {
			b.Run(fmt.Sprintf("%s/%d", s.name, rows), func(b *testing.B) {
				b.ReportAllocs()
				r := rand.New(rand.NewPCG(1, 2))
				for b.Loop() {
					key := keys[r.IntN(len(keys))]
					var err error
					if rows == 0 {
						err = q.Latest(bg, key, 1, rowgroup.ScanOptions{})
					} else {
						at := 1_780_000_000 + 5*int64(r.IntN(17_280-rows+1))
						from.Prefix[0] = rowgroup.AppendInt(from.Prefix[0][:0], rowgroup.Int, at)
						to.Prefix[0] = rowgroup.AppendInt(to.Prefix[0][:0], rowgroup.Int, at+5*int64(rows-1))
						err = q.Range(bg, key, from, to, rowgroup.ScanOptions{})
					}
					if err != nil {
						b.Fatal(err)
					}
					n := 0
					for {
						ok, err := q.Next(dst)
						if err != nil {
							b.Fatal(err)
						}
						if !ok {
							break
						}
						n += dst.Len()
					}
					if n != max(rows, 1) {
						b.Fatal(n)
					}
				}
			})
		}
	}
}
