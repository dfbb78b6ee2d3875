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
}

// find is the segment with the block at off, or nil if no page of
// statistics knows it.
func (f *segmentFinder) find(ctx context.Context, off int64) (*segment, error) {
	r := f.r
	if n := len(f.page); n == 0 || off < f.page[0].first || off >= f.page[0].page.off {
		if err := r.check(ctx); err != nil { // many segments may be left out
			return nil, err
		}
		// A page stands behind the segments that it describes.
		all := r.foot.statistics
		i := sort.Search(len(all), func(i int) bool { return all[i].off > off })
		if i == len(all) {
			return nil, nil
		}
		var err error
		if f.page, err = r.segments(ctx, f.page[:0], i); err != nil {
			f.page = f.page[:0]
			return nil, err
		}
	}
	i := sort.Search(len(f.page), func(i int) bool { return f.page[i].first > off }) - 1
	if i < 0 {
		return nil, nil
	}
	return &f.page[i], nil
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
