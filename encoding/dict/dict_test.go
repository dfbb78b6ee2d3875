package dict_test

import (
	"bytes"
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
	"github.com/colsst/colsst/encoding/dict"
)

func of(list ...string) *bytestrings.Strings {
	s := new(bytestrings.Strings)
	for _, b := range list {
		if err := s.Append([]byte(b)); err != nil {
			panic(err)
		}
	}
	return s
}

func ExampleAppendBytes() {
	b := dict.AppendBytes(nil, of("north", "south", "north", "north"))
	var got bytestrings.Strings
	rest, err := dict.DecodeBytes(&got, 4, b, 1<<20)
	fmt.Printf("%d %s %s %d %v\n", len(b), got.At(1), got.At(3), len(rest), err)
	// Output: 14 south north 0 <nil>
}

func ExampleEncoder_TryAppend() {
	var e dict.Encoder
	var p encoding.Params
	_, ok := e.TryAppend(nil, of("a", "b", "c", "d"), &p)
	fmt.Println(ok)
	body, ok := e.TryAppend(nil, of("up", "up", "down", "up", "up", "down", "up"), &p)
	fmt.Println(ok, len(body), p[0])
	// Output:
	// false
	// true 8 2
}

func TestGolden(t *testing.T) {
	datadriven.RunTest(t, "testdata/golden", func(t *testing.T, d *datadriven.TestData) string {
		var e dict.Encoder
		var dec dict.Decoder
		var out strings.Builder
		for line := range strings.Lines(d.Input) {
			src, got := new(bytestrings.Strings), new(bytestrings.Strings)
			for _, f := range strings.Fields(line) {
				f, count, _ := strings.Cut(f, "*")
				f = strings.Trim(f, "'")
				times := 1
				if count != "" {
					var err error
					times, err = strconv.Atoi(count)
					require.NoError(t, err)
				}
				for range times {
					require.NoError(t, src.Append([]byte(f)))
				}
			}
			var p encoding.Params
			n := src.Len()
			body := e.Append(nil, src, &p)
			lengths, payload := dict.Split(&p, n)
			require.Len(t, body, lengths+payload)
			_, smaller := new(dict.Encoder).TryAppend(nil, src, new(encoding.Params))
			fmt.Fprintf(&out, "%d strings: %d distinct, sum %d, base %d, width %d; smaller: %v\n", n, p[0], p[1], p[2], p[3], smaller)
			fmt.Fprintf(&out, "  lengths %x\n  payload %q\n", body[:lengths], body[lengths:])
			require.NoError(t, dec.Decode(got, n, &p, body, math.MaxInt32))
			require.True(t, src.Equal(got))
		}
		return out.String()
	})
}

// cases are byte strings that have been trouble elsewhere.
func cases() map[string]*bytestrings.Strings {
	borders := new(bytestrings.Strings)
	for _, n := range []int{0, 1, 127, 128, 255, 256, 257, 0, 0, 257} {
		borders.Append(bytes.Repeat([]byte("x"), n))
	}
	many := new(bytestrings.Strings)
	for i := range 3000 {
		many.Append(fmt.Append(nil, i*i%1499))
	}
	return map[string]*bytestrings.Strings{
		"none":           {},
		"one empty":      of(""),
		"all empty":      of("", "", ""),
		"one entry":      of(slices.Repeat([]string{"a"}, 1000)...),
		"not utf-8":      of("\xff", "\xc3\x28", "\xe2\x82\x61", "", "\x00", "a\x00", "\xf0\x28\x8c\xbc", "\xed\xa0\x80", "\xff"),
		"length borders": borders,
		"three":          of("a", "b", "c", "a", "b", "c", "a"),
		"many":           many,
	}
}

func TestCases(t *testing.T) {
	for name, src := range cases() {
		t.Run(name, func(t *testing.T) { roundTrip(t, new(dict.Encoder), new(dict.Decoder), src) })
	}
}

func roundTrip(t require.TestingT, e *dict.Encoder, d *dict.Decoder, src *bytestrings.Strings) {
	n := src.Len()
	want := of("before")
	require.NoError(t, want.AppendFrom(src, 0, n))
	check := func(body []byte, p *encoding.Params) {
		size, err := dict.Len(p, n)
		require.NoError(t, err)
		require.Len(t, body, size)
		lengths, payload := dict.Split(p, n)
		require.Equal(t, size, lengths+payload)
		got := of("before")
		require.NoError(t, d.Decode(got, n, p, body, len(src.Data)))
		require.True(t, want.Equal(got))
		got = of("before")
		require.ErrorIs(t, d.Decode(got, n, p, body, len(src.Data)-1), encoding.ErrCorrupt)
		require.True(t, got.Equal(of("before")))
	}
	p := encoding.Params{7: 9}
	full := e.Append([]byte{1}, src, &p)[1:]
	check(full, &p)

	var q encoding.Params
	plain := new(bytestrings.Encoder).AppendLengthBytes(nil, src, &q)
	q = encoding.Params{1, 2, 3}
	if body, ok := e.TryAppend([]byte{1}, src, &q); ok {
		check(body[1:], &q)
		require.Less(t, len(body)-1, len(plain)+2)
	} else {
		// Lengths of the distinct values may pack better than those of all.
		slack := 4*n + 2
		require.GreaterOrEqual(t, len(full)+slack, len(plain))
		require.Equal(t, []byte{1}, body)
		require.Equal(t, encoding.Params{1, 2, 3}, q)
	}

	b := dict.AppendBytes([]byte{1}, src)
	got := of("before")
	rest, err := dict.DecodeBytes(got, n, append(b, 5)[1:], len(src.Data))
	require.NoError(t, err)
	require.Equal(t, []byte{5}, rest)
	require.True(t, want.Equal(got))
}

func generator() *rapid.Generator[*bytestrings.Strings] {
	return rapid.Custom(func(t *rapid.T) *bytestrings.Strings {
		entries := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), -1, 20), 1, 40).Draw(t, "entries")
		s := new(bytestrings.Strings)
		for range rapid.IntRange(0, 100).Draw(t, "n") {
			s.Append(rapid.SampledFrom(entries).Draw(t, "entry"))
		}
		return s
	})
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e dict.Encoder
		var d dict.Decoder
		for range 3 {
			roundTrip(t, &e, &d, generator().Draw(t, "src"))
		}
		e.Reset()
		src := generator().Draw(t, "src")
		var p, q encoding.Params
		require.Equal(t, new(dict.Encoder).Append(nil, src, &p), e.Append(nil, src, &q))
		require.Equal(t, p, q)
	})
}

// One distinct value takes no indices.
func TestOneEntry(t *testing.T) {
	var p encoding.Params
	require.Equal(t, "a", string(new(dict.Encoder).Append(nil, cases()["one entry"], &p)))
	require.Equal(t, encoding.Params{1, 0, 1, 0}, p)
}

var extremes = []int64{
	math.MinInt64, math.MinInt32, -65, -1, 0, 1, 2, 3, 7, 8, 9, 17, 29, 32, 33, 64, 65, 255, 1000, 65535,
	math.MaxInt32, math.MaxUint32, math.MaxUint32 + 1, encoding.MaxValueBytes, encoding.MaxValueBytes + 1, math.MaxInt64,
}

func TestHostile(t *testing.T) {
	const limit = 1 << 20
	var d dict.Decoder
	try := func(n int, p encoding.Params, body []byte) error {
		got := of("before")
		err := d.Decode(got, n, &p, body, limit)
		if err != nil {
			require.ErrorIs(t, err, encoding.ErrCorrupt)
			require.True(t, got.Equal(of("before")))
		}
		require.LessOrEqual(t, len(got.Data), limit+6)
		return err
	}
	for name, src := range cases() {
		n := src.Len()
		var p encoding.Params
		body := new(dict.Encoder).Append(nil, src, &p)
		require.NoError(t, try(n, p, body), name)
		for i := range p {
			for _, v := range extremes {
				q := p
				q[i] = v
				try(n, q, body)
				if size, err := dict.Len(&q, n); err != nil {
					require.ErrorIs(t, err, encoding.ErrCorrupt)
				} else if size < 1<<22 {
					try(n, q, make([]byte, size))
					try(n, q, bytes.Repeat([]byte{255}, size))
				}
			}
		}
		for cut := range min(len(body), 200) {
			require.Error(t, try(n, p, body[:cut]))
		}
		for at := range min(len(body), 500) {
			flipped := slices.Clone(body)
			flipped[at] ^= 0x55
			try(n, p, flipped)
		}
		try(n+1, p, body)
		try(max(n, 1)-1, p, body)
	}
	// An index past the dictionary: three entries need two bits, which hold 3.
	require.ErrorContains(t, try(4, encoding.Params{3, 0, 1, 0}, []byte{'a', 'b', 'c', 0xff}), "index 3 of 3")
	require.ErrorContains(t, try(4, encoding.Params{5, 0, 1, 0}, []byte("abcde")), "5 distinct of 4")
	require.ErrorContains(t, try(4, encoding.Params{}, nil), "0 distinct")
	// A long value that every string repeats.
	require.ErrorContains(t, try(60000, encoding.Params{1, 0, 1000}, make([]byte, 1000)), "exceed the limit")
}

func TestAllocs(t *testing.T) {
	var e dict.Encoder
	var d dict.Decoder
	var p encoding.Params
	var got bytestrings.Strings
	src := cases()["many"]
	body := e.Append(nil, src, &p)
	decode := func() {
		got.Reset()
		d.Decode(&got, src.Len(), &p, body, 1<<20)
	}
	decode()
	require.Zero(t, testing.AllocsPerRun(10, decode))
	require.Zero(t, testing.AllocsPerRun(10, func() { e.Append(body[:0], src, &p) }))
}

func FuzzDecode(f *testing.F) {
	for _, src := range cases() {
		f.Add(dict.AppendBytes(nil, src), uint16(src.Len()))
	}
	f.Fuzz(func(t *testing.T, src []byte, count uint16) {
		const limit = 1 << 20
		n := int(count)
		var got, again bytestrings.Strings
		if _, err := dict.DecodeBytes(&got, n, src, limit); err != nil {
			require.ErrorIs(t, err, encoding.ErrCorrupt)
			return
		}
		require.Equal(t, n, got.Len())
		_, err := dict.DecodeBytes(&again, n, dict.AppendBytes(nil, &got), limit)
		require.NoError(t, err)
		require.True(t, got.Equal(&again))
	})
}

func BenchmarkEncode(b *testing.B) {
	few, distinct := new(bytestrings.Strings), new(bytestrings.Strings)
	for i := range 128 {
		few.Append(fmt.Appendf(nil, "host-%05d/cpu", i*i%11))
		distinct.Append(fmt.Appendf(nil, "host-%05d/cpu", i*7))
	}
	var e dict.Encoder
	var d dict.Decoder
	var p encoding.Params
	var body []byte
	b.Run("few", func(b *testing.B) {
		b.SetBytes(int64(len(few.Data)))
		for b.Loop() {
			body, _ = e.TryAppend(body[:0], few, &p)
		}
	})
	b.Run("distinct", func(b *testing.B) {
		b.SetBytes(int64(len(distinct.Data)))
		for b.Loop() {
			body, _ = e.TryAppend(body[:0], distinct, &p)
		}
	})
	b.Run("decode few", func(b *testing.B) {
		body := e.Append(nil, few, &p)
		var got bytestrings.Strings
		b.SetBytes(int64(len(few.Data)))
		for b.Loop() {
			got.Reset()
			d.Decode(&got, few.Len(), &p, body, 1<<20)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	for _, rows := range []int{128, 1024} {
		for _, length := range []int{4, 12, 40} {
			b.Run(fmt.Sprintf("%d/%d", rows, length), func(b *testing.B) {
				var src, dst bytestrings.Strings
				for i := range rows {
					require.NoError(b, src.Append([]byte(strings.Repeat(string(rune('a'+i*i%23)), length))))
				}
				var e dict.Encoder
				var d dict.Decoder
				var p encoding.Params
				body := e.Append(nil, &src, &p)
				for b.Loop() {
					dst.Reset()
					if err := d.Decode(&dst, rows, &p, body, 1<<20); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/value")
			})
		}
	}
}

func TestFirsts(t *testing.T) {
	var e dict.Encoder
	var p encoding.Params
	e.Append(nil, of("b", "b", "a", "b", "c", "a", "c"), &p)
	require.Equal(t, []int32{0, 2, 4}, e.Firsts())
	e.Append(nil, of("a", "a"), &p)
	require.Equal(t, []int32{0}, e.Firsts())
}
