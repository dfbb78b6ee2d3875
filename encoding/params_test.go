package encoding_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
)

// number draws integers of any size, extremes among them.
func number() *rapid.Generator[int64] {
	return rapid.OneOf(rapid.SampledFrom([]int64{0, 1, -1, math.MinInt64, math.MinInt64 + 1, math.MaxInt64, math.MinInt32, math.MaxInt32, 1<<46 - 1, -1 << 46}),
		rapid.Custom(func(t *rapid.T) int64 {
			return rapid.Int64().Draw(t, "x") >> rapid.IntRange(0, 63).Draw(t, "shift")
		}))
}

func TestParams(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p, last encoding.Params
		sum := 0
		for i := range p {
			p[i], last[i] = number().Draw(t, "p"), number().Draw(t, "last")
			sum += encoding.Distance(p[i], last[i])
		}
		require.Equal(t, sum, p.Distance(&last))
		require.Zero(t, p.Distance(&p))

		b := encoding.AppendParams([]byte("head"), &p)[4:]
		got, rest, err := encoding.ReadParams("test", append(b, "tail"...))
		require.NoError(t, err)
		require.Equal(t, p, got)
		require.Equal(t, "tail", string(rest))
		for cut := range b {
			_, _, err := encoding.ReadParams("test", b[:cut])
			require.ErrorIs(t, err, encoding.ErrCorrupt)
		}
	})
}

// Within says what whole numbers say, but for large steps; its width is that of
// the greatest distance.
func TestRamp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.IntRange(0, 64).Draw(t, "width")
		r := encoding.Ramp{First: number().Draw(t, "first"), Step: number().Draw(t, "step"), Spread: math.MaxUint64}
		r.Spread >>= 64 - w // 0 for none
		n := rapid.OneOf(rapid.IntRange(-1, 300), rapid.IntRange(encoding.MaxGroupRows-1, encoding.MaxGroupRows+1)).Draw(t, "n")
		least, most := number().Draw(t, "least"), number().Draw(t, "most")
		if n >= 0 {
			require.Equal(t, (n*w+7)/8, r.Len(n))
		}

		first, last := big.NewInt(r.First), new(big.Int).Mul(big.NewInt(int64(n-1)), big.NewInt(r.Step))
		last.Add(last, first)
		if last.Cmp(first) < 0 {
			first, last = last, first
		}
		last = new(big.Int).Add(last, new(big.Int).SetUint64(r.Spread))
		want := n >= 1 && n <= encoding.MaxGroupRows && big.NewInt(least).Cmp(first) <= 0 && last.Cmp(big.NewInt(most)) <= 0
		got := r.Within(n, least, most)
		if -1<<46 < r.Step && r.Step < 1<<46 {
			require.Equal(t, want, got)
		} else {
			require.False(t, got)
		}
	})
}
