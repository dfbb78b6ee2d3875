package simd

import "math"

// Add32 is Add64 for 32 bits.
func Add32(dst []int32, c *Codes32, add int32) {
	c.check(len(dst))
	done := 0
	if c.packed != nil {
		done = packedAdd32(dst, c.packed, c.width, add)
	} else {
		done = plainAdd32(dst, c.plain, add)
	}
	if done < len(dst) {
		var buf [someCodes]uint32
		for done < len(dst) {
			u := c.next(&buf, done, len(dst))
			d := dst[done : done+len(u)]
			k := plainAdd32(d, u, add)
			v := u[k:]
			d = d[k:][:len(v)]
			for i, x := range v {
				d[i] = add + int32(x)
			}
			done += len(u)
		}
	}
}

// Ramp32 is Ramp64 for 32 bits.
func Ramp32(dst []int32, c *Codes32, start, step int32) {
	c.check(len(dst))
	done := 0
	if c.packed != nil {
		done = packedRamp32(dst, c.packed, c.width, start, step)
		start += int32(done) * step
	} else {
		done = plainRamp32(dst, c.plain, start, step)
		start += int32(done) * step
	}
	if done < len(dst) {
		var buf [someCodes]uint32
		for done < len(dst) {
			u := c.next(&buf, done, len(dst))
			d := dst[done : done+len(u)]
			k := plainRamp32(d, u, start, step)
			start += int32(k) * step
			v := u[k:]
			d = d[k:][:len(v)]
			for i, x := range v {
				d[i] = start + int32(x)
				start += step
			}
			done += len(u)
		}
	}
}

// Sum32 is Sum64 for 32 bits.
func Sum32(dst []int32, c *Codes32, first, add int32) {
	c.check(len(dst))
	done := 0
	if c.packed != nil {
		done, first = packedSum32(dst, c.packed, c.width, first, add)
	} else {
		done, first = plainSum32(dst, c.plain, first, add)
	}
	if done < len(dst) {
		var buf [someCodes]uint32
		for done < len(dst) {
			u := c.next(&buf, done, len(dst))
			d := dst[done : done+len(u)]
			k, last := plainSum32(d, u, first, add)
			first = last
			v := u[k:]
			d = d[k:][:len(v)]
			for i, x := range v {
				first += add + int32(x)
				d[i] = first
			}
			done += len(u)
		}
	}
}

// Ordered32 is Ordered64 for 32 bits, with x>>31 and MaxUint32; zeros is at most
// 31.
func Ordered32(dst []float32, c *Codes32, add int32, zeros uint) {
	c.check(len(dst))
	done := 0
	if c.packed != nil {
		done = packedOrdered32(dst, c.packed, c.width, add, zeros)
	} else {
		done = plainOrdered32(dst, c.plain, add, zeros)
	}
	if done < len(dst) {
		mask := int32(uint32(math.MaxInt32) >> zeros)
		var buf [someCodes]uint32
		for done < len(dst) {
			u := c.next(&buf, done, len(dst))
			d := dst[done : done+len(u)]
			k := plainOrdered32(d, u, add, zeros)
			v := u[k:]
			d = d[k:][:len(v)]
			for i, x := range v {
				d[i] = unorder32(add+int32(x), mask, zeros)
			}
			done += len(u)
		}
	}
}

// SumOrdered32 is SumOrdered64 for 32 bits.
func SumOrdered32(dst []float32, c *Codes32, first, add int32, zeros uint) {
	c.check(len(dst))
	done := 0
	if c.packed != nil {
		done, first = packedSumOrdered32(dst, c.packed, c.width, first, add, zeros)
	} else {
		done, first = plainSumOrdered32(dst, c.plain, first, add, zeros)
	}
	if done < len(dst) {
		mask := int32(uint32(math.MaxInt32) >> zeros)
		var buf [someCodes]uint32
		for done < len(dst) {
			u := c.next(&buf, done, len(dst))
			d := dst[done : done+len(u)]
			k, last := plainSumOrdered32(d, u, first, add, zeros)
			first = last
			v := u[k:]
			d = d[k:][:len(v)]
			for i, x := range v {
				first += add + int32(x)
				d[i] = unorder32(first, mask, zeros)
			}
			done += len(u)
		}
	}
}

// Decimal32 sets dst[i] to float32(float64(x)*back*scale) with x = add + s[i], each
// product rounded to float64. It reports whether all x are from -Limit32 to
// Limit32; if not, dst holds anything.
func Decimal32(dst []float32, c *Codes32, add int32, back, scale float64) (ok bool) {
	c.check(len(dst))
	done := 0
	if back == 1 && c.bounded(add) {
		if high, low, ok := tenthsOf(back, scale); ok {
			if add >= -Limit32/2 { // 2^23 less it is exact
				done = packedNarrowTenths32(dst, c.packed, c.width, float32(add), high, low)
			}
			if done == 0 {
				done = packedTenths32(dst, c.packed, c.width, add, high, low)
			}
		}
		if done == 0 {
			done = packedBounded32(dst, c.packed, c.width, float64(add), scale)
		}
	}
	return done == len(dst) || restDecimal32(dst, done, c, add, back, scale)
}

// restDecimal32 is Decimal32 from value done on.
func restDecimal32(dst []float32, done int, c *Codes32, add int32, back, scale float64) (ok bool) {
	var bad uint64
	var buf [someCodes]uint32
	for done < len(dst) {
		u := c.next(&buf, done, len(dst))
		d := dst[done : done+len(u)]
		k, over := plainDecimal32(d, u, add, back, scale)
		bad |= over
		v := u[k:]
		d = d[k:][:len(v)]
		for i, x := range v {
			y := add + int32(x)
			bad |= over32(y)
			d[i] = float32(float64(float64(y)*back) * scale)
		}
		done += len(u)
	}
	return bad == 0
}

// SumDecimal32 is Decimal32 with x the sum of Sum32.
func SumDecimal32(dst []float32, c *Codes32, first, add int32, back, scale float64) (ok bool) {
	c.check(len(dst))
	done := 0
	var bad uint64
	high, low, short := tenthsOf(back, scale)
	switch {
	case c.packed != nil && short:
		done, first, bad = packedSumTenths32(dst, c.packed, c.width, first, add, high, low)
	case short:
		done, first, bad = plainSumTenths32(dst, c.plain, first, add, high, low)
	}
	switch {
	case done > 0:
	case c.packed != nil:
		done, first, bad = packedSumDecimal32(dst, c.packed, c.width, first, add, back, scale)
	default:
		done, first, bad = plainSumDecimal32(dst, c.plain, first, add, back, scale)
	}
	if done < len(dst) {
		var buf [someCodes]uint32
		for done < len(dst) {
			u := c.next(&buf, done, len(dst))
			d := dst[done : done+len(u)]
			k, last, over := plainSumDecimal32(d, u, first, add, back, scale)
			first, bad = last, bad|over
			v := u[k:]
			d = d[k:][:len(v)]
			for i, x := range v {
				first += add + int32(x)
				bad |= over32(first)
				d[i] = float32(float64(float64(first)*back) * scale)
			}
			done += len(u)
		}
	}
	return bad == 0
}

// unorder32 is the float of the integer x of its order, with mask the integers
// that Order32 makes of floats above zero.
func unorder32(x, mask int32, zeros uint) float32 {
	return math.Float32frombits(uint32(x^x>>31&mask) << (zeros & 31))
}

// bounded is Codes64.bounded.
func (c *Codes32) bounded(add int32) bool {
	return c.packed != nil && c.width < 25 && -Limit32 <= add && add <= Limit32-int32(1)<<c.width+1
}

// over32 is not 0 where x is too large for a decimal.
func over32(x int32) uint64 {
	if uint32(x+Limit32) > 2*Limit32 {
		return 1
	}
	return 0
}

// Accumulate32 is Accumulate64 for 32 bits.
func Accumulate32(v []int32, first int32) {
	done, sum := accumulate32(v, first)
	for i, x := range v[done:] {
		sum += x
		v[done+i] = sum
	}
}

// Fill32 is Fill64 for 32 bits.
func Fill32(dst []int32, start, step int32) {
	done := fill32(dst, start, step)
	fillRest(dst[done:], start+int32(done)*step, step)
}
