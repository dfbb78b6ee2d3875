package simd_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/simd"
)

// hostile64 are floats that tend to break what handles floats.
var hostile64 = []float64{
	0, math.Copysign(0, -1), 1, -1, 0.5, 1.5, 2.5, -2.5, 0.1, 12.345, 1e300, -1e300, math.MaxFloat64, math.SmallestNonzeroFloat64,
	math.Inf(1), math.Inf(-1), math.NaN(), math.Float64frombits(0xfff8dead00000001), math.Float64frombits(0x7ff0000000000001),
	1 << 51, -1 << 51, 1<<51 + 1, -1<<51 - 1, 1 << 52, 1 << 53, 1 << 63, -1 << 63, 1 << 62, 1 << 24, 1<<24 + 1, -1 << 24, 0.49999999999999994,
}

func float64s(r *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	mode := r.IntN(4)
	for i := range out {
		switch {
		case mode == 0 || mode == 1 && r.IntN(20) == 0:
			out[i] = hostile64[r.IntN(len(hostile64))]
		case mode == 3:
			out[i] = math.Float64frombits(r.Uint64())
		default:
			out[i] = float64(r.IntN(20001)-10000) / 100
		}
	}
	return out
}

func float32s(r *rand.Rand, n int) []float32 {
	out := make([]float32, n)
	for i, v := range float64s(r, n) {
		out[i] = float32(v)
		if v != v || r.IntN(50) == 0 {
			out[i] = math.Float32frombits(r.Uint32())
		}
	}
	return out
}

type pair struct{ e, f int }

func (p pair) constants() (up, down, back, scale float64) {
	return math.Pow10(p.e), math.Pow10(-p.f), math.Pow10(p.f), math.Pow10(-p.e)
}

// isDecimal is the definition for one float64, or one float32 in a float64.
func isDecimal(v float64, p pair, narrow bool) (d int64, ok bool) {
	up, down, back, scale := p.constants()
	x := v * up
	x *= down
	limit := float64(simd.Limit64)
	if narrow {
		limit = simd.Limit32
	}
	switch {
	case math.IsNaN(x) || x > limit:
		x = limit
	case x < -limit:
		x = -limit
	}
	r := math.RoundToEven(x)
	d = int64(r)
	y := float64(d) * back
	y *= scale
	if narrow {
		return d, math.Float32bits(float32(y)) == math.Float32bits(float32(v))
	}
	return d, math.Float64bits(y) == math.Float64bits(v)
}

func checkTrial(t failer, in, out, bitmap *guarded, src []float64, src32 []float32, p pair) {
	t.Helper()
	n := len(src)
	up, down, back, scale := p.constants()
	for _, narrow := range []bool{false, true} {
		ints, ints32 := make([]int64, n), make([]int32, n)
		bad := make([]byte, (n+7)/8)
		count, least, greatest := 0, int64(math.MaxInt64), int64(math.MinInt64)
		for i := range n {
			v := src[i]
			if narrow {
				v = float64(src32[i])
				if v != v { // conversions make NaNs quiet, and no decimals
					v = math.NaN()
				}
			}
			d, ok := isDecimal(v, p, narrow)
			if !ok {
				bad[i/8] |= 1 << (i % 8)
				count++
				continue
			}
			ints[i], ints32[i] = d, int32(d)
			least, greatest = min(least, d), max(greatest, d)
		}
		gotBad := bitmap.last((n + 7) / 8)
		var c, c2 int
		var l, l2, g, g2 int64
		var same bool
		if narrow {
			v := as[float32](in.last(4 * n))
			copy(v, src32)
			dst := out.last(4 * n)
			c, l, g = simd.Decimals32(as[int32](dst), gotBad, v, up, down, back, scale)
			c2, l2, g2 = simd.Trial32(v, up, down, back, scale)
			same = bytes.Equal(dst, bytesOf(ints32)) && out.whole(4*n)
		} else {
			v := as[float64](in.last(8 * n))
			copy(v, src)
			dst := out.last(8 * n)
			c, l, g = simd.Decimals64(as[int64](dst), gotBad, v, up, down, back, scale)
			c2, l2, g2 = simd.Trial64(v, up, down, back, scale)
			same = bytes.Equal(dst, bytesOf(ints)) && out.whole(8*n)
		}
		if !same || !bytes.Equal(gotBad, bad) || !bitmap.whole(len(bad)) || c != count || l != least || g != greatest || c2 != c || l2 != l || g2 != g {
			t.Fatalf("%v, n %d, %+v, narrow %v: %d %d %d, %d %d %d, want %d %d %d; %08b, want %08b; ints %v of %v",
				simd.Current(), n, p, narrow, c, l, g, c2, l2, g2, count, least, greatest, gotBad, bad, same, src)
		}
	}
}

func TestTrial(t *testing.T) {
	in, out, bitmap := newGuarded(t, 8*1100), newGuarded(t, 8*1100), newGuarded(t, 1100)
	levels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		for _, n := range counts() {
			for range 8 {
				p := pair{r.IntN(19), 0}
				p.f = r.IntN(p.e + 1)
				if r.IntN(2) == 0 {
					p = pair{2, 0}
				}
				checkTrial(t, in, out, bitmap, float64s(r, n), float32s(r, n), p)
			}
		}
	})
}

func TestTrialOfHalves(t *testing.T) {
	levels(t, func(t *testing.T) {
		src, ints, bad := []float64{0.5, 1.5, 2.5, -0.5, 3, 4, 5, 6, 7}, make([]int64, 9), make([]byte, 2)
		count, least, greatest := simd.Decimals64(ints, bad, src, 1, 1, 1, 1)
		require.Equal(t, 4, count)
		require.Equal(t, []int64{0, 0, 0, 0, 3, 4, 5, 6, 7}, ints)
		require.Equal(t, []byte{0b1111, 0}, bad)
		require.Equal(t, [2]int64{3, 7}, [2]int64{least, greatest})
	})
}

func FuzzTrial(f *testing.F) {
	f.Add(bytesOf(hostile64), uint8(14), uint8(12))
	f.Add(make([]byte, 170), uint8(0), uint8(0))
	in, out, bitmap := newGuarded(f, 8*1100), newGuarded(f, 8*1100), newGuarded(f, 1100)
	f.Fuzz(func(t *testing.T, data []byte, e, g uint8) {
		n := min(len(data)/8, 1030)
		src, src32 := make([]float64, n), make([]float32, n)
		copy(bytesOf(src), data)
		copy(bytesOf(src32), data)
		for l := simd.Generic; l <= simd.Supported(); l++ {
			restore := simd.SetLevel(l)
			checkTrial(t, in, out, bitmap, src, src32, pair{int(e % 19), int(g % 19)})
			restore()
		}
	})
}
