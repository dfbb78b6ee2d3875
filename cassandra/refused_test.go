package cassandra

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// What a BodyWriter cannot write is an error, and the error stays.
func TestBodyWriterRefuses(t *testing.T) {
	h := makeHeader(t, "UTF8Type", []string{"Int32Type"}, nil, []string{"a Int32Type", "b UTF8Type", "c SetType(" + marshal + "Int32Type)"})
	withStatic := makeHeader(t, "UTF8Type", nil, []string{"s Int32Type"}, nil)
	four := []byte{0, 0, 0, 1}
	live := noDeletion("oa")
	begin := func(w *BodyWriter) { _ = w.BeginPartition([]byte("k"), live) }
	row := func(r Row) func(*BodyWriter) error {
		return func(w *BodyWriter) error {
			begin(w)
			r.Clustering = [][]byte{four}
			return w.Row(&r)
		}
	}
	tests := []struct {
		h    *Header
		do   func(*BodyWriter) error
		want string
	}{
		{h, func(w *BodyWriter) error { return w.Row(&Row{}) }, "outside a partition"},
		{h, func(w *BodyWriter) error { return w.Marker(&Marker{}) }, "outside a partition"},
		{h, func(w *BodyWriter) error { return w.EndPartition() }, "none has begun"},
		{h, func(w *BodyWriter) error { return w.StaticRow(&Row{}) }, "not due"},
		{h, func(w *BodyWriter) error { begin(w); return w.StaticRow(&Row{}) }, "not due"},
		{withStatic, func(w *BodyWriter) error { begin(w); return w.Row(&Row{}) }, "before the static row"},
		{withStatic, func(w *BodyWriter) error { begin(w); return w.EndPartition() }, "before its static row"},
		{h, func(w *BodyWriter) error { begin(w); return w.BeginPartition(nil, live) }, "within another"},
		{h, func(w *BodyWriter) error { return w.BeginPartition(make([]byte, 1<<16), live) }, "key of 65536 bytes"},
		{h, func(w *BodyWriter) error { return w.BeginPartition(nil, rowgroup.Deletion{MarkedForDeleteAt: -1}) }, "cannot hold a partition deletion at -1"},
		{h, func(w *BodyWriter) error { begin(w); return w.Row(&Row{}) }, "0 clustering values, not 1"},
		{h, func(w *BodyWriter) error { begin(w); return w.Row(&Row{Clustering: [][]byte{{1}}}) }, "clustering value of 1 bytes"},
		{h, row(Row{Cells: []Cell{{Column: 0, Value: []byte{1}}}}), `1 bytes in column "a"`},
		{h, row(Row{Cells: []Cell{{Column: 1}, {Column: 0}}}), "out of order"},
		{h, row(Row{Cells: []Cell{{Column: 2}}}), "complex column"},
		{h, row(Row{Cells: []Cell{{Column: 3}}}), "out of order"},
		{h, row(Row{Complex: []ComplexColumn{{Column: 0}}}), "simple column"},
		{h, func(w *BodyWriter) error { begin(w); return w.Marker(&Marker{Bound: Bound{Kind: kindClustering}}) }, "kind 4"},
		{h, func(w *BodyWriter) error {
			begin(w)
			return w.Marker(&Marker{Bound: Bound{Kind: rowgroup.InclStart, Values: [][]byte{four, four}}})
		}, "2 values"},
		{h, func(w *BodyWriter) error {
			begin(w)
			return w.Marker(&Marker{Bound: Bound{Kind: rowgroup.InclStart, Values: [][]byte{{1, 2}}}})
		}, "clustering value of 2 bytes"},
		{h, func(w *BodyWriter) error { return w.Write(NoEvent, nil) }, "event 0"},
	}
	for _, test := range tests {
		w := NewBodyWriter(io.Discard, "oa", test.h)
		err := test.do(w)
		require.ErrorContains(t, err, test.want)
		for _, again := range []error{
			w.Flush(), w.BeginPartition(nil, live), w.StaticRow(&Row{}), w.Row(&Row{}), w.Marker(&Marker{}), w.EndPartition(),
		} {
			require.Equal(t, err, again)
		}
	}
	w := NewBodyWriter(failingWriter{}, "oa", h)
	begin(w)
	require.ErrorIs(t, w.Flush(), os.ErrClosed)
	require.ErrorIs(t, w.EndPartition(), os.ErrClosed)
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, os.ErrClosed }

// Decompressors fill what they are given, or fail.
func TestDecompressorLengths(t *testing.T) {
	data := bytes.Repeat([]byte("abcdefg "), 40)
	for _, class := range compressors[1:] {
		stored := compressChunk(t, class, data)
		d, err := newDecompressor("org.apache.cassandra.io.compress." + class)
		require.NoError(t, err)
		for range 2 { // its state after an error does not matter
			for _, n := range []int{0, 1, len(data) - 1, len(data) + 1, 2 * len(data)} {
				require.Error(t, d.decompress(make([]byte, n), stored), "%s: %d", class, n)
			}
			for _, n := range []int{0, 1, 3, 4, 5, len(stored) / 2, len(stored) - 1} {
				require.Error(t, d.decompress(make([]byte, len(data)), stored[:n]), "%s: stored %d", class, n)
			}
			got := make([]byte, len(data))
			require.NoError(t, d.decompress(got, stored), class)
			require.Equal(t, data, got)
			require.NoError(t, d.decompress(got[:0], compressChunk(t, class, nil)), class)
		}
	}
}

// Rows, paths and partitions that are out of order or stand twice.
func TestVerifyOrder(t *testing.T) {
	h := makeHeader(t, "UTF8Type", []string{"ReversedType(Int32Type)"}, nil, []string{"c SetType(" + marshal + "Int32Type)"})
	at := func(n byte) Row {
		return Row{Clustering: [][]byte{{0, 0, 0, n}}, Liveness: rowgroup.LivenessLive, Deletion: noDeletion("nb")}
	}
	withPaths := func(paths ...byte) Row {
		r := at(1)
		x := ComplexColumn{Deletion: noDeletion("nb")}
		for _, p := range paths {
			x.Cells = append(x.Cells, Cell{Kind: rowgroup.CellLive, Path: []byte{0, 0, 0, p}, Value: []byte{}})
		}
		r.Complex = []ComplexColumn{x}
		return r
	}
	keys := func(keys ...string) *table {
		x := &table{version: "nb", header: h}
		for _, key := range keys {
			y := oneTable("nb", h, at(1))
			y.events[0].Partition.Key = []byte(key)
			x.events = append(x.events, y.events...)
		}
		return x
	}
	marker := func(kind rowgroup.BoundKind, n byte, d rowgroup.Deletion) event {
		return event{Event: RangeMarker, Marker: Marker{Bound: Bound{Kind: kind, Values: [][]byte{{0, 0, 0, n}}}, Open: d, Close: d}}
	}
	markers := func(close rowgroup.Deletion) *table {
		x := oneTable("nb", h)
		open := rowgroup.Deletion{MarkedForDeleteAt: 1, LocalDeletionTime: 1_700_000_000}
		x.events = append(x.events[:1:1], marker(rowgroup.InclStart, 2, open), marker(rowgroup.InclEnd, 1, close), event{Event: PartitionEnd})
		return x
	}
	for _, test := range []struct {
		name string
		x    *table
		want string // "": sound
	}{
		{"rows", oneTable("nb", h, at(2), at(1)), ""},
		{"rows turned round", oneTable("nb", h, at(1), at(2)), "partition 6b, unfiltered at 33 of the body, chunk 0 at 0: out of order, or twice"},
		{"a row twice", oneTable("nb", h, at(1), at(1)), "out of order, or twice"},
		{"paths", oneTable("nb", h, withPaths(1, 2, 3)), ""},
		{"paths turned round", oneTable("nb", h, withPaths(1, 3, 2)), `column "c": path 00000002 is out of order, or twice`},
		{"a path twice", oneTable("nb", h, withPaths(1, 1)), "out of order, or twice"},
		{"keys", keys("a", "b"), ""},
		{"keys turned round", keys("b", "a"), "key 61 is out of order, or twice"},
		{"a key twice", keys("b", "b"), "key 62 is out of order, or twice"},
		{"markers", markers(rowgroup.Deletion{MarkedForDeleteAt: 1, LocalDeletionTime: 1_700_000_000}), ""},
		{"another deletion ends", markers(rowgroup.Deletion{MarkedForDeleteAt: 2, LocalDeletionTime: 1_700_000_000}), "ends that began as"},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := makeSSTable(t, test.x, making{compressor: "LZ4Compressor", chunkLength: 1024})
			s, err := Open(write(t, t.TempDir(), "nb", files), WithRowLimit(1<<20))
			require.NoError(t, err)
			defer func() { require.NoError(t, s.Close()) }()
			_, err = s.Verify(t.Context())
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, encoding.ErrCorrupt)
			require.ErrorContains(t, err, test.want)
		})
	}
}

// An index of other data is found out, by a look-up and by Verify.
func TestForeignIndex(t *testing.T) {
	h := makeHeader(t, "UTF8Type", []string{"Int32Type"}, nil, []string{"v UTF8Type"})
	make2 := func(v Version, rows int, length int) map[Component][]byte {
		x := &table{version: v, header: h}
		for _, key := range []string{"a", "b"} {
			var list []Row
			for i := range rows {
				list = append(list, Row{
					Clustering: [][]byte{{0, 0, 0, byte(i)}}, Liveness: rowgroup.LivenessLive,
					Cells: []Cell{{Kind: rowgroup.CellLive, Value: make([]byte, length)}},
				})
			}
			y := oneTable(v, h, list...)
			y.events[0].Partition.Key = []byte(key)
			x.events = append(x.events, y.events...)
		}
		return makeSSTable(t, x, making{chunkLength: 1024, blockLength: 100})
	}
	for _, v := range []Version{"nb", "da"} {
		sound := make2(v, 20, 30)
		for name, other := range map[string]map[Component][]byte{"rows": make2(v, 21, 30), "lengths": make2(v, 20, 31), "fewer": make2(v, 1, 5)} {
			files := map[Component][]byte{}
			for c, b := range sound {
				files[c] = b
			}
			for _, c := range []Component{ComponentIndex, ComponentSummary, ComponentPartitions, ComponentRows} {
				if other[c] != nil {
					files[c] = other[c]
				}
			}
			s, err := Open(write(t, t.TempDir(), v, files))
			require.NoError(t, err)
			_, err = s.Verify(t.Context())
			require.ErrorIs(t, err, encoding.ErrCorrupt, "%s %s", v, name)
			require.True(t, bytes.Contains([]byte(err.Error()), []byte("Index.db")) || bytes.Contains([]byte(err.Error()), []byte("Rows.db")) ||
				bytes.Contains([]byte(err.Error()), []byte("Partitions.db")), err)
			_, err = s.Find([]byte("b"))
			if v == "nb" {
				require.ErrorIs(t, err, encoding.ErrCorrupt)
			} else {
				require.Error(t, err)
			}
			require.NoError(t, s.Close())
		}
	}
}

// A table of which Statistics.db has no partitioner can be read, not searched.
func TestUnknownPartitioner(t *testing.T) {
	x := oneTable("nb", makeHeader(t, "UTF8Type", nil, nil, nil), Row{Liveness: rowgroup.LivenessLive})
	x.partitioner = "com.example.Mine"
	dir := t.TempDir()
	s, err := Open(write(t, dir, "nb", makeSSTable(t, x, making{chunkLength: 64})))
	require.NoError(t, err)
	require.Equal(t, "custom:com.example.Mine", s.Order())
	e, err := s.Find([]byte("k")) // all of Index.db
	require.NoError(t, err)
	require.Zero(t, e.Position)
	_, err = s.Find([]byte("l"))
	require.ErrorIs(t, err, rowgroup.ErrNotFound)
	require.NoError(t, s.Close())
	x.version = "da"
	s, err = Open(write(t, dir, "da", makeSSTable(t, &table{version: "da", header: x.header, events: x.events}, making{chunkLength: 64})))
	require.NoError(t, err)
	s.Statistics.Validation.Partitioner = "com.example.Mine"
	_, err = s.Find([]byte("k"))
	require.ErrorIs(t, err, encoding.ErrUnsupported)
	require.NoError(t, s.Close())
}

// Files that become shorter while they are read.
func TestShrunkFiles(t *testing.T) {
	x := goldenTable(t, "da")
	files := makeSSTable(t, x, making{compressor: "LZ4Compressor", chunkLength: 64, blockLength: 40})
	p, err := OpenPartitionIndex(bytes.NewReader(files[ComponentPartitions]), int64(len(files[ComponentPartitions])))
	require.NoError(t, err)
	p.r = bytes.NewReader(nil)
	_, _, err = p.Find([]byte{1})
	require.ErrorIs(t, err, encoding.ErrCorrupt)
	_, err = OpenPartitionIndex(bytes.NewReader(nil), 100)
	require.ErrorIs(t, err, encoding.ErrCorrupt)
	_, err = OpenRowIndex(bytes.NewReader(nil), 100, "da").Entry(0)
	require.ErrorIs(t, err, encoding.ErrCorrupt)

	dir := t.TempDir()
	s, err := Open(write(t, dir, "da", files))
	require.NoError(t, err)
	require.NoError(t, os.Truncate(filepath.Join(dir, s.FileName(ComponentData)), 20))
	r, err := s.Scan()
	require.NoError(t, err)
	_, err = collect(r.BodyReader)
	require.ErrorIs(t, err, encoding.ErrCorrupt)
	require.NoError(t, r.Close())
	require.NoError(t, s.Close())
}

func TestCursor(t *testing.T) {
	for _, v := range []uint64{0, 1, 127, 128, 1<<14 - 1, 1 << 14, 1<<21 - 1, 1 << 35, 1<<49 - 1, 1 << 49, 1<<56 - 1, 1 << 56, 1<<63 - 1, 1 << 63, math.MaxUint64} {
		b := appendVint(nil, v)
		for _, tail := range [][]byte{nil, {7}, make([]byte, 9)} {
			c := cursor{b: append(bytes.Clone(b), tail...)}
			require.Equal(t, v, c.vint())
			require.Equal(t, len(b), c.p)
			require.False(t, c.short)
		}
		for n := range b {
			c := cursor{b: b[:n]}
			require.Zero(t, c.vint())
			require.True(t, c.short)
		}
		c := cursor{b: appendSvint(nil, int64(v))}
		require.Equal(t, int64(v), c.svint())
	}
	require.Equal(t, []byte{0x80, 0x80}, appendVint(nil, 128))
	require.Len(t, appendVint(nil, 1<<56), 9)
	require.Len(t, appendVint(nil, 1<<56-1), 8)
}

func TestUserTypesString(t *testing.T) {
	for u := UserTypesByHeader; u <= UserTypesFoundMultiCell; u++ {
		require.NotEmpty(t, u.String())
	}
}
