package parquetfmt

import (
	"bytes"
	"testing"

	"github.com/parquet-go/parquet-go/format"
	"github.com/stretchr/testify/require"
)

// TestDecodeFooter compares what is read of row groups with what the library reads.
func TestDecodeFooter(t *testing.T) {
	s, batches, _ := benchRows(t)
	for _, x := range benchSettings {
		file := writeBatches(t, s, batches, x.opts...)
		m, size, err := readFooter(bytes.NewReader(file), int64(len(file)))
		require.NoError(t, err)
		body := file[int64(len(file))-trailerLen-size:]
		var want format.FileMetaData
		_, err = decodeStruct(body, &want)
		require.NoError(t, err)
		for g := range want.RowGroups {
			for i := range want.RowGroups[g].Columns {
				c := &want.RowGroups[g].Columns[i].MetaData
				c.PathInSchema, c.SizeStatistics = nil, format.SizeStatistics{}
			}
		}
		require.Equal(t, &want, m)
		// The headers of the first pages.
		for i := range m.RowGroups[0].Columns {
			b := file[chunkStart(&m.RowGroups[0].Columns[i].MetaData):]
			var got, want format.PageHeader
			n, err := decodePageHeader(b, &got)
			require.NoError(t, err)
			k, err := decodeStruct(b, &want)
			require.NoError(t, err)
			require.Equal(t, k, n)
			require.Equal(t, want, got)
		}
	}
}
