package rowgroup

import (
	"math"
	"math/bits"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/function"
	"github.com/colsst/colsst/simd"
)

// clock is a kept stream of integers of the groups at hand that is no ramp, times
// with gaps for example, of which others are functions. What parameters say of a
// function of ramps they say of a function of a clock, too: with the ticks of the
// clock since its least value in place of positions.
type clock struct {
	stamp  int64 // of the groups at hand
	stream int
	ticks  []int64 // a value for each unfiltered
	least  int64
	span   int64 // to the greatest, below 2^31; negative: it is no clock
}

// clockOf reports whether stream st is the clock, or can be.
func (d *blockDecoder) clockOf(st int) bool {
	c := &d.clock
	if c.stamp == d.stamp {
		return c.stream == st && c.span >= 0
	}
	e := d.kept(st)
	if e.run == nil && e.run32 == nil {
		return false
	}
	ticks := d.runOf(e)
	least, greatest := simd.MinMaxInt64(ticks)
	*c = clock{d.stamp, st, ticks, least, greatest - least}
	if uint64(c.span) >= 1<<31 {
		c.span = -1
	}
	return c.span >= 0
}

// clocked is a stream of integers that follows the clock: it is First + t*Step and
// what its chunks hold above that, up to Spread, where t are ticks.
type clocked struct {
	encoding.Ramp
	base  []int64 // by group: what the base is a multiple of, if it varies
	least int64   // of base
	unit  int64   // of base
}

// all is the same without a base that varies, but for what lies above.
func (c *clocked) all() encoding.Ramp {
	r := c.Ramp
	for _, x := range c.base {
		r.Spread = max(r.Spread, c.Spread+uint64((x-c.least)*c.unit))
	}
	return r
}

// onClock is how stream st follows the clock in all groups at hand, as their
// parameters say, which differ in the base at most.
func (d *blockDecoder) onClock(st int) (r clocked, ok bool) {
	k := int(d.where[st])
	if k == 0 {
		return r, false
	}
	l, s, v := &d.listed[k], &d.l.streams[st], d.slots(k, d.first)
	switch {
	case l.constant:
		return clocked{Ramp: encoding.Ramp{First: v[slotParam]}}, true
	case !l.byRow || v[slotZstd] != 0 || v[slotID] != int64(encoding.Function) || s.class != ClassInt64:
		if !d.clockOf(st) {
			return r, false
		}
		return clocked{Ramp: encoding.Ramp{First: d.clock.least, Step: 1}}, true
	}
	var in [2]encoding.Ramp
	for i, x := range function.References(v.params()) {
		if i == 1 && x == function.None {
			continue
		}
		if x < 0 || x >= int64(st) || d.l.streams[x].class > ClassInt64 {
			return r, false
		}
		y, ok := d.onClock(int(x))
		if in[i] = y.all(); !ok || !d.clock.within(in[i], math.MinInt64, math.MaxInt64) {
			return r, false
		}
	}
	v = d.slots(k, d.first)
	if !l.level {
		slot := d.dyns[l.from].slot
		if l.to-l.from > 1 || !shifts(v[slotID], slot) {
			return r, false
		}
		r.base = d.column(l.from)[d.first:d.end]
		least, greatest := simd.MinMaxInt64(r.base)
		if least < -1<<40 || greatest > 1<<40 {
			return r, false
		}
		v[slot] = least + 1
		next, _ := function.RampOf(v.params(), 1, in[0], in[1])
		v[slot] = greatest
		if _, ok = function.RampOf(v.params(), 1, in[0], in[1]); !ok {
			return r, false
		}
		v[slot] = least
		r.Ramp, ok = function.RampOf(v.params(), 1, in[0], in[1])
		r.least, r.unit = least, next.First-r.First
		ok = ok && r.unit > 0 && (greatest-least) < 1<<40/r.unit
	} else {
		r.Ramp, ok = function.RampOf(v.params(), 1, in[0], in[1])
	}
	return r, ok && d.clock.stamp == d.stamp && d.clock.within(r.all(), s.least(), s.most())
}

// within reports whether all of r, reckoned without a modulus, lies from least to
// most. It may say no of long steps.
func (c *clock) within(r encoding.Ramp, least, most int64) bool {
	const large = 1 << 31
	if r.Step == 0 {
		return r.Within(1, least, most)
	}
	if r.Step <= -large || r.Step >= large {
		return false
	}
	r.Step *= c.span
	return r.Within(2, least, most)
}

// clocked64 is int64s for a function of the clock; ok is false where st is none.
func (d *blockDecoder) clocked64(dst []int64, st int, sp *span) (ok bool) {
	r, ok := d.clockedRamp(st, sp)
	if !ok {
		return false
	}
	first := r.First - r.Step*d.clock.least
	if r.Spread == 0 && r.base == nil {
		simd.Fill64(dst, first, 0)
	} else if !d.codes(dst, st, sp, first, &r) {
		return false
	}
	simd.AddProducts64(dst, d.clock.ticks, r.Step)
	d.kept(st).run = dst
	return true
}

// clocked32 is clocked64 for values that are kept as int32 and have no codes.
func (d *blockDecoder) clocked32(dst []int32, st int, sp *span) (ok bool) {
	r, ok := d.clockedRamp(st, sp)
	if !ok || r.Spread > 0 || r.base != nil {
		return false
	}
	first, step := int32(r.First-r.Step*d.clock.least), int32(r.Step)
	for i, t := range d.clock.ticks[:len(dst)] {
		dst[i] = first + step*int32(t)
	}
	return true
}

// clockedRamp is onClock of a stream with a value for each unfiltered of sp, all of
// the groups at hand.
func (d *blockDecoder) clockedRamp(st int, sp *span) (r clocked, ok bool) {
	l := &d.listed[d.where[st]]
	if sp.to-sp.from < 2 || !d.whole(sp) || l.constant || l.values[slotID] != int64(encoding.Function) {
		return r, false
	}
	if _, ok := d.ramp(st, d.groups); ok {
		return r, false
	}
	return d.onClock(st)
}

// codes sets dst to first and what the chunks of stream st hold above it, which is
// nothing but packed. ok is false where it is not.
func (d *blockDecoder) codes(dst []int64, st int, sp *span, first int64, r *clocked) (ok bool) {
	w := uint(bits.Len64(r.Spread))
	for g := sp.from; g < sp.to; g++ {
		at, from := d.ref(st, g), g
		n := int(at.count)
		if int(at.len) != r.Len(n) {
			return false
		}
		for n%8 == 0 && g+1 < sp.to && (r.base == nil || r.base[g+1-sp.from] == r.base[from-sp.from]) {
			next := d.ref(st, g+1)
			if next.off != at.off+at.len || int(next.len) != r.Len(int(next.count)) {
				break
			}
			n, at.len, g = n+int(next.count), at.len+next.len, g+1
		}
		above := first
		if r.base != nil {
			above += (r.base[from-sp.from] - r.least) * r.unit
		}
		c := simd.Packed64(d.body[at.off:], w)
		simd.Add64(dst[:n], &c, above)
		dst = dst[n:]
	}
	return true
}
