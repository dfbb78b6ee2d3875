package cassandra

import (
	"errors"
	"io"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// IndexEntry is what Index.db knows of one partition.
//
//	sbytes  key
//	vint    position in the body
//	vint    bytes that follow; 0: the partition has no blocks
//	  vint     length of the partition's head and static row
//	           deletion of the partition
//	  vint     blocks
//	  block    first clustering, last clustering, vint offset from the start of
//	           the partition, svint width - 65536, u8 open marker follows:
//	           deletion
//	  i32...   offset of each block from the first
type IndexEntry struct {
	Key          []byte
	Position     int64 // of the partition in the body
	HeaderLength int64 // of its head and static row, where there are blocks
	Deletion     rowgroup.Deletion
	Blocks       []IndexBlock
}

// IndexBlock is a run of unfiltereds of one partition.
type IndexBlock struct {
	First, Last Prefix // of the unfiltereds in it; BTI knows none
	Offset      int64  // from the start of the partition
	Width       int64  // BTI knows none
	Open        *rowgroup.Deletion
}

// blockWidth is what the width of a block is stored less.
const blockWidth = 64 << 10

// IndexReader reads Index.db front to back. It is not safe for concurrent use.
type IndexReader struct {
	window
	version Version
	header  *Header
	entry   IndexEntry
	at      int64
	err     error
}

const indexBuffer = 16 << 10

// NewIndexReader reads the entries of Index.db from src, which begins at one.
func NewIndexReader(src io.Reader, v Version, h *Header) *IndexReader {
	return &IndexReader{window: window{src: src, unit: indexBuffer}, version: v, header: h}
}

// Entry is the last entry read. It is valid until the next call of Next.
func (r *IndexReader) Entry() *IndexEntry { return &r.entry }

// Position is where the last entry begins in what is read.
func (r *IndexReader) Position() int64 { return r.at }

// Next reads the next entry, or fails with io.EOF behind the last. After an
// error it stays so.
func (r *IndexReader) Next() error {
	if r.err == nil {
		r.err = r.next()
	}
	return r.err
}

func (r *IndexReader) next() error {
	for {
		r.at = r.position()
		c := cursor{b: r.unread()}
		need := r.decode(&c)
		switch {
		case c.bad != "":
			return r.corrupt(c.bad)
		case !c.short && need == 0:
			r.pos += c.p
			return nil
		}
		if need > encoding.MaxRowBytes {
			return r.corrupt("an entry that is too long")
		}
		have := len(c.b)
		if err := r.more(max(need, have+1)); err != nil {
			if errors.Is(err, io.EOF) && have > 0 {
				return r.corrupt("ends within an entry")
			}
			return err
		}
	}
}

func (r *IndexReader) corrupt(reason string) error {
	return &encoding.CorruptError{Part: "entry of " + string(ComponentIndex), Offset: r.at, Reason: reason}
}

// decode reads an entry if c holds all of it; else c is short, or as many bytes
// are needed.
func (r *IndexReader) decode(c *cursor) (need int) {
	e := &r.entry
	e.Key, e.Position = c.sbytes(), int64(c.vint())
	size := c.vint()
	if c.short {
		return 0
	}
	e.HeaderLength, e.Deletion, e.Blocks = 0, rowgroup.LiveDeletion, e.Blocks[:0]
	if size > uint64(c.left()) {
		return c.p + int(min(size, encoding.MaxRowBytes))
	}
	if e.Position < 0 {
		c.bad = "a negative position"
	}
	if size == 0 {
		return 0
	}
	x := cursor{b: c.take(size)}
	e.HeaderLength = int64(x.vint())
	e.Deletion = x.partitionDeletion(r.version)
	n := x.count(x.vint(), 8)
	from := x.p
	starts := make([]int, n)
	for i := range starts {
		starts[i] = x.p - from
		e.Blocks = append(e.Blocks, x.indexBlock(r.version, r.header))
		if x.short {
			break
		}
	}
	for _, start := range starts {
		if at := x.i32(); !x.short && int64(at) != int64(start) {
			x.fail()
			x.bad = "offsets of blocks that are not theirs"
		}
	}
	switch {
	case x.bad != "":
		c.bad = x.bad
	case x.short || x.left() > 0:
		c.bad = "blocks that do not fill their length"
	}
	return 0
}

func (c *cursor) indexBlock(v Version, h *Header) IndexBlock {
	b := IndexBlock{
		First: c.prefix(h.Clustering), Last: c.prefix(h.Clustering),
		Offset: int64(c.vint()), Width: c.svint() + blockWidth,
	}
	if c.u8() != 0 {
		d := c.partitionDeletion(v)
		b.Open = &d
	}
	return b
}

// Append appends the bytes of the entry.
func (e *IndexEntry) Append(dst []byte, v Version, h *Header) []byte {
	dst = appendVint(appendSbytes(dst, e.Key), uint64(e.Position))
	if len(e.Blocks) == 0 {
		return append(dst, 0)
	}
	body := appendVint(nil, uint64(e.HeaderLength))
	body = appendPartitionDeletion(body, v, e.Deletion)
	body = appendVint(body, uint64(len(e.Blocks)))
	from := len(body)
	var starts []byte
	for i := range e.Blocks {
		b := &e.Blocks[i]
		starts = appendU32(starts, uint32(len(body)-from))
		body = appendPrefix(appendPrefix(body, b.First, h.Clustering), b.Last, h.Clustering)
		body = appendSvint(appendVint(body, uint64(b.Offset)), b.Width-blockWidth)
		body = appendBool(body, b.Open != nil)
		if b.Open != nil {
			body = appendPartitionDeletion(body, v, *b.Open)
		}
	}
	return appendVbytes(dst, append(body, starts...))
}
