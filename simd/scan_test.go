package simd_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/simd"
)

// checkScans compares the kernels that look at every value once with their
// definitions, for any bits.
func checkScans(t failer, in, out *guarded, bits []uint64, zeros uint) {
	t.Helper()
	n := len(bits)
	failed := func(name string) {
		t.Helper()
		t.Fatalf("%s %v: n %d, zeros %d, %x", name, simd.Current(), n, zeros, bits)
	}

	src := as[uint64](in.last(8 * n))
	copy(src, bits)
	ints, floats := as[int64](bytesOf(src)), as[float64](bytesOf(src))
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	dlo, dhi, olo, ohi := lo, hi, lo, hi
	flo, fhi := math.Inf(1), math.Inf(-1)
	nans := 0
	deltas, ordered := make([]int64, max(n-1, 0)), make([]int64, n)
	for i, v := range ints {
		lo, hi = min(lo, v), max(hi, v)
		if i > 0 {
			d := v - ints[i-1]
			deltas[i-1] = d
			dlo, dhi = min(dlo, d), max(dhi, d)
		}
		x := v >> zeros
		if v < 0 {
			x ^= 1<<(63-zeros) - 1
		}
		ordered[i] = x
		olo, ohi = min(olo, x), max(ohi, x)
		if f := floats[i]; f != f {
			nans++
		} else {
			flo, fhi = math.Min(flo, f), math.Max(fhi, f) // which know -0.0 < 0.0
		}
	}
	if a, b := simd.MinMaxInt64(ints); a != lo || b != hi {
		failed("MinMaxInt64")
	}
	for _, flip := range []int64{0, -1, -1 << 63, int64(zeros)} {
		ascents := 0
		for i := range max(n, 1) - 1 {
			if ints[i]^flip < ints[i+1]^flip {
				ascents++
			}
		}
		if simd.Ascents64(ints, flip) != ascents {
			failed("Ascents64")
		}
	}
	a, b, c := simd.MinMaxFloat64(floats)
	if math.Float64bits(a) != math.Float64bits(flo) || math.Float64bits(b) != math.Float64bits(fhi) || c != nans {
		failed("MinMaxFloat64")
	}
	dst := out.last(8 * len(deltas))
	if a, b := simd.Deltas64(as[int64](dst), ints); a != dlo || b != dhi || !bytes.Equal(dst, bytesOf(deltas)) || !out.whole(len(dst)) {
		failed("Deltas64")
	}
	dst = out.last(8 * n)
	if a, b := simd.Order64(as[int64](dst), floats, zeros); a != olo || b != ohi || !bytes.Equal(dst, bytesOf(ordered)) || !out.whole(len(dst)) {
		failed("Order64")
	}
}

func checkScans32(t failer, in, out *guarded, bits []uint32, zeros uint) {
	t.Helper()
	n := len(bits)
	failed := func(name string) {
		t.Helper()
		t.Fatalf("%s %v: n %d, zeros %d, %x", name, simd.Current(), n, zeros, bits)
	}

	src := as[uint32](in.last(4 * n))
	copy(src, bits)
	ints, floats := as[int32](bytesOf(src)), as[float32](bytesOf(src))
	lo, hi := int32(math.MaxInt32), int32(math.MinInt32)
	dlo, dhi, olo, ohi := lo, hi, lo, hi
	flo, fhi := math.Inf(1), math.Inf(-1)
	nans := 0
	deltas, ordered := make([]int32, max(n-1, 0)), make([]int32, n)
	for i, v := range ints {
		lo, hi = min(lo, v), max(hi, v)
		if i > 0 {
			d := v - ints[i-1]
			deltas[i-1] = d
			dlo, dhi = min(dlo, d), max(dhi, d)
		}
		x := v >> zeros
		if v < 0 {
			x ^= 1<<(31-zeros) - 1
		}
		ordered[i] = x
		olo, ohi = min(olo, x), max(ohi, x)
		if f := float64(floats[i]); f != f {
			nans++
		} else {
			flo, fhi = math.Min(flo, f), math.Max(fhi, f)
		}
	}
	if a, b := simd.MinMaxInt32(ints); a != lo || b != hi {
		failed("MinMaxInt32")
	}
	for _, flip := range []int32{0, -1, -1 << 31, int32(zeros)} {
		ascents := 0
		for i := range max(n, 1) - 1 {
			if ints[i]^flip < ints[i+1]^flip {
				ascents++
			}
		}
		if simd.Ascents32(ints, flip) != ascents {
			failed("Ascents32")
		}
	}
	a, b, c := simd.MinMaxFloat32(floats)
	if math.Float32bits(a) != math.Float32bits(float32(flo)) || math.Float32bits(b) != math.Float32bits(float32(fhi)) || c != nans {
		failed("MinMaxFloat32")
	}
	dst := out.last(4 * len(deltas))
	if a, b := simd.Deltas32(as[int32](dst), ints); a != dlo || b != dhi || !bytes.Equal(dst, bytesOf(deltas)) || !out.whole(len(dst)) {
		failed("Deltas32")
	}
	dst = out.last(4 * n)
	if a, b := simd.Order32(as[int32](dst), floats, zeros); a != olo || b != ohi || !bytes.Equal(dst, bytesOf(ordered)) || !out.whole(len(dst)) {
		failed("Order32")
	}
}

func TestScans(t *testing.T) {
	in, out := newGuarded(t, 8*1100), newGuarded(t, 8*1100)
	levels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 10))
		for _, n := range counts() {
			for range 8 {
				zeros := []uint{0, uint(r.IntN(64))}[r.IntN(2)]
				bits, bits32 := make([]uint64, n), make([]uint32, n)
				copy(bytesOf(bits), bytesOf(float64s(r, n)))
				copy(bytesOf(bits32), bytesOf(float32s(r, n)))
				checkScans(t, in, out, bits, zeros)
				checkScans32(t, in, out, bits32, zeros%32)
			}
		}
	})
}

// Ordered64 undoes Order64, and the order is that of the floats.
func TestOrder(t *testing.T) {
	levels(t, func(t *testing.T) {
		src := []float64{math.Inf(-1), -math.MaxFloat64, -1.5, -1, -math.SmallestNonzeroFloat64, math.Copysign(0, -1), 0, math.SmallestNonzeroFloat64, 1, 1.5, math.Inf(1)}
		x, back := make([]int64, len(src)), make([]float64, len(src))
		simd.Order64(x, src, 0)
		require.IsIncreasing(t, x)
		c := simd.Plain64(as[uint64](bytesOf(x)))
		simd.Ordered64(back, &c, 0, 0)
		require.Equal(t, bytesOf(src), bytesOf(back))
	})
}

func FuzzScans(f *testing.F) {
	f.Add(bytesOf(hostile64), uint8(0))
	f.Add(make([]byte, 170), uint8(63))
	in, out := newGuarded(f, 8*1100), newGuarded(f, 8*1100)
	f.Fuzz(func(t *testing.T, data []byte, zeros uint8) {
		data = data[:min(len(data), 8*1030)]
		bits, bits32 := make([]uint64, len(data)/8), make([]uint32, len(data)/8)
		copy(bytesOf(bits), data)
		copy(bytesOf(bits32), data)
		for l := simd.Generic; l <= simd.Supported(); l++ {
			restore := simd.SetLevel(l)
			checkScans(t, in, out, bits, uint(zeros%64))
			checkScans32(t, in, out, bits32, uint(zeros%32))
			restore()
		}
	})
}
