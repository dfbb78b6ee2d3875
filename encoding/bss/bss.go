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
	"slices"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/internal/inline"
	"github.com/colsst/colsst/simd"
)

const part = "byte stream split"

// Int64Len is the length in bytes of a body of n values. It fails on
// parameters that are not all zero.
func Int64Len(p *encoding.Params, n int) (int, error) { return inline.PlainLen(part, p, n, 8) }

// Int32Len is Int64Len for four-byte integers.
func Int32Len(p *encoding.Params, n int) (int, error) { return inline.PlainLen(part, p, n, 4) }

// Float64Len is Int64Len for float64.
func Float64Len(p *encoding.Params, n int) (int, error) { return inline.PlainLen(part, p, n, 8) }

// Float32Len is Int64Len for float32.
func Float32Len(p *encoding.Params, n int) (int, error) { return inline.PlainLen(part, p, n, 4) }

// AppendInt64 appends the body of src to dst.
func AppendInt64(dst []byte, src []int64) []byte {
	dst, body := grow(dst, 8*len(src))
	simd.SplitInt64(body, src)
	return dst
}

// DecodeInt64 fills dst from the start of src and returns what follows. It
// fails, with dst as it was, if src is too short.
func DecodeInt64(dst []int64, src []byte) (rest []byte, err error) {
	body, rest, err := inline.CutPlain(part, src, len(dst), 8)
	if err == nil {
		simd.JoinInt64(dst, body)
	}
	return rest, err
}

// AppendFloat64 appends the body of src to dst.
func AppendFloat64(dst []byte, src []float64) []byte {
	dst, body := grow(dst, 8*len(src))
	simd.SplitFloat64(body, src)
	return dst
}

// DecodeFloat64 is DecodeInt64 for float64.
func DecodeFloat64(dst []float64, src []byte) (rest []byte, err error) {
	body, rest, err := inline.CutPlain(part, src, len(dst), 8)
	if err == nil {
		simd.JoinFloat64(dst, body)
	}
	return rest, err
}

// AppendInt32 appends the body of src to dst.
func AppendInt32(dst []byte, src []int32) []byte {
	dst, body := grow(dst, 4*len(src))
	simd.SplitInt32(body, src)
	return dst
}

// DecodeInt32 is DecodeInt64 for four-byte integers.
func DecodeInt32(dst []int32, src []byte) (rest []byte, err error) {
	body, rest, err := inline.CutPlain(part, src, len(dst), 4)
	if err == nil {
		simd.JoinInt32(dst, body)
	}
	return rest, err
}

// AppendFloat32 appends the body of src to dst.
func AppendFloat32(dst []byte, src []float32) []byte {
	dst, body := grow(dst, 4*len(src))
	simd.SplitFloat32(body, src)
	return dst
}

// DecodeFloat32 is DecodeInt64 for float32.
func DecodeFloat32(dst []float32, src []byte) (rest []byte, err error) {
	body, rest, err := inline.CutPlain(part, src, len(dst), 4)
	if err == nil {
		simd.JoinFloat32(dst, body)
	}
	return rest, err
}

// grow makes dst n bytes longer; body are those.
func grow(dst []byte, n int) (grown, body []byte) {
	at := len(dst)
	dst = slices.Grow(dst, n)[:at+n]
	return dst, dst[at:]
}
