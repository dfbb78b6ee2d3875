package simd_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/simd"
)

// checkStreams splits the values and joins the streams.
func checkStreams(t failer, in, out *guarded, bits []uint64) {
	t.Helper()
	n := len(bits)
	want, want4 := make([]byte, 8*n), make([]byte, 4*n)
	for i, x := range bits {
		for j := range 8 {
			want[j*n+i] = byte(x >> (8 * j))
		}
		copy4 := uint32(x)
		for j := range 4 {
			want4[j*n+i] = byte(copy4 >> (8 * j))
		}
	}
	bits32 := make([]uint32, n)
	for i, x := range bits {
		bits32[i] = uint32(x)
	}
	// Values and streams lie in guarded memory both.
	v, v4 := bytesOf(bits), bytesOf(bits32)
	for _, c := range []struct {
		name      string
		src, want []byte
		run       func(dst, src []byte)
	}{
		{"SplitInt64", v, want, func(d, s []byte) { simd.SplitInt64(d, as[int64](s)) }},
		{"SplitFloat64", v, want, func(d, s []byte) { simd.SplitFloat64(d, as[float64](s)) }},
		{"SplitInt32", v4, want4, func(d, s []byte) { simd.SplitInt32(d, as[int32](s)) }},
		{"SplitFloat32", v4, want4, func(d, s []byte) { simd.SplitFloat32(d, as[float32](s)) }},
		{"JoinInt64", want, v, func(d, s []byte) { simd.JoinInt64(as[int64](d), s) }},
		{"JoinFloat64", want, v, func(d, s []byte) { simd.JoinFloat64(as[float64](d), s) }},
		{"JoinInt32", want4, v4, func(d, s []byte) { simd.JoinInt32(as[int32](d), s) }},
		{"JoinFloat32", want4, v4, func(d, s []byte) { simd.JoinFloat32(as[float32](d), s) }},
	} {
		s, d := in.last(len(c.src)), out.last(len(c.want))
		copy(s, c.src)
		c.run(d, s)
		if !bytes.Equal(d, c.want) || !out.whole(len(d)) {
			t.Fatalf("%s %v: n %d, %x, want %x", c.name, simd.Current(), n, d, c.want)
		}
	}
}

func TestStreams(t *testing.T) {
	in, out := newGuarded(t, 8*1100), newGuarded(t, 8*1100)
	levels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(11, 12))
		for _, n := range counts() {
			bits := make([]uint64, n)
			for i := range bits {
				bits[i] = r.Uint64()
			}
			checkStreams(t, in, out, bits)
		}
		require.Panics(t, func() { simd.JoinFloat64(make([]float64, 64), make([]byte, 511)) })
		require.Panics(t, func() { simd.SplitInt32(make([]byte, 63*4), make([]int32, 64)) })
	})
}

// checkPack packs at every width what a ramp leaves and compares with the
// definition.
func checkPack(t failer, in, out *guarded, bits []uint64, w uint, start, step int64) {
	t.Helper()
	n := len(bits)
	pack := func(rest func(i int) uint64) []byte {
		b := make([]byte, simd.PackedLen(n, w))
		for i := range n {
			x := rest(i)
			for k := range int(w) {
				at := i*int(w) + k
				b[at/8] |= byte(x>>k&1) << (at % 8)
			}
		}
		return b
	}
	plain := pack(func(i int) uint64 { return bits[i] })
	ramp := pack(func(i int) uint64 { return bits[i] - uint64(start+int64(i)*step) })
	size := len(plain)
	check := func(name string, want, got, room []byte) {
		t.Helper()
		if !bytes.Equal(got, want) || size > 0 && &got[0] != &room[0] || !out.whole(size) {
			t.Fatalf("%s %v: n %d, w %d, %x, want %x", name, simd.Current(), n, w, got, want)
		}
	}
	src := as[uint64](in.last(8 * n))
	copy(src, bits)
	room := out.last(size)
	check("AppendPack64", plain, simd.AppendPack64(room[:0], src, w), room)
	room = out.last(size)
	check("AppendPackRamp64", ramp, simd.AppendPackRamp64(room[:0], as[int64](bytesOf(src)), w, start, step), room)
	if w > 32 {
		return
	}
	src32 := as[uint32](in.last(4 * n))
	for i, x := range bits {
		src32[i] = uint32(x)
	}
	room = out.last(size)
	check("AppendPack32", plain, simd.AppendPack32(room[:0], src32, w), room)
	room = out.last(size)
	check("AppendPackRamp32", ramp, simd.AppendPackRamp32(room[:0], as[int32](bytesOf(src32)), w, int32(start), int32(step)), room)
}

func TestPackInPlace(t *testing.T) {
	in, out := newGuarded(t, 8*1100), newGuarded(t, 8*1100)
	levels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(13, 14))
		for w := uint(0); w <= 64; w++ {
			for _, n := range counts() {
				if testing.Short() && (n+int(w))%4 != 0 {
					continue
				}
				bits := make([]uint64, n)
				for i := range bits {
					bits[i] = r.Uint64()
				}
				checkPack(t, in, out, bits, w, int64(r.Uint64()), int64(r.Uint64()))
			}
		}
	})
}

// Appending leaves what stands before and behind alone.
func TestPackWritesItsBytesAlone(t *testing.T) {
	levels(t, func(t *testing.T) {
		for w := uint(1); w <= 64; w++ {
			buf := bytes.Repeat([]byte{canary}, 2000)
			src := make([]uint64, 77)
			for i := range src {
				src[i] = math.MaxUint64
			}
			out := simd.AppendPack64(buf[:3], src, w)
			require.Same(t, &buf[0], &out[0])
			require.Equal(t, 3, bytes.Count(buf[:3], []byte{canary}))
			require.Equal(t, len(buf)-len(out), bytes.Count(buf[len(out):], []byte{canary}))
		}
	})
}

func FuzzStreams(f *testing.F) {
	f.Add(bytesOf(hostile64), uint8(13), int64(5), int64(-3))
	f.Add(make([]byte, 1500), uint8(61), int64(-1), int64(0))
	in, out := newGuarded(f, 8*1100), newGuarded(f, 8*1100)
	f.Fuzz(func(t *testing.T, data []byte, width uint8, start, step int64) {
		bits := make([]uint64, min(len(data)/8, 1030))
		for i := range bits {
			bits[i] = binary.LittleEndian.Uint64(data[8*i:])
		}
		for l := simd.Generic; l <= simd.Supported(); l++ {
			restore := simd.SetLevel(l)
			checkStreams(t, in, out, bits)
			checkPack(t, in, out, bits, uint(width%65), start, step)
			restore()
		}
	})
}
