// Package inline is the self-contained form of chunks: the parameters of each
// in line (encoding.AppendParams), then its body. The count of values is the
// caller's.
//
//	+---------------+---------+---------------+---------+-----
//	| parameters    | body    | parameters    | body    | ...
//	| 1 to 81 bytes |         | 1 to 81 bytes |         |
//	+---------------+---------+---------------+---------+-----
//	  vector 0                  vector 1
//
// Numbers are cut into vectors of 1,024, the last one shorter; strings are one
// chunk, whatever their number.
package inline

import (
	"encoding/binary"
	"slices"

	"github.com/colsst/colsst/encoding"
)

// Vector is the number of values of a vector.
const Vector = 1024

const maxParams = 1 + encoding.NumParams*binary.MaxVarintLen64

// Append appends one chunk: encode appends its body and sets all of *p.
func Append(dst []byte, encode func(dst []byte, p *encoding.Params) []byte) []byte {
	var p encoding.Params
	at := len(dst)
	dst = slices.Grow(dst, maxParams)[:at+maxParams]
	body := encode(dst, &p) // behind room for the parameters
	return append(encoding.AppendParams(body[:at], &p), body[at+maxParams:]...)
}

// AppendVectors appends src as chunks: encode appends the body of one and sets
// all of *p.
func AppendVectors[T any](dst []byte, src []T, encode func(dst []byte, v []T, p *encoding.Params) []byte) []byte {
	for v := range slices.Chunk(src, Vector) {
		dst = Append(dst, func(dst []byte, p *encoding.Params) []byte { return encode(dst, v, p) })
	}
	return dst
}

// Read cuts one chunk of n values off src. length is the length of the body
// with parameters p, or the error that they deserve.
func Read(part string, src []byte, n int, length func(p encoding.Params, n int) (int, error)) (p encoding.Params, body, rest []byte, err error) {
	if p, src, err = encoding.ReadParams(part, src); err != nil {
		return p, nil, nil, err
	}
	size, err := length(p, n)
	if err != nil {
		return p, nil, nil, err
	}
	if size > len(src) {
		return p, nil, nil, encoding.Corruptf(part, "%d bytes left of a body of %d", len(src), size)
	}
	return p, src[:size], src[size:], nil
}

// DecodeVectors fills dst from the start of src, as AppendVectors wrote it of
// as many values, and returns what follows. length is that of Read; decode
// fills v, one vector. It allocates nothing by itself.
func DecodeVectors[T any](part string, dst []T, src []byte, length func(p encoding.Params, n int) (int, error), decode func(v []T, p encoding.Params, body []byte) error) (rest []byte, err error) {
	for len(dst) > 0 {
		v := dst[:min(Vector, len(dst))]
		dst = dst[len(v):]
		var p encoding.Params
		var body []byte
		if p, body, src, err = Read(part, src, len(v), length); err != nil {
			return nil, err
		}
		if err := decode(v, p, body); err != nil {
			return nil, err
		}
	}
	return src, nil
}
