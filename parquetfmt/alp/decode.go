package alp

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/simd"
)

// pageHeader is the bytes of a page before its offsets.
const pageHeader = 7

// vectorHeader is the bytes of a vector of values of m bits before its codes.
func vectorHeader(m uint) int { return 5 + int(m/8) }

// page is a page whose structure was checked, all but the positions of
// exceptions.
type page struct {
	count int
	log   uint   // of the vector size
	m     uint   // bits of a value
	body  []byte // from the offsets on
}

// vectors is the number of vectors.
func (p *page) vectors() int { return vectors(p.count, p.log) }

func vectors(n int, log uint) int { return int((uint64(n) + 1<<log - 1) >> log) }

// vector is what a vector's header says, and where its parts lie.
type vector struct {
	index      int // in the page
	e, f       uint8
	exceptions int
	frame      int64
	width      uint
	packed     []byte // and what follows: kernels like room behind
	positions  []byte // of exceptions: not yet checked; they need not ascend, and of two at one place the later counts
	values     []byte // theirs
}

// parse checks src, a page of values of m bits, before memory is spent on it:
// every vector is where its offset says and as long as its header says.
func parse(src []byte, m uint) (page, error) {
	if len(src) < pageHeader {
		return page{}, corruptf("%d bytes, want a header of %d", len(src), pageHeader)
	}
	mode, packing, log, count := src[0], src[1], uint(src[2]), int64(int32(binary.LittleEndian.Uint32(src[3:])))
	switch {
	case mode != 0:
		return page{}, corruptf("unknown compression mode %d", mode)
	case packing != 0:
		return page{}, corruptf("unknown integer encoding %d", packing)
	case log < minLogVectorSize || log > maxLogVectorSize:
		return page{}, corruptf("vector size of 2^%d, want 2^%d to 2^%d", log, minLogVectorSize, maxLogVectorSize)
	case count < 0:
		return page{}, corruptf("%d values", count)
	}
	p := page{count: int(count), log: log, m: m, body: src[pageHeader:]}
	n := p.vectors()
	if least := int64(n) * int64(4+vectorHeader(m)); int64(len(p.body)) < least {
		return page{}, corruptf("%d bytes for %d vectors, want %d at least", len(p.body), n, least)
	}
	at := 4 * n
	for i := range n {
		if offset := p.offset(i); uint64(offset) != uint64(at) {
			return page{}, corruptf("vector %d at offset %d, want %d", i, offset, at)
		}
		v := vector{index: i}
		size, err := v.parse(p.body[at:], p.len(i), m)
		if err != nil {
			return page{}, err
		}
		at += size
	}
	if at != len(p.body) {
		return page{}, corruptf("%d bytes behind the last vector", len(p.body)-at)
	}
	return p, nil
}

func (p *page) offset(i int) uint32 { return binary.LittleEndian.Uint32(p.body[4*i:]) }

// len is the number of values of vector i.
func (p *page) len(i int) int { return min(1<<p.log, p.count-i<<p.log) }

// parse reads the vector of n values of m bits that src begins with, and
// returns its length.
func (v *vector) parse(src []byte, n int, m uint) (int, error) {
	header := vectorHeader(m)
	if len(src) < header {
		return 0, v.corruptf("%d bytes, want a header of %d", len(src), header)
	}
	v.e, v.f, v.exceptions = src[0], src[1], int(binary.LittleEndian.Uint16(src[2:]))
	if m == 64 {
		v.frame = int64(binary.LittleEndian.Uint64(src[4:]))
	} else {
		v.frame = int64(int32(binary.LittleEndian.Uint32(src[4:])))
	}
	v.width = uint(src[header-1])
	switch most := maxExponent(m); {
	case v.e > most:
		return 0, v.corruptf("exponent %d, want at most %d", v.e, most)
	case v.f > v.e:
		return 0, v.corruptf("factor %d above exponent %d", v.f, v.e)
	case v.exceptions > n:
		return 0, v.corruptf("%d exceptions among %d values", v.exceptions, n)
	case v.width > m:
		return 0, v.corruptf("width %d, want at most %d", v.width, m)
	}
	packed := simd.PackedLen(n, v.width)
	size := header + packed + v.exceptions*(2+int(m/8))
	if len(src) < size {
		return 0, v.corruptf("%d bytes, want %d", len(src), size)
	}
	v.packed = src[header:]
	v.positions = src[header+packed:][:2*v.exceptions]
	v.values = src[header+packed+2*v.exceptions : size]
	return size, nil
}

func (v *vector) corruptf(format string, args ...any) error {
	return encoding.Corruptf(fmt.Sprintf("%s, vector %d", part, v.index), format, args...)
}

// resize is dst with room for the values of p, and for no more.
func resize[F float](dst []F, p *page) ([]F, error) {
	n := p.count
	switch {
	case len(dst) > 0 && n > len(dst):
		return dst, corruptf("%d values, want %d", n, len(dst))
	case n <= cap(dst):
		return dst[:n:n], nil
	case n > 1<<20 && n > 64*(pageHeader+len(p.body)):
		return dst, corruptf("%d values in %d bytes, with no room given for as many", n, pageHeader+len(p.body))
	}
	return make([]F, n), nil
}

// doubles decodes a page of float64 into dst, which is as long.
func (p *page) doubles(dst []float64) error {
	for i := range p.vectors() {
		n := p.len(i)
		v := vector{index: i}
		if _, err := v.parse(p.body[p.offset(i):], n, 64); err != nil {
			return err
		}
		if err := v.doubles(dst[:n]); err != nil {
			return err
		}
		dst = dst[n:]
	}
	return nil
}

// floats is doubles for float32.
func (p *page) floats(dst []float32) error {
	for i := range p.vectors() {
		n := p.len(i)
		v := vector{index: i}
		if _, err := v.parse(p.body[p.offset(i):], n, 32); err != nil {
			return err
		}
		if err := v.floats(dst[:n]); err != nil {
			return err
		}
		dst = dst[n:]
	}
	return nil
}

func (v *vector) doubles(dst []float64) error {
	codes := simd.Packed64(v.packed, v.width)
	if back, scale := pow64[v.f], inverse64[v.e]; !simd.Decimal64(dst, &codes, v.frame, back, scale) {
		v.wide(dst, back, scale)
	}
	values := v.values
	for positions := v.positions; len(positions) >= 2 && len(values) >= 8; positions, values = positions[2:], values[8:] {
		at := int(binary.LittleEndian.Uint16(positions))
		if at >= len(dst) {
			return v.errPosition(at, len(dst))
		}
		dst[at] = math.Float64frombits(binary.LittleEndian.Uint64(values))
	}
	return nil
}

func (v *vector) floats(dst []float32) error {
	codes := simd.Packed32(v.packed, v.width)
	simd.Single32(dst, &codes, int32(v.frame), pow32[v.f], inverse32[v.e])
	values := v.values
	for positions := v.positions; len(positions) >= 2 && len(values) >= 4; positions, values = positions[2:], values[4:] {
		at := int(binary.LittleEndian.Uint16(positions))
		if at >= len(dst) {
			return v.errPosition(at, len(dst))
		}
		dst[at] = math.Float32frombits(binary.LittleEndian.Uint32(values))
	}
	return nil
}

func (v *vector) errPosition(at, n int) error {
	return v.corruptf("exception at %d of %d values", at, n)
}

// wide is for integers of more than 52 bits, which no kernel converts.
func (v *vector) wide(dst []float64, back, scale float64) {
	var codes [64]uint64
	for at := 0; at < len(dst); at += len(codes) {
		u := codes[:min(len(dst)-at, len(codes))]
		simd.Unpack64(u, v.packed[at/8*int(v.width):], v.width)
		for i, x := range u {
			dst[at+i] = float64(float64(float64(v.frame+int64(x))*back) * scale)
		}
	}
}
