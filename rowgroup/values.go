package rowgroup

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/colsst/colsst/encoding"
)

// Values have two forms. In memory numbers lie in the slices of a Batch;
// serialised, as in keys, cells of Cassandra and exceptions, every value is
// bytes, the numbers among them big-endian. A date counts days from 1970 in
// memory and days from 2^31 before that serialised.

// scalarLen is the length of a serialised value of a bare type that is no
// constructor and whose values have one fixed length, or -1.
func scalarLen(t *Type) int {
	switch t.Kind {
	case KindEmpty:
		return 0
	case KindBoolean, KindTinyint, KindUint8:
		return 1
	case KindSmallint, KindUint16:
		return 2
	case KindInt, KindFloat, KindDate, KindUint32:
		return 4
	case KindBigint, KindDouble, KindTimestamp, KindOldDate, KindTime, KindUint64:
		return 8
	case KindUUID, KindTimeUUID, KindLexicalUUID:
		return 16
	case KindFixed:
		return int(t.Length)
	case KindNumeric:
		switch {
		case t.Precision <= maxDigits32:
			return 4
		case t.Precision <= maxDigits64:
			return 8
		}
		return numericBytes(t.Precision)
	}
	return -1
}

// bare is t without what only says that it is frozen or reversed.
func (t *Type) bare() *Type {
	for (t.Kind == KindFrozen || t.Kind == KindReversed) && len(t.Args) == 1 {
		t = &t.Args[0]
	}
	return t
}

// AppendInt appends the serialised form of v, a value of a type of ClassInt32
// or ClassInt64 as it lies in memory. It panics for a type of another class.
func AppendInt(dst []byte, t Type, v int64) []byte {
	bare := t.bare()
	kind := bare.Kind
	switch scalarLen(bare) {
	case 1:
		return append(dst, byte(v))
	case 2:
		return binary.BigEndian.AppendUint16(dst, uint16(v))
	case 4:
		if kind == KindDate {
			v += 1 << 31
		}
		if kind != KindFloat && kind != KindFixed {
			return binary.BigEndian.AppendUint32(dst, uint32(v))
		}
	case 8:
		if kind != KindDouble && kind != KindFixed {
			return binary.BigEndian.AppendUint64(dst, uint64(v))
		}
	}
	panic("rowgroup: AppendInt of type " + kind.String())
}

// IntOf is the value in memory of the serialised value b of a type of
// ClassInt32 or ClassInt64. ok is false if memory cannot hold it: the length is
// wrong, or it is a boolean other than 0 and 1, or a decimal(p,s) of more than p
// digits, which v is nevertheless, or t is of another class. Such values become
// exceptions of their column.
func IntOf(t Type, b []byte) (v int64, ok bool) {
	bare := t.bare()
	if len(b) != scalarLen(bare) {
		return 0, false
	}
	switch bare.Kind {
	case KindBoolean:
		return int64(b[0]), b[0] <= 1
	case KindTinyint:
		return int64(int8(b[0])), true
	case KindUint8:
		return int64(b[0]), true
	case KindSmallint:
		return int64(int16(binary.BigEndian.Uint16(b))), true
	case KindUint16:
		return int64(binary.BigEndian.Uint16(b)), true
	case KindInt:
		return int64(int32(binary.BigEndian.Uint32(b))), true
	case KindDate:
		return int64(binary.BigEndian.Uint32(b)) - 1<<31, true
	case KindUint32:
		return int64(binary.BigEndian.Uint32(b)), true
	case KindBigint, KindTimestamp, KindOldDate, KindTime, KindUint64:
		return int64(binary.BigEndian.Uint64(b)), true
	case KindNumeric:
		return numericInt(bare, b)
	}
	return 0, false
}

// AppendFloat32 appends the bits of v, big-endian.
func AppendFloat32(dst []byte, v float32) []byte {
	return binary.BigEndian.AppendUint32(dst, math.Float32bits(v))
}

// AppendFloat64 appends the bits of v, big-endian.
func AppendFloat64(dst []byte, v float64) []byte {
	return binary.BigEndian.AppendUint64(dst, math.Float64bits(v))
}

// Float32Of is the inverse of AppendFloat32. ok is false if b has not 4 bytes.
func Float32Of(b []byte) (v float32, ok bool) {
	if len(b) != 4 {
		return 0, false
	}
	return math.Float32frombits(binary.BigEndian.Uint32(b)), true
}

// Float64Of is the inverse of AppendFloat64. ok is false if b has not 8 bytes.
func Float64Of(b []byte) (v float64, ok bool) {
	if len(b) != 8 {
		return 0, false
	}
	return math.Float64frombits(binary.BigEndian.Uint64(b)), true
}

// Valid says why the bytes b are no value of t, or nil. Like Cassandra it lets
// a value have no bytes at all unless t is a tinyint, smallint, date, time,
// duration, list, set, map or vector, takes every byte for a boolean, and does
// not look at the order inside sets and maps. Elements of lists, sets and maps
// must not be null. A duration's parts must agree in sign.
func Valid(t Type, b []byte) error { return valid(&t, b) }

func valid(t *Type, b []byte) error {
	t = t.bare()
	switch t.Kind {
	case KindTinyint, KindSmallint, KindDate, KindTime, KindDuration, KindList, KindSet, KindMap, KindVector:
	default:
		if len(b) == 0 {
			return nil
		}
	}
	if n := scalarLen(t); n >= 0 && len(b) != n {
		return fmt.Errorf("rowgroup: %s of %d bytes", t.String(), len(b))
	}
	ok := true
	switch t.Kind {
	case KindText:
		ok = utf8.Valid(b)
	case KindASCII:
		for _, c := range b {
			ok = ok && c < 0x80
		}
	case KindDecimal:
		ok = len(b) >= minDecimal
	case KindNumeric:
		ok = validNumeric(t, b)
	case KindTimeUUID:
		ok = uuidVersion(b) == 1
	case KindInet:
		ok = len(b) == 4 || len(b) == 16
	case KindDuration:
		_, _, _, ok = takeDuration(b)
	case KindCounter:
		_, ok = counterValue(b)
	case KindList, KindSet, KindMap, KindTuple, KindUDT, KindVector, KindComposite:
		return validElements(t, b)
	}
	if !ok {
		return fmt.Errorf("rowgroup: not a valid %s", t.String())
	}
	return nil
}

func validElements(t *Type, b []byte) error {
	if t.Kind != KindTuple && t.Kind != KindUDT && len(b) == 0 {
		return fmt.Errorf("rowgroup: %s of 0 bytes", t.Kind)
	}
	e := elementsOf(t, b)
	for i := 0; ; i++ {
		tok, v := e.next()
		switch {
		case tok == endToken:
			return nil
		case tok == badToken, tok == nullToken && e.framing != tupleFraming,
			e.framing == keyFraming && e.mark != 0 && len(e.rest) > 0:
			return fmt.Errorf("rowgroup: not a valid %s from element %d on", t.Kind, i)
		case tok == nullToken:
			continue
		}
		if err := valid(t.element(i), v); err != nil {
			return fmt.Errorf("%w in element %d of %s", err, i, t.Kind)
		}
	}
}

// counterValue is the sum of the shards of a counter's context:
//
//	int16 n, n x int16 (kinds of shards), shards of 32 bytes each:
//	16-byte counter id, int64 clock, int64 count
func counterValue(b []byte) (sum int64, ok bool) {
	if len(b) < 2 || b[0] >= 0x80 {
		return 0, false
	}
	header := 2 + 2*int(binary.BigEndian.Uint16(b))
	if len(b) < header || (len(b)-header)%32 != 0 {
		return 0, false
	}
	for b = b[header:]; len(b) > 0; b = b[32:] {
		sum += int64(binary.BigEndian.Uint64(b[24:]))
	}
	return sum, true
}

// AppendKey appends the bytes of a partition key: of one component its own, of
// several each as uint16 length, bytes and a zero byte. The caller checks that
// the key does not exceed encoding.MaxKeyBytes; the length of a component that
// alone exceeds it is meaningless.
func AppendKey(dst []byte, types []Type, values [][]byte) []byte {
	if len(types) == 1 {
		return append(dst, values[0]...)
	}
	for i := range types {
		dst = binary.BigEndian.AppendUint16(dst, uint16(len(values[i])))
		dst = append(dst, values[i]...)
		dst = append(dst, 0)
	}
	return dst
}

// SplitKey is the inverse of AppendKey: the serialised components of a key,
// which alias it. The error is an encoding.CorruptError.
func SplitKey(types []Type, key []byte) ([][]byte, error) {
	if len(types) == 1 {
		return [][]byte{key}, nil
	}
	values := make([][]byte, len(types))
	e := elements{rest: key, left: int64(len(types)), framing: keyFraming}
	for i := range values {
		tok, v := e.next()
		if tok != valueToken || e.mark != 0 {
			return nil, encoding.Corruptf("partition key", "component %d of %d is malformed", i, len(types))
		}
		values[i] = v
	}
	if len(e.rest) > 0 {
		return nil, encoding.Corruptf("partition key", "%d bytes after %d components", len(e.rest), len(types))
	}
	return values, nil
}
