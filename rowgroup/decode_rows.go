package rowgroup

import (
	"errors"
	"slices"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bytestrings"
	"github.com/colsst/colsst/simd"
)

func (d *blockDecoder) decodeKeys(dst *Batch, from, to int) error {
	for g := from; g < to; g++ {
		if err := d.limits.check(d.rows[g], d.parts[g]); err != nil {
			return err
		}
		if err := d.decodePartitions(dst, g); err != nil {
			return tooLarge(err)
		}
		dst.n += d.rows[g]
	}
	return nil
}

func (d *blockDecoder) decode(dst *Batch, from, to int, o *ScanOptions) error {
	var all ScanOptions
	if o == nil {
		o = &all
	}
	for g := from; g < to; g++ {
		if err := d.decodeGroup(dst, g, o); err != nil {
			return tooLarge(err)
		}
	}
	return nil
}

// tooLarge makes damage of byte strings beyond 4 GiB, which no writer makes.
func tooLarge(err error) error {
	if errors.Is(err, bytestrings.ErrTooLarge) {
		return &encoding.CorruptError{Part: "block", Offset: -1, Err: err}
	}
	return err
}

// decodePartitions decodes what group g says of the partitions that begin in
// it.
func (d *blockDecoder) decodePartitions(dst *Batch, g int) error {
	np := d.parts[g]
	d.statics = d.statics[:0]
	if np == 0 {
		for _, st := range []int{sKey, sPartState, sPartRows, sPartDelTime, sPartDelLocal} {
			if d.count(st, g) != 0 {
				return d.corrupt(st, g, "%d values without a partition", d.count(st, g))
			}
		}
		return nil
	}
	at := dst.Len()
	if d.count(sKey, g) != np || d.count(sPartState, g) != np {
		return d.corrupt(sKey, g, "%d keys and %d states for %d partitions", d.count(sKey, g), d.count(sPartState, g), np)
	}
	if err := d.decodeBytes(&dst.keys, sKey, g); err != nil {
		return err
	}
	states, err := d.intStream(sPartState, g)
	if err != nil {
		return err
	}
	times, err := d.intStream(sPartDelTime, g)
	if err != nil {
		return err
	}
	locals, err := d.intStream(sPartDelLocal, g)
	if err != nil {
		return err
	}
	var rows []int64
	switch n := d.count(sPartRows, g); {
	case np == 1 && n == 0:
	case np > 1 && n == np:
		if rows, err = d.intStream(sPartRows, g); err != nil {
			return err
		}
	default:
		return d.corrupt(sPartRows, g, "%d values for %d partitions", n, np)
	}
	start, dels := 0, 0
	for i, st := range states {
		h := PartitionHead{Start: at + start, Deletion: LiveDeletion, Static: StaticState(st >> 1)}
		if st < 0 || st > 5 {
			return d.corrupt(sPartState, g, "state %d", st)
		}
		if st&1 == 1 {
			if dels >= len(times) || dels >= len(locals) || times[dels] == NoDeletion {
				return d.corrupt(sPartDelTime, g, "%d deletion times", len(times))
			}
			h.Deletion = Deletion{times[dels], locals[dels]}
			dels++
		}
		if h.Static == StaticFull {
			d.statics = append(d.statics, int32(len(dst.parts)))
		}
		dst.parts = append(dst.parts, h)
		if rows != nil {
			if rows[i] < 0 || rows[i] > int64(d.rows[g]-start) {
				return d.corrupt(sPartRows, g, "partition of %d rows in a row group of %d", rows[i], d.rows[g])
			}
			start += int(rows[i])
		}
	}
	if rows != nil && start != d.rows[g] {
		return d.corrupt(sPartRows, g, "partitions of %d rows in a row group of %d", start, d.rows[g])
	}
	if dels != len(times) || dels != len(locals) {
		return d.corrupt(sPartDelTime, g, "%d deletion times for %d partitions", len(times), dels)
	}
	return nil
}

func (d *blockDecoder) decodeGroup(dst *Batch, g int, o *ScanOptions) error {
	if err := d.limits.check(d.rows[g], d.parts[g]); err != nil {
		return err
	}
	at := dst.Len()
	partsAt := len(dst.parts)
	d.intsOf = -1 // what was kept may lie in a batch that has changed since
	if err := d.decodePartitions(dst, g); err != nil {
		return err
	}
	if np := len(dst.parts) - partsAt; np > 0 {
		if err := d.decodeRows(dst, &d.l.static, &dst.static, g, partsAt, np, d.statics, true, o); err != nil {
			return err
		}
	}
	n := d.rows[g]
	sel, err := d.decodeMarkers(dst, g, at)
	if err != nil {
		return err
	}
	if err := d.decodeClustering(dst, g, at, o); err != nil {
		return err
	}
	if err := d.decodeRows(dst, &d.l.rows, &dst.meta, g, at, n, sel, sel != nil, o); err != nil {
		return err
	}
	if dst.Len() != at+n {
		dst.n = at + n
	}
	return nil
}

// decodeMarkers decodes the kinds of the unfiltereds and the markers. It
// returns the positions in dst of the rows, or nil where all are rows.
func (d *blockDecoder) decodeMarkers(dst *Batch, g, at int) ([]int32, error) {
	n, nm := d.rows[g], d.count(d.l.markers+mPrefix, g)
	if d.count(d.l.kinds, g) != n {
		return nil, d.corrupt(d.l.kinds, g, "%d kinds for %d rows", d.count(d.l.kinds, g), n)
	}
	if n == 0 || nm == 0 && d.zero(d.l.kinds, g) {
		return nil, nil
	}
	kinds, err := d.intStream(d.l.kinds, g)
	if err != nil {
		return nil, err
	}
	var s [numMarkerStreams][]int64
	for i := range s {
		if s[i], err = d.intStream(d.l.markers+i, g); err != nil {
			return nil, err
		}
	}
	nc := int64(len(d.schema.Columns(Clustering)))
	d.sel = slices.Grow(d.sel[:0], n)
	k, closes, opens := 0, 0, 0
	for i, x := range kinds {
		if x == 0 {
			d.sel = append(d.sel, int32(at+i))
			continue
		}
		m := Marker{Row: at + i, Kind: BoundKind(x - 1), Close: LiveDeletion, Open: LiveDeletion}
		if x < 0 || x > 8 || !m.Kind.valid() || k >= nm || s[mPrefix][k] < 0 || s[mPrefix][k] > nc {
			return nil, d.corrupt(d.l.kinds, g, "marker of kind %d", x-1)
		}
		m.Prefix = int(s[mPrefix][k])
		k++
		if m.Kind.Closes() {
			if closes >= len(s[mCloseTime]) || closes >= len(s[mCloseLocal]) {
				return nil, d.corrupt(d.l.markers+mCloseTime, g, "%d values", closes)
			}
			m.Close = Deletion{s[mCloseTime][closes], s[mCloseLocal][closes]}
			closes++
		}
		if m.Kind.Opens() {
			if opens >= len(s[mOpenTime]) || opens >= len(s[mOpenLocal]) {
				return nil, d.corrupt(d.l.markers+mOpenTime, g, "%d values", opens)
			}
			m.Open = Deletion{s[mOpenTime][opens], s[mOpenLocal][opens]}
			opens++
		}
		dst.markers = append(dst.markers, m)
	}
	if k != nm || closes != len(s[mCloseTime]) || closes != len(s[mCloseLocal]) || opens != len(s[mOpenTime]) || opens != len(s[mOpenLocal]) {
		return nil, d.corrupt(d.l.markers, g, "%d markers for %d prefixes", k, nm)
	}
	if k == 0 {
		return nil, nil
	}
	return d.sel, nil
}

func (d *blockDecoder) decodeClustering(dst *Batch, g, at int, o *ScanOptions) error {
	n := d.rows[g]
	from, to := d.schema.Range(Clustering)
	for c := from; c < to; c++ {
		s := d.l.clustering + 2*(c-from)
		v := &dst.vecs[c]
		if d.count(s, g) != n {
			return d.corrupt(s, g, "%d states for %d rows", d.count(s, g), n)
		}
		if d.zero(s, g) {
			if d.count(s+1, g) != n {
				return d.corrupt(s+1, g, "%d values for %d rows", d.count(s+1, g), n)
			}
			if len(v.Cells) > 0 {
				v.Cells = growZero(v.Cells, at+n)
			}
			if err := d.decodeDense(v, s+1, g, at, n); err != nil {
				return err
			}
			continue
		}
		states, err := d.intStream(s, g)
		if err != nil {
			return err
		}
		v.Cells = growZero(v.Cells, at)
		d.pos = d.pos[:0]
		for i, x := range states {
			switch x {
			case int64(CellAsRow):
				d.pos = append(d.pos, int32(at+i))
			case int64(CellAbsent), int64(CellEmpty):
			default:
				return d.corrupt(s, g, "state %d", x)
			}
			v.Cells = append(v.Cells, Cell(x))
		}
		if err := d.decodeSparse(v, s+1, g, at, n, d.pos); err != nil {
			return err
		}
	}
	return nil
}

// decodeDense appends the n values of stream s to v, which stands for at.
func (d *blockDecoder) decodeDense(v *vector, s, g, at, n int) error {
	if err := v.pad(at); err != nil {
		return err
	}
	if n == 0 {
		return nil
	}
	switch v.class {
	case ClassInt32:
		return dense(&v.i32, at, n, s, g, d.decodeInt32)
	case ClassInt64:
		return dense(&v.i64, at, n, s, g, d.decodeInt64)
	case ClassFloat32:
		return dense(&v.f32, at, n, s, g, d.decodeFloat32)
	case ClassFloat64:
		return dense(&v.f64, at, n, s, g, d.decodeFloat64)
	}
	return d.decodeBytes(&v.str, s, g)
}

// dense appends n values of stream s of group g to dst, which has at.
func dense[T any](dst *[]T, at, n, s, g int, decode func([]T, int, int) error) error {
	*dst = slices.Grow(*dst, n)[:at+n]
	return decode((*dst)[at:], s, g)
}

// decodeSparse puts the values of stream s at positions pos of v, which
// becomes at+n long.
func (d *blockDecoder) decodeSparse(v *vector, s, g, at, n int, pos []int32) error {
	if d.count(s, g) != len(pos) {
		return d.corrupt(s, g, "%d values for %d cells", d.count(s, g), len(pos))
	}
	if len(pos) == n {
		return d.decodeDense(v, s, g, at, n)
	}
	if v.class != ClassBytes {
		if err := v.pad(at + n); err != nil {
			return err
		}
	}
	if len(pos) == 0 {
		return v.pad(at + n)
	}
	t := &d.tmp
	switch v.class {
	case ClassInt32:
		return spread(v.i32, &t.i32, pos, s, g, d.decodeInt32)
	case ClassInt64:
		return spread(v.i64, &t.i64, pos, s, g, d.decodeInt64)
	case ClassFloat32:
		return spread(v.f32, &t.f32, pos, s, g, d.decodeFloat32)
	case ClassFloat64:
		return spread(v.f64, &t.f64, pos, s, g, d.decodeFloat64)
	}
	t.str.Reset()
	if err := d.decodeBytes(&t.str, s, g); err != nil {
		return err
	}
	for i, p := range pos {
		if err := v.pad(int(p)); err != nil {
			return err
		}
		if err := v.str.Append(t.str.At(i)); err != nil {
			return err
		}
	}
	return v.pad(at + n)
}

// spread decodes stream s of group g into tmp and puts its values at positions
// pos of dst.
func spread[T any](dst []T, tmp *[]T, pos []int32, s, g int, decode func([]T, int, int) error) error {
	src := slices.Grow((*tmp)[:0], len(pos))[:len(pos)]
	*tmp = src
	if err := decode(src, s, g); err != nil {
		return err
	}
	for i, p := range pos {
		dst[p] = src[i]
	}
	return nil
}

// decodeInts gives stream s one value for each position of pos in dst, which
// becomes at+n long; where all are zero, an empty dst stays empty.
func decodeInts[T int32 | int64](d *blockDecoder, dst []T, s, g, at, n int, pos []int32) ([]T, error) {
	if d.count(s, g) != len(pos) {
		return dst, d.corrupt(s, g, "%d values for %d rows", d.count(s, g), len(pos))
	}
	if d.zero(s, g) {
		if len(dst) > 0 {
			dst = growZero(dst, at+n)
		}
		return dst, nil
	}
	if first, step, ok := d.progression(s, g); ok && len(pos) == n {
		dst = slices.Grow(growZero(dst, at), n)[:at+n]
		switch dst := any(dst[at:]).(type) {
		case []int64:
			simd.Fill64(dst, first, step)
		case []int32:
			simd.Fill32(dst, int32(first), int32(step))
		}
		return dst, nil
	}
	if d64, ok := any(dst).([]int64); ok && len(pos) == n {
		d64 = slices.Grow(growZero(d64, at), n)[:at+n]
		err := d.decodeInt64(d64[at:], s, g)
		if err == nil {
			d.keep(d64[at:], s, g)
		}
		return any(d64).([]T), err
	}
	v, err := d.intStream(s, g)
	if err != nil {
		return dst, err
	}
	dst = growZero(dst, at+n)
	if len(pos) == n {
		for i, x := range v {
			dst[at+i] = T(x)
		}
		return dst, nil
	}
	for i, p := range pos {
		dst[p] = T(v[i])
	}
	return dst, nil
}

// decodeRows decodes the metadata and columns of rows (or static rows) that
// stand at positions sel of dst, or, unless sparse, at all of [at, at+n).
func (d *blockDecoder) decodeRows(dst *Batch, l *rowLayout, meta *RowMeta, g, at, n int, sel []int32, sparse bool, o *ScanOptions) error {
	if !sparse {
		d.pos = slices.Grow(d.pos[:0], n)[:n]
		simd.Fill32(d.pos, int32(at), 1)
		sel = d.pos
	}
	rows := len(sel)
	static := l == &d.l.static
	if d.count(l.base+rLiveness, g) != rows || d.count(l.base+rDelState, g) != rows {
		return d.corrupt(l.base+rLiveness, g, "%d values for %d rows", d.count(l.base+rLiveness, g), rows)
	}
	if rows == 0 {
		for s := l.base; s < l.columns+(l.to-l.from)*numColumnStreams; s++ {
			if d.count(s, g) != 0 {
				return d.corrupt(s, g, "%d values without a row", d.count(s, g))
			}
		}
		if static { // cells of static rows that are not there
			meta.pad(at + n)
			for c := l.from; c < l.to; c++ {
				dst.vecs[c].CellMeta.pad(at + n)
				if v := &dst.vecs[c]; len(v.Cells) > 0 || v.len() > 0 {
					if err := absentCells(v, at, n); err != nil {
						return err
					}
				}
			}
			return nil
		}
	}
	live, err := d.decodeMeta(dst, l, meta, g, at, n, sel, o)
	if err != nil {
		return err
	}
	want := wanted{all: o.Columns == nil, list: o.Columns}
	for c := l.from; c < l.to; c++ {
		if !want.has(c) {
			continue
		}
		if err := d.decodeColumn(&dst.vecs[c], l.value(c, 0), g, at, n, sel, &live, o); err != nil {
			return err
		}
	}
	return nil
}

// pad makes the slices that are not empty n long.
func (m *RowMeta) pad(n int) {
	if len(m.Liveness) > 0 {
		m.Liveness = growZero(m.Liveness, n)
	}
	if len(m.WriteTimes) > 0 {
		m.WriteTimes = growZero(m.WriteTimes, n)
	}
	if len(m.TTLs) > 0 {
		m.TTLs = growZero(m.TTLs, n)
	}
	if len(m.Expiries) > 0 {
		m.Expiries = growZero(m.Expiries, n)
	}
}

// pad makes the slices of times that are not empty n long.
func (m *CellMeta) pad(n int) {
	if len(m.WriteTimes) > 0 {
		m.WriteTimes = growZero(m.WriteTimes, n)
	}
	if len(m.TTLs) > 0 {
		m.TTLs = growZero(m.TTLs, n)
	}
	if len(m.Expiries) > 0 {
		m.Expiries = growZero(m.Expiries, n)
	}
}

// wanted is the set of columns that a scan asks for.
type wanted struct {
	all  bool
	list []int
}

func (w *wanted) has(c int) bool { return w.all || slices.Contains(w.list, c) }

func absentCells(v *vector, at, n int) error {
	v.Cells = growZero(v.Cells, at+n)
	for i := at; i < at+n; i++ {
		v.Cells[i] = CellAbsent
	}
	return v.pad(at + n)
}

// liveness are the states of rows: one for each, or, where there is none, the
// same for all.
type liveness struct {
	each []int64
	all  Liveness
}

func (l *liveness) at(i int) Liveness {
	if l.each == nil {
		return l.all
	}
	return Liveness(l.each[i])
}

// none reports whether one of the rows has no liveness.
func (l *liveness) none() bool {
	return l.each == nil && l.all == LivenessNone || slices.Contains(l.each, int64(LivenessNone))
}

// decodeLiveness decodes the states of rows and counts those that have a write
// time, a TTL and an expiry.
func (d *blockDecoder) decodeLiveness(s, g, rows int) (live liveness, counts [3]int, err error) {
	if rows == 0 {
		return live, counts, nil
	}
	if x, step, ok := d.progression(s, g); ok && step == 0 {
		if x < 0 || x > int64(LivenessExpired) {
			return live, counts, d.corrupt(s, g, "liveness %d", x)
		}
		live.all = Liveness(x)
		live.all.count(&counts, rows)
		return live, counts, nil
	}
	if live.each, err = d.intStream(s, g); err != nil {
		return live, counts, err
	}
	for _, x := range live.each {
		if x < 0 || x > int64(LivenessExpired) {
			return live, counts, d.corrupt(s, g, "liveness %d", x)
		}
		Liveness(x).count(&counts, 1)
	}
	return live, counts, nil
}

// count adds n rows to those that have a write time, a TTL and an expiry.
func (l Liveness) count(counts *[3]int, n int) {
	if l != LivenessNone {
		counts[0] += n
	}
	if l == LivenessExpiring {
		counts[1] += n
	}
	if l >= LivenessExpiring {
		counts[2] += n
	}
}

// decodeMeta decodes the metadata of rows and returns their liveness states.
func (d *blockDecoder) decodeMeta(dst *Batch, l *rowLayout, meta *RowMeta, g, at, n int, sel []int32, o *ScanOptions) (liveness, error) {
	live, counts, err := d.decodeLiveness(l.base+rLiveness, g, len(sel))
	if err != nil {
		return live, err
	}
	for i, c := range counts {
		if s := l.base + rWriteTime + i; d.count(s, g) != c {
			return live, d.corrupt(s, g, "%d values for %d rows", d.count(s, g), c)
		}
	}
	if o.WithoutMetadata {
		return live, nil
	}
	if live.each != nil || live.all != LivenessLive || len(meta.Liveness) > 0 {
		meta.Liveness = growZero(meta.Liveness, at+n)
		if live.each == nil && len(sel) == n {
			repeat(meta.Liveness[at:], live.all)
		} else {
			for i, p := range sel {
				meta.Liveness[p] = live.at(i)
			}
		}
	}
	at64 := func(dst []int64, s, count int, has func(Liveness) bool) ([]int64, error) {
		return decodeInts(d, dst, s, g, at, n, d.filter(sel, live.each, count, has))
	}
	if meta.WriteTimes, err = at64(meta.WriteTimes, l.base+rWriteTime, counts[0], func(x Liveness) bool { return x != LivenessNone }); err != nil {
		return live, err
	}
	pos := d.filter(sel, live.each, counts[1], func(x Liveness) bool { return x == LivenessExpiring })
	if meta.TTLs, err = decodeInts(d, meta.TTLs, l.base+rTTL, g, at, n, pos); err != nil {
		return live, err
	}
	if meta.Expiries, err = at64(meta.Expiries, l.base+rExpiry, counts[2], func(x Liveness) bool { return x >= LivenessExpiring }); err != nil {
		return live, err
	}
	if d.zero(l.base+rDelState, g) {
		if d.count(l.base+rDelTime, g) != 0 || d.count(l.base+rDelLocal, g) != 0 {
			return live, d.corrupt(l.base+rDelTime, g, "times without a deletion")
		}
		return live, nil
	}
	states, err := d.intStream(l.base+rDelState, g)
	if err != nil {
		return live, err
	}
	times, err := d.intStream(l.base+rDelTime, g)
	if err != nil {
		return live, err
	}
	locals, err := d.intStream(l.base+rDelLocal, g)
	if err != nil {
		return live, err
	}
	k := 0
	for i, x := range states {
		if x == 0 {
			continue
		}
		if x < 0 || x > 2 || k >= len(times) || k >= len(locals) {
			return live, d.corrupt(l.base+rDelState, g, "state %d", x)
		}
		meta.Deletions = append(meta.Deletions, RowDeletion{Row: int(sel[i]), Deletion: Deletion{times[k], locals[k]}, Shadowable: x == 2})
		k++
	}
	if k != len(times) || k != len(locals) {
		return live, d.corrupt(l.base+rDelTime, g, "%d times for %d deletions", len(times), k)
	}
	return live, nil
}

// repeat sets all of s to x.
func repeat[T any](s []T, x T) {
	if len(s) == 0 {
		return
	}
	s[0] = x
	for k := 1; k < len(s); k *= 2 {
		copy(s[k:], s[:k])
	}
}

// filter is the part of sel whose liveness has holds for; count is its size.
// It is valid until the next call.
func (d *blockDecoder) filter(sel []int32, live []int64, count int, has func(Liveness) bool) []int32 {
	switch count {
	case 0:
		return nil
	case len(sel):
		return sel
	}
	pos := slices.Grow(d.some[:0], count)
	for i, x := range live {
		if has(Liveness(x)) {
			pos = append(pos, sel[i])
		}
	}
	d.some = pos
	return pos
}

// decodeColumn decodes column streams s of cells at positions sel, in rows of
// the liveness states live. A cell can be as its row only where the row has a
// liveness.
func (d *blockDecoder) decodeColumn(v *vector, s, g, at, n int, sel []int32, live *liveness, o *ScanOptions) error {
	if len(v.Cells) == 0 && v.len() < at { // partitions without a static row
		if err := absentCells(v, 0, at); err != nil {
			return err
		}
	}
	if d.count(s+cState, g) != len(sel) {
		return d.corrupt(s+cState, g, "%d states for %d rows", d.count(s+cState, g), len(sel))
	}
	if d.zero(s+cState, g) {
		if len(sel) > 0 && live.none() {
			return d.corrupt(s+cState, g, "cells as rows without liveness")
		}
		for i := cWriteTime; i < numColumnStreams; i++ {
			if i != cValue && d.count(s+i, g) != 0 {
				return d.corrupt(s+i, g, "values of no cell")
			}
		}
		if len(v.Cells) > 0 || len(sel) != n {
			if err := absentCells(v, at, n); err != nil {
				return err
			}
			for _, p := range sel {
				v.Cells[p] = CellAsRow
			}
			v.truncate(at)
		}
		v.CellMeta.pad(at + n)
		return d.decodeSparse(v, s+cValue, g, at, n, sel)
	}
	states, err := d.intStream(s+cState, g)
	if err != nil {
		return err
	}
	if err := absentCells(v, at, n); err != nil {
		return err
	}
	v.truncate(at)
	values, timed, expiring, expires, exceptions := d.cells[0][:0], d.cells[1][:0], d.cells[2][:0], d.cells[3][:0], d.cells[4][:0]
	for i, x := range states {
		c, p := Cell(x), sel[i]
		k := c.Kind()
		if x < 0 || x >= 0x80 || k > CellTombstone || k == CellAbsent && c != CellAbsent ||
			k == CellAsRow && c&(CellOwnTime|CellOwnExpiry) != 0 || k == CellLive && c&CellOwnExpiry != 0 ||
			k == CellTombstone && c&^(CellOwnTime|cellKinds) != 0 || c&CellEmpty != 0 && c&CellException != 0 {
			return d.corrupt(s+cState, g, "cell state %#x", x)
		}
		if live.at(i) == LivenessNone && k != CellAbsent && c&CellOwnTime == 0 {
			return d.corrupt(s+cState, g, "cell state %#x in a row without liveness", x)
		}
		v.Cells[p] = c
		if c.HasValue() {
			values = append(values, p)
		}
		if c&CellOwnTime != 0 {
			timed = append(timed, p)
		}
		if c&CellOwnExpiry != 0 && k == CellExpiring {
			expiring = append(expiring, p)
		}
		if c&CellOwnExpiry != 0 || k == CellTombstone {
			expires = append(expires, p)
		}
		if c&CellException != 0 {
			exceptions = append(exceptions, p)
		}
	}
	d.cells = [5][]int32{values, timed, expiring, expires, exceptions}
	if err := d.decodeSparse(v, s+cValue, g, at, n, values); err != nil {
		return err
	}
	if d.count(s+cException, g) != len(exceptions) {
		return d.corrupt(s+cException, g, "%d values for %d cells", d.count(s+cException, g), len(exceptions))
	}
	if len(exceptions) > 0 {
		d.tmp.str.Reset()
		if err := d.decodeBytes(&d.tmp.str, s+cException, g); err != nil {
			return err
		}
		for i, p := range exceptions {
			v.Exceptions = append(v.Exceptions, Exception{Row: int(p), Value: slices.Clone(d.tmp.str.At(i))})
		}
	}
	if o.WithoutMetadata {
		return nil
	}
	if len(timed) > 0 || len(v.WriteTimes) > 0 {
		if v.WriteTimes, err = decodeInts(d, v.WriteTimes, s+cWriteTime, g, at, n, timed); err != nil {
			return err
		}
		v.WriteTimes = growZero(v.WriteTimes, at+n)
	}
	if len(expiring) > 0 || len(v.TTLs) > 0 {
		if v.TTLs, err = decodeInts(d, v.TTLs, s+cTTL, g, at, n, expiring); err != nil {
			return err
		}
		v.TTLs = growZero(v.TTLs, at+n)
	}
	if len(expires) > 0 || len(v.Expiries) > 0 {
		if v.Expiries, err = decodeInts(d, v.Expiries, s+cExpiry, g, at, n, expires); err != nil {
			return err
		}
		v.Expiries = growZero(v.Expiries, at+n)
	}
	return nil
}

// truncate cuts the values to n.
func (v *vector) truncate(n int) {
	switch v.class {
	case ClassInt32:
		v.i32 = v.i32[:min(n, len(v.i32))]
	case ClassInt64:
		v.i64 = v.i64[:min(n, len(v.i64))]
	case ClassFloat32:
		v.f32 = v.f32[:min(n, len(v.f32))]
	case ClassFloat64:
		v.f64 = v.f64[:min(n, len(v.f64))]
	case ClassBytes:
		v.str.Truncate(min(n, v.str.Len()))
	}
}
