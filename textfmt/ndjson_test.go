package textfmt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/rowgroup"
)

// ndjsonTo reads NDJSON and writes it as CSV.
func ndjsonTo(t require.TestingT, text string, o TableOptions) (string, error) {
	r, err := NewNDJSONReader(strings.NewReader(text), "f.json", o)
	if err != nil {
		return "", err
	}
	return drainCSV(t, r)
}

// drainCSV is the CSV of a reader's rows in the order of its columns.
func drainCSV(t require.TestingT, r *Reader) (string, error) {
	defer r.Close()
	var out strings.Builder
	w, err := NewCSVWriter(&out, r.Schema(), CSVWriteOptions{Columns: r.SourceColumns(), Null: "-"})
	require.NoError(t, err)
	b := rowgroup.NewBatch(r.Schema())
	for {
		more, err := r.Next(b)
		if err != nil || !more {
			require.NoError(t, w.Flush())
			return out.String(), err
		}
		require.NoError(t, b.Check())
		require.NoError(t, w.Write(b))
	}
}

func TestNDJSON(t *testing.T) {
	for _, c := range []struct{ in, want, types string }{
		{`{"a":1,"b":"x"}` + "\n\n \r\n" + `{"b":"y","a":2}`, "a,b\n1,x\n2,y\n", "bigint text"},
		{"\xef\xbb\xbf" + `{"a":1}`, "a\n1\n", "bigint"},
		{`{"a":null}` + "\n" + `{"b":true}` + "\n{}\n", "a,b\n-,-\n-,true\n-,-\n", "text boolean"},
		{`{"a":9007199254740993}` + "\n" + `{"a":-0}`, "a\n9007199254740993\n-0\n", "text"}, // no double for both
		{`{"a":18446744073709551616}`, "a\n18446744073709551616\n", "varint"},
		{`{"a":1.50}` + "\n" + `{"a":"NaN"}` + "\n" + `{"a":-Infinity}`, "a\n1.5\nNaN\n-Inf\n", "double"},
		{`{"a":"5"}`, "a\n5\n", "text"},
		{`{"a":"true"}`, "a\ntrue\n", "text"},
		{`{"a":"2014-02-14T14:30:00.5Z"}`, "a\n2014-02-14T14:30:00.500Z\n", "timestamp(ms)"},
		{`{"a":{"b":1,"c":{"d":"x"}},"e":2}`, "a.b,a.c.d,e\n1,x,2\n", "bigint text bigint"},
		{`{"a.b":1}` + "\n" + `{"a":{"b":2}}`, "a.b\n1\n2\n", "bigint"},
		{`{"a":{}, "b" : 1 }`, "b\n1\n", "bigint"},
		{`{"a":"q\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\udcff\u0000"}`, "a\n\"q\"\"\\/\b\f\n\r\té😀\xff\x00\"\n", "text"},
		{"{\"a\":\"\xc3\x28\"}", "a\n\xc3\x28\n", "text"},
	} {
		r, err := NewNDJSONReader(strings.NewReader(c.in), "f.json", TableOptions{})
		require.NoError(t, err, c.in)
		got, err := drainCSV(t, r)
		require.NoError(t, err, c.in)
		require.Equal(t, c.want, got, c.in)
		require.Equal(t, c.types, types(r), c.in)
	}
}

func TestNDJSONErrors(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "f.json:1:1: expected a JSON object with members, found nothing"},
		{"{}", "f.json:1:1: expected a JSON object with members, found nothing"},
		{`[{"a":1}]`, `f.json:1:1: expected a JSON object, found "[{\"a\":1}]"; one array of objects becomes NDJSON with jq -c '.[]'`},
		{`{"a":1} x`, `f.json:1:9: expected the end of the line after an object, found "x"`},
		{"{}\n" + `{"a":1,}`, `f.json:2:8: expected a string in quotes, found "}"`},
		{`{"a"1}`, `f.json:1:5: expected a colon, found "1}"`},
		{`{"a":}`, `f.json:1:6: expected a JSON value, found "}"`},
		{`{"a":`, `f.json:1:6: expected a value, found the end of the line`},
		{`{"a":1`, `f.json:1:7: expected a comma or the end of the object, found the end of the line`},
		{`{"a":01}`, `f.json:1:6: expected a JSON value, found "01}"`},
		{`{"a":+1}`, `f.json:1:6: expected a JSON value, found "+1}"`},
		{`{"a":1.}`, `f.json:1:6: expected a JSON value, found "1.}"`},
		{`{"a":True}`, `f.json:1:6: expected a JSON value, found "True}"`},
		{`{"a":"x`, `f.json:1:6: expected a string that ends on its line, found "\"x"`},
		{"{\"a\":\"\x01\"}", `f.json:1:7: expected no control character, found "\x01\"}"`},
		{`{"a":"\x"}`, `f.json:1:7: expected an escape, found "\\x\"}"`},
		{`{"a":"\ud83d"}`, `f.json:1:7: expected a pair of surrogates, found "\\ud83d\"}"`},
		{`{"a":"\udc00"}`, `f.json:1:7: expected a pair of surrogates, found "\\udc00\"}"`},
		{`{"a":1,"a":2}`, `f.json:1:8: column "a": expected one member of that name, found a second one`},
		{`{"a":{"b":1},"a.b":2}`, `f.json:1:14: column "a.b": expected one member of that name, found a second one`},
		{`{"a":[1]}`, `f.json:1:6: column "a": expected no array, found "[1]}"; give --type a=text to keep it as JSON`},
		{strings.Repeat(`{"a":`, 70) + "1", `expected objects nested at most 64 deep`},
		{`{"":1}`, "f.json: column 1 has no name"},
	} {
		_, err := ndjsonTo(t, c.in, TableOptions{})
		require.ErrorContains(t, err, c.want, c.in)
	}
	// Behind the sample.
	many := strings.Repeat(`{"a":1}`+"\n", sampleRows)
	_, err := ndjsonTo(t, many+`{"b":1}`, TableOptions{})
	require.EqualError(t, err, `f.json:65537:2: expected a member that is a column, found "b"; it is not among the first rows; give --type b=TYPE`)
	_, err = ndjsonTo(t, many+`{"a":"x"}`, TableOptions{})
	require.EqualError(t, err, `f.json:65537:6: column "a": expected bigint, found "x"; give --type a=text, or --null if it stands for no value`)
	o := TableOptions{Types: map[string]rowgroup.Type{"b": rowgroup.Int}}
	out, err := ndjsonTo(t, many+`{"b":1}`, o)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(out, "\n1,-\n-,1\n"))
}

func TestNDJSONOptions(t *testing.T) {
	// Given types: nested values that stay JSON, numbers in strings.
	o := TableOptions{Types: map[string]rowgroup.Type{"a": rowgroup.Text, "b": rowgroup.Bigint}}
	out, err := ndjsonTo(t, `{"a":{"x":[1, {"y" : "}"}]} ,"b":"12345678901234567"}`+"\n"+`{"a":[],"b":null}`+"\n"+`{"a":"s"}`, o)
	require.NoError(t, err)
	require.Equal(t, "a,b\n\"{\"\"x\"\":[1, {\"\"y\"\" : \"\"}\"\"}]}\",12345678901234567\n[],-\ns,-\n", out)
	for _, bad := range []string{`{"a":[1,]}`, `{"a":[1}`, `{"a":{"x":}}`, `{"a":{"x"}}`, `{"a":{1:2}}`, `{"a":[`, `{"a":[1`, `{"a":` + strings.Repeat("[", 100)} {
		_, err := ndjsonTo(t, bad, o)
		var e *SyntaxError
		require.ErrorAs(t, err, &e, bad)
	}
	// A schema and rows that are skipped.
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "h", Type: rowgroup.Text}}, []rowgroup.Column{{Name: "t", Type: rowgroup.Timestamp(rowgroup.Millis)}}, nil,
		[]rowgroup.Column{{Name: "v", Type: rowgroup.Double}})
	require.NoError(t, err)
	var lines []string
	o = TableOptions{Schema: s, OnError: func(e *SyntaxError) bool {
		lines = append(lines, fmt.Sprintf("%d:%d", e.Line, e.Column))
		return true
	}}
	out, err = ndjsonTo(t, `{"t":1000,"h":"a","v":1}`+"\nx\n"+`{"t":2000}`+"\n"+`{"t":2000,"h":"a","w":1}`+"\n"+`{"t":2500,"h":"b"}`, o)
	require.NoError(t, err)
	require.Equal(t, "h,t,v\na,1970-01-01T00:00:01.000Z,1\nb,1970-01-01T00:00:02.500Z,-\n", out)
	require.Equal(t, []string{"2:1", "3:1", "4:19"}, lines)
}

func TestNDJSONWriter(t *testing.T) {
	b := history(t)
	var out strings.Builder
	w, err := NewNDJSONWriter(&out, b.Schema(), NDJSONWriteOptions{OmitNull: true, RowMetadata: true})
	require.NoError(t, err)
	require.NoError(t, w.Write(b))
	require.NoError(t, w.Flush())
	require.EqualValues(t, 6, w.Rows())
	require.EqualValues(t, 3, w.NaNPayloads()) // math.NaN has a payload, too
	require.Equal(t, `{"host":"a","id":1,"time":"2014-02-14T14:30:00.000Z","seq":1,"owner":"me","value":0.132,"note":"plain","small":0.1,"$write_time":1}
{"host":"a","id":1,"time":"2014-02-14T14:30:00.000Z","seq":2,"owner":"me","value":"NaN","note":"say \"hi\"\n\u0001\\","small":"-Inf","$write_time":2,"$ttl":60,"$expiry":1392388260}
{"host":"a","id":1,"time":"2014-02-14T14:30:01.000Z","seq":9223372036854775807,"owner":"me","value":"NaN","small":"NaN"}
`, strings.Join(strings.SplitAfter(out.String(), "\n")[:3], ""))
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		require.True(t, json.Valid([]byte(line)), line)
	}
	// Metadata comes back by its names, with a schema and without.
	s, err := rowgroup.NewSchema(nil, nil, nil, []rowgroup.Column{{Name: "v", Type: rowgroup.Int}})
	require.NoError(t, err)
	for _, schema := range []*rowgroup.Schema{nil, s} {
		text := `{"v":1,"$write_time":5,"$ttl":60,"$expiry":70}` + "\n" + `{"v":2,"$write_time":6}` + "\n"
		r, err := NewNDJSONReader(strings.NewReader(text), "", TableOptions{Schema: schema})
		require.NoError(t, err)
		require.True(t, r.Metadata())
		b := rowgroup.NewBatch(r.Schema())
		_, err = r.Next(b)
		require.NoError(t, err)
		out.Reset()
		w, err := NewNDJSONWriter(&out, r.Schema(), NDJSONWriteOptions{OmitNull: true, RowMetadata: true})
		require.NoError(t, err)
		require.NoError(t, w.Write(b))
		require.NoError(t, w.Flush())
		require.Equal(t, text, out.String())
	}
	_, err = NewNDJSONWriter(io.Discard, b.Schema(), NDJSONWriteOptions{Columns: []string{"x"}})
	require.EqualError(t, err, `there is no column "x"`)
	_, err = NewNDJSONWriter(io.Discard, b.Schema(), NDJSONWriteOptions{Columns: []string{}})
	require.Error(t, err)
}

// everyClass is a schema with a column of each class, and some others.
func everyClass(t require.TestingT) *rowgroup.Schema {
	s, err := rowgroup.NewSchema(nil, nil, nil, []rowgroup.Column{
		{Name: "b", Type: rowgroup.Boolean}, {Name: "i", Type: rowgroup.Int}, {Name: "l", Type: rowgroup.Bigint},
		{Name: "f", Type: rowgroup.Float}, {Name: "d", Type: rowgroup.Double}, {Name: "s", Type: rowgroup.Text},
		{Name: "t", Type: rowgroup.Timestamp(rowgroup.Micros)}, {Name: "n", Type: rowgroup.Varint}, {Name: "x", Type: rowgroup.Blob},
		{Name: "day", Type: rowgroup.Date},
	})
	require.NoError(t, err)
	return s
}

// drawRows are random rows of everyClass.
func drawRows(t *rapid.T, s *rowgroup.Schema) *rowgroup.Batch {
	b := rowgroup.NewBatch(s)
	n := rapid.IntRange(0, 20).Draw(t, "rows")
	for i := range n {
		*b.Int32s(0) = append(*b.Int32s(0), int32(rapid.IntRange(0, 1).Draw(t, "b")))
		*b.Int32s(1) = append(*b.Int32s(1), rapid.Int32().Draw(t, "i"))
		*b.Int64s(2) = append(*b.Int64s(2), rapid.Int64().Draw(t, "l"))
		f := math.Float32frombits(rapid.Uint32().Draw(t, "f"))
		if f != f {
			f = math.Float32frombits(canonicalNaN32)
		}
		*b.Float32s(3) = append(*b.Float32s(3), f)
		d := math.Float64frombits(rapid.Uint64().Draw(t, "d"))
		if d != d {
			d = math.Float64frombits(canonicalNaN)
		}
		*b.Float64s(4) = append(*b.Float64s(4), d)
		text := rapid.String().Draw(t, "s")
		if rapid.IntRange(0, 5).Draw(t, "bytes") == 0 {
			text = string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		}
		if !utf8.ValidString(text) {
			meta := b.CellMeta(5)
			meta.Cells = append(extend(meta.Cells, i), rowgroup.CellException)
			meta.Exceptions = append(meta.Exceptions, rowgroup.Exception{Row: i, Value: []byte(text)})
			text = ""
		}
		require.NoError(t, b.Bytes(5).Append([]byte(text)))
		*b.Int64s(6) = append(*b.Int64s(6), rapid.Int64Range(-62135596800e6, 253402300799999999).Draw(t, "t"))
		v, err := rowgroup.ParseText(nil, rowgroup.Varint, strconv.FormatInt(rapid.Int64().Draw(t, "n"), 10)+"000")
		require.NoError(t, err)
		require.NoError(t, b.Bytes(7).Append(v))
		require.NoError(t, b.Bytes(8).Append(rapid.SliceOf(rapid.Byte()).Draw(t, "x")))
		*b.Int32s(9) = append(*b.Int32s(9), int32(rapid.IntRange(-700000, 2900000).Draw(t, "day")))
		if rapid.IntRange(0, 5).Draw(t, "null") == 0 {
			if meta := b.CellMeta(rapid.IntRange(0, 9).Draw(t, "column")); len(meta.Cells) <= i {
				meta.Cells = append(extend(meta.Cells, i), rowgroup.CellAbsent)
			}
		}
	}
	for col := range 10 {
		if meta := b.CellMeta(col); len(meta.Cells) > 0 {
			meta.Cells = extend(meta.Cells, n)
		}
	}
	require.NoError(t, b.Check())
	return b
}

// sameRows compares the cells of batches bit by bit.
func sameRows(t require.TestingT, want, got *rowgroup.Batch) {
	require.Equal(t, want.Len(), got.Len())
	var x, y []byte
	for col := range want.Schema().NumColumns() {
		if role := want.Schema().Role(col); role == rowgroup.PartitionKey || role == rowgroup.Static {
			continue
		}
		for i := range want.Len() {
			require.Equal(t, want.Cell(col, i), got.Cell(col, i), want.Schema().Column(col).Name)
			x, y = appendSerialised(x[:0], want, col, i), appendSerialised(y[:0], got, col, i)
			if !isNull(want.Cell(col, i)) && !bytes.Equal(x, y) {
				require.Equal(t, x, y, want.Schema().Column(col).Name)
			}
		}
	}
}

// TestNDJSONProperty: values of every class come back with the same bits, and
// encoding/json takes every line.
func TestNDJSONProperty(t *testing.T) {
	s := everyClass(t)
	rapid.Check(t, func(t *rapid.T) {
		b := drawRows(t, s)
		var text bytes.Buffer
		w, err := NewNDJSONWriter(&text, s, NDJSONWriteOptions{OmitNull: rapid.Bool().Draw(t, "omit null")})
		require.NoError(t, err)
		require.NoError(t, w.Write(b))
		require.NoError(t, w.Flush())
		for _, line := range bytes.Split(bytes.TrimSuffix(text.Bytes(), []byte("\n")), []byte("\n")) {
			require.True(t, len(line) == 0 && b.Len() == 0 || json.Valid(line), "%s", line)
		}
		r, err := NewNDJSONReader(&text, "", TableOptions{Schema: s})
		require.NoError(t, err)
		got := rowgroup.NewBatch(s)
		_, err = r.Next(got)
		require.NoError(t, err)
		require.NoError(t, got.Check())
		sameRows(t, b, got)
	})
}

// FuzzNDJSON: no panic; what is taken is taken by encoding/json too, but for
// the words of Python and what Go makes of surrogates and bytes that are not
// UTF-8.
func FuzzNDJSON(f *testing.F) {
	f.Add(`{"a":1,"b":{"c":"\ud83d\ude00","d":[1,2]}}`)
	f.Add(`{"a":[{},[],"]",{"x":null}],"t":"2014-02-14T00:00:00Z"}`)
	f.Add(`{"a":-1.5e+3}` + "\n\n" + `{"a":NaN}`)
	f.Fuzz(func(t *testing.T, text string) {
		o := TableOptions{Types: map[string]rowgroup.Type{"a": rowgroup.Text}}
		first, err := ndjsonTo(t, text, o)
		if err != nil {
			return
		}
		if !strings.Contains(text, "NaN") && !strings.Contains(text, "Infinity") {
			for _, line := range strings.Split(text, "\n") {
				line = strings.TrimPrefix(line, byteOrderMark)
				require.True(t, strings.Trim(line, " \t\r") == "" || json.Valid([]byte(line)), "%q", line)
			}
		}
		o.Jobs = 2
		again, err := ndjsonTo(t, text, o)
		require.NoError(t, err)
		require.Equal(t, first, again)
	})
}

func TestNDJSONAllocatesNothing(t *testing.T) {
	text := strings.Repeat(`{"ts":"2014-02-14 14:30:00","v":0.132,"s":"te\nxt","n":{"i":12345678901,"b":true},"x":null}`+"\n", 50*batchRows)
	r, err := NewNDJSONReader(strings.NewReader(text), "", TableOptions{Time: &TimeSpec{Column: "ts"}})
	require.NoError(t, err)
	b := rowgroup.NewBatch(r.Schema())
	for range 3 {
		_, err := r.Next(b)
		require.NoError(t, err)
	}
	require.Zero(t, testing.AllocsPerRun(20, func() {
		if more, err := r.Next(b); !more || err != nil {
			t.Fatal(err)
		}
	}))
}

func BenchmarkNDJSONReader(b *testing.B) {
	text := strings.Repeat(`{"t":"2014-02-14T14:30:00Z","v":0.132,"h":"host0001","i":12345,"w":71.23456789012345}`+"\n", 40_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r, err := NewNDJSONReader(strings.NewReader(text), "", TableOptions{Time: &TimeSpec{Column: "t"}})
		require.NoError(b, err)
		batch := rowgroup.NewBatch(r.Schema())
		for more := true; more; {
			more, err = r.Next(batch)
			require.NoError(b, err)
		}
	}
}
