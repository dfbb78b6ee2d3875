package cassandra

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// loader turns the events of a reader into batches.
type loader struct {
	source *Source
	fill   *filler
	r      *Scanner
	order  *rowgroup.OrderChecker
	done   bool

	head      *IndexEntry // the partition that the reader is within from the start; its head is still to come
	resumed   bool        // the partition being read is in an earlier batch
	single    bool        // stop at the end of the partition
	end       int64       // stop at what begins there or behind; -1: nowhere
	whole     bool        // one batch, whatever it comes to
	statics   bool        // the header has static columns
	noStatics int64       // position of a partition whose static row is not wanted, or -1
}

func (s *Source) loader(o *rowgroup.ScanOptions) loader {
	f := newFiller(s.schema, o.Columns)
	if o.Live { // is judged by all columns
		f = newFiller(s.schema, nil)
	}
	return loader{source: s, fill: f, statics: len(s.sst.Header.Static) > 0, end: -1, noStatics: -1}
}

// start reads from r on, where a deletion is open.
func (l *loader) start(r *Scanner, open rowgroup.Deletion) {
	l.r, l.done, l.resumed = r, false, false
	l.order = rowgroup.NewOrderChecker(l.source.schema)
	l.order.Within(open)
}

// next fills b with what comes next, which it has found in order, and reports
// whether there was anything.
func (l *loader) next(ctx context.Context, b *rowgroup.Batch) (some bool, err error) {
	if some, err = l.load(b); !some || err != nil {
		return false, err
	}
	if err := l.order.Check(b); err != nil {
		return false, l.source.disorder(ctx, err)
	}
	return true, nil
}

// disorder makes of an error about the order of rows one that names their place
// in Data.db, which is read for that.
func (s *Source) disorder(ctx context.Context, err error) error {
	if len(s.sst.bad) == 0 {
		if _, found := s.sst.Verify(ctx); found != nil {
			return found
		}
	}
	return &encoding.CorruptError{File: s.sst.Data.Name, Part: "rows", Offset: -1, Reason: err.Error()}
}

// load fills b with what comes next and reports whether there was anything.
func (l *loader) load(b *rowgroup.Batch) (some bool, err error) {
	if l.done {
		return false, nil
	}
	f, from, limits := l.fill, int64(-1), &l.source.limits
	f.begin(b)
	if l.head != nil {
		if err := l.loadHead(); err != nil {
			return false, err
		}
		l.head = nil
	}
	for !l.done {
		e, err := l.r.Next()
		if errors.Is(err, io.EOF) {
			l.done = true
			break
		}
		if err != nil {
			return false, err
		}
		at := l.r.Position()
		if l.end >= 0 && at >= l.end {
			l.done = true
			break
		}
		if from < 0 {
			from = at
		}
		if err := l.event(e); err != nil {
			return false, l.named(err)
		}
		full := f.n >= limits.rows || f.parts >= limits.partitions || l.r.UnreadPosition()-from >= limits.bytes
		if full && !l.whole && f.parts > 0 && e != PartitionBegin { // a head and its static row stay together
			break
		}
	}
	if f.parts == 0 {
		return false, nil
	}
	l.r.release()
	return true, f.end()
}

// loadHead begins the partition that the reader is within.
func (l *loader) loadHead() (err error) {
	r, err := l.source.sst.ScanFrom(l.head.Position, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if _, err = r.Next(); err != nil {
		return err
	}
	l.begin(r.Partition())
	if l.statics && l.head.Position != l.noStatics {
		if _, err = r.Next(); err != nil {
			return err
		}
		l.source.asRead.row(r.Row(), true)
		return l.fill.static(r.Row())
	}
	return nil
}

func (l *loader) begin(p *Partition) {
	l.fill.partition(p)
	l.resumed = true
}

func (l *loader) event(e Event) error {
	if e == ClusteringRow && !l.source.asRead.row(l.r.Row(), false) {
		return nil
	}
	if l.fill.parts == 0 && l.resumed && (e == ClusteringRow || e == RangeMarker) {
		l.fill.resume(l.r.Partition())
	}
	switch e {
	case PartitionBegin:
		l.begin(l.r.Partition())
	case StaticRow:
		if l.r.Partition().Position != l.noStatics {
			l.source.asRead.row(l.r.Row(), true)
			return l.fill.static(l.r.Row())
		}
	case ClusteringRow:
		return l.fill.row(l.r.Row())
	case RangeMarker:
		return l.fill.marker(l.r.Marker())
	case PartitionEnd:
		l.resumed = false
		l.done = l.single
	}
	return nil
}

// named adds file and place to an error that has none.
func (l *loader) named(err error) error {
	var corrupt *encoding.CorruptError
	if errors.As(err, &corrupt) {
		return err
	}
	file, part, _ := l.r.where()
	return fmt.Errorf("%s: %s: %w", file, part, err)
}
