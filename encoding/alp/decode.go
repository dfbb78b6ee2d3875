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
	scratch []uint64
}

// halves are two scratch slices of n.
func (d *Decoder) halves(n int) (u, codes []uint64) {
	if len(d.scratch) < 2*n {
		d.scratch = make([]uint64, 2*n)
	}
	return d.scratch[:n], d.scratch[n : 2*n]
}

// Float64 fills dst from a body of exactly Float64Len(p, len(dst)) bytes. It
// fails with a CorruptError, and leaves anything in dst, if the parameters or
// the body are not what the format allows.
func (d *Decoder) Float64(dst []float64, p *encoding.Params, body []byte) error {
	l, err := parse(p, len(dst), 64)
	if err != nil {
		return err
	}
	u, codes := d.halves(len(dst))
	return decode64(dst, &l, body, u, codes)
}

// Float32 is Float64 for float32 values and Float32Len.
func (d *Decoder) Float32(dst []float32, p *encoding.Params, body []byte) error {
	l, err := parse(p, len(dst), 32)
	if err != nil {
		return err
	}
	u, codes := d.halves(len(dst))
	return decode32(dst, &l, body, u, codes)
}

// unpack fills u with the packed run that body begins with and returns what
// follows it.
func (l *layout) unpack(u []uint64, body []byte) (rest []byte, err error) {
	if len(body) != l.len {
		return nil, encoding.Corruptf(part, "body of %d bytes, want %d", len(body), l.len)
	}
	switch l.mode {
	case Verbatim, Split:
		return body, nil
	}
	n := l.frame.Len(len(u))
	if err := bitpack.Decode(part, u, body[:n], l.frame.Shape()); err != nil {
		return nil, err
	}
	if l.mode.delta() && len(u) > 0 {
		return body[n:], l.frame.CheckLow(part, u[:1])
	}
	return body[n:], nil
}

func errTooLarge(mode Mode) error {
	return encoding.Corruptf(part, "integer out of range in mode %v", mode)
}

// decode64 decodes len(dst) values; u and codes are scratch of that length.
func decode64(dst []float64, l *layout, body []byte, u, codes []uint64) error {
	rest, err := l.unpack(u, body)
	if err != nil {
		return err
	}
	u = u[:len(dst)]
	add, flip := l.frame.Terms()
	zeros := l.zeros & 63
	switch l.mode {
	case Verbatim:
		for i := range dst {
			dst[i] = math.Float64frombits(le.Uint64(rest[8*i:]))
		}
	case Bits:
		for i, x := range u {
			dst[i] = math.Float64frombits(uint64(ordered64(int64(x^flip+uint64(add)), zeros)) << zeros)
		}
	case BitsDelta:
		sum := uint64(l.first - l.frame.Base())
		for i, x := range u {
			sum += x ^ flip + uint64(add)
			dst[i] = math.Float64frombits(uint64(ordered64(int64(sum), zeros)) << zeros)
		}
	case Decimal, DecimalDelta:
		back, scale := pow10[l.pair.f], inv10[l.pair.e]
		ok := false
		if l.mode == Decimal {
			ok = plain64(dst, u, add, flip, back, scale)
		} else {
			ok = sums64(dst, u, l.first-l.frame.Base(), add, flip, back, scale)
		}
		if !ok {
			return errTooLarge(l.mode)
		}
		if l.exceptions == 0 {
			break
		}
		raw, err := l.positions(u, rest)
		if err != nil {
			return err
		}
		for i, p := range u[:l.exceptions] {
			dst[p] = math.Float64frombits(le.Uint64(raw[8*i:]))
		}
	case Split:
		if err := l.split(u, codes, rest, 64); err != nil {
			return err
		}
		for i, x := range u {
			dst[i] = math.Float64frombits(x)
		}
	}
	return nil
}

// decode32 is decode64 for float32.
func decode32(dst []float32, l *layout, body []byte, u, codes []uint64) error {
	rest, err := l.unpack(u, body)
	if err != nil {
		return err
	}
	u = u[:len(dst)]
	add, flip := l.frame.Terms()
	zeros := l.zeros & 31
	switch l.mode {
	case Verbatim:
		for i := range dst {
			dst[i] = math.Float32frombits(le.Uint32(rest[4*i:]))
		}
	case Bits:
		for i, x := range u {
			dst[i] = math.Float32frombits(uint32(ordered32(int32(x^flip+uint64(add)), zeros)) << zeros)
		}
	case BitsDelta:
		sum := uint64(l.first - l.frame.Base())
		for i, x := range u {
			sum += x ^ flip + uint64(add)
			dst[i] = math.Float32frombits(uint32(ordered32(int32(sum), zeros)) << zeros)
		}
	case Decimal, DecimalDelta:
		back, scale := pow10[l.pair.f], inv10[l.pair.e]
		ok := false
		if l.mode == Decimal {
			ok = plain32(dst, u, add, flip, back, scale)
		} else {
			ok = sums32(dst, u, l.first-l.frame.Base(), add, flip, back, scale)
		}
		if !ok {
			return errTooLarge(l.mode)
		}
		if l.exceptions == 0 {
			break
		}
		raw, err := l.positions(u, rest)
		if err != nil {
			return err
		}
		for i, p := range u[:l.exceptions] {
			dst[p] = math.Float32frombits(le.Uint32(raw[4*i:]))
		}
	case Split:
		if err := l.split(u, codes, rest, 32); err != nil {
			return err
		}
		for i, x := range u {
			dst[i] = math.Float32frombits(uint32(x))
		}
	}
	return nil
}

// plain64 decodes Decimal: add + u^flip is an integer. It reports whether all
// are in range.
func plain64(dst []float64, u []uint64, add int64, flip uint64, back, scale float64) bool {
	var top uint64
	for i, x := range u[:len(dst)] {
		x = x ^ flip + uint64(add)
		top = max(top, x+limit64)
		dst[i] = float64(float64(int64(x))*back) * scale
	}
	return top <= 2*limit64
}

// sums64 decodes DecimalDelta: each integer is the one before, at first sum,
// and add + u^flip.
func sums64(dst []float64, u []uint64, sum, add int64, flip uint64, back, scale float64) bool {
	var top uint64
	for i, x := range u[:len(dst)] {
		sum += add + int64(x^flip)
		top = max(top, uint64(sum)+limit64)
		dst[i] = float64(float64(sum)*back) * scale
	}
	return top <= 2*limit64
}

// plain32 is plain64 for float32.
func plain32(dst []float32, u []uint64, add int64, flip uint64, back, scale float64) bool {
	var top uint32
	for i, x := range u[:len(dst)] {
		d := int32(x ^ flip + uint64(add))
		top = max(top, uint32(d)+limit32)
		dst[i] = float32(float64(float64(d)*back) * scale)
	}
	return top <= 2*limit32
}

// sums32 is sums64 for float32.
func sums32(dst []float32, u []uint64, sum, add int64, flip uint64, back, scale float64) bool {
	var top uint32
	for i, x := range u[:len(dst)] {
		sum += add + int64(x^flip)
		top = max(top, uint32(sum)+limit32)
		dst[i] = float32(float64(float64(int32(sum))*back) * scale)
	}
	return top <= 2*limit32
}

// positions fills u with the positions of the exceptions and returns what
// follows them.
func (l *layout) positions(u []uint64, src []byte) (rest []byte, err error) {
	return src[bitpack.PositionsLen(l.exceptions, len(u)):], bitpack.DecodePositions(part, u[:l.exceptions], src, len(u))
}

// split fills u with patterns of m bits from the body of Split.
func (l *layout) split(u, codes []uint64, src []byte, m uint) error {
	take := func(n int, w uint) (run []byte) {
		k := simd.PackedLen(n, w)
		run, src = src[:k], src[k:]
		return run
	}
	right := m - l.leftWidth
	simd.Unpack64(codes, take(len(u), codeWidth(l.dictionary)), codeWidth(l.dictionary))
	simd.Unpack64(u, take(len(u), right), right)
	var lefts [64]uint64
	simd.Unpack64(lefts[:l.dictionary], take(l.dictionary, l.leftWidth), l.leftWidth)
	var top uint64
	for i, c := range codes {
		top = max(top, c)
		u[i] |= lefts[c&(maxDictionary-1)] << right
	}
	if top >= uint64(l.dictionary) {
		return encoding.Corruptf(part, "code %d in a dictionary of %d", top, l.dictionary)
	}
	src, err := l.positions(codes, src)
	if err != nil {
		return err
	}
	low := uint64(1)<<right - 1
	for at := codes[:l.exceptions]; len(at) > 0; {
		k := min(len(at), len(lefts))
		simd.Unpack64(lefts[:k], take(k, l.leftWidth), l.leftWidth)
		for i, p := range at[:k] {
			u[p] = lefts[i]<<right | u[p]&low
		}
		at = at[k:]
	}
	return nil
}

// DecodeFloat64 fills dst from what AppendFloat64 made of len(dst) values and
// returns what follows it in src. It fails with a CorruptError and allocates
// nothing.
func DecodeFloat64(dst []float64, src []byte) (rest []byte, err error) {
	var scratch [2 * inline.Vector]uint64
	d := Decoder{scratch: scratch[:]}
	return inline.DecodeVectors(part, dst, src,
		func(p encoding.Params, n int) (int, error) { return Float64Len(&p, n) },
		func(v []float64, p encoding.Params, body []byte) error { return d.Float64(v, &p, body) })
}

// DecodeFloat32 is DecodeFloat64 for float32.
func DecodeFloat32(dst []float32, src []byte) (rest []byte, err error) {
	var scratch [2 * inline.Vector]uint64
	d := Decoder{scratch: scratch[:]}
	return inline.DecodeVectors(part, dst, src,
		func(p encoding.Params, n int) (int, error) { return Float32Len(&p, n) },
		func(v []float32, p encoding.Params, body []byte) error { return d.Float32(v, &p, body) })
}
