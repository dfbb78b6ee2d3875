package columnar

import (
	"context"

	"github.com/colsst/colsst/rowgroup"
)

// Query reads partitions by their keys, one after another, and keeps its
// memory: on a warm Reader a read allocates nothing. It is the Iter of what
// Range or Latest asked for last, which ends what was asked for before; after
// an error, of theirs or of Next, Next returns it until something else is asked
// for. Until Close it holds what an iterator does. It is not safe for concurrent
// use.
type Query struct {
	r      *Reader
	s      *scratch
	part   partition
	rows   partIter
	other  rowgroup.Iter // in the place of rows, or nil
	closed bool
}

var _ rowgroup.Iter = (*Query)(nil)

// NewQuery makes a Query on r.
func (r *Reader) NewQuery() *Query { return &Query{r: r} }

// Range asks for the unfiltereds of a partition as rowgroup.Partition's Range
// does. It fails with rowgroup.ErrNotFound if there is no such partition. The
// prefixes of the bounds must not change before the last Next.
func (q *Query) Range(ctx context.Context, key []byte, from, to rowgroup.Bound, o rowgroup.ScanOptions) error {
	err := q.find(ctx, key)
	if err == nil {
		err = q.part.checkRange(from, to, &o)
	}
	if err != nil {
		return q.fail(err)
	}
	q.begin(ctx, o)
	q.rows.setRange(from, to)
	return nil
}

// Latest asks for the n rows of a partition of greatest clustering as
// rowgroup.Partition's Latest does. It fails with rowgroup.ErrNotFound if there
// is no such partition. Clustering columns of opposite orders allocate memory.
func (q *Query) Latest(ctx context.Context, key []byte, n int, o rowgroup.ScanOptions) error {
	if err := q.find(ctx, key); err != nil {
		return q.fail(err)
	}
	desc, simple, err := q.part.latestOrder(&o)
	if err != nil {
		return q.fail(err)
	}
	if !simple {
		q.other = q.part.Latest(ctx, n, o)
		return nil
	}
	o.Desc = desc
	q.begin(ctx, o)
	q.rows.limit = max(0, n)
	return nil
}

// fail makes Next fail as the question did.
func (q *Query) fail(err error) error {
	q.rows.err = err
	return err
}

// find ends what was asked for before and finds a partition.
func (q *Query) find(ctx context.Context, key []byte) (err error) {
	q.rows.s = nil
	if err := q.end(); err != nil {
		return err
	}
	if q.closed {
		return ErrClosed
	}
	if q.s == nil {
		if q.s, err = q.r.scratch(ctx); err != nil {
			return err
		}
	}
	q.s.win.ctx = ctx
	q.s.win.drop()
	return q.r.find(ctx, key, q.s, &q.part)
}

func (q *Query) begin(ctx context.Context, o rowgroup.ScanOptions) {
	q.rows.begin(ctx, &q.part, o, q.s)
	q.rows.lent, q.rows.opened = true, q.part.leaf == nil
}

// Next fills b with the next rows of what was asked for.
func (q *Query) Next(b *rowgroup.Batch) (bool, error) {
	if q.other != nil {
		return q.other.Next(b)
	}
	return q.rows.Next(b)
}

func (q *Query) end() error {
	other := q.other
	if q.other = nil; other != nil {
		return other.Close()
	}
	return nil
}

// Close frees what the Query holds; a second call does nothing.
func (q *Query) Close() error {
	err := q.end()
	if q.rows.s = nil; q.s != nil {
		q.r.release(q.s)
	}
	q.s, q.closed = nil, true
	return err
}
