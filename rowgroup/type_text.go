package rowgroup

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/colsst/colsst/encoding"
)

// Limits of a type's text, so that hostile text costs little.
const (
	maxTypeDepth = 64
	maxTypeText  = 256 << 10
)

// kindNames are the names of the kinds in the text of a type.
var kindNames = [numKinds]string{
	KindInvalid: "invalid", KindBoolean: "boolean",
	KindTinyint: "tinyint", KindSmallint: "smallint", KindInt: "int", KindBigint: "bigint",
	KindFloat: "float", KindDouble: "double",
	KindText: "text", KindASCII: "ascii", KindBlob: "blob",
	KindVarint: "varint", KindDecimal: "decimal",
	KindUUID: "uuid", KindTimeUUID: "timeuuid", KindLexicalUUID: "lexical_uuid",
	KindTimestamp: "timestamp", KindOldDate: "old_date", KindDate: "date", KindTime: "time",
	KindDuration: "duration", KindInet: "inet", KindCounter: "counter", KindEmpty: "empty",
	KindUint8: "uint8", KindUint16: "uint16", KindUint32: "uint32", KindUint64: "uint64",
	KindFixed: "fixed", KindNumeric: "numeric",
	KindList: "list", KindSet: "set", KindMap: "map", KindTuple: "tuple", KindUDT: "udt",
	KindVector: "vector", KindComposite: "composite",
	KindFrozen: "frozen", KindReversed: "reversed", KindOpaque: "opaque",
}

// unitNames are the names of the units of a timestamp.
var unitNames = [...]string{Seconds: "s", Millis: "ms", Micros: "us", Nanos: "ns"}

// kindsByName finds a kind by its name or by a usual synonym.
var kindsByName = func() map[string]Kind {
	m := map[string]Kind{
		"bool": KindBoolean,
		"int8": KindTinyint, "int16": KindSmallint, "int32": KindInt, "integer": KindInt, "int64": KindBigint,
		"float32": KindFloat, "float64": KindDouble,
		"varchar": KindText, "string": KindText, "bytes": KindBlob,
	}
	for k := KindBoolean; k < numKinds; k++ {
		m[kindNames[k]] = k
	}
	return m
}()

// String is the name of the kind: the head of a type's text.
func (k Kind) String() string {
	if k < numKinds {
		return kindNames[k]
	}
	return "kind(" + strconv.Itoa(int(k)) + ")"
}

// String is the name of the unit: s, ms, us or ns.
func (u Unit) String() string {
	if int(u) < len(unitNames) {
		return unitNames[u]
	}
	return "unit(" + strconv.Itoa(int(u)) + ")"
}

// String is the canonical text of t, in the manner of CQL and without blanks:
//
//	int  text  timestamp(us)  fixed(16)  decimal(12,2)  map<text,frozen<list<int>>>  tuple<int,date>
//	vector<float,3>  udt<ks.address{street:text,"Zip code":int}>
//	composite<int,text>  reversed<timeuuid>  opaque<'SomeType(a=>b)'>
//
// Names that are not lower-case words stand in double quotes. ParseType is
// the inverse.
func (t Type) String() string { return string(appendType(nil, &t)) }

func appendType(dst []byte, t *Type) []byte {
	if t.Kind == KindNumeric { // as SQL and Parquet name it
		dst = append(dst, KindDecimal.String()...)
	} else {
		dst = append(dst, t.Kind.String()...)
	}
	switch t.Kind {
	case KindFixed, KindNumeric:
		return appendNumbers(dst, t)
	case KindTimestamp:
		dst = append(dst, '(')
		dst = append(dst, t.Unit.String()...)
		return append(dst, ')')
	case KindUDT:
		dst = append(dst, '<')
		dst = appendName(dst, t.Keyspace)
		dst = append(dst, '.')
		dst = appendName(dst, t.Name)
		dst = append(dst, '{')
		for i := range t.Args {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendName(dst, t.field(i))
			dst = append(dst, ':')
			dst = appendType(dst, &t.Args[i])
		}
		return append(dst, '}', '>')
	case KindOpaque:
		dst = append(dst, '<')
		dst = appendQuoted(dst, t.Name, '\'')
		return append(dst, '>')
	}
	if len(t.Args) == 0 {
		return dst
	}
	dst = append(dst, '<')
	for i := range t.Args {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendType(dst, &t.Args[i])
	}
	if t.Kind == KindVector {
		dst = append(dst, ',')
		dst = strconv.AppendInt(dst, int64(t.Length), 10)
	}
	return append(dst, '>')
}

// appendNumbers appends the numbers of a fixed or numeric type in parentheses.
func appendNumbers(dst []byte, t *Type) []byte {
	dst = append(dst, '(')
	if t.Kind == KindFixed {
		dst = strconv.AppendInt(dst, int64(t.Length), 10)
	} else {
		dst = strconv.AppendInt(dst, int64(t.Precision), 10)
		dst = append(dst, ',')
		dst = strconv.AppendInt(dst, int64(t.Scale), 10)
	}
	return append(dst, ')')
}

// field is the name of field i of a user type.
func (t *Type) field(i int) string {
	if i < len(t.Fields) {
		return t.Fields[i]
	}
	return ""
}

// appendName appends a name, in double quotes unless it is a lower-case word.
func appendName(dst []byte, name string) []byte {
	plain := name != ""
	for i := 0; i < len(name) && plain; i++ {
		c := name[i]
		plain = c == '_' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' && i > 0
	}
	if plain {
		return append(dst, name...)
	}
	return appendQuoted(dst, name, '"')
}

// appendQuoted appends s between quotes, those inside it doubled.
func appendQuoted[S string | []byte](dst []byte, s S, quote byte) []byte {
	dst = append(dst, quote)
	for i := 0; i < len(s); i++ {
		if s[i] == quote {
			dst = append(dst, quote)
		}
		dst = append(dst, s[i])
	}
	return append(dst, quote)
}

// ParseType reads the text of a type as String writes it. It allows blanks
// between the parts, names of types in any case, and synonyms: varchar, string,
// bytes, bool, integer, int8, int16, int32, int64, float32, float64, and numeric
// with digits. A timestamp without a unit counts milliseconds, as Cassandra's
// does, and a decimal without digits is Cassandra's, of any number and scale.
// Text that is too long or too deeply nested is an error.
func ParseType(s string) (Type, error) {
	p := typeParser{s: s}
	return p.whole(p.parseType)
}

// typeParser reads the text of a type, or a marshal type string, by recursive
// descent.
type typeParser struct {
	s     string
	pos   int
	depth int
}

// whole reads one type with parse and makes sure that it is all there is.
func (p *typeParser) whole(parse func() (Type, error)) (Type, error) {
	if len(p.s) > maxTypeText {
		return Type{}, fmt.Errorf("rowgroup: the text of a type has %d bytes, more than %d", len(p.s), maxTypeText)
	}
	t, err := parse()
	if err != nil {
		return Type{}, err
	}
	p.blanks()
	if p.pos < len(p.s) {
		return Type{}, p.errorf("nothing more expected")
	}
	return t, nil
}

// errorf is an error at the parser's position.
func (p *typeParser) errorf(format string, args ...any) error {
	return fmt.Errorf("rowgroup: type %q, byte %d: %s", shorten(p.s), p.pos, fmt.Sprintf(format, args...))
}

// shorten is s, cut to what an error message can hold.
func shorten(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

func (p *typeParser) enter() error {
	if p.depth++; p.depth > maxTypeDepth {
		return p.errorf("nested deeper than %d", maxTypeDepth)
	}
	return nil
}

func (p *typeParser) leave() { p.depth-- }

func (p *typeParser) blanks() {
	for p.pos < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.pos]) >= 0 {
		p.pos++
	}
}

// accept takes c, after blanks, if it is next.
func (p *typeParser) accept(c byte) bool {
	p.blanks()
	if p.pos < len(p.s) && p.s[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *typeParser) expect(c byte) error {
	if !p.accept(c) {
		return p.errorf("%q expected", c)
	}
	return nil
}

// word takes the longest run of bytes in class, after blanks.
func (p *typeParser) word(class func(byte) bool) string {
	p.blanks()
	from := p.pos
	for p.pos < len(p.s) && class(p.s[p.pos]) {
		p.pos++
	}
	return p.s[from:p.pos]
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// quoted takes the rest of a string whose opening quote is already taken.
func (p *typeParser) quoted(quote byte) (string, error) {
	var b strings.Builder
	for p.pos < len(p.s) {
		c := p.s[p.pos]
		p.pos++
		if c == quote {
			if p.pos == len(p.s) || p.s[p.pos] != quote {
				return b.String(), nil
			}
			p.pos++
		}
		b.WriteByte(c)
	}
	return "", p.errorf("closing %c expected", quote)
}

// name takes a name: a word, which is folded to lower case, or a quoted one.
func (p *typeParser) name() (string, error) {
	var s string
	if p.accept('"') {
		var err error
		if s, err = p.quoted('"'); err != nil {
			return "", err
		}
	} else {
		s = strings.ToLower(p.word(isWordByte))
	}
	if s == "" {
		return "", p.errorf("a name expected")
	}
	return s, nil
}

func (p *typeParser) parseType() (Type, error) {
	if err := p.enter(); err != nil {
		return Type{}, err
	}
	defer p.leave()
	name := p.word(isWordByte)
	kind, ok := kindsByName[strings.ToLower(name)]
	if !ok {
		return Type{}, p.errorf("unknown type %q", shorten(name))
	}
	t := Type{Kind: kind}
	var err error
	switch kind {
	case KindTimestamp:
		t.Unit = Millis
		if p.accept('(') {
			if t.Unit, err = p.unit(); err == nil {
				err = p.expect(')')
			}
		}
		return t, err
	case KindDecimal, KindNumeric, KindFixed:
		if kind == KindDecimal && !p.accept('(') {
			return t, nil
		} else if kind == KindDecimal {
			t.Kind = KindNumeric
		} else if err = p.expect('('); err != nil {
			return t, err
		}
		return t, p.numbers(&t)
	case KindUDT, KindOpaque:
		if err = p.expect('<'); err != nil {
			return t, err
		}
		if kind == KindUDT {
			err = p.userType(&t)
		} else if err = p.expect('\''); err == nil {
			t.Name, err = p.quoted('\'')
		}
		if err == nil {
			err = p.expect('>')
		}
		return t, err
	}
	if kind < KindList {
		return t, nil
	}
	if err = p.expect('<'); err != nil {
		return t, err
	}
	for {
		if kind == KindVector && len(t.Args) == 1 {
			if err = p.length(&t); err != nil {
				return t, err
			}
		} else {
			arg, err := p.parseType()
			if err != nil {
				return t, err
			}
			t.Args = append(t.Args, arg)
		}
		if !p.accept(',') {
			break
		}
	}
	if err = p.expect('>'); err != nil {
		return t, err
	}
	return t, p.checkArgs(&t)
}

// numbers takes the numbers of a fixed or numeric type, and what closes them.
func (p *typeParser) numbers(t *Type) (err error) {
	if t.Kind == KindFixed {
		if t.Length, err = p.number("a number of bytes", 1, encoding.MaxValueBytes); err != nil {
			return err
		}
		return p.expect(')')
	}
	if t.Precision, err = p.number("a number of digits", 1, MaxPrecision); err != nil {
		return err
	}
	if p.accept(',') {
		if t.Scale, err = p.number("a number of digits behind the point", 0, int64(t.Precision)); err != nil {
			return err
		}
	}
	return p.expect(')')
}

// number takes a number within the bounds.
func (p *typeParser) number(what string, from, to int64) (int32, error) {
	n, err := strconv.ParseInt(p.word(func(c byte) bool { return '0' <= c && c <= '9' }), 10, 32)
	if err != nil || n < from || n > to {
		return 0, p.errorf("%s expected, %d to %d", what, from, to)
	}
	return int32(n), nil
}

func (p *typeParser) unit() (Unit, error) {
	name := p.word(isWordByte)
	for u, n := range unitNames {
		if n == name {
			return Unit(u), nil
		}
	}
	return 0, p.errorf("a unit s, ms, us or ns expected")
}

// userType takes keyspace.name{field:type,...}.
func (p *typeParser) userType(t *Type) (err error) {
	if t.Keyspace, err = p.name(); err != nil {
		return err
	}
	if strings.IndexFunc(t.Keyspace, func(r rune) bool { return r > 127 || !isMarshalByte(byte(r)) }) >= 0 {
		return p.errorf("%q is not the name of a keyspace", t.Keyspace)
	}
	if err = p.expect('.'); err != nil {
		return err
	}
	if t.Name, err = p.name(); err != nil {
		return err
	}
	if err = p.expect('{'); err != nil {
		return err
	}
	if p.accept('}') {
		return nil
	}
	for {
		field, err := p.name()
		if err != nil {
			return err
		}
		if err = p.expect(':'); err != nil {
			return err
		}
		arg, err := p.parseType()
		if err != nil {
			return err
		}
		t.Fields = append(t.Fields, field)
		t.Args = append(t.Args, arg)
		if !p.accept(',') {
			return p.expect('}')
		}
	}
}

// length takes the number of elements of a vector, which must be the last
// argument.
func (p *typeParser) length(t *Type) error {
	if t.Length != 0 {
		return p.errorf("too many arguments")
	}
	n, err := p.number("a number of elements", 1, math.MaxInt32)
	t.Length = n
	return err
}

// checkArgs checks the number of arguments of a constructor, and that the
// elements of a vector have bytes and do not exceed the limit of one value.
func (p *typeParser) checkArgs(t *Type) error {
	switch want := t.Kind.arity(); {
	case want >= 0 && len(t.Args) != want, want < 0 && len(t.Args) == 0:
		return p.errorf("%s with %d type arguments", t.Kind, len(t.Args))
	}
	if t.Kind != KindVector {
		return nil
	}
	if t.Length == 0 {
		return p.errorf("a number of elements expected")
	}
	if width := valueLen(&t.Args[0]); width == 0 || width > 0 && valueLen(t) < 0 {
		return p.errorf("vector of %d elements of %d bytes", t.Length, width)
	}
	return nil
}

// arity is the number of type arguments that k takes, or -1 for one or more.
func (k Kind) arity() int {
	switch k {
	case KindList, KindSet, KindVector, KindFrozen, KindReversed:
		return 1
	case KindMap:
		return 2
	case KindTuple, KindComposite:
		return -1
	}
	return 0
}
