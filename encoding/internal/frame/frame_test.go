package frame_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/internal/frame"
	"github.com/colsst/colsst/simd"
)

func coreOf[T frame.Integer](x []T) frame.Core {
	return frame.CoreOf(x, slices.Min(x), slices.Max(x))
}

// fit fits, packs, and unpacks x by the rule of the package.
func fit[T frame.Integer](t require.TestingT, x []T, prev frame.Frame) frame.Frame {
	var scratch frame.Scratch
	size := uint(64)
	if _, narrow := any(x).([]int32); narrow {
		size = 32
	}
	f := frame.Fit(x, int64(slices.Min(x)), int64(slices.Max(x)), coreOf(x), len(x), prev)
	require.LessOrEqual(t, f.Width+f.Shape().PatchWidth, size)
	require.LessOrEqual(t, f.Len(len(x)), len(x)*int(size)/8)
	var p encoding.Params
	f.Store(&p)
	back, err := frame.Load("test", &p, len(x), size)
	require.NoError(t, err)
	require.Equal(t, f, back)

	b := frame.Append(&scratch, []byte{1}, f, x)[1:]
	require.Len(t, b, f.Len(len(x)))
	got := make([]T, len(x))
	add := f.Base()
	switch got := any(got).(type) {
	case []int64:
		var room []uint64
		u := simd.Packed64(b, f.Width)
		if f.Patches > 0 {
			u, err = f.Patched64("test", b, len(x), 0, &room)
		}
		require.NoError(t, err)
		simd.Add64(got, &u, add)
	case []int32:
		var room []uint32
		u := simd.Packed32(b, f.Width)
		if f.Patches > 0 {
			u, err = f.Patched32("test", b, len(x), 0, &room)
		}
		require.NoError(t, err)
		simd.Add32(got, &u, int32(add))
	}
	require.Equal(t, x, got)
	return f
}

func TestFit(t *testing.T) {
	t.Run("int64", rapid.MakeCheck(func(t *rapid.T) { testFit[int64](t, 64) }))
	t.Run("int32", rapid.MakeCheck(func(t *rapid.T) { testFit[int32](t, 32) }))
}

func testFit[T frame.Integer](t *rapid.T, size uint) {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	centre := rapid.Int64().Draw(t, "centre")
	w := rapid.IntRange(0, 64).Draw(t, "width")
	odd := rapid.SampledFrom([]int{0, 1, 5, 60}).Draw(t, "odd")
	x := make([]T, rapid.IntRange(1, 400).Draw(t, "n"))
	for i := range x {
		x[i] = T(centre) + T(r.Uint64()&(1<<w-1))
		if r.IntN(100) < odd {
			x[i] = T(int64(r.Uint64()) >> r.IntN(64))
		}
	}
	prev := frame.Frame{P: rapid.Int64().Draw(t, "p"), Width: rapid.UintRange(0, size).Draw(t, "w")}
	f := fit(t, x, prev)
	again := fit(t, x, f)
	require.LessOrEqual(t, again.Len(len(x)), f.Len(len(x))+8+len(x)/16, "parameters that come again cost nothing")
}

func TestOutliersCostPatches(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, outliers := range [][]int64{{}, {1 << 40}, {-1 << 40}, {1 << 40, -1 << 40}, {math.MaxInt64, math.MinInt64}} {
		x := make([]int64, 128)
		for i := range x {
			x[i] = 1000 + r.Int64N(200)
		}
		copy(x[64:], outliers)
		f := fit(t, x, frame.Frame{})
		require.LessOrEqual(t, f.Width, uint(8))
		require.Equal(t, len(outliers), f.Patches)
	}
}

func TestLoadRefuses(t *testing.T) {
	for _, p := range []encoding.Params{
		{3: -1}, {3: 33}, {3: math.MaxInt64}, {4: -1}, {4: 9, 5: 1}, {4: 1}, {5: 1}, {4: 1, 5: math.MinInt64}, {3: 30, 4: 1, 5: -3}, {3: 32, 4: 1, 5: -1}, {3: 30, 4: 1, 5: 3},
		{3: 1, 4: 1, 5: math.MaxInt64}, {2: 1 << 31}, {2: math.MinInt32 - 1}, {2: 1 << 20, 3: 20}, {2: math.MaxInt64, 3: 32},
	} {
		_, err := frame.Load("test", &p, 8, 32)
		require.ErrorIs(t, err, encoding.ErrCorrupt, "%v", p)
	}
}

func TestCore(t *testing.T) {
	require.Zero(t, frame.CoreOf[int64](nil, 1, 0))
	x := make([]int64, 1000)
	for i := range x {
		x[i] = int64(i)
	}
	c := coreOf(x)
	require.InDelta(t, 700, float64(c.Span), 50)
	require.InDelta(t, 500, float64(c.Centre), 50)
	c = coreOf([]int64{math.MinInt64, math.MaxInt64})
	require.Equal(t, uint64(math.MaxUint64), c.Span)
}

// The network of exchanges sorts: the span is that of the third and the
// fourteenth of any 16.
func TestCoreSorts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		x := make([]int64, frame.Samples)
		for i := range x {
			x[i] = r.Int64N(20)
		}
		c := coreOf(x)
		slices.Sort(x)
		require.Equal(t, uint64(x[13]-x[2]), c.Span)
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		lo, hi int64
		prev   frame.Frame
		want   frame.Frame
	}{
		{0, 0, frame.Frame{}, frame.Frame{}},
		{5, 5, frame.Frame{}, frame.Frame{P: 5}},
		{-5, -5, frame.Frame{}, frame.Frame{P: -5}},
		{5, 12, frame.Frame{}, frame.Frame{P: 5, Width: 3}},
		{5, 10, frame.Frame{}, frame.Frame{P: 4, Width: 3}},
		{5, 10, frame.Frame{P: 3, Width: 3}, frame.Frame{P: 3, Width: 3}},
		{3, 7, frame.Frame{}, frame.Frame{P: 0, Width: 3}},
		{-7, -3, frame.Frame{}, frame.Frame{P: -8, Width: 3}},
		{math.MinInt64, math.MinInt64, frame.Frame{}, frame.Frame{P: math.MinInt64}},
		{math.MaxInt64, math.MaxInt64, frame.Frame{}, frame.Frame{P: math.MaxInt64}},
		{math.MinInt64, math.MaxInt64, frame.Frame{}, frame.Frame{Width: 64}},
		{math.MinInt64, math.MinInt64 + 9, frame.Frame{}, frame.Frame{P: math.MinInt64, Width: 4}},
		{1000, 2000, frame.Frame{}, frame.Frame{P: 124, Width: 10}},
	} {
		t.Run(fmt.Sprint(c.lo, c.hi), func(t *testing.T) {
			require.Equal(t, c.want, frame.Choose(c.lo, c.hi, 128, 64, c.prev))
		})
	}
}

// Every chosen frame admits its range, is at most one bit too wide, survives
// Check, and is chosen again.
func TestChooseProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
		lo, hi := min(a, b), max(a, b)
		if rapid.Bool().Draw(t, "near") {
			hi = max(lo, lo+rapid.Int64Range(0, 1<<20).Draw(t, "range"))
		}
		prev := frame.Frame{P: rapid.Int64().Draw(t, "p"), Width: rapid.UintRange(0, 64).Draw(t, "w")}
		n := rapid.IntRange(0, 300).Draw(t, "n")
		f := frame.Choose(lo, hi, n, 64, prev)
		for _, v := range []int64{lo, hi, lo + (hi-lo)/2} {
			u := uint64(v) - uint64(f.Base())
			require.True(t, f.Width == 64 || u>>f.Width == 0, "%d in %+v", v, f)
		}
		_, err := frame.Check("t", f.P, int64(f.Width), 0, 0, n, 64)
		require.NoError(t, err)
		require.Equal(t, f, frame.Choose(lo, hi, n, 64, f))
	})
}
