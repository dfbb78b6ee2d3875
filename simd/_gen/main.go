// Command _gen writes the assembly of package simd, the Go declarations of it
// and the functions that choose between its levels. Run it by go generate in
// the package's folder.
package main

import (
	"os"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!purego")
	for _, size := range []int{64, 32} {
		for _, avx512 := range []bool{false, true} {
			s := shape{avx512, size}
			decoders(s)
			runs(s)
			scatter(s)
			bounded(s)
			narrowTenths(s)
			glue(s)
			fill(s)
			trials(s)
			if size == 32 {
				singles(s)
			}
			scans(s)
			streams(s)
			ariths(s)
			frames(s)
		}
		packers2(shape{false, size})
		packers(shape{true, size})
	}
	match(shape{avx512: false})
	match(shape{avx512: true})
	crc()
	must(os.WriteFile("../dispatch_amd64.go", calls.file("!purego", true), 0o644))
	must(os.WriteFile("../dispatch_generic.go", calls.file("!amd64 || purego", false), 0o644))
	Generate()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// shape is the level of a kernel and the size in bits of its values.
type shape struct {
	avx512 bool
	size   int
}

// name appends size and level to the name of a kernel.
func (s shape) name(kernel string) string {
	return kernel + pick(s, "64", "32") + suffix(s.avx512)
}

func suffix(avx512 bool) string {
	if avx512 {
		return "AVX512"
	}
	return "AVX2"
}

// pick is q for 64 bits and d for 32.
func pick[T any](s shape, q, d T) T {
	if s.size == 64 {
		return q
	}
	return d
}

// tier is the level's place in the tables.
func (s shape) tier() int {
	if s.avx512 {
		return 1
	}
	return 0
}

func (s shape) bytes() int { return s.size / 8 } // of a value
func (s shape) width() int { // bytes of a register
	if s.avx512 {
		return 64
	}
	return 32
}
func (s shape) lanes() int    { return s.width() / s.bytes() } // values of a register
func (s shape) int() string   { return pick(s, "int64", "int32") }
func (s shape) uint() string  { return "u" + s.int() }
func (s shape) float() string { return pick(s, "float64", "float32") }

// vec is a register of the level's width.
func (s shape) vec() reg.VecVirtual {
	if s.avx512 {
		return ZMM()
	}
	return YMM()
}

// text begins a kernel. Its parameters and results are written as in Go.
func text(name, signature string) {
	TEXT(name, attr.NOSPLIT, "func"+signature)
	Pragma("noescape")
}

// loop is the label that a loop begins with, at a multiple of 32 bytes: where
// else it began would be left to what stands before it, and loops of long
// instructions take up to half as long again in an unlucky place.
func loop(label string) {
	Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []Op{U8(32)}})
	Label(label)
}

// ret ends a kernel.
func ret() {
	VZEROUPPER()
	RET()
}

func gp(param string) reg.GPVirtual {
	r := GP64()
	Load(Param(param), r)
	return r
}

// broadcast is a register full of an integer parameter of the shape's size.
func (s shape) broadcast(param string) reg.VecVirtual {
	r := s.vec()
	if s.size == 64 {
		a, err := Param(param).Resolve()
		must(err)
		VPBROADCASTQ(a.Addr, r)
		return r
	}
	// The vet check of assembly has no notion of VPBROADCASTD from memory.
	g := GP32()
	Load(Param(param), g)
	s.spread(g, r)
	return r
}

// spread fills r with the integer in g.
func (s shape) spread(g reg.Register, r reg.VecVirtual) {
	if s.avx512 {
		pick(s, VPBROADCASTQ, VPBROADCASTD)(g, r)
		return
	}
	x := XMM()
	pick(s, func(a, b Op) { VMOVQ(a, b) }, func(a, b Op) { VMOVD(a, b) })(g, x)
	pick(s, VPBROADCASTQ, VPBROADCASTD)(x, r)
}

// constant is a register full of an integer.
func (s shape) constant(v uint64) reg.VecVirtual {
	r := s.vec()
	if s.size == 64 {
		g := GP64()
		MOVQ(U64(v), g)
		s.spread(g, r)
	} else {
		g := GP32()
		MOVL(U32(uint32(v)), g)
		s.spread(g, r)
	}
	return r
}

// double is a register full of a float64 parameter.
func (s shape) double(param string) reg.VecVirtual {
	r := s.vec()
	a, err := Param(param).Resolve()
	must(err)
	VBROADCASTSD(a.Addr, r)
	return r
}

// single is a register full of a float32 parameter.
func (s shape) single(param string) reg.VecVirtual {
	r := s.vec()
	a, err := Param(param).Resolve()
	must(err)
	VBROADCASTSS(a.Addr, r)
	return r
}

// table is read-only data of bytes.
func table(name string, at func(i int) byte, n int) Mem {
	if m, ok := tables[name]; ok {
		return m
	}
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := 0; i < n; i += 8 {
		var v uint64
		for k := 7; k >= 0; k-- {
			v = v<<8 | uint64(at(i+k))
		}
		DATA(i, U64(v))
	}
	tables[name] = m
	return m
}

var tables = map[string]Mem{}

// iota is 0, 1, 2 ... in the lanes.
func (s shape) iota() Mem {
	b := s.bytes()
	return table(pick(s, "iota64", "iota32"), func(i int) byte {
		if i%b == 0 {
			return byte(i / b)
		}
		return 0
	}, 64)
}

func (s shape) load(m Op, r reg.VecVirtual) {
	if s.avx512 {
		VMOVDQU64(m, r)
	} else {
		VMOVDQU(m, r)
	}
}
func (s shape) store(r reg.VecVirtual, m Op) {
	if s.avx512 {
		VMOVDQU64(r, m)
	} else {
		VMOVDQU(r, m)
	}
}
func (s shape) and(a, b, r Op) {
	if s.avx512 {
		VPANDQ(a, b, r)
	} else {
		VPAND(a, b, r)
	}
}
func (s shape) xor(a, b, r Op) {
	if s.avx512 {
		VPXORQ(a, b, r)
	} else {
		VPXOR(a, b, r)
	}
}
func (s shape) zero() reg.VecVirtual {
	r := s.vec()
	s.xor(r, r, r)
	return r
}
func (s shape) ones() reg.VecVirtual {
	r := s.vec()
	s.setOnes(r)
	return r
}
func (s shape) setOnes(r reg.VecVirtual) {
	if s.avx512 {
		VPTERNLOGQ(U8(0xff), r, r, r)
	} else {
		VPCMPEQD(r, r, r)
	}
}

// add is r = a + b, sub r = b - a, lane by lane.
func (s shape) add(a, b, r Op) { pick(s, VPADDQ, VPADDD)(a, b, r) }
func (s shape) sub(a, b, r Op) { pick(s, VPSUBQ, VPSUBD)(a, b, r) }

func (s shape) shiftLeft(n, a, r Op)  { pick(s, VPSLLQ, VPSLLD)(n, a, r) }
func (s shape) shiftRight(n, a, r Op) { pick(s, VPSRLQ, VPSRLD)(n, a, r) }

// sign is -1 in the lanes of a below zero, else 0.
func (s shape) sign(a reg.VecVirtual) reg.VecVirtual {
	r := s.vec()
	switch {
	case s.size == 32:
		VPSRAD(U8(31), a, r)
	case s.avx512:
		VPSRAQ(U8(63), a, r)
	default:
		VPXOR(r, r, r)
		VPCMPGTQ(a, r, r)
	}
	return r
}

// extreme is the lesser (or greater) of a and r, in r. Lanes outside of k,
// where there is one, stay as they are.
func (s shape) extreme(less bool, a, r reg.VecVirtual, k reg.Register) {
	switch {
	case s.size == 64 && !s.avx512:
		t := YMM()
		if less {
			VPCMPGTQ(a, r, t) // r > a
		} else {
			VPCMPGTQ(r, a, t)
		}
		VBLENDVPD(t, a, r, r)
	default:
		op := pick(s, VPMAXSQ, VPMAXSD)
		if less {
			op = pick(s, VPMINSQ, VPMINSD)
		}
		if k != nil {
			op(a, r, k, r)
		} else {
			op(a, r, r)
		}
	}
}

// reduce leaves the least (or greatest) of the lanes of r in the result.
func (s shape) reduce(less bool, r reg.VecVirtual, result string) {
	s.reduceLanes(less, r)
	s.result(r, result)
}

// reduceLanes leaves the least (or greatest) of the lanes of r in the lowest.
func (s shape) reduceLanes(less bool, r reg.VecVirtual) {
	for n := s.lanes() / 2; n > 0; n /= 2 {
		t := s.vec()
		switch {
		case s.avx512:
			pick(s, VALIGNQ, VALIGND)(U8(n), r, r, t)
		case n*s.bytes() == 16:
			VPERM2I128(U8(1), r, r, t)
		case n*s.bytes() == 8:
			VPSHUFD(U8(0x4e), r, t)
		default:
			VPSHUFD(U8(0xb1), r, t)
		}
		s.extreme(less, t, r, nil)
	}
}

// result stores the lowest lane of r as a result.
func (s shape) result(r reg.VecVirtual, name string) {
	if s.size == 64 {
		g := GP64()
		VMOVQ(r.AsX(), g)
		Store(g, Return(name))
	} else {
		g := GP32()
		VMOVD(r.AsX(), g)
		Store(g, Return(name))
	}
}

// lowBits is a mask of the lowest min(n, most) lanes, most at most 64.
func lowBits(n reg.GPVirtual, most int) reg.OpmaskVirtual {
	count, limit := GP64(), GP64()
	MOVQ(n, count)
	MOVQ(U32(uint32(most)), limit)
	CMPQ(count, limit)
	CMOVQGT(limit, count)
	bits := GP64()
	MOVQ(I32(-1), bits)
	BZHIQ(count, bits, bits)
	k := K()
	KMOVQ(bits, k)
	return k
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
