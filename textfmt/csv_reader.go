package textfmt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/colsst/colsst/rowgroup"
)

// CSVOptions say how to read a CSV. The zero value reads comma-separated
// fields without a header as one partition in file order.
type CSVOptions struct {
	TableOptions
	Separator         byte     // 0: comma
	Header            bool     // the first record names the columns
	Names             []string // names of the columns, in place of the header's
	TrailingSeparator bool     // every line ends with a separator
	// Null are the texts of fields that are null; nil: the empty text. In
	// columns of text only unquoted fields are null.
	Null []string
}

// CSVReader reads a CSV as the rows of a table, in the order of the file. It is
// a rowgroup.Iter whose batches own their memory: they may be kept, each in a
// Batch of its own. It holds the sample from which types are inferred, at most
// 16 MiB beside the longest record, and no row after its batch is read.
type CSVReader struct {
	name    string
	options CSVOptions
	null    []string
	scanner *Scanner
	builder *builder
	err     error // sticky; io.EOF after the last row
}

// NewCSVReader reads the header and, where the types of some columns are not
// given, up to 64 Ki rows or 16 MiB from r, and settles the schema. The name
// stands in errors. Errors are those of the options, of the text
// (*SyntaxError) or of r.
func NewCSVReader(r io.Reader, name string, o CSVOptions) (*CSVReader, error) {
	if o.Separator == 0 {
		o.Separator = ','
	}
	c := &CSVReader{name: name, options: o, null: o.Null}
	if c.null == nil {
		c.null = []string{""}
	}
	var head bytes.Buffer
	sample, err := c.newScanner(io.TeeReader(r, &head))
	if err != nil {
		return nil, err
	}
	choices, err := c.choose(sample, &head)
	if err != nil {
		return nil, err
	}
	t, err := o.layout(choices)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	c.builder = newBuilder(t, &o.TableOptions)
	c.scanner, err = c.newScanner(io.MultiReader(&head, r))
	if err == nil && o.Header {
		_, err = c.scanner.Scan()
	}
	c.scanner.Fields = len(choices)
	return c, err
}

func (c *CSVReader) newScanner(r io.Reader) (*Scanner, error) {
	s, err := NewScanner(r, c.name, c.options.Separator)
	if err != nil {
		return nil, err
	}
	s.TrailingSeparator = c.options.TrailingSeparator
	return s, nil
}

// Schema is the schema of the rows.
func (c *CSVReader) Schema() *rowgroup.Schema { return c.builder.schema }

// SourceColumns are the names of the schema's columns in the order of the file.
func (c *CSVReader) SourceColumns() []string { return c.builder.source() }

// Choices are the types of the file's columns and the reasons for them.
func (c *CSVReader) Choices() []Choice { return c.builder.choices }

// choose names the columns and settles their types.
func (c *CSVReader) choose(s *Scanner, head *bytes.Buffer) ([]Choice, error) {
	first, err := s.Scan()
	if errors.Is(err, io.EOF) && !c.options.Header && len(c.options.Names) > 0 {
		first, err = nil, nil // no rows, but names
	}
	if errors.Is(err, io.EOF) {
		return nil, &SyntaxError{File: c.name, Line: 1, Column: 1, Expected: "a header or a row", Value: "nothing"}
	}
	if err != nil {
		return nil, err
	}
	names, err := c.names(first)
	if err != nil {
		return nil, err
	}
	if err := c.options.check(names); err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	choices := make([]Choice, len(names))
	open := false
	for i, name := range names {
		choices[i] = Choice{Column: name}
		choices[i].Type, choices[i].Given = c.options.given(name)
		open = open || !choices[i].Given
	}
	if !open {
		return choices, nil
	}
	seen := make([]inference, len(names))
	row := first
	if c.options.Header {
		row, err = s.Scan()
	}
	for rows := 0; rows < sampleRows && head.Len() <= sampleBytes && err == nil && row != nil; rows++ {
		for i := range row {
			if !choices[i].Given {
				seen[i].add(&row[i], c.isNull(&row[i]), c.options.TZ)
			}
		}
		row, err = s.Scan()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	for i := range choices {
		if !choices[i].Given {
			isTime := c.options.Time != nil && c.options.Time.Column == names[i]
			choices[i] = seen[i].choose(names[i], isTime)
		}
	}
	return choices, nil
}

// names are those of the options, of the header, or column1, column2, ...
func (c *CSVReader) names(first []Field) ([]string, error) {
	names := c.options.Names
	if names != nil && first != nil && len(first) != len(names) {
		return nil, &SyntaxError{File: c.name, Line: first[0].Line, Column: 1, Expected: plural(len(names), "field") + ", as many as names were given",
			Value: plural(len(first), "field")}
	}
	if names == nil {
		for i := range first {
			name := "column" + strconv.Itoa(i+1)
			if c.options.Header && len(first[i].Text) > 0 {
				name = string(first[i].Text)
			}
			names = append(names, name)
		}
	}
	for i, name := range names {
		if j := slices.Index(names, name); j < i {
			return nil, fmt.Errorf("%s: columns %d and %d are both named %q; give other names", c.name, j+1, i+1, name)
		}
	}
	return names, nil
}

// isNull reports whether the text of f is a mark of null; in a column of text
// it is null only if it stands without quotes.
func (c *CSVReader) isNull(f *Field) bool {
	for _, mark := range c.null {
		if string(f.Text) == mark {
			return true
		}
	}
	return false
}

// Next reads up to 4,096 rows, fewer where they are long. After an error, a
// *SyntaxError or *OrderError if it is one of the text, the rows before it in
// the batch are lost.
func (c *CSVReader) Next(b *rowgroup.Batch) (bool, error) {
	if c.err == nil {
		c.read(b)
		if c.err == nil || errors.Is(c.err, io.EOF) {
			return c.builder.row > 0, nil
		}
	}
	if errors.Is(c.err, io.EOF) {
		return false, nil
	}
	return false, c.err
}

// Close ends the reading; what was read from stays open.
func (c *CSVReader) Close() error {
	if c.err == nil {
		c.err = io.EOF
	}
	return nil
}

// read fills b until it is full, the input ends or fails.
func (c *CSVReader) read(batch *rowgroup.Batch) {
	b := c.builder
	b.begin(batch)
	for !b.full() {
		row, err := c.scanner.Scan()
		if err != nil {
			c.err = err
			break
		}
		b.beginRow()
		for i := range row {
			f, col := &row[i], &b.columns[i]
			var p *problem
			if c.isNull(f) && !(f.Quoted && col.text) {
				p = b.null(col)
			} else {
				p = b.value(col, f.Text)
			}
			if p != nil {
				c.err = &SyntaxError{File: c.name, Line: f.Line, Column: f.Column, Field: col.name,
					Value: quote(f.Text), Expected: p.expected, Hint: p.hint}
				return
			}
		}
		if err := b.endRow(c.name, row[0].Line); err != nil {
			c.err = err
			return
		}
	}
	b.end()
}
