// Package function packs an int64 column as a function of columns of the same
// chunk that are decoded before it: a write time from the time of the row, an
// expiry from a write time and a TTL. Encoding ID: function.
//
// # Form
//
// Value i is
//
//	v[i] = floor(a*x[i] / d) + y[i] + base + s[i]
//
// where x and y are the other columns (without y: y[i] = 0), and base + s[i]
// is the value of code i of a frame of reference (package frame).
// Products and sums wrap modulo 2^64; the division is of the wrapped product
// as a signed integer, rounded towards minus infinity.
//
//	p0  a
//	p1  d, at least 1
//	p2  base            }
//	p3  width           } the frame
//	p4  patch count     }
//	p5  patch width     } (negative: see package frame)
//	p6  1 + the reference of x
//	p7  1 + the reference of y, 0 without y
//
// A reference is a small number, at least 0, by which the caller knows a
// column; this package only carries it.
//
// The body is the packed run of the n codes (package bitpack): nothing at all
// where the width is 0 and no value is patched.
package function

import (
	"math"
	"math/bits"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/internal/frame"
	"github.com/colsst/colsst/simd"
)

const part = "function values"

// The parameters beside those of the frame.
const (
	paramA = 0
	paramD = 1
	paramX = 6
	paramY = 7
)

// None is the reference of y in a plan without y.
const None = -1

// Plan is a function floor(A*x/D) + y of the columns X and Y.
type Plan struct {
	A, D int64 // D is at least 1
	X, Y int64 // references, at least 0; Y may be None
}

// PlanOf is the plan that parameters p hold. It checks A, D, X and Y; the
// error is a CorruptError.
func PlanOf(p *encoding.Params) (Plan, error) {
	plan := Plan{A: p[paramA], D: p[paramD], X: p[paramX] - 1, Y: p[paramY] - 1}
	switch {
	case plan.D < 1:
		return Plan{}, encoding.Corruptf(part, "divisor %d", plan.D)
	case p[paramX] < 1 || p[paramY] < 0:
		return Plan{}, encoding.Corruptf(part, "columns %d and %d", plan.X, plan.Y)
	}
	return plan, nil
}

// References are those of x and y that parameters p hold, unchecked.
func References(p *encoding.Params) [2]int64 { return [2]int64{p[paramX] - 1, p[paramY] - 1} }

// Len is the length in bytes of the body of n values with parameters p. It
// checks all of p: the error is a CorruptError.
func Len(p *encoding.Params, n int) (int, error) {
	_, f, err := load(p, n)
	return f.Len(n), err
}

func load(p *encoding.Params, n int) (Plan, frame.Frame, error) {
	plan, err := PlanOf(p)
	if err != nil {
		return Plan{}, frame.Frame{}, err
	}
	f, err := frame.Load(part, p, n, 64)
	return plan, f, err
}

// RampOf is what parameters p say of n values of a function of columns that are
// ramps; y is the zero Ramp where there is none. Where that is a ramp, ok is set:
// p is then such as Len accepts, and the body takes encoding.Ramp.Len bytes.
func RampOf(p *encoding.Params, n int, x, y encoding.Ramp) (r encoding.Ramp, ok bool) {
	a, d := p[paramA], p[paramD]
	f, ok := frame.LoadPlain(p, 64)
	if !ok || d < 1 || p[paramX] < 1 || p[paramY] < 0 || y.Spread > 0 {
		return r, false
	}
	r = encoding.Ramp{First: f.Base() + y.First, Step: y.Step, Spread: f.Greatest()}
	if d == 1 && x.Spread == 0 {
		r.First += a * x.First
		r.Step += a * x.Step
		return r, true
	}
	// Where the steps are whole multiples of d, what is above them is in the same
	// place of all.
	step := x.Step / d
	if a != 1 || step*d != x.Step || !x.Within(n, math.MinInt64, math.MaxInt64) {
		return r, false
	}
	q, above := floor(x.First, d)
	r.First += q
	r.Step += step
	return r, x.Spread < uint64(d-above)
}

// floor is x/d rounded towards minus infinity, and what remains, for d of at
// least 1.
func floor(x, d int64) (q, rest int64) {
	q = x / d
	if rest = x - q*d; rest < 0 {
		return q - 1, rest + d
	}
	return q, rest
}

// Fit estimates the bits a value of src would take under plan, outliers not
// counted, from a few values: enough to choose between plans. x and y are as
// in Encoder.Append.
func Fit(src, x, y []int64, plan Plan) (width uint) {
	var vs, xs, ys [frame.Samples]int64
	few := min(len(src), len(vs))
	for i := range few {
		at := (2*i + 1) * len(src) / (2 * few)
		vs[i], xs[i] = src[at], x[at]
		if y != nil {
			ys[i] = y[at]
		}
	}
	subtract(vs[:few], vs[:few], xs[:], ys[:], plan)
	return uint(bits.Len64(frame.CoreOfSample(vs[:few]).Span))
}

// Encoder holds the scratch of encoding and the frame of the chunk before. Its
// zero value is ready. It is not for concurrent use.
type Encoder struct {
	prev   frame.Frame
	fit    frame.Rest // of the search for prev
	rest   []int64
	frames frame.Scratch
}

// Reset forgets the chunk before, as at the start of a segment. The scratch
// is kept.
func (e *Encoder) Reset() { e.prev, e.fit = frame.Frame{}, frame.Rest{} }

// Append appends the body of one chunk to dst and sets all of p. x, and y
// unless it is nil, are as long as src; nothing of them is kept. Any values
// will do; those that the plan does not fit take up to 8 bytes each. It
// panics on a plan that PlanOf would not return.
func (e *Encoder) Append(dst []byte, src, x, y []int64, plan Plan, p *encoding.Params) []byte {
	*p = encoding.Params{paramA: plan.A, paramD: plan.D, paramX: plan.X + 1, paramY: plan.Y + 1}
	if _, err := PlanOf(p); err != nil || (y == nil) != (plan.Y == None) && len(src) > 0 {
		panic("function: invalid plan")
	}
	n := len(src)
	if n == 0 {
		return dst
	}
	rest := e.room(n)
	lo, hi := subtract(rest, src, x, y, plan)
	f, rests := frame.Choose(lo, hi, n, 64, e.prev), e.fit.Turn()
	if !rests || f != e.prev {
		f = frame.Fit(rest, lo, hi, frame.CoreOf(rest, lo, hi), n, e.prev)
		e.fit.Found(f == e.prev, 1, 15)
	}
	e.prev = f
	f.Store(p)
	return frame.Append(&e.frames, dst, f, rest)
}

// BaseOf is what all values of src, at least one, have beside those of plan; ok
// is false where they do not have the same. x and y are as for Append.
func (e *Encoder) BaseOf(src, x, y []int64, plan Plan) (base int64, ok bool) {
	lo, hi := subtract(e.room(len(src)), src, x, y, plan)
	return lo, lo == hi
}

// ParamsOf are the parameters that Append gives values with a base by BaseOf;
// their body is empty.
func ParamsOf(plan Plan, base int64) (p encoding.Params) {
	p = encoding.Params{paramA: plan.A, paramD: plan.D, paramX: plan.X + 1, paramY: plan.Y + 1}
	frame.Frame{P: base}.Store(&p)
	return p
}

// room is scratch for n values.
func (e *Encoder) room(n int) []int64 {
	if cap(e.rest) < n {
		e.rest = make([]int64, n)
	}
	return e.rest[:n]
}

// Decoder holds the scratch of decoding; its zero value is ready. It is not
// for concurrent use.
type Decoder struct {
	codes []uint64
	x     []int64 // of a progression
}

// Column is a column that a function refers to: its values, or, where Values is
// nil, a progression that begins with First and goes on by Step, modulo 2^64.
// Progressions cost nothing to add.
type Column struct {
	Values      []int64
	First, Step int64
}

// Decode fills dst from the body and parameters of its values, and from the
// columns x and y that PlanOf(p) refers to, decoded, as long as dst; y is nil
// where the plan has none. body is exactly Len(p, len(dst)) bytes; dst does
// not overlap x or y. Bad input, columns of another length included, gives a
// CorruptError and leaves dst partly written.
func (d *Decoder) Decode(dst, x, y []int64, p *encoding.Params, body []byte) error {
	n := len(dst)
	plan, f, err := load(p, n)
	switch {
	case err != nil:
		return err
	case len(x) != n:
		return encoding.Corruptf(part, "%d values from %d of column %d", n, len(x), plan.X)
	case plan.Y == None:
		y = nil
	case len(y) != n:
		return encoding.Corruptf(part, "%d values from %d of column %d", n, len(y), plan.Y)
	}
	return d.decode(dst, &Column{Values: x}, &Column{Values: y}, &plan, &f, body)
}

// DecodeColumns is Decode of columns of either kind. Those with values are as
// long as dst; y is the zero Column where the plan has none.
func (d *Decoder) DecodeColumns(dst []int64, x, y *Column, p *encoding.Params, body []byte) error {
	plan, f, err := load(p, len(dst))
	if err != nil {
		return err
	}
	for _, c := range []*Column{x, y} {
		if c.Values != nil && len(c.Values) != len(dst) {
			return encoding.Corruptf(part, "%d values from %d", len(dst), len(c.Values))
		}
	}
	return d.decode(dst, x, y, &plan, &f, body)
}

func (d *Decoder) decode(dst []int64, x, y *Column, plan *Plan, f *frame.Frame, body []byte) error {
	n := len(dst)
	if len(body) != f.Len(n) {
		return encoding.Corruptf(part, "%d bytes, want %d", len(body), f.Len(n))
	}
	// The codes and all progressions are one ramp.
	start := f.Base()
	step := int64(0)
	xs := x.Values
	switch {
	case xs != nil:
	case plan.D == 1:
		start, step = start+plan.A*x.First, plan.A*x.Step
	default:
		if len(d.x) < n {
			d.x = make([]int64, n)
		}
		xs = d.x[:n]
		simd.Fill64(xs, x.First, x.Step)
	}
	if y.Values == nil {
		start, step = start+y.First, step+y.Step
	}
	if len(body) == 0 {
		simd.Fill64(dst, start, step)
	} else {
		u := simd.Packed64(body, f.Width)
		if f.Patches > 0 {
			var err error
			if u, err = f.Patched64(part, body, n, 0, &d.codes); err != nil {
				return err
			}
		}
		if step == 0 {
			simd.Add64(dst, &u, start)
		} else {
			simd.Ramp64(dst, &u, start, step)
		}
	}
	switch {
	case xs == nil:
	case plan.D == 1:
		simd.AddProducts64(dst, xs, plan.A)
	default:
		simd.AddQuotients64(dst, xs, plan.A, plan.D)
	}
	if y.Values != nil {
		simd.AddProducts64(dst, y.Values, 1)
	}
	return nil
}

// subtract sets dst to the values of src less the function, and returns the
// least and the greatest of them. dst may be src.
func subtract(dst, src, x, y []int64, plan Plan) (least, greatest int64) {
	if plan.D == 1 {
		least, greatest = simd.SubProducts64(dst, src, x, plan.A)
	} else {
		copy(dst, src)
		simd.SubQuotients64(dst, x, plan.A, plan.D)
		if y == nil {
			return simd.MinMaxInt64(dst)
		}
	}
	if y != nil {
		least, greatest = simd.SubProducts64(dst, dst, y, 1)
	}
	return least, greatest
}
