package alp

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/internal/frame"
	"github.com/colsst/colsst/simd"
)

// A chunk that repeats the one before is as a choice would have made it, and
// none depends on the level: each is made by a choice too, from the same state,
// and all of them at levels in turn.
func TestRepeat(t *testing.T) {
	repeats := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 77))
		var e Encoder
		repeats += checkRepeat(t, r, &e, &e.wide, 64, e.AppendFloat64, new(Decoder).Float64, math.Float64bits)
		e.Reset()
		repeats += checkRepeat(t, r, &e, &e.narrow, 32, e.AppendFloat32, new(Decoder).Float32, math.Float32bits)
	}
	require.Greater(t, repeats, 500)
}

func checkRepeat[F float, I frame.Integer, U comparable](t *testing.T, r *rand.Rand, e *Encoder, s *integers[I], m uint,
	encode func([]byte, []F, *encoding.Params) []byte, decode func([]F, *encoding.Params, []byte) error, bits func(F) U) (repeats int) {
	level := simd.Supported()
	defer simd.SetLevel(level)()
	var last encoding.Params
	for i, x := range changing[F](r) {
		simd.SetLevel(simd.Level(i) % (level + 1))
		had := *e
		var p encoding.Params
		got := encode(nil, x, &p)
		after := *e

		simd.SetLevel(level)
		*e = had
		e.mask, e.codes = resize(e.mask, (len(x)+7)/8), resize(e.codes, len(x))
		s.resize(len(x))
		c := chunk[F, I]{Encoder: e, integers: s, src: x, m: m}
		plan := c.choose()
		want := c.append(nil, &plan)
		require.Equal(t, plan.params, p)
		require.Equal(t, want, got)
		require.Equal(t, e.ofMode, after.ofMode)
		require.Equal(t, e.ofFrame, after.ofFrame)
		*e = after

		out := make([]F, len(x))
		require.NoError(t, decode(out, &p, got))
		for j, v := range x {
			require.Equal(t, bits(v), bits(out[j]))
		}
		if p[pFirst] = 0; i > 0 && p == last {
			repeats++
		}
		last = p
	}
	return repeats
}

// changing are chunks of values, the nature of which may change on the way.
func changing[F float](r *rand.Rand) (all [][]F) {
	n := []int{128, 100, 20, 7}[r.IntN(4)]
	step, grow := math.Pow(10, 2*r.NormFloat64()), 1+0.1*float64(r.IntN(2))
	digits, kind := math.Pow10(r.IntN(5)), r.IntN(5)
	changes, odd := r.IntN(3) == 0, []int{0, 0, 5, 30, 500}[r.IntN(5)]
	v := 100 * r.NormFloat64()
	for range 64 {
		if changes && r.IntN(12) == 0 {
			digits, kind = math.Pow10(r.IntN(5)), []int{0, 0, 1, 1, 2, 3, 4}[r.IntN(7)]
		}
		x := make([]F, n)
		for i := range x {
			w := float64(step * r.NormFloat64())
			v += w
			switch kind {
			case 0:
				x[i] = F(v)
			case 1:
				x[i] = F(math.Round(v*digits) / digits)
			case 2:
				x[i] = F(math.Round(w*digits) / digits)
			case 3:
				x[i] = F(r.ExpFloat64())
			case 4:
				x[i] = F(i * 3)
			}
			if odd > 0 && r.IntN(odd) == 0 {
				x[i] = []F{F(math.NaN()), F(math.Inf(1)), F(1e9 * v), F(math.Copysign(0, -1)), math.SmallestNonzeroFloat32}[r.IntN(5)]
			}
		}
		step *= grow
		all = append(all, slices.Clip(x))
	}
	return all
}
