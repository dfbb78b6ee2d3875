package rowgroup

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bytestrings"
	"github.com/colsst/colsst/simd"
)

// AppendRange appends unfiltereds [from, to) of src, which has the same
// schema, with the partitions that begin in that range; rows before the first
// of them continue b's last partition. Partitions of src that begin at to are
// appended only where to is the end of src and the range is src's last. A
// partition that src continues is joined to b's last one if that has its key.
// The data is copied. It fails, with b undefined, where a column of byte
// strings would pass 4 GiB.
func (b *Batch) AppendRange(src *Batch, from, to int) error {
	p := 0
	for p < len(src.parts) && src.parts[p].Start < from {
		p++
	}
	q := p
	for q < len(src.parts) && (src.parts[q].Start < to || to == src.Len()) {
		q++
	}
	return b.AppendParts(src, from, to, p, q)
}

// AppendParts appends unfiltereds [from, to) and partitions [fromPart, toPart)
// of src, which begin in that range, as AppendRange does.
func (b *Batch) AppendParts(src *Batch, from, to, fromPart, toPart int) error {
	at, atPart := b.Len(), len(b.parts)
	if fromPart < toPart && atPart > 0 && src.parts[fromPart].Continued && bytes.Equal(src.Key(fromPart), b.Key(atPart-1)) {
		fromPart++
	}
	if err := b.keys.AppendFrom(&src.keys, fromPart, toPart); err != nil {
		return err
	}
	for p := fromPart; p < toPart; p++ {
		h := src.parts[p]
		h.Start += at - from
		b.parts = append(b.parts, h)
	}
	n := src.Len()
	for i := b.schema.from[Clustering]; i < len(b.vecs); i++ {
		var err error
		if b.schema.Role(i) == Static {
			err = b.vecs[i].appendRange(&src.vecs[i], atPart, fromPart, toPart, len(src.parts))
		} else {
			err = b.vecs[i].appendRange(&src.vecs[i], at, from, to, n)
		}
		if err != nil {
			return fmt.Errorf("column %q: %w", b.schema.cols[i].Name, err)
		}
	}
	b.meta.appendRange(&src.meta, at, from, to)
	b.static.appendRange(&src.static, atPart, fromPart, toPart)
	for _, m := range between(src.markers, from, to, markerRow) {
		m.Row += at - from
		b.markers = append(b.markers, m)
	}
	if b.Len() != at+to-from {
		b.n = at + to - from
	}
	return nil
}

func markerRow(m *Marker) int        { return m.Row }
func deletionRow(d *RowDeletion) int { return d.Row }
func exceptionRow(e *Exception) int  { return e.Row }

// between is the part of s, which ascends by row, in rows [from, to).
func between[T any](s []T, from, to int, row func(*T) int) []T {
	i := sort.Search(len(s), func(i int) bool { return row(&s[i]) >= from })
	s = s[i:]
	return s[:sort.Search(len(s), func(i int) bool { return row(&s[i]) >= to })]
}

// appendAligned appends src[from:to] to dst, which stands for n values. An
// empty slice stands for zeros.
func appendAligned[T any](dst, src []T, n, from, to int) []T {
	if len(src) == 0 {
		if len(dst) == 0 {
			return dst
		}
		return growZero(dst, n+to-from)
	}
	return append(growZero(dst, n), src[from:to]...)
}

// growZero makes s n long, with zeros.
func growZero[T any](s []T, n int) []T {
	if n <= len(s) {
		return s
	}
	at := len(s)
	s = slices.Grow(s, n-at)[:n]
	clear(s[at:])
	return s
}

// appendRange appends values [from, to) of o, which holds no values at all or
// n of them, to v, which stands for at values.
func (v *vector) appendRange(o *vector, at, from, to, n int) error {
	if v.multi != nil {
		return v.multi.appendRange(o.multi, at, from, to)
	}
	if len(v.Cells) == 0 && v.len() < at { // never filled: all absent
		v.Cells = absent(at)
	}
	if o.len() < n { // every cell is without a value
		if len(o.Cells) == 0 {
			o = &vector{class: v.class, CellMeta: CellMeta{Cells: absent(n)}} // never filled: all absent
		}
		if err := v.pad(at + to - from); err != nil {
			return err
		}
	} else {
		if err := v.pad(at); err != nil {
			return err
		}
		switch v.class {
		case ClassInt32:
			v.i32 = append(v.i32, o.i32[from:to]...)
		case ClassInt64:
			v.i64 = append(v.i64, o.i64[from:to]...)
		case ClassFloat32:
			v.f32 = append(v.f32, o.f32[from:to]...)
		case ClassFloat64:
			v.f64 = append(v.f64, o.f64[from:to]...)
		case ClassBytes:
			if err := v.str.AppendFrom(&o.str, from, to); err != nil {
				return err
			}
		}
	}
	v.Cells = appendAligned(v.Cells, o.Cells, at, from, to)
	v.WriteTimes = appendAligned(v.WriteTimes, o.WriteTimes, at, from, to)
	v.TTLs = appendAligned(v.TTLs, o.TTLs, at, from, to)
	v.Expiries = appendAligned(v.Expiries, o.Expiries, at, from, to)
	for _, e := range between(o.Exceptions, from, to, exceptionRow) {
		v.Exceptions = append(v.Exceptions, Exception{Row: e.Row + at - from, Value: slices.Clone(e.Value)})
	}
	return nil
}

// absent is the states of n cells that are not there.
func absent(n int) []Cell {
	c := make([]Cell, n)
	for i := range c {
		c[i] = CellAbsent
	}
	return c
}

// pad makes v n values long.
func (v *vector) pad(n int) error {
	switch v.class {
	case ClassInt32:
		v.i32 = growZero(v.i32, n)
	case ClassInt64:
		v.i64 = growZero(v.i64, n)
	case ClassFloat32:
		v.f32 = growZero(v.f32, n)
	case ClassFloat64:
		v.f64 = growZero(v.f64, n)
	case ClassBytes:
		for v.str.Len() < n {
			if err := v.str.Append(nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *RowMeta) appendRange(o *RowMeta, at, from, to int) {
	m.Liveness = appendAligned(m.Liveness, o.Liveness, at, from, to)
	m.WriteTimes = appendAligned(m.WriteTimes, o.WriteTimes, at, from, to)
	m.TTLs = appendAligned(m.TTLs, o.TTLs, at, from, to)
	m.Expiries = appendAligned(m.Expiries, o.Expiries, at, from, to)
	for _, d := range between(o.Deletions, from, to, deletionRow) {
		d.Row += at - from
		m.Deletions = append(m.Deletions, d)
	}
}

// Clone is a copy that shares nothing with b.
func (b *Batch) Clone() *Batch {
	c := NewBatch(b.schema)
	c.clear()
	if err := c.AppendParts(b, 0, b.Len(), 0, len(b.parts)); err != nil {
		panic(err) // b holds as much
	}
	return c
}

// Reverse turns the order of the unfiltereds and of the partitions round, in
// place. Markers keep their kinds: read backwards, an end comes before its
// start.
func (b *Batch) Reverse() {
	n := b.Len()
	if n <= 1 && len(b.parts) <= 1 {
		return
	}
	for i := range b.vecs {
		m := n
		if b.schema.Role(i) == Static {
			m = len(b.parts)
		}
		b.vecs[i].reverse(m)
	}
	b.meta.reverse(n)
	b.static.reverse(len(b.parts))
	slices.Reverse(b.markers)
	for i := range b.markers {
		b.markers[i].Row = n - 1 - b.markers[i].Row
	}
	end := n
	for p := len(b.parts) - 1; p >= 0; p-- {
		start := b.parts[p].Start
		b.parts[p].Start = n - end
		end = start
	}
	slices.Reverse(b.parts)
	b.keys.Reverse()
}

func (v *vector) reverse(n int) {
	if v.multi != nil {
		v.multi.reverse()
		return
	}
	slices.Reverse(v.i32)
	slices.Reverse(v.i64)
	slices.Reverse(v.f32)
	slices.Reverse(v.f64)
	v.str.Reverse()
	slices.Reverse(v.Cells)
	slices.Reverse(v.WriteTimes)
	slices.Reverse(v.TTLs)
	slices.Reverse(v.Expiries)
	slices.Reverse(v.Exceptions)
	for i := range v.Exceptions {
		v.Exceptions[i].Row = n - 1 - v.Exceptions[i].Row
	}
}

func (m *RowMeta) reverse(n int) {
	slices.Reverse(m.Liveness)
	slices.Reverse(m.WriteTimes)
	slices.Reverse(m.TTLs)
	slices.Reverse(m.Expiries)
	slices.Reverse(m.Deletions)
	for i := range m.Deletions {
		m.Deletions[i].Row = n - 1 - m.Deletions[i].Row
	}
}

// Check says whether the batch keeps the rules: slices of one length, known
// states, positions that ascend, metadata where states need it, limits of the
// format. Writers call it on every batch.
func (b *Batch) Check() error {
	n := b.Len()
	if len(b.parts) == 0 && n > 0 {
		return errors.New("rows before the first partition")
	}
	for p := range b.parts {
		h := &b.parts[p]
		end := n
		if p+1 < len(b.parts) {
			end = b.parts[p+1].Start
		}
		if h.Start > end || p == 0 && h.Start != 0 {
			return fmt.Errorf("partition %d begins at row %d", p, h.Start)
		}
		if h.Static > StaticFull {
			return fmt.Errorf("partition %d: static state %d", p, h.Static)
		}
		if l := len(b.keys.At(p)); l > encoding.MaxKeyBytes {
			return fmt.Errorf("partition %d: key of %d bytes; the limit is %d", p, l, encoding.MaxKeyBytes)
		}
	}
	last := -1
	nc := len(b.schema.Columns(Clustering))
	for _, m := range b.markers {
		if m.Row <= last || m.Row >= n || !m.Kind.valid() || m.Prefix < 0 || m.Prefix > nc {
			return fmt.Errorf("range tombstone marker at row %d of %d: kind %d, prefix %d", m.Row, n, m.Kind, m.Prefix)
		}
		last = m.Row
	}
	// A cell can be as its row only where the row has a liveness.
	bare, err := b.meta.check("row", n)
	if err != nil {
		return err
	}
	bareStatics, err := b.static.check("static row", len(b.parts))
	if err != nil {
		return err
	}
	for i := b.schema.from[Clustering]; i < len(b.vecs); i++ {
		err := b.checkColumn(i, n)
		switch role := b.schema.Role(i); {
		case err != nil:
		case bareStatics && role == Static:
			err = b.checkBare(i, &b.static, "static row")
		case bare && role == Regular:
			err = b.checkBare(i, &b.meta, "row")
		}
		if err != nil {
			return fmt.Errorf("column %q: %w", b.schema.cols[i].Name, err)
		}
	}
	return nil
}

// isMarker reports whether unfiltered i is a marker.
func (b *Batch) isMarker(i int) bool {
	_, found := slices.BinarySearchFunc(b.markers, i, func(m Marker, i int) int { return m.Row - i })
	return found
}

func alignedTo(what string, l, n int) error {
	if l != 0 && l != n {
		return fmt.Errorf("%d %s for %d", l, what, n)
	}
	return nil
}

// check checks the metadata of n rows and reports whether one has no liveness.
func (m *RowMeta) check(what string, n int) (bare bool, err error) {
	for _, e := range []error{
		alignedTo("liveness states", len(m.Liveness), n),
		alignedTo("write times", len(m.WriteTimes), n),
		alignedTo("TTLs", len(m.TTLs), n),
		alignedTo("expiries", len(m.Expiries), n),
	} {
		if e != nil {
			return false, fmt.Errorf("%s metadata: %w", what, e)
		}
	}
	live := m.Liveness
	if len(live) > 0 && uniform(live) {
		live = live[:1]
	}
	for i, l := range live {
		if l > LivenessExpired {
			return false, fmt.Errorf("%s %d: liveness %d", what, i, l)
		}
		bare = bare || l == LivenessNone
	}
	last := -1
	for _, d := range m.Deletions {
		if d.Row <= last || d.Row >= n {
			return false, fmt.Errorf("%s deletion at %d of %d", what, d.Row, n)
		}
		last = d.Row
	}
	return bare, nil
}

// checkColumn checks column col of n unfiltereds.
func (b *Batch) checkColumn(col, n int) error {
	v, role, what := &b.vecs[col], b.schema.Role(col), "row"
	if role == Static {
		n, what = len(b.parts), "static row"
	}
	if v.multi != nil {
		if v.str.Len() > 0 || len(v.Cells) > 0 {
			return errors.New("single values in a multi-cell column")
		}
		return v.multi.check(n, what, func(i int) bool {
			if role == Static {
				return b.parts[i].Static != StaticFull
			}
			return b.isMarker(i)
		})
	}
	if v.len() == 0 && len(v.Cells) == 0 && role == Static {
		return nil // never filled: all absent
	}
	if err := v.check(n, what, role == Clustering); err != nil {
		return err
	}
	if err := b.checkRange(col, what); err != nil {
		return err
	}
	if role == Static {
		for p := range b.parts {
			if b.parts[p].Static != StaticFull && b.Cell(col, p) != CellAbsent {
				return fmt.Errorf("partition %d has a static cell, but its head's Static is not StaticFull", p)
			}
		}
	}
	return checkLengths(&v.str, what)
}

// checkLengths checks the length of each string.
func checkLengths(s *bytestrings.Strings, what string) error {
	if len(s.Data) <= encoding.MaxValueBytes {
		return nil
	}
	for i := range s.Len() {
		if l := len(s.At(i)); l > encoding.MaxValueBytes {
			return fmt.Errorf("%s %d: value of %d bytes; the limit is %d", what, i, l, encoding.MaxValueBytes)
		}
	}
	return nil
}

// check checks the values and states of n cells.
func (v *vector) check(n int, what string, clustering bool) error {
	l := v.len()
	if l != n && l != 0 {
		return fmt.Errorf("%d values for %d of %s", l, n, what)
	}
	for _, e := range []error{
		alignedTo("cell states", len(v.Cells), n),
		alignedTo("write times", len(v.WriteTimes), n),
		alignedTo("TTLs", len(v.TTLs), n),
		alignedTo("expiries", len(v.Expiries), n),
	} {
		if e != nil {
			return e
		}
	}
	exc, cells := 0, v.Cells
	if l > 0 && union(cells) <= CellAbsent {
		cells = nil // as their rows or absent: nothing to check
	}
	for i, c := range cells {
		k := c.Kind()
		switch {
		case c >= 0x80 || k > CellTombstone:
			return fmt.Errorf("%s %d: cell state %#x", what, i, c)
		case clustering && c != CellAsRow && c != CellAbsent && c != CellEmpty:
			return fmt.Errorf("%s %d: clustering state %#x", what, i, c)
		case c&CellOwnTime != 0 && len(v.WriteTimes) == 0,
			c&CellOwnExpiry != 0 && (len(v.Expiries) == 0 || k == CellExpiring && len(v.TTLs) == 0),
			k == CellTombstone && len(v.Expiries) == 0:
			return fmt.Errorf("%s %d: cell state %#x without its metadata", what, i, c)
		case k == CellAbsent && c != CellAbsent, k == CellAsRow && c&(CellOwnTime|CellOwnExpiry) != 0,
			k == CellLive && c&CellOwnExpiry != 0, c&CellEmpty != 0 && c&CellException != 0:
			return fmt.Errorf("%s %d: cell state %#x contradicts itself", what, i, c)
		case c.HasValue() && l == 0:
			return fmt.Errorf("%s %d has no value", what, i)
		case c&CellException != 0:
			if exc >= len(v.Exceptions) || v.Exceptions[exc].Row != i {
				return fmt.Errorf("%s %d: exception value missing", what, i)
			}
			if len(v.Exceptions[exc].Value) > encoding.MaxValueBytes {
				return fmt.Errorf("%s %d: value of %d bytes; the limit is %d", what, i, len(v.Exceptions[exc].Value), encoding.MaxValueBytes)
			}
			exc++
		}
	}
	if exc != len(v.Exceptions) {
		return fmt.Errorf("%d exception values, %d cells with one", len(v.Exceptions), exc)
	}
	if len(v.Cells) == 0 && l != n {
		return fmt.Errorf("no values for %d of %s", n, what)
	}
	return nil
}

// checkBare checks the cells of column col in rows without a liveness.
func (b *Batch) checkBare(col int, meta *RowMeta, what string) error {
	v := &b.vecs[col]
	if v.multi != nil {
		return v.multi.checkBare(meta, what)
	}
	if v.len() == 0 && len(v.Cells) == 0 {
		return nil // a static column, never filled: all absent
	}
	for i, l := range meta.Liveness {
		if l != LivenessNone || col >= b.schema.from[Regular] && b.isMarker(i) {
			continue
		}
		if c := b.Cell(col, i); c.Kind() == CellAsRow || c.Kind() != CellAbsent && c&CellOwnTime == 0 {
			return fmt.Errorf("%s %d has no liveness, but its cell has no write time of its own", what, i)
		}
	}
	return nil
}

// checkRange says which value of column col lies outside its type, which is
// narrower than its slice.
func (b *Batch) checkRange(col int, what string) error {
	role, hint := b.schema.Role(col), ""
	if role != Clustering {
		hint = "; CellException keeps what its type cannot hold"
	}
	return b.vecs[col].checkRange(&b.schema.cols[col].Type, what, func(i int) bool {
		if !b.Cell(col, i).HasValue() {
			return true
		}
		m := b.MarkerAt(i)
		return m != nil && role != Static && (role == Regular || m.Prefix <= col-b.schema.from[Clustering])
	}, hint)
}

// checkRange says which value lies outside type t; those that ignored names are
// none.
func (v *vector) checkRange(t *Type, what string, ignored func(i int) bool, hint string) error {
	from, to := t.bare().intRange()
	at, x := -1, int64(0)
	switch v.class {
	case ClassInt32:
		if from > math.MinInt32 || to < math.MaxInt32 {
			at, x = outside(v.i32, int32(from), int32(to), simd.MinMaxInt32, ignored)
		}
	case ClassInt64:
		if from > math.MinInt64 || to < math.MaxInt64 {
			at, x = outside(v.i64, from, to, simd.MinMaxInt64, ignored)
		}
	}
	if at >= 0 {
		return fmt.Errorf("%s %d: %d is no %s%s", what, at, x, t, hint)
	}
	return nil
}

// outside finds a value outside of from to to that is not ignored; none is at -1.
func outside[T int32 | int64](values []T, from, to T, extremes func([]T) (T, T), ignored func(int) bool) (at int, x int64) {
	if len(values) == 0 {
		return -1, 0
	}
	if least, greatest := extremes(values); least >= from && greatest <= to {
		return -1, 0
	}
	for i, x := range values {
		if (x < from || x > to) && !ignored(i) {
			return i, int64(x)
		}
	}
	return -1, 0
}
