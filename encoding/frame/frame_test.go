package frame_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/frame"
)

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
			require.Equal(t, c.want, frame.Choose(c.lo, c.hi, 128, c.prev))
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
		f := frame.Choose(lo, hi, n, prev)
		for _, v := range []int64{lo, hi, lo + (hi-lo)/2} {
			u := uint64(v) - uint64(f.Base())
			require.True(t, f.Width == 64 || u>>f.Width == 0, "%d in %+v", v, f)
		}
		if f != prev {
			_, err := frame.Check("t", f.P, int64(f.Width), 64)
			require.NoError(t, err)
		}
		require.Equal(t, f, frame.Choose(lo, hi, n, f))
	})
}

func TestCheck(t *testing.T) {
	for _, c := range [][2]int64{
		{0, -1}, {0, 65}, {math.MaxInt64, 8}, {math.MinInt64, 64}, {0, math.MinInt64}, {0, math.MaxInt64}, {1 << 62, 9},
	} {
		_, err := frame.Check("t", c[0], c[1], 64)
		require.True(t, errors.Is(err, encoding.ErrCorrupt), "%v", c)
	}
	_, err := frame.Check("t", 1, 33, 32)
	require.ErrorIs(t, err, encoding.ErrCorrupt)
}
