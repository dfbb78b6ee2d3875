package columnar

import (
	"context"
	"sort"

	"github.com/colsst/colsst/encoding"
)

// segmentFinder finds the statistics of segments by where their blocks are.
type segmentFinder struct {
	r    *Reader
	page []segment // of statistics, one page
	read int       // its number, where it is not empty
}

// find is the segment with the block at off, or nil if no page of
// statistics knows it.
func (f *segmentFinder) find(ctx context.Context, off int64) (*segment, error) {
	if n := len(f.page); n == 0 || off < f.page[0].first || off >= f.page[0].page.off {
		// A page stands behind the segments that it describes.
		all := f.r.foot.statistics
		i := sort.Search(len(all), func(i int) bool { return all[i].off > off })
		if i == len(all) {
			return nil, nil
		}
		if err := f.open(ctx, i); err != nil {
			return nil, err
		}
	}
	i := sort.Search(len(f.page), func(i int) bool { return f.page[i].first > off }) - 1
	if i < 0 {
		return nil, nil
	}
	return &f.page[i], nil
}

// open reads page i of the statistics.
func (f *segmentFinder) open(ctx context.Context, i int) (err error) {
	if err := f.r.check(ctx); err != nil { // many segments may be left out
		return err
	}
	f.read = i
	if f.page, err = f.r.segments(ctx, f.page[:0], i); err != nil {
		f.page = f.page[:0]
	}
	return err
}

// ofPartition calls take with the segments that have blocks of p, a partition of
// more than one block, in order, as long as it returns true. all is false where
// it did not, where a segment is not known, and unless further pages may be read
// where they lie in more than one.
func (f *segmentFinder) ofPartition(ctx context.Context, p *partition, further bool, take func(*segment) bool) (all bool, err error) {
	end := p.entry().time.off // behind the last block
	seg, err := f.find(ctx, p.first.off)
	if err != nil || seg == nil {
		return false, err
	}
	i := sort.Search(len(f.page), func(i int) bool { return f.page[i].first >= seg.first })
	for take(&f.page[i]) {
		if i++; i == len(f.page) {
			// What the next page describes stands behind this one.
			if end <= f.page[0].page.off {
				return true, nil
			}
			if !further || f.read+1 == len(f.r.foot.statistics) {
				return false, nil
			}
			if err := f.open(ctx, f.read+1); err != nil {
				return false, err
			}
			i = 0
		}
		if f.page[i].first >= end {
			return true, nil
		}
	}
	return false, nil
}

// segments appends the segments that page i of the statistics describes.
func (r *Reader) segments(ctx context.Context, dst []segment, i int) ([]segment, error) {
	s := segmentReader{r: r, ctx: ctx, page: i, anywhere: true}
	for len(dst) == 0 || s.left > 0 {
		if err := s.next(); err != nil {
			return dst, err
		}
		if s.cur.page.off <= s.cur.first {
			return dst, r.file.at(encoding.Corruptf("statistics page", "a segment behind it"), "statistics page", s.cur.page.off)
		}
		dst = append(dst, s.cur)
	}
	return dst, nil
}
