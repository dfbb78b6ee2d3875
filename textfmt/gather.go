package textfmt

import (
	"bytes"

	"github.com/colsst/colsst/rowgroup"
)

// gatherer makes batches of rows of others, picked one by one in the order of
// the table.
type gatherer struct {
	schema *rowgroup.Schema
	picks  []pick
	last   []byte // key of the last row of the batch before
	begun  bool   // there was one
}

// pick is one row.
type pick struct {
	key   []byte
	batch *rowgroup.Batch
	row   int
}

func newGatherer(s *rowgroup.Schema) *gatherer { return &gatherer{schema: s} }

// begin forgets the picks.
func (g *gatherer) begin() { g.picks = g.picks[:0] }

// pick takes a row, of a partition with this key. Both stay valid until gather.
func (g *gatherer) pick(key []byte, b *rowgroup.Batch, row int) {
	g.picks = append(g.picks, pick{key, b, row})
}

// gather fills b with copies of the rows and reports whether there are any.
func (g *gatherer) gather(b *rowgroup.Batch) (bool, error) {
	b.Reset()
	if len(g.picks) == 0 {
		return false, nil
	}
	if len(g.schema.Columns(rowgroup.PartitionKey)) == 0 {
		b.Partition(0).Continued = g.begun
	} else {
		g.partitions(b)
	}
	from, _ := g.schema.Range(rowgroup.Clustering)
	for col := from; col < g.schema.NumColumns(); col++ {
		if err := g.column(b, col); err != nil {
			return false, err
		}
	}
	m := b.Meta()
	for i, r := range g.picks {
		src := r.batch.Meta()
		m.Liveness = pickAt(m.Liveness, i, src.Liveness, r.row)
		m.WriteTimes = pickAt(m.WriteTimes, i, src.WriteTimes, r.row)
		m.TTLs = pickAt(m.TTLs, i, src.TTLs, r.row)
		m.Expiries = pickAt(m.Expiries, i, src.Expiries, r.row)
	}
	b.SetLen(len(g.picks))
	g.begun = true
	return true, nil
}

// partitions begins the partitions of the rows.
func (g *gatherer) partitions(b *rowgroup.Batch) {
	before, there := g.last, g.begun
	for i, r := range g.picks {
		if same := there && sameKey(before, r.key); !same || i == 0 {
			h := b.BeginPartition(r.key)
			h.Start, h.Continued = i, same
		}
		before, there = r.key, true
	}
	g.last = append(g.last[:0], before...)
}

func sameKey(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || bytes.Equal(a, b))
}

// column copies the cells of one column.
func (g *gatherer) column(b *rowgroup.Batch, col int) error {
	switch g.schema.Column(col).Type.Physical().Class() {
	case rowgroup.ClassInt32:
		gatherValues(b.Int32s(col), g.picks, func(b *rowgroup.Batch) []int32 { return *b.Int32s(col) })
	case rowgroup.ClassInt64:
		gatherValues(b.Int64s(col), g.picks, func(b *rowgroup.Batch) []int64 { return *b.Int64s(col) })
	case rowgroup.ClassFloat32:
		gatherValues(b.Float32s(col), g.picks, func(b *rowgroup.Batch) []float32 { return *b.Float32s(col) })
	case rowgroup.ClassFloat64:
		gatherValues(b.Float64s(col), g.picks, func(b *rowgroup.Batch) []float64 { return *b.Float64s(col) })
	case rowgroup.ClassBytes:
		dst := b.Bytes(col)
		for _, r := range g.picks {
			if err := dst.Append(r.batch.Bytes(col).At(r.row)); err != nil {
				return err
			}
		}
	}
	meta := b.CellMeta(col)
	for i, r := range g.picks {
		state := r.batch.Cell(col, r.row)
		if state != rowgroup.CellAsRow || len(meta.Cells) > 0 {
			meta.Cells = append(extend(meta.Cells, i), state)
		}
		if state&rowgroup.CellException != 0 {
			meta.Exceptions = append(meta.Exceptions, rowgroup.Exception{Row: i, Value: bytes.Clone(exception(r.batch, col, r.row))})
		}
	}
	return nil
}

// gatherValues appends the picked values of a column.
func gatherValues[T any](dst *[]T, picks []pick, column func(*rowgroup.Batch) []T) {
	var batch *rowgroup.Batch
	var src []T
	for _, r := range picks {
		if r.batch != batch {
			batch, src = r.batch, column(r.batch)
		}
		*dst = append(*dst, src[r.row])
	}
}

// pickAt appends src[j] as the value at i of dst; where src stands for zeros,
// dst does so as long as it can.
func pickAt[T any](dst []T, i int, src []T, j int) []T {
	if len(src) == 0 && len(dst) == 0 {
		return dst
	}
	return append(extend(dst, i), at(src, j))
}
