package alp

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/parquet-go/parquet-go"
	parquetenc "github.com/parquet-go/parquet-go/encoding"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/simd"
)

// levels runs f at every level that this machine has.
func levels(t *testing.T, f func(t *testing.T)) {
	for l := simd.Generic; l <= simd.Supported(); l++ {
		t.Run(l.String(), func(t *testing.T) {
			defer simd.SetLevel(l)()
			f(t)
		})
	}
}

func patterns64(v []float64) []uint64 {
	out := make([]uint64, len(v))
	for i, x := range v {
		out[i] = math.Float64bits(x)
	}
	return out
}

func patterns32(v []float32) []uint32 {
	out := make([]uint32, len(v))
	for i, x := range v {
		out[i] = math.Float32bits(x)
	}
	return out
}

func TestRegistered(t *testing.T) {
	require.IsType(t, new(Encoding), parquet.LookupEncoding(Format))
	require.True(t, parquetenc.CanEncodeDouble(new(Encoding)))
	require.True(t, parquetenc.CanEncodeFloat(new(Encoding)))
	require.False(t, parquetenc.CanEncodeInt64(new(Encoding)))
	require.Equal(t, "ALP", new(Encoding).String())
}

// The worked example of the format's text.
func TestLayout(t *testing.T) {
	src := []float64{1500, math.NaN(), 2500, 333.5}
	page := []byte{
		0, 0, 10, 4, 0, 0, 0, // header
		4, 0, 0, 0, // offset
		4, 3, 1, 0, // exponent, factor, exceptions
		0x07, 0x0d, 0, 0, 0, 0, 0, 0, 15, // frame 3335, width
		0x91, 0xad, 0xc8, 0x56, 0x28, 0x15, 0, 0, // 11665, 11665, 21665, 0
		1, 0, // position
	}
	page = binary.LittleEndian.AppendUint64(page, math.Float64bits(src[1]))
	require.Len(t, page, 42)
	got, err := new(Encoding).DecodeDouble(nil, page)
	require.NoError(t, err)
	require.Equal(t, patterns64(src), patterns64(got))
}

// hostile are floats that tend to break what handles floats.
var hostile = []float64{
	0, math.Copysign(0, -1), 1, -1, 0.5, 0.1, 12.345, 1e300, -1e300, math.MaxFloat64, 5e-324, 1e-310, 1e-45,
	math.Inf(1), math.Inf(-1), math.NaN(), math.Float64frombits(0xfff8dead00000001), math.Float64frombits(0x7ff0000000000001),
	1 << 51, 1<<51 + 1, -1<<51 - 1, 1 << 52, 1 << 53, 1<<53 + 2, 1 << 63, -1 << 63, 1 << 62, 1 << 24, 1<<24 + 1,
	9223372036854774784, 9223372036854775807, 2147483520, -2147483648, 92233.8, 1e-15, -1e-30,
}

// someDoubles are n values of one of several kinds.
func someDoubles(r *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	kind, digits := r.IntN(8), r.IntN(8)
	unit := math.Pow10(digits)
	for i := range out {
		switch kind {
		case 0:
			out[i] = hostile[r.IntN(len(hostile))]
		case 1:
			out[i] = math.Float64frombits(r.Uint64())
		case 2:
			out[i] = 7.25
		case 3: // outliers
			out[i] = math.Round(r.NormFloat64()*100) / 10
			if r.IntN(40) == 0 {
				out[i] = math.Round(r.ExpFloat64() * 1e12)
			}
		case 4:
			out[i] = float64(r.Int64() >> r.IntN(64))
		default:
			out[i] = math.Round(r.Float64()*1000*unit) / unit
			if r.IntN(30) == 0 {
				out[i] = hostile[r.IntN(len(hostile))]
			}
		}
	}
	return out
}

func someFloats(r *rand.Rand, n int) []float32 {
	out := make([]float32, n)
	wild := r.IntN(8) == 0
	for i, v := range someDoubles(r, n) {
		out[i] = float32(v)
		if v != v || wild {
			out[i] = math.Float32frombits(r.Uint32())
		}
	}
	return out
}

func TestRoundTrip(t *testing.T) {
	levels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, n := range []int{0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 100, 512, 1023, 1024, 1025, 3000, 5000} {
			for _, log := range []uint8{0, 3, 5, 12, 15} {
				for range 3 {
					e := Encoding{LogVectorSize: log}
					checkDouble(t, &e, someDoubles(r, n))
					checkFloat(t, &e, someFloats(r, n))
				}
			}
		}
	})
}

type failer interface {
	require.TestingT
	Helper()
}

// checkDouble returns the page of src, which must decode to the same bits.
func checkDouble(t failer, e *Encoding, src []float64) []byte {
	t.Helper()
	page, err := e.EncodeDouble(nil, src)
	require.NoError(t, err)
	n := vectors(len(src), e.logVectorSize())
	require.LessOrEqual(t, len(page), pageHeader+n*17+len(src)*10)
	got, err := e.DecodeDouble(make([]float64, len(src)), page)
	require.NoError(t, err)
	require.Equal(t, patterns64(src), patterns64(got))
	require.Equal(t, decode64(t, page), patterns64(src))
	return page
}

func checkFloat(t failer, e *Encoding, src []float32) []byte {
	t.Helper()
	page, err := e.EncodeFloat(nil, src)
	require.NoError(t, err)
	n := vectors(len(src), e.logVectorSize())
	require.LessOrEqual(t, len(page), pageHeader+n*13+len(src)*6)
	got, err := e.DecodeFloat(make([]float32, len(src)), page)
	require.NoError(t, err)
	require.Equal(t, patterns32(src), patterns32(got))
	require.Equal(t, decode32(t, page), patterns32(src))
	return page
}

// Integers too large for the kernels are integers all the same.
func TestLargeIntegers(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for width := 51; width <= 64; width++ {
		src := make([]float64, 1024)
		for i := range src {
			src[i] = float64(int64(r.Uint64()) >> (64 - width))
		}
		src[5], src[700] = math.NaN(), 0.5
		page := checkDouble(t, new(Encoding), src)
		require.LessOrEqual(t, len(page), 7+4+13+128*width+20, "width %d", width)
	}
	src := make([]float64, 1024)
	for i := range src {
		src[i] = 1.8e18 + float64(i*1_000_000_000) // nanoseconds
	}
	page := checkDouble(t, new(Encoding), src)
	require.LessOrEqual(t, len(page), 7+4+13+128*40)
}

// Pages are the same at every level.
func TestSameBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		n := rapid.IntRange(0, 2100).Draw(t, "n")
		e := Encoding{LogVectorSize: uint8(rapid.SampledFrom([]int{0, 3, 6, 11}).Draw(t, "log"))}
		doubles, floats := someDoubles(r, n), someFloats(r, n)
		var first64, first32 []byte
		for l := simd.Generic; l <= simd.Supported(); l++ {
			restore := simd.SetLevel(l)
			a, b := checkDouble(t, &e, doubles), checkFloat(t, &e, floats)
			restore()
			if l == simd.Generic {
				first64, first32 = a, b
			}
			require.Equal(t, first64, a)
			require.Equal(t, first32, b)
		}
	})
}
