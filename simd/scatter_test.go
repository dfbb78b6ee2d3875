package simd_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/colsst/colsst/simd"
)

// checkScatter compares Scatter64 and Scatter32 at the level in use with their
// definition, on positions and numbers that r draws.
func checkScatter(t failer, in, more, out *guarded, r *rand.Rand) {
	t.Helper()
	size := []uint{32, 64}[r.IntN(2)]
	n := []int{128, 128, 1, 2, 100, 1000}[r.IntN(6)]
	b := uint(0)
	for 1<<b < n {
		b++
	}
	count := r.IntN(min(n, 40) + 1)
	at := r.Perm(n)[:count]
	slices.Sort(at)
	w := uint(r.IntN(int(size) + 1))
	shift, signed := uint(r.IntN(int(size-w)+1))%size, r.IntN(2) == 0 && w > 0
	var positions, numbers []uint64
	for _, p := range at {
		positions, numbers = append(positions, uint64(p)), append(numbers, r.Uint64())
	}
	bad := false
	if count > 1 && r.IntN(3) == 0 { // not below n, or not above the one before
		i := 1 + r.IntN(count-1)
		positions[i] = []uint64{positions[i-1], 0, 1<<b - 1}[r.IntN(3)]
		bad = !slices.IsSorted(positions) || slices.Max(positions) >= uint64(n) || len(slices.Compact(slices.Clone(positions))) < count
	}
	room := []int{0, 1, 64, 100}[r.IntN(4)]
	put := func(g *guarded, b []byte) []byte {
		mem := g.last(len(b) + room)
		copy(mem, b)
		return mem[:len(b)]
	}
	p, x := put(in, simd.AppendPack64(nil, positions, b)), put(more, simd.AppendPack64(nil, numbers, w))
	width := int(size / 8)
	dst := out.last(width * n)
	clear(dst)
	want := make([]uint64, n)
	for i, at := range positions {
		u := numbers[i] & (1<<w - 1)
		if signed && u>>(w-1) == 1 {
			u |= ^uint64(0) << w
		}
		if at < uint64(n) {
			want[at] = u << shift
		}
	}
	var ok, same bool
	if size == 64 {
		ok = simd.Scatter64(as[uint64](dst), p, b, x, w, shift, signed, count)
		same = bytes.Equal(dst, bytesOf(want))
	} else {
		ok = simd.Scatter32(as[uint32](dst), p, b, x, w, shift, signed, count)
		var narrow []uint32
		for _, u := range want {
			narrow = append(narrow, uint32(u))
		}
		same = bytes.Equal(dst, bytesOf(narrow))
	}
	if ok == bad || ok && !same || !out.whole(width*n) {
		t.Fatalf("%v: %d of %d, width %d, shift %d, signed %v, positions %d: %v\ngot  %x\nwant %x", simd.Current(), count, n, w, shift, signed, positions, ok, dst, want)
	}
}

func TestScatter(t *testing.T) {
	in, more, out := newGuarded(t, 1000), newGuarded(t, 1000), newGuarded(t, 8000)
	levels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 9))
		for range 3000 {
			checkScatter(t, in, more, out, r)
		}
	})
}

func FuzzScatter(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	in, more, out := newGuarded(f, 1000), newGuarded(f, 1000), newGuarded(f, 8000)
	f.Fuzz(func(t *testing.T, a, b uint64) {
		for l := simd.Generic; l <= simd.Supported(); l++ {
			restore := simd.SetLevel(l)
			checkScatter(t, in, more, out, rand.New(rand.NewPCG(a, b)))
			restore()
		}
	})
}
