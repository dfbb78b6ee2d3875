package simd

import "github.com/colsst/colsst/internal/le"

// Scatter64 sets dst[p[i]] to x[i] << shift for n positions p, which ascend and
// lie in dst, and numbers x: both are packed, of positionWidth bits, at most 16,
// and of width bits, as Unpack64 reads them. Bit width-1 of a signed x is its
// sign. It reports whether the positions are such; if not, dst holds anything.
// Kernels are the faster for 64 bytes of capacity behind both sources.
func Scatter64(dst []uint64, positions []byte, positionWidth uint, src []byte, width, shift uint, signed bool, n int) (ok bool) {
	sign := signOf(width, signed)
	positions, src = positions[:PackedLen(n, positionWidth)], src[:PackedLen(n, width)]
	if done, bad := scatter64(dst, positions, positionWidth, src, width, shift, sign, n); done {
		return bad == 0
	}
	return scatter(dst, positions, positionWidth, src, width, shift, sign, n)
}

// Scatter32 is Scatter64 for 32 bits.
func Scatter32(dst []uint32, positions []byte, positionWidth uint, src []byte, width, shift uint, signed bool, n int) (ok bool) {
	sign := signOf(width, signed)
	positions, src = positions[:PackedLen(n, positionWidth)], src[:PackedLen(n, width)]
	if done, bad := scatter32(dst, positions, positionWidth, src, width, shift, uint32(sign), n); done {
		return bad == 0
	}
	return scatter(dst, positions, positionWidth, src, width, shift, sign, n)
}

func signOf(width uint, signed bool) uint64 {
	if signed {
		return 1 << (width - 1)
	}
	return 0
}

func scatter[U uint32 | uint64](dst []U, positions []byte, positionWidth uint, src []byte, width, shift uint, sign uint64, n int) (ok bool) {
	inside, ones := uint64(1)<<positionWidth-1, ^uint64(0)>>(64-width)
	last := -1
	at, high := uint(0), uint(0)
	for range n {
		p := int(le.Uint64Short(positions[at>>3:]) >> (at & 7) & inside)
		x := le.Uint64Short(src[high>>3:]) >> (high & 7)
		if high&7+width > 64 {
			x |= uint64(src[high>>3+8]) << (64 - high&7)
		}
		if p <= last || p >= len(dst) {
			return false
		}
		last = p
		dst[p] = U((x&ones ^ sign - sign) << shift) // the sign extended
		at, high = at+positionWidth, high+width
	}
	return true
}
