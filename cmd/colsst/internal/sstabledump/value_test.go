package sstabledump

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

// Values as Cassandra writes them into JSON.
func TestAppendJSON(t *testing.T) {
	decimal := func(scale int32, unscaled ...byte) string {
		return string(append(binary.BigEndian.AppendUint32(nil, uint32(scale)), unscaled...))
	}
	double := func(f float64) string { return string(rowgroup.AppendFloat64(nil, f)) }
	parse := func(s string) rowgroup.Type {
		x, err := rowgroup.ParseType(s)
		require.NoError(t, err)
		return x
	}
	for _, c := range []struct{ typ, value, want string }{
		{"text", "a\"\\\n\x01é", `"a\"\\\n\u0001é"`},
		{"int", "\xff\xff\xff\xfe", "-2"},
		{"int", "", `""`},
		{"boolean", "\x02", "true"},
		{"blob", "\x0a\xff", `"0x0aff"`},
		{"double", double(1), "1.0"},
		{"double", double(1e7), "1.0E7"},
		{"double", double(9999999.5), "9999999.5"},
		{"double", double(0.001), "0.001"},
		{"double", double(-0.00012), "-1.2E-4"},
		{"double", double(math.Copysign(0, -1)), "-0.0"},
		{"double", double(math.NaN()), "null"},
		{"float", string(rowgroup.AppendFloat32(nil, 7.62)), "7.62"},
		{"decimal", decimal(2, 0x30, 0x39), "123.45"},
		{"decimal", decimal(5, 0xff), "-0.00001"},
		{"decimal", decimal(8, 1), "1E-8"},
		{"decimal", decimal(-3, 0x0c), "1.2E+4"},
		{"decimal", decimal(0, 0x0c), "12"},
		{"timestamp(ms)", string(rowgroup.AppendInt(nil, rowgroup.Timestamp(rowgroup.Millis), 1532117307783)), `"2018-07-20 20:08:27.783Z"`},
		{"time", string(rowgroup.AppendInt(nil, rowgroup.Time, 3723000000004)), `"01:02:03.000000004"`},
		{"date", string(rowgroup.AppendInt(nil, rowgroup.Date, 1)), `"1970-01-02"`},
		{"frozen<list<int>>", "\x00\x00\x00\x02\x00\x00\x00\x04\x00\x00\x00\x01\xff\xff\xff\xff", "[1, null]"},
		{"frozen<map<int,text>>", "\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\x01\x00\x00\x00\x01x", `{"1": "x"}`},
		{"tuple<int,text>", "\x00\x00\x00\x04\x00\x00\x00\x01", "[1, null]"},
		{`frozen<udt<ks.t{a:int,"B":text}>>`, "\x00\x00\x00\x04\x00\x00\x00\x01\x00\x00\x00\x01x", `{"a": 1, "\"B\"": "x"}`},
		{"vector<int,2>", "\x00\x00\x00\x01\x00\x00\x00\x02", "[1, 2]"},
		{"frozen<list<int>>", "\x00\x00", "null"},
	} {
		typ := parse(c.typ)
		require.Equal(t, c.want, string(appendJSON(nil, &typ, []byte(c.value))), "%s %q", c.typ, c.value)
	}
}
