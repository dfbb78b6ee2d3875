package sstabledump

import "strconv"

// printer writes JSON in the two layouts of sstabledump: a value a line without
// any blank, or indented, with objects and arrays on one line where they are
// compact.
type printer struct {
	out     []byte // not yet written
	lines   bool   // without blanks
	stack   []level
	objects bool // what comes next in objects is compact: after a blank, not on a line of its own
	arrays  bool // likewise in arrays
	named   bool // the name of a member has been written
}

type level struct {
	array bool
	n     int
}

func (p *printer) indent(compact bool) {
	switch {
	case p.lines:
	case compact:
		p.out = append(p.out, ' ')
	default:
		p.out = append(p.out, '\n')
		for range p.stack {
			p.out = append(p.out, "  "...)
		}
	}
}

// value begins a value.
func (p *printer) value() {
	if p.named {
		p.named = false
		return
	}
	if k := len(p.stack) - 1; k >= 0 {
		if p.stack[k].n > 0 {
			p.out = append(p.out, ',')
		}
		p.stack[k].n++
		p.indent(p.arrays)
	}
}

func (p *printer) name(name string) {
	k := len(p.stack) - 1
	if p.stack[k].n > 0 {
		p.out = append(p.out, ',')
	}
	p.stack[k].n++
	p.indent(p.objects)
	p.quoted(name)
	if p.lines {
		p.out = append(p.out, ':')
	} else {
		p.out = append(p.out, " : "...)
	}
	p.named = true
}

func (p *printer) begin(array bool) {
	p.value()
	p.out = append(p.out, "{["[b2i(array)])
	p.stack = append(p.stack, level{array: array})
}

func (p *printer) end() {
	k := len(p.stack) - 1
	l := p.stack[k]
	p.stack = p.stack[:k]
	switch {
	case l.n > 0 && l.array:
		p.indent(p.arrays)
	case l.n > 0:
		p.indent(p.objects)
	case !p.lines:
		p.out = append(p.out, ' ')
	}
	p.out = append(p.out, "}]"[b2i(l.array)])
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (p *printer) text(s string)  { p.value(); p.quoted(s) }
func (p *printer) raw(b []byte)   { p.value(); p.out = append(p.out, b...) }
func (p *printer) number(n int64) { p.value(); p.out = strconv.AppendInt(p.out, n, 10) }
func (p *printer) boolean(b bool) { p.value(); p.out = strconv.AppendBool(p.out, b) }
func (p *printer) quoted(s string) {
	p.out = appendQuoted(p.out, s)
}

// appendQuoted appends s in double quotes, escaped as Jackson does.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, c := range []byte(s) {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= ' ':
			dst = append(dst, c)
		case c == '\b':
			dst = append(dst, '\\', 'b')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\f':
			dst = append(dst, '\\', 'f')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		default:
			const hex = "0123456789ABCDEF"
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(dst, '"')
}
