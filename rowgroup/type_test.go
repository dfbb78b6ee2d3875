package rowgroup

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
)

// scalars are all kinds without arguments.
func scalars() []Type {
	var ts []Type
	for k := KindBoolean; k < KindList; k++ {
		switch k {
		case KindTimestamp, KindFixed, KindNumeric:
		default:
			ts = append(ts, Type{Kind: k})
		}
	}
	ts = append(ts, Fixed(1), Fixed(20), Numeric(1, 0), Numeric(9, 2), Numeric(10, 10), Numeric(18, 0), Numeric(19, 3), Numeric(38, 37), Numeric(76, 76))
	for u := range unitNames {
		ts = append(ts, Timestamp(Unit(u)))
	}
	return ts
}

// typeGen generates types of at most depth levels.
func typeGen(depth int) *rapid.Generator[Type] {
	scalar := rapid.SampledFrom(scalars())
	if depth <= 1 {
		return scalar
	}
	name := rapid.OneOf(rapid.StringMatching(`[a-z_][a-z0-9_]{0,4}`), rapid.StringN(1, 4, -1))
	return rapid.Custom(func(rt *rapid.T) Type {
		kind := rapid.SampledFrom([]Kind{KindInt, KindList, KindSet, KindMap, KindTuple, KindUDT, KindVector,
			KindComposite, KindFrozen, KindReversed, KindOpaque}).Draw(rt, "kind")
		if kind == KindInt {
			return scalar.Draw(rt, "scalar")
		}
		t := Type{Kind: kind}
		n := kind.arity()
		switch {
		case kind == KindOpaque:
			t.Name = "Dynamic(a=>" + rapid.StringMatching(`[A-Za-z]{1,5}`).Draw(rt, "class") + ")"
		case kind == KindUDT:
			t.Keyspace = rapid.StringMatching(`[A-Za-z0-9_]{1,4}`).Draw(rt, "keyspace")
			t.Name = name.Draw(rt, "name")
			n = rapid.IntRange(0, 3).Draw(rt, "fields")
		case n < 0:
			n = rapid.IntRange(1, 3).Draw(rt, "args")
		}
		for range n {
			arg := typeGen(depth-1).Draw(rt, "arg")
			if kind == KindVector && valueLen(&arg) == 0 {
				arg = Int
			}
			t.Args = append(t.Args, arg)
			if kind == KindUDT {
				t.Fields = append(t.Fields, name.Draw(rt, "field"))
			}
		}
		if kind == KindVector {
			t.Length = rapid.Int32Range(1, 3).Draw(rt, "length")
		}
		return t
	})
}

func TestTypeText(t *testing.T) {
	for _, c := range []struct {
		text string
		want Type
	}{
		{"int", Int},
		{"timestamp(us)", Timestamp(Micros)},
		{"list<text>", Type{Kind: KindList, Args: []Type{Text}}},
		{"map<text,frozen<list<int>>>", Type{Kind: KindMap, Args: []Type{Text,
			{Kind: KindFrozen, Args: []Type{{Kind: KindList, Args: []Type{Int}}}}}}},
		{"vector<float,3>", Type{Kind: KindVector, Args: []Type{Float}, Length: 3}},
		{`udt<ks.address{street:text,"Zip ""code""":int}>`, Type{Kind: KindUDT, Keyspace: "ks", Name: "address",
			Fields: []string{"street", `Zip "code"`}, Args: []Type{Text, Int}}},
		{`udt<"KS"."2"{}>`, Type{Kind: KindUDT, Keyspace: "KS", Name: "2"}},
		{"reversed<timeuuid>", Type{Kind: KindReversed, Args: []Type{TimeUUID}}},
		{"composite<int,lexical_uuid>", Type{Kind: KindComposite, Args: []Type{Int, {Kind: KindLexicalUUID}}}},
		{"opaque<'it''s'>", Type{Kind: KindOpaque, Name: "it's"}},
		{"uint64", Type{Kind: KindUint64}},
		{"decimal", Decimal},
		{"decimal(12,2)", Numeric(12, 2)},
		{"fixed(16)", Fixed(16)},
		{"map<decimal(9,0),vector<fixed(3),2>>", Type{Kind: KindMap, Args: []Type{Numeric(9, 0), {Kind: KindVector, Length: 2, Args: []Type{Fixed(3)}}}}},
	} {
		got, err := ParseType(c.text)
		require.NoError(t, err, c.text)
		require.True(t, c.want.Equal(got), "%s: %#v", c.text, got)
		require.Equal(t, c.text, got.String())
	}
}

func TestTypeSynonyms(t *testing.T) {
	for text, canonical := range map[string]string{
		"timestamp": "timestamp(ms)", "varchar": "text", "String": "text", "bytes": "blob", "BOOL": "boolean",
		"int8": "tinyint", "int16": "smallint", "int32": "int", "int64": "bigint", "float32": "float", "float64": "double",
		"numeric(12 , 2)": "decimal(12,2)", "Decimal ( 5 )": "decimal(5,0)", " map < int , timestamp ( ns ) > ": "map<int,timestamp(ns)>",
		"udt<KS.Name{Field:INT}>": "udt<ks.name{field:int}>",
	} {
		got, err := ParseType(text)
		require.NoError(t, err, text)
		require.Equal(t, canonical, got.String())
	}
}

func TestTypeTextErrors(t *testing.T) {
	for _, text := range []string{
		"", "invalid", "strin", "int<", "int<int>", "int int", "list", "list<>", "list<int", "list<int,int>", "list<int>>",
		"map<int>", "map<int,int,int>", "tuple<>", "vector<int>", "vector<int,0>", "vector<int,-1>", "vector<int,2,2>",
		"vector<int,99999999999>", "vector<2>", "vector<double,2147483647>", "vector<empty,2>",
		"fixed", "fixed()", "fixed(0)", "fixed(-1)", "fixed(268435457)", "fixed(2", "fixed<2>", "fixed(2,2)", "numeric",
		"decimal()", "decimal(0)", "decimal(77)", "decimal(9,10)", "decimal(9,)", "decimal(9,2", "decimal(9,-2)", "decimal(9,2,1)",
		"vector<fixed(200000000),2>",
		"timestamp()", "timestamp(m)", "timestamp(ms", "udt<x>", "udt<ks.x>", "udt<ks.x{a}>", `udt<ks.x{"":int}>`,
		`udt<"k s".x{}>`, "opaque<x>", "opaque<'x>", "frozen<int,int>",
		strings.Repeat("frozen<", 65) + "int" + strings.Repeat(">", 65),
		strings.Repeat("list<", 40_000), strings.Repeat("a", maxTypeText+1),
	} {
		_, err := ParseType(text)
		require.Error(t, err, shorten(text))
		require.Less(t, len(err.Error()), 300)
	}
	_, err := ParseType(strings.Repeat("frozen<", 63) + "int" + strings.Repeat(">", 63))
	require.NoError(t, err)
}

func TestMarshal(t *testing.T) {
	const pkg = "org.apache.cassandra.db.marshal."
	for _, c := range []struct{ marshal, text, canonical string }{
		{pkg + "UTF8Type", "text", ""},
		{"UTF8Type", "text", pkg + "UTF8Type"},
		{pkg + "TimestampType", "timestamp(ms)", ""},
		{pkg + "DateType", "old_date", ""},
		{pkg + "ReversedType(" + pkg + "TimeUUIDType)", "reversed<timeuuid>", ""},
		{" MapType ( Int32Type ,\tFrozenType( SetType(LongType) ) ) ", "map<int,frozen<set<bigint>>>",
			pkg + "MapType(" + pkg + "Int32Type," + pkg + "FrozenType(" + pkg + "SetType(" + pkg + "LongType)))"},
		{pkg + "UserType(ks,61646472,7a6970:" + pkg + "Int32Type,c3a9:" + pkg + "UTF8Type)", `udt<ks.addr{zip:int,"é":text}>`, ""},
		{pkg + "VectorType(" + pkg + "FloatType , 3)", "vector<float,3>", ""},
		{pkg + "CompositeType(" + pkg + "Int32Type," + pkg + "UTF8Type)", "composite<int,text>", ""},
		{"colsst.UInt32Type", "uint32", ""},
		{"colsst.TimestampType(ns)", "timestamp(ns)", ""},
		{"colsst.FixedType(16)", "fixed(16)", ""},
		{"ListType(colsst.NumericType(12,2))", "list<decimal(12,2)>", pkg + "ListType(colsst.NumericType(12,2))"},
		{"NumericType(12,2)", "opaque<'NumericType(12,2)'>", "NumericType(12,2)"},
		{"UInt32Type", "opaque<'UInt32Type'>", ""},
		{"colsst.Int32Type", "opaque<'colsst.Int32Type'>", ""},
		{pkg + "DynamicCompositeType(a=>" + pkg + "AsciiType,b=>X(Y))",
			"opaque<'" + pkg + "DynamicCompositeType(a=>" + pkg + "AsciiType,b=>X(Y))'>", ""},
		{"ListType(com.example.Odd(1, 2))", "list<opaque<'com.example.Odd(1, 2)'>>", pkg + "ListType(com.example.Odd(1, 2))"},
	} {
		got, err := ParseMarshal(c.marshal)
		require.NoError(t, err, c.marshal)
		require.Equal(t, c.text, got.String(), c.marshal)
		if c.canonical == "" {
			c.canonical = c.marshal
		}
		require.Equal(t, c.canonical, got.Marshal())
	}
	for _, s := range []string{
		"", "(", "ListType", "ListType()", "ListType(Int32Type", "ListType(Int32Type))", "ListType(Int32Type,Int32Type)",
		"UserType(ks)", "UserType(ks,6)", "UserType(ks,zz)", "UserType(ks,61,62)", "UserType(,61)", "Int32Type(", "Int32Type()",
		"colsst.FixedType", "colsst.FixedType(0)", "colsst.NumericType(77,0)", "colsst.NumericType(5,6)",
		"VectorType(FloatType)", "VectorType(EmptyType , 3)", "Odd(", "Odd((a)", "colsst.TimestampType", "colsst.TimestampType(ms)",
		"Int32Type Int32Type", strings.Repeat("ListType(", 50_000), strings.Repeat("(", 1000),
	} {
		_, err := ParseMarshal(s)
		require.ErrorIs(t, err, encoding.ErrCorrupt, shorten(s))
	}
}

func TestTypeRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := typeGen(4).Draw(rt, "type")
		got, err := ParseType(want.String())
		require.NoError(rt, err)
		require.True(rt, want.Equal(got), "%s, %s", want, got)
		got, err = ParseMarshal(want.Marshal())
		require.NoError(rt, err)
		require.True(rt, want.Equal(got), "%s, %s", want, got)
		if n, ok := want.FixedLen(); ok {
			require.Equal(rt, PhysFixed, want.Physical())
			m, ok := want.ValueLen()
			require.True(rt, ok)
			require.Equal(rt, n, m)
		}
	})
}

func TestTypeTraits(t *testing.T) {
	for _, c := range []struct {
		text               string
		ordered, multiCell bool
		fixed, value       int // -1: not fixed
	}{
		{"int", true, false, -1, 4},
		{"tinyint", true, false, -1, -1},
		{"date", true, false, -1, -1},
		{"uuid", true, false, 16, 16},
		{"empty", true, false, 0, 0},
		{"fixed(3)", true, false, 3, 3},
		{"decimal(9,2)", true, false, -1, 4},
		{"decimal(18,18)", true, false, -1, 8},
		{"decimal(19,0)", true, false, 9, 9},
		{"decimal(38,9)", true, false, 16, 16},
		{"decimal(76,0)", true, false, 32, 32},
		{"vector<decimal(5,2),3>", true, false, 12, 12},
		{"text", true, false, -1, -1},
		{"duration", false, false, -1, -1},
		{"frozen<map<int,duration>>", false, false, -1, -1},
		{"counter", false, false, -1, -1},
		{"list<int>", true, true, -1, -1},
		{"frozen<list<int>>", true, false, -1, -1},
		{"udt<k.t{a:int}>", true, true, -1, -1},
		{"tuple<int,opaque<'x'>>", false, false, -1, -1},
		{"vector<float,3>", true, false, 12, 12},
		{"vector<vector<double,2>,3>", true, false, 48, 48},
		{"vector<tinyint,3>", true, false, -1, -1},
		{"reversed<frozen<uuid>>", true, false, 16, 16},
	} {
		typ, err := ParseType(c.text)
		require.NoError(t, err)
		require.Equal(t, c.ordered, typ.Ordered(), c.text)
		require.Equal(t, c.multiCell, typ.MultiCell(), c.text)
		n, ok := typ.FixedLen()
		require.Equal(t, c.fixed >= 0, ok, c.text)
		require.Equal(t, max(c.fixed, 0), n, c.text)
		n, ok = typ.ValueLen()
		require.Equal(t, c.value >= 0, ok, c.text)
		require.Equal(t, max(c.value, 0), n, c.text)
	}
	require.False(t, Timestamp(Millis).Equal(Timestamp(Nanos)))
	require.False(t, Int.Equal(Bigint))
}

// TestMarshalReal parses all type strings in the headers of real SSTables.
func TestMarshalReal(t *testing.T) {
	root := filepath.Join("..", "..", "shared", "testdata", "sstables")
	if _, err := os.Stat(root); err != nil {
		t.Skip("no ../shared/testdata")
	}
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "-Statistics.db") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i := 2; i < len(data); i++ {
			if !bytes.HasPrefix(data[i:], []byte(marshalPrefix)) {
				continue
			}
			// Where it is a string of its own its length stands before it.
			n := int(data[i-1])
			if long := int(data[i-2]&0x3f)<<8 | n; data[i-2]&0xc0 == 0x80 && long >= 128 {
				n = long
			}
			if n > len(marshalPrefix) && i+n <= len(data) && data[i-1] != '(' && data[i-1] != ',' && data[i-1] != ':' {
				found[string(data[i:i+n])] = true
			}
		}
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, len(found), 20)
	for s := range found {
		typ, err := ParseMarshal(s)
		require.NoError(t, err, s)
		require.Equal(t, s, typ.Marshal())
		if !strings.Contains(s, "PartitionerDefinedOrder(") {
			require.NotContains(t, typ.String(), "opaque", s)
		}
		again, err := ParseType(typ.String())
		require.NoError(t, err)
		require.True(t, typ.Equal(again))
	}
}

func FuzzParseType(f *testing.F) {
	for _, s := range []string{"int", "timestamp(us)", "map<text,frozen<list<int>>>", `udt<ks.n{a:int,"B c":text}>`,
		"vector<float,3>", "opaque<'it''s'>", "decimal(12,2)", "fixed(16)", "list<list<list<", "tuple<int,date"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		typ, err := ParseType(s)
		if err != nil {
			return
		}
		again, err := ParseType(typ.String())
		if err != nil && len(typ.String()) > maxTypeText {
			return
		}
		if err != nil || !typ.Equal(again) {
			t.Fatalf("%q: %s, %s, %v", s, typ, again, err)
		}
	})
}

func FuzzParseMarshal(f *testing.F) {
	for _, s := range []string{"UTF8Type", "org.apache.cassandra.db.marshal.ReversedType(Int32Type)", "MapType(Int32Type , LongType)",
		"UserType(ks,61,62:Int32Type)", "VectorType(FloatType , 3)", "DynamicCompositeType(a=>X,b=>(Y))", "colsst.TimestampType(us)", "colsst.NumericType(12,2)", "colsst.FixedType(3)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		typ, err := ParseMarshal(s)
		if err != nil {
			if !errors.Is(err, encoding.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		if len(typ.Marshal()) > maxTypeText {
			return // short names became full ones
		}
		again, err := ParseMarshal(typ.Marshal())
		if err != nil || !typ.Equal(again) {
			t.Fatalf("%q: %s, %s, %v", s, typ, again, err)
		}
		if fromText, err := ParseType(typ.String()); err != nil || !typ.Equal(fromText) {
			t.Fatalf("%q: %s, %s, %v", s, typ, fromText, err)
		}
	})
}
