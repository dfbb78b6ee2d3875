package simd

import "math/bits"

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
