package textfmt

import (
	"bytes"
	"math/bits"

	"github.com/colsst/colsst/simd"
)

// A block is found in at most so many bytes of text, and tried in no fewer.
const (
	mostBlockBytes  = 32 << 10
	leastBlockBytes = 512
)

// block is records of a CSV one after the other that are plain: each of them is
// one line and has as many fields as it should. What is not plain, errors and
// blank lines among it, is for Scan.
type block struct {
	text    []byte // of the Scanner, which it is valid as long as the buffer of
	spans   []span // of all fields, record by record
	stride  int    // spans of a record
	doubled []bool // by column: there are quotes in fields, where they are doubled
	rows    int
	plain   bool  // no record that is not plain ends it
	line    int64 // of the first record
	sep     byte

	checked, valid bool // whether the text is UTF-8, once that is checked

	words []uint64 // a bit for each byte that ends a field or quotes one
	marks []span   // of the text up to each of these bytes, from behind the one before
}

// span is where the text of a field is, its quotes left out.
type span struct{ from, to int32 }

// field is the text of a field. The block goes on behind it.
func (b *block) field(row, col int) []byte {
	s := b.spans[row*b.stride+col]
	return b.text[s.from:s.to]
}

// escaped reports whether quotes are doubled in the text of a field of a column.
func (b *block) escaped(col int, text []byte) bool {
	return b.doubled[col] && bytes.IndexByte(text, '"') >= 0
}

// unescaped counts the first rows, at most n, in whose field no quote is doubled.
func (b *block) unescaped(col, n int) int {
	for row := 0; b.doubled[col] && row < n; row++ {
		if b.escaped(col, b.field(row, col)) {
			return row
		}
	}
	return n
}

// quoted reports whether a field stands in quotes.
func (b *block) quoted(row, col int) bool {
	from := b.spans[row*b.stride+col].from
	return from > 0 && b.text[from-1] == '"'
}

// end is where the first rows end in text.
func (b *block) end(rows int) int {
	switch {
	case rows == 0:
		return 0
	case rows < b.rows:
		from := int(b.spans[rows*b.stride].from)
		if b.quoted(rows, 0) {
			from--
		}
		return from
	}
	to := int(b.spans[rows*b.stride-1].to)
	return to + bytes.IndexByte(b.text[to:], '\n') + 1
}

// block finds up to most records that are plain in what is in the buffer. They
// are not read before take.
func (s *Scanner) block(b *block, most int) {
	b.rows = 0
	if s.err != nil || !s.started || s.Fields == 0 {
		return
	}
	if b.words == nil {
		b.words, b.marks = make([]uint64, mostBlockBytes/64), make([]span, mostBlockBytes)
	}
	if s.window == 0 {
		s.window = mostBlockBytes
	}
	b.text, b.line, b.sep, b.stride = s.buf[s.from:min(s.to, s.from+s.window)], s.line, s.sep, s.Fields
	b.checked = false
	if s.TrailingSeparator {
		b.stride++
	}
	b.doubled = clearN(b.doubled, b.stride)
	simd.Match(b.words, b.text, [4]byte{s.sep, '"', '\n', '\r'})
	b.find()
	b.cut(most, s.TrailingSeparator)
}

// find makes marks of words.
func (b *block) find() {
	marks := b.marks[:mostBlockBytes]
	n, from := 0, int32(0)
	for i, w := range b.words[:(len(b.text)+63)/64] {
		for ; w != 0; w &= w - 1 {
			at := int32(64*i + bits.TrailingZeros64(w))
			marks[n&(mostBlockBytes-1)] = span{from, at}
			n++
			from = at + 1
		}
	}
	b.marks = marks[:n]
}

// cut makes spans of marks, in their place, as long as records are plain. In
// those without quotes every mark is the span of a field.
func (b *block) cut(most int, trailing bool) {
	text, marks, sep, stride := b.text, b.marks, b.sep, b.stride
	n := 0 // spans
	defer func() { b.spans = marks[:n] }()
	b.plain = false
	for k := 0; b.rows < most; b.rows++ {
		if k < len(marks) && marks[k].from == marks[k].to && (text[marks[k].to] == '\n' || text[marks[k].to] == '\r') {
			return // a blank line
		}
		for f := 1; ; f++ {
			for ; f < stride && k < len(marks); f++ {
				m := marks[k]
				if text[m.to] != sep {
					break
				}
				marks[n] = m
				n++
				k++
			}
			if k == len(marks) {
				b.plain = true
				return
			}
			if f > stride {
				return
			}
			field := marks[k]
			end := field.to
			k++
			if text[end] == '"' {
				if field.from < end {
					return
				}
				doubled := false
				if k, doubled = b.quote(k); k <= 0 {
					b.plain = k == 0
					return
				}
				b.doubled[f-1] = b.doubled[f-1] || doubled
				field, end = span{end + 1, marks[k-2].to}, marks[k-1].to
			}
			c := text[end]
			marks[n] = field
			n++
			if c == sep {
				continue
			}
			if c == '\r' {
				if k == len(marks) || marks[k].to != end+1 || text[end+1] != '\n' {
					return
				}
				k++
			}
			if f < stride || trailing && (field.from < field.to || text[field.from-1] == '"') {
				return
			}
			break
		}
	}
	b.plain = true
}

// quote is the mark behind the end of a field whose opening quote is the mark
// before k, and whether quotes are doubled in it: 0 if the end is not in the text,
// -1 if the field is not plain.
func (b *block) quote(k int) (behind int, doubled bool) {
	for ; k+1 < len(b.marks); k++ {
		switch at := b.marks[k].to; b.text[at] {
		case '"':
			if b.marks[k+1].to != at+1 {
				return -1, false
			}
			if b.text[at+1] != '"' {
				return k + 2, doubled
			}
			doubled = true
			k++
		case '\n', '\r':
			return -1, false
		}
	}
	return 0, false
}

// appendUnescaped appends text with one quote for each two.
func appendUnescaped(dst, text []byte) []byte {
	for {
		k := bytes.IndexByte(text, '"')
		if k < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:k+1]...)
		text = text[k+2:]
	}
}

// take reads the first rows of a block. Where a block ends before its text does
// the next is sought in less, so that what is no part of it is not looked at
// often.
func (s *Scanner) take(b *block, rows int) {
	n := b.end(rows)
	s.from += n
	s.line += int64(rows)
	if rows == b.rows && b.plain {
		s.window = min(2*s.window, mostBlockBytes)
	} else {
		s.window = max(min(2*n, s.window), leastBlockBytes)
	}
}
