package rowgroup

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/colsst/colsst/encoding"
)

// Prefixes of class names: Cassandra's own, and ours for the types that
// Cassandra does not have.
const (
	marshalPrefix = "org.apache.cassandra.db.marshal."
	ownPrefix     = "colsst."
)

// marshalNames are the class names behind marshalPrefix, or behind ownPrefix
// for types that Cassandra does not have.
var marshalNames = [numKinds]string{
	KindBoolean: "BooleanType",
	KindTinyint: "ByteType", KindSmallint: "ShortType", KindInt: "Int32Type", KindBigint: "LongType",
	KindFloat: "FloatType", KindDouble: "DoubleType",
	KindText: "UTF8Type", KindASCII: "AsciiType", KindBlob: "BytesType",
	KindVarint: "IntegerType", KindDecimal: "DecimalType",
	KindUUID: "UUIDType", KindTimeUUID: "TimeUUIDType", KindLexicalUUID: "LexicalUUIDType",
	KindTimestamp: "TimestampType", KindOldDate: "DateType", KindDate: "SimpleDateType", KindTime: "TimeType",
	KindDuration: "DurationType", KindInet: "InetAddressType", KindCounter: "CounterColumnType", KindEmpty: "EmptyType",
	KindUint8: "UInt8Type", KindUint16: "UInt16Type", KindUint32: "UInt32Type", KindUint64: "UInt64Type",
	KindFixed: "FixedType", KindNumeric: "NumericType",
	KindList: "ListType", KindSet: "SetType", KindMap: "MapType", KindTuple: "TupleType", KindUDT: "UserType",
	KindVector: "VectorType", KindComposite: "CompositeType",
	KindFrozen: "FrozenType", KindReversed: "ReversedType",
}

// kindsByMarshal finds a kind by its class name without prefix.
var kindsByMarshal = func() map[string]Kind {
	m := make(map[string]Kind, len(marshalNames))
	for k, name := range marshalNames {
		if name != "" {
			m[name] = Kind(k)
		}
	}
	return m
}()

// own reports whether Cassandra has no such type.
func (t *Type) own() bool {
	return KindUint8 <= t.Kind && t.Kind <= KindNumeric || t.Kind == KindTimestamp && t.Unit != Millis
}

// Marshal is the class expression by which Cassandra's files name t, such as
// org.apache.cassandra.db.marshal.ListType(...). Types that Cassandra does not
// have get classes of their own: colsst.UInt8Type, colsst.TimestampType(us),
// colsst.FixedType(16), colsst.NumericType(12,2).
// ParseMarshal is the inverse, but for an opaque type whose name is no class
// expression.
func (t Type) Marshal() string { return string(appendMarshal(nil, &t)) }

func appendMarshal(dst []byte, t *Type) []byte {
	switch {
	case t.Kind == KindOpaque:
		return append(dst, t.Name...)
	case t.Kind >= numKinds || marshalNames[t.Kind] == "":
		return append(dst, t.Kind.String()...)
	case t.own():
		dst = append(dst, ownPrefix...)
	default:
		dst = append(dst, marshalPrefix...)
	}
	dst = append(dst, marshalNames[t.Kind]...)
	switch {
	case t.Kind == KindTimestamp && t.own():
		dst = append(dst, '(')
		dst = append(dst, t.Unit.String()...)
		return append(dst, ')')
	case t.Kind == KindFixed, t.Kind == KindNumeric:
		return appendNumbers(dst, t)
	case t.Kind == KindUDT:
		dst = append(dst, '(')
		dst = append(dst, t.Keyspace...)
		dst = append(dst, ',')
		dst = hex.AppendEncode(dst, []byte(t.Name))
	case len(t.Args) == 0:
		return dst
	}
	for i := range t.Args {
		if i == 0 && t.Kind != KindUDT {
			dst = append(dst, '(')
		} else {
			dst = append(dst, ',')
		}
		if t.Kind == KindUDT {
			dst = hex.AppendEncode(dst, []byte(t.field(i)))
			dst = append(dst, ':')
		}
		dst = appendMarshal(dst, &t.Args[i])
	}
	if t.Kind == KindVector {
		dst = append(dst, " , "...)
		dst = strconv.AppendInt(dst, int64(t.Length), 10)
	}
	return append(dst, ')')
}

// ParseMarshal reads a class expression of Cassandra: full or short class
// names, arguments in parentheses, blanks between the parts. A class that it
// does not know becomes an opaque type whose Name is the expression as it
// stands. Anything malformed is an encoding.CorruptError.
func ParseMarshal(s string) (Type, error) {
	p := typeParser{s: s}
	t, err := p.whole(p.parseMarshal)
	if err != nil {
		return Type{}, &encoding.CorruptError{Part: "marshal type", Offset: -1, Err: err}
	}
	return t, nil
}

// isMarshalByte reports whether c can stand in a class name, or in the name of
// a keyspace.
func isMarshalByte(c byte) bool {
	return isWordByte(c) || strings.IndexByte("-+.&", c) >= 0
}

func (p *typeParser) parseMarshal() (Type, error) {
	if err := p.enter(); err != nil {
		return Type{}, err
	}
	defer p.leave()
	p.blanks()
	from := p.pos
	class := p.word(isMarshalByte)
	if class == "" {
		return Type{}, p.errorf("a class name expected")
	}
	t := Type{Kind: kindsByMarshal[strings.TrimPrefix(class, marshalPrefix)]}
	name, ours := strings.CutPrefix(class, ownPrefix)
	if ours {
		t.Kind = kindsByMarshal[name]
	}
	if t.Kind == KindTimestamp {
		if ours {
			err := p.ownTimestamp(&t)
			return t, err
		}
		t.Unit = Millis
	}
	switch {
	case t.Kind == KindInvalid, t.own() != ours:
		err := p.skipArgs()
		return Type{Kind: KindOpaque, Name: p.s[from:p.pos]}, err
	case t.Kind == KindUDT:
		err := p.marshalUserType(&t)
		return t, err
	case t.Kind == KindFixed, t.Kind == KindNumeric:
		if err := p.expect('('); err != nil {
			return t, err
		}
		return t, p.numbers(&t)
	case t.Kind < KindList:
		return t, nil
	}
	if err := p.expect('('); err != nil {
		return t, err
	}
	for {
		if t.Kind == KindVector && len(t.Args) == 1 {
			if err := p.length(&t); err != nil {
				return t, err
			}
		} else {
			arg, err := p.parseMarshal()
			if err != nil {
				return t, err
			}
			t.Args = append(t.Args, arg)
		}
		if !p.accept(',') {
			break
		}
	}
	if err := p.expect(')'); err != nil {
		return t, err
	}
	return t, p.checkArgs(&t)
}

// ownTimestamp takes the unit of a timestamp that Cassandra does not have.
func (p *typeParser) ownTimestamp(t *Type) (err error) {
	if err = p.expect('('); err != nil {
		return err
	}
	if t.Unit, err = p.unit(); err != nil {
		return err
	}
	if !t.own() {
		return p.errorf("a unit s, us or ns expected")
	}
	return p.expect(')')
}

// marshalUserType takes (keyspace,hex name,hex field:type,...).
func (p *typeParser) marshalUserType(t *Type) (err error) {
	if err = p.expect('('); err != nil {
		return err
	}
	if t.Keyspace = p.word(isMarshalByte); t.Keyspace == "" {
		return p.errorf("a keyspace expected")
	}
	if err = p.expect(','); err != nil {
		return err
	}
	if t.Name, err = p.hexName(); err != nil {
		return err
	}
	for p.accept(',') {
		field, err := p.hexName()
		if err != nil {
			return err
		}
		if err = p.expect(':'); err != nil {
			return err
		}
		arg, err := p.parseMarshal()
		if err != nil {
			return err
		}
		t.Fields = append(t.Fields, field)
		t.Args = append(t.Args, arg)
	}
	return p.expect(')')
}

// hexName takes a name whose bytes are written as hexadecimal digits.
func (p *typeParser) hexName() (string, error) {
	b, err := hex.DecodeString(p.word(isWordByte))
	if err != nil || len(b) == 0 {
		return "", p.errorf("a name in hexadecimal digits expected")
	}
	return string(b), nil
}

// skipArgs skips the arguments of an unknown class up to the parenthesis that
// closes them, or nothing where there are none.
func (p *typeParser) skipArgs() error {
	end := p.pos
	if !p.accept('(') {
		p.pos = end
		return nil
	}
	for open := 1; open > 0; p.pos++ {
		if p.pos == len(p.s) {
			return p.errorf("\")\" expected")
		}
		switch p.s[p.pos] {
		case '(':
			open++
		case ')':
			open--
		}
	}
	return nil
}
