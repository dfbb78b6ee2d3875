package generate

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/colsst/colsst/rowgroup"
)

// Types is a table with a regular column of every type, in which the extremes
// of each type stand among ordinary values, zero-length ones and bytes that
// are none of its values. Its clustering column n counts the rows.
type Types struct {
	Rows int
}

// typeSamples are the types and serialised values of each. A column is named
// by its place.
var typeSamples = []struct {
	text   string
	values [][]byte
}{
	{"boolean", [][]byte{{0}, {1}, {2}}},
	{"tinyint", [][]byte{{0}, {0x7f}, {0x80}, {0xff}}},
	{"smallint", [][]byte{be(2, 0), be(2, math.MaxInt16), be(2, -1)}},
	{"int", [][]byte{be(4, 0), be(4, math.MaxInt32), be(4, math.MinInt32), {1, 2}}},
	{"bigint", [][]byte{be(8, 1<<53+1), be(8, math.MaxInt64), be(8, math.MinInt64)}},
	{"uint8", [][]byte{{0}, {0xff}}},
	{"uint16", [][]byte{be(2, 0), be(2, -1)}},
	{"uint32", [][]byte{be(4, 0), be(4, -1)}},
	{"uint64", [][]byte{be(8, 0), be(8, -1)}},
	{"float", [][]byte{f32(0), f32(math.Copysign(0, -1)), f32(1.1), f32(math.MaxFloat32), f32(1e-45), f32(3e-7), f32(math.Inf(-1)), be(4, 0x7fc00000), be(4, 0x7fc00001), f32(16777216)}},
	{"double", [][]byte{f64(0), f64(math.Copysign(0, -1)), f64(1.1), f64(math.MaxFloat64), f64(5e-324), f64(1e21), f64(1e20), f64(123e-8), f64(math.Inf(1)), be(8, 0x7ff8000000000000), be(8, 0x7ff8000000000001), be(8, -1)}},
	{"timestamp(s)", [][]byte{be(8, 0), be(8, -1), be(8, 253402300799), be(8, math.MinInt64)}},
	{"timestamp(ms)", [][]byte{be(8, 0), be(8, -1), be(8, start*1000)}},
	{"timestamp(us)", [][]byte{be(8, 1), be(8, -62135596800000000)}},
	{"timestamp(ns)", [][]byte{be(8, 1), be(8, math.MaxInt64)}},
	{"old_date", [][]byte{be(8, 0), be(8, -1), be(8, start*1000)}},
	{"date", [][]byte{be(4, 1<<31), be(4, 0), be(4, -1), be(4, 1<<31-719468-400)}},
	{"time", [][]byte{be(8, 0), be(8, 86399999999999), be(8, 86400000000000)}},
	{"text", [][]byte{[]byte("plain"), []byte("a\tb\x01\"\\"), []byte("\u2028 \U0001f600"), {0xc3}}},
	{"ascii", [][]byte{[]byte("ascii"), {0x80}}},
	{"blob", [][]byte{{0}, {0xde, 0xad, 0xbe, 0xef}}},
	{"varint", [][]byte{{0}, {0xff}, {0x7f, 0xff}, {0x80, 0, 0, 0, 0, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}}},
	{"decimal", [][]byte{dec(0, 0), dec(2, 150), dec(8, -15), dec(9, 0), dec(-3, 12), dec(20, 1), dec(5, -120000), {0, 0, 0, 1}}},
	{"uuid", [][]byte{uuid("12345678123456781234567812345678"), uuid("00112233445541889999aabbccddeeff")}},
	{"timeuuid", [][]byte{uuid("d2177dd0eaa211de a572001b779c76e3"), uuid("12345678123456781234567812345678")}},
	{"lexical_uuid", [][]byte{uuid("ffffffffffffffff0000000000000000")}},
	{"inet", [][]byte{{192, 168, 0, 1}, uuid("20010db8000000000000000000000001"), uuid("00000000000000000000ffffc0a80001"), uuid("00010000000000020000000000000003"), {1, 2, 3}}},
	{"empty", [][]byte{{}}},
	{"duration", [][]byte{{0, 0, 0}, {2, 4, 6}, {1, 3, 5}, {0x1a, 2, 0xfc, 0x12, 0xa0, 0x5f, 0x20, 0x02, 0x08}, {1, 2, 3}}},
	{"counter", [][]byte{counter(5, -7), counter(math.MaxInt64, 1), {0}}},
	{"opaque<'Some.Type(a=>''b'')'>", [][]byte{{1, 2}, {0xff}}},
	{"frozen<list<int>>", [][]byte{seq(2, be(4, 1), be(4, -1)), seq(0), {0, 0, 0, 1}}},
	{"frozen<set<text>>", [][]byte{seq(2, []byte("a"), []byte("it's")), seq(1, nil)}},
	{"frozen<map<text,double>>", [][]byte{seq(2, []byte("k"), f64(1.5), []byte("n"), be(8, 0x7ff8000000000000))}},
	{"tuple<int,text,frozen<list<tinyint>>>", [][]byte{tuple(be(4, 7), []byte("x"), seq(1, []byte{9})), tuple(be(4, 7)), tuple(nil, []byte("y"))}},
	{`frozen<udt<ks."Addr"{street:text,"Zip code":int,born:date}>>`, [][]byte{tuple([]byte("Main"), be(4, 12345), be(4, 1<<31)), tuple([]byte("Main"), nil)}},
	{"vector<float,3>", [][]byte{append(append(f32(1), f32(-2.5)...), f32(1e30)...)}},
	{"vector<text,2>", [][]byte{[]byte("\x01a\x02bc"), []byte("\x00\x00")}},
	{"composite<int,text>", [][]byte{[]byte("\x00\x04\x00\x00\x00\x01\x00\x00\x01z\x00"), []byte("\x00\x04\x00\x00\x00\x01\x01")}},
	{"reversed<bigint>", [][]byte{be(8, 1), be(8, -1)}},
	{"frozen<reversed<text>>", [][]byte{[]byte("r")}},
	{"decimal(9,2)", [][]byte{be(4, 0), be(4, -5), be(4, 999999999), be(4, -999999999), be(4, 1000000000), {1, 2}}},
	{"decimal(18,18)", [][]byte{be(8, 1), be(8, 999999999999999999), be(8, math.MinInt64)}},
	{"decimal(38,3)", [][]byte{wide(16, 1500), wide(16, -1), append(be(8, 5421010862427522170), be(8, 687399551400673279)...), append(be(8, math.MaxInt64), be(8, -1)...)}},
	{"reversed<decimal(76,0)>", [][]byte{wide(32, 12), wide(32, math.MinInt64)}},
	{"fixed(3)", [][]byte{{1, 2, 3}, {0xff, 0, 0}, {1}}},
	{"frozen<list<decimal(5,2)>>", [][]byte{seq(2, be(4, 125), be(4, -5))}},
}

// be is v in n bytes, big-endian.
func be(n int, v int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(v))[8-n:] }

// wide is v in n bytes of at least 8, big-endian.
func wide(n int, v int64) []byte {
	b := make([]byte, n-8)
	for i := range b {
		b[i] = byte(v >> 63)
	}
	return append(b, be(8, v)...)
}

func f32(v float64) []byte { return rowgroup.AppendFloat32(nil, float32(v)) }
func f64(v float64) []byte { return rowgroup.AppendFloat64(nil, v) }

// dec is a decimal.
func dec(scale, unscaled int64) []byte { return append(be(4, scale), be(3, unscaled)...) }

func uuid(digits string) []byte {
	b, err := rowgroup.ParseText(nil, rowgroup.Blob, "0x"+strings.ReplaceAll(digits, " ", ""))
	if err != nil {
		panic(err) // the samples are constants
	}
	return b
}

// counter is a counter of one shard a count.
func counter(counts ...int64) []byte {
	b := be(2, 0)
	for i, n := range counts {
		b = append(append(append(b, make([]byte, 16)...), be(8, int64(i))...), be(8, n)...)
	}
	return b
}

// seq is a list, set or map of count elements or pairs.
func seq(count int64, elements ...[]byte) []byte {
	b := be(4, count)
	for _, e := range elements {
		b = append(append(b, be(4, int64(len(e)))...), e...)
	}
	return b
}

// tuple is a tuple of fields, of which nil is null.
func tuple(fields ...[]byte) []byte {
	var b []byte
	for _, f := range fields {
		if f == nil {
			b = append(b, be(4, -1)...)
			continue
		}
		b = append(append(b, be(4, int64(len(f)))...), f...)
	}
	return b
}

// Schema is the table's schema.
func (Types) Schema() *rowgroup.Schema {
	var regular []rowgroup.Column
	for i, t := range typeSamples {
		typ, err := rowgroup.ParseType(t.text)
		if err != nil {
			panic(err)
		}
		name := string([]byte{'t', byte('0' + i/10), byte('0' + i%10)})
		regular = append(regular, rowgroup.Column{Name: name, Type: typ})
	}
	s, err := rowgroup.NewSchema(nil, []rowgroup.Column{{Name: "n", Type: rowgroup.Int}}, nil, regular)
	if err != nil {
		panic(err)
	}
	return s
}

// Batch is the whole table.
func (t Types) Batch() *rowgroup.Batch {
	s := t.Schema()
	b := rowgroup.NewBatch(s)
	for row := range t.Rows {
		*b.Int32s(0) = append(*b.Int32s(0), int32(row))
	}
	for i, sample := range typeSamples {
		for row := range t.Rows {
			k := row % (len(sample.values) + 2)
			switch {
			case k < len(sample.values):
				appendSample(b, 1+i, row, sample.values[k], rowgroup.CellAsRow)
			case k == len(sample.values):
				appendSample(b, 1+i, row, nil, rowgroup.CellAbsent)
			default:
				appendSample(b, 1+i, row, nil, rowgroup.CellEmpty)
			}
		}
	}
	return b
}

// appendSample appends a serialised value, or a cell without one.
func appendSample(b *rowgroup.Batch, col, row int, value []byte, c rowgroup.Cell) {
	t := b.Schema().Column(col).Type
	m := b.CellMeta(col)
	class := t.Physical().Class()
	number, ok := int64(0), true
	var f4 float32
	var f8 float64
	switch {
	case c != rowgroup.CellAsRow:
	case class == rowgroup.ClassInt32 || class == rowgroup.ClassInt64:
		number, ok = rowgroup.IntOf(t, value)
	case class == rowgroup.ClassFloat32:
		f4, ok = rowgroup.Float32Of(value)
	case class == rowgroup.ClassFloat64:
		f8, ok = rowgroup.Float64Of(value)
	}
	if !ok {
		c = rowgroup.CellException
		m.Exceptions = append(m.Exceptions, rowgroup.Exception{Row: row, Value: value})
	}
	switch class {
	case rowgroup.ClassInt32:
		*b.Int32s(col) = append(*b.Int32s(col), int32(number))
	case rowgroup.ClassInt64:
		*b.Int64s(col) = append(*b.Int64s(col), number)
	case rowgroup.ClassFloat32:
		*b.Float32s(col) = append(*b.Float32s(col), f4)
	case rowgroup.ClassFloat64:
		*b.Float64s(col) = append(*b.Float64s(col), f8)
	default:
		if c == rowgroup.CellEmpty {
			c = rowgroup.CellAsRow // a string may have no bytes
		}
		if err := b.Bytes(col).Append(value); err != nil {
			panic(err)
		}
	}
	m.Cells = append(m.Cells, c)
}
