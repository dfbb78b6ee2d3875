package textfmt

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/rowgroup"
)

func TestLayout(t *testing.T) {
	for _, c := range []struct{ layout, in, want string }{ // want: RFC 3339 in UTC, "" for none
		{"2006-01-02 15:04:05", "2014-02-14 14:30:00", "2014-02-14T14:30:00Z"},
		{"2006-01-02 15:04:05", "2014-02-14 14:30:00.25", "2014-02-14T14:30:00.25Z"},
		{"2006-01-02 15:04:05.000", "2014-02-14 14:30:00.2500000000000", "2014-02-14T14:30:00.25Z"},
		{"2006-01-02 15:04:05.000", "2014-02-14 14:30:00,123456789", "2014-02-14T14:30:00.123456789Z"},
		{"2006-01-02 15:04:05", "2014-02-14 14:30:00.1234567891", ""},
		{"2006-01-02 15:04:05-07:00", "2013-01-01 22:00:00+01:30", "2013-01-01T20:30:00Z"},
		{"2006-01-02T15:04:05Z", "2013-01-01T22:00:00Z", "2013-01-01T22:00:00Z"},
		{"02/01/2006 15:04", "14/02/2014 14:30", "2014-02-14T14:30:00Z"},
		{"02/01/2006 15:04", "02/14/2014 14:30", ""},
		{"2/1/2006 15:04:05", "5/12/2010 9:05:00", "2010-12-05T09:05:00Z"},
		{"02.01.2006 15:04:05", "01.12.2010 09:05:00", "2010-12-01T09:05:00Z"},
		{"01/02/2006 03:04:05 PM", "10/03/2012 12:00:00 AM", "2012-10-03T00:00:00Z"},
		{"01/02/2006 03:04:05 PM", "10/03/2012 12:59:59 pm", "2012-10-03T12:59:59Z"},
		{"01/02/2006 03:04:05 PM", "10/03/2012 13:00:00 PM", ""},
		{"20060102", "20140214", "2014-02-14T00:00:00Z"},
		{"200601", "201402", "2014-02-01T00:00:00Z"},
		{"20060102 150405.000", "20200101 170000.123", "2020-01-01T17:00:00.123Z"},
		{"2006 1 2 15", "2010 1 31 0", "2010-01-31T00:00:00Z"},
		{"2006-002", "2016-366", "2016-12-31T00:00:00Z"},
		{"2006-002", "2015-366", ""},
		{"06-01-02", "68-01-01", "2068-01-01T00:00:00Z"},
		{"06-01-02", "69-01-01", "1969-01-01T00:00:00Z"},
		{"apache", "17/May/2015:08:05:32 +0000", "2015-05-17T08:05:32Z"},
		{"apache", "17/may/2015:08:05:32 -0700", "2015-05-17T15:05:32Z"},
		{"apache", "17/Mai/2015:08:05:32 -0700", ""},
		{"rfc1123", "Mon, 02 Jan 2006 15:04:05 GMT", "2006-01-02T15:04:05Z"},
		{"rfc1123", "Mon, 02 Jan 2006 15:04:05 CEST", ""},
		{"ansic", "Mon Jan  2 15:04:05 2006", "2006-01-02T15:04:05Z"},
		{"January 2, 2006", "March 14, 2015", "2015-03-14T00:00:00Z"},
		{"%d/%m/%Y %H:%M:%S", "14/2/2014 14:30:00.5", "2014-02-14T14:30:00.5Z"},
		{"%Y-%m-%dT%H:%M:%S.%f%z", "2014-02-14T14:30:00.5+0100", "2014-02-14T13:30:00.5Z"},
		{"%F %T", "2014-02-14 14:30:01", "2014-02-14T14:30:01Z"},
		{"%b %e %Y %I:%M %p", "Feb  4 2014 02:30 PM", "2014-02-04T14:30:00Z"},
		{"100%% %Y%j", "100% 2014045", "2014-02-14T00:00:00Z"},
		{"unix", "1305031102.175304", "2011-05-10T12:38:22.175304Z"},
		{"unix", "1305031102", "2011-05-10T12:38:22Z"},
		{"unix", "-1.5", "1969-12-31T23:59:58.5Z"},
		{"unix", "-0.5", "1969-12-31T23:59:59.5Z"},
		{"unix", "1e9", ""}, {"unix", "", ""}, {"unix", ".5", ""}, {"unix", "99999999999999", ""}, {"unix", "253402300800", ""},
		{"iso", "2014-02-14 14:30:00", "2014-02-14T14:30:00Z"},
		{"2006-01-02", "2014-02-30", ""}, {"2006-01-02", "2014-2-03", ""}, {"2006-01-02", "0000-02-03", ""}, {"2006-01-02", "2014-02-03 ", ""},
		{"2006-01-02 15:04:05", "2014-02-14 24:00:00", ""}, {"2006-01-02 15:04:05", "2014-02-14 23:59:60", ""},
	} {
		l, err := ParseLayout(c.layout)
		require.NoError(t, err, c.layout)
		got, ok := l.parse([]byte(c.in))
		if c.want == "" {
			require.False(t, ok, "%s %s", c.layout, c.in)
			continue
		}
		require.True(t, ok, "%s %s", c.layout, c.in)
		require.Equal(t, c.want, time.Unix(got.sec, got.nanos).UTC().Format(time.RFC3339Nano), c.layout)
		v, exact, _ := got.in(rowgroup.Nanos)
		require.True(t, exact)
		require.Equal(t, got.sec*1e9+got.nanos, v)
		require.Zero(t, testing.AllocsPerRun(10, func() { l.parse([]byte(c.in)) }))
	}
	for in, want := range map[string]string{
		"15:04":               "expected one year",
		"2006":                "expected one month",
		"2006-01-02 03:04":    "12 hours need AM or PM",
		"2006-01-02 04":       "do not make a time of day",
		"2006-002 01":         "expected one month",
		"%Y-%m-%d %Q":         "directive %Q is not known",
		"%Y-%m-%d %":          "% at the end",
		"2006-01-02 2006":     "expected one year",
		"%Y-%m-%d %H:%M:%S%S": "do not make a time of day",
	} {
		_, err := ParseLayout(in)
		require.ErrorContains(t, err, want, in)
	}
}

// TestLayoutProperty compares with package time.
func TestLayoutProperty(t *testing.T) {
	layouts := []string{
		"2006-01-02 15:04:05", "02/01/2006 15:04:05.000000000", "Mon, 02 Jan 2006 15:04:05.999999999 -0700", "20060102150405",
		"January 2 2006 3:04:05 pm", "_2 Jan 06 03:04:05PM", "2006-002T15:04:05Z07:00", "1/2/2006 15:04:05,000",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom(layouts).Draw(t, "layout")
		l, err := ParseLayout(text)
		require.NoError(t, err)
		zone := time.FixedZone("", 60*rapid.IntRange(-700, 700).Draw(t, "zone"))
		in := time.Unix(rapid.Int64Range(0, 2e9).Draw(t, "sec"), rapid.Int64Range(0, 999999999).Draw(t, "nanos")).In(zone).Format(text)
		want, err := time.Parse(text, in)
		require.NoError(t, err)
		got, ok := l.parse([]byte(in))
		require.True(t, ok, in)
		require.Equal(t, want.UnixNano(), got.sec*1e9+got.nanos, in)
	})
}

func FuzzLayout(f *testing.F) {
	f.Add("2006-01-02 15:04:05", "2014-02-14 14:30:00.5")
	f.Add("%d/%b/%Y:%T %z", "17/May/2015:08:05:32 +0000")
	f.Add("unix", "-1.5")
	f.Fuzz(func(t *testing.T, layout, text string) {
		l, err := ParseLayout(layout)
		if err != nil {
			return
		}
		if got, ok := l.parse([]byte(text)); ok {
			require.True(t, 0 <= got.nanos && got.nanos < 1e9)
			require.True(t, firstSecond-86400 <= got.sec && got.sec < afterSecond+86400)
		}
	})
}

// TestTimeForms: what a time column may look like without a layout, and what
// it is told where it may not.
func TestTimeForms(t *testing.T) {
	for _, c := range []struct{ cells, want, err string }{
		{"2014/02/14 14:30,2014/02/14 14:31", "2014-02-14T14:30:00Z,2014-02-14T14:31:00Z", ""},
		{"2014/2/4 14:30:00.5", "2014-02-04T14:30:00.500Z", ""},
		{"2014-02-14 14:30", "2014-02-14T14:30:00Z", ""},
		{"20140214 143000.250", "2014-02-14T14:30:00.250Z", ""},
		{"17/May/2015:08:05:32 +0100", "2015-05-17T07:05:32Z", ""},
		{"2015-05-17,17/May/2015:08:05:32", "", `time column "t" is text (line 2: "17/May/2015:08:05:32")`},
		{"17/May/2015:08:05:32,2015-05-17", "", `time column "t" is text (line 1: "17/May/2015:08:05:32")`},
		{"14/02/2014 14:30", "", "is the day first or the month? give --layout 't=2/1/2006 15:04' or --layout 't=1/2/2006 15:04'"},
		{"14.02.2014", "", "is the day first or the month? give --layout t=2.1.2006 or --layout t=1.2.2006"},
		{"1.5", "", "for decimal seconds give --layout t=unix"},
	} {
		o := CSVOptions{Names: []string{"t"}}
		o.Time = &TimeSpec{Column: "t"}
		out, err := rewrite(t, strings.ReplaceAll(c.cells, ",", "\n"), o, CSVWriteOptions{NoHeader: true})
		if c.err != "" {
			require.ErrorContains(t, err, c.err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, strings.ReplaceAll(c.want, ",", "\n")+"\n", out)
	}
}

func TestLayoutsOfColumns(t *testing.T) {
	layout := func(s string) *Layout {
		l, err := ParseLayout(s)
		require.NoError(t, err)
		return l
	}
	o := CSVOptions{Header: true}
	o.Layouts = map[string]*Layout{"t": layout("02/01/2006 15:04:05"), "u": layout("unix")}
	o.Time = &TimeSpec{Column: "t"}
	out, err := rewrite(t, "t,u\n01/02/2014 14:30:00,1.5\n02/02/2014 14:30:00.25,\n", o, CSVWriteOptions{})
	require.NoError(t, err)
	require.Equal(t, "t,u\n2014-02-01T14:30:00.000Z,1970-01-01T00:00:01.500Z\n2014-02-02T14:30:00.250Z,\n", out)
	_, err = rewrite(t, "t,u\n01/02/2014 14:30:00,1.5\n01/13/2014 14:30:00,\n", o, CSVWriteOptions{})
	require.EqualError(t, err, `f.csv:3:1: column "t": expected a time like 02/01/2006 15:04:05, found "01/13/2014 14:30:00"`)
	_, err = rewrite(t, "t\n1\n", o, CSVWriteOptions{})
	require.ErrorContains(t, err, `--layout: there is no column "u"`)
	o.Types = map[string]rowgroup.Type{"u": rowgroup.Bigint}
	_, err = rewrite(t, "t,u\n01/02/2014 14:30:00,1\n", o, CSVWriteOptions{})
	require.EqualError(t, err, `f.csv: --layout: column "u" is bigint, no timestamp`)
}

func TestJoin(t *testing.T) {
	join := func(s string) Join {
		j, err := ParseJoin(s)
		require.NoError(t, err)
		return j
	}
	o := CSVOptions{Header: true}
	o.Joins = []Join{join("time=year+month+day+hour")}
	l, err := ParseLayout("2006 1 2 15")
	require.NoError(t, err)
	o.Layouts = map[string]*Layout{"time": l}
	o.Time = &TimeSpec{Column: "time"}
	text := "No,year,month,day,hour,v\n1,2010,1,1,0,NA\n2,2010,1,1,1,x\n"
	out, err := rewrite(t, text, o, CSVWriteOptions{})
	require.NoError(t, err)
	require.Equal(t, "No,time,v\n1,2010-01-01T00:00:00Z,NA\n2,2010-01-01T01:00:00Z,x\n", out)
	o.Joins[0].Keep = true
	out, err = rewrite(t, text, o, CSVWriteOptions{})
	require.NoError(t, err)
	require.Equal(t, "No,time,year,month,day,hour,v\n1,2010-01-01T00:00:00Z,2010,1,1,0,NA\n2,2010-01-01T01:00:00Z,2010,1,1,1,x\n", out)
	require.Equal(t, Join{"t", []string{"a", "b"}, true}, join("t=a+b+"))
	for _, bad := range []string{"", "t", "t=", "=a", "t=a++b"} {
		_, err := ParseJoin(bad)
		require.Error(t, err, bad)
	}
	for _, c := range []struct{ join, err string }{
		{"t=a+b", `--join: there is no column "a"`}, {"v=year+day", `--join: there are two columns "v"`},
	} {
		o := CSVOptions{Header: true, Joins: []Join{join(c.join)}}
		_, err := rewrite(t, text, o, CSVWriteOptions{})
		require.ErrorContains(t, err, c.err)
	}
	// Without a header; a part that is null.
	o = CSVOptions{Names: []string{"a", "b", "c"}, Joins: []Join{join("j=a+b")}, Null: []string{"", "NA"}}
	out, err = rewrite(t, "1,2,3\n4,NA,6\n", o, CSVWriteOptions{})
	require.NoError(t, err)
	require.Equal(t, "j,c\n1 2,3\n,6\n", out)
}
