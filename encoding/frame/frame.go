// Package frame chooses frames of reference: a base and a width such that
// every value of a chunk is the base plus an unsigned integer of that width.
//
// A frame is stored as two parameters that stay steady from chunk to chunk:
//
//	base = P << max(0, width-7)        width: 0 to 64
//
// so P has at most some seven significant bits beyond the distance from zero,
// whatever the width. Among the bases that admit all values the choice is the
// one with the P of the chunk before, else the roundest.
package frame

import (
	"math"
	"math/bits"

	"github.com/colsst/colsst/encoding"
)

// Frame is a frame of reference.
type Frame struct {
	P     int64 // the base, in units of 1 << max(0, Width-7)
	Width uint  // bits of value-base, 0 to 64
}

func shift(width uint) uint { return max(width, 7) - 7 }

// Base is the number to add to each packed integer, modulo 2^64.
func (f Frame) Base() int64 { return f.P << shift(f.Width) }

// fits reports whether f admits every value of [lo, hi].
func (f Frame) fits(lo, hi int64) bool {
	base := f.Base()
	return f.Width == 64 || base <= lo && (uint64(hi)-uint64(base))>>f.Width == 0
}

// Choose is a frame for n values of which the least is lo and the greatest hi,
// after a chunk with the frame prev. It takes prev where that costs at most a
// byte more than the narrowest width.
func Choose(lo, hi int64, n int, prev Frame) Frame {
	w := uint(bits.Len64(uint64(hi) - uint64(lo)))
	if prev.Width >= w && uint64(n)*uint64(prev.Width-w) <= 8 && prev.fits(lo, hi) {
		return prev
	}
	for ; w < 64; w++ {
		if p, ok := roundest(lo, hi, w, prev); ok {
			return Frame{P: p, Width: w}
		}
	}
	return Frame{Width: 64}
}

// roundest is the best base of width w in its unit, where there is one.
func roundest(lo, hi int64, w uint, prev Frame) (int64, bool) {
	least := int64(math.MinInt64) // the least base from which w bits reach hi
	if reach := int64(uint64(1)<<w - 1); hi >= math.MinInt64+reach {
		least = hi - reach
	}
	s := shift(w)
	a, b := least>>s, lo>>s
	if a<<s != least {
		a++
	}
	switch {
	case a > b:
		return 0, false
	case a <= prev.P && prev.P <= b:
		return prev.P, true
	case a <= 0 && 0 <= b:
		return 0, true
	case b < 0:
		return -trim(-b, -a), true
	}
	return trim(a, b), true
}

// trim is the number of [a, b] with the most trailing zeros, 0 < a <= b. A
// range that ends at -MinInt64 has wrapped: b is then MinInt64, and a stands.
func trim(a, b int64) int64 {
	if a == b || b < a {
		return a
	}
	top := bits.Len64(uint64(a)^uint64(b)) - 1 // the highest bit in which they differ
	if low := int64(1)<<top - 1; a&low == 0 && a&(low+1) == 0 {
		return a
	}
	return b >> top << top
}

// Check turns two parameters read from a file into a frame of at most maxWidth
// bits, or says why they cannot be one.
func Check(part string, p, width int64, maxWidth uint) (Frame, error) {
	if width < 0 || width > int64(maxWidth) {
		return Frame{}, encoding.Corruptf(part, "bit width %d is not 0 to %d", width, maxWidth)
	}
	f := Frame{P: p, Width: uint(width)}
	if f.Base()>>shift(f.Width) != p {
		return Frame{}, encoding.Corruptf(part, "base %d at width %d overflows", p, width)
	}
	return f, nil
}
