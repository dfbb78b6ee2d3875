package simd_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/simd"
)

// integerOf is the definition of Singles32 for one value.
func integerOf(v float32, p pair) (r int32, ok bool) {
	up, down, back, scale := p.singles()
	x := v * up
	x *= down
	r = math.MinInt32
	if nearest := math.RoundToEven(float64(x)); nearest >= math.MinInt32 && nearest <= math.MaxInt32 {
		r = int32(nearest)
	}
	y := float32(r) * back
	y *= scale
	return r, math.Float32bits(y) == math.Float32bits(v)
}

func (p pair) singles() (up, down, back, scale float32) {
	a, b, c, d := p.constants()
	return float32(a), float32(b), float32(c), float32(d)
}

func checkSingles(t failer, in, out, bitmap *guarded, src []float32, p pair) {
	t.Helper()
	n := len(src)
	up, down, back, scale := p.singles()
	ints, bad := make([]int32, n), make([]byte, (n+7)/8)
	count, least, greatest := 0, int32(math.MaxInt32), int32(math.MinInt32)
	for i, v := range src {
		r, ok := integerOf(v, p)
		if !ok {
			bad[i/8] |= 1 << (i % 8)
			count++
			continue
		}
		ints[i], least, greatest = r, min(least, r), max(greatest, r)
	}
	v, gotBad, dst := as[float32](in.last(4*n)), bitmap.last((n+7)/8), out.last(4*n)
	copy(v, src)
	c, l, g := simd.Singles32(as[int32](dst), gotBad, v, up, down, back, scale)
	c2, l2, g2 := simd.TrialSingle32(v, up, down, back, scale)
	same := bytes.Equal(dst, bytesOf(ints)) && out.whole(4*n)
	if !same || !bytes.Equal(gotBad, bad) || !bitmap.whole(len(bad)) || c != count || l != least || g != greatest || c2 != c || l2 != l || g2 != g {
		t.Fatalf("%v, n %d, %+v: %d %d %d, %d %d %d, want %d %d %d; %08b, want %08b; ints %v of %v",
			simd.Current(), n, p, c, l, g, c2, l2, g2, count, least, greatest, gotBad, bad, same, src)
	}
}

func TestSingles(t *testing.T) {
	in, out, bitmap := newGuarded(t, 4*1100), newGuarded(t, 4*1100), newGuarded(t, 1100)
	levels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 10))
		for _, n := range counts() {
			for range 8 {
				p := pair{r.IntN(11), 0}
				p.f = r.IntN(p.e + 1)
				if r.IntN(2) == 0 {
					p = pair{6, 4}
				}
				src := float32s(r, n)
				if r.IntN(4) == 0 {
					for i := range src {
						src[i] = float32(int32(r.Uint32()))
					}
				}
				checkSingles(t, in, out, bitmap, src, p)
			}
		}
	})
}

// Integers of which float32 has the last are found, those beside are not.
func TestSinglesAtTheLimits(t *testing.T) {
	levels(t, func(t *testing.T) {
		src := []float32{1 << 31, -1 << 31, 2147483520, -2147483520, 1<<24 + 2, 0.5, 2.5, -0.5, float32(math.Copysign(0, -1)), 0, float32(math.NaN())}
		ints, bad := make([]int32, len(src)), make([]byte, 2)
		count, least, greatest := simd.Singles32(ints, bad, src, 1, 1, 1, 1)
		require.Equal(t, []int32{0, math.MinInt32, 2147483520, -2147483520, 1<<24 + 2, 0, 0, 0, 0, 0, 0}, ints)
		require.Equal(t, []byte{0b1110_0001, 0b101}, bad)
		require.Equal(t, 6, count)
		require.Equal(t, [2]int32{math.MinInt32, 2147483520}, [2]int32{least, greatest})
	})
}

func FuzzSingles(f *testing.F) {
	f.Add(bytesOf(hostile64), uint8(6), uint8(4))
	f.Add(make([]byte, 170), uint8(0), uint8(0))
	in, out, bitmap := newGuarded(f, 4*1100), newGuarded(f, 4*1100), newGuarded(f, 1100)
	f.Fuzz(func(t *testing.T, data []byte, e, g uint8) {
		src := make([]float32, min(len(data)/4, 1030))
		copy(bytesOf(src), data)
		for l := simd.Generic; l <= simd.Supported(); l++ {
			restore := simd.SetLevel(l)
			checkSingles(t, in, out, bitmap, src, pair{int(e % 11), int(g % 11)})
			restore()
		}
	})
}
