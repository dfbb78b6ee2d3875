package cassandra

import (
	"errors"
	"fmt"
	"io"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// BodyWriter encodes events as the body of an SSTable, in the form that
// Cassandra gives them: the bytes that a BodyReader read, where Cassandra wrote
// them. The first error sticks. It is not safe for concurrent use.
type BodyWriter struct {
	dst     io.Writer
	version Version
	deltas  deltas
	header  *Header
	static  columns
	regular columns

	buf      []byte // bytes not yet written
	body     []byte // counted bytes of one unfiltered
	missing  []int
	written  int64 // bytes handed to dst
	previous int64 // where the last unfiltered of the partition began; its head for the first
	state    bodyState
	err      error
}

// flushLength is how many bytes a BodyWriter gathers.
const flushLength = 64 << 10

// NewBodyWriter writes a body of version v under header h to dst.
func NewBodyWriter(dst io.Writer, v Version, h *Header) *BodyWriter {
	return &BodyWriter{
		dst: dst, version: v, deltas: newDeltas(v, h), header: h,
		static: newColumns(h.Static), regular: newColumns(h.Regular),
	}
}

// Position is the number of bytes of the body so far.
func (w *BodyWriter) Position() int64 { return w.written + int64(len(w.buf)) }

// Write encodes the event e that r has just read.
func (w *BodyWriter) Write(e Event, r *BodyReader) error {
	switch e {
	case PartitionBegin:
		return w.BeginPartition(r.Partition().Key, r.Partition().Deletion)
	case StaticRow:
		return w.StaticRow(r.Row())
	case ClusteringRow:
		return w.Row(r.Row())
	case RangeMarker:
		return w.Marker(r.Marker())
	case PartitionEnd:
		return w.EndPartition()
	}
	return w.fail("event %d", e)
}

// BeginPartition writes the head of a partition.
func (w *BodyWriter) BeginPartition(key []byte, d rowgroup.Deletion) error {
	switch {
	case w.err != nil:
		return w.err
	case w.state != beforePartition:
		return w.fail("a partition begins within another")
	case len(key) > encoding.MaxKeyBytes:
		return w.fail("partition key of %d bytes", len(key))
	case w.version.unsignedDeletionTimes() && d.MarkedForDeleteAt < 0 && !d.Live():
		return w.fail("version %s cannot hold a partition deletion at %d", w.version, d.MarkedForDeleteAt)
	}
	w.previous = w.Position()
	w.buf = appendPartitionDeletion(appendSbytes(w.buf, key), w.version, d)
	w.state = inPartition
	if len(w.static.cols) > 0 {
		w.state = beforeStatic
	}
	return w.flush(flushLength)
}

// StaticRow writes the static row, which may be empty. It must be there if and
// only if the header has static columns.
func (w *BodyWriter) StaticRow(row *Row) error {
	switch {
	case w.err != nil:
		return w.err
	case w.state != beforeStatic:
		return w.fail("a static row that is not due")
	}
	w.state = inPartition
	return w.row(row, &w.static, extendedStatic)
}

// Row writes a row.
func (w *BodyWriter) Row(row *Row) error {
	switch {
	case w.err != nil:
		return w.err
	case w.state != inPartition:
		return w.fail("a row before the static row, or outside a partition")
	case len(row.Clustering) != len(w.header.Clustering):
		return w.fail("a row of %d clustering values, not %d", len(row.Clustering), len(w.header.Clustering))
	}
	return w.row(row, &w.regular, 0)
}

func (w *BodyWriter) row(row *Row, set *columns, extended byte) error {
	start := w.Position()
	flags := byte(0)
	previous := uint64(start - w.previous)
	if extended != 0 {
		previous = 0
	} else {
		w.previous = start
	}
	body := appendVint(w.body[:0], previous)
	if row.Liveness != rowgroup.LivenessNone {
		flags |= flagTimestamp
		body = w.deltas.appendTimestamp(body, row.Timestamp)
		if row.Liveness != rowgroup.LivenessLive {
			flags |= flagTTL
			body = w.deltas.appendDeletionTime(w.deltas.appendTTL(body, row.TTL), row.ExpirationTime)
		}
	}
	if row.HasDeletion {
		flags |= flagDeletion
		if row.Shadowable {
			extended |= extendedShadowable
		}
		body = w.deltas.appendDeletion(body, row.Deletion)
	}
	if len(row.Cells)+len(row.Complex) == len(set.cols) {
		flags |= flagAllColumns
	} else {
		body = w.appendSubset(body, row, len(set.cols))
	}
	for i := range row.Complex {
		if !row.Complex[i].Deletion.Live() {
			flags |= flagComplexDeletion
		}
	}
	for i := range row.Cells {
		cell := &row.Cells[i]
		if cell.Column >= len(set.cols) || set.cols[cell.Column].Complex || i > 0 && row.Cells[i-1].Column >= cell.Column {
			return w.fail("a cell of column %d out of order, or of a complex column", cell.Column)
		}
		if n := set.cols[cell.Column].valueLen; n >= 0 && len(cell.Value) > 0 && len(cell.Value) != n {
			return w.fail("a value of %d bytes in column %s of %s", len(cell.Value), quote(set.cols[cell.Column].Name), set.cols[cell.Column].Type)
		}
		body = w.appendCell(body, row, cell, set.cols[cell.Column].valueLen, false)
	}
	for i := range row.Complex {
		x := &row.Complex[i]
		if x.Column >= len(set.cols) || !set.cols[x.Column].Complex || i > 0 && row.Complex[i-1].Column >= x.Column {
			return w.fail("cells of column %d out of order, or of a simple column", x.Column)
		}
		if flags&flagComplexDeletion != 0 {
			body = w.deltas.appendDeletion(body, x.Deletion)
		}
		body = appendVint(body, uint64(len(x.Cells)))
		for k := range x.Cells {
			body = w.appendCell(body, row, &x.Cells[k], -1, true)
		}
	}
	w.body = body

	if extended != 0 {
		w.buf = append(w.buf, flags|flagExtended, extended)
	} else {
		w.buf = append(w.buf, flags)
	}
	if extended&extendedStatic == 0 {
		if !w.appendClustering(row.Clustering) {
			return w.err
		}
	}
	return w.unfiltered()
}

// Marker writes a range tombstone marker.
func (w *BodyWriter) Marker(m *Marker) error {
	closes, opens := m.Kind.Closes(), m.Kind.Opens()
	switch {
	case w.err != nil:
		return w.err
	case w.state != inPartition:
		return w.fail("a marker before the static row, or outside a partition")
	case !closes && !opens || len(m.Values) > len(w.header.Clustering):
		return w.fail("a marker of kind %d with %d values", m.Kind, len(m.Values))
	}
	start := w.Position()
	body := appendVint(w.body[:0], uint64(start-w.previous))
	w.previous = start
	if closes {
		body = w.deltas.appendDeletion(body, m.Close)
	}
	if opens {
		body = w.deltas.appendDeletion(body, m.Open)
	}
	w.body = body
	w.buf = appendU16(append(w.buf, flagMarker, byte(m.Kind)), uint16(len(m.Values)))
	if !w.appendClustering(m.Values) {
		return w.err
	}
	return w.unfiltered()
}

// appendClustering appends the values of a row or marker, if they fit their
// types.
func (w *BodyWriter) appendClustering(values [][]byte) bool {
	for i, v := range values {
		if n := w.header.Clustering[i].valueLen; n >= 0 && len(v) > 0 && len(v) != n {
			_ = w.fail("a clustering value of %d bytes of %s", len(v), w.header.Clustering[i].Type)
			return false
		}
	}
	w.buf = appendValues(w.buf, values, w.header.Clustering)
	return true
}

// EndPartition writes the end of a partition.
func (w *BodyWriter) EndPartition() error {
	switch {
	case w.err != nil:
		return w.err
	case w.state != inPartition:
		return w.fail("a partition ends before its static row, or none has begun")
	}
	w.buf = append(w.buf, flagEnd)
	w.state = beforePartition
	return w.flush(flushLength)
}

// Flush hands all bytes to the writer below.
func (w *BodyWriter) Flush() error {
	if w.err != nil {
		return w.err
	}
	return w.flush(0)
}

// unfiltered appends the counted bytes, with their count before them.
func (w *BodyWriter) unfiltered() error {
	w.buf = append(appendVint(w.buf, uint64(len(w.body))), w.body...)
	return w.flush(flushLength)
}

func (w *BodyWriter) flush(least int) error {
	if len(w.buf) < least {
		return nil
	}
	n, err := w.dst.Write(w.buf)
	w.written += int64(n)
	w.buf = w.buf[:copy(w.buf, w.buf[n:])]
	w.err = err
	return err
}

func (w *BodyWriter) fail(format string, args ...any) error {
	w.err = errors.New("cassandra: " + fmt.Sprintf(format, args...))
	return w.err
}

// appendSubset is the inverse of decodeSubset.
func (w *BodyWriter) appendSubset(dst []byte, row *Row, n int) []byte {
	w.missing = w.missing[:0]
	next := 0
	each := func(present func(int)) {
		for i := range row.Cells {
			present(row.Cells[i].Column)
		}
		for i := range row.Complex {
			present(row.Complex[i].Column)
		}
	}
	each(func(i int) {
		for ; next < i; next++ {
			w.missing = append(w.missing, next)
		}
		next = i + 1
	})
	for ; next < n; next++ {
		w.missing = append(w.missing, next)
	}
	if n < 64 {
		mask := uint64(0)
		for _, i := range w.missing {
			mask |= 1 << i
		}
		return appendVint(dst, mask)
	}
	dst = appendVint(dst, uint64(len(w.missing)))
	if n-len(w.missing) < n/2 {
		each(func(i int) { dst = appendVint(dst, uint64(i)) })
		return dst
	}
	for _, i := range w.missing {
		dst = appendVint(dst, uint64(i))
	}
	return dst
}

// appendCell is the inverse of decodeCell.
func (w *BodyWriter) appendCell(dst []byte, row *Row, cell *Cell, valueLen int, complex bool) []byte {
	flags := byte(0)
	if len(cell.Value) == 0 {
		flags |= cellEmpty
	}
	if row.Liveness != rowgroup.LivenessNone && cell.Timestamp == row.Timestamp {
		flags |= cellRowTimestamp
	}
	switch cell.Kind {
	case rowgroup.CellTombstone:
		flags |= cellDeleted
	case rowgroup.CellExpiring:
		flags |= cellExpiring
		if row.Liveness > rowgroup.LivenessNone && cell.TTL == row.TTL && cell.LocalDeletionTime == row.ExpirationTime {
			flags |= cellRowTTL
		}
	}
	dst = append(dst, flags)
	if flags&cellRowTimestamp == 0 {
		dst = w.deltas.appendTimestamp(dst, cell.Timestamp)
	}
	if flags&(cellDeleted|cellExpiring) != 0 && flags&cellRowTTL == 0 {
		dst = w.deltas.appendDeletionTime(dst, cell.LocalDeletionTime)
		if flags&cellExpiring != 0 {
			dst = w.deltas.appendTTL(dst, cell.TTL)
		}
	}
	if complex {
		dst = appendVbytes(dst, cell.Path)
	}
	if flags&cellEmpty == 0 {
		dst = appendValue(dst, cell.Value, valueLen)
	}
	return dst
}
