package cassandra

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

const marshal = "org.apache.cassandra.db.marshal."

// makeHeader makes a header from short class names; static and regular columns
// are "name Class".
func makeHeader(tb testing.TB, key string, clustering, static, regular []string) *Header {
	h := &Header{MinTimestamp: timestampEpoch, MinLocalDeletionTime: deletionTimeEpoch}
	column := func(name, class string) Column {
		c, err := newColumn(name, marshal+class)
		require.NoError(tb, err)
		return c
	}
	h.Key = column("", key)
	for _, class := range clustering {
		h.Clustering = append(h.Clustering, column("", class))
	}
	for i, list := range [][]string{static, regular} {
		var cols []Column
		for _, text := range list {
			name, class, _ := strings.Cut(text, " ")
			c := column(name, class)
			c.Complex = c.Type.MultiCell()
			cols = append(cols, c)
		}
		sortColumns(cols)
		*[]*[]Column{&h.Static, &h.Regular}[i] = cols
	}
	return h
}

// making says how a table is made an SSTable.
type making struct {
	compressor    string // "": none
	chunkLength   int
	maxCompressed int  // 0: never raw
	trailing      bool // an empty chunk at the end
	blockLength   int  // of an index block; 0: no blocks
	summaryEvery  int
}

var zstdEncoder = sync.OnceValue(func() *zstd.Encoder {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	return z
})

// compressChunk is the inverse of the decompressors.
func compressChunk(tb require.TestingT, class string, data []byte) []byte {
	switch class {
	case "LZ4Compressor":
		dst := make([]byte, 4+lz4.CompressBlockBound(len(data)))
		binary.LittleEndian.PutUint32(dst, uint32(len(data)))
		n, err := lz4.CompressBlock(data, dst[4:], nil)
		require.NoError(tb, err)
		if n == 0 { // it would not be smaller: one run of literals
			return append(dst[:4], lz4Literals(data)...)
		}
		return dst[:4+n]
	case "SnappyCompressor":
		return s2.EncodeSnappy(nil, data)
	case "DeflateCompressor":
		var b bytes.Buffer
		z := zlib.NewWriter(&b)
		_, err := z.Write(data)
		require.NoError(tb, err)
		require.NoError(tb, z.Close())
		return b.Bytes()
	case "ZstdCompressor":
		return zstdEncoder().EncodeAll(data, nil)
	}
	return data
}

// lz4Literals is an LZ4 block of literals alone.
func lz4Literals(data []byte) []byte {
	n := len(data)
	dst := []byte{byte(min(n, 15) << 4)}
	if n >= 15 {
		for n -= 15; n >= 255; n -= 255 {
			dst = append(dst, 255)
		}
		dst = append(dst, byte(n))
	}
	return append(dst, data...)
}

// makeData makes Data.db with what describes its chunks.
func makeData(tb require.TestingT, v Version, body []byte, m making) (data []byte, info *CompressionInfo, sums *Checksums) {
	if m.compressor == "" {
		sums = &Checksums{ChunkLength: m.chunkLength}
		for from := 0; from < len(body); from += m.chunkLength {
			sums.CRCs = append(sums.CRCs, crc32.ChecksumIEEE(body[from:min(from+m.chunkLength, len(body))]))
		}
		return body, nil, sums
	}
	info = &CompressionInfo{
		Compressor: m.compressor, ChunkLength: m.chunkLength, MaxCompressedLength: math.MaxInt32, DataLength: int64(len(body)),
		Options: []CompressionOption{{"made_by", "test"}},
	}
	if m.maxCompressed > 0 {
		info.MaxCompressedLength = m.maxCompressed
	}
	for from := 0; from < len(body) || m.trailing && from < len(body)+m.chunkLength; from += m.chunkLength {
		chunk := body[min(from, len(body)):min(from+m.chunkLength, len(body))]
		stored := compressChunk(tb, m.compressor, chunk)
		if v.hasChecksums() && len(stored) >= info.MaxCompressedLength {
			stored = append([]byte(nil), chunk...)
			for len(stored) < info.MaxCompressedLength {
				stored = append(stored, 0)
			}
		}
		info.Offsets = append(info.Offsets, int64(len(data)))
		data = append(data, stored...)
		data = binary.BigEndian.AppendUint32(data, crc32.ChecksumIEEE(stored))
	}
	return data, info, nil
}

// makeSSTable makes the files of an SSTable, by component. Partitions are in
// the order of its partitioner.
func makeSSTable(tb require.TestingT, x *table, m making) map[Component][]byte {
	v := x.version
	body := x.body(tb)
	data, info, sums := makeData(tb, v, body, m)
	files := map[Component][]byte{
		ComponentData:   data,
		ComponentDigest: []byte(strconv.FormatUint(uint64(crc32.ChecksumIEEE(data)), 10)),
	}
	if info != nil {
		files[ComponentCompressionInfo] = info.Append(nil, v)
	} else {
		files[ComponentCRC] = sums.Append(nil)
	}
	entries := x.indexEntries(tb, body, m.blockLength)
	if v.bti() {
		makeTries(tb, files, x, entries)
	} else {
		makeIndex(files, v, x.header, entries, max(m.summaryEvery, 1))
	}
	stats := &Stats{
		PartitionSizes: []Bucket{{1, 2}}, CellsPerPartition: []Bucket{{3, 4}, {5, 6}},
		MinTimestamp: 1, MaxTimestamp: 2, MinLocalDeletionTime: 3, MaxLocalDeletionTime: v.NoDeletionTime(), MaxTTL: 5,
		CompressionRatio: 0.5, MaxTombstoneBins: 100, Tombstones: []TombstoneBin{{1_700_000_000, 3}}, TotalColumnsSet: 7, TotalRows: 8,
		CommitLogIntervals: []CommitLogInterval{{CommitLogPosition{1, 2}, CommitLogPosition{3, 4}}},
		MinClustering:      [][]byte{{1}}, MaxClustering: [][]byte{{2}, {}},
		ClusteringTypes: []string{marshal + "Int32Type"}, CoveredStart: Bound{1, [][]byte{{0, 0, 0, 1}}}, CoveredEnd: Bound{6, nil},
		PendingRepair: make([]byte, 16), OriginatingHost: make([]byte, 16), TokenSpaceCoverage: math.NaN(),
	}
	files[ComponentStatistics] = AppendStatistics(nil, v, &StatisticsFile{
		RawValidation: x.sstable().Statistics.Validation.Append(nil),
		RawCompaction: []byte{0, 0, 0, 1, 9},
		RawStats:      stats.Append(nil, v),
		RawHeader:     x.header.Append(nil),
	})
	toc := "TOC.txt\n"
	for _, c := range slices.Sorted(maps.Keys(files)) {
		toc += string(c) + "\n"
	}
	files[ComponentTOC] = []byte(toc)
	return files
}

// write puts the files into a directory and returns the path of Data.db.
func write(tb testing.TB, dir string, v Version, files map[Component][]byte) string {
	d := Descriptor{v, "1"}
	for c, b := range files {
		require.NoError(tb, os.WriteFile(filepath.Join(dir, d.FileName(c)), b, 0o600))
	}
	return filepath.Join(dir, d.FileName(ComponentData))
}

// madeEntry is what an index has to say of one partition, for both formats.
type madeEntry struct {
	IndexEntry
	opens []rowgroup.Deletion // at the start of each block
	end   int64               // of the partition
}

// indexEntries scans the body and cuts partitions into blocks.
func (x *table) indexEntries(tb require.TestingT, body []byte, blockLength int) (list []*madeEntry) {
	r := NewBodyReader(bytes.NewReader(body), x.version, x.header)
	var e *madeEntry
	var last Prefix
	open := rowgroup.LiveDeletion
	endBlock := func(at int64) {
		if n := len(e.Blocks); n > 0 {
			b := &e.Blocks[n-1]
			b.Last, b.Width = Prefix{last.Kind, cloneValues(last.Values)}, at-e.Position-b.Offset
			if !open.Live() {
				d := open
				b.Open = &d
			}
		}
	}
	for {
		event, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		require.NoError(tb, err)
		switch event {
		case PartitionBegin:
			p := r.Partition()
			e = &madeEntry{IndexEntry: IndexEntry{Key: bytes.Clone(p.Key), Position: p.Position, Deletion: p.Deletion}}
			open = rowgroup.LiveDeletion
			list = append(list, e)
			continue
		case PartitionEnd:
			endBlock(r.Position() + 1)
			e.end = r.Position() - e.Position
			if len(e.Blocks) < 2 { // not worth an index
				e.Blocks = nil
			}
			continue
		case StaticRow:
			continue
		}
		at := r.Position() - e.Position
		if n := len(e.Blocks); blockLength > 0 && (n == 0 || at-e.Blocks[n-1].Offset >= int64(blockLength)) {
			endBlock(r.Position())
			p := prefixOf(event, r)
			e.Blocks = append(e.Blocks, IndexBlock{First: Prefix{p.Kind, cloneValues(p.Values)}, Offset: at})
			e.opens = append(e.opens, open)
			if n == 0 {
				e.HeaderLength = at
			}
		}
		last = prefixOf(event, r)
		last.Values = cloneValues(last.Values)
		if event == RangeMarker {
			if open = rowgroup.LiveDeletion; r.Marker().Kind.Opens() {
				open = r.Marker().Open
			}
		}
	}
}

func makeIndex(files map[Component][]byte, v Version, h *Header, entries []*madeEntry, every int) {
	index := []byte{}
	summary := IndexSummary{MinIndexInterval: int32(every), SamplingLevel: 128}
	for i, e := range entries {
		if i == 0 {
			summary.First = e.Key
		}
		summary.Last = e.Key
		if i%every == 0 {
			summary.Entries = append(summary.Entries, SummaryEntry{e.Key, int64(len(index))})
		}
		index = e.Append(index, v, h)
	}
	summary.SizeAtFullSampling = int32(len(summary.Entries))
	files[ComponentIndex] = index
	files[ComponentSummary] = summary.Append(nil)
}
