package columnar

import (
	"context"

	"github.com/colsst/colsst/rowgroup"
)

// stepBytes is how many bytes of values are decoded at a time, unless one row
// group has more.
const stepBytes = 8 << 20

// scratch is what reading takes: a window on the stream, a decoder and
// batches. A Reader keeps them for the next read.
type scratch struct {
	win    window
	dec    *rowgroup.BlockDecoder
	batch  *rowgroup.Batch
	single *rowgroup.Batch
	key    []byte // see keyFinder.checkOrder
	step   int    // see stepBytes
	small  bool   // all groups of a block are decoded in one step
}

// keptWindow is the greatest window that is kept for the next read.
const keptWindow = 4 << 20

// scratch takes one from the pool, to read with ctx until it is released.
func (r *Reader) scratch(ctx context.Context) (*scratch, error) {
	if !r.enter() {
		return nil, r.check(ctx)
	}
	s, ok := r.pool.Get().(*scratch)
	if !ok {
		schema := r.foot.schema
		s = &scratch{
			win: window{f: &r.file, trust: true}, dec: rowgroup.NewBlockDecoder(schema),
			batch: rowgroup.NewBatch(schema), single: rowgroup.NewBatch(schema), step: r.step,
		}
		s.dec.SetLimits(r.foot.groupRows, r.foot.groupBytes)
		s.small = r.foot.groupBytes <= r.step/rowgroup.MaxBlockGroups
	}
	s.win.ctx = ctx
	return s, nil
}

// release gives s back, once.
func (r *Reader) release(s *scratch) {
	s.win.drop()
	s.win.ctx = nil
	r.pool.Put(s)
	_ = r.leave() // the error of closing what was only read
}

// open opens the block whose header and body these are.
func (s *scratch) open(r *Reader, h *header, body []byte) (block, error) {
	blk, err := h.block()
	if err != nil {
		return blk, err
	}
	t, err := r.template(blk.template)
	if err != nil {
		return blk, err
	}
	return blk, s.dec.Open(t, blk.groups, blk.rows, blk.parts, body)
}

// whole decodes into b the block whose header and body these are, if its template
// says enough; the partition of this key goes on in it unless one begins with it.
// Where it reports false, the block is to be opened.
func (s *scratch) whole(b *rowgroup.Batch, r *Reader, blk *block, body, key []byte, o *rowgroup.ScanOptions) bool {
	if !s.small {
		return false
	}
	t, err := r.template(blk.template)
	if err != nil {
		return false
	}
	b.Clear()
	return s.dec.DecodeWhole(b, key, t, blk.groups, blk.rows, blk.parts, body, o)
}

// within is whole, of the rows that x asks for, of which it returns how many there
// are.
func (s *scratch) within(b *rowgroup.Batch, r *Reader, blk *block, body, key []byte, x *rowgroup.RowRange, o *rowgroup.ScanOptions) (n int, ok bool) {
	if !s.small {
		return 0, false
	}
	t, err := r.template(blk.template)
	if err != nil {
		return 0, false
	}
	b.Clear()
	return s.dec.DecodeWithin(b, key, t, blk.groups, blk.rows, blk.parts, body, x, o)
}

// openAt reads and opens the block at an item that an index refers to.
func (s *scratch) openAt(r *Reader, at ref) (h header, blk block, err error) {
	h, body, err := s.block(r, at)
	if err == nil {
		blk, err = s.open(r, &h, body)
	}
	return h, blk, err
}

// block is the block at an item that an index refers to: of the cache, or
// read.
func (s *scratch) block(r *Reader, at ref) (h header, body []byte, err error) {
	if r.cache == nil {
		return s.win.item(at, kindData)
	}
	k := cacheKey{r.id, at.off}
	if h, body, ok := r.cache.get(k); ok && h.length(r.file.crc()) == at.len {
		return h, body, nil
	}
	if h, body, err = s.win.item(at, kindData); err == nil {
		r.cache.add(k, &h, body)
	}
	return h, body, err
}

// fits is how many of groups [from, to) are decoded in one step, from the
// first on, or from the last back: at least one.
func (s *scratch) fits(from, to int, back bool) int {
	n, size := 0, 0
	if s.small { // but for rows of their own, which may have any size
		for n < to-from && s.dec.GroupRows(from+n) > 1 {
			n++
		}
		if n == to-from {
			return n
		}
		n = 0
	}
	for n < to-from {
		g := from + n
		if back {
			g = to - 1 - n
		}
		if size += s.dec.GroupBytes(g); n > 0 && size > s.step {
			break
		}
		n++
	}
	return n
}

// steps reads the groups of an open block forward.
type steps struct{ at, groups int }

// next decodes the next groups into b, which goes on with the partition of
// this key where they do.
func (s *steps) next(b *rowgroup.Batch, in *scratch, key []byte, o *rowgroup.ScanOptions) error {
	from := s.at
	s.at += in.fits(from, s.groups, false)
	b.Clear()
	if in.dec.GroupPartitions(from) == 0 {
		b.BeginPartition(key).Continued = true
	}
	return in.dec.Decode(b, from, s.at, o)
}

// lastKey keeps the key of b's last partition in key.
func lastKey(key []byte, b *rowgroup.Batch) []byte {
	return append(key[:0], b.Key(b.NumPartitions()-1)...)
}
