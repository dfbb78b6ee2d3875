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

// large reports whether most of src seem to be integers beyond those of simd's
// kernels.
func large[F float](src []F) bool {
	if bitsOf[F]() == 32 {
		return false
	}
	count, step := 0, (len(src)+15)/16
	for i := 0; i < len(src); i += step {
		if a := math.Abs(float64(src[i])); simd.Limit64 < a && a < 1<<63 {
			count++
		}
	}
	return count >= 8
}

// wholes is decimals of pair 0, 0 for all integers of 64 bits.
func wholes(ints []int64, mask []byte, src []float64) (exceptions int, least, greatest int64) {
	least, greatest = math.MaxInt64, math.MinInt64
	clear(mask)
	for i, v := range src {
		if -1<<63 <= v && v < 1<<63 {
			if d := int64(v); math.Float64bits(float64(d)) == math.Float64bits(v) {
				ints[i], least, greatest = d, min(least, d), max(greatest, d)
				continue
			}
		}
		ints[i] = 0
		mask[i/8] |= 1 << (i % 8)
		exceptions++
	}
	return exceptions, least, greatest
}

// bitsOf is the number of bits of a value of F.
func bitsOf[F float]() uint {
	if _, ok := any(F(0)).(float64); ok {
		return 64
	}
	return 32
}

const (
	sampleLen  = 64
	maxKnown   = 4
	maxBackoff = 32
)

// search is what the search for pairs remembers from one vector of a page to
// the next.
type search struct {
	known  [maxKnown]found
	nKnown int
	next   int     // of known, to be overwritten
	quick  backoff // of the search among likely pairs
	full   backoff // of that among larger exponents
}

// found is a pair and its cost in a sample in which it was the best.
type found struct {
	pair pair
	cost int
}

// add makes p, just found, one of the known.
func (s *search) add(p found) {
	for i := range s.known[:s.nKnown] {
		if s.known[i].pair == p.pair {
			s.known[i] = p
			return
		}
	}
	s.known[s.next] = p
	s.next = (s.next + 1) % maxKnown
	s.nKnown = min(s.nKnown+1, maxKnown)
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
	best := found{cost: math.MaxInt}
	as := false // as good as where it was found
	for _, p := range s.known[:s.nKnown] {
		if c, _ := cost(sample, p.pair); c < best.cost {
			best, as = found{p.pair, c}, c <= p.cost+p.cost/8
		}
	}
	if as && best.pair.f < best.pair.e { // with fewer digits too?
		c, _ := cost(sample, pair{best.pair.e, best.pair.f + 1})
		as = c >= best.cost
	}
	if as || s.nKnown > 0 && !s.quick.ready() {
		return best.pair
	}
	p := find(s, typical(sample))
	s.quick.done(p.pair != best.pair)
	s.add(p)
	return p.pair
}

// typical is the sample without values far from most others, which pairs should
// not be chosen for, if they are few. It moves the values.
func typical[F float](sample []F) []F {
	if len(sample) < 16 {
		return sample
	}
	a, b := quantiles(sample)
	reach := b - a
	reach += reach
	reach += reach // four times; a product may be fused with what follows
	a, b = a-reach, b+reach
	k := 0
	for i, v := range sample {
		if a <= v && v <= b {
			sample[i], sample[k] = sample[k], v
			k++
		}
	}
	if k < len(sample)*7/8 {
		return sample
	}
	return sample[:k]
}

// quantiles are values that most of a sample lies between.
func quantiles[F float](sample []F) (a, b F) {
	var s [16]int64
	switch sample := any(sample).(type) {
	case []float64:
		var ints [sampleLen]int64
		simd.Order64(ints[:], sample, 0)
		simd.Sample64(&s, ints[:len(sample)])
		unorder := func(x int64) F { return F(math.Float64frombits(uint64(x ^ x>>63&math.MaxInt64))) }
		return unorder(s[2]), unorder(s[13])
	case []float32:
		var ints [sampleLen]int32
		simd.Order32(ints[:], sample, 0)
		simd.Sample32(&s, ints[:len(sample)])
		unorder := func(x int32) F { return F(math.Float32frombits(uint32(x ^ x>>31&math.MaxInt32))) }
		return unorder(int32(s[2])), unorder(int32(s[13]))
	}
	return 0, 0
}

// cost is about the bits that the values of a sample take with pair p, and how
// many of them are exceptions.
func cost[F float](sample []F, p pair) (cost, exceptions int) {
	x, lo, hi := trial(sample, p)
	cost = x * int(bitsOf[F]()+16)
	if x < len(sample) {
		cost += len(sample) * bits.Len64(uint64(hi-lo))
	}
	return cost, x
}

// find looks for the pair of the least cost.
func find[F float](s *search, sample []F) found {
	best := found{cost: math.MaxInt}
	try := func(p pair) (exceptions int) {
		c, x := cost(sample, p)
		if c < best.cost {
			best = found{p, c}
		}
		return x
	}
	m := bitsOf[F]()
	likely := likely64[:]
	if m == 32 {
		likely = likely32[:]
	}
	usual := int(likely[len(likely)-1].e)
	worse := 0
	for _, p := range likely {
		c := best.cost
		if try(p) == 0 {
			break // more digits are only larger integers
		}
		if worse++; best.cost < c {
			worse = 0
		}
		if worse == 3 && 2*best.cost < len(sample)*int(m) {
			break
		}
	}
	if best.cost < len(sample)*int(m)*3/4 || !s.full.ready() {
		return best
	}
	before := best
	for e := int(maxExponent(m)); e > usual; e-- {
		for f := e; f >= 0; f-- {
			try(pair{uint8(e), uint8(f)})
		}
	}
	s.full.done(best != before)
	return best
}
