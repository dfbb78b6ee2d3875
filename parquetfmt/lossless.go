package parquetfmt

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// lossless makes batches of the rows of a lossless file.
type lossless struct {
	s      *scan
	rows   map[*shape]*readColumn
	cells  []cellColumns // by column number
	wanted []bool        // by column number
	n      int           // unfiltereds of the batch

	// The beginning of a partition, as long as no row of it has come: all of it
	// belongs into one batch.
	head    *rowgroup.Batch
	waiting bool
}

// cellColumns are the columns of metadata of one column's cells.
type cellColumns struct {
	state, writeTime, ttl, expiry, bytes *readColumn
	time, local                          *readColumn
	cells                                *cellsReader
}

// cellsReader reads the cells of a multi-cell column, a row at a time.
type cellsReader struct {
	*readColumn
	row []rowgroup.MultiCell // of the row at hand
}

func newLossless(s *scan) *lossless {
	x := &lossless{s: s, rows: map[*shape]*readColumn{}, head: rowgroup.NewBatch(s.f.schema)}
	r := &s.f.plan.rows
	for _, sh := range []*shape{r.kind, r.key, r.liveness, r.writeTime, r.ttl, r.expiry, r.deletion.time, r.deletion.local,
		r.shadowable, r.openDeletion.time, r.openDeletion.local, r.prefix} {
		if sh != nil {
			c := s.column(sh)
			x.rows[sh] = c
			s.rows = append(s.rows, c)
		}
	}
	flat := func(sh *shape) *readColumn {
		c := s.column(sh)
		if c != nil {
			s.cells = append(s.cells, c)
		}
		return c
	}
	x.cells = make([]cellColumns, len(s.f.plan.cells))
	x.wanted = make([]bool, len(x.cells))
	for i, l := range s.f.plan.cells {
		role := s.f.schema.Role(i)
		x.wanted[i] = role < rowgroup.Static || s.o.Columns == nil || s.o.Live || slices.Contains(s.o.Columns, i)
		if !x.wanted[i] {
			continue
		}
		x.cells[i] = cellColumns{state: flat(l.state), writeTime: flat(l.writeTime), ttl: flat(l.ttl), expiry: flat(l.expiry),
			bytes: flat(l.bytes), time: flat(l.deletion.time), local: flat(l.deletion.local)}
		if l.cells != nil {
			c := s.column(l.cells)
			s.multi = append(s.multi, c)
			x.cells[i].cells = &cellsReader{readColumn: c}
		}
	}
	return x
}

// text is the text of row i, "" where there is none.
func (x *lossless) text(s *shape, i int) string {
	c := x.rows[s]
	if isNull(c, i) {
		return ""
	}
	return string(c.values.Str.At(i))
}

func isNull(c *readColumn, i int) bool { return c == nil || len(c.nulls) > 0 && c.nulls[i] }

func int64At(c *readColumn, i int) int64 {
	if isNull(c, i) {
		return 0
	}
	return c.values.I64[i]
}

func int32At(c *readColumn, i int) int32 {
	if isNull(c, i) {
		return 0
	}
	return c.values.I32[i]
}

func (x *lossless) deletion(d deletionLeaves, i int) rowgroup.Deletion {
	return deletionAt(x.rows[d.time], x.rows[d.local], i)
}

func deletionAt(time, local *readColumn, i int) rowgroup.Deletion {
	if isNull(time, i) {
		return rowgroup.LiveDeletion
	}
	return rowgroup.Deletion{MarkedForDeleteAt: time.values.I64[i], LocalDeletionTime: int64At(local, i)}
}

func (x *lossless) batch(b *builder, dst *rowgroup.Batch, n int, first int64) error {
	x.n = 0
	r := &x.s.f.plan.rows
	var key []byte
	for i, end := 0, 0; i < n; i++ {
		if i == end { // rows of another key, or of one that is given otherwise
			var err error
			if key, err = x.key(b, i, first); err != nil {
				return err
			}
			if end = n; r.key != nil && len(x.rows[r.key].nulls) == 0 {
				end = i + 1
			}
			for k := range x.s.keys {
				end = min(end, x.s.columns[k].sameUntil(i, n))
			}
			if r.key != nil && len(x.rows[r.key].nulls) > 0 {
				for k := i; k < end; k++ {
					if x.rows[r.key].nulls[k] != x.rows[r.key].nulls[i] || !x.rows[r.key].nulls[k] && k > i {
						end = k
					}
				}
			}
		}
		for col := range x.cells {
			if c := x.cells[col].cells; c != nil {
				if err := c.next(); err != nil {
					return err
				}
			}
		}
		if !x.s.all && !bytes.Equal(key, x.s.key) {
			continue
		}
		fail := func(f string, args ...any) error {
			return encoding.Corruptf(fmt.Sprintf("row %d", first+int64(i)), f, args...)
		}
		kind := x.text(r.kind, i)
		switch kind {
		case kindPartition, kindStatic, kindStaticEmpty:
			begun := x.waiting && bytes.Equal(key, x.head.Key(0))
			if kind == kindPartition && begun || !begun && b.begun && bytes.Equal(key, b.last) {
				return fail("a row of kind %s within its partition", kind)
			}
			if !begun {
				if err := x.begin(b, dst, key); err != nil {
					return err
				}
			}
			p := x.head.Partition(0)
			switch kind {
			case kindPartition:
				p.Deletion = x.deletion(r.deletion, i)
				continue
			case kindStaticEmpty:
				p.Static = rowgroup.StaticEmpty
				continue
			}
			if p.Static == rowgroup.StaticFull {
				return fail("a second static row")
			}
			p.Static = rowgroup.StaticFull
			if err := x.put(b, x.head, i, 0, rowgroup.Static, x.head.StaticMeta(), first); err != nil {
				return err
			}
			continue
		}
		if err := x.within(b, dst, key); err != nil {
			return err
		}
		if kind == kindRow {
			if err := x.put(b, dst, i, x.n, rowgroup.Clustering, nil, first); err != nil {
				return err
			}
			if err := x.put(b, dst, i, x.n, rowgroup.Regular, dst.Meta(), first); err != nil {
				return err
			}
			x.n++
			continue
		}
		m := rowgroup.Marker{Row: x.n, Prefix: int(int32At(x.rows[r.prefix], i)), Close: rowgroup.LiveDeletion, Open: rowgroup.LiveDeletion}
		known := false
		for k, name := range markerKinds {
			if name == kind {
				m.Kind, known = k, true
			}
		}
		if !known {
			return fail("kind %q", kind)
		}
		if m.Kind.Closes() {
			m.Close = x.deletion(r.deletion, i)
		}
		if m.Kind.Opens() {
			m.Open = x.deletion(r.openDeletion, i)
		}
		if err := x.put(b, dst, i, x.n, rowgroup.Clustering, nil, first); err != nil {
			return err
		}
		*dst.Markers() = append(*dst.Markers(), m)
		x.n++
	}
	return x.end(dst)
}

// begin begins a partition that has yet to get its first row.
func (x *lossless) begin(b *builder, dst *rowgroup.Batch, key []byte) error {
	if err := x.release(b, dst); err != nil {
		return err
	}
	x.head.Clear()
	x.head.BeginPartition(key)
	x.waiting = true
	return nil
}

// release appends the partition that waits, if one does, to dst.
func (x *lossless) release(b *builder, dst *rowgroup.Batch) error {
	if !x.waiting {
		return nil
	}
	x.waiting = false
	b.begun, b.last = true, append(b.last[:0], x.head.Key(0)...)
	dst.SetLen(x.n)
	from, to := x.s.f.schema.Range(rowgroup.Static)
	for col := from; col < to; col++ {
		if m := x.head.MultiCells(col); x.wanted[col] && m == nil {
			if err := errors.Join(padColumn(dst, col, dst.NumPartitions()), padColumn(x.head, col, 1)); err != nil {
				return err
			}
		}
	}
	return dst.AppendParts(x.head, 0, 0, 0, 1)
}

// within makes the partition with this key the last one of dst.
func (x *lossless) within(b *builder, dst *rowgroup.Batch, key []byte) error {
	if x.waiting {
		if err := x.release(b, dst); err != nil {
			return err
		}
	}
	if n := dst.NumPartitions(); n > 0 && bytes.Equal(dst.Key(n-1), key) {
		return nil
	}
	h := dst.BeginPartition(key)
	h.Start = x.n
	h.Continued = b.begun && bytes.Equal(key, b.last)
	b.begun, b.last = true, append(b.last[:0], key...)
	return nil
}

// finish makes a batch of the partition that waits at the end of the file.
func (x *lossless) finish(b *builder, dst *rowgroup.Batch) (more bool, err error) {
	if more = x.waiting; more {
		dst.Clear()
		x.n = 0
		if err = x.release(b, dst); err == nil {
			err = x.end(dst)
		}
	}
	return more, err
}

// key is the partition key of row i, valid until the next call.
func (x *lossless) key(b *builder, i int, first int64) ([]byte, error) {
	if c := x.rows[x.s.f.plan.rows.key]; !isNull(c, i) {
		if k := c.values.Str.At(i); len(k) <= encoding.MaxKeyBytes {
			return k, nil
		}
		return nil, b.fail(i, first, keyColumn, errForm)
	}
	return b.keyAt(i, first)
}

// put appends row i of the file to the columns of a role, which have at entries,
// and to their metadata.
func (x *lossless) put(b *builder, dst *rowgroup.Batch, i, at int, role rowgroup.Role, m *rowgroup.RowMeta, first int64) error {
	if m != nil {
		if err := x.rowMeta(m, i, at); err != nil {
			return err
		}
	}
	from, to := x.s.f.schema.Range(role)
	for col := from; col < to; col++ {
		if !x.wanted[col] {
			continue
		}
		name := x.s.f.schema.Column(col).Name
		c := &x.cells[col]
		if c.cells != nil {
			if err := c.putMulti(dst.MultiCells(col), i, at); err != nil {
				return b.fail(i, first, name, err)
			}
			continue
		}
		state := rowgroup.CellAsRow
		if role != rowgroup.Clustering {
			v := int32At(c.state, i)
			if v < 0 || v > 255 {
				return b.fail(i, first, name, fmt.Errorf("cell of state %d", v))
			}
			state = rowgroup.Cell(v)
		}
		v, ok := b.value[:0], false
		if k := state.Kind(); k != rowgroup.CellAbsent && k != rowgroup.CellTombstone {
			if !isNull(c.bytes, i) {
				v, ok = append(v, c.bytes.values.Str.At(i)...), true
			} else {
				var err error
				if v, ok, err = x.s.columns[col].value(v, i); err != nil {
					return b.fail(i, first, name, err)
				}
			}
			if !ok && role != rowgroup.Clustering {
				return b.fail(i, first, name, fmt.Errorf("a cell without its value"))
			}
		}
		b.value = v
		if err := padColumn(dst, col, at); err != nil {
			return err
		}
		if err := dst.PutValue(col, at, v, ok); err != nil {
			return err
		}
		if role == rowgroup.Clustering {
			continue
		}
		cm := dst.CellMeta(col)
		const found = rowgroup.CellEmpty | rowgroup.CellException
		if len(cm.Cells) > at {
			state = state&^found | cm.Cells[at]&found
		} else {
			state &^= found
		}
		if state == 0 && len(cm.Cells) == 0 {
			continue
		}
		cm.Cells = pad(cm.Cells, at+1)
		cm.Cells[at] = state
		if state&rowgroup.CellOwnTime != 0 {
			cm.WriteTimes = append(pad(cm.WriteTimes, at), int64At(c.writeTime, i))
		}
		if state&rowgroup.CellOwnExpiry != 0 && state.Kind() == rowgroup.CellExpiring {
			cm.TTLs = append(pad(cm.TTLs, at), int32At(c.ttl, i))
		}
		if state&rowgroup.CellOwnExpiry != 0 || state.Kind() == rowgroup.CellTombstone {
			cm.Expiries = append(pad(cm.Expiries, at), int64At(c.expiry, i))
		}
	}
	return nil
}

// rowMeta appends the metadata of row i.
func (x *lossless) rowMeta(m *rowgroup.RowMeta, i, at int) error {
	r := &x.s.f.plan.rows
	name := x.text(r.liveness, i)
	k := slices.Index(livenessNames[:], name)
	if k < 0 {
		return encoding.Corruptf("value", "liveness %q", name)
	}
	live := rowgroup.Liveness(k)
	if live != rowgroup.LivenessLive || len(m.Liveness) > 0 {
		m.Liveness = append(pad(m.Liveness, at), live)
	}
	if v := int64At(x.rows[r.writeTime], i); live != rowgroup.LivenessNone && (v != 0 || len(m.WriteTimes) > 0) {
		m.WriteTimes = append(pad(m.WriteTimes, at), v)
	}
	if live == rowgroup.LivenessExpiring {
		m.TTLs = append(pad(m.TTLs, at), int32At(x.rows[r.ttl], i))
	}
	if live == rowgroup.LivenessExpiring || live == rowgroup.LivenessExpired {
		m.Expiries = append(pad(m.Expiries, at), int64At(x.rows[r.expiry], i))
	}
	if d := x.deletion(r.deletion, i); !d.Live() {
		m.Deletions = append(m.Deletions, rowgroup.RowDeletion{Row: at, Deletion: d, Shadowable: int32At(x.rows[r.shadowable], i) != 0})
	}
	return nil
}

// next reads the cells of the next row.
func (c *cellsReader) next() error {
	if err := c.ready(); err != nil {
		return err
	}
	err := c.take()
	if err == nil {
		err = c.rowEnded()
	}
	if err != nil {
		return fmt.Errorf("row group %d, column %s: %w", c.parts[0].group, c.node, err)
	}
	return nil
}

// take takes the next row's cells apart: c.row is nil where the column is
// absent.
func (c *cellsReader) take() error {
	repeated := c.children[0]
	e := c.entries[0]
	d, there := e.def()
	c.row = c.row[:0]
	switch {
	case !there:
		return errLevels
	case d < repeated.maxDef:
		if c.row = nil; d == c.maxDef {
			c.row = []rowgroup.MultiCell{}
		}
		return c.asm.skip(c.node)
	}
	if c.row == nil {
		c.row = []rowgroup.MultiCell{}
	}
	for {
		var x rowgroup.MultiCell
		for k, p := range c.shape.parts {
			i, ok := c.asm.leafValue(p)
			v := &c.entries[k].values
			switch {
			case !ok && k < 2:
				return errLevels
			case !ok:
			case k == 0:
				x.Path = v.Str.At(i)
			case k == 1:
				if v.I32[i] < 0 || v.I32[i] > 255 {
					return encoding.Corruptf("value", "cell of state %d", v.I32[i])
				}
				x.State = rowgroup.Cell(v.I32[i]) &^ (rowgroup.CellEmpty | rowgroup.CellException)
			case k == 2:
				x.WriteTime = v.I64[i]
			case k == 3:
				x.TTL = v.I32[i]
			case k == 4:
				x.Expiry = v.I64[i]
			default:
				x.Value = v.Str.At(i)
			}
		}
		c.row = append(c.row, x)
		if e.rep() < repeated.maxRep || e.entry == len(e.defs) {
			return nil
		}
	}
}

// putMulti appends the row at hand to a multi-cell column.
func (c *cellColumns) putMulti(m *rowgroup.MultiCells, i, at int) error {
	d := deletionAt(c.time, c.local, i)
	if c.cells.row == nil {
		return nil
	}
	m.Begin(at)
	m.Delete(d)
	for k := range c.cells.row {
		if err := m.Append(&c.cells.row[k]); err != nil {
			return err
		}
	}
	return nil
}

// end gives every column as many entries as there are rows or partitions.
func (x *lossless) end(dst *rowgroup.Batch) error {
	s := x.s.f.schema
	from, _ := s.Range(rowgroup.Clustering)
	for col := from; col < s.NumColumns(); col++ {
		if !x.wanted[col] {
			continue
		}
		n := x.n
		if s.Role(col) == rowgroup.Static {
			n = dst.NumPartitions()
		}
		if n == 0 {
			continue
		}
		if m := dst.MultiCells(col); m != nil {
			if m.Rows() > 0 {
				m.Pad(n)
			}
			continue
		}
		if err := padColumn(dst, col, n); err != nil {
			return err
		}
		m := dst.CellMeta(col)
		m.WriteTimes, m.TTLs, m.Expiries = padded(m.WriteTimes, n), padded(m.TTLs, n), padded(m.Expiries, n)
	}
	for _, m := range []struct {
		*rowgroup.RowMeta
		n int
	}{{dst.Meta(), x.n}, {dst.StaticMeta(), dst.NumPartitions()}} {
		m.Liveness, m.WriteTimes, m.TTLs, m.Expiries = padded(m.Liveness, m.n), padded(m.WriteTimes, m.n), padded(m.TTLs, m.n), padded(m.Expiries, m.n)
	}
	dst.SetLen(x.n)
	return nil
}

// padded is s with zeros up to n entries, unless it has none at all.
func padded[T any](s []T, n int) []T {
	if len(s) == 0 {
		return s
	}
	return pad(s, n)
}

// padColumn makes a column n entries long, those added absent.
func padColumn(b *rowgroup.Batch, col, n int) error {
	have := 0
	switch b.Schema().Column(col).Type.Physical().Class() {
	case rowgroup.ClassInt32:
		have = len(*b.Int32s(col))
	case rowgroup.ClassInt64:
		have = len(*b.Int64s(col))
	case rowgroup.ClassFloat32:
		have = len(*b.Float32s(col))
	case rowgroup.ClassFloat64:
		have = len(*b.Float64s(col))
	default:
		have = b.Bytes(col).Len()
	}
	for ; have < n; have++ {
		if err := b.PutValue(col, have, nil, false); err != nil {
			return err
		}
	}
	return nil
}
