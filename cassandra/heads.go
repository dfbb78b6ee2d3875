package cassandra

import (
	"bytes"
	"errors"
	"io"

	"github.com/colsst/colsst/encoding"
)

// heads are the beginnings of partitions as the index has them, in the order of
// the body.
type heads struct {
	read func() (head, error)
	head head  // the one that is next
	err  error // in place of it; io.EOF behind the last
}

// head is the beginning of one partition.
type head struct {
	position int64
	key      []byte // nil: the index has the prefix of its comparable form alone
	prefix   []byte
}

// openHeads goes over the index of s from its first entry on.
func (s *SSTable) openHeads() *heads {
	h := &heads{head: head{position: -1}}
	x, err := s.useIndexes()
	switch {
	case err != nil:
		h.err = err
		return h
	case s.Version.bti():
		walk := x.partitions.Walk()
		h.read = func() (head, error) {
			prefix, position, err := walk.Next()
			if err != nil {
				return head{}, s.name(ComponentPartitions, err)
			}
			if position < 0 {
				return head{position: ^position, prefix: bytes.Clone(prefix)}, nil
			}
			e, err := x.rows.Entry(position)
			if err != nil {
				return head{}, s.name(ComponentRows, err)
			}
			return head{position: e.Position, key: e.Key}, nil
		}
	default:
		r := NewIndexReader(io.NewSectionReader(x.index, 0, x.indexSize), s.Version, s.Header)
		h.read = func() (head, error) {
			if err := r.Next(); err != nil {
				return head{}, s.name(ComponentIndex, err)
			}
			return head{position: r.Entry().Position, key: bytes.Clone(r.Entry().Key)}, nil
		}
	}
	h.advance()
	return h
}

// advance goes on to the next entry.
func (h *heads) advance() {
	last := h.head.position
	if h.head, h.err = h.read(); h.err == nil && h.head.position <= last {
		h.err = encoding.Corruptf("index", "a partition at %d of the body, behind one at %d", h.head.position, last)
	}
}

// seek goes on to the first partition that begins at position or behind.
func (h *heads) seek(position int64) {
	for h.err == nil && h.head.position < position {
		h.advance()
	}
}

// next is where the first partition begins that does so at position or behind;
// end if there is none. ok is false where the index cannot be read.
func (h *heads) next(position, end int64) (next int64, ok bool) {
	h.seek(position)
	switch {
	case h.err == nil:
		return h.head.position, true
	case errors.Is(h.err, io.EOF):
		return end, true
	}
	return 0, false
}

// is reports whether the partition that is next may have the key.
func (s *SSTable) is(h *head, key []byte) bool {
	if h.key != nil {
		return bytes.Equal(h.key, key)
	}
	comparable, err := s.comparableKey(nil, key)
	return err == nil && bytes.HasPrefix(comparable, h.prefix)
}
