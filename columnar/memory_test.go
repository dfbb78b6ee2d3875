package columnar

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// Large values end a segment early: the writer's memory follows the options,
// not the number of rows.
func TestT67WriterMemoryIsBounded(t *testing.T) {
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "k", Type: rowgroup.Int}}, nil, nil, []rowgroup.Column{{Name: "v", Type: rowgroup.Blob}})
	require.NoError(t, err)
	w, err := NewWriter(io.Discard, s, WithRowGroupBytes(16<<10))
	require.NoError(t, err)
	b := rowgroup.NewBatch(s)
	value := bytes.Repeat([]byte{7}, 1<<20)
	var most uint64
	for i := range 200 {
		b.Reset()
		b.BeginPartition(fmt.Appendf(nil, "%04d", i))
		require.NoError(t, b.Bytes(1).Append(value))
		require.NoError(t, w.Append(b))
		if i%20 == 0 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
	}
	require.NoError(t, w.Close())
	require.Less(t, most, uint64(40<<20))
}

func TestEncodingsThatCannotHoldAColumn(t *testing.T) {
	s, err := rowgroup.NewSchema(nil, nil, nil, []rowgroup.Column{{Name: "n", Type: rowgroup.Int}, {Name: "t", Type: rowgroup.Text}})
	require.NoError(t, err)
	_, err = NewWriter(io.Discard, s, WithEncoding("n", encoding.ALP))
	require.ErrorContains(t, err, `column "n" of type int cannot be encoded as alp`)
	_, err = NewWriter(io.Discard, s, WithEncoding("*", encoding.ALP, encoding.Dictionary, encoding.RunLength))
	require.NoError(t, err)
}

// What a reader yields can be written again, also where a batch begins in the
// middle of a partition of a table with static columns.
func TestCopyWithStaticColumns(t *testing.T) {
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "k", Type: rowgroup.Int}}, []rowgroup.Column{{Name: "c", Type: rowgroup.Int}},
		[]rowgroup.Column{{Name: "s", Type: rowgroup.Text}}, []rowgroup.Column{{Name: "v", Type: rowgroup.Double}})
	require.NoError(t, err)
	b := rowgroup.NewBatch(s)
	h := b.BeginPartition([]byte("a"))
	h.Static = rowgroup.StaticFull
	require.NoError(t, b.Bytes(2).Append([]byte("one")))
	for i := range 5000 {
		*b.Int32s(1) = append(*b.Int32s(1), int32(i))
		*b.Float64s(3) = append(*b.Float64s(3), float64(i)/3)
	}
	write := func(fill func(w *Writer)) []byte {
		var out bytes.Buffer
		w, err := NewWriter(&out, s)
		require.NoError(t, err)
		fill(w)
		require.NoError(t, w.Close())
		return out.Bytes()
	}
	first := write(func(w *Writer) { require.NoError(t, w.Append(b)) })
	r, err := Open(bytes.NewReader(first), int64(len(first)))
	require.NoError(t, err)
	second := write(func(w *Writer) {
		for b, err := range r.All(t.Context(), rowgroup.ScanOptions{}) {
			require.NoError(t, err)
			require.NoError(t, w.Append(b))
		}
	})
	require.Equal(t, first, second)
}
