package rowgroup

import (
	"cmp"
	"math"
	"sort"

	"github.com/colsst/colsst/encoding"
)

// IntOrder is the order of rows where one integer says where a row stands: the
// table has one clustering column, of ClassInt32 or ClassInt64 and of a known
// order. What it makes of a value compares as a signed number, whether the
// column ascends or not.
type IntOrder struct {
	col  int
	typ  Type
	desc bool // greater values come first
	flip int64
}

// IntOrder is the table's order by one integer; ok is false where it has none.
func (s *Schema) IntOrder() (o IntOrder, ok bool) {
	c := s.Columns(Clustering)
	if len(c) != 1 || !c[0].Type.Ordered() {
		return o, false
	}
	class := c[0].Type.Physical().Class()
	o = IntOrder{col: s.from[Clustering], typ: c[0].Type, desc: c[0].descends()}
	if class == ClassInt64 && o.typ.unsigned() {
		o.flip = math.MinInt64
	}
	if o.desc {
		o.flip = ^o.flip
	}
	return o, class == ClassInt32 || class == ClassInt64
}

// IntBound is a place among rows in an IntOrder: before those of Value or,
// with After, behind them.
type IntBound struct {
	Value int64
	After bool
}

// Compare is -1 if a row of value v lies before the bound, else 1.
func (b IntBound) Compare(v int64) int {
	if c := cmp.Compare(v, b.Value); c != 0 {
		return c
	}
	if b.After {
		return -1
	}
	return 1
}

// Of is the value in the order of x, as it lies in a Batch.
func (o *IntOrder) Of(x int64) int64 { return x ^ o.flip }

// Position is the value of a row's position. ok is false for markers and for
// rows of null or of a value that memory cannot hold.
func (o *IntOrder) Position(p *Position) (v int64, ok bool) {
	if p.Weight != 0 || len(p.Prefix) != 1 {
		return 0, false
	}
	v, ok = IntOf(o.typ, p.Prefix[0])
	return v ^ o.flip, ok
}

// ParsePosition is Position of a position as Schema.AppendPosition writes it,
// and nothing behind it.
func (o *IntOrder) ParsePosition(src []byte) (v int64, ok bool) {
	const row = 3*1 + 0 + 1 // one value, at the row that has it
	if len(src) < 2 || src[0] != row || int(src[1]) != 1+len(src)-2 || src[1] >= 0x80 {
		return 0, false
	}
	v, ok = IntOf(o.typ, src[2:])
	return v ^ o.flip, ok
}

// Bound is the place of a bound that Schema.CheckBound accepts, among rows
// that have values. isStart tells the start of a range from its end.
func (o *IntOrder) Bound(b Bound, isStart bool) IntBound {
	least, greatest := IntBound{Value: math.MinInt64}, IntBound{Value: math.MaxInt64, After: true}
	switch {
	case len(b.Prefix) == 0 && !isStart:
		return greatest
	case len(b.Prefix) == 0 || b.Prefix[0] == nil:
		return least
	}
	x := b.Prefix[0]
	if len(x) == 0 {
		if o.desc {
			return greatest
		}
		return least
	}
	v, ok := IntOf(o.typ, x)
	if !ok && o.typ.bare().Kind == KindBoolean { // one above 1 is true
		v = 1
	} // else a decimal(p,s) of too many digits: the bound is where it would stand
	return IntBound{v ^ o.flip, b.weight(isStart) > 0}
}

// Search is the first of unfiltereds [from, to) of b, which are in order, that
// lies after the bound, or to. ok is false if one of b has no value.
func (o *IntOrder) Search(b *Batch, from, to int, bound IntBound) (i int, ok bool) {
	v := &b.vecs[o.col]
	if len(v.Cells) > 0 || b.markersFrom(from) != b.markersFrom(to) {
		return 0, false
	}
	if v.class == ClassInt32 {
		return from + searchInts(v.i32[from:to], o.flip, bound), true
	}
	return from + searchInts(v.i64[from:to], o.flip, bound), true
}

func searchInts[T int32 | int64](s []T, flip int64, bound IntBound) int {
	return sort.Search(len(s), func(i int) bool {
		v := int64(s[i]) ^ flip
		return v > bound.Value || v == bound.Value && !bound.After
	})
}

// At is the value of unfiltered i of b. ok is false if a marker stands there
// or an unfiltered of b has no value.
func (o *IntOrder) At(b *Batch, i int) (v int64, ok bool) {
	c := &b.vecs[o.col]
	if len(c.Cells) > 0 || b.MarkerAt(i) != nil {
		return 0, false
	}
	if c.class == ClassInt32 {
		return int64(c.i32[i]) ^ o.flip, true
	}
	return c.i64[i] ^ o.flip, true
}

// FirstInt is the value in the order o of the first unfiltered of group g of
// the open block. ok is false where only decoding the group can say.
func (d *BlockDecoder) FirstInt(o *IntOrder, g int) (v int64, ok bool) {
	r, ok := d.intRamp(o, g)
	return r.First ^ o.flip, ok
}

// intRamp are the values of the unfiltereds of group g in the column of o, if
// these are all rows and parameters alone say so.
func (d *BlockDecoder) intRamp(o *IntOrder, g int) (r encoding.Ramp, ok bool) {
	states := d.l.clustering + 2*(o.col-d.schema.from[Clustering])
	if d.rows[g] == 0 || !d.plain && (d.count(d.l.kinds, g) != d.rows[g] || !d.zero(d.l.kinds, g, g+1) ||
		!d.zero(states, g, g+1) || d.count(states+1, g) != d.rows[g]) {
		return r, false
	}
	r, ok = d.ramp(states+1, g)
	return r, ok && r.Spread == 0
}

// GroupsWithin are the groups [from, to) of the open block that reach into a
// range, at least one. ok is false where parameters alone do not tell.
func (d *BlockDecoder) GroupsWithin(o *IntOrder, start, end IntBound) (from, to int, ok bool) {
	st := d.l.clustering + 2*(o.col-d.schema.from[Clustering]) + 1
	if !d.plain {
		return 0, 0, false
	}
	r, ok := d.ramp(st, d.groups)
	if !ok || r.Spread != 0 {
		return 0, 0, false
	}
	from = d.groupBefore(searchRamp(r, d.starts[d.groups], o.flip, start))
	to = d.groupBefore(searchRamp(r, d.starts[d.groups], o.flip, end)) + 1
	return from, to, from < to
}

// groupBefore is the last group that begins before an unfiltered of the block, at
// least the first.
func (d *BlockDecoder) groupBefore(row int) int {
	g := d.groups - 1
	for g > 0 && d.starts[g] >= row {
		g--
	}
	return g
}

// searchRamp is the first of n values of r, which has no spread, that lies behind
// the bound, or n. It looks first where the value would be if none overflows.
func searchRamp(r encoding.Ramp, n int, flip int64, bound IntBound) int {
	lo, hi := 0, n
	m := 0
	if r.Step != 0 {
		m = int(min(max(((bound.Value^flip)-r.First)/r.Step, 0), int64(n)))
	}
	for tries := 0; lo < hi; tries++ {
		if tries > 2 {
			m = int(uint(lo+hi) >> 1)
		}
		m = min(max(m, lo), hi-1)
		if bound.Compare((r.First+int64(m)*r.Step)^flip) < 0 {
			m++
			lo = m
		} else {
			hi = m
			m--
		}
	}
	return lo
}
