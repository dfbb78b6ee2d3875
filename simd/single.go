package simd

import "math"

// Single32 sets dst[i] to float32(x)*back*scale with x = add + s[i], each
// product rounded to float32, as is x where it has more than 24 bits.
func Single32(dst []float32, c *Codes32, add int32, back, scale float32) {
	c.check(len(dst))
	done := 0
	if c.packed != nil {
		done = packedSingle32(dst, c.packed, c.width, add, back, scale)
	} else {
		done = plainSingle32(dst, c.plain, add, back, scale)
	}
	if done < len(dst) {
		var buf [someCodes]uint32
		for done < len(dst) {
			u := c.next(&buf, done, len(dst))
			d := dst[done : done+len(u)]
			k := plainSingle32(d, u, add, back, scale)
			v := u[k:]
			d = d[k:][:len(v)]
			for i, x := range v {
				d[i] = float32(float32(float32(add+int32(x))*back) * scale)
			}
			done += len(u)
		}
	}
}

// Singles32 looks for the integers of which Single32 makes the floats. With
//
//	x = src[i] * up * down, each product rounded to float32
//	r = x rounded to an integer, ties to even, or -2^31 if that is none of int32
//
// value i comes back if the bits of float32(r)*back*scale, rounded in the same
// way, are those of src[i]. ints[i] is then r, and else 0; bit i%8 of
// exceptions[i/8] says that it does not, and bits beyond the last value are 0.
// count is the number of exceptions; least and greatest are those of the other
// integers, or MaxInt32 and MinInt32 if there are none. ints is as long as src
// or longer, and exceptions holds a bit for each.
func Singles32(ints []int32, exceptions []byte, src []float32, up, down, back, scale float32) (count int, least, greatest int32) {
	n := len(src)
	ints, exceptions = ints[:n:len(ints)], exceptions[:(n+7)/8:len(exceptions)]
	done, count, least, greatest := singles32(ints, exceptions, src, up, down, back, scale)
	if count == done {
		least, greatest = math.MaxInt32, math.MinInt32
	}
	clear(exceptions[(done+7)/8:])
	for i, v := range src[done:] {
		r := nearest32(float32(float32(v*up) * down))
		if math.Float32bits(float32(float32(float32(r)*back)*scale)) == math.Float32bits(v) {
			ints[done+i] = r
			least, greatest = min(least, r), max(greatest, r)
			continue
		}
		ints[done+i] = 0
		exceptions[(done+i)/8] |= 1 << ((done + i) & 7)
		count++
	}
	return count, least, greatest
}

// TrialSingle32 is Singles32 without the integers and the exceptions.
func TrialSingle32(src []float32, up, down, back, scale float32) (count int, least, greatest int32) {
	done, count, least, greatest := trialSingle32(src, up, down, back, scale)
	if count == done {
		least, greatest = math.MaxInt32, math.MinInt32
	}
	for _, v := range src[done:] {
		r := nearest32(float32(float32(v*up) * down))
		if math.Float32bits(float32(float32(float32(r)*back)*scale)) == math.Float32bits(v) {
			least, greatest = min(least, r), max(greatest, r)
			continue
		}
		count++
	}
	return count, least, greatest
}

// nearest32 is the integer nearest to x, the even one of two, or MinInt32.
func nearest32(x float32) int32 {
	if x >= -1<<31 && x < 1<<31 {
		return int32(float64(float64(x)+round) - round)
	}
	return math.MinInt32
}
