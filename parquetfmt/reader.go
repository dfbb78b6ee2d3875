package parquetfmt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go/format"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// ReadOption is an option of Open.
type ReadOption func(*readOptions)

type readOptions struct {
	name                   string
	columns                []string
	partitionKey           []string
	clustering             []Clustering
	unique                 bool
	types                  map[string]rowgroup.Type
	writeTime, ttl, expiry string
}

// Clustering names a clustering column.
type Clustering struct {
	Column string
	Desc   bool
}

// WithName sets the file's name in errors.
func WithName(name string) ReadOption { return func(o *readOptions) { o.name = name } }

// WithColumns reads only these columns of a file of others.
func WithColumns(names ...string) ReadOption { return func(o *readOptions) { o.columns = names } }

// WithPartitionKey makes columns of a file of others the partition key. Without
// it all rows are one partition.
func WithPartitionKey(names ...string) ReadOption {
	return func(o *readOptions) { o.partitionKey = names }
}

// WithClustering makes columns of a file of others clustering columns.
func WithClustering(columns ...Clustering) ReadOption {
	return func(o *readOptions) { o.clustering = columns }
}

// WithUnique makes a file of others a table of unique rows, not a multiset.
func WithUnique() ReadOption { return func(o *readOptions) { o.unique = true } }

// WithMetadata makes INT64 and INT32 columns of a file of others the rows' write
// times (µs), TTLs and expiries (s). Empty names are of none.
func WithMetadata(writeTime, ttl, expiry string) ReadOption {
	return func(o *readOptions) { o.writeTime, o.ttl, o.expiry = writeTime, ttl, expiry }
}

// WithTimeUnit reads an integer column of a file of others as timestamps.
func WithTimeUnit(column string, unit rowgroup.Unit) ReadOption {
	return func(o *readOptions) {
		if o.types == nil {
			o.types = map[string]rowgroup.Type{}
		}
		o.types[column] = rowgroup.Timestamp(unit)
	}
}

// Reader reads the rows of a Parquet file: what a Writer wrote with all that it
// kept, and flat files of others. It is a rowgroup.Source and safe for concurrent
// use.
//
// Its memory is the footer, and for each scan a page of every column and some
// thousand rows; a footer of n bytes takes at most some 40 times n.
type Reader struct {
	r      io.ReaderAt
	size   int64
	footer int64
	name   string
	meta   *format.FileMetaData
	fields []*node
	leaves []*node
	schema *rowgroup.Schema
	plan   plan
	user   map[string][]byte
}

// plan is how columns of the file become those of the table.
type plan struct {
	lossless bool
	columns  []*shape // by column number
	rows     rowLeaves
	cells    []cellLeaves
	own      bool // a file of ours

	timeColumn int // from which write times are delays
	timeUnit   rowgroup.Unit
}

// Open reads the footer of a file.
func Open(r io.ReaderAt, size int64, opts ...ReadOption) (*Reader, error) {
	var o readOptions
	for _, opt := range opts {
		opt(&o)
	}
	f := &Reader{r: r, size: size, name: o.name}
	if err := f.open(&o); err != nil {
		return nil, f.named(err)
	}
	return f, nil
}

func (f *Reader) named(err error) error {
	if err == nil || f.name == "" {
		return err
	}
	return fmt.Errorf("%s: %w", f.name, err)
}

func (f *Reader) open(o *readOptions) (err error) {
	if f.meta, f.footer, err = readFooter(f.r, f.size); err != nil {
		return err
	}
	if f.fields, _, err = parseElements(f.meta.Schema); err != nil {
		return err
	}
	for _, n := range f.fields {
		n.eachLeaf(func(n *node) { f.leaves = append(f.leaves, n) })
	}
	if err := checkMetadata(f.meta, f.leaves, f.size, f.footer); err != nil {
		return err
	}
	f.user = userData(f.meta.KeyValueMetadata)
	own := map[string]ownColumn{}
	if text, ok := lookup(f.meta.KeyValueMetadata, schemaKey); ok {
		if err := f.openOwn(text); err == nil {
			if len(o.columns)+len(o.partitionKey)+len(o.clustering) == 0 {
				return nil
			}
			// Other keys, but columns of the same types.
			for i, s := range f.plan.columns {
				own[s.name] = ownColumn{s, f.schema.Column(i).Type}
			}
			f.plan = plan{}
		} else if view, _ := lookup(f.meta.KeyValueMetadata, viewKey); view == viewLossless {
			return err // without its columns the rows are not those of the table
		}
	}
	return f.openForeign(o, own)
}

// openOwn finds the columns of a file of ours.
func (f *Reader) openOwn(text string) error {
	stored, err := parseSchemaText(text)
	if err != nil {
		return encoding.Corruptf("schema", "%s", err)
	}
	view, _ := lookup(f.meta.KeyValueMetadata, viewKey)
	if view != viewLive && view != viewLossless {
		return fmt.Errorf("%w: view %q", encoding.ErrUnsupported, view)
	}
	o := defaults()
	o.lossless = view == viewLossless
	byName := map[string]*node{}
	for _, n := range f.fields {
		byName[n.name] = n
	}
	for i := range stored.NumColumns() {
		c := stored.Column(i)
		if n := byName[c.Name]; n != nil && n.isLeaf() && bare(c.Type).Kind == rowgroup.KindDecimal {
			if d, ok := n.logical.(*format.DecimalType); ok {
				o.decimals[c.Name] = fixedPoint{d.Precision, d.Scale}
			}
		}
	}
	if !o.lossless {
		if stored, err = liveSchema(stored); err != nil {
			return err
		}
		o.rowMetadata = byName[ttlColumn] != nil
		if unit, ok := lookup(f.meta.KeyValueMetadata, delayKey); ok && byName[delayColumn] != nil {
			o.writeTimeDelays = true
			for o.delayUnit < rowgroup.Nanos && o.delayUnit.String() != unit {
				o.delayUnit++
			}
		}
	}
	l, err := newLayout(stored, &o)
	if err != nil {
		return encoding.Corruptf("schema", "%s", err)
	}
	for _, want := range l.fields {
		got := byName[want.name]
		if got == nil || !sameNode(want, got) {
			return encoding.Corruptf("schema", "column %q is not as the table has it", want.name)
		}
		adopt(want, got)
	}
	f.schema = stored
	f.plan = plan{lossless: o.lossless, columns: l.columns, rows: l.rows, cells: l.cells, own: true, timeColumn: l.timeColumn, timeUnit: l.timeUnit}
	return nil
}

// liveSchema is the schema of the values of a live view: without what only cells
// have.
func liveSchema(s *rowgroup.Schema) (*rowgroup.Schema, error) {
	var columns [rowgroup.Regular + 1][]rowgroup.Column
	for i := range s.NumColumns() {
		c := s.Column(i)
		if c.Type.MultiCell() && s.Role(i) >= rowgroup.Static {
			c.Type = rowgroup.Type{Kind: rowgroup.KindFrozen, Args: []rowgroup.Type{c.Type}}
		}
		if c.Type.Kind == rowgroup.KindCounter {
			c.Type = rowgroup.Bigint
		}
		columns[s.Role(i)] = append(columns[s.Role(i)], c)
	}
	opts := []rowgroup.SchemaOption{rowgroup.WithOrder(s.Order())}
	if s.Multiset() {
		opts = append(opts, rowgroup.WithMultiset())
	}
	return rowgroup.NewSchema(columns[0], columns[1], columns[2], columns[3], opts...)
}

// sameNode reports whether two nodes hold the same values.
func sameNode(a, b *node) bool {
	if a.name != b.name || a.repetition != b.repetition || len(a.children) != len(b.children) ||
		a.isLeaf() && (a.typ != b.typ || a.typ == format.FixedLenByteArray && a.length != b.length) {
		return false
	}
	for i := range a.children {
		if !sameNode(a.children[i], b.children[i]) {
			return false
		}
	}
	return true
}

// adopt gives a node the place of one in a file.
func adopt(n, of *node) {
	n.path, n.maxDef, n.maxRep, n.leaf, n.leaves = of.path, of.maxDef, of.maxRep, of.leaf, of.leaves
	for i := range n.children {
		adopt(n.children[i], of.children[i])
	}
}

// ownColumn is a column of a file of ours, whose rows get other keys.
type ownColumn struct {
	shape *shape
	typ   rowgroup.Type // as the schema has it
}

// openForeign makes a table of the columns of a file of others, or of one of ours
// whose columns have these shapes.
func (f *Reader) openForeign(o *readOptions, own map[string]ownColumn) error {
	if text := slices.IndexFunc(f.fields, func(n *node) bool { return n.name == "" }); text >= 0 {
		return fmt.Errorf("%w: column %d has no name", encoding.ErrUnsupported, text)
	}
	shapes := map[string]*shape{}
	var order []string
	for _, n := range f.fields {
		if o.columns != nil && !slices.Contains(o.columns, n.name) {
			continue
		}
		s := own[n.name].shape
		if s == nil {
			var err error
			if s, err = shapeOfNode(n); err != nil {
				return err
			}
		}
		if t, ok := o.types[n.name]; ok {
			if s.form != formInt64 && s.form != formInt32 {
				return fmt.Errorf("column %q of type %s is no number of units of time", n.name, s.typ)
			}
			if s.form == formInt32 {
				return fmt.Errorf("%w: column %q: times of 32 bits", encoding.ErrUnsupported, n.name)
			}
			s.typ = t
		}
		if shapes[n.name] != nil {
			return fmt.Errorf("%w: two columns %q", encoding.ErrUnsupported, n.name)
		}
		shapes[n.name] = s
		order = append(order, n.name)
	}
	var columns [rowgroup.Regular + 1][]rowgroup.Column
	taken := map[string]bool{}
	take := func(role rowgroup.Role, name string, desc bool) error {
		s := shapes[name]
		if s == nil || taken[name] {
			return fmt.Errorf("there is no column %q; there are %s", name, strings.Join(order, ", "))
		}
		taken[name] = true
		t := s.typ
		if x := own[name]; x.shape == s {
			t = x.typ
		}
		columns[role] = append(columns[role], rowgroup.Column{Name: name, Type: t, Desc: desc})
		return nil
	}
	for _, name := range o.partitionKey {
		if err := take(rowgroup.PartitionKey, name, false); err != nil {
			return err
		}
	}
	for _, c := range o.clustering {
		if err := take(rowgroup.Clustering, c.Column, c.Desc); err != nil {
			return err
		}
	}
	metadata := func(name, usual string, typ format.Type) (*shape, error) {
		if name == "" {
			if s := shapes[usual]; s == nil || s.node.typ != typ || taken[usual] {
				return nil, nil
			}
			name = usual
		}
		s := shapes[name]
		if s == nil || taken[name] || s.node.typ != format.Int64 && s.node.typ != format.Int32 {
			return nil, fmt.Errorf("there is no column %q of numbers; there are %s", name, strings.Join(order, ", "))
		}
		taken[name] = true
		return s, nil
	}
	r := &f.plan.rows
	var err error
	if r.writeTime, err = metadata(o.writeTime, writeTimeColumn, format.Int64); err != nil {
		return err
	}
	if r.ttl, err = metadata(o.ttl, ttlColumn, format.Int32); err != nil {
		return err
	}
	if r.expiry, err = metadata(o.expiry, expiryColumn, format.Int64); err != nil {
		return err
	}
	for _, name := range order {
		if taken[name] {
			continue
		}
		if strings.HasPrefix(name, "$") {
			return fmt.Errorf("%w: column %q: such names are kept for metadata", encoding.ErrUnsupported, name)
		}
		if err := take(rowgroup.Regular, name, false); err != nil {
			return err
		}
	}
	var opts []rowgroup.SchemaOption
	if !o.unique {
		opts = append(opts, rowgroup.WithMultiset())
	}
	if f.schema, err = rowgroup.NewSchema(columns[0], columns[1], columns[2], columns[3], opts...); err != nil {
		return err
	}
	for i := range f.schema.NumColumns() {
		f.plan.columns = append(f.plan.columns, shapes[f.schema.Column(i).Name])
	}
	return nil
}

// Schema is the schema of the rows.
func (f *Reader) Schema() *rowgroup.Schema { return f.schema }

// Rows is the number of rows of the Parquet file. In a lossless one some of them
// are no rows of the table.
func (f *Reader) Rows() int64 { return f.meta.NumRows }

// Own reports whether a Writer made the file, and whether it is lossless.
func (f *Reader) Own() (own, lossless bool) { return f.plan.own, f.plan.lossless }

// UserData is the value kept under a key by WithUserData.
func (f *Reader) UserData(key string) (value []byte, ok bool) {
	value, ok = f.user[key]
	return value, ok
}

// UserDataKeys are the keys of UserData, in order.
func (f *Reader) UserDataKeys() (keys []string) {
	for k := range f.user {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Scan reads everything. It cannot read backwards.
func (f *Reader) Scan(ctx context.Context, o rowgroup.ScanOptions) rowgroup.Iter {
	if o.Desc {
		return failedIter{f.named(fmt.Errorf("%w: reading a Parquet file backwards", encoding.ErrUnsupported))}
	}
	return newScan(ctx, f, o, nil)
}

// Partition finds a partition by its exact key bytes. Its rows are read when
// they are asked for.
func (f *Reader) Partition(ctx context.Context, key []byte) (rowgroup.Partition, error) {
	it := newScan(ctx, f, rowgroup.ScanOptions{Columns: []int{}}, key)
	defer func() { _ = it.Close() }() // only read
	b := rowgroup.NewBatch(f.schema)
	ok, err := it.Next(b)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, rowgroup.ErrNotFound
	}
	return &partition{f, append([]byte(nil), key...)}, nil
}

// partition is one partition of a file. Range and Latest read all of it.
type partition struct {
	f   *Reader
	key []byte
}

// Key is the exact bytes of its key.
func (p *partition) Key() []byte { return p.key }

// Range reads the unfiltereds from one bound to the other.
func (p *partition) Range(ctx context.Context, from, to rowgroup.Bound, o rowgroup.ScanOptions) rowgroup.Iter {
	s := p.f.schema
	if err := errors.Join(s.CheckBound(from), s.CheckBound(to)); err != nil {
		return failedIter{p.f.named(err)}
	}
	b, err := p.read(ctx, o)
	if err != nil {
		return failedIter{err}
	}
	if b.NumPartitions() > 0 {
		start := s.SearchBound(b, 0, b.Len(), from, true)
		end := max(start, s.SearchBound(b, 0, b.Len(), to, false))
		b.Cut(0, start, end)
	}
	if o.Desc {
		b.Reverse()
	}
	return &onceIter{b: b}
}

// Latest reads the n rows of greatest clustering by type order.
func (p *partition) Latest(ctx context.Context, n int, o rowgroup.ScanOptions) rowgroup.Iter {
	b, err := p.read(ctx, o)
	if err != nil {
		return failedIter{err}
	}
	desc := false
	if columns := p.f.schema.Columns(rowgroup.Clustering); len(columns) > 0 {
		desc = columns[0].Desc
	}
	if !desc {
		b.Reverse()
	}
	if b.NumPartitions() > 0 {
		rows, end := 0, 0
		for ; end < b.Len() && rows < n; end++ {
			if b.MarkerAt(end) == nil {
				rows++
			}
		}
		b.Cut(0, 0, end)
	}
	return &onceIter{b: b}
}

// read reads the whole partition.
func (p *partition) read(ctx context.Context, o rowgroup.ScanOptions) (*rowgroup.Batch, error) {
	o.Desc = false
	it := newScan(ctx, p.f, o, p.key)
	defer func() { _ = it.Close() }() // only read
	all, b := rowgroup.NewBatch(p.f.schema), rowgroup.NewBatch(p.f.schema)
	all.Clear()
	for {
		ok, err := it.Next(b)
		if err != nil {
			return nil, err
		}
		if !ok {
			return all, nil
		}
		if err := all.AppendParts(b, 0, b.Len(), 0, b.NumPartitions()); err != nil {
			return nil, err
		}
	}
}

// onceIter yields one batch.
type onceIter struct{ b *rowgroup.Batch }

// Next fills b once.
func (it *onceIter) Next(b *rowgroup.Batch) (bool, error) {
	if it.b == nil || it.b.NumPartitions() == 0 {
		return false, nil
	}
	b.Swap(it.b)
	it.b = nil
	return true, nil
}

// Close does nothing.
func (it *onceIter) Close() error { return nil }

// failedIter yields an error.
type failedIter struct{ err error }

// Next fails.
func (it failedIter) Next(*rowgroup.Batch) (bool, error) { return false, it.err }

// Close does nothing.
func (failedIter) Close() error { return nil }
