package columnar

import (
	"bytes"
	"encoding/binary"
	"math"
	"sync/atomic"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bytestrings"
	"github.com/colsst/colsst/encoding/deltadelta"
	"github.com/colsst/colsst/rowgroup"
)

// The two indexes, the first field of an index page.
const (
	indexPartition = 0
	indexTime      = 1
)

// A page is closed before it would exceed one of these; it has at least two
// entries, so that levels end.
const (
	timePageEntries      = 256
	partitionPageEntries = 1024
	partitionPageBytes   = 4 << 10  // about, stored
	pageStringBytes      = 64 << 10 // of keys or positions, decoded
	maxLevel             = 40
)

const indexPart = "index page"

// page is one page of an index while it is built or after it was read.
type page struct {
	level int
	refs  []ref

	// of a page that was read
	used  atomic.Bool // since the clock passed it
	below []slot      // the pages that entries or, at level 0, own ones refer to

	// time pages
	rows        []int64
	first, last bytestrings.Strings // positions
	opens       []entryDeletion     // level 0
	firstAt     []rowgroup.Position // parsed, of a page that was read
	lastAt      []rowgroup.Position
	firstInt    []int64 // in place of all these, if the table has an IntOrder and they are rows
	lastInt     []int64

	// partition pages
	ordinals []int64 // of the first partition of each entry, and one past the last
	keys     bytestrings.Strings
	prefix   int        // of a page that was read: bytes that all keys begin with
	heads    []uint64   // the bytes of each that follow
	own      []ownEntry // level 0: the entries that are one partition of more than one block
	deleted  []entryDeletion

	stored int // about the stored size, while building
}

// entryDeletion is a deletion that belongs to an entry.
type entryDeletion struct {
	entry int
	rowgroup.Deletion
}

// ownEntry is what a partition page knows of a partition of more than one
// block.
type ownEntry struct {
	entry   int
	time    ref
	level   int
	rows    int64
	blocks  int64
	static  bool
	markers bool
}

func (p *page) len() int { return len(p.refs) }

// child is the page that entry i refers to, of a page above level 0.
func (p *page) child(i int) node { return node{&p.below[i], p.refs[i], p.level - 1} }

// timeRoot is the root of the time index of own entry k.
func (p *page) timeRoot(k int) node { return node{&p.below[k], p.own[k].time, p.own[k].level} }

// memory is about how many bytes a page that was read takes.
func (p *page) memory() int64 {
	n := 400 + 16*len(p.refs) + 8*(len(p.below)+len(p.rows)+len(p.ordinals)+len(p.firstInt)+len(p.lastInt)+len(p.heads))
	n += 80*len(p.own) + 24*(len(p.opens)+len(p.deleted))
	for _, s := range []*bytestrings.Strings{&p.first, &p.last, &p.keys} {
		n += cap(s.Data) + 4*cap(s.Ends)
	}
	for _, at := range [][]rowgroup.Position{p.firstAt, p.lastAt} {
		for i := range at {
			n += 32 + 24*len(at[i].Prefix)
		}
	}
	return int64(n)
}

// deletionOf is the deletion of entry i in d.
func deletionOf(d []entryDeletion, i int) rowgroup.Deletion {
	for _, e := range d {
		if e.entry == i {
			return e.Deletion
		}
	}
	return rowgroup.LiveDeletion
}

// ownOf is the number of the own entry of entry i, or -1.
func (p *page) ownOf(i int) int {
	lo, hi := 0, len(p.own)
	for lo < hi {
		if m := (lo + hi) / 2; p.own[m].entry < i {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo < len(p.own) && p.own[lo].entry == i {
		return lo
	}
	return -1
}

func (p *page) reset() {
	*p = page{
		level: p.level, refs: p.refs[:0], rows: p.rows[:0], first: p.first, last: p.last,
		opens: p.opens[:0], ordinals: p.ordinals[:0], keys: p.keys, own: p.own[:0], deleted: p.deleted[:0],
	}
	p.first.Reset()
	p.last.Reset()
	p.keys.Reset()
}

// column collects n values for one column of integers.
func column(n int, at func(i int) int64) []int64 {
	c := make([]int64, n)
	for i := range c {
		c[i] = at(i)
	}
	return c
}

func appendRefs(dst []byte, refs []ref) []byte {
	if len(refs) == 0 {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(refs[0].off))
	dst = deltadelta.AppendInt64(dst, column(len(refs), func(i int) int64 {
		if i == 0 {
			return 0
		}
		return refs[i].off - refs[i-1].end()
	}))
	return deltadelta.AppendInt64(dst, column(len(refs), func(i int) int64 { return refs[i].len }))
}

// pageParser reads what index pages are made of, and keeps the memory that only
// reading takes.
type pageParser struct {
	strings     bytestrings.Decoder
	first, last bytestrings.Strings
	ints        []int64
}

// integers is room for n of them, until the next call.
func (d *pageParser) integers(n int) []int64 {
	if cap(d.ints) < n {
		d.ints = make([]int64, n)
	}
	return d.ints[:n]
}

// refs reads n references. All must end by limit, in ascending order.
func (d *pageParser) refs(part string, n int, limit int64, src []byte) (refs []ref, rest []byte, err error) {
	if n == 0 {
		return nil, src, nil
	}
	r := reader{src: src}
	off := r.int64()
	if r.bad {
		return nil, nil, encoding.Corruptf(part, "cut")
	}
	ints := d.integers(2 * n)
	gaps, lens := ints[:n], ints[n:]
	if src, err = deltadelta.DecodeInt64(gaps, r.src); err == nil {
		src, err = deltadelta.DecodeInt64(lens, src)
	}
	if err != nil {
		return nil, nil, err
	}
	refs = make([]ref, n)
	for i := range refs {
		if gaps[i] < 0 || gaps[i] > limit-off || lens[i] < minItem || lens[i] > limit-off-gaps[i] {
			return nil, nil, encoding.Corruptf(part, "entry %d refers to %d bytes at %d", i, lens[i], off)
		}
		refs[i] = ref{off + gaps[i], lens[i]}
		off = refs[i].end()
	}
	return refs, src, nil
}

// appendStrings appends s, front coded.
func appendStrings(dst []byte, s *bytestrings.Strings) []byte {
	var e bytestrings.Encoder
	var p encoding.Params
	body := e.AppendFrontCoded(nil, s, &p)
	return append(encoding.AppendParams(dst, &p), body...)
}

// appendTo appends n strings of at most limit bytes together to dst.
func (d *pageParser) appendTo(dst *bytestrings.Strings, n, limit int, src []byte) (rest []byte, err error) {
	p, src, err := encoding.ReadParams(indexPart, src)
	if err != nil {
		return nil, err
	}
	size, err := bytestrings.FrontCodedLen(&p, n)
	if err != nil {
		return nil, err
	}
	if size > len(src) {
		return nil, encoding.Corruptf(indexPart, "%d bytes of strings, %d left", size, len(src))
	}
	if err := d.strings.FrontCoded(dst, n, &p, src[:size], limit); err != nil {
		return nil, err
	}
	return src[size:], nil
}

func appendDeletions(dst []byte, d []entryDeletion) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(d)))
	for _, e := range d {
		dst = binary.AppendUvarint(dst, uint64(e.entry))
		dst = binary.AppendVarint(dst, e.MarkedForDeleteAt)
		dst = binary.AppendVarint(dst, e.LocalDeletionTime)
	}
	return dst
}

func (r *reader) deletions(entries int) (d []entryDeletion) {
	n := r.uvarint()
	if n > uint64(entries) {
		r.bad = true
		return nil
	}
	last := -1
	for ; n > 0 && !r.bad; n-- {
		at := r.uvarint()
		e := entryDeletion{Deletion: rowgroup.Deletion{MarkedForDeleteAt: r.varint(), LocalDeletionTime: r.varint()}}
		if at >= uint64(entries) || int(at) <= last || e.Live() {
			r.bad = true
			return nil
		}
		e.entry = int(at)
		last = e.entry
		d = append(d, e)
	}
	return d
}

// appendTo appends the body of the page.
func (p *page) appendTo(dst []byte, index int) []byte {
	dst = appendRefs(dst, p.refs)
	n := len(p.refs)
	if index == indexTime {
		dst = deltadelta.AppendInt64(dst, p.rows)
		dst = appendStrings(dst, &p.first)
		dst = appendStrings(dst, &p.last)
		if p.level == 0 {
			dst = appendDeletions(dst, p.opens)
		}
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(p.ordinals[0]))
	at := 0
	dst = deltadelta.AppendInt64(dst, column(n, func(i int) int64 {
		if at < len(p.own) && p.own[at].entry == i {
			at++
			return 0
		}
		return p.ordinals[i+1] - p.ordinals[i]
	}))
	dst = appendStrings(dst, &p.keys)
	if p.level > 0 || len(p.own) == 0 {
		return dst
	}
	own := func(f func(o *ownEntry) int64) {
		dst = deltadelta.AppendInt64(dst, column(len(p.own), func(i int) int64 { return f(&p.own[i]) }))
	}
	own(func(o *ownEntry) int64 {
		flags := int64(o.level) << 2
		if o.static {
			flags |= 1
		}
		if o.markers {
			flags |= 2
		}
		return flags
	})
	own(func(o *ownEntry) int64 { return o.time.off - p.refs[o.entry].off })
	own(func(o *ownEntry) int64 { return o.time.len })
	own(func(o *ownEntry) int64 { return o.rows })
	own(func(o *ownEntry) int64 { return o.blocks })
	return appendDeletions(dst, p.deleted)
}

// page reads the body of an index page whose item has header h. Whatever it
// refers to must lie before limit.
func (d *pageParser) page(s *rowgroup.Schema, h *header, limit int64, body []byte) (*page, error) {
	index, level, n := h.fields[0], h.fields[1], int(h.fields[2])
	if index > indexTime || level > maxLevel || h.fields[2] == 0 || h.fields[2] > partitionPageEntries {
		return nil, encoding.Corruptf(indexPart, "index %d, level %d, %d entries", index, level, h.fields[2])
	}
	p := &page{level: int(level)}
	var err error
	p.refs, body, err = d.refs(indexPart, n, limit, body)
	if err != nil {
		return nil, err
	}
	if index == indexTime {
		body, err = p.parseTime(d, s, n, body)
	} else {
		body, err = p.parsePartitions(d, n, limit, body)
	}
	if err != nil {
		return nil, err
	}
	if len(body) > 0 {
		return nil, encoding.Corruptf(indexPart, "%d bytes left over", len(body))
	}
	below := len(p.own)
	if level > 0 {
		below = n
	}
	p.below = make([]slot, below)
	return p, nil
}

func (p *page) parseTime(d *pageParser, s *rowgroup.Schema, n int, body []byte) ([]byte, error) {
	p.rows = make([]int64, n)
	limit := pageStringBytes + 2*len(body)
	body, err := deltadelta.DecodeInt64(p.rows, body)
	for _, strings := range []*bytestrings.Strings{&d.first, &d.last} {
		if err != nil {
			return nil, err
		}
		strings.Reset()
		body, err = d.appendTo(strings, n, limit, body)
	}
	if err != nil {
		return nil, err
	}
	for i, rows := range p.rows {
		if rows < 1 || rows > math.MaxInt64>>1 {
			return nil, encoding.Corruptf(indexPart, "entry %d has %d rows", i, rows)
		}
	}
	ints, err := p.parseInts(s, &d.first, &d.last)
	if err == nil && !ints {
		p.first, p.last = d.first, d.last // which are the page's from now on
		d.first, d.last = bytestrings.Strings{}, bytestrings.Strings{}
		err = p.parsePositions(s, n)
	}
	if err != nil {
		return nil, err
	}
	if p.level > 0 {
		return body, nil
	}
	r := reader{src: body}
	p.opens = r.deletions(n)
	if r.bad {
		return nil, encoding.Corruptf(indexPart, "open deletions")
	}
	return r.src, nil
}

// parseInts makes positions, if each is that of a row with a value in the
// table's IntOrder, ready to be searched.
func (p *page) parseInts(s *rowgroup.Schema, first, last *bytestrings.Strings) (ok bool, err error) {
	order, ok := s.IntOrder()
	if !ok {
		return false, nil
	}
	n := first.Len()
	v := make([]int64, 2*n)
	prev := int64(math.MinInt64)
	for i := range n {
		for k, strings := range [2]*bytestrings.Strings{first, last} {
			x, ok := order.ParsePosition(strings.At(i))
			if !ok {
				return false, nil
			}
			if x < prev {
				return false, outOfOrder(i)
			}
			v[k*n+i], prev = x, x
		}
	}
	p.firstInt, p.lastInt = v[:n:n], v[n:]
	return true, nil
}

func outOfOrder(i int) error { return encoding.Corruptf(indexPart, "entry %d is out of order", i) }

// parsePositions checks the positions of a time page and makes them ready to
// be searched.
func (p *page) parsePositions(s *rowgroup.Schema, n int) error {
	ordered := s.Seekable() == nil
	places := make([]rowgroup.Position, 2*n)
	var prev *rowgroup.Position
	for i := range n {
		for k, strings := range [2]*bytestrings.Strings{&p.first, &p.last} {
			pos, rest, err := rowgroup.ParsePosition(s, strings.At(i))
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return encoding.Corruptf(indexPart, "entry %d: bytes after its position", i)
			}
			if prev != nil && ordered && s.ComparePositions(prev, &pos) > 0 {
				return outOfOrder(i)
			}
			prev = &places[k*n+i]
			*prev = pos
		}
	}
	p.firstAt, p.lastAt = places[:n:n], places[n:]
	return nil
}

// placeOf is where an entry of a time page that was read begins or ends: a
// position or, if that is nil, a value in the table's IntOrder.
type placeOf struct {
	position []byte
	value    int64
}

func (p *page) begins(i int) placeOf {
	if p.firstInt != nil {
		return placeOf{value: p.firstInt[i]}
	}
	return placeOf{position: p.first.At(i)}
}

func (p *page) ends(i int) placeOf {
	if p.lastInt != nil {
		return placeOf{value: p.lastInt[i]}
	}
	return placeOf{position: p.last.At(i)}
}

// equal reports whether a and b are one place, in a table of this IntOrder if
// it has one.
func (a placeOf) equal(b placeOf, order *rowgroup.IntOrder) bool {
	if (a.position == nil) == (b.position == nil) {
		return a.value == b.value && bytes.Equal(a.position, b.position)
	}
	if a.position == nil {
		a, b = b, a
	}
	v, ok := order.ParsePosition(a.position)
	return ok && v == b.value
}

func (p *page) parsePartitions(d *pageParser, n int, limit int64, body []byte) ([]byte, error) {
	r := reader{src: body}
	ordinal := r.int64()
	if r.bad {
		return nil, encoding.Corruptf(indexPart, "cut")
	}
	p.ordinals = make([]int64, n+1)
	counts := d.integers(n)
	keyLimit := pageStringBytes + 2*len(body)
	body, err := deltadelta.DecodeInt64(counts, r.src)
	if err != nil {
		return nil, err
	}
	for i, c := range counts {
		p.ordinals[i] = ordinal
		if c == 0 && p.level == 0 {
			p.own = append(p.own, ownEntry{entry: i})
			c = 1
		}
		if c < 1 || c > math.MaxInt64-ordinal {
			return nil, encoding.Corruptf(indexPart, "entry %d has %d partitions", i, c)
		}
		ordinal += c
	}
	p.ordinals[n] = ordinal
	if body, err = d.appendTo(&p.keys, n, keyLimit, body); err != nil {
		return nil, err
	}
	p.setHeads()
	if len(p.own) == 0 {
		return body, nil
	}
	c := d.integers(len(p.own))
	for k := range 5 {
		if body, err = deltadelta.DecodeInt64(c, body); err != nil {
			return nil, err
		}
		for i, v := range c {
			o := &p.own[i]
			at := p.refs[o.entry]
			ok := v >= 0
			switch k {
			case 0:
				ok = ok && v>>2 <= maxLevel
				o.level, o.static, o.markers = int(v>>2), v&1 != 0, v&2 != 0
			case 1:
				ok = v >= at.len && v <= limit-at.off
				o.time.off = at.off + v
			case 2:
				ok = v >= minItem && v <= limit-o.time.off
				o.time.len = v
			case 3:
				o.rows = v
			case 4:
				ok = v > 1 && v <= limit
				o.blocks = v
			}
			if !ok {
				return nil, encoding.Corruptf(indexPart, "entry %d: own value %d is %d", o.entry, k, v)
			}
		}
	}
	r = reader{src: body}
	p.deleted = r.deletions(n)
	for _, d := range p.deleted {
		if p.ownOf(d.entry) < 0 {
			r.bad = true
		}
	}
	if r.bad {
		return nil, encoding.Corruptf(indexPart, "deletions")
	}
	return r.src, nil
}

// setHeads makes the keys ready to be searched.
func (p *page) setHeads() {
	n := p.keys.Len()
	first, last := p.keys.At(0), p.keys.At(n-1)
	for p.prefix < min(len(first), len(last)) && first[p.prefix] == last[p.prefix] {
		p.prefix++
	}
	p.heads = make([]uint64, n)
	for i := range p.heads {
		k := p.keys.At(i)
		for p.prefix > len(k) || !bytes.Equal(k[:p.prefix], first[:p.prefix]) { // keys in another order than of bytes
			p.prefix--
		}
	}
	for i := range p.heads {
		p.heads[i] = headOf(p.keys.At(i)[p.prefix:])
	}
}

// headOf are the first 8 bytes of b as a number that is ordered as they are;
// bytes that are missing count as zeros.
func headOf(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	var x uint64
	for i, c := range b {
		x |= uint64(c) << (56 - 8*i)
	}
	return x
}

// checkParent compares the page with entry i of the page above.
func (p *page) checkParent(parent *page, i int, order *rowgroup.IntOrder) error {
	n := p.len()
	var ok bool
	if p.ordinals != nil {
		ok = p.ordinals[0] == parent.ordinals[i] && p.ordinals[n] == parent.ordinals[i+1] &&
			bytes.Equal(p.keys.At(0), parent.keys.At(i))
	} else {
		var rows int64
		for _, v := range p.rows {
			rows += v
		}
		ok = rows == parent.rows[i] && p.begins(0).equal(parent.begins(i), order) && p.ends(n-1).equal(parent.ends(i), order)
	}
	if !ok {
		return encoding.Corruptf(indexPart, "is not what the page above says")
	}
	return nil
}

// indexBuilder builds one index, level by level: a page is written as soon as
// it is full, and its entry goes to the level above.
type indexBuilder struct {
	index  int
	levels []*page
	emit   func(h *header, body []byte) (ref, error)
}

func (b *indexBuilder) reset() { b.levels = b.levels[:0] }

// level is the open page of level k, closed first if an entry with strings of
// this many bytes would make it too large.
func (b *indexBuilder) level(k, strings int) (*page, error) {
	if k == len(b.levels) {
		b.levels = append(b.levels, &page{level: k})
	}
	p := b.levels[k]
	n, limit := p.len(), timePageEntries
	if b.index == indexPartition {
		limit = partitionPageEntries
	}
	held := len(p.keys.Data) + len(p.first.Data) + len(p.last.Data)
	if n < 2 || n < limit && held+strings <= pageStringBytes && p.stored < partitionPageBytes {
		return p, nil
	}
	return p, b.close(k)
}

// close writes the open page of level k and enters it above.
func (b *indexBuilder) close(k int) error {
	p := b.levels[k]
	r, err := b.write(p)
	if err != nil {
		return err
	}
	n := p.len()
	if b.index == indexTime {
		var rows int64
		for _, v := range p.rows {
			rows += v
		}
		err = b.addTime(k+1, r, rows, p.first.At(0), p.last.At(n-1), rowgroup.LiveDeletion)
	} else {
		err = b.addPartitions(k+1, r, p.ordinals[0], p.ordinals[n], p.keys.At(0))
	}
	p.reset()
	return err
}

func (b *indexBuilder) write(p *page) (ref, error) {
	h := &header{kind: kindIndex, fields: [5]uint64{uint64(b.index), uint64(p.level), uint64(p.len())}}
	return b.emit(h, p.appendTo(nil, b.index))
}

// addTime adds an entry to level k of a time index. open is the range deletion
// open at the block's start.
func (b *indexBuilder) addTime(k int, r ref, rows int64, first, last []byte, open rowgroup.Deletion) error {
	p, err := b.level(k, len(first)+len(last))
	if err != nil {
		return err
	}
	if err := p.first.Append(first); err != nil {
		return err
	}
	if err := p.last.Append(last); err != nil {
		return err
	}
	if !open.Live() {
		p.opens = append(p.opens, entryDeletion{p.len(), open})
	}
	p.refs, p.rows = append(p.refs, r), append(p.rows, rows)
	return nil
}

// addPartitions adds an entry to level k of the partition index, for the
// partitions [from, to), of which the first has the key.
func (b *indexBuilder) addPartitions(k int, r ref, from, to int64, key []byte) error {
	p, err := b.level(k, len(key))
	if err != nil {
		return err
	}
	return p.add(r, from, to, key)
}

func (p *page) add(r ref, from, to int64, key []byte) error {
	if len(p.refs) == 0 {
		p.ordinals = append(p.ordinals[:0], from)
		p.stored += len(key)
	} else {
		last := p.keys.At(p.keys.Len() - 1)
		n := min(len(last), len(key))
		shared := 0
		for shared < n && last[shared] == key[shared] {
			shared++
		}
		p.stored += len(key) - shared + 4
	}
	p.refs, p.ordinals = append(p.refs, r), append(p.ordinals, to)
	return p.keys.Append(key)
}

// addOwn adds the entry of partition number ordinal, which has more than one
// block, the first at r.
func (b *indexBuilder) addOwn(r ref, ordinal int64, key []byte, o ownEntry, d rowgroup.Deletion) error {
	p, err := b.level(0, len(key))
	if err != nil {
		return err
	}
	o.entry = p.len()
	p.own = append(p.own, o)
	if !d.Live() {
		p.deleted = append(p.deleted, entryDeletion{o.entry, d})
	}
	p.stored += 8
	return p.add(r, ordinal, ordinal+1, key)
}

// finish writes the open pages. The last one written is the root.
func (b *indexBuilder) finish() (root ref, level int, err error) {
	for k := 0; k < len(b.levels); k++ {
		if k == len(b.levels)-1 {
			root, err = b.write(b.levels[k])
			b.levels[k].reset()
			return root, k, err
		}
		if err = b.close(k); err != nil {
			return ref{}, 0, err
		}
	}
	return ref{}, 0, nil
}
