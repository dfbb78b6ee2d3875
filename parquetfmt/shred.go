package parquetfmt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/format"

	"github.com/colsst/colsst/rowgroup"
)

// ValueError says that a value cannot stand in the Parquet file.
type ValueError struct {
	Row    int64  // of the output, from 0
	Column string // its name
	Reason error
}

// Error is the row, the column and the reason.
func (e *ValueError) Error() string {
	return fmt.Sprintf("row %d, column %q: %s", e.Row, e.Column, e.Reason)
}

// Unwrap is the reason.
func (e *ValueError) Unwrap() error { return e.Reason }

var (
	errEmpty  = errors.New("a value of zero bytes, which Parquet has none for")
	errUTF8   = errors.New("text that is not UTF-8")
	errTime   = errors.New("a time outside of the day")
	errRange  = errors.New("a time that milliseconds of 64 bits do not reach")
	errForm   = errors.New("bytes that are no value of the type")
	errDigits = errors.New("a decimal of more digits than the column has")
	errScale  = errors.New("a decimal of more fractional digits than the column has")
)

// shredder cuts values into leaves.
type shredder struct {
	leaves  []leaf
	replace bool // U+FFFD in place of bytes that are no UTF-8
	scratch []byte
}

// null appends one entry of definition level def to the leaves below n.
func (x *shredder) null(n *node, rep, def uint8) {
	for i := range n.leaves {
		x.leaves[n.leaf+i].level(rep, def)
	}
}

// check says why v is no value of s. errEmpty is of zero bytes, which inside
// collections are null.
func (x *shredder) check(s *shape, v []byte) error {
	switch s.form {
	case formInt32, formBool, formInt64, formUint32, formSeconds:
		n, ok := rowgroup.IntOf(s.typ, v)
		switch {
		case len(v) == 0:
			return errEmpty
		case !ok:
			return errForm
		case s.form == formSeconds && (n > math.MaxInt64/1000 || n < math.MinInt64/1000):
			return errRange
		case s.typ.Kind == rowgroup.KindTime && !validTime(n):
			return errTime
		}
	case formFloat, formDouble:
		if want := 4 << (s.form - formFloat); len(v) != want {
			return orEmpty(v)
		}
	case formText:
		if !utf8.Valid(v) && !x.replace {
			return errUTF8
		}
	case formBytes:
	case formFixed:
		if len(v) != int(s.length) {
			return orEmpty(v)
		}
		if s.typ.Kind == rowgroup.KindNumeric {
			return rowgroup.Valid(s.typ, v)
		}
	case formFixedPt:
		if len(v) == 0 {
			return errEmpty
		}
		_, err := fixedPointOf(v, s.scale, s.precision)
		return err
	case formDecimal:
		if len(v) < 5 {
			return orEmpty(v)
		}
	default:
		if len(v) == 0 && s.form != formTuple {
			return errEmpty
		}
		if rowgroup.Valid(s.typ, v) != nil {
			return errForm
		}
		return x.checkParts(s, v)
	}
	return nil
}

// checkParts looks at what a value consists of.
func (x *shredder) checkParts(s *shape, v []byte) (err error) {
	if s.form == formDuration || len(s.parts) == 0 {
		return nil
	}
	eachPart(s, v, func(i int, p *shape, v []byte, ok bool) bool {
		if ok {
			if err = x.check(p, v); errors.Is(err, errEmpty) && p.repetition == format.Optional {
				err = nil
			}
		}
		return err == nil
	})
	return err
}

func orEmpty(v []byte) error {
	if len(v) == 0 {
		return errEmpty
	}
	return errForm
}

const nanosOfDay = 24 * 3600 * 1_000_000_000

func validTime(n int64) bool { return n >= 0 && n < nanosOfDay }

// shred appends v, which passed check.
func (x *shredder) shred(s *shape, v []byte, rep uint8) {
	switch s.form {
	case formList, formMap:
		repeated := s.children[0]
		n := 0
		eachPart(s, v, func(i int, p *shape, v []byte, ok bool) bool {
			r := repeated.maxRep
			if i < len(s.parts) {
				r = rep
			}
			n++
			x.element(p, v, ok, r)
			return true
		})
		if n == 0 {
			x.null(s.node, rep, s.maxDef)
		}
	case formTuple:
		eachPart(s, v, func(_ int, p *shape, v []byte, ok bool) bool {
			x.element(p, v, ok, rep)
			return true
		})
	case formDecimal:
		x.leafBytes(s.parts[0], v[4:], rep)
		x.leafInt32(s.parts[1], int32(binary.BigEndian.Uint32(v)), rep)
	case formDuration:
		months, days, nanos := durationOf(v)
		x.leafInt32(s.parts[0], months, rep)
		x.leafInt32(s.parts[1], days, rep)
		l := &x.leaves[s.parts[2].leaf]
		l.values.I64 = append(l.values.I64, nanos)
		l.level(rep, l.maxDef)
	default:
		x.value(s, v)
		x.leaves[s.leaf].level(rep, s.maxDef)
	}
}

// element appends a part of a value that passed check.
func (x *shredder) element(p *shape, v []byte, ok bool, rep uint8) {
	if !ok || errors.Is(x.check(p, v), errEmpty) {
		x.null(p.node, rep, p.maxDef-1)
		return
	}
	x.shred(p, v, rep)
}

func (x *shredder) leafInt32(p *shape, v int32, rep uint8) {
	l := &x.leaves[p.leaf]
	l.values.I32 = append(l.values.I32, v)
	l.level(rep, l.maxDef)
}

func (x *shredder) leafBytes(p *shape, v []byte, rep uint8) {
	l := &x.leaves[p.leaf]
	appendString(l, v)
	l.level(rep, l.maxDef)
}

// appendString appends a byte string. A row group has far less than the 4 GiB
// at which that would fail.
func appendString(l *leaf, v []byte) {
	if err := l.values.Str.Append(v); err != nil {
		panic(err)
	}
}

// value appends the value of a flat shape that passed check, without its level.
func (x *shredder) value(s *shape, v []byte) {
	l := &x.leaves[s.leaf]
	switch s.form {
	case formInt32, formBool, formUint32:
		n, _ := rowgroup.IntOf(s.typ, v) // checked
		l.values.I32 = append(l.values.I32, int32(n))
	case formInt64:
		n, _ := rowgroup.IntOf(s.typ, v)
		l.values.I64 = append(l.values.I64, n)
	case formSeconds:
		n, _ := rowgroup.IntOf(s.typ, v)
		l.values.I64 = append(l.values.I64, 1000*n)
	case formFloat:
		f, _ := rowgroup.Float32Of(v)
		l.values.F32 = append(l.values.F32, f)
	case formDouble:
		f, _ := rowgroup.Float64Of(v)
		l.values.F64 = append(l.values.F64, f)
	case formText:
		if !utf8.Valid(v) {
			v = []byte(string([]rune(string(v)))) // U+FFFD for each byte that is none
		}
		appendString(l, v)
	case formBytes, formFixed:
		appendString(l, v)
	case formPrinted:
		x.scratch = rowgroup.AppendText(x.scratch[:0], s.typ, v)
		appendString(l, x.scratch)
	case formCounter:
		n, _ := counterOf(v)
		l.values.I64 = append(l.values.I64, n)
	case formFixedPt:
		n, _ := fixedPointOf(v, s.scale, s.precision)
		switch s.node.typ {
		case format.Int32:
			l.values.I32 = append(l.values.I32, int32(n.Int64()))
		case format.Int64:
			l.values.I64 = append(l.values.I64, n.Int64())
		default:
			x.scratch = appendSigned(x.scratch[:0], n, int(s.length))
			appendString(l, x.scratch)
		}
	}
}

var ten = big.NewInt(10)

// fixedPointOf is the decimal v as a number of units of the scale.
func fixedPointOf(v []byte, scale, precision int32) (*big.Int, error) {
	if len(v) < 5 {
		return nil, errForm
	}
	n := signedOf(v[4:])
	by := int64(scale) - int64(int32(binary.BigEndian.Uint32(v)))
	switch {
	case n.Sign() == 0:
		return n, nil
	case by > int64(precision):
		return nil, errDigits
	case by >= 0:
		n.Mul(n, new(big.Int).Exp(ten, big.NewInt(by), nil))
	case -by > 4*int64(len(v)): // of that many digits, so it does not divide
		return nil, errScale
	default:
		rest := new(big.Int)
		n.QuoRem(n, new(big.Int).Exp(ten, big.NewInt(-by), nil), rest)
		if rest.Sign() != 0 {
			return nil, errScale
		}
	}
	if new(big.Int).Abs(n).Cmp(new(big.Int).Exp(ten, big.NewInt(int64(precision)), nil)) >= 0 {
		return nil, errDigits
	}
	return n, nil
}

// signedOf is a big-endian number in two's complement.
func signedOf(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}

// appendSigned appends n in two's complement of size bytes, big-endian.
func appendSigned(dst []byte, n *big.Int, size int) []byte {
	if n.Sign() < 0 {
		n = new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), uint(8*size)))
	}
	at := len(dst)
	dst = append(dst, make([]byte, size)...)
	n.FillBytes(dst[at:])
	return dst
}

// appendVarint appends n in two's complement in as few bytes as it takes.
func appendVarint(dst []byte, n *big.Int) []byte {
	bits := n.BitLen()
	if n.Sign() < 0 {
		bits = new(big.Int).Not(n).BitLen()
	}
	return appendSigned(dst, n, bits/8+1)
}
