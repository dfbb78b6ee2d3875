// Package deltadelta packs int64 and int32 columns: timestamps, counters,
// write times, expiries. Encoding ID: delta_of_delta.
//
// # Forms
//
// Parameter 0 names the form of a chunk; the encoder takes the one that is
// smallest, its parameters counted in. All arithmetic wraps modulo 2^64 for
// int64 and 2^32 for int32. n is the number of values, v[i] value i, u[i]
// code i of the packed run and s[i] the signed distance that it stands for
// (package frame: base + s[i] is the value of a code, where base, width w and
// patches are parameters 2 to 5).
//
//	0 constant   v[i] = p1
//	1 frame      v[i] = base + s[i]
//	2 deltas     v[0] = p1<<w + u[0]
//	             v[i] = v[i-1] + base + s[i]
//	3 deltas     v[0] = p1<<w + u[0]
//	  of deltas  v[1] = v[0] + d[1], d[1] = p6<<w + u[1]
//	             v[i] = v[i-1] + d[i], d[i] = d[i-1] + base + s[i]
//	4 steps      v[i] = (p1 + k[i])*p6 + base + s[i]
//	             k[0] = gap(0), k[i] = k[i-1] + 1 + gap(i)
//
// The steps are a clock: tick p1+k[i] of period p6, base the phase, s the
// jitter. gap(i) is zero but at a few positions, where ticks are missing
// (above zero) or repeated (below). A column of constant step is the form of
// steps with width 0, no patch and no gap, hence without a body; its
// neighbours, where a value came late or is missing, keep its parameters.
//
// # Body
//
// Form 0 has none. The others:
//
//	+--------------------------+--------------------+-------------------+
//	| n codes                  | gap positions      | gap sizes         |
//	| packed run (bitpack)     | ceil(g*b/8) bytes  | ceil(g*e/8) bytes |
//	+--------------------------+--------------------+-------------------+
//	                             form 4 only
//
// Positions ascend strictly and take b bits, those that n-1 needs. Sizes are
// zigzag integers of e bits. Parameter 7 is 8*g + c, g at most n/2, where c
// picks e from 2, 3, 4, 5, 7, 10, 16, 64.
//
// # Parameters
//
//	    constant  frame  deltas       deltas of deltas   steps
//	p0  0         1      2            3                  4
//	p1  value     0      v[0] >> w    v[0] >> w          first tick
//	p2  0         base   base         base               phase, the base
//	p3  0         width  width        width              width
//	p4  0         patch count, in each of these forms
//	p5  0         patch width, in each; negative as package frame says
//	p6  0         0      0            d[1] >> w          period
//	p7  0         0      0            0                  gaps
//
// A width is at most 64, or 32 for int32, patches included, and p1 and p6
// fit the type.
//
// # Self-contained form
//
// AppendInt64 and AppendInt32 cut the values into vectors of 1,024; each is
// its parameters (encoding.AppendParams), then its body. The count of the
// values is the caller's.
package deltadelta

import (
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bitpack"
	"github.com/colsst/colsst/encoding/internal/frame"
	"github.com/colsst/colsst/encoding/internal/inline"
	"github.com/colsst/colsst/simd"
)

const part = "delta_of_delta values"

// The forms of a chunk.
const (
	formConstant = iota
	formFrame
	formDeltas
	formDeltaDeltas
	formSteps
	numForms
)

// The parameters beside those of the frame.
const (
	paramForm   = 0
	paramFirst  = 1 // value, high bits of the first value, first tick
	paramSecond = 6 // high bits of the first delta, period
	paramGaps   = 7
)

// gapWidths are the widths that a gap size may have.
var gapWidths = [8]uint{2, 3, 4, 5, 7, 10, 16, 64}

// chunk is a chunk's parameters, checked.
type chunk struct {
	form          int
	first, second int64
	frame         frame.Frame
	gaps          int
	gapWidth      uint
}

// load checks all parameters of n values of size bits.
func load(p *encoding.Params, n int, size uint) (c chunk, err error) {
	if p[paramForm] < 0 || p[paramForm] >= numForms {
		return c, encoding.Corruptf(part, "form %d of %d values", p[paramForm], n)
	}
	c.form = int(p[paramForm])
	c.first, c.second = p[paramFirst], p[paramSecond]
	if !frame.Fits(c.first, size) || !frame.Fits(c.second, size) {
		return c, encoding.Corruptf(part, "parameters %d and %d outside of %d bits", c.first, c.second, size)
	}
	if c.frame, err = frame.Load(part, p, n, size); err != nil {
		return c, err
	}
	if g := p[paramGaps]; g != 0 {
		if g < 8 || g>>3 > int64(n/2) {
			return c, encoding.Corruptf(part, "gaps %d for %d values", g, n)
		}
		c.gaps, c.gapWidth = int(g>>3), gapWidths[g&7]
	}
	if c.unused(p) {
		return c, encoding.Corruptf(part, "form %d with parameters %d", c.form, *p)
	}
	return c, nil
}

// unused reports whether a parameter that the form has no use for is set.
func (c *chunk) unused(p *encoding.Params) bool {
	switch c.form {
	case formConstant:
		return *p != encoding.Params{paramFirst: c.first}
	case formFrame:
		return c.first != 0 || c.second != 0 || c.gaps != 0
	case formDeltas:
		return c.second != 0 || c.gaps != 0
	case formDeltaDeltas:
		return c.gaps != 0
	}
	return false
}

func (c *chunk) len(n int) int {
	if c.form == formConstant {
		return 0
	}
	return c.frame.Len(n) + bitpack.PositionsLen(c.gaps, n) + simd.PackedLen(c.gaps, c.gapWidth)
}

// Int64Len is the length in bytes of the body of n int64 values with
// parameters p. It checks all of p: the error is a CorruptError.
func Int64Len(p *encoding.Params, n int) (int, error) { return bodyLen(p, n, 64) }

// Int32Len is Int64Len for int32 values.
func Int32Len(p *encoding.Params, n int) (int, error) { return bodyLen(p, n, 32) }

func bodyLen(p *encoding.Params, n int, size uint) (int, error) {
	c, err := load(p, n, size)
	if err != nil {
		return 0, err
	}
	return c.len(n), nil
}

// RampOf is what parameters p alone say of values of size bits (32 or 64),
// modulo 2^size. Where that is a ramp, ok is set: p is then such as Int64Len or
// Int32Len accepts, and the body of n values takes encoding.Ramp.Len bytes.
func RampOf(p *encoding.Params, size uint) (r encoding.Ramp, ok bool) {
	first, second := p[paramFirst], p[paramSecond]
	switch p[paramForm] {
	case formConstant:
		return encoding.Ramp{First: first}, frame.Fits(first, size) && *p == encoding.Params{paramFirst: first}
	case formFrame:
		ok = first|second == 0
	case formSteps:
		ok = frame.Fits(first, size) && frame.Fits(second, size)
	}
	f, plain := frame.LoadPlain(p, size)
	return encoding.Ramp{First: first*second + f.Base(), Step: second, Spread: f.Greatest()}, ok && plain && p[paramGaps] == 0
}

// AppendInt64 appends src in self-contained form. It never fails; random
// values take some 10 bytes a vector of 1,024 beyond their size.
func AppendInt64(dst []byte, src []int64) []byte {
	var e Encoder
	return inline.AppendVectors(dst, src, e.AppendInt64)
}

// AppendInt32 is AppendInt64 for int32 values.
func AppendInt32(dst []byte, src []int32) []byte {
	var e Encoder
	return inline.AppendVectors(dst, src, e.AppendInt32)
}

// DecodeInt64 fills dst, of the count that AppendInt64 was given, from the
// start of src and returns what follows. Bad input gives a CorruptError; dst
// is then partly written. It allocates nothing.
func DecodeInt64(dst []int64, src []byte) (rest []byte, err error) {
	return inline.DecodeVectors(part, dst, src,
		func(p encoding.Params, n int) (int, error) { return bodyLen(&p, n, 64) },
		func(v []int64, p encoding.Params, body []byte) error { return decodeVector(v, &p, body, 64) })
}

// DecodeInt32 is DecodeInt64 for int32 values.
func DecodeInt32(dst []int32, src []byte) (rest []byte, err error) {
	return inline.DecodeVectors(part, dst, src,
		func(p encoding.Params, n int) (int, error) { return bodyLen(&p, n, 32) },
		func(v []int32, p encoding.Params, body []byte) error { return decodeVector(v, &p, body, 32) })
}

// decodeVector decodes at most inline.Vector values.
func decodeVector[T integer](dst []T, p *encoding.Params, body []byte, size uint) error {
	c, err := load(p, len(dst), size)
	if err != nil {
		return err
	}
	if c.frame.Patches > 0 || c.gaps > 0 {
		return decodePatched(dst, &c, body)
	}
	return decode(new(Decoder), dst, &c, body)
}

// decodePatched has scratch on its stack, which takes time to clear.
func decodePatched[T integer](dst []T, c *chunk, body []byte) error {
	var scratch struct {
		wide   [inline.Vector + bitpack.Room]uint64
		narrow [inline.Vector + bitpack.Room]uint32
		gaps   [inline.Vector]uint64
	}
	d := Decoder{wide: scratch.wide[:], narrow: scratch.narrow[:], gaps: scratch.gaps[:]}
	return decode(&d, dst, c, body)
}
