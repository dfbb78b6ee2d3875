package columnar

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/internal/rawfile"
	"github.com/colsst/colsst/rowgroup"
)

// Level says how much Verify checks.
type Level int

// The levels; each includes those before.
const (
	VerifyFooter Level = iota // header, trailer, footer
	VerifyBlocks              // every item: checksums, headers, counts, indexes against blocks
	VerifyValues              // every value: order, statistics, positions, filter
)

// Verify checks the file. report, which may be nil, gets every finding; the
// first one is returned. Only errors of I/O or of the context end it early.
func (r *Reader) Verify(ctx context.Context, level Level, report func(error)) (err error) {
	if r.file.mapped {
		defer rawfile.Catch(rawfile.Guard(), &err)
	}
	v := &verifier{r: r, ctx: ctx, level: level, report: report}
	if err := r.check(ctx); err != nil {
		return err
	}
	if !r.enter() { // closed since
		return ErrClosed
	}
	defer r.leave() //nolint:errcheck // of closing what was only read
	if err := r.checkHeader(ctx); err != nil {
		if !errors.Is(err, encoding.ErrCorrupt) && !errors.Is(err, encoding.ErrUnsupported) {
			return err
		}
		v.found(err)
	}
	for i := range r.templates {
		if _, err := r.template(i); err != nil {
			v.found(err)
		}
	}
	if level >= VerifyBlocks {
		if err := v.run(); err != nil {
			return err
		}
	}
	return v.first
}

type verifier struct {
	r      *Reader
	ctx    context.Context
	level  Level
	report func(error)
	first  error

	seen      totals
	templates int
	pages     int64
	filters   []ref
	declared  []uint64 // keys that each filter shard says it has
	counted   []uint64 // keys of the file that belong to each
	stats     []ref
	s         *scratch
	index     *blockIndex
	entry     *indexedBlock
	segments  segmentReader
	inSegment int // blocks of the segment that are still to come
	segGroups int
	segStats  *rowgroup.Stats
	order     *rowgroup.OrderChecker
	key       []byte // of the last partition
	ordinal   int64  // its ordinal, or -1 if it is not known
	open      rowgroup.Deletion
	markers   bool // the own partition has some
	damaged   bool // something of the segment is lost
	lossy     bool // something of the file is lost
	badStats  bool // a statistics page is damaged, which was reported
}

// found reports a finding.
func (v *verifier) found(err error) {
	if v.first == nil {
		v.first = err
	}
	if v.report != nil {
		v.report(err)
	}
}

// wrong reports that something at off contradicts something else.
func (v *verifier) wrong(part string, off int64, format string, args ...any) {
	v.found(v.r.file.at(encoding.Corruptf(part, format, args...), part, off))
}

func (v *verifier) run() error {
	r := v.r
	f, foot := &r.file, r.foot
	var err error
	if v.s, err = r.scratch(v.ctx); err != nil {
		return err
	}
	defer r.release(v.s)
	v.index = newBlockIndex(v.ctx, r)
	v.segments = segmentReader{r: r, ctx: v.ctx}
	v.segStats = rowgroup.NewStats(foot.schema)
	v.order = rowgroup.NewOrderChecker(foot.schema)
	v.ordinal = -1
	v.counted = make([]uint64, len(foot.filter))
	if err := v.advance(); err != nil {
		return err
	}
	w := walker{ctx: v.ctx, win: window{f: f, ctx: v.ctx}, wanted: "STD", gap: func(damage error, at, n int64) {
		part := fmt.Sprintf("%d bytes of the stream", n)
		if e := v.entry; e != nil && e.at.off == at { // the index knows what should be there
			part = fmt.Sprintf("block %d", v.seen.blocks)
		}
		v.lost()
		v.found(f.at(damage, part, at))
	}}
	for {
		if err := r.check(v.ctx); err != nil {
			return err
		}
		it, ok, err := w.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := v.item(&it); err != nil {
			return err
		}
	}
	return v.end()
}

// lost says that a part of the stream could not be read.
func (v *verifier) lost() {
	v.damaged, v.lossy = true, true
	v.order = rowgroup.NewOrderChecker(v.r.foot.schema)
	v.ordinal = -1
}

// advance goes to the next block of the index.
func (v *verifier) advance() error {
	e, err := v.index.next()
	if err != nil {
		if !errors.Is(err, encoding.ErrCorrupt) {
			return err
		}
		v.found(err)
		v.lossy = true
	}
	v.entry = e
	return nil
}

func (v *verifier) item(it *walked) error {
	foot := v.r.foot
	if it.at.off == 0 && it.kind != kindSchema {
		v.wrong("schema", 0, "is not the first item")
	}
	switch it.kind {
	case kindSchema:
		if it.at.off != 0 || !bytes.Equal(it.body, foot.schemaBytes) {
			v.wrong("schema", it.at.off, "is not the footer's")
		}
	case kindTemplate:
		n := it.fields[0]
		if n >= uint64(len(foot.templates)) || !bytes.Equal(it.body, foot.templates[n]) || !v.lossy && n != uint64(v.templates) {
			v.wrong("template", it.at.off, "template %d is not the footer's", n)
		}
		v.templates++
	case kindIndex:
		v.pages++
	case kindFilter:
		v.filters = append(v.filters, it.at)
		v.declared = append(v.declared, it.fields[1])
	case kindStats:
		v.stats = append(v.stats, it.at)
	case kindData:
		return v.block(it)
	}
	return nil
}

// block checks one block against the index and the segment.
func (v *verifier) block(it *walked) error {
	part := fmt.Sprintf("block %d", v.seen.blocks)
	for v.entry != nil && v.entry.at.off < it.at.off {
		if !v.lossy {
			v.wrong(indexPart, v.entry.at.off, "an entry where no block begins")
		}
		if err := v.advance(); err != nil {
			return err
		}
	}
	e := v.entry
	switch {
	case e != nil && e.at == it.at:
		if err := v.advance(); err != nil {
			return err
		}
	default:
		e = nil
		if !v.lossy {
			v.wrong(part, it.at.off, "the index has no entry for it")
		}
	}
	blk, err := v.s.open(v.r, &it.header, it.body)
	if err != nil {
		v.lost()
		v.found(v.r.file.at(err, part, it.at.off))
		return nil
	}
	if e != nil && (blk.ordinal != e.ordinal || e.parts >= 0 && int64(blk.parts) != e.parts || e.rows >= 0 && int64(blk.rows) != e.rows) {
		v.wrong(part, it.at.off, "%d rows, %d partitions from %d on; its index entry says %d, %d, %d",
			blk.rows, blk.parts, blk.ordinal, e.rows, e.parts, e.ordinal)
	}
	if !v.lossy && blk.ordinal != v.seen.partitions-btoi(blk.parts == 0) {
		v.wrong(part, it.at.off, "begins with partition %d, %d were before", blk.ordinal, v.seen.partitions)
	}
	if err := v.segmentBlock(it.at.off); err != nil {
		return err
	}
	v.seen.blocks++
	v.seen.groups += int64(blk.groups)
	v.seen.rows += int64(blk.rows)
	v.seen.partitions += int64(blk.parts)
	v.segGroups += blk.groups
	if v.level >= VerifyValues {
		if err := v.values(it, part, &blk, e); err != nil {
			return err
		}
	}
	v.inSegment--
	if v.inSegment == 0 && !v.damaged {
		s := &v.segments.cur
		if s.groups != v.segGroups {
			v.wrong("statistics page", s.page.off, "a segment of %d row groups, it has %d", s.groups, v.segGroups)
		}
		if v.level >= VerifyValues && !v.segStats.Equal(s.stats) {
			v.wrong("statistics page", s.page.off, "the statistics of segment %d are not those of its values", v.segments.n-1)
		}
	}
	return nil
}

func btoi(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// segmentBlock begins the segment whose first block is at off.
func (v *verifier) segmentBlock(off int64) error {
	if len(v.r.foot.statistics) == 0 {
		v.damaged = true
		return nil
	}
	if v.inSegment > 0 && !v.damaged {
		return nil
	}
	for !v.segments.done && v.segments.ahead(off) {
		if err := v.segments.next(); err != nil {
			if !errors.Is(err, encoding.ErrCorrupt) {
				return err
			}
			v.found(err)
			v.damaged, v.badStats = true, true
			return nil
		}
	}
	s := &v.segments.cur
	if v.segments.n > 0 && s.first == off {
		v.damaged, v.inSegment, v.segGroups = false, s.blocks, 0
		v.segStats.Reset()
		return nil
	}
	if !v.damaged {
		v.wrong("statistics page", s.page.off, "no segment begins with the block at %d", off)
		v.damaged = true
	}
	return nil
}

// values decodes a block and checks what it holds.
func (v *verifier) values(it *walked, part string, blk *block, e *indexedBlock) error {
	s := v.r.foot.schema
	goesOn := blk.parts == 0 && v.ordinal == blk.ordinal
	if blk.parts == 0 && !goesOn {
		if e == nil {
			v.lost()
			return nil
		}
		v.key = append(v.key[:0], e.key...)
		v.order = rowgroup.NewOrderChecker(s)
	}
	if e != nil {
		v.beginEntry(it, part, e)
	}
	b := v.s.batch
	for at := (steps{0, blk.groups}); at.at < at.groups; {
		begins, first := at.at == 0, 0
		if v.s.dec.GroupPartitions(at.at) == 0 {
			first = 1
		}
		if err := at.next(b, v.s, v.key, nil); err != nil {
			v.lost()
			v.found(v.r.file.at(err, part, it.at.off))
			return nil
		}
		if begins {
			switch {
			case blk.parts > 0 && !v.lossy && blk.ordinal > 0 && bytes.Equal(b.Key(0), v.key):
				v.wrong(part, it.at.off, "begins with the partition before")
			case blk.parts == 0 && !goesOn:
				b.Partition(0).Continued = false
			}
		}
		if err := v.order.Check(b); err != nil {
			v.wrong(part, it.at.off, "%v", err)
			v.order = rowgroup.NewOrderChecker(s)
		}
		if e != nil {
			v.entryRows(it, part, b, e, begins, at.at == at.groups)
		}
		if err := v.partitions(it, b, first); err != nil {
			return err
		}
		v.key = lastKey(v.key, b)
	}
	v.ordinal = blk.ordinal + int64(max(0, blk.parts-1))
	return nil
}

// partitions adds b to the statistics of the segment and looks for the keys of
// the partitions from first on, which begin in it, in the filter.
func (v *verifier) partitions(it *walked, b *rowgroup.Batch, first int) error {
	n := b.NumPartitions()
	v.segStats.Add(b, 0, b.Len(), first, n)
	for p := first; p < n; p++ {
		if shards := len(v.counted); shards > 0 {
			v.counted[shardOf(hashKey(b.Key(p)), shards)]++
		}
		ok, err := v.r.mayContain(v.ctx, b.Key(p))
		if err != nil {
			if !errors.Is(err, encoding.ErrCorrupt) {
				return err
			}
			return nil // reported where the filter is walked over
		}
		if !ok {
			v.wrong("filter", it.at.off, "does not hold the key %x", b.Key(p))
		}
	}
	return nil
}

// beginEntry begins to compare the rows of a block with its index entry.
func (v *verifier) beginEntry(it *walked, part string, e *indexedBlock) {
	if e.own == nil {
		return
	}
	if e.begins {
		v.open, v.markers = rowgroup.LiveDeletion, false
	} else if v.ordinal != e.ordinal {
		v.open = e.open // the block before is lost
	}
	if e.open != v.open {
		v.wrong(part, it.at.off, "the range deletion open at its start is not that of its index entry")
	}
}

// entryRows compares rows of a block with its index entry: the first of the
// block, the last, or others.
func (v *verifier) entryRows(it *walked, part string, b *rowgroup.Batch, e *indexedBlock, first, last bool) {
	s := v.r.foot.schema
	if first && e.key != nil && !bytes.Equal(e.key, b.Key(0)) {
		v.wrong(part, it.at.off, "its first key is not that of its index entry")
	}
	if e.own == nil {
		return
	}
	if first && e.begins {
		h := b.Partition(0)
		if h.Deletion != e.deletion || (h.Static != rowgroup.StaticAbsent) != e.own.static {
			v.wrong(part, it.at.off, "its deletion or static row is not that of its index entry")
		}
	}
	v.open, v.markers = openAfter(b, v.open), v.markers || len(*b.Markers()) > 0
	n := b.Len()
	is := func(i int, at placeOf) bool {
		return placeOf{position: s.AppendPosition(nil, b, i)}.equal(at, &v.r.order)
	}
	if first && n > 0 && !is(0, e.first) || last && n > 0 && !is(n-1, e.last) {
		v.wrong(part, it.at.off, "its first or last position is not that of its index entry")
	}
	if last && e.ends && v.markers != e.own.markers && !v.lossy {
		v.wrong(indexPart, e.at.off, "markers are not as its entry says")
	}
}

// end compares what was found with the footer.
func (v *verifier) end() error {
	foot := v.r.foot
	for v.entry != nil && !v.lossy {
		v.wrong(indexPart, v.entry.at.off, "an entry where no block begins")
		if err := v.advance(); err != nil {
			return err
		}
	}
	if err := v.order.Finish(); err != nil && !v.lossy && v.level >= VerifyValues {
		v.wrong("stream", 0, "%v", err)
	}
	if v.lossy {
		return nil
	}
	want := foot.totals
	v.seen.segments = want.segments
	if v.seen != want {
		v.wrong("footer", 0, "says %+v, the stream has %+v", want, v.seen)
	}
	if v.templates != len(foot.templates) {
		v.wrong("footer", 0, "has %d templates, the stream %d", len(foot.templates), v.templates)
	}
	if v.pages != v.index.visited() {
		v.wrong(indexPart, 0, "the stream has %d, of which %d are in use", v.pages, v.index.visited())
	}
	v.list("filter", foot.filter, v.filters)
	v.list("statistics page", foot.statistics, v.stats)
	for i := range foot.filter {
		if _, err := v.r.shard(v.ctx, i); err != nil {
			if !errors.Is(err, encoding.ErrCorrupt) {
				return err
			}
			v.found(err)
		}
		// Two keys of one hash count as one in the filter.
		const equalHashes = 4
		if v.level >= VerifyValues && i < len(v.declared) && v.counted[i]-v.declared[i] > equalHashes {
			v.wrong("filter", foot.filter[i].off, "shard %d says it has %d keys; the file has %d", i, v.declared[i], v.counted[i])
		}
	}
	return v.totalStats()
}

func (v *verifier) list(part string, want, got []ref) {
	if !slices.Equal(want, got) {
		v.wrong(part, 0, "the items in the stream are not those of the footer")
	}
}

// totalStats compares the sum of the segments' statistics with the footer's.
func (v *verifier) totalStats() error {
	foot := v.r.foot
	if len(foot.statistics) == 0 {
		return nil
	}
	sum := rowgroup.NewStats(foot.schema)
	segments := segmentReader{r: v.r, ctx: v.ctx}
	for !segments.done {
		if err := segments.next(); err != nil {
			if !errors.Is(err, encoding.ErrCorrupt) {
				return err
			}
			if !v.badStats {
				v.found(err)
			}
			return nil
		}
		if !segments.done {
			sum.Merge(segments.cur.stats)
		}
	}
	if int64(segments.n) != foot.totals.segments {
		v.wrong("footer", 0, "says %d segments, there are statistics of %d", foot.totals.segments, segments.n)
	}
	if !sum.Equal(foot.stats) {
		v.wrong("footer", 0, "its statistics are not the sum of the segments'")
	}
	if sum.Rows+sum.Markers != foot.totals.rows || sum.Partitions != foot.totals.partitions {
		v.wrong("footer", 0, "its statistics do not count its rows and partitions")
	}
	return nil
}

// segment is what a statistics page says of one segment.
type segment struct {
	page   ref
	first  int64 // offset of its first block
	blocks int
	groups int
	stats  *rowgroup.Stats
}

// segmentReader reads the statistics of one segment after another.
type segmentReader struct {
	r    *Reader
	ctx  context.Context
	cur  segment
	n    int // segments read
	page int // pages read
	left int // segments left in the page
	src  []byte
	done bool

	anywhere bool // begins with another page than the first
}

// ahead reports whether the segment of the block at off is still to be read.
func (s *segmentReader) ahead(off int64) bool { return s.n == 0 || s.cur.first < off }

// next reads the next segment into cur, or sets done.
func (s *segmentReader) next() error {
	r := s.r
	if s.left == 0 {
		if s.page == len(r.foot.statistics) {
			s.done = true
			return nil
		}
		at := r.foot.statistics[s.page]
		s.page++
		w := window{f: &r.file, ctx: s.ctx}
		h, body, err := w.item(at, kindStats)
		if s.anywhere && err == nil {
			s.n, s.anywhere = int(min(h.fields[0], math.MaxInt32)), false
		}
		if err == nil && (h.fields[0] != uint64(s.n) || h.fields[1] == 0 || h.fields[1] > uint64(len(body))) {
			err = encoding.Corruptf("statistics page", "%d segments from %d on, %d were before", h.fields[1], h.fields[0], s.n)
		}
		if err != nil {
			s.done = true
			return r.file.at(err, "statistics page", at.off)
		}
		s.left, s.src = int(h.fields[1]), body
		s.cur = segment{page: at}
	}
	if err := s.parse(); err != nil {
		s.done = true
		return r.file.at(err, "statistics page", s.cur.page.off)
	}
	return nil
}

func (s *segmentReader) parse() error {
	in := reader{src: s.src}
	first, blocks, groups := in.int64(), in.int64(), in.int64()
	if in.bad || blocks == 0 || blocks > segmentGroups || groups < blocks || groups > segmentGroups || first > s.r.file.streamLen-s.cur.first {
		return encoding.Corruptf("statistics page", "a segment of %d blocks, %d row groups", blocks, groups)
	}
	st, rest, err := rowgroup.ParseStats(s.r.foot.schema, in.src)
	if err != nil {
		return err
	}
	s.cur.first += first
	s.cur.blocks, s.cur.groups, s.cur.stats = int(blocks), int(groups), st
	s.n++
	s.left--
	if s.src = rest; s.left == 0 && len(rest) > 0 {
		return encoding.Corruptf("statistics page", "%d bytes left over", len(rest))
	}
	return nil
}

// indexedBlock is what the indexes say of one block.
type indexedBlock struct {
	at          ref
	ordinal     int64
	parts, rows int64  // -1: not known
	key         []byte // of the first partition
	own         *ownEntry
	begins      bool // the partition begins here
	ends        bool
	deletion    rowgroup.Deletion
	open        rowgroup.Deletion
	first, last placeOf
}

// blockIndex yields the blocks in the order of the indexes.
type blockIndex struct {
	r      *Reader
	parts  cursor
	time   cursor
	begun  bool
	own    *ownEntry
	key    []byte
	block  int64
	rows   int64
	number int64 // partitions so far
}

func newBlockIndex(ctx context.Context, r *Reader) *blockIndex {
	w := &window{f: &r.file, ctx: ctx}
	return &blockIndex{r: r, parts: cursor{r: r, win: w, index: indexPartition}, time: cursor{r: r, win: w, index: indexTime}}
}

// visited is the number of index pages gone into.
func (x *blockIndex) visited() int64 { return x.parts.pages + x.time.pages }

// next is the next block, or nil at the end or after an error.
func (x *blockIndex) next() (*indexedBlock, error) {
	if x.own != nil {
		ok, err := x.time.step(1)
		if err != nil {
			x.own, x.begun, x.parts.path = nil, true, nil
			return nil, err
		}
		if ok {
			return x.ownBlock()
		}
		own := x.own
		x.own = nil
		if x.block != own.blocks || x.rows != own.rows {
			p, i := x.parts.leaf()
			return nil, x.r.file.at(encoding.Corruptf(indexPart, "a partition of %d blocks, %d rows: its entry says %d, %d",
				x.block, x.rows, own.blocks, own.rows), indexPart, p.refs[i].off)
		}
	}
	foot := x.r.foot
	var ok bool
	var err error
	switch {
	case x.begun:
		ok, err = x.parts.step(1)
	case foot.root.len > 0:
		ok, err = x.parts.seek(x.r.root(), firstEntry)
	}
	x.begun = true
	if err != nil {
		x.parts.path = nil
		return nil, err
	}
	if !ok {
		if x.number != foot.totals.partitions {
			n := x.number
			x.number = foot.totals.partitions
			return nil, x.r.file.at(encoding.Corruptf(indexPart, "has %d partitions, the footer says %d", n, foot.totals.partitions), indexPart, foot.root.off)
		}
		return nil, nil
	}
	p, i := x.parts.leaf()
	if p.ordinals[i] != x.number {
		x.parts.path = nil
		return nil, x.r.file.at(encoding.Corruptf(indexPart, "partition %d follows %d", p.ordinals[i], x.number), indexPart, p.refs[i].off)
	}
	x.number = p.ordinals[i+1]
	if o := p.ownOf(i); o >= 0 {
		x.own, x.block, x.rows, x.key = &p.own[o], 0, 0, p.keys.At(i)
		if ok, err = x.time.seek(p.timeRoot(o), firstEntry); err != nil || !ok {
			x.own = nil
			return nil, err
		}
		if t, k := x.time.leaf(); t.refs[k] != p.refs[i] {
			x.own = nil
			return nil, x.r.file.at(encoding.Corruptf(indexPart, "the first block is not that of the time index"), indexPart, p.refs[i].off)
		}
		return x.ownBlock()
	}
	return &indexedBlock{at: p.refs[i], ordinal: p.ordinals[i], parts: p.ordinals[i+1] - p.ordinals[i], rows: -1, key: p.keys.At(i)}, nil
}

func (x *blockIndex) ownBlock() (*indexedBlock, error) {
	p, i := x.parts.leaf()
	t, k := x.time.leaf()
	x.block++
	x.rows += t.rows[k]
	return &indexedBlock{
		at: t.refs[k], ordinal: p.ordinals[i], parts: btoi(x.block == 1), rows: t.rows[k], key: x.key, own: x.own,
		begins: x.block == 1, ends: x.block == x.own.blocks, deletion: deletionOf(p.deleted, i),
		open: deletionOf(t.opens, k), first: t.begins(k), last: t.ends(k),
	}, nil
}
