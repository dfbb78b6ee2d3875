package deltadelta

import "github.com/colsst/colsst/simd"

// The kernels of package simd by the type of their values.

// codes are the codes of int64 or of int32 values.
type codes struct {
	wide   simd.Codes64
	narrow simd.Codes32
}

func isNarrow[T integer]() bool { return T(1)<<31 < 0 }

func add[T integer](dst []T, c *codes, add T) {
	switch dst := any(dst).(type) {
	case []int64:
		simd.Add64(dst, &c.wide, int64(add))
	case []int32:
		simd.Add32(dst, &c.narrow, int32(add))
	}
}

func ramp[T integer](dst []T, c *codes, start, step T) {
	switch dst := any(dst).(type) {
	case []int64:
		simd.Ramp64(dst, &c.wide, int64(start), int64(step))
	case []int32:
		simd.Ramp32(dst, &c.narrow, int32(start), int32(step))
	}
}

func sum[T integer](dst []T, c *codes, first, add T) {
	switch dst := any(dst).(type) {
	case []int64:
		simd.Sum64(dst, &c.wide, int64(first), int64(add))
	case []int32:
		simd.Sum32(dst, &c.narrow, int32(first), int32(add))
	}
}

func accumulate[T integer](v []T) {
	switch v := any(v).(type) {
	case []int64:
		simd.Accumulate64(v, 0)
	case []int32:
		simd.Accumulate32(v, 0)
	}
}

func shift[T integer](v []T, by T) {
	switch v := any(v).(type) {
	case []int64:
		simd.Shift64(v, int64(by))
	case []int32:
		simd.Shift32(v, int32(by))
	}
}

func fill[T integer](dst []T, start, step T) {
	switch dst := any(dst).(type) {
	case []int64:
		simd.Fill64(dst, int64(start), int64(step))
	case []int32:
		simd.Fill32(dst, int32(start), int32(step))
	}
}

// deltas sets dst[i] to src[i+1] - src[i] and returns the least and the
// greatest.
func deltas[T integer](dst, src []T) (least, greatest T) {
	switch src := any(src).(type) {
	case []int64:
		lo, hi := simd.Deltas64(any(dst).([]int64), src)
		return T(lo), T(hi)
	case []int32:
		lo, hi := simd.Deltas32(any(dst).([]int32), src)
		return T(lo), T(hi)
	}
	return 0, 0
}

func extremes[T integer](v []T) (least, greatest T) {
	switch v := any(v).(type) {
	case []int64:
		lo, hi := simd.MinMaxInt64(v)
		return T(lo), T(hi)
	case []int32:
		lo, hi := simd.MinMaxInt32(v)
		return T(lo), T(hi)
	}
	return 0, 0
}

// subRamp sets dst[i] to src[i] - start - i*step and returns the least and the
// greatest.
func subRamp[T integer](dst, src []T, start, step T) (least, greatest T) {
	switch src := any(src).(type) {
	case []int64:
		lo, hi := simd.SubRamp64(any(dst).([]int64), src, int64(start), int64(step))
		return T(lo), T(hi)
	case []int32:
		lo, hi := simd.SubRamp32(any(dst).([]int32), src, int32(start), int32(step))
		return T(lo), T(hi)
	}
	return 0, 0
}

// outliers sets the bits of mask for the values outside of from to from+span.
func outliers[T integer](mask []byte, v []T, from T, span uint64) {
	switch v := any(v).(type) {
	case []int64:
		simd.Outliers64(mask, v, int64(from), span)
	case []int32:
		simd.Outliers32(mask, v, int32(from), uint32(span))
	}
}
