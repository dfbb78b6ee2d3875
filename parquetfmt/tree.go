package parquetfmt

import (
	"fmt"
	"strings"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/colsst/colsst/encoding"
)

// node is a field of a Parquet schema: a leaf, which is a column of the file, or
// a group of nodes.
type node struct {
	name       string
	repetition format.FieldRepetitionType
	children   []*node // of a group

	// Of a leaf:
	typ       format.Type
	length    int32 // of a FIXED_LEN_BYTE_ARRAY
	logical   format.LogicalTypeValue
	converted thrift.Null[deprecated.ConvertedType]
	scale     int32 // of decimals
	precision int32

	// What follows from the place in the tree:
	path           []string
	maxDef, maxRep uint8
	leaf           int // number of the leaf, or of the group's first
	leaves         int // in all below
}

func (n *node) isLeaf() bool { return n.children == nil }

// String is the path of the node with dots.
func (n *node) String() string { return strings.Join(n.path, ".") }

const maxLevels = 255

// place sets what follows from the tree, of n and all below it, and returns the
// number of the next leaf.
func (n *node) place(parent *node, leaf int) (next int, err error) {
	n.path = append(append([]string(nil), parent.path...), n.name)
	n.maxDef, n.maxRep = parent.maxDef, parent.maxRep
	if n.repetition != format.Required {
		if n.maxDef == maxLevels {
			return 0, fmt.Errorf("%w: column %s of more than %d levels", encoding.ErrUnsupported, n, maxLevels)
		}
		n.maxDef++
	}
	if n.repetition == format.Repeated {
		n.maxRep++
	}
	n.leaf, next = leaf, leaf+1
	if !n.isLeaf() {
		next = leaf
		for _, c := range n.children {
			if next, err = c.place(n, next); err != nil {
				return 0, err
			}
		}
	}
	n.leaves = next - leaf
	return next, nil
}

// eachLeaf calls f with the leaves below n in order.
func (n *node) eachLeaf(f func(*node)) {
	if n.isLeaf() {
		f(n)
	}
	for _, c := range n.children {
		c.eachLeaf(f)
	}
}

// elements are the elements of a schema of these fields, the root first.
func schemaElements(fields []*node) []format.SchemaElement {
	root := format.SchemaElement{Name: "schema", NumChildren: thrift.New(int32(len(fields)))}
	return appendElements([]format.SchemaElement{root}, fields)
}

func appendElements(dst []format.SchemaElement, nodes []*node) []format.SchemaElement {
	for _, n := range nodes {
		e := format.SchemaElement{Name: n.name, RepetitionType: thrift.New(n.repetition), ConvertedType: n.converted}
		e.LogicalType.Value = n.logical
		if n.isLeaf() {
			e.Type = thrift.New(n.typ)
			if n.typ == format.FixedLenByteArray {
				e.TypeLength = thrift.New(n.length)
			}
			if n.precision > 0 {
				e.Scale, e.Precision = thrift.New(n.scale), thrift.New(n.precision)
			}
		} else {
			e.NumChildren = thrift.New(int32(len(n.children)))
		}
		dst = appendElements(append(dst, e), n.children)
	}
	return dst
}

const (
	maxDepth = 64
	maxFixed = 1 << 20 // bytes of a FIXED_LEN_BYTE_ARRAY
)

// parseElements makes the tree of a file's schema.
func parseElements(elements []format.SchemaElement) (fields []*node, leaves int, err error) {
	if len(elements) == 0 {
		return nil, 0, encoding.Corruptf("schema", "it has no root")
	}
	root := &node{}
	rest, err := parseGroup(root, elements[1:], elements[0].NumChildren.V, 0)
	if err != nil {
		return nil, 0, err
	}
	if len(rest) > 0 {
		return nil, 0, encoding.Corruptf("schema", "%d elements are below no group", len(rest))
	}
	for _, n := range root.children {
		if leaves, err = n.place(root, leaves); err != nil {
			return nil, 0, err
		}
	}
	return root.children, leaves, nil
}

func parseGroup(parent *node, elements []format.SchemaElement, children int32, depth int) (rest []format.SchemaElement, err error) {
	if depth == maxDepth {
		return nil, fmt.Errorf("%w: a schema of more than %d levels", encoding.ErrUnsupported, maxDepth)
	}
	if children < 0 || int(children) > len(elements) {
		return nil, encoding.Corruptf("schema", "group %q of %d fields", parent.name, children)
	}
	parent.children = make([]*node, 0, children)
	for range children {
		if len(elements) == 0 {
			return nil, encoding.Corruptf("schema", "group %q of %d fields", parent.name, children)
		}
		e := &elements[0]
		n := &node{name: e.Name, repetition: e.RepetitionType.V, logical: e.LogicalType.Value, converted: e.ConvertedType}
		if n.repetition < format.Required || n.repetition > format.Repeated {
			return nil, encoding.Corruptf("schema", "column %q of repetition %d", n.name, n.repetition)
		}
		elements = elements[1:]
		if e.Type.Valid {
			if e.Type.V < format.Boolean || e.Type.V > format.FixedLenByteArray {
				return nil, encoding.Corruptf("schema", "column %q of type %d", n.name, e.Type.V)
			}
			n.typ, n.length, n.scale, n.precision = e.Type.V, e.TypeLength.V, e.Scale.V, e.Precision.V
			if n.typ == format.FixedLenByteArray && (n.length < 0 || n.length > maxFixed) {
				return nil, encoding.Corruptf("schema", "column %q of values of %d bytes", n.name, n.length)
			}
		} else if elements, err = parseGroup(n, elements, e.NumChildren.V, depth+1); err != nil {
			return nil, err
		}
		parent.children = append(parent.children, n)
	}
	return elements, nil
}
