package frame

import (
	"math/bits"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bitpack"
	"github.com/colsst/colsst/internal/le"
	"github.com/colsst/colsst/simd"
)

// Patched64 are the n codes of the run that body begins with, in a frame with
// patches; without any they are simd.Packed64(body, f.Width). The first codes,
// as many as lows, hold the low bits of first values: they must not be patched.
// The codes are unpacked into *scratch, which grows to what they need, and their
// signs extended. The error is a CorruptError about part.
func (f *Frame) Patched64(part string, body []byte, n, lows int, scratch *[]uint64) (simd.Codes64, error) {
	u, spare := room(scratch, n)
	return simd.Plain64(u), unpack(f, part, u, body, lows, spare)
}

// Patched32 is Patched64 for columns of 32 bits.
func (f *Frame) Patched32(part string, body []byte, n, lows int, scratch *[]uint32) (simd.Codes32, error) {
	u, spare := room(scratch, n)
	return simd.Plain32(u), unpack(f, part, u, body, lows, spare)
}

// room is n values of scratch, and bitpack.Room more where it grows.
func room[U uint32 | uint64](scratch *[]U, n int) (u, spare []U) {
	if len(*scratch) < n {
		*scratch = make([]U, n+bitpack.Room)
	}
	u, spare = (*scratch)[:n], (*scratch)[n:]
	return u, spare[:min(len(spare), bitpack.Room)]
}

// unpack is for a frame with patches.
func unpack[U uint32 | uint64](f *Frame, part string, u []U, body []byte, lows int, spare []U) error {
	if err := bitpack.Decode(part, u, body[:f.Len(len(u))], f.Shape(), spare); err != nil {
		return err
	}
	for i, x := range u[:lows] {
		if uint64(x) != f.Low(int64(x)) {
			return encoding.Corruptf(part, "code %d is patched, but holds the low bits of a first value", i)
		}
	}
	return nil
}

// RunOf is the run of n codes that begins at off of a source, but for what a sum
// of them begins with; the base is added to each.
func RunOf[T Integer](f *Frame, n, off int) simd.Run[T] {
	r := simd.Run[T]{Off: off, N: n, Width: f.Width, Add: T(f.Base())}
	if f.Patches > 0 {
		s := f.Shape()
		r.Patches, r.PositionWidth, r.HighWidth = f.Patches, bitpack.PositionWidth(n), s.PatchWidth
		r.Positions = off + simd.PackedLen(n, f.Width)
		r.Highs = r.Positions + simd.PackedLen(f.Patches, r.PositionWidth)
		if s.Signed {
			r.Sign = 1 << (s.PatchWidth - 1)
		}
	}
	return r
}

// Scratch is the memory of Append. Its zero value is ready. It is not
// for concurrent use.
type Scratch struct {
	mask      []byte // bits of patches
	pos, high []uint64
}

// resize is s with n elements, whose values are not defined.
func resize[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n)
	}
	return s[:n]
}

// Append appends the run of the values x, for which the frame was chosen.
func Append[T Integer](s *Scratch, dst []byte, f Frame, x []T) []byte {
	base := f.Base()
	switch x := any(x).(type) {
	case []int64:
		dst = simd.AppendPackRamp64(dst, x, f.Width, base, 0)
	case []int32:
		dst = simd.AppendPackRamp32(dst, x, f.Width, int32(base), 0)
	}
	if f.Patches == 0 {
		return dst
	}
	s.mask = resize(s.mask, (len(x)+7)/8)
	switch x := any(x).(type) {
	case []int64:
		simd.Outliers64(s.mask, x, base, 1<<f.Width-1)
	case []int32:
		simd.Outliers32(s.mask, x, int32(base), 1<<f.Width-1)
	}
	shape := f.Shape()
	codes := ^uint64(0) >> (64 - shape.Width - shape.PatchWidth)
	s.pos, s.high = s.pos[:0], s.high[:0]
	for i := 0; i < len(s.mask); i += 8 {
		for m := le.Uint64Short(s.mask[i:]); m != 0; m &= m - 1 {
			at := 8*i + bits.TrailingZeros64(m)
			s.pos = append(s.pos, uint64(at))
			s.high = append(s.high, uint64(int64(x[at])-base)&codes>>f.Width)
		}
	}
	return bitpack.AppendPatches(dst, s.pos, s.high, len(x), shape)
}

// High is the parameter that holds v, of size bits, beside its low bits: the
// first code of a run, Low.
func (f Frame) High(v int64, size uint) int64 {
	if f.Width >= size {
		return 0
	}
	return v >> f.Width
}

// Low is what High leaves of v.
func (f Frame) Low(v int64) uint64 { return uint64(v) & (^uint64(0) >> (64 - f.Width)) }

// Lead is the value that has Low of v for its code: with it before their
// differences, values become one run.
func (f Frame) Lead(v int64) int64 { return f.Base() + int64(f.Low(v)) }
