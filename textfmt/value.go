package textfmt

import (
	"math"
	"slices"

	"github.com/colsst/colsst/rowgroup"
)

// appendValue appends the text of the value at index i of a column that has
// values in b, as rowgroup.AppendText writes it. The cell must have one.
// scratch is memory for its serialised form.
func appendValue(dst []byte, b *rowgroup.Batch, col, i int, scratch *[]byte) []byte {
	*scratch = appendSerialised((*scratch)[:0], b, col, i)
	return rowgroup.AppendText(dst, b.Schema().Column(col).Type, *scratch)
}

// appendSerialised appends the serialised form of a value: none for a cell
// that is empty, the bytes of an exception as they are.
func appendSerialised(dst []byte, b *rowgroup.Batch, col, i int) []byte {
	dst, _ = b.AppendValue(dst, col, i)
	return dst
}

// exception is the value of the cell at i among the exceptions of a column.
func exception(b *rowgroup.Batch, col, i int) []byte {
	e := b.CellMeta(col).Exceptions
	k, ok := slices.BinarySearchFunc(e, i, func(e rowgroup.Exception, i int) int { return e.Row - i })
	if !ok {
		return nil
	}
	return e[k].Value
}

// isNull reports whether a cell has no value, not even an empty one.
func isNull(c rowgroup.Cell) bool {
	k := c.Kind()
	return k == rowgroup.CellAbsent || k == rowgroup.CellTombstone
}

// payload reports whether the serialised float is a NaN that its text does not
// tell from others.
func payload(t rowgroup.Type, b []byte) bool {
	switch bare(t).Kind {
	case rowgroup.KindDouble:
		v, ok := rowgroup.Float64Of(b)
		return ok && v != v && math.Float64bits(v) != canonicalNaN
	case rowgroup.KindFloat:
		v, ok := rowgroup.Float32Of(b)
		return ok && v != v && math.Float32bits(v) != canonicalNaN32
	}
	return false
}

// isText reports whether values of t are written as they are.
func isText(t rowgroup.Type) bool {
	k := bare(t).Kind
	return k == rowgroup.KindText || k == rowgroup.KindASCII
}
