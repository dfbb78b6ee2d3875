package textfmt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/rowgroup"
)

// staticTable has static columns of two types.
func staticTable(t require.TestingT) *rowgroup.Schema {
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "k", Type: rowgroup.Text}}, []rowgroup.Column{{Name: "t", Type: rowgroup.Int}, {Name: "u", Type: rowgroup.Int, Desc: true}},
		[]rowgroup.Column{{Name: "s", Type: rowgroup.Text}, {Name: "n", Type: rowgroup.Double}},
		[]rowgroup.Column{{Name: "v", Type: rowgroup.Int}, {Name: "w", Type: rowgroup.Text}}, rowgroup.WithMultiset())
	require.NoError(t, err)
	return s
}

// iter makes an iterator of Batches.
type iter struct{ Batches }

func (iter) Close() error { return nil }

// lifted reads a text with a schema of static columns and writes it as CSV. All
// batches are checked.
func lifted(t require.TestingT, s *rowgroup.Schema, text string, sorted bool, o TableOptions) (string, error) {
	o.Schema, o.NullClustering, o.AnyOrder = RowSchema(s), true, sorted
	r, err := NewCSVReader(strings.NewReader(text), "f.csv", CSVOptions{Header: true, TableOptions: o})
	require.NoError(t, err)
	var rows rowgroup.Iter = iter{r}
	if sorted {
		rows, err = Sort(o.Schema, r)
		if err != nil {
			return "", err
		}
	}
	rows = LiftStatic(s, rows)
	var out strings.Builder
	w, err := NewCSVWriter(&out, s, CSVWriteOptions{})
	require.NoError(t, err)
	b, checker := rowgroup.NewBatch(s), rowgroup.NewOrderChecker(s)
	for {
		more, err := rows.Next(b)
		if err != nil {
			return "", err
		}
		if !more {
			break
		}
		require.NoError(t, b.Check())
		require.NoError(t, checker.Check(b))
		require.NoError(t, w.Write(b))
	}
	require.NoError(t, w.Flush())
	require.NoError(t, rows.Close())
	return out.String(), nil
}

// Tables with static columns, static rows alone among them, come back from the
// text that they are written as.
func TestLiftStatic(t *testing.T) {
	s := staticTable(t)
	rapid.Check(t, func(t *rapid.T) {
		var text, shuffled strings.Builder
		text.WriteString("k,t,u,s,n,v,w\n")
		var lines []string
		for p := range rapid.IntRange(0, 6).Draw(t, "partitions") {
			static := rapid.SampledFrom([]string{",", `"",`, "x,", ",1.5", "y,NaN", `"a,b",-0`}).Draw(t, "static")
			n := rapid.IntRange(0, 4).Draw(t, "rows")
			if n == 0 && static != "," {
				lines = append(lines, fmt.Sprintf("p%d,,,%s,,", p, static))
			}
			for i := range n {
				value := rapid.SampledFrom([]string{",", "1,", `,""`, "2,z"}).Draw(t, "value")
				lines = append(lines, fmt.Sprintf("p%d,%d,%d,%s,%s", p, i/2, -(i%2), static, value))
			}
		}
		order := rapid.Permutation(lines).Draw(t, "order")
		text.WriteString(strings.Join(lines, "\n"))
		shuffled.WriteString("k,t,u,s,n,v,w\n" + strings.Join(order, "\n"))
		want := text.String()
		if len(lines) > 0 {
			want += "\n"
		}
		got, err := lifted(t, s, text.String(), false, TableOptions{Jobs: rapid.IntRange(1, 2).Draw(t, "jobs")})
		require.NoError(t, err)
		require.Equal(t, want, got)
		got, err = lifted(t, s, shuffled.String(), true, TableOptions{})
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

// Partitions go on over batches, and stay one.
func TestLiftStaticLong(t *testing.T) {
	s := staticTable(t)
	var text strings.Builder
	text.WriteString("k,t,u,s,n,v,w\n")
	for i := range 20000 {
		fmt.Fprintf(&text, "%d,%d,0,s%d,%d,%d,\n", i/9000, i, i/9000, i/9000, i)
	}
	got, err := lifted(t, s, text.String(), false, TableOptions{})
	require.NoError(t, err)
	require.Equal(t, text.String(), got)
}

func TestLiftStaticErrors(t *testing.T) {
	s := staticTable(t)
	for _, c := range []struct{ rows, want string }{
		{"a,1,1,x,,,\na,2,1,y,,,\n", `the row of key k=a, t=2, u=1: static column "s" is "y", in a row before "x"`},
		{"a,1,1,x,,,\na,2,1,,,,\n", `static column "s" is null, in a row before "x"`},
		{"a,1,1,,0,,\na,2,1,,-0,,\n", `static column "n" is "-0", in a row before "0"`},
		{"a,1,,x,,,\n", "a null in its clustering"},
		{"a,,,x,,1,\n", "a null in its clustering"},
		{"a,,,,,,\n", "a null in its clustering"},
	} {
		_, err := lifted(t, s, "k,t,u,s,n,v,w\n"+c.rows, true, TableOptions{})
		require.ErrorContains(t, err, c.want)
		var static *StaticError
		require.ErrorAs(t, err, &static)
	}
	// Without LiftStatic nulls in keys stay errors, and static columns are none.
	_, err := NewCSVReader(strings.NewReader("k,t,u,s,n,v,w\n"), "f.csv", CSVOptions{Header: true, TableOptions: TableOptions{Schema: s}})
	require.ErrorContains(t, err, "rows are read with RowSchema")
	plain := RowSchema(s)
	require.Same(t, plain, RowSchema(plain))
	r, err := NewCSVReader(strings.NewReader("k,t,u,s,n,v,w\na,,1,x,,,\n"), "f.csv", CSVOptions{Header: true, TableOptions: TableOptions{Schema: plain}})
	require.NoError(t, err)
	_, err = r.Next(rowgroup.NewBatch(plain))
	require.ErrorContains(t, err, "it is in the key of its row")
}
