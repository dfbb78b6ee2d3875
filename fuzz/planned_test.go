package fuzz

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/alp"
	"github.com/colsst/colsst/encoding/bss"
	"github.com/colsst/colsst/encoding/bytestrings"
	"github.com/colsst/colsst/encoding/deltadelta"
	"github.com/colsst/colsst/encoding/dict"
	"github.com/colsst/colsst/encoding/function"
	"github.com/colsst/colsst/encoding/runlength"
	"github.com/colsst/colsst/simd"
)

// planned is one codec's planned form, over the bits of its values.
type planned struct {
	name   string
	len    func(p *encoding.Params, n int) (int, error)
	decode func(n int, p *encoding.Params, body []byte) ([]uint64, error)
	// encoder is a new encoder, of chunks that follow one another.
	encoder func() func(bits []uint64, p *encoding.Params) []byte

	// bits is what decode makes of values with those bits.
	bits func(bits []uint64) []uint64

	// What the parameters of n values alone say of them, as integers of size
	// bits, where the codec has that.
	size uint
	ramp func(p *encoding.Params, n int) (encoding.Ramp, bool)
}

// encoder is what encodes values of type T.
type encoder[T any] func(dst []byte, src []T, p *encoding.Params) []byte

// plan makes a planned codec of its functions over values of type T.
func plan[T any](name string, length func(*encoding.Params, int) (int, error), dec func([]T, *encoding.Params, []byte) error,
	enc func() encoder[T], to func(uint64) T, from func(T) uint64) planned {
	return planned{name: name, len: length,
		decode: func(n int, p *encoding.Params, body []byte) ([]uint64, error) {
			v := make([]T, n)
			err := dec(v, p, body)
			bits := make([]uint64, n)
			for i, x := range v {
				bits[i] = from(x)
			}
			return bits, err
		},
		encoder: func() func([]uint64, *encoding.Params) []byte {
			e := enc()
			return func(bits []uint64, p *encoding.Params) []byte {
				v := make([]T, len(bits))
				for i, b := range bits {
					v[i] = to(b)
				}
				return e(nil, v, p)
			}
		},
		bits: func(bits []uint64) []uint64 {
			out := make([]uint64, len(bits))
			for i, b := range bits {
				out[i] = from(to(b))
			}
			return out
		}}
}

// planStrings is plan of byte strings.
func planStrings(name string, length func(*encoding.Params, int) (int, error),
	dec func(*bytestrings.Strings, int, *encoding.Params, []byte, int) error, enc func() func([]byte, *bytestrings.Strings, *encoding.Params) []byte) planned {
	return planned{name: name, len: length,
		decode: func(n int, p *encoding.Params, body []byte) (bits []uint64, err error) {
			var s bytestrings.Strings
			err = dec(&s, n, p, body, 10*encoding.MaxGroupRows)
			return bitsOf(&s), err
		},
		encoder: func() func([]uint64, *encoding.Params) []byte {
			e := enc()
			return func(bits []uint64, p *encoding.Params) []byte {
				s := stringsOf(bits)
				return e(nil, &s, p)
			}
		},
		bits: func(bits []uint64) []uint64 {
			s := stringsOf(bits)
			return bitsOf(&s)
		}}
}

// bitsOf are the ends and the bytes of s.
func bitsOf(s *bytestrings.Strings) (bits []uint64) {
	for _, end := range s.Ends {
		bits = append(bits, uint64(end))
	}
	for _, c := range s.Data {
		bits = append(bits, uint64(c))
	}
	return bits
}

// stringsOf cuts up to 9 bytes out of each of the bits.
func stringsOf(bits []uint64) (s bytestrings.Strings) {
	for _, x := range bits {
		b := binary.BigEndian.AppendUint64([]byte("a"), x)
		_ = s.Append(b[x%5 : 5+x>>3%5])
	}
	return s
}

// others are the columns that a function refers to: value i of x lies in a
// ramp, and y is a progression.
type others struct{ x, y encoding.Ramp }

func (o *others) columns(n int) (x, y []int64) {
	x, y = make([]int64, n), make([]int64, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range x {
		x[i] = o.x.First + int64(i)*o.x.Step + int64(r.Uint64()&o.x.Spread)
		y[i] = o.y.First + int64(i)*o.y.Step
	}
	return x, y
}

func (o *others) planned() planned {
	c := plan("function", function.Len, func(v []int64, p *encoding.Params, body []byte) error {
		x, y := o.columns(len(v))
		return new(function.Decoder).Decode(v, x, y, p, body)
	}, func() encoder[int64] {
		e := new(function.Encoder)
		return func(dst []byte, v []int64, p *encoding.Params) []byte {
			x, y := o.columns(len(v))
			return e.Append(dst, v, x, y, function.Plan{A: 1, D: 1000, X: 1, Y: 2}, p)
		}
	}, i64, u64)
	c.size = 64
	c.ramp = func(p *encoding.Params, n int) (encoding.Ramp, bool) {
		y := o.y
		if p[7] == 0 { // no y
			y = encoding.Ramp{}
		}
		return function.RampOf(p, n, o.x, y)
	}
	return c
}

func plannedCodecs(o *others) []planned {
	dd64 := plan("deltadelta int64", deltadelta.Int64Len, func(v []int64, p *encoding.Params, body []byte) error {
		return sparse(v, p, body, new(deltadelta.Decoder).Int64(v, p, body))
	}, func() encoder[int64] { return new(deltadelta.Encoder).AppendInt64 }, i64, u64)
	dd32 := plan("deltadelta int32", deltadelta.Int32Len, func(v []int32, p *encoding.Params, body []byte) error {
		return new(deltadelta.Decoder).Int32(v, p, body)
	}, func() encoder[int32] { return new(deltadelta.Encoder).AppendInt32 }, i32, u32)
	dd64.size, dd32.size = 64, 32
	dd64.ramp = func(p *encoding.Params, _ int) (encoding.Ramp, bool) { return deltadelta.RampOf(p, 64) }
	dd32.ramp = func(p *encoding.Params, _ int) (encoding.Ramp, bool) { return deltadelta.RampOf(p, 32) }
	return []planned{
		dd64, dd32, o.planned(),
		plan("alp float64", alp.Float64Len, func(v []float64, p *encoding.Params, body []byte) error {
			return new(alp.Decoder).Float64(v, p, body)
		}, func() encoder[float64] { return new(alp.Encoder).AppendFloat64 }, math.Float64frombits, math.Float64bits),
		plan("alp float32", alp.Float32Len, func(v []float32, p *encoding.Params, body []byte) error {
			return new(alp.Decoder).Float32(v, p, body)
		}, func() encoder[float32] { return new(alp.Encoder).AppendFloat32 }, f32, fb32),
		plan("runlength int64", runlength.Int64Len, func(v []int64, p *encoding.Params, body []byte) error {
			return new(runlength.Decoder).Int64(v, p, body)
		}, func() encoder[int64] { return new(runlength.Encoder).AppendInt64 }, i64, u64),
		plan("runlength int32", runlength.Int32Len, func(v []int32, p *encoding.Params, body []byte) error {
			return new(runlength.Decoder).Int32(v, p, body)
		}, func() encoder[int32] { return new(runlength.Encoder).AppendInt32 }, i32, u32),
		plan("bss float64", bss.Float64Len, func(v []float64, p *encoding.Params, body []byte) error {
			_, err := bss.DecodeFloat64(v, body)
			return err
		}, func() encoder[float64] { return plain(bss.AppendFloat64) }, math.Float64frombits, math.Float64bits),
		plan("bss int32", bss.Int32Len, func(v []int32, p *encoding.Params, body []byte) error {
			_, err := bss.DecodeInt32(v, body)
			return err
		}, func() encoder[int32] { return plain(bss.AppendInt32) }, i32, u32),
		planStrings("length_bytes", bytestrings.LengthBytesLen, func(s *bytestrings.Strings, n int, p *encoding.Params, body []byte, limit int) error {
			return new(bytestrings.Decoder).LengthBytes(s, n, p, body, limit)
		}, func() func([]byte, *bytestrings.Strings, *encoding.Params) []byte {
			return new(bytestrings.Encoder).AppendLengthBytes
		}),
		planStrings("front_coded", bytestrings.FrontCodedLen, func(s *bytestrings.Strings, n int, p *encoding.Params, body []byte, limit int) error {
			return new(bytestrings.Decoder).FrontCoded(s, n, p, body, limit)
		}, func() func([]byte, *bytestrings.Strings, *encoding.Params) []byte {
			return new(bytestrings.Encoder).AppendFrontCoded
		}),
		planStrings("dictionary", dict.Len, func(s *bytestrings.Strings, n int, p *encoding.Params, body []byte, limit int) error {
			return new(dict.Decoder).Decode(s, n, p, body, limit)
		}, func() func([]byte, *bytestrings.Strings, *encoding.Params) []byte { return new(dict.Encoder).Append }),
	}
}

// plain is an encoder without parameters.
func plain[T any](enc func([]byte, []T) []byte) encoder[T] {
	return func(dst []byte, src []T, p *encoding.Params) []byte {
		*p = encoding.Params{}
		return enc(dst, src)
	}
}

// sparse is err, the outcome of decoding v, unless Sparse says otherwise.
func sparse(v []int64, p *encoding.Params, body []byte, err error) error {
	at, values, ok, other := new(deltadelta.Decoder).Sparse(p, len(v), body)
	switch {
	case !ok && other == nil:
		return err
	case (err == nil) != (other == nil):
		return errors.New("Sparse does not agree on what is corrupt")
	case err != nil:
		return err
	}
	dense := make([]int64, len(v))
	for i, k := range at {
		dense[k] = values[i]
	}
	if !slices.Equal(dense, v) {
		return errors.New("Sparse finds other values")
	}
	return nil
}

// checkPlanned decodes n values with any parameters from a body that repeats
// data. All levels, and a body with any bytes behind it, give the same values
// or the same error, and that is a CorruptError.
func checkPlanned(t interface {
	Helper()
	Fatalf(string, ...any)
}, c *planned, n int, p encoding.Params, data []byte) {
	t.Helper()
	failed := func(what string, args ...any) {
		t.Helper()
		t.Fatalf("%s, %d values, parameters %v: "+what, append([]any{c.name, n, p}, args...)...)
	}
	size, err := c.len(&p, n)
	if err != nil {
		if !errors.Is(err, encoding.ErrCorrupt) {
			failed("%v", err)
		}
		size = min(len(data), 1000) // refused by the decoder as well
	}
	if size < 0 || size > 1<<21 {
		if size < 0 || c.size != 0 {
			failed("a body of %d bytes", size)
		}
		return // of strings
	}
	body := make([]byte, size, size+100)
	for i := range body {
		if len(data) > 0 {
			body[i] = data[i%len(data)]
		}
	}
	spare := body[size:cap(body)]
	for i := range spare {
		spare[i] = byte(7*i) | 0x81
	}
	var want []uint64
	var wantErr error
	for l := simd.Generic; l <= simd.Supported(); l++ {
		for _, b := range [][]byte{slices.Clip(bytes.Clone(body)), body} {
			restore := simd.SetLevel(l)
			got, gotErr := c.decode(n, &p, b)
			restore()
			switch {
			case gotErr != nil && !errors.Is(gotErr, encoding.ErrCorrupt) && !errors.Is(gotErr, bytestrings.ErrTooLarge):
				failed("%v: %v", l, gotErr)
			case err != nil && gotErr == nil && c.name[:3] != "bss":
				failed("%v decodes what has no length: %v", l, err)
			case l == simd.Generic && wantErr == nil && want == nil:
				want, wantErr = got, gotErr
			case (gotErr == nil) != (wantErr == nil) || gotErr != nil && gotErr.Error() != wantErr.Error():
				failed("%v says %v, generic %v", l, gotErr, wantErr)
			case gotErr == nil && !slices.Equal(got, want):
				failed("%v, %d bytes of room: %x, generic %x", l, cap(b)-len(b), got, want)
			}
		}
	}
	if c.ramp == nil {
		return
	}
	r, ok := c.ramp(&p, n)
	if !ok || n == 0 {
		return
	}
	if err != nil || size != r.Len(n) || wantErr != nil {
		failed("ramp %+v with a body of %d: %v, %v", r, size, err, wantErr)
	}
	for i, v := range want {
		if u := v - uint64(r.First+int64(i)*r.Step); u<<(64-c.size)>>(64-c.size) > r.Spread {
			failed("value %d is %x, not of ramp %+v", i, v, r)
		}
	}
}

// hostile draws numbers that parameters should not be, among others.
func hostile() *rapid.Generator[int64] {
	return rapid.OneOf(rapid.Just(int64(0)), rapid.Just(int64(1)), rapid.Int64Range(-70, 70), rapid.Int64Range(-1<<17, 1<<17),
		rapid.SampledFrom([]int64{math.MinInt64, math.MinInt64 + 1, math.MaxInt64, math.MinInt32 - 1, math.MinInt32, math.MaxInt32, math.MaxInt32 + 1,
			math.MaxUint32, 1 << 24, 1<<24 + 1, 1 << 51, 1<<51 + 1, -1 << 51, -1<<51 - 1, 1e6, 1 << 62}), rapid.Int64())
}

// plausible draws parameter i such that many a codec takes it.
func plausible(t *rapid.T, i int) int64 {
	switch {
	case i == 0:
		return rapid.Int64Range(0, 6).Draw(t, "form")
	case rapid.IntRange(0, 2).Draw(t, "none") == 0:
		return 0
	case i == 2:
		return hostile().Draw(t, "base") >> rapid.IntRange(0, 60).Draw(t, "by")
	case i == 3:
		return rapid.Int64Range(0, 64).Draw(t, "width")
	case i == 5:
		return rapid.Int64Range(-20, 20).Draw(t, "patch width")
	}
	return rapid.SampledFrom([]int64{1, 1, 2, 3, 7, 8, 9, 12, 16, 33, 64, 1000, -1}).Draw(t, "parameter")
}

// someValues makes bits of values of one kind, among them such as codecs
// dislike: those that follow one another go on.
func someValues(t *rapid.T) func(n int) []uint64 {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "values"), 3))
	kind, w := rapid.IntRange(0, 7).Draw(t, "kind"), rapid.IntRange(0, 64).Draw(t, "width")
	next, step := uint64(hostile().Draw(t, "first")), uint64(hostile().Draw(t, "step"))
	odd := rapid.SampledFrom([]int{0, 0, 1, 30}).Draw(t, "odd per mille")
	return func(n int) []uint64 {
		bits := make([]uint64, n)
		for i := range bits {
			noise := r.Uint64() & (1<<w - 1)
			switch kind {
			case 0:
				bits[i] = noise
			case 1:
				bits[i] = next + noise
				next += step
			case 2:
				bits[i] = math.Float64bits(float64(int64(noise)>>20) / 100)
			case 3:
				bits[i] = uint64(math.Float32bits(float32(int32(noise)>>20) / 8))
			case 4:
				bits[i] = 0x7ff0_0000_0000_0000 | noise | r.Uint64()&1<<63 // infinities and NaNs
			case 5:
				bits[i] = 0x7f80_0000 | noise&0x807f_ffff
			case 6:
				bits[i] = []uint64{0, 1 << 63, 1 << 31, 1<<63 - 1, 1<<31 - 1}[r.IntN(5)]
			case 7:
				bits[i] = next
			}
			if r.IntN(1000) < odd {
				bits[i] = r.Uint64()
			}
		}
		return bits
	}
}

// Chunks that follow one another come back, whatever came before, and all
// levels write the same.
func TestHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := someOthers(t)
		codecs := plannedCodecs(&o)
		c := &codecs[rapid.IntRange(0, len(codecs)-1).Draw(t, "codec")]
		n := rapid.SampledFrom([]int{1, 2, 3, 7, 16, 17, 60, 128, 511, 512, 513, 1000}).Draw(t, "n")
		chunks := rapid.IntRange(1, 16).Draw(t, "chunks")
		if rapid.IntRange(0, 60).Draw(t, "large") == 0 {
			n, chunks = encoding.MaxGroupRows, 2
		}
		kinds := []func(int) []uint64{someValues(t), someValues(t)}
		var encoders []func([]uint64, *encoding.Params) []byte
		for range simd.Supported() + 1 {
			encoders = append(encoders, c.encoder())
		}
		for chunk := range chunks {
			k := n
			if rapid.IntRange(0, 5).Draw(t, "short") == 0 {
				k = rapid.IntRange(0, n).Draw(t, "length")
			}
			bits := kinds[max(0, rapid.IntRange(-3, 1).Draw(t, "which"))](k)
			var first encoding.Params
			var body []byte
			for l, enc := range encoders {
				var p encoding.Params
				restore := simd.SetLevel(simd.Level(l))
				b := enc(bits, &p)
				got, err := c.decode(k, &p, b)
				restore()
				if size, other := c.len(&p, k); err != nil || other != nil || size != len(b) {
					t.Fatalf("%s, chunk %d of %d values, %v: parameters %v: %d bytes, want %d, %v, %v", c.name, chunk, k, simd.Level(l), p, len(b), size, err, other)
				}
				if want := c.bits(bits); !slices.Equal(got, want) {
					t.Fatalf("%s, chunk %d of %d values, %v: parameters %v: %x, want %x", c.name, chunk, k, simd.Level(l), p, got, want)
				}
				if l == 0 {
					first, body = p, b
				} else if p != first || !bytes.Equal(b, body) {
					t.Fatalf("%s, chunk %d of %d values: %v writes %v, generic %v", c.name, chunk, k, simd.Level(l), p, first)
				}
			}
		}
	})
}

func someOthers(t *rapid.T) others {
	return others{
		x: encoding.Ramp{First: hostile().Draw(t, "x first"), Step: hostile().Draw(t, "x step"), Spread: 1<<rapid.IntRange(0, 40).Draw(t, "x spread") - 1},
		y: encoding.Ramp{First: hostile().Draw(t, "y first"), Step: hostile().Draw(t, "y step")},
	}
}

func TestPlanned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := someOthers(t)
		codecs := plannedCodecs(&o)
		c := &codecs[rapid.IntRange(0, len(codecs)-1).Draw(t, "codec")]
		n := rapid.OneOf(rapid.IntRange(0, 40), rapid.SampledFrom([]int{63, 64, 65, 127, 128, 129, 1000, 1024, 1025})).Draw(t, "n")
		if rapid.IntRange(0, 40).Draw(t, "large") == 0 {
			n = encoding.MaxGroupRows
		}
		// Parameters that may be sound, or sound ones, of which some change.
		var p encoding.Params
		var body []byte
		if rapid.Bool().Draw(t, "sound") {
			body = c.encoder()(someValues(t)(n), &p)
		} else {
			for i := range p {
				p[i] = plausible(t, i)
			}
		}
		for range max(0, rapid.IntRange(-2, 2).Draw(t, "changes")) {
			p[rapid.IntRange(0, len(p)-1).Draw(t, "parameter")] = hostile().Draw(t, "to")
		}
		for range rapid.IntRange(0, 3).Draw(t, "bytes") {
			if len(body) > 0 { // more at the end, where patches and exceptions are
				i := max(rapid.IntRange(0, len(body)-1).Draw(t, "byte"), rapid.IntRange(0, len(body)-1).Draw(t, "or"))
				body[i] ^= rapid.Byte().Draw(t, "flip")
			}
		}
		if len(body) == 0 {
			body = rapid.SliceOfN(rapid.Byte(), 0, 90).Draw(t, "body")
		}
		checkPlanned(t, c, n, p, body)
	})
}

// No parameters make a chunk of fewer than no values.
func TestNegativeCounts(t *testing.T) {
	for _, c := range plannedCodecs(&others{}) {
		for _, n := range []int{-1, -8, math.MinInt32} {
			for _, first := range []int64{0, 1, 2, 5, int64(n)} {
				for _, other := range []int64{0, 1, int64(n)} {
					p := encoding.Params{first, other, 6: other}
					if size, err := c.len(&p, n); !errors.Is(err, encoding.ErrCorrupt) {
						t.Errorf("%s, %d values, parameters %v: %d bytes, %v", c.name, n, p, size, err)
					}
				}
			}
		}
	}
}

// FuzzPlanned decodes anything with the parameters that data begins with.
func FuzzPlanned(f *testing.F) {
	ticks, decimals := make([]uint64, 130), make([]uint64, 130)
	for i := range ticks {
		ticks[i] = uint64(1_780_000_000 + 5*i + i%3)
		decimals[i] = math.Float64bits(float64(i*37%1000) / 100)
	}
	o := others{encoding.Ramp{First: 1_780_000_000, Step: 5, Spread: 3}, encoding.Ramp{First: 60}}
	for i, c := range plannedCodecs(&o) {
		for _, bits := range [][]uint64{ticks, decimals, ticks[:1]} {
			var p encoding.Params
			body := c.encoder()(bits, &p)
			f.Add(uint8(i), uint16(len(bits)), append(encoding.AppendParams(nil, &p), body...))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, n uint16, data []byte) {
		p, body, err := encoding.ReadParams("test", data)
		if err != nil {
			return
		}
		codecs := plannedCodecs(&o)
		checkPlanned(t, &codecs[int(which)%len(codecs)], int(n), p, body)
	})
}
