package simd_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/simd"
)

// levels runs f at every level that this machine has.
func levels(t *testing.T, f func(t *testing.T)) {
	for l := simd.Generic; l <= simd.Supported(); l++ {
		t.Run(l.String(), func(t *testing.T) {
			defer simd.SetLevel(l)()
			require.Equal(t, l, simd.Current())
			f(t)
		})
	}
}

// bit is bit i of b, the slow and obvious way.
func bit(b []byte, i int) uint64 { return uint64(b[i/8]>>(i%8)) & 1 }

func TestPackAndUnpack(t *testing.T) {
	levels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for w := uint(0); w <= 64; w++ {
			for _, n := range []int{0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 127, 128, 129, 1024, 1027} {
				src := make([]uint64, n)
				for i := range src {
					src[i] = r.Uint64() // high bits must be ignored
				}
				packed := simd.AppendPack64([]byte{0xAA}, src, w)
				require.Equal(t, byte(0xAA), packed[0])
				packed = packed[1:]
				require.Len(t, packed, simd.PackedLen(n, w))
				for i, x := range src {
					for k := range int(w) {
						require.Equal(t, x>>k&1, bit(packed, i*int(w)+k))
					}
				}
				for k := n * int(w); k < 8*len(packed); k++ {
					require.Zero(t, bit(packed, k), "padding")
				}
				for _, extra := range []int{0, 1, 7, 64} {
					in := append(append([]byte(nil), packed...), make([]byte, extra)...)
					for i := len(packed); i < len(in); i++ {
						in[i] = 0xFF
					}
					dst := make([]uint64, n+2)
					dst[0], dst[n+1] = 0xDEAD, 0xBEEF // canaries
					simd.Unpack64(dst[1:n+1], in, w)
					require.Equal(t, [2]uint64{0xDEAD, 0xBEEF}, [2]uint64{dst[0], dst[n+1]})
					for i, x := range src {
						if w < 64 {
							x &= 1<<w - 1
						}
						require.Equal(t, x, dst[1+i], "w %d n %d", w, n)
					}
					if w > 32 {
						continue
					}
					src32, dst32 := make([]uint32, n), make([]uint32, n)
					for i, x := range src {
						src32[i] = uint32(x)
					}
					require.Equal(t, packed, append([]byte{}, simd.AppendPack32(nil, src32, w)...))
					simd.Unpack32(dst32, in, w)
					for i := range dst32 {
						require.Equal(t, uint32(dst[1+i]), dst32[i])
					}
				}
			}
		}
	})
}

func TestUnpackShortSourcePanics(t *testing.T) {
	require.Panics(t, func() { simd.Unpack64(make([]uint64, 9), make([]byte, 8), 8) })
	require.Panics(t, func() { simd.Unpack32(make([]uint32, 9), make([]byte, 8), 8) })
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, uint8(13))
	f.Add(make([]byte, 100), uint8(64))
	f.Fuzz(func(t *testing.T, src []byte, width uint8) {
		w := uint(width % 65)
		n := 100
		if w > 0 {
			n = len(src) * 8 / int(w)
		}
		dst := make([]uint64, n)
		simd.Unpack64(dst, src, w)
		for i, x := range dst {
			for k := range int(w) {
				if x>>k&1 != bit(src, i*int(w)+k) {
					t.Fatalf("value %d, bit %d", i, k)
				}
			}
		}
	})
}

func ExampleUnpack64() {
	packed := simd.AppendPack64(nil, []uint64{5, 1, 7}, 3)
	values := make([]uint64, 3)
	simd.Unpack64(values, packed, 3)
	fmt.Printf("%08b %v\n", packed, values)
	// Output: [11001101 00000001] [5 1 7]
}

func BenchmarkUnpack64(b *testing.B) {
	src := make([]byte, 1024*13/8)
	dst := make([]uint64, 1024)
	for b.Loop() {
		simd.Unpack64(dst, src, 13)
	}
	b.SetBytes(8 * 1024)
}
