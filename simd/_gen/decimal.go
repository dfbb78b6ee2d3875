package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// bounded writes the kernels that turn packed codes into floats of their
// decimals where no integer can be too large.
//
// A code stays where its bits are, s bits into its lane, and becomes the low
// end of the float64 2^(52-s) + code: the lane's other bits are replaced by
// those of that power. Less 2^(52-s) - add, an integer of fewer than 54 bits,
// that is code + add, exactly. It takes w+7 bits of 52.
//
// Those of float32 have no factor back: it is 1 there.
func bounded(s shape) {
	if s.size == 32 && s.avx512 {
		return // tenths are faster
	}
	name, factors := "packedBounded", "add, back, scale"
	if s.size == 32 {
		factors = "add, scale"
	}
	value := s.float()
	q := shape{s.avx512, 64} // the lanes
	taken := s.done("len(dst)", 8)
	cond := fmt.Sprintf("len(dst) > 0 && width <= %d", boundedWidth)
	if !s.avx512 {
		cond = fmt.Sprintf("len(dst) >= 8 && width <= %d && cap(src) >= 16", boundedWidth)
	}
	calls.add(s.avx512, fmt.Sprintf("%s%d(dst []%s, src []byte, width uint, %s float64) (done int)", name, s.size, value, factors), "0", cond,
		fmt.Sprintf("%s(&dst[0], %s, &src[0], cap(src), &unpackTables[1][%d][width][0], width, %[4]s)\nreturn %[2]s",
			s.name(name), taken, s.tier(), factors))

	text(s.name(name), fmt.Sprintf("(dst *%s, n int, src *byte, size int, table *byte, width uint, %s float64)", value, factors))
	dst, n := gp("dst"), gp("n")
	c := &codes{shape: q, packed: true, src: gp("src")}
	c.setup()
	add, scale := q.double("add"), q.double("scale")
	var back reg.VecVirtual
	if s.size == 64 {
		back = q.double("back")
	}
	mask, power, less := make([]reg.VecVirtual, c.regs()), make([]reg.VecVirtual, c.regs()), make([]reg.VecVirtual, c.regs())
	top := q.constant((1023 + 52) << 52)
	for i := range mask {
		mask[i], power[i], less[i] = q.vec(), q.vec(), q.vec()
		VPSLLVQ(c.shift(i), c.mask, mask[i])
		if s.avx512 {
			VPSLLQ(U8(52), c.shifts, power[i])
		} else {
			VMOVDQU(c.shift(i), power[i])
			VPSLLQ(U8(52), power[i], power[i])
		}
		VPSUBQ(power[i], top, power[i])
		VSUBPD(add, power[i], less[i])
	}
	size := 8 * s.bytes()
	emit := func(i int, tail bool, lanes reg.OpmaskVirtual) {
		out := c.load(i, tail, lanes)
		c.loaded(tail)
		for j, r := range out {
			if s.avx512 {
				VPTERNLOGQ(U8(0xec), mask[j], power[j], r) // r & mask | power
			} else {
				VPAND(mask[j], r, r)
				VPOR(power[j], r, r)
			}
			VSUBPD(less[j], r, r)
			if s.size == 64 {
				VMULPD(back, r, r)
			}
			VMULPD(scale, r, r)
			m := Mem{Base: dst, Disp: i*size + j*s.bytes()*q.lanes()}
			switch {
			case s.size == 64 && tail && s.avx512:
				VMOVDQU64(r, lanes, m)
			case s.size == 64:
				q.store(r, m)
			case !s.avx512:
				VCVTPD2PSY(r, r.AsX())
				VMOVUPS(r.AsX(), m)
			case tail:
				VCVTPD2PS(r, r.AsY())
				VMOVUPS(r.AsY(), lanes, m)
			default:
				VCVTPD2PS(r, r.AsY())
				VMOVUPS(r.AsY(), m)
			}
		}
	}
	var ways []quad
	if s.avx512 {
		second, factor := ZMM(), GP64()
		VPBROADCASTB(c.step.As32(), second)
		VPADDB(c.indices, second, second)
		VMOVQ(back.AsX(), factor)
		four := func(factors ...reg.VecVirtual) func() {
			return func() {
				r := c.pairs(second)
				for _, r := range r {
					VPTERNLOGQ(U8(0xec), mask[0], power[0], r)
				}
				for _, r := range r {
					VSUBPD(less[0], r, r)
				}
				for _, f := range factors {
					for _, r := range r {
						VMULPD(f, r, r)
					}
				}
				for i, r := range r {
					q.store(r, Mem{Base: dst, Disp: i * size})
				}
			}
		}
		ways = []quad{
			{"", func(label string) {
				CMPQ(c.step, U8(32))
				JHI(LabelRef(label))
			}, times4(emit).body},
			{"scaled", func(label string) {
				one := GP64()
				MOVQ(U64(0x3ff0000000000000), one)
				CMPQ(factor, one)
				JEQ(LabelRef(label))
			}, four(scale)},
			{"pairs", nil, four(back, scale)},
		}
	}
	c.groups(n, 8, dst, size, emit, ways...)
	Label("done")
	ret()
}

// boundedWidth is the width of the widest codes that bounded serves.
const boundedWidth = 45

// narrowTenths writes the kernel of tenths whose codes become floats as those of
// bounded do, in w+7 bits of 23.
func narrowTenths(s shape) {
	if !s.avx512 || s.size != 32 {
		return
	}
	calls.add(true, "packedNarrowTenths32(dst []float32, src []byte, width uint, add, high, low float32) (done int)", "0",
		fmt.Sprintf("len(dst) > 0 && width <= %d", narrowWidth),
		fmt.Sprintf("%s(&dst[0], len(dst), &src[0], cap(src), &unpackTables[0][1][width][0], width, add, high, low)\nreturn len(dst)",
			s.name("packedNarrowTenths")))

	text(s.name("packedNarrowTenths"), "(dst *float32, n int, src *byte, size int, table *byte, width uint, add, high, low float32)")
	dst, n := gp("dst"), gp("n")
	c := &codes{shape: s, packed: true, src: gp("src")}
	c.setup()
	add, high, low := s.single("add"), s.single("high"), s.single("low")
	mask, power, less, second := s.vec(), s.vec(), s.vec(), s.vec()
	VPSLLVD(c.shifts, c.mask, mask)
	VPSLLD(U8(23), c.shifts, power)
	VPSUBD(power, s.constant((127+23)<<23), power)
	VSUBPS(add, power, less)
	VPBROADCASTB(c.step.As32(), second)
	VPADDB(c.indices, second, second)
	convert := func(r reg.VecVirtual) {
		t := s.vec()
		VPTERNLOGD(U8(0xec), mask, power, r) // r & mask | power
		VSUBPS(less, r, r)
		VMULPS(low, r, t)
		VFMADD213PS(t, high, r) // r*high + t
	}
	c.groups(n, s.lanes(), dst, s.width(), func(i int, tail bool, lanes reg.OpmaskVirtual) {
		r := c.load(i, tail, lanes)[0]
		c.loaded(tail)
		convert(r)
		if tail {
			VMOVUPS(r, lanes, Mem{Base: dst, Disp: i * s.width()})
		} else {
			s.store(r, Mem{Base: dst, Disp: i * s.width()})
		}
	}, quad{body: func() {
		for i, r := range c.pairs(second) {
			convert(r)
			s.store(r, Mem{Base: dst, Disp: i * s.width()})
		}
	}})
	Label("done")
	ret()
}

// narrowWidth is the width of the widest codes that narrowTenths serves.
const narrowWidth = 16
