package simd

import (
	"encoding/binary"
	"math"

	"github.com/colsst/colsst/internal/le"
)

// SplitInt64 writes the bytes of equal rank of all values together: byte j of
// value i to dst[j*n+i], n values, byte 0 being the lowest. dst is 8*n bytes.
func SplitInt64(dst []byte, src []int64) {
	dst = dst[: 8*len(src) : len(dst)]
	split8(dst, src, splitInt64(dst, src), func(v int64) uint64 { return uint64(v) })
}

// SplitFloat64 is SplitInt64 for the bits of floats.
func SplitFloat64(dst []byte, src []float64) {
	dst = dst[: 8*len(src) : len(dst)]
	split8(dst, src, splitFloat64(dst, src), math.Float64bits)
}

// SplitInt32 is SplitInt64 for values of 4 bytes.
func SplitInt32(dst []byte, src []int32) {
	dst = dst[: 4*len(src) : len(dst)]
	split4(dst, src, splitInt32(dst, src), func(v int32) uint32 { return uint32(v) })
}

// SplitFloat32 is SplitInt32 for the bits of floats.
func SplitFloat32(dst []byte, src []float32) {
	dst = dst[: 4*len(src) : len(dst)]
	split4(dst, src, splitFloat32(dst, src), math.Float32bits)
}

// JoinInt64 is the inverse of SplitInt64: src is at least 8*len(dst) bytes.
func JoinInt64(dst []int64, src []byte) {
	src = src[: 8*len(dst) : len(src)]
	join8(dst, src, joinInt64(dst, src), func(u uint64) int64 { return int64(u) })
}

// JoinFloat64 is JoinInt64 for the bits of floats.
func JoinFloat64(dst []float64, src []byte) {
	src = src[: 8*len(dst) : len(src)]
	join8(dst, src, joinFloat64(dst, src), math.Float64frombits)
}

// JoinInt32 is JoinInt64 for values of 4 bytes.
func JoinInt32(dst []int32, src []byte) {
	src = src[: 4*len(dst) : len(src)]
	join4(dst, src, joinInt32(dst, src), func(u uint32) int32 { return int32(u) })
}

// JoinFloat32 is JoinInt32 for the bits of floats.
func JoinFloat32(dst []float32, src []byte) {
	src = src[: 4*len(dst) : len(src)]
	join4(dst, src, joinFloat32(dst, src), math.Float32frombits)
}

// split8 splits the values from number i on.
func split8[T any](dst []byte, src []T, i int, bits func(T) uint64) {
	n := len(src)
	var a [8]uint64
	for ; i+8 <= n; i += 8 {
		s := src[i : i+8]
		for j := range a {
			a[j] = bits(s[j])
		}
		transpose(&a)
		for j := range a {
			binary.LittleEndian.PutUint64(dst[j*n+i:], a[j])
		}
	}
	for ; i < n; i++ {
		u := bits(src[i])
		for j := range 8 {
			dst[j*n+i] = byte(u >> (8 * j))
		}
	}
}

func join8[T any](dst []T, src []byte, i int, value func(uint64) T) {
	n := len(dst)
	var a [8]uint64
	for ; i+8 <= n; i += 8 {
		for j := range a {
			a[j] = le.Uint64(src[j*n+i:])
		}
		transpose(&a)
		d := dst[i : i+8]
		for j := range a {
			d[j] = value(a[j])
		}
	}
	for ; i < n; i++ {
		var u uint64
		for j := range 8 {
			u |= uint64(src[j*n+i]) << (8 * j)
		}
		dst[i] = value(u)
	}
}

func split4[T any](dst []byte, src []T, i int, bits func(T) uint32) {
	n := len(src)
	s0, s1, s2, s3 := dst[:n], dst[n:2*n], dst[2*n:3*n], dst[3*n:4*n]
	for ; i < n; i++ {
		u := bits(src[i])
		s0[i], s1[i], s2[i], s3[i] = byte(u), byte(u>>8), byte(u>>16), byte(u>>24)
	}
}

func join4[T any](dst []T, src []byte, i int, value func(uint32) T) {
	n := len(dst)
	s0, s1, s2, s3 := src[:n], src[n:2*n], src[2*n:3*n], src[3*n:4*n]
	for ; i < n; i++ {
		dst[i] = value(uint32(s0[i]) | uint32(s1[i])<<8 | uint32(s2[i])<<16 | uint32(s3[i])<<24)
	}
}

// transpose turns byte j of a[i] into byte i of a[j]: blocks of 4, 2 and 1
// bytes across the diagonal change places.
func transpose(a *[8]uint64) {
	for i := range 4 {
		x, y := a[i], a[i+4]
		a[i] = x&0x00000000_ffffffff | y<<32
		a[i+4] = x>>32 | y&0xffffffff_00000000
	}
	for _, i := range [4]int{0, 1, 4, 5} {
		x, y := a[i], a[i+2]
		a[i] = x&0x0000ffff_0000ffff | y<<16&0xffff0000_ffff0000
		a[i+2] = x>>16&0x0000ffff_0000ffff | y&0xffff0000_ffff0000
	}
	for _, i := range [4]int{0, 2, 4, 6} {
		x, y := a[i], a[i+1]
		a[i] = x&0x00ff00ff_00ff00ff | y<<8&0xff00ff00_ff00ff00
		a[i+1] = x>>8&0x00ff00ff_00ff00ff | y&0xff00ff00_ff00ff00
	}
}

// Lookup64 sets codes[i] to the index of src[i]>>shift in table, the first
// one, or to 0 where it is not there; bit i%8 of misses[i/8] says which these
// are, and bits beyond the last value are 0. It returns their number. shift is
// at most 63; codes is as long as src or longer, and misses holds a bit for
// each.
func Lookup64(codes []uint64, misses []byte, src []uint64, shift uint, table *[8]uint64) int {
	codes, misses = codes[:len(src):len(codes)], misses[:(len(src)+7)/8:len(misses)]
	done, count := lookup64(codes, misses, src, shift, table)
	clear(misses[done/8:])
	for i := done; i < len(src); i++ {
		left, code := src[i]>>shift, 0
		for code < len(table) && table[code] != left {
			code++
		}
		if code == len(table) {
			code = 0
			misses[i/8] |= 1 << (i & 7)
			count++
		}
		codes[i] = uint64(code)
	}
	return count
}
