package main

import (
	"fmt"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// decoder is what happens to the integers of a group.
type decoder struct {
	name    string
	params  string // in Go, separated by commas
	float   bool   // the values are floats
	result  string // name of the one result, or ""
	restype string
	setup   func()
	each    func(r reg.VecVirtual, k reg.Register) reg.VecVirtual // from code to value; k are the lanes that count
	finish  func()
	unroll  bool                                            // nothing goes from group to group
	pair    func(r, q reg.VecVirtual) (v, u reg.VecVirtual) // each of two registers, with AVX-512, or nil
	then    *decoder                                        // from what is then in dst to the values, or nil
}

// decoders writes every decoder over every source.
func decoders(s shape) {
	unpackOdd(s)
	for _, packed := range []bool{true, false} {
		ops := []func(shape) decoder{add, ramp, sum, ordered, sumOrdered, sumDecimal}
		if s.size == 32 {
			ops = append(ops, single)
		}
		if s.size == 32 && s.avx512 {
			ops = append(ops, sumTenths)
		}
		if packed {
			ops = append([]func(shape) decoder{unpack}, ops...)
			if s.size == 32 && s.avx512 {
				ops = append(ops, tenths)
			}
		} else {
			ops = append(ops, decimal, accumulate)
		}
		for _, op := range ops {
			decode(s, packed, op(s))
		}
	}
}

func decode(s shape, packed bool, d decoder) {
	prefix := "plain"
	if packed {
		prefix = "packed"
	}
	value := s.int()
	switch {
	case d.float:
		value = s.float()
	case d.name == "Unpack":
		prefix, d.name, value = "unpack", "", s.uint()
	case d.name == "Accumulate":
		prefix, d.name = "accumulate", ""
	}
	name := prefix + d.name
	params := fmt.Sprintf("src *%s", s.uint())
	if d.name == "" && !packed {
		params = fmt.Sprintf("src *%s", s.int())
	}
	if packed {
		params = "src *byte, size int, table *byte, width uint"
	}
	signature := fmt.Sprintf("(dst *%s, n int, %s", value, params)
	if d.params != "" {
		signature += ", " + d.params
	}
	signature += ")"
	if d.result != "" {
		signature += fmt.Sprintf(" (%s %s)", d.result, d.restype)
	}
	dispatchDecoder(s, name, value, packed, d)

	text(s.name(name), signature)
	dst, n := gp("dst"), gp("n")
	c := &codes{shape: s, packed: packed, src: gp("src")}
	c.setup()
	if d.setup != nil {
		d.setup()
	}
	group := c.regs() * s.lanes()
	at := func(i, j int) Mem { return Mem{Base: dst, Disp: i*group*s.bytes() + j*s.width()} }
	emit := func(i int, tail bool, lanes reg.OpmaskVirtual) {
		var k reg.Register
		if s.avx512 && tail {
			k = lanes
		}
		for j, r := range c.group(i, tail, lanes) {
			v := d.each(r, k)
			if k != nil {
				pick(s, VMOVDQU64, VMOVDQU32)(v, k, at(i, j))
			} else {
				s.store(v, at(i, j))
			}
		}
	}
	var four []quad
	switch {
	case d.pair != nil && s.avx512:
		four = []quad{{body: func() {
			for i := 0; i < 4; i += 2 {
				v, u := d.pair(c.group(i, false, nil)[0], c.group(i+1, false, nil)[0])
				s.store(v, at(i, 0))
				s.store(u, at(i+1, 0))
			}
		}}}
	case d.unroll:
		four = []quad{times4(emit)}
	}
	c.groups(n, group, dst, group*s.bytes(), emit, four...)
	Label("done")
	if d.finish != nil {
		d.finish()
	}
	if d.then != nil {
		s.again(d.then)
	}
	ret()
}

// again is a second pass, over the integers that the first left in dst.
func (s shape) again(d *decoder) {
	dst, n := gp("dst"), gp("n")
	src := GP64()
	MOVQ(dst, src)
	c := &codes{shape: s, src: src, pass: "_again"}
	d.setup()
	group := c.regs() * s.lanes()
	emit := func(i int, tail bool, lanes reg.OpmaskVirtual) {
		var k reg.Register
		if s.avx512 && tail {
			k = lanes
		}
		for j, r := range c.group(i, tail, lanes) {
			s.put(d.each(r, k), k, Mem{Base: dst, Disp: i*group*s.bytes() + j*s.width()})
		}
	}
	c.groups(n, group, dst, group*s.bytes(), emit, times4(emit))
	Label("done" + c.pass)
	d.finish()
}

// unpackOdd writes the kernels that only unpack, for widths of which a value
// may reach over one byte more than it has: those of 64 bits over nine, with
// AVX-512 alone, and those of 32 bits over five, unpacked as of 64.
func unpackOdd(s shape) {
	if s.size == 32 {
		return
	}
	for _, narrow := range []bool{true, false} {
		if !narrow && !s.avx512 {
			continue
		}
		name, value := "unpackWide64", "uint64"
		cond := []string{"width > 58"}
		if narrow {
			name, value = "unpackNarrow32", "uint32"
			cond = []string{"width > 26", "width <= 32"}
		}
		taken := s.done("len(dst)", 8)
		if s.avx512 {
			cond = append(cond, "len(dst) > 0")
		} else {
			cond = append(cond, "len(dst) >= 8", "cap(src) >= 16")
		}
		calls.add(s.avx512, fmt.Sprintf("%s(dst []%s, src []byte, width uint) (done int)", name, value), "0",
			strings.Join(cond, " && "),
			fmt.Sprintf("%s(&dst[0], %s, &src[0], cap(src), &unpackTables[1][%d][width][0], width)\nreturn %[2]s", name+suffix(s.avx512), taken, s.tier()))
		text(name+suffix(s.avx512), fmt.Sprintf("(dst *%s, n int, src *byte, size int, table *byte, width uint)", value))
		dst, n := gp("dst"), gp("n")
		c := &codes{shape: s, packed: true, wide: !narrow, src: gp("src")}
		c.setup()
		size := map[bool]int{false: 64, true: 32}[narrow]
		emit := func(i int, tail bool, lanes reg.OpmaskVirtual) {
			r := c.group(i, tail, lanes)
			m := Mem{Base: dst, Disp: i * size}
			switch {
			case s.avx512 && narrow && tail:
				VPMOVQD(r[0], lanes, m)
			case s.avx512 && narrow:
				VPMOVQD(r[0], m)
			case s.avx512 && tail:
				VMOVDQU64(r[0], lanes, m)
			case s.avx512:
				VMOVDQU64(r[0], m)
			default:
				VSHUFPS(U8(0x88), r[1], r[0], r[0]) // the low halves: 0 1 4 5, 2 3 6 7
				VPERMQ(U8(0xd8), r[0], r[0])
				VMOVDQU(r[0], m)
			}
		}
		var four []quad
		if narrow {
			four = []quad{times4(emit)}
		}
		c.groups(n, 8, dst, size, emit, four...)
		Label("done")
		ret()
	}
}

// The decoders.

func unpack(s shape) decoder {
	return decoder{name: "Unpack", unroll: true, each: func(r reg.VecVirtual, _ reg.Register) reg.VecVirtual { return r }}
}

func add(s shape) decoder {
	d := decoder{name: "Add", params: "add " + s.int(), unroll: true}
	var a reg.VecVirtual
	d.setup = func() { a = s.broadcast("add") }
	d.each = func(r reg.VecVirtual, _ reg.Register) reg.VecVirtual { s.add(a, r, r); return r }
	return d
}

func ramp(s shape) decoder {
	d := decoder{name: "Ramp", params: fmt.Sprintf("start, step %s", s.int())}
	var cur, inc reg.VecVirtual
	d.setup = func() { cur, inc = s.progression() }
	d.each = func(r reg.VecVirtual, _ reg.Register) reg.VecVirtual {
		s.add(cur, r, r)
		s.add(inc, cur, cur)
		return r
	}
	return d
}

// progression begins the numbers start + i*step: those of the first register,
// and what to add for the next.
func (s shape) progression() (cur, inc reg.VecVirtual) {
	step := s.broadcast("step")
	cur, inc = s.vec(), s.vec()
	switch {
	case s.size == 32:
		VPMULLD(s.iota(), step, cur)
	case s.avx512:
		VPMULLQ(s.iota(), step, cur)
	default:
		// 0 s 0 s + 0 0 2s 2s
		t := YMM()
		VPADDQ(step, step, t)
		VPAND(table("lanes23", func(i int) byte { return -byte(i >> 4 & 1) }, 32), t, t)
		VPAND(table("lanes13", func(i int) byte { return -byte(i >> 3 & 1) }, 32), step, cur)
		VPADDQ(t, cur, cur)
	}
	s.add(s.broadcast("start"), cur, cur)
	log := 0
	for 1<<log < s.lanes() {
		log++
	}
	s.shiftLeft(U8(log), step, inc)
	return cur, inc
}

// unorder turns integers of the order of floats into their bits.
func unorder(s shape) decoder {
	var low, zeros reg.VecVirtual
	return decoder{
		float: true,
		setup: func() {
			n, x := gp("zeros"), XMM()
			zeros = XMM()
			VMOVQ(n, zeros)
			INCQ(n)
			VMOVQ(n, x)
			low = s.ones()
			s.shiftRight(x, low, low)
		},
		each: func(r reg.VecVirtual, _ reg.Register) reg.VecVirtual {
			s.flipBelow(r, low)
			s.shiftLeft(zeros, r, r)
			return r
		},
	}
}

// flipBelow flips the bits of low in the lanes of r below zero.
func (s shape) flipBelow(r, low reg.VecVirtual) {
	sign := s.sign(r)
	if s.avx512 {
		VPTERNLOGQ(U8(0x78), low, sign, r) // r ^ (sign & low)
		return
	}
	VPAND(low, sign, sign)
	VPXOR(sign, r, r)
}

func ordered(s shape) decoder {
	d := unorder(s)
	d.name, d.unroll, d.params = "Ordered", true, fmt.Sprintf("add %s, zeros uint", s.int())
	var a reg.VecVirtual
	setup, each := d.setup, d.each
	d.setup = func() { setup(); a = s.broadcast("add") }
	d.each = func(r reg.VecVirtual, k reg.Register) reg.VecVirtual { s.add(a, r, r); return each(r, k) }
	return d
}

func sumOrdered(s shape) decoder {
	d := unorder(s)
	d.name = "SumOrdered"
	return summed(s, d, fmt.Sprintf("first, add %s, zeros uint", s.int()))
}

// magic is the bits of 1.5 * 2^52: an integer x of at most 52 bits added to
// them is the float64 of that much more than x.
const magic = 0x4338000000000000

// toDecimal turns integers into floats of their decimals and notes whether any
// was too large. Float32 values are products of float64, rounded.
func toDecimal(s shape) decoder {
	var back, scale, round reg.VecVirtual
	return limited(s, func() {
		back, scale = s.double("back"), s.double("scale")
		if s.size == 64 && !s.avx512 {
			round = s.constant(magic)
		}
	}, func(r reg.VecVirtual) reg.VecVirtual {
		if s.size == 64 {
			if s.avx512 {
				VCVTQQ2PD(r, r)
			} else {
				VPADDQ(round, r, r)
				VSUBPD(round, r, r)
			}
			VMULPD(back, r, r)
			VMULPD(scale, r, r)
			return r
		}
		lower, upper, half := s.vec(), s.vec(), YMM()
		if s.avx512 {
			VEXTRACTI64X4(U8(1), r, half)
			VCVTDQ2PD(r.AsY(), lower)
			VCVTDQ2PD(half, upper)
		} else {
			VEXTRACTI128(U8(1), r, half.AsX())
			VCVTDQ2PD(r.AsX(), lower)
			VCVTDQ2PD(half.AsX(), upper)
		}
		for _, x := range []reg.VecVirtual{lower, upper} {
			VMULPD(back, x, x)
			VMULPD(scale, x, x)
		}
		out := s.vec()
		if s.avx512 {
			VCVTPD2PS(lower, out.AsY())
			VCVTPD2PS(upper, half)
			VINSERTF64X4(U8(1), half, out, out)
		} else {
			VCVTPD2PSY(lower, out.AsX())
			VCVTPD2PSY(upper, half.AsX())
			VINSERTF128(U8(1), half.AsX(), out, out)
		}
		return out
	})
}

// limited turns integers into floats by convert, after setup, and notes whether
// any was too large for a decimal.
func limited(s shape, setup func(), convert func(r reg.VecVirtual) reg.VecVirtual) decoder {
	limit := pick(s, uint64(1)<<51, 1<<24)
	var shift, top, most reg.VecVirtual
	d := decoder{float: true, result: "bad", restype: "uint64"}
	// AVX2 compares 64 bits as signed alone: the sums begin at the least.
	bias := uint64(0)
	if s.size == 64 && !s.avx512 {
		bias = 1 << 63
	}
	d.setup = func() {
		setup()
		shift = s.constant(limit + bias)
		top = s.zero()
		if bias != 0 {
			most = s.constant(2*limit + bias)
		}
	}
	d.each = func(r reg.VecVirtual, k reg.Register) reg.VecVirtual {
		t := s.vec()
		s.add(shift, r, t)
		switch {
		case bias != 0:
			VPCMPGTQ(most, t, t)
			VPOR(t, top, top)
		case k != nil:
			pick(s, VPMAXUQ, VPMAXUD)(t, top, k, top)
		default:
			pick(s, VPMAXUQ, VPMAXUD)(t, top, top)
		}
		return convert(r)
	}
	d.finish = func() {
		g := GP64()
		switch {
		case s.avx512:
			k := K()
			pick(s, VPCMPUQ, VPCMPUD)(U8(6), s.constant(2*limit), top, k) // top > 2*limit
			KMOVQ(k, g)
		case s.size == 64:
			VMOVMSKPD(top, g.As32())
		default:
			m := s.constant(2 * limit)
			VPMAXUD(m, top, top)
			VPCMPEQD(m, top, top)
			VMOVMSKPS(top, g.As32())
			XORL(U32(0xff), g.As32())
		}
		Store(g, Return("bad"))
	}
	return d
}

func decimal(s shape) decoder {
	d := toDecimal(s)
	d.name, d.unroll, d.params = "Decimal", true, fmt.Sprintf("add %s, back, scale float64", s.int())
	var a reg.VecVirtual
	setup, each := d.setup, d.each
	d.setup = func() { setup(); a = s.broadcast("add") }
	d.each = func(r reg.VecVirtual, k reg.Register) reg.VecVirtual { s.add(a, r, r); return each(r, k) }
	return d
}

// toTenths is what toDecimal is for float32 where back is 1 and scale is 10^-e,
// which the sum of two float32, high and low, is near enough for: see tenth.
func toTenths(s shape) (setup func(), convert func(r reg.VecVirtual) reg.VecVirtual) {
	var high, low reg.VecVirtual
	return func() { high, low = s.single("high"), s.single("low") },
		func(r reg.VecVirtual) reg.VecVirtual {
			t := s.vec()
			VCVTDQ2PS(r, r)
			VMULPS(low, r, t)
			VFMADD213PS(t, high, r) // r*high + t
			return r
		}
}

// tenths makes decimals of packed codes of which none is too large.
func tenths(s shape) decoder {
	d := decoder{name: "Tenths", float: true, unroll: true, params: "add int32, high, low float32"}
	setup, convert := toTenths(s)
	var a reg.VecVirtual
	d.setup = func() { setup(); a = s.broadcast("add") }
	d.each = func(r reg.VecVirtual, _ reg.Register) reg.VecVirtual { s.add(a, r, r); return convert(r) }
	return d
}

// sumTenths is sumDecimal with toTenths.
func sumTenths(s shape) decoder {
	setup, convert := toTenths(s)
	t := limited(s, setup, convert)
	d := summed(s, decoder{name: "SumTenths", float: true}, "first, add int32, high, low float32")
	d.result, d.restype = "last int32, bad", "uint64"
	d.then = &t
	return d
}

// single turns integers into floats by products of float32.
func single(s shape) decoder {
	d := decoder{name: "Single", float: true, unroll: true, params: "add int32, back, scale float32"}
	var a, back, scale reg.VecVirtual
	d.setup = func() { a, back, scale = s.broadcast("add"), s.single("back"), s.single("scale") }
	d.each = func(r reg.VecVirtual, _ reg.Register) reg.VecVirtual {
		s.add(a, r, r)
		VCVTDQ2PS(r, r)
		VMULPS(back, r, r)
		VMULPS(scale, r, r)
		return r
	}
	return d
}

// sumDecimal makes the sums first, and then decimals of them: all in one needs
// more instructions under way than processors hold.
func sumDecimal(s shape) decoder {
	d := summed(s, decoder{name: "SumDecimal", float: true}, fmt.Sprintf("first, add %s, back, scale float64", s.int()))
	t := toDecimal(s)
	d.result, d.restype = "last "+s.int()+", bad", "uint64"
	d.then = &t
	return d
}

// fill writes start + i*step, without codes.
func fill(s shape) {
	calls.add(s.avx512, fmt.Sprintf("fill%d(dst []%[2]s, start, step %[2]s) (done int)", s.size, s.int()), "0",
		fmt.Sprintf("len(dst) >= %d", pick(s, 4, 8)),
		fmt.Sprintf("%s(&dst[0], len(dst), start, step)\nreturn %s", s.name("fill"), s.done("len(dst)", s.lanes())))
	text(s.name("fill"), fmt.Sprintf("(dst *%[1]s, n int, start, step %[1]s)", s.int()))
	dst, n := gp("dst"), gp("n")
	cur, inc := s.progression()
	SUBQ(U8(s.lanes()), n)
	JL(LabelRef("rest"))
	loop("loop")
	s.store(cur, Mem{Base: dst})
	s.add(inc, cur, cur)
	ADDQ(U8(s.width()), dst)
	SUBQ(U8(s.lanes()), n)
	JGE(LabelRef("loop"))
	Label("rest")
	if s.avx512 {
		ADDQ(U8(s.lanes()), n)
		JZ(LabelRef("done"))
		pick(s, VMOVDQU64, VMOVDQU32)(cur, lowBits(n, s.lanes()), Mem{Base: dst})
		Label("done")
	}
	ret()
}
