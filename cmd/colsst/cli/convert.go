package cli

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/colsst/colsst/cassandra"
	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/parquetfmt"
	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/textfmt"
)

type convert struct {
	*tool
	text         textFlags
	table        tableFlags
	out          outFlags
	parquet      parquetFlags
	now          nowFlag
	inputFormat  string
	rowMetadata  bool
	verify       bool
	onError      string
	rejectPath   string
	shard        string
	resume       bool
	measurement  string
	partSizeText string
	precision    string

	second         int64 // of now
	nowGiven       bool
	options        textfmt.CSVOptions
	tableOpts      []columnar.Option
	parquetOpts    []parquetfmt.Option
	partSize       int64 // of --output-size
	unique         textfmt.Unique
	reject         *rejects
	journal        *journal // of the rows skipped, with --resume
	rejectedBefore int64    // rows of inputs that were done before
	leftOutBefore  int64    // partitions of them
	shardI         int
	shardN         int
	lineUnit       rowgroup.Unit
	schemaFound    *rowgroup.Schema // of the first input, for the others
	layouts        map[string]*textfmt.Layout

	list    cassandra.ListOptions // of SSTables in folders
	include []string
}

func newConvert() *cobra.Command {
	c := &convert{}
	c.tool = command("convert IN... -o OUT [flags]", "Convert text to a table file and back",
		`Convert reads table files, CSV, TSV, NDJSON, InfluxDB's line protocol and the
text formats of Prometheus and OpenMetrics (any text also as .gz, .zst, .bz2 or
.xz), - for stdin, and writes a table file, CSV, TSV, NDJSON or line protocol.
Formats are told by the content and the name. What dump --exact prints
(--input-format dump) becomes the table file again that it was, with its
--schema.

Types that are not given are inferred from the first 65,536 rows and printed.
Rows must be in order: partitions by their key bytes, rows by their clustering
columns; --sort sorts any amount of them, through temporary files where memory
does not do. A table file is copied with all its metadata; text shows rows as a
query does, before every expiry unless --now says otherwise.

Several inputs (files, folders, patterns) become one output, one after another,
read with the schema of the first. If OUT is a folder (with a slash at its end,
or one that exists), each input becomes a file there. --shard i/N then takes
every N-th input, and --resume leaves out those that are done, as the file
.colsst-convert in OUT says (.colsst-convert.rejects has the rows that were
skipped); it may be killed and started again at any time.`,
		arguments{1, -1, "at least one input"}, func(_ *tool, args []string) error { return c.run(args) })
	f := c.cmd.Flags()
	c.out.file(c.tool)
	c.choice(&c.inputFormat, "input-format", "", "format of the inputs: "+strings.Join(inputFormats, ", ")+" (default: by content and name)", inputFormats...)
	c.text.add(c.tool)
	f.BoolVar(&c.text.sort, "sort", false, "sort the rows; equal keys stay in the order of the input")
	f.StringVar(&c.text.unique, "unique", "", "a table without two rows of one key; such rows are an error, or the first or last of them is taken (error, first, last)")
	f.Lookup("unique").NoOptDefVal = "error"
	c.choice(&c.onError, "on-error", "fail", "what to do with a row of text, or a partition of an SSTable, that is malformed: fail or skip (exit code 6)", "fail", "skip")
	f.StringVar(&c.rejectPath, "reject", "", "with --on-error skip: a CSV of the rows skipped: file, line, reason; of SSTables the partitions: file, partition_key, chunk, offset, reason")
	c.maxRowFlag()
	c.asReadFlag()
	c.table.add(c.tool)
	c.parquet.add(c.tool)
	f.BoolVar(&c.verify, "verify", false, "check the table file before it appears")
	f.StringVar(&c.partSizeText, "output-size", "", "Parquet: of OUT.parquet make OUT-00000.parquet, OUT-00001.parquet, ..., each of about this size, as 256MiB")
	f.BoolVar(&c.rowMetadata, "row-metadata", false, "CSV and NDJSON output: columns $write_time, $ttl and $expiry too")
	f.StringVar(&c.measurement, "measurement", "", "line protocol output: the measurement of all rows (default: the column measurement)")
	c.choice(&c.precision, "precision", "", "line protocol output: unit of its timestamps, s, ms, us or ns (default: that of the time column)", "s", "ms", "us", "ns")
	f.StringVar(&c.now.text, "now", "", nowUsage)
	c.listFlags()
	f.StringVar(&c.shard, "shard", "", "i/N: of the inputs only every N-th, from the i-th on")
	f.BoolVar(&c.resume, "resume", false, "leave out inputs that were converted before")
	return c.cmd
}

func (c *convert) run(args []string) error {
	args = c.uniqueArgument(args)
	if err := c.check(); err != nil {
		return err
	}
	if err := c.checkInclude(); err != nil {
		return err
	}
	paths, skipped, err := expandListed(args, func(format string) bool { return format != "" }, c.list)
	if err == nil {
		err = onlyOnce(paths)
	}
	if err == nil {
		paths, err = c.shardOf(paths)
	}
	if err == nil {
		err = checkPlace(c.out.path, args, paths)
	}
	if err != nil {
		return err
	}
	c.skippedNote(skipped)
	folder := strings.HasSuffix(c.out.path, "/")
	if info, err := os.Stat(c.out.path); err == nil && info.IsDir() {
		folder = true
	}
	switch {
	case !folder && (c.resume || c.shard != ""):
		return usagef("--resume and --shard are for outputs in a folder: give -o FOLDER/")
	case !folder:
		if len(paths) > 1 && slices.ContainsFunc(paths, isSSTable) {
			return usagef("%w", errManySSTables)
		}
		if err := c.out.check(); err != nil {
			return err
		}
		if err := c.checkOutput(c.out.format); err != nil {
			return err
		}
	}
	outs := []string{c.out.path}
	if folder {
		if outs, err = c.outputs(c.out.path, args, paths); err != nil {
			return err
		}
	}
	if c.rejectPath != "" {
		for _, out := range outs {
			if err := checkOutputs(paths, out, c.rejectPath); err != nil {
				return err
			}
		}
		if c.reject, err = c.createRejects(c.rejectPath, paths, c.out.force, c.resume); err != nil {
			return err
		}
		defer c.reject.out.abort()
	}
	if folder {
		err = c.folder(paths, outs)
	} else {
		err = c.file(paths, c.out, c.reject.flush)
	}
	if c.journal != nil && c.journal.err != nil {
		return c.journal.err
	}
	if c.reject != nil && c.reject.err != nil {
		return c.reject.err
	}
	// The rows belong to outputs that are there, or the next run goes on from here.
	if err == nil || ExitCode(err) == exitSkipped || c.resume || folder && c.sum.Inputs > 0 {
		if failed := c.reject.commit(); failed != nil {
			return failed
		}
	}
	if n := c.sum.Rejected + c.rejectedBefore; err == nil && n > 0 {
		err = &exitError{exitSkipped, fmt.Errorf("finished, but %s skipped", plural(n, "row was", "rows were"))}
	}
	if err == nil {
		err = leftOut(c.sum.BadPartitions + c.leftOutBefore)
	}
	return err
}

// uniqueArgument takes "first" after --unique, whose value is optional, for its
// value, unless there is a file of that name.
func (c *convert) uniqueArgument(args []string) []string {
	i := slices.IndexFunc(args, func(a string) bool { return a == "error" || a == "first" || a == "last" })
	if i < 0 || c.text.unique != "error" {
		return args
	}
	if _, err := os.Stat(args[i]); err == nil {
		return args
	}
	c.text.unique = args[i]
	return slices.Delete(slices.Clone(args), i, i+1)
}

// check looks at the flags as far as they can be without an input.
func (c *convert) check() (err error) {
	if c.inputFormat != "" {
		if err := oneOf("input-format", c.inputFormat, inputFormats...); err != nil {
			return err
		}
	}
	if c.out.format != "" {
		if err := oneOf("output-format", c.out.format, outputFormats...); err != nil {
			return err
		}
	}
	if err := oneOf("on-error", c.onError, "fail", "skip"); err != nil {
		return err
	}
	if c.rejectPath != "" && c.onError != "skip" {
		return usagef("--reject is for --on-error skip")
	}
	if c.partSizeText != "" {
		n, err := humanize.ParseBytes(c.partSizeText)
		if err != nil || n < 1 || n > math.MaxInt64 {
			return usagef("--output-size %s: expected a number of bytes, as 256MiB", c.partSizeText)
		}
		c.partSize = int64(n)
	}
	if c.second, c.nowGiven, err = c.now.parse(); err != nil {
		return err
	}
	if c.options, err = c.text.options(c.tool); err != nil {
		return err
	}
	if c.out.isParquet() {
		c.parquetOpts, err = c.parquet.options(c.tool, &c.table, c.rowMetadata)
	} else {
		c.tableOpts, err = c.table.options()
		c.tableOpts = append(c.tableOpts, columnar.WithConcurrency(min(c.jobs, 4)))
	}
	if err != nil {
		return err
	}
	keyed := c.options.Schema != nil || c.text.time != "" || len(c.text.clustering) > 0 || len(c.text.partitionKey) > 0
	if c.text.unique != "" {
		if c.unique, err = textfmt.ParseUnique(c.text.unique); err != nil {
			return usagef("--unique %w", err)
		}
		c.options.Unique = true
		c.options.NoDuplicates = c.unique == textfmt.UniqueError && !c.text.sort
	}
	if c.precision != "" {
		if err := oneOf("precision", c.precision, "s", "ms", "us", "ns"); err != nil {
			return err
		}
		c.lineUnit = rowgroup.Unit(slices.Index([]string{"s", "ms", "us", "ns"}, c.precision))
	}
	if !c.text.sort {
		if err := c.refuse("is for --sort", "temp-dir", "sort-memory"); err != nil {
			return err
		}
	}
	// Formats of series have keys of their own.
	series := slices.Contains([]string{formatLine, formatPrometheus, formatOpenMetrics}, c.inputFormat)
	if !keyed && !series && c.text.sort && c.inputFormat != "" {
		return errNoKey("--sort")
	}
	if c.onError == "skip" {
		c.options.OnError = func(e *textfmt.SyntaxError) bool { return c.skipRow(e) }
	}
	return nil
}

func errNoKey(flag string) error {
	return usagef("%s: rows have no key to go by: give --time, --clustering or --partition-key", flag)
}

// checkOutput refuses flags that an output of this format does not look at.
func (c *convert) checkOutput(format string) error {
	if format == formatParquet {
		if c.partSize > 0 && c.out.path == "-" {
			return usagef("--output-size makes several files: give -o FILE.parquet")
		}
		if c.verify && c.out.path == "-" {
			return usagef("--verify reads the file back: give -o FILE.parquet")
		}
		return c.refuse("is for other outputs than Parquet", "measurement", "precision", "column-compression")
	}
	if err := c.refuse("is for Parquet; the output is "+format, parquetOnly...); err != nil {
		return err
	}
	if format == formatTable {
		if c.verify && c.out.path == "-" {
			return usagef("--verify reads the table file back: give -o FILE.csst")
		}
		if err := c.refuse("is for outputs of rows as text; table files keep all rows and metadata", "row-metadata", "measurement", "precision"); err != nil {
			return err
		}
		return nil
	}
	if err := c.refuse("is for table files; the output is "+format, tableOnly...); err != nil {
		return err
	}
	if format != formatLine {
		if err := c.refuse("is for line protocol; the output is "+format, "measurement", "precision"); err != nil {
			return err
		}
	} else if c.rowMetadata {
		return usagef("--row-metadata is for CSV and NDJSON; line protocol has no place for it")
	}
	return nil
}

// file converts the inputs to one output. before is called before that appears.
func (c *convert) file(paths []string, o outFlags, before func() error) error {
	if err := checkOutputs(paths, o.path); err != nil {
		return err
	}
	var out *output
	var err error
	if c.partSize > 0 {
		out, err = c.createParts(&o, c.partSize, paths)
	} else {
		out, err = c.createRows(&o)
	}
	if err != nil {
		return err
	}
	defer out.abort()
	c.schemaFound, c.layouts = nil, nil
	c.sum.Output = out.name
	var size int64
	known := true
	open := func(i int) (*source, error) {
		src, err := c.source(paths[i], o.format, i == 0)
		if err == nil {
			known = known && src.in.size >= 0
			size += src.in.size
		}
		return src, err
	}
	first, err := open(0)
	if err != nil {
		return err
	}
	rows := newChain(first, len(paths), c.text.sort, open)
	defer func() { _ = rows.Close() }() // only read
	n, err := c.write(out, rows, o.format)
	if err != nil {
		return err
	}
	if before != nil {
		if err := before(); err != nil {
			return err
		}
	}
	if err := out.commit(); err != nil {
		return err
	}
	bytesIn := &size
	if !known {
		bytesIn = nil
	}
	if bytesIn != nil && (c.sum.BytesIn != nil || c.sum.Inputs == 0) {
		sum := size
		if c.sum.BytesIn != nil {
			sum += *c.sum.BytesIn
		}
		c.sum.BytesIn = &sum
	}
	c.sum.Inputs += int64(len(paths))
	rows.current.in.bar.end()
	if out.parts != nil {
		c.sum.Outputs = append(c.sum.Outputs, out.parts.list()...)
	}
	c.written(out, n, bytesIn)
	return nil
}

// source opens an input as rows for an output of this format.
func (c *convert) source(path, outFormat string, first bool) (*source, error) {
	in, err := c.openInput(path, c.inputFormat)
	if err != nil {
		return nil, err
	}
	var src *source
	switch in.format {
	case formatTable, formatSSTable:
		src, err = c.tableSource(in, outFormat)
	case formatParquet:
		src, err = c.parquetSource(in, outFormat)
	case formatDump:
		src, err = c.dumpSource(in, outFormat)
	default:
		src, err = c.textSource(in, outFormat, first)
	}
	if err != nil {
		in.close()
		return nil, err
	}
	src.in = in
	return src, nil
}

func (c *convert) tableSource(in *input, outFormat string) (*source, error) {
	not := append([]string{"sort", "unique", "join", "names"}, textOnly...)
	if in.sst != nil {
		not = slices.DeleteFunc(not, func(flag string) bool { return flag == "schema" })
	} else {
		not = append(not, "on-error")
	}
	if err := c.refuse("is for text; "+in.name+" is a table file, whose schema is fixed", not...); err != nil {
		return nil, err
	}
	if !isCSV(outFormat) {
		if err := c.refuse("is for CSV, which is neither read nor written here", csvFlags...); err != nil {
			return nil, err
		}
	}
	r, err := in.rows()
	if err != nil {
		return nil, err
	}
	in.bar = c.newProgress(in.name, r.Rows(), false)
	if in.sst != nil && c.onError == "skip" {
		if err := c.salvage(in.sst, c.leaveOut); err != nil {
			return nil, err
		}
	}
	export := !c.keepsAll(outFormat)
	if err := c.checkAsRead(in); err != nil {
		return nil, err
	}
	if c.asRead && !export {
		return nil, usagef("--as-read is for rows as text; %s keeps all that is stored", outFormat)
	}
	src := &source{schema: r.Schema(), columns: sourceColumns(r), user: map[string][]byte{}}
	if file, ok := r.(*columnar.Reader); ok {
		for _, key := range file.UserDataKeys() {
			src.user[key], _ = file.UserData(key) // it is there
		}
	} else if !export {
		src.columns = nil // in the order of the file
		if src.user, err = in.sst.provenance(c.ctx()); err != nil {
			return nil, orElse(exitInput, err)
		}
	}
	o := rowgroup.ScanOptions{Live: export || c.nowGiven, Now: c.second}
	if in.sst != nil {
		o.Concurrency = min(c.jobs, 4)
	}
	counted := &counted{Iter: r.Scan(c.ctx(), o), bar: in.bar, clock: math.MinInt64}
	if export && !c.nowGiven {
		counted.clock = time.Now().Unix()
	}
	src.rows = counted
	src.ended = func() { c.noteExpired(in.name, counted.hidden) }
	return src, nil
}

// dumpSource reads what dump --exact prints.
func (c *convert) dumpSource(in *input, outFormat string) (*source, error) {
	if err := c.refuse("is for text; "+in.name+" is a dump", append([]string{"sort", "unique", "on-error", "layout", "tz", "shift-skipped", "write-time", "ttl", "expiry", "now"}, csvFlags...)...); err != nil {
		return nil, err
	}
	s := c.options.Schema
	switch {
	case c.text.schemaErr != nil:
		return nil, c.text.schemaErr
	case s == nil:
		return nil, usagef("%s: a dump has no schema: give --schema, as describe --format json prints it", in.name)
	case outFormat != formatTable:
		return nil, usagef("%s: a dump becomes a table file: give -o FILE.csst", in.name)
	}
	in.bar = c.newProgress(in.name, in.size, true)
	src := &source{schema: s, user: c.text.user, ended: func() {}}
	src.rows = &counted{Iter: textfmt.NewDumpReader(in.text, in.name, s), bar: in.bar, clock: math.MinInt64}
	return src, nil
}

// counted counts rows as they pass, and those that have expired by a clock.
type counted struct {
	rowgroup.Iter
	bar    *progress
	clock  int64
	hidden int64
}

func (it *counted) Next(b *rowgroup.Batch) (bool, error) {
	more, err := it.Iter.Next(b)
	if more && err == nil {
		it.bar.rows(int64(b.Len()))
		if it.clock != math.MinInt64 {
			it.hidden += expired(b, it.clock)
		}
	}
	return more, err
}

func (c *convert) textSource(in *input, outFormat string, first bool) (*source, error) {
	if c.text.schemaErr != nil {
		return nil, c.text.schemaErr
	}
	if c.nowGiven {
		return nil, usagef("--now is for table files; %s is text, whose rows are all there", in.name)
	}
	if !isCSV(outFormat) {
		if err := c.refuseOthers(in); err != nil {
			return nil, err
		}
	}
	o := c.options
	if c.schemaFound != nil {
		o.Schema, o.Layouts = c.schemaFound, c.layouts
	}
	in.bar = c.newProgress(in.name, in.size, true)
	r, err := in.openText(c.ctx(), o, exitData)
	if err != nil {
		return nil, err
	}
	s := r.Schema()
	if from, to := s.Range(rowgroup.Clustering); from == to && len(s.KeyTypes()) == 0 {
		switch {
		case c.text.sort:
			return nil, errNoKey("--sort")
		case c.text.unique != "":
			return nil, errNoKey("--unique")
		}
	}
	if first {
		c.schemaFound, c.layouts = c.options.Schema, map[string]*textfmt.Layout{}
		if c.schemaFound == nil {
			c.schemaFound = s
		}
		for _, x := range r.Choices() {
			if x.Layout != nil {
				c.layouts[x.Column] = x.Layout
			}
		}
		c.remarks(in, r, &c.text)
		c.printChoices(in.name, r)
	}
	return &source{
		schema: s, columns: r.SourceColumns(), rows: &counted{Iter: r, bar: in.bar, clock: math.MinInt64},
		ended: func() { c.losses(in, r) },
	}, nil
}

// printChoices tells which types were inferred, and why.
func (c *convert) printChoices(name string, r *textfmt.Reader) {
	if c.quiet {
		return
	}
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	s := c.schemaFound
	for _, x := range r.Choices() {
		role := "metadata"
		if i := s.Lookup(x.Column); i >= 0 {
			role = s.Role(i).String()
		}
		why := x.Why
		if x.Given {
			why = "given"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", visible(x.Column), x.Type, role, why)
	}
	_ = w.Flush() // to memory
	c.notef("%s: columns", name)
	fmt.Fprint(c.cmd.ErrOrStderr(), printable(b.String()))
	for _, x := range r.Choices() {
		if x.Note != "" {
			c.notef("%s: column %q: %s", name, x.Column, x.Note)
		}
	}
}

// write brings the rows of a chain to the output and counts them.
func (c *convert) write(out *output, in *chain, format string) (n int64, err error) {
	var rows rowgroup.Iter = in
	schema := in.schema
	read, kept := int64(0), int64(0)
	var sorted *progress
	if c.text.sort {
		all := int64(0)
		if rows, err = c.text.sorted(c.ctx(), in.schema, &tally{in, &all}); err != nil {
			return 0, orElse(exitUsage, err)
		}
		in.current.in.bar.end()
		sorted = c.newProgress(out.name, all, false)
		defer sorted.end()
	}
	if c.text.unique != "" {
		rows = &tally{textfmt.Distinct(in.schema, &tally{rows, &read}, c.unique), &kept}
	}
	if hasStatic(c.options.Schema) && in.current.in.format != formatDump && in.current.in.sst == nil {
		schema = c.options.Schema
		rows = textfmt.LiftStatic(schema, rows)
	}
	to, err := c.sink(out, schema, in.current, format)
	if err != nil {
		return 0, named(in.current.in.name, err)
	}
	err = eachBatch(c.ctx(), rows, schema, -1, func(b *rowgroup.Batch) error {
		n += int64(b.Len() - len(*b.Markers()))
		if c.text.sort { // all was read before
			sorted.rows(int64(b.Len()))
			sorted.out(out.n)
		} else {
			in.current.in.bar.out(out.n)
		}
		return to.write(b)
	})
	if err == nil {
		err = to.end()
	}
	if err == nil && out.parts == nil {
		if err = out.w.Flush(); err == nil && c.verify {
			err = c.verifyOutput(out)
		}
	}
	var twice *textfmt.DuplicateError
	if errors.As(err, &twice) && twice.File == "" {
		twice.File = in.sources(c.text.sort)
		return n, orElse(exitData, &inputError{err})
	}
	if err != nil {
		return n, orElse(exitData, named(in.current.in.name, err))
	}
	in.current.in.bar.end()
	sorted.end()
	if text, ok := to.(*textSink); ok && text.nans() > 0 {
		c.warnf("%s: %s of other bits than NaN's, which text does not keep", out.name, plural(text.nans(), "NaN"))
	}
	if read > kept {
		c.sum.Duplicates += read - kept
		c.notef("%s: %s left out, whose key another row has", out.name, plural(read-kept, "row"))
	}
	return n, nil
}

// tally counts rows as they pass.
type tally struct {
	rowgroup.Iter
	n *int64
}

func (t *tally) Next(b *rowgroup.Batch) (bool, error) {
	more, err := t.Iter.Next(b)
	if more {
		*t.n += int64(b.Len())
	}
	return more, err
}

// sink writes rows of schema s as those of its first input.
func (c *convert) sink(out *output, s *rowgroup.Schema, first *source, format string) (sink, error) {
	if format == formatTable {
		opts := slices.Clone(c.tableOpts)
		for key, value := range first.user {
			opts = append(opts, columnar.WithUserData(key, value))
		}
		return newTableSink(out, s, first.columns, opts)
	}
	if format == formatParquet {
		opts := slices.Clone(c.parquetOpts)
		for key, value := range first.user {
			opts = append(opts, parquetfmt.WithUserData(key, value))
		}
		if out.parts != nil {
			return newPartsSink(c, out, s, first.columns, opts)
		}
		return newParquetSink(out, s, first.columns, opts)
	}
	o := textOut{format: format, columns: first.columns, metadata: c.rowMetadata, measurement: c.measurement, precision: c.lineUnit}
	o.csv = textfmt.CSVWriteOptions{Separator: c.options.Separator, NoHeader: !c.text.header}
	if format == formatTSV && o.csv.Separator == 0 {
		o.csv.Separator = '\t'
	}
	if len(c.text.null) > 0 {
		o.csv.Null = c.text.null[0]
	}
	if c.precision == "" {
		o.precision = timeUnit(s)
	}
	return newTextSink(out, s, o)
}

// timeUnit is the unit of the last timestamp in the clustering.
func timeUnit(s *rowgroup.Schema) (unit rowgroup.Unit) {
	for _, c := range s.Columns(rowgroup.Clustering) {
		if c.Type.Kind == rowgroup.KindTimestamp {
			unit = c.Type.Unit
		}
	}
	return unit
}

// verifyOutput reads the whole table file back.
func (c *convert) verifyOutput(out *output) error {
	if c.out.isParquet() {
		r, err := parquetfmt.Open(out.file, out.n, parquetfmt.WithName(out.name))
		if err != nil {
			return err
		}
		return r.Verify(c.ctx(), parquetfmt.VerifyValues, nil)
	}
	r, err := columnar.Open(out.file, out.n, columnar.WithName(out.name))
	if err != nil {
		return err
	}
	return r.Verify(c.ctx(), columnar.VerifyValues, nil)
}

// checkInclude settles which SSTables of folders are taken.
func (c *convert) checkInclude() error {
	for _, what := range c.include {
		if err := oneOf("include", what, "snapshots", "backups", "index", "system"); err != nil {
			return err
		}
		switch what {
		case "snapshots":
			c.list.Snapshots = true
		case "backups":
			c.list.Backups = true
		case "index":
			c.list.Index = true
		case "system":
			c.list.System = true
		}
	}
	return nil
}
