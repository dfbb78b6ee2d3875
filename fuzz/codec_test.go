package fuzz

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/alp"
	"github.com/colsst/colsst/encoding/bss"
	"github.com/colsst/colsst/encoding/bytestrings"
	"github.com/colsst/colsst/encoding/deltadelta"
	"github.com/colsst/colsst/encoding/dict"
	"github.com/colsst/colsst/encoding/raw"
	"github.com/colsst/colsst/encoding/runlength"
	"github.com/colsst/colsst/simd"
)

// codec is one codec's self-contained form over the bits of its values.
type codec struct {
	name   string
	size   int // bytes of a value
	append func(bits []uint64) []byte
	decode func(n int, src []byte) ([]uint64, []byte, error)
}

// of makes a codec of a pair of functions over values of type T.
func of[T any](name string, size int, app func([]byte, []T) []byte, dec func([]T, []byte) ([]byte, error), to func(uint64) T, from func(T) uint64) codec {
	return codec{name, size,
		func(bits []uint64) []byte {
			v := make([]T, len(bits))
			for i, b := range bits {
				v[i] = to(b)
			}
			return app(nil, v)
		},
		func(n int, src []byte) ([]uint64, []byte, error) {
			v := make([]T, n)
			rest, err := dec(v, src)
			bits := make([]uint64, n)
			for i, x := range v {
				bits[i] = from(x)
			}
			return bits, rest, err
		}}
}

func i64(b uint64) int64    { return int64(b) }
func u64(v int64) uint64    { return uint64(v) }
func i32(b uint64) int32    { return int32(uint32(b)) }
func u32(v int32) uint64    { return uint64(uint32(v)) }
func fb32(v float32) uint64 { return uint64(math.Float32bits(v)) }
func f32(b uint64) float32  { return math.Float32frombits(uint32(b)) }

var codecs = []codec{
	of("deltadelta int64", 8, deltadelta.AppendInt64, deltadelta.DecodeInt64, i64, u64),
	of("deltadelta int32", 4, deltadelta.AppendInt32, deltadelta.DecodeInt32, i32, u32),
	of("runlength int64", 8, runlength.AppendInt64, runlength.DecodeInt64, i64, u64),
	of("runlength int32", 4, runlength.AppendInt32, runlength.DecodeInt32, i32, u32),
	of("raw int64", 8, raw.AppendInt64, raw.DecodeInt64, i64, u64),
	of("raw float32", 4, raw.AppendFloat32, raw.DecodeFloat32, f32, fb32),
	of("alp float64", 8, alp.AppendFloat64, alp.DecodeFloat64, math.Float64frombits, math.Float64bits),
	of("alp float32", 4, alp.AppendFloat32, alp.DecodeFloat32, f32, fb32),
	of("bss float64", 8, bss.AppendFloat64, bss.DecodeFloat64, math.Float64frombits, math.Float64bits),
	of("bss float32", 4, bss.AppendFloat32, bss.DecodeFloat32, f32, fb32),
}

// FuzzCodec encodes any values with every codec, checks that they come back
// and how large they are, and that all levels encode them alike and decode a
// damaged body alike.
func FuzzCodec(f *testing.F) {
	regular := make([]byte, 0, 8*200)
	for i := range 200 {
		regular = binary.LittleEndian.AppendUint64(regular, uint64(1_700_000_000_000+int64(i)*5000+int64(i*i%7)))
	}
	decimals := make([]byte, 0, 8*200)
	for i := range 200 {
		decimals = binary.LittleEndian.AppendUint64(decimals, math.Float64bits(float64(i*37%1000)/100))
	}
	f.Add(regular, 3, byte(1))
	f.Add(decimals, 90, byte(0x80))
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\xf0\x7f\x01\x00\x00\x00\x00\x00\x00\x80"), 0, byte(255))
	f.Fuzz(func(t *testing.T, data []byte, at int, flip byte) {
		for _, c := range codecs {
			n := min(len(data)/c.size, 3000)
			bits := make([]uint64, n)
			for i := range bits {
				for k := range c.size {
					bits[i] |= uint64(data[i*c.size+k]) << (8 * k)
				}
			}
			enc := c.append(bits)
			if limit := n*c.size + n*c.size/100 + 32*(n/1024+1); len(enc) > limit {
				t.Fatalf("%s: %d bytes for %d values", c.name, len(enc), n)
			}
			for l := simd.Generic; l < simd.Current(); l++ {
				restore := simd.SetLevel(l)
				other := c.append(bits)
				restore()
				if !bytes.Equal(other, enc) {
					t.Fatalf("%s: %v and %v write other bytes", c.name, l, simd.Current())
				}
			}
			got, rest, err := c.decode(n, append(bytes.Clone(enc), 1, 2, 3))
			if err != nil || len(rest) != 3 {
				t.Fatalf("%s: %v, %d bytes left", c.name, err, len(rest))
			}
			for i := range bits {
				if got[i] != bits[i] {
					t.Fatalf("%s: value %d of %d: %016x, want %016x", c.name, i, n, got[i], bits[i])
				}
			}
			if len(enc) == 0 {
				continue
			}
			enc[int(uint(at)%uint(len(enc)))] ^= flip
			var first []uint64
			var firstErr error
			for l := simd.Generic; l <= simd.Supported(); l++ {
				restore := simd.SetLevel(l)
				got, _, err := c.decode(n, enc)
				restore()
				if err != nil && !errors.Is(err, encoding.ErrCorrupt) && !errors.Is(err, encoding.ErrUnsupported) {
					t.Fatalf("%s: %v", c.name, err)
				}
				if l == simd.Generic {
					first, firstErr = got, err
					continue
				}
				if (err == nil) != (firstErr == nil) {
					t.Fatalf("%s: %v says %v, generic %v", c.name, l, err, firstErr)
				}
				for i := range first {
					if err == nil && got[i] != first[i] {
						t.Fatalf("%s: %v and generic differ at %d", c.name, l, i)
					}
				}
			}
		}
	})
}

// FuzzStrings does the like for byte strings, cut out of data at every byte sep.
func FuzzStrings(f *testing.F) {
	f.Add([]byte("GET,GET,POST,,host01,host02,host02"), byte(','), 5, byte(1))
	f.Add(bytes.Repeat([]byte("abcdefgh"), 40), byte('h'), 1, byte(64))
	f.Fuzz(func(t *testing.T, data []byte, sep byte, at int, flip byte) {
		var src bytestrings.Strings
		for _, s := range bytes.Split(data, []byte{sep}) {
			if err := src.Append(s); err != nil {
				t.Fatal(err)
			}
		}
		limit := len(data) + 1
		for _, c := range []struct {
			name   string
			append func([]byte, *bytestrings.Strings) []byte
			decode func(*bytestrings.Strings, int, []byte, int) ([]byte, error)
		}{
			{"length_bytes", bytestrings.AppendBytes, bytestrings.DecodeBytes},
			{"dictionary", dict.AppendBytes, dict.DecodeBytes},
		} {
			enc := c.append(nil, &src)
			var got bytestrings.Strings
			rest, err := c.decode(&got, src.Len(), enc, limit)
			if err != nil || len(rest) != 0 || !got.Equal(&src) {
				t.Fatalf("%s: %v, %d bytes left", c.name, err, len(rest))
			}
			enc[int(uint(at)%uint(len(enc)))] ^= flip
			got.Reset()
			if _, err := c.decode(&got, src.Len(), enc, limit); err != nil && !errors.Is(err, encoding.ErrCorrupt) {
				t.Fatalf("%s: %v", c.name, err)
			}
			if len(got.Data) > limit {
				t.Fatalf("%s: %d bytes beyond the limit", c.name, len(got.Data))
			}
		}
	})
}
