package runlength_test

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/runlength"
)

func ExampleAppendInt64() {
	src := make([]int64, 1000)
	for i := range src {
		src[i] = int64(i / 250)
	}
	b := runlength.AppendInt64(nil, src)
	dst := make([]int64, len(src))
	rest, err := runlength.DecodeInt64(dst, b)
	fmt.Println(len(b), dst[0], dst[999], len(rest), err)
	// Output: 9 0 3 0 <nil>
}

func ExampleEncoder() {
	var e runlength.Encoder
	var p encoding.Params
	body := e.AppendInt32(nil, []int32{7, 7, 7, 9, 9}, &p)
	var d runlength.Decoder
	dst := make([]int32, 5)
	err := d.Int32(dst, &p, body)
	fmt.Println(p, len(body), dst, err)
	// Output: [2 6 2 2 0 0 0 0] 2 [7 7 7 9 9] <nil>
}

// TestGolden encodes lines of "value*times" and shows parameters and body.
func TestGolden(t *testing.T) {
	datadriven.RunTest(t, "testdata/golden", func(t *testing.T, d *datadriven.TestData) string {
		var e runlength.Encoder
		var out strings.Builder
		for line := range strings.Lines(d.Input) {
			var src []int64
			for _, f := range strings.Fields(line) {
				value, times, ok := strings.Cut(f, "*")
				v, err := strconv.ParseInt(value, 10, 64)
				require.NoError(t, err)
				n := 1
				if ok {
					n, err = strconv.Atoi(times)
					require.NoError(t, err)
				}
				for range n {
					src = append(src, v)
				}
			}
			var p encoding.Params
			body := e.AppendInt64(nil, src, &p)
			w, n := uint(p[2]), int(p[0])
			values := (n*int(w) + 7) / 8
			fmt.Fprintf(&out, "%d values: runs %d, base %d<<%d, value width %d, length width %d\n", len(src), p[0], p[1], max(w, 7)-7, w, p[3])
			fmt.Fprintf(&out, "  values  %s\n  lengths %s\n", hex.EncodeToString(body[:values]), hex.EncodeToString(body[values:]))
			dst := make([]int64, len(src))
			require.NoError(t, new(runlength.Decoder).Int64(dst, &p, body))
			require.Equal(t, append([]int64{}, src...), dst)
		}
		return out.String()
	})
}

func generator() *rapid.Generator[[]int64] {
	return rapid.Custom(func(t *rapid.T) []int64 {
		mask := uint64(math.MaxUint64) >> rapid.IntRange(0, 63).Draw(t, "shift")
		base := rapid.Int64().Draw(t, "base")
		longest := rapid.SampledFrom([]int{1, 2, 3, 10, 400, 5000}).Draw(t, "longest")
		var src []int64
		for range rapid.IntRange(0, 40).Draw(t, "runs") {
			v := base + int64(rapid.Uint64().Draw(t, "v")&mask)
			for range rapid.IntRange(1, longest).Draw(t, "n") {
				src = append(src, v)
			}
		}
		return src[:min(len(src), encoding.MaxGroupRows)]
	})
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e runlength.Encoder
		var d runlength.Decoder
		for range 3 {
			src := generator().Draw(t, "src")
			narrow := make([]int32, len(src))
			for i, v := range src {
				narrow[i] = int32(v)
			}
			dst, dstNarrow := make([]int64, len(src)), make([]int32, len(src))

			p := encoding.Params{7: 9}
			body := e.AppendInt64([]byte{1}, src, &p)[1:]
			n, err := runlength.Int64Len(&p, len(src))
			require.NoError(t, err)
			require.Len(t, body, n)
			require.NoError(t, d.Int64(dst, &p, body))
			require.Equal(t, append([]int64{}, src...), dst)

			body = e.AppendInt32(nil, narrow, &p)
			n, err = runlength.Int32Len(&p, len(src))
			require.NoError(t, err)
			require.Len(t, body, n)
			require.NoError(t, d.Int32(dstNarrow, &p, body))
			require.Equal(t, narrow, dstNarrow)

			b := runlength.AppendInt32(runlength.AppendInt64(nil, src), narrow)
			clear(dst)
			clear(dstNarrow)
			rest, err := runlength.DecodeInt64(dst, b)
			require.NoError(t, err)
			rest, err = runlength.DecodeInt32(dstNarrow, rest)
			require.NoError(t, err)
			require.Empty(t, rest)
			require.Equal(t, append([]int64{}, src...), dst)
			require.Equal(t, narrow, dstNarrow)
		}
	})
}

// The self-contained form of any data is at most the raw size, a small header
// and 1 %.
func TestBound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, long := range []int{0, 1, 2, 5, 17, 129, 513, 1000} {
		src, narrow := make([]int64, 4096), make([]int32, 4096)
		for i := range src {
			src[i] = int64(r.Uint64())
			if i%1024 < long {
				src[i] = -5
			}
			narrow[i] = int32(src[i])
		}
		require.LessOrEqual(t, len(runlength.AppendInt64(nil, src)), 8*4096+32+8*41)
		require.LessOrEqual(t, len(runlength.AppendInt32(nil, narrow)), 4*4096+32+4*41)
	}
}

func TestExtremes(t *testing.T) {
	src := []int32{math.MinInt32, math.MinInt32, math.MaxInt32, 0, 0, -1, 1}
	dst := make([]int32, len(src))
	rest, err := runlength.DecodeInt32(dst, runlength.AppendInt32(nil, src))
	require.NoError(t, err)
	require.Empty(t, rest)
	require.Equal(t, src, dst)
	long := make([]int64, encoding.MaxGroupRows)
	var p encoding.Params
	require.Len(t, new(runlength.Encoder).AppendInt64(nil, long, &p), 2)
	require.Equal(t, encoding.Params{1, 0, 0, 16}, p)
}

func TestRuns(t *testing.T) {
	require.Zero(t, runlength.Runs([]int32{}))
	require.Equal(t, 3, runlength.Runs([]int64{1, 1, 2, 1, 1}))
}

func TestCorrupt(t *testing.T) {
	var p encoding.Params
	src := []int64{7, 7, 7, 9, 9, 1000, 1000}
	body := new(runlength.Encoder).AppendInt64(nil, src, &p)
	var d runlength.Decoder
	dst := make([]int64, len(src))
	for i := range encoding.NumParams {
		for _, v := range []int64{math.MinInt64, math.MinInt32, -65, -1, 0, 1, 2, 8, 17, 65, 65535, math.MaxInt32, math.MaxInt64} {
			q := p
			q[i] = v
			for _, b := range [][]byte{body, body[:len(body)-1], nil, make([]byte, 100)} {
				if err := d.Int64(dst, &q, b); err != nil {
					require.ErrorIs(t, err, encoding.ErrCorrupt)
				}
				if err := d.Int32(make([]int32, len(src)), &q, b); err != nil {
					require.ErrorIs(t, err, encoding.ErrCorrupt)
				}
			}
		}
	}
	for n := range 20 {
		if n != len(src) {
			require.ErrorIs(t, d.Int64(make([]int64, n), &p, body), encoding.ErrCorrupt)
		}
	}
	b := runlength.AppendInt64(nil, src)
	for n := range b {
		_, err := runlength.DecodeInt64(dst, b[:n])
		require.ErrorIs(t, err, encoding.ErrCorrupt)
	}
}

func TestAllocs(t *testing.T) {
	var e runlength.Encoder
	var d runlength.Decoder
	var p encoding.Params
	src := make([]int64, 128)
	for i := range src {
		src[i] = int64(i / 3)
	}
	body := e.AppendInt64(nil, src, &p)
	require.NoError(t, d.Int64(src, &p, body))
	require.Zero(t, testing.AllocsPerRun(10, func() { d.Int64(src, &p, body) }))
	require.Zero(t, testing.AllocsPerRun(10, func() { e.AppendInt64(body[:0], src, &p) }))
}

func FuzzDecode(f *testing.F) {
	f.Add(runlength.AppendInt64(nil, []int64{1, 1, 1, 5, 5, -9}), uint16(6))
	f.Add(runlength.AppendInt64(nil, make([]int64, 3000)), uint16(3000))
	f.Add([]byte{}, uint16(0))
	f.Fuzz(func(t *testing.T, src []byte, n uint16) {
		dst, again := make([]int64, n), make([]int64, n)
		if _, err := runlength.DecodeInt32(make([]int32, n), src); err != nil {
			require.ErrorIs(t, err, encoding.ErrCorrupt)
		}
		if _, err := runlength.DecodeInt64(dst, src); err != nil {
			require.ErrorIs(t, err, encoding.ErrCorrupt)
			return
		}
		_, err := runlength.DecodeInt64(again, runlength.AppendInt64(nil, dst))
		require.NoError(t, err)
		require.Equal(t, dst, again)
	})
}
