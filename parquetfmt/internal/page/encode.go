package page

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/raw"
	"github.com/colsst/colsst/parquetfmt/alp"
	"github.com/colsst/colsst/simd"
)

// Holds reports whether an encoding is one of values of type t.
func Holds(t format.Type, e format.Encoding) bool {
	switch e {
	case format.Plain, format.RLEDictionary:
		return true
	case format.RLE:
		return t == format.Boolean
	case format.DeltaBinaryPacked:
		return t == format.Int32 || t == format.Int64
	case format.DeltaLengthByteArray:
		return t == format.ByteArray
	case format.ByteStreamSplit:
		return t == format.Float || t == format.Double || t == format.Int32 || t == format.Int64 || t == format.FixedLenByteArray
	case alp.Format:
		return t == format.Float || t == format.Double
	}
	return false
}

// Append appends values [from, to) of v in encoding e, which Holds its type and
// is not RLE_DICTIONARY.
func Append(dst []byte, v *Values, from, to int, e format.Encoding) ([]byte, error) {
	switch e {
	case format.Plain:
		return appendPlain(dst, v, from, to), nil
	case format.RLE:
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		bit := make([]uint8, to-from)
		for i, x := range v.I32[from:to] {
			bit[i] = uint8(x)
		}
		dst = AppendHybrid(dst, bit, 1)
		binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
		return dst, nil
	case format.DeltaBinaryPacked:
		switch v.Type {
		case format.Int32:
			return appendDelta32(dst, v.I32[from:to]), nil
		case format.Int64:
			return appendDelta64(dst, v.I64[from:to]), nil
		}
	case format.DeltaLengthByteArray:
		lens := make([]int32, to-from)
		var ends []uint32
		s := v.Str.View(from, to, &ends)
		last := uint32(0)
		for i, end := range s.Ends {
			lens[i] = int32(end - last)
			last = end
		}
		return append(appendDelta32(dst, lens), s.Data...), nil
	case format.ByteStreamSplit:
		return appendSplit(dst, v, from, to)
	case alp.Format:
		return AppendALP(dst, v, from, to, alp.DefaultLogVectorSize)
	}
	return nil, fmt.Errorf("%w: encoding %s of %s", encoding.ErrUnsupported, encodingName(e), v.Type)
}

// AppendALP appends floats [from, to) of v as ALP in vectors of 2^log values.
func AppendALP(dst []byte, v *Values, from, to int, log uint8) ([]byte, error) {
	e := alp.Encoding{LogVectorSize: log}
	switch v.Type {
	case format.Float:
		return e.AppendFloat(dst, v.F32[from:to])
	case format.Double:
		return e.AppendDouble(dst, v.F64[from:to])
	}
	return nil, fmt.Errorf("%w: encoding ALP of %s", encoding.ErrUnsupported, v.Type)
}

var alpEncoding alp.Encoding

func encodingName(e format.Encoding) string {
	if e == alp.Format {
		return "ALP"
	}
	return e.String()
}

func appendPlain(dst []byte, v *Values, from, to int) []byte {
	switch v.Type {
	case format.Boolean:
		for i := from; i < to; i += 8 {
			b := byte(0)
			for k, x := range v.I32[i:min(i+8, to)] {
				b |= byte(x&1) << k
			}
			dst = append(dst, b)
		}
		return dst
	case format.Int32:
		return raw.AppendInt32(dst, v.I32[from:to])
	case format.Int64:
		return raw.AppendInt64(dst, v.I64[from:to])
	case format.Float:
		return raw.AppendFloat32(dst, v.F32[from:to])
	case format.Double:
		return raw.AppendFloat64(dst, v.F64[from:to])
	case format.ByteArray:
		for i := from; i < to; i++ {
			s := v.Str.At(i)
			dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s)))
			dst = append(dst, s...)
		}
		return dst
	}
	var ends []uint32
	s := v.Str.View(from, to, &ends)
	return append(dst, s.Data...)
}

func appendSplit(dst []byte, v *Values, from, to int) ([]byte, error) {
	at, n := len(dst), to-from
	grow := func(width int) []byte {
		dst = slices.Grow(dst, n*width)[:at+n*width]
		return dst[at:]
	}
	switch v.Type {
	case format.Int32:
		simd.SplitInt32(grow(4), v.I32[from:to])
	case format.Int64:
		simd.SplitInt64(grow(8), v.I64[from:to])
	case format.Float:
		simd.SplitFloat32(grow(4), v.F32[from:to])
	case format.Double:
		simd.SplitFloat64(grow(8), v.F64[from:to])
	default:
		var ends []uint32
		s := v.Str.View(from, to, &ends)
		out := grow(v.Length)
		for i := range n {
			for k := range v.Length {
				out[k*n+i] = s.Data[i*v.Length+k]
			}
		}
	}
	return dst, nil
}

// Dictionary collects the distinct values of a column chunk, in the order in
// which they come.
type Dictionary struct {
	Values  Values
	Indexes []uint32 // one a value
	runs    []uint32
	strings map[string]uint32
	numbers map[uint64]uint32
}

// Build makes the dictionary of v. It reports false, and is of no use, where
// there are more than mostValues distinct values or mostBytes of them.
func (d *Dictionary) Build(v *Values, mostValues, mostBytes int) bool {
	d.Values.Init(v.Type, v.Length)
	d.Indexes = slices.Grow(d.Indexes[:0], v.Len())
	switch v.Type {
	case format.Boolean, format.Int32:
		return d.build(v, mostValues, func(i int) uint64 { return uint64(uint32(v.I32[i])) })
	case format.Int64:
		return d.build(v, mostValues, func(i int) uint64 { return uint64(v.I64[i]) })
	case format.Float:
		return d.build(v, mostValues, func(i int) uint64 { return uint64(floatBits32(v.F32[i])) })
	case format.Double:
		return d.build(v, mostValues, func(i int) uint64 { return floatBits64(v.F64[i]) })
	}
	if d.strings == nil {
		d.strings = map[string]uint32{}
	}
	clear(d.strings)
	n := v.Str.Len()
	var last []byte
	at := uint32(0)
	for i := range n {
		s := v.Str.At(i)
		if i == 0 || string(s) != string(last) {
			k, found := d.strings[string(s)]
			if !found {
				k = uint32(len(d.strings))
				if int(k) >= mostValues || len(d.Values.Str.Data)+len(s)+4*int(k) > mostBytes {
					return false
				}
				d.strings[string(s)] = k
				if d.Values.Str.Append(s) != nil {
					return false
				}
			}
			at, last = k, s
		}
		d.Indexes = append(d.Indexes, at)
	}
	return true
}

func (d *Dictionary) build(v *Values, most int, key func(i int) uint64) bool {
	if d.numbers == nil {
		d.numbers = map[uint64]uint32{}
	}
	clear(d.numbers)
	for i := range v.Len() {
		x := key(i)
		k, found := d.numbers[x]
		if !found {
			k = uint32(len(d.numbers))
			if int(k) >= most || d.Values.AppendRange(v, i, i+1) != nil {
				return false
			}
			d.numbers[x] = k
		}
		d.Indexes = append(d.Indexes, k)
	}
	return true
}

// Spread makes the indexes those of runs of equal values: that of value k up to
// ends[k]. No ends leave them as they are.
func (d *Dictionary) Spread(ends []uint32) {
	if len(ends) == 0 {
		return
	}
	d.runs = append(d.runs[:0], d.Indexes...)
	d.Indexes = slices.Grow(d.Indexes[:0], int(ends[len(ends)-1]))
	at := uint32(0)
	for k, end := range ends {
		for ; at < end; at++ {
			d.Indexes = append(d.Indexes, d.runs[k])
		}
	}
}

// Width is the number of bits of an index.
func (d *Dictionary) Width() uint { return uint(bits.Len(uint(max(d.Values.Len(), 1) - 1))) }

// AppendIndexes appends the indexes of values [from, to): the width in a byte
// and the hybrid form, which has the header of a run also where the width is 0.
func (d *Dictionary) AppendIndexes(dst []byte, from, to int) []byte {
	w := d.Width()
	return AppendHybrid(append(dst, byte(w)), d.Indexes[from:to], w)
}
