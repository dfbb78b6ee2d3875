// Make writes table files for the mini-reader to read, into a folder: each
// NAME.csst with NAME.ndjson, its dump, and NAME.hashes, a line "hex(key)
// hex(XXH3-64)" for every partition. They are of every encoding, kind of
// metadata, type and layer.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/textfmt"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: make FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "make:", err)
		os.Exit(1)
	}
}

// table is rows to write, and by which name and options.
type table struct {
	name   string
	schema *rowgroup.Schema
	rows   func() rowgroup.Iter
	opts   []columnar.Option
}

func run(folder string) error {
	for _, t := range tables() {
		path := filepath.Join(folder, t.name)
		if err := write(path+".csst", t); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		if err := dump(path); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return nil
}

type options = []columnar.Option

// layers are combinations of the layers and sizes that make many levels.
func layers() map[string]options {
	return map[string]options{
		"default": nil,
		"column":  {columnar.WithColumnCompression("*")},
		"outer":   {columnar.WithCompression(16)},
		"both":    {columnar.WithColumnCompression("*"), columnar.WithCompression(2)},
		"small":   {columnar.WithRowGroupRows(8), columnar.WithBlockBytes(400)},
		"tiny":    {columnar.WithRowGroupRows(3), columnar.WithBlockBytes(1), columnar.WithCompression(1)},
	}
}

func tables() (all []table) {
	layered := func(name string, s *rowgroup.Schema, rows func() rowgroup.Iter) {
		for layer, opts := range layers() {
			all = append(all, table{name + "-" + layer, s, rows, opts})
		}
	}
	whole := func(b *rowgroup.Batch) func() rowgroup.Iter {
		return func() rowgroup.Iter { return &once{b: b} }
	}
	for _, v := range []generate.Variant{generate.Full, generate.TwoDecimals, generate.Backfill} {
		m := generate.Metrics5{Series: 3, Points: 700, Variant: v, Seed: generate.Seed}
		layered("metrics5-"+v.String(), m.Schema(), m.Rows)
	}
	points := generate.Points{Partitions: 300, PerKey: 5, Seed: generate.Seed}
	layered("points", points.Schema(), points.Rows)
	history := generate.History{Partitions: 12, Names: 4, Times: 12, Seed: generate.Seed}.Batch()
	layered("history", history.Schema(), whole(history))
	long := generate.History{Partitions: 2, Names: 30, Times: 20, Seed: 1}.Batch()
	layered("long", long.Schema(), whole(long))
	types := generate.Types{Rows: 40}.Batch()
	layered("types", types.Schema(), whole(types))
	values := values(2500)
	layered("values", values.Schema(), whole(values))

	// Every encoding for every column that can have it.
	for id := encoding.Raw; id.Valid(); id++ {
		o := options{columnar.WithRowGroupRows(400)}
		for i := range values.Schema().NumColumns() {
			if c := values.Schema().Column(i); rowgroup.Holds(c.Type.Physical().Class(), id) {
				o = append(o, columnar.WithEncoding(c.Name, id))
			}
		}
		all = append(all, table{"encoding-" + id.String(), values.Schema(), whole(values), o})
	}

	deep := generate.Metrics5{Series: 2, Points: 3000, Seed: generate.Seed}
	all = append(all, table{"deep-time", deep.Schema(), deep.Rows, options{columnar.WithRowGroupRows(3), columnar.WithBlockBytes(1)}})
	many := generate.Points{Partitions: 6000, PerKey: 1, Seed: generate.Seed}
	all = append(all, table{"deep-partitions", many.Schema(), many.Rows, options{columnar.WithRowGroupRows(2), columnar.WithBlockBytes(1)}})
	all = append(all, table{"no-filter", points.Schema(), points.Rows, options{columnar.WithFilter(false), columnar.WithUserData("b", nil), columnar.WithUserData("a", []byte("value"))}})

	empty := generate.Points{PerKey: 1}
	all = append(all, table{"empty", empty.Schema(), empty.Rows, nil})
	all = append(all, table{"empty-outer", empty.Schema(), empty.Rows, options{columnar.WithCompression(16)}})
	keyless := lines(300)
	all = append(all, table{"lines", keyless.Schema(), whole(keyless), nil})
	return all
}

// lines is a table without key and clustering columns, rows repeating.
func lines(n int) *rowgroup.Batch {
	s, err := rowgroup.NewSchema(nil, nil, nil, []rowgroup.Column{{Name: "a b", Type: rowgroup.Int}, {Name: `"q"`, Type: rowgroup.Text}})
	check(err)
	b := rowgroup.NewBatch(s)
	for i := range n {
		*b.Int32s(0) = append(*b.Int32s(0), int32(i/7))
		check(b.Bytes(1).Append(fmt.Appendf(nil, "line %d", i/3)))
	}
	return b
}

// values is a table whose columns are made for the forms of the encodings.
func values(n int) *rowgroup.Batch {
	r := rand.New(rand.NewPCG(generate.Seed, 2))
	walk := 0.0
	clock, jumpy, slow := int64(1_700_000_000_000), int64(0), int64(0)
	columns := []struct {
		name string
		typ  rowgroup.Type
		next func(b *rowgroup.Batch, col, i int)
	}{
		{"constant", rowgroup.Bigint, long(func(int) int64 { return -5 })},
		{"zero", rowgroup.Int, short(func(int) int32 { return 0 })},
		{"pi", rowgroup.Double, double(func(int) float64 { return math.Pi })},
		{"e", rowgroup.Float, single(func(int) float32 { return math.E })},
		{"noise", rowgroup.Bigint, long(func(int) int64 { return int64(r.Uint64()) })},
		{"range", rowgroup.Bigint, long(func(int) int64 { return 1_000_000 + r.Int64N(1000) })},
		{"outliers", rowgroup.Bigint, long(func(i int) int64 {
			switch {
			case i%70 == 3:
				return -1 << 40
			case i%50 == 7:
				return 1 << 62
			}
			return 50 + r.Int64N(8)
		})},
		{"counter", rowgroup.Bigint, long(func(int) int64 { slow += r.Int64N(200); return slow })},
		{"accelerating", rowgroup.Bigint, long(func(i int) int64 { return int64(i)*int64(i)*3 + r.Int64N(3) })},
		{"clock", rowgroup.Bigint, long(func(i int) int64 {
			clock += 15_000
			if i%97 == 0 {
				clock += 15_000 * r.Int64N(9)
			}
			return clock + r.Int64N(12)
		})},
		{"steady", rowgroup.Bigint, long(func(i int) int64 { return 7 * int64(i) })},
		{"runs", rowgroup.Bigint, long(func(i int) int64 {
			if i%40 == 0 {
				jumpy = r.Int64N(1 << 40)
			}
			return jumpy
		})},
		{"state", rowgroup.Int, short(func(i int) int32 { return int32(i / 100 % 3) })},
		{"spikes", rowgroup.Int, short(func(i int) int32 {
			if i%60 == 9 {
				return math.MinInt32 + int32(i)
			}
			return int32(r.IntN(16))
		})},
		{"steps", rowgroup.Int, short(func(i int) int32 { return int32(i)*60 + int32(r.IntN(3)) })},
		{"flag", rowgroup.Boolean, short(func(i int) int32 { return int32(i / 9 & 1) })},
		{"tenths", rowgroup.Double, double(func(i int) float64 {
			if i%90 == 5 {
				return math.Inf(-1)
			}
			return math.Round(r.Float64()*1000) / 10
		})},
		{"walk", rowgroup.Double, double(func(int) float64 { walk += math.Round(r.NormFloat64() * 3); return walk / 100 })},
		{"random", rowgroup.Double, double(func(int) float64 { return math.Float64frombits(r.Uint64()) })},
		{"unit", rowgroup.Double, double(func(int) float64 { return 1 + r.Float64() })},
		{"halves", rowgroup.Double, double(func(i int) float64 { return math.Ldexp(float64(1+r.IntN(900)), -40) })},
		{"smooth", rowgroup.Double, double(func(i int) float64 { return math.Float64frombits(0x4059000000000000 + uint64(i)*1000 + r.Uint64N(9)) })},
		{"price", rowgroup.Float, single(func(i int) float32 {
			if i%80 == 11 {
				return float32(math.NaN())
			}
			return float32(r.IntN(100_000)) / 100
		})},
		{"drift", rowgroup.Float, single(func(i int) float32 { return float32(2000+i+r.IntN(3)) / 10 })},
		{"spread", rowgroup.Float, single(func(int) float32 { return float32(r.NormFloat64()) })},
		{"pattern", rowgroup.Float, single(func(int) float32 { return math.Float32frombits(r.Uint32()) })},
		{"near", rowgroup.Float, single(func(i int) float32 { return math.Float32frombits(0xc2480000 + uint32(i)*3 + r.Uint32N(2)) })},
		{"word", rowgroup.Text, text(func(int) string { return []string{"on", "off", "unknown"}[r.IntN(3)] })},
		{"path", rowgroup.Text, text(func(i int) string { return fmt.Sprintf("/var/log/app/%05d.log", i) })},
		{"prose", rowgroup.Text, text(func(int) string { return fmt.Sprintf("%x", r.Uint64()>>r.IntN(60)) })},
		{"id", rowgroup.Blob, text(func(i int) string { return string(binary.BigEndian.AppendUint32(nil, uint32(i)*4)) })},
		{"long", rowgroup.Blob, text(func(i int) string { return string(make([]byte, i%900)) })},
		{"big", rowgroup.Varint, text(func(i int) string { return string(append([]byte{1}, make([]byte, i%90)...)) })},
	}
	regular := make([]rowgroup.Column, len(columns))
	for i, c := range columns {
		regular[i] = rowgroup.Column{Name: c.name, Type: c.typ}
	}
	s, err := rowgroup.NewSchema(nil, []rowgroup.Column{{Name: "n", Type: rowgroup.Bigint}}, nil, regular)
	check(err)
	b := rowgroup.NewBatch(s)
	for i := range n {
		*b.Int64s(0) = append(*b.Int64s(0), int64(i))
		for c := range columns {
			columns[c].next(b, 1+c, i)
		}
	}
	return b
}

type appender = func(b *rowgroup.Batch, col, i int)

func long(f func(i int) int64) appender {
	return func(b *rowgroup.Batch, col, i int) { *b.Int64s(col) = append(*b.Int64s(col), f(i)) }
}

func short(f func(i int) int32) appender {
	return func(b *rowgroup.Batch, col, i int) { *b.Int32s(col) = append(*b.Int32s(col), f(i)) }
}

func double(f func(i int) float64) appender {
	return func(b *rowgroup.Batch, col, i int) { *b.Float64s(col) = append(*b.Float64s(col), f(i)) }
}

func single(f func(i int) float32) appender {
	return func(b *rowgroup.Batch, col, i int) { *b.Float32s(col) = append(*b.Float32s(col), f(i)) }
}

func text(f func(i int) string) appender {
	return func(b *rowgroup.Batch, col, i int) { check(b.Bytes(col).Append([]byte(f(i)))) }
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// once yields one batch.
type once struct {
	b    *rowgroup.Batch
	done bool
}

func (o *once) Next(b *rowgroup.Batch) (bool, error) {
	if o.done {
		return false, nil
	}
	o.done = true
	b.Clear()
	return true, b.AppendParts(o.b, 0, o.b.Len(), 0, o.b.NumPartitions())
}

func (o *once) Close() error { return nil }

func write(path string, t table) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w, err := columnar.NewWriter(f, t.schema, t.opts...)
	if err != nil {
		return err
	}
	it := t.rows()
	defer func() { _ = it.Close() }()
	b := rowgroup.NewBatch(t.schema)
	for {
		more, err := it.Next(b)
		if err != nil {
			return err
		}
		if !more {
			return w.Close()
		}
		if err := w.Append(b); err != nil {
			return err
		}
	}
}

// dump reads path.csst and writes path.ndjson and path.hashes.
func dump(path string) (err error) {
	f, err := os.Open(path + ".csst")
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	r, err := columnar.Open(f, info.Size())
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	out, err := os.Create(path + ".ndjson")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	hashes, err := os.Create(path + ".hashes")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hashes.Close()) }()
	keys := bufio.NewWriter(hashes)
	d := textfmt.NewDumpWriter(out, r.Schema())
	for b, err := range r.All(context.Background(), rowgroup.ScanOptions{}) {
		if err != nil {
			return err
		}
		if err := d.Write(b); err != nil {
			return err
		}
		for p := range b.NumPartitions() {
			if !b.Partition(p).Continued {
				fmt.Fprintf(keys, "%s %016x\n", hex.EncodeToString(b.Key(p)), xxh3.Hash(b.Key(p)))
			}
		}
	}
	return errors.Join(d.Flush(), keys.Flush())
}
