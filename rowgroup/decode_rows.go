package rowgroup

import (
	"errors"
	"math/bits"
	"slices"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bytestrings"
	"github.com/colsst/colsst/simd"
)

// keysOf are the keys of the partitions that begin in group g. They are kept.
func (d *blockDecoder) keysOf(g int) (*bytestrings.Strings, error) {
	h := &d.heads
	if h.group == g {
		return &h.b.keys, nil
	}
	h.group = -1
	h.b.keys.Reset()
	h.b.parts, d.statics, h.each = h.b.parts[:0], d.statics[:0], -1
	if d.parts[g] > 0 {
		d.begin(g, g+1)
		var err error
		if h.each = d.bareHeads(g); h.each >= 0 {
			err = d.decodeBytes(&h.b.keys, sKey, g)
		} else {
			err = d.decodePartitions(&h.b, g, 0)
		}
		if err != nil {
			return nil, tooLarge(err)
		}
	}
	h.statics = append(h.statics[:0], d.statics...)
	h.group = g
	return &h.b.keys, nil
}

// bareHeads is how many unfiltereds each of the partitions that begin in group
// g has, of which there is nothing else to know but keys, or -1 if there is or
// they have not as many each.
func (d *blockDecoder) bareHeads(g int) int {
	np, rows := d.parts[g], &d.listed[d.where[sPartRows]]
	each := d.rows[g]
	if np > 1 {
		if x := rows.values[slotParam]; !rows.constant || x < 0 || x > int64(each) || int(x)*np != each {
			return -1
		}
		each = int(rows.values[slotParam])
	}
	if !d.listed[d.where[sPartState]].zero || d.count(sKey, g) != np || np == 1 && d.count(sPartRows, g) > 0 ||
		d.where[sPartDelTime]+d.where[sPartDelLocal] > 0 {
		return -1
	}
	return each
}

// headOf is the head of partition i of those that begin in group g.
func (d *blockDecoder) headOf(g, i int) (PartitionHead, error) {
	if _, err := d.keysOf(g); err != nil {
		return PartitionHead{}, err
	}
	if h := &d.heads; h.each < 0 {
		return h.b.parts[i], nil
	}
	return PartitionHead{Start: i * d.heads.each, Deletion: LiveDeletion}, nil
}

// decodePartition is decode of groups [from, to) without the partitions that
// begin in group from, but for the i-th.
func (d *blockDecoder) decodePartition(dst *Batch, from, to, i int, o *ScanOptions) error {
	h := &d.heads
	if h.group != from || h.each < 0 || to-from != 1 || !d.plain || d.statical || i >= h.b.keys.Len() || d.rows[from] == 0 {
		if err := d.decode(dst, from, to, o); err != nil {
			return err
		}
		if n := dst.NumPartitions(); n > 1 {
			if i >= n {
				return encoding.Corruptf("block", "%d partitions where number %d is wanted", n, i)
			}
			lo, hi := dst.PartitionRows(i)
			dst.Cut(i, lo, hi)
		}
		return nil
	}
	if o == nil {
		o = &ScanOptions{}
	}
	d.begin(from, to)
	d.left[from] -= len(h.b.keys.Data)
	dst.BeginPartition(h.b.keys.At(i))
	if h.each == 0 {
		return nil
	}
	return tooLarge(d.decodeRange(dst, from, i*h.each, (i+1)*h.each, o))
}

// begin prepares for groups [from, to), which are at hand then.
func (d *blockDecoder) begin(from, to int) {
	copy(d.left[from:to], d.room[from:to])
	d.first, d.end = from, to
	d.stamp++ // what was kept may lie in a batch that has changed since
}

func (d *blockDecoder) decode(dst *Batch, from, to int, o *ScanOptions) error {
	var all ScanOptions
	if o == nil {
		o = &all
	}
	for at := dst.Len(); from < to; {
		sp := d.span(from, to, at)
		d.begin(sp.from, sp.to)
		if err := d.decodeSpan(dst, &sp, o); err != nil {
			return tooLarge(err)
		}
		from, at = sp.to, at+sp.n
	}
	return nil
}

// span is a run of groups that are decoded column by column: n unfiltereds, at
// to at+n of the batch. If it is sparse it has one group, of which only those at
// sel have the values in question.
type span struct {
	from, to int
	at, n    int
	sparse   bool
	sel      []int32
}

// rows is how many of them have the values in question.
func (s *span) rows() int {
	if s.sparse {
		return len(s.sel)
	}
	return s.n
}

// row is the position of its i-th row.
func (s *span) row(i int32) int {
	if s.sparse {
		return int(s.sel[i])
	}
	return s.at + int(i)
}

// span is groups from on that can be decoded together, up to to: without
// markers, and with the same liveness for all rows.
func (d *blockDecoder) span(from, to, at int) span {
	end := from + 1
	switch {
	case d.plain:
		end = to
	case d.onlyRows(from, to):
		for x, ok := d.liveness(from); ok && end < to; end++ {
			if y, ok := d.liveness(end); !ok || x != y {
				break
			}
		}
	}
	return span{from: from, to: end, at: at, n: d.starts[end] - d.starts[from]}
}

// onlyRows reports whether the unfiltereds of groups [from, to) are all rows.
func (d *blockDecoder) onlyRows(from, to int) bool {
	for i := range numMarkerStreams {
		if !d.absent(d.l.markers+i, from, to) {
			return false
		}
	}
	return d.zero(d.l.kinds, from, to)
}

// liveness is the one liveness of all unfiltereds of group g, as stored.
func (d *blockDecoder) liveness(g int) (int64, bool) {
	st := d.l.rows.base + rLiveness
	r, ok := d.ramp(st, g)
	return r.First, ok && r.Step == 0 && r.Spread == 0 && d.full(st, g, g+1)
}

// tooLarge makes damage of byte strings beyond 4 GiB, which no writer makes.
func tooLarge(err error) error {
	if errors.Is(err, bytestrings.ErrTooLarge) {
		return &encoding.CorruptError{Part: "block", Offset: -1, Err: err}
	}
	return err
}

// decodePartitions decodes the partitions that begin in group g, which begins
// at unfiltered at of dst.
func (d *blockDecoder) decodePartitions(dst *Batch, g, at int) error {
	np := d.parts[g]
	d.statics = d.statics[:0]
	if d.count(sKey, g) != np || d.count(sPartState, g) != np {
		return d.corrupt(sKey, g, "%d keys and %d states for %d partitions", d.count(sKey, g), d.count(sPartState, g), np)
	}
	if g == d.heads.group && d.heads.each < 0 {
		return d.keptHeads(dst, at)
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

// heads are the partitions that begin in one group, whose rows are often wanted
// once its keys were looked at.
type heads struct {
	group   int     // or -1
	b       Batch   // of keys and, unless they are bare, parts
	each    int     // see bareHeads
	statics []int32 // which have a static row
}

// keptHeads is decodePartitions of the group whose heads are kept.
func (d *blockDecoder) keptHeads(dst *Batch, at int) error {
	h, from := &d.heads, len(dst.parts)
	d.left[h.group] -= len(h.b.keys.Data)
	if err := dst.keys.AppendFrom(&h.b.keys, 0, h.b.keys.Len()); err != nil {
		return err
	}
	dst.parts = append(dst.parts, h.b.parts...)
	for i := range dst.parts[from:] {
		dst.parts[from+i].Start += at
	}
	for _, i := range h.statics {
		d.statics = append(d.statics, i+int32(from))
	}
	return nil
}

func (d *blockDecoder) decodeSpan(dst *Batch, sp *span, o *ScanOptions) error {
	if err := d.decodeHeads(dst, sp, o); err != nil {
		return err
	}
	if d.plain {
		if err := d.decodePlain(dst, sp, o); err != nil {
			return err
		}
	} else {
		if err := d.decodeMarkers(dst, sp); err != nil {
			return err
		}
		if err := d.decodeClustering(dst, sp); err != nil {
			return err
		}
		if err := d.decodeRows(dst, &d.l.rows, &dst.meta, sp, o); err != nil {
			return err
		}
	}
	if dst.Len() != sp.at+sp.n {
		dst.n = sp.at + sp.n
	}
	return nil
}

// decodePlain decodes unfiltereds of which nothing but values is left to find
// out: see isPlain.
func (d *blockDecoder) decodePlain(dst *Batch, sp *span, o *ScanOptions) error {
	if sp.n == 0 {
		return nil
	}
	l := &d.l.rows
	from, to := d.schema.Range(Clustering)
	for c := from; c < to; c++ {
		if err := d.decodeCells(&dst.vecs[c], d.l.clustering+2*(c-from)+1, sp); err != nil {
			return err
		}
	}
	if !o.WithoutMetadata {
		live := liveness{all: Liveness(d.listed[d.where[l.base+rLiveness]].values[slotParam])}
		if err := d.decodeTimes(l, &dst.meta, sp, &live, live.all.counts(sp.n)); err != nil {
			return err
		}
	}
	want := wanted{all: o.Columns == nil, list: o.Columns}
	for c := l.from; c < l.to; c++ {
		if !want.has(c) {
			continue
		}
		v := &dst.vecs[c]
		if v.multi != nil {
			v.multi.Pad(sp.at + sp.n)
			continue
		}
		if err := v.absentBefore(sp); err != nil {
			return err
		}
		if err := d.decodeCells(v, l.value(c, cValue), sp); err != nil {
			return err
		}
	}
	return nil
}

// decodeCells decodes the values of cells that are all as their rows, one for
// each unfiltered.
func (d *blockDecoder) decodeCells(v *vector, st int, sp *span) error {
	v.CellMeta.pad(sp.at + sp.n)
	if len(v.Cells) > 0 {
		v.Cells = growZero(v.Cells, sp.at+sp.n)
	}
	return d.decodeDense(v, st, sp)
}

// absentBefore gives v the absent cells of groups that did not store any.
func (v *vector) absentBefore(sp *span) error {
	if len(v.Cells) == 0 && v.len() < sp.at { // partitions without a static row
		return absentCells(v, 0, sp.at)
	}
	return nil
}

// decodeHeads decodes the partitions that begin in sp, with their static rows.
func (d *blockDecoder) decodeHeads(dst *Batch, sp *span, o *ScanOptions) error {
	for g := sp.from; g < sp.to; g++ {
		if d.parts[g] == 0 {
			to := g + 1
			for to < sp.to && d.parts[to] == 0 {
				to++
			}
			if err := d.headless(g, to); err != nil {
				return err
			}
			g = to - 1
			continue
		}
		partsAt := len(dst.parts)
		if err := d.decodePartitions(dst, g, sp.at+d.starts[g]-d.starts[sp.from]); err != nil {
			return err
		}
		np := len(dst.parts) - partsAt
		static := span{from: g, to: g + 1, at: partsAt, n: np, sparse: true, sel: d.statics}
		if err := d.decodeRows(dst, &d.l.static, &dst.static, &static, o); err != nil {
			return err
		}
	}
	return nil
}

// headless refuses values of partitions in groups [from, to), in which none
// begins.
func (d *blockDecoder) headless(from, to int) error {
	for st := range numPartitionStreams {
		if !d.absent(st, from, to) {
			return d.corrupt(st, from, "values without a partition")
		}
	}
	return nil
}

// decodeMarkers decodes the kinds of the unfiltereds and the markers. Where not
// all are rows, sp has the positions of those afterwards.
func (d *blockDecoder) decodeMarkers(dst *Batch, sp *span) error {
	if !d.full(d.l.kinds, sp.from, sp.to) {
		return d.corrupt(d.l.kinds, sp.from, "%d kinds for %d rows", d.count(d.l.kinds, sp.from), d.rows[sp.from])
	}
	if sp.n == 0 || d.zero(d.l.kinds, sp.from, sp.to) && d.absent(d.l.markers+mPrefix, sp.from, sp.to) {
		return nil
	}
	g, at, n, nm := sp.from, sp.at, sp.n, d.count(d.l.markers+mPrefix, sp.from) // see blockDecoder.span
	kinds, err := d.intStream(d.l.kinds, g)
	if err != nil {
		return err
	}
	var s [numMarkerStreams][]int64
	for i := range s {
		if s[i], err = d.intStream(d.l.markers+i, g); err != nil {
			return err
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
			return d.corrupt(d.l.kinds, g, "marker of kind %d", x-1)
		}
		m.Prefix = int(s[mPrefix][k])
		k++
		if m.Kind.Closes() {
			if closes >= len(s[mCloseTime]) || closes >= len(s[mCloseLocal]) {
				return d.corrupt(d.l.markers+mCloseTime, g, "%d values", closes)
			}
			m.Close = Deletion{s[mCloseTime][closes], s[mCloseLocal][closes]}
			closes++
		}
		if m.Kind.Opens() {
			if opens >= len(s[mOpenTime]) || opens >= len(s[mOpenLocal]) {
				return d.corrupt(d.l.markers+mOpenTime, g, "%d values", opens)
			}
			m.Open = Deletion{s[mOpenTime][opens], s[mOpenLocal][opens]}
			opens++
		}
		dst.markers = append(dst.markers, m)
	}
	if k != nm || closes != len(s[mCloseTime]) || closes != len(s[mCloseLocal]) || opens != len(s[mOpenTime]) || opens != len(s[mOpenLocal]) {
		return d.corrupt(d.l.markers, g, "%d markers for %d prefixes", k, nm)
	}
	if k > 0 {
		sp.sparse, sp.sel = true, d.sel
	}
	return nil
}

func (d *blockDecoder) decodeClustering(dst *Batch, sp *span) error {
	from, to := d.schema.Range(Clustering)
	for c := from; c < to; c++ {
		st := d.l.clustering + 2*(c-from)
		v := &dst.vecs[c]
		if !d.full(st, sp.from, sp.to) {
			return d.miscount(st, sp)
		}
		for g := sp.from; g < sp.to; {
			x, states := d.stretch(sp, g, st)
			if err := d.decodeKeyColumn(v, st, &x, states); err != nil {
				return err
			}
			g = x.to
		}
	}
	return nil
}

// decodeKeyColumn decodes a clustering column with states st; some is set
// where not all are zero.
func (d *blockDecoder) decodeKeyColumn(v *vector, st int, sp *span, some bool) error {
	if some {
		return d.decodeNulls(v, st, sp)
	}
	if !d.full(st+1, sp.from, sp.to) {
		return d.miscount(st+1, sp)
	}
	return d.decodeCells(v, st+1, sp)
}

// miscount is the error of stream st that does not have a value for each
// unfiltered of sp, or for each of its positions.
func (d *blockDecoder) miscount(st int, sp *span) error {
	g := sp.from
	for !sp.sparse && g+1 < sp.to && d.count(st, g) == d.rows[g] {
		g++
	}
	want := d.rows[g]
	if sp.sparse {
		want = len(sp.sel)
	}
	return d.corrupt(st, g, "%d values for %d rows", d.count(st, g), want)
}

// stretch is the part of sp from group from on in which stream st is all zero, or,
// with states, the one group from.
func (d *blockDecoder) stretch(sp *span, from, st int) (x span, states bool) {
	to := from
	if from == sp.from && d.zero(st, from, sp.to) {
		to = sp.to
	}
	for to < sp.to && d.zero(st, to, to+1) {
		to++
	}
	if to == from {
		states = true
		to++
	}
	if from == sp.from && to == sp.to {
		return *sp, states
	}
	return span{from: from, to: to, at: sp.at + d.starts[from] - d.starts[sp.from], n: d.starts[to] - d.starts[from]}, states
}

// decodeNulls decodes a clustering column with states st of one group.
func (d *blockDecoder) decodeNulls(v *vector, st int, sp *span) error {
	states, err := d.intStream(st, sp.from)
	if err != nil {
		return err
	}
	v.Cells = growZero(v.Cells, sp.at)
	d.pos = d.pos[:0]
	for i, x := range states {
		switch x {
		case int64(CellAsRow):
			d.pos = append(d.pos, int32(sp.at+i))
		case int64(CellAbsent), int64(CellEmpty):
		default:
			return d.corrupt(st, sp.from, "state %d", x)
		}
		v.Cells = append(v.Cells, Cell(x))
	}
	return d.decodeSparse(v, st+1, sp, d.pos)
}

// decodeDense appends the values of stream st, one for each unfiltered of sp,
// to v.
func (d *blockDecoder) decodeDense(v *vector, st int, sp *span) error {
	if err := v.pad(sp.at); err != nil {
		return err
	}
	if sp.n == 0 {
		return nil
	}
	switch v.class {
	case ClassInt32:
		v.i32 = extend(v.i32, sp)
		return d.int32s(v.i32[sp.at:], st, sp)
	case ClassInt64:
		v.i64 = extend(v.i64, sp)
		return d.int64s(v.i64[sp.at:], st, sp)
	case ClassFloat32:
		v.f32 = extend(v.f32, sp)
		return dense(d, v.f32[sp.at:], st, sp, d.decodeFloat32, d.alp.Float32s)
	case ClassFloat64:
		v.f64 = extend(v.f64, sp)
		return dense(d, v.f64[sp.at:], st, sp, d.decodeFloat64, d.alp.Float64s)
	}
	for g := sp.from; g < sp.to; g++ {
		if err := d.decodeBytes(&v.str, st, g); err != nil {
			return err
		}
	}
	return nil
}

// extend makes s, of values up to sp, hold anything for sp.
func extend[T any](s []T, sp *span) []T { return slices.Grow(s, sp.n)[:sp.at+sp.n] }

// dense decodes stream st, of floats, one value for each unfiltered of sp, into
// dst: chunks of ALP all together, others by one.
func dense[T float32 | float64](d *blockDecoder, dst []T, st int, sp *span, one func([]T, int, int) error, all func([]T, []byte, []encoding.Body, *encoding.ParamColumns) (int, error)) error {
	if sp.to-sp.from > 1 && d.chunks(st, sp) == encoding.ALP {
		done, err := all(dst, d.body, d.bodies, &d.params)
		if err != nil {
			return d.at(st, sp.from+done, err)
		}
		return nil
	}
	return groups(d, dst, st, sp, one)
}

// chunks is the encoding of stream st if the groups of sp, more than one, share
// it and are not compressed, else none. It sets d.bodies and d.params.
func (d *blockDecoder) chunks(st int, sp *span) encoding.ID {
	k := int(d.where[st])
	l := &d.listed[k]
	v := &l.values
	for i := range d.params {
		d.params[i] = v[slotParam+i:][:1]
	}
	for i := l.from; i < l.to; i++ {
		switch s := d.dyns[i].slot; s {
		case slotCount:
		case slotID, slotZstd:
			return noEncoding
		default:
			d.params[s-slotParam] = d.column(i)[sp.from:sp.to]
		}
	}
	if v[slotZstd] != 0 {
		return noEncoding
	}
	d.bodies = sized(d.bodies, sp.to-sp.from)
	for i, r := range d.refsOf(st)[sp.from:sp.to] {
		d.bodies[i] = encoding.Body{Off: int(r.off), Len: int(r.len), N: int(r.count)}
	}
	return encoding.ID(v[slotID])
}

// noEncoding is the ID of no encoding.
const noEncoding encoding.ID = 255

// rampsOf is how many values of stream st in groups [g, end) form one ramp, as
// their parameters say, with its packed codes; none if n is 0.
func (d *blockDecoder) rampsOf(st, g, to int) (r encoding.Ramp, codes []byte, n, end int) {
	if to-g == 1 {
		r, ok := d.ramp(st, g)
		at := d.ref(st, g)
		n = int(at.count)
		if !ok || r.Spread > 0 && int(at.len) != r.Len(n) { // else compressed
			return r, nil, 0, g
		}
		return r, d.body[at.off:], n, to
	}
	k := int(d.where[st])
	var known bool // all groups are on a line
	if r, known = d.ramp(st, d.groups); known && r.Spread == 0 && d.l.streams[st].ref == refRows {
		r.First += int64(d.starts[g]) * r.Step
		return r, nil, d.starts[to] - d.starts[g], to
	}
	known = known && !d.listed[k].constant
	of := func(g int) (encoding.Ramp, bool) {
		if known {
			return d.lines[k].of(d, g), true
		}
		return d.ramp(st, g)
	}
	r, ok := of(g)
	at := d.ref(st, g)
	n = int(at.count)
	if known && !d.spots[k].found && d.lines[k].slope == 0 && !d.lines[k].anew && n%8 == 0 && int(at.len) == r.Len(n) {
		return r, d.body[at.off:], d.starts[to] - d.starts[g], to // of even groups, one body after the other
	}
	if !ok || r.Spread > 0 && int(at.len) != r.Len(n) { // else compressed
		return r, nil, 0, g
	}
	codes = d.body[at.off:]
	refs := d.refsOf(st)[:to]
	for end = g + 1; end < to && (r.Spread == 0 || n%8 == 0); end++ {
		f := &refs[end]
		x, ok := of(end)
		if !ok || x.Spread != r.Spread || x.First != r.First+int64(n)*r.Step || x.Step != r.Step && f.count > 1 || int(f.len) != r.Len(int(f.count)) {
			break
		}
		n += int(f.count)
	}
	return r, codes, n, end
}

// int64s decodes integer stream st, one value for each unfiltered of sp, into
// dst and keeps it.
func (d *blockDecoder) int64s(dst []int64, st int, sp *span) error {
	if d.clocked64(dst, st, sp) {
		return nil
	}
	for at, g := 0, sp.from; g < sp.to; {
		r, codes, n, end := d.rampsOf(st, g, sp.to)
		switch {
		case n > 0 && r.Spread == 0:
			simd.Fill64(dst[at:at+n], r.First, r.Step)
		case n > 0:
			c := simd.Packed64(codes, uint(bits.Len64(r.Spread)))
			simd.Ramp64(dst[at:at+n], &c, r.First, r.Step)
		default:
			n, end = d.count(st, g), g+1
			if n == 0 {
				break
			}
			if err := d.decodeInt64(dst[at:at+n], st, g); err != nil {
				return err
			}
		}
		at, g = at+n, end
	}
	if d.whole(sp) {
		d.kept(st).run = dst
	}
	return nil
}

// int32s is int64s for a stream of int32.
func (d *blockDecoder) int32s(dst []int32, st int, sp *span) error {
	for at, g := 0, sp.from; g < sp.to; {
		r, codes, n, end := d.rampsOf(st, g, sp.to)
		switch {
		case n > 0 && r.Spread == 0:
			simd.Fill32(dst[at:at+n], int32(r.First), int32(r.Step))
		case n > 0:
			c := simd.Packed32(codes, uint(bits.Len64(r.Spread)))
			simd.Ramp32(dst[at:at+n], &c, int32(r.First), int32(r.Step))
		default:
			n, end = d.count(st, g), g+1
			if n == 0 {
				break
			}
			if err := d.decodeInt32(dst[at:at+n], st, g); err != nil {
				return err
			}
		}
		at, g = at+n, end
	}
	if d.whole(sp) {
		d.kept(st).run32 = dst
	}
	return nil
}

// whole reports whether sp is all unfiltereds of the groups at hand.
func (d *blockDecoder) whole(sp *span) bool {
	return !sp.sparse && sp.from == d.first && sp.to == d.end
}

// decodeSparse puts the values of stream st of the one group of sp at positions
// pos of v, which becomes as long as sp.
func (d *blockDecoder) decodeSparse(v *vector, st int, sp *span, pos []int32) error {
	g, n := sp.from, sp.at+sp.n
	if d.count(st, g) != len(pos) {
		return d.corrupt(st, g, "%d values for %d cells", d.count(st, g), len(pos))
	}
	if len(pos) == sp.n {
		return d.decodeDense(v, st, sp)
	}
	if v.class != ClassBytes {
		if err := v.pad(n); err != nil {
			return err
		}
	}
	if len(pos) == 0 {
		return v.pad(n)
	}
	t := &d.tmp
	switch v.class {
	case ClassInt32:
		return spread(v.i32, &t.i32, pos, st, g, d.decodeInt32)
	case ClassInt64:
		return spread(v.i64, &t.i64, pos, st, g, d.decodeInt64)
	case ClassFloat32:
		return spread(v.f32, &t.f32, pos, st, g, d.decodeFloat32)
	case ClassFloat64:
		return spread(v.f64, &t.f64, pos, st, g, d.decodeFloat64)
	}
	t.str.Reset()
	if err := d.decodeBytes(&t.str, st, g); err != nil {
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
	return v.pad(n)
}

// decodeHoled appends the values of stream st of the one group of sp to v, all
// but those at positions holes, which ascend.
func (d *blockDecoder) decodeHoled(v *vector, st int, sp *span, holes []int32) error {
	g, n := sp.from, sp.n-len(holes)
	if d.count(st, g) != n {
		return d.corrupt(st, g, "%d values for %d cells", d.count(st, g), n)
	}
	if err := v.pad(sp.at); err != nil {
		return err
	}
	switch v.class {
	case ClassInt32:
		v.i32 = extend(v.i32, sp)
		return holed(v.i32[sp.at:], sp.at, holes, st, g, d.decodeInt32)
	case ClassInt64:
		v.i64 = extend(v.i64, sp)
		return holed(v.i64[sp.at:], sp.at, holes, st, g, d.decodeInt64)
	case ClassFloat32:
		v.f32 = extend(v.f32, sp)
		return holed(v.f32[sp.at:], sp.at, holes, st, g, d.decodeFloat32)
	case ClassFloat64:
		v.f64 = extend(v.f64, sp)
		return holed(v.f64[sp.at:], sp.at, holes, st, g, d.decodeFloat64)
	}
	if len(holes) == 0 {
		return d.decodeBytes(&v.str, st, g)
	}
	t := &d.tmp.str
	t.Reset()
	if n > 0 {
		if err := d.decodeBytes(t, st, g); err != nil {
			return err
		}
	}
	from := 0
	for i, p := range holes {
		to := int(p) - sp.at - i // values before the hole
		if err := v.str.AppendFrom(t, from, to); err != nil {
			return err
		}
		if err := v.str.Append(nil); err != nil {
			return err
		}
		from = to
	}
	return v.str.AppendFrom(t, from, n)
}

// holed decodes stream st of group g into dst, which begins at position at, all
// but positions holes.
func holed[T int32 | int64 | float32 | float64](dst []T, at int, holes []int32, st, g int, decode func([]T, int, int) error) error {
	if n := len(dst) - len(holes); n > 0 {
		if err := decode(dst[:n], st, g); err != nil {
			return err
		}
	}
	moveApart(dst, at, holes)
	return nil
}

// moveApart makes room for holes, which are positions of dst plus at and become 0,
// between the values that dst begins with.
func moveApart[T int32 | int64 | float32 | float64](dst []T, at int, holes []int32) {
	n := len(dst) - len(holes)
	// From the end on, what stands behind the last hole moves by all of them.
	for i := len(holes) - 1; i >= 0; i-- {
		p := int(holes[i]) - at
		copy(dst[p+1:], dst[p-i:n])
		n = p - i
		dst[p] = 0
	}
}

// spread decodes stream s of group g into tmp and puts its values at positions
// pos of dst.
func spread[T any](dst []T, tmp *[]T, pos []int32, s, g int, decode func([]T, int, int) error) error {
	src := sized(*tmp, len(pos))
	*tmp = src
	if err := decode(src, s, g); err != nil {
		return err
	}
	for i, p := range pos {
		dst[p] = src[i]
	}
	return nil
}

// decodeInts gives each unfiltered of sp its value of stream st in dst; where
// all are zero, an empty dst stays empty.
func decodeInts[T int32 | int64](d *blockDecoder, dst []T, st int, sp *span) ([]T, error) {
	if !d.hasCount(st, sp, sp.n) {
		return dst, d.miscount(st, sp)
	}
	if len(dst) == 0 && d.zero(st, sp.from, sp.to) {
		return dst, nil
	}
	dst = extend(growZero(dst, sp.at), sp)
	var err error
	switch v := any(dst[sp.at:]).(type) {
	case []int64:
		err = d.int64s(v, st, sp)
	case []int32:
		err = d.narrowed(v, st, sp)
	}
	return dst, err
}

// narrowed is int64s for values that are kept as int32.
func (d *blockDecoder) narrowed(dst []int32, st int, sp *span) error {
	if r, _, n, _ := d.rampsOf(st, sp.from, sp.to); n == sp.n && r.Spread == 0 {
		simd.Fill32(dst, int32(r.First), int32(r.Step))
		return nil
	}
	if d.clocked32(dst, st, sp) {
		return nil
	}
	e := d.kept(st)
	e.group, e.own = -1, sized(e.own, sp.n)
	if err := d.int64s(e.own, st, sp); err != nil {
		return err
	}
	for i, x := range e.own {
		dst[i] = int32(x)
	}
	return nil
}

// decodeIntsAt is decodeInts for positions pos of the one group of sp.
func decodeIntsAt[T int32 | int64](d *blockDecoder, dst []T, st int, sp *span, pos []int32) ([]T, error) {
	g := sp.from
	if d.count(st, g) != len(pos) {
		return dst, d.corrupt(st, g, "%d values for %d rows", d.count(st, g), len(pos))
	}
	if len(pos) == sp.n {
		return decodeInts(d, dst, st, sp)
	}
	if d.zero(st, g, g+1) {
		if len(dst) > 0 {
			dst = growZero(dst, sp.at+sp.n)
		}
		return dst, nil
	}
	v, err := d.intStream(st, g)
	if err != nil {
		return dst, err
	}
	dst = growZero(dst, sp.at+sp.n)
	for i, p := range pos {
		dst[p] = T(v[i])
	}
	return dst, nil
}

// decodeRows decodes the metadata and columns of the rows (or static rows) of
// sp.
func (d *blockDecoder) decodeRows(dst *Batch, l *rowLayout, meta *RowMeta, sp *span, o *ScanOptions) error {
	for _, st := range [...]int{l.base + rLiveness, l.base + rDelState} {
		if !d.has(st, sp) {
			return d.miscount(st, sp)
		}
	}
	if sp.sparse && len(sp.sel) == 0 {
		for s := l.base; s < l.end; s++ {
			if d.count(s, sp.from) != 0 {
				return d.corrupt(s, sp.from, "%d values without a row", d.count(s, sp.from))
			}
		}
		if l == &d.l.static { // cells of static rows that are not there
			return padStatic(dst, l, sp)
		}
	}
	live, err := d.decodeMeta(l, meta, sp, o)
	if err != nil {
		return err
	}
	want := wanted{all: o.Columns == nil, list: o.Columns}
	for c := l.from; c < l.to; c++ {
		if !want.has(c) {
			continue
		}
		var err error
		if m := dst.vecs[c].multi; m != nil {
			err = d.decodeMulti(m, l.value(c, 0), sp, &live, o)
		} else {
			err = d.decodeColumn(&dst.vecs[c], l.value(c, 0), sp, &live, o)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// has reports whether stream st has a value for each row of sp.
func (d *blockDecoder) has(st int, sp *span) bool {
	if sp.sparse {
		return d.count(st, sp.from) == len(sp.sel)
	}
	return d.full(st, sp.from, sp.to)
}

// padStatic gives partitions without static rows cells that are not there.
func padStatic(dst *Batch, l *rowLayout, sp *span) error {
	dst.static.pad(sp.at + sp.n)
	for c := l.from; c < l.to; c++ {
		v := &dst.vecs[c]
		if v.multi != nil {
			v.multi.Pad(sp.at + sp.n)
			continue
		}
		v.CellMeta.pad(sp.at + sp.n)
		if len(v.Cells) > 0 || v.len() > 0 {
			if err := absentCells(v, sp.at, sp.n); err != nil {
				return err
			}
		}
	}
	return nil
}

// rowsOf are the positions of the rows of sp, which is of one group.
func (d *blockDecoder) rowsOf(sp *span) []int32 {
	if !sp.sparse {
		d.pos = sized(d.pos, sp.n)
		simd.Fill32(d.pos, int32(sp.at), 1)
		return d.pos
	}
	return sp.sel
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

// decodeLiveness decodes the states of the rows of sp and counts those that have
// a write time, a TTL and an expiry.
func (d *blockDecoder) decodeLiveness(st int, sp *span) (live liveness, counts [3]int, err error) {
	if sp.rows() == 0 {
		return live, counts, nil
	}
	if r, ok := d.ramp(st, sp.from); ok && r.Step == 0 && r.Spread == 0 { // all over sp: see blockDecoder.span
		if r.First < 0 || r.First > int64(LivenessExpired) {
			return live, counts, d.corrupt(st, sp.from, "liveness %d", r.First)
		}
		live.all = Liveness(r.First)
		return live, live.all.counts(sp.rows()), nil
	}
	if live.each, err = d.intStream(st, sp.from); err != nil {
		return live, counts, err
	}
	for _, x := range live.each {
		if x < 0 || x > int64(LivenessExpired) {
			return live, counts, d.corrupt(st, sp.from, "liveness %d", x)
		}
		for i, n := range Liveness(x).counts(1) {
			counts[i] += n
		}
	}
	return live, counts, nil
}

// counts is how many of n rows have a write time, a TTL and an expiry.
func (l Liveness) counts(n int) (c [3]int) {
	if l != LivenessNone {
		c[0] = n
	}
	if l == LivenessExpiring {
		c[1] = n
	}
	if l >= LivenessExpiring {
		c[2] = n
	}
	return c
}

// decodeMeta decodes the metadata of the rows of sp and returns their liveness
// states.
func (d *blockDecoder) decodeMeta(l *rowLayout, meta *RowMeta, sp *span, o *ScanOptions) (liveness, error) {
	live, counts, err := d.decodeLiveness(l.base+rLiveness, sp)
	if err != nil {
		return live, err
	}
	for i, c := range counts {
		if st := l.base + rWriteTime + i; !d.hasCount(st, sp, c) {
			return live, d.corrupt(st, sp.from, "%d values for %d rows", d.count(st, sp.from), c)
		}
	}
	if o.WithoutMetadata {
		return live, nil
	}
	if err := d.decodeTimes(l, meta, sp, &live, counts); err != nil {
		return live, err
	}
	if !sp.sparse && sp.to-sp.from > 1 && !d.zero(l.base+rDelState, sp.from, sp.to) {
		return live, d.decodeDeletionsOf(l, meta, sp)
	}
	for g := sp.from; g < sp.to; {
		x, some := d.stretch(sp, g, l.base+rDelState)
		if err := d.decodeDeletions(l, meta, &x, some); err != nil {
			return live, err
		}
		g = x.to
	}
	return live, nil
}

// decodeTimes decodes liveness states, write times, TTLs and expiries; counts
// are how many of the rows of sp have the latter.
func (d *blockDecoder) decodeTimes(l *rowLayout, meta *RowMeta, sp *span, live *liveness, counts [3]int) error {
	if live.each != nil || live.all != LivenessLive || len(meta.Liveness) > 0 {
		d.setLiveness(meta, sp, live)
	}
	var err error
	if meta.WriteTimes, err = timesOf(d, meta.WriteTimes, l.base+rWriteTime, sp, live, counts[0], func(x Liveness) bool { return x != LivenessNone }); err != nil {
		return err
	}
	if meta.TTLs, err = timesOf(d, meta.TTLs, l.base+rTTL, sp, live, counts[1], func(x Liveness) bool { return x == LivenessExpiring }); err != nil {
		return err
	}
	if meta.Expiries, err = timesOf(d, meta.Expiries, l.base+rExpiry, sp, live, counts[2], func(x Liveness) bool { return x >= LivenessExpiring }); err != nil {
		return err
	}
	return nil
}

// hasCount reports whether stream st has n values in the groups of sp: all the
// rows, none, or those of one group.
func (d *blockDecoder) hasCount(st int, sp *span, n int) bool {
	switch {
	case sp.to == sp.from+1:
		return d.count(st, sp.from) == n
	case n == 0:
		return d.absent(st, sp.from, sp.to)
	}
	return d.full(st, sp.from, sp.to)
}

func (d *blockDecoder) setLiveness(meta *RowMeta, sp *span, live *liveness) {
	meta.Liveness = extend(growZero(meta.Liveness, sp.at), sp)
	v := meta.Liveness[sp.at:]
	switch {
	case sp.sparse:
		clear(v)
		for i, p := range sp.sel {
			meta.Liveness[p] = live.at(i)
		}
	case live.each != nil:
		for i, x := range live.each {
			v[i] = Liveness(x)
		}
	default:
		live.all.fill(v)
	}
}

// timesOf decodes stream st of those rows of sp, count of them, whose liveness
// has holds for, into dst.
func timesOf[T int32 | int64](d *blockDecoder, dst []T, st int, sp *span, live *liveness, count int, has func(Liveness) bool) ([]T, error) {
	switch {
	case count == 0:
		if len(dst) > 0 {
			dst = growZero(dst, sp.at+sp.n)
		}
		return dst, nil
	case count == sp.n:
		return decodeInts(d, dst, st, sp)
	}
	return decodeIntsAt(d, dst, st, sp, d.filter(sp, live, count, has))
}

// decodeDeletions decodes the deletions of rows.
func (d *blockDecoder) decodeDeletions(l *rowLayout, meta *RowMeta, sp *span, some bool) error {
	st := l.base + rDelState
	if !some {
		if !d.absent(l.base+rDelTime, sp.from, sp.to) || !d.absent(l.base+rDelLocal, sp.from, sp.to) {
			return d.corrupt(l.base+rDelTime, sp.from, "times without a deletion")
		}
		return nil
	}
	times, err := d.intStream(l.base+rDelTime, sp.from)
	if err != nil {
		return err
	}
	locals, err := d.intStream(l.base+rDelLocal, sp.from)
	if err != nil {
		return err
	}
	at, states, err := d.nonzeros(st, sp.from)
	if err != nil {
		return err
	}
	k := 0
	for i, x := range states {
		if x < 0 || x > 2 || k >= len(times) || k >= len(locals) {
			return d.corrupt(st, sp.from, "state %d", x)
		}
		meta.Deletions = append(meta.Deletions, RowDeletion{Row: sp.row(at[i]), Deletion: Deletion{times[k], locals[k]}, Shadowable: x == 2})
		k++
	}
	if k != len(times) || k != len(locals) {
		return d.corrupt(l.base+rDelTime, sp.from, "%d times for %d deletions", len(times), k)
	}
	return nil
}

// fill sets all of s to l.
func (l Liveness) fill(s []Liveness) {
	for len(s) > 0 {
		s = s[copy(s, sameLiveness[l][:]):]
	}
}

// sameLiveness are runs of one liveness each, to copy from.
var sameLiveness = func() (all [LivenessExpired + 1][1024]Liveness) {
	for x := range all {
		for i := range all[x] {
			all[x][i] = Liveness(x)
		}
	}
	return all
}()

// filter is the positions of the rows of sp, of one group, whose liveness has
// holds for; count is their number. It is valid until the next call.
func (d *blockDecoder) filter(sp *span, live *liveness, count int, has func(Liveness) bool) []int32 {
	sel := d.rowsOf(sp)
	if count == len(sel) {
		return sel
	}
	pos := slices.Grow(d.some[:0], count)
	for i, x := range live.each {
		if has(Liveness(x)) {
			pos = append(pos, sel[i])
		}
	}
	d.some = pos
	return pos
}

// decodeColumn decodes column streams s of the rows of sp, whose liveness states
// are live. A cell can be as its row only where the row has a liveness.
func (d *blockDecoder) decodeColumn(v *vector, s int, sp *span, live *liveness, o *ScanOptions) error {
	if err := v.absentBefore(sp); err != nil {
		return err
	}
	if !d.has(s+cState, sp) {
		return d.miscount(s+cState, sp)
	}
	if x := &d.listed[d.where[s+cState]]; x.constant && x.values[slotParam] == int64(CellAbsent) && !sp.sparse {
		return d.decodeAbsent(v, s, sp)
	}
	if !sp.sparse && sp.to-sp.from > 1 && !d.zero(s+cState, sp.from, sp.to) {
		if ok, err := d.decodeCellsWithout(v, s, sp, live); ok || err != nil {
			return err
		}
	}
	for g := sp.from; g < sp.to; {
		x, some := d.stretch(sp, g, s+cState)
		var err error
		if some {
			err = d.decodeStates(v, s, &x, live, o)
		} else {
			err = d.decodeAsRow(v, s, &x, live)
		}
		if err != nil {
			return err
		}
		g = x.to
	}
	return nil
}

// decodeAbsent decodes cells of which none is there.
func (d *blockDecoder) decodeAbsent(v *vector, s int, sp *span) error {
	for i := cWriteTime; i < numColumnStreams; i++ {
		if !d.absent(s+i, sp.from, sp.to) {
			return d.corrupt(s+i, sp.from, "values of no cell")
		}
	}
	v.CellMeta.pad(sp.at + sp.n)
	return absentCells(v, sp.at, sp.n)
}

// decodeAsRow decodes cells that are all as their rows.
func (d *blockDecoder) decodeAsRow(v *vector, s int, sp *span, live *liveness) error {
	if sp.rows() > 0 && live.none() {
		return d.corrupt(s+cState, sp.from, "cells as rows without liveness")
	}
	for i := cWriteTime; i < numColumnStreams; i++ {
		if i != cValue && !d.absent(s+i, sp.from, sp.to) {
			return d.corrupt(s+i, sp.from, "values of no cell")
		}
	}
	if !sp.sparse {
		if !d.full(s+cValue, sp.from, sp.to) {
			return d.miscount(s+cValue, sp)
		}
		return d.decodeCells(v, s+cValue, sp)
	}
	v.CellMeta.pad(sp.at + sp.n)
	if len(v.Cells) > 0 || len(sp.sel) != sp.n {
		if err := absentCells(v, sp.at, sp.n); err != nil {
			return err
		}
		for _, p := range sp.sel {
			v.Cells[p] = CellAsRow
		}
		v.truncate(sp.at)
	}
	return d.decodeSparse(v, s+cValue, sp, sp.sel)
}

// decodeStates decodes the cells of one group.
func (d *blockDecoder) decodeStates(v *vector, s int, sp *span, live *liveness, o *ScanOptions) error {
	odd, states, err := d.nonzeros(s+cState, sp.from)
	if err != nil {
		return err
	}
	if live.none() {
		for i, k := 0, 0; i < sp.rows(); i++ {
			if k < len(odd) && int(odd[k]) == i {
				k++
			} else if live.at(i) == LivenessNone {
				return d.corrupt(s+cState, sp.from, "cell state 0 in a row without liveness")
			}
		}
	}
	at, n := sp.at, sp.n
	v.Cells = extend(growZero(v.Cells, at), sp)
	cells := v.Cells[at:]
	clear(cells) // as their rows
	if sp.sparse {
		for i := range cells {
			cells[i] = CellAbsent
		}
		for _, p := range sp.sel {
			v.Cells[p] = CellAsRow
		}
	}
	v.truncate(at)
	holes, timed, expiring, expires, exceptions := d.cells[0][:0], d.cells[1][:0], d.cells[2][:0], d.cells[3][:0], d.cells[4][:0]
	for i, x := range states {
		p := int32(sp.row(odd[i]))
		c := Cell(x)
		k := c.Kind()
		if x < 0 || x >= 0x80 || k > CellTombstone || k == CellAbsent && c != CellAbsent ||
			k == CellAsRow && c&(CellOwnTime|CellOwnExpiry) != 0 || k == CellLive && c&CellOwnExpiry != 0 ||
			k == CellTombstone && c&^(CellOwnTime|cellKinds) != 0 || c&CellEmpty != 0 && c&CellException != 0 {
			return d.corrupt(s+cState, sp.from, "cell state %#x", x)
		}
		if live.at(int(odd[i])) == LivenessNone && k != CellAbsent && c&CellOwnTime == 0 {
			return d.corrupt(s+cState, sp.from, "cell state %#x in a row without liveness", x)
		}
		v.Cells[p] = c
		if !c.HasValue() {
			holes = append(holes, p)
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
	if sp.sparse { // holes are all that have no value
		holes = holes[:0]
		for i, c := range cells {
			if !c.HasValue() {
				holes = append(holes, int32(at+i))
			}
		}
	}
	d.cells = [5][]int32{holes, timed, expiring, expires, exceptions}
	if err := d.decodeHoled(v, s+cValue, sp, holes); err != nil {
		return err
	}
	if d.count(s+cException, sp.from) != len(exceptions) {
		return d.corrupt(s+cException, sp.from, "%d values for %d cells", d.count(s+cException, sp.from), len(exceptions))
	}
	if len(exceptions) > 0 {
		d.tmp.str.Reset()
		if err := d.decodeBytes(&d.tmp.str, s+cException, sp.from); err != nil {
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
		if v.WriteTimes, err = decodeIntsAt(d, v.WriteTimes, s+cWriteTime, sp, timed); err != nil {
			return err
		}
		v.WriteTimes = growZero(v.WriteTimes, at+n)
	}
	if len(expiring) > 0 || len(v.TTLs) > 0 {
		if v.TTLs, err = decodeIntsAt(d, v.TTLs, s+cTTL, sp, expiring); err != nil {
			return err
		}
		v.TTLs = growZero(v.TTLs, at+n)
	}
	if len(expires) > 0 || len(v.Expiries) > 0 {
		if v.Expiries, err = decodeIntsAt(d, v.Expiries, s+cExpiry, sp, expires); err != nil {
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
