package alp_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	native "github.com/colsst/colsst/encoding/alp"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/parquetfmt/alp"
)

const benchValues = 1 << 14

// decimalWalk is a random walk rounded to a number of digits.
func decimalWalk(n, digits int) []float64 {
	r := rand.New(rand.NewPCG(1, 2))
	unit := math.Pow10(digits)
	v := 50.0
	out := make([]float64, n)
	for i := range out {
		v += float64(r.NormFloat64() * 0.25)
		out[i] = math.Round(v*unit) / unit
	}
	return out
}

func narrow(src []float64) []float32 {
	out := make([]float32, len(src))
	for i, x := range src {
		out[i] = float32(x)
	}
	return out
}

var benchSets = []struct {
	name string
	make func(n int) []float64
}{
	{"2dec", func(n int) []float64 { return decimalWalk(n, 2) }},
	{"4dec", func(n int) []float64 { return decimalWalk(n, 4) }},
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
	{"outliers", func(n int) []float64 {
		r := rand.New(rand.NewPCG(1, 4))
		x := decimalWalk(n, 2)
		for i := range x {
			if r.IntN(50) == 0 {
				x[i] = math.Round(r.ExpFloat64() * 1e8)
			}
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

// Benchmark measures pages beside the codec of the library's own files, which
// has the same values as chunks of 1,024.
func Benchmark(b *testing.B) {
	var e alp.Encoding
	for _, set := range benchSets {
		src := set.make(benchValues)
		bench(b, "double/"+set.name, src, e.EncodeDouble, e.DecodeDouble, (*native.Encoder).AppendFloat64, (*native.Decoder).Float64)
		bench(b, "float/"+set.name, narrow(src), e.EncodeFloat, e.DecodeFloat, (*native.Encoder).AppendFloat32, (*native.Decoder).Float32)
	}
}

func bench[T float32 | float64](b *testing.B, name string, src []T,
	encodePage func([]byte, []T) ([]byte, error), decodePage func([]T, []byte) ([]T, error),
	encode func(*native.Encoder, []byte, []T, *encoding.Params) []byte, decode func(*native.Decoder, []T, *encoding.Params, []byte) error) {
	check := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	run := func(what string, size int, f func()) {
		b.Run(what+"/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchValues, "ns/value")
			b.ReportMetric(float64(8*size)/benchValues, "bits/value")
		})
	}
	dst := make([]T, benchValues)
	for _, rows := range []int{512, benchValues} {
		pages := make([][]byte, benchValues/rows)
		size := 0
		for i := range pages {
			var err error
			pages[i], err = encodePage(nil, src[i*rows:][:rows])
			check(err)
			size += len(pages[i])
		}
		page := make([]byte, 0, 16*benchValues)
		run(fmt.Sprintf("encode/%d", rows), size, func() {
			for i := range pages {
				var err error
				page, err = encodePage(page, src[i*rows:][:rows])
				check(err)
			}
		})
		run(fmt.Sprintf("decode/%d", rows), size, func() {
			for i, p := range pages {
				_, err := decodePage(dst[i*rows:][:rows], p)
				check(err)
			}
		})
	}

	const rows = 1024
	var (
		enc    native.Encoder
		dec    native.Decoder
		params [benchValues / rows]encoding.Params
		bodies [benchValues / rows][]byte
		size   int
	)
	for i := range params {
		bodies[i] = encode(&enc, nil, src[i*rows:][:rows], &params[i])
		size += len(bodies[i])
	}
	body := make([]byte, 0, 16*rows)
	run("encode/native", size, func() {
		var p encoding.Params
		for i := range params {
			body = encode(&enc, body[:0], src[i*rows:][:rows], &p)
		}
	})
	run("decode/native", size, func() {
		for i := range params {
			check(decode(&dec, dst[i*rows:][:rows], &params[i], bodies[i]))
		}
	})
}
