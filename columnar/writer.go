package columnar

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// segmentGroups is the greatest number of row groups in a segment.
const segmentGroups = 64

// maxSegmentBytes is how many bytes of rows a segment holds at most, whatever
// the options, unless one row group is larger by itself.
const maxSegmentBytes = 32 << 20

// Of a caller's batch so much is taken over at a time at most, or one row.
const (
	pieceRows  = 8192
	pieceBytes = 4 << 20
)

// Writer writes one table file, front to back. It is not safe for concurrent
// use. Equal rows and options make equal bytes, whatever the batches and
// WithConcurrency.
type Writer struct {
	schema *rowgroup.Schema
	o      options
	order  *rowgroup.OrderChecker
	err    error
	closed bool

	first   bool   // nothing came so far
	lastKey []byte // of the last partition that came
	sizes   sizes  // of the piece

	// What is in no segment yet, from row rowBase and partition partBase on.
	// Rows and partitions count from the beginning of the table.
	pend     *rowgroup.Batch
	rowBase  int64
	partBase int64

	cur      current
	spans    []span
	shared   sharedGroup
	units    []unit
	unitSize int   // row groups in units
	unitMem  int64 // bytes of their rows

	queue queue
	out   output
}

// current is the partition whose rows are coming.
type current struct {
	active    bool
	part      int64
	continued bool    // it has rows in a segment
	start     int64   // its first row that is in no segment
	cuts      []int64 // ends of its closed groups from there on
	groupFrom int64   // first row of its open group
	bytes     int64   // of the open group
	closed    int64   // bytes of its closed groups
}

// sharedGroup gathers whole small partitions for one row group.
type sharedGroup struct {
	active bool
	span   span
	weight int64 // rows, but at least one a partition
	bytes  int64
}

// span is one row group to be: rows and partitions of the table.
type span struct{ fromRow, toRow, fromPart, toPart int64 }

// unit is what must not be spread over two blocks if it fits in one: a shared
// group, or the groups of one partition.
type unit struct {
	spans []span
	own   bool
}

// NewWriter begins a file of tables of schema s on w, which needs no seek.
func NewWriter(w io.Writer, s *rowgroup.Schema, opts ...Option) (*Writer, error) {
	o := newOptions(opts)
	if err := o.check(s); err != nil {
		return nil, err
	}
	wr := &Writer{
		schema: s, o: o, order: rowgroup.NewOrderChecker(s), first: true, sizes: newSizes(s),
		pend: rowgroup.NewBatch(s), queue: newQueue(s, o.encode(s), o.concurrency),
	}
	wr.pend.Clear()
	if err := wr.out.begin(w, s, &wr.o); err != nil {
		return nil, err
	}
	return wr, nil
}

// Errors of calls that come too late.
var (
	ErrClosed  = errors.New("closed already") // of a Writer or a Reader
	ErrAborted = errors.New("the writer was aborted")
)

// fail keeps the first error. No segment is being encoded when it returns.
func (w *Writer) fail(err error) error {
	if w.err == nil {
		w.err = err
		w.queue.drop()
	}
	return w.err
}

// Append appends the rows of b, which must have the writer's schema and follow
// what came before in the table's order. If the first partition of b has the
// key of the last one before, it goes on with it. Nothing of b is kept. The
// first error sticks: every later call returns it. After Close it is
// ErrClosed, and the file stays as it is.
func (w *Writer) Append(b *rowgroup.Batch) error {
	if w.err != nil {
		return w.err
	}
	if w.closed {
		return fmt.Errorf("append: %w", ErrClosed)
	}
	if b.Schema() != w.schema && !b.Schema().Equal(w.schema) {
		return w.fail(errors.New("the batch is of another schema than the file"))
	}
	if err := b.Check(); err != nil {
		return w.fail(err)
	}
	if err := w.order.Check(b); err != nil {
		return w.fail(err)
	}
	if err := w.append(b); err != nil {
		return w.fail(err)
	}
	return nil
}

func (w *Writer) append(b *rowgroup.Batch) error {
	n, np := b.Len(), b.NumPartitions()
	if np == 0 {
		return nil
	}
	from, part := 0, 0
	if h := b.Partition(0); w.first {
		if len(w.schema.Columns(rowgroup.PartitionKey)) == 0 && n == 0 && h.Deletion.Live() && h.Static == rowgroup.StaticAbsent {
			return nil // the one partition, still empty
		}
		if h.Continued {
			return errors.New("the first partition goes on from an earlier batch, but there was none")
		}
		w.first = false
	} else if slices.Equal(b.Key(0), w.lastKey) {
		part = 1
	}
	for p := max(part, 1); p < np; p++ {
		if b.Partition(p).Continued {
			return fmt.Errorf("partition %d of the batch goes on from an earlier batch, but it is not the first", p)
		}
	}
	if part == 0 && b.Partition(0).Continued {
		return errors.New("the first partition goes on from an earlier batch, but that ended with another key")
	}
	w.lastKey = append(w.lastKey[:0], b.Key(np-1)...)
	for from < n || part < np {
		rows, bytes := w.room()
		w.sizes.measure(b, from, min(n, from+rows))
		if err := w.makeWay(b, from, part); err != nil {
			return err
		}
		to, toPart := w.sizes.piece(b, part, rows, bytes)
		if err := w.piece(b, from, to, part, toPart); err != nil {
			return err
		}
		from, part = to, toPart
	}
	return nil
}

// room is about what the segment still takes: what comes after it must be
// copied once more.
func (w *Writer) room() (rows int, bytes int64) {
	rows = segmentGroups*w.o.groupRows - max(w.pend.Len(), w.pend.NumPartitions())
	if rows <= 0 {
		rows = pieceRows / 8
	}
	bytes = w.segmentBytes() - w.unitMem - w.shared.bytes - w.cur.closed - w.cur.bytes
	return min(rows, pieceRows), min(max(bytes, pieceBytes/8), pieceBytes)
}

// makeWay has written what is before row from of b, the first measured, if that
// is larger than a segment, so that memory does not hold both: it ends groups
// and segments that the row ends anyway.
func (w *Writer) makeWay(b *rowgroup.Batch, from, part int) error {
	if len(w.sizes.rows) == 0 || w.sizes.rows[0] <= max(w.segmentBytes(), int64(w.o.groupBytes)) {
		return nil
	}
	at := w.rowBase + int64(w.pend.Len())
	switch np := b.NumPartitions(); {
	case part == np || b.Partition(part).Start > from:
		if at > w.cur.groupFrom {
			if err := w.cut(at); err != nil {
				return err
			}
		}
	case part+1 == np || b.Partition(part+1).Start > from:
		if err := w.endPartition(at); err != nil {
			return err
		}
		if err := w.closeShared(); err != nil {
			return err
		}
		if w.unitMem > 0 {
			if err := w.flushClosed(); err != nil {
				return err
			}
		}
	}
	return w.queue.makeRoom(w.sizes.rows[0], &w.out)
}

// piece takes over unfiltereds [from, to) and partitions [fromPart, toPart).
// sizes are those of the rows from from on.
func (w *Writer) piece(b *rowgroup.Batch, from, to, fromPart, toPart int) error {
	at, atPart := w.rowBase+int64(w.pend.Len()), w.partBase+int64(w.pend.NumPartitions())
	if err := w.pend.AppendParts(b, from, to, fromPart, toPart); err != nil {
		return err
	}
	row := at
	for p := fromPart; p < toPart; p++ {
		part := atPart + int64(p-fromPart)
		start := at + int64(b.Partition(p).Start-from)
		if err := w.rows(row, start, at); err != nil {
			return err
		}
		row = start
		if err := w.endPartition(row); err != nil {
			return err
		}
		w.cur = current{active: true, part: part, start: row, groupFrom: row, cuts: w.cur.cuts[:0], bytes: w.sizes.head(b, p)}
		w.out.addPartition(b.Key(p))
	}
	return w.rows(row, at+int64(to-from), at)
}

// rows gives rows [from, to) to the current partition's groups. base is the
// row of the first of sizes.
func (w *Writer) rows(from, to, base int64) error {
	c := &w.cur
	limit := int64(w.o.groupBytes)
	for row := from; row < to; {
		n, size := w.sizes.run(int(row-base), int(to-row), limit-c.bytes, row == c.groupFrom)
		if n = min(n, w.o.groupRows-int(row-c.groupFrom)); n > 0 {
			row, c.bytes = row+int64(n), c.bytes+int64(n)*size
			if c.bytes > encoding.MaxRowBytes {
				return fmt.Errorf("a row with its key and static row of %d bytes; the limit is %d", c.bytes, encoding.MaxRowBytes)
			}
			continue
		}
		if err := w.cut(row); err != nil {
			return err
		}
	}
	return nil
}

// cut ends the open group of the current partition before row.
func (w *Writer) cut(row int64) error {
	c := &w.cur
	c.cuts = append(c.cuts, row)
	c.closed += c.bytes
	c.groupFrom, c.bytes = row, 0
	if len(c.cuts) == segmentGroups || c.closed > w.segmentBytes() {
		return w.flushCurrent()
	}
	return nil
}

// currentSpans are the closed groups of the current partition, valid until the
// next call.
func (w *Writer) currentSpans() []span {
	c := &w.cur
	from, part := c.start, c.part
	if c.continued {
		part++
	}
	w.spans = w.spans[:0]
	for _, to := range c.cuts {
		w.spans = append(w.spans, span{from, to, part, c.part + 1})
		from, part = to, c.part+1
	}
	return w.spans
}

// flushCurrent makes the closed groups of the current partition a segment,
// knowing that more follow.
func (w *Writer) flushCurrent() error {
	c := &w.cur
	if err := w.flushUnits(); err != nil {
		return err
	}
	s, err := w.segment(c.closed, unit{w.currentSpans(), true})
	if err != nil {
		return err
	}
	s.big, s.begins = true, !c.continued
	c.continued, c.start, c.cuts, c.closed = true, c.groupFrom, c.cuts[:0], 0
	return w.flush(s, c.start, c.part+1)
}

// endPartition ends the current partition before row.
func (w *Writer) endPartition(row int64) error {
	c := &w.cur
	if !c.active {
		return nil
	}
	if row > c.groupFrom || !c.continued && len(c.cuts) == 0 {
		c.cuts = append(c.cuts, row)
	}
	c.active = false
	switch {
	case c.continued && len(c.cuts) == 0: // it ended with the segment before
		return w.endBig()
	case c.continued:
		s, err := w.segment(c.closed+c.bytes, unit{w.currentSpans(), true})
		if err != nil {
			return err
		}
		s.big, s.ends = true, true
		c.continued = false
		return w.flush(s, row, c.part+1)
	case len(c.cuts) == 1:
		return w.share(row)
	}
	if err := w.closeShared(); err != nil {
		return err
	}
	if err := w.makeRoom(len(c.cuts), c.closed+c.bytes); err != nil {
		return err
	}
	w.units = append(w.units, unit{slices.Clone(w.currentSpans()), true})
	return nil
}

// share adds the current partition, which is small, to the shared group.
func (w *Writer) share(row int64) error {
	c, g := &w.cur, &w.shared
	weight := max(1, row-c.start)
	if g.active && (g.weight+weight > int64(w.o.groupRows) || g.bytes+c.bytes > int64(w.o.groupBytes)) {
		if err := w.closeShared(); err != nil {
			return err
		}
	}
	if !g.active {
		*g = sharedGroup{active: true, span: span{fromRow: c.start, fromPart: c.part}}
	}
	g.weight += weight
	g.bytes += c.bytes
	g.span.toRow, g.span.toPart = row, c.part+1
	return nil
}

func (w *Writer) closeShared() error {
	g := &w.shared
	if !g.active {
		return nil
	}
	g.active = false
	if err := w.makeRoom(1, g.bytes); err != nil {
		return err
	}
	w.units = append(w.units, unit{[]span{g.span}, false})
	g.bytes = 0
	return nil
}

// segmentBytes is how many bytes of rows a segment holds at most, unless one
// row group, which has a row at least, is larger by itself.
func (w *Writer) segmentBytes() int64 {
	return min(segmentGroups*int64(w.o.groupBytes), maxSegmentBytes)
}

// makeRoom counts a unit of some groups and bytes that will be added, and
// before that makes a segment of the others where they have no room for it.
func (w *Writer) makeRoom(groups int, bytes int64) error {
	if w.unitSize+groups > segmentGroups || w.unitMem > 0 && w.unitMem+bytes > w.segmentBytes() {
		if err := w.flushClosed(); err != nil {
			return err
		}
	}
	w.unitSize, w.unitMem = w.unitSize+groups, w.unitMem+bytes
	return nil
}

// flushUnits makes segments of everything before the current partition.
func (w *Writer) flushUnits() error {
	if err := w.closeShared(); err != nil {
		return err
	}
	return w.flushClosed()
}

// flushClosed makes the closed units a segment.
func (w *Writer) flushClosed() error {
	if len(w.units) == 0 {
		return nil
	}
	s, err := w.segment(w.unitMem, w.units...)
	if err != nil {
		return err
	}
	spans := w.units[len(w.units)-1].spans
	last := spans[len(spans)-1]
	w.units, w.unitSize, w.unitMem = w.units[:0], 0, 0
	return w.flush(s, last.toRow, last.toPart)
}

// segment makes a segment of rows that are pending, which take some bytes.
func (w *Writer) segment(bytes int64, units ...unit) (*segmentJob, error) {
	s, err := w.queue.next(bytes, &w.out)
	if err != nil {
		return nil, err
	}
	s.batch, s.first = w.pend, w.partBase
	for _, u := range units {
		s.units = append(s.units, blockUnit{len(u.spans), u.own})
		for _, sp := range u.spans {
			s.spans = append(s.spans, rowgroup.Span{
				FromRow: int(sp.fromRow - w.rowBase), ToRow: int(sp.toRow - w.rowBase),
				FromPart: int(sp.fromPart - w.partBase), ToPart: int(sp.toPart - w.partBase),
			})
		}
	}
	return s, nil
}

// flush sends a segment on its way. Rows from row and partitions from part on
// are not of it.
func (w *Writer) flush(s *segmentJob, row, part int64) error {
	w.queue.start(s)
	old, next := w.pend, w.queue.batch()
	from, fromPart := int(row-w.rowBase), int(part-w.partBase)
	w.pend, w.rowBase, w.partBase = next, row, part
	if w.cur.continued {
		next.BeginPartition(old.Key(fromPart - 1)).Continued = true
		w.partBase--
	}
	if err := next.AppendParts(old, from, old.Len(), fromPart, old.NumPartitions()); err != nil {
		return err
	}
	return w.queue.write(&w.out, false)
}

// endBig ends the big partition whose last segment is on its way already.
func (w *Writer) endBig() error {
	w.cur.continued = false
	if s := w.queue.last(); s != nil {
		s.ends = true
		return nil
	}
	return w.out.endBig()
}

// Close writes what is pending, the indexes and the footer. It does not close
// the underlying writer. After an error it writes no footer and returns the
// error; a second call does nothing.
func (w *Writer) Close() error {
	if w.closed || w.err != nil {
		return w.err
	}
	w.closed = true
	if err := w.order.Finish(); err != nil {
		return w.fail(err)
	}
	if err := w.finish(); err != nil {
		return w.fail(err)
	}
	return nil
}

func (w *Writer) finish() error {
	if err := w.endPartition(w.rowBase + int64(w.pend.Len())); err != nil {
		return err
	}
	if err := w.flushUnits(); err != nil {
		return err
	}
	if err := w.queue.write(&w.out, true); err != nil {
		return err
	}
	return w.out.finish()
}

// Abort gives the file up: no footer is written, and every later Append and
// Close returns ErrAborted. After Close or an error it does nothing.
func (w *Writer) Abort() error {
	if !w.closed && w.err == nil {
		_ = w.fail(ErrAborted)
	}
	return nil
}
