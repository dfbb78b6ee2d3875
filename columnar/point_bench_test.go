package columnar

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/rowgroup"
)

// pointsFile is a table of many small partitions, and their keys.
func pointsFile(t testing.TB, p generate.Points) (file []byte, keys [][]byte) {
	var out bytes.Buffer
	w, err := NewWriter(&out, p.Schema())
	require.NoError(t, err)
	b, rows := rowgroup.NewBatch(p.Schema()), p.Rows()
	for {
		ok, err := rows.Next(b)
		require.NoError(t, err)
		if !ok {
			break
		}
		require.NoError(t, w.Append(b))
		for i := range b.NumPartitions() {
			keys = append(keys, bytes.Clone(b.Key(i)))
		}
	}
	require.NoError(t, w.Close())
	return out.Bytes(), keys
}

// Random partitions of a row, and of 12, from memory.
func BenchmarkPoint(b *testing.B) {
	for _, n := range []int{1, 12} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			file, keys := pointsFile(b, generate.Points{Partitions: 100_000, PerKey: n, Seed: generate.Seed})
			rd, err := OpenBytes(file)
			require.NoError(b, err)
			dst, q, r := rowgroup.NewBatch(rd.Schema()), rd.NewQuery(), rand.New(rand.NewPCG(1, 2))
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if err := q.Range(bg, keys[r.IntN(len(keys))], rowgroup.Bound{}, rowgroup.Bound{}, rowgroup.ScanOptions{}); err != nil {
					b.Fatal(err)
				}
				rows := 0
				for ok := true; ok; rows += dst.Len() {
					if ok, err = q.Next(dst); err != nil {
						b.Fatal(err)
					}
				}
				if rows != n {
					b.Fatal(rows)
				}
			}
		})
	}
}
