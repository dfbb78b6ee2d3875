package rowgroup

import (
	"slices"

	"github.com/colsst/colsst/encoding"
)

// Physical is how a column's values lie in memory and in a file.
type Physical uint8

// The physical types.
const (
	PhysBool    Physical = iota // in memory an int32 that is 0 or 1
	PhysInt8                    // in memory an int32
	PhysInt16                   // in memory an int32
	PhysInt32                   // int32
	PhysInt64                   // int64
	PhysFloat32                 // float32
	PhysFloat64                 // float64
	PhysBytes                   // byte strings of any length
	PhysFixed                   // byte strings of Type.Length bytes
)

// Class is the kind of slice that holds a column's values in a Batch.
type Class uint8

// The classes.
const (
	ClassInt32   Class = iota // PhysBool, PhysInt8, PhysInt16, PhysInt32
	ClassInt64                // PhysInt64
	ClassFloat32              // PhysFloat32
	ClassFloat64              // PhysFloat64
	ClassBytes                // PhysBytes, PhysFixed
)

// Class is the kind of slice that holds values of physical type p.
func (p Physical) Class() Class {
	switch p {
	case PhysInt64:
		return ClassInt64
	case PhysFloat32:
		return ClassFloat32
	case PhysFloat64:
		return ClassFloat64
	case PhysBytes, PhysFixed:
		return ClassBytes
	}
	return ClassInt32
}

// Kind is the head of a type: which scalar, or which constructor over Args.
type Kind uint8

// The kinds. The comment gives the physical type and Cassandra's marshal class.
const (
	KindInvalid     Kind = iota
	KindBoolean          // bool; BooleanType
	KindTinyint          // int8; ByteType
	KindSmallint         // int16; ShortType
	KindInt              // int32; Int32Type
	KindBigint           // int64; LongType
	KindFloat            // float32; FloatType
	KindDouble           // float64; DoubleType
	KindText             // bytes; UTF8Type
	KindASCII            // bytes; AsciiType
	KindBlob             // bytes; BytesType
	KindVarint           // bytes, two's complement big-endian; IntegerType
	KindDecimal          // bytes, int32 scale + varint; DecimalType
	KindUUID             // fixed(16); UUIDType
	KindTimeUUID         // fixed(16), ordered by time; TimeUUIDType
	KindLexicalUUID      // fixed(16), ordered as two signed int64; LexicalUUIDType
	KindTimestamp        // int64 since 1970 in Unit (Cassandra: ms); TimestampType
	KindOldDate          // int64 ms; DateType, ordered as unsigned
	KindDate             // int32 days since 1970 (file bytes of Cassandra: + 2^31); SimpleDateType
	KindTime             // int64 ns of the day, ordered as unsigned; TimeType
	KindDuration         // bytes; DurationType, no order
	KindInet             // bytes 4 or 16; InetAddressType
	KindCounter          // bytes, counter context; CounterColumnType, no order
	KindEmpty            // fixed(0); EmptyType
	KindUint8            // int16 in memory as int32
	KindUint16           // int32
	KindUint32           // int64
	KindUint64           // int64 holding the bits, ordered unsigned
	KindFixed            // fixed(Length)
	KindNumeric          // a count of 10^-Scale of at most Precision digits: int32 up to 9 of them, int64 up to 18, else fixed, two's complement
	KindList             // bytes; ListType(Args[0])
	KindSet              // bytes; SetType(Args[0])
	KindMap              // bytes; MapType(Args[0], Args[1])
	KindTuple            // bytes; TupleType(Args...)
	KindUDT              // bytes; UserType(Keyspace, Name, Fields: Args...)
	KindVector           // bytes or fixed; VectorType(Args[0], Length)
	KindComposite        // bytes; CompositeType(Args...)
	KindFrozen           // FrozenType(Args[0]): physical type of Args[0], never multi-cell
	KindReversed         // ReversedType(Args[0]): bytes of Args[0], order turned round
	KindOpaque           // bytes of a type whose order is unknown; Name is its text
	numKinds
)

// Unit is the unit of a timestamp.
type Unit uint8

// The units.
const (
	Seconds Unit = iota
	Millis
	Micros
	Nanos
)

// Type is the type of a column: a tree like Cassandra's marshal types, with
// the few logical types of other sources added. Types are values; compare them
// with Equal.
type Type struct {
	Kind   Kind
	Unit   Unit  // KindTimestamp
	Length int32 // KindVector: elements; KindFixed: bytes

	Precision, Scale int32 // KindNumeric: decimal digits, and how many of them are behind the point

	Args     []Type   // element, key and value, field or component types
	Keyspace string   // KindUDT
	Name     string   // KindUDT, KindOpaque
	Fields   []string // KindUDT: names of Args
}

// Types without parameters, ready to use.
var (
	Boolean  = Type{Kind: KindBoolean}
	Tinyint  = Type{Kind: KindTinyint}
	Smallint = Type{Kind: KindSmallint}
	Int      = Type{Kind: KindInt}
	Bigint   = Type{Kind: KindBigint}
	Float    = Type{Kind: KindFloat}
	Double   = Type{Kind: KindDouble}
	Text     = Type{Kind: KindText}
	ASCII    = Type{Kind: KindASCII}
	Blob     = Type{Kind: KindBlob}
	Varint   = Type{Kind: KindVarint}
	Decimal  = Type{Kind: KindDecimal}
	UUID     = Type{Kind: KindUUID}
	TimeUUID = Type{Kind: KindTimeUUID}
	Date     = Type{Kind: KindDate}
	Time     = Type{Kind: KindTime}
	Inet     = Type{Kind: KindInet}
)

// Timestamp is the type of instants counted in unit since 1970-01-01 UTC.
func Timestamp(unit Unit) Type { return Type{Kind: KindTimestamp, Unit: unit} }

// Fixed is the type of byte strings of n bytes each, ordered by unsigned bytes.
// n is 1 to encoding.MaxValueBytes.
func Fixed(n int) Type { return Type{Kind: KindFixed, Length: int32(n)} }

// MaxPrecision is the greatest number of digits of a Numeric: what 32 bytes hold.
const MaxPrecision = 76

// Numeric is the type of decimal numbers of at most precision digits, 1 to
// MaxPrecision, of which scale, 0 to precision, stand behind the point: SQL's
// DECIMAL(precision, scale). A value is its count of units of 10^-scale, so
// that all values have one scale and compare as integers.
func Numeric(precision, scale int) Type {
	return Type{Kind: KindNumeric, Precision: int32(precision), Scale: int32(scale)}
}

// Digits of the integers of a Numeric's classes.
const (
	maxDigits32 = 9
	maxDigits64 = 18
)

// Physical is how values of t are stored: PhysFixed for uuids, fixed(n), the
// empty type, decimal(p,s) of more than 18 digits and vectors of elements of a
// fixed length, PhysBytes for every other type that is no number.
func (t Type) Physical() Physical {
	switch t.Kind {
	case KindBoolean:
		return PhysBool
	case KindTinyint:
		return PhysInt8
	case KindSmallint, KindUint8:
		return PhysInt16
	case KindInt, KindDate, KindUint16:
		return PhysInt32
	case KindBigint, KindTimestamp, KindOldDate, KindTime, KindUint32, KindUint64:
		return PhysInt64
	case KindFloat:
		return PhysFloat32
	case KindDouble:
		return PhysFloat64
	case KindUUID, KindTimeUUID, KindLexicalUUID, KindEmpty, KindFixed:
		return PhysFixed
	case KindNumeric:
		switch {
		case t.Precision <= maxDigits32:
			return PhysInt32
		case t.Precision <= maxDigits64:
			return PhysInt64
		}
		return PhysFixed
	case KindVector:
		if valueLen(&t) >= 0 {
			return PhysFixed
		}
	case KindFrozen, KindReversed:
		if len(t.Args) == 1 {
			return t.Args[0].Physical()
		}
	}
	return PhysBytes
}

// FixedLen is the length in bytes of every value of a type whose Physical is
// PhysFixed; ok is false for all others.
func (t Type) FixedLen() (n int, ok bool) {
	if t.Physical() != PhysFixed {
		return 0, false
	}
	return valueLen(&t), true
}

// ValueLen is the length of a serialised value where the type fixes it, so
// that Cassandra writes values without a length. It does so for boolean, the
// integers of 4 and 8 bytes, floats, timestamps, uuids, the empty type, fixed(n),
// decimal(p,s) and vectors of such elements; not for tinyint, smallint, date,
// time and counter.
func (t Type) ValueLen() (n int, ok bool) {
	if n = valueLen(&t); n < 0 {
		return 0, false
	}
	return n, true
}

// valueLen is the length of ValueLen, or -1.
func valueLen(t *Type) int {
	switch t.Kind {
	case KindBoolean, KindUint8:
		return 1
	case KindUint16:
		return 2
	case KindInt, KindFloat, KindUint32:
		return 4
	case KindBigint, KindDouble, KindTimestamp, KindOldDate, KindUint64:
		return 8
	case KindUUID, KindTimeUUID, KindLexicalUUID:
		return 16
	case KindEmpty:
		return 0
	case KindFixed, KindNumeric:
		return scalarLen(t)
	case KindVector:
		if len(t.Args) != 1 || t.Length < 1 {
			return -1
		}
		width := valueLen(&t.Args[0])
		// A value beyond the limit of the format has no length to rely on.
		if n := int64(width) * int64(t.Length); width > 0 && n <= encoding.MaxValueBytes {
			return int(n)
		}
	case KindFrozen, KindReversed:
		if len(t.Args) == 1 {
			return valueLen(&t.Args[0])
		}
	}
	return -1
}

// numbersFit reports whether the numbers of fixed and numeric types in t are such
// as ParseType would take.
func (t *Type) numbersFit() bool {
	switch t.Kind {
	case KindFixed:
		return 1 <= t.Length && t.Length <= encoding.MaxValueBytes
	case KindNumeric:
		return 1 <= t.Precision && t.Precision <= MaxPrecision && 0 <= t.Scale && t.Scale <= t.Precision
	}
	for i := range t.Args {
		if !t.Args[i].numbersFit() {
			return false
		}
	}
	return true
}

// Equal reports whether t and u are the same type, names and units included.
func (t Type) Equal(u Type) bool {
	return t.Kind == u.Kind && t.Unit == u.Unit && t.Length == u.Length &&
		t.Precision == u.Precision && t.Scale == u.Scale &&
		t.Keyspace == u.Keyspace && t.Name == u.Name &&
		slices.Equal(t.Fields, u.Fields) &&
		slices.EqualFunc(t.Args, u.Args, Type.Equal)
}

// Ordered reports whether the order of t is known. It is not for durations,
// counters, opaque types and whatever holds one: a column of such a type can
// be kept in the order found, but not sought or merged by.
func (t Type) Ordered() bool {
	switch t.Kind {
	case KindInvalid, KindDuration, KindCounter, KindOpaque:
		return false
	}
	for i := range t.Args {
		if !t.Args[i].Ordered() {
			return false
		}
	}
	return true
}

// MultiCell reports whether a regular or static column of type t has many
// cells a row: its outermost type is a list, set, map or user type that is not
// frozen. Inside another type everything is frozen.
func (t Type) MultiCell() bool {
	switch t.Kind {
	case KindList, KindSet, KindMap, KindUDT:
		return true
	}
	return false
}
