package alp

import (
	"math/bits"

	"github.com/colsst/colsst/simd"
)

// window looks for the 2^w integers, from from on, with which ints take the
// fewest bits if each integer outside takes each bits. lo and hi are the
// extremes; w is the width of all where no window is better. Windows begin at
// lo, end at hi, or lie around the middle of a sample.
func window[I integer](ints []I, lo, hi int64, each int) (w uint, from int64) {
	n := len(ints)
	widest := bits.Len64(uint64(hi - lo))
	w = uint(widest)
	if widest <= 1 || n < 16 {
		return w, lo
	}
	var s [16]int64
	sample(&s, ints)
	core := bits.Len64(uint64(s[13] - s[2]))
	if core >= widest {
		return w, lo // most integers need the width
	}
	centre := s[8]
	below := uint64(centre-lo) > uint64(hi-centre)
	end := lo
	if below {
		end = hi
	}

	least := n * widest
	var outside [2][8]int // of windows of 2^most, 2^(most-1) ...
	consider := func(k, beside, around int) {
		if c := n*k + beside*each; c < least {
			least, w, from = c, uint(k), lo
			if below {
				from = hi - (1<<k - 1)
			}
		}
		if c := n*k + around*each; c < least {
			least, w, from = c, uint(k), centre-int64(uint64(1)<<k>>1)
		}
	}
	first := min(core+5, widest-1)
	for most, half := first, false; most >= 0 && !half; most -= len(outside[0]) {
		tails(&outside, ints, end, below, centre, most)
		for i := 0; i < len(outside[0]) && i <= most && !half; i++ {
			consider(most-i, outside[0][i], outside[1][i])
			half = min(outside[0][i], outside[1][i]) > n/2
		}
	}
	for k := first + 1; k < widest && n*k < least; k += len(outside[0]) {
		most := min(k+len(outside[0]), widest) - 1
		tails(&outside, ints, end, below, centre, most)
		for i := range most - k + 1 {
			consider(most-i, outside[0][i], outside[1][i])
		}
	}
	return w, from
}

// sample sets s to values of ints at even distances, sorted.
func sample[I integer](s *[16]int64, ints []I) {
	switch ints := any(ints).(type) {
	case []int64:
		simd.Sample64(s, ints)
	case []int32:
		simd.Sample32(s, ints)
	}
}

// tails counts what lies outside of windows of at most 2^most integers.
func tails[I integer](t *[2][8]int, ints []I, end int64, below bool, centre int64, most int) {
	switch ints := any(ints).(type) {
	case []int64:
		simd.Tails64(t, ints, end, below, centre, most)
	case []int32:
		simd.Tails32(t, ints, int32(end), below, int32(centre), most)
	}
}
