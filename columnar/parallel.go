package columnar

import (
	"context"
	"fmt"
	"sync"

	"github.com/colsst/colsst/internal/rawfile"
	"github.com/colsst/colsst/rowgroup"
)

// Of a scan by several goroutines.
const (
	fetchAhead   = 512 << 10 // of the stream that it reads at once
	runBytes     = 32 << 10  // of blocks that one goroutine decodes, or one block
	runBatches   = 64        // that a run is ahead of what is given, at most
	scannerBytes = 1 << 20   // decoded in advance for each goroutine, beside one batch
	maxScanners  = 256       // goroutines
)

// blockRun is consecutive blocks of the stream, decoded by one goroutine.
type blockRun struct {
	number int64
	items  []runItem
	buf    []byte // of items that are not in memory anyway
	err    error  // what stands in the way of more
	out    chan runBatch
	held   int64 // decoded bytes in out, guarded by the budget's mutex
}

// runItem is one block.
type runItem struct {
	off int64
	header
	bytes []byte
}

// runBatch is what one step of a run gives.
type runBatch struct {
	b     *rowgroup.Batch
	size  int64
	off   int64 // of the block
	blk   block
	first bool // of its block
	keyed bool // the batch has its first key; else that is the last one before
	err   error
	stage runStage
}

// runStage says what a runBatch is about.
type runStage uint8

const (
	runRows   runStage = iota // rows, or the error of a block
	runBroken                 // the error that ends the stream
	runEnd                    // the end of the run
)

// parallelIter is a scan whose blocks are decoded by several goroutines and
// read by one more. Runs are given in their order; their number, and the bytes
// that they hold, bound how far they are ahead.
type parallelIter struct {
	scanIter
	cancel context.CancelFunc
	wg     sync.WaitGroup
	jobs   chan *blockRun // to be decoded
	order  chan *blockRun // the same, to be given
	free   chan *blockRun
	budget budget
	cur    *blockRun // that is given
}

// budget bounds the decoded bytes in advance, and keeps the batches for them.
// The run that is given may always have one.
type budget struct {
	mu     sync.Mutex
	cond   sync.Cond
	left   int64
	front  int64 // number of the run that is given
	spare  []*rowgroup.Batch
	closed bool
}

// take waits until n bytes of a run may be held, and returns a batch for them,
// nil for a new one. ok is false if that will never be.
func (g *budget) take(x *blockRun, n int64) (b *rowgroup.Batch, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for !g.closed && g.left < n && (g.front != x.number || x.held > 0) {
		g.cond.Wait()
	}
	g.left -= n
	x.held += n
	if k := len(g.spare); k > 0 { // the last one, which others are not made large for
		b, g.spare = g.spare[k-1], g.spare[:k-1]
	}
	return b, !g.closed
}

// put ends what take allowed.
func (g *budget) put(x *blockRun, n int64, b *rowgroup.Batch) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left += n
	x.held -= n
	g.spare = append(g.spare, b)
	g.cond.Broadcast()
}

// give makes x the run that is given.
func (g *budget) give(x *blockRun) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.front = x.number
	g.cond.Broadcast()
}

func (g *budget) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	g.cond.Broadcast()
}

// scanParallel is a scan by n goroutines.
func (r *Reader) scanParallel(ctx context.Context, o rowgroup.ScanOptions, n int) rowgroup.Iter {
	scratches := make([]*scratch, 0, n+1) // one each, and one to read with
	for range cap(scratches) {
		s, err := r.scratch(ctx)
		if err != nil {
			for _, s := range scratches {
				r.release(s)
			}
			return &failed{err}
		}
		scratches = append(scratches, s)
	}
	runs := n + 2
	it := &parallelIter{
		scanIter: scanIter{r: r, ctx: ctx, o: o, decode: decodeOptions(o)},
		jobs:     make(chan *blockRun, runs), order: make(chan *blockRun, runs), free: make(chan *blockRun, runs),
	}
	it.live.Reset(o.Now, false)
	it.budget.left, it.budget.front, it.budget.cond.L = int64(n)*scannerBytes, -1, &it.budget.mu
	for range runs {
		it.free <- &blockRun{out: make(chan runBatch, runBatches)}
	}
	ctx, it.cancel = context.WithCancel(ctx)
	for i, s := range scratches {
		s.win.ctx = ctx
		it.wg.Go(func() {
			defer r.release(s)
			if i == 0 {
				it.fetch(ctx, s)
				return
			}
			for x := range it.jobs {
				it.decodeRun(ctx, s, x)
			}
		})
	}
	return it
}

// fetch reads the stream and cuts it into runs.
func (it *parallelIter) fetch(ctx context.Context, s *scratch) {
	defer close(it.jobs)
	defer close(it.order)
	off := int64(0)
	for number := int64(0); ; number++ {
		var x *blockRun
		select {
		case x = <-it.free:
		case <-ctx.Done():
			return
		}
		x.number, x.items, x.buf = number, x.items[:0], x.buf[:0]
		off, x.err = it.fill(ctx, s, x, off)
		if x.err == nil && len(x.items) == 0 {
			return
		}
		it.order <- x // there is room for all runs
		it.jobs <- x
		if x.err != nil {
			return
		}
	}
}

// fill gathers the blocks of a run from off on and returns where it ends.
func (it *parallelIter) fill(ctx context.Context, s *scratch, x *blockRun, off int64) (end int64, err error) {
	f := &it.r.file
	if f.mapped {
		defer rawfile.Catch(rawfile.Guard(), &err)
	}
	if off == 0 {
		if err := it.r.checkHeader(ctx); err != nil {
			return off, err
		}
	}
	for size := int64(0); off < f.streamLen && size < runBytes; {
		if err := it.r.check(ctx); err != nil {
			return off, err
		}
		h, err := s.win.header(off, fetchAhead)
		if err != nil {
			return off, f.at(err, "item header", off)
		}
		n := h.length(f.crc())
		if h.kind == kindData {
			b, err := s.win.bytes(off, n, fetchAhead)
			if err != nil {
				return off, f.at(err, "block", off)
			}
			if f.mem == nil || f.chunk > 0 {
				x.buf = append(x.buf, b...)
				b = x.buf[len(x.buf)-len(b):]
			}
			x.items = append(x.items, runItem{off, h, b})
			size += n
		}
		off += n
	}
	return off, nil
}

// decodeRun gives the batches of a run.
func (it *parallelIter) decodeRun(ctx context.Context, s *scratch, x *blockRun) {
	for i := range x.items {
		item := &x.items[i]
		if sent, err := it.decodeBlock(ctx, s, x, item); err != nil {
			it.send(ctx, x, runBatch{off: item.off, first: !sent, err: err})
			return // after an error nothing is given
		}
	}
	if x.err != nil {
		it.send(ctx, x, runBatch{err: x.err, stage: runBroken})
		return
	}
	it.send(ctx, x, runBatch{stage: runEnd})
}

func (it *parallelIter) send(ctx context.Context, x *blockRun, b runBatch) bool {
	select {
	case x.out <- b:
		return true
	case <-ctx.Done():
		return false
	}
}

// decodeBlock gives the batches of one block, and says whether it gave any.
func (it *parallelIter) decodeBlock(ctx context.Context, s *scratch, x *blockRun, item *runItem) (sent bool, err error) {
	if it.r.file.mapped {
		defer rawfile.Catch(rawfile.Guard(), &err)
	}
	body, err := s.win.check(item.bytes, item.off, &item.header)
	if err != nil {
		return false, err
	}
	blk, err := s.open(it.r, &item.header, body)
	if err != nil {
		return false, err
	}
	keyed := false
	var key []byte
	for at := (steps{0, blk.groups}); at.at < at.groups; {
		out := runBatch{off: item.off, blk: blk, first: at.at == 0, keyed: keyed || s.dec.GroupPartitions(at.at) > 0}
		for g := range s.fits(at.at, at.groups, false) {
			out.size += int64(s.dec.GroupBytes(at.at + g))
		}
		var ok bool
		if out.b, ok = it.budget.take(x, out.size); !ok {
			return sent, ctx.Err()
		}
		if out.b == nil {
			if out.b, ok = it.r.batches.Get().(*rowgroup.Batch); !ok {
				out.b = rowgroup.NewBatch(it.r.foot.schema)
			}
		}
		if err := at.next(out.b, s, key, &it.decode); err != nil {
			return sent, err
		}
		if out.keyed || out.b.NumPartitions() > 1 {
			keyed, key = true, lastKey(key, out.b)
		}
		if !it.send(ctx, x, out) {
			return sent, ctx.Err()
		}
		sent = true
	}
	return sent, nil
}

// Next exchanges b with the next batch.
func (it *parallelIter) Next(b *rowgroup.Batch) (bool, error) {
	for it.cancel != nil && it.err == nil {
		out, ok := it.take()
		if !ok {
			if it.err = it.check(); it.err == nil {
				_ = it.Close()
			} else if err := it.r.check(it.ctx); err != nil {
				it.err = err // that is why the stream is short
			}
			break
		}
		ok, it.err = it.accept(b, &out)
		if ok && it.err == nil {
			return true, nil
		}
	}
	if it.err != nil && it.cancel != nil {
		_ = it.Close()
	}
	b.Reset()
	return false, it.err
}

// take is the next batch or error; ok is false at the end.
func (it *parallelIter) take() (out runBatch, ok bool) {
	for {
		if it.cur == nil {
			select {
			case it.cur, ok = <-it.order:
			case <-it.ctx.Done():
				return runBatch{err: it.ctx.Err(), stage: runBroken}, true
			}
			if !ok {
				it.cur = nil
				return out, false
			}
			it.budget.give(it.cur)
		}
		select {
		case out = <-it.cur.out:
		case <-it.ctx.Done():
			return runBatch{err: it.ctx.Err(), stage: runBroken}, true
		}
		if out.stage != runEnd {
			return out, true
		}
		it.free <- it.cur
		it.cur = nil
	}
}

// accept checks what a goroutine gave and makes it b.
func (it *parallelIter) accept(b *rowgroup.Batch, out *runBatch) (bool, error) {
	if out.stage == runBroken {
		return false, out.err
	}
	if err := it.r.check(it.ctx); err != nil {
		return false, err
	}
	err, number := out.err, it.seen.blocks
	if !out.first {
		number--
	}
	if err == nil && out.first {
		err = it.count(&out.blk)
	}
	if err == nil && !out.keyed {
		err = out.b.SetKey(it.key)
	}
	if err != nil {
		return false, it.r.file.at(err, fmt.Sprintf("block %d", number), out.off)
	}
	b.Swap(out.b)
	it.budget.put(it.cur, out.size, out.b)
	return it.finish(b), nil
}

// Close ends the goroutines; a second call does nothing.
func (it *parallelIter) Close() error {
	if it.cancel == nil {
		return nil
	}
	it.cancel()
	it.budget.close()
	it.wg.Wait()
	for _, b := range it.budget.spare {
		it.r.batches.Put(b)
	}
	it.cancel, it.cur, it.jobs, it.order, it.free, it.budget.spare = nil, nil, nil, nil, nil, nil
	return nil
}
