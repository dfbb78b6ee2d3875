package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// scatter writes the kernel that puts packed numbers at packed positions, as
// many at a time as a register has lanes; AVX-512 alone can store that way.
func scatter(s shape) {
	if !s.avx512 {
		return
	}
	table := fmt.Sprintf("&unpackTables[%d][%d]", pick(s, 1, 0), s.tier())
	calls.add(true, fmt.Sprintf("scatter%d(dst []%[2]s, positions []byte, positionWidth uint, src []byte, width, shift uint, sign %[2]s, n int) (done bool, bad uint64)", s.size, s.uint()), "false, 0",
		fmt.Sprintf("n > 0 && len(dst) > 0 && oneWindow(positionWidth, %d) && oneWindow(width, %[1]d) && cap(positions)-PackedLen(n, positionWidth) >= 64 && cap(src)-PackedLen(n, width) >= 64", s.size),
		fmt.Sprintf("return true, %s(&dst[0], len(dst), &positions[:1][0], %s[positionWidth][0], positionWidth, &src[:1][0], %[2]s[width][0], width, shift, sign, n)", s.name("scatter"), table))

	text(s.name("scatter"), fmt.Sprintf("(dst *%s, limit int, positions *byte, positionTable *byte, positionWidth uint, src *byte, table *byte, width, shift uint, sign %[1]s, n int) (bad uint64)", s.uint()))
	dst, n := gp("dst"), gp("n")
	at := s.packed("positions", "positionTable", "positionWidth")
	high := s.packed("src", "table", "width")
	sign, shift, last := s.broadcast("sign"), XMM(), s.ones()
	VMOVQ(gp("shift"), shift)
	limit := s.vec()
	s.spread(pick[reg.Register](s, gp("limit"), gp("limit").As32()), limit)

	Label("loop")
	lanes := lowBits(n, s.lanes())
	p, x := at(), high()
	s.xor(sign, x, x)
	s.sub(sign, x, x)
	s.shiftLeft(shift, x, x)
	before, good := s.vec(), K()
	pick(s, VALIGNQ, VALIGND)(U8(uint8(s.lanes()-1)), last, p, before)
	pick(s, VPCMPQ, VPCMPD)(U8(6), before, p, lanes, good) // p > before
	pick(s, VPCMPUQ, VPCMPUD)(U8(1), limit, p, good, good) // p < limit
	want, got := GP64(), GP64()
	KMOVQ(lanes, want)
	KMOVQ(good, got)
	XORQ(want, got)
	JNZ(LabelRef("done"))
	pick(s, VPSCATTERQQ, VPSCATTERDD)(x, good, Mem{Base: dst, Index: p, Scale: uint8(s.bytes())})
	s.load(p, last)
	SUBQ(U8(uint8(s.lanes())), n)
	JG(LabelRef("loop"))
	Label("done")
	Store(got, Return("bad"))
	ret()
}

// packed gives the next packed numbers with each call, a register full.
func (s shape) packed(src, table, width string) func() reg.VecVirtual {
	from, entry, step := gp(src), gp(table), gp(width)
	indices, shifts, mask := s.vec(), s.vec(), s.ones()
	s.load(Mem{Base: entry}, indices)
	s.load(Mem{Base: entry, Disp: 64}, shifts)
	n, x := GP64(), XMM()
	MOVQ(U32(uint32(s.size)), n)
	SUBQ(step, n)
	VMOVQ(n, x)
	s.shiftRight(x, mask, mask)
	if s.size == 32 {
		ADDQ(step, step)
	}
	return func() reg.VecVirtual {
		r := s.vec()
		VPERMB(Mem{Base: from}, indices, r)
		pick(s, VPSRLVQ, VPSRLVD)(shifts, r, r)
		s.and(mask, r, r)
		ADDQ(step, from)
		return r
	}
}
