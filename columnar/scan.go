package columnar

import (
	"context"
	"fmt"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/internal/rawfile"
	"github.com/colsst/colsst/rowgroup"
)

// scanAhead is how much of the stream a scan reads at once.
const scanAhead = 128 << 10

// Scan reads all partitions, in the file's order or its exact reverse. A batch
// holds row groups of one block, of stepBytes or one row group.
func (r *Reader) Scan(ctx context.Context, o rowgroup.ScanOptions) rowgroup.Iter {
	if err := r.checkColumns(&o); err != nil {
		return &failed{err}
	}
	if n := min(o.Concurrency, maxScanners); n > 1 && !o.Desc && len(o.Within) == 0 {
		return r.scanParallel(ctx, o, n)
	}
	s, err := r.scratch(ctx)
	if err != nil {
		return &failed{err}
	}
	if o.Desc {
		return &reverseIter{r: r, ctx: ctx, o: o, decode: decodeOptions(o), cur: cursor{r: r, win: &window{f: &r.file, ctx: ctx}, index: indexPartition}, s: s}
	}
	if len(o.Within) > 0 {
		return newIndexIter(ctx, r, o, s)
	}
	it := &scanIter{r: r, ctx: ctx, o: o, decode: decodeOptions(o), s: s}
	it.live.Reset(o.Now, false)
	return it
}

// failed is an iterator that has failed.
type failed struct{ err error }

func (f *failed) Next(*rowgroup.Batch) (bool, error) { return false, f.err }
func (f *failed) Close() error                       { return nil }

// scanIter walks the stream forward.
type scanIter struct {
	r      *Reader
	ctx    context.Context
	o      rowgroup.ScanOptions
	decode rowgroup.ScanOptions
	s      *scratch // nil at the end
	live   rowgroup.LiveFilter
	off    int64
	at     int64 // of the open block
	steps  steps // of it
	seen   totals
	key    []byte // of the last partition
	err    error
}

func (it *scanIter) Next(b *rowgroup.Batch) (ok bool, err error) {
	if it.s != nil && it.r.file.mapped {
		defer rawfile.Catch(rawfile.Guard(), &err, &it.err)
	}
	for it.s != nil && it.err == nil {
		if it.steps.at == it.steps.groups {
			ok, err := it.block(b)
			if err != nil {
				it.err = err
				break
			}
			if !ok {
				_ = it.Close()
				break
			}
		}
		if it.steps.at == it.steps.groups { // decoded already
			if it.finish(b) {
				return true, nil
			}
			continue
		}
		if err := it.steps.next(b, it.s, it.key, &it.decode); err != nil {
			it.err = it.r.file.at(err, fmt.Sprintf("block %d", it.seen.blocks-1), it.at)
			break
		}
		if it.finish(b) {
			return true, nil
		}
	}
	b.Reset()
	return false, it.err
}

// finish makes a decoded batch what is given and reports whether that is
// anything.
func (it *scanIter) finish(b *rowgroup.Batch) bool {
	it.key = lastKey(it.key, b)
	if it.o.Live {
		it.live.Apply(b)
		b.Strip(&it.o)
	}
	return b.Len() > 0 || b.NumPartitions() > 0
}

// block opens the next block, or decodes it into b.
func (it *scanIter) block(b *rowgroup.Batch) (bool, error) {
	f := &it.r.file
	if it.off == 0 {
		if err := it.r.checkHeader(it.ctx); err != nil {
			return false, err
		}
	}
	for it.off < f.streamLen {
		if err := it.r.check(it.ctx); err != nil {
			return false, err
		}
		at := it.off
		h, err := it.s.win.header(at, scanAhead)
		if err != nil {
			return false, f.at(err, "item header", at)
		}
		it.off += h.length(f.crc())
		if h.kind != kindData {
			continue
		}
		if err := it.openBlock(b, &h, at); err != nil {
			return false, f.at(err, fmt.Sprintf("block %d", it.seen.blocks), at)
		}
		return true, nil
	}
	return false, it.check()
}

// check compares what was seen of the whole stream with the footer.
func (it *scanIter) check() error {
	want := it.r.foot.totals
	want.segments = 0
	if it.seen != want {
		return it.r.file.at(encoding.Corruptf("stream", "%+v, the footer says %+v", it.seen, want), "stream", 0)
	}
	return nil
}

// openBlock opens the block with header h, or decodes it into b; then no steps
// are left.
func (it *scanIter) openBlock(b *rowgroup.Batch, h *header, at int64) error {
	body, err := it.s.win.body(at, h, scanAhead)
	if err != nil {
		return err
	}
	blk, err := h.block()
	if err != nil {
		return err
	}
	it.at, it.steps = at, steps{blk.groups, blk.groups}
	if !it.s.whole(b, it.r, &blk, body, it.key, &it.decode) {
		if _, err := it.s.open(it.r, h, body); err != nil {
			return err
		}
		it.steps.at = 0
	}
	return it.count(&blk)
}

// count counts the next block, if it follows what was before.
func (it *scanIter) count(blk *block) error {
	if !it.goesOn(blk) && (blk.ordinal != it.seen.partitions || blk.parts == 0) {
		return encoding.Corruptf("block", "begins with partition %d, %d were before", blk.ordinal, it.seen.partitions)
	}
	it.seen.blocks++
	it.seen.groups += int64(blk.groups)
	it.seen.rows += int64(blk.rows)
	it.seen.partitions += int64(blk.parts)
	return nil
}

// goesOn reports whether a block continues the last partition.
func (it *scanIter) goesOn(b *block) bool {
	return b.parts == 0 && it.seen.partitions > 0 && b.ordinal == it.seen.partitions-1
}

func (it *scanIter) Close() error {
	if it.s != nil {
		it.r.release(it.s)
		it.s = nil
	}
	return nil
}

// reverseIter walks the partition index backwards.
type reverseIter struct {
	r      *Reader
	ctx    context.Context
	o      rowgroup.ScanOptions
	decode rowgroup.ScanOptions
	cur    cursor
	s      *scratch // nil at the end
	live   rowgroup.LiveFilter
	own    *partIter // a partition that is read by itself
	at     ref       // of the open block, of whole partitions
	hdr    header    // its header
	groups int       // of it that are left
	begun  bool
	left   int64 // partitions before the entry read last
	err    error
}

func (it *reverseIter) Next(b *rowgroup.Batch) (ok bool, err error) {
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
		case it.groups > 0:
			if ok, it.err = it.step(b); it.err != nil {
				it.err = it.r.file.at(it.err, "block", it.at.off)
			}
		default:
			if ok, it.err = it.entry(); it.err != nil {
				break
			}
			if !ok {
				_ = it.Close()
				break
			}
			it.err, ok = it.open(), false
		}
		if ok && it.err == nil {
			return true, nil
		}
	}
	b.Reset()
	return false, it.err
}

// entry goes to the entry before and checks that it is the next one.
func (it *reverseIter) entry() (bool, error) {
	if err := it.r.check(it.ctx); err != nil {
		return false, err
	}
	foot := it.r.foot
	var ok bool
	var err error
	if it.begun {
		ok, err = it.cur.step(-1)
	} else {
		it.begun, it.left = true, foot.totals.partitions
		if err = it.r.checkHeader(it.ctx); err != nil {
			return false, err
		}
		if foot.root.len == 0 {
			return false, nil
		}
		ok, err = it.cur.seek(it.r.root(), lastEntry)
	}
	if err != nil {
		return false, err
	}
	to := int64(0)
	if ok {
		p, i := it.cur.leaf()
		to = p.ordinals[i+1]
		defer func() { it.left = p.ordinals[i] }()
	}
	if it.left != to {
		return false, it.r.file.at(encoding.Corruptf(indexPart, "partitions %d to %d are missing", to, it.left), indexPart, foot.root.off)
	}
	return ok, nil
}

// open opens what the entry refers to.
func (it *reverseIter) open() error {
	p, i := it.cur.leaf()
	if k := p.ownOf(i); k >= 0 {
		q := new(partition)
		q.setOwn(it.r, p, i, k)
		it.lend(q)
		return nil
	}
	it.at = p.refs[i]
	h, blk, err := it.s.openAt(it.r, it.at)
	if err == nil {
		err = checkShared(&blk, p, i)
		it.hdr, it.groups = h, blk.groups
	}
	return it.r.file.at(err, "block", it.at.off)
}

// step reads the last partitions that are left of the open block.
func (it *reverseIter) step(b *rowgroup.Batch) (bool, error) {
	dec, to := it.s.dec, it.groups
	from := to - it.s.fits(0, to, true)
	// Partitions are read whole: to where one begins.
	first := from
	for first < to && dec.GroupPartitions(first) == 0 {
		first++
	}
	if first == to {
		return false, it.large(from)
	}
	it.groups = first
	b.Clear()
	if err := dec.Decode(b, first, to, &it.decode); err != nil {
		return false, err
	}
	if it.o.Live {
		it.live.Reset(it.o.Now, false)
		it.live.Apply(b)
		b.Strip(&it.o)
	}
	b.Reverse()
	return b.NumPartitions() > 0, nil
}

// large goes on with the last partition by itself: it begins before from and
// has more groups than are decoded at once.
func (it *reverseIter) large(from int) error {
	for from--; from >= 0 && it.s.dec.GroupPartitions(from) == 0; from-- {
	}
	if from < 0 {
		return encoding.Corruptf("block", "a row group of a partition that does not begin")
	}
	q := &partition{r: it.r, at: it.at, hdr: it.hdr, groups: [2]int{from, it.groups}}
	keys, err := it.s.dec.Keys(from)
	if err != nil {
		return err
	}
	if keys.Len() != 1 {
		return encoding.Corruptf("block", "a row group of several partitions of which the last goes on")
	}
	q.key = append(q.key, keys.At(0)...)
	if q.head, err = it.s.dec.Head(from, 0); err != nil {
		return err
	}
	it.lend(q)
	it.own.opened, it.groups = true, from
	return nil
}

// lend makes q be read with it's scratch.
func (it *reverseIter) lend(q *partition) {
	it.own = new(partIter)
	it.own.begin(it.ctx, q, it.o, it.s)
	it.own.lent = true
}

// checkShared compares the block of entry i, of whole partitions, with it.
func checkShared(b *block, p *page, i int) error {
	if b.ordinal != p.ordinals[i] || int64(b.parts) != p.ordinals[i+1]-b.ordinal {
		return encoding.Corruptf("block", "has %d partitions from %d on, its index entry %d from %d on",
			b.parts, b.ordinal, p.ordinals[i+1]-p.ordinals[i], p.ordinals[i])
	}
	return nil
}

func (it *reverseIter) Close() error {
	if it.s != nil {
		it.r.release(it.s)
		it.s, it.own = nil, nil
	}
	return nil
}
