package bitpack_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bitpack"
)

// FuzzDecode gives shapes and bytes of anyone to the decoders of both widths:
// an error, or values that pack to what holds the same values.
func FuzzDecode(f *testing.F) {
	f.Add(uint16(0), int64(0), int64(0), int64(0), []byte{})
	f.Add(uint16(5), int64(3), int64(0), int64(0), []byte{1, 2})
	for _, c := range []struct {
		values []uint64
		shape  bitpack.Shape
	}{
		{[]uint64{1, 2, 900, 3, 0, 70}, bitpack.Shape{Width: 2, Patches: 2, PatchWidth: 8}},
		{[]uint64{1 << 63, 0, 1}, bitpack.Shape{Width: 1, Patches: 1, PatchWidth: 63}},
		{[]uint64{0, 0, 5}, bitpack.Shape{Width: 0, Patches: 1, PatchWidth: 3}},
		{[]uint64{1<<64 - 1, 7}, bitpack.Shape{Width: 64}},
	} {
		b := bitpack.Append(nil, c.values, c.shape)
		f.Add(uint16(len(c.values)), int64(c.shape.Width), int64(c.shape.Patches), int64(c.shape.PatchWidth), b)
	}
	f.Fuzz(func(t *testing.T, n uint16, width, patches, patchWidth int64, b []byte) {
		wide := make([]uint64, n)
		fuzzDecode(t, wide, width, patches, patchWidth, 64, b)
		narrow := make([]uint32, n)
		if fuzzDecode(t, narrow, width, patches, patchWidth, 32, b) {
			for i, x := range narrow {
				require.Equal(t, wide[i], uint64(x))
			}
		}
		if pos := wide; len(b) >= bitpack.PositionsLen(len(pos), int(n)) {
			if err := bitpack.DecodePositions("fuzz", pos, b[:bitpack.PositionsLen(len(pos), int(n))], int(n)); err != nil {
				require.ErrorIs(t, err, encoding.ErrCorrupt)
			}
		}
	})
}

// fuzzDecode reports whether b decodes.
func fuzzDecode[T uint32 | uint64](t *testing.T, dst []T, width, patches, patchWidth int64, most uint, b []byte) bool {
	s, err := bitpack.CheckShape("fuzz", width, patches, patchWidth, len(dst), most)
	if err == nil {
		if s.Len(len(dst)) < len(b) {
			b = b[:s.Len(len(dst))]
		}
		err = bitpack.Decode("fuzz", dst, b, s, nil)
	}
	if err != nil {
		require.ErrorIs(t, err, encoding.ErrCorrupt)
		return false
	}
	again := make([]uint64, len(dst))
	for i, x := range dst {
		require.LessOrEqual(t, s.Width+s.PatchWidth, most)
		again[i] = uint64(x)
	}
	s.Patches = 0
	for _, x := range again {
		if s.Width < 64 && x>>s.Width != 0 {
			s.Patches++
		}
	}
	packed := bitpack.Append(nil, again, s)
	back := make([]T, len(dst))
	require.NoError(t, bitpack.Decode("fuzz", back, packed, s, nil))
	require.Equal(t, dst, back)
	return true
}

// FuzzRoundTrip packs values of anyone in the shape that they need.
func FuzzRoundTrip(f *testing.F) {
	f.Add(uint8(3), []byte("some bytes that make up eight numbers"))
	f.Fuzz(func(t *testing.T, width uint8, b []byte) {
		src := make([]uint64, len(b)/8)
		s := bitpack.Shape{Width: uint(width) % 65}
		s.PatchWidth = 64 - s.Width
		for i := range src {
			src[i] = binary.LittleEndian.Uint64(b[8*i:])
			if s.Width < 64 && src[i]>>s.Width != 0 {
				s.Patches++
			}
		}
		packed := bitpack.Append(nil, src, s)
		require.Len(t, packed, s.Len(len(src)))
		dst := make([]uint64, len(src))
		require.NoError(t, bitpack.Decode("fuzz", dst, packed, s, nil))
		require.Equal(t, src, dst)
	})
}
