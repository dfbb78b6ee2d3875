// Package imports measures how CSV becomes a file: with ours, with DuckDB, and
// with parquet-go fed by encoding/csv. Each subject runs in a process of its
// own, on one core.
package imports

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"

	"github.com/colsst/colsst/bench/measure"
	"github.com/colsst/colsst/bench/result"
)

const suite = "import"

// Child is the command that measures one subject and writes its results as JSON.
const Child = "import-subject"

// Options say what to measure.
type Options struct {
	Quick    bool
	Real     string // a folder of real data, or ""
	Subjects string // a regular expression
	Dir      string // for the files

	Log io.Writer `json:"-"`
}

// job is one subject and one text, for a process of its own.
type job struct {
	Subject string
	Data    string
	Kind    kind
	CSV     string // the file
	Dir     string
	Rows    int64
	Repeats int
}

// kind is what the columns of a text are.
type kind string

// The kinds.
const (
	metrics   kind = "metrics5"
	accessLog kind = "access log"
)

// subject makes a file of a text and returns the number of rows in it.
type subject struct {
	name string
	run  func(j *job, to string) (rows int64, err error)
}

const (
	ourName     = "colsst"
	sortName    = "colsst/sort"
	duckName    = "duckdb read_csv"
	parquetName = "parquet-go + encoding/csv"
)

func subjects() []subject {
	return append([]subject{{ourName, importOurs}, {sortName, sortOurs}, {parquetName, importParquet}}, duckDB()...)
}

// Run measures every subject that o asks for on every text.
func Run(ctx context.Context, o Options) (result.List, error) {
	only, err := regexp.Compile(o.Subjects)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(o.Dir, "colsst-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is left is of no harm
	texts, err := o.texts(dir)
	if err != nil {
		return nil, err
	}
	list := result.List{result.Describe(suite)}
	for _, t := range texts {
		for _, s := range subjects() {
			if !only.MatchString(s.name) || t.shuffled != (s.name == sortName) {
				continue
			}
			fmt.Fprintf(o.Log, "import: %s, %s\n", t.name, s.name)
			j := job{Subject: s.name, Data: t.name, Kind: t.kind, CSV: t.path, Dir: dir, Rows: t.rows, Repeats: 3}
			l, err := runJob(ctx, &j, o.Log)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				fmt.Fprintf(o.Log, "import: %s, %s failed: %v\n", t.name, s.name, err)
				continue
			}
			list = append(list, l...)
		}
	}
	targets(&list, texts)
	return list, nil
}

func runJob(ctx context.Context, j *job, log io.Writer) (result.List, error) {
	text, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, Child, string(text))
	cmd.Stderr = log
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	return result.Read(bytes.NewReader(out))
}

// RunChild is the command of one job, as JSON.
func RunChild(args []string) error {
	if len(args) != 1 {
		return errors.New(Child + " is for the import command")
	}
	var j job
	if err := json.Unmarshal([]byte(args[0]), &j); err != nil {
		return err
	}
	runtime.GOMAXPROCS(1)
	for _, s := range subjects() {
		if s.name == j.Subject {
			l, err := j.measure(&s)
			if err != nil {
				return err
			}
			return l.Write(os.Stdout)
		}
	}
	return fmt.Errorf("there is no subject %q", j.Subject)
}

func (j *job) measure(s *subject) (l result.List, err error) {
	info, err := os.Stat(j.CSV)
	if err != nil {
		return nil, err
	}
	base := measure.ResetPeak()
	var rates []float64
	var size int64
	for range j.Repeats {
		dir, err := os.MkdirTemp(j.Dir, "out-")
		if err != nil {
			return nil, err
		}
		start := measure.CPU()
		rows, err := s.run(j, filepath.Join(dir, "table"))
		took := measure.CPU() - start
		if err == nil && rows != j.Rows {
			err = fmt.Errorf("%d rows of %d", rows, j.Rows)
		}
		if err == nil {
			size, err = sizeOf(dir)
		}
		if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
			return nil, err
		}
		rates = append(rates, float64(info.Size())/took.Seconds()/1e6)
	}
	peak := measure.ReadMemory().Peak
	add := func(metric, unit string, v float64) {
		l = append(l, result.Result{Suite: suite, Data: j.Data, Subject: s.name, Metric: metric, Unit: unit, Value: v})
	}
	timing := measure.Summarise(rates)
	l = append(l, result.Result{Suite: suite, Data: j.Data, Subject: s.name, Metric: mbPerSecond}.WithSpread(timing))
	add("mrows_per_cpu_s", "", timing.Median/1e6*float64(j.Rows)/float64(info.Size())*1e6)
	add("bytes_per_row", "B", float64(size)/float64(j.Rows))
	add("bytes_of_csv", "", float64(size)/float64(info.Size()))
	add("peak_rss_mb", "MB", float64(peak)/1e6)
	add("base_rss_mb", "MB", float64(base.Now)/1e6)
	return l, nil
}

const mbPerSecond = "csv_mb_per_cpu_s"

func sizeOf(dir string) (size int64, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return 0, err
		}
		size += info.Size()
	}
	return size, err
}

func targets(l *result.List, texts []text) {
	for _, t := range texts {
		for _, r := range l.Where(result.Result{Data: t.name, Subject: ourName, Metric: mbPerSecond}) {
			for _, peer := range []struct {
				name  string
				least float64
			}{{duckName, 3}, {parquetName, 2}} {
				for _, theirs := range l.Where(result.Result{Data: t.name, Subject: peer.name, Metric: mbPerSecond}) {
					l.Add(r, result.Target{What: "speed against peers", Of: mbPerSecond, Value: r.Value, Reference: theirs.Value, By: peer.name, Least: peer.least})
				}
			}
		}
		for _, name := range []string{ourName, sortName} {
			peak := l.Where(result.Result{Data: t.name, Subject: name, Metric: "peak_rss_mb"})
			base := l.Where(result.Result{Data: t.name, Subject: name, Metric: "base_rss_mb"})
			for i, r := range peak {
				l.Add(r, result.Target{What: "memory", Of: "peak_rss_mb beside the runtime", Value: r.Value - base[i].Value, Reference: 100, By: "what is to be reached", Most: 1})
			}
		}
	}
}
