package deltadelta

import (
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bitpack"
	"github.com/colsst/colsst/simd"
)

type integer interface{ int32 | int64 }

// Decoder holds the scratch of decoding; its zero value is ready. It is not
// for concurrent use.
type Decoder struct {
	scratch []uint64 // codes, then gap positions and sizes: at most twice the count
}

// Int64 fills dst from the body and parameters of its values. body is exactly
// Int64Len(p, len(dst)) bytes. Bad input gives a CorruptError and leaves dst
// partly written. Nothing of the arguments is kept.
func (d *Decoder) Int64(dst []int64, p *encoding.Params, body []byte) error {
	return decode(d, dst, p, body, 64)
}

// Int32 is Int64 for int32 values.
func (d *Decoder) Int32(dst []int32, p *encoding.Params, body []byte) error {
	return decode(d, dst, p, body, 32)
}

func decode[T integer](d *Decoder, dst []T, p *encoding.Params, body []byte, size uint) error {
	n := len(dst)
	c, err := load(p, n, size)
	if err != nil {
		return err
	}
	if len(body) != c.len(n) {
		return encoding.Corruptf(part, "%d bytes, want %d", len(body), c.len(n))
	}
	if n == 0 {
		return nil
	}
	if c.form == formConstant {
		fill(dst, T(c.first), 0)
		return nil
	}
	if len(body) == 0 && c.form == formSteps {
		fill(dst, T(c.first)*T(c.second)+T(c.frame.Base()), T(c.second))
		return nil
	}
	if len(d.scratch) < 2*n {
		d.scratch = make([]uint64, 2*n)
	}
	u := d.scratch[:n]
	run := c.frame.Len(n)
	if err := bitpack.Decode(part, u, body[:run], c.frame.Shape()); err != nil {
		return err
	}
	firsts := 0 // codes that hold the low bits of a first value
	switch c.form {
	case formDeltas:
		firsts = 1
	case formDeltaDeltas:
		firsts = min(2, n)
	}
	if err := c.frame.CheckLow(part, u[:firsts]); err != nil {
		return err
	}
	add, flip := c.frame.Terms()
	first, second := T(c.first<<c.frame.Width), T(c.second<<c.frame.Width)
	switch c.form {
	case formFrame:
		offsets(dst, u, T(add), flip)
	case formDeltas:
		deltas(dst, u, first, T(add), flip)
	case formDeltaDeltas:
		deltaDeltas(dst, u, first, second, T(add), flip)
	case formSteps:
		return steps(d, dst, u, &c, T(add), flip, body[run:])
	}
	return nil
}

// fill makes the progression of acc by step.
func fill[T integer](dst []T, acc, step T) {
	for i := range dst {
		dst[i] = acc
		acc += step
	}
}

func offsets[T integer](dst []T, u []uint64, add T, flip uint64) {
	u = u[:len(dst)]
	for i := range dst {
		dst[i] = add + T(u[i]^flip)
	}
}

func deltas[T integer](dst []T, u []uint64, acc, add T, flip uint64) {
	u = u[:len(dst)]
	acc += T(u[0])
	dst[0] = acc
	for i := 1; i < len(dst); i++ {
		acc += add + T(u[i]^flip)
		dst[i] = acc
	}
}

func deltaDeltas[T integer](dst []T, u []uint64, acc, delta, add T, flip uint64) {
	u = u[:len(dst)]
	acc += T(u[0])
	dst[0] = acc
	if len(dst) == 1 {
		return
	}
	delta += T(u[1])
	acc += delta
	dst[1] = acc
	for i := 2; i < len(dst); i++ {
		delta += add + T(u[i]^flip)
		acc += delta
		dst[i] = acc
	}
}

func steps[T integer](d *Decoder, dst []T, u []uint64, c *chunk, add T, flip uint64, body []byte) error {
	n, g := len(dst), c.gaps
	pos := d.scratch[n : n+g]
	sizes := d.scratch[n+g : n+2*g]
	cut := bitpack.PositionsLen(g, n)
	if err := bitpack.DecodePositions(part, pos, body[:cut], n); err != nil {
		return err
	}
	simd.Unpack64(sizes, body[cut:], c.gapWidth)
	step := T(c.second)
	acc := T(c.first)*step + add
	from := 0
	for i, p := range pos {
		to := int(p)
		acc = ticks(dst[from:to], u[from:to], acc, step, flip)
		acc += step * T(int64(sizes[i]>>1)^-int64(sizes[i]&1))
		from = to
	}
	ticks(dst[from:], u[from:], acc, step, flip)
	return nil
}

// ticks decodes the values between two gaps and returns the tick after them.
func ticks[T integer](dst []T, u []uint64, acc, step T, flip uint64) T {
	u = u[:len(dst)]
	for i := range dst {
		dst[i] = acc + T(u[i]^flip)
		acc += step
	}
	return acc
}
