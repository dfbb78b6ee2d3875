package page

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func drawValues(t *rapid.T, typ format.Type) *Values {
	v := new(Values)
	length := 0
	if typ == format.FixedLenByteArray {
		length = rapid.IntRange(1, 17).Draw(t, "length")
	}
	v.Init(typ, length)
	n := rapid.SampledFrom([]int{0, 1, 2, 7, 8, 33, 65, 129, 130, 300, 1025}).Draw(t, "n")
	small := rapid.Bool().Draw(t, "small")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	for range n {
		x := r.Uint64()
		if small {
			x %= 3
		}
		switch typ {
		case format.Boolean:
			v.I32 = append(v.I32, int32(x&1))
		case format.Int32:
			v.I32 = append(v.I32, int32(x))
		case format.Int64:
			v.I64 = append(v.I64, int64(x))
		case format.Float:
			v.F32 = append(v.F32, math.Float32frombits(uint32(x)))
		case format.Double:
			v.F64 = append(v.F64, math.Float64frombits(x))
		case format.ByteArray:
			require.NoError(t, v.Str.Append([]byte(fmt.Sprint(x))))
		default:
			b := make([]byte, length)
			for i := range b {
				b[i] = byte(x >> (i % 8 * 8))
			}
			require.NoError(t, v.Str.Append(b))
		}
	}
	return v
}

func requireSame(t require.TestingT, want, got *Values) {
	require.Equal(t, want.Len(), got.Len())
	for i := range want.Len() {
		switch want.Type {
		case format.Boolean, format.Int32:
			require.Equal(t, want.I32[i], got.I32[i])
		case format.Int64:
			require.Equal(t, want.I64[i], got.I64[i])
		case format.Float:
			require.Equal(t, math.Float32bits(want.F32[i]), math.Float32bits(got.F32[i]))
		case format.Double:
			require.Equal(t, math.Float64bits(want.F64[i]), math.Float64bits(got.F64[i]))
		default:
			require.Equal(t, string(want.Str.At(i)), string(got.Str.At(i)))
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for typ := format.Boolean; typ <= format.FixedLenByteArray; typ++ {
		if typ == format.Int96 {
			continue
		}
		for e := format.Plain; e <= format.ByteStreamSplit; e++ {
			if !Holds(typ, e) || e == format.RLEDictionary {
				continue
			}
			t.Run(fmt.Sprint(typ, e), func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) {
					v := drawValues(t, typ)
					n := v.Len()
					from := rapid.IntRange(0, n).Draw(t, "from")
					b, err := Append(nil, v, from, n, e)
					require.NoError(t, err)
					var r Reader
					require.NoError(t, r.Reset(typ, v.Length, e, b, n-from, nil))
					var want, got Values
					want.Init(typ, v.Length)
					got.Init(typ, v.Length)
					require.NoError(t, want.AppendRange(v, from, n))
					k := (n - from) / 3
					require.NoError(t, r.Next(&got, k))
					require.NoError(t, r.Next(&got, n-from-k))
					requireSame(t, &want, &got)
					require.Error(t, r.Next(&got, 1))
				})
			})
		}
		t.Run(fmt.Sprint(typ, " dictionary"), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				v := drawValues(t, typ)
				var d Dictionary
				require.True(t, d.Build(v, 1<<20, 1<<20))
				plain, err := Append(nil, &d.Values, 0, d.Values.Len(), format.Plain)
				require.NoError(t, err)
				var dict, got Values
				dict.Init(typ, v.Length)
				got.Init(typ, v.Length)
				require.NoError(t, DecodePlain(&dict, plain, d.Values.Len()))
				var r Reader
				require.NoError(t, r.Reset(typ, v.Length, format.RLEDictionary, d.AppendIndexes(nil, 0, v.Len()), v.Len(), &dict))
				require.NoError(t, r.Next(&got, v.Len()))
				requireSame(t, v, &got)
			})
		})
	}
}

// T30: the widths of miniblocks behind the last value are there and 0, without
// bodies, and any are read.
func TestUnusedMiniblocks(t *testing.T) {
	for _, n := range []int{1, 2, 33, 65, 129, 130} {
		v := make([]int64, n)
		for i := range v {
			v[i] = int64(i * i)
		}
		b := appendDelta64(nil, v)
		var theirs delta.BinaryPackedEncoding
		got, err := theirs.DecodeInt64(nil, b)
		require.NoError(t, err)
		require.Equal(t, v, got)
		h, err := parseDeltaHeader(b)
		require.NoError(t, err)
		at := h.prefix
		for left := n - 1; left > 0; left -= h.mini * h.minis {
			at++ // a least delta of one byte in these data, or two
			for b[at-1] >= 0x80 {
				at++
			}
			for m := range miniblocks {
				if m*h.mini < left {
					continue
				}
				require.Zero(t, b[at+m])
				b[at+m] = 165
			}
			used := 0
			for m := range miniblocks {
				if m*h.mini < left {
					used += int(b[at+m]) * h.mini / 8
				}
			}
			at += miniblocks + used
		}
		require.Len(t, b, max(at, h.prefix))
		got, rest, err := decodeDelta64(nil, b, n)
		require.NoError(t, err)
		require.Empty(t, rest)
		require.Equal(t, v, got)
	}
}

// What others write of levels reads back, and they read ours.
func TestHybridOfOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.IntRange(1, 8).Draw(t, "width")
		var levels []uint8
		for range rapid.IntRange(0, 20).Draw(t, "runs") {
			x := rapid.Uint8Range(0, uint8(1<<w-1)).Draw(t, "level")
			for range rapid.IntRange(1, 30).Draw(t, "n") {
				levels = append(levels, x)
			}
		}
		theirs := rle.Encoding{BitWidth: w}
		b, err := theirs.EncodeLevels(nil, levels)
		require.NoError(t, err)
		want := make([]uint32, len(levels))
		for i, x := range levels {
			want[i] = uint32(x)
		}
		for _, src := range [][]byte{b, AppendHybrid(nil, levels, uint(w))} {
			var h Hybrid
			require.NoError(t, h.Reset(src, uint(w)))
			got := make([]uint32, len(levels))
			k := rapid.IntRange(0, len(levels)).Draw(t, "k")
			require.NoError(t, h.Next(got[:k]))
			require.NoError(t, h.Next(got[k:]))
			require.Equal(t, want, got)
		}
		got, err := theirs.DecodeLevels(nil, AppendHybrid(nil, levels, uint(w)))
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(got), len(levels))
		require.Equal(t, string(levels), string(got[:len(levels)]))
	})
}

func TestCodecs(t *testing.T) {
	c := TakeCodec()
	defer c.Return()
	text := []byte{}
	for i := range 3000 {
		text = fmt.Append(text, i*i)
	}
	for _, how := range []format.CompressionCodec{format.Uncompressed, format.Snappy, format.Gzip, format.Lz4Raw, format.Zstd} {
		b, err := c.Compress([]byte("x"), how, text)
		require.NoError(t, err)
		got, err := c.Decompress([]byte("y"), how, b[1:], len(text))
		require.NoError(t, err, how)
		require.Equal(t, "y"+string(text), string(got))
		for _, n := range []int{len(text) - 1, len(text) + 1, MaxBytes} {
			_, err = c.Decompress(nil, how, b[1:], n)
			require.Error(t, err, how)
		}
	}
}

// Damage is an error or other values, never a panic.
func TestDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for typ := format.Boolean; typ <= format.FixedLenByteArray; typ++ {
		for e := format.Plain; e <= format.ByteStreamSplit; e++ {
			if !Holds(typ, e) {
				continue
			}
			for range 300 {
				n := r.IntN(300)
				src := make([]byte, r.IntN(60))
				for i := range src {
					x := r.Uint32()
					src[i] = byte(x) & byte(x>>8) & byte(x>>16)
				}
				var rd Reader
				var dict, got Values
				dict.Init(typ, 4)
				dict.AppendZeros(3)
				got.Init(typ, 4)
				if rd.Reset(typ, 4, e, src, n, &dict) == nil {
					_ = rd.Next(&got, n) // an error or not
				}
			}
		}
	}
}
