package codecs

import (
	"fmt"
	"math/rand/v2"

	"github.com/colsst/colsst/bench/measure"
	"github.com/colsst/colsst/bench/result"
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/alp"
	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/simd"
)

// Operations that the C++ reference was timed at.
const (
	alp64Decode   = "alp_float64_decode"
	alp64Encode   = "alp_float64_encode"
	alp32Decode   = "alp_float32_decode"
	alp32Encode   = "alp_float32_encode"
	split64Decode = "alp_rd_float64_decode"
	split64Encode = "alp_rd_float64_encode"
)

// References are nanoseconds a value of the C++ reference (cwida/ALP, clang 19,
// -O3, the tier's instructions) for one vector of 1,024 values in L1: minima,
// in the median over its samples, on a Sapphire Rapids Xeon. On another machine
// they say nothing; build it there and give its figures.
var References = map[string]float64{
	alp64Decode + "/avx512": 0.192, alp64Decode + "/avx2": 0.93,
	alp64Encode + "/avx512": 0.596, alp64Encode + "/avx2": 2.55,
	alp32Decode + "/avx512": 0.102, alp32Encode + "/avx512": 0.434,
	split64Decode + "/avx512": 0.794, split64Encode + "/avx512": 3.19,
}

func (x *run) reference(operation string, l simd.Level) float64 {
	name := operation + "/" + l.String()
	if v, ok := x.Reference[name]; ok {
		return v
	}
	return References[name]
}

const (
	kernelData = "in L1"
	kernel     = "colsst/simd"
)

// medianLine adds the median of the times of several vectors.
func (x *run) medianLine(data, operation string, l simd.Level, times []float64) {
	if len(times) == 0 {
		return
	}
	x.results = append(x.results, result.Result{Suite: suite, Data: data, Subject: decimal,
		Params: result.Params{"operation": operation, "level": l.String(), "rows": sampleValues}, Metric: "ns_per_value", Unit: "ns",
	}.WithSpread(measure.Summarise(times)))
}

// kernels measures the kernels alone, and codecs on one chunk, both in L1.
func (x *run) kernels() {
	x.logf("codecs: kernels")
	_ = x.each(func(l simd.Level) error {
		for _, rows := range []int{128, 1024} {
			x.kernelsOf(l, rows)
			x.chunks(l, rows)
		}
		return nil
	})
}

func (x *run) timed(subject string, l simd.Level, rows int, operation string, fn func()) {
	t := x.plan.Time(fn).Per(rows)
	x.results = append(x.results, result.Result{Suite: suite, Data: kernelData, Subject: subject,
		Params: result.Params{"operation": operation, "level": l.String(), "rows": rows}, Metric: "ns_per_value", Unit: "ns"}.WithSpread(t))
}

func (x *run) kernelsOf(l simd.Level, rows int) {
	const w64, w32 = 13, 11
	r := rand.New(rand.NewPCG(1, 2))
	bytes := make([]byte, 8*rows+64)
	for i := range bytes {
		bytes[i] = byte(r.Uint32())
	}
	f64, f32 := make([]float64, rows), make([]float32, rows)
	u64, u32 := make([]uint64, rows), make([]uint32, rows)
	i64, i32 := make([]int64, rows), make([]int32, rows)
	for i := range f64 {
		f64[i], f32[i] = float64(r.IntN(1<<w64))/100, float32(r.IntN(1<<w32))/100
	}
	exceptions, out := make([]byte, rows/8), make([]byte, 0, 8*rows)
	p64, p32 := bytes[:simd.PackedLen(rows, w64)+64], bytes[:simd.PackedLen(rows, w32)+64]
	for _, k := range []struct {
		operation string
		run       func()
	}{
		{"unpack64", func() { simd.Unpack64(u64, p64, w64) }},
		{"unpack32", func() { simd.Unpack32(u32, p32, w32) }},
		{"pack64", func() { out = simd.AppendPack64(out[:0], u64, w64) }},
		{"pack32", func() { out = simd.AppendPack32(out[:0], u32, w32) }},
		{alp64Decode, func() {
			c := simd.Packed64(p64, w64)
			simd.Decimal64(f64, &c, 0, 1, 0.01)
		}},
		{alp32Decode, func() {
			c := simd.Packed32(p32, w32)
			simd.Decimal32(f32, &c, 0, 1, 0.01)
		}},
		{alp64Encode, func() {
			_, least, _ := simd.Decimals64(i64, exceptions, f64, 100, 1, 1, 0.01)
			out = simd.AppendPackRamp64(out[:0], i64, w64, least, 0)
		}},
		{alp32Encode, func() {
			_, least, _ := simd.Decimals32(i32, exceptions, f32, 100, 1, 1, 0.01)
			out = simd.AppendPackRamp32(out[:0], i32, w32, int32(least), 0)
		}},
		{"decimal_trial64", func() { simd.Trial64(f64, 100, 1, 1, 0.01) }},
		{"sum64", func() {
			c := simd.Packed64(p64, w64)
			simd.Sum64(i64, &c, 7, 9)
		}},
		{"split64", func() { simd.SplitFloat64(bytes, f64) }},
		{"join64", func() { simd.JoinFloat64(f64, bytes) }},
	} {
		x.timed(kernel, l, rows, k.operation, k.run)
	}
}

// chunks measures the public encoder and decoder over one chunk again and
// again: the encoder knows the parameters from the time before.
func (x *run) chunks(l simd.Level, rows int) {
	r := rand.New(rand.NewPCG(generate.Seed, 5))
	cents64, cents32, random := make([]float64, rows), make([]float32, rows), make([]float64, rows)
	for i := range rows {
		cents64[i] = float64(r.IntN(1<<13)) / 100
		cents32[i] = float32(float64(r.IntN(1<<11)) / 100)
		random[i] = 1 + r.Float64() // all digits, few exponents, both signs: for ALP-RD
		if r.IntN(2) == 0 {
			random[i] *= -1024
		}
	}
	chunk(x, l, rows, alp64Encode, alp64Decode, cents64, (*alp.Encoder).AppendFloat64, (*alp.Decoder).Float64)
	chunk(x, l, rows, alp32Encode, alp32Decode, cents32, (*alp.Encoder).AppendFloat32, (*alp.Decoder).Float32)
	chunk(x, l, rows, split64Encode, split64Decode, random, (*alp.Encoder).AppendFloat64, (*alp.Decoder).Float64)
}

func chunk[T number](x *run, l simd.Level, rows int, encodeName, decodeName string, values []T,
	encode func(*alp.Encoder, []byte, []T, *encoding.Params) []byte, decode func(*alp.Decoder, []T, *encoding.Params, []byte) error) {
	var e alp.Encoder
	var d alp.Decoder
	var p encoding.Params
	body := encode(&e, make([]byte, 0, 16*rows+64), values, &p)
	dst := make([]T, rows)
	if err := decode(&d, dst, &p, body); err != nil || !equal(dst, values) {
		panic(fmt.Sprintf("%s does not decode what it encoded: %v", decimal, err))
	}
	wanted := alp.Decimal
	if encodeName == split64Encode {
		wanted = alp.Split
	}
	if alp.Mode(p[0]) != wanted {
		x.logf("codecs: the chunk for %s is in mode %d, not %d: left out", encodeName, p[0], wanted)
		return
	}
	x.timed(decimal, l, rows, encodeName, func() { body = encode(&e, body[:0], values, &p) })
	x.timed(decimal, l, rows, decodeName, func() { _ = decode(&d, dst, &p, body) })
}
