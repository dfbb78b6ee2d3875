package rowgroup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/alp"
	"github.com/colsst/colsst/encoding/bss"
	"github.com/colsst/colsst/encoding/bytestrings"
	"github.com/colsst/colsst/encoding/deltadelta"
	"github.com/colsst/colsst/encoding/dict"
	"github.com/colsst/colsst/encoding/raw"
	"github.com/colsst/colsst/encoding/runlength"
)

// fieldCase is one set of values that broke some other codec.
type fieldCase struct {
	ID, Name, Type string
	Values         []*string // hex, big-endian; nil: null
}

var caseTypes = map[string]Type{"int32": Int, "int64": Bigint, "float32": Float, "float64": Double, "bytes": Blob}

// batch is the case as the column v of a table.
func (c *fieldCase) batch(t *testing.T) *Batch {
	ty := caseTypes[c.Type]
	require.NotZero(t, ty, c.Type)
	return oneColumn(t, ty, len(c.Values), func(b *Batch, col, i int) {
		if c.Values[i] == nil {
			require.NoError(t, b.vecs[col].pad(i+1))
			return
		}
		if ty.Kind == KindBlob {
			x, err := hex.DecodeString(*c.Values[i])
			require.NoError(t, err)
			require.NoError(t, b.Bytes(col).Append(x))
			return
		}
		x, err := strconv.ParseUint(*c.Values[i], 16, 64)
		require.NoError(t, err)
		v := &b.vecs[col]
		switch ty.Kind {
		case KindInt:
			v.i32 = append(v.i32, int32(x))
		case KindBigint:
			v.i64 = append(v.i64, int64(x))
		case KindFloat:
			v.f32 = append(v.f32, math.Float32frombits(uint32(x)))
		case KindDouble:
			v.f64 = append(v.f64, math.Float64frombits(x))
		}
	}, func(i int) bool { return c.Values[i] == nil })
}

// eachCase runs the sets of case id: every codec's self-contained form, and
// row groups of several sizes under the automatic choice, each single encoding
// and Zstd. more, if given, checks what else the case demands, by the set's
// batch and name.
func eachCase(t *testing.T, id string, more func(t *testing.T, name string, b *Batch)) {
	text, err := os.ReadFile("../testdata/cases/codec_cases.json")
	require.NoError(t, err)
	var cases []fieldCase
	require.NoError(t, json.Unmarshal(text, &cases))
	ran := 0
	for _, c := range cases {
		if c.ID != id {
			continue
		}
		ran++
		t.Run(c.Name, func(t *testing.T) {
			b := c.batch(t)
			selfContained(t, b)
			throughRowGroups(t, b)
			if more != nil {
				more(t, c.Name, b)
			}
		})
	}
	require.Positive(t, ran)
}

// rawSize is what the values take as they are.
func rawSize(b *Batch) int {
	switch b.vecs[0].class {
	case ClassBytes:
		return len(b.Bytes(0).Data) + 4*b.Len()
	case ClassInt32, ClassFloat32:
		return 4 * b.Len()
	}
	return 8 * b.Len()
}

func throughRowGroups(t *testing.T, b *Batch) {
	for _, rows := range []int{1, 3, 128, 1024, 65536} {
		size, _ := encodeBlocks(t, b, rows, EncodeOptions{})
		if rows >= 128 {
			groups := (b.Len() + rows - 1) / rows
			require.LessOrEqual(t, size, rawSize(b)+b.Len()/8+60+10*groups)
		}
	}
	for id := encoding.Raw; id.Valid(); id++ {
		if Holds(b.vecs[0].class, id) {
			o := EncodeOptions{Encodings: map[int][]encoding.ID{0: {id}}}
			encodeBlocks(t, b, 1024, o)
			o.Zstd, o.ZstdMeta = map[int]bool{0: true}, true
			encodeBlocks(t, b, 1024, o)
		}
	}
}

// selfContained takes the values of b, nulls left out, through the
// self-contained form of every codec of their type.
func selfContained(t *testing.T, b *Batch) {
	v := &b.vecs[0]
	var present []int32
	for i := range b.Len() {
		if b.Cell(0, i).HasValue() {
			present = append(present, int32(i))
		}
	}
	vectors := len(present)/1024 + 1
	check := func(name string, size, plain int, same bool, rest []byte, err error) {
		require.NoError(t, err, name)
		require.True(t, same, name)
		require.Empty(t, rest, name)
		require.LessOrEqual(t, size, plain+plain/100+96*vectors, name)
	}
	switch v.class {
	case ClassInt32:
		x := pick(nil, v.i32, present)
		for name, c := range map[string]struct {
			enc func([]byte, []int32) []byte
			dec func([]int32, []byte) ([]byte, error)
		}{
			"raw": {raw.AppendInt32, raw.DecodeInt32}, "bss": {bss.AppendInt32, bss.DecodeInt32},
			"deltadelta": {deltadelta.AppendInt32, deltadelta.DecodeInt32}, "runlength": {runlength.AppendInt32, runlength.DecodeInt32},
		} {
			got, body := make([]int32, len(x)), c.enc(nil, x)
			rest, err := c.dec(got, body)
			check(name, len(body), 4*len(x), string(raw.AppendInt32(nil, x)) == string(raw.AppendInt32(nil, got)), rest, err)
		}
	case ClassInt64:
		x := pick(nil, v.i64, present)
		for name, c := range map[string]struct {
			enc func([]byte, []int64) []byte
			dec func([]int64, []byte) ([]byte, error)
		}{
			"raw": {raw.AppendInt64, raw.DecodeInt64}, "bss": {bss.AppendInt64, bss.DecodeInt64},
			"deltadelta": {deltadelta.AppendInt64, deltadelta.DecodeInt64}, "runlength": {runlength.AppendInt64, runlength.DecodeInt64},
		} {
			got, body := make([]int64, len(x)), c.enc(nil, x)
			rest, err := c.dec(got, body)
			check(name, len(body), 8*len(x), string(raw.AppendInt64(nil, x)) == string(raw.AppendInt64(nil, got)), rest, err)
		}
	case ClassFloat32:
		x := pick(nil, v.f32, present)
		for name, c := range map[string]struct {
			enc func([]byte, []float32) []byte
			dec func([]float32, []byte) ([]byte, error)
		}{
			"raw": {raw.AppendFloat32, raw.DecodeFloat32}, "bss": {bss.AppendFloat32, bss.DecodeFloat32}, "alp": {alp.AppendFloat32, alp.DecodeFloat32},
		} {
			got, body := make([]float32, len(x)), c.enc(nil, x)
			rest, err := c.dec(got, body)
			check(name, len(body), 4*len(x), string(raw.AppendFloat32(nil, x)) == string(raw.AppendFloat32(nil, got)), rest, err)
		}
	case ClassFloat64:
		x := pick(nil, v.f64, present)
		for name, c := range map[string]struct {
			enc func([]byte, []float64) []byte
			dec func([]float64, []byte) ([]byte, error)
		}{
			"raw": {raw.AppendFloat64, raw.DecodeFloat64}, "bss": {bss.AppendFloat64, bss.DecodeFloat64}, "alp": {alp.AppendFloat64, alp.DecodeFloat64},
		} {
			got, body := make([]float64, len(x)), c.enc(nil, x)
			rest, err := c.dec(got, body)
			check(name, len(body), 8*len(x), string(raw.AppendFloat64(nil, x)) == string(raw.AppendFloat64(nil, got)), rest, err)
		}
	case ClassBytes:
		var x bytestrings.Strings
		for _, i := range present {
			require.NoError(t, x.Append(v.str.At(int(i))))
		}
		for name, c := range map[string]struct {
			enc func([]byte, *bytestrings.Strings) []byte
			dec func(*bytestrings.Strings, int, []byte, int) ([]byte, error)
		}{
			"bytestrings": {bytestrings.AppendBytes, bytestrings.DecodeBytes}, "dict": {dict.AppendBytes, dict.DecodeBytes},
		} {
			var got bytestrings.Strings
			body := c.enc(nil, &x)
			rest, err := c.dec(&got, x.Len(), body, 1<<20)
			check(name, len(body), len(x.Data)+4*x.Len(), got.Equal(&x), rest, err)
		}
	}
}

// payload is the bytes of the values of v in row groups of so many rows.
func payload(t *testing.T, b *Batch, rows int) int64 {
	tm, groups, body := blockOf(t, b, rows, EncodeOptions{})
	d := NewBlockDecoder(b.Schema())
	require.NoError(t, d.Open(tm, groups, b.Len(), 1, body))
	var sizes Sizes
	d.AddTo(&sizes)
	for _, s := range sizes.Streams {
		if s.Values {
			return s.Payload
		}
	}
	return 0
}

func TestT01Int32Deltas(t *testing.T) {
	eachCase(t, "T01", func(t *testing.T, _ string, b *Batch) { // never more than 32 bits a value
		require.LessOrEqual(t, payload(t, b, 1024), int64(4*b.Len()))
	})
}

func TestT02DeltaOfDeltaExtremes(t *testing.T) { eachCase(t, "T02", nil) }

func TestT03MinInt64AndNull(t *testing.T) {
	eachCase(t, "T03", func(t *testing.T, name string, b *Batch) {
		c := statsOf(t, b).Column(0)
		most := int64(math.MaxInt64)
		if name == "i64-null-min-minusone" {
			most = -1
		}
		require.Equal(t, AppendInt(nil, Bigint, math.MinInt64), c.Min)
		require.Equal(t, AppendInt(nil, Bigint, most), c.Max)
	})
}

func TestT04FullWidth(t *testing.T) { eachCase(t, "T04", nil) }

func TestT05WidthZero(t *testing.T) {
	eachCase(t, "T05", func(t *testing.T, _ string, b *Batch) {
		require.Zero(t, payload(t, b, 128))
		require.Zero(t, payload(t, b, 65536))
	})
}

func TestT06FewValues(t *testing.T) { eachCase(t, "T06", nil) }

func TestT07NegativeStep(t *testing.T) {
	eachCase(t, "T07", func(t *testing.T, _ string, b *Batch) { require.Zero(t, payload(t, b, 128)) })
}

func TestT08LargeGaps(t *testing.T) { eachCase(t, "T08", nil) }

func TestT09ManyRows(t *testing.T) {
	for _, n := range []int{65_535, 65_536, 70_000} {
		b := oneColumn(t, Bigint, n, func(b *Batch, col, i int) {
			*b.Int64s(col) = append(*b.Int64s(col), 1_700_000_000_000+int64(i)+int64(i%3))
		}, nil)
		selfContained(t, b)
		for _, rows := range []int{1024, 65_535, 65_536} {
			encodeBlocks(t, b, rows, EncodeOptions{})
		}
	}
}

func TestT10CommonDivisor(t *testing.T) { eachCase(t, "T10", nil) }

func TestT12NegativeZero(t *testing.T) { eachCase(t, "T12", nil) }

func TestT13NaNBits(t *testing.T) { eachCase(t, "T13", nil) }

func TestT14Infinity(t *testing.T) { eachCase(t, "T14", nil) }

func TestT15OutsideIntegers(t *testing.T) { eachCase(t, "T15", nil) }

func TestT16NothingEncodable(t *testing.T) {
	eachCase(t, "T16", func(t *testing.T, name string, b *Batch) {
		c := statsOf(t, b).Column(0)
		switch name {
		case "f64-all-null":
			require.Equal(t, ColumnStats{Nulls: 1025}, c)
		case "f64-all-nan":
			require.Equal(t, ColumnStats{Values: 1024, NaNs: 1024}, c)
		}
	})
}

// The bytes are those of every other platform and build.
func TestT17SameBytes(t *testing.T) {
	eachCase(t, "T17", func(t *testing.T, _ string, b *Batch) {
		x := *b.Float64s(0)
		tm, _, body := blockOf(t, b, 128, EncodeOptions{})
		for what, c := range map[string]struct {
			bytes []byte
			want  string
		}{
			"self-contained": {alp.AppendFloat64(nil, x), "786b1f491666bedb"},
			"block":          {append(tm.AppendTo(nil), body...), "ad7e0bc77905d47a"},
		} {
			sum := sha256.Sum256(c.bytes)
			require.Equal(t, c.want, hex.EncodeToString(sum[:8]), "%s of %d bytes", what, len(c.bytes))
		}
	})
}

func TestT18Incompressible(t *testing.T) {
	eachCase(t, "T18", func(t *testing.T, _ string, b *Batch) {
		for _, rows := range []int{128, 1024} {
			require.LessOrEqual(t, payload(t, b, rows), int64(rawSize(b)))
			size, _ := encodeBlocks(t, b, rows, EncodeOptions{})
			require.LessOrEqual(t, size, rawSize(b)+80)
		}
	})
}

func TestT19FirstNegative(t *testing.T) { eachCase(t, "T19", nil) }

func TestT24OneEntry(t *testing.T) {
	eachCase(t, "T24", func(t *testing.T, _ string, b *Batch) { require.LessOrEqual(t, payload(t, b, 1024), int64(2)) })
}

// A dictionary that is given up in one row group comes back in the next.
func TestT25DictionaryComesBack(t *testing.T) {
	b := oneColumn(t, Text, 4096, func(b *Batch, col, i int) {
		n := i * 7919 % 1000
		if i/1024%2 == 1 {
			n %= 5
		}
		require.NoError(t, b.Bytes(col).Append(fmt.Appendf(nil, "a text of 20 b %05d", n)))
	}, func(i int) bool { return i%13 == 0 })
	for _, rows := range []int{128, 1024} {
		encodeBlocks(t, b, rows, EncodeOptions{Encodings: map[int][]encoding.ID{0: {encoding.Dictionary}}})
		encodeBlocks(t, b, rows, EncodeOptions{})
	}
}

func TestT59NotUTF8(t *testing.T) { eachCase(t, "T59", nil) }

func TestT63LengthBorders(t *testing.T) { eachCase(t, "T63", nil) }
