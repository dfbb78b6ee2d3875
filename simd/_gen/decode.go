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
		if packed {
			ops = append([]func(shape) decoder{unpack}, ops...)
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
	four := times4(emit)
	switch {
	case d.pair != nil && s.avx512:
		four = func() {
			for i := 0; i < 4; i += 2 {
				v, u := d.pair(c.group(i, false, nil)[0], c.group(i+1, false, nil)[0])
				s.store(v, at(i, 0))
				s.store(u, at(i+1, 0))
			}
		}
	case !d.unroll:
		four = nil
	}
	c.groups(n, group, dst, group*s.bytes(), emit, four)
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

// groups runs body for n values: over groups that plain loads serve, then over
// the others, with AVX-512 under a mask of the lanes that count. It moves src,
// and dst by size bytes for each group. Body i is for group i from there on;
// four, where it is not nil, is for four groups at a time, with AVX-512. It
// falls through or jumps to the label done. For AVX2 n is a multiple of the
// group, and not zero.
func (c *codes) groups(n reg.GPVirtual, group int, dst reg.GPVirtual, size int, body func(i int, tail bool, lanes reg.OpmaskVirtual), four func()) {
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
		Label("loop" + c.pass)
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
	if four != nil {
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
		Label("loop4" + c.pass)
		four()
		next(4)
		SUBQ(I32(int32(4*group)), n)
		if c.packed {
			JL(LabelRef("few" + c.pass))
			CMPQ(c.src, last)
			JLS(LabelRef("loop4" + c.pass))
		} else {
			JGE(LabelRef("loop4" + c.pass))
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

// times4 is body for four groups that plain loads serve.
func times4(body func(i int, tail bool, lanes reg.OpmaskVirtual)) func() {
	return func() {
		for i := range 4 {
			body(i, false, nil)
		}
	}
}

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
			fmt.Sprintf("%s(&dst[0], %s, &src[0], cap(src), &unpackTables[1][%d][width][0], width)\nreturn %[2]s", name+suffix(s.avx512), taken, map[bool]int{false: 0, true: 1}[s.avx512]))
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
		var four func()
		if narrow {
			four = times4(emit)
		}
		c.groups(n, 8, dst, size, emit, four)
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

// scan makes prefix sums. It keeps the sum so far in every lane of total.
type scan struct {
	shape
	total, last reg.VecVirtual

	// AVX-512: how sums move up in a register, for sum and for pair.
	one, two []move
}

// move takes lanes from others; those that it does not give are zero.
type move struct {
	from  reg.VecVirtual
	given reg.OpmaskVirtual
}

// move is one by a table of that name: from gives the lane to take, or -1.
func (s shape) move(name string, from func(lane int) int) move {
	m, g, mask := move{ZMM(), K()}, GP32(), uint32(0)
	for lane := range s.lanes() {
		if from(lane) >= 0 {
			mask |= 1 << lane
		}
	}
	VMOVDQU64(table(fmt.Sprintf("%s%d", name, s.size), func(at int) byte {
		if lane := at / s.bytes(); at%s.bytes() == 0 && from(lane) >= 0 {
			return byte(from(lane))
		}
		return 0
	}, 64), m.from)
	MOVL(U32(mask), g)
	KMOVW(g, m.given)
	return m
}

// moved adds to r what m makes of it.
func (c *scan) moved(r reg.VecVirtual, m move) {
	t := ZMM()
	pick(c.shape, VPERMQ_Z, VPERMD_Z)(r, m.from, m.given, t)
	c.add(t, r, r)
}

func (c *scan) setup(first bool) {
	if first {
		c.total = c.broadcast("first")
	}
	if c.avx512 || c.size == 32 {
		c.last = c.constant(uint64(c.lanes() - 1)) // the index of the last lane
	}
	if !c.avx512 {
		return
	}
	// The upper half of each span of lanes takes the sum of the lower half.
	upper := func(span int) func(lane int) int {
		return func(lane int) int {
			if lane%span < span/2 {
				return -1
			}
			return lane/span*span + span/2 - 1
		}
	}
	c.one = []move{c.move("half", upper(c.lanes()/2)), c.move("whole", upper(c.lanes()))}

	// Of two registers, 16 bytes hold the sums of pairs of the first in their
	// lower half, and those of the second in their upper half.
	quarter := c.lanes() / 4
	lane := func(part, half int) int { return part*quarter + half*quarter/2 + quarter/2 - 1 } // the last of them
	half := func(i int) int { return i % quarter / (quarter / 2) }
	c.two = []move{
		c.move("pairs1_", func(i int) int {
			if i/quarter%2 == 0 {
				return -1
			}
			return lane(i/quarter-1, half(i))
		}),
		c.move("pairs2_", func(i int) int {
			if i/quarter < 2 {
				return -1
			}
			return lane(1, half(i))
		}),
		c.move("pairs3_", func(i int) int {
			if half(i) == 0 {
				return -1
			}
			return lane(3, 0)
		}),
	}
}

// pair is sum of two registers, of which q follows r. The sums of neighbours
// are fewer to sum.
func (c *scan) pair(r, q reg.VecVirtual) {
	even, odd, sums, last := ZMM(), ZMM(), ZMM(), ZMM()
	if c.size == 64 {
		VPUNPCKLQDQ(q, r, even)
		VPUNPCKHQDQ(q, r, odd)
		VPADDQ(even, odd, sums)
	} else {
		VSHUFPS(U8(0x88), q, r, even)
		VSHUFPS(U8(0xdd), q, r, odd)
		VPADDD(even, odd, sums)
		VPSLLQ(U8(32), sums, even)
		VPADDD(even, sums, sums)
	}
	for _, m := range c.two {
		c.moved(sums, m)
	}
	pick(c.shape, VPERMQ, VPERMD)(sums, c.last, last)
	c.add(c.total, sums, sums)
	c.add(last, c.total, c.total)
	c.sub(odd, sums, even)
	pick(c.shape, VPUNPCKLQDQ, VPUNPCKLDQ)(sums, even, r)
	pick(c.shape, VPUNPCKHQDQ, VPUNPCKHDQ)(sums, even, q)
}

// sum is the inclusive sums of r, after all before.
func (c *scan) sum(r reg.VecVirtual) {
	for n := c.bytes(); n < 16; n *= 2 {
		t := c.vec()
		VPSLLDQ(U8(n), r, t)
		c.add(t, r, r)
	}
	if c.avx512 {
		for _, m := range c.one {
			c.moved(r, m)
		}
	} else {
		t := YMM()
		VPERM2I128(U8(0x08), r, r, t) // the lower half above zeros
		VPSHUFD(U8(pick(c.shape, 0xee, 0xff)), t, t)
		c.add(t, r, r)
	}
	last := c.vec()
	switch {
	case c.size == 32:
		VPERMD(r, c.last, last)
	case c.avx512:
		VPERMQ(r, c.last, last)
	default:
		VPERMQ(U8(0xff), r, last)
	}
	c.add(c.total, r, r)
	c.add(last, c.total, c.total)
}

// summed is d on the prefix sums of the integers plus add.
func summed(s shape, d decoder, params string) decoder {
	c := &scan{shape: s}
	var a reg.VecVirtual
	each := d.each
	if each == nil {
		each = func(r reg.VecVirtual, _ reg.Register) reg.VecVirtual { return r }
	}
	setup, finish := d.setup, d.finish
	d.params = params
	d.result, d.restype = "last", s.int()
	d.setup = func() {
		if setup != nil {
			setup()
		}
		a = s.broadcast("add")
		c.setup(true)
	}
	d.each = func(r reg.VecVirtual, k reg.Register) reg.VecVirtual {
		s.add(a, r, r)
		c.sum(r)
		return each(r, k)
	}
	d.pair = func(r, q reg.VecVirtual) (v, u reg.VecVirtual) {
		s.add(a, r, r)
		s.add(a, q, q)
		c.pair(r, q)
		return each(r, nil), each(q, nil)
	}
	d.finish = func() {
		s.result(c.total, "last")
		if finish != nil {
			finish()
		}
	}
	return d
}

func identity(r reg.VecVirtual, _ reg.Register) reg.VecVirtual { return r }

func sum(s shape) decoder {
	return summed(s, decoder{name: "Sum", each: identity}, "first, add "+s.int())
}

// accumulate sums integers as they are.
func accumulate(s shape) decoder {
	c := &scan{shape: s}
	return decoder{
		name: "Accumulate", params: "first " + s.int(), result: "last", restype: s.int(),
		setup:  func() { c.setup(true) },
		each:   func(r reg.VecVirtual, _ reg.Register) reg.VecVirtual { c.sum(r); return r },
		pair:   func(r, q reg.VecVirtual) (v, u reg.VecVirtual) { c.pair(r, q); return r, q },
		finish: func() { s.result(c.total, "last") },
	}
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
	limit := pick(s, uint64(1)<<51, 1<<24)
	var back, scale, shift, top, round, most reg.VecVirtual
	d := decoder{float: true, result: "bad", restype: "uint64"}
	// AVX2 compares 64 bits as signed alone: the sums begin at the least.
	bias := uint64(0)
	if s.size == 64 && !s.avx512 {
		bias = 1 << 63
	}
	d.setup = func() {
		back, scale = s.double("back"), s.double("scale")
		shift = s.constant(limit + bias)
		top = s.zero()
		if s.size == 64 && !s.avx512 {
			round = s.constant(magic)
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
	Label("loop")
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
