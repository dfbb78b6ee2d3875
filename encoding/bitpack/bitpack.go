// Package bitpack packs unsigned integers into a chosen number of bits each,
// with patches for the few that need more.
//
// # Layout
//
// A packed run of n values with width w, c patches and patch width p:
//
//	+----------------------+---------------------+----------------------+
//	| low bits             | patch positions     | patch high bits      |
//	| ceil(n*w/8) bytes    | ceil(c*b/8) bytes   | ceil(c*p/8) bytes    |
//	+----------------------+---------------------+----------------------+
//
// Each part is LSB first: value i occupies bits [i*w, (i+1)*w) of the part,
// bit k of the part being bit k mod 8 of byte k/8; unused bits of the last
// byte are zero. b is the position width, the bits that n-1 needs. A patch
// adds its high bits, shifted left by w, to the low bits of the value at its
// position; positions ascend strictly. w+p is at most 64.
//
// Positions of other things, such as exceptions, are packed in the same way.
//
// None of the numbers is stored here: n is the caller's count, and w, c and p
// (the Shape) are parameters that the caller keeps.
package bitpack

import (
	"math/bits"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/internal/le"
	"github.com/colsst/colsst/simd"
)

// Shape is what a packed run needs beside its count.
type Shape struct {
	Width      uint // bits of every value, 0 to 64
	Patches    int  // number of patched values, at most the count
	PatchWidth uint // high bits of a patch; Width+PatchWidth is at most 64
	Signed     bool // patched values are two's complement of as many bits
}

// PositionWidth is the number of bits of a position among n values.
func PositionWidth(n int) uint {
	if n <= 1 {
		return 0
	}
	return uint(bits.Len(uint(n - 1)))
}

// PositionsLen is the number of bytes of c positions among n values.
func PositionsLen(c, n int) int { return simd.PackedLen(c, PositionWidth(n)) }

// AppendPositions appends positions among n values, packed.
func AppendPositions(dst []byte, pos []uint64, n int) []byte {
	return simd.AppendPack64(dst, pos, PositionWidth(n))
}

// DecodePositions fills pos from the PositionsLen(len(pos), n) bytes of src. It
// fails on positions that do not ascend or are not below n.
func DecodePositions(part string, pos []uint64, src []byte, n int) error {
	simd.Unpack64(pos, src, PositionWidth(n))
	last, steps := ^uint64(0), uint64(0)
	for _, p := range pos {
		steps |= p - last - 1 // negative where p does not ascend
		last = p
	}
	if int64(steps) >= 0 && (len(pos) == 0 || last < uint64(n)) {
		return nil
	}
	i := 0
	for pos[i] < uint64(n) && (i == 0 || pos[i] > pos[i-1]) {
		i++
	}
	return encoding.Corruptf(part, "position %d of %d is %d among %d values", i, len(pos), pos[i], n)
}

// CheckShape turns three parameters read from a file into a Shape, or says
// why they cannot be one for n values of at most maxWidth bits.
func CheckShape(part string, width, patches, patchWidth int64, n int, maxWidth uint) (Shape, error) {
	switch {
	case width < 0 || width > int64(maxWidth):
		return Shape{}, encoding.Corruptf(part, "bit width %d is not 0 to %d", width, maxWidth)
	case patches < 0 || patches > int64(n):
		return Shape{}, encoding.Corruptf(part, "%d patches for %d values", patches, n)
	case patchWidth < 0 || patchWidth > int64(maxWidth)-width:
		return Shape{}, encoding.Corruptf(part, "patch width %d beside width %d", patchWidth, width)
	}
	return Shape{Width: uint(width), Patches: int(patches), PatchWidth: uint(patchWidth)}, nil
}

// Len is the number of bytes that n values take in this shape.
func (s Shape) Len(n int) int {
	return simd.PackedLen(n, s.Width) + PositionsLen(s.Patches, n) + simd.PackedLen(s.Patches, s.PatchWidth)
}

// Append appends src packed in shape s. Exactly s.Patches values must need
// more than s.Width bits, and none more than the patches add.
func Append(dst []byte, src []uint64, s Shape) []byte {
	dst = simd.AppendPack64(dst, src, s.Width)
	if s.Patches == 0 {
		return dst
	}
	pos, high := make([]uint64, 0, s.Patches), make([]uint64, 0, s.Patches)
	for i, x := range src {
		if x >>= s.Width; x != 0 {
			pos, high = append(pos, uint64(i)), append(high, x)
		}
	}
	return AppendPatches(dst, pos, high, len(src), s)
}

// AppendPatches appends the patches of n values whose low bits are appended
// already: their positions, ascending, and their high bits, as many as the
// shape says.
func AppendPatches(dst []byte, pos, high []uint64, n int, s Shape) []byte {
	return simd.AppendPack64(AppendPositions(dst, pos, n), high, s.PatchWidth)
}

// Room is how many values of scratch Decode has a use for.
const Room = 256

// fewPatches is how many patches are unpacked at a time without scratch: a
// multiple of 8, so that they begin with a byte.
const fewPatches = 8

// Decode fills dst from src, whose length is exactly s.Len(len(dst)); the
// Shape has passed CheckShape, for at most 32 bits where dst is of uint32. room
// is scratch: with fewer than Room values patches take more time. It fails on
// positions that do not ascend or lie outside.
func Decode[T uint32 | uint64](part string, dst []T, src []byte, s Shape, room []T) error {
	n := len(dst)
	if len(src) != s.Len(n) {
		return encoding.Corruptf(part, "%d bytes of packed values, want %d", len(src), s.Len(n))
	}
	unpack(dst, src, s.Width)
	if s.Patches == 0 {
		return nil
	}
	return AddPatches(part, dst, src[simd.PackedLen(n, s.Width):], s, room)
}

func unpack[T uint32 | uint64](dst []T, src []byte, w uint) {
	switch dst := any(dst).(type) {
	case []uint64:
		simd.Unpack64(dst, src, w)
	case []uint32:
		simd.Unpack32(dst, src, w)
	}
}

// AddPatches adds to dst, the codes of a packed run without their patches or
// zeros in their place, the patches: src is what follows the low bits. room is
// as in Decode, and so is the error.
func AddPatches[T uint32 | uint64](part string, dst []T, src []byte, s Shape, room []T) error {
	n := len(dst)
	cut := PositionsLen(s.Patches, n)
	if end := cut + simd.PackedLen(s.Patches, s.PatchWidth) + 8; s.Patches <= manyPatches && s.PatchWidth <= oneLoad && end <= cap(src) {
		return addFew(part, dst, src[:end], src[cut:end], s)
	}
	if len(room) < 2*fewPatches {
		var own [2 * fewPatches]T
		return addMany(part, dst, src, src[cut:], s, own[:])
	}
	return addMany(part, dst, src, src[cut:], s, room)
}

// manyPatches is from how many patches on it pays to unpack them by kernels.
// Fewer are taken out of 8 bytes each, which hold oneLoad bits from any bit on.
const (
	manyPatches = 24
	oneLoad     = 57
)

// addFew adds patches from positions and high bits that 8 bytes more follow.
func addFew[T uint32 | uint64](part string, dst []T, positions, highs []byte, s Shape) error {
	b, w := PositionWidth(len(dst)), s.PatchWidth
	inside, ones, sign := uint64(1)<<b-1, ^uint64(0)>>(64-w), s.sign()
	shift := s.Width & 63 // of 64 bits there are no patches
	last := -1
	at, high := uint(0), uint(0)
	for i := range s.Patches {
		p := int(le.Uint64(positions[at>>3:]) >> (at & 7) & inside)
		x := le.Uint64(highs[high>>3:]) >> (high & 7) & ones
		if p <= last || p >= len(dst) {
			return misplaced(part, i, p, last, len(dst))
		}
		last = p
		dst[p] |= T((x ^ sign - sign) << shift) // the sign extended
		at, high = at+b, high+w
	}
	return nil
}

// addMany unpacks them first, as many as room holds at a time.
func addMany[T uint32 | uint64](part string, dst []T, positions, highs []byte, s Shape, room []T) error {
	b, sign := PositionWidth(len(dst)), T(s.sign())
	shift := s.Width & 63
	last := -1
	most := len(room) / 2 &^ 7
	for from := 0; from < s.Patches; from += most {
		k := min(s.Patches-from, most)
		at, high := room[:k], room[most:][:k]
		unpack(at, positions[from/8*int(b):], b)
		unpack(high, highs[from/8*int(s.PatchWidth):], s.PatchWidth)
		for i, p := range at {
			p := int(p)
			if p <= last || p >= len(dst) {
				return misplaced(part, from+i, p, last, len(dst))
			}
			last = p
			dst[p] |= (high[i] ^ sign - sign) << shift
		}
	}
	return nil
}

func misplaced(part string, i, p, last, n int) error {
	return encoding.Corruptf(part, "patch %d at position %d of %d after %d", i, p, n, last)
}

// sign is the bit of the high bits that is extended, or 0.
func (s Shape) sign() uint64 {
	if s.Signed {
		return 1 << (s.PatchWidth - 1)
	}
	return 0
}
