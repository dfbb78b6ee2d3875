package cassandra

import (
	"errors"
	"io"
	"math"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// RowIndexEntry is what Rows.db of BTI knows of one partition.
//
//	...      nodes of the partition's trie, which go before; the payload of
//	         one with flags f:
//	           f & 7 bytes, signed: offset of a block from the partition's start
//	           f & 8: the deletion open at the start of the block
//	         the last is the end of the partition
//	sbytes   key
//	vint     position of the partition in the body
//	svint    position of the root - position of the field before
//	vint     blocks
//	         deletion of the partition
type RowIndexEntry struct {
	Key        []byte
	Position   int64
	BlockCount int64
	Deletion   rowgroup.Deletion
	root       int64
}

// RowIndex is Rows.db of BTI. It is safe for concurrent use.
type RowIndex struct {
	r       io.ReaderAt
	size    int64
	version Version
}

// OpenRowIndex reads Rows.db of size bytes, of an SSTable of version v.
func OpenRowIndex(r io.ReaderAt, size int64, v Version) *RowIndex { return &RowIndex{r, size, v} }

// Entry reads the entry at a position that a PartitionIndex has.
func (x *RowIndex) Entry(position int64) (*RowIndexEntry, error) {
	const part = ComponentRows
	if position < 0 || position >= x.size {
		return nil, encoding.Corruptf(string(part), "entry at %d of %d bytes", position, x.size)
	}
	b := make([]byte, min(x.size-position, 2+encoding.MaxKeyBytes+64))
	if err := readFull(x.r, part, b, position); err != nil {
		return nil, err
	}
	c := cursor{b: b}
	e := &RowIndexEntry{Key: c.sbytes()}
	base := position + int64(c.p)
	e.Position = int64(c.vint())
	e.root = c.svint() + base
	blocks := c.vint()
	e.Deletion = c.partitionDeletion(x.version)
	if c.short || e.Position < 0 || e.root < 0 || e.root >= position || blocks > math.MaxInt32 {
		return nil, &encoding.CorruptError{Part: "entry of " + string(part), Offset: position, Reason: "ends too early, or has numbers that cannot be " + c.bad}
	}
	e.BlockCount = int64(blocks)
	return e, nil
}

// Blocks reads the blocks of an entry, without First, Last and Width; Open is
// the deletion at the start of the block. The last block is the end of the
// partition and not counted in BlockCount.
func (x *RowIndex) Blocks(e *RowIndexEntry) ([]IndexBlock, error) {
	t := &trie{r: x.r, size: x.size, part: ComponentRows}
	w := t.walk(e.root)
	var blocks []IndexBlock
	for {
		n, err := w.next()
		if errors.Is(err, io.EOF) {
			return blocks, nil
		}
		if err != nil {
			return nil, err
		}
		c := cursor{b: n.payload}
		b := IndexBlock{Offset: signed(c.take(uint64(n.flags & 7)))}
		if n.flags&8 != 0 {
			d := c.partitionDeletion(x.version)
			b.Open = &d
		}
		if c.short || b.Offset < 0 || len(blocks) > 0 && b.Offset <= blocks[len(blocks)-1].Offset {
			return nil, t.corruptf(n.position, "block at %d of the partition", b.Offset)
		}
		blocks = append(blocks, b)
	}
}
