package cassandra

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// decodeRow reads a row behind its flags.
//
//	      clustering values (not of a static row)
//	vint  size of what follows
//	vint  size of the unfiltered before
//	      0x04: timestamp; 0x08: TTL, expiration time
//	      0x10: deletion
//	      not 0x20: which columns have cells
//	      cells, column by column
func (r *BodyReader) decodeRow(c *cursor, flags, extended byte, set *columns) (need int, err error) {
	if unknown := extended &^ (extendedStatic | extendedShadowable); unknown != 0 {
		if unknown == extendedScylla {
			return 0, fmt.Errorf("%w: ScyllaDB's shadowable deletion: %w", encoding.ErrUnsupported, r.corruptf("extended flags %02x", extended))
		}
		return 0, r.corruptf("extended flags %02x", extended)
	}
	if extended&extendedShadowable != 0 && flags&flagDeletion == 0 {
		return 0, r.corruptf("flags %02x %02x: a shadowable deletion that is not there", flags, extended)
	}
	row := &r.row
	row.Clustering = row.Clustering[:0]
	if extended&extendedStatic == 0 {
		row.Clustering = c.values(row.Clustering, r.header.Clustering)
	}
	body, need, err := r.body(c, row.Clustering)
	if c.short || need > 0 || err != nil {
		return need, err
	}
	row.PreviousSize = body.vint()
	row.Liveness = rowgroup.LivenessNone
	row.Timestamp, row.TTL, row.ExpirationTime = 0, 0, 0
	if flags&flagTimestamp != 0 {
		row.Liveness = rowgroup.LivenessLive
		row.Timestamp = r.deltas.readTimestamp(&body)
	}
	if flags&flagTTL != 0 {
		if row.Liveness == rowgroup.LivenessNone {
			return 0, r.corruptf("flags %02x: a TTL without a timestamp", flags)
		}
		row.Liveness = rowgroup.LivenessExpiring
		row.TTL = r.deltas.readTTL(&body)
		row.ExpirationTime = r.deltas.readDeletionTime(&body)
		if row.TTL == expiredTTL {
			row.Liveness = rowgroup.LivenessExpired
		}
	}
	row.HasDeletion = flags&flagDeletion != 0
	row.Shadowable = extended&extendedShadowable != 0
	if row.HasDeletion {
		row.Deletion = r.deltas.readDeletion(&body)
	} else {
		row.Deletion = r.live
	}
	present := set.all
	if flags&flagAllColumns == 0 && len(set.cols) > 0 {
		if present = r.decodeSubset(&body, len(set.cols)); body.short {
			return 0, r.ended(&body)
		}
	}
	r.decodeCells(&body, flags, set.cols, present)
	return 0, r.ended(&body)
}

// decodeSubset reads which of n columns a row has.
//
//	n < 64    vint, bit i set: column i is missing
//	n >= 64   vint number of missing ones; then a vint each: the numbers of
//	          the present ones if fewer than n/2 are, else of the missing ones
func (r *BodyReader) decodeSubset(c *cursor, n int) []int {
	r.present = r.present[:0]
	e := c.vint()
	if n < 64 {
		if e>>n != 0 {
			c.fail()
			c.bad = "missing columns that are not there"
			return nil
		}
		for m := ^e & (1<<n - 1); m != 0; m &= m - 1 {
			r.present = append(r.present, bits.TrailingZeros64(m))
		}
		return r.present
	}
	if e > uint64(n) {
		c.fail()
		c.bad = "more missing columns than there are"
		return nil
	}
	some := n - int(e)
	if some < n/2 {
		for next := 0; len(r.present) < some; {
			i := c.vint()
			if i < uint64(next) || i >= uint64(n) {
				c.fail()
				c.bad = "numbers of columns that do not ascend"
				return nil
			}
			r.present = append(r.present, int(i))
			next = int(i) + 1
		}
		return r.present
	}
	next := 0
	for range e {
		i := c.vint()
		if i < uint64(next) || i >= uint64(n) {
			c.fail()
			c.bad = "numbers of columns that do not ascend"
			return nil
		}
		for ; next < int(i); next++ {
			r.present = append(r.present, next)
		}
		next++
	}
	for ; next < n; next++ {
		r.present = append(r.present, next)
	}
	return r.present
}

// decodeCells reads the cells of a row's columns.
//
//	complex column   0x40 of the row: deletion; vint cells; cells by path
func (r *BodyReader) decodeCells(c *cursor, flags byte, cols []Column, present []int) {
	row := &r.row
	row.Cells, row.Complex = row.Cells[:0], row.Complex[:0]
	if cap(row.Cells) < len(present) {
		row.Cells = slices.Grow(row.Cells, len(present))
	}
	asRow, kind := byte(0xff), rowgroup.CellLive // flags of a cell with the times of its row
	switch row.Liveness {
	case rowgroup.LivenessLive:
		asRow = cellRowTimestamp
	case rowgroup.LivenessExpiring, rowgroup.LivenessExpired:
		asRow, kind = cellRowTimestamp|cellExpiring|cellRowTTL, rowgroup.CellExpiring
	}
	for k, i := range present {
		if cols[i].Complex {
			r.decodeComplex(c, flags, present[k:])
			return
		}
		row.Cells = row.Cells[:k+1]
		n := cols[i].valueLen
		if n > 0 && c.left() > n && c.b[c.p] == asRow { // as most are
			cell := &row.Cells[k]
			cell.Column, cell.Kind, cell.Path = i, kind, nil
			cell.Timestamp, cell.TTL, cell.LocalDeletionTime = row.Timestamp, row.TTL, row.ExpirationTime
			from := c.p + 1
			c.p = from + n
			cell.Value = c.b[from:c.p:c.p]
			continue
		}
		r.decodeCell(c, &row.Cells[k], i, n, false)
		if c.short {
			return
		}
	}
}

// decodeComplex reads the cells of complex columns, the last in a row.
func (r *BodyReader) decodeComplex(c *cursor, flags byte, present []int) {
	row := &r.row
	r.pool, r.ranges = r.pool[:0], r.ranges[:0]
	for _, i := range present {
		d := r.live
		if flags&flagComplexDeletion != 0 {
			d = r.deltas.readDeletion(c)
		}
		for n := c.count(c.vint(), 2); n > 0; n-- {
			r.pool = append(r.pool, Cell{})
			r.decodeCell(c, &r.pool[len(r.pool)-1], i, -1, true)
			if c.short {
				return
			}
		}
		row.Complex = append(row.Complex, ComplexColumn{Column: i, Deletion: d})
		r.ranges = append(r.ranges, len(r.pool))
	}
	from := 0
	for k, to := range r.ranges {
		row.Complex[k].Cells = r.pool[from:to:to]
		from = to
	}
}

// decodeCell reads one cell.
//
//	u8      flags
//	        not 0x08: timestamp
//	        0x01 or 0x02, not 0x10: local deletion time
//	        0x02, not 0x10: TTL
//	        path (of a complex column): vbytes
//	        not 0x04: value by the rule of lengths; vbytes in a complex column
func (r *BodyReader) decodeCell(c *cursor, cell *Cell, column, valueLen int, complex bool) {
	flags := c.u8()
	row := &r.row
	cell.Column = column
	cell.Kind, cell.TTL, cell.LocalDeletionTime = rowgroup.CellLive, 0, 0
	if flags&cellRowTimestamp != 0 {
		cell.Timestamp = row.Timestamp
	} else {
		cell.Timestamp = r.deltas.readTimestamp(c)
	}
	if flags&^(cellRowTimestamp|cellEmpty) != 0 || row.Liveness == rowgroup.LivenessNone {
		r.decodeExpiry(c, cell, flags)
	}
	cell.Path = nil
	if complex {
		cell.Path = c.vbytes()
	}
	switch {
	case flags&cellEmpty == 0:
		cell.Value = c.value(valueLen)
	case flags&cellDeleted != 0:
		cell.Value = nil
	default:
		cell.Value = c.take(0)
	}
}

// decodeExpiry is the part of decodeCell that plain cells of plain rows do not
// have.
func (r *BodyReader) decodeExpiry(c *cursor, cell *Cell, flags byte) {
	row := &r.row
	expiring := row.Liveness == rowgroup.LivenessExpiring || row.Liveness == rowgroup.LivenessExpired
	switch {
	case flags&^cellFlags != 0,
		flags&cellRowTimestamp != 0 && row.Liveness == rowgroup.LivenessNone,
		flags&cellRowTTL != 0 && (flags&cellExpiring == 0 || !expiring),
		flags&cellExpiring != 0 && flags&cellDeleted != 0:
		c.fail()
		c.bad = fmt.Sprintf("cell flags %02x in a row of liveness %d", flags, row.Liveness)
	case flags&cellRowTTL != 0:
		cell.Kind = rowgroup.CellExpiring
		cell.LocalDeletionTime, cell.TTL = row.ExpirationTime, row.TTL
	case flags&cellExpiring != 0:
		cell.Kind = rowgroup.CellExpiring
		cell.LocalDeletionTime = r.deltas.readDeletionTime(c)
		cell.TTL = r.deltas.readTTL(c)
	case flags&cellDeleted != 0:
		cell.Kind = rowgroup.CellTombstone
		cell.LocalDeletionTime = r.deltas.readDeletionTime(c)
	}
}
