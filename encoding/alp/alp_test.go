package alp_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/alp"
)

// walk is a series of metrics: a Gaussian random walk kept as float32, in full
// or rounded to two decimals.
func walk(series uint64, n int, twoDecimals bool) []float32 {
	r := rand.New(rand.NewPCG(20260701, series))
	v := 20 + 60*r.Float64()
	out := make([]float32, n)
	for i := range out {
		v += float64(r.NormFloat64() * 0.25)
		x := v
		if twoDecimals {
			x = math.Round(v*100) / 100
		}
		r.IntN(8000)
		out[i] = float32(x)
	}
	return out
}

func widen(src []float32) []float64 {
	out := make([]float64, len(src))
	for i, x := range src {
		out[i] = float64(x)
	}
	return out
}

func bits64(src []float64) []uint64 {
	out := make([]uint64, len(src))
	for i, x := range src {
		out[i] = math.Float64bits(x)
	}
	return out
}

func bits32(src []float32) []uint32 {
	out := make([]uint32, len(src))
	for i, x := range src {
		out[i] = math.Float32bits(x)
	}
	return out
}

// trip64 takes src through both forms and returns the body's length.
func trip64(t require.TestingT, e *alp.Encoder, d *alp.Decoder, src []float64) (p encoding.Params, size int) {
	body := e.AppendFloat64([]byte("x"), src, &p)[1:]
	n, err := alp.Float64Len(&p, len(src))
	require.NoError(t, err, "%v", p)
	require.Len(t, body, n, "%v", p)
	require.LessOrEqual(t, n, 8*len(src))
	dst := make([]float64, len(src))
	require.NoError(t, d.Float64(dst, &p, body), "%v", p)
	require.Equal(t, bits64(src), bits64(dst), "%v", p)

	b := alp.AppendFloat64(nil, src)
	require.LessOrEqual(t, len(b), 8*len(src)+16*((len(src)+1023)/1024))
	clear(dst)
	rest, err := alp.DecodeFloat64(dst, append(b, "tail"...))
	require.NoError(t, err)
	require.Equal(t, "tail", string(rest))
	require.Equal(t, bits64(src), bits64(dst))
	return p, n
}

func trip32(t require.TestingT, e *alp.Encoder, d *alp.Decoder, src []float32) (p encoding.Params, size int) {
	body := e.AppendFloat32([]byte("x"), src, &p)[1:]
	n, err := alp.Float32Len(&p, len(src))
	require.NoError(t, err, "%v", p)
	require.Len(t, body, n, "%v", p)
	require.LessOrEqual(t, n, 4*len(src))
	dst := make([]float32, len(src))
	require.NoError(t, d.Float32(dst, &p, body), "%v", p)
	require.Equal(t, bits32(src), bits32(dst), "%v", p)

	b := alp.AppendFloat32(nil, src)
	require.LessOrEqual(t, len(b), 4*len(src)+16*((len(src)+1023)/1024))
	clear(dst)
	rest, err := alp.DecodeFloat32(dst, append(b, "tail"...))
	require.NoError(t, err)
	require.Equal(t, "tail", string(rest))
	require.Equal(t, bits32(src), bits32(dst))
	return p, n
}

// TestMetricsSize holds the sizes of metric-like walks, chunk by chunk.
func TestMetricsSize(t *testing.T) {
	const points, rows = 120960, 128
	for _, c := range []struct {
		name        string
		twoDecimals bool
		bits        float64
	}{
		{"full", false, 18.6},
		{"2dec", true, 7.3},
	} {
		t.Run(c.name, func(t *testing.T) {
			var e alp.Encoder
			var d alp.Decoder
			size, values := 0, 0
			for s := range uint64(4) {
				x := walk(s, points, c.twoDecimals)
				for i := 0; i < len(x); i += rows {
					if i/rows%64 == 0 {
						e.Reset()
					}
					_, n := trip32(t, &e, &d, x[i:i+rows])
					size += n
					values += rows
				}
			}
			got := float64(8*size) / float64(values)
			t.Logf("%.3f bits a value", got)
			require.LessOrEqual(t, got, c.bits)
		})
	}
}

// Decimals that follow other values are found in the chunk where they begin.
func TestDecimalsAfterOthers(t *testing.T) {
	for before := range 40 {
		var e alp.Encoder
		var p encoding.Params
		r := rand.New(rand.NewPCG(1, uint64(before)))
		x := make([]float64, 1024)
		for range before {
			for i := range x {
				x[i] = r.NormFloat64()
			}
			e.AppendFloat64(nil, x, &p)
		}
		for i := range x {
			x[i] = float64(r.IntN(10000)) / 10
		}
		body := e.AppendFloat64(nil, x, &p)
		require.Less(t, len(body), 2000, "after %d chunks, mode %d", before, p[0])
	}
}
