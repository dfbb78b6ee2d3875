package textfmt

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/rowgroup"
)

// oneByOne hides the blocks of records.
type oneByOne struct{ records }

func (o oneByOne) blankLines() int64 { return o.records.(*csvRecords).blankLines() }

// outcome is all that comes of reading a text.
type outcome struct {
	rows    string
	err     error
	rejects []SyntaxError
	rounded []Rounding
	blank   int64
}

func readAll(t require.TestingT, text string, o CSVOptions, skip, blocks bool) (out outcome) {
	if skip {
		o.OnError = func(e *SyntaxError) bool {
			out.rejects = append(out.rejects, *e)
			return true
		}
	}
	r, err := NewCSVReader(strings.NewReader(text), "f.csv", o)
	require.NoError(t, err)
	defer r.Close()
	if !blocks {
		r.rows = oneByOne{r.rows}
	}
	var dump bytes.Buffer
	w := NewDumpWriter(&dump, r.Schema())
	b := rowgroup.NewBatch(r.Schema())
	for more := true; more && out.err == nil; {
		more, out.err = r.Next(b)
		if more {
			require.NoError(t, b.Check())
			require.NoError(t, w.Write(b))
		}
	}
	require.NoError(t, w.Flush())
	out.rows, out.rounded, out.blank = dump.String(), r.Rounded(), r.BlankLines()
	return out
}

var cellsOf = map[string][]string{
	"text":          {"a", "", "NA", `""`, `"NA"`, `"a,b"`, `"q""q"`, "\"l\nl\"", "\xff", `"` + "\xc3\x28" + `"`, "ä€", "x y", "12", strings.Repeat("long", 30)},
	"bigint":        {"1", "-2", "007", "+5", "9223372036854775807", "1234567890123456", `"3"`, "", "NA", "12345678"},
	"int":           {"1", "-2147483648", "12345", "999999999", ""},
	"tinyint":       {"1", "-128", "127"},
	"uint64":        {"0", "18446744073709551615", "5"},
	"float":         {"0.5", "-0", "NaN", "-inf", "1e3", "16777217", "83.29999", "0.123456789", "50.1234567", "", "NA", ".5"},
	"double":        {"0.1", "51.846000000000004", "1e-3", "9007199254740993", "0.10000000000000001", "3.", "123456.7890123"},
	"boolean":       {"true", "False", ""},
	"date":          {"2024-02-29", "1969-12-31"},
	"timestamp(ms)": {"2024-01-01T00:00:00Z", "2024-01-01 01:02:03.5", "1577836800000", "-5", "", "2024-01-01"},
	"decimal":       {"1.50", "1e10", "-3"},
	"uuid":          {"00112233-4455-6677-8899-aabbccddeeff"},
	"time":          {"01:02:03.5"},
}

// Blocks of rows become what the rows one by one become, errors among it.
func TestBlocksProperty(t *testing.T) {
	kinds := slices.Sorted(func(yield func(string) bool) {
		for k := range cellsOf {
			if !yield(k) {
				return
			}
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		o := CSVOptions{Names: []string{"k", "k2", "t"}}
		o.Types = map[string]rowgroup.Type{"k": rowgroup.Text, "k2": rowgroup.Bigint, "t": rowgroup.Timestamp(rowgroup.Seconds)}
		o.Time = &TimeSpec{Column: "t", Desc: rapid.Bool().Draw(t, "desc")}
		o.PartitionKey = rapid.SampledFrom([][]string{nil, {"k"}, {"k", "k2"}}).Draw(t, "key")
		if rapid.Bool().Draw(t, "marks") {
			o.Null = []string{"NA", "-5", ""}
		}
		meta := rapid.IntRange(0, 4).Draw(t, "metadata")
		if meta%4 > 0 {
			o.WriteTime = "w"
			o.Names = append(o.Names, "w")
		}
		if meta > 1 {
			o.TTL = "ttl"
			o.Names = append(o.Names, "ttl")
		}
		if meta > 2 {
			o.Expiry = "expiry"
			o.Names = append(o.Names, "expiry")
		}
		var types []string
		for i := range rapid.IntRange(0, 4).Draw(t, "columns") {
			name := fmt.Sprint("c", i)
			types = append(types, rapid.SampledFrom(kinds).Draw(t, "type"))
			typ, err := rowgroup.ParseType(types[i])
			require.NoError(t, err)
			o.Types[name], o.Names = typ, append(o.Names, name)
		}
		o.NullClustering = rapid.IntRange(0, 4).Draw(t, "static rows") == 0
		o.AnyOrder = rapid.Bool().Draw(t, "any order")
		o.Unique = rapid.Bool().Draw(t, "unique")
		o.NoDuplicates = o.Unique
		o.TrailingSeparator = rapid.Bool().Draw(t, "trailing")
		o.Separator = rapid.SampledFrom([]byte(",;\t\xe4")).Draw(t, "separator")
		separator := string([]byte{o.Separator})
		bad := rapid.SampledFrom([]int{0, 200, 20}).Draw(t, "one bad of")
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")

		o.Header = true
		var text strings.Builder
		text.WriteString(strings.Join(o.Names, separator))
		if o.TrailingSeparator {
			text.WriteByte(o.Separator)
		}
		text.WriteString("\n")
		o.Names = nil
		rows := rapid.IntRange(0, 120).Draw(t, "rows")
		odd := func(n int) bool { return n > 0 && rapid.IntRange(1, n).Draw(t, "odd") == 1 }
		time := 1000
		for i := range rows {
			key := i / 25
			switch {
			case o.Time.Desc:
				time = 100_000 - 5*i
			default:
				time += rapid.IntRange(0, 2).Draw(t, "step")
			}
			if odd(bad) {
				time -= 3
			}
			if rapid.IntRange(0, 30).Draw(t, "below zero") == 0 && i == 0 {
				time = -200
			}
			cells := []string{fmt.Sprint("key", key), fmt.Sprint(key), fmt.Sprint(time)}
			if o.NullClustering && odd(8) {
				cells[2] = ""
			}
			if meta%4 > 0 {
				cells = append(cells, fmt.Sprint(1_780_000_000_000_000+int64(i)))
			}
			if meta > 1 {
				cells = append(cells, rapid.SampledFrom([]string{"60", "0", "", "2592000"}).Draw(t, "ttl"))
			}
			if meta > 2 {
				expiry := ""
				if ttl := cells[len(cells)-1]; ttl != "" && ttl != "0" && !odd(4) || odd(bad) {
					expiry = "1780000060"
				}
				cells = append(cells, expiry)
			}
			for _, typ := range types {
				cells = append(cells, rapid.SampledFrom(cellsOf[typ]).Draw(t, "cell"))
			}
			if odd(bad) {
				cells[rapid.IntRange(0, len(cells)-1).Draw(t, "at")] = rapid.SampledFrom([]string{"x", "", "-1", `""`, `"a"b`, `a"b`, "\r", "1e400", "NA", "\"key0\"", `"open`, `"1""2"`, `""""`}).Draw(t, "bad")
			}
			line := strings.Join(cells, separator)
			line = strings.ReplaceAll(line, ",", separator)
			if o.TrailingSeparator && !odd(bad) {
				line += separator
			}
			if odd(bad) {
				line += rapid.SampledFrom([]string{"\n", separator + "1", "\r\n\r"}).Draw(t, "rest")
			}
			text.WriteString(line)
			if i+1 < rows || rapid.Bool().Draw(t, "last end") {
				text.WriteString(end)
			}
		}
		skip := rapid.Bool().Draw(t, "skip")
		want := readAll(t, text.String(), o, skip, false)
		got := readAll(t, text.String(), o, skip, true)
		require.Equal(t, want, got, text.String())
	})
}

// Blocks and rows by themselves take turns in a long text, over the ends of
// buffers and pieces.
func TestBlocksLong(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, oneOdd := range []int{3, 100, 5000} {
		var text strings.Builder
		text.WriteString("k,t,v,s\n")
		for i := range 15_000 {
			v, s := fmt.Sprint(r.Float64()), `"a, b"`
			if r.IntN(oneOdd) == 0 {
				v = []string{"", "x", "1e400", "0.1234567890123456789", "5"}[r.IntN(5)]
				s = []string{`"a""b"`, "\"l\n\nl\"", "\xff", `"x"x`, "", "\n", "\r", strings.Repeat("long ", r.IntN(20_000))}[r.IntN(8)]
			}
			fmt.Fprintf(&text, "key%03d,%d,%s,%s\n", i/200, 1_000_000+i, v, s)
		}
		o := CSVOptions{Header: true}
		o.PartitionKey, o.Time = []string{"k"}, &TimeSpec{Column: "t", UnitSet: true}
		o.Types = map[string]rowgroup.Type{"v": rowgroup.Double, "s": rowgroup.Text}
		for _, skip := range []bool{false, true} {
			want, got := readAll(t, text.String(), o, skip, false), readAll(t, text.String(), o, skip, true)
			require.True(t, reflect.DeepEqual(want, got), "%d %v %v %v", oneOdd, skip, want.err, got.err)
		}
	}
}
