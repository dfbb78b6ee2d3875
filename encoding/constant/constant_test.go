package constant_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/constant"
)

func ExampleFloat64() {
	var p encoding.Params
	fmt.Println(constant.Float64([]float64{0, math.Copysign(0, -1)}, &p))
	fmt.Println(constant.Float64([]float64{2.5, 2.5, 2.5}, &p))
	dst := make([]float64, 3)
	err := constant.DecodeFloat64(dst, &p)
	fmt.Println(dst, err)
	// Output:
	// false
	// true
	// [2.5 2.5 2.5] <nil>
}

func TestNotConstant(t *testing.T) {
	p := encoding.Params{1, 2, 3}
	require.False(t, constant.Int64([]int64{1, 1, 2}, &p))
	require.False(t, constant.Int32([]int32{math.MinInt32, math.MaxInt32}, &p))
	require.False(t, constant.Float64([]float64{math.Float64frombits(0x7ff8000000000001), math.Float64frombits(0x7ff8000000000002)}, &p))
	require.False(t, constant.Float32([]float32{0, float32(math.Copysign(0, -1))}, &p))
	require.Equal(t, encoding.Params{1, 2, 3}, p)
	require.True(t, constant.Int64(nil, &p))
	require.Equal(t, encoding.Params{}, p)
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Int64().Draw(t, "x")
		n := rapid.IntRange(0, 20).Draw(t, "n")
		i64, i32, f64, f32 := make([]int64, n), make([]int32, n), make([]float64, n), make([]float32, n)
		for i := range n {
			i64[i], i32[i] = x, int32(x)
			f64[i], f32[i] = math.Float64frombits(uint64(x)), math.Float32frombits(uint32(x))
		}
		p := encoding.Params{1, 2, 3}
		g64, g32, h64, h32 := make([]int64, n), make([]int32, n), make([]float64, n), make([]float32, n)
		require.True(t, constant.Int64(i64, &p))
		require.NoError(t, constant.DecodeInt64(g64, &p))
		require.True(t, constant.Int32(i32, &p))
		require.NoError(t, constant.DecodeInt32(g32, &p))
		require.True(t, constant.Float64(f64, &p))
		require.NoError(t, constant.DecodeFloat64(h64, &p))
		require.True(t, constant.Float32(f32, &p))
		require.NoError(t, constant.DecodeFloat32(h32, &p))
		require.Equal(t, i64, g64)
		require.Equal(t, i32, g32)
		for i := range n {
			require.Equal(t, math.Float64bits(f64[i]), math.Float64bits(h64[i]))
			require.Equal(t, math.Float32bits(f32[i]), math.Float32bits(h32[i]))
		}
	})
}

func TestCorrupt(t *testing.T) {
	for i := 1; i < encoding.NumParams; i++ {
		p := encoding.Params{}
		p[i] = 1
		require.ErrorIs(t, constant.DecodeInt64(nil, &p), encoding.ErrCorrupt)
		require.ErrorIs(t, constant.DecodeFloat64(nil, &p), encoding.ErrCorrupt)
	}
	for _, v := range []int64{math.MinInt64, math.MinInt32 - 1, math.MaxInt32 + 1, math.MaxInt64} {
		require.ErrorIs(t, constant.DecodeInt32(nil, &encoding.Params{v}), encoding.ErrCorrupt)
	}
	for _, v := range []int64{math.MinInt64, -1, math.MaxUint32 + 1, math.MaxInt64} {
		require.ErrorIs(t, constant.DecodeFloat32(nil, &encoding.Params{v}), encoding.ErrCorrupt)
	}
}

func TestAllocs(t *testing.T) {
	dst := make([]float64, 128)
	var p encoding.Params
	require.Zero(t, testing.AllocsPerRun(10, func() {
		constant.DecodeFloat64(dst, &p)
		constant.Float64(dst, &p)
	}))
}

func FuzzDecode(f *testing.F) {
	f.Add(int64(0), int64(0), uint8(3))
	f.Add(int64(math.MinInt64), int64(0), uint8(0))
	f.Add(int64(1), int64(1), uint8(1))
	f.Fuzz(func(t *testing.T, a, b int64, n uint8) {
		p, got := encoding.Params{a, b}, encoding.Params{}
		dst := make([]int32, n)
		if err := constant.DecodeInt32(dst, &p); err != nil {
			require.ErrorIs(t, err, encoding.ErrCorrupt)
		} else if n > 0 {
			require.True(t, constant.Int32(dst, &got))
			require.Equal(t, p, got)
		}
	})
}
