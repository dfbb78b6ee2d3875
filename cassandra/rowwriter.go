package cassandra

import (
	"errors"
	"fmt"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// RowWriter encodes batches of rows as the body of an SSTable: the bytes of the
// one that a Source read, where Cassandra wrote them and its header is at hand.
// It is not safe for concurrent use.
type RowWriter struct {
	w      *BodyWriter
	schema *rowgroup.Schema
	batch  *rowgroup.Batch
	row    Row
	marker Marker
	empty  Row
	buf    []byte // values of the row
	ends   []int
	pool   []Cell // of multi-cell columns
	ranges []int  // ends in pool of the row's multi-cell columns
	begun  bool
	live   int64 // local deletion time of complex columns without deletion
}

// NewRowWriter writes rows of schema s, whose columns are those of w's header
// as SSTable.Schema makes them.
func NewRowWriter(w *BodyWriter, s *rowgroup.Schema) (*RowWriter, error) {
	for _, x := range []struct {
		role rowgroup.Role
		cols []Column
	}{{rowgroup.Clustering, w.header.Clustering}, {rowgroup.Static, w.header.Static}, {rowgroup.Regular, w.header.Regular}} {
		cols := s.Columns(x.role)
		if len(cols) != len(x.cols) {
			return nil, fmt.Errorf("%d columns of role %s in the schema, %d in the header", len(cols), x.role, len(x.cols))
		}
		for i := range cols {
			if !sameType(cols[i].Type, x.cols[i].Type) {
				return nil, fmt.Errorf("column %s is %s in the schema, %s in the header", quote(cols[i].Name), cols[i].Type, x.cols[i].Type)
			}
		}
	}
	r := &RowWriter{w: w, schema: s, live: w.version.NoDeletionTime(), buf: []byte{}} // its slices are not nil
	r.empty.Liveness = rowgroup.LivenessNone
	return r, nil
}

// Write encodes the rows of b, all columns and metadata of which must be there.
func (r *RowWriter) Write(b *rowgroup.Batch) error {
	r.batch = b
	none := r.w.version.NoDeletionTime()
	markers, deleted, staticDeleted := *b.Markers(), b.Meta().Deletions, b.StaticMeta().Deletions
	for p := range b.NumPartitions() {
		h := b.Partition(p)
		if !h.Continued {
			if err := r.End(); err != nil {
				return err
			}
			d := h.Deletion
			if d.Live() {
				d.LocalDeletionTime = none
			}
			if err := r.w.BeginPartition(b.Key(p), d); err != nil {
				return err
			}
			r.begun = true
			if len(r.w.header.Static) > 0 {
				row := &r.empty
				if h.Static == rowgroup.StaticFull {
					row = &r.row
					row.Clustering = row.Clustering[:0]
					var err error
					if staticDeleted, err = r.cells(b.StaticMeta(), staticDeleted, p, rowgroup.Static); err != nil {
						return err
					}
				}
				if err := r.w.StaticRow(row); err != nil {
					return err
				}
			}
		}
		from, to := b.PartitionRows(p)
		for i := from; i < to; i++ {
			if len(markers) > 0 && markers[0].Row == i {
				m := &markers[0]
				markers = markers[1:]
				if err := r.clustering(i, m.Prefix); err != nil {
					return err
				}
				r.marker = Marker{Bound: Bound{m.Kind, r.row.Clustering}, Close: m.Close, Open: m.Open}
				if err := r.w.Marker(&r.marker); err != nil {
					return err
				}
				continue
			}
			if err := r.clustering(i, len(r.w.header.Clustering)); err != nil {
				return err
			}
			var err error
			if deleted, err = r.cells(b.Meta(), deleted, i, rowgroup.Regular); err != nil {
				return err
			}
			if err := r.w.Row(&r.row); err != nil {
				return err
			}
		}
	}
	return nil
}

// End ends the last partition. It does not flush the BodyWriter.
func (r *RowWriter) End() error {
	if !r.begun {
		return nil
	}
	r.begun = false
	return r.w.EndPartition()
}

var errNoValue = errors.New("cassandra: a cell without value")

// clustering sets the first n clustering values of unfiltered i.
func (r *RowWriter) clustering(i, n int) error {
	first, _ := r.schema.Range(rowgroup.Clustering)
	r.buf, r.row.Clustering = r.buf[:0], r.row.Clustering[:0]
	r.ends = r.ends[:0]
	for k := range n {
		r.buf, _ = r.batch.AppendValue(r.buf, first+k, i)
		r.ends = append(r.ends, len(r.buf))
	}
	from := 0
	for k, end := range r.ends {
		v := r.buf[from:end:end]
		if r.batch.Cell(first+k, i) == rowgroup.CellAbsent {
			v = nil
		}
		r.row.Clustering = append(r.row.Clustering, v)
		from = end
	}
	return nil
}

// cells sets what row i has beside its clustering. It returns the deletions
// behind the row's.
func (r *RowWriter) cells(m *rowgroup.RowMeta, deleted []rowgroup.RowDeletion, i int, role rowgroup.Role) ([]rowgroup.RowDeletion, error) {
	row, b := &r.row, r.batch
	row.Liveness = at(m.Liveness, i)
	row.Timestamp, row.TTL, row.ExpirationTime = 0, 0, 0
	if row.Liveness != rowgroup.LivenessNone {
		row.Timestamp = at(m.WriteTimes, i)
		switch row.Liveness {
		case rowgroup.LivenessExpiring:
			row.TTL, row.ExpirationTime = at(m.TTLs, i), at(m.Expiries, i)
		case rowgroup.LivenessExpired:
			row.TTL, row.ExpirationTime = expiredTTL, at(m.Expiries, i)
		}
	}
	row.HasDeletion, row.Shadowable = false, false
	if len(deleted) > 0 && deleted[0].Row == i {
		row.HasDeletion, row.Deletion, row.Shadowable = true, deleted[0].Deletion, deleted[0].Shadowable
		deleted = deleted[1:]
	}
	row.Cells, row.Complex = row.Cells[:0], row.Complex[:0]
	kept := len(r.buf)
	if role == rowgroup.Static {
		kept = 0
	}
	r.buf, r.ends = r.buf[:kept], r.ends[:0]
	first, to := r.schema.Range(role)
	r.pool, r.ranges = r.pool[:0], r.ranges[:0]
	for col := first; col < to; col++ {
		if m := b.MultiCells(col); m != nil {
			if err := r.complex(m, i, col-first); err != nil {
				return nil, err
			}
			continue
		}
		c, meta := b.Cell(col, i), b.CellMeta(col)
		if c.Kind() == rowgroup.CellAbsent {
			continue
		}
		cell := Cell{Column: col - first}
		cell.share(row, c, at(meta.WriteTimes, i), at(meta.TTLs, i), at(meta.Expiries, i))
		if cell.Kind != rowgroup.CellTombstone {
			var ok bool
			if r.buf, ok = b.AppendValue(r.buf, col, i); !ok {
				return nil, errNoValue
			}
		}
		r.ends = append(r.ends, len(r.buf))
		row.Cells = append(row.Cells, cell)
		if len(r.buf) > encoding.MaxRowBytes {
			return nil, fmt.Errorf("%w: a row of more than %d bytes", encoding.ErrUnsupported, encoding.MaxRowBytes)
		}
	}
	for k := range row.Cells { // r.buf no longer moves
		row.Cells[k].Value = r.buf[kept:r.ends[k]:r.ends[k]]
		kept = r.ends[k]
	}
	for k := range r.pool { // behind those of simple columns
		c, end := &r.pool[k], r.ends[len(row.Cells)+k]
		c.Value = r.buf[kept:end:end]
		kept = end
	}
	from := 0
	for k, to := range r.ranges {
		row.Complex[k].Cells = r.pool[from:to]
		from = to
	}
	return deleted, nil
}

// complex takes the cells of a multi-cell column in row i into the pool.
func (r *RowWriter) complex(m *rowgroup.MultiCells, i, column int) error {
	from, to, there := m.Row(i)
	if !there {
		return nil
	}
	d := m.Deletion(i)
	if d.Live() {
		d.LocalDeletionTime = r.live
	}
	r.row.Complex = append(r.row.Complex, ComplexColumn{Column: column, Deletion: d})
	meta := m.Meta()
	for k := from; k < to; k++ {
		cell := Cell{Column: column, Path: m.Paths.At(k)}
		cell.share(&r.row, m.State(k), at(meta.WriteTimes, k), at(meta.TTLs, k), at(meta.Expiries, k))
		if cell.Kind != rowgroup.CellTombstone {
			var ok bool
			if r.buf, ok = m.AppendValue(r.buf, k); !ok {
				return errNoValue
			}
		}
		r.ends = append(r.ends, len(r.buf))
		r.pool = append(r.pool, cell)
	}
	r.ranges = append(r.ranges, len(r.pool))
	return nil
}

// share sets what a cell has beside its value, from what its state says.
func (c *Cell) share(row *Row, state rowgroup.Cell, time int64, ttl int32, expiry int64) {
	c.Kind, c.Timestamp = state.Kind(), row.Timestamp
	if state&rowgroup.CellOwnTime != 0 {
		c.Timestamp = time
	}
	if c.Kind == rowgroup.CellAsRow {
		c.Kind = rowgroup.CellLive
		if row.Liveness != rowgroup.LivenessLive {
			c.Kind = rowgroup.CellExpiring
		}
	}
	switch c.Kind {
	case rowgroup.CellExpiring:
		c.TTL, c.LocalDeletionTime = row.TTL, row.ExpirationTime
		if state&rowgroup.CellOwnExpiry != 0 {
			c.TTL, c.LocalDeletionTime = ttl, expiry
		}
	case rowgroup.CellTombstone:
		c.LocalDeletionTime = expiry
	}
}

// at is entry i of metadata, zero where all are.
func at[T any](s []T, i int) (v T) {
	if len(s) > 0 {
		v = s[i]
	}
	return v
}
