package cassandra

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

// systemRowEvent is a row of system_schema: of the clustering values the cells
// written at a time. A value that is nil is a deletion.
func systemRowEvent(at int64, h *Header, clustering []string, values map[string][]byte) event {
	e := event{Event: ClusteringRow, Row: Row{Liveness: rowgroup.LivenessLive, Timestamp: at, Deletion: noDeletion("nb")}}
	for _, v := range clustering {
		e.Row.Clustering = append(e.Row.Clustering, []byte(v))
	}
	for i := range h.Regular {
		value, some := values[h.Regular[i].Name]
		switch {
		case !some:
		case value == nil:
			e.Row.Cells = append(e.Row.Cells, Cell{Column: i, Kind: rowgroup.CellTombstone, Timestamp: at, LocalDeletionTime: 1})
		default:
			e.Row.Cells = append(e.Row.Cells, Cell{Column: i, Kind: rowgroup.CellLive, Timestamp: at, Value: value})
		}
	}
	return e
}

// systemHeader is the header of a table of system_schema.
func systemHeader(tb testing.TB, name string) *Header {
	list := "FrozenType(" + marshal + "ListType(" + marshal + "UTF8Type))"
	set := "FrozenType(" + marshal + "SetType(" + marshal + "UTF8Type))"
	text := []string{"UTF8Type"}
	switch name {
	case "tables":
		return makeHeader(tb, "UTF8Type", text, nil, []string{"id UUIDType", "flags " + set})
	case "views":
		return makeHeader(tb, "UTF8Type", text, nil, []string{"id UUIDType", "base_table_id UUIDType"})
	case "types":
		return makeHeader(tb, "UTF8Type", text, nil, []string{"field_names " + list, "field_types " + list})
	case "columns":
		return makeHeader(tb, "UTF8Type", []string{"UTF8Type", "UTF8Type"}, nil, []string{"clustering_order UTF8Type", "kind UTF8Type", "position Int32Type", "type UTF8Type"})
	}
	return makeHeader(tb, "UTF8Type", []string{"UTF8Type", "UTF8Type"}, nil, []string{"dropped_time TimestampType", "kind UTF8Type", "type UTF8Type"})
}

func texts(list ...string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(list)))
	for _, s := range list {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
	}
	return b
}

// writeSystem writes an SSTable of system_schema with the unfiltereds of one
// keyspace into a data root.
func writeSystem(t *testing.T, root, name, id string, deletion rowgroup.Deletion, list ...event) {
	h := systemHeader(t, name)
	x := &table{version: "nb", header: h, events: []event{{Event: PartitionBegin, Partition: Partition{Key: []byte("ks"), Deletion: deletion}}}}
	x.events = append(append(x.events, list...), event{Event: PartitionEnd})
	dir := filepath.Join(root, systemKeyspace, name+"-"+strings.Repeat("a", 32))
	require.NoError(t, os.MkdirAll(dir, 0o700))
	for c, b := range makeSSTable(t, x, making{chunkLength: 4096}) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, Descriptor{"nb", id}.FileName(c)), b, 0o600))
	}
}

// systemRoot makes a data root whose system_schema has, in several SSTables of
// each table, a keyspace with types, tables and what has been dropped.
func systemRoot(t *testing.T) string {
	root, none := t.TempDir(), noDeletion("nb")
	id := func(b byte) []byte { return []byte{b, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, b} }
	columns := systemHeader(t, "columns")
	column := func(at int64, table, name, kind string, position int32, typ, order string) event {
		return systemRowEvent(at, columns, []string{table, name}, map[string][]byte{
			"kind": []byte(kind), "position": binary.BigEndian.AppendUint32(nil, uint32(position)), "type": []byte(typ), "clustering_order": []byte(order),
		})
	}
	tables := systemHeader(t, "tables")
	row := func(at int64, table string, n byte, flags ...string) event {
		return systemRowEvent(at, tables, []string{table}, map[string][]byte{"id": id(n), "flags": texts(flags...)})
	}
	writeSystem(t, root, "tables", "1", none, row(1, "gone", 1, "compound"), row(1, "old", 2, "dense"), row(1, "t", 3, "compound"))
	deleted := systemRowEvent(9, tables, []string{"gone"}, nil)
	deleted.Row.Liveness, deleted.Row.HasDeletion, deleted.Row.Deletion = rowgroup.LivenessNone, true, rowgroup.Deletion{MarkedForDeleteAt: 5, LocalDeletionTime: 1}
	writeSystem(t, root, "tables", "2", none, deleted, row(9, "T 2", 4, "compound"))
	writeSystem(t, root, "views", "1", none, systemRowEvent(3, systemHeader(t, "views"), []string{"v"}, map[string][]byte{"id": id(5)}))
	writeSystem(t, root, "columns", "1", none,
		column(1, "gone", "k", "partition_key", 0, "int", "none"),
		column(1, "old", "column1", "clustering", 0, "text", "asc"), column(1, "old", "key", "partition_key", 0, "blob", "none"), column(1, "old", "value", "regular", -1, "blob", "none"),
		column(1, "t", "b", "partition_key", 1, "int", "none"), column(1, "t", "a", "partition_key", 0, "text", "none"),
		column(1, "t", "day", "clustering", 1, "date", "desc"), column(1, "t", "room", "clustering", 0, "text", "asc"),
		column(1, "t", "s", "static", -1, "frozen<person>", "none"), column(1, "t", "v", "regular", -1, "int", "none"),
		column(1, "t", "x", "regular", -1, "int", "none"), column(1, "t", "y", "regular", -1, "int", "none"))
	writeSystem(t, root, "columns", "2", none,
		event{Event: RangeMarker, Marker: Marker{Bound: Bound{rowgroup.InclStart, [][]byte{[]byte("gone")}}, Open: rowgroup.Deletion{MarkedForDeleteAt: 5, LocalDeletionTime: 1}}},
		event{Event: RangeMarker, Marker: Marker{Bound: Bound{rowgroup.InclEnd, [][]byte{[]byte("gone")}}, Close: rowgroup.Deletion{MarkedForDeleteAt: 5, LocalDeletionTime: 1}}},
		systemRowEvent(8, columns, []string{"t", "v"}, map[string][]byte{"type": []byte("bigint")}),
		systemRowEvent(8, columns, []string{"t", "x"}, map[string][]byte{"type": nil, "kind": nil, "position": nil, "clustering_order": nil}),
		column(8, "T 2", "Key", "partition_key", 0, "uuid", "none"), column(8, "T 2", "Live", "regular", -1, "map<text, frozen<set<person>>>", "none"),
		column(8, "v", "k", "partition_key", 0, "int", "none"))
	writeSystem(t, root, "types", "1", none,
		systemRowEvent(1, systemHeader(t, "types"), []string{"person"}, map[string][]byte{"field_names": texts("name", "Home"), "field_types": texts("text", `frozen<"zip code">`)}),
		systemRowEvent(1, systemHeader(t, "types"), []string{"zip code"}, map[string][]byte{"field_names": texts("n"), "field_types": texts("int")}))
	dropped := systemHeader(t, "dropped_columns")
	drop := func(name, kind, typ string) event {
		return systemRowEvent(8, dropped, []string{"t", name}, map[string][]byte{
			"dropped_time": binary.BigEndian.AppendUint64(nil, 1700), "kind": []byte(kind), "type": []byte(typ),
		})
	}
	writeSystem(t, root, "dropped_columns", "1", none, drop("x", "static", "int"), drop("y", "regular", "int"))
	return root
}

func TestSystemSchema(t *testing.T) {
	root := systemRoot(t)
	paths, err := ListSystemSchema(root, ListOptions{})
	require.NoError(t, err)
	require.Len(t, paths, 7)
	tables, notes, err := ReadSystemSchema(t.Context(), paths, "root")
	require.NoError(t, err)
	require.Empty(t, notes)
	const person = `udt<ks.person{name:text,"Home":frozen<udt<ks."zip code"{n:int}>>}>`
	var got []string
	for _, x := range tables {
		require.Equal(t, "root", x.From)
		got = append(got, tableText(x))
	}
	require.Equal(t, []string{
		`ks.T 2 04000000000000000000000000000004 | Key uuid || | Live map<text,frozen<set<` + person + `>>>`,
		`ks.old 02000000000000000000000000000002 compact | key blob | column1 text || value blob`,
		`ks.t 03000000000000000000000000000003 | a text, b int | room text, day date desc | s frozen<` + person + `> | v bigint, y int | dropped x int static 1700000 | dropped y int 1700000`,
		`ks.v 05000000000000000000000000000005 | k int || |`,
	}, got)

	// Of a table whose columns are missing, or have types that are not known,
	// there is a note; a keyspace that was deleted has no tables.
	tables, notes, err = ReadSystemSchema(t.Context(), paths[:0], "root")
	require.NoError(t, err)
	require.Empty(t, tables)
	require.Empty(t, notes)
	var some []string
	for _, p := range paths {
		if !strings.Contains(p, "/types-") {
			some = append(some, p)
		}
	}
	tables, notes, err = ReadSystemSchema(t.Context(), some, "root")
	require.NoError(t, err)
	require.Len(t, tables, 2)
	require.Len(t, notes, 2)
	require.Contains(t, notes[0], `root: table ks.T 2: root:1:`)
	// The columns alone do.
	some = slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !strings.Contains(p, "/columns-") && !strings.Contains(p, "/types-") })
	tables, notes, err = ReadSystemSchema(t.Context(), some, "root")
	require.NoError(t, err)
	require.Empty(t, notes)
	require.Len(t, tables, 4)
	require.Equal(t, "ks.v  | k int || |", tableText(tables[3]))
	writeSystem(t, root, "tables", "9", rowgroup.Deletion{MarkedForDeleteAt: 100, LocalDeletionTime: 1})
	writeSystem(t, root, "views", "9", rowgroup.Deletion{MarkedForDeleteAt: 100, LocalDeletionTime: 1})
	paths, err = ListSystemSchema(filepath.Join(root, systemKeyspace), ListOptions{})
	require.NoError(t, err)
	tables, _, err = ReadSystemSchema(t.Context(), paths, "root")
	require.NoError(t, err)
	require.Empty(t, tables)
}

// The schema of a real node.
func TestSystemSchemaOfNode(t *testing.T) {
	if _, err := os.Stat(fixtureDir); err != nil {
		t.Skip("no fixtures")
	}
	paths, err := ListSystemSchema(filepath.Join(fixtureDir, "pcass-me"), ListOptions{})
	require.NoError(t, err)
	tables, notes, err := ReadSystemSchema(t.Context(), paths, "node")
	require.NoError(t, err)
	require.Empty(t, notes)
	i := slices.IndexFunc(tables, func(x *Table) bool { return x.Keyspace == "sina_test" && x.Name == "songs" })
	s := openOnly(t, "pcass-me/songs")
	_, err = s.Schema(tables[i])
	require.NoError(t, err)
}

func tableText(x *Table) string {
	text := x.Keyspace + "." + x.Name + " " + x.ID
	if x.Compact {
		text += " compact"
	}
	for _, list := range [][]rowgroup.Column{x.PartitionKey, x.Clustering, x.Static, x.Regular} {
		var cols []string
		for _, c := range list {
			col := c.Name + " " + c.Type.String()
			if c.Desc {
				col += " desc"
			}
			cols = append(cols, col)
		}
		if text += " |"; len(cols) > 0 || len(list) > 0 {
			text += " " + strings.Join(cols, ", ")
		}
	}
	for _, d := range x.Dropped {
		text += " | dropped " + d.Name + " " + d.Type.String()
		if d.Static {
			text += " static"
		}
		text += " " + strconv.FormatInt(d.At, 10)
	}
	return strings.ReplaceAll(text, "| |", "||")
}
