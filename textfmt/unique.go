package textfmt

import (
	"fmt"

	"github.com/colsst/colsst/rowgroup"
)

// Unique says what becomes of rows that have the key of the row before them:
// the same partition and clustering.
type Unique uint8

// The ways.
const (
	UniqueError Unique = iota // they are a DuplicateError
	UniqueFirst               // the first of them stays
	UniqueLast                // the last of them stays
)

// ParseUnique reads error, first or last.
func ParseUnique(s string) (Unique, error) {
	for u := UniqueError; u <= UniqueLast; u++ {
		if s == u.String() {
			return u, nil
		}
	}
	return 0, fmt.Errorf("%q: expected error, first or last", s)
}

func (u Unique) String() string { return [...]string{"error", "first", "last"}[u%3] }

// DuplicateError says that two rows have the same key.
type DuplicateError struct {
	Key    string // the values of the partition key and clustering, by name
	File   string // the input's name, or the names of those that the rows may be of
	Before int64  // line of the first of them, 0 where that is not known
	Line   int64  // line of the second
}

func (e *DuplicateError) Error() string {
	rows := "two rows have"
	if e.Before > 0 {
		rows = fmt.Sprintf("lines %d and %d have", e.Before, e.Line)
	}
	if e.File != "" {
		rows = e.File + ": " + rows
	}
	return rows + " the key " + e.Key + "; give --unique=first or --unique=last to keep one of them"
}

// Distinct yields the rows of in, which are in the order of the table and as
// Sort takes them, without those that repeat a key. Closing it closes in.
// Whole rows stay or go; their cells are not merged.
func Distinct(s *rowgroup.Schema, in rowgroup.Iter, u Unique) rowgroup.Iter {
	d := &distinct{in: in, unique: u, out: newGatherer(s), next: rowgroup.NewBatch(s), before: rowgroup.NewBatch(s)}
	d.before.Clear()
	return d
}

type distinct struct {
	in     rowgroup.Iter
	unique Unique
	out    *gatherer
	next   *rowgroup.Batch
	before *rowgroup.Batch // the last row of the batch before, if any
	key    []byte          // its partition
	begun  bool
	ended  bool
}

// Next fills b with the next rows.
func (d *distinct) Next(b *rowgroup.Batch) (bool, error) {
	for !d.ended {
		more, err := d.in.Next(d.next)
		if err != nil {
			return false, err
		}
		d.out.begin()
		if more {
			err = d.pick()
		} else if d.ended = true; d.begun && d.unique == UniqueLast {
			d.out.pick(d.key, d.before, 0)
		}
		if err != nil {
			return false, err
		}
		filled, err := d.out.gather(b)
		if err != nil {
			return false, err
		}
		if more {
			err = d.keep()
		}
		if filled || err != nil {
			return err == nil, err
		}
	}
	b.Reset()
	return false, nil
}

// pick picks rows of the next batch; for UniqueLast all but its last one, with
// the one held back before it.
func (d *distinct) pick() error {
	s, b := d.out.schema, d.next
	before, row, key := d.before, 0, d.key
	there := d.begun
	for p := range b.NumPartitions() {
		from, to := b.PartitionRows(p)
		for i := from; i < to; i++ {
			same := there && sameKey(key, b.Key(p)) && s.CompareUnfiltered(before, row, b, i) == 0
			switch {
			case same && d.unique == UniqueError:
				return &DuplicateError{Key: describeKey(b, p, i)}
			case d.unique == UniqueLast:
				if there && !same {
					d.out.pick(key, before, row)
				}
			case !same:
				d.out.pick(b.Key(p), b, i)
			}
			before, row, key, there = b, i, b.Key(p), true
		}
	}
	return nil
}

// keep holds the last row of the batch.
func (d *distinct) keep() error {
	b := d.next
	n, p := b.Len(), b.NumPartitions()-1
	if n == 0 {
		return nil
	}
	d.key = append(d.key[:0], b.Key(p)...)
	d.begun = true
	d.before.Clear()
	return d.before.AppendParts(b, n-1, n, 0, 0)
}

// describeKey is the key of row i, which is in partition p, for people.
func describeKey(b *rowgroup.Batch, p, i int) string {
	s := b.Schema()
	var text, value []byte
	add := func(col int, value []byte) {
		if len(text) > 0 {
			text = append(text, ", "...)
		}
		text = append(append(text, s.Column(col).Name...), '=')
		text = rowgroup.AppendText(text, s.Column(col).Type, value)
	}
	if parts, err := rowgroup.SplitKey(s.KeyTypes(), b.Key(p)); err == nil && len(s.KeyTypes()) > 0 {
		for col, part := range parts {
			add(col, part)
		}
	}
	from, to := s.Range(rowgroup.Clustering)
	for col := from; col < to; col++ {
		value, _ = b.AppendValue(value[:0], col, i)
		add(col, value)
	}
	return string(text)
}

// Close closes the rows' source.
func (d *distinct) Close() error {
	d.ended = true
	return d.in.Close()
}
