package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// scan makes prefix sums. It keeps the sum so far in every lane of total.
type scan struct {
	shape
	total, last reg.VecVirtual

	// AVX-512: how sums move up in a register, for sum and for pair.
	one, two []move
}

// move takes lanes from others; those that it does not give are zero.
type move struct {
	from  reg.VecVirtual
	given reg.OpmaskVirtual
}

// move is one by a table of that name: from gives the lane to take, or -1.
func (s shape) move(name string, from func(lane int) int) move {
	m, g, mask := move{ZMM(), K()}, GP32(), uint32(0)
	for lane := range s.lanes() {
		if from(lane) >= 0 {
			mask |= 1 << lane
		}
	}
	VMOVDQU64(table(fmt.Sprintf("%s%d", name, s.size), func(at int) byte {
		if lane := at / s.bytes(); at%s.bytes() == 0 && from(lane) >= 0 {
			return byte(from(lane))
		}
		return 0
	}, 64), m.from)
	MOVL(U32(mask), g)
	KMOVW(g, m.given)
	return m
}

// moved adds to r what m makes of it.
func (c *scan) moved(r reg.VecVirtual, m move) {
	t := ZMM()
	pick(c.shape, VPERMQ_Z, VPERMD_Z)(r, m.from, m.given, t)
	c.add(t, r, r)
}

func (c *scan) setup(first bool) {
	if first {
		c.total = c.broadcast("first")
	}
	if c.avx512 || c.size == 32 {
		c.last = c.constant(uint64(c.lanes() - 1)) // the index of the last lane
	}
	if !c.avx512 {
		return
	}
	// The upper half of each span of lanes takes the sum of the lower half.
	upper := func(span int) func(lane int) int {
		return func(lane int) int {
			if lane%span < span/2 {
				return -1
			}
			return lane/span*span + span/2 - 1
		}
	}
	c.one = []move{c.move("half", upper(c.lanes()/2)), c.move("whole", upper(c.lanes()))}

	// Of two registers, 16 bytes hold the sums of pairs of the first in their
	// lower half, and those of the second in their upper half.
	quarter := c.lanes() / 4
	lane := func(part, half int) int { return part*quarter + half*quarter/2 + quarter/2 - 1 } // the last of them
	half := func(i int) int { return i % quarter / (quarter / 2) }
	c.two = []move{
		c.move("pairs1_", func(i int) int {
			if i/quarter%2 == 0 {
				return -1
			}
			return lane(i/quarter-1, half(i))
		}),
		c.move("pairs2_", func(i int) int {
			if i/quarter < 2 {
				return -1
			}
			return lane(1, half(i))
		}),
		c.move("pairs3_", func(i int) int {
			if half(i) == 0 {
				return -1
			}
			return lane(3, 0)
		}),
	}
}

// pair is sum of two registers, of which q follows r. The sums of neighbours
// are fewer to sum.
func (c *scan) pair(r, q reg.VecVirtual) {
	even, odd, sums, last := ZMM(), ZMM(), ZMM(), ZMM()
	if c.size == 64 {
		VPUNPCKLQDQ(q, r, even)
		VPUNPCKHQDQ(q, r, odd)
		VPADDQ(even, odd, sums)
	} else {
		VSHUFPS(U8(0x88), q, r, even)
		VSHUFPS(U8(0xdd), q, r, odd)
		VPADDD(even, odd, sums)
		VPSLLQ(U8(32), sums, even)
		VPADDD(even, sums, sums)
	}
	for _, m := range c.two {
		c.moved(sums, m)
	}
	pick(c.shape, VPERMQ, VPERMD)(sums, c.last, last)
	c.add(c.total, sums, sums)
	c.add(last, c.total, c.total)
	c.sub(odd, sums, even)
	pick(c.shape, VPUNPCKLQDQ, VPUNPCKLDQ)(sums, even, r)
	pick(c.shape, VPUNPCKHQDQ, VPUNPCKHDQ)(sums, even, q)
}

// sum is the inclusive sums of r, after all before.
func (c *scan) sum(r reg.VecVirtual) {
	for n := c.bytes(); n < 16; n *= 2 {
		t := c.vec()
		VPSLLDQ(U8(n), r, t)
		c.add(t, r, r)
	}
	if c.avx512 {
		for _, m := range c.one {
			c.moved(r, m)
		}
	} else {
		t := YMM()
		VPERM2I128(U8(0x08), r, r, t) // the lower half above zeros
		VPSHUFD(U8(pick(c.shape, 0xee, 0xff)), t, t)
		c.add(t, r, r)
	}
	last := c.vec()
	switch {
	case c.size == 32:
		VPERMD(r, c.last, last)
	case c.avx512:
		VPERMQ(r, c.last, last)
	default:
		VPERMQ(U8(0xff), r, last)
	}
	c.add(c.total, r, r)
	c.add(last, c.total, c.total)
}

// summed is d on the prefix sums of the integers plus add.
func summed(s shape, d decoder, params string) decoder {
	c := &scan{shape: s}
	var a reg.VecVirtual
	each := d.each
	if each == nil {
		each = func(r reg.VecVirtual, _ reg.Register) reg.VecVirtual { return r }
	}
	setup, finish := d.setup, d.finish
	d.params = params
	d.result, d.restype = "last", s.int()
	d.setup = func() {
		if setup != nil {
			setup()
		}
		a = s.broadcast("add")
		c.setup(true)
	}
	d.each = func(r reg.VecVirtual, k reg.Register) reg.VecVirtual {
		s.add(a, r, r)
		c.sum(r)
		return each(r, k)
	}
	d.pair = func(r, q reg.VecVirtual) (v, u reg.VecVirtual) {
		s.add(a, r, r)
		s.add(a, q, q)
		c.pair(r, q)
		return each(r, nil), each(q, nil)
	}
	d.finish = func() {
		s.result(c.total, "last")
		if finish != nil {
			finish()
		}
	}
	return d
}

func identity(r reg.VecVirtual, _ reg.Register) reg.VecVirtual { return r }

func sum(s shape) decoder {
	return summed(s, decoder{name: "Sum", each: identity}, "first, add "+s.int())
}

// accumulate sums integers as they are.
func accumulate(s shape) decoder {
	c := &scan{shape: s}
	return decoder{
		name: "Accumulate", params: "first " + s.int(), result: "last", restype: s.int(),
		setup:  func() { c.setup(true) },
		each:   func(r reg.VecVirtual, _ reg.Register) reg.VecVirtual { c.sum(r); return r },
		pair:   func(r, q reg.VecVirtual) (v, u reg.VecVirtual) { c.pair(r, q); return r, q },
		finish: func() { s.result(c.total, "last") },
	}
}
