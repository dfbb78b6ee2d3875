package predicate

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "at character 1: expected a column, found the end",
		"v":                      "at character 2: expected =, !=, <, <=, >, >=, in or is, found the end",
		"v >":                    "at character 4: expected a value, found the end",
		"v ! 3":                  `at character 3: expected =, !=, <, <=, > or >=, found "!"`,
		"v = null":               "at character 5: nothing compares with null: write is null or is not null",
		"v = 'x":                 "at character 5: a quote without its end",
		"(v = 1":                 "at character 7: expected and, or or ), found the end",
		"v = 1 v = 2":            `at character 7: expected and, or or the end, found "v"`,
		"v = 1 and":              "at character 10: expected a column, found the end",
		"v in 1":                 `at character 6: expected (, found "1"`,
		"v in (1 2)":             `at character 9: expected , or ), found "2"`,
		"v is 3":                 `at character 6: expected null, found "3"`,
		"é = 1 or ü":             "at character 11: expected =, !=, <, <=, >, >=, in or is, found the end",
		"'v' = 1":                `at character 1: expected a column, found "v"`,
		"v not like 3":           `at character 3: expected =, !=, <, <=, >, >=, in or is, found "not"`,
		strings.Repeat("(", 200): "at character 101: nested deeper than 100",
	} {
		_, err := Parse(text)
		require.EqualError(t, err, want, text)
	}
}

// table has a text key k, a timestamp(s) t, a static text s, and regular
// columns of several types.
func table(t *testing.T) *rowgroup.Schema {
	parse := func(s string) rowgroup.Type {
		typ, err := rowgroup.ParseType(s)
		require.NoError(t, err)
		return typ
	}
	s, err := rowgroup.NewSchema(
		[]rowgroup.Column{{Name: "k", Type: rowgroup.Text}},
		[]rowgroup.Column{{Name: "t", Type: parse("timestamp(s)"), Desc: true}},
		[]rowgroup.Column{{Name: "s", Type: rowgroup.Text}},
		[]rowgroup.Column{{Name: "d", Type: rowgroup.Double}, {Name: "f", Type: rowgroup.Float}, {Name: "i", Type: rowgroup.Int},
			{Name: "u", Type: parse("uint64")}, {Name: "x", Type: rowgroup.Text}, {Name: "n", Type: rowgroup.Decimal},
			{Name: "b", Type: rowgroup.Boolean}, {Name: "p", Type: parse("duration")}, {Name: "two words", Type: parse("date")}})
	require.NoError(t, err)
	return s
}

// rows are four rows of partition a, the last of them null in every regular
// column, and one of b, which goes on in a second batch.
func rows(t *testing.T, s *rowgroup.Schema) []*rowgroup.Batch {
	b := rowgroup.NewBatch(s)
	col := s.Lookup
	text := func(c, v string) {
		require.NoError(t, b.Bytes(col(c)).Append([]byte(v)))
	}
	value := func(c, v string) {
		x, err := rowgroup.ParseText(nil, s.Column(col(c)).Type, v)
		require.NoError(t, err)
		text(c, string(x))
	}
	row := func(sec int64, d float64, i int32, u uint64, x, n string, truth int32) {
		*b.Int64s(col("t")) = append(*b.Int64s(col("t")), sec)
		*b.Float64s(col("d")) = append(*b.Float64s(col("d")), d)
		*b.Float32s(col("f")) = append(*b.Float32s(col("f")), float32(d))
		*b.Int32s(col("i")) = append(*b.Int32s(col("i")), i)
		*b.Int64s(col("u")) = append(*b.Int64s(col("u")), int64(u))
		text("x", x)
		value("n", n)
		*b.Int32s(col("b")) = append(*b.Int32s(col("b")), truth)
		value("p", "1h")
		*b.Int32s(col("two words")) = append(*b.Int32s(col("two words")), i)
	}
	b.Clear()
	b.BeginPartition([]byte("a")).Static = rowgroup.StaticFull
	text("s", "sa")
	row(40, 1.5, 1, 1, "it's", "1.50", 1)
	row(30, math.NaN(), -2, math.MaxUint64, "", "-2", 0)
	row(20, math.Copysign(0, -1), 3, 0, "z", "1e3", 1)
	row(10, 0, 0, 0, "", "0", 0)
	for c := col("d"); c < s.NumColumns(); c++ {
		b.CellMeta(c).Cells = []rowgroup.Cell{0, 0, 0, rowgroup.CellAbsent}
	}
	b.BeginPartition([]byte("b")).Static = rowgroup.StaticFull
	text("s", "sb")
	row(7, 0.1, 9, 9, "y", "9", 1)
	for c := col("d"); c < s.NumColumns(); c++ {
		b.CellMeta(c).Cells = append(b.CellMeta(c).Cells, 0)
	}
	first := b.Clone()
	b.Clear()
	b.BeginPartition([]byte("b")).Continued = true
	row(6, 2, 10, 10, "y", "9", 1)
	h := b.BeginPartition([]byte("c"))
	h.Static = rowgroup.StaticFull
	b.CellMeta(col("s")).Cells = []rowgroup.Cell{rowgroup.CellAbsent, 0}
	text("s", "")
	text("s", "sc")
	return []*rowgroup.Batch{first, b.Clone()}
}

// chosen is the seconds of the rows chosen, or the key of a static row.
func chosen(t *testing.T, s *rowgroup.Schema, where string) string {
	e, err := Parse(where)
	require.NoError(t, err, where)
	p, err := e.Bind(s)
	require.NoError(t, err, where)
	var got []string
	for _, b := range rows(t, s) {
		require.NoError(t, b.Check())
		keep, alone := make([]bool, b.Len()), make([]bool, b.NumPartitions())
		for i := range keep {
			keep[i] = true
		}
		for i := range alone {
			alone[i] = true
		}
		require.NoError(t, p.Select(b, keep, alone))
		for i, k := range keep {
			if k {
				got = append(got, seconds(t, s, b, i))
			}
		}
		for i, k := range alone {
			if from, to := b.PartitionRows(i); k && from == to {
				got = append(got, string(b.Key(i)))
			}
		}
	}
	return strings.Join(got, " ")
}

func seconds(t *testing.T, s *rowgroup.Schema, b *rowgroup.Batch, i int) string {
	v, ok := b.AppendValue(nil, s.Lookup("t"), i)
	require.True(t, ok)
	return string(rowgroup.AppendText(nil, rowgroup.Bigint, v))
}

func TestSelect(t *testing.T) {
	s := table(t)
	for where, want := range map[string]string{
		"d > 0":                              "40 7 6",
		"d >= 0":                             "40 20 7 6",
		"d = 0":                              "20",
		"d = NaN":                            "30",
		"d != 1.5":                           "30 20 7 6",
		"not (d > 0)":                        "30 20",
		"f = 0.1":                            "7", // as it is printed
		"i < 0":                              "30",
		"i in (1, 3, 10)":                    "40 20 6",
		"i not in (1, 3, 10)":                "30 7",
		"u > 10":                             "30",
		"u <= 1":                             "40 20",
		"x = ''":                             "30",
		`x = 'it''s'`:                        "40",
		`x = "it's"`:                         "40",
		"x < 'y'":                            "40 30",
		"n = 1.5":                            "40",
		"n > 100":                            "20",
		"b = true":                           "40 20 7 6",
		"p = 1h":                             "40 30 20 7 6",
		`"two words" < 1970-01-01`:           "30",
		"d is null":                          "10 c",
		"d is not null":                      "40 30 20 7 6",
		"d IS NULL AND k = 'a'":              "10",
		"k = 'b'":                            "7 6",
		"s = 'sb'":                           "7 6",
		"s != 'sb'":                          "40 30 20 10 c",
		"s = sc":                             "c",
		"t >= 1970-01-01T00:00:10":           "40 30 20 10",
		"t >= '1970-01-01 00:00:09.5'":       "40 30 20 10",
		"t > '1970-01-01 00:00:09.5'":        "40 30 20 10",
		"t > '1970-01-01 00:00:10'":          "40 30 20",
		"t <= '1970-01-01 00:00:09.5'":       "7 6",
		"t = '1970-01-01 00:00:09.5'":        "",
		"t != '1970-01-01 00:00:09.5'":       "40 30 20 10 7 6",
		"t == 10":                            "10",
		"t <> 10 and t < 20":                 "7 6",
		"k='a' and(i>0 or x='')and not t=20": "40 30",
		"i > 0 or d is null or s = 'sc'":     "40 20 10 7 6 c",
		"i > 100 or i <= 100":                "40 30 20 7 6",
		"not (i > 100 and k = 'a')":          "40 30 20 7 6 c", // false and unknown is false
	} {
		require.Equal(t, want, chosen(t, s, where), where)
	}
}

func TestBindErrors(t *testing.T) {
	s := table(t)
	for where, want := range map[string]string{
		"w = 1":           `there is no column "w"`,
		"i = 1.5":         `column "i" is int: `,
		"i = 99999999999": `column "i" is int: `,
		"d < NaN":         `column "d": nothing is less or greater than NaN`,
		"p < 1h":          `column "p" is duration, which has no order`,
		"t = yesterday":   `column "t" is timestamp(s): expected a time like`,
		"i = ''":          `column "i" is int: `,
	} {
		e, err := Parse(where)
		require.NoError(t, err)
		_, err = e.Bind(s)
		require.ErrorContains(t, err, want, where)
	}
}

// Any text is a condition or an error, and a condition chooses the same rows as
// the same with not not before it.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"d > 0 and (k = 'a' or not s is null)", "x in ('it''s', \"z\")", "t >= '1970-01-01 00:00:09.5'", "n=1e3", "((", "d = NaN", "p != 1h", "\"two words\" <> 1970-01-02"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text)
		if err != nil {
			return
		}
		s := table(t)
		if _, err := e.Bind(s); err != nil {
			return
		}
		if _, err := Parse("not not (" + text + ")"); err != nil {
			return // nested too deep
		}
		require.Equal(t, chosen(t, s, text), chosen(t, s, "not not ("+text+")"))
	})
}
