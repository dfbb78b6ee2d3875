package rowgroup

import (
	"encoding/binary"
	"fmt"
	"math/bits"

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
	if len(f.b) > 0 && f.b[0] < 0x80 && f.err == nil { // most
		x := int64(f.b[0])
		f.b = f.b[1:]
		return x>>1 ^ -(x & 1)
	}
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

// fits reports whether a column of n values with traits t can be stored as s.
func (s shape) fits(t *traits, n int) bool {
	switch s.kind {
	case shapeZero:
		return t.lo == 0 && t.hi == 0
	case shapeConst:
		return t.lo == s.v && t.hi == s.v
	case shapeBlock:
		return t.lo == t.hi
	case shapeStep:
		return n == 1 || t.steps && t.step == s.v
	case shapeSteps:
		return n == 1 || t.steps
	}
	return t.width() <= s.w
}

// cost is the bits that a column of n values takes as s, which fits.
func (s shape) cost(t *traits, n int) int {
	switch s.kind {
	case shapeBlock, shapeStep:
		return varintBits(t.first)
	case shapeSteps:
		return varintBits(t.first) + varintBits(t.step)
	case shapePacked:
		return varintBits(t.lo) + n*int(s.w)
	}
	return 0
}

func varintBits(v int64) int {
	u := uint64(v<<1) ^ uint64(v>>63)
	return 8 * max(1, (bits.Len64(u)+6)/7)
}

// ideal is the cheapest shape for a column of n values in its block, given
// whether the value, or the step, is the same all over the segment.
func ideal(t, whole *traits, n int) shape {
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
		if s := (shape{kind: shapeSteps}); s.cost(t, n) < packed.cost(t, n) {
			return s
		}
	}
	return packed
}

// join is a shape that fits both what s fits and the column.
func (s shape) join(t *traits, n int) shape {
	switch {
	case s.fits(t, n):
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

// noneTraits are those of the counts of a stream that no group has. They join
// no progression.
var noneTraits = traits{first: countNone, lo: countNone, hi: countNone}

func (s shape) fitsNone() bool { return s.fits(&noneTraits, 2) }

type templateSet struct {
	list   []known
	last   int // the one taken for the block before
	blocks int // so far
	bytes  int // of all templates
}

// known is a template of the set.
type known struct {
	*Template
	fixed, perGroup int          // bits that a block takes at least
	stored          []streamSlot // what it stores of a block
	doubt           streamSlot   // why it did not fit last time
}

// streamSlot is a slot of a template and its stream.
type streamSlot struct {
	stream int32
	slot
}

// templateSlack is how many bits a block may be larger at least with a template
// that exists than with one of its own: a template costs some hundred bytes.
const templateSlack = 8 * 12

// slack is how many bits a block may be larger with a template that exists: as
// many as the templates took for each block so far, up to a quarter of one.
func (ts *templateSet) slack() int {
	if ts.blocks == 0 {
		return templateSlack
	}
	return max(templateSlack, min(8*ts.bytes/ts.blocks, 2*ts.bytes/len(ts.list)))
}

// recentTemplates is how many templates Choose looks at.
const recentTemplates = 64

func (ts *templateSet) choose(seg *Segment, from, to int) (int, *Template, bool) {
	c := &seg.cols
	c.open(from, to)
	ownCost, seeds := c.ownCost()
	slack := ts.slack()
	ts.blocks++
	limit, enough := ownCost+slack, ownCost+slack/2
	cost := func(i int) (bits int, ok bool) {
		k := &ts.list[i]
		if k.fixed+k.perGroup*(to-from)+seeds > limit || c.confirms(&k.doubt) || c.exceeds(k.stored, limit) {
			return 0, false
		}
		bits, k.doubt, ok = c.cost(&k.template, limit)
		return bits, ok
	}
	// One that is good enough, the last one or else the newest, or the cheapest,
	// of equal ones the newest. What the last one costs leaves little to try.
	best, lastCost, lastFits := -1, 0, false
	if len(ts.list) > 0 {
		if lastCost, lastFits = cost(ts.last); lastFits {
			if lastCost <= enough {
				return ts.last, ts.list[ts.last].Template, false
			}
			limit = lastCost
		}
	}
	for i := len(ts.list) - 1; i >= max(0, len(ts.list)-recentTemplates) && limit >= enough; i-- {
		bits, ok := lastCost, lastFits && lastCost <= limit
		if i != ts.last {
			bits, ok = cost(i)
		}
		if ok {
			best, limit = i, bits-1
		}
	}
	if best >= 0 {
		ts.last = best
		return best, ts.list[best].Template, false
	}
	var t *Template
	if len(ts.list) > 0 {
		t = c.join(ts.list[ts.last].Template)
		if _, _, ok := c.cost(&t.template, ownCost+slack); !ok {
			t = nil
		}
	}
	if t == nil {
		t = c.own()
	}
	k := known{Template: t, doubt: streamSlot{stream: groupStream}}
	for j, l := range t.streams {
		for _, x := range t.slotsOf(j) {
			if x.dynamic() {
				k.fixed, k.perGroup = k.fixed+8, k.perGroup+int(x.w)
				k.stored = append(k.stored, streamSlot{l.stream, x})
			}
		}
	}
	ts.bytes += len(t.appendTo(nil))
	ts.list = append(ts.list, k)
	ts.last = len(ts.list) - 1
	return ts.last, t, true
}

// ideal are the cheapest shapes for the k-th stream of the block.
func (c *columns) ideal(k int) (shapes [numSlots]shape) {
	for i := range shapes {
		shapes[i] = ideal(&c.slots(k)[i].traits, &c.whole[k*numSlots+i].traits, c.to-c.from)
	}
	return shapes
}

// own is a template of the cheapest shapes for the block.
func (c *columns) own() *Template {
	t := &Template{}
	for _, k := range c.present {
		shapes := c.ideal(int(k))
		t.add(c.streams[k], &shapes)
	}
	return t
}

// ownCost is the bits of the block's parameters with a template of its own.
// Any template takes seeds bits more than 8 for each of its columns.
func (c *columns) ownCost() (bits, seeds int) {
	n, here := c.to-c.from, 0
	for _, at := range c.vary { // others cost nothing
		k := at / numSlots
		for here < len(c.present) && c.present[here] < k {
			here++
		}
		if here == len(c.present) || c.present[here] != k {
			continue
		}
		t := &c.block[at].traits
		bits += ideal(t, &c.whole[at].traits, n).cost(t, n)
		if t.lo != t.hi { // a seed has either the first or the least
			seeds += min(varintBits(t.first), varintBits(t.lo)) - 8
		}
	}
	return bits, seeds
}

// confirms reports whether the slot does not fit the block either.
func (c *columns) confirms(m *streamSlot) bool {
	if m.stream == groupStream {
		return false
	}
	k := int(c.at[m.stream])
	return k > 0 && (!c.gaps[k] || c.firstOf(k) >= 0) && !m.fits(&c.slots(k)[m.slot.slot].traits, c.to-c.from)
}

// exceeds reports whether the block's parameters take more than limit bits with
// a template that stores these slots, if it fits.
func (c *columns) exceeds(stored []streamSlot, limit int) bool {
	n := c.to - c.from
	size := 0
	for i := range stored {
		x := &stored[i]
		k := 0 // of groupStream
		if x.stream != groupStream {
			k = int(c.at[x.stream])
		}
		if x.stream != groupStream && (k == 0 || c.gaps[k]) { // the block may lack the stream
			size += 8 + n*int(x.w)
		} else {
			size += x.cost(&c.block[k*numSlots+int(x.slot.slot)].traits, n)
		}
		if size > limit {
			return true
		}
	}
	return false
}

// cost is the bits of the block's parameters with template t. ok is false if t
// does not fit, because of doubt where that names a stream, or takes more than
// limit.
func (c *columns) cost(t *template, limit int) (size int, doubt streamSlot, ok bool) {
	n := c.to - c.from
	present := c.present
	doubt.stream = groupStream
	for j, l := range t.streams {
		if len(present) > 0 && c.streams[present[0]] < l.stream || size > limit {
			return 0, doubt, false
		}
		listed := t.slotsOf(j)
		if len(present) == 0 || c.streams[present[0]] > l.stream {
			// The count must be none; other parameters are anything.
			if len(listed) == 0 || listed[0].slot != slotCount || !listed[0].fitsNone() {
				return 0, doubt, false
			}
			for _, x := range listed {
				if x.dynamic() {
					size += 8 + n*int(x.w)
				}
			}
			continue
		}
		k := int(present[0])
		present = present[1:]
		slots, rest := c.slots(k), c.nonzero[k]
		for _, x := range listed {
			tr := &slots[x.slot].traits
			if !x.fits(tr, n) {
				return 0, streamSlot{l.stream, x}, false
			}
			rest &^= 1 << x.slot
			if x.dynamic() {
				size += x.cost(tr, n)
			}
		}
		if rest != 0 {
			return 0, streamSlot{l.stream, slot{slot: uint8(bits.TrailingZeros16(rest))}}, false
		}
	}
	return size, doubt, len(present) == 0 && size <= limit
}

// join is a template that fits the block and what t fits.
func (c *columns) join(t *Template) *Template {
	j, n := &Template{}, c.to-c.from
	present := c.present
	for a := 0; a < len(t.streams) || len(present) > 0; {
		var shapes [numSlots]shape
		if len(present) == 0 || a < len(t.streams) && t.streams[a].stream < c.streams[present[0]] { // the block has none
			shapes = t.shapes(a)
			shapes[slotCount] = shapes[slotCount].join(&noneTraits, 2)
			j.add(t.streams[a].stream, &shapes)
			a++
			continue
		}
		k := int(present[0])
		present = present[1:]
		if a == len(t.streams) || t.streams[a].stream > c.streams[k] { // t has none
			shapes = c.ideal(k)
			shapes[slotCount] = absentShape[slotCount].join(&c.slots(k)[slotCount].traits, n)
		} else {
			shapes = t.shapes(a)
			for i := range shapes {
				shapes[i] = shapes[i].join(&c.slots(k)[i].traits, n)
			}
			a++
		}
		j.add(c.streams[k], &shapes)
	}
	return j
}

// none and zero are the columns of streams that the block lacks.
var none, zero = column{traits: noneTraits}, column{}

func (s *segment) appendBlock(dst []byte, from, to int, t *Template) []byte {
	dst, rest := s.appendBlockHead(dst, from, to, t)
	return append(dst, rest...)
}

// appendBlockHead appends what the body of a block begins with. The rest are
// the chunks of a single group, which stand in a block as they stand in s.
func (s *segment) appendBlockHead(dst []byte, from, to int, t *Template) (head, rest []byte) {
	c := &s.cols
	c.open(from, to)
	n := to - from
	packed := &s.packed
	*packed = bitWriter{b: packed.b[:0]}
	present := c.present
	for j, l := range t.streams {
		for len(present) > 0 && c.streams[present[0]] < l.stream {
			present = present[1:]
		}
		here := len(present) > 0 && c.streams[present[0]] == l.stream
		for _, x := range t.slotsOf(j) {
			if x.dyn < 0 {
				continue
			}
			v := &zero
			if here {
				v = &c.slots(int(present[0]))[x.slot]
			} else if x.slot == slotCount {
				v = &none
			}
			switch x.kind {
			case shapeBlock, shapeStep:
				dst = binary.AppendVarint(dst, v.first)
			case shapeSteps:
				dst = binary.AppendVarint(dst, v.first)
				dst = binary.AppendVarint(dst, v.step)
			case shapePacked:
				dst = binary.AppendVarint(dst, v.lo)
				for _, y := range v.v {
					packed.add(uint64(y)-uint64(v.lo), uint(x.w))
				}
				if v.v == nil {
					for range n {
						packed.add(0, uint(x.w))
					}
				}
			}
		}
	}
	dst = packed.appendTo(dst)
	if n == 1 {
		g := &s.groups[from]
		return dst, s.bodies[g.off : g.off+g.bytes]
	}
	for k := 1; k < len(c.streams); k++ {
		for _, i := range c.chunks[k*c.n:][from:to] {
			if i > 0 && s.chunks[i-1].len > 0 {
				ch := &s.chunks[i-1]
				dst = append(dst, s.bodies[ch.off:ch.off+ch.len]...)
			}
		}
	}
	return dst, nil
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
