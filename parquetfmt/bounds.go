package parquetfmt

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"

	"github.com/parquet-go/parquet-go/format"

	"github.com/colsst/colsst/parquetfmt/internal/page"
	"github.com/colsst/colsst/simd"
)

// bounds are the least and the greatest value of a page or a column chunk, as
// PLAIN bytes, and nil where there is none. NaNs are left out, a least zero is
// -0.0 and a greatest one 0.0.
type bounds struct {
	min, max []byte
	nans     int64
}

// comparison is how the values of a leaf compare in statistics.
type comparison uint8

const (
	noOrder comparison = iota
	signedOrder
	unsignedOrder
	floatOrder
	bytesOrder // unsigned, byte by byte
	bigOrder   // byte strings that are signed big-endian numbers
)

// comparisonOf is the order that Parquet defines for a leaf's type.
func comparisonOf(n *node) comparison {
	unsigned := false
	decimal := false
	switch l := n.logical.(type) {
	case *format.IntType:
		unsigned = !l.IsSigned
	case *format.DecimalType:
		decimal = true
	case *format.Float16Type:
		return noOrder
	case nil:
		if n.converted.Valid {
			switch c := n.converted.V; {
			case c >= 11 && c <= 14: // UINT_8 to UINT_64
				unsigned = true
			case c == 5: // DECIMAL
				decimal = true
			case c == 21: // INTERVAL
				return noOrder
			}
		}
	}
	switch n.typ {
	case format.Boolean:
		return unsignedOrder
	case format.Int32, format.Int64:
		if unsigned {
			return unsignedOrder
		}
		return signedOrder
	case format.Float, format.Double:
		return floatOrder
	case format.ByteArray, format.FixedLenByteArray:
		if decimal {
			return bigOrder
		}
		return bytesOrder
	}
	return noOrder
}

// boundsOf finds the bounds of values [from, to).
func boundsOf(v *page.Values, from, to int, order comparison) (b bounds) {
	if from == to || order == noOrder {
		return b
	}
	le := binary.LittleEndian
	switch v.Type {
	case format.Boolean:
		least, greatest := simd.MinMaxInt32(v.I32[from:to])
		b.min, b.max = []byte{byte(least)}, []byte{byte(greatest)}
	case format.Int32:
		least, greatest := simd.MinMaxInt32(v.I32[from:to])
		if order == unsignedOrder && least < 0 {
			least, greatest = minMax(v.I32[from:to], func(a, b int32) bool { return uint32(a) < uint32(b) })
		}
		b.min, b.max = le.AppendUint32(nil, uint32(least)), le.AppendUint32(nil, uint32(greatest))
	case format.Int64:
		least, greatest := simd.MinMaxInt64(v.I64[from:to])
		if order == unsignedOrder && least < 0 {
			least, greatest = minMax(v.I64[from:to], func(a, b int64) bool { return uint64(a) < uint64(b) })
		}
		b.min, b.max = le.AppendUint64(nil, uint64(least)), le.AppendUint64(nil, uint64(greatest))
	case format.Float:
		least, greatest, nans := simd.MinMaxFloat32(v.F32[from:to])
		b.nans = int64(nans)
		if nans < to-from {
			b.min, b.max = le.AppendUint32(nil, math.Float32bits(floorZero(least))), le.AppendUint32(nil, math.Float32bits(greatest+0))
		}
	case format.Double:
		least, greatest, nans := simd.MinMaxFloat64(v.F64[from:to])
		b.nans = int64(nans)
		if nans < to-from {
			b.min, b.max = le.AppendUint64(nil, math.Float64bits(floorZero(least))), le.AppendUint64(nil, math.Float64bits(greatest+0))
		}
	default:
		least, greatest := v.Str.At(from), v.Str.At(from)
		for i := from + 1; i < to; i++ {
			s := v.Str.At(i)
			if compareBytes(s, least, order) < 0 {
				least = s
			} else if compareBytes(s, greatest, order) > 0 {
				greatest = s
			}
		}
		b.min, b.max = append([]byte{}, least...), append([]byte{}, greatest...)
	}
	return b
}

func minMax[T any](v []T, less func(a, b T) bool) (least, greatest T) {
	least, greatest = v[0], v[0]
	for _, x := range v[1:] {
		if less(x, least) {
			least = x
		} else if less(greatest, x) {
			greatest = x
		}
	}
	return least, greatest
}

// floorZero is -0.0 for a zero. Adding 0 makes the other one of both.
func floorZero[T float32 | float64](v T) T {
	if v == 0 {
		return T(math.Copysign(0, -1))
	}
	return v
}

// add widens b by o.
func (b *bounds) add(o *bounds, t format.Type, order comparison) {
	b.nans += o.nans
	if o.min == nil {
		return
	}
	if b.min == nil || compareBound(o.min, b.min, t, order) < 0 {
		b.min = o.min
	}
	if b.max == nil || compareBound(o.max, b.max, t, order) > 0 {
		b.max = o.max
	}
}

// compareBound compares two values as PLAIN bytes of the right length.
func compareBound(a, b []byte, t format.Type, order comparison) int {
	le := binary.LittleEndian
	switch t {
	case format.Boolean:
		return cmp.Compare(a[0], b[0])
	case format.Int32:
		x, y := le.Uint32(a), le.Uint32(b)
		if order == unsignedOrder {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(int32(x), int32(y))
	case format.Int64:
		x, y := le.Uint64(a), le.Uint64(b)
		if order == unsignedOrder {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(int64(x), int64(y))
	case format.Float:
		return cmp.Compare(math.Float32frombits(le.Uint32(a)), math.Float32frombits(le.Uint32(b)))
	case format.Double:
		return cmp.Compare(math.Float64frombits(le.Uint64(a)), math.Float64frombits(le.Uint64(b)))
	}
	return compareBytes(a, b, order)
}

func compareBytes(a, b []byte, order comparison) int {
	if order != bigOrder {
		return bytes.Compare(a, b)
	}
	return signedOf(a).Cmp(signedOf(b))
}
