package deltadelta_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/deltadelta"
	"github.com/colsst/colsst/simd"
)

// coder is the two types of value under one shape.
type coder[T int32 | int64] struct {
	append func(*deltadelta.Encoder, []byte, []T, *encoding.Params) []byte
	len    func(*encoding.Params, int) (int, error)
	decode func(*deltadelta.Decoder, []T, *encoding.Params, []byte) error
	inline func([]byte, []T) []byte
	read   func([]T, []byte) ([]byte, error)
	bytes  int
}

var (
	int64s = coder[int64]{(*deltadelta.Encoder).AppendInt64, deltadelta.Int64Len, (*deltadelta.Decoder).Int64,
		deltadelta.AppendInt64, deltadelta.DecodeInt64, 8}
	int32s = coder[int32]{(*deltadelta.Encoder).AppendInt32, deltadelta.Int32Len, (*deltadelta.Decoder).Int32,
		deltadelta.AppendInt32, deltadelta.DecodeInt32, 4}
)

type fataler interface {
	require.TestingT
	Helper()
}

// roundTrip checks both forms of the values, with e as the history before.
func (c coder[T]) roundTrip(t fataler, e *deltadelta.Encoder, v []T) encoding.Params {
	t.Helper()
	var d deltadelta.Decoder
	var p encoding.Params
	head := []byte("head")
	body := c.append(e, head, v, &p)[len(head):]
	n, err := c.len(&p, len(v))
	require.NoError(t, err)
	require.Len(t, body, n)
	got := make([]T, len(v))
	require.NoError(t, c.decode(&d, got, &p, body))
	require.Equal(t, v, got)
	if r, ok := deltadelta.RampOf(&p, uint(8*c.bytes)); ok {
		require.Equal(t, n, r.Len(len(v)))
		for i := range v {
			u := uint64(v[i] - T(r.First) - T(i)*T(r.Step))
			require.LessOrEqual(t, u<<(64-8*c.bytes)>>(64-8*c.bytes), r.Spread)
		}
	}
	if at, values, ok, err := d.Sparse(&p, len(v), body); ok && c.bytes == 8 {
		require.NoError(t, err)
		dense := make([]T, len(v))
		for i, k := range at {
			dense[k] = T(values[i])
		}
		require.Equal(t, v, dense)
	}
	require.LessOrEqual(t, p[3]+p[5], int64(8*c.bytes), "packed width")
	require.LessOrEqual(t, len(encoding.AppendParams(nil, &p))+n, len(v)*c.bytes+len(v)*c.bytes/100+24)

	all := append(c.inline(nil, v), "tail"...)
	clear(got)
	rest, err := c.read(got, all)
	require.NoError(t, err)
	require.Equal(t, "tail", string(rest))
	require.Equal(t, v, got)
	return p
}

// draw makes values of many kinds: mixtures of clocks, walks, noise, extremes.
func draw[T int32 | int64](t *rapid.T, bits int) []T {
	n := rapid.OneOf(rapid.IntRange(0, 4), rapid.IntRange(5, 300), rapid.IntRange(1000, 1100)).Draw(t, "n")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	step := T(rapid.Int64().Draw(t, "step") >> rapid.IntRange(0, 63).Draw(t, "step shift"))
	noise := rapid.IntRange(0, bits).Draw(t, "noise bits")
	odd := rapid.SampledFrom([]int{0, 0, 1, 5, 30}).Draw(t, "odd per cent")
	level := rapid.IntRange(0, 2).Draw(t, "sums")
	random := func(w int) T {
		if w == 0 {
			return 0
		}
		return T(r.Uint64() >> (64 - w))
	}
	v := make([]T, n)
	acc, speed, tick := T(rapid.Int64().Draw(t, "first")), step, T(0)
	for i := range v {
		x := random(noise) - random(noise)/2
		strange := r.IntN(100) < odd
		if strange {
			tick += T(r.IntN(80)) - 10
		}
		switch level {
		case 0:
			tick++
			v[i] = acc + tick*step + x
		case 1:
			acc += step + x
			v[i] = acc
		case 2:
			speed += x
			acc += speed
			v[i] = acc
		}
		if strange {
			switch r.IntN(6) {
			case 0:
				v[i] = T(int64(math.MinInt64) >> (64 - bits))
			case 1:
				v[i] = T(int64(math.MaxInt64) >> (64 - bits))
			case 2:
				v[i] = random(bits)
			}
		}
	}
	return v
}

func TestRoundTrip(t *testing.T) {
	t.Run("int64", rapid.MakeCheck(func(t *rapid.T) {
		var e deltadelta.Encoder
		for range 3 {
			int64s.roundTrip(t, &e, draw[int64](t, 64))
		}
	}))
	t.Run("int32", rapid.MakeCheck(func(t *rapid.T) {
		var e deltadelta.Encoder
		for range 3 {
			int32s.roundTrip(t, &e, draw[int32](t, 32))
		}
	}))
}

func TestAllWidths(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var e deltadelta.Encoder
	for w := range 65 {
		for _, n := range []int{1, 2, 3, 4, 7, 8, 9, 128, 1024, 1025} {
			v, sum, down := make([]int64, n), make([]int64, n), make([]int64, n)
			acc := int64(math.MaxInt64)
			for i := range v {
				if w > 0 {
					v[i] = int64(r.Uint64() >> (64 - w))
				}
				acc += v[i]
				sum[i], down[n-1-i] = acc, acc
			}
			for _, v := range [][]int64{v, sum, down} {
				int64s.roundTrip(t, &e, v)
				x := make([]int32, n)
				for i := range x {
					x[i] = int32(v[i])
				}
				int32s.roundTrip(t, &e, x)
			}
		}
	}
}

// clock makes n ticks of a period from first, each jittered by up to jitter,
// one in a hundred after a gap of up to 60 ticks.
func clock(r *rand.Rand, first, period, jitter int64, n int) []int64 {
	v := make([]int64, n)
	for i := range v {
		if r.IntN(100) == 0 {
			first += period * (1 + r.Int64N(60))
		}
		v[i] = first + r.Int64N(2*jitter+1) - jitter
		first += period
	}
	return v
}

func TestSizes(t *testing.T) {
	measure := func(v []int64, rows int) float64 {
		var e deltadelta.Encoder
		var p encoding.Params
		var body []byte
		for i := 0; i+rows <= len(v); i += rows {
			body = e.AppendInt64(body, v[i:i+rows], &p)
		}
		return float64(len(body)) / float64(len(v))
	}
	const n = 1 << 16
	up := clock(rand.New(rand.NewPCG(1, 2)), 1_780_000_000_000, 5000, 20, n)
	down := make([]int64, n)
	for i, v := range up {
		down[n-1-i] = v
	}
	for _, v := range [][]int64{up, down} {
		require.Less(t, measure(v, 128), 0.775)
		require.Less(t, measure(v, 512), 0.775)
		require.Less(t, measure(v, 4096), 0.776)
	}
	for i := range up {
		up[i] = 1_780_000_000 + 5*int64(i)
	}
	require.Zero(t, measure(up, 128))
	require.Zero(t, measure(clock(rand.New(rand.NewPCG(1, 2)), 5, 0, 0, n), 128))
}

// A gap must not widen a block, whichever form it is in.
func TestGaps(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, sign := range []int64{1, -1} {
		for name, next := range map[string]func() int64{
			"steps":  func() int64 { return 10 },
			"deltas": func() int64 { return r.Int64N(1000) },
		} {
			t.Run(fmt.Sprint(name, sign), func(t *testing.T) {
				v := make([]int64, 512)
				acc := int64(0)
				for i := range v {
					acc += sign * next()
					if i == 77 || i == 300 {
						acc += sign * 1e12
					}
					v[i] = acc
				}
				var e deltadelta.Encoder
				p := int64s.roundTrip(t, &e, v)
				require.LessOrEqual(t, p[3], int64(10))
			})
		}
	}
}

// Chunks after one another should keep their parameters.
func TestSteadyParameters(t *testing.T) {
	v := clock(rand.New(rand.NewPCG(7, 8)), 1_780_000_000_000_000, 5_000_000, 4000, 64*128)
	var e deltadelta.Encoder
	var p encoding.Params
	seen := map[[2]int64]int{}
	for i := 0; i < len(v); i += 128 {
		e.AppendInt64(nil, v[i:i+128], &p)
		seen[[2]int64{p[0], p[6]}]++
	}
	require.Greater(t, seen[[2]int64{4, 5_000_000}], 60, "%v", seen)
	e.Reset()
	var q encoding.Params
	var fresh deltadelta.Encoder
	require.Equal(t, fresh.AppendInt64(nil, v[:128], &p), e.AppendInt64(nil, v[:128], &q))
	require.Equal(t, p, q)
}

// A form that rests must not be missed for long when a column changes.
func TestChangeOfForm(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	var e deltadelta.Encoder
	var p encoding.Params
	size, alone := 0, 0
	for i := range 400 {
		v := clock(r, 1e12, 5000, 20, 128)
		acc := int64(0)
		for j := range v {
			acc += r.Int64N(900)
			switch i / 20 % 4 {
			case 1:
				v[j] = r.Int64N(1 << 20)
			case 2:
				v[j] = acc
			case 3:
				v[j] = int64(j*j*i) + r.Int64N(4)
			}
		}
		size += len(e.AppendInt64(nil, v, &p))
		var fresh deltadelta.Encoder
		alone += len(fresh.AppendInt64(nil, v, &p))
	}
	require.Less(t, float64(size), 1.02*float64(alone))
}

func TestFieldCases(t *testing.T) {
	data, err := os.ReadFile("../../testdata/cases/codec_cases.json")
	require.NoError(t, err)
	var cases []struct {
		ID, Name, Type string
		Values         []*string
	}
	require.NoError(t, json.Unmarshal(data, &cases))
	for _, c := range cases {
		size := map[string]int{"int32": 32, "int64": 64}[c.Type]
		if size == 0 {
			continue
		}
		t.Run(c.ID+"/"+c.Name, func(t *testing.T) {
			a, b := []int64{}, []int32{}
			for _, s := range c.Values {
				if s == nil {
					continue
				}
				x, err := strconv.ParseUint(*s, 16, size)
				require.NoError(t, err)
				a, b = append(a, int64(x)), append(b, int32(x))
			}
			var e deltadelta.Encoder
			if size == 32 {
				int32s.roundTrip(t, &e, b)
				return
			}
			int64s.roundTrip(t, &e, a)
		})
	}
}

// T09: more than 65,535 values.
func TestManyValues(t *testing.T) {
	for _, n := range []int{65_535, 65_536, 70_000} {
		v := make([]int64, n)
		for i := range v {
			v[i] = int64(i) + int64(i%7)
		}
		var e deltadelta.Encoder
		int64s.roundTrip(t, &e, v)
	}
}

// T20: parameters and bodies made to hurt.
func TestHostile(t *testing.T) {
	t.Run("int64", func(t *testing.T) { hostile(t, int64s) })
	t.Run("int32", func(t *testing.T) { hostile(t, int32s) })
}

func hostile[T int32 | int64](t *testing.T, c coder[T]) {
	extremes := []int64{math.MinInt64, math.MinInt64 + 1, math.MinInt32 - 1, math.MinInt32, -1, 0, 1, 2, 3, 4, 5, 7, 8, 9,
		15, 16, 17, 31, 32, 33, 57, 58, 63, 64, 65, 255, 256, 1023, 1024, 1025, 65535, 65536, math.MaxInt32, math.MaxInt32 + 1, math.MaxInt64}
	r := rand.New(rand.NewPCG(9, 10))
	var e deltadelta.Encoder
	var d deltadelta.Decoder
	var chunks [][]T
	for _, n := range []int{0, 1, 2, 3, 130} {
		noise, ticks, walk, quad := make([]T, n), make([]T, n), make([]T, n), make([]T, n)
		var acc, speed T
		for i := range n {
			noise[i] = T(r.Uint64())
			ticks[i] = T(i*1000+i/20*7000) + T(r.IntN(9))
			acc += T(r.IntN(50))
			walk[i] = acc
			speed += T(r.IntN(5))
			quad[i] = speed * T(i)
			if i%40 == 39 {
				walk[i] += 1 << 29
				noise[i] = 0
			}
		}
		chunks = append(chunks, noise, ticks, walk, quad)
	}
	try := func(n int, p encoding.Params, body []byte) {
		dst := make([]T, n)
		err := c.decode(&d, dst, &p, body)
		if want, e := c.len(&p, n); e != nil || want != len(body) {
			require.ErrorIs(t, err, encoding.ErrCorrupt)
		} else if err != nil {
			require.ErrorIs(t, err, encoding.ErrCorrupt)
		}
		_, err = c.read(dst, append(encoding.AppendParams(nil, &p), body...))
		require.True(t, err == nil || errors.Is(err, encoding.ErrCorrupt))
	}
	for _, v := range chunks {
		var p encoding.Params
		body := c.append(&e, nil, v, &p)
		for cut := range body {
			try(len(v), p, body[:cut])
		}
		for i := range p {
			for _, x := range extremes {
				q := p
				q[i] = x
				try(len(v), q, body)
				if n, err := c.len(&q, len(v)); err == nil {
					require.LessOrEqual(t, n, len(v)*40+8)
					b := make([]byte, n)
					try(len(v), q, b)
					for k := range b {
						b[k] = byte(r.Uint64())
					}
					try(len(v), q, b)
					for k := range b {
						b[k] = 255
					}
					try(len(v), q, b)
				}
			}
		}
		for range 300 {
			var q encoding.Params
			for i := range q {
				q[i] = p[i]
				if r.IntN(2) == 0 {
					q[i] = extremes[r.IntN(len(extremes))]
				}
			}
			n, err := c.len(&q, len(v))
			if err != nil {
				continue
			}
			b := make([]byte, n)
			for k := range b {
				b[k] = byte(r.Uint64())
			}
			try(len(v), q, b)
		}
	}
	_, err := c.len(&encoding.Params{}, -1)
	require.ErrorIs(t, err, encoding.ErrCorrupt)
}

func TestLevels(t *testing.T) {
	v := clock(rand.New(rand.NewPCG(11, 12)), 1_780_000_000_000, 5000, 20, 1000)
	want := deltadelta.AppendInt64(nil, v)
	for l := simd.Generic; l <= simd.Supported(); l++ {
		restore := simd.SetLevel(l)
		require.Equal(t, want, deltadelta.AppendInt64(nil, v))
		got := make([]int64, len(v))
		_, err := deltadelta.DecodeInt64(got, want)
		require.NoError(t, err)
		require.Equal(t, v, got)
		restore()
	}
}

func TestNoAllocations(t *testing.T) {
	v := clock(rand.New(rand.NewPCG(13, 14)), 1_780_000_000_000, 5000, 20, 1024)
	v[500] += 1e9
	var e deltadelta.Encoder
	var d deltadelta.Decoder
	var p encoding.Params
	body := e.AppendInt64(nil, v, &p)
	inline := deltadelta.AppendInt64(nil, v)
	require.Zero(t, testing.AllocsPerRun(100, func() { body = e.AppendInt64(body[:0], v, &p) }))
	require.Zero(t, testing.AllocsPerRun(100, func() { require.NoError(t, d.Int64(v, &p, body)) }))
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_, err := deltadelta.DecodeInt64(v, inline)
		require.NoError(t, err)
	}))
}
