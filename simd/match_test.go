package simd_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/colsst/colsst/simd"
)

// checkMatch compares Match with its definition.
func checkMatch(t failer, in, out *guarded, data []byte, set [4]byte) {
	t.Helper()
	src := in.last(len(data))
	copy(src, data)
	n := (len(data) + 63) / 64
	want := make([]uint64, n)
	for i, c := range data {
		if bytes.IndexByte(set[:], c) >= 0 {
			want[i/64] |= 1 << (i % 64)
		}
	}
	dst := out.last(8 * n)
	simd.Match(as[uint64](dst), src, set)
	if !bytes.Equal(dst, bytesOf(want)) || !out.whole(len(dst)) {
		t.Fatalf("Match %v: %q in %q: %x, want %x", simd.Current(), set, data, dst, bytesOf(want))
	}
}

func TestMatch(t *testing.T) {
	in, out := newGuarded(t, 1100), newGuarded(t, 1100)
	levels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(11, 12))
		for _, n := range counts() {
			for range 8 {
				data := make([]byte, min(n, 1000))
				few := r.IntN(2) == 0
				for i := range data {
					if data[i] = byte(r.Uint32()); few {
						data[i] = ",\"\n\rab"[r.IntN(6)]
					}
				}
				checkMatch(t, in, out, data, [4]byte{',', '"', '\n', '\r'})
				checkMatch(t, in, out, data, [4]byte{byte(r.Uint32()), byte(r.Uint32()), 0x80, 0xff})
			}
		}
	})
}

func FuzzMatch(f *testing.F) {
	f.Add([]byte("a,\"b\"\r\n"), uint32(0x2c220a0d))
	f.Add(make([]byte, 200), uint32(0))
	in, out := newGuarded(f, 1100), newGuarded(f, 1100)
	f.Fuzz(func(t *testing.T, data []byte, set uint32) {
		for l := simd.Generic; l <= simd.Supported(); l++ {
			restore := simd.SetLevel(l)
			checkMatch(t, in, out, data[:min(len(data), 1000)], [4]byte{byte(set), byte(set >> 8), byte(set >> 16), byte(set >> 24)})
			restore()
		}
	})
}
