package cassandra

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// bigCheck compares Index.db, and Summary.db with Index.db.
type bigCheck struct {
	s       *SSTable
	x       *indexes
	r       *IndexReader
	summary int // next entry of the summary
	start   int64
	block   int // next block of the partition
	last    Prefix
	lastKey []byte
}

func (c *bigCheck) wrong(component Component, format string, args ...any) error {
	return &encoding.CorruptError{
		File: c.s.Path(component), Part: "entry of key " + hexKey(c.r.entry.Key), Offset: c.r.Position(),
		Reason: fmt.Sprintf(format, args...),
	}
}

func (c *bigCheck) partition(p *Partition) error {
	err := c.r.Next()
	if errors.Is(err, io.EOF) {
		return &encoding.CorruptError{File: c.s.Path(ComponentIndex), Part: "file", Offset: c.x.indexSize, Reason: "ends before key " + hexKey(p.Key)}
	}
	if err != nil {
		return c.s.name(ComponentIndex, err)
	}
	e := c.r.Entry()
	if !bytes.Equal(e.Key, p.Key) || e.Position != p.Position {
		return c.wrong(ComponentIndex, "at position %d; the data has key %s at %d", e.Position, hexKey(p.Key), p.Position)
	}
	if len(e.Blocks) > 0 && e.Deletion != p.Deletion {
		return c.wrong(ComponentIndex, "partition deletion %v; the data has %v", e.Deletion, p.Deletion)
	}
	c.start, c.block = p.Position, 0
	if s := c.x.summary; s != nil {
		if c.summary < len(s.Entries) && s.Entries[c.summary].Position <= c.r.Position() {
			if x := s.Entries[c.summary]; x.Position != c.r.Position() || !bytes.Equal(x.Key, p.Key) {
				return c.wrong(ComponentSummary, "entry %d is of key %s at %d", c.summary, hexKey(x.Key), x.Position)
			}
			c.summary++
		}
		if c.lastKey == nil && !bytes.Equal(s.First, p.Key) {
			return c.wrong(ComponentSummary, "first key %s", hexKey(s.First))
		}
	}
	c.lastKey = append(c.lastKey[:0], p.Key...)
	return nil
}

func (c *bigCheck) unfiltered(at int64, p Prefix, open rowgroup.Deletion) error {
	blocks := c.r.Entry().Blocks
	if blocks == nil {
		return nil
	}
	defer p.keep(&c.last)
	if c.block == len(blocks) || at-c.start < blocks[c.block].Offset {
		return nil
	}
	if at-c.start != blocks[c.block].Offset {
		return c.wrong(ComponentIndex, "block %d begins at %d; the data has an unfiltered at %d", c.block, blocks[c.block].Offset, at-c.start)
	}
	if c.block == 0 && at-c.start != c.r.Entry().HeaderLength {
		return c.wrong(ComponentIndex, "the partition's head has %d bytes, not %d", at-c.start, c.r.Entry().HeaderLength)
	}
	if order, known := comparePrefixes(c.s.Header.Clustering, blocks[c.block].First, p); known && order != 0 {
		return c.wrong(ComponentIndex, "block %d begins with another clustering than the data", c.block)
	}
	if err := c.endBlock(at, at, open); err != nil {
		return err
	}
	c.block++
	return nil
}

// endBlock checks that the block before the next one ends at a position, or
// another.
func (c *bigCheck) endBlock(at, or int64, open rowgroup.Deletion) error {
	k := c.block - 1
	if k < 0 {
		return nil
	}
	b := &c.r.Entry().Blocks[k]
	if end := c.start + b.Offset + b.Width; end != at && end != or {
		return c.wrong(ComponentIndex, "block %d ends at %d; the data has an end at %d", k, b.Offset+b.Width, at-c.start)
	}
	if order, known := comparePrefixes(c.s.Header.Clustering, b.Last, c.last); known && order != 0 {
		return c.wrong(ComponentIndex, "block %d ends with another clustering than the data", k)
	}
	if (b.Open == nil) != open.Live() || b.Open != nil && *b.Open != open {
		return c.wrong(ComponentIndex, "block %d ends under deletion %v; the data has %v", k, b.Open, open)
	}
	return nil
}

func (c *bigCheck) endPartition(at int64) error {
	n := len(c.r.Entry().Blocks)
	if c.block < n {
		return c.wrong(ComponentIndex, "%d blocks; the data has the beginnings of %d", n, c.block)
	}
	// The last block has the end of the partition too, unless its size was
	// reached with the last row.
	return c.endBlock(at+1, at, rowgroup.LiveDeletion)
}

func (c *bigCheck) end(int64) error {
	if err := c.r.Next(); !errors.Is(err, io.EOF) {
		if err != nil {
			return c.s.name(ComponentIndex, err)
		}
		return c.wrong(ComponentIndex, "not in the data")
	}
	if s := c.x.summary; s != nil && (c.summary < len(s.Entries) || !bytes.Equal(s.Last, c.lastKey)) {
		return c.wrong(ComponentSummary, "%d entries, last key %s; the data has %d of them and ends with %s",
			len(s.Entries), hexKey(s.Last), c.summary, hexKey(c.lastKey))
	}
	return nil
}
