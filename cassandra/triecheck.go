package cassandra

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// trieCheck compares Partitions.db and Rows.db.
type trieCheck struct {
	s      *SSTable
	x      *indexes
	walk   *PartitionIndexWalk
	key    []byte
	start  int64
	blocks []IndexBlock
	block  int
}

func (c *trieCheck) wrong(component Component, format string, args ...any) error {
	return &encoding.CorruptError{File: c.s.Path(component), Part: "entry of key " + hexKey(c.key), Offset: -1, Reason: fmt.Sprintf(format, args...)}
}

func (c *trieCheck) partition(p *Partition) error {
	c.key = append(c.key[:0], p.Key...)
	prefix, position, err := c.walk.Next()
	if errors.Is(err, io.EOF) {
		return c.wrong(ComponentPartitions, "the trie has no such key")
	}
	if err != nil {
		return c.s.name(ComponentPartitions, err)
	}
	if comparable, err := c.s.comparableKey(nil, p.Key); err == nil && !bytes.HasPrefix(comparable, prefix) {
		return c.wrong(ComponentPartitions, "the trie has prefix %s instead", hexKey(prefix))
	}
	if p.Position == 0 && !bytes.Equal(c.x.partitions.First, p.Key) {
		return c.wrong(ComponentPartitions, "first key %s", hexKey(c.x.partitions.First))
	}
	c.start, c.blocks, c.block = p.Position, nil, 0
	if position < 0 {
		if ^position != p.Position {
			return c.wrong(ComponentPartitions, "at position %d, not %d", ^position, p.Position)
		}
		return nil
	}
	e, err := c.x.rows.Entry(position)
	if err != nil {
		return c.s.name(ComponentRows, err)
	}
	if !bytes.Equal(e.Key, p.Key) || e.Position != p.Position || e.Deletion != p.Deletion {
		return c.wrong(ComponentRows, "key %s at position %d with deletion %v; the data has %d, %v", hexKey(e.Key), e.Position, e.Deletion, p.Position, p.Deletion)
	}
	if c.blocks, err = c.x.rows.Blocks(e); err != nil {
		return c.s.name(ComponentRows, err)
	}
	if int64(len(c.blocks)) != e.BlockCount+1 {
		return c.wrong(ComponentRows, "%d blocks and an end expected, the trie has %d entries", e.BlockCount, len(c.blocks))
	}
	return nil
}

func (c *trieCheck) unfiltered(at int64, _ Prefix, open rowgroup.Deletion) error {
	if c.block == len(c.blocks) || at-c.start < c.blocks[c.block].Offset {
		return nil
	}
	b := &c.blocks[c.block]
	if at-c.start != b.Offset {
		return c.wrong(ComponentRows, "block %d begins at %d; the data has an unfiltered at %d", c.block, b.Offset, at-c.start)
	}
	if (b.Open == nil) != open.Live() || b.Open != nil && *b.Open != open {
		return c.wrong(ComponentRows, "block %d begins under deletion %v; the data has %v", c.block, b.Open, open)
	}
	c.block++
	return nil
}

func (c *trieCheck) endPartition(at int64) error {
	if c.blocks == nil {
		return nil
	}
	if c.block != len(c.blocks)-1 || c.blocks[c.block].Offset != at-c.start {
		return c.wrong(ComponentRows, "%d blocks; the data has the beginnings of %d and ends at %d", len(c.blocks)-1, c.block, at-c.start)
	}
	return nil
}

func (c *trieCheck) end(partitions int64) error {
	if _, _, err := c.walk.Next(); !errors.Is(err, io.EOF) {
		if err != nil {
			return c.s.name(ComponentPartitions, err)
		}
		return c.wrong(ComponentPartitions, "the trie has keys behind the last of the data")
	}
	p := c.x.partitions
	if p.Keys != partitions || !bytes.Equal(p.Last, c.key) {
		return c.wrong(ComponentPartitions, "%d keys, the last %s; the data has %d", p.Keys, hexKey(p.Last), partitions)
	}
	return nil
}
