package parquetfmt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/internal/rowdiff"
	"github.com/colsst/colsst/parquetfmt/internal/page"
	"github.com/colsst/colsst/rowgroup"
)

// schemaOf is a table of one partition in file order.
func schemaOf(t testing.TB, columns ...rowgroup.Column) *rowgroup.Schema {
	t.Helper()
	s, err := rowgroup.NewSchema(nil, nil, nil, columns)
	require.NoError(t, err)
	return s
}

// ofTexts is a batch of rows of texts, "-" for null.
func ofTexts(t testing.TB, s *rowgroup.Schema, rows ...string) *rowgroup.Batch {
	t.Helper()
	b := rowgroup.NewBatch(s)
	for i, row := range rows {
		for col, text := range strings.Split(row, "|") {
			var v []byte
			if text != "-" {
				var err error
				v, err = rowgroup.ParseText(nil, s.Column(col).Type, text)
				require.NoError(t, err)
			}
			require.NoError(t, b.PutValue(col, i, v, text != "-"))
		}
	}
	return b
}

func writeBatches(t testing.TB, s *rowgroup.Schema, batches []*rowgroup.Batch, opts ...Option) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := NewWriter(&file, s, opts...)
	require.NoError(t, err)
	for _, b := range batches {
		require.NoError(t, w.Append(b))
	}
	require.NoError(t, w.Close())
	require.NoError(t, w.Close())
	return file.Bytes()
}

// others are the values that parquet-go reads of a file, by column, null as nil.
func others(t testing.TB, file []byte) (columns [][]any) {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	columns = make([][]any, len(f.Schema().Columns()))
	for _, g := range f.RowGroups() {
		for i, c := range g.ColumnChunks() {
			pages := c.Pages()
			for {
				p, err := pages.ReadPage()
				if errors.Is(err, io.EOF) {
					break
				}
				require.NoError(t, err)
				values := make([]parquet.Value, p.NumValues())
				n, err := p.Values().ReadValues(values)
				if !errors.Is(err, io.EOF) {
					require.NoError(t, err)
				}
				require.Len(t, values, n)
				for _, v := range values {
					var x any
					if !v.IsNull() {
						switch v.Kind() {
						case parquet.Int64:
							x = v.Int64()
						case parquet.Int32:
							x = v.Int32()
						case parquet.Float:
							x = v.Float()
						case parquet.Double:
							x = v.Double()
						default:
							x = string(v.Bytes())
						}
					}
					columns[i] = append(columns[i], x)
				}
				parquet.Release(p)
			}
			require.NoError(t, pages.Close())
		}
	}
	return columns
}

// T21: BYTE_STREAM_SPLIT with nulls and several pages.
func TestT21(t *testing.T) {
	s := schemaOf(t, rowgroup.Column{Name: "f", Type: rowgroup.Float}, rowgroup.Column{Name: "d", Type: rowgroup.Double}, rowgroup.Column{Name: "n", Type: rowgroup.Bigint})
	b := rowgroup.NewBatch(s)
	for i := range 3000 {
		ok := i%10 != 5
		require.NoError(t, b.PutValue(0, i, rowgroup.AppendFloat32(nil, float32(i)/3), ok))
		require.NoError(t, b.PutValue(1, i, rowgroup.AppendFloat64(nil, float64(i)/7), ok))
		require.NoError(t, b.PutValue(2, i, rowgroup.AppendInt(nil, rowgroup.Bigint, int64(i*i)), ok))
	}
	for version := 1; version <= 2; version++ {
		file := writeBatches(t, s, []*rowgroup.Batch{b}, WithPageVersion(version), WithPages(700, 1<<20), WithEncoding("*", ByteStreamSplit))
		got := others(t, file)
		for i := range 3000 {
			if i%10 == 5 {
				require.Equal(t, []any{nil, nil, nil}, []any{got[0][i], got[1][i], got[2][i]})
				continue
			}
			require.Equal(t, []any{float32(i) / 3, float64(i) / 7, int64(i * i)}, []any{got[0][i], got[1][i], got[2][i]})
		}
		r := openBytes(t, file)
		require.EqualValues(t, map[string]int64{"BYTE_STREAM_SPLIT": 5}, r.Describe().Columns[2].Encodings)
		requireEqualBatches(t, s, r, b)
	}
}

func requireEqualBatches(t testing.TB, s *rowgroup.Schema, r *Reader, batches ...*rowgroup.Batch) {
	t.Helper()
	require.NoError(t, r.Verify(context.Background(), VerifyValues, nil))
	requireEqualRows(t, rowdiff.Side{Schema: s, Rows: &batchIter{batches}}, scanOf(r), true)
}

type batchIter struct{ batches []*rowgroup.Batch }

func (it *batchIter) Next(b *rowgroup.Batch) (bool, error) {
	if len(it.batches) == 0 {
		return false, nil
	}
	next := it.batches[0].Clone()
	b.Swap(next)
	it.batches = it.batches[1:]
	return true, nil
}

func (it *batchIter) Close() error { return nil }

// T22: NaNs are in no statistics, a least zero is -0.0 and a greatest one 0.0.
func TestT22(t *testing.T) {
	nan := "NaN"
	for _, x := range []struct {
		rows     []string
		min, max float64
		none     bool
	}{
		{rows: []string{nan, "1", "2"}, min: 1, max: 2}, {rows: []string{"1", nan, "2"}, min: 1, max: 2},
		{rows: []string{nan, nan}, none: true}, {rows: []string{"3", nan, "3"}, min: 3, max: 3},
		{rows: []string{"0", "0"}, min: math.Copysign(0, -1), max: 0}, {rows: []string{"-0", "-0"}, min: math.Copysign(0, -1), max: 0},
	} {
		s := schemaOf(t, rowgroup.Column{Name: "d", Type: rowgroup.Double}, rowgroup.Column{Name: "f", Type: rowgroup.Float})
		var rows []string
		for _, row := range x.rows {
			rows = append(rows, row+"|"+row)
		}
		b := ofTexts(t, s, rows...)
		r := openBytes(t, writeBatches(t, s, []*rowgroup.Batch{b}))
		for i, bits := range []int{64, 32} {
			c := &r.meta.RowGroups[0].Columns[i]
			st := &c.MetaData.Statistics
			index, err := r.columnIndex(c)
			require.NoError(t, err)
			if x.none {
				require.Nil(t, st.MinValue)
				require.Nil(t, st.MaxValue)
				require.Nil(t, index)
				continue
			}
			want := func(v float64) []byte {
				n := math.Float64bits(v)
				if bits == 32 {
					n = uint64(math.Float32bits(float32(v)))
				}
				var b []byte
				for range bits / 8 {
					b = append(b, byte(n))
					n >>= 8
				}
				return b
			}
			require.Equal(t, want(x.min), st.MinValue)
			require.Equal(t, want(x.max), st.MaxValue)
			require.Equal(t, want(x.min), index.MinValues[0])
			require.Equal(t, want(x.max), index.MaxValues[0])
		}
		requireEqualBatches(t, s, r, b)
	}
}

// T23: pruning loses no NaN.
func TestT23(t *testing.T) {
	s := schemaOf(t, rowgroup.Column{Name: "d", Type: rowgroup.Double})
	b := ofTexts(t, s, "3", "NaN", "3")
	r := openBytes(t, writeBatches(t, s, []*rowgroup.Batch{b}))
	over := rowgroup.ScanOptions{Within: []rowgroup.ValueRange{{Column: 0, Min: rowgroup.AppendFloat64(nil, 100)}}}
	require.EqualValues(t, 3, countRows(t, r.Scan(context.Background(), over)))
}

func countRows(t testing.TB, it rowgroup.Iter) (n int) {
	t.Helper()
	for {
		b := rowgroup.NewBatch(it.(*scan).f.schema)
		ok, err := it.Next(b)
		require.NoError(t, err)
		if !ok {
			require.NoError(t, it.Close())
			return n
		}
		n += b.Len()
	}
}

// T24: a dictionary of one value has indexes of no bits, whose run has a header.
func TestT24(t *testing.T) {
	s := schemaOf(t, rowgroup.Column{Name: "s", Type: rowgroup.Text})
	for _, every := range []int{0, 3} {
		var rows []string
		for i := range 1000 {
			text := "a"
			if every > 0 && i%every == 0 {
				text = "-"
			}
			rows = append(rows, text)
		}
		b := ofTexts(t, s, rows...)
		file := writeBatches(t, s, []*rowgroup.Batch{b}, WithEncoding("s", Dictionary))
		for i, v := range others(t, file)[0] {
			if rows[i] == "-" {
				require.Nil(t, v)
			} else {
				require.Equal(t, "a", v)
			}
		}
		r := openBytes(t, file)
		require.Contains(t, r.Describe().Columns[0].Encodings, "RLE_DICTIONARY")
		requireEqualBatches(t, s, r, b)
	}
}

// T25: a row group whose dictionary grows too large does without, and the next
// begins anew.
func TestT25(t *testing.T) {
	s := schemaOf(t, rowgroup.Column{Name: "s", Type: rowgroup.Text})
	var rows []string
	for i := range 3000 {
		text := fmt.Sprintf("%020d", i)
		if i >= 2000 {
			text = fmt.Sprint(i % 5)
		}
		if i%7 == 0 {
			text = "-"
		}
		rows = append(rows, text)
	}
	b := ofTexts(t, s, rows...)
	small := func(o *writeOptions) error { o.dictionaryBytes = 128; return nil }
	file := writeBatches(t, s, []*rowgroup.Batch{b}, WithEncoding("s", Dictionary), WithRowGroups(1000, 1<<20), WithPages(1000, 256), small)
	got := others(t, file)[0]
	for i, v := range got {
		if rows[i] == "-" {
			require.Nil(t, v)
		} else {
			require.Equal(t, rows[i], v)
		}
	}
	r := openBytes(t, file)
	require.Len(t, r.meta.RowGroups, 3)
	require.Contains(t, r.meta.RowGroups[2].Columns[0].MetaData.Encoding, format.RLEDictionary)
	require.NotContains(t, r.meta.RowGroups[1].Columns[0].MetaData.Encoding, format.RLEDictionary)
	requireEqualBatches(t, s, r, b)
}

// T26: bounds are copies of their own.
func TestT26(t *testing.T) {
	s := schemaOf(t, rowgroup.Column{Name: "s", Type: rowgroup.Text})
	b := ofTexts(t, s, "Solo", "Skywalker", "Skywalker")
	r := openBytes(t, writeBatches(t, s, []*rowgroup.Batch{b}, WithPages(1, 1<<20)))
	c := &r.meta.RowGroups[0].Columns[0]
	require.Equal(t, "Skywalker", string(c.MetaData.Statistics.MinValue))
	require.Equal(t, "Solo", string(c.MetaData.Statistics.MaxValue))
	index, err := r.columnIndex(c)
	require.NoError(t, err)
	require.Equal(t, "Solo Skywalker Skywalker", string(bytes.Join(index.MinValues, []byte(" "))))
	require.Equal(t, format.Descending, index.BoundaryOrder)
}

// T27: pages are cut by their bytes, and one that is too large is an error.
func TestT27(t *testing.T) {
	s := schemaOf(t, rowgroup.Column{Name: "s", Type: rowgroup.Text})
	b := rowgroup.NewBatch(s)
	for i := range 40 {
		require.NoError(t, b.PutValue(0, i, bytes.Repeat([]byte{'a' + byte(i%26)}, 100_000), true))
	}
	r := openBytes(t, writeBatches(t, s, []*rowgroup.Batch{b}, WithPages(1000, 1<<20), WithEncoding("s", Plain)))
	require.GreaterOrEqual(t, r.Describe().Columns[0].Pages, int64(4))
	requireEqualBatches(t, s, r, b)
	require.Error(t, checkPage(1<<30))
}

// T28: timestamps are UTC in their unit, whatever the zone of the process.
func TestT28(t *testing.T) {
	for _, unit := range []rowgroup.Unit{rowgroup.Millis, rowgroup.Micros, rowgroup.Nanos} {
		s := schemaOf(t, rowgroup.Column{Name: "t", Type: rowgroup.Timestamp(unit)})
		b := ofTexts(t, s, "2024-03-31T00:30:00Z", "2024-03-31T01:30:00Z")
		var files [][]byte
		for _, zone := range []string{"Europe/Berlin", "UTC"} {
			t.Setenv("TZ", zone)
			files = append(files, writeBatches(t, s, []*rowgroup.Batch{b}))
		}
		require.Equal(t, files[0], files[1])
		r := openBytes(t, files[0])
		l := r.leaves[0].logical.(*format.TimestampType)
		require.True(t, l.IsAdjustedToUTC)
		requireEqualBatches(t, s, r, b)
		v := others(t, files[0])[0]
		by := map[rowgroup.Unit]int64{rowgroup.Millis: 1e3, rowgroup.Micros: 1e6, rowgroup.Nanos: 1e9}[unit]
		require.Equal(t, 1711845000*by, v[0])
	}
}

// T29: no rows, and row groups that are full to the last row.
func TestT29(t *testing.T) {
	s := schemaOf(t, rowgroup.Column{Name: "n", Type: rowgroup.Int})
	for groups := range 3 {
		var rows []string
		for i := range 10 * groups {
			rows = append(rows, fmt.Sprint(i))
		}
		var batches []*rowgroup.Batch
		if groups > 0 {
			batches = append(batches, ofTexts(t, s, rows...))
		}
		file := writeBatches(t, s, batches, WithRowGroups(10, 1<<20))
		r := openBytes(t, file)
		require.Len(t, r.meta.RowGroups, groups)
		require.EqualValues(t, 10*groups, r.Rows())
		require.Len(t, others(t, file)[0], 10*groups)
		require.True(t, s.Equal(r.Schema()))
	}
}

// T59: text that is no UTF-8 is an error that names row and column, or replaced;
// a lossless file keeps it beside.
func TestT59(t *testing.T) {
	s := schemaOf(t, rowgroup.Column{Name: "n", Type: rowgroup.Int}, rowgroup.Column{Name: "s", Type: rowgroup.Text})
	b := rowgroup.NewBatch(s)
	texts := []string{"\xff", "\xc3\x28", "\xe2\x82\x61", "", "\x00", "a\x00", "\xf0\x28\x8c\xbc", "\xed\xa0\x80", "ok"}
	for i, text := range texts {
		require.NoError(t, b.PutValue(0, i, rowgroup.AppendInt(nil, rowgroup.Int, int64(i)), true))
		require.NoError(t, b.PutValue(1, i, []byte(text), true))
	}
	w, err := NewWriter(io.Discard, s)
	require.NoError(t, err)
	var bad *ValueError
	require.ErrorAs(t, w.Append(b), &bad)
	require.Equal(t, "s", bad.Column)
	require.Zero(t, bad.Row)
	require.Error(t, w.Close())

	file := writeBatches(t, s, []*rowgroup.Batch{b}, WithReplacement())
	got := others(t, file)[1]
	require.Equal(t, "\ufffd", got[0])
	require.Equal(t, "\ufffd(", got[1])
	require.Equal(t, []any{"", "\x00", "a\x00"}, got[3:6])
	require.Equal(t, "ok", got[8])

	for _, opts := range [][]Option{{WithLossless()}, {WithLossless(), WithReplacement()}} {
		requireEqualBatches(t, s, openBytes(t, writeBatches(t, s, []*rowgroup.Batch{b}, opts...)), b)
	}
}

// Values outside of a logical type.
func TestOutsideOfType(t *testing.T) {
	for _, x := range []struct {
		typ   rowgroup.Type
		value []byte
		opts  []Option
		ok    bool
	}{
		{typ: rowgroup.Time, value: rowgroup.AppendInt(nil, rowgroup.Time, nanosOfDay-1), ok: true},
		{typ: rowgroup.Time, value: rowgroup.AppendInt(nil, rowgroup.Time, nanosOfDay)},
		{typ: rowgroup.Time, value: rowgroup.AppendInt(nil, rowgroup.Time, -1)},
		{typ: rowgroup.Timestamp(rowgroup.Seconds), value: rowgroup.AppendInt(nil, rowgroup.Bigint, math.MaxInt64/1000), ok: true},
		{typ: rowgroup.Timestamp(rowgroup.Seconds), value: rowgroup.AppendInt(nil, rowgroup.Bigint, math.MaxInt64)},
		{typ: rowgroup.Boolean, value: []byte{2}},
		{typ: rowgroup.Decimal, value: []byte{0, 0, 0, 2, 0x27, 0x0f}, opts: []Option{WithDecimal("v", 4, 2)}, ok: true},
		{typ: rowgroup.Decimal, value: []byte{0, 0, 0, 2, 0x27, 0x10}, opts: []Option{WithDecimal("v", 4, 2)}},
		{typ: rowgroup.Decimal, value: []byte{0, 0, 0, 3, 1}, opts: []Option{WithDecimal("*", 4, 2)}},
		{typ: rowgroup.Decimal, value: []byte{0x80, 0, 0, 0, 1}, opts: []Option{WithDecimal("v", 38, 2)}},
		{typ: rowgroup.Decimal, value: []byte{0x7f, 0xff, 0xff, 0xff, 1}, opts: []Option{WithDecimal("v", 38, 2)}},
	} {
		s := schemaOf(t, rowgroup.Column{Name: "n", Type: rowgroup.Int}, rowgroup.Column{Name: "v", Type: x.typ})
		b := rowgroup.NewBatch(s)
		require.NoError(t, b.PutValue(0, 0, rowgroup.AppendInt(nil, rowgroup.Int, 1), true))
		require.NoError(t, b.PutValue(1, 0, nil, false))
		require.NoError(t, b.PutValue(0, 1, rowgroup.AppendInt(nil, rowgroup.Int, 2), true))
		require.NoError(t, b.PutValue(1, 1, x.value, true))
		w, err := NewWriter(io.Discard, s, x.opts...)
		require.NoError(t, err)
		err = w.Append(b)
		var bad *ValueError
		if x.ok {
			require.NoError(t, err)
		} else {
			require.ErrorAs(t, err, &bad, "%s %x", x.typ, x.value)
			require.Equal(t, "v", bad.Column)
			require.EqualValues(t, 1, bad.Row)
		}
		requireEqualBatches(t, s, openBytes(t, writeBatches(t, s, []*rowgroup.Batch{b}, append(x.opts, WithLossless())...)), b)
	}
}

func TestTooManyRowGroups(t *testing.T) {
	s := schemaOf(t, rowgroup.Column{Name: "n", Type: rowgroup.Int})
	b := rowgroup.NewBatch(s)
	*b.Int32s(0) = make([]int32, MaxRowGroups)
	w, err := NewWriter(io.Discard, s, WithRowGroups(1, 1<<20), WithCompression(Uncompressed))
	require.NoError(t, err)
	require.NoError(t, w.Append(b))
	*b.Int32s(0) = make([]int32, 1)
	require.ErrorIs(t, w.Append(b), ErrTooManyRowGroups)
	require.ErrorIs(t, w.Close(), ErrTooManyRowGroups)
}

// damaged is a small file of all kinds of columns.
func damaged(t testing.TB, opts ...Option) []byte {
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "k", Type: rowgroup.Text}}, []rowgroup.Column{{Name: "c", Type: rowgroup.Int}}, nil,
		[]rowgroup.Column{{Name: "d", Type: rowgroup.Double}, {Name: "s", Type: rowgroup.Text},
			{Name: "l", Type: rowgroup.Type{Kind: rowgroup.KindFrozen, Args: []rowgroup.Type{{Kind: rowgroup.KindList, Args: []rowgroup.Type{rowgroup.Int}}}}}})
	require.NoError(t, err)
	b := rowgroup.NewBatch(s)
	for p := range 3 {
		b.BeginPartition([]byte{'a' + byte(p)})
		for i := range 12 {
			at := b.Len()
			require.NoError(t, b.PutValue(1, at, rowgroup.AppendInt(nil, rowgroup.Int, int64(i)), true))
			require.NoError(t, b.PutValue(2, at, rowgroup.AppendFloat64(nil, float64(i)/4), i%5 > 0))
			require.NoError(t, b.PutValue(3, at, []byte(fmt.Sprint("text", i%3)), true))
			require.NoError(t, b.PutValue(4, at, []byte{0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, byte(i)}, i%4 > 0))
		}
	}
	return writeBatches(t, s, []*rowgroup.Batch{b}, opts...)
}

// A file that is cut, or has another byte anywhere, is an error, and where the
// pages lie never other rows.
func TestDamagedFiles(t *testing.T) {
	for i, opts := range [][]Option{
		{WithRowGroups(20, 1<<20)},
		{WithLossless(), WithPages(7, 1<<20), WithPageVersion(1)},
		{WithCompression(Uncompressed), WithRowMetadata()},
	} {
		file := damaged(t, opts...)
		read := func(file []byte) (rows [][]string, err error) {
			r, err := Open(bytes.NewReader(file), int64(len(file)))
			if err != nil {
				return nil, err
			}
			it := r.Scan(context.Background(), rowgroup.ScanOptions{})
			defer func() { require.NoError(t, it.Close()) }()
			b := rowgroup.NewBatch(r.Schema())
			for {
				ok, err := it.Next(b)
				if err != nil || !ok {
					return rows, err
				}
				require.NoError(t, b.Check())
				for i := range b.Len() {
					row := []string{}
					for col := 1; col < r.Schema().NumColumns(); col++ {
						v, ok := b.AppendValue(nil, col, i)
						row = append(row, fmt.Sprint(v, ok))
					}
					rows = append(rows, row)
				}
			}
		}
		want, err := read(file)
		require.NoError(t, err)
		require.Len(t, want, 36)
		for n := 0; n < len(file); n += 1 + len(file)/500 {
			_, err := read(file[:n])
			require.Error(t, err, "cut at %d", n)
		}
		r := openBytes(t, file)
		pages := r.size - r.footer - trailerLen
		for at := 0; at < len(file); at += 1 + len(file)/3000 {
			bad := slices.Clone(file)
			bad[at] ^= []byte{1, 0x80, 0xff}[at%3]
			got, err := read(bad)
			if err != nil {
				require.True(t, errors.Is(err, encoding.ErrCorrupt) || errors.Is(err, encoding.ErrUnsupported) || errors.As(err, new(*ValueError)), "byte %d: %v", at, err)
			} else if int64(at) < pages && !equalRows(want, got) {
				t.Errorf("options %d: byte %d of %d: other rows", i, at, pages)
			}
		}
	}
}

func equalRows(a, b [][]string) bool {
	return slices.EqualFunc(a, b, func(x, y []string) bool { return slices.Equal(x, y) })
}

// Keys in which bytes are replaced come in the order of those that they were,
// so that no sorting columns say otherwise.
func TestReplacedKeysAreNotSorted(t *testing.T) {
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "k", Type: rowgroup.Text}}, []rowgroup.Column{{Name: "c", Type: rowgroup.Text}}, nil, nil)
	require.NoError(t, err)
	b := rowgroup.NewBatch(s)
	for i, key := range []string{"\U00010000", "\xff"} { // the second becomes U+FFFD, which is less
		b.BeginPartition([]byte(key))
		require.NoError(t, b.PutValue(1, i, []byte("c"), true))
		b.SetLen(i + 1)
	}
	for replace, want := range map[bool]int{false: 2, true: 0} {
		opts, batches := []Option{WithReplacement()}, []*rowgroup.Batch{b}
		if !replace {
			opts, batches = nil, nil
			ok := rowgroup.NewBatch(s)
			ok.BeginPartition([]byte("k"))
			require.NoError(t, ok.PutValue(1, 0, []byte("c"), true))
			ok.SetLen(1)
			batches = append(batches, ok)
		}
		r := openBytes(t, writeBatches(t, s, batches, opts...))
		require.Len(t, r.meta.RowGroups[0].SortingColumns, want)
	}
}

// A key of a file of others that is not UTF-8 is found behind a Bloom filter.
func TestFilterOfInvalidUTF8(t *testing.T) {
	type row struct {
		K string `parquet:"k"`
	}
	var file bytes.Buffer
	w := parquet.NewGenericWriter[row](&file, parquet.BloomFilters(parquet.SplitBlockFilter(10, "k")))
	_, err := w.Write([]row{{"a"}, {"\xff"}, {"z"}})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	r := openBytes(t, file.Bytes(), WithPartitionKey("k"))
	for key, want := range map[string]error{"a": nil, "\xff": nil, "\xfe": rowgroup.ErrNotFound} {
		_, err := r.Partition(context.Background(), []byte(key))
		require.ErrorIs(t, err, want, "%q", key)
	}
}

// What is read of one row is bounded, however many pages go on with it.
func TestRowOfTooManyValues(t *testing.T) {
	n := &node{name: "l", maxDef: 1, maxRep: 1}
	c := chunkReader{node: n, values: 1 << 40}
	e := entries{defs: make([]uint8, page.MaxValues+1), reps: make([]uint8, page.MaxValues+1)}
	for i := range e.reps[1:] {
		e.reps[1+i] = 1
	}
	require.ErrorIs(t, c.fill(&e, 1), encoding.ErrUnsupported)
}

// Row groups of any size lose no row, wherever a partition's first rows fall.
func TestRowGroupsWithinPartitions(t *testing.T) {
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "k", Type: rowgroup.Int}}, []rowgroup.Column{{Name: "c", Type: rowgroup.Int}},
		[]rowgroup.Column{{Name: "s", Type: rowgroup.Blob}}, nil)
	require.NoError(t, err)
	b := rowgroup.NewBatch(s)
	const rows = 10
	for p := range 3 {
		h := b.BeginPartition([]byte{0, 0, 0, byte(p)})
		h.Static, h.Deletion = rowgroup.StaticEmpty, rowgroup.Deletion{MarkedForDeleteAt: 5, LocalDeletionTime: 6}
		require.NoError(t, b.PutValue(2, p, nil, false))
		for i := range rows {
			*b.Int32s(1) = append(*b.Int32s(1), int32(i))
		}
		b.SetLen((p + 1) * rows)
	}
	for size := range 3*(rows+2) + 1 {
		r := openBytes(t, writeBatches(t, s, []*rowgroup.Batch{b}, WithLossless(), WithRowGroups(size+1, 1<<20)))
		require.EqualValues(t, 3*(rows+2), r.Rows(), "row groups of %d", size+1)
		requireEqualRows(t, rowdiff.Side{Schema: s, Rows: &onceIter{b: b.Clone()}}, scanOf(r), true)
	}
}

// Static values stand in every row, but not all at once in memory.
func TestLargeStatics(t *testing.T) {
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "k", Type: rowgroup.Int}}, []rowgroup.Column{{Name: "c", Type: rowgroup.Int}},
		[]rowgroup.Column{{Name: "s", Type: rowgroup.Blob}}, nil)
	require.NoError(t, err)
	b := rowgroup.NewBatch(s)
	b.BeginPartition([]byte{0, 0, 0, 1}).Static = rowgroup.StaticFull
	require.NoError(t, b.PutValue(2, 0, make([]byte, 1<<20), true))
	for i := range 40 {
		*b.Int32s(1) = append(*b.Int32s(1), int32(i))
	}
	b.SetLen(40)
	r := openBytes(t, writeBatches(t, s, []*rowgroup.Batch{b}, WithRowGroups(1000, 20<<20)))
	require.EqualValues(t, 40, r.Rows())
	require.Len(t, r.meta.RowGroups, 2) // cut between: 32 rows and 8
	requireEqualRows(t, rowdiff.Side{Schema: s, Rows: &onceIter{b: b.Clone()}}, scanOf(r), false)
}
