package cassandra

import (
	"cmp"
	"slices"
	"strings"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// Column is a column as a header knows it. The header has no names for key and
// clustering columns.
type Column struct {
	Name     string
	TypeText string // class expression, as it stands in the file
	Type     rowgroup.Type
	Complex  bool // many cells a row (static and regular columns alone)

	valueLen int // of a value that is neither null nor empty, or -1: a vint before it says
}

func newColumn(name, text string) (Column, error) {
	t, err := rowgroup.ParseMarshal(text)
	if err != nil {
		return Column{}, &encoding.CorruptError{Part: "HEADER", Offset: -1, Reason: "type of column " + quote(name), Err: err}
	}
	c := Column{Name: name, TypeText: text, Type: t, valueLen: -1}
	if n, ok := t.ValueLen(); ok {
		c.valueLen = n
	}
	return c, nil
}

// PathType is the type of the paths of a complex column's cells.
//
//	list   timeuuid
//	set    its elements, whose cells have no value
//	map    its keys
//	udt    smallint, the number of the field
func (c *Column) PathType() rowgroup.Type {
	switch c.Type.Kind {
	case rowgroup.KindList:
		return rowgroup.TimeUUID
	case rowgroup.KindSet, rowgroup.KindMap:
		return c.Type.Args[0]
	}
	return rowgroup.Smallint
}

// frozen is c as if a FrozenType stood around its type.
func (c Column) frozen() Column {
	c.Type = rowgroup.Type{Kind: rowgroup.KindFrozen, Args: []rowgroup.Type{c.Type}}
	c.Complex = false
	return c
}

// sortColumns puts static or regular columns into the order of their cells:
// simple before complex ones, each by name. Cassandra's headers have it,
// ScyllaDB's are by name alone.
func sortColumns(cols []Column) {
	slices.SortStableFunc(cols, func(a, b Column) int {
		if a.Complex != b.Complex {
			if b.Complex {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Name, b.Name)
	})
}

// quote is a name in double quotes, cut to what an error message can hold.
func quote(name string) string {
	const most = 60
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "..."
	}
	return "\"" + name + "\""
}
