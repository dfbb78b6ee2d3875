package rowgroup

import (
	"bytes"
	"encoding/binary"
	"math"
	"sort"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bytestrings"
	"github.com/colsst/colsst/simd"
)

// MaxBoundBytes is the greatest length of a minimum or maximum of byte strings
// in Stats. Longer ones are cut.
const MaxBoundBytes = 64

// MinMax is the least and greatest of some integers. The zero value is of
// none.
type MinMax struct {
	Min, Max int64
	Set      bool // there was one
}

func (m *MinMax) add(v int64) {
	if !m.Set {
		*m = MinMax{v, v, true}
		return
	}
	m.Min, m.Max = min(m.Min, v), max(m.Max, v)
}

// addAll adds v, which is not empty.
func (m *MinMax) addAll(v []int64) {
	lo, hi := simd.MinMaxInt64(v)
	m.add(lo)
	m.add(hi)
}

// addRows adds v[from:to], not none, of an aligned slice.
func (m *MinMax) addRows(v []int64, from, to int) {
	if len(v) == 0 {
		m.add(0)
		return
	}
	m.addAll(v[from:to])
}

func (m *MinMax) merge(o MinMax) {
	if o.Set {
		m.add(o.Min)
		m.add(o.Max)
	}
}

// Stats are exact statistics of some unfiltereds and partitions of a table.
// What is counted is what is stored: rows that are deleted or have expired
// count as well. A Stats keeps nothing of the batches it was given.
type Stats struct {
	Rows               int64
	Markers            int64 // range tombstone markers
	Partitions         int64 // that begin here
	PartitionDeletions int64
	RowDeletions       int64
	Tombstones         int64  // deleted cells, complex deletions, and markers of an expired liveness
	Expiring           int64  // rows and cells with an expiry of their own
	WriteTimes         MinMax // µs, of rows, cells and deletions of every kind
	Expiries           MinMax // s, of rows and cells
	LocalDeletions     MinMax // s, when deletions and tombstones were made

	schema  *Schema
	cols    []columnStats // from the first clustering column on
	encoded bool          // addChunk is told the texts of regular columns
}

// ColumnStats are the statistics of one column: of the cells of all rows, or
// of all partitions for a static column. The rows of a multi-cell column count
// as one cell each, deleted unless it has a cell that is no tombstone; it has no
// bounds.
type ColumnStats struct {
	Values     int64 // cells with a value, the three kinds below included
	Nulls      int64 // cells absent or deleted
	NaNs       int64
	Empties    int64 // zero-length values of a type of fixed length
	Exceptions int64 // values that the column's type cannot hold
	// The least and greatest of the other values, in serialised bytes, by the
	// order of the type, or of the type under reversed and frozen; -0.0 is less
	// than 0.0. Nil if there is none, or where the type has no order.
	Min, Max []byte
	// Byte strings over MaxBoundBytes are cut: then Min is a lower bound and Max
	// an upper bound of the values, or nil if there is no short one.
	MinCut, MaxCut bool
}

// columnStats gathers the statistics of one column.
type columnStats struct {
	typ   *Type // bare
	class Class
	form  boundForm
	flip  int64 // of integers: turns their order into that of int64

	nulls, nans, empties, exceptions int64

	set     bool // lo and hi hold the bounds of numbers, as keys
	lo, hi  int64
	least   bound
	most    bound
	texts   extremes // of the cells at hand, under prefixBounds
	encoded bool     // addChunk is told these
}

// boundForm says how a column's bounds are kept.
type boundForm uint8

const (
	noBounds     boundForm = iota
	intBounds              // keys: the integer with flip
	floatBounds            // keys: bits that order as the floats do
	prefixBounds           // byte strings ordered by their bytes: a prefix is a bound
	wholeBounds            // byte strings in another order: long ones have no bound
)

// bound is one bound of byte strings.
type bound struct {
	state boundState
	value []byte
}

type boundState uint8

const (
	boundNone    boundState = iota // no value so far
	boundExact                     // a value
	boundCut                       // beyond a value that is too long
	boundDropped                   // there is a value that nothing short bounds
)

// NewStats makes empty statistics of a table.
func NewStats(s *Schema) *Stats {
	st := &Stats{schema: s, cols: make([]columnStats, s.NumColumns()-s.from[Clustering])}
	for i := range st.cols {
		t := s.cols[s.from[Clustering]+i].Type.bare()
		c := &st.cols[i]
		c.typ, c.class = t, t.Physical().Class()
		switch {
		case !t.Ordered() || s.multiCell(s.from[Clustering]+i):
		case c.class == ClassInt32, c.class == ClassInt64:
			c.form = intBounds
			if t.unsigned() {
				c.flip = math.MinInt64
			}
		case c.class == ClassFloat32, c.class == ClassFloat64:
			c.form = floatBounds
		default:
			c.form = wholeBounds
			switch t.Kind {
			case KindText, KindASCII, KindBlob, KindFixed:
				c.form = prefixBounds
			}
		}
	}
	return st
}

// Reset empties st and keeps its memory.
func (st *Stats) Reset() {
	cols := st.cols
	for i := range cols {
		c := &cols[i]
		*c = columnStats{typ: c.typ, class: c.class, form: c.form, flip: c.flip,
			least: bound{value: c.least.value[:0]}, most: bound{value: c.most.value[:0]},
			texts: extremes{lo: c.texts.lo, hi: c.texts.hi}}
	}
	*st = Stats{schema: st.schema, cols: cols}
}

// Add counts unfiltereds [fromRow, toRow) and partitions [fromPart, toPart) of
// b, which has the statistics' schema and passed Check. Partitions that go on
// from an earlier batch count for nothing.
func (st *Stats) Add(b *Batch, fromRow, toRow, fromPart, toPart int) {
	for p := fromPart; p < toPart; p++ {
		st.addPartition(b, p)
	}
	i := fromRow
	for m := b.markersFrom(fromRow); m < len(b.markers) && b.markers[m].Row < toRow; m++ {
		k := &b.markers[m]
		st.addRows(b, i, k.Row)
		i = k.Row + 1
		st.Markers++
		if k.Kind.Closes() {
			st.addDeletion(k.Close)
		}
		if k.Kind.Opens() {
			st.addDeletion(k.Open)
		}
	}
	st.addRows(b, i, toRow)
	deletions := b.meta.Deletions
	for d := sort.Search(len(deletions), func(d int) bool { return deletions[d].Row >= fromRow }); d < len(deletions) && deletions[d].Row < toRow; d++ {
		st.RowDeletions++
		st.addDeletion(deletions[d].Deletion)
	}
}

func (st *Stats) addDeletion(d Deletion) {
	if !d.Live() {
		st.WriteTimes.add(d.MarkedForDeleteAt)
		st.LocalDeletions.add(d.LocalDeletionTime)
	}
}

func (st *Stats) addPartition(b *Batch, p int) {
	head := &b.parts[p]
	if head.Continued {
		return
	}
	st.Partitions++
	if !head.Deletion.Live() {
		st.PartitionDeletions++
		st.addDeletion(head.Deletion)
	}
	first := st.schema.from[Clustering]
	from, to := st.schema.Range(Static)
	if head.Static != StaticFull {
		for col := from; col < to; col++ {
			st.cols[col-first].nulls++
		}
		return
	}
	st.addMeta(&b.static, p, p+1)
	for _, d := range b.static.Deletions {
		if d.Row == p {
			st.RowDeletions++
			st.addDeletion(d.Deletion)
		}
	}
	for col := from; col < to; col++ {
		st.addCells(&b.vecs[col], &b.static, p, p+1)
		st.cols[col-first].add(&b.vecs[col], p, p+1)
	}
}

// addRows counts unfiltereds [from, to), all of them rows.
func (st *Stats) addRows(b *Batch, from, to int) {
	if from >= to {
		return
	}
	st.Rows += int64(to - from)
	st.addMeta(&b.meta, from, to)
	first := st.schema.from[Clustering]
	for col := first; col < st.schema.from[Static]; col++ {
		st.cols[col-first].add(&b.vecs[col], from, to)
	}
	for col := st.schema.from[Regular]; col < len(b.vecs); col++ {
		st.addCells(&b.vecs[col], &b.meta, from, to)
		c := &st.cols[col-first]
		c.encoded = st.encoded
		c.add(&b.vecs[col], from, to)
	}
}

// addChunk takes in the texts of regular column col in a group: those at firsts
// where that has each value of them, else all.
func (st *Stats) addChunk(col int, texts *bytestrings.Strings, firsts []int32) {
	c := &st.cols[col-st.schema.from[Clustering]]
	if c.form != prefixBounds {
		return
	}
	if firsts == nil {
		c.texts.add(texts, 0, texts.Len())
	}
	for _, i := range firsts {
		c.texts.add(texts, int(i), int(i)+1)
	}
}

// endChunks ends what began with the first addChunk.
func (st *Stats) endChunks() {
	for i := range st.cols {
		st.cols[i].addTexts()
	}
}

// addMeta counts the metadata of rows [from, to).
func (st *Stats) addMeta(m *RowMeta, from, to int) {
	if len(m.Liveness) == 0 {
		st.WriteTimes.addRows(m.WriteTimes, from, to)
		return
	}
	for i := from; i < to; {
		l, j := m.Liveness[i], i+1
		if i == from && uniform(m.Liveness[from:to]) {
			j = to
		}
		for j < to && m.Liveness[j] == l {
			j++
		}
		if l != LivenessNone {
			st.WriteTimes.addRows(m.WriteTimes, i, j)
		}
		switch l {
		case LivenessExpiring:
			st.Expiring += int64(j - i)
			st.Expiries.addRows(m.Expiries, i, j)
		case LivenessExpired:
			st.Tombstones += int64(j - i)
			st.Expiries.addRows(m.Expiries, i, j)
		}
		i = j
	}
}

// addCells counts the metadata of cells [from, to).
func (st *Stats) addCells(v *vector, m *RowMeta, from, to int) {
	if v.multi != nil {
		st.addMulti(v.multi, m, from, to)
		return
	}
	if len(v.Cells) == 0 {
		return
	}
	for i, c := range v.Cells[from:to] {
		st.addCell(v, c, m, from+i, from+i)
	}
}

// addCell counts the metadata of cell i of v, which is c, in a row.
func (st *Stats) addCell(v *vector, c Cell, m *RowMeta, i, row int) {
	if c&CellOwnTime != 0 {
		st.WriteTimes.add(v.WriteTimes[i])
	}
	switch c.Kind() {
	case CellTombstone:
		st.Tombstones++
		st.LocalDeletions.add(v.Expiries[i])
	case CellExpiring:
		if c&CellOwnExpiry != 0 {
			st.Expiring++
			st.Expiries.add(v.Expiries[i])
		} else {
			st.Expiries.add(at(m.Expiries, row))
		}
	}
}

// addMulti counts the metadata of the cells and the complex deletions of rows
// [from, to).
func (st *Stats) addMulti(m *MultiCells, meta *RowMeta, from, to int) {
	for _, d := range between(m.Deletions, from, to, cellsDeletionRow) {
		st.Tombstones++
		st.addDeletion(d.Deletion)
	}
	if len(m.rows) == 0 || len(m.values.Cells) == 0 {
		return
	}
	for i := from; i < to; i++ {
		first, end, _ := m.Row(i)
		for k := first; k < end; k++ {
			st.addCell(&m.values, m.values.Cells[k], meta, k, i)
		}
	}
}

// add counts cells [from, to) of v.
func (c *columnStats) add(v *vector, from, to int) {
	c.addCells(v, from, to)
	if !c.encoded {
		c.addTexts()
	}
}

// addTexts takes in the bounds of the texts at hand.
func (c *columnStats) addTexts() {
	if c.texts.set {
		c.addLeast(c.texts.lo, boundExact)
		c.addMost(c.texts.hi, boundExact)
		c.texts.set = false
	}
}

func (c *columnStats) addCells(v *vector, from, to int) {
	if v.multi != nil {
		c.nulls += int64(v.multi.nulls(from, to))
		return
	}
	if len(v.Cells) == 0 {
		if v.len() == 0 { // never filled
			c.nulls += int64(to - from)
			return
		}
		c.addValues(v, from, to)
		return
	}
	for i := from; i < to; {
		cell := v.Cells[i]
		if cell.HasValue() {
			j := i + 1
			for j < to && v.Cells[j].HasValue() {
				j++
			}
			c.addValues(v, i, j)
			i = j
			continue
		}
		switch {
		case cell.Kind() == CellAbsent || cell.Kind() == CellTombstone:
			c.nulls++
		case cell&CellException != 0:
			c.exceptions++
		default:
			c.empties++
		}
		i++
	}
}

// addValues counts values [from, to) of v, not none.
func (c *columnStats) addValues(v *vector, from, to int) {
	switch c.form {
	case intBounds:
		if c.class == ClassInt32 {
			lo, hi := simd.MinMaxInt32(v.i32[from:to])
			c.addKeys(int64(lo), int64(hi))
			return
		}
		if c.flip == 0 {
			c.addKeys(simd.MinMaxInt64(v.i64[from:to]))
			return
		}
		lo, hi := v.i64[from]^c.flip, v.i64[from]^c.flip
		for _, x := range v.i64[from:to] {
			x ^= c.flip
			lo, hi = min(lo, x), max(hi, x)
		}
		c.addKeys(lo, hi)
	case floatBounds:
		if c.class == ClassFloat32 {
			c.addFloat32s(v.f32[from:to])
		} else {
			c.addFloat64s(v.f64[from:to])
		}
	case prefixBounds:
		if !c.encoded {
			c.texts.add(&v.str, from, to)
		}
	case wholeBounds:
		for i := from; i < to; i++ {
			x := v.str.At(i)
			c.addLeast(x, boundExact)
			c.addMost(x, boundExact)
		}
	}
}

// extremes are the least and the greatest of some strings, by their bytes, as
// far as they tell what the bounds are. They keep nothing of the strings.
type extremes struct {
	lo, hi []byte
	set    bool
	skip   int    // what lo and hi begin with alike, and so do all between them
	least  uint64 // between them are strings that go on with a key from least
	above  uint64 // to below above
	top    int    // the length of hi if its key tells all of it, or -1
}

// add takes in strings [from, to) of s.
func (e *extremes) add(s *bytestrings.Strings, from, to int) {
	if from == to {
		return
	}
	start := uint32(0)
	if from > 0 {
		start = s.Ends[from-1]
	}
	if !e.set {
		e.lo, e.hi, e.set = keep(e.lo, s.At(from)), keep(e.hi, s.At(from)), true
		e.between()
	}
	alike := e.lo[:e.skip]
	for _, end := range s.Ends[from:to] {
		x := s.Data[start:end]
		at := int(start) + len(alike)
		start = end
		if len(alike) == 0 || len(x) >= len(alike) && bytes.Equal(x[:len(alike)], alike) {
			k := bytesKey(s.Data, at, int(end))
			if k >= e.least && k < e.above || k == e.above && len(x) == e.top {
				continue
			}
		}
		switch r := bytes.Compare(x, e.lo); {
		case r < 0:
			e.lo = keep(e.lo, x)
		case r > 0 && bytes.Compare(x, e.hi) > 0:
			e.hi = keep(e.hi, x)
		default:
			continue
		}
		e.between()
		alike = e.lo[:e.skip]
	}
}

// keep is a copy of x in the memory of old, cut where it is too long for a bound
// in any case.
func keep(old, x []byte) []byte { return append(old[:0], x[:min(len(x), MaxBoundBytes+1)]...) }

// between sets what follows from lo and hi.
func (e *extremes) between() {
	e.skip = 0
	for e.skip < min(len(e.lo), len(e.hi)) && e.lo[e.skip] == e.hi[e.skip] {
		e.skip++
	}
	lo := e.lo[e.skip:]
	e.least, e.above = bytesKey(lo, 0, len(lo)), bytesKey(e.hi, e.skip, len(e.hi))
	e.top = -1
	if len(e.hi)-e.skip <= 8 {
		e.top = len(e.hi)
	}
	if len(lo) > 8 || len(lo) > 0 && lo[len(lo)-1] == 0 { // others with this key may be less
		if e.least++; e.least == 0 {
			e.above = 0
			e.top = -1
		}
	}
}

// bytesKey is the first eight bytes of b[from:to] as a number that orders as
// they do, zeros where there are fewer.
func bytesKey(b []byte, from, to int) (k uint64) {
	n := to - from
	if from+8 <= len(b) {
		k = binary.BigEndian.Uint64(b[from:])
		if n < 8 {
			k = k >> (64 - 8*n) << (64 - 8*n)
		}
		return k
	}
	for i, x := range b[from:to] {
		k |= uint64(x) << (56 - 8*i)
	}
	return k
}

func (c *columnStats) addKeys(lo, hi int64) {
	if !c.set {
		c.lo, c.hi, c.set = lo, hi, true
		return
	}
	c.lo, c.hi = min(c.lo, lo), max(c.hi, hi)
}

// floatKey64 turns the bits of a float64 into an integer that orders as the
// floats do, -0.0 before 0.0, and back.
func floatKey64(bits int64) int64 { return bits ^ bits>>63&math.MaxInt64 }

// floatKey32 is floatKey64 for the bits of a float32.
func floatKey32(bits int32) int32 { return bits ^ bits>>31&math.MaxInt32 }

// The keys of +Inf; those of NaNs are greater, or less than that of -Inf.
const (
	infKey64 = 0x7ff << 52
	infKey32 = 0xff << 23
)

func (c *columnStats) addFloat64s(v []float64) {
	lo, hi, nans := simd.MinMaxFloat64(v)
	c.nans += int64(nans)
	if nans < len(v) {
		c.addKeys(floatKey64(int64(math.Float64bits(lo))), floatKey64(int64(math.Float64bits(hi))))
	}
}

func (c *columnStats) addFloat32s(v []float32) {
	lo, hi, nans := simd.MinMaxFloat32(v)
	c.nans += int64(nans)
	if nans < len(v) {
		c.addKeys(int64(floatKey32(int32(math.Float32bits(lo)))), int64(floatKey32(int32(math.Float32bits(hi)))))
	}
}

// addLeast takes x for the lower bound, if it is less. The result does not
// depend on the order in which values come.
func (c *columnStats) addLeast(x []byte, state boundState) {
	b := &c.least
	if b.state == boundDropped || state == boundNone {
		return
	}
	if state == boundExact && len(x) > MaxBoundBytes {
		state = boundCut
		x = x[:MaxBoundBytes]
		if c.form == wholeBounds {
			state = boundDropped
		}
	}
	if state == boundDropped {
		b.state, b.value = state, b.value[:0]
		return
	}
	if b.state != boundNone {
		if r := c.compare(x, b.value); r > 0 || r == 0 && state >= b.state {
			return
		}
	}
	b.state, b.value = state, append(b.value[:0], x...)
}

// addMost takes x for the upper bound, if it is greater.
func (c *columnStats) addMost(x []byte, state boundState) {
	b := &c.most
	if b.state == boundDropped || state == boundNone {
		return
	}
	if state == boundExact && len(x) > MaxBoundBytes {
		state = boundDropped
		if c.form == prefixBounds {
			// The least string above all that begin so: the last byte that can
			// grow does, those behind it go.
			n := MaxBoundBytes
			for n > 0 && x[n-1] == 0xff {
				n--
			}
			if n > 0 {
				x = append(make([]byte, 0, MaxBoundBytes), x[:n]...)
				x[n-1]++
				state = boundCut
			}
		}
	}
	if state == boundDropped {
		b.state, b.value = state, b.value[:0]
		return
	}
	if b.state != boundNone {
		if r := c.compare(x, b.value); r < 0 || r == 0 && state >= b.state {
			return
		}
	}
	b.state, b.value = state, append(b.value[:0], x...)
}

func (c *columnStats) compare(a, b []byte) int {
	if c.form == prefixBounds {
		return bytes.Compare(a, b)
	}
	return c.typ.Compare(a, b)
}

// Merge adds what o, of the same schema, has counted.
func (st *Stats) Merge(o *Stats) {
	for i, n := range o.counts() {
		*st.counts()[i] += *n
	}
	for i, m := range o.times() {
		st.times()[i].merge(*m)
	}
	for i := range st.cols {
		c, d := &st.cols[i], &o.cols[i]
		for k, n := range d.counts() {
			*c.counts()[k] += *n
		}
		if d.set {
			c.addKeys(d.lo, d.hi)
		}
		c.addLeast(d.least.value, d.least.state)
		c.addMost(d.most.value, d.most.state)
	}
}

// Equal reports whether st and o, of the same schema, say the same.
func (st *Stats) Equal(o *Stats) bool {
	for i, n := range st.counts() {
		if *n != *o.counts()[i] {
			return false
		}
	}
	for i, m := range st.times() {
		if *m != *o.times()[i] {
			return false
		}
	}
	for i := range st.cols {
		c, d := &st.cols[i], &o.cols[i]
		if c.nulls != d.nulls || c.nans != d.nans || c.empties != d.empties || c.exceptions != d.exceptions ||
			c.set != d.set || c.lo != d.lo || c.hi != d.hi || !c.least.equal(&d.least) || !c.most.equal(&d.most) {
			return false
		}
	}
	return true
}

func (b *bound) equal(o *bound) bool { return b.state == o.state && bytes.Equal(b.value, o.value) }

// counts are the counts in stored order.
func (st *Stats) counts() [7]*int64 {
	return [...]*int64{&st.Rows, &st.Partitions, &st.Markers, &st.PartitionDeletions, &st.RowDeletions, &st.Tombstones, &st.Expiring}
}

// times are the times in stored order.
func (st *Stats) times() [3]*MinMax {
	return [...]*MinMax{&st.WriteTimes, &st.Expiries, &st.LocalDeletions}
}

// counts are the counts in stored order.
func (c *columnStats) counts() [4]*int64 {
	return [...]*int64{&c.nulls, &c.nans, &c.empties, &c.exceptions}
}

// cells is the number of cells that column c of st has counted.
func (st *Stats) cells(c int) int64 {
	c += st.schema.from[Clustering]
	if st.schema.from[Static] <= c && c < st.schema.from[Regular] {
		return st.Partitions
	}
	return st.Rows
}

// Column is what the statistics say about column col. Nothing is counted for
// the columns of the partition key.
func (st *Stats) Column(col int) ColumnStats {
	i := col - st.schema.from[Clustering]
	if i < 0 {
		return ColumnStats{}
	}
	c := &st.cols[i]
	s := ColumnStats{Values: st.cells(i) - c.nulls, Nulls: c.nulls, NaNs: c.nans, Empties: c.empties, Exceptions: c.exceptions}
	switch {
	case c.set:
		s.Min, s.Max = c.serialised(c.lo), c.serialised(c.hi)
	case c.form >= prefixBounds:
		s.Min, s.MinCut = c.least.get()
		s.Max, s.MaxCut = c.most.get()
	}
	return s
}

// Excludes reports whether no row that st counts has values in all of the
// ranges.
func (st *Stats) Excludes(within []ValueRange) bool {
	for _, r := range within {
		role := st.schema.Role(r.Column)
		if role != Clustering && role != Regular {
			continue
		}
		c := st.Column(r.Column)
		if c.NaNs+c.Empties+c.Exceptions > 0 || role == Clustering && c.Nulls > 0 { // nulls come first
			continue
		}
		if c.Values == 0 {
			return true
		}
		t := st.schema.cols[r.Column].Type.bare()
		if r.Min != nil && c.Max != nil && t.Collate(c.Max, r.Min) < 0 || r.Max != nil && c.Min != nil && t.Collate(c.Min, r.Max) > 0 {
			return true
		}
	}
	return false
}

func (b *bound) get() (value []byte, cut bool) {
	if b.state == boundExact || b.state == boundCut {
		value = append([]byte{}, b.value...)
	}
	return value, b.state >= boundCut
}

// serialised is the value with this key in serialised bytes.
func (c *columnStats) serialised(key int64) []byte {
	switch c.class {
	case ClassFloat32:
		return binary.BigEndian.AppendUint32(nil, uint32(floatKey32(int32(key))))
	case ClassFloat64:
		return binary.BigEndian.AppendUint64(nil, uint64(floatKey64(key)))
	}
	return AppendInt(nil, *c.typ, key^c.flip)
}

// AppendTo appends the statistics in this form:
//
//	rows        uvarint
//	partitions  uvarint
//	flags       u8        bit i: field i of the following eight is there
//	0..4        uvarint   markers, partition deletions, row deletions,
//	                      tombstones, expiring: where not 0
//	5..7        varint, uvarint
//	                      least, and greatest minus least: write times,
//	                      expiries, local deletion times
//	columns     each clustering, static and regular column:
//	  flags     u8        bits 0..3: the following four are there
//	                      bits 4,5: least value, bits 6,7: greatest value:
//	                      0 none, 1 exact, 2 cut, 3 dropped
//	  0..3      uvarint   nulls, NaNs, zero-length values, exceptions: where not 0
//	  least     where exact or cut:
//	    integers          varint   (unsigned types: with the top bit turned)
//	    floats            4 or 8 bytes, little-endian: the bits, turned into
//	                      an integer that orders as the floats do
//	    byte strings      uvarint length, bytes
//	  greatest  where exact or cut:
//	    integers          uvarint  greatest minus least
//	    floats            as the least
//	    byte strings      uvarint length of the beginning shared with the least,
//	                      uvarint length of the rest, rest
//
// A varint is a zigzag varint.
func (st *Stats) AppendTo(dst []byte) []byte {
	counts := st.counts()
	dst = binary.AppendUvarint(dst, uint64(*counts[0]))
	dst = binary.AppendUvarint(dst, uint64(*counts[1]))
	flagsAt := len(dst)
	dst = append(dst, 0)
	for i, n := range counts[2:] {
		if *n != 0 {
			dst[flagsAt] |= 1 << i
			dst = binary.AppendUvarint(dst, uint64(*n))
		}
	}
	for i, m := range st.times() {
		if m.Set {
			dst[flagsAt] |= 1 << (5 + i)
			dst = binary.AppendVarint(dst, m.Min)
			dst = binary.AppendUvarint(dst, uint64(m.Max)-uint64(m.Min))
		}
	}
	for i := range st.cols {
		dst = st.cols[i].appendTo(dst)
	}
	return dst
}

func (c *columnStats) appendTo(dst []byte) []byte {
	flagsAt := len(dst)
	dst = append(dst, 0)
	for i, n := range c.counts() {
		if *n != 0 {
			dst[flagsAt] |= 1 << i
			dst = binary.AppendUvarint(dst, uint64(*n))
		}
	}
	least, most := c.least.state, c.most.state
	if c.set {
		least, most = boundExact, boundExact
	}
	dst[flagsAt] |= byte(least)<<4 | byte(most)<<6
	switch {
	case c.set && c.class == ClassFloat32:
		dst = binary.LittleEndian.AppendUint32(dst, uint32(c.lo))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(c.hi))
	case c.set && c.class == ClassFloat64:
		dst = binary.LittleEndian.AppendUint64(dst, uint64(c.lo))
		dst = binary.LittleEndian.AppendUint64(dst, uint64(c.hi))
	case c.set:
		dst = binary.AppendVarint(dst, c.lo)
		dst = binary.AppendUvarint(dst, uint64(c.hi)-uint64(c.lo))
	}
	var low []byte
	if least == boundExact && !c.set || least == boundCut {
		low = c.least.value
		dst = binary.AppendUvarint(dst, uint64(len(low)))
		dst = append(dst, low...)
	}
	if most == boundExact && !c.set || most == boundCut {
		high, shared := c.most.value, 0
		for shared < min(len(low), len(high)) && low[shared] == high[shared] {
			shared++
		}
		dst = binary.AppendUvarint(dst, uint64(shared))
		dst = binary.AppendUvarint(dst, uint64(len(high)-shared))
		dst = append(dst, high[shared:]...)
	}
	return dst
}

// ParseStats reads what AppendTo wrote for a table of schema s and returns
// what follows it. What it accepts agrees with itself: no count is larger than
// the rows or partitions allow, and no least value above the greatest.
func ParseStats(s *Schema, src []byte) (st *Stats, rest []byte, err error) {
	st = NewStats(s)
	r := statsReader{src: src}
	counts := st.counts()
	*counts[0], *counts[1] = r.count(), r.count()
	flags := r.byte()
	for i, n := range counts[2:] {
		if flags>>i&1 != 0 {
			*n = r.count()
		}
	}
	for i, m := range st.times() {
		if flags>>(5+i)&1 != 0 {
			m.Set = true
			m.Min, m.Max = r.between()
		}
	}
	for i := range st.cols {
		st.cols[i].parse(&r, st.cells(i))
	}
	if r.err != nil {
		return nil, nil, r.err
	}
	return st, r.src, nil
}

func (c *columnStats) parse(r *statsReader, cells int64) {
	flags := r.byte()
	for i, n := range c.counts() {
		if flags>>i&1 == 0 {
			continue
		}
		if *n = r.count(); *n > cells {
			r.fail("a column has more cells of one kind than there are")
			return
		}
		cells -= *n
	}
	least, most := boundState(flags>>4&3), boundState(flags>>6)
	if c.form == noBounds || cells == 0 {
		if least|most != boundNone {
			r.fail("a column has bounds but no values that can have them")
		}
		return
	}
	if least == boundNone || most == boundNone || c.form < prefixBounds && least|most != boundExact {
		r.fail("a column's bounds are in states %d and %d", least, most)
		return
	}
	switch c.form {
	case intBounds:
		c.set = true
		c.lo, c.hi = r.between()
		if from, to := c.typ.intRange(); c.lo < from || c.hi > to {
			r.fail("an integer is outside its type")
		}
	case floatBounds:
		c.set = true
		var inf int64
		if c.class == ClassFloat32 {
			inf = infKey32
			c.lo = int64(int32(binary.LittleEndian.Uint32(r.fixed(4))))
			c.hi = int64(int32(binary.LittleEndian.Uint32(r.fixed(4))))
		} else {
			inf = infKey64
			c.lo = int64(binary.LittleEndian.Uint64(r.fixed(8)))
			c.hi = int64(binary.LittleEndian.Uint64(r.fixed(8)))
		}
		if c.lo < -inf-1 || c.lo > c.hi || c.hi > inf {
			r.fail("a float is NaN, or the least is above the greatest")
		}
	default:
		c.parseBytes(r, least, most)
	}
}

func (c *columnStats) parseBytes(r *statsReader, least, most boundState) {
	c.least.state, c.most.state = least, most
	if least != boundDropped {
		c.least.value = append(c.least.value, r.bytes(MaxBoundBytes)...)
	}
	if most != boundDropped {
		shared := r.uvarint()
		if shared > uint64(len(c.least.value)) {
			r.fail("a greatest value shares more than the least one has")
			return
		}
		c.most.value = append(c.most.value, c.least.value[:shared]...)
		c.most.value = append(c.most.value, r.bytes(MaxBoundBytes-int(shared))...)
		if least != boundDropped && c.compare(c.least.value, c.most.value) > 0 {
			r.fail("the least value is above the greatest")
		}
	}
}

// intRange is the range of the integers of t, a bare type.
func (t *Type) intRange() (from, to int64) {
	switch t.Kind {
	case KindUint8:
		return 0, math.MaxUint8
	case KindUint16:
		return 0, math.MaxUint16
	case KindUint32:
		return 0, math.MaxUint32
	case KindNumeric:
		if t.Precision <= maxDigits64 {
			return numericRange(t)
		}
	}
	switch t.Physical() {
	case PhysBool:
		return 0, 1
	case PhysInt8:
		return math.MinInt8, math.MaxInt8
	case PhysInt16:
		return math.MinInt16, math.MaxInt16
	case PhysInt32:
		return math.MinInt32, math.MaxInt32
	}
	return math.MinInt64, math.MaxInt64
}

// statsReader reads fields one after another. After the first error, which it
// keeps, it reads zeros.
type statsReader struct {
	src []byte
	err error
}

func (r *statsReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = encoding.Corruptf("statistics", format, args...)
	}
	r.src = nil
}

func (r *statsReader) fixed(n int) []byte {
	if len(r.src) < n {
		r.fail("cut")
		return make([]byte, n)
	}
	b := r.src[:n]
	r.src = r.src[n:]
	return b
}

func (r *statsReader) byte() byte { return r.fixed(1)[0] }

func (r *statsReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.src)
	if n <= 0 {
		r.fail("a number is cut or overlong")
		return 0
	}
	r.src = r.src[n:]
	return v
}

// count is a number of things.
func (r *statsReader) count() int64 {
	v := r.uvarint()
	if v > math.MaxInt64 {
		r.fail("a count of %d", v)
		return 0
	}
	return int64(v)
}

// between is a number and one that is not less, stored as their distance.
func (r *statsReader) between() (lo, hi int64) {
	v, n := binary.Varint(r.src)
	if n <= 0 {
		r.fail("a number is cut or overlong")
		return 0, 0
	}
	r.src = r.src[n:]
	hi = int64(uint64(v) + r.uvarint())
	if hi < v {
		r.fail("the distance from the least to the greatest number is too large")
	}
	return v, hi
}

// bytes is a string of at most limit bytes with its length before it.
func (r *statsReader) bytes(limit int) []byte {
	n := r.uvarint()
	if n > uint64(limit) {
		r.fail("a bound of %d bytes where %d are allowed", n, limit)
		return nil
	}
	return r.fixed(int(n))
}
