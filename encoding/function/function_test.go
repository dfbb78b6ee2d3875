package function_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bitpack"
	"github.com/colsst/colsst/encoding/function"
	"github.com/colsst/colsst/internal/binfmt"
	"github.com/colsst/colsst/simd"
)

// A write time a little after the time of the row, and an expiry from it.
func Example() {
	times := []int64{1000, 1010, 1020, 1030}                          // seconds
	writes := []int64{1000000250, 1010000310, 1020000290, 1030000270} // microseconds
	ttls := []int64{60, 60, 3600, 60}
	expiries := []int64{1060, 1070, 4620, 1090}

	var e function.Encoder
	var d function.Decoder
	var p encoding.Params
	got := make([]int64, 4)

	body := e.Append(nil, writes, times, nil, function.Plan{A: 1e6, D: 1, X: 0, Y: function.None}, &p)
	err := d.Decode(got, times, nil, &p, body)
	fmt.Println(len(body), got, err)

	e.Reset()
	body = e.Append(nil, expiries, writes, ttls, function.Plan{A: 1, D: 1e6, X: 1, Y: 2}, &p)
	err = d.Decode(got, writes, ttls, &p, body)
	fmt.Println(len(body), got, err)
	// Output:
	// 3 [1000000250 1010000310 1020000290 1030000270] <nil>
	// 0 [1060 1070 4620 1090] <nil>
}

func ExampleFit() {
	times := []int64{1000, 1010, 1020, 1030}
	writes := []int64{1000250, 1010310, 1020290, 1030270}
	for _, a := range []int64{1, 1000, 1e6} {
		fmt.Println(function.Fit(writes, times, nil, function.Plan{A: a, D: 1, X: 0, Y: function.None}))
	}
	// Output:
	// 15
	// 6
	// 25
}

type fataler interface {
	require.TestingT
	Helper()
}

func roundTrip(t fataler, e *function.Encoder, src, x, y []int64, plan function.Plan) {
	t.Helper()
	var d function.Decoder
	p := encoding.Params{3: 9}
	body := e.Append([]byte{1}, src, x, y, plan, &p)[1:]
	n, err := function.Len(&p, len(src))
	require.NoError(t, err)
	require.Len(t, body, n)
	require.LessOrEqual(t, n, 8*len(src))
	back, err := function.PlanOf(&p)
	require.NoError(t, err)
	require.Equal(t, plan, back)
	got := make([]int64, len(src))
	require.NoError(t, d.Decode(got, x, y, &p, body))
	require.Equal(t, src, got)
	require.LessOrEqual(t, function.Fit(src, x, y, plan), uint(64))
}

// A progression decodes as its values do.
func TestProgressions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(t, "n")
		column := func(name string) function.Column {
			c := function.Column{First: extreme().Draw(t, name+" first"), Step: extreme().Draw(t, name+" step")}
			c.Values = make([]int64, n)
			simd.Fill64(c.Values, c.First, c.Step)
			return c
		}
		x, y := column("x"), column("y")
		plan := function.Plan{A: extreme().Draw(t, "a"), D: 1 + rapid.Int64Range(0, 1000).Draw(t, "d")*rapid.Int64Range(0, 1).Draw(t, "divide"), X: 1, Y: 2}
		src := make([]int64, n)
		noise := rapid.IntRange(0, 20).Draw(t, "noise")
		r := rand.New(rand.NewPCG(1, 2))
		for i := range src {
			src[i] = floorDiv(plan.A*x.Values[i], plan.D) + y.Values[i] + int64(r.Uint64()&(1<<noise-1))
		}
		var e function.Encoder
		var d function.Decoder
		var p encoding.Params
		body := e.Append(nil, src, x.Values, y.Values, plan, &p)
		for k := range 4 {
			x, y := x, y
			if k&1 != 0 {
				x.Values = nil
			}
			if k&2 != 0 {
				y.Values = nil
			}
			got := make([]int64, n)
			require.NoError(t, d.DecodeColumns(got, &x, &y, &p, body))
			require.Equal(t, src, got)
		}
	})
}

// What the parameters alone say of the values holds for them, and where they
// are codes above a clock, whole seconds of them are a progression.
func TestRamps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		ramp := func(name string) (r encoding.Ramp, values []int64) {
			r = encoding.Ramp{First: extreme().Draw(t, name+" first"), Step: extreme().Draw(t, name+" step")}
			if rapid.Bool().Draw(t, name+" small") {
				r.First, r.Step = r.First>>40, r.Step>>50<<rapid.IntRange(0, 10).Draw(t, name+" even")
			}
			values = make([]int64, n)
			simd.Fill64(values, r.First, r.Step)
			return r, values
		}
		x, xs := ramp("x")
		x.Spread = 1<<rapid.IntRange(0, 20).Draw(t, "spread") - 1
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		for i := range xs {
			xs[i] += int64(r.Uint64() & x.Spread)
		}
		y, ys := ramp("y")
		w := rapid.IntRange(0, 30).Draw(t, "width")
		p := encoding.Params{rapid.SampledFrom([]int64{1, 1, 1, -3, 1 << 40}).Draw(t, "a"),
			rapid.SampledFrom([]int64{1, 1, 4, 512, 1000}).Draw(t, "d"), extreme().Draw(t, "base") >> 30, int64(w), 0, 0, 1, 2}
		size, err := function.Len(&p, n)
		require.NoError(t, err)
		body := make([]byte, size)
		for i := range body {
			body[i] = byte(r.Uint32())
		}
		got := make([]int64, n)
		require.NoError(t, new(function.Decoder).Decode(got, xs, ys, &p, body))
		if f, ok := function.RampOf(&p, n, x, y); ok {
			require.Equal(t, uint64(1)<<w-1, f.Spread)
			require.Equal(t, size, f.Len(n))
			for i, v := range got {
				require.LessOrEqual(t, uint64(v-f.First-int64(i)*f.Step), f.Spread)
			}
		}
		y.Spread = 1
		_, ok := function.RampOf(&p, n, x, y)
		require.False(t, ok)
	})
	clock := encoding.Params{1e6, 1, 2000, 13, 0, 0, 1, 0}
	w, ok := function.RampOf(&clock, 128, encoding.Ramp{First: 1_780_000_000, Step: 5}, encoding.Ramp{})
	require.True(t, ok)
	require.Equal(t, encoding.Ramp{First: 1_780_000_000_128_000, Step: 5_000_000, Spread: 8191}, w)
	seconds := encoding.Params{1, 1e6, 0, 0, 0, 0, 1, 2}
	e, ok := function.RampOf(&seconds, 128, w, encoding.Ramp{First: 60})
	require.True(t, ok)
	require.Equal(t, encoding.Ramp{First: 1_780_000_060, Step: 5}, e)
}

// floorDiv is the definition.
func floorDiv(x, d int64) int64 {
	q := new(big.Int)
	q.Div(big.NewInt(x), big.NewInt(d)) // Euclidean: floor for d > 0
	return q.Int64()
}

func extreme() *rapid.Generator[int64] {
	return rapid.Custom(func(t *rapid.T) int64 {
		return rapid.Int64().Draw(t, "x") >> rapid.IntRange(0, 63).Draw(t, "shift")
	})
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e function.Encoder
		for range 2 {
			n := rapid.IntRange(0, 300).Draw(t, "n")
			plan := function.Plan{A: extreme().Draw(t, "a"), D: 1, X: 3, Y: function.None}
			if rapid.Bool().Draw(t, "divide") {
				plan.D = max(1, extreme().Draw(t, "d"))
			}
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			x, src := make([]int64, n), make([]int64, n)
			var y []int64
			if rapid.Bool().Draw(t, "with y") {
				y, plan.Y = make([]int64, n), 0
			}
			noise := rapid.IntRange(0, 64).Draw(t, "noise")
			odd := rapid.SampledFrom([]int{0, 2, 50}).Draw(t, "odd")
			for i := range src {
				x[i] = int64(r.Uint64()) >> r.IntN(64)
				src[i] = floorDiv(plan.A*x[i], plan.D) + int64(r.Uint64()&(1<<noise-1))
				if y != nil {
					y[i] = int64(r.Uint64()) >> r.IntN(64)
					src[i] += y[i]
				}
				if r.IntN(100) < odd {
					src[i] = int64(r.Uint64())
				}
			}
			roundTrip(t, &e, src, x, y, plan)
		}
	})
}

// The division must be floor's for every divisor: no residual may remain.
func TestFloor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := max(1, extreme().Draw(t, "d"))
		x := []int64{extreme().Draw(t, "x"), math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64 - 1, math.MaxInt64}
		k := extreme().Draw(t, "k") / d * d
		x = append(x, d-1, d, -d, -d-1, 1-d, k-1, k, k+1)
		src := make([]int64, len(x))
		for i := range x {
			src[i] = floorDiv(x[i], d)
		}
		var e function.Encoder
		var p encoding.Params
		require.Empty(t, e.Append(nil, src, x, nil, function.Plan{A: 1, D: d, Y: function.None}, &p), "d %d", d)
		require.Equal(t, encoding.Params{1, d, 0, 0, 0, 0, 1, 0}, p)
		roundTrip(t, &e, src, x, nil, function.Plan{A: 1, D: d, Y: function.None})
	})
}

func TestWriteTimes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x, src := make([]int64, 128), make([]int64, 128)
	var e function.Encoder
	var p encoding.Params
	seen := map[encoding.Params]int{}
	for chunk := range 64 {
		for i := range x {
			x[i] = 1_780_000_000 + 5*int64(chunk*128+i)
			src[i] = x[i]*1_000_000 + 2000 + r.Int64N(8000)
		}
		body := e.Append(nil, src, x, nil, function.Plan{A: 1e6, D: 1, X: 0, Y: function.None}, &p)
		require.LessOrEqual(t, len(body), 128*13/8)
		seen[p]++
	}
	require.LessOrEqual(t, len(seen), 3, "%v", seen)
}

func TestHostile(t *testing.T) {
	extremes := []int64{math.MinInt64, math.MinInt64 + 1, -2, -1, 0, 1, 2, 3, 7, 8, 31, 32, 33, 63, 64, 65, 129, 130, 65535, 65536, math.MaxInt32, math.MaxInt64}
	r := rand.New(rand.NewPCG(5, 6))
	var d function.Decoder
	for _, n := range []int{0, 1, 2, 130} {
		src, x, y := make([]int64, n), make([]int64, n), make([]int64, n)
		for i := range src {
			x[i], y[i] = int64(r.Uint64()), int64(r.Uint64())
			src[i] = x[i]*3/2 + y[i] + r.Int64N(9)
			if i%50 == 49 {
				src[i] += 1e9
			}
		}
		try := func(p encoding.Params, body []byte) {
			err := d.Decode(src, x, y, &p, body)
			require.True(t, err == nil || errors.Is(err, encoding.ErrCorrupt))
			if want, bad := function.Len(&p, n); bad != nil || want != len(body) {
				require.Error(t, err)
			}
			if err = d.Decode(src, x, nil, &p, body); n > 0 && p[7] != 0 {
				require.ErrorIs(t, err, encoding.ErrCorrupt)
			}
			if err = d.Decode(src, nil, y, &p, body); n > 0 {
				require.ErrorIs(t, err, encoding.ErrCorrupt)
			}
		}
		var e function.Encoder
		var p encoding.Params
		body := e.Append(nil, src, x, y, function.Plan{A: 1, D: 2, X: 0, Y: 1}, &p)
		for cut := range body {
			try(p, body[:cut])
		}
		for round := range 2000 {
			q := p
			if round < len(extremes)*len(q) {
				q[round%len(q)] = extremes[round/len(q)]
			} else {
				for i := range q {
					if r.IntN(3) == 0 {
						q[i] = extremes[r.IntN(len(extremes))]
					}
				}
			}
			try(q, body)
			if want, err := function.Len(&q, n); err == nil {
				require.LessOrEqual(t, want, 18*n+1)
				b := make([]byte, want)
				for i := range b {
					b[i] = byte(r.Uint64())
				}
				try(q, b)
			}
		}
		_, err := function.Len(&p, -1)
		require.ErrorIs(t, err, encoding.ErrCorrupt)
	}
	require.Panics(t, func() {
		new(function.Encoder).Append(nil, []int64{1}, []int64{1}, nil, function.Plan{A: 1, Y: function.None}, new(encoding.Params))
	})
}

func TestNoAllocations(t *testing.T) {
	n := 1024
	src, x, y := make([]int64, n), make([]int64, n), make([]int64, n)
	for i := range src {
		x[i], y[i] = int64(i)*7777, int64(i%50)
		src[i] = x[i]/1000 + y[i] + int64(i%3)
	}
	src[77] = 1 << 40
	plan := function.Plan{A: 1, D: 1000, X: 0, Y: 1}
	var e function.Encoder
	var d function.Decoder
	var p encoding.Params
	body := e.Append(nil, src, x, y, plan, &p)
	require.Zero(t, testing.AllocsPerRun(100, func() { body = e.Append(body[:0], src, x, y, plan, &p) }))
	require.Zero(t, testing.AllocsPerRun(100, func() { require.NoError(t, d.Decode(src, x, y, &p, body)) }))
	require.Zero(t, testing.AllocsPerRun(100, func() { function.Fit(src, x, y, plan) }))
	for l := simd.Generic; l <= simd.Supported(); l++ {
		restore := simd.SetLevel(l)
		roundTrip(t, &e, src, x, y, plan)
		restore()
	}
}

func TestGolden(t *testing.T) {
	datadriven.RunTest(t, "testdata/golden", func(t *testing.T, td *datadriven.TestData) string {
		plan := function.Plan{Y: function.None}
		td.ScanArgs(t, "a", &plan.A)
		td.ScanArgs(t, "d", &plan.D)
		var columns [3][]int64 // src, x, y
		for line := range strings.Lines(td.Input) {
			name, numbers, _ := strings.Cut(strings.TrimSpace(line), ":")
			at := strings.Index("vxy", name)
			for _, f := range strings.Fields(numbers) {
				var v int64
				_, err := fmt.Sscan(f, &v)
				require.NoError(t, err)
				columns[at] = append(columns[at], v)
			}
		}
		if columns[2] != nil {
			plan.Y = 1
		}
		var e function.Encoder
		var p encoding.Params
		body := e.Append(nil, columns[0], columns[1], columns[2], plan, &p)
		roundTrip(t, new(function.Encoder), columns[0], columns[1], columns[2], plan)
		out := fmt.Sprintf("parameters %d\n", p)
		if len(body) == 0 {
			return out
		}
		n := len(columns[0])
		f := binfmt.New(body)
		f.Bytes(bitpack.Shape{Width: uint(p[3])}.Len(n), "%d codes of %d bits", n, p[3])
		if p[4] > 0 {
			f.Bytes(f.Remaining(), "positions of %d patches, high bits of %d", p[4], max(p[5], -p[5]))
		}
		require.Zero(t, f.Remaining())
		return out + f.String()
	})
}

func FuzzFunction(f *testing.F) {
	f.Add(int64(1e6), int64(1), []byte("some bytes for the columns, eight each, x then y then values....."), []byte{1, 2, 3})
	f.Add(int64(1), int64(1e6), []byte{}, []byte{})
	f.Add(int64(-3), int64(math.MaxInt64), make([]byte, 200), []byte{255})
	f.Add(int64(math.MinInt64), int64(2), []byte(strings.Repeat("\xff\x00\x80", 80)), []byte{0xcf, 2, 2, 2, 4, 2, 2, 9, 9, 9})
	f.Fuzz(func(t *testing.T, a, d int64, b, encoded []byte) {
		n := len(b) / 24
		var columns [3][]int64
		for c := range columns {
			columns[c] = make([]int64, n)
			for i := range columns[c] {
				for k, x := range b[(c*n+i)*8:][:8] {
					columns[c][i] |= int64(x) << (8 * k)
				}
			}
		}
		src, x, y := columns[0], columns[1], columns[2]
		var e function.Encoder
		roundTrip(t, &e, src, x, nil, function.Plan{A: a, D: max(1, d), X: 9, Y: function.None})
		if n > 0 {
			roundTrip(t, &e, src, x, y, function.Plan{A: a, D: max(1, d), X: 9, Y: 0})
		}
		p, body, err := encoding.ReadParams("test", encoded)
		if err != nil {
			return
		}
		if err = new(function.Decoder).Decode(src, x, y, &p, body); err != nil {
			require.ErrorIs(t, err, encoding.ErrCorrupt)
		}
	})
}
