package simd

import "math"

// Add64 sets dst[i] to add + s[i].
func Add64(dst []int64, c *Codes64, add int64) {
	c.check(len(dst))
	done := 0
	if c.packed != nil {
		done = packedAdd64(dst, c.packed, c.width, add)
	} else {
		done = plainAdd64(dst, c.plain, add)
	}
	if done < len(dst) {
		var buf [someCodes]uint64
		for done < len(dst) {
			u := c.next(&buf, done, len(dst))
			d := dst[done : done+len(u)]
			k := plainAdd64(d, u, add)
			v := u[k:]
			d = d[k:][:len(v)]
			for i, x := range v {
				d[i] = add + int64(x)
			}
			done += len(u)
		}
	}
}

// Ramp64 sets dst[i] to start + i*step + s[i].
func Ramp64(dst []int64, c *Codes64, start, step int64) {
	c.check(len(dst))
	done := 0
	if c.packed != nil {
		done = packedRamp64(dst, c.packed, c.width, start, step)
		start += int64(done) * step
	} else {
		done = plainRamp64(dst, c.plain, start, step)
		start += int64(done) * step
	}
	if done < len(dst) {
		var buf [someCodes]uint64
		for done < len(dst) {
			u := c.next(&buf, done, len(dst))
			d := dst[done : done+len(u)]
			k := plainRamp64(d, u, start, step)
			start += int64(k) * step
			v := u[k:]
			d = d[k:][:len(v)]
			for i, x := range v {
				d[i] = start + int64(x)
				start += step
			}
			done += len(u)
		}
	}
}

// Sum64 sets dst[i] to first plus the sum of add + s[j] over all j <= i.
func Sum64(dst []int64, c *Codes64, first, add int64) {
	c.check(len(dst))
	done := 0
	if c.packed != nil {
		done, first = packedSum64(dst, c.packed, c.width, first, add)
	} else {
		done, first = plainSum64(dst, c.plain, first, add)
	}
	if done < len(dst) {
		var buf [someCodes]uint64
		for done < len(dst) {
			u := c.next(&buf, done, len(dst))
			d := dst[done : done+len(u)]
			k, last := plainSum64(d, u, first, add)
			first = last
			v := u[k:]
			d = d[k:][:len(v)]
			for i, x := range v {
				first += add + int64(x)
				d[i] = first
			}
			done += len(u)
		}
	}
}

// Ordered64 sets dst[i] to the float of the pattern
//
//	(x ^ x>>63&mask) << zeros   with x = add + s[i], mask = MaxUint64 >> (1+zeros)
//
// where >> of x keeps the sign: the inverse of Order64. zeros is at most 63.
func Ordered64(dst []float64, c *Codes64, add int64, zeros uint) {
	c.check(len(dst))
	done := 0
	if c.packed != nil {
		done = packedOrdered64(dst, c.packed, c.width, add, zeros)
	} else {
		done = plainOrdered64(dst, c.plain, add, zeros)
	}
	if done < len(dst) {
		mask := int64(uint64(math.MaxInt64) >> zeros)
		var buf [someCodes]uint64
		for done < len(dst) {
			u := c.next(&buf, done, len(dst))
			d := dst[done : done+len(u)]
			k := plainOrdered64(d, u, add, zeros)
			v := u[k:]
			d = d[k:][:len(v)]
			for i, x := range v {
				d[i] = unorder64(add+int64(x), mask, zeros)
			}
			done += len(u)
		}
	}
}

// SumOrdered64 is Ordered64 with x the sum of Sum64.
func SumOrdered64(dst []float64, c *Codes64, first, add int64, zeros uint) {
	c.check(len(dst))
	done := 0
	if c.packed != nil {
		done, first = packedSumOrdered64(dst, c.packed, c.width, first, add, zeros)
	} else {
		done, first = plainSumOrdered64(dst, c.plain, first, add, zeros)
	}
	if done < len(dst) {
		mask := int64(uint64(math.MaxInt64) >> zeros)
		var buf [someCodes]uint64
		for done < len(dst) {
			u := c.next(&buf, done, len(dst))
			d := dst[done : done+len(u)]
			k, last := plainSumOrdered64(d, u, first, add, zeros)
			first = last
			v := u[k:]
			d = d[k:][:len(v)]
			for i, x := range v {
				first += add + int64(x)
				d[i] = unorder64(first, mask, zeros)
			}
			done += len(u)
		}
	}
}

// Decimal64 sets dst[i] to float64(x)*back*scale with x = add + s[i], each product
// rounded. It reports whether all x are from -Limit64 to Limit64; if not, dst
// holds anything.
func Decimal64(dst []float64, c *Codes64, add int64, back, scale float64) (ok bool) {
	c.check(len(dst))
	done := 0
	if c.bounded(add) {
		done = packedBounded64(dst, c.packed, c.width, float64(add), back, scale)
	}
	return done == len(dst) || restDecimal64(dst, done, c, add, back, scale)
}

// restDecimal64 is Decimal64 from value done on.
func restDecimal64(dst []float64, done int, c *Codes64, add int64, back, scale float64) (ok bool) {
	var bad uint64
	var buf [someCodes]uint64
	for done < len(dst) {
		u := c.next(&buf, done, len(dst))
		d := dst[done : done+len(u)]
		k, over := plainDecimal64(d, u, add, back, scale)
		bad |= over
		v := u[k:]
		d = d[k:][:len(v)]
		for i, x := range v {
			y := add + int64(x)
			bad |= over64(y)
			d[i] = float64(float64(float64(y)*back) * scale)
		}
		done += len(u)
	}
	return bad == 0
}

// SumDecimal64 is Decimal64 with x the sum of Sum64.
func SumDecimal64(dst []float64, c *Codes64, first, add int64, back, scale float64) (ok bool) {
	c.check(len(dst))
	done := 0
	var bad uint64
	if c.packed != nil {
		done, first, bad = packedSumDecimal64(dst, c.packed, c.width, first, add, back, scale)
	} else {
		done, first, bad = plainSumDecimal64(dst, c.plain, first, add, back, scale)
	}
	if done < len(dst) {
		var buf [someCodes]uint64
		for done < len(dst) {
			u := c.next(&buf, done, len(dst))
			d := dst[done : done+len(u)]
			k, last, over := plainSumDecimal64(d, u, first, add, back, scale)
			first, bad = last, bad|over
			v := u[k:]
			d = d[k:][:len(v)]
			for i, x := range v {
				first += add + int64(x)
				bad |= over64(first)
				d[i] = float64(float64(float64(first)*back) * scale)
			}
			done += len(u)
		}
	}
	return bad == 0
}

// unorder64 is the float of the integer x of its order, with mask the integers
// that Order64 makes of floats above zero.
func unorder64(x, mask int64, zeros uint) float64 {
	return math.Float64frombits(uint64(x^x>>63&mask) << (zeros & 63))
}

// bounded reports whether the codes are packed and none of them makes an
// integer that is too large.
func (c *Codes64) bounded(add int64) bool {
	return c.packed != nil && c.width < 51 && -Limit64 <= add && add <= Limit64-int64(1)<<c.width+1
}

// over64 is not 0 where x is too large for a decimal.
func over64(x int64) uint64 {
	if uint64(x+Limit64) > 2*Limit64 {
		return 1
	}
	return 0
}

// Accumulate64 replaces v[i] by first plus the sum of v[j] over all j <= i.
func Accumulate64(v []int64, first int64) {
	done, sum := accumulate64(v, first)
	for i, x := range v[done:] {
		sum += x
		v[done+i] = sum
	}
}

// Fill64 sets dst[i] to start + i*step.
func Fill64(dst []int64, start, step int64) {
	done := fill64(dst, start, step)
	fillRest(dst[done:], start+int64(done)*step, step)
}

// fillRest is Fill64 or Fill32 without a kernel.
func fillRest[T int32 | int64](dst []T, start, step T) {
	two, four := 2*step, 4*step
	for ; len(dst) >= 8; dst = dst[8:] {
		d := (*[8]T)(dst)
		next := start + four
		d[0], d[1], d[2], d[3] = start, start+step, start+two, start+two+step
		d[4], d[5], d[6], d[7] = next, next+step, next+two, next+two+step
		start = next + four
	}
	for i := range dst {
		dst[i] = start
		start += step
	}
}
