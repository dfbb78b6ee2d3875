package cli

import (
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/colsst/colsst/columnar"
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
	format      string
	limit       int
}

func newDiff() *cobra.Command {
	d := &diff{}
	d.tool = command("diff A B [flags]", "Compare the rows of two files",
		`Diff compares table files, CSV (also .gz), or one with the other. A text takes
the schema of the other side; rows of text are sorted in memory. Rows of equal
keys are compared as multisets, values by their bits, times as instants; all
metadata too where both sides hold it. It prints "equal: N rows", or the first
differences: - only in A, + only in B, ! other values.`,
		cobra.ExactArgs(2), func(_ *tool, args []string) error { return d.run(args[0], args[1]) })
	f := d.cmd.Flags()
	d.text.add(d.cmd)
	f.StringVar(&d.inputFormat, "input-format", "", "colsst or csv, of both (default: by the content and the files' names)")
	f.StringVar(&d.format, "format", "table", "table or json")
	f.IntVar(&d.limit, "limit", 10, "differences to print")
	return d.cmd
}

func (d *diff) run(a, b string) error {
	if err := checkFormat("--input-format", d.inputFormat); err != nil {
		return err
	}
	if d.format != "table" && d.format != "json" {
		return usagef("--format %s: expected table or json", d.format)
	}
	if a == "-" && b == "-" {
		return usagef("only one side can be stdin")
	}
	var in [2]*input
	var tables [2]*columnar.Reader
	var schema *rowgroup.Schema
	for i, path := range []string{a, b} {
		var err error
		if in[i], err = d.openInput(path, d.inputFormat); err != nil {
			return err
		}
		defer in[i].close()
		if in[i].format != formatTable {
			continue
		}
		if tables[i], err = in[i].table(); err != nil {
			return err
		}
		if schema == nil {
			schema = tables[i].Schema()
		}
	}
	metadata := (tables[0] != nil || d.text.metadata()) && (tables[1] != nil || d.text.metadata())
	var sides [2]rowdiff.Side
	for i := range sides {
		var err error
		if sides[i], err = d.side(in[i], tables[i], schema, metadata); err != nil {
			return err
		}
		defer func() { _ = sides[i].Rows.Close() }() // only read
		if schema == nil {
			schema = sides[i].Schema
		}
	}
	result := difference{First: []rowdiff.Difference{}, Schema: []string{}, Notes: []string{}}
	if s := rowdiff.Schemas(sides[0].Schema, sides[1].Schema); len(s) > 0 {
		result.Schema, result.Differences = s, int64(len(s))
		return d.print(&result)
	}
	r, err := rowdiff.Compare(d.ctx(), sides[0], sides[1], rowdiff.Options{Metadata: metadata, Report: d.limit})
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
	return d.print(&result)
}

// side is one of the files as sorted rows.
func (d *diff) side(in *input, table *columnar.Reader, schema *rowgroup.Schema, metadata bool) (rowdiff.Side, error) {
	side := rowdiff.Side{Name: in.name}
	if table != nil {
		side.Schema = table.Schema()
		side.Rows = table.Scan(d.ctx(), rowgroup.ScanOptions{Live: !metadata, Now: math.MinInt64})
		return side, nil
	}
	o, err := d.text.options()
	if err != nil {
		return side, err
	}
	o.AnyOrder, o.Schema = true, schema
	r, err := in.csv(d.ctx(), o, exitNo) // a column that is missing is a difference
	if err != nil {
		return side, err
	}
	side.Schema = r.Schema()
	if side.Rows, err = textfmt.Sort(r.Schema(), r); err != nil {
		return side, orElse(exitUsage, named(in.name, err))
	}
	return side, nil
}

func (d *diff) print(r *difference) error {
	out := d.cmd.OutOrStdout()
	if d.format == "json" {
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
			lines = append(lines, fmt.Sprintf("equal: %d rows", r.Rows))
		default:
			for _, s := range r.Schema {
				lines = append(lines, "schema: "+s)
			}
			for i := range r.First {
				lines = append(lines, r.First[i].String())
			}
			lines = append(lines, plural(r.Differences, "difference"))
		}
		if _, err := fmt.Fprintln(out, strings.Join(lines, "\n")); err != nil {
			return coded(exitOutput, err)
		}
	}
	if !r.Equal {
		return errNo
	}
	return nil
}
