package simd_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/simd"
)

// levels runs f at every level that this machine has.
func levels(t *testing.T, f func(t *testing.T)) {
	for l := simd.Generic; l <= simd.Supported(); l++ {
		t.Run(l.String(), func(t *testing.T) {
			defer simd.SetLevel(l)()
			require.Equal(t, l, simd.Current())
			f(t)
		})
	}
}

// guarded is memory whose end shows any access beyond it, and whose part
// before the last slice taken shows any write.
type guarded struct{ mem []byte }

const canary = 0xA5

func newGuarded(t testing.TB, size int) *guarded { return &guarded{memory(t, size+64)} }

// last are the last n bytes; they and 64 more hold the canary.
func (g *guarded) last(n int) []byte {
	b := g.mem[len(g.mem)-n:]
	for i := range g.mem[len(g.mem)-n-64:] {
		g.mem[len(g.mem)-n-64+i] = canary
	}
	return b[:n:n]
}

// whole reports whether nothing was written before the last n bytes.
func (g *guarded) whole(n int) bool {
	for _, c := range g.mem[len(g.mem)-n-64 : len(g.mem)-n] {
		if c != canary {
			return false
		}
	}
	return true
}

// as is b, whole values of T at the alignment of T, as a slice of them.
func as[T any](b []byte) []T {
	var v T
	n := len(b) / int(unsafe.Sizeof(v))
	if n == 0 {
		return []T{}
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)
}

// bytesOf are the bytes of v in the order of this machine.
func bytesOf[T any](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}

// counts are numbers of values: all small ones, and some around those where a
// row group or a vector ends.
func counts() []int {
	var out []int
	for n := 0; n <= 41; n++ {
		out = append(out, n)
	}
	return append(out, 63, 64, 65, 100, 127, 128, 129, 136, 200, 1023, 1024, 1031)
}
