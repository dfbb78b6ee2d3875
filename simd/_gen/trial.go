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
	top := pick[uint64](s, 0x4320000000000000, 0x4170000000000000) // 2^51, 2^24
	limit := d.constant(top)
	c := &converter{
		shape: s, src: src, ints: ints, up: up, down: down, back: back, scale: scale,
		round: round, limit: limit, store: store,
	}
	if !s.avx512 {
		c.lowest = d.constant(top | 1<<63)
	}
	switch {
	case s.avx512:
		c.least, c.greatest = d.constant(1<<63-1), d.constant(1<<63)
	case s.size == 64: // floats
		c.least, c.greatest = d.constant(0x7ff0000000000000), d.constant(0xfff0000000000000)
		c.valid = d.ones()
	default:
		c.least, c.greatest = s.constant(1<<31-1), s.constant(1<<31)
	}
	count := GP64()
	XORQ(count, count)

	body := func(lanes reg.Register) {
		bad := GP32()
		if s.avx512 {
			KMOVB(c.eight(lanes), bad)
			if lanes == nil {
				XORL(U32(0xff), bad)
			} else {
				all := GP32()
				KMOVB(lanes, all)
				XORL(all, bad)
			}
		} else {
			pick(s, c.twice4, c.twice4Narrow)(bad)
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
		loop("loop")
		body(nil)
		SUBQ(U8(8), n2)
		JGE(LabelRef("loop"))
		Label("rest")
		ADDQ(U8(8), n2)
		JZ(LabelRef("done"))
		body(lowBits(n2, 8))
		Label("done")
	} else {
		loop("loop")
		body(nil)
		SUBQ(U8(8), n2)
		JNZ(LabelRef("loop"))
	}
	Store(count, Return("count"))
	if s.avx512 {
		d.reduce(true, c.least, "least")
		d.reduce(false, c.greatest, "greatest")
	} else if s.size == 64 {
		for i, r := range []reg.VecVirtual{c.least, c.greatest} {
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
	} else {
		for i, r := range []reg.VecVirtual{c.least, c.greatest} {
			s.reduceLanes(i == 0, r)
			g := GP64()
			VMOVD(r.AsX(), g.As32())
			MOVLQSX(g.As32(), g)
			Store(g, Return([]string{"least", "greatest"}[i]))
		}
	}
	ret()
}

// converter turns 8 values a turn into integers.
type converter struct {
	shape
	src, ints             reg.GPVirtual
	up, down, back, scale reg.VecVirtual
	round, limit, lowest  reg.VecVirtual
	least, greatest       reg.VecVirtual
	valid                 reg.VecVirtual // AVX2: the integer of each lane that came back last
	store                 bool
}

// bound brings x, which may be NaN, into the limits.
func (c *converter) bound(x reg.VecVirtual) {
	VMINPD(c.limit, x, x) // of NaN the limit
	VMAXPD(c.lowest, x, x)
}

// eight returns the lanes that come back.
func (c *converter) eight(lanes reg.Register) reg.OpmaskVirtual {
	x, v, b := ZMM(), ZMM(), ZMM()
	v4, b4 := YMM(), YMM()
	if c.size == 64 {
		if lanes == nil {
			VMOVUPD(Mem{Base: c.src}, v)
		} else {
			VMOVUPD_Z(Mem{Base: c.src}, lanes, v)
		}
		VMULPD(c.up, v, x)
	} else {
		if lanes == nil {
			VMOVUPS(Mem{Base: c.src}, v4)
		} else {
			VMOVUPS_Z(Mem{Base: c.src}, lanes, v4)
		}
		VCVTPS2PD(v4, x)
		VMULPD(c.up, x, x)
	}
	VMULPD(c.down, x, x)
	VRANGEPD(U8(2), c.limit, x, x) // the lesser without the signs, with that of x
	VADDPD(c.round, x, x)
	VSUBPD(c.round, x, b)
	VMULPD(c.back, b, b)
	VMULPD(c.scale, b, b)
	ok := K()
	if c.size == 64 {
		VPCMPEQQ(v, b, ok)
	} else {
		VCVTPD2PS(b, b4)
		VPCMPEQD(v4, b4, ok)
	}
	if lanes != nil {
		KANDB(lanes, ok, ok)
	}
	i := x
	if c.store {
		VPSUBQ_Z(c.round, x, ok, i)
	} else {
		VPSUBQ(c.round, x, i)
	}
	VPMINSQ(i, c.least, ok, c.least)
	VPMAXSQ(i, c.greatest, ok, c.greatest)
	if c.store {
		m := Mem{Base: c.ints}
		switch {
		case c.size == 64 && lanes == nil:
			VMOVDQU64(i, m)
		case c.size == 64:
			VMOVDQU64(i, lanes, m)
		case lanes == nil:
			VPMOVQD(i, m)
		default:
			VPMOVQD(i, lanes, m)
		}
	}
	return ok
}

// twice4 sets bad to the lanes of 8 float64 that do not come back.
func (c *converter) twice4(bad reg.GPVirtual) {
	for h := range 2 {
		x, v, b := YMM(), YMM(), YMM()
		VMOVUPD(Mem{Base: c.src, Disp: 32 * h}, v)
		VMULPD(c.up, v, x)
		VMULPD(c.down, x, x)
		c.bound(x)
		VADDPD(c.round, x, x)
		i := YMM()
		if c.store {
			VPSUBQ(c.round, x, i)
		}
		VSUBPD(c.round, x, x)
		VMULPD(c.back, x, b)
		VMULPD(c.scale, b, b)
		VPCMPEQQ(v, b, b) // the lanes that come back
		if c.store {
			VPAND(b, i, i)
			VMOVDQU(i, Mem{Base: c.ints, Disp: 32 * h})
		}
		g := bad
		if h == 1 {
			g = GP32()
		}
		VMOVMSKPD(b, g)
		if h == 1 {
			SHLL(U8(4), g)
			ORL(g, bad)
			XORL(U32(0xff), bad)
		}
		// Others are as those before them: at first NaN, over which minimum
		// and maximum take their second operand.
		VBLENDVPD(b, x, c.valid, c.valid)
		VMINPD(c.least, c.valid, c.least)
		VMAXPD(c.greatest, c.valid, c.greatest)
	}
}

// twice4Narrow is twice4 for float32, whose integers are of 32 bits.
func (c *converter) twice4Narrow(bad reg.GPVirtual) {
	var ints, back [2]reg.VecVirtual
	for h := range 2 {
		x := YMM()
		ints[h], back[h] = XMM(), XMM()
		VCVTPS2PD(Mem{Base: c.src, Disp: 16 * h}, x)
		VMULPD(c.up, x, x)
		VMULPD(c.down, x, x)
		c.bound(x)
		VCVTPD2DQY(x, ints[h])
		VCVTDQ2PD(ints[h], x)
		VMULPD(c.back, x, x)
		VMULPD(c.scale, x, x)
		VCVTPD2PSY(x, back[h])
	}
	i, ok := ints[0].AsY(), back[0].AsY()
	VINSERTI128(U8(1), ints[1], i, i)
	VINSERTI128(U8(1), back[1], ok, ok)
	VPCMPEQD(Mem{Base: c.src}, ok, ok)
	VMOVMSKPS(ok, bad)
	XORL(U32(0xff), bad)
	if c.store {
		kept := YMM()
		VPAND(ok, i, kept)
		VMOVDQU(kept, Mem{Base: c.ints})
	}
	low, high := YMM(), YMM()
	VBLENDVPS(ok, i, c.least, low)
	VBLENDVPS(ok, i, c.greatest, high)
	VPMINSD(low, c.least, c.least)
	VPMAXSD(high, c.greatest, c.greatest)
}
