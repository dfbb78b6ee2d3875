package textfmt

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

// options are those with which a file of the real data is read.
func (f *realFile) options(t *testing.T) CSVOptions {
	o := CSVOptions{Header: f.Header, Separator: f.Sep[0], TrailingSeparator: f.Trailing, Null: f.Null, Names: f.Columns}
	o.AnyOrder = true
	o.Types = map[string]rowgroup.Type{}
	for _, c := range f.Cols {
		if typ, ok := map[string]rowgroup.Type{"int": rowgroup.Bigint, "float": rowgroup.Double, "text": rowgroup.Text}[c[1]]; ok {
			o.Types[c[0]] = typ
		}
	}
	ts := f.TS
	if ts == nil {
		return o
	}
	name := ts.Columns[0]
	if len(ts.Columns) > 1 {
		name = "joined time"
		o.Joins = []Join{{Name: name, Columns: ts.Columns, Keep: true}}
		for _, c := range ts.Columns {
			if _, given := o.Types[c]; !given {
				o.Types[c] = rowgroup.Text
			}
		}
	}
	o.Time = &TimeSpec{Column: name}
	if ts.Unit != "" {
		o.Time.Unit, o.Time.UnitSet = parseUnit(ts.Unit)
	}
	text := ts.Layout
	switch text {
	case "unix":
		return o
	case "float_s":
		text = "unix"
	}
	l, err := ParseLayout(text)
	require.NoError(t, err, f.Path)
	o.Layouts = map[string]*Layout{name: l}
	o.ShiftSkipped = true // one file has an hour that was skipped
	if o.TZ, err = time.LoadLocation(ts.TZ); err != nil {
		t.Skip("no time zones")
	}
	return o
}

// TestRealFiles reads every CSV file of the real data as its manifest says,
// writes it as CSV and NDJSON, and reads both again: the same values bit for
// bit. Times agree with the manifest and, cell by cell, with package time.
func TestRealFiles(t *testing.T) {
	files := realFiles(t)
	require.Len(t, files, 168)
	for _, f := range files {
		if testing.Short() && f.RawBytes > 256<<10 {
			continue
		}
		data := f.read(t)
		o := f.options(t)
		c, err := NewCSVReader(bytes.NewReader(data), f.Path, o)
		require.NoError(t, err)
		s := c.Schema()
		var asCSV, asJSON bytes.Buffer
		csv, err := NewCSVWriter(&asCSV, s, CSVWriteOptions{Null: f.Null[len(f.Null)-1]})
		require.NoError(t, err)
		ndjson, err := NewNDJSONWriter(&asJSON, s, NDJSONWriteOptions{OmitNull: true})
		require.NoError(t, err)
		var batches []*rowgroup.Batch
		for {
			b := rowgroup.NewBatch(s)
			more, err := c.Next(b)
			require.NoError(t, err)
			if !more {
				break
			}
			if len(f.Cols) > 1 || f.TS != nil {
				require.NoError(t, csv.Write(b))
			}
			require.NoError(t, ndjson.Write(b))
			batches = append(batches, b)
		}
		require.NoError(t, csv.Flush())
		require.NoError(t, ndjson.Flush())
		require.Equal(t, f.Rows, ndjson.Rows(), f.Path)
		f.checkTimes(t, data, batches, o)
		o2 := CSVOptions{Header: true, Null: f.Null[len(f.Null)-1:]}
		o2.AnyOrder, o2.Schema = true, s
		if csv.Rows() > 0 {
			again, err := NewCSVReader(&asCSV, f.Path, o2)
			require.NoError(t, err)
			sameBatches(t, f.Path, batches, again)
		}
		again, err := NewNDJSONReader(&asJSON, f.Path, o2.TableOptions)
		require.NoError(t, err)
		sameBatches(t, f.Path, batches, again)
	}
}

// sameBatches compares rows that were read with those of a reader.
func sameBatches(t *testing.T, name string, want []*rowgroup.Batch, r *Reader) {
	got := rowgroup.NewBatch(r.Schema())
	at := 0 // in got
	var x, y []byte
	for _, w := range want {
		for i := range w.Len() {
			if at == got.Len() {
				more, err := r.Next(got)
				require.NoError(t, err)
				require.True(t, more, name)
				at = 0
			}
			for col := range r.Schema().NumColumns() {
				var there, thereToo bool
				x, there = w.AppendValue(x[:0], col, i)
				y, thereToo = got.AppendValue(y[:0], col, at)
				if there != thereToo || !bytes.Equal(x, y) {
					t.Fatal(name, r.Schema().Column(col).Name, i, x, y)
				}
			}
			at++
		}
	}
	require.Equal(t, at, got.Len())
	more, err := r.Next(got)
	require.NoError(t, err)
	require.False(t, more)
}

// checkTimes compares the times with those of the manifest and of package time.
func (f *realFile) checkTimes(t *testing.T, data []byte, batches []*rowgroup.Batch, o CSVOptions) {
	if f.TS == nil {
		return
	}
	s := batches[0].Schema()
	col := s.Lookup(o.Time.Column)
	nanos := func(b *rowgroup.Batch, i int) int64 {
		v, ok := convertUnit((*b.Int64s(col))[i], s.Column(col).Type.Unit, rowgroup.Nanos)
		require.True(t, ok)
		return v
	}
	last := batches[len(batches)-1]
	require.Equal(t, f.First, nanos(batches[0], 0), f.Path)
	require.Equal(t, f.Last, nanos(last, last.Len()-1), f.Path)
	if o.Layouts == nil || f.TS.Layout == "float_s" {
		return
	}
	scan, err := NewScanner(bytes.NewReader(data), f.Path, f.Sep[0])
	require.NoError(t, err)
	row, err := scan.Scan()
	require.NoError(t, err)
	var at []int
	for i := range row {
		for _, name := range f.TS.Columns {
			if f.Header && string(row[i].Text) == name || !f.Header && f.Cols[i][0] == name {
				at = append(at, i)
			}
		}
	}
	if f.Header {
		row, err = scan.Scan()
	}
	for _, b := range batches {
		for i := range b.Len() {
			require.NoError(t, err)
			text := ""
			for k, j := range at {
				if k > 0 {
					text += " "
				}
				text += string(row[j].Text)
			}
			want, err2 := time.ParseInLocation(f.TS.Layout, text, o.TZ)
			if back := want.Format(f.TS.Layout); o.TZ != time.UTC && back != text {
				// Skipped; package time makes it one of two.
				want = want.Add(time.Hour)
			}
			if err2 != nil || want.UnixNano() != nanos(b, i) {
				t.Fatal(f.Path, text, err2, want.UnixNano(), nanos(b, i))
			}
			row, err = scan.Scan()
		}
	}
}

// TestRealInference reads the files without being told anything but how
// records look: every time column that is in one of the common forms is one
// without a layout, the others are refused with a hint.
func TestRealInference(t *testing.T) {
	for _, f := range realFiles(t) {
		if f.TS == nil || len(f.TS.Columns) > 1 || testing.Short() && f.RawBytes > 256<<10 {
			continue
		}
		o := f.options(t)
		o.Types, o.Layouts = nil, nil
		o.Time.UnitSet = false
		c, err := NewCSVReader(bytes.NewReader(f.read(t)), f.Path, o)
		switch f.TS.Layout {
		case "unix", "20060102", "200601":
			require.ErrorContains(t, err, "holds integers: give their unit", f.Path)
		case "float_s":
			require.ErrorContains(t, err, "=unix", f.Path)
		case "02/01/2006 15:04:05", "02.01.2006 15:04:05", "01/02/2006 03:04:05 PM":
			require.ErrorContains(t, err, "is the day first or the month? give --layout", f.Path)
		default:
			require.NoError(t, err, f.Path)
			require.Equal(t, rowgroup.KindTimestamp, c.Schema().Columns(rowgroup.Clustering)[0].Type.Kind, f.Path)
		}
	}
}

// TestRealFloats writes the raw floats of the real data as CSV and reads them
// again.
func TestRealFloats(t *testing.T) {
	for _, f := range allRealFiles(t) {
		if f.Fmt == "csv" || testing.Short() {
			continue
		}
		data := f.read(t)
		typ, width := rowgroup.Double, 8
		if f.Fmt == "f32" {
			typ, width = rowgroup.Float, 4
		}
		s, err := rowgroup.NewSchema(nil, nil, nil, []rowgroup.Column{{Name: "value", Type: typ}})
		require.NoError(t, err)
		b := rowgroup.NewBatch(s)
		for i := 0; i+width <= len(data); i += width {
			if width == 8 {
				*b.Float64s(0) = append(*b.Float64s(0), math.Float64frombits(binary.LittleEndian.Uint64(data[i:])))
			} else {
				*b.Float32s(0) = append(*b.Float32s(0), math.Float32frombits(binary.LittleEndian.Uint32(data[i:])))
			}
		}
		require.EqualValues(t, f.Rows, b.Len(), f.Path)
		var text bytes.Buffer
		w, err := NewCSVWriter(&text, s, CSVWriteOptions{})
		require.NoError(t, err)
		require.NoError(t, w.Write(b))
		require.NoError(t, w.Flush())
		require.Zero(t, w.NaNPayloads())
		o := CSVOptions{Header: true}
		o.Schema = s
		r, err := NewCSVReader(&text, f.Path, o)
		require.NoError(t, err)
		sameBatches(t, f.Path, []*rowgroup.Batch{b}, r)
	}
}
