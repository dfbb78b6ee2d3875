package textfmt

import (
	"encoding/binary"
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
	b, meta := r.builder, &r.columns.meta
	c := &b.columns[col]
	texts := c.to == toValue && c.typ.Kind == rowgroup.KindText && r.columns.text8()
	if !texts {
		n = r.columns.unescaped(col, n)
	}
	switch c.to {
	case toKey:
		return n
	case toWriteTime:
		return integers(r, col, n, meta[0].values, &meta[0])
	case toTTL:
		return integers(r, col, n, meta[1].values, &meta[1])
	case toExpiry:
		return integers(r, col, n, meta[2].values, &meta[2])
	}
	switch c.class {
	case rowgroup.ClassInt32:
		return integers(r, col, n, extended(b.batch.Int32s(c.at), n), nil)
	case rowgroup.ClassInt64:
		return integers(r, col, n, extended(b.batch.Int64s(c.at), n), nil)
	case rowgroup.ClassFloat32:
		return floats(r, col, n, extended(b.batch.Float32s(c.at), n), 6, 32)
	case rowgroup.ClassFloat64:
		return floats(r, col, n, extended(b.batch.Float64s(c.at), n), 15, 64)
	}
	if texts {
		return r.texts(col, n)
	}
	return r.others(col, n)
}

// extended makes values n longer, and is what they are longer by.
func extended[T any](values *[]T, n int) []T {
	have := len(*values)
	*values = slices.Grow(*values, n)[:have+n]
	return (*values)[have:]
}

// absent makes a cell null, unless it must not be; of a column of metadata where
// that is given.
func (r *Reader) absent(col, row int, meta *metaCells) (ok bool) {
	b := r.builder
	c := &b.columns[col]
	switch {
	case c.required && !c.spared:
		return false
	case meta != nil:
		meta.null[row] = true
	default:
		cells := &b.batch.CellMeta(c.at).Cells
		*cells = append(extend(*cells, b.row+row), rowgroup.CellAbsent)
	}
	return true
}

// integers is for a column of integers in memory.
func integers[T int32 | int64](r *Reader, col, n int, out []T, meta *metaCells) int {
	c := &r.builder.columns[col]
	least, most := c.least, c.most
	switch {
	case !c.plain:
		least, most = 0, -1
	case c.to == toTTL:
		least = 0
	}
	spans, stride, all, longest := r.columns.spans[col:], r.columns.stride, r.columns.text, r.columns.longest
	for i, at := 0, 0; i < n; i, at = i+1, at+stride {
		s := spans[at]
		// Up to 16 digits, as parseDigits reads them.
		if n := uint(s.to - s.from); n-1 < 16 && int(n) > longest && int(s.from) < len(all)-16 {
			b := all[s.from : s.from+16]
			high := binary.LittleEndian.Uint64(b) ^ '0'*everyByte
			u, bad := uint64(0), uint64(0)
			if n > 8 {
				low := (binary.LittleEndian.Uint64(b[8:]) ^ '0'*everyByte) << ((128 - 8*n) & 63)
				bad = low | (low + 6*everyByte)
				u = joinDigits(low) + joinDigits(high)*pow10uint[n-8]
			} else {
				high <<= (64 - 8*n) & 63
				u = joinDigits(high)
			}
			bad |= high | (high + 6*everyByte)
			if bad&(0xf0*everyByte) == 0 && int64(u) >= least && int64(u) <= most {
				out[i] = T(u)
				continue
			}
		}
		text := all[s.from:s.to]
		if len(text) <= longest && r.isNull(i, col) {
			if !r.absent(col, i, meta) {
				return i
			}
			out[i] = 0
			continue
		}
		v, ok := parseInt(text)
		if !ok || v < least || v > most {
			var p *problem
			if v, p = r.builder.integer(c, text); p != nil || c.to == toTTL && v < 0 {
				return i
			}
		}
		out[i] = T(v)
	}
	return n
}

// floats is for a column of floats of a size, of which numbers of no more digits
// than always are not rounded.
func floats[T float32 | float64](r *Reader, col, n int, out []T, always, size int) int {
	spans, stride, all, longest := r.columns.spans[col:], r.columns.stride, r.columns.text, r.columns.longest
	for i, at := 0, 0; i < n; i, at = i+1, at+stride {
		s := spans[at]
		text := all[s.from:s.to]
		if len(text) <= longest && r.isNull(i, col) {
			if !r.absent(col, i, nil) {
				return i
			}
			out[i] = 0
			continue
		}
		v, inexact, ok := parseFloat(text, always, size)
		if !ok {
			return i
		}
		if inexact {
			r.columns.inexact = append(r.columns.inexact, roundedCell{i, col})
		}
		out[i] = T(v)
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
	out := b.batch.Bytes(b.columns[col].at)
	const short = 16
	if !out.Fits(len(block.text) + short) {
		return 0
	}
	from := len(out.Data)
	data := slices.Grow(out.Data, len(block.text)+short)
	data = data[:cap(data)]
	ends := extended(&out.Ends, n)
	spans, stride, all := block.spans[col:], block.stride, block.text
	done, to := n, from
	for i, at := 0, 0; i < n; i, at = i+1, at+stride {
		s := spans[at]
		text := all[s.from:s.to]
		switch {
		case len(text) <= longest && r.isNull(i, col):
			if !r.absent(col, i, nil) {
				done = i
			}
			text = nil
		case block.escaped(col, text):
			text = appendUnescaped(data[:to], text)[to:]
		case len(text) <= short && len(all)-int(s.from) >= short:
			// Two loads and two stores, whatever follows the text.
			*(*[short]byte)(data[to:]) = [short]byte(all[s.from:])
		default:
			copy(data[to:], text)
		}
		if done < n {
			break
		}
		to += len(text)
		ends[i] = uint32(to)
	}
	b.bytes += to - from
	out.Data, out.Ends = data[:to], out.Ends[:b.row+done]
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
			if b.batch.Bytes(c.at).Append(nil) != nil || !r.absent(col, i, nil) {
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
			for _, col := range b.keyColumns {
				to = r.columns.same(col, i, to)
			}
		}
		for i < to {
			if b.order && b.rows > 0 && b.follows(r.name, line+int64(i)) != nil {
				return i
			}
			// Rows that ascend are in order, whatever else is asked of them.
			run := 1
			if !b.order {
				run = to - i
			} else if b.clustering.direction != 0 {
				run += b.ascending(to - i - 1)
			}
			i += run
			b.row += run
			b.rows += int64(run)
			b.lastLine = line + int64(i-1)
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

// same is the first row behind this one, at most to, whose field has another
// text, or stands in quotes where the row's does not.
func (b *block) same(col, row, to int) int {
	first, quoted := b.field(row, col), b.quoted(row, col)
	for row++; row < to; row++ {
		s := b.spans[row*b.stride+col]
		if int(s.to-s.from) != len(first) || string(b.text[s.from:s.to]) != string(first) || b.quoted(row, col) != quoted {
			break
		}
	}
	return row
}

// ascending counts the rows behind the next one, up to n, that come in order by
// the only clustering column and not beside the one before them.
func (b *builder) ascending(n int) int {
	c := &b.clustering
	if len(b.batch.CellMeta(c.at).Cells) > 0 {
		return 0 // some are null
	}
	if c.class == rowgroup.ClassInt32 {
		return ascending((*b.batch.Int32s(c.at))[b.row:b.row+n+1], c.direction < 0)
	}
	return ascending((*b.batch.Int64s(c.at))[b.row:b.row+n+1], c.direction < 0)
}

// ascending counts the values behind the first one up to the last that is
// greater, or less, than the one before it.
func ascending[T int32 | int64](values []T, down bool) int {
	for i := 1; i < len(values); i++ {
		a, b := values[i-1], values[i]
		if down {
			a, b = b, a
		}
		if a >= b {
			return i - 1
		}
	}
	return len(values) - 1
}
