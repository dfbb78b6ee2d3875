package columnar

import (
	"context"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// partition is one partition of a file.
type partition struct {
	r    *Reader
	key  []byte
	head rowgroup.PartitionHead // deletion, static state

	// a partition of more than one block
	own     *ownEntry
	ordinal int64
	first   ref // its first block

	// a partition within one block
	at     ref
	hdr    header
	groups [2]int                  // of the block that hold it
	index  int                     // its number among the partitions that begin in groups[0]
	opened atomic.Pointer[scratch] // has the block open, for the first iterator
}

// Partition finds a partition by its exact key. It fails with
// rowgroup.ErrNotFound if there is none.
func (r *Reader) Partition(ctx context.Context, key []byte) (rowgroup.Partition, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	may, err := r.mayContain(key)
	if err != nil {
		return nil, err
	}
	if !may {
		return nil, rowgroup.ErrNotFound
	}
	p, err := r.find(ctx, key)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, rowgroup.ErrNotFound
	}
	return p, nil
}

// find finds a partition in the index, or returns nil.
func (r *Reader) find(ctx context.Context, key []byte) (*partition, error) {
	cur := cursor{r: r, index: indexPartition}
	foot := r.foot
	s := foot.schema
	if _, ordered := s.ComparePartitions(key, key); ordered {
		ok, err := cur.seek(foot.root, foot.rootLevel, func(p *page) int {
			return sort.Search(p.len(), func(i int) bool {
				c, _ := s.ComparePartitions(p.keys.At(i), key)
				return c > 0
			}) - 1
		})
		if err != nil || !ok {
			return nil, err
		}
		p, i := cur.leaf()
		return r.inEntry(p, i, key)
	}
	// Without a known order every entry may hold the key.
	ok, err := cur.seek(foot.root, foot.rootLevel, firstEntry)
	for ok && err == nil {
		if err = r.check(ctx); err != nil {
			break
		}
		p, i := cur.leaf()
		found, err := r.inEntry(p, i, key)
		if found != nil || err != nil {
			return found, err
		}
		ok, err = cur.step(1)
		if err != nil {
			return nil, err
		}
	}
	return nil, err
}

// inEntry finds a partition in entry i of a leaf, or returns nil.
func (r *Reader) inEntry(p *page, i int, key []byte) (*partition, error) {
	if o := p.ownOf(i); o != nil {
		if !slices.Equal(p.keys.At(i), key) {
			return nil, nil
		}
		return r.ownPartition(p, i, o), nil
	}
	s := r.scratch()
	found, err := r.inBlock(s, p, i, key)
	if found != nil {
		found.opened.Store(s)
	} else {
		r.release(s)
	}
	if err != nil {
		return nil, r.file.at(err, "block", p.refs[i].off)
	}
	return found, nil
}

func (r *Reader) ownPartition(p *page, i int, o *ownEntry) *partition {
	q := &partition{r: r, key: slices.Clone(p.keys.At(i)), own: o, ordinal: p.ordinals[i], first: p.refs[i]}
	q.head.Deletion = deletionOf(p.deleted, i)
	if o.static {
		q.head.Static = rowgroup.StaticFull
	}
	return q
}

// inBlock opens the block of entry i and finds a partition in it, or returns
// nil.
func (r *Reader) inBlock(s *scratch, p *page, i int, key []byte) (*partition, error) {
	at := p.refs[i]
	h, body, err := s.win.item(at, kindData)
	if err != nil {
		return nil, err
	}
	blk, err := s.open(r, &h, body)
	if err != nil {
		return nil, err
	}
	if err := checkShared(&blk, p, i); err != nil {
		return nil, err
	}
	keys := s.batch
	for g := range blk.groups {
		keys.Clear()
		if err := s.dec.DecodeKeys(keys, g, g+1); err != nil {
			return nil, err
		}
		for k := range keys.NumPartitions() {
			if g == 0 && k == 0 && !slices.Equal(keys.Key(k), p.keys.At(i)) {
				return nil, encoding.Corruptf("block", "its first key is not that of its index entry")
			}
			if !slices.Equal(keys.Key(k), key) {
				continue
			}
			// It ends in this group or, if it is the group's last, with the
			// groups that follow and begin no partition.
			end := g + 1
			for k == keys.NumPartitions()-1 && end < blk.groups && s.dec.GroupPartitions(end) == 0 {
				end++
			}
			return &partition{
				r: r, key: slices.Clone(key), head: *keys.Partition(k), at: at, hdr: h, groups: [2]int{g, end}, index: k,
			}, nil
		}
	}
	return nil, nil
}

// Key is the partition's key.
func (p *partition) Key() []byte { return slices.Clone(p.key) }

// Range reads the unfiltereds between two bounds.
func (p *partition) Range(ctx context.Context, from, to rowgroup.Bound, o rowgroup.ScanOptions) rowgroup.Iter {
	s := p.r.foot.schema
	for _, b := range []rowgroup.Bound{from, to} {
		if err := s.CheckBound(b); err != nil {
			return &failed{err}
		}
	}
	if err := p.r.checkColumns(&o); err != nil {
		return &failed{err}
	}
	it := p.iter(ctx, o, nil)
	it.from, it.to = from, to
	return it
}

// iter begins to read the whole partition. Without a scratch it takes one and
// releases it at its end; one that is given has the partition's block open if
// it is within one.
func (p *partition) iter(ctx context.Context, o rowgroup.ScanOptions, s *scratch) *partIter {
	it := &partIter{p: p, ctx: ctx, o: o, decode: decodeOptions(o), limit: -1, cur: cursor{r: p.r, index: indexTime}}
	it.s, it.lent = s, s != nil
	if s == nil {
		it.s = p.opened.Swap(nil)
	}
	it.opened = it.s != nil && p.own == nil
	if it.s == nil {
		it.s = p.r.scratch()
	}
	return it
}

// partIter reads one partition, block by block.
type partIter struct {
	p        *partition
	ctx      context.Context
	o        rowgroup.ScanOptions
	decode   rowgroup.ScanOptions
	from, to rowgroup.Bound
	limit    int      // rows still to read, or -1 for all
	s        *scratch // nil at the end
	lent     bool     // s belongs to another
	opened   bool     // s has the partition's one block open
	cur      cursor
	known    *knownSegments // what need not be read, in ascending reads
	live     rowgroup.LiveFilter
	unit     readUnit
	started  bool // a block was read
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

func (it *partIter) Next(b *rowgroup.Batch) (bool, error) {
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
			if more, it.err = it.nextBlock(); it.err == nil && !more {
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

// nextBlock opens the next block and chooses its groups.
func (it *partIter) nextBlock() (bool, error) {
	p := it.p
	if p.own == nil {
		if it.started {
			return false, nil
		}
		it.started = true
		if err := it.openShared(); err != nil {
			return false, p.r.file.at(err, "block", p.at.off)
		}
		it.unit = readUnit{
			groups: p.groups, start: p.groups[0], begins: p.groups[0], index: p.index, open: rowgroup.LiveDeletion,
			at: p.at.off, whole: len(it.from.Prefix)+len(it.to.Prefix) == 0,
		}
		return true, nil
	}
	more, err := it.nextEntry()
	if err != nil || !more {
		return false, err
	}
	page, i := it.cur.leaf()
	if err := it.openOwn(page, i); err != nil {
		return false, p.r.file.at(err, "block", page.refs[i].off)
	}
	return true, nil
}

// openShared opens the block that holds the partition.
func (it *partIter) openShared() error {
	if it.opened {
		return nil
	}
	h, body, err := it.s.win.item(it.p.at, kindData)
	if err != nil {
		return err
	}
	if h != it.p.hdr {
		return encoding.Corruptf("block", "it changed since it was read first")
	}
	_, err = it.s.open(it.p.r, &h, body)
	return err
}

// nextEntry goes to the next entry of the time index that can lie in the range.
func (it *partIter) nextEntry() (ok bool, err error) {
	own, s := it.p.own, it.p.r.foot.schema
	before := func(page *page, i int) bool { // entry i ends before the range
		return s.PositionToBound(&page.lastAt[i], it.from, true) < 0
	}
	behind := func(page *page, i int) bool { // entry i begins behind the range
		return s.PositionToBound(&page.firstAt[i], it.to, false) > 0
	}
	dir, outside := 1, behind
	if it.o.Desc {
		dir, outside = -1, before
	}
	if it.started {
		ok, err = it.cur.step(dir)
	} else {
		ok, err = it.cur.seek(own.time, own.level, func(page *page) int {
			if it.o.Desc {
				return sort.Search(page.len(), func(i int) bool { return behind(page, i) }) - 1
			}
			return sort.Search(page.len(), func(i int) bool { return !before(page, i) })
		})
	}
	it.started = true
	for err == nil && ok && it.known != nil {
		var taken bool
		if taken, err = it.known.take(&it.cur, it.reachesBefore, it.reachesBehind); err != nil || !taken {
			break
		}
		ok, err = it.cur.step(1)
	}
	if err != nil || !ok {
		return false, err
	}
	page, i := it.cur.leaf()
	return !outside(page, i), nil
}

// reachesBefore reports whether entry i of a time index's page begins before
// the range.
func (it *partIter) reachesBefore(page *page, i int) bool {
	return it.p.r.foot.schema.PositionToBound(&page.firstAt[i], it.from, true) < 0
}

// reachesBehind reports whether entry i ends behind the range.
func (it *partIter) reachesBehind(page *page, i int) bool {
	return it.p.r.foot.schema.PositionToBound(&page.lastAt[i], it.to, false) > 0
}

// openOwn opens the block of entry i of the time index.
func (it *partIter) openOwn(page *page, i int) error {
	p, s, at := it.p, it.p.r.foot.schema, page.refs[i]
	blk, err := it.s.openAt(p.r, at)
	if err != nil {
		return err
	}
	first := at.off == p.first.off
	if blk.ordinal != p.ordinal || int64(blk.rows) != page.rows[i] || (blk.parts == 1) != first || blk.parts > 1 {
		return encoding.Corruptf("block", "%d rows of partition %d, its index entry says %d of %d", blk.rows, blk.ordinal, page.rows[i], p.ordinal)
	}
	u := readUnit{groups: [2]int{0, blk.groups}, begins: -1, open: deletionOf(page.opens, i), at: at.off}
	if first {
		u.begins = 0
	}
	u.whole = s.PositionToBound(&page.firstAt[i], it.from, true) > 0 && s.PositionToBound(&page.lastAt[i], it.to, false) < 0
	if !u.whole && !p.own.markers {
		if err := it.narrow(&u); err != nil {
			return err
		}
	}
	it.unit = u
	return nil
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
	if it.limit >= 0 && it.p.own != nil && !it.p.own.markers {
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
	for k := u.start; it.o.Desc && k < g && (it.p.own == nil || it.p.own.markers); k++ {
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
	direct := u.whole && it.limit < 0 && p.own != nil && first != it.headed && !(first && it.o.Desc)
	dst := b
	if !direct {
		dst = s.batch
	}
	dst.Clear()
	if !first {
		dst.BeginPartition(p.key).Continued = true
	}
	if err := s.dec.Decode(dst, from, to, &it.decode); err != nil {
		return false, err
	}
	if n := dst.NumPartitions(); n > 1 {
		if !first || u.index >= n {
			return false, encoding.Corruptf("block", "%d partitions where one goes on", n)
		}
		lo, hi := dst.PartitionRows(u.index)
		s.single.Clear()
		if err := s.single.AppendParts(dst, lo, hi, u.index, u.index+1); err != nil {
			return false, err
		}
		dst = s.single
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
		if b.Len() == 0 {
			return false, nil
		}
		b.Partition(0).Continued = it.headed
		it.headed = true
		strip(b, &it.o)
		if it.o.Desc {
			b.Reverse()
		}
		return true, nil
	}
	return it.cut(b, dst, first)
}

// cut gives of src, which holds rows of the partition, those that are wanted.
func (it *partIter) cut(b, src *rowgroup.Batch, first bool) (bool, error) {
	s := it.p.r.foot.schema
	lo, hi := 0, src.Len()
	if !it.unit.whole {
		lo = s.SearchBound(src, lo, hi, it.from, true)
		hi = s.SearchBound(src, lo, hi, it.to, false)
	}
	if it.limit >= 0 {
		lo, hi = it.latest(src, lo, hi)
	}
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
	b.Partition(0).Continued = it.headed
	it.headed = true
	strip(b, &it.o)
	if it.o.Desc {
		b.Reverse()
	}
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
	s := p.r.scratch()
	defer p.r.release(s)
	dec, at := it.s.dec, p.at.off
	if p.own != nil {
		dec, at = s.dec, p.first.off
		if _, err := s.openAt(p.r, p.first); err != nil {
			return p.r.file.at(err, "block", at)
		}
	}
	g := p.groups[0] // 0 of the first block
	if n := dec.GroupPartitions(g); p.index >= n || p.own != nil && n > 1 {
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
	strip(b, &it.o)
	return !it.o.Live || b.Partition(0).Static != rowgroup.StaticAbsent, nil
}
