package frame

import (
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bitpack"
	"github.com/colsst/colsst/simd"
)

// Terms gives the arithmetic of decoding: code u stands for
// add + int64(u^flip).
func (f Frame) Terms() (add int64, flip uint64) {
	if f.PatchWidth < 0 {
		flip = 1 << (int(f.Width) - f.PatchWidth - 1)
	}
	return f.Base() - int64(flip), flip
}

// Codes64 are the n codes of the run that body begins with. The first ones, as
// many as lows, hold the low bits of first values: they must not be patched.
// Codes with patches are unpacked into *scratch, which grows to what they need,
// others stay where they are. The error is a CorruptError about part.
func (f *Frame) Codes64(part string, body []byte, n, lows int, scratch *[]uint64) (simd.Codes64, error) {
	if f.Patches == 0 {
		return simd.Packed64(body, f.Width), nil
	}
	u := room(scratch, n)
	_, flip := f.Terms()
	return simd.Plain64(u, flip), unpack(f, part, u, body, lows)
}

// Codes32 is Codes64 for columns of 32 bits.
func (f *Frame) Codes32(part string, body []byte, n, lows int, scratch *[]uint32) (simd.Codes32, error) {
	if f.Patches == 0 {
		return simd.Packed32(body, f.Width), nil
	}
	u := room(scratch, n)
	_, flip := f.Terms()
	return simd.Plain32(u, uint32(flip)), unpack(f, part, u, body, lows)
}

func room[U uint32 | uint64](scratch *[]U, n int) []U {
	if len(*scratch) < n {
		*scratch = make([]U, n)
	}
	return (*scratch)[:n]
}

// unpack is for a frame with patches.
func unpack[U uint32 | uint64](f *Frame, part string, u []U, body []byte, lows int) error {
	if err := bitpack.Decode(part, u, body[:f.Len(len(u))], f.Shape()); err != nil {
		return err
	}
	for i, x := range u[:lows] {
		if uint64(x) != f.Low(int64(x)) {
			return encoding.Corruptf(part, "code %d is patched, but holds the low bits of a first value", i)
		}
	}
	return nil
}

// Append appends the run of the values x, for which the frame was chosen. codes
// is scratch as long as x.
func Append[T Integer](dst []byte, f Frame, x []T, codes []uint64) []byte {
	if f.Patches == 0 {
		switch x := any(x).(type) {
		case []int64:
			return simd.AppendPackRamp64(dst, x, f.Width, f.Base(), 0)
		case []int32:
			return simd.AppendPackRamp32(dst, x, f.Width, int32(f.Base()), 0)
		}
	}
	shape := f.Shape()
	mask := ^uint64(0) >> (64 - shape.Width - shape.PatchWidth)
	base := f.Base()
	codes = codes[:len(x)]
	for i, v := range x {
		codes[i] = uint64(int64(v)-base) & mask
	}
	return bitpack.Append(dst, codes, shape)
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
