package parquetfmt

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// handMade is a file of one column of so many int32 values, in the pages given
// after their headers.
func handMade(t *testing.T, codec format.CompressionCodec, values int64, groups int, pages ...any) []byte {
	encode := func(v any) []byte {
		b, err := thrift.Marshal(new(thrift.CompactProtocol), v)
		require.NoError(t, err)
		return b
	}
	file := []byte(magic)
	data := int64(len(file))
	dictionary := int64(0)
	for i := 0; i < len(pages); i += 2 {
		h, body := pages[i].(*format.PageHeader), pages[i+1].([]byte)
		at := int64(len(file))
		if h.Type == format.DictionaryPage {
			dictionary = at
		} else {
			data = at
		}
		h.CompressedPageSize = int32(len(body))
		file = append(append(file, encode(h)...), body...)
	}
	meta := &format.FileMetaData{
		Version: 1, NumRows: values * int64(groups),
		Schema: []format.SchemaElement{
			{Name: "schema", NumChildren: thrift.New(int32(1))},
			{Name: "n", Type: thrift.New(format.Int32), RepetitionType: thrift.New(format.Required)},
		},
	}
	for range groups {
		meta.RowGroups = append(meta.RowGroups, format.RowGroup{NumRows: values, Columns: []format.ColumnChunk{{MetaData: format.ColumnMetaData{
			Type: format.Int32, Encoding: []format.Encoding{format.Plain}, PathInSchema: []string{"n"}, Codec: codec, NumValues: values,
			TotalCompressedSize: int64(len(file) - len(magic)), TotalUncompressedSize: 1, DataPageOffset: data, DictionaryPageOffset: dictionary,
		}}}})
	}
	footer := encode(meta)
	file = append(file, footer...)
	file = binary.LittleEndian.AppendUint32(file, uint32(len(footer)))
	return append(file, magic...)
}

// dataPage is the header of a page of so many values, which take some bytes.
func dataPage(values, size int, e format.Encoding) *format.PageHeader {
	h := &format.PageHeader{Type: format.DataPage, UncompressedPageSize: int32(size)}
	h.DataPageHeader = thrift.New(format.DataPageHeader{
		NumValues: int32(values), Encoding: e, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
	})
	return h
}

// compressors compress a page of each codec; Zstd without the length in front too.
var compressors = map[string]struct {
	codec    format.CompressionCodec
	compress func(b []byte) []byte
}{
	"snappy": {format.Snappy, func(b []byte) []byte { return snappy.Encode(nil, b) }},
	"lz4": {format.Lz4Raw, func(b []byte) []byte {
		dst := make([]byte, lz4.CompressBlockBound(len(b)))
		n, _ := lz4.CompressBlock(b, dst, nil)
		return dst[:n]
	}},
	"gzip": {format.Gzip, func(b []byte) []byte {
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		_, _ = w.Write(b)
		_ = w.Close()
		return z.Bytes()
	}},
	"brotli": {format.Brotli, func(b []byte) []byte {
		var z bytes.Buffer
		w := brotli.NewWriter(&z)
		_, _ = w.Write(b)
		_ = w.Close()
		return z.Bytes()
	}},
	"zstd": {format.Zstd, func(b []byte) []byte {
		w, _ := zstd.NewWriter(nil)
		return w.EncodeAll(b, nil)
	}},
	"zstd stream": {format.Zstd, zstdStream},
	"zstd frames": {format.Zstd, func(b []byte) []byte {
		w, _ := zstd.NewWriter(nil)
		return append(w.EncodeAll(b[:4], nil), zstdStream(b[4:])...)
	}},
}

func zstdStream(b []byte) []byte {
	var z bytes.Buffer
	w, _ := zstd.NewWriter(&z)
	_, _ = w.Write(b)
	_ = w.Close()
	return z.Bytes()
}

// scanned is the rows of a file, at most so many, and what reading them took.
func scanned(t *testing.T, file []byte, most int) (rows, memory int, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	defer func() {
		runtime.ReadMemStats(&after)
		memory = int(after.TotalAlloc - before.TotalAlloc)
	}()
	r, err := Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return 0, 0, err
	}
	it := r.Scan(context.Background(), rowgroup.ScanOptions{})
	defer func() { require.NoError(t, it.Close()) }()
	b := rowgroup.NewBatch(r.Schema())
	for rows < most {
		more, err := it.Next(b)
		if err != nil || !more {
			return rows, 0, err
		}
		rows += b.Len()
	}
	return rows, 0, nil
}

// A page that unpacks to more or less than it says, by however much, is an
// error that takes no memory for it.
func TestBombs(t *testing.T) {
	const most = 12 << 20 // bytes, the memory of the codecs included
	sound, large := make([]byte, 16), make([]byte, 32<<20)
	for name, c := range compressors {
		t.Run(name, func(t *testing.T) {
			rows, _, err := scanned(t, handMade(t, c.codec, 4, 1, dataPage(4, 16, format.Plain), c.compress(sound)), 10)
			require.NoError(t, err)
			require.Equal(t, 4, rows)
			bomb := c.compress(large)
			for _, size := range []int{4, 400_000} {
				file := handMade(t, c.codec, int64(size), 1, dataPage(size, 4*size, format.Plain), bomb)
				_, memory, err := scanned(t, file, 1)
				require.ErrorIs(t, err, encoding.ErrCorrupt)
				require.Less(t, memory, most+2*4*size, "%d values", size)
			}
			for _, size := range []int{5, 1 << 26, 1<<27 - 1} {
				file := handMade(t, c.codec, int64(size), 1, dataPage(size, 4*size, format.Plain), c.compress(sound))
				_, memory, err := scanned(t, file, 1)
				require.ErrorIs(t, err, encoding.ErrCorrupt)
				require.Less(t, memory, most, "%d values", size)
			}
			for _, size := range []int{5, 1 << 30} { // of a dictionary
				h := &format.PageHeader{Type: format.DictionaryPage, UncompressedPageSize: 16}
				h.DictionaryPageHeader = thrift.New(format.DictionaryPageHeader{NumValues: int32(size), Encoding: format.Plain})
				file := handMade(t, c.codec, 4, 1, h, c.compress(sound), dataPage(4, 16, format.RLEDictionary), c.compress(sound))
				_, memory, err := scanned(t, file, 1)
				require.True(t, errors.Is(err, encoding.ErrCorrupt) || errors.Is(err, encoding.ErrUnsupported), err)
				require.Less(t, memory, most, "a dictionary of %d values", size)
			}
		})
	}
}

// A few bytes may stand for many values, which come batch by batch.
func TestLongRun(t *testing.T) {
	const values = 1 << 30
	h := &format.PageHeader{Type: format.DictionaryPage, UncompressedPageSize: 4}
	h.DictionaryPageHeader = thrift.New(format.DictionaryPageHeader{NumValues: 1, Encoding: format.Plain})
	run := append(binary.AppendUvarint([]byte{1}, values<<1), 0)
	file := handMade(t, format.Uncompressed, values, 1, h, make([]byte, 4), dataPage(values, len(run), format.RLEDictionary), run)
	rows, memory, err := scanned(t, file, 100_000)
	require.NoError(t, err)
	require.GreaterOrEqual(t, rows, 100_000)
	require.Less(t, memory, 16<<20)
}

// Files of others may have more row groups than ours.
func TestManyRowGroups(t *testing.T) {
	const groups = MaxRowGroups + 5000
	file := handMade(t, format.Uncompressed, 4, groups, dataPage(4, 16, format.Plain), make([]byte, 16))
	rows, _, err := scanned(t, file, 1<<30)
	require.NoError(t, err)
	require.Equal(t, 4*groups, rows)
	r := openBytes(t, file)
	require.NoError(t, r.Verify(context.Background(), VerifyValues, func(err error) { t.Error(err) }))
}
