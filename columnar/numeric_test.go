package columnar

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

// oddValues are values of a type in order: corners, some others and, if odd, what
// memory cannot hold of it.
func oddValues(r *rand.Rand, typ rowgroup.Type, odd bool) (all [][]byte) {
	add := func(text string) {
		if b, err := rowgroup.ParseText(nil, typ, text); err == nil {
			all = append(all, b)
		}
	}
	for _, text := range []string{"0", "-0.1", "0.1", "99.9", "-99.9", "9999999999.99", "-9999999999.99", "0x0000", "0xffff", "0x7fff", "0x8000",
		"9999999999999999999999999999999999999.999", "-9999999999999999999999999999999999999.999"} {
		add(text)
	}
	for range 150 {
		add(fmt.Sprintf("%.1f", float64(r.IntN(2000)-1000)/10))
		add(fmt.Sprintf("0x%04x", r.IntN(1<<16)))
	}
	if n, ok := typ.ValueLen(); ok && odd {
		all = append(all, nil, bytes.Repeat([]byte{0x7f}, n), append([]byte{0x80}, make([]byte, n-1)...), make([]byte, n+1)[:n])
		if n >= 4 {
			all = append(all, binary.BigEndian.AppendUint32(make([]byte, n-4), 1000))
		}
	}
	for i := range all {
		if all[i] == nil {
			all[i] = []byte{}
		}
	}
	slices.SortStableFunc(all, typ.Compare)
	return slices.CompactFunc(all, func(a, b []byte) bool { return typ.Compare(a, b) == 0 })
}

// Decimals of a fixed scale and strings of a fixed length are keys, of rows too,
// and values, among which is what memory cannot hold.
func TestFixedAndNumeric(t *testing.T) {
	seed := uint64(0)
	for _, typ := range []rowgroup.Type{rowgroup.Numeric(3, 1), rowgroup.Numeric(12, 2), rowgroup.Numeric(40, 3), rowgroup.Fixed(2)} {
		for _, desc := range []bool{false, true} {
			for _, odd := range []bool{false, true} {
				seed++
				r := rand.New(rand.NewPCG(seed, 41))
				s := table(t, []rowgroup.Column{{Name: "k", Type: typ}}, []rowgroup.Column{{Name: "c", Type: typ, Desc: desc}},
					[]rowgroup.Column{{Name: "v", Type: typ}, {Name: "w", Type: rowgroup.Numeric(18, 0)}})
				values := oddValues(r, typ, odd)
				b := rowgroup.NewBatch(s)
				keys := oddValues(r, typ, false)[:3]
				slices.SortFunc(keys, bytes.Compare)
				for _, k := range keys {
					b.BeginPartition(k)
					list := slices.DeleteFunc(slices.Clone(values), func(v []byte) bool { return len(v) > 0 && rowgroup.Valid(typ, v) != nil })
					if desc {
						slices.Reverse(list)
					}
					for _, v := range list {
						at := b.Len()
						require.NoError(t, b.PutValue(1, at, v, true))
						require.NoError(t, b.PutValue(2, at, values[r.IntN(len(values))], r.IntN(9) > 0))
						require.NoError(t, b.PutValue(3, at, rowgroup.AppendInt(nil, rowgroup.Numeric(18, 0), r.Int64N(1e18)*int64(1-2*r.IntN(2))), true))
					}
				}
				fix(b)
				require.NoError(t, b.Check())
				file := write(t, b, 90, WithRowGroupRows(8), WithBlockBytes(150))
				what := fmt.Sprint(typ, desc, odd)
				rd := open(t, file)
				require.NoError(t, rd.Verify(bg, VerifyValues, func(err error) { t.Error(what, err) }))
				got, err := drain(rd.Scan(bg, rowgroup.ScanOptions{}), s)
				require.NoError(t, err)
				same(t, rows(dump(b)), rows(got), what)
				for range 16 {
					p := r.IntN(len(keys))
					from, to := b.PartitionRows(p)
					var bounds [2]rowgroup.Bound
					for i := range bounds {
						if v := values[r.IntN(len(values))]; r.IntN(5) > 0 {
							bounds[i] = rowgroup.Bound{Prefix: [][]byte{v}, Inclusive: r.IntN(2) == 0}
						}
						if s.CheckBound(bounds[i]) != nil {
							bounds[i] = rowgroup.Bound{}
						}
					}
					lo := s.SearchBound(b, from, to, bounds[0], true)
					hi := max(lo, s.SearchBound(b, from, to, bounds[1], false))
					one := rowgroup.NewBatch(s)
					one.BeginPartition(b.Key(p))
					require.NoError(t, one.AppendParts(b, lo, hi, 0, 0))
					part, err := rd.Partition(bg, keys[p])
					require.NoError(t, err)
					got, err := drain(part.Range(bg, bounds[0], bounds[1], rowgroup.ScanOptions{}), s)
					require.NoError(t, err)
					same(t, rows(dump(one)), rows(got), what)
					got, err = drain(part.Range(bg, bounds[0], bounds[1], rowgroup.ScanOptions{Desc: true}), s)
					require.NoError(t, err)
					same(t, reversed(rows(dump(one))), rows(got), what)
				}
				for range 6 {
					within := []rowgroup.ValueRange{{Column: 2, Min: values[r.IntN(len(values))], Max: values[r.IntN(len(values))]}}
					if r.IntN(3) == 0 {
						within[0].Min = nil
					}
					all := wantedRows(t, rd.Scan(bg, rowgroup.ScanOptions{}), s, within)
					require.Equal(t, all, wantedRows(t, rd.Scan(bg, rowgroup.ScanOptions{Within: within}), s, within), what)
				}
			}
		}
	}
}
