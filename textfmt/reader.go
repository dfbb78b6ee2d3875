package textfmt

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/colsst/colsst/rowgroup"
)

// Reader reads a text as the rows of a table, in the order of the text. It is
// a rowgroup.Iter whose batches own their memory: they may be kept, each in a
// Batch of its own. It holds the sample from which types are inferred, at most
// 16 MiB beside the longest record, and no row after its batch is read; with
// jobs, a piece of text and its batches for each of them.
type Reader struct {
	name    string
	rows    records
	null    []string // texts that are null
	onError func(*SyntaxError) bool
	builder *builder
	columns columns
	pieces  *pieces // where jobs parse; else nil
	err     error   // sticky; io.EOF after the last row
}

// records yields the rows of a text as fields.
type records interface {
	// next is the next row, a field for each column of the table, valid until
	// the next call; or io.EOF.
	next() ([]Field, error)
	// skip moves behind the record for which next failed with a SyntaxError.
	skip()
}

// blockRecords are records of a CSV as it stands, some of which can be read a
// block at a time; nil if they are not.
type blockRecords interface{ scanner() *Scanner }

// splitter says how a text can be cut: cut is the length of the longest part of
// data, which begins with a record, that ends with the end of one; 0 if there
// is none. open makes records of such a part, whose first line has the given
// number.
type splitter interface {
	cut(data []byte) int
	open(part []byte, line int64) records
}

// input is a text that jobs can parse in parts.
type input struct {
	r    io.Reader
	line int64 // of its first byte
	splitter
}

// newReader makes a Reader of columns whose types are settled. in is the same
// text as that of rows, nil where it cannot be cut.
func newReader(name string, o *TableOptions, choices []Choice, rows records, in *input) (*Reader, error) {
	t, err := o.layout(choices)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r := &Reader{name: name, rows: rows, onError: o.OnError, builder: newBuilder(t, o)}
	if o.Jobs > 1 && o.OnError == nil && in != nil {
		r.pieces = newPieces(in, o.Jobs)
	}
	return r, nil
}

// Schema is the schema of the rows.
func (r *Reader) Schema() *rowgroup.Schema { return r.builder.schema }

// SourceColumns are the names of the schema's columns in the order of the text.
func (r *Reader) SourceColumns() []string { return r.builder.source() }

// Choices are the types of the text's columns and the reasons for them.
func (r *Reader) Choices() []Choice { return r.builder.choices }

// Metadata reports whether columns of the text are metadata of the rows.
func (r *Reader) Metadata() bool { return r.builder.metadata || r.builder.expires }

// Next reads up to 4,096 rows, fewer where they are long. An error, a
// *SyntaxError or *OrderError if it is one of the text, comes after all rows
// before it.
func (r *Reader) Next(b *rowgroup.Batch) (bool, error) {
	if r.err == nil {
		if r.pieces != nil {
			r.err = r.pieces.next(r, b)
		} else {
			r.err = r.read(b)
		}
		if r.builder.row > 0 {
			return true, nil
		}
	}
	if errors.Is(r.err, io.EOF) {
		return false, nil
	}
	return false, r.err
}

// Close ends the reading; what was read from stays open.
func (r *Reader) Close() error {
	if r.err == nil {
		r.err = io.EOF
	}
	if r.pieces != nil {
		r.pieces.stop()
	}
	return nil
}

// read fills batch until it is full, the input ends or fails.
func (r *Reader) read(batch *rowgroup.Batch) (err error) {
	b := r.builder
	b.begin(batch)
	blocks, _ := r.rows.(blockRecords)
	for !b.full() {
		if blocks != nil {
			if s := blocks.scanner(); s != nil && r.rowsOf(s) || b.full() {
				continue
			}
		}
		row, err := r.rows.next()
		parsed := err == nil
		if parsed {
			err = r.row(row)
		}
		if err != nil {
			b.undo()
			if r.skips(err, parsed) {
				continue
			}
			b.end()
			return err
		}
	}
	b.end()
	return nil
}

// skips asks whether to go on behind a bad row.
func (r *Reader) skips(err error, parsed bool) bool {
	var syntax *SyntaxError
	if r.onError == nil || !errors.As(err, &syntax) || !r.onError(syntax) {
		return false
	}
	if !parsed {
		r.rows.skip()
	}
	return true
}

// row puts the fields of a row into the batch.
func (r *Reader) row(row []Field) error {
	b := r.builder
	b.beginRow()
	for i := range row {
		f, col := &row[i], &b.columns[i]
		var p *problem
		if f.Null || isMark(r.null, f.Text) && !(f.Quoted && col.text) {
			p = b.null(col)
		} else {
			p = b.value(col, f.Text)
		}
		if p != nil {
			return &SyntaxError{File: r.name, Line: f.Line, Column: f.Column, Field: col.name,
				Value: quote(f.Text), Expected: p.expected, Hint: p.hint}
		}
		if b.inexact {
			b.inexact = false
			b.tallies.round(i, len(row), f)
		}
	}
	if b.hasExpiry && !b.hasTTL {
		return r.expiryAlone(row)
	}
	return b.endRow(r.name, row[0].Line)
}

// expiryAlone is the error of a row with an expiry but no TTL.
func (r *Reader) expiryAlone(row []Field) error {
	i := slices.IndexFunc(r.builder.columns, func(c column) bool { return c.to == toExpiry })
	f := &row[i]
	return &SyntaxError{File: r.name, Line: f.Line, Column: f.Column, Field: r.builder.columns[i].name,
		Value: quote(f.Text), Expected: "no expiry in a row without a TTL"}
}

// isMark reports whether text is one of the marks of null.
func isMark(marks []string, text []byte) bool {
	for _, mark := range marks {
		if string(text) == mark {
			return true
		}
	}
	return false
}
