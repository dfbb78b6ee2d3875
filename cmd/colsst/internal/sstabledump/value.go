package sstabledump

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/colsst/colsst/cassandra"
	"github.com/colsst/colsst/rowgroup"
)

// appendJSON appends the value b of type t as JSON.
func appendJSON(dst []byte, t *rowgroup.Type, b []byte) []byte {
	switch t.Kind {
	case rowgroup.KindFrozen, rowgroup.KindReversed:
		return appendJSON(dst, &t.Args[0], b)
	case rowgroup.KindText, rowgroup.KindASCII:
		return appendQuoted(dst, string(b))
	case rowgroup.KindBlob:
		return append(hex.AppendEncode(append(dst, `"0x`...), b), '"')
	case rowgroup.KindCounter:
		if c, err := cassandra.ParseCounter(b); err == nil {
			return strconv.AppendInt(dst, c.Total(), 10)
		}
	}
	if len(b) == 0 {
		return append(dst, `""`...)
	}
	switch t.Kind {
	case rowgroup.KindList, rowgroup.KindSet, rowgroup.KindMap, rowgroup.KindTuple, rowgroup.KindUDT, rowgroup.KindVector:
		return appendElements(dst, t, b)
	case rowgroup.KindFloat:
		if f, ok := rowgroup.Float32Of(b); ok {
			return appendJava(dst, float64(f), 32, "null")
		}
	case rowgroup.KindDouble:
		if f, ok := rowgroup.Float64Of(b); ok {
			return appendJava(dst, f, 64, "null")
		}
	case rowgroup.KindDecimal:
		return appendDecimal(dst, b)
	case rowgroup.KindBoolean:
		return strconv.AppendBool(dst, b[0] != 0)
	case rowgroup.KindTinyint, rowgroup.KindSmallint, rowgroup.KindInt, rowgroup.KindBigint, rowgroup.KindVarint:
		return rowgroup.AppendText(dst, *t, b)
	}
	return appendQuoted(dst, text(t, b))
}

// text is a value as a key or path has it.
func text(t *rowgroup.Type, b []byte) string {
	switch t.Kind {
	case rowgroup.KindFrozen, rowgroup.KindReversed:
		return text(&t.Args[0], b)
	case rowgroup.KindText, rowgroup.KindASCII:
		return string(b)
	case rowgroup.KindBlob, rowgroup.KindOpaque, rowgroup.KindComposite:
		return hex.EncodeToString(b)
	case rowgroup.KindList, rowgroup.KindSet, rowgroup.KindMap, rowgroup.KindTuple, rowgroup.KindUDT, rowgroup.KindVector:
		return string(appendElements(nil, t, b))
	case rowgroup.KindDecimal:
		if len(b) > 0 {
			return string(appendDecimal(nil, b))
		}
	case rowgroup.KindTimestamp, rowgroup.KindOldDate:
		if ms, ok := rowgroup.IntOf(*t, b); ok {
			return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05.000Z")
		}
	case rowgroup.KindFloat:
		if f, ok := rowgroup.Float32Of(b); ok {
			return string(appendJava(nil, float64(f), 32, ""))
		}
	case rowgroup.KindDouble:
		if f, ok := rowgroup.Float64Of(b); ok {
			return string(appendJava(nil, f, 64, ""))
		}
	case rowgroup.KindTime:
		if ns, ok := rowgroup.IntOf(*t, b); ok {
			return time.Unix(0, ns).UTC().Format("15:04:05.000000000")
		}
	}
	if len(b) == 0 {
		return ""
	}
	return string(rowgroup.AppendText(nil, *t, b))
}

// appendElements appends a collection, tuple, user type or vector. What is cut
// short ends where it is cut.
func appendElements(dst []byte, t *rowgroup.Type, b []byte) []byte {
	take := func() (v []byte, null bool) {
		if len(b) < 4 {
			b = nil
			return nil, true
		}
		n := int32(binary.BigEndian.Uint32(b))
		b = b[4:]
		if n < 0 || int(n) > len(b) {
			return nil, true
		}
		v, b = b[:n:n], b[n:]
		return v, false
	}
	element := func(t *rowgroup.Type) {
		if v, null := take(); null {
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
			dst = append(appendQuoted(dst, name), ": "...)
			element(&t.Args[i])
		}
		return append(dst, '}')
	case rowgroup.KindVector:
		dst = append(dst, '[')
		n, fixed := t.Args[0].ValueLen()
		for i := 0; fixed && n > 0 && len(b) >= n; i++ {
			separate(i)
			dst = appendJSON(dst, &t.Args[0], b[:n])
			b = b[n:]
		}
		if !fixed {
			return appendQuoted(dst[:len(dst)-1], string(rowgroup.AppendText(nil, *t, b)))
		}
		return append(dst, ']')
	}
	if len(b) < 4 {
		return append(dst, "null"...)
	}
	n := int32(binary.BigEndian.Uint32(b))
	b = b[4:]
	dst = append(dst, "{["[b2i(t.Kind != rowgroup.KindMap)])
	for i := 0; i < int(n) && len(b) > 0; i++ {
		separate(i)
		if t.Kind != rowgroup.KindMap {
			element(&t.Args[0])
			continue
		}
		key, _ := take()
		k := appendJSON(nil, &t.Args[0], key)
		if len(k) == 0 || k[0] != '"' {
			k = appendQuoted(nil, string(k))
		}
		dst = append(append(dst, k...), ": "...)
		element(&t.Args[1])
	}
	return append(dst, "}]"[b2i(t.Kind != rowgroup.KindMap)])
}

// appendJava appends a floating point number as Java's toString does: from
// 0.001 to 10,000,000 without an exponent. special stands for what is none.
func appendJava(dst []byte, f float64, bits int, special string) []byte {
	switch a := math.Abs(f); {
	case math.IsNaN(f) || math.IsInf(f, 0):
		if special != "" {
			return append(dst, special...)
		}
		s := strconv.FormatFloat(f, 'g', -1, bits)
		return append(dst, strings.NewReplacer("+Inf", "Infinity", "-Inf", "-Infinity").Replace(s)...)
	case a == 0 || a >= 1e-3 && a < 1e7:
		s := strconv.FormatFloat(f, 'f', -1, bits)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return append(dst, s...)
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, bits), "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	n, _ := strconv.Atoi(exponent) // it is one
	return strconv.AppendInt(append(append(dst, mantissa...), 'E'), int64(n), 10)
}

// appendDecimal appends a decimal as Java's BigDecimal does.
func appendDecimal(dst, b []byte) []byte {
	if len(b) < 5 {
		return append(dst, `""`...)
	}
	scale := int64(int32(binary.BigEndian.Uint32(b)))
	digits := string(rowgroup.AppendText(nil, rowgroup.Varint, b[4:]))
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok || scale == 0 {
		return append(dst, digits...)
	}
	if n.Sign() < 0 {
		dst, digits = append(dst, '-'), digits[1:]
	}
	adjusted := int64(len(digits)) - 1 - scale
	if scale > 0 && adjusted >= -6 {
		if point := int64(len(digits)) - scale; point > 0 {
			return append(append(append(dst, digits[:point]...), '.'), digits[point:]...)
		}
		dst = append(dst, "0."...)
		for range scale - int64(len(digits)) {
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	}
	dst = append(dst, digits[0])
	if len(digits) > 1 {
		dst = append(append(dst, '.'), digits[1:]...)
	}
	if adjusted == 0 {
		return dst
	}
	dst = append(dst, 'E')
	if adjusted > 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, adjusted, 10)
}
