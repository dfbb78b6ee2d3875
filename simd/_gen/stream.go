package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// streams writes byte stream split and join, for integers and floats. A kernel
// turns blocks of as many values as a register has bytes; the rest is Go's.
func streams(s shape) {
	for _, value := range []string{s.int(), s.float()} {
		for _, join := range []bool{false, true} {
			stream(s, value, join)
		}
	}
}

func stream(s shape, value string, join bool) {
	name, goParams, args, signature := "split", "dst []byte, src []"+value, "&dst[0], &src[0], len(src)", "(dst *byte, src *"+value+", n int)"
	n := "len(src)"
	if join {
		name, goParams, args, signature = "join", "dst []"+value+", src []byte", "&dst[0], &src[0], len(dst)", "(dst *"+value+", src *byte, n int)"
		n = "len(dst)"
	}
	name += title(value)
	calls.add(s.avx512, fmt.Sprintf("%s(%s) (done int)", name, goParams), "0",
		fmt.Sprintf("%s >= %d", n, s.width()), fmt.Sprintf("%s(%s)\nreturn %s &^ %d", name+suffix(s.avx512), args, n, s.width()-1))
	text(name+suffix(s.avx512), signature)
	values, bytes := gp("src"), gp("dst")
	if join {
		values, bytes = bytes, values
	}
	count := gp("n")
	blocks := GP64()
	MOVQ(count, blocks)
	SHRQ(U8(5+s.tier()), blocks) // by the bytes of a register

	size := s.bytes()
	var within reg.VecVirtual // see ranks
	if s.avx512 {
		within = s.vec()
		s.load(s.ranks(join), within)
	}
	// value i of a block, and stream j of it
	load := func(m func(i int) Mem) []reg.VecVirtual {
		r := make([]reg.VecVirtual, size)
		for i := range r {
			r[i] = s.vec()
			s.load(m(i), r[i])
		}
		return r
	}
	rank := func() func(j int) Mem {
		p := GP64()
		MOVQ(bytes, p)
		return func(j int) Mem {
			if j > 0 {
				ADDQ(count, p)
			}
			return Mem{Base: p}
		}
	}
	loop("loop")
	var r []reg.VecVirtual
	switch {
	case s.avx512 && !join:
		r = load(func(i int) Mem { return Mem{Base: values, Disp: 64 * i} })
		for _, x := range r {
			VPERMB(x, within, x)
		}
		r = transpose512(r)
	case s.avx512:
		r = transpose512(load(rank()))
		for _, x := range r {
			VPERMB(x, within, x)
		}
	case !join:
		// Half a register each of two blocks of 16 values.
		for i := range size {
			x := YMM()
			VMOVDQU(Mem{Base: values, Disp: 16 * i}, x.AsX())
			VINSERTI128(U8(1), Mem{Base: values, Disp: 16*i + 16*size}, x, x)
			VPSHUFB(s.ranks(false), x, x)
			r = append(r, x)
		}
		if size == 8 {
			r = interleave(r, VPUNPCKLWD, VPUNPCKHWD, 1)
			r = interleave(r, VPUNPCKLDQ, VPUNPCKHDQ, 2)
			r = interleave(r, VPUNPCKLQDQ, VPUNPCKHQDQ, 4)
		} else {
			r = interleave(r, VPUNPCKLDQ, VPUNPCKHDQ, 1)
			r = interleave(r, VPUNPCKLQDQ, VPUNPCKHQDQ, 2)
		}
	default:
		r = load(rank())
		r = interleave(r, VPUNPCKLBW, VPUNPCKHBW, 1)
		r = interleave(r, VPUNPCKLWD, VPUNPCKHWD, 2)
		if size == 8 {
			r = interleave(r, VPUNPCKLDQ, VPUNPCKHDQ, 4)
		}
	}
	switch {
	case !join:
		m := rank()
		for j, x := range r {
			s.store(x, m(j))
		}
	case s.avx512:
		for i, x := range r {
			s.store(x, Mem{Base: values, Disp: 64 * i})
		}
	default:
		for i, x := range r {
			VMOVDQU(x.AsX(), Mem{Base: values, Disp: 16 * i})
			VEXTRACTI128(U8(1), x, Mem{Base: values, Disp: 16*i + 16*size})
		}
	}
	ADDQ(U32(uint32(s.width()*size)), values)
	ADDQ(U8(s.width()), bytes)
	DECQ(blocks)
	JNZ(LabelRef("loop"))
	ret()
}

// ranks brings bytes of equal rank together, or takes them apart again: in a
// register of AVX-512, in each half of one of AVX2.
func (s shape) ranks(join bool) Mem {
	span := 16
	if s.avx512 {
		span = 64
	}
	size, n := s.bytes(), span/s.bytes()
	name := fmt.Sprintf("ranks%d%s", s.size, suffix(s.avx512))
	if join {
		name += "Join"
	}
	return table(name, func(i int) byte {
		i %= span
		if join {
			return byte(i%size*n + i/size)
		}
		return byte(i%n*size + i/n)
	}, s.width())
}

// interleave merges registers at the given distance in index pairwise: after
// all steps register j holds the units of index j.
func interleave(r []reg.VecVirtual, low, high func(...Op), distance int) []reg.VecVirtual {
	out := make([]reg.VecVirtual, 0, len(r))
	// Step d has groups of d registers for units 0.. of 2d merged rows.
	for base := 0; base < len(r); base += 2 * distance {
		for i := range distance {
			a, b := r[base+i], r[base+distance+i]
			hi := YMM()
			high(b, a, hi)
			low(b, a, a)
			out = append(out, a, hi)
		}
	}
	return out
}

// transpose512 is the transpose of 8 registers of 8 quadwords, or of 4 of 4
// quarters.
func transpose512(r []reg.VecVirtual) []reg.VecVirtual {
	if len(r) == 8 {
		var even, odd []reg.VecVirtual
		for i := 0; i < 8; i += 2 {
			lo, hi := ZMM(), ZMM()
			VPUNPCKLQDQ(r[i+1], r[i], lo)
			VPUNPCKHQDQ(r[i+1], r[i], hi)
			even, odd = append(even, lo), append(odd, hi)
		}
		even, odd = transpose512(even), transpose512(odd)
		var out []reg.VecVirtual
		for i := range even {
			out = append(out, even[i], odd[i])
		}
		return out
	}
	var lo, hi [2]reg.VecVirtual
	for i := range lo {
		lo[i], hi[i] = ZMM(), ZMM()
		VSHUFI64X2(U8(0x88), r[2*i+1], r[2*i], lo[i])
		VSHUFI64X2(U8(0xdd), r[2*i+1], r[2*i], hi[i])
	}
	out := make([]reg.VecVirtual, 4)
	for i, from := range [][2]reg.VecVirtual{lo, hi} {
		out[i], out[i+2] = ZMM(), ZMM()
		VSHUFI64X2(U8(0x88), from[1], from[0], out[i])
		VSHUFI64X2(U8(0xdd), from[1], from[0], out[i+2])
	}
	return out
}
