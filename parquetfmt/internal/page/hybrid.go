package page

import (
	"encoding/binary"
	"math/bits"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/simd"
)

// Hybrid reads the hybrid of runs and bit-packed groups in which levels,
// dictionary indexes and some booleans are stored:
//
//	runs: header uvarint; even: run of header/2 values, the value in ceil(w/8)
//	      bytes; odd: header/2 groups of 8 values of w bits, LSB first
//
// It decodes as much as is asked for, so that a run costs no memory.
type Hybrid struct {
	src    []byte
	width  uint
	run    int    // values left of a run
	value  uint32 // of the run
	packed []byte // what is left of packed groups
	left   int    // values left in them, those in buf not counted
	buf    [8]uint32
	bufAt  int // buf[bufAt:] are decoded and not yet taken
}

// Reset begins to read src, of values of width bits.
func (h *Hybrid) Reset(src []byte, width uint) error {
	if width > 32 {
		return encoding.Corruptf("levels", "values of %d bits", width)
	}
	*h = Hybrid{src: src, width: width, bufAt: len(h.buf)}
	return nil
}

// advance reads the header of the next run or packed groups.
func (h *Hybrid) advance() error {
	for h.run == 0 && h.left == 0 {
		if len(h.src) == 0 {
			return encoding.Corruptf("levels", "they end before the page's values do")
		}
		u, n := binary.Uvarint(h.src)
		if n <= 0 {
			return encoding.Corruptf("levels", "malformed header of a run")
		}
		h.src = h.src[n:]
		count := u >> 1
		if u&1 == 0 {
			size := int(h.width+7) / 8
			if len(h.src) < size {
				return encoding.Corruptf("levels", "a run without its value")
			}
			h.value = 0
			for i := range size {
				h.value |= uint32(h.src[i]) << (8 * i)
			}
			h.src = h.src[size:]
			if h.width < 32 && h.value>>h.width != 0 {
				return encoding.Corruptf("levels", "value %d of %d bits", h.value, h.width)
			}
			h.run = int(min(count, 1<<31-1))
			continue
		}
		if count > 1<<27 {
			return encoding.Corruptf("levels", "%d groups of packed values", count)
		}
		if most := uint64(len(h.src)); h.width > 0 { // more than that are cut in any case
			count = min(count, most/uint64(h.width)+1)
		}
		size := int(count) * int(h.width)
		h.left = int(count) * 8
		if size > len(h.src) { // some writers cut the last group
			size = len(h.src)
			if h.left = size * 8 / int(h.width); h.left == 0 {
				return encoding.Corruptf("levels", "packed values are cut")
			}
		}
		h.packed, h.src = h.src[:size], h.src[size:]
	}
	return nil
}

// Run takes the next n values if they are one run, and says which.
func (h *Hybrid) Run(n int) (value uint32, ok bool) {
	if h.bufAt < len(h.buf) || h.run == 0 && h.left == 0 && h.advance() != nil || h.run < n {
		return 0, false
	}
	h.run -= n
	return h.value, true
}

// NextRun takes the next value and those that stand in one run with it, n in all
// and at most so many.
func (h *Hybrid) NextRun(most int) (value uint32, n int, err error) {
	if h.bufAt == len(h.buf) {
		if h.run == 0 && h.left == 0 {
			if err := h.advance(); err != nil {
				return 0, 0, err
			}
		}
		if h.run > 0 {
			n := min(h.run, most)
			h.run -= n
			return h.value, n, nil
		}
	}
	var one [1]uint32
	err = h.Next(one[:])
	return one[0], 1, err
}

// Next fills dst with the next values.
func (h *Hybrid) Next(dst []uint32) error {
	for len(dst) > 0 {
		if h.bufAt < len(h.buf) {
			n := copy(dst, h.buf[h.bufAt:])
			h.bufAt += n
			dst = dst[n:]
			continue
		}
		if h.run == 0 && h.left == 0 {
			if err := h.advance(); err != nil {
				return err
			}
		}
		if h.run > 0 {
			n := min(h.run, len(dst))
			for i := range dst[:n] {
				dst[i] = h.value
			}
			h.run -= n
			dst = dst[n:]
			continue
		}
		if n := min(len(dst), h.left) &^ 7; n > 0 {
			simd.Unpack32(dst[:n], h.packed, h.width)
			h.packed = h.packed[n/8*int(h.width):]
			h.left -= n
			dst = dst[n:]
			continue
		}
		n := min(h.left, len(h.buf))
		simd.Unpack32(h.buf[:n], h.packed, h.width)
		h.packed = h.packed[min(int(h.width), len(h.packed)):]
		h.left -= n
		h.bufAt = len(h.buf) - n
		copy(h.buf[h.bufAt:], h.buf[:n])
	}
	return nil
}

// AppendHybrid appends values of width bits in the hybrid form. There is at
// least one header, also where the width is 0.
func AppendHybrid[T uint8 | uint32](dst []byte, src []T, width uint) []byte {
	var group [8]uint32
	for i := 0; i < len(src); {
		// A run of 8 or more stands alone; what is between runs is packed.
		n := runLength(src[i:])
		if n >= 8 || i+n == len(src) {
			dst = AppendRun(dst, uint32(src[i]), n, width)
			i += n
			continue
		}
		// Packed groups of 8 up to where a long run begins.
		from := i
		for i < len(src) {
			if i += 8; i >= len(src) || runLength(src[i:min(len(src), i+8)]) == 8 {
				break
			}
		}
		groups := (min(i, len(src)) - from + 7) / 8
		dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
		for g := range groups {
			clear(group[:])
			for k := 0; k < 8 && from+8*g+k < len(src); k++ {
				group[k] = uint32(src[from+8*g+k])
			}
			dst = simd.AppendPack32(dst, group[:], width)
		}
	}
	return dst
}

// AppendRun appends n equal values in the hybrid form.
func AppendRun(dst []byte, value uint32, n int, width uint) []byte {
	dst = binary.AppendUvarint(dst, uint64(n)<<1)
	for i := uint(0); i < width; i += 8 {
		dst = append(dst, byte(value>>i))
	}
	return dst
}

func runLength[T comparable](s []T) int {
	n := 1
	for n < len(s) && s[n] == s[0] {
		n++
	}
	return n
}

// LevelWidth is the number of bits of levels up to most.
func LevelWidth(most uint8) uint { return uint(bits.Len8(most)) }
