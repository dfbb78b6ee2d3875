package columnar

import (
	"context"
	"fmt"
	"slices"
	"sort"

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
	body   []byte
	blk    block
	groups [2]int // of the block that hold it
	index  int    // its number among the partitions that begin in groups[0]
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
		descended := false
		ok, err := cur.seek(foot.root, foot.rootLevel, func(p *page) int {
			n := p.len()
			i := sort.Search(n, func(i int) bool {
				c, _ := s.ComparePartitions(p.keys.At(i), key)
				return c > 0
			}) - 1
			descended = true
			return i
		})
		if err != nil || !ok || !descended {
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
	at := p.refs[i]
	found, err := r.inBlock(at, p, i, key)
	if err != nil {
		return nil, r.file.at(err, "block", at.off)
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

// inBlock finds a partition in the block of entry i, or returns nil.
func (r *Reader) inBlock(at ref, p *page, i int, key []byte) (*partition, error) {
	w := window{f: &r.file}
	h, body, err := w.item(at, kindData)
	if err != nil {
		return nil, err
	}
	dec := rowgroup.NewBlockDecoder(r.foot.schema)
	blk, err := r.openBlock(dec, &h, body)
	if err != nil {
		return nil, err
	}
	if err := checkShared(&blk, p, i); err != nil {
		return nil, err
	}
	keys := rowgroup.NewBatch(r.foot.schema)
	for g := range blk.groups {
		keys.Clear()
		if err := dec.DecodeKeys(keys, g, g+1); err != nil {
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
			for k == keys.NumPartitions()-1 && end < blk.groups && dec.GroupPartitions(end) == 0 {
				end++
			}
			head := *keys.Partition(k)
			return &partition{
				r: r, key: slices.Clone(key), head: head, at: at, hdr: h, body: body, blk: blk,
				groups: [2]int{g, end}, index: k,
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
	it := p.iter(ctx, o, rowgroup.NewBlockDecoder(s))
	it.from, it.to = from, to
	return it
}

// Latest reads the n rows of greatest clustering, greatest first.
func (p *partition) Latest(ctx context.Context, n int, o rowgroup.ScanOptions) rowgroup.Iter {
	s := p.r.foot.schema
	if err := p.r.checkColumns(&o); err != nil {
		return &failed{err}
	}
	clustering := s.Columns(rowgroup.Clustering)
	o.Desc = true
	for i, c := range clustering {
		descends, ordered := descends(c)
		if !ordered {
			return &failed{fmt.Errorf("latest: column %q, type %s: the order of its type is unknown", c.Name, c.Type)}
		}
		if i > 0 && descends == o.Desc {
			return &failed{fmt.Errorf("latest: %w: clustering columns %q and %q have opposite orders",
				encoding.ErrUnsupported, clustering[0].Name, c.Name)}
		}
		o.Desc = !descends
	}
	it := p.iter(ctx, o, rowgroup.NewBlockDecoder(s))
	it.limit = max(0, n)
	return it
}

// descends reports whether a clustering column is stored with the greatest
// value first, by the order of the values themselves.
func descends(c rowgroup.Column) (desc, ordered bool) {
	t := c.Type
	desc = c.Desc
	for t.Kind == rowgroup.KindReversed && len(t.Args) == 1 {
		desc, t = !desc, t.Args[0]
	}
	return desc, t.Ordered()
}

func (p *partition) iter(ctx context.Context, o rowgroup.ScanOptions, dec *rowgroup.BlockDecoder) *partIter {
	return &partIter{
		p: p, ctx: ctx, o: o, decode: decodeOptions(&o), limit: -1, dec: dec,
		win: window{f: &p.r.file}, cur: cursor{r: p.r, index: indexTime}, scratch: rowgroup.NewBatch(p.r.foot.schema),
	}
}

// partIter reads one partition, block by block.
type partIter struct {
	p        *partition
	ctx      context.Context
	o        rowgroup.ScanOptions
	decode   *rowgroup.ScanOptions
	from, to rowgroup.Bound
	limit    int // rows still to read, or -1 for all
	dec      *rowgroup.BlockDecoder
	win      window
	cur      cursor
	scratch  *rowgroup.Batch
	single   *rowgroup.Batch
	probe    *rowgroup.Batch
	live     rowgroup.LiveFilter
	unit     readUnit
	started  bool // a block was read
	headed   bool // the head was given
	done     bool
	err      error
}

// readUnit is what is left to read of the open block.
type readUnit struct {
	groups [2]int
	first  bool // groups[0] begins the partition, as its number index
	index  int
	whole  bool // all rows lie in the range
	open   rowgroup.Deletion
	at     int64
}

func (it *partIter) Close() error {
	it.done = true
	it.win, it.scratch, it.single = window{f: it.win.f}, nil, nil
	return nil
}

func (it *partIter) Next(b *rowgroup.Batch) (bool, error) {
	for !it.done && it.err == nil {
		if it.limit == 0 {
			it.done = true
			break
		}
		if it.unit.groups[0] >= it.unit.groups[1] {
			if it.err = it.p.r.check(it.ctx); it.err != nil {
				break
			}
			more, err := it.nextBlock()
			if err != nil {
				it.err = err
				break
			}
			if !more {
				it.done = true
				ok, err := it.headOnly(b)
				if ok && err == nil {
					return true, nil
				}
				it.err = err
				break
			}
			continue
		}
		ok, err := it.read(b)
		if err != nil {
			it.err = it.p.r.file.at(err, "block", it.unit.at)
			break
		}
		if ok {
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
		if _, err := p.r.openBlock(it.dec, &p.hdr, p.body); err != nil {
			return false, p.r.file.at(err, "block", p.at.off)
		}
		it.unit = readUnit{
			groups: p.groups, first: true, index: p.index, open: rowgroup.LiveDeletion, at: p.at.off,
			whole: len(it.from.Prefix)+len(it.to.Prefix) == 0,
		}
		return true, nil
	}
	more, err := it.nextEntry()
	if err != nil || !more {
		return false, err
	}
	page, i := it.cur.leaf()
	at := page.refs[i]
	if err := it.openOwn(page, i, at); err != nil {
		return false, p.r.file.at(err, "block", at.off)
	}
	return true, nil
}

// nextEntry goes to the next entry of the time index that can lie in the range.
func (it *partIter) nextEntry() (ok bool, err error) {
	p, s := it.p, it.p.r.foot.schema
	before := func(page *page, i int) bool { // entry i ends before the range
		return s.PositionToBound(position(s, page.last.At(i)), it.from, true) < 0
	}
	behind := func(page *page, i int) bool { // entry i begins behind the range
		return s.PositionToBound(position(s, page.first.At(i)), it.to, false) > 0
	}
	switch {
	case it.started && it.o.Desc:
		ok, err = it.cur.step(-1)
	case it.started:
		ok, err = it.cur.step(1)
	case it.o.Desc:
		ok, err = it.cur.seek(p.own.time, p.own.level, func(page *page) int {
			return sort.Search(page.len(), func(i int) bool { return behind(page, i) }) - 1
		})
	default:
		ok, err = it.cur.seek(p.own.time, p.own.level, func(page *page) int {
			return sort.Search(page.len(), func(i int) bool { return !before(page, i) })
		})
	}
	it.started = true
	if err != nil || !ok {
		return false, err
	}
	page, i := it.cur.leaf()
	if it.o.Desc {
		return !before(page, i), nil
	}
	return !behind(page, i), nil
}

// position reads a position of an index page, which was checked.
func position(s *rowgroup.Schema, b []byte) *rowgroup.Position {
	p, _, err := rowgroup.ParsePosition(s, b)
	if err != nil {
		return &rowgroup.Position{}
	}
	return &p
}

// openOwn opens the block of entry i of the time index.
func (it *partIter) openOwn(page *page, i int, at ref) error {
	p, s := it.p, it.p.r.foot.schema
	h, body, err := it.win.item(at, kindData)
	if err != nil {
		return err
	}
	blk, err := p.r.openBlock(it.dec, &h, body)
	if err != nil {
		return err
	}
	first := at.off == p.first.off
	if blk.ordinal != p.ordinal || int64(blk.rows) != page.rows[i] || (blk.parts == 1) != first || blk.parts > 1 {
		return encoding.Corruptf("block", "%d rows of partition %d, its index entry says %d of %d", blk.rows, blk.ordinal, page.rows[i], p.ordinal)
	}
	u := readUnit{groups: [2]int{0, blk.groups}, first: first, open: deletionOf(page.opens, i), at: at.off}
	u.whole = s.PositionToBound(position(s, page.first.At(i)), it.from, true) > 0 &&
		s.PositionToBound(position(s, page.last.At(i)), it.to, false) < 0
	if !u.whole && !p.own.markers {
		if err := it.narrow(&u); err != nil {
			return err
		}
	}
	it.unit = u
	return nil
}

// narrow leaves of a unit without markers the groups that reach into the range.
func (it *partIter) narrow(u *readUnit) error {
	s := it.p.r.foot.schema
	var err error
	probe := func(g int, last bool, bound rowgroup.Bound, isStart bool) int {
		if it.probe == nil {
			it.probe = rowgroup.NewBatch(s)
		}
		it.probe.Clear()
		if it.dec.GroupPartitions(g) == 0 {
			it.probe.BeginPartition(it.p.key)
		}
		if e := it.dec.Decode(it.probe, g, g+1, &rowgroup.ScanOptions{Columns: []int{}, WithoutMetadata: true}); e != nil {
			err = e
			return 0
		}
		if it.probe.Len() == 0 {
			return 0
		}
		row := 0
		if last {
			row = it.probe.Len() - 1
		}
		return s.CompareToBound(it.probe, row, bound, isStart)
	}
	n := u.groups[1]
	lo := sort.Search(n, func(g int) bool { return err == nil && probe(g, true, it.from, true) > 0 })
	hi := lo + sort.Search(n-lo, func(g int) bool { return err == nil && probe(lo+g, false, it.to, false) > 0 })
	u.groups = [2]int{lo, hi}
	u.first = u.first && lo == 0
	return err
}

// take chooses the groups to read now: all, or as few as can hold the rows
// that are still wanted.
func (it *partIter) take() (from, to int) {
	u := &it.unit
	from, to = u.groups[0], u.groups[1]
	if it.limit < 0 || it.p.own == nil || it.p.own.markers {
		u.groups[0] = to
		return from, to
	}
	rows := 0
	if it.o.Desc {
		g := to
		for g > from && rows < it.limit {
			g--
			rows += it.dec.GroupRows(g)
		}
		u.groups[1] = g
		return g, to
	}
	g := from
	for g < to && rows < it.limit {
		rows += it.dec.GroupRows(g)
		g++
	}
	u.groups[0] = g
	return from, g
}

// read reads groups of the open block into b and reports whether that gave
// anything.
func (it *partIter) read(b *rowgroup.Batch) (bool, error) {
	p, u := it.p, &it.unit
	begins := u.groups[0]
	from, to := it.take()
	first := u.first && from == begins
	if !it.o.Desc {
		u.first = false
	}
	direct := u.whole && it.limit < 0 && p.own != nil && first != it.headed && !(first && it.o.Desc)
	dst := b
	if !direct {
		dst = it.scratch
	}
	dst.Clear()
	if !first {
		dst.BeginPartition(p.key).Continued = true
	}
	if err := it.dec.Decode(dst, from, to, it.decode); err != nil {
		return false, err
	}
	if dst.NumPartitions() > 1 {
		if it.single == nil {
			it.single = rowgroup.NewBatch(p.r.foot.schema)
		}
		lo, hi := dst.PartitionRows(u.index)
		it.single.Clear()
		if err := it.single.AppendParts(dst, lo, hi, u.index, u.index+1); err != nil {
			return false, err
		}
		dst = it.single
	}
	if first && !slices.Equal(dst.Key(0), p.key) {
		return false, encoding.Corruptf("block", "its key is not that of its index entry")
	}
	if it.o.Live {
		it.live.Reset(it.o.Now, false)
		it.live.BeginPartition(p.head.Deletion)
		it.live.SetOpen(u.open)
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

// head begins the partition in b with its deletion and static row, where its
// first block is not at hand.
func (it *partIter) head(b *rowgroup.Batch) error {
	p := it.p
	if p.own == nil || !p.own.static {
		h := b.BeginPartition(p.key)
		if !it.o.Live {
			h.Deletion = p.head.Deletion
		}
		return nil
	}
	w := window{f: &p.r.file}
	h, body, err := w.item(p.first, kindData)
	if err != nil {
		return err
	}
	dec := rowgroup.NewBlockDecoder(p.r.foot.schema)
	if _, err = p.r.openBlock(dec, &h, body); err != nil {
		return err
	}
	src := rowgroup.NewBatch(p.r.foot.schema)
	src.Clear()
	if err = dec.Decode(src, 0, 1, it.decode); err != nil {
		return err
	}
	head := rowgroup.NewBatch(p.r.foot.schema)
	head.Clear()
	if src.NumPartitions() != 1 {
		return encoding.Corruptf("block", "%d partitions where one begins", src.NumPartitions())
	}
	if err = head.AppendParts(src, 0, 0, 0, 1); err != nil {
		return err
	}
	if it.o.Live {
		var live rowgroup.LiveFilter
		live.Reset(it.o.Now, false)
		live.Apply(head)
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
	p := it.p
	if it.headed || it.limit >= 0 || len(it.from.Prefix)+len(it.to.Prefix) > 0 {
		return false, nil
	}
	b.Clear()
	if p.own != nil {
		if err := it.head(b); err != nil {
			return false, err
		}
	} else {
		it.scratch.Clear()
		if err := it.dec.Decode(it.scratch, p.groups[0], p.groups[0]+1, it.decode); err != nil {
			return false, p.r.file.at(err, "block", p.at.off)
		}
		if err := b.AppendParts(it.scratch, 0, 0, p.index, p.index+1); err != nil {
			return false, err
		}
		b.Partition(0).Start = 0
		if it.o.Live {
			it.live.Reset(it.o.Now, false)
			it.live.Apply(b)
		}
	}
	strip(b, &it.o)
	if b.NumPartitions() == 0 {
		return false, nil
	}
	if it.o.Live && b.Partition(0).Static == rowgroup.StaticAbsent {
		return false, nil
	}
	return true, nil
}
