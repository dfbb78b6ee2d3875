package rowgroup

import (
	"errors"
	"fmt"
	"strings"

	"github.com/colsst/colsst/encoding"
)

// Column is one column of a table.
type Column struct {
	Name string
	Type Type
	Desc bool // clustering columns: greatest value first
}

// Role is what a column is for.
type Role uint8

// The roles, in the order of Schema.Columns.
const (
	PartitionKey Role = iota
	Clustering
	Static
	Regular
)

func (r Role) String() string {
	return [...]string{"partition_key", "clustering", "static", "regular"}[r&3]
}

// Schema describes a table: its columns by role and the order of its
// partitions. A Schema never changes and may be shared.
type Schema struct {
	cols     []Column // partition key, clustering, static, regular
	from     [5]int   // cols[from[role]:from[role+1]] have the role
	index    map[string]int
	order    string
	multiset bool
	layout   *layout     // of its row groups
	orders   []cellOrder // of the clustering columns
}

// SchemaOption is an option of NewSchema.
type SchemaOption func(*Schema)

// WithOrder names the order of partitions in a file: "bytes" (unsigned
// comparison of key bytes; the default), "murmur3", "random", "byteordered",
// "local(TYPE)" or "custom:NAME".
func WithOrder(order string) SchemaOption { return func(s *Schema) { s.order = order } }

// WithMultiset lets rows of equal clustering stand beside one another, in the
// order in which they came. Without it such a row is an error. Tables without
// clustering columns and without partition key are always multisets in file
// order.
func WithMultiset() SchemaOption { return func(s *Schema) { s.multiset = true } }

// NewSchema makes a schema of the columns given by role. Names must be unique
// and not empty; names that begin with "$" are kept for metadata. No partition
// key column means that the whole table is one partition with the empty key.
func NewSchema(partitionKey, clustering, static, regular []Column, opts ...SchemaOption) (*Schema, error) {
	s := &Schema{order: "bytes", index: map[string]int{}}
	for role, cols := range [][]Column{partitionKey, clustering, static, regular} {
		s.from[role] = len(s.cols)
		s.cols = append(s.cols, cols...)
	}
	s.from[4] = len(s.cols)
	for _, o := range opts {
		o(s)
	}
	if len(clustering) == 0 && len(partitionKey) == 0 {
		s.multiset = true
	}
	if len(s.cols) > encoding.MaxColumns {
		return nil, fmt.Errorf("%d columns; the limit is %d", len(s.cols), encoding.MaxColumns)
	}
	for i, c := range s.cols {
		switch {
		case c.Name == "":
			return nil, fmt.Errorf("column %d has no name", i+1)
		case strings.HasPrefix(c.Name, "$"):
			return nil, fmt.Errorf("column %q: names that begin with $ are kept for metadata", c.Name)
		case c.Type.Kind == KindInvalid:
			return nil, fmt.Errorf("column %q has no type", c.Name)
		case !c.Type.numbersFit():
			return nil, fmt.Errorf("column %q: %s is no type: fixed(n) has 1 to %d bytes, decimal(p,s) 1 to %d digits, s of them behind the point",
				c.Name, c.Type, encoding.MaxValueBytes, MaxPrecision)
		case c.Desc && s.Role(i) != Clustering:
			return nil, fmt.Errorf("column %q: only a clustering column can be descending", c.Name)
		}
		if c.Type.MultiCell() && s.Role(i) < Static {
			return nil, fmt.Errorf("column %q: a key column of type %s must be frozen", c.Name, c.Type)
		}
		if _, twice := s.index[c.Name]; twice {
			return nil, fmt.Errorf("column %q occurs twice", c.Name)
		}
		s.index[c.Name] = i
	}
	if err := checkOrder(s.order); err != nil {
		return nil, err
	}
	s.layout = newLayout(s)
	for i := range s.Columns(Clustering) {
		s.orders = append(s.orders, s.Columns(Clustering)[i].cellOrder())
	}
	return s, nil
}

func checkOrder(order string) error {
	switch order {
	case "bytes", "murmur3", "random", "byteordered":
		return nil
	}
	if strings.HasPrefix(order, "custom:") {
		return nil
	}
	if t, ok := strings.CutPrefix(order, "local("); ok && strings.HasSuffix(t, ")") {
		_, err := ParseType(strings.TrimSuffix(t, ")"))
		return err
	}
	return fmt.Errorf("%w: order of partitions %q", encoding.ErrUnsupported, order)
}

// NumColumns is the number of columns of all roles.
func (s *Schema) NumColumns() int { return len(s.cols) }

// Column is column i; columns are numbered by role: partition key, clustering,
// static, regular.
func (s *Schema) Column(i int) Column { return s.cols[i] }

// Lookup is the number of the named column, or -1.
func (s *Schema) Lookup(name string) int {
	if i, ok := s.index[name]; ok {
		return i
	}
	return -1
}

// Role is the role of column i.
func (s *Schema) Role(i int) Role {
	for r := Regular; r > PartitionKey; r-- {
		if i >= s.from[r] {
			return r
		}
	}
	return PartitionKey
}

// Range is the half-open range of column numbers that have role r.
func (s *Schema) Range(r Role) (from, to int) { return s.from[r], s.from[r+1] }

// Columns are the columns of role r. The caller must not change them.
func (s *Schema) Columns(r Role) []Column { return s.cols[s.from[r]:s.from[r+1]] }

// Order names the order of partitions.
func (s *Schema) Order() string { return s.order }

// Multiset reports whether rows of equal clustering may repeat.
func (s *Schema) Multiset() bool { return s.multiset }

// KeyTypes are the types of the partition key columns.
func (s *Schema) KeyTypes() []Type {
	t := make([]Type, s.from[1])
	for i := range t {
		t[i] = s.cols[i].Type
	}
	return t
}

// Equal reports whether two schemas describe the same table.
func (s *Schema) Equal(o *Schema) bool {
	if len(s.cols) != len(o.cols) || s.from != o.from || s.order != o.order || s.multiset != o.multiset {
		return false
	}
	for i, c := range s.cols {
		d := o.cols[i]
		if c.Name != d.Name || c.Desc != d.Desc || !c.Type.Equal(d.Type) {
			return false
		}
	}
	return true
}

var errNoOrder = errors.New("the order of its type is unknown")

// Seekable says why ranges of clustering values cannot be compared, or nil.
func (s *Schema) Seekable() error {
	for _, c := range s.Columns(Clustering) {
		if !c.Type.Ordered() {
			return fmt.Errorf("column %q, type %s: %w", c.Name, c.Type, errNoOrder)
		}
	}
	return nil
}
