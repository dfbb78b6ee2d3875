package textfmt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
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
	// Joins make columns of several, as a time of a day and a clock.
	Joins []Join
}

// CSVReader is a Reader of CSV.
type CSVReader = Reader

// NewCSVReader reads the header and, where the types of some columns are not
// given, up to 64 Ki rows or 16 MiB from r, and settles the schema. The name
// stands in errors. Errors are those of the options, of the text
// (*SyntaxError) or of r.
func NewCSVReader(r io.Reader, name string, o CSVOptions) (*CSVReader, error) {
	if o.Separator == 0 {
		o.Separator = ','
	}
	if o.Null == nil {
		o.Null = []string{""}
	}
	head := &tape{r: r}
	c := &csvFormat{name: name, options: &o}
	sample, err := c.scanner(head)
	if err != nil {
		return nil, err
	}
	choices, err := c.choose(sample, head)
	if err != nil {
		return nil, err
	}
	in := head.rewind()
	rows, err := c.scanner(in)
	if err == nil {
		rows.buf = sample.buf
	}
	if err == nil && o.Header {
		_, err = rows.Scan()
	} else if err == nil {
		err = rows.start()
	}
	if err != nil {
		return nil, err
	}
	rows.Fields = c.fields
	// What the scanner read and did not use goes before the rest.
	rest := &input{r: io.MultiReader(bytes.NewReader(rows.buf[rows.from:rows.to]), in), line: rows.line, splitter: c}
	reader, err := newReader(name, &o.TableOptions, choices, c.records(rows), rest)
	if err == nil {
		reader.null = o.Null
	}
	return reader, err
}

// csvFormat opens scanners of a CSV.
type csvFormat struct {
	name    string
	options *CSVOptions
	fields  int // of a record
	joiner  *joiner
}

func (c *csvFormat) scanner(r io.Reader) (*Scanner, error) {
	s, err := NewScanner(r, c.name, c.options.Separator)
	if err != nil {
		return nil, err
	}
	s.TrailingSeparator = c.options.TrailingSeparator
	return s, nil
}

func (c *csvFormat) records(s *Scanner) records {
	return &csvRecords{Scanner: s, join: c.joiner.clone()}
}

// csvRecords are the records of a Scanner, some columns of them joined.
type csvRecords struct {
	*Scanner
	join *joiner
}

func (c *csvRecords) next() ([]Field, error) {
	row, err := c.Scan()
	if err != nil || c.join == nil {
		return row, err
	}
	return c.join.row(row), nil
}

// scanner is a blockRecords's.
func (c *csvRecords) scanner() *Scanner {
	if c.join != nil {
		return nil
	}
	return c.Scanner
}

func (c *csvRecords) skip() { c.skipRecord() }

func (c *csvRecords) blankLines() int64 { return c.blank }

// choose names the columns and settles their types.
func (c *csvFormat) choose(s *Scanner, head *tape) ([]Choice, error) {
	o := c.options
	first, err := s.Scan()
	if errors.Is(err, io.EOF) && !o.Header && len(o.Names) > 0 {
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
	c.fields = len(names)
	if c.joiner, names, err = newJoiner(o.Joins, names, o.Null); err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	if err := c.options.check(names); err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	seen := sampler{o: &o.TableOptions}
	for _, name := range names {
		seen.column(name, false)
	}
	row := first
	if o.Header {
		row = nil
	} else if c.joiner != nil && row != nil {
		row = c.joiner.row(row)
	}
	return c.sample(s, head, &seen, row)
}

// sample looks at the first rows, the first of which may be read already.
func (c *csvFormat) sample(s *Scanner, head *tape, seen *sampler, row []Field) ([]Choice, error) {
	o := c.options
	rows := &csvRecords{Scanner: s, join: c.joiner.clone()}
	var b block
	for n := 0; n < sampleRows && head.length <= sampleBytes && !seen.settled(); {
		if row != nil {
			for i := range row {
				seen.add(i, &row[i], row[i].Null || isMark(o.Null, row[i].Text))
			}
			n++
		}
		if c.joiner == nil {
			s.block(&b, sampleRows-n)
			seen.block(&b, o.Null)
			s.take(&b, b.rows)
			n += b.rows
		}
		if n >= sampleRows || seen.settled() {
			break
		}
		var err error
		row, err = rows.next()
		var syntax *SyntaxError
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.As(err, &syntax) && o.OnError != nil {
			rows.skip() // to be told of when it is read
			row, err = nil, nil
			n++
		}
		if err != nil {
			return nil, err
		}
	}
	return seen.choices(), nil
}

// names are those of the options, of the header, or column1, column2, ...
func (c *csvFormat) names(first []Field) ([]string, error) {
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

// cut is a splitter's: a line end with an even number of quotes before it ends
// a record, since quotes stand only around fields and doubled inside them.
func (c *csvFormat) cut(data []byte) int {
	end := bytes.LastIndexByte(data, '\n') + 1
	odd := bytes.Count(data[:end], []byte{'"'})%2 == 1
	for odd && end > 0 {
		q := bytes.LastIndexByte(data[:end], '"') // quotes before it are even
		at := bytes.LastIndexByte(data[:q], '\n') + 1
		odd = bytes.Count(data[at:q], []byte{'"'})%2 == 1
		end = at
	}
	return end
}

// open is a splitter's.
func (c *csvFormat) open(part []byte, line int64) records {
	s, err := c.scanner(nil)
	if err != nil {
		panic(err) // the separator was fine before
	}
	s.Fields = c.fields
	s.buf, s.to, s.line, s.started, s.readErr = part, len(part), line, true, io.EOF
	return c.records(s)
}
