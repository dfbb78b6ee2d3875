package rowgroup

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
)

func TestIntBytes(t *testing.T) {
	for _, c := range []struct {
		typ   string
		value int64
		bytes string
	}{
		{"boolean", 1, "01"},
		{"tinyint", -3, "fd"},
		{"smallint", -3, "fffd"},
		{"int", -3, "fffffffd"},
		{"bigint", -3, "fffffffffffffffd"},
		{"timestamp(us)", 1, "0000000000000001"},
		{"date", 0, "80000000"},
		{"date", math.MinInt32, "00000000"},
		{"date", math.MaxInt32, "ffffffff"},
		{"time", 1, "0000000000000001"},
		{"old_date", -1, "ffffffffffffffff"},
		{"uint8", 255, "ff"},
		{"uint16", 65535, "ffff"},
		{"uint32", math.MaxUint32, "ffffffff"},
		{"uint64", -1, "ffffffffffffffff"},
		{"reversed<frozen<int>>", 7, "00000007"},
	} {
		typ := mustType(t, c.typ)
		want := unhex(t, c.bytes)
		require.Equal(t, want, AppendInt(nil, typ, c.value), c.typ)
		got, ok := IntOf(typ, want)
		require.True(t, ok)
		require.Equal(t, c.value, got, c.typ)
		for _, b := range [][]byte{nil, want[1:], append(want, 0)} {
			_, ok := IntOf(typ, b)
			require.False(t, ok)
		}
	}
	_, ok := IntOf(Boolean, []byte{2})
	require.False(t, ok)
	_, ok = IntOf(Double, make([]byte, 8))
	require.False(t, ok)
	require.Panics(t, func() { AppendInt(nil, Double, 1) })
	require.Panics(t, func() { AppendInt(nil, Float, 1) })
	require.Panics(t, func() { AppendInt(nil, Text, 1) })
}

func TestFloatBytes(t *testing.T) {
	for _, bits := range []uint64{0, 1 << 63, 0x7ff0000000000001, 0xfff8000000000123, math.Float64bits(-3)} {
		b := AppendInt(nil, Bigint, int64(bits))
		v, ok := Float64Of(b)
		require.True(t, ok)
		require.Equal(t, b, AppendFloat64(nil, v))
	}
	for _, bits := range []uint32{0, 1 << 31, 0x7f800001, 0xffc00123, math.Float32bits(-3)} {
		b := AppendInt(nil, Int, int64(bits))
		v, ok := Float32Of(b)
		require.True(t, ok)
		require.Equal(t, b, AppendFloat32(nil, v))
	}
	_, ok := Float64Of(make([]byte, 4))
	require.False(t, ok)
	_, ok = Float32Of(nil)
	require.False(t, ok)
}

func TestValid(t *testing.T) {
	for _, c := range []struct{ typ, valid, invalid string }{
		{"boolean", ";00;01;02", "0000"},
		{"tinyint", "80", ";0000"},
		{"smallint", "8000", ";00"},
		{"int", ";80000000", "00;0000000000"},
		{"date", "80000000", ";00"},
		{"time", "0000000000000000", ";00"},
		{"double", ";7ff8000000000000", "00000000"},
		{"text", ";61;c3a9", "ff;c3;eda080"},
		{"ascii", ";61;00", "80;c3a9"},
		{"blob", ";ff", ""},
		{"varint", ";00;ff00", ""},
		{"decimal", ";0000000000", "00000000;00"},
		{"uuid", ";00000000000000000000000000000000", "00"},
		{"timeuuid", ";00000000000010000000000000000000", "00000000000040000000000000000000"},
		{"inet", ";7f000001;00000000000000000000000000000001", "7f"},
		{"duration", "000000;020406;010305;f0fffffffef0fffffffe00", ";00;00000000;020100;f200000000 00 00;ff"},
		{"counter", ";0000;00010000 00000000000000000000000000000000 0000000000000001 0000000000000002", "00;0001;8000;000000"},
		{"empty", "", "00"},
		{"uint16", ";ffff", "ff"},
		{"list<int>", "00000000;00000001 00000004 00000001;00000001 00000000", ";00;80000000;00000000 00;00000001;00000001 ffffffff;00000001 00000001 00;7fffffff"},
		{"frozen<set<text>>", "00000001 00000001 61", "00000001 00000001 ff"},
		{"map<int,text>", "00000001 00000004 00000001 00000000", "00000001 00000004 00000001;ffffffff"},
		{"tuple<int,text>", ";ffffffff;00000004 00000001 00000001 61", "00;00000004 00000001 00000001 ff;ffffffff ffffffff ffffffff"},
		{"udt<k.t{a:int}>", ";ffffffff", "00000001 00"},
		{"vector<int,2>", "00000001 00000002", ";00000001;00000001 00000002 00"},
		{"vector<text,2>", "0161 00;8001 61 00", ";0161;01ff00;00;ffffffffffffffffff"},
		{"composite<int,text>", ";000400000001 00;000400000001 00 0000 00;000400000001 01", "00;000400000001 01 0000 00;0004000000;000101 00"},
		{"list<tuple<int>>", "00000001 00000004 ffffffff", "00000001 00000004 00000001"},
		{"opaque<'x'>", ";00", ""},
	} {
		typ := mustType(t, c.typ)
		for _, v := range strings.Split(c.valid, ";") {
			require.NoError(t, Valid(typ, unhex(t, v)), "%s: %s", c.typ, v)
		}
		for _, v := range strings.Split(c.invalid, ";") {
			if c.invalid != "" {
				require.Error(t, Valid(typ, unhex(t, v)), "%s: %q", c.typ, v)
			}
		}
	}
}

func TestValidGenerated(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		typ := typeGen(3).Draw(rt, "type")
		b := valueGen(&typ).Draw(rt, "value")
		require.NoError(rt, Valid(typ, b), "%s: %x", typ, b)
		_ = Valid(typ, looseGen(&typ).Draw(rt, "loose"))
	})
}

func TestKeys(t *testing.T) {
	types := []Type{Int, Text}
	key := AppendKey(nil, types, [][]byte{{0, 0, 0, 1}, []byte("ab")})
	require.Equal(t, unhex(t, "0004 00000001 00 0002 6162 00"), key)
	require.Equal(t, []byte("ab"), AppendKey(nil, types[1:], [][]byte{[]byte("ab")}))
	require.Empty(t, AppendKey(nil, nil, nil))
	for i := range key {
		_, err := SplitKey(types, key[:i])
		require.ErrorIs(t, err, encoding.ErrCorrupt)
	}
	for _, bad := range []string{"0004 00000001 01 0002 6162 00", "0004 00000001 00 0002 6162 00 00", "ffff 00"} {
		_, err := SplitKey(types, unhex(t, bad))
		require.ErrorIs(t, err, encoding.ErrCorrupt)
	}
	_, err := SplitKey(nil, []byte{0})
	require.ErrorIs(t, err, encoding.ErrCorrupt)
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 300), 1, 4).Draw(rt, "values")
		types := make([]Type, len(values))
		got, err := SplitKey(types, AppendKey(nil, types, values))
		require.NoError(rt, err)
		require.Len(rt, got, len(values))
		for i := range got {
			require.True(rt, bytes.Equal(values[i], got[i]))
		}
	})
}

func TestVint(t *testing.T) {
	for _, c := range []struct {
		v     uint64
		bytes string
	}{
		{0, "00"}, {127, "7f"}, {128, "8080"}, {1<<14 - 1, "bfff"}, {1 << 14, "c04000"},
		{1<<56 - 1, "feffffffffffffff"}, {1 << 56, "ff0100000000000000"}, {math.MaxUint64, "ffffffffffffffffff"},
	} {
		b := unhex(t, c.bytes)
		require.Equal(t, b, appendVint(nil, c.v))
		v, rest, ok := takeVint(append(b, 9))
		require.True(t, ok)
		require.Equal(t, c.v, v)
		require.Equal(t, []byte{9}, rest)
		_, _, ok = takeVint(b[:len(b)-1])
		require.False(t, ok)
	}
}
