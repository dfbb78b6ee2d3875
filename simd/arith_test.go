package simd_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/simd"
)

// arith are the numbers that the kernels in place take beside values.
type arith struct {
	a, d int64
	w    uint
}

// checkArith compares the kernels that change values in place, or count them,
// with their definitions: before are what dst holds, src the other values.
func checkArith(t failer, in, out *guarded, before, src []int64, p *arith) {
	t.Helper()
	n := len(src)
	same := func(name string, size int, want func(i int) uint64, run func(dst []byte)) {
		t.Helper()
		dst := out.last(size * n)
		copy(dst, bytesOf(before))
		run(dst)
		for i := range n {
			var got uint64
			if size == 8 {
				got = binary.NativeEndian.Uint64(dst[8*i:])
			} else {
				got = uint64(binary.NativeEndian.Uint32(dst[4*i:]))
			}
			if got != want(i) {
				t.Fatalf("%s %v: n %d, %+v: value %d is %x, want %x", name, simd.Current(), n, *p, i, got, want(i))
			}
		}
		if !out.whole(size * n) {
			t.Fatalf("%s %v: n %d: wrote before dst", name, simd.Current(), n)
		}
	}
	x := as[int64](in.last(8 * n))
	copy(x, src)
	halves := func(v []int64) []uint32 { return as[uint32](bytesOf(v))[:n] }
	was, is := halves(before), halves(x)

	same("Shift64", 8, func(i int) uint64 { return uint64(before[i] + p.a) }, func(dst []byte) { simd.Shift64(as[int64](dst), p.a) })
	same("Shift32", 4, func(i int) uint64 { return uint64(was[i] + uint32(p.a)) }, func(dst []byte) { simd.Shift32(as[int32](dst), int32(p.a)) })
	narrow := as[int32](bytesOf(x)[4*n:]) // to the end of the memory
	same("Widen32", 8, func(i int) uint64 { return uint64(narrow[i]) }, func(dst []byte) { simd.Widen32(as[int64](dst), narrow) })
	same("AddProducts64", 8, func(i int) uint64 { return uint64(before[i] + p.a*src[i]) }, func(dst []byte) { simd.AddProducts64(as[int64](dst), x, p.a) })
	least, greatest := simd.MinMaxInt64(nil)
	for i := range before {
		v := before[i] - p.a*src[i]
		least, greatest = min(least, v), max(greatest, v)
	}
	same("SubProducts64", 8, func(i int) uint64 { return uint64(before[i] - p.a*src[i]) }, func(dst []byte) {
		v := as[int64](dst)
		if lo, hi := simd.SubProducts64(v, v, x, p.a); lo != least || hi != greatest {
			t.Fatalf("SubProducts64 %v: n %d, %+v: from %d to %d", simd.Current(), n, *p, lo, hi)
		}
	})
	quotient := func(i int) int64 {
		product := p.a * src[i]
		q := product / p.d
		if product%p.d < 0 {
			q--
		}
		return q
	}
	same("AddQuotients64", 8, func(i int) uint64 { return uint64(before[i] + quotient(i)) }, func(dst []byte) { simd.AddQuotients64(as[int64](dst), x, p.a, p.d) })
	same("SubQuotients64", 8, func(i int) uint64 { return uint64(before[i] - quotient(i)) }, func(dst []byte) { simd.SubQuotients64(as[int64](dst), x, p.a, p.d) })

	count, count32 := 0, 0
	for i := range x {
		if uint64(x[i]-p.a)>>(p.w&63) != 0 {
			count++
		}
		if (is[i]-uint32(p.a))>>(p.w&31) != 0 {
			count32++
		}
	}
	if got := simd.Outside64(x, p.a, p.w&63); got != count {
		t.Fatalf("Outside64 %v: n %d, %+v: %d, want %d", simd.Current(), n, *p, got, count)
	}
	if got := simd.Outside32(as[int32](bytesOf(x))[:n], int32(p.a), p.w&31); got != count32 {
		t.Fatalf("Outside32 %v: n %d, %+v: %d, want %d", simd.Current(), n, *p, got, count32)
	}
}

func TestArith(t *testing.T) {
	in, out := newGuarded(t, 8*1100), newGuarded(t, 8*1100)
	levels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(11, 12))
		any := func() int64 { return int64(r.Uint64()) >> r.IntN(64) }
		for _, n := range counts() {
			for range 4 {
				before, src := make([]int64, n), make([]int64, n)
				for i := range src {
					before[i], src[i] = any(), any()
				}
				checkArith(t, in, out, before, src, &arith{any(), max(2, any()&(1<<63-1)), uint(r.IntN(64))})
			}
		}
	})
}

// The quotients are those of whole numbers, at the ends of their range as well.
func TestQuotients(t *testing.T) {
	levels(t, func(t *testing.T) {
		for _, d := range []int64{2, 3, 5, 7, 1000, 1_000_000, 1<<31 - 1, 1 << 31, 1<<62 - 1, 1 << 62, 1<<62 + 1, 1<<63 - 1} {
			x := []int64{0, 1, -1, 2, -2, d - 1, d, d + 1, 1 - d, -d, -1 - d, 1<<63 - 1, -1 << 63, 1<<63 - 2, 1 - 1<<63, d * 3, 12345678901234567}
			got := make([]int64, len(x))
			simd.AddQuotients64(got, x, 1, d)
			for i, v := range x {
				q, m := new(big.Int).DivMod(big.NewInt(v), big.NewInt(d), new(big.Int)) // Euclid's is the floor for d > 0
				require.Equal(t, q.Int64(), got[i], "%d / %d, %v", v, d, m)
			}
		}
	})
}

func FuzzArith(f *testing.F) {
	f.Add(bytesOf(hostile64), int64(3), int64(1_000_000), uint8(9))
	f.Add(bytes.Repeat([]byte{0x80, 0xff}, 200), int64(-1), int64(2), uint8(63))
	in, out := newGuarded(f, 8*1100), newGuarded(f, 8*1100)
	f.Fuzz(func(t *testing.T, data []byte, a, d int64, w uint8) {
		n := min(len(data)/16, 1030)
		before, src := make([]int64, n), make([]int64, n)
		copy(bytesOf(before), data)
		copy(bytesOf(src), data[8*n:])
		for l := simd.Generic; l <= simd.Supported(); l++ {
			restore := simd.SetLevel(l)
			checkArith(t, in, out, before, src, &arith{a, max(2, d), uint(w)})
			restore()
		}
	})
}

func TestMultiples(t *testing.T) {
	in := newGuarded(t, 8*64)
	levels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(17, 18))
		for range 4000 {
			d := int64(r.Uint64()>>r.IntN(63)) >> 1
			switch r.IntN(3) {
			case 0:
				d = 1 << r.IntN(63)
			case 1:
				d = int64(math.Pow10(r.IntN(19)))
			}
			d = max(d, 1)
			n := r.IntN(40)
			wide, narrow := as[int64](in.last(8*n)), make([]int32, n)
			one := r.IntN(3*n + 1) // where a number may be none
			want, want32 := true, true
			for i := range wide {
				x := int64(r.Uint64()) >> r.IntN(64)
				if r.IntN(10) == 0 {
					x = []int64{math.MinInt64, math.MaxInt64, 0, -1, d, -d, d - 1, 1 - d}[r.IntN(8)]
				}
				if i != one {
					x -= x % d
				}
				wide[i], narrow[i] = x, int32(x)
				want = want && x%d == 0
				want32 = want32 && int64(narrow[i])%d == 0
			}
			if got := simd.Multiples64(wide, d); got != want {
				t.Fatalf("%v of %d: %v", wide, d, got)
			}
			if got := simd.Multiples32(narrow, d); got != want32 {
				t.Fatalf("%v of %d: %v", narrow, d, got)
			}
		}
	})
}
