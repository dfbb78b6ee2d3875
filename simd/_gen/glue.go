package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// glue puts floats together from an entry of a table and packed low bits. The
// codes of the entries of a group lie within 8 bytes, which a plain load reads
// for every lane.
func glue(s shape) {
	const group = 8
	params := fmt.Sprintf("lefts []byte, leftWidth uint, rights []byte, width uint, table *[8]%s", s.uint())
	cond := fmt.Sprintf("len(dst) > 0 && width > 0 && oneWindow(width, %d)", s.size)
	if !s.avx512 {
		cond = fmt.Sprintf("len(dst) >= %d && width > 0 && oneWindow(width, %d) && cap(rights) >= 16", group, s.size)
	}
	taken := s.done("len(dst)", group)
	calls.add(s.avx512, fmt.Sprintf("glue%d(dst []%s, %s) (done int, top %s)", s.size, s.float(), params, s.uint()), "0, 0",
		cond+" && cap(lefts) >= len(lefts)+8",
		fmt.Sprintf("top = %s(&dst[0], %s, &rights[0], cap(rights), &unpackTables[%d][%d][width][0], width, &lefts[:1][0], leftWidth, table)\nreturn %[2]s, top",
			s.name("glue"), taken, pick(s, 1, 0), s.tier()))

	text(s.name("glue"), fmt.Sprintf("(dst *%s, n int, src *byte, size int, unpack *byte, width uint, lefts *byte, leftWidth uint, entries *[8]%s) (top %[2]s)", s.float(), s.uint()))
	dst, n := gp("dst"), gp("n")
	c := &codes{shape: s, packed: true, src: gp("src"), tableParam: "unpack"}
	c.setup()
	lefts, step := gp("lefts"), gp("leftWidth")

	// Codes of lane i begin at bit i*leftWidth.
	width, bits := s.vec(), XMM()
	s.spread(pick[reg.Register](s, step, step.As32()), width)
	at := make([]reg.VecVirtual, c.regs())
	for i := range at {
		at[i] = s.vec()
		lanes := s.iota().Offset(i * s.width())
		if s.size == 64 {
			VPMULUDQ(lanes, width, at[i])
		} else {
			VPMULLD(lanes, width, at[i])
		}
	}
	mask, g := s.ones(), GP64()
	MOVQ(U32(uint32(s.size)), g)
	SUBQ(step, g)
	VMOVQ(g, bits)
	s.shiftRight(bits, mask, mask)
	look := s.lookup(gp("entries"))
	top := s.zero()
	if s.lanes() == 16 {
		ADDQ(step, step)
	}
	step3 := GP64()
	LEAQ(Mem{Base: step, Index: step, Scale: 2}, step3)
	c.follow = func(count int) {
		if count == 4 {
			LEAQ(Mem{Base: lefts, Index: step, Scale: 4}, lefts)
		} else {
			ADDQ(step, lefts)
		}
	}
	size := c.regs() * s.width()
	emit := func(i int, tail bool, lanes reg.OpmaskVirtual) {
		m := Mem{Base: lefts}
		switch {
		case i == 3:
			m = Mem{Base: lefts, Index: step3, Scale: 1}
		case i > 0:
			m = Mem{Base: lefts, Index: step, Scale: uint8(i)}
		}
		for j, r := range c.load(i, tail, lanes) {
			code := s.vec()
			switch {
			case s.size == 64:
				VPBROADCASTQ(m, code)
				VPSRLVQ(at[j], code, code)
			case s.avx512:
				VPBROADCASTQ(m, code)
				VPMULTISHIFTQB(code, at[j], code)
			default:
				VPBROADCASTD(m, code)
				VPSRLVD(at[j], code, code)
			}
			s.and(mask, code, code)
			var k reg.Register
			if s.avx512 && tail {
				k = lanes
			}
			s.greatest(code, top, k)
			look(code)
			pick(s, VPSRLVQ, VPSRLVD)(c.shift(j), r, r)
			if s.avx512 {
				VPTERNLOGQ(U8(0xec), c.mask, code, r) // r & mask | code
			} else {
				VPAND(c.mask, r, r)
				VPOR(code, r, r)
			}
			to := Mem{Base: dst, Disp: i*size + j*s.width()}
			if k != nil {
				pick(s, VMOVDQU64, VMOVDQU32)(r, k, to)
			} else {
				s.store(r, to)
			}
		}
		c.loaded(tail)
	}
	c.groups(n, c.regs()*s.lanes(), dst, size, emit, times4(emit))
	Label("done")
	s.reduce(false, top, "top")
	ret()
}

// greatest is the greater of a and r, integers of a few bits, in r. Lanes
// outside of k, where there is one, stay as they are.
func (s shape) greatest(a, r reg.VecVirtual, k reg.Register) {
	switch {
	case !s.avx512:
		VPMAXUD(a, r, r)
	case k != nil:
		pick(s, VPMAXUQ, VPMAXUD)(a, r, k, r)
	default:
		pick(s, VPMAXUQ, VPMAXUD)(a, r, r)
	}
}

// lookup replaces codes below 8 by their entries.
func (s shape) lookup(entries reg.Register) func(code reg.VecVirtual) {
	table := s.vec()
	switch {
	case s.avx512 && s.size == 64:
		VMOVDQU64(Mem{Base: entries}, table)
		return func(code reg.VecVirtual) { VPERMQ(table, code, code) }
	case s.avx512:
		VBROADCASTI32X8(Mem{Base: entries}, table)
		return func(code reg.VecVirtual) { VPERMD(table, code, code) }
	case s.size == 32:
		VMOVDQU(Mem{Base: entries}, table)
		return func(code reg.VecVirtual) { VPERMD(table, code, code) }
	}
	lower, upper, t := table, YMM(), YMM()
	VMOVDQU(Mem{Base: entries}, t)
	VMOVDQU(Mem{Base: entries, Disp: 32}, upper)
	VSHUFPS(U8(0x88), upper, t, lower) // 0 1 4 5, 2 3 6 7
	VSHUFPS(U8(0xdd), upper, t, upper)
	VPERMQ(U8(0xd8), lower, lower)
	VPERMQ(U8(0xd8), upper, upper)
	return func(code reg.VecVirtual) {
		t := YMM()
		VPERMD(lower, code, t)
		VPERMD(upper, code, code)
		VPSLLQ(U8(32), code, code)
		VPBLENDD(U8(0x55), t, code, code) // the even halves of t
	}
}
