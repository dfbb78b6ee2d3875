// Package rowdiff compares two tables row by row: values by their bits, rows of
// equal keys as multisets, and, where both tables hold it, all metadata.
package rowdiff

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/colsst/colsst/rowgroup"
)

// Side is one of the two tables: its rows in the order of its schema.
type Side struct {
	Name   string
	Schema *rowgroup.Schema
	Rows   rowgroup.Iter
}

// Options say what to compare and how much to report.
type Options struct {
	// Metadata compares liveness, write times, TTLs, expiries, deletions and
	// markers too. Two rows whose cells differ only in where a write time
	// stands, in the row or in the cell, are equal.
	Metadata bool
	Report   int // how many differences to describe
}

// Result is what Compare found.
type Result struct {
	Rows        int64        // of side a
	Differences int64        // rows, partition heads and markers that have no equal
	First       []Difference // the first of them
	MetadataA   bool         // side a holds metadata beyond what text rows have
	MetadataB   bool
}

// Kind says what is different.
type Kind string

// The kinds.
const (
	OnlyA   Kind = "only_a"  // a has a row that b has not
	OnlyB   Kind = "only_b"  // b has a row that a has not
	Changed Kind = "changed" // both have a row of the key, with other values
)

// Difference is one of them.
type Difference struct {
	Kind   Kind    `json:"kind"`
	Key    string  `json:"key"` // partition key and clustering, or the row's number
	Fields []Field `json:"fields"`
}

// Field is a value of a row: both sides of a change, else the row's own.
type Field struct {
	Column string  `json:"column"`
	A      *string `json:"a,omitempty"` // nil: null or not there
	B      *string `json:"b,omitempty"`
}

// String is the difference for people, in one line.
func (d *Difference) String() string {
	var b strings.Builder
	switch d.Kind {
	case OnlyA:
		b.WriteString("- ")
	case OnlyB:
		b.WriteString("+ ")
	default:
		b.WriteString("! ")
	}
	b.WriteString(d.Key)
	for i, f := range d.Fields {
		sep := ", "
		if i == 0 {
			sep = ": "
		}
		b.WriteString(sep + f.Column + " ")
		switch d.Kind {
		case OnlyA:
			b.WriteString(text(f.A))
		case OnlyB:
			b.WriteString(text(f.B))
		default:
			b.WriteString(text(f.A) + " != " + text(f.B))
		}
	}
	return b.String()
}

func text(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}

// Schemas lists in what way the schemas of two sides differ so that their rows
// cannot be compared. The order of the static and of the regular columns does
// not count, nor whether rows may repeat.
func Schemas(sideA, sideB Side) []string {
	var d []string
	a, b := sideA.Schema, sideB.Schema
	if a.Order() != b.Order() && len(a.Columns(rowgroup.PartitionKey)) > 0 {
		d = append(d, fmt.Sprintf("order of partitions: %s != %s", a.Order(), b.Order()))
	}
	for i := range a.NumColumns() {
		c := a.Column(i)
		j := b.Lookup(c.Name)
		if j < 0 {
			d = append(d, fmt.Sprintf("column %q is only in %s", c.Name, sideA.Name))
			continue
		}
		e := b.Column(j)
		ra, rb := a.Role(i), b.Role(j)
		switch {
		case ra != rb:
			d = append(d, fmt.Sprintf("column %q: %s != %s", c.Name, ra, rb))
		case !c.Type.Equal(e.Type):
			d = append(d, fmt.Sprintf("column %q: %s != %s", c.Name, c.Type, e.Type))
		case c.Desc != e.Desc:
			name := sideA.Name
			if e.Desc {
				name = sideB.Name
			}
			d = append(d, fmt.Sprintf("column %q descends in %s only", c.Name, name))
		case ra <= rowgroup.Clustering && i != j:
			d = append(d, fmt.Sprintf("column %q: other place among the %s columns", c.Name, ra))
		}
	}
	for j := range b.NumColumns() {
		if c := b.Column(j); a.Lookup(c.Name) < 0 {
			d = append(d, fmt.Sprintf("column %q is only in %s", c.Name, sideB.Name))
		}
	}
	return d
}

// Compare reads both sides to their ends. It holds a batch of each, and the
// rows of one key. Errors are those of the iterators, of ctx, or say that the
// schemas differ. Tables without key and clustering columns compare in file
// order.
func Compare(ctx context.Context, a, b Side, o Options) (*Result, error) {
	if d := Schemas(a, b); len(d) > 0 {
		return nil, fmt.Errorf("other schemas: %s", strings.Join(d, "; "))
	}
	c := &comparison{ctx: ctx, schema: a.Schema, o: o, fields: fieldsOf(a.Schema, o.Metadata)}
	c.keyless = len(c.schema.Columns(rowgroup.PartitionKey))+len(c.schema.Columns(rowgroup.Clustering)) == 0
	for i, s := range []Side{a, b} {
		c.sides[i] = newCursor(s, a.Schema, o.Metadata)
	}
	if err := c.partitions(); err != nil {
		return nil, err
	}
	c.result.MetadataA, c.result.MetadataB = c.sides[0].metadata, c.sides[1].metadata
	c.result.Rows = c.sides[0].rows
	return &c.result, nil
}

type comparison struct {
	ctx     context.Context
	schema  *rowgroup.Schema
	o       Options
	fields  *fields
	keyless bool
	sides   [2]*cursor
	runs    [2]run
	result  Result
}

// partitions merges the partitions of both sides.
func (c *comparison) partitions() error {
	for {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		var there [2]bool
		for i, s := range c.sides {
			var err error
			if there[i], err = s.partition(); err != nil {
				return err
			}
		}
		switch {
		case !there[0] && !there[1]:
			return nil
		case !there[1]:
			there[0] = true
		case there[0]:
			x, ok := c.schema.ComparePartitions(c.sides[0].key, c.sides[1].key)
			if !ok { // an order that is not known: they must come alike
				x = cmp.Compare(bytes.Compare(c.sides[0].key, c.sides[1].key), 0)
			}
			there[0], there[1] = x <= 0, x >= 0
		}
		if err := c.partition(there); err != nil {
			return err
		}
	}
}

// partition compares the partition that the sides marked in there are at.
func (c *comparison) partition(there [2]bool) error {
	for i, s := range c.sides {
		c.runs[i].reset()
		if there[i] {
			s.head(&c.runs[i])
		}
	}
	c.compareRuns(headRun, there)
	for {
		rows := there
		for i, s := range c.sides {
			if !there[i] {
				continue
			}
			var err error
			if rows[i], err = s.row(); err != nil {
				return err
			}
		}
		if !rows[0] && !rows[1] {
			break
		}
		if rows[0] && rows[1] && !c.keyless {
			a, b := c.sides[0], c.sides[1]
			x := c.schema.CompareUnfiltered(a.batch, a.i, b.batch, b.i)
			rows[0], rows[1] = x <= 0, x >= 0
		}
		for i, s := range c.sides {
			c.runs[i].reset()
			if !rows[i] {
				continue
			}
			if err := s.collect(&c.runs[i], c.keyless); err != nil {
				return err
			}
		}
		c.compareRuns(rowRun, rows)
	}
	for i, s := range c.sides {
		if there[i] {
			s.begun = false
		}
	}
	return nil
}

type runKind bool

const (
	headRun runKind = false
	rowRun  runKind = true
)

// compareRuns compares the rows of one key as multisets.
func (c *comparison) compareRuns(kind runKind, there [2]bool) {
	a, b := &c.runs[0], &c.runs[1]
	if a.len() == b.len() && bytes.Equal(a.data, b.data) && slices.Equal(a.ends, b.ends) {
		return
	}
	onlyA, onlyB := unmatched(a, b), unmatched(b, a)
	for k := range max(len(onlyA), len(onlyB)) {
		c.result.Differences++
		if len(c.result.First) >= c.o.Report {
			continue
		}
		d := Difference{Kind: Changed, Key: c.keyText(kind, there)}
		var pa, pb []byte
		if k < len(onlyA) {
			pa = onlyA[k]
		} else {
			d.Kind = OnlyB
		}
		if k < len(onlyB) {
			pb = onlyB[k]
		} else {
			d.Kind = OnlyA
		}
		d.Fields = c.fields.difference(kind, d.Kind, pa, pb)
		c.result.First = append(c.result.First, d)
	}
}

// unmatched are the rows of a that have no equal in b.
func unmatched(a, b *run) [][]byte {
	left := map[string]int{}
	for k := range b.len() {
		left[string(b.at(k))]++
	}
	var only [][]byte
	for k := range a.len() {
		if p := string(a.at(k)); left[p] > 0 {
			left[p]--
		} else {
			only = append(only, a.at(k))
		}
	}
	return only
}

// keyText names the rows of the runs.
func (c *comparison) keyText(kind runKind, there [2]bool) string {
	side, r := c.sides[0], &c.runs[0]
	if !there[0] {
		side, r = c.sides[1], &c.runs[1]
	}
	if c.keyless {
		return fmt.Sprintf("row %d", side.rows)
	}
	var parts []string
	if values, err := rowgroup.SplitKey(c.schema.KeyTypes(), side.key); err != nil {
		parts = append(parts, fmt.Sprintf("key 0x%x", side.key))
	} else {
		for i, v := range values {
			parts = append(parts, c.schema.Column(i).Name+"="+valueText(c.schema.Column(i).Type, v))
		}
	}
	if kind == headRun {
		return strings.Join(append(parts, "(partition)"), " ")
	}
	from, _ := c.schema.Range(rowgroup.Clustering)
	if p, _, err := rowgroup.ParsePosition(c.schema, r.position); err == nil {
		for i, v := range p.Prefix {
			col := c.schema.Column(from + i)
			parts = append(parts, col.Name+"="+valueText(col.Type, v))
		}
	}
	if len(parts) == 0 {
		return "row"
	}
	return strings.Join(parts, " ")
}

// valueText is a value for people, cut to a readable length; nil is null.
func valueText(t rowgroup.Type, v []byte) string {
	const most = 80
	if v == nil {
		return "null"
	}
	s := string(rowgroup.AppendText(nil, t, v))
	if t.Physical() == rowgroup.PhysBytes {
		s = fmt.Sprintf("%q", s)
	}
	if len(s) > most {
		s = s[:most] + "…"
	}
	return s
}

// run holds the encoded rows of one key.
type run struct {
	data     []byte
	ends     []int
	position []byte
}

func (r *run) reset()   { r.data, r.ends = r.data[:0], r.ends[:0] }
func (r *run) len() int { return len(r.ends) }
func (r *run) end()     { r.ends = append(r.ends, len(r.data)) }

func (r *run) at(k int) []byte {
	from := 0
	if k > 0 {
		from = r.ends[k-1]
	}
	return r.data[from:r.ends[k]]
}

// A row is encoded as its fields, each a length (plus 1; 0 is null) and a
// serialised value.

func appendField(dst []byte, v []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(v))+1), v...)
}

func takeField(src []byte) (v, rest []byte) {
	l, n := binary.Uvarint(src)
	if l == 0 {
		return nil, src[n:]
	}
	end := n + int(l) - 1
	return src[n:end:end], src[end:]
}
