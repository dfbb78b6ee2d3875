package cassandra

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/colsst/colsst/rowgroup"
)

// Source is an SSTable as rows by columns, with all their metadata, in the
// order of the file, which it checks. What rows cannot hold (a column of a type that is not
// supported, a clustering value that is none of its type, a tombstone with a
// value) is an encoding.ErrUnsupported that names it. It is safe for concurrent
// use until the SSTable is closed.
type Source struct {
	sst    *SSTable
	schema *rowgroup.Schema
	limits limits
	asRead *asRead // nil: rows as they are stored
}

var _ rowgroup.Source = (*Source)(nil)

// limits are those of what is read at a time.
type limits struct {
	rows, partitions int   // of a batch, which ends with the row that reaches one
	bytes            int64 // of the body in a batch
	piece            int64 // least bytes of the body that are read at a time backwards
}

var usualLimits = limits{rows: 2048, partitions: 2048, bytes: 512 << 10, piece: 256 << 10}

// NewSource makes a Source of s with the names of t; see SSTable.Schema.
func NewSource(s *SSTable, t *Table) (*Source, error) {
	schema, err := s.Schema(t)
	if err != nil {
		return nil, err
	}
	return &Source{sst: s, schema: schema, limits: usualLimits}, nil
}

// SSTable is the SSTable that is read.
func (s *Source) SSTable() *SSTable { return s.sst }

// Schema is the table's schema: the columns of the header in its order.
func (s *Source) Schema() *rowgroup.Schema { return s.schema }

// Scan reads everything. Backwards it reads the body twice. By Concurrency so
// many goroutines, one at least, decompress and check chunks ahead; rows are
// decoded by the caller's.
func (s *Source) Scan(ctx context.Context, o rowgroup.ScanOptions) rowgroup.Iter {
	if err := s.checkColumns(&o); err != nil {
		return &failed{err}
	}
	if o.Desc {
		it := s.backward(ctx, o)
		it.survey = func() (*Scanner, error) { return s.sst.Scan() }
		return it
	}
	return &forward{ctx: ctx, o: o, loader: s.loader(&o), limit: -1, opened: rowgroup.LiveDeletion, open: func() (*Scanner, error) {
		return s.sst.scan(s.sst.Header, 0, max(o.Concurrency, 1))
	}}
}

// Partition finds a partition through the index of the SSTable, or by reading
// all where there is none.
func (s *Source) Partition(ctx context.Context, key []byte) (rowgroup.Partition, error) {
	e, err := s.sst.Find(key)
	if errors.Is(err, fs.ErrNotExist) {
		e, err = s.scanFor(ctx, key)
	}
	if err != nil {
		return nil, err
	}
	return &partition{s, e}, nil
}

// scanFor reads the body until it comes to the partition.
func (s *Source) scanFor(ctx context.Context, key []byte) (e *IndexEntry, err error) {
	r, err := s.sst.Scan()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for n := 0; ; n++ {
		if n%ctxEvery == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		switch event, err := r.Next(); {
		case errors.Is(err, io.EOF):
			return nil, rowgroup.ErrNotFound
		case err != nil:
			return nil, err
		case event == PartitionBegin && bytes.Equal(r.Partition().Key, key):
			p := r.Partition()
			return &IndexEntry{Key: bytes.Clone(key), Position: p.Position, Deletion: p.Deletion}, nil
		}
	}
}

func (s *Source) checkColumns(o *rowgroup.ScanOptions) error {
	from, _ := s.schema.Range(rowgroup.Static)
	for _, c := range o.Columns {
		if c < from || c >= s.schema.NumColumns() {
			return fmt.Errorf("column number %d is no static or regular column", c)
		}
	}
	return nil
}

// failed is an iterator that has failed before it began.
type failed struct{ err error }

func (f *failed) Next(*rowgroup.Batch) (bool, error) { return false, f.err }
func (f *failed) Close() error                       { return nil }
