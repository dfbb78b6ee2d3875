package alp

import (
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bitpack"
	"github.com/colsst/colsst/encoding/internal/frame"
	"github.com/colsst/colsst/encoding/internal/inline"
)

// Encoder encodes the chunks of one column, one after another. It keeps
// scratch memory, and what it learned from the chunks before: the decimals
// tried first, the bases used again. The zero value is ready. Between two
// Resets it serves one column, hence one type. It is not safe for concurrent
// use.
type Encoder struct {
	wide       integers[int64] // of float64
	narrow     integers[int32] // of float32
	mask       []byte          // bits of exceptions
	exceptions []uint64        // their positions
	codes      []uint64        // of Split
	frames     frame.Scratch
	patterns   []uint64 // of Split

	last    encoding.Params // of the chunk before
	prev    frame.Frame
	bits    int        // of the chunk searched last
	values  int        // of it
	ofMode  frame.Rest // of the search for it
	ofFrame frame.Rest
	search  search
	cut     cut
}

// integers are what the modes pack. The first of the differences is room for a
// first value.
type integers[I frame.Integer] struct {
	ordered run[I]
	ints    run[I] // of the decimals
	deltas  [2]run[I]
}

// resize makes room for n integers in each.
func (s *integers[I]) resize(n int) {
	if len(s.ordered.v) != n {
		for _, r := range []*run[I]{&s.ordered, &s.ints, &s.deltas[0], &s.deltas[1]} {
			r.v = resize(r.v, n)
		}
	}
}

// run is integers with the least and the greatest of them.
type run[I frame.Integer] struct {
	v      []I
	lo, hi int64
}

// Reset forgets what was learned, as at the start of a segment; the bytes that
// follow depend on the chunks since then alone.
func (e *Encoder) Reset() {
	e.forget()
	e.search = search{}
	e.cut = cut{}
	e.bits, e.values = 0, 0
}

// forget forgets the parameters of the chunk before; in line, they cost what
// they are.
func (e *Encoder) forget() {
	e.last, e.prev = encoding.Params{}, frame.Frame{}
	e.ofMode, e.ofFrame = frame.Rest{}, frame.Rest{}
}

// resize is s with n elements, whose values are not defined.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// AppendFloat64 appends the body of src, at most encoding.MaxGroupRows values,
// to dst and sets p. The body is never longer than 8 bytes a value.
func (e *Encoder) AppendFloat64(dst []byte, src []float64, p *encoding.Params) []byte {
	return encode(e, &e.wide, dst, src, 64, p)
}

// AppendFloat32 is AppendFloat64 for float32; the body is never longer than 4
// bytes a value.
func (e *Encoder) AppendFloat32(dst []byte, src []float32, p *encoding.Params) []byte {
	return encode(e, &e.narrow, dst, src, 32, p)
}

// encode encodes src, floats of m bits, in the smallest way.
func encode[F float, I frame.Integer](enc *Encoder, s *integers[I], dst []byte, src []F, m uint, p *encoding.Params) []byte {
	n := len(src)
	*p = encoding.Params{}
	if n == 0 {
		return dst
	}
	enc.mask = resize(enc.mask, (n+7)/8)
	enc.codes = resize(enc.codes, n)
	s.resize(n)
	e := chunk[F, I]{Encoder: enc, integers: s, src: src, m: m}
	if dst, ok := e.repeat(dst); ok {
		*p = e.last
		return dst
	}
	c := e.choose()
	*p = c.params
	return e.append(dst, &c)
}

// chunk is the values at hand.
type chunk[F float, I frame.Integer] struct {
	*Encoder
	*integers[I]
	src []F
	m   uint // bits of a value

	tried  bool // the integers are those of pair of, but for their exceptions
	of     pair
	strays int // exceptions
}

// plan is one way to encode the chunk.
type plan[I frame.Integer] struct {
	params encoding.Params
	values []I // what the frame packs
	frame  frame.Frame
	split  dictionary
	bits   int // of body and, by estimate, parameters
}

func (c *plan[I]) mode() Mode { return Mode(c.params[pMode]) }

// choose finds the smallest way to encode the chunk, or what serves as well as
// in the chunks before: the same mode in the same frame, or in another one, for
// as long as the searches rest. It leaves in e what append needs.
func (e *chunk[F, I]) choose() plan[I] {
	n := len(e.src)
	best := plan[I]{bits: n * int(e.m)}
	rests, fits := e.ofMode.Turn(), e.ofFrame.Turn()
	if rests && n == e.values {
		same := best
		again := e.again(&same) && (same.mode().decimal() || !e.seemDecimals())
		if again && (fits || same.mode() == Split) && same.bits <= e.bits+e.bits/32 {
			e.last, e.prev = same.params, same.frame
			return same
		}
		if e.fitAgain(&best) && best.bits <= e.bits+e.bits/4 {
			e.ofFrame.Found(again && best.bits+best.bits/128 >= same.bits, 1, 15)
			e.last, e.prev, e.bits = best.params, best.frame, best.bits
			return best
		}
	}
	pr := e.seek(&best)
	if n == e.values && best.bits > e.bits+e.bits/8 && e.rested() {
		pr = e.seek(&best)
	}
	if best.mode().decimal() {
		e.search.won(pr)
	} else {
		e.search.known = false
		e.search.lost.bits, e.search.lost.values = best.bits, n
	}
	e.ofMode.Found(best.mode() == Mode(e.last[pMode]) && best.params[pPair] == e.last[pPair], 7, 15)
	e.last, e.prev, e.bits, e.values = best.params, best.frame, best.bits, n
	return best
}

// fitAgain makes best the smallest frame for the decimals or for the bits, as in
// the chunk before. ok is false where that had neither, or these are no decimals.
func (e *chunk[F, I]) fitAgain(best *plan[I]) (ok bool) {
	*best = plan[I]{bits: len(e.src) * int(e.m)}
	switch mode := Mode(e.last[pMode]); mode {
	case Decimal, DecimalDelta:
		if !e.with(pairOf(e.last[pPair])) {
			return false
		}
		fill(e.ints.v, e.exceptions)
		e.consider(best, &e.ints, Decimal, e.last[pPair])
	case Bits, BitsDelta:
		if e.seemDecimals() {
			return false
		}
		z := e.order()
		e.consider(best, &e.ordered, Bits, int64(z))
	}
	return best.mode() != Verbatim
}

// seemDecimals reports whether the values are decimals now, as some of them
// tell: of up to 7 digits behind the point, or of 5 for float32. One in three of
// the float32 from 64 on is such a decimal by chance.
func (e *chunk[F, I]) seemDecimals() bool {
	p := pair{14, 7}
	if e.m == 32 {
		p = pair{5, 0}
	}
	var some [16]F
	for i := range some {
		some[i] = e.src[i*len(e.src)/len(some)]
	}
	exceptions, _, _ := trial(some[:], p)
	return exceptions == 0
}

// rested wakes the searches that rest, and says whether some did.
func (e *Encoder) rested() bool {
	s, c := &e.search, &e.cut
	if s.quick.rest|s.full.rest|c.search.rest|c.hope.rest == 0 {
		return false
	}
	s.quick, s.full, c.search, c.hope = backoff{}, backoff{}, backoff{}, backoff{}
	return true
}

// seek makes best the smallest way that it finds, and returns the pair of the
// decimals.
func (e *chunk[F, I]) seek(best *plan[I]) pair {
	n := len(e.src)
	*best = plan[I]{bits: n * int(e.m)}
	pr, ok := e.decimals()
	if ok {
		fill(e.ints.v, e.exceptions)
		e.consider(best, &e.ints, Decimal, pr.param())
	}
	if !ok || len(e.exceptions) > 0 || best.bits > n*int(e.m)/4 {
		z := e.order()
		e.consider(best, &e.ordered, Bits, int64(z))
	}
	if best.bits > n*int(e.m)*5/8 && e.cut.hope.ready() {
		e.patterns = patterns(e.patterns, e.src)
		if e.takeSplit(best, e.split(e.m)) {
			e.cut.hope.found()
		} else {
			e.cut.hope.next = max(e.cut.hope.next, 2) // it costs more than all else
			e.cut.hope.failed()
		}
	}
	return pr
}

// takeSplit keeps in best the smaller of it and Split of e.patterns by s, and
// says whether that is the latter.
func (e *chunk[F, I]) takeSplit(best *plan[I], s dictionary) bool {
	exceptions := e.lookup(&s, e.m)
	p := encoding.Params{
		pMode: int64(Split), pDictionary: int64(s.size), pLeftWidth: int64(s.width), pExceptions: int64(exceptions),
	}
	if !e.smaller(best, s.len(len(e.src), exceptions, e.m), &p) {
		return false
	}
	best.split, best.frame = s, frame.Frame{}
	return true
}

// again makes best the mode of the chunk before, with the same decimals or
// dictionary and few exceptions, and if it serves the same frame; or says that
// this will not do.
func (e *chunk[F, I]) again(best *plan[I]) bool {
	mode := Mode(e.last[pMode])
	var r *run[I]
	switch {
	case mode.decimal():
		if !e.with(pairOf(e.last[pPair])) || int64(len(e.exceptions)) > e.last[pExceptions] {
			return false
		}
		r = &e.ints
		fill(r.v, e.exceptions)
	case mode == Bits || mode == BitsDelta:
		r = &e.ordered
		if int64(e.order()) != e.last[pZeros] {
			return false
		}
	case mode == Split:
		e.patterns = patterns(e.patterns, e.src)
		return e.takeSplit(best, e.cut.last)
	default:
		return false
	}
	x, packed := r, r.v
	if mode.delta() {
		x = &e.deltas[0]
		differences(x, r.v)
		packed = x.v[1:]
	}
	f, ok := frame.Again(packed, x.lo, x.hi, len(e.src), e.prev)
	if !ok {
		return false
	}
	e.take(best, r, x, f, mode, e.last[pPair])
	return best.mode() == mode
}

// append appends the body of the chunk that c plans.
func (e *chunk[F, I]) append(dst []byte, c *plan[I]) []byte {
	switch c.mode() {
	case Verbatim:
		return appendRaw(dst, e.src)
	case Split:
		return e.appendSplit(dst, &c.split, e.m)
	case DecimalDelta:
		c.values[0] = I(c.frame.Lead(int64(e.ints.v[0])))
	case BitsDelta:
		c.values[0] = I(c.frame.Lead(int64(e.ordered.v[0])))
	}
	dst = frame.Append(&e.frames, dst, c.frame, c.values)
	if !c.mode().decimal() {
		return dst
	}
	dst = bitpack.AppendPositions(dst, e.exceptions, len(e.src))
	for _, at := range e.exceptions {
		dst = appendRaw(dst, e.src[at:at+1])
	}
	return dst
}

// order sets e.ordered to the order-keeping integers of the chunk and returns
// how many low bits they leave out: as many as in the chunk before, where no
// more than two others are zero.
func (e *chunk[F, I]) order() uint {
	z := zeros(e.src)
	if m := Mode(e.last[pMode]); m == Bits || m == BitsDelta {
		if old := uint(e.last[pZeros]); old <= z && z <= old+2 {
			z = old
		}
	}
	order(&e.ordered, e.src, z)
	return z
}

// consider keeps in best the smallest of it, the plain mode for the integers r,
// and the mode of their differences; p6 is parameter 6.
func (e *chunk[F, I]) consider(best *plan[I], r *run[I], mode Mode, p6 int64) {
	core, coreDelta := frame.CoreOf(r.v, I(r.lo), I(r.hi)), frame.CoreOfDeltas(r.v)
	if core.Span < coreDelta.Span {
		e.fit(best, r, r, core, mode, p6)
		e.fitDeltas(best, r, coreDelta, mode+1, p6)
	} else {
		e.fitDeltas(best, r, coreDelta, mode+1, p6)
		e.fit(best, r, r, core, mode, p6)
	}
}

// fitDeltas is fit of the mode that packs the differences of the integers r.
func (e *chunk[F, I]) fitDeltas(best *plan[I], r *run[I], core frame.Core, mode Mode, p6 int64) {
	if !core.Hopeful(len(r.v), best.bits) {
		return
	}
	d := &e.deltas[0]
	if mode.decimal() {
		d = &e.deltas[1]
	}
	differences(d, r.v)
	e.fit(best, r, d, core, mode, p6)
}

// fit keeps in best the smaller of it and mode, which packs x for the integers
// r, unless most of x lie too far from each other for that.
func (e *chunk[F, I]) fit(best *plan[I], r, x *run[I], core frame.Core, mode Mode, p6 int64) {
	n := len(r.v)
	if !core.Hopeful(n, best.bits) {
		return
	}
	packed := x.v
	if mode.delta() {
		packed = packed[1:]
	}
	e.take(best, r, x, frame.Fit(packed, x.lo, x.hi, core, n, e.prev), mode, p6)
}

// take keeps in best the smaller of it and mode, which packs x, in frame f, for
// the integers r.
func (e *chunk[F, I]) take(best *plan[I], r, x *run[I], f frame.Frame, mode Mode, p6 int64) {
	n := len(r.v)
	p := encoding.Params{pMode: int64(mode), pPair: p6}
	f.Store(&p)
	if mode.delta() {
		p[pFirst] = f.High(int64(r.v[0]), e.m)
	}
	size := f.Len(n)
	if x := len(e.exceptions); mode.decimal() && x > 0 {
		p[pExceptions] = int64(x)
		size += bitpack.PositionsLen(x, n) + x*int(e.m/8)
	}
	if e.smaller(best, size, &p) {
		best.values, best.frame = x.v, f
	}
}

// smaller makes best one with a body of size bytes and parameters p, if that is
// smaller. The body must be shorter than Verbatim's in bytes too.
func (e *chunk[F, I]) smaller(best *plan[I], size int, p *encoding.Params) bool {
	bits := 8*size + p.Distance(&e.last)
	if bits >= best.bits || size >= len(e.src)*int(e.m/8) {
		return false
	}
	best.params, best.bits = *p, bits
	return true
}

// AppendFloat64 appends src in the self-contained form to dst: at most 8 bytes
// a value and 16 for every vector of 1,024.
func AppendFloat64(dst []byte, src []float64) []byte {
	var e Encoder
	return inline.AppendVectors(dst, src, func(dst []byte, v []float64, p *encoding.Params) []byte {
		e.forget()
		return e.AppendFloat64(dst, v, p)
	})
}

// AppendFloat32 is AppendFloat64 for float32, with at most 4 bytes a value.
func AppendFloat32(dst []byte, src []float32) []byte {
	var e Encoder
	return inline.AppendVectors(dst, src, func(dst []byte, v []float32, p *encoding.Params) []byte {
		e.forget()
		return e.AppendFloat32(dst, v, p)
	})
}
