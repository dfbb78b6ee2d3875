// Package raw is the encoding of numbers as they are.
//
// # Layout
//
// The body of n values of s bytes (8 or 4) is
//
//	+---------+---------+-----+-----------+
//	| value 0 | value 1 | ... | value n-1 |    n*s bytes
//	+---------+---------+-----+-----------+
//
// each little-endian: integers in two's complement, floats as their IEEE 754
// bits, NaN payloads and the sign of zero included. There are no parameters,
// so the planned and the self-contained form are the same.
package raw

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/internal/inline"
	"github.com/colsst/colsst/internal/le"
)

const part = "raw"

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
	dst = slices.Grow(dst, 8*len(src))
	for _, v := range src {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(v))
	}
	return dst
}

// DecodeInt64 fills dst from the start of src and returns what follows. It
// fails, with dst as it was, if src is too short.
func DecodeInt64(dst []int64, src []byte) (rest []byte, err error) {
	body, rest, err := inline.CutPlain(part, src, len(dst), 8)
	if err != nil {
		return nil, err
	}
	for i := range dst {
		dst[i] = int64(le.Uint64(body[8*i:]))
	}
	return rest, nil
}

// AppendInt32 appends the body of src to dst.
func AppendInt32(dst []byte, src []int32) []byte {
	dst = slices.Grow(dst, 4*len(src))
	for _, v := range src {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(v))
	}
	return dst
}

// DecodeInt32 is DecodeInt64 for four-byte integers.
func DecodeInt32(dst []int32, src []byte) (rest []byte, err error) {
	body, rest, err := inline.CutPlain(part, src, len(dst), 4)
	if err != nil {
		return nil, err
	}
	for i := range dst {
		dst[i] = int32(le.Uint32(body[4*i:]))
	}
	return rest, nil
}

// AppendFloat64 appends the body of src to dst.
func AppendFloat64(dst []byte, src []float64) []byte {
	dst = slices.Grow(dst, 8*len(src))
	for _, v := range src {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
	}
	return dst
}

// DecodeFloat64 is DecodeInt64 for float64.
func DecodeFloat64(dst []float64, src []byte) (rest []byte, err error) {
	body, rest, err := inline.CutPlain(part, src, len(dst), 8)
	if err != nil {
		return nil, err
	}
	for i := range dst {
		dst[i] = math.Float64frombits(le.Uint64(body[8*i:]))
	}
	return rest, nil
}

// AppendFloat32 appends the body of src to dst.
func AppendFloat32(dst []byte, src []float32) []byte {
	dst = slices.Grow(dst, 4*len(src))
	for _, v := range src {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	return dst
}

// DecodeFloat32 is DecodeInt64 for float32.
func DecodeFloat32(dst []float32, src []byte) (rest []byte, err error) {
	body, rest, err := inline.CutPlain(part, src, len(dst), 4)
	if err != nil {
		return nil, err
	}
	for i := range dst {
		dst[i] = math.Float32frombits(le.Uint32(body[4*i:]))
	}
	return rest, nil
}
