package raw_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/raw"
)

func ExampleAppendFloat64() {
	b := raw.AppendFloat64(nil, []float64{1.5, -2})
	dst := make([]float64, 2)
	rest, err := raw.DecodeFloat64(dst, b)
	fmt.Println(len(b), dst, len(rest), err)
	// Output: 16 [1.5 -2] 0 <nil>
}

func TestBytes(t *testing.T) {
	require.Equal(t, []byte{1, 0, 0, 0, 0, 0, 0, 0x80}, raw.AppendInt64(nil, []int64{math.MinInt64 + 1}))
	require.Equal(t, []byte{9, 1, 0, 0, 0x80}, raw.AppendInt32([]byte{9}, []int32{math.MinInt32 + 1}))
	require.Equal(t, []byte{0, 0, 0, 0, 0, 0, 0, 0x80}, raw.AppendFloat64(nil, []float64{math.Copysign(0, -1)}))
	require.Equal(t, []byte{1, 0, 0x80, 0x7f}, raw.AppendFloat32(nil, []float32{math.Float32frombits(0x7f800001)}))
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOf(rapid.Int64()).Draw(t, "v")
		n := len(v)
		i32, f64, f32 := make([]int32, n), make([]float64, n), make([]float32, n)
		for i, x := range v {
			i32[i] = int32(x)
			f64[i] = math.Float64frombits(uint64(x))
			f32[i] = math.Float32frombits(uint32(x))
		}
		b := raw.AppendInt64(nil, v)
		b = raw.AppendInt32(b, i32)
		b = raw.AppendFloat64(b, f64)
		b = raw.AppendFloat32(b, f32)
		require.Len(t, b, 24*n)
		gi64, gi32, gf64, gf32 := make([]int64, n), make([]int32, n), make([]float64, n), make([]float32, n)
		rest, err := raw.DecodeInt64(gi64, b)
		require.NoError(t, err)
		rest, err = raw.DecodeInt32(gi32, rest)
		require.NoError(t, err)
		rest, err = raw.DecodeFloat64(gf64, rest)
		require.NoError(t, err)
		rest, err = raw.DecodeFloat32(gf32, rest)
		require.NoError(t, err)
		require.Empty(t, rest)
		for i := range v {
			require.Equal(t, v[i], gi64[i])
			require.Equal(t, i32[i], gi32[i])
			require.Equal(t, math.Float64bits(f64[i]), math.Float64bits(gf64[i]))
			require.Equal(t, math.Float32bits(f32[i]), math.Float32bits(gf32[i]))
		}
	})
}

func TestCorrupt(t *testing.T) {
	_, err := raw.DecodeInt64(make([]int64, 2), make([]byte, 15))
	require.ErrorIs(t, err, encoding.ErrCorrupt)
	_, err = raw.DecodeInt32(make([]int32, 2), make([]byte, 7))
	require.ErrorIs(t, err, encoding.ErrCorrupt)
	_, err = raw.DecodeFloat64(make([]float64, 1), nil)
	require.ErrorIs(t, err, encoding.ErrCorrupt)
	_, err = raw.DecodeFloat32(make([]float32, 1), make([]byte, 3))
	require.ErrorIs(t, err, encoding.ErrCorrupt)
	_, err = raw.Int64Len(&encoding.Params{7: 1}, 3)
	require.ErrorIs(t, err, encoding.ErrCorrupt)
	for size, f := range map[int]func(*encoding.Params, int) (int, error){8: raw.Float64Len, 4: raw.Float32Len} {
		n, err := f(&encoding.Params{}, 3)
		require.NoError(t, err)
		require.Equal(t, 3*size, n)
	}
	n, err := raw.Int32Len(&encoding.Params{}, 0)
	require.NoError(t, err)
	require.Zero(t, n)
}

func TestAllocs(t *testing.T) {
	b := raw.AppendFloat64(nil, make([]float64, 128))
	dst := make([]float64, 128)
	require.Zero(t, testing.AllocsPerRun(10, func() { raw.DecodeFloat64(dst, b) }))
	require.Zero(t, testing.AllocsPerRun(10, func() { raw.AppendFloat64(b[:0], dst) }))
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{}, uint16(0))
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, uint16(1))
	f.Add([]byte{1, 2, 3}, uint16(1000))
	f.Fuzz(func(t *testing.T, src []byte, n uint16) {
		dst := make([]float64, n)
		rest, err := raw.DecodeFloat64(dst, src)
		if err != nil {
			require.ErrorIs(t, err, encoding.ErrCorrupt)
			return
		}
		require.Equal(t, src, append(raw.AppendFloat64([]byte{}, dst), rest...))
	})
}
