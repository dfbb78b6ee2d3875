package cassandra

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// filler fills one batch with events. A column is padded up to a row only when
// the row has a cell, and all are at the end.
type filler struct {
	b       *rowgroup.Batch
	columns []column // by number in the schema; those of the key are unused
	from    [4]int   // number of the first column of each role
	n       int      // unfiltereds so far
	parts   int
	statics bool // a partition has a static row that is not empty
}

// column is a column of the batch that is being filled.
type column struct {
	name   string
	typ    rowgroup.Type
	class  rowgroup.Class
	same   bool // memory holds what a value's big-endian bytes say
	fixed  bool // byte strings of one length
	wanted bool
	meta   *rowgroup.CellMeta
	i32    *[]int32
	i64    *[]int64
	f32    *[]float32
	f64    *[]float64
	cells  *rowgroup.MultiCells // of a multi-cell column, in place of all below
	batch  *rowgroup.Batch      // for byte strings
	number int
}

// newFiller makes a filler for batches of schema s. Of static and regular
// columns it fills those wanted; nil: all.
func newFiller(s *rowgroup.Schema, wanted []int) *filler {
	f := &filler{columns: make([]column, s.NumColumns())}
	for role := range f.from {
		f.from[role], _ = s.Range(rowgroup.Role(role))
	}
	for i := range f.columns {
		c := &f.columns[i]
		c.name, c.typ = s.Column(i).Name, s.Column(i).Type
		c.class = c.typ.Physical().Class()
		c.same = sameBits(c.typ)
		_, c.fixed = c.typ.FixedLen()
		c.wanted = wanted == nil || i < f.from[rowgroup.Static] || slices.Contains(wanted, i)
	}
	return f
}

// sameBits reports whether numbers of a type are in memory what they are in the
// bytes of their values.
func sameBits(t rowgroup.Type) bool {
	for t.Kind == rowgroup.KindReversed || t.Kind == rowgroup.KindFrozen {
		t = t.Args[0]
	}
	switch t.Kind {
	case rowgroup.KindInt, rowgroup.KindBigint, rowgroup.KindFloat, rowgroup.KindDouble, rowgroup.KindTimestamp, rowgroup.KindOldDate:
		return true
	}
	return false
}

// begin empties b and fills it from now on.
func (f *filler) begin(b *rowgroup.Batch) {
	b.Clear()
	f.n, f.parts, f.statics = 0, 0, false
	if f.b == b {
		return
	}
	f.b = b
	for i := range f.columns[f.from[rowgroup.Clustering]:] {
		i += f.from[rowgroup.Clustering]
		c := &f.columns[i]
		c.meta = b.CellMeta(i)
		if c.cells = b.MultiCells(i); c.cells != nil {
			continue
		}
		switch c.class {
		case rowgroup.ClassInt32:
			c.i32 = b.Int32s(i)
		case rowgroup.ClassInt64:
			c.i64 = b.Int64s(i)
		case rowgroup.ClassFloat32:
			c.f32 = b.Float32s(i)
		case rowgroup.ClassFloat64:
			c.f64 = b.Float64s(i)
		default:
			c.batch, c.number = b, i
		}
	}
}

// end pads every column to the length of the batch.
func (f *filler) end() error {
	for i := f.from[rowgroup.Clustering]; i < len(f.columns); i++ {
		c, n := &f.columns[i], f.n
		if !c.wanted {
			continue
		}
		if f.from[rowgroup.Static] <= i && i < f.from[rowgroup.Regular] {
			n = f.parts
			if !f.statics {
				continue // never filled: all absent
			}
		}
		if c.cells != nil {
			if c.cells.Rows() > 0 {
				c.cells.Pad(n)
			}
			continue
		}
		if err := c.pad(n); err != nil {
			return err
		}
		c.meta.WriteTimes = padded(c.meta.WriteTimes, n)
		c.meta.TTLs = padded(c.meta.TTLs, n)
		c.meta.Expiries = padded(c.meta.Expiries, n)
	}
	endMeta(f.b.Meta(), f.n)
	endMeta(f.b.StaticMeta(), f.parts)
	f.b.SetLen(f.n)
	return nil
}

func endMeta(m *rowgroup.RowMeta, n int) {
	m.Liveness, m.WriteTimes = padded(m.Liveness, n), padded(m.WriteTimes, n)
	m.TTLs, m.Expiries = padded(m.TTLs, n), padded(m.Expiries, n)
}

// padded is s with zeros up to n entries, unless it has none at all.
func padded[T any](s []T, n int) []T {
	if len(s) == 0 {
		return s
	}
	return grown(s, n)
}

func grown[T any](s []T, n int) []T {
	if k := len(s); k < n {
		s = slices.Grow(s, n-k)[:n]
		clear(s[k:])
	}
	return s
}

// put sets entry i, at or behind the end.
func put[T any](s []T, i int, v T) []T {
	if len(s) == i {
		return append(s, v)
	}
	s = grown(s, i+1)
	s[i] = v
	return s
}

func (c *column) len() int {
	switch c.class {
	case rowgroup.ClassInt32:
		return len(*c.i32)
	case rowgroup.ClassInt64:
		return len(*c.i64)
	case rowgroup.ClassFloat32:
		return len(*c.f32)
	case rowgroup.ClassFloat64:
		return len(*c.f64)
	}
	return c.batch.Bytes(c.number).Len()
}

// pad adds absent cells up to n.
func (c *column) pad(n int) error {
	from := c.len()
	if from >= n {
		return nil
	}
	m := c.meta
	m.Cells = grown(m.Cells, n)
	for i := from; i < n; i++ {
		m.Cells[i] = rowgroup.CellAbsent
	}
	switch c.class {
	case rowgroup.ClassInt32:
		*c.i32 = grown(*c.i32, n)
	case rowgroup.ClassInt64:
		*c.i64 = grown(*c.i64, n)
	case rowgroup.ClassFloat32:
		*c.f32 = grown(*c.f32, n)
	case rowgroup.ClassFloat64:
		*c.f64 = grown(*c.f64, n)
	default:
		for range n - from {
			if err := c.batch.Bytes(c.number).Append(nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// value adds the value v of row i and says by flags where it is, if it does not
// stand in the column.
func (c *column) value(i int, v []byte) (flag rowgroup.Cell, err error) {
	if c.len() < i {
		if err := c.pad(i); err != nil {
			return 0, err
		}
	}
	var ok bool
	switch c.class {
	case rowgroup.ClassInt32:
		var x int64
		x, ok = rowgroup.IntOf(c.typ, v)
		*c.i32 = append(*c.i32, int32(x))
	case rowgroup.ClassInt64:
		var x int64
		x, ok = rowgroup.IntOf(c.typ, v)
		*c.i64 = append(*c.i64, x)
	case rowgroup.ClassFloat32:
		var x float32
		x, ok = rowgroup.Float32Of(v)
		*c.f32 = append(*c.f32, x)
	case rowgroup.ClassFloat64:
		var x float64
		x, ok = rowgroup.Float64Of(v)
		*c.f64 = append(*c.f64, x)
	default:
		stored := v
		if ok = (len(v) > 0 || !c.fixed) && rowgroup.Valid(c.typ, v) == nil; !ok {
			stored = nil
		}
		if err := c.batch.Bytes(c.number).Append(stored); err != nil {
			return 0, err
		}
	}
	switch {
	case ok:
		return 0, nil
	case len(v) == 0:
		return rowgroup.CellEmpty, nil
	}
	return rowgroup.CellException, nil
}

// next adds v as the next value, that of row i, if it is one of the common
// ones: a number that is in memory as it is in v, in a column where all cells
// so far are as their rows. Otherwise it adds nothing.
func (c *column) next(i int, v []byte) bool {
	if !c.same || len(c.meta.Cells) > 0 {
		return false
	}
	switch len(v) {
	case 4:
		u := binary.BigEndian.Uint32(v)
		switch {
		case c.class == rowgroup.ClassInt32 && len(*c.i32) == i:
			*c.i32 = append(*c.i32, int32(u))
			return true
		case c.class == rowgroup.ClassFloat32 && len(*c.f32) == i:
			*c.f32 = append(*c.f32, math.Float32frombits(u))
			return true
		}
	case 8:
		u := binary.BigEndian.Uint64(v)
		switch {
		case c.class == rowgroup.ClassInt64 && len(*c.i64) == i:
			*c.i64 = append(*c.i64, int64(u))
			return true
		case c.class == rowgroup.ClassFloat64 && len(*c.f64) == i:
			*c.f64 = append(*c.f64, math.Float64frombits(u))
			return true
		}
	}
	return false
}

// state sets the state of the cell of row i.
func (c *column) state(i int, s rowgroup.Cell) {
	if s != 0 || len(c.meta.Cells) > 0 {
		c.meta.Cells = put(c.meta.Cells, i, s)
	}
}

// partition begins a partition. The static row, if it is to have one, follows.
func (f *filler) partition(p *Partition) {
	h := f.b.BeginPartition(p.Key)
	h.Start = f.n
	if !p.Deletion.Live() {
		h.Deletion = p.Deletion
	}
	f.parts++
}

// resume goes on with a partition of an earlier batch.
func (f *filler) resume(p *Partition) {
	h := f.b.BeginPartition(p.Key)
	h.Start = f.n
	h.Continued = true
	f.parts++
}

// static adds the static row of the partition begun last.
func (f *filler) static(row *Row) error {
	p := f.parts - 1
	if row.Liveness == rowgroup.LivenessNone && !row.HasDeletion && len(row.Cells) == 0 && len(row.Complex) == 0 {
		f.b.Partition(p).Static = rowgroup.StaticEmpty
		return nil
	}
	f.b.Partition(p).Static = rowgroup.StaticFull
	f.statics = true
	return f.cells(row, f.b.StaticMeta(), p, f.from[rowgroup.Static])
}

// row adds a row.
func (f *filler) row(row *Row) error {
	i := f.n
	if err := f.clustering(i, row.Clustering); err != nil {
		return err
	}
	f.n++
	return f.cells(row, f.b.Meta(), i, f.from[rowgroup.Regular])
}

// clustering adds clustering values; those behind a marker's prefix are absent.
func (f *filler) clustering(i int, values [][]byte) error {
	first := f.from[rowgroup.Clustering]
	for k := range f.from[rowgroup.Static] - first {
		c := &f.columns[first+k]
		if k >= len(values) || values[k] == nil {
			if err := c.pad(i + 1); err != nil {
				return err
			}
			continue
		}
		if c.next(i, values[k]) {
			continue
		}
		if c.class == rowgroup.ClassBytes && (len(values[k]) > 0 || !c.fixed) { // whatever it is
			if c.fixed && len(values[k]) != mustFixed(c.typ) {
				return c.cannotHold(values[k])
			}
			if err := c.pad(i); err != nil {
				return err
			}
			if err := c.batch.Bytes(c.number).Append(values[k]); err != nil {
				return err
			}
			c.state(i, rowgroup.CellAsRow)
			continue
		}
		flag, err := c.value(i, values[k])
		if err != nil {
			return err
		}
		if flag == rowgroup.CellException {
			return c.cannotHold(values[k])
		}
		c.state(i, flag)
	}
	return nil
}

func mustFixed(t rowgroup.Type) int {
	n, _ := t.FixedLen()
	return n
}

func (c *column) cannotHold(v []byte) error {
	return fmt.Errorf("column %s: %w: clustering value %s is none of type %s", quote(c.name), encoding.ErrUnsupported, hexKey(v), c.typ)
}

// marker adds a range tombstone marker.
func (f *filler) marker(m *Marker) error {
	i := f.n
	if err := f.clustering(i, m.Values); err != nil {
		return err
	}
	x := rowgroup.Marker{Row: i, Prefix: len(m.Values), Kind: m.Kind, Close: rowgroup.LiveDeletion, Open: rowgroup.LiveDeletion}
	if m.Kind.Closes() {
		x.Close = m.Close
	}
	if m.Kind.Opens() {
		x.Open = m.Open
	}
	*f.b.Markers() = append(*f.b.Markers(), x)
	f.n++
	return nil
}

// cells adds what row has beside its clustering, to entry i of columns from
// first on.
func (f *filler) cells(row *Row, m *rowgroup.RowMeta, i, first int) error {
	if row.Liveness != rowgroup.LivenessLive || len(m.Liveness) > 0 {
		m.Liveness = put(m.Liveness, i, row.Liveness)
	}
	if row.Liveness != rowgroup.LivenessNone {
		m.WriteTimes = put(m.WriteTimes, i, row.Timestamp)
		if row.Liveness != rowgroup.LivenessLive {
			m.Expiries = put(m.Expiries, i, row.ExpirationTime)
		}
		if row.Liveness == rowgroup.LivenessExpiring {
			m.TTLs = put(m.TTLs, i, row.TTL)
		}
	}
	if row.HasDeletion {
		m.Deletions = append(m.Deletions, rowgroup.RowDeletion{Row: i, Deletion: row.Deletion, Shadowable: row.Shadowable})
	}
	for k := range row.Cells {
		cell := &row.Cells[k]
		c := &f.columns[first+cell.Column]
		if !c.wanted || cell.asRow(row) && c.next(i, cell.Value) {
			continue
		}
		if err := c.cell(i, row, cell); err != nil {
			return err
		}
	}
	for k := range row.Complex {
		x := &row.Complex[k]
		if c := &f.columns[first+x.Column]; c.wanted {
			if err := c.complex(i, row, x); err != nil {
				return err
			}
		}
	}
	return nil
}

// complex adds the cells of a multi-cell column.
func (c *column) complex(i int, row *Row, x *ComplexColumn) error {
	if len(x.Cells) > rowgroup.MaxCells {
		return fmt.Errorf("column %s, row of clustering %s: %w: %d cells, more than %d", quote(c.name), hexValues(row.Clustering), encoding.ErrUnsupported, len(x.Cells), rowgroup.MaxCells)
	}
	c.cells.Begin(i)
	c.cells.Delete(x.Deletion)
	for k := range x.Cells {
		cell := &x.Cells[k]
		if err := cell.checkValue(); err != nil {
			return err
		}
		err := c.cells.Append(&rowgroup.MultiCell{
			Path: cell.Path, Value: cell.Value, State: cell.state(row),
			WriteTime: cell.Timestamp, TTL: cell.TTL, Expiry: cell.LocalDeletionTime,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkValue refuses what no row can hold.
func (c *Cell) checkValue() error {
	if c.Kind == rowgroup.CellTombstone && len(c.Value) > 0 {
		return fmt.Errorf("%w: a tombstone with a value of %d bytes", encoding.ErrUnsupported, len(c.Value))
	}
	return nil
}

// asRow reports whether the cell's times are those of its row.
func (c *Cell) asRow(row *Row) bool {
	switch {
	case c.Timestamp != row.Timestamp:
		return false
	case row.Liveness == rowgroup.LivenessLive:
		return c.Kind == rowgroup.CellLive
	}
	return row.Liveness == rowgroup.LivenessExpiring && c.Kind == rowgroup.CellExpiring && c.TTL == row.TTL && c.LocalDeletionTime == row.ExpirationTime
}

// state is the cell beside what its row has.
func (c *Cell) state(row *Row) rowgroup.Cell {
	if c.asRow(row) {
		return rowgroup.CellAsRow
	}
	own := row.Liveness == rowgroup.LivenessNone || c.Timestamp != row.Timestamp
	rowsExpiry := row.Liveness == rowgroup.LivenessExpiring && c.TTL == row.TTL && c.LocalDeletionTime == row.ExpirationTime
	state := c.Kind
	if own {
		state |= rowgroup.CellOwnTime
	}
	if c.Kind == rowgroup.CellExpiring && !rowsExpiry {
		state |= rowgroup.CellOwnExpiry
	}
	return state
}

// cell adds the cell of a simple column.
func (c *column) cell(i int, row *Row, cell *Cell) error {
	flag, err := rowgroup.Cell(0), cell.checkValue()
	switch {
	case err != nil:
	case cell.Kind == rowgroup.CellTombstone:
		err = c.pad(i + 1)
	default:
		flag, err = c.value(i, cell.Value)
	}
	if err != nil {
		return err
	}
	m := c.meta
	if flag == rowgroup.CellException {
		m.Exceptions = append(m.Exceptions, rowgroup.Exception{Row: i, Value: bytes.Clone(cell.Value)})
	}
	state := cell.state(row)
	if state&rowgroup.CellOwnTime != 0 {
		m.WriteTimes = put(m.WriteTimes, i, cell.Timestamp)
	}
	if state&rowgroup.CellOwnExpiry != 0 {
		m.TTLs = put(m.TTLs, i, cell.TTL)
	}
	if state&rowgroup.CellOwnExpiry != 0 || cell.Kind == rowgroup.CellTombstone {
		m.Expiries = put(m.Expiries, i, cell.LocalDeletionTime)
	}
	c.state(i, state|flag)
	return nil
}
