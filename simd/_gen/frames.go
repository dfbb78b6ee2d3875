package main

import (
	"fmt"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// frames writes the kernels for the choice of a frame of reference.
func frames(s shape) {
	outliers(s)
	subRamp(s)
	if s.avx512 && s.size == 64 {
		tails(s)
	} else {
		lengths(s)
	}
	if s.avx512 { // AVX2 has no extremes of 64 bits
		sample(s, false)
		sample(s, true)
	}
	if s.size == 64 {
		countAbove(s)
		lookup(s)
		if s.avx512 {
			sort16(s)
		} else {
			rank16(s)
		}
	}
}

// someTails is how many values a call of tails takes: 8 counters of a byte in
// each of 8 lanes.
const someTails = 255 * 8

// tails adds to 8 counts for each of two distances how many values' distances
// take more than so many bits, one less for each count. The 64 bits of a lane
// are 8 counters, to which a value adds 1 in the lowest ones, as many as counts
// it is in.
func tails(s shape) {
	calls.add(true, "tails64(tails *[2][8]int, src []int64, end, sign, centre int64, most int) (done int)", "0", "len(src) > 0",
		fmt.Sprintf("n := min(len(src), %d)\ntails64AVX512(tails, &src[0], n, end, sign, centre, most)\nreturn n", someTails))
	text("tails64AVX512", "(tails *[2][8]int, src *int64, n int, end, sign, centre int64, most int)")
	src, n := gp("src"), gp("n")
	end, sign, centre := s.broadcast("end"), s.broadcast("sign"), s.broadcast("centre")
	s.xor(sign, end, end) // x^sign - end^sign is x-end, or end-x
	// A value with z leading zeros is in 8-(z-c) counts with c = 63-most: all
	// where that is more, none where it is less. If most is 64, it is 7-z.
	c, ones, seven, zero := GP64(), GP64(), GP64(), GP64()
	MOVQ(U32(63), c)
	SUBQ(gp("most"), c)
	MOVQ(U64(0x0101010101010101), ones)
	MOVQ(U64(0x0001010101010101), seven)
	XORQ(zero, zero)
	TESTQ(c, c)
	CMOVQLT(seven, ones)
	CMOVQLT(zero, c)
	first, counters := ZMM(), ZMM()
	s.spread(c, first)
	s.spread(ones, counters)
	beside, around := s.zero(), s.zero()
	count := func(d, sum reg.VecVirtual, lanes reg.Register) {
		VPLZCNTQ(d, d)
		VPSUBUSW(first, d, d)
		VPSLLQ(U8(3), d, d)
		if lanes == nil {
			VPSRLVQ(d, counters, d)
		} else {
			VPSRLVQ_Z(d, counters, lanes, d)
		}
		VPADDB(d, sum, sum)
	}
	s.each(n, func(lanes reg.Register) {
		r, d := s.vec(), s.vec()
		s.masked(Mem{Base: src}, lanes, r)
		s.xor(sign, r, d)
		s.sub(end, d, d)
		count(d, beside, lanes)
		s.sub(centre, r, r)
		below := s.sign(r)
		s.add(r, r, r)
		s.xor(below, r, r)
		count(r, around, lanes)
		ADDQ(U8(s.width()), src)
	})
	// Byte 7-i of all lanes becomes lane i.
	sums, none := gp("tails"), s.zero()
	transposed := ZMM()
	VMOVDQU64(table("countersOfLane", func(i int) byte { return byte(i&7*8 + 7 - i>>3) }, 64), transposed)
	for i, r := range []reg.VecVirtual{beside, around} {
		VPERMB(r, transposed, r)
		VPSADBW(none, r, r)
		m := Mem{Base: sums, Disp: 64 * i}
		VPADDQ(m, r, r)
		VMOVDQU64(r, m)
	}
	ret()
}

// lengths writes the bits of distances to two numbers, as bytes, in an order of
// its own.
func lengths(s shape) {
	group := max(s.lanes(), 8) // values a turn
	least := group
	if s.avx512 {
		least = 1
	}
	n := s.done("len(src)", group)
	calls.add(s.avx512, fmt.Sprintf("lengths%d(beside, around []byte, src []%s, end, sign, centre %[2]s) (done int)", s.size, s.int()), "0",
		fmt.Sprintf("len(src) >= %d", least),
		fmt.Sprintf("%s(&beside[0], &around[0], &src[0], %s, end, sign, centre)\nreturn %[2]s", s.name("lengths"), n))
	text(s.name("lengths"), fmt.Sprintf("(beside, around *byte, src *%s, n int, end, sign, centre %[1]s)", s.int()))
	beside, around, src, left := gp("beside"), gp("around"), gp("src"), gp("n")
	end, sign, centre := s.broadcast("end"), s.broadcast("sign"), s.broadcast("centre")
	put := s.putLengths()
	body := func(lanes reg.Register) {
		var d, z []reg.VecVirtual
		for i := range group / s.lanes() {
			r, t := s.vec(), s.vec()
			s.masked(Mem{Base: src, Disp: i * s.width()}, lanes, r)
			s.sub(end, r, t)
			s.xor(sign, t, t)
			s.sub(sign, t, t)
			d = append(d, t)
			s.sub(centre, r, r)
			below := s.sign(r)
			s.add(r, r, r)
			s.xor(below, r, r)
			z = append(z, r)
		}
		put(d, lanes, Mem{Base: beside})
		put(z, lanes, Mem{Base: around})
		ADDQ(U8(group*s.bytes()), src)
		ADDQ(U8(group), beside)
		ADDQ(U8(group), around)
	}
	if s.avx512 || group == s.lanes() {
		s.each(left, body)
	} else {
		loop("loop")
		body(nil)
		SUBQ(U8(group), left)
		JNZ(LabelRef("loop"))
	}
	ret()
}

// putLengths stores the bits of the lanes, as bytes. AVX2, which cannot count
// leading zeros, has them from the exponents of floats, of 8 integers of 32
// bits: where they are halves, the upper one if it is not 0.
func (s shape) putLengths() func(r []reg.VecVirtual, lanes reg.Register, m Mem) {
	if s.avx512 {
		size := s.constant(uint64(s.size))
		return func(r []reg.VecVirtual, lanes reg.Register, m Mem) {
			pick(s, VPLZCNTQ, VPLZCNTD)(r[0], r[0])
			s.sub(r[0], size, r[0])
			if lanes == nil {
				pick(s, VPMOVQB, VPMOVDB)(r[0], m)
			} else {
				pick(s, VPMOVQB, VPMOVDB)(r[0], lanes, m)
			}
		}
	}
	half := shape{false, 32}
	bias, most, zero := half.constant(126), half.constant(32), half.zero()
	return func(v []reg.VecVirtual, _ reg.Register, m Mem) {
		r, more := v[0], YMM()
		if s.size == 64 {
			upper, none := YMM(), YMM()
			VSHUFPS(U8(0xdd), v[1], v[0], upper)
			VSHUFPS(U8(0x88), v[1], v[0], r)
			VPCMPEQD(zero, upper, none)
			VPAND(none, r, r)
			VPOR(upper, r, r)
			VPANDN(most, none, more)
		}
		// The second bit cleared, nothing rounds up to the next power of
		// two. Where the top bit is set the float is below 0, and what
		// is made of it above 32.
		t := YMM()
		VPSRLD(U8(1), r, t)
		VPANDN(r, t, r)
		VCVTDQ2PS(r, r)
		VPSRLD(U8(23), r, r)
		VPSUBD(bias, r, r)
		VPMAXSD(zero, r, r)
		VPMINSD(most, r, r)
		if s.size == 64 {
			VPADDD(more, r, r)
		}
		x := XMM()
		VEXTRACTI128(U8(1), r, x)
		VPACKUSDW(x, r.AsX(), x)
		VPACKUSWB(x, x, x)
		VMOVQ(x, m)
	}
}

// countAbove adds the numbers of bytes above each of 8 limits.
func countAbove(s shape) {
	b := shape{s.avx512, 8} // of bytes
	least := b.lanes()
	if s.avx512 {
		least = 1
	}
	name := "countAbove" + suffix(s.avx512)
	calls.add(s.avx512, "countAbove(counts *[8]int, src []byte, limit int) (done int)", "0", fmt.Sprintf("len(src) >= %d", least),
		fmt.Sprintf("%s(counts, &src[0], %s, limit)\nreturn %[2]s", name, s.done("len(src)", b.lanes())))
	text(name, "(counts *[8]int, src *byte, n int, limit int)")
	limit := gp("limit")
	var limits [8]reg.VecVirtual
	for i := range limits {
		limits[i] = s.vec()
		if s.avx512 {
			VPBROADCASTB(limit.As32(), limits[i])
		} else {
			x := XMM()
			VMOVD(limit.As32(), x)
			VPBROADCASTB(x, limits[i])
		}
		DECQ(limit)
	}
	src, n := gp("src"), gp("n")
	var counts [8]reg.GPVirtual
	dst := gp("counts")
	for i := range counts {
		counts[i] = GP64()
		MOVQ(Mem{Base: dst, Disp: 8 * i}, counts[i])
	}
	b.each(n, func(lanes reg.Register) {
		r, g := s.vec(), GP64()
		if lanes == nil {
			s.load(Mem{Base: src}, r)
		} else {
			VMOVDQU8_Z(Mem{Base: src}, lanes, r)
		}
		ADDQ(U8(s.width()), src)
		for i, l := range limits {
			if s.avx512 {
				k := K()
				if lanes == nil {
					VPCMPGTB(l, r, k)
				} else {
					VPCMPGTB(l, r, lanes, k)
				}
				KMOVQ(k, g)
			} else {
				t := YMM()
				VPCMPGTB(l, r, t)
				VPMOVMSKB(t, g.As32())
			}
			POPCNTQ(g, g)
			ADDQ(g, counts[i])
		}
	})
	dst = gp("counts")
	for i, c := range counts {
		MOVQ(c, Mem{Base: dst, Disp: 8 * i})
	}
	ret()
}

// sort16 sorts 16 integers.
func sort16(s shape) {
	calls.add(true, "sort16(v *[16]int64) (done bool)", "false", "true", "sort16AVX512(v)\nreturn true")
	text("sort16AVX512", "(v *[16]int64)")
	v := gp("v")
	a, b := ZMM(), ZMM()
	s.load(Mem{Base: v}, a)
	s.load(Mem{Base: v, Disp: 64}, b)
	a, b = s.sorted(a, b)
	s.store(a, Mem{Base: v})
	s.store(b, Mem{Base: v, Disp: 64})
	ret()
}

// rank16 sorts 16 integers with AVX2, which has no extremes of 64 bits: each
// goes where the number of those before it says. Before value i are the values
// of lower index that are not greater and those of higher index that are less.
func rank16(s shape) {
	calls.add(false, "sort16(v *[16]int64) (done bool)", "false", "true", "sort16AVX2(v)\nreturn true")
	text("sort16AVX2", "(v *[16]int64)")
	ranks, copied := AllocLocal(128), AllocLocal(128)
	v := gp("v")
	var values, rank [4]reg.VecVirtual
	for k := range values {
		values[k], rank[k] = YMM(), YMM()
		VMOVDQU(Mem{Base: v, Disp: 32 * k}, values[k])
		VMOVDQU(values[k], copied.Offset(32*k))
		VMOVDQU(table("iota16", func(i int) byte {
			if i%8 == 0 {
				return byte(i / 8)
			}
			return 0
		}, 128).Offset(32*k), rank[k])
	}
	zero := s.zero()
	for j := range 16 {
		one := YMM()
		VPBROADCASTQ(Mem{Base: v, Disp: 8 * j}, one)
		for k := range values {
			less, greater := YMM(), YMM() // than one
			if j >= 4*k {
				VPCMPGTQ(one, values[k], greater)
				if j < 4*k+4 { // lanes below j
					VPBLENDD(U8(1<<(2*(j-4*k))-1), greater, zero, greater)
				}
				VPSUBQ(greater, rank[k], rank[k])
			}
			if j < 4*k+4 {
				VPCMPGTQ(values[k], one, less)
				if j >= 4*k { // lanes above j
					VPBLENDD(U8(1<<(2*(j-4*k)+2)-1), zero, less, less)
				}
				VPADDQ(less, rank[k], rank[k])
			}
		}
	}
	for k := range rank {
		VMOVDQU(rank[k], ranks.Offset(32*k))
	}
	for i := range 16 {
		value, at := GP64(), GP64()
		MOVQ(copied.Offset(8*i), value)
		MOVQ(ranks.Offset(8*i), at)
		MOVQ(value, Mem{Base: v, Index: at, Scale: 8})
	}
	ret()
}

// sample gathers 16 values, or differences of neighbours, in registers of 64
// bits, and sorts them.
func sample(s shape, deltas bool) {
	name, values, least := "sample", "n", 16
	if deltas {
		name, values, least = "sampleDeltas", "n - 1", 17
	}
	calls.add(true, fmt.Sprintf("%s%d(v *[16]int64, src []%s) (done bool)", name, s.size, s.int()), "false", fmt.Sprintf("len(src) >= %d", least),
		fmt.Sprintf("%s(v, &src[0], %s)\nreturn true", s.name(name), strings.Replace(values, "n", "len(src)", 1)))
	text(s.name(name), fmt.Sprintf("(v *[16]int64, src *%s, n int)", s.int()))
	v, src := gp("v"), gp("src")
	wide := shape{true, 64}
	n := wide.broadcast("n")
	var halves [2]reg.VecVirtual
	for h := range halves {
		at := ZMM()
		VPMULLQ(table(fmt.Sprintf("odd%d", h), func(i int) byte {
			if i%8 == 0 {
				return byte(2*(8*h+i/8) + 1)
			}
			return 0
		}, 64), n, at)
		VPSRLQ(U8(5), at, at)
		gather := func(disp int) reg.VecVirtual {
			k := K()
			KXNORW(k, k, k)
			m := Mem{Base: src, Index: at, Scale: uint8(s.bytes()), Disp: disp * s.bytes()}
			if s.size == 64 {
				r := ZMM()
				VPGATHERQQ(m, k, r)
				return r
			}
			r := YMM()
			VPGATHERQD(m, k, r)
			return r
		}
		r := gather(0)
		if deltas {
			s.sub(r, gather(1), r)
		}
		if s.size == 32 {
			halves[h] = ZMM()
			VPMOVSXDQ(r, halves[h])
		} else {
			halves[h] = r
		}
	}
	a, b := wide.sorted(halves[0], halves[1])
	wide.store(a, Mem{Base: v})
	wide.store(b, Mem{Base: v, Disp: 64})
	ret()
}

// sorted sorts the 16 lanes of two registers by Batcher's bitonic network, all
// comparisons in the same direction: 8 pairs a layer, the lesser of each in one
// register, the greater in another. Between layers the values move to the
// pairs of the next.
func (s shape) sorted(a, b reg.VecVirtual) (lower, upper reg.VecVirtual) {
	var layers [][8][2]int
	for block := 2; block <= 16; block *= 2 {
		for half := block / 2; half > 0; half /= 2 {
			var layer [8][2]int
			n := 0
			for i := range 16 {
				j := i + half
				if half == block/2 { // mirrored
					j = i&^(block-1) + block - 1 - i&(block-1)
				}
				if i&half == 0 {
					layer[n] = [2]int{i, j}
					n++
				}
			}
			layers = append(layers, layer)
		}
	}
	for l, layer := range layers {
		lesser, greater := ZMM(), ZMM()
		VPMINSQ(a, b, lesser)
		VPMAXSQ(a, b, greater)
		var at [16]byte // where each of the sorted sequence is: a lane of both
		for lane, pair := range layer {
			at[pair[0]], at[pair[1]] = byte(lane), byte(lane+8)
		}
		var next [2][8]byte
		for lane := range 8 {
			next[0][lane], next[1][lane] = at[lane], at[8+lane]
			if l+1 < len(layers) {
				for h := range 2 {
					next[h][lane] = at[layers[l+1][lane][h]]
				}
			}
		}
		a, b = ZMM(), ZMM()
		for h, r := range []reg.VecVirtual{a, b} {
			s.load(table(fmt.Sprintf("sort16_%d_%d", l, h), func(i int) byte {
				if i%8 == 0 {
					return next[h][i/8]
				}
				return 0
			}, 64), r)
			VPERMI2Q(greater, lesser, r)
		}
	}
	return a, b
}

// outliers writes a bit for each value outside of a window, 8 or 16 a turn.
func outliers(s shape) {
	group := max(8, s.lanes())
	n := fmt.Sprintf("len(src) &^ %d", group-1)
	calls.add(s.avx512, fmt.Sprintf("outliers%d(mask []byte, src []%s, from %[2]s, span %[3]s) (done int)", s.size, s.int(), s.uint()), "0",
		fmt.Sprintf("len(src) >= %d", group),
		fmt.Sprintf("%s(&mask[0], &src[0], %s, from, span)\nreturn %[2]s", s.name("outliers"), n))
	text(s.name("outliers"), fmt.Sprintf("(mask *byte, src *%s, n int, from %[1]s, span %[2]s)", s.int(), s.uint()))
	mask, src, left := gp("mask"), gp("src"), gp("n")
	from, span := s.broadcast("from"), s.broadcast("span")
	var top reg.VecVirtual
	if !s.avx512 { // which compares as signed
		top = s.constant(1 << (s.size - 1))
		s.xor(top, span, span)
	}
	part := func(disp int) reg.GPVirtual { // a bit for each lane
		r, g := s.vec(), GP32()
		s.load(Mem{Base: src, Disp: disp}, r)
		s.sub(from, r, r)
		if s.avx512 {
			k := K()
			pick(s, VPCMPUQ, VPCMPUD)(U8(6), span, r, k) // above
			KMOVW(k, g)
		} else {
			s.xor(top, r, r)
			pick(s, VPCMPGTQ, VPCMPGTD)(span, r, r)
			pick(s, VMOVMSKPD, VMOVMSKPS)(r, g)
		}
		return g
	}
	loop("loop")
	g := part(0)
	if s.lanes() < 8 {
		h := part(s.width())
		SHLL(U8(4), h)
		ORL(h, g)
	}
	if group == 16 {
		MOVW(g.As16(), Mem{Base: mask})
	} else {
		MOVB(g.As8(), Mem{Base: mask})
	}
	ADDQ(U8(group/8), mask)
	ADDQ(U8(group*s.bytes()), src)
	SUBQ(U8(group), left)
	JNZ(LabelRef("loop"))
	ret()
}

// subRamp takes a progression from the values.
func subRamp(s shape) {
	s.scan("subRamp", s.int(), s.int(), ", start, step "+s.int(), ", start, step")
	text(s.name("subRamp"), fmt.Sprintf("(dst, src *%[1]s, n int, start, step %[1]s) (least, greatest %[1]s)", s.int()))
	dst, src, n := gp("dst"), gp("src"), gp("n")
	cur, inc := s.progression()
	least, greatest := s.bounds()
	s.each(n, func(lanes reg.Register) {
		r := s.vec()
		s.masked(Mem{Base: src}, lanes, r)
		s.sub(cur, r, r)
		s.add(inc, cur, cur)
		s.put(r, lanes, Mem{Base: dst})
		s.extreme(true, r, least, lanes)
		s.extreme(false, r, greatest, lanes)
		ADDQ(U8(s.width()), src)
		ADDQ(U8(s.width()), dst)
	})
	s.reduce(true, least, "least")
	s.reduce(false, greatest, "greatest")
	ret()
}

// lookup finds the upper bits of values in a table of 8, 8 values a turn.
func lookup(s shape) {
	const n = "len(src) &^ 7"
	calls.add(s.avx512, "lookup64(codes []uint64, misses []byte, src []uint64, shift uint, table *[8]uint64) (done, count int)", "0, 0", "len(src) >= 8",
		fmt.Sprintf("count = %s(&codes[0], &misses[0], &src[0], %s, shift, table)\nreturn %[2]s, count", s.name("lookup"), n))
	text(s.name("lookup"), "(codes *uint64, misses *byte, src *uint64, n int, shift uint, table *[8]uint64) (count int)")
	codes, misses, src, left, p := gp("codes"), gp("misses"), gp("src"), gp("n"), gp("table")
	shift := XMM()
	VMOVQ(gp("shift"), shift)
	numbers := table("numbers64", func(i int) byte {
		if i%8 == 0 {
			return byte(i / 64)
		}
		return 0
	}, 8*64)
	count := GP64()
	XORQ(count, count)
	var entries, number [8]reg.VecVirtual
	if s.avx512 {
		for i := range entries {
			entries[i], number[i] = ZMM(), ZMM()
			VPBROADCASTQ(Mem{Base: p, Disp: 8 * i}, entries[i])
			VMOVDQU64(numbers.Offset(64*i), number[i])
		}
	}
	part := func(disp int) reg.GPVirtual { // a bit for each lane without an entry
		r, code, g := s.vec(), s.zero(), GP32()
		s.load(Mem{Base: src, Disp: disp}, r)
		s.shiftRight(shift, r, r)
		if s.avx512 {
			found := K()
			for i := 7; i >= 0; i-- {
				k := found
				if i < 7 {
					k = K()
				}
				VPCMPEQQ(entries[i], r, k)
				if i > 0 {
					VMOVDQA64(number[i], k, code)
				} else {
					VPXORQ(code, code, k, code)
				}
				if i < 7 {
					KORB(k, found, found)
				}
			}
			KNOTB(found, found)
			KMOVB(found, g)
		} else {
			found := s.zero()
			for i := 7; i >= 0; i-- {
				t, e := YMM(), YMM()
				VPBROADCASTQ(Mem{Base: p, Disp: 8 * i}, e)
				VPCMPEQQ(e, r, t)
				VPOR(t, found, found)
				VMOVDQU(numbers.Offset(64*i), e)
				VPBLENDVB(t, e, code, code)
			}
			VMOVMSKPD(found, g)
			XORL(U8(15), g)
		}
		s.store(code, Mem{Base: codes, Disp: disp})
		return g
	}
	loop("loop")
	g := part(0)
	if !s.avx512 {
		h := part(32)
		SHLL(U8(4), h)
		ORL(h, g)
	}
	MOVB(g.As8(), Mem{Base: misses})
	POPCNTL(g, g)
	ADDQ(g.As64(), count)
	INCQ(misses)
	ADDQ(U8(64), src)
	ADDQ(U8(64), codes)
	SUBQ(U8(8), left)
	JNZ(LabelRef("loop"))
	Store(count, Return("count"))
	ret()
}
