package cassandra

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// sourceOf makes an SSTable of a table and opens it as a Source.
func sourceOf(t *testing.T, x *table, m making, names *Table) *Source {
	s, err := Open(write(t, t.TempDir(), x.version, makeSSTable(t, x, m)))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	src, err := NewSource(s, names)
	require.NoError(t, err)
	return src
}

// liveRows are the rows that a query at second now sees, as a dump.
func liveRows(t *testing.T, src *Source, now int64) string {
	o := rowgroup.ScanOptions{Live: true, Now: now}
	return shown(t, src.Schema(), src.Scan(t.Context(), o), &o)
}

// T36: a flipped bit in a chunk is an error on every path that reads it, never
// "not found" or fewer rows; what lies elsewhere is read.
func TestT36EveryPath(t *testing.T) {
	h := makeHeader(t, "BytesType", []string{"Int32Type"}, nil, []string{"v BytesType"})
	row := func(n byte) event {
		value := bytes.Repeat([]byte{n}, 200)
		return event{Event: ClusteringRow, Row: Row{
			Clustering: [][]byte{{0, 0, 0, n}}, Liveness: rowgroup.LivenessLive, Timestamp: 1, Deletion: noDeletion("nb"),
			Cells: []Cell{{Kind: rowgroup.CellLive, Timestamp: 1, Value: value}},
		}}
	}
	x := &table{version: "nb", header: h}
	for _, key := range []string{"A", "B"} {
		x.events = append(x.events, event{Event: PartitionBegin, Partition: Partition{Key: []byte(key), Deletion: noDeletion("nb")}})
		for n := range byte(20) {
			x.events = append(x.events, row(n))
		}
		x.events = append(x.events, event{Event: PartitionEnd})
	}
	for _, m := range []making{
		{compressor: "LZ4Compressor", chunkLength: 512, blockLength: 600, summaryEvery: 1},
		{compressor: "LZ4Compressor", chunkLength: 512, blockLength: 600, summaryEvery: 1, maxCompressed: 1}, // all raw
		{chunkLength: 512, blockLength: 600, summaryEvery: 1},
	} {
		files := makeSSTable(t, x, m)
		files[ComponentData][len(files[ComponentData])/4] ^= 4
		s, err := Open(write(t, t.TempDir(), "nb", files))
		require.NoError(t, err)
		src, err := NewSource(s, nil)
		require.NoError(t, err)
		read := func(it rowgroup.Iter) (rows int, err error) {
			b := rowgroup.NewBatch(src.Schema())
			for more := true; more && err == nil; {
				if more, err = it.Next(b); more && err == nil {
					rows += b.Len()
				}
			}
			return rows, errors.Join(err, it.Close())
		}
		none := rowgroup.Bound{}
		for _, o := range []rowgroup.ScanOptions{{}, {Desc: true}, {Live: true}, {Live: true, Desc: true}} {
			_, err = read(src.Scan(t.Context(), o))
			require.ErrorIs(t, err, encoding.ErrCorrupt)
			require.ErrorContains(t, err, "Data.db")
			p, err := src.Partition(t.Context(), []byte("A"))
			require.NoError(t, err)
			_, err = read(p.Range(t.Context(), none, none, o))
			require.ErrorIs(t, err, encoding.ErrCorrupt)
			_, err = read(p.Latest(t.Context(), 20, o))
			require.ErrorIs(t, err, encoding.ErrCorrupt)
			if p, err = src.Partition(t.Context(), []byte("B")); err != nil { // its first chunk may hold the end of A
				require.ErrorIs(t, err, encoding.ErrCorrupt)
				continue
			}
			rows, err := read(p.Range(t.Context(), none, none, o))
			require.NoError(t, err)
			require.Equal(t, 20, rows)
		}
		_, err = s.Verify(t.Context())
		require.ErrorIs(t, err, encoding.ErrCorrupt)
		require.NoError(t, s.Close())
	}
}

// T44: an expiry past 2038 in the versions that hold it, and the negative one
// that older versions make of it, which is kept.
func TestT44ExpiryPast2038(t *testing.T) {
	const us, written, ttl = 1_795_996_800_000_000, 1_795_996_800, 630_720_000 // 2026-11-30
	h := makeHeader(t, "BytesType", nil, nil, []string{"v UTF8Type"})
	at := func(v Version) *Source {
		expiry := v.LocalDeletionTime(uint32(written + ttl))
		return sourceOf(t, oneTable(v, h, Row{
			Liveness: rowgroup.LivenessExpiring, Timestamp: us, TTL: ttl, ExpirationTime: expiry,
			Cells: []Cell{{Kind: rowgroup.CellExpiring, Timestamp: us, TTL: ttl, LocalDeletionTime: expiry, Value: []byte("x")}},
		}), making{chunkLength: 64}, nil)
	}
	for _, v := range []Version{"oa", "da"} {
		src := at(v)
		for _, now := range []int64{written, 2_145_916_800, 2_177_452_800, written + ttl - 1} {
			require.Contains(t, liveRows(t, src, now), `"value":"x"`, now)
		}
		for _, now := range []int64{written + ttl, 4_323_628_800} {
			require.Empty(t, liveRows(t, src, now), now)
		}
	}
	o := rowgroup.ScanOptions{}
	old := at("nb")
	require.Contains(t, shown(t, old.Schema(), old.Scan(t.Context(), o), &o), `"ttl":630720000,"expiry":-1868250496`)
}

// T54: the header says which columns there are; a schema from after a DROP, or
// none, changes no cell.
func TestT54DroppedColumns(t *testing.T) {
	h := makeHeader(t, "UTF8Type", []string{"Int32Type"}, []string{"gone_static UTF8Type"}, []string{"a UTF8Type", "gone Int32Type", "z UTF8Type"})
	cell := func(column int, value string) Cell {
		return Cell{Column: column, Kind: rowgroup.CellLive, Timestamp: 7, Value: []byte(value)}
	}
	x := oneTable("nb", h, Row{
		Clustering: [][]byte{{0, 0, 0, 1}}, Liveness: rowgroup.LivenessLive, Timestamp: 7,
		Cells: []Cell{cell(0, "first"), cell(1, "\x00\x00\x00\x2a"), cell(2, "last")},
	})
	static := event{Event: StaticRow, Row: Row{Liveness: rowgroup.LivenessNone, Deletion: noDeletion("nb"), Cells: []Cell{cell(0, "kept")}}}
	x.events = append(x.events[:1:1], append([]event{static}, x.events[1:]...)...)
	tables, err := ParseSchema([]byte("CREATE TABLE ks.t (k text, c int, a text, z text, new int, PRIMARY KEY (k, c));"), "after.cql")
	require.NoError(t, err)
	for _, names := range []*Table{nil, tables[0]} {
		src := sourceOf(t, x, making{chunkLength: 64}, names)
		text := liveRows(t, src, 0)
		for _, want := range []string{`"gone_static":{"value":"kept"`, `"a":{"value":"first"}`, `"gone":{"value":42}`, `"z":{"value":"last"}`} {
			require.Contains(t, text, want)
		}
	}
	src := sourceOf(t, x, making{chunkLength: 64}, tables[0])
	require.Equal(t, []string{"gone_static", "gone"}, src.SSTable().Unknown(tables[0]))
}

// T55: cells that share their row's TTL expire with it; a TTL of a cell alone
// leaves the row; a row of UPDATE alone goes with its last cell.
func TestT55RowTTL(t *testing.T) {
	const us, sec, ttl = 1_700_000_000_000_000, 1_700_000_000, 86400
	h := makeHeader(t, "BytesType", []string{"Int32Type"}, nil, []string{"a UTF8Type", "b UTF8Type", "c UTF8Type"})
	ck := func(n byte) [][]byte { return [][]byte{{0, 0, 0, n}} }
	expiring := func(column int) Cell {
		return Cell{Column: column, Kind: rowgroup.CellExpiring, Timestamp: us, TTL: ttl, LocalDeletionTime: sec + ttl, Value: []byte("x")}
	}
	live := Cell{Kind: rowgroup.CellLive, Timestamp: us, Value: []byte("y")}
	update := expiring(1)
	update.Timestamp++
	src := sourceOf(t, oneTable("mc", h,
		Row{Clustering: ck(1), Liveness: rowgroup.LivenessExpiring, Timestamp: us, TTL: ttl, ExpirationTime: sec + ttl, Cells: []Cell{expiring(0), expiring(1), expiring(2)}},
		Row{Clustering: ck(2), Liveness: rowgroup.LivenessNone, Cells: []Cell{expiring(1)}},
		Row{Clustering: ck(3), Liveness: rowgroup.LivenessLive, Timestamp: us, Cells: []Cell{live, update}},
	), making{compressor: "LZ4Compressor", chunkLength: 64}, nil)
	before, after := liveRows(t, src, sec+ttl-1), liveRows(t, src, sec+ttl)
	for _, n := range []string{`"ck1":1`, `"ck1":2`, `"ck1":3`} {
		require.Contains(t, before, n)
	}
	require.NotContains(t, after, `"ck1":1`)
	require.NotContains(t, after, `"ck1":2`)
	require.Contains(t, after, `"ck1":3},"liveness":{"write_time":1700000000000000},"cells":{"a":{"value":"y"}}`)
}

// T57: of two sets in a row one has a deletion; the other, whose deletion is
// live in the form of 5.0, has none.
func TestT57UntouchedCollections(t *testing.T) {
	const us, sec = 1_700_000_000_000_000, 1_700_000_000
	h := makeHeader(t, "BytesType", nil, nil, []string{"s1 SetType(" + marshal + "Int32Type)", "s2 SetType(" + marshal + "Int32Type)", "v UTF8Type"})
	for _, v := range []Version{"nb", "oa", "da"} {
		element := Cell{Column: 1, Kind: rowgroup.CellExpiring, Timestamp: us, TTL: 60, LocalDeletionTime: sec + 60, Path: []byte{0, 0, 0, 5}, Value: []byte{}}
		x := oneTable(v, h, Row{
			Liveness: rowgroup.LivenessExpiring, Timestamp: us, TTL: 60, ExpirationTime: sec + 60,
			Cells: []Cell{{Kind: rowgroup.CellExpiring, Timestamp: us, TTL: 60, LocalDeletionTime: sec + 60, Value: []byte("value")}},
			Complex: []ComplexColumn{
				{Column: 1, Deletion: rowgroup.Deletion{MarkedForDeleteAt: us - 1, LocalDeletionTime: sec}, Cells: []Cell{element}},
				{Column: 2, Deletion: rowgroup.Deletion{MarkedForDeleteAt: rowgroup.NoDeletion, LocalDeletionTime: v.LocalDeletionTime(1<<32 - 1)}, Cells: []Cell{}},
			},
		})
		src := sourceOf(t, x, making{chunkLength: 64}, nil)
		o := rowgroup.ScanOptions{}
		text := shown(t, src.Schema(), src.Scan(t.Context(), o), &o)
		require.Contains(t, text, `"v":{"value":"value"}`)
		require.Equal(t, 1, bytes.Count([]byte(text), []byte(`"deletion"`)), text)
		file, err := tableFile(t, src)
		require.NoError(t, err)
		require.Equal(t, x.body(t), bodyOf(t, file))
	}
}

// T58: four counters a row, from two updates by two nodes: every total is right.
func TestT58Counters(t *testing.T) {
	h := makeHeader(t, "BytesType", []string{"Int32Type"}, nil, []string{"a CounterColumnType", "b CounterColumnType", "c CounterColumnType", "d CounterColumnType"})
	context := func(counts ...int64) []byte {
		b := appendU16(nil, uint16(len(counts)))
		for i := range counts {
			b = appendU16(b, uint16(i)|0x8000)
		}
		for i, n := range counts {
			b = append(b, bytes.Repeat([]byte{byte(i + 1)}, 16)...)
			b = appendU64(appendU64(b, 1), uint64(n))
		}
		return b
	}
	var rows []Row
	for n := range int64(5) {
		r := Row{Clustering: [][]byte{{0, 0, 0, byte(n)}}, Liveness: rowgroup.LivenessNone}
		for c := range 4 {
			r.Cells = append(r.Cells, Cell{Column: c, Kind: rowgroup.CellLive, Timestamp: 1, Value: context(n*10+int64(c), 100)})
		}
		rows = append(rows, r)
	}
	src := sourceOf(t, oneTable("nb", h, rows...), making{compressor: "LZ4Compressor", chunkLength: 256}, nil)
	b := rowgroup.NewBatch(src.Schema())
	it := src.Scan(t.Context(), rowgroup.ScanOptions{})
	more, err := it.Next(b)
	require.NoError(t, err)
	require.True(t, more)
	first, _ := src.Schema().Range(rowgroup.Regular)
	for n := range 5 {
		for c := range 4 {
			v, ok := b.AppendValue(nil, first+c, n)
			require.True(t, ok)
			x, err := ParseCounter(v)
			require.NoError(t, err)
			require.Equal(t, int64(n*10+c+100), x.Total())

		}
	}
	require.NoError(t, it.Close())
}

// T37: chunks that are stored raw, by the rule of their length, come through
// every path; a longest compressed chunk of 0 is damage.
func TestT37RawChunks(t *testing.T) {
	random, err := os.ReadFile("testdata/da/da-1-bti-Data.db") // as good as
	require.NoError(t, err)
	h := makeHeader(t, "BytesType", nil, nil, []string{"v BytesType"})
	x := oneTable("nb", h, Row{Liveness: rowgroup.LivenessLive, Cells: []Cell{{Kind: rowgroup.CellLive, Value: append([]byte("\x28\xb5\x2f\xfd"), random...)}}})
	for _, most := range []int{1, 63, 64} {
		src := sourceOf(t, x, making{compressor: "ZstdCompressor", chunkLength: 64, maxCompressed: most}, nil)
		file, err := tableFile(t, src)
		require.NoError(t, err)
		require.Equal(t, x.body(t), bodyOf(t, file))
		p, err := src.Partition(t.Context(), []byte("k"))
		require.NoError(t, err)
		o := rowgroup.ScanOptions{}
		require.Contains(t, shown(t, src.Schema(), p.Latest(t.Context(), 1, o), &o), "0x28b52ffd")
	}
	files := makeSSTable(t, x, making{compressor: "ZstdCompressor", chunkLength: 64, maxCompressed: 64})
	info, err := ParseCompressionInfo(files[ComponentCompressionInfo], "nb")
	require.NoError(t, err)
	info.MaxCompressedLength = 0
	_, err = ParseCompressionInfo(info.Append(nil, "nb"), "nb")
	require.ErrorIs(t, err, encoding.ErrCorrupt)
}

// T47: what has been dead since the second of the grace's edge stays; one
// second earlier it may go: for tombstones of every kind and expired cells.
func TestT47GraceBoundary(t *testing.T) {
	const now, grace = 1_700_000_000, 1000
	h := makeHeader(t, "BytesType", []string{"Int32Type"}, nil, []string{"s SetType(" + marshal + "Int32Type)", "v UTF8Type"})
	for _, v := range []Version{"nb", "oa"} {
		for shift, want := range map[int64]int64{-1: 6, 0: 0, 1: 0} {
			dead := now - grace + shift
			d := rowgroup.Deletion{MarkedForDeleteAt: 5, LocalDeletionTime: dead}
			x := oneTable(v, h,
				Row{
					Clustering: [][]byte{{0, 0, 0, 1}}, Liveness: rowgroup.LivenessNone, HasDeletion: true, Deletion: d,
					Cells:   []Cell{{Kind: rowgroup.CellTombstone, Timestamp: 6, LocalDeletionTime: dead}},
					Complex: []ComplexColumn{{Column: 1, Deletion: d, Cells: []Cell{}}},
				},
				Row{
					Clustering: [][]byte{{0, 0, 0, 2}}, Liveness: rowgroup.LivenessNone,
					Cells: []Cell{{Kind: rowgroup.CellExpiring, Timestamp: 6, TTL: 5, LocalDeletionTime: dead, Value: []byte("x")}},
				})
			x.events[0].Partition.Deletion = d
			open := event{Event: RangeMarker, Marker: Marker{Bound: Bound{Kind: rowgroup.InclStart, Values: [][]byte{{0, 0, 0, 3}}}, Open: d, Close: noDeletion(v)}}
			closed := event{Event: RangeMarker, Marker: Marker{Bound: Bound{Kind: rowgroup.InclEnd, Values: [][]byte{{0, 0, 0, 4}}}, Close: d, Open: noDeletion(v)}}
			end := len(x.events) - 1
			x.events = append(x.events[:end:end], open, closed, x.events[end])
			s, err := sourceOf(t, x, making{chunkLength: 64}, nil).SSTable().Survey(t.Context(), SurveyOptions{Now: now, GCGrace: grace, Largest: 1})
			require.NoError(t, err)
			require.Equal(t, want, s.Droppable, "%s, %d", v, shift)
			require.Equal(t, dead+grace+1, *s.DroppableAt)
			require.Equal(t, int64(4), s.Largest[0].Rows)
		}
	}
}

// An expiry that a clock past 2038 made in an old version is alive until 2106
// for Cassandra 5.0, and so it is for a survey.
func TestSurveyOverflowedExpiry(t *testing.T) {
	h := makeHeader(t, "BytesType", []string{"Int32Type"}, nil, []string{"v UTF8Type"})
	row := func(c byte, expiry int64) Row {
		return Row{
			Clustering: [][]byte{{0, 0, 0, c}}, Liveness: rowgroup.LivenessNone,
			Cells: []Cell{{Kind: rowgroup.CellExpiring, Timestamp: 6, TTL: 500, LocalDeletionTime: expiry, Value: []byte("x")}},
		}
	}
	x := oneTable("nb", h, row(1, -2_147_400_000), row(2, 499), row(3, 1_800_000_000))
	s, err := sourceOf(t, x, making{chunkLength: 64}, nil).SSTable().Survey(t.Context(), SurveyOptions{Now: 1_900_000_000})
	require.NoError(t, err)
	require.Equal(t, int64(2), s.OverflowedExpiries)
	require.Equal(t, int64(2), s.ExpiringCells)
	require.Equal(t, int64(1), s.ExpiredCells)
	require.Equal(t, int64(maxExpiry), *s.MaxExpiry)
}
