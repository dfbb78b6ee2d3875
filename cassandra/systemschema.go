package cassandra

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// systemKeyspace is the keyspace in which Cassandra keeps the schema:
//
//	tables           keyspace_name, table_name: id, flags
//	views            keyspace_name, view_name: id
//	columns          keyspace_name, table_name, column_name: kind, position,
//	                 type, clustering_order
//	dropped_columns  keyspace_name, table_name, column_name: dropped_time, kind,
//	                 type
//	types            keyspace_name, type_name: field_names, field_types
const systemKeyspace = "system_schema"

// systemTables are the tables of systemKeyspace that are read, each with a
// column that no other has, by which its SSTables are known outside a folder of
// Cassandra's.
var systemTables = []struct{ name, column string }{
	{"views", "base_table_id"}, {"tables", "id"}, {"columns", "position"}, {"dropped_columns", "dropped_time"}, {"types", "field_types"},
}

// ListSystemSchema finds the live SSTables below a folder that hold the schema.
func ListSystemSchema(dir string, o ListOptions) (paths []string, err error) {
	o.System = true
	list, err := List([]string{dir}, o)
	if err != nil {
		return nil, err
	}
	for _, x := range list.SSTables {
		if x.Known && (x.Table.Keyspace != systemKeyspace || x.Table.Index != "") {
			continue
		}
		paths = append(paths, x.Path)
	}
	return paths, nil
}

// ReadSystemSchema reads the tables that SSTables of Cassandra's keyspace
// system_schema know, of which the newest of every value counts and what has
// been deleted does not. SSTables of other tables are passed over. From of the
// tables is the given name. Of a table that cannot be made out, since a type of
// it is unknown or columns are missing, notes say so.
func ReadSystemSchema(ctx context.Context, paths []string, from string) (tables []*Table, notes []string, err error) {
	x := systemSchema{}
	for _, path := range paths {
		if err := x.read(ctx, path); err != nil {
			return nil, nil, err
		}
	}
	if len(x["tables"])+len(x["views"]) == 0 {
		x.tablesOfColumns()
	}
	types := map[string]string{}
	for _, name := range []string{"tables", "views"} {
		for keyspace, p := range x[name] {
			if _, known := types[keyspace]; !known {
				types[keyspace] = x.types(keyspace)
			}
			for _, row := range p.sorted() {
				t, err := x.table(keyspace, types[keyspace], row, from)
				if err != nil {
					notes = append(notes, fmt.Sprintf("%s: table %s.%s: %v", from, keyspace, row.values[0], err))
					continue
				}
				tables = append(tables, t)
			}
		}
	}
	slices.SortFunc(tables, func(a, b *Table) int {
		return strings.Compare(a.Keyspace+"\x00"+a.Name, b.Keyspace+"\x00"+b.Name)
	})
	slices.Sort(notes)
	return tables, notes, nil
}

// systemSchema is what SSTables hold, by table and keyspace.
type systemSchema map[string]map[string]*systemPartition

// systemPartition are the rows of a keyspace in one table, merged.
type systemPartition struct {
	deleted int64 // µs
	rows    map[string]*systemRow
	ranges  []systemRange
	byTable map[string][]*systemRow // once it is needed
}

type systemRow struct {
	values  [][]byte // of the clustering
	deleted int64    // µs
	cells   map[string]systemCell
}

type systemCell struct {
	timestamp int64
	value     []byte // nil: deleted
}

// systemRange is a range tombstone.
type systemRange struct {
	from, to Prefix
	deleted  int64
	columns  []Column
}

// read merges what an SSTable holds.
func (x systemSchema) read(ctx context.Context, path string) (err error) {
	s, err := Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	name := s.systemTable()
	if name == "" {
		return nil
	}
	if len(s.Header.Static) > 0 || len(s.Header.Clustering) == 0 || len(s.Header.Clustering) > 2 {
		return s.name(ComponentStatistics, encoding.Corruptf("HEADER", "columns that %s.%s does not have", systemKeyspace, name))
	}
	if x[name] == nil {
		x[name] = map[string]*systemPartition{}
	}
	r, err := s.Scan()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var p *systemPartition
	var open Prefix
	for n := 0; ; n++ {
		if n%ctxEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch e {
		case PartitionBegin:
			key := string(r.Partition().Key)
			if p = x[name][key]; p == nil {
				p = &systemPartition{deleted: math.MinInt64, rows: map[string]*systemRow{}}
				x[name][key] = p
			}
			p.deleted = max(p.deleted, r.Partition().Deletion.MarkedForDeleteAt)
		case RangeMarker:
			m := r.Marker()
			if m.Kind.Closes() {
				end := Prefix{m.Kind, cloneAll(m.Values)}
				p.ranges = append(p.ranges, systemRange{open, end, m.Close.MarkedForDeleteAt, s.Header.Clustering})
			}
			if m.Kind.Opens() {
				open = Prefix{m.Kind, cloneAll(m.Values)}
			}
		case ClusteringRow:
			p.merge(r.Row(), s.Header.Regular)
		}
	}
}

// tablesOfColumns makes rows of tables, without ids, of those in columns, where
// there are no SSTables of the former.
func (x systemSchema) tablesOfColumns() {
	x["tables"] = map[string]*systemPartition{}
	for keyspace, p := range x["columns"] {
		tables := &systemPartition{rows: map[string]*systemRow{}}
		for _, c := range p.sorted() {
			tables.rows[string(c.values[0])] = &systemRow{values: c.values[:1], cells: map[string]systemCell{"": {1, []byte{}}}}
		}
		x["tables"][keyspace] = tables
	}
}

// systemTable is which of systemTables s is of, or "".
func (s *SSTable) systemTable() string {
	place, known := ParseTablePath(absolute(s.Dir))
	for _, t := range systemTables {
		if known && place.Keyspace == systemKeyspace {
			if place.Table == t.name && place.Index == "" {
				return t.name
			}
			continue
		}
		if slices.ContainsFunc(s.Header.Regular, func(c Column) bool { return c.Name == t.column }) {
			return t.name
		}
	}
	return ""
}

func cloneAll(values [][]byte) [][]byte {
	c := make([][]byte, len(values))
	for i := range values {
		c[i] = bytes.Clone(values[i])
	}
	return c
}

// merge takes in what an SSTable has of a row.
func (p *systemPartition) merge(row *Row, columns []Column) {
	key := string(bytes.Join(row.Clustering, []byte{0}))
	x := p.rows[key]
	if x == nil {
		x = &systemRow{cloneAll(row.Clustering), math.MinInt64, map[string]systemCell{}}
		p.rows[key] = x
	}
	if row.HasDeletion {
		x.deleted = max(x.deleted, row.Deletion.MarkedForDeleteAt)
	}
	for i := range row.Cells {
		c := &row.Cells[i]
		cell := systemCell{timestamp: c.Timestamp}
		if c.Kind != rowgroup.CellTombstone {
			cell.value = append([]byte{}, c.Value...)
		}
		name := columns[c.Column].Name
		old, known := x.cells[name]
		if !known || cell.supersedes(&old) {
			x.cells[name] = cell
		}
	}
}

// supersedes is the rule by which Cassandra reconciles two cells: the later one,
// else the deletion, else the greater value.
func (c *systemCell) supersedes(old *systemCell) bool {
	switch {
	case c.timestamp != old.timestamp:
		return c.timestamp > old.timestamp
	case c.value == nil || old.value == nil:
		return old.value != nil
	}
	return bytes.Compare(c.value, old.value) > 0
}

// sorted are the rows that have a live cell, in the order of their clusterings,
// without what is deleted.
func (p *systemPartition) sorted() (rows []*systemRow) {
	for _, key := range slices.Sorted(maps.Keys(p.rows)) {
		row := p.rows[key]
		deleted := max(p.deleted, row.deleted)
		for i := range p.ranges {
			if r := &p.ranges[i]; r.covers(row.values) {
				deleted = max(deleted, r.deleted)
			}
		}
		maps.DeleteFunc(row.cells, func(_ string, c systemCell) bool { return c.value == nil || c.timestamp <= deleted })
		if len(row.cells) > 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

func (r *systemRange) covers(values [][]byte) bool {
	at := Prefix{kindClustering, values}
	from, _ := comparePrefixes(r.columns, r.from, at)
	to, _ := comparePrefixes(r.columns, at, r.to)
	return from < 0 && to < 0
}

func (r *systemRow) text(column string) string { return string(r.cells[column].value) }

// of are the rows of one table of a keyspace.
func (x systemSchema) of(name, keyspace, table string) (rows []*systemRow) {
	p := x[name][keyspace]
	if p == nil {
		return nil
	}
	if p.byTable == nil {
		p.byTable = map[string][]*systemRow{}
		for _, row := range p.sorted() {
			if len(row.values) == 2 {
				p.byTable[string(row.values[0])] = append(p.byTable[string(row.values[0])], row)
			}
		}
	}
	return p.byTable[table]
}

// quoted is a name as CQL takes it.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

var cqlWord = regexp.MustCompile(`"(?:[^"]|"")*"|[A-Za-z0-9_]+`)

// types are the user types of a keyspace as a script, each behind those that it
// has in it.
func (x systemSchema) types(keyspace string) string {
	p := x["types"][keyspace]
	if p == nil {
		return ""
	}
	statements, needs := map[string]string{}, map[string][]string{}
	for _, row := range p.sorted() {
		name := string(row.values[0])
		names, ok1 := textList(row.cells["field_names"].value)
		types, ok2 := textList(row.cells["field_types"].value)
		if !ok1 || !ok2 || len(names) != len(types) {
			continue // a table that has it cannot be made out
		}
		fields := make([]string, len(names))
		for i := range names {
			fields[i] = quoted(names[i]) + " " + types[i]
			for _, word := range cqlWord.FindAllString(types[i], -1) {
				needs[name] = append(needs[name], strings.ReplaceAll(strings.Trim(word, `"`), `""`, `"`))
			}
		}
		statements[name] = "CREATE TYPE " + quoted(keyspace) + "." + quoted(name) + " (" + strings.Join(fields, ", ") + ");\n"
	}
	var script strings.Builder
	for left := len(statements) + 1; len(statements) < left; {
		left = len(statements)
		for _, name := range slices.Sorted(maps.Keys(statements)) {
			waits := func(word string) bool { _, yet := statements[word]; return yet && word != name }
			if !slices.ContainsFunc(needs[name], waits) {
				script.WriteString(statements[name])
				delete(statements, name)
			}
		}
	}
	return script.String()
}

// textList is a frozen list<text>.
func textList(b []byte) (list []string, ok bool) {
	c := cursor{b: b}
	for n := c.count(uint64(c.u32()), 4); n > 0; n-- {
		list = append(list, string(c.take(uint64(c.u32()))))
	}
	return list, !c.short && c.left() == 0
}

// table makes a table of its row in tables or views. It writes the script that
// DESCRIBE would print, types first, and reads that.
func (x systemSchema) table(keyspace, types string, row *systemRow, from string) (*Table, error) {
	name := string(row.values[0])
	full := quoted(keyspace) + "." + quoted(name)
	live := map[string]string{}
	var columns, order []string
	var key, clustering []*systemRow
	for _, c := range x.of("columns", keyspace, name) {
		text := quoted(string(c.values[1])) + " " + c.text("type")
		switch c.text("kind") {
		case "partition_key":
			key = append(key, c)
		case "clustering":
			clustering = append(clustering, c)
		case "static":
			text += " STATIC"
			fallthrough
		default:
			live[string(c.values[1])] = text
			continue
		}
		columns = append(columns, text)
	}
	var alter strings.Builder
	for _, c := range x.of("dropped_columns", keyspace, name) {
		column := string(c.values[1])
		text := quoted(column) + " " + c.text("type")
		if c.text("kind") == "static" {
			text += " STATIC"
		}
		columns = append(columns, text)
		fmt.Fprintf(&alter, "ALTER TABLE %s DROP %s USING TIMESTAMP %d;\n", full, quoted(column), 1000*millis(c.cells["dropped_time"].value))
		if again := live[column]; again != "" {
			fmt.Fprintf(&alter, "ALTER TABLE %s ADD %s;\n", full, again)
			delete(live, column)
		}
	}
	for _, column := range slices.Sorted(maps.Keys(live)) {
		columns = append(columns, live[column])
	}
	names := func(rows []*systemRow) string {
		position := func(r *systemRow) int64 {
			n, _ := rowgroup.IntOf(rowgroup.Int, r.cells["position"].value)
			return n
		}
		slices.SortFunc(rows, func(a, b *systemRow) int { return int(position(a) - position(b)) })
		list := make([]string, len(rows))
		for i, r := range rows {
			list[i] = quoted(string(r.values[1]))
			if r.text("clustering_order") == "desc" {
				order = append(order, list[i]+" DESC")
			}
		}
		return strings.Join(list, ", ")
	}
	if len(key) == 0 {
		return nil, errors.New("no columns of the partition key")
	}
	primary := "(" + names(key) + ")"
	if len(clustering) > 0 {
		primary += ", " + names(clustering)
	}
	columns = append(columns, "PRIMARY KEY ("+primary+")")
	script := types + "CREATE TABLE " + full + " (" + strings.Join(columns, ", ") + ")"
	if len(order) > 0 {
		script += " WITH CLUSTERING ORDER BY (" + strings.Join(order, ", ") + ")"
	}
	tables, err := ParseSchema([]byte(script+";\n"+alter.String()), from)
	if err != nil {
		return nil, err
	}
	t := tables[0]
	t.ID = hex.EncodeToString(row.cells["id"].value)
	if flags, ok := textList(row.cells["flags"].value); ok {
		t.Compact = !slices.Contains(flags, "compound") || slices.Contains(flags, "dense") || slices.Contains(flags, "super")
	}
	return t, nil
}

// millis is a timestamp's value, ms.
func millis(b []byte) int64 {
	if len(b) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}
