// Command bench measures colsst and what a Go user would take instead, on the
// same data in one run. See README.md.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/colsst/colsst/bench/codecs"
	"github.com/colsst/colsst/bench/imports"
	"github.com/colsst/colsst/bench/pages"
	"github.com/colsst/colsst/bench/parquets"
	"github.com/colsst/colsst/bench/result"
	"github.com/colsst/colsst/bench/table"
)

const usage = `usage: go run . COMMAND [flags]

  codecs   encodings of single columns
  table    whole files: size, writing, scans, ranges, the latest row
  import   CSV into a file
  parquet  Parquet files: size, writing, reading, ALP pages
  docs     FILE.json...: the sections of docs/benchmarks.md that these files give
  plots    FILE.json...: the plots in docs/plots

COMMAND -h lists the flags of a command.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			os.Exit(2)
		}
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		fmt.Fprint(os.Stderr, usage)
		return flag.ErrHelp
	}
	name, args := args[0], args[1:]
	switch name {
	case "codecs":
		return runCodecs(args)
	case "table":
		return runTable(ctx, args)
	case "import":
		return runImport(ctx, args)
	case "parquet":
		return runParquet(ctx, args)
	case "docs":
		return runPages("docs", args, pages.Update)
	case "plots":
		return runPages("plots", args, pages.Plot)
	case table.Child: // one subject, in a process of its own
		return table.RunChild(args)
	case imports.Child:
		return imports.RunChild(args)
	}
	fmt.Fprint(os.Stderr, usage)
	return fmt.Errorf("there is no command %q", name)
}

// suiteFlags are the flags of every suite.
type suiteFlags struct {
	*flag.FlagSet
	quick bool
	json  string
	real  string
}

func newFlags(name string) *suiteFlags {
	f := &suiteFlags{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError)}
	f.BoolVar(&f.quick, "quick", false, "less data, shorter repeats")
	f.StringVar(&f.json, "json", "", "write the results to this file; -: to stdout, and the tables to stderr")
	return f
}

func (f *suiteFlags) addReal() {
	f.StringVar(&f.real, "real", besides(), "folder of real data; \"\": none")
}

// besides looks for real data in a folder beside the repository.
func besides() string {
	found, _ := filepath.Glob(filepath.FromSlash("../../*/testdata/real/MANIFEST.json"))
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[0])
}

// report writes the results of a suite.
func (f *suiteFlags) report(l result.List) error {
	tables := io.Writer(os.Stdout)
	if f.json == "-" {
		tables = os.Stderr
	}
	if err := l.Print(tables); err != nil {
		return err
	}
	switch f.json {
	case "":
		return nil
	case "-":
		return l.Write(os.Stdout)
	}
	out, err := os.Create(f.json)
	if err != nil {
		return err
	}
	return errors.Join(l.Write(out), out.Close())
}

func runCodecs(args []string) error {
	f := newFlags("codecs")
	f.addReal()
	reference := f.String("reference", "", "a JSON object of ns/value of the C++ reference on this machine, by operation/level")
	if err := f.Parse(args); err != nil {
		return err
	}
	o := codecs.Options{Quick: f.quick, Real: f.real, Log: os.Stderr}
	if *reference != "" {
		text, err := os.ReadFile(*reference)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &o.Reference); err != nil {
			return fmt.Errorf("%s: %w", *reference, err)
		}
	}
	runtime.GOMAXPROCS(1)
	l, err := codecs.Run(o)
	if err != nil {
		return err
	}
	return f.report(l)
}

func runTable(ctx context.Context, args []string) error {
	f := newFlags("table")
	o := table.Options{Log: os.Stderr}
	f.IntVar(&o.Series, "series", 20, "partitions")
	f.IntVar(&o.Points, "points", 0, "rows of each (default a week of them, or a day with --quick)")
	f.StringVar(&o.Variant, "variant", "full", "full or 2dec")
	f.StringVar(&o.Subjects, "subjects", "", "only those whose name this regular expression finds")
	f.StringVar(&o.Dir, "dir", os.TempDir(), "where the files go; they are removed afterwards")
	if err := f.Parse(args); err != nil {
		return err
	}
	o.Quick = f.quick
	l, err := table.Run(ctx, o)
	if err != nil {
		return err
	}
	return f.report(l)
}

func runImport(ctx context.Context, args []string) error {
	f := newFlags("import")
	f.addReal()
	o := imports.Options{Log: os.Stderr}
	f.StringVar(&o.Subjects, "subjects", "", "only those whose name this regular expression finds")
	f.StringVar(&o.Dir, "dir", os.TempDir(), "where the files go; they are removed afterwards")
	if err := f.Parse(args); err != nil {
		return err
	}
	o.Quick, o.Real = f.quick, f.real
	l, err := imports.Run(ctx, o)
	if err != nil {
		return err
	}
	return f.report(l)
}

func runParquet(ctx context.Context, args []string) error {
	f := newFlags("parquet")
	if err := f.Parse(args); err != nil {
		return err
	}
	l, err := parquets.Run(ctx, parquets.Options{Quick: f.quick, Log: os.Stderr})
	if err != nil {
		return err
	}
	return f.report(l)
}

func runPages(name string, args []string, do func(dir string, l result.List) error) error {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	dir := f.String("docs", filepath.FromSlash("../docs"), "the folder of the pages")
	if err := f.Parse(args); err != nil {
		return err
	}
	var all result.List
	for _, path := range f.Args() {
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		l, err := result.Read(in)
		_ = in.Close() // only read
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, l...)
	}
	return do(*dir, all)
}
