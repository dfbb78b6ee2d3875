package rowgroup

import (
	"fmt"
	"slices"

	"github.com/colsst/colsst/encoding"
)

// AppendValue appends the serialised value of the cell of column col, which is
// no partition key, at row i (of a static column: of partition i): none for an
// empty one, the bytes of an exception as they are. ok is false where there is
// none: the cell is absent, null or deleted. A multi-cell column gives the value
// of the frozen type that its cells make, tombstones left out.
func (b *Batch) AppendValue(dst []byte, col, i int) (value []byte, ok bool) {
	v := &b.vecs[col]
	if v.multi != nil {
		return v.multi.appendFrozen(dst, &b.schema.cols[col].Type, i)
	}
	return v.appendValue(dst, &b.schema.cols[col].Type, b.Cell(col, i), i)
}

// appendValue appends the serialised value of type t at i, whose cell is c.
func (v *vector) appendValue(dst []byte, t *Type, c Cell, i int) (value []byte, ok bool) {
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
	switch v.class {
	case ClassInt32:
		return AppendInt(dst, *t, int64(v.i32[i])), true
	case ClassInt64:
		return AppendInt(dst, *t, v.i64[i]), true
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
	t := &b.schema.cols[col].Type
	if x.multi != nil {
		return fmt.Errorf("column %q of type %s: %w: one value where a row has many cells", b.schema.cols[col].Name, t, encoding.ErrUnsupported)
	}
	state := CellAbsent
	if ok {
		var err error
		if state, err = x.put(t, i, v); err != nil {
			return err
		}
	} else if err := x.pad(i + 1); err != nil {
		return err
	}
	if state != CellAsRow || len(x.Cells) > 0 {
		x.Cells = append(growZero(x.Cells, i), state)
	}
	return nil
}

// put appends the serialised value b of type t to v, which has i values, as an
// exception if need be, and returns the flags of the cell's state.
func (v *vector) put(t *Type, i int, b []byte) (flags Cell, err error) {
	var fits bool
	switch v.class {
	case ClassInt32:
		var n int64
		n, fits = IntOf(*t, b)
		v.i32 = append(growZero(v.i32, i), int32(n))
	case ClassInt64:
		var n int64
		n, fits = IntOf(*t, b)
		v.i64 = append(growZero(v.i64, i), n)
	case ClassFloat32:
		var f float32
		f, fits = Float32Of(b)
		v.f32 = append(growZero(v.f32, i), f)
	case ClassFloat64:
		var f float64
		f, fits = Float64Of(b)
		v.f64 = append(growZero(v.f64, i), f)
	default:
		_, fixed := t.FixedLen()
		stored := b
		if fits = Valid(*t, b) == nil && !(fixed && len(b) == 0); !fits {
			stored = nil
		}
		if err := v.pad(i); err != nil {
			return 0, err
		}
		if err := v.str.Append(stored); err != nil {
			return 0, err
		}
	}
	switch {
	case fits:
		return 0, nil
	case len(b) == 0:
		return CellEmpty, nil
	}
	v.Exceptions = append(v.Exceptions, Exception{Row: i, Value: slices.Clone(b)})
	return CellException, nil
}
