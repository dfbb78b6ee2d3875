package textfmt

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/colsst/colsst/rowgroup"
)

// columns puts the rows of blocks into a batch column by column:
//
//	block -> column by column -> row metadata -> keys and order -> rows of the batch
//
// Each step takes the rows up to the first that is no plain success, and what
// the steps before have put of that row and those behind it is taken back. The
// row is then read as any other is, by Reader.row, which knows what is wrong.
type columns struct {
	block
	longest int          // bytes of the longest mark of null
	meta    [3]metaCells // write times, TTLs, expiries
	inexact []roundedCell
}

// metaCells are row metadata as the columns of the text give it.
type metaCells struct {
	values []int64
	null   []bool
}

// roundedCell is a cell whose number was rounded.
type roundedCell struct{ row, col int }

// rowsOf reads a block of s into the batch. all is false if the row behind it
// should be read by itself.
func (r *Reader) rowsOf(s *Scanner) (all bool) {
	c, b := &r.columns, r.builder
	s.block(&c.block, batchRows-b.row)
	if c.rows == 0 {
		s.take(&c.block, 0)
		return false
	}
	c.longest, c.inexact = 0, c.inexact[:0]
	for _, mark := range r.null {
		c.longest = max(c.longest, len(mark))
	}
	n := c.rows
	for i := range c.meta {
		m := &c.meta[i]
		m.values, m.null = clearN(m.values, n), clearN(m.null, n)
	}
	for i := range b.columns {
		n = min(n, r.column(i, n))
	}
	from := b.row
	n = r.keys(r.rowMetas(n))
	b.undo()
	for _, cell := range c.inexact {
		if cell.row < n {
			f := Field{Text: c.field(cell.row, cell.col), Line: c.line + int64(cell.row)}
			b.tallies.round(cell.col, len(b.columns), &f)
		}
	}
	if b.row > from && from == 0 {
		b.firstLine = c.line
	}
	s.take(&c.block, n)
	return n == c.rows
}

// clearN makes s n zeros.
func clearN[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// null reports whether a cell, whose text is not longer than the longest mark,
// is null.
func (r *Reader) isNull(row, col int) bool {
	c := &r.columns
	return isMark(r.null, c.field(row, col)) && !(r.builder.columns[col].text && c.quoted(row, col))
}

// column puts the cells of a column, at most n of them, and counts them.
func (r *Reader) column(col, n int) int {
	b := r.builder
	c := &b.columns[col]
	switch c.to {
	case toKey:
		return n
	case toWriteTime:
		return r.metaColumn(col, n, &r.columns.meta[0])
	case toTTL:
		return r.metaColumn(col, n, &r.columns.meta[1])
	case toExpiry:
		return r.metaColumn(col, n, &r.columns.meta[2])
	}
	switch c.class {
	case rowgroup.ClassInt32:
		return integers(r, col, n, b.batch.Int32s(c.at))
	case rowgroup.ClassInt64:
		return integers(r, col, n, b.batch.Int64s(c.at))
	case rowgroup.ClassFloat32:
		return r.floats32(col, n)
	case rowgroup.ClassFloat64:
		return r.floats64(col, n)
	}
	if c.typ.Kind == rowgroup.KindText && r.columns.text8() {
		return r.texts(col, n)
	}
	return r.others(col, n)
}

// absent makes a cell null, unless it must not be.
func (b *builder) absent(c *column, row int) (ok bool) {
	if c.required {
		return false
	}
	cells := &b.batch.CellMeta(c.at).Cells
	*cells = append(extend(*cells, row), rowgroup.CellAbsent)
	return true
}

func integers[T int32 | int64](r *Reader, col, n int, values *[]T) int {
	b, block, longest := r.builder, &r.columns.block, r.columns.longest
	c := &b.columns[col]
	out := slices.Grow(*values, n)[:b.row+n]
	*values = out
	for i := range n {
		text := block.field(i, col)
		if len(text) <= longest && r.isNull(i, col) {
			if !b.absent(c, b.row+i) {
				return i
			}
			out[b.row+i] = 0
			continue
		}
		v, ok := parseInt(text)
		if !ok || !c.plain || v < c.least || v > c.most {
			var p *problem
			if v, p = b.integer(c, text); p != nil {
				return i
			}
		}
		out[b.row+i] = T(v)
	}
	return n
}

// metaColumn is integers for a column of row metadata.
func (r *Reader) metaColumn(col, n int, m *metaCells) int {
	b, block, longest := r.builder, &r.columns.block, r.columns.longest
	c := &b.columns[col]
	for i := range n {
		text := block.field(i, col)
		if len(text) <= longest && r.isNull(i, col) {
			if c.required {
				return i
			}
			m.null[i] = true
			continue
		}
		v, ok := parseInt(text)
		if !ok || !c.plain || v < c.least || v > c.most {
			var p *problem
			if v, p = b.integer(c, text); p != nil {
				return i
			}
		}
		if c.to == toTTL && v < 0 {
			return i
		}
		m.values[i] = v
	}
	return n
}

func (r *Reader) floats32(col, n int) int {
	b, block, longest := r.builder, &r.columns.block, r.columns.longest
	c := &b.columns[col]
	values := b.batch.Float32s(c.at)
	out := slices.Grow(*values, n)[:b.row+n]
	*values = out
	for i := range n {
		text := block.field(i, col)
		if len(text) <= longest && r.isNull(i, col) {
			if !b.absent(c, b.row+i) {
				return i
			}
			out[b.row+i] = 0
			continue
		}
		v, ok := parseFloat32(text)
		if !ok {
			return i
		}
		if len(text) > 6 && rounded(text, float64(v), 6, 32) {
			r.columns.inexact = append(r.columns.inexact, roundedCell{i, col})
		}
		out[b.row+i] = v
	}
	return n
}

func (r *Reader) floats64(col, n int) int {
	b, block, longest := r.builder, &r.columns.block, r.columns.longest
	c := &b.columns[col]
	values := b.batch.Float64s(c.at)
	out := slices.Grow(*values, n)[:b.row+n]
	*values = out
	for i := range n {
		text := block.field(i, col)
		if len(text) <= longest && r.isNull(i, col) {
			if !b.absent(c, b.row+i) {
				return i
			}
			out[b.row+i] = 0
			continue
		}
		v, ok := parseFloat64(text)
		if !ok {
			return i
		}
		if len(text) > 15 && rounded(text, v, 15, 64) {
			r.columns.inexact = append(r.columns.inexact, roundedCell{i, col})
		}
		out[b.row+i] = v
	}
	return n
}

// text8 reports whether all of the block is UTF-8, hence each of its fields
// where the separator is ASCII.
func (b *block) text8() bool {
	if !b.checked {
		b.checked, b.valid = true, b.sep < utf8.RuneSelf && utf8.Valid(b.text[:b.end(b.rows)])
	}
	return b.valid
}

// texts is for a column of text in a block of UTF-8.
func (r *Reader) texts(col, n int) int {
	b, block, longest := r.builder, &r.columns.block, r.columns.longest
	c := &b.columns[col]
	out := b.batch.Bytes(c.at)
	if !out.Fits(len(block.text)) {
		return 0
	}
	data, ends := out.Data, out.Ends
	done := n
	for i := range n {
		text := block.field(i, col)
		if len(text) <= longest && r.isNull(i, col) {
			if !b.absent(c, b.row+i) {
				done = i
				break
			}
			text = nil
		}
		data = append(data, text...)
		ends = append(ends, uint32(len(data)))
	}
	b.bytes += len(data) - len(out.Data)
	out.Data, out.Ends = data, ends
	return done
}

// others is for a column of any type.
func (r *Reader) others(col, n int) int {
	b, block := r.builder, &r.columns.block
	c := &b.columns[col]
	for i := range n {
		text := block.field(i, col)
		switch {
		case len(text) <= r.columns.longest && r.isNull(i, col):
			if b.batch.Bytes(c.at).Append(nil) != nil || !b.absent(c, b.row+i) {
				return i
			}
		case c.typ.Kind == rowgroup.KindText && !utf8.Valid(text), b.value(c, text) != nil:
			return i
		}
	}
	return n
}

// rowMetas puts the metadata of n rows, or of fewer, and counts them.
func (r *Reader) rowMetas(n int) int {
	b, meta := r.builder, &r.columns.meta
	if !b.metadata && !b.expires {
		return n
	}
	m := b.batch.Meta()
	m.WriteTimes = append(m.WriteTimes, meta[0].values[:n]...)
	if !b.expires {
		return n
	}
	noExpiry := !slices.ContainsFunc(b.columns, func(c column) bool { return c.to == toExpiry })
	for i, ttl := range meta[1].values[:n] {
		expiry, null := meta[2].values[i], noExpiry || meta[2].null[i]
		state := rowgroup.LivenessExpiring
		switch {
		case ttl == 0:
			if !null {
				return i
			}
			state, expiry = rowgroup.LivenessLive, 0
		case null && !b.metadata:
			return i
		case null:
			expiry = floorDiv(meta[0].values[i], 1e6) + ttl
		}
		m.Liveness = append(m.Liveness, state)
		m.TTLs = append(m.TTLs, int32(ttl))
		m.Expiries = append(m.Expiries, expiry)
	}
	return n
}

// keys gives n rows their partitions and checks their order: those are rows of
// the batch then. It counts them.
func (r *Reader) keys(n int) int {
	b, line := r.builder, r.columns.line
	for i := 0; i < n; {
		// Rows whose keys have the same text are of one partition.
		to := n
		if len(b.keyTypes) > 0 {
			if !r.key(i) || b.partition(r.name, line+int64(i)) != nil {
				return i
			}
			for to = i + 1; to < n && r.sameKey(to); {
				to++
			}
		}
		for ; i < to; i++ {
			if b.order && b.rows > 0 && !b.ascends() && b.follows(r.name, line+int64(i)) != nil {
				return i
			}
			b.row++
			b.rows++
			b.lastLine = line + int64(i)
		}
	}
	return n
}

// key makes the key of row i.
func (r *Reader) key(i int) (ok bool) {
	b := r.builder
	b.beginRow()
	for col := range b.columns {
		c := &b.columns[col]
		if c.to != toKey {
			continue
		}
		text := r.columns.field(i, col)
		if len(text) <= r.columns.longest && r.isNull(i, col) || b.value(c, text) != nil || b.inexact {
			b.inexact = false
			return false
		}
	}
	return true
}

// sameKey reports whether the key of row i has the same text as that of the row
// before.
func (r *Reader) sameKey(i int) bool {
	block := &r.columns.block
	for _, col := range r.builder.keyColumns {
		if !bytes.Equal(block.field(i, col), block.field(i-1, col)) || block.quoted(i, col) != block.quoted(i-1, col) {
			return false
		}
	}
	return true
}

// ascends reports whether the row is surely behind the one before it in the
// batch, by the only clustering column.
func (b *builder) ascends() bool {
	c := &b.clustering
	if c.direction == 0 || b.row == 0 {
		return false
	}
	if c.class == rowgroup.ClassInt32 {
		v := *b.batch.Int32s(c.at)
		return inOrder(int64(v[b.row-1]), int64(v[b.row]), c.direction)
	}
	v := *b.batch.Int64s(c.at)
	return inOrder(v[b.row-1], v[b.row], c.direction)
}

func inOrder(before, after int64, direction int) bool {
	if direction < 0 {
		return before > after
	}
	return before < after
}
