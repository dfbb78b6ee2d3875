package textfmt

import (
	"bytes"
	"cmp"
	"context"
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

// SortOption is an option of Sort.
type SortOption func(*sorter)

// WithMemory bounds the bytes of rows that Sort holds at a time; more rows go
// through temporary files. The default is 24 MiB.
func WithMemory(n int64) SortOption { return func(s *sorter) { s.memory = n } }

// WithTempDir names the directory of Sort's temporary files. The default is
// os.TempDir.
func WithTempDir(dir string) SortOption { return func(s *sorter) { s.dir = dir } }

// WithContext ends Sort and its iterator with the error of ctx once that is
// done.
func WithContext(ctx context.Context) SortOption { return func(s *sorter) { s.ctx = ctx } }

const defaultSortMemory = 24 << 20

// Sort reads all rows of the batches, which are of schema s, and yields them in
// the order of the table: partitions by their key bytes, rows by clustering;
// equal rows stay in the order in which they came. Rows may have metadata, null
// cells and exceptions, but no deletions, markers, cell metadata or static
// rows, and s must be in the order "bytes", as text input is.
//
// What exceeds the memory allowed is sorted in runs, which are kept in
// temporary files and merged. The files have no name where the system allows
// that, and are gone when Sort fails or its iterator is closed.
func Sort(s *rowgroup.Schema, in Batches, opts ...SortOption) (rowgroup.Iter, error) {
	if s.Order() != "bytes" || len(s.Columns(rowgroup.Static)) > 0 {
		return nil, fmt.Errorf("cannot sort a table in the order %q or with static columns", s.Order())
	}
	if err := s.Seekable(); err != nil {
		return nil, fmt.Errorf("cannot sort: %w", err)
	}
	t := &sorter{memory: defaultSortMemory, ctx: context.Background(), rows: newSortedRows(s)}
	for _, o := range opts {
		o(t)
	}
	t.rows.memory = t.memory
	it, err := t.sort(in)
	if err != nil {
		t.runs.close()
		return nil, err
	}
	return it, nil
}

// sorter makes runs of rows.
type sorter struct {
	memory int64
	dir    string
	ctx    context.Context
	rows   *sortedRows
	runs   runs
}

func (t *sorter) sort(in Batches) (rowgroup.Iter, error) {
	for {
		if err := t.ctx.Err(); err != nil {
			return nil, err
		}
		b := t.rows.batch()
		more, err := in.Next(b)
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		t.rows.add(b)
		if t.rows.size >= t.memory || len(t.rows.rows) > math.MaxInt32/2 {
			if err := t.spill(); err != nil {
				return nil, err
			}
		}
	}
	if len(t.runs) == 0 {
		t.rows.sort()
		return &memoryIter{rows: t.rows, out: newGatherer(t.rows.schema), ctx: t.ctx}, nil
	}
	if len(t.rows.rows) > 0 {
		if err := t.spill(); err != nil {
			return nil, err
		}
	}
	schema := t.rows.schema
	t.rows = nil // the memory is for the merge
	for len(t.runs) > maxMerge {
		if err := t.merge(schema); err != nil {
			return nil, err
		}
	}
	return newMerge(t.ctx, schema, t.runs)
}

// spill sorts the rows in memory and writes them as a run.
func (t *sorter) spill() error {
	t.rows.sort()
	w, err := newRun(t.dir)
	if err != nil {
		return err
	}
	t.runs = append(t.runs, w)
	it := &memoryIter{rows: t.rows, out: newGatherer(t.rows.schema), ctx: t.ctx, most: w.blockRows(t.rows)}
	if err := w.writeAll(t.rows.schema, it); err != nil {
		return err
	}
	t.rows.reset()
	return nil
}

// merge makes one run of the first maxMerge, which keeps the order of equal
// rows if it becomes the first.
func (t *sorter) merge(s *rowgroup.Schema) error {
	it, err := newMerge(t.ctx, s, t.runs[:maxMerge])
	if err != nil {
		return err
	}
	w, err := newRun(t.dir)
	if err != nil {
		return err
	}
	t.runs = append(t.runs, w) // to be closed with the others on errors
	it.most = t.runs[0].rows
	if err := w.writeAll(s, it); err != nil {
		return err
	}
	t.runs[:maxMerge].close()
	t.runs = slices.Insert(t.runs[maxMerge:len(t.runs)-1], 0, w)
	return nil
}

// place is a row of sortedRows.batches.
type place struct {
	prefix     uint64 // in the order of the first clustering column
	key        int32  // rank of its partition
	batch, row int32
}

// What rows and partitions take beside their values and keys.
const (
	placeBytes     = 24
	partitionBytes = 48
)

// sortedRows are rows in memory.
type sortedRows struct {
	schema  *rowgroup.Schema
	memory  int64             // about as many bytes will be held
	batches []*rowgroup.Batch // those behind used are to be used again
	used    int
	ranks   map[string]int32
	keys    [][]byte // by rank
	rows    []place
	size    int64 // bytes of all of this

	first     int  // the column of prefix, or -1
	desc      bool // its order
	clustered bool
}

func newSortedRows(s *rowgroup.Schema) *sortedRows {
	t := &sortedRows{schema: s, ranks: map[string]int32{}, first: -1}
	from, to := s.Range(rowgroup.Clustering)
	t.clustered = from < to
	if !t.clustered {
		return t
	}
	c := s.Column(from)
	t.desc = c.Desc
	typ := c.Type
	for (typ.Kind == rowgroup.KindReversed || typ.Kind == rowgroup.KindFrozen) && len(typ.Args) == 1 {
		t.desc = t.desc != (typ.Kind == rowgroup.KindReversed)
		typ = typ.Args[0]
	}
	switch typ.Kind {
	case rowgroup.KindTimestamp, rowgroup.KindBigint, rowgroup.KindInt, rowgroup.KindDate, rowgroup.KindSmallint, rowgroup.KindTinyint:
		t.first = from
	}
	return t
}

// batch is an empty batch for the next rows.
func (t *sortedRows) batch() *rowgroup.Batch {
	if t.used == len(t.batches) {
		b := rowgroup.NewBatch(t.schema)
		if t.used > 0 {
			reserve(b, t.batches[t.used-1])
		}
		t.batches = append(t.batches, b)
	}
	return t.batches[t.used]
}

// reserve gives b memory for as many values as like has, so that none is left
// behind while its slices grow.
func reserve(b, like *rowgroup.Batch) {
	s := b.Schema()
	from, _ := s.Range(rowgroup.Clustering)
	for col := from; col < s.NumColumns(); col++ {
		switch s.Column(col).Type.Physical().Class() {
		case rowgroup.ClassInt32:
			*b.Int32s(col) = make([]int32, 0, len(*like.Int32s(col)))
		case rowgroup.ClassInt64:
			*b.Int64s(col) = make([]int64, 0, len(*like.Int64s(col)))
		case rowgroup.ClassFloat32:
			*b.Float32s(col) = make([]float32, 0, len(*like.Float32s(col)))
		case rowgroup.ClassFloat64:
			*b.Float64s(col) = make([]float64, 0, len(*like.Float64s(col)))
		case rowgroup.ClassBytes:
			v := like.Bytes(col)
			b.Bytes(col).Data = make([]byte, 0, len(v.Data)+len(v.Data)/8)
			b.Bytes(col).Ends = make([]uint32, 0, len(v.Ends))
		}
		b.CellMeta(col).Cells = make([]rowgroup.Cell, 0, len(like.CellMeta(col).Cells))
	}
}

// reset forgets the rows and keeps the memory.
func (t *sortedRows) reset() {
	t.used, t.keys, t.rows, t.size = 0, t.keys[:0], t.rows[:0], 0
	clear(t.ranks)
}

// add keeps b, which batch returned. Ranks number the keys in the order in
// which they come; sort numbers them anew.
func (t *sortedRows) add(b *rowgroup.Batch) {
	at := int32(t.used)
	t.used++
	if t.used == 1 && cap(t.rows) == 0 { // as many rows as the memory will hold, if they are like these
		perRow := placeBytes + (batchSize(b)+int64(b.NumPartitions())*partitionBytes)/int64(max(b.Len(), 1))
		t.rows = make([]place, 0, min(t.memory/perRow, 1<<26)+2*batchRows)
	}
	if t.first >= 0 && len(b.CellMeta(t.first).Cells) > 0 {
		t.first = -1 // nulls: compare in full
		for i := range t.rows {
			t.rows[i].prefix = 0
		}
	}
	for p := range b.NumPartitions() {
		key := b.Key(p)
		rank, known := t.ranks[string(key)]
		if !known {
			rank = int32(len(t.keys))
			t.ranks[string(key)] = rank
			t.keys = append(t.keys, key)
			t.size += int64(len(key)) + 64
		}
		t.size += int64(len(key)) + partitionBytes
		from, to := b.PartitionRows(p)
		for i := from; i < to; i++ {
			t.rows = append(t.rows, place{t.prefix(b, i), rank, at, int32(i)})
		}
	}
	t.size += int64(b.Len())*placeBytes + batchSize(b)
}

// prefix orders rows by the first clustering column; it is 0 where only a full
// comparison can.
func (t *sortedRows) prefix(b *rowgroup.Batch, i int) uint64 {
	if t.first < 0 {
		return 0
	}
	var v int64
	if t.schema.Column(t.first).Type.Physical().Class() == rowgroup.ClassInt64 {
		v = (*b.Int64s(t.first))[i]
	} else {
		v = int64((*b.Int32s(t.first))[i])
	}
	p := uint64(v) ^ 1<<63
	if t.desc {
		p = ^p
	}
	return p
}

// batchSize is how many bytes the values of b take.
func batchSize(b *rowgroup.Batch) (n int64) {
	s := b.Schema()
	from, _ := s.Range(rowgroup.Clustering)
	for col := from; col < s.NumColumns(); col++ {
		switch s.Column(col).Type.Physical().Class() {
		case rowgroup.ClassInt32:
			n += 4 * int64(cap(*b.Int32s(col)))
		case rowgroup.ClassInt64:
			n += 8 * int64(cap(*b.Int64s(col)))
		case rowgroup.ClassFloat32:
			n += 4 * int64(cap(*b.Float32s(col)))
		case rowgroup.ClassFloat64:
			n += 8 * int64(cap(*b.Float64s(col)))
		case rowgroup.ClassBytes:
			v := b.Bytes(col)
			n += int64(cap(v.Data)) + 4*int64(cap(v.Ends))
		}
		m := b.CellMeta(col)
		n += int64(cap(m.Cells))
		for i := range m.Exceptions {
			n += int64(len(m.Exceptions[i].Value)) + 32
		}
	}
	m := b.Meta()
	return n + int64(cap(m.Liveness)) + 8*int64(cap(m.WriteTimes)) + 4*int64(cap(m.TTLs)) + 8*int64(cap(m.Expiries))
}

func (t *sortedRows) sort() {
	order := make([]int32, len(t.keys))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return bytes.Compare(t.keys[a], t.keys[b]) })
	rank := make([]int32, len(order))
	keys := make([][]byte, len(order))
	for i, k := range order {
		rank[k], keys[i] = int32(i), t.keys[k]
	}
	t.keys = keys
	for i := range t.rows {
		t.rows[i].key = rank[t.rows[i].key]
	}
	from, to := t.schema.Range(rowgroup.Clustering)
	full := t.clustered && (t.first < 0 || to-from > 1)
	slices.SortFunc(t.rows, func(a, b place) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		if full {
			if c := t.schema.CompareUnfiltered(t.batches[a.batch], int(a.row), t.batches[b.batch], int(b.row)); c != 0 {
				return c
			}
		}
		if a.batch != b.batch {
			return cmp.Compare(a.batch, b.batch)
		}
		return cmp.Compare(a.row, b.row)
	})
}

// memoryIter yields sorted rows.
type memoryIter struct {
	rows *sortedRows
	out  *gatherer
	ctx  context.Context
	next int
	most int // rows of a batch, 0: batchRows
}

// Next fills b with copies of the next rows.
func (m *memoryIter) Next(b *rowgroup.Batch) (bool, error) {
	if err := m.ctx.Err(); err != nil {
		return false, err
	}
	if m.rows == nil {
		return false, nil
	}
	m.out.begin()
	most := batchRows
	if m.most > 0 {
		most = m.most
	}
	rows := m.rows.rows[m.next:]
	rows = rows[:min(len(rows), most)]
	for _, r := range rows {
		m.out.pick(m.rows.keys[r.key], m.rows.batches[r.batch], int(r.row))
	}
	m.next += len(rows)
	return m.out.gather(b)
}

// Close frees the rows.
func (m *memoryIter) Close() error {
	m.rows, m.out = nil, nil
	return nil
}
