// Package pages turns results into what people read: the tables and plots of
// the project's documentation.
package pages

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/colsst/colsst/bench/result"
)

// Update writes the sections of benchmarks.md in dir that l has results for,
// each between the marks
//
//	<!-- bench SUITE -->
//	<!-- end of bench SUITE -->
//
// or at the end of the page, where the marks are missing. A section is made
// anew of l alone.
func Update(dir string, l result.List) error {
	path := filepath.Join(dir, "benchmarks.md")
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	page := string(old)
	for _, suite := range suites(l) {
		begin, end := "<!-- bench "+suite+" -->\n", "<!-- end of bench "+suite+" -->\n"
		body := begin + section(suite, l.Where(result.Result{Suite: suite})) + end
		before, rest, found := strings.Cut(page, begin)
		if !found {
			page = strings.TrimRight(page, "\n") + "\n\n" + body
			continue
		}
		_, after, found := strings.Cut(rest, end)
		if !found {
			return fmt.Errorf("%s: %q has no end", path, strings.TrimSpace(begin))
		}
		page = before + body + after
	}
	return os.WriteFile(path, []byte(page), 0o644)
}

func suites(l result.List) (names []string) {
	for _, r := range l {
		if !slices.Contains(names, r.Suite) {
			names = append(names, r.Suite)
		}
	}
	return names
}

var titles = map[string]string{"codecs": "Codecs", "table": "Whole files", "import": "Import of CSV", "parquet": "Parquet"}

// section is what the page says of a suite.
func section(suite string, l result.List) string {
	var w strings.Builder
	fmt.Fprintf(&w, "\n## %s\n\n", titles[suite])
	for _, r := range l.Where(result.Result{Subject: result.Environment}) {
		environment(&w, &r)
	}
	if ratios := l.Where(result.Result{Metric: "ratio"}); len(ratios) > 0 {
		fmt.Fprintf(&w, "\n### What was to be reached\n\n")
		var lines [][]string
		for _, r := range ratios {
			lines = append(lines, result.RatioLine(&r))
		}
		markdown(&w, result.RatioHead, lines)
	}
	for _, t := range shown(suite, l).Tables() {
		fmt.Fprintf(&w, "\n### %s\n\n", t.Data)
		markdown(&w, t.Head, t.Lines)
	}
	fmt.Fprintln(&w)
	return w.String()
}

func environment(w *strings.Builder, r *result.Result) {
	p := r.Params
	fmt.Fprintf(w, "`%v` on %v: %v, %s CPUs, load %v, level %v, %v. ", p["command"], p["time"], p["cpu"], result.Short(r.Value), p["load"], p["level"], p["go"])
	if versions, ok := p["versions"].(map[string]any); ok && len(versions) > 0 {
		var all []string
		for _, name := range slices.Sorted(maps.Keys(versions)) {
			all = append(all, fmt.Sprintf("%s %v", strings.TrimPrefix(name, "github.com/"), versions[name]))
		}
		fmt.Fprintf(w, "Peers: %s.", strings.Join(all, ", "))
	}
	fmt.Fprintln(w)
}

// shown leaves out what a page has no room for: of the codecs all but blocks of
// one size, our self-contained forms, single samples and allocations.
func shown(suite string, l result.List) result.List {
	return slices.DeleteFunc(slices.Clone(l), func(r result.Result) bool {
		if suite != "codecs" {
			return false
		}
		want := "4096"
		if strings.HasPrefix(r.Data, "real ") {
			want = "1024"
		}
		block, blocks := r.Params["block"]
		return strings.Contains(r.Metric, "allocs") || r.Params["sample"] != nil || r.Params["form"] == "self-contained" ||
			blocks && fmt.Sprint(block) != want && r.Subject != "colsst/columnar"
	})
}

func markdown(w *strings.Builder, head []string, lines [][]string) {
	row := func(cells []string) {
		for _, c := range cells {
			fmt.Fprintf(w, "| %s ", strings.ReplaceAll(c, "|", "\\|"))
		}
		fmt.Fprintln(w, "|")
	}
	row(head)
	row(slices.Repeat([]string{"---"}, len(head)))
	for _, l := range lines {
		row(l)
	}
}
