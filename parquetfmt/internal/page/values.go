// Package page is the bytes of Parquet pages: values in every standard
// encoding, levels and dictionary indexes, and the frame of compression around
// them. It knows neither files nor schemas.
//
// The layouts are those of Parquet's Encodings.md. What is decoded is checked
// against the number of values that the caller expects; damage is an
// encoding.CorruptError, never a panic, and no memory follows a count that the
// bytes do not bear out.
package page

import (
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bytestrings"
)

// Values are values of one physical type. Booleans are int32, 0 or 1; INT96 are
// byte strings of 12.
type Values struct {
	Type   format.Type
	Length int // bytes of a FIXED_LEN_BYTE_ARRAY or INT96
	I32    []int32
	I64    []int64
	F32    []float32
	F64    []float64
	Str    bytestrings.Strings
}

// Init empties v and sets its type.
func (v *Values) Init(t format.Type, length int) {
	v.Reset()
	v.Type, v.Length = t, length
	if t == format.Int96 {
		v.Length = 12
	}
}

// Reset empties v and keeps its memory.
func (v *Values) Reset() {
	v.I32, v.I64, v.F32, v.F64 = v.I32[:0], v.I64[:0], v.F32[:0], v.F64[:0]
	v.Str.Reset()
}

// Len is the number of values.
func (v *Values) Len() int {
	switch v.Type {
	case format.Boolean, format.Int32:
		return len(v.I32)
	case format.Int64:
		return len(v.I64)
	case format.Float:
		return len(v.F32)
	case format.Double:
		return len(v.F64)
	}
	return v.Str.Len()
}

// AppendRange appends values [from, to) of src, which is of the same type.
func (v *Values) AppendRange(src *Values, from, to int) error {
	switch v.Type {
	case format.Boolean, format.Int32:
		v.I32 = append(v.I32, src.I32[from:to]...)
	case format.Int64:
		v.I64 = append(v.I64, src.I64[from:to]...)
	case format.Float:
		v.F32 = append(v.F32, src.F32[from:to]...)
	case format.Double:
		v.F64 = append(v.F64, src.F64[from:to]...)
	default:
		return v.Str.AppendFrom(&src.Str, from, to)
	}
	return nil
}

// Truncate keeps the first n values.
func (v *Values) Truncate(n int) {
	switch v.Type {
	case format.Boolean, format.Int32:
		v.I32 = v.I32[:n]
	case format.Int64:
		v.I64 = v.I64[:n]
	case format.Float:
		v.F32 = v.F32[:n]
	case format.Double:
		v.F64 = v.F64[:n]
	default:
		v.Str.Truncate(n)
	}
}

// AppendZeros appends n zeros, empty byte strings.
func (v *Values) AppendZeros(n int) {
	switch v.Type {
	case format.Boolean, format.Int32:
		v.I32 = zeros(v.I32, n)
	case format.Int64:
		v.I64 = zeros(v.I64, n)
	case format.Float:
		v.F32 = zeros(v.F32, n)
	case format.Double:
		v.F64 = zeros(v.F64, n)
	default:
		end := uint32(len(v.Str.Data))
		for range n {
			v.Str.Ends = append(v.Str.Ends, end)
		}
	}
}

func zeros[T any](s []T, n int) []T {
	at := len(s)
	s = slices.Grow(s, n)[:at+n]
	clear(s[at:])
	return s
}

// Size is about what values [from, to) take in memory.
func (v *Values) Size(from, to int) int {
	switch v.Type {
	case format.Boolean, format.Int32, format.Float:
		return 4 * (to - from)
	case format.Int64, format.Double:
		return 8 * (to - from)
	}
	start, end := uint32(0), uint32(0)
	if from > 0 {
		start = v.Str.Ends[from-1]
	}
	if to > 0 {
		end = v.Str.Ends[to-1]
	}
	return int(end-start) + 4*(to-from)
}

// appendAt appends the values of dict at the indexes.
func (v *Values) appendAt(dict *Values, at []uint32) error {
	n := dict.Len()
	for _, i := range at {
		if int(i) >= n {
			return encoding.Corruptf("dictionary", "index %d of %d values", i, n)
		}
	}
	switch v.Type {
	case format.Boolean, format.Int32:
		v.I32 = gather(v.I32, dict.I32, at)
	case format.Int64:
		v.I64 = gather(v.I64, dict.I64, at)
	case format.Float:
		v.F32 = gather(v.F32, dict.F32, at)
	case format.Double:
		v.F64 = gather(v.F64, dict.F64, at)
	default:
		for _, i := range at {
			if err := v.Str.Append(dict.Str.At(int(i))); err != nil {
				return err
			}
		}
	}
	return nil
}

func gather[T any](dst, src []T, at []uint32) []T {
	k := len(dst)
	dst = slices.Grow(dst, len(at))[:k+len(at)]
	for i, x := range at {
		dst[k+i] = src[x]
	}
	return dst
}
