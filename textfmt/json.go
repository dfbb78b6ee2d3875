package textfmt

import (
	"encoding/hex"
	"math"
	"unicode/utf8"

	"github.com/colsst/colsst/rowgroup"
)

// AppendJSON appends a serialised value of type t as JSON, in the forms that
// DumpWriter tells of.
func AppendJSON(dst []byte, t rowgroup.Type, b []byte) []byte {
	text := isText(t)
	if len(b) == 0 && !text || text && !utf8.Valid(b) || rowgroup.Valid(t, b) != nil || oddBoolean(t, b) {
		dst = append(dst, `{"hex":"`...)
		dst = hex.AppendEncode(dst, b)
		return append(dst, `"}`...)
	}
	if text {
		return appendJSONString(dst, b)
	}
	switch bare(t).Kind {
	case rowgroup.KindDouble:
		if v, _ := rowgroup.Float64Of(b); math.IsNaN(v) || math.IsInf(v, 0) {
			return appendWord(dst, t, b)
		}
	case rowgroup.KindFloat:
		if v, _ := rowgroup.Float32Of(b); math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return appendWord(dst, t, b)
		}
	case rowgroup.KindBoolean, rowgroup.KindTinyint, rowgroup.KindSmallint, rowgroup.KindInt, rowgroup.KindBigint,
		rowgroup.KindUint8, rowgroup.KindUint16, rowgroup.KindUint32, rowgroup.KindUint64,
		rowgroup.KindVarint, rowgroup.KindDecimal, rowgroup.KindNumeric, rowgroup.KindCounter:
	default:
		return appendJSONString(dst, rowgroup.AppendText(nil, t, b))
	}
	return rowgroup.AppendText(dst, t, b)
}

// oddBoolean reports whether b is a boolean that is neither 0 nor 1. Cassandra
// takes any other byte for true, but it is not the byte of true.
func oddBoolean(t rowgroup.Type, b []byte) bool {
	return bare(t).Kind == rowgroup.KindBoolean && len(b) == 1 && b[0] > 1
}

// appendWord appends a float that is no number.
func appendWord(dst []byte, t rowgroup.Type, b []byte) []byte {
	if payload(t, b) {
		dst = append(dst, `{"nan":"`...)
		dst = hex.AppendEncode(dst, b)
		return append(dst, `"}`...)
	}
	dst = append(dst, '"')
	dst = rowgroup.AppendText(dst, t, b)
	return append(dst, '"')
}

// appendJSONString appends UTF-8 text as a JSON string, escaping only what must
// be escaped.
func appendJSONString(dst, text []byte) []byte {
	dst = append(dst, '"')
	dst = appendEscaped(dst, text)
	return append(dst, '"')
}

const hexDigits = "0123456789abcdef"

// appendEscaped appends UTF-8 text as it stands inside a JSON string.
func appendEscaped(dst, text []byte) []byte {
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c < 0x20:
			dst = append(dst, `\u00`...)
			dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
