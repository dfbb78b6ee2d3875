package cli

import (
	"bufio"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/colsst/colsst/cmd/colsst/internal/whatif"
	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/textfmt"
)

// trial is what try prints of a file.
type trial struct {
	File      string          `json:"file"`
	Rows      *int64          `json:"rows"` // null: of a text that was not read to its end
	Sampled   int64           `json:"sampled_rows"`
	RowGroups int64           `json:"sampled_row_groups"`
	Columns   []whatif.Column `json:"columns"`
}

type try struct {
	*tool
	text        textFlags
	inputFormat string
	set         []string
	limit       int64
	speed       bool
	out         outFlags
}

func newTry() *cobra.Command {
	y := &try{}
	y.tool = command("try FILE... [flags]", "Compare the encodings of the columns of a file",
		`Try takes rows of a table file or of a text and encodes every column in all ways
that can hold it, each without and with Zstd over its chunks. It prints what
the values and their parameters come to: first what the writer chooses, marked
with *, then the others, the smallest first. What is encoded in several ways has
the numbers of chunks; what less than half of the chunks can be encoded as is
left out. Columns that begin with $ are metadata, for which there is no choice;
those that take no bytes are left out, but for --format json.
With --speed it prints also how many values a second one goroutine encodes and
decodes, alone and with Zstd, in a table of that column in memory.
A text needs no key: it is compared in the order of its rows; with one, rows are
sorted by it.`,
		arguments{1, -1, "at least one FILE"}, func(_ *tool, args []string) error { return y.run(args) })
	f := y.cmd.Flags()
	f.Int64Var(&y.limit, "rows", 1<<16, "rows to take: of a table file runs from all parts of it, of a text the first ones; 0: all")
	f.StringArrayVar(&y.set, "set", nil, "table option name=value: row_group_rows, row_group_size_in_bytes, block_size_in_bytes; repeatable (default: those of a table file)")
	f.BoolVar(&y.speed, "speed", false, "measure how fast each column is encoded and decoded")
	y.choice(&y.inputFormat, "input-format", "", "format of the inputs: "+strings.Join(inputFormats, ", ")+" (default: by content and name)", inputFormats...)
	y.text.add(y.tool)
	y.out.report(y.tool, "table", "json")
	return y.cmd
}

func (y *try) run(args []string) error {
	if y.inputFormat != "" {
		if err := oneOf("input-format", y.inputFormat, inputFormats...); err != nil {
			return err
		}
	}
	if err := oneOf("format", y.out.format, "table", "json"); err != nil {
		return err
	}
	if y.limit < 0 {
		return usagef("--rows %d: expected 0 or more", y.limit)
	}
	o, err := y.text.options(y.tool)
	if err != nil {
		return err
	}
	layout, err := (&tableFlags{set: y.set, compression: "none", filter: true}).options()
	if err != nil {
		return err
	}
	return y.eachFileOf(args, func(format string) bool { return format != "" }, &y.out, func(path string, w *bufio.Writer) error {
		x, err := y.file(path, o, layout)
		if err != nil {
			return err
		}
		y.sum.Rows += x.Sampled
		if y.out.format == "json" {
			return printJSON(w, x)
		}
		return y.print(w, x)
	})
}

func (y *try) print(w *bufio.Writer, x *trial) error {
	rows := amount(x.Sampled, "row")
	switch {
	case x.Rows == nil:
		rows = "the first " + rows
	case *x.Rows > x.Sampled:
		rows = humanize.Comma(x.Sampled) + " of " + amount(*x.Rows, "row")
	}
	if _, err := fmt.Fprintf(w, "%s: %s in %s\n\n", printable(x.File), rows, amount(x.RowGroups, "row group")); err != nil {
		return err
	}
	if err := printChoices(w, x.Columns, y.speed); err != nil {
		return err
	}
	return w.WriteByte('\n')
}

// amount is plural with commas among the digits, for people.
func amount(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return humanize.Comma(n) + " " + what
}

// printChoices prints a line for each way to encode each column.
func printChoices(w *bufio.Writer, columns []whatif.Column, speed bool) error {
	g := grid{align: "llllrrr"}
	header := []string{"column", "type", "", "encoding", "bytes", "bytes/value", "with zstd"}
	if speed {
		g.align += "rrrr"
		header = append(header, "encode/s", "decode/s", "zstd encode/s", "zstd decode/s")
	}
	g.add(header...)
	for i := range columns {
		c := &columns[i]
		if c.Role == "metadata" && len(c.Choices) == 1 && c.Choices[0].Bytes == 0 {
			continue
		}
		per := func(n int64) string {
			if c.Values == 0 {
				return "-"
			}
			return fmt.Sprintf("%.3f", float64(n)/float64(c.Values))
		}
		name, typ := visible(c.Name), c.Type
		for k := range c.Choices {
			x := &c.Choices[k]
			mark := ""
			if x.Chosen {
				mark = "*"
			}
			names := x.Names()
			if len(names) > 1 {
				for i, n := range names {
					names[i] = n + " " + strconv.FormatInt(x.Encodings[n], 10)
				}
			}
			if len(names) == 0 && c.Role != "metadata" {
				names = []string{"no values"}
			}
			line := []string{name, typ, mark, strings.Join(names, ", "), humanize.Comma(x.Bytes), per(x.Bytes), humanize.Comma(x.ZstdBytes)}
			if s := x.Speed; s != nil {
				for _, v := range []float64{s.Encode, s.Decode, s.ZstdEncode, s.ZstdDecode} {
					line = append(line, fmt.Sprintf("%.0f M", v/1e6))
				}
			}
			g.add(line...)
			name, typ = "", ""
		}
	}
	return g.print(w)
}

// file compares the encodings of a file.
func (y *try) file(path string, o textfmt.CSVOptions, layout []columnar.Option) (*trial, error) {
	in, err := y.openInput(path, y.inputFormat)
	if err != nil {
		return nil, err
	}
	defer in.close()
	x := &trial{File: in.name}
	var t *whatif.Table
	switch in.format {
	case formatTable, formatSSTable, formatParquet:
		t, x.Rows, err = y.table(in, layout)
	default:
		t, x.Rows, err = y.texts(in, o, layout)
	}
	if err != nil {
		return nil, orElse(exitData, named(in.name, err))
	}
	in.bar.end()
	r, err := t.Compare(y.ctx())
	if err != nil {
		return nil, orElse(exitData, named(in.name, err))
	}
	if y.speed {
		if err := t.Measure(y.ctx(), r); err != nil {
			return nil, orElse(exitData, named(in.name, err))
		}
	}
	x.Sampled, x.RowGroups, x.Columns = r.Rows, r.RowGroups, r.Columns
	return x, nil
}

func (y *try) table(in *input, layout []columnar.Option) (*whatif.Table, *int64, error) {
	if err := y.refuse("is for text; "+in.name+" is a table file", append(append([]string{"unique"}, textOnly...), csvFlags...)...); err != nil {
		return nil, nil, err
	}
	r, err := in.table()
	if err != nil {
		return nil, nil, err
	}
	t, err := y.sampled(r, in, y.limit)
	if err != nil {
		return nil, nil, err
	}
	if len(y.set) > 0 {
		t.Layout = layout
	}
	rows := r.Rows()
	return t, &rows, nil
}

// texts takes the first rows of a text; rows is how many there are, or nil if
// there are more.
func (y *try) texts(in *input, o textfmt.CSVOptions, layout []columnar.Option) (t *whatif.Table, rows *int64, err error) {
	if err := errors.Join(y.text.schemaErr, y.refuseOthers(in)); err != nil {
		return nil, nil, err
	}
	o.AnyOrder = true
	in.bar = y.newProgress(in.name, in.size, true)
	r, err := in.openText(y.ctx(), o, exitData)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = r.Close() }() // only read
	s := r.Schema()
	head := &firstRows{Batches: r, left: y.limit}
	if y.limit == 0 {
		head.left = -1
	}
	t = &whatif.Table{Schema: s, Layout: layout}
	var from rowgroup.Iter = head
	if c, _ := s.Range(rowgroup.Static); c > 0 { // there is a key
		if from, err = y.text.sorted(y.ctx(), s, head); err != nil {
			return nil, nil, err
		}
	}
	if hasStatic(o.Schema) {
		s = o.Schema
		t.Schema, from = s, textfmt.LiftStatic(s, from)
	}
	n := int64(0)
	err = eachBatch(y.ctx(), from, s, -1, func(b *rowgroup.Batch) error {
		n += int64(b.Len())
		t.Rows = append(t.Rows, b.Clone())
		return nil
	})
	if err == nil && !head.cut {
		rows = &n
	}
	return t, rows, err
}

// firstRows ends after some rows.
type firstRows struct {
	textfmt.Batches
	left int64 // negative: all
	cut  bool  // there were more
	in   *rowgroup.Batch
}

func (it *firstRows) Next(b *rowgroup.Batch) (bool, error) {
	if it.left < 0 {
		return it.Batches.Next(b)
	}
	if it.in == nil {
		it.in = rowgroup.NewBatch(b.Schema())
	}
	more, err := it.Batches.Next(it.in)
	if err != nil || !more {
		return false, err
	}
	if it.left == 0 {
		it.cut = true
		return false, nil
	}
	n := min(int64(it.in.Len()), it.left)
	it.cut = n < int64(it.in.Len())
	it.left -= n
	b.Clear()
	return true, b.AppendRange(it.in, 0, int(n))
}

// Close ends the rows.
func (it *firstRows) Close() error { return nil }
