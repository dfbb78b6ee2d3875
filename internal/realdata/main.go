// Command realdata converts every CSV file (.csv, .csv.gz) of a folder tree to
// table files and back, under every combination of layers, and compares the
// rows: times as instants, values by their bits.
//
//	go run ./internal/realdata --dir DIR
//	go run ./internal/realdata --manifest MANIFEST.json --json OUT
//
// With a manifest it builds the tool, converts each file by a command made from
// its description, and compares every row with what it reads itself. The default
// table becomes lossless Parquet and a table again, which must not differ.
//
// In a folder the separator is the comma or the semicolon, whichever the first line has
// more of. The time column is the first that holds times, or else days; a file
// without one keeps its order. Files whose times step back are sorted, equal times in file
// order. It prints a line a file and a sum, and ends with 1 if any row
// differs.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/internal/rowdiff"
	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/textfmt"
)

// combination is a choice of layers. The letters are those of the experiment
// that the table options come from.
type combination struct {
	name string
	opts []columnar.Option
}

var combinations = []combination{
	{"default", nil},
	{"B", []columnar.Option{columnar.WithCompression(16), columnar.WithColumnCompression("*")}},
	{"C", []columnar.Option{columnar.WithCompression(16)}},
	{"D", []columnar.Option{columnar.WithColumnCompression("*")}},
	{"E", []columnar.Option{columnar.WithColumnCompression("*"), columnar.WithRowGroupRows(512)}},
}

func main() {
	dir := flag.String("dir", "", "folder of CSV files")
	manifest := flag.String("manifest", "", "description of files, a JSON array")
	jsonPath := flag.String("json", "", "file for the outcome of a manifest as JSON")
	markdown := flag.String("markdown", "", "file for the outcome of a manifest as a page")
	only := flag.String("only", "", "of a manifest the files whose paths hold this")
	flag.Parse()
	if (*dir == "") == (*manifest == "") || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "usage: realdata --dir DIR, or realdata --manifest FILE [--json OUT] [--markdown OUT] [--only TEXT]")
		os.Exit(2)
	}
	var ok bool
	var err error
	if *manifest != "" {
		ok, err = runManifest(context.Background(), os.Stdout, *manifest, *jsonPath, *markdown, *only)
	} else {
		ok, err = run(context.Background(), os.Stdout, *dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "realdata:", err)
		os.Exit(1)
	}
	if !ok {
		os.Exit(1)
	}
}

// result is what came of one file.
type result struct {
	rows, csv int64
	sorted    bool
	bytes     [5]int64 // by combination
}

// run converts the files of dir and prints the table. ok is false if one
// failed.
func run(ctx context.Context, out io.Writer, dir string) (ok bool, err error) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "rows\tCSV bytes\t")
	for _, c := range combinations {
		fmt.Fprintf(w, "%s\tbytes/row\t", c.name)
	}
	fmt.Fprint(w, "\t file\n")
	var all result
	files, failures := 0, []string(nil)
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(strings.TrimSuffix(path, ".gz"), ".csv") {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		files++
		r, err := file(ctx, path)
		if err != nil {
			failures = append(failures, fmt.Sprintf("%s: FAILED: %v", name, err))
			return nil
		}
		note := ""
		if r.sorted {
			note = "sorted"
		}
		r.print(w, note, name)
		all.rows, all.csv = all.rows+r.rows, all.csv+r.csv
		for i := range all.bytes {
			all.bytes[i] += r.bytes[i]
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	if files == 0 {
		return false, fmt.Errorf("%s: no CSV files", dir)
	}
	all.print(w, "", fmt.Sprintf("%d files, %d failed", files, len(failures)))
	if err := w.Flush(); err != nil {
		return false, err
	}
	for _, f := range failures {
		fmt.Fprintln(out, f)
	}
	return len(failures) == 0, nil
}

func (r *result) print(w io.Writer, note, name string) {
	fmt.Fprintf(w, "%d\t%d\t", r.rows, r.csv)
	for _, n := range r.bytes {
		fmt.Fprintf(w, "%d\t%.2f\t", n, float64(n)/float64(max(r.rows, 1)))
	}
	fmt.Fprintf(w, "%s\t %s\n", note, name)
}

// file converts one file under every combination.
func file(ctx context.Context, path string) (*result, error) {
	packed, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	unpacked, err := textfmt.Decompress(bytes.NewReader(packed), path)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		return nil, err
	}
	t, err := newTable(text, filepath.Base(path))
	if err != nil {
		return nil, err
	}
	r := &result{csv: int64(len(text)), sorted: t.sorted}
	for i, c := range combinations {
		table, err := t.write(c.opts)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		if r.rows, err = t.check(ctx, table); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		r.bytes[i] = int64(len(table))
	}
	return r, nil
}

// table is a CSV whose layout is known.
type table struct {
	name    string
	text    []byte
	options textfmt.CSVOptions
	schema  *rowgroup.Schema
	columns []string // in the order of the text
	sorted  bool     // the rows were not in order
}

func newTable(text []byte, name string) (*table, error) {
	t := &table{name: name, text: text, options: textfmt.CSVOptions{Separator: ',', Header: true}}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	if bytes.Count(line, []byte(";")) > bytes.Count(line, []byte(",")) {
		t.options.Separator = ';'
	}
	c, err := textfmt.NewCSVReader(bytes.NewReader(text), name, t.options)
	if err != nil {
		return nil, err
	}
	for _, x := range c.Choices() {
		if k := x.Type.Kind; k == rowgroup.KindTimestamp || k == rowgroup.KindDate && t.options.Time == nil {
			t.options.Time = &textfmt.TimeSpec{Column: x.Column}
			if k == rowgroup.KindTimestamp {
				break
			}
		}
	}
	if c, err = textfmt.NewCSVReader(bytes.NewReader(text), name, t.options); err != nil {
		return nil, err
	}
	t.schema, t.columns = c.Schema(), c.SourceColumns()
	t.options.Schema = t.schema
	b := rowgroup.NewBatch(t.schema)
	for more := true; more && err == nil; {
		more, err = c.Next(b)
	}
	var order *textfmt.OrderError
	if t.sorted = errors.As(err, &order); t.sorted {
		err = nil
	}
	t.options.AnyOrder = true
	return t, err
}

// rows are the rows of a text of the table, sorted.
func (t *table) rows(text []byte) (rowgroup.Iter, error) {
	c, err := textfmt.NewCSVReader(bytes.NewReader(text), t.name, t.options)
	if err != nil {
		return nil, err
	}
	return textfmt.Sort(t.schema, c)
}

// write makes a table file.
func (t *table) write(opts []columnar.Option) ([]byte, error) {
	rows, err := t.rows(t.text)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w, err := columnar.NewWriter(&out, t.schema, opts...)
	if err != nil {
		return nil, err
	}
	if err := each(rows, t.schema, w.Append); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

func each(rows rowgroup.Iter, s *rowgroup.Schema, f func(b *rowgroup.Batch) error) error {
	b := rowgroup.NewBatch(s)
	for {
		more, err := rows.Next(b)
		if err != nil || !more {
			return errors.Join(err, rows.Close())
		}
		if err := f(b); err != nil {
			return errors.Join(err, rows.Close())
		}
	}
}

// check compares a table file, and the CSV that it becomes, with the text, and
// returns the number of rows.
func (t *table) check(ctx context.Context, file []byte) (int64, error) {
	r, err := columnar.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return 0, err
	}
	if err := r.Verify(ctx, columnar.VerifyValues, nil); err != nil {
		return 0, err
	}
	var csv bytes.Buffer
	w, err := textfmt.NewCSVWriter(&csv, t.schema, textfmt.CSVWriteOptions{Columns: t.columns, Separator: t.options.Separator})
	if err != nil {
		return 0, err
	}
	if err := each(r.Scan(ctx, rowgroup.ScanOptions{}), t.schema, w.Write); err != nil {
		return 0, err
	}
	if err := w.Flush(); err != nil {
		return 0, err
	}
	back, err := t.rows(csv.Bytes())
	if err != nil {
		return 0, fmt.Errorf("the CSV written: %w", err)
	}
	for _, other := range []rowgroup.Iter{r.Scan(ctx, rowgroup.ScanOptions{}), back} {
		rows, err := t.rows(t.text)
		if err != nil {
			return 0, err
		}
		d, err := rowdiff.Compare(ctx, rowdiff.Side{Name: "text", Schema: t.schema, Rows: rows},
			rowdiff.Side{Name: "table", Schema: t.schema, Rows: other}, rowdiff.Options{Metadata: true, Report: 1})
		if err != nil {
			return 0, err
		}
		if d.Differences > 0 {
			return 0, fmt.Errorf("%d differences, as %s", d.Differences, d.First[0].String())
		}
		if d.Rows != r.Rows() {
			return 0, fmt.Errorf("%d rows in the text, %d in the table", d.Rows, r.Rows())
		}
	}
	return r.Rows(), nil
}
