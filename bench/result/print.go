package result

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// Print writes l for people: a table for each data set, a line for each subject
// and its parameters, a column for each metric; then the ratios.
func (l List) Print(w io.Writer) error {
	for _, t := range l.Tables() {
		fmt.Fprintf(w, "\n%s: %s\n", t.Suite, t.Data)
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		for _, line := range append([][]string{t.Head}, t.Lines...) {
			fmt.Fprintf(tw, "%s\t\n", strings.Join(line, "\t"))
		}
		if err := tw.Flush(); err != nil {
			return err
		}
	}
	ratios := l.Where(Result{Metric: "ratio"})
	if len(ratios) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\nratios\n")
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range ratios {
		fmt.Fprintln(tw, strings.Join(RatioLine(&r), "\t"))
	}
	return tw.Flush()
}

// RatioHead names the cells of RatioLine.
var RatioHead = []string{"what", "data", "subject", "of", "measured", "against", "ratio", "target", ""}

// RatioLine is a ratio as cells.
func RatioLine(r *Result) []string {
	verdict := "MISSED"
	if r.Pass != nil && *r.Pass {
		verdict = "reached"
	}
	p := r.Params
	subject := r.Subject
	for _, name := range []string{"level", "block", "source", "rows", "goroutines"} {
		if v, ok := p[name]; ok {
			subject += fmt.Sprintf(" %s=%v", name, v)
		}
	}
	return []string{fmt.Sprint(p["what"]), r.Data, subject, fmt.Sprint(p["of"]), Short(number(p["value"])),
		fmt.Sprintf("%s (%v)", Short(number(p["reference"])), p["by"]), Short(r.Value), fmt.Sprintf("%v %v", p["bound"], p["target"]), verdict}
}

func number(v any) float64 {
	f, _ := v.(float64)
	return f
}

// Table is numbers of one data set as text.
type Table struct {
	Suite, Data string
	Head        []string
	Lines       [][]string
}

// columnsAtMost are the numbers in a line of a table; more are another table.
const columnsAtMost = 10

// Tables are the results but for the ratios and the description of the run.
func (l List) Tables() (all []Table) {
	type key struct{ suite, data string }
	var keys []key
	groups := map[key]List{}
	for _, r := range l {
		if r.Metric == "ratio" || r.Subject == Environment {
			continue
		}
		k := key{r.Suite, r.Data}
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], r)
	}
	for _, k := range keys {
		group := groups[k]
		var names []string
		columns := map[string]List{}
		for _, r := range group {
			name := r.column()
			if columns[name] == nil {
				names = append(names, name)
			}
			columns[name] = append(columns[name], r)
		}
		for part := range slices.Chunk(names, columnsAtMost) {
			all = append(all, table(k.suite, k.data, part, columns))
		}
	}
	return all
}

// ofColumn are the parameters that tell metrics apart, not subjects.
var ofColumn = []string{"query", "phase", "fill", "goroutines"}

// column names the column of r: the metric, what tells it from others of its
// name, and the unit unless the name has it.
func (r *Result) column() string {
	name := r.Metric
	for _, p := range ofColumn {
		if v, ok := r.Params[p]; ok {
			name += fmt.Sprintf(" %s=%v", p, v)
		}
	}
	if r.Unit != "" && !strings.Contains(strings.ToLower(name), "_"+strings.ToLower(r.Unit)) && !strings.Contains(name, "bytes") && !strings.Contains(name, "qps") {
		name += " " + r.Unit
	}
	return name
}

// line names the line of r.
func (r *Result) line() [2]string {
	p := maps.Clone(r.Params)
	for _, name := range ofColumn {
		delete(p, name)
	}
	return [2]string{r.Subject, p.Key()}
}

func table(suite, data string, names []string, columns map[string]List) Table {
	t := Table{Suite: suite, Data: data, Head: append([]string{"subject", ""}, names...)}
	lines := map[[2]string]int{}
	for col, name := range names {
		for _, r := range columns[name] {
			key := r.line()
			i, ok := lines[key]
			if !ok {
				i = len(t.Lines)
				lines[key] = i
				t.Lines = append(t.Lines, append(key[:], make([]string, len(names))...))
			}
			t.Lines[i][2+col] = Short(r.Value)
		}
	}
	return t
}

// Short writes a number in about four digits.
func Short(v float64) string {
	a := max(v, -v)
	switch {
	case v == float64(int64(v)) && a < 1e15:
		return fmt.Sprintf("%d", int64(v))
	case a >= 1000:
		return fmt.Sprintf("%.0f", v)
	case a >= 100:
		return fmt.Sprintf("%.1f", v)
	case a >= 10:
		return fmt.Sprintf("%.2f", v)
	case a >= 0.1:
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
