package sstabledump

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

// Values as Cassandra writes them into JSON, as strings and in CQL.
func TestValues(t *testing.T) {
	decimal := func(scale int32, unscaled ...byte) string {
		return string(append(binary.BigEndian.AppendUint32(nil, uint32(scale)), unscaled...))
	}
	double := func(f float64) string { return string(rowgroup.AppendFloat64(nil, f)) }
	millis := func(ms int64) string {
		return string(rowgroup.AppendInt(nil, rowgroup.Timestamp(rowgroup.Millis), ms))
	}
	for _, c := range []struct{ typ, value, json, str, literal string }{
		{"text", "a\"\\\n\x01é", `"a\"\\\n\u0001é"`, "a\"\\\n\x01é", "'a\"\\\n\x01é'"},
		{"text", "a\xffb'", `"a` + "\uFFFD" + `b'"`, "a\xffb'", "'a\xffb'''"},
		{"text", "", `""`, "", "''"},
		{"int", "\xff\xff\xff\xfe", "-2", "-2", "-2"},
		{"int", "", `""`, "", "null"},
		{"boolean", "\x02", "true", "true", "true"},
		{"blob", "\x0a\xff", `"0x0aff"`, "0aff", "0x0aff"},
		{"blob", "", `"0x"`, "", "0x"},
		{"double", double(1), "1.0", "1.0", "1.0"},
		{"double", double(math.NaN()), "null", "NaN", "NaN"},
		{"double", double(math.Inf(-1)), "null", "-Infinity", "-Infinity"},
		{"float", string(rowgroup.AppendFloat32(nil, 7.62)), "7.62", "7.62", "7.62"},
		{"decimal", decimal(2, 0x30, 0x39), "123.45", "123.45", "123.45"},
		{"decimal", decimal(5, 0xff), "-0.00001", "-0.00001", "-0.00001"},
		{"decimal", decimal(8, 1), "1E-8", "1E-8", "1E-8"},
		{"decimal", decimal(-3, 0x0c), "1.2E+4", "1.2E+4", "1.2E+4"},
		{"decimal", decimal(0, 0x0c), "12", "12", "12"},
		{"timestamp(ms)", millis(1532117307783), `"2018-07-20 20:08:27.783Z"`, "2018-07-20T20:08:27.783Z", "'2018-07-20T20:08:27.783Z'"},
		{"timestamp(ms)", millis(math.MaxInt64), `"+292278994-08-17 07:12:55.807Z"`, "+292278994-08-17T07:12:55.807Z", "'+292278994-08-17T07:12:55.807Z'"},
		{"timestamp(ms)", millis(math.MinInt64), `"+292275056-05-16 16:47:04.192Z"`, "+292275056-05-16T16:47:04.192Z", "'+292275056-05-16T16:47:04.192Z'"},
		{"time", string(rowgroup.AppendInt(nil, rowgroup.Time, 3723000000004)), `"01:02:03.000000004"`, "01:02:03.000000004", "'01:02:03.000000004'"},
		{"date", string(rowgroup.AppendInt(nil, rowgroup.Date, 1)), `"1970-01-02"`, "1970-01-02", "'1970-01-02'"},
		{"date", string(rowgroup.AppendInt(nil, rowgroup.Date, -719529)), `"-0001-12-31"`, "-0001-12-31", "'-0001-12-31'"},
		{"time", "\xff\xff\xff\xff\xff\xff\xff\xff", `"0xffffffffffffffff"`, "", "''"},
		{"duration", "\x02\x04\x06", `"1mo2d3ns"`, "1mo2d3ns", "1mo2d3ns"},
		{"duration", "\x1b\x00\x00", `"-1y2mo"`, "-1y2mo", "-1y2mo"},
		{"duration", "\x00\x00\x00", `""`, "", ""},
		{"inet", "\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01", `"2001:db8:0:0:0:0:0:1"`, "2001:db8:0:0:0:0:0:1", "'2001:db8:0:0:0:0:0:1'"},
		{"frozen<list<int>>", "\x00\x00\x00\x02\x00\x00\x00\x04\x00\x00\x00\x01\xff\xff\xff\xff", "[1, null]", "00000002" + "0000000400000001" + "ffffffff", "[1, null]"},
		{"frozen<set<int>>", "\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\x01", "[1]", "00000001" + "0000000400000001", "{1}"},
		{"frozen<map<int,text>>", "\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\x01\x00\x00\x00\x01x", `{"1": "x"}`, "00000001" + "0000000400000001" + "0000000178", "{1: 'x'}"},
		{"frozen<list<int>>", "\x7f\xff\xff\xff\x00\x00\x00\x04\x00\x00\x00\x01\x00", "[1, null]", "7fffffff" + "0000000400000001" + "00", "[1, null]"},
		{"tuple<int,text>", "\x00\x00\x00\x04\x00\x00\x00\x01", "[1, null]", "1", "(1)"},
		{"tuple<text,text>", "\x00\x00\x00\x03a:@\xff\xff\xff\xff", `["a:@", null]`, `a\:\@:@`, "('a:@', null)"},
		{`frozen<udt<ks.t{a:int,"B":text}>>`, "\x00\x00\x00\x04\x00\x00\x00\x01\x00\x00\x00\x01x", `{"a": 1, "\"B\"": "x"}`, "1:x", `{a: 1, "B": 'x'}`},
		{"vector<int,2>", "\x00\x00\x00\x01\x00\x00\x00\x02", "[1, 2]", "0000000100000002", "[1, 2]"},
		{"vector<text,2>", "\x01x\x00", `["x", ""]`, "017800", "['x', '']"},
	} {
		typ, err := rowgroup.ParseType(c.typ)
		require.NoError(t, err)
		require.Equal(t, c.json, string(appendJSON(nil, &typ, []byte(c.value))), "%s %q", c.typ, c.value)
		str, ok := appendString(nil, &typ, []byte(c.value))
		require.Equal(t, c.json[:min(3, len(c.json))] != `"0x` || c.typ == "blob", ok)
		require.Equal(t, c.str, string(str), "%s %q", c.typ, c.value)
		require.Equal(t, c.literal, string(appendLiteral(nil, &typ, []byte(c.value))), "%s %q", c.typ, c.value)
	}
	tuple, err := rowgroup.ParseType("tuple<int,int>")
	require.NoError(t, err)
	_, ok := appendString(nil, &tuple, []byte("\x00\x00\x00\x09x"))
	require.False(t, ok)
}

// Floating point numbers as Java 17 prints them, by their bits.
func TestFloats(t *testing.T) {
	for want, u := range map[string]uint64{
		"-0.0": 1 << 63, "1.0": 0x3ff0000000000000, "0.001": 0x3f50624dd2f1a9fc, "9.999999999999996E-4": 0x3f50624dd2f1a9fa,
		"9999999.5": 0x416312cfe0000000 + 0x10000000, "1.0E7": 0x416312d000000000, "-1.2E-4": 0xbf1f75104d551d69,
		"4.9E-324": 1, "1.0E-323": 2, "1.5E-323": 3, "1.0E-322": 20, "2.2250738585072014E-308": 0x0010000000000000,
		"5.6843418860808015E-14": 0x3d30000000000000, "4.6116860184273879E18": 0x43d0000000000000, "9.223372036854776E18": 0x43e0000000000000,
		"7.0000000000000004E22": 0x44ada56a4b0835c0, "4.9999999999999996E22": 0x44a52d02c7e14af6, "9.999999999999999E22": 0x44b52d02c7e14af6,
		"1.7976931348623157E308": 0x7fefffffffffffff, "Infinity": 0x7ff0000000000000, "NaN": 0x7ff8000000000001,
	} {
		require.Equal(t, want, string(appendFloat(nil, math.Float64frombits(u), 64)), "%x", u)
	}
	for want, u := range map[string]uint32{
		"1.4E-45": 1, "1.0E-43": 0x47, "9.6714065E24": 0x69000000, "4.8397066E25": 0x6a2021e9, "7.5825064E25": 0x6a7ae254,
		"3.4028235E38": 0x7f7fffff, "1.17549435E-38": 0x00800000, "3.3554432E7": 0x4c000000, "0.1": 0x3dcccccd,
	} {
		require.Equal(t, want, string(appendFloat(nil, float64(math.Float32frombits(u)), 32)), "%x", u)
	}
}

func TestInstants(t *testing.T) {
	d := &dumper{o: &Options{}, printer: printer{named: true}}
	for want, micros := range map[string]int64{
		`"1970-01-01T00:00:00Z"`:              0,
		`"2023-11-14T22:13:20.000001Z"`:       1_700_000_000_000_001,
		`"2023-11-14T22:13:20.120Z"`:          1_700_000_000_120_000,
		`"1970-01-01T00:00:00.999999Z"`:       -1,
		`"1969-12-31T23:59:59Z"`:              -1_000_000,
		`"-290308-12-21T19:59:06.145224192Z"`: math.MinInt64 + 1, // nanoseconds do not go so far
		`"+294247-01-10T04:00:54.854775807Z"`: math.MaxInt64,
		`"+10000-01-01T00:00:00.854775807Z"`:  253_402_300_800_000_000,
		`"0000-01-01T00:00:00.145224192Z"`:    -62_167_219_200_000_001,
		`"-1199-02-15T14:13:21.145224192Z"`:   -99_999_999_999_999_999,
	} {
		d.out, d.named = d.out[:0], true
		d.micros(micros)
		require.Equal(t, want, string(d.out))
	}
}
