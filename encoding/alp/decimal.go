package alp

import (
	"math"
	"math/bits"

	"github.com/colsst/colsst/encoding/bitpack"
	"github.com/colsst/colsst/encoding/internal/frame"
	"github.com/colsst/colsst/internal/le"
)

// pair is exponent e and factor f of decimals: value = d * 10^f * 10^-e.
type pair struct{ e, f uint8 }

func (p pair) param() int64 { return int64(p.e)*32 + int64(p.f) }

func pairOf(param int64) pair { return pair{uint8(param >> 5), uint8(param & 31)} }

var pow10 = [maxExponent + 1]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
}

var inv10 = [maxExponent + 1]float64{
	1e-0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9,
	1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15, 1e-16, 1e-17, 1e-18,
}

// likely64 and likely32 are the pairs tried first, fewest digits first. For
// float64 the constant 10^-14 has an unusually small error, so that nearly every
// decimal of 1 to 14 digits comes back; float32 decimals are exact with f = 0.
var likely64 = [...]pair{
	{0, 0}, {14, 13}, {14, 12}, {14, 11}, {14, 10}, {14, 9}, {14, 8}, {14, 7},
	{14, 6}, {14, 5}, {14, 4}, {14, 3}, {14, 2}, {14, 1}, {14, 0},
}

var likely32 = [...]pair{
	{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 0}, {7, 0}, {8, 0}, {9, 0}, {10, 0},
}

const (
	sampleLen  = 32
	maxRecent  = 4
	maxBackoff = 32
)

// search remembers, over the chunks of a segment, which pairs did well.
type search struct {
	last    pair // the pair of the chunk before, where known
	known   bool
	lost    struct{ bits, values int } // of a chunk before in another mode
	recent  [maxRecent]pair            // latest first
	nRecent int
	quick   backoff // of the search among likely pairs
	full    backoff // of the search among all
}

// backoff lets a search that found nothing rest for 1, 2, 4 ... chunks.
type backoff struct{ rest, next int }

func (b *backoff) ready() bool {
	if b.rest > 0 {
		b.rest--
		return false
	}
	return true
}

func (b *backoff) found() { *b = backoff{} }

func (b *backoff) failed() {
	b.next = min(max(1, 2*b.next), maxBackoff)
	b.rest = b.next
}

// won notes that p served a chunk.
func (s *search) won(p pair) {
	s.last, s.known, s.lost.values = p, true, 0
	i := 0
	for i < s.nRecent && s.recent[i] != p {
		i++
	}
	if i == s.nRecent {
		if s.nRecent < maxRecent {
			s.nRecent++
		} else {
			i--
		}
	}
	copy(s.recent[1:i+1], s.recent[:i])
	s.recent[0] = p
}

// decimals turns the chunk into e.ints and e.exceptions with the best pair that
// it finds, or says that they are no decimals.
func (e *chunk[F, I]) decimals() (pair, bool) {
	n := len(e.src)
	s := &e.search
	p := s.last
	ok := false
	if s.known {
		ok = e.with(p)
		if ok && len(e.exceptions) <= n/64 {
			return e.reduced(p), true
		}
	}
	if !s.quick.ready() && (ok || !e.seemDecimals()) {
		return p, ok
	}
	q, found := e.find()
	if !found || s.known && q == p {
		s.quick.failed()
		return p, ok
	}
	s.quick.found()
	if !e.with(q) {
		return p, ok && e.with(p)
	}
	return e.reduced(q), true
}

// with tries pair p on the whole chunk: no more than three quarters of it may
// be exceptions.
func (e *chunk[F, I]) with(p pair) bool {
	some := len(e.src) * 3 / 4
	if e.tried && e.of == p {
		if e.strays > some {
			return false
		}
		for _, at := range e.exceptions {
			e.ints.v[at] = 0 // as before it was filled
		}
		return true
	}
	e.tried, e.of = true, p
	e.strays = decimals(&e.ints, e.mask, e.src, p)
	if e.strays > some {
		return false
	}
	e.exceptions = e.exceptions[:0]
	if e.strays > 0 {
		e.exceptions = positions(e.exceptions, e.mask)
	}
	return true
}

// positions appends those of the bits that are set.
func positions(dst []uint64, mask []byte) []uint64 {
	for i := 0; i < len(mask); i += 8 {
		for m := le.Uint64Short(mask[i:]); m != 0; m &= m - 1 {
			dst = append(dst, uint64(8*i+bits.TrailingZeros64(m)))
		}
	}
	return dst
}

// find looks for the best pair on a sample of the chunk.
func (e *chunk[F, I]) find() (best pair, found bool) {
	n := len(e.src)
	step := (n + sampleLen - 1) / sampleLen
	var room [sampleLen]F
	sample := room[:0]
	for i := 0; i < n; i += step {
		sample = append(sample, e.src[i])
	}
	k := len(sample)
	least := math.MaxInt
	each := int(e.m + bitpack.PositionWidth(n)) // bits of an exception
	// Exceptions alone must not take two thirds of the bits that the values of
	// the chunk before did, if it was of another mode.
	dear := math.MaxInt
	if l := &e.search.lost; l.values > 0 {
		dear = l.bits * k / l.values * 2 / 3
	}
	try := func(p pair) (exact bool) {
		x, lo, hi := trial(sample, p)
		if x > k/2 || x*each > dear {
			return false
		}
		if c := k*bits.Len64(uint64(hi-lo)) + x*each; c < least {
			best, found, least = p, true, c
		}
		return x == 0
	}
	for _, p := range e.search.recent[:e.search.nRecent] {
		try(p)
	}
	likely := likely64[:]
	if e.m == 32 {
		likely = likely32[:]
	}
	for _, p := range likely {
		if try(p) {
			break // more digits are only larger integers
		}
	}
	if e.m == 32 || least < k*int(e.m)*3/4 || !e.search.full.ready() {
		return best, found
	}
	before := least
	for x := maxExponent; x >= 0; x-- {
		for f := x; f >= 0; f-- {
			try(pair{uint8(x), uint8(f)})
		}
	}
	if least < before {
		e.search.full.found()
	} else {
		e.search.full.failed()
	}
	return best, found
}

// reduced moves the zeros that all the integers end in into the pair, where
// that gives the same values back.
func (e *chunk[F, I]) reduced(p pair) pair {
	zeros := 0
	for d := int64(10); zeros < maxExponent-int(p.f) && e.ints.hi-e.ints.lo >= d && multiples(e.ints.v, d); d *= 10 {
		zeros++
	}
	if zeros == 0 {
		return p
	}
	q := pair{p.e, p.f + uint8(zeros)}
	if p.f == 0 {
		k := min(p.e, q.f)
		q = pair{p.e - k, q.f - k}
	}
	x := len(e.exceptions)
	if e.with(q) && len(e.exceptions) <= x {
		return q
	}
	e.with(p)
	return p
}

// fill gives the places of exceptions integers that cost nothing: on the
// straight line between those beside them.
func fill[I frame.Integer](ints []I, exceptions []uint64) {
	n := len(ints)
	for at := 0; at < len(exceptions); {
		from := int(exceptions[at]) // a run of exceptions: from up to to
		to := from
		for at < len(exceptions) && int(exceptions[at]) == to {
			at++
			to++
		}
		var left, right I
		switch {
		case from > 0 && to < n:
			left, right = ints[from-1], ints[to]
		case from > 0:
			left, right = ints[from-1], ints[from-1]
		case to < n:
			left, right = ints[to], ints[to]
		}
		step := (right - left) / I(to-from+1)
		for i := from; i < to; i++ {
			left += step
			ints[i] = left
		}
	}
}
