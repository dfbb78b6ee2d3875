package cli

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/cmd/colsst/internal/predicate"
	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/textfmt"
)

// batchIter yields batches.
type batchIter struct{ batches []*rowgroup.Batch }

func (it *batchIter) Next(b *rowgroup.Batch) (bool, error) {
	b.Clear()
	if len(it.batches) == 0 {
		return false, nil
	}
	next := it.batches[0]
	it.batches = it.batches[1:]
	return true, b.AppendParts(next, 0, next.Len(), 0, next.NumPartitions())
}

func (*batchIter) Close() error { return nil }

// A subset has the rows that are wanted, each with the static values of its
// partition, and static rows alone, wherever batches end.
func TestSubset(t *testing.T) {
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "k", Type: rowgroup.Text}}, []rowgroup.Column{{Name: "t", Type: rowgroup.Int}},
		[]rowgroup.Column{{Name: "s", Type: rowgroup.Text}}, []rowgroup.Column{{Name: "v", Type: rowgroup.Int}})
	require.NoError(t, err)
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		var in []*rowgroup.Batch
		b := rowgroup.NewBatch(s)
		b.Clear()
		cut := func() {
			in = append(in, b.Clone())
			b.Clear()
		}
		var want, ranged []string
		least := rnd.IntN(8)
		for p := range rnd.IntN(6) {
			key, static := fmt.Sprintf("p%d", p), ""
			begin := func(continued bool) {
				h := b.BeginPartition([]byte(key))
				h.Continued = continued
				if static != "" && !continued {
					h.Static = rowgroup.StaticFull
				}
				require.NoError(t, b.PutValue(s.Lookup("s"), b.NumPartitions()-1, []byte(static), h.Static == rowgroup.StaticFull))
			}
			n := rnd.IntN(12)
			if rnd.IntN(3) > 0 || n == 0 {
				static = fmt.Sprintf("s%d", p)
			}
			begin(false)
			if n == 0 {
				want = append(want, key+",,"+static+",")
			}
			for i := range n {
				if rnd.IntN(4) == 0 && i > 0 {
					cut()
					begin(true)
				}
				v := rnd.IntN(4)
				*b.Int32s(s.Lookup("t")) = append(*b.Int32s(s.Lookup("t")), int32(i))
				*b.Int32s(s.Lookup("v")) = append(*b.Int32s(s.Lookup("v")), int32(v))
				if v > 1 {
					line := fmt.Sprintf("%s,%d,%s,%d", key, i, static, v)
					want = append(want, line)
					if i >= least {
						ranged = append(ranged, line)
					}
				}
			}
			if rnd.IntN(3) == 0 {
				cut()
			}
		}
		cut()
		e, err := predicate.Parse("v > 1 or v is null and s is not null")
		require.NoError(t, err)
		from := rowgroup.Bound{Prefix: [][]byte{rowgroup.AppendInt(nil, rowgroup.Int, int64(least))}, Inclusive: true}
		for _, c := range []struct {
			want   []string
			ranges []selector
		}{{want, nil}, {ranged, []selector{inRange{from: from}}}} {
			where, err := e.Bind(s)
			require.NoError(t, err)
			var out strings.Builder
			w, err := textfmt.NewCSVWriter(&out, s, textfmt.CSVWriteOptions{NoHeader: true})
			require.NoError(t, err)
			it := newSubset(&batchIter{in}, s, append(c.ranges, where)...)
			got := rowgroup.NewBatch(s)
			for {
				more, err := it.Next(got)
				require.NoError(t, err)
				if !more {
					break
				}
				require.NoError(t, got.Check())
				require.NoError(t, w.Write(got))
			}
			require.NoError(t, w.Flush())
			require.Equal(t, append([]string{}, c.want...), strings.FieldsFunc(out.String(), func(r rune) bool { return r == '\n' }))
		}
	}
}
