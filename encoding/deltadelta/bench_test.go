package deltadelta_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/deltadelta"
)

const benchValues = 1 << 14

// benchSets are columns, each of which ends in another form.
func benchSets() (names []string, sets [][]int64) {
	r := rand.New(rand.NewPCG(1, 2))
	add := func(name string, v []int64) { names, sets = append(names, name), append(sets, v) }
	regular, counter, gauge, gaps, ramp := make([]int64, benchValues), make([]int64, benchValues), make([]int64, benchValues), make([]int64, benchValues), make([]int64, benchValues)
	sum, tick, speed, at := int64(0), int64(0), int64(0), int64(0)
	for i := range counter {
		regular[i] = 1_780_000_000 + 5*int64(i)
		sum += int64(1000 * r.ExpFloat64())
		counter[i], gauge[i] = sum, int64(5000+300*r.NormFloat64())
		if tick++; r.IntN(100) == 0 {
			tick += 3
		}
		gaps[i] = 1_780_000_000 + 5000*tick + r.Int64N(20)
		speed += 100_000 + r.Int64N(50)
		at += speed
		ramp[i] = at
	}
	add("regular", regular)
	add("jitter", clock(r, 1_780_000_000, 5000, 20, benchValues))
	add("gaps", gaps)
	add("counter", counter)
	add("gauge", gauge)
	add("ramp", ramp)
	return names, sets
}

func Benchmark(b *testing.B) {
	names, sets := benchSets()
	for i, v := range sets {
		bench(b, "int64/"+names[i], v, int64s)
		if names[i] == "ramp" {
			continue
		}
		v32 := make([]int32, len(v))
		for i, x := range v {
			v32[i] = int32(x)
		}
		bench(b, "int32/"+names[i], v32, int32s)
	}
}

func bench[T int32 | int64](b *testing.B, name string, src []T, c coder[T]) {
	for _, rows := range []int{128, 1024} {
		var e deltadelta.Encoder
		params := make([]encoding.Params, benchValues/rows)
		bodies := make([][]byte, len(params))
		size := 0
		for i := range params {
			bodies[i] = c.append(&e, nil, src[i*rows:][:rows], &params[i])
			size += len(bodies[i])
		}
		b.Run(fmt.Sprintf("encode/%s/%d", name, rows), func(b *testing.B) {
			b.ReportAllocs()
			var p encoding.Params
			body := make([]byte, 0, 8*rows)
			for b.Loop() {
				for i := range params {
					body = c.append(&e, body[:0], src[i*rows:][:rows], &p)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchValues, "ns/value")
			b.ReportMetric(float64(8*size)/benchValues, "bits/value")
		})
		b.Run(fmt.Sprintf("decode/%s/%d", name, rows), func(b *testing.B) {
			b.ReportAllocs()
			var d deltadelta.Decoder
			dst := make([]T, rows)
			for b.Loop() {
				for i := range params {
					if err := c.decode(&d, dst, &params[i], bodies[i]); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchValues, "ns/value")
		})
	}
}
