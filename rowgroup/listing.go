package rowgroup

import (
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/alp"
)

// listing is what a template says of all blocks, as a decoder looks it up.
type listing struct {
	of       *Template
	listed   []listedStream // as the template's streams
	where    []int32        // by stream: where it is listed, or 0
	dyns     []storedSlot   // by dyn
	bits     int            // packed ones that a block stores for each group
	bodied   []int32        // where streams are listed that may have bodies, or need not have the usual counts
	texts    []int32        // where streams of byte strings are listed
	plain    bool           // see isPlain
	statical bool           // it lists a stream of static rows, or the schema has static columns
	pass     *whole         // if planned, and there is one
	planned  bool
}

// listedStream is what a template says of a stream that it lists.
type listedStream struct {
	values     slotValues                   // the slots that it knows, and others of some group
	from, to   int32                        // the others, among the stored ones
	level      bool                         // a block stores one value for all groups of each of these
	steady     bool                         // there are none
	all        bool                         // every group has as many values as is usual
	byRow      bool                         // and that is one for each unfiltered
	counted    bool                         // the block stores the counts
	alike      bool                         // bodies of as many values have the same length
	framed     bool                         // else they are ALP's of a mode that is Framed, which the template knows
	frame      [len(alp.LengthParams)]param // on which their lengths depend
	lenOf, len int                          // a count, and their length then
	constant   bool                         // they are integers and the same everywhere
	zero       bool                         // and these are 0
}

// sizingSlots are the slots that the length of a body depends on, beside the
// count, by encoding: bit i for slot i.
func sizingSlots(id int64) uint16 {
	params := uint16(1<<encoding.NumParams - 1)
	switch id {
	case int64(encoding.Raw), int64(encoding.Constant), int64(encoding.ByteStreamSplit):
		params = 0
	case int64(encoding.DeltaOfDelta):
		params = 1<<0 | 1<<3 | 1<<4 | 1<<5 | 1<<7
	case int64(encoding.Function):
		params = 1<<3 | 1<<4 | 1<<5
	}
	return params << slotParam
}

// storedSlot is a slot that a block stores.
type storedSlot struct {
	shape
	slot   uint8
	before int32 // packed bits for each group before its own
}

func (s *storedSlot) step() bool { return s.kind == shapeStep || s.kind == shapeSteps }

// param is a slot of a stream: one of those that the block stores, or negative.
type param struct{ stored, slot int32 }

// set makes d the listing of t, a template of layout l.
func (d *listing) set(l *layout, t *Template) {
	if d.of != nil {
		for i := range d.of.streams[1:] {
			d.where[d.of.streams[1+i].stream] = 0
		}
	}
	d.of, d.listed = t, sized(d.listed, len(t.streams))
	d.texts, d.dyns, d.bodied, d.bits = d.texts[:0], d.dyns[:0], d.bodied[:0], 0
	for k := range t.streams {
		x := &d.listed[k]
		*x = listedStream{from: int32(len(d.dyns))}
		x.all = k > 0
		stored := uint16(0)
		for i := range t.slotsOf(k) {
			s := &t.slotsOf(k)[i]
			if s.dyn >= 0 {
				d.dyns = append(d.dyns, storedSlot{s.shape, s.slot, int32(d.bits)})
				d.bits += int(s.w)
				stored |= 1 << s.slot
			} else {
				x.values[s.slot] = s.v
			}
			if s.slot == slotCount {
				x.all = false // it would not be listed if it were countAll
			}
		}
		x.counted = stored&(1<<slotCount) != 0
		x.to = int32(len(d.dyns))
		const shape = 1<<slotID | 1<<slotZstd
		x.alike = stored&(shape|sizingSlots(x.values[slotID])) == 0
		x.steady, x.level = x.from == x.to, true
		steps := false // from group to group in one of its slots
		for i := x.from; i < x.to; i++ {
			x.level = x.level && d.dyns[i].kind == shapeBlock
			steps = steps || d.dyns[i].step()
		}
		if k == 0 {
			continue
		}
		st := t.streams[k].stream
		d.where[st] = int32(k)
		s := &l.streams[st]
		if s.class == ClassBytes {
			d.texts = append(d.texts, int32(k))
		}
		x.byRow = x.all && s.ref == refRows
		x.framed = x.all && !x.alike && !steps && stored&(shape|1<<slotParam) == 0 && x.values[slotZstd] == 0 &&
			x.values[slotID] == int64(encoding.ALP) && alp.Framed(x.values[slotParam]) &&
			(s.class == ClassFloat32 || s.class == ClassFloat64)
		for i := range x.frame {
			p := slotParam + alp.LengthParams[i]
			x.frame[i] = param{-1, int32(p)}
			for dyn := x.from; dyn < x.to; dyn++ {
				if int(d.dyns[dyn].slot) == p {
					x.frame[i].stored = dyn
				}
			}
		}
		v := x.values[slotParam]
		x.constant = x.all && x.steady && s.class <= ClassInt64 && x.values == slotValues{slotID: int64(encoding.Constant), slotParam: v} &&
			(encoding.Ramp{First: v}).Within(1, s.least(), s.most())
		x.zero = x.constant && v == 0
		if !x.constant {
			d.bodied = append(d.bodied, int32(k))
		}
	}
	d.plain = d.isPlain(l)
	d.pass, d.planned = nil, false
	d.statical = l.static.from < l.static.to
	for st := l.static.base; st < l.static.end; st++ {
		d.statical = d.statical || d.where[st] != 0
	}
}

// isPlain reports whether the template says of all groups that they are of rows
// alone, of one liveness and without deletions, whose cells are as their rows.
func (d *listing) isPlain(l *layout) bool {
	zero := func(st int) bool { return d.listed[d.where[st]].zero }
	all := func(st int) bool { return d.listed[d.where[st]].all }
	none := func(from, to int) bool {
		for st := from; st < to; st++ {
			if d.where[st] != 0 {
				return false
			}
		}
		return true
	}
	if !zero(l.kinds) || !none(l.markers, l.markers+numMarkerStreams) {
		return false
	}
	for st := l.clustering; st < l.rows.base; st += 2 {
		if !zero(st) || !all(st+1) {
			return false
		}
	}
	live := &d.listed[d.where[l.rows.base+rLiveness]]
	if x := live.values[slotParam]; !live.constant || x < 0 || x > int64(LivenessExpired) || x == int64(LivenessNone) {
		return false
	}
	for i, n := range Liveness(live.values[slotParam]).counts(1) {
		if st := l.rows.base + rWriteTime + i; n == 1 && !all(st) || n == 0 && !none(st, st+1) {
			return false
		}
	}
	if !zero(l.rows.base+rDelState) || !none(l.rows.base+rDelTime, l.rows.base+rDelLocal+1) {
		return false
	}
	for c := l.rows.from; c < l.rows.to; c++ {
		st := l.rows.value(c, 0)
		if l.streams[st].ref == refCells {
			if !zero(st+cCells) || !none(st+cDeleted, st+numColumnStreams) {
				return false
			}
			continue
		}
		if !zero(st+cState) || !all(st+cValue) || !none(st+cState+1, st+cValue) || !none(st+cValue+1, st+numColumnStreams) {
			return false
		}
	}
	return true
}
