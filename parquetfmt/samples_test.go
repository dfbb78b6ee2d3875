package parquetfmt

import (
	"context"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

const samples = "../../shared/testdata/"

// openSample opens a sample file of others.
func openSample(t *testing.T, name string, opts ...ReadOption) *Reader {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(samples, name))
	if err != nil {
		t.Skip("samples are not there:", err)
	}
	r := openBytes(t, file, opts...)
	require.NoError(t, r.Verify(context.Background(), VerifyValues, nil))
	return r
}

// textOf is all values of a table as text, "" for null.
func textOf(t *testing.T, r *Reader) (rows [][]string) {
	t.Helper()
	it := r.Scan(context.Background(), rowgroup.ScanOptions{})
	b := rowgroup.NewBatch(r.Schema())
	for {
		ok, err := it.Next(b)
		require.NoError(t, err)
		if !ok {
			return rows
		}
		require.NoError(t, b.Check())
		for i := range b.Len() {
			var row []string
			for col := range r.Schema().NumColumns() {
				v, ok := b.AppendValue(nil, col, i)
				text := ""
				if ok {
					text = string(rowgroup.AppendText(nil, r.Schema().Column(col).Type, v))
				}
				row = append(row, text)
			}
			rows = append(rows, row)
		}
	}
}

func expected(t *testing.T, name string) (header []string, rows [][]string) {
	t.Helper()
	f, err := os.Open(filepath.Join(samples, name))
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	all, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	return all[0], all[1:]
}

func TestSamplesWithCSV(t *testing.T) {
	for _, name := range []string{"delta_binary_packed", "delta_encoding_required_column", "delta_encoding_optional_column"} {
		t.Run(name, func(t *testing.T) {
			got := textOf(t, openSample(t, "parquet-testing/"+name+".parquet"))
			_, want := expected(t, "parquet-testing/"+name+"_expect.csv")
			require.Equal(t, want, got)
		})
	}
}

func TestSamplesOfALP(t *testing.T) {
	for _, name := range []string{"alp_arade", "alp_float_arade", "alp_spotify1", "alp_float_spotify1"} {
		for _, file := range []string{name, strings.Replace(name, "alp_", "alp_java_", 1)} {
			t.Run(file, func(t *testing.T) {
				got := textOf(t, openSample(t, "parquet-alp/"+file+".parquet"))
				_, want := expected(t, "parquet-alp/"+name+"_expect.csv")
				require.Len(t, got, len(want))
				bits := 64
				if strings.Contains(name, "float") {
					bits = 32
				}
				for i := range want {
					for k := range want[i] {
						x, err := strconv.ParseFloat(want[i][k], bits)
						require.NoError(t, err)
						y, err := strconv.ParseFloat(got[i][k], bits)
						require.NoError(t, err)
						require.Equal(t, math.Float64bits(x), math.Float64bits(y), "row %d, column %d", i, k)
					}
				}
			})
		}
	}
}

func TestSamplesOfByteStreamSplit(t *testing.T) {
	r := openSample(t, "parquet-testing/byte_stream_split_extended.gzip.parquet")
	rows := textOf(t, r)
	require.Len(t, rows, 200)
	pairs := 0
	for col := range r.Schema().NumColumns() {
		other := r.Schema().Lookup(strings.Replace(r.Schema().Column(col).Name, "_plain", "_byte_stream_split", 1))
		if other == col {
			continue
		}
		pairs++
		for i := range rows {
			require.Equal(t, rows[i][col], rows[i][other])
		}
	}
	require.Equal(t, 7, pairs)

	rows = textOf(t, openSample(t, "parquet-testing/byte_stream_split.zstd.parquet"))
	require.Len(t, rows, 300)
	require.Equal(t, "1.7640524", rows[0][0]) // the first normal of numpy's seed 0
}

func TestSamplesOfNulls(t *testing.T) {
	for name, n := range map[string]int{"page_v2_empty_compressed": 10, "datapage_v2_empty_datapage.snappy": 1} {
		rows := textOf(t, openSample(t, "parquet-testing/"+name+".parquet"))
		require.Len(t, rows, n)
		for _, row := range rows {
			require.Empty(t, strings.Join(row, ""))
		}
	}
}

func TestSamplesOfNaNs(t *testing.T) {
	require.Equal(t, [][]string{{"1"}, {"NaN"}}, textOf(t, openSample(t, "parquet-testing/nan_in_stats.parquet")))
	require.Len(t, textOf(t, openSample(t, "parquet-testing/single_nan.parquet")), 1)
	require.Len(t, textOf(t, openSample(t, "parquet-testing/floating_orders_nan_count.parquet")), 50)
}
