package table

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/colsst/colsst/bench/measure"
	"github.com/colsst/colsst/bench/result"
	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/rowgroup"
)

// Child is the command that measures one subject and writes its results as JSON.
const Child = "table-subject"

// RunChild is that command; args are the Options as JSON, and the subject's id.
func RunChild(args []string) error {
	if len(args) != 2 {
		return errors.New(Child + " is for the table command")
	}
	var o Options
	if err := json.Unmarshal([]byte(args[0]), &o); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(o.Dir, "subject-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the parent removes what is left
	runtime.GOMAXPROCS(1)
	l, err := o.measure(args[1], dir)
	if err != nil {
		return err
	}
	return l.Write(os.Stdout)
}

func (o *Options) measure(id, dir string) (result.List, error) {
	for _, p := range pointSubjects() {
		if p.id() == id {
			return o.measurePoints(&p, dir)
		}
	}
	for _, s := range subjects() {
		if s.id() == id {
			return o.measureSubject(&s, dir)
		}
	}
	return nil, fmt.Errorf("there is no subject %q", id)
}

func metricsSchema() *rowgroup.Schema { return generate.Metrics5{}.Schema() }

func cpuOf(f func()) time.Duration {
	start := measure.CPU()
	f()
	return measure.CPU() - start
}

// recorder collects the results of one subject.
type recorder struct {
	data, subject string
	params        result.Params
	list          result.List
}

func (r *recorder) with(p result.Params) result.Params {
	all := maps.Clone(r.params)
	maps.Copy(all, p)
	return all
}

func (r *recorder) value(metric, unit string, v float64, p result.Params) {
	r.list = append(r.list, result.Result{Suite: suite, Data: r.data, Subject: r.subject, Params: r.with(p), Metric: metric, Unit: unit, Value: v})
}

func (r *recorder) timing(metric, unit string, t measure.Timing, p result.Params) {
	r.list = append(r.list, result.Result{Suite: suite, Data: r.data, Subject: r.subject, Params: r.with(p), Metric: metric, Unit: unit}.WithSpread(t))
}

func (o *Options) recorder(s *subject) *recorder {
	r := &recorder{data: o.data(), subject: s.name, params: result.Params{}}
	if s.irregular {
		r.data += irregularName
	}
	if s.source != "" {
		r.params["source"] = s.source
	}
	if s.level != "" {
		r.params["level"] = s.level
	}
	return r
}

func (o *Options) measureSubject(s *subject, dir string) (result.List, error) {
	if err := s.setLevel(); err != nil {
		return nil, err
	}
	rec := o.recorder(s)
	path := filepath.Join(dir, "table")
	t, err := o.writeTable(s, path, rec)
	if err != nil {
		return nil, fmt.Errorf("write: %w", err)
	}
	if s.load != nil {
		if err := s.load(path); err != nil {
			return nil, err
		}
	}
	if err := o.readTable(s, path, t, rec); err != nil {
		return nil, err
	}
	return rec.list, nil
}

// writeTable writes the table; making the rows is not counted.
func (o *Options) writeTable(s *subject, path string, rec *recorder) (*truth, error) {
	m, err := o.metrics()
	if err != nil {
		return nil, err
	}
	rows := m.Rows
	if s.irregular {
		rows = func() rowgroup.Iter { return m.Irregular() }
	}
	t := &truth{about: s.irregular}
	base := measure.ResetPeak()
	took, err := write(rows(), s.write, path, t)
	if err != nil {
		return nil, err
	}
	if s.ours && s.source != fromFile {
		return t, nil // the same file as from the other source
	}
	peak := measure.ReadMemory().Peak
	size, err := sizeOf(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	rec.value("bytes_per_point", "B", float64(size)/float64(t.rows), nil)
	rec.value("peak_rss_mb", "MB", float64(peak)/1e6, result.Params{"phase": "write"})
	rec.value("base_rss_mb", "MB", float64(base.Now)/1e6, result.Params{"phase": "write"})
	again := func(open func(path string) (writer, error), first ...time.Duration) error {
		timing, err := o.writeAgain(open, rows, path, first)
		if err == nil {
			p := result.Params{}
			if first == nil {
				p["fill"] = rowByRow
			}
			rec.timing("write_mpts_per_cpu_s", "", timing, p)
		}
		return err
	}
	if err := again(s.write, took); err != nil {
		return nil, err
	}
	if s.name != ourDefault || s.irregular {
		return t, nil
	}
	return t, again(func(path string) (writer, error) {
		w, err := s.write(path)
		return &rowWriter{w, rowgroup.NewBatch(metricsSchema())}, err
	})
}

// writeAgain writes the rows some more times, elsewhere, unless that takes long,
// and returns million points a second; first are the times already known.
func (o *Options) writeAgain(open func(path string) (writer, error), rows func() rowgroup.Iter, path string, times []time.Duration) (t measure.Timing, err error) {
	dir := path + ".again"
	var rates []float64
	var points int64
	total := time.Duration(0)
	for _, took := range times {
		total += took
	}
	for len(times) == 0 || len(times) < 5 && total < o.budget() {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return t, err
		}
		again := &truth{}
		took, err := write(rows(), open, filepath.Join(dir, "table"), again)
		if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
			return t, err
		}
		points, times, total = again.rows, append(times, took), total+took
	}
	if points == 0 { // never again: the number is known all the same
		points = int64(o.Series) * int64(o.Points)
	}
	for _, took := range times {
		rates = append(rates, float64(points)/took.Seconds()/1e6)
	}
	return measure.Summarise(rates), nil
}

// write writes rows of metrics5 and returns the CPU time of doing so.
func write(rows rowgroup.Iter, open func(path string) (writer, error), path string, t *truth) (took time.Duration, err error) {
	var w writer
	took += cpuOf(func() { w, err = open(path) })
	if err != nil {
		return took, err
	}
	b := rowgroup.NewBatch(metricsSchema())
	var sampled []byte
	for {
		ok, err := rows.Next(b)
		if err != nil {
			return took, err
		}
		if !ok {
			break
		}
		for p := range parts(b) {
			if sampled == nil { // the first series
				sampled = append(sampled, p.key...)
				t.key = string(sampled)
			}
			t.add(p, sampled)
		}
		took += cpuOf(func() { err = w.add(b) })
		if err != nil {
			return took, err
		}
	}
	took += cpuOf(func() { err = w.finish() })
	return took, err
}

func sizeOf(dir string) (size int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}

// readTable opens the table and measures scans and queries.
func (o *Options) readTable(s *subject, path string, t *truth, rec *recorder) (err error) {
	base := measure.ResetPeak()
	r, err := s.openTimed(path, rec)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := o.scans(r, t, rec); err != nil {
		return fmt.Errorf("scan: %w", err)
	}
	shapes := []int{0}
	for _, rows := range rangeRows {
		if rows <= o.Points {
			shapes = append(shapes, rows)
		}
	}
	for _, rows := range shapes {
		if err := o.oneByOne(r, t, rows, rec); err != nil {
			return fmt.Errorf("%s: %w", shapeName(rows), err)
		}
	}
	runtime.GOMAXPROCS(runtime.NumCPU())
	for _, rows := range shapes {
		timing, err := parallelRate(r, t, o.Points, rows, o.budget())
		if err != nil {
			return fmt.Errorf("%s by %d goroutines: %w", shapeName(rows), goroutines, err)
		}
		rec.timing(shapeName(rows)+"_qps", "1/s", timing, result.Params{"goroutines": goroutines})
	}
	runtime.GOMAXPROCS(1)
	rec.value("peak_rss_mb", "MB", float64(measure.ReadMemory().Peak)/1e6, result.Params{"phase": "read"})
	rec.value("base_rss_mb", "MB", float64(base.Now)/1e6, result.Params{"phase": "read"})
	if s.ours && s.source == fromFile {
		if err := countReads(path, t, shapes, o, rec); err != nil {
			return err
		}
	}
	if s.extra == nil || s.ours && s.source != fromFile {
		return nil
	}
	return s.extra(r, path, func(metric, unit string, v float64) { rec.value(metric, unit, v, nil) })
}

func shapeName(rows int) string {
	if rows == 0 {
		return "latest"
	}
	return fmt.Sprintf("range_%d", rows)
}

// openTimed opens the table once it is known what that takes.
func (s *subject) openTimed(path string, rec *recorder) (reader, error) {
	err := timeOpening(func() (func() error, error) {
		r, err := s.open(path)
		if err != nil {
			return nil, err
		}
		return r.close, nil
	}, rec)
	if err != nil {
		return nil, err
	}
	return s.open(path)
}

// timeOpening records what opening takes; open returns how to close.
func timeOpening(open func() (func() error, error), rec *recorder) error {
	var us []float64
	for begin := measure.CPU(); len(us) < 5 || len(us) < 100 && measure.CPU()-begin < 100*time.Millisecond; {
		var end func() error
		var err error
		us = append(us, cpuOf(func() { end, err = open() }).Seconds()*1e6)
		if err == nil {
			err = end()
		}
		if err != nil {
			return err
		}
	}
	rec.timing("open_us", "us", measure.Summarise(us), nil)
	return nil
}

// scans reads everything: first with a checksum of the rows, then by the clock
// without one, which would take longer than a fast scan.
func (o *Options) scans(r reader, t *truth, rec *recorder) error {
	rows, sum, err := r.scan(true)
	if err == nil && (rows != t.rows || sum != t.sum && !t.about) {
		err = fmt.Errorf("%d rows of %d, or wrong ones", rows, t.rows)
	}
	if err != nil {
		return err
	}
	var rates []float64
	for begin := measure.CPU(); len(rates) < 5; {
		took := cpuOf(func() { rows, _, err = r.scan(false) })
		if err != nil {
			return err
		}
		rates = append(rates, float64(rows)/took.Seconds()/1e6)
		if len(rates) >= 2 && measure.CPU()-begin > 8*o.budget() {
			break
		}
	}
	rec.timing("scan_mpts_per_cpu_s", "", measure.Summarise(rates), nil)
	return nil
}

func (o *Options) oneByOne(r reader, t *truth, rows int, rec *recorder) error {
	if err := t.check(r, rows); err != nil {
		return err
	}
	name, qs := shapeName(rows), t.queries(o.Points, rows, 0)
	timing, err := rate(r, qs, o.budget())
	if err != nil {
		return err
	}
	p50, p99, err := latencies(r, qs, o.budget()/2)
	if err != nil {
		return err
	}
	allocs, err := allocations(r, qs)
	if err != nil {
		return err
	}
	rec.timing(name+"_qps", "1/s", timing, nil)
	rec.value(name+"_p50_us", "us", p50, nil)
	rec.value(name+"_p99_us", "us", p99, nil)
	rec.value("allocs_per_query", "", allocs, result.Params{"query": name})
	return nil
}

// countOpening opens our file and records what that reads and keeps; c counts
// the reads that follow.
func countOpening(f *os.File, rec *recorder) (r *columnar.Reader, c *counter, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	c = &counter{ReaderAt: f}
	heap := measure.Heap(func() { r, err = columnar.Open(c, info.Size()) })
	if err != nil {
		return nil, nil, err
	}
	rec.value("open_reads", "", float64(c.reads.Load()), nil)
	rec.value("open_bytes", "", float64(c.bytes.Load()), nil)
	rec.value("open_heap_bytes", "", float64(heap), nil)
	return r, c, nil
}

// countReads counts the reads of our file that a query makes on a warm reader.
func countReads(path string, t *truth, shapes []int, o *Options, rec *recorder) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	opened, c, err := countOpening(f, rec)
	if err != nil {
		return err
	}
	r, err := openColsst(opened, nil)
	if err != nil {
		return err
	}
	defer r.close() //nolint:errcheck // it only frees memory
	for _, rows := range shapes {
		qs := t.queries(o.Points, rows, 0)[:200]
		for range 2 { // the first time is to warm
			c.reads.Store(0)
			for i := range qs {
				if err := qs[i].run(r); err != nil {
					return err
				}
			}
		}
		rec.value("reads_per_query", "", float64(c.reads.Load())/float64(len(qs)), result.Params{"query": shapeName(rows)})
	}
	return nil
}

const irregularName = ", 1 % gaps, nulls, deletions"

// data names the table.
func (o *Options) data() string {
	parts := []string{"metrics5", o.Variant, fmt.Sprintf("%d series", o.Series)}
	if o.Points != generate.WeekPoints {
		parts = append(parts, fmt.Sprintf("%d points", o.Points))
	}
	return strings.Join(parts, ", ")
}
