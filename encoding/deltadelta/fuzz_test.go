package deltadelta_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/deltadelta"
)

// seeds are inputs of both fuzz targets: values, and encoded values.
func seeds(f *testing.F) {
	f.Add(uint16(0), []byte{})
	f.Add(uint16(5), []byte("a few bytes that are no chunk"))
	for _, v := range [][]int64{
		{7, 7, 7, 7},
		{1000, 1010, 1021, 1030, 1070, 1080, 1089, 1100},
		{1, 500, 3, -9, 1 << 62, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13},
		{0, 1, 3, 6, 10, 15, 21, 28, 36, 46, 57, 69, 82, 96},
		{-1 << 63, 1<<63 - 1, -1 << 63, 1<<63 - 1},
	} {
		var raw []byte
		for _, x := range v {
			raw = binary.LittleEndian.AppendUint64(raw, uint64(x))
		}
		f.Add(uint16(len(v)), raw)
		f.Add(uint16(len(v)), deltadelta.AppendInt64(nil, v))
	}
}

func FuzzInt64(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, n uint16, b []byte) { fuzz(t, int64s, n, b) })
}

func FuzzInt32(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, n uint16, b []byte) { fuzz(t, int32s, n, b) })
}

// fuzz takes b as values, which must survive, and as n encoded values, which
// must decode or be refused.
func fuzz[T int32 | int64](t *testing.T, c coder[T], n uint16, b []byte) {
	v := make([]T, len(b)/c.bytes)
	for i := range v {
		for k := range c.bytes {
			v[i] |= T(b[i*c.bytes+k]) << (8 * k)
		}
	}
	var e deltadelta.Encoder
	c.append(&e, nil, v[:len(v)/2], new(encoding.Params))
	c.roundTrip(t, &e, v)

	dst := make([]T, n%3000)
	if _, err := c.read(dst, b); err != nil {
		require.True(t, errors.Is(err, encoding.ErrCorrupt), "%v", err)
	}
}
