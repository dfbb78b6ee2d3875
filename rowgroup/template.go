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

// slot is one parameter column: of a stream, or (stream -1) of the groups:
// rows, partitions.
type slot struct {
	stream int
	slot   int
	shape  shape
}

const (
	groupRows = iota
	groupParts
	numGroupSlots
)

type template struct {
	l     *layout
	group [numGroupSlots]shape
	slots [][numSlots]shape // by stream
	dyn   []slot            // those that a block stores, in its order
	size  int               // of appendTo
}

// absentShape is the shape of streams without values.
var absentShape = [numSlots]shape{slotCount: {kind: shapeConst, v: countNone}}

func (t *template) finish() {
	t.dyn = t.dyn[:0]
	for i, s := range t.group {
		if s.dynamic() {
			t.dyn = append(t.dyn, slot{-1, i, s})
		}
	}
	for st := range t.slots {
		for i, s := range t.slots[st] {
			if s.dynamic() {
				t.dyn = append(t.dyn, slot{st, i, s})
			}
		}
	}
	t.size = len(t.appendTo(nil))
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
	for _, s := range t.group {
		dst = appendShape(dst, s)
	}
	n := 0
	for st := range t.slots {
		if t.slots[st] != absentShape {
			n++
		}
	}
	dst = binary.AppendUvarint(dst, uint64(n))
	last := -1
	for st := range t.slots {
		if t.slots[st] == absentShape {
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(st-last-1))
		last = st
		mask := uint64(0)
		for i, s := range t.slots[st] {
			if s.kind != shapeZero {
				mask |= 1 << i
			}
		}
		dst = binary.AppendUvarint(dst, mask)
		for _, s := range t.slots[st] {
			if s.kind != shapeZero {
				dst = appendShape(dst, s)
			}
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
	l := s.layout
	t := &Template{template{l: l, slots: make([][numSlots]shape, len(l.streams))}}
	for i := range t.slots {
		t.slots[i] = absentShape
	}
	f := fields{part: "template", b: src}
	for i := range t.group {
		t.group[i] = f.shape()
	}
	n := f.uvarint("the number of streams")
	next := uint64(0)
	for range n {
		st := next + f.uvarint("a stream")
		mask := f.uvarint("a mask")
		if f.err != nil {
			break
		}
		if st < next || st >= uint64(len(l.streams)) || mask >= 1<<numSlots {
			f.fail("a stream or mask that the schema does not have")
			break
		}
		next = st + 1
		t.slots[st] = [numSlots]shape{}
		for i := range numSlots {
			if mask>>i&1 == 1 {
				t.slots[st][i] = f.shape()
			}
		}
		if id := t.slots[st][slotID]; id.kind == shapeConst && !encoding.ID(id.v).Valid() && f.err == nil {
			return nil, fmt.Errorf("template: %w encoding %d", encoding.ErrUnsupported, id.v)
		}
	}
	if f.err == nil && len(f.b) > 0 {
		f.fail("bytes left over")
	}
	if f.err != nil {
		return nil, f.err
	}
	t.finish()
	return t, nil
}

// columns collects the parameter columns of groups [from, to) of s: the two
// of the groups, then numSlots a stream. Where a group lacks the stream, its
// parameters do not matter and repeat those of a neighbour.
type columns struct {
	n      int
	group  [numGroupSlots][]int64
	vals   []int64 // stream-major: (stream*numSlots + slot)*n + group
	absent []bool  // streams that no group has
}

func (c *columns) collect(s *segment, from, to int) {
	c.n = to - from
	ns := len(s.l.streams)
	for i := range c.group {
		c.group[i] = c.group[i][:0]
	}
	if need := ns * numSlots * c.n; cap(c.vals) < need {
		c.vals = make([]int64, need)
	} else {
		c.vals = c.vals[:need]
	}
	c.absent = append(c.absent[:0], make([]bool, ns)...)
	for g := from; g < to; g++ {
		c.group[groupRows] = append(c.group[groupRows], int64(s.groups[g].rows))
		c.group[groupParts] = append(c.group[groupParts], int64(s.groups[g].parts))
	}
	for st := range ns {
		have := -1
		for g := range c.n {
			if s.chunk(from+g, st).slots[slotCount] != countNone {
				have = g
				break
			}
		}
		if have < 0 {
			c.absent[st] = true
			continue
		}
		for g := range c.n {
			ch := s.chunk(from+g, st)
			c.vals[(st*numSlots+slotCount)*c.n+g] = ch.slots[slotCount]
			if ch.slots[slotCount] != countNone {
				have = g
			}
			ch = s.chunk(from+have, st)
			for i := slotCount + 1; i < numSlots; i++ {
				c.vals[(st*numSlots+i)*c.n+g] = ch.slots[i]
			}
		}
	}
}

func (c *columns) slot(st, i int) []int64 {
	k := (st*numSlots + i) * c.n
	return c.vals[k : k+c.n]
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
	list  []*Template
	last  int
	cols  columns
	whole []traits // of the segment, by stream and slot
	seg   *segment
	of    []traits
	group [2][numGroupSlots]traits
	own   *Template // scratch for the block at hand
}

// templateSlack is how many bits a block may be larger with a template that
// exists than with one of its own: a template costs some hundred bytes.
const templateSlack = 8 * 12

// recentTemplates is how many templates Choose looks at.
const recentTemplates = 64

func (ts *templateSet) choose(seg *Segment, from, to int) (int, *Template, bool) {
	s := &seg.segment
	ns := len(s.l.streams)
	if from == 0 || ts.seg != s { // a new segment
		ts.seg = s
		ts.cols.collect(s, 0, len(s.groups))
		ts.whole = append(ts.whole[:0], make([]traits, ns*numSlots)...)
		ts.traits(ts.whole, &ts.group[1], ns)
	}
	c := &ts.cols
	c.collect(s, from, to)
	ts.of = append(ts.of[:0], make([]traits, ns*numSlots)...)
	ts.traits(ts.of, &ts.group[0], ns)

	if ts.own == nil {
		ts.own = &Template{template{l: s.l, slots: make([][numSlots]shape, ns)}}
	}
	own := ts.own
	for i := range own.group {
		own.group[i] = ideal(c.group[i], &ts.group[0][i], &ts.group[1][i])
	}
	for st := range ns {
		own.slots[st] = absentShape
		if c.absent[st] {
			continue
		}
		for i := range numSlots {
			k := st*numSlots + i
			own.slots[st][i] = ideal(c.slot(st, i), &ts.of[k], &ts.whole[k])
		}
	}
	ownCost, _ := ts.cost(own)
	best, bestCost := -1, 0
	for i := len(ts.list) - 1; i >= max(0, len(ts.list)-recentTemplates); i-- {
		if cost, ok := ts.cost(ts.list[i]); ok && (best < 0 || cost < bestCost) {
			best, bestCost = i, cost
		}
	}
	if best >= 0 && bestCost <= ownCost+templateSlack {
		ts.last = best
		return best, ts.list[best], false
	}
	if len(ts.list) > 0 {
		if joined := ts.join(ts.list[ts.last]); joined != nil {
			if cost, ok := ts.cost(joined); ok && cost <= ownCost+templateSlack {
				own = joined
			}
		}
	}
	own.finish()
	ts.own = nil
	ts.list = append(ts.list, own)
	ts.last = len(ts.list) - 1
	return ts.last, own, true
}

func (ts *templateSet) traits(of []traits, group *[numGroupSlots]traits, ns int) {
	c := &ts.cols
	for i := range group {
		group[i] = traitsOf(c.group[i])
	}
	for st := range ns {
		if c.absent[st] {
			continue
		}
		for i := range numSlots {
			of[st*numSlots+i] = traitsOf(c.slot(st, i))
		}
	}
}

// cost is the bits of the parameters of the block at hand with template t,
// and whether t fits at all.
func (ts *templateSet) cost(t *Template) (bits int, ok bool) {
	c := &ts.cols
	for i, s := range t.group {
		if !s.fits(&ts.group[0][i]) {
			return 0, false
		}
		bits += s.cost(c.group[i], &ts.group[0][i])
	}
	for st := range t.slots {
		sh := &t.slots[st]
		if c.absent[st] {
			// The count must be none; other parameters are anything.
			if !sh[slotCount].fits(&traits{lo: countNone, hi: countNone}) {
				return 0, false
			}
			for i := range sh {
				if sh[i].dynamic() {
					bits += 8 + c.n*int(sh[i].w)
				}
			}
			continue
		}
		for i := range sh {
			k := st*numSlots + i
			if !sh[i].fits(&ts.of[k]) {
				return 0, false
			}
			if sh[i].dynamic() {
				bits += sh[i].cost(c.slot(st, i), &ts.of[k])
			}
		}
	}
	return bits, true
}

// join is a template that fits the block at hand and what t fits.
func (ts *templateSet) join(t *Template) *Template {
	c := &ts.cols
	j := &Template{template{l: t.l, slots: make([][numSlots]shape, len(t.slots))}}
	for i, s := range t.group {
		j.group[i] = s.join(&ts.group[0][i])
	}
	none := traits{lo: countNone, hi: countNone}
	for st := range t.slots {
		j.slots[st] = t.slots[st]
		if c.absent[st] {
			j.slots[st][slotCount] = t.slots[st][slotCount].join(&none)
			continue
		}
		for i := range numSlots {
			if t.slots[st] == absentShape && i != slotCount {
				k := st*numSlots + i
				j.slots[st][i] = ideal(c.slot(st, i), &ts.of[k], &ts.whole[k])
				continue
			}
			j.slots[st][i] = t.slots[st][i].join(&ts.of[st*numSlots+i])
		}
	}
	return j
}

func (s *segment) appendBlock(dst []byte, from, to int, t *Template) []byte {
	var c columns
	c.collect(s, from, to)
	var packed bitWriter
	for _, d := range t.dyn {
		var v []int64
		switch {
		case d.stream < 0:
			v = c.group[d.slot]
		case c.absent[d.stream]:
			v = make([]int64, c.n)
			if d.slot == slotCount {
				for i := range v {
					v[i] = countNone
				}
			}
		default:
			v = c.slot(d.stream, d.slot)
		}
		switch d.shape.kind {
		case shapeBlock, shapeStep:
			dst = binary.AppendVarint(dst, v[0])
		case shapeSteps:
			step := int64(0)
			if len(v) > 1 {
				step = v[1] - v[0]
			}
			dst = binary.AppendVarint(dst, v[0])
			dst = binary.AppendVarint(dst, step)
		case shapePacked:
			tr := traitsOf(v)
			dst = binary.AppendVarint(dst, tr.lo)
			for _, x := range v {
				packed.add(uint64(x)-uint64(tr.lo), uint(d.shape.w))
			}
		}
	}
	dst = packed.appendTo(dst)
	for st := range s.l.streams {
		for g := from; g < to; g++ {
			ch := s.chunk(g, st)
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
