package rowgroup

import (
	"fmt"
	"math"

	"github.com/colsst/colsst/encoding/bytestrings"
)

// Liveness is the state of a row's primary key.
type Liveness uint8

// The states. The zero value is the common one.
const (
	LivenessLive     Liveness = iota // live since WriteTimes
	LivenessNone                     // the row exists by its cells alone, as UPDATE makes it
	LivenessExpiring                 // live until Expiries, written with TTLs
	LivenessExpired                  // Cassandra's marker of an expired liveness
)

// NoDeletion is the MarkedForDeleteAt of a Deletion that deletes nothing.
const NoDeletion = math.MinInt64

// Deletion is a deletion time.
type Deletion struct {
	MarkedForDeleteAt int64 // deletes what was written at or before, µs; NoDeletion: nothing
	LocalDeletionTime int64 // when the deletion was made, s
}

// Live reports whether d deletes nothing.
func (d Deletion) Live() bool { return d.MarkedForDeleteAt == NoDeletion }

// LiveDeletion deletes nothing.
var LiveDeletion = Deletion{MarkedForDeleteAt: NoDeletion, LocalDeletionTime: math.MaxInt64}

// RowDeletion is the deletion of one row.
type RowDeletion struct {
	Row int // position in the batch
	Deletion
	Shadowable bool
}

// BoundKind is the kind of a range tombstone marker, numbered as in Cassandra.
type BoundKind uint8

// The kinds.
const (
	ExclEnd          BoundKind = 0
	InclStart        BoundKind = 1
	ExclEndInclStart BoundKind = 2
	InclEndExclStart BoundKind = 5
	InclEnd          BoundKind = 6
	ExclStart        BoundKind = 7
)

// Opens reports whether a marker of kind k begins a deletion.
func (k BoundKind) Opens() bool {
	return k == InclStart || k == ExclStart || k == ExclEndInclStart || k == InclEndExclStart
}

// Closes reports whether a marker of kind k ends a deletion.
func (k BoundKind) Closes() bool {
	return k == ExclEnd || k == InclEnd || k == ExclEndInclStart || k == InclEndExclStart
}

func (k BoundKind) valid() bool { return k.Opens() || k.Closes() }

// weight places a bound among rows of equal prefix: before or after them.
func (k BoundKind) weight() int {
	if k <= ExclEndInclStart {
		return -1
	}
	return 1
}

// Marker is a range tombstone marker: an unfiltered that is not a row. The
// clustering columns hold its prefix at its position; values of the others
// are placeholders.
type Marker struct {
	Row    int // position in the batch
	Prefix int // number of clustering values
	Kind   BoundKind
	Close  Deletion // of a kind that Closes
	Open   Deletion // of a kind that Opens
}

// Cell is the state of one cell: a kind in the low three bits, and flags.
type Cell uint8

// The kinds of a cell.
const (
	CellAsRow     Cell = 0 // live or expiring just as the row's liveness, at its write time
	CellAbsent    Cell = 1 // no cell; in a clustering column: null
	CellLive      Cell = 2 // never expires
	CellExpiring  Cell = 3
	CellTombstone Cell = 4 // deleted; CellMeta.Expiries holds the local deletion time
	cellKinds     Cell = 7
)

// The flags of a cell.
const (
	CellOwnTime   Cell = 0x08 // write time in CellMeta.WriteTimes, not the row's
	CellOwnExpiry Cell = 0x10 // TTL and expiry in CellMeta, not the row's
	CellEmpty     Cell = 0x20 // the value has zero bytes though its type has a fixed length
	CellException Cell = 0x40 // the value's bytes are in CellMeta.Exceptions
)

// Kind is the cell without its flags.
func (c Cell) Kind() Cell { return c & cellKinds }

// HasValue reports whether the cell's value stands in the column's slice.
func (c Cell) HasValue() bool {
	k := c & cellKinds
	return k != CellAbsent && k != CellTombstone && c&(CellEmpty|CellException) == 0
}

// Exception is a value that its typed column cannot hold, as exact bytes.
type Exception struct {
	Row   int
	Value []byte
}

// CellMeta is the metadata of the cells of one column. Each slice is either
// empty, which stands for all zero, or has one entry a row (a partition, for
// static columns).
type CellMeta struct {
	Cells      []Cell
	WriteTimes []int64 // µs, where CellOwnTime
	TTLs       []int32 // s, where CellOwnExpiry and expiring
	Expiries   []int64 // s: expiry where CellOwnExpiry; deletion time of tombstones
	Exceptions []Exception
}

// RowMeta is the metadata of rows. Each slice is either empty, which stands
// for all zero, or has one entry an unfiltered (a partition, for static rows);
// entries of markers are ignored.
type RowMeta struct {
	Liveness   []Liveness
	WriteTimes []int64 // µs, unless LivenessNone
	TTLs       []int32 // s, where LivenessExpiring
	Expiries   []int64 // s, where LivenessExpiring or LivenessExpired
	Deletions  []RowDeletion
}

// StaticState says whether a partition has a static row.
type StaticState uint8

// The states. An empty static row has no cells and no metadata. Only a
// partition of StaticFull has static cells; where it is not, those of columns
// that have values for others are CellAbsent.
const (
	StaticAbsent StaticState = iota
	StaticEmpty
	StaticFull
)

// PartitionHead is what a batch knows of one of its partitions beside the key.
type PartitionHead struct {
	Start     int // first unfiltered
	Deletion  Deletion
	Static    StaticState
	Continued bool // goes on from an earlier batch, which had its deletion and static row
}

// vector holds one column.
type vector struct {
	class Class
	i32   []int32
	i64   []int64
	f32   []float32
	f64   []float64
	str   bytestrings.Strings
	multi *MultiCells // of a multi-cell column, which has nothing else
	CellMeta
}

func (v *vector) reset() {
	if v.multi != nil {
		v.multi.reset()
	}
	v.i32, v.i64, v.f32, v.f64 = v.i32[:0], v.i64[:0], v.f32[:0], v.f64[:0]
	v.str.Reset()
	v.Cells, v.WriteTimes, v.TTLs, v.Expiries = v.Cells[:0], v.WriteTimes[:0], v.TTLs[:0], v.Expiries[:0]
	v.Exceptions = v.Exceptions[:0]
}

func (v *vector) len() int {
	switch v.class {
	case ClassInt32:
		return len(v.i32)
	case ClassInt64:
		return len(v.i64)
	case ClassFloat32:
		return len(v.f32)
	case ClassFloat64:
		return len(v.f64)
	}
	if v.multi != nil {
		return len(v.multi.rows)
	}
	return v.str.Len()
}

// Batch is a run of unfiltereds (rows and range tombstone markers) of one or
// more partitions, by columns. Unfiltered i has its values at index i of every
// clustering and regular column; static columns have one value a partition.
// A column's slice has an entry for every unfiltered, also where the cell is
// absent, deleted, empty or an exception (the entry is then ignored). A
// multi-cell column has MultiCells instead.
//
// A caller that writes fills a batch in this order: BeginPartition, then
// values and metadata of its rows appended to the slices, and so on. A batch
// that was read belongs to the iterator that filled it: its slices are valid
// until the next call of Next or Close, must not be changed and may alias
// read-only memory; Clone what must stay.
type Batch struct {
	schema  *Schema
	vecs    []vector // by column number; those of the partition key are unused
	keys    bytestrings.Strings
	parts   []PartitionHead
	meta    RowMeta
	static  RowMeta
	markers []Marker
	n       int // set by SetLen, else 0
}

// NewBatch makes an empty batch of schema s.
func NewBatch(s *Schema) *Batch {
	b := &Batch{schema: s, vecs: make([]vector, s.NumColumns())}
	for i := range b.vecs {
		b.vecs[i].class = s.cols[i].Type.Physical().Class()
		if s.multiCell(i) {
			b.vecs[i].multi = newMultiCells(&s.cols[i].Type)
		}
	}
	b.Reset()
	return b
}

// Schema is the schema that the batch was made for.
func (b *Batch) Schema() *Schema { return b.schema }

// Reset empties the batch and keeps its memory. Where the table has no
// partition key, its one partition is begun.
func (b *Batch) Reset() {
	b.clear()
	if b.schema.from[1] == 0 {
		b.BeginPartition(nil)
	}
}

func (b *Batch) clear() {
	for i := range b.vecs {
		b.vecs[i].reset()
	}
	b.keys.Reset()
	b.parts, b.markers, b.n = b.parts[:0], b.markers[:0], 0
	for _, m := range []*RowMeta{&b.meta, &b.static} {
		m.Liveness, m.WriteTimes, m.TTLs = m.Liveness[:0], m.WriteTimes[:0], m.TTLs[:0]
		m.Expiries, m.Deletions = m.Expiries[:0], m.Deletions[:0]
	}
}

// BeginPartition begins the partition with this key (its exact bytes: see
// AppendKey); the batch copies them. If it is the batch's first and the
// writer's last partition has the same key, the batch goes on with it; a key
// twice in one batch is an error. The head returned is valid until the next
// call of BeginPartition.
func (b *Batch) BeginPartition(key []byte) *PartitionHead {
	if err := b.keys.Append(key); err != nil {
		panic(err) // 4 GiB of keys in one batch
	}
	b.parts = append(b.parts, PartitionHead{Start: b.Len(), Deletion: LiveDeletion})
	return &b.parts[len(b.parts)-1]
}

// SetLen declares the number of unfiltereds. It is needed only where no
// clustering or regular column has a value for each of them.
func (b *Batch) SetLen(n int) { b.n = n }

// Len is the number of unfiltereds: the length of the longest column.
func (b *Batch) Len() int {
	n := b.n
	from, to := b.schema.from[Clustering], b.schema.from[Static]
	for i := from; i < to; i++ {
		n = max(n, b.vecs[i].len())
	}
	from, to = b.schema.from[Regular], b.schema.from[Regular+1]
	for i := from; i < to; i++ {
		n = max(n, b.vecs[i].len())
	}
	return n
}

// NumPartitions is the number of partitions in the batch.
func (b *Batch) NumPartitions() int { return len(b.parts) }

// Key is the key of partition p, valid as long as the batch's slices.
func (b *Batch) Key(p int) []byte { return b.keys.At(p) }

// Partition is the head of partition p.
func (b *Batch) Partition(p int) *PartitionHead { return &b.parts[p] }

// PartitionRows is the half-open range of unfiltereds of partition p.
func (b *Batch) PartitionRows(p int) (from, to int) {
	if p+1 < len(b.parts) {
		return b.parts[p].Start, b.parts[p+1].Start
	}
	return b.parts[p].Start, b.Len()
}

// Meta is the metadata of the batch's rows, to read or to append to.
func (b *Batch) Meta() *RowMeta { return &b.meta }

// StaticMeta is the metadata of the static rows, one entry a partition.
func (b *Batch) StaticMeta() *RowMeta { return &b.static }

// Markers are the range tombstone markers, by ascending position, to read or
// to append to.
func (b *Batch) Markers() *[]Marker { return &b.markers }

// CellMeta is the metadata of the cells of column col, to read or to append
// to. Of clustering columns only Cells counts: CellAsRow, CellAbsent (null) or
// CellEmpty.
func (b *Batch) CellMeta(col int) *CellMeta { return &b.vecs[col].CellMeta }

func (b *Batch) vec(col int, class Class) *vector {
	v := &b.vecs[col]
	if v.class != class {
		panic(fmt.Sprintf("column %q of type %s has other values", b.schema.Column(col).Name, b.schema.Column(col).Type))
	}
	return v
}

// Int32s are the values of a column of ClassInt32, to read or to append to.
// It panics, as the four below do, if the column is of another class.
func (b *Batch) Int32s(col int) *[]int32 { return &b.vec(col, ClassInt32).i32 }

// Int64s are the values of a column of ClassInt64.
func (b *Batch) Int64s(col int) *[]int64 { return &b.vec(col, ClassInt64).i64 }

// Float32s are the values of a column of ClassFloat32.
func (b *Batch) Float32s(col int) *[]float32 { return &b.vec(col, ClassFloat32).f32 }

// Float64s are the values of a column of ClassFloat64.
func (b *Batch) Float64s(col int) *[]float64 { return &b.vec(col, ClassFloat64).f64 }

// Bytes are the values of a column of ClassBytes. A multi-cell column has none:
// see MultiCells.
func (b *Batch) Bytes(col int) *bytestrings.Strings { return &b.vec(col, ClassBytes).str }

// Cell is the state of the cell of column col at row i. A multi-cell column
// counts as CellAsRow where AppendValue has a value, else as CellAbsent.
func (b *Batch) Cell(col, i int) Cell {
	if c := b.vecs[col].Cells; len(c) > 0 {
		return c[i]
	}
	if m := b.vecs[col].multi; m != nil && !m.hasValue(i) {
		return CellAbsent
	}
	return CellAsRow
}
