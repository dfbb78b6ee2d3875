package alp

import (
	"math"
	"math/bits"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bitpack"
	"github.com/colsst/colsst/simd"
)

// frame is a frame of reference for integers of m bits: a base, a width, and
// patches for those outside.
type frame struct {
	base   int64 // before the shift: parameter 2
	shape  bitpack.Shape
	signed bool // patches are two's complement
}

// offset is the base as it is added.
func (f frame) offset() int64 { return f.base << baseShift(f.shape.Width) }

// mask covers the bits of a packed value, its patch included.
func (f frame) mask() uint64 {
	w := f.shape.Width
	if f.shape.Patches > 0 {
		w += f.shape.PatchWidth
	}
	return ^uint64(0) >> (64 - w)
}

// set writes the frame into parameters.
func (f frame) set(p *encoding.Params) {
	p[pBase] = f.base
	p[pWidth] = int64(f.shape.Width)
	p[pPatches] = int64(f.shape.Patches)
	p[pPatchWidth] = int64(f.shape.PatchWidth)
	if f.signed {
		p[pPatchWidth] = -p[pPatchWidth]
	}
}

// frameOf finds a small frame for the values v, integers of m bits, in a run
// of n; old are the parameters of the chunk before. Patches are used where they
// save n/64 bytes at least, since they cost time at every read.
func frameOf(v []int64, n int, m uint, old *encoding.Params) frame {
	if len(v) == 0 {
		return frame{base: 0}
	}
	lo, hi := v[0], v[0]
	for _, x := range v {
		lo, hi = min(lo, x), max(hi, x)
	}
	w := uint(bits.Len64(uint64(hi - lo)))
	best, ok := closed(lo, hi, w, m, old[pBase])
	if !ok {
		best, _ = closed(lo, hi, w+1, m, old[pBase])
	}
	if w == 0 {
		return best
	}

	// How many lie outside a window of each width: one that begins at the
	// smallest, and one around a typical value.
	mid := typical(v)
	var above, around [66]int
	for _, x := range v {
		above[bits.Len64(uint64(x-lo))]++
		d := (x - mid) << (64 - m) >> (64 - m)
		around[bits.Len64(uint64(d<<1^d>>63))]++
	}
	top := uint(64)
	for around[top] == 0 {
		top--
	}
	nAbove, nAround := 0, 0
	for k := best.shape.Width + 1; k <= top; k++ {
		nAround += around[k]
	}
	// A width other than the chunk before has moves the parameters that are
	// shifted by it.
	moved := func(w uint) int {
		if int64(w) == old[pWidth] {
			return 0
		}
		return movedBits
	}
	limit := best.shape.Len(n) - n/64
	least := 8*limit + moved(best.shape.Width)
	found := false
	var at uint
	var centred bool
	b := bitpack.PositionWidth(n)
	for k := int(best.shape.Width) - 1; k >= 0; k-- {
		nAbove += above[k+1]
		nAround += around[k+1]
		if min(nAbove, nAround) > n/4 {
			break
		}
		k := uint(k)
		packed := 8*simd.PackedLen(n, k) + moved(k)
		if l := packed + nAbove*int(b+w-min(w, k)); l < least {
			least, at, centred, found = l, k, false, true
		}
		if l := packed + nAround*int(b+min(m, top+1)-min(m, top+1, k)); l < least {
			least, at, centred, found = l, k, true, true
		}
	}
	if !found {
		return best
	}

	// The exact size with a base at that place, at a rounder one near by, and
	// at the one of the chunk before.
	s := baseShift(at)
	base := lo >> s
	if centred {
		base = mid >> s
		if at > 0 {
			base = (mid - 1<<(at-1)) >> s
		}
	}
	bestBits := 8*limit + paramBits(best.base-old[pBase]) + moved(best.shape.Width)
	try := func(base int64) {
		if off := base << s; off>>s != base || off<<(64-m)>>(64-m) != off {
			return
		}
		f := open(v, base, at, m)
		if l := f.shape.Len(n); l < limit {
			c := 8*l + paramBits(base-old[pBase]) + moved(at)
			if c < bestBits {
				best, bestBits = f, c
			}
		}
	}
	near := int64(1) << max(at, 4) >> 4 >> s // a sixteenth of the window
	round := roundest(base-near, base+near)
	try(base)
	if round != base {
		try(round)
	}
	if o := old[pBase]; o != base && o != round && base-2*near <= o && o <= base+2*near {
		try(o)
	}
	return best
}

// closed is a frame of width w that holds all of lo to hi without patches, if
// there is one: with the old base where that fits, else with the roundest.
func closed(lo, hi int64, w, m uint, old int64) (frame, bool) {
	f := frame{shape: bitpack.Shape{Width: w}}
	if w >= m {
		f.shape.Width = m
		return f, true
	}
	s := baseShift(w)
	least := hi - (1<<w - 1)
	if bottom := int64(math.MinInt64) >> (64 - m); least < bottom || least > hi {
		least = bottom
	}
	from, to := (least+(1<<s-1))>>s, lo>>s
	switch {
	case from > to:
		return f, false
	case from <= old && old <= to:
		f.base = old
	default:
		f.base = roundest(from, to)
	}
	return f, true
}

// open is the frame of width w < m from base on, all values outside patched.
func open(v []int64, base int64, w, m uint) frame {
	f := frame{base: base, shape: bitpack.Shape{Width: w}}
	off := f.offset()
	var lo, hi int64
	for _, x := range v {
		if h := (x - off) << (64 - m) >> (64 - m + w); h != 0 {
			f.shape.Patches++
			lo, hi = min(lo, h), max(hi, h)
		}
	}
	p := uint(bits.Len64(uint64(hi)))
	if lo < 0 {
		p = 1 + max(p, uint(bits.Len64(uint64(^lo))))
		f.signed = w+p < m
	}
	f.shape.PatchWidth = p
	return f
}

// movedBits estimates what a change of width costs in other parameters.
const movedBits = 12

// roundest is the integer from lo to hi with the most low bits zero.
func roundest(lo, hi int64) int64 {
	if lo <= 0 && hi >= 0 {
		return 0
	}
	for k := 62; k > 0; k-- {
		if x := hi >> k << k; x >= lo {
			return x
		}
	}
	return hi
}

// typical is the median of at most nine of the values.
func typical(v []int64) int64 {
	var s [9]int64
	k := min(len(v), len(s))
	for i := range k {
		x := v[i*(len(v)-1)/max(1, k-1)]
		j := i
		for ; j > 0 && s[j-1] > x; j-- {
			s[j] = s[j-1]
		}
		s[j] = x
	}
	return s[k/2]
}

// paramBits estimates what a parameter costs that differs by d from the one of
// the chunk before.
func paramBits(d int64) int { return bits.Len64(uint64(d<<1 ^ d>>63)) }
