// Package constant is the encoding of a chunk whose values are all the same.
//
// # Layout
//
//	parameter 0   the value; of a float its bits: a float64's as the signed
//	              integer of the same bits, a float32's from 0 to 2^32-1
//	body          empty
//
// Values are the same if their bits are: 0.0 and -0.0 differ, and so do NaNs
// with other payloads. A chunk of no values is constant, with parameter 0
// zero.
package constant

import (
	"math"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/simd"
)

const part = "constant"

// Int64 reports whether the values of src are all the same, and if so sets
// all of *p. The body is empty.
func Int64(src []int64, p *encoding.Params) bool {
	if n := len(src); n > 0 {
		if src[0] != src[n-1] || simd.Outside64(src, src[0], 0) > 0 {
			return false
		}
		*p = encoding.Params{src[0]}
		return true
	}
	*p = encoding.Params{}
	return true
}

// Int32 is Int64 for four-byte integers.
func Int32(src []int32, p *encoding.Params) bool {
	if n := len(src); n > 0 {
		if src[0] != src[n-1] || simd.Outside32(src, src[0], 0) > 0 {
			return false
		}
		*p = encoding.Params{int64(src[0])}
		return true
	}
	*p = encoding.Params{}
	return true
}

// Float64 is Int64 for float64, by bits.
func Float64(src []float64, p *encoding.Params) bool {
	return same(src, p, func(v float64) int64 { return int64(math.Float64bits(v)) })
}

// Float32 is Int64 for float32, by bits.
func Float32(src []float32, p *encoding.Params) bool {
	return same(src, p, func(v float32) int64 { return int64(math.Float32bits(v)) })
}

func same[T any](src []T, p *encoding.Params, param func(T) int64) bool {
	var first int64
	if len(src) > 0 {
		first = param(src[0])
	}
	for _, v := range src {
		if param(v) != first {
			return false
		}
	}
	*p = encoding.Params{first}
	return true
}

// Int64Len is the length of the body, which is 0. It fails on parameters that
// Int64 does not set.
func Int64Len(p *encoding.Params, n int) (int, error) {
	return 0, check(p, math.MinInt64, math.MaxInt64)
}

// Int32Len is Int64Len for four-byte integers.
func Int32Len(p *encoding.Params, n int) (int, error) {
	return 0, check(p, math.MinInt32, math.MaxInt32)
}

// Float64Len is Int64Len for float64.
func Float64Len(p *encoding.Params, n int) (int, error) {
	return 0, check(p, math.MinInt64, math.MaxInt64)
}

// Float32Len is Int64Len for float32.
func Float32Len(p *encoding.Params, n int) (int, error) {
	return 0, check(p, 0, math.MaxUint32)
}

func check(p *encoding.Params, least, most int64) error {
	if *p != (encoding.Params{p[0]}) || p[0] < least || p[0] > most {
		return encoding.Corruptf(part, "parameters %v", *p)
	}
	return nil
}

// DecodeInt64 fills dst with the value of p. It fails, with dst as it was, on
// parameters that Int64Len refuses.
func DecodeInt64(dst []int64, p *encoding.Params) error {
	if _, err := Int64Len(p, len(dst)); err != nil {
		return err
	}
	fill(dst, p[0])
	return nil
}

// DecodeInt32 is DecodeInt64 for four-byte integers.
func DecodeInt32(dst []int32, p *encoding.Params) error {
	if _, err := Int32Len(p, len(dst)); err != nil {
		return err
	}
	fill(dst, int32(p[0]))
	return nil
}

// DecodeFloat64 is DecodeInt64 for float64.
func DecodeFloat64(dst []float64, p *encoding.Params) error {
	if _, err := Float64Len(p, len(dst)); err != nil {
		return err
	}
	fill(dst, math.Float64frombits(uint64(p[0])))
	return nil
}

// DecodeFloat32 is DecodeInt64 for float32.
func DecodeFloat32(dst []float32, p *encoding.Params) error {
	if _, err := Float32Len(p, len(dst)); err != nil {
		return err
	}
	fill(dst, math.Float32frombits(uint32(p[0])))
	return nil
}

func fill[T any](dst []T, v T) {
	for i := range dst {
		dst[i] = v
	}
}
