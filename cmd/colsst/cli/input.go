package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/textfmt"
)

// The formats of files.
const (
	formatTable = "colsst"
	formatCSV   = "csv"
)

// tableMagic is how a table file begins.
const tableMagic = "COLSST\r\n"

// formatOf is the format that a file's name tells, or "".
func formatOf(path string) string {
	name := strings.ToLower(filepath.Base(path))
	name = strings.TrimSuffix(name, ".gz")
	switch filepath.Ext(name) {
	case ".csst", ".colsst":
		return formatTable
	case ".csv", ".tsv", ".txt":
		return formatCSV
	}
	return ""
}

func checkFormat(flag, format string) error {
	if format != "" && format != formatTable && format != formatCSV {
		return usagef("%s %s: expected colsst or csv", flag, format)
	}
	return nil
}

// input is an open input file, or stdin.
type input struct {
	name   string
	r      io.Reader // from the begin
	f      *os.File  // nil for stdin
	size   int64     // -1: not known
	format string
	temp   string // to be removed
	pipe   *io.PipeReader
}

// openInput opens path ("-": stdin) and finds its format out, unless it is
// given: a table begins with its magic; what does not is one all the same if
// its name says so.
func (t *tool) openInput(path, format string) (*input, error) {
	in := &input{name: path, size: -1, format: format}
	if path == "-" {
		in.name, in.r = "stdin", in.interruptible(t)
	} else {
		f, err := os.Open(path)
		if err != nil {
			return nil, coded(exitInput, named(path, err))
		}
		info, err := f.Stat()
		if err == nil && info.IsDir() {
			err = errors.New("is a directory")
		}
		if err != nil {
			return nil, coded(exitInput, named(path, errors.Join(err, f.Close())))
		}
		in.f, in.r = f, f
		if info.Mode().IsRegular() {
			in.size = info.Size()
		}
	}
	in.r = &inputReader{in: in, r: in.r}
	head := bufio.NewReader(in.r)
	in.r = head
	if in.format == "" {
		magic, err := head.Peek(len(tableMagic))
		if err != nil && !errors.Is(err, io.EOF) {
			in.close()
			return nil, err
		}
		in.format = formatOf(path)
		if string(magic) == tableMagic {
			in.format = formatTable
		}
	}
	return in, nil
}

// interruptible is stdin as a reader that ends with the command's context, even
// while nothing comes.
func (in *input) interruptible(t *tool) io.Reader {
	stdin, ctx := t.cmd.InOrStdin(), t.ctx()
	r, w := io.Pipe()
	in.pipe = r
	go func() {
		_, err := io.Copy(w, stdin)
		_ = w.CloseWithError(err) // never fails
	}()
	context.AfterFunc(ctx, func() { _ = w.CloseWithError(ctx.Err()) }) // never fails
	return r
}

func (in *input) close() {
	if in.pipe != nil {
		_ = in.pipe.Close() // never fails
	}
	if in.f != nil {
		_ = in.f.Close() // only read
	}
	if in.temp != "" {
		_ = os.Remove(in.temp) // a temporary file may stay at worst
	}
}

// inputReader marks errors as those of an input.
type inputReader struct {
	in *input
	r  io.Reader
}

func (r *inputReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	return n, inputFailure(r.in.name, err)
}

func inputFailure(name string, err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return err
	}
	return coded(exitInput, named(name, err))
}

type inputReaderAt struct{ in *input }

func (r inputReaderAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.in.f.ReadAt(p, off)
	return n, inputFailure(r.in.name, err)
}

// table opens the input as a table file. What cannot be read at any place is
// copied to a temporary file first.
func (in *input) table() (*columnar.Reader, error) {
	if in.size < 0 {
		if err := in.spool(); err != nil {
			return nil, err
		}
	}
	r, err := columnar.Open(inputReaderAt{in}, in.size, columnar.WithName(in.name))
	if err != nil {
		return nil, orElse(exitData, named(in.name, err))
	}
	return r, nil
}

func (in *input) spool() error {
	f, err := os.CreateTemp("", "colsst-*.tmp")
	if err != nil {
		return coded(exitOutput, err)
	}
	if in.f != nil {
		_ = in.f.Close() // only read
	}
	in.f, in.temp = f, f.Name()
	var in2 *exitError
	if in.size, err = io.Copy(f, in.r); err != nil && !errors.As(err, &in2) {
		err = coded(exitOutput, err)
	}
	return err
}

// openTable opens a table file.
func (t *tool) openTable(path string) (*columnar.Reader, *input, error) {
	in, err := t.openInput(path, formatTable)
	if err != nil {
		return nil, nil, err
	}
	r, err := in.table()
	if err != nil {
		in.close()
		return nil, nil, err
	}
	return r, in, nil
}

// columnsKey is the user data of a table file that keeps the columns' order in
// the text it came from: a JSON array of names.
const columnsKey = "columns"

// sourceColumns are the columns of a table in the order of the text it came
// from, else in its schema's.
func sourceColumns(r *columnar.Reader) []string {
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
	for i := range s.NumColumns() {
		names = append(names, s.Column(i).Name)
	}
	return names
}

// textFlags say how to read a text.
type textFlags struct {
	time, tz, separator    string
	partitionKey           []string
	clustering, types      []string
	null, names            []string
	writeTime, ttl, expiry string
	header, trailing       bool
	unique, sort           bool
}

func (x *textFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&x.time, "time", "", "time column, a clustering column: name[:desc][:s|ms|us|ns]; integers need their unit")
	f.StringSliceVar(&x.partitionKey, "partition-key", nil, "columns of the partition key: a,b,...; none: the file is one partition")
	f.StringSliceVar(&x.clustering, "clustering", nil, "clustering columns: a[:desc],b,...; the time column comes last if it is not among them")
	f.StringArrayVar(&x.types, "type", nil, "type of a column: col=TYPE, as in price=decimal; repeatable; others are inferred")
	f.StringArrayVar(&x.null, "null", nil, "text of a null; repeatable (default: an empty field without quotes)")
	f.StringVar(&x.tz, "tz", "UTC", "time zone of times that name none, as Europe/Berlin")
	f.BoolVar(&x.header, "header", true, "the first line of CSV names the columns")
	f.StringSliceVar(&x.names, "names", nil, "names of the columns, in place of a header's: a,b,...")
	f.StringVar(&x.separator, "separator", ",", `separator of CSV fields, one byte or "tab"`)
	f.BoolVar(&x.trailing, "trailing-separator", false, "every line ends with one separator more")
	f.StringVar(&x.writeTime, "write-time", "", "column of rows' write times, µs since 1970")
	f.StringVar(&x.ttl, "ttl", "", "column of rows' TTLs, s")
	f.StringVar(&x.expiry, "expiry", "", "column of rows' expiries, s since 1970")
}

// options are those of a reader of text. Rows may come in any order.
func (x *textFlags) options() (o textfmt.CSVOptions, err error) {
	o = textfmt.CSVOptions{Header: x.header, Names: x.names, Null: x.null, TrailingSeparator: x.trailing}
	if o.Separator, err = separator(x.separator); err != nil {
		return o, err
	}
	t := &o.TableOptions
	t.PartitionKey, t.WriteTime, t.TTL, t.Expiry = x.partitionKey, x.writeTime, x.ttl, x.expiry
	t.Unique, t.AnyOrder = x.unique, x.sort
	if t.TZ, err = loadLocation(x.tz); err != nil {
		return o, err
	}
	if x.time != "" {
		spec, err := textfmt.ParseTimeSpec(x.time)
		if err != nil {
			return o, usagef("--time: %w", err)
		}
		t.Time = &spec
	}
	for _, c := range x.clustering {
		spec, err := textfmt.ParseClusteringSpec(c)
		if err != nil {
			return o, usagef("--clustering: %w", err)
		}
		t.Clustering = append(t.Clustering, spec)
	}
	for _, c := range x.types {
		name, text, ok := strings.Cut(c, "=")
		if !ok {
			return o, usagef("--type %s: expected col=TYPE", c)
		}
		typ, err := rowgroup.ParseType(text)
		if err != nil {
			return o, usagef("--type %s: %w", c, err)
		}
		if t.Types == nil {
			t.Types = map[string]rowgroup.Type{}
		}
		t.Types[name] = typ
	}
	return o, nil
}

func separator(s string) (byte, error) {
	switch {
	case s == "tab" || s == `\t`:
		return '\t', nil
	case len(s) == 1:
		return s[0], nil
	}
	return 0, usagef("--separator %q: expected one byte, or tab", s)
}

// metadata reports whether the text has columns of metadata.
func (x *textFlags) metadata() bool { return x.writeTime != "" || x.ttl != "" || x.expiry != "" }

// csv opens the input as text and settles its schema. An error of options that
// do not fit its columns has this code.
func (in *input) csv(ctx context.Context, o textfmt.CSVOptions, misfit int) (*textfmt.CSVReader, error) {
	r, err := textfmt.Decompress(ctxReader{ctx, in.r}, in.name)
	if err != nil {
		return nil, orElse(exitData, named(in.name, err))
	}
	c, err := textfmt.NewCSVReader(r, in.name, o)
	if err != nil {
		return nil, orElse(misfit, named(in.name, err))
	}
	return c, nil
}

// ctxReader ends with the context.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (r ctxReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// keyOf is the bytes of a partition key given as text: a plain value, or a
// JSON array of the components.
func keyOf(s *rowgroup.Schema, text string) ([]byte, error) {
	types := s.KeyTypes()
	components := []string{text}
	if len(types) != 1 || strings.HasPrefix(text, "[") {
		var list []any
		d := json.NewDecoder(bytes.NewReader([]byte(text)))
		d.UseNumber()
		err := d.Decode(&list)
		switch {
		case err == nil && len(list) == len(types) && !d.More():
			components = components[:0]
			for _, v := range list {
				components = append(components, jsonText(v))
			}
		case len(types) != 1:
			return nil, usagef("--key %s: expected a JSON array of %d values", text, len(types))
		}
	}
	values := make([][]byte, len(types))
	for i, c := range components {
		v, err := rowgroup.ParseText(nil, types[i], c)
		if err != nil {
			return nil, usagef("--key: column %q: %w", s.Column(i).Name, err)
		}
		values[i] = v
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
