package cassandra

import (
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/colsst/colsst/internal/cql"
	"github.com/colsst/colsst/rowgroup"
)

// Table is what is known of a table beside the headers of its SSTables: names
// above all, which a header lacks for the columns of the key.
type Table struct {
	Keyspace, Name string
	ID             string // 32 hexadecimal digits, or ""
	From           string // where this is known from, for messages

	// Columns by role, without those of the key and clustering a header is
	// enough. In a table of COMPACT STORAGE the roles of the others do not
	// count.
	PartitionKey, Clustering, Static, Regular []rowgroup.Column

	Compact bool
	Dropped []Dropped
}

// Dropped is a column that a table once had.
type Dropped struct {
	rowgroup.Column
	Static bool
	At     int64 // µs; what was written at or before does not count
}

// Schema is the schema of the rows: the columns of the header, in its order,
// with the names of t for the columns of the key, or, where t is nil, key (key1,
// key2 ...) and ck1, ck2 ... Where t contradicts the header the error names
// both. A name that a schema cannot have (an empty one, or one that begins with
// $) gets an underscore before it, one that occurs twice some behind it.
func (s *SSTable) Schema(t *Table) (*rowgroup.Schema, error) {
	h := s.Header
	if t != nil {
		if err := s.contradiction(t); err != nil {
			return nil, err
		}
	}
	taken := map[string]bool{}
	for _, list := range [][]Column{h.Static, h.Regular} {
		for i := range list {
			taken[columnName(list[i].Name)] = true
		}
	}
	free := func(name string) string {
		for taken[name] {
			name += "_"
		}
		taken[name] = true
		return name
	}
	key := h.keyTypes()
	partitionKey := make([]rowgroup.Column, len(key))
	for i := range key {
		name := "key"
		switch {
		case t != nil:
			name = t.PartitionKey[i].Name
		case len(key) > 1:
			name += strconv.Itoa(i + 1)
		}
		partitionKey[i] = rowgroup.Column{Name: free(columnName(name)), Type: key[i]}
	}
	clustering := make([]rowgroup.Column, len(h.Clustering))
	for i := range clustering {
		name := "ck" + strconv.Itoa(i+1)
		switch {
		case t != nil && i < len(t.Clustering):
			name = t.Clustering[i].Name
		case t != nil: // of a table of COMPACT STORAGE, which does not show it
			name = "column" + strconv.Itoa(i+1)
		}
		typ, desc := h.Clustering[i].Type, false
		for typ.Kind == rowgroup.KindReversed {
			typ, desc = typ.Args[0], !desc
		}
		clustering[i] = rowgroup.Column{Name: free(columnName(name)), Type: typ, Desc: desc}
	}
	schema, err := rowgroup.NewSchema(partitionKey, clustering, h.columns(h.Static), h.columns(h.Regular), rowgroup.WithOrder(s.Order()))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path(ComponentStatistics), err)
	}
	return schema, nil
}

// keyTypes are the types of the columns of the partition key.
func (h *Header) keyTypes() []rowgroup.Type {
	if k := h.Key.Type; k.Kind == rowgroup.KindComposite && len(k.Args) > 1 {
		return k.Args
	}
	return []rowgroup.Type{h.Key.Type}
}

// columns are static or regular columns as those of a schema.
func (h *Header) columns(list []Column) []rowgroup.Column {
	cols := make([]rowgroup.Column, len(list))
	seen := map[string]bool{}
	for i := range list {
		name := columnName(list[i].Name)
		for seen[name] {
			name += "_"
		}
		seen[name] = true
		cols[i] = rowgroup.Column{Name: name, Type: list[i].Type}
	}
	return cols
}

// columnName is a name that a schema can have.
func columnName(name string) string {
	switch {
	case name == "" || name[0] == '$':
		return "_" + name
	case !utf8.ValidString(name):
		return fmt.Sprintf("0x%x", name)
	}
	return name
}

// contradiction says where t cannot be of the same table as the header.
func (s *SSTable) contradiction(t *Table) error {
	h, file := s.Header, s.Path(ComponentStatistics)
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%s contradicts %s: %s", t.From, file, fmt.Sprintf(format, args...))
	}
	key := h.keyTypes()
	if len(key) != len(t.PartitionKey) {
		return fail("%d columns of the partition key in the schema, %d in the header (%s)", len(t.PartitionKey), len(key), h.Key.Type)
	}
	for i, c := range t.PartitionKey {
		if !sameType(c.Type, key[i]) {
			return fail("partition key column %s is %s in the schema, %s in the header", quote(c.Name), c.Type, key[i])
		}
	}
	if n := len(t.Clustering); n != len(h.Clustering) && (!t.Compact || n > len(h.Clustering)) {
		return fail("%d clustering columns in the schema, %d in the header", n, len(h.Clustering))
	}
	for i, c := range t.Clustering {
		typ, desc := h.Clustering[i].Type, false
		for typ.Kind == rowgroup.KindReversed {
			typ, desc = typ.Args[0], !desc
		}
		if !sameType(c.Type, typ) || c.Desc != desc {
			return fail("clustering column %s is %s in the schema, %s in the header", quote(c.Name), direction(c.Type, c.Desc), direction(typ, desc))
		}
	}
	for k, list := range [][]Column{h.Static, h.Regular} {
		static := k == 0
		for i := range list {
			c := &list[i]
			have, isStatic, dropped := t.lookup(c.Name)
			switch {
			case have == nil: // of another time, or the table's past
			case dropped && (isStatic != static || !sameType(have.Type, c.Type)): // and made again since, or before
			case isStatic != static && !t.Compact:
				return fail("column %s is static in one and regular in the other", quote(c.Name))
			case !sameType(have.Type, c.Type):
				return fail("column %s is %s in the schema, %s in the header", quote(c.Name), have.Type, c.Type)
			case have.Type.MultiCell() != c.Type.MultiCell():
				return fail("column %s is %s in the schema, %s in the header", quote(c.Name), have.Type, c.Type)
			}
		}
	}
	return nil
}

func direction(t rowgroup.Type, desc bool) string {
	if desc {
		return t.String() + " descending"
	}
	return t.String()
}

// lookup finds a static or regular column, be it dropped.
func (t *Table) lookup(name string) (c *rowgroup.Column, static, dropped bool) {
	for _, list := range [][]rowgroup.Column{t.Static, t.Regular} {
		if i := slices.IndexFunc(list, func(c rowgroup.Column) bool { return c.Name == name }); i >= 0 {
			return &list[i], &list[0] == first(t.Static), false
		}
	}
	if i := slices.IndexFunc(t.Dropped, func(d Dropped) bool { return d.Name == name }); i >= 0 {
		return &t.Dropped[i].Column, t.Dropped[i].Static, true
	}
	return nil, false, false
}

func first(cols []rowgroup.Column) *rowgroup.Column {
	if len(cols) == 0 {
		return nil
	}
	return &cols[0]
}

// sameType compares types but for FrozenType, which inside another type means
// nothing, and for fields that a user type got later.
func sameType(a, b rowgroup.Type) bool {
	for a.Kind == rowgroup.KindFrozen || a.Kind == rowgroup.KindReversed {
		a = a.Args[0]
	}
	for b.Kind == rowgroup.KindFrozen || b.Kind == rowgroup.KindReversed {
		b = b.Args[0]
	}
	if a.Kind != b.Kind || a.Unit != b.Unit || a.Length != b.Length || a.Name != b.Name {
		return false
	}
	n := min(len(a.Args), len(b.Args))
	if a.Kind != rowgroup.KindUDT && len(a.Args) != len(b.Args) {
		return false
	}
	for i := range n {
		if a.Kind == rowgroup.KindUDT && a.Fields[i] != b.Fields[i] || !sameType(a.Args[i], b.Args[i]) {
			return false
		}
	}
	return true
}

// Unknown are the static and regular columns of the header that t does not have
// (any more): dropped ones, as a rule. Their cells are kept.
func (s *SSTable) Unknown(t *Table) (names []string) {
	for _, list := range [][]Column{s.Header.Static, s.Header.Regular} {
		for i := range list {
			if c, _, dropped := t.lookup(list[i].Name); c == nil || dropped {
				names = append(names, list[i].Name)
			}
		}
	}
	return names
}

// ParseSchema reads the tables of a CQL script, such as DESCRIBE prints or a
// snapshot's schema.cql: with user types, ids and dropped columns. The file's
// name stands in errors and is From of the tables.
func ParseSchema(text []byte, file string) ([]*Table, error) {
	script, err := cql.Parse(text, file)
	if err != nil {
		return nil, err
	}
	tables := make([]*Table, len(script.Tables))
	for i, t := range script.Tables {
		tables[i] = &Table{
			Keyspace: t.Keyspace, Name: t.Name, ID: t.ID, From: file, Compact: t.Compact,
			PartitionKey: t.PartitionKey, Clustering: t.Clustering, Static: t.Static, Regular: t.Regular,
		}
		for _, d := range t.Dropped {
			tables[i].Dropped = append(tables[i].Dropped, Dropped(d))
		}
	}
	return tables, nil
}

// FrozenUDTs says, for WithUserTypes, whether the user types of static and
// regular columns are frozen; known is false where there are none, or both.
func (t *Table) FrozenUDTs() (frozen, known bool) {
	some := [2]bool{}
	for _, list := range [][]rowgroup.Column{t.Static, t.Regular} {
		for _, c := range list {
			switch {
			case c.Type.Kind == rowgroup.KindUDT:
				some[0] = true
			case c.Type.Kind == rowgroup.KindFrozen && c.Type.Args[0].Kind == rowgroup.KindUDT:
				some[1] = true
			}
		}
	}
	return some[1], some[0] != some[1]
}
