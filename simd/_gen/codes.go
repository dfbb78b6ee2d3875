package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// codes loads the unsigned integers that a decoder begins with: packed ones of
// a width, or plain ones.
type codes struct {
	shape
	packed bool
	src    reg.GPVirtual

	end   reg.GPVirtual // packed: behind the bytes
	last  reg.GPVirtual // packed: where the last full group may begin
	step  reg.GPVirtual // packed: bytes of a group
	step3 reg.GPVirtual // three times that, in unrolled loops
	at    [4]reg.GPVirtual
	table reg.GPVirtual
	mask  reg.VecVirtual

	// AVX-512 alone: AVX2 has too few registers to keep the first two.
	indices, shifts reg.VecVirtual
	block, stride   reg.VecVirtual // of the tail
	total           reg.GPVirtual  // bytes of src

	pass       string          // of the labels, where a kernel has more than one
	tableParam string          // packed: "table" if empty
	follow     func(count int) // moves what else goes from group to group

	// Wide: a ninth byte for each value.
	wide           bool
	eight, shifts9 reg.VecVirtual
	firstBytes     reg.OpmaskVirtual
}

// regs is the number of registers of a group: packed groups are whole bytes,
// so 8 values or more.
func (c *codes) regs() int {
	if c.lanes() < 8 {
		return 2
	}
	return 1
}

func (c *codes) setup() {
	if !c.packed {
		return
	}
	size, width := gp("size"), gp("width")
	c.total = size
	if c.tableParam == "" {
		c.tableParam = "table"
	}
	c.table = gp(c.tableParam)
	c.end = GP64()
	LEAQ(Mem{Base: c.src, Index: size, Scale: 1}, c.end)

	// All ones, shifted right by size-width.
	c.mask = c.ones()
	n, x := GP64(), XMM()
	MOVQ(U32(uint32(c.size)), n)
	SUBQ(width, n)
	VMOVQ(n, x)
	c.shiftRight(x, c.mask, c.mask)

	c.last = GP64()
	c.step = width
	if c.avx512 {
		LEAQ(Mem{Base: c.end, Disp: -64}, c.last)
		c.indices, c.shifts = ZMM(), ZMM()
		VMOVDQU64(Mem{Base: c.table}, c.indices)
		VMOVDQU64(Mem{Base: c.table, Disp: 64}, c.shifts)
		if c.size == 32 {
			ADDQ(c.step, c.step)
		}
		if c.wide {
			c.eight = c.constant(0x0808080808080808)
			c.shifts9 = c.constant(64)
			VPSUBQ(c.shifts, c.shifts9, c.shifts9)
			g := GP64()
			MOVQ(U64(0x0101010101010101), g)
			c.firstBytes = K()
			KMOVQ(g, c.firstBytes)
		}
		return
	}
	// Each half of a register takes 16 bytes of src: 2 values of 64 bits, or
	// 4 of 32.
	halves := 2 * c.regs()
	for i := 1; i < halves; i++ {
		c.at[i] = GP64()
		IMUL3Q(U8(i*16/c.bytes()), width, c.at[i])
		SHRQ(U8(3), c.at[i])
	}
	MOVQ(c.end, c.last)
	SUBQ(c.at[halves-1], c.last)
	SUBQ(U8(16), c.last)
}

// lastBlock prepares for the groups of the tail: they all come from one block
// of 64 bytes, the last of src or that with the one group left, or from a
// source shorter than that. The indices move from group to group.
func (c *codes) lastBlock() {
	if !c.packed {
		return
	}
	c.block, c.stride = ZMM(), ZMM()
	VPBROADCASTB(c.step.As32(), c.stride)
	CMPQ(c.src, c.last)
	JLS(LabelRef("whole"))
	CMPQ(c.total, U8(64))
	JLT(LabelRef("short"))
	SUBQ(c.last, c.src)
	moved := ZMM()
	VPBROADCASTB(c.src.As32(), moved)
	VPADDB(moved, c.indices, c.indices)
	MOVQ(c.last, c.src)
	Label("whole")
	VMOVDQU64(Mem{Base: c.src}, c.block)
	JMP(LabelRef("tail"))
	Label("short")
	VMOVDQU8_Z(Mem{Base: c.src}, lowBits(c.total, 64), c.block)
}

// jumpIfShort jumps where fewer bytes are left than a plain load takes.
func (c *codes) jumpIfShort(label string) {
	if c.packed {
		CMPQ(c.src, c.last)
		JHI(LabelRef(label))
	}
}

func (c *codes) jumpIfLong(label string) {
	CMPQ(c.src, c.last)
	JLS(LabelRef(label))
}

// load loads group i from src on: packed codes each in the bytes of its value,
// not yet shifted nor masked. The tail is what a plain load may not serve; lanes
// are then the ones to load of plain integers.
func (c *codes) load(i int, tail bool, lanes reg.OpmaskVirtual) []reg.VecVirtual {
	out := make([]reg.VecVirtual, c.regs())
	for j := range out {
		out[j] = c.vec()
	}
	switch {
	case !c.packed:
		for j, r := range out {
			m := Mem{Base: c.src, Disp: (i*len(out) + j) * c.width()}
			if tail {
				pick(c.shape, VMOVDQU64_Z, VMOVDQU32_Z)(m, lanes, r)
			} else {
				c.shape.load(m, r)
			}
		}
	case c.avx512:
		VPERMB(c.from(i, tail), c.indices, out[0])
	case tail:
		// The load that would reach over the end ends there; the indices of
		// its bytes grow by as much as it moved.
		limit := GP64()
		LEAQ(Mem{Base: c.end, Disp: -16}, limit)
		for i, r := range out {
			var half [2]reg.VecVirtual
			for j := range half {
				p, d, zero := GP64(), GP64(), GP64()
				if h := 2*i + j; h == 0 {
					MOVQ(c.src, p)
				} else {
					LEAQ(Mem{Base: c.src, Index: c.at[h], Scale: 1}, p)
				}
				XORQ(zero, zero)
				MOVQ(p, d)
				SUBQ(limit, d)
				CMOVQLT(zero, d)
				SUBQ(d, p)
				x := XMM()
				half[j] = XMM()
				VMOVQ(d, x)
				VPBROADCASTB(x, x)
				VPADDB(Mem{Base: c.table, Disp: 32*i + 16*j}, x, x)
				VMOVDQU(Mem{Base: p}, half[j])
				VPSHUFB(x, half[j], half[j])
			}
			VINSERTI128(U8(1), half[1], half[0].AsY(), r)
		}
	default:
		for i, r := range out {
			m := Mem{Base: c.src}
			if i > 0 {
				m = Mem{Base: c.src, Index: c.at[2*i], Scale: 1}
			}
			VMOVDQU(m, r.AsX())
			VINSERTI128(U8(1), Mem{Base: c.src, Index: c.at[2*i+1], Scale: 1}, r, r)
			VPSHUFB(Mem{Base: c.table, Disp: 32 * i}, r, r)
		}
	}
	return out
}

// from is where the bytes of group i are, with AVX-512.
func (c *codes) from(i int, tail bool) Op {
	switch {
	case tail:
		return c.block
	case i == 0:
		return Mem{Base: c.src}
	case i == 3:
		return Mem{Base: c.src, Index: c.step3, Scale: 1}
	}
	return Mem{Base: c.src, Index: c.step, Scale: uint8(i)}
}

// shift is where the shift counts of register i of a group are.
func (c *codes) shift(i int) Op {
	if c.avx512 {
		return c.shifts
	}
	return Mem{Base: c.table, Disp: 64 + 32*i}
}

// loaded ends the loading of a group.
func (c *codes) loaded(tail bool) {
	if c.packed && c.avx512 && tail {
		VPADDB(c.stride, c.indices, c.indices)
	}
}

// group are the codes of group i.
func (c *codes) group(i int, tail bool, lanes reg.OpmaskVirtual) []reg.VecVirtual {
	out := c.load(i, tail, lanes)
	if !c.packed {
		return out
	}
	for j, r := range out {
		var t reg.VecVirtual
		if c.wide {
			ninth := ZMM()
			t = ZMM()
			VPADDB(c.eight, c.indices, ninth)
			VPERMB_Z(c.from(i, tail), ninth, c.firstBytes, t)
			VPSLLVQ(c.shifts9, t, t)
		}
		pick(c.shape, VPSRLVQ, VPSRLVD)(c.shift(j), r, r)
		if c.wide {
			VPORQ(t, r, r)
		}
		c.and(c.mask, r, r)
	}
	c.loaded(tail)
	return out
}

// groups runs body for n values: over groups that plain loads serve, then over
// the others, with AVX-512 under a mask of the lanes that count. It moves src,
// and dst by size bytes for each group. Body i is for group i from there on;
// quads do four groups at a time, with AVX-512. It falls through or jumps to the
// label done. For AVX2 n is a multiple of the group, and not zero.
func (c *codes) groups(n reg.GPVirtual, group int, dst reg.GPVirtual, size int, body func(i int, tail bool, lanes reg.OpmaskVirtual), quads ...quad) {
	next := func(count int) {
		ADDQ(I32(int32(count*size)), dst)
		switch {
		case !c.packed:
			ADDQ(I32(int32(count*c.regs()*c.width())), c.src)
		case count == 4:
			LEAQ(Mem{Base: c.src, Index: c.step, Scale: 4}, c.src)
		default:
			ADDQ(c.step, c.src)
		}
		if c.follow != nil {
			c.follow(count)
		}
	}
	if !c.avx512 {
		loop("loop" + c.pass)
		c.jumpIfShort("tail")
		body(0, false, nil)
		next(1)
		SUBQ(U8(group), n)
		JNZ(LabelRef("loop" + c.pass))
		if c.packed {
			JMP(LabelRef("done" + c.pass))
			Label("tail" + c.pass)
			body(0, true, nil)
			next(1)
			SUBQ(U8(group), n)
			JNZ(LabelRef("tail" + c.pass))
		}
		return
	}
	if len(quads) > 0 {
		last := GP64() // where the last four full groups may begin
		if c.packed {
			c.step3 = GP64()
			LEAQ(Mem{Base: c.step, Index: c.step, Scale: 2}, c.step3)
			MOVQ(c.last, last)
			SUBQ(c.step3, last)
		}
		SUBQ(I32(int32(4*group)), n)
		JL(LabelRef("few" + c.pass))
		if c.packed {
			CMPQ(c.src, last)
			JHI(LabelRef("few" + c.pass))
		}
		for _, q := range quads {
			if q.jump != nil {
				q.jump("loop4" + q.name + c.pass)
			}
		}
		for i := len(quads) - 1; i >= 0; i-- {
			label := "loop4" + quads[i].name + c.pass
			loop(label)
			quads[i].body()
			next(4)
			SUBQ(I32(int32(4*group)), n)
			if c.packed {
				JL(LabelRef("few" + c.pass))
				CMPQ(c.src, last)
				JLS(LabelRef(label))
			} else {
				JGE(LabelRef(label))
			}
			if i > 0 {
				JMP(LabelRef("few" + c.pass))
			}
		}
		Label("few" + c.pass)
		ADDQ(I32(int32(4*group)), n)
	}
	SUBQ(U8(group), n)
	JL(LabelRef("rest" + c.pass))
	c.jumpIfShort("rest")
	Label("loop" + c.pass)
	body(0, false, nil)
	next(1)
	SUBQ(U8(group), n)
	if c.packed {
		JL(LabelRef("rest" + c.pass))
		c.jumpIfLong("loop")
	} else {
		JGE(LabelRef("loop" + c.pass))
	}
	Label("rest" + c.pass)
	ADDQ(U8(group), n)
	JZ(LabelRef("done" + c.pass))
	c.lastBlock()
	Label("tail" + c.pass)
	body(0, true, lowBits(n, group))
	next(1)
	SUBQ(U8(group), n)
	JG(LabelRef("tail" + c.pass))
}

// quad is a way to do four groups that plain loads serve. Of several, the first
// is taken whose jump jumps to the label, or the last, which has none.
type quad struct {
	name string
	jump func(label string)
	body func()
}

// pairs loads four groups of packed codes, of at most 32 bits with AVX-512, two
// from each block; second are the indices of the other of two.
func (c *codes) pairs(second reg.VecVirtual) (out []reg.VecVirtual) {
	for i := range 4 {
		if i%2 == 0 {
			c.block = ZMM()
			VMOVDQU64(c.from(i, false), c.block)
		}
		r := ZMM()
		VPERMB(c.block, []reg.VecVirtual{c.indices, second}[i%2], r)
		out = append(out, r)
	}
	return out
}

// times4 is body for four groups that plain loads serve.
func times4(body func(i int, tail bool, lanes reg.OpmaskVirtual)) quad {
	return quad{body: func() {
		for i := range 4 {
			body(i, false, nil)
		}
	}}
}
