package sstabledump

import (
	"bytes"
	"encoding/hex"

	"github.com/colsst/colsst/rowgroup"
)

// appendLiteral appends the value b of type t as Cassandra writes it in CQL.
// nil is null.
func appendLiteral(dst []byte, t *rowgroup.Type, b []byte) []byte {
	if b == nil {
		return append(dst, "null"...)
	}
	switch t = bare(t); t.Kind {
	case rowgroup.KindText, rowgroup.KindASCII:
		dst = append(dst, '\'')
		return append(append(dst, bytes.ReplaceAll(b, []byte{'\''}, []byte("''"))...), '\'')
	case rowgroup.KindBlob, rowgroup.KindOpaque, rowgroup.KindComposite, rowgroup.KindLexicalUUID, rowgroup.KindFixed:
		return hex.AppendEncode(append(dst, "0x"...), b)
	case rowgroup.KindList:
		return appendLiterals(dst, t, b, '[', ']')
	case rowgroup.KindSet, rowgroup.KindMap, rowgroup.KindUDT:
		return appendLiterals(dst, t, b, '{', '}')
	case rowgroup.KindTuple:
		return appendLiterals(dst, t, b, '(', ')')
	}
	if len(b) == 0 {
		return append(dst, "null"...)
	}
	switch t.Kind {
	case rowgroup.KindVector:
		return appendLiterals(dst, t, b, '[', ']')
	case rowgroup.KindTimestamp, rowgroup.KindOldDate, rowgroup.KindDate, rowgroup.KindTime, rowgroup.KindInet:
		dst, _ = appendScalar(append(dst, '\''), t, b)
		return append(dst, '\'')
	}
	dst, _ = appendScalar(dst, t, b)
	return dst
}

// appendLiterals appends a collection, tuple, user type or vector. Fields that
// are missing at the end are left out.
func appendLiterals(dst []byte, t *rowgroup.Type, b []byte, open, end byte) []byte {
	e := elements{rest: b}
	separate := func(i int) {
		if i > 0 {
			dst = append(dst, ", "...)
		}
	}
	next := func(t *rowgroup.Type) {
		v, null := e.next()
		if null {
			v = nil
		}
		dst = appendLiteral(dst, t, v)
	}
	dst = append(dst, open)
	switch t.Kind {
	case rowgroup.KindTuple, rowgroup.KindUDT:
		for i := 0; i < len(t.Args) && len(e.rest) > 0; i++ {
			separate(i)
			if t.Kind == rowgroup.KindUDT {
				dst = append(append(dst, columnName(t.Fields[i])...), ": "...)
			}
			next(&t.Args[i])
		}
	case rowgroup.KindVector:
		for i, v := range vector(t, b) {
			separate(i)
			dst = appendLiteral(dst, &t.Args[0], v)
		}
	case rowgroup.KindMap:
		for i, n := 0, e.count(); i < n && len(e.rest) > 0; i++ {
			separate(i)
			next(&t.Args[0])
			dst = append(dst, ": "...)
			next(&t.Args[1])
		}
	default:
		for i, n := 0, e.count(); i < n && len(e.rest) > 0; i++ {
			separate(i)
			next(&t.Args[0])
		}
	}
	return append(dst, end)
}
