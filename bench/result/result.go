// Package result is what the suites of the benchmarks have in common: one
// measured number as a line of JSON, lists of them, and the ratios between
// them that are to be reached.
package result

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/colsst/colsst/bench/measure"
)

// Params are what a number depends on beside data and subject: the rows of a
// block, the level of instructions, the rows of a range.
type Params map[string]any

// Result is one number. A ratio has a target and says whether it passes.
type Result struct {
	Suite   string   `json:"suite"`
	Data    string   `json:"data"`
	Subject string   `json:"subject"`
	Params  Params   `json:"params"`
	Metric  string   `json:"metric"`
	Unit    string   `json:"unit"`
	Value   float64  `json:"value"`           // the median, where there are repeats
	Least   *float64 `json:"least,omitempty"` // of the repeats
	Most    *float64 `json:"most,omitempty"`
	Pass    *bool    `json:"pass,omitempty"`
}

// WithSpread sets value, least and most.
func (r Result) WithSpread(t measure.Timing) Result {
	r.Value, r.Least, r.Most = t.Median, &t.Least, &t.Most
	return r
}

// List is the results of a run, in the order in which they came.
type List []Result

// Write writes l as an array, a result a line.
func (l List) Write(w io.Writer) error {
	for i, r := range l {
		if math.IsNaN(r.Value) || math.IsInf(r.Value, 0) {
			return fmt.Errorf("%s of %s, %s, is %v", r.Metric, r.Subject, r.Data, r.Value)
		}
		if r.Params == nil {
			r.Params = Params{}
		}
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		before := ",\n "
		if i == 0 {
			before = "[\n "
		}
		if _, err := fmt.Fprintf(w, "%s%s", before, line); err != nil {
			return err
		}
	}
	after := "\n]\n"
	if len(l) == 0 {
		after = "[]\n"
	}
	_, err := io.WriteString(w, after)
	return err
}

// Read reads what Write wrote.
func Read(r io.Reader) (l List, err error) {
	err = json.NewDecoder(r).Decode(&l)
	return l, err
}

// Where returns the results that agree with every field of q that is set, its
// parameters among them.
func (l List) Where(q Result) List {
	return slices.DeleteFunc(slices.Clone(l), func(r Result) bool { return !r.fits(&q) })
}

func (r *Result) fits(q *Result) bool {
	for _, f := range [...][2]string{{q.Suite, r.Suite}, {q.Data, r.Data}, {q.Subject, r.Subject}, {q.Metric, r.Metric}} {
		if f[0] != "" && f[0] != f[1] {
			return false
		}
	}
	for name, want := range q.Params {
		// Numbers of a file are float64.
		if have, ok := r.Params[name]; !ok || fmt.Sprint(have) != fmt.Sprint(want) {
			return false
		}
	}
	return true
}

// Key is the parameters as text, in the order of their names.
func (p Params) Key() string {
	var s []string
	for _, name := range slices.Sorted(maps.Keys(p)) {
		s = append(s, fmt.Sprintf("%s=%v", name, p[name]))
	}
	return strings.Join(s, " ")
}

// Best is the result of the greatest value, or of the least.
func (l List) Best(greatest bool) (best Result, ok bool) {
	for _, r := range l {
		if !ok || greatest == (r.Value > best.Value) && r.Value != best.Value {
			best, ok = r, true
		}
	}
	return best, ok
}

// Target is a ratio to reach.
type Target struct {
	What      string  // which of the targets
	Of        string  // the metric that is compared
	Value     float64 // what was measured
	Reference float64 // by which it is divided
	By        string  // whose the reference is
	Least     float64 // the ratio is to be at least this, if it is not zero,
	Most      float64 // or at most this
}

// Add appends the ratio of t, with the suite, data, subject and parameters of r.
func (l *List) Add(r Result, t Target) {
	if t.Reference == 0 {
		return
	}
	ratio := t.Value / t.Reference
	p := maps.Clone(r.Params)
	if p == nil {
		p = Params{}
	}
	p["what"], p["of"], p["value"], p["reference"], p["by"] = t.What, t.Of, t.Value, t.Reference, t.By
	pass := ratio >= t.Least
	p["target"], p["bound"] = t.Least, "at least"
	if t.Least == 0 {
		pass = ratio <= t.Most
		p["target"], p["bound"] = t.Most, "at most"
	}
	*l = append(*l, Result{Suite: r.Suite, Data: r.Data, Subject: r.Subject, Params: p,
		Metric: "ratio", Value: ratio, Pass: &pass})
}
