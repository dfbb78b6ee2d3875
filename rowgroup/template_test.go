package rowgroup

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// blockOf encodes b, in groups of rows, as one block.
func blockOf(t testing.TB, b *Batch, rows int, o EncodeOptions) (tm *Template, groups int, body []byte) {
	spans := groupsOf(b, rows)
	seg, err := NewSegmentEncoder(b.Schema(), o).Encode(b, spans)
	require.NoError(t, err)
	var ts TemplateSet
	_, tm, _ = ts.Choose(seg, 0, len(spans))
	return tm, len(spans), seg.AppendBlock(nil, 0, len(spans), tm)
}

func wide(t testing.TB, columns int) *Schema {
	cols := make([]Column, columns)
	for i := range cols {
		cols[i] = Column{Name: fmt.Sprint("c", i), Type: Bigint}
	}
	s, err := NewSchema(nil, []Column{{Name: "time", Type: Bigint}}, nil, cols)
	require.NoError(t, err)
	return s
}

func allocated(f func()) uint64 {
	var a, b runtime.MemStats
	runtime.ReadMemStats(&a)
	f()
	runtime.ReadMemStats(&b)
	return b.TotalAlloc - a.TotalAlloc
}

// What a template takes in memory follows from its bytes, not from the schema.
func TestTemplateMemory(t *testing.T) {
	s := wide(t, 5000)
	short := []byte{0, 0, 0}
	_, err := ParseTemplate(s, short)
	require.NoError(t, err)
	require.Less(t, allocated(func() {
		for range 1000 {
			_, _ = ParseTemplate(s, short)
		}
	}), uint64(1<<20))

	// Every stream, each with one slot: the most memory for its bytes.
	for _, shape := range []func(i int) []byte{
		func(int) []byte { return []byte{byte(shapeBlock)} },
		func(i int) []byte { return []byte{byte(shapeConst), byte(2 + i%2*2)} },
	} {
		long := binary.AppendUvarint([]byte{0, 0}, uint64(len(s.layout.streams)))
		for i := range s.layout.streams {
			long = append(append(long, 0, 1<<slotID), shape(i)...)
		}
		tm, err := ParseTemplate(s, long)
		require.NoError(t, err)
		require.Equal(t, long, tm.AppendTo(nil))
		require.Less(t, allocated(func() { _, _ = ParseTemplate(s, long) }), uint64(100*len(long)))
	}
}

// A block of few columns of a wide table takes what those take.
func TestWideTableSparse(t *testing.T) {
	s := wide(t, 5000)
	b := NewBatch(s)
	for c := range 5001 {
		if c > 0 && c != 77 {
			b.CellMeta(c).Cells = append(b.CellMeta(c).Cells, CellAbsent)
			continue
		}
		*b.Int64s(c) = append(*b.Int64s(c), int64(c))
	}
	require.NoError(t, b.Check())
	tm, groups, body := blockOf(t, b, 1, EncodeOptions{})
	d := NewBlockDecoder(s)
	require.NoError(t, d.Open(tm, groups, 1, 1, body))
	got := NewBatch(s)
	got.clear()
	require.NoError(t, d.Decode(got, 0, groups, nil))
	require.Equal(t, b.text(), got.text())
}

// A column that is absent in the whole block is not listed, and a decoder that
// goes from one template to another forgets the streams of the first.
func TestTemplateChange(t *testing.T) {
	s, err := NewSchema(nil, nil, nil, []Column{{Name: "a", Type: Bigint}, {Name: "b", Type: Text}})
	require.NoError(t, err)
	d := NewBlockDecoder(s)
	for _, present := range []string{"ab", "a", "b", "", "ab"} {
		b := NewBatch(s)
		for i := range 300 {
			*b.Int64s(0) = append(*b.Int64s(0), int64(i))
			require.NoError(t, b.Bytes(1).Append(fmt.Append(nil, i)))
			for c, name := range []string{"a", "b"} {
				cell := CellAsRow
				if i < 100 || present != "ab" && present != name {
					cell = CellAbsent
				}
				b.CellMeta(c).Cells = append(b.CellMeta(c).Cells, cell)
			}
		}
		b.SetLen(300)
		tm, groups, body := blockOf(t, b, 50, EncodeOptions{})
		parsed, err := ParseTemplate(s, tm.AppendTo(nil))
		require.NoError(t, err)
		require.NoError(t, d.Open(parsed, groups, 300, 1, body))
		got := NewBatch(s)
		got.clear()
		require.NoError(t, d.Decode(got, 0, groups, nil))
		require.Equal(t, b.text(), got.text())
	}
}

// Every byte of a block belongs to a stream or to the groups' numbers.
func TestSizesSum(t *testing.T) {
	for seed := range 30 {
		s, tm, groups, rows, parts, body := sampleBlock(t, seed)
		parsed, err := ParseTemplate(s, tm)
		require.NoError(t, err)
		d := NewBlockDecoder(s)
		require.NoError(t, d.Open(parsed, groups, rows, parts, body))
		var sizes Sizes
		for range 2 {
			d.AddTo(&sizes)
		}
		require.EqualValues(t, 2*len(body), sizesSum(&sizes))
	}
	// Parameters go to the streams that they are of.
	b := metrics5(t, 1, 128*64, true)
	tm, groups, body := blockOf(t, b, 128, EncodeOptions{})
	d := NewBlockDecoder(b.Schema())
	require.NoError(t, d.Open(tm, groups, b.Len(), 1, body))
	var sizes Sizes
	d.AddTo(&sizes)
	require.EqualValues(t, len(body), sizesSum(&sizes))
	params := map[string]int64{}
	for _, st := range sizes.Streams {
		params[st.Name] = st.Params
		require.Equal(t, st.Column >= 0 && st.Name == b.Schema().Column(max(0, st.Column)).Name, st.Values, st.Name)
	}
	require.Positive(t, params["value"])
	require.Positive(t, params["$write_time"])
	require.Zero(t, params["$kind"])
	require.Less(t, sizes.BlockParams, int64(200))
}

func sizesSum(s *Sizes) int64 {
	sum := s.BlockParams
	for _, st := range s.Streams {
		sum += st.Payload + st.Metadata + st.Params
	}
	return sum
}

// The lengths among keys are metadata also where the chunk is compressed.
func TestSizesOfCompressedKeys(t *testing.T) {
	s, err := NewSchema([]Column{{Name: "k", Type: Text}}, nil, nil, nil)
	require.NoError(t, err)
	b := NewBatch(s)
	for i := range 500 {
		b.BeginPartition(fmt.Appendf(nil, "%09d%0*d", i*7919%1000, i%5+1, 1))
	}
	seg, err := NewSegmentEncoder(s, EncodeOptions{ZstdMeta: true}).Encode(b, []Span{{0, 0, 0, 500}})
	require.NoError(t, err)
	var ts TemplateSet
	_, tm, _ := ts.Choose(seg, 0, 1)
	d := NewBlockDecoder(s)
	require.NoError(t, d.Open(tm, 1, 0, 500, seg.AppendBlock(nil, 0, 1, tm)))
	var sizes Sizes
	d.AddTo(&sizes)
	key := sizes.Streams[sKey]
	require.EqualValues(t, 1, key.Zstd)
	require.Positive(t, key.Metadata)
	require.Greater(t, key.Payload, key.Metadata)
}

func BenchmarkChooseWide(b *testing.B) {
	s := wide(b, 2000)
	batch := NewBatch(s)
	const n = 128 * 16
	for i := range n {
		for c := range 2001 {
			*batch.Int64s(c) = append(*batch.Int64s(c), int64(i*c))
		}
	}
	e := NewSegmentEncoder(s, EncodeOptions{})
	spans := groupsOf(batch, 128)
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		seg, _ := e.Encode(batch, spans)
		var ts TemplateSet
		for g := range spans {
			_, tm, _ := ts.Choose(seg, g, g+1)
			dst = seg.AppendBlock(dst[:0], g, g+1, tm)
		}
	}
}
