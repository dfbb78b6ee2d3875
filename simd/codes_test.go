package simd_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/simd"
)

// terms are the numbers that decoders take beside the codes.
type terms struct {
	first, add, step int64
	zeros            uint
	back, scale      float64
}

// decoders64 and decoders32 are the functions over codes; the names are those
// without the size.
var (
	decoders64 = []string{"Add", "Ramp", "Sum", "Ordered", "SumOrdered", "Decimal", "SumDecimal"}
	decoders32 = append([]string{"Single"}, decoders64...)
)

func decode64(name string, dst []byte, c *simd.Codes64, p *terms) (ok bool) {
	switch name {
	case "Add":
		simd.Add64(as[int64](dst), c, p.add)
	case "Ramp":
		simd.Ramp64(as[int64](dst), c, p.first, p.step)
	case "Sum":
		simd.Sum64(as[int64](dst), c, p.first, p.add)
	case "Ordered":
		simd.Ordered64(as[float64](dst), c, p.add, p.zeros)
	case "SumOrdered":
		simd.SumOrdered64(as[float64](dst), c, p.first, p.add, p.zeros)
	case "Decimal":
		return simd.Decimal64(as[float64](dst), c, p.add, p.back, p.scale)
	case "SumDecimal":
		return simd.SumDecimal64(as[float64](dst), c, p.first, p.add, p.back, p.scale)
	}
	return true
}

func decode32(name string, dst []byte, c *simd.Codes32, p *terms) (ok bool) {
	first, add, step := int32(p.first), int32(p.add), int32(p.step)
	switch name {
	case "Add":
		simd.Add32(as[int32](dst), c, add)
	case "Ramp":
		simd.Ramp32(as[int32](dst), c, first, step)
	case "Sum":
		simd.Sum32(as[int32](dst), c, first, add)
	case "Ordered":
		simd.Ordered32(as[float32](dst), c, add, p.zeros&31)
	case "SumOrdered":
		simd.SumOrdered32(as[float32](dst), c, first, add, p.zeros&31)
	case "Decimal":
		return simd.Decimal32(as[float32](dst), c, add, p.back, p.scale)
	case "SumDecimal":
		return simd.SumDecimal32(as[float32](dst), c, first, add, p.back, p.scale)
	case "Single":
		simd.Single32(as[float32](dst), c, add, float32(p.back), float32(p.scale))
	}
	return true
}

// want64 is the definition, a value at a time.
func want64(name string, u []uint64, p *terms) (out []uint64, ok bool) {
	ok = true
	sum := p.first
	for i, code := range u {
		s := int64(code)
		sum += p.add + s
		x := p.add + s
		if name[:3] == "Sum" {
			x = sum
		}
		switch name {
		case "Ramp":
			x = p.first + int64(i)*p.step + s
		case "Ordered", "SumOrdered":
			if x < 0 {
				x ^= int64(uint64(math.MaxUint64) >> (1 + p.zeros))
			}
			x = int64(uint64(x) << p.zeros)
		case "Decimal", "SumDecimal":
			ok = ok && -1<<51 <= x && x <= 1<<51
			product := float64(x) * p.back
			x = int64(math.Float64bits(product * p.scale))
		}
		out = append(out, uint64(x))
	}
	return out, ok
}

func want32(name string, u []uint32, p *terms) (out []uint32, ok bool) {
	ok = true
	zeros := p.zeros & 31
	sum := int32(p.first)
	for i, code := range u {
		s := int32(code)
		sum += int32(p.add) + s
		x := int32(p.add) + s
		if name[:3] == "Sum" {
			x = sum
		}
		switch name {
		case "Ramp":
			x = int32(p.first) + int32(i)*int32(p.step) + s
		case "Ordered", "SumOrdered":
			if x < 0 {
				x ^= int32(uint32(math.MaxUint32) >> (1 + zeros))
			}
			x = int32(uint32(x) << zeros)
		case "Decimal", "SumDecimal":
			ok = ok && -1<<24 <= x && x <= 1<<24
			product := float64(x) * p.back
			x = int32(math.Float32bits(float32(product * p.scale)))
		case "Single":
			product := float32(x) * float32(p.back)
			x = int32(math.Float32bits(product * float32(p.scale)))
		}
		out = append(out, uint32(x))
	}
	return out, ok
}

// someTerms are wild, or such that sums of n codes of w bits are decimals.
func someTerms(r *rand.Rand, wild bool, n int, w uint) terms {
	p := terms{
		first: int64(r.Uint64()), add: int64(r.Uint64()), step: int64(r.Uint64()),
		zeros: uint(r.IntN(64)), back: math.Pow10(r.IntN(19)), scale: math.Pow10(-r.IntN(19)),
	}
	if wild {
		p.zeros = []uint{0, 0, p.zeros}[r.IntN(3)]
		return p
	}
	p.back = []float64{1, p.back}[r.IntN(2)]
	p.add = -int64(uint64(1)<<w>>1) + int64(r.IntN(7)) - 3
	p.first = int64(r.IntN(2001)) - 1000
	return p
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkCodes compares every decoder at the level in use with its definition,
// for the codes packed and plain. src and dst are taken from guarded memory.
func checkCodes(t failer, in, out *guarded, packed []byte, extra, n int, w uint, p *terms) {
	t.Helper()
	size := simd.PackedLen(n, w) + extra
	src := in.last(size)
	copy(src, packed)
	codes := make([]uint64, n)
	for i := range codes {
		for k := range int(w) {
			codes[i] |= bit(src, i*int(w)+k) << k
		}
	}
	failed := func(name, form string, got any, want any) {
		t.Helper()
		t.Fatalf("%s %s %v: n %d, w %d, extra %d, %+v:\ngot  %x\nwant %x", name, form, simd.Current(), n, w, extra, *p, got, want)
	}
	dst := out.last(8 * n)
	simd.Unpack64(as[uint64](dst), src, w)
	if !bytes.Equal(dst, bytesOf(codes)) || !out.whole(8*n) {
		failed("Unpack64", "", as[uint64](dst), codes)
	}
	for _, name := range decoders64 {
		for _, form := range []string{"packed", "plain"} {
			c := simd.Packed64(src, w)
			if form == "plain" {
				u := as[uint64](in.last(8 * n))
				copy(u, codes)
				c = simd.Plain64(u)
			} else {
				copy(in.last(size), packed)
			}
			want, ok := want64(name, codes, p)
			dst := out.last(8 * n)
			got := decode64(name, dst, &c, p)
			if got != ok || ok && !bytes.Equal(dst, bytesOf(want)) || !out.whole(8*n) {
				failed(name+"64", form, as[uint64](dst), want)
			}
		}
	}
	if w > 32 {
		return
	}
	narrow := make([]uint32, n)
	for i, x := range codes {
		narrow[i] = uint32(x)
	}
	copy(in.last(size), packed)
	dst = out.last(4 * n)
	simd.Unpack32(as[uint32](dst), src, w)
	if !bytes.Equal(dst, bytesOf(narrow)) || !out.whole(4*n) {
		failed("Unpack32", "", as[uint32](dst), narrow)
	}
	for _, name := range decoders32 {
		for _, form := range []string{"packed", "plain"} {
			c := simd.Packed32(src, w)
			if form == "plain" {
				u := as[uint32](in.last(4 * n))
				copy(u, narrow)
				c = simd.Plain32(u)
			} else {
				copy(in.last(size), packed)
			}
			want, ok := want32(name, narrow, p)
			dst := out.last(4 * n)
			got := decode32(name, dst, &c, p)
			if got != ok || ok && !bytes.Equal(dst, bytesOf(want)) || !out.whole(4*n) {
				failed(name+"32", form, as[uint32](dst), want)
			}
		}
	}
}

func TestCodes(t *testing.T) {
	in, out := newGuarded(t, 8*1100+200), newGuarded(t, 8*1100)
	levels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		random := make([]byte, 8*1100)
		for i := range random {
			random[i] = byte(r.Uint32())
		}
		for w := uint(0); w <= 64; w++ {
			for i, n := range counts() {
				if testing.Short() && (n+int(w))%4 != 0 {
					continue
				}
				p := someTerms(r, i%2 == 0, n, w)
				checkCodes(t, in, out, random[r.IntN(64):], []int{0, 0, 1, 17, 63, 64, 70}[r.IntN(7)], n, w, &p)
			}
		}
	})
}

// A source that begins right after an unreadable page shows any read before it,
// whatever capacity is behind it.
func TestNothingBeforeIsRead(t *testing.T) {
	mem := memory(t, 4096)
	dst, p := make([]byte, 8*41), terms{back: 1, scale: 1}
	levels(t, func(t *testing.T) {
		for w := uint(0); w <= 64; w++ {
			for n := range 41 {
				size := simd.PackedLen(n, w)
				for _, extra := range []int{0, 1, 15, 16, 63, 64, 200} {
					src := mem[: size : size+extra]
					simd.Unpack64(as[uint64](dst[:8*n]), src, w)
					c := simd.Packed64(src, w)
					for _, name := range decoders64 {
						decode64(name, dst[:8*n], &c, &p)
					}
					lefts := mem[: simd.PackedLen(n, 3) : simd.PackedLen(n, 3)+extra]
					simd.Glue64(as[float64](dst[:8*n]), lefts, 3, src, w, new([8]uint64))
					if w > 32 {
						continue
					}
					simd.Unpack32(as[uint32](dst[:4*n]), src, w)
					c32 := simd.Packed32(src, w)
					for _, name := range decoders32 {
						decode32(name, dst[:4*n], &c32, &p)
					}
					simd.Glue32(as[float32](dst[:4*n]), lefts, 3, src, w, new([8]uint32))
				}
			}
		}
	})
}

// Integers right at the limit of decimals are none too large.
func TestDecimalLimits(t *testing.T) {
	levels(t, func(t *testing.T) {
		for _, n := range []int{1, 7, 8, 16, 17, 33} {
			for at := range n {
				for _, x := range []struct {
					u  int64
					ok bool
				}{{-1 << 51, true}, {1 << 51, true}, {-1<<51 - 1, false}, {1<<51 + 1, false}, {math.MinInt64, false}, {math.MaxInt64, false}} {
					u, dst := make([]uint64, n), make([]float64, n)
					u[at] = uint64(x.u)
					c := simd.Plain64(u)
					require.Equal(t, x.ok, simd.Decimal64(dst, &c, 0, 1, 1), "%d", x.u)
					if x.ok {
						require.Equal(t, float64(x.u), dst[at])
					}
				}
				for _, x := range []struct {
					u  int32
					ok bool
				}{{-1 << 24, true}, {1 << 24, true}, {-1<<24 - 1, false}, {1<<24 + 1, false}, {math.MinInt32, false}, {math.MaxInt32, false}} {
					u, dst := make([]uint32, n), make([]float32, n)
					u[at] = uint32(x.u)
					c := simd.Plain32(u)
					require.Equal(t, x.ok, simd.Decimal32(dst, &c, 0, 1, 1), "%d", x.u)
					if x.ok {
						require.Equal(t, float32(x.u), dst[at])
					}
				}
			}
		}
	})
}

func TestAccumulateAndFill(t *testing.T) {
	g := newGuarded(t, 8*1100)
	levels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for _, n := range counts() {
			first, step := int64(r.Uint64()), int64(r.Uint64())
			v := as[int64](g.last(8 * n))
			want := make([]int64, n)
			sum := first
			for i := range v {
				v[i] = int64(r.Uint64())
				sum += v[i]
				want[i] = sum
			}
			simd.Accumulate64(v, first)
			require.True(t, bytes.Equal(bytesOf(v), bytesOf(want)) && g.whole(8*n), "n %d", n)
			simd.Fill64(v, first, step)
			for i := range want {
				want[i] = first + int64(i)*step
			}
			require.True(t, bytes.Equal(bytesOf(v), bytesOf(want)) && g.whole(8*n), "n %d", n)

			v32 := as[int32](g.last(4 * n))
			want32 := make([]int32, n)
			sum32 := int32(first)
			for i := range v32 {
				v32[i] = int32(r.Uint32())
				sum32 += v32[i]
				want32[i] = sum32
			}
			simd.Accumulate32(v32, int32(first))
			require.True(t, bytes.Equal(bytesOf(v32), bytesOf(want32)) && g.whole(4*n), "n %d", n)
			simd.Fill32(v32, int32(first), int32(step))
			for i := range want32 {
				want32[i] = int32(first) + int32(i)*int32(step)
			}
			require.True(t, bytes.Equal(bytesOf(v32), bytesOf(want32)) && g.whole(4*n), "n %d", n)
		}
	})
}

func TestShortCodesPanic(t *testing.T) {
	levels(t, func(t *testing.T) {
		dst, dst32 := make([]int64, 9), make([]int32, 9)
		packed, plain := simd.Packed64(make([]byte, 8), 8), simd.Plain64(make([]uint64, 8))
		packed32, plain32 := simd.Packed32(make([]byte, 8), 8), simd.Plain32(make([]uint32, 8))
		empty := simd.Packed64(nil, 3)
		require.Panics(t, func() { simd.Add64(dst, &packed, 0) })
		require.Panics(t, func() { simd.Sum64(dst, &plain, 0, 0) })
		require.Panics(t, func() { simd.Ramp32(dst32, &packed32, 0, 0) })
		require.Panics(t, func() { simd.Add32(dst32, &plain32, 0) })
		require.Panics(t, func() { simd.Add64(dst, &empty, 0) })
		simd.Add64(nil, &empty, 0)
	})
}

func TestDecodeAllocatesNothing(t *testing.T) {
	src, dst := make([]byte, 1024), make([]float64, 128)
	levels(t, func(t *testing.T) {
		for _, w := range []uint{0, 13, 63} {
			require.Zero(t, testing.AllocsPerRun(10, func() {
				c := simd.Packed64(src, w)
				simd.SumDecimal64(dst, &c, 1, 2, 1, 0.01)
			}))
		}
	})
}

// FuzzCodes compares all levels with the definitions.
func FuzzCodes(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, uint8(13), uint8(0), int64(-5), int64(7), int64(60), uint8(0))
	f.Add(make([]byte, 300), uint8(61), uint8(63), int64(math.MinInt64), int64(1)<<51, int64(0), uint8(9))
	f.Add(bytes.Repeat([]byte{0xff, 0x80}, 90), uint8(29), uint8(31), int64(1)<<24, int64(-1), int64(1), uint8(77))
	in, out := newGuarded(f, 9*4096), newGuarded(f, 9*4096)
	f.Fuzz(func(t *testing.T, src []byte, width, zeros uint8, first, add, step int64, extra uint8) {
		w := uint(width % 65)
		src = src[:min(len(src), 2000)]
		n := min(len(src)*8/max(int(w), 1), 1030)
		if w == 0 {
			n = int(extra)
		}
		p := terms{first, add, step, uint(zeros % 64), 1, 0.01}
		for l := simd.Generic; l <= simd.Supported(); l++ {
			restore := simd.SetLevel(l)
			checkCodes(t, in, out, src, int(extra%80), n, w, &p)
			restore()
		}
	})
}

func ExampleSum64() {
	packed := simd.AppendPack64(nil, []uint64{0, 2, 1, 1}, 2)
	codes := simd.Packed64(packed, 2)
	times := make([]int64, 4)
	simd.Sum64(times, &codes, 1000-9, 9)
	fmt.Println(times)
	// Output: [1000 1011 1021 1031]
}
