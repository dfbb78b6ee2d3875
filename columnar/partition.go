package columnar

import (
	"bytes"
	"context"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bytestrings"
	"github.com/colsst/colsst/internal/rawfile"
	"github.com/colsst/colsst/rowgroup"
)

// partition is one partition of a file.
type partition struct {
	r    *Reader
	key  []byte
	head rowgroup.PartitionHead // deletion, static state

	// a partition of more than one block
	leaf    *page // of the partition index, or nil
	own     int   // its own entry there
	ordinal int64
	first   ref // its first block

	// a partition within one block
	at     ref
	hdr    header
	groups [2]int                  // of the block that hold it
	index  int                     // its number among the partitions that begin in groups[0]
	opened atomic.Pointer[scratch] // has the block open, for the first iterator
}

// entry is what the partition index knows of a partition of more than one block.
func (p *partition) entry() *ownEntry { return &p.leaf.own[p.own] }

// timeRoot is the root of its time index.
func (p *partition) timeRoot() node { return p.leaf.timeRoot(p.own) }

// Partition finds a partition by its exact key. It fails with
// rowgroup.ErrNotFound if there is none.
func (r *Reader) Partition(ctx context.Context, key []byte) (rowgroup.Partition, error) {
	s, err := r.scratch(ctx)
	if err != nil {
		return nil, err
	}
	p := new(partition)
	err = r.find(ctx, key, s, p)
	if err == nil && p.leaf == nil {
		p.opened.Store(s)
		_ = r.leave() // it may never be read; see iter
		return p, nil
	}
	r.release(s)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// find finds a partition in the index. That of one block is then open in s.
func (r *Reader) find(ctx context.Context, key []byte, s *scratch, q *partition) (err error) {
	if err := r.check(ctx); err != nil {
		return err
	}
	if r.file.mapped {
		defer rawfile.Catch(rawfile.Guard(), &err)
	}
	if r.foot.totals.partitions == 0 {
		return rowgroup.ErrNotFound
	}
	found := false
	if r.ordered {
		found, err = r.findOrdered(ctx, key, s, q)
	} else {
		found, err = r.findAnywhere(ctx, key, s, q)
	}
	if err == nil && !found {
		err = rowgroup.ErrNotFound
	}
	return err
}

// findOrdered goes down the index. Before anything is read for it the filter
// is asked.
func (r *Reader) findOrdered(ctx context.Context, key []byte, s *scratch, q *partition) (bool, error) {
	asked := false
	var above *page
	i := 0
	for n := r.root(); ; n = above.child(i) {
		if !asked && n.in.Load() == nil {
			if may, err := r.mayContain(ctx, key); err != nil || !may {
				return false, err
			}
			asked = true
		}
		p, err := r.page(&s.win, n, indexPartition, above, i)
		if err != nil {
			return false, err
		}
		if i = p.lastUpTo(r.foot.schema, r.byBytes, key); i < 0 {
			if above != nil {
				err = r.file.at(encoding.Corruptf(indexPart, "its entries are not what the page above says"), indexPart, n.at.off)
			}
			return false, err
		}
		if above = p; n.level == 0 {
			break
		}
	}
	if above.ownOf(i) < 0 && !asked {
		if may, err := r.mayContain(ctx, key); err != nil || !may {
			return false, err
		}
	}
	return r.inEntry(above, i, key, s, q)
}

// lastUpTo is the last entry of a partition page whose key is not behind key,
// or -1.
func (p *page) lastUpTo(s *rowgroup.Schema, byBytes bool, key []byte) int {
	lo, hi := 0, p.len()
	if byBytes {
		lo, hi = p.sameHead(key)
	}
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		var c int
		if byBytes {
			c = bytes.Compare(p.keys.At(m), key)
		} else {
			c, _ = s.ComparePartitions(p.keys.At(m), key)
		}
		if c > 0 {
			hi = m
		} else {
			lo = m + 1
		}
	}
	return lo - 1
}

// sameHead are the entries [lo, hi) that the beginnings of the keys do not tell
// from key: those before are less, those behind greater.
func (p *page) sameHead(key []byte) (lo, hi int) {
	n := p.len()
	first := p.keys.At(0)
	switch c := bytes.Compare(key[:min(len(key), p.prefix)], first[:p.prefix]); {
	case c < 0:
		return 0, 0
	case c > 0:
		return n, n
	}
	head := headOf(key[p.prefix:])
	lo, hi = 0, n
	for lo < hi {
		if m := int(uint(lo+hi) >> 1); p.heads[m] < head {
			lo = m + 1
		} else {
			hi = m
		}
	}
	for hi = lo; hi < n && p.heads[hi] == head; hi++ {
	}
	return lo, hi
}

// findAnywhere looks into every entry: without a known order each may hold the
// key.
func (r *Reader) findAnywhere(ctx context.Context, key []byte, s *scratch, q *partition) (bool, error) {
	if may, err := r.mayContain(ctx, key); err != nil || !may {
		return false, err
	}
	cur := cursor{r: r, win: &window{f: &r.file, ctx: ctx}, index: indexPartition}
	ok, err := cur.seek(r.root(), firstEntry)
	for ok && err == nil {
		if err := r.check(ctx); err != nil {
			return false, err
		}
		p, i := cur.leaf()
		if found, err := r.inEntry(p, i, key, s, q); found || err != nil {
			return found, err
		}
		ok, err = cur.step(1)
	}
	return false, err
}

// inEntry finds a partition in entry i of a leaf.
func (r *Reader) inEntry(p *page, i int, key []byte, s *scratch, q *partition) (bool, error) {
	if k := p.ownOf(i); k >= 0 {
		if !bytes.Equal(p.keys.At(i), key) {
			return false, nil
		}
		q.setOwn(r, p, i, k)
		return true, nil
	}
	found, err := r.inBlock(s, p, i, key, q)
	return found, r.file.at(err, "block", p.refs[i].off)
}

// setOwn makes p the partition of entry i of leaf, own entry k.
func (p *partition) setOwn(r *Reader, leaf *page, i, k int) {
	p.r, p.key, p.leaf, p.own = r, append(p.key[:0], leaf.keys.At(i)...), leaf, k
	p.ordinal, p.first = leaf.ordinals[i], leaf.refs[i]
	p.head = rowgroup.PartitionHead{Deletion: deletionOf(leaf.deleted, i)}
	if leaf.own[k].static {
		p.head.Static = rowgroup.StaticFull
	}
}

// inBlock opens the block of entry i and finds a partition in it.
func (r *Reader) inBlock(s *scratch, p *page, i int, key []byte, q *partition) (bool, error) {
	at := p.refs[i]
	h, blk, err := s.openAt(r, at)
	if err != nil {
		return false, err
	}
	if err := checkShared(&blk, p, i); err != nil {
		return false, err
	}
	f := keyFinder{r: r, s: s, page: p, entry: i, key: key}
	g, k, err := f.find(blk.groups)
	if err != nil || g < 0 {
		return false, err
	}
	// It ends in this group or, if it is the group's last, with the groups
	// that follow and begin no partition.
	end := g + 1
	for k == f.keys.Len()-1 && end < blk.groups && s.dec.GroupPartitions(end) == 0 {
		end++
	}
	if q.head, err = s.dec.Head(g, k); err != nil {
		return false, err
	}
	q.r, q.key, q.leaf = r, append(q.key[:0], key...), nil
	q.at, q.hdr, q.groups, q.index = at, h, [2]int{g, end}, k
	return true, nil
}

// keyFinder finds a key in the open block of entry i of a partition page.
type keyFinder struct {
	r     *Reader
	s     *scratch
	page  *page
	entry int
	key   []byte
	keys  *bytestrings.Strings // of the group looked at last
}

// find is the group where the partition of the key begins, and its number
// among those that do; keys are then those of that group.
// The group is -1 if there is none.
func (f *keyFinder) find(groups int) (g, k int, err error) {
	if !f.r.ordered {
		for g := range groups {
			if k, err := f.within(g); err != nil || k >= 0 {
				return g, k, err
			}
		}
		return -1, 0, nil
	}
	g = f.guess(groups)
	for lo, hi := 0, groups; lo < hi; {
		if g < lo || g >= hi {
			g = lo + (hi-lo)/2
		}
		at := g
		for at > lo && f.s.dec.GroupPartitions(at) == 0 {
			at--
		}
		if f.s.dec.GroupPartitions(at) == 0 { // none begins in [lo, g]
			lo = g + 1
			continue
		}
		k, err := f.within(at)
		if err != nil || k >= 0 {
			return at, k, err
		}
		if f.compare(0) > 0 {
			hi, g = at, at-1
		} else if f.compare(f.keys.Len()-1) < 0 {
			lo, g = g+1, g+1
		} else {
			break
		}
	}
	return -1, 0, f.checkOrder(groups)
}

// compare is where key i of the group stands to the key.
func (f *keyFinder) compare(i int) int {
	if f.r.byBytes {
		return bytes.Compare(f.keys.At(i), f.key)
	}
	c, _ := f.r.foot.schema.ComparePartitions(f.keys.At(i), f.key)
	return c
}

// checkOrder refuses keys of the open block that are not in order, among which
// the key can be missed.
func (f *keyFinder) checkOrder(groups int) error {
	s, schema, first := f.s, f.r.foot.schema, true
	for g := range groups {
		if s.dec.GroupPartitions(g) == 0 {
			continue
		}
		keys, err := s.dec.Keys(g)
		if err != nil {
			return err
		}
		for i := range keys.Len() {
			last := s.key
			if i > 0 {
				last = keys.At(i - 1)
			}
			if c, _ := schema.ComparePartitions(last, keys.At(i)); c >= 0 && !first {
				return encoding.Corruptf("block", "key %d of row group %d is not behind the one before", i, g)
			}
			first = false
		}
		s.key = append(s.key[:0], keys.At(keys.Len()-1)...)
	}
	return nil
}

// guess is the group where the key would be if keys were spread evenly.
func (f *keyFinder) guess(groups int) int {
	p, i := f.page, f.entry
	if !f.r.byBytes || i+1 >= p.len() || p.heads[i] >= p.heads[i+1] || len(f.key) < p.prefix {
		return groups / 2
	}
	from, to := float64(p.heads[i]), float64(p.heads[i+1])
	share := min(max(0, (float64(headOf(f.key[p.prefix:]))-from)/(to-from)), 1)
	return min(groups-1, int(share*float64(groups)))
}

// within decodes the keys of group g and returns which is the key, or -1.
func (f *keyFinder) within(g int) (int, error) {
	keys, err := f.s.dec.Keys(g)
	if err != nil {
		return 0, err
	}
	f.keys = keys
	n := keys.Len()
	if g == 0 && (n == 0 || !bytes.Equal(keys.At(0), f.page.keys.At(f.entry))) {
		return 0, encoding.Corruptf("block", "its first key is not that of its index entry")
	}
	lo := 0
	for hi := n; f.r.ordered && lo < hi; {
		m := int(uint(lo+hi) >> 1)
		if f.compare(m) < 0 {
			lo = m + 1
		} else {
			hi = m
		}
	}
	for ; lo < n; lo++ {
		if bytes.Equal(keys.At(lo), f.key) {
			return lo, nil
		}
		if f.r.ordered {
			break
		}
	}
	return -1, nil
}

// Key is the partition's key.
func (p *partition) Key() []byte { return slices.Clone(p.key) }

// Range reads the unfiltereds between two bounds.
func (p *partition) Range(ctx context.Context, from, to rowgroup.Bound, o rowgroup.ScanOptions) rowgroup.Iter {
	if err := p.checkRange(from, to, &o); err != nil {
		return &failed{err}
	}
	it := p.iter(ctx, o)
	it.setRange(from, to)
	return it
}

func (p *partition) checkRange(from, to rowgroup.Bound, o *rowgroup.ScanOptions) error {
	s := p.r.foot.schema
	if err := s.CheckBound(from); err != nil {
		return err
	}
	if err := s.CheckBound(to); err != nil {
		return err
	}
	return p.r.checkColumns(o)
}

// iter begins to read the whole partition.
func (p *partition) iter(ctx context.Context, o rowgroup.ScanOptions) *partIter {
	it := &partIter{p: p}
	s := p.opened.Swap(nil)
	opened := s != nil
	if opened {
		if !p.r.enter() {
			it.err = p.r.check(ctx)
			return it
		}
		s.win.ctx = ctx
	} else if s, it.err = p.r.scratch(ctx); it.err != nil {
		return it
	}
	it.begin(ctx, p, o, s)
	it.opened = opened
	return it
}

// begin makes it read the whole of p with s, which it releases at the end.
func (it *partIter) begin(ctx context.Context, p *partition, o rowgroup.ScanOptions, s *scratch) {
	*it = partIter{p: p, ctx: ctx, o: o, decode: decodeOptions(o), limit: -1, s: s}
	it.cur = cursor{r: p.r, win: &s.win, index: indexTime}
	it.setRange(rowgroup.Bound{}, rowgroup.Bound{})
	if len(o.Within) > 0 {
		it.skip = newSegmentFilter(p.r, &o)
	}
}

func (it *partIter) setRange(from, to rowgroup.Bound) {
	it.from, it.to = from, to
	if r := it.p.r; r.ints {
		it.fromInt, it.toInt = r.order.Bound(from, true), r.order.Bound(to, false)
	}
}

// partIter reads one partition, block by block.
type partIter struct {
	p        *partition
	ctx      context.Context
	o        rowgroup.ScanOptions
	decode   rowgroup.ScanOptions
	from, to rowgroup.Bound
	fromInt  rowgroup.IntBound // the same, if the table has an IntOrder
	toInt    rowgroup.IntBound
	limit    int      // rows still to read, or -1 for all
	s        *scratch // nil at the end
	lent     bool     // s belongs to another
	opened   bool     // s has the partition's one block open
	cur      cursor
	known    *knownSegments // what need not be read, in ascending reads
	skip     *segmentFilter // or has no row that is wanted
	live     rowgroup.LiveFilter
	rows     rowgroup.RowRange
	unit     readUnit
	started  bool // a block was read
	last     bool // the range ends in it
	headed   bool // the head was given
	err      error
}

// readUnit is what is left to read of the open block.
type readUnit struct {
	groups [2]int
	start  int // the first group, before any was read
	begins int // the group that begins the partition, or -1
	index  int // its number among those that begin there
	whole  bool
	open   rowgroup.Deletion // at start or, reading forward, at groups[0]
	at     int64
}

func (it *partIter) Close() error {
	if it.s != nil && !it.lent {
		it.p.r.release(it.s)
	}
	it.s = nil
	return nil
}

func (it *partIter) Next(b *rowgroup.Batch) (ok bool, err error) {
	if it.s != nil && it.p.r.file.mapped {
		defer rawfile.Catch(rawfile.Guard(), &err, &it.err)
	}
	for it.s != nil && it.err == nil {
		var ok bool
		switch {
		case it.limit == 0:
			_ = it.Close()
		case it.unit.groups[0] < it.unit.groups[1]:
			if ok, it.err = it.read(b); it.err != nil {
				it.err = it.p.r.file.at(it.err, "block", it.unit.at)
			}
		default:
			if it.err = it.p.r.check(it.ctx); it.err != nil {
				break
			}
			more := false
			if more, ok, it.err = it.nextBlock(b); it.err == nil && !more {
				ok, it.err = it.headOnly(b)
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

// nextBlock opens the next block, if there are more, and chooses its groups, or
// gives its rows in b at once.
func (it *partIter) nextBlock(b *rowgroup.Batch) (more, given bool, err error) {
	p := it.p
	if p.leaf == nil {
		if it.started {
			return false, false, nil
		}
		it.started = true
		if err := it.openShared(); err != nil {
			return false, false, p.r.file.at(err, "block", p.at.off)
		}
		it.unit = readUnit{
			groups: p.groups, start: p.groups[0], begins: p.groups[0], index: p.index, open: rowgroup.LiveDeletion,
			at: p.at.off, whole: len(it.from.Prefix)+len(it.to.Prefix) == 0,
		}
		return true, false, nil
	}
	if more, err = it.nextEntry(); err != nil || !more {
		return false, false, err
	}
	page, i := it.cur.leaf()
	if given, err = it.openOwn(b, page, i); err != nil {
		return false, false, p.r.file.at(err, "block", page.refs[i].off)
	}
	return true, given, nil
}

// openShared opens the block that holds the partition.
func (it *partIter) openShared() error {
	if it.opened {
		return nil
	}
	h, _, err := it.s.openAt(it.p.r, it.p.at)
	if err == nil && h != it.p.hdr {
		err = encoding.Corruptf("block", "it changed since it was read first")
	}
	return err
}

// before reports whether entry i of a time page ends before the range.
func (it *partIter) before(p *page, i int) bool {
	if p.lastInt != nil {
		return it.fromInt.Compare(p.lastInt[i]) < 0
	}
	return it.p.r.foot.schema.PositionToBound(&p.lastAt[i], it.from, true) < 0
}

// behind reports whether entry i of a time page begins behind the range.
func (it *partIter) behind(p *page, i int) bool {
	if p.firstInt != nil {
		return it.toInt.Compare(p.firstInt[i]) > 0
	}
	return it.p.r.foot.schema.PositionToBound(&p.firstAt[i], it.to, false) > 0
}

// within reports whether entry i of a time page lies wholly in the range.
func (it *partIter) within(p *page, i int) bool {
	if p.firstInt != nil {
		return it.fromInt.Compare(p.firstInt[i]) > 0 && it.toInt.Compare(p.lastInt[i]) < 0
	}
	s := it.p.r.foot.schema
	return s.PositionToBound(&p.firstAt[i], it.from, true) > 0 && s.PositionToBound(&p.lastAt[i], it.to, false) < 0
}

// reachesBefore reports whether entry i of a time page begins before the range.
func (it *partIter) reachesBefore(p *page, i int) bool {
	if p.firstInt != nil {
		return it.fromInt.Compare(p.firstInt[i]) < 0
	}
	return it.p.r.foot.schema.PositionToBound(&p.firstAt[i], it.from, true) < 0
}

// reachesBehind reports whether entry i of a time page ends behind the range.
func (it *partIter) reachesBehind(p *page, i int) bool {
	if p.lastInt != nil {
		return it.toInt.Compare(p.lastInt[i]) > 0
	}
	return it.p.r.foot.schema.PositionToBound(&p.lastAt[i], it.to, false) > 0
}

// firstOf is the entry of a time page that the range begins in or, backwards,
// ends in; out of the page if there is none.
func (it *partIter) firstOf(p *page) int {
	lo, hi := 0, p.len()
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if it.o.Desc && !it.behind(p, m) || !it.o.Desc && it.before(p, m) {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if it.o.Desc {
		return lo - 1
	}
	return lo
}

// nextEntry goes to the next entry of the time index that can lie in the range.
func (it *partIter) nextEntry() (ok bool, err error) {
	dir := 1
	if it.o.Desc {
		dir = -1
	}
	if it.last {
		return false, nil
	}
	if it.started {
		ok, err = it.cur.step(dir)
	} else if err = it.readEnd(); err == nil {
		ok, err = it.cur.seek(it.p.timeRoot(), it.firstOf)
	}
	it.started = true
	for err == nil && ok && it.known != nil {
		var taken bool
		if taken, err = it.known.take(&it.cur, it.reachesBefore, it.reachesBehind); err != nil || !taken {
			break
		}
		ok, err = it.cur.step(1)
	}
	for err == nil && ok {
		page, i := it.cur.leaf()
		if it.o.Desc && it.before(page, i) || !it.o.Desc && it.behind(page, i) {
			return false, nil
		}
		if it.skip == nil {
			return true, nil
		}
		var out bool
		if out, err = it.skip.excludes(it.ctx, page.refs[i].off); !out {
			break
		}
		ok, err = it.cur.step(dir)
	}
	return ok, err
}

// endBytes is how much of a partition is read with the root of its time index
// where the last rows are wanted: the pages below and the last block.
const endBytes = 12 << 10

// readEnd reads the end of the partition at once, blocks and time index, if it
// is to be read from there and its index is not known.
func (it *partIter) readEnd() error {
	n := it.p.timeRoot()
	if !it.o.Desc || len(it.to.Prefix) > 0 || n.in.Load() != nil {
		return nil
	}
	from := max(it.p.first.off, n.at.off-endBytes)
	_, err := it.s.win.bytes(from, n.at.end()-from, 0)
	return it.p.r.file.at(err, indexPart, n.at.off)
}

// openOwn opens the block of entry i of the time index, or gives its rows in b.
func (it *partIter) openOwn(b *rowgroup.Batch, page *page, i int) (given bool, err error) {
	p, at := it.p, page.refs[i]
	h, body, err := it.s.block(p.r, at)
	if err != nil {
		return false, err
	}
	blk, err := h.block()
	if err != nil {
		return false, err
	}
	first, whole := at.off == p.first.off, it.within(page, i)
	n := blk.rows // given
	if it.plain(first) {
		switch {
		case whole && it.limit < 0:
			given = it.s.whole(b, p.r, &blk, body, p.key, &it.decode)
		case whole || page.firstInt != nil:
			it.rows = rowgroup.RowRange{Start: it.fromInt, End: it.toInt, Limit: it.limit, Last: it.o.Desc}
			if !whole {
				it.rows.Order = &p.r.order
			}
			n, given = it.s.within(b, p.r, &blk, body, p.key, &it.rows, &it.decode)
		}
	}
	if !given {
		if _, err := it.s.open(p.r, &h, body); err != nil {
			return false, err
		}
	}
	if blk.ordinal != p.ordinal || int64(blk.rows) != page.rows[i] || (blk.parts == 1) != first || blk.parts > 1 {
		return false, encoding.Corruptf("block", "%d rows of partition %d, its index entry says %d of %d", blk.rows, blk.ordinal, page.rows[i], p.ordinal)
	}
	u := readUnit{groups: [2]int{0, blk.groups}, begins: -1, open: deletionOf(page.opens, i), at: at.off}
	if first {
		u.begins = 0
	}
	u.whole = whole
	if it.o.Desc {
		it.last = it.reachesBefore(page, i)
	} else {
		it.last = it.reachesBehind(page, i)
	}
	if given {
		u.groups[0] = u.groups[1]
	}
	it.unit = u
	switch {
	case given && first && (b.NumPartitions() != 1 || !slices.Equal(b.Key(0), p.key)):
		return false, encoding.Corruptf("block", "its key is not that of its index entry")
	case given && n == 0:
		return false, nil
	case given:
		if it.limit >= 0 {
			it.limit -= n
		}
		if !first && !it.headed {
			b.Partition(0).Deletion = p.head.Deletion
		}
		it.give(b)
		return true, nil
	case u.whole || p.entry().markers:
		return false, nil
	}
	if page.firstInt != nil {
		if ok, err := it.narrowInts(page, i); ok || err != nil {
			return false, err
		}
	}
	return false, it.narrow(&it.unit)
}

// plain reports whether all rows of a block, the first of its partition or not,
// are given as they are decoded.
func (it *partIter) plain(first bool) bool {
	return !it.o.Live && (first && !it.headed || !first && (it.headed || it.p.head.Static == rowgroup.StaticAbsent))
}

// keysOnly are the options to decode nothing but keys, clustering and markers.
var keysOnly = rowgroup.ScanOptions{Columns: []int{}, WithoutMetadata: true}

// probe decodes of group g what keysOnly says.
func (it *partIter) probe(g int) (*rowgroup.Batch, error) {
	b := it.s.single
	b.Clear()
	if it.s.dec.GroupPartitions(g) == 0 {
		b.BeginPartition(it.p.key)
	}
	return b, it.s.dec.Decode(b, g, g+1, &keysOnly)
}

// firstInt is the value of the first unfiltered of group g. ok is false if it
// has none.
func (it *partIter) firstInt(g int) (v int64, ok bool, err error) {
	order := &it.p.r.order
	if v, ok = it.s.dec.FirstInt(order, g); ok || it.s.dec.GroupRows(g) == 0 {
		return v, ok, nil
	}
	b, err := it.probe(g)
	if err == nil {
		v, ok = order.At(b, 0)
	}
	return v, ok, err
}

// lastBefore is the last group of the open block, entry i of a time page, that
// begins before the bound, at least the first. It looks first where the group
// would be if the rows were spread evenly. ok is false if a group has no value.
func (it *partIter) lastBefore(page *page, i int, bound rowgroup.IntBound) (g int, ok bool, err error) {
	lo, hi := 0, it.unit.groups[1] // lo begins before the bound, hi does not
	from, to := float64(page.firstInt[i]), float64(page.lastInt[i])
	share := min(max(0, (float64(bound.Value)-from)/(to-from+1)), 1)
	g = int(share * float64(hi))
	for step := 1; lo+1 < hi; step *= 2 {
		if g = min(max(g, lo+1), hi-1); step > 1 && step >= (hi-lo)/2 {
			g = lo + (hi-lo)/2
		}
		v, ok, err := it.firstInt(g)
		if err != nil || !ok {
			return 0, false, err
		}
		if bound.Compare(v) < 0 {
			lo, g = g, g+step
		} else {
			hi, g = g, g-step
		}
	}
	return lo, true, nil
}

// narrowInts leaves of the unit, the block of entry i of a time page, the
// groups that reach into the range. It reports whether it could.
func (it *partIter) narrowInts(page *page, i int) (ok bool, err error) {
	u, dec := &it.unit, it.s.dec
	if from, to, ok := dec.GroupsWithin(&it.p.r.order, it.fromInt, it.toInt); ok {
		u.groups = [2]int{from, to}
		return true, nil
	}
	from, ok, err := it.lastBefore(page, i, it.fromInt)
	if err != nil || !ok {
		return false, err
	}
	to, ok, err := it.lastBefore(page, i, it.toInt)
	if err != nil || !ok || to < from {
		return false, err
	}
	u.groups = [2]int{from, to + 1}
	return true, nil
}

// narrow leaves of a unit without markers the groups that reach into the range.
func (it *partIter) narrow(u *readUnit) (err error) {
	s := it.p.r.foot.schema
	behind := func(g int, last bool, bound rowgroup.Bound, isStart bool) bool {
		if err != nil {
			return false
		}
		b, e := it.probe(g)
		if err = e; err != nil || b.Len() == 0 {
			return false
		}
		row := 0
		if last {
			row = b.Len() - 1
		}
		return s.CompareToBound(b, row, bound, isStart) > 0
	}
	n := u.groups[1]
	lo := sort.Search(n, func(g int) bool { return behind(g, true, it.from, true) })
	hi := lo + sort.Search(n-lo, func(g int) bool { return behind(lo+g, false, it.to, false) })
	u.groups = [2]int{lo, hi}
	return err
}

// take chooses the groups to read now: what is decoded in one step, and of a
// partition without markers as few as can hold the rows still wanted.
func (it *partIter) take() (from, to int) {
	dec, u := it.s.dec, &it.unit
	from, to = u.groups[0], u.groups[1]
	n := it.s.fits(from, to, it.o.Desc)
	if it.limit >= 0 && it.p.leaf != nil && !it.p.entry().markers {
		k := 0
		for rows := 0; k < n && rows < it.limit; k++ {
			if it.o.Desc {
				rows += dec.GroupRows(to - 1 - k)
			} else {
				rows += dec.GroupRows(from + k)
			}
		}
		n = k
	}
	if it.o.Desc {
		u.groups[1] = to - n
		return to - n, to
	}
	u.groups[0] = from + n
	return from, from + n
}

// openAt is the range deletion open at the start of group g, which is the next
// to be read.
func (it *partIter) openAt(g int) (rowgroup.Deletion, error) {
	u := &it.unit
	open := u.open
	for k := u.start; it.o.Desc && k < g && (it.p.leaf == nil || it.p.entry().markers); k++ {
		b, err := it.probe(k)
		if err != nil {
			return open, err
		}
		open = openAfter(b, open)
	}
	return open, nil
}

// openAfter is the range deletion open after the rows of b.
func openAfter(b *rowgroup.Batch, open rowgroup.Deletion) rowgroup.Deletion {
	for _, m := range *b.Markers() {
		open = rowgroup.LiveDeletion
		if m.Kind.Opens() {
			open = m.Open
		}
	}
	return open
}

// read reads groups of the open block into b and reports whether that gave
// anything.
func (it *partIter) read(b *rowgroup.Batch) (bool, error) {
	p, u, s := it.p, &it.unit, it.s
	from, to := it.take()
	first := from == u.begins
	open, err := rowgroup.LiveDeletion, error(nil)
	if it.o.Live {
		if open, err = it.openAt(from); err != nil {
			return false, err
		}
	}
	// Rows are decoded where they are wanted, unless the head stands elsewhere,
	// or stands here where it does not belong.
	direct := it.headed || p.head.Static == rowgroup.StaticAbsent
	if first {
		direct = !it.headed
	}
	if direct && !first && !it.o.Live && to-from == 1 {
		if done, ok, err := it.readRows(b, from); ok {
			return done, err
		}
	}
	dst := b
	if !direct {
		dst = s.batch
	}
	dst.Clear()
	if !first {
		dst.BeginPartition(p.key).Continued = true
	}
	if first {
		err = s.dec.DecodePartition(dst, from, to, u.index, &it.decode)
	} else {
		err = s.dec.Decode(dst, from, to, &it.decode)
	}
	if err != nil {
		return false, err
	}
	if n := dst.NumPartitions(); n > 1 {
		return false, encoding.Corruptf("block", "%d partitions where one goes on", n)
	}
	if first && !slices.Equal(dst.Key(0), p.key) {
		return false, encoding.Corruptf("block", "its key is not that of its index entry")
	}
	if it.o.Live {
		if !it.o.Desc {
			u.open = openAfter(dst, open)
		}
		it.live.Reset(it.o.Now, false)
		it.live.BeginPartition(p.head.Deletion)
		it.live.SetOpen(open)
		it.live.Apply(dst)
		if dst.NumPartitions() == 0 {
			return false, nil
		}
	}
	if direct {
		lo, hi := it.wanted(b)
		if lo >= hi {
			return false, nil
		}
		b.Cut(0, lo, hi)
		if !first && !it.headed && !it.o.Live {
			b.Partition(0).Deletion = p.head.Deletion
		}
		it.give(b)
		return true, nil
	}
	return it.cut(b, dst, first)
}

// readRows is read of group g, in which the partition goes on, if the rows that
// are wanted can be told and decoded by themselves.
func (it *partIter) readRows(b *rowgroup.Batch, g int) (done, ok bool, err error) {
	r, dec := it.p.r, it.s.dec
	lo, hi := 0, dec.GroupRows(g)
	if !it.unit.whole {
		if !r.ints {
			return false, false, nil
		}
		if lo, ok = dec.SearchInt(&r.order, g, it.fromInt); !ok {
			return false, false, nil
		}
		if hi, ok = dec.SearchInt(&r.order, g, it.toInt); !ok {
			return false, false, nil
		}
	}
	n := hi - lo
	if it.limit >= 0 {
		n = min(n, it.limit)
	}
	if it.o.Desc {
		lo = hi - n
	} else {
		hi = lo + n
	}
	b.Clear()
	h := b.BeginPartition(it.p.key)
	h.Continued = true
	if !it.headed {
		h.Deletion = it.p.head.Deletion
	}
	if ok, err = dec.DecodeRows(b, g, lo, hi, &it.decode); !ok || err != nil {
		return false, ok, err
	}
	if it.limit >= 0 {
		it.limit -= n
	}
	it.give(b)
	return true, true, nil
}

// wanted are the unfiltereds of src, which holds rows of the partition, that
// are wanted.
func (it *partIter) wanted(src *rowgroup.Batch) (lo, hi int) {
	hi = src.Len()
	if !it.unit.whole {
		lo = it.search(src, lo, hi, it.from, it.fromInt, true)
		hi = it.search(src, lo, hi, it.to, it.toInt, false)
	}
	if it.limit >= 0 {
		lo, hi = it.latest(src, lo, hi)
	}
	return lo, hi
}

// search is Schema.SearchBound for a bound in both forms.
func (it *partIter) search(src *rowgroup.Batch, lo, hi int, bound rowgroup.Bound, ints rowgroup.IntBound, isStart bool) int {
	if r := it.p.r; r.ints {
		if i, ok := r.order.Search(src, lo, hi, ints); ok {
			return i
		}
	}
	return it.p.r.foot.schema.SearchBound(src, lo, hi, bound, isStart)
}

// give finishes a batch of rows in stored order.
func (it *partIter) give(b *rowgroup.Batch) {
	b.Partition(0).Continued = it.headed
	it.headed = true
	b.Strip(&it.o)
	if it.o.Desc {
		b.Reverse()
	}
}

// cut gives of src, which holds rows of the partition, those that are wanted.
func (it *partIter) cut(b, src *rowgroup.Batch, first bool) (bool, error) {
	lo, hi := it.wanted(src)
	if lo >= hi {
		return false, nil
	}
	b.Clear()
	var err error
	switch {
	case it.headed:
		b.BeginPartition(it.p.key).Continued = true
	case first:
		err = b.AppendParts(src, 0, 0, 0, 1)
	default:
		err = it.head(b)
	}
	if err == nil {
		err = b.AppendParts(src, lo, hi, 0, 0)
	}
	if err != nil {
		return false, err
	}
	it.give(b)
	return true, nil
}

// latest leaves of [lo, hi) at most limit rows, from the end that is read
// first, and counts them.
func (it *partIter) latest(src *rowgroup.Batch, lo, hi int) (int, int) {
	if len(*src.Markers()) == 0 {
		n := min(it.limit, hi-lo)
		it.limit -= n
		if it.o.Desc {
			return hi - n, hi
		}
		return lo, lo + n
	}
	from, to := lo, lo
	if it.o.Desc {
		from, to = hi, hi
	}
	for it.limit > 0 && to-from < hi-lo {
		at := to
		if it.o.Desc {
			from--
			at = from
		} else {
			to++
		}
		if src.MarkerAt(at) == nil {
			it.limit--
		}
	}
	return from, to
}

// head begins the partition in b with its deletion and static row, where the
// group that begins it is not at hand.
func (it *partIter) head(b *rowgroup.Batch) error {
	p := it.p
	if p.head.Static == rowgroup.StaticAbsent {
		h := b.BeginPartition(p.key)
		if !it.o.Live {
			h.Deletion = p.head.Deletion
		}
		return nil
	}
	s, err := p.r.scratch(it.ctx)
	if err != nil {
		return err
	}
	defer p.r.release(s)
	dec, at := it.s.dec, p.at.off
	if p.leaf != nil {
		dec, at = s.dec, p.first.off
		if _, _, err := s.openAt(p.r, p.first); err != nil {
			return p.r.file.at(err, "block", at)
		}
	}
	g := p.groups[0] // 0 of the first block
	if n := dec.GroupPartitions(g); p.index >= n || p.leaf != nil && n > 1 {
		return p.r.file.at(encoding.Corruptf("block", "%d partitions begin where partition %d does", n, p.index), "block", at)
	}
	s.batch.Clear()
	if err := dec.Decode(s.batch, g, g+1, &it.decode); err != nil {
		return p.r.file.at(err, "block", at)
	}
	head := s.single
	head.Clear()
	if err := head.AppendParts(s.batch, 0, 0, p.index, p.index+1); err != nil {
		return err
	}
	head.Partition(0).Start = 0
	if it.o.Live {
		it.live.Reset(it.o.Now, false)
		it.live.Apply(head)
	}
	if head.NumPartitions() == 0 {
		b.BeginPartition(p.key)
		return nil
	}
	return b.AppendParts(head, 0, 0, 0, 1)
}

// headOnly gives the head of a partition that was read as a whole without
// giving any rows.
func (it *partIter) headOnly(b *rowgroup.Batch) (bool, error) {
	if it.headed || it.limit >= 0 || len(it.from.Prefix)+len(it.to.Prefix) > 0 {
		return false, nil
	}
	b.Clear()
	if err := it.head(b); err != nil {
		return false, err
	}
	b.Strip(&it.o)
	return !it.o.Live || b.Partition(0).Static != rowgroup.StaticAbsent, nil
}
