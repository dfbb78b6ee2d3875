package bitpack_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding/bitpack"
)

func TestRoundTripAllWidths(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for w := uint(0); w <= 64; w++ {
		for _, n := range []int{0, 1, 2, 7, 8, 9, 63, 64, 127, 128, 129, 1024, 1031} {
			src := make([]uint64, n)
			for i := range src {
				if w > 0 {
					src[i] = r.Uint64() >> (64 - w)
				}
				if r.IntN(20) == 0 {
					src[i] >>= r.IntN(64)
				} else if r.IntN(3) > 0 && w > 5 {
					src[i] &= 15
				}
			}
			var counts [65]int
			bitpack.Count(&counts, src)
			s := bitpack.Choose(&counts, n, 0)
			b := bitpack.Append(nil, src, s)
			require.Len(t, b, s.Len(n))
			dst := make([]uint64, n)
			require.NoError(t, bitpack.Decode("t", dst, b, s))
			require.Equal(t, src, dst)
		}
	}
}

func TestT20HostileShapes(t *testing.T) {
	for _, c := range [][3]int64{{65, 0, 0}, {-1, 0, 0}, {1, 9, 1}, {1, -1, 0}, {1, 1, 64}, {1, 1, 1<<63 - 1}, {64, 1, 1}, {0, 0, -1}} {
		_, err := bitpack.CheckShape("t", c[0], c[1], c[2], 8, 64)
		require.Error(t, err, "%v", c)
	}
}
