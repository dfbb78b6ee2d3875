package rowgroup

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/colsst/colsst/encoding"
)

// A block stores the parameters of its chunks as columns: one value a group
// for each stream and slot. The template says how each column is packed.
type shapeKind uint8

const (
	shapeZero   shapeKind = iota // every value is 0
	shapeConst                   // every value is v, kept in the template
	shapeBlock                   // one value for all groups of the block
	shapeStep                    // first value in the block, step v in the template
	shapeSteps                   // first value and step in the block
	shapePacked                  // least value in the block, then w bits a group
)

type shape struct {
	kind shapeKind
	w    uint8
	v    int64
}

// dynamic reports whether the block holds something for the shape.
func (s shape) dynamic() bool { return s.kind >= shapeBlock }

// slot is one parameter column of a stream, or of the groups.
type slot struct {
	shape
	slot uint8
	dyn  int32 // its number among those that a block stores, or -1
}

// slotValues are the slots of one stream in one group.
type slotValues [numSlots]int64

// params are those of the chunk.
func (v *slotValues) params() *encoding.Params { return (*encoding.Params)(v[slotParam:]) }

// The numbers of unfiltereds and of partitions of the groups are slots of a
// stream before all others.
const (
	groupStream = -1

	groupRows     = 0
	groupParts    = 1
	numGroupSlots = 2
)

// listed is a stream that a template lists, with its slots: [from, to) of the
// template's.
type listed struct {
	stream   int32
	from, to int32
}

// template is the streams that some group of a block has, groupStream first,
// and their slots that are not zero. What it takes follows from its bytes.
type template struct {
	streams []listed
	slots   []slot
	stored  []int32 // which of slots a block stores
}

// absentShape is the shape of streams without values.
var absentShape = [numSlots]shape{slotCount: {kind: shapeConst, v: countNone}}

// add lists a stream, which comes after those listed.
func (t *template) add(stream int32, shapes *[numSlots]shape) {
	if stream != groupStream && *shapes == absentShape {
		return
	}
	l := listed{stream: stream, from: int32(len(t.slots))}
	for i, s := range shapes {
		if s.kind == shapeZero && (stream != groupStream || i >= numGroupSlots) {
			continue
		}
		x := slot{shape: s, slot: uint8(i), dyn: -1}
		if s.dynamic() {
			x.dyn = int32(len(t.stored))
			t.stored = append(t.stored, int32(len(t.slots)))
		}
		t.slots = append(t.slots, x)
	}
	l.to = int32(len(t.slots))
	t.streams = append(t.streams, l)
}

// slotsOf are the slots of listed stream k.
func (t *template) slotsOf(k int) []slot { return t.slots[t.streams[k].from:t.streams[k].to] }

// shapes are the shapes of all slots of listed stream k.
func (t *template) shapes(k int) (all [numSlots]shape) {
	for _, s := range t.slotsOf(k) {
		all[s.slot] = s.shape
	}
	return all
}

func appendShape(dst []byte, s shape) []byte {
	if s.kind == shapePacked {
		return append(dst, byte(shapePacked)+s.w)
	}
	dst = append(dst, byte(s.kind))
	if s.kind == shapeConst || s.kind == shapeStep {
		dst = binary.AppendVarint(dst, s.v)
	}
	return dst
}

func (t *template) appendTo(dst []byte) []byte {
	for _, s := range t.slotsOf(0) {
		dst = appendShape(dst, s.shape)
	}
	dst = binary.AppendUvarint(dst, uint64(len(t.streams)-1))
	next := int32(0)
	for k := 1; k < len(t.streams); k++ {
		st := t.streams[k].stream
		dst = binary.AppendUvarint(dst, uint64(st-next))
		next = st + 1
		mask := uint64(0)
		for _, s := range t.slotsOf(k) {
			mask |= 1 << s.slot
		}
		dst = binary.AppendUvarint(dst, mask)
		for _, s := range t.slotsOf(k) {
			dst = appendShape(dst, s.shape)
		}
	}
	return dst
}

// fields reads varints and remembers the first failure.
type fields struct {
	part string
	b    []byte
	err  error
}

func (f *fields) fail(what string) {
	if f.err == nil {
		f.err = encoding.Corruptf(f.part, "%s", what)
	}
}

func (f *fields) uvarint(what string) uint64 {
	v, n := binary.Uvarint(f.b)
	if n <= 0 || f.err != nil {
		f.fail(what + " is cut or overlong")
		return 0
	}
	f.b = f.b[n:]
	return v
}

func (f *fields) varint(what string) int64 {
	v, n := binary.Varint(f.b)
	if n <= 0 || f.err != nil {
		f.fail(what + " is cut or overlong")
		return 0
	}
	f.b = f.b[n:]
	return v
}

func (f *fields) shape() (s shape) {
	if len(f.b) == 0 {
		f.fail("a shape is cut")
		return s
	}
	c := f.b[0]
	f.b = f.b[1:]
	switch {
	case c > byte(shapePacked)+64:
		f.fail(fmt.Sprintf("unknown shape %d", c))
	case c >= byte(shapePacked):
		return shape{kind: shapePacked, w: c - byte(shapePacked)}
	}
	s.kind = shapeKind(c)
	if s.kind == shapeConst || s.kind == shapeStep {
		s.v = f.varint("a value")
	}
	return s
}

func parseTemplate(s *Schema, src []byte) (*Template, error) {
	t := &Template{}
	f := fields{part: "template", b: src}
	shapes := [numSlots]shape{groupRows: f.shape(), groupParts: f.shape()}
	t.add(groupStream, &shapes)
	n := f.uvarint("the number of streams")
	next := uint64(0)
	for range n {
		st := next + f.uvarint("a stream")
		mask := f.uvarint("a mask")
		if f.err != nil {
			break
		}
		if st < next || st >= uint64(len(s.layout.streams)) || mask >= 1<<numSlots {
			f.fail("a stream or mask that the schema does not have")
			break
		}
		next = st + 1
		shapes = [numSlots]shape{}
		for i := range shapes {
			if mask>>i&1 == 1 {
				shapes[i] = f.shape()
			}
		}
		if id := shapes[slotID]; id.kind == shapeConst && !encoding.ID(id.v).Valid() && f.err == nil {
			return nil, fmt.Errorf("template: %w encoding %d", encoding.ErrUnsupported, id.v)
		}
		t.add(int32(st), &shapes)
	}
	if f.err == nil && len(f.b) > 0 {
		f.fail("bytes left over")
	}
	if f.err != nil {
		return nil, f.err
	}
	return t, nil
}

// columns are the parameter columns of groups [from, to) of a segment: those
// of the groups, then numSlots of each stream that some group has. Where a
// group lacks the stream, its parameters do not matter and repeat those of a
// neighbour.
type columns struct {
	from, to int
	streams  []int32 // groupStream, then those present, ascending
	vals     []int64 // (k*numSlots + slot)*n + group, of the k-th stream
	chunks   []int32 // k*n + group: the chunk's number in the segment plus 1, or 0
	at       []int32 // by stream: k, during collect
}

func (c *columns) n() int { return c.to - c.from }

func (c *columns) slot(k, i int) []int64 {
	n := c.n()
	return c.vals[(k*numSlots+i)*n:][:n]
}

// columns collects the parameter columns of groups [from, to). They are valid
// until the next call.
func (s *segment) columns(from, to int) *columns {
	c := &s.cols
	if c.from == from && c.to == to {
		return c
	}
	c.from, c.to = from, to
	n := c.n()
	c.at = growZero(c.at, len(s.l.streams))
	chunks := s.chunks[s.groups[from].from:s.groups[to-1].to]
	c.streams = append(c.streams[:0], groupStream)
	for i := range chunks {
		if st := chunks[i].stream; c.at[st] == 0 {
			c.at[st] = 1
			c.streams = append(c.streams, st)
		}
	}
	slices.Sort(c.streams)
	for k, st := range c.streams[1:] {
		c.at[st] = int32(k + 1)
	}
	c.chunks = zeroed(c.chunks, len(c.streams)*n)
	c.vals = zeroed(c.vals, len(c.streams)*numSlots*n)
	for g := range n {
		info := &s.groups[from+g]
		c.slot(0, groupRows)[g], c.slot(0, groupParts)[g] = int64(info.rows), int64(info.parts)
		for i := info.from; i < info.to; i++ {
			c.chunks[int(c.at[s.chunks[i].stream])*n+g] = int32(i + 1)
		}
	}
	for k, st := range c.streams[1:] {
		c.at[st] = 0
		s.fill(c, k+1)
	}
	return c
}

// fill sets the parameter columns of the k-th stream.
func (s *segment) fill(c *columns, k int) {
	n := c.n()
	of := c.chunks[k*n:][:n]
	last := of[slices.IndexFunc(of, func(i int32) bool { return i > 0 })]
	for g, i := range of {
		count := int64(countNone)
		if i > 0 {
			last, count = i, s.chunks[i-1].slots[slotCount]
		}
		for slot, v := range &s.chunks[last-1].slots {
			if slot == slotCount {
				v = count
			}
			c.vals[(k*numSlots+slot)*n+g] = v
		}
	}
}

// zeroed is n zeros, in the memory of s if it has room.
func zeroed[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// traits of a parameter column.
type traits struct {
	lo, hi int64
	steps  bool // an arithmetic progression of two or more
	single bool // one value, which any step fits
	step   int64
}

func traitsOf(v []int64) traits {
	t := traits{lo: v[0], hi: v[0], steps: len(v) > 1, single: len(v) == 1}
	if t.steps {
		t.step = v[1] - v[0]
	}
	for i, x := range v {
		t.lo, t.hi = min(t.lo, x), max(t.hi, x)
		if i > 0 && x-v[i-1] != t.step {
			t.steps = false
		}
	}
	return t
}

func (t *traits) width() uint8 { return uint8(bits.Len64(uint64(t.hi) - uint64(t.lo))) }

// fits reports whether a column with traits t can be stored as s.
func (s shape) fits(t *traits) bool {
	switch s.kind {
	case shapeZero:
		return t.lo == 0 && t.hi == 0
	case shapeConst:
		return t.lo == s.v && t.hi == s.v
	case shapeBlock:
		return t.lo == t.hi
	case shapeStep:
		return t.single || t.steps && t.step == s.v
	case shapeSteps:
		return t.single || t.steps
	}
	return t.width() <= s.w
}

// cost is the bits that a column of n values takes as s, which fits.
func (s shape) cost(v []int64, t *traits) int {
	switch s.kind {
	case shapeBlock, shapeStep:
		return varintBits(v[0])
	case shapeSteps:
		return varintBits(v[0]) + varintBits(t.step)
	case shapePacked:
		return varintBits(t.lo) + len(v)*int(s.w)
	}
	return 0
}

func varintBits(v int64) int {
	u := uint64(v<<1) ^ uint64(v>>63)
	return 8 * max(1, (bits.Len64(u)+6)/7)
}

// ideal is the cheapest shape for a column in its block, given whether the
// value, or the step, is the same all over the segment.
func ideal(v []int64, t *traits, whole *traits) shape {
	switch {
	case t.lo == 0 && t.hi == 0 && whole.lo == whole.hi:
		return shape{}
	case whole.lo == whole.hi:
		return shape{kind: shapeConst, v: t.lo}
	case whole.steps:
		return shape{kind: shapeStep, v: whole.step}
	case t.lo == t.hi:
		return shape{kind: shapeBlock}
	}
	packed := shape{kind: shapePacked, w: t.width()}
	if t.steps {
		if s := (shape{kind: shapeSteps}); s.cost(v, t) < packed.cost(v, t) {
			return s
		}
	}
	return packed
}

// join is a shape that fits both what s fits and the column.
func (s shape) join(t *traits) shape {
	switch {
	case s.fits(t):
		return s
	case s.kind <= shapeBlock && t.lo == t.hi:
		return shape{kind: shapeBlock}
	case (s.kind == shapeStep || s.kind == shapeSteps) && t.steps:
		return shape{kind: shapeSteps}
	case s.kind == shapePacked:
		return shape{kind: shapePacked, w: t.width()}
	}
	return shape{kind: shapePacked, w: min(64, t.width()+1)}
}

type templateSet struct {
	list    []*Template
	last    int
	seg     *segment
	streams []int32   // of the segment, as columns.streams
	whole   []traits  // of the segment, by stream and slot
	cols    *columns  // of the block at hand
	of      []traits  // of the block
	wholeOf []int     // where the block's streams stand in streams
	own     *Template // scratch for the block at hand
}

// templateSlack is how many bits a block may be larger with a template that
// exists than with one of its own: a template costs some hundred bytes.
const templateSlack = 8 * 12

// recentTemplates is how many templates Choose looks at.
const recentTemplates = 64

func (ts *templateSet) choose(seg *Segment, from, to int) (int, *Template, bool) {
	s := &seg.segment
	if from == 0 || ts.seg != s { // a new segment
		ts.seg = s
		c := s.columns(0, len(s.groups))
		ts.streams = append(ts.streams[:0], c.streams...)
		ts.whole = c.traits(ts.whole)
	}
	c := s.columns(from, to)
	ts.cols, ts.of = c, c.traits(ts.of)
	ts.wholeOf = ts.wholeOf[:0]
	at := 0
	for _, st := range c.streams {
		for ts.streams[at] != st {
			at++
		}
		ts.wholeOf = append(ts.wholeOf, at)
	}

	if ts.own == nil {
		ts.own = &Template{}
	}
	own := ts.own
	own.template = template{streams: own.streams[:0], slots: own.slots[:0], stored: own.stored[:0]}
	for k, st := range c.streams {
		var shapes [numSlots]shape
		for i := range shapes {
			shapes[i] = ts.ideal(k, i)
		}
		own.add(st, &shapes)
	}
	ownCost, _ := ts.cost(own, math.MaxInt)
	best, limit := -1, ownCost+templateSlack
	for i := len(ts.list) - 1; i >= max(0, len(ts.list)-recentTemplates); i-- {
		if cost, ok := ts.cost(ts.list[i], limit); ok {
			best, limit = i, cost-1
		}
	}
	if best >= 0 {
		ts.last = best
		return best, ts.list[best], false
	}
	if len(ts.list) > 0 {
		joined := ts.join(ts.list[ts.last])
		if _, ok := ts.cost(joined, ownCost+templateSlack); ok {
			own = joined
		}
	}
	if own == ts.own {
		ts.own = nil
	}
	ts.list = append(ts.list, own)
	ts.last = len(ts.list) - 1
	return ts.last, own, true
}

// traits are those of all columns, in the memory of dst.
func (c *columns) traits(dst []traits) []traits {
	dst = slices.Grow(dst[:0], len(c.streams)*numSlots)[:len(c.streams)*numSlots]
	for i := range dst {
		dst[i] = traitsOf(c.vals[i*c.n():][:c.n()])
	}
	return dst
}

// ideal is the cheapest shape for slot i of the block's k-th stream.
func (ts *templateSet) ideal(k, i int) shape {
	return ideal(ts.cols.slot(k, i), &ts.of[k*numSlots+i], &ts.whole[ts.wholeOf[k]*numSlots+i])
}

var noneTraits = traits{lo: countNone, hi: countNone}

// cost is the bits of the parameters of the block at hand with template t. ok
// is false if t does not fit or takes more than limit.
func (ts *templateSet) cost(t *Template, limit int) (bits int, ok bool) {
	c, k := ts.cols, 0
	for j, l := range t.streams {
		if k < len(c.streams) && c.streams[k] < l.stream || bits > limit {
			return 0, false
		}
		shapes := t.shapes(j)
		if k == len(c.streams) || c.streams[k] > l.stream {
			// The count must be none; other parameters are anything.
			if !shapes[slotCount].fits(&noneTraits) {
				return 0, false
			}
			for i := range shapes {
				if shapes[i].dynamic() {
					bits += 8 + c.n()*int(shapes[i].w)
				}
			}
			continue
		}
		for i := range shapes {
			tr := &ts.of[k*numSlots+i]
			if !shapes[i].fits(tr) {
				return 0, false
			}
			if shapes[i].dynamic() {
				bits += shapes[i].cost(c.slot(k, i), tr)
			}
		}
		k++
	}
	return bits, k == len(c.streams) && bits <= limit
}

// join is a template that fits the block at hand and what t fits.
func (ts *templateSet) join(t *Template) *Template {
	j := &Template{}
	streams := ts.cols.streams
	for a, k := 0, 0; a < len(t.streams) || k < len(streams); {
		var shapes [numSlots]shape
		switch {
		case k == len(streams) || a < len(t.streams) && t.streams[a].stream < streams[k]: // the block has none
			shapes = t.shapes(a)
			shapes[slotCount] = shapes[slotCount].join(&noneTraits)
			j.add(t.streams[a].stream, &shapes)
			a++
			continue
		case a == len(t.streams) || t.streams[a].stream > streams[k]: // t has none
			for i := range shapes {
				shapes[i] = ts.ideal(k, i)
			}
			shapes[slotCount] = absentShape[slotCount].join(&ts.of[k*numSlots+slotCount])
		default:
			shapes = t.shapes(a)
			for i := range shapes {
				shapes[i] = shapes[i].join(&ts.of[k*numSlots+i])
			}
			a++
		}
		j.add(streams[k], &shapes)
		k++
	}
	return j
}

func (s *segment) appendBlock(dst []byte, from, to int, t *Template) []byte {
	c := s.columns(from, to)
	n := c.n()
	packed := &s.packed
	*packed = bitWriter{b: packed.b[:0]}
	k := 0
	for j, l := range t.streams {
		for k < len(c.streams) && c.streams[k] < l.stream {
			k++
		}
		for _, x := range t.slotsOf(j) {
			if x.dyn < 0 {
				continue
			}
			v := s.none[:n]
			if k < len(c.streams) && c.streams[k] == l.stream {
				v = c.slot(k, int(x.slot))
			} else if x.slot != slotCount {
				v = s.zero[:n]
			}
			switch x.kind {
			case shapeBlock, shapeStep:
				dst = binary.AppendVarint(dst, v[0])
			case shapeSteps:
				step := int64(0)
				if n > 1 {
					step = v[1] - v[0]
				}
				dst = binary.AppendVarint(dst, v[0])
				dst = binary.AppendVarint(dst, step)
			case shapePacked:
				lo := slices.Min(v)
				dst = binary.AppendVarint(dst, lo)
				for _, y := range v {
					packed.add(uint64(y)-uint64(lo), uint(x.w))
				}
			}
		}
	}
	dst = packed.appendTo(dst)
	for k := n; k < len(c.chunks); k++ {
		if i := c.chunks[k]; i > 0 {
			ch := &s.chunks[i-1]
			dst = append(dst, s.bodies[ch.off:ch.off+ch.len]...)
		}
	}
	return dst
}

// bitWriter packs values of changing widths, LSB first.
type bitWriter struct {
	b   []byte
	acc uint64
	n   uint
}

func (w *bitWriter) add(x uint64, width uint) {
	for width > 0 {
		take := min(width, 64-w.n)
		w.acc |= x << w.n
		x >>= take // 0 when take is 64
		w.n += take
		width -= take
		for w.n >= 8 {
			w.b = append(w.b, byte(w.acc))
			w.acc >>= 8
			w.n -= 8
		}
		w.acc &= 1<<w.n - 1
	}
}

func (w *bitWriter) appendTo(dst []byte) []byte {
	dst = append(dst, w.b...)
	if w.n > 0 {
		dst = append(dst, byte(w.acc))
	}
	return dst
}
