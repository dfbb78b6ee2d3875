// Command make writes Parquet files of every type, encoding, compression and
// page version with the package parquetfmt, and beside each the rows that it
// must show, in the text that README.md describes.
//
//	make FOLDER
//
// FOLDER/NAME.parquet is a file, FOLDER/NAME/expected.txt its rows. list has two
// lines for each: the file and the folder for the texts of its readers. Files of
// SSTables, lossless, have no expected rows: their readers must agree.
package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/colsst/colsst/cassandra"
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/parquetfmt"
	"github.com/colsst/colsst/rowgroup"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: make FOLDER")
		os.Exit(2)
	}
	m := maker{folder: os.Args[1]}
	for _, step := range []func() error{m.types, m.numbers, m.texts, m.sstables} {
		if err := step(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if err := os.WriteFile(filepath.Join(m.folder, "list"), []byte(m.list.String()), 0o666); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type maker struct {
	folder string
	list   strings.Builder
}

// table is rows with the text that readers must make of them.
type table struct {
	schema  *rowgroup.Schema
	batches []*rowgroup.Batch
	rows    []string
}

// file writes a table.
func (m *maker) file(name string, t *table, opts ...parquetfmt.Option) (err error) {
	path := filepath.Join(m.folder, name+".parquet")
	texts := filepath.Join(m.folder, name)
	if err := os.MkdirAll(texts, 0o777); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b := bufio.NewWriter(f)
	w, err := parquetfmt.NewWriter(b, t.schema, opts...)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, x := range t.batches {
		if err := w.Append(x); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := b.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(&m.list, "%s\n%s\n", path, texts)
	if t.rows == nil {
		return nil
	}
	return os.WriteFile(filepath.Join(texts, "expected.txt"), []byte(strings.Join(t.rows, "\n")+"\n"), 0o666)
}

// everyWay writes a table in every compression and page version, and with every
// encoding given.
func (m *maker) everyWay(name string, t *table, encodings ...parquetfmt.Encoding) error {
	for version := 1; version <= 2; version++ {
		for _, c := range []parquetfmt.Compression{parquetfmt.Uncompressed, parquetfmt.Snappy, parquetfmt.Gzip, parquetfmt.LZ4, parquetfmt.Zstd} {
			err := m.file(fmt.Sprintf("%s-default-%s-v%d", name, c, version), t, parquetfmt.WithCompression(c), parquetfmt.WithPageVersion(version),
				parquetfmt.WithPages(700, 1<<20), parquetfmt.WithRowGroups(2500, 1<<20))
			if err != nil {
				return err
			}
		}
		for _, e := range encodings {
			err := m.file(fmt.Sprintf("%s-%s-zstd-v%d", name, e, version), t, parquetfmt.WithEncoding("*", e), parquetfmt.WithPageVersion(version),
				parquetfmt.WithPages(1100, 1<<20))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// sample is values of a type and how they are written.
type sample struct {
	typ    string
	values [][2]string // text, or x and the serialised bytes; and what readers must show
}

func text(s string) string { return "s" + hex.EncodeToString([]byte(s)) }

var samples = []sample{
	{"boolean", [][2]string{{"true", "true"}, {"false", "false"}}},
	{"tinyint", [][2]string{{"-128", "-128"}, {"127", "127"}}},
	{"smallint", [][2]string{{"-32768", "-32768"}, {"32767", "32767"}}},
	{"int", [][2]string{{"-2147483648", "-2147483648"}, {"2147483647", "2147483647"}}},
	{"bigint", [][2]string{{"-9223372036854775808", "-9223372036854775808"}, {"9223372036854775807", "9223372036854775807"}}},
	{"uint8", [][2]string{{"0", "0"}, {"255", "255"}}},
	{"uint16", [][2]string{{"0", "0"}, {"65535", "65535"}}},
	{"uint32", [][2]string{{"0", "0"}, {"4294967295", "4294967295"}}},
	{"uint64", [][2]string{{"9223372036854775808", "9223372036854775808"}, {"18446744073709551615", "18446744073709551615"}}},
	{"float", [][2]string{{"0.1", "f3dcccccd"}, {"x80000000", "f80000000"}, {"x7f800000", "f7f800000"}, {"x7fc00000", "f7fc00000"}, {"x00000001", "f00000001"}}},
	{"double", [][2]string{{"0.1", "d3fb999999999999a"}, {"x8000000000000000", "d8000000000000000"}, {"xfff0000000000000", "dfff0000000000000"}, {"x7ff8000000000000", "d7ff8000000000000"}, {"x0000000000000001", "d0000000000000001"}}},
	{"text", [][2]string{{"", "s"}, {"é", text("é")}, {"日本", text("日本")}}},
	{"ascii", [][2]string{{"a\"b", text("a\"b")}}},
	{"blob", [][2]string{{"x00ff", "x00ff"}}},
	{"uuid", [][2]string{{"5b6962dd-3f90-4c93-8f61-eabfa4a803e2", "x5b6962dd3f904c938f61eabfa4a803e2"}}},
	{"timeuuid", [][2]string{{"50554d6e-29bb-11e5-b345-feff819cdc9f", "x50554d6e29bb11e5b345feff819cdc9f"}}},
	{"timestamp(s)", [][2]string{{"1969-12-31T23:59:59Z", "t-1000000000"}, {"2262-04-11T23:47:16Z", "t9223372036000000000"}}},
	{"timestamp(ms)", [][2]string{{"1969-12-31T23:59:59.999Z", "t-1000000"}, {"2038-01-19T03:14:08Z", "t2147483648000000000"}}},
	{"timestamp(us)", [][2]string{{"1969-12-31T23:59:59.999999Z", "t-1000"}, {"2000-02-29T12:00:00.000001Z", "t951825600000001000"}}},
	{"timestamp(ns)", [][2]string{{"1969-12-31T23:59:59.999999Z", "t-1000"}, {"2262-04-11T23:47:16.854775Z", "t9223372036854775000"}}},
	{"date", [][2]string{{"1969-12-31", "D-1"}, {"2038-01-20", "D24856"}}},
	{"time", [][2]string{{"00:00:00", "T0"}, {"23:59:59.999999000", "T86399999999000"}}},
	{"decimal", [][2]string{{"1.50", "(unscaled=x0096,scale=2)"}, {"-3", "(unscaled=xfd,scale=0)"}}},
	{"decimal(9,3)", [][2]string{{"1.50", "n1500/3"}, {"-999999.999", "n-999999999/3"}}},
	{"decimal(15,2)", [][2]string{{"-0.05", "n-5/2"}, {"9999999999999.99", "n999999999999999/2"}}},
	{"fixed(3)", [][2]string{{"0x0001ff", "x0001ff"}}},
	{"varint", [][2]string{{"-123456789012345678901234567890", text("-123456789012345678901234567890")}}},
	{"inet", [][2]string{{"127.0.0.1", text("127.0.0.1")}, {"2001:db8::1", text("2001:db8::1")}}},
	{"duration", [][2]string{{"1mo2d3ns", "(months=1,days=2,nanos=3)"}}},
	{"frozen<list<int>>", [][2]string{{"x000000020000000400000001000000040000ffff", "[1,65535]"}, {"x00000000", "[]"}}},
	{"frozen<set<text>>", [][2]string{{"x00000002000000016100000002c3a9", "[s61,sc3a9]"}}},
	{"frozen<map<text,double>>", [][2]string{{"x000000010000000161000000083ff0000000000000", "{s61:d3ff0000000000000}"}, {"x00000000", "{}"}}},
	{"tuple<int,text>", [][2]string{{"x00000004000000070000000178", "(f0=7,f1=s78)"}, {"xffffffff0000000178", "(f0=null,f1=s78)"}}},
	{"frozen<udt<ks.address{street:text,number:int}>>", [][2]string{{"x00000001780000000400000007", "(street=s78,number=7)"}}},
	{"vector<float,3>", [][2]string{{"x3f80000040000000c0400000", "[f3f800000,f40000000,fc0400000]"}}},
	{"frozen<list<frozen<tuple<int,text>>>>", [][2]string{{"x000000010000000d00000004000000070000000178", "[(f0=7,f1=s78)]"}}},
}

// types makes a table with a column of each type, and one with decimals of
// fixed precision.
func (m *maker) types() error {
	t, err := tableOf(samples)
	if err != nil {
		return err
	}
	if err := m.everyWay("types", t, parquetfmt.Plain); err != nil {
		return err
	}
	for _, x := range samples { // so that a type that a reader has not says nothing of others
		t, err := tableOf([]sample{x})
		if err != nil {
			return err
		}
		if err := m.file("type-"+strings.Map(word, x.typ), t); err != nil {
			return err
		}
	}
	for _, precision := range []int32{9, 15, 18, 38} {
		t, err := tableOf([]sample{{"decimal", [][2]string{{"1.50", "n1500/3"}, {"-3", "n-3000/3"}, {"999999.999", "n999999999/3"}}}})
		if err != nil {
			return err
		}
		if err := m.file(fmt.Sprintf("decimal-%d", precision), t, parquetfmt.WithDecimal("*", precision, 3)); err != nil {
			return err
		}
	}
	return nil
}

func word(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
		return r
	}
	return '_'
}

// tableOf makes a table of samples: a partition "k" with a row for each value of
// the longest list, one of nulls between.
func tableOf(samples []sample) (*table, error) {
	var columns []rowgroup.Column
	names := []string{"k", "c"}
	most := 0
	for _, x := range samples {
		typ, err := rowgroup.ParseType(x.typ)
		if err != nil {
			return nil, err
		}
		name := strings.Map(word, x.typ)
		columns, names, most = append(columns, rowgroup.Column{Name: name, Type: typ}), append(names, name), max(most, len(x.values))
	}
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "k", Type: rowgroup.Text}}, []rowgroup.Column{{Name: "c", Type: rowgroup.Int}}, nil, columns)
	if err != nil {
		return nil, err
	}
	t := &table{schema: s, rows: []string{strings.Join(names, "\t")}}
	b := rowgroup.NewBatch(s)
	b.BeginPartition([]byte("k"))
	for row := range 2 * most {
		*b.Int32s(1) = append(*b.Int32s(1), int32(row))
		b.Meta().Liveness = append(b.Meta().Liveness, rowgroup.LivenessLive)
		b.Meta().WriteTimes = append(b.Meta().WriteTimes, 0)
		line := []string{text("k"), fmt.Sprint(row)}
		for i, x := range samples {
			if row%2 == 1 || row/2 >= len(x.values) {
				if err := b.PutValue(2+i, row, nil, false); err != nil {
					return nil, err
				}
				line = append(line, "null")
				continue
			}
			v := x.values[row/2]
			var value []byte
			if strings.HasPrefix(v[0], "x") {
				value, err = hex.DecodeString(v[0][1:])
			} else {
				value, err = rowgroup.ParseText(nil, columns[i].Type, v[0])
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", x.typ, err)
			}
			if err := b.PutValue(2+i, row, value, true); err != nil {
				return nil, err
			}
			line = append(line, v[1])
		}
		t.rows = append(t.rows, strings.Join(line, "\t"))
	}
	t.batches = []*rowgroup.Batch{b}
	return t, nil
}

// numbers makes tables of floats and integers, with what is hard to keep.
func (m *maker) numbers() error {
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "series", Type: rowgroup.Text}}, []rowgroup.Column{{Name: "time", Type: rowgroup.Timestamp(rowgroup.Millis)}}, nil,
		[]rowgroup.Column{{Name: "d", Type: rowgroup.Double}, {Name: "f", Type: rowgroup.Float}, {Name: "i", Type: rowgroup.Int}, {Name: "l", Type: rowgroup.Bigint}})
	if err != nil {
		return err
	}
	t := &table{schema: s, rows: []string{"series\ttime\td\tf\ti\tl"}}
	odd64 := []uint64{0x7ff8000000000123, 0xfff0000000000000, 1 << 63, 1, 0x7fefffffffffffff}
	odd32 := []uint32{0x7fc00123, 0xff800000, 1 << 31, 1, 0x7f7fffff}
	for series := range 2 {
		b := rowgroup.NewBatch(s)
		key := fmt.Sprintf("series%d", series)
		b.BeginPartition([]byte(key))
		random := uint64(series + 1)
		for i := range 3000 {
			random = random*6364136223846793005 + 1442695040888963407
			n := int64(random>>40) - 1<<23
			d, f := float64(n)/100, float32(n%100_000)/10
			if i%97 == 5 {
				d, f = math.Float64frombits(odd64[i/97%len(odd64)]), math.Float32frombits(odd32[i/97%len(odd32)])
			}
			time := 1_780_000_000_000 + int64(i)*5000 + n%7
			*b.Int64s(1) = append(*b.Int64s(1), time)
			*b.Float64s(2) = append(*b.Float64s(2), d)
			*b.Float32s(3) = append(*b.Float32s(3), f)
			*b.Int32s(4) = append(*b.Int32s(4), int32(n%1000))
			*b.Int64s(5) = append(*b.Int64s(5), n<<uint(i%40))
			b.Meta().Liveness = append(b.Meta().Liveness, rowgroup.LivenessLive)
			b.Meta().WriteTimes = append(b.Meta().WriteTimes, 0)
			t.rows = append(t.rows, fmt.Sprintf("%s\tt%d\td%016x\tf%08x\t%d\t%d", text(key), time*1_000_000, math.Float64bits(d), math.Float32bits(f), int32(n%1000), n<<uint(i%40)))
		}
		t.batches = append(t.batches, b)
	}
	return m.everyWay("numbers", t, parquetfmt.Encodings...)
}

// texts makes a table of texts that repeat, and of others that do not.
func (m *maker) texts() error {
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "k", Type: rowgroup.Text}}, []rowgroup.Column{{Name: "c", Type: rowgroup.Text}}, nil,
		[]rowgroup.Column{{Name: "few", Type: rowgroup.Text}, {Name: "many", Type: rowgroup.Text}, {Name: "bytes", Type: rowgroup.Blob}})
	if err != nil {
		return err
	}
	t := &table{schema: s, rows: []string{"k\tc\tfew\tmany\tbytes"}}
	b := rowgroup.NewBatch(s)
	b.BeginPartition([]byte("k"))
	for i := range 3000 {
		c, few, many, raw := fmt.Sprintf("row %06d", i), []string{"", "one", "zwei", "três"}[i*i%4], fmt.Sprintf("%x", i*i*i*7919), fmt.Appendf(nil, "\x00\xff%d", i%300)
		for col, v := range []string{c, few, many, string(raw)} {
			if err := b.PutValue(1+col, i, []byte(v), true); err != nil {
				return err
			}
		}
		b.Meta().Liveness = append(b.Meta().Liveness, rowgroup.LivenessLive)
		b.Meta().WriteTimes = append(b.Meta().WriteTimes, 0)
		t.rows = append(t.rows, strings.Join([]string{text("k"), text(c), text(few), text(many), "x" + hex.EncodeToString(raw)}, "\t"))
	}
	t.batches = []*rowgroup.Batch{b}
	return m.everyWay("texts", t, parquetfmt.Plain, parquetfmt.Dictionary, parquetfmt.DeltaLengthByteArray)
}

// sstables makes lossless files of SSTables and of a table with metadata.
func (m *maker) sstables() error {
	paths, err := filepath.Glob("cassandra/testdata/*/*-Data.db")
	if err != nil {
		return err
	}
	more, err := filepath.Glob("cassandra/testdata/*/*/*-Data.db")
	if err != nil {
		return err
	}
	for i, path := range append(paths, more...) {
		if err := m.sstable(fmt.Sprintf("sstable-%02d", i), path); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	g := generate.Metrics5{Series: 2, Points: 2000}
	t, err := allRows(g.Schema(), g.Rows())
	if err != nil {
		return err
	}
	return m.file("metrics5-lossless", t, parquetfmt.WithLossless())
}

func (m *maker) sstable(name, path string) (err error) {
	s, err := cassandra.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	src, err := cassandra.NewSource(s, nil)
	if errors.Is(err, encoding.ErrUnsupported) {
		return nil // the tests of cassandra have these
	}
	if err != nil {
		return err
	}
	t, err := allRows(src.Schema(), src.Scan(context.Background(), rowgroup.ScanOptions{}))
	if err != nil {
		return err
	}
	return m.file(name, t, parquetfmt.WithLossless(), parquetfmt.WithReplacement())
}

// allRows are the rows of it.
func allRows(s *rowgroup.Schema, it rowgroup.Iter) (t *table, err error) {
	defer func() { err = errors.Join(err, it.Close()) }()
	t = &table{schema: s}
	b := rowgroup.NewBatch(s)
	for {
		more, err := it.Next(b)
		if err != nil || !more {
			return t, err
		}
		t.batches = append(t.batches, b.Clone())
	}
}
