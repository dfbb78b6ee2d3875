package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// trials writes the kernels that turn floats into the integers of their
// decimals and find those that do not come back: with the integers and a
// bitmap, or only counted.
func trials(s shape) {
	trial(s, true)
	trial(s, false)
}

const constants = "up, down, back, scale float64"

// trial takes 8 values a turn, in registers of float64: the bitmap grows by a
// byte.
func trial(s shape, store bool) {
	name, params := "trial", ""
	goParams, args, cond := "", "", "len(src) >= 8"
	if store {
		name = "decimals"
		params = fmt.Sprintf("ints *%s, exceptions *byte, ", s.int())
		goParams = fmt.Sprintf("ints []%s, exceptions []byte, ", s.int())
		args = "&ints[0], &exceptions[0], "
	}
	n := s.done("len(src)", 8)
	if s.avx512 {
		cond = "len(src) > 0"
	}
	calls.add(s.avx512,
		fmt.Sprintf("%s%d(%ssrc []%s, %s) (done, count int, least, greatest int64)", name, s.size, goParams, s.float(), constants), "0, 0, 0, 0",
		cond,
		fmt.Sprintf("count, least, greatest = %s(%s&src[0], %s, %s)\nreturn %[3]s, count, least, greatest", s.name(name), args, n, names(constants)))
	text(s.name(name), fmt.Sprintf("(%ssrc *%s, n int, %s) (count int, least, greatest int64)", params, s.float(), constants))

	var ints, bitmap reg.GPVirtual
	if store {
		ints, bitmap = gp("ints"), gp("exceptions")
	}
	src, n2 := gp("src"), gp("n")
	d := shape{s.avx512, 64} // of the registers of float64
	up, down, back, scale := d.double("up"), d.double("down"), d.double("back"), d.double("scale")
	round := d.constant(magic)
	var limit reg.VecVirtual
	if s.size == 64 {
		limit = d.constant(0x4320000000000000) // 2^51
	} else {
		limit = d.constant(0x4170000000000000) // 2^24
	}
	least, greatest := d.constant(1<<63-1), d.constant(1<<63)
	if !s.avx512 { // floats
		least, greatest = d.constant(0x7ff0000000000000), d.constant(0xfff0000000000000)
	}
	absolute := d.ones()
	VPSRLQ(U8(1), absolute, absolute)
	count := GP64()
	XORQ(count, count)

	body := func(lanes reg.Register) {
		bad := GP32()
		if s.avx512 {
			ok := trial512(s, src, ints, lanes, up, down, back, scale, round, limit, absolute, least, greatest, store)
			if lanes == nil {
				KNOTB(ok, ok)
			} else {
				KANDNB(lanes, ok, ok)
			}
			KMOVB(ok, bad)
		} else {
			trial2(s, src, ints, bad, up, down, back, scale, round, limit, absolute, least, greatest, store)
		}
		if store {
			MOVB(bad.As8(), Mem{Base: bitmap})
			INCQ(bitmap)
			ADDQ(U8(8*s.bytes()), ints)
		}
		POPCNTL(bad, bad)
		ADDQ(bad.As64(), count)
		ADDQ(U8(8*s.bytes()), src)
	}
	if s.avx512 {
		SUBQ(U8(8), n2)
		JL(LabelRef("rest"))
		Label("loop")
		body(nil)
		SUBQ(U8(8), n2)
		JGE(LabelRef("loop"))
		Label("rest")
		ADDQ(U8(8), n2)
		JZ(LabelRef("done"))
		body(lowBits(n2, 8))
		Label("done")
	} else {
		Label("loop")
		body(nil)
		SUBQ(U8(8), n2)
		JNZ(LabelRef("loop"))
	}
	Store(count, Return("count"))
	if s.avx512 {
		d.reduce(true, least, "least")
		d.reduce(false, greatest, "greatest")
	} else {
		for i, r := range []reg.VecVirtual{least, greatest} {
			op := []func(a, b, c Op){func(a, b, c Op) { VMINPD(a, b, c) }, func(a, b, c Op) { VMAXPD(a, b, c) }}[i]
			t := YMM()
			VPERM2I128(U8(1), r, r, t)
			op(t, r, r)
			VPSHUFD(U8(0x4e), r, t)
			op(t, r, r)
			g := GP64()
			VCVTTSD2SIQ(r.AsX(), g)
			Store(g, Return([]string{"least", "greatest"}[i]))
		}
	}
	ret()
}

// trial512 returns the lanes that come back.
func trial512(s shape, src, ints reg.GPVirtual, lanes reg.Register, up, down, back, scale, round, limit, absolute, least, greatest reg.VecVirtual, store bool) reg.OpmaskVirtual {
	x, v, a, b := ZMM(), ZMM(), ZMM(), ZMM()
	v4, b4 := YMM(), YMM()
	if s.size == 64 {
		if lanes == nil {
			VMOVUPD(Mem{Base: src}, v)
		} else {
			VMOVUPD_Z(Mem{Base: src}, lanes, v)
		}
		VMULPD(up, v, x)
	} else {
		if lanes == nil {
			VMOVUPS(Mem{Base: src}, v4)
		} else {
			VMOVUPS_Z(Mem{Base: src}, lanes, v4)
		}
		VCVTPS2PD(v4, x)
		VMULPD(up, x, x)
	}
	VMULPD(down, x, x)
	VPANDQ(absolute, x, a)
	VADDPD(round, x, x)
	i := ZMM()
	VPSUBQ(round, x, i)
	VSUBPD(round, x, x)
	VMULPD(back, x, b)
	VMULPD(scale, b, b)
	k, ok := K(), K()
	if s.size == 64 {
		VPCMPEQQ(v, b, k)
	} else {
		VCVTPD2PS(b, b4)
		VPCMPEQD(v4, b4, k)
	}
	VCMPPD(U8(18), limit, a, k, ok) // a <= limit, ordered, quiet
	if lanes != nil {
		KANDB(lanes, ok, ok)
	}
	VPMINSQ(i, least, ok, least)
	VPMAXSQ(i, greatest, ok, greatest)
	if store {
		VMOVDQA64_Z(i, ok, i)
		m := Mem{Base: ints}
		switch {
		case s.size == 64 && lanes == nil:
			VMOVDQU64(i, m)
		case s.size == 64:
			VMOVDQU64(i, lanes, m)
		case lanes == nil:
			VPMOVQD(i, m)
		default:
			VPMOVQD(i, lanes, m)
		}
	}
	return ok
}

// trial2 sets bad to the lanes that do not come back.
func trial2(s shape, src, ints reg.GPVirtual, bad reg.GPVirtual, up, down, back, scale, round, limit, absolute, least, greatest reg.VecVirtual, store bool) {
	for h := range 2 {
		x, v, a, b := YMM(), YMM(), YMM(), YMM()
		v4, b4 := XMM(), XMM()
		if s.size == 64 {
			VMOVUPD(Mem{Base: src, Disp: 32 * h}, v)
			VMULPD(up, v, x)
		} else {
			VMOVUPS(Mem{Base: src, Disp: 16 * h}, v4)
			VCVTPS2PD(v4, x)
			VMULPD(up, x, x)
		}
		VMULPD(down, x, x)
		VPAND(absolute, x, a)
		VADDPD(round, x, x)
		i := YMM()
		if store {
			VPSUBQ(round, x, i)
		}
		VSUBPD(round, x, x)
		VMULPD(back, x, b)
		VMULPD(scale, b, b)
		if s.size == 64 {
			VPCMPEQQ(v, b, b)
		} else {
			VCVTPD2PSY(b, b4)
			VPCMPEQD(v4, b4, b4)
			VPMOVSXDQ(b4, b)
		}
		VCMPPD(U8(18), limit, a, a)
		VPAND(a, b, a) // the lanes that come back
		if store {
			VPAND(a, i, i)
			if s.size == 64 {
				VMOVDQU(i, Mem{Base: ints, Disp: 32 * h})
			} else {
				j := XMM()
				VEXTRACTI128(U8(1), i, j)
				VSHUFPS(U8(0x88), j, i.AsX(), j)
				VMOVUPS(j, Mem{Base: ints, Disp: 16 * h})
			}
		}
		g := bad
		if h == 1 {
			g = GP32()
		}
		VMOVMSKPD(a, g)
		if h == 1 {
			SHLL(U8(4), g)
			ORL(g, bad)
			XORL(U32(0xff), bad)
		}
		// Others become NaNs, over which minimum and maximum take their
		// second operand.
		VPCMPEQD(b, b, b)
		VPXOR(b, a, a)
		VPOR(a, x, x)
		VMINPD(least, x, least)
		VMAXPD(greatest, x, greatest)
	}
}
