package frame

import (
	"math"
	"math/bits"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bitpack"
	"github.com/colsst/colsst/simd"
)

// Fit is a small frame for the values x, of which lo is the least and hi the
// greatest and core the CoreOf, after a chunk with the frame prev: what Choose
// says, or a frame with patches where that is smaller. The run will hold n
// codes, at least len(x) of them; those beyond need no patch.
func Fit[T Integer](x []T, lo, hi int64, core Core, n int, prev Frame) Frame {
	size := sizeOf[T]()
	best := Choose(lo, hi, n, size, prev)
	if best.Width == 0 || len(x) == 0 {
		return best
	}
	if len(x) >= Samples && uint(bits.Len64(core.Span)) >= best.Width {
		return best // most values need the width
	}
	// Patches must save some bytes, since they cost time at every read.
	limit := best.Len(n) - max(2, n/64)
	r := run[T]{x, lo, hi, n, size, prev}
	w, from, estimate := r.window(core, best.Width, 8*limit+r.move(best.Width))
	if w == best.Width {
		return best
	}

	if len(x) <= few {
		from, w = r.tighten(from, w)
	}

	// The exact size with the base of the chunk before, with one at that place,
	// and with a rounder one near by.
	unit := Shift(w)
	base := int64(T(from)) >> unit
	near := int64(1) << (max(w, 4) - 4) >> unit // a sixteenth of the window
	cost := r.cost(best)
	try := func(base int64) {
		if !Fits(base, size-unit) {
			return
		}
		if f := r.patched(base, w); f.Len(n) < limit {
			if c := r.cost(f); c < cost {
				best, cost = f, c
			}
		}
	}
	p, round := prev.P, base
	if base-near < base+near { // no overflow
		round = roundest(base-near, base+near)
	}
	if d := p - base; -2*near <= d && d <= 2*near {
		if try(p); cost <= estimate+8 {
			return best
		}
	}
	if base != p {
		try(base)
	}
	if round != p && round != base {
		try(round)
	}
	return best
}

// Again is a frame with the base and width of prev for the values x, given as
// to Fit. ok is false where there is none, or where another one is likely to be
// smaller: twice as wide without most of the patches, or half as wide with more
// of them.
func Again[T Integer](x []T, lo, hi int64, n int, prev Frame) (f Frame, ok bool) {
	size, w := sizeOf[T](), prev.Width
	switch {
	case w >= size || len(x) == 0 || !Fits(prev.P, size-Shift(w)):
		return f, false
	case w == 0:
		return Frame{P: prev.P}, lo == hi && lo == prev.P
	}
	r := run[T]{x, lo, hi, n, size, prev}
	f = r.patched(prev.P, w)
	patch := int(bitpack.PositionWidth(n)) + max(f.PatchWidth, -f.PatchWidth)
	if f.Patches*patch > n {
		return f, false
	}
	if w > 4 && huddled(x, w-4) {
		return f, false // most lie together, maybe beside the middle
	}
	// Some of the values are often enough to tell.
	inner, from := 0, T(f.Base()+int64(uint64(1)<<w>>2))
	for len(x) > 0 {
		k := min(len(x), aFew)
		inner += outside(x[:k], from, w-1)
		if (inner-f.Patches)*patch+inner >= n {
			return f, true
		}
		x = x[k:]
	}
	return f, false
}

// aFew values are looked at before the rest is.
const aFew = 256

// huddled reports whether, of a few values, more than three quarters of Samples
// are less than 2^w from one of them.
func huddled[T Integer](x []T, w uint) bool {
	middle, step := x[len(x)/2], max(1, len(x)/Samples)
	apart := (len(x)-1)/step + 1 - Samples*3/4 // how many of them would be too many
	for i := 0; i < len(x) && apart > 0; i += step {
		d := int64(x[i] - middle)
		if (d^d>>63)>>w != 0 {
			apart--
		}
	}
	return apart > 0
}

// run is what Fit is given.
type run[T Integer] struct {
	x      []T
	lo, hi int64
	n      int
	size   uint
	prev   Frame
}

// move is about what a change of the width costs, in bits: other parameters
// are shifted by it.
func (r *run[T]) move(w uint) int {
	if w == r.prev.Width {
		return 0
	}
	return 12
}

// cost estimates the bits that a frame takes, its parameters included.
func (r *run[T]) cost(f Frame) int {
	return 8*f.Len(r.n) + r.move(f.Width) + encoding.Distance(f.P, r.prev.P) +
		encoding.Distance(int64(f.Patches), int64(r.prev.Patches)) +
		encoding.Distance(int64(f.PatchWidth), int64(r.prev.PatchWidth))
}

// window looks for the cheapest window of 2^w values, beginning with from,
// that most values lie in: beside the extreme that is nearer to their centre,
// or around that. The estimate of its cost is in bits, less than limit; w is
// widest where there is none.
func (r *run[T]) window(core Core, widest uint, limit int) (w uint, from int64, estimate int) {
	centre := core.Centre
	top := uint(bits.Len64(uint64(r.hi) - uint64(r.lo)))
	end, sign, topBeside := r.lo, int64(0), top
	if uint64(centre)-uint64(r.lo) > uint64(r.hi)-uint64(centre) {
		end, sign, topBeside = r.hi, -1, top+1 // with a sign
	}
	topAround := r.size
	if top < r.size { // no distance wraps
		topAround = uint(bits.Len64(max(zigzag(r.lo-centre), zigzag(r.hi-centre)))) + 1
	}
	topBeside, topAround = min(topBeside, r.size), min(topAround, r.size)

	w, estimate = widest, limit
	position := bitpack.PositionWidth(r.n)
	var outside [2][8]int // of windows of 2^most, 2^(most-1) ...
	consider := func(k uint, outBeside, outAround int) {
		packed := 8*simd.PackedLen(r.n, k) + r.move(k)
		if c := packed + outBeside*int(position+max(topBeside, k)-k); c < estimate {
			w, estimate = k, c
			if from = r.lo; sign < 0 {
				from = r.hi - int64(uint64(1)<<k-1)
			}
		}
		if c := packed + outAround*int(position+max(topAround, k)-k); c < estimate {
			w, estimate = k, c
			from = centre - int64(uint64(1)<<k>>1)
		}
	}
	// From a little above what the core needs down to where half of the
	// values are outside, then on as long as the packed values alone cost less
	// than the best.
	upper := int(min(topAround, widest))
	first := min(bits.Len64(core.Span)+5, upper-1)
	for most, half := first, false; most >= 0 && !half; most -= len(outside[0]) {
		tails(&outside, r.x, T(end), sign < 0, T(centre), most)
		for i := 0; i <= min(len(outside[0])-1, most) && !half; i++ {
			consider(uint(most-i), outside[0][i], outside[1][i])
			half = min(outside[0][i], outside[1][i]) > len(r.x)/2
		}
	}
	for k := first + 1; k < upper && 8*simd.PackedLen(r.n, uint(k)) < estimate; k += len(outside[0]) {
		most := min(k+len(outside[0]), upper) - 1
		tails(&outside, r.x, T(end), sign < 0, T(centre), most)
		for i := range most - k + 1 {
			consider(uint(most-i), outside[0][i], outside[1][i])
		}
	}
	return w, from, estimate
}

func zigzag(d int64) uint64 { return uint64(d<<1 ^ d>>63) }

func tails[T Integer](t *[2][8]int, x []T, end T, below bool, centre T, most int) {
	switch x := any(x).(type) {
	case []int64:
		simd.Tails64(t, x, int64(end), below, int64(centre), most)
	case []int32:
		simd.Tails32(t, x, int32(end), below, int32(centre), most)
	}
}

// few is the number of values among which windows of powers of two around an
// estimated centre are coarse.
const few = 64

// tighten is the window of the values in the window of 2^w values from from on.
func (r *run[T]) tighten(from int64, w uint) (int64, uint) {
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	for _, v := range r.x {
		if uint64(v-T(from))<<(64-r.size)>>(64-r.size)>>w == 0 {
			lo, hi = min(lo, int64(v)), max(hi, int64(v))
		}
	}
	if narrow := uint(bits.Len64(uint64(hi) - uint64(lo))); lo <= hi && narrow < w {
		if p, ok := quantise(lo, hi, narrow, r.size, r.prev.P); ok {
			lo = p << Shift(narrow)
		}
		return lo, narrow
	}
	return from, w
}

// patched is the frame of width w, less than the size, from base on, with the
// patches it needs.
func (r *run[T]) patched(base int64, w uint) Frame {
	f := Frame{P: base, Width: w}
	off := T(f.Base())
	lo, hi := T(r.lo)-off, T(r.hi)-off // distances to the base; they may wrap
	if b := f.Base(); r.lo >= b && uint64(r.hi)-uint64(b) < 1<<w {
		return f
	}
	f.Patches = outside(r.x, off, w)
	if (lo < 0) != (T(r.lo) < off) || (hi < 0) != (T(r.hi) < off) {
		lo, hi = 0, 0
		for _, v := range r.x {
			lo, hi = min(lo, v-off), max(hi, v-off)
		}
	}
	if f.Patches == 0 {
		return f
	}
	// The bits beyond w.
	f.PatchWidth = bits.Len64(uint64(max(hi, 0) >> w))
	if lo < 0 {
		f.PatchWidth = -1 - max(f.PatchWidth, bits.Len64(uint64(^(lo>>w))))
	}
	return f
}

func outside[T Integer](x []T, from T, w uint) int {
	switch x := any(x).(type) {
	case []int64:
		return simd.Outside64(x, int64(from), w)
	case []int32:
		return simd.Outside32(x, int32(from), w)
	}
	return 0
}
