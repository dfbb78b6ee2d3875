package parquetfmt

import (
	"fmt"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/colsst/colsst/rowgroup"
)

// form is how a value of a type stands in Parquet.
type form uint8

const (
	formInt32    form = iota // INT32 as in memory
	formBool                 // BOOLEAN
	formInt64                // INT64 as in memory
	formSeconds              // INT64: seconds as milliseconds
	formUint32               // INT32 holding the bits of an int64 in memory
	formFloat                // FLOAT
	formDouble               // DOUBLE
	formText                 // BYTE_ARRAY, valid UTF-8
	formBytes                // BYTE_ARRAY
	formFixed                // FIXED_LEN_BYTE_ARRAY
	formFixedPt              // of a decimal that has a scale of its own, DECIMAL(p,s) as INT32, INT64 or FIXED_LEN_BYTE_ARRAY
	formPrinted              // BYTE_ARRAY: the value's text, of inet and varint
	formCounter              // INT64: the sum of a counter's shards
	formDecimal              // group of unscaled and scale
	formDuration             // group of months, days and nanos
	formList                 // LIST of lists, sets and vectors
	formMap                  // MAP
	formTuple                // group of fields, of tuples and user types

	// Of files of others only:
	formTimeMillis // INT32, of times
	formTimeMicros // INT64, of times
	formInt96      // INT96, of timestamps
	formFloat16    // FIXED_LEN_BYTE_ARRAY of 2 bytes
	formUnscaled   // DECIMAL(p,s) as INT32, INT64 or bytes of another width than memory has for so many digits
)

// shape is a value's form with what it is made of.
type shape struct {
	*node
	form  form
	typ   rowgroup.Type // bare: without what only freezes or reverses
	parts []*shape      // elements, key and value, or fields
}

// exact reports whether the form holds every valid value of the type, bit for
// bit.
func (s *shape) exact() bool { return s.form <= formFixed || s.form == formDecimal }

// flat reports whether the shape is one leaf.
func (s *shape) flat() bool { return s.isLeaf() }

// fixedPoint is a decimal's precision and scale, 0 digits for none.
type fixedPoint struct{ precision, scale int32 }

// bare is t without what only says that it is frozen or reversed.
func bare(t rowgroup.Type) rowgroup.Type {
	for (t.Kind == rowgroup.KindFrozen || t.Kind == rowgroup.KindReversed) && len(t.Args) == 1 {
		t = t.Args[0]
	}
	return t
}

// shapeOf is the shape of a type under a name. Its place in the file is yet to
// be set.
func shapeOf(name string, t rowgroup.Type, repetition format.FieldRepetitionType, decimal fixedPoint) *shape {
	t = bare(t)
	s := &shape{node: &node{name: name, repetition: repetition}, typ: t}
	leaf := func(f form, typ format.Type, logical format.LogicalTypeValue) {
		s.form, s.node.typ, s.logical = f, typ, logical
	}
	converted := func(c deprecated.ConvertedType) { s.converted = thrift.New(c) }
	group := func(f form, parts ...*shape) {
		s.form, s.parts = f, parts
		for _, p := range parts {
			s.children = append(s.children, p.node)
		}
	}
	integer := func(f form, typ format.Type, bits int8, signed bool, c deprecated.ConvertedType) {
		leaf(f, typ, &format.IntType{BitWidth: bits, IsSigned: signed})
		converted(c)
	}
	timestamp := func(f form, unit format.TimeUnitValue) {
		leaf(f, format.Int64, &format.TimestampType{IsAdjustedToUTC: true, Unit: format.TimeUnit{Value: unit}})
	}
	millis := func(f form) {
		timestamp(f, &format.MilliSeconds{})
		converted(deprecated.TimestampMillis)
	}
	switch t.Kind {
	case rowgroup.KindBoolean:
		leaf(formBool, format.Boolean, nil)
	case rowgroup.KindTinyint:
		integer(formInt32, format.Int32, 8, true, deprecated.Int8)
	case rowgroup.KindSmallint:
		integer(formInt32, format.Int32, 16, true, deprecated.Int16)
	case rowgroup.KindInt:
		leaf(formInt32, format.Int32, nil)
	case rowgroup.KindUint8:
		integer(formInt32, format.Int32, 8, false, deprecated.Uint8)
	case rowgroup.KindUint16:
		integer(formInt32, format.Int32, 16, false, deprecated.Uint16)
	case rowgroup.KindUint32:
		integer(formUint32, format.Int32, 32, false, deprecated.Uint32)
	case rowgroup.KindBigint:
		leaf(formInt64, format.Int64, nil)
	case rowgroup.KindUint64:
		integer(formInt64, format.Int64, 64, false, deprecated.Uint64)
	case rowgroup.KindFloat:
		leaf(formFloat, format.Float, nil)
	case rowgroup.KindDouble:
		leaf(formDouble, format.Double, nil)
	case rowgroup.KindText, rowgroup.KindASCII:
		leaf(formText, format.ByteArray, &format.StringType{})
		converted(deprecated.UTF8)
	case rowgroup.KindVarint, rowgroup.KindInet:
		leaf(formPrinted, format.ByteArray, &format.StringType{})
		converted(deprecated.UTF8)
	case rowgroup.KindUUID, rowgroup.KindTimeUUID, rowgroup.KindLexicalUUID:
		leaf(formFixed, format.FixedLenByteArray, &format.UUIDType{})
		s.length = 16
	case rowgroup.KindFixed:
		if t.Length > maxFixed {
			leaf(formBytes, format.ByteArray, nil)
			break
		}
		leaf(formFixed, format.FixedLenByteArray, nil)
		s.length = t.Length
	case rowgroup.KindNumeric:
		f, typ := numericForm(t)
		leaf(f, typ, &format.DecimalType{Scale: t.Scale, Precision: t.Precision})
		converted(deprecated.Decimal)
		s.scale, s.precision = t.Scale, t.Precision
		if n, ok := t.FixedLen(); ok {
			s.length = int32(n)
		}
	case rowgroup.KindTimestamp:
		switch t.Unit {
		case rowgroup.Seconds:
			millis(formSeconds)
		case rowgroup.Millis:
			millis(formInt64)
		case rowgroup.Micros:
			timestamp(formInt64, &format.MicroSeconds{})
			converted(deprecated.TimestampMicros)
		default:
			timestamp(formInt64, &format.NanoSeconds{})
		}
	case rowgroup.KindOldDate:
		millis(formInt64)
	case rowgroup.KindDate:
		leaf(formInt32, format.Int32, &format.DateType{})
		converted(deprecated.Date)
	case rowgroup.KindTime:
		leaf(formInt64, format.Int64, &format.TimeType{Unit: format.TimeUnit{Value: &format.NanoSeconds{}}})
	case rowgroup.KindCounter:
		leaf(formCounter, format.Int64, nil)
	case rowgroup.KindDecimal:
		if decimal.precision == 0 {
			group(formDecimal, plainLeaf("unscaled", format.ByteArray, format.Optional), plainLeaf("scale", format.Int32, format.Optional))
			break
		}
		leaf(formFixedPt, format.FixedLenByteArray, &format.DecimalType{Scale: decimal.scale, Precision: decimal.precision})
		converted(deprecated.Decimal)
		s.scale, s.precision = decimal.scale, decimal.precision
		switch {
		case decimal.precision <= 9:
			s.node.typ = format.Int32
		case decimal.precision <= 18:
			s.node.typ = format.Int64
		default:
			s.length = bytesOfDigits(decimal.precision)
		}
	case rowgroup.KindDuration:
		group(formDuration, plainLeaf("months", format.Int32, format.Optional), plainLeaf("days", format.Int32, format.Optional), plainLeaf("nanos", format.Int64, format.Optional))
	case rowgroup.KindList, rowgroup.KindSet, rowgroup.KindVector:
		element := shapeOf("element", t.Args[0], format.Optional, fixedPoint{})
		group(formList, element)
		s.children = []*node{{name: "list", repetition: format.Repeated, children: s.children}}
		s.logical = &format.ListType{}
		converted(deprecated.List)
	case rowgroup.KindMap:
		group(formMap, shapeOf("key", t.Args[0], format.Required, fixedPoint{}), shapeOf("value", t.Args[1], format.Optional, fixedPoint{}))
		s.children = []*node{{name: "key_value", repetition: format.Repeated, children: s.children}}
		s.logical = &format.MapType{}
		converted(deprecated.Map)
	case rowgroup.KindTuple, rowgroup.KindUDT:
		var fields []*shape
		for i, a := range t.Args {
			name := fmt.Sprintf("f%d", i)
			if t.Kind == rowgroup.KindUDT {
				name = t.Fields[i]
			}
			fields = append(fields, shapeOf(name, a, format.Optional, fixedPoint{}))
		}
		if len(fields) == 0 {
			leaf(formBytes, format.ByteArray, nil)
			break
		}
		group(formTuple, fields...)
	default: // blob, composite, empty, opaque
		leaf(formBytes, format.ByteArray, nil)
	}
	return s
}

// numericForm is how a decimal(p,s) stands in a file of ours.
func numericForm(t rowgroup.Type) (form, format.Type) {
	switch t.Physical() {
	case rowgroup.PhysInt32:
		return formInt32, format.Int32
	case rowgroup.PhysInt64:
		return formInt64, format.Int64
	}
	return formFixed, format.FixedLenByteArray
}

func plainLeaf(name string, t format.Type, repetition format.FieldRepetitionType) *shape {
	f := formBytes
	switch t {
	case format.Int32:
		f = formInt32
	case format.Int64:
		f = formInt64
	case format.Boolean:
		f = formBool
	}
	return &shape{node: &node{name: name, repetition: repetition, typ: t}, form: f}
}

func textLeaf(name string, repetition format.FieldRepetitionType) *shape {
	return shapeOf(name, rowgroup.Text, repetition, fixedPoint{})
}

// bytesOfDigits is how many bytes hold a signed number of n decimal digits.
func bytesOfDigits(n int32) int32 {
	// 10^n is below 2^(8b-1).
	return int32((int64(n)*33220/10000+1)/8) + 1
}

// place gives the fields of a file their places and returns the number of
// leaves.
func place(fields []*node) (leaves int, err error) {
	seen := map[string]bool{}
	for _, n := range fields {
		if seen[n.name] {
			return 0, fmt.Errorf("parquetfmt: two columns %q", n.name)
		}
		seen[n.name] = true
		if leaves, err = n.place(&node{}, leaves); err != nil {
			return 0, err
		}
	}
	return leaves, nil
}
