package aggregate

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

func TestParse(t *testing.T) {
	specs, err := Parse("count, MIN(v) ,max( two words ),count(*v),avg(v)")
	require.NoError(t, err)
	require.Equal(t, []Spec{{Count, ""}, {Min, "v"}, {Max, "two words"}, {Count, "*v"}, {Avg, "v"}}, specs)
	specs, err = Parse("count(*)")
	require.NoError(t, err)
	require.Equal(t, "count", specs[0].String())
	for text, want := range map[string]string{
		"":               `expected count, min, max, sum, avg, first, last, found ""`,
		"median(v)":      `found "median"`,
		"min":            "min: of which column? Write min(column)",
		"min()":          "min: of which column?",
		"min(v":          "a ( without its )",
		"min(v) max(v)":  `after min(v): expected a comma, found "max(v)"`,
		"count,count(*)": "count stands there twice",
		"count,":         `found ""`,
	} {
		_, err := Parse(text)
		require.ErrorContains(t, err, want, text)
	}
}

func TestParseWindow(t *testing.T) {
	for text, want := range map[string]int64{
		"30s": 30e9, "1h30m": 5400e9, "7d": 7 * 86400e9, "0.5d": 43200e9, "2w": 14 * 86400e9, "300": 300, "250ms": 250e6,
	} {
		w, err := ParseWindow(text)
		require.NoError(t, err, text)
		require.Equal(t, want, w.length, text)
		require.Equal(t, text == "300", w.counted)
	}
	for _, text := range []string{"", "0", "-5m", "x", "5", "d", "1000000w", "10000000000000000000"} {
		if _, err := ParseWindow(text); text == "5" {
			require.NoError(t, err)
		} else {
			require.Error(t, err, text)
		}
	}
}

// row is a row of the table of the tests.
type row struct {
	key  string
	time int64
	f    float64
	i    int64
	s    string
	null [3]bool // of f, i and s
}

func schema(t *testing.T, desc bool) *rowgroup.Schema {
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "k", Type: rowgroup.Text}},
		[]rowgroup.Column{{Name: "t", Type: rowgroup.Timestamp(rowgroup.Millis), Desc: desc}},
		[]rowgroup.Column{{Name: "st", Type: rowgroup.Int}},
		[]rowgroup.Column{{Name: "f", Type: rowgroup.Double}, {Name: "i", Type: rowgroup.Bigint}, {Name: "s", Type: rowgroup.Text}, {Name: "g", Type: rowgroup.Float}},
		rowgroup.WithMultiset())
	require.NoError(t, err)
	return s
}

// batches cuts rows, which are in order, into batches of random lengths.
func batches(t *testing.T, s *rowgroup.Schema, rows []row, rnd *rand.Rand) (out []*rowgroup.Batch) {
	b := rowgroup.NewBatch(s)
	b.Clear()
	before := ""
	for n, r := range rows {
		if continued := n > 0 && r.key == before; !continued || b.NumPartitions() == 0 {
			b.BeginPartition([]byte(r.key)).Continued = continued
		}
		before = r.key
		*b.Int64s(s.Lookup("t")) = append(*b.Int64s(s.Lookup("t")), r.time)
		*b.Float64s(s.Lookup("f")) = append(*b.Float64s(s.Lookup("f")), r.f)
		*b.Float32s(s.Lookup("g")) = append(*b.Float32s(s.Lookup("g")), float32(r.f))
		*b.Int64s(s.Lookup("i")) = append(*b.Int64s(s.Lookup("i")), r.i)
		require.NoError(t, b.Bytes(s.Lookup("s")).Append([]byte(r.s)))
		for k, c := range []string{"f", "i", "s", "g"} {
			m := b.CellMeta(s.Lookup(c))
			cell := rowgroup.CellAsRow
			if r.null[k%3] {
				cell = rowgroup.CellAbsent
			}
			m.Cells = append(m.Cells, cell)
		}
		if rnd.IntN(5) == 0 {
			out = append(out, b.Clone())
			b.Clear()
		}
	}
	return append(out, b.Clone())
}

// run aggregates and prints the results, a line each.
func run(t *testing.T, s *rowgroup.Schema, in []*rowgroup.Batch, list string, o Options) (lines []string) {
	specs, err := Parse(list)
	require.NoError(t, err)
	a, err := New(s, specs, o, func(b *rowgroup.Batch) error {
		require.NoError(t, b.Check())
		for i := range b.Len() {
			var f []string
			for c := range b.Schema().NumColumns() {
				v, ok := b.AppendValue(nil, c, i)
				x := "null"
				if ok {
					x = string(rowgroup.AppendText(nil, b.Schema().Column(c).Type, v))
				}
				f = append(f, x)
			}
			lines = append(lines, strings.Join(f, " "))
		}
		return nil
	})
	require.NoError(t, err)
	for _, b := range in {
		require.NoError(t, a.Add(b))
	}
	require.NoError(t, a.End())
	return lines
}

const everything = "count,count(f),min(f),max(f),min(i),max(i),sum(i),avg(f),sum(f),min(s),max(s),first(i),last(i),min(g)"

// expected is what run prints, by looking at the rows one by one.
func expected(s *rowgroup.Schema, rows []row, o Options, window int64) (lines []string) {
	type id struct {
		part  int
		begin int64
	}
	groups := map[id][]row{}
	parts := map[string]int{}
	var ids []id
	for _, r := range rows {
		var g id
		if o.ByPartition {
			if _, ok := parts[r.key]; !ok {
				parts[r.key] = len(parts)
			}
			g.part = parts[r.key]
		}
		if o.Every != nil {
			g.begin = int64(math.Floor(float64(r.time)/float64(window))) * window
		}
		if groups[g] == nil {
			ids = append(ids, g)
		}
		groups[g] = append(groups[g], r)
	}
	sort.Slice(ids, func(i, j int) bool {
		if ids[i].part != ids[j].part {
			return ids[i].part < ids[j].part
		}
		return (ids[i].begin < ids[j].begin) != o.Descending
	})
	for _, g := range ids {
		rows := groups[g]
		var line []string
		if o.ByPartition {
			line = append(line, rows[0].key)
		}
		if o.Every != nil {
			line = append(line, string(rowgroup.AppendText(nil, rowgroup.Timestamp(rowgroup.Millis), rowgroup.AppendInt(nil, rowgroup.Bigint, g.begin))))
		}
		var floats []float64
		var ints []int64
		var texts []string
		nan, sumF, sumI := false, 0.0, new(big.Int)
		var first, last *row
		for n := range rows {
			r := &rows[n]
			if !r.null[0] {
				sumF += r.f
				if math.IsNaN(r.f) {
					nan = true
				} else {
					floats = append(floats, r.f)
				}
			}
			if !r.null[1] {
				ints = append(ints, r.i)
				sumI.Add(sumI, big.NewInt(r.i))
				if first == nil || r.time < first.time || o.Descending && r.time == first.time {
					first = r
				}
				if last == nil || r.time > last.time || !o.Descending && r.time == last.time {
					last = r
				}
			}
			if !r.null[2] {
				texts = append(texts, r.s)
			}
		}
		count := 0
		for _, r := range rows {
			if !r.null[0] {
				count++
			}
		}
		sort.Float64s(floats)
		sort.Slice(ints, func(i, j int) bool { return ints[i] < ints[j] })
		sort.Strings(texts)
		of := func(t rowgroup.Type, n int, v func() []byte) string {
			if n == 0 {
				return "null"
			}
			return string(rowgroup.AppendText(nil, t, v()))
		}
		float := func(t rowgroup.Type, n int, v func() float64) string {
			return of(t, n, func() []byte {
				if t.Kind == rowgroup.KindFloat {
					return rowgroup.AppendFloat32(nil, float32(v()))
				}
				return rowgroup.AppendFloat64(nil, v())
			})
		}
		least := func(at func() int) func() float64 {
			return func() float64 {
				if len(floats) == 0 {
					return math.NaN()
				}
				return floats[at()]
			}
		}
		begin, end := func() int { return 0 }, func() int { return len(floats) - 1 }
		some := len(floats)
		if nan {
			some++
		}
		int64Of := func(v int64) []byte { return rowgroup.AppendInt(nil, rowgroup.Bigint, v) }
		sum := "null"
		if len(ints) > 0 {
			sum = sumI.String()
		}
		line = append(line, fmt.Sprint(len(rows)), fmt.Sprint(count), float(rowgroup.Double, some, least(begin)), float(rowgroup.Double, some, least(end)),
			of(rowgroup.Bigint, len(ints), func() []byte { return int64Of(ints[0]) }), of(rowgroup.Bigint, len(ints), func() []byte { return int64Of(ints[len(ints)-1]) }),
			sum, float(rowgroup.Double, count, func() float64 { return sumF / float64(count) }), float(rowgroup.Double, count, func() float64 { return sumF }),
			of(rowgroup.Text, len(texts), func() []byte { return []byte(texts[0]) }), of(rowgroup.Text, len(texts), func() []byte { return []byte(texts[len(texts)-1]) }),
			of(rowgroup.Bigint, len(ints), func() []byte { return int64Of(first.i) }), of(rowgroup.Bigint, len(ints), func() []byte { return int64Of(last.i) }),
			float(rowgroup.Float, some, least(begin)))
		lines = append(lines, strings.Join(line, " "))
	}
	return lines
}

// Results are those of looking at the rows one by one, for rows with nulls and
// NaNs in every kind of grouping.
func TestAggregator(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 400 {
		desc := rnd.IntN(2) == 0
		s := schema(t, desc)
		var rows []row
		for p := range 1 + rnd.IntN(3) {
			n := 1 + rnd.IntN(20)
			times := make([]int64, n)
			for i := range times {
				times[i] = rnd.Int64N(60) - 30
			}
			sort.Slice(times, func(i, j int) bool { return (times[i] < times[j]) != desc && times[i] != times[j] })
			for _, at := range times {
				r := row{key: string(rune('a' + p)), time: at * 100, f: float64(rnd.IntN(9) - 4), i: rnd.Int64N(5) - 2, s: []string{"", "x", "y"}[rnd.IntN(3)]}
				switch rnd.IntN(6) {
				case 0:
					r.f = math.NaN()
				case 1:
					r.i = math.MaxInt64 - rnd.Int64N(3)
				case 2:
					r.null = [3]bool{rnd.IntN(2) == 0, rnd.IntN(2) == 0, rnd.IntN(2) == 0}
				}
				rows = append(rows, r)
			}
		}
		o := Options{ByPartition: rnd.IntN(2) == 0, Descending: desc, Mixed: rnd.IntN(2) == 0}
		window := int64(0)
		if rnd.IntN(2) == 0 {
			w, err := ParseWindow([]string{"500ms", "1s", "2"}[rnd.IntN(3)])
			require.NoError(t, err)
			o.Every = &w
			window = map[string]int64{"500ms": 500, "1s": 1000, "2": 2}[w.text]
		}
		got := run(t, s, batches(t, s, rows, rnd), everything, o)
		require.Equal(t, expected(s, rows, o, window), got)
	}
}

func TestEmpty(t *testing.T) {
	s := schema(t, false)
	require.Equal(t, []string{"0 0 null null"}, run(t, s, nil, "count,count(f),sum(i),first(s)", Options{}))
	require.Empty(t, run(t, s, nil, "count", Options{ByPartition: true}))
}

// Sums lose nothing that a double can say; windows at the ends of time are cut.
func TestExtremes(t *testing.T) {
	s := schema(t, false)
	rnd := rand.New(rand.NewPCG(1, 1))
	rows := []row{{key: "a", time: math.MinInt64, f: 1e100}, {key: "a", time: math.MinInt64 + 1, f: 1}, {key: "a", time: 0, f: -1e100}, {key: "a", time: math.MaxInt64, f: 1}}
	in := batches(t, s, rows, rnd)
	require.Equal(t, []string{"2"}, run(t, s, in, "sum(f)", Options{}))
	w := Window{length: 1 << 40, counted: true}
	require.Equal(t, []string{"2", "1", "1"}, last(run(t, s, in, "count", Options{Every: &w})))
	w.length = math.MaxInt64
	require.Equal(t, []string{"1", "1", "1", "1"}, last(run(t, s, in, "count", Options{Every: &w})))
	for i := range rows {
		rows[i].f = math.Inf(1)
	}
	require.Equal(t, []string{"+Inf +Inf"}, run(t, s, batches(t, s, rows, rnd), "sum(f),avg(f)", Options{}))
}

// last is the last field of each line.
func last(lines []string) (fields []string) {
	for _, l := range lines {
		fields = append(fields, l[strings.LastIndexByte(l, ' ')+1:])
	}
	return fields
}

func TestNewErrors(t *testing.T) {
	s := schema(t, false)
	noKey, err := rowgroup.NewSchema(nil, []rowgroup.Column{{Name: "n", Type: rowgroup.Int}}, nil, []rowgroup.Column{{Name: "count", Type: rowgroup.Int}})
	require.NoError(t, err)
	minute, err := ParseWindow("1m")
	require.NoError(t, err)
	nanos, err := ParseWindow("1ns")
	require.NoError(t, err)
	for _, c := range []struct {
		schema *rowgroup.Schema
		spec   Spec
		o      Options
		want   string
	}{
		{s, Spec{Min, "w"}, Options{}, `there is no column "w"`},
		{s, Spec{Sum, "s"}, Options{}, `sum(s): column "s" is text; sums are of integers, float and double`},
		{s, Spec{Sum, "t"}, Options{}, "sums are of integers"},
		{s, Spec{Min, "k"}, Options{}, "is the same in all rows of a partition"},
		{s, Spec{Min, "st"}, Options{}, "is the same in all rows of a partition"},
		{s, Spec{Count, ""}, Options{Every: &nanos}, "1ns is no whole number of the units of column \"t\", timestamp(ms)"},
		{noKey, Spec{Count, ""}, Options{Every: &minute}, `column "n" is int, which has no unit: give a bare number for 1m`},
		{noKey, Spec{Count, ""}, Options{ByPartition: true}, "no partition key"},
	} {
		_, err := New(c.schema, []Spec{c.spec}, c.o, nil)
		require.ErrorContains(t, err, c.want)
	}
}

func TestTooManyGroups(t *testing.T) {
	s := schema(t, false)
	w := Window{length: 1, counted: true}
	a, err := New(s, []Spec{{Count, ""}}, Options{Every: &w}, nil)
	require.NoError(t, err)
	a.most = 8 << 10
	b := rowgroup.NewBatch(s)
	b.Clear()
	b.BeginPartition([]byte("a"))
	for i := range int64(1024) {
		*b.Int64s(s.Lookup("t")) = append(*b.Int64s(s.Lookup("t")), i)
	}
	for range 8 {
		require.NoError(t, a.Add(b))
		for i := range *b.Int64s(s.Lookup("t")) {
			(*b.Int64s(s.Lookup("t")))[i] += 1024
		}
	}
	require.ErrorIs(t, a.Add(b), ErrTooManyGroups)
}

// Any text is a list or an error, and a list prints as what it was read from.
func FuzzParse(f *testing.F) {
	for _, text := range []string{everything, "count(*)", "min( a )", "max(a)),", "sum(a b)"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		specs, err := Parse(text)
		if err != nil {
			return
		}
		var list []string
		for _, s := range specs {
			list = append(list, s.String())
		}
		again, err := Parse(strings.Join(list, ","))
		require.NoError(t, err)
		require.Equal(t, specs, again)
	})
}
