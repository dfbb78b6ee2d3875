package alp_test

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	parquetenc "github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/parquetfmt/alp"
)

const shared = "../../../shared/testdata/parquet-alp"

// patterns are the bits of a leaf of the schema, row by row.
type patterns map[string][]uint64

// read reads a Parquet file of flat FLOAT and DOUBLE columns: their bits, and
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

// leaf is an optional or required column of a kind in an encoding.
func leaf(kind parquet.Type, enc parquetenc.Encoding, optional bool) parquet.Node {
	n := parquet.Encoded(parquet.Leaf(kind), enc)
	if optional {
		return parquet.Optional(n)
	}
	return n
}

// extendedRows are values of all the kinds that ALP treats in a way of its own,
// in runs, and about as many bits of nulls.
func extendedRows(n int) (values []float64, nulls []bool) {
	r := rand.New(rand.NewPCG(9, 9))
	special := []float64{
		math.NaN(), math.Float64frombits(0x7ff0000000000001), math.Float64frombits(0xfff8000000abcdef), math.Inf(1), math.Inf(-1),
		math.Copysign(0, -1), 0, 5e-324, 1e-45, 1e-310, math.MaxFloat64, 1 << 62, -1 << 63, 1<<53 + 2, 2147483520, 0.1, -7.5,
	}
	values, nulls = make([]float64, n), make([]bool, n)
	for i := range values {
		switch i / 1000 % 9 {
		case 0: // decimals
			values[i] = math.Round(r.Float64()*1e5) / 100
		case 1: // a constant: no bits
			values[i] = 42.5
		case 2: // all exceptions
			values[i] = special[r.IntN(6)]
		case 3: // wide integers
			values[i] = float64(r.Int64())
		case 4: // full precision
			values[i] = r.NormFloat64()
		case 5:
			values[i] = special[r.IntN(len(special))]
		case 6: // outliers
			values[i] = float64(r.IntN(100)) / 10
			if r.IntN(50) == 0 {
				values[i] = 1e12
			}
		case 7: // one NaN for all
			values[i] = math.Float64frombits(0x7ff800000000beef)
		case 8: // integers
			values[i] = float64(i)
		}
		nulls[i] = r.IntN(7) == 0 || i/500 == 3
	}
	return values, nulls
}

// extendedFile writes columns of each vector size 2^log, with and without nulls,
// or as PLAIN for 0.
func extendedFile(t *testing.T, n int, logs []uint8, options ...parquet.WriterOption) []byte {
	values, nulls := extendedRows(n)
	group := parquet.Group{}
	for _, optional := range []string{"", "_optional"} {
		for _, log := range logs {
			var enc parquetenc.Encoding = &alp.Encoding{LogVectorSize: log}
			if log == 0 {
				enc = &parquet.Plain
			}
			group[fmt.Sprintf("double_%d%s", log, optional)] = leaf(parquet.DoubleType, enc, optional != "")
			group[fmt.Sprintf("float_%d%s", log, optional)] = leaf(parquet.FloatType, enc, optional != "")
		}
	}
	var file bytes.Buffer
	schema := parquet.NewSchema("extended", group)
	w := parquet.NewWriter(&file, append(options, schema)...)
	rows := make([]parquet.Row, n)
	for i := range rows {
		for c, path := range schema.Columns() {
			v := parquet.DoubleValue(values[i])
			if strings.HasPrefix(path[0], "float") {
				// No conversion, which would change NaNs.
				v = parquet.FloatValue(math.Float32frombits(uint32(math.Float64bits(values[i]) >> 32)))
				if i/1000%9%2 == 0 {
					v = parquet.FloatValue(float32(values[i]))
				}
			}
			definition := 0
			if strings.HasSuffix(path[0], "_optional") {
				definition = 1
				if nulls[i] {
					v, definition = parquet.NullValue(), 0
				}
			}
			rows[i] = append(rows[i], v.Level(0, definition, c))
		}
	}
	_, err := w.WriteRows(rows)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return file.Bytes()
}

func TestExtended(t *testing.T) {
	for name, options := range map[string][]parquet.WriterOption{
		"v2, Zstd":    {parquet.Compression(&parquet.Zstd)},
		"v1":          {parquet.DataPageVersion(1)},
		"small pages": {parquet.PageBufferSize(5000), parquet.MaxRowsPerRowGroup(4000)},
	} {
		t.Run(name, func(t *testing.T) {
			file := extendedFile(t, 9032, []uint8{0, 5, 10, 12}, options...)
			checkEncodings(t, file)
			got, err := read(file)
			require.NoError(t, err)
			require.Len(t, got, 16)
			for column, values := range got {
				kind, rest, _ := strings.Cut(column, "_")
				_, suffix, _ := strings.Cut(rest, "_")
				plain := kind + "_0"
				if suffix != "" {
					plain += "_" + suffix
				}
				require.Len(t, values, 9032)
				require.Equal(t, got[plain], values, column)
			}
		})
	}
}

// checkEncodings says that the columns of a file are what their names promise.
func checkEncodings(t *testing.T, file []byte) {
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	for _, g := range f.Metadata().RowGroups {
		for _, c := range g.Columns {
			name := strings.Join(c.MetaData.PathInSchema, ".")
			want := alp.Format
			if strings.Contains(name, "_0") {
				want = parquet.Plain.Encoding()
			}
			require.Contains(t, c.MetaData.Encoding, want, name)
		}
	}
}

// Every byte of the pages of a file altered: an error or the same values; and
// without checksums an error or as many values, but never a panic.
func TestAlteredFiles(t *testing.T) {
	versions := []int{1, 2}
	if strconv.IntSize == 32 {
		versions = versions[1:] // parquet-go takes the length of levels, of 32 bits without a sign, for an int
	}
	for _, version := range versions {
		file := extendedFile(t, 40, []uint8{5}, parquet.DataPageVersion(version))
		end := len(file) - 8 - int(binary.LittleEndian.Uint32(file[len(file)-8:]))
		want, err := read(file)
		require.NoError(t, err)
		bare := withoutChecksums(t, file)
		again, err := read(bare)
		require.NoError(t, err)
		require.Equal(t, want, again)
		altered, survived := 0, 0
		for i := 4; i < end; i++ {
			for _, mask := range []byte{1, 0x80, 0xff} {
				file[i] ^= mask
				got, err := read(file)
				if err == nil {
					require.Equal(t, want, got, "byte %d", i)
				}
				file[i] ^= mask

				bare[i] ^= mask
				got, err = read(bare)
				altered++
				if err == nil {
					survived++
					for name := range want {
						require.LessOrEqual(t, len(got[name]), len(want[name]), "byte %d", i)
					}
				}
				bare[i] ^= mask
			}
		}
		t.Logf("version %d: %d of %d alterations of the file without checksums were no error", version, survived, altered)
	}
}

// withoutChecksums sets the checksums of all pages to 0, which stands for none.
func withoutChecksums(t *testing.T, file []byte) []byte {
	out := bytes.Clone(file)
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	for _, g := range f.Metadata().RowGroups {
		for _, c := range g.Columns {
			chunk := out[c.MetaData.DataPageOffset:][:c.MetaData.TotalCompressedSize]
			var header format.PageHeader
			r := bytes.NewReader(chunk)
			require.NoError(t, thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(r)).Decode(&header))
			crc := binary.AppendVarint(nil, int64(header.CRC))
			at := bytes.Index(chunk[:len(chunk)-r.Len()], crc)
			require.Positive(t, at)
			for i := range crc {
				chunk[at+i] = 0x80 // no bits, and more follow
			}
			chunk[at+len(crc)-1] = 0
		}
	}
	return out
}

// T21: nulls are no values of a page, and pages follow one another.
func TestT21NullsAndPages(t *testing.T) {
	const n = 3000
	schema := parquet.NewSchema("nulls", parquet.Group{
		"double": leaf(parquet.DoubleType, new(alp.Encoding), true),
		"float":  leaf(parquet.FloatType, new(alp.Encoding), true),
	})
	for _, version := range []int{1, 2} {
		var file bytes.Buffer
		w := parquet.NewWriter(&file, schema, parquet.DataPageVersion(version), parquet.PageBufferSize(2000))
		want := patterns{}
		for i := range n {
			double, float := parquet.DoubleValue(float64(i)/10), parquet.FloatValue(float32(i)/10)
			level := 1
			if i%10 == 5 {
				double, float, level = parquet.NullValue(), parquet.NullValue(), 0
				want["double"] = append(want["double"], ^uint64(0))
				want["float"] = append(want["float"], ^uint64(0))
			} else {
				want["double"] = append(want["double"], math.Float64bits(float64(i)/10))
				want["float"] = append(want["float"], uint64(math.Float32bits(float32(i)/10)))
			}
			_, err := w.WriteRows([]parquet.Row{{double.Level(0, level, 0), float.Level(0, level, 1)}})
			require.NoError(t, err)
		}
		require.NoError(t, w.Close())
		f, err := parquet.OpenFile(bytes.NewReader(file.Bytes()), int64(file.Len()))
		require.NoError(t, err)
		for _, c := range f.RowGroups()[0].ColumnChunks() {
			index, err := c.OffsetIndex()
			require.NoError(t, err)
			require.GreaterOrEqual(t, index.NumPages(), 4)
		}
		got, err := read(file.Bytes())
		require.NoError(t, err)
		require.Equal(t, want, got, "version %d", version)
	}
}

// T29: no rows, only nulls, and exactly full vectors and row groups.
func TestT29Multiples(t *testing.T) {
	for _, n := range []int{0, 1, 1024, 2048, 4096} {
		for _, null := range []bool{false, true} {
			schema := parquet.NewSchema("multiples", parquet.Group{"v": leaf(parquet.DoubleType, new(alp.Encoding), null)})
			var file bytes.Buffer
			w := parquet.NewWriter(&file, schema, parquet.MaxRowsPerRowGroup(2048))
			var want []uint64
			for i := range n {
				v := parquet.DoubleValue(float64(i)/4).Level(0, 0, 0)
				want = append(want, math.Float64bits(float64(i)/4))
				if null {
					v = parquet.NullValue().Level(0, 0, 0)
					want[i] = ^uint64(0)
				}
				_, err := w.WriteRows([]parquet.Row{{v}})
				require.NoError(t, err)
			}
			require.NoError(t, w.Close())
			f, err := parquet.OpenFile(bytes.NewReader(file.Bytes()), int64(file.Len()))
			require.NoError(t, err)
			require.Len(t, f.RowGroups(), (n+2047)/2048)
			got, err := read(file.Bytes())
			require.NoError(t, err)
			require.Equal(t, want, got["v"])
		}
	}
}
