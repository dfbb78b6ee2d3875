package columnar_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/textfmt"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files of the newest version anew")

const golden = "../testdata/golden"

// goldenTable is a table of the golden files.
type goldenTable struct {
	schema *rowgroup.Schema
	rows   func() rowgroup.Iter // or
	batch  *rowgroup.Batch
	opts   []columnar.Option
}

// goldenTables are small tables that together show all that a file can hold.
// The newest version's folder has a file of each.
func goldenTables(t *testing.T) map[string]goldenTable {
	full := generate.Metrics5{Series: 2, Points: 180, Seed: generate.Seed}
	dec := generate.Metrics5{Series: 2, Points: 180, Variant: generate.TwoDecimals, Seed: generate.Seed}
	points := generate.Points{Partitions: 3, PerKey: 150, Seed: generate.Seed}
	many := generate.Points{Partitions: 300, PerKey: 1, Seed: generate.Seed}
	history := generate.History{Partitions: 6, Names: 3, Times: 7, Seed: generate.Seed}.Batch()
	long := generate.History{Partitions: 2, Names: 4, Times: 16, Seed: 1}.Batch()
	types := generate.Types{Rows: 16}.Batch()
	text := textTable(t)
	cells := multiCellTable(t)
	empty := generate.Points{PerKey: 1}
	small := []columnar.Option{columnar.WithRowGroupRows(8), columnar.WithBlockBytes(700)}
	both := []columnar.Option{columnar.WithColumnCompression("*"), columnar.WithCompression(2), columnar.WithUserData("origin", []byte("golden"))}
	return map[string]goldenTable{
		"metrics5-full":   {schema: full.Schema(), rows: full.Rows},
		"metrics5-2dec":   {schema: dec.Schema(), rows: dec.Rows},
		"points":          {schema: points.Schema(), rows: points.Rows},
		"many-partitions": {schema: many.Schema(), rows: many.Rows, opts: []columnar.Option{columnar.WithRowGroupRows(32), columnar.WithBlockBytes(200)}},
		"history":         {schema: history.Schema(), batch: history},
		"history-blocks":  {schema: long.Schema(), batch: long, opts: small},
		"types":           {schema: types.Schema(), batch: types},
		"multi-cell":      {schema: cells.Schema(), batch: cells, opts: small},
		"text":            {schema: text.Schema(), batch: text},
		"zstd":            {schema: text.Schema(), batch: text, opts: both},
		"empty":           {schema: empty.Schema(), rows: empty.Rows},
	}
}

// textTable is a log: a multiset of texts that repeat, share beginnings and
// differ.
func textTable(t *testing.T) *rowgroup.Batch {
	s, err := rowgroup.NewSchema(
		[]rowgroup.Column{{Name: "host", Type: rowgroup.Text}},
		[]rowgroup.Column{{Name: "time", Type: rowgroup.Timestamp(rowgroup.Micros)}}, nil,
		[]rowgroup.Column{{Name: "level", Type: rowgroup.Text}, {Name: "path", Type: rowgroup.Text}, {Name: "message", Type: rowgroup.Text}},
		rowgroup.WithMultiset())
	require.NoError(t, err)
	b := rowgroup.NewBatch(s)
	for p := range 2 {
		b.BeginPartition(fmt.Appendf(nil, "web-%d", p))
		for i := range 140 {
			*b.Int64s(1) = append(*b.Int64s(1), 1_780_000_000_000_000+int64(i/3)*1_000_000)
			require.NoError(t, b.Bytes(2).Append([]byte([]string{"info", "info", "warning", "error"}[i*i%4])))
			require.NoError(t, b.Bytes(3).Append(fmt.Appendf(nil, "/api/v1/items/%d", 1000+i)))
			require.NoError(t, b.Bytes(4).Append([]byte(strings.Repeat("retry ", i%4)+fmt.Sprintf("after %d ms", i*i*7919%1000))))
		}
	}
	return b
}

// multiCellTable has a multi-cell column of each kind, also a static one, with
// cells of every state.
func multiCellTable(t *testing.T) *rowgroup.Batch {
	column := func(name, text string) rowgroup.Column {
		typ, err := rowgroup.ParseType(text)
		require.NoError(t, err)
		return rowgroup.Column{Name: name, Type: typ}
	}
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "id", Type: rowgroup.Int}}, []rowgroup.Column{{Name: "n", Type: rowgroup.Int}},
		[]rowgroup.Column{column("labels", "map<text,text>")},
		[]rowgroup.Column{
			column("samples", "list<double>"), column("tags", "set<text>"), column("limits", "map<int,boolean>"),
			column("address", "udt<shop.address{street:text,number:int,floor:tinyint}>"), column("note", "text"),
		})
	require.NoError(t, err)
	const time = 1_780_000_000_000_000
	b := rowgroup.NewBatch(s)
	add := func(col, row int, deleted bool, cells ...rowgroup.MultiCell) {
		m := b.MultiCells(col)
		m.Begin(row)
		if deleted {
			m.Delete(rowgroup.Deletion{MarkedForDeleteAt: time - 1, LocalDeletionTime: time/1_000_000 - 1})
		}
		for _, c := range cells {
			require.NoError(t, m.Append(&c))
		}
	}
	states := []rowgroup.Cell{
		rowgroup.CellAsRow, rowgroup.CellLive | rowgroup.CellOwnTime,
		rowgroup.CellExpiring | rowgroup.CellOwnTime | rowgroup.CellOwnExpiry, rowgroup.CellTombstone | rowgroup.CellOwnTime,
	}
	for p := range 2 {
		h := b.BeginPartition(binary.BigEndian.AppendUint32(nil, uint32(p)))
		if m := b.StaticMeta(); p == 1 {
			h.Static = rowgroup.StaticFull
			m.Liveness, m.WriteTimes = []rowgroup.Liveness{0, rowgroup.LivenessNone}, []int64{0, 0}
			add(2, p, true, rowgroup.MultiCell{Path: []byte("region"), Value: []byte("north"), State: states[1], WriteTime: time})
		}
		for i := range 20 {
			row := b.Len()
			*b.Int32s(1) = append(*b.Int32s(1), int32(i))
			require.NoError(t, b.Bytes(7).Append([]byte("note")))
			m := b.Meta()
			m.WriteTimes = append(m.WriteTimes, time+int64(row))
			var list, set, limits, fields []rowgroup.MultiCell
			for k := range i % 5 {
				c := rowgroup.MultiCell{State: states[(i+k)%4], WriteTime: time + 7, TTL: 60, Expiry: time/1_000_000 + 60 + int64(k)}
				c.Path = fmt.Appendf(nil, "\x10\x00\x00%c\x00\x00\x11\xefabcdefgh", k)
				c.Value = rowgroup.AppendFloat64(nil, float64(i)+float64(k)/4)
				list = append(list, c)
				c.Path, c.Value = fmt.Appendf(nil, "tag-%d", k), nil
				set = append(set, c)
				c.Path, c.Value = binary.BigEndian.AppendUint32(nil, uint32(k)), [][]byte{{1}, {0}, {}, {2}}[(i+k)%4]
				limits = append(limits, c)
				if k < 3 {
					c.Path, c.Value = []byte{0, byte(k)}, [][]byte{[]byte("High Street"), {0, 0, 0, 7}, {byte(i)}}[k]
					fields = append(fields, c)
				}
			}
			add(3, row, i%3 == 0, list...)
			if i%7 < 5 {
				add(4, row, i%4 == 1, set...)
			}
			if i%2 == 0 {
				add(5, row, false, limits...)
				add(6, row, i%8 == 0, fields...)
			}
		}
	}
	for col := 3; col < 7; col++ {
		b.MultiCells(col).Pad(b.Len())
	}
	b.MultiCells(2).Pad(2)
	require.NoError(t, b.Check())
	return b
}

// file writes the table.
func (g *goldenTable) file(t *testing.T) []byte {
	var buf bytes.Buffer
	w, err := columnar.NewWriter(&buf, g.schema, g.opts...)
	require.NoError(t, err)
	if g.batch != nil {
		require.NoError(t, w.Append(g.batch))
	} else {
		it, b := g.rows(), rowgroup.NewBatch(g.schema)
		defer it.Close()
		for {
			more, err := it.Next(b)
			require.NoError(t, err)
			if !more {
				break
			}
			require.NoError(t, w.Append(b))
		}
	}
	require.NoError(t, w.Close())
	return buf.Bytes()
}

// dumpOf opens and verifies a file and returns its dump.
func dumpOf(t *testing.T, file []byte) string {
	ctx := context.Background()
	r, err := columnar.Open(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	defer r.Close()
	require.NoError(t, r.Verify(ctx, columnar.VerifyValues, nil))
	var out strings.Builder
	d := textfmt.NewDumpWriter(&out, r.Schema())
	for b, err := range r.All(ctx, rowgroup.ScanOptions{}) {
		require.NoError(t, err)
		require.NoError(t, d.Write(b))
	}
	require.NoError(t, d.Flush())
	return out.String()
}

// TestGoldenBytes writes the tables again: the newest version's bytes do not
// change by accident, and are the same on every platform.
func TestGoldenBytes(t *testing.T) {
	folder := filepath.Join(golden, fmt.Sprintf("v%d", columnar.Version))
	if *rewrite {
		require.NoError(t, os.RemoveAll(folder))
		require.NoError(t, os.MkdirAll(folder, 0o777))
	}
	for name, table := range goldenTables(t) {
		t.Run(name, func(t *testing.T) {
			file := table.file(t)
			require.Less(t, len(file), 64<<10)
			path := filepath.Join(folder, name)
			if *rewrite {
				require.NoError(t, os.WriteFile(path+".csst", file, 0o666))
				text := dumpOf(t, file)
				require.LessOrEqual(t, len(text), 64<<10)
				require.NoError(t, os.WriteFile(path+".ndjson", []byte(text), 0o666))
			}
			want, err := os.ReadFile(path + ".csst")
			require.NoError(t, err)
			require.True(t, bytes.Equal(want, file), "%s: %d bytes, now %d, the first that differs at %d", path, len(want), len(file), firstDifference(want, file))
		})
	}
}

func firstDifference(a, b []byte) int {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return i
}

// TestGoldenFiles reads the files of every version.
func TestGoldenFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(golden, "v*", "*.csst"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, path := range files {
		t.Run(filepath.Base(filepath.Dir(path))+"/"+strings.TrimSuffix(filepath.Base(path), ".csst"), func(t *testing.T) {
			file, err := os.ReadFile(path)
			require.NoError(t, err)
			want, err := os.ReadFile(strings.TrimSuffix(path, ".csst") + ".ndjson")
			require.NoError(t, err)
			got := dumpOf(t, file)
			wantLines, gotLines := strings.Split(string(want), "\n"), strings.Split(got, "\n")
			for i := range min(len(wantLines), len(gotLines)) {
				require.Equal(t, wantLines[i], gotLines[i], "line %d", i+1)
			}
			require.Len(t, gotLines, len(wantLines))
		})
	}
}
