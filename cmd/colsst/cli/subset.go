package cli

import (
	"slices"

	"github.com/colsst/colsst/cmd/colsst/internal/predicate"
	"github.com/colsst/colsst/rowgroup"
)

// selector says which rows are wanted: it clears those of rows and, where a
// partition has no rows, those of partitions that are not.
type selector interface {
	Select(b *rowgroup.Batch, rows, partitions []bool) error
}

// subset is those rows of Iter that every selector wants, and of each
// partition that has one its static row.
type subset struct {
	rowgroup.Iter
	wanted           []selector
	in, head         *rowgroup.Batch // head: the partition at hand, without its rows
	begun            bool            // the partition at hand was passed on
	rows, partitions []bool
}

func newSubset(rows rowgroup.Iter, s *rowgroup.Schema, wanted ...selector) *subset {
	return &subset{Iter: rows, wanted: wanted, in: rowgroup.NewBatch(s), head: rowgroup.NewBatch(s)}
}

// Next fills b with the next rows that are wanted.
func (it *subset) Next(b *rowgroup.Batch) (bool, error) {
	for {
		more, err := it.Iter.Next(it.in)
		if err != nil || !more {
			b.Reset()
			return false, err
		}
		it.rows, it.partitions = allTrue(it.rows, it.in.Len()), allTrue(it.partitions, it.in.NumPartitions())
		for _, w := range it.wanted {
			if err := w.Select(it.in, it.rows, it.partitions); err != nil {
				return false, err
			}
		}
		b.Clear()
		for p := range it.in.NumPartitions() {
			if err := it.partition(b, p); err != nil {
				return false, err
			}
		}
		if b.NumPartitions() > 0 {
			return true, nil
		}
	}
}

func allTrue(s []bool, n int) []bool {
	s = slices.Grow(s[:0], n)[:n]
	for i := range s {
		s[i] = true
	}
	return s
}

// partition appends what is wanted of partition p.
func (it *subset) partition(b *rowgroup.Batch, p int) error {
	from, to := it.in.PartitionRows(p)
	h := it.in.Partition(p)
	if !h.Continued {
		it.begun = false
		it.head.Clear()
		if err := it.head.AppendParts(it.in, from, from, p, p+1); err != nil {
			return err
		}
		if from == to && h.Static == rowgroup.StaticFull && it.partitions[p] {
			return it.begin(b, p)
		}
	}
	for begins := true; from < to; {
		if !it.rows[from] {
			from++
			continue
		}
		end := from + 1
		for end < to && it.rows[end] {
			end++
		}
		if begins {
			if err := it.begin(b, p); err != nil {
				return err
			}
			begins = false
		}
		if err := b.AppendParts(it.in, from, end, p+1, p+1); err != nil {
			return err
		}
		from = end
	}
	return nil
}

// begin appends the head of partition p: what its first batch said, where none
// of its rows were passed on before.
func (it *subset) begin(b *rowgroup.Batch, p int) error {
	if it.begun {
		start := it.in.Partition(p).Start
		return b.AppendParts(it.in, start, start, p, p+1) // which continues it
	}
	it.begun = true
	return b.AppendParts(it.head, 0, 0, 0, 1)
}

// inRange wants the rows between two bounds.
type inRange struct{ from, to rowgroup.Bound }

func (r inRange) Select(b *rowgroup.Batch, rows, partitions []bool) error {
	s := b.Schema()
	for p := range b.NumPartitions() {
		from, to := b.PartitionRows(p)
		first := s.SearchBound(b, from, to, r.from, true)
		last := s.SearchBound(b, first, to, r.to, false)
		clear(rows[from:first])
		clear(rows[last:to])
		partitions[p] = false
	}
	return nil
}

// within is what the range says of the first clustering column's values.
func (r inRange) within(s *rowgroup.Schema) []rowgroup.ValueRange {
	least, most := r.from.Prefix, r.to.Prefix
	if descends(s) {
		least, most = most, least
	}
	v := rowgroup.ValueRange{}
	v.Column, _ = s.Range(rowgroup.Clustering)
	if len(least) > 0 {
		v.Min = least[0]
	}
	if len(most) > 0 {
		v.Max = most[0]
	}
	return []rowgroup.ValueRange{v}
}

// filtered leaves of rows those for which where is true. What statistics rule
// out was not read: see predicate.Predicate.Within.
func filtered(rows rowgroup.Iter, s *rowgroup.Schema, where *predicate.Predicate) rowgroup.Iter {
	if where == nil {
		return rows
	}
	return newSubset(rows, s, where)
}
