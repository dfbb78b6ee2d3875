package rowgroup

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/simd"
)

// The order of unfiltereds. Clustering values compare column by column: null
// before everything, whether the column descends or not; zero-length before
// every other value; then by Type.Collate, so that values equal to Cassandra
// (1.0 and 1.00, NaNs) stand at one place, told apart by the next column only.
// A descending column turns the order of its values round, zero-length ones
// included, as a reversed type does.
//
// A row stands at its clustering. A marker stands before (weight -1) or after
// (weight +1) all rows whose clustering begins with its prefix. So where one
// prefix is the beginning of another, the weight of the shorter decides, and
// where they are equal, the weights compare.

// MarkerAt is the marker at position i of the batch, or nil if a row stands
// there.
func (b *Batch) MarkerAt(i int) *Marker {
	m := b.markersFrom(i)
	if m < len(b.markers) && b.markers[m].Row == i {
		return &b.markers[m]
	}
	return nil
}

// markersFrom is the number of markers before position i.
func (b *Batch) markersFrom(i int) int {
	if len(b.markers) == 0 {
		return 0
	}
	return sort.Search(len(b.markers), func(m int) bool { return b.markers[m].Row >= i })
}

// place is where unfiltered i stands: how many clustering values it has, and
// its weight.
func (b *Batch) place(i int) (prefix, weight int) {
	if m := b.MarkerAt(i); m != nil {
		return m.Prefix, m.Kind.weight()
	}
	return b.schema.from[Static] - b.schema.from[Clustering], 0
}

// CompareUnfiltered compares unfiltereds i of a and j of b by their
// clustering, as if both were of one partition: -1, 0 or 1. Batches of equal
// schemas compare. Columns whose type has no order compare by bytes.
func (s *Schema) CompareUnfiltered(a *Batch, i int, b *Batch, j int) int {
	if len(a.markers) == 0 && len(b.markers) == 0 {
		n := s.from[Static] - s.from[Clustering]
		c, _ := s.compareAt(a, i, n, 0, b, j, n, 0)
		return c
	}
	pa, wa := a.place(i)
	pb, wb := b.place(j)
	c, _ := s.compareAt(a, i, pa, wa, b, j, pb, wb)
	return c
}

// compareAt compares two unfiltereds whose places are known. col is the
// column that decided, or -1.
func (s *Schema) compareAt(a *Batch, i, pa, wa int, b *Batch, j, pb, wb int) (c, col int) {
	first := s.from[Clustering]
	for col := first; col < first+min(pa, pb); col++ {
		if c := s.orders[col-first].compare(&s.cols[col], &a.vecs[col], i, &b.vecs[col], j); c != 0 {
			return c, col
		}
	}
	return compareWeights(pa, wa, pb, wb), -1
}

// cellOrder is how the values of a clustering column compare in memory.
type cellOrder struct {
	by   comparison
	desc bool
}

type comparison uint8

const (
	byType comparison = iota // by compareCells
	byInt32
	byInt64
	byBytes
)

func (c *Column) cellOrder() cellOrder {
	o := cellOrder{desc: c.descends()}
	switch class := c.Type.Physical().Class(); {
	case class == ClassInt32:
		o.by = byInt32
	case class == ClassInt64 && !c.Type.unsigned():
		o.by = byInt64
	case class == ClassBytes:
		if k := c.Type.bare().Kind; k == KindText || k == KindASCII || k == KindBlob || k == KindFixed {
			o.by = byBytes
		}
	}
	return o
}

// compare is compareCells, faster where no cell is null or empty.
func (o cellOrder) compare(c *Column, v *vector, i int, w *vector, j int) (r int) {
	if o.by == byType || len(v.Cells) > 0 || len(w.Cells) > 0 {
		return c.compareCells(v, i, w, j)
	}
	switch o.by {
	case byInt32:
		r = cmp.Compare(v.i32[i], w.i32[j])
	case byInt64:
		r = cmp.Compare(v.i64[i], w.i64[j])
	case byBytes:
		r = bytes.Compare(v.str.At(i), w.str.At(j)) // empty before others
	}
	if o.desc {
		return -r
	}
	return r
}

// compareWeights compares places whose common clustering values are equal.
func compareWeights(pa, wa, pb, wb int) int {
	switch {
	case pa < pb:
		return wa
	case pa > pb:
		return -wb
	}
	return cmp.Compare(wa, wb)
}

// compareCells compares values i of v and j of w, both of clustering column c.
func (c *Column) compareCells(v *vector, i int, w *vector, j int) (r int) {
	x, y := v.presence(i), w.presence(j)
	switch {
	case x == isNull || y == isNull:
		return cmp.Compare(x, y)
	case x != isValue || y != isValue:
		r = c.Type.direction(cmp.Compare(x, y))
	case v.class == ClassInt64:
		r = cmp.Compare(v.i64[i], w.i64[j])
		if (v.i64[i]^w.i64[j]) < 0 && c.Type.unsigned() {
			r = -r
		}
		r = c.Type.direction(r)
	case v.class == ClassInt32:
		r = c.Type.direction(cmp.Compare(v.i32[i], w.i32[j]))
	case v.class == ClassFloat64:
		r = c.Type.direction(collateFloat64(v.f64[i], w.f64[j]))
	case v.class == ClassFloat32:
		r = c.Type.direction(collateFloat32(v.f32[i], w.f32[j]))
	default:
		r = c.Type.Collate(v.str.At(i), w.str.At(j))
	}
	if c.Desc {
		return -r
	}
	return r
}

// descends reports whether greater values of c come first.
func (c *Column) descends() bool { return c.Desc != (c.Type.direction(1) < 0) }

// presence says what a clustering column holds at a position, in the order of
// the order.
type presence int

const (
	isNull presence = iota
	isEmpty
	isValue
)

func (v *vector) presence(i int) presence {
	if len(v.Cells) > 0 {
		switch c := v.Cells[i]; {
		case c.Kind() == CellAbsent:
			return isNull
		case c&CellEmpty != 0:
			return isEmpty
		}
	}
	if v.class == ClassBytes && len(v.str.At(i)) == 0 {
		return isEmpty
	}
	return isValue
}

// serialised is value i of clustering column v of type t in its serialised
// bytes, in buf or aliasing the batch; nil is null.
func (v *vector) serialised(buf *[8]byte, t Type, i int) []byte {
	switch v.presence(i) {
	case isNull:
		return nil
	case isEmpty:
		return buf[:0]
	}
	switch v.class {
	case ClassInt32:
		return AppendInt(buf[:0], t, int64(v.i32[i]))
	case ClassInt64:
		return AppendInt(buf[:0], t, v.i64[i])
	case ClassFloat32:
		return AppendFloat32(buf[:0], v.f32[i])
	case ClassFloat64:
		return AppendFloat64(buf[:0], v.f64[i])
	}
	return v.str.At(i)
}

// compareBytes compares serialised clustering values of column c; nil is null.
func (c *Column) compareBytes(x, y []byte) int {
	if x == nil || y == nil {
		switch {
		case x != nil:
			return 1
		case y != nil:
			return -1
		}
		return 0
	}
	if c.Desc {
		return c.Type.Collate(y, x)
	}
	return c.Type.Collate(x, y)
}

// Position is the place of an unfiltered in its partition, kept apart from any
// batch.
type Position struct {
	Prefix [][]byte // clustering values in serialised bytes; nil is null, empty a zero-length value
	Weight int      // -1 before, 1 after the rows with this prefix; 0 at the row that has it
}

// AppendPosition appends the place of unfiltered i of b in this form, which
// tells its own length:
//
//	head    uvarint   3 x number of clustering values + weight + 1
//	values  each      uvarint: 0 for null, else 1 + length; the serialised bytes
func (s *Schema) AppendPosition(dst []byte, b *Batch, i int) []byte {
	prefix, weight := b.place(i)
	dst = binary.AppendUvarint(dst, uint64(3*prefix+weight+1))
	first := s.from[Clustering]
	var buf [8]byte
	for col := first; col < first+prefix; col++ {
		x := b.vecs[col].serialised(&buf, s.cols[col].Type, i)
		if x == nil {
			dst = append(dst, 0)
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(len(x))+1)
		dst = append(dst, x...)
	}
	return dst
}

// ParsePosition reads what AppendPosition wrote and returns what follows it.
// The position aliases src.
func ParsePosition(s *Schema, src []byte) (p Position, rest []byte, err error) {
	const part = "clustering position"
	columns := s.from[Static] - s.from[Clustering]
	head, n := binary.Uvarint(src)
	if n <= 0 || head >= uint64(3*(columns+1)) {
		return p, nil, encoding.Corruptf(part, "its head is cut or has more than %d values", columns)
	}
	rest = src[n:]
	prefix := int(head / 3)
	p.Weight = int(head%3) - 1
	if p.Weight == 0 && prefix < columns {
		return p, nil, encoding.Corruptf(part, "a row with %d of %d clustering values", prefix, columns)
	}
	if prefix > 0 {
		p.Prefix = make([][]byte, prefix)
	}
	for i := range p.Prefix {
		l, n := binary.Uvarint(rest)
		if n <= 0 || l > uint64(len(rest)-n)+1 {
			return p, nil, encoding.Corruptf(part, "value %d is cut", i)
		}
		rest = rest[n:]
		if l > 0 {
			p.Prefix[i] = rest[: l-1 : l-1]
			rest = rest[l-1:]
		}
	}
	return p, rest, nil
}

// ComparePosition compares the place of unfiltered i of b with p: -1, 0 or 1.
func (s *Schema) ComparePosition(b *Batch, i int, p *Position) int {
	prefix, weight := b.place(i)
	c, _ := s.compareToPosition(b, i, prefix, weight, p.Prefix, p.Weight)
	return c
}

func (s *Schema) compareToPosition(b *Batch, i, pb, wb int, prefix [][]byte, weight int) (c, col int) {
	first := s.from[Clustering]
	var buf [8]byte
	for k := range min(pb, len(prefix)) {
		col := &s.cols[first+k]
		if c := col.compareBytes(b.vecs[first+k].serialised(&buf, col.Type, i), prefix[k]); c != 0 {
			return c, first + k
		}
	}
	return compareWeights(pb, wb, len(prefix), weight), -1
}

// ComparePositions compares p with q: -1, 0 or 1.
func (s *Schema) ComparePositions(p, q *Position) int {
	first := s.from[Clustering]
	for k := range min(len(p.Prefix), len(q.Prefix)) {
		if c := s.cols[first+k].compareBytes(p.Prefix[k], q.Prefix[k]); c != 0 {
			return c
		}
	}
	return compareWeights(len(p.Prefix), p.Weight, len(q.Prefix), q.Weight)
}

// CheckBound says why bound cannot limit a range of this table, or nil: too
// many values, a type without order, a value of another length than its type's.
func (s *Schema) CheckBound(bound Bound) error {
	cols := s.Columns(Clustering)
	if len(bound.Prefix) > len(cols) {
		return fmt.Errorf("a bound of %d values; the table has %d clustering columns", len(bound.Prefix), len(cols))
	}
	for i, x := range bound.Prefix {
		c := &cols[i]
		if !c.Type.Ordered() {
			return fmt.Errorf("column %q, type %s: %w", c.Name, c.Type, errNoOrder)
		}
		n := scalarLen(c.Type.bare())
		if fixed, ok := c.Type.FixedLen(); ok {
			n = fixed
		}
		if n >= 0 && len(x) > 0 && len(x) != n { // null and empty values have a place too
			return fmt.Errorf("column %q: a bound of %d bytes, but a %s has %d", c.Name, len(x), c.Type, n)
		}
	}
	return nil
}

// weight places a bound among rows of equal prefix.
func (b *Bound) weight(isStart bool) int {
	if isStart == b.Inclusive {
		return -1
	}
	return 1
}

// CompareToBound says on which side of a bound unfiltered i of b lies: -1
// before, 1 after, never 0. isStart tells the start of a range (everything
// lies after an open one) from its end (everything lies before an open one);
// the range holds what lies after its start and before its end. A marker
// exactly at the bound lies before it if it only ends a deletion, else after.
func (s *Schema) CompareToBound(b *Batch, i int, bound Bound, isStart bool) int {
	if len(bound.Prefix) == 0 {
		return openBound(isStart)
	}
	prefix, weight := b.place(i)
	c, _ := s.compareToPosition(b, i, prefix, weight, bound.Prefix, bound.weight(isStart))
	if c == 0 {
		if m := b.MarkerAt(i); m != nil && !m.Kind.Opens() {
			return -1
		}
		return 1
	}
	return c
}

func openBound(isStart bool) int {
	if isStart {
		return 1
	}
	return -1
}

// PositionToBound is CompareToBound for a position. It is 0 where p is the
// place of a marker exactly at the bound.
func (s *Schema) PositionToBound(p *Position, bound Bound, isStart bool) int {
	if len(bound.Prefix) == 0 {
		return openBound(isStart)
	}
	return s.ComparePositions(p, &Position{Prefix: bound.Prefix, Weight: bound.weight(isStart)})
}

// SearchBound is the first of unfiltereds [from, to) of b, which are of one
// partition and in order, that lies after the bound, or to.
func (s *Schema) SearchBound(b *Batch, from, to int, bound Bound, isStart bool) int {
	if len(bound.Prefix) == 0 {
		if isStart {
			return from
		}
		return to
	}
	return from + sort.Search(to-from, func(i int) bool {
		return s.CompareToBound(b, from+i, bound, isStart) > 0
	})
}

// OrderError says that rows or partitions do not follow one another in the
// table's order.
type OrderError struct {
	Key       []byte // of the partition, exact bytes
	Partition int    // its position in the batch
	Row       int    // position of the unfiltered in the batch, or -1: it is the partition that is out of order
	Column    string // the clustering column that decides, or ""
	Duplicate bool   // the row occurs twice in a table of unique rows
	text      string
}

func (e *OrderError) Error() string { return e.text }

// OrderChecker checks that batches, one after another, hold the unfiltereds
// of a table in order: partitions in the schema's order, rows and markers of
// each in clustering order (no two rows equal unless the table is a multiset),
// and markers that open and close deletions in turn. Where a type or the order
// of partitions is unknown it accepts the order as found, but no row and no
// partition twice in a row. Cells of multi-cell columns ascend by path. It
// allocates nothing per row.
type OrderChecker struct {
	schema     *Schema
	partitions partitionOrder
	unordered  int   // the first clustering column whose type has no order
	multi      []int // the multi-cell columns

	started  bool
	key      []byte
	deletion Deletion // of the partition
	open     Deletion // the range deletion open after the last unfiltered
	any      bool     // the partition has unfiltereds
	prefix   [][]byte // where the last of them stands
	weight   int
}

// NewOrderChecker makes a checker for tables of schema s.
func NewOrderChecker(s *Schema) *OrderChecker {
	c := &OrderChecker{schema: s, partitions: s.partitionOrder(), open: LiveDeletion}
	c.unordered = s.from[Clustering]
	for c.unordered < s.from[Static] && s.cols[c.unordered].Type.Ordered() {
		c.unordered++
	}
	for col := range s.cols {
		if s.multiCell(col) {
			c.multi = append(c.multi, col)
		}
	}
	return c
}

// Within says that the first batch begins within a range deletion.
func (c *OrderChecker) Within(open Deletion) { c.open = open }

// CheckOrder checks one batch by itself, as an OrderChecker does.
func (s *Schema) CheckOrder(b *Batch) error {
	c := NewOrderChecker(s)
	if err := c.Check(b); err != nil {
		return err
	}
	return c.Finish()
}

// Check checks the next batch, which must have passed Batch.Check. After an
// error the checker is of no more use. The error is an *OrderError.
func (c *OrderChecker) Check(b *Batch) error {
	for p := range b.parts {
		if err := c.beginPartition(b, p); err != nil {
			return err
		}
		from, to := b.PartitionRows(p)
		if err := c.cells(b, p, from, to); err != nil {
			return err
		}
		if from == to {
			continue
		}
		if c.any {
			prefix, weight := b.place(from)
			r, col := c.schema.compareToPosition(b, from, prefix, weight, c.prefix, c.weight)
			if !c.follows(r, col, weight) {
				return c.disorder(b, p, from, col, r == 0, c.prefix)
			}
		}
		if err := c.unfiltereds(b, p, from, to); err != nil {
			return err
		}
		if c.any = true; p == len(b.parts)-1 { // another batch may go on with it
			c.remember(b, to-1)
		}
	}
	return nil
}

// Finish says whether the last partition may end here.
func (c *OrderChecker) Finish() error {
	if !c.open.Live() {
		return &OrderError{Key: slices.Clone(c.key), Row: -1,
			text: fmt.Sprintf("%sends within a range deletion: its end marker is missing", c.schema.partitionText(c.key))}
	}
	return nil
}

func (c *OrderChecker) beginPartition(b *Batch, p int) error {
	key, head := b.Key(p), &b.parts[p]
	if c.started && slices.Equal(key, c.key) {
		if p > 0 {
			return &OrderError{Key: slices.Clone(key), Partition: p, Row: -1, Duplicate: true,
				text: c.schema.partitionText(key) + "begins twice in one batch"}
		}
		if head.Continued {
			return nil
		}
		if head.Static != StaticAbsent || !head.Deletion.Live() && head.Deletion != c.deletion {
			return &OrderError{Key: slices.Clone(key), Partition: p, Row: -1, Duplicate: true,
				text: c.schema.partitionText(key) + "begins twice, the second time with a static row or another deletion"}
		}
		return nil
	}
	if c.started {
		if err := c.Finish(); err != nil {
			return err
		}
		if r, ok := c.partitions.compare(c.key, key); ok && r >= 0 {
			return &OrderError{Key: slices.Clone(key), Partition: p, Row: -1, text: fmt.Sprintf(
				"%sstands after %sbut the order of partitions is %q", c.schema.partitionText(key), c.schema.partitionText(c.key), c.schema.order)}
		}
	}
	c.started, c.any, c.deletion = true, false, head.Deletion
	c.key = append(c.key[:0], key...)
	return nil
}

// follows reports whether an unfiltered of this weight may follow one that
// compares to it as r, decided by column col.
func (c *OrderChecker) follows(r, col, weight int) bool {
	switch {
	case r == 0:
		return weight == 0 && c.schema.multiset
	case col >= c.unordered:
		return true
	}
	return r > 0
}

// unfiltereds checks [from, to) of b, which are of partition p.
func (c *OrderChecker) unfiltereds(b *Batch, p, from, to int) error {
	s := c.schema
	first, columns := s.from[Clustering], s.from[Static]-s.from[Clustering]
	m := b.markersFrom(from)
	if m == len(b.markers) || b.markers[m].Row >= to {
		if i, ok := c.disorderedInt(b, from, to); ok {
			if i == to {
				return nil
			}
			r := s.cols[first].compareCells(&b.vecs[first], i, &b.vecs[first], i-1)
			return c.disorder(b, p, i, first, r == 0, nil)
		}
	}
	prefix, weight := columns, 0 // of the unfiltered before
	for i := from; i < to; i++ {
		np, nw := columns, 0
		if m < len(b.markers) && b.markers[m].Row == i {
			k := &b.markers[m]
			np, nw = k.Prefix, k.Kind.weight()
			m++
			if err := c.marker(b, p, k); err != nil {
				return err
			}
		}
		if i > from {
			if r, col := s.compareAt(b, i, np, nw, b, i-1, prefix, weight); !c.follows(r, col, nw) {
				return c.disorder(b, p, i, col, r == 0, nil)
			}
		}
		prefix, weight = np, nw
	}
	return nil
}

// disorderedInt is the first of rows [from, to) that does not follow the one
// before, or to, where the only clustering column is one of integers without
// nulls; else ok is false.
func (c *OrderChecker) disorderedInt(b *Batch, from, to int) (i int, ok bool) {
	s := c.schema
	first := s.from[Clustering]
	if s.from[Static] != first+1 || c.unordered == first || len(b.vecs[first].Cells) > 0 {
		return 0, false
	}
	col := &s.cols[first]
	var flip int64 // turns the column's order into that of signed integers
	if col.descends() {
		flip = -1
	}
	switch v := &b.vecs[first]; v.class {
	case ClassInt32:
		return from + disordered(v.i32[from:to], int32(flip), !s.multiset), true
	case ClassInt64:
		if col.Type.unsigned() {
			flip ^= -1 << 63
		}
		return from + disordered(v.i64[from:to], flip, !s.multiset), true
	}
	return 0, false
}

// disordered is the position of the first value of v, which is not empty, that
// is less than the one before (or equal, if strict), each with the bits of
// flip turned; or len(v).
func disordered[T int32 | int64](v []T, flip T, strict bool) int {
	ascents := 0
	switch v := any(v).(type) {
	case []int32:
		ascents = simd.Ascents32(v, int32(flip))
	case []int64:
		ascents = simd.Ascents64(v, int64(flip))
	}
	if ascents == len(v)-1 {
		return len(v)
	}
	last := v[0] ^ flip
	for i, x := range v[1:] {
		x ^= flip
		if x < last || strict && x == last {
			return 1 + i
		}
		last = x
	}
	return len(v)
}

func (c *OrderChecker) marker(b *Batch, p int, m *Marker) error {
	var what string
	switch {
	case m.Kind.Closes() && c.open.Live():
		what = "ends a range deletion where none is open"
	case m.Kind.Closes() && m.Close != c.open:
		what = "ends another range deletion than the one that is open"
	case !m.Kind.Closes() && !c.open.Live():
		what = "begins a range deletion where one is open"
	case m.Kind.Opens() && m.Open.Live():
		what = "begins a range deletion that deletes nothing"
	default:
		c.open = LiveDeletion
		if m.Kind.Opens() {
			c.open = m.Open
		}
		return nil
	}
	return &OrderError{Key: slices.Clone(b.Key(p)), Partition: p, Row: m.Row,
		text: fmt.Sprintf("%srow %d: the marker %s", c.schema.partitionText(b.Key(p)), m.Row, what)}
}

// remember keeps where unfiltered i of b stands.
func (c *OrderChecker) remember(b *Batch, i int) {
	prefix, weight := b.place(i)
	c.weight = weight
	first := c.schema.from[Clustering]
	kept := c.prefix[:cap(c.prefix)]
	for len(kept) < prefix {
		kept = append(kept, nil)
	}
	var buf [8]byte
	for k := range prefix {
		x := b.vecs[first+k].serialised(&buf, c.schema.cols[first+k].Type, i)
		if x == nil {
			kept[k] = nil
			continue
		}
		kept[k] = append(kept[k][:0], x...)
		if kept[k] == nil {
			kept[k] = []byte{}
		}
	}
	c.prefix = kept[:prefix]
}

// disorder is the error for unfiltered i of partition p, which does not follow
// the one before: the batch's, or the one at before. col decided.
func (c *OrderChecker) disorder(b *Batch, p, i, col int, duplicate bool, before [][]byte) error {
	s := c.schema
	e := &OrderError{Key: slices.Clone(b.Key(p)), Partition: p, Row: i, Duplicate: duplicate}
	this := s.clusteringOf(b, i)
	text := fmt.Sprintf("%srow %d: %s", s.partitionText(e.Key), i, s.clusteringText(this))
	if duplicate {
		e.text = text + " occurs twice, but rows of the table are unique"
		return e
	}
	if before == nil {
		before = s.clusteringOf(b, i-1)
	}
	text += " stands after " + s.clusteringText(before)
	if col >= 0 {
		e.Column = s.cols[col].Name
		direction := "ascend"
		if s.cols[col].descends() {
			direction = "descend"
		}
		text += fmt.Sprintf(", but rows %s by column %q", direction, e.Column)
	}
	e.text = text
	return e
}

// clusteringOf is a copy of the clustering values of unfiltered i of b.
func (s *Schema) clusteringOf(b *Batch, i int) [][]byte {
	prefix, _ := b.place(i)
	first := s.from[Clustering]
	values := make([][]byte, prefix)
	for k := range values {
		if x := b.vecs[first+k].serialised(new([8]byte), s.cols[first+k].Type, i); x != nil {
			values[k] = append([]byte{}, x...)
		}
	}
	return values
}

// clusteringText writes clustering values for a person.
func (s *Schema) clusteringText(values [][]byte) string {
	return s.valuesText(Clustering, values)
}

// partitionText names a partition at the beginning of a message. It is "" for
// the partition of a table without partition key.
func (s *Schema) partitionText(key []byte) string {
	types := s.KeyTypes()
	if len(types) == 0 {
		return ""
	}
	values, err := SplitKey(types, key)
	if err != nil {
		return fmt.Sprintf("partition 0x%x: ", key)
	}
	return "partition " + s.valuesText(PartitionKey, values) + ": "
}

func (s *Schema) valuesText(r Role, values [][]byte) string {
	var dst []byte
	for k, x := range values {
		if k > 0 {
			dst = append(dst, ", "...)
		}
		col := s.cols[s.from[r]+k]
		dst = append(dst, col.Name...)
		dst = append(dst, " = "...)
		switch {
		case x == nil:
			dst = append(dst, "null"...)
		case len(x) > maxTextBytes:
			dst = AppendText(dst, Blob, x[:maxTextBytes])
			dst = append(dst, "..."...)
		default:
			dst = AppendText(dst, col.Type, x)
		}
	}
	if len(dst) == 0 {
		return "the row"
	}
	return string(dst)
}

// maxTextBytes is how much of a value a message shows.
const maxTextBytes = 64
