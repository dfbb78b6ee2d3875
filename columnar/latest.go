package columnar

import (
	"context"
	"fmt"
	"slices"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// Latest reads the n rows of greatest clustering, greatest first. Where the
// clustering columns have opposite orders it reads the runs of equal leading
// values one by one, a seek each; of range tombstone markers it then yields
// those that stand among the rows of a run.
func (p *partition) Latest(ctx context.Context, n int, o rowgroup.ScanOptions) rowgroup.Iter {
	desc, simple, err := p.latestOrder(&o)
	if err != nil {
		return &failed{err}
	}
	n = max(0, n)
	if simple {
		o.Desc = desc
		it := p.iter(ctx, o)
		it.limit = n
		return it
	}
	s := p.r.foot.schema
	levels := []level{{desc: true}}
	for i, c := range s.Columns(rowgroup.Clustering) {
		stored, _ := descends(&c)
		last := &levels[len(levels)-1]
		if i > 0 && last.desc == stored {
			levels = append(levels, level{})
			last = &levels[len(levels)-1]
		}
		*last = level{columns: i + 1, desc: !stored}
	}
	return &latestIter{p: p, ctx: ctx, o: o, levels: levels, limit: n, runs: make([]run, 1), found: rowgroup.NewBatch(s)}
}

// latestOrder says how the latest rows are read: backwards or not if simple,
// else by levels. It leaves Within out of o.
func (p *partition) latestOrder(o *rowgroup.ScanOptions) (desc, simple bool, err error) {
	if err := p.r.checkColumns(o); err != nil {
		return false, false, err
	}
	o.Within = nil
	desc, simple = true, true
	columns := p.r.foot.schema.Columns(rowgroup.Clustering)
	for i := range columns {
		c := &columns[i]
		stored, ordered := descends(c)
		if !ordered {
			return false, false, fmt.Errorf("latest: column %q, type %s: %w: the order of its type is unknown", c.Name, c.Type, encoding.ErrUnsupported)
		}
		simple = simple && (i == 0 || desc == !stored)
		desc = !stored
	}
	return desc, simple, nil
}

// descends reports whether a clustering column is stored with the greatest
// value first, by the order of the values themselves.
func descends(c *rowgroup.Column) (desc, ordered bool) {
	t := &c.Type
	desc = c.Desc
	for t.Kind == rowgroup.KindReversed && len(t.Args) == 1 {
		desc, t = !desc, &t.Args[0]
	}
	return desc, t.Ordered()
}

// level is a run of clustering columns that are stored in one direction.
type level struct {
	columns int  // up to and with these
	desc    bool // read backwards
}

// run is what is left to read of the rows of equal leading values.
type run struct{ from, to rowgroup.Bound }

// latestIter reads the rows of a partition whose clustering columns have
// opposite orders: of each level but the last it finds one value after another,
// in the level's direction, and goes into its run.
type latestIter struct {
	p      *partition
	ctx    context.Context
	o      rowgroup.ScanOptions
	levels []level
	limit  int
	runs   []run     // one for each level that is open
	rows   *partIter // of the last level
	found  *rowgroup.Batch
	headed bool
	err    error
}

func (it *latestIter) Next(b *rowgroup.Batch) (bool, error) {
	for it.err == nil && it.limit > 0 && len(it.runs) > 0 {
		if it.rows != nil {
			var ok bool
			if ok, it.err = it.rows.Next(b); ok && it.err == nil {
				it.limit, it.headed = it.rows.limit, true
				return true, nil
			}
			_ = it.rows.Close() // it is not, after an error
			it.rows = nil
			it.runs = it.runs[:len(it.runs)-1]
			continue
		}
		k := len(it.runs) - 1
		if k == len(it.levels)-1 {
			it.rows = it.iter(k, it.o, it.limit)
			it.rows.headed = it.headed
			continue
		}
		var prefix [][]byte
		if prefix, it.err = it.find(k); it.err != nil {
			break
		}
		if prefix == nil {
			it.runs = it.runs[:k]
			continue
		}
		if left := (rowgroup.Bound{Prefix: prefix}); it.levels[k].desc {
			it.runs[k].to = left
		} else {
			it.runs[k].from = left
		}
		whole := rowgroup.Bound{Prefix: prefix, Inclusive: true}
		it.runs = append(it.runs, run{whole, whole})
	}
	b.Reset()
	it.Close() //nolint:errcheck // it only frees memory
	return false, it.err
}

// iter reads limit rows of the run of level k.
func (it *latestIter) iter(k int, o rowgroup.ScanOptions, limit int) *partIter {
	o.Desc = it.levels[k].desc
	rows := it.p.iter(it.ctx, o)
	rows.setRange(it.runs[k].from, it.runs[k].to)
	rows.limit = limit
	return rows
}

// find is the values of the columns of level k in the first row of its run, or
// nil if there is none.
func (it *latestIter) find(k int) ([][]byte, error) {
	s := it.p.r.foot.schema
	o := rowgroup.ScanOptions{Columns: []int{}, WithoutMetadata: true, Live: it.o.Live, Now: it.o.Now}
	rows := it.iter(k, o, 1)
	rows.headed = true
	defer rows.Close() //nolint:errcheck // it only frees memory
	for {
		ok, err := rows.Next(it.found)
		if err != nil || !ok {
			return nil, err
		}
		for i := range it.found.Len() {
			if it.found.MarkerAt(i) != nil {
				continue
			}
			pos, _, err := rowgroup.ParsePosition(s, s.AppendPosition(nil, it.found, i))
			return slices.Clip(pos.Prefix[:it.levels[k].columns]), err
		}
	}
}

// Close frees what the iterator holds; a second call does nothing.
func (it *latestIter) Close() error {
	if it.rows != nil {
		it.rows.Close() //nolint:errcheck // it only frees memory
	}
	it.rows, it.runs = nil, nil
	return nil
}
