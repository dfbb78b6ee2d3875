package function_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/function"
)

// The plans of a table with write times and expiries.
func Benchmark(b *testing.B) {
	const values = 1 << 14
	r := rand.New(rand.NewPCG(1, 2))
	times, writes, late := make([]int64, values), make([]int64, values), make([]int64, values)
	ttls, expiries := make([]int64, values), make([]int64, values)
	for i := range times {
		times[i] = 1_780_000_000 + 5*int64(i)
		writes[i] = 1_000_000*times[i] + 2000 + r.Int64N(8000)
		late[i] = writes[i]
		if r.IntN(100) == 0 {
			late[i] += 1_000_000
		}
		ttls[i] = 2_592_000 - 5*int64(i)
		expiries[i] = writes[i]/1_000_000 + ttls[i]
	}
	for _, set := range []struct {
		name      string
		src, x, y []int64
		plan      function.Plan
	}{
		{"write_time", writes, times, nil, function.Plan{A: 1_000_000, D: 1, X: 0, Y: function.None}},
		{"late", late, times, nil, function.Plan{A: 1_000_000, D: 1, X: 0, Y: function.None}},
		{"expiry", expiries, writes, ttls, function.Plan{A: 1, D: 1_000_000, X: 1, Y: 2}},
	} {
		for _, rows := range []int{128, 1024} {
			part := func(v []int64, i int) []int64 {
				if v == nil {
					return nil
				}
				return v[i*rows:][:rows]
			}
			var e function.Encoder
			params := make([]encoding.Params, values/rows)
			bodies := make([][]byte, len(params))
			for i := range params {
				bodies[i] = e.Append(nil, part(set.src, i), part(set.x, i), part(set.y, i), set.plan, &params[i])
			}
			b.Run(fmt.Sprintf("encode/%s/%d", set.name, rows), func(b *testing.B) {
				b.ReportAllocs()
				var p encoding.Params
				body := make([]byte, 0, 8*rows)
				for b.Loop() {
					for i := range params {
						body = e.Append(body[:0], part(set.src, i), part(set.x, i), part(set.y, i), set.plan, &p)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/values, "ns/value")
			})
			b.Run(fmt.Sprintf("decode/%s/%d", set.name, rows), func(b *testing.B) {
				b.ReportAllocs()
				var d function.Decoder
				dst := make([]int64, rows)
				for b.Loop() {
					for i := range params {
						if err := d.Decode(dst, part(set.x, i), part(set.y, i), &params[i], bodies[i]); err != nil {
							b.Fatal(err)
						}
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/values, "ns/value")
			})
		}
	}
}
