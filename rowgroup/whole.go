package rowgroup

import (
	"math"
	"math/bits"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/deltadelta"
	"github.com/colsst/colsst/encoding/function"
	"github.com/colsst/colsst/simd"
)

// whole is what a template says of blocks that are decoded in one pass, without
// being opened: its streams in their order, of which only what the block stores
// is left to put in. There is one for templates that are plain, of groups of as
// many rows each, whose integers are ramps in which one parameter may vary, and
// whose floats are ALP's of one mode.
type whole struct {
	heads   []int32 // where streams of partitions are listed
	streams []wholeStream
	ramps   []encoding.Ramp // by stream: of the block, as encoding.Ramp says
}

// wholeStream is one stream of a whole.
type wholeStream struct {
	k      int32 // where it is listed
	class  Class
	given  bool  // a batch has its values:
	column int32 // those of this column, or what -1 - column says of rows
	key    bool  // a clustering column
	ramp   wholeRamp
}

// wholeRamp is what a template says of a stream of integers.
type wholeRamp struct {
	encoding.Ramp // were the parameter that varies 0, and what it is a function of
	varies        shapeKind
	dyn           int32   // that parameter, of the stored ones, or -1
	slope         int64   // how far one more of it shifts the ramp
	lo, hi        int64   // what it may be
	anew          bool    // positions count from the group, not from the block
	zero          bool    // it is 0 if its First is
	least, most   int64   // values
	of            [2]int8 // streams of which it is a function, or -1
	function      bool
}

// newWhole is the whole of d, or nil.
func newWhole(l *layout, d *listing) *whole {
	if !d.plain || d.statical || len(l.paths) > 0 || len(d.of.streams) > math.MaxInt8 {
		return nil
	}
	w := &whole{streams: make([]wholeStream, 0, len(d.listed)), ramps: make([]encoding.Ramp, len(d.listed))}
	for k := 1; k < len(d.listed); k++ {
		st := int(d.of.streams[k].stream)
		x, s := &d.listed[k], &l.streams[st]
		if st < numPartitionStreams {
			w.heads = append(w.heads, int32(k))
			continue
		}
		if !x.byRow || x.values[slotZstd] != 0 || x.from < x.to && d.dyns[x.from].slot < slotParam {
			return nil
		}
		y := wholeStream{k: int32(k), class: s.class}
		switch i := st - l.rows.base; {
		case s.user:
			y.given, y.column, y.key = true, int32(s.column), i < 0
		case i == rWriteTime || i == rTTL || i == rExpiry:
			y.given, y.column = true, int32(-1-i)
		}
		switch s.class {
		case ClassFloat32, ClassFloat64:
			if x.values[slotID] != int64(encoding.ALP) {
				return nil
			}
		case ClassInt32, ClassInt64:
			if !y.ramp.set(l, d, k) {
				return nil
			}
		default:
			return nil
		}
		if x.constant {
			w.ramps[k] = y.ramp.Ramp
		}
		if !x.constant || y.given {
			w.streams = append(w.streams, y)
		}
	}
	if !d.listed[0].level && len(w.heads) == 0 {
		return nil
	}
	return w
}

// set makes r that of listed stream k, if there is one.
func (r *wholeRamp) set(l *layout, d *listing, k int) bool {
	x, s := &d.listed[k], &l.streams[d.of.streams[k].stream]
	v := x.values
	size := uint(64)
	if s.class == ClassInt32 {
		size = 32
	}
	*r = wholeRamp{dyn: -1, lo: math.MinInt64, hi: math.MaxInt64, anew: v[slotID] == int64(encoding.DeltaOfDelta),
		zero: v[slotID] == int64(encoding.Constant), least: s.least(), most: s.most(), of: [2]int8{-1, -1}}
	of := func() (y encoding.Ramp, ok bool) {
		switch p := v.params(); encoding.ID(v[slotID]) {
		case encoding.Constant:
			return encoding.Ramp{First: p[0]}, *p == encoding.Params{p[0]}
		case encoding.DeltaOfDelta:
			return deltadelta.RampOf(p, size)
		case encoding.Function:
			y, ok = function.RampOf(p, 1, encoding.Ramp{}, encoding.Ramp{})
			return y, ok && s.class == ClassInt64
		}
		return y, false
	}
	if x.to-x.from > 1 {
		return false
	}
	slot := 0
	if x.from < x.to {
		if slot = int(d.dyns[x.from].slot); !shifts(v[slotID], uint8(slot)) {
			return false
		}
		v[slot] = 0
	}
	var ok bool
	if r.Ramp, ok = of(); !ok {
		return false
	}
	if slot > 0 {
		r.dyn, r.varies = x.from, d.dyns[x.from].kind
		wide := size
		if v[slotID] == int64(encoding.Constant) {
			wide = 64
		} else if w := uint(bits.Len64(r.Spread)); slot == slotParam+2 && w > 7 { // a base, without its low bits
			wide -= w - 7
		}
		r.lo, r.hi = int64(math.MinInt64)>>(64-wide), int64(math.MaxInt64)>>(64-wide)
		for _, p := range []int64{r.lo, r.hi, 1} {
			v[slot] = p
			y, ok := of()
			if !ok || y.Step != r.Step || y.Spread != r.Spread {
				return false
			}
			r.slope = y.First - r.First
		}
		v[slot] = 0
	}
	if encoding.ID(v[slotID]) != encoding.Function {
		return true
	}
	plan, err := function.PlanOf(v.params())
	if err != nil {
		return false
	}
	r.function = true
	for i, st := range []int64{plan.X, plan.Y} {
		if i == 1 && st == function.None {
			continue
		}
		if st < numPartitionStreams || st >= int64(d.of.streams[k].stream) || d.where[st] == 0 || l.streams[st].class > ClassInt64 {
			return false
		}
		r.of[i] = int8(d.where[st])
	}
	return true
}

// beginWhole begins what decodeWhole does: it reads what the block stores of
// parameters, and the partitions, and returns where the bodies of the other streams
// begin.
func (d *blockDecoder) beginWhole(dst *Batch, key []byte, t *Template, groups, rows, parts int, body []byte, o *ScanOptions) (w *whole, off int, ok bool) {
	d.t = nil
	if groups < 1 || groups > MaxBlockGroups || rows < 1 || rows%groups != 0 || len(body) > math.MaxInt32 {
		return nil, 0, false
	}
	d.list(t)
	if !d.planned {
		d.pass, d.planned = newWhole(d.l, d.listing), true
	}
	if w = d.pass; w == nil {
		return nil, 0, false
	}
	d.groups, d.body, d.first, d.end = groups, body, 0, 0
	off, err := d.openParams(body)
	n := rows / groups
	if err != nil || n%8 != 0 {
		return nil, 0, false
	}
	if len(w.heads) > 0 && (parts > 0 || !d.headlessAll(w, n)) {
		off, ok = d.wholeHeads(dst, key, w, rows, parts, off, o)
		return w, off, ok
	}
	_, err = d.limits.room(n, 0)
	if v := d.slots(0, 0); err != nil || parts != 0 || v[groupRows] != int64(n) || v[groupParts] != 0 {
		return nil, 0, false
	}
	dst.BeginPartition(key).Continued = true
	return w, off, true
}

// finishWhole ends what decodeWhole does, of n rows.
func (d *blockDecoder) finishWhole(dst *Batch, n int, o *ScanOptions) {
	if !o.WithoutMetadata {
		live := liveness{all: Liveness(d.listed[d.where[d.l.rows.base+rLiveness]].values[slotParam])}
		if live.all != LivenessLive {
			d.setLiveness(&dst.meta, &span{to: d.groups, n: n}, &live)
		}
	}
	if dst.Len() != n {
		dst.n = n
	}
}

// decodeWhole is open, and decode of all groups, into dst, which is empty; key is
// of the partition that goes on in the block unless one begins with it. It leaves
// no block open, and reports whether it could: where it could not, open and decode
// can, or say what is wrong, and dst holds anything.
func (d *blockDecoder) decodeWhole(dst *Batch, key []byte, t *Template, groups, rows, parts int, body []byte, o *ScanOptions) bool {
	w, off, ok := d.beginWhole(dst, key, t, groups, rows, parts, body, o)
	if !ok {
		return false
	}
	n := rows / groups
	want := wanted{all: o.Columns == nil, list: o.Columns}
	for i := range w.streams {
		s := &w.streams[i]
		out := s.given && (s.column < 0 && !o.WithoutMetadata || s.column >= 0 && (s.key || want.has(int(s.column))))
		var size int
		switch s.class {
		case ClassFloat32:
			var to []float32
			if out {
				to = sized(dst.vecs[s.column].f32, rows)
				dst.vecs[s.column].f32 = to
			}
			size, ok = d.alp.Consecutive32(to, body[off:], n, groups, d.wholeParams(s))
		case ClassFloat64:
			var to []float64
			if out {
				to = sized(dst.vecs[s.column].f64, rows)
				dst.vecs[s.column].f64 = to
			}
			size, ok = d.alp.Consecutive64(to, body[off:], n, groups, d.wholeParams(s))
		default:
			size, ok = d.wholeInts(dst, w, i, n, off, out)
		}
		if !ok {
			return false
		}
		off += size
	}
	if off != len(body) {
		return false
	}
	d.finishWhole(dst, rows, o)
	return true
}

// headlessAll reports whether no group has a partition that begins or values of
// any, or another number of rows than n.
func (d *blockDecoder) headlessAll(w *whole, n int) bool {
	for i := d.listed[0].from; i < d.listed[0].to; i++ {
		want := int64(n)
		if d.dyns[i].slot == groupParts {
			want = 0
		}
		for _, x := range d.column(i) {
			if x != want {
				return false
			}
		}
	}
	for _, k := range w.heads {
		l := &d.listed[k]
		if l.from < l.to && d.dyns[l.from].slot == slotCount {
			for _, c := range d.column(l.from) {
				if c != countAll && c != countNone {
					return false
				}
			}
		} else if c := l.values[slotCount]; c != countAll && c != countNone {
			return false
		}
	}
	return true
}

// wholeHeads decodes the partitions that begin in the block, with streams from
// off on, and returns where those end.
func (d *blockDecoder) wholeHeads(dst *Batch, key []byte, w *whole, rows, parts, off int, o *ScanOptions) (end int, ok bool) {
	d.forget()
	d.heads.group = -1
	if d.openGroups(rows, parts) != nil {
		return 0, false
	}
	for _, n := range d.rows {
		if n != rows/d.groups {
			return 0, false
		}
	}
	for _, k := range w.heads {
		if d.listed[k].constant {
			continue
		}
		var err error
		if off, err = d.openStream(int(d.of.streams[k].stream), int(k), off); err != nil {
			return 0, false
		}
	}
	if d.parts[0] == 0 {
		dst.BeginPartition(key).Continued = true
	}
	d.begin(0, d.groups)
	return off, d.decodeHeads(dst, &span{to: d.groups, n: rows}, o) == nil
}

// wholeParams are the parameters of a stream of floats.
func (d *blockDecoder) wholeParams(s *wholeStream) *encoding.ParamColumns {
	l := &d.listed[s.k]
	v := &l.values
	for i := range d.params {
		d.params[i] = v[slotParam+i:][:1]
	}
	for i := l.from; i < l.to; i++ {
		at := d.dyns[i].slot
		if d.dyns[i].kind == shapeBlock {
			v[at] = d.seeds[i].first
		} else {
			d.params[at-slotParam] = d.column(i)
		}
	}
	return &d.params
}

// wholeRun sets x to the values of stream i, of n rows a group and its bodies at
// off, and returns how many bytes these take.
func (d *blockDecoder) wholeRun(x *progressions, w *whole, i, n, off int) (size int, ok bool) {
	s := &w.streams[i]
	t := &s.ramp
	var p int64        // what the parameter is in the first group, or at least
	var varied []int64 // what it is in each, if that is no progression
	step := int64(0)   // of it from group to group
	switch t.varies {
	case shapeZero:
	case shapeBlock:
		p = d.seeds[t.dyn].first
		ok = t.lo <= p && p <= t.hi
	case shapePacked:
		varied = d.column(t.dyn)
		least, greatest := varied[0], varied[0]
		for _, x := range varied {
			least, greatest = min(least, x), max(greatest, x)
		}
		if least == greatest {
			varied = nil
		}
		p, ok = least, t.lo <= least && greatest <= t.hi
	default:
		y := d.seeds[t.dyn]
		last := y.first + int64(d.groups-1)*y.step
		p, step, ok = y.first, y.step, y.moderate() && t.lo <= min(p, last) && max(p, last) <= t.hi
	}
	if !ok && t.varies != shapeZero {
		return 0, false
	}
	rows, r := n*d.groups, t.Ramp
	if t.function {
		v := &d.listed[s.k].values
		if t.varies != shapeZero {
			v[d.dyns[t.dyn].slot] = p
		}
		var y encoding.Ramp
		if t.of[1] >= 0 {
			y = w.ramps[t.of[1]]
		}
		if r, ok = function.RampOf(v.params(), rows, w.ramps[t.of[0]], y); !ok {
			return 0, false
		}
	} else if r.First += t.slope * p; s.class == ClassInt32 && t.anew {
		r.First = int64(int32(r.First))
	}
	each := int64(n) * r.Step // from group to group
	gone := int64(0)          // of that, where positions count from the group
	if t.anew {
		gone = each
	}
	all := r
	if varied != nil {
		lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
		for g, y := range varied {
			above := t.slope*(y-p) - int64(g)*gone
			varied[g] = above
			lo, hi = min(lo, above), max(hi, above)
		}
		all.First, all.Spread = all.First+lo, all.Spread+uint64(hi)-uint64(lo)
	} else if d.groups > 1 && t.slope*step != gone {
		return 0, false
	}
	if all.Spread < r.Spread || !all.Within(rows, t.least, t.most) {
		return 0, false
	}
	w.ramps[s.k] = all
	if size = r.Len(n) * d.groups; size > len(d.body)-off {
		return 0, false
	}
	*x = progressions{r, each, varied, d.body[off:], n}
	return size, true
}

// wholeInts is wholeRun, and puts the values out if they are asked for.
func (d *blockDecoder) wholeInts(dst *Batch, w *whole, i, n, off int, out bool) (size int, ok bool) {
	s := &w.streams[i]
	var x progressions
	size, ok = d.wholeRun(&x, w, i, n, off)
	if !ok || !out {
		return size, ok
	}
	rows := n * d.groups
	if s.column >= 0 {
		if v := &dst.vecs[s.column]; s.class == ClassInt32 {
			v.i32 = sized(v.i32, rows)
			x.narrow(v.i32)
		} else {
			v.i64 = sized(v.i64, rows)
			x.wide(v.i64)
		}
		return size, true
	}
	if s.ramp.zero && w.ramps[s.k] == (encoding.Ramp{}) { // times that are all 0 are left out
		return size, true
	}
	switch m := &dst.meta; -1 - s.column {
	case rWriteTime:
		m.WriteTimes = sized(m.WriteTimes, rows)
		x.wide(m.WriteTimes)
	case rExpiry:
		m.Expiries = sized(m.Expiries, rows)
		x.wide(m.Expiries)
	case rTTL:
		m.TTLs = sized(m.TTLs, rows)
		if x.Spread == 0 {
			x.narrow(m.TTLs)
			break
		}
		d.tmp.wide = sized(d.tmp.wide, rows)
		x.wide(d.tmp.wide)
		for i, ttl := range d.tmp.wide {
			m.TTLs[i] = int32(ttl)
		}
	}
	return size, true
}

// progressions are ramps of as many values each, one behind the other.
type progressions struct {
	encoding.Ramp         // the first
	each          int64   // from one to the next
	varied        []int64 // beside that, or nil
	codes         []byte
	n             int
}

// wide sets dst to their values.
func (x *progressions) wide(dst []int64) {
	n, w := x.n, uint(bits.Len64(x.Spread))
	if x.varied == nil {
		n = len(dst)
	}
	for g, first, codes := 0, x.First, x.codes; len(dst) > 0; g++ {
		at := first
		if x.varied != nil {
			at += x.varied[g]
		}
		if w == 0 {
			simd.Fill64(dst[:n:len(dst)], at, x.Step)
		} else {
			c := simd.Packed64(codes, w)
			simd.Ramp64(dst[:n:len(dst)], &c, at, x.Step)
			codes = codes[n/8*int(w):]
		}
		dst, first = dst[n:], first+x.each
	}
}

// narrow is wide for values that fit, or of which the low bits are wanted and
// the codes have none.
func (x *progressions) narrow(dst []int32) {
	n, w := x.n, uint(bits.Len64(x.Spread))
	if x.varied == nil {
		n = len(dst)
	}
	for g, first, codes := 0, x.First, x.codes; len(dst) > 0; g++ {
		at := first
		if x.varied != nil {
			at += x.varied[g]
		}
		if w == 0 {
			simd.Fill32(dst[:n:len(dst)], int32(at), int32(x.Step))
		} else {
			c := simd.Packed32(codes, w)
			simd.Ramp32(dst[:n:len(dst)], &c, int32(at), int32(x.Step))
			codes = codes[n/8*int(w):]
		}
		dst, first = dst[n:], first+x.each
	}
}
