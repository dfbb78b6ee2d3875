package main

import (
	"encoding/binary"
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// power is x^n modulo the polynomial of CRC-32C, the highest coefficient being
// the lowest bit.
func power(n int) uint32 {
	p := uint32(1) << 31
	for range n {
		p = p>>1 ^ 0x82f63b78&-(p&1)
	}
	return p
}

// foldBy are the two factors that move 16 bytes of a message by so many bytes
// towards its end: for the lower 8 of them, which are 64 degrees above the
// others, and for these. A product of two such numbers is one degree short.
func foldBy(bytes int) [16]byte {
	var k [16]byte
	binary.LittleEndian.PutUint64(k[:], uint64(power(8*bytes+63))<<32)
	binary.LittleEndian.PutUint64(k[8:], uint64(power(8*bytes-1))<<32)
	return k
}

// crc writes the kernel of CRC-32C, after "Fast CRC Computation for Generic
// Polynomials Using PCLMULQDQ Instruction" (Gopal and others, Intel, 2009): four
// registers fold 256 bytes at a time, then one folds 64, then its four parts
// become one of 16 bytes, whose CRC is that of all.
func crc() {
	calls.add(true, "crc32c(state uint32, src []byte) (done int, next uint32)", "0, state",
		"len(src) >= 256 && hasCarryless", "done = len(src) &^ 63\nreturn done, crc32cAVX512(state, &src[0], done)")
	text("crc32cAVX512", "(state uint32, src *byte, n int) (next uint32)")
	src, n := gp("src"), gp("n")
	s := GP32()
	Load(Param("state"), s)
	factors := func(bytes int) reg.VecVirtual {
		k, r := foldBy(bytes), ZMM()
		VBROADCASTI32X4(table(fmt.Sprintf("fold%d", bytes), func(i int) byte { return k[i] }, 16), r)
		return r
	}
	// fold is x moved by the factors k.
	fold := func(x, k reg.VecVirtual) (lower, upper reg.VecVirtual) {
		lower, upper = ZMM(), ZMM()
		VPCLMULQDQ(U8(0x00), k, x, lower)
		VPCLMULQDQ(U8(0x11), k, x, upper)
		return lower, upper
	}
	var x [4]reg.VecVirtual
	for i := range x {
		x[i] = ZMM()
		VMOVDQU64(Mem{Base: src, Disp: 64 * i}, x[i])
	}
	t := XMM()
	VMOVD(s, t) // the other bytes are cleared
	VPXORQ(t.AsZ(), x[0], x[0])
	ADDQ(U32(256), src)
	SUBQ(U32(512), n)
	JL(LabelRef("few"))
	k := factors(256)
	loop("loop")
	for i := range x {
		lower, upper := fold(x[i], k)
		VMOVDQA64(lower, x[i])
		VPTERNLOGQ(U8(0x96), Mem{Base: src, Disp: 64 * i}, upper, x[i]) // the sum of three
	}
	ADDQ(U32(256), src)
	SUBQ(U32(256), n)
	JGE(LabelRef("loop"))
	Label("few")
	for i := range 3 {
		lower, upper := fold(x[i], factors(64*(3-i)))
		VPTERNLOGQ(U8(0x96), lower, upper, x[3])
	}
	ADDQ(U32(256-64), n)
	JL(LabelRef("one"))
	k = factors(64)
	loop("loop64")
	lower, upper := fold(x[3], k)
	VMOVDQA64(lower, x[3])
	VPTERNLOGQ(U8(0x96), Mem{Base: src}, upper, x[3])
	ADDQ(U8(64), src)
	SUBQ(U8(64), n)
	JGE(LabelRef("loop64"))
	Label("one")
	ks := [3][16]byte{foldBy(48), foldBy(32), foldBy(16)}
	VMOVDQU64(table("foldParts", func(i int) byte {
		if i >= 48 {
			return 0
		}
		return ks[i/16][i%16]
	}, 64), k)
	lower, upper = fold(x[3], k)
	VPXORQ(lower, upper, lower)
	last, half := YMM(), XMM()
	VEXTRACTI64X4(U8(1), lower, last)
	VPXOR(lower.AsY(), last, lower.AsY())
	VEXTRACTI128(U8(1), lower.AsY(), half)
	VPXOR(half, lower.AsX(), half)
	VEXTRACTI32X4(U8(3), x[3], t)
	VPXOR(t, half, half)
	a, b, sum := GP64(), GP64(), GP64()
	VMOVQ(half, a)
	VPEXTRQ(U8(1), half, b)
	XORL(sum.As32(), sum.As32())
	CRC32Q(a, sum)
	CRC32Q(b, sum)
	Store(sum.As32(), Return("next"))
	ret()
}
