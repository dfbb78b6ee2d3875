package simd

import (
	"encoding/binary"
	"slices"

	"github.com/colsst/colsst/internal/le"
)

// PackedLen is the number of bytes that n values of w bits take.
func PackedLen(n int, w uint) int {
	// n is at most 65,536 and w at most 64, but callers may pass any n.
	return int((uint64(n)*uint64(w) + 7) / 8)
}

// Unpack64 reads len(dst) values of w bits (0 to 64) from src: value i is bits
// [i*w, (i+1)*w) of src, least significant bit first. src must hold at least
// PackedLen(len(dst), w) bytes.
func Unpack64(dst []uint64, src []byte, w uint) {
	n := PackedLen(len(dst), w)
	_ = src[:n:len(src)]
	if w == 0 {
		clear(dst)
		return
	}
	done := unpack64(dst, src, w)
	if done == 0 {
		done = unpackWide64(dst, src, w)
	}
	if done == len(dst) {
		return
	}
	dst, src = dst[done:], src[done/8*int(w):]
	if w == 64 {
		for i := range dst {
			dst[i] = le.Uint64(src[8*i:])
		}
		return
	}
	mask := uint64(1)<<w - 1
	if w > 57 {
		unpack64Wide(dst, src, w, mask)
		return
	}
	if w <= 16 {
		done = unpackFew(dst, src, w)
		dst, src = dst[done:], src[done/8*int(w):]
	}
	for len(dst) >= 8 && uint(len(src)) >= w+8 {
		s := src[: w+8 : w+8]
		d := (*[8]uint64)(dst)
		d[0] = le.Uint64(s) & mask
		d[1] = le.Uint64(s[w>>3:]) >> (w & 7) & mask
		d[2] = le.Uint64(s[2*w>>3:]) >> (2 * w & 7) & mask
		d[3] = le.Uint64(s[3*w>>3:]) >> (3 * w & 7) & mask
		d[4] = le.Uint64(s[4*w>>3:]) >> (4 * w & 7) & mask
		d[5] = le.Uint64(s[5*w>>3:]) >> (5 * w & 7) & mask
		d[6] = le.Uint64(s[6*w>>3:]) >> (6 * w & 7) & mask
		d[7] = le.Uint64(s[7*w>>3:]) >> (7 * w & 7) & mask
		dst = dst[8:]
		src = src[w:]
	}
	bit := uint(0)
	for i := range dst {
		dst[i] = le.Uint64Short(src[bit>>3:]) >> (bit & 7) & mask
		bit += w
	}
}

// unpackFew unpacks values of 1 to 16 bits, of which one load has eight or four,
// by eights, and returns how many.
func unpackFew[U uint32 | uint64](dst []U, src []byte, w uint) (done int) {
	w &= 31
	mask := uint64(1)<<w - 1
	all := len(dst)
	if w <= 8 {
		for len(dst) >= 8 && len(src) >= 8 {
			x := le.Uint64(src)
			d := (*[8]U)(dst)
			d[0] = U(x & mask)
			x >>= w
			d[1] = U(x & mask)
			x >>= w
			d[2] = U(x & mask)
			x >>= w
			d[3] = U(x & mask)
			x >>= w
			d[4] = U(x & mask)
			x >>= w
			d[5] = U(x & mask)
			x >>= w
			d[6] = U(x & mask)
			x >>= w
			d[7] = U(x & mask)
			dst, src = dst[8:], src[w:]
		}
		return all - len(dst)
	}
	for half, rest := w/2, 4*w&7; len(dst) >= 8 && len(src) >= 16; {
		x, y := le.Uint64(src), le.Uint64(src[half:])>>rest
		d := (*[8]U)(dst)
		d[0], d[4] = U(x&mask), U(y&mask)
		x, y = x>>w, y>>w
		d[1], d[5] = U(x&mask), U(y&mask)
		x, y = x>>w, y>>w
		d[2], d[6] = U(x&mask), U(y&mask)
		x, y = x>>w, y>>w
		d[3], d[7] = U(x&mask), U(y&mask)
		dst, src = dst[8:], src[w:]
	}
	return all - len(dst)
}

// unpack64Wide serves widths 58 to 63, where a value may span nine bytes.
func unpack64Wide(dst []uint64, src []byte, w uint, mask uint64) {
	bit := uint(0)
	for i := range dst {
		p, s := bit>>3, bit&7
		x := le.Uint64Short(src[p:]) >> s
		if s+w > 64 {
			x |= uint64(src[p+8]) << (64 - s)
		}
		dst[i] = x & mask
		bit += w
	}
}

// Unpack32 is Unpack64 for values of at most 32 bits.
func Unpack32(dst []uint32, src []byte, w uint) {
	n := PackedLen(len(dst), w)
	_ = src[:n:len(src)]
	if w == 0 {
		clear(dst)
		return
	}
	done := unpack32(dst, src, w)
	if done == 0 {
		done = unpackNarrow32(dst, src, w)
	}
	if done == len(dst) {
		return
	}
	dst, src = dst[done:], src[done/8*int(w):]
	mask := uint64(1)<<w - 1
	if w <= 16 {
		done = unpackFew(dst, src, w)
		dst, src = dst[done:], src[done/8*int(w):]
	}
	for len(dst) >= 8 && uint(len(src)) >= w+8 {
		s := src[: w+8 : w+8]
		d := (*[8]uint32)(dst)
		d[0] = uint32(le.Uint64(s) & mask)
		d[1] = uint32(le.Uint64(s[w>>3:]) >> (w & 7) & mask)
		d[2] = uint32(le.Uint64(s[2*w>>3:]) >> (2 * w & 7) & mask)
		d[3] = uint32(le.Uint64(s[3*w>>3:]) >> (3 * w & 7) & mask)
		d[4] = uint32(le.Uint64(s[4*w>>3:]) >> (4 * w & 7) & mask)
		d[5] = uint32(le.Uint64(s[5*w>>3:]) >> (5 * w & 7) & mask)
		d[6] = uint32(le.Uint64(s[6*w>>3:]) >> (6 * w & 7) & mask)
		d[7] = uint32(le.Uint64(s[7*w>>3:]) >> (7 * w & 7) & mask)
		dst = dst[8:]
		src = src[w:]
	}
	bit := uint(0)
	for i := range dst {
		dst[i] = uint32(le.Uint64Short(src[bit>>3:]) >> (bit & 7) & mask)
		bit += w
	}
}

// AppendPack64 appends the low w bits of each value of src, least significant
// bit first; the unused bits of the last byte are zero.
func AppendPack64(dst []byte, src []uint64, w uint) []byte {
	if w == 0 {
		return dst
	}
	size := PackedLen(len(src), w)
	dst = slices.Grow(dst, size)
	end := len(dst) + size
	out := dst[len(dst):end]
	done := pack64(out, src, w)
	if done == len(src) {
		return dst[:end]
	}
	out, src = out[done/8*int(w):], src[done:]
	mask := ^uint64(0) >> (64 - w)
	// Up to 4 values become one of as many times the width.
	var acc uint64
	var n uint
	switch {
	case w <= 16:
		for ; len(src) >= 4; src = src[4:] {
			out, acc, n = appendBits(out, acc, n, src[0]&mask|src[1]&mask<<w|src[2]&mask<<(2*w)|src[3]&mask<<(3*w), 4*w)
		}
	case w <= 32:
		for ; len(src) >= 2; src = src[2:] {
			out, acc, n = appendBits(out, acc, n, src[0]&mask|src[1]&mask<<w, 2*w)
		}
	}
	for _, x := range src {
		out, acc, n = appendBits(out, acc, n, x&mask, w)
	}
	for i := range out {
		out[i] = byte(acc >> (8 * i))
	}
	return dst[:end]
}

// AppendPack32 is AppendPack64 for values of at most 32 bits.
func AppendPack32(dst []byte, src []uint32, w uint) []byte {
	if w == 0 {
		return dst
	}
	size := PackedLen(len(src), w)
	dst = slices.Grow(dst, size)
	end := len(dst) + size
	out := dst[len(dst):end]
	done := pack32(out, src, w)
	if done == len(src) {
		return dst[:end]
	}
	out, src = out[done/8*int(w):], src[done:]
	mask := uint64(1)<<w - 1
	var acc uint64
	var n uint
	if w <= 16 {
		for ; len(src) >= 4; src = src[4:] {
			out, acc, n = appendBits(out, acc, n, uint64(src[0])&mask|uint64(src[1])&mask<<w|uint64(src[2])&mask<<(2*w)|uint64(src[3])&mask<<(3*w), 4*w)
		}
	}
	for ; len(src) >= 2; src = src[2:] {
		out, acc, n = appendBits(out, acc, n, uint64(src[0])&mask|uint64(src[1])&mask<<w, 2*w)
	}
	for _, x := range src {
		out, acc, n = appendBits(out, acc, n, uint64(x)&mask, w)
	}
	for i := range out {
		out[i] = byte(acc >> (8 * i))
	}
	return dst[:end]
}

// appendBits adds x, of w bits, to the n bits in acc, less than 64, and moves
// 64 of them to the front of dst, which it cuts off, when there are as many.
func appendBits(dst []byte, acc uint64, n uint, x uint64, w uint) ([]byte, uint64, uint) {
	acc |= x << n
	if n+w >= 64 {
		binary.LittleEndian.PutUint64(dst, acc)
		return dst[8:], x >> (64 - n), n + w - 64 // shifts by 64 give 0
	}
	return dst, acc, n + w
}

// AppendPackRamp64 is AppendPack64 of uint64(src[i] - start - i*step): with
// step 0 the codes of a frame of reference.
func AppendPackRamp64(dst []byte, src []int64, w uint, start, step int64) []byte {
	if w == 0 {
		return dst
	}
	size := PackedLen(len(src), w)
	dst = slices.Grow(dst, size)
	end := len(dst) + size
	done := packRamp64(dst[len(dst):end], src, w, start, step)
	if done == len(src) {
		return dst[:end]
	}
	dst, src = dst[:len(dst)+done/8*int(w)], src[done:]
	start += int64(done) * step
	var buf [someCodes]uint64 // whole bytes at any width
	for len(src) > 0 {
		u := buf[:min(len(src), len(buf))]
		for i := range u {
			u[i] = uint64(src[i] - start)
			start += step
		}
		dst = AppendPack64(dst, u, w)
		src = src[len(u):]
	}
	return dst
}

// AppendPackRamp32 is AppendPackRamp64 for values of 32 bits.
func AppendPackRamp32(dst []byte, src []int32, w uint, start, step int32) []byte {
	if w == 0 {
		return dst
	}
	size := PackedLen(len(src), w)
	dst = slices.Grow(dst, size)
	end := len(dst) + size
	done := packRamp32(dst[len(dst):end], src, w, start, step)
	if done == len(src) {
		return dst[:end]
	}
	dst, src = dst[:len(dst)+done/8*int(w)], src[done:]
	start += int32(done) * step
	var buf [someCodes]uint32
	for len(src) > 0 {
		u := buf[:min(len(src), len(buf))]
		for i := range u {
			u[i] = uint32(src[i] - start)
			start += step
		}
		dst = AppendPack32(dst, u, w)
		src = src[len(u):]
	}
	return dst
}
