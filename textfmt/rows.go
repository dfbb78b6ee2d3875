package textfmt

import (
	"fmt"
	"strconv"

	"github.com/colsst/colsst/rowgroup"
)

// rowWriter writes the rows of batches one by one.
type rowWriter interface {
	// partition comes before the rows of partition p of b.
	partition(b *rowgroup.Batch, p int) error
	// row writes row i of b, or with i < 0 one of which only the partition is
	// known.
	row(b *rowgroup.Batch, i int) error
}

// writeRows writes the rows of b, and a row for a partition that has none but a
// static row. Range tombstone markers are left out.
func writeRows(w rowWriter, b *rowgroup.Batch) error {
	markers := *b.Markers()
	for p := range b.NumPartitions() {
		if err := w.partition(b, p); err != nil {
			return err
		}
		from, to := b.PartitionRows(p)
		if h := b.Partition(p); from == to && h.Static == rowgroup.StaticFull && !h.Continued {
			if err := w.row(b, -1); err != nil {
				return err
			}
		}
		for i := from; i < to; i++ {
			for len(markers) > 0 && markers[0].Row < i {
				markers = markers[1:]
			}
			if len(markers) > 0 && markers[0].Row == i {
				continue
			}
			if err := w.row(b, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// rowValues finds the values of rows, those that rows of a partition share
// among them. Its buffers are used again for the next value.
type rowValues struct {
	schema  *rowgroup.Schema
	shared  [][]byte // by column: values of the partition key and static columns
	there   []bool   // by column: shared has one
	scratch []byte
}

func newRowValues(s *rowgroup.Schema) rowValues {
	n, _ := s.Range(rowgroup.Regular)
	return rowValues{schema: s, shared: make([][]byte, n), there: make([]bool, n)}
}

// partition keeps what the rows of partition p share.
func (v *rowValues) partition(b *rowgroup.Batch, p int) error {
	from, to := v.schema.Range(rowgroup.PartitionKey)
	if from < to {
		parts, err := rowgroup.SplitKey(v.schema.KeyTypes(), b.Key(p))
		if err != nil {
			return err
		}
		for i, part := range parts {
			v.shared[i], v.there[i] = append(v.shared[i][:0], part...), true
		}
	}
	if b.Partition(p).Continued {
		return nil // its static row came with its first batch
	}
	from, to = v.schema.Range(rowgroup.Static)
	for i := from; i < to; i++ {
		v.there[i] = b.Partition(p).Static == rowgroup.StaticFull
		if v.there[i] {
			v.shared[i], v.there[i] = b.AppendValue(v.shared[i][:0], i, p)
		}
	}
	return nil
}

// value is the serialised value of a column in row i of b, valid until the next
// call; there is false for none.
func (v *rowValues) value(b *rowgroup.Batch, col, i int) (value []byte, there bool) {
	switch v.schema.Role(col) {
	case rowgroup.PartitionKey, rowgroup.Static:
		return v.shared[col], v.there[col]
	}
	if i < 0 {
		return nil, false
	}
	v.scratch, there = b.AppendValue(v.scratch[:0], col, i)
	return v.scratch, there
}

// columnsOf are the numbers of the named columns of s, of all for nil.
func columnsOf(s *rowgroup.Schema, names []string) (columns []int, err error) {
	if names == nil {
		for i := range s.NumColumns() {
			columns = append(columns, i)
		}
	}
	for _, name := range names {
		i := s.Lookup(name)
		if i < 0 {
			return nil, fmt.Errorf("there is no column %q", name)
		}
		columns = append(columns, i)
	}
	return columns, nil
}

// metadataNames are the columns of row metadata.
var metadataNames = [...]string{"$write_time", "$ttl", "$expiry"}

// rowMetadata are the values of metadataNames in row i, and which of them there
// are; with i < 0 none.
func rowMetadata(m *rowgroup.RowMeta, i int) (values [3]int64, there [3]bool) {
	if i < 0 || at(m.Liveness, i) == rowgroup.LivenessNone {
		return values, there
	}
	values[0], there[0] = at(m.WriteTimes, i), true
	if at(m.Liveness, i) == rowgroup.LivenessExpiring {
		values[1], values[2] = int64(at(m.TTLs, i)), at(m.Expiries, i)
		there[1], there[2] = true, true
	}
	return values, there
}

func appendMetadata(dst []byte, v int64, there bool, null string) []byte {
	if !there {
		return append(dst, null...)
	}
	return strconv.AppendInt(dst, v, 10)
}

// at is s[i], or 0 where s is empty and stands for zeros.
func at[T any](s []T, i int) (v T) {
	if len(s) > 0 {
		v = s[i]
	}
	return v
}
