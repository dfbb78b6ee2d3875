package bitpack_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bitpack"
	"github.com/colsst/colsst/simd"
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
			s := bitpack.Shape{Width: w / 2, PatchWidth: w - w/2}
			for _, x := range src {
				if x>>s.Width != 0 {
					s.Patches++
				}
			}
			b := bitpack.Append(nil, src, s)
			require.Len(t, b, s.Len(n))
			dst := make([]uint64, n)
			require.NoError(t, bitpack.Decode("t", dst, b, s, nil))
			require.Equal(t, src, dst)
			more := append(slices.Clip(b), make([]byte, 8)...)[:len(b)]
			for _, b := range [][]byte{slices.Clip(b), more} {
				patches := make([]uint64, n)
				require.NoError(t, bitpack.AddPatches("t", patches, b[simd.PackedLen(n, s.Width):], s, nil))
				for i, x := range src {
					require.Equal(t, x>>s.Width<<s.Width, patches[i])
				}
			}
			if w > 32 {
				continue
			}
			narrow := make([]uint32, n)
			require.NoError(t, bitpack.Decode("t", narrow, b, s, nil))
			for i, x := range src {
				require.Equal(t, x, uint64(narrow[i]))
			}
		}
	}
}

func TestPositions(t *testing.T) {
	for _, pos := range [][]uint64{{}, {0}, {99}, {0, 1, 50, 98, 99}} {
		b := bitpack.AppendPositions(nil, pos, 100)
		require.Len(t, b, bitpack.PositionsLen(len(pos), 100))
		back := make([]uint64, len(pos))
		require.NoError(t, bitpack.DecodePositions("t", back, b, 100))
		require.Equal(t, pos, back)
	}
	for _, pos := range [][]uint64{{100}, {1, 1}, {2, 1}, {0, 127}} {
		b := bitpack.AppendPositions(nil, pos, 100)
		require.ErrorIs(t, bitpack.DecodePositions("t", make([]uint64, len(pos)), b, 100), encoding.ErrCorrupt)
	}
}

func TestT20HostileShapes(t *testing.T) {
	for _, c := range [][3]int64{{65, 0, 0}, {-1, 0, 0}, {1, 9, 1}, {1, -1, 0}, {1, 1, 64}, {1, 1, 1<<63 - 1}, {64, 1, 1}, {0, 0, -1}} {
		_, err := bitpack.CheckShape("t", c[0], c[1], c[2], 8, 64)
		require.Error(t, err, "%v", c)
	}
}
