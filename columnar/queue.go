package columnar

import "github.com/colsst/colsst/rowgroup"

// segmentJob is rows on their way to the file: some that were pending, then
// encoded, then written. It begins with the first row of its batch; rows and
// partitions beyond it stay pending.
type segmentJob struct {
	batch *rowgroup.Batch
	bytes int64           // of its rows
	first int64           // ordinal of partition 0 of batch
	spans []rowgroup.Span // its row groups

	// Either whole partitions, or rows of one that begins, goes on or ends.
	units        []blockUnit
	big          bool
	begins, ends bool

	enc     *rowgroup.SegmentEncoder
	stats   *rowgroup.Stats
	encoded *rowgroup.Segment
	err     error
	done    chan struct{} // closed when encoded; nil where no goroutine does it
}

// blockUnit is groups that must not be spread over two blocks if they fit in
// one: a shared group, or those of one partition.
type blockUnit struct {
	groups int
	own    bool
}

func (s *segmentJob) encode() {
	s.stats.Reset()
	s.encoded, s.err = s.enc.EncodeCounting(s.batch, s.spans, s.stats)
}

// wait waits until s is encoded.
func (s *segmentJob) wait() {
	if s.done != nil {
		<-s.done
	}
}

// ready reports whether s is encoded.
func (s *segmentJob) ready() bool {
	if s.done == nil {
		return true
	}
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// queue encodes segments, each on a goroutine of its own where several may be
// on their way, and has them written in order, by the goroutine that pushes.
type queue struct {
	schema  *rowgroup.Schema
	alone   bool // one segment at a time, without goroutines
	free    []*segmentJob
	batches []*rowgroup.Batch
	waiting []*segmentJob // on their way, oldest first
	bytes   int64         // of their rows
}

// maxQueuedBytes is how many bytes of rows are on their way at most, unless one
// segment is larger by itself.
const maxQueuedBytes = 32 << 20

// newQueue makes a queue of up to n segments.
func newQueue(s *rowgroup.Schema, o rowgroup.EncodeOptions, n int) queue {
	q := queue{schema: s, alone: n == 1}
	for range n {
		q.free = append(q.free, &segmentJob{enc: rowgroup.NewSegmentEncoder(s, o), stats: rowgroup.NewStats(s)})
	}
	return q
}

// makeRoom has the oldest segments written where too much is on its way for
// rows of some bytes to be, too.
func (q *queue) makeRoom(bytes int64, out *output) error {
	for len(q.waiting) > 0 && q.bytes+bytes > maxQueuedBytes {
		if err := q.writeOldest(out); err != nil {
			return err
		}
	}
	return nil
}

// next is a job for the next segment, whose rows take some bytes.
func (q *queue) next(bytes int64, out *output) (*segmentJob, error) {
	if err := q.makeRoom(bytes, out); err != nil {
		return nil, err
	}
	if len(q.free) == 0 {
		if err := q.writeOldest(out); err != nil {
			return nil, err
		}
	}
	s := q.free[len(q.free)-1]
	q.free = q.free[:len(q.free)-1]
	*s = segmentJob{bytes: bytes, spans: s.spans[:0], units: s.units[:0], enc: s.enc, stats: s.stats}
	return s, nil
}

// start begins to encode s.
func (q *queue) start(s *segmentJob) {
	q.waiting = append(q.waiting, s)
	q.bytes += s.bytes
	if q.alone {
		s.encode()
		return
	}
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		s.encode()
	}()
}

// write has the segments written that are encoded, up to the first that is
// not, or all.
func (q *queue) write(out *output, all bool) error {
	for len(q.waiting) > 0 && (all || q.waiting[0].ready()) {
		if err := q.writeOldest(out); err != nil {
			return err
		}
	}
	return nil
}

func (q *queue) writeOldest(out *output) error {
	s := q.waiting[0]
	s.wait()
	q.waiting = append(q.waiting[:0], q.waiting[1:]...)
	err := s.err
	if err == nil {
		err = out.segment(s)
	}
	q.bytes -= s.bytes
	q.free = append(q.free, s)
	if len(q.batches) == 0 || s.bytes <= maxQueuedBytes/4 { // else it takes much memory
		q.batches = append(q.batches, s.batch)
	}
	return err
}

// last is the segment that was started last, or nil if it is written.
func (q *queue) last() *segmentJob {
	if len(q.waiting) == 0 {
		return nil
	}
	return q.waiting[len(q.waiting)-1]
}

// batch is an empty batch.
func (q *queue) batch() *rowgroup.Batch {
	last := len(q.batches) - 1
	if last < 0 {
		b := rowgroup.NewBatch(q.schema)
		b.Clear()
		return b
	}
	b := q.batches[last]
	q.batches = q.batches[:last]
	b.Clear()
	return b
}

// drop forgets all segments, once nobody encodes them any more.
func (q *queue) drop() {
	for _, s := range q.waiting {
		s.wait()
	}
	q.waiting, q.bytes = nil, 0
}
