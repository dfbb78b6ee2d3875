package alp_test

import (
	"math/rand/v2"
	"testing"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/alp"
)

const benchValues = 1 << 14

// benchSets are float64 shapes; their float32 twins are the same values narrowed.
var benchSets = []struct {
	name string
	make func(n int) []float64
}{
	{"full", func(n int) []float64 { return widen(walk(1, n, false)) }},
	{"2dec", func(n int) []float64 {
		x := widen(walk(1, n, true))
		for i, v := range x {
			x[i] = float64(int(v*100+0.5)) / 100
		}
		return x
	}},
	{"walk64", func(n int) []float64 {
		r := rand.New(rand.NewPCG(1, 2))
		x := make([]float64, n)
		v := 50.0
		for i := range x {
			v += float64(r.NormFloat64() * 0.25)
			x[i] = v
		}
		return x
	}},
	{"gauge", func(n int) []float64 {
		r := rand.New(rand.NewPCG(1, 3))
		x := make([]float64, n)
		v := 200
		for i := range x {
			if r.IntN(5) == 0 {
				v += r.IntN(3) - 1
			}
			x[i] = float64(v) / 10
		}
		return x
	}},
	{"random", func(n int) []float64 {
		r := rand.New(rand.NewPCG(1, 4))
		x := make([]float64, n)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		return x
	}},
}

func narrow(src []float64) []float32 {
	out := make([]float32, len(src))
	for i, x := range src {
		out[i] = float32(x)
	}
	return out
}

func BenchmarkFloat64(b *testing.B) {
	const rows = 128
	for _, set := range benchSets {
		src := set.make(benchValues)
		var e alp.Encoder
		params := make([]encoding.Params, benchValues/rows)
		bodies := make([][]byte, len(params))
		size := 0
		for i := range params {
			bodies[i] = e.AppendFloat64(nil, src[i*rows:][:rows], &params[i])
			size += len(bodies[i])
		}
		b.Run("encode/"+set.name, func(b *testing.B) {
			b.ReportAllocs()
			var p encoding.Params
			body := make([]byte, 0, 8*rows)
			for range b.N {
				for i := range params {
					body = e.AppendFloat64(body[:0], src[i*rows:][:rows], &p)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchValues, "ns/value")
			b.ReportMetric(float64(8*size)/benchValues, "bits/value")
		})
		b.Run("decode/"+set.name, func(b *testing.B) {
			b.ReportAllocs()
			var d alp.Decoder
			var dst [rows]float64
			for range b.N {
				for i := range params {
					if err := d.Float64(dst[:], &params[i], bodies[i]); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchValues, "ns/value")
		})
	}
}

func BenchmarkFloat32(b *testing.B) {
	const rows = 128
	for _, set := range benchSets {
		src := narrow(set.make(benchValues))
		var e alp.Encoder
		params := make([]encoding.Params, benchValues/rows)
		bodies := make([][]byte, len(params))
		size := 0
		for i := range params {
			bodies[i] = e.AppendFloat32(nil, src[i*rows:][:rows], &params[i])
			size += len(bodies[i])
		}
		b.Run("encode/"+set.name, func(b *testing.B) {
			b.ReportAllocs()
			var p encoding.Params
			body := make([]byte, 0, 8*rows)
			for range b.N {
				for i := range params {
					body = e.AppendFloat32(body[:0], src[i*rows:][:rows], &p)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchValues, "ns/value")
			b.ReportMetric(float64(8*size)/benchValues, "bits/value")
		})
		b.Run("decode/"+set.name, func(b *testing.B) {
			b.ReportAllocs()
			var d alp.Decoder
			var dst [rows]float32
			for range b.N {
				for i := range params {
					if err := d.Float32(dst[:], &params[i], bodies[i]); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchValues, "ns/value")
		})
	}
}
