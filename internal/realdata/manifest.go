package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/rowgroup"
)

// entry is a file of a manifest: a JSON array that says how each file is to be
// read.
type entry struct {
	Path      string `json:"path"`   // relative to the manifest; .gz is unpacked
	Format    string `json:"fmt"`    // csv, f64, f32
	Separator string `json:"sep"`    // of CSV
	Header    bool   `json:"header"` // the first line names the columns
	Trailing  bool   `json:"trailing_sep"`
	Null      []string
	Columns   [][2]string `json:"cols"` // name and timestamp, int, float or text
	Time      *struct {
		Columns []string // several are joined by blanks
		Layout  string   // a Go layout, unix, or float_s
		Unit    string   // of unix and float_s
		Zone    string   `json:"tz"`
	} `json:"ts"`
	Rows     int64
	RawBytes int64 `json:"raw_bytes"`
}

// joined is the column that several columns of a time become.
const joined = "joined time"

// timeColumn is the name of the column of times, or "".
func (e *entry) timeColumn() string {
	switch {
	case e.Time == nil:
		return ""
	case len(e.Time.Columns) > 1:
		return joined
	}
	return e.Time.Columns[0]
}

var types = map[string]string{"int": "bigint", "float": "double", "text": "text"}

// command is the command line that converts the file at in to out.
func (e *entry) command(in, out string) []string {
	args := []string{"convert", in, "-o", out, "-q", "--separator", e.Separator}
	if !e.Header {
		var b strings.Builder
		w := csv.NewWriter(&b)
		var names []string
		for _, c := range e.Columns {
			names = append(names, c[0])
		}
		_ = w.Write(names) // to memory
		w.Flush()
		args = append(args, "--header=false", "--names", strings.TrimSuffix(b.String(), "\n"))
	}
	if e.Trailing {
		args = append(args, "--trailing-separator")
	}
	for _, n := range e.Null {
		args = append(args, "--null", n)
	}
	for _, c := range e.Columns {
		if t := types[c[1]]; t != "" {
			args = append(args, "--type", c[0]+"="+t)
		}
	}
	if t := e.Time; t != nil {
		name := e.timeColumn()
		if len(t.Columns) > 1 {
			args = append(args, "--join", joined+"="+strings.Join(t.Columns, "+")+"+")
		}
		switch t.Layout {
		case "unix":
			args = append(args, "--time", name+":"+t.Unit)
		case "float_s":
			args = append(args, "--time", name+":"+t.Unit, "--layout", name+"=unix")
		default:
			args = append(args, "--time", name, "--layout", name+"="+t.Layout)
		}
		if t.Zone != "UTC" {
			args = append(args, "--tz", t.Zone, "--shift-skipped")
		}
		args = append(args, "--sort")
	}
	return args
}

// combinationFlags are the options of combinations for the tool.
var combinationFlags = [5][]string{
	nil,
	{"--compression", "zstd:16", "--column-compression", "zstd"},
	{"--compression", "zstd:16"},
	{"--column-compression", "zstd"},
	{"--column-compression", "zstd", "--set", "row_group_rows=512"},
}

// outcome is what came of a file.
type outcome struct {
	Path    string           `json:"path"`
	Command string           `json:"command,omitempty"` // of the default combination; none for raw floats
	Equal   bool             `json:"equal"`             // the same rows under every combination
	Error   string           `json:"error,omitempty"`
	Rows    int64            `json:"rows"`
	Bytes   int64            `json:"bytes_in"` // unpacked
	Colsst  map[string]int64 `json:"colsst"`   // by combination
	Parquet int64            `json:"parquet"`  // of the lossless Parquet file that the default table became, and that became it again
	Zstd3   int64            `json:"zstd_3"`   // of the text
	Zstd19  int64            `json:"zstd_19"`
}

// report is all of a manifest.
type report struct {
	Zstd  string    `json:"zstd"`
	Files []outcome `json:"files"`
	Equal int       `json:"equal"`
	Sum   outcome   `json:"sum"`
}

// manifestRun converts all files of a manifest with the tool, under every
// combination, and compares the rows with those that a reader of its own sees.
type manifestRun struct {
	dir, temp string
	tool      string
	zstd      string // the program
}

func runManifest(ctx context.Context, out io.Writer, path, jsonPath, markdown, only string) (ok bool, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	var entries []entry
	if err := json.Unmarshal(text, &entries); err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	if len(entries) == 0 {
		return false, fmt.Errorf("%s: no files", path)
	}
	temp, err := os.MkdirTemp("", "realdata-*")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(temp) }() // temporary
	m := &manifestRun{dir: filepath.Dir(path), temp: temp, tool: filepath.Join(temp, "colsst")}
	build := exec.CommandContext(ctx, "go", "build", "-o", m.tool, ".")
	build.Dir = filepath.Join("cmd", "colsst") // its module, so that no workspace is needed
	if text, err := build.CombinedOutput(); err != nil {
		return false, fmt.Errorf("go build ./cmd/colsst: %w\n%s", err, text)
	}
	r := report{Zstd: "none: the program zstd is not there"}
	if m.zstd, err = exec.LookPath("zstd"); err == nil {
		version, err := exec.CommandContext(ctx, m.zstd, "--version").Output()
		if err != nil {
			return false, err
		}
		r.Zstd = strings.Trim(string(version), "* \n")
	}
	if only != "" {
		entries = slices.DeleteFunc(entries, func(e entry) bool { return !strings.Contains(e.Path, only) })
	}
	r.Files = make([]outcome, len(entries))
	var running sync.WaitGroup
	next := make(chan int)
	for range min(4, runtime.GOMAXPROCS(0)) {
		running.Go(func() {
			for i := range next {
				r.Files[i] = m.file(ctx, &entries[i], filepath.Join(temp, strconv.Itoa(i)))
			}
		})
	}
	for i := range entries {
		next <- i
	}
	close(next)
	running.Wait()
	r.add()
	if err := r.print(out); err != nil {
		return false, err
	}
	if jsonPath != "" {
		b, err := json.MarshalIndent(&r, "", "  ")
		if err == nil {
			err = os.WriteFile(jsonPath, append(b, '\n'), 0o666)
		}
		if err != nil {
			return false, err
		}
	}
	if markdown != "" {
		if err := os.WriteFile(markdown, r.markdown(), 0o666); err != nil {
			return false, err
		}
	}
	return r.Equal == len(r.Files), nil
}

func (r *report) add() {
	r.Sum.Colsst = map[string]int64{}
	for _, f := range r.Files {
		if f.Equal {
			r.Equal++
		}
		r.Sum.Rows, r.Sum.Bytes = r.Sum.Rows+f.Rows, r.Sum.Bytes+f.Bytes
		r.Sum.Parquet += f.Parquet
		r.Sum.Zstd3, r.Sum.Zstd19 = r.Sum.Zstd3+f.Zstd3, r.Sum.Zstd19+f.Zstd19
		for name, n := range f.Colsst {
			r.Sum.Colsst[name] += n
		}
	}
	r.Sum.Path, r.Sum.Equal = "sum", r.Equal == len(r.Files)
}

func (r *report) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "rows\tbytes in\t")
	for _, c := range combinations {
		fmt.Fprintf(w, "%s\t", c.name)
	}
	fmt.Fprint(w, "bytes/row\tParquet\tzstd -3\tzstd -19\tequal\t file\n")
	for _, f := range append(slices.Clone(r.Files), r.Sum) {
		fmt.Fprintf(w, "%d\t%d\t", f.Rows, f.Bytes)
		for _, c := range combinations {
			fmt.Fprintf(w, "%d\t", f.Colsst[c.name])
		}
		fmt.Fprintf(w, "%.2f\t%d\t%d\t%d\t%t\t %s\n", float64(f.Colsst["default"])/float64(max(f.Rows, 1)), f.Parquet, f.Zstd3, f.Zstd19, f.Equal, f.Path)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, f := range r.Files {
		if f.Error != "" {
			fmt.Fprintf(out, "%s: FAILED: %s\n", f.Path, f.Error)
		}
	}
	_, err := fmt.Fprintf(out, "%d files, %d equal\n", len(r.Files), r.Equal)
	return err
}

// file converts one file.
func (m *manifestRun) file(ctx context.Context, e *entry, temp string) outcome {
	o := outcome{Path: e.Path, Colsst: map[string]int64{}}
	text, err := unpack(filepath.Join(m.dir, filepath.FromSlash(e.Path)))
	if err == nil {
		o.Bytes = int64(len(text))
		o.Zstd3, o.Zstd19, err = m.compress(ctx, text)
	}
	if err == nil {
		if e.Format == "csv" {
			err = m.csv(ctx, e, text, temp, &o)
		} else {
			err = m.rawFloats(ctx, e, text, temp, &o)
		}
	}
	if err == nil && o.Rows != e.Rows {
		err = fmt.Errorf("%d rows; the manifest says %d", o.Rows, e.Rows)
	}
	if o.Equal = err == nil; err != nil {
		o.Error = err.Error()
	}
	return o
}

func unpack(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil || !strings.HasSuffix(path, ".gz") {
		return b, err
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

func (m *manifestRun) compress(ctx context.Context, text []byte) (n3, n19 int64, err error) {
	if m.zstd == "" {
		return 0, 0, nil
	}
	var n [2]int64
	for i, level := range []string{"-3", "-19"} {
		cmd := exec.CommandContext(ctx, m.zstd, level, "-q", "-c", "--no-check", "-T1")
		cmd.Stdin = bytes.NewReader(text)
		packed, err := cmd.Output()
		if err != nil {
			return 0, 0, fmt.Errorf("zstd: %w", err)
		}
		n[i] = int64(len(packed))
	}
	return n[0], n[1], nil
}

// csv converts a CSV with the tool and compares.
func (m *manifestRun) csv(ctx context.Context, e *entry, text []byte, temp string, o *outcome) error {
	want, err := e.read(text)
	if err != nil {
		return err
	}
	in := filepath.Join(m.dir, filepath.FromSlash(e.Path))
	args := e.command(in, "OUT")
	args[1] = e.Path
	o.Command = "colsst " + quoted(args)
	for i, c := range combinations {
		out := temp + "." + c.name + ".csst"
		if err := m.run(ctx, append(e.command(in, out), combinationFlags[i]...)); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if o.Rows, o.Colsst[c.name], err = want.compare(ctx, out); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if i == 0 { // and back
			if o.Parquet, err = m.parquet(ctx, out, temp); err != nil {
				return err
			}
			back := temp + ".csv"
			err = m.run(ctx, []string{"convert", out, "-o", back, "-q", "--null", "\\N"})
			if err == nil {
				err = m.run(ctx, []string{"diff", back, out, "-q", "--null", "\\N"})
			}
			if err != nil {
				return fmt.Errorf("and back: %w", err)
			}
			_ = os.Remove(back) // temporary
		}
		_ = os.Remove(out) // temporary
	}
	return nil
}

// parquet converts the table at path to lossless Parquet and back, compares the
// two tables with all their metadata, and returns the bytes of the Parquet file.
func (m *manifestRun) parquet(ctx context.Context, path, temp string) (int64, error) {
	out, back := temp+".parquet", temp+".back.csst"
	err := m.run(ctx, []string{"convert", path, "-o", out, "-q", "--lossless"})
	if err == nil {
		err = m.run(ctx, []string{"convert", out, "-o", back, "-q"})
	}
	if err == nil {
		err = m.run(ctx, []string{"diff", path, back, "-q"})
	}
	var size int64
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(out); err == nil {
			size = info.Size()
		}
	}
	_, _ = os.Remove(out), os.Remove(back) // temporary
	if err != nil {
		return 0, fmt.Errorf("by Parquet and back: %w", err)
	}
	return size, nil
}

func (m *manifestRun) run(ctx context.Context, args []string) error {
	text, err := exec.CommandContext(ctx, m.tool, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", args[0], err, bytes.TrimSpace(text))
	}
	return nil
}

// quoted is a command line for a shell.
func quoted(args []string) string {
	for i, a := range args {
		if a == "" || strings.ContainsAny(a, " \t#;&|<>()[]$\\\"'*?") {
			args[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(args, " ")
}

// value is a cell as this program reads it.
type value struct {
	null bool
	text string
	bits int64 // an integer, the bits of a double, or of a time the seconds
	nano int64
}

// rows are those of a CSV, in the order in which a table has them.
type rows struct {
	columns [][2]string // with the joined time
	rows    [][]value
}

// read reads a CSV with the reader of the standard library.
func (e *entry) read(text []byte) (*rows, error) {
	c := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))))
	c.Comma = rune(e.Separator[0])
	c.FieldsPerRecord = -1
	c.ReuseRecord = true
	r := &rows{columns: e.Columns}
	if e.timeColumn() == joined {
		r.columns = append(slices.Clone(e.Columns), [2]string{joined, "timestamp"})
	}
	for n := 0; ; n++ {
		record, err := c.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if n == 0 && e.Header {
			continue
		}
		if e.Trailing {
			record = record[:len(record)-1]
		}
		if len(record) != len(e.Columns) {
			return nil, fmt.Errorf("row %d: %d fields", n, len(record))
		}
		if e.timeColumn() == joined {
			var parts []string
			for i, c := range e.Columns {
				if slices.Contains(e.Time.Columns, c[0]) {
					parts = append(parts, record[i])
				}
			}
			record = append(slices.Clone(record), strings.Join(parts, " "))
		}
		row := make([]value, len(r.columns))
		for i, c := range r.columns {
			if row[i], err = e.value(c[1], record[i]); err != nil {
				return nil, fmt.Errorf("row %d: %w", n, err)
			}
		}
		r.rows = append(r.rows, row)
	}
	if e.Time != nil {
		at := slices.IndexFunc(r.columns, func(c [2]string) bool { return c[0] == e.timeColumn() })
		slices.SortStableFunc(r.rows, func(a, b []value) int {
			x, y := a[at], b[at]
			if x.bits != y.bits {
				return int(min(max(x.bits-y.bits, -1), 1))
			}
			return int(x.nano - y.nano)
		})
	}
	return r, nil
}

func (e *entry) value(typ, text string) (v value, err error) {
	if slices.Contains(e.Null, text) {
		return value{null: true}, nil
	}
	switch typ {
	case "int":
		v.bits, err = strconv.ParseInt(text, 10, 64)
	case "float":
		var f float64
		f, err = strconv.ParseFloat(text, 64)
		v.bits = int64(math.Float64bits(f))
		if math.IsNaN(f) {
			v.bits = 0x7ff8000000000000
		}
	case "timestamp":
		var t time.Time
		if t, err = e.time(text); err == nil {
			v.bits, v.nano = t.Unix(), int64(t.Nanosecond())
		}
	default:
		v.text = strings.Clone(text)
	}
	return v, err
}

var units = map[string]int64{"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}

func (e *entry) time(text string) (time.Time, error) {
	switch e.Time.Layout {
	case "unix":
		n, err := strconv.ParseInt(text, 10, 64)
		per := units[e.Time.Unit]
		return time.Unix(n/per, n%per*(1e9/per)), err
	case "float_s":
		whole, part, _ := strings.Cut(text, ".")
		s, err := strconv.ParseInt(whole, 10, 64)
		if err != nil {
			return time.Time{}, err
		}
		nano, err := strconv.ParseInt((part + "000000000")[:9], 10, 64)
		return time.Unix(s, nano), err
	}
	zone, err := time.LoadLocation(e.Time.Zone)
	if err != nil {
		return time.Time{}, err
	}
	t, err := time.ParseInLocation(e.Time.Layout, text, zone)
	if err != nil {
		return t, err
	}
	// A wall time that a change of clocks skips counts on from the hour before;
	// one that happens twice is the first of them.
	wall, err := time.Parse(e.Time.Layout, text)
	if err == nil && wall.Location() == time.UTC {
		_, before := t.Add(-24 * time.Hour).Zone()
		_, offset := t.Zone()
		first := wall.Add(-time.Duration(before) * time.Second)
		if _, there := first.In(zone).Zone(); there == before || wall.Unix()-int64(offset) != t.Unix() {
			t = first
		}
	}
	return t, nil
}

// compare compares the rows with those of a table file, one by one in order.
func (r *rows) compare(ctx context.Context, path string) (n, size int64, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, 0, err
	}
	t, err := columnar.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return 0, 0, err
	}
	if err := t.Verify(ctx, columnar.VerifyValues, nil); err != nil {
		return 0, 0, err
	}
	s := t.Schema()
	if s.NumColumns() != len(r.columns) {
		return 0, 0, fmt.Errorf("%d columns in the table, %d in the text", s.NumColumns(), len(r.columns))
	}
	at := make([]int, len(r.columns))
	for i, c := range r.columns {
		if at[i] = s.Lookup(c[0]); at[i] < 0 {
			return 0, 0, fmt.Errorf("there is no column %q", c[0])
		}
	}
	var buf []byte
	for b, err := range t.All(ctx, rowgroup.ScanOptions{}) {
		if err != nil {
			return 0, 0, err
		}
		for i := range b.Len() {
			if n == int64(len(r.rows)) {
				return 0, 0, errors.New("more rows than the text has")
			}
			for k, want := range r.rows[n] {
				got, there := b.AppendValue(buf[:0], at[k], i)
				if !same(want, s.Column(at[k]).Type, got, there) {
					return 0, 0, fmt.Errorf("row %d, column %q: %x, not %+v", n, r.columns[k][0], got, want)
				}
				buf = got
			}
			n++
		}
	}
	if n != int64(len(r.rows)) {
		return 0, 0, fmt.Errorf("%d rows of %d", n, len(r.rows))
	}
	return n, int64(len(b)), nil
}

func same(want value, t rowgroup.Type, got []byte, there bool) bool {
	switch {
	case want.null:
		return !there || len(got) == 0 && t.Kind == rowgroup.KindText // the other reader cannot tell "" from nothing
	case !there:
		return false
	}
	switch t.Kind {
	case rowgroup.KindText:
		return string(got) == want.text
	case rowgroup.KindDouble:
		f, ok := rowgroup.Float64Of(got)
		return ok && int64(math.Float64bits(f)) == want.bits
	case rowgroup.KindTimestamp:
		v, ok := rowgroup.IntOf(t, got)
		per := units[t.Unit.String()]
		return ok && time.Unix(v/per, v%per*(1e9/per)).Equal(time.Unix(want.bits, want.nano))
	}
	v, ok := rowgroup.IntOf(t, got)
	return ok && v == want.bits
}

// rawFloats puts a file of raw little-endian floats into a table through the
// Go API.
func (m *manifestRun) rawFloats(ctx context.Context, e *entry, raw []byte, temp string, o *outcome) error {
	typ := rowgroup.Double
	size := 8
	if e.Format == "f32" {
		typ, size = rowgroup.Float, 4
	}
	s, err := rowgroup.NewSchema(nil, nil, nil, []rowgroup.Column{{Name: "value", Type: typ}}, rowgroup.WithMultiset())
	if err != nil {
		return err
	}
	o.Rows = int64(len(raw) / size)
	batch := rowgroup.NewBatch(s)
	for i, c := range combinations {
		var file bytes.Buffer
		w, err := columnar.NewWriter(&file, s, append(slices.Clone(c.opts), columnar.WithFilter(false))...)
		if err != nil {
			return err
		}
		for at := 0; at < len(raw); at += 4096 * size {
			batch.Reset()
			batch.Partition(0).Continued = at > 0
			part := raw[at:min(at+4096*size, len(raw))]
			for ; len(part) >= size; part = part[size:] {
				if size == 8 {
					v := batch.Float64s(0)
					*v = append(*v, math.Float64frombits(binary.LittleEndian.Uint64(part)))
				} else {
					v := batch.Float32s(0)
					*v = append(*v, math.Float32frombits(binary.LittleEndian.Uint32(part)))
				}
			}
			if err := w.Append(batch); err != nil {
				return err
			}
		}
		if err := w.Close(); err != nil {
			return err
		}
		o.Colsst[combinations[i].name] = int64(file.Len())
		r, err := columnar.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			return err
		}
		var back []byte
		for b, err := range r.All(ctx, rowgroup.ScanOptions{}) {
			if err != nil {
				return err
			}
			if size == 8 {
				for _, v := range *b.Float64s(0) {
					back = binary.LittleEndian.AppendUint64(back, math.Float64bits(v))
				}
			} else {
				for _, v := range *b.Float32s(0) {
					back = binary.LittleEndian.AppendUint32(back, math.Float32bits(v))
				}
			}
		}
		if !bytes.Equal(back, raw) {
			return fmt.Errorf("%s: other floats come back", c.name)
		}
		if i == 0 {
			path := temp + ".csst"
			if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
				return err
			}
			o.Parquet, err = m.parquet(ctx, path, temp)
			_ = os.Remove(path) // temporary
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// markdown is the report as a page.
func (r *report) markdown() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Real files

What %d files of others become: metrics, logs, sensors, markets, trips. Each is converted by a command made from its description, under the default options and the combinations B to E (README), and every row of every table is compared with what another reader of the text sees: the same rows, equal times in the order of the file, floats by their bits, texts by their bytes. %d of %d are equal under all five, and diff-equal after a conversion to Parquet (`+"`--lossless`"+`, %d bytes in all) and back.

Made by `+"`go run ./internal/realdata --manifest MANIFEST.json --json OUT --markdown docs/realdata.md`"+`. Bytes in are those of the text, unpacked; a table holds the same rows in order, with index, statistics and checksums, and gives any range of them without the rest. zstd is the program (%s) over the whole text.

`, len(r.Files), r.Equal, len(r.Files), r.Sum.Parquet, r.Zstd)
	b.WriteString("| file | rows | bytes in | colsst | bytes/row | with zstd (B) | zstd -3 | zstd -19 |\n| --- | --: | --: | --: | --: | --: | --: | --: |\n")
	line := func(f *outcome) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %.2f | %d | %d | %d |\n", f.Path, f.Rows, f.Bytes, f.Colsst["default"],
			float64(f.Colsst["default"])/float64(max(f.Rows, 1)), f.Colsst["B"], f.Zstd3, f.Zstd19)
	}
	sum := r.Sum
	sum.Path = "**all**"
	line(&sum)
	sorted := slices.Clone(r.Files)
	slices.SortFunc(sorted, func(a, b outcome) int { return strings.Compare(a.Path, b.Path) })
	for i := range sorted {
		line(&sorted[i])
	}
	return b.Bytes()
}
