package alp_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	_ "github.com/colsst/colsst/parquetfmt/alp"
)

const shared = "../../../shared/testdata/parquet-alp"

// patterns are the bits of a leaf of the schema, row by row.
type patterns map[string][]uint64

// open reads a Parquet file of flat FLOAT and DOUBLE columns: their bits, and
// ^0 for nulls.
func read(file []byte) (out patterns, err error) {
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	out = patterns{}
	names := f.Schema().Columns()
	for _, g := range f.RowGroups() {
		for i, c := range g.ColumnChunks() {
			name := strings.Join(names[i], ".")
			if err := readColumn(c, func(v parquet.Value) {
				p := ^uint64(0)
				switch v.Kind() {
				case parquet.Double:
					p = math.Float64bits(v.Double())
				case parquet.Float:
					p = uint64(math.Float32bits(v.Float()))
				}
				out[name] = append(out[name], p)
			}); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return out, nil
}

func readColumn(c parquet.ColumnChunk, each func(parquet.Value)) (err error) {
	pages := c.Pages()
	defer func() { err = errors.Join(err, pages.Close()) }()
	for {
		page, err := pages.ReadPage()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		values := make([]parquet.Value, page.NumValues())
		n, err := page.Values().ReadValues(values)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		for _, v := range values[:n] {
			each(v)
		}
		parquet.Release(page)
	}
}

// Files of other writers.
func TestFiles(t *testing.T) {
	if _, err := os.Stat(shared); err != nil {
		t.Skip("no files of other writers here")
	}
	vectors := 0
	for _, x := range []struct {
		file, csv string
		bits      int
	}{
		{"alp_arade", "alp_arade", 64},
		{"alp_java_arade", "alp_arade", 64},
		{"alp_spotify1", "alp_spotify1", 64},
		{"alp_java_spotify1", "alp_spotify1", 64},
		{"alp_float_arade", "alp_float_arade", 32},
		{"alp_java_float_arade", "alp_float_arade", 32},
		{"alp_float_spotify1", "alp_float_spotify1", 32},
		{"alp_java_float_spotify1", "alp_float_spotify1", 32},
	} {
		t.Run(x.file, func(t *testing.T) {
			file, err := os.ReadFile(filepath.Join(shared, x.file+".parquet"))
			require.NoError(t, err)
			text, err := os.ReadFile(filepath.Join(shared, x.csv+"_expect.csv"))
			require.NoError(t, err)
			records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
			require.NoError(t, err)
			got, err := read(file)
			require.NoError(t, err)
			require.Len(t, got, len(records[0]))
			for i, name := range records[0] {
				want := make([]uint64, 0, len(records))
				for _, record := range records[1:] {
					v, err := strconv.ParseFloat(record[i], x.bits)
					require.NoError(t, err)
					if x.bits == 32 {
						want = append(want, uint64(math.Float32bits(float32(v))))
					} else {
						want = append(want, math.Float64bits(v))
					}
				}
				require.Equal(t, want, got[name], name)
				vectors += (len(want) + 1023) / 1024
			}
		})
	}
	require.Equal(t, 780, vectors)
}
