package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/textfmt"
)

type convert struct {
	*tool
	text        textFlags
	table       tableFlags
	out         outFlags
	now         nowFlag
	inputFormat string
	rowMetadata bool
	verify      bool
	summary     string
}

func newConvert() *cobra.Command {
	c := &convert{}
	c.tool = command("convert IN -o OUT [flags]", "Convert CSV to a table file and back",
		`Convert reads a CSV (also .gz) or a table file, - for stdin, and writes the
other or the same. Types that are not given are inferred from the first 65,536
rows and printed. Rows must be in order: partitions by their key bytes, rows by
their clustering columns; --sort sorts them in memory. A table file is copied
with all its metadata; CSV shows rows as a query does, before every expiry
unless --now says otherwise.`,
		cobra.ExactArgs(1), func(_ *tool, args []string) error { return c.run(args[0]) })
	f := c.cmd.Flags()
	c.out.add(c.cmd)
	f.StringVar(&c.inputFormat, "input-format", "", "colsst or csv (default: by the content and the file's name)")
	c.text.add(c.cmd)
	f.BoolVar(&c.text.sort, "sort", false, "sort the rows in memory; equal keys stay in the order of the file")
	f.BoolVar(&c.text.unique, "unique", false, "two rows of one key are an error")
	c.table.add(c.cmd)
	f.BoolVar(&c.rowMetadata, "row-metadata", false, "CSV output: columns $write_time, $ttl and $expiry too")
	f.StringVar(&c.now.text, "now", "", nowUsage)
	f.BoolVar(&c.verify, "verify", false, "check the table file before it appears")
	f.StringVar(&c.summary, "summary", "", "json: a last line of JSON on stderr")
	return c.cmd
}

// source is the input as rows.
type source struct {
	schema  *rowgroup.Schema
	columns []string // in the order of the text
	rows    rowgroup.Iter
	bar     *progress
	perRow  bool // the bar counts rows
}

func (c *convert) run(path string) error {
	if err := c.check(); err != nil {
		return err
	}
	in, err := c.openInput(path, c.inputFormat)
	if err != nil {
		return err
	}
	defer in.close()
	now, nowGiven, err := c.now.parse()
	if err != nil {
		return err
	}
	export := in.format == formatTable && c.out.format == formatCSV
	var src *source
	switch in.format {
	case formatTable:
		src, err = c.tableSource(in, rowgroup.ScanOptions{Live: export || nowGiven, Now: now})
	case formatCSV:
		src, err = c.csvSource(in)
	default:
		err = usagef("%s: its name tells no format: give --input-format colsst or csv", in.name)
	}
	if err != nil {
		return err
	}
	defer src.bar.end()
	out, err := c.createOutput(&c.out)
	if err != nil {
		return err
	}
	defer out.abort()
	to, err := c.sink(out, src)
	if err != nil {
		return named(in.name, err)
	}
	clock := time.Now().Unix()
	var rows, hidden int64
	err = eachBatch(c.ctx(), src.rows, src.schema, -1, func(b *rowgroup.Batch) error {
		rows += int64(b.Len() - len(*b.Markers()))
		if export && !nowGiven {
			hidden += expired(b, clock)
		}
		if src.perRow {
			src.bar.add(int64(b.Len()))
		}
		return to.write(b)
	})
	if err == nil {
		err = to.end()
	}
	if err == nil && c.verify {
		err = c.verifyOutput(out)
	}
	if err != nil {
		return orElse(exitData, named(in.name, err))
	}
	if err := out.commit(); err != nil {
		return err
	}
	src.bar.end()
	if csv, ok := to.(*csvSink); ok && csv.w.NaNPayloads() > 0 {
		c.notef("%s: %s of other bits than NaN's, which CSV does not keep", in.name, plural(csv.w.NaNPayloads(), "NaN"))
	}
	c.noteExpired(in.name, hidden)
	return c.done(in, out, rows)
}

func (c *convert) check() error {
	if err := checkFormat("--input-format", c.inputFormat); err != nil {
		return err
	}
	if err := c.out.check(); err != nil {
		return err
	}
	switch {
	case c.summary != "" && c.summary != "json":
		return usagef("--summary %s: expected json", c.summary)
	case c.rowMetadata && c.out.format != formatCSV:
		return usagef("--row-metadata is for CSV output; table files keep all metadata")
	case c.verify && (c.out.format != formatTable || c.out.path == "-"):
		return usagef("--verify checks a table file: give -o FILE.csst")
	}
	return nil
}

func (c *convert) tableSource(in *input, o rowgroup.ScanOptions) (*source, error) {
	for _, f := range []string{"time", "partition-key", "clustering", "type", "sort", "unique", "write-time", "ttl", "expiry"} {
		if c.cmd.Flags().Changed(f) {
			return nil, usagef("%s is a table file, whose schema is fixed: --%s is for CSV input", in.name, f)
		}
	}
	r, err := in.table()
	if err != nil {
		return nil, err
	}
	return &source{
		schema: r.Schema(), columns: sourceColumns(r), rows: r.Scan(c.ctx(), o),
		bar: c.newProgress(in.name, r.Rows(), false), perRow: true,
	}, nil
}

func (c *convert) csvSource(in *input) (*source, error) {
	o, err := c.text.options()
	if err != nil {
		return nil, err
	}
	bar := c.newProgress(in.name, in.size, true)
	in.r = &barReader{in.r, bar}
	r, err := in.csv(c.ctx(), o, exitUsage)
	if err != nil {
		bar.end()
		return nil, err
	}
	c.printChoices(in.name, r)
	src := &source{schema: r.Schema(), columns: r.SourceColumns(), rows: r, bar: bar}
	if c.text.sort {
		if src.rows, err = textfmt.Sort(r.Schema(), r); err != nil {
			bar.end()
			return nil, orElse(exitUsage, named(in.name, err))
		}
	}
	return src, nil
}

// barReader tells a bar of the bytes read.
type barReader struct {
	r   io.Reader
	bar *progress
}

func (r *barReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.bar.add(int64(n))
	return n, err
}

// printChoices tells which types were inferred, and why.
func (c *convert) printChoices(name string, r *textfmt.CSVReader) {
	if c.quiet {
		return
	}
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	s := r.Schema()
	for _, x := range r.Choices() {
		role := "metadata"
		if i := s.Lookup(x.Column); i >= 0 {
			role = s.Role(i).String()
		}
		why := x.Why
		if x.Given {
			why = "given"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", x.Column, x.Type, role, why)
	}
	_ = w.Flush() // to memory
	c.notef("%s: columns", name)
	fmt.Fprint(c.cmd.ErrOrStderr(), b.String())
	for _, x := range r.Choices() {
		if x.Note != "" {
			c.notef("%s: column %q: %s", name, x.Column, x.Note)
		}
	}
}

func (c *convert) sink(out *output, src *source) (sink, error) {
	if c.out.format == formatTable {
		opts, err := c.table.options()
		if err != nil {
			return nil, err
		}
		return newTableSink(out, src.schema, src.columns, opts)
	}
	sep, err := separator(c.text.separator)
	if err != nil {
		return nil, err
	}
	o := textfmt.CSVWriteOptions{Columns: src.columns, Separator: sep, NoHeader: !c.text.header, RowMetadata: c.rowMetadata}
	if len(c.text.null) > 0 {
		o.Null = c.text.null[0]
	}
	return newCSVSink(out, src.schema, o)
}

// verifyOutput reads the whole table file back.
func (c *convert) verifyOutput(out *output) error {
	r, err := columnar.Open(out.file, out.n, columnar.WithName(out.name))
	if err != nil {
		return err
	}
	return r.Verify(c.ctx(), columnar.VerifyValues, nil)
}

// summary is the last line of a command that writes a file, as JSON.
type summary struct {
	Output      string   `json:"output"`
	Rows        int64    `json:"rows"`
	BytesIn     *int64   `json:"bytes_in,omitempty"`
	BytesOut    int64    `json:"bytes_out"`
	BytesPerRow *float64 `json:"bytes_per_row,omitempty"`
}

func (c *convert) done(in *input, out *output, rows int64) error {
	s := summary{Output: out.name, Rows: rows, BytesOut: out.n}
	if in.size >= 0 {
		s.BytesIn = &in.size
	}
	return c.tool.printSummary(&s, c.summary == "json")
}

// printSummary prints the last line of a command that writes a file.
func (t *tool) printSummary(s *summary, asJSON bool) error {
	text := fmt.Sprintf("%s: %s", s.Output, plural(s.Rows, "row"))
	if s.BytesIn != nil {
		text += fmt.Sprintf(", %d bytes in", *s.BytesIn)
	}
	text += fmt.Sprintf(", %d bytes out", s.BytesOut)
	if s.Rows > 0 {
		per := float64(s.BytesOut) / float64(s.Rows)
		s.BytesPerRow = &per
		text += fmt.Sprintf(", %.2f bytes/row", per)
	}
	if took := time.Since(t.started); t.verbose && took > 0 {
		text += fmt.Sprintf(", %s, %.0f rows/s", took.Round(time.Millisecond), float64(s.Rows)/took.Seconds())
	}
	t.notef("%s", text)
	if asJSON {
		return json.NewEncoder(t.cmd.ErrOrStderr()).Encode(s)
	}
	return nil
}
