package alp_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/parquetfmt/alp"
)

// compressed is the size of b after Zstd.
func compressed(t *testing.T, b []byte, err error) float64 {
	t.Helper()
	require.NoError(t, err)
	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	return float64(len(z.EncodeAll(b, nil)))
}

// Decimals take much less than as byte streams with Zstd.
func TestSizeOfDecimals(t *testing.T) {
	var e alp.Encoding
	for digits := 1; digits <= 3; digits++ {
		for _, n := range []int{512, 1 << 14, 1 << 16} {
			doubles := decimalWalk(n, digits)
			floats := narrow(doubles)
			page, err := e.EncodeDouble(nil, doubles)
			require.NoError(t, err)
			streams, err := parquet.ByteStreamSplit.EncodeDouble(nil, doubles)
			require.LessOrEqual(t, float64(len(page)), 0.9*compressed(t, streams, err), "%d digits, %d doubles", digits, n)
			page, err = e.EncodeFloat(nil, floats)
			require.NoError(t, err)
			streams, err = parquet.ByteStreamSplit.EncodeFloat(nil, floats)
			require.LessOrEqual(t, float64(len(page)), 0.9*compressed(t, streams, err), "%d digits, %d floats", digits, n)
		}
	}
}

// The columns of other writers' files take no more than in those.
func TestSizeOfOthers(t *testing.T) {
	if _, err := os.Stat(shared); err != nil {
		t.Skip("no files of other writers here")
	}
	files, err := filepath.Glob(shared + "/*.parquet")
	require.NoError(t, err)
	for _, name := range files {
		file, err := os.ReadFile(name)
		require.NoError(t, err)
		f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
		require.NoError(t, err)
		columns, err := read(file)
		require.NoError(t, err)
		for _, c := range f.Metadata().RowGroups[0].Columns {
			column := c.MetaData.PathInSchema[0]
			size := int64(0)
			if parquet.Kind(c.MetaData.Type) == parquet.Double {
				var values []float64
				for _, p := range columns[column] {
					values = append(values, math.Float64frombits(p))
				}
				size = int64(len(mustAppend(t, alp.AppendDouble, values)))
			} else {
				var values []float32
				for _, p := range columns[column] {
					values = append(values, math.Float32frombits(uint32(p)))
				}
				size = int64(len(mustAppend(t, alp.AppendFloat, values)))
			}
			theirs := c.MetaData.TotalUncompressedSize // with the header of the page
			require.LessOrEqual(t, size, theirs, "%s %s", name, column)
			t.Logf("%s %s: %d bytes, theirs %d", filepath.Base(name), column, size, theirs)
		}
	}
}

func mustAppend[F float32 | float64](t *testing.T, encode func([]byte, []F) ([]byte, error), values []F) []byte {
	page, err := encode(nil, values)
	require.NoError(t, err)
	return page
}
