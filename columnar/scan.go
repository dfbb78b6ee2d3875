package columnar

import (
	"context"
	"fmt"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// scanAhead is how much of the stream a scan reads at once.
const scanAhead = 128 << 10

// Scan reads all partitions, in the file's order or its exact reverse. A batch
// holds the rows of at most one block.
func (r *Reader) Scan(ctx context.Context, o rowgroup.ScanOptions) rowgroup.Iter {
	if err := r.checkColumns(&o); err != nil {
		return &failed{err}
	}
	if o.Desc {
		return &reverseIter{
			r: r, ctx: ctx, o: o, cur: cursor{r: r, index: indexPartition},
			win: window{f: &r.file}, dec: rowgroup.NewBlockDecoder(r.foot.schema),
		}
	}
	it := &scanIter{
		r: r, ctx: ctx, o: o, decode: decodeOptions(&o),
		win: window{f: &r.file}, dec: rowgroup.NewBlockDecoder(r.foot.schema),
	}
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
	decode *rowgroup.ScanOptions
	win    window
	dec    *rowgroup.BlockDecoder
	live   rowgroup.LiveFilter
	off    int64
	seen   totals
	key    []byte // of the last partition
	err    error
	done   bool
}

func (it *scanIter) Next(b *rowgroup.Batch) (bool, error) {
	for !it.done && it.err == nil {
		ok, err := it.block(b)
		if err != nil {
			it.err = err
			break
		}
		if !ok {
			it.done = true
			break
		}
		if it.o.Live {
			it.live.Apply(b)
			strip(b, &it.o)
		}
		if b.Len() > 0 || b.NumPartitions() > 0 {
			return true, nil
		}
	}
	b.Reset()
	return false, it.err
}

// block reads the next block.
func (it *scanIter) block(b *rowgroup.Batch) (bool, error) {
	f := &it.r.file
	for it.off < f.streamLen {
		if err := it.r.check(it.ctx); err != nil {
			return false, err
		}
		at := it.off
		h, _, err := it.win.next(at, scanAhead, false)
		if err != nil {
			return false, f.at(err, "item header", at)
		}
		it.off += h.length(f.crc())
		if h.kind != kindData {
			continue
		}
		if err := it.decodeBlock(b, at); err != nil {
			return false, f.at(err, fmt.Sprintf("block %d", it.seen.blocks), at)
		}
		return true, nil
	}
	want := it.r.foot.totals
	want.segments = 0
	if it.seen != want {
		return false, f.at(encoding.Corruptf("stream", "%+v, the footer says %+v", it.seen, want), "stream", 0)
	}
	return false, nil
}

// decodeBlock decodes the block at a logical offset.
func (it *scanIter) decodeBlock(b *rowgroup.Batch, at int64) error {
	h, body, err := it.win.next(at, scanAhead, true)
	if err != nil {
		return err
	}
	blk, err := it.r.openBlock(it.dec, &h, body)
	if err != nil {
		return err
	}
	b.Clear()
	if it.goesOn(&blk) {
		b.BeginPartition(it.key).Continued = true
	} else if blk.ordinal != it.seen.partitions || blk.parts == 0 {
		return encoding.Corruptf("block", "begins with partition %d, %d were before", blk.ordinal, it.seen.partitions)
	}
	if err := it.dec.Decode(b, 0, blk.groups, it.decode); err != nil {
		return err
	}
	it.key = append(it.key[:0], b.Key(b.NumPartitions()-1)...)
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
	it.done = true
	it.win = window{f: it.win.f}
	return nil
}

// reverseIter walks the partition index backwards.
type reverseIter struct {
	r     *Reader
	ctx   context.Context
	o     rowgroup.ScanOptions
	cur   cursor
	win   window
	dec   *rowgroup.BlockDecoder
	live  rowgroup.LiveFilter
	own   *partIter // the partition of more than one block that is being read
	begun bool
	left  int64 // partitions before the entry read last
	err   error
	done  bool
}

func (it *reverseIter) Next(b *rowgroup.Batch) (bool, error) {
	for !it.done && it.err == nil {
		if it.own != nil {
			ok, err := it.own.Next(b)
			if ok {
				return true, nil
			}
			it.own, it.err = nil, err
			continue
		}
		more, err := it.entry()
		if err != nil || !more {
			it.err, it.done = err, true
			break
		}
		p, i := it.cur.leaf()
		if o := p.ownOf(i); o != nil {
			it.own = it.r.ownPartition(p, i, o).iter(it.ctx, it.o, it.dec)
			continue
		}
		if it.err = it.shared(b, p, i); it.err != nil {
			break
		}
		if b.NumPartitions() > 0 {
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
		if foot.root.len == 0 {
			return false, nil
		}
		ok, err = it.cur.seek(foot.root, foot.rootLevel, lastEntry)
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

// shared reads the block of entry i, of whole partitions.
func (it *reverseIter) shared(b *rowgroup.Batch, p *page, i int) error {
	at := p.refs[i]
	h, body, err := it.win.item(at, kindData)
	if err == nil {
		var blk block
		blk, err = it.r.openBlock(it.dec, &h, body)
		if err == nil {
			err = checkShared(&blk, p, i)
		}
		if err == nil {
			b.Clear()
			err = it.dec.Decode(b, 0, blk.groups, decodeOptions(&it.o))
		}
	}
	if err != nil {
		return it.r.file.at(err, "block", at.off)
	}
	if it.o.Live {
		it.live.Reset(it.o.Now, false)
		it.live.Apply(b)
		strip(b, &it.o)
	}
	b.Reverse()
	return nil
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
	it.done, it.own = true, nil
	it.win = window{f: it.win.f}
	return nil
}
