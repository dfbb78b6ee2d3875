package rowgroup

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func mustType(t testing.TB, text string) Type {
	typ, err := ParseType(text)
	require.NoError(t, err)
	return typ
}

func unhex(t testing.TB, s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	require.NoError(t, err)
	return b
}

// valueGen generates serialised values of t, valid ones but for some scalars.
func valueGen(t *Type) *rapid.Generator[[]byte] {
	t = t.bare()
	small := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 0x7f, 0x80, 0xff}), 0, 3)
	switch t.Kind {
	case KindText, KindASCII:
		return rapid.Map(rapid.StringOfN(rapid.RuneFrom([]rune("ab'\x00")), 0, 3, -1), func(s string) []byte { return []byte(s) })
	case KindBoolean:
		return rapid.SliceOfN(rapid.ByteRange(0, 2), 1, 1)
	case KindVarint:
		return rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 0x7f, 0x80, 0xff}), 1, 3)
	case KindDecimal:
		return rapid.Custom(func(rt *rapid.T) []byte {
			scale := rapid.OneOf(rapid.Int32Range(-3, 3), rapid.Int32()).Draw(rt, "scale")
			return append(AppendInt(nil, Int, int64(scale)), valueGen(&Varint).Draw(rt, "unscaled")...)
		})
	case KindInet:
		return rapid.OneOf(rapid.SliceOfN(rapid.Byte(), 4, 4), rapid.SliceOfN(rapid.Byte(), 16, 16))
	case KindUUID, KindTimeUUID, KindLexicalUUID:
		return rapid.Custom(func(rt *rapid.T) []byte {
			b := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 0x7f, 0x80, 0xff}), 16, 16).Draw(rt, "uuid")
			if version := rapid.ByteRange(0, 4).Draw(rt, "version"); t.Kind == KindTimeUUID || version == 0 {
				b[6] = b[6]&0xf | 1<<4
			} else {
				b[6] = b[6]&0xf | version<<4
			}
			return b
		})
	case KindDuration:
		return rapid.Custom(func(rt *rapid.T) []byte {
			sign := rapid.SampledFrom([]int64{-1, 1}).Draw(rt, "sign")
			return appendDuration(nil, int32(sign)*rapid.Int32Range(0, 30).Draw(rt, "months"),
				int32(sign)*rapid.Int32Range(0, math.MaxInt32).Draw(rt, "days"), sign*rapid.Int64Range(0, math.MaxInt64).Draw(rt, "nanos"))
		})
	case KindTime:
		return rapid.Map(rapid.Int64Range(0, secondsADay*1e9-1), func(v int64) []byte { return AppendInt(nil, Time, v) })
	case KindCounter:
		return rapid.Just([]byte{0, 0})
	case KindNumeric:
		return numericGen(t)
	case KindBlob, KindOpaque:
		return small
	case KindList, KindSet, KindMap, KindTuple, KindUDT, KindVector, KindComposite:
		return rapid.Custom(func(rt *rapid.T) []byte { return drawElements(rt, t) })
	}
	if n := scalarLen(t); n > 0 {
		return rapid.OneOf(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 0x7f, 0x80, 0xff}), n, n),
			rapid.SliceOfN(rapid.Byte(), n, n), rapid.Just(bytes.Repeat([]byte{0xff}, n)))
	}
	return rapid.Just([]byte{})
}

func drawElements(rt *rapid.T, t *Type) []byte {
	n := len(t.Args)
	var b []byte
	switch t.Kind {
	case KindList, KindSet:
		n = rapid.IntRange(0, 3).Draw(rt, "count")
		b = AppendInt(b, Int, int64(n))
	case KindMap:
		n = rapid.IntRange(0, 2).Draw(rt, "count")
		b = AppendInt(b, Int, int64(n))
		n *= 2
	case KindVector:
		n = int(t.Length)
	case KindTuple, KindUDT:
		n = rapid.IntRange(0, n).Draw(rt, "fields")
	}
	for i := range n {
		v := valueGen(t.element(i)).Draw(rt, "element")
		switch {
		case t.Kind == KindVector && valueLen(&t.Args[0]) < 0:
			b = appendVint(b, uint64(len(v)))
		case t.Kind == KindVector:
		case t.Kind == KindComposite:
			b = append(b, 0, byte(len(v)))
		case (t.Kind == KindTuple || t.Kind == KindUDT) && rapid.IntRange(0, 4).Draw(rt, "null") == 0:
			b = AppendInt(b, Int, -1)
			continue
		default:
			b = AppendInt(b, Int, int64(len(v)))
		}
		b = append(b, v...)
		if t.Kind == KindComposite {
			b = append(b, 0)
		}
	}
	return b
}

// looseGen generates values as valueGen does and damages some.
func looseGen(t *Type) *rapid.Generator[[]byte] {
	return rapid.Custom(func(rt *rapid.T) []byte {
		b := bytes.Clone(valueGen(t).Draw(rt, "value"))
		switch rapid.IntRange(0, 7).Draw(rt, "damage") {
		case 0:
			return nil
		case 1:
			return b[:rapid.IntRange(0, len(b)).Draw(rt, "cut")]
		case 2:
			return append(b, rapid.Byte().Draw(rt, "more"))
		case 3:
			if len(b) > 0 {
				b[rapid.IntRange(0, len(b)-1).Draw(rt, "at")] = rapid.Byte().Draw(rt, "byte")
			}
		}
		return b
	})
}

// TestCompareTables lists values in ascending order.
func TestCompareTables(t *testing.T) {
	for _, c := range []struct{ typ, values string }{
		{"boolean", "-; 00; 01; 02; ff; 0000"},
		{"tinyint", "-; 80; ff; 00; 7f; 0000"},
		{"int", "-; 80000000; ffffffff; 00000000; 00000001; 7fffffff; 00; 0000000000"},
		{"bigint", "-; 8000000000000000; ffffffffffffffff; 0000000000000000; 0000000000000001"},
		{"timestamp(ms)", "8000000000000000; ffffffffffffffff; 0000000000000000"},
		{"old_date", "0000000000000000; 7fffffffffffffff; ffffffffffffffff"},
		{"time", "0000000000000000; 7fffffffffffffff; ffffffffffffffff"},
		{"date", "00000000; 7fffffff; 80000000; ffffffff"},
		{"uint8", "00; 7f; 80; ff"},
		// -Inf, -1, -0.0, 0.0, smallest, 1, +Inf, NaNs by bits
		{"float", "-; ff800000; bf800000; 80000000; 00000000; 00000001; 3f800000; 7f800000; 7f800001; 7fc00000; ffc00000"},
		{"double", "fff0000000000000; bff0000000000000; 8000000000000000; 0000000000000000; 7ff0000000000000; 7ff8000000000000; fff8000000000001"},
		{"text", "-; 00; 61; 6100; 62; c3a9"},
		{"varint", "-; ff0000; ff7f; 80; ff; 00; 0000; 01; 7f; 0080; 00ff; 0100"},
		// invalid last: -100, -1.1, -1, 0, 0.00, 0.5, 1, 1.0, 1.01, 10, 1E+1, 1E+2147483647
		{"decimal", "-; 00000000 9c; 00000001 f5; 00000000 ff; 00000000 00; 00000002 00; 00000001 05; 00000000 01; 00000001 0a;" +
			"00000002 65; 00000000 0a; ffffffff 01; 80000001 01; 00000000"},
		// nil; version 1 by time (low field first in bytes, last in weight); version 4 by bytes
		{"uuid", "-; 00000000000000000000000000000000; ffffffffffff10008000000000000000; 00000000000010018000000000000000;" +
			"00000000000010018000000000000001; 000000010000100180000000000000ff; 00000000000040008000000000000000; 80000000000040008000000000000000; 00"},
		{"timeuuid", "-; ffffffffffff10008000000000000000; 00000000000010018080808080808080; 0000000000001001807f808080808080;" +
			"0000000000001001ff00000000000000; 00000000000010010000000000000000; 00000000000010017f00000000000000"},
		{"lexical_uuid", "80000000000000000000000000000000; 00000000000000008000000000000000; 00000000000000000000000000000000; 7f000000000000000000000000000000"},
		{"inet", "01020304; 01020305; 20010db8000000000000000000000001; 7f000001"},
		// trailing fields missing, then null; a null first; zero-length before any value
		{"tuple<int,text>", "-; ffffffff; ffffffff 00000000; 00000004ffffffff; 00000004ffffffff ffffffff; 00000004ffffffff 00000000;" +
			"00000004ffffffff 00000001 61; 0000000400000001; 0000000400000001 00000001 61; 0000000400000001 00000001 61 00; 00; 0000000400"},
		{"list<tinyint>", "-; 00000000; 00000001 ffffffff; 00000001 00000000; 00000001 00000001 80; 00000002 00000001 80 00000001 80;" +
			"00000001 00000001 01; 00000001 00000001 01 00; 00000001; 80000000"},
		{"map<tinyint,tinyint>", "00000000; 00000001 0000000101 00000001ff; 00000001 0000000101 0000000101;" +
			"00000002 0000000101 0000000101 0000000102 0000000100; 00000001 0000000102 0000000100"},
		{"vector<int,2>", "-; ffffffff 00000000; 00000000 ffffffff; 00000000 00000000; 00000001; 00000001 00"},
		{"vector<text,2>", "01 61 00; 01 61 01 61; 02 6100 00; 01 62 00; ff"},
		{"composite<tinyint,text>", "-; 0001ff00; 0001ff00 0001 61 00; 0001ff01; 00010000; 00010100 0000 00; 0001"},
		{"reversed<int>", "7fffffff; 00000000; 80000000; -"},
		{"frozen<reversed<int>>", "7fffffff; 00000000; 80000000; -"},
		{"reversed<double>", "fff8000000000001; 7ff8000000000000; 0000000000000000; 8000000000000000"},
		{"list<reversed<tinyint>>", "00000001 00000001 01; 00000001 00000001 00; 00000001 00000001 ff"},
		{"duration", "000000; 000002; ff"},
	} {
		typ := mustType(t, c.typ)
		var values [][]byte
		for _, v := range strings.Split(c.values, ";") {
			values = append(values, unhex(t, strings.Trim(v, " -")))
		}
		for i, a := range values {
			for j, b := range values {
				require.Equal(t, cmp.Compare(i, j), typ.Compare(a, b), "%s: %x, %x", c.typ, a, b)
				if collated := typ.Collate(a, b); collated != 0 {
					require.Equal(t, cmp.Compare(i, j), collated)
				}
			}
		}
	}
}

func TestCollateEqual(t *testing.T) {
	for _, c := range []struct{ typ, a, b string }{
		{"boolean", "01", "02"},
		{"double", "7ff8000000000000", "fff8000000000001"},
		{"varint", "01", "000001"},
		{"decimal", "0000000001", "000000010a"},
		{"decimal", "8000000000", "7fffffff00"},
		{"tuple<int,int>", "0000000400000001", "0000000400000001ffffffff"},
		{"tuple<varint,int>", "0000000101", "000000020001"},
	} {
		typ := mustType(t, c.typ)
		require.Zero(t, typ.Collate(unhex(t, c.a), unhex(t, c.b)), c.typ)
		require.NotZero(t, typ.Compare(unhex(t, c.a), unhex(t, c.b)), c.typ)
	}
	// A tie in the first component does not keep the second from deciding.
	typ := mustType(t, "tuple<varint,tinyint>")
	require.Equal(t, 1, typ.Compare(unhex(t, "0000000101 0000000105"), unhex(t, "000000020001 0000000103")))
}

// TestCompareTotal draws small sets of values, damaged ones too, and looks for
// a contradiction.
func TestCompareTotal(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		typ := typeGen(3).Draw(rt, "type")
		values := rapid.SliceOfN(looseGen(&typ), 3, 5).Draw(rt, "values")
		sign := func(a, b []byte, compare func(a, b []byte) int) int {
			c := compare(a, b)
			require.Equal(rt, c, cmp.Compare(c, 0), "not -1, 0 or 1")
			require.Equal(rt, -c, compare(b, a), "antisymmetric: %s %x %x", typ, a, b)
			return c
		}
		for _, a := range values {
			for _, b := range values {
				ab := sign(a, b, typ.Compare)
				require.Equal(rt, bytes.Equal(a, b), ab == 0)
				collated := sign(a, b, typ.Collate)
				if collated != 0 {
					require.Equal(rt, collated, ab, "Compare refines Collate")
				}
				require.Equal(rt, -ab, Type{Kind: KindReversed, Args: []Type{typ}}.Compare(a, b))
				require.Equal(rt, ab, Type{Kind: KindFrozen, Args: []Type{typ}}.Compare(a, b))
				for _, c := range values {
					if ab <= 0 && typ.Compare(b, c) <= 0 {
						require.LessOrEqual(rt, typ.Compare(a, c), 0, "transitive: %s %x %x %x", typ, a, b, c)
					}
					if collated == 0 {
						require.Equal(rt, typ.Collate(a, c), typ.Collate(b, c), "equivalence: %s %x %x %x", typ, a, b, c)
					}
				}
			}
		}
	})
}

// TestCompareNumbers compares numbers in memory and serialised.
func TestCompareNumbers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		typ := rapid.SampledFrom(scalars()).Draw(rt, "type")
		if rapid.Bool().Draw(rt, "reversed") {
			typ = Type{Kind: KindReversed, Args: []Type{typ}}
		}
		a, b := valueGen(&typ).Draw(rt, "a"), valueGen(&typ).Draw(rt, "b")
		switch typ.Physical().Class() {
		case ClassInt32, ClassInt64:
			x, ok := IntOf(typ, a)
			y, ok2 := IntOf(typ, b)
			if !ok || !ok2 {
				require.Equal(rt, KindBoolean, typ.bare().Kind)
				return
			}
			require.Equal(rt, a, AppendInt(nil, typ, x))
			if typ.Physical().Class() == ClassInt64 {
				require.Equal(rt, typ.Compare(a, b), CompareInt64(typ, x, y))
			} else {
				require.Equal(rt, typ.Compare(a, b), CompareInt32(typ, int32(x), int32(y)))
			}
		case ClassFloat32:
			x, _ := Float32Of(a)
			y, _ := Float32Of(b)
			require.Equal(rt, typ.Compare(a, b), CompareFloat32(typ, x, y))
			require.Equal(rt, a, AppendFloat32(nil, x))
		case ClassFloat64:
			x, _ := Float64Of(a)
			y, _ := Float64Of(b)
			require.Equal(rt, typ.Compare(a, b), CompareFloat64(typ, x, y))
			require.Equal(rt, a, AppendFloat64(nil, x))
		}
	})
}

// TestCompareBig compares varints and decimals with package big.
func TestCompareBig(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		number := rapid.SliceOfN(rapid.Byte(), 1, 12)
		a, b := number.Draw(rt, "a"), number.Draw(rt, "b")
		require.Equal(rt, bigVarint(a).Cmp(bigVarint(b)), Varint.Collate(a, b))
		scale := rapid.Int32Range(-12, 12)
		sa, sb := int64(scale.Draw(rt, "scale a")), int64(scale.Draw(rt, "scale b"))
		power := func(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }
		x := new(big.Int).Mul(bigVarint(a), power(12-sa))
		y := new(big.Int).Mul(bigVarint(b), power(12-sb))
		require.Equal(rt, x.Cmp(y), Decimal.Collate(append(AppendInt(nil, Int, sa), a...), append(AppendInt(nil, Int, sb), b...)))
	})
}

func TestCompareAllocates(t *testing.T) {
	tuple := mustType(t, "tuple<int,timeuuid,text>")
	a := unhex(t, "0000000400000001 00000010 00000000000010018000000000000000 00000001 61")
	b := unhex(t, "0000000400000001 00000010 00000000000010018000000000000000 00000001 62")
	require.Zero(t, testing.AllocsPerRun(100, func() { tuple.Compare(a, b) }))
	require.Zero(t, testing.AllocsPerRun(100, func() { CompareInt64(Bigint, 1, 2) }))
}

func FuzzCompare(f *testing.F) {
	f.Add("tuple<int,text>", []byte{0, 0, 0, 4, 0, 0, 0, 1}, []byte{255, 255, 255, 255}, []byte{})
	f.Add("list<frozen<map<int,decimal>>>", []byte{0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 0}, []byte{0, 0, 0, 0}, []byte{128})
	f.Add("decimal", []byte{128, 0, 0, 0, 1}, []byte{127, 255, 255, 255, 255}, []byte{0, 0, 0, 0})
	f.Add("timeuuid", make([]byte, 16), make([]byte, 15), bytes.Repeat([]byte{255}, 16))
	f.Add("vector<text,2>", []byte{255, 255, 255, 255, 255, 255, 255, 255, 255}, []byte{1, 97, 0}, []byte{1})
	f.Add("reversed<composite<varint,double>>", []byte{0, 1, 0, 0}, []byte{0, 1, 255, 1}, []byte{255, 255})
	f.Add("boolean", []byte{0}, []byte{1}, []byte{2})
	f.Fuzz(func(t *testing.T, text string, a, b, c []byte) {
		typ, err := ParseType(text)
		if err != nil {
			return
		}
		ab, bc, ac := typ.Compare(a, b), typ.Compare(b, c), typ.Compare(a, c)
		if ab != -typ.Compare(b, a) || (ab == 0) != bytes.Equal(a, b) {
			t.Fatalf("%s: %x, %x", typ, a, b)
		}
		if ab <= 0 && bc <= 0 && ac > 0 || ab >= 0 && bc >= 0 && ac < 0 {
			t.Fatalf("%s: %x, %x, %x", typ, a, b, c)
		}
		_ = Valid(typ, a)
		AppendText(nil, typ, b)
	})
}
