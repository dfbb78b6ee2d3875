package columnar

import (
	"context"
	"slices"

	"github.com/colsst/colsst/internal/rawfile"
	"github.com/colsst/colsst/rowgroup"
)

var _ rowgroup.Aggregating = (*partition)(nil)

// Aggregate adds up all rows of the file. Counts, least and greatest values
// come from the footer's statistics, without a read, unless the live view has
// something to hide; sums, and what the statistics do not say, from a scan of
// the columns in question.
func (r *Reader) Aggregate(ctx context.Context, o rowgroup.AggregateOptions) (rowgroup.Aggregates, error) {
	agg, err := rowgroup.NewAggregator(r.foot.schema, o.Columns, o.Sums)
	if err != nil {
		return rowgroup.Aggregates{}, err
	}
	if err := r.check(ctx); err != nil {
		return rowgroup.Aggregates{}, err
	}
	if !o.Live || settled(r.foot.schema, r.foot.stats, o.Now) {
		if agg.AddStats(r.foot.stats) {
			return agg.Result(), nil
		}
		o.Live = false // all is alive
	}
	err = agg.AddAll(r.Scan(ctx, o.Scan(r.foot.schema)), r.foot.schema)
	return agg.Result(), err
}

// settled reports whether all that st counts is alive at second now, unless
// something outside deletes it: nothing is deleted, nothing has expired, and
// every row is one by its cells, however its liveness may be.
func settled(s *rowgroup.Schema, st *rowgroup.Stats, now int64) bool {
	if st.Markers+st.PartitionDeletions+st.RowDeletions+st.Tombstones > 0 || st.Expiries.Set && st.Expiries.Min <= now {
		return false
	}
	if st.Rows == 0 {
		return true
	}
	from, to := s.Range(rowgroup.Regular)
	for col := from; col < to; col++ {
		if st.Column(col).Nulls == 0 {
			return true
		}
	}
	return false
}

// Aggregate adds up the rows of the partition between two bounds: whole
// segments from their statistics where these tell, the rest decoded, the
// columns in question only. Where both bounds are open and the segments tell
// all, nothing else is read, the partition's time index neither.
func (p *partition) Aggregate(ctx context.Context, from, to rowgroup.Bound, o rowgroup.AggregateOptions) (rowgroup.Aggregates, error) {
	s := p.r.foot.schema
	agg, err := rowgroup.NewAggregator(s, o.Columns, o.Sums)
	if err != nil {
		return rowgroup.Aggregates{}, err
	}
	if p.leaf != nil && len(from.Prefix)+len(to.Prefix)+len(o.Sums) == 0 {
		known, err := p.known(ctx, o)
		if err != nil {
			return rowgroup.Aggregates{}, err
		}
		if known != nil {
			return known.Result(), nil
		}
	}
	rows := p.Range(ctx, from, to, o.Scan(s))
	if it, ok := rows.(*partIter); ok && it.err == nil && p.leaf != nil && len(o.Sums) == 0 {
		it.known = &knownSegments{p: p, agg: agg, live: o.Live, now: o.Now, segs: segmentFinder{r: p.r}}
	}
	err = agg.AddAll(rows, s)
	return agg.Result(), err
}

// known adds up the segments of the whole partition by their statistics. It is
// nil where they do not tell all of it, or tell of more.
func (p *partition) known(ctx context.Context, o rowgroup.AggregateOptions) (_ *rowgroup.Aggregator, err error) {
	r := p.r
	if !r.enter() {
		return nil, r.check(ctx)
	}
	defer func() { _ = r.leave() }() // the error of closing what was only read
	if r.file.mapped {
		defer rawfile.Catch(rawfile.Guard(), &err)
	}
	if o.Live && !p.head.Deletion.Live() {
		return nil, nil
	}
	agg, err := rowgroup.NewAggregator(r.foot.schema, o.Columns, nil)
	if err != nil {
		return nil, err
	}
	segs := segmentFinder{r: r}
	blocks, rows := int64(0), int64(0)
	all, err := segs.ofPartition(ctx, p, true, func(seg *segment) bool {
		blocks += int64(seg.blocks)
		rows += seg.stats.Rows + seg.stats.Markers
		return seg.first >= p.first.off && blocks <= p.entry().blocks && !(o.Live && !settled(r.foot.schema, seg.stats, o.Now)) && agg.AddStats(seg.stats)
	})
	if !all || blocks != p.entry().blocks || rows != p.entry().rows {
		return nil, err
	}
	return agg, nil
}

// knownSegments adds up the segments of a partition by their statistics.
type knownSegments struct {
	p    *partition
	agg  *rowgroup.Aggregator
	live bool
	now  int64
	segs segmentFinder
}

// take adds up the segment that begins at entry i of the time index's leaf at
// c, if its statistics tell all and it lies in the range as a whole, and moves
// c to its last entry. before and behind say that an entry reaches out of the
// range.
func (k *knownSegments) take(c *cursor, before, behind func(page *page, i int) bool) (bool, error) {
	page, i := c.leaf()
	seg, err := k.segs.find(c.win.ctx, page.refs[i].off)
	if err != nil || seg == nil || seg.first != page.refs[i].off || before(page, i) {
		return false, err
	}
	s := k.p.r.foot.schema
	if k.live && !(k.p.head.Deletion.Live() && deletionOf(page.opens, i).Live() && settled(s, seg.stats, k.now)) {
		return false, nil
	}
	last := cursor{r: c.r, win: c.win, index: c.index, path: slices.Clone(c.path)}
	rows := page.rows[i]
	for n := 1; n < seg.blocks; n++ {
		ok, err := last.step(1)
		if err != nil || !ok { // it goes on in another partition
			return false, err
		}
		page, i = last.leaf()
		rows += page.rows[i]
	}
	if behind(page, i) || rows != seg.stats.Rows+seg.stats.Markers {
		return false, nil
	}
	if !k.agg.AddStats(seg.stats) {
		return false, nil
	}
	c.path = last.path
	return true, nil
}
