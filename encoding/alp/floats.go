package alp

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/colsst/colsst/encoding/internal/frame"
	"github.com/colsst/colsst/simd"
)

// What is done to floats, by their type.

type float interface{ float32 | float64 }

// appendRaw appends floats, little-endian.
func appendRaw[F float](dst []byte, src []F) []byte {
	switch src := any(src).(type) {
	case []float64:
		for _, x := range src {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
		}
	case []float32:
		for _, x := range src {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
		}
	}
	return dst
}

// patterns are the bits of floats, in dst where there is room.
func patterns[F float](dst []uint64, src []F) []uint64 {
	dst = resize(dst, len(src))
	switch src := any(src).(type) {
	case []float64:
		for i := range dst {
			dst[i] = math.Float64bits(src[i])
		}
	case []float32:
		for i := range dst {
			dst[i] = uint64(math.Float32bits(src[i]))
		}
	}
	return dst
}

// zeros is the number of low bits that are zero in all floats, 0 where all bits
// are.
func zeros[F float](src []F) uint {
	var all uint64
	switch src := any(src).(type) {
	case []float64:
		for _, x := range src {
			if all |= math.Float64bits(x); all&1 != 0 {
				return 0
			}
		}
	case []float32:
		for _, x := range src {
			if all |= uint64(math.Float32bits(x)); all&1 != 0 {
				return 0
			}
		}
	}
	return uint(bits.TrailingZeros64(all)) & 63
}

// order sets r to the order-keeping integers of src without z low bits.
func order[F float, I frame.Integer](r *run[I], src []F, z uint) {
	switch src := any(src).(type) {
	case []float64:
		r.lo, r.hi = simd.Order64(any(r.v).([]int64), src, z)
	case []float32:
		lo, hi := simd.Order32(any(r.v).([]int32), src, z)
		r.lo, r.hi = int64(lo), int64(hi)
	}
}

// differences sets r, from its second value on, to those of neighbours in v.
func differences[I frame.Integer](r *run[I], v []I) {
	r.lo, r.hi = 0, 0
	if len(v) == 1 {
		return
	}
	switch v := any(v).(type) {
	case []int64:
		r.lo, r.hi = simd.Deltas64(any(r.v).([]int64)[1:], v)
	case []int32:
		lo, hi := simd.Deltas32(any(r.v).([]int32)[1:], v)
		r.lo, r.hi = int64(lo), int64(hi)
	}
}

// decimals sets r to the integers of src with pair p, its extremes to those of
// them that give the same bits back, and the bits of mask for the others, whose
// number it returns.
func decimals[F float, I frame.Integer](r *run[I], mask []byte, src []F, p pair) (exceptions int) {
	up, down, back, scale := pow10[p.e], inv10[p.f], pow10[p.f], inv10[p.e]
	switch src := any(src).(type) {
	case []float64:
		exceptions, r.lo, r.hi = simd.Decimals64(any(r.v).([]int64), mask, src, up, down, back, scale)
	case []float32:
		exceptions, r.lo, r.hi = simd.Decimals32(any(r.v).([]int32), mask, src, up, down, back, scale)
	}
	return exceptions
}

// trial is decimals without the integers.
func trial[F float](src []F, p pair) (exceptions int, lo, hi int64) {
	up, down, back, scale := pow10[p.e], inv10[p.f], pow10[p.f], inv10[p.e]
	switch src := any(src).(type) {
	case []float64:
		return simd.Trial64(src, up, down, back, scale)
	case []float32:
		return simd.Trial32(src, up, down, back, scale)
	}
	return 0, 0, 0
}

// multiples reports whether d divides all integers; those of exceptions are 0.
func multiples[I frame.Integer](ints []I, d int64) bool {
	switch ints := any(ints).(type) {
	case []int64:
		return simd.Multiples64(ints, d)
	case []int32:
		return simd.Multiples32(ints, d)
	}
	return false
}
