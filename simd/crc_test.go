package simd_test

import (
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"github.com/colsst/colsst/simd"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func TestCRC32C(t *testing.T) {
	g := newGuarded(t, 1<<14)
	levels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(31, 32))
		lengths := []int{4096, 4095, 4097, 1<<14 - 1, 1 << 14}
		for n := range 1100 {
			lengths = append(lengths, n)
		}
		for _, n := range lengths {
			p := g.last(n)
			for i := range p {
				p[i] = byte(r.Uint32())
			}
			sum := []uint32{0, ^uint32(0), r.Uint32()}[n%3]
			if got, want := simd.CRC32C(sum, p), crc32.Update(sum, castagnoli, p); got != want {
				t.Fatalf("%d bytes after %x: %x, want %x", n, sum, got, want)
			}
		}
	})
}

func FuzzCRC32C(f *testing.F) {
	f.Add([]byte("123456789"), uint32(0), uint16(0))
	f.Add(make([]byte, 700), ^uint32(0), uint16(3))
	f.Fuzz(func(t *testing.T, p []byte, sum uint32, cut uint16) {
		k := min(int(cut), len(p))
		for l := simd.Generic; l <= simd.Supported(); l++ {
			restore := simd.SetLevel(l)
			if got, want := simd.CRC32C(simd.CRC32C(sum, p[:k]), p[k:]), crc32.Update(sum, castagnoli, p); got != want {
				t.Errorf("%v: %d bytes after %x: %x, want %x", l, len(p), sum, got, want)
			}
			restore()
		}
	})
}

func BenchmarkCRC32C(b *testing.B) {
	p := make([]byte, 4096)
	for l := simd.Generic; l <= simd.Supported(); l++ {
		b.Run(l.String(), func(b *testing.B) {
			defer simd.SetLevel(l)()
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				simd.CRC32C(0, p)
			}
		})
	}
}
