package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/colsst/colsst/columnar"
)

// description is what describe prints of a file.
type description struct {
	File string `json:"file"`
	*columnar.Description
}

func newDescribe() *cobra.Command {
	var out outFlags
	t := command("describe FILE... [flags]", "Show the schema of table files and where their bytes went",
		`Describe shows rows, partitions, schema and options, and the bytes of every
layer and column. Layers sum to the file's bytes: payload and row_metadata are
packed values, the others overhead; outer_saving is what the outer compression
takes off. Columns that begin with $ are metadata; all columns sum to payload,
row_metadata and codec_params. Encodings are counted in chunks. With --format
json a file is an object.`,
		arguments{1, -1, "at least one FILE"}, func(t *tool, args []string) error {
			if err := oneOf("format", out.format, "table", "json"); err != nil {
				return err
			}
			return t.eachFile(args, &out, func(path string, w *bufio.Writer) error { return t.describe(w, path, out.format) })
		})
	t.cmd.Aliases = []string{"inspect"}
	out.report(t, "table", "json")
	return t.cmd
}

// eachFile calls f with every table file of the arguments and prints the errors
// of all but the last that failed, which it returns with the exit code of the
// first.
func (t *tool) eachFile(args []string, o *outFlags, f func(path string, w *bufio.Writer) error) error {
	paths, err := expand(args, isTable)
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

func (t *tool) describe(w *bufio.Writer, path, format string) error {
	r, in, err := t.openTable(path)
	if err != nil {
		return err
	}
	defer in.close()
	d, err := r.Describe(t.ctx())
	if err != nil {
		return orElse(exitData, named(in.name, err))
	}
	t.sum.Rows += d.Rows
	if format == "json" {
		return printJSON(w, description{in.name, d})
	}
	return describeTable(w, printable(in.name), d)
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func describeTable(out io.Writer, name string, d *columnar.Description) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	perRow := func(n int64) string {
		if d.Rows == 0 {
			return "-"
		}
		return fmt.Sprintf("%.3f", float64(n)/float64(d.Rows))
	}
	fmt.Fprintf(w, "%s\n", name)
	for _, x := range []struct {
		name string
		n    int64
	}{{"rows", d.Rows}, {"markers", d.Markers}, {"partitions", d.Partitions}, {"row groups", d.RowGroups}, {"blocks", d.Blocks}, {"segments", d.Segments}, {"templates", d.Templates}} {
		if x.n > 0 || x.name != "markers" {
			fmt.Fprintf(w, "  %s\t%s\n", x.name, humanize.Comma(x.n))
		}
	}
	fmt.Fprintf(w, "  bytes\t%s\t(%s), %s a row\n", humanize.Comma(d.Bytes), humanize.IBytes(uint64(d.Bytes)), perRow(d.Bytes))
	kind := "unique rows"
	if d.Multiset {
		kind = "rows may repeat"
	}
	fmt.Fprintf(w, "  format\tversion %d, order of partitions %s, %s\n", d.Version, d.Order, kind)
	for _, k := range slices.Sorted(maps.Keys(d.Options)) {
		fmt.Fprintf(w, "  %s\t%s\n", k, d.Options[k])
	}
	fmt.Fprintf(w, "\nlayer\tbytes\tbytes/row\n")
	l := &d.Layers
	for _, x := range []struct {
		name string
		n    int64
	}{
		{"payload", l.Payload}, {"row_metadata", l.RowMetadata}, {"codec_params", l.CodecParams}, {"templates", l.Templates}, {"headers", l.Headers},
		{"index", l.Index}, {"statistics", l.Statistics}, {"filter", l.Filter}, {"checksums", l.Checksums}, {"footer", l.Footer}, {"outer_saving", l.OuterSaving},
	} {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", x.name, humanize.Comma(x.n), perRow(x.n))
	}
	perGroup := "-"
	if d.RowGroups > 0 {
		perGroup = fmt.Sprintf("%.1f a row group", float64(l.Overhead())/float64(d.RowGroups))
	}
	fmt.Fprintf(w, "  overhead\t%s\t%s, %s\n", humanize.Comma(l.Overhead()), perRow(l.Overhead()), perGroup)
	fmt.Fprintf(w, "\ncolumn\ttype\trole\tbytes\tbytes/row\tencodings (chunks)\n")
	for i := range d.Columns {
		c := &d.Columns[i]
		role := c.Role
		if c.Desc {
			role += " desc"
		}
		typ := c.Type
		if typ == "" {
			typ = "-"
		}
		var enc []string
		for _, e := range slices.Sorted(maps.Keys(c.Encodings)) {
			enc = append(enc, fmt.Sprintf("%s %s", e, humanize.Comma(c.Encodings[e])))
		}
		if c.Zstd > 0 {
			enc = append(enc, fmt.Sprintf("with zstd %s", humanize.Comma(c.Zstd)))
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s\n", visible(c.Name), typ, role, humanize.Comma(c.Bytes), perRow(c.Bytes), strings.Join(enc, ", "))
	}
	fmt.Fprintln(w)
	return w.Flush()
}
