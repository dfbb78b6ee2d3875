package cli

import (
	"errors"
	"time"

	"github.com/colsst/colsst/cmd/colsst/internal/aggregate"
	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/rowgroup"
)

// aggregates are the flags of a query for what comes of its rows.
type aggregates struct {
	text, by, every string
	specs           []aggregate.Spec
	window          *aggregate.Window
}

func (a *aggregates) add(t *tool) {
	f := t.cmd.Flags()
	f.StringVar(&a.text, "agg", "", "what comes of the rows in place of them: count, min(v), max(v), sum(v), avg(v), first(v), last(v)")
	t.choice(&a.by, "by", "", "with --agg, for each of: partition", "partition")
	f.StringVar(&a.every, "every", "", "with --agg, for each window of time of this length: 30s, 5m, 1h, 7d, 2w, or a number")
}

func (a *aggregates) parse(t *tool) (err error) {
	if a.text == "" {
		return t.refuse("is for --agg", "by", "every")
	}
	if err := t.refuse("and --agg exclude one another", "columns", "desc", "asc"); err != nil {
		return err
	}
	if a.specs, err = aggregate.Parse(a.text); err != nil {
		return usagef("--agg: %w", err)
	}
	if a.by != "" && a.by != "partition" {
		return usagef("--by %s: expected partition", a.by)
	}
	if a.every != "" {
		w, err := aggregate.ParseWindow(a.every)
		if err != nil {
			return usagef("--every: %w", err)
		}
		a.window = &w
	}
	return nil
}

// aggregateSink prints what comes of the rows that are written to it.
type aggregateSink struct {
	*aggregate.Aggregator
	to    sink
	limit int64 // results to print; negative: all
	rows  *int64
}

// newAggregateSink aggregates the rows of a table of schema s, or of several.
func (q *rowQuery) newAggregateSink(out *output, s *rowgroup.Schema, several bool) (*aggregateSink, error) {
	a := &aggregateSink{limit: q.limit, rows: &q.sum.Rows}
	o := aggregate.Options{ByPartition: q.agg.by != "", Every: q.agg.window, Descending: descends(s), Mixed: several}
	var err error
	if a.Aggregator, err = aggregate.New(s, q.agg.specs, o, a.print); err != nil {
		return nil, usagef("--agg: %w", err)
	}
	var names []string
	var columns []int
	for i := range a.Schema().NumColumns() {
		names = append(names, a.Schema().Column(i).Name)
		columns = append(columns, i)
	}
	a.to, err = newPrinter(q.out.format, out, a.Schema(), names, columns)
	return a, err
}

// counted has the file or the partition count its rows, where that is all that
// is asked for: they know much from statistics. It does nothing where rows have to be looked
// at, be it to tell how many have expired.
func (q *rowQuery) counted(p *rowPrinter, t table, where bool) (done bool, err error) {
	r, ok := t.(*columnar.Reader)
	if !ok {
		return false, nil
	}
	a, ok := p.to.(*aggregateSink)
	if !ok || where || p.several || q.latest > 0 {
		return false, nil
	}
	if e := r.Stats().Expiries; !q.nowGiven && e.Set && e.Min <= time.Now().Unix() {
		return false, nil
	}
	o, ok := a.Counts()
	if !ok {
		return false, nil
	}
	o.Live, o.Now = true, q.now
	var counts rowgroup.Aggregates
	if q.hasKey || q.since != "" || q.until != "" {
		part, from, to, err := q.partRange(r)
		if err != nil || part == nil {
			return false, nil // what is wrong is said on the other way
		}
		counts, err = part.Aggregate(q.ctx(), from, to, o)
		if err != nil {
			return false, err
		}
	} else if counts, err = r.Aggregate(q.ctx(), o); err != nil {
		return false, err
	}
	a.SetCounts(counts)
	return true, nil
}

// partRange is the partition and the range that are asked for; nil where the
// range is one of several partitions.
func (q *rowQuery) partRange(r *columnar.Reader) (part rowgroup.Aggregating, from, to rowgroup.Bound, err error) {
	s := r.Schema()
	if len(s.Columns(rowgroup.PartitionKey)) > 0 && !q.hasKey {
		return nil, from, to, nil
	}
	if from, to, err = q.bounds(s); err != nil {
		return nil, from, to, err
	}
	key, err := q.keyBytes(s)
	if err != nil {
		return nil, from, to, err
	}
	p, err := r.Partition(q.ctx(), key)
	if err != nil {
		return nil, from, to, err
	}
	part, _ = p.(rowgroup.Aggregating)
	return part, from, to, nil
}

func (a *aggregateSink) print(b *rowgroup.Batch) error {
	if n := int64(b.Len()); a.limit >= 0 && n > a.limit {
		head := rowgroup.NewBatch(a.Schema())
		head.Clear()
		if err := head.AppendRange(b, 0, int(a.limit)); err != nil {
			return err
		}
		b = head
	}
	n := int64(b.Len())
	if a.limit >= 0 {
		a.limit -= n
	}
	*a.rows += n
	return a.to.write(b)
}

func (a *aggregateSink) write(b *rowgroup.Batch) error {
	err := a.Add(b)
	if errors.Is(err, aggregate.ErrTooManyGroups) {
		err = usagef("%w: give --by partition, of one FILE, or a longer --every", err)
	}
	return err
}

func (a *aggregateSink) end() error {
	if err := a.End(); err != nil {
		return err
	}
	return a.to.end()
}
