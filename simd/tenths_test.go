package simd_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/colsst/colsst/simd"
)

// Decimals of float32 are those of products in float64, for every integer that is
// not negative, and so for the others, and every power of ten.
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
				if math.Float32bits(v) != math.Float32bits(float32(float64(add+int32(i))*scale)) {
					t.Fatalf("%d * %v = %v", add+int32(i), scale, v)
				}
			}
		}
	}
}

// Codes of all widths, above bases of all sizes, both ends among them.
func TestDecimals32OfWidths(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 1 << 10
	src := make([]uint64, n)
	dst := make([]float32, n)
	levels(t, func(t *testing.T) {
		for e, scale := range []float64{1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 0, 0.3, -0.1} {
			w := uint(r.IntN(24) + 1)
			for _, add := range []int32{
				0, -1, -1 << 15, 12345, -1 << 23, -1<<23 - 1, -1 << 24, 1<<24 - 1<<w + 1,
				int32(r.IntN(1 << 23)), -int32(r.IntN(1 << 23)), int32(r.IntN(1 << 10)),
			} {
				add = min(add, 1<<24-1<<w+1)
				for i := range src {
					src[i] = r.Uint64() & (1<<w - 1)
				}
				src[0], src[1] = 0, 1<<w-1
				c := simd.Packed32(simd.AppendPack64(nil, src, w), w)
				if !simd.Decimal32(dst, &c, add, 1, scale) {
					t.Fatalf("add %d: too large", add)
				}
				for i, x := range src {
					want := float32(float64(add+int32(x)) * scale)
					if math.Float32bits(dst[i]) != math.Float32bits(want) {
						t.Fatalf("10^-%d: %d is %x, want %x", e, add+int32(x), dst[i], want)
					}
				}
			}
		}
	})
}
