package patched_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bitpack"
	"github.com/colsst/colsst/encoding/internal/patched"
)

// fit fits, packs, and unpacks x by the rule of the package.
func fit(t require.TestingT, x []int64, size uint, last int64) patched.Frame {
	lo, hi := x[0], x[0]
	for _, v := range x {
		lo, hi = min(lo, v), max(hi, v)
	}
	f := patched.Fit(x, lo, hi, len(x), size, last)
	require.LessOrEqual(t, f.Width+f.PatchWidth, size)
	require.LessOrEqual(t, f.Len(len(x)), len(x)*int(size)/8)
	var p encoding.Params
	f.Store(&p)
	back, err := patched.Load("test", &p, len(x), size)
	require.NoError(t, err)
	require.Equal(t, f, back)

	u := make([]uint64, len(x))
	f.Codes(u, x)
	b := bitpack.Append(nil, u, f.Shape)
	require.Len(t, b, f.Len(len(x)))
	clear(u)
	require.NoError(t, bitpack.Decode("test", u, b, f.Shape))
	add, flip := f.Terms()
	for i, v := range x {
		require.Equal(t, v, patched.Wrap(add+int64(u[i]^flip), size))
	}
	return f
}

func TestFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]uint{32, 64}).Draw(t, "size")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		centre := rapid.Int64().Draw(t, "centre")
		w := rapid.IntRange(0, 64).Draw(t, "width")
		odd := rapid.SampledFrom([]int{0, 1, 5, 60}).Draw(t, "odd")
		x := make([]int64, rapid.IntRange(1, 400).Draw(t, "n"))
		for i := range x {
			x[i] = centre + int64(r.Uint64()&(1<<w-1))
			if r.IntN(100) < odd {
				x[i] = int64(r.Uint64()) >> r.IntN(64)
			}
			x[i] = patched.Wrap(x[i], size)
		}
		f := fit(t, x, size, rapid.Int64().Draw(t, "last"))
		require.Equal(t, f, fit(t, x, size, f.Base), "a base that serves is kept")
	})
}

func TestOutliersCostPatches(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, outliers := range [][]int64{{}, {1 << 40}, {-1 << 40}, {1 << 40, -1 << 40}, {math.MaxInt64, math.MinInt64}} {
		x := make([]int64, 128)
		for i := range x {
			x[i] = 1000 + r.Int64N(200)
		}
		copy(x[64:], outliers)
		f := fit(t, x, 64, 0)
		require.LessOrEqual(t, f.Width, uint(8))
		require.Equal(t, len(outliers), f.Patches)
	}
}

func TestLoadRefuses(t *testing.T) {
	for _, p := range []encoding.Params{
		{3: -1}, {3: 33}, {3: math.MaxInt64}, {4: -1}, {4: 9, 5: 1}, {4: 1}, {5: 1}, {4: 1, 5: -1}, {3: 30, 4: 1, 5: 3},
		{3: 1, 4: 1, 5: math.MaxInt64}, {2: 1 << 31}, {2: math.MinInt32 - 1}, {2: 1 << 20, 3: 20}, {2: math.MaxInt64, 3: 32},
	} {
		_, err := patched.Load("test", &p, 8, 32)
		require.ErrorIs(t, err, encoding.ErrCorrupt, "%v", p)
	}
}

func TestCore(t *testing.T) {
	span, centre := patched.Core(nil)
	require.Zero(t, span)
	require.Zero(t, centre)
	x := make([]int64, 1000)
	for i := range x {
		x[i] = int64(i)
	}
	span, centre = patched.Core(x)
	require.InDelta(t, 700, float64(span), 50)
	require.InDelta(t, 500, float64(centre), 50)
	span, _ = patched.Core([]int64{math.MinInt64, math.MaxInt64})
	require.Equal(t, uint64(math.MaxUint64), span)
}
