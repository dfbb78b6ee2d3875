package sstabledump

import (
	"strconv"
	"unicode/utf8"
)

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

const indents = "\n                                "

func (p *printer) indent(compact bool) {
	switch {
	case p.lines:
	case compact:
		p.out = append(p.out, ' ')
	default:
		p.out = append(p.out, indents[:1+2*len(p.stack)]...)
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

// name begins a member. The name has nothing to escape.
func (p *printer) name(name string) {
	l := &p.stack[len(p.stack)-1]
	if l.n > 0 {
		p.out = append(p.out, ',')
	}
	l.n++
	p.indent(p.objects)
	p.out = append(p.out, '"')
	p.out = append(p.out, name...)
	if p.lines {
		p.out = append(p.out, `":`...)
	} else {
		p.out = append(p.out, `" : `...)
	}
	p.named = true
}

func (p *printer) open(array bool) {
	p.value()
	p.out = append(p.out, "{["[b2i(array)])
	p.stack = append(p.stack, level{array: array})
}

func (p *printer) close() {
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

func (p *printer) text(s []byte)  { p.value(); p.out = appendQuoted(p.out, s) }
func (p *printer) raw(s string)   { p.value(); p.out = append(p.out, s...) }
func (p *printer) number(n int64) { p.value(); p.out = strconv.AppendInt(p.out, n, 10) }
func (p *printer) boolean(b bool) { p.value(); p.out = strconv.AppendBool(p.out, b) }
func (p *printer) plain(s string) { p.value(); p.out = append(append(append(p.out, '"'), s...), '"') }
func (p *printer) quote()         { p.value(); p.out = append(p.out, '"') }
func (p *printer) unquote()       { p.out = append(p.out, '"') }
func plainByte(c byte) bool       { return c >= ' ' && c != '"' && c != '\\' }

// appendQuoted appends s in double quotes, escaped as Jackson does. Bytes that
// are not UTF-8 become U+FFFD.
func appendQuoted(dst, s []byte) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf && plainByte(c) {
			i++
			continue
		}
		n := 1
		if c >= utf8.RuneSelf {
			var r rune
			if r, n = utf8.DecodeRune(s[i:]); r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
		}
		dst = append(dst, s[from:i]...)
		dst = appendEscaped(dst, c)
		i += n
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}

func appendEscaped(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\t':
		return append(dst, '\\', 't')
	case '\n':
		return append(dst, '\\', 'n')
	case '\f':
		return append(dst, '\\', 'f')
	case '\r':
		return append(dst, '\\', 'r')
	}
	if c >= utf8.RuneSelf {
		return utf8.AppendRune(dst, utf8.RuneError)
	}
	const hex = "0123456789ABCDEF"
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
