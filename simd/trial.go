package simd

import "math"

// round is added to a float64 of at most Limit64 and taken away again to round
// it to an integer, ties to even.
const round = 1<<52 + 1<<51

// Decimals64 looks for the integers whose decimals the floats are. With
//
//	x = src[i] * up * down, each product rounded
//	r = the integer from -Limit64 to Limit64 that is next to x, of two the even one
//
// value i is a decimal if the bits of r*back*scale are those of src[i]. ints[i] is then r, and else 0; bit i%8 of exceptions[i/8]
// says that it is none, and bits beyond the last value are 0. count is the
// number of exceptions; least and greatest are those of the other integers, or
// MaxInt64 and MinInt64 if there are none. ints is as long as src or longer,
// and exceptions holds a bit for each.
func Decimals64(ints []int64, exceptions []byte, src []float64, up, down, back, scale float64) (count int, least, greatest int64) {
	n := len(src)
	ints, exceptions = ints[:n:len(ints)], exceptions[:(n+7)/8:len(exceptions)]
	done, count, least, greatest := decimals64(ints, exceptions, src, up, down, back, scale)
	if count == done {
		least, greatest = math.MaxInt64, math.MinInt64
	}
	clear(exceptions[(done+7)/8:])
	for i, v := range src[done:] {
		x := float64(float64(v*up) * down)
		r := bound(float64(x+round)-round, x, Limit64)
		if math.Float64bits(float64(r*back)*scale) == math.Float64bits(v) {
			d := int64(r)
			ints[done+i] = d
			least, greatest = min(least, d), max(greatest, d)
			continue
		}
		ints[done+i] = 0
		exceptions[(done+i)/8] |= 1 << ((done + i) & 7)
		count++
	}
	return count, least, greatest
}

// Trial64 is Decimals64 without the integers and the exceptions.
func Trial64(src []float64, up, down, back, scale float64) (count int, least, greatest int64) {
	done, count, least, greatest := trial64(src, up, down, back, scale)
	if count == done {
		least, greatest = math.MaxInt64, math.MinInt64
	}
	for _, v := range src[done:] {
		x := float64(float64(v*up) * down)
		r := bound(float64(x+round)-round, x, Limit64)
		if math.Float64bits(float64(r*back)*scale) == math.Float64bits(v) {
			d := int64(r)
			least, greatest = min(least, d), max(greatest, d)
			continue
		}
		count++
	}
	return count, least, greatest
}

// Decimals32 is Decimals64 for float32 values, with Limit32: products are of
// float64, and the last of them is rounded to float32.
func Decimals32(ints []int32, exceptions []byte, src []float32, up, down, back, scale float64) (count int, least, greatest int64) {
	n := len(src)
	ints, exceptions = ints[:n:len(ints)], exceptions[:(n+7)/8:len(exceptions)]
	done, count, least, greatest := decimals32(ints, exceptions, src, up, down, back, scale)
	if count == done {
		least, greatest = math.MaxInt64, math.MinInt64
	}
	clear(exceptions[(done+7)/8:])
	for i, v := range src[done:] {
		x := float64(float64(float64(v)*up) * down)
		r := bound(float64(x+round)-round, x, Limit32)
		if math.Float32bits(float32(float64(r*back)*scale)) == math.Float32bits(v) {
			d := int64(r)
			ints[done+i] = int32(d)
			least, greatest = min(least, d), max(greatest, d)
			continue
		}
		ints[done+i] = 0
		exceptions[(done+i)/8] |= 1 << ((done + i) & 7)
		count++
	}
	return count, least, greatest
}

// Trial32 is Decimals32 without the integers and the exceptions.
func Trial32(src []float32, up, down, back, scale float64) (count int, least, greatest int64) {
	done, count, least, greatest := trial32(src, up, down, back, scale)
	if count == done {
		least, greatest = math.MaxInt64, math.MinInt64
	}
	for _, v := range src[done:] {
		x := float64(float64(float64(v)*up) * down)
		r := bound(float64(x+round)-round, x, Limit32)
		if math.Float32bits(float32(float64(r*back)*scale)) == math.Float32bits(v) {
			d := int64(r)
			least, greatest = min(least, d), max(greatest, d)
			continue
		}
		count++
	}
	return count, least, greatest
}

// bound is r, which x was rounded to, or the limit that x lies beyond: the upper
// one for NaN.
func bound(r, x, limit float64) float64 {
	switch {
	case math.Abs(x) <= limit:
		return r
	case x < 0:
		return -limit
	}
	return limit
}
