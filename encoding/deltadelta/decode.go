package deltadelta

import (
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bitpack"
	"github.com/colsst/colsst/encoding/internal/frame"
	"github.com/colsst/colsst/internal/le"
	"github.com/colsst/colsst/simd"
)

type integer = frame.Integer

// Decoder holds the scratch of decoding; its zero value is ready. It is not
// for concurrent use.
type Decoder struct {
	wide   []uint64 // codes of int64 values
	narrow []uint32 // codes of int32 values
	gaps   []uint64 // positions, then sizes
	few    []int64  // see Sparse
}

// Int64 fills dst from the body and parameters of its values. body is exactly
// Int64Len(p, len(dst)) bytes. Bad input gives a CorruptError and leaves dst
// partly written. Nothing of the arguments is kept.
func (d *Decoder) Int64(dst []int64, p *encoding.Params, body []byte) error {
	c, err := load(p, len(dst), 64)
	if err != nil {
		return err
	}
	return decode(d, dst, &c, body)
}

// Int32 is Int64 for int32 values.
func (d *Decoder) Int32(dst []int32, p *encoding.Params, body []byte) error {
	c, err := load(p, len(dst), 32)
	if err != nil {
		return err
	}
	return decode(d, dst, &c, body)
}

func decode[T integer](d *Decoder, dst []T, c *chunk, body []byte) error {
	n := len(dst)
	if len(body) != c.len(n) {
		return encoding.Corruptf(part, "%d bytes, want %d", len(body), c.len(n))
	}
	switch {
	case n == 0:
		return nil
	case c.form == formConstant:
		fill(dst, T(c.first), 0)
		return nil
	case c.form == formSteps && len(body) == 0:
		fill(dst, T(c.first)*T(c.second)+T(c.frame.Base()), T(c.second))
		return nil
	}
	firsts := 0 // codes that hold the low bits of a first value
	switch c.form {
	case formDeltas:
		firsts = 1
	case formDeltaDeltas:
		firsts = min(2, n)
	}
	var u codes
	var err error
	switch patched := c.frame.Patches > 0; {
	case isNarrow[T]() && patched:
		u.narrow, err = c.frame.Patched32(part, body, n, firsts, &d.narrow)
	case isNarrow[T]():
		u.narrow = simd.Packed32(body, c.frame.Width)
	case patched:
		u.wide, err = c.frame.Patched64(part, body, n, firsts, &d.wide)
	default:
		u.wide = simd.Packed64(body, c.frame.Width)
	}
	if err != nil {
		return err
	}
	base := T(c.frame.Base())
	first, second := T(c.first<<c.frame.Width), T(c.second<<c.frame.Width)
	switch c.form {
	case formFrame:
		add(dst, &u, base)
	case formDeltas:
		sum(dst, &u, first-base, base) // the first code stands above no base
	case formDeltaDeltas:
		low := T(c.frame.Low(int64(le.Uint64Short(body)))) // the first code, never patched
		sum(dst, &u, second-2*base-low, base)              // of deltas, from the second value on
		dst[0] = first + low
		accumulate(dst)
	case formSteps:
		return steps(d, dst, &u, c, base, body[c.frame.Len(n):])
	}
	return nil
}

// Sparse finds the values that are not 0 in a body of n int64 values of which
// most are, as their parameters say: those of a frame without bits of its own
// on base 0. It returns their positions, which ascend, and the values; both are
// valid until the next call, and a patch may hold a 0. ok is false for other
// parameters; bad input gives a CorruptError.
func (d *Decoder) Sparse(p *encoding.Params, n int, body []byte) (at []uint64, values []int64, ok bool, err error) {
	if p[paramForm] != formFrame || p[2]|p[3] != 0 {
		return nil, nil, false, nil
	}
	c, err := load(p, n, 64)
	if err == nil && len(body) != c.len(n) {
		err = encoding.Corruptf(part, "%d bytes, want %d", len(body), c.len(n))
	}
	if err != nil {
		return nil, nil, false, err
	}
	k := c.frame.Patches
	if len(d.gaps) < k {
		d.gaps = make([]uint64, k)
	}
	if len(d.few) < k {
		d.few = make([]int64, k)
	}
	at, values = d.gaps[:k], d.few[:k]
	if err := bitpack.DecodePositions(part, at, body, n); err != nil {
		return nil, nil, false, err
	}
	w := c.frame.Shape().PatchWidth
	u := simd.Packed64(body[bitpack.PositionsLen(k, n):], w)
	simd.Add64(values, &u, 0)
	if c.frame.PatchWidth < 0 {
		for i, x := range values {
			values[i] = x << (64 - w) >> (64 - w)
		}
	}
	return at, values, true, nil
}

// steps decodes the clock of c and moves what stands behind its gaps. start is
// the value of a code of 0 at tick 0.
func steps[T integer](d *Decoder, dst []T, u *codes, c *chunk, start T, body []byte) error {
	n, g := len(dst), c.gaps
	step := T(c.second)
	ramp(dst, u, T(c.first)*step+start, step)
	if g == 0 {
		return nil
	}
	if len(d.gaps) < 2*g {
		d.gaps = make([]uint64, 2*g)
	}
	pos, sizes := d.gaps[:g], d.gaps[g:2*g]
	cut := bitpack.PositionsLen(g, n)
	if err := bitpack.DecodePositions(part, pos, body[:cut], n); err != nil {
		return err
	}
	simd.Unpack64(sizes, body[cut:], c.gapWidth)
	by := T(0)
	for i, p := range pos {
		to := n
		if i+1 < g {
			to = int(pos[i+1])
		}
		by += step * T(int64(sizes[i]>>1)^-int64(sizes[i]&1))
		shift(dst[p:to], by)
	}
	return nil
}
