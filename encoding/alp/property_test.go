package alp_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/alp"
)

// shapes draws values of many kinds as float64: decimals of one exponent,
// walks, constants, any bit pattern, and mixes of them.
func shapes(t *rapid.T) []float64 {
	n := rapid.IntRange(0, 300).Draw(t, "n")
	digits := rapid.IntRange(-6, 16).Draw(t, "digits")
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	mixed := rapid.IntRange(0, 20).Draw(t, "mixed")
	scale := math.Pow10(digits)
	step := rapid.Int64Range(0, 1<<rapid.IntRange(0, 52).Draw(t, "bits")).Draw(t, "step")
	seed := rapid.Uint64().Draw(t, "seed")
	next := func() uint64 { // splitmix64, so that a draw stays small
		seed += 0x9e3779b97f4a7c15
		x := seed
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		return x ^ x>>31
	}
	out := make([]float64, n)
	var at int64
	for i := range out {
		switch kind {
		case 0: // integers of some size as decimals
			out[i] = float64(int64(next()%uint64(step+1))) / scale
		case 1: // a walk of decimals
			at += int64(next()%uint64(2*step+1)) - step
			out[i] = float64(at) / scale
		case 2:
			out[i] = float64(step) / scale
		case 3: // neighbouring bit patterns
			at += int64(next()%uint64(2*step+1)) - step
			out[i] = math.Float64frombits(math.Float64bits(50) + uint64(at))
		case 4: // few top bits
			out[i] = math.Float64frombits(next()>>12 | next()%3<<60)
		case 5:
			out[i] = math.Float64frombits(next())
		}
		if mixed > 15 && next()%16 == 0 {
			out[i] = math.Float64frombits(rapid.SampledFrom([]uint64{
				1 << 63, 0x7ff8000000000001, 0x7ff0000000000002, 0xfff0000000000000, 1, next(),
			}).Draw(t, "odd"))
		}
	}
	return out
}

func TestRoundTripFloat64(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e alp.Encoder
		var d alp.Decoder
		for range rapid.IntRange(1, 4).Draw(t, "chunks") {
			trip64(t, &e, &d, shapes(t))
		}
	})
}

func TestRoundTripFloat32(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e alp.Encoder
		var d alp.Decoder
		for range rapid.IntRange(1, 4).Draw(t, "chunks") {
			x := narrow(shapes(t))
			if rapid.Bool().Draw(t, "odd") {
				for i := range x {
					if i%9 == 0 {
						x[i] = math.Float32frombits(rapid.Uint32().Draw(t, "pattern"))
					}
				}
			}
			trip32(t, &e, &d, x)
		}
	})
}

// TestExtremes has the patterns at every border, alone and next to each other.
func TestExtremes(t *testing.T) {
	var wide []float64
	for _, x := range []float64{0, 1, 1 << 24, 1 << 31, 1 << 51, 1 << 52, 1 << 53, 1 << 62, 1 << 63, math.MaxFloat64,
		math.SmallestNonzeroFloat64, 0x1p-1022, math.Inf(1), math.NaN(), 1e-18, 1e18, 0.1, 1e22} {
		for _, y := range []float64{x, math.Nextafter(x, 0), math.Nextafter(x, math.Inf(1)), x + 1, x - 1} {
			wide = append(wide, y, -y)
		}
	}
	short := make([]float32, 0, len(wide))
	for _, x := range wide {
		short = append(short, float32(x))
	}
	for i := range uint32(32) {
		short = append(short, math.Float32frombits(1<<i), math.Float32frombits(0xff<<23|i), math.Float32frombits(^i))
	}
	var d alp.Decoder
	for _, rows := range []int{1, 2, 3, 7, 1000} {
		var e32, e64 alp.Encoder
		for i := 0; i < len(wide); i += rows {
			trip64(t, &e64, &d, wide[i:min(i+rows, len(wide))])
		}
		for i := 0; i < len(short); i += rows {
			trip32(t, &e32, &d, short[i:min(i+rows, len(short))])
		}
	}
}

// TestDecimalsExact: every decimal of up to seven digits packs without
// exceptions.
func TestDecimalsExact(t *testing.T) {
	var d alp.Decoder
	for digits := 1; digits <= 6; digits++ {
		var e32, e64 alp.Encoder
		x := make([]float64, 128)
		for c := range 40 {
			for i := range x {
				x[i] = float64(c*99991+i*7+1) / math.Pow10(digits)
			}
			p, _ := trip64(t, &e64, &d, x)
			require.LessOrEqual(t, p[7], int64(4), "%v", p) // 10^-14 is not quite exact
			p, _ = trip32(t, &e32, &d, narrow(x))
			require.Zero(t, p[7], "%v", p)
			require.Contains(t, []alp.Mode{alp.Decimal, alp.DecimalDelta}, alp.Mode(p[0]), "%v", p)
		}
	}
}

// TestConstantTakesNoBody: T05.
func TestConstantTakesNoBody(t *testing.T) {
	var d alp.Decoder
	for _, x := range []float64{0, math.Copysign(0, -1), 21.5, 1, math.Pi, math.NaN(), math.Inf(-1), 1e300, 0.1} {
		src := make([]float64, 128)
		for i := range src {
			src[i] = x
		}
		var e64, e32 alp.Encoder
		p, n := trip64(t, &e64, &d, src)
		require.Zero(t, n, "%v: %v", x, p)
		p, n = trip32(t, &e32, &d, narrow(src))
		require.Zero(t, n, "%v: %v", x, p)
	}
}

// TestResetForgets: the bytes depend on the chunks since Reset alone.
func TestResetForgets(t *testing.T) {
	x := widen(walk(3, 128*20, true))
	encode := func(e *alp.Encoder) (all []byte) {
		e.Reset()
		var p encoding.Params
		for i := 0; i < len(x); i += 128 {
			all = e.AppendFloat64(all, x[i:i+128], &p)
			all = encoding.AppendParams(all, &p)
		}
		return all
	}
	var e alp.Encoder
	a := encode(&e)
	var p encoding.Params
	e.AppendFloat64(nil, []float64{1e-9, math.Pi, 7, math.NaN()}, &p)
	require.Equal(t, a, encode(&e))
}

// TestHistoryFindsNewDecimals: data that changes its kind is recognised soon.
func TestHistoryFindsNewDecimals(t *testing.T) {
	var e alp.Encoder
	var d alp.Decoder
	for range 3 {
		full, two := walk(1, 128*64, false), walk(2, 128*64, true)
		decimals := 0
		for i := 0; i < len(full); i += 128 {
			trip32(t, &e, &d, full[i:i+128])
		}
		for i := 0; i < len(two); i += 128 {
			p, _ := trip32(t, &e, &d, two[i:i+128])
			if alp.Mode(p[0]) == alp.DecimalDelta {
				decimals++
			}
		}
		require.Greater(t, decimals, 64-33)
	}
}

// TestSteadyChunks: long chunks that are encoded as those before are right
// whatever comes, and soon are as small as with a search for each.
func TestSteadyChunks(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	values := map[string]func(i int) float64{
		"wide":     func(int) float64 { return float64(r.IntN(1<<13)) / 100 },
		"narrow":   func(int) float64 { return float64(r.IntN(1<<5)) / 100 },
		"above":    func(int) float64 { return float64(9000+r.IntN(1<<13)) / 100 },
		"constant": func(int) float64 { return 7.5 },
		"digits":   func(int) float64 { return r.Float64() },
		"rare": func(i int) float64 {
			if i%100 == 7 {
				return math.NaN()
			}
			return float64(r.IntN(1<<13)) / 100
		},
		"counter": func(i int) float64 { return float64(1000*i+r.IntN(1000)) / 10 },
	}
	names := slices.Sorted(maps.Keys(values))
	var e, fresh alp.Encoder
	var d alp.Decoder
	for _, from := range names {
		for _, to := range names {
			e.Reset()
			size, alone := 0, 0
			for chunk := range 48 { // a search for decimals may rest for 32
				name := from
				if chunk >= 10 {
					name = to
				}
				src := make([]float64, 1024)
				for i := range src {
					src[i] = values[name](i)
				}
				_, n := trip64(t, &e, &d, src)
				var p encoding.Params
				fresh.Reset()
				if chunk >= 44 {
					size, alone = size+n, alone+len(fresh.AppendFloat64(nil, src, &p))
				}
			}
			require.LessOrEqual(t, size, alone+alone/32, "%s, then %s", from, to)
		}
	}
}

func TestAllocations(t *testing.T) {
	for _, set := range benchSets {
		src := set.make(1024)
		short := narrow(src)
		var e alp.Encoder
		var d alp.Decoder
		var p encoding.Params
		body := e.AppendFloat64(make([]byte, 0, 1<<14), src, &p)
		require.NoError(t, d.Float64(src, &p, body))
		require.Zero(t, testing.AllocsPerRun(10, func() {
			_ = d.Float64(src, &p, body)
			body = e.AppendFloat64(body[:0], src, &p)
		}), set.name)
		e.Reset()
		body = e.AppendFloat32(body[:0], short, &p)
		require.Zero(t, testing.AllocsPerRun(10, func() {
			_ = d.Float32(short, &p, body)
			body = e.AppendFloat32(body[:0], short, &p)
		}), set.name)
		b64, b32 := alp.AppendFloat64(nil, src), alp.AppendFloat32(nil, short)
		require.Zero(t, testing.AllocsPerRun(10, func() {
			_, _ = alp.DecodeFloat64(src, b64)
			_, _ = alp.DecodeFloat32(short, b32)
		}), set.name)
	}
}
