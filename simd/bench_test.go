package simd_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/colsst/colsst/simd"
)

// BenchmarkKernels runs every kernel at every level over 128 and 1,024 values;
// sources hold no byte more than they must.
func BenchmarkKernels(b *testing.B) {
	const most = 1024
	r := rand.New(rand.NewPCG(1, 2))
	bytes := make([]byte, 8*most)
	for i := range bytes {
		bytes[i] = byte(r.Uint32())
	}
	u64, u32 := make([]uint64, most), make([]uint32, most)
	zeros := make([]int64, most)
	i64, i32 := make([]int64, most), make([]int32, most)
	f64, f32 := make([]float64, most), make([]float32, most)
	for i := range i64 {
		u64[i], u32[i] = r.Uint64()>>51, r.Uint32()>>19
		i64[i], i32[i] = int64(r.Uint64()), int32(r.Uint32())
		f64[i] = float64(r.IntN(1e5)) / 100
		f32[i] = float32(r.IntN(1e5)) / 100
	}
	d64, d32 := make([]uint64, most), make([]uint32, most)
	o64, o32 := make([]int64, most), make([]int32, most)
	g64, g32 := make([]float64, most), make([]float32, most)
	table, table32 := [8]uint64{1, 2, 3}, [8]uint32{1, 2, 3}
	out, bad := make([]byte, 0, 8*most), make([]byte, most/8)
	var tails [2][8]int
	var sample [16]int64

	type kernel struct {
		name string
		run  func(n int)
	}
	kernels := []kernel{}
	for _, w := range []uint{3, 13, 33, 63} {
		kernels = append(kernels,
			kernel{fmt.Sprintf("Unpack64/w%d", w), func(n int) { simd.Unpack64(d64[:n], bytes[:simd.PackedLen(n, w)], w) }},
			kernel{fmt.Sprintf("Pack64/w%d", w), func(n int) { out = simd.AppendPack64(out[:0], u64[:n], w) }})
	}
	for _, w := range []uint{3, 13, 29} {
		kernels = append(kernels,
			kernel{fmt.Sprintf("Unpack32/w%d", w), func(n int) { simd.Unpack32(d32[:n], bytes[:simd.PackedLen(n, w)], w) }},
			kernel{fmt.Sprintf("Pack32/w%d", w), func(n int) { out = simd.AppendPack32(out[:0], u32[:n], w) }})
	}
	kernels = append(kernels,
		kernel{"Tails64", func(n int) { simd.Tails64(&tails, i64[:n], 7, false, 9, 63) }},
		kernel{"Tails32", func(n int) { simd.Tails32(&tails, i32[:n], 7, false, 9, 31) }},
		kernel{"Sample64", func(n int) { simd.Sample64(&sample, i64[:n]) }},
		kernel{"Sort16", func(int) { simd.Sort16(&sample) }},
		kernel{"Outliers64", func(n int) { simd.Outliers64(bad, i64[:n], 7, 1<<60) }},
		kernel{"Outliers32", func(n int) { simd.Outliers32(bad, i32[:n], 7, 1<<30) }},
		kernel{"SubRamp64", func(n int) { simd.SubRamp64(o64[:n], i64[:n], 7, 9) }},
		kernel{"SubRamp32", func(n int) { simd.SubRamp32(o32[:n], i32[:n], 7, 9) }},
		kernel{"Match", func(n int) { simd.Match(d64[:n/8+1], bytes[:8*n], [4]byte{',', '"', '\n', '\r'}) }},
		kernel{"Add64/packed/w13", func(n int) {
			c := simd.Packed64(bytes[:simd.PackedLen(n, 13)], 13)
			simd.Add64(o64[:n], &c, 7)
		}},
		kernel{"Add64/plain", func(n int) {
			c := simd.Plain64(u64[:n])
			simd.Add64(o64[:n], &c, 7)
		}},
		kernel{"Add32/packed/w11", func(n int) {
			c := simd.Packed32(bytes[:simd.PackedLen(n, 11)], 11)
			simd.Add32(o32[:n], &c, 7)
		}},
		kernel{"Add32/plain", func(n int) {
			c := simd.Plain32(u32[:n])
			simd.Add32(o32[:n], &c, 7)
		}},
		kernel{"Ramp64/packed/w13", func(n int) {
			c := simd.Packed64(bytes[:simd.PackedLen(n, 13)], 13)
			simd.Ramp64(o64[:n], &c, 7, 9)
		}},
		kernel{"Ramp64/plain", func(n int) {
			c := simd.Plain64(u64[:n])
			simd.Ramp64(o64[:n], &c, 7, 9)
		}},
		kernel{"Ramp32/packed/w11", func(n int) {
			c := simd.Packed32(bytes[:simd.PackedLen(n, 11)], 11)
			simd.Ramp32(o32[:n], &c, 7, 9)
		}},
		kernel{"Ramp32/plain", func(n int) {
			c := simd.Plain32(u32[:n])
			simd.Ramp32(o32[:n], &c, 7, 9)
		}},
		kernel{"Sum64/packed/w13", func(n int) {
			c := simd.Packed64(bytes[:simd.PackedLen(n, 13)], 13)
			simd.Sum64(o64[:n], &c, 7, 9)
		}},
		kernel{"Sum64/plain", func(n int) {
			c := simd.Plain64(u64[:n])
			simd.Sum64(o64[:n], &c, 7, 9)
		}},
		kernel{"Sum32/packed/w11", func(n int) {
			c := simd.Packed32(bytes[:simd.PackedLen(n, 11)], 11)
			simd.Sum32(o32[:n], &c, 7, 9)
		}},
		kernel{"Sum32/plain", func(n int) {
			c := simd.Plain32(u32[:n])
			simd.Sum32(o32[:n], &c, 7, 9)
		}},
		kernel{"Ordered64/packed/w13", func(n int) {
			c := simd.Packed64(bytes[:simd.PackedLen(n, 13)], 13)
			simd.Ordered64(g64[:n], &c, 7, 0)
		}},
		kernel{"Ordered64/plain", func(n int) {
			c := simd.Plain64(u64[:n])
			simd.Ordered64(g64[:n], &c, 7, 0)
		}},
		kernel{"Ordered32/packed/w11", func(n int) {
			c := simd.Packed32(bytes[:simd.PackedLen(n, 11)], 11)
			simd.Ordered32(g32[:n], &c, 7, 0)
		}},
		kernel{"Ordered32/plain", func(n int) {
			c := simd.Plain32(u32[:n])
			simd.Ordered32(g32[:n], &c, 7, 0)
		}},
		kernel{"SumOrdered64/packed/w13", func(n int) {
			c := simd.Packed64(bytes[:simd.PackedLen(n, 13)], 13)
			simd.SumOrdered64(g64[:n], &c, 7, 9, 0)
		}},
		kernel{"SumOrdered64/plain", func(n int) {
			c := simd.Plain64(u64[:n])
			simd.SumOrdered64(g64[:n], &c, 7, 9, 0)
		}},
		kernel{"SumOrdered32/packed/w11", func(n int) {
			c := simd.Packed32(bytes[:simd.PackedLen(n, 11)], 11)
			simd.SumOrdered32(g32[:n], &c, 7, 9, 0)
		}},
		kernel{"SumOrdered32/plain", func(n int) {
			c := simd.Plain32(u32[:n])
			simd.SumOrdered32(g32[:n], &c, 7, 9, 0)
		}},
		kernel{"Decimal64/packed/w13", func(n int) {
			c := simd.Packed64(bytes[:simd.PackedLen(n, 13)], 13)
			simd.Decimal64(g64[:n], &c, 7, 1e12, 1e-14)
		}},
		kernel{"Decimal64/plain", func(n int) {
			c := simd.Plain64(u64[:n])
			simd.Decimal64(g64[:n], &c, 7, 1e12, 1e-14)
		}},
		kernel{"Decimal32/packed/w11", func(n int) {
			c := simd.Packed32(bytes[:simd.PackedLen(n, 11)], 11)
			simd.Decimal32(g32[:n], &c, 7, 1, 1e-2)
		}},
		kernel{"Decimal32/plain", func(n int) {
			c := simd.Plain32(u32[:n])
			simd.Decimal32(g32[:n], &c, 7, 1, 1e-2)
		}},
		kernel{"Single32/packed/w11", func(n int) {
			c := simd.Packed32(bytes[:simd.PackedLen(n, 11)], 11)
			simd.Single32(g32[:n], &c, 7, 1e4, 1e-6)
		}},
		kernel{"Single32/plain", func(n int) {
			c := simd.Plain32(u32[:n])
			simd.Single32(g32[:n], &c, 7, 1e4, 1e-6)
		}},
		kernel{"SumDecimal64/packed/w13", func(n int) {
			c := simd.Packed64(bytes[:simd.PackedLen(n, 13)], 13)
			simd.SumDecimal64(g64[:n], &c, 7, -9, 1e12, 1e-14)
		}},
		kernel{"SumDecimal64/plain", func(n int) {
			c := simd.Plain64(u64[:n])
			simd.SumDecimal64(g64[:n], &c, 7, -9, 1e12, 1e-14)
		}},
		kernel{"SumDecimal32/packed/w11", func(n int) {
			c := simd.Packed32(bytes[:simd.PackedLen(n, 11)], 11)
			simd.SumDecimal32(g32[:n], &c, 7, -9, 1, 1e-2)
		}},
		kernel{"SumDecimal32/plain", func(n int) {
			c := simd.Plain32(u32[:n])
			simd.SumDecimal32(g32[:n], &c, 7, -9, 1, 1e-2)
		}},
	)
	kernels = append(kernels,
		kernel{"Accumulate64", func(n int) { simd.Accumulate64(o64[:n], 1) }},
		kernel{"Accumulate32", func(n int) { simd.Accumulate32(o32[:n], 1) }},
		kernel{"Fill64", func(n int) { simd.Fill64(o64[:n], 1, 3) }},
		kernel{"Fill32", func(n int) { simd.Fill32(o32[:n], 1, 3) }},
		kernel{"Shift64", func(n int) { simd.Shift64(o64[:n], 3) }},
		kernel{"Shift32", func(n int) { simd.Shift32(o32[:n], 3) }},
		kernel{"Widen32", func(n int) { simd.Widen32(o64[:n], i32[:n]) }},
		kernel{"AddProducts64", func(n int) { simd.AddProducts64(o64[:n], i64[:n], 1000) }},
		kernel{"AddQuotients64", func(n int) { simd.AddQuotients64(o64[:n], i64[:n], 1, 1_000_000) }},
		kernel{"Multiples64", func(n int) { simd.Multiples64(zeros[:n], 1000) }},
		kernel{"Ascents64", func(n int) { simd.Ascents64(i64[:n], 0) }},
		kernel{"Ascents32", func(n int) { simd.Ascents32(i32[:n], 0) }},
		kernel{"Outside64", func(n int) { simd.Outside64(i64[:n], 7, 20) }},
		kernel{"Outside32", func(n int) { simd.Outside32(i32[:n], 7, 20) }},
		kernel{"Glue64", func(n int) {
			simd.Glue64(g64[:n], bytes[:simd.PackedLen(n, 3)], 3, bytes[:simd.PackedLen(n, 50)], 50, &table)
		}},
		kernel{"Glue32", func(n int) {
			simd.Glue32(g32[:n], bytes[:simd.PackedLen(n, 3)], 3, bytes[:simd.PackedLen(n, 22)], 22, &table32)
		}},
		kernel{"PackRamp64/w13", func(n int) { out = simd.AppendPackRamp64(out[:0], i64[:n], 13, 1, 3) }},
		kernel{"PackRamp32/w13", func(n int) { out = simd.AppendPackRamp32(out[:0], i32[:n], 13, 1, 3) }},
		kernel{"Decimals64", func(n int) { simd.Decimals64(o64[:n], bad, f64[:n], 1e14, 1e-12, 1e12, 1e-14) }},
		kernel{"Decimals32", func(n int) { simd.Decimals32(o32[:n], bad, f32[:n], 1e2, 1, 1, 1e-2) }},
		kernel{"Singles32", func(n int) { simd.Singles32(o32[:n], bad, f32[:n], 1e6, 1e-4, 1e4, 1e-6) }},
		kernel{"TrialSingle32", func(n int) { simd.TrialSingle32(f32[:n], 1e6, 1e-4, 1e4, 1e-6) }},
		kernel{"Trial64", func(n int) { simd.Trial64(f64[:n], 1e14, 1e-12, 1e12, 1e-14) }},
		kernel{"Trial32", func(n int) { simd.Trial32(f32[:n], 1e2, 1, 1, 1e-2) }},
		kernel{"Deltas64", func(n int) { simd.Deltas64(o64[:n], i64[:n]) }},
		kernel{"Deltas32", func(n int) { simd.Deltas32(o32[:n], i32[:n]) }},
		kernel{"Order64", func(n int) { simd.Order64(o64[:n], f64[:n], 0) }},
		kernel{"Order32", func(n int) { simd.Order32(o32[:n], f32[:n], 0) }},
		kernel{"MinMaxInt64", func(n int) { simd.MinMaxInt64(i64[:n]) }},
		kernel{"MinMaxInt32", func(n int) { simd.MinMaxInt32(i32[:n]) }},
		kernel{"MinMaxFloat64", func(n int) { simd.MinMaxFloat64(f64[:n]) }},
		kernel{"MinMaxFloat32", func(n int) { simd.MinMaxFloat32(f32[:n]) }},
		kernel{"SplitFloat64", func(n int) { simd.SplitFloat64(out[:8*n], f64[:n]) }},
		kernel{"SplitFloat32", func(n int) { simd.SplitFloat32(out[:4*n], f32[:n]) }},
		kernel{"JoinFloat64", func(n int) { simd.JoinFloat64(g64[:n], bytes[:8*n]) }},
		kernel{"JoinFloat32", func(n int) { simd.JoinFloat32(g32[:n], bytes[:4*n]) }},
	)
	for _, k := range kernels {
		for l := simd.Generic; l <= simd.Supported(); l++ {
			for _, n := range []int{128, most} {
				b.Run(fmt.Sprintf("%s/%v/%d", k.name, l, n), func(b *testing.B) {
					defer simd.SetLevel(l)()
					const calls = 16 // the loop itself costs as much as some kernels
					for b.Loop() {
						for range calls {
							k.run(n)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*calls*n), "ns/value")
				})
			}
		}
	}
}
