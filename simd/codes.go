package simd

// Codes are the unsigned integers that a frame of reference holds: packed as
// they were stored, or unpacked and patched. The functions that take them turn
// code u[i] into the value of the column in one pass; s[i] in their comments
// is int64(u[i]^flip), or int32 for codes of 32 bits. Integers wrap.
type Codes[U uint32 | uint64] struct {
	packed []byte
	width  uint
	plain  []U
	flip   U
}

// Packed are the codes of width bits in src, as Unpack64 and Unpack32 read
// them, with flip 0. src is not copied, and may be longer than the codes that
// are asked for later.
func Packed[U uint32 | uint64](src []byte, width uint) Codes[U] {
	if width == 0 {
		src = zeros[:]
	}
	return Codes[U]{packed: src, width: width}
}

var zeros [64]byte

// Plain are codes that need no unpacking. u is not copied. A flip of the bit
// that is the sign of a two's complement number of fewer bits, taken away
// again in what is added, extends the sign.
func Plain[U uint32 | uint64](u []U, flip U) Codes[U] { return Codes[U]{plain: u, flip: flip} }

// check panics if there are fewer than n codes.
func (c *Codes[U]) check(n int) {
	if c.plain != nil || c.packed == nil {
		_ = c.plain[:n]
	} else if c.width > 0 {
		_ = c.packed[:PackedLen(n, c.width)]
	}
}

// someCodes is how many codes are unpacked at a time where no kernel unpacks
// and computes in one.
const someCodes = 64

// next64 are the codes from number i on, a multiple of 8: all up to n where
// they are plain, else those that buf holds.
func next64(c *Codes[uint64], buf *[someCodes]uint64, i, n int) []uint64 {
	if c.packed == nil {
		return c.plain[i:n]
	}
	u := buf[:min(n-i, len(buf))]
	Unpack64(u, c.packed[i/8*int(c.width):], c.width)
	return u
}

// next32 is next64 for 32 bits.
func next32(c *Codes[uint32], buf *[someCodes]uint32, i, n int) []uint32 {
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
