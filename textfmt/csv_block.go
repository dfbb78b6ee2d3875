package textfmt

import (
	"bytes"
	"math/bits"
	"slices"

	"github.com/colsst/colsst/simd"
)

// A block is found in at most so many bytes of text, and tried in no fewer.
const (
	mostBlockBytes  = 32 << 10
	leastBlockBytes = 512
)

// block is records of a CSV one after the other that are plain: each of them is
// one line and has as many fields as it should, no quote is doubled. What is
// not plain, errors and blank lines among it, is for Scan.
type block struct {
	text   []byte // of the Scanner, which it is valid as long as the buffer of
	spans  []span // of all fields, record by record
	stride int    // spans of a record
	rows   int
	plain  bool  // no record that is not plain ends it
	line   int64 // of the first record
	sep    byte

	checked, valid bool // whether the text is UTF-8, once that is checked

	words []uint64 // a bit for each byte that ends a field or quotes one
	marks []int32  // where these bytes are
	found []int32  // memory of marks
}

// span is where the text of a field is, its quotes left out.
type span struct{ from, to int32 }

// field is the text of a field. The block goes on behind it.
func (b *block) field(row, col int) []byte {
	s := b.spans[row*b.stride+col]
	return b.text[s.from:s.to]
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
		b.words, b.found = make([]uint64, mostBlockBytes/64), make([]int32, mostBlockBytes)
	}
	if s.window == 0 {
		s.window = mostBlockBytes
	}
	b.text, b.line, b.sep, b.stride = s.buf[s.from:min(s.to, s.from+s.window)], s.line, s.sep, s.Fields
	b.checked = false
	if s.TrailingSeparator {
		b.stride++
	}
	simd.Match(b.words, b.text, [4]byte{s.sep, '"', '\n', '\r'})
	b.find()
	b.cut(most, s.TrailingSeparator)
}

// find makes marks of words.
func (b *block) find() {
	words, found := b.words[:(len(b.text)+63)/64], b.found
	n := 0
	for i, w := range words {
		for ; w != 0; w &= w - 1 {
			found[n] = int32(64*i + bits.TrailingZeros64(w))
			n++
		}
	}
	b.marks = found[:n]
}

// cut makes spans of marks as long as records are plain.
func (b *block) cut(most int, trailing bool) {
	text, marks, sep := b.text, b.marks, b.sep
	spans := slices.Grow(b.spans[:0], len(marks))
	defer func() { b.spans = spans }()
	b.plain = false
	start := int32(0)
	for k := 0; b.rows < most; b.rows++ {
		if k < len(marks) && marks[k] == start && (text[start] == '\n' || text[start] == '\r') {
			return // a blank line
		}
		for f := 1; ; f++ {
			for f < b.stride && k < len(marks) {
				at := marks[k]
				if text[at] != sep {
					break
				}
				spans = append(spans, span{start, at})
				start = at + 1
				k++
				f++
			}
			if k == len(marks) {
				b.plain = true
				return
			}
			if f > b.stride {
				return
			}
			at := marks[k]
			k++
			field := span{start, at}
			c := text[at]
			if c == '"' {
				if at > start {
					return
				}
				if k = b.quote(k); k <= 0 {
					b.plain = k == 0
					return
				}
				field = span{start + 1, marks[k-2]}
				at = marks[k-1]
				c = text[at]
			}
			spans = append(spans, field)
			start = at + 1
			if c == sep {
				continue
			}
			if c == '\r' {
				if k == len(marks) || marks[k] != at+1 || text[at+1] != '\n' {
					return
				}
				k++
				start++
			}
			if f < b.stride || trailing && (field.from < field.to || text[field.from-1] == '"') {
				return
			}
			break
		}
	}
	b.plain = true
}

// quote is the mark behind the end of a field whose opening quote is the mark
// before k: 0 if that is not in the text, -1 if the field is not plain.
func (b *block) quote(k int) int {
	for ; k+1 < len(b.marks); k++ {
		switch at := b.marks[k]; b.text[at] {
		case '"':
			if b.marks[k+1] == at+1 && b.text[at+1] != '"' {
				return k + 2
			}
			return -1
		case '\n', '\r':
			return -1
		}
	}
	return 0
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
