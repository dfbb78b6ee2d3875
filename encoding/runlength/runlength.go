// Package runlength is the encoding of integers as runs of equal values.
//
// # Layout
//
//	+----------------------+----------------------+
//	| values of the runs   | lengths of the runs  |
//	| ceil(r*w/8) bytes    | ceil(r*l/8) bytes    |
//	+----------------------+----------------------+
//
//	parameter 0   r, the number of runs
//	parameter 1   base of the values, in the unit of package frame
//	parameter 2   w, bits of value - base
//	parameter 3   l, bits of length - 1, at most 16
//
// Both parts are packed LSB first as in package bitpack. Every run has at
// least one value, and the lengths sum to the number of values in the chunk.
// base + packed is taken modulo 2^64 or 2^32. A run longer than 2^l is stored
// as several, where that is smaller.
//
// The self-contained form is one such chunk after another, of 1,024 values
// each and the last of the rest, every one with its parameters in line before
// its body.
package runlength

import (
	"math/bits"
	"slices"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/internal/frame"
	"github.com/colsst/colsst/encoding/internal/inline"
	"github.com/colsst/colsst/simd"
)

const (
	part           = "run length"
	maxLengthWidth = 16
)

type integer interface{ ~int32 | ~int64 }

// Runs is the number of runs of equal values in src, for choosing between
// encodings.
func Runs[T integer](src []T) int {
	if len(src) == 0 {
		return 0
	}
	n := 1
	for i := 1; i < len(src); i++ {
		if src[i] != src[i-1] {
			n++
		}
	}
	return n
}

// Encoder encodes chunks that follow one another. The zero value is ready.
type Encoder struct {
	prev    frame.Frame
	values  []uint64
	lengths []uint64 // minus 1
}

// Reset forgets the chunks before, as at the start of a segment.
func (e *Encoder) Reset() { e.prev = frame.Frame{} }

// AppendInt64 appends the body of src to dst and sets all of *p.
func (e *Encoder) AppendInt64(dst []byte, src []int64, p *encoding.Params) []byte {
	return appendRuns(e, dst, src, p, 64)
}

// AppendInt32 is AppendInt64 for four-byte integers.
func (e *Encoder) AppendInt32(dst []byte, src []int32, p *encoding.Params) []byte {
	return appendRuns(e, dst, src, p, 32)
}

func appendRuns[T integer](e *Encoder, dst []byte, src []T, p *encoding.Params, size uint) []byte {
	*p = encoding.Params{}
	if len(src) == 0 {
		return dst
	}
	e.values, e.lengths = e.values[:0], e.lengths[:0]
	lo, hi := src[0], src[0]
	longest := uint64(0)
	for i := 0; i < len(src); {
		v, start := src[i], i
		for i++; i < len(src) && src[i] == v; i++ {
		}
		lo, hi = min(lo, v), max(hi, v)
		longest = max(longest, uint64(i-start-1))
		e.values = append(e.values, uint64(v))
		e.lengths = append(e.lengths, uint64(i-start-1))
	}
	f := frame.Choose(int64(lo), int64(hi), len(e.values), size, e.prev)
	e.prev = f
	l := e.split(uint(bits.Len64(longest)), f.Width)
	for i := range e.values {
		e.values[i] -= uint64(f.Base())
	}
	*p = encoding.Params{int64(len(e.values)), f.P, int64(f.Width), int64(l)}
	dst = simd.AppendPack64(dst, e.values, f.Width)
	return simd.AppendPack64(dst, e.lengths, l)
}

// split chooses the width of the lengths, top being what the longest needs,
// beside values of width w, and splits the runs that are longer.
func (e *Encoder) split(top, w uint) uint {
	if w == 0 && top <= maxLengthWidth {
		return top // one value: pieces of it would only be more to decode
	}
	best, bestRuns := min(top, maxLengthWidth), 0
	for l := best; ; l-- {
		runs := 0
		for _, n := range e.lengths {
			runs += int(n>>l) + 1
		}
		if bestRuns == 0 || uint64(runs)*uint64(w+l) < uint64(bestRuns)*uint64(w+best) {
			best, bestRuns = l, runs
		}
		if l == 0 {
			break
		}
	}
	if best == top {
		return best
	}
	// From the last run to the first, so that the pieces fit in place.
	from, to := len(e.lengths), bestRuns
	e.lengths = slices.Grow(e.lengths, to-from)[:to]
	e.values = slices.Grow(e.values, to-from)[:to]
	for from > 0 {
		from--
		v, n := e.values[from], e.lengths[from]
		for ; n>>best > 0; n -= 1 << best {
			to--
			e.values[to], e.lengths[to] = v, 1<<best-1
		}
		to--
		e.values[to], e.lengths[to] = v, n
	}
	return best
}

// Int64Len is the length in bytes of the body of n values. It fails on
// parameters that AppendInt64 does not set.
func Int64Len(p *encoding.Params, n int) (int, error) { return runsLen(p, n, 64) }

// Int32Len is Int64Len for four-byte integers.
func Int32Len(p *encoding.Params, n int) (int, error) { return runsLen(p, n, 32) }

func runsLen(p *encoding.Params, n int, size uint) (int, error) {
	if _, err := check(p, n, size); err != nil {
		return 0, err
	}
	return bodyLen(p), nil
}

func check(p *encoding.Params, n int, size uint) (frame.Frame, error) {
	switch {
	case *p != (encoding.Params{p[0], p[1], p[2], p[3]}):
		return frame.Frame{}, encoding.Corruptf(part, "parameters %v, want 4", *p)
	case p[0] > int64(n) || p[0] < int64(min(n, 1)):
		return frame.Frame{}, encoding.Corruptf(part, "%d runs of %d values", p[0], n)
	case p[3] < 0 || p[3] > maxLengthWidth:
		return frame.Frame{}, encoding.Corruptf(part, "bit width %d of lengths is not 0 to %d", p[3], maxLengthWidth)
	}
	return frame.Check(part, p[1], p[2], 0, 0, int(p[0]), size)
}

// bodyLen is the length that checked parameters say.
func bodyLen(p *encoding.Params) int {
	return simd.PackedLen(int(p[0]), uint(p[2])) + simd.PackedLen(int(p[0]), uint(p[3]))
}

// Decoder decodes chunks. The zero value is ready.
type Decoder struct {
	values  []uint64
	lengths []uint64
}

// Int64 fills dst from a body, whose length is what Int64Len says. It fails on
// parameters that Int64Len refuses and on runs that do not sum to len(dst); it
// keeps nothing of body.
func (d *Decoder) Int64(dst []int64, p *encoding.Params, body []byte) error {
	return decodeRuns(d, dst, p, body, 64)
}

// Int32 is Int64 for four-byte integers.
func (d *Decoder) Int32(dst []int32, p *encoding.Params, body []byte) error {
	return decodeRuns(d, dst, p, body, 32)
}

func decodeRuns[T integer](d *Decoder, dst []T, p *encoding.Params, body []byte, size uint) error {
	f, err := check(p, len(dst), size)
	if err != nil {
		return err
	}
	if want := bodyLen(p); len(body) != want {
		return encoding.Corruptf(part, "%d bytes, want %d", len(body), want)
	}
	runs := int(p[0])
	d.values = slices.Grow(d.values[:0], runs)[:runs]
	d.lengths = slices.Grow(d.lengths[:0], runs)[:runs]
	simd.Unpack64(d.values, body, f.Width)
	simd.Unpack64(d.lengths, body[simd.PackedLen(runs, f.Width):], uint(p[3]))
	base := uint64(f.Base())
	at := 0
	for i, u := range d.values {
		n := d.lengths[i] // minus 1, at most 65,535
		if n >= uint64(len(dst)-at) {
			return encoding.Corruptf(part, "runs exceed %d values", len(dst))
		}
		v, to := T(u+base), at+int(n)+1
		for ; at < to; at++ {
			dst[at] = v
		}
	}
	if at != len(dst) {
		return encoding.Corruptf(part, "runs sum to %d values, want %d", at, len(dst))
	}
	return nil
}

// AppendInt64 appends src in the self-contained form to dst.
func AppendInt64(dst []byte, src []int64) []byte {
	var e Encoder
	return inline.AppendVectors(dst, src, e.AppendInt64)
}

// AppendInt32 is AppendInt64 for four-byte integers.
func AppendInt32(dst []byte, src []int32) []byte {
	var e Encoder
	return inline.AppendVectors(dst, src, e.AppendInt32)
}

// DecodeInt64 fills dst from what AppendInt64 wrote of as many values, and
// returns what follows it.
func DecodeInt64(dst []int64, src []byte) (rest []byte, err error) { return decodeAll(dst, src, 64) }

// DecodeInt32 is DecodeInt64 for four-byte integers.
func DecodeInt32(dst []int32, src []byte) (rest []byte, err error) { return decodeAll(dst, src, 32) }

func decodeAll[T integer](dst []T, src []byte, size uint) (rest []byte, err error) {
	var d Decoder
	return inline.DecodeVectors(part, dst, src,
		func(p encoding.Params, n int) (int, error) { return runsLen(&p, n, size) },
		func(v []T, p encoding.Params, body []byte) error { return decodeRuns(&d, v, &p, body, size) })
}
