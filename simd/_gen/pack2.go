package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// packers2 writes the kernels that pack integers with AVX2, which moves bytes
// within 16 of them alone: pairs of elements meet there, shifted to where their
// first bit belongs in its byte. Elements are values, up to 32 bits pairs of
// values of consecutive index, and of 64-bit values up to 16 bits four of them.
func packers2(s shape) {
	for _, ramp := range []bool{false, true} {
		name, in, params, args := "pack", s.uint(), "", ""
		if ramp {
			name, in, params, args = "packRamp", s.int(), fmt.Sprintf(", start, step %s", s.int()), ", start, step"
		}
		cond := "n := len(src) &^ 7; n > 0 && oneWindow(2*width, 64)"
		call := func(kind, element string) string {
			return fmt.Sprintf("%s%s%d%s(&dst[0], len(dst), &src[0], n, &pairTables[%s][0], width%s)\n", name, kind, s.size, suffix(false), element, args)
		}
		pack2(s, name+"Pairs", ramp, 2)
		body := call("Pairs", "2*width")
		if s.size == 64 {
			pack2(s, name+"Fours", ramp, 4)
			pack2(s, name+"Singles", ramp, 1)
			cond = "n := len(src) &^ 7; n > 0 && oneWindow(width, 64)"
			body = "switch {\ncase width <= 16:\n" + call("Fours", "4*width") + "case oneWindow(2*width, 64):\n" + body + "default:\n" + call("Singles", "width") + "}\n"
		}
		calls.add(false, fmt.Sprintf("%s%d(dst []byte, src []%s, width uint%s) (done int)", name, s.size, in, params), "0", cond, body+"return n")
	}
}

// pack2 packs n values, a multiple of 8, above 0: 8 a turn, that is 2, 4 or 8
// elements. Stores reach beyond a group, so that the last groups go by way of a
// buffer.
func pack2(s shape, kernel string, ramp bool, values int) {
	pairs := values == 2
	in, params := s.uint(), ""
	if ramp {
		in, params = s.int(), fmt.Sprintf(", start, step %s", s.int())
	}
	TEXT(s.name(kernel), attr.NOSPLIT, fmt.Sprintf("func(dst *byte, size int, src *%s, n int, table *byte, width uint%s)", in, params))
	Pragma("noescape")
	buffer := AllocLocal(128)
	dst, size, src, n, tab, width := gp("dst"), gp("size"), gp("src"), gp("n"), gp("table"), gp("width")
	registers := 1
	if values == 1 {
		registers = 2
	}

	// What to take from the values of each load, and by how much it grows.
	loads := 2
	if s.size == 32 {
		loads = 1
	}
	var cur []reg.VecVirtual
	var inc reg.VecVirtual
	if ramp {
		first, _ := s.progression()
		cur = append(cur, first)
		step := s.broadcast("step")
		inc = YMM()
		s.shiftLeft(U8(3), step, inc)
		if loads == 2 {
			second := YMM()
			if pairs { // values 0 1 4 5, and 2 3 6 7
				VPADDQ(step, step, step)
				VPAND(table("lanes23", func(i int) byte { return -byte(i >> 4 & 1) }, 32), step, second)
				VPADDQ(second, first, first)
			} else {
				VPSLLQ(U8(2), step, step)
			}
			VPADDQ(step, first, second)
			cur = append(cur, second)
		}
	}

	mask, zero, count, widthX := s.ones(), YMM(), GP64(), XMM()
	MOVQ(U32(uint32(s.size)), count)
	SUBQ(width, count)
	VMOVQ(count, widthX)
	s.shiftRight(widthX, mask, mask)
	VPXOR(zero, zero, zero)
	VMOVQ(width, widthX)
	pairX := XMM()
	if values == 4 {
		VPADDQ(widthX, widthX, pairX)
	}

	shifts, odds, spills := make([]reg.VecVirtual, registers), make([]reg.VecVirtual, registers), make([]reg.VecVirtual, registers)
	for i := range registers {
		shifts[i], odds[i], spills[i] = YMM(), YMM(), YMM()
		VMOVDQU(Mem{Base: tab, Disp: 32 * i}, shifts[i])
		VMOVDQU(Mem{Base: tab, Disp: 64 + 32*i}, odds[i])
		if values < 4 { // there are more than 16 bytes
			VMOVDQU(Mem{Base: tab, Disp: 128 + 32*i}, spills[i])
		}
	}
	// Where each 16 bytes begin: at every second element.
	at := make([]reg.GPVirtual, 4/values)
	bits := GP64()
	MOVQ(width, bits)
	if pairs {
		ADDQ(bits, bits)
	}
	for i := 1; i < len(at); i++ {
		at[i] = GP64()
		if i == 1 {
			LEAQ(Mem{Base: bits, Index: bits, Scale: 1}, at[i])
		} else {
			LEAQ(Mem{Base: at[i-1], Index: bits, Scale: 2}, at[i])
		}
	}
	for _, a := range at[1:] {
		SHRQ(U8(3), a)
	}
	last, out := GP64(), GP64() // where the last whole stores may begin; where the buffer's bytes belong
	LEAQ(Mem{Base: dst, Index: size, Scale: 1}, last)
	SUBQ(U8(16), last)
	if len(at) > 1 {
		SUBQ(at[len(at)-1], last)
	}
	XORQ(out, out)

	// load is load i of the group, less what is to be taken from it.
	load := func(i int, m Mem) reg.VecVirtual {
		r := YMM()
		if s.size == 64 && pairs {
			VMOVDQU(m, r.AsX())
			m.Disp += 32
			VINSERTI128(U8(1), m, r, r)
		} else {
			VMOVDQU(m, r)
		}
		if ramp {
			s.sub(cur[i], r, r)
			s.add(inc, cur[i], cur[i])
		}
		VPAND(mask, r, r)
		return r
	}
	elements := func(i int) reg.VecVirtual {
		var r reg.VecVirtual
		switch {
		case values == 1:
			return load(i, Mem{Base: src, Disp: 32 * i})
		case s.size == 32:
			high := YMM()
			r = load(0, Mem{Base: src})
			VPSRLQ(U8(32), r, high)
			VPSLLQ(widthX, high, high)
			VPBLENDD(U8(0xaa), zero, r, r)
			VPOR(high, r, r)
		default:
			second := 32
			if pairs {
				second = 16
			}
			a, b := load(0, Mem{Base: src}), load(1, Mem{Base: src, Disp: second})
			r = YMM()
			VPUNPCKLQDQ(b, a, r)
			VPUNPCKHQDQ(b, a, a)
			VPSLLQ(widthX, a, a)
			VPOR(a, r, r)
		}
		if pairs {
			return r
		}
		// Pairs 0 and 2 below 1 and 3.
		fours, high := XMM(), XMM()
		VEXTRACTI128(U8(1), r, high)
		VPSLLQ(pairX, high, high)
		VPOR(high, r.AsX(), fours)
		return fours
	}

	loop("loop")
	CMPQ(dst, last)
	JHI(LabelRef("end"))
	Label("group")
	var before reg.VecVirtual
	for i := range registers {
		r := elements(i)
		if values == 4 {
			odd := XMM()
			VPSLLVQ(shifts[0].AsX(), r, r)
			VPSHUFB(odds[0].AsX(), r, odd)
			VPBLENDD(U8(0x0c), zero.AsX(), r, r)
			VPOR(odd, r, r)
			VMOVDQU(r, Mem{Base: dst})
			continue
		}
		odd, spill := YMM(), YMM()
		VPSLLVQ(shifts[i], r, r)
		VPSHUFB(odds[i], r, odd)
		VPBLENDD(U8(0xcc), zero, r, r)
		VPOR(odd, r, r)
		// The byte that 16 bytes end with, where the next begin with it.
		if i == 0 {
			VPERM2I128(U8(0x08), r, r, spill)
		} else {
			VPERM2I128(U8(0x03), before, r, spill)
		}
		before = r
		VPSHUFB(spills[i], spill, spill)
		whole := YMM()
		VPOR(spill, r, whole)
		m := Mem{Base: dst}
		if i > 0 {
			m = Mem{Base: dst, Index: at[2*i], Scale: 1}
		}
		VMOVDQU(whole.AsX(), m)
		VEXTRACTI128(U8(1), whole, Mem{Base: dst, Index: at[2*i+1], Scale: 1})
	}
	ADDQ(U8(8*s.bytes()), src)
	ADDQ(width, dst)
	SUBQ(U8(8), n)
	JNZ(LabelRef("loop"))

	TESTQ(out, out)
	JZ(LabelRef("done"))
	left, from := GP64(), GP64()
	LEAQ(buffer, from)
	MOVQ(dst, left)
	SUBQ(from, left)
	for _, size := range []int{16, 8, 4, 2, 1} {
		next := fmt.Sprintf("copied%d", size)
		if size == 16 {
			Label("copy16")
		}
		CMPQ(left, U8(size))
		JLT(LabelRef(next))
		g, x := GP64(), XMM()
		switch size {
		case 16:
			VMOVDQU(Mem{Base: from}, x)
			VMOVDQU(x, Mem{Base: out})
		case 8:
			MOVQ(Mem{Base: from}, g)
			MOVQ(g, Mem{Base: out})
		case 4:
			MOVL(Mem{Base: from}, g.As32())
			MOVL(g.As32(), Mem{Base: out})
		case 2:
			MOVW(Mem{Base: from}, g.As16())
			MOVW(g.As16(), Mem{Base: out})
		case 1:
			MOVB(Mem{Base: from}, g.As8())
			MOVB(g.As8(), Mem{Base: out})
		}
		ADDQ(U8(size), from)
		ADDQ(U8(size), out)
		SUBQ(U8(size), left)
		if size == 16 {
			JMP(LabelRef("copy16"))
		}
		Label(next)
	}
	Label("done")
	ret()

	Label("end")
	MOVQ(dst, out)
	LEAQ(buffer, dst)
	MOVQ(I32(-1), last)
	JMP(LabelRef("group"))
}
