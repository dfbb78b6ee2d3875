package textfmt

import (
	"fmt"
	"io"
	"strings"

	"github.com/colsst/colsst/rowgroup"
)

// CSVWriteOptions say how to write a CSV. The zero value writes commas, a
// header, LF line ends, and null as an empty field.
type CSVWriteOptions struct {
	Columns   []string // names of the columns to write, in order; nil: all, in the schema's order
	Separator byte     // 0: comma
	NoHeader  bool
	Null      string // the text of null
	// RowMetadata adds the columns $write_time (µs), $ttl (s) and $expiry (s)
	// of the rows' liveness, as integers.
	RowMetadata bool
}

// CSVWriter writes the rows of batches as CSV, a row a line. Its form is in the
// package comment. It buffers; Flush ends the text.
type CSVWriter struct {
	w       io.Writer
	schema  *rowgroup.Schema
	options CSVWriteOptions
	columns []int // numbers in the schema
	buf     []byte
	scratch []byte // a serialised value
	text    []byte
	keys    [][]byte // fields of the partition's key and static columns, by column
	rows    int64
	nans    int64
	err     error
}

const flushAt = 64 << 10

// NewCSVWriter makes a writer for batches of schema s. It writes nothing yet.
func NewCSVWriter(w io.Writer, s *rowgroup.Schema, o CSVWriteOptions) (*CSVWriter, error) {
	if o.Separator == 0 {
		o.Separator = ','
	}
	if _, err := NewScanner(nil, "", o.Separator); err != nil {
		return nil, err
	}
	if strings.ContainsAny(o.Null, "\"\r\n") || strings.IndexByte(o.Null, o.Separator) >= 0 {
		return nil, fmt.Errorf("null mark %q cannot stand in a field without quotes", o.Null)
	}
	c := &CSVWriter{w: w, schema: s, options: o, keys: make([][]byte, s.NumColumns())}
	var err error
	if c.columns, err = columnsOf(s, o.Columns); err != nil {
		return nil, err
	}
	if len(c.columns) == 0 && !o.RowMetadata {
		return nil, fmt.Errorf("no columns to write")
	}
	if !o.NoHeader {
		for i, col := range c.columns {
			c.separate(i)
			c.buf = appendField(c.buf, []byte(s.Column(col).Name), o.Separator, false)
		}
		if o.RowMetadata {
			for i, name := range metadataNames {
				c.separate(i + len(c.columns))
				c.buf = appendField(c.buf, []byte(name), o.Separator, false)
			}
		}
		c.buf = append(c.buf, '\n')
	}
	return c, nil
}

func (c *CSVWriter) separate(i int) {
	if i > 0 {
		c.buf = append(c.buf, c.options.Separator)
	}
}

// Rows is the number of rows written.
func (c *CSVWriter) Rows() int64 { return c.rows }

// NaNPayloads counts the NaNs written as NaN though their bits are others.
func (c *CSVWriter) NaNPayloads() int64 { return c.nans }

// Write writes the rows of b, and a row for a partition that has none but a
// static row. Range tombstone markers are left out and deletions are not looked
// at: b should be of a live view. It keeps nothing of b. The first error sticks.
func (c *CSVWriter) Write(b *rowgroup.Batch) error {
	if c.err == nil {
		c.err = writeRows(c, b)
	}
	return c.err
}

// partition makes the fields that all rows of a partition share.
func (c *CSVWriter) partition(b *rowgroup.Batch, p int) error {
	from, to := c.schema.Range(rowgroup.PartitionKey)
	if from < to {
		parts, err := rowgroup.SplitKey(c.schema.KeyTypes(), b.Key(p))
		if err != nil {
			return err
		}
		for i, part := range parts {
			if c.keys[i], err = c.appendCell(c.keys[i][:0], i, part); err != nil {
				return err
			}
		}
	}
	if b.Partition(p).Continued {
		return nil // its static row came with its first batch
	}
	from, to = c.schema.Range(rowgroup.Static)
	for i := from; i < to; i++ {
		var err error
		c.keys[i], err = c.appendCellAt(c.keys[i][:0], b, i, p, b.Partition(p).Static == rowgroup.StaticFull)
		if err != nil {
			return err
		}
	}
	return nil
}

// row writes row i of b, or with i < 0 one of which only the partition is known.
func (c *CSVWriter) row(b *rowgroup.Batch, i int) error {
	for k, col := range c.columns {
		c.separate(k)
		switch c.schema.Role(col) {
		case rowgroup.PartitionKey, rowgroup.Static:
			c.buf = append(c.buf, c.keys[col]...)
		default:
			var err error
			if c.buf, err = c.appendCellAt(c.buf, b, col, i, i >= 0); err != nil {
				return err
			}
		}
	}
	if c.options.RowMetadata {
		c.metadata(b.Meta(), i)
	}
	c.buf = append(c.buf, '\n')
	c.rows++
	if len(c.buf) >= flushAt {
		return c.flush()
	}
	return nil
}

// appendCellAt appends the field of a cell.
func (c *CSVWriter) appendCellAt(dst []byte, b *rowgroup.Batch, col, i int, there bool) ([]byte, error) {
	if !there || isNull(b.Cell(col, i)) {
		return c.appendNull(dst, col)
	}
	c.scratch = appendSerialised(c.scratch[:0], b, col, i)
	return c.appendCell(dst, col, c.scratch)
}

func (c *CSVWriter) appendNull(dst []byte, col int) ([]byte, error) {
	if len(c.columns) > 1 || c.options.RowMetadata || c.options.Null != "" {
		return append(dst, c.options.Null...), nil
	}
	// An empty line would not be read as a row.
	if t := c.schema.Column(col); isText(t.Type) {
		return dst, fmt.Errorf("column %q: a null of a single text column cannot be told from an empty text; give --null MARK", t.Name)
	}
	return append(dst, `""`...), nil
}

// appendCell appends the field of a serialised value.
func (c *CSVWriter) appendCell(dst []byte, col int, value []byte) ([]byte, error) {
	t := c.schema.Column(col).Type
	if isText(t) {
		return appendField(dst, value, c.options.Separator, len(value) == 0 || string(value) == c.options.Null), nil
	}
	if payload(t, value) {
		c.nans++
	}
	c.text = rowgroup.AppendText(c.text[:0], t, value)
	if string(c.text) == c.options.Null && len(c.text) > 0 {
		return dst, fmt.Errorf("column %q: the value %s would read as null; give another --null", c.schema.Column(col).Name, c.text)
	}
	// Only a number of no bytes has no text.
	return appendField(dst, c.text, c.options.Separator, len(c.text) == 0), nil
}

// metadata appends the fields of the row's liveness.
func (c *CSVWriter) metadata(m *rowgroup.RowMeta, i int) {
	values, there := rowMetadata(m, i)
	for k := range metadataNames {
		c.separate(k + len(c.columns))
		c.buf = appendMetadata(c.buf, values[k], there[k], c.options.Null)
	}
}

// Flush writes what is buffered.
func (c *CSVWriter) Flush() error {
	if c.err == nil {
		c.err = c.flush()
	}
	return c.err
}

func (c *CSVWriter) flush() error {
	_, err := c.w.Write(c.buf)
	c.buf = c.buf[:0]
	return err
}
