package page

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/raw"
	"github.com/colsst/colsst/parquetfmt/alp"
	"github.com/colsst/colsst/simd"
)

// PlainDictionary is the old number of dictionary indexes, and of the PLAIN
// encoding of a dictionary page.
const PlainDictionary format.Encoding = 2

// MaxValues is how many values a page can have that must be decoded at once,
// which those of runs and dictionaries need not be.
const MaxValues = 1 << 24

func floatBits32(f float32) uint32 { return math.Float32bits(f) }
func floatBits64(f float64) uint64 { return math.Float64bits(f) }

// Reader reads the values of one data page, from its first on.
type Reader struct {
	values  Values
	at      int     // values[at:] are left
	dict    *Values // of dictionary pages
	hybrid  Hybrid  // their indexes, or booleans
	runs    bool    // booleans in hybrid
	left    int     // values left in hybrid
	indexes []uint32
	prefix  []int32
	suffix  []int32
}

// Reset begins to read src, n values of type t (of length bytes, if that is
// fixed) in encoding e. dict are the values of the chunk's dictionary, if it has
// one. The reader keeps src, and dict, until the next Reset.
func (r *Reader) Reset(t format.Type, length int, e format.Encoding, src []byte, n int, dict *Values) error {
	r.values.Init(t, length)
	r.at, r.left, r.dict, r.runs = 0, 0, nil, false
	switch e {
	case PlainDictionary, format.RLEDictionary:
		switch {
		case dict == nil && n > 0:
			return encoding.Corruptf("page", "indexes of a dictionary, which is missing")
		case n == 0:
			return nil
		case len(src) == 0:
			return encoding.Corruptf("page", "indexes without a width")
		}
		r.dict, r.left = dict, n
		return r.hybrid.Reset(src[1:], uint(src[0]))
	case format.RLE:
		if t == format.Boolean {
			if len(src) < 4 {
				return encoding.Corruptf("page", "booleans of %d bytes", len(src))
			}
			size := binary.LittleEndian.Uint32(src)
			if uint64(size) > uint64(len(src)-4) {
				return encoding.Corruptf("page", "booleans of %d bytes in %d", size, len(src))
			}
			r.runs, r.left = true, n
			return r.hybrid.Reset(src[4:4+size], 1)
		}
	}
	if n > MaxValues {
		return fmt.Errorf("%w: a page of %d values", encoding.ErrUnsupported, n)
	}
	return r.decode(e, src, n)
}

// Next appends the next n values to dst.
func (r *Reader) Next(dst *Values, n int) error {
	if r.dict == nil && !r.runs {
		if n > r.values.Len()-r.at {
			return encoding.Corruptf("page", "fewer values than levels say")
		}
		err := dst.AppendRange(&r.values, r.at, r.at+n)
		r.at += n
		return err
	}
	if n > r.left {
		return encoding.Corruptf("page", "fewer values than levels say")
	}
	r.left -= n
	for n > 0 {
		k := min(n, 4096)
		r.indexes = slices.Grow(r.indexes[:0], k)[:k]
		if err := r.hybrid.Next(r.indexes); err != nil {
			return err
		}
		if r.runs {
			for _, x := range r.indexes {
				dst.I32 = append(dst.I32, int32(x))
			}
		} else if err := dst.appendAt(r.dict, r.indexes); err != nil {
			return err
		}
		n -= k
	}
	return nil
}

// NextRun appends the next value to dst and takes those behind it that are known
// to be equal: n in all and at most so many.
func (r *Reader) NextRun(dst *Values, most int) (n int, err error) {
	if r.dict == nil {
		return 1, r.Next(dst, 1)
	}
	if r.left == 0 {
		return 0, encoding.Corruptf("page", "fewer values than levels say")
	}
	at, n, err := r.hybrid.NextRun(min(most, r.left))
	if err != nil {
		return 0, err
	}
	r.left -= n
	r.indexes = append(r.indexes[:0], at)
	return n, dst.appendAt(r.dict, r.indexes)
}

// Skip leaves out the next n values.
func (r *Reader) Skip(n int) error {
	if r.dict == nil && !r.runs {
		if n > r.values.Len()-r.at {
			return encoding.Corruptf("page", "fewer values than levels say")
		}
		r.at += n
		return nil
	}
	if n > r.left {
		return encoding.Corruptf("page", "fewer values than levels say")
	}
	r.left -= n
	for n > 0 {
		k := min(n, 4096)
		r.indexes = slices.Grow(r.indexes[:0], k)[:k]
		if err := r.hybrid.Next(r.indexes); err != nil {
			return err
		}
		n -= k
	}
	return nil
}

// DecodePlain appends all n values of a page in encoding PLAIN to v.
func DecodePlain(v *Values, src []byte, n int) error {
	if n > MaxValues {
		return fmt.Errorf("%w: a page of %d values", encoding.ErrUnsupported, n)
	}
	short := func() error { return encoding.Corruptf("page", "%d values in %d bytes", n, len(src)) }
	switch v.Type {
	case format.Boolean:
		if len(src) < (n+7)/8 {
			return short()
		}
		at := len(v.I32)
		v.I32 = slices.Grow(v.I32, n)[:at+n]
		for i := range v.I32[at:] {
			v.I32[at+i] = int32(src[i/8] >> (i & 7) & 1)
		}
		return nil
	case format.ByteArray:
		for range n {
			if len(src) < 4 {
				return short()
			}
			size := binary.LittleEndian.Uint32(src)
			if uint64(size) > uint64(len(src)-4) {
				return encoding.Corruptf("page", "a value of %d bytes in %d", size, len(src))
			}
			if err := v.Str.Append(src[4 : 4+size]); err != nil {
				return err
			}
			src = src[4+size:]
		}
		return nil
	case format.FixedLenByteArray, format.Int96:
		if v.Length < 0 || len(src)/max(v.Length, 1) < n {
			return short()
		}
		return v.appendFixed(src[:n*v.Length], n)
	}
	// A value takes 4 or 8 bytes.
	width := 8
	if v.Type == format.Int32 || v.Type == format.Float {
		width = 4
	}
	if len(src)/width < n {
		return short()
	}
	var err error
	switch v.Type {
	case format.Int32:
		at := len(v.I32)
		v.I32 = slices.Grow(v.I32, n)[:at+n]
		_, err = raw.DecodeInt32(v.I32[at:], src)
	case format.Int64:
		at := len(v.I64)
		v.I64 = slices.Grow(v.I64, n)[:at+n]
		_, err = raw.DecodeInt64(v.I64[at:], src)
	case format.Float:
		at := len(v.F32)
		v.F32 = slices.Grow(v.F32, n)[:at+n]
		_, err = raw.DecodeFloat32(v.F32[at:], src)
	case format.Double:
		at := len(v.F64)
		v.F64 = slices.Grow(v.F64, n)[:at+n]
		_, err = raw.DecodeFloat64(v.F64[at:], src)
	default:
		err = encoding.Corruptf("page", "values of type %d", v.Type)
	}
	return err
}

// appendFixed appends n byte strings of v.Length.
func (v *Values) appendFixed(src []byte, n int) error {
	if !v.Str.Fits(len(src)) {
		return encoding.Corruptf("page", "values of more than 4 GiB")
	}
	end := len(v.Str.Data)
	v.Str.Data = append(v.Str.Data, src...)
	v.Str.Ends = slices.Grow(v.Str.Ends, n)
	for range n {
		end += v.Length
		v.Str.Ends = append(v.Str.Ends, uint32(end))
	}
	return nil
}

func (r *Reader) decode(e format.Encoding, src []byte, n int) (err error) {
	v := &r.values
	unsupported := func() error {
		return fmt.Errorf("%w: encoding %s of %s", encoding.ErrUnsupported, encodingName(e), v.Type)
	}
	switch e {
	case format.Plain:
		return DecodePlain(v, src, n)
	case format.DeltaBinaryPacked:
		switch v.Type {
		case format.Int32:
			v.I32, _, err = decodeDelta32(v.I32, src, n)
		case format.Int64:
			v.I64, _, err = decodeDelta64(v.I64, src, n)
		default:
			err = unsupported()
		}
		return err
	case format.DeltaLengthByteArray:
		if v.Type != format.ByteArray {
			return unsupported()
		}
		return r.deltaLengths(src, n)
	case format.DeltaByteArray:
		if v.Type != format.ByteArray && v.Type != format.FixedLenByteArray {
			return unsupported()
		}
		return r.deltaStrings(src, n)
	case format.ByteStreamSplit:
		return r.join(src, n)
	case alp.Format:
		switch v.Type {
		case format.Float:
			v.F32, err = alpEncoding.DecodeFloat(v.F32, src)
		case format.Double:
			v.F64, err = alpEncoding.DecodeDouble(v.F64, src)
		default:
			err = unsupported()
		}
		if err == nil && v.Len() != n {
			err = encoding.Corruptf("page", "%d values in place of %d", v.Len(), n)
		}
		return err
	}
	return unsupported()
}

func (r *Reader) deltaLengths(src []byte, n int) (err error) {
	var rest []byte
	if r.suffix, rest, err = decodeDelta32(r.suffix[:0], src, n); err != nil {
		return err
	}
	for _, size := range r.suffix {
		if size < 0 || int(size) > len(rest) {
			return encoding.Corruptf("page", "a value of %d bytes in %d", size, len(rest))
		}
		if err := r.values.Str.Append(rest[:size]); err != nil {
			return err
		}
		rest = rest[size:]
	}
	return nil
}

// maxExpansion is how many bytes the values of a page of DELTA_BYTE_ARRAY can
// take in all: a few bytes can repeat a long prefix any number of times.
const maxExpansion = MaxBytes

func (r *Reader) deltaStrings(src []byte, n int) (err error) {
	var rest []byte
	if r.prefix, rest, err = decodeDelta32(r.prefix[:0], src, n); err != nil {
		return err
	}
	if r.suffix, rest, err = decodeDelta32(r.suffix[:0], rest, n); err != nil {
		return err
	}
	total := 0
	for i := range n {
		p, s := r.prefix[i], r.suffix[i]
		if s < 0 || int(s) > len(rest) {
			return encoding.Corruptf("page", "a suffix of %d bytes in %d", s, len(rest))
		}
		var last []byte
		if i > 0 {
			last = r.values.Str.At(r.values.Str.Len() - 1)
		}
		if p < 0 || int(p) > len(last) {
			return encoding.Corruptf("page", "a prefix of %d bytes of a value of %d", p, len(last))
		}
		if total += int(p) + int(s); total > maxExpansion {
			return fmt.Errorf("%w: a page of more than %d bytes of values", encoding.ErrUnsupported, maxExpansion)
		}
		if r.values.Type == format.FixedLenByteArray && int(p)+int(s) != r.values.Length {
			return encoding.Corruptf("page", "a value of %d bytes in place of %d", p+s, r.values.Length)
		}
		data := append(r.values.Str.Data, last[:p]...)
		data = append(data, rest[:s]...)
		r.values.Str.Data, r.values.Str.Ends = data, append(r.values.Str.Ends, uint32(len(data)))
		rest = rest[s:]
	}
	return nil
}

func (r *Reader) join(src []byte, n int) error {
	v := &r.values
	width := 0
	switch v.Type {
	case format.Int32, format.Float:
		width = 4
	case format.Int64, format.Double:
		width = 8
	case format.FixedLenByteArray:
		width = v.Length
	default:
		return fmt.Errorf("%w: encoding %s of %s", encoding.ErrUnsupported, format.ByteStreamSplit, v.Type)
	}
	// The streams are as long as the page has values that are not null.
	if width <= 0 || len(src) != n*width {
		return encoding.Corruptf("page", "%d values of %d bytes in %d", n, width, len(src))
	}
	switch v.Type {
	case format.Int32:
		v.I32 = slices.Grow(v.I32, n)[:n]
		simd.JoinInt32(v.I32, src)
	case format.Int64:
		v.I64 = slices.Grow(v.I64, n)[:n]
		simd.JoinInt64(v.I64, src)
	case format.Float:
		v.F32 = slices.Grow(v.F32, n)[:n]
		simd.JoinFloat32(v.F32, src)
	case format.Double:
		v.F64 = slices.Grow(v.F64, n)[:n]
		simd.JoinFloat64(v.F64, src)
	default:
		joined := make([]byte, len(src))
		for k := range width {
			for i, b := range src[k*n : (k+1)*n] {
				joined[i*width+k] = b
			}
		}
		return v.appendFixed(joined, n)
	}
	return nil
}
