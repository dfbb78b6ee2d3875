package deltadelta

import (
	"math"
	"math/bits"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bitpack"
	"github.com/colsst/colsst/encoding/internal/frame"
	"github.com/colsst/colsst/simd"
)

// Encoder holds the scratch of encoding, and what the chunks before had: a
// chunk keeps their parameters where that costs its body nothing. Its zero
// value is ready. It is not for concurrent use.
type Encoder struct {
	last    encoding.Params       // of the chunk before
	prev    [numForms]frame.Frame // the frame that each form had last
	period  int64                 // of the steps
	cost    int                   // of the chunk before
	resting [numForms]rest

	wide   []int64 // int32 values
	deltas []int64 // deltas[i] = v[i] - v[i-1]
	second []int64 // deltas of deltas
	rest   []int64 // distances to the ticks
	codes  []uint64
	gapPos []uint64
	gaps   []uint64 // zigzag
}

// Reset forgets the chunks before, as at the start of a segment. The scratch
// is kept.
func (e *Encoder) Reset() {
	e.last, e.prev, e.period = encoding.Params{}, [numForms]frame.Frame{}, 0
	e.cost, e.resting = 0, [numForms]rest{}
}

// AppendInt64 appends the body of one chunk to dst and sets all of p. Any
// values will do, none included; src is not kept.
func (e *Encoder) AppendInt64(dst []byte, src []int64, p *encoding.Params) []byte {
	return e.encode(dst, src, 64, p)
}

// AppendInt32 is AppendInt64 for int32 values.
func (e *Encoder) AppendInt32(dst []byte, src []int32, p *encoding.Params) []byte {
	e.wide = resize(e.wide, len(src))
	for i, v := range src {
		e.wide[i] = int64(v)
	}
	return e.encode(dst, e.wide, 32, p)
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

func (e *Encoder) encode(dst []byte, v []int64, size uint, p *encoding.Params) []byte {
	n := len(v)
	best := e.choose(v, size)
	*p = best.params()
	e.last = *p
	e.prev[best.form] = best.frame
	if best.form == formConstant {
		return dst
	}
	if best.form == formSteps {
		e.period = best.second
	}
	if best.len(n) == 0 {
		return dst
	}

	e.codes = resize(e.codes, n)
	u := e.codes
	switch best.form {
	case formFrame:
		best.frame.Codes(u, v)
	case formDeltas:
		u[0] = best.frame.Low(v[0])
		best.frame.Codes(u[1:], e.deltas[1:])
	case formDeltaDeltas:
		u[0] = best.frame.Low(v[0])
		u[1] = best.frame.Low(e.deltas[1])
		best.frame.Codes(u[2:], e.second[2:])
	case formSteps:
		best.frame.Codes(u, e.rest)
	}
	dst = bitpack.Append(dst, u, best.frame.Shape())
	if best.gaps > 0 {
		dst = bitpack.AppendPositions(dst, e.gapPos, n)
		dst = simd.AppendPack64(dst, e.gaps, best.gapWidth)
	}
	return dst
}

// choose picks the form of a chunk and leaves in e what the form packs.
func (e *Encoder) choose(v []int64, size uint) candidate {
	n := len(v)
	best := candidate{chunk: chunk{form: formConstant}}
	if n == 0 {
		return best
	}
	best.first = v[0]
	if n == 1 {
		return best
	}

	e.deltas = resize(e.deltas, n)
	d := e.deltas
	d[0] = 0
	r := values{v: v, size: size, lo: v[0], hi: v[0]}
	d1 := frame.Wrap(v[1]-v[0], size)
	r.dlo, r.dhi = d1, d1
	for i := 1; i < n; i++ {
		x := v[i]
		r.lo, r.hi = min(r.lo, x), max(r.hi, x)
		y := frame.Wrap(x-v[i-1], size)
		r.dlo, r.dhi = min(r.dlo, y), max(r.dhi, y)
		d[i] = y
	}
	if r.lo == r.hi {
		return best
	}
	if r.dlo == r.dhi && n > 2 {
		return e.regular(v, d1, size)
	}

	// The form of the chunk before first; then those that do not rest, and if
	// the best is worse than it was, those as well.
	before, rested := e.cost, [numForms]bool{}
	best.cost = math.MaxInt
	e.consider(&best, int(e.last[paramForm]), &r)
	for form := range numForms {
		if rested[form] = e.resting[form].turn(); !rested[form] && form != int(e.last[paramForm]) {
			e.consider(&best, form, &r)
		}
	}
	if best.cost > before+before/8 {
		for form, missed := range rested {
			if missed && form != int(e.last[paramForm]) {
				e.consider(&best, form, &r)
			}
		}
	}
	e.cost = best.cost
	e.resting[best.form] = rest{}
	return best
}

// values are those of a chunk, neither equal nor at a constant step, and the
// extremes of them and of their deltas.
type values struct {
	v                []int64
	size             uint
	lo, hi, dlo, dhi int64
}

// consider keeps in best the smaller of it and a form. A form that is much
// larger, or cannot be, rests.
func (e *Encoder) consider(best *candidate, form int, r *values) {
	c, ok := e.try(form, r, best.cost)
	if ok {
		e.price(&c, len(r.v))
	}
	if !ok || c.cost-c.cost/16 > best.cost {
		e.resting[form].longer()
		return
	}
	e.resting[form] = rest{}
	if c.cost < best.cost {
		*best = c
	}
}

// rest lets a form that would not do wait for 1, 3 and then 7 chunks.
type rest struct{ wait, span uint8 }

// turn reports whether the form rests.
func (r *rest) turn() bool {
	if r.wait == 0 {
		return false
	}
	r.wait--
	return true
}

func (r *rest) longer() {
	r.span = min(2*r.span+1, 7)
	r.wait = r.span
}

// try makes a form of a chunk, where it may take fewer than limit bits.
func (e *Encoder) try(form int, r *values, limit int) (c candidate, ok bool) {
	n := len(r.v)
	c.form = form
	switch form {
	case formFrame:
		core, _ := frame.Core(r.v)
		if !frame.Hopeful(core, n, limit) {
			return c, false
		}
		c.frame = frame.Fit(r.v, r.lo, r.hi, n, r.size, e.prev[form])
	case formDeltas:
		core, _ := frame.Core(e.deltas[1:])
		if !frame.Hopeful(core, n, limit) {
			return c, false
		}
		c.frame = frame.Fit(e.deltas[1:], r.dlo, r.dhi, n, r.size, e.prev[form])
		c.first = c.frame.High(r.v[0], r.size)
	case formDeltaDeltas:
		return e.deltaDeltas(r.v, r.size, limit)
	case formSteps:
		if r.dlo == r.dhi {
			return e.regular(r.v, r.dlo, r.size), true
		}
		return e.steps(r.v, r.size, limit)
	default: // formConstant
		return c, false
	}
	return c, true
}

// regular is the form of values that differ by a constant step, not zero.
func (e *Encoder) regular(v []int64, step int64, size uint) candidate {
	c := candidate{chunk: chunk{form: formSteps, second: step}}
	c.first = e.firstTick(v[0], step, size)
	c.frame.P = frame.Wrap(v[0]-c.first*step, size)
	e.rest = resize(e.rest, len(v))
	for i := range e.rest {
		e.rest[i] = c.frame.P
	}
	return c
}

// firstTick numbers the tick nearest to v, given the phase of the chunk
// before.
func (e *Encoder) firstTick(v, period int64, size uint) int64 {
	return frame.Wrap(divide(frame.Wrap(v-e.prev[formSteps].Base(), size), period), size)
}

// deltaDeltas is the form of deltas of deltas, where it may cost less.
func (e *Encoder) deltaDeltas(v []int64, size uint, cost int) (c candidate, ok bool) {
	n := len(v)
	if n < 3 {
		return c, false
	}
	d := e.deltas
	var buf [frame.Samples]int64
	few := min(n-2, len(buf))
	for i := range few {
		at := 2 + (2*i+1)*(n-2)/(2*few)
		buf[i] = frame.Wrap(d[at]-d[at-1], size)
	}
	if core, _ := frame.CoreOf(buf[:few]); !frame.Hopeful(core, n, cost) {
		return c, false
	}
	e.second = resize(e.second, n)
	s := e.second
	first := frame.Wrap(d[2]-d[1], size)
	lo, hi := first, first
	for i := 2; i < n; i++ {
		x := frame.Wrap(d[i]-d[i-1], size)
		lo, hi = min(lo, x), max(hi, x)
		s[i] = x
	}
	c.form = formDeltaDeltas
	c.frame = frame.Fit(s[2:], lo, hi, n, size, e.prev[formDeltaDeltas])
	c.first = c.frame.High(v[0], size)
	c.second = c.frame.High(d[1], size)
	return c, true
}

// steps is the form of steps, where the deltas look like those of a clock: most
// are nearer to each other than half of their middle.
func (e *Encoder) steps(v []int64, size uint, cost int) (c candidate, ok bool) {
	n := len(v)
	spread, middle := frame.Core(e.deltas[1:])
	if middle == 0 || distance(middle, 0)/2 < spread {
		return c, false
	}
	period, ok := e.findPeriod(v, spread, middle, size)
	if !ok {
		return c, false
	}

	first := e.firstTick(v[0], period, size)
	e.rest = resize(e.rest, n)
	e.gapPos, e.gaps = e.gapPos[:0], e.gaps[:0]
	var widest uint64
	tick := first * period
	r0 := frame.Wrap(v[0]-tick, size)
	e.rest[0] = r0
	lo, hi := r0, r0
	half := distance(period, 0) / 2
	for i := 1; i < n; i++ {
		tick += period
		if distance(e.deltas[i], period) > half {
			if gap := divide(e.deltas[i], period) - 1; gap != 0 {
				if len(e.gaps) >= n/4 {
					return c, false
				}
				tick += gap * period
				z := uint64(gap<<1 ^ gap>>63)
				widest |= z
				e.gapPos = append(e.gapPos, uint64(i))
				e.gaps = append(e.gaps, z)
			}
		}
		r := frame.Wrap(v[i]-tick, size)
		lo, hi = min(lo, r), max(hi, r)
		e.rest[i] = r
	}
	c.form, c.first, c.second, c.gaps = formSteps, first, period, len(e.gaps)
	if c.gaps > 0 {
		for _, w := range gapWidths {
			if c.gapWidth = w; uint(bits.Len64(widest)) <= w {
				break
			}
		}
	}
	if core, _ := frame.Core(e.rest); !frame.Hopeful(core, n, cost) {
		return c, false
	}
	c.frame = frame.Fit(e.rest, lo, hi, n, size, e.prev[formSteps])
	return c, true
}

// findPeriod estimates the period of a clock: the one of the chunk before if
// it fits the values, else a round number that does.
func (e *Encoder) findPeriod(v []int64, spread uint64, middle int64, size uint) (period int64, ok bool) {
	n := len(v)
	period = middle
	if e.period != 0 && distance(e.period, middle) <= spread {
		period = e.period
	}
	half := distance(period, 0) / 2
	ticks, gaps := int64(0), 0
	for _, d := range e.deltas[1:] {
		if distance(d, period) <= half {
			ticks++
			continue
		}
		ticks += divide(d, period)
		if gaps++; gaps > n/2 {
			return 0, false
		}
	}
	total := frame.Wrap(v[n-1]-v[0], size)
	if ticks <= 0 || total^period < 0 {
		return period, true // it wrapped
	}
	fits := func(p int64) bool { return distance(p*ticks, total) <= 2*spread }
	if period == e.period && fits(period) {
		return period, true
	}
	mean := divide(total, ticks)
	for unit := int64(1e15); unit > 1; unit /= 10 {
		if p := divide(mean, unit) * unit; p != 0 && frame.Fits(p, size) && fits(p) {
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
