package cassandra

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// oneTable is a table of one partition "k" with the given rows.
func oneTable(v Version, h *Header, rows ...Row) *table {
	x := &table{version: v, header: h, events: []event{{Event: PartitionBegin, Partition: Partition{Key: []byte("k"), Deletion: noDeletion(v)}}}}
	for _, r := range rows {
		if !r.HasDeletion {
			r.Deletion = noDeletion(v)
		}
		x.events = append(x.events, event{Event: ClusteringRow, Row: r})
	}
	x.events = append(x.events, event{Event: PartitionEnd})
	return x
}

func roundTrip(t *testing.T, x *table) {
	got, err := collect(NewBodyReader(bytes.NewReader(x.body(t)), x.version, x.header))
	require.NoError(t, err)
	sameEvents(t, x.events, got)
}

// A chunk is stored raw by the rule of its length alone, whatever its bytes
// are; lengths around the limit; a limit of zero is damage.
func TestRawChunks(t *testing.T) {
	h := makeHeader(t, "BytesType", nil, nil, []string{"v BytesType"})
	random := make([]byte, 1000)
	src := rand.New(rand.NewPCG(1, 2))
	for i := range random {
		random[i] = byte(src.Uint32())
	}
	copy(random[100:], "\x28\xb5\x2f\xfd") // looks like Zstd
	for _, v := range []Version{"nb", "oa", "da"} {
		for _, class := range compressors[1:] {
			for _, most := range []int{1, 64, 120, 126, 127, 128} {
				x := oneTable(v, h, Row{Liveness: rowgroup.LivenessLive, Cells: []Cell{{Kind: rowgroup.CellLive, Value: append(make([]byte, 300), random...)}}})
				s, err := Open(write(t, t.TempDir(), v, makeSSTable(t, x, making{compressor: class, chunkLength: 128, maxCompressed: most, trailing: most%2 == 0})))
				require.NoError(t, err)
				_, err = s.Verify(t.Context())
				require.NoError(t, err)
				r, err := s.Scan()
				require.NoError(t, err)
				got, err := collect(r.BodyReader)
				require.NoError(t, err)
				sameEvents(t, x.events, got)
				require.NoError(t, r.Close())
				require.NoError(t, s.Close())
			}
		}
	}
	ci := CompressionInfo{Compressor: "LZ4Compressor", ChunkLength: 16384, DataLength: 5, Offsets: []int64{0}}
	_, err := ParseCompressionInfo(ci.Append(nil, "nb"), "nb")
	require.ErrorIs(t, err, encoding.ErrCorrupt)
	require.ErrorContains(t, err, "longest compressed chunk of 0")
}

// Chunk lengths and offsets that cannot be, and compressors that are not known.
func TestCompressionInfoRefused(t *testing.T) {
	sound := CompressionInfo{Compressor: "LZ4Compressor", ChunkLength: 1024, MaxCompressedLength: math.MaxInt32, DataLength: 1500, Offsets: []int64{0, 700}}
	for _, spoil := range []func(*CompressionInfo){
		func(c *CompressionInfo) { c.ChunkLength = 1000 },
		func(c *CompressionInfo) { c.ChunkLength = 0 },
		func(c *CompressionInfo) { c.ChunkLength = 1 << 30 },
		func(c *CompressionInfo) { c.DataLength = -1 },
		func(c *CompressionInfo) { c.DataLength = 2049 },
		func(c *CompressionInfo) { c.Offsets[1] = 3 },
		func(c *CompressionInfo) { c.Offsets[0] = 8 },
		func(c *CompressionInfo) { c.Offsets[1] = math.MaxInt64 },
		func(c *CompressionInfo) { c.Offsets[1] = -700 },
	} {
		c := sound
		c.Offsets = append([]int64(nil), sound.Offsets...)
		spoil(&c)
		_, err := ParseCompressionInfo(c.Append(nil, "nb"), "nb")
		require.ErrorIs(t, err, encoding.ErrCorrupt)
	}
	for _, class := range []string{"ZstdDictionaryCompressor", "EncryptingCompressor", "LZ4WithDictsCompressor", ""} {
		c := sound
		c.Compressor = class
		d := &DataFile{Name: "Data.db", File: bytes.NewReader(make([]byte, 1000)), Size: 1000, Compression: &c}
		_, err := d.Stream(0, true)
		require.ErrorIs(t, err, encoding.ErrUnsupported)
		require.ErrorContains(t, err, `"`+class+`"`)
	}
}

// A bit turned in a chunk: every way to its data fails, and names file, chunk
// and offset; other partitions are still found and read.
func TestChecksumOnEveryPath(t *testing.T) {
	h := makeHeader(t, "BytesType", nil, nil, []string{"v BytesType"})
	for _, class := range []string{"", "LZ4Compressor"} {
		x := &table{version: "nb", header: h}
		for _, key := range []string{"a", "b"} {
			y := oneTable("nb", h, Row{Liveness: rowgroup.LivenessLive, Cells: []Cell{{Kind: rowgroup.CellLive, Value: bytes.Repeat([]byte(key), 1000)}}})
			y.events[0].Partition.Key = []byte(key)
			x.events = append(x.events, y.events...)
		}
		files := makeSSTable(t, x, making{compressor: class, chunkLength: 128})
		files[ComponentData][2] ^= 1
		s, err := Open(write(t, t.TempDir(), "nb", files))
		require.NoError(t, err)
		wrong := func(err error) {
			require.ErrorIs(t, err, encoding.ErrCorrupt)
			require.ErrorContains(t, err, "Data.db: chunk 0 at 0: checksum")
		}
		_, err = s.Find([]byte("a"))
		wrong(err)
		_, err = s.Verify(t.Context())
		wrong(err)
		r, err := s.Scan()
		require.NoError(t, err)
		_, err = r.Next()
		wrong(err)
		_, err = r.Next()
		wrong(err)
		require.NoError(t, r.Close())
		e, err := s.Find([]byte("b"))
		require.NoError(t, err)
		r, err = s.ScanFrom(e.Position, false)
		require.NoError(t, err)
		got, err := collect(r.BodyReader)
		require.NoError(t, err)
		sameEvents(t, x.events[3:], got)
		require.NoError(t, r.Close())
		require.NoError(t, s.Close())
	}
}

// Expiries beyond 2038 wrap in files before oa and do not from oa on; the bits
// are kept.
func TestExpiryPast2038(t *testing.T) {
	h := makeHeader(t, "UTF8Type", nil, nil, []string{"v Int32Type"})
	write := int64(1_795_996_800) // 2026-11-30
	expiry := write + 630_720_000 // 20 years
	for _, v := range versions {
		h.MinLocalDeletionTime = write
		raw := v.RawDeletionTime(expiry)
		seen := v.LocalDeletionTime(raw)
		if v.unsignedDeletionTimes() {
			require.Equal(t, expiry, seen)
			h.MinLocalDeletionTime = 1<<31 + 5 // a delta that is negative
		} else {
			require.Equal(t, expiry-1<<32, seen)
		}
		require.Equal(t, raw, v.RawDeletionTime(seen))
		roundTrip(t, oneTable(v, h, Row{
			Liveness: rowgroup.LivenessExpiring, Timestamp: write * 1e6, TTL: 630_720_000, ExpirationTime: seen,
			Cells: []Cell{{Kind: rowgroup.CellExpiring, Timestamp: write * 1e6, TTL: math.MaxInt32, LocalDeletionTime: v.NoDeletionTime() - 1, Value: make([]byte, 4)}},
		}))
	}
}

// A TTL given for the row is the cells' too, and costs them nothing; one given
// for a cell is its own.
func TestRowTTL(t *testing.T) {
	h := makeHeader(t, "UTF8Type", nil, nil, []string{"a Int32Type", "b Int32Type", "c Int32Type"})
	cell := func(i int, ttl int32, expiry int64) Cell {
		return Cell{Column: i, Kind: rowgroup.CellExpiring, Timestamp: 1_700_000_000_000_000, TTL: ttl, LocalDeletionTime: expiry, Value: []byte{0, 0, 0, byte(i)}}
	}
	row := Row{
		Liveness: rowgroup.LivenessExpiring, Timestamp: 1_700_000_000_000_000, TTL: 86400, ExpirationTime: 1_700_086_400,
		Cells: []Cell{cell(0, 86400, 1_700_086_400), cell(1, 60, 1_700_000_060), cell(2, 86400, 1_700_086_400)},
	}
	x := oneTable("nb", h, row)
	roundTrip(t, x)
	body := x.body(t)
	require.True(t, bytes.Contains(body, []byte{cellExpiring | cellRowTimestamp | cellRowTTL, 0, 0, 0, 2}))
	require.False(t, bytes.Contains(body, []byte{cellExpiring | cellRowTimestamp | cellRowTTL, 0, 0, 0, 1}))
	row.Liveness, row.Timestamp, row.TTL, row.ExpirationTime = rowgroup.LivenessNone, 0, 0, 0 // as UPDATE writes it
	roundTrip(t, oneTable("nb", h, row))
}

// A collection that was not touched says "live" beside one that was deleted;
// 5.0 cuts the time of that to 32 bits.
func TestUntouchedCollection(t *testing.T) {
	h := makeHeader(t, "UTF8Type", nil, nil, []string{"a SetType(" + marshal + "Int32Type)", "b SetType(" + marshal + "Int32Type)", "v Int32Type"})
	for _, v := range []Version{"nb", "oa"} {
		for _, live := range []int64{v.NoDeletionTime(), v.LocalDeletionTime(math.MaxUint32)} {
			x := oneTable(v, h, Row{
				Liveness: rowgroup.LivenessExpiring, Timestamp: 5, TTL: 60, ExpirationTime: 1_700_000_060,
				Cells: []Cell{{Kind: rowgroup.CellLive, Timestamp: 5, Value: make([]byte, 4)}},
				Complex: []ComplexColumn{
					{Column: 1, Deletion: rowgroup.Deletion{MarkedForDeleteAt: 4, LocalDeletionTime: 1_700_000_000}, Cells: []Cell{
						{Column: 1, Kind: rowgroup.CellLive, Timestamp: 5, Path: []byte{0, 0, 0, 1}, Value: []byte{}},
					}},
					{Column: 2, Deletion: rowgroup.Deletion{MarkedForDeleteAt: rowgroup.NoDeletion, LocalDeletionTime: live}, Cells: []Cell{}},
				},
			})
			roundTrip(t, x)
		}
	}
}

// Counters: the total is the sum of the shards of all kinds.
func TestCounters(t *testing.T) {
	shard := func(id byte, clock, count int64) []byte {
		b := append(bytes.Repeat([]byte{id}, 16), make([]byte, 16)...)
		binary.BigEndian.PutUint64(b[16:], uint64(clock))
		binary.BigEndian.PutUint64(b[24:], uint64(count))
		return b
	}
	context := bytes.Join([][]byte{{0, 2}, {0x80, 0}, {0, 2}, shard(1, 1, 5), shard(2, 2, -4), shard(3, 3, 9)}, nil)
	c, err := ParseCounter(context)
	require.NoError(t, err)
	require.Equal(t, int64(10), c.Total())
	require.Equal(t, []ShardKind{GlobalShard, RemoteShard, LocalShard}, []ShardKind{c.Shards[0].Kind, c.Shards[1].Kind, c.Shards[2].Kind})
	c, err = ParseCounter([]byte{0, 0})
	require.NoError(t, err)
	require.Zero(t, c.Total())
	for _, bad := range [][]byte{{}, {0}, {0x80, 0}, {0, 1}, {0, 1, 0, 0}, context[:len(context)-1], append([]byte{0, 2, 0, 0, 0, 0}, shard(1, 1, 1)...)} {
		_, err = ParseCounter(bad)
		require.ErrorIs(t, err, encoding.ErrCorrupt, "%x", bad)
	}

	h := makeHeader(t, "Int32Type", nil, nil, []string{"a CounterColumnType", "b CounterColumnType", "c CounterColumnType", "d CounterColumnType"})
	row := Row{Liveness: rowgroup.LivenessNone}
	for i := range 4 {
		row.Cells = append(row.Cells, Cell{Column: i, Kind: rowgroup.CellLive, Timestamp: int64(i), Value: context})
	}
	roundTrip(t, oneTable("nb", h, row))
}

// UserType without FrozenType in the header of an old version: the sizes of
// rows tell how it was meant, unless the caller knows.
func TestUserTypesWithoutFrozen(t *testing.T) {
	h := makeHeader(t, "UTF8Type", nil, nil, []string{"a UserType(ks,74,61:" + marshal + "Int32Type)", "b Int32Type"})
	frozen := h.WithFrozenUDTs()
	require.True(t, h.HasMultiCellUDTs())
	require.False(t, frozen.HasMultiCellUDTs())
	value := []byte{0, 0, 0, 4, 0, 0, 0, 9}
	number := Cell{Kind: rowgroup.CellLive, Timestamp: 7, Value: []byte{0, 0, 0, 1}}
	asFrozen := Row{Liveness: rowgroup.LivenessLive, Timestamp: 7, Cells: []Cell{{Kind: rowgroup.CellLive, Timestamp: 7, Value: value}, number}}
	asFrozen.Cells[1].Column = 1
	asMulti := Row{Liveness: rowgroup.LivenessLive, Timestamp: 7, Cells: []Cell{number}, Complex: []ComplexColumn{
		{Column: 1, Deletion: noDeletion("mc"), Cells: []Cell{{Column: 1, Kind: rowgroup.CellLive, Timestamp: 7, Path: []byte{0, 0}, Value: value[4:]}}},
	}}
	m := making{compressor: "LZ4Compressor", chunkLength: 128}
	for _, test := range []struct {
		v    Version
		h    *Header
		row  Row
		opts []Option
		want UserTypes
	}{
		{"mc", frozen, asFrozen, nil, UserTypesFoundFrozen},
		{"mc", h, asMulti, nil, UserTypesFoundMultiCell},
		{"mc", frozen, asFrozen, []Option{WithUserTypes(true)}, UserTypesFrozen},
		{"mc", h, asMulti, []Option{WithUserTypes(false)}, UserTypesMultiCell},
		{"nb", h, asMulti, []Option{WithUserTypes(true)}, UserTypesByHeader},
	} {
		x := oneTable(test.v, test.h, test.row)
		files := makeSSTable(t, x, m)
		s, err := Open(write(t, t.TempDir(), test.v, files), test.opts...)
		require.NoError(t, err)
		require.Equal(t, test.want, s.UserTypes, "%s", s.UserTypes)
		r, err := s.Scan()
		require.NoError(t, err)
		got, err := collect(r.BodyReader)
		require.NoError(t, err)
		sameEvents(t, x.events, got)
		require.NoError(t, r.Close())
		require.NoError(t, s.Close())
	}
}

// Names, order and presence of columns come from the header alone.
func TestColumnOrder(t *testing.T) {
	h := makeHeader(t, "UTF8Type", nil, []string{"s Int32Type"}, []string{"z Int32Type", "a ListType(" + marshal + "Int32Type)", "b Int32Type"})
	var names []string
	for _, c := range h.Regular {
		names = append(names, c.Name)
	}
	require.Equal(t, []string{"b", "z", "a"}, names)
	byName := *h // as ScyllaDB writes it
	byName.Regular = []Column{h.Regular[2], h.Regular[0], h.Regular[1]}
	got, err := ParseHeader(byName.Append(nil))
	require.NoError(t, err)
	require.Equal(t, h.Regular, got.Regular)
}

// Components that are not there.
func TestMissingComponents(t *testing.T) {
	h := makeHeader(t, "UTF8Type", nil, nil, []string{"v Int32Type"})
	x := oneTable("nb", h, Row{Liveness: rowgroup.LivenessLive})
	for c, fatal := range map[Component]bool{
		ComponentData: true, ComponentStatistics: true, ComponentCompressionInfo: true,
		ComponentSummary: false, ComponentIndex: false, ComponentDigest: false,
	} {
		dir := t.TempDir()
		path := write(t, dir, "nb", makeSSTable(t, x, making{compressor: "LZ4Compressor", chunkLength: 128}))
		require.NoError(t, os.Remove(filepath.Join(dir, Descriptor{"nb", "1"}.FileName(c))))
		s, err := Open(path)
		if fatal {
			require.ErrorIs(t, err, os.ErrNotExist)
			require.ErrorContains(t, err, string(c))
			continue
		}
		require.NoError(t, err)
		require.Equal(t, []string{string(c) + " is missing, though TOC.txt lists it"}, s.Warnings)
		_, err = s.Verify(t.Context())
		require.NoError(t, err)
		e, err := s.Find([]byte("k"))
		if c == ComponentIndex {
			require.ErrorIs(t, err, os.ErrNotExist)
		} else {
			require.NoError(t, err)
			require.Zero(t, e.Position)
		}
		require.NoError(t, s.Close())
	}
}

// Data without any checksum is read, and Verify says so.
func TestNoChecksums(t *testing.T) {
	x := oneTable("nb", makeHeader(t, "UTF8Type", nil, nil, []string{"v Int32Type"}), Row{Liveness: rowgroup.LivenessLive})
	files := makeSSTable(t, x, making{chunkLength: 64})
	for _, c := range []Component{ComponentCRC, ComponentDigest, ComponentTOC} {
		delete(files, c)
	}
	s, err := Open(write(t, t.TempDir(), "nb", files))
	require.NoError(t, err)
	rep, err := s.Verify(t.Context())
	require.NoError(t, err)
	require.True(t, rep.Unchecked)
	require.Empty(t, rep.Warnings)
	require.NoError(t, s.Close())
}

// A row larger than the limit is refused by name, before memory is taken.
func TestRowLimit(t *testing.T) {
	h := makeHeader(t, "UTF8Type", nil, nil, []string{"v BytesType"})
	x := oneTable("nb", h, Row{Liveness: rowgroup.LivenessLive, Cells: []Cell{{Kind: rowgroup.CellLive, Value: make([]byte, 5000)}}})
	r := NewBodyReader(bytes.NewReader(x.body(t)), "nb", h, WithMaxRow(4096))
	_, err := collect(r)
	require.ErrorIs(t, err, encoding.ErrUnsupported)
	require.ErrorContains(t, err, "partition 6b, unfiltered at 15")
}
