package whatif

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/rowgroup"
)

// What is chosen takes what it takes in the file, with and without Zstd, and
// every other encoding that holds a column is there.
func TestCompare(t *testing.T) {
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "k", Type: rowgroup.Text}}, []rowgroup.Column{{Name: "t", Type: rowgroup.Bigint}}, nil,
		[]rowgroup.Column{{Name: "v", Type: rowgroup.Double}, {Name: "s", Type: rowgroup.Text}, {Name: "none", Type: rowgroup.Int}})
	require.NoError(t, err)
	b := rowgroup.NewBatch(s)
	b.Clear()
	for _, key := range []string{"a", "b"} {
		b.BeginPartition([]byte(key))
		for i := range int64(1000) {
			*b.Int64s(s.Lookup("t")) = append(*b.Int64s(s.Lookup("t")), i*i)
			*b.Float64s(s.Lookup("v")) = append(*b.Float64s(s.Lookup("v")), float64(i%70)/10)
			require.NoError(t, b.Bytes(s.Lookup("s")).Append([]byte{'a' + byte(i%3), 'x', 'y'}))
		}
	}
	b.CellMeta(s.Lookup("none")).Cells = make([]rowgroup.Cell, b.Len())
	for i := range b.CellMeta(s.Lookup("none")).Cells {
		b.CellMeta(s.Lookup("none")).Cells[i] = rowgroup.CellAbsent
		*b.Int32s(s.Lookup("none")) = append(*b.Int32s(s.Lookup("none")), 0)
	}
	for _, zstd := range [][]string{nil, {"*"}, {"s", "v"}} {
		table := Table{Schema: s, Rows: []*rowgroup.Batch{b}, Layout: []columnar.Option{columnar.WithRowGroupRows(100)}, Zstd: zstd}
		got, err := table.Compare(context.Background())
		require.NoError(t, err)
		require.Equal(t, int64(2000), got.Rows)
		require.Equal(t, int64(20), got.RowGroups)

		var file bytes.Buffer
		w, err := columnar.NewWriter(&file, s, columnar.WithRowGroupRows(100), columnar.WithColumnCompression(zstd...))
		require.NoError(t, err)
		require.NoError(t, w.Append(b))
		require.NoError(t, w.Close())
		r, err := columnar.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
		require.NoError(t, err)
		d, err := r.Describe(context.Background())
		require.NoError(t, err)
		real := map[string]columnar.ColumnDescription{}
		for _, c := range d.Columns {
			real[c.Name] = c
		}
		tried := map[string]map[string]bool{}
		for _, c := range got.Columns {
			tried[c.Name] = map[string]bool{}
			for i, x := range c.Choices {
				require.Equal(t, i == 0, x.Chosen)
				require.LessOrEqual(t, x.ZstdBytes, x.Bytes)
				for name := range x.Encodings {
					tried[c.Name][name] = true
				}
				if i > 1 {
					require.LessOrEqual(t, c.Choices[i-1].Bytes, x.Bytes)
				}
			}
			require.Equal(t, real[c.Name].Encodings, c.Choices[0].Encodings, c.Name)
			switch {
			case zstd == nil:
				require.Equal(t, real[c.Name].Bytes, c.Choices[0].Bytes, c.Name)
			case zstd[0] == "*":
				require.InDelta(t, real[c.Name].Bytes, c.Choices[0].ZstdBytes, 40, c.Name)
			}
		}
		for _, name := range []string{"delta_of_delta", "raw", "run_length"} {
			require.True(t, tried["t"][name], name)
		}
		for _, name := range []string{"alp", "raw", "byte_stream_split"} {
			require.True(t, tried["v"][name], name)
		}
		for _, name := range []string{"dictionary", "length_bytes", "front_coded"} {
			require.True(t, tried["s"][name], name)
		}
		require.Empty(t, tried["none"])
		require.NotContains(t, tried, "k", "it is in $key")
	}
}
