package bss_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bss"
)

func ExampleAppendFloat64() {
	b := bss.AppendFloat64(nil, []float64{1.5, -2})
	dst := make([]float64, 2)
	rest, err := bss.DecodeFloat64(dst, b)
	fmt.Println(len(b), dst, len(rest), err)
	// Output: 16 [1.5 -2] 0 <nil>
}

func TestBytes(t *testing.T) {
	require.Equal(t, []byte{1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0}, bss.AppendInt64(nil, []int64{math.MinInt64 + 1, 2}))
	require.Equal(t, []byte{9, 1, 2, 0, 0, 0, 0, 0x80, 0}, bss.AppendInt32([]byte{9}, []int32{math.MinInt32 + 1, 2}))
	var v []int64
	var want [64]byte
	for i := range 8 {
		var u uint64
		for j := range 8 {
			u |= uint64(10*i+j) << (8 * j)
			want[8*j+i] = byte(10*i + j)
		}
		v = append(v, int64(u))
	}
	require.Equal(t, want[:], bss.AppendInt64(nil, v))
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
		b := bss.AppendInt64(nil, v)
		b = bss.AppendInt32(b, i32)
		b = bss.AppendFloat64(b, f64)
		b = bss.AppendFloat32(b, f32)
		require.Len(t, b, 24*n)
		gi64, gi32, gf64, gf32 := make([]int64, n), make([]int32, n), make([]float64, n), make([]float32, n)
		rest, err := bss.DecodeInt64(gi64, b)
		require.NoError(t, err)
		rest, err = bss.DecodeInt32(gi32, rest)
		require.NoError(t, err)
		rest, err = bss.DecodeFloat64(gf64, rest)
		require.NoError(t, err)
		rest, err = bss.DecodeFloat32(gf32, rest)
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
	_, err := bss.DecodeInt64(make([]int64, 2), make([]byte, 15))
	require.ErrorIs(t, err, encoding.ErrCorrupt)
	_, err = bss.DecodeInt32(make([]int32, 2), make([]byte, 7))
	require.ErrorIs(t, err, encoding.ErrCorrupt)
	_, err = bss.DecodeFloat64(make([]float64, 1), nil)
	require.ErrorIs(t, err, encoding.ErrCorrupt)
	_, err = bss.DecodeFloat32(make([]float32, 1), make([]byte, 3))
	require.ErrorIs(t, err, encoding.ErrCorrupt)
	_, err = bss.Int64Len(&encoding.Params{7: 1}, 3)
	require.ErrorIs(t, err, encoding.ErrCorrupt)
	for size, f := range map[int]func(*encoding.Params, int) (int, error){8: bss.Float64Len, 4: bss.Float32Len} {
		n, err := f(&encoding.Params{}, 3)
		require.NoError(t, err)
		require.Equal(t, 3*size, n)
	}
	n, err := bss.Int32Len(&encoding.Params{}, 0)
	require.NoError(t, err)
	require.Zero(t, n)
}

func TestAllocs(t *testing.T) {
	b := bss.AppendFloat64(nil, make([]float64, 128))
	dst := make([]float64, 128)
	require.Zero(t, testing.AllocsPerRun(10, func() { bss.DecodeFloat64(dst, b) }))
	require.Zero(t, testing.AllocsPerRun(10, func() { bss.AppendFloat64(b[:0], dst) }))
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{}, uint16(0))
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, uint16(1))
	f.Add([]byte{1, 2, 3}, uint16(1000))
	f.Fuzz(func(t *testing.T, src []byte, n uint16) {
		dst := make([]float64, n)
		rest, err := bss.DecodeFloat64(dst, src)
		if err != nil {
			require.ErrorIs(t, err, encoding.ErrCorrupt)
			return
		}
		require.Equal(t, src, append(bss.AppendFloat64([]byte{}, dst), rest...))
	})
}

func BenchmarkDecodeFloat64(b *testing.B) {
	src := bss.AppendFloat64(nil, make([]float64, 1024))
	dst := make([]float64, 1024)
	b.SetBytes(8 * 1024)
	for b.Loop() {
		bss.DecodeFloat64(dst, src)
	}
}

func BenchmarkDecodeFloat32(b *testing.B) {
	src := bss.AppendFloat32(nil, make([]float32, 1024))
	dst := make([]float32, 1024)
	b.SetBytes(4 * 1024)
	for b.Loop() {
		bss.DecodeFloat32(dst, src)
	}
}
