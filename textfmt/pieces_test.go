package textfmt

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/rowgroup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// drain is the text of all rows of a reader, the partitions they are in, and
// the error that ended them.
func drain(t require.TestingT, r *Reader) (string, error) {
	defer r.Close()
	var out, partitions strings.Builder
	w, err := NewCSVWriter(&out, r.Schema(), CSVWriteOptions{})
	require.NoError(t, err)
	b := rowgroup.NewBatch(r.Schema())
	for first := true; ; first = false {
		more, err := r.Next(b)
		if err != nil || !more {
			require.NoError(t, w.Flush())
			return out.String() + partitions.String(), err
		}
		require.NoError(t, b.Check())
		require.False(t, first && b.Partition(0).Continued)
		require.NoError(t, w.Write(b))
		for p := range b.NumPartitions() {
			if !b.Partition(p).Continued {
				fmt.Fprintf(&partitions, "partition %q\n", b.Key(p))
			}
		}
	}
}

// TestJobs: any number of jobs yields the same rows, partitions and error.
func TestJobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 60).Draw(t, "rows")
		var text strings.Builder
		text.WriteString("k0,-1,first\n") // as many fields as there are names
		cell := rapid.SampledFrom([]string{"a", "b", "\"x\ny\"", `"q""q"`, "", `""`, "\"\r\n\n\"", `"",""`, "bad\"", "\"open", "1", "\n", "\"\"\"\n\"\"\""})
		good := rapid.Bool().Draw(t, "good")
		for i := range n {
			at := i
			if !good && rapid.IntRange(0, 30).Draw(t, "back") == 0 {
				at = rapid.SampledFrom([]int{0, max(i-1, 0)}).Draw(t, "at")
			}
			c := cell.Draw(t, "cell")
			if good && (c == "bad\"" || c == "\"open" || c == "\n" || c == `"",""`) {
				c = "c"
			}
			fmt.Fprintf(&text, "k%d,%d,%s%s", at/10, at, c, rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end"))
		}
		o := CSVOptions{Names: []string{"k", "t", "v"}}
		o.Types = map[string]rowgroup.Type{"k": rowgroup.Text, "t": rowgroup.Bigint, "v": rowgroup.Text}
		o.Clustering = []ClusteringSpec{{Column: "t"}}
		if rapid.Bool().Draw(t, "keyed") {
			o.PartitionKey = []string{"k"}
		}
		o.AnyOrder = rapid.Bool().Draw(t, "any order")
		o.Unique = rapid.Bool().Draw(t, "unique")
		o.NoDuplicates = o.Unique
		read := func(jobs int) (string, error) {
			o.Jobs = jobs
			r, err := NewCSVReader(strings.NewReader(text.String()), "f.csv", o)
			require.NoError(t, err)
			if jobs > 1 {
				r.pieces.size = rapid.IntRange(1, 200).Draw(t, "piece")
			}
			return drain(t, r)
		}
		want, wantErr := read(1)
		got, err := read(rapid.IntRange(2, 4).Draw(t, "jobs"))
		require.Equal(t, wantErr, err)
		require.Equal(t, want, got)
		if good {
			require.NoError(t, err)
		}
	})
}

func TestJobsStop(t *testing.T) {
	text := "\xef\xbb\xbf" + strings.Repeat("1,2,3\n", 500_000)
	for _, header := range []bool{false, true} {
		o := CSVOptions{Header: header}
		o.Jobs = 3
		r, err := NewCSVReader(strings.NewReader(text), "f.csv", o)
		require.NoError(t, err)
		b := rowgroup.NewBatch(r.Schema())
		for range 5 {
			more, err := r.Next(b)
			require.NoError(t, err)
			require.True(t, more)
		}
		require.NoError(t, r.Close())
		more, err := r.Next(b)
		require.NoError(t, err)
		require.False(t, more)
		require.NoError(t, r.Close())
	}
	// Never begun, and an input that cannot be read.
	o := CSVOptions{}
	o.Jobs = 2
	r, err := NewCSVReader(strings.NewReader("1\n"), "f.csv", o)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	in := io.MultiReader(strings.NewReader(strings.Repeat("12345\n", 1<<20)), iotest.ErrReader(iotest.ErrTimeout))
	o.Types = map[string]rowgroup.Type{"column1": rowgroup.Int}
	for o.Jobs = range 3 {
		r, err = NewCSVReader(in, "f.csv", o)
		if o.Jobs == 0 {
			require.NoError(t, err)
		}
		if err == nil {
			_, err = drain(t, r)
		}
		require.ErrorIs(t, err, iotest.ErrTimeout)
		require.EqualError(t, err, "f.csv: timeout")
		in = io.MultiReader(strings.NewReader(strings.Repeat("12345\n", 1<<20)), iotest.ErrReader(iotest.ErrTimeout))
	}
}

func TestOnError(t *testing.T) {
	for _, c := range []struct{ in, want, errs string }{
		{"a,1\nb,x\nc,3\n", "a,1\nc,3\n", `2:3 bigint`},
		{"a,1\nb,2,2\nc,3\nd\ne,5", "a,1\nc,3\ne,5\n", "2:5 2 fields|4:1 2 fields"},
		{"a,1\nb\"b,2\nc,3\n", "a,1\nc,3\n", "2:2 quotes around the whole field, and quotes inside it doubled"},
		{"a,1\n\"b,2\nc,3\nd,4\n", "a,1\nc,3\nd,4\n", "2:1 a quote that closes the one here"},
		{"a,1\n\"b\"b,2\nc,3\n", "a,1\nc,3\n", "2:4 a separator or the end of the line after a closing quote"},
		{"a,1\n\"b,2\nc,\"3\"\nd,4\n", "a,1\nc,3\nd,4\n", "2:1 a quote that closes the one here, and a separator or the end of the line behind it"},
		{"a,1\n\"b\nb\",x\nc,3\n", "a,1\nc,3\n", "3:4 bigint"},
		{"x,x\nx,y\n\"x", "", "1:3 bigint|2:3 bigint|3:1 a quote that closes the one here"},
	} {
		var errs []string
		o := CSVOptions{Names: []string{"s", "n"}}
		o.Types = map[string]rowgroup.Type{"n": rowgroup.Bigint}
		o.Jobs = 3 // has no effect
		o.OnError = func(e *SyntaxError) bool {
			errs = append(errs, fmt.Sprintf("%d:%d %s", e.Line, e.Column, e.Expected))
			return true
		}
		out, err := rewrite(t, c.in, o, CSVWriteOptions{NoHeader: true})
		require.NoError(t, err)
		require.Equal(t, c.want, out)
		require.Equal(t, c.errs, strings.Join(errs, "|"))
		o.OnError = func(*SyntaxError) bool { return false }
		_, err = rewrite(t, c.in, o, CSVWriteOptions{NoHeader: true})
		require.ErrorContains(t, err, "f.csv:"+strings.Split(c.errs, " ")[0])
	}
}

// TestOnErrorKeepsBatches: whatever of a bad row came before its error leaves
// no trace.
func TestOnErrorKeepsBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cell := func(good ...string) *rapid.Generator[string] {
			return rapid.SampledFrom(append(good, "", "\xff", "x"))
		}
		gens := []*rapid.Generator[string]{cell("1", "2"), cell("0.5"), cell("7"), cell("1.5"), cell("a", "\xfe"), cell("0x00"), cell("5"), cell("60"), cell("2014-02-14")}
		names := []string{"i", "f", "l", "d", "s", "b", "w", "ttl", "day"}
		o := CSVOptions{Names: names}
		for i, typ := range []string{"int", "float", "bigint", "double", "text", "blob", "", "", "date"} {
			if typ != "" {
				ty, err := rowgroup.ParseType(typ)
				require.NoError(t, err)
				if o.Types == nil {
					o.Types = map[string]rowgroup.Type{}
				}
				o.Types[names[i]] = ty
			}
		}
		o.WriteTime, o.TTL = "w", "ttl"
		o.AnyOrder = true
		if rapid.Bool().Draw(t, "keyed") {
			o.PartitionKey = []string{"s"}
		}
		var lines []string
		for range rapid.IntRange(0, 30).Draw(t, "rows") {
			var row []string
			for _, g := range gens {
				row = append(row, g.Draw(t, "cell"))
			}
			lines = append(lines, strings.Join(row, ","))
		}
		bad := map[int]bool{}
		o.OnError = func(e *SyntaxError) bool { bad[int(e.Line)-1] = true; return true }
		r, err := NewCSVReader(strings.NewReader(strings.Join(lines, "\n")), "f.csv", o)
		require.NoError(t, err)
		got, err := drain(t, r)
		require.NoError(t, err)
		var good []string
		for i, line := range lines {
			if !bad[i] {
				good = append(good, line)
			}
		}
		o.OnError = nil
		r, err = NewCSVReader(strings.NewReader(strings.Join(good, "\n")), "f.csv", o)
		require.NoError(t, err)
		want, err := drain(t, r)
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func BenchmarkJobs(b *testing.B) {
	text := strings.Repeat("2014-02-14 14:30:00,0.132,host0001,12345,71.23456789012345\n", 200_000)
	o := CSVOptions{}
	o.Names = []string{"t", "v", "h", "i", "w"}
	o.Types = map[string]rowgroup.Type{"t": rowgroup.Timestamp(rowgroup.Seconds), "v": rowgroup.Double, "h": rowgroup.Text, "i": rowgroup.Bigint, "w": rowgroup.Double}
	o.Time = &TimeSpec{Column: "t"}
	for _, jobs := range []int{1, 2} {
		b.Run(fmt.Sprint(jobs), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				o.Jobs = jobs
				c, err := NewCSVReader(strings.NewReader(text), "", o)
				require.NoError(b, err)
				batch := rowgroup.NewBatch(c.Schema())
				for more := true; more; {
					more, err = c.Next(batch)
					require.NoError(b, err)
				}
			}
		})
	}
}

func TestNoDuplicates(t *testing.T) {
	for _, c := range []struct {
		clustering []ClusteringSpec
		key        []string
		in, want   string
	}{
		{[]ClusteringSpec{{Column: "a"}}, nil, "1,1\n2,1\n\n2,2\n", "f.csv"},
		{nil, []string{"a"}, "1,1\n1,2\n", "f.csv"},
		{nil, nil, "1,1\n1,1\n", ""},
	} {
		for jobs := range 3 {
			o := CSVOptions{Names: []string{"a", "b"}}
			o.Clustering, o.PartitionKey, o.Jobs = c.clustering, c.key, jobs
			o.Unique, o.NoDuplicates = true, true
			r, err := NewCSVReader(strings.NewReader(c.in), "f.csv", o)
			require.NoError(t, err)
			if r.pieces != nil {
				r.pieces.size = 1
			}
			_, err = drain(t, r)
			if c.want == "" {
				require.NoError(t, err)
				continue
			}
			var e *DuplicateError
			require.ErrorAs(t, err, &e)
			require.Equal(t, int64(strings.Count(c.in, "\n")), e.Line)
			require.Positive(t, e.Before)
		}
	}
}
