package simd

import "math/bits"

// What the choice of a frame of reference asks of its values.

// Lengths64 sets beside[i] to the bits of the distance of src[i] to end, and
// around[i] to those of the zigzag integer of src[i]-centre. The distance is
// src[i]-end, or end-src[i] if below; all is modulo 2^64. beside and around
// are as long as src or longer.
func Lengths64(beside, around []byte, src []int64, end int64, below bool, centre int64) {
	beside, around = beside[:len(src)], around[:len(src)]
	sign := int64(0)
	if below {
		sign = -1
	}
	done := lengths64(beside, around, src, end, sign, centre)
	for i, v := range src[done:] {
		beside[done+i] = byte(bits.Len64(uint64((v - end) ^ sign - sign)))
		d := v - centre
		around[done+i] = byte(bits.Len64(uint64(d<<1 ^ d>>63)))
	}
}

// Lengths32 is Lengths64 for 32 bits.
func Lengths32(beside, around []byte, src []int32, end int32, below bool, centre int32) {
	beside, around = beside[:len(src)], around[:len(src)]
	sign := int32(0)
	if below {
		sign = -1
	}
	done := lengths32(beside, around, src, end, sign, centre)
	for i, v := range src[done:] {
		beside[done+i] = byte(bits.Len32(uint32((v - end) ^ sign - sign)))
		d := v - centre
		around[done+i] = byte(bits.Len32(uint32(d<<1 ^ d>>31)))
	}
}

// CountAbove sets counts[i] to the number of bytes of src that are above
// limit-i. The bytes, and limit, are at most 127.
func CountAbove(counts *[8]int, src []byte, limit int) {
	done := countAbove(counts, src, limit)
	if done == 0 {
		*counts = [8]int{}
	}
	if done == len(src) {
		return
	}
	// By the difference to the limit: 0 where it is above the first, 8 where
	// it is above none.
	var exact [16]int
	for _, b := range src[done:] {
		exact[min(max(limit+1-int(b), 0), 8)]++
	}
	sum := 0
	for i := range counts {
		sum += exact[i]
		counts[i] += sum
	}
}

// Sort16 sorts, lesser values first.
func Sort16(v *[16]int64) {
	if sort16(v) {
		return
	}
	for _, p := range &network {
		a, b := v[p[0]&15], v[p[1]&15]
		v[p[0]&15], v[p[1]&15] = min(a, b), max(a, b)
	}
}

// Sample64 sets v to 16 values of src, which has at least as many, taken at
// even distances and sorted: value i is that at (2*i+1)*len(src)/32.
func Sample64(v *[16]int64, src []int64) {
	_ = src[15]
	if sample64(v, src) {
		return
	}
	for i := range v {
		v[i] = src[(2*i+1)*len(src)/32]
	}
	Sort16(v)
}

// Sample32 is Sample64 for 32 bits.
func Sample32(v *[16]int64, src []int32) {
	_ = src[15]
	if sample32(v, src) {
		return
	}
	for i := range v {
		v[i] = int64(src[(2*i+1)*len(src)/32])
	}
	Sort16(v)
}

// SampleDeltas64 is Sample64 of the differences of neighbours: value i is
// src[k+1] - src[k] with k = (2*i+1)*(len(src)-1)/32. src has at least 17
// values.
func SampleDeltas64(v *[16]int64, src []int64) {
	_ = src[16]
	if sampleDeltas64(v, src) {
		return
	}
	for i := range v {
		k := (2*i + 1) * (len(src) - 1) / 32
		v[i] = src[k+1] - src[k]
	}
	Sort16(v)
}

// SampleDeltas32 is SampleDeltas64 for 32 bits, in which differences wrap.
func SampleDeltas32(v *[16]int64, src []int32) {
	_ = src[16]
	if sampleDeltas32(v, src) {
		return
	}
	for i := range v {
		k := (2*i + 1) * (len(src) - 1) / 32
		v[i] = int64(src[k+1] - src[k])
	}
	Sort16(v)
}

// network are the exchanges that sort 16 values without a branch that depends
// on them: Batcher's odd-even merge sort.
var network = func() (pairs [63][2]uint8) {
	const size = 16
	n := 0
	for p := 1; p < size; p *= 2 {
		for k := p; k > 0; k /= 2 {
			for j := k % p; j+k < size; j += 2 * k {
				for i := j; i < min(j+k, size-k); i++ {
					if i/(2*p) == (i+k)/(2*p) {
						pairs[n] = [2]uint8{uint8(i), uint8(i + k)}
						n++
					}
				}
			}
		}
	}
	return pairs
}()

// Outliers64 sets bit i%8 of mask[i/8] where src[i] is not among the values
// from from on to from+span, modulo 2^64. Bits beyond the last value are 0; mask
// holds a bit for each.
func Outliers64(mask []byte, src []int64, from int64, span uint64) {
	mask = mask[:(len(src)+7)/8]
	done := outliers64(mask, src, from, span)
	clear(mask[done/8:])
	for i, v := range src[done:] {
		if uint64(v-from) > span {
			mask[(done+i)/8] |= 1 << ((done + i) & 7)
		}
	}
}

// Outliers32 is Outliers64 for 32 bits.
func Outliers32(mask []byte, src []int32, from int32, span uint32) {
	mask = mask[:(len(src)+7)/8]
	done := outliers32(mask, src, from, span)
	clear(mask[done/8:])
	for i, v := range src[done:] {
		if uint32(v-from) > span {
			mask[(done+i)/8] |= 1 << ((done + i) & 7)
		}
	}
}

// SubRamp64 sets dst[i] to src[i] - start - i*step, modulo 2^64, and returns
// the least and the greatest of them: MaxInt64 and MinInt64 if there are none.
// dst is as long as src or longer.
func SubRamp64(dst, src []int64, start, step int64) (least, greatest int64) {
	dst = dst[:len(src)]
	done, least, greatest := subRamp64(dst, src, start, step)
	if done == 0 {
		least, greatest = MinMaxInt64(nil)
	}
	start += int64(done) * step
	for i, v := range src[done:] {
		x := v - start
		dst[done+i] = x
		least, greatest = min(least, x), max(greatest, x)
		start += step
	}
	return least, greatest
}

// SubRamp32 is SubRamp64 for 32 bits.
func SubRamp32(dst, src []int32, start, step int32) (least, greatest int32) {
	dst = dst[:len(src)]
	done, least, greatest := subRamp32(dst, src, start, step)
	if done == 0 {
		least, greatest = MinMaxInt32(nil)
	}
	start += int32(done) * step
	for i, v := range src[done:] {
		x := v - start
		dst[done+i] = x
		least, greatest = min(least, x), max(greatest, x)
		start += step
	}
	return least, greatest
}
