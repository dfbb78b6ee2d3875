package textfmt

import (
	"bytes"
	"fmt"

	"github.com/colsst/colsst/rowgroup"
)

// In a text every row has the static values of its partition, and a static row
// without other rows is a row without clustering and regular values. So text is
// read with a schema whose static columns are regular ones (RowSchema), sorted
// where it has to be, and its static values are then taken out of the rows
// (LiftStatic).

// RowSchema is s with its static columns as regular ones, under the same column
// numbers; s itself if it has none.
func RowSchema(s *rowgroup.Schema) *rowgroup.Schema {
	static := s.Columns(rowgroup.Static)
	if len(static) == 0 {
		return s
	}
	opts := []rowgroup.SchemaOption{rowgroup.WithOrder(s.Order())}
	if s.Multiset() {
		opts = append(opts, rowgroup.WithMultiset())
	}
	regular := append(append([]rowgroup.Column{}, static...), s.Columns(rowgroup.Regular)...)
	rows, err := rowgroup.NewSchema(s.Columns(rowgroup.PartitionKey), s.Columns(rowgroup.Clustering), nil, regular, opts...)
	if err != nil {
		panic(err) // of the columns of a schema
	}
	return rows
}

// StaticError says that a row does not fit the static columns of its partition,
// or has nulls in its clustering.
type StaticError struct {
	Key    string // of the row: names and values
	Reason string
}

func (e *StaticError) Error() string { return "the row of key " + e.Key + ": " + e.Reason }

// LiftStatic yields the rows of in, which are of RowSchema(s) and in its order,
// as rows of s. The rows of a partition must agree in every static column, by
// their bits; a partition in which all of these are null has no static row. A
// row whose clustering and regular values are all null stands for the static
// row alone; no other row has a null in its clustering. What is wrong with a
// row is a StaticError. Closing it closes in.
func LiftStatic(s *rowgroup.Schema, in rowgroup.Iter) rowgroup.Iter {
	if len(s.Columns(rowgroup.Static)) == 0 {
		return in
	}
	from, to := s.Range(rowgroup.Static)
	return &lifter{in: in, schema: s, rows: rowgroup.NewBatch(RowSchema(s)), from: from, to: to, static: make([][]byte, to-from)}
}

type lifter struct {
	in       rowgroup.Iter
	schema   *rowgroup.Schema
	rows     *rowgroup.Batch
	from, to int      // the static columns
	static   [][]byte // their values in the partition at hand; nil: null
	alone    []bool   // rows that stand for a static row
	buf      []byte
}

// Close closes the rows' source.
func (l *lifter) Close() error { return l.in.Close() }

// Next fills b with the next rows.
func (l *lifter) Next(b *rowgroup.Batch) (bool, error) {
	more, err := l.in.Next(l.rows)
	if err != nil || !more {
		b.Reset()
		return false, err
	}
	n := l.rows.Len()
	l.alone = extend(l.alone[:0], n)
	static := make([][][]byte, l.rows.NumPartitions())
	for p := range static {
		if err := l.look(p); err != nil {
			return false, err
		}
		static[p] = append(static[p], l.static...)
	}
	// Without their static values the rows are rows of b, as columns have the
	// same numbers.
	l.rows.SetLen(n)
	for col := l.from; col < l.to; col++ {
		l.empty(col)
	}
	b.Clear()
	for p := range static {
		if err := l.partition(b, p, static[p]); err != nil {
			return false, err
		}
	}
	return true, nil
}

// look finds the static values of partition p and the rows that stand for its
// static row.
func (l *lifter) look(p int) error {
	from, to := l.rows.PartitionRows(p)
	first := !l.rows.Partition(p).Continued
	for i := from; i < to; i++ {
		fail := func(format string, args ...any) error {
			return &StaticError{describeKey(l.rows, p, i), fmt.Sprintf(format, args...)}
		}
		for k := range l.static {
			v, ok := l.rows.AppendValue(l.buf[:0], l.from+k, i)
			l.buf = v
			switch {
			case first && !ok:
				l.static[k] = nil
			case first:
				l.static[k] = append([]byte{}, v...)
			case ok != (l.static[k] != nil) || !bytes.Equal(v, l.static[k]):
				c := l.schema.Column(l.from + k)
				return fail("static column %q is %s, in a row before %s", c.Name, shown(c.Type, v, ok), shown(c.Type, l.static[k], l.static[k] != nil))
			}
		}
		first = false
		clustering, nulls := l.nulls(i, rowgroup.Clustering)
		if nulls == 0 {
			continue
		}
		values, absent := l.nulls(i, rowgroup.Regular)
		static := false
		for _, v := range l.static {
			static = static || v != nil
		}
		if nulls < clustering || absent < values || !static {
			return fail("a null in its clustering, which only a row that has nothing but static values may have")
		}
		l.alone[i] = true
	}
	return nil
}

// nulls counts the columns of a role of s, and those of them that are null in
// row i.
func (l *lifter) nulls(i int, r rowgroup.Role) (columns, nulls int) {
	from, to := l.schema.Range(r)
	for col := from; col < to; col++ {
		if l.rows.Cell(col, i).Kind() == rowgroup.CellAbsent {
			nulls++
		}
	}
	return to - from, nulls
}

// shown is a value for people.
func shown(t rowgroup.Type, v []byte, ok bool) string {
	if !ok {
		return "null"
	}
	const most = 40
	text := []rune(string(rowgroup.AppendText(nil, t, v)))
	if len(text) > most {
		text = append(text[:most], '…')
	}
	return fmt.Sprintf("%q", string(text))
}

// empty leaves no value of a column in the rows.
func (l *lifter) empty(col int) {
	switch l.schema.Column(col).Type.Physical().Class() {
	case rowgroup.ClassInt32:
		*l.rows.Int32s(col) = (*l.rows.Int32s(col))[:0]
	case rowgroup.ClassInt64:
		*l.rows.Int64s(col) = (*l.rows.Int64s(col))[:0]
	case rowgroup.ClassFloat32:
		*l.rows.Float32s(col) = (*l.rows.Float32s(col))[:0]
	case rowgroup.ClassFloat64:
		*l.rows.Float64s(col) = (*l.rows.Float64s(col))[:0]
	default:
		l.rows.Bytes(col).Reset()
	}
	m := l.rows.CellMeta(col)
	m.Cells, m.Exceptions = m.Cells[:0], m.Exceptions[:0]
}

// partition appends partition p with these static values.
func (l *lifter) partition(b *rowgroup.Batch, p int, static [][]byte) error {
	head := b.BeginPartition(l.rows.Key(p))
	head.Continued = l.rows.Partition(p).Continued
	for k, v := range static {
		there := v != nil && !head.Continued // else it came with the first batch
		if there {
			head.Static = rowgroup.StaticFull
		}
		if err := b.PutValue(l.from+k, b.NumPartitions()-1, v, there); err != nil {
			return err
		}
	}
	from, to := l.rows.PartitionRows(p)
	for from < to {
		end := from
		for end < to && !l.alone[end] {
			end++
		}
		if err := b.AppendParts(l.rows, from, end, p+1, p+1); err != nil {
			return err
		}
		for from = end; from < to && l.alone[from]; from++ {
		}
	}
	return nil
}
