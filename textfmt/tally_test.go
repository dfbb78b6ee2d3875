package textfmt

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

func TestRounded(t *testing.T) {
	for text, want := range map[string][2]bool{ // as a float, as a double
		"1": {}, "0.1": {}, "16777217": {true, false}, "9007199254740993": {true, true}, "9007199254740992": {false, false},
		"0.123456789": {true, false}, "0.123456791": {}, "51.846000000000004": {true, false}, "0.10000000000000001": {true, false},
		"0.1000000000000000055511151231257827021181583404541015625": {true, false}, "0.100000000000000005551115123125783": {true, false},
		"0.10000000000000000555111512312579": {true, true}, "1e300": {}, "NaN": {}, "-9007199254740993": {true, true}, "+16777217": {true, false},
		"123456789000000000000": {true, false}, "0.30000000000000000000000": {}, "18446744073709551616": {}, "18446744073709551617": {true, true},
		"9007199254740993e0": {true, true}, "170141183460469231731687303715884105729": {true, true},
	} {
		if v, ok := parseFloat32([]byte(text)); ok {
			require.Equal(t, want[0], rounded([]byte(text), float64(v), 6, 32), text)
		}
		v, ok := parseFloat64([]byte(text))
		require.True(t, ok, text)
		require.Equal(t, want[1], rounded([]byte(text), v, 15, 64), text)
	}
}

// What was rounded or skipped is counted, alike for any number of jobs.
func TestTallies(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b\n")
	for range 3000 {
		text.WriteString("1,9007199254740992\n\n9007199254740993,9007199254740995\r\n\r\n")
	}
	text.WriteString("\n")
	for _, jobs := range []int{1, 2, 5} {
		o := CSVOptions{Header: true}
		o.Jobs = jobs
		o.Types = map[string]rowgroup.Type{"a": rowgroup.Double, "b": rowgroup.Double}
		r, err := NewCSVReader(strings.NewReader(text.String()), "x", o)
		require.NoError(t, err)
		if r.pieces != nil {
			r.pieces.size = 1000
		}
		b := rowgroup.NewBatch(r.Schema())
		for more := true; more; {
			more, err = r.Next(b)
			require.NoError(t, err)
		}
		require.NoError(t, r.Close())
		require.Equal(t, []Rounding{{"a", 3000, 4, `"9007199254740993"`}, {"b", 3000, 4, `"9007199254740995"`}}, r.Rounded(), jobs)
		require.Equal(t, int64(6001), r.BlankLines(), jobs)
	}
}

// Columns of nothing but odd spellings of NaN and the infinities are doubles.
func TestInferWords(t *testing.T) {
	for _, text := range []string{"nan\nnan\n", "inf\nNaN\n", "-infinity\nnan\n", "NAN\n\"\"\n", "Infinity\n1\n"} {
		r, err := NewCSVReader(strings.NewReader("v\n"+text), "x", CSVOptions{Header: true})
		require.NoError(t, err)
		require.Equal(t, "double", r.Choices()[0].Type.String(), text)
		_, err = r.Next(rowgroup.NewBatch(r.Schema()))
		require.True(t, err == nil || errors.Is(err, io.EOF), err)
	}
}

func TestParseTime(t *testing.T) {
	for _, c := range []struct {
		text string
		unit rowgroup.Unit
		want int64
	}{
		{"1970-01-02", rowgroup.Seconds, 86400}, {"1970-01-01 00:01", rowgroup.Millis, 60_000}, {"1970-01-01T00:00:01.5Z", rowgroup.Seconds, 2},
		{"1970-01-01 00:00:00.0000001", rowgroup.Micros, 1}, {"1970-01-01 00:00:00.9999999", rowgroup.Seconds, 1}, {"1970-01-01T01:00:00+01:00", rowgroup.Nanos, 0},
		{"1969-12-31T23:59:59.25Z", rowgroup.Millis, -750}, {"1969-12-31T23:59:59.25Z", rowgroup.Seconds, 0}, {"1970/1/1 00:00:01", rowgroup.Seconds, 1},
	} {
		v, err := ParseTime(c.text, c.unit, nil)
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, v, c.text)
	}
	for _, text := range []string{"", "1", "01/02/2006", "2300-01-01", "2024-13-01"} {
		_, err := ParseTime(text, rowgroup.Nanos, nil)
		require.Error(t, err, text)
	}
}

// Columns named as writers name row metadata are that.
func TestMetadataColumns(t *testing.T) {
	r, err := NewCSVReader(strings.NewReader("v,$write_time,$ttl,$expiry\n1,10,10,20\n2,11,,\n"), "x", CSVOptions{Header: true})
	require.NoError(t, err)
	require.Equal(t, []string{"v"}, r.SourceColumns())
	require.True(t, r.Metadata())
	b := rowgroup.NewBatch(r.Schema())
	_, err = r.Next(b)
	require.NoError(t, err)
	require.Equal(t, []int64{10, 11}, b.Meta().WriteTimes)
	require.Equal(t, []int64{20, 0}, b.Meta().Expiries)
}

// Two rows of one key are named by their lines.
func TestDuplicateLines(t *testing.T) {
	o := CSVOptions{Header: true}
	o.Time, o.PartitionKey, o.Unique, o.NoDuplicates = &TimeSpec{Column: "t"}, []string{"h"}, true, true
	r, err := NewCSVReader(strings.NewReader("h,t,v\na,2024-01-01,1\nb,2024-01-01,1\nb,2024-01-02,1\n\nb,2024-01-02,2\n"), "x", o)
	require.NoError(t, err)
	b := rowgroup.NewBatch(r.Schema())
	_, err = r.Next(b)
	require.NoError(t, err)
	_, err = r.Next(b)
	require.EqualError(t, err, "x: lines 4 and 6 have the key h=b, t=2024-01-02T00:00:00Z; give --unique=first or --unique=last to keep one of them")
}
