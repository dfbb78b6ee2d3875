// Package binfmt writes bytes as annotated dumps that a person can read, for
// the golden files of tests:
//
//	# block
//	00-03: x c5440c01  # magic
//	04-05: x 1000      # stored length 16
//
// The numbers before the colon are the offsets of a field's first and last
// byte, in decimal; x stands for hexadecimal.
package binfmt

import (
	"fmt"
	"strings"
)

const bytesPerLine = 16

// Formatter annotates a byte slice from front to back, field by field.
type Formatter struct {
	data []byte
	off  int
	rows []row
}

// row is one line of the dump; a row without place is a remark.
type row struct{ place, hex, comment string }

// New returns a Formatter at the start of data, which must not change until
// String has been called.
func New(data []byte) *Formatter { return &Formatter{data: data} }

// Remaining is the number of bytes that have no annotation so far.
func (f *Formatter) Remaining() int { return len(f.data) - f.off }

// Bytes annotates the next n bytes with a comment made as fmt.Sprintf does. A
// field of more than 16 bytes takes several lines, with the comment on the
// first; one that reaches beyond the data says how many bytes are missing.
func (f *Formatter) Bytes(n int, format string, args ...any) {
	comment := fmt.Sprintf(format, args...)
	if missing := n - f.Remaining(); missing > 0 {
		comment = fmt.Sprintf("%s (%d bytes missing)", comment, missing)
		n = f.Remaining()
	}
	digits := max(2, len(fmt.Sprint(len(f.data)-1)))
	if n <= 0 {
		place := fmt.Sprintf("%0*d-%*s:", digits, f.off, digits, "")
		f.rows = append(f.rows, row{place, "", comment})
		return
	}
	for end := f.off + n; f.off < end; comment = "" {
		k := min(bytesPerLine, end-f.off)
		f.rows = append(f.rows, row{
			place:   fmt.Sprintf("%0*d-%0*d:", digits, f.off, digits, f.off+k-1),
			hex:     fmt.Sprintf("%x", f.data[f.off:f.off+k]),
			comment: comment,
		})
		f.off += k
	}
}

// Line adds a remark of its own, which stands for no bytes.
func (f *Formatter) Line(format string, args ...any) {
	f.rows = append(f.rows, row{comment: fmt.Sprintf(format, args...)})
}

// String is the dump so far, one line per row, comments aligned. Bytes that
// have no annotation follow as such, so that a dump always shows all data.
func (f *Formatter) String() string {
	g := *f
	g.rows = append([]row(nil), f.rows...)
	if n := g.Remaining(); n > 0 {
		g.Bytes(n, "not annotated")
	}
	width := 0
	for _, r := range g.rows {
		width = max(width, len(r.hex))
	}
	var b strings.Builder
	for _, r := range g.rows {
		line := ""
		if r.place != "" {
			line = fmt.Sprintf("%s x %-*s  ", r.place, width, r.hex)
		}
		if r.comment != "" {
			line += "# " + r.comment
		}
		b.WriteString(strings.TrimRight(line, " "))
		b.WriteByte('\n')
	}
	return b.String()
}
