package rowgroup

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
)

// oneColumn is a table of one partition with one value column of type ty;
// fill appends its n values, and null says which cells are absent.
func oneColumn(t testing.TB, ty Type, n int, fill func(b *Batch, col, i int), null func(i int) bool) *Batch {
	s, err := NewSchema(nil, nil, nil, []Column{{Name: "v", Type: ty}})
	require.NoError(t, err)
	b := NewBatch(s)
	for i := range n {
		fill(b, 0, i)
	}
	b.SetLen(n)
	if null != nil {
		m := b.CellMeta(0)
		for i := range n {
			c := CellAsRow
			if null(i) {
				c = CellAbsent
			}
			m.Cells = append(m.Cells, c)
		}
	}
	require.NoError(t, b.Check())
	return b
}

// encodeBlocks encodes b in groups of rows as blocks of one segment each and
// returns the bytes of bodies and templates; it checks that they read back.
func encodeBlocks(t testing.TB, b *Batch, rows int, o EncodeOptions) (size int, used [16]int64) {
	spans := groupsOf(b, rows)
	e := NewSegmentEncoder(b.Schema(), o)
	var ts TemplateSet
	d := NewBlockDecoder(b.Schema())
	got := NewBatch(b.Schema())
	got.clear()
	var sizes Sizes
	for at := 0; at < len(spans); at += MaxBlockGroups {
		seg, err := e.Encode(b, spans[at:min(len(spans), at+MaxBlockGroups)])
		require.NoError(t, err)
		_, tm, added := ts.Choose(seg, 0, seg.NumGroups())
		if added {
			size += len(tm.AppendTo(nil))
		}
		body := seg.AppendBlock(nil, 0, seg.NumGroups(), tm)
		size += len(body)
		n, parts := 0, 0
		for _, sp := range spans[at : at+seg.NumGroups()] {
			n += sp.ToRow - sp.FromRow
			parts += sp.ToPart - sp.FromPart
		}
		require.NoError(t, d.Open(tm, seg.NumGroups(), n, parts, body))
		require.NoError(t, d.Decode(got, 0, seg.NumGroups(), nil))
		d.AddTo(&sizes)
	}
	require.Equal(t, b.text(), got.text())
	for _, s := range sizes.Streams {
		if s.Name == "v" {
			used = s.Encodings
		}
	}
	return size, used
}

// The automatic choice is never worse than the best single encoding by more
// than a small bound.
func TestAutomaticChoice(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	walk := 50.0
	ints := []encoding.ID{encoding.Raw, encoding.DeltaOfDelta, encoding.RunLength}
	floats := []encoding.ID{encoding.Raw, encoding.ALP, encoding.ByteStreamSplit}
	text := []encoding.ID{encoding.LengthBytes, encoding.Dictionary, encoding.FrontCoded}
	str := func(s string) func(b *Batch, col, i int) {
		return func(b *Batch, col, i int) { require.NoError(t, b.Bytes(col).Append([]byte(s))) }
	}
	for _, c := range []struct {
		name string
		ty   Type
		ids  []encoding.ID
		fill func(b *Batch, col, i int)
	}{
		{"steps", Bigint, ints, func(b *Batch, col, i int) { *b.Int64s(col) = append(*b.Int64s(col), 1_700_000_000_000+int64(i)*1000) }},
		{"random", Bigint, ints, func(b *Batch, col, i int) { *b.Int64s(col) = append(*b.Int64s(col), int64(r.Uint64())) }},
		{"runs", Int, ints, func(b *Batch, col, i int) { *b.Int32s(col) = append(*b.Int32s(col), int32(i/100)*7919%97) }},
		{"jitter", Bigint, ints, func(b *Batch, col, i int) { *b.Int64s(col) = append(*b.Int64s(col), int64(i)*5000+int64(r.IntN(41))) }},
		{"walk", Double, floats, func(b *Batch, col, i int) {
			walk += r.NormFloat64()
			*b.Float64s(col) = append(*b.Float64s(col), walk)
		}},
		{"cents", Double, floats, func(b *Batch, col, i int) {
			walk += r.NormFloat64()
			*b.Float64s(col) = append(*b.Float64s(col), math.Round(walk*100)/100)
		}},
		{"float bits", Float, floats, func(b *Batch, col, i int) {
			*b.Float32s(col) = append(*b.Float32s(col), math.Float32frombits(r.Uint32()))
		}},
		{"one text", Text, text, str("the same text")},
		{"few texts", Text, text, func(b *Batch, col, i int) { str([]string{"GET", "POST", "HEAD", "OPTIONS"}[r.IntN(4)])(b, col, i) }},
		{"sorted", Text, text, func(b *Batch, col, i int) { str(fmt.Sprintf("host%08d.example", i*3))(b, col, i) }},
		{"noise", Text, text, func(b *Batch, col, i int) { str(strconv.FormatUint(r.Uint64(), 36))(b, col, i) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := oneColumn(t, c.ty, 3000, c.fill, nil)
			auto, _ := encodeBlocks(t, b, 128, EncodeOptions{})
			for _, id := range c.ids {
				one, _ := encodeBlocks(t, b, 128, EncodeOptions{Encodings: map[int][]encoding.ID{0: {id}}})
				require.LessOrEqual(t, auto, one+one/50+64, "%v", id)
			}
		})
	}
}
