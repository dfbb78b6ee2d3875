package simd_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/colsst/colsst/simd"
)

// checkRuns compares the decoders of runs at the level in use with their
// definition, on runs that r draws.
func checkRuns(t failer, in, out *guarded, r *rand.Rand) {
	t.Helper()
	count, most := 1+r.IntN(12), []uint{8, 25, 32, 57, 64}[r.IntN(5)]
	wild, same := r.IntN(2) == 0, r.IntN(2) == 0
	var runs []simd.Run64
	size, n := r.IntN(9), 0
	p := someTerms(r, wild, 128, most)
	zeros := p.zeros
	for range count {
		run := simd.Run64{Off: size, N: 128, Width: uint(r.IntN(int(most) + 1))}
		if !same {
			run.N = []int{0, 1, 8, 32, 40, 64, 96, 127, 129, 160}[r.IntN(10)]
		}
		p := someTerms(r, wild, run.N, run.Width)
		run.First, run.Add = p.first, p.add
		size += simd.PackedLen(run.N, run.Width) + []int{0, 0, 0, 5, 70}[r.IntN(5)]
		n += run.N
		runs = append(runs, run)
	}
	src := in.last(size + []int{0, 1, 64, 100}[r.IntN(4)])
	for i := range src {
		src[i] = byte(r.Uint32())
	}
	// As many bits in the highs as in patches.
	highs := make([]uint64, n)
	for i := range highs {
		if r.IntN(20) == 0 {
			highs[i] = r.Uint64() >> (64 - 8)
		}
	}
	if r.IntN(3) == 0 {
		highs = nil
	}
	var codes []uint64
	for _, run := range runs {
		for i := range run.N {
			var u uint64
			for k := range int(run.Width) {
				u |= bit(src[run.Off:], i*int(run.Width)+k) << k
			}
			if highs != nil {
				u += highs[len(codes)]
			}
			codes = append(codes, u)
		}
	}
	check := func(name string, width int, decode func(dst []byte) bool, want func(run *simd.Run64, codes []uint64) ([]byte, bool)) {
		t.Helper()
		var all []byte
		ok, at := true, 0
		for i := range runs {
			b, good := want(&runs[i], codes[at:at+runs[i].N])
			all, ok, at = append(all, b...), ok && good, at+runs[i].N
		}
		dst := out.last(width * n)
		got := decode(dst)
		if got != ok || ok && !bytes.Equal(dst, all) || !out.whole(width*n) {
			t.Fatalf("%s %v: %+v, highs %v\ngot  %x\nwant %x", name, simd.Current(), runs, highs != nil, dst, all)
		}
	}
	for _, name := range []string{"SumOrdered", "SumDecimal"} {
		check(name+"Runs64", 8, func(dst []byte) bool {
			switch name {
			case "SumOrdered":
				simd.SumOrderedRuns64(as[float64](dst), src, runs, highs, zeros)
			case "SumDecimal":
				return simd.SumDecimalRuns64(as[float64](dst), src, runs, highs, p.back, p.scale)
			}
			return true
		}, func(run *simd.Run64, codes []uint64) ([]byte, bool) {
			x := p
			x.first, x.add = run.First, run.Add
			v, ok := want64(name, codes, &x)
			return bytesOf(v), ok
		})
	}
	if most > 32 {
		return
	}
	var narrow []simd.Run32
	for _, x := range runs {
		narrow = append(narrow, simd.Run32{Off: x.Off, N: x.N, Width: x.Width, First: int32(x.First), Add: int32(x.Add)})
	}
	var highs32 []uint32
	for _, x := range highs {
		highs32 = append(highs32, uint32(x))
	}
	for _, name := range []string{"SumOrdered", "SumDecimal"} {
		check(name+"Runs32", 4, func(dst []byte) bool {
			switch name {
			case "SumOrdered":
				simd.SumOrderedRuns32(as[float32](dst), src, narrow, highs32, zeros&31)
			case "SumDecimal":
				return simd.SumDecimalRuns32(as[float32](dst), src, narrow, highs32, p.back, p.scale)
			}
			return true
		}, func(run *simd.Run64, codes []uint64) ([]byte, bool) {
			x := p
			x.first, x.add = run.First, run.Add
			var u []uint32
			for _, c := range codes {
				u = append(u, uint32(c))
			}
			v, ok := want32(name, u, &x)
			return bytesOf(v), ok
		})
	}
}

func TestRuns(t *testing.T) {
	in, out := newGuarded(t, 12*160*8+12*70+200), newGuarded(t, 8*12*160)
	levels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(8, 9))
		for range 300 {
			checkRuns(t, in, out, r)
		}
	})
}

func TestRunsOutside(t *testing.T) {
	levels(t, func(t *testing.T) {
		src, dst := make([]byte, 100, 1000), make([]float32, 256)
		for _, run := range []simd.Run32{{Off: -1, N: 32, Width: 1}, {Off: 97, N: 32, Width: 1}, {Off: 0, N: 256, Width: 4}, {N: -1}, {Off: 101}} {
			func() {
				defer func() {
					if recover() == nil {
						t.Fatalf("%+v was read", run)
					}
				}()
				simd.SumOrderedRuns32(dst[:max(run.N, 0)], src, []simd.Run32{run}, nil, 0)
			}()
		}
		// A kernel counts codes down to 0.
		func() {
			defer func() {
				if recover() == nil {
					t.Fatal("a run of fewer than no codes was read")
				}
			}()
			simd.SumOrderedRuns32(dst[:32], src, []simd.Run32{{N: 64}, {N: -32}}, nil, 0)
		}()
		defer func() {
			if recover() == nil {
				t.Fatal("dst was too short")
			}
		}()
		simd.SumOrderedRuns32(make([]float32, 31, 64), src, []simd.Run32{{N: 32, Width: 2}}, nil, 0)
	})
}

func FuzzRuns(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	in, out := newGuarded(f, 12*160*8+12*70+200), newGuarded(f, 8*12*160)
	f.Fuzz(func(t *testing.T, a, b uint64) {
		for l := simd.Generic; l <= simd.Supported(); l++ {
			restore := simd.SetLevel(l)
			checkRuns(t, in, out, rand.New(rand.NewPCG(a, b)))
			restore()
		}
	})
}
