package exactsum

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// exact is the sum by arbitrary precision.
func exact(v []float64) float64 {
	sum := new(big.Float).SetPrec(5000)
	for _, x := range v {
		sum.Add(sum, big.NewFloat(x))
	}
	f, _ := sum.Float64()
	return f
}

func TestSum(t *testing.T) {
	inf, nan, minus0 := math.Inf(1), math.Float64frombits(0x7ff8000000000000), math.Copysign(0, -1)
	most, least := math.MaxFloat64, math.SmallestNonzeroFloat64
	for _, c := range []struct {
		v    []float64
		want float64
	}{
		{nil, 0},
		{[]float64{0}, 0},
		{[]float64{minus0}, minus0},
		{[]float64{minus0, minus0}, minus0},
		{[]float64{minus0, 0}, 0},
		{[]float64{1, -1}, 0},
		{[]float64{0.1, 0.2, -0.3}, 0x1p-55},
		{[]float64{1e308, 1, -1e308}, 1},
		{[]float64{most, most, -most}, most},
		{[]float64{most, most}, inf},
		{[]float64{-most, -most}, -inf},
		{[]float64{least, least}, 2 * least},
		{[]float64{1, 0x1p-53}, 1},
		{[]float64{1, 0x1p-53, least}, 1 + 0x1p-52},
		{[]float64{inf, 1}, inf},
		{[]float64{-inf, most}, -inf},
		{[]float64{inf, -inf}, nan},
		{[]float64{nan, 1}, nan},
		{[]float64{math.Float64frombits(math.MaxUint64)}, nan},
	} {
		var s Sum
		s.Add(c.v)
		if got := s.Float64(); math.Float64bits(got) != math.Float64bits(c.want) {
			t.Errorf("%g: %g, want %g", c.v, got, c.want)
		}
	}
}

func TestSumIsExact(t *testing.T) {
	finite := rapid.Map(rapid.Uint64(), func(b uint64) float64 {
		if v := math.Float64frombits(b); !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v
		}
		return 1
	})
	near := rapid.Float64Range(-100, 100)
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOf(rapid.OneOf(finite, near)).Draw(t, "v")
		cut := rapid.IntRange(0, len(v)).Draw(t, "cut")
		var a, b Sum
		a.Add(v[cut:])
		for i := range v[:cut] {
			b.Add(v[i : i+1])
		}
		a.Merge(&b)
		if got, want := a.Float64(), exact(v); got != want {
			t.Fatalf("%g, want %g", got, want)
		}
	})
}

func TestSumOfMany(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	v, w := make([]float64, 20_000), make([]float32, 20_000)
	for i := range v {
		w[i] = float32(r.NormFloat64() * math.Pow(2, float64(r.IntN(60))))
		v[i] = float64(w[i])
	}
	var s, s32 Sum
	s.Add(v)
	s32.AddFloat32(w)
	if got, want := s.Float64(), exact(v); got != want || s32.Float64() != want {
		t.Errorf("%g and %g, want %g", got, s32.Float64(), want)
	}
	for i := range v {
		v[i] = -math.MaxFloat64
	}
	v[0] = math.MaxFloat64 // the greatest carries
	var most Sum
	for range 10 {
		most.Add(v)
	}
	if got := most.Float64(); !math.IsInf(got, -1) {
		t.Errorf("%g", got)
	}
	for i := range v {
		v[i] = math.MaxFloat64
	}
	v[0] = -math.MaxFloat64
	for range 10 {
		most.Add(v)
	}
	if got := most.Float64(); got != 0 {
		t.Errorf("%g of as many of both signs", got)
	}
}

func BenchmarkAdd(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	v := make([]float64, 1024)
	for i := range v {
		v[i] = 20 + r.NormFloat64()
	}
	var s Sum
	b.SetBytes(int64(8 * len(v)))
	for b.Loop() {
		s.Add(v)
	}
}
