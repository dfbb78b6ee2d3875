package frame

import (
	"math"
	"math/bits"
	"slices"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bitpack"
	"github.com/colsst/colsst/simd"
)

// Fit is a small frame for the values x, of which lo is the least and hi the
// greatest and core the CoreOf, after a chunk with the frame prev: what Choose
// says, or a frame with patches where that is smaller. The run will hold n
// codes, at least len(x) of them; those beyond need no patch.
func Fit[T Integer](s *Scratch, x []T, lo, hi int64, core Core, n int, prev Frame) Frame {
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
	r := run[T]{s, x, lo, hi, n, size, prev}
	w, from, estimate := r.window(core.Centre, best.Width, 8*limit+r.move(best.Width))
	if w == best.Width {
		return best
	}

	if len(x) <= few {
		from, w = r.tighten(from, w)
	}

	// The exact size with the base of the chunk before, with one at that place,
	// and with a rounder one near by.
	unit := shift(w)
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

// run is what Fit is given.
type run[T Integer] struct {
	*Scratch
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
func (r *run[T]) window(centre int64, widest uint, limit int) (w uint, from int64, estimate int) {
	top := uint(bits.Len64(uint64(r.hi) - uint64(r.lo)))
	end, sign, topBeside := r.lo, int64(0), top
	if uint64(centre)-uint64(r.lo) > uint64(r.hi)-uint64(centre) {
		end, sign, topBeside = r.hi, -1, top+1 // with a sign
	}

	// The values by the bits of their distance.
	r.beside, r.around = resize(r.beside, len(r.x)), resize(r.around, len(r.x))
	lengths(r.beside, r.around, r.x, T(end), sign < 0, T(centre))
	topAround := uint(bits.Len64(max(zigzag(r.lo-centre), zigzag(r.hi-centre))))
	if top >= r.size { // distances may wrap
		topAround = uint(slices.Max(r.around))
	}
	topBeside, topAround = min(topBeside, r.size), min(topAround+1, r.size)

	w, estimate = widest, limit
	position := bitpack.PositionWidth(r.n)
	var nBeside, nAround [8]int // outside of windows of 2^k
	for most := int(min(topAround, widest)) - 1; most >= 0; most -= len(nBeside) {
		simd.CountAbove(&nBeside, r.beside, most)
		simd.CountAbove(&nAround, r.around, most)
		for i := range min(len(nBeside), most+1) {
			k := uint(most - i)
			packed := 8*simd.PackedLen(r.n, k) + r.move(k)
			if c := packed + nBeside[i]*int(position+max(topBeside, k)-k); c < estimate {
				w, estimate = k, c
				if from = r.lo; sign < 0 {
					from = r.hi - int64(uint64(1)<<k-1)
				}
			}
			if c := packed + nAround[i]*int(position+max(topAround, k)-k); c < estimate {
				w, estimate = k, c
				from = centre - int64(uint64(1)<<k>>1)
			}
			if min(nBeside[i], nAround[i]) > len(r.x)/2 {
				return w, from, estimate
			}
		}
	}
	return w, from, estimate
}

func zigzag(d int64) uint64 { return uint64(d<<1 ^ d>>63) }

func lengths[T Integer](beside, around []byte, x []T, end T, below bool, centre T) {
	switch x := any(x).(type) {
	case []int64:
		simd.Lengths64(beside, around, x, int64(end), below, int64(centre))
	case []int32:
		simd.Lengths32(beside, around, x, int32(end), below, int32(centre))
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
			lo = p << shift(narrow)
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

// Scratch is the memory of Fit and Append. Its zero value is ready. It is not
// for concurrent use.
type Scratch struct {
	beside, around []byte   // bits of distances
	mask           []byte   // bits of patches
	pos, high      []uint64 // of patches
}

// resize is s with n elements, whose values are not defined.
func resize[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n)
	}
	return s[:n]
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
