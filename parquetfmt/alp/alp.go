// Package alp is Parquet's encoding ALP, number 10, of FLOAT and DOUBLE
// columns, for programs that use parquet-go. It writes floats that are decimals
// as bit-packed integers, after "ALP: Adaptive Lossless floating-Point
// Compression" (Afroozeh, Kuffó, Boncz, SIGMOD 2024), and gives back every bit
// pattern, NaN payloads and -0.0 included.
//
// An import is enough to read files that have such pages:
//
//	import _ "github.com/colsst/colsst/parquetfmt/alp"
//
// A column is written so where its node says so:
//
//	parquet.Encoded(parquet.Leaf(parquet.DoubleType), new(alp.Encoding))
//
// or all columns of a kind, by parquet.DefaultEncodingFor. A writer of
// parquet-go has one encoding for a column, chosen before its first value, and
// ALP has no form for floats that are no decimals: EstimateDouble and
// EstimateFloat say of some of a column's values whether it is the smaller.
//
// # Layout
//
// As apache/parquet-format, AlpEncoding.md, has it. A page of n values, none of
// them null, in N vectors of 2^k values, the last one shorter; all numbers are
// little-endian:
//
//	+------+------+------+--------+------------+----------+-----+------------+
//	| 0 u8 | 0 u8 | k u8 | n i32  | offsets    | vector 0 | ... | vector N-1 |
//	+------+------+------+--------+------------+----------+-----+------------+
//	 mode   packing        count    N*4 bytes
//
// k is 3 to 15. Offset i is where vector i begins, from the first offset on. The
// vectors follow one another, and nothing follows the last. A vector of v values
// with x exceptions, of M bits (64 or 32):
//
//	+------+------+-------+-----------+------+---------------+---------+-----------+
//	| e u8 | f u8 | x u16 | frame iM  | w u8 | packed        | x * u16 | x * M/8   |
//	+------+------+-------+-----------+------+---------------+---------+-----------+
//	                                          ceil(v*w/8)     positions  values
//
// Value i is float(frame + code i) * 10^f * 10^-e, where code i is bits
// [i*w, (i+1)*w) of the packed bytes, least significant bit first, the sum is
// an integer of M bits and wraps, and its conversion and each product round to
// the column's own precision. f is at most e, which is at most 18, or 10 for
// FLOAT. Exceptions take the places at their positions.
package alp

import (
	"fmt"

	"github.com/parquet-go/parquet-go"
	parquetenc "github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"

	"github.com/colsst/colsst/encoding"
)

// Format is the number of the encoding in Parquet's metadata.
const Format format.Encoding = 10

// Encoding is ALP as parquet-go takes it, for FLOAT and DOUBLE columns; other
// types are refused with parquet-go's ErrNotSupported. The zero value is ready,
// and it may be used by many goroutines at once.
type Encoding struct {
	parquetenc.NotSupported

	// LogVectorSize is the binary logarithm of the number of values of a
	// vector that is encoded: 3 to 15, or 0 for DefaultLogVectorSize. Pages of
	// any are decoded.
	LogVectorSize uint8
}

// DefaultLogVectorSize stands for vectors of 1,024 values.
const DefaultLogVectorSize = 10

const (
	minLogVectorSize = 3
	maxLogVectorSize = 15
)

// A version of parquet-go that knows the encoding itself keeps its own.
func init() {
	if _, unknown := parquet.LookupEncoding(Format).(parquetenc.NotSupported); unknown {
		parquet.RegisterEncoding(new(Encoding))
	}
}

// String returns the name of the encoding.
func (*Encoding) String() string { return "ALP" }

// Encoding returns Format.
func (*Encoding) Encoding() format.Encoding { return Format }

// EncodeDouble makes a page of src in dst, from its beginning, and returns it.
// It fails if a page cannot hold as many values or bytes, or LogVectorSize is
// none.
func (e *Encoding) EncodeDouble(dst []byte, src []float64) ([]byte, error) {
	return e.encoded(appendPage[float64, int64](dst[:0], src, e.logVectorSize()))
}

// EncodeFloat is EncodeDouble for FLOAT.
func (e *Encoding) EncodeFloat(dst []byte, src []float32) ([]byte, error) {
	return e.encoded(appendPage[float32, int32](dst[:0], src, e.logVectorSize()))
}

func (e *Encoding) encoded(page []byte, err error) ([]byte, error) {
	if err != nil {
		return page, parquetenc.Error(e, err)
	}
	return page, nil
}

func (e *Encoding) logVectorSize() uint {
	if e.LogVectorSize == 0 {
		return DefaultLogVectorSize
	}
	return uint(e.LogVectorSize)
}

// DecodeDouble decodes the page that src is, into dst where it is long enough.
//
// A dst that is not empty says how many values the caller expects, as
// parquet-go's does: a page of more of them is corrupt. For an empty dst, a
// page that holds more than a million values, and more than 64 for each of its
// bytes, is refused, so that a few bytes cannot ask for much memory. The result
// has no capacity beyond its length: parquet-go would take what lies there for
// values that are missing.
//
// Pages that are not as the format wants them fail with an error that matches
// both encoding.ErrCorrupt and parquet.ErrCorrupted; dst then holds anything.
func (e *Encoding) DecodeDouble(dst []float64, src []byte) ([]float64, error) {
	p, err := parse(src, 64)
	if err == nil {
		dst, err = resize(dst, &p)
	}
	if err == nil {
		err = p.doubles(dst)
	}
	return dst, e.decoded(err)
}

// DecodeFloat is DecodeDouble for FLOAT.
func (e *Encoding) DecodeFloat(dst []float32, src []byte) ([]float32, error) {
	p, err := parse(src, 32)
	if err == nil {
		dst, err = resize(dst, &p)
	}
	if err == nil {
		err = p.floats(dst)
	}
	return dst, e.decoded(err)
}

func (e *Encoding) decoded(err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w: %w", e, parquet.ErrCorrupted, err)
	}
	return nil
}

// AppendDouble appends a page of src, in vectors of 1,024 values, to dst. It
// fails if a page cannot hold as many values or bytes.
func AppendDouble(dst []byte, src []float64) ([]byte, error) {
	return appendPage[float64, int64](dst, src, DefaultLogVectorSize)
}

// AppendFloat is AppendDouble for FLOAT.
func AppendFloat(dst []byte, src []float32) ([]byte, error) {
	return appendPage[float32, int32](dst, src, DefaultLogVectorSize)
}

// AppendDouble is EncodeDouble that keeps what dst has, before the page.
func (e *Encoding) AppendDouble(dst []byte, src []float64) ([]byte, error) {
	return e.encoded(appendPage[float64, int64](dst, src, e.logVectorSize()))
}

// AppendFloat is AppendDouble for FLOAT.
func (e *Encoding) AppendFloat(dst []byte, src []float32) ([]byte, error) {
	return e.encoded(appendPage[float32, int32](dst, src, e.logVectorSize()))
}

const part = "ALP page"

func corruptf(format string, args ...any) error { return encoding.Corruptf(part, format, args...) }
