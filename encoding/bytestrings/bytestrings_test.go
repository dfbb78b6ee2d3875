package bytestrings_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bytestrings"
)

func of[T string | []byte](list ...T) *bytestrings.Strings {
	s := new(bytestrings.Strings)
	for _, b := range list {
		if err := s.Append([]byte(b)); err != nil {
			panic(err)
		}
	}
	return s
}

func ExampleAppendBytes() {
	b := bytestrings.AppendBytes(nil, of("cpu", "", "memory"))
	var got bytestrings.Strings
	rest, err := bytestrings.DecodeBytes(&got, 3, b, 1<<20)
	fmt.Printf("%d %q %q %q %d %v\n", len(b), got.At(0), got.At(1), got.At(2), len(rest), err)
	// Output: 14 "cpu" "" "memory" 0 <nil>
}

func ExampleEncoder() {
	var e bytestrings.Encoder
	var p encoding.Params
	body := e.AppendFrontCoded(nil, of("sensor-0001", "sensor-0002", "sensor-0010"), &p)
	lengths, payload := bytestrings.FrontCodedSplit(&p, 3)
	fmt.Println(lengths, payload)
	var d bytestrings.Decoder
	var got bytestrings.Strings
	err := d.FrontCoded(&got, 3, &p, body, 1<<20)
	fmt.Printf("%s %v\n", got.At(2), err)
	// Output:
	// 3 14
	// sensor-0010 <nil>
}

func TestStrings(t *testing.T) {
	s := of("a", "", "bc")
	require.Equal(t, 3, s.Len())
	require.Equal(t, "bc", string(s.At(2)))
	require.Empty(t, s.At(1))
	_ = append(s.At(0), 'x')
	require.Equal(t, "abc", string(s.Data))

	var u bytestrings.Strings
	require.NoError(t, u.AppendFrom(s, 1, 3))
	require.True(t, u.Equal(of("", "bc")))
	require.NoError(t, u.AppendFrom(&u, 0, 2))
	require.True(t, u.Equal(of("", "bc", "", "bc")))
	require.NoError(t, u.AppendFrom(s, 3, 3))
	u.Truncate(2)
	require.True(t, u.Equal(of("", "bc")))
	require.False(t, u.Equal(of("", "bd")))
	require.False(t, u.Equal(of("b", "c")))
	require.False(t, u.Equal(s))
	u.Reset()
	require.Zero(t, u.Len())

	var ends []uint32
	for i := range 4 {
		for j := i; j <= 3; j++ {
			v := s.View(i, j, &ends)
			require.Equal(t, j-i, v.Len())
			for k := range v.Len() {
				require.Equal(t, s.At(i+k), v.At(k))
			}
			require.Equal(t, cap(v.Data), len(v.Data))
		}
	}

	require.True(t, s.Fits(math.MaxInt32-10))
	require.False(t, s.Fits(-1))
	if most := uint64(bytestrings.MaxData); most < math.MaxInt {
		require.True(t, s.Fits(int(most-3)))
		require.False(t, s.Fits(int(most-2)))
	}
}

// parse reads words, word*times, x:hex and n:decimal/length, the last as a
// big-endian integer.
func parse(t *testing.T, line string) *bytestrings.Strings {
	s := new(bytestrings.Strings)
	for _, f := range strings.Fields(line) {
		f, count, _ := strings.Cut(f, "*")
		times := 1
		if count != "" {
			var err error
			times, err = strconv.Atoi(count)
			require.NoError(t, err)
		}
		b := []byte(f)
		if h, ok := strings.CutPrefix(f, "x:"); ok {
			var err error
			b, err = hex.DecodeString(h)
			require.NoError(t, err)
		} else if n, ok := strings.CutPrefix(f, "n:"); ok {
			n, length, _ := strings.Cut(n, "/")
			x, err := strconv.ParseUint(n, 10, 64)
			require.NoError(t, err)
			l, err := strconv.Atoi(length)
			require.NoError(t, err)
			b = binary.BigEndian.AppendUint64(nil, x)[8-l:]
		}
		for range times {
			require.NoError(t, s.Append(b))
		}
	}
	return s
}

func TestGolden(t *testing.T) {
	datadriven.RunTest(t, "testdata/golden", func(t *testing.T, d *datadriven.TestData) string {
		var e bytestrings.Encoder
		var dec bytestrings.Decoder
		var out strings.Builder
		for line := range strings.Lines(d.Input) {
			src, got := parse(t, line), new(bytestrings.Strings)
			n := src.Len()
			var p encoding.Params
			var body []byte
			var lengths int
			switch d.Cmd {
			case "length-bytes":
				body = e.AppendLengthBytes(nil, src, &p)
				lengths, _ = bytestrings.LengthBytesSplit(&p, n)
				fmt.Fprintf(&out, "%d strings: sum %d, base %d, width %d\n", n, p[0], p[1], p[2])
				require.NoError(t, dec.LengthBytes(got, n, &p, body, math.MaxInt32))
			case "front-coded":
				body = e.AppendFrontCoded(nil, src, &p)
				lengths, _ = bytestrings.FrontCodedSplit(&p, n)
				if p[5] > 0 {
					fmt.Fprintf(&out, "%d integers of %d bytes: first %d<<%d, base %d, width %d\n", n, p[5], p[0], p[2], p[1], p[2])
				} else {
					fmt.Fprintf(&out, "%d strings: sum %d, prefix base %d width %d, suffix base %d width %d\n", n, p[0], p[1], p[2], p[3], p[4])
				}
				require.NoError(t, dec.FrontCoded(got, n, &p, body, math.MaxInt32))
			}
			require.True(t, src.Equal(got))
			fmt.Fprintf(&out, "  lengths %x\n  payload %q\n", body[:lengths], body[lengths:])
		}
		return out.String()
	})
}

// cases are byte strings that have been trouble elsewhere.
func cases() map[string]*bytestrings.Strings {
	borders := new(bytestrings.Strings)
	for _, n := range []int{0, 1, 127, 128, 255, 256, 257, 0, 0} {
		borders.Append(bytes.Repeat([]byte("x"), n))
	}
	return map[string]*bytestrings.Strings{
		"none":           {},
		"one empty":      of(""),
		"all empty":      of("", "", ""),
		"dict one entry": of(slices.Repeat([]string{"a"}, 1000)...),
		"not utf-8":      of("\xff", "\xc3\x28", "\xe2\x82\x61", "", "\x00", "a\x00", "\xf0\x28\x8c\xbc", "\xed\xa0\x80"),
		"length borders": borders,
		"one integer":    of("\x80\x00\x00\x00\x00\x00\x00\x00"),
		"integer wraps":  of("\xff\xff\xff\xff\xff\xff\xff\xff", "\x00\x00\x00\x00\x00\x00\x00\x00", "\x80\x00\x00\x00\x00\x00\x00\x00"),
		"long":           of(string(make([]byte, 100_000)), "x"),
	}
}

func TestCases(t *testing.T) {
	for name, src := range cases() {
		t.Run(name, func(t *testing.T) { roundTrip(t, new(bytestrings.Encoder), new(bytestrings.Decoder), src) })
	}
}

func roundTrip(t require.TestingT, e *bytestrings.Encoder, d *bytestrings.Decoder, src *bytestrings.Strings) {
	n := src.Len()
	want := of("before")
	require.NoError(t, want.AppendFrom(src, 0, n))

	p := encoding.Params{7: 9}
	body := e.AppendLengthBytes([]byte{1}, src, &p)[1:]
	size, err := bytestrings.LengthBytesLen(&p, n)
	require.NoError(t, err)
	require.Len(t, body, size)
	lengths, payload := bytestrings.LengthBytesSplit(&p, n)
	require.Equal(t, []int{size, len(src.Data)}, []int{lengths + payload, payload})
	got := of("before")
	require.NoError(t, d.LengthBytes(got, n, &p, body, len(src.Data)))
	require.True(t, want.Equal(got))
	requireLimit(t, d.LengthBytes, n, &p, body, len(src.Data))

	p = encoding.Params{7: 9}
	body = e.AppendFrontCoded([]byte{1}, src, &p)[1:]
	size, err = bytestrings.FrontCodedLen(&p, n)
	require.NoError(t, err)
	require.Len(t, body, size)
	lengths, payload = bytestrings.FrontCodedSplit(&p, n)
	require.Equal(t, size, lengths+payload)
	got = of("before")
	require.NoError(t, d.FrontCoded(got, n, &p, body, len(src.Data)))
	require.True(t, want.Equal(got))
	requireLimit(t, d.FrontCoded, n, &p, body, len(src.Data))

	b := bytestrings.AppendBytes([]byte{1}, src)
	require.LessOrEqual(t, len(b), len(src.Data)+4*n+20)
	got = of("before")
	rest, err := bytestrings.DecodeBytes(got, n, append(b, 5)[1:], len(src.Data))
	require.NoError(t, err)
	require.Equal(t, []byte{5}, rest)
	require.True(t, want.Equal(got))
}

// requireLimit decodes with a limit that is one byte too small.
func requireLimit(t require.TestingT, decode func(*bytestrings.Strings, int, *encoding.Params, []byte, int) error, n int, p *encoding.Params, body []byte, total int) {
	got := of("before")
	require.ErrorIs(t, decode(got, n, p, body, total-1), encoding.ErrCorrupt)
	require.True(t, got.Equal(of("before")))
}

// generator draws chunks of strings of several kinds, sorted or not.
func generator() *rapid.Generator[*bytestrings.Strings] {
	return rapid.Custom(func(t *rapid.T) *bytestrings.Strings {
		var list [][]byte
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			list = rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), -1, 40), 0, 60).Draw(t, "any")
		case 1:
			for _, s := range rapid.SliceOfN(rapid.StringMatching(`(abc){0,9}[a-c]{0,3}`), 0, 60).Draw(t, "alike") {
				list = append(list, []byte(s))
			}
		case 2:
			length := rapid.IntRange(1, 8).Draw(t, "length")
			x := rapid.Uint64().Draw(t, "first")
			most := uint64(1) << rapid.IntRange(0, 63).Draw(t, "most")
			for range rapid.IntRange(0, 100).Draw(t, "n") {
				list = append(list, binary.BigEndian.AppendUint64(nil, x)[8-length:])
				x += rapid.Uint64Range(0, most).Draw(t, "step")
			}
		case 3:
			n := rapid.IntRange(0, 20).Draw(t, "fixed")
			list = rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), n, n), 0, 60).Draw(t, "list")
		}
		if rapid.Bool().Draw(t, "sorted") {
			slices.SortFunc(list, bytes.Compare)
		}
		return of(list...)
	})
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e bytestrings.Encoder
		var d bytestrings.Decoder
		for range 3 {
			roundTrip(t, &e, &d, generator().Draw(t, "src"))
		}
		e.Reset()
		src := generator().Draw(t, "src")
		var p, q encoding.Params
		require.Equal(t, new(bytestrings.Encoder).AppendFrontCoded(nil, src, &p), e.AppendFrontCoded(nil, src, &q))
		require.Equal(t, p, q)
		require.Equal(t, new(bytestrings.Encoder).AppendLengthBytes(nil, src, &p), e.AppendLengthBytes(nil, src, &q))
		require.Equal(t, p, q)
	})
}

// Keys at a constant step take no body, and parameters that grow at a constant
// step.
func TestIntegersByStep(t *testing.T) {
	var e bytestrings.Encoder
	var last, p encoding.Params
	for chunk := range 5 {
		src := new(bytestrings.Strings)
		for i := range 128 {
			src.Append(binary.BigEndian.AppendUint64(nil, uint64(1_000_000+60*(128*chunk+i))))
		}
		require.Empty(t, e.AppendFrontCoded(nil, src, &p))
		if chunk > 0 {
			require.Equal(t, encoding.Params{last[0] + 60*128, 60, 0, 0, 0, 8}, p)
		}
		last = p
	}
}

var extremes = []int64{
	math.MinInt64, math.MinInt64 + 1, math.MinInt32, -65, -9, -2, -1, 0, 1, 2, 7, 8, 9, 28, 29, 32, 33, 64, 65, 255,
	65535, math.MaxInt32, math.MaxUint32, math.MaxUint32 + 1, encoding.MaxValueBytes, encoding.MaxValueBytes + 1, math.MaxInt64 - 1, math.MaxInt64,
}

func TestHostile(t *testing.T) {
	const limit = 1 << 20
	var d bytestrings.Decoder
	try := func(decode func(*bytestrings.Strings, int, *encoding.Params, []byte, int) error, n int, p encoding.Params, body []byte) error {
		got := of("before")
		err := decode(got, n, &p, body, limit)
		if err != nil {
			require.ErrorIs(t, err, encoding.ErrCorrupt)
			require.True(t, got.Equal(of("before")))
		}
		require.Equal(t, len(got.Data), int(got.Ends[len(got.Ends)-1]))
		require.LessOrEqual(t, len(got.Data), limit+6)
		return err
	}
	for name, src := range cases() {
		n := src.Len()
		for _, c := range []struct {
			append func(*bytestrings.Encoder, []byte, *bytestrings.Strings, *encoding.Params) []byte
			length func(*encoding.Params, int) (int, error)
			decode func(*bytestrings.Strings, int, *encoding.Params, []byte, int) error
		}{
			{(*bytestrings.Encoder).AppendLengthBytes, bytestrings.LengthBytesLen, d.LengthBytes},
			{(*bytestrings.Encoder).AppendFrontCoded, bytestrings.FrontCodedLen, d.FrontCoded},
		} {
			var p encoding.Params
			body := c.append(new(bytestrings.Encoder), nil, src, &p)
			require.NoError(t, try(c.decode, n, p, body), name)
			for i := range p {
				for _, v := range extremes {
					q := p
					q[i] = v
					try(c.decode, n, q, body)
					if size, err := c.length(&q, n); err != nil {
						require.ErrorIs(t, err, encoding.ErrCorrupt)
					} else if size < 1<<22 {
						try(c.decode, n, q, make([]byte, size))
						try(c.decode, n, q, bytes.Repeat([]byte{255}, size))
					}
				}
			}
			for cut := 0; cut < len(body); cut += 1 + len(body)/50 {
				require.Error(t, try(c.decode, n, p, body[:cut]))
			}
			for at := 0; at < len(body); at += 1 + len(body)/200 {
				flipped := slices.Clone(body)
				flipped[at] ^= 0x55
				try(c.decode, n, p, flipped)
			}
			try(c.decode, n+1, p, body)
			try(c.decode, max(n, 1)-1, p, body)
		}
	}
	// A prefix that is longer than the string before.
	require.ErrorContains(t, try(d.FrontCoded, 2, encoding.Params{0, 2, 0, 1, 0}, []byte("ab")), "shares 2 of 1 bytes")
	// A megabyte that every string repeats.
	require.ErrorContains(t, try(d.FrontCoded, 60000, encoding.Params{1<<20 + 59999, 1 << 13, 20, 0, 21}, make([]byte, 59999*20/8+1+60000*21/8+1<<20+59999)), "sum to")
	bomb := encoding.Params{1000, 1000, 0, 0, 10}
	body := make([]byte, 60000*10/8+1000)
	body[0], body[1] = 0xe8, 3
	require.ErrorContains(t, try(d.FrontCoded, 60000, bomb, body), "exceed the limit")
	// An integer that is too large for its length.
	require.ErrorContains(t, try(d.FrontCoded, 2, encoding.Params{200, 100, 0, 0, 0, 1}, nil), "exceeds 1 bytes")
	require.ErrorContains(t, try(d.LengthBytes, 2, encoding.Params{0, 1 << 29}, nil), "lengths of")
}

func TestAllocs(t *testing.T) {
	var e bytestrings.Encoder
	var d bytestrings.Decoder
	var got bytestrings.Strings
	for _, src := range []*bytestrings.Strings{of("cpu.load", "cpu.load.1", "memory", ""), of("ab", "ad", "ak")} {
		var p, q encoding.Params
		body := e.AppendLengthBytes(nil, src, &p)
		front := e.AppendFrontCoded(nil, src, &q)
		run := func() {
			got.Reset()
			d.LengthBytes(&got, src.Len(), &p, body, 1000)
			got.Reset()
			d.FrontCoded(&got, src.Len(), &q, front, 1000)
		}
		run()
		require.Zero(t, testing.AllocsPerRun(10, run))
		require.Zero(t, testing.AllocsPerRun(10, func() {
			e.AppendLengthBytes(body[:0], src, &p)
			e.AppendFrontCoded(front[:0], src, &q)
		}))
	}
}

func FuzzDecode(f *testing.F) {
	for _, src := range cases() {
		if len(src.Data) > 5000 {
			continue
		}
		var e bytestrings.Encoder
		var p encoding.Params
		front := e.AppendFrontCoded(nil, src, &p)
		f.Add(append(encoding.AppendParams(nil, &p), front...), uint16(src.Len()))
		f.Add(bytestrings.AppendBytes(nil, src), uint16(src.Len()))
	}
	f.Fuzz(func(t *testing.T, src []byte, count uint16) {
		const limit = 1 << 20
		n := int(count)
		var got, again bytestrings.Strings
		if rest, err := bytestrings.DecodeBytes(&got, n, src, limit); err != nil {
			require.ErrorIs(t, err, encoding.ErrCorrupt)
		} else {
			require.LessOrEqual(t, len(rest), len(src))
			_, err := bytestrings.DecodeBytes(&again, n, bytestrings.AppendBytes(nil, &got), limit)
			require.NoError(t, err)
			require.True(t, got.Equal(&again))
		}
		p, body, err := encoding.ReadParams("fuzz", src)
		if err != nil {
			return
		}
		size, err := bytestrings.FrontCodedLen(&p, n)
		if err != nil || size > len(body) {
			return
		}
		var d bytestrings.Decoder
		got.Reset()
		if err := d.FrontCoded(&got, n, &p, body[:size], limit); err != nil {
			require.ErrorIs(t, err, encoding.ErrCorrupt)
			return
		}
		require.Equal(t, n, got.Len())
		body = new(bytestrings.Encoder).AppendFrontCoded(nil, &got, &p)
		again.Reset()
		require.NoError(t, d.FrontCoded(&again, n, &p, body, limit))
		require.True(t, got.Equal(&again))
	})
}

func BenchmarkDecode(b *testing.B) {
	src := new(bytestrings.Strings)
	for i := range 128 {
		src.Append(fmt.Appendf(nil, "host-%05d/cpu", i*7))
	}
	var e bytestrings.Encoder
	var d bytestrings.Decoder
	var p, q encoding.Params
	plain := e.AppendLengthBytes(nil, src, &p)
	front := e.AppendFrontCoded(nil, src, &q)
	var got bytestrings.Strings
	b.Run("length_bytes", func(b *testing.B) {
		b.SetBytes(int64(len(src.Data)))
		for b.Loop() {
			got.Reset()
			d.LengthBytes(&got, src.Len(), &p, plain, 1<<20)
		}
	})
	b.Run("front_coded", func(b *testing.B) {
		b.SetBytes(int64(len(src.Data)))
		for b.Loop() {
			got.Reset()
			d.FrontCoded(&got, src.Len(), &q, front, 1<<20)
		}
	})
}
