package textfmt

import (
	"errors"
	"io"
	"unicode/utf8"

	"github.com/colsst/colsst/rowgroup"
)

// NDJSONWriteOptions say how to write NDJSON.
type NDJSONWriteOptions struct {
	Columns  []string // names of the columns to write, in order; nil: all, in the schema's order
	OmitNull bool     // leave null out, rather than write it
	// RowMetadata adds the members $write_time (µs), $ttl (s) and $expiry (s)
	// of the rows' liveness, as integers.
	RowMetadata bool
}

// NDJSONWriter writes the rows of batches as JSON objects, a row a line.
// Numbers have all their digits; NaN and the infinities are the strings "NaN",
// "+Inf" and "-Inf"; bytes that are not UTF-8 are \udc80 to \udcff; values that
// are no numbers, booleans or texts are strings as rowgroup.AppendText writes
// them. NewNDJSONReader reads all of them back. It buffers; Flush ends the text.
type NDJSONWriter struct {
	w       io.Writer
	options NDJSONWriteOptions
	columns []int
	names   [][]byte // of columns, as JSON
	values  rowValues
	buf     []byte
	text    []byte
	rows    int64
	nans    int64
	err     error
}

// NewNDJSONWriter makes a writer for batches of schema s.
func NewNDJSONWriter(w io.Writer, s *rowgroup.Schema, o NDJSONWriteOptions) (*NDJSONWriter, error) {
	columns, err := columnsOf(s, o.Columns)
	if err != nil {
		return nil, err
	}
	if len(columns) == 0 && !o.RowMetadata {
		return nil, errors.New("no columns to write")
	}
	n := &NDJSONWriter{w: w, options: o, columns: columns, values: newRowValues(s)}
	for _, c := range columns {
		n.names = append(n.names, append(appendJSONText(nil, []byte(s.Column(c).Name)), ':'))
	}
	return n, nil
}

// Rows is the number of rows written.
func (n *NDJSONWriter) Rows() int64 { return n.rows }

// NaNPayloads counts the NaNs written as NaN though their bits are others.
func (n *NDJSONWriter) NaNPayloads() int64 { return n.nans }

// Write writes the rows of b as CSVWriter.Write does.
func (n *NDJSONWriter) Write(b *rowgroup.Batch) error {
	if n.err == nil {
		n.err = writeRows(n, b)
	}
	return n.err
}

// Flush writes what is buffered.
func (n *NDJSONWriter) Flush() error {
	if n.err == nil {
		n.err = n.flush()
	}
	return n.err
}

func (n *NDJSONWriter) flush() error {
	_, err := n.w.Write(n.buf)
	n.buf = n.buf[:0]
	return err
}

func (n *NDJSONWriter) partition(b *rowgroup.Batch, p int) error { return n.values.partition(b, p) }

func (n *NDJSONWriter) row(b *rowgroup.Batch, i int) error {
	n.buf = append(n.buf, '{')
	for k, col := range n.columns {
		value, there := n.values.value(b, col, i)
		if !there && n.options.OmitNull {
			continue
		}
		n.comma()
		n.buf = append(n.buf, n.names[k]...)
		if !there {
			n.buf = append(n.buf, "null"...)
			continue
		}
		n.value(n.values.schema.Column(col).Type, value)
	}
	if n.options.RowMetadata {
		n.metadata(b.Meta(), i)
	}
	n.buf = append(n.buf, "}\n"...)
	n.rows++
	if len(n.buf) >= flushAt {
		return n.flush()
	}
	return nil
}

// comma begins a member.
func (n *NDJSONWriter) comma() {
	if n.buf[len(n.buf)-1] != '{' {
		n.buf = append(n.buf, ',')
	}
}

func (n *NDJSONWriter) value(t rowgroup.Type, value []byte) {
	if isText(t) {
		n.buf = appendJSONText(n.buf, value)
		return
	}
	if payload(t, value) {
		n.nans++
	}
	n.text = rowgroup.AppendText(n.text[:0], t, value)
	if isJSONNumber(n.text) && isNumber(t) || bare(t).Kind == rowgroup.KindBoolean && len(value) == 1 {
		n.buf = append(n.buf, n.text...)
	} else {
		n.buf = appendJSONText(n.buf, n.text)
	}
}

// isNumber reports whether values of t are numbers in JSON.
func isNumber(t rowgroup.Type) bool {
	switch bare(t).Kind {
	case rowgroup.KindTinyint, rowgroup.KindSmallint, rowgroup.KindInt, rowgroup.KindBigint,
		rowgroup.KindUint8, rowgroup.KindUint16, rowgroup.KindUint32, rowgroup.KindUint64,
		rowgroup.KindFloat, rowgroup.KindDouble, rowgroup.KindVarint, rowgroup.KindDecimal, rowgroup.KindNumeric, rowgroup.KindCounter:
		return true
	}
	return false
}

func (n *NDJSONWriter) metadata(m *rowgroup.RowMeta, i int) {
	values, there := rowMetadata(m, i)
	for k, name := range metadataNames {
		if !there[k] && n.options.OmitNull {
			continue
		}
		n.comma()
		n.buf = appendJSONText(n.buf, []byte(name))
		n.buf = append(n.buf, ':')
		n.buf = appendMetadata(n.buf, values[k], there[k], "null")
	}
}

// appendJSONText appends a JSON string for text, each byte of it that is not
// UTF-8 as a surrogate \udc80 to \udcff.
func appendJSONText(dst, text []byte) []byte {
	dst = append(dst, '"')
	for len(text) > 0 {
		n := validPrefix(text)
		dst = appendEscaped(dst, text[:n])
		if text = text[n:]; len(text) > 0 {
			dst = append(dst, '\\', 'u', 'd', 'c', hexDigits[text[0]>>4], hexDigits[text[0]&15])
			text = text[1:]
		}
	}
	return append(dst, '"')
}

// validPrefix is the length of the UTF-8 that text begins with.
func validPrefix(text []byte) int {
	if utf8.Valid(text) {
		return len(text)
	}
	for n := 0; ; {
		r, size := utf8.DecodeRune(text[n:])
		if r == utf8.RuneError && size == 1 {
			return n
		}
		n += size
	}
}
