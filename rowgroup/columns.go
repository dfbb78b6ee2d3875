package rowgroup

import (
	"math/bits"
	"slices"
)

// columns are the parameter columns of a segment, numSlots of each stream that
// some group has, and of the block at hand, some of its groups. Where a group
// lacks the stream, its parameters do not matter and repeat those of a
// neighbour. Most columns have one value all over the segment.
type columns struct {
	n       int      // groups of the segment
	streams []int32  // groupStream, then those present, ascending
	at      []int32  // by stream: its position k in streams, or 0
	chunks  []int32  // k*n + group: the chunk's number in the segment plus 1, or 0; of steady streams 0
	gaps    []bool   // by k: some groups lack the stream
	whole   []column // k*numSlots + slot
	vary    []int32  // those of whole that have more than one value
	vals    []int64  // memory of their values
	steady  []uint16 // by k: the slots with one value, not 0

	from, to int      // the block's groups
	present  []int32  // the k that it has
	block    []column // k*numSlots + slot
	nonzero  []uint16 // by k: the slots that are not 0 in all groups
	filled   []int64  // memory for columns whose first group lacks the stream
}

// column is one parameter column.
type column struct {
	traits
	v []int64 // nil where all are the first
}

// traits of a parameter column.
type traits struct {
	first, lo, hi int64
	step          int64 // from the first to the second
	steps         bool  // an arithmetic progression
}

func traitsOf(v []int64) traits {
	t := traits{first: v[0], lo: v[0], hi: v[0], steps: true}
	if len(v) > 1 {
		t.step = v[1] - v[0]
	}
	for i, x := range v[1:] {
		t.lo, t.hi = min(t.lo, x), max(t.hi, x)
		if x-v[i] != t.step {
			t.steps = false
		}
	}
	return t
}

func (t *traits) width() uint8 { return uint8(bits.Len64(uint64(t.hi) - uint64(t.lo))) }

// resize is s with n elements, whose values are not defined.
func resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// zeroed is n zeros, in the memory of s if it has room.
func zeroed[T any](s []T, n int) []T {
	s = resize(s, n)
	clear(s)
	return s
}

// collect sets the columns of the segment, when all its groups are encoded.
func (s *segment) collect() {
	c, n := &s.cols, len(s.groups)
	if n == 0 {
		return
	}
	c.n, c.from, c.to = n, 0, 0
	c.at = zeroed(c.at, len(s.l.streams))
	for i := range s.chunks {
		c.at[s.chunks[i].stream] = 1
	}
	for i := range s.steady.streams {
		c.at[s.steady.streams[i].stream] = 1
	}
	c.streams = append(c.streams[:0], groupStream)
	for st, there := range c.at {
		if there != 0 {
			c.at[st] = int32(len(c.streams))
			c.streams = append(c.streams, int32(st))
		}
	}
	c.chunks = zeroed(c.chunks, len(c.streams)*n)
	for g := range s.groups {
		for i := s.groups[g].from; i < s.groups[g].to; i++ {
			c.chunks[int(c.at[s.chunks[i].stream])*n+g] = int32(i + 1)
		}
	}
	c.gaps = zeroed(c.gaps, len(c.streams))
	c.steady = zeroed(c.steady, len(c.streams))
	c.whole = zeroed(c.whole, len(c.streams)*numSlots)
	c.vary = c.vary[:0]
	for i := range s.steady.streams {
		st := &s.steady.streams[i]
		c.set(int(c.at[st.stream]), (*[numSlots]int64)(&st.slots), nil)
	}
	for k := range c.streams {
		if set := c.whole[k*numSlots+slotID].steps; !set {
			s.compare(k)
		}
	}
	c.vals = resize(c.vals, len(c.vary)*n)
	for i, at := range c.vary {
		v := c.vals[i*n:][:n:n]
		s.fill(v, int(at)/numSlots, int(at)%numSlots)
		c.whole[at] = column{traitsOf(v), v}
	}
	c.block = append(c.block[:0], c.whole...)
}

// compare finds which columns of the k-th stream vary, and sets the others.
func (s *segment) compare(k int) {
	c := &s.cols
	var first, differ [numSlots]int64
	if k == 0 {
		first[groupRows], first[groupParts] = int64(s.groups[0].rows), int64(s.groups[0].parts)
		for g := range s.groups {
			differ[groupRows] |= int64(s.groups[g].rows) ^ first[groupRows]
			differ[groupParts] |= int64(s.groups[g].parts) ^ first[groupParts]
		}
	} else {
		known := false
		for _, i := range c.chunks[k*c.n:][:c.n] {
			if i == 0 {
				c.gaps[k] = true
				continue
			}
			slots := &s.chunks[i-1].slots
			if !known {
				first, known = *slots, true
				continue
			}
			if *slots == first {
				continue
			}
			for j := range slots {
				differ[j] |= slots[j] ^ first[j]
			}
		}
		if c.gaps[k] {
			differ[slotCount] = -1
		}
	}
	c.set(k, &first, &differ)
}

// set makes first the columns of the k-th stream but for those that vary: where
// differ, unless that is nil, is not 0.
func (c *columns) set(k int, first, differ *[numSlots]int64) {
	for j, v := range first {
		if differ != nil && differ[j] != 0 {
			c.vary = append(c.vary, int32(k*numSlots+j))
			continue
		}
		c.whole[k*numSlots+j].traits = traits{first: v, lo: v, hi: v, steps: true}
		if v != 0 {
			c.steady[k] |= 1 << j
		}
	}
}

// fill sets v to a column of the k-th stream.
func (s *segment) fill(v []int64, k, slot int) {
	if k == 0 {
		for g := range v {
			v[g] = int64(s.groups[g].rows)
			if slot == groupParts {
				v[g] = int64(s.groups[g].parts)
			}
		}
		return
	}
	of := s.cols.chunks[k*s.cols.n:][:len(v)]
	last := of[slices.IndexFunc(of, func(i int32) bool { return i > 0 })]
	for g, i := range of {
		if i > 0 {
			last = i
		} else if slot == slotCount {
			v[g] = countNone
			continue
		}
		v[g] = s.chunks[last-1].slots[slot]
	}
}

// open makes groups [from, to) the block at hand.
func (c *columns) open(from, to int) {
	if c.from == from && c.to == to {
		return
	}
	c.from, c.to = from, to
	c.present = c.present[:0]
	for k := range c.streams {
		if !c.gaps[k] || c.firstOf(k) >= 0 {
			c.present = append(c.present, int32(k))
		}
	}
	c.nonzero = append(c.nonzero[:0], c.steady...)
	c.filled = c.filled[:0]
	for _, at := range c.vary {
		k, slot := int(at)/numSlots, int(at)%numSlots
		v := c.whole[at].v[from:to]
		if c.gaps[k] && slot != slotCount {
			// What goes before the block's first chunk repeats that.
			if first := c.firstOf(k); first > 0 {
				start := len(c.filled)
				c.filled = append(c.filled, v...)
				v = c.filled[start:]
				for g := range first {
					v[g] = v[first]
				}
			}
		}
		b := &c.block[at]
		b.v, b.traits = v, traitsOf(v)
		if b.lo|b.hi != 0 {
			c.nonzero[k] |= 1 << slot
		}
	}
}

// firstOf is the first group of the block that has the k-th stream, or -1.
func (c *columns) firstOf(k int) int {
	return slices.IndexFunc(c.chunks[k*c.n:][c.from:c.to], func(i int32) bool { return i > 0 })
}

// slots are the columns of the k-th stream in the block.
func (c *columns) slots(k int) *[numSlots]column {
	return (*[numSlots]column)(c.block[k*numSlots:])
}
