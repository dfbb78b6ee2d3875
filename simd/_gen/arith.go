package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// ariths writes the kernels that change values in place, or count them.
func ariths(s shape) {
	outside(s)
	s.inPlace("shift", "by "+s.int(), "", s.int(), func() func(r reg.VecVirtual, lanes reg.Register) {
		by := s.broadcast("by")
		return func(r reg.VecVirtual, _ reg.Register) { s.add(by, r, r) }
	})
	if s.size == 64 {
		products(s)
		subProducts(s)
		multiples(s)
		widen(s)
	}
}

// inPlace writes a kernel that changes each register of dst; params come after
// the slices. other is the type of a second slice as long, src, or "".
func (s shape) inPlace(name, params, other, value string, setup func() func(r reg.VecVirtual, lanes reg.Register)) {
	least := s.lanes()
	if s.avx512 {
		least = 1
	}
	goParams, args, signature := "dst []"+value, "&dst[0], "+s.done("len(dst)", s.lanes()), "(dst *"+value+", n int"
	if other != "" {
		goParams += ", src []" + other
		args += ", &src[0]"
		signature += ", src *" + other
	}
	calls.add(s.avx512, fmt.Sprintf("%s%d(%s, %s) (done int)", name, s.size, goParams, params), "0", fmt.Sprintf("len(dst) >= %d", least),
		fmt.Sprintf("%s(%s, %s)\nreturn %s", s.name(name), args, names(params), s.done("len(dst)", s.lanes())))
	text(s.name(name), signature+", "+params+")")
	dst, n := gp("dst"), gp("n")
	each := setup()
	s.each(n, func(lanes reg.Register) {
		r := s.vec()
		s.masked(Mem{Base: dst}, lanes, r)
		each(r, lanes)
		s.put(r, lanes, Mem{Base: dst})
		ADDQ(U8(s.width()), dst)
	})
	ret()
}

// products writes what adds multiples of src, or their quotients, to dst.
func products(s shape) {
	s.inPlace("addProducts", "a int64", "int64", "int64", func() func(r reg.VecVirtual, lanes reg.Register) {
		src, a := gp("src"), s.factor(s.broadcast("a"))
		return func(r reg.VecVirtual, lanes reg.Register) {
			x := s.vec()
			s.masked(Mem{Base: src}, lanes, x)
			ADDQ(U8(s.width()), src)
			s.add(a.low(x), r, r)
		}
	})
	s.inPlace("addQuotients", "a int64, m uint64, shift uint64, sign int64", "int64", "int64", func() func(r reg.VecVirtual, lanes reg.Register) {
		src, a, m := gp("src"), s.factor(s.broadcast("a")), s.factor(s.broadcast("m"))
		shift := XMM()
		VMOVQ(gp("shift"), shift)
		sign := s.broadcast("sign")
		return func(r reg.VecVirtual, lanes reg.Register) {
			x := s.vec()
			s.masked(Mem{Base: src}, lanes, x)
			ADDQ(U8(s.width()), src)
			x = a.low(x)
			below := s.sign(x)
			s.xor(below, x, x)
			q := m.high(x)
			s.shiftRight(shift, q, q)
			s.xor(below, q, q)
			s.xor(sign, q, q)
			s.sub(sign, q, q)
			s.add(q, r, r)
		}
	})
}

// subProducts takes multiples of x from the values.
func subProducts(s shape) {
	s.scan("subProducts", s.int(), s.int(), ", x []int64, a int64", ", &x[0], a")
	text(s.name("subProducts"), "(dst, src *int64, n int, x *int64, a int64) (least, greatest int64)")
	dst, src, x, n := gp("dst"), gp("src"), gp("x"), gp("n")
	a := s.factor(s.broadcast("a"))
	least, greatest := s.bounds()
	s.each(n, func(lanes reg.Register) {
		r, f := s.vec(), s.vec()
		s.masked(Mem{Base: src}, lanes, r)
		s.masked(Mem{Base: x}, lanes, f)
		s.sub(a.low(f), r, r)
		s.put(r, lanes, Mem{Base: dst})
		s.extreme(true, r, least, lanes)
		s.extreme(false, r, greatest, lanes)
		ADDQ(U8(s.width()), src)
		ADDQ(U8(s.width()), x)
		ADDQ(U8(s.width()), dst)
	})
	s.reduce(true, least, "least")
	s.reduce(false, greatest, "greatest")
	ret()
}

// multiples tells whether all values are x times inverse where the result, as
// far as most from 0 at most, is an integer, and have no bit of low.
func multiples(s shape) {
	n := fmt.Sprintf("len(src) &^ %d", s.lanes()-1)
	calls.add(s.avx512, "multiples64(src []int64, inverse, most, low int64) (done int, ok bool)", "0, true", fmt.Sprintf("len(src) >= %d", s.lanes()),
		fmt.Sprintf("return %s, %s(&src[0], %[1]s, inverse, most, low)", n, s.name("multiples")))
	text(s.name("multiples"), "(src *int64, n int, inverse, most, low int64) (ok bool)")
	src, left := gp("src"), gp("n")
	inverse, most, low := s.factor(s.broadcast("inverse")), s.broadcast("most"), s.broadcast("low")
	limit := s.vec()
	s.add(most, most, limit)
	if !s.avx512 { // which compares with a sign
		top := s.constant(1 << 63)
		s.xor(top, limit, limit)
		s.xor(top, most, most)
	}
	loop("loop")
	x := s.vec()
	s.load(Mem{Base: src}, x)
	if s.avx512 {
		odd, beyond := K(), K()
		VPTESTMQ(low, x, odd)
		x = inverse.low(x)
		s.add(most, x, x)
		VPCMPUQ(U8(6), limit, x, beyond) // x > limit
		KORTESTB(odd, beyond)
		JNZ(LabelRef("none"))
	} else {
		VPTEST(low, x)
		JNZ(LabelRef("none"))
		x = inverse.low(x)
		s.add(most, x, x)
		VPCMPGTQ(limit, x, x)
		VPTEST(x, x)
		JNZ(LabelRef("none"))
	}
	ADDQ(U8(s.width()), src)
	SUBQ(U8(s.lanes()), left)
	JNZ(LabelRef("loop"))
	ok := GP8()
	MOVB(U8(1), ok)
	Store(ok, Return("ok"))
	ret()
	Label("none")
	XORL(ok.As32(), ok.As32())
	Store(ok, Return("ok"))
	ret()
}

// widen makes 64 bits of 32, signed.
func widen(s shape) {
	least := s.lanes()
	if s.avx512 {
		least = 1
	}
	name, n := "widen32"+suffix(s.avx512), s.done("len(src)", s.lanes())
	calls.add(s.avx512, "widen32(dst []int64, src []int32) (done int)", "0", fmt.Sprintf("len(src) >= %d", least),
		fmt.Sprintf("%s(&dst[0], &src[0], %s)\nreturn %[2]s", name, n))
	text(name, "(dst *int64, src *int32, n int)")
	dst, src, left := gp("dst"), gp("src"), gp("n")
	s.each(left, func(lanes reg.Register) {
		r := s.vec()
		if lanes == nil {
			VPMOVSXDQ(Mem{Base: src}, r)
		} else {
			VPMOVSXDQ_Z(Mem{Base: src}, lanes, r)
		}
		s.put(r, lanes, Mem{Base: dst})
		ADDQ(U8(s.width()/2), src)
		ADDQ(U8(s.width()), dst)
	})
	ret()
}

// factor multiplies integers of 64 bits by one: lower is that, upper its upper
// half in the place of the lower.
type factor struct {
	shape
	lower, upper reg.VecVirtual
}

func (s shape) factor(r reg.VecVirtual) *factor {
	upper := s.vec()
	VPSRLQ(U8(32), r, upper)
	return &factor{shape: s, lower: r, upper: upper}
}

// low is the lower 64 bits of the products.
func (f *factor) low(x reg.VecVirtual) reg.VecVirtual {
	out := f.vec()
	if f.avx512 {
		VPMULLQ(f.lower, x, out)
		return out
	}
	t, u := YMM(), YMM()
	VPSRLQ(U8(32), x, t)
	VPMULUDQ(f.lower, t, t)
	VPMULUDQ(f.upper, x, u)
	VPADDQ(t, u, u)
	VPSLLQ(U8(32), u, u)
	VPMULUDQ(f.lower, x, out)
	VPADDQ(u, out, out)
	return out
}

// high is the upper 64 bits of the products of unsigned integers.
func (f *factor) high(x reg.VecVirtual) reg.VecVirtual {
	y, ll, hl, lh, out := f.vec(), f.vec(), f.vec(), f.vec(), f.vec()
	VPSRLQ(U8(32), x, y)
	VPMULUDQ(f.lower, x, ll)
	VPMULUDQ(f.lower, y, hl)
	VPMULUDQ(f.upper, x, lh)
	VPMULUDQ(f.upper, y, out)
	VPSRLQ(U8(32), ll, ll)
	VPADDQ(ll, hl, hl) // no sum here exceeds 64 bits
	VPSRLQ(U8(32), hl, ll)
	VPSLLQ(U8(32), hl, hl)
	VPSRLQ(U8(32), hl, hl)
	VPADDQ(hl, lh, lh)
	VPSRLQ(U8(32), lh, lh)
	VPADDQ(ll, out, out)
	VPADDQ(lh, out, out)
	return out
}

// outside counts the values that lie outside of a window.
func outside(s shape) {
	least := s.lanes()
	if s.avx512 {
		least = 1
	}
	calls.add(s.avx512, fmt.Sprintf("outside%d(src []%s, from %[2]s, width uint) (done, count int)", s.size, s.int()), "0, 0",
		fmt.Sprintf("len(src) >= %d", least),
		fmt.Sprintf("count = %s(&src[0], %s, from, width)\nreturn %[2]s, count", s.name("outside"), s.done("len(src)", s.lanes())))
	text(s.name("outside"), fmt.Sprintf("(src *%s, n int, from %[1]s, width uint) (count int)", s.int()))
	src, n := gp("src"), gp("n")
	from, width := s.broadcast("from"), XMM()
	VMOVQ(gp("width"), width)
	count := GP64()
	XORQ(count, count)
	var zero reg.VecVirtual
	if !s.avx512 { // there the others are counted
		zero = s.zero()
		MOVQ(n, count)
	}
	s.each(n, func(lanes reg.Register) {
		r, g := s.vec(), GP64()
		s.masked(Mem{Base: src}, lanes, r)
		ADDQ(U8(s.width()), src)
		s.sub(from, r, r)
		s.shiftRight(width, r, r)
		if s.avx512 {
			k := K()
			if lanes == nil {
				pick(s, VPTESTMQ, VPTESTMD)(r, r, k)
			} else {
				pick(s, VPTESTMQ, VPTESTMD)(r, r, lanes, k)
			}
			KMOVQ(k, g)
			POPCNTQ(g, g)
			ADDQ(g, count)
			return
		}
		pick(s, VPCMPEQQ, VPCMPEQD)(zero, r, r)
		pick(s, VMOVMSKPD, VMOVMSKPS)(r, g.As32())
		POPCNTQ(g, g)
		SUBQ(g, count)
	})
	Store(count, Return("count"))
	ret()
}
