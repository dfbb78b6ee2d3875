package deltadelta

import (
	"math"
	"math/bits"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bitpack"
	"github.com/colsst/colsst/encoding/internal/frame"
	"github.com/colsst/colsst/internal/le"
	"github.com/colsst/colsst/simd"
)

// Encoder holds the scratch of encoding, and what the chunks before had: a
// chunk keeps their parameters where that costs its body nothing. Its zero
// value is ready. Between two Resets it serves one column, hence one type. It is
// not for concurrent use.
type Encoder struct {
	last    encoding.Params       // of the chunk before
	prev    [numForms]frame.Frame // the frame that each form had last
	period  int64                 // of the steps
	cost    int                   // of the chunk before
	resting [numForms]frame.Rest

	wide   scratch[int64]
	narrow scratch[int32]
	frames frame.Scratch
	mask   []byte // of deltas
	gapPos []uint64
	gaps   []uint64 // zigzag
}

// scratch is what the forms of a chunk pack. The first of the deltas, and of
// their deltas the first two, are room for first values.
type scratch[T integer] struct {
	deltas []T // deltas[i] = v[i] - v[i-1]
	second []T // deltas of deltas
	rest   []T // distances to the ticks
}

// Reset forgets the chunks before, as at the start of a segment. The scratch
// is kept.
func (e *Encoder) Reset() {
	e.last, e.prev, e.period = encoding.Params{}, [numForms]frame.Frame{}, 0
	e.cost, e.resting = 0, [numForms]frame.Rest{}
}

// AppendInt64 appends the body of one chunk to dst and sets all of p. Any
// values will do, none included; src is not kept.
func (e *Encoder) AppendInt64(dst []byte, src []int64, p *encoding.Params) []byte {
	return encode(e, &e.wide, dst, src, 64, p)
}

// AppendInt32 is AppendInt64 for int32 values.
func (e *Encoder) AppendInt32(dst []byte, src []int32, p *encoding.Params) []byte {
	return encode(e, &e.narrow, dst, src, 32, p)
}

// resize is s with n elements, whose values are not defined.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}

// candidate is a form that a chunk may take.
type candidate struct {
	chunk
	cost int // bits of the body, and an estimate of those of the parameters
}

func (c *candidate) params() (p encoding.Params) {
	p[paramForm], p[paramFirst], p[paramSecond] = int64(c.form), c.first, c.second
	if c.form != formConstant {
		c.frame.Store(&p)
	}
	for code, w := range gapWidths {
		if c.gaps > 0 && w == c.gapWidth {
			p[paramGaps] = int64(c.gaps)<<3 | int64(code)
		}
	}
	return p
}

// price estimates what a block pays for a chunk: its body, and for each
// parameter the bits of its distance to the one of the chunk before.
func (e *Encoder) price(c *candidate, n int) {
	p := c.params()
	c.cost = 8*c.len(n) + p.Distance(&e.last)
}

// values are those of a chunk, the extremes of their deltas, and where most of
// the deltas lie.
type values[T integer] struct {
	*Encoder
	*scratch[T]
	v         []T
	size      uint
	dlo, dhi  T
	deltaCore frame.Core // where known
	known     bool
	off       []byte // the deltas off the beat of period beat, which is not 0 where known
	beat      int64
}

func encode[T integer](enc *Encoder, s *scratch[T], dst []byte, v []T, size uint, p *encoding.Params) []byte {
	n := len(v)
	e := values[T]{Encoder: enc, scratch: s, v: v, size: size}
	best := e.choose()
	*p = best.params()
	e.last = *p
	e.prev[best.form] = best.frame
	if best.form == formSteps {
		e.period = best.second
	}
	if best.len(n) == 0 {
		return dst
	}

	f := best.frame
	x := v // what stands for the values in the frame
	switch best.form {
	case formDeltas:
		x = e.deltas
		x[0] = T(f.Lead(int64(v[0])))
	case formDeltaDeltas:
		x = e.second
		x[0], x[1] = T(f.Lead(int64(v[0]))), T(f.Lead(int64(e.deltas[1])))
	case formSteps:
		x = e.rest
	}
	dst = frame.Append(&e.frames, dst, f, x)
	if best.gaps > 0 {
		dst = bitpack.AppendPositions(dst, e.gapPos, n)
		dst = simd.AppendPack64(dst, e.gaps, best.gapWidth)
	}
	return dst
}

// choose picks the form of a chunk and leaves in e what the form packs.
func (e *values[T]) choose() candidate {
	n := len(e.v)
	best := candidate{chunk: chunk{form: formConstant}}
	if n == 0 {
		return best
	}
	best.first = int64(e.v[0])
	if n == 1 {
		return best
	}

	e.deltas = resize(e.deltas, n)
	e.dlo, e.dhi = deltas(e.deltas[1:], e.v)
	if e.dlo == e.dhi && (e.dlo == 0 || n > 2) {
		if e.dlo == 0 {
			return best
		}
		return e.regular()
	}

	// The form of the chunk before first; then those that do not rest, and if
	// the best is worse than it was, those as well.
	before, rested := e.cost, [numForms]bool{}
	best.cost = math.MaxInt
	e.consider(&best, int(e.last[paramForm]))
	for form := range numForms {
		if rested[form] = e.resting[form].Turn(); !rested[form] && form != int(e.last[paramForm]) {
			e.consider(&best, form)
		}
	}
	if best.cost > before+before/8 {
		for form, missed := range rested {
			if missed && form != int(e.last[paramForm]) {
				e.consider(&best, form)
			}
		}
	}
	e.cost = best.cost
	e.resting[best.form] = frame.Rest{}
	return best
}

// consider keeps in best the smaller of it and a form of values that are
// neither equal nor at a constant step. A form that is much larger, or cannot
// be, rests.
func (e *values[T]) consider(best *candidate, form int) {
	c, ok := e.try(form, best.cost)
	if ok {
		e.price(&c, len(e.v))
	}
	if !ok || c.cost-c.cost/16 > best.cost {
		e.resting[form].Found(true, 1, 7)
		return
	}
	e.resting[form] = frame.Rest{}
	if c.cost < best.cost {
		*best = c
	}
}

// try makes a form of a chunk, where it may take fewer than limit bits.
func (e *values[T]) try(form int, limit int) (c candidate, ok bool) {
	n := len(e.v)
	c.form = form
	switch form {
	case formFrame:
		lo, hi := extremes(e.v)
		core := frame.CoreOf(e.v, lo, hi)
		if !core.Hopeful(n, limit) {
			return c, false
		}
		c.frame = frame.Fit(e.v, int64(lo), int64(hi), core, n, e.prev[form])
	case formDeltas:
		core := e.coreOfDeltas()
		if !core.Hopeful(n, limit) {
			return c, false
		}
		c.frame = frame.Fit(e.deltas[1:], int64(e.dlo), int64(e.dhi), core, n, e.prev[form])
		c.first = c.frame.High(int64(e.v[0]), e.size)
	case formDeltaDeltas:
		return e.deltaDeltas(limit)
	case formSteps:
		if e.dlo == e.dhi {
			return e.regular(), true
		}
		return e.steps(limit)
	default: // formConstant
		return c, false
	}
	return c, true
}

// coreOfDeltas is where most of the deltas lie.
func (e *values[T]) coreOfDeltas() frame.Core {
	if !e.known {
		e.deltaCore, e.known = frame.CoreOf(e.deltas[1:], e.dlo, e.dhi), true
	}
	return e.deltaCore
}

// regular is the form of values that differ by a constant step, not zero.
func (e *values[T]) regular() candidate {
	step := e.dlo
	c := candidate{chunk: chunk{form: formSteps, second: int64(step)}}
	c.first = e.firstTick(step)
	c.frame.P = int64(e.v[0] - T(c.first)*step)
	return c
}

// firstTick numbers the tick nearest to the first value, given the phase of the
// chunk before.
func (e *values[T]) firstTick(period T) int64 {
	return int64(T(divide(int64(e.v[0]-T(e.prev[formSteps].Base())), int64(period))))
}

// deltaDeltas is the form of deltas of deltas, where it may cost less.
func (e *values[T]) deltaDeltas(limit int) (c candidate, ok bool) {
	n := len(e.v)
	if n < 3 {
		return c, false
	}
	d := e.deltas
	if !frame.CoreOfDeltas(d[1:]).Hopeful(n, limit) {
		return c, false
	}
	e.second = resize(e.second, n)
	lo, hi := deltas(e.second[2:], d[1:])
	c.form = formDeltaDeltas
	c.frame = frame.Fit(e.second[2:], int64(lo), int64(hi), frame.CoreOf(e.second[2:], lo, hi), n, e.prev[formDeltaDeltas])
	c.first = c.frame.High(int64(e.v[0]), e.size)
	c.second = c.frame.High(int64(d[1]), e.size)
	return c, true
}

// steps is the form of steps, where the deltas look like those of a clock: most
// are nearer to each other than half of their middle.
func (e *values[T]) steps(limit int) (c candidate, ok bool) {
	n := len(e.v)
	core := e.coreOfDeltas()
	spread, middle := core.Span, core.Centre
	if middle == 0 || distance(middle, 0)/2 < spread {
		return c, false
	}
	p, ok := e.findPeriod(spread, middle)
	if !ok {
		return c, false
	}

	period := T(p)
	first := e.firstTick(period)
	e.rest = resize(e.rest, n)
	e.gapPos, e.gaps = e.gapPos[:0], e.gaps[:0]
	var widest uint64
	from, tick := 0, T(first)*period // the value after the last gap, and its tick
	lo, hi := extremes[T](nil)
	ticks := func(to int) {
		a, b := subRamp(e.rest[from:to], e.v[from:to], tick, period)
		lo, hi = min(lo, a), max(hi, b)
	}
	off := e.offBeat(p)
	for k := 0; k < len(off); k += 8 {
		for m := le.Uint64Short(off[k:]); m != 0; m &= m - 1 {
			i := 1 + 8*k + bits.TrailingZeros64(m)
			gap := divide(int64(e.deltas[i]), p) - 1
			if gap == 0 {
				continue
			}
			if len(e.gaps) >= n/4 {
				return c, false
			}
			z := uint64(gap<<1 ^ gap>>63)
			widest |= z
			e.gapPos, e.gaps = append(e.gapPos, uint64(i)), append(e.gaps, z)
			ticks(i)
			tick += T(i-from)*period + T(gap)*period
			from = i
		}
	}
	ticks(n)
	c.form, c.first, c.second, c.gaps = formSteps, first, p, len(e.gaps)
	if c.gaps > 0 {
		for _, w := range gapWidths {
			if c.gapWidth = w; uint(bits.Len64(widest)) <= w {
				break
			}
		}
	}
	core = frame.CoreOf(e.rest, lo, hi)
	if !core.Hopeful(n, limit) {
		return c, false
	}
	c.frame = frame.Fit(e.rest, int64(lo), int64(hi), core, n, e.prev[formSteps])
	return c, true
}

// offBeat has bit i%8 of byte i/8 set for each delta i+1 that differs from the
// period by more than half of it. It is empty where none does.
func (e *values[T]) offBeat(period int64) []byte {
	if e.beat != period {
		e.off, e.beat = e.findOffBeat(period), period
	}
	return e.off
}

func (e *values[T]) findOffBeat(period int64) []byte {
	half := distance(period, 0) / 2
	d := e.deltas[1:]
	if half>>(e.size-3) == 0 { // half more is still a T
		from := period - int64(half)
		if from <= int64(e.dlo) && int64(e.dhi) <= period+int64(half) {
			return nil
		}
		e.mask = resize(e.mask, (len(d)+7)/8)
		outliers(e.mask, d, T(from), 2*half)
		return e.mask
	}
	e.mask = resize(e.mask, (len(d)+7)/8)
	clear(e.mask)
	for i, d := range d {
		if distance(int64(d), period) > half {
			e.mask[i/8] |= 1 << (i % 8)
		}
	}
	return e.mask
}

// findPeriod estimates the period of a clock: the one of the chunk before if
// it fits the values, else a round number that does.
func (e *values[T]) findPeriod(spread uint64, middle int64) (period int64, ok bool) {
	n := len(e.v)
	period = middle
	if e.period != 0 && distance(e.period, middle) <= spread {
		period = e.period
	}
	ticks, gaps := int64(n-1), 0
	off := e.offBeat(period)
	for k := 0; k < len(off); k += 8 {
		m := le.Uint64Short(off[k:])
		gaps += bits.OnesCount64(m)
		for ; m != 0; m &= m - 1 {
			ticks += divide(int64(e.deltas[1+8*k+bits.TrailingZeros64(m)]), period) - 1
		}
	}
	if gaps > n/2 {
		return 0, false
	}
	total := int64(e.v[n-1] - e.v[0])
	if ticks <= 0 || total^period < 0 {
		return period, true // it wrapped
	}
	fits := func(p int64) bool { return distance(p*ticks, total) <= 2*spread }
	if period == e.period && fits(period) {
		return period, true
	}
	mean := divide(total, ticks)
	for unit := int64(1e15); unit > 1; unit /= 10 {
		if p := divide(mean, unit) * unit; p != 0 && frame.Fits(p, e.size) && fits(p) {
			return p, true
		}
	}
	return mean, mean != 0
}

// divide is x/y, y not zero, rounded to the nearest integer. The quotient of
// the least integer and -1 wraps.
func divide(x, y int64) int64 {
	q, r := x/y, x%y
	if distance(r, 0) > distance(y, 0)/2 {
		if (r < 0) == (y < 0) {
			return q + 1
		}
		return q - 1
	}
	return q
}

// distance is the magnitude of x-y, modulo 2^64.
func distance(x, y int64) uint64 {
	d := x - y
	return uint64(d ^ d>>63 - d>>63)
}
