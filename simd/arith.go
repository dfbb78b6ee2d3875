package simd

import (
	"math"
	"math/bits"
)

// Shift64 adds by to each value.
func Shift64(v []int64, by int64) {
	done := shift64(v, by)
	for i := range v[done:] {
		v[done+i] += by
	}
}

// Shift32 is Shift64 for 32 bits.
func Shift32(v []int32, by int32) {
	done := shift32(v, by)
	for i := range v[done:] {
		v[done+i] += by
	}
}

// Widen32 sets dst[i] to src[i]. dst is as long as src or longer.
func Widen32(dst []int64, src []int32) {
	dst = dst[:len(src):len(dst)]
	done := widen32(dst, src)
	for i, x := range src[done:] {
		dst[done+i] = int64(x)
	}
}

// AddProducts64 adds a*src[i] to dst[i]. src is as long as dst or longer.
func AddProducts64(dst, src []int64, a int64) {
	src = src[:len(dst):len(src)]
	done := addProducts64(dst, src, a)
	for i, x := range src[done:] {
		dst[done+i] += a * x
	}
}

// SubProducts64 sets dst[i] to src[i] - a*x[i], modulo 2^64, and returns the
// least and the greatest of them: MaxInt64 and MinInt64 if there are none. dst,
// which may be src, and x are as long as src or longer.
func SubProducts64(dst, src, x []int64, a int64) (least, greatest int64) {
	dst, x = dst[:len(src):len(dst)], x[:len(src):len(x)]
	done, least, greatest := subProducts64(dst, src, x, a)
	if done == 0 {
		least, greatest = MinMaxInt64(nil)
	}
	for i := done; i < len(src); i++ {
		v := src[i] - a*x[i]
		dst[i] = v
		least, greatest = min(least, v), max(greatest, v)
	}
	return least, greatest
}

// AddQuotients64 adds a*src[i]/d to dst[i]: the product, a signed integer
// modulo 2^64, divided by d, which is above 1, and rounded towards minus
// infinity. src is as long as dst or longer.
func AddQuotients64(dst, src []int64, a, d int64) { quotients64(dst, src, a, d, 0) }

// SubQuotients64 is AddQuotients64 with the quotients taken from dst.
func SubQuotients64(dst, src []int64, a, d int64) { quotients64(dst, src, a, d, -1) }

// quotients64 adds quotients where sign is 0, and takes them away where it is
// -1.
//
// With l the bits of d-1 and m = ceil(2^(63+l)/d), floor(u/d) is
// floor(u*m/2^(63+l)) for all u below 2^63 (Granlund and Montgomery, Division by
// Invariant Integers using Multiplication, 1994, theorem 4.2: m*d exceeds
// 2^(63+l) by at most 2^l). For x < 0, floor(x/d) is -1 - floor((-1-x)/d), and
// -1-x has all bits of x flipped.
func quotients64(dst, src []int64, a, d, sign int64) {
	src = src[:len(dst):len(src)]
	shift := uint(bits.Len64(uint64(d-1))) - 1
	m, rest := bits.Div64(1<<shift, 0, uint64(d))
	if rest != 0 {
		m++
	}
	done := addQuotients64(dst, src, a, m, uint64(shift), sign)
	for i, x := range src[done:] {
		x *= a
		below := x >> 63
		hi, _ := bits.Mul64(uint64(x^below), m)
		dst[done+i] += (int64(hi>>(shift&63)) ^ below ^ sign) - sign
	}
}

// Outside64 counts the values that are not among the 2^w, w at most 63, from
// from on, modulo 2^64.
func Outside64(src []int64, from int64, w uint) int {
	done, count := outside64(src, from, w)
	for _, v := range src[done:] {
		if uint64(v-from)>>w != 0 {
			count++
		}
	}
	return count
}

// Outside32 is Outside64 for 32 bits; w is at most 31.
func Outside32(src []int32, from int32, w uint) int {
	done, count := outside32(src, from, w)
	for _, v := range src[done:] {
		if uint32(v-from)>>w != 0 {
			count++
		}
	}
	return count
}

// Multiples64 reports whether all values are multiples of d, which is above 0.
func Multiples64(src []int64, d int64) bool {
	inverse, most, low := divisor(d)
	done, ok := multiples64(src, inverse, most, low)
	return ok && multiples(src[done:], inverse, most, low)
}

// Multiples32 is Multiples64 for 32 bits.
func Multiples32(src []int32, d int64) bool {
	inverse, most, low := divisor(d)
	return multiples(src, inverse, most, low)
}

// divisor is what tells multiples of d. With d = m << k, m odd, x times the
// inverse of m modulo 2^64 is x/m where m divides x: that makes all the numbers
// up to 2^63/m, so that others make others (Granlund and Montgomery, Division by
// Invariant Integers using Multiplication, 1994, section 9).
func divisor(d int64) (inverse, most, low int64) {
	k := bits.TrailingZeros64(uint64(d))
	m := d >> k
	low = int64(1)<<k - 1
	if m == 1 {
		return 0, 0, low
	}
	inverse = m // correct in 3 bits, then in twice as many each time
	for range 5 {
		inverse *= 2 - m*inverse
	}
	return inverse, math.MaxInt64 / m, low
}

func multiples[I int32 | int64](src []I, inverse, most, low int64) bool {
	for _, v := range src {
		if x := int64(v); x&low != 0 || uint64(x*inverse+most) > uint64(2*most) {
			return false
		}
	}
	return true
}
