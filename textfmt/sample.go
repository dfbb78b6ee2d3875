package textfmt

import (
	"bytes"
	"io"
)

// tape keeps what is read of an input, to be read once more. It allocates the
// text once, and lets go of it as it is read again.
type tape struct {
	r      io.Reader
	pieces [][]byte
	length int
}

// tapePiece is the size of a piece of tape.
const tapePiece = 256 << 10

// Read reads on.
func (t *tape) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	t.length += n
	if n >= tapePiece/2 {
		t.pieces = append(t.pieces, bytes.Clone(p[:n])) // not cleared before
		return n, err
	}
	for p = p[:n]; len(p) > 0; {
		last := len(t.pieces) - 1
		if last < 0 || len(t.pieces[last]) == cap(t.pieces[last]) {
			t.pieces = append(t.pieces, make([]byte, 0, tapePiece))
			last++
		}
		piece := t.pieces[last]
		k := min(len(p), cap(piece)-len(piece))
		t.pieces[last] = append(piece, p[:k]...)
		p = p[k:]
	}
	return n, err
}

// rewind is all of the input, from its start. The tape is not read any more.
func (t *tape) rewind() io.Reader { return io.MultiReader(&played{t.pieces}, t.r) }

// played is a tape that is read once more.
type played struct{ pieces [][]byte }

func (p *played) Read(b []byte) (n int, err error) {
	for n < len(b) && len(p.pieces) > 0 {
		k := copy(b[n:], p.pieces[0])
		n += k
		if p.pieces[0] = p.pieces[0][k:]; len(p.pieces[0]) == 0 {
			p.pieces[0], p.pieces = nil, p.pieces[1:]
		}
	}
	if n == 0 && len(b) > 0 {
		err = io.EOF
	}
	return n, err
}

// sampler infers the types of columns from the first rows of an input.
type sampler struct {
	names []string
	seen  []inference
	o     *TableOptions
}

// add looks at the cell of column i.
func (s *sampler) add(i int, f *Field, null bool) {
	if !s.seen[i].settled() {
		s.seen[i].add(f, null, s.o.zone())
	}
}

// block looks at the rows of a block.
func (s *sampler) block(b *block, marks []string) {
	for col := range s.seen {
		in := &s.seen[col]
		for row := 0; row < b.rows && !in.settled(); row++ {
			text := b.field(row, col)
			if b.escaped(col, text) {
				text = appendUnescaped(nil, text)
			}
			null := isMark(marks, text)
			if !null && in.another(text) {
				continue
			}
			f := Field{Text: text, Quoted: b.quoted(row, col), Line: b.line + int64(row)}
			in.add(&f, null, s.o.zone())
		}
	}
}

// column begins another column.
func (s *sampler) column(name string, strings bool) {
	in := inference{strings: strings, isTime: s.o.Time != nil && s.o.Time.Column == name, layout: s.o.Layouts[name]}
	_, in.given = s.o.given(name)
	s.names = append(s.names, name)
	s.seen = append(s.seen, in)
}

// settled reports whether no further row can change a type.
func (s *sampler) settled() bool {
	for i := range s.seen {
		if !s.seen[i].settled() {
			return false
		}
	}
	return true
}

// choices are the types of all columns.
func (s *sampler) choices() []Choice {
	choices := make([]Choice, len(s.names))
	for i, name := range s.names {
		c := &choices[i]
		*c = Choice{Column: name, Layout: s.o.Layouts[name]}
		if c.Type, c.Given = s.o.given(name); !c.Given {
			*c = s.seen[i].choose(name)
		}
	}
	return choices
}
