package sstabledump

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/bits"
	"net/netip"
	"strconv"
	"strings"

	"github.com/colsst/colsst/rowgroup"
)

// bare is t without what changes no value.
func bare(t *rowgroup.Type) *rowgroup.Type {
	for t.Kind == rowgroup.KindFrozen || t.Kind == rowgroup.KindReversed {
		t = &t.Args[0]
	}
	return t
}

// appendScalar appends a value of a type that is not put together of others as
// Cassandra's getString does, and reports whether it is one.
func appendScalar(dst []byte, t *rowgroup.Type, b []byte) (_ []byte, ok bool) {
	switch t.Kind {
	case rowgroup.KindText, rowgroup.KindASCII:
		return append(dst, b...), true
	case rowgroup.KindBlob, rowgroup.KindOpaque, rowgroup.KindCounter:
		return hex.AppendEncode(dst, b), true
	case rowgroup.KindTinyint:
		if len(b) == 1 {
			return strconv.AppendInt(dst, int64(int8(b[0])), 10), true
		}
		return dst, false
	case rowgroup.KindSmallint:
		if len(b) == 2 {
			return strconv.AppendInt(dst, int64(int16(binary.BigEndian.Uint16(b))), 10), true
		}
		return dst, false
	case rowgroup.KindDate:
		if len(b) == 4 {
			return appendDay(dst, int64(binary.BigEndian.Uint32(b))-1<<31, false), true
		}
		return dst, false
	case rowgroup.KindTime:
		if len(b) == 8 && b[0] < 0x80 {
			return appendTimeOfDay(dst, int64(binary.BigEndian.Uint64(b))), true
		}
		return dst, false
	case rowgroup.KindDuration:
		if string(b) == "\x00\x00\x00" { // nothing at all
			return dst, true
		}
		return rowgroup.AppendText(dst, *t, b), rowgroup.Valid(*t, b) == nil
	}
	if len(b) == 0 {
		return dst, true
	}
	switch t.Kind {
	case rowgroup.KindInt:
		if len(b) == 4 {
			return strconv.AppendInt(dst, int64(int32(binary.BigEndian.Uint32(b))), 10), true
		}
	case rowgroup.KindBigint:
		if len(b) == 8 {
			return strconv.AppendInt(dst, int64(binary.BigEndian.Uint64(b)), 10), true
		}
	case rowgroup.KindDouble:
		if len(b) == 8 {
			return appendFloat(dst, math.Float64frombits(binary.BigEndian.Uint64(b)), 64), true
		}
	case rowgroup.KindFloat:
		if len(b) == 4 {
			return appendFloat(dst, float64(math.Float32frombits(binary.BigEndian.Uint32(b))), 32), true
		}
	case rowgroup.KindBoolean:
		if len(b) == 1 {
			return strconv.AppendBool(dst, b[0] != 0), true
		}
	case rowgroup.KindTimestamp, rowgroup.KindOldDate:
		if len(b) == 8 {
			c := clock{form: stringForm}
			return c.appendMillis(dst, int64(binary.BigEndian.Uint64(b))), true
		}
	case rowgroup.KindUUID, rowgroup.KindTimeUUID, rowgroup.KindLexicalUUID:
		if len(b) == 16 {
			return rowgroup.AppendText(dst, rowgroup.UUID, b), true
		}
	case rowgroup.KindInet:
		return appendAddress(dst, b)
	case rowgroup.KindVarint:
		return rowgroup.AppendText(dst, rowgroup.Varint, b), true
	case rowgroup.KindDecimal:
		return appendDecimal(dst, b)
	}
	return dst, false
}

// appendAddress appends an address without leaving out zeros; one of IPv4 in
// one of IPv6 as the former.
func appendAddress(dst, b []byte) (_ []byte, ok bool) {
	a, ok := netip.AddrFromSlice(b)
	if a = a.Unmap(); !ok || a.Is4() {
		return a.AppendTo(dst), ok
	}
	for i := 0; i < len(b); i += 2 {
		if i > 0 {
			dst = append(dst, ':')
		}
		dst = strconv.AppendUint(dst, uint64(binary.BigEndian.Uint16(b[i:])), 16)
	}
	return dst, true
}

// appendJSON appends the value b of type t as JSON.
func appendJSON(dst []byte, t *rowgroup.Type, b []byte) []byte {
	t = bare(t)
	quoted := true
	switch t.Kind {
	case rowgroup.KindDouble:
		if len(b) == 8 {
			return appendFinite(dst, math.Float64frombits(binary.BigEndian.Uint64(b)), 64)
		}
	case rowgroup.KindFloat:
		if len(b) == 4 {
			return appendFinite(dst, float64(math.Float32frombits(binary.BigEndian.Uint32(b))), 32)
		}
	case rowgroup.KindText, rowgroup.KindASCII:
		return appendQuoted(dst, b)
	case rowgroup.KindCounter: // the start of the context
		if len(b) >= 8 {
			return strconv.AppendInt(dst, int64(binary.BigEndian.Uint64(b)), 10)
		}
	case rowgroup.KindTimestamp, rowgroup.KindOldDate:
		if len(b) == 8 {
			c := clock{form: jsonForm}
			return append(c.appendMillis(append(dst, '"'), int64(binary.BigEndian.Uint64(b))), '"')
		}
	case rowgroup.KindTime:
		if len(b) == 0 {
			return append(dst, `"null"`...)
		}
	case rowgroup.KindInt, rowgroup.KindBigint, rowgroup.KindBoolean, rowgroup.KindTinyint, rowgroup.KindSmallint,
		rowgroup.KindVarint, rowgroup.KindDecimal:
		quoted = len(b) == 0
	case rowgroup.KindList, rowgroup.KindSet, rowgroup.KindMap, rowgroup.KindTuple, rowgroup.KindUDT, rowgroup.KindVector:
		if len(b) > 0 || t.Kind == rowgroup.KindUDT {
			return appendElements(dst, t, b)
		}
	}
	at := len(dst)
	if quoted {
		dst = append(dst, '"')
	}
	dst, ok := appendScalar(dst, t, b)
	if len(b) > 0 && (!ok || t.Kind == rowgroup.KindBlob || t.Kind == rowgroup.KindOpaque) {
		dst = hex.AppendEncode(append(dst[:at], `"0x`...), b)
		quoted = true
	} else if t.Kind == rowgroup.KindBlob {
		dst = append(dst, "0x"...)
	}
	if quoted {
		dst = append(dst, '"')
	}
	return dst
}

func appendFinite(dst []byte, f float64, bits int) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	return appendFloat(dst, f, bits)
}

// elements are the values that one is put together of.
type elements struct {
	rest []byte
	bad  bool // it ends within one
}

// next is the next one: u32 length, negative if it is null, and bytes.
func (e *elements) next() (v []byte, null bool) {
	if len(e.rest) < 4 {
		e.bad = e.bad || len(e.rest) > 0
		e.rest = nil
		return nil, true
	}
	n := int32(binary.BigEndian.Uint32(e.rest))
	e.rest = e.rest[4:]
	if n < 0 {
		return nil, true
	}
	if int64(n) > int64(len(e.rest)) {
		e.rest, e.bad = nil, true
		return nil, true
	}
	v, e.rest = e.rest[:n:n], e.rest[n:]
	return v, false
}

// count takes the number of elements of a collection, which stands before them.
// There may be fewer.
func (e *elements) count() int {
	if len(e.rest) < 4 {
		e.rest = nil
		return 0
	}
	n := int32(binary.BigEndian.Uint32(e.rest))
	e.rest = e.rest[4:]
	return int(n)
}

// vector is the elements of a vector: of one length, or a vint before each.
func vector(t *rowgroup.Type, b []byte) (values [][]byte) {
	width, fixed := t.Args[0].ValueLen()
	for len(values) < int(t.Length) && len(b) > 0 {
		n, used := width, 0
		if !fixed {
			if n, used = vint(b); used == 0 {
				return values
			}
		}
		if n > len(b)-used {
			return values
		}
		values = append(values, b[used:used+n:used+n])
		b = b[used+n:]
	}
	return values
}

// vint reads a number of as many further bytes as the first has leading ones.
// used is 0 if it is cut short, or no length.
func vint(b []byte) (n, used int) {
	more := bits.LeadingZeros8(^b[0])
	if more > 4 || len(b) <= more {
		return 0, 0
	}
	n = int(b[0] & (0xff >> more))
	for _, c := range b[1 : 1+more] {
		n = n<<8 | int(c)
	}
	if n < 0 || n > math.MaxInt32 {
		return 0, 0
	}
	return n, 1 + more
}

// appendElements appends a collection, tuple, user type or vector as JSON. What
// is cut short ends where it is cut.
func appendElements(dst []byte, t *rowgroup.Type, b []byte) []byte {
	e := elements{rest: b}
	element := func(t *rowgroup.Type) {
		if v, null := e.next(); null {
			dst = append(dst, "null"...)
		} else {
			dst = appendJSON(dst, t, v)
		}
	}
	separate := func(i int) {
		if i > 0 {
			dst = append(dst, ", "...)
		}
	}
	switch t.Kind {
	case rowgroup.KindTuple:
		dst = append(dst, '[')
		for i := range t.Args {
			separate(i)
			element(&t.Args[i])
		}
		return append(dst, ']')
	case rowgroup.KindUDT:
		dst = append(dst, '{')
		for i := range t.Args {
			separate(i)
			name := t.Fields[i]
			if strings.ToLower(name) != name {
				name = `"` + name + `"`
			}
			dst = append(appendQuoted(dst, []byte(name)), ": "...)
			element(&t.Args[i])
		}
		return append(dst, '}')
	case rowgroup.KindVector:
		dst = append(dst, '[')
		for i, v := range vector(t, b) {
			separate(i)
			dst = appendJSON(dst, &t.Args[0], v)
		}
		return append(dst, ']')
	case rowgroup.KindMap:
		dst = append(dst, '{')
		for i, n := 0, e.count(); i < n && len(e.rest) > 0; i++ {
			separate(i)
			key, _ := e.next()
			at := len(dst)
			if dst = appendJSON(dst, &t.Args[0], key); dst[at] != '"' {
				text := string(dst[at:])
				dst = appendQuoted(dst[:at], []byte(text))
			}
			dst = append(dst, ": "...)
			element(&t.Args[1])
		}
		return append(dst, '}')
	}
	dst = append(dst, '[')
	for i, n := 0, e.count(); i < n && len(e.rest) > 0; i++ {
		separate(i)
		element(&t.Args[0])
	}
	return append(dst, ']')
}

// appendString appends the value b of type t as Cassandra's getString does, in
// keys, paths and the internal form, and reports whether it is one.
func appendString(dst []byte, t *rowgroup.Type, b []byte) (_ []byte, ok bool) {
	switch t = bare(t); t.Kind {
	case rowgroup.KindList, rowgroup.KindSet, rowgroup.KindMap, rowgroup.KindVector:
		return hex.AppendEncode(dst, b), true
	case rowgroup.KindComposite:
		return appendComposite(dst, t, b)
	case rowgroup.KindTuple, rowgroup.KindUDT:
		e := elements{rest: b}
		for i := 0; i < len(t.Args) && len(e.rest) > 0; i++ {
			if i > 0 {
				dst = append(dst, ':')
			}
			v, null := e.next()
			switch {
			case e.bad:
				return dst, false
			case null:
				dst = append(dst, '@')
				continue
			}
			s, ok := appendString(nil, &t.Args[i], v)
			if !ok {
				return dst, false
			}
			dst = append(dst, strings.NewReplacer(":", `\:`, "@", `\@`).Replace(string(s))...)
		}
		return dst, true
	}
	return appendScalar(dst, t, b)
}

// appendComposite appends a composite value: u16 length, bytes and a byte that
// is 0, or else ends it, for each component.
func appendComposite(dst []byte, t *rowgroup.Type, b []byte) (_ []byte, ok bool) {
	for i := 0; i < len(t.Args) && len(b) > 0; i++ {
		if i > 0 {
			dst = append(dst, ':')
		}
		v, end, rest, ok := component(b)
		if !ok {
			return dst, false
		}
		s, ok := appendString(nil, &t.Args[i], v)
		if !ok {
			return dst, false
		}
		text := strings.ReplaceAll(string(s), ":", `\:`)
		if strings.HasSuffix(text, `\`) || strings.HasSuffix(text, "!") {
			text += "!"
		}
		dst, b = append(dst, text...), rest
		switch {
		case end < 0:
			return append(dst, ":_"...), true
		case end > 0:
			return append(dst, ":!"...), true
		}
	}
	return dst, true
}

// component takes the first component of a composite value.
func component(b []byte) (v []byte, end int8, rest []byte, ok bool) {
	if len(b) < 3 {
		return nil, 0, nil, false
	}
	n := int(binary.BigEndian.Uint16(b))
	if len(b) < n+3 {
		return nil, 0, nil, false
	}
	return b[2 : 2+n], int8(b[2+n]), b[n+3:], true
}
