package columnar

import (
	"context"

	"github.com/colsst/colsst/internal/rawfile"
	"github.com/colsst/colsst/rowgroup"
)

// segmentFilter finds by statistics which segments hold no row that is wanted.
type segmentFilter struct {
	within []rowgroup.ValueRange
	live   bool
	segs   segmentFinder
	last   int64 // the first block of the segment asked for last
	out    bool  // what came of it
}

func newSegmentFilter(r *Reader, o *rowgroup.ScanOptions) *segmentFilter {
	return &segmentFilter{within: o.Within, live: o.Live, segs: segmentFinder{r: r}, last: -1}
}

// excludes reports whether the block at off can be left out. In the raw view
// that is only where it has no markers. Deletions that are open behind it are
// known to the index.
func (f *segmentFilter) excludes(ctx context.Context, off int64) (bool, error) {
	seg, err := f.segs.find(ctx, off)
	if err != nil || seg == nil {
		return false, err
	}
	return f.judge(seg), nil
}

// judge reports whether a segment can be left out.
func (f *segmentFilter) judge(seg *segment) bool {
	if seg.first != f.last {
		f.last, f.out = seg.first, (f.live || seg.stats.Markers == 0) && seg.stats.Excludes(f.within)
	}
	return f.out
}

// excludesAll reports whether all segments that have blocks of p, a partition of
// more than one block, can be left out, and with them its time index.
func (f *segmentFilter) excludesAll(ctx context.Context, p *partition) (bool, error) {
	// Further pages could be read in vain, and this one again.
	return f.segs.ofPartition(ctx, p, false, f.judge)
}

// indexIter reads the partitions by the index, forward, without the segments
// that have no row that is wanted.
type indexIter struct {
	r      *Reader
	ctx    context.Context
	o      rowgroup.ScanOptions
	decode rowgroup.ScanOptions
	cur    cursor
	s      *scratch // nil at the end
	skip   *segmentFilter
	live   rowgroup.LiveFilter
	own    *partIter // a partition that is read by itself
	steps  steps     // of the open block, of whole partitions
	at     int64     // where it is
	key    []byte    // of its last partition so far
	begun  bool
	err    error
}

func newIndexIter(ctx context.Context, r *Reader, o rowgroup.ScanOptions, s *scratch) *indexIter {
	it := &indexIter{r: r, ctx: ctx, o: o, decode: decodeOptions(o), s: s, skip: newSegmentFilter(r, &o)}
	it.cur = cursor{r: r, win: &window{f: &r.file, ctx: ctx}, index: indexPartition}
	it.live.Reset(o.Now, false)
	return it
}

func (it *indexIter) Next(b *rowgroup.Batch) (ok bool, err error) {
	if it.s != nil && it.r.file.mapped {
		defer rawfile.Catch(rawfile.Guard(), &err, &it.err)
	}
	for it.s != nil && it.err == nil {
		var ok bool
		switch {
		case it.own != nil:
			if ok, it.err = it.own.Next(b); !ok {
				it.own = nil
			}
		case it.steps.at < it.steps.groups:
			if ok, it.err = it.step(b); it.err != nil {
				it.err = it.r.file.at(it.err, "block", it.at)
			}
		default:
			more := false
			if more, it.err = it.entry(); it.err == nil && !more {
				_ = it.Close()
			}
		}
		if ok && it.err == nil {
			return true, nil
		}
	}
	b.Reset()
	return false, it.err
}

// entry goes to the next entry of the index that may hold rows that are
// wanted, and opens it.
func (it *indexIter) entry() (ok bool, err error) {
	if err := it.r.check(it.ctx); err != nil {
		return false, err
	}
	if it.begun {
		ok, err = it.cur.step(1)
	} else {
		it.begun = true
		if err = it.r.checkHeader(it.ctx); err != nil || it.r.foot.root.len == 0 || it.r.foot.stats.Excludes(it.o.Within) && it.o.Live {
			return false, err
		}
		ok, err = it.cur.seek(it.r.root(), firstEntry)
	}
	for err == nil && ok {
		p, i := it.cur.leaf()
		if k := p.ownOf(i); k >= 0 {
			q := new(partition)
			q.setOwn(it.r, p, i, k)
			var out bool
			if out, err = it.skip.excludesAll(it.ctx, q); err != nil {
				break
			}
			if out {
				ok, err = it.cur.step(1)
				continue
			}
			it.own = new(partIter)
			it.own.begin(it.ctx, q, it.o, it.s)
			it.own.lent, it.own.skip = true, it.skip
			return true, nil
		}
		var out bool
		if out, err = it.skip.excludes(it.ctx, p.refs[i].off); err != nil {
			break
		}
		if !out {
			return true, it.open(p, i)
		}
		ok, err = it.cur.step(1)
	}
	return false, err
}

// open opens the block of entry i, of whole partitions.
func (it *indexIter) open(p *page, i int) error {
	it.at = p.refs[i].off
	_, blk, err := it.s.openAt(it.r, p.refs[i])
	if err == nil {
		err = checkShared(&blk, p, i)
	}
	if err != nil {
		return it.r.file.at(err, "block", it.at)
	}
	it.steps = steps{0, blk.groups}
	return nil
}

// step reads the next groups of the open block.
func (it *indexIter) step(b *rowgroup.Batch) (bool, error) {
	if err := it.steps.next(b, it.s, it.key, &it.decode); err != nil {
		return false, err
	}
	it.key = lastKey(it.key, b)
	if it.o.Live {
		it.live.Apply(b)
		b.Strip(&it.o)
	}
	return b.Len() > 0 || b.NumPartitions() > 0, nil
}

func (it *indexIter) Close() error {
	if it.s != nil {
		it.r.release(it.s)
		it.s, it.own = nil, nil
	}
	return nil
}
