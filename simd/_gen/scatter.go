package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// scatter writes the kernel that stores the patches of runs, as many at a time
// as a register has lanes; AVX-512 alone can store that way.
func scatter(s shape) {
	if !s.avx512 {
		return
	}
	calls.add(true, fmt.Sprintf("scatterRuns%d(highs []%s, src []byte, runs []Run[%s]) (done bool, bad uint64)", s.size, s.uint(), s.int()), "false, 0", "true",
		fmt.Sprintf("return true, %s(&highs[0], &runs[0].Off, len(runs), &src[:1][0], &unpackTables[%d][1][0][0])", s.name("scatterRuns"), pick(s, 1, 0)))

	text(s.name("scatterRuns"), fmt.Sprintf("(highs *%s, runs *int, count int, src *byte, tables *byte) (bad uint64)", s.uint()))
	dst, list, count, source, tables := gp("highs"), gp("runs"), gp("count"), gp("src"), gp("tables")
	at, high := packed{shape: s}, packed{shape: s}
	at.setup()
	high.setup()
	sign, limit, last, n := s.vec(), s.vec(), s.vec(), GP64()
	shift := XMM()
	got := GP64()
	XORQ(got, got)

	Label("run")
	MOVQ(Mem{Base: list, Disp: runPatches}, n)
	TESTQ(n, n)
	JZ(LabelRef("next"))
	at.begin(list, runPositions, source, tables)
	high.begin(list, runHighs, source, tables)
	pick(s, VPBROADCASTQ, VPBROADCASTD)(Mem{Base: list, Disp: runSign}, sign)
	VMOVQ(Mem{Base: list, Disp: runWidth}, shift)
	pick(s, VPBROADCASTQ, VPBROADCASTD)(Mem{Base: list, Disp: runN}, limit)
	s.setOnes(last)
	loop("loop")
	lanes := lowBits(n, s.lanes())
	p, x := at.next(), high.next()
	s.xor(sign, x, x)
	s.sub(sign, x, x)
	s.shiftLeft(shift, x, x)
	before, good := s.vec(), K()
	pick(s, VALIGNQ, VALIGND)(U8(uint8(s.lanes()-1)), last, p, before)
	pick(s, VPCMPQ, VPCMPD)(U8(6), before, p, lanes, good) // p > before
	pick(s, VPCMPUQ, VPCMPUD)(U8(1), limit, p, good, good) // p < limit
	want := GP64()
	KMOVQ(lanes, want)
	KMOVQ(good, got)
	XORQ(want, got)
	JNZ(LabelRef("done"))
	pick(s, VPSCATTERQQ, VPSCATTERDD)(x, good, Mem{Base: dst, Index: p, Scale: uint8(s.bytes())})
	s.load(p, last)
	SUBQ(U8(uint8(s.lanes())), n)
	JG(LabelRef("loop"))
	Label("next")
	MOVQ(Mem{Base: list, Disp: runN}, n)
	LEAQ(Mem{Base: dst, Index: n, Scale: uint8(s.bytes())}, dst)
	ADDQ(U8(uint8(runSize(s))), list)
	DECQ(count)
	JNZ(LabelRef("run"))
	Label("done")
	Store(got, Return("bad"))
	ret()
}

// packed is packed numbers, a register full at a time.
type packed struct {
	shape
	src, step, table      reg.GPVirtual
	indices, shifts, mask reg.VecVirtual
}

func (c *packed) setup() {
	c.src, c.step, c.table = GP64(), GP64(), GP64()
	c.indices, c.shifts, c.mask = c.vec(), c.vec(), c.vec()
}

// begin begins those that the run describes by an offset in the source and a
// width, one after the other.
func (c *packed) begin(run reg.Register, field int, source, tables reg.GPVirtual) {
	MOVQ(Mem{Base: run, Disp: field}, c.src)
	MOVQ(Mem{Base: run, Disp: field + 8}, c.step)
	ADDQ(source, c.src)
	d := codes{shape: c.shape, step: c.step, table: c.table, mask: c.mask, indices: c.indices, shifts: c.shifts}
	d.ofWidth(tables)
}

func (c *packed) next() reg.VecVirtual {
	r := c.vec()
	VPERMB(Mem{Base: c.src}, c.indices, r)
	pick(c.shape, VPSRLVQ, VPSRLVD)(c.shifts, r, r)
	c.and(c.mask, r, r)
	ADDQ(c.step, c.src)
	return r
}
