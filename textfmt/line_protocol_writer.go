package textfmt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/colsst/colsst/rowgroup"
)

// LineProtocolWriteOptions say how to write InfluxDB's line protocol.
type LineProtocolWriteOptions struct {
	Columns     []string // names of the columns to write; nil: all
	Measurement string   // the measurement of all rows; "": the column measurement
	Time        string   // the time column; "": the only timestamp in the clustering
	// Precision is the unit of the timestamps written; where it is coarser than
	// the column's, every time must fit.
	Precision rowgroup.Unit
}

// LineProtocolWriter writes the rows of batches in InfluxDB's line protocol, a
// row a line. The partition key and the clustering columns but the time are
// tags, sorted by name, empty texts left out; the others are fields: floats,
// integers with an i, a uint64 with a u, booleans, and all else as strings; null
// is left out. NewLineProtocolReader reads them back.
//
// It fails on what the protocol cannot hold: a row without fields or with a
// null time, NaN and the infinities, a line end or a backslash at the end in a
// tag. It buffers; Flush ends the text.
type LineProtocolWriter struct {
	w         io.Writer
	precision rowgroup.Unit
	name      []byte // of all rows, escaped
	nameCol   int    // or the column that has it, else -1
	time      int
	tags      []lineColumn
	fields    []lineColumn
	values    rowValues
	buf       []byte
	text      []byte
	rows      int64
	err       error
}

// lineColumn is a column and its name, with a = behind it.
type lineColumn struct {
	col  int
	name []byte
}

// NewLineProtocolWriter makes a writer for batches of schema s.
func NewLineProtocolWriter(w io.Writer, s *rowgroup.Schema, o LineProtocolWriteOptions) (*LineProtocolWriter, error) {
	l := &LineProtocolWriter{w: w, precision: o.Precision, nameCol: -1, time: -1, values: newRowValues(s)}
	columns, err := columnsOf(s, o.Columns)
	if err != nil {
		return nil, err
	}
	if o.Measurement != "" {
		if l.name, err = appendTag(nil, []byte(o.Measurement), ", "); err != nil {
			return nil, fmt.Errorf("measurement %q %w", o.Measurement, err)
		}
	} else if l.nameCol = s.Lookup("measurement"); l.nameCol < 0 {
		return nil, errors.New("there is no column measurement; give the measurement a name")
	}
	if l.time, err = timeColumn(s, o.Time); err != nil {
		return nil, err
	}
	for _, col := range columns {
		if col == l.nameCol || col == l.time {
			continue
		}
		name := s.Column(col).Name
		escaped, err := appendTag(nil, []byte(name), ",= ")
		if err != nil {
			return nil, fmt.Errorf("the name of column %q %w", name, err)
		}
		c := lineColumn{col, append(escaped, '=')}
		if role := s.Role(col); role == rowgroup.PartitionKey || role == rowgroup.Clustering {
			l.tags = append(l.tags, c)
		} else {
			l.fields = append(l.fields, c)
		}
	}
	slices.SortFunc(l.tags, func(a, b lineColumn) int { return bytes.Compare(a.name, b.name) })
	return l, nil
}

// timeColumn is the named column, or the only timestamp in the clustering.
func timeColumn(s *rowgroup.Schema, name string) (col int, err error) {
	col = -1
	from, to := s.Range(rowgroup.Clustering)
	if name != "" {
		if col = s.Lookup(name); col < 0 {
			return 0, fmt.Errorf("there is no column %q", name)
		}
	} else {
		for i := from; i < to; i++ {
			if bare(s.Column(i).Type).Kind == rowgroup.KindTimestamp {
				if col >= 0 {
					return 0, fmt.Errorf("columns %q and %q are both times; give one", s.Column(col).Name, s.Column(i).Name)
				}
				col = i
			}
		}
	}
	if col < 0 || bare(s.Column(col).Type).Kind != rowgroup.KindTimestamp {
		return 0, errors.New("line protocol needs a time column of type timestamp")
	}
	return col, nil
}

// Rows is the number of rows written.
func (l *LineProtocolWriter) Rows() int64 { return l.rows }

// Write writes the rows of b as CSVWriter.Write does.
func (l *LineProtocolWriter) Write(b *rowgroup.Batch) error {
	if l.err == nil {
		l.err = writeRows(l, b)
	}
	return l.err
}

// Flush writes what is buffered.
func (l *LineProtocolWriter) Flush() error {
	if l.err == nil {
		l.err = l.flush()
	}
	return l.err
}

func (l *LineProtocolWriter) flush() error {
	_, err := l.w.Write(l.buf)
	l.buf = l.buf[:0]
	return err
}

func (l *LineProtocolWriter) partition(b *rowgroup.Batch, p int) error {
	return l.values.partition(b, p)
}

func (l *LineProtocolWriter) row(b *rowgroup.Batch, i int) error {
	start := len(l.buf)
	if err := l.point(b, i); err != nil {
		l.buf = l.buf[:start]
		return fmt.Errorf("row %d: %w", l.rows+1, err)
	}
	l.rows++
	if len(l.buf) >= flushAt {
		return l.flush()
	}
	return nil
}

func (l *LineProtocolWriter) point(b *rowgroup.Batch, i int) error {
	l.buf = append(l.buf, l.name...)
	if l.nameCol >= 0 {
		if err := l.tag(b, lineColumn{col: l.nameCol}, i, ", "); err != nil {
			return err
		}
	}
	for _, c := range l.tags {
		if err := l.tag(b, c, i, ",= "); err != nil {
			return err
		}
	}
	before := byte(' ')
	for _, c := range l.fields {
		value, there := l.values.value(b, c.col, i)
		if !there {
			continue
		}
		l.buf = append(append(l.buf, before), c.name...)
		if err := l.field(c.col, value); err != nil {
			return err
		}
		before = ','
	}
	if before == ' ' {
		return errors.New("it has no field, which line protocol asks for")
	}
	value, there := l.values.value(b, l.time, i)
	t := bare(l.values.schema.Column(l.time).Type)
	v, ok := rowgroup.IntOf(t, value)
	if !there || !ok {
		return errors.New("it has no time")
	}
	if v, ok = convertUnit(v, t.Unit, l.precision); !ok {
		return fmt.Errorf("time %s does not fit the precision %s", rowgroup.AppendText(nil, t, value), l.precision)
	}
	l.buf = append(l.buf, ' ')
	l.buf = strconv.AppendInt(l.buf, v, 10)
	l.buf = append(l.buf, '\n')
	return nil
}

// convertUnit counts v in another unit; exact is false if it cannot.
func convertUnit(v int64, from, to rowgroup.Unit) (w int64, exact bool) {
	for ; from < to; from++ {
		if v > math.MaxInt64/1000 || v < math.MinInt64/1000 {
			return 0, false
		}
		v *= 1000
	}
	for ; from > to; from-- {
		if v%1000 != 0 {
			return 0, false
		}
		v /= 1000
	}
	return v, true
}

// tag writes a tag with the comma before it, or without a name the measurement.
func (l *LineProtocolWriter) tag(b *rowgroup.Batch, c lineColumn, i int, special string) (err error) {
	value, there := l.values.value(b, c.col, i)
	column := l.values.schema.Column(c.col)
	l.text = l.text[:0]
	if there {
		l.text = rowgroup.AppendText(l.text, column.Type, value)
	}
	if len(l.text) == 0 {
		if c.name == nil {
			return errors.New("it has no measurement")
		}
		return nil
	}
	if c.name != nil {
		l.buf = append(append(l.buf, ','), c.name...)
	}
	if l.buf, err = appendTag(l.buf, l.text, special); err != nil {
		return fmt.Errorf("column %q: %q %w", column.Name, l.text, err)
	}
	return nil
}

// appendTag appends a name or tag, with a backslash before the bytes of special.
func appendTag(dst, text []byte, special string) ([]byte, error) {
	if len(text) == 0 || bytes.ContainsAny(text, "\r\n") || text[len(text)-1] == '\\' {
		return dst, errors.New("is empty, has a line end or ends with a backslash, which line protocol cannot hold")
	}
	if text[0] == '#' || text[0] == '\t' {
		return dst, errors.New("begins with a # or tab, which line protocol takes for something else")
	}
	for _, c := range text {
		if bytes.IndexByte([]byte(special), c) >= 0 {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return dst, nil
}

func (l *LineProtocolWriter) field(col int, value []byte) error {
	column := l.values.schema.Column(col)
	if len(value) == 0 && !isText(column.Type) {
		l.buf = append(l.buf, `""`...)
		return nil
	}
	suffix := ""
	switch bare(column.Type).Kind {
	case rowgroup.KindFloat, rowgroup.KindDouble:
		at := len(l.buf)
		l.buf = rowgroup.AppendText(l.buf, column.Type, value)
		if c := l.buf[len(l.buf)-1]; c == 'N' || c == 'f' {
			return fmt.Errorf("column %q is %s, which line protocol cannot hold", column.Name, l.buf[at:])
		}
		return nil
	case rowgroup.KindTinyint, rowgroup.KindSmallint, rowgroup.KindInt, rowgroup.KindBigint, rowgroup.KindUint8, rowgroup.KindUint16, rowgroup.KindUint32:
		suffix = "i"
	case rowgroup.KindUint64:
		suffix = "u"
	case rowgroup.KindBoolean:
	default:
		l.text = rowgroup.AppendText(l.text[:0], column.Type, value)
		l.buf = append(l.buf, '"')
		for _, c := range l.text {
			if c == '"' || c == '\\' {
				l.buf = append(l.buf, '\\')
			}
			l.buf = append(l.buf, c)
		}
		l.buf = append(l.buf, '"')
		return nil
	}
	l.buf = rowgroup.AppendText(l.buf, column.Type, value)
	l.buf = append(l.buf, suffix...)
	return nil
}
