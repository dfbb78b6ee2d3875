package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/textfmt"
)

// columnsKey is the user data of a table file that keeps the columns' order in
// the text it came from: a JSON array of names.
const columnsKey = "columns"

// sourceColumns are the columns of a table in the order of the text it came
// from, else in its schema's.
func sourceColumns(r table) []string {
	s := r.Schema()
	var names []string
	if b, ok := r.UserData(columnsKey); ok && json.Unmarshal(b, &names) == nil && len(names) == s.NumColumns() {
		seen := map[string]bool{}
		for _, n := range names {
			if s.Lookup(n) >= 0 {
				seen[n] = true
			}
		}
		if len(seen) == len(names) {
			return names
		}
	}
	names = names[:0]
	var hidden []string
	if x, ok := r.(*sstable); ok {
		hidden = x.hidden
	}
	for i := range s.NumColumns() {
		if name := s.Column(i).Name; !slices.Contains(hidden, name) {
			names = append(names, name)
		}
	}
	return names
}

// textFlags say how to read a text.
type textFlags struct {
	time, tz, separator    string
	partitionKey           []string
	clustering, types      []string
	layouts, joins         []string
	schema                 string
	schemaErr              error // why it is none of a text, which matters where there is one
	null, names            []string
	writeTime, ttl, expiry string
	header, trailing       bool
	shiftSkipped           bool
	sort                   bool
	unique                 string
	tempDir                string
	sortMemory             int64             // MiB
	user                   map[string][]byte // user data of the table of schema
}

// Flags that only have an effect on some inputs.
var (
	csvFlags  = []string{"null", "header", "names", "separator", "trailing-separator", "join"}
	textOnly  = []string{"time", "partition-key", "clustering", "type", "layout", "schema", "tz", "shift-skipped", "write-time", "ttl", "expiry"}
	tableOnly = []string{"set", "encoding", "column-compression", "compression", "filter", "verify"}
)

func (x *textFlags) add(t *tool) {
	f := t.cmd.Flags()
	f.StringVar(&x.time, "time", "", "time column, a clustering column: name[:desc][:s|ms|us|ns]; integers need their unit")
	f.StringSliceVar(&x.partitionKey, "partition-key", nil, "columns of the partition key: a,b,...; none: the file is one partition")
	f.StringSliceVar(&x.clustering, "clustering", nil, "clustering columns: a[:desc],b,...; the time column comes last if it is not among them")
	f.StringArrayVar(&x.types, "type", nil, "type of a column: col=TYPE, as in price=decimal (see colsst help types); repeatable; others are inferred")
	f.StringVar(&x.schema, "schema", "", "file with the schema, as JSON or a CQL CREATE TABLE, in place of all of these")
	f.StringArrayVar(&x.layouts, "layout", nil, "form of the times of a column: col=LAYOUT, as in t=02/01/2006 15:04, t=%d/%m/%Y, or unix, apache, rfc1123, ansic; repeatable")
	f.StringVar(&x.tz, "tz", "UTC", "time zone of times that name none, as Europe/Berlin")
	f.BoolVar(&x.shiftSkipped, "shift-skipped", false, "times that a change of clocks skips count on from the hour before")
	f.StringArrayVar(&x.joins, "join", nil, "a column made of several of a CSV, with a blank between: time=date+clock; repeatable")
	f.StringArrayVar(&x.null, "null", nil, "text of a null; repeatable (default: an empty field without quotes)")
	f.BoolVar(&x.header, "header", true, "the first line of a CSV names the columns")
	f.StringSliceVar(&x.names, "names", nil, "names of the columns, in place of a header's: a,b,...")
	f.StringVar(&x.separator, "separator", "", `separator of CSV fields, one byte or "tab" (default: a comma; tab for .tsv)`)
	f.BoolVar(&x.trailing, "trailing-separator", false, "every line ends with one separator more")
	f.StringVar(&x.writeTime, "write-time", "", "column of rows' write times, µs since 1970 (a column $write_time is that anyway)")
	f.StringVar(&x.ttl, "ttl", "", "column of rows' TTLs, s (or $ttl)")
	f.StringVar(&x.expiry, "expiry", "", "column of rows' expiries, s since 1970 (or $expiry)")
	f.Int64Var(&x.sortMemory, "sort-memory", 24, "MiB of rows that a sort holds; more go through temporary files")
	f.StringVar(&x.tempDir, "temp-dir", "", "folder of the temporary files of a large sort (default: that of the system)")
}

// options are those of a reader of text.
func (x *textFlags) options(t *tool) (o textfmt.CSVOptions, err error) {
	o = textfmt.CSVOptions{Header: x.header, Names: x.names, Null: x.null, TrailingSeparator: x.trailing}
	if x.separator != "" {
		if o.Separator, err = separator(x.separator); err != nil {
			return o, err
		}
	}
	if len(x.names) > 0 && !t.changed("header") {
		// Names without a word on the header are names instead of one that is there.
		o.Header = true
	}
	p := &o.TableOptions
	p.PartitionKey, p.WriteTime, p.TTL, p.Expiry = x.partitionKey, x.writeTime, x.ttl, x.expiry
	p.AnyOrder, p.Jobs = x.sort, t.jobs
	p.ShiftSkipped = x.shiftSkipped
	if p.TZ, err = loadLocation(x.tz); err != nil {
		return o, err
	}
	if x.time != "" {
		spec, err := textfmt.ParseTimeSpec(x.time)
		if err != nil {
			return o, usagef("--time %s: expected name[:desc][:s|ms|us|ns]", x.time)
		}
		p.Time = &spec
	}
	for _, c := range x.clustering {
		spec, err := textfmt.ParseClusteringSpec(c)
		if err != nil {
			return o, usagef("--clustering %s: expected name[:desc],...", c)
		}
		p.Clustering = append(p.Clustering, spec)
	}
	p.Types = map[string]rowgroup.Type{}
	for _, c := range x.types {
		name, text, ok := cutLast(c, "=")
		if !ok || name == "" {
			return o, usagef("--type %s: expected col=TYPE", c)
		}
		if p.Types[name], err = rowgroup.ParseType(text); err != nil {
			return o, usagef("--type %s: %s; there are %s", c, plain(err), strings.Join(commonTypes, ", "))
		}
	}
	p.Layouts = map[string]*textfmt.Layout{}
	for _, c := range x.layouts {
		name, text, ok := strings.Cut(c, "=")
		if !ok || name == "" {
			return o, usagef("--layout %s: expected col=LAYOUT", c)
		}
		if p.Layouts[name], err = textfmt.ParseLayout(text); err != nil {
			return o, usagef("--layout %s: %w", c, err)
		}
	}
	for _, c := range x.joins {
		j, err := textfmt.ParseJoin(c)
		if err != nil {
			return o, usagef("--join %s: %w", c, err)
		}
		o.Joins = append(o.Joins, j)
	}
	if x.sortMemory < 1 || x.sortMemory > 1<<20 {
		return o, usagef("--sort-memory %d: expected 1 or more MiB", x.sortMemory)
	}
	if x.schema != "" {
		if err := t.refuse("is in the schema: leave it or --schema away", "time", "partition-key", "clustering", "type"); err != nil {
			return o, err
		}
		t.schemaFile = x.schema
		if info, err := os.Stat(x.schema); isSSTable(x.schema) || err == nil && info.IsDir() {
			x.schemaErr = usagef("%s: holds SSTables, whose schema is for others; text needs one as JSON or a CQL CREATE TABLE", x.schema)
			return o, nil
		}
		if p.Schema, x.user, x.schemaErr = t.readSchema(x.schema); x.schemaErr != nil && ExitCode(x.schemaErr) == exitInput {
			return o, x.schemaErr
		}
	}
	return o, nil
}

// hasStatic reports whether a schema, if there is one, has static columns.
func hasStatic(s *rowgroup.Schema) bool { return s != nil && len(s.Columns(rowgroup.Static)) > 0 }

// readSchema reads a file with a schema, and the user data of its table if it
// is what describe prints.
func (t *tool) readSchema(path string) (*rowgroup.Schema, map[string][]byte, error) {
	text, err := t.schemaText(path)
	if err != nil {
		return nil, nil, err
	}
	s, err := textfmt.ParseSchema(text, path)
	if err != nil {
		return nil, nil, rewrap(orElse(exitUsage, err), errors.New(strings.Replace(err.Error(), "rowgroup: ", "", 1)))
	}
	var table struct {
		UserData map[string][]byte `json:"user_data"`
	}
	if json.Valid(text) { // it is no CQL
		if err := json.Unmarshal(text, &table); err != nil {
			return nil, nil, coded(exitData, fmt.Errorf("%s: user_data: %w", path, err))
		}
	}
	return s, table.UserData, nil
}

// schemaText is the text of the file of --schema, which is read once: it may be
// a pipe, and whether it is for text or for SSTables is not known before the
// inputs are.
func (t *tool) schemaText(path string) ([]byte, error) {
	if text, known := t.schemaTexts[path]; known {
		return text, nil
	}
	r := t.streamFile(path)
	defer func() { _ = r.Close() }() // never fails
	const most = 64 << 20
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, inputFailure(path, err)
	}
	if len(text) > most {
		return nil, usagef("%s: is longer than a schema can be", path)
	}
	if t.schemaTexts == nil {
		t.schemaTexts = map[string][]byte{}
	}
	t.schemaTexts[path] = text
	return text, nil
}

func separator(s string) (byte, error) {
	switch {
	case s == "tab" || s == `\t`:
		return '\t', nil
	case len(s) == 1 && !strings.ContainsAny(s, "\"\r\n"):
		return s[0], nil
	}
	return 0, usagef("--separator %q: expected one byte, or tab", s)
}

// refuseOthers refuses the flags of CSV for another format of text.
func (t *tool) refuseOthers(in *input) error {
	if isCSV(in.format) {
		return nil
	}
	return t.refuse("is for CSV; "+in.name+" is "+in.format, csvFlags...)
}

// openText opens the input as text and settles its schema. Where o.Schema has
// static columns the rows are for textfmt.LiftStatic. An error of options that
// do not fit its columns has this code.
func (in *input) openText(ctx context.Context, o textfmt.CSVOptions, misfit int) (r *textfmt.Reader, err error) {
	if hasStatic(o.Schema) {
		o.Schema, o.NullClustering = textfmt.RowSchema(o.Schema), true
	}
	switch in.format {
	case formatCSV, formatTSV:
		if o.Separator == 0 && in.format == formatTSV {
			o.Separator = '\t'
		}
		r, err = textfmt.NewCSVReader(in.text, in.name, o)
	case formatNDJSON:
		r, err = textfmt.NewNDJSONReader(in.text, in.name, o.TableOptions)
	case formatLine:
		r, err = textfmt.NewLineProtocolReader(in.text, in.name, o.TableOptions)
	case formatPrometheus, formatOpenMetrics:
		r, err = textfmt.NewPrometheusReader(in.text, in.name, in.format == formatOpenMetrics, o.TableOptions)
	default:
		return nil, usagef("%s: %s is no text", in.name, in.format)
	}
	var schema *textfmt.SchemaError
	switch {
	case err == nil:
		return r, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &schema):
		return nil, coded(misfit, named(in.name, err))
	}
	err = orElse(exitUsage, err)
	if ExitCode(err) == exitUsage {
		err = rewrap(err, errors.New(strings.ReplaceAll(err.Error(), "rowgroup: ", "")))
	}
	return nil, named(in.name, err)
}

// remarks tells what may not be meant so in how a text is read.
func (t *tool) remarks(in *input, r *textfmt.Reader, x *textFlags) {
	choices := r.Choices()
	if !isCSV(in.format) || !x.header {
		return
	}
	if len(choices) == 1 && x.separator == "" {
		for _, sep := range []string{";", "\t", "|"} {
			if strings.Contains(choices[0].Column, sep) {
				t.notef("%s: one column, whose name holds %q: is that the --separator?", in.name, sep)
				break
			}
		}
	}
	if len(x.names) == 0 && slices.ContainsFunc(choices, func(c textfmt.Choice) bool { return isValue(c.Column) }) &&
		!slices.ContainsFunc(choices, func(c textfmt.Choice) bool { return !isValue(c.Column) && !strings.HasPrefix(c.Column, "column") }) {
		t.notef("%s: the header looks like data: give --header=false if it is", in.name)
	}
}

// isValue reports whether the name of a column looks like a number or a time.
func isValue(name string) bool {
	if name == "" {
		return false
	}
	if _, err := textfmt.ParseTime(name, rowgroup.Seconds, time.UTC); err == nil {
		return true
	}
	var n json.Number
	return json.Unmarshal([]byte(strings.TrimPrefix(name, "+")), &n) == nil && name[0] != '"'
}

// losses tells what of a text that was read to its end is not in its rows.
func (t *tool) losses(in *input, r *textfmt.Reader) {
	if n := r.BlankLines(); n > 0 {
		t.notef("%s: %s skipped", in.name, plural(n, "blank line"))
		t.sum.BlankLines += n
	}
	for _, x := range r.Rounded() {
		t.warnf("%s: column %q: %s rounded, the first at line %d: %s; give --type %s to keep all digits",
			in.name, x.Column, plural(x.Count, "number"), x.Line, x.Value, textfmt.FlagValue(x.Column, "decimal"))
		t.sum.Rounded += x.Count
	}
}

// sorted are the rows of a text in the order of its table.
func (x *textFlags) sorted(ctx context.Context, s *rowgroup.Schema, rows textfmt.Batches) (rowgroup.Iter, error) {
	opts := []textfmt.SortOption{textfmt.WithContext(ctx), textfmt.WithMemory(x.sortMemory << 20)}
	if x.tempDir != "" {
		opts = append(opts, textfmt.WithTempDir(x.tempDir))
	}
	it, err := textfmt.Sort(s, rows, opts...)
	return sortedIter{it}, temporary(err)
}

// sortedIter says of errors that they are of temporary files.
type sortedIter struct{ rowgroup.Iter }

func (it sortedIter) Next(b *rowgroup.Batch) (bool, error) {
	more, err := it.Iter.Next(b)
	return more, temporary(err)
}

// temporary marks an error of a file that is no input, whose errors have their
// code.
func temporary(err error) error {
	var (
		path *fs.PathError
		code *exitError
	)
	if !errors.As(err, &path) || errors.As(err, &code) {
		return err
	}
	return &exitError{exitOutput, &outputError{fmt.Errorf("temporary file: %w; give another --temp-dir", path.Err)}}
}

// keyOf is the bytes of a partition key given as text: a plain value, or a
// JSON array of the components.
func keyOf(s *rowgroup.Schema, text string) ([]byte, error) {
	types := s.KeyTypes()
	columns := s.Columns(rowgroup.PartitionKey)
	components := []any{text}
	if len(types) != 1 || strings.HasPrefix(text, "[") {
		var list []any
		d := json.NewDecoder(bytes.NewReader([]byte(text)))
		d.UseNumber()
		err := d.Decode(&list)
		switch {
		case err == nil && len(list) == len(types) && !d.More():
			components = list
		case len(types) != 1:
			var names []string
			for _, c := range columns {
				names = append(names, c.Name)
			}
			return nil, usagef("--key %s: expected a JSON array of %s: %s", text, plural(int64(len(types)), "value"), strings.Join(names, ", "))
		}
	}
	values := make([][]byte, len(types))
	for i, c := range components {
		if c == nil {
			return nil, usagef("--key %s: column %q: a key has no null", text, columns[i].Name)
		}
		v, err := rowgroup.ParseText(nil, types[i], jsonText(c))
		if err != nil {
			return nil, usagef("--key: column %q: %s", columns[i].Name, plain(err))
		}
		values[i] = v
	}
	total := 0
	for _, v := range values {
		total += len(v) + 3
	}
	if total > encoding.MaxKeyBytes+3 {
		return nil, usagef("--key: %d bytes are more than a key can have", total)
	}
	return rowgroup.AppendKey(nil, types, values), nil
}

func jsonText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	b, _ := json.Marshal(v) // it was JSON
	return string(b)
}

// commonTypes are the types that text is most often read as.
var commonTypes = []string{"boolean", "tinyint", "smallint", "int", "bigint", "varint", "uint8", "uint16", "uint32", "uint64", "float", "double", "decimal", "decimal(p,s)",
	"text", "ascii", "blob", "fixed(n)", "date", "time", "timestamp(s|ms|us|ns)", "uuid", "timeuuid", "inet", "duration",
	"frozen<list<t>>", "frozen<set<t>>", "frozen<map<k, v>>", "tuple<t, ...>", "vector<t, n>"}

func loadLocation(name string) (*time.Location, error) {
	l, err := time.LoadLocation(name)
	if err != nil {
		return nil, usagef("--tz %s: there is no such time zone", name)
	}
	return l, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
