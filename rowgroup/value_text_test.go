package rowgroup

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestAppendText(t *testing.T) {
	for _, c := range []struct{ typ, bytes, text string }{
		{"boolean", "01", "true"},
		{"boolean", "02", "true"},
		{"int", "fffffffd", "-3"},
		{"int", "", ""},
		{"int", "fd", "0xfd"},
		{"uint64", "ffffffffffffffff", "18446744073709551615"},
		{"text", "ff61", "\xffa"},
		{"blob", "", "0x"},
		{"blob", "00ff", "0x00ff"},
		{"varint", "0100000000000000000000", "1208925819614629174706176"},
		{"varint", "80", "-128"},
		{"decimal", "00000000 7b", "123"},
		{"decimal", "00000002 7b", "1.23"},
		{"decimal", "00000003 85", "-0.123"},
		{"decimal", "00000005 85", "-0.00123"},
		{"decimal", "00000009 85", "-1.23E-7"},
		{"decimal", "ffffffff 7b", "1.23E+3"},
		{"decimal", "ffffffff 01", "1E+1"},
		{"decimal", "00000002 00", "0.00"},
		{"decimal", "80000000 01", "1E+2147483648"},
		{"decimal", "7fffffff 01", "1E-2147483647"},
		{"decimal(3,0)", "000003e7", "999"},
		{"decimal(3,0)", "000003e8", "0x000003e8"}, // a digit too many
		{"decimal(3,2)", "fffffffb", "-0.05"},
		{"decimal(3,3)", "00000000", "0.000"},
		{"decimal(9,2)", "000000", "0x000000"},
		{"decimal(9,2)", "", ""},
		{"decimal(18,9)", "0de0b6b3a763ffff", "999999999.999999999"},
		{"decimal(18,9)", "f21f494c589c0001", "-999999999.999999999"},
		{"decimal(18,9)", "f21f494c589c0000", "0xf21f494c589c0000"},
		{"decimal(19,19)", "ffffffffffffffffff", "-0.0000000000000000001"},
		{"decimal(20,1)", "056bc75e2d630fffff", "9999999999999999999.9"},
		{"decimal(20,1)", "fa9438a1d29cf00001", "-9999999999999999999.9"},
		{"decimal(20,1)", "fa9438a1d29cf00000", "0xfa9438a1d29cf00000"},
		{"decimal(38,0)", "0000000000000000" + "8ac7230489e80000", "10000000000000000000"},
		{"list<decimal(5,2)>", "00000001 00000004 0000007d", "[1.25]"},
		{"fixed(2)", "00ff", "0x00ff"},
		{"fixed(2)", "", ""},
		{"fixed(2)", "0001ff", "0x0001ff"},
		{"double", "8000000000000000", "-0"},
		{"double", "3fb999999999999a", "0.1"},
		{"double", "412e848000000000", "1000000"},
		{"double", "7ff8000000000000", "NaN"},
		{"double", "fff0000000000000", "-Inf"},
		{"double", "0000000000000001", "5e-324"},
		{"float", "3dcccccd", "0.1"},
		{"timestamp(s)", "0000000000000000", "1970-01-01T00:00:00Z"},
		{"timestamp(ms)", "ffffffffffffffff", "1969-12-31T23:59:59.999Z"},
		{"timestamp(us)", "0000000000000001", "1970-01-01T00:00:00.000001Z"},
		{"timestamp(ns)", "8000000000000000", "1677-09-21T00:12:43.145224192Z"},
		{"timestamp(ms)", "7fffffffffffffff", "9223372036854775807"},
		{"old_date", "0000000000000001", "1970-01-01T00:00:00.001Z"},
		{"date", "80000000", "1970-01-01"},
		{"date", "00000000", "-5877641-06-23"},
		{"date", "ffffffff", "5881580-07-11"},
		{"time", "00004e94914effff", "23:59:59.999999999"},
		{"time", "00004e94914f0000", "86400000000000"},
		{"uuid", "00112233445566778899aabbccddeeff", "00112233-4455-6677-8899-aabbccddeeff"},
		{"timeuuid", "00112233445566778899aabbccddeeff", "00112233-4455-6677-8899-aabbccddeeff"},
		{"inet", "7f000001", "127.0.0.1"},
		{"inet", "00000000000000000000ffff7f000001", "::ffff:127.0.0.1"},
		{"duration", "000000", "0ns"},
		{"duration", "1c06f2d2b1e5e2aa", "0x1c06f2d2b1e5e2aa"},
		{"counter", "00010000 00000000000000000000000000000000 0000000000000001 0000000000000002", "2"},
		{"list<int>", "00000002 00000004 00000001 00000000", "[1, 0x]"},
		{"set<text>", "00000002 00000001 61 00000002 2762", "{'a', '''b'}"},
		{"map<text,double>", "00000001 00000001 61 00000008 3ff0000000000000", "{'a': 1}"},
		{"tuple<int,text,int>", "00000004 00000001 ffffffff", "(1, null)"},
		{`udt<k.t{a:date,"B c":list<inet>}>`, "00000004 80000000 0000000c 00000001 00000004 7f000001", `{a: '1970-01-01', "B c": ['127.0.0.1']}`},
		{"vector<float,2>", "3f800000 bf000000", "[1, -0.5]"},
		{"composite<int,text>", "000400000001 00 000161 00", "(1, 'a')"},
		{"reversed<int>", "00000001", "1"},
		{"opaque<'x'>", "01", "0x01"},
		{"list<list<text>>", "00000001 00000009 00000001 00000001 61", "[['a']]"},
		{"list<list<ascii>>", "00000001 00000009 00000001 00000001 80", "0x00000001000000090000000100000001" + "80"},
	} {
		require.Equal(t, ">"+c.text, string(AppendText([]byte(">"), mustType(t, c.typ), unhex(t, c.bytes))), "%s %s", c.typ, c.bytes)
	}
	require.Equal(t, "-1y2mo3d4h5m6s7ms8us9ns", string(AppendText(nil, Type{Kind: KindDuration},
		appendDuration(nil, -14, -3, -(4*3600e9+5*60e9+6e9+7e6+8e3+9)))))
	require.Equal(t, "-178956970y8mo2147483648d2562047h47m16s854ms775us808ns", string(AppendText(nil, Type{Kind: KindDuration},
		appendDuration(nil, math.MinInt32, math.MinInt32, math.MinInt64))))
}

func TestParseTextInts(t *testing.T) {
	for _, c := range []struct {
		typ, text string
		want      int64
		err       string // part of the error, or none
	}{
		{"int", "-3", -3, ""}, // the first value of a series may be negative
		{"bigint", "-3", -3, ""},
		{"bigint", "9007199254740993", 9007199254740993, ""},
		{"bigint", "1702878157125929618", 1702878157125929618, ""},
		{"bigint", "-9223372036854775808", math.MinInt64, ""},
		{"bigint", "9223372036854775808", 0, "bigint: out of range"},
		{"bigint", "18446744073709551615", 0, "out of range"},
		{"uint64", "18446744073709551615", -1, ""},
		{"uint64", "18446744073709551616", 0, "out of range"},
		{"uint8", "-1", 0, "uint8: out of range"},
		{"uint8", "+255", 255, ""},
		{"uint8", "-0", 0, ""},
		{"uint8", "256", 0, "out of range"},
		{"tinyint", "-128", -128, ""},
		{"tinyint", "128", 0, "tinyint: out of range"},
		{"smallint", "32768", 0, "smallint: out of range"},
		{"int", "007", 7, ""},
		{"int", "+5", 5, ""},
		{"int", "2147483648", 0, "int: out of range"},
		{"int", "0000000000000000000000000000000000001", 1, ""},
		{"boolean", "TRUE", 1, ""},
		{"boolean", "false", 0, ""},
		{"boolean", "1", 0, "wrong form"},
		{"int", "1e3", 0, "wrong form"}, {"int", "1_000", 0, "wrong form"}, {"int", "0x10", 0, "wrong form"},
		{"int", "NaN", 0, "wrong form"}, {"int", "inf", 0, "wrong form"}, {"int", "1,5", 0, "wrong form"},
		{"int", " 1", 0, "wrong form"}, {"int", "1 ", 0, "wrong form"}, {"int", "", 0, "wrong form"}, {"int", "-", 0, "wrong form"},
		{"int", "+-1", 0, "wrong form"}, {"int", "1.0", 0, "wrong form"}, {"int", "١", 0, "wrong form"},
		{"uint8", "+-1", 0, "wrong form"}, {"uint8", "--1", 0, "wrong form"},
		{"reversed<int>", "-2147483648", math.MinInt32, ""},
		// dates and times
		{"date", "1970-01-02", 1, ""}, {"date", "0000-01-01", -719528, ""}, {"date", "-0044-03-15", -735525, ""},
		{"date", "5881580-07-11", math.MaxInt32, ""}, {"date", "5881580-07-12", 0, "out of range"},
		{"date", "-5877641-06-23", math.MinInt32, ""}, {"date", "-5877641-06-22", 0, "out of range"},
		{"date", "2024-02-29", 19782, ""}, {"date", "2023-02-29", 0, "wrong form"}, {"date", "2023-13-01", 0, "wrong form"},
		{"date", "2023-00-01", 0, "wrong form"}, {"date", "2023-01-00", 0, "wrong form"}, {"date", "2023-1-1", 0, "wrong form"},
		{"date", "19000", 0, "wrong form"}, {"date", "2023-01-01T", 0, "wrong form"}, {"date", "", 0, "wrong form"}, {"date", "-", 0, "wrong form"},
		{"time", "00:00:00", 0, ""}, {"time", "23:59:59.6", 86399600000000, ""}, {"time", "86399999999999", 86399999999999, ""},
		{"time", "86400000000000", 0, "out of range"}, {"time", "24:00:00", 0, "wrong form"}, {"time", "00:00:60", 0, "wrong form"},
		{"time", "00:00:00.", 0, "wrong form"}, {"time", "00:00:00.0000000001", 0, "wrong form"}, {"time", "00:00:00Z", 0, "wrong form"},
	} {
		typ := mustType(t, c.typ)
		got, err := ParseText(nil, typ, c.text)
		if c.err != "" {
			require.ErrorContains(t, err, c.err, "%s %s", c.typ, c.text)
			require.Nil(t, got)
			continue
		}
		require.NoError(t, err, "%s %s", c.typ, c.text)
		require.Equal(t, AppendInt(nil, typ, c.want), got, "%s %s", c.typ, c.text)
	}
}

func TestParseTextTimestamps(t *testing.T) {
	const second = 1643767322 // 2022-02-02T02:02:02Z
	for _, c := range []struct {
		unit Unit
		text string
		want int64
		err  string
	}{
		{Micros, "2022-02-02T02:02:02.12345Z", second*1e6 + 123450, ""},
		{Millis, "2022-02-02T02:02:02.6Z", second*1e3 + 600, ""},
		{Millis, "2022-02-02T02:02:02.123Z", second*1e3 + 123, ""},
		{Nanos, "2022-02-02T02:02:02.123Z", second*1e9 + 123000000, ""},
		{Seconds, "2022-02-02T02:02:02Z", second, ""},
		{Nanos, "2022-02-02T02:02:02.123456789Z", second*1e9 + 123456789, ""},
		{Millis, "2022-02-02T02:02:02.123456789Z", 0, "more digits than its unit has"},
		{Seconds, "2022-02-02T02:02:02.1Z", 0, "more digits"},
		{Millis, "2022-02-02T02:02:02.123000000Z", second*1e3 + 123, ""},
		{Seconds, "2022-02-02T02:02:02.0", second, ""},
		{Millis, "2022-02-02 02:02:02.1", second*1e3 + 100, ""},
		{Millis, "2022-02-02t02:02:02z", second * 1e3, ""},
		{Seconds, "2022-02-02T02:02:02+01:00", second - 3600, ""},
		{Seconds, "2022-02-02T02:02:02-0130", second + 5400, ""},
		{Seconds, "2022-02-02T02:02:02+01", second - 3600, ""},
		{Seconds, "2022-02-02", second - 7322, ""},
		{Micros, "1577836800000000", 1577836800000000, ""},
		{Seconds, "1577836800", 1577836800, ""},
		{Seconds, "-1", -1, ""},
		{Seconds, "2022", 2022, ""},
		{Seconds, "9223372036854775808", 0, "out of range"},
		{Seconds, "2022-02-02T02:02:60Z", 0, "wrong form"},
		{Seconds, "2022-02-02T24:00:00Z", 0, "wrong form"},
		{Seconds, "2022-02-30T00:00:00Z", 0, "wrong form"},
		{Seconds, "2022-02-02T02:02", 0, "wrong form"},
		{Seconds, "2022-02-02T", 0, "wrong form"},
		{Seconds, "2022-02-02Z", 0, "wrong form"},
		{Seconds, "2022-02-02T02:02:02.Z", 0, "wrong form"},
		{Seconds, "2022-02-02T02:02:02,5Z", 0, "wrong form"},
		{Nanos, "2022-02-02T02:02:02.1234567890Z", 0, "wrong form"},
		{Seconds, "2022-02-02T02:02:02+1:00", 0, "wrong form"},
		{Seconds, "2022-02-02T02:02:02+24:00", 0, "wrong form"},
		{Seconds, "2022-02-02T02:02:02 Z", 0, "wrong form"},
		{Seconds, " 2022-02-02", 0, "wrong form"},
		{Seconds, "12022-02-02", 0, "wrong form"},
		{Seconds, "-2022-02-02", 0, "wrong form"},
		{Seconds, "", 0, "wrong form"},
		{Seconds, "0000-01-01", 0, "out of range"},
		// far dates
		{Seconds, "0001-01-01T00:00:00Z", -62135596800, ""},
		{Millis, "0001-01-01T00:00:00Z", -62135596800e3, ""},
		{Micros, "0001-01-01T00:00:00Z", -62135596800e6, ""},
		{Nanos, "0001-01-01T00:00:00Z", 0, "timestamp(ns): out of range"},
		{Micros, "1677-09-21T00:12:43Z", -9223372037e6, ""},
		{Nanos, "1677-09-21T00:12:43Z", 0, "timestamp(ns): out of range"},
		{Nanos, "1677-09-21T00:12:43.145224192Z", math.MinInt64, ""},
		{Nanos, "1677-09-21T00:12:43.145224191Z", 0, "out of range"},
		{Nanos, "1720-12-30", -7857820800e9, ""},
		{Nanos, "2262-04-11T23:47:16.854775807Z", math.MaxInt64, ""},
		{Nanos, "2262-04-11T23:47:16.854775808Z", 0, "out of range"},
		{Nanos, "2300-01-01", 0, "out of range"},
		{Micros, "2300-01-01", 10413792000e6, ""},
		{Micros, "9999-12-31", 253402214400e6, ""},
		{Nanos, "9999-12-31", 0, "out of range"},
	} {
		got, err := ParseText(nil, Timestamp(c.unit), c.text)
		if c.err != "" {
			require.ErrorContains(t, err, c.err, c.text)
			continue
		}
		require.NoError(t, err, c.text)
		require.Equal(t, AppendInt(nil, Bigint, c.want), got, c.text)
	}
}

func TestParseTextOthers(t *testing.T) {
	for _, c := range []struct{ typ, text, bytes string }{
		{"double", "0.5", "3fe0000000000000"}, {"double", ".5", "3fe0000000000000"}, {"double", "1.", "3ff0000000000000"},
		{"double", "+1E3", "408f400000000000"}, {"double", "-0.5", "bfe0000000000000"}, {"double", "-0", "8000000000000000"},
		{"double", "nan", "7ff8000000000000"}, {"float", "NaN", "7fc00000"}, {"double", "-inf", "fff0000000000000"},
		{"double", "Infinity", "7ff0000000000000"}, {"double", "1e-400", "0000000000000000"}, {"float", "16777217", "4b800000"},
		{"double", "1e400", "!out of range"}, {"float", "1e39", "!float: out of range"},
		{"double", "1_000", "!"}, {"double", "0x1p-2", "!"}, {"double", "1,5", "!"}, {"double", " 1", "!"}, {"double", "", "!"},
		{"double", ".", "!"}, {"double", "e5", "!"}, {"double", "1e", "!"}, {"double", "1e5.5", "!"}, {"double", "-nan", "!"}, {"double", "1f", "!"},
		{"varint", "-128", "80"}, {"varint", "128", "0080"}, {"varint", "0", "00"}, {"varint", "-1", "ff"}, {"varint", "-129", "ff7f"},
		{"varint", "+00012", "0c"}, {"varint", "1e3", "!"}, {"varint", "1_0", "!"}, {"varint", "", "!"},
		{"decimal", "1.50", "00000002 0096"}, {"decimal", "15E-1", "00000001 0f"}, {"decimal", "-.5", "00000001 fb"}, {"decimal", "1e3", "fffffffd 01"},
		{"decimal", "1e2147483648", "80000000 01"}, {"decimal", "1e2147483649", "!out of range"}, {"decimal", "1e99999999999999999999", "!"},
		{"decimal", "0.5e-9223372036854775808", "!out of range"},
		{"decimal", "1.2.3", "!"}, {"decimal", ".", "!"}, {"decimal", "1.-2", "!"}, {"decimal", "NaN", "!"}, {"decimal", "0x1", "!"}, {"decimal", "", "!"},
		{"uuid", "00112233-4455-6677-8899-AABBCCDDEEFF", "00112233445566778899aabbccddeeff"},
		{"uuid", "00112233445566778899aabbccddeeff", "!"}, {"uuid", "0011223g-4455-6677-8899-aabbccddeeff", "!"},
		{"uuid", "00112233-4455-6677-8899-aabbccddee-f", "!"},
		{"timeuuid", "00112233-4455-6677-8899-aabbccddeeff", "!version 1"},
		{"timeuuid", "00112233-4455-1677-8899-aabbccddeeff", "00112233445516778899aabbccddeeff"},
		{"inet", "127.0.0.1", "7f000001"}, {"inet", "::1", "00000000000000000000000000000001"}, {"inet", "fe80::1%eth0", "!"}, {"inet", "127.0.0.01", "!"},
		{"blob", "0x", ""}, {"blob", "0xFf", "ff"}, {"blob", "ff", "!"}, {"blob", "0xf", "!"},
		{"text", "é", "c3a9"}, {"text", "\xff", "!not UTF-8"}, {"ascii", "a", "61"}, {"ascii", "é", "!not ASCII"},
		{"duration", "1y2mo3d4h", "1c06 fc1a3185c50000"}, {"duration", "2w", "001c00"}, {"duration", "-1d", "000100"}, {"duration", "", "!"}, {"duration", "-", "!"},
		{"duration", "1d1y", "!"}, {"duration", "1d1d", "!"}, {"duration", "1", "!"}, {"duration", "d", "!"}, {"duration", "178956971y", "!out of range"},
		{"duration", "-2562047h47m16s854ms775us808ns", "0000 ffffffffffffffffff"}, {"duration", "2562047h47m16s854ms775us808ns", "!out of range"},
		{"empty", "", ""}, {"empty", "x", "!"}, {"counter", "1", "!no text"}, {"list<int>", "[1]", "!no text"},
	} {
		got, err := ParseText([]byte{}, mustType(t, c.typ), c.text)
		if part, bad := strings.CutPrefix(c.bytes, "!"); bad {
			require.ErrorContains(t, err, part, "%s %q: %x", c.typ, c.text, got)
			require.ErrorContains(t, err, c.typ)
			continue
		}
		require.NoError(t, err, "%s %s", c.typ, c.text)
		require.Equal(t, unhex(t, c.bytes), got, "%s %s", c.typ, c.text)
	}
}

// TestTextRoundTrip reads the text of scalars back.
func TestTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		typ := rapid.SampledFrom(scalars()).Draw(rt, "type")
		b := valueGen(&typ).Draw(rt, "value")
		text := AppendText(nil, typ, b)
		got, err := ParseText(nil, typ, string(text))
		switch typ.Kind {
		case KindCounter:
			require.Error(rt, err)
			return
		case KindBoolean:
			b[0] = min(b[0], 1)
		case KindVarint:
			b = stripSign(b)
		case KindDecimal:
			b = append(b[:4:4], stripSign(b[4:])...)
		case KindFloat:
			if v, _ := Float32Of(b); v != v {
				b = AppendInt(nil, Int, nan32)
			}
		case KindDouble:
			if v, _ := Float64Of(b); v != v {
				b = AppendInt(nil, Bigint, nan64)
			}
		}
		require.NoError(rt, err, "%s: %s", typ, text)
		require.True(rt, bytes.Equal(b, got), "%s: %x, %s, %x", typ, b, text, got)
	})
}

func TestTextNeverPanics(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		typ := typeGen(3).Draw(rt, "type")
		AppendText(nil, typ, looseGen(&typ).Draw(rt, "value"))
	})
}

func TestTextAllocates(t *testing.T) {
	buf := make([]byte, 0, 64)
	for _, c := range []struct {
		typ  Type
		text string
	}{
		{Bigint, "-12345"}, {Double, "-1.25"}, {Timestamp(Micros), "2022-02-02T02:02:02.123456Z"},
		{Numeric(12, 2), "-12.5"}, {Numeric(76, 30), "12345678901234567890.123"}, {Fixed(4), "0x00ff00ff"},
		{Date, "2022-02-02"}, {Time, "02:02:02.000000001"}, {Inet, "127.0.0.1"},
	} {
		value, err := ParseText(nil, c.typ, c.text)
		require.NoError(t, err)
		require.Zero(t, testing.AllocsPerRun(100, func() { AppendText(buf, c.typ, value) }), c.typ)
		if c.typ.Kind != KindInet {
			require.Zero(t, testing.AllocsPerRun(100, func() { ParseText(buf, c.typ, c.text) }), c.typ)
		}
	}
}

func FuzzParseText(f *testing.F) {
	for _, c := range [][2]string{
		{"int", "-3"}, {"uint64", "18446744073709551615"}, {"double", "-1.5e-7"}, {"decimal", "1.50E+3"}, {"varint", "-129"},
		{"timestamp(ns)", "1677-09-21T00:12:43.145224192Z"}, {"timestamp(ms)", "2022-02-02 02:02:02.5+01:00"}, {"date", "-5877641-06-23"},
		{"time", "23:59:59.999999999"}, {"duration", "-1y2mo3d4h5m6s7ms8us9ns"}, {"inet", "::ffff:1.2.3.4"}, {"blob", "0x00ff"},
		{"uuid", "00112233-4455-6677-8899-aabbccddeeff"}, {"fixed(2)", "0x00ff"}, {"decimal(12,2)", "-12.5"}, {"decimal(38,9)", "1.25e10"},
	} {
		f.Add(c[0], c[1])
	}
	f.Fuzz(func(t *testing.T, typeText, s string) {
		typ, err := ParseType(typeText)
		if err != nil || len(s) > 1000 {
			return
		}
		b, err := ParseText(nil, typ, s)
		if err != nil {
			return
		}
		if err := Valid(typ, b); err != nil {
			t.Fatalf("%s: %q: %v", typ, s, err)
		}
		text := AppendText(nil, typ, b)
		again, err := ParseText(nil, typ, string(text))
		if err != nil || !bytes.Equal(b, again) {
			t.Fatalf("%s: %q: %x, %q, %x, %v", typ, s, b, text, again, err)
		}
	})
}
