package alp

import (
	"slices"

	"github.com/colsst/colsst/encoding/bitpack"
	"github.com/colsst/colsst/simd"
)

// dictionary is a cut of the values in a left part of width bits, one of a few
// for most values, and the rest.
type dictionary struct {
	width uint
	lefts [maxDictionary]uint16
	size  int // entries of lefts
}

// cut remembers the dictionary found last; one that a new search would not
// change is used again for some chunks.
type cut struct {
	last   dictionary
	search backoff
}

const splitSample = 128

// split is the dictionary for e.patterns.
func (e *Encoder) split(m uint) dictionary {
	c := &e.cut
	if c.last.size > 0 && !c.search.ready() {
		return c.last
	}
	s := e.findSplit(m)
	if s.width == c.last.width && s.size == c.last.size {
		c.search.failed()
	} else {
		c.search.found()
	}
	c.last = s
	return s
}

// findSplit looks for the best dictionary on a sample.
func (e *Encoder) findSplit(m uint) dictionary {
	n := len(e.patterns)
	step := (n + splitSample - 1) / splitSample
	var room [splitSample]uint16
	keys := room[:0]
	for i := 0; i < n; i += step {
		keys = append(keys, uint16(e.patterns[i]>>(m-maxLeftWidth)))
	}
	slices.Sort(keys)
	b := bitpack.PositionWidth(n)
	var best dictionary
	least := -1
	for w := uint(1); w <= maxLeftWidth; w++ {
		// The most frequent lefts, in order; equal ones by value.
		var dict [maxDictionary]uint16
		var counts [maxDictionary]int
		size := 0
		for i := 0; i < len(keys); {
			left := keys[i] >> (maxLeftWidth - w)
			from := i
			for i < len(keys) && keys[i]>>(maxLeftWidth-w) == left {
				i++
			}
			count := i - from
			j := size
			for j > 0 && counts[j-1] < count {
				j--
			}
			if j == maxDictionary {
				continue
			}
			size = min(size+1, maxDictionary)
			copy(dict[j+1:], dict[j:])
			copy(counts[j+1:], counts[j:])
			dict[j], counts[j] = left, count
		}
		covered := 0
		for d := range size {
			covered += counts[d]
			if next := d + 1; next < size && next&(next-1) != 0 {
				continue // sizes between powers of two cost the same
			}
			k := codeWidth(d + 1)
			c := len(keys)*int(k+m-w) + (len(keys)-covered)*int(w+b)
			if least < 0 || c < least {
				best, least = dictionary{w, dict, d + 1}, c
			}
		}
	}
	return best
}

// code is the place of left in the dictionary.
func (s *dictionary) code(left uint16) (int, bool) {
	for i, d := range s.lefts[:s.size] {
		if d == left {
			return i, true
		}
	}
	return 0, false
}

// exceptions counts the values whose left part is not in the dictionary.
func (s *dictionary) exceptions(raw []uint64, m uint) int {
	x := 0
	for _, v := range raw {
		if _, ok := s.code(uint16(v >> (m - s.width))); !ok {
			x++
		}
	}
	return x
}

// appendSplit appends the body of e.patterns cut by s.
func (e *Encoder) appendSplit(dst []byte, s *dictionary, m uint) []byte {
	right := m - s.width
	u := e.codes
	positions := e.exceptions[:0]
	for i, v := range e.patterns {
		c, ok := s.code(uint16(v >> right))
		if !ok {
			positions = append(positions, uint64(i))
		}
		u[i] = uint64(c)
	}
	dst = simd.AppendPack64(dst, u, codeWidth(s.size))
	dst = simd.AppendPack64(dst, e.patterns, right)
	var lefts [maxDictionary]uint64
	for i, left := range s.lefts[:s.size] {
		lefts[i] = uint64(left)
	}
	dst = simd.AppendPack64(dst, lefts[:s.size], s.width)
	dst = bitpack.AppendPositions(dst, positions, len(e.patterns))
	for i, p := range positions {
		u[i] = e.patterns[p] >> right
	}
	e.exceptions = positions
	return simd.AppendPack64(dst, u[:len(positions)], s.width)
}
