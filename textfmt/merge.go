package textfmt

import (
	"bytes"
	"context"

	"github.com/colsst/colsst/rowgroup"
)

// maxMerge is how many runs are merged at a time.
const maxMerge = 64

// merge yields the rows of runs in the order of the table, those of earlier
// runs first where they are equal.
type merge struct {
	ctx     context.Context
	schema  *rowgroup.Schema
	runs    runs
	cursors []*cursor // a heap: the least row is first
	out     *gatherer
	most    int // rows of a batch, 0: batchRows
	buf     []byte
}

// cursor is a place in a run.
type cursor struct {
	run   *run
	order int // of the run among the others
	at    int64
	batch *rowgroup.Batch // the block
	row   int             // in the block
	part  int             // of row
	key   []byte          // of part
}

func newMerge(ctx context.Context, s *rowgroup.Schema, rs runs) (*merge, error) {
	m := &merge{ctx: ctx, schema: s, runs: rs, out: newGatherer(s)}
	for i, r := range rs {
		c := &cursor{run: r, order: i, batch: rowgroup.NewBatch(s)}
		more, err := m.load(c)
		if err != nil {
			return nil, err
		}
		if more {
			m.cursors = append(m.cursors, c)
		}
	}
	for i := len(m.cursors)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	return m, nil
}

// load reads the next block of c's run.
func (m *merge) load(c *cursor) (more bool, err error) {
	c.row, c.part, c.key = 0, 0, nil
	for c.at < c.run.size {
		if m.buf, err = c.run.read(&c.at, c.batch, m.buf); err != nil {
			return false, err
		}
		if c.batch.Len() > 0 {
			c.seek()
			return true, nil
		}
	}
	return false, nil
}

// seek finds the partition of row.
func (c *cursor) seek() {
	for c.part+1 < c.batch.NumPartitions() && c.batch.Partition(c.part+1).Start <= c.row {
		c.part++
	}
	c.key = c.batch.Key(c.part)
}

// less orders the rows at two cursors.
func (m *merge) less(a, b *cursor) bool {
	c := bytes.Compare(a.key, b.key)
	if c == 0 {
		c = m.schema.CompareUnfiltered(a.batch, a.row, b.batch, b.row)
	}
	return c < 0 || c == 0 && a.order < b.order
}

// down lets the cursor at i sink to its place in the heap.
func (m *merge) down(i int) {
	h := m.cursors
	for {
		least := 2*i + 1
		if least >= len(h) {
			return
		}
		if right := least + 1; right < len(h) && m.less(h[right], h[least]) {
			least = right
		}
		if !m.less(h[least], h[i]) {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// Next fills b with the next rows, up to the end of the block that ends first.
func (m *merge) Next(b *rowgroup.Batch) (bool, error) {
	if err := m.ctx.Err(); err != nil {
		return false, err
	}
	most := batchRows
	if m.most > 0 {
		most = m.most
	}
	m.out.begin()
	var ended *cursor
	for n := 0; n < most && len(m.cursors) > 0 && ended == nil; n++ {
		c := m.cursors[0]
		m.out.pick(c.key, c.batch, c.row)
		if c.row++; c.row == c.batch.Len() {
			ended = c
		} else {
			c.seek()
			m.down(0)
		}
	}
	more, err := m.out.gather(b)
	if err != nil || ended == nil {
		return more, err
	}
	// Only now is the block that ended no longer needed.
	if left, err := m.load(ended); err != nil {
		return false, err
	} else if !left {
		last := len(m.cursors) - 1
		m.cursors[0] = m.cursors[last]
		m.cursors = m.cursors[:last]
	}
	m.down(0)
	return more, nil
}

// Close removes the runs.
func (m *merge) Close() error {
	m.runs.close()
	m.runs, m.cursors = nil, nil
	return nil
}
