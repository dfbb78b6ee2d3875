package columnar

import (
	"encoding/binary"
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

// Of a caller's batch so much is taken over at a time, or one row.
const (
	pieceRows  = 8192
	pieceBytes = 4 << 20
)

// Writer writes one table file, front to back. It is not safe for concurrent
// use. Equal rows and options make equal bytes, whatever the batches.
type Writer struct {
	stream *streamWriter
	schema *rowgroup.Schema
	o      options
	order  *rowgroup.OrderChecker
	enc    *rowgroup.SegmentEncoder
	temps  rowgroup.TemplateSet
	err    error
	closed bool

	pend     *rowgroup.Batch // what is not written yet, and perhaps some before it
	spare    *rowgroup.Batch
	firstOrd int64  // ordinal of partition 0 of pend
	first    bool   // nothing came so far
	lastKey  []byte // of the last partition that came
	sizes    sizes  // of the piece

	cur      current
	shared   sharedGroup
	units    []unit
	unitSize int   // row groups in units
	unitMem  int64 // bytes of their rows
	done     int   // unfiltereds of pend that are written
	dropped  int64 // bytes of rows written since pend was compacted

	big     *bigPartition
	parts   indexBuilder
	time    indexBuilder
	hashes  []uint64
	foot    footer
	segStat *rowgroup.Stats
	pages   statsPage
	body    []byte
	item    []byte
	pos     [2][]byte
}

// current is the partition whose rows are coming.
type current struct {
	active    bool
	part      int // in pend
	continued bool
	start     int   // its first row in pend that is in no segment yet
	cuts      []int // ends of its closed groups from there on
	groupFrom int   // first row of its open group
	bytes     int64 // of the open group
	closed    int64 // bytes of its closed groups
}

// sharedGroup gathers whole small partitions for one row group.
type sharedGroup struct {
	active bool
	span   rowgroup.Span
	weight int // rows, but at least one a partition
	bytes  int64
}

// unit is what must not be spread over two blocks if it fits in one: a shared
// group, or the groups of one partition.
type unit struct {
	spans []rowgroup.Span
	own   bool
	bytes int64
}

// bigPartition is a partition of more than one block that is being written.
type bigPartition struct {
	key      []byte
	ordinal  int64
	first    ref
	entry    ownEntry
	deletion rowgroup.Deletion
	open     rowgroup.Deletion
}

// NewWriter begins a file of tables of schema s on w, which needs no seek.
func NewWriter(w io.Writer, s *rowgroup.Schema, opts ...Option) (*Writer, error) {
	o := newOptions(opts)
	if err := o.check(s); err != nil {
		return nil, err
	}
	stream, err := newStreamWriter(w, o.chunkKiB)
	if err != nil {
		return nil, err
	}
	wr := &Writer{
		stream: stream, schema: s, o: o, order: rowgroup.NewOrderChecker(s),
		enc:  rowgroup.NewSegmentEncoder(s, o.encode(s)),
		pend: rowgroup.NewBatch(s), spare: rowgroup.NewBatch(s), first: true,
		segStat: rowgroup.NewStats(s), sizes: newSizes(s),
	}
	wr.pend.Clear()
	wr.foot.stats = rowgroup.NewStats(s)
	wr.foot.groupRows, wr.foot.groupBytes = o.groupRows, o.groupBytes
	wr.foot.options, wr.foot.user = o.pairs(), o.userPairs()
	wr.parts = indexBuilder{index: indexPartition, emit: wr.writeItem}
	wr.time = indexBuilder{index: indexTime, emit: wr.writeItem}
	wr.pages.emit = wr.writeItem
	if err := writeFull(w, appendFileHeader(nil, o.chunkKiB)); err != nil {
		return nil, err
	}
	wr.foot.schemaBytes = appendSchema(nil, s)
	if _, err = wr.writeItem(&header{kind: kindSchema}, wr.foot.schemaBytes); err != nil {
		return nil, err
	}
	return wr, nil
}

// Errors of calls that come too late.
var (
	ErrClosed  = errors.New("closed already") // of a Writer or a Reader
	ErrAborted = errors.New("the writer was aborted")
)

// fail keeps the first error.
func (w *Writer) fail(err error) error {
	if w.err == nil {
		w.err = err
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
		w.sizes.measure(b, from, min(n, from+pieceRows))
		to, toPart := w.sizes.piece(b, part)
		if err := w.piece(b, from, to, part, toPart); err != nil {
			return err
		}
		from, part = to, toPart
	}
	return nil
}

// piece takes over unfiltereds [from, to) and partitions [fromPart, toPart).
// sizes are those of the rows from from on.
func (w *Writer) piece(b *rowgroup.Batch, from, to, fromPart, toPart int) error {
	at, atPart := w.pend.Len(), w.pend.NumPartitions()
	if err := w.pend.AppendParts(b, from, to, fromPart, toPart); err != nil {
		return err
	}
	row := at
	for p := atPart; p < atPart+toPart-fromPart; p++ {
		start := w.pend.Partition(p).Start
		if err := w.rows(row, start, at); err != nil {
			return err
		}
		row = start
		if err := w.endPartition(row); err != nil {
			return err
		}
		head := w.sizes.head(b, fromPart+p-atPart)
		w.cur = current{active: true, part: p, start: row, groupFrom: row, cuts: w.cur.cuts[:0], bytes: head}
		if w.o.filter && len(w.schema.Columns(rowgroup.PartitionKey)) > 0 {
			w.hashes = append(w.hashes, hashKey(w.pend.Key(p)))
		}
		w.foot.totals.partitions++
	}
	if err := w.rows(row, at+to-from, at); err != nil {
		return err
	}
	return w.compact()
}

// rows gives rows [from, to) of pend to the current partition's groups. base
// is the row of the first of sizes.
func (w *Writer) rows(from, to, base int) error {
	c := &w.cur
	limit := int64(w.o.groupBytes)
	for row := from; row < to; {
		n, size := w.sizes.run(row-base, to-row, limit-c.bytes, row == c.groupFrom)
		if n = min(n, w.o.groupRows-(row-c.groupFrom)); n > 0 {
			row, c.bytes = row+n, c.bytes+int64(n)*size
			if c.bytes > encoding.MaxRowBytes {
				return fmt.Errorf("a row with its key and static row of %d bytes; the limit is %d", c.bytes, encoding.MaxRowBytes)
			}
			continue
		}
		c.cuts = append(c.cuts, row)
		c.closed += c.bytes
		c.groupFrom, c.bytes = row, 0
		if len(c.cuts) == segmentGroups || c.closed > w.segmentBytes() {
			if err := w.flushCurrent(); err != nil {
				return err
			}
		}
	}
	return nil
}

// spans are the closed groups of the current partition.
func (w *Writer) spans() []rowgroup.Span {
	c := &w.cur
	spans := make([]rowgroup.Span, len(c.cuts))
	from := c.start
	for i, to := range c.cuts {
		spans[i] = rowgroup.Span{FromRow: from, ToRow: to, FromPart: c.part + 1, ToPart: c.part + 1}
		from = to
	}
	if !c.continued {
		spans[0].FromPart = c.part
	}
	return spans
}

// flushCurrent writes the closed groups of the current partition as a segment,
// knowing that more follow.
func (w *Writer) flushCurrent() error {
	c := &w.cur
	if err := w.flushUnits(); err != nil {
		return err
	}
	spans := w.spans()
	seg, err := w.enc.Encode(w.pend, spans)
	if err != nil {
		return err
	}
	w.beginSegment(spans)
	if !c.continued {
		w.beginBig(c.part)
	}
	if err := w.bigBlocks(seg, spans, 0, len(spans)); err != nil {
		return err
	}
	w.dropped += c.closed
	c.continued, c.start, c.cuts, c.closed = true, c.groupFrom, c.cuts[:0], 0
	w.done = c.start
	return w.endSegment()
}

// endPartition ends the current partition before row of pend.
func (w *Writer) endPartition(row int) error {
	c := &w.cur
	if !c.active {
		return nil
	}
	if row > c.groupFrom || !c.continued && len(c.cuts) == 0 {
		c.cuts = append(c.cuts, row)
	}
	c.active = false
	switch {
	case c.continued:
		if len(c.cuts) > 0 {
			spans := w.spans()
			seg, err := w.enc.Encode(w.pend, spans)
			if err != nil {
				return err
			}
			w.beginSegment(spans)
			if err := w.bigBlocks(seg, spans, 0, len(spans)); err != nil {
				return err
			}
			if err := w.endSegment(); err != nil {
				return err
			}
		}
		w.done = row
		w.dropped += c.closed + c.bytes
		return w.endBig()
	case len(c.cuts) == 1:
		return w.share(row)
	}
	if err := w.closeShared(); err != nil {
		return err
	}
	return w.addUnit(unit{w.spans(), true, c.closed + c.bytes})
}

// share adds the current partition, which is small, to the shared group.
func (w *Writer) share(row int) error {
	c, g := &w.cur, &w.shared
	weight := max(1, row-c.start)
	if g.active && (g.weight+weight > w.o.groupRows || g.bytes+c.bytes > int64(w.o.groupBytes)) {
		if err := w.closeShared(); err != nil {
			return err
		}
	}
	if !g.active {
		*g = sharedGroup{active: true, span: rowgroup.Span{FromRow: c.start, FromPart: c.part}}
	}
	g.weight += weight
	g.bytes += c.bytes
	g.span.ToRow, g.span.ToPart = row, c.part+1
	return nil
}

func (w *Writer) closeShared() error {
	if !w.shared.active {
		return nil
	}
	w.shared.active = false
	return w.addUnit(unit{[]rowgroup.Span{w.shared.span}, false, w.shared.bytes})
}

// segmentBytes is how many bytes of rows a segment holds at most, unless one
// row group, which has a row at least, is larger by itself.
func (w *Writer) segmentBytes() int64 {
	return min(segmentGroups*int64(w.o.groupBytes), maxSegmentBytes)
}

func (w *Writer) addUnit(u unit) error {
	if w.unitSize+len(u.spans) > segmentGroups || w.unitMem > 0 && w.unitMem+u.bytes > w.segmentBytes() {
		if err := w.flushClosed(); err != nil {
			return err
		}
	}
	w.units, w.unitSize, w.unitMem = append(w.units, u), w.unitSize+len(u.spans), w.unitMem+u.bytes
	return nil
}

// flushUnits writes everything before the current partition.
func (w *Writer) flushUnits() error {
	if err := w.closeShared(); err != nil {
		return err
	}
	return w.flushClosed()
}

// flushClosed writes the closed units as a segment.
func (w *Writer) flushClosed() error {
	if len(w.units) == 0 {
		return nil
	}
	var spans []rowgroup.Span
	for _, u := range w.units {
		spans = append(spans, u.spans...)
	}
	seg, err := w.enc.Encode(w.pend, spans)
	if err != nil {
		return err
	}
	w.beginSegment(spans)
	from, size := 0, blockOverhead // the open block
	at := 0
	flush := func() error {
		if from == at {
			return nil
		}
		r, err := w.block(seg, spans, from, at)
		if err != nil {
			return err
		}
		p := spans[from].FromPart
		err = w.parts.addPartitions(0, r, w.firstOrd+int64(p), w.firstOrd+int64(spans[at-1].ToPart), w.pend.Key(p))
		from, size = at, blockOverhead
		return err
	}
	for _, u := range w.units {
		n := 0
		for g := range u.spans {
			n += seg.GroupBytes(at + g)
		}
		if size+n > w.o.blockBytes {
			if err := flush(); err != nil {
				return err
			}
			if u.own && blockOverhead+n > w.o.blockBytes {
				w.beginBig(u.spans[0].FromPart)
				if err := w.bigBlocks(seg, spans, at, at+len(u.spans)); err != nil {
					return err
				}
				if err := w.endBig(); err != nil {
					return err
				}
				at += len(u.spans)
				from = at
				continue
			}
		}
		size += n
		at += len(u.spans)
	}
	if err := flush(); err != nil {
		return err
	}
	w.done = spans[len(spans)-1].ToRow
	w.dropped += w.unitMem
	w.units, w.unitSize, w.unitMem = w.units[:0], 0, 0
	return w.endSegment()
}

// blockOverhead is about what a block stores beside its groups.
const blockOverhead = 20

// bigBlocks writes groups [from, to) of seg, all of the big partition, as
// blocks, each with an entry in its time index.
func (w *Writer) bigBlocks(seg *rowgroup.Segment, spans []rowgroup.Span, from, to int) error {
	b := w.big
	for from < to {
		end, size := from+1, blockOverhead+seg.GroupBytes(from)
		for end < to && size+seg.GroupBytes(end) <= w.o.blockBytes {
			size += seg.GroupBytes(end)
			end++
		}
		r, err := w.block(seg, spans, from, end)
		if err != nil {
			return err
		}
		if b.entry.blocks == 0 {
			b.first = r
		}
		first, last := spans[from].FromRow, spans[end-1].ToRow-1
		w.pos[0] = w.schema.AppendPosition(w.pos[0][:0], w.pend, first)
		w.pos[1] = w.schema.AppendPosition(w.pos[1][:0], w.pend, last)
		rows := int64(last + 1 - first)
		if err := w.time.addTime(0, r, rows, w.pos[0], w.pos[1], b.open); err != nil {
			return err
		}
		for _, m := range *w.pend.Markers() {
			if m.Row < first || m.Row > last {
				continue
			}
			b.entry.markers, b.open = true, rowgroup.LiveDeletion
			if m.Kind.Opens() {
				b.open = m.Open
			}
		}
		b.entry.blocks++
		b.entry.rows += rows
		from = end
	}
	return nil
}

func (w *Writer) beginBig(part int) {
	h := w.pend.Partition(part)
	w.big = &bigPartition{
		key: slices.Clone(w.pend.Key(part)), ordinal: w.firstOrd + int64(part), deletion: h.Deletion,
		open: rowgroup.LiveDeletion, entry: ownEntry{static: h.Static != rowgroup.StaticAbsent},
	}
	w.time.reset()
}

func (w *Writer) endBig() error {
	b := w.big
	w.big = nil
	var err error
	if b.entry.time, b.entry.level, err = w.time.finish(); err != nil {
		return err
	}
	return w.parts.addOwn(b.first, b.ordinal, b.key, b.entry, b.deletion)
}

// block writes groups [from, to) of seg as a block.
func (w *Writer) block(seg *rowgroup.Segment, spans []rowgroup.Span, from, to int) (ref, error) {
	id, t, added := w.temps.Choose(seg, from, to)
	if added {
		bytes := t.AppendTo(nil)
		w.foot.templates = append(w.foot.templates, bytes)
		if _, err := w.writeItem(&header{kind: kindTemplate, fields: [5]uint64{uint64(id)}}, bytes); err != nil {
			return ref{}, err
		}
	}
	first, last := spans[from], spans[to-1]
	ordinal := w.firstOrd + int64(first.FromPart)
	if first.FromPart == first.ToPart { // goes on with a partition
		ordinal--
	}
	w.body = seg.AppendBlock(w.body[:0], from, to, t)
	w.foot.totals.blocks++
	w.pages.blocks++
	r, err := w.writeItem(&header{kind: kindData, fields: [5]uint64{
		uint64(id), uint64(ordinal), uint64(to - from),
		uint64(last.ToRow - first.FromRow), uint64(last.ToPart - first.FromPart),
	}}, w.body)
	if w.pages.blocks == 1 {
		w.pages.first = r.off
	}
	return r, err
}

func (w *Writer) beginSegment(spans []rowgroup.Span) {
	first, last := spans[0], spans[len(spans)-1]
	w.segStat.Reset()
	w.segStat.Add(w.pend, first.FromRow, last.ToRow, first.FromPart, last.ToPart)
	w.foot.stats.Merge(w.segStat)
	w.foot.totals.groups += int64(len(spans))
	w.foot.totals.rows += int64(last.ToRow - first.FromRow)
	w.foot.totals.segments++
	w.pages.groups, w.pages.blocks = len(spans), 0
}

func (w *Writer) endSegment() error { return w.pages.add(w.segStat) }

// compact drops what is written from pend, once that is most of it or much.
func (w *Writer) compact() error {
	c, p := &w.cur, w.pend
	n, np := p.Len(), p.NumPartitions()
	shift, partShift := w.done, c.part
	switch {
	case c.continued:
	case len(w.units) > 0:
		partShift = w.units[0].spans[0].FromPart
	case w.shared.active:
		partShift = w.shared.span.FromPart
	}
	if w.dropped < maxSegmentBytes && shift+partShift < (n+np)/2 || shift+partShift == 0 {
		return nil
	}
	w.dropped = 0
	to := w.spare
	to.Clear()
	fromPart := partShift
	if c.continued {
		to.BeginPartition(p.Key(c.part)).Continued = true
		fromPart++
	}
	err := to.AppendParts(p, shift, n, fromPart, np)
	w.pend, w.spare = to, p
	w.firstOrd += int64(partShift)
	move := func(s *rowgroup.Span) {
		s.FromRow, s.ToRow, s.FromPart, s.ToPart = s.FromRow-shift, s.ToRow-shift, s.FromPart-partShift, s.ToPart-partShift
	}
	for _, u := range w.units {
		for i := range u.spans {
			move(&u.spans[i])
		}
	}
	move(&w.shared.span)
	c.part, c.start, c.groupFrom, w.done = c.part-partShift, c.start-shift, c.groupFrom-shift, 0
	for i := range c.cuts {
		c.cuts[i] -= shift
	}
	return err
}

// writeItem appends an item to the stream.
func (w *Writer) writeItem(h *header, body []byte) (ref, error) {
	h.body = len(body)
	if h.body > h.limit() {
		return ref{}, fmt.Errorf("a %s of %d bytes; the limit is %d", itemName(h.kind), h.body, h.limit())
	}
	w.item = append(h.appendTo(w.item[:0]), body...)
	if w.stream.chunk == 0 {
		w.item = binary.LittleEndian.AppendUint32(w.item, checksum(w.item))
	}
	r := ref{w.stream.off, int64(len(w.item))}
	_, err := w.stream.Write(w.item)
	return r, err
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
	if err := w.endPartition(w.pend.Len()); err != nil {
		return err
	}
	if err := w.flushUnits(); err != nil {
		return err
	}
	f := &w.foot
	var err error
	if f.statistics, err = w.pages.finish(); err != nil {
		return err
	}
	if w.o.filter && f.totals.partitions > 1 {
		if f.filter, err = writeFilter(w.hashes, shardKeys, w.writeItem); err != nil {
			return err
		}
	}
	if f.totals.partitions > 0 {
		if f.root, f.rootLevel, err = w.parts.finish(); err != nil {
			return err
		}
	}
	if err := w.stream.flush(); err != nil {
		return err
	}
	f.streamLen, f.stored = w.stream.off, w.stream.stored
	foot := f.appendTo(nil, w.stream.chunk)
	features := uint32(0)
	if w.stream.chunk > 0 {
		features |= featureChunks
	}
	return writeFull(w.stream.w, appendTrailer(foot, foot, features))
}

// Abort gives the file up: no footer is written, and every later Append and
// Close returns ErrAborted. After Close or an error it does nothing.
func (w *Writer) Abort() error {
	if !w.closed && w.err == nil {
		w.err = ErrAborted
	}
	return nil
}

// statsPage gathers the statistics of segments.
type statsPage struct {
	emit     func(h *header, body []byte) (ref, error)
	refs     []ref
	body     []byte
	segments int // written before this page
	n        int // in this page
	last     int64
	first    int64 // first block of the segment
	blocks   int
	groups   int
}

// statsPageBytes is the size at which a page of statistics is closed.
const statsPageBytes = 4 << 10

// add adds a segment.
func (p *statsPage) add(s *rowgroup.Stats) error {
	p.body = binary.AppendUvarint(p.body, uint64(p.first-p.last))
	p.last = p.first
	p.body = binary.AppendUvarint(p.body, uint64(p.blocks))
	p.body = binary.AppendUvarint(p.body, uint64(p.groups))
	p.body = s.AppendTo(p.body)
	p.n++
	if len(p.body) < statsPageBytes {
		return nil
	}
	return p.flush()
}

func (p *statsPage) flush() error {
	if p.n == 0 {
		return nil
	}
	r, err := p.emit(&header{kind: kindStats, fields: [5]uint64{uint64(p.segments), uint64(p.n)}}, p.body)
	p.refs = append(p.refs, r)
	p.segments += p.n
	p.n, p.last, p.body = 0, 0, p.body[:0]
	return err
}

func (p *statsPage) finish() ([]ref, error) {
	err := p.flush()
	return p.refs, err
}
