package rowgroup

import (
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/function"
	"github.com/colsst/colsst/simd"
)

// steady are the streams of a segment's rows whose chunks are all alike and
// empty, of as many values as usual: what rows alike need is worked out once,
// and no chunk is encoded.
type steady struct {
	streams []steadyStream // first those of one value, which are not gathered
	ones    int            // how many those are
	has     []bool         // by stream: it is of ones
	span    Span           // all groups
}

// steadyStream is an int64 stream and the slots of its chunks.
type steadyStream struct {
	stream int32
	slots  slotValues
}

// add adds a stream of one value.
func (s *steady) add(stream int, all int64) {
	s.streams = append(s.streams, steadyStream{int32(stream), slotValues{slotID: int64(encoding.Constant), slotParam: all}})
	s.ones++
	s.has[stream] = true
}

// one is the value of the i-th stream.
func (s *steady) one(i int) int64 { return s.streams[i].slots[slotParam] }

// find sets s to the streams of one value in the groups spans of b, which
// follow one another. Groups with markers, or without any row, have none.
func (s *steady) find(l *layout, b *Batch, spans []Span) {
	s.streams, s.ones, s.has = s.streams[:0], 0, zeroed(s.has, len(l.streams))
	if len(spans) == 0 {
		return
	}
	for _, sp := range spans {
		if sp.FromRow == sp.ToRow {
			return
		}
	}
	from, to := spans[0].FromRow, spans[len(spans)-1].ToRow
	s.span = Span{FromRow: from, ToRow: to}
	if len(between(b.markers, from, to, markerRow)) > 0 {
		return
	}
	s.add(l.kinds, 0)
	cFrom, cTo := b.schema.Range(Clustering)
	for c := cFrom; c < cTo; c++ {
		if cellsAsRow(&b.vecs[c], from, to) {
			s.add(l.clustering+2*(c-cFrom), int64(CellAsRow))
		}
	}
	r, m := &l.rows, &b.meta
	if len(m.Liveness) == 0 || uniform(m.Liveness[from:to]) {
		live := at(m.Liveness, from)
		s.add(r.base+rLiveness, int64(live))
		if x, ok := only(m.TTLs, from, to); ok && live == LivenessExpiring {
			s.add(r.base+rTTL, int64(x))
		}
	}
	if len(between(m.Deletions, from, to, deletionRow)) == 0 {
		s.add(r.base+rDelState, 0)
	}
	for c := r.from; c < r.to; c++ {
		if v := &b.vecs[c]; v.multi == nil && v.len() > 0 && cellsAsRow(v, from, to) {
			s.add(r.value(c, cState), int64(CellAsRow))
		}
	}
}

// cellsAsRow reports whether cells [from, to) of v are all as their rows.
func cellsAsRow(v *vector, from, to int) bool {
	return len(v.Cells) == 0 || union(v.Cells[from:to]) == CellAsRow
}

// only is the one value that all of v[from:to] have, if they do.
func only(v []int32, from, to int) (x int32, ok bool) {
	if len(v) == 0 {
		return 0, true
	}
	v = v[from:to]
	if v[0] != v[len(v)-1] || v[0] != v[len(v)/2] {
		return 0, false
	}
	lo, hi := simd.MinMaxInt32(v)
	return lo, lo == hi
}

// findFunctions adds to the steady streams those that are encoded as functions
// which fit exactly, with one base all over the segment.
func (e *segmentEncoder) findFunctions(b *Batch) {
	others := e.others[:0]
	for _, st := range e.others {
		c := &e.codecs[st]
		if c.choice.id == encoding.Function {
			if base, ok := e.exact(b, int(st), c.choice.plan); ok {
				s := steadyStream{stream: st, slots: slotValues{slotID: int64(encoding.Function)}}
				*s.slots.params() = function.ParamsOf(c.choice.plan, base)
				e.steady.streams = append(e.steady.streams, s)
				continue
			}
		}
		others = append(others, st)
	}
	e.others = others
}

// exact reports whether all values of stream st in the segment are those of the
// plan and one base more.
func (e *segmentEncoder) exact(b *Batch, st int, plan function.Plan) (base int64, ok bool) {
	if !e.whole(b, int64(st)) || !e.whole(b, plan.X) || plan.Y != function.None && !e.whole(b, plan.Y) {
		return 0, false
	}
	const few, run = 16, 1024 // values at a time
	from, to := e.steady.span.FromRow, e.steady.span.ToRow
	for first, end := from, min(to, from+few); first < to; first, end = end, min(to, end+run) {
		v, x := e.piece(b, int64(st), first, end, 0), e.piece(b, plan.X, first, end, 1)
		var y []int64
		if plan.Y != function.None {
			y = e.piece(b, plan.Y, first, end, 2)
		}
		k, ok := e.codecs[st].fun.BaseOf(v, x, y, plan)
		if !ok || first > from && k != base {
			return 0, false
		}
		base = k
	}
	return base, true
}

// whole reports whether integer stream st has a value for each row of the
// segment, all of which are rows.
func (e *segmentEncoder) whole(b *Batch, st int64) bool {
	l, r := e.l, &e.l.rows
	has := e.steady.has
	if !has[l.kinds] {
		return false
	}
	if c := int(st) - l.clustering; c >= 0 && int(st) < r.base {
		return c&1 == 1 && has[st-1]
	}
	live := Liveness(0)
	for i := range e.steady.ones {
		if int(e.steady.streams[i].stream) == r.base+rLiveness {
			live = Liveness(e.steady.one(i))
		}
	}
	switch int(st) {
	case r.base + rWriteTime:
		return has[r.base+rLiveness] && live != LivenessNone
	case r.base + rTTL:
		return has[r.base+rLiveness] && live == LivenessExpiring
	case r.base + rExpiry:
		return has[r.base+rLiveness] && live >= LivenessExpiring
	}
	for c := r.from; c < r.to; c++ {
		if int(st) == r.value(c, cValue) {
			return has[r.value(c, cState)]
		}
	}
	return false
}

// piece is the values of rows [from, to) of integer stream st, which has one for
// each row, in the batch or else in the i-th of the rooms for them.
func (e *segmentEncoder) piece(b *Batch, st int64, from, to, i int) []int64 {
	l, r := e.l, &e.l.rows
	m := &b.meta
	var thin []int32
	switch s := int(st); {
	case s == r.base+rWriteTime && len(m.WriteTimes) > 0:
		return m.WriteTimes[from:to]
	case s == r.base+rExpiry && len(m.Expiries) > 0:
		return m.Expiries[from:to]
	case s == r.base+rTTL && len(m.TTLs) > 0:
		thin = m.TTLs[from:to]
	case l.streams[s].column >= 0:
		v := &b.vecs[l.streams[s].column]
		if v.class == ClassInt64 {
			return v.i64[from:to]
		}
		thin = v.i32[from:to]
	}
	room := resize(e.pieces[i], to-from)
	e.pieces[i] = room
	if thin == nil {
		clear(room)
	} else {
		simd.Widen32(room, thin)
	}
	return room
}
