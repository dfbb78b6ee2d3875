package encoding

import (
	"encoding/binary"
	"math/bits"
)

// Distance estimates the bits that a parameter a takes in a block after b in
// the chunk before: those of the signed integer a-b.
func Distance(a, b int64) int {
	d := a - b
	return bits.Len64(uint64(d<<1 ^ d>>63))
}

// Distance is the sum of the Distances of all parameters.
func (p *Params) Distance(last *Params) int {
	n := 0
	for i, v := range p {
		if v != last[i] { // few are
			n += Distance(v, last[i])
		}
	}
	return n
}

// ParamColumns are the parameters of several chunks of one column of a block:
// of each either one value a chunk, or one alone, which all share.
type ParamColumns [NumParams][]int64

// At is parameter k of chunk i.
func (c *ParamColumns) At(k, i int) int64 {
	if v := c[k]; len(v) != 1 {
		return v[i]
	}
	return c[k][0]
}

// Of is the parameters of chunk i.
func (c *ParamColumns) Of(i int) (p Params) {
	for k := range p {
		p[k] = c.At(k, i)
	}
	return p
}

// Body is where the body of a chunk lies in the source of several.
type Body struct {
	Off, Len int
	N        int // values of the chunk; if there are none it has no parameters
}

// In is the body in src, with the capacity of src behind it.
func (b *Body) In(src []byte) []byte { return src[b.Off : b.Off+b.Len] }

// AppendParams appends p in line, for self-contained forms: one byte with bit
// i set where parameter i is not zero, then those as zigzag varints.
func AppendParams(dst []byte, p *Params) []byte {
	at := len(dst)
	dst = append(dst, 0)
	for i, v := range p {
		if v != 0 {
			dst[at] |= 1 << i
			dst = binary.AppendVarint(dst, v)
		}
	}
	return dst
}

// ReadParams reads what AppendParams wrote and returns what follows it.
func ReadParams(part string, src []byte) (p Params, rest []byte, err error) {
	if len(src) == 0 {
		return p, nil, Corruptf(part, "ends before its parameters")
	}
	mask := src[0]
	src = src[1:]
	for i := range p {
		if mask>>i&1 == 0 {
			continue
		}
		v, n := binary.Varint(src)
		if n <= 0 {
			return p, nil, Corruptf(part, "parameter %d is cut or overlong", i)
		}
		p[i], src = v, src[n:]
	}
	return p, src, nil
}

// Ramp is what parameters alone may say of n integers: value i is First +
// i*Step + u[i], modulo 2^64, with u[i] from 0 to Spread. Where Spread is 0
// they are a progression, and all values are known.
type Ramp struct {
	First, Step int64
	Spread      uint64
}

// Len is the length of a body that holds u[0] to u[n-1] packed and nothing else,
// where Spread is the greatest integer of their width.
func (r Ramp) Len(n int) int { return (n*bits.Len64(r.Spread) + 7) >> 3 }

// Within reports whether n values of r, reckoned without a modulus, all lie
// from least to most. It may say no of steps from 2^46 on.
func (r Ramp) Within(n int, least, most int64) bool {
	const large = 1 << 46
	if n < 1 || n > MaxGroupRows || r.Step <= -large || r.Step >= large {
		return false
	}
	span := int64(n-1) * r.Step
	lo, hi := r.First+min(span, 0), r.First+max(span, 0)
	return lo <= r.First && r.First <= hi && least <= lo && hi <= most && r.Spread <= uint64(most)-uint64(hi)
}
