package page

import (
	"encoding/binary"
	"math/bits"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/simd"
)

// DELTA_BINARY_PACKED:
//
//	header: values of a block, miniblocks of it, values in all: uvarints;
//	        the first value, a zigzag varint
//	block:  least delta, a zigzag varint | width of each miniblock, a byte |
//	        miniblocks: delta less the least, packed LSB first
//
// Miniblocks behind the last value have a width and no body.

// The encoder writes blocks of four miniblocks, of as many values as make the
// page shorter: small ones follow changing deltas, large ones have less beside
// them. The format asks for multiples of 32.
const (
	miniblocks = 4
	smallMini  = 32
	largeMini  = 128
	largeBlock = miniblocks * largeMini
)

const deltaPart = "delta encoding"

// deltaHeader is the header of a DELTA_BINARY_PACKED stream.
type deltaHeader struct {
	mini   int // values of a miniblock
	minis  int // miniblocks of a block
	total  int
	first  int64
	prefix int // bytes of the header
}

func parseDeltaHeader(src []byte) (h deltaHeader, err error) {
	var u [3]uint64
	for i := range u {
		v, n := binary.Uvarint(src[h.prefix:])
		if n <= 0 {
			return h, encoding.Corruptf(deltaPart, "the header is cut")
		}
		u[i], h.prefix = v, h.prefix+n
	}
	first, n := binary.Varint(src[h.prefix:])
	if n <= 0 {
		return h, encoding.Corruptf(deltaPart, "the header is cut")
	}
	h.prefix += n
	h.first = first
	const most = 1 << 24
	if u[0] == 0 || u[0] > most || u[1] == 0 || u[0]%u[1] != 0 || u[0]%128 != 0 || u[0]/u[1]%32 != 0 {
		return h, encoding.Corruptf(deltaPart, "blocks of %d values in %d miniblocks", u[0], u[1])
	}
	if u[2] > 1<<31-1 {
		return h, encoding.Corruptf(deltaPart, "%d values", u[2])
	}
	h.mini, h.minis, h.total = int(u[0]/u[1]), int(u[1]), int(u[2])
	return h, nil
}

// blocks calls f with the values of each miniblock, [from, to) of all, and
// returns what follows the last.
func (h *deltaHeader) blocks(src []byte, bits uint, f func(from, to int, body []byte, width uint, least int64)) (rest []byte, err error) {
	src = src[h.prefix:]
	for at := 1; at < h.total; {
		least, n := binary.Varint(src)
		if n <= 0 || len(src) < n+h.minis {
			return nil, encoding.Corruptf(deltaPart, "a block at value %d of %d is cut", at, h.total)
		}
		widths := src[n : n+h.minis]
		src = src[n+h.minis:]
		for _, w := range widths {
			if at == h.total {
				break // the others are behind the end: whatever they say
			}
			if uint(w) > bits {
				return nil, encoding.Corruptf(deltaPart, "deltas of %d bits", w)
			}
			size := simd.PackedLen(h.mini, uint(w))
			if size > len(src) {
				return nil, encoding.Corruptf(deltaPart, "a miniblock at value %d of %d is cut", at, h.total)
			}
			to := min(at+h.mini, h.total)
			f(at, to, src[:size], uint(w), least)
			at, src = to, src[size:]
		}
	}
	return src, nil
}

// decodeDelta64 appends n values to dst.
func decodeDelta64(dst []int64, src []byte, n int) (_ []int64, rest []byte, err error) {
	h, err := parseDeltaHeader(src)
	if err == nil {
		err = h.check(src, n)
	}
	if err != nil || n == 0 {
		return dst, src[min(h.prefix, len(src)):], err
	}
	at := len(dst)
	dst = zeros(dst, n)
	v := dst[at:]
	v[0] = h.first
	rest, err = h.blocks(src, 64, func(from, to int, body []byte, width uint, least int64) {
		c := simd.Packed64(body, width)
		simd.Sum64(v[from:to], &c, v[from-1], least)
	})
	return dst, rest, err
}

// decodeDelta32 is decodeDelta64 for int32. Widths up to 64 are accepted where
// the high bits do not count.
func decodeDelta32(dst []int32, src []byte, n int) (_ []int32, rest []byte, err error) {
	h, err := parseDeltaHeader(src)
	if err == nil {
		err = h.check(src, n)
	}
	if err != nil || n == 0 {
		return dst, src[min(h.prefix, len(src)):], err
	}
	at := len(dst)
	dst = zeros(dst, n)
	v := dst[at:]
	v[0] = int32(h.first)
	rest, err = h.blocks(src, 64, func(from, to int, body []byte, width uint, least int64) {
		if width > 32 {
			last := v[from-1]
			wide := make([]uint64, to-from)
			simd.Unpack64(wide, body, width)
			for i, d := range wide {
				last += int32(least) + int32(uint32(d))
				v[from+i] = last
			}
			return
		}
		c := simd.Packed32(body, width)
		simd.Sum32(v[from:to], &c, v[from-1], int32(least))
	})
	return dst, rest, err
}

// check says whether src can hold n values, which it says it does.
func (h *deltaHeader) check(src []byte, n int) error {
	if h.total != n {
		return encoding.Corruptf(deltaPart, "%d values where %d are expected", h.total, n)
	}
	// A block takes at least a byte and one for each miniblock.
	if blocks := (n + h.mini*h.minis - 2) / (h.mini * h.minis); n > 1 && blocks*(1+h.minis) > len(src)-h.prefix {
		return encoding.Corruptf(deltaPart, "%d values in %d bytes", n, len(src))
	}
	return nil
}

// appendDelta64 appends values as DELTA_BINARY_PACKED.
func appendDelta64(dst []byte, src []int64) []byte {
	return appendDelta(dst, src, appendBlocks64)
}

// appendDelta32 is appendDelta64 for int32.
func appendDelta32(dst []byte, src []int32) []byte {
	return appendDelta(dst, src, appendBlocks32)
}

// appendDelta appends values by one of both sizes of miniblocks.
func appendDelta[T int32 | int64](dst []byte, src []T, blocks func(dst []byte, src []T, mini int) []byte) []byte {
	at := len(dst)
	dst = blocks(dst, src, smallMini)
	small := len(dst)
	if dst = blocks(dst, src, largeMini); len(dst)-small >= small-at {
		return dst[:small]
	}
	return append(dst[:at], dst[small:]...)
}

// appendBlocks64 appends values in miniblocks of so many.
func appendBlocks64(dst []byte, src []int64, mini int) []byte {
	first := int64(0)
	if len(src) > 0 {
		first = src[0]
	}
	dst = appendDeltaHeader(dst, len(src), first, mini)
	var buf [largeBlock]int64
	for i := 0; i+1 < len(src); i += miniblocks * mini {
		n := min(miniblocks*mini, len(src)-i-1)
		least, _ := simd.Deltas64(buf[:], src[i:i+n+1])
		dst = binary.AppendVarint(dst, least)
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		for m := 0; m*mini < n; m++ {
			deltas := buf[m*mini : (m+1)*mini]
			for k := n - m*mini; k < mini; k++ {
				deltas[k] = least
			}
			_, greatest := simd.MinMaxInt64(deltas)
			w := uint(bits.Len64(uint64(greatest) - uint64(least)))
			dst[at+m] = byte(w)
			dst = simd.AppendPackRamp64(dst, deltas, w, least, 0)
		}
	}
	return dst
}

// appendBlocks32 is appendBlocks64 for int32.
func appendBlocks32(dst []byte, src []int32, mini int) []byte {
	first := int64(0)
	if len(src) > 0 {
		first = int64(src[0])
	}
	dst = appendDeltaHeader(dst, len(src), first, mini)
	var buf [largeBlock]int32
	for i := 0; i+1 < len(src); i += miniblocks * mini {
		n := min(miniblocks*mini, len(src)-i-1)
		least, _ := simd.Deltas32(buf[:], src[i:i+n+1])
		dst = binary.AppendVarint(dst, int64(least))
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		for m := 0; m*mini < n; m++ {
			deltas := buf[m*mini : (m+1)*mini]
			for k := n - m*mini; k < mini; k++ {
				deltas[k] = least
			}
			_, greatest := simd.MinMaxInt32(deltas)
			w := uint(bits.Len32(uint32(greatest) - uint32(least)))
			dst[at+m] = byte(w)
			dst = simd.AppendPackRamp32(dst, deltas, w, least, 0)
		}
	}
	return dst
}

func appendDeltaHeader(dst []byte, n int, first int64, mini int) []byte {
	dst = binary.AppendUvarint(dst, uint64(miniblocks*mini))
	dst = binary.AppendUvarint(dst, miniblocks)
	dst = binary.AppendUvarint(dst, uint64(n))
	return binary.AppendVarint(dst, first)
}
