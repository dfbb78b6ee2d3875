package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Where the fields of a run are: see Run.
const (
	runOff       = 0
	runN         = 8
	runWidth     = 16
	runPatches   = 24
	runPositions = 32
	runHighs     = 48
	runSign      = 64
)

func runFirst(s shape) int { return runSign + s.bytes() }
func runAdd(s shape) int   { return runSign + 2*s.bytes() }
func runSize(s shape) int  { return pick(s, 88, 80) }

// runs writes the decoders that sum the codes of many runs in one call.
func runs(s shape) {
	ordered := unorder(s)
	ordered.name = "Ordered"
	decimal := toDecimal(s)
	sumRuns(s, "sumOrderedRuns", s.float(), "zeros uint", ordered)
	sumRuns(s, "sumDecimalRuns", s.float(), "back, scale float64", decoder{each: identity, then: &decimal})
	if s.size == 32 && s.avx512 {
		setup, convert := toTenths(s)
		tenths := limited(s, setup, convert)
		sumRuns(s, "sumTenthsRuns", s.float(), "high, low float32", decoder{each: identity, then: &tenths})
	}
}

// sumRuns writes one of them: d turns sums into values. A run has a multiple of
// 32 codes, all in one window, and 64 bytes more follow its codes.
func sumRuns(s shape, name, value, params string, d decoder) {
	args, results, otherwise := ", "+names(params), "done bool", "false"
	params = ", " + params
	c := &codes{shape: s, packed: true}
	step := c.regs() * s.lanes() // codes at a time: two registers, or what is whole bytes
	ahead := 1
	if s.avx512 {
		ahead, step = 2, 2*step
	}
	call := fmt.Sprintf("%s(&dst[0], len(dst), &runs[0].Off, len(runs), &src[:1][0], &unpackTables[%d][%d][0][0], &highs[0], walk*%d%s)", s.name(name), pick(s, 1, 0), s.tier(), step*s.bytes(), args)
	body := call + "\nreturn true"
	result := ""
	if d.then != nil {
		results, otherwise, result = results+", bad uint64", otherwise+", 0", " (bad uint64)"
		body = "return true, " + call
	}
	run, code := pick(s, "Run64", "Run32"), s.uint()
	calls.add(s.avx512, fmt.Sprintf("%s%d(dst []%s, src []byte, runs []%s, highs []%s, walk int%s) (%s)", name, s.size, value, run, code, params, results), otherwise, "true", body)

	text(s.name(name), fmt.Sprintf("(dst *%s, n int, runs *int, count int, src *byte, tables *byte, highs *%s, stride int%s)%s", value, code, params, result))
	dst, list, count, source, tables, highs, stride := gp("dst"), gp("runs"), gp("count"), gp("src"), gp("tables"), gp("highs"), gp("stride")
	if d.setup != nil {
		d.setup()
	}
	sums := &scan{shape: s}
	sums.setup(false)
	add, n := s.vec(), GP64()
	sums.total = s.vec()
	c.src, c.step, c.table, c.mask = GP64(), GP64(), GP64(), s.vec()
	if s.avx512 {
		c.indices, c.shifts = ZMM(), ZMM()
	} else {
		for i := 1; i < 2*c.regs(); i++ {
			c.at[i] = GP64()
		}
	}

	Label("run")
	MOVQ(Mem{Base: list, Disp: runOff}, c.src)
	MOVQ(Mem{Base: list, Disp: runN}, n)
	MOVQ(Mem{Base: list, Disp: runWidth}, c.step)
	pick(s, VPBROADCASTQ, VPBROADCASTD)(Mem{Base: list, Disp: runFirst(s)}, sums.total)
	pick(s, VPBROADCASTQ, VPBROADCASTD)(Mem{Base: list, Disp: runAdd(s)}, add)
	ADDQ(U8(runSize(s)), list)
	ADDQ(source, c.src)
	c.ofWidth(tables)

	loop("loop")
	var all []reg.VecVirtual
	for i := range ahead {
		for j, r := range c.group(i, false, nil) {
			s.add(Mem{Base: highs, Disp: (i*c.regs() + j) * s.width()}, r, r)
			s.add(add, r, r)
			all = append(all, r)
		}
	}
	if s.avx512 {
		sums.pair(all[0], all[1])
		LEAQ(Mem{Base: c.src, Index: c.step, Scale: 2}, c.src)
	} else {
		for _, r := range all {
			sums.sum(r)
		}
		ADDQ(c.step, c.src)
	}
	for i, r := range all {
		s.store(d.each(r, nil), Mem{Base: dst, Disp: i * s.width()})
	}
	ADDQ(U32(uint32(step*s.bytes())), dst)
	ADDQ(stride, highs)
	SUBQ(U8(uint8(step)), n)
	JNZ(LabelRef("loop"))
	DECQ(count)
	JNZ(LabelRef("run"))
	if d.then != nil {
		s.again(d.then)
	}
	ret()
}

// ofWidth prepares for codes as wide as step says, with tables of all widths.
func (c *codes) ofWidth(tables reg.GPVirtual) {
	// All ones, shifted right by size-width.
	n, x := GP64(), XMM()
	MOVQ(U32(uint32(c.size)), n)
	SUBQ(c.step, n)
	VMOVQ(n, x)
	c.setOnes(c.mask)
	c.shiftRight(x, c.mask, c.mask)

	MOVQ(c.step, c.table)
	SHLQ(U8(7), c.table)
	ADDQ(tables, c.table)
	if c.avx512 {
		VMOVDQU64(Mem{Base: c.table}, c.indices)
		VMOVDQU64(Mem{Base: c.table, Disp: 64}, c.shifts)
		if c.size == 32 {
			ADDQ(c.step, c.step)
		}
		return
	}
	for i := 1; i < 2*c.regs(); i++ {
		IMUL3Q(U8(uint8(i*16/c.bytes())), c.step, c.at[i])
		SHRQ(U8(3), c.at[i])
	}
}
