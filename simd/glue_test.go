package simd_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/simd"
)

// checkGlue compares Glue64 and Glue32 at the level in use with their
// definition. bits are any; extra is capacity behind the codes.
func checkGlue(t failer, in, more, out *guarded, bits []byte, n int, leftWidth, width uint, extra int) {
	t.Helper()
	source := func(g *guarded, from []byte, w uint) (src []byte, codes []uint64) {
		b := g.last(simd.PackedLen(n, w) + extra)
		copy(b, from)
		for i := range n {
			c := uint64(0)
			for k := range int(w) {
				c |= bit(b, i*int(w)+k) << k
			}
			codes = append(codes, c)
		}
		return b[:simd.PackedLen(n, w)], codes
	}
	lefts, l := source(in, bits, leftWidth)
	rights, r := source(more, bits[len(bits)/3:], width)
	table := [8]uint64{7, 1 << 63, 0, ^uint64(0), 5 << 40, 0x0102030405060708, 1 << 55, 9}
	top := uint64(0)
	want := make([]uint64, n)
	for i := range want {
		want[i] = table[l[i]] | r[i]
		top = max(top, l[i])
	}
	dst := out.last(8 * n)
	got := simd.Glue64(as[float64](dst), lefts, leftWidth, rights, width, &table)
	if got != top || !bytes.Equal(dst, bytesOf(want)) || !out.whole(8*n) {
		t.Fatalf("Glue64 %v: n %d, widths %d, %d, extra %d: %d, want %d\ngot  %x\nwant %x", simd.Current(), n, leftWidth, width, extra, got, top, as[uint64](dst), want)
	}
	if width > 32 {
		return
	}
	narrow := make([]uint32, n)
	var table32 [8]uint32
	for i, x := range table {
		table32[i] = uint32(x)
	}
	for i := range narrow {
		narrow[i] = table32[l[i]] | uint32(r[i])
	}
	dst = out.last(4 * n)
	got32 := simd.Glue32(as[float32](dst), lefts, leftWidth, rights, width, &table32)
	if uint64(got32) != top || !bytes.Equal(dst, bytesOf(narrow)) || !out.whole(4*n) {
		t.Fatalf("Glue32 %v: n %d, widths %d, %d, extra %d: %d, want %d\ngot  %x\nwant %x", simd.Current(), n, leftWidth, width, extra, got32, top, as[uint32](dst), narrow)
	}
}

func TestGlue(t *testing.T) {
	in, more, out := newGuarded(t, 1200), newGuarded(t, 8*1100), newGuarded(t, 8*1100)
	levels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(21, 22))
		bits := make([]byte, 9000)
		for i := range bits {
			bits[i] = byte(r.Uint32())
		}
		for w := uint(0); w <= 64; w++ {
			for _, n := range counts() {
				if testing.Short() && (n+int(w))%4 != 0 {
					continue
				}
				checkGlue(t, in, more, out, bits[r.IntN(64):], n, uint(r.IntN(4)), w, []int{0, 7, 8, 17, 63, 64, 70}[r.IntN(7)])
			}
		}
	})
}

func TestGlueShortSources(t *testing.T) {
	levels(t, func(t *testing.T) {
		dst, wide, narrow := make([]float64, 9), [8]uint64{}, [8]uint32{}
		require.Panics(t, func() { simd.Glue64(dst, make([]byte, 3), 3, make([]byte, 99), 50, &wide) })
		require.Panics(t, func() { simd.Glue64(dst, make([]byte, 4), 3, make([]byte, 56), 50, &wide) })
		require.Panics(t, func() { simd.Glue32(make([]float32, 9), make([]byte, 4), 3, nil, 20, &narrow) })
		require.Zero(t, simd.Glue64(nil, nil, 3, nil, 50, &wide))
	})
}

func FuzzGlue(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 250, 251}, uint8(2), uint8(13), uint8(8))
	f.Add(bytes.Repeat([]byte{0xff, 0x80, 0x1b}, 90), uint8(3), uint8(52), uint8(0))
	in, more, out := newGuarded(f, 2000), newGuarded(f, 9*1100), newGuarded(f, 9*1100)
	f.Fuzz(func(t *testing.T, bits []byte, leftWidth, width, extra uint8) {
		w := uint(width % 65)
		n := min(len(bits)*8/max(int(w), 1), 1030)
		for l := simd.Generic; l <= simd.Supported(); l++ {
			restore := simd.SetLevel(l)
			checkGlue(t, in, more, out, bits, n, uint(leftWidth%4), w, int(extra%80))
			restore()
		}
	})
}
