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

// PutValue appends the serialised value v to column col, which is no partition
// key and has i values: it becomes that of row i (of a static column: of
// partition i). It is absent if ok is false, and an exception where the column's
// type cannot hold it. v is copied. It fails where a column of byte strings
// would pass 4 GiB.
func (b *Batch) PutValue(col, i int, v []byte, ok bool) error {
	x := &b.vecs[col]
	t := b.schema.cols[col].Type
	var fits bool
	state := CellAsRow
	switch x.class {
	case ClassInt32:
		var n int64
		n, fits = IntOf(t, v)
		x.i32 = append(x.i32, int32(n))
	case ClassInt64:
		var n int64
		n, fits = IntOf(t, v)
		x.i64 = append(x.i64, n)
	case ClassFloat32:
		var f float32
		f, fits = Float32Of(v)
		x.f32 = append(x.f32, f)
	case ClassFloat64:
		var f float64
		f, fits = Float64Of(v)
		x.f64 = append(x.f64, f)
	default:
		_, fixed := t.FixedLen()
		stored := v
		if fits = Valid(t, v) == nil && !(fixed && len(v) == 0); !fits || !ok {
			stored = nil
		}
		if err := x.str.Append(stored); err != nil {
			return err
		}
	}
	switch {
	case !ok:
		state = CellAbsent
	case fits:
	case len(v) == 0:
		state = CellEmpty
	default:
		state = CellException
		x.Exceptions = append(x.Exceptions, Exception{Row: i, Value: slices.Clone(v)})
	}
	if state != CellAsRow || len(x.Cells) > 0 {
		x.Cells = append(growZero(x.Cells, i), state)
	}
	return nil
}
