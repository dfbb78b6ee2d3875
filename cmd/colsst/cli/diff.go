package cli

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/colsst/colsst/internal/rowdiff"
	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/textfmt"
)

// difference is what diff prints.
type difference struct {
	Equal       bool                 `json:"equal"`
	Rows        int64                `json:"rows"` // of the first file
	Differences int64                `json:"differences"`
	First       []rowdiff.Difference `json:"first"`
	Schema      []string             `json:"schema"` // how the schemas differ; then no rows are compared
	Notes       []string             `json:"notes"`
}

type diff struct {
	*tool
	text        textFlags
	inputFormat string
	out         outFlags
	limit       int64
}

func newDiff() *cobra.Command {
	d := &diff{}
	d.tool = command("diff A B [flags]", "Compare the rows of two files",
		`Diff compares table files, text in any format that convert reads, or one with
the other. A text takes the schema of the other side; rows of text are sorted.
Rows of equal keys are compared as multisets, values by their bits, times as
instants; all metadata too where both sides hold it. It prints "equal: N rows",
or the first differences: - only in A, + only in B, ! other values.`,
		arguments{2, 2, "two files"}, func(_ *tool, args []string) error { return d.run(args[0], args[1]) })
	d.choice(&d.inputFormat, "input-format", "", "format of both: "+strings.Join(inputFormats, ", ")+" (default: by content and names)", inputFormats...)
	d.text.add(d.tool)
	d.limit = 10
	d.cmd.Flags().Int64Var(&d.limit, "limit", 10, "differences to print")
	d.out.report(d.tool, "table", "json")
	return d.cmd
}

func (d *diff) run(a, b string) error {
	if d.inputFormat != "" {
		if err := oneOf("input-format", d.inputFormat, inputFormats...); err != nil {
			return err
		}
	}
	if err := oneOf("format", d.out.format, "table", "json"); err != nil {
		return err
	}
	if err := d.checkLimit(d.limit); err != nil {
		return err
	}
	o, err := d.text.options(d.tool)
	if err != nil {
		return err
	}
	if err := onlyOnce([]string{a, b}); err != nil {
		return err
	}
	if err := checkOutputs([]string{a, b}, d.out.path); err != nil {
		return err
	}
	return d.report(&d.out, func(w *bufio.Writer) error { return d.compare(w, a, b, o) })
}

func (d *diff) compare(w *bufio.Writer, a, b string, o textfmt.CSVOptions) error {
	var in [2]*input
	var tables [2]table
	var texts [2]*textfmt.Reader
	for i, path := range []string{a, b} {
		var err error
		if in[i], err = d.openInput(path, d.inputFormat); err != nil {
			return err
		}
		defer in[i].close()
		if isTable(in[i].format) {
			if tables[i], err = in[i].rows(); err != nil {
				return err
			}
			if o.Schema == nil {
				o.Schema = tables[i].Schema()
			}
		} else if err := errors.Join(d.text.schemaErr, d.refuseOthers(in[i])); err != nil {
			return err
		}
	}
	if tables[0] != nil && tables[1] != nil {
		if err := d.refuse("is for text; both are table files", append(textOnly, csvFlags...)...); err != nil {
			return err
		}
	}
	if tables[0] != nil || tables[1] != nil {
		if err := d.refuse("is for two texts; here the table file has the schema", "type", "schema", "partition-key", "clustering"); err != nil {
			return err
		}
	}
	metadata := true
	for i := range in {
		if tables[i] != nil {
			continue
		}
		var err error
		o.AnyOrder = true
		if texts[i], err = in[i].openText(d.ctx(), o, exitNo); err != nil { // another column is a difference
			return err
		}
		defer func() { _ = texts[i].Close() }() // only read
		metadata = metadata && texts[i].Metadata()
		if o.Schema == nil {
			o.Schema = texts[i].Schema()
			o.Layouts = map[string]*textfmt.Layout{}
			for _, c := range texts[i].Choices() {
				if c.Layout != nil {
					o.Layouts[c.Column] = c.Layout
				}
			}
		}
	}
	var sides [2]rowdiff.Side
	for i := range sides {
		sides[i].Name = in[i].name
		if tables[i] != nil {
			sides[i].Schema = tables[i].Schema()
			sides[i].Rows = tables[i].Scan(d.ctx(), rowgroup.ScanOptions{Live: !metadata, Now: math.MinInt64})
		} else {
			s := texts[i].Schema()
			rows, err := d.text.sorted(d.ctx(), s, texts[i])
			if err != nil {
				return orElse(exitUsage, named(in[i].name, err))
			}
			if hasStatic(o.Schema) {
				s = o.Schema
			}
			sides[i].Schema, sides[i].Rows = s, textfmt.LiftStatic(s, rows)
			d.losses(in[i], texts[i])
		}
		defer func() { _ = sides[i].Rows.Close() }() // only read
	}
	result := difference{First: []rowdiff.Difference{}, Schema: []string{}, Notes: []string{}}
	if s := rowdiff.Schemas(sides[0], sides[1]); len(s) > 0 {
		result.Schema, result.Differences = s, int64(len(s))
		return d.print(w, &result)
	}
	r, err := rowdiff.Compare(d.ctx(), sides[0], sides[1], rowdiff.Options{Metadata: metadata, Report: int(d.limit)})
	if err != nil {
		return orElse(exitData, err)
	}
	result.Equal, result.Rows, result.Differences = r.Differences == 0, r.Rows, r.Differences
	result.First = append(result.First, r.First...)
	if !metadata && (r.MetadataA || r.MetadataB) {
		text := in[0].name
		if tables[0] != nil {
			text = in[1].name
		}
		result.Notes = append(result.Notes, "metadata (write times, TTLs, expiries) was not compared: "+text+" holds none")
	}
	d.sum.Inputs, d.sum.Rows = 2, r.Rows
	return d.print(w, &result)
}

func (d *diff) print(out *bufio.Writer, r *difference) error {
	if d.out.format == "json" {
		if err := printJSON(out, r); err != nil {
			return err
		}
	} else {
		for _, n := range r.Notes {
			d.notef("note: %s", n)
		}
		var lines []string
		switch {
		case r.Equal:
			lines = append(lines, "equal: "+plural(r.Rows, "row"))
		default:
			for _, s := range r.Schema {
				lines = append(lines, "schema: "+s)
			}
			for i := range r.First {
				lines = append(lines, printable(r.First[i].String()))
			}
			lines = append(lines, plural(r.Differences, "difference"))
		}
		if _, err := fmt.Fprintln(out, strings.Join(lines, "\n")); err != nil {
			return err
		}
	}
	if !r.Equal {
		return errNo
	}
	return nil
}
