package alp_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/alp"
	"github.com/colsst/colsst/encoding/bitpack"
	"github.com/colsst/colsst/simd"
)

// hostileRows is no power of two, so that a position may lie outside.
const hostileRows = 1000

// withExceptions is a chunk of decimals with ten exceptions.
func withExceptions(t *testing.T) (encoding.Params, []byte) {
	r := rand.New(rand.NewPCG(5, 6))
	x := make([]float64, hostileRows)
	for i := range x {
		x[i] = float64(r.IntN(100000)) / 100
		if i%100 == 50 {
			x[i] = math.Pi * float64(i)
		}
	}
	var e alp.Encoder
	var p encoding.Params
	body := e.AppendFloat64(nil, x, &p)
	require.Equal(t, int64(alp.Decimal), p[0])
	require.Equal(t, int64(10), p[7])
	return p, body
}

// withDictionary is a chunk cut in two, with exceptions.
func withDictionary(t *testing.T) (encoding.Params, []byte) {
	r := rand.New(rand.NewPCG(5, 7))
	x := make([]float64, hostileRows)
	for i := range x {
		x[i] = math.Float64frombits(r.Uint64()>>12 | uint64(1000+r.IntN(2)+1024*r.IntN(2))<<52)
		if i%100 == 50 {
			x[i] = 1e-200 * r.Float64()
		}
	}
	var e alp.Encoder
	var p encoding.Params
	body := e.AppendFloat64(nil, x, &p)
	require.Equal(t, int64(alp.Split), p[0])
	require.Equal(t, int64(10), p[7])
	return p, body
}

func refused(t *testing.T, p encoding.Params, body []byte) {
	t.Helper()
	var d alp.Decoder
	err := d.Float64(make([]float64, hostileRows), &p, body)
	require.ErrorIs(t, err, encoding.ErrCorrupt, "%v", p)
	var corrupt *encoding.CorruptError
	require.True(t, errors.As(err, &corrupt))
	require.Equal(t, "alp", corrupt.Part)

	self := append(encoding.AppendParams(nil, &p), body...)
	_, err = alp.DecodeFloat64(make([]float64, hostileRows), self)
	require.ErrorIs(t, err, encoding.ErrCorrupt)
}

// withPositions puts other exception positions in a body in which they are
// followed by tail bytes.
func withPositions(body []byte, tail int, positions []uint64) []byte {
	b := bitpack.PositionWidth(hostileRows)
	end := len(body) - tail
	at := end - simd.PackedLen(len(positions), b)
	out := simd.AppendPack64(slices.Clone(body[:at]), positions, b)
	return append(out, body[end:]...)
}

// TestHostilePositions: T20.
func TestHostilePositions(t *testing.T) {
	p, body := withExceptions(t)
	q, cut := withDictionary(t)
	for name, positions := range map[string][]uint64{
		"outside":    {1, 2, 3, 4, 5, 6, 7, 8, 9, 1010},
		"twice":      {1, 2, 3, 4, 5, 6, 7, 8, 8, 10},
		"descending": {1, 2, 3, 4, 5, 6, 7, 8, 7, 10},
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, p, withPositions(body, 10*8, positions))
			refused(t, q, withPositions(cut, simd.PackedLen(10, uint(q[6])), positions))
		})
	}
	// The same with good positions is accepted.
	var d alp.Decoder
	good := []uint64{0, 2, 3, 4, 5, 6, 7, 8, 9, 999}
	dst := make([]float64, hostileRows)
	require.NoError(t, d.Float64(dst, &p, withPositions(body, 10*8, good)))
	require.NoError(t, d.Float64(dst, &q, withPositions(cut, simd.PackedLen(10, uint(q[6])), good)))
}

// TestHostileParams: T20.
func TestHostileParams(t *testing.T) {
	p, body := withExceptions(t)
	q, cut := withDictionary(t)
	huge := []int64{math.MinInt64, math.MinInt64 + 1, -1 << 32, -1, 1 << 31, 1 << 32, math.MaxInt64}
	for _, c := range []struct {
		name   string
		split  bool
		at     int
		values []int64
	}{
		{"mode", false, 0, append(huge, 6, 255)},
		{"unused first", false, 1, append(huge, 1)},
		{"base", false, 2, []int64{math.MinInt64, math.MaxInt64, 1 << 56}},
		{"width 65", false, 3, append(huge, 65)},
		{"patches", false, 4, append(huge, hostileRows+1, 65535)},
		{"patch width", false, 5, []int64{math.MinInt64, math.MaxInt64, 64, -64, 65, -65}},
		{"exponent 40", false, 6, append(huge, 40*32, 19*32, 19, 31)},
		{"exceptions 65535", false, 7, append(huge, 65535, hostileRows+1, 11)},
		{"dictionary 255", true, 1, append(huge, 0, 9, 255)},
		{"unused width", true, 3, append(huge, 1)},
		{"left width", true, 6, append(huge, 0, 17, 64)},
		{"split exceptions", true, 7, append(huge, 65535, hostileRows+1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, v := range c.values {
				p, body := p, body
				if c.split {
					p, body = q, cut
				}
				p[c.at] = v
				refused(t, p, body)
			}
		})
	}
	for _, z := range append(huge, 64) {
		_, err := alp.Float64Len(&encoding.Params{int64(alp.Bits), 0, 0, 0, 0, 0, z, 0}, 3)
		require.ErrorIs(t, err, encoding.ErrCorrupt)
	}
	_, err := alp.Float32Len(&encoding.Params{int64(alp.BitsDelta), 0, 0, 0, 0, 0, 32, 0}, 3)
	require.ErrorIs(t, err, encoding.ErrCorrupt)
	p[7] = 9 // the body is one exception too long
	var d alp.Decoder
	require.ErrorIs(t, d.Float64(make([]float64, hostileRows), &p, body), encoding.ErrCorrupt)
	for _, n := range []int{-1, encoding.MaxGroupRows + 1} {
		_, err := alp.Float64Len(&encoding.Params{}, n)
		require.ErrorIs(t, err, encoding.ErrCorrupt)
	}
}

// TestHostileDictionaryCode: a code beyond a dictionary of three.
func TestHostileDictionaryCode(t *testing.T) {
	p := encoding.Params{int64(alp.Split), 3, 0, 0, 0, 0, 8, 0}
	n, err := alp.Float64Len(&p, hostileRows)
	require.NoError(t, err)
	body := make([]byte, n)
	var d alp.Decoder
	require.NoError(t, d.Float64(make([]float64, hostileRows), &p, body))
	body[7] = 0xc0
	refused(t, p, body)
}

// TestHostileIntegers: decimals outside the range of the format are refused
// wherever they come from, exceptions' places included.
func TestHostileIntegers(t *testing.T) {
	var d alp.Decoder
	for _, c := range []struct {
		name string
		p    encoding.Params
		n    int
		wide bool // float64 accepts it
		ok   bool // float32 does
	}{
		{"64 at the limit", encoding.Params{1, 0, 1 << 51, 0, 0, 0, 0, 0}, 3, true, false},
		{"64 at the lower limit", encoding.Params{1, 0, -1 << 51, 0, 0, 0, 0, 0}, 3, true, false},
		{"64 beyond", encoding.Params{1, 0, 1<<51 + 1, 0, 0, 0, 0, 0}, 3, false, false},
		{"64 below", encoding.Params{1, 0, -1<<51 - 1, 0, 0, 0, 0, 0}, 3, false, false},
		{"32 at the limit", encoding.Params{1, 0, 1 << 24, 0, 0, 0, 0, 0}, 3, true, true},
		{"32 beyond", encoding.Params{1, 0, 1<<24 + 1, 0, 0, 0, 0, 0}, 3, true, false},
		{"32 below", encoding.Params{1, 0, -1<<24 - 1, 0, 0, 0, 0, 0}, 3, true, false},
		{"far", encoding.Params{1, 0, math.MinInt64, 0, 0, 0, 0, 0}, 3, false, false},
		{"sum at the limit", encoding.Params{2, 0, 1 << 24, 0, 0, 0, 0, 0}, 2, true, true},
		{"sum beyond", encoding.Params{2, 1, 1 << 24, 0, 0, 0, 0, 0}, 2, true, false},
		{"64 sum at the limit", encoding.Params{2, 0, 1 << 51, 0, 0, 0, 0, 0}, 2, true, false},
		{"64 sum beyond", encoding.Params{2, 1, 1 << 51, 0, 0, 0, 0, 0}, 2, false, false},
		{"64 sum wraps", encoding.Params{2, 0, 1 << 62, 0, 0, 0, 0, 0}, 4, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := func(ok bool, err error) {
				if ok {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, encoding.ErrCorrupt)
				}
			}
			check(c.wide, d.Float64(make([]float64, c.n), &c.p, nil))
			check(c.ok, d.Float32(make([]float32, c.n), &c.p, nil))
			c.p[7] = int64(c.n)
			n, err := alp.Float64Len(&c.p, c.n)
			require.NoError(t, err)
			body := make([]byte, n)
			body[0] = 0b11_10_01_00
			if c.n == 2 {
				body[0] = 0b10
			}
			check(c.wide, d.Float64(make([]float64, c.n), &c.p, body))
		})
	}
}

// TestHostileAnything: whatever the parameters and the body, there is an error
// or a result, and no panic.
func TestHostileAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p encoding.Params
		p[0] = rapid.Int64Range(0, 5).Draw(t, "mode")
		for i := 1; i < len(p); i++ {
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
			case 1:
				p[i] = rapid.Int64().Draw(t, "any")
			default:
				p[i] = rapid.Int64Range(-20, 80).Draw(t, "small")
			}
		}
		n := rapid.IntRange(0, 200).Draw(t, "n")
		seed := rapid.Uint64().Draw(t, "seed")
		fill := func(body []byte) []byte {
			r := rand.New(rand.NewPCG(seed, 1))
			for i := range body {
				body[i] = byte(r.Uint32())
			}
			return body
		}
		var d alp.Decoder
		if k, err := alp.Float64Len(&p, n); err == nil {
			_ = d.Float64(make([]float64, n), &p, fill(make([]byte, k)))
			require.ErrorIs(t, d.Float64(make([]float64, n), &p, make([]byte, k+1)), encoding.ErrCorrupt)
		} else {
			require.ErrorIs(t, err, encoding.ErrCorrupt)
		}
		if k, err := alp.Float32Len(&p, n); err == nil {
			_ = d.Float32(make([]float32, n), &p, fill(make([]byte, k)))
		}
	})
}

// TestHostileCuts: the self-contained form, cut at every length.
func TestHostileCuts(t *testing.T) {
	for _, set := range benchSets {
		b := alp.AppendFloat64(nil, set.make(200))
		for i := range b {
			_, err := alp.DecodeFloat64(make([]float64, 200), b[:i])
			require.ErrorIs(t, err, encoding.ErrCorrupt)
		}
	}
}
