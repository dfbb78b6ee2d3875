package parquetfmt

import (
	"fmt"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// shapeOfNode is what a field of a file of others is read as. Groups are not
// read.
func shapeOfNode(n *node) (*shape, error) {
	if !n.isLeaf() {
		what := "a group"
		switch n.logical.(type) {
		case *format.ListType:
			what = "a list"
		case *format.MapType:
			what = "a map"
		}
		return nil, fmt.Errorf("%w: column %q is %s: only flat columns of files of others are read", encoding.ErrUnsupported, n.name, what)
	}
	if n.repetition == format.Repeated {
		return nil, fmt.Errorf("%w: column %q is repeated: only flat columns of files of others are read", encoding.ErrUnsupported, n.name)
	}
	s := &shape{node: n}
	as := func(f form, t rowgroup.Type) { s.form, s.typ = f, t }
	converted := deprecated.ConvertedType(-1)
	if n.converted.Valid {
		converted = n.converted.V
	}
	unit := func(u format.TimeUnit) rowgroup.Unit {
		switch u.Value.(type) {
		case *format.MilliSeconds:
			return rowgroup.Millis
		case *format.MicroSeconds:
			return rowgroup.Micros
		}
		return rowgroup.Nanos
	}
	isDecimal := converted == deprecated.Decimal
	scale, precision := n.scale, n.precision
	if d, ok := n.logical.(*format.DecimalType); ok {
		isDecimal, scale, precision = true, d.Scale, d.Precision
	}
	if isDecimal && n.typ != format.Boolean && n.typ != format.Int96 && n.typ != format.Float && n.typ != format.Double {
		if 1 <= precision && precision <= rowgroup.MaxPrecision && 0 <= scale && scale <= precision {
			as(formUnscaled, rowgroup.Numeric(int(precision), int(scale)))
			if f, typ := numericForm(s.typ); n.typ == typ && (f != formFixed || n.length == bytesOfDigits(precision)) {
				s.form = f
			}
			return s, nil
		}
		as(formFixedPt, rowgroup.Decimal)
		s.node = cloneNode(n)
		s.scale = scale
		return s, nil
	}
	switch n.typ {
	case format.Boolean:
		as(formBool, rowgroup.Boolean)
	case format.Int32:
		as(formInt32, rowgroup.Int)
		switch l := n.logical.(type) {
		case *format.IntType:
			as(intForm(l.BitWidth, l.IsSigned))
		case *format.DateType:
			s.typ = rowgroup.Date
		case *format.TimeType:
			as(formTimeMillis, rowgroup.Time)
		case nil:
			switch converted {
			case deprecated.Date:
				s.typ = rowgroup.Date
			case deprecated.TimeMillis:
				as(formTimeMillis, rowgroup.Time)
			case deprecated.Int8:
				as(intForm(8, true))
			case deprecated.Int16:
				as(intForm(16, true))
			case deprecated.Uint8:
				as(intForm(8, false))
			case deprecated.Uint16:
				as(intForm(16, false))
			case deprecated.Uint32:
				as(intForm(32, false))
			}
		}
	case format.Int64:
		as(formInt64, rowgroup.Bigint)
		switch l := n.logical.(type) {
		case *format.IntType:
			if !l.IsSigned {
				s.typ = rowgroup.Type{Kind: rowgroup.KindUint64}
			}
		case *format.TimestampType:
			s.typ = rowgroup.Timestamp(unit(l.Unit))
		case *format.TimeType:
			s.typ = rowgroup.Time
			if unit(l.Unit) == rowgroup.Micros {
				s.form = formTimeMicros
			}
		case nil:
			switch converted {
			case deprecated.TimestampMillis:
				s.typ = rowgroup.Timestamp(rowgroup.Millis)
			case deprecated.TimestampMicros:
				s.typ = rowgroup.Timestamp(rowgroup.Micros)
			case deprecated.TimeMicros:
				as(formTimeMicros, rowgroup.Time)
			case deprecated.Uint64:
				s.typ = rowgroup.Type{Kind: rowgroup.KindUint64}
			}
		}
	case format.Int96:
		as(formInt96, rowgroup.Timestamp(rowgroup.Nanos))
	case format.Float:
		as(formFloat, rowgroup.Float)
	case format.Double:
		as(formDouble, rowgroup.Double)
	case format.ByteArray:
		as(formBytes, rowgroup.Blob)
		switch n.logical.(type) {
		case *format.StringType, *format.EnumType, *format.JsonType:
			as(formText, rowgroup.Text)
		case nil:
			switch converted {
			case deprecated.UTF8, deprecated.Enum, deprecated.Json:
				as(formText, rowgroup.Text)
			}
		}
	default:
		if as(formBytes, rowgroup.Blob); n.length > 0 {
			as(formFixed, rowgroup.Fixed(int(n.length)))
		}
		switch n.logical.(type) {
		case *format.UUIDType:
			if n.length == 16 {
				as(formFixed, rowgroup.UUID)
			}
		case *format.Float16Type:
			if n.length == 2 {
				as(formFloat16, rowgroup.Float)
			}
		}
	}
	return s, nil
}

func intForm(bits int8, signed bool) (form, rowgroup.Type) {
	kinds := map[int8][2]rowgroup.Kind{
		8: {rowgroup.KindUint8, rowgroup.KindTinyint}, 16: {rowgroup.KindUint16, rowgroup.KindSmallint}, 32: {rowgroup.KindUint32, rowgroup.KindInt},
	}
	k, known := kinds[bits]
	switch {
	case !known:
		return formInt32, rowgroup.Int
	case signed:
		return formInt32, rowgroup.Type{Kind: k[1]}
	case bits == 32:
		return formUint32, rowgroup.Type{Kind: k[0]}
	}
	return formInt32, rowgroup.Type{Kind: k[0]}
}

func cloneNode(n *node) *node {
	c := *n
	return &c
}
