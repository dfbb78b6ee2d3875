package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// match writes the kernel that finds bytes of a set of four: a bit for each
// byte of whole words of 64.
func match(s shape) {
	name := "match" + suffix(s.avx512)
	calls.add(s.avx512, "match(dst []uint64, src []byte, set uint32) (done int)", "0", "n := len(src) >> 6; n > 0",
		fmt.Sprintf("%s(&dst[0], &src[0], n, set)\nreturn n", name))
	text(name, "(dst *uint64, src *byte, n int, set uint32)")
	dst, src, n := gp("dst"), gp("src"), gp("n")
	set := GP32()
	Load(Param("set"), set)
	var wanted [4]reg.VecVirtual
	for i := range wanted {
		x := XMM()
		VMOVD(set, x)
		wanted[i] = s.vec()
		VPBROADCASTB(x, wanted[i])
		if i < 3 {
			SHRL(U8(8), set)
		}
	}
	loop("loop")
	if s.avx512 {
		r := ZMM()
		s.load(Mem{Base: src}, r)
		found := K()
		VPCMPEQB(wanted[0], r, found)
		for _, w := range wanted[1:] {
			k := K()
			VPCMPEQB(w, r, k)
			KORQ(k, found, found)
		}
		KMOVQ(found, Mem{Base: dst})
	} else {
		for half := range 2 {
			r, found := YMM(), YMM()
			s.load(Mem{Base: src, Disp: 32 * half}, r)
			VPCMPEQB(wanted[0], r, found)
			for _, w := range wanted[1:] {
				t := YMM()
				VPCMPEQB(w, r, t)
				VPOR(t, found, found)
			}
			g := GP32()
			VPMOVMSKB(found, g)
			MOVL(g, Mem{Base: dst, Disp: 4 * half})
		}
	}
	ADDQ(U8(64), src)
	ADDQ(U8(8), dst)
	DECQ(n)
	JNZ(LabelRef("loop"))
	ret()
}
