package simd_test

import (
	"math"
	"testing"

	"github.com/colsst/colsst/simd"
)

// Decimals of float32 are those of products in float64, for every integer and
// every power of ten.
func TestEveryDecimal32(t *testing.T) {
	if simd.Current() != simd.AVX512 {
		t.Skip("products in float64 are all that this level has")
	}
	const w = 16
	src := make([]byte, simd.PackedLen(1<<w, w), simd.PackedLen(1<<w, w)+64)
	for i := range 1 << w {
		src[2*i], src[2*i+1] = byte(i), byte(i>>8)
	}
	dst := make([]float32, 1<<w)
	for e := range 19 {
		scale := math.Pow10(-e)
		for add := int32(0); add < simd.Limit32; add += 1 << w {
			c := simd.Packed32(src, w)
			if !simd.Decimal32(dst, &c, add, 1, scale) {
				t.Fatal(add)
			}
			for i, v := range dst {
				if v != float32(float64(add+int32(i))*scale) {
					t.Fatalf("%d * %v = %v", add+int32(i), scale, v)
				}
			}
		}
	}
}
