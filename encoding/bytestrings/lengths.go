package bytestrings

import (
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/internal/frame"
	"github.com/colsst/colsst/simd"
)

// maxLengthWidth is the widest packing of lengths, enough for a range of
// encoding.MaxValueBytes with any base.
const maxLengthWidth = 32

// appendLengths appends lens packed in a frame chosen after prev, and leaves
// in lens what is above the base. The sum of that is excess.
func appendLengths(dst []byte, lens []uint32, prev frame.Frame) (out []byte, f frame.Frame, excess int64) {
	if len(lens) == 0 {
		return dst, prev, 0
	}
	lo, hi := lens[0], lens[0]
	for _, n := range lens {
		lo, hi = min(lo, n), max(hi, n)
	}
	f = frame.Choose(int64(lo), int64(hi), len(lens), 64, prev)
	base := uint32(f.Base())
	for i, n := range lens {
		lens[i] = n - base
		excess += int64(n - base)
	}
	return simd.AppendPack32(dst, lens, f.Width), f, excess
}

// checkLengths checks the frame of n lengths, which may be none.
func checkLengths(part string, p, width int64, n int) (frame.Frame, error) {
	f, err := frame.Check(part, p, width, 0, 0, n, 64)
	if err != nil {
		return f, err
	}
	if base := f.Base(); f.Width > maxLengthWidth || base > encoding.MaxValueBytes || base < -(1<<f.Width-1) {
		return f, encoding.Corruptf(part, "%d lengths of %d and %d bits", n, base, f.Width)
	}
	return f, nil
}

// checkTotal is what n lengths in frame f sum to.
func checkTotal(part string, f frame.Frame, excess int64, n int) (int64, error) {
	if excess < 0 || uint64(excess) > uint64(n)*(1<<f.Width-1) {
		return 0, encoding.Corruptf(part, "%d lengths of %d bits sum to %d above their base", n, f.Width, excess)
	}
	total := int64(n)*f.Base() + excess
	if total < 0 || total > MaxData {
		return 0, encoding.Corruptf(part, "%d strings of %d bytes", n, total)
	}
	return total, nil
}

// packedLen is simd.PackedLen without overflow on 32-bit platforms.
func packedLen(n int, w uint) int64 { return int64((uint64(n)*uint64(w) + 7) / 8) }

// unpackLengths fills lens from src, which is long enough, and returns the sum
// above the base. Each length is 0 to encoding.MaxValueBytes.
func unpackLengths(part string, lens []uint32, src []byte, f frame.Frame) (excess int64, err error) {
	simd.Unpack32(lens, src, f.Width)
	base := f.Base()
	for i, u := range lens {
		excess += int64(u)
		n := base + int64(u)
		if n < 0 || n > encoding.MaxValueBytes {
			return 0, encoding.Corruptf(part, "string %d of %d bytes", i, n)
		}
		lens[i] = uint32(n)
	}
	return excess, nil
}
