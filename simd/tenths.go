package simd

import "math"

// tenth is 10^-e as the sum of two float32. For every integer x up to Limit32 and
// every e here, the float32 next to x*high + x*low, of which the second product
// is rounded to float32 and all else exact, is that next to float64(x)*1e-e, so
// float32 instructions alone do for decimals.
type tenth struct {
	scale     float64
	high, low float32
}

// tenths are those of e from 0 on.
var tenths = func() (t [19]tenth) {
	for e, scale := range [...]float64{
		1e-0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9,
		1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15, 1e-16, 1e-17, 1e-18,
	} {
		high := float32(scale)
		t[e] = tenth{scale, high, float32(scale - float64(high))}
	}
	return t
}()

// tenthsOf returns the two floats of back*scale where they serve.
func tenthsOf(back, scale float64) (high, low float32, ok bool) {
	// Each power of ten has another exponent, 3.32 less than that before.
	e := (1023 - math.Float64bits(scale)>>52) * 77 >> 8
	if back != 1 || e >= uint64(len(tenths)) {
		return 0, 0, false
	}
	t := &tenths[e]
	return t.high, t.low, t.scale == scale
}
