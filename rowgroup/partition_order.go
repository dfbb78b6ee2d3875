package rowgroup

import (
	"bytes"
	"cmp"
	"crypto/md5"
	"encoding/binary"
	"math"
	"math/bits"
	"strings"
)

// partitionOrder compares partition keys as a schema's order says.
type partitionOrder struct {
	kind byte
	typ  Type // of localOrder
}

const (
	bytesOrder = iota // unsigned bytes
	murmur3Order
	randomOrder
	localOrder
	unknownOrder
)

func (s *Schema) partitionOrder() partitionOrder {
	switch s.order {
	case "bytes", "byteordered":
		return partitionOrder{kind: bytesOrder}
	case "murmur3":
		return partitionOrder{kind: murmur3Order}
	case "random":
		return partitionOrder{kind: randomOrder}
	}
	if text, ok := strings.CutPrefix(s.order, "local("); ok {
		if t, err := ParseType(strings.TrimSuffix(text, ")")); err == nil && t.Ordered() {
			return partitionOrder{kind: localOrder, typ: t}
		}
	}
	return partitionOrder{kind: unknownOrder}
}

func (o *partitionOrder) compare(a, b []byte) (c int, ok bool) {
	switch o.kind {
	case unknownOrder:
		return 0, false
	case murmur3Order:
		c = cmp.Compare(Murmur3Token(a), Murmur3Token(b))
	case randomOrder:
		x, y := newRandomToken(a), newRandomToken(b)
		c = x.compare(&y)
	case localOrder:
		c = o.typ.Compare(a, b)
	}
	if c == 0 {
		c = bytes.Compare(a, b)
	}
	return c, true
}

// ComparePartitions compares partition keys in the order of the table's
// partitions: -1, 0 or 1. ok is false where that order is unknown (a custom
// one, or local to a type without order); then keys stand as found.
//
//	bytes, byteordered   unsigned bytes
//	murmur3, random      by token, then unsigned bytes
//	local(type)          by the type, then unsigned bytes
func (s *Schema) ComparePartitions(a, b []byte) (c int, ok bool) {
	o := s.partitionOrder()
	return o.compare(a, b)
}

// Murmur3Token is the token of a key under Cassandra's Murmur3Partitioner: the
// first half of MurmurHash3_x64_128 with seed 0, but with the last bytes (those
// behind the last whole 16) taken as signed, and with the least token kept for
// the empty key.
func Murmur3Token(key []byte) int64 {
	if len(key) == 0 {
		return math.MinInt64
	}
	h := int64(murmur3(key))
	if h == math.MinInt64 {
		return math.MaxInt64
	}
	return h
}

func murmur3(key []byte) uint64 {
	const c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f
	mix1 := func(k uint64) uint64 { return bits.RotateLeft64(k*c1, 31) * c2 }
	mix2 := func(k uint64) uint64 { return bits.RotateLeft64(k*c2, 33) * c1 }
	var h1, h2 uint64
	tail := key
	for ; len(tail) >= 16; tail = tail[16:] {
		h1 = (bits.RotateLeft64(h1^mix1(binary.LittleEndian.Uint64(tail)), 27)+h2)*5 + 0x52dce729
		h2 = (bits.RotateLeft64(h2^mix2(binary.LittleEndian.Uint64(tail[8:])), 31)+h1)*5 + 0x38495ab5
	}
	h1 ^= mix1(signedTail(tail[:min(len(tail), 8)]))
	if len(tail) > 8 {
		h2 ^= mix2(signedTail(tail[8:]))
	}
	h1 ^= uint64(len(key))
	h2 ^= uint64(len(key))
	h1 += h2
	h2 += h1
	h1 = murmur3Final(h1)
	h2 = murmur3Final(h2)
	return h1 + h2
}

// signedTail joins up to 8 bytes, little-endian, each extended by its sign.
func signedTail(b []byte) (k uint64) {
	for i, c := range b {
		k ^= uint64(int64(int8(c))) << (8 * i)
	}
	return k
}

func murmur3Final(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// randomToken is the token of a key under Cassandra's RandomPartitioner: the
// magnitude of the MD5 sum as a signed number; less than all others for the
// empty key.
type randomToken struct {
	present bool
	hi, lo  uint64
}

func newRandomToken(key []byte) (t randomToken) {
	if len(key) == 0 {
		return t
	}
	sum := md5.Sum(key)
	t = randomToken{true, binary.BigEndian.Uint64(sum[:]), binary.BigEndian.Uint64(sum[8:])}
	if int64(t.hi) < 0 {
		var borrow uint64
		t.lo, borrow = bits.Sub64(0, t.lo, 0)
		t.hi, _ = bits.Sub64(0, t.hi, borrow)
	}
	return t
}

func (t *randomToken) compare(o *randomToken) int {
	switch {
	case t.present != o.present:
		if o.present {
			return -1
		}
		return 1
	case t.hi != o.hi:
		return cmp.Compare(t.hi, o.hi)
	}
	return cmp.Compare(t.lo, o.lo)
}
