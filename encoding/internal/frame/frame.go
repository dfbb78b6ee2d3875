// Package frame is the frame of reference that the codecs share: integers as
// packed codes above a base, with patches for the few that lie outside.
//
// # Layout
//
// A frame is up to four parameters of a chunk and one packed run (package
// bitpack) of its body:
//
//	P   the base, in units of 1 << max(0, w-7)
//	w   the width of every code, in bits
//	c   the number of patches
//	p   the bits of a patched code beyond w; -p where some value lies below
//	    the base; 0 exactly where c is 0
//
//	   patches where p < 0     |  2^w values, not patched  |     patches
//	--o----------------o-------+---------------------------+----o--------o-->
//	                          base
//
// A code u, of w+p bits where it is patched, stands for the value base + u,
// less 2^(w+p) where p < 0 and bit w+p-1 of u is set: then all codes are
// two's complement integers, of which only those of patches can be negative.
// Sums wrap modulo 2^64, or 2^32 for a column of 32 bits.
//
// The base has about seven significant bits more than the width leaves free,
// so that P is a small number, and chunks that follow one another share it.
// Codecs that patch hold P, w, c and p in the parameters 2 to 5.
//
// The first value of a column of differences is not in their frame. Its low w
// bits are the first code of the run, which is never patched, and its high
// bits a parameter (High, Low).
package frame

import (
	"math/bits"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bitpack"
)

// The parameters of a chunk that Load reads and Store writes.
const (
	paramBase = 2 + iota
	paramWidth
	paramPatches
	paramPatchWidth
)

// Integer is a value of a column.
type Integer interface{ int32 | int64 }

// sizeOf is the number of bits of a T.
func sizeOf[T Integer]() uint {
	if T(1)<<31 < 0 {
		return 32
	}
	return 64
}

// Frame says how the integers of a run are packed: its parameters, checked.
type Frame struct {
	P          int64 // the base in its unit
	Width      uint
	Patches    int
	PatchWidth int // negative where some value lies below the base
}

// Shape is the shape of the codes.
func (f Frame) Shape() bitpack.Shape {
	return bitpack.Shape{Width: f.Width, Patches: f.Patches, PatchWidth: uint(max(f.PatchWidth, -f.PatchWidth)), Signed: f.PatchWidth < 0}
}

// Len is the number of bytes of n codes.
func (f Frame) Len(n int) int { return f.Shape().Len(n) }

// Shift is the number of low bits of the base that are not stored.
func Shift(w uint) uint { return max(w, 7) - 7 }

// Base is what a code of 0 stands for.
func (f Frame) Base() int64 { return f.P << Shift(f.Width) }

// Greatest is the greatest code that is not patched.
func (f Frame) Greatest() uint64 { return ^uint64(0) >> (64 - f.Width) }

// Fits reports whether x is a signed integer of size bits.
func Fits(x int64, size uint) bool {
	if size == 0 {
		return x == 0
	}
	return x<<(64-size)>>(64-size) == x
}

// Check makes a frame of n integers of size bits (32 or 64) of parameters read
// from a file, or says why they cannot be one: the error is a CorruptError
// about part.
func Check(part string, base, width, patches, patchWidth int64, n int, size uint) (Frame, error) {
	high := max(patchWidth, -patchWidth) // negative for the least integer
	if n < 0 || uint64(width) > uint64(size) || uint64(patches) > uint64(n) || uint64(high) > uint64(int64(size)-width) ||
		(patches == 0) != (high == 0) || !Fits(base, size-Shift(uint(width))) {
		return Frame{}, refuse(part, base, width, patches, patchWidth, n, size)
	}
	return Frame{base, uint(width), int(patches), int(patchWidth)}, nil
}

// refuse says what Check has against parameters.
func refuse(part string, base, width, patches, patchWidth int64, n int, size uint) error {
	if n < 0 {
		return encoding.Corruptf(part, "%d values", n)
	}
	if patchWidth > int64(size) || patchWidth < -int64(size) || (patches == 0) != (patchWidth == 0) {
		return encoding.Corruptf(part, "%d patches of %d bits", patches, patchWidth)
	}
	if _, err := bitpack.CheckShape(part, width, patches, max(patchWidth, -patchWidth), n, size); err != nil {
		return err
	}
	return encoding.Corruptf(part, "base %d << %d outside of %d bits", base, Shift(uint(width)), size)
}

// Load is Check of the parameters 2 to 5.
func Load(part string, p *encoding.Params, n int, size uint) (Frame, error) {
	return Check(part, p[paramBase], p[paramWidth], p[paramPatches], p[paramPatchWidth], n, size)
}

// LoadPlain is Load of a frame without patches. ok is false where the
// parameters are of none.
func LoadPlain(p *encoding.Params, size uint) (f Frame, ok bool) {
	w := p[paramWidth]
	if uint64(w) > uint64(size) || p[paramPatches]|p[paramPatchWidth] != 0 {
		return f, false
	}
	f = Frame{P: p[paramBase], Width: uint(w)}
	return f, Fits(f.P, size-Shift(f.Width))
}

// Store sets the parameters 2 to 5.
func (f Frame) Store(p *encoding.Params) {
	p[paramBase], p[paramWidth] = f.P, int64(f.Width)
	p[paramPatches], p[paramPatchWidth] = int64(f.Patches), int64(f.PatchWidth)
}

// Choose is a frame without patches for n integers of size bits, of which the
// least is lo and the greatest hi, after a chunk with the frame prev. It takes
// the width and base of prev where that costs at most a byte more than the
// narrowest width, else the narrowest that has a base, and there the P of
// prev, else the roundest.
func Choose(lo, hi int64, n int, size uint, prev Frame) Frame {
	w := uint(bits.Len64(uint64(hi) - uint64(lo)))
	if prev.Width >= w && uint64(n)*uint64(prev.Width-w) <= 8 {
		if p, ok := quantise(lo, hi, prev.Width, size, prev.P); ok && p == prev.P {
			return Frame{P: p, Width: prev.Width}
		}
	}
	for ; w < size; w++ {
		if p, ok := quantise(lo, hi, w, size, prev.P); ok {
			return Frame{P: p, Width: w}
		}
	}
	return Frame{Width: size}
}

// quantise picks the base, in its unit, of a frame of w bits without patches
// over values from lo to hi: last if it serves, else the roundest. It reports
// whether there is one.
func quantise(lo, hi int64, w, size uint, last int64) (p int64, ok bool) {
	if w >= size {
		return 0, w == size
	}
	least := hi - int64(uint64(1)<<w-1) // the least base from which w bits reach hi
	if lowest := int64(-1) << (size - 1); least > hi || least < lowest {
		least = lowest
	}
	k := Shift(w)
	a, b := least>>k, lo>>k
	if a<<k != least {
		a++
	}
	switch {
	case a > b:
		return 0, false
	case a <= last && last <= b:
		return last, true
	}
	return roundest(a, b), true
}

// roundest is the number from a to b with the most trailing zero bits.
func roundest(a, b int64) int64 {
	if a <= 0 && 0 <= b {
		return 0
	}
	// a-1 and b differ first in the bit that the roundest number has.
	k := bits.Len64(uint64(a-1)^uint64(b)) - 1
	return b >> k << k
}
