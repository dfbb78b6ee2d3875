package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/colsst/colsst/cassandra"
	"github.com/colsst/colsst/cmd/colsst/internal/whatif"
	"github.com/colsst/colsst/columnar"
)

// description is what describe prints of a file.
type description struct {
	File string `json:"file"`
	*columnar.Description
	Cassandra *cassandra.Provenance `json:"cassandra,omitempty"` // the SSTable that the rows come from
	Explain   *explanation          `json:"explain,omitempty"`
}

// explanation is why the encodings of a file are what they are.
type explanation struct {
	Rows      int64           `json:"sampled_rows"`
	RowGroups int64           `json:"sampled_row_groups"`
	Columns   []whatif.Column `json:"columns"`
}

func newDescribe() *cobra.Command {
	var out outFlags
	var explain bool
	var limit int64
	t := command("describe FILE... [flags]", "Show the schema of table files and where their bytes went",
		`Describe shows rows, partitions, schema and options, and the bytes of every
layer and column. Layers sum to the file's bytes: payload and row_metadata are
packed values, the others overhead; outer_saving is what the outer compression
takes off. Columns that begin with $ are metadata; all columns sum to payload,
row_metadata and codec_params. Encodings are counted in chunks. --explain takes
rows from all parts of the file and shows for every column what the encoding
chosen, marked with *, and the others come to there, as try does. With --format
json a file is an object.`,
		arguments{1, -1, "at least one FILE"}, func(t *tool, args []string) error {
			if err := oneOf("format", out.format, "table", "json"); err != nil {
				return err
			}
			if limit < 0 {
				return usagef("--rows %d: expected 0 or more", limit)
			}
			if !explain {
				if err := t.refuse("is for --explain", "rows"); err != nil {
					return err
				}
			}
			return t.eachFile(args, &out, func(path string, w *bufio.Writer) error {
				return t.describe(w, path, out.format, explain, limit)
			})
		})
	t.cmd.Aliases = []string{"inspect"}
	t.cmd.Flags().BoolVar(&explain, "explain", false, "show why the encodings were chosen: what the others would take")
	t.cmd.Flags().Int64Var(&limit, "rows", 1<<16, "with --explain: rows to take; 0: all")
	t.namesFlag()
	out.report(t, "table", "json")
	return t.cmd
}

// eachFile calls f with every table file of the arguments and prints the errors
// of all but the last that failed, which it returns with the exit code of the
// first.
func (t *tool) eachFile(args []string, o *outFlags, f func(path string, w *bufio.Writer) error) error {
	return t.eachFileOf(args, isTable, o, f)
}

// eachFileOf is eachFile for files of the formats that are wanted.
func (t *tool) eachFileOf(args []string, wanted func(format string) bool, o *outFlags, f func(path string, w *bufio.Writer) error) error {
	paths, err := expand(args, wanted)
	if err == nil {
		err = onlyOnce(paths)
	}
	if err == nil {
		err = checkOutputs(paths, o.path)
	}
	if err != nil {
		return err
	}
	return t.report(o, func(w *bufio.Writer) (failed error) {
		for _, path := range paths {
			err := classify(f(path, w))
			switch {
			case err == nil:
				t.sum.Inputs++
				continue
			case t.ctx().Err() != nil || ExitCode(err) == exitOutput: // nothing more comes of it
				if failed != nil {
					printError(t.cmd.ErrOrStderr(), failed)
				}
				return err
			case failed != nil:
				printError(t.cmd.ErrOrStderr(), failed)
				err = &exitError{ExitCode(failed), err}
			}
			failed = err
		}
		return failed
	})
}

func (t *tool) describe(w *bufio.Writer, path, format string, explain bool, limit int64) error {
	in, err := t.openInput(path, formatTable)
	if err != nil {
		return err
	}
	defer in.close()
	if in.sst != nil {
		return t.metadata(w, in.sst, format)
	}
	if in.format == formatParquet {
		if explain {
			return usagef("%s: --explain is for table files; it is a Parquet file", in.name)
		}
		return t.describeParquet(w, in, format)
	}
	r, err := in.table()
	if err != nil {
		return err
	}
	d, err := r.Describe(t.ctx())
	if err != nil {
		return orElse(exitData, named(in.name, err))
	}
	t.sum.Rows += d.Rows
	x := description{File: in.name, Description: d}
	if x.Cassandra, _, err = cassandra.ReadProvenance(r.UserData); err != nil {
		return orElse(exitData, named(in.name, err))
	}
	if explain {
		table, err := t.sampled(r, in, limit)
		if err != nil {
			return orElse(exitData, named(in.name, err))
		}
		found, err := table.Compare(t.ctx())
		if err != nil {
			return orElse(exitData, named(in.name, err))
		}
		x.Explain = &explanation{found.Rows, found.RowGroups, found.Columns}
	}
	if format == "json" {
		return printJSON(w, x)
	}
	if err := describeTable(w, printable(in.name), d); err != nil {
		return err
	}
	if x.Cassandra != nil {
		if err := describeProvenance(w, x.Cassandra); err != nil {
			return err
		}
	}
	if !explain {
		return nil
	}
	of := ""
	if x.Explain.Rows < d.Rows {
		of = ", " + humanize.Comma(x.Explain.Rows) + " of " + amount(d.Rows, "row")
	}
	if _, err := fmt.Fprintf(w, "choices in %s%s\n\n", amount(x.Explain.RowGroups, "row group"), of); err != nil {
		return err
	}
	if err := printChoices(w, x.Explain.Columns, false); err != nil {
		return err
	}
	return w.WriteByte('\n')
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func describeTable(w *bufio.Writer, name string, d *columnar.Description) error {
	facts := grid{align: "lrl", indent: "  "}
	for _, x := range []struct {
		name string
		n    int64
	}{{"rows", d.Rows}, {"markers", d.Markers}, {"partitions", d.Partitions}, {"row groups", d.RowGroups}, {"blocks", d.Blocks}, {"segments", d.Segments}, {"templates", d.Templates}} {
		if x.n > 0 || x.name != "markers" {
			facts.add(x.name, humanize.Comma(x.n), "")
		}
	}
	facts.add("bytes", humanize.Comma(d.Bytes), humanize.IBytes(uint64(d.Bytes)))

	kind := "unique rows"
	if d.Multiset {
		kind = "rows may repeat"
	}
	format := grid{align: "ll", indent: "  "}
	format.add("format", fmt.Sprintf("version %d, order of partitions %s, %s", d.Version, d.Order, kind))
	for _, k := range slices.Sorted(maps.Keys(d.Options)) {
		format.add(k, d.Options[k])
	}

	per := func(n, of int64, digits int) string {
		if of == 0 {
			return "-"
		}
		return fmt.Sprintf("%.*f", digits, float64(n)/float64(of))
	}
	layers := grid{align: "lrrr", indent: "  "}
	layers.add("layer", "bytes", "bytes/row", "bytes/row group")
	l := &d.Layers
	for _, x := range []struct {
		name string
		n    int64
	}{
		{"payload", l.Payload}, {"row_metadata", l.RowMetadata}, {"codec_params", l.CodecParams}, {"templates", l.Templates}, {"headers", l.Headers},
		{"index", l.Index}, {"statistics", l.Statistics}, {"filter", l.Filter}, {"checksums", l.Checksums}, {"footer", l.Footer}, {"outer_saving", l.OuterSaving},
		{"all", d.Bytes}, {"overhead", l.Overhead()},
	} {
		layers.add(x.name, humanize.Comma(x.n), per(x.n, d.Rows, 3), per(x.n, d.RowGroups, 1))
	}

	columns := grid{align: "lllrrl", indent: "  "}
	columns.add("column", "type", "role", "bytes", "bytes/row", "encodings (chunks)")
	for i := range d.Columns {
		c := &d.Columns[i]
		role := c.Role
		if c.Desc {
			role += " desc"
		}
		var enc []string
		for _, e := range slices.Sorted(maps.Keys(c.Encodings)) {
			enc = append(enc, fmt.Sprintf("%s %s", e, humanize.Comma(c.Encodings[e])))
		}
		if c.Zstd > 0 {
			enc = append(enc, fmt.Sprintf("with zstd %s", humanize.Comma(c.Zstd)))
		}
		columns.add(visible(c.Name), c.Type, role, humanize.Comma(c.Bytes), per(c.Bytes, d.Rows, 3), strings.Join(enc, ", "))
	}
	if _, err := fmt.Fprintf(w, "%s\n", name); err != nil {
		return err
	}
	for _, g := range []*grid{&facts, &format, &layers, &columns} {
		if err := g.print(w); err != nil {
			return err
		}
		if err := w.WriteByte('\n'); err != nil {
			return err
		}
	}
	return nil
}
