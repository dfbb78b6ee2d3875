package cassandra

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// forward reads in the order of the file: everything, or of one partition.
type forward struct {
	loader
	ctx  context.Context
	o    rowgroup.ScanOptions
	open func() (*Scanner, error) // begins the reading
	live rowgroup.LiveFilter
	err  error // sticky; io.EOF at the end

	// Of one partition.
	from, to rowgroup.Bound
	limit    int               // rows that may still come, or -1
	opened   rowgroup.Deletion // that is open where the reading begins
	headed   bool              // its head has been given
	stash    *rowgroup.Batch   // its head, if no row was wanted in the batch that had it
}

// Next is that of rowgroup.Iter.
func (it *forward) Next(b *rowgroup.Batch) (bool, error) {
	if it.err == nil {
		it.err = it.next(b)
	}
	switch {
	case it.err == nil:
		return true, nil
	case errors.Is(it.err, io.EOF):
		return false, nil
	}
	return false, it.err
}

func (it *forward) next(b *rowgroup.Batch) error {
	if it.r == nil {
		r, err := it.open()
		if err != nil {
			return err
		}
		it.start(r, it.opened)
		it.live.Reset(it.o.Now, false)
		if !it.opened.Live() && it.o.Live {
			it.live.SetOpen(it.opened)
		}
	}
	for {
		if err := it.ctx.Err(); err != nil {
			return err
		}
		some, err := it.loader.next(it.ctx, b)
		if err != nil {
			return err
		}
		if !some || it.limit == 0 {
			return io.EOF
		}
		if it.o.Live {
			it.live.Apply(b)
		}
		if b.NumPartitions() == 0 {
			continue
		}
		if it.single {
			if give, err := it.cut(b); !give || err != nil {
				if err != nil {
					return err
				}
				continue
			}
		}
		b.Strip(&it.o)
		return nil
	}
}

// cut leaves of b, which holds rows of the partition, those that are wanted.
func (it *forward) cut(b *rowgroup.Batch) (give bool, err error) {
	s, n := it.source.schema, b.Len()
	lo := s.SearchBound(b, 0, n, it.from, true)
	hi := s.SearchBound(b, lo, n, it.to, false)
	if hi < n {
		it.done = true
	}
	if it.limit >= 0 {
		hi = lo + limited(b, lo, hi, &it.limit, false)
	}
	if hi <= lo && (n > 0 || it.limit >= 0 || len(it.from.Prefix)+len(it.to.Prefix) > 0) {
		if !b.Partition(0).Continued {
			it.stash = b.Clone()
			it.stash.Cut(0, 0, 0)
		}
		return false, nil
	}
	b.Cut(0, lo, hi)
	if !it.headed && it.stash != nil {
		if err := it.stash.AppendParts(b, 0, b.Len(), 0, 0); err != nil {
			return false, err
		}
		b.Clear()
		if err := b.AppendParts(it.stash, 0, it.stash.Len(), 0, 1); err != nil {
			return false, err
		}
	}
	it.headed = true
	return true, nil
}

// limited is how many of the unfiltereds [lo, hi) hold at most *limit rows,
// from the first on or, backwards, from the last; it counts them.
func limited(b *rowgroup.Batch, lo, hi int, limit *int, back bool) int {
	n := 0
	for ; n < hi-lo && *limit > 0; n++ {
		at := lo + n
		if back {
			at = hi - 1 - n
		}
		if b.MarkerAt(at) == nil {
			*limit--
		}
	}
	return n
}

// Close is that of rowgroup.Iter.
func (it *forward) Close() error {
	if it.err == nil {
		it.err = io.EOF
	}
	if it.r == nil {
		return nil
	}
	return it.r.Close()
}

// piece is a stretch of the body that is read at a time, backwards.
type piece struct {
	position int64       // of its first event
	end      int64       // of the event behind it; -1: it ends with the partition
	within   *IndexEntry // the partition that it begins within; nil: it begins with a partition
	open     rowgroup.Deletion
}

// backward reads pieces, the last one first.
type backward struct {
	loader
	ctx    context.Context
	o      rowgroup.ScanOptions
	survey func() (*Scanner, error) // finds the pieces first; nil: they are known
	pieces []piece
	live   rowgroup.LiveFilter
	err    error

	from, to rowgroup.Bound
	bounded  bool
	limit    int

	given   int64 // position of the partition that an earlier batch has given in part, or -1
	lastKey []byte
}

func (s *Source) backward(ctx context.Context, o rowgroup.ScanOptions) *backward {
	it := &backward{loader: s.loader(&o), ctx: ctx, o: o, limit: -1, given: -1}
	it.whole = true
	return it
}

// Next is that of rowgroup.Iter.
func (it *backward) Next(b *rowgroup.Batch) (bool, error) {
	if it.err == nil {
		it.err = it.next(b)
	}
	switch {
	case it.err == nil:
		return true, nil
	case errors.Is(it.err, io.EOF):
		return false, nil
	}
	return false, it.err
}

func (it *backward) next(b *rowgroup.Batch) error {
	if it.survey != nil {
		if err := it.find(); err != nil {
			return err
		}
		it.survey = nil
	}
	for len(it.pieces) > 0 && it.limit != 0 {
		if err := it.ctx.Err(); err != nil {
			return err
		}
		p := it.pieces[len(it.pieces)-1]
		it.pieces = it.pieces[:len(it.pieces)-1]
		give, err := it.read(b, p)
		if err != nil {
			return err
		}
		if give {
			return nil
		}
	}
	return io.EOF
}

// read fills b with what is wanted of a piece.
func (it *backward) read(b *rowgroup.Batch, p piece) (give bool, err error) {
	r, err := it.source.sst.ScanFrom(p.position, false)
	if err != nil {
		return false, err
	}
	if p.within != nil {
		r.within(p.within, !p.open.Live())
	}
	it.start(r, p.open)
	it.head, it.end, it.single, it.noStatics = p.within, p.end, p.end < 0, it.given
	some, err := it.loader.next(it.ctx, b)
	if err = errors.Join(err, r.Close()); err != nil || !some {
		return false, err
	}
	if it.o.Live {
		it.live.Reset(it.o.Now, false)
		if p.within != nil {
			it.live.SetOpen(p.open)
		}
		it.live.Apply(b)
	}
	if n := b.Len(); it.bounded && b.NumPartitions() > 0 {
		lo := it.source.schema.SearchBound(b, 0, n, it.from, true)
		hi := it.source.schema.SearchBound(b, lo, n, it.to, false)
		if it.limit >= 0 {
			lo = hi - limited(b, lo, hi, &it.limit, true)
		}
		if lo >= hi {
			return false, nil
		}
		b.Cut(0, lo, hi)
	}
	if b.NumPartitions() == 0 {
		return false, nil
	}
	last := b.NumPartitions() - 1
	if it.given >= 0 && bytes.Equal(b.Key(last), it.lastKey) {
		b.Partition(last).Continued = true
	}
	switch {
	case p.within == nil:
		it.given = -1
	case bytes.Equal(b.Key(0), p.within.Key):
		it.given = p.within.Position
		it.lastKey = p.within.Key
	}
	b.Strip(&it.o)
	b.Reverse()
	return true, nil
}

// find surveys the body.
func (it *backward) find() (err error) {
	r, err := it.survey()
	if err != nil {
		return err
	}
	it.pieces, err = survey(it.ctx, r, it.single, it.source.limits.piece)
	return errors.Join(err, r.Close())
}

// survey cuts what r reads, a body or one partition, into pieces of at least so
// many bytes.
func survey(ctx context.Context, r *Scanner, single bool, least int64) (pieces []piece, err error) {
	open := rowgroup.LiveDeletion
	var within *IndexEntry
	for n := 0; ; n++ {
		if n%ctxEvery == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		e, err := r.Next()
		if errors.Is(err, io.EOF) || err == nil && e == PartitionEnd && single {
			break
		}
		if err != nil {
			return nil, err
		}
		at, last := r.Position(), len(pieces)-1
		due := last < 0 || at-pieces[last].position >= least
		switch {
		case e == PartitionBegin:
			open, within = rowgroup.LiveDeletion, nil
		case e == StaticRow || e == PartitionEnd || last < 0:
			due = false
		case due && within == nil:
			p := r.Partition()
			within = &IndexEntry{Key: bytes.Clone(p.Key), Position: p.Position, Deletion: p.Deletion}
		}
		if due {
			if last >= 0 {
				pieces[last].end = at
			}
			pieces = append(pieces, piece{position: at, end: -1, within: within, open: open})
		}
		if e == RangeMarker {
			open = rowgroup.LiveDeletion
			if m := r.Marker(); m.Kind.Opens() {
				open = m.Open
			}
		}
	}
	if !single && len(pieces) > 0 { // up to the end of the body
		pieces[len(pieces)-1].end = math.MaxInt64
	}
	return pieces, nil
}

// Close is that of rowgroup.Iter. Between calls of Next nothing is open.
func (it *backward) Close() error {
	if it.err == nil {
		it.err = io.EOF
	}
	return nil
}

// partition is one partition of a Source.
type partition struct {
	source *Source
	entry  *IndexEntry
}

// Key is that of rowgroup.Partition.
func (p *partition) Key() []byte { return bytes.Clone(p.entry.Key) }

// Range is that of rowgroup.Partition.
func (p *partition) Range(ctx context.Context, from, to rowgroup.Bound, o rowgroup.ScanOptions) rowgroup.Iter {
	err := p.source.checkColumns(&o)
	if err == nil && len(from.Prefix)+len(to.Prefix) > 0 {
		err = errors.Join(p.source.schema.Seekable(), p.source.schema.CheckBound(from), p.source.schema.CheckBound(to))
	}
	if err != nil {
		return &failed{err}
	}
	return p.read(ctx, from, to, -1, o)
}

// Latest is that of rowgroup.Partition. Where one clustering column ascends and
// another descends it reads the rows of equal leading values one by one; of range
// tombstone markers it then yields those that stand among them.
func (p *partition) Latest(ctx context.Context, n int, o rowgroup.ScanOptions) rowgroup.Iter {
	if err := p.source.checkColumns(&o); err != nil {
		return &failed{err}
	}
	columns := p.source.schema.Columns(rowgroup.Clustering)
	o.Desc = true
	mixed := false
	for _, c := range columns {
		if !c.Type.Ordered() {
			return &failed{fmt.Errorf("latest: column %s: %w: the order of %s is unknown", quote(c.Name), encoding.ErrUnsupported, c.Type)}
		}
		mixed = mixed || c.Desc != columns[0].Desc
		o.Desc = !c.Desc
	}
	if mixed {
		return newLatest(ctx, p, max(n, 0), o)
	}
	return p.read(ctx, rowgroup.Bound{}, rowgroup.Bound{}, max(n, 0), o)
}

func (p *partition) read(ctx context.Context, from, to rowgroup.Bound, limit int, o rowgroup.ScanOptions) rowgroup.Iter {
	s, e := p.source, p.entry
	whole := func() (*Scanner, error) { return s.sst.ScanFrom(e.Position, len(e.Blocks) > 0) }
	if o.Desc {
		it := s.backward(ctx, o)
		it.from, it.to, it.limit = from, to, limit
		it.bounded = limit >= 0 || len(from.Prefix)+len(to.Prefix) > 0
		it.single = true
		if len(e.Blocks) == 0 {
			it.survey = whole
			return it
		}
		it.pieces = p.blocks()
		return it
	}
	it := &forward{loader: s.loader(&o), ctx: ctx, o: o, open: whole, from: from, to: to, limit: limit, opened: rowgroup.LiveDeletion}
	it.single = true
	if len(e.Blocks) == 0 || len(from.Prefix) == 0 {
		return it
	}
	it.open = func() (*Scanner, error) {
		// The bounds of a partition stand before all that they include.
		block, err := s.sst.SeekBlock(e, Prefix{Kind: rowgroup.InclStart, Values: from.Prefix})
		if err != nil {
			return nil, err
		}
		if block == 0 {
			return whole()
		}
		it.head, it.opened = e, e.OpenAt(block)
		return s.sst.ScanBlock(e, block, true)
	}
	return it
}

// blocks are the blocks of the partition's index as pieces.
func (p *partition) blocks() []piece {
	e := p.entry
	pieces := make([]piece, len(e.Blocks))
	for i := range pieces {
		pieces[i] = piece{position: e.Position + e.Blocks[i].Offset, end: -1, within: e, open: e.OpenAt(i)}
		if i > 0 {
			pieces[i-1].end = pieces[i].position
		}
	}
	pieces[0].position, pieces[0].within = e.Position, nil
	return pieces
}
