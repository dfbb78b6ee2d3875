package rowgroup

import "slices"

// AppendValue appends the serialised value of the cell of column col, which is
// no partition key, at row i (of a static column: of partition i): none for an
// empty one, the bytes of an exception as they are. ok is false where there is
// none: the cell is absent, null or deleted.
func (b *Batch) AppendValue(dst []byte, col, i int) (value []byte, ok bool) {
	v := &b.vecs[col]
	c := b.Cell(col, i)
	switch k := c.Kind(); {
	case k == CellAbsent || k == CellTombstone:
		return dst, false
	case c&CellEmpty != 0:
		return dst, true
	case c&CellException != 0:
		e, found := slices.BinarySearchFunc(v.Exceptions, i, func(e Exception, i int) int { return e.Row - i })
		if !found {
			return dst, false
		}
		return append(dst, v.Exceptions[e].Value...), true
	case v.len() <= i: // never filled, as static columns may be
		return dst, false
	}
	switch t := b.schema.cols[col].Type; v.class {
	case ClassInt32:
		return AppendInt(dst, t, int64(v.i32[i])), true
	case ClassInt64:
		return AppendInt(dst, t, v.i64[i]), true
	case ClassFloat32:
		return AppendFloat32(dst, v.f32[i]), true
	case ClassFloat64:
		return AppendFloat64(dst, v.f64[i]), true
	}
	return append(dst, v.str.At(i)...), true
}
