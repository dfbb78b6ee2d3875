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
// change is used again for some chunks, and where Split is not the smallest it is
// not tried for some.
type cut struct {
	last   dictionary
	search backoff
	hope   backoff
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

// findSplit looks for the best dictionary on a sample: of those that cost the
// same the shortest lefts, then the fewest entries.
func (e *Encoder) findSplit(m uint) dictionary {
	n := len(e.patterns)
	step := (n + splitSample - 1) / splitSample
	var rooms struct {
		keys   [splitSample]uint16
		counts [splitSample]int
	}
	keys := rooms.keys[:0]
	for i := 0; i < n; i += step {
		keys = append(keys, uint16(e.patterns[i]>>(m-maxLeftWidth)))
	}
	slices.Sort(keys)
	samples := len(keys)
	lefts, counts := keys[:0], rooms.counts[:0] // each left once, and how often it is there
	for i := 0; i < samples; {
		from := i
		for i++; i < samples && keys[i] == keys[from]; i++ {
		}
		lefts, counts = append(lefts, keys[from]), append(counts, i-from)
	}
	b := bitpack.PositionWidth(n)
	var best dictionary
	least := math.MaxInt
	for w := uint(maxLeftWidth); w > 0; w-- {
		dict, covers, all := frequent(lefts, counts)
		size, cost, covered := 0, math.MaxInt, 0
		for d, count := range covers[:all] {
			covered += count
			if next := d + 1; next < all && next&(next-1) != 0 {
				continue // sizes between powers of two cost the same
			}
			if c := samples*int(codeWidth(d+1)+m-w) + (samples-covered)*int(w+b); c < cost {
				size, cost = d+1, c
			}
		}
		if cost <= least {
			best, least = dictionary{w, dict, size}, cost
		}
		lefts, counts = halve(lefts, counts)
	}
	return best
}

// frequent are the most frequent lefts and how often they are there; equal ones
// by value.
func frequent(lefts []uint16, counts []int) (dict [maxDictionary]uint16, covers [maxDictionary]int, size int) {
	for i, count := range counts {
		j := size
		for j > 0 && covers[j-1] < count {
			j--
		}
		if j == maxDictionary {
			continue
		}
		size = min(size+1, maxDictionary)
		copy(dict[j+1:], dict[j:])
		copy(covers[j+1:], covers[j:])
		dict[j], covers[j] = lefts[i], count
	}
	return dict, covers, size
}

// halve cuts the last bit off lefts in ascending order, and joins those that
// are equal then.
func halve(lefts []uint16, counts []int) ([]uint16, []int) {
	n := 0
	for i, left := range lefts {
		if left >>= 1; n > 0 && lefts[n-1] == left {
			counts[n-1] += counts[i]
			continue
		}
		lefts[n], counts[n] = left, counts[i]
		n++
	}
	return lefts[:n], counts[:n]
}

// lookup sets e.codes to the places of the left parts of e.patterns in the
// dictionary, and the bits of e.mask for those that are not there, whose number
// it returns.
func (e *Encoder) lookup(s *dictionary, m uint) (exceptions int) {
	var table [maxDictionary]uint64
	for i := range table {
		table[i] = 1 << maxLeftWidth // no left part
		if i < s.size {
			table[i] = uint64(s.lefts[i])
		}
	}
	return simd.Lookup64(e.codes, e.mask, e.patterns, m-s.width, &table)
}

// len is the length in bytes of the body of n values of m bits.
func (s *dictionary) len(n, exceptions int, m uint) int {
	return simd.PackedLen(n, codeWidth(s.size)) + simd.PackedLen(n, m-s.width) + simd.PackedLen(s.size, s.width) +
		bitpack.PositionsLen(exceptions, n) + simd.PackedLen(exceptions, s.width)
}

// appendSplit appends the body of e.patterns cut by s, for which e.lookup ran.
func (e *Encoder) appendSplit(dst []byte, s *dictionary, m uint) []byte {
	right := m - s.width
	dst = simd.AppendPack64(dst, e.codes, codeWidth(s.size))
	dst = simd.AppendPack64(dst, e.patterns, right)
	var lefts [maxDictionary]uint64
	for i, left := range s.lefts[:s.size] {
		lefts[i] = uint64(left)
	}
	dst = simd.AppendPack64(dst, lefts[:s.size], s.width)
	e.exceptions = positions(e.exceptions[:0], e.mask)
	dst = bitpack.AppendPositions(dst, e.exceptions, len(e.patterns))
	for i, p := range e.exceptions {
		e.codes[i] = e.patterns[p] >> right
	}
	return simd.AppendPack64(dst, e.codes[:len(e.exceptions)], s.width)
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
	right := h.right & 63
	low := uint64(1)<<right - 1
	for len(at) > 0 {
		k := min(len(at), len(d.lefts))
		run := simd.PackedLen(k, l.leftWidth)
		lefts := d.lefts[:k]
		simd.Unpack64(lefts, src[:run], l.leftWidth)
		for i, p := range at[:len(lefts)] {
			v := &dst[p]
			*v = math.Float64frombits(math.Float64bits(*v)&low | lefts[i]<<right)
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
	right := h.right & 31
	low := uint32(1)<<right - 1
	for len(at) > 0 {
		k := min(len(at), len(d.lefts))
		run := simd.PackedLen(k, l.leftWidth)
		lefts := d.lefts[:k]
		simd.Unpack64(lefts, src[:run], l.leftWidth)
		for i, p := range at[:len(lefts)] {
			v := &dst[p]
			*v = math.Float32frombits(math.Float32bits(*v)&low | uint32(lefts[i])<<right)
		}
		at, src = at[k:], src[run:]
	}
	return err
}
