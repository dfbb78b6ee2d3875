package textfmt

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/colsst/colsst/rowgroup"
)

// Batches yields batches of rows as rowgroup.Iter does, but into memory of
// their own: a batch that was filled stays valid while others are.
type Batches interface {
	// Next fills b with the next rows and reports whether there were any.
	Next(b *rowgroup.Batch) (bool, error)
}

// Sort reads all rows of the batches, which are of schema s, into memory and
// yields them in the order of the table: partitions by their key bytes, rows
// by clustering; equal rows stay in the order in which they came. Rows may have
// metadata, null cells and exceptions, but no deletions, markers, cell metadata
// or static rows, and s must be in the order "bytes", as text input is.
func Sort(s *rowgroup.Schema, in Batches) (rowgroup.Iter, error) {
	if s.Order() != "bytes" || len(s.Columns(rowgroup.Static)) > 0 {
		return nil, fmt.Errorf("cannot sort a table in the order %q or with static columns", s.Order())
	}
	if err := s.Seekable(); err != nil {
		return nil, fmt.Errorf("cannot sort: %w", err)
	}
	t := &sorted{schema: s}
	ranks := map[string]int{}
	for {
		b := rowgroup.NewBatch(s)
		more, err := in.Next(b)
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		if len(t.batches) == math.MaxInt32 {
			return nil, fmt.Errorf("too many rows to sort in memory")
		}
		t.add(b, ranks)
	}
	t.sort()
	return t, nil
}

// place is a row of sorted.batches.
type place struct {
	key        int // rank of its partition
	batch, row int32
}

type sorted struct {
	schema  *rowgroup.Schema
	batches []*rowgroup.Batch
	keys    [][]byte // by rank
	rows    []place
	next    int
}

// add keeps b. Ranks number the keys in the order in which they come; sort
// numbers them anew.
func (t *sorted) add(b *rowgroup.Batch, ranks map[string]int) {
	at := int32(len(t.batches))
	t.batches = append(t.batches, b)
	for p := range b.NumPartitions() {
		rank, known := ranks[string(b.Key(p))]
		if !known {
			rank = len(t.keys)
			ranks[string(b.Key(p))] = rank
			t.keys = append(t.keys, b.Key(p))
		}
		from, to := b.PartitionRows(p)
		for i := from; i < to; i++ {
			t.rows = append(t.rows, place{rank, at, int32(i)})
		}
	}
}

func (t *sorted) sort() {
	order := make([]int, len(t.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return bytes.Compare(t.keys[a], t.keys[b]) })
	rank := make([]int, len(order))
	keys := make([][]byte, len(order))
	for i, k := range order {
		rank[k], keys[i] = i, t.keys[k]
	}
	t.keys = keys
	for i := range t.rows {
		t.rows[i].key = rank[t.rows[i].key]
	}
	clustered := len(t.schema.Columns(rowgroup.Clustering)) > 0
	slices.SortFunc(t.rows, func(a, b place) int {
		c := cmp.Compare(a.key, b.key)
		if c == 0 && clustered {
			c = t.schema.CompareUnfiltered(t.batches[a.batch], int(a.row), t.batches[b.batch], int(b.row))
		}
		if c == 0 {
			c = cmp.Compare(a.batch, b.batch)
		}
		if c == 0 {
			c = cmp.Compare(a.row, b.row)
		}
		return c
	})
}

// Next fills b with copies of the next rows.
func (t *sorted) Next(b *rowgroup.Batch) (bool, error) {
	b.Reset()
	rows := t.rows[t.next:]
	rows = rows[:min(len(rows), batchRows)]
	if len(rows) == 0 {
		return false, nil
	}
	keyed := len(t.schema.Columns(rowgroup.PartitionKey)) > 0
	if !keyed && t.next > 0 {
		b.Partition(0).Continued = true
	}
	for i, r := range rows {
		if !keyed {
			break
		}
		if at := t.next + i; i == 0 || t.rows[at-1].key != r.key {
			h := b.BeginPartition(t.keys[r.key])
			h.Start, h.Continued = i, at > 0 && t.rows[at-1].key == r.key
		}
	}
	from, _ := t.schema.Range(rowgroup.Clustering)
	for col := from; col < t.schema.NumColumns(); col++ {
		if err := t.gather(b, col, rows); err != nil {
			return false, err
		}
	}
	t.gatherMeta(b.Meta(), rows)
	b.SetLen(len(rows))
	t.next += len(rows)
	return true, nil
}

// Close frees the rows.
func (t *sorted) Close() error {
	t.batches, t.rows, t.keys, t.next = nil, nil, nil, 0
	return nil
}

// gather copies the cells of one column.
func (t *sorted) gather(b *rowgroup.Batch, col int, rows []place) error {
	class := t.schema.Column(col).Type.Physical().Class()
	meta := b.CellMeta(col)
	for i, r := range rows {
		src, j := t.batches[r.batch], int(r.row)
		switch class {
		case rowgroup.ClassInt32:
			s := b.Int32s(col)
			*s = append(*s, (*src.Int32s(col))[j])
		case rowgroup.ClassInt64:
			s := b.Int64s(col)
			*s = append(*s, (*src.Int64s(col))[j])
		case rowgroup.ClassFloat32:
			s := b.Float32s(col)
			*s = append(*s, (*src.Float32s(col))[j])
		case rowgroup.ClassFloat64:
			s := b.Float64s(col)
			*s = append(*s, (*src.Float64s(col))[j])
		case rowgroup.ClassBytes:
			if err := b.Bytes(col).Append(src.Bytes(col).At(j)); err != nil {
				return err
			}
		}
		state := src.Cell(col, j)
		if state != rowgroup.CellAsRow || len(meta.Cells) > 0 {
			meta.Cells = append(extend(meta.Cells, i), state)
		}
		if state&rowgroup.CellException != 0 {
			meta.Exceptions = append(meta.Exceptions, rowgroup.Exception{Row: i, Value: exception(src, col, j)})
		}
	}
	return nil
}

// gatherMeta copies the metadata of the rows, where any batch has some.
func (t *sorted) gatherMeta(m *rowgroup.RowMeta, rows []place) {
	for i, r := range rows {
		src := t.batches[r.batch].Meta()
		m.Liveness = pick(m.Liveness, i, src.Liveness, r.row)
		m.WriteTimes = pick(m.WriteTimes, i, src.WriteTimes, r.row)
		m.TTLs = pick(m.TTLs, i, src.TTLs, r.row)
		m.Expiries = pick(m.Expiries, i, src.Expiries, r.row)
	}
}

// pick appends src[j] as the value at i of dst; where src stands for zeros, dst
// does so as long as it can.
func pick[T any](dst []T, i int, src []T, j int32) []T {
	if len(src) == 0 && len(dst) == 0 {
		return dst
	}
	return append(extend(dst, i), at(src, int(j)))
}
