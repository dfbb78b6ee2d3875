package rowgroup

import (
	"slices"

	"github.com/colsst/colsst/encoding/bytestrings"
)

// values are the values of one stream in one row group, in the slice of the
// stream's class. They may alias a batch.
type values struct {
	i32 []int32
	i64 []int64
	f32 []float32
	f64 []float64
	str *bytestrings.Strings

	own struct { // memory for values that had to be picked out
		i32 []int32
		i64 []int64
		f32 []float32
		f64 []float64
		str bytestrings.Strings
	}
	view bytestrings.Strings // of a batch
	ends []uint32            // of view
}

func (v *values) len(c Class) int {
	switch c {
	case ClassInt32:
		return len(v.i32)
	case ClassInt64:
		return len(v.i64)
	case ClassFloat32:
		return len(v.f32)
	case ClassFloat64:
		return len(v.f64)
	}
	if v.str == nil {
		return 0
	}
	return v.str.Len()
}

func (v *values) reset() {
	v.i32, v.i64, v.f32, v.f64, v.str = nil, nil, nil, nil, nil
}

// gatherer splits one row group of a batch into its streams.
type gatherer struct {
	l       *layout
	schema  *Schema
	streams []values
	sel     []int32 // unfiltereds that are rows, where some are not
	statics []int32 // partitions with a full static row
	pick    []int32
}

func newGatherer(s *Schema, l *layout) *gatherer {
	return &gatherer{l: l, schema: s, streams: make([]values, len(l.streams))}
}

// ints is the memory of stream s for n int64 values.
func (g *gatherer) ints(s, n int) []int64 {
	v := &g.streams[s]
	v.own.i64 = slices.Grow(v.own.i64[:0], n)[:n]
	v.i64 = v.own.i64
	return v.i64
}

func (g *gatherer) appendInt(s int, x int64) {
	v := &g.streams[s]
	if v.i64 == nil {
		v.own.i64 = v.own.i64[:0]
	}
	v.own.i64 = append(v.own.i64, x)
	v.i64 = v.own.i64
}

// gather fills g.streams with group sp of b, which passed Check.
func (g *gatherer) gather(b *Batch, sp Span) {
	for i := range g.streams {
		g.streams[i].reset()
	}
	g.partitions(b, sp)
	n := sp.ToRow - sp.FromRow
	markers := between(b.markers, sp.FromRow, sp.ToRow, markerRow)
	kinds := g.ints(g.l.kinds, n)
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
	g.clustering(b, sp, markers)
	sel := g.sel[:0]
	if len(markers) > 0 {
		for i, k := range kinds {
			if k == 0 {
				sel = append(sel, int32(sp.FromRow+i))
			}
		}
		g.sel = sel
		g.rows(&g.l.rows, b, &b.meta, sp.FromRow, len(sel), sel)
	} else {
		g.rows(&g.l.rows, b, &b.meta, sp.FromRow, n, nil)
	}
}

func (g *gatherer) partitions(b *Batch, sp Span) {
	np := sp.ToPart - sp.FromPart
	g.statics = g.statics[:0]
	if np == 0 {
		return
	}
	g.aliasStrings(sKey, &b.keys, sp.FromPart, sp.ToPart)
	states := g.ints(sPartState, np)
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
		rows := g.ints(sPartRows, np)
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
		states := g.ints(s, n)
		if len(v.Cells) > 0 {
			for i, st := range v.Cells[sp.FromRow:sp.ToRow] {
				states[i] = int64(st)
			}
		} else {
			clear(states)
		}
		for _, m := range markers {
			if m.Prefix <= c-from {
				states[m.Row-sp.FromRow] = int64(CellAbsent)
			}
		}
		g.pick = g.pick[:0]
		all := true
		for _, st := range states {
			if st != 0 {
				all = false
				break
			}
		}
		if all {
			g.alias(s+1, v, sp.FromRow, sp.ToRow)
			continue
		}
		for i, st := range states {
			if st == 0 {
				g.pick = append(g.pick, int32(sp.FromRow+i))
			}
		}
		g.take(s+1, v, g.pick)
	}
}

// alias makes values [from, to) of v those of stream s.
func (g *gatherer) alias(s int, v *vector, from, to int) {
	d := &g.streams[s]
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
	d.str = &d.view
}

// add appends to the picked-out strings, which stay below those of the batch.
func (v *values) add(x []byte) {
	if err := v.own.str.Append(x); err != nil {
		panic(err)
	}
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
		d.own.str.Reset()
		for _, r := range rows {
			d.add(v.str.At(int(r)))
		}
		d.str = &d.own.str
	}
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

// aligned makes the values of src at n rows those of int64 stream s: rows
// from base on, or those of sel.
func aligned[T int32 | int64 | Liveness](g *gatherer, s int, src []T, base, n int, sel []int32) {
	dst := g.ints(s, n)
	if len(src) == 0 {
		clear(dst)
		return
	}
	if sel == nil {
		for i, x := range src[base : base+n] {
			dst[i] = int64(x)
		}
		return
	}
	for i, r := range sel {
		dst[i] = int64(src[r])
	}
}

// rows gathers the metadata and columns of n rows (or static rows) of b: rows
// from base on, or those of sel.
func (g *gatherer) rows(l *rowLayout, b *Batch, meta *RowMeta, base, n int, sel []int32) {
	aligned(g, l.base+rLiveness, meta.Liveness, base, n, sel)
	live := g.streams[l.base+rLiveness].i64
	kinds := [4]int{}
	for _, x := range live {
		kinds[x&3]++
	}
	row := func(i int) int {
		if sel != nil {
			return int(sel[i])
		}
		return base + i
	}
	g.sparse(l.base+rWriteTime, meta.WriteTimes, base, n, sel, kinds[LivenessNone], func(i int) bool { return Liveness(live[i]) != LivenessNone })
	sparse32(g, l.base+rTTL, meta.TTLs, base, n, sel, n-kinds[LivenessExpiring], func(i int) bool { return Liveness(live[i]) == LivenessExpiring })
	g.sparse(l.base+rExpiry, meta.Expiries, base, n, sel, kinds[LivenessLive]+kinds[LivenessNone], func(i int) bool { return Liveness(live[i]) >= LivenessExpiring })
	g.deletions(l, meta, n, base, sel)

	for c := l.from; c < l.to; c++ {
		v := &b.vecs[c]
		s := l.value(c, 0)
		if len(v.Cells) == 0 && v.len() > 0 {
			clear(g.ints(s+cState, n))
			if sel == nil {
				g.alias(s+cValue, v, base, base+n)
			} else {
				g.take(s+cValue, v, sel)
			}
			continue
		}
		states := g.ints(s+cState, n)
		g.pick = g.pick[:0]
		exceptions := v.Exceptions
		if n > 0 {
			exceptions = between(v.Exceptions, row(0), row(n-1)+1, exceptionRow)
		}
		for i := range n {
			r := row(i)
			c := CellAbsent // a static column that the caller never filled
			if len(v.Cells) > 0 {
				c = canonical(v.Cells[r], Liveness(live[i]))
			}
			states[i] = int64(c)
			if c&CellOwnTime != 0 {
				g.appendInt(s+cWriteTime, v.WriteTimes[r])
			}
			k := c.Kind()
			if c&CellOwnExpiry != 0 && k == CellExpiring {
				g.appendInt(s+cTTL, int64(v.TTLs[r]))
			}
			if c&CellOwnExpiry != 0 || k == CellTombstone {
				g.appendInt(s+cExpiry, v.Expiries[r])
			}
			if c.HasValue() {
				g.pick = append(g.pick, int32(r))
			}
			if c&CellException != 0 {
				for exceptions[0].Row < r {
					exceptions = exceptions[1:]
				}
				d := &g.streams[s+cException]
				if d.str == nil {
					d.own.str.Reset()
					d.str = &d.own.str
				}
				d.add(exceptions[0].Value)
			}
		}
		if len(g.pick) == n && sel == nil {
			g.alias(s+cValue, v, base, base+n)
		} else if len(g.pick) > 0 {
			g.take(s+cValue, v, g.pick)
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

// sparse is aligned without the rows (skipped of them) for which has is false.
func (g *gatherer) sparse(s int, src []int64, base, n int, sel []int32, skipped int, has func(int) bool) {
	switch skipped {
	case n:
	case 0:
		if sel == nil && len(src) > 0 {
			g.streams[s].i64 = src[base : base+n]
			return
		}
		aligned(g, s, src, base, n, sel)
	default:
		pickSparse(g, s, src, base, n, sel, has)
	}
}

func sparse32(g *gatherer, s int, src []int32, base, n int, sel []int32, skipped int, has func(int) bool) {
	switch skipped {
	case n:
	case 0:
		aligned(g, s, src, base, n, sel)
	default:
		pickSparse(g, s, src, base, n, sel, has)
	}
}

func pickSparse[T int32 | int64](g *gatherer, s int, src []T, base, n int, sel []int32, has func(int) bool) {
	for i := range n {
		if !has(i) {
			continue
		}
		r := base + i
		if sel != nil {
			r = int(sel[i])
		}
		g.appendInt(s, int64(at(src, r)))
	}
}

func (g *gatherer) deletions(l *rowLayout, meta *RowMeta, n, base int, sel []int32) {
	states := g.ints(l.base+rDelState, n)
	clear(states)
	if n == 0 {
		return
	}
	first, last := base, base+n-1
	if sel != nil {
		first, last = int(sel[0]), int(sel[n-1])
	}
	for _, d := range between(meta.Deletions, first, last+1, deletionRow) {
		i := d.Row - base
		if sel != nil {
			at, ok := slices.BinarySearch(sel, int32(d.Row))
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
