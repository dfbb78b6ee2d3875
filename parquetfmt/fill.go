package parquetfmt

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/simd"
)

// filler brings batches into leaves, column by column.
type filler struct {
	lay *layout
	x   *shredder
	b   *rowgroup.Batch
	row int64 // of the output, of the next span

	part     int  // the partition at hand
	head     bool // its rows of partition and static row are done
	at       int  // the next unfiltered
	spans    []span
	key      [][]byte // components of the key of keyPart
	keyPart  int
	statics  [][]byte // values of the static row of the partition written last, by static column; nil: null
	wanted   bool     // statics matter
	repeated int      // bytes of static values in the spans
	lost     []int    // rows whose value the view does not have
	scratch  []byte
	cell     rowgroup.MultiCell
}

// span is some rows of the output that are alike: unfiltereds [from, to) of a
// partition, or one row that stands for its beginning.
type span struct {
	kind     spanKind
	part     int
	from, to int
}

type spanKind uint8

const (
	rowsSpan spanKind = iota
	partitionSpan
	staticSpan
)

func (s span) len() int {
	if s.kind == rowsSpan {
		return s.to - s.from
	}
	return 1
}

func newFiller(l *layout, x *shredder) filler {
	from, to := l.schema.Range(rowgroup.Static)
	return filler{lay: l, x: x, statics: make([][]byte, to-from), wanted: to > from && !l.lossless}
}

// begin begins a batch, whose first row becomes the given one of the output.
func (f *filler) begin(b *rowgroup.Batch, row int64) {
	f.b, f.row, f.part, f.head, f.at, f.keyPart = b, row, 0, false, 0, -1
}

// next appends the next rows, at most so many, and says how many.
func (f *filler) next(most int) (n int, err error) {
	f.spans, f.repeated = f.spans[:0], 0
	for n < most && f.part < f.b.NumPartitions() && f.repeated < maxRepeated {
		n += f.span(most - n)
	}
	if n == 0 {
		return 0, nil
	}
	for i, s := range f.lay.columns {
		if err := f.column(i, s); err != nil {
			return 0, err
		}
	}
	f.metadata()
	f.row += int64(n)
	return n, nil
}

// span adds the next span, of at most so many rows, and says how many it has.
func (f *filler) span(most int) int {
	p := f.b.Partition(f.part)
	from, to := f.b.PartitionRows(f.part)
	add := func(s span) int {
		f.spans = append(f.spans, s)
		return s.len()
	}
	if !f.head {
		n := 0
		if !p.Continued {
			switch {
			case !f.lay.lossless:
				if from == to && p.Static == rowgroup.StaticFull {
					n += add(span{kind: staticSpan, part: f.part})
				}
			default:
				if !p.Deletion.Live() || from == to && p.Static == rowgroup.StaticAbsent {
					n += add(span{kind: partitionSpan, part: f.part})
				}
				if p.Static != rowgroup.StaticAbsent {
					n += add(span{kind: staticSpan, part: f.part})
				}
			}
		}
		f.head, f.at = true, from
		if n > 0 {
			return n // one more than most at the most
		}
	}
	if f.at == to {
		f.part++
		f.head = false
		return 0
	}
	n := min(most, to-f.at)
	if size := f.staticBytes(); size > 0 {
		n = min(n, max(1, (maxRepeated-f.repeated)/size))
		f.repeated += n * size
	}
	f.at += n
	return add(span{kind: rowsSpan, part: f.part, from: f.at - n, to: f.at})
}

// maxRepeated is about how many bytes of static values are repeated at once.
const maxRepeated = 16 << 20

// staticBytes is how many bytes of static values each row of the partition at
// hand gets.
func (f *filler) staticBytes() (n int) {
	if !f.wanted {
		return 0
	}
	from, _ := f.lay.schema.Range(rowgroup.Static)
	for i, v := range f.statics {
		if !f.b.Partition(f.part).Continued {
			f.scratch, _ = f.b.AppendValue(f.scratch[:0], from+i, f.part)
			v = f.scratch
		}
		n += len(v)
	}
	return n
}

// fail is an error of the value of row i of the spans.
func (f *filler) fail(i int, col int, err error) error {
	return &ValueError{Row: f.row + int64(i), Column: f.lay.schema.Column(col).Name, Reason: err}
}

func (f *filler) column(col int, s *shape) error {
	switch role := f.lay.schema.Role(col); {
	case role == rowgroup.PartitionKey:
		return f.keys(col, s)
	case role == rowgroup.Static && !f.lay.lossless:
		return f.repeatStatics(col, s)
	default:
		return f.values(col, s, role)
	}
}

// components splits the key of partition p.
func (f *filler) components(p int) ([][]byte, error) {
	if f.keyPart != p {
		var err error
		if f.key, err = rowgroup.SplitKey(f.lay.schema.KeyTypes(), f.b.Key(p)); err != nil {
			return nil, err
		}
		f.keyPart = p
	}
	return f.key, nil
}

func (f *filler) keys(col int, s *shape) error {
	at := 0
	for _, sp := range f.spans {
		key, err := f.components(sp.part)
		var v []byte
		if err == nil {
			v = key[col]
			err = f.x.check(s, v)
		}
		ok := err == nil
		if !ok && !f.lay.lossless {
			if errors.Is(err, errEmpty) {
				err = fmt.Errorf("%w, in the partition key", err)
			}
			return f.fail(at, col, err)
		}
		f.repeat(s, v, ok, sp.len())
		at += sp.len()
	}
	return nil
}

// repeat appends a value that passed check n times.
func (f *filler) repeat(s *shape, v []byte, ok bool, n int) {
	switch l := &f.x.leaves[s.leaf]; {
	case !ok && s.flat():
		l.nulls(n)
	case !ok:
		for range n {
			f.x.null(s.node, 0, s.maxDef-1)
		}
	case !s.flat():
		for range n {
			f.x.shred(s, v, 0)
		}
	case l.inRuns:
		f.x.value(s, v)
		l.repeated(n)
	default:
		for range n {
			f.x.value(s, v)
		}
		l.added(n)
	}
}

// repeatStatics appends the value of a static column for every row.
func (f *filler) repeatStatics(col int, s *shape) error {
	from, _ := f.lay.schema.Range(rowgroup.Static)
	keep := &f.statics[col-from]
	at, last := 0, -1
	for _, sp := range f.spans {
		if sp.part != last && !f.b.Partition(sp.part).Continued {
			v, ok := f.b.AppendValue((*keep)[:0], col, sp.part)
			if f.b.Partition(sp.part).Static != rowgroup.StaticFull {
				ok = false
			}
			if ok {
				if err := f.x.check(s, v); err != nil {
					if !errors.Is(err, errEmpty) {
						return f.fail(at, col, err)
					}
					ok = false
				}
			}
			if *keep = nil; ok {
				*keep = append([]byte{}, v...)
			}
		}
		last = sp.part
		f.repeat(s, *keep, *keep != nil, sp.len())
		at += sp.len()
	}
	return nil
}

// values appends the values of a clustering or regular column, and in a lossless
// file of a static one.
func (f *filler) values(col int, s *shape, role rowgroup.Role) error {
	at := 0
	for i := 0; i < len(f.spans); i++ {
		sp := f.spans[i]
		from, to := sp.from, sp.to
		switch {
		case role == rowgroup.Static && sp.kind == staticSpan:
			from, to = sp.part, sp.part+1
			if f.b.Partition(sp.part).Static != rowgroup.StaticFull {
				to = from
			}
		case role == rowgroup.Static || sp.kind != rowsSpan:
			to = from
		default:
			// Rows of partitions that follow one another are one run.
			for i+1 < len(f.spans) && f.spans[i+1].kind == rowsSpan && f.spans[i+1].from == to {
				i++
				to = f.spans[i].to
			}
		}
		n := to - from
		if n == 0 {
			n = sp.len()
			f.repeat(s, nil, false, n)
			f.absentCells(col, n)
			at += n
			continue
		}
		if err := f.betweenMarkers(col, s, role, from, to, at); err != nil {
			return err
		}
		at += n
	}
	return nil
}

// betweenMarkers appends the values of rows [from, to) and their metadata. A
// marker has those of its prefix only.
func (f *filler) betweenMarkers(col int, s *shape, role rowgroup.Role, from, to, at int) error {
	markers := *f.b.Markers()
	if role == rowgroup.Static {
		markers = nil
	}
	first, _ := f.lay.schema.Range(rowgroup.Clustering)
	for from < to {
		end := to
		k, _ := slices.BinarySearchFunc(markers, from, func(m rowgroup.Marker, i int) int { return m.Row - i })
		if markers = markers[k:]; len(markers) > 0 && markers[0].Row < to {
			end = markers[0].Row
			if m := &markers[0]; end == from && (role == rowgroup.Regular || col-first >= m.Prefix) {
				f.repeat(s, nil, false, 1)
				f.absentCells(col, 1)
				from, at = from+1, at+1
				continue
			}
			end = max(end, from+1)
		}
		f.lost = f.lost[:0]
		if err := f.run(col, s, from, end, at); err != nil {
			return err
		}
		f.cells(col, s, from, end)
		from, at = end, at+end-from
	}
	return nil
}

// run appends the values of rows [from, to), of partitions for a static column.
func (f *filler) run(col int, s *shape, from, to, at int) error {
	b := f.b
	if !s.flat() || s.form >= formFixedPt {
		return f.rowByRow(col, s, from, to, at)
	}
	cells := b.CellMeta(col).Cells
	n := f.stored(col)
	if n < to && len(cells) == 0 { // never filled
		f.x.leaves[s.leaf].nulls(to - from)
		return nil
	}
	for from < to {
		// A run of values, then one of others.
		end := from
		for end < to && (len(cells) == 0 || cells[end].HasValue()) {
			end++
		}
		if end > from {
			if err := f.bulk(col, s, from, end, at); err != nil {
				return err
			}
		}
		at += end - from
		for from = end; from < to && !cells[from].HasValue(); from++ {
			if c := cells[from]; c.Kind() == rowgroup.CellAbsent || c.Kind() == rowgroup.CellTombstone {
				f.x.leaves[s.leaf].nulls(1)
			} else if err := f.one(col, s, from, at); err != nil {
				return err
			}
			at++
		}
	}
	return nil
}

// stored is how many values a column's slice has.
func (f *filler) stored(col int) int {
	switch f.lay.schema.Column(col).Type.Physical().Class() {
	case rowgroup.ClassInt32:
		return len(*f.b.Int32s(col))
	case rowgroup.ClassInt64:
		return len(*f.b.Int64s(col))
	case rowgroup.ClassFloat32:
		return len(*f.b.Float32s(col))
	case rowgroup.ClassFloat64:
		return len(*f.b.Float64s(col))
	}
	return f.b.Bytes(col).Len()
}

// rowByRow appends values that are cut in parts.
func (f *filler) rowByRow(col int, s *shape, from, to, at int) error {
	for i := from; i < to; i++ {
		if err := f.one(col, s, i, at+i-from); err != nil {
			return err
		}
	}
	return nil
}

// one appends the value of row i, the one at position at of the spans.
func (f *filler) one(col int, s *shape, i, at int) error {
	v, ok := f.b.AppendValue(f.scratch[:0], col, i)
	f.scratch = v
	if ok {
		if err := f.x.check(s, v); err != nil {
			if !f.lay.lossless && !errors.Is(err, errEmpty) {
				return f.fail(at, col, err)
			}
			f.lost = append(f.lost, i)
			ok = false
		}
	}
	f.repeat(s, v, ok, 1)
	return nil
}

// bulk appends the values of rows [from, to), which all have one in the column's
// slice.
func (f *filler) bulk(col int, s *shape, from, to, at int) error {
	l := &f.x.leaves[s.leaf]
	switch s.form {
	case formInt32, formBool:
		l.values.I32 = appendAll(l.values.I32, (*f.b.Int32s(col))[from:to]...)
	case formInt64:
		v := (*f.b.Int64s(col))[from:to]
		if s.typ.Kind == rowgroup.KindTime {
			if least, greatest := simd.MinMaxInt64(v); !validTime(least) || !validTime(greatest) {
				return f.rowByRow(col, s, from, to, at)
			}
		}
		l.values.I64 = appendAll(l.values.I64, v...)
	case formSeconds:
		v := (*f.b.Int64s(col))[from:to]
		const most = 1<<63/1000 - 1
		if least, greatest := simd.MinMaxInt64(v); least < -most || greatest > most {
			return f.rowByRow(col, s, from, to, at)
		}
		for _, x := range v {
			l.values.I64 = append(l.values.I64, 1000*x)
		}
	case formUint32:
		for _, x := range (*f.b.Int64s(col))[from:to] {
			l.values.I32 = append(l.values.I32, int32(uint32(x)))
		}
	case formFloat:
		l.values.F32 = appendAll(l.values.F32, (*f.b.Float32s(col))[from:to]...)
	case formDouble:
		l.values.F64 = appendAll(l.values.F64, (*f.b.Float64s(col))[from:to]...)
	default:
		str := f.b.Bytes(col)
		if s.form == formText {
			for i := from; i < to; i++ {
				if !utf8.Valid(str.At(i)) {
					return f.rowByRow(col, s, from, to, at)
				}
			}
		}
		if s.form == formFixed {
			for i := from; i < to; i++ {
				if len(str.At(i)) != int(s.length) || s.typ.Kind == rowgroup.KindNumeric && rowgroup.Valid(s.typ, str.At(i)) != nil {
					return f.rowByRow(col, s, from, to, at)
				}
			}
		}
		if err := l.values.Str.AppendFrom(str, from, to); err != nil {
			return err
		}
	}
	l.added(to - from)
	return nil
}

// metadata appends the columns of rows.
func (f *filler) metadata() {
	r := &f.lay.rows
	if r.kind != nil {
		f.losslessRows()
		return
	}
	if r.ttl == nil {
		return
	}
	m := f.b.Meta()
	for _, sp := range f.spans {
		if sp.kind != rowsSpan {
			for _, s := range []*shape{r.writeTime, r.delay, r.ttl, r.expiry} {
				if s != nil {
					f.x.leaves[s.leaf].nulls(1)
				}
			}
			continue
		}
		for from := sp.from; from < sp.to; {
			// Rows of one liveness.
			to, live := sp.to, rowgroup.LivenessLive
			if len(m.Liveness) > 0 {
				live = m.Liveness[from]
				for to = from + 1; to < sp.to && m.Liveness[to] == live; to++ {
				}
			}
			written, expires := live != rowgroup.LivenessNone, live == rowgroup.LivenessExpiring
			f.int64s(r.writeTime, m.WriteTimes, from, to, written)
			f.delays(r.delay, m, from, to, written)
			f.int32s(r.ttl, m.TTLs, from, to, expires)
			f.int64s(r.expiry, m.Expiries, from, to, expires)
			from = to
		}
	}
}

// int64s appends values [from, to) of v, zeros if it is empty, or nulls unless
// they are there.
func (f *filler) int64s(s *shape, v []int64, from, to int, there bool) {
	if s == nil {
		return
	}
	l := &f.x.leaves[s.leaf]
	switch {
	case !there:
		l.nulls(to - from)
		return
	case len(v) == 0:
		l.values.AppendZeros(to - from)
	default:
		l.values.I64 = appendAll(l.values.I64, v[from:to]...)
	}
	l.added(to - from)
}

// int32s is int64s for int32.
func (f *filler) int32s(s *shape, v []int32, from, to int, there bool) {
	l := &f.x.leaves[s.leaf]
	switch {
	case !there:
		l.nulls(to - from)
		return
	case len(v) == 0:
		l.values.AppendZeros(to - from)
	default:
		l.values.I32 = appendAll(l.values.I32, v[from:to]...)
	}
	l.added(to - from)
}

// delays appends write times as µs from the rows' times.
func (f *filler) delays(s *shape, m *rowgroup.RowMeta, from, to int, there bool) {
	if s == nil {
		return
	}
	if !there {
		f.x.leaves[s.leaf].nulls(to - from)
		return
	}
	col, unit := f.lay.timeColumn, f.lay.timeUnit
	time := func(i int) int64 { return int64((*f.b.Int32s(col))[i]) }
	if f.lay.schema.Column(col).Type.Physical().Class() == rowgroup.ClassInt64 {
		times := *f.b.Int64s(col)
		time = func(i int) int64 { return times[i] }
	}
	l := &f.x.leaves[s.leaf]
	for i := from; i < to; i++ {
		written := int64(0)
		if len(m.WriteTimes) > 0 {
			written = m.WriteTimes[i]
		}
		us := int64(0)
		if f.b.Cell(col, i).HasValue() {
			us, _ = micros(time(i), unit) // 0 beyond 64 bits, as the reader has it
		}
		l.values.I64 = append(l.values.I64, written-us) // modulo 2^64
		l.added(1)
	}
}

func (f *filler) losslessRows() {
	r := &f.lay.rows
	str := func(s *shape, v string) {
		appendString(&f.x.leaves[s.leaf], []byte(v))
		f.x.leaves[s.leaf].added(1)
	}
	i64 := func(s *shape, v int64) {
		l := &f.x.leaves[s.leaf]
		l.values.I64 = append(l.values.I64, v)
		l.added(1)
	}
	i32 := func(s *shape, v int32) {
		l := &f.x.leaves[s.leaf]
		l.values.I32 = append(l.values.I32, v)
		l.added(1)
	}
	null := func(shapes ...*shape) {
		for _, s := range shapes {
			f.x.leaves[s.leaf].nulls(1)
		}
	}
	deletion := func(d deletionLeaves, v *rowgroup.Deletion) {
		if v == nil || v.Live() {
			null(d.time, d.local)
			return
		}
		i64(d.time, v.MarkedForDeleteAt)
		i64(d.local, v.LocalDeletionTime)
	}
	row := func(m *rowgroup.RowMeta, i int) {
		live := rowgroup.LivenessLive
		if len(m.Liveness) > 0 {
			live = m.Liveness[i]
		}
		str(r.liveness, livenessNames[live])
		if live == rowgroup.LivenessNone {
			null(r.writeTime)
		} else {
			i64(r.writeTime, valueAt(m.WriteTimes, i))
		}
		if live == rowgroup.LivenessExpiring {
			i32(r.ttl, valueAt(m.TTLs, i))
		} else {
			null(r.ttl)
		}
		if live == rowgroup.LivenessExpiring || live == rowgroup.LivenessExpired {
			i64(r.expiry, valueAt(m.Expiries, i))
		} else {
			null(r.expiry)
		}
		k, found := slices.BinarySearchFunc(m.Deletions, i, func(d rowgroup.RowDeletion, i int) int { return d.Row - i })
		if !found {
			null(r.deletion.time, r.deletion.local, r.shadowable)
			return
		}
		d := &m.Deletions[k]
		i64(r.deletion.time, d.MarkedForDeleteAt)
		i64(r.deletion.local, d.LocalDeletionTime)
		shadowable := int32(0)
		if d.Shadowable {
			shadowable = 1
		}
		i32(r.shadowable, shadowable)
	}
	for _, sp := range f.spans {
		f.exactKey(sp)
		switch p := f.b.Partition(sp.part); {
		case sp.kind == partitionSpan:
			str(r.kind, kindPartition)
			null(r.liveness, r.writeTime, r.ttl, r.expiry, r.shadowable, r.openDeletion.time, r.openDeletion.local, r.prefix)
			deletion(r.deletion, &p.Deletion)
			continue
		case sp.kind == staticSpan && p.Static == rowgroup.StaticEmpty:
			str(r.kind, kindStaticEmpty)
			null(r.liveness, r.writeTime, r.ttl, r.expiry, r.deletion.time, r.deletion.local, r.shadowable, r.openDeletion.time, r.openDeletion.local, r.prefix)
			continue
		case sp.kind == staticSpan:
			str(r.kind, kindStatic)
			row(f.b.StaticMeta(), sp.part)
			null(r.openDeletion.time, r.openDeletion.local, r.prefix)
			continue
		}
		for i := sp.from; i < sp.to; i++ {
			if m := f.b.MarkerAt(i); m != nil {
				str(r.kind, markerKinds[m.Kind])
				null(r.liveness, r.writeTime, r.ttl, r.expiry, r.shadowable)
				deletion(r.deletion, pick(m.Kind.Closes(), &m.Close))
				deletion(r.openDeletion, pick(m.Kind.Opens(), &m.Open))
				i32(r.prefix, int32(m.Prefix))
				continue
			}
			str(r.kind, kindRow)
			row(f.b.Meta(), i)
			null(r.openDeletion.time, r.openDeletion.local, r.prefix)
		}
	}
}

func pick[T any](ok bool, v *T) *T {
	if ok {
		return v
	}
	return nil
}

func valueAt[T any](v []T, i int) (zero T) {
	if len(v) == 0 {
		return zero
	}
	return v[i]
}

// exactKey appends the exact bytes of a partition's key where its columns do not
// have them.
func (f *filler) exactKey(sp span) {
	s := f.lay.rows.key
	if s == nil {
		return
	}
	exact := true
	key, err := f.components(sp.part)
	for i := range key {
		x := f.lay.columns[i]
		exact = exact && x.exact() && f.x.check(x, key[i]) == nil && (x.form != formText || utf8.Valid(key[i]))
	}
	l := &f.x.leaves[s.leaf]
	if exact && err == nil {
		l.nulls(sp.len())
		return
	}
	for range sp.len() {
		appendString(l, f.b.Key(sp.part))
	}
	l.added(sp.len())
}

// absentCells appends n rows without a cell to the columns of metadata of a
// column.
func (f *filler) absentCells(col, n int) {
	if f.lay.cells == nil {
		return
	}
	c := &f.lay.cells[col]
	for _, s := range []*shape{c.writeTime, c.ttl, c.expiry, c.bytes, c.deletion.time, c.deletion.local} {
		if s != nil {
			f.x.leaves[s.leaf].nulls(n)
		}
	}
	if c.state != nil {
		l := &f.x.leaves[c.state.leaf]
		for range n {
			l.values.I32 = append(l.values.I32, int32(rowgroup.CellAbsent))
		}
		l.added(n)
	}
	if c.cells != nil {
		for range n {
			f.x.null(c.cells.node, 0, c.cells.maxDef-1)
		}
	}
}

// cells appends the metadata of the cells of rows [from, to) of a column.
func (f *filler) cells(col int, s *shape, from, to int) {
	if f.lay.cells == nil {
		return
	}
	c := &f.lay.cells[col]
	if c.cells != nil {
		f.multiCells(c, f.b.MultiCells(col), from, to)
		return
	}
	f.exactBytes(c.bytes, col, s, from, to)
	if c.state == nil { // of a clustering column
		return
	}
	m := f.b.CellMeta(col)
	never := len(m.Cells) == 0 && f.stored(col) < to
	for i := from; i < to; i++ {
		state := rowgroup.CellAsRow
		switch {
		case never:
			state = rowgroup.CellAbsent
		case len(m.Cells) > 0:
			state = m.Cells[i]
		}
		l := &f.x.leaves[c.state.leaf]
		l.values.I32 = append(l.values.I32, int32(state))
		l.added(1)
		f.orNull64(c.writeTime, state&rowgroup.CellOwnTime != 0, m.WriteTimes, i)
		own := state&rowgroup.CellOwnExpiry != 0
		l = &f.x.leaves[c.ttl.leaf]
		if own && state.Kind() == rowgroup.CellExpiring {
			l.values.I32 = append(l.values.I32, valueAt(m.TTLs, i))
			l.added(1)
		} else {
			l.nulls(1)
		}
		f.orNull64(c.expiry, own || state.Kind() == rowgroup.CellTombstone, m.Expiries, i)
	}
}

func (f *filler) orNull64(s *shape, ok bool, v []int64, i int) {
	l := &f.x.leaves[s.leaf]
	if !ok {
		l.nulls(1)
		return
	}
	l.values.I64 = append(l.values.I64, valueAt(v, i))
	l.added(1)
}

// exactBytes appends the serialised values of a column where the view does not
// have them bit for bit.
func (f *filler) exactBytes(s *shape, col int, view *shape, from, to int) {
	l := &f.x.leaves[s.leaf]
	lost := f.lost
	for i := from; i < to; i++ {
		need := !view.exact()
		if len(lost) > 0 && lost[0] == i {
			need, lost = true, lost[1:]
		}
		if !need && view.form == formText && f.x.replace {
			v, ok := f.b.AppendValue(f.scratch[:0], col, i)
			f.scratch = v
			need = ok && !utf8.Valid(v)
		}
		if need {
			v, ok := f.b.AppendValue(f.scratch[:0], col, i)
			f.scratch = v
			if ok {
				appendString(l, v)
				l.added(1)
				continue
			}
		}
		l.nulls(1)
	}
}

// multiCells appends all cells of rows [from, to) of a multi-cell column.
func (f *filler) multiCells(c *cellLeaves, m *rowgroup.MultiCells, from, to int) {
	list := c.cells
	repeated := list.children[0]
	part := func(i int) *leaf { return &f.x.leaves[list.parts[i].leaf] }
	for i := from; i < to; i++ {
		first, end, there := m.Row(i)
		d := rowgroup.LiveDeletion
		if there {
			d = m.Deletion(i)
		}
		f.orNull64(c.deletion.time, !d.Live(), []int64{d.MarkedForDeleteAt}, 0)
		f.orNull64(c.deletion.local, !d.Live(), []int64{d.LocalDeletionTime}, 0)
		switch {
		case !there:
			f.x.null(list.node, 0, list.maxDef-1)
			continue
		case first == end:
			f.x.null(list.node, 0, list.maxDef)
			continue
		}
		for k := first; k < end; k++ {
			rep := repeated.maxRep
			if k == first {
				rep = 0
			}
			m.Get(&f.cell, k)
			x := &f.cell
			appendString(part(0), x.Path)
			part(0).level(rep, part(0).maxDef)
			part(1).values.I32 = append(part(1).values.I32, int32(x.State))
			part(1).level(rep, part(1).maxDef)
			own := x.State&rowgroup.CellOwnExpiry != 0
			for j, there := range []bool{x.State&rowgroup.CellOwnTime != 0, own && x.State.Kind() == rowgroup.CellExpiring,
				own || x.State.Kind() == rowgroup.CellTombstone, x.State.Kind() != rowgroup.CellTombstone} {
				l := part(2 + j)
				if !there {
					l.level(rep, l.maxDef-1)
					continue
				}
				switch j {
				case 0:
					l.values.I64 = append(l.values.I64, x.WriteTime)
				case 1:
					l.values.I32 = append(l.values.I32, x.TTL)
				case 2:
					l.values.I64 = append(l.values.I64, x.Expiry)
				default:
					appendString(l, x.Value)
				}
				l.level(rep, l.maxDef)
			}
		}
	}
}

// appendAll appends v to a slice that grows long by small steps.
func appendAll[T any](s []T, v ...T) []T {
	if cap(s)-len(s) < len(v) {
		s = slices.Grow(s, max(len(s), len(v)))
	}
	return append(s, v...)
}
