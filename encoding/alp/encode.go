package alp

import (
	"encoding/binary"
	"math"
	"math/bits"

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
	raw        []uint64   // the patterns
	ordered    []int64    // the integers of the same order
	ints       []int64    // the decimals
	deltas     [2][]int64 // the differences of ordered and of ints
	packed     []uint64
	exceptions []uint64 // positions

	last   encoding.Params
	prev   frame.Frame
	search search
	cut    cut
}

// Reset forgets what was learned, as at the start of a segment; the bytes that
// follow depend on the chunks since then alone.
func (e *Encoder) Reset() {
	e.forget()
	e.search = search{}
	e.cut = cut{}
}

// forget forgets the parameters of the chunk before; in line, they cost what
// they are.
func (e *Encoder) forget() { e.last, e.prev = encoding.Params{}, frame.Frame{} }

func (e *Encoder) grow(n int) {
	if cap(e.raw) < n {
		e.raw = make([]uint64, n)
		e.ordered = make([]int64, n)
		e.ints = make([]int64, n)
		e.deltas = [2][]int64{make([]int64, n), make([]int64, n)}
		e.packed = make([]uint64, n)
		e.exceptions = make([]uint64, n)
	}
	e.raw, e.ordered = e.raw[:n], e.ordered[:n]
}

// AppendFloat64 appends the body of src, at most encoding.MaxGroupRows values,
// to dst and sets p. The body is never longer than 8 bytes a value.
func (e *Encoder) AppendFloat64(dst []byte, src []float64, p *encoding.Params) []byte {
	e.grow(len(src))
	for i, x := range src {
		e.raw[i] = math.Float64bits(x)
	}
	return e.append(dst, p, 64)
}

// AppendFloat32 is AppendFloat64 for float32; the body is never longer than 4
// bytes a value.
func (e *Encoder) AppendFloat32(dst []byte, src []float32, p *encoding.Params) []byte {
	e.grow(len(src))
	for i, x := range src {
		e.raw[i] = uint64(math.Float32bits(x))
	}
	return e.append(dst, p, 32)
}

// plan is one way to encode the chunk.
type plan struct {
	params encoding.Params
	values []int64 // what the frame packs
	frame  frame.Frame
	split  dictionary
	bits   int // of body and, by estimate, parameters
}

func (c *plan) mode() Mode { return Mode(c.params[pMode]) }

// append encodes e.raw in the smallest way.
func (e *Encoder) append(dst []byte, p *encoding.Params, m uint) []byte {
	c := e.choose(m)
	*p = c.params
	return e.appendBody(dst, &c, m)
}

// choose finds the smallest way to encode e.raw. It leaves in e what
// appendBody needs.
func (e *Encoder) choose(m uint) plan {
	n := len(e.raw)
	best := plan{bits: n * int(m)}
	if n == 0 {
		return best
	}
	pr, ok := e.decimals(m)
	if ok {
		ints := e.ints[:n]
		fill(ints, e.exceptions)
		e.consider(&best, ints, Decimal, pr.param(), m)
	}
	if !ok || len(e.exceptions) > 0 || best.bits > n*int(m)/4 {
		z := e.order(m)
		e.consider(&best, e.ordered, Bits, z, m)
	}
	if best.bits > n*int(m)*5/8 {
		s := e.split(m)
		e.keep(&best, plan{split: s, params: encoding.Params{
			pMode: int64(Split), pDictionary: int64(s.size), pLeftWidth: int64(s.width),
			pExceptions: int64(s.exceptions(e.raw, m)),
		}}, m)
	}
	if best.mode().decimal() {
		e.search.won(pr)
	} else {
		e.search.known = false
	}
	e.last, e.prev = best.params, best.frame
	return best
}

// appendBody appends the body of e.raw that c plans.
func (e *Encoder) appendBody(dst []byte, c *plan, m uint) []byte {
	switch c.mode() {
	case Verbatim:
		return appendRaw(dst, e.raw, m)
	case Split:
		return e.appendSplit(dst, &c.split, m)
	case Bits, BitsDelta:
		return e.appendFrame(dst, e.ordered[0], c)
	}
	dst = e.appendFrame(dst, e.ints[0], c)
	dst = bitpack.AppendPositions(dst, e.exceptions, len(e.raw))
	u := e.packed[:len(e.exceptions)]
	for i, at := range e.exceptions {
		u[i] = e.raw[at]
	}
	return appendRaw(dst, u, m)
}

// order sets e.ordered to the order-keeping integers of e.raw and returns how
// many low bits they leave out: as many as in the chunk before, where no more
// than two others are zero.
func (e *Encoder) order(m uint) int64 {
	var all uint64
	for _, b := range e.raw {
		all |= b
	}
	var z uint
	if all != 0 {
		z = uint(bits.TrailingZeros64(all))
	}
	if m := Mode(e.last[pMode]); m == Bits || m == BitsDelta {
		if old := uint(e.last[pZeros]); old <= z && z <= old+2 {
			z = old
		}
	}
	if m == 64 {
		for i, b := range e.raw {
			e.ordered[i] = ordered64(int64(b)>>z, z)
		}
	} else {
		for i, b := range e.raw {
			e.ordered[i] = int64(ordered32(int32(b)>>z, z))
		}
	}
	return int64(z)
}

// consider keeps in best the smallest of it, the plain mode for the integers v,
// and the mode of their differences; p6 is parameter 6.
func (e *Encoder) consider(best *plan, v []int64, mode Mode, p6 int64, m uint) {
	delta := mode + 1
	d := e.differences(v, delta, m)
	core, _ := frame.Core(v)
	coreDelta, _ := frame.Core(d)
	if core < coreDelta {
		e.fit(best, v, v, core, mode, p6, m)
		e.fit(best, v, d, coreDelta, delta, p6, m)
	} else {
		e.fit(best, v, d, coreDelta, delta, p6, m)
		e.fit(best, v, v, core, mode, p6, m)
	}
}

// fit keeps in best the smaller of it and mode, which packs the values x for
// the integers v, unless most of x lie too far from each other for that.
func (e *Encoder) fit(best *plan, v, x []int64, core uint64, mode Mode, p6 int64, m uint) {
	n := len(v)
	if !frame.Hopeful(core, n, best.bits) {
		return
	}
	c := plan{params: encoding.Params{pMode: int64(mode), pPair: p6}, values: x}
	lo, hi := frame.Extremes(x)
	c.frame = frame.Fit(x, lo, hi, n, m, e.prev)
	c.frame.Store(&c.params)
	if mode.delta() {
		c.params[pFirst] = c.frame.High(v[0], m)
	}
	if mode.decimal() {
		c.params[pExceptions] = int64(len(e.exceptions))
	}
	e.keep(best, c, m)
}

// differences are those of neighbours in v, the integers of mode.
func (e *Encoder) differences(v []int64, mode Mode, m uint) []int64 {
	d := e.deltas[0]
	if mode.decimal() {
		d = e.deltas[1]
	}
	d = d[:len(v)-1]
	for i := range d {
		d[i] = frame.Wrap(v[i+1]-v[i], m)
	}
	return d
}

// keep replaces best by c if c is smaller. The body must be shorter than
// Verbatim's in bytes too.
func (e *Encoder) keep(best *plan, c plan, m uint) {
	n := len(e.raw)
	l, err := parse(&c.params, n, m)
	if err != nil || l.len >= n*int(m/8) {
		return
	}
	c.bits = 8*l.len + c.params.Distance(&e.last)
	if c.bits < best.bits {
		*best = c
	}
}

// appendFrame packs the integers as the plan says, of which first is the first.
func (e *Encoder) appendFrame(dst []byte, first int64, c *plan) []byte {
	u := e.packed[:len(e.raw)]
	codes := u
	if c.mode().delta() {
		u[0], codes = c.frame.Low(first), u[1:]
	}
	c.frame.Codes(codes, c.values)
	return bitpack.Append(dst, u, c.frame.Shape())
}

// appendRaw appends patterns of m bits, little-endian.
func appendRaw(dst []byte, raw []uint64, m uint) []byte {
	if m == 64 {
		for _, x := range raw {
			dst = binary.LittleEndian.AppendUint64(dst, x)
		}
		return dst
	}
	for _, x := range raw {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(x))
	}
	return dst
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
