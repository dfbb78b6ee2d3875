package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// singles writes the kernels of trials whose products are of float32.
func singles(s shape) {
	trialSingle(s, true)
	trialSingle(s, false)
}

const singleConstants = "up, down, back, scale float32"

// trialSingle takes a register of values a turn. Conversions round to the
// nearest integer; what has none becomes the least.
func trialSingle(s shape, store bool) {
	name, params := "trialSingle", ""
	goParams, args, cond := "", "", "len(src) >= 8"
	if store {
		name = "singles"
		params = "ints *int32, exceptions *byte, "
		goParams = "ints []int32, exceptions []byte, "
		args = "&ints[0], &exceptions[0], "
	}
	if s.avx512 {
		cond = "len(src) > 0"
	}
	n := s.done("len(src)", s.lanes())
	calls.add(s.avx512,
		fmt.Sprintf("%s32(%ssrc []float32, %s) (done, count int, least, greatest int32)", name, goParams, singleConstants), "0, 0, 0, 0",
		cond,
		fmt.Sprintf("count, least, greatest = %s(%s&src[0], %s, %s)\nreturn %[3]s, count, least, greatest", s.name(name), args, n, names(singleConstants)))
	text(s.name(name), fmt.Sprintf("(%ssrc *float32, n int, %s) (count int, least, greatest int32)", params, singleConstants))

	var ints, bitmap reg.GPVirtual
	if store {
		ints, bitmap = gp("ints"), gp("exceptions")
	}
	src, left := gp("src"), gp("n")
	up, down, back, scale := s.single("up"), s.single("down"), s.single("back"), s.single("scale")
	least, greatest := s.constant(1<<31-1), s.constant(1<<31)
	count := GP64()
	XORQ(count, count)

	// body leaves the lanes that do not come back in bad.
	body := func(lanes reg.Register) (bad reg.GPVirtual) {
		v, i, b := s.vec(), s.vec(), s.vec()
		m := Mem{Base: src}
		if lanes != nil {
			VMOVUPS_Z(m, lanes, v)
		} else {
			VMOVUPS(m, v)
		}
		VMULPS(up, v, i)
		VMULPS(down, i, i)
		VCVTPS2DQ(i, i)
		VCVTDQ2PS(i, b)
		VMULPS(back, b, b)
		VMULPS(scale, b, b)
		bad = GP32()
		if s.avx512 {
			ok := K()
			VPCMPEQD(v, b, ok)
			if lanes != nil {
				KANDW(lanes, ok, ok)
			}
			VPMINSD(i, least, ok, least)
			VPMAXSD(i, greatest, ok, greatest)
			if store {
				VMOVDQA32_Z(i, ok, i)
				if lanes != nil {
					VMOVDQU32(i, lanes, Mem{Base: ints})
				} else {
					VMOVDQU32(i, Mem{Base: ints})
				}
			}
			if lanes != nil {
				KANDNW(lanes, ok, ok)
			} else {
				KNOTW(ok, ok)
			}
			KMOVW(ok, bad)
		} else {
			VPCMPEQD(v, b, b) // the lanes that come back
			t := s.vec()
			VBLENDVPS(b, i, least, t)
			VPMINSD(t, least, least)
			VBLENDVPS(b, i, greatest, t)
			VPMAXSD(t, greatest, greatest)
			if store {
				VPAND(b, i, i)
				VMOVDQU(i, Mem{Base: ints})
			}
			VMOVMSKPS(b, bad)
			XORL(U32(0xff), bad)
		}
		ones := GP32()
		POPCNTL(bad, ones)
		ADDQ(ones.As64(), count)
		return bad
	}
	next := func() {
		if store {
			ADDQ(U8(s.lanes()/8), bitmap)
			ADDQ(U8(s.width()), ints)
		}
		ADDQ(U8(s.width()), src)
	}
	SUBQ(U8(s.lanes()), left)
	JL(LabelRef("rest"))
	loop("loop")
	bad := body(nil)
	if store {
		if s.avx512 {
			MOVW(bad.As16(), Mem{Base: bitmap})
		} else {
			MOVB(bad.As8(), Mem{Base: bitmap})
		}
	}
	next()
	SUBQ(U8(s.lanes()), left)
	JGE(LabelRef("loop"))
	Label("rest")
	if s.avx512 {
		ADDQ(U8(s.lanes()), left)
		JZ(LabelRef("done"))
		bad := body(lowBits(left, s.lanes()))
		if store {
			MOVB(bad.As8(), Mem{Base: bitmap})
			CMPQ(left, U8(8))
			JLE(LabelRef("done"))
			SHRL(U8(8), bad)
			MOVB(bad.As8(), Mem{Base: bitmap, Disp: 1})
		}
		Label("done")
	}
	Store(count, Return("count"))
	s.reduce(true, least, "least")
	s.reduce(false, greatest, "greatest")
	ret()
}
