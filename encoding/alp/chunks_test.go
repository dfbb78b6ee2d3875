package alp_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/alp"
	"github.com/colsst/colsst/simd"
)

// chunksOf draws chunks of walks, decimals and others, with their values.
func chunksOf[F float32 | float64](r *rand.Rand, encode func(dst []byte, src []F, p *encoding.Params) []byte) (src []byte, bodies []encoding.Body, params []encoding.Params, values []F) {
	kinds := 1 + r.IntN(6)
	v, digits := 100*r.Float64(), math.Pow10(r.IntN(4))
	for range 1 + r.IntN(20) {
		n := []int{128, 128, 128, 1, 20, 96, 256}[r.IntN(7)]
		kind := r.IntN(kinds)
		x := make([]F, n)
		for i := range x {
			v += float64(r.NormFloat64() * 0.25)
			switch kind {
			case 0:
				x[i] = F(v)
			case 1, 2:
				x[i] = F(math.Round(v*digits) / digits)
			case 3:
				x[i] = F(r.NormFloat64())
			case 4:
				x[i] = F(math.Copysign(0, v))
			case 5:
				x[i] = F(-v)
			}
			if kind > 1 && r.IntN(30) == 0 {
				x[i] = []F{F(math.NaN()), F(math.Inf(1)), F(1e9 * v), F(v)}[r.IntN(4)]
			}
		}
		var p encoding.Params
		b := encoding.Body{N: n, Off: len(src)}
		src = encode(src, x, &p)
		b.Len = len(src) - b.Off
		bodies, params = append(bodies, b), append(params, p)
		values = append(values, x...)
		if r.IntN(20) == 0 { // none
			bodies, params = append(bodies, encoding.Body{}), append(params, encoding.Params{math.MinInt64, math.MaxInt64})
		}
	}
	return src, bodies, params, values
}

// columnsOf are params as columns, those that do not vary of one value.
func columnsOf(params []encoding.Params) *encoding.ParamColumns {
	var c encoding.ParamColumns
	for k := range c {
		same := true
		for _, p := range params {
			c[k] = append(c[k], p[k])
			same = same && p[k] == params[0][k]
		}
		if same {
			c[k] = c[k][:1]
		}
	}
	return &c
}

// Chunks decoded in one go are as by themselves, damaged ones included.
func checkChunks(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	var e alp.Encoder
	src32, bodies32, params32, values32 := chunksOf(r, e.AppendFloat32)
	src64, bodies64, params64, values64 := chunksOf(r, new(alp.Encoder).AppendFloat64)
	if r.IntN(2) == 0 {
		src32 = append(src32, make([]byte, 100)...)[:len(src32)]
		src64 = append(src64, make([]byte, 100)...)[:len(src64)]
	}
	for l := simd.Generic; l <= simd.Supported(); l++ {
		restore := simd.SetLevel(l)
		var d alp.Decoder
		got32, got64 := make([]float32, len(values32)), make([]float64, len(values64))
		for range 2 { // nothing is left of the first time
			done, err := d.Float32s(got32, src32, bodies32, columnsOf(params32))
			require.NoError(t, err)
			require.Equal(t, len(bodies32), done)
			require.Equal(t, bits32(values32), bits32(got32))
			done, err = d.Float64s(got64, src64, bodies64, columnsOf(params64))
			require.NoError(t, err)
			require.Equal(t, len(bodies64), done)
			require.Equal(t, bits64(values64), bits64(got64))
		}
		restore()
	}
	// A fault.
	if len(src32) > 0 {
		src32[r.IntN(len(src32))] ^= byte(1 << r.IntN(8))
	}
	if p := &params32[r.IntN(len(params32))]; r.IntN(3) == 0 {
		p[r.IntN(8)] += int64(r.IntN(3)) - 1
	}
	for l := simd.Generic; l <= simd.Supported(); l++ {
		restore := simd.SetLevel(l)
		var d, alone alp.Decoder
		got, want := make([]float32, len(values32)), make([]float32, len(values32))
		done, err := d.Float32s(got, src32, bodies32, columnsOf(params32))
		at, first := 0, len(bodies32)
		for i := range bodies32 {
			c := &bodies32[i]
			v := want[at : at+c.N]
			if c.N == 0 {
				continue
			}
			if err := alone.Float32(v, &params32[i], c.In(src32)); err != nil {
				require.ErrorIs(t, err, encoding.ErrCorrupt)
				first = min(first, i)
			}
			at += c.N
		}
		if first < len(bodies32) {
			require.ErrorIs(t, err, encoding.ErrCorrupt)
			require.Equal(t, first, done)
		} else {
			require.NoError(t, err)
			require.Equal(t, bits32(want), bits32(got))
		}
		// The decoder is as good as new.
		_, err = d.Float64s(make([]float64, len(values64)), src64, bodies64, columnsOf(params64))
		require.NoError(t, err)
		restore()
	}
}

func TestChunks(t *testing.T) {
	for seed := range uint64(100) {
		checkChunks(t, seed)
	}
}

func FuzzChunks(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(checkChunks)
}

// Chunks of one size and mode, one behind the other, are as by themselves;
// where they are damaged, that is refused or makes no difference.
func TestConsecutive(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	taken := 0
	for range 200 {
		n, chunks := []int{32, 128, 17}[r.IntN(3)], 1+r.IntN(12)
		step, digits, odd := 0.01+r.Float64(), math.Pow10(r.IntN(4)), r.IntN(2) == 0
		var src32, src64 []byte
		var params32, params64 []encoding.Params
		var e alp.Encoder
		v := 50 * r.NormFloat64()
		for range chunks {
			x32, x64 := make([]float32, n), make([]float64, n)
			for i := range x32 {
				v += float64(step * r.NormFloat64())
				x := v
				if digits > 1 {
					x = math.Round(v*digits) / digits
				}
				if odd && r.IntN(40) == 0 {
					x = []float64{math.NaN(), -1e9, math.Pi}[r.IntN(3)]
				}
				x32[i], x64[i] = float32(x), x
			}
			var p, q encoding.Params
			src32, src64 = e.AppendFloat32(src32, x32, &p), e.AppendFloat64(src64, x64, &q)
			params32, params64 = append(params32, p), append(params64, q)
		}
		if r.IntN(2) == 0 {
			src32[r.IntN(len(src32))] ^= byte(1 << r.IntN(8))
			params64[r.IntN(chunks)][r.IntN(8)] += int64(r.IntN(3)) - 1
		}
		size32 := len(src32)
		src32, src64 = append(src32, make([]byte, 9)...), append(src64, make([]byte, 9)...)
		for l := simd.Generic; l <= simd.Supported(); l++ {
			restore := simd.SetLevel(l)
			var d alp.Decoder
			got32, got64 := make([]float32, n*chunks), make([]float64, n*chunks)
			for range 2 { // nothing is left of the first time
				size, ok := d.Consecutive32(got32, src32, n, chunks, columnsOf(params32))
				if only, fine := d.Consecutive32(nil, src32, n, chunks, columnsOf(params32)); ok {
					require.True(t, fine)
					require.Equal(t, size, only)
					require.Equal(t, size32, size)
					taken++
					at := 0
					for i := range params32 {
						want := make([]float32, n)
						k, err := alp.Float32Len(&params32[i], n)
						require.NoError(t, err)
						require.NoError(t, d.Float32(want, &params32[i], src32[at:at+k]))
						require.Equal(t, bits32(want), bits32(got32[i*n:][:n]))
						at += k
					}
				}
				if size, ok := d.Consecutive64(got64, src64, n, chunks, columnsOf(params64)); ok {
					taken++
					at := 0
					for i := range params64 {
						want := make([]float64, n)
						k, err := alp.Float64Len(&params64[i], n)
						require.NoError(t, err)
						require.NoError(t, d.Float64(want, &params64[i], src64[at:at+k]))
						require.Equal(t, bits64(want), bits64(got64[i*n:][:n]))
						at += k
					}
					require.Equal(t, at, size)
				}
			}
			restore()
		}
	}
	require.Greater(t, taken, 200)
}
