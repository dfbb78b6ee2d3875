package rowgroup

import (
	"slices"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bytestrings"
	"github.com/colsst/colsst/encoding/constant"
	"github.com/colsst/colsst/simd"
)

// values are the n values of one stream in one row group, in the slice of the
// stream's class, which may alias a batch. Integers that are all the same need
// no slice.
type values struct {
	n    int
	same bool // n times all; i64 is not set
	all  int64
	i32  []int32
	i64  []int64
	thin []int32 // of an int64 stream whose i64 is not set, or nil
	f32  []float32
	f64  []float64
	str  *bytestrings.Strings

	own struct { // memory for values that had to be picked out
		i32 []int32
		i64 []int64
		f32 []float32
		f64 []float64
		str bytestrings.Strings
	}
	view   bytestrings.Strings // of a batch
	ends   []uint32            // of view
	wide   []int64             // i32, where isWide
	isWide bool
}

// reset empties v.
func (v *values) reset() { v.n, v.same, v.thin, v.isWide = 0, false, nil, false }

// release lets go of what v aliased.
func (v *values) release() {
	v.reset()
	v.i32, v.i64, v.f32, v.f64, v.str, v.view.Data = nil, nil, nil, nil, nil, nil
}

// ints are the values of an int64 stream.
func (v *values) ints() []int64 {
	if v.same {
		v.own.i64 = slices.Grow(v.own.i64[:0], v.n)[:v.n]
		simd.Fill64(v.own.i64, v.all, 0)
		v.i64, v.same = v.own.i64, false
	}
	if v.thin != nil {
		v.own.i64 = resize(v.own.i64, v.n)
		simd.Widen32(v.own.i64, v.thin)
		v.i64, v.thin = v.own.i64, nil
	}
	return v.i64
}

// widened are the values of an int32 stream.
func (v *values) widened() []int64 {
	if !v.isWide {
		v.wide, v.isWide = resize(v.wide, v.n), true
		simd.Widen32(v.wide, v.i32[:v.n])
	}
	return v.wide
}

// widen sets dst to src, which is as long.
func widen[T int32 | int64 | Liveness](dst []int64, src []T) {
	src = src[:len(dst)]
	switch src := any(src).(type) {
	case []int32:
		simd.Widen32(dst, src)
		return
	case []int64:
		copy(dst, src)
		return
	}
	for i := range dst {
		dst[i] = int64(src[i])
	}
}

// constant reports whether the values, of class c, are all the same, and if so
// sets all of *p. Byte strings are not compared.
func (v *values) constant(c Class, p *encoding.Params) bool {
	switch {
	case v.same:
		*p = encoding.Params{v.all}
		return true
	case c == ClassInt32:
		return constant.Int32(v.i32, p)
	case c == ClassInt64:
		return constant.Int64(v.ints(), p)
	case c == ClassFloat32:
		return constant.Float32(v.f32, p)
	case c == ClassFloat64:
		return constant.Float64(v.f64, p)
	}
	return false
}

// gatherer splits one row group of a batch into its streams.
type gatherer struct {
	l       *layout
	schema  *Schema
	steady  *steady // of the segment: streams that need no look at the batch
	streams []values
	sel     []int32 // unfiltereds that are rows, where some are not
	statics []int32 // partitions with a full static row
	pick    []int32
	live    []Liveness // by cell of a multi-cell column: that of its row
}

func newGatherer(s *Schema, l *layout, st *steady) *gatherer {
	return &gatherer{l: l, schema: s, steady: st, streams: make([]values, len(l.streams))}
}

// release lets go of the batch.
func (g *gatherer) release() {
	for i := range g.streams {
		g.streams[i].release()
	}
}

// repeat makes x the n values of int64 stream s.
func (g *gatherer) repeat(s, n int, x int64) {
	v := &g.streams[s]
	v.n, v.same, v.all = n, true, x
}

// room is the memory of int64 stream s for n values.
func (g *gatherer) room(s, n int) []int64 {
	v := &g.streams[s]
	v.own.i64 = slices.Grow(v.own.i64[:0], n)[:n]
	v.n, v.i64 = n, v.own.i64
	return v.i64
}

func (g *gatherer) appendInt(s int, x int64) {
	v := &g.streams[s]
	v.own.i64 = append(v.own.i64[:v.n], x)
	v.n, v.i64 = v.n+1, v.own.i64
}

// gather fills g.streams with group sp of b, which passed Check.
func (g *gatherer) gather(b *Batch, sp Span) {
	for i := range g.streams {
		g.streams[i].reset()
	}
	g.partitions(b, sp)
	n := sp.ToRow - sp.FromRow
	for i := range g.steady.ones {
		g.repeat(int(g.steady.streams[i].stream), n, g.steady.one(i))
	}
	var markers []Marker
	if !g.steady.has[g.l.kinds] {
		markers = between(b.markers, sp.FromRow, sp.ToRow, markerRow)
	}
	g.clustering(b, sp, markers)
	if len(markers) == 0 {
		g.repeat(g.l.kinds, n, 0)
		g.rows(&g.l.rows, b, &b.meta, sp.FromRow, n, nil)
		return
	}
	kinds := g.room(g.l.kinds, n)
	clear(kinds)
	for _, m := range markers {
		kinds[m.Row-sp.FromRow] = 1 + int64(m.Kind)
		g.appendInt(g.l.markers+mPrefix, int64(m.Prefix))
		if m.Kind.Closes() {
			g.appendInt(g.l.markers+mCloseTime, m.Close.MarkedForDeleteAt)
			g.appendInt(g.l.markers+mCloseLocal, m.Close.LocalDeletionTime)
		}
		if m.Kind.Opens() {
			g.appendInt(g.l.markers+mOpenTime, m.Open.MarkedForDeleteAt)
			g.appendInt(g.l.markers+mOpenLocal, m.Open.LocalDeletionTime)
		}
	}
	sel := g.sel[:0]
	for i, k := range kinds {
		if k == 0 {
			sel = append(sel, int32(sp.FromRow+i))
		}
	}
	g.sel = sel
	g.rows(&g.l.rows, b, &b.meta, sp.FromRow, len(sel), sel)
}

func (g *gatherer) partitions(b *Batch, sp Span) {
	np := sp.ToPart - sp.FromPart
	g.statics = g.statics[:0]
	if np == 0 {
		return
	}
	g.aliasStrings(sKey, &b.keys, sp.FromPart, sp.ToPart)
	states := g.room(sPartState, np)
	for i := range np {
		h := &b.parts[sp.FromPart+i]
		states[i] = int64(h.Static) << 1
		if !h.Deletion.Live() {
			states[i] |= 1
			g.appendInt(sPartDelTime, h.Deletion.MarkedForDeleteAt)
			g.appendInt(sPartDelLocal, h.Deletion.LocalDeletionTime)
		}
		if h.Static == StaticFull {
			g.statics = append(g.statics, int32(sp.FromPart+i))
		}
	}
	if np > 1 {
		rows := g.room(sPartRows, np)
		for i := range np {
			end := sp.ToRow
			if i+1 < np {
				end = b.parts[sp.FromPart+i+1].Start
			}
			rows[i] = int64(end - b.parts[sp.FromPart+i].Start)
		}
	}
	if len(g.statics) > 0 {
		g.rows(&g.l.static, b, &b.static, 0, len(g.statics), g.statics)
	}
}

func (g *gatherer) clustering(b *Batch, sp Span, markers []Marker) {
	from, to := g.schema.Range(Clustering)
	n := sp.ToRow - sp.FromRow
	for c := from; c < to; c++ {
		s := g.l.clustering + 2*(c-from)
		v := &b.vecs[c]
		if g.steady.has[s] {
			g.alias(s+1, v, sp.FromRow, sp.ToRow)
			continue
		}
		var cells []Cell
		if len(v.Cells) > 0 {
			cells = v.Cells[sp.FromRow:sp.ToRow]
		}
		if len(markers) == 0 && union(cells) == CellAsRow {
			g.repeat(s, n, int64(CellAsRow))
			g.alias(s+1, v, sp.FromRow, sp.ToRow)
			continue
		}
		states := g.room(s, n)
		clear(states)
		for i, st := range cells {
			states[i] = int64(st)
		}
		for _, m := range markers {
			if m.Prefix <= c-from {
				states[m.Row-sp.FromRow] = int64(CellAbsent)
			}
		}
		g.pick = g.pick[:0]
		for i, st := range states {
			if st == int64(CellAsRow) {
				g.pick = append(g.pick, int32(sp.FromRow+i))
			}
		}
		if len(g.pick) == n {
			g.alias(s+1, v, sp.FromRow, sp.ToRow)
		} else {
			g.take(s+1, v, g.pick)
		}
	}
}

// union is all bits that some cell has.
func union(cells []Cell) (all Cell) {
	for ; len(cells) >= 8; cells = cells[8:] {
		all |= cells[0] | cells[1] | cells[2] | cells[3] | cells[4] | cells[5] | cells[6] | cells[7]
	}
	for _, c := range cells {
		all |= c
	}
	return all
}

// uniform reports whether all elements, at least one, are the first.
func uniform(l []Liveness) bool {
	const run = 32 // compared at once with those one place before
	for len(l) > run {
		if *(*[run]Liveness)(l) != *(*[run]Liveness)(l[1:]) {
			return false
		}
		l = l[max(1, min(run, len(l)-run-1)):]
	}
	for _, x := range l {
		if x != l[0] {
			return false
		}
	}
	return true
}

// alias makes values [from, to) of v those of stream s.
func (g *gatherer) alias(s int, v *vector, from, to int) {
	d := &g.streams[s]
	d.n = to - from
	switch v.class {
	case ClassInt32:
		d.i32 = v.i32[from:to]
	case ClassInt64:
		d.i64 = v.i64[from:to]
	case ClassFloat32:
		d.f32 = v.f32[from:to]
	case ClassFloat64:
		d.f64 = v.f64[from:to]
	case ClassBytes:
		g.aliasStrings(s, &v.str, from, to)
	}
}

// aliasStrings makes strings [from, to) of src those of stream s.
func (g *gatherer) aliasStrings(s int, src *bytestrings.Strings, from, to int) {
	d := &g.streams[s]
	d.view = src.View(from, to, &d.ends)
	d.n, d.str = to-from, &d.view
}

// add appends to the picked-out strings, which stay below those of the batch.
func (v *values) add(x []byte) {
	if v.n == 0 {
		v.own.str.Reset()
		v.str = &v.own.str
	}
	if err := v.own.str.Append(x); err != nil {
		panic(err)
	}
	v.n++
}

// take makes the values of v at rows those of stream s.
func (g *gatherer) take(s int, v *vector, rows []int32) {
	d := &g.streams[s]
	switch v.class {
	case ClassInt32:
		d.own.i32 = pick(d.own.i32, v.i32, rows)
		d.i32 = d.own.i32
	case ClassInt64:
		d.own.i64 = pick(d.own.i64, v.i64, rows)
		d.i64 = d.own.i64
	case ClassFloat32:
		d.own.f32 = pick(d.own.f32, v.f32, rows)
		d.f32 = d.own.f32
	case ClassFloat64:
		d.own.f64 = pick(d.own.f64, v.f64, rows)
		d.f64 = d.own.f64
	case ClassBytes:
		for _, r := range rows {
			d.add(v.str.At(int(r)))
		}
	}
	d.n = len(rows)
}

func pick[T any](dst, src []T, rows []int32) []T {
	dst = slices.Grow(dst[:0], len(rows))[:len(rows)]
	for i, r := range rows {
		dst[i] = src[r]
	}
	return dst
}

// at is element i of an aligned slice; an empty one stands for zeros.
func at[T any](s []T, i int) (x T) {
	if len(s) > 0 {
		return s[i]
	}
	return x
}

// rowsOf are n rows, or static rows, of a batch: from base on, or those of
// sel.
type rowsOf struct {
	base, n int
	sel     []int32
}

// at is row i of them.
func (r *rowsOf) at(i int) int {
	if r.sel != nil {
		return int(r.sel[i])
	}
	return r.base + i
}

// bounds are the first row and the one after the last, of at least one.
func (r *rowsOf) bounds() (from, to int) { return r.at(0), r.at(r.n-1) + 1 }

// aligned makes the values of src at the rows those of int64 stream s.
func aligned[T int32 | int64 | Liveness](g *gatherer, s int, src []T, r *rowsOf) {
	if len(src) == 0 {
		g.repeat(s, r.n, 0)
		return
	}
	dst := g.room(s, r.n)
	if r.sel == nil {
		widen(dst, src[r.base:])
		return
	}
	for i, at := range r.sel {
		dst[i] = int64(src[at])
	}
}

// sparse is aligned without the rows, skipped of them, for which has is false.
func sparse[T int32 | int64](g *gatherer, s int, src []T, r *rowsOf, skipped int, has func(int) bool) {
	switch skipped {
	case r.n:
	case 0:
		if v := &g.streams[s]; r.sel == nil && len(src) > 0 {
			switch x := any(src[r.base:][:r.n]).(type) {
			case []int64:
				v.n, v.i64 = r.n, x
			case []int32:
				v.n, v.thin = r.n, x
			}
			return
		}
		aligned(g, s, src, r)
	default:
		for i := range r.n {
			if has(i) {
				g.appendInt(s, int64(at(src, r.at(i))))
			}
		}
	}
}

// liveness gathers the liveness of rows and counts its states.
func (g *gatherer) liveness(s int, src []Liveness, r *rowsOf) (kinds [4]int) {
	if g.steady.has[s] {
		kinds[g.streams[s].all&3] = r.n
		return kinds
	}
	if len(src) == 0 || r.sel == nil && r.n > 0 && uniform(src[r.base:][:r.n]) {
		x := at(src, r.base)
		g.repeat(s, r.n, int64(x))
		kinds[x&3] = r.n
		return kinds
	}
	aligned(g, s, src, r)
	for _, x := range g.streams[s].i64[:r.n] {
		kinds[x&3]++
	}
	return kinds
}

// rows gathers the metadata and columns of n rows (or static rows) of b: rows
// from base on, or those of sel.
func (g *gatherer) rows(l *rowLayout, b *Batch, meta *RowMeta, base, n int, sel []int32) {
	r := rowsOf{base, n, sel}
	kinds := g.liveness(l.base+rLiveness, meta.Liveness, &r)
	live := func(i int) Liveness { return at(meta.Liveness, r.at(i)) }
	sparse(g, l.base+rWriteTime, meta.WriteTimes, &r, kinds[LivenessNone], func(i int) bool { return live(i) != LivenessNone })
	if !g.steady.has[l.base+rTTL] {
		sparse(g, l.base+rTTL, meta.TTLs, &r, n-kinds[LivenessExpiring], func(i int) bool { return live(i) == LivenessExpiring })
	}
	sparse(g, l.base+rExpiry, meta.Expiries, &r, kinds[LivenessLive]+kinds[LivenessNone], func(i int) bool { return live(i) >= LivenessExpiring })
	g.deletions(l, meta, &r)
	if n == 0 {
		return
	}
	for c := l.from; c < l.to; c++ {
		if m := b.vecs[c].multi; m != nil {
			g.multi(l.value(c, 0), m, meta, &r)
		} else {
			g.column(l.value(c, 0), &b.vecs[c], meta, &r)
		}
	}
}

// column gathers the cells of v at some rows: states and what follows them, as
// streams from s on.
func (g *gatherer) column(s int, v *vector, meta *RowMeta, r *rowsOf) {
	n := r.n
	if g.steady.has[s+cState] {
		g.alias(s+cValue, v, r.base, r.base+n)
		return
	}
	var all Cell
	switch {
	case len(v.Cells) > 0:
		from, to := r.bounds()
		all = union(v.Cells[from:to])
	case v.len() == 0:
		all = CellAbsent // a static column that the caller never filled
		g.repeat(s+cState, n, int64(all))
		return
	}
	if all == CellAsRow {
		g.repeat(s+cState, n, int64(all))
		if r.sel == nil {
			g.alias(s+cValue, v, r.base, r.base+n)
		} else {
			g.take(s+cValue, v, r.sel)
		}
		return
	}
	g.pick = g.pick[:0]
	if all == CellAbsent { // or CellAsRow
		g.presence(s, v, r)
	} else {
		g.states(s, v, meta, r)
	}
	if len(g.pick) == n && r.sel == nil {
		g.alias(s+cValue, v, r.base, r.base+n)
	} else if len(g.pick) > 0 {
		g.take(s+cValue, v, g.pick)
	}
}

// presence is states where a cell is either absent or as its row.
func (g *gatherer) presence(s int, v *vector, r *rowsOf) {
	states := g.room(s+cState, r.n)
	pick, n := resize(g.pick, r.n), 0
	for i := range states {
		row := r.at(i)
		c := v.Cells[row]
		states[i] = int64(c)
		pick[n] = int32(row) // the next takes its place if there is no value
		if c == CellAsRow {
			n++
		}
	}
	g.pick = pick[:n]
}

// states gathers the states and metadata of cells and leaves in g.pick the
// rows that have a value.
func (g *gatherer) states(s int, v *vector, meta *RowMeta, r *rowsOf) {
	states := g.room(s+cState, r.n)
	from, to := r.bounds()
	exceptions := between(v.Exceptions, from, to, exceptionRow)
	for i := range states {
		row := r.at(i)
		c := canonical(v.Cells[row], at(meta.Liveness, row))
		states[i] = int64(c)
		if c&CellOwnTime != 0 {
			g.appendInt(s+cWriteTime, v.WriteTimes[row])
		}
		k := c.Kind()
		if c&CellOwnExpiry != 0 && k == CellExpiring {
			g.appendInt(s+cTTL, int64(v.TTLs[row]))
		}
		if c&CellOwnExpiry != 0 || k == CellTombstone {
			g.appendInt(s+cExpiry, v.Expiries[row])
		}
		if c.HasValue() {
			g.pick = append(g.pick, int32(row))
		}
		if c&CellException != 0 {
			for exceptions[0].Row < row {
				exceptions = exceptions[1:]
			}
			g.streams[s+cException].add(exceptions[0].Value)
		}
	}
}

// canonical is the one stored form of a cell that has several.
func canonical(c Cell, l Liveness) Cell {
	switch c.Kind() {
	case CellTombstone:
		return c & (CellOwnTime | cellKinds)
	case CellLive:
		if c&CellOwnTime == 0 && l == LivenessLive {
			return c &^ cellKinds
		}
	case CellExpiring:
		if c&(CellOwnTime|CellOwnExpiry) == 0 && l == LivenessExpiring {
			return c &^ cellKinds
		}
	}
	return c
}

func (g *gatherer) deletions(l *rowLayout, meta *RowMeta, r *rowsOf) {
	if r.n == 0 || g.steady.has[l.base+rDelState] {
		return
	}
	from, to := r.bounds()
	deletions := between(meta.Deletions, from, to, deletionRow)
	if len(deletions) == 0 {
		g.repeat(l.base+rDelState, r.n, 0)
		return
	}
	states := g.room(l.base+rDelState, r.n)
	clear(states)
	for _, d := range deletions {
		i := d.Row - r.base
		if r.sel != nil {
			at, ok := slices.BinarySearch(r.sel, int32(d.Row))
			if !ok {
				continue
			}
			i = at
		}
		states[i] = 1
		if d.Shadowable {
			states[i] = 2
		}
		g.appendInt(l.base+rDelTime, d.MarkedForDeleteAt)
		g.appendInt(l.base+rDelLocal, d.LocalDeletionTime)
	}
}
