package alp

import (
	"math"
	"math/bits"

	"github.com/colsst/colsst/simd"
)

type (
	float   interface{ float32 | float64 }
	integer interface{ int32 | int64 }
)

// pair is exponent e and factor f of decimals: value = d * 10^f * 10^-e.
type pair struct{ e, f uint8 }

const (
	maxExponent64 = 18
	maxExponent32 = 10
)

// maxExponent is the largest exponent of values of m bits.
func maxExponent(m uint) uint8 {
	if m == 64 {
		return maxExponent64
	}
	return maxExponent32
}

// Powers of ten, each rounded from its decimals to the type.
var (
	pow64 = [maxExponent64 + 1]float64{
		1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
		1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
	}
	inverse64 = [maxExponent64 + 1]float64{
		1e-0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9,
		1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15, 1e-16, 1e-17, 1e-18,
	}
	pow32 = [maxExponent32 + 1]float32{
		1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
	}
	inverse32 = [maxExponent32 + 1]float32{
		1e-0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10,
	}
)

// likely64 and likely32 are the pairs tried first, fewest digits first. The
// constants 10^-14 of float64 and 10^-6 of float32 have unusually small errors,
// so that with them most decimals come back.
var (
	likely64 = [...]pair{
		{0, 0}, {14, 13}, {14, 12}, {14, 11}, {14, 10}, {14, 9}, {14, 8}, {14, 7},
		{14, 6}, {14, 5}, {14, 4}, {14, 3}, {14, 2}, {14, 1}, {14, 0},
	}
	likely32 = [...]pair{{0, 0}, {6, 5}, {6, 4}, {6, 3}, {6, 2}, {6, 1}, {6, 0}}
)

// decimals sets ints to the integers of src with pair p, or 0 where they do not
// give the same bits back, and the bits of mask where they do not; least and
// greatest are those of the others.
func decimals[F float, I integer](ints []I, mask []byte, src []F, p pair) (exceptions int, least, greatest int64) {
	switch src := any(src).(type) {
	case []float64:
		return simd.Decimals64(any(ints).([]int64), mask, src, pow64[p.e], inverse64[p.f], pow64[p.f], inverse64[p.e])
	case []float32:
		n, lo, hi := simd.Singles32(any(ints).([]int32), mask, src, pow32[p.e], inverse32[p.f], pow32[p.f], inverse32[p.e])
		return n, int64(lo), int64(hi)
	}
	return 0, 0, 0
}

// trial is decimals without the integers.
func trial[F float](src []F, p pair) (exceptions int, least, greatest int64) {
	switch src := any(src).(type) {
	case []float64:
		return simd.Trial64(src, pow64[p.e], inverse64[p.f], pow64[p.f], inverse64[p.e])
	case []float32:
		n, lo, hi := simd.TrialSingle32(src, pow32[p.e], inverse32[p.f], pow32[p.f], inverse32[p.e])
		return n, int64(lo), int64(hi)
	}
	return 0, 0, 0
}

// bitsOf is the number of bits of a value of F.
func bitsOf[F float]() uint {
	if _, ok := any(F(0)).(float64); ok {
		return 64
	}
	return 32
}

const (
	sampleLen  = 32
	maxBackoff = 32
)

// search is what the search for pairs remembers from one vector of a page to
// the next.
type search struct {
	pair  pair
	cost  int // of it in a sample where it was found
	known bool
	quick backoff // of the search among likely pairs
	full  backoff // of the search among all
}

// backoff lets a search that found nothing rest for 1, 2, 4 ... vectors.
type backoff struct{ rest, next int }

func (b *backoff) ready() bool {
	if b.rest > 0 {
		b.rest--
		return false
	}
	return true
}

func (b *backoff) done(found bool) {
	if found {
		*b = backoff{}
		return
	}
	b.next = min(max(1, 2*b.next), maxBackoff)
	b.rest = b.next
}

// choose is the pair for the vector src, by a sample of it.
func choose[F float](s *search, src []F) pair {
	var room [sampleLen]F
	sample := room[:0]
	for step, i := (len(src)+sampleLen-1)/sampleLen, 0; i < len(src); i += step {
		sample = append(sample, src[i])
	}
	if s.known {
		c := cost(sample, s.pair)
		as := c <= s.cost+s.cost/8
		if as && s.pair.f < s.pair.e {
			as = cost(sample, pair{s.pair.e, s.pair.f + 1}) >= c
		}
		if as || !s.quick.ready() {
			return s.pair
		}
	}
	best, least := find(s, sample)
	s.quick.done(!s.known || best != s.pair)
	s.pair, s.cost, s.known = best, least, true
	return best
}

// cost is about the bits that the values of a sample take with pair p.
func cost[F float](sample []F, p pair) int {
	x, lo, hi := trial(sample, p)
	c := x * int(bitsOf[F]()+16)
	if x < len(sample) {
		c += len(sample) * bits.Len64(uint64(hi-lo))
	}
	return c
}

// find looks for the pair of the least cost.
func find[F float](s *search, sample []F) (best pair, least int) {
	least = math.MaxInt
	try := func(p pair) {
		if c := cost(sample, p); c < least {
			best, least = p, c
		}
	}
	m := bitsOf[F]()
	likely := likely64[:]
	if m == 32 {
		likely = likely32[:]
	}
	for _, p := range likely {
		try(p)
	}
	if least < len(sample)*int(m)*3/4 || !s.full.ready() {
		return best, least
	}
	before := best
	for e := int(maxExponent(m)); e >= 0; e-- {
		for f := e; f >= 0; f-- {
			try(pair{uint8(e), uint8(f)})
		}
	}
	s.full.done(best != before)
	return best, least
}
