// Package whatif writes the same rows to memory with one encoding after
// another and says what each column comes to.
package whatif

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// Column is what a column of the rows, or one kind of their metadata, comes to.
type Column struct {
	Name    string   `json:"name"` // of metadata with a leading $
	Type    string   `json:"type,omitempty"`
	Role    string   `json:"role"`
	Values  int64    `json:"values"`  // of metadata: rows
	Choices []Choice `json:"choices"` // the one that is made first, the others by size
}

// Choice is one way to encode a column.
type Choice struct {
	Chosen    bool             `json:"chosen"`     // by the writer
	Encodings map[string]int64 `json:"encodings"`  // chunks by encoding
	Bytes     int64            `json:"bytes"`      // packed values and their parameters
	ZstdBytes int64            `json:"zstd_bytes"` // the same with Zstd per chunk, where that is smaller
	Speed     *Speed           `json:"speed,omitempty"`
}

// Names are the encodings of the choice, the most frequent first.
func (c *Choice) Names() []string {
	return slices.SortedFunc(maps.Keys(c.Encodings), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.Encodings[b], c.Encodings[a]), cmp.Compare(a, b))
	})
}

// Table is the rows to write, batches of one schema in order, and how.
type Table struct {
	Schema *rowgroup.Schema
	Rows   []*rowgroup.Batch
	// Layout are options for the sizes of row groups and blocks; Encodings those
	// that columns may have, if not all; Zstd the columns that are compressed.
	Layout    []columnar.Option
	Encodings []columnar.Option
	Zstd      []string
}

// Result is what the rows come to.
type Result struct {
	Rows      int64
	RowGroups int64
	Columns   []Column
}

// Compare writes the table as it asks for, and then with one encoding after
// another in all columns that can have it, each with Zstd and without. A choice
// is left out where less than half of the column's chunks could be encoded so.
// Compare holds two files of these rows at a time.
func (t *Table) Compare(ctx context.Context) (*Result, error) {
	own, err := t.write(ctx, append(slices.Clone(t.Encodings), columnar.WithColumnCompression(t.Zstd...))...)
	if err != nil {
		return nil, err
	}
	chosen := t.keep(own)
	plain := own
	if len(t.Zstd) > 0 {
		if plain, err = t.write(ctx, chosen...); err != nil {
			return nil, err
		}
	}
	r := &Result{Rows: own.Rows, RowGroups: own.RowGroups}
	for i := range own.Columns {
		c := &own.Columns[i]
		if c.Role == rowgroup.PartitionKey.String() && c.Bytes == 0 {
			continue // it is in $key
		}
		col := Column{Name: c.Name, Type: c.Type, Role: c.Role, Values: own.Rows}
		if n := t.Schema.Lookup(c.Name); n >= 0 {
			col.Values = own.Stats.Column(n).Values
		} else if c.Name == "$key" {
			col.Values = own.Partitions
		}
		r.Columns = append(r.Columns, col)
	}
	if err := r.add(ctx, t, plain, chosen, nil); err != nil {
		return nil, err
	}
	for id := encoding.ID(0); id.Valid(); id++ {
		var opts []columnar.Option
		for i := range t.Schema.NumColumns() {
			c := t.Schema.Column(i)
			if t.Schema.Role(i) != rowgroup.PartitionKey && t.Schema.Holds(i, id) {
				opts = append(opts, columnar.WithEncoding(c.Name, id))
			}
		}
		if len(opts) == 0 {
			continue
		}
		if plain, err = t.write(ctx, opts...); err != nil {
			return nil, err
		}
		if err := r.add(ctx, t, plain, opts, &id); err != nil {
			return nil, err
		}
	}
	for i := range r.Columns {
		c := r.Columns[i].Choices
		if len(c) > 0 {
			slices.SortStableFunc(c[1:], func(a, b Choice) int { return cmp.Compare(a.Bytes, b.Bytes) })
		}
	}
	return r, nil
}

// keep makes every column keep to the encodings that it has in d.
func (t *Table) keep(d *columnar.Description) (opts []columnar.Option) {
	for i := range d.Columns {
		c := &d.Columns[i]
		if !t.encodable(c.Name) || len(c.Encodings) == 0 {
			continue
		}
		var ids []encoding.ID
		for name := range c.Encodings {
			if id, ok := encoding.ParseID(name); ok {
				ids = append(ids, id)
			}
		}
		slices.Sort(ids)
		opts = append(opts, columnar.WithEncoding(c.Name, ids...))
	}
	return opts
}

// encodable reports whether it can be said how to encode a column: it is
// neither metadata nor part of a key.
func (t *Table) encodable(name string) bool {
	i := t.Schema.Lookup(name)
	return i >= 0 && t.Schema.Role(i) != rowgroup.PartitionKey
}

// add adds what columns come to in plain, which was written with opts: the
// chosen encodings, with id nil, or else those that id has made.
func (r *Result) add(ctx context.Context, t *Table, plain *columnar.Description, opts []columnar.Option, id *encoding.ID) error {
	packed, err := t.write(ctx, append(slices.Clone(opts), columnar.WithColumnCompression("*"))...)
	if err != nil {
		return err
	}
	for i := range r.Columns {
		c := &r.Columns[i]
		is := func(d columnar.ColumnDescription) bool { return d.Name == c.Name }
		p, z := slices.IndexFunc(plain.Columns, is), slices.IndexFunc(packed.Columns, is)
		if p < 0 || z < 0 || id != nil && !t.encodable(c.Name) {
			continue
		}
		d := &plain.Columns[p]
		if id != nil {
			chunks := int64(0)
			for _, n := range d.Encodings {
				chunks += n
			}
			known := slices.ContainsFunc(c.Choices, func(c Choice) bool { return maps.Equal(c.Encodings, d.Encodings) })
			if known || 2*d.Encodings[id.String()] < chunks || chunks == 0 {
				continue
			}
		}
		c.Choices = append(c.Choices, Choice{Chosen: id == nil, Encodings: d.Encodings, Bytes: d.Bytes, ZstdBytes: min(d.Bytes, packed.Columns[z].Bytes)})
	}
	return nil
}

// write writes the table to memory and describes it.
func (t *Table) write(ctx context.Context, opts ...columnar.Option) (*columnar.Description, error) {
	var file bytes.Buffer
	w, err := columnar.NewWriter(&file, t.Schema, append(slices.Clone(t.Layout), opts...)...)
	if err != nil {
		return nil, err
	}
	for _, b := range t.Rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := w.Append(b); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	r, err := columnar.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		return nil, err
	}
	return r.Describe(ctx)
}
