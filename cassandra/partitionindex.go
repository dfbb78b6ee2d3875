package cassandra

import (
	"errors"
	"fmt"
	"io"

	"github.com/colsst/colsst/encoding"
)

// PartitionIndex is Partitions.db of BTI: a trie from the shortest unique
// prefixes of keys, in the form that compares byte by byte, to positions. It is
// safe for concurrent use.
//
//	...      nodes of the trie; the payload of one with flags f:
//	           f < 8   f bytes, signed: position
//	           f >= 8  u8 hash of the key; f - 7 bytes, signed: position
//	         a position p >= 0 is one in Rows.db, else ^p is one in the body
//	sbytes   first key
//	sbytes   last key
//	i64      position of the first key
//	i64      keys
//	i64      position of the root
type PartitionIndex struct {
	First, Last []byte
	Keys        int64

	r    io.ReaderAt
	size int64
	root int64
}

const partitionsFooter = 3 * 8

// OpenPartitionIndex reads the footer of Partitions.db, of size bytes.
func OpenPartitionIndex(r io.ReaderAt, size int64) (*PartitionIndex, error) {
	const part = ComponentPartitions
	if size < partitionsFooter {
		return nil, encoding.Corruptf(string(part), "%d bytes are no footer", size)
	}
	var footer [partitionsFooter]byte
	if err := readFull(r, part, footer[:], size-partitionsFooter); err != nil {
		return nil, err
	}
	c := cursor{b: footer[:]}
	first := c.i64()
	p := &PartitionIndex{Keys: c.i64(), root: c.i64(), r: r, size: size - partitionsFooter}
	if first < 0 || first > p.size || p.size-first > 2*(2+encoding.MaxKeyBytes) || p.Keys < 0 || p.root < 0 || p.root >= max(first, 1) {
		return nil, encoding.Corruptf(string(part), "footer: keys at %d, %d keys, root at %d, in %d bytes", first, p.Keys, p.root, size)
	}
	keys := make([]byte, p.size-first)
	if err := readFull(r, part, keys, first); err != nil {
		return nil, err
	}
	c = cursor{b: keys}
	if p.First, p.Last = c.sbytes(), c.sbytes(); c.short {
		return nil, encoding.Corruptf(string(part), "first and last key do not fit between %d and the footer", first)
	}
	p.size = first
	return p, nil
}

// readFull fills b from a position of r, which is the file of a component.
func readFull(r io.ReaderAt, c Component, b []byte, position int64) error {
	n, err := r.ReadAt(b, position)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return &encoding.CorruptError{Part: string(c), Offset: position + int64(n), Reason: "the file has become shorter"}
	}
	return fmt.Errorf("%s: %w", c, err)
}

func (p *PartitionIndex) trie() *trie {
	return &trie{r: p.r, size: p.size, part: ComponentPartitions}
}

// position is the payload of a node: a position in Rows.db, or with ^ in the
// body.
func (p *PartitionIndex) position(t *trie, n *node) (int64, error) {
	c := cursor{b: n.payload}
	size := int(n.flags)
	if size >= 8 {
		c.u8() // hash
		size -= 7
	}
	b := c.take(uint64(size))
	if c.short {
		return 0, t.corruptf(n.position, "payload reaches beyond the end")
	}
	return signed(b), nil
}

// signed is a big-endian number in two's complement.
func signed(b []byte) int64 {
	v := int64(0)
	for i, x := range b {
		if i == 0 {
			v = int64(int8(x))
			continue
		}
		v = v<<8 | int64(x)
	}
	return v
}

// Find looks for the prefix of a comparable key. Whether the key itself is
// there is seen at the position found; ok is false if it cannot be.
func (p *PartitionIndex) Find(comparable []byte) (position int64, ok bool, err error) {
	t := p.trie()
	n, err := t.node(p.root)
	for i := 0; err == nil; i++ {
		if i == len(comparable) || n.count == 0 {
			if n.flags == 0 {
				return 0, false, nil
			}
			position, err = p.position(t, &n)
			return position, err == nil, err
		}
		next := n.find(comparable[i])
		if next < 0 {
			return 0, false, nil
		}
		n, err = t.node(next)
	}
	return 0, false, err
}

// PartitionIndexWalk goes over the positions of a PartitionIndex in the order
// of keys.
type PartitionIndexWalk struct {
	index *PartitionIndex
	walk  *trieWalk
}

// Walk starts at the first key.
func (p *PartitionIndex) Walk() *PartitionIndexWalk {
	return &PartitionIndexWalk{p, p.trie().walk(p.root)}
}

// Next is the position of the next key and the prefix by which it is found,
// valid until the next call; io.EOF behind the last.
func (w *PartitionIndexWalk) Next() (prefix []byte, position int64, err error) {
	n, err := w.walk.next()
	if err != nil {
		return nil, 0, err
	}
	position, err = w.index.position(w.walk.t, &n)
	return w.walk.prefix, position, err
}
