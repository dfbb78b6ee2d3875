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

// checkPatches compares Patches64 and Patches32 at the level in use with their
// definition, on runs that r draws.
func checkPatches(t failer, in, out *guarded, r *rand.Rand) {
	t.Helper()
	size := []uint{32, 64}[r.IntN(2)]
	var packed []byte
	var runs []simd.Run64
	var want []uint64
	bad := false
	for range 1 + r.IntN(8) {
		n := []int{128, 128, 1, 2, 100, 500}[r.IntN(6)]
		b := uint(0)
		for 1<<b < n {
			b++
		}
		highs := make([]uint64, n)
		count := min(n, 40*r.IntN(2)) * r.IntN(101) / 100
		at := r.Perm(n)[:count]
		slices.Sort(at)
		var positions, numbers []uint64
		for _, p := range at {
			positions, numbers = append(positions, uint64(p)), append(numbers, r.Uint64())
		}
		if count > 1 && r.IntN(12) == 0 { // not below n, or not above the one before
			i := 1 + r.IntN(count-1)
			positions[i] = []uint64{positions[i-1], 0, 1<<b - 1}[r.IntN(3)]
			bad = bad || !slices.IsSorted(positions) || slices.Max(positions) >= uint64(n) || len(slices.Compact(slices.Clone(positions))) < count
		}
		run := simd.Run64{N: n, Width: uint(r.IntN(int(size))), Patches: count, PositionWidth: b}
		run.HighWidth = uint(1 + r.IntN(int(size-run.Width)))
		if r.IntN(2) == 0 {
			run.Sign = 1 << (run.HighWidth - 1)
		}
		run.Positions = len(packed)
		packed = append(simd.AppendPack64(packed, positions, b), packed[:min(len(packed), r.IntN(3))]...)
		run.Highs = len(packed)
		packed = simd.AppendPack64(packed, numbers, run.HighWidth)
		for i, p := range positions {
			x := numbers[i] & (^uint64(0) >> (64 - run.HighWidth))
			if run.Sign != 0 && x>>(run.HighWidth-1) == 1 {
				x |= ^uint64(0) << run.HighWidth
			}
			if p < uint64(n) {
				highs[p] = x << run.Width
			}
		}
		runs, want = append(runs, run), append(want, highs...)
	}
	src := in.last(len(packed) + []int{0, 1, 64, 100}[r.IntN(4)])
	copy(src, packed)
	src = src[:len(packed)]
	width := int(size / 8)
	dst := out.last(width * len(want))
	clear(dst)
	var ok, same bool
	if size == 64 {
		ok = simd.Patches64(as[uint64](dst), src, runs)
		same = bytes.Equal(dst, bytesOf(want))
	} else {
		var runs32 []simd.Run32
		for _, x := range runs {
			runs32 = append(runs32, simd.Run32{N: x.N, Width: x.Width, Patches: x.Patches, Positions: x.Positions,
				PositionWidth: x.PositionWidth, Highs: x.Highs, HighWidth: x.HighWidth, Sign: int32(uint32(x.Sign))})
		}
		ok = simd.Patches32(as[uint32](dst), src, runs32)
		var narrow []uint32
		for _, u := range want {
			narrow = append(narrow, uint32(u))
		}
		same = bytes.Equal(dst, bytesOf(narrow))
	}
	if ok == bad || ok && !same || !out.whole(width*len(want)) {
		t.Fatalf("%v: %d bits, %+v: %v\ngot  %x\nwant %x", simd.Current(), size, runs, ok, dst, want)
	}
}

func TestPatches(t *testing.T) {
	in, out := newGuarded(t, 8000), newGuarded(t, 8*8*500)
	levels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 9))
		for range 1000 {
			checkPatches(t, in, out, r)
		}
	})
}

// Patches beyond the source or the highs are a panic, whatever their capacity.
func TestPatchesOutside(t *testing.T) {
	levels(t, func(t *testing.T) {
		src, highs := make([]byte, 100, 1000), make([]uint32, 128, 1000)
		good := simd.Run32{N: 128, Width: 3, Patches: 3, Positions: 10, PositionWidth: 7, Highs: 20, HighWidth: 8}
		for i, change := range []func(r *simd.Run32){
			func(r *simd.Run32) { r.Positions = -1 }, func(r *simd.Run32) { r.Positions = 98 }, func(r *simd.Run32) { r.Highs = -1 },
			func(r *simd.Run32) { r.Highs = 98 }, func(r *simd.Run32) { r.N = 129 }, func(r *simd.Run32) { r.N = -1 },
			func(r *simd.Run32) { r.Positions = math.MaxInt },
			func(r *simd.Run32) { r.Patches, r.PositionWidth = 1<<(bits.UintSize-3), 8 },
		} {
			run := good
			change(&run)
			func() {
				defer func() {
					if recover() == nil {
						t.Fatalf("%d was read", i)
					}
				}()
				copy(src[10:], []byte{1<<7 | 1, 1})
				simd.Patches32(highs, src, []simd.Run32{run})
			}()
		}
	})
}

func FuzzPatches(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	in, out := newGuarded(f, 8000), newGuarded(f, 8*8*500)
	f.Fuzz(func(t *testing.T, a, b uint64) {
		for l := simd.Generic; l <= simd.Supported(); l++ {
			restore := simd.SetLevel(l)
			checkPatches(t, in, out, rand.New(rand.NewPCG(a, b)))
			restore()
		}
	})
}
