package alp_test

import (
	"fmt"
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

// chunkRows are the sizes of chunks that the benchmarks cut their values into.
var chunkRows = []int{128, 1024}

func BenchmarkFloat64(b *testing.B) {
	for _, set := range benchSets {
		bench(b, set.name, set.make(benchValues), (*alp.Encoder).AppendFloat64, (*alp.Decoder).Float64)
	}
}

func BenchmarkFloat32(b *testing.B) {
	for _, set := range benchSets {
		bench(b, set.name, narrow(set.make(benchValues)), (*alp.Encoder).AppendFloat32, (*alp.Decoder).Float32)
	}
}

func bench[T float32 | float64](b *testing.B, name string, src []T,
	encode func(*alp.Encoder, []byte, []T, *encoding.Params) []byte,
	decode func(*alp.Decoder, []T, *encoding.Params, []byte) error) {
	for _, rows := range chunkRows {
		var e alp.Encoder
		params := make([]encoding.Params, benchValues/rows)
		bodies := make([][]byte, len(params))
		size := 0
		for i := range params {
			bodies[i] = encode(&e, nil, src[i*rows:][:rows], &params[i])
			size += len(bodies[i])
		}
		b.Run(fmt.Sprintf("encode/%s/%d", name, rows), func(b *testing.B) {
			b.ReportAllocs()
			var p encoding.Params
			body := make([]byte, 0, 8*rows)
			for b.Loop() {
				for i := range params {
					body = encode(&e, body[:0], src[i*rows:][:rows], &p)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchValues, "ns/value")
			b.ReportMetric(float64(8*size)/benchValues, "bits/value")
		})
		b.Run(fmt.Sprintf("decode/%s/%d", name, rows), func(b *testing.B) {
			b.ReportAllocs()
			var d alp.Decoder
			dst := make([]T, rows)
			for b.Loop() {
				for i := range params {
					if err := decode(&d, dst, &params[i], bodies[i]); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchValues, "ns/value")
		})
	}
}
