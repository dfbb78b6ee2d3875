package textfmt

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/rowgroup"
)

func lineOptions() TableOptions {
	return TableOptions{Time: &TimeSpec{Column: "time", Unit: rowgroup.Nanos, UnitSet: true}, AnyOrder: true}
}

func lineToCSV(t require.TestingT, text string, o TableOptions) (string, error) {
	r, err := NewLineProtocolReader(strings.NewReader(text), "f.line", o)
	if err != nil {
		return "", err
	}
	return drainCSV(t, r)
}

func TestLineProtocol(t *testing.T) {
	for _, c := range []struct{ in, want, types string }{
		{
			"# comment\n\ncpu,host=a,core=0 user=1.5,sys=3i 1000000000\ncpu,host=b user=2,note=\"x y\" 1000000001\r\nmem used=5u,ok=t 1000000002",
			"measurement,core,host,time,user,sys,note,used,ok\n" +
				"cpu,0,a,1970-01-01T00:00:01.000000000Z,1.5,3,-,-,-\n" +
				"cpu,\"\",b,1970-01-01T00:00:01.000000001Z,2,-,x y,-,-\n" +
				"mem,\"\",\"\",1970-01-01T00:00:01.000000002Z,-,-,-,5,true\n",
			"text text text timestamp(ns) double bigint text uint64 boolean",
		},
		{
			`my\ m\,x\=1\y,t\ a\=g\,=v\ a\=l\,\z f\ i\=e\,="a\"b\\c\d` + "\n" + `e",g=F 1`,
			"measurement,\"t a=g,\",time,\"f i=e,\",g\n\"my m,x\\=1\\y\",\"v a=l,\\z\",1970-01-01T00:00:00.000000001Z,\"a\"\"b\\c\\d\ne\",false\n",
			"text text timestamp(ns) text boolean",
		},
		{"\xef\xbb\xbfm f=1e3,g=-1.5E-3,h=-9223372036854775808i,i=18446744073709551615u -5", "measurement,time,f,g,h,i\nm,1969-12-31T23:59:59.999999995Z,1000,-0.0015,-9223372036854775808,18446744073709551615\n",
			"text timestamp(ns) double double bigint uint64"},
	} {
		r, err := NewLineProtocolReader(strings.NewReader(c.in), "f.line", lineOptions())
		require.NoError(t, err, c.in)
		got, err := drainCSV(t, r)
		require.NoError(t, err, c.in)
		require.Equal(t, c.want, got)
		require.Equal(t, c.types, types(r))
	}
	r, err := NewLineProtocolReader(strings.NewReader("m,b=1,a=2 f=1 1"), "", lineOptions())
	require.NoError(t, err)
	var key []string
	for _, c := range r.Schema().Columns(rowgroup.PartitionKey) {
		key = append(key, c.Name)
	}
	require.Equal(t, []string{"measurement", "a", "b"}, key)
	require.Equal(t, "time", r.Schema().Columns(rowgroup.Clustering)[0].Name)
}

func TestLineProtocolErrors(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"m f=1", `f.line:1:6: expected a timestamp, found the end of the line`},
		{"m f=1 now", `f.line:1:7: expected a timestamp, found "now"`},
		{"m f=1 1 2", `f.line:1:9: expected the end of the line, found "2"`},
		{"m", `f.line:1:2: expected a space and fields, found the end of the line`},
		{",a=b f=1 1", `f.line:1:1: expected a measurement, found ",a=b f=1 1"`},
		{"m,a f=1 1", `f.line:1:4: expected = and the value of the tag, found " f=1 1"`},
		{"m,a= f=1 1", `f.line:1:5: expected the value of a tag, found " f=1 1"`},
		{"m,=a f=1 1", `f.line:1:3: expected the name of a tag, found "=a f=1 1"`},
		{"m,a=b=c f=1 1", `f.line:1:6: expected a comma or space behind a tag, found "=c f=1 1"`},
		{"m f 1", `f.line:1:4: expected = and the value of the field, found " 1"`},
		{"m f=1, 1", `f.line:1:7: expected the name of a field, found " 1"`},
		{"m f=x 1", `f.line:1:5: expected the value of a field: 1.5, 3i, 3u, true, false or a string in quotes, found "x 1"`},
		{"m f=NaN 1", `f.line:1:5: expected the value of a field`},
		{"m f=-1u 1", `f.line:1:5: expected the value of a field`},
		{"m f=99999999999999999999i 1", `f.line:1:5: column "f": expected bigint, found "99999999999999999999"`},
		{"m f=\"x\ny 1", `f.line:1:5: expected a quote that ends the string here, found the end of the text`},
		{"m f=\"x\"y 1", `f.line:1:8: expected a comma or space behind a string, found "y 1"`},
		{"m f=1,f=2 1", `f.line:1:9: column "f": expected one value of that name, found a second one`},
		{"m,a=1,a=2 f=1 1", `f.line:1:9: column "a": expected one value of that name, found a second one`},
		{"m f=1 1\nm f=2i 2", `f.line:2:5: column "f": expected a float, found an integer: "2"; give --type f=double or --type f=decimal for both`},
		{"m f=1 1\nm f=\"2\" 2", `f.line:2:5: column "f": expected a float, found a string: "2"; give --type f=text for both`},
		{"m,f=1 f=1 1", `f.line:1:9: column "f": expected a tag, found a float: "1"; the time, tags and fields need different names`},
		{"m time=1 1", `f.line:1:8: column "time": expected the time, found a float: "1"; the time, tags and fields need different names`},
	} {
		_, err := lineToCSV(t, c.in, lineOptions())
		require.ErrorContains(t, err, c.want, c.in)
	}
	_, err := lineToCSV(t, "m f=1 1", TableOptions{})
	require.EqualError(t, err, "f.line: line protocol does not tell the unit of its timestamps: give --time time:ns (InfluxDB's default), :us, :ms or :s")
	many := strings.Repeat("m f=1 1\n", sampleRows)
	_, err = lineToCSV(t, many+"m g=1 1", lineOptions())
	require.EqualError(t, err, `f.line:65537:5: column "g": expected one of the columns, found "g"; it is not among the first rows; give --type g=TYPE`)
	_, err = lineToCSV(t, many+"m,a=b f=1 1", lineOptions())
	require.ErrorContains(t, err, `give all tags, --partition-key measurement,...`)
	// Types that are given take both kinds; rows are skipped.
	o := lineOptions()
	o.Types = map[string]rowgroup.Type{"f": rowgroup.Double, "n": rowgroup.Text}
	bad := 0
	o.OnError = func(*SyntaxError) bool { bad++; return true }
	out, err := lineToCSV(t, "m f=1,n=5i 1\nm f=2i,n=\"x\" 2\nm g\nm f=\"x\" 3\nm f=3 4", o)
	require.NoError(t, err)
	require.Equal(t, 2, bad)
	require.Equal(t, "measurement,time,f,n\nm,1970-01-01T00:00:00.000000001Z,1,5\nm,1970-01-01T00:00:00.000000002Z,2,x\nm,1970-01-01T00:00:00.000000004Z,3,-\n", out)
}

// TestLineProtocolOpenString: a string that never ends costs its line.
func TestLineProtocolOpenString(t *testing.T) {
	text := "m f=\"a\n\nb\" 1\n" + strings.Repeat("m g=1 5\n", 3) + "m f=\"x\n" + strings.Repeat("m g=1 5\n", 100_000) + "m g=2 6"
	o := lineOptions()
	var errs []string
	o.OnError = func(e *SyntaxError) bool {
		errs = append(errs, e.Error())
		return true
	}
	r, err := NewLineProtocolReader(strings.NewReader(text), "f.line", o)
	require.NoError(t, err)
	out, err := drainCSV(t, r)
	require.NoError(t, err)
	require.Equal(t, []string{"f.line:7:5: expected a quote that ends the string here, found the end of the text"}, errs)
	require.Equal(t, 100_000+6+2, strings.Count(out, "\n"))
	require.Contains(t, out, "\"a\n\nb\"")
	require.True(t, strings.HasSuffix(out, ",2\n"))
	errs = nil
	_, err = lineToCSV(t, "m f=\"x", o)
	require.NoError(t, err)
	require.Len(t, errs, 1)
}

func TestPrometheus(t *testing.T) {
	text := `# HELP http_requests_total The total number of HTTP requests.
# TYPE http_requests_total counter
http_requests_total{method="post",code="200"} 1027 1395066363000
http_requests_total{method="post",code="400",} 3 1395066363000

msdos{path="C:\\DIR\\F","error"="a \"b\"\nc\d"} 1.458255915e9 -3982045
up NaN 1
{"my.metric", le="+Inf"} +Inf 2
`
	r, err := NewPrometheusReader(strings.NewReader(text), "f.prom", false, TableOptions{AnyOrder: true})
	require.NoError(t, err)
	got, err := drainCSV(t, r)
	require.NoError(t, err)
	require.Equal(t, `__name__,code,error,le,method,path,time,value
http_requests_total,200,"","",post,"",2014-03-17T14:26:03.000Z,1027
http_requests_total,400,"","",post,"",2014-03-17T14:26:03.000Z,3
msdos,"","a ""b""
c\d","","",C:\DIR\F,1969-12-31T22:53:37.955Z,1458255915
up,"","","","","",1970-01-01T00:00:00.001Z,NaN
my.metric,"","",+Inf,"","",1970-01-01T00:00:00.002Z,+Inf
`, got)
	require.Equal(t, "text text text text text text timestamp(ms) double", types(r))
	open := "foo_total 17.0 1520879607.789\nbar{a=\"b\"} 1 0 # {trace=\"x\"} 0.5 1.5\n# EOF\n"
	r, err = NewPrometheusReader(strings.NewReader(open), "f.om", true, TableOptions{AnyOrder: true})
	require.NoError(t, err)
	got, err = drainCSV(t, r)
	require.NoError(t, err)
	require.Equal(t, "__name__,a,time,value\nfoo_total,\"\",2018-03-12T18:33:27.789Z,17\nbar,b,1970-01-01T00:00:00.000Z,1\n", got)
	for _, c := range []struct{ in, want string }{
		{"up 1", "f.prom:1:5: expected a timestamp, found the end of the line"},
		{"up 1 1.5", `f.prom:1:6: column "time": expected timestamp(ms), found "1.5"`},
		{"up x 1", `f.prom:1:4: expected a value, found "x 1"`},
		{"up", `f.prom:1:3: expected a space and a value, found the end of the line`},
		{"up 1 1 1", `f.prom:1:8: expected the end of the line, found "1"`},
		{"5 1 1", `f.prom:1:1: expected the name of a metric`},
		{`up{a="b" 1 1`, `f.prom:1:10: expected a comma or brace behind a label`},
		{`up{a="b} 1 1`, `f.prom:1:13: expected a quote that ends the value`},
		{`up{a=b} 1 1`, `f.prom:1:6: expected the value of a label, in quotes`},
		{`up{a} 1 1`, `f.prom:1:5: expected = and the value of the label`},
		{`up{a="1",a="2"} 1 1`, `f.prom:1:12: column "a": expected one value of that name`},
		{`{a="1"} 1 1`, `f.prom:1:1: expected the name of a metric`},
		{`up{value="1"} 1 1`, `column "value": expected a tag, found a float`},
	} {
		r, err := NewPrometheusReader(strings.NewReader(c.in), "f.prom", false, TableOptions{})
		if err == nil {
			_, err = drainCSV(t, r)
		}
		require.ErrorContains(t, err, c.want, c.in)
	}
	_, err = NewPrometheusReader(strings.NewReader(text), "f.prom", false, TableOptions{Time: &TimeSpec{Column: "t", Unit: rowgroup.Nanos, UnitSet: true}})
	require.EqualError(t, err, "f.prom: the timestamps of Prometheus are milliseconds, not timestamp(ns)")
}

// TestLineProtocolProperty: rows of every type come back with the same bits.
func TestLineProtocolProperty(t *testing.T) {
	col := func(name string, typ rowgroup.Type) rowgroup.Column { return rowgroup.Column{Name: name, Type: typ} }
	rapid.Check(t, func(t *rapid.T) {
		name := func(label string) string {
			return rapid.StringMatching(`[a-z][ -~é]{0,5}[a-z=, "]`).Draw(t, label)
		}
		tag, field := "t"+name("tag"), "f"+name("field")
		s, err := rowgroup.NewSchema([]rowgroup.Column{col("measurement", rowgroup.Text), col(tag, rowgroup.Text)},
			[]rowgroup.Column{col("time", rowgroup.Timestamp(rowgroup.Micros))}, nil,
			[]rowgroup.Column{col("d", rowgroup.Double), col("i", rowgroup.Bigint), col("u", rowgroup.Type{Kind: rowgroup.KindUint64}),
				col("b", rowgroup.Boolean), col(field, rowgroup.Text)}, rowgroup.WithMultiset())
		require.NoError(t, err)
		b := rowgroup.NewBatch(s)
		n := rapid.IntRange(0, 10).Draw(t, "rows")
		last := ""
		for i := range n {
			value := ""
			if rapid.Bool().Draw(t, "tagged") {
				value = name("value")
			}
			key := rowgroup.AppendKey(nil, s.KeyTypes(), [][]byte{[]byte(name("measurement")), []byte(value)})
			if i == 0 || string(key) != last {
				b.BeginPartition(key).Start = i
			}
			last = string(key)
			*b.Int64s(2) = append(*b.Int64s(2), rapid.Int64Range(math.MinInt64/1000, math.MaxInt64/1000).Draw(t, "time"))
			*b.Float64s(3) = append(*b.Float64s(3), rapid.Float64().Draw(t, "d"))
			*b.Int64s(4) = append(*b.Int64s(4), rapid.Int64().Draw(t, "i"))
			*b.Int64s(5) = append(*b.Int64s(5), rapid.Int64().Draw(t, "u"))
			*b.Int32s(6) = append(*b.Int32s(6), int32(rapid.IntRange(0, 1).Draw(t, "b")))
			require.NoError(t, b.Bytes(7).Append([]byte(rapid.String().Draw(t, "s"))))
			if null := rapid.IntRange(3, 20).Draw(t, "null"); null <= 7 {
				meta := b.CellMeta(null)
				meta.Cells = append(extend(meta.Cells, i), rowgroup.CellAbsent)
			}
		}
		for col := 3; col < 8; col++ {
			if meta := b.CellMeta(col); len(meta.Cells) > 0 {
				meta.Cells = extend(meta.Cells, n)
			}
		}
		require.NoError(t, b.Check())
		var text bytes.Buffer
		w, err := NewLineProtocolWriter(&text, s, LineProtocolWriteOptions{Precision: rowgroup.Nanos})
		require.NoError(t, err)
		require.NoError(t, w.Write(b))
		require.NoError(t, w.Flush())
		r, err := NewLineProtocolReader(&text, "f", TableOptions{AnyOrder: true, Types: map[string]rowgroup.Type{
			"time": rowgroup.Timestamp(rowgroup.Nanos)}})
		require.NoError(t, err)
		got := rowgroup.NewBatch(r.Schema())
		_, err = r.Next(got)
		require.NoError(t, err)
		require.Equal(t, n, got.Len())
		require.Equal(t, b.NumPartitions(), got.NumPartitions())
		for p := range b.NumPartitions() {
			from, to := b.PartitionRows(p)
			a, e := rowgroup.SplitKey(s.KeyTypes(), b.Key(p))
			require.NoError(t, e)
			g, e := rowgroup.SplitKey(r.Schema().KeyTypes(), got.Key(p))
			require.NoError(t, e)
			require.Equal(t, a[0], g[0])
			if len(g) > 1 || len(a[1]) > 0 {
				require.Equal(t, a[1], g[1])
			}
			for i := from; i < to; i++ {
				require.Equal(t, (*b.Int64s(2))[i]*1000, (*got.Int64s(r.Schema().Lookup("time")))[i])
				for c := 3; c < 8; c++ {
					x, there := b.AppendValue(nil, c, i)
					g := r.Schema().Lookup(s.Column(c).Name)
					if g < 0 {
						require.False(t, there)
						continue
					}
					y, thereToo := got.AppendValue(nil, g, i)
					require.Equal(t, there, thereToo)
					require.Equal(t, x, y)
				}
			}
		}
	})
}

func TestLineProtocolWriterErrors(t *testing.T) {
	b := history(t)
	write := func(o LineProtocolWriteOptions) error {
		w, err := NewLineProtocolWriter(io.Discard, b.Schema(), o)
		if err == nil {
			err = w.Write(b)
			require.Equal(t, err, w.Flush())
		}
		return err
	}
	for _, c := range []struct {
		o    LineProtocolWriteOptions
		want string
	}{
		{LineProtocolWriteOptions{}, "there is no column measurement; give the measurement a name"},
		{LineProtocolWriteOptions{Measurement: "a\\"}, `measurement "a\\" is empty, has a line end or ends with a backslash, which line protocol cannot hold`},
		{LineProtocolWriteOptions{Measurement: "m", Time: "x"}, `there is no column "x"`},
		{LineProtocolWriteOptions{Measurement: "m", Time: "note"}, "line protocol needs a time column of type timestamp"},
		{LineProtocolWriteOptions{Measurement: "m", Columns: []string{"x"}}, `there is no column "x"`},
		{LineProtocolWriteOptions{Measurement: "m"}, `row 2: column "value" is NaN, which line protocol cannot hold`},
		{LineProtocolWriteOptions{Measurement: "m", Columns: []string{"note"}, Precision: rowgroup.Seconds}, `row 3: it has no field, which line protocol asks for`},
	} {
		require.EqualError(t, write(c.o), c.want)
	}
	v, exact := convertUnit(math.MaxInt64/1000+1, rowgroup.Micros, rowgroup.Nanos)
	require.False(t, exact, v)
	_, exact = convertUnit(1500, rowgroup.Millis, rowgroup.Seconds)
	require.False(t, exact)
	v, exact = convertUnit(-2000, rowgroup.Millis, rowgroup.Seconds)
	require.True(t, exact)
	require.EqualValues(t, -2, v)
}

func FuzzLineProtocol(f *testing.F) {
	f.Add("cpu,host=a user=1.5,n=3i,s=\"x\ny\",b=t 1\n")
	f.Add(`m\ x,t\=a=b\,c f="a\"b\\" -5`)
	f.Fuzz(func(t *testing.T, text string) {
		o := lineOptions()
		o.OnError = func(e *SyntaxError) bool {
			require.Positive(t, e.Column)
			return true
		}
		if _, err := lineToCSV(t, text, o); err != nil {
			require.Contains(t, err.Error(), "f.line")
		}
	})
}

func FuzzPrometheus(f *testing.F) {
	f.Add("up{a=\"b\\n\",\"c\"=\"d\"} 1.5 1000\n# EOF")
	f.Fuzz(func(t *testing.T, text string) {
		var all []string
		for _, jobs := range []int{1, 2} {
			r, err := NewPrometheusReader(strings.NewReader(text), "f", strings.Contains(text, "EOF"), TableOptions{AnyOrder: true, Jobs: jobs})
			if err != nil {
				return
			}
			out, err := drainCSV(t, r)
			all = append(all, fmt.Sprint(out, err))
		}
		require.Equal(t, all[0], all[1])
	})
}

func TestSeriesAllocateNothing(t *testing.T) {
	for _, line := range []string{"cpu,host=a\\ b,core=0 user=1.5,sys=3i,note=\"x\\\"y\",ok=true 1000000000\n", "up{host=\"a\\\"b\",core=\"0\"} 1.5 1000\n"} {
		text := strings.Repeat(line, 50*batchRows)
		o := lineOptions()
		r, err := NewLineProtocolReader(strings.NewReader(text), "", o)
		if strings.HasPrefix(line, "up") {
			r, err = NewPrometheusReader(strings.NewReader(text), "", false, TableOptions{})
		}
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
}
