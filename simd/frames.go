package simd

import (
	"math/bits"

	"github.com/colsst/colsst/internal/le"
)

// What the choice of a frame of reference asks of its values.

// Tails64 counts the values far from a number: tails[0][i] becomes the number
// of those whose distance to end takes more than most-i bits, tails[1][i] that
// of those whose zigzag distance to centre does. The distance to end is
// src[i]-end, or end-src[i] if below; all is modulo 2^64. most is at most 64.
func Tails64(tails *[2][8]int, src []int64, end int64, below bool, centre int64, most int) {
	sign := int64(0)
	if below {
		sign = -1
	}
	*tails = [2][8]int{}
	for len(src) > 0 {
		done := tails64(tails, src, end, sign, centre, most)
		if done == 0 {
			break
		}
		src = src[done:]
	}
	var beside, around [someLengths]byte
	for len(src) > 0 {
		n := min(len(src), someLengths)
		done := lengths64(beside[:n], around[:n], src[:n], end, sign, centre)
		if done == 0 {
			break
		}
		tally(&tails[0], beside[:done], most)
		tally(&tails[1], around[:done], most)
		src = src[done:]
	}
	if len(src) == 0 {
		return
	}
	// Counts that grow one after another wait for each other: two of each.
	var counts [2]spread
	count := func(i int, v int64) {
		counts[i].beside[bits.Len64(uint64((v-end)^sign-sign))]++
		d := v - centre
		counts[i].around[bits.Len64(uint64(d<<1^d>>63))]++
	}
	rest := src
	for ; len(rest) >= 2; rest = rest[2:] {
		count(0, rest[0])
		count(1, rest[1])
	}
	for _, v := range rest {
		count(0, v)
	}
	addTails(tails, &counts, len(src), most)
}

// Tails32 is Tails64 for 32 bits.
func Tails32(tails *[2][8]int, src []int32, end int32, below bool, centre int32, most int) {
	sign := int32(0)
	if below {
		sign = -1
	}
	*tails = [2][8]int{}
	var beside, around [someLengths]byte
	for len(src) > 0 {
		n := min(len(src), someLengths)
		done := lengths32(beside[:n], around[:n], src[:n], end, sign, centre)
		if done == 0 {
			break
		}
		tally(&tails[0], beside[:done], most)
		tally(&tails[1], around[:done], most)
		src = src[done:]
	}
	if len(src) == 0 {
		return
	}
	// Counts that grow one after another wait for each other: two of each.
	var counts [2]spread
	count := func(i int, v int32) {
		counts[i].beside[bits.Len32(uint32((v-end)^sign-sign))]++
		d := v - centre
		counts[i].around[bits.Len32(uint32(d<<1^d>>31))]++
	}
	rest := src
	for ; len(rest) >= 2; rest = rest[2:] {
		count(0, rest[0])
		count(1, rest[1])
	}
	for _, v := range rest {
		count(0, v)
	}
	addTails(tails, &counts, len(src), most)
}

// someLengths is how many lengths are in hand at once.
const someLengths = 256

// tally adds to counts[i] the number of bytes, each at most 64, above most-i.
func tally(counts *[8]int, src []byte, most int) {
	done := countAbove(counts, src, most)
	if done == len(src) {
		return
	}
	// 8 bytes at once: with 127-most more, those above it have their top bit
	// set. What a short word is filled up with is above none.
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	limits := counts[:max(0, min(most+1, len(counts)))]
	for rest := src[done:]; len(rest) > 0; rest = rest[min(8, len(rest)):] {
		x := le.Uint64Short(rest) + uint64(127-most)*ones
		for i := range limits {
			limits[i] += bits.OnesCount64(x & tops)
			x += ones
		}
	}
	for i := len(limits); i < len(counts); i++ {
		counts[i] += len(src) - done
	}
}

// spread are numbers of values by length.
type spread struct{ beside, around [65]uint32 }

// addTails adds what n values, counted in two parts, are to the tails.
func addTails(tails *[2][8]int, counts *[2]spread, n, most int) {
	beside, around := 0, 0
	for b := 64; b > max(most-len(tails[0]), -1); b-- {
		beside += int(counts[0].beside[b] + counts[1].beside[b])
		around += int(counts[0].around[b] + counts[1].around[b])
		if i := most + 1 - b; i >= 0 && i < len(tails[0]) {
			tails[0][i] += beside
			tails[1][i] += around
		}
	}
	for i := max(most+2, 0); i < len(tails[0]); i++ {
		tails[0][i] += n
		tails[1][i] += n
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
	mask = mask[: (len(src)+7)/8 : len(mask)]
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
	mask = mask[: (len(src)+7)/8 : len(mask)]
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
	dst = dst[:len(src):len(dst)]
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
	dst = dst[:len(src):len(dst)]
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
