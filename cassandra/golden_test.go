package cassandra

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/internal/binfmt"
	"github.com/colsst/colsst/rowgroup"
)

// goldenTable has one of everything, in few bytes.
func goldenTable(tb testing.TB, v Version) *table {
	const us, sec = 1_700_000_000_000_000, 1_700_000_000
	h := makeHeader(tb, "CompositeType("+marshal+"UTF8Type,"+marshal+"Int32Type)", []string{"Int32Type", "ReversedType(UTF8Type)"},
		[]string{"owner UTF8Type"},
		[]string{"count LongType", "note UTF8Type", "tags SetType(" + marshal + "UTF8Type)", "temp DoubleType"})
	h.MinTimestamp, h.MinLocalDeletionTime = us, sec
	key := []byte{0, 1, 'a', 0, 0, 4, 0, 0, 0, 7, 0}
	ck := func(n byte, s string) [][]byte { return [][]byte{{0, 0, 0, n}, []byte(s)} }
	gone := rowgroup.Deletion{MarkedForDeleteAt: us + 3, LocalDeletionTime: sec + 3}
	live := func(column int, value ...byte) Cell {
		return Cell{Column: column, Kind: rowgroup.CellLive, Timestamp: us + 1, Value: value}
	}
	eight := []byte{0, 0, 0, 0, 0, 0, 0, 9}
	return &table{version: v, header: h, events: []event{
		{Event: PartitionBegin, Partition: Partition{Key: key, Deletion: noDeletion(v)}},
		{Event: StaticRow, Row: Row{Liveness: rowgroup.LivenessNone, Deletion: noDeletion(v), Cells: []Cell{live(0, 'b', 'o', 'b')}}},
		{Event: ClusteringRow, Row: Row{
			Clustering: ck(1, "z"), Liveness: rowgroup.LivenessLive, Timestamp: us + 1, Deletion: noDeletion(v),
			Cells: []Cell{live(0, eight...), live(1, 'h', 'i'), live(2, eight...)},
			Complex: []ComplexColumn{{Column: 3, Deletion: noDeletion(v), Cells: []Cell{
				{Column: 3, Kind: rowgroup.CellLive, Timestamp: us + 1, Path: []byte("x"), Value: []byte{}},
				{Column: 3, Kind: rowgroup.CellTombstone, Timestamp: us + 2, LocalDeletionTime: sec + 2, Path: []byte("y")},
			}}},
		}},
		{Event: ClusteringRow, Row: Row{
			Clustering: ck(1, ""), Liveness: rowgroup.LivenessExpiring, Timestamp: us + 1, TTL: 60, ExpirationTime: sec + 60, Deletion: noDeletion(v),
			Cells: []Cell{
				{Kind: rowgroup.CellExpiring, Timestamp: us + 1, TTL: 60, LocalDeletionTime: sec + 60, Value: eight},
				{Column: 1, Kind: rowgroup.CellExpiring, Timestamp: us + 5, TTL: 90, LocalDeletionTime: sec + 90, Value: []byte{}},
			},
		}},
		{Event: RangeMarker, Marker: Marker{Bound: Bound{Kind: rowgroup.InclStart, Values: ck(2, "")[:1]}, Open: gone, Close: noDeletion(v)}},
		{Event: RangeMarker, Marker: Marker{
			Bound: Bound{Kind: rowgroup.InclEndExclStart, Values: ck(4, "m")}, Close: gone,
			Open: rowgroup.Deletion{MarkedForDeleteAt: us + 4, LocalDeletionTime: sec + 4},
		}},
		{Event: ClusteringRow, Row: Row{
			Clustering: ck(5, "k"), Liveness: rowgroup.LivenessNone, HasDeletion: true, Deletion: gone,
			Cells:   []Cell{{Column: 2, Kind: rowgroup.CellTombstone, Timestamp: us + 6, LocalDeletionTime: sec + 6}},
			Complex: []ComplexColumn{{Column: 3, Deletion: rowgroup.Deletion{MarkedForDeleteAt: us + 5, LocalDeletionTime: sec + 6}, Cells: []Cell{}}},
		}},
		{Event: RangeMarker, Marker: Marker{
			Bound: Bound{Kind: rowgroup.InclEnd, Values: [][]byte{}},
			Close: rowgroup.Deletion{MarkedForDeleteAt: us + 4, LocalDeletionTime: sec + 4}, Open: noDeletion(v),
		}},
		{Event: PartitionEnd},
		{Event: PartitionBegin, Partition: Partition{Key: append(key[:9:9], 8, 0), Deletion: gone}},
		{Event: StaticRow, Row: Row{Liveness: rowgroup.LivenessNone, Deletion: noDeletion(v)}},
		{Event: PartitionEnd},
	}}
}

// goldenFile is a component of a committed SSTable.
func goldenFile(tb testing.TB, v Version, c Component) []byte {
	b, err := os.ReadFile(filepath.Join("testdata", string(v), Descriptor{v, "1"}.FileName(c)))
	require.NoError(tb, err)
	return b
}

// The committed SSTables, made by makeSSTable, read as written down; with
// -rewrite they are made anew.
func TestGolden(t *testing.T) {
	rewrite := flag.Lookup("rewrite").Value.String() == "true"
	makings := map[Version]making{
		"ma": {chunkLength: 64, blockLength: 40},
		"mc": {compressor: "DeflateCompressor", chunkLength: 64, trailing: true, blockLength: 40},
		"nb": {compressor: "LZ4Compressor", chunkLength: 64, maxCompressed: 60, blockLength: 40},
		"oa": {compressor: "ZstdCompressor", chunkLength: 128, blockLength: 40},
		"da": {compressor: "SnappyCompressor", chunkLength: 64, blockLength: 40},
	}
	datadriven.RunTest(t, "testdata/golden.txt", func(t *testing.T, d *datadriven.TestData) string {
		var name string
		d.ScanArgs(t, "version", &name)
		v := Version(name)
		dir := filepath.Join("testdata", name)
		x := goldenTable(t, v)
		if rewrite {
			require.NoError(t, os.RemoveAll(dir))
			require.NoError(t, os.MkdirAll(dir, 0o755))
			write(t, dir, v, makeSSTable(t, x, makings[v]))
		}
		s, err := Open(filepath.Join(dir, Descriptor{v, "1"}.FileName(ComponentData)))
		require.NoError(t, err)
		defer func() { require.NoError(t, s.Close()) }()
		rep, err := s.Verify(t.Context())
		require.NoError(t, err)
		require.Empty(t, rep.Warnings)
		return annotate(t, s, x)
	})
}

// annotate dumps the body of s, event by event, which must be those of x.
func annotate(t *testing.T, s *SSTable, x *table) string {
	body := x.body(t)
	r, err := s.Scan()
	require.NoError(t, err)
	events, err := collect(r.BodyReader)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	sameEvents(t, x.events, events)
	stream, err := s.Data.Stream(0, true)
	require.NoError(t, err)
	stored, err := io.ReadAll(stream)
	require.NoError(t, err)
	require.NoError(t, stream.Close())
	require.Equal(t, stored, body)

	f := binfmt.New(body)
	if r, err = s.Scan(); err != nil {
		t.Fatal(err)
	}
	defer func() { require.NoError(t, r.Close()) }()
	text, from := "", int64(0)
	for range events {
		e, err := r.Next()
		require.NoError(t, err)
		if text != "" {
			f.Bytes(int(r.Position()-from), "%s", text)
		}
		from = r.Position()
		text = eventText(s, e, r.BodyReader)
	}
	f.Bytes(f.Remaining(), "%s", text)
	return f.String()
}

func eventText(s *SSTable, e Event, r *BodyReader) string {
	deletion := func(name string, d rowgroup.Deletion) string {
		if d.Live() {
			return ""
		}
		return fmt.Sprintf(" %s=%d@%d", name, d.MarkedForDeleteAt, d.LocalDeletionTime)
	}
	cellText := func(c *Cell) string {
		t := fmt.Sprintf("%x @%d", c.Value, c.Timestamp)
		if c.Path != nil {
			t = fmt.Sprintf("%x: ", c.Path) + t
		}
		switch c.Kind {
		case rowgroup.CellExpiring:
			t += fmt.Sprintf(" ttl=%d until=%d", c.TTL, c.LocalDeletionTime)
		case rowgroup.CellTombstone:
			t += fmt.Sprintf(" deleted=%d", c.LocalDeletionTime)
		}
		return t
	}
	switch e {
	case PartitionBegin:
		return fmt.Sprintf("partition %x", r.Partition().Key) + deletion("deleted", r.Partition().Deletion)
	case RangeMarker:
		m := r.Marker()
		return fmt.Sprintf("marker %d %x", m.Kind, m.Values) + deletion("close", m.Close) + deletion("open", m.Open)
	case StaticRow, ClusteringRow:
		row, cols := r.Row(), s.Header.Regular
		t := fmt.Sprintf("row %x", row.Clustering)
		if e == StaticRow {
			t, cols = "static row", s.Header.Static
		}
		if row.Liveness != rowgroup.LivenessNone {
			t += fmt.Sprintf(" @%d", row.Timestamp)
		}
		if row.TTL != 0 {
			t += fmt.Sprintf(" ttl=%d until=%d", row.TTL, row.ExpirationTime)
		}
		t += deletion("deleted", row.Deletion)
		var cells []string
		for i := range row.Cells {
			cells = append(cells, cols[row.Cells[i].Column].Name+"="+cellText(&row.Cells[i]))
		}
		for _, x := range row.Complex {
			var list []string
			for i := range x.Cells {
				list = append(list, cellText(&x.Cells[i]))
			}
			cells = append(cells, cols[x.Column].Name+"={"+strings.Join(list, ", ")+"}"+deletion("deleted", x.Deletion))
		}
		return t + " [" + strings.Join(cells, "; ") + "]"
	}
	return "end"
}
