package sstabledump

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/big"
	mathbits "math/bits"
	"strconv"

	"github.com/colsst/colsst/rowgroup"
)

// appendFloat appends a floating point number of 32 or 64 bits as Java prints
// it up to version 18, Cassandra 5.0 running on 11 and 17: without an exponent
// from 0.001 to 10,000,000, at least one digit behind the point. The digits are
// as many as tell the number from its neighbours, with exceptions, of which
// javaDigits knows.
func appendFloat(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.Signbit(f):
		dst, f = append(dst, '-'), -f
	}
	switch {
	case math.IsInf(f, 0):
		return append(dst, "Infinity"...)
	case f == 0:
		return append(dst, "0.0"...)
	}
	if bits == 64 && f >= 1e-3 && f < 1e7 {
		// Fewer than 16 digits that make the same number are its digits.
		const places = 10_000
		if n := uint64(float64(f*places) + 0.5); float64(n)/places == f {
			dst = strconv.AppendUint(dst, n/places, 10)
			if n %= places; n%1000 == 0 {
				return append(dst, '.', byte('0'+n/1000))
			}
			dst = append(dst, '.', byte('0'+n/1000), byte('0'+n/100%10), byte('0'+n/10%10), byte('0'+n%10))
			for dst[len(dst)-1] == '0' {
				dst = dst[:len(dst)-1]
			}
			return dst
		}
	}
	var buf [32]byte
	digits, exponent := javaDigits(buf[:0], f, bits)
	n := len(digits)
	switch {
	case exponent > -3 && exponent <= 0: // 0.00ddd
		dst = append(append(dst, "0."...), "00"[:-exponent]...)
		return append(dst, digits...)
	case exponent > 0 && exponent < 8:
		if n <= exponent {
			dst = append(append(dst, digits...), "0000000"[:exponent-n]...)
			return append(dst, ".0"...)
		}
		return append(append(append(dst, digits[:exponent]...), '.'), digits[exponent:]...)
	}
	dst = append(dst, digits[0], '.')
	if n > 1 {
		dst = append(dst, digits[1:]...)
	} else {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(append(dst, 'E'), int64(exponent-1), 10)
}

// javaDigits appends the digits of f > 0 to dst; f is 0.digits * 10^exponent.
// They are those of Steele and White: digits of b/s until what is left is less
// than m/s, half the distance of f to its neighbours, which for a power of two
// is taken from the nearer one. Where b and s are small, sums of theirs may
// overflow, and the last digit is not always the nearest.
func javaDigits(dst []byte, f float64, bits int) (digits []byte, exponent int) {
	fraction, power := math.Frexp(f) // 0.5 <= fraction < 1
	power--                          // f = 1.x * 2^power
	precision, least := 53, -1022
	if bits == 32 {
		precision, least = 24, -126
	}
	if power < 63 && f == math.Trunc(f) {
		return integerDigits(dst, uint64(f), power-1-precision)
	}
	subnormal := power < least
	if subnormal {
		precision -= least - power
	}
	mantissa := uint64(fraction * (1 << 53))
	r := newRatio(mantissa, power, precision)
	switch {
	case r.bBits < 32 && r.tenSBits < 32:
		b, s, m := r.small()
		return smallDigits(dst, int32(b), int32(s), int32(m), r.exponent)
	case r.bBits < 64 && r.tenSBits < 64:
		b, s, m := r.small()
		return smallDigits(dst, b, s, m, r.exponent)
	case subnormal || r.mantissa == 1 || power >= 63 && power < 80: // even digits half-way between neighbours are there only
		return r.largeDigits(dst)
	}
	return splitDigits(strconv.AppendFloat(dst, f, 'e', -1, bits))
}

// ratio is b/s and m/s as products of powers, b/s being from 1 to 10 or, where
// the exponent is estimated too high, less.
type ratio struct {
	exponent        int // of 10
	mantissa        uint64
	b2, b5          int // b = mantissa * 2^b2 * 5^b5
	s2, s5          int
	m2              int // m = 2^m2 * 5^b5
	bBits, tenSBits int // at least as many as b and 10 s have
}

// newRatio makes one of mantissa * 2^(power-52), mantissa having 53 bits.
func newRatio(mantissa uint64, power, precision int) ratio {
	// Above the logarithm, by the tangent at 1.5.
	x := float64(float64(mantissa)/(1<<52) - 1.5)
	log := float64(x*0.289529654) + 0.176091259
	log += float64(float64(power) * 0.301029995663981)
	zeros := mathbits.TrailingZeros64(mantissa)
	length := 53 - zeros
	below := max(0, length-power-1) // bits behind the point
	r := ratio{exponent: int(math.Floor(log)), mantissa: mantissa >> zeros}
	r.b5, r.s5 = max(0, -r.exponent), max(0, r.exponent)
	r.b2, r.s2 = r.b5+below+power, r.s5+below
	r.m2 = r.b2 - precision
	r.b2 -= length - 1
	common := min(r.b2, r.s2)
	if r.mantissa == 1 {
		r.m2--
	}
	common = min(common, r.m2)
	r.b2, r.s2, r.m2 = r.b2-common, r.s2-common, r.m2-common
	r.bBits, r.tenSBits = length+r.b2+bitsOf5(r.b5), r.s2+1+bitsOf5(r.s5+1)
	return r
}

// bitsOf5 is the length of 5^n, which for large n is taken for more.
func bitsOf5(n int) int {
	switch {
	case n == 0:
		return 0
	case n < 27:
		return mathbits.Len64(powersOf5[n])
	}
	return 3 * n
}

var powersOf5 = func() (p [28]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = 5 * p[i-1]
	}
	return p
}()

// small are b, s and m where bBits and tenSBits are less than 64.
func (r *ratio) small() (b, s, m int64) {
	five := powersOf5[r.b5]
	return int64(r.mantissa * five << r.b2), int64(powersOf5[r.s5] << r.s2), int64(five << r.m2)
}

// inE reports whether a number is written with an exponent: then it has two
// digits at least.
func inE(exponent int) bool { return exponent < -3 || exponent >= 8 }

// smallDigits makes digits with integers of fixed length.
func smallDigits[T int32 | int64](dst []byte, b, s, m T, exponent int) ([]byte, int) {
	tens := 10 * s
	q := b / s
	b, m = 10*(b%s), 10*m
	low, high := b < m, b+m > tens
	if q == 0 && !high {
		exponent--
	} else {
		dst = append(dst, byte('0'+q))
	}
	if inE(exponent) {
		low, high = false, false
	}
	for !low && !high {
		q = b / s
		b, m = 10*(b%s), 10*m
		low, high = true, true
		if m > 0 {
			low, high = b < m, b+m > tens
		}
		dst = append(dst, byte('0'+q))
	}
	return lastDigit(dst, low, high, cmp.Compare(2*b-tens, 0), exponent)
}

// largeDigits makes digits with integers of any length.
func (r *ratio) largeDigits(dst []byte) ([]byte, int) {
	power := func(twos, fives int) *big.Int {
		x := new(big.Int).Exp(big.NewInt(5), big.NewInt(int64(fives)), nil)
		return x.Lsh(x, uint(twos))
	}
	b, s, m := power(r.b2, r.b5), power(r.s2, r.s5), power(r.m2, r.b5)
	b.Mul(b, new(big.Int).SetUint64(r.mantissa))
	ten, q, sum := big.NewInt(10), new(big.Int), new(big.Int)
	tens := new(big.Int).Mul(s, ten)
	exponent := r.exponent
	next := func() (digit byte, low, high bool) {
		q.QuoRem(b, s, b)
		b.Mul(b, ten)
		m.Mul(m, ten)
		return byte('0' + q.Uint64()), b.Cmp(m) < 0, sum.Add(b, m).Cmp(tens) >= 0
	}
	digit, low, high := next()
	if digit == '0' && !high {
		exponent--
	} else {
		dst = append(dst, digit)
	}
	if inE(exponent) {
		low, high = false, false
	}
	for !low && !high {
		digit, low, high = next()
		dst = append(dst, digit)
	}
	return lastDigit(dst, low, high, sum.Lsh(b, 1).Cmp(tens), exponent)
}

// lastDigit rounds digits of a number of that exponent by what follows: twice as
// much as ten, more or less.
func lastDigit(dst []byte, low, high bool, twice, exponent int) (digits []byte, _ int) {
	exponent++
	if high && (!low || twice > 0 || twice == 0 && (dst[len(dst)-1]-'0')%2 == 1) {
		dst, exponent = increment(dst, exponent)
	}
	for len(dst) > 1 && dst[0] == '0' {
		dst = dst[1:]
		exponent--
	}
	for len(dst) > 1 && dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst, exponent
}

// splitDigits takes d.dde-dd apart.
func splitDigits(b []byte) (digits []byte, exponent int) {
	e := len(b) - 1
	for b[e] != 'e' {
		e--
	}
	for _, c := range b[e+2:] {
		exponent = 10*exponent + int(c-'0')
	}
	if b[e+1] == '-' {
		exponent = -exponent
	}
	if e == 1 {
		return b[:1], exponent + 1
	}
	copy(b[1:], b[2:e])
	return b[:e-1], exponent + 1
}

// integerDigits are the digits of a whole number below 2^63, of which the last
// do not count where excess bits do not, so far as they make whole digits.
func integerDigits(dst []byte, u uint64, excess int) (digits []byte, exponent int) {
	if excess > 1 {
		unit := uint64(1)
		for d := excess * 1233 >> 12; d > 0; d-- { // the whole digits of 2^excess
			unit *= 10
			exponent++
		}
		rest := u % unit
		u /= unit
		if exponent > 0 && rest >= unit/2 {
			u++
		}
	}
	dst = strconv.AppendUint(dst, u, 10)
	exponent += len(dst)
	for len(dst) > 1 && dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst, exponent
}

func increment(digits []byte, exponent int) ([]byte, int) {
	for i := len(digits) - 1; i >= 0; i-- {
		if digits[i] < '9' {
			digits[i]++
			return digits, exponent
		}
		digits[i] = '0'
	}
	digits[0] = '1'
	return digits, exponent + 1
}

// appendDecimal appends a decimal as Java's BigDecimal does, and reports
// whether b is one.
func appendDecimal(dst, b []byte) ([]byte, bool) {
	if len(b) < 5 {
		return dst, false
	}
	scale := int64(int32(binary.BigEndian.Uint32(b)))
	digits := rowgroup.AppendText(nil, rowgroup.Varint, b[4:])
	if scale == 0 {
		return append(dst, digits...), true
	}
	if digits[0] == '-' {
		dst, digits = append(dst, '-'), digits[1:]
	}
	adjusted := int64(len(digits)) - 1 - scale
	if scale > 0 && adjusted >= -6 {
		if point := int64(len(digits)) - scale; point > 0 {
			return append(append(append(dst, digits[:point]...), '.'), digits[point:]...), true
		}
		dst = append(dst, "0."...)
		for range scale - int64(len(digits)) {
			dst = append(dst, '0')
		}
		return append(dst, digits...), true
	}
	dst = append(dst, digits[0])
	if len(digits) > 1 {
		dst = append(append(dst, '.'), digits[1:]...)
	}
	if adjusted == 0 {
		return dst, true
	}
	dst = append(dst, 'E')
	if adjusted > 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, adjusted, 10), true
}
