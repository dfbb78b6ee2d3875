// Package bss is byte stream split: the bytes of equal rank of all values
// stand together, which helps a general compressor where values share
// exponents or high digits. It makes nothing smaller by itself. The idea is
// that of BYTE_STREAM_SPLIT in Apache Parquet, whose bytes are the same.
//
// # Layout
//
// The body of n values of s bytes (8 or 4) is
//
//	+-------------------+-------------------+-----+---------------------+
//	| byte 0 of value 0 | byte 1 of value 0 | ... | byte s-1 of value 0 |
//	|        value 1    |        value 1    |     |          value 1    |
//	|        ...        |        ...        |     |          ...        |
//	|        value n-1  |        value n-1  |     |          value n-1  |
//	|      n bytes      |      n bytes      |     |       n bytes       |
//	+-------------------+-------------------+-----+---------------------+
//
// where byte 0 is the least significant one of the integer in two's complement
// or of the IEEE 754 bits of the float. There are no parameters, so the
// planned and the self-contained form are the same.
package bss

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/internal/le"
)

const part = "byte stream split"

// Int64Len is the length in bytes of a body of n values. It fails on
// parameters that are not all zero.
func Int64Len(p *encoding.Params, n int) (int, error) { return bodyLen(p, n, 8) }

// Int32Len is Int64Len for four-byte integers.
func Int32Len(p *encoding.Params, n int) (int, error) { return bodyLen(p, n, 4) }

// Float64Len is Int64Len for float64.
func Float64Len(p *encoding.Params, n int) (int, error) { return bodyLen(p, n, 8) }

// Float32Len is Int64Len for float32.
func Float32Len(p *encoding.Params, n int) (int, error) { return bodyLen(p, n, 4) }

func bodyLen(p *encoding.Params, n, size int) (int, error) {
	if *p != (encoding.Params{}) {
		return 0, encoding.Corruptf(part, "parameters %v, want none", *p)
	}
	return n * size, nil
}

// AppendInt64 appends the body of src to dst.
func AppendInt64(dst []byte, src []int64) []byte {
	return append8(dst, src, func(v int64) uint64 { return uint64(v) })
}

// DecodeInt64 fills dst from the start of src and returns what follows. It
// fails, with dst as it was, if src is too short.
func DecodeInt64(dst []int64, src []byte) (rest []byte, err error) {
	return decode8(dst, src, func(u uint64) int64 { return int64(u) })
}

// AppendFloat64 appends the body of src to dst.
func AppendFloat64(dst []byte, src []float64) []byte {
	return append8(dst, src, math.Float64bits)
}

// DecodeFloat64 is DecodeInt64 for float64.
func DecodeFloat64(dst []float64, src []byte) (rest []byte, err error) {
	return decode8(dst, src, math.Float64frombits)
}

// AppendInt32 appends the body of src to dst.
func AppendInt32(dst []byte, src []int32) []byte {
	return append4(dst, src, func(v int32) uint32 { return uint32(v) })
}

// DecodeInt32 is DecodeInt64 for four-byte integers.
func DecodeInt32(dst []int32, src []byte) (rest []byte, err error) {
	return decode4(dst, src, func(u uint32) int32 { return int32(u) })
}

// AppendFloat32 appends the body of src to dst.
func AppendFloat32(dst []byte, src []float32) []byte {
	return append4(dst, src, math.Float32bits)
}

// DecodeFloat32 is DecodeInt64 for float32.
func DecodeFloat32(dst []float32, src []byte) (rest []byte, err error) {
	return decode4(dst, src, math.Float32frombits)
}

func append8[T any](dst []byte, src []T, bits func(T) uint64) []byte {
	n, at := len(src), len(dst)
	dst = slices.Grow(dst, 8*n)[:at+8*n]
	out := dst[at:]
	i := 0
	var a [8]uint64
	for ; i+8 <= n; i += 8 {
		s := src[i : i+8]
		for j := range a {
			a[j] = bits(s[j])
		}
		transpose(&a)
		for j := range a {
			binary.LittleEndian.PutUint64(out[j*n+i:], a[j])
		}
	}
	for ; i < n; i++ {
		u := bits(src[i])
		for j := range 8 {
			out[j*n+i] = byte(u >> (8 * j))
		}
	}
	return dst
}

func decode8[T any](dst []T, src []byte, value func(uint64) T) (rest []byte, err error) {
	n := len(dst)
	if len(src)/8 < n {
		return nil, encoding.Corruptf(part, "%d bytes for %d values of 8", len(src), n)
	}
	i := 0
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
	return src[8*n:], nil
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

func append4[T any](dst []byte, src []T, bits func(T) uint32) []byte {
	n, at := len(src), len(dst)
	dst = slices.Grow(dst, 4*n)[:at+4*n]
	out := dst[at:]
	s0, s1, s2, s3 := out[:n], out[n:2*n], out[2*n:3*n], out[3*n:4*n]
	for i, v := range src {
		u := bits(v)
		s0[i], s1[i], s2[i], s3[i] = byte(u), byte(u>>8), byte(u>>16), byte(u>>24)
	}
	return dst
}

func decode4[T any](dst []T, src []byte, value func(uint32) T) (rest []byte, err error) {
	n := len(dst)
	if len(src)/4 < n {
		return nil, encoding.Corruptf(part, "%d bytes for %d values of 4", len(src), n)
	}
	s0, s1, s2, s3 := src[:n], src[n:2*n], src[2*n:3*n], src[3*n:4*n]
	for i := range dst {
		dst[i] = value(uint32(s0[i]) | uint32(s1[i])<<8 | uint32(s2[i])<<16 | uint32(s3[i])<<24)
	}
	return src[4*n:], nil
}
