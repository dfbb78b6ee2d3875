// Package patched is the frame of reference that the integer codecs share: a
// packed run of codes around a base, in which outliers on either side of the
// frame are patches.
//
// # Layout
//
// A frame uses four of the parameters of a chunk and one packed run (package
// bitpack) of its body:
//
//	parameter 2   base, shifted right by max(0, w-7)
//	parameter 3   w, the width of every code
//	parameter 4   c, the number of patches
//	parameter 5   p, the patch width; 0 exactly where c is 0
//
// Without patches a code u stands for base + u. With patches, all codes are
// two's complement integers of w+p bits: u stands for base + u, less 2^(w+p)
// where bit w+p-1 of u is set. Codes inside the frame have no such bit, so
// that only patches are ever negative. Sums wrap modulo 2^64, or 2^32 for a
// column of 32 bits.
//
// The base keeps about seven significant bits more than the width leaves
// free, so that chunks that follow one another share it and the parameter
// stays small.
package patched

import (
	"math/bits"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bitpack"
)

// The parameters of a chunk that a frame uses.
const (
	paramBase = 2 + iota
	paramWidth
	paramPatches
	paramPatchWidth
)

// Frame says how the values of one run are packed.
type Frame struct {
	Base int64
	bitpack.Shape
}

// shift is the number of low bits of the base that are not stored.
func shift(w uint) uint { return max(w, 7) - 7 }

// Wrap is x modulo 2^size as a signed integer.
func Wrap(x int64, size uint) int64 { return x << (64 - size) >> (64 - size) }

// Fits reports whether x is a signed integer of size bits.
func Fits(x int64, size uint) bool {
	if size == 0 {
		return x == 0
	}
	return Wrap(x, size) == x
}

// Store writes the frame into its parameters.
func (f Frame) Store(p *encoding.Params) {
	p[paramBase] = f.Base >> shift(f.Width)
	p[paramWidth] = int64(f.Width)
	p[paramPatches] = int64(f.Patches)
	p[paramPatchWidth] = int64(f.PatchWidth)
}

// Load reads and checks the frame of n values of size bits (32 or 64) in the
// parameters of a chunk. The error is a CorruptError about part.
func Load(part string, p *encoding.Params, n int, size uint) (Frame, error) {
	if p[paramPatchWidth] > int64(size) {
		return Frame{}, encoding.Corruptf(part, "patch width %d is not 0 to %d", p[paramPatchWidth], size)
	}
	s, err := bitpack.CheckShape(part, p[paramWidth], p[paramPatches], p[paramPatchWidth], n, size)
	if err != nil {
		return Frame{}, err
	}
	if (s.Patches == 0) != (s.PatchWidth == 0) {
		return Frame{}, encoding.Corruptf(part, "%d patches of %d bits", s.Patches, s.PatchWidth)
	}
	k := shift(s.Width)
	if !Fits(p[paramBase], size-k) {
		return Frame{}, encoding.Corruptf(part, "base %d << %d outside of %d bits", p[paramBase], k, size)
	}
	return Frame{p[paramBase] << k, s}, nil
}

// Terms gives the arithmetic of decoding: the value of code u is
// add + int64(u^flip).
func (f Frame) Terms() (add int64, flip uint64) {
	if f.Patches > 0 {
		flip = 1 << (f.Width + f.PatchWidth - 1)
	}
	return f.Base - int64(flip), flip
}

// Codes fills u, as long as x, with the codes of the values x, for which the
// frame was fitted.
func (f Frame) Codes(u []uint64, x []int64) {
	mask := ^uint64(0) >> (64 - f.Width - f.PatchWidth)
	u = u[:len(x)]
	for i, v := range x {
		u[i] = uint64(v-f.Base) & mask
	}
}

// Fit is a small frame for the values x of size bits, all between lo and hi.
// It keeps the base at last where that costs nothing. The run will hold n
// codes, at least len(x) of them: those beyond need no patch.
func Fit(x []int64, lo, hi int64, n int, size uint, last int64) Frame {
	span := uint64(hi) - uint64(lo)
	top := uint(bits.Len64(span))
	base, ok := quantise(top, lo, hi, size, last)
	best := Frame{base, bitpack.Shape{Width: top}}
	if !ok {
		// A base just below the least value leaves a few codes too wide.
		base, _ = quantise(top+1, lo, hi, size, last)
		best = Frame{base, bitpack.Shape{Width: top + 1}}
		if f := exact(x, floor(lo, top), top, size); f.Len(n)+2 < best.Len(n) {
			best = f
		}
	}
	if top == 0 {
		return best
	}
	core, centre := Core(x)
	if uint(bits.Len64(core)) >= top {
		return best
	}

	// Windows of 2^w values that begin at the least value, end at the
	// greatest, or lie around the centre: how many values need which w?
	var counts [3][65]int
	for _, v := range x {
		counts[0][bits.Len64(uint64(v)-uint64(lo))]++
		counts[1][bits.Len64(uint64(hi)-uint64(v))]++
		d := v - centre
		counts[2][bits.Len64(uint64(d<<1^d>>63))]++
	}
	bestLen := best.Len(n) - 2 // patches cost parameters
	from, w := int64(0), uint(0)
	found := false
	for kind := range counts {
		over := 0
		for k := min(top+1, 64); k > 0; k-- {
			over += counts[kind][k]
			if over > len(x)/2 {
				break
			}
			if k > top {
				continue
			}
			s := bitpack.Shape{Width: k - 1, Patches: over, PatchWidth: min(top+1, size) - (k - 1)}
			if l := s.Len(n); l < bestLen {
				bestLen, w, found = l, k-1, true
				switch kind {
				case 0:
					from = lo
				case 1:
					from = hi - int64(uint64(1)<<w-1)
				case 2:
					from = centre - int64(uint64(1)<<w>>1)
				}
			}
		}
	}
	if !found {
		return best
	}
	// The values inside the window decide width and base.
	var least, greatest int64
	first := true
	for _, v := range x {
		if (uint64(v)-uint64(from))>>w == 0 {
			if first || v < least {
				least = v
			}
			if first || v > greatest {
				greatest = v
			}
			first = false
		}
	}
	if first {
		return best
	}
	w = uint(bits.Len64(uint64(greatest) - uint64(least)))
	if base, ok = quantise(w, least, greatest, size, last); !ok {
		base = floor(least, w)
	}
	if f := exact(x, base, w, size); f.Len(n)+2 <= best.Len(n) {
		return f
	}
	return best
}

// exact is the frame of the given base and width with the patches it needs.
func exact(x []int64, base int64, w, size uint) Frame {
	f := Frame{base, bitpack.Shape{Width: w}}
	var top uint
	for _, v := range x {
		d := Wrap(v-base, size)
		if uint64(d)>>w != 0 && w < size {
			f.Patches++
			top = max(top, uint(bits.Len64(uint64(d^d>>63)))+1)
		}
	}
	if f.Patches > 0 {
		f.PatchWidth = max(top, w+1) - w
	}
	return f
}

// floor is the greatest base at most x that a frame of width w can store.
func floor(x int64, w uint) int64 { return x >> shift(w) << shift(w) }

// quantise picks a base for a frame of width w without patches over values
// from lo to hi: last if it serves, else the one with the most trailing zero
// bits. It reports whether one can be stored.
func quantise(w uint, lo, hi int64, size uint, last int64) (base int64, ok bool) {
	if w >= size {
		return 0, true
	}
	slack := uint64(1)<<w - 1 - (uint64(hi) - uint64(lo))
	least := lo - int64(slack)
	if lowest := int64(-1) << (size - 1); least > lo || least < lowest {
		least = lowest
	}
	k := shift(w)
	if least <= last && last <= lo && floor(last, w) == last {
		return last, true
	}
	if least <= 0 && 0 <= lo {
		return 0, true
	}
	// least-1 and lo differ first in the bit that the roundest number has.
	zeros := uint(bits.Len64(uint64(least-1)^uint64(lo))) - 1
	return lo >> zeros << zeros, zeros >= k
}

// Samples is the number of values that Core looks at, and CoreOf at most.
const Samples = 16

// Core is an estimate, from a few values of x, of where most values lie: the
// distance between an outer pair of quantiles, and the mean of the inner ones.
func Core(x []int64) (span uint64, centre int64) {
	var buf [Samples]int64
	s := buf[:0]
	if len(x) <= Samples {
		s = append(s, x...)
	} else {
		for i := range Samples {
			s = append(s, x[(2*i+1)*len(x)/(2*Samples)])
		}
	}
	return CoreOf(s)
}

// CoreOf is Core of a sample, which it sorts.
func CoreOf(s []int64) (span uint64, centre int64) {
	if len(s) == 0 {
		return 0, 0
	}
	for i := 1; i < len(s); i++ {
		v, j := s[i], i
		for ; j > 0 && s[j-1] > v; j-- {
			s[j] = s[j-1]
		}
		s[j] = v
	}
	cut := len(s) / 8
	span = uint64(s[len(s)-1-cut]) - uint64(s[cut])
	inner := s[len(s)/4 : len(s)-len(s)/4]
	var sum, rest uint64 // of distances to the first; no product overflows
	m := uint64(len(inner))
	for _, v := range inner {
		d := uint64(v) - uint64(inner[0])
		sum += d / m
		rest += d % m
	}
	return span, inner[0] + int64(sum+rest/m)
}
