package alp

import (
	"math"
	"slices"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bitpack"
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
	d.scratch = slices.Grow(d.scratch[:0], 2*n)
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
	n := l.shape.Len(len(u))
	return body[n:], bitpack.Decode(part, u, body[:n], l.shape)
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
	sign, add := l.sign, uint64(l.base)-l.sign
	zeros := l.zeros & 63
	switch l.mode {
	case Verbatim:
		for i := range dst {
			dst[i] = math.Float64frombits(le.Uint64(rest[8*i:]))
		}
	case Bits:
		for i, x := range u {
			dst[i] = math.Float64frombits(uint64(ordered64(int64(x^sign+add), zeros)) << zeros)
		}
	case BitsDelta:
		sum := uint64(l.first)
		for i, x := range u {
			sum += x ^ sign + add
			dst[i] = math.Float64frombits(uint64(ordered64(int64(sum), zeros)) << zeros)
		}
	case Decimal, DecimalDelta:
		back, scale := pow10[l.pair.f], inv10[l.pair.e]
		var top uint64
		if l.mode == Decimal {
			for i, x := range u {
				x = x ^ sign + add
				top = max(top, x+limit64)
				dst[i] = float64(float64(int64(x))*back) * scale
			}
		} else {
			sum := uint64(l.first)
			for i, x := range u {
				sum += x ^ sign + add
				top = max(top, sum+limit64)
				dst[i] = float64(float64(int64(sum))*back) * scale
			}
		}
		if top > 2*limit64 {
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
	sign, add := l.sign, uint64(l.base)-l.sign
	zeros := l.zeros & 31
	switch l.mode {
	case Verbatim:
		for i := range dst {
			dst[i] = math.Float32frombits(le.Uint32(rest[4*i:]))
		}
	case Bits:
		for i, x := range u {
			dst[i] = math.Float32frombits(uint32(ordered32(int32(x^sign+add), zeros)) << zeros)
		}
	case BitsDelta:
		sum := uint64(l.first)
		for i, x := range u {
			sum += x ^ sign + add
			dst[i] = math.Float32frombits(uint32(ordered32(int32(sum), zeros)) << zeros)
		}
	case Decimal, DecimalDelta:
		back, scale := pow10[l.pair.f], inv10[l.pair.e]
		var top uint32
		if l.mode == Decimal {
			for i, x := range u {
				d := int32(x ^ sign + add)
				top = max(top, uint32(d)+limit32)
				dst[i] = float32(float64(float64(d)*back) * scale)
			}
		} else {
			sum := uint64(l.first)
			for i, x := range u {
				sum += x ^ sign + add
				top = max(top, uint32(sum)+limit32)
				dst[i] = float32(float64(float64(int32(sum))*back) * scale)
			}
		}
		if top > 2*limit32 {
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

// positions fills u with the positions of the exceptions and returns what
// follows them.
func (l *layout) positions(u []uint64, src []byte) (rest []byte, err error) {
	b := bitpack.PositionWidth(len(u))
	n := simd.PackedLen(l.exceptions, b)
	at := u[:l.exceptions]
	simd.Unpack64(at, src[:n], b)
	for i, p := range at {
		if p >= uint64(len(u)) || i > 0 && p <= at[i-1] {
			return nil, encoding.Corruptf(part, "exception %d at position %d of %d", i, p, len(u))
		}
	}
	return src[n:], nil
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
	var u, codes [vectorLen]uint64
	for len(dst) > 0 {
		n := min(len(dst), vectorLen)
		l, body, rest, err := readVector(src, n, 64)
		if err != nil {
			return nil, err
		}
		if err := decode64(dst[:n], &l, body, u[:n], codes[:n]); err != nil {
			return nil, err
		}
		dst, src = dst[n:], rest
	}
	return src, nil
}

// DecodeFloat32 is DecodeFloat64 for float32.
func DecodeFloat32(dst []float32, src []byte) (rest []byte, err error) {
	var u, codes [vectorLen]uint64
	for len(dst) > 0 {
		n := min(len(dst), vectorLen)
		l, body, rest, err := readVector(src, n, 32)
		if err != nil {
			return nil, err
		}
		if err := decode32(dst[:n], &l, body, u[:n], codes[:n]); err != nil {
			return nil, err
		}
		dst, src = dst[n:], rest
	}
	return src, nil
}

// readVector reads the parameters of n values of m bits and cuts off the body.
func readVector(src []byte, n int, m uint) (l layout, body, rest []byte, err error) {
	p, src, err := encoding.ReadParams(part, src)
	if err != nil {
		return l, nil, nil, err
	}
	if l, err = parse(&p, n, m); err != nil {
		return l, nil, nil, err
	}
	if len(src) < l.len {
		return l, nil, nil, encoding.Corruptf(part, "%d bytes left of a body of %d", len(src), l.len)
	}
	return l, src[:l.len], src[l.len:], nil
}
