package alp

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/stretchr/testify/require"
)

// What follows is a decoder of valid pages written from the format's text
// alone, a bit at a time.

func power10[F float](k int) F {
	bits := int(bitsOf[F]())
	x, err := strconv.ParseFloat("1e"+strconv.Itoa(k), bits)
	if err != nil {
		panic(err)
	}
	return F(x)
}

// decode64 are the patterns of a page of DOUBLE.
func decode64(t failer, page []byte) []uint64 {
	return decode(t, page, 8, func(frame, code uint64, e, f int) uint64 {
		x := float64(int64(frame + code))
		x *= power10[float64](f)
		x *= power10[float64](-e)
		return math.Float64bits(x)
	}, binary.LittleEndian.Uint64)
}

// decode32 are the patterns of a page of FLOAT.
func decode32(t failer, page []byte) []uint32 {
	return decode(t, page, 4, func(frame, code uint64, e, f int) uint32 {
		x := float32(int32(uint32(frame) + uint32(code)))
		x *= power10[float32](f)
		x *= power10[float32](-e)
		return math.Float32bits(x)
	}, binary.LittleEndian.Uint32)
}

func decode[P uint32 | uint64](t failer, page []byte, size int, value func(frame, code uint64, e, f int) P, raw func([]byte) P) []P {
	require.Equal(t, []byte{0, 0}, page[:2])
	each, n := 1<<page[2], int(binary.LittleEndian.Uint32(page[3:]))
	body := page[7:]
	out := make([]P, 0, n)
	at := (n + each - 1) / each * 4
	for i := 0; i*each < n; i++ {
		require.EqualValues(t, at, binary.LittleEndian.Uint32(body[4*i:]))
		k := min(each, n-i*each)
		v := body[at:]
		e, f, x := int(v[0]), int(v[1]), int(binary.LittleEndian.Uint16(v[2:]))
		frame, w := uint64(raw(v[4:])), int(v[4+size])
		v = v[5+size:]
		for j := range k {
			var code uint64
			for b := range w {
				bit := j*w + b
				code |= uint64(v[bit/8]>>(bit%8)&1) << b
			}
			out = append(out, value(frame, code, e, f))
		}
		v = v[(k*w+7)/8:]
		for j := range x {
			out[i*each+int(binary.LittleEndian.Uint16(v[2*j:]))] = raw(v[2*x+size*j:])
		}
		at += 5 + size + (k*w+7)/8 + x*(2+size)
	}
	require.Len(t, body, at)
	return out
}

// handmade is a vector as no encoder need make it.
type handmade struct {
	e, f      uint8
	frame     uint64
	width     int
	codes     []uint64
	positions []uint16
	raw       []uint64 // patterns at the positions
}

// pageOf lays out vectors of values of size bytes.
func pageOf(size int, log uint8, vectors ...handmade) []byte {
	n := 0
	offsets, body := []byte{}, []byte{}
	number := func(b []byte, x uint64) []byte {
		return append(b, binary.LittleEndian.AppendUint64(nil, x)[:size]...)
	}
	for _, v := range vectors {
		n += len(v.codes)
		offsets = binary.LittleEndian.AppendUint32(offsets, uint32(4*len(vectors)+len(body)))
		body = append(body, v.e, v.f)
		body = binary.LittleEndian.AppendUint16(body, uint16(len(v.positions)))
		body = append(number(body, v.frame), byte(v.width))
		packed := make([]byte, (len(v.codes)*v.width+7)/8)
		for i, code := range v.codes {
			for k := range v.width {
				bit := i*v.width + k
				packed[bit/8] |= byte(code>>k&1) << (bit % 8)
			}
		}
		body = append(body, packed...)
		for _, at := range v.positions {
			body = binary.LittleEndian.AppendUint16(body, at)
		}
		for _, x := range v.raw {
			body = number(body, x)
		}
	}
	page := binary.LittleEndian.AppendUint32([]byte{0, 0, log}, uint32(n))
	return append(append(page, offsets...), body...)
}
