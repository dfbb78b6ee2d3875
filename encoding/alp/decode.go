package alp

import (
	"math"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bitpack"
	"github.com/colsst/colsst/encoding/internal/inline"
	"github.com/colsst/colsst/internal/le"
	"github.com/colsst/colsst/simd"
)

// Decoder decodes chunks. It keeps scratch memory; the zero value is ready. It
// is not safe for concurrent use.
type Decoder struct {
	wide   []uint64 // codes of float64, positions of exceptions
	narrow []uint32 // codes of float32
	lefts  [someLefts]uint64
	runs64 runs[int64, uint64]
	runs32 runs[int32, uint32]

	// The chunk before: the next often has its parameters.
	params encoding.Params
	n      int
	m      uint // 0: there was none
	layout layout
	packed packed // of layout
}

// packed is what decoding takes of a layout of nothing but decimals, with
// neither patches nor exceptions.
type packed struct {
	only        bool // that is what the layout is
	width       uint
	base        int64
	back, scale float64
}

func (l *layout) packed() packed {
	return packed{
		l.mode == Decimal && l.frame.Patches == 0 && l.exceptions == 0,
		l.frame.Width, l.frame.Base(), pow10[l.pair.f], inv10[l.pair.e],
	}
}

// someLefts is how many left parts are unpacked at a time: whole bytes at any
// width.
const someLefts = 128

// layoutOf is the layout of n values of m bits with parameters p, up to the
// next call.
func (d *Decoder) layoutOf(p *encoding.Params, n int, m uint) (*layout, error) {
	if n == d.n && m == d.m && *p == d.params {
		return &d.layout, nil
	}
	d.params, d.n, d.m = *p, n, m
	if err := d.layout.parse(p, n, m); err != nil {
		d.m = 0
		return nil, err
	}
	d.packed = d.layout.packed()
	return &d.layout, nil
}

// room is scratch for n values.
func room[U uint32 | uint64](scratch *[]U, n int) []U {
	if len(*scratch) < n {
		*scratch = make([]U, n)
	}
	return (*scratch)[:n]
}

// Float64 fills dst from a body of exactly Float64Len(p, len(dst)) bytes. It
// fails with a CorruptError, and leaves anything in dst, if the parameters or
// the body are not what the format allows.
func (d *Decoder) Float64(dst []float64, p *encoding.Params, body []byte) error {
	l, err := d.layoutOf(p, len(dst), 64)
	if err != nil {
		return err
	}
	if !d.packed.only || len(body) != l.len {
		return d.float64(dst, l, body)
	}
	q := &d.packed
	c := simd.Packed64(body, q.width)
	if !simd.Decimal64(dst, &c, q.base, q.back, q.scale) {
		return errTooLarge(l)
	}
	return nil
}

// Float32 is Float64 for float32 values and Float32Len.
func (d *Decoder) Float32(dst []float32, p *encoding.Params, body []byte) error {
	l, err := d.layoutOf(p, len(dst), 32)
	if err != nil {
		return err
	}
	if !d.packed.only || len(body) != l.len {
		return d.float32(dst, l, body)
	}
	q := &d.packed
	c := simd.Packed32(body, q.width)
	if !simd.Decimal32(dst, &c, int32(q.base), q.back, q.scale) {
		return errTooLarge(l)
	}
	return nil
}

func (d *Decoder) float64(dst []float64, l *layout, body []byte) error {
	if len(body) != l.len {
		return errLength(l, body)
	}
	n := len(dst)
	switch {
	case n == 0:
		return nil
	case l.mode == Verbatim:
		for i := range dst {
			dst[i] = math.Float64frombits(le.Uint64(body[8*i:]))
		}
		return nil
	case l.mode == Split:
		return d.split64(dst, l, body)
	}
	c := simd.Packed64(body, l.frame.Width)
	if l.frame.Patches > 0 {
		var err error
		if c, err = l.frame.Patched64(part, body, n, l.lows(), &d.wide); err != nil {
			return err
		}
	}
	add := l.frame.Base()
	first := l.first - l.frame.Base() // the first code stands above no base
	back, scale := pow10[l.pair.f], inv10[l.pair.e]
	ok := true
	switch l.mode {
	case Bits:
		simd.Ordered64(dst, &c, add, l.zeros)
	case BitsDelta:
		simd.SumOrdered64(dst, &c, first, add, l.zeros)
	case Decimal:
		ok = simd.Decimal64(dst, &c, add, back, scale)
	case DecimalDelta:
		ok = simd.SumDecimal64(dst, &c, first, add, back, scale)
	}
	if !ok {
		return errTooLarge(l)
	}
	if l.exceptions == 0 {
		return nil
	}
	at, raw, err := d.exceptions(l, n, body[l.frame.Len(n):])
	for i, p := range at {
		dst[p] = math.Float64frombits(le.Uint64(raw[8*i:]))
	}
	return err
}

func (d *Decoder) float32(dst []float32, l *layout, body []byte) error {
	if len(body) != l.len {
		return errLength(l, body)
	}
	n := len(dst)
	switch {
	case n == 0:
		return nil
	case l.mode == Verbatim:
		for i := range dst {
			dst[i] = math.Float32frombits(le.Uint32(body[4*i:]))
		}
		return nil
	case l.mode == Split:
		return d.split32(dst, l, body)
	}
	c := simd.Packed32(body, l.frame.Width)
	if l.frame.Patches > 0 {
		var err error
		if c, err = l.frame.Patched32(part, body, n, l.lows(), &d.narrow); err != nil {
			return err
		}
	}
	add := int32(l.frame.Base())
	first := int32(l.first) - add // the first code stands above no base
	back, scale := pow10[l.pair.f], inv10[l.pair.e]
	ok := true
	switch l.mode {
	case Bits:
		simd.Ordered32(dst, &c, add, l.zeros)
	case BitsDelta:
		simd.SumOrdered32(dst, &c, first, add, l.zeros)
	case Decimal:
		ok = simd.Decimal32(dst, &c, add, back, scale)
	case DecimalDelta:
		ok = simd.SumDecimal32(dst, &c, first, add, back, scale)
	}
	if !ok {
		return errTooLarge(l)
	}
	if l.exceptions == 0 {
		return nil
	}
	at, raw, err := d.exceptions(l, n, body[l.frame.Len(n):])
	for i, p := range at {
		dst[p] = math.Float32frombits(le.Uint32(raw[4*i:]))
	}
	return err
}

func errLength(l *layout, body []byte) error {
	return encoding.Corruptf(part, "body of %d bytes, want %d", len(body), l.len)
}

func errTooLarge(l *layout) error {
	return encoding.Corruptf(part, "integer out of range in mode %v", l.mode)
}

// lows is how many codes hold the low bits of a first value.
func (l *layout) lows() int {
	if l.mode.delta() {
		return 1
	}
	return 0
}

// exceptions are the positions of the exceptions among n values, in src, and
// what follows them.
func (d *Decoder) exceptions(l *layout, n int, src []byte) (at []uint64, rest []byte, err error) {
	if l.exceptions == 0 {
		return nil, src, nil
	}
	at = room(&d.wide, l.exceptions)
	if err := bitpack.DecodePositions(part, at, src, n); err != nil {
		return nil, nil, err
	}
	return at, src[bitpack.PositionsLen(l.exceptions, n):], nil
}

// DecodeFloat64 fills dst from what AppendFloat64 made of len(dst) values and
// returns what follows it in src. It fails with a CorruptError and allocates
// nothing.
func DecodeFloat64(dst []float64, src []byte) (rest []byte, err error) {
	return inline.DecodeVectors(part, dst, src,
		func(p encoding.Params, n int) (int, error) { return Float64Len(&p, n) },
		func(v []float64, p encoding.Params, body []byte) error {
			var l layout
			err := l.parse(&p, len(v), 64)
			switch {
			case err != nil:
				return err
			case l.simple():
				return new(Decoder).float64(v, &l, body)
			}
			var s scratch
			d := s.decoder()
			return d.float64(v, &l, body)
		})
}

// DecodeFloat32 is DecodeFloat64 for float32.
func DecodeFloat32(dst []float32, src []byte) (rest []byte, err error) {
	return inline.DecodeVectors(part, dst, src,
		func(p encoding.Params, n int) (int, error) { return Float32Len(&p, n) },
		func(v []float32, p encoding.Params, body []byte) error {
			var l layout
			err := l.parse(&p, len(v), 32)
			switch {
			case err != nil:
				return err
			case l.simple():
				return new(Decoder).float32(v, &l, body)
			}
			var s scratch
			d := s.decoder()
			return d.float32(v, &l, body)
		})
}

// simple reports whether decoding needs no scratch, which takes time to clear.
func (l *layout) simple() bool {
	return l.mode != Split && l.frame.Patches == 0 && l.exceptions == 0
}

// scratch is what a Decoder needs for a vector.
type scratch struct {
	wide   [inline.Vector + bitpack.Room]uint64
	narrow [inline.Vector + bitpack.Room]uint32
}

func (s *scratch) decoder() Decoder { return Decoder{wide: s.wide[:], narrow: s.narrow[:]} }
