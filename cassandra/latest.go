package cassandra

import (
	"context"
	"slices"

	"github.com/colsst/colsst/rowgroup"
)

// level is a run of clustering columns that are stored in one direction.
type level struct {
	columns int  // up to and with these
	desc    bool // read backwards
}

// bounds are what is left to read of the rows of equal leading values.
type bounds struct{ from, to rowgroup.Bound }

// latest reads the greatest rows of a partition whose clustering columns have
// opposite orders: of each level but the last it finds one value after another,
// in the level's direction, and goes into its rows.
type latest struct {
	p      *partition
	ctx    context.Context
	o      rowgroup.ScanOptions
	levels []level
	limit  int // rows that may still come
	open   []bounds
	rows   rowgroup.Iter // of the last level
	found  *rowgroup.Batch
	given  bool // a batch of the partition
	err    error
}

// newLatest makes the levels of the clustering columns.
func newLatest(ctx context.Context, p *partition, n int, o rowgroup.ScanOptions) *latest {
	s := p.source.schema
	levels := []level{}
	for i, c := range s.Columns(rowgroup.Clustering) {
		if i == 0 || levels[len(levels)-1].desc == c.Desc {
			levels = append(levels, level{desc: !c.Desc})
		}
		levels[len(levels)-1].columns = i + 1
	}
	return &latest{p: p, ctx: ctx, o: o, levels: levels, limit: n, open: make([]bounds, 1), found: rowgroup.NewBatch(s)}
}

// Next is that of rowgroup.Iter.
func (it *latest) Next(b *rowgroup.Batch) (bool, error) {
	for it.err == nil && it.limit > 0 && len(it.open) > 0 {
		k := len(it.open) - 1
		switch {
		case it.rows != nil:
			var some bool
			if some, it.err = it.rows.Next(b); some && it.err == nil {
				it.limit -= b.Len() - len(*b.Markers())
				if b.NumPartitions() > 0 && it.given {
					b.Partition(0).Continued = true
				}
				it.given = true
				return true, nil
			}
			it.close()
			it.open = it.open[:k]
		case k == len(it.levels)-1:
			it.rows = it.read(k, it.o, it.limit)
		default:
			var prefix [][]byte
			if prefix, it.err = it.next(k); it.err != nil || prefix == nil {
				it.open = it.open[:k]
				continue
			}
			if behind := (rowgroup.Bound{Prefix: prefix}); it.levels[k].desc {
				it.open[k].to = behind
			} else {
				it.open[k].from = behind
			}
			whole := rowgroup.Bound{Prefix: prefix, Inclusive: true}
			it.open = append(it.open, bounds{whole, whole})
		}
	}
	return false, it.err
}

// read reads rows of what is open at level k.
func (it *latest) read(k int, o rowgroup.ScanOptions, limit int) rowgroup.Iter {
	o.Desc = it.levels[k].desc
	return it.p.read(it.ctx, it.open[k].from, it.open[k].to, limit, o)
}

// next is the values of the columns of level k in the first row that is left, or
// nil if there is none.
func (it *latest) next(k int) (prefix [][]byte, err error) {
	s := it.p.source.schema
	rows := it.read(k, rowgroup.ScanOptions{Columns: []int{}, Live: it.o.Live, Now: it.o.Now}, 1)
	defer func() {
		if e := rows.Close(); err == nil {
			err = e
		}
	}()
	for {
		some, err := rows.Next(it.found)
		if err != nil || !some {
			return nil, err
		}
		for i := range it.found.Len() {
			if it.found.MarkerAt(i) == nil {
				at, _, err := rowgroup.ParsePosition(s, s.AppendPosition(nil, it.found, i))
				return slices.Clip(at.Prefix[:it.levels[k].columns]), err
			}
		}
	}
}

func (it *latest) close() {
	if it.rows != nil {
		if err := it.rows.Close(); it.err == nil {
			it.err = err
		}
		it.rows = nil
	}
}

// Close is that of rowgroup.Iter.
func (it *latest) Close() error {
	it.close()
	it.open = nil
	return nil
}
