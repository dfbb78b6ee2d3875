package simd

// Codes64 are the integers that a frame of reference holds: packed as they were
// stored, without a sign, or unpacked and patched. The functions that take them
// turn code i, s[i] in their comments, into the value of the column. Integers
// wrap.
type Codes64 struct {
	packed []byte
	plain  []uint64
	width  uint
}

// Codes32 are Codes64 of 32 bits.
type Codes32 struct {
	packed []byte
	plain  []uint32
	width  uint
}

// Packed64 are the codes of width bits in src, as Unpack64 reads them.
// src is not copied, and may be longer than the codes that are asked for later:
// kernels are the faster for 64 bytes more, or as much capacity.
func Packed64(src []byte, width uint) Codes64 {
	if width == 0 {
		src = zeros[:]
	}
	return Codes64{packed: src, width: width}
}

// Packed32 is Packed64 for 32 bits.
func Packed32(src []byte, width uint) Codes32 {
	if width == 0 {
		src = zeros[:]
	}
	return Codes32{packed: src, width: width}
}

// zeros are the source of codes without bits.
var zeros [64]byte

// Plain64 are codes that need no unpacking, in two's complement. u is not copied.
func Plain64(u []uint64) Codes64 { return Codes64{plain: u} }

// Plain32 is Plain64 for 32 bits.
func Plain32(u []uint32) Codes32 { return Codes32{plain: u} }

// check panics if there are fewer than n codes.
func (c *Codes64) check(n int) {
	if c.packed == nil {
		_ = c.plain[:n:len(c.plain)]
	} else {
		_ = c.packed[:PackedLen(n, c.width):len(c.packed)]
	}
}

func (c *Codes32) check(n int) {
	if c.packed == nil {
		_ = c.plain[:n:len(c.plain)]
	} else {
		_ = c.packed[:PackedLen(n, c.width):len(c.packed)]
	}
}

// someCodes is how many codes are unpacked at a time where no kernel unpacks
// and computes in one.
const someCodes = 64

// next are the codes from number i on, a multiple of 8: all up to n where they
// are plain, else those that buf holds.
func (c *Codes64) next(buf *[someCodes]uint64, i, n int) []uint64 {
	if c.packed == nil {
		return c.plain[i:n]
	}
	u := buf[:min(n-i, len(buf))]
	Unpack64(u, c.packed[i/8*int(c.width):], c.width)
	return u
}

func (c *Codes32) next(buf *[someCodes]uint32, i, n int) []uint32 {
	if c.packed == nil {
		return c.plain[i:n]
	}
	u := buf[:min(n-i, len(buf))]
	Unpack32(u, c.packed[i/8*int(c.width):], c.width)
	return u
}

// Limit64 and Limit32 are the largest absolute integers that are decimals: up
// to there the conversions of all levels are exact.
const (
	Limit64 = 1 << 51
	Limit32 = 1 << 24
)

// oneWindow reports whether each value of a packed run of width bits lies
// within size/8 bytes that begin where its first bit does: the first bit is at
// a multiple of the width's power of two in its byte.
func oneWindow(width, size uint) bool { return width+8-min(width&-width, 8) <= size }
