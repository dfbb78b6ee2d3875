package textfmt

import (
	"math"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/rowgroup"
)

func TestParseInt(t *testing.T) {
	for _, c := range []struct {
		in string
		v  int64
		ok bool
	}{
		{"0", 0, true}, {"-0", 0, true}, {"+5", 5, true}, {"007", 7, true},
		{"9223372036854775807", math.MaxInt64, true}, {"-9223372036854775808", math.MinInt64, true},
		{"9223372036854775808", 0, false}, {"-9223372036854775809", 0, false}, {"18446744073709551616", 0, false},
		{"99999999999999999999999", 0, false},
		{"", 0, false}, {"-", 0, false}, {"+-1", 0, false}, {" 1", 0, false}, {"1 ", 0, false},
		{"1_000", 0, false}, {"0x10", 0, false}, {"1e3", 0, false}, {"1.0", 0, false},
	} {
		v, ok := parseInt([]byte(c.in))
		require.Equal(t, c.ok, ok, c.in)
		if ok {
			require.Equal(t, c.v, v, c.in)
		}
	}
}

func TestParseFloat(t *testing.T) {
	for _, c := range []struct {
		in string
		v  float64
		ok bool
	}{
		{"0", 0, true}, {"-0", math.Copysign(0, -1), true}, {"0.5", .5, true}, {".5", .5, true}, {"5.", 5, true},
		{"1e3", 1000, true}, {"-1E-3", -.001, true}, {"51.846000000000004", 51.846000000000004, true},
		{"4.9e-324", 5e-324, true}, {"1.7976931348623157e308", math.MaxFloat64, true}, {"0e999999999999", 0, true},
		{"1e400", 0, false}, {"1e-400", 0, false}, {"-1e99999999999999999999", 0, false},
		{"NaN", math.Float64frombits(canonicalNaN), true}, {"nan", math.Float64frombits(canonicalNaN), true}, {"inf", math.Inf(1), true}, {"-INFINITY", math.Inf(-1), true}, {"+Inf", math.Inf(1), true},
		{"-nan", 0, false}, {"", 0, false}, {".", 0, false}, {"e5", 0, false}, {"1e", 0, false}, {"1e+", 0, false}, {"1.2.3", 0, false},
		{"1_000", 0, false}, {"0x10", 0, false}, {"0x1p-2", 0, false}, {"1,5", 0, false}, {" 1", 0, false}, {"infinity1", 0, false}, {"1f", 0, false},
	} {
		v, ok := parseFloat64([]byte(c.in))
		require.Equal(t, c.ok, ok, c.in)
		if ok {
			require.Equal(t, math.Float64bits(c.v), math.Float64bits(v), c.in)
		}
	}
	v, ok := parseFloat32([]byte("16777217.000000001"))
	require.True(t, ok)
	require.Equal(t, float32(16777218), v, "rounded once")
	_, ok = parseFloat32([]byte("1e39"))
	require.False(t, ok)
}

// plainNumbers are texts of numbers that people write, near the middle of two
// floats among them.
var plainNumbers = rapid.OneOf(
	rapid.StringMatching(`-?[0-9]{1,17}(\.[0-9]{1,17})?`),
	rapid.StringMatching(`-?[0-9]{1,4}\.[0-9]{1,9}0{0,3}`),
	rapid.Custom(func(t *rapid.T) string {
		v := rapid.Float32Range(-1e5, 1e5).Draw(t, "float")
		return strconv.FormatFloat(float64(v), 'f', rapid.IntRange(-1, 12).Draw(t, "decimals"), 32)
	}),
	rapid.Custom(func(t *rapid.T) string {
		v := float64(rapid.Float32Range(-1e5, 1e5).Draw(t, "float"))
		next := float64(math.Nextafter32(float32(v), 1e9))
		return strconv.FormatFloat((v+next)/2, 'f', rapid.IntRange(-1, 16).Draw(t, "decimals"), 64)
	}),
	rapid.Custom(func(t *rapid.T) string {
		v := rapid.Float64Range(-1e3, 1e3).Draw(t, "double")
		return strconv.FormatFloat(v, 'f', rapid.SampledFrom([]int{-1, 15, 16, 17}).Draw(t, "decimals"), 64)
	}),
)

// TestPlainProperty: the short ways to floats, and to whether they were
// rounded, lead where the long ones do.
func TestPlainProperty(t *testing.T) {
	plain := 0
	rapid.Check(t, func(t *rapid.T) {
		text := plainNumbers.Draw(t, "text")
		b := []byte(text)
		if _, ok := parsePlain(b); ok {
			plain++
		}
		want, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		got, ok := parseFloat64(b)
		require.True(t, ok)
		require.Equal(t, math.Float64bits(want), math.Float64bits(got))
		require.Equal(t, roundedText(b, got, 15, 64), rounded(b, got, 15, 64))
		want, err = strconv.ParseFloat(text, 32)
		require.NoError(t, err)
		short, ok := parseFloat32(b)
		require.True(t, ok || want == 0)
		if !ok {
			return // below the floats
		}
		require.Equal(t, math.Float32bits(float32(want)), math.Float32bits(short))
		require.Equal(t, roundedText(b, float64(short), 6, 32), rounded(b, float64(short), 6, 32))
	})
	require.NotZero(t, plain)
}

// TestParseIntProperty: any bytes, in memory that ends with them.
func TestParseIntProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[+-]?[0-9]{0,20}[0-9/:;? \x00\x80-\xff]?[0-9]{0,4}`).Draw(t, "text")
		want, err := strconv.ParseInt(text, 10, 64)
		b := append(make([]byte, 0, len(text)), text...)
		got, ok := parseInt(b[:len(b):len(b)])
		require.Equal(t, err == nil, ok)
		if ok {
			require.Equal(t, want, got)
		}
	})
}

// TestParseFloatProperty: what parseFloat64 reads is what strconv reads.
func TestParseFloatProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.StringMatching(`[+-]?[0-9]{1,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,3})?`),
			rapid.Custom(func(t *rapid.T) string {
				v := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
				return strconv.FormatFloat(v, rapid.SampledFrom([]byte("gef")).Draw(t, "form"), -1, 64)
			}),
		).Draw(t, "text")
		want, err := strconv.ParseFloat(text, 64)
		got, ok := parseFloat64([]byte(text))
		if ok && math.IsNaN(want) {
			require.Equal(t, uint64(canonicalNaN), math.Float64bits(got))
		} else if ok {
			require.NoError(t, err)
			require.Equal(t, math.Float64bits(want), math.Float64bits(got))
		} else {
			require.True(t, err != nil || want == 0)
		}
		if n, ok := parseNumber([]byte(text)); ok && n.integer && err == nil {
			v, err := strconv.ParseInt(text, 10, 64)
			w, ok := parseInt([]byte(text))
			require.Equal(t, err == nil, ok)
			if ok {
				require.Equal(t, v, w)
			}
		}
	})
}

// T61: any number of fraction digits means what it says.
func TestT61FractionDigits(t *testing.T) {
	const at = 1643767322 // 2022-02-02T02:02:02Z
	for _, c := range []struct {
		in         string
		sec, nanos int64
		digits     int
		ok         bool
	}{
		{"2022-02-02T02:02:02.12345Z", at, 123450000, 5, true},
		{"2022-02-02T02:02:02.6Z", at, 600000000, 1, true},
		{"2022-02-02T02:02:02.123Z", at, 123000000, 3, true},
		{"2022-02-02T02:02:02Z", at, 0, 0, true},
		{"2022-02-02 02:02:02", at, 0, 0, true},
		{"2022-02-02", at - 7322, 0, 0, true},
		{"2022-02-02T02:02:02.123456789Z", at, 123456789, 9, true},
		{"2022-02-02T02:02:02.120000000z", at, 120000000, 2, true},
		{"2022-02-02T03:02:02+01:00", at, 0, 0, true},
		{"2022-02-01T20:32:02.5-0530", at, 500000000, 1, true},
		{"2022-02-02T03:02:02+01", at, 0, 0, true},
		{"2022-02-02T02:02:60Z", 0, 0, 0, false},
		{"2022-02-02T24:00:00Z", 0, 0, 0, false},
		{"2022-02-30", 0, 0, 0, false},
		{"2023-02-29", 0, 0, 0, false},
		{"2022-02-02T02:02:02.Z", 0, 0, 0, false},
		{"2022-02-02T02:02:02.1234567891Z", 0, 0, 0, false},
		{"2022-02-02T02:02", 0, 0, 0, false},
		{"2022-02-02T02:02:02 Z", 0, 0, 0, false},
		{"2022-02-02T02:02:02+1", 0, 0, 0, false},
		{"2022-02-02T02:02:02+24:00", 0, 0, 0, false},
		{"2022-2-2", 0, 0, 0, false},
		{"0000-01-01", 0, 0, 0, false},
		{"1577836800", 0, 0, 0, false},
	} {
		got, ok := parseInstant([]byte(c.in))
		require.Equal(t, c.ok, ok, c.in)
		if ok {
			require.Equal(t, [3]int64{c.sec, c.nanos, int64(c.digits)}, [3]int64{got.sec, got.nanos, int64(got.digits)}, c.in)
		}
	}
}

// T62: years that nanoseconds do not reach.
func TestT62Range(t *testing.T) {
	for _, c := range []struct {
		in    string
		nanos bool
	}{
		{"0001-01-01T00:00:00Z", false},
		{"1677-09-21T00:12:43Z", false},
		{"1677-09-21T00:12:43.145224191Z", false},
		{"1677-09-21T00:12:43.145224192Z", true},
		{"1720-12-30", true},
		{"2262-04-11T23:47:16.854775807Z", true},
		{"2262-04-11T23:47:16.854775808Z", false},
		{"2300-01-01", false},
		{"9999-12-31", false},
	} {
		got, ok := parseInstant([]byte(c.in))
		require.True(t, ok, c.in)
		want, err := time.Parse(time.RFC3339Nano, c.in)
		if err != nil {
			want, err = time.Parse(time.DateOnly, c.in)
		}
		require.NoError(t, err)
		v, exact, fits := got.in(rowgroup.Nanos)
		require.True(t, exact)
		require.Equal(t, c.nanos, fits, c.in)
		if fits {
			require.Equal(t, want.UnixNano(), v, c.in)
		}
		if got.digits <= 6 {
			v, exact, fits = got.in(rowgroup.Micros)
			require.True(t, exact && fits)
			require.Equal(t, want.UnixMicro(), v)
			v, exact, fits = got.in(rowgroup.Seconds)
			require.Equal(t, got.digits == 0, exact)
			require.True(t, fits)
			if exact {
				require.Equal(t, want.Unix(), v)
			}
		}
	}
}

func TestParseInstantProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sec := rapid.Int64Range(-62135596800, 253402300799).Draw(t, "sec")
		want := time.Unix(sec, rapid.Int64Range(0, 999999999).Draw(t, "nanos")).UTC()
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999"} {
			got, ok := parseInstant(want.AppendFormat(nil, layout))
			require.True(t, ok)
			require.Equal(t, want, time.Unix(got.sec, got.nanos).UTC())
		}
	})
}

// What is no instant is refused.
func TestParseInstantRefuses(t *testing.T) {
	form := regexp.MustCompile(`^(\d{4}-\d\d-\d\d)([Tt ](\d\d:\d\d:\d\d)(\.\d{1,9})?([zZ]|[+-]([01]\d|2[0-3])(:?[0-5]\d)?)?)?$`)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[0-2]0[0-2][0-9]-[01][0-9]-[0-3][0-9]([Tt ][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\.[0-9]{1,10})?(z|Z|[+-][0-2][0-9](:?[0-6][0-9])?)?)?`).Draw(t, "text")
		b := []byte(text)
		if rapid.Bool().Draw(t, "change") {
			b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] = rapid.SampledFrom([]byte("0/:;-+.TZ \x00\xff\xb0?")).Draw(t, "byte")
		}
		want := false
		if m := form.FindSubmatch(b); m != nil && string(m[1][:4]) != "0000" {
			_, err := time.Parse(time.DateOnly, string(m[1]))
			if want = err == nil; want && len(m[3]) > 0 {
				_, err = time.Parse(time.TimeOnly, string(m[3]))
				want = err == nil
			}
		}
		got, ok := parseInstant(b)
		require.Equal(t, want, ok, "%q %v", b, got)
	})
}

func TestLocal(t *testing.T) {
	loc, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		t.Skip("no time zone data")
	}
	for _, c := range []struct{ in, want string }{
		{"2012-07-01 12:00:00", "2012-07-01T19:00:00Z"},
		{"2012-12-01 12:00:00", "2012-12-01T20:00:00Z"},
		{"2012-03-11 02:30:00", ""},                     // skipped
		{"2012-11-04 01:30:00", "2012-11-04T08:30:00Z"}, // twice: the first
		{"2012-11-04 01:30:00Z", "2012-11-04T01:30:00Z"},
	} {
		got, ok := parseInstant([]byte(c.in))
		require.True(t, ok)
		shifted := got
		require.Equal(t, c.want != "", got.local(wallZone{loc: loc}), c.in)
		require.True(t, shifted.local(wallZone{loc, true}))
		if c.want == "" {
			require.Equal(t, "2012-03-11T10:30:00Z", time.Unix(shifted.sec, 0).UTC().Format(time.RFC3339))
		} else {
			require.Equal(t, got, shifted)
		}
		if c.want != "" {
			require.Equal(t, c.want, time.Unix(got.sec, 0).UTC().Format(time.RFC3339))
		}
	}
}

// What units makes of a number is what ParseText does; what it does not make is
// left to that.
func TestUnits(t *testing.T) {
	for _, typ := range []rowgroup.Type{rowgroup.Numeric(1, 0), rowgroup.Numeric(5, 2), rowgroup.Numeric(9, 9), rowgroup.Numeric(18, 0), rowgroup.Numeric(18, 18)} {
		for _, text := range []string{"0", "-0", "1", "-1.5", "0.005", "9.99", "999.99", "1000", "99999", "0.000000001", "0.999999999999999999", "999999999999999999",
			"1000000000000000000", "9223372036854775807", "-9223372036854775808", "0.9999999999999999999", "12.", ".5", "1e2", "x", ""} {
			n, ok := parsePlain([]byte(text))
			if !ok {
				continue
			}
			v, ok := n.units(&typ)
			if !ok {
				continue
			}
			want, err := rowgroup.ParseText(nil, typ, text)
			require.NoError(t, err, "%s %s", typ, text)
			require.Equal(t, want, rowgroup.AppendInt(nil, typ, v), "%s %s", typ, text)
		}
		n, ok := parsePlain([]byte("0.1"))
		require.True(t, ok)
		_, ok = n.units(&typ)
		require.Equal(t, typ.Scale > 0, ok)
	}
}
