package rowgroup

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAppendValue(t *testing.T) {
	s, err := NewSchema(nil, nil, []Column{{Name: "s", Type: Text}}, []Column{{Name: "i", Type: Int}, {Name: "b", Type: Bigint},
		{Name: "f", Type: Float}, {Name: "d", Type: Double}, {Name: "t", Type: Text}})
	require.NoError(t, err)
	b := NewBatch(s)
	*b.Int32s(1) = []int32{1, 2, 3, 4, 5}
	*b.Int64s(2) = []int64{-1, 0, 0, 0, 0}
	*b.Float32s(3) = []float32{1, 0, 0, 0, 0}
	*b.Float64s(4) = []float64{1, 0, 0, 0, 0}
	for range 5 {
		require.NoError(t, b.Bytes(5).Append([]byte("x")))
	}
	m := b.CellMeta(1)
	m.Cells = []Cell{CellAsRow, CellAbsent, CellEmpty, CellException, CellTombstone}
	m.Expiries = make([]int64, 5)
	m.Exceptions = []Exception{{Row: 3, Value: []byte{9}}}
	require.NoError(t, b.Check())
	for i, want := range []string{"\x00\x00\x00\x01", "", "", "\x09", ""} {
		got, ok := b.AppendValue([]byte("-"), 1, i)
		require.Equal(t, i != 1 && i != 4, ok, "row %d", i)
		require.Equal(t, "-"+want, string(got))
	}
	for col, want := range map[int]string{2: "\xff\xff\xff\xff\xff\xff\xff\xff", 3: "\x3f\x80\x00\x00", 4: "\x3f\xf0\x00\x00\x00\x00\x00\x00", 5: "x"} {
		got, ok := b.AppendValue(nil, col, 0)
		require.True(t, ok)
		require.Equal(t, want, string(got))
	}
	_, ok := b.AppendValue(nil, 0, 0)
	require.False(t, ok, "a static column that was never filled")
}

// PutValue is the inverse of AppendValue.
func TestPutValue(t *testing.T) {
	types := []Type{Int, Bigint, Float, Double, Text, UUID, Boolean}
	var columns []Column
	for _, typ := range types {
		columns = append(columns, Column{Name: typ.String(), Type: typ})
	}
	s, err := NewSchema(nil, nil, []Column{{Name: "s", Type: Int}}, columns)
	require.NoError(t, err)
	b := NewBatch(s)
	b.Partition(0).Static = StaticFull
	require.NoError(t, b.PutValue(0, 0, []byte("\x00\x00\x00\x07"), true))
	values := [][]byte{[]byte("\x00\x00\x00\x07"), nil, {}, {9}, []byte("\x00\x00\x00\x00\x00\x00\x00\x07"), []byte("0123456789abcdef"), []byte("\xff"), {1}}
	for i, v := range values {
		for col := range columns {
			require.NoError(t, b.PutValue(1+col, i, v, v != nil))
		}
	}
	require.NoError(t, b.Check())
	require.Equal(t, len(values), b.Len())
	for i, want := range values {
		for col := range columns {
			got, ok := b.AppendValue([]byte{}, 1+col, i)
			require.Equal(t, want != nil, ok)
			if ok {
				require.Equal(t, want, got, "%s row %d", types[col], i)
			}
		}
	}
	v, ok := b.AppendValue(nil, 0, 0)
	require.True(t, ok)
	require.Equal(t, values[0], v)
	require.Empty(t, b.CellMeta(0).Cells)
}
