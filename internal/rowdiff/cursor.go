package rowdiff

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/colsst/colsst/rowgroup"
)

// cursor walks through the partitions and rows of one side.
type cursor struct {
	side       Side
	with       bool // metadata is encoded
	statics    []int
	regulars   []int // columns, in the order of side a
	clustering int   // the first of its columns
	places     []int // clustering columns whose values may differ at one place
	batch      *rowgroup.Batch
	key        []byte // of the partition
	begun      bool   // within a partition
	end        bool
	p, i, to   int // partition, row and the partition's end in batch
	rows       int64
	metadata   bool // there was some
	value      []byte
	buf        [8]byte
}

func newCursor(side Side, order *rowgroup.Schema, metadata bool) *cursor {
	c := &cursor{side: side, with: metadata, batch: rowgroup.NewBatch(side.Schema), p: -1}
	c.clustering, _ = side.Schema.Range(rowgroup.Clustering)
	c.batch.Clear()
	for i := range order.NumColumns() {
		switch order.Role(i) {
		case rowgroup.Static:
			c.statics = append(c.statics, side.Schema.Lookup(order.Column(i).Name))
		case rowgroup.Clustering:
			if manyFormed(order.Column(i).Type) {
				c.places = append(c.places, side.Schema.Lookup(order.Column(i).Name))
			}
		case rowgroup.Regular:
			c.regulars = append(c.regulars, side.Schema.Lookup(order.Column(i).Name))
		}
	}
	return c
}

// load reads the next batch that holds a partition.
func (c *cursor) load() (bool, error) {
	for !c.end {
		more, err := c.side.Rows.Next(c.batch)
		if err != nil {
			return false, err
		}
		if !more {
			c.end = true
			break
		}
		c.p = -1
		if c.batch.NumPartitions() > 0 {
			return true, nil
		}
	}
	return false, nil
}

// partition moves to the next partition, unless the cursor is at the begin of
// one, and reports whether there is one. The rows of the last were read.
func (c *cursor) partition() (bool, error) {
	if c.begun {
		return true, nil
	}
	if c.end {
		return false, nil
	}
	if c.p+1 >= c.batch.NumPartitions() {
		if more, err := c.load(); !more || err != nil {
			return false, err
		}
	}
	c.enter()
	c.key = append(c.key[:0], c.batch.Key(c.p)...)
	c.begun = true
	return true, nil
}

func (c *cursor) enter() {
	c.p++
	c.i, c.to = c.batch.PartitionRows(c.p)
}

// row reports whether the partition has a next row, and moves to its batch.
func (c *cursor) row() (bool, error) {
	for c.i >= c.to {
		if c.p+1 < c.batch.NumPartitions() {
			return false, nil
		}
		if more, err := c.load(); !more || err != nil {
			return false, err
		}
		if !bytes.Equal(c.batch.Key(0), c.key) {
			return false, nil // partition will enter it
		}
		c.enter()
	}
	return true, nil
}

// collect encodes the rows of the key of the current row, or with single that
// row alone, and moves behind them.
func (c *cursor) collect(r *run, single bool) error {
	s := c.side.Schema
	r.position = s.AppendPosition(r.position[:0], c.batch, c.i)
	c.encode(r)
	for last := c.i - 1; !single; last = c.i - 1 {
		if c.i < c.to {
			if s.CompareUnfiltered(c.batch, last, c.batch, c.i) != 0 {
				return nil
			}
			c.encode(r)
			continue
		}
		more, err := c.row()
		if !more || err != nil {
			return err
		}
		position, _, err := rowgroup.ParsePosition(s, r.position)
		if err != nil {
			return err
		}
		if s.ComparePosition(c.batch, c.i, &position) != 0 {
			return nil
		}
		c.encode(r)
	}
	return nil
}

// encode appends the current row to r and moves behind it.
func (c *cursor) encode(r *run) {
	b, i := c.batch, c.i
	c.i++
	marker := b.MarkerAt(i)
	if marker == nil {
		c.rows++
	}
	for _, col := range c.places {
		value, ok := b.AppendValue(c.value[:0], col, i)
		c.value = value
		if ok && (marker == nil || col-c.clustering < marker.Prefix) {
			r.data = appendField(r.data, value)
		} else {
			r.data = append(r.data, 0)
		}
	}
	if c.with {
		if marker != nil {
			r.data = appendField(r.data, fmt.Appendf(nil, "kind %d, %d values, ends %v, begins %v", marker.Kind, marker.Prefix, marker.Close, marker.Open))
			r.end()
			return
		}
		r.data = append(r.data, 0)
		r.data = c.rowMeta(r.data, b.Meta(), i)
	} else if marker != nil {
		c.metadata = true
		return
	} else if !c.metadata {
		c.metadata = hasMetadata(b, i)
	}
	for _, col := range c.regulars {
		r.data = c.cell(r.data, col, i, b.Meta())
	}
	r.end()
}

// head appends what the partition has beside its rows.
func (c *cursor) head(r *run) {
	b, p := c.batch, c.p
	h := b.Partition(p)
	if c.with {
		r.data = c.deletion(r.data, h.Deletion, false)
	} else if !h.Deletion.Live() {
		c.metadata = true
	}
	if len(c.statics) > 0 {
		r.data = appendField(r.data, staticNames[h.Static%3])
		if h.Static == rowgroup.StaticFull {
			if c.with {
				r.data = c.rowMeta(r.data, b.StaticMeta(), p)
			}
			for _, col := range c.statics {
				r.data = c.cell(r.data, col, p, b.StaticMeta())
			}
		}
	}
	r.end()
}

// manyFormed reports whether values of t that differ may have one place in its
// order: 1.0 and 1.00, NaNs.
func manyFormed(t rowgroup.Type) bool {
	switch t.Physical().Class() {
	case rowgroup.ClassFloat32, rowgroup.ClassFloat64:
		return true
	case rowgroup.ClassBytes:
		return t.Kind != rowgroup.KindText && t.Kind != rowgroup.KindASCII && t.Kind != rowgroup.KindBlob
	}
	return false
}

// hasMetadata reports whether row i has more than a row of text: it is live
// with write time 0.
func hasMetadata(b *rowgroup.Batch, i int) bool {
	m := b.Meta()
	return at(m.Liveness, i) != rowgroup.LivenessLive || at(m.WriteTimes, i) != 0 || len(m.Deletions) > 0
}

func (c *cursor) int(dst []byte, v int64) []byte {
	return appendField(dst, binary.BigEndian.AppendUint64(c.buf[:0], uint64(v)))
}

func (c *cursor) deletion(dst []byte, d rowgroup.Deletion, shadowable bool) []byte {
	if d.Live() {
		return append(dst, 0)
	}
	c.metadata = true
	text := fmt.Appendf(nil, "at %d, local %d", d.MarkedForDeleteAt, d.LocalDeletionTime)
	if shadowable {
		text = append(text, ", shadowable"...)
	}
	return appendField(dst, text)
}

// rowMeta appends the metadata of a row: metaFields fields.
func (c *cursor) rowMeta(dst []byte, m *rowgroup.RowMeta, i int) []byte {
	state := at(m.Liveness, i)
	dst = appendField(dst, livenessNames[state&3])
	if state == rowgroup.LivenessNone {
		dst = append(dst, 0)
	} else {
		w := at(m.WriteTimes, i)
		c.metadata = c.metadata || w != 0
		dst = c.int(dst, w)
	}
	c.metadata = c.metadata || state != rowgroup.LivenessLive
	if state == rowgroup.LivenessExpiring {
		dst = c.int(dst, int64(at(m.TTLs, i)))
	} else {
		dst = append(dst, 0)
	}
	if state == rowgroup.LivenessExpiring || state == rowgroup.LivenessExpired {
		dst = c.int(dst, at(m.Expiries, i))
	} else {
		dst = append(dst, 0)
	}
	k, found := slices.BinarySearchFunc(m.Deletions, i, func(d rowgroup.RowDeletion, i int) int { return d.Row - i })
	if !found {
		return append(dst, 0)
	}
	return c.deletion(dst, m.Deletions[k].Deletion, m.Deletions[k].Shadowable)
}

var livenessNames = [4][]byte{
	rowgroup.LivenessLive: []byte("live"), rowgroup.LivenessNone: []byte("none"),
	rowgroup.LivenessExpiring: []byte("expiring"), rowgroup.LivenessExpired: []byte("expired"),
}

// cell appends a cell: its value, and with metadata what differs from the
// row's liveness (cellFields fields).
func (c *cursor) cell(dst []byte, col, i int, m *rowgroup.RowMeta) []byte {
	b := c.batch
	value, ok := b.AppendValue(c.value[:0], col, i)
	c.value = value
	if ok {
		dst = appendField(dst, value)
	} else {
		dst = append(dst, 0)
	}
	if cells := b.MultiCells(col); cells != nil {
		return c.multiCells(dst, cells, i, m)
	}
	if !c.with {
		return dst
	}
	cm := b.CellMeta(col)
	cell := b.Cell(col, i)
	state := at(m.Liveness, i)
	kind := cell.Kind()
	if kind == rowgroup.CellAsRow || kind == rowgroup.CellAbsent {
		return append(dst, 0, 0, 0, 0)
	}
	c.metadata = true
	rowKind := rowgroup.CellLive
	if state == rowgroup.LivenessExpiring {
		rowKind = rowgroup.CellExpiring
	}
	if kind == rowKind && state != rowgroup.LivenessNone {
		dst = append(dst, 0)
	} else {
		dst = appendField(dst, kindNames[kind])
	}
	write, rowWrite := at(m.WriteTimes, i), at(m.WriteTimes, i)
	if cell&rowgroup.CellOwnTime != 0 {
		write = cm.WriteTimes[i]
	}
	if write == rowWrite && state != rowgroup.LivenessNone {
		dst = append(dst, 0)
	} else {
		dst = c.int(dst, write)
	}
	ttl, expiry := int64(at(m.TTLs, i)), at(m.Expiries, i)
	own := kind == rowgroup.CellTombstone
	if cell&rowgroup.CellOwnExpiry != 0 || own {
		if kind == rowgroup.CellExpiring {
			own = int64(cm.TTLs[i]) != ttl || cm.Expiries[i] != expiry || state != rowgroup.LivenessExpiring
			ttl = int64(cm.TTLs[i])
		}
		expiry = cm.Expiries[i]
	}
	if own && kind == rowgroup.CellExpiring {
		dst = c.int(dst, ttl)
	} else {
		dst = append(dst, 0)
	}
	if own {
		return c.int(dst, expiry)
	}
	return append(dst, 0)
}

// multiCells appends what row i has of a multi-cell column beside the value that
// its cells make, with metadata: the complex deletion, and each cell with its
// write time and expiry, the row's or its own.
func (c *cursor) multiCells(dst []byte, cells *rowgroup.MultiCells, i int, m *rowgroup.RowMeta) []byte {
	from, to, there := cells.Row(i)
	if !c.with {
		c.metadata = c.metadata || there
		return dst
	}
	dst = c.deletion(dst, cells.Deletion(i), false)
	if !there {
		return append(dst, 0)
	}
	c.metadata = true
	text := []byte{}
	var cell rowgroup.MultiCell
	for k := from; k < to; k++ {
		if cell.Value = c.value; k > from {
			text = append(text, "; "...)
		}
		cells.Get(&cell, k)
		c.value = cell.Value
		kind, written, ttl, expiry := cell.State.Kind(), cell.WriteTime, cell.TTL, cell.Expiry
		if cell.State&rowgroup.CellOwnTime == 0 {
			written = at(m.WriteTimes, i)
		}
		if kind == rowgroup.CellAsRow && at(m.Liveness, i) == rowgroup.LivenessExpiring {
			kind = rowgroup.CellExpiring
		}
		if kind == rowgroup.CellExpiring && cell.State&rowgroup.CellOwnExpiry == 0 {
			ttl, expiry = at(m.TTLs, i), at(m.Expiries, i)
		}
		text = rowgroup.AppendText(text, cells.PathType(), cell.Path)
		if kind != rowgroup.CellTombstone && !cells.IsSet() {
			text = rowgroup.AppendText(append(text, ": "...), cells.ValueType(cell.Path), cell.Value)
		}
		text = fmt.Appendf(text, " at %d", written)
		switch kind {
		case rowgroup.CellExpiring:
			text = fmt.Appendf(text, ", ttl %d, expiry %d", ttl, expiry)
		case rowgroup.CellTombstone:
			text = fmt.Appendf(text, ", deleted, local %d", expiry)
		}
	}
	return appendField(dst, text)
}

var staticNames = [3][]byte{
	rowgroup.StaticAbsent: []byte("absent"), rowgroup.StaticEmpty: []byte("empty"), rowgroup.StaticFull: []byte("full"),
}

var kindNames = [5][]byte{
	rowgroup.CellLive: []byte("live"), rowgroup.CellExpiring: []byte("expiring"), rowgroup.CellTombstone: []byte("deleted"),
}

// at is s[i], or 0 where s is empty and stands for zeros.
func at[T any](s []T, i int) (v T) {
	if len(s) > 0 {
		v = s[i]
	}
	return v
}
