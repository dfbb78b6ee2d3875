package parquetfmt

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/colsst/colsst/rowgroup"
)

// layout is the columns of a file of ours.
type layout struct {
	schema   *rowgroup.Schema
	fields   []*node
	leaves   int
	lossless bool
	columns  []*shape // views, by column number
	rows     rowLeaves
	cells    []cellLeaves // by column number; of lossless files

	timeColumn int // from which write times are delays
	timeUnit   rowgroup.Unit
}

// rowLeaves are the columns of metadata of rows; nil those that a file has not.
type rowLeaves struct {
	kind, key                               *shape
	liveness, writeTime, delay, ttl, expiry *shape
	deletion, openDeletion                  deletionLeaves
	shadowable, prefix                      *shape
}

// deletionLeaves are the columns of a deletion.
type deletionLeaves struct{ time, local *shape }

// cellLeaves are the columns of metadata of the cells of one column.
type cellLeaves struct {
	state, writeTime, ttl, expiry *shape
	bytes                         *shape
	cells                         *shape // of a multi-cell column: all of its cells
	deletion                      deletionLeaves
}

// Names of the columns of metadata. Those of a column have its name behind a
// dot.
const (
	kindColumn       = "$kind"
	keyColumn        = "$key"
	livenessColumn   = "$liveness"
	writeTimeColumn  = "$write_time"
	delayColumn      = "$write_delay"
	ttlColumn        = "$ttl"
	expiryColumn     = "$expiry"
	deletionColumn   = "$deletion_time"
	localColumn      = "$local_deletion_time"
	openColumn       = "$open_deletion_time"
	openLocalColumn  = "$open_local_deletion_time"
	shadowableColumn = "$shadowable"
	prefixColumn     = "$prefix"
	cellColumn       = "$cell"
	bytesColumn      = "$bytes"
	cellsColumn      = "$cells"
)

// Kinds of rows of a lossless file, in $kind.
const (
	kindRow         = "row"
	kindPartition   = "partition"
	kindStatic      = "static"
	kindStaticEmpty = "static_empty"
)

var markerKinds = map[rowgroup.BoundKind]string{
	rowgroup.ExclEnd: "excl_end", rowgroup.InclStart: "incl_start", rowgroup.ExclEndInclStart: "excl_end_incl_start",
	rowgroup.InclEndExclStart: "incl_end_excl_start", rowgroup.InclEnd: "incl_end", rowgroup.ExclStart: "excl_start",
}

var livenessNames = [...]string{"live", "none", "expiring", "expired"}

// newLayout makes the layout of a table's file.
func newLayout(s *rowgroup.Schema, o *writeOptions) (*layout, error) {
	l := &layout{schema: s, lossless: o.lossless}
	add := func(x *shape) *shape {
		l.fields = append(l.fields, x.node)
		return x
	}
	leafOf := func(name string, t format.Type) *shape { return add(plainLeaf(name, t, format.Optional)) }
	for i := range s.NumColumns() {
		c := s.Column(i)
		decimal, given := o.decimals[c.Name]
		if !given {
			decimal = o.decimals["*"]
		}
		if given && bare(c.Type).Kind != rowgroup.KindDecimal {
			return nil, fmt.Errorf("parquetfmt: column %q of type %s has no precision and scale to be given: only decimals whose values have scales of their own do", c.Name, c.Type)
		}
		l.columns = append(l.columns, add(shapeOf(c.Name, c.Type, format.Optional, decimal)))
	}
	for name := range o.decimals {
		if name != "*" && s.Lookup(name) < 0 {
			return nil, fmt.Errorf("parquetfmt: there is no column %q", name)
		}
	}
	r := &l.rows
	switch {
	case o.lossless:
		deletion := func(time, local string) deletionLeaves {
			return deletionLeaves{leafOf(time, format.Int64), leafOf(local, format.Int64)}
		}
		r.kind = add(textLeaf(kindColumn, format.Required))
		if len(s.KeyTypes()) > 0 {
			r.key = leafOf(keyColumn, format.ByteArray)
		}
		r.liveness = add(textLeaf(livenessColumn, format.Optional))
		r.writeTime, r.ttl, r.expiry = leafOf(writeTimeColumn, format.Int64), leafOf(ttlColumn, format.Int32), leafOf(expiryColumn, format.Int64)
		r.deletion = deletion(deletionColumn, localColumn)
		r.shadowable = leafOf(shadowableColumn, format.Boolean)
		r.openDeletion = deletion(openColumn, openLocalColumn)
		r.prefix = leafOf(prefixColumn, format.Int32)
		l.cells = make([]cellLeaves, s.NumColumns())
		from, _ := s.Range(rowgroup.Clustering)
		for i := from; i < s.NumColumns(); i++ {
			c, name := &l.cells[i], "."+s.Column(i).Name
			if s.Role(i) == rowgroup.Clustering {
				c.bytes = leafOf(bytesColumn+name, format.ByteArray)
				continue
			}
			if s.Column(i).Type.MultiCell() {
				c.cells = add(cellsShape(cellsColumn + name))
				c.deletion = deletion(deletionColumn+name, localColumn+name)
				continue
			}
			c.state = add(plainLeaf(cellColumn+name, format.Int32, format.Required))
			c.writeTime, c.ttl, c.expiry = leafOf(writeTimeColumn+name, format.Int64), leafOf(ttlColumn+name, format.Int32), leafOf(expiryColumn+name, format.Int64)
			c.bytes = leafOf(bytesColumn+name, format.ByteArray)
		}
	case o.rowMetadata:
		if o.writeTimeDelays {
			var ok bool
			if l.timeColumn, l.timeUnit, ok = timeColumn(s, o.delayUnit); !ok {
				return nil, fmt.Errorf("parquetfmt: write times as delays: the last clustering column is no time")
			}
			r.delay = leafOf(delayColumn, format.Int64)
		} else {
			r.writeTime = leafOf(writeTimeColumn, format.Int64)
		}
		r.ttl, r.expiry = leafOf(ttlColumn, format.Int32), leafOf(expiryColumn, format.Int64)
	}
	var err error
	l.leaves, err = place(l.fields)
	return l, err
}

// cellsShape is the list of a multi-cell column's cells with their metadata.
func cellsShape(name string) *shape {
	parts := []*shape{
		plainLeaf("path", format.ByteArray, format.Required), plainLeaf("cell", format.Int32, format.Required),
		plainLeaf("write_time", format.Int64, format.Optional), plainLeaf("ttl", format.Int32, format.Optional),
		plainLeaf("expiry", format.Int64, format.Optional), plainLeaf("value", format.ByteArray, format.Optional),
	}
	cell := &node{name: "element", repetition: format.Required}
	for _, p := range parts {
		cell.children = append(cell.children, p.node)
	}
	list := &node{name: "list", repetition: format.Repeated, children: []*node{cell}}
	return &shape{form: formList, parts: parts, node: &node{
		name: name, repetition: format.Optional, logical: &format.ListType{}, converted: thrift.New(deprecated.List), children: []*node{list},
	}}
}

// timeColumn is the last clustering column if it can be a time, and its unit:
// that given, where it is an integer.
func timeColumn(s *rowgroup.Schema, given rowgroup.Unit) (col int, unit rowgroup.Unit, ok bool) {
	from, to := s.Range(rowgroup.Clustering)
	if from == to {
		return 0, 0, false
	}
	switch t := bare(s.Column(to - 1).Type); t.Kind {
	case rowgroup.KindTimestamp:
		return to - 1, t.Unit, true
	case rowgroup.KindInt, rowgroup.KindBigint:
		return to - 1, given, true
	}
	return 0, 0, false
}

// micros is the timestamp v of unit u in µs, the fraction dropped; ok is false
// beyond 64 bits.
func micros(v int64, u rowgroup.Unit) (us int64, ok bool) {
	by := int64(1)
	switch u {
	case rowgroup.Seconds:
		by = 1_000_000
	case rowgroup.Millis:
		by = 1000
	case rowgroup.Nanos:
		us = v / 1000
		if v%1000 < 0 {
			us--
		}
		return us, true
	}
	if v > math.MaxInt64/by || v < math.MinInt64/by {
		return 0, false
	}
	return v * by, true
}

// Keys of a file's metadata.
const (
	schemaKey = "colsst.schema"
	viewKey   = "colsst.view"        // live or lossless
	delayKey  = "colsst.write_delay" // the unit of the time from which $write_delay counts
	userKey   = "colsst.user."
)

const (
	viewLive     = "live"
	viewLossless = "lossless"
)

// tableJSON is a table's schema as a file keeps it, in the form that describe
// prints and textfmt reads.
type tableJSON struct {
	Columns  []columnJSON `json:"columns"`
	Order    string       `json:"order"`
	Multiset bool         `json:"multiset"`
}

type columnJSON struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Role string `json:"role"`
	Desc bool   `json:"desc,omitempty"`
}

func schemaText(s *rowgroup.Schema) (string, error) {
	t := tableJSON{Order: s.Order(), Multiset: s.Multiset()}
	for i := range s.NumColumns() {
		c := s.Column(i)
		t.Columns = append(t.Columns, columnJSON{c.Name, c.Type.String(), s.Role(i).String(), c.Desc})
	}
	b, err := json.Marshal(t)
	return string(b), err
}

func parseSchemaText(text string) (*rowgroup.Schema, error) {
	var t tableJSON
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return nil, fmt.Errorf("%s: %w", schemaKey, err)
	}
	var columns [rowgroup.Regular + 1][]rowgroup.Column
	for _, c := range t.Columns {
		role := rowgroup.PartitionKey
		for role <= rowgroup.Regular && role.String() != c.Role {
			role++
		}
		if role > rowgroup.Regular {
			return nil, fmt.Errorf("%s: column %q of role %q", schemaKey, c.Name, c.Role)
		}
		typ, err := rowgroup.ParseType(c.Type)
		if err != nil {
			return nil, fmt.Errorf("%s: column %q: %w", schemaKey, c.Name, err)
		}
		columns[role] = append(columns[role], rowgroup.Column{Name: c.Name, Type: typ, Desc: c.Desc})
	}
	opts := []rowgroup.SchemaOption{}
	if t.Order != "" {
		opts = append(opts, rowgroup.WithOrder(t.Order))
	}
	if t.Multiset {
		opts = append(opts, rowgroup.WithMultiset())
	}
	return rowgroup.NewSchema(columns[0], columns[1], columns[2], columns[3], opts...)
}
