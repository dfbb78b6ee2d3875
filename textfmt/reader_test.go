package textfmt

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/rowgroup"
)

func open(t require.TestingT, text string, o CSVOptions) *CSVReader {
	c, err := NewCSVReader(strings.NewReader(text), "f.csv", o)
	require.NoError(t, err)
	return c
}

// rewrite reads a CSV and writes it again.
func rewrite(t require.TestingT, text string, o CSVOptions, w CSVWriteOptions) (string, error) {
	c, err := NewCSVReader(strings.NewReader(text), "f.csv", o)
	if err != nil {
		return "", err
	}
	if w.Columns == nil {
		w.Columns = c.SourceColumns()
	}
	var out bytes.Buffer
	cw, err := NewCSVWriter(&out, c.Schema(), w)
	require.NoError(t, err)
	var rows rowgroup.Iter = c
	if o.AnyOrder {
		if rows, err = Sort(c.Schema(), c); err != nil {
			return "", err
		}
	}
	b := rowgroup.NewBatch(c.Schema())
	for {
		more, err := rows.Next(b)
		if err != nil {
			return "", err
		}
		if !more {
			break
		}
		require.NoError(t, b.Check())
		if err := cw.Write(b); err != nil {
			return "", err
		}
	}
	more, err := rows.Next(b)
	require.False(t, more)
	require.NoError(t, err)
	require.NoError(t, cw.Flush())
	return out.String(), nil
}

func types(c *CSVReader) string {
	var s []string
	for _, ch := range c.Choices() {
		s = append(s, ch.Type.String())
	}
	return strings.Join(s, " ")
}

func TestInference(t *testing.T) {
	for _, c := range []struct{ cells, typ, why, note string }{
		{"1,2,-3", "bigint", "integers", ""},
		{"1,,2", "bigint", "integers", ""},
		{"1,0.5", "double", "numbers", ""},
		{"1,NaN,inf", "double", "numbers", ""},
		{"NaN,NaN", "double", "numbers", ""},
		{"Nan,Inf", "double", "numbers", ""},
		{"1e3", "double", "numbers", ""},
		{"-0,1", "double", "numbers", ""},
		{"true,false", "boolean", "true and false", ""},
		{"True", "text", `line 2: "True"`, ""},
		{"true,1", "text", `true or false and an integer: line 2: "true", line 3: "1"`, ""},
		{"007,8", "text", `line 2: "007"`, ""},
		{"+5", "text", `line 2: "+5"`, ""},
		{"1_000", "text", `line 2: "1_000"`, ""},
		{"0x10", "text", `line 2: "0x10"`, ""},
		{"1e400", "text", `line 2: "1e400"`, ""},
		{" 1", "text", `line 2: " 1"`, ""},
		{",", "text", "no value seen", ""},
		{`"",`, "text", "nothing but empty text", ""},
		{`"",5`, "bigint", "integers", ""},
		{`"",a`, "text", `line 3: "a"`, ""},
		{"2014-02-14 14:30:00", "timestamp(s)", "times of whole seconds", ""},
		{"2014-02-14T14:30:00Z,2014-02-14T14:30:00.1Z", "timestamp(ms)", "times", ""},
		{"2014-02-14T14:30:00.1230000Z", "timestamp(ms)", "times", ""},
		{"2014-02-14T14:30:00.1234Z", "timestamp(us)", "times", ""},
		{"2014-02-14T14:30:00.1234567Z", "timestamp(ns)", "times", ""},
		{"2014-02-14T14:30:00.1234567Z,2300-01-01T00:00:00Z", "text", "times of nanoseconds, one of which they do not reach", `line 3: "2300-01-01T00:00:00Z" is outside the years 1677 to 2262`},
		{"2014-02-14,2014-02-15", "date", "days", ""},
		{"2014-02-14,2014-02-15T00:00:01", "timestamp(s)", "times of whole seconds", ""},
		{"2014-02-14,5", "text", `a day and an integer: line 2: "2014-02-14", line 3: "5"`, ""},
		{"51.846000000000004", "double", "numbers", ""},
		{"0.123456789012345678", "double", "numbers", `line 2: "0.123456789012345678" has more digits than a double keeps; give --type c=decimal to keep them`},
		{"9007199254740993", "bigint", "integers", ""},
		{"9007199254740993,0.5", "text", "integers that a double does not hold, and fractions", `line 2: "9007199254740993" would lose digits as a double; give --type c=decimal or --type c=double`},
		{"9007199254740992,0.5", "double", "numbers", ""},
		{"18446744073709551615", "varint", `integers beyond 64 bits: line 2: "18446744073709551615"`, ""},
		{"18446744073709551615,0.5", "text", "integers beyond 64 bits, and fractions", `line 2: "18446744073709551615" would lose digits as a double; give --type c=decimal or --type c=double`},
	} {
		text := "c,x\n" + strings.ReplaceAll(c.cells, ",", ",.\n") + ",.\n"
		r := open(t, text, CSVOptions{Header: true})
		got := r.Choices()[0]
		require.Equal(t, Choice{Column: "c", Type: got.Type, Why: c.why, Note: c.note}, got, c.cells)
		require.Equal(t, c.typ, got.Type.String(), c.cells)
	}
}

// T63: null and the empty text are told apart, and the mark can be chosen.
func TestT63EmptyAgainstNull(t *testing.T) {
	out, err := rewrite(t, "a,,b\na,\"\",b\n", CSVOptions{}, CSVWriteOptions{NoHeader: true})
	require.NoError(t, err)
	require.Equal(t, "a,,b\na,\"\",b\n", out)
	o := CSVOptions{}
	o.Null = []string{"NA"}
	out, err = rewrite(t, "a,NA,b\na,,b\na,\"NA\",b\n", o, CSVWriteOptions{NoHeader: true, Null: "NA"})
	require.NoError(t, err)
	require.Equal(t, "a,NA,b\na,\"\",b\na,\"NA\",b\n", out)
	var text, want strings.Builder
	for _, n := range []int{0, 1, 127, 128, 255, 256, 257, -1, 0} {
		cell := ""
		if n >= 0 {
			cell = `"` + strings.Repeat("x", n) + `"`
		}
		text.WriteString(cell + ",y\n")
		if n > 0 {
			cell = strings.Repeat("x", n)
		}
		want.WriteString(cell + ",y\n")
	}
	out, err = rewrite(t, text.String(), CSVOptions{}, CSVWriteOptions{NoHeader: true})
	require.NoError(t, err)
	require.Equal(t, want.String(), out)
	// A quoted mark is null in a column of numbers.
	out, err = rewrite(t, "1\n\"\"\n2\n", CSVOptions{}, CSVWriteOptions{NoHeader: true})
	require.NoError(t, err)
	require.Equal(t, "1\n\"\"\n2\n", out)
	_, err = rewrite(t, "a,\n,\n", CSVOptions{Names: []string{"a", "b"}}, CSVWriteOptions{NoHeader: true, Columns: []string{"a"}})
	require.ErrorContains(t, err, "give --null MARK")
}

// T64: integers stay integers, and what is no number is refused alike whether
// the type is inferred or given.
func TestT64BigIntegers(t *testing.T) {
	for _, c := range []struct{ cells, typ string }{
		{"9007199254740993\n0.5", "text"},
		{"1702878157125929618", "bigint"},
		{"18446744073709551615", "varint"},
		{"1e3", "double"}, {"007", "text"}, {"+5", "text"}, {"1_000", "text"}, {"0x10", "text"},
		{"NaN", "double"}, {"inf\n1", "double"}, {"1e400", "text"}, {`"1,5"`, "text"}, {`" 1"`, "text"},
	} {
		r := open(t, c.cells+"\n", CSVOptions{})
		require.Equal(t, c.typ, types(r), c.cells)
		out, err := rewrite(t, c.cells+"\n", CSVOptions{}, CSVWriteOptions{NoHeader: true})
		require.NoError(t, err)
		if c.typ != "double" {
			require.Equal(t, c.cells+"\n", out)
		}
	}
	given := func(typ, cell string) (string, error) {
		ty, err := rowgroup.ParseType(typ)
		require.NoError(t, err)
		o := CSVOptions{}
		o.Types = map[string]rowgroup.Type{"column1": ty}
		return rewrite(t, cell+"\n", o, CSVWriteOptions{NoHeader: true})
	}
	for _, c := range []struct{ typ, in, out, err string }{
		{"bigint", "007", "7", ""}, {"bigint", "+5", "5", ""}, {"bigint", "1702878157125929618", "1702878157125929618", ""},
		{"bigint", "18446744073709551615", "", `expected bigint, found "18446744073709551615"; give --type column1=varint`},
		{"bigint", "1e3", "", `expected bigint, found "1e3"; give --type column1=double`},
		{"bigint", "NaN", "", `expected bigint, found "NaN"; give --type column1=double`},
		{"bigint", "1_000", "", `expected bigint, found "1_000"; give --type column1=text`},
		{"bigint", " 1", "", `expected bigint, found " 1"; give --type column1=text`},
		{"uint64", "18446744073709551615", "18446744073709551615", ""},
		{"tinyint", "-128", "-128", ""},
		{"tinyint", "128", "", `expected tinyint, found "128"; give --type column1=bigint`},
		{"uint8", "255", "255", ""}, {"uint8", "-1", "", `expected uint8, found "-1"`},
		{"double", "1e400", "", `expected double, found "1e400"; give --type column1=decimal`},
		{"double", "1e3", "1000", ""}, {"double", "0x10", "", `expected double, found "0x10"; give --type column1=text`},
		{"double", "9007199254740993", "9007199254740992", ""}, // as asked for
		{"decimal", "9007199254740993.50", "9007199254740993.50", ""},
		{"float", "0.1", "0.1", ""}, {"boolean", "TRUE", "true", ""}, {"boolean", "1", "", "expected boolean"},
		{"date", "2014-02-14", "2014-02-14", ""}, {"date", "2014-02-30", "", "expected date"},
		{"time", "01:02:03.5", "01:02:03.500000000", ""},
		{"uuid", "00112233-4455-6677-8899-AABBCCDDEEFF", "00112233-4455-6677-8899-aabbccddeeff", ""},
		{"inet", "::1", "::1", ""}, {"blob", "0x00ff", "0x00ff", ""}, {"blob", "zz", "", "expected blob"},
		{"timestamp(ms)", "1577836800000", "2020-01-01T00:00:00.000Z", ""},
	} {
		out, err := given(c.typ, c.in)
		if c.err != "" {
			require.ErrorContains(t, err, c.err)
			var syntax *SyntaxError
			require.ErrorAs(t, err, &syntax)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.out+"\n", out)
	}
}

// T59: bytes that are no UTF-8 stay as they are, in any role.
func TestT59NotUTF8(t *testing.T) {
	cells := []string{"\xff", "\xc3\x28", "\xe2\x82\x61", "\x00", "a\x00", "\xf0\x28\x8c\xbc", "\xed\xa0\x80"}
	text := ""
	for i, c := range cells {
		text += fmt.Sprintf("%d,%s\n", i, c)
	}
	out, err := rewrite(t, text, CSVOptions{}, CSVWriteOptions{NoHeader: true})
	require.NoError(t, err)
	require.Equal(t, text, out)
	for _, o := range []TableOptions{
		{PartitionKey: []string{"column2"}, AnyOrder: true},
		{PartitionKey: []string{"column2", "column1"}, AnyOrder: true},
		{Clustering: []ClusteringSpec{{Column: "column2"}}, AnyOrder: true},
	} {
		out, err := rewrite(t, text, CSVOptions{TableOptions: o}, CSVWriteOptions{NoHeader: true})
		require.NoError(t, err)
		want := strings.SplitAfter(text, "\n")
		require.ElementsMatch(t, want, strings.SplitAfter(out, "\n"))
	}
}

func TestTimes(t *testing.T) {
	read := func(spec, cells string, set func(*CSVOptions)) (string, error) {
		ts, err := ParseTimeSpec(spec)
		require.NoError(t, err)
		o := CSVOptions{Header: true}
		o.Time = &ts
		if set != nil {
			set(&o)
		}
		return rewrite(t, "ts,v\n"+cells, o, CSVWriteOptions{NoHeader: true})
	}
	for _, c := range []struct{ spec, in, out, err string }{
		{"ts", "2014-02-14 14:30:00,1\n2014-02-14 14:30:00.5,2\n", "2014-02-14T14:30:00.000Z,1\n2014-02-14T14:30:00.500Z,2\n", ""},
		{"ts", "2014-02-14,1\n", "2014-02-14T00:00:00Z,1\n", ""},
		{"ts:desc", "2014-02-14T14:30:01+01:00,1\n2014-02-14T13:30:00Z,2\n", "2014-02-14T13:30:01Z,1\n2014-02-14T13:30:00Z,2\n", ""},
		{"ts:ms", "1577836800000,1\n", "2020-01-01T00:00:00.000Z,1\n", ""},
		{"ts:s:desc", "1577836800,1\n", "2020-01-01T00:00:00Z,1\n", ""},
		{"ts", "1577836800000,1\n", "", `f.csv: time column "ts" holds integers: give their unit, --time ts:s, :ms, :us or :ns`},
		{"ts", "noon,1\n", "", `f.csv: time column "ts" is text (line 2: "noon"): expected times like 2006-01-02T15:04:05Z, integers with their unit, or another form with --layout`},
		{"ts:s", "2022-02-02T02:02:02.5Z,1\n", "", `f.csv:2:1: column "ts": expected timestamp(s), which has 0 digits of a second, found "2022-02-02T02:02:02.5Z"; give --type 'ts=timestamp(ms)'`},
		{"ts:ns", "2300-01-01,1\n", "", `f.csv:2:1: column "ts": expected timestamp(ns), which reaches from 1677 to 2262, found "2300-01-01"; give --type 'ts=timestamp(us)'`},
		{"ts:ms", "2022-02-02T02:02:60Z,1\n", "", `f.csv:2:1: column "ts": expected timestamp(ms), found "2022-02-02T02:02:60Z"; give --type ts=text`},
		{"ts", "2014-02-14,1\n,2\n", "", `f.csv:3:1: column "ts": expected a value: it is in the key of its row, found ""`},
		{"ts", "2014-02-15,1\n2014-02-14,2\n", "", `f.csv: line 3: "ts" goes back from 2014-02-15T00:00:00Z to 2014-02-14T00:00:00Z; give --sort`},
		{"ts:desc", "2014-02-14,1\n2014-02-15,2\n", "", `f.csv: line 3: "ts" goes back from 2014-02-14T00:00:00Z to 2014-02-15T00:00:00Z; give --sort`},
		{"no", "2014-02-14,1\n", "", `f.csv: --time: there is no column "no"; there are ts, v`},
	} {
		out, err := read(c.spec, c.in, nil)
		if c.err != "" {
			require.EqualError(t, err, c.err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.out, out)
	}
	zone := time.FixedZone("X", 3600)
	out, err := read("ts", "2014-02-14 01:00:00,1\n2014-02-14 01:00:00Z,2\n", func(o *CSVOptions) { o.TZ = zone })
	require.NoError(t, err)
	require.Equal(t, "2014-02-14T00:00:00Z,1\n2014-02-14T01:00:00Z,2\n", out)
	// Numbers that come after a sample of texts are no guess's business.
	_, err = read("ts", "2014-02-14,1\n"+strings.Repeat("2014-02-14,1\n", sampleRows)+"1577836800,2\n", nil)
	require.ErrorContains(t, err, `f.csv:65539:1: column "ts": expected timestamp(s) in text, found "1577836800"; for numbers give their unit`)
}

// TestSampleEnds has a misfit behind the sample.
func TestSampleEnds(t *testing.T) {
	text := "v,w\n" + strings.Repeat("1,x\n", sampleRows) + "1.5,x\n"
	_, err := rewrite(t, text, CSVOptions{Header: true}, CSVWriteOptions{})
	require.EqualError(t, err, `f.csv:65538:1: column "v": expected bigint, found "1.5"; give --type v=double, or --null if it stands for no value`)
	o := CSVOptions{Header: true}
	o.Types = map[string]rowgroup.Type{"v": rowgroup.Double}
	out, err := rewrite(t, text, o, CSVWriteOptions{})
	require.NoError(t, err)
	require.Equal(t, text, out)
}

func TestPartitions(t *testing.T) {
	o := CSVOptions{Header: true}
	o.Time = &TimeSpec{Column: "t", Unit: rowgroup.Seconds, UnitSet: true}
	o.PartitionKey = []string{"h", "m"}
	ordered := "t,h,m,v\n1970-01-01T00:00:02Z,a,1,1.5\n1970-01-01T00:00:03Z,a,1,\n1970-01-01T00:00:01Z,a,2,3.5\n1970-01-01T00:00:01Z,b,1,4.5\n"
	out, err := rewrite(t, ordered, o, CSVWriteOptions{})
	require.NoError(t, err)
	require.Equal(t, ordered, out)
	mixed := "t,h,m,v\n2,a,1,1.5\n1,b,1,4.5\n3,a,1,\n1,a,2,3.5\n"
	_, err = rewrite(t, mixed, o, CSVWriteOptions{})
	require.EqualError(t, err, `f.csv: line 4: partition key goes back from b, 1 to a, 1; give --sort`)
	o.AnyOrder = true
	out, err = rewrite(t, mixed, o, CSVWriteOptions{})
	require.NoError(t, err)
	require.Equal(t, ordered, out)
	c := open(t, mixed, o)
	require.Equal(t, []string{"t", "h", "m", "v"}, c.SourceColumns())
	require.Equal(t, "timestamp(s) text bigint double", types(c))
	require.Equal(t, []rowgroup.Column{{Name: "h", Type: rowgroup.Text}, {Name: "m", Type: rowgroup.Bigint}}, c.Schema().Columns(rowgroup.PartitionKey))
	require.True(t, c.Schema().Multiset())
	_, err = rewrite(t, "t,h,m,v\n2,"+strings.Repeat("x", 70_000)+",1,1\n", o, CSVWriteOptions{})
	require.ErrorContains(t, err, `column "h, m": expected a partition key of at most 65535 bytes`)
	_, err = rewrite(t, "t,h,m,v\n2,,1,1\n", o, CSVWriteOptions{})
	require.ErrorContains(t, err, `f.csv:2:3: column "h": expected a value`)
}

func TestSchemaGiven(t *testing.T) {
	c := open(t, "h,t,v\na,2014-02-14,1\n", CSVOptions{Header: true, TableOptions: TableOptions{
		PartitionKey: []string{"h"}, Time: &TimeSpec{Column: "t"}}})
	o := CSVOptions{Header: true}
	o.Schema = c.Schema()
	out, err := rewrite(t, "v,h,t\n5,b,0\n", o, CSVWriteOptions{})
	require.NoError(t, err)
	require.Equal(t, "v,h,t\n5,b,1970-01-01T00:00:00Z\n", out)
	_, err = rewrite(t, "v,h\n5,b\n", o, CSVWriteOptions{})
	require.EqualError(t, err, `f.csv: there is no column "t", which is in the schema; there are v, h`)
	_, err = rewrite(t, "v,h,t,u\n5,b,0,1\n", o, CSVWriteOptions{})
	require.EqualError(t, err, `f.csv: column "u" is not in the schema`)
	o.Schema, err = ParseSchema([]byte("create table t (v int primary key, h list<int>)"), "s")
	require.NoError(t, err)
	_, err = rewrite(t, "v,h\n5,b\n", o, CSVWriteOptions{})
	require.ErrorContains(t, err, `column "h" is of type list<int>, of which a row has many cells`)
}

func TestRowMetadata(t *testing.T) {
	o := CSVOptions{Header: true}
	o.WriteTime, o.TTL, o.Expiry = "$write_time", "$ttl", "$expiry"
	text := "v,$write_time,$ttl,$expiry\n1,1700000000000000,60,1700000060\n2,5,,\n3,-1,1,5000000000\n"
	out, err := rewrite(t, text, o, CSVWriteOptions{RowMetadata: true})
	require.NoError(t, err)
	require.Equal(t, text, out)
	o.Expiry = ""
	out, err = rewrite(t, "v,$write_time,$ttl\n1,1970-01-01T00:00:01.5Z,60\n2,-1,60\n3,0,0\n", o, CSVWriteOptions{RowMetadata: true})
	require.NoError(t, err)
	require.Equal(t, "v,$write_time,$ttl,$expiry\n1,1500000,60,61\n2,-1,60,59\n3,0,,\n", out)
	o.AnyOrder = true
	sorted, err := rewrite(t, "v,$write_time,$ttl\n1,1970-01-01T00:00:01.5Z,60\n2,-1,60\n3,0,0\n", o, CSVWriteOptions{RowMetadata: true})
	require.NoError(t, err)
	require.Equal(t, out, sorted)
	o.Expiry = "$expiry"
	for _, ttl := range []string{"", "0"} {
		_, err = rewrite(t, "v,$write_time,$ttl,$expiry\n1,5,,\n2,5,"+ttl+",70\n", o, CSVWriteOptions{})
		require.ErrorContains(t, err, `column "$expiry": expected no expiry in a row without a TTL, found "70"`)
	}
	o.Expiry = ""
	_, err = rewrite(t, "v,$write_time,$ttl\n1,5,-1\n", o, CSVWriteOptions{})
	require.ErrorContains(t, err, "expected a TTL of 0 or more seconds")
	o.WriteTime = ""
	_, err = rewrite(t, "v,$ttl\n1,5\n", o, CSVWriteOptions{})
	require.ErrorContains(t, err, "--ttl needs --expiry or --write-time")
}

func TestReaderErrors(t *testing.T) {
	for _, c := range []struct {
		in   string
		o    CSVOptions
		want string
	}{
		{"", CSVOptions{Header: true}, "f.csv:1:1: expected a header or a row, found nothing"},
		{"a,a\n1,2\n", CSVOptions{Header: true}, `f.csv: columns 1 and 2 are both named "a"; give other names`},
		{"$a\n1\n", CSVOptions{Header: true}, `f.csv: column "$a": names that begin with $ are kept for metadata`},
		{"1,2\n", CSVOptions{Names: []string{"a"}}, "f.csv:1:1: expected 1 field, as many as names were given, found 2 fields"},
		{"a\n1\n", CSVOptions{Header: true, Separator: '"'}, `separator '"' cannot separate fields`},
		{"a,b\n1\n", CSVOptions{Header: true}, "f.csv:2:1: expected 2 fields, found 1 field"},
		{"a\n1\n", CSVOptions{Header: true, TableOptions: TableOptions{PartitionKey: []string{"b"}}}, `f.csv: --partition-key: there is no column "b"; there are a`},
		{"a\n1\n", CSVOptions{Header: true, TableOptions: TableOptions{Types: map[string]rowgroup.Type{"z": rowgroup.Int, "y": rowgroup.Int}}},
			"f.csv: --type: there is no column \"y\"; there are a\n--type: there is no column \"z\"; there are a"},
		{"a\n1\n", CSVOptions{Header: true, TableOptions: TableOptions{PartitionKey: []string{"a"}, Clustering: []ClusteringSpec{{Column: "a"}}}}, `f.csv: column "a" occurs twice`},
	} {
		_, err := rewrite(t, c.in, c.o, CSVWriteOptions{})
		require.EqualError(t, err, c.want)
	}
	// No row, no error; an error stays.
	out, err := rewrite(t, "a,b\n", CSVOptions{Header: true}, CSVWriteOptions{})
	require.NoError(t, err)
	require.Equal(t, "a,b\n", out)
	out, err = rewrite(t, "", CSVOptions{Names: []string{"a"}}, CSVWriteOptions{})
	require.NoError(t, err)
	require.Equal(t, "a\n", out)
	o := CSVOptions{}
	o.Types = map[string]rowgroup.Type{"column1": rowgroup.Int}
	r := open(t, "1\nx\n", o)
	b := rowgroup.NewBatch(r.Schema())
	more, err := r.Next(b)
	require.NoError(t, err)
	require.True(t, more)
	require.Equal(t, 1, b.Len())
	_, err = r.Next(b)
	require.Error(t, err)
	_, again := r.Next(b)
	require.Equal(t, err, again)
	require.NoError(t, r.Close())
}

func TestTimeSpec(t *testing.T) {
	for in, want := range map[string]TimeSpec{
		"ts":         {Column: "ts"},
		"ts:ms":      {Column: "ts", Unit: rowgroup.Millis, UnitSet: true},
		"ts:desc:us": {Column: "ts", Desc: true, Unit: rowgroup.Micros, UnitSet: true},
		"ts:ns:desc": {Column: "ts", Desc: true, Unit: rowgroup.Nanos, UnitSet: true},
		"a:b":        {Column: "a:b"},
		"s:s":        {Column: "s", UnitSet: true},
	} {
		got, err := ParseTimeSpec(in)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, in := range []string{"", ":ms", ":desc"} {
		_, err := ParseTimeSpec(in)
		require.Error(t, err, in)
	}
	got, err := ParseClusteringSpec("a:desc")
	require.NoError(t, err)
	require.Equal(t, ClusteringSpec{"a", true}, got)
	_, err = ParseClusteringSpec(":desc")
	require.Error(t, err)
}

// TestRoundTripProperty: values of every class come back with the same bits
// through CSV, whatever the separator and the mark of null.
func TestRoundTripProperty(t *testing.T) {
	s := everyClass(t)
	rapid.Check(t, func(t *rapid.T) {
		b := drawRows(t, s)
		sep := rapid.SampledFrom([]byte(",;\t|:-e")).Draw(t, "separator")
		null := rapid.SampledFrom([]string{"", "NULL", "\\N"}).Draw(t, "null mark")
		var text bytes.Buffer
		w, err := NewCSVWriter(&text, s, CSVWriteOptions{Separator: sep, Null: null})
		require.NoError(t, err)
		require.NoError(t, w.Write(b))
		require.NoError(t, w.Flush())
		require.EqualValues(t, b.Len(), w.Rows())
		require.Zero(t, w.NaNPayloads())
		o := CSVOptions{Header: true, Separator: sep, Null: []string{null}}
		o.Schema = s
		c, err := NewCSVReader(&text, "", o)
		require.NoError(t, err)
		got := rowgroup.NewBatch(s)
		_, err = c.Next(got)
		require.NoError(t, err)
		require.NoError(t, got.Check())
		sameRows(t, b, got)
	})
}

// FuzzCSVReader: whatever the text, no panic, and what is written reads back to
// the same text.
func FuzzCSVReader(f *testing.F) {
	for _, seed := range []string{"a,b\n1,2\n", "t\n2014-02-14 14:30:00\n2014-02-14 14:30:00.5\n", "x,y\nNaN,\n-0,\"\"\n", "a,b\n007,true\n1e5,false\n", "k,v\n\xff,1\n18446744073709551615,2\n"} {
		f.Add(seed, true, uint8(0))
		f.Add(seed, false, uint8(3))
	}
	f.Fuzz(func(t *testing.T, text string, header bool, roles uint8) {
		o := CSVOptions{Header: header, Separator: ','}
		o.AnyOrder = true
		if c, err := NewCSVReader(strings.NewReader(text), "", o); err == nil {
			for i, ch := range c.Choices() {
				if roles>>i&1 == 1 && i < 4 {
					o.PartitionKey = append(o.PartitionKey, ch.Column)
				} else if roles>>(4+i)&1 == 1 && i < 4 {
					o.Clustering = append(o.Clustering, ClusteringSpec{Column: ch.Column, Desc: i == 1})
				}
			}
		}
		once, err := rewrite(t, text, o, CSVWriteOptions{})
		if err != nil {
			return
		}
		o.Header = true
		if c, err := NewCSVReader(strings.NewReader(text), "", CSVOptions{Header: header, TableOptions: o.TableOptions}); err == nil {
			o.Types = map[string]rowgroup.Type{}
			for _, ch := range c.Choices() {
				o.Types[ch.Column] = ch.Type
			}
		}
		o.AnyOrder = false
		o.Jobs = 2
		twice, err := rewrite(t, once, o, CSVWriteOptions{})
		require.NoError(t, err)
		require.Equal(t, once, twice)
	})
}

func TestReaderAllocatesNothing(t *testing.T) {
	text := strings.Repeat("2014-02-14 14:30:00,0.132,text,12345678901,true,123456.78901234567,\n", 50*batchRows)
	c := open(t, text, CSVOptions{TableOptions: TableOptions{Time: &TimeSpec{Column: "column1"}}})
	b := rowgroup.NewBatch(c.Schema())
	for range 3 {
		_, err := c.Next(b)
		require.NoError(t, err)
	}
	require.Zero(t, testing.AllocsPerRun(20, func() {
		if more, err := c.Next(b); !more || err != nil {
			t.Fatal(err)
		}
	}))
}

func BenchmarkCSVWriter(b *testing.B) {
	text := strings.Repeat("2014-02-14 14:30:00,0.132,host0001,12345,71.23456789012345\n", batchRows)
	c := open(b, text, CSVOptions{})
	batch := rowgroup.NewBatch(c.Schema())
	_, err := c.Next(batch)
	require.NoError(b, err)
	w, err := NewCSVWriter(io.Discard, c.Schema(), CSVWriteOptions{})
	require.NoError(b, err)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, w.Write(batch))
	}
}

func TestFlagValue(t *testing.T) {
	for _, c := range [][3]string{
		{"v", "decimal", "v=decimal"}, {"a/b:c.d-e", "text", "a/b:c.d-e=text"}, {"größe", "text", "größe=text"},
		{"t", "timestamp(us)", "'t=timestamp(us)'"}, {"my col", "text", "'my col=text'"}, {"it's", "text", `'it'\''s=text'`},
		{"$x", "text", "'$x=text'"}, {"a*", "text", "'a*=text'"},
	} {
		require.Equal(t, c[2], FlagValue(c[0], c[1]))
	}
}
