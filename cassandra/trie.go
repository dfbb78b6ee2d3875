package cassandra

import (
	"fmt"
	"io"

	"github.com/colsst/colsst/encoding"
)

// trie is a trie of BTI's Partitions.db or Rows.db. Nodes are written children
// first; a pointer is how far the child lies before its parent. A node begins
// with its type in the high four bits; the low four are flags of its payload,
// which follows the node, and 0 where it has none. It is not safe for
// concurrent use.
//
//	 0      payload alone    type|flags
//	 1      single           type|distance, byte                  (no payload)
//	 2, 4   single           type|flags, byte, distance of 8 or 16 bits
//	 3      single           type|distance of 12 bits, byte       (no payload)
//	 5 - 9  sparse           type|flags, count, bytes, distances of 8, 12, 16, 24, 40 bits
//	10 - 15 dense            type|flags, first byte, count - 1, distances of
//	                         12, 16, 24, 32, 40, 64 bits; 0: no such child
//
// Distances of 12 bits are packed two in three bytes.
type trie struct {
	r    io.ReaderAt
	size int64
	part Component // for errors

	buf  []byte // a window of the file
	from int64  // where it begins
}

// maxNode is the length of the largest node, its payload included.
const maxNode = 3 + 256*8 + 32

// triePage is the unit of reading; at least maxNode.
const triePage = 4096

// node is one node of a trie. Its slices are valid until the next is read.
type node struct {
	position int64
	flags    byte   // of the payload; 0: none
	payload  []byte // the bytes from the payload on
	bytes    []byte // of the transitions; nil: first, first + 1, ...
	first    int
	count    int    // of distances
	width    int    // of a distance, bits
	pointers []byte // distances
	single   int64  // of types 1 and 3: the distance itself
}

var pointerWidths = [16]int{2: 8, 4: 16, 5: 8, 6: 12, 7: 16, 8: 24, 9: 40, 10: 12, 11: 16, 12: 24, 13: 32, 14: 40, 15: 64}

func (t *trie) corruptf(at int64, format string, args ...any) error {
	return &encoding.CorruptError{Part: string(t.part) + ", node", Offset: at, Reason: fmt.Sprintf(format, args...)}
}

// at returns the bytes from a position on: maxNode of them, or up to the end.
func (t *trie) at(position int64) ([]byte, error) {
	if position < 0 || position >= t.size {
		return nil, t.corruptf(position, "outside the file of %d bytes", t.size)
	}
	end := min(position+maxNode, t.size)
	if position < t.from || end > t.from+int64(len(t.buf)) {
		if t.buf == nil {
			t.buf = make([]byte, 2*triePage)
		}
		t.from = position - position%triePage
		t.buf = t.buf[:min(2*triePage, t.size-t.from)]
		if err := readFull(t.r, t.part, t.buf, t.from); err != nil {
			t.buf, t.from = t.buf[:0], 0
			return nil, err
		}
	}
	return t.buf[position-t.from:], nil
}

// node reads the node at a position.
func (t *trie) node(position int64) (n node, err error) {
	b, err := t.at(position)
	if err != nil {
		return n, err
	}
	c := cursor{b: b}
	first := c.u8()
	kind := first >> 4
	n = node{position: position, flags: first & 15, width: pointerWidths[kind]}
	switch {
	case kind == 0:
	case kind == 1:
		n.single, n.flags = int64(n.flags), 0
		n.bytes, n.count = c.take(1), 1
	case kind == 3:
		n.single, n.flags = int64(n.flags)<<8|int64(c.u8()), 0
		n.bytes, n.count = c.take(1), 1
	case kind <= 4:
		n.bytes, n.count = c.take(1), 1
	case kind <= 9:
		n.count = int(c.u8())
		n.bytes = c.take(uint64(n.count))
	default:
		n.first, n.count = int(c.u8()), int(c.u8())+1
		if n.first+n.count > 256 {
			return n, t.corruptf(position, "%d children from byte %d on", n.count, n.first)
		}
	}
	n.pointers = c.take(uint64((n.count*n.width + 7) / 8))
	if c.short {
		return n, t.corruptf(position, "of type %d reaches beyond the end", kind)
	}
	n.payload = b[c.p:]
	return n, nil
}

// child is the byte and the position of child i; position -1: there is none.
func (n *node) child(i int) (byte, int64) {
	b := byte(n.first + i)
	if n.bytes != nil {
		b = n.bytes[i]
	}
	distance := n.single
	switch n.width {
	case 0:
	case 12:
		p := n.pointers[i*12/8:]
		distance = int64(p[0])<<8 | int64(p[1])
		if i%2 == 0 {
			distance >>= 4
		}
		distance &= 0xfff
	default:
		w := n.width / 8
		distance = 0
		for _, x := range n.pointers[i*w : i*w+w] {
			distance = distance<<8 | int64(x)
		}
	}
	if distance <= 0 || distance > n.position {
		return b, -1
	}
	return b, n.position - distance
}

// find is the position of the child under byte b, or -1.
func (n *node) find(b byte) int64 {
	if n.bytes == nil {
		if i := int(b) - n.first; i >= 0 && i < n.count {
			_, at := n.child(i)
			return at
		}
		return -1
	}
	for i, x := range n.bytes {
		if x == b {
			_, at := n.child(i)
			return at
		}
	}
	return -1
}

// trieWalk visits the payloads of a trie in order.
type trieWalk struct {
	t      *trie
	stack  []step
	prefix []byte
	visits int64
}

// step is a node whose child next is yet to be visited.
type step struct {
	position int64
	next     int
}

func (t *trie) walk(root int64) *trieWalk {
	return &trieWalk{t: t, stack: []step{{root, -1}}}
}

// next goes to the next node that has a payload, or fails with io.EOF. The
// bytes on the way to it are w.prefix. A sound trie has each node once, so
// more visits than the file has bytes are damage.
func (w *trieWalk) next() (n node, err error) {
	for len(w.stack) > 0 {
		if w.visits++; w.visits > 2*w.t.size {
			return n, w.t.corruptf(w.stack[0].position, "the trie is no tree")
		}
		top := &w.stack[len(w.stack)-1]
		if n, err = w.t.node(top.position); err != nil {
			return n, err
		}
		top.next++
		if top.next == 0 {
			if n.flags != 0 {
				return n, nil
			}
			top.next = 1
		}
		pushed := false
		for top.next-1 < n.count {
			b, at := n.child(top.next - 1)
			if at < 0 {
				if n.bytes != nil {
					return n, w.t.corruptf(n.position, "pointer of child %d", top.next-1)
				}
				top.next++
				continue
			}
			w.prefix = append(w.prefix, b)
			w.stack = append(w.stack, step{at, -1})
			pushed = true
			break
		}
		if !pushed {
			w.stack = w.stack[:len(w.stack)-1]
			if len(w.stack) > 0 {
				w.prefix = w.prefix[:len(w.prefix)-1]
			}
		}
	}
	return n, io.EOF
}
