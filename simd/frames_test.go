package simd_test

import (
	"bytes"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/colsst/colsst/simd"
)

// window are the numbers that the kernels for frames take beside values.
type window struct {
	end, centre, step int64
	w                 uint
	span              uint64
	below             bool
}

// checkFrames compares the kernels for frames of reference with their
// definitions, for any values.
func checkFrames(t failer, in, out *guarded, values []int64, p *window) {
	t.Helper()
	n := len(values)
	failed := func(name string) {
		t.Helper()
		t.Fatalf("%s %v: n %d, %+v, %x", name, simd.Current(), n, *p, values)
	}
	src := as[int64](in.last(8 * n))
	copy(src, values)
	beside, around, mask, rest := make([]byte, n), make([]byte, n), make([]byte, (n+7)/8), make([]int64, n)
	least, greatest := int64(math.MaxInt64), int64(math.MinInt64)
	for i, v := range values {
		d := v - p.end
		if p.below {
			d = -d
		}
		beside[i] = byte(bits.Len64(uint64(d)))
		c := v - p.centre
		around[i] = byte(bits.Len64(uint64(c<<1 ^ c>>63)))
		if uint64(v-p.end) > p.span {
			mask[i/8] |= 1 << (i % 8)
		}
		rest[i] = v - p.end - int64(i)*p.step
		least, greatest = min(least, rest[i]), max(greatest, rest[i])
	}
	var want, got [2][8]int
	most := int(p.w) - 6
	for i := range values {
		for k := range want[0] {
			if int(beside[i]) > most-k {
				want[0][k]++
			}
			if int(around[i]) > most-k {
				want[1][k]++
			}
		}
	}
	if simd.Tails64(&got, src, p.end, p.below, p.centre, most); got != want {
		failed("Tails64")
	}
	dst := out.last(len(mask))
	simd.Outliers64(dst, src, p.end, p.span)
	if !bytes.Equal(dst, mask) || !out.whole(len(mask)) {
		failed("Outliers64")
	}
	dst = out.last(8 * n)
	if a, b := simd.SubRamp64(as[int64](dst), src, p.end, p.step); a != least || b != greatest || !bytes.Equal(dst, bytesOf(rest)) || !out.whole(8*n) {
		failed("SubRamp64")
	}
	var table [8]uint64
	for i := range table {
		table[i] = uint64(i) // at most four of them are of use
		if n > 0 && i%2 == 0 {
			table[i] = uint64(values[i*n/9]) >> (p.w & 63)
		}
	}
	codes, misses, count := make([]uint64, n), make([]byte, len(mask)), 0
	for i, v := range values {
		code := slices.Index(table[:], uint64(v)>>(p.w&63))
		if code < 0 {
			misses[i/8] |= 1 << (i % 8)
			count++
		}
		codes[i] = uint64(max(code, 0))
	}
	copy(as[int64](in.last(8*n)), values)
	dst, other := out.last(8*n), make([]byte, len(mask))
	if c := simd.Lookup64(as[uint64](dst), other, as[uint64](bytesOf(src)), p.w&63, &table); c != count || !bytes.Equal(dst, bytesOf(codes)) || !bytes.Equal(other, misses) || !out.whole(8*n) {
		failed("Lookup64")
	}
	if n >= 16 {
		copy(as[int64](in.last(8*n)), values)
		var want, got [16]int64
		for i := range want {
			want[i] = values[(2*i+1)*n/32]
		}
		slices.Sort(want[:])
		if simd.Sample64(&got, src); got != want {
			failed("Sample64")
		}
	}
	if n >= 17 {
		var want, got [16]int64
		for i := range want {
			k := (2*i + 1) * (n - 1) / 32
			want[i] = values[k+1] - values[k]
		}
		slices.Sort(want[:])
		if simd.SampleDeltas64(&got, src); got != want {
			failed("SampleDeltas64")
		}
	}
}

func checkFrames32(t failer, in, out *guarded, values []int32, p *window) {
	t.Helper()
	n := len(values)
	end, centre, step := int32(p.end), int32(p.centre), int32(p.step)
	failed := func(name string) {
		t.Helper()
		t.Fatalf("%s %v: n %d, %+v, %x", name, simd.Current(), n, *p, values)
	}
	src := as[int32](in.last(4 * n))
	copy(src, values)
	beside, around, mask, rest := make([]byte, n), make([]byte, n), make([]byte, (n+7)/8), make([]int32, n)
	least, greatest := int32(math.MaxInt32), int32(math.MinInt32)
	for i, v := range values {
		d := v - end
		if p.below {
			d = -d
		}
		beside[i] = byte(bits.Len32(uint32(d)))
		c := v - centre
		around[i] = byte(bits.Len32(uint32(c<<1 ^ c>>31)))
		if uint32(v-end) > uint32(p.span) {
			mask[i/8] |= 1 << (i % 8)
		}
		rest[i] = v - end - int32(i)*step
		least, greatest = min(least, rest[i]), max(greatest, rest[i])
	}
	var want, got [2][8]int
	most := int(p.w) - 6
	for i := range values {
		for k := range want[0] {
			if int(beside[i]) > most-k {
				want[0][k]++
			}
			if int(around[i]) > most-k {
				want[1][k]++
			}
		}
	}
	if simd.Tails32(&got, src, end, p.below, centre, most); got != want {
		failed("Tails32")
	}
	dst := out.last(len(mask))
	simd.Outliers32(dst, src, end, uint32(p.span))
	if !bytes.Equal(dst, mask) || !out.whole(len(mask)) {
		failed("Outliers32")
	}
	dst = out.last(4 * n)
	if a, b := simd.SubRamp32(as[int32](dst), src, end, step); a != least || b != greatest || !bytes.Equal(dst, bytesOf(rest)) || !out.whole(4*n) {
		failed("SubRamp32")
	}
	if n >= 16 {
		var want, got [16]int64
		for i := range want {
			want[i] = int64(values[(2*i+1)*n/32])
		}
		slices.Sort(want[:])
		if simd.Sample32(&got, src); got != want {
			failed("Sample32")
		}
	}
	if n >= 17 {
		var want, got [16]int64
		for i := range want {
			k := (2*i + 1) * (n - 1) / 32
			want[i] = int64(values[k+1] - values[k])
		}
		slices.Sort(want[:])
		if simd.SampleDeltas32(&got, src); got != want {
			failed("SampleDeltas32")
		}
	}
}

func TestFrames(t *testing.T) {
	in, out := newGuarded(t, 8*1100), newGuarded(t, 8*1100)
	levels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(13, 14))
		near := func() int64 { return int64(r.Uint64()) >> r.IntN(64) }
		for _, n := range counts() {
			for range 4 {
				p := window{near(), near(), near(), uint(r.IntN(64)), uint64(near()), r.IntN(2) == 0}
				values, values32 := make([]int64, n), make([]int32, n)
				for i := range values {
					values[i] = near() + []int64{0, p.end, p.centre}[r.IntN(3)]
					values32[i] = int32(values[i])
				}
				checkFrames(t, in, out, values, &p)
				checkFrames32(t, in, out, values32, &p)
			}
		}
	})
}

func TestSort16(t *testing.T) {
	levels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(15, 16))
		for range 2000 {
			var v [16]int64
			spread := r.IntN(64)
			for i := range v {
				v[i] = int64(r.Uint64()) >> spread
			}
			want := v
			slices.Sort(want[:])
			got := v
			if simd.Sort16(&got); got != want {
				t.Fatalf("Sort16 of %v: %v", v, got)
			}
		}
		// By the zero-one principle a network that sorts these sorts all.
		for bits := range 1 << 16 {
			var v [16]int64
			ones := 0
			for i := range v {
				v[i] = int64(bits >> i & 1)
				ones += bits >> i & 1
			}
			simd.Sort16(&v)
			for i := range v {
				if (v[i] == 1) != (i >= 16-ones) {
					t.Fatalf("Sort16 of the bits of %#x: %v", bits, v)
				}
			}
		}
	})
}

func FuzzFrames(f *testing.F) {
	f.Add(bytesOf(hostile64), int64(3), int64(-3), int64(5), uint8(9), true)
	f.Add(bytes.Repeat([]byte{0x80, 0xff}, 200), int64(math.MinInt64), int64(math.MaxInt64), int64(-1), uint8(63), false)
	in, out := newGuarded(f, 8*1100), newGuarded(f, 8*1100)
	f.Fuzz(func(t *testing.T, data []byte, end, centre, step int64, w uint8, below bool) {
		n := min(len(data)/8, 1030)
		values, values32 := make([]int64, n), make([]int32, n)
		copy(bytesOf(values), data)
		copy(bytesOf(values32), data)
		p := window{end, centre, step, uint(w % 64), uint64(step), below}
		for l := simd.Generic; l <= simd.Supported(); l++ {
			restore := simd.SetLevel(l)
			checkFrames(t, in, out, values, &p)
			checkFrames32(t, in, out, values32, &p)
			restore()
		}
	})
}

// Counters of a kernel must not wrap where every value counts.
func TestTailsOfMany(t *testing.T) {
	levels(t, func(t *testing.T) {
		for _, n := range []int{2039, 2040, 2041, 4081, 1 << 16} {
			var tails [2][8]int
			wide, narrow := make([]int64, n), make([]int32, n)
			for i := range wide {
				wide[i], narrow[i] = math.MaxInt64, math.MaxInt32
			}
			want := [2][8]int{{n, n, n, n, n, n, n, n}, {n, n, n, n, n, n, n, n}}
			simd.Tails64(&tails, wide, 0, false, 0, 62)
			if tails != want {
				t.Fatalf("%v: %d values: %v", simd.Current(), n, tails)
			}
			simd.Tails32(&tails, narrow, 0, false, 0, 30)
			if tails != want {
				t.Fatalf("%v: %d values: %v", simd.Current(), n, tails)
			}
		}
	})
}
