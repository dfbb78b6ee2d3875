package cassandra

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// cursor reads Cassandra's primitives from a slice, front to back. What would
// reach beyond the slice sets short and yields zeros, so a structure is read as
// a whole and checked once. Slices that it returns alias the input.
//
//	utf     u16 length, bytes
//	sbytes  u16 length, bytes
//	vint    as many further bytes as the first has leading ones, big-endian
//	svint   zigzag vint
//	vbytes  vint length, bytes
type cursor struct {
	b     []byte
	p     int
	short bool
	bad   string // why the bytes cannot be right; then short too
}

// left is the number of bytes not yet read.
func (c *cursor) left() int { return len(c.b) - c.p }

func (c *cursor) fail() {
	c.p = len(c.b)
	c.short = true
}

// take returns the next n bytes. It never returns nil unless they are missing.
func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.b)-c.p) {
		c.fail()
		return nil
	}
	from := c.p
	c.p += int(n)
	return c.b[from:c.p:c.p]
}

func (c *cursor) u8() byte {
	if c.p >= len(c.b) {
		c.fail()
		return 0
	}
	c.p++
	return c.b[c.p-1]
}

func (c *cursor) u16() uint16 {
	if b := c.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if b := c.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (c *cursor) i32() int32     { return int32(c.u32()) }
func (c *cursor) i64() int64     { return int64(c.u64()) }
func (c *cursor) f64() float64   { return math.Float64frombits(c.u64()) }
func (c *cursor) sbytes() []byte { return c.take(uint64(c.u16())) }
func (c *cursor) vbytes() []byte { return c.take(c.vint()) }
func (c *cursor) utf() string    { return string(c.sbytes()) }

func (c *cursor) vint() uint64 {
	p := c.p
	if p >= len(c.b) {
		return c.shortVint()
	}
	first := c.b[p]
	if first < 0x80 {
		c.p = p + 1
		return uint64(first)
	}
	rest := c.b[p+1:]
	if len(rest) < 8 {
		return c.shortVint()
	}
	more := bits.LeadingZeros8(^first)
	c.p = p + 1 + more
	v := binary.BigEndian.Uint64(rest) >> (64 - 8*more)
	if more < 8 {
		v |= uint64(first&(0xff>>more)) << (8 * more)
	}
	return v
}

// shortVint is vint near the end.
func (c *cursor) shortVint() uint64 {
	if c.p >= len(c.b) {
		c.fail()
		return 0
	}
	first := c.b[c.p]
	more := bits.LeadingZeros8(^first)
	if more >= c.left() {
		c.fail()
		return 0
	}
	rest := c.b[c.p+1:]
	c.p += 1 + more
	v := uint64(first & byte(0xff>>more))
	for _, x := range rest[:more] {
		v = v<<8 | uint64(x)
	}
	return v
}

func (c *cursor) svint() int64 {
	u := c.vint()
	return int64(u>>1) ^ -int64(u&1)
}

// count reads a number of items of at least size bytes each: more than can
// stand in what is left makes the cursor short, so the number can be trusted
// for an allocation.
func (c *cursor) count(n uint64, size int) int {
	if n > uint64(c.left()/size) {
		c.fail()
		return 0
	}
	return int(n)
}

func appendU16(dst []byte, v uint16) []byte  { return binary.BigEndian.AppendUint16(dst, v) }
func appendU32(dst []byte, v uint32) []byte  { return binary.BigEndian.AppendUint32(dst, v) }
func appendU64(dst []byte, v uint64) []byte  { return binary.BigEndian.AppendUint64(dst, v) }
func appendF64(dst []byte, v float64) []byte { return appendU64(dst, math.Float64bits(v)) }
func appendUTF(dst []byte, s string) []byte  { return append(appendU16(dst, uint16(len(s))), s...) }

func appendSbytes(dst []byte, b []byte) []byte { return append(appendU16(dst, uint16(len(b))), b...) }

func appendVbytes(dst []byte, b []byte) []byte {
	return append(appendVint(dst, uint64(len(b))), b...)
}

// appendVint appends v in its shortest form, which is what all writers use.
func appendVint(dst []byte, v uint64) []byte {
	if v < 0x80 {
		return append(dst, byte(v))
	}
	more := min((bits.Len64(v)-1)/7, 8)
	dst = append(dst, ^byte(0xff>>more)|byte(v>>(8*more)))
	for i := more - 1; i >= 0; i-- {
		dst = append(dst, byte(v>>(8*i)))
	}
	return dst
}

func appendSvint(dst []byte, v int64) []byte {
	return appendVint(dst, uint64(v<<1)^uint64(v>>63))
}
