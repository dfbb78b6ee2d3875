package rowgroup

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bytestrings"
)

// MaxCells is how many cells a multi-cell column can have in one row, and in one
// row group.
const MaxCells = encoding.MaxGroupRows

// CellBytes is what one cell of a multi-cell column counts for
// row_group_size_in_bytes, beside the bytes of byte strings.
const CellBytes = 16

// MaxCellsBytes is the greatest row_group_size_in_bytes of a table with
// multi-cell columns, so that no row group has more than MaxCells.
const MaxCellsBytes = MaxCells * CellBytes

// CellsDeletion is the complex deletion of a multi-cell column in one row: it
// deletes cells of that column written at its time or before.
type CellsDeletion struct {
	Row int // position in the batch; partition, of a static column
	Deletion
}

// MultiCell is one cell of a multi-cell column, in serialised bytes.
type MultiCell struct {
	// Path tells the cell from others of the column in its row: the element of a
	// set, the key of a map, of a list a time uuid of 16 bytes, of a user type
	// the number of the field as a big-endian uint16.
	Path []byte
	// Value is the element of a list, the value of a map or a field, empty in a
	// set; none of a CellTombstone.
	Value []byte
	// State is as for a cell of any other column, but never CellAbsent. Append
	// finds CellEmpty and CellException itself.
	State     Cell
	WriteTime int64 // µs, where CellOwnTime
	TTL       int32 // s, where CellOwnExpiry and expiring
	Expiry    int64 // s: expiry where CellOwnExpiry; deletion time of a tombstone
}

// MultiCells are the cells of a multi-cell column (see Type.MultiCell) in the
// rows of a batch, or in its partitions for a static column. In a row the
// column is absent, or it is there with a complex deletion or without and with
// any number of cells, also none, by path.
//
//	row       0       1        2    3
//	rows      end 2   absent   2    5      cells of a row: from the end before on
//	cells     0  1    -        -    2 3 4
//	Paths     a  b                  a c d
//	values    v  v                  v v v  with their states and metadata
//
// A column without an entry for any row is absent in all of them. Cells are
// numbered through all rows. Those that share what the row has (CellAsRow, no
// CellOwnTime, no CellOwnExpiry) share it with the row that they are of.
type MultiCells struct {
	Deletions []CellsDeletion     // by row, where the column is there
	Paths     bytestrings.Strings // one a cell
	rows      []cellsOfRow
	values    vector // one a cell
	typ       Type   // of the values
	column    *Type
	spare     *MultiCells
	sel       []int32
}

// cellsOfRow says which cells a row has.
type cellsOfRow struct {
	end   int32 // behind its last one
	there bool
}

// cellType is the type of the values of cells of the multi-cell type t. Those
// of sets and user types are kept as bytes.
func (t *Type) cellType() Type {
	switch t.Kind {
	case KindList:
		return t.Args[0]
	case KindMap:
		return t.Args[1]
	}
	return Blob
}

// MultiCells are the cells of multi-cell column col, to read or to append to;
// nil for any other column.
func (b *Batch) MultiCells(col int) *MultiCells { return b.vecs[col].multi }

// HasMultiCells reports whether a column has many cells a row.
func (s *Schema) HasMultiCells() bool { return len(s.layout.paths) > 0 }

// multiCell reports whether column i has many cells a row.
func (s *Schema) multiCell(i int) bool { return i >= s.from[Static] && s.cols[i].Type.MultiCell() }

func newMultiCells(t *Type) *MultiCells {
	m := &MultiCells{typ: t.cellType(), column: t}
	m.values.class = m.typ.Physical().Class()
	return m
}

func (m *MultiCells) reset() {
	m.rows, m.Deletions = m.rows[:0], m.Deletions[:0]
	m.Paths.Reset()
	m.values.reset()
}

// Rows is the number of rows (partitions) that have an entry: all, or none if
// the column is absent in all.
func (m *MultiCells) Rows() int { return len(m.rows) }

// Len is the number of cells.
func (m *MultiCells) Len() int { return m.start(len(m.rows)) }

// start is the first cell of row i or, if there is no such row, behind the last.
func (m *MultiCells) start(i int) int {
	if i == 0 || len(m.rows) == 0 {
		return 0
	}
	return int(m.rows[i-1].end)
}

// Row is the half-open range of the cells of row i; there is false where the
// column is absent.
func (m *MultiCells) Row(i int) (from, to int, there bool) {
	if len(m.rows) == 0 {
		return 0, 0, false
	}
	return m.start(i), int(m.rows[i].end), m.rows[i].there
}

// Deletion is the complex deletion in row i, or LiveDeletion.
func (m *MultiCells) Deletion(i int) Deletion {
	k, found := slices.BinarySearchFunc(m.Deletions, i, func(d CellsDeletion, i int) int { return d.Row - i })
	if !found {
		return LiveDeletion
	}
	return m.Deletions[k].Deletion
}

// Type is the type of the values: of the elements of a list or the values of a
// map, else blob.
func (m *MultiCells) Type() Type { return m.typ }

// PathType is the type of the paths: that of a set's elements or a map's keys, of
// a list timeuuid, of a user type smallint.
func (m *MultiCells) PathType() Type {
	switch m.column.Kind {
	case KindList:
		return TimeUUID
	case KindUDT:
		return Smallint
	}
	return m.column.Args[0]
}

// IsSet reports whether the column is a set, whose cells have no values.
func (m *MultiCells) IsSet() bool { return m.column.Kind == KindSet }

// ValueType is what the value of a cell with this path means: of a user type the
// type of the field, else Type.
func (m *MultiCells) ValueType(path []byte) Type {
	if m.column.Kind == KindUDT {
		if f := fieldOf(path); f >= 0 && f < len(m.column.Args) {
			return m.column.Args[f]
		}
	}
	return m.typ
}

// Meta is the metadata of the cells. Exceptions count cells, not rows.
func (m *MultiCells) Meta() *CellMeta { return &m.values.CellMeta }

// State is the state of cell k.
func (m *MultiCells) State(k int) Cell { return at(m.values.Cells, k) }

// Begin says that the column is there in row i, which is behind all those it
// has; in rows between it is absent.
func (m *MultiCells) Begin(i int) {
	m.pad(i)
	m.rows = append(m.rows, cellsOfRow{int32(m.Len()), true})
}

// Delete is the complex deletion of the row begun last, if d is one.
func (m *MultiCells) Delete(d Deletion) {
	if !d.Live() {
		m.Deletions = append(m.Deletions, CellsDeletion{len(m.rows) - 1, d})
	}
}

// Append adds a cell to the row begun last and copies what it has. It fails
// where paths or values would pass 4 GiB.
func (m *MultiCells) Append(c *MultiCell) error {
	k, v := m.Len(), &m.values
	state := c.State &^ (CellEmpty | CellException)
	if err := m.Paths.Append(c.Path); err != nil {
		return err
	}
	if state.Kind() == CellTombstone {
		if err := v.pad(k + 1); err != nil {
			return err
		}
	} else {
		flag, err := v.put(&m.typ, k, c.Value)
		if err != nil {
			return err
		}
		state |= flag
	}
	v.Cells = put(v.Cells, k, state, state != CellAsRow)
	v.WriteTimes = put(v.WriteTimes, k, c.WriteTime, state&CellOwnTime != 0)
	v.TTLs = put(v.TTLs, k, c.TTL, state&CellOwnExpiry != 0 && state.Kind() == CellExpiring)
	v.Expiries = put(v.Expiries, k, c.Expiry, state&CellOwnExpiry != 0 || state.Kind() == CellTombstone)
	m.rows[len(m.rows)-1].end++
	return nil
}

// put sets entry i of an aligned slice, behind all that it has, to x or, without
// has, to zero; an empty one stands for zeros.
func put[T any](s []T, i int, x T, has bool) []T {
	switch {
	case has:
		return append(growZero(s, i), x)
	case len(s) > 0:
		return growZero(s, i+1)
	}
	return s
}

// Get sets c to cell k. Its path aliases the batch; its value is written into
// the memory that it has, its metadata is 0 where the cell has none of its own.
func (m *MultiCells) Get(c *MultiCell, k int) {
	state := m.State(k)
	value, _ := m.AppendValue(c.Value[:0], k)
	*c = MultiCell{Path: m.Paths.At(k), Value: value, State: state}
	v := &m.values
	if state&CellOwnTime != 0 {
		c.WriteTime = at(v.WriteTimes, k)
	}
	if state&CellOwnExpiry != 0 && state.Kind() == CellExpiring {
		c.TTL = at(v.TTLs, k)
	}
	if state&CellOwnExpiry != 0 || state.Kind() == CellTombstone {
		c.Expiry = at(v.Expiries, k)
	}
}

// AppendValue appends the serialised value of cell k; ok is false of a
// tombstone.
func (m *MultiCells) AppendValue(dst []byte, k int) (value []byte, ok bool) {
	return m.values.appendValue(dst, &m.typ, m.State(k), k)
}

// pad gives the column entries for n rows; in the new ones it is absent.
func (m *MultiCells) pad(n int) {
	end := int32(m.Len())
	for len(m.rows) < n {
		m.rows = append(m.rows, cellsOfRow{end, false})
	}
}

// Pad gives the column entries for n rows, if it has one for any.
func (m *MultiCells) Pad(n int) {
	if len(m.rows) > 0 {
		m.pad(n)
	}
}

// hasValue reports whether row i has a cell that is no tombstone.
func (m *MultiCells) hasValue(i int) bool {
	from, to, _ := m.Row(i)
	for k := from; k < to; k++ {
		if m.State(k).Kind() != CellTombstone {
			return true
		}
	}
	return false
}

// nulls is how many rows of [from, to) have no cell but tombstones.
func (m *MultiCells) nulls(from, to int) (n int) {
	if len(m.rows) == 0 {
		return to - from
	}
	for i := from; i < to; i++ {
		if !m.hasValue(i) {
			n++
		}
	}
	return n
}

// appendFrozen appends what row i has as a value of the frozen type t: of the
// cells that are no tombstones, in their order. ok is false if there are none.
func (m *MultiCells) appendFrozen(dst []byte, t *Type, i int) (value []byte, ok bool) {
	if !m.hasValue(i) {
		return dst, false
	}
	from, to, _ := m.Row(i)
	if t.Kind == KindUDT {
		return m.appendFields(dst, t, from, to), true
	}
	count, n := len(dst), uint32(0)
	dst = append(dst, 0, 0, 0, 0)
	for k := from; k < to; k++ {
		if m.State(k).Kind() == CellTombstone {
			continue
		}
		n++
		if t.Kind != KindList {
			path := m.Paths.At(k)
			dst = binary.BigEndian.AppendUint32(dst, uint32(len(path)))
			dst = append(dst, path...)
		}
		if t.Kind != KindSet {
			dst = m.appendElement(dst, k)
		}
	}
	binary.BigEndian.PutUint32(dst[count:], n)
	return dst, true
}

// appendElement appends the value of cell k with its length before it.
func (m *MultiCells) appendElement(dst []byte, k int) []byte {
	at := len(dst)
	dst, _ = m.AppendValue(append(dst, 0, 0, 0, 0), k)
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

// appendFields is appendFrozen of a user type: fields without a cell are null.
func (m *MultiCells) appendFields(dst []byte, t *Type, from, to int) []byte {
	for f := range t.Args {
		for from < to && fieldOf(m.Paths.At(from)) < f {
			from++
		}
		if from < to && fieldOf(m.Paths.At(from)) == f && m.State(from).Kind() != CellTombstone {
			dst = m.appendElement(dst, from)
		} else {
			dst = append(dst, 0xff, 0xff, 0xff, 0xff)
		}
	}
	return dst
}

// fieldOf is the number of the field that a path of a user type means, or -1.
func fieldOf(path []byte) int {
	if len(path) != 2 {
		return -1
	}
	return int(binary.BigEndian.Uint16(path))
}

// Size is what the cells of rows [from, to) count for row_group_size_in_bytes,
// those bytes included.
func (m *MultiCells) Size(from, to int) int64 {
	if len(m.rows) == 0 {
		return 0
	}
	a, b := m.start(from), m.start(to)
	size := int64(b-a)*CellBytes + stringBytes(&m.Paths, a, b)
	if m.values.class == ClassBytes && m.values.str.Len() >= b {
		size += stringBytes(&m.values.str, a, b)
	}
	for _, e := range between(m.values.Exceptions, a, b, exceptionRow) {
		size += int64(len(e.Value))
	}
	return size
}

// stringBytes is the length of strings [from, to) of s.
func stringBytes(s *bytestrings.Strings, from, to int) int64 {
	if from >= to {
		return 0
	}
	start := uint32(0)
	if from > 0 {
		start = s.Ends[from-1]
	}
	return int64(s.Ends[to-1] - start)
}

// appendRange appends rows [from, to) of o to m, which stands for at rows.
func (m *MultiCells) appendRange(o *MultiCells, at, from, to int) error {
	if len(o.rows) == 0 {
		if len(m.rows) > 0 {
			m.pad(at + to - from)
		}
		return nil
	}
	m.pad(at)
	a, b, k := o.start(from), o.start(to), m.Len()
	if err := m.Paths.AppendFrom(&o.Paths, a, b); err != nil {
		return err
	}
	if err := m.values.appendRange(&o.values, k, a, b, o.Len()); err != nil {
		return err
	}
	for _, r := range o.rows[from:to] {
		m.rows = append(m.rows, cellsOfRow{r.end + int32(k-a), r.there})
	}
	for _, d := range between(o.Deletions, from, to, cellsDeletionRow) {
		d.Row += at - from
		m.Deletions = append(m.Deletions, d)
	}
	return nil
}

func cellsDeletionRow(d *CellsDeletion) int { return d.Row }

// reverse turns the order of n rows round; cells of a row stay by path.
func (m *MultiCells) reverse() {
	n := len(m.rows)
	if n == 0 {
		return
	}
	if m.spare == nil {
		m.spare = newMultiCells(m.column)
	}
	s := m.spare
	s.reset()
	for i := n - 1; i >= 0; i-- {
		if err := s.appendRange(m, n-1-i, i, i+1); err != nil {
			panic(err) // m holds as much
		}
	}
	m.spare = nil
	*m, *s = *s, *m
	m.spare = s
}

// cut leaves rows [from, to), at the beginning.
func (m *MultiCells) cut(from, to int) {
	if len(m.rows) == 0 {
		return
	}
	a, b := m.start(from), m.start(to)
	m.values.cut(a, b)
	cutStrings(&m.Paths, a, b)
	m.rows = cutTo(m.rows, from, to)
	for i := range m.rows {
		m.rows[i].end -= int32(a)
	}
	kept := m.Deletions[:0]
	for _, d := range between(m.Deletions, from, to, cellsDeletionRow) {
		d.Row -= from
		kept = append(kept, d)
	}
	m.Deletions = kept
}

// keep leaves the rows at the positions of sel, which ascend, in place.
func (m *MultiCells) keep(sel []int32) {
	if len(m.rows) == 0 {
		return
	}
	m.sel = m.sel[:0]
	for j, i := range sel {
		from, to, there := m.Row(int(i)) // its row before stays if it is overwritten
		for k := from; k < to; k++ {
			m.sel = append(m.sel, int32(k))
		}
		m.rows[j] = cellsOfRow{int32(len(m.sel)), there}
	}
	m.rows = m.rows[:len(sel)]
	m.keepCells()
	kept := m.Deletions[:0]
	next := 0
	for _, d := range m.Deletions {
		if row, ok := selected(sel, &next, d.Row); ok {
			d.Row = row
			kept = append(kept, d)
		}
	}
	m.Deletions = kept
}

// keepCells leaves the cells of m.sel.
func (m *MultiCells) keepCells() {
	m.values.keep(m.sel)
	keepStrings(&m.Paths, m.sel)
}

// dropAbsent drops the cells that were made CellAbsent, all deletions, and rows
// without a cell.
func (m *MultiCells) dropAbsent() {
	m.Deletions = m.Deletions[:0]
	dropped := union(m.values.Cells)&CellAbsent != 0 && slices.Contains(m.values.Cells, CellAbsent)
	m.sel = m.sel[:0]
	from, before := 0, int32(0)
	for i := range m.rows {
		r := &m.rows[i]
		to := int(r.end)
		if dropped {
			for k := from; k < to; k++ {
				if m.values.Cells[k] != CellAbsent {
					m.sel = append(m.sel, int32(k))
				}
			}
			r.end = int32(len(m.sel))
		}
		from = to
		r.there = r.end > before
		before = r.end
	}
	if dropped {
		m.values.dropExceptions()
		m.keepCells()
	}
}

// check checks the entries of n rows, of which some have no cells: markers, or
// partitions without a full static row.
func (m *MultiCells) check(n int, what string, bare func(i int) bool) error {
	if len(m.rows) != 0 && len(m.rows) != n {
		return fmt.Errorf("cells of %d of %d of %s", len(m.rows), n, what)
	}
	end := int32(0)
	for i, r := range m.rows {
		switch {
		case r.end < end || r.end > end && !r.there:
			return fmt.Errorf("%s %d: its cells end before they begin, or the column is absent", what, i)
		case r.end-end > MaxCells:
			return fmt.Errorf("%s %d: %w: %d cells; the limit is %d", what, i, encoding.ErrUnsupported, r.end-end, MaxCells)
		case r.there && bare(i):
			return fmt.Errorf("%s %d cannot have cells", what, i)
		}
		end = r.end
	}
	last := -1
	for _, d := range m.Deletions {
		if d.Row <= last || d.Row >= len(m.rows) || !m.rows[d.Row].there || d.Live() {
			return fmt.Errorf("complex deletion at %s %d of %d", what, d.Row, len(m.rows))
		}
		last = d.Row
	}
	cells := int(end)
	if m.Paths.Len() != cells {
		return fmt.Errorf("%d paths for %d cells", m.Paths.Len(), cells)
	}
	if cells > 0 {
		if err := m.values.check(cells, "cell", false); err != nil {
			return err
		}
	} else if l := m.values.len() + len(m.values.Cells); l > 0 {
		return fmt.Errorf("%d values or states without a cell", l)
	}
	for k, c := range m.values.Cells {
		if c == CellAbsent {
			return fmt.Errorf("cell %d is absent", k)
		}
	}
	if err := m.values.checkRange(&m.typ, "cell", func(k int) bool { return !m.State(k).HasValue() }, "; CellException keeps what its type cannot hold"); err != nil {
		return err
	}
	if err := checkLengths(&m.values.str, "cell"); err != nil {
		return err
	}
	return checkLengths(&m.Paths, "path")
}

// checkBare checks that cells of rows without a liveness share nothing with it.
func (m *MultiCells) checkBare(meta *RowMeta, what string) error {
	for i, l := range meta.Liveness {
		if l != LivenessNone {
			continue
		}
		from, to, _ := m.Row(i)
		for k := from; k < to; k++ {
			if c := m.State(k); c.Kind() == CellAsRow || c&CellOwnTime == 0 {
				return fmt.Errorf("%s %d has no liveness, but its cell has no write time of its own", what, i)
			}
		}
	}
	return nil
}

// disordered is the first cell of rows [from, to) that does not follow the one
// before it in its row, or -1.
func (m *MultiCells) disordered(from, to int) int {
	t := m.PathType()
	if !t.Ordered() {
		return -1
	}
	for i := from; i < to; i++ {
		first, end, _ := m.Row(i)
		for k := first + 1; k < end; k++ {
			if collate(&t, m.Paths.At(k-1), m.Paths.At(k)) >= 0 {
				return k
			}
		}
	}
	return -1
}

// cells checks that the cells of partition p, with rows [from, to), stand by
// their paths.
func (c *OrderChecker) cells(b *Batch, p, from, to int) error {
	for _, col := range c.multi {
		m := b.vecs[col].multi
		first, end := from, to
		if c.schema.Role(col) == Static {
			first, end = p, p+1
		}
		if m.Len() == 0 {
			continue
		}
		if k := m.disordered(first, end); k >= 0 {
			row := -1
			if c.schema.Role(col) == Regular {
				row = sort.Search(end, func(i int) bool { return int(m.rows[i].end) > k })
			}
			return &OrderError{Key: slices.Clone(b.Key(p)), Partition: p, Row: row, text: fmt.Sprintf(
				"%scolumn %q: its cell %s stands after %s", c.schema.partitionText(b.Key(p)), c.schema.cols[col].Name,
				AppendText(nil, m.PathType(), m.Paths.At(k)), AppendText(nil, m.PathType(), m.Paths.At(k-1)))}
		}
	}
	return nil
}

// multi gathers the cells of m in some rows, as streams from s on.
func (g *gatherer) multi(s int, m *MultiCells, meta *RowMeta, r *rowsOf) {
	if len(m.rows) == 0 {
		g.repeat(s+cCells, r.n, 0)
		return
	}
	counts, present := g.room(s+cCells, r.n), 0
	for i := range counts {
		counts[i] = 0
		if from, to, there := m.Row(r.at(i)); there {
			counts[i] = 1 + int64(to-from)
			present++
		}
	}
	fromRow, toRow := r.bounds()
	if deletions := between(m.Deletions, fromRow, toRow, cellsDeletionRow); len(deletions) == 0 {
		g.repeat(s+cDeleted, present, 0)
	} else {
		for i := range counts {
			if counts[i] == 0 {
				continue
			}
			deleted := int64(0)
			if len(deletions) > 0 && deletions[0].Row == r.at(i) {
				deleted = 1
				g.appendInt(s+cDelTime, deletions[0].MarkedForDeleteAt)
				g.appendInt(s+cDelLocal, deletions[0].LocalDeletionTime)
				deletions = deletions[1:]
			}
			g.appendInt(s+cDeleted, deleted)
		}
	}
	from, to := m.start(fromRow), m.start(toRow) // no others lie between them
	if from == to {
		return
	}
	g.aliasStrings(s+cPath, &m.Paths, from, to)
	var ofCells RowMeta
	if len(m.values.Cells) > 0 && len(meta.Liveness) > 0 {
		g.live = resize(g.live, to)
		for i := range r.n {
			row := r.at(i)
			a, b, _ := m.Row(row)
			for k := a; k < b; k++ {
				g.live[k] = meta.Liveness[row]
			}
		}
		ofCells.Liveness = g.live
	}
	g.column(s, &m.values, &ofCells, &rowsOf{base: from, n: to - from})
}

// openCells takes what the cells of multi-cell columns count from the room of
// the groups, before anything is decoded.
func (d *blockDecoder) openCells() error {
	for _, paths := range d.l.paths {
		if d.where[paths] == 0 {
			continue
		}
		for g := range d.groups {
			d.laid = evenGroups{} // no longer
			if d.room[g] -= d.count(paths, g) * CellBytes; d.room[g] < 0 {
				d.t = nil
				return d.corrupt(paths, g, "%d cells are more than a row group can hold", d.count(paths, g))
			}
		}
	}
	return nil
}

// decodeMulti decodes multi-cell column streams around s of the rows of sp, whose
// liveness states are live.
func (d *blockDecoder) decodeMulti(m *MultiCells, s int, sp *span, live *liveness, o *ScanOptions) error {
	for g := sp.from; g < sp.to; g++ {
		x := *sp
		if sp.to > sp.from+1 {
			x = span{from: g, to: g + 1, at: sp.at + d.starts[g] - d.starts[sp.from], n: d.rows[g]}
		}
		if err := d.decodeCellsOf(m, s, &x, live, o); err != nil {
			return err
		}
		m.Pad(x.at + x.n)
	}
	return nil
}

// decodeCellsOf is decodeMulti for one group.
func (d *blockDecoder) decodeCellsOf(m *MultiCells, s int, sp *span, live *liveness, o *ScanOptions) error {
	g, cells := sp.from, d.count(s+cPath, sp.from)
	if d.count(s+cCells, g) != sp.rows() {
		return d.corrupt(s+cCells, g, "%d values for %d rows", d.count(s+cCells, g), sp.rows())
	}
	present, err := d.decodeCounts(m, s, sp, cells)
	if err != nil {
		return err
	}
	if err := d.decodeCellsDeletions(m, s, sp, present, o); err != nil {
		return err
	}
	if cells == 0 {
		for st := s; st < s+numColumnStreams; st++ {
			if d.count(st, g) != 0 {
				return d.corrupt(st, g, "values of no cell")
			}
		}
		return nil
	}
	ofCells := liveness{all: live.all}
	if live.each != nil {
		d.ofCells = d.ofCells[:0]
		for i, l := range live.each {
			from, to, _ := m.Row(sp.row(int32(i)))
			for range to - from {
				d.ofCells = append(d.ofCells, l)
			}
		}
		ofCells.each = d.ofCells
	}
	if err := d.decodeBytes(&m.Paths, s+cPath, g); err != nil {
		return err
	}
	c := span{from: g, to: g + 1, at: m.Len() - cells, n: cells}
	if err := d.decodeColumn(&m.values, s, &c, &ofCells, o); err != nil {
		return err
	}
	if len(m.values.Cells) > 0 && slices.Contains(m.values.Cells[c.at:], CellAbsent) {
		return d.corrupt(s+cState, g, "a cell that is absent")
	}
	return nil
}

// decodeCounts gives the rows of sp their entries, for so many cells in all, and
// returns how many have the column.
func (d *blockDecoder) decodeCounts(m *MultiCells, s int, sp *span, cells int) (present int, err error) {
	at, counts, err := d.nonzeros(s+cCells, sp.from)
	if err != nil {
		return 0, err
	}
	left := int64(cells)
	for _, n := range counts {
		if left -= n - 1; n < 0 || left < 0 {
			return 0, d.corrupt(s+cCells, sp.from, "a row of %d cells where there are %d", n-1, cells)
		}
	}
	if left != 0 {
		return 0, d.corrupt(s+cPath, sp.from, "%d cells of no row", left)
	}
	if len(counts) == 0 {
		return 0, nil
	}
	m.pad(sp.at)
	end := int32(m.Len())
	for i, n := range counts {
		row := sp.row(at[i])
		m.pad(row)
		end += int32(n - 1)
		m.rows = append(m.rows, cellsOfRow{end, true})
	}
	m.pad(sp.at + sp.n)
	return len(counts), nil
}

// decodeCellsDeletions decodes the complex deletions of those rows of sp,
// present of them, that have the column.
func (d *blockDecoder) decodeCellsDeletions(m *MultiCells, s int, sp *span, present int, o *ScanOptions) error {
	g := sp.from
	if d.count(s+cDeleted, g) != present {
		return d.corrupt(s+cDeleted, g, "%d values for %d rows", d.count(s+cDeleted, g), present)
	}
	times, err := d.intStream(s+cDelTime, g)
	if err != nil {
		return err
	}
	locals, err := d.intStream(s+cDelLocal, g)
	if err != nil {
		return err
	}
	at, states, err := d.nonzeros(s+cDeleted, g)
	if err != nil {
		return err
	}
	if len(states) != len(times) || len(states) != len(locals) {
		return d.corrupt(s+cDelTime, g, "%d and %d times for %d deletions", len(times), len(locals), len(states))
	}
	row, seen := sp.at, -1 // behind the last present one that was seen, and its number
	for k, x := range states {
		if x != 1 || times[k] == NoDeletion {
			return d.corrupt(s+cDeleted, g, "state %d, time %d", x, times[k])
		}
		for ; seen < int(at[k]); row++ {
			if m.rows[row].there {
				seen++
			}
		}
		if !o.WithoutMetadata {
			m.Deletions = append(m.Deletions, CellsDeletion{row - 1, Deletion{times[k], locals[k]}})
		}
	}
	return nil
}
