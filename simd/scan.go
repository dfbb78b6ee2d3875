package simd

import "math"

// Deltas64 sets dst[i] to src[i+1] - src[i], modulo 2^64, for all but the last
// value, and returns the least and the greatest of them: MaxInt64 and MinInt64
// if there are none. dst holds at least len(src)-1 values.
func Deltas64(dst, src []int64) (least, greatest int64) {
	least, greatest = math.MaxInt64, math.MinInt64
	if len(src) < 2 {
		return least, greatest
	}
	dst = dst[: len(src)-1 : len(dst)]
	done, lo, hi := deltas64(dst, src)
	if done > 0 {
		least, greatest = lo, hi
	}
	for i := done; i < len(dst); i++ {
		d := src[i+1] - src[i]
		dst[i] = d
		least, greatest = min(least, d), max(greatest, d)
	}
	return least, greatest
}

// Deltas32 is Deltas64 for 32 bits.
func Deltas32(dst, src []int32) (least, greatest int32) {
	least, greatest = math.MaxInt32, math.MinInt32
	if len(src) < 2 {
		return least, greatest
	}
	dst = dst[: len(src)-1 : len(dst)]
	done, lo, hi := deltas32(dst, src)
	if done > 0 {
		least, greatest = lo, hi
	}
	for i := done; i < len(dst); i++ {
		d := src[i+1] - src[i]
		dst[i] = d
		least, greatest = min(least, d), max(greatest, d)
	}
	return least, greatest
}

// Order64 sets dst[i] to an integer that is ordered as the floats are, NaNs
// by their bits outside of the infinities: the bits b of the float, read as an
// integer, shifted right by zeros with their sign, and where b is below 0 with
// the 63-zeros lowest bits then flipped. zeros is at most 63; the low bits that
// it shifts out are lost, unless they are zero. It returns the least and the
// greatest integer, or MaxInt64 and MinInt64 if there are none.
func Order64(dst []int64, src []float64, zeros uint) (least, greatest int64) {
	dst = dst[:len(src):len(dst)]
	least, greatest = math.MaxInt64, math.MinInt64
	done, lo, hi := order64(dst, src, zeros)
	if done > 0 {
		least, greatest = lo, hi
	}
	for i, v := range src[done:] {
		b := int64(math.Float64bits(v))
		x := (b ^ int64(uint64(b>>63)>>1)) >> zeros
		dst[done+i] = x
		least, greatest = min(least, x), max(greatest, x)
	}
	return least, greatest
}

// Order32 is Order64 for 32 bits.
func Order32(dst []int32, src []float32, zeros uint) (least, greatest int32) {
	dst = dst[:len(src):len(dst)]
	least, greatest = math.MaxInt32, math.MinInt32
	done, lo, hi := order32(dst, src, zeros)
	if done > 0 {
		least, greatest = lo, hi
	}
	for i, v := range src[done:] {
		b := int32(math.Float32bits(v))
		x := (b ^ int32(uint32(b>>31)>>1)) >> zeros
		dst[done+i] = x
		least, greatest = min(least, x), max(greatest, x)
	}
	return least, greatest
}

// MinMaxInt64 returns the least and the greatest value: MaxInt64 and MinInt64
// if there are none.
func MinMaxInt64(src []int64) (least, greatest int64) {
	least, greatest = math.MaxInt64, math.MinInt64
	done, lo, hi := minMaxInt64(src)
	if done > 0 {
		least, greatest = lo, hi
	}
	for _, v := range src[done:] {
		least, greatest = min(least, v), max(greatest, v)
	}
	return least, greatest
}

// MinMaxInt32 is MinMaxInt64 for int32.
func MinMaxInt32(src []int32) (least, greatest int32) {
	least, greatest = math.MaxInt32, math.MinInt32
	done, lo, hi := minMaxInt32(src)
	if done > 0 {
		least, greatest = lo, hi
	}
	for _, v := range src[done:] {
		least, greatest = min(least, v), max(greatest, v)
	}
	return least, greatest
}

// Ascents64 counts the values of src that are greater than the one before, each
// with the bits of flip turned.
func Ascents64(src []int64, flip int64) int {
	done, count := ascents64(src, flip)
	for i := done + 1; i < len(src); i++ {
		if src[i]^flip > src[i-1]^flip {
			count++
		}
	}
	return count
}

// Ascents32 is Ascents64 for 32 bits.
func Ascents32(src []int32, flip int32) int {
	done, count := ascents32(src, flip)
	for i := done + 1; i < len(src); i++ {
		if src[i]^flip > src[i-1]^flip {
			count++
		}
	}
	return count
}

// MinMaxFloat64 counts the NaNs of src and returns the least and the greatest
// other value, -0.0 being less than 0.0: +Inf and -Inf if there are none.
func MinMaxFloat64(src []float64) (least, greatest float64, nans int) {
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	done, a, b, nans := minMaxFloat64(src)
	if done > 0 {
		lo, hi = a, b
	}
	for _, v := range src[done:] {
		if v != v {
			nans++
			continue
		}
		b := int64(math.Float64bits(v))
		x := b ^ int64(uint64(b>>63)>>1)
		lo, hi = min(lo, x), max(hi, x)
	}
	if nans == len(src) {
		return math.Inf(1), math.Inf(-1), nans
	}
	return unorder64(lo, math.MaxInt64, 0), unorder64(hi, math.MaxInt64, 0), nans
}

// MinMaxFloat32 is MinMaxFloat64 for float32.
func MinMaxFloat32(src []float32) (least, greatest float32, nans int) {
	lo, hi := int32(math.MaxInt32), int32(math.MinInt32)
	done, a, b, nans := minMaxFloat32(src)
	if done > 0 {
		lo, hi = a, b
	}
	for _, v := range src[done:] {
		if v != v {
			nans++
			continue
		}
		b := int32(math.Float32bits(v))
		x := b ^ int32(uint32(b>>31)>>1)
		lo, hi = min(lo, x), max(hi, x)
	}
	if nans == len(src) {
		return float32(math.Inf(1)), float32(math.Inf(-1)), nans
	}
	return unorder32(lo, math.MaxInt32, 0), unorder32(hi, math.MaxInt32, 0), nans
}
