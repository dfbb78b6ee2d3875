package parquetfmt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/parquet-go/parquet-go/format"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/parquetfmt/internal/page"
	"github.com/colsst/colsst/rowgroup"
)

// assembler puts values together again that lie in several leaves.
type assembler struct {
	leaves  []*entries // by number less first
	first   int        // number of the first leaf
	scratch []byte
}

var errLevels = encoding.Corruptf("levels", "those of a group's columns do not agree")

func (a *assembler) of(n *node) *entries { return a.leaves[n.leaf-a.first] }

// def is the definition level of the next entry of a leaf.
func (e *entries) def() (uint8, bool) {
	if e.entry == len(e.defs) {
		return 0, false
	}
	return e.defs[e.entry], true
}

// rep is the repetition level of the next entry; 0 at the end.
func (e *entries) rep() uint8 {
	if e.entry >= len(e.reps) {
		return 0
	}
	return e.reps[e.entry]
}

// take takes an entry and, if it has one, its value's number.
func (e *entries) take(maxDef uint8) (value int, ok bool) {
	d := e.defs[e.entry]
	e.entry++
	if d < maxDef {
		return 0, false
	}
	e.value++
	return e.value - 1, true
}

// firstLeaf is the first leaf below n.
func firstLeaf(n *node) *node {
	for !n.isLeaf() {
		n = n.children[0]
	}
	return n
}

// skip takes an entry of each leaf below n, which must say that n is null or
// empty.
func (a *assembler) skip(n *node) error {
	for i := range n.leaves {
		e := a.leaves[n.leaf+i-a.first]
		d, ok := e.def()
		if !ok || d > n.maxDef {
			return errLevels
		}
		e.entry++
	}
	return nil
}

// value appends the next value of s, serialised; ok is false for null.
func (a *assembler) value(dst []byte, s *shape) (_ []byte, ok bool, err error) {
	d, there := a.of(firstLeaf(s.node)).def()
	if !there {
		return dst, false, errLevels
	}
	if d < s.maxDef {
		return dst, false, a.skip(s.node)
	}
	switch s.form {
	case formList, formMap:
		dst, err = a.list(dst, s)
		return dst, true, err
	case formTuple:
		for _, p := range s.parts {
			if dst, err = a.part(dst, s, p); err != nil {
				return dst, false, err
			}
		}
		return dst, true, nil
	case formDecimal:
		var parts [2]int
		for i, p := range s.parts {
			if parts[i], ok = a.leafValue(p); !ok {
				return dst, false, encoding.Corruptf("value", "a decimal without its %s", p.name)
			}
		}
		scale := a.of(s.parts[1].node).values.I32[parts[1]]
		dst = binary.BigEndian.AppendUint32(dst, uint32(scale))
		return append(dst, a.of(s.parts[0].node).values.Str.At(parts[0])...), true, nil
	case formDuration:
		var parts [3]int
		for i, p := range s.parts {
			if parts[i], ok = a.leafValue(p); !ok {
				return dst, false, encoding.Corruptf("value", "a duration without its %s", p.name)
			}
		}
		return appendDuration(dst, a.of(s.parts[0].node).values.I32[parts[0]], a.of(s.parts[1].node).values.I32[parts[1]],
			a.of(s.parts[2].node).values.I64[parts[2]]), true, nil
	}
	e := a.of(s.node)
	i, ok := e.take(s.maxDef)
	if !ok {
		return dst, false, errLevels
	}
	dst, err = appendLeaf(dst, s, &e.values, i)
	return dst, true, err
}

// leafValue takes an entry of a leaf that is a part.
func (a *assembler) leafValue(p *shape) (i int, ok bool) {
	e := a.of(p.node)
	if _, there := e.def(); !there {
		return 0, false
	}
	return e.take(p.maxDef)
}

// part appends a part of a value of s.
func (a *assembler) part(dst []byte, s, p *shape) ([]byte, error) {
	at := len(a.scratch)
	v, ok, err := a.value(a.scratch, p)
	if err == nil {
		dst = appendPart(dst, s, v[at:], ok)
	}
	a.scratch = v[:at]
	return dst, err
}

func (a *assembler) list(dst []byte, s *shape) ([]byte, error) {
	repeated := s.children[0]
	e := a.of(firstLeaf(s.node))
	head := len(dst)
	counted := s.typ.Kind != rowgroup.KindVector
	if counted {
		dst = append(dst, 0, 0, 0, 0)
	}
	if d, _ := e.def(); d < repeated.maxDef {
		if !counted && s.typ.Length > 0 {
			return dst, encoding.Corruptf("value", "a vector without elements")
		}
		return dst, a.skip(s.node)
	}
	n := 0
	for {
		for _, p := range s.parts {
			var err error
			if dst, err = a.part(dst, s, p); err != nil {
				return dst, err
			}
		}
		n++
		if e.rep() < repeated.maxRep || e.entry == len(e.defs) {
			break
		}
	}
	if counted {
		binary.BigEndian.PutUint32(dst[head:], uint32(n))
	} else if n != int(s.typ.Length) {
		return dst, encoding.Corruptf("value", "a vector of %d elements in place of %d", n, s.typ.Length)
	}
	return dst, nil
}

// appendLeaf appends value i of a leaf, serialised.
func appendLeaf(dst []byte, s *shape, v *page.Values, i int) ([]byte, error) {
	switch s.form {
	case formInt32, formBool:
		return appendInt(dst, s.typ, int64(v.I32[i]))
	case formUint32:
		return rowgroup.AppendInt(dst, s.typ, int64(uint32(v.I32[i]))), nil
	case formInt64:
		return appendInt(dst, s.typ, v.I64[i])
	case formSeconds:
		return rowgroup.AppendInt(dst, s.typ, floorDiv(v.I64[i], 1000)), nil
	case formFloat:
		return rowgroup.AppendFloat32(dst, v.F32[i]), nil
	case formDouble:
		return rowgroup.AppendFloat64(dst, v.F64[i]), nil
	case formUnscaled:
		var b [8]byte
		switch v.Type {
		case format.Int32:
			binary.BigEndian.PutUint32(b[:], uint32(v.I32[i]))
			return rowgroup.AppendUnscaled(dst, s.typ, b[:4])
		case format.Int64:
			binary.BigEndian.PutUint64(b[:], uint64(v.I64[i]))
			return rowgroup.AppendUnscaled(dst, s.typ, b[:])
		}
		return rowgroup.AppendUnscaled(dst, s.typ, v.Str.At(i))
	case formText, formBytes, formFixed:
		if s.typ.Kind == rowgroup.KindNumeric {
			return rowgroup.AppendUnscaled(dst, s.typ, v.Str.At(i))
		}
		return append(dst, v.Str.At(i)...), nil
	case formPrinted:
		return rowgroup.ParseText(dst, s.typ, string(v.Str.At(i)))
	case formCounter: // read as a bigint
		return binary.BigEndian.AppendUint64(dst, uint64(v.I64[i])), nil
	case formFixedPt:
		dst = binary.BigEndian.AppendUint32(dst, uint32(s.scale))
		switch v.Type {
		case format.Int32:
			return appendVarint(dst, big.NewInt(int64(v.I32[i]))), nil
		case format.Int64:
			return appendVarint(dst, big.NewInt(v.I64[i])), nil
		}
		return appendVarint(dst, signedOf(v.Str.At(i))), nil
	case formTimeMillis:
		return appendTime(dst, s.typ, int64(v.I32[i]), 1_000_000)
	case formTimeMicros:
		return appendTime(dst, s.typ, v.I64[i], 1000)
	case formInt96:
		n, err := int96(v.Str.At(i))
		return rowgroup.AppendInt(dst, s.typ, n), err
	case formFloat16:
		return rowgroup.AppendFloat32(dst, float16(binary.LittleEndian.Uint16(v.Str.At(i)))), nil
	}
	return dst, errForm
}

// appendInt appends v, serialised, unless that is no value of t.
func appendInt(dst []byte, t rowgroup.Type, v int64) ([]byte, error) {
	at := len(dst)
	dst = rowgroup.AppendInt(dst, t, v)
	if n, ok := rowgroup.IntOf(t, dst[at:]); !ok || n != v {
		return dst[:at], fmt.Errorf("%d is no %s", v, t)
	}
	return dst, nil
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func appendTime(dst []byte, t rowgroup.Type, v, nanos int64) ([]byte, error) {
	if v < 0 || v >= nanosOfDay/nanos {
		return dst, errTime
	}
	return rowgroup.AppendInt(dst, t, v*nanos), nil
}

var errInt96 = errors.New("a timestamp that nanoseconds of 64 bits do not reach")

// int96 is a timestamp of the old form: nanoseconds of the day and the Julian
// day, as nanoseconds since 1970.
func int96(b []byte) (int64, error) {
	nanos, day := int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint32(b[8:]))-2440588
	n := new(big.Int).Mul(big.NewInt(day), big.NewInt(nanosOfDay))
	if n.Add(n, big.NewInt(nanos)); !n.IsInt64() {
		return 0, errInt96
	}
	return n.Int64(), nil
}

// float16 is the value of a float of 16 bits.
func float16(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10&31), uint32(h&1023)
	switch exp {
	case 31:
		return math.Float32frombits(sign | 0xff<<23 | frac<<13)
	case 0:
		f := float32(frac) / (1 << 24)
		return math.Float32frombits(sign | math.Float32bits(f))
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}
