package alp

import (
	"math"
	"slices"

	"github.com/colsst/colsst/encoding"
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

// len is the length in bytes of the body of n values of m bits.
func (s *dictionary) len(n, exceptions int, m uint) int {
	return simd.PackedLen(n, codeWidth(s.size)) + simd.PackedLen(n, m-s.width) + simd.PackedLen(s.size, s.width) +
		bitpack.PositionsLen(exceptions, n) + simd.PackedLen(exceptions, s.width)
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

// halves are the parts of a body of Split.
type halves struct {
	codes, rights []byte
	rest          []byte // positions and lefts of exceptions
	right         uint   // bits of a right part
	table         [maxDictionary]uint64
}

// cut cuts the body of n values of m bits.
func (l *layout) cut(body []byte, n int, m uint) (h halves) {
	h.right = m - l.leftWidth
	c := simd.PackedLen(n, codeWidth(l.dictionary))
	r := c + simd.PackedLen(n, h.right)
	t := r + simd.PackedLen(l.dictionary, l.leftWidth)
	h.codes, h.rights, h.rest = body[:c], body[c:r], body[t:]
	simd.Unpack64(h.table[:l.dictionary], body[r:t], l.leftWidth)
	return h
}

// checkCode fails if the greatest code is beyond the dictionary.
func (l *layout) checkCode(top uint64) error {
	if top >= uint64(l.dictionary) {
		return encoding.Corruptf(part, "code %d in a dictionary of %d", top, l.dictionary)
	}
	return nil
}

// someLefts is how many left parts are unpacked at a time: whole bytes at any
// width.
const someLefts = 64

func (d *Decoder) split64(dst []float64, l *layout, body []byte) error {
	h := l.cut(body, len(dst), 64)
	table := h.table
	for i := range table {
		table[i] <<= h.right
	}
	top := simd.Glue64(dst, h.codes, codeWidth(l.dictionary), h.rights, h.right, &table)
	if err := l.checkCode(top); err != nil {
		return err
	}
	at, src, err := d.exceptions(l, len(dst), h.rest)
	low := uint64(1)<<h.right - 1
	var lefts [someLefts]uint64
	for len(at) > 0 {
		k := min(len(at), len(lefts))
		run := simd.PackedLen(k, l.leftWidth)
		simd.Unpack64(lefts[:k], src[:run], l.leftWidth)
		for i, p := range at[:k] {
			dst[p] = math.Float64frombits(math.Float64bits(dst[p])&low | lefts[i]<<h.right)
		}
		at, src = at[k:], src[run:]
	}
	return err
}

func (d *Decoder) split32(dst []float32, l *layout, body []byte) error {
	h := l.cut(body, len(dst), 32)
	var table [maxDictionary]uint32
	for i := range table {
		table[i] = uint32(h.table[i] << h.right)
	}
	top := simd.Glue32(dst, h.codes, codeWidth(l.dictionary), h.rights, h.right, &table)
	if err := l.checkCode(uint64(top)); err != nil {
		return err
	}
	at, src, err := d.exceptions(l, len(dst), h.rest)
	low := uint32(1)<<h.right - 1
	var lefts [someLefts]uint64
	for len(at) > 0 {
		k := min(len(at), len(lefts))
		run := simd.PackedLen(k, l.leftWidth)
		simd.Unpack64(lefts[:k], src[:run], l.leftWidth)
		for i, p := range at[:k] {
			dst[p] = math.Float32frombits(math.Float32bits(dst[p])&low | uint32(lefts[i])<<h.right)
		}
		at, src = at[k:], src[run:]
	}
	return err
}
