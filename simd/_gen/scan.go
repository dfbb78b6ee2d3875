package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// scans writes the kernels that look at every value once: differences,
// integers of the order of floats, extremes.
func scans(s shape) {
	deltas(s)
	order(s)
	extremes(s, false)
	extremes(s, true)
	ascents(s)
}

// ascents counts the neighbours of which the second is greater.
func ascents(s shape) {
	least := s.lanes() + 1
	if s.avx512 {
		least = 2
	}
	n := s.done("(len(src) - 1)", s.lanes())
	calls.add(s.avx512, fmt.Sprintf("ascents%d(src []%s, flip %[2]s) (done, count int)", s.size, s.int()), "0, 0",
		fmt.Sprintf("len(src) >= %d", least),
		fmt.Sprintf("count = %s(&src[0], %s, flip)\nreturn %[2]s, count", s.name("ascents"), n))
	text(s.name("ascents"), fmt.Sprintf("(src *%s, n int, flip %[1]s) (count int)", s.int()))
	src, left := gp("src"), gp("n")
	flip := s.broadcast("flip")
	count := GP64()
	XORQ(count, count)
	s.each(left, func(lanes reg.Register) {
		a, b, g := s.vec(), s.vec(), GP64()
		s.masked(Mem{Base: src}, lanes, a)
		s.masked(Mem{Base: src, Disp: s.bytes()}, lanes, b)
		ADDQ(U8(s.width()), src)
		s.xor(flip, a, a)
		s.xor(flip, b, b)
		if s.avx512 {
			k := K()
			if lanes == nil {
				pick(s, VPCMPGTQ, VPCMPGTD)(a, b, k)
			} else {
				pick(s, VPCMPGTQ, VPCMPGTD)(a, b, lanes, k)
			}
			KMOVQ(k, g)
		} else {
			pick(s, VPCMPGTQ, VPCMPGTD)(a, b, a)
			pick(s, VMOVMSKPD, VMOVMSKPS)(a, g.As32())
		}
		POPCNTQ(g, g)
		ADDQ(g, count)
	})
	Store(count, Return("count"))
	ret()
}

// each runs body over n values from the end of the parameters on: whole
// registers, and with AVX-512 the rest under a mask of lanes.
func (s shape) each(n reg.GPVirtual, body func(lanes reg.Register)) {
	SUBQ(U8(s.lanes()), n)
	JL(LabelRef("rest"))
	loop("loop")
	body(nil)
	SUBQ(U8(s.lanes()), n)
	JGE(LabelRef("loop"))
	Label("rest")
	if s.avx512 {
		ADDQ(U8(s.lanes()), n)
		JZ(LabelRef("done"))
		body(lowBits(n, s.lanes()))
		Label("done")
	}
}

// masked is a load of the lanes.
func (s shape) masked(m Mem, lanes reg.Register, r reg.VecVirtual) {
	if lanes == nil {
		s.load(m, r)
	} else {
		pick(s, VMOVDQU64_Z, VMOVDQU32_Z)(m, lanes, r)
	}
}

func (s shape) put(r reg.VecVirtual, lanes reg.Register, m Mem) {
	if lanes == nil {
		s.store(r, m)
	} else {
		pick(s, VMOVDQU64, VMOVDQU32)(r, lanes, m)
	}
}

// bounds begins a search for the least and the greatest.
func (s shape) bounds() (least, greatest reg.VecVirtual) {
	top := uint64(1) << (s.size - 1)
	return s.constant(top - 1), s.constant(top)
}

func (s shape) scan(name, in, out string, params, args string) {
	results := fmt.Sprintf("least, greatest %s", s.int())
	if out != "" {
		params = fmt.Sprintf("dst []%s, src []%s%s", out, in, params)
		args = "&dst[0], &src[0], " + s.done("len(dst)", s.lanes()) + args
	} else {
		params = fmt.Sprintf("src []%s", in)
		args = "&src[0], " + s.done("len(src)", s.lanes())
	}
	of := "len(src)"
	if out != "" {
		of = "len(dst)"
	}
	vars := "least, greatest"
	otherwise := "0, 0, 0"
	if in == s.float() && out == "" {
		results += ", nans int"
		vars += ", nans"
		otherwise += ", 0"
	}
	least := s.lanes()
	if s.avx512 {
		least = 1
	}
	calls.add(s.avx512, fmt.Sprintf("%s%d(%s) (done int, %s)", name, s.size, params, results), otherwise, fmt.Sprintf("%s >= %d", of, least),
		fmt.Sprintf("%s = %s(%s)\nreturn %s, %[1]s", vars, s.name(name), args, s.done(of, s.lanes())))
}

// deltas writes the differences of neighbours.
func deltas(s shape) {
	s.scan("deltas", s.int(), s.int(), "", "")
	text(s.name("deltas"), fmt.Sprintf("(dst, src *%[1]s, n int) (least, greatest %[1]s)", s.int()))
	dst, src, n := gp("dst"), gp("src"), gp("n")
	least, greatest := s.bounds()
	// The values before come from the register before: a second load of them
	// would often seem to meet the store of the turn before.
	last := s.vec()
	pick(s, VPBROADCASTQ, VPBROADCASTD)(Mem{Base: src}, last)
	body := func(lanes reg.Register) {
		a, b := s.vec(), s.vec()
		s.masked(Mem{Base: src, Disp: s.bytes()}, lanes, b)
		if s.avx512 {
			pick(s, VALIGNQ, VALIGND)(U8(s.lanes()-1), last, b, a)
			VMOVDQA64(b, last)
		} else {
			VPERM2I128(U8(0x21), b, last, a)
			VPALIGNR(U8(16-s.bytes()), a, b, a)
			VMOVDQA(b, last)
		}
		s.sub(a, b, b)
		s.put(b, lanes, Mem{Base: dst})
		s.extreme(true, b, least, lanes)
		s.extreme(false, b, greatest, lanes)
		ADDQ(U8(s.width()), src)
		ADDQ(U8(s.width()), dst)
	}
	if s.avx512 {
		// There is one difference less than values, so that there are nearly
		// always some left. The last register overlaps the one before: loads
		// under a mask that begin close to the end of a page take long.
		SUBQ(U8(s.lanes()), n)
		JL(LabelRef("few"))
		Label("whole")
		body(nil)
		SUBQ(U8(s.lanes()), n)
		JGE(LabelRef("whole"))
		CMPQ(n, I8(-s.lanes()))
		JEQ(LabelRef("done"))
		LEAQ(Mem{Base: src, Index: n, Scale: uint8(s.bytes())}, src)
		LEAQ(Mem{Base: dst, Index: n, Scale: uint8(s.bytes())}, dst)
		s.load(Mem{Base: src, Disp: s.bytes()}, last)
		s.sub(Mem{Base: src}, last, last)
		s.store(last, Mem{Base: dst})
		s.extreme(true, last, least, nil)
		s.extreme(false, last, greatest, nil)
		JMP(LabelRef("done"))
		Label("few")
		ADDQ(U8(s.lanes()), n)
		body(lowBits(n, s.lanes()))
		Label("done")
	} else {
		s.each(n, body)
	}
	s.reduce(true, least, "least")
	s.reduce(false, greatest, "greatest")
	ret()
}

// order writes the integers of the order of floats.
func order(s shape) {
	s.scan("order", s.float(), s.int(), ", zeros uint", ", zeros")
	text(s.name("order"), fmt.Sprintf("(dst *%s, src *%s, n int, zeros uint) (least, greatest %[1]s)", s.int(), s.float()))
	dst, src, n := gp("dst"), gp("src"), gp("n")
	zeros := XMM()
	VMOVQ(gp("zeros"), zeros)
	low := s.ones()
	s.shiftRight(U8(1), low, low)
	least, greatest := s.bounds()
	s.each(n, func(lanes reg.Register) {
		r := s.vec()
		s.masked(Mem{Base: src}, lanes, r)
		switch {
		case s.avx512:
			s.flipBelow(r, low)
			pick(s, VPSRAQ, VPSRAD)(zeros, r, r)
		case s.size == 32:
			s.flipBelow(r, low)
			VPSRAD(zeros, r, r)
		default:
			// Shifts of negative numbers: of the inverse, inverted. Both
			// flips together leave the sign alone.
			sign := s.sign(r)
			t := YMM()
			VPANDN(sign, low, t)
			VPXOR(t, r, r)
			VPSRLQ(zeros, r, r)
			VPXOR(sign, r, r)
		}
		s.put(r, lanes, Mem{Base: dst})
		s.extreme(true, r, least, lanes)
		s.extreme(false, r, greatest, lanes)
		ADDQ(U8(s.width()), src)
		ADDQ(U8(s.width()), dst)
	})
	s.reduce(true, least, "least")
	s.reduce(false, greatest, "greatest")
	ret()
}

// extremes finds the least and the greatest value; of floats, by the integers
// of their order, NaNs counted and left out.
func extremes(s shape, float bool) {
	name, in, results := "minMaxInt", s.int(), fmt.Sprintf("least, greatest %s", s.int())
	if float {
		name, in, results = "minMaxFloat", s.float(), results+", nans int"
	}
	s.scan(name, in, "", "", "")
	text(s.name(name), fmt.Sprintf("(src *%s, n int) (%s)", in, results))
	src, n := gp("src"), gp("n")
	least, greatest := s.bounds()
	var nans, n0 reg.GPVirtual
	var low, ones reg.VecVirtual
	if float {
		nans, n0 = GP64(), GP64()
		XORQ(nans, nans)
		MOVQ(n, n0)
		low = s.ones()
		s.shiftRight(U8(1), low, low)
		if !s.avx512 {
			ones = s.ones()
		}
	}
	s.each(n, func(lanes reg.Register) {
		r := s.vec()
		s.masked(Mem{Base: src}, lanes, r)
		ADDQ(U8(s.width()), src)
		if !float {
			s.extreme(true, r, least, lanes)
			s.extreme(false, r, greatest, lanes)
			return
		}
		// Numbers equal themselves; ordered, quiet.
		g := GP64()
		if s.avx512 {
			k := K()
			if lanes == nil {
				pick(s, VCMPPD, VCMPPS)(U8(7), r, r, k)
			} else {
				pick(s, VCMPPD, VCMPPS)(U8(7), r, r, lanes, k)
			}
			KMOVQ(k, g)
			s.flipBelow(r, low)
			s.extreme(true, r, least, k)
			s.extreme(false, r, greatest, k)
		} else {
			k, hi, lo := YMM(), YMM(), YMM()
			if s.size == 64 {
				VCMPPD(U8(7), r, r, k)
				VMOVMSKPD(k, g.As32())
			} else {
				VCMPPS(U8(7), r, r, k)
				VMOVMSKPS(k, g.As32())
			}
			s.flipBelow(r, low)
			// NaNs become the greatest integer, then the least.
			VPXOR(ones, k, lo)
			VPSRLQ(U8(1), lo, hi)
			if s.size == 32 {
				VPSRLD(U8(1), lo, hi)
				VPSLLD(U8(31), lo, lo)
			} else {
				VPSLLQ(U8(63), lo, lo)
			}
			t := YMM()
			VPAND(k, r, t)
			VPOR(t, hi, hi)
			VPOR(t, lo, lo)
			s.extreme(true, hi, least, nil)
			s.extreme(false, lo, greatest, nil)
		}
		POPCNTQ(g, g)
		ADDQ(g, nans)
	})
	if float {
		SUBQ(nans, n0)
		Store(n0, Return("nans"))
	}
	s.reduce(true, least, "least")
	s.reduce(false, greatest, "greatest")
	ret()
}
