package rowgroup

import (
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/function"
)

// oddValues are the values of an integer stream that are not 0, of which there are
// few, in the groups of a span.
type oddValues struct {
	at     []int32 // positions in the span, which ascend
	values []int64
	ends   []int32 // by group of the span: of its own and those before
}

// of is how many lie in the g-th group of the span.
func (s *oddValues) of(g int) int {
	if g == 0 {
		return int(s.ends[0])
	}
	return int(s.ends[g] - s.ends[g-1])
}

// oddsOf is stream st, which has a value for each unfiltered of sp. It is valid
// until the next call.
func (d *blockDecoder) oddsOf(st int, sp *span) (*oddValues, error) {
	x := &d.few
	x.at, x.values, x.ends = x.at[:0], x.values[:0], x.ends[:0]
	for g := sp.from; g < sp.to; g++ {
		if !d.zero(st, g, g+1) {
			at, values, err := d.nonzeros(st, g)
			if err != nil {
				return nil, err
			}
			from := int32(d.starts[g] - d.starts[sp.from])
			for _, p := range at {
				x.at = append(x.at, from+p)
			}
			x.values = append(x.values, values...)
		}
		x.ends = append(x.ends, int32(len(x.at)))
	}
	return x, nil
}

// listOf is the values of integer stream st in all groups of sp, in dst's memory.
func (d *blockDecoder) listOf(dst []int64, st int, sp *span) ([]int64, error) {
	n := 0
	for g := sp.from; g < sp.to; g++ {
		n += d.count(st, g)
	}
	dst = sized(dst, n)
	return dst, groups(d, dst, st, sp, d.decodeInt64)
}

// follow is listOf of a stream that is, in all groups alike, a function of stream
// of and nothing else, whose list is x; ok is false where it is not.
func (d *blockDecoder) follow(dst, x []int64, st, of int, sp *span) (_ []int64, ok bool, err error) {
	k := int(d.where[st])
	l := &d.listed[k]
	v := &l.values
	if k == 0 || l.to > l.from+1 || l.to > l.from && d.dyns[l.from].slot != slotCount || v[slotZstd] != 0 || v[slotID] != int64(encoding.Function) ||
		d.l.streams[st].narrow || function.References(v.params()) != [2]int64{int64(of), function.None} {
		return dst, false, nil
	}
	for g := sp.from; g < sp.to; g++ {
		if d.count(st, g) != d.count(of, g) {
			return dst, false, nil
		}
	}
	if n, err := function.Len(v.params(), len(x)); n > 0 || err != nil {
		return dst, false, nil // refused where it is decoded by group
	}
	dst = sized(dst, len(x))
	return dst, true, d.fun.DecodeColumns(dst, &function.Column{Values: x}, &function.Column{}, v.params(), nil)
}

// decodeDeletionsOf is decodeDeletions of several groups.
func (d *blockDecoder) decodeDeletionsOf(l *rowLayout, meta *RowMeta, sp *span) (err error) {
	st, time, local := l.base+rDelState, l.base+rDelTime, l.base+rDelLocal
	if d.times, err = d.listOf(d.times, time, sp); err != nil {
		return err
	}
	var ok bool
	if d.locals, ok, err = d.follow(d.locals, d.times, local, time, sp); !ok && err == nil {
		d.locals, err = d.listOf(d.locals, local, sp)
	}
	if err != nil {
		return err
	}
	x, err := d.oddsOf(st, sp)
	if err != nil {
		return err
	}
	for g := sp.from; g < sp.to; g++ {
		if n := x.of(g - sp.from); d.count(time, g) != n || d.count(local, g) != n {
			return d.corrupt(time, g, "%d times for %d deletions", d.count(time, g), n)
		}
	}
	for i, s := range x.values {
		if s < 0 || s > 2 {
			return d.corrupt(st, sp.from, "state %d", s)
		}
		meta.Deletions = append(meta.Deletions, RowDeletion{Row: sp.at + int(x.at[i]), Deletion: Deletion{d.times[i], d.locals[i]}, Shadowable: s == 2})
	}
	return nil
}

// decodeCellsWithout decodes the values of column streams s over several groups in
// which some cells are not there, or have no value, and all others are as their
// rows or like them. ok is false, and nothing was done, where there are other cells.
func (d *blockDecoder) decodeCellsWithout(v *vector, s int, sp *span, live *liveness) (ok bool, err error) {
	if v.class == ClassBytes || live.none() {
		return false, nil
	}
	for i := cWriteTime; i < numColumnStreams; i++ {
		if i != cValue && !d.absent(s+i, sp.from, sp.to) {
			return false, nil
		}
	}
	x, err := d.oddsOf(s+cState, sp)
	if err != nil {
		return false, err
	}
	holes, next := d.cells[0][:0], 0
	for g := sp.from; g < sp.to; g++ {
		before := len(holes)
		for ; next < int(x.ends[g-sp.from]); next++ {
			c := Cell(x.values[next])
			if int64(c) != x.values[next] || c&^(CellEmpty|cellKinds) != 0 || c.Kind() >= CellTombstone || c.Kind() == CellAbsent && c != CellAbsent {
				return false, nil
			}
			if !c.HasValue() {
				holes = append(holes, int32(sp.at)+x.at[next])
			}
		}
		d.cells[0] = holes
		if d.count(s+cValue, g) != d.rows[g]-(len(holes)-before) {
			return false, nil
		}
	}
	if err := v.pad(sp.at); err != nil {
		return false, err
	}
	v.Cells = extend(growZero(v.Cells, sp.at), sp)
	clear(v.Cells[sp.at:])
	for i, p := range x.at {
		v.Cells[sp.at+int(p)] = Cell(x.values[i])
	}
	v.CellMeta.pad(sp.at + sp.n)
	n := sp.n - len(holes)
	switch v.class {
	case ClassInt32:
		v.i32 = extend(v.i32, sp)
		err = groups(d, v.i32[sp.at:][:n], s+cValue, sp, d.decodeInt32)
		moveApart(v.i32[sp.at:], sp.at, holes)
	case ClassInt64:
		v.i64 = extend(v.i64, sp)
		err = groups(d, v.i64[sp.at:][:n], s+cValue, sp, d.decodeInt64)
		moveApart(v.i64[sp.at:], sp.at, holes)
	case ClassFloat32:
		v.f32 = extend(v.f32, sp)
		err = dense(d, v.f32[sp.at:][:n], s+cValue, sp, d.decodeFloat32, d.alp.Float32s)
		moveApart(v.f32[sp.at:], sp.at, holes)
	case ClassFloat64:
		v.f64 = extend(v.f64, sp)
		err = dense(d, v.f64[sp.at:][:n], s+cValue, sp, d.decodeFloat64, d.alp.Float64s)
		moveApart(v.f64[sp.at:], sp.at, holes)
	}
	return true, err
}

// groups decodes stream st of the groups of sp, one behind the other, into dst.
func groups[T any](d *blockDecoder, dst []T, st int, sp *span, one func([]T, int, int) error) error {
	for g := sp.from; g < sp.to; g++ {
		n := d.count(st, g)
		if n == 0 {
			continue
		}
		if err := one(dst[:n], st, g); err != nil {
			return err
		}
		dst = dst[n:]
	}
	return nil
}
