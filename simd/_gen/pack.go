package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// packers writes the kernels that pack integers, as they are or less a
// progression, with AVX-512.
func packers(s shape) {
	for _, ramp := range []bool{false, true} {
		packWide(s, ramp)
		packNarrow(s, ramp)
		name, in, params, args := "pack", s.uint(), "", ""
		if ramp {
			name, in, params, args = "packRamp", s.int(), fmt.Sprintf(", start, step %s", s.int()), ", start, step"
		}
		calls.add(true, fmt.Sprintf("%s%d(dst []byte, src []%s, width uint%s) (done int)", name, s.size, in, params), "0",
			fmt.Sprintf("len(dst) > 0 && oneWindow(%s, 64)", pick(s, "width", "2*width")),
			fmt.Sprintf(`if width <= 8 {
				%sNarrow%d%s(&dst[0], len(dst), &src[0], len(src), width%s)
			} else {
				%[1]sWide%[2]d%[3]s(&dst[0], len(dst), &src[0], len(src), &packTables[%[5]s][0], width%[4]s)
			}
			return len(src)`, name, s.size, suffix(true), args, pick(s, "width", "2*width")))
	}
}

// packer is what the kernels share: they read groups of values, and write as
// many bytes as are left, at most those of a register.
type packer struct {
	shape
	src, n   reg.GPVirtual
	cur, inc reg.VecVirtual
}

func (p *packer) load(r reg.VecVirtual, lanes reg.Register) {
	m := Mem{Base: p.src}
	if lanes == nil {
		p.shape.load(m, r)
	} else {
		pick(p.shape, VMOVDQU64_Z, VMOVDQU32_Z)(m, lanes, r)
	}
	if p.cur != nil {
		if lanes == nil {
			p.sub(p.cur, r, r)
		} else {
			pick(p.shape, VPSUBQ_Z, VPSUBD_Z)(p.cur, r, lanes, r)
		}
		p.add(p.inc, p.cur, p.cur)
	}
	ADDQ(U8(64), p.src)
}

func beginPack(s shape, kind string, ramp bool, table string) (p *packer, dst, size reg.GPVirtual) {
	in, params, name := s.uint(), "", "pack"
	if ramp {
		in, params, name = s.int(), fmt.Sprintf(", start, step %s", s.int()), "packRamp"
	}
	text(s.name(name+kind), fmt.Sprintf("(dst *byte, size int, src *%s, n int%s, width uint%s)", in, table, params))
	dst, size = gp("dst"), gp("size")
	p = &packer{shape: s, src: gp("src"), n: gp("n")}
	if ramp {
		p.cur, p.inc = s.progression()
	}
	return p, dst, size
}

// packWide packs widths above 6: a group of values, shifted in place, is
// spread to its bytes. Values of even and odd index go separately: those of
// one kind share no byte. Pairs of 32-bit values count as one of 64.
func packWide(s shape, ramp bool) {
	p, dst, size := beginPack(s, "Wide", ramp, ", table *byte")
	tab, width := gp("table"), gp("width")
	even, odd, shift := ZMM(), ZMM(), ZMM()
	VMOVDQU64(Mem{Base: tab}, even)
	VMOVDQU64(Mem{Base: tab, Disp: 64}, odd)
	VMOVDQU64(Mem{Base: tab, Disp: 128}, shift)
	isEven, isOdd := K(), K()
	KMOVQ(Mem{Base: tab, Disp: 192}, isEven)
	KMOVQ(Mem{Base: tab, Disp: 200}, isOdd)
	var mask, low reg.VecVirtual
	widthX := XMM()
	x, c := XMM(), GP64()
	mask = s.ones()
	MOVQ(U32(uint32(s.size)), c)
	SUBQ(width, c)
	VMOVQ(c, x)
	s.shiftRight(x, mask, mask)
	if s.size == 32 {
		low = s.ones()
		VPSRLQ(U8(32), low, low)
		VMOVQ(width, widthX)
		ADDQ(width, width)
	}
	group := func(lanes reg.Register) reg.VecVirtual {
		t := ZMM()
		p.load(t, lanes)
		if s.size == 32 {
			h := ZMM()
			VPANDQ(mask, t, t)
			VPSRLQ(U8(32), t, h)
			VPSLLQ(widthX, h, h)
			VPANDQ(low, t, t)
			VPORQ(h, t, t)
		}
		a, b := ZMM(), ZMM()
		if s.size == 64 {
			VPANDQ(mask, t, t)
		}
		VPSLLVQ(shift, t, t)
		VPERMB_Z(t, even, isEven, a)
		VPERMB_Z(t, odd, isOdd, b)
		VPORQ(a, b, a)
		return a
	}
	SUBQ(U8(s.lanes()), p.n)
	JL(LabelRef("rest"))
	// Stores of no more than what holds a group: those beyond a cache line
	// take longer.
	for _, bytes := range []int{16, 32, 64} {
		next := fmt.Sprintf("over%d", bytes)
		if bytes < 64 {
			CMPQ(width, U8(bytes))
			JHI(LabelRef(next))
		}
		CMPQ(size, U8(bytes))
		JLT(LabelRef("rest"))
		loop := fmt.Sprintf("loop%d", bytes)
		Label(loop)
		r := group(nil)
		switch m := (Mem{Base: dst}); bytes {
		case 16:
			VMOVDQU(r.AsX(), m)
		case 32:
			VMOVDQU(r.AsY(), m)
		default:
			VMOVDQU64(r, m)
		}
		ADDQ(width, dst)
		SUBQ(width, size)
		SUBQ(U8(s.lanes()), p.n)
		JL(LabelRef("rest"))
		CMPQ(size, U8(bytes))
		JGE(LabelRef(loop))
		if bytes < 64 {
			JMP(LabelRef("rest"))
			Label(next)
		}
	}
	Label("rest")
	ADDQ(U8(s.lanes()), p.n)
	JZ(LabelRef("done"))
	Label("tail")
	a := group(lowBits(p.n, s.lanes()))
	VMOVDQU8(a, lowBits(size, 64), Mem{Base: dst})
	ADDQ(width, dst)
	SUBQ(width, size)
	SUBQ(U8(s.lanes()), p.n)
	JG(LabelRef("tail"))
	Label("done")
	ret()
}

// packNarrow packs widths to 8: values become bytes, 8 bytes become width.
func packNarrow(s shape, ramp bool) {
	p, dst, size := beginPack(s, "Narrow", ramp, "")
	width := gp("width")
	// The low bits of every byte.
	mask, c, k := GP64(), GP64(), GP64()
	MOVQ(I32(-1), mask)
	BZHIQ(width, mask, mask)
	MOVQ(U64(0x0101010101010101), k)
	IMULQ(k, mask)
	MOVQ(width, c)
	halves := s.lanes() / 8
	group := func(lanes reg.Register) (out []reg.GPVirtual) {
		t, x := ZMM(), XMM()
		p.load(t, lanes)
		pick(s, VPMOVQB, VPMOVDB)(t, x)
		for h := range halves {
			g := GP64()
			if h == 0 {
				VMOVQ(x, g)
			} else {
				VPEXTRQ(U8(h), x, g)
			}
			PEXTQ(mask, g, g)
			out = append(out, g)
		}
		return out
	}
	room := 8 * halves // more than a group's stores reach
	SUBQ(U8(s.lanes()), p.n)
	JL(LabelRef("rest"))
	CMPQ(size, U8(room))
	JLT(LabelRef("rest"))
	loop("loop")
	for h, g := range group(nil) {
		if h == 0 {
			MOVQ(g, Mem{Base: dst})
		} else {
			MOVQ(g, Mem{Base: dst, Index: width, Scale: 1})
		}
	}
	LEAQ(Mem{Base: dst, Index: width, Scale: uint8(halves)}, dst)
	for range halves {
		SUBQ(width, size)
	}
	SUBQ(U8(s.lanes()), p.n)
	JL(LabelRef("rest"))
	CMPQ(size, U8(room))
	JGE(LabelRef("loop"))
	Label("rest")
	ADDQ(U8(s.lanes()), p.n)
	JZ(LabelRef("done"))
	Label("tail")
	for _, g := range group(lowBits(p.n, s.lanes())) {
		x := XMM()
		VMOVQ(g, x)
		left := GP64()
		MOVQ(size, left)
		zero := GP64()
		XORQ(zero, zero)
		TESTQ(left, left)
		CMOVQLT(zero, left)
		VMOVDQU8(x, lowBits(left, 8), Mem{Base: dst})
		ADDQ(width, dst)
		SUBQ(width, size)
	}
	SUBQ(U8(s.lanes()), p.n)
	JG(LabelRef("tail"))
	Label("done")
	ret()
}
