package predicate

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/colsst/colsst/rowgroup"
)

// truth is what a condition is of a row.
type truth uint8

const (
	no truth = iota
	unknown
	yes
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// Predicate is a condition on the rows of one table. It is not safe for
// concurrent use.
type Predicate struct {
	root    node
	columns []int
	result  []truth
}

// node is a part of a predicate. eval fills out with what it is of every row of
// b, and after them of every partition's static row alone.
type node interface {
	eval(b *rowgroup.Batch, out []truth) error
}

// Bind makes e a predicate on the rows of tables of schema s. It fails if
// there is no such column, or a value is none of its column's type.
func (e *Expr) Bind(s *rowgroup.Schema) (*Predicate, error) {
	p := &Predicate{}
	for _, name := range e.columns {
		col := s.Lookup(name)
		if col < 0 {
			return nil, fmt.Errorf("there is no column %q", name)
		}
		if s.Role(col) >= rowgroup.Static {
			p.columns = append(p.columns, col)
		}
	}
	var err error
	p.root, err = bind(e.root, s)
	return p, err
}

// Columns are the numbers of the static and regular columns that the predicate
// looks at: a scan must read them.
func (p *Predicate) Columns() []int { return p.columns }

// Within are ranges that the values of every row lie in for which the
// predicate is true.
func (p *Predicate) Within() []rowgroup.ValueRange { return within(nil, p.root) }

func within(dst []rowgroup.ValueRange, n node) []rowgroup.ValueRange {
	switch n := n.(type) {
	case *pair:
		if !n.either {
			return within(within(dst, n.a), n.b)
		}
	case *leaf:
		if c, ok := n.test.(*comparison); ok && (n.role == rowgroup.Clustering || n.role == rowgroup.Regular) {
			if lo, hi := c.bounds(); lo != nil || hi != nil {
				return append(dst, rowgroup.ValueRange{Column: n.col, Min: lo, Max: hi})
			}
		}
	}
	return dst
}

// bounds are a least and greatest value for which c can be true, nil for none.
func (c *comparison) bounds() (lo, hi []byte) {
	if !c.typ.Ordered() {
		return nil, nil
	}
	lo, hi = c.with, c.with
	switch c.class {
	case rowgroup.ClassFloat32, rowgroup.ClassFloat64:
		if c.float == 0 { // both zeros are equal to it
			lo, hi = bytes.Clone(c.with), bytes.Clone(c.with)
			lo[0], hi[0] = 0x80, 0
		}
	}
	switch c.op {
	case equal:
		return lo, hi
	case less, lessOrEqual:
		return nil, hi
	case greater, greaterOrEqual:
		return lo, nil
	}
	return nil, nil
}

// Select clears those of rows, one each row of b, for which the predicate is
// not true, and those of partitions for whose static row alone, all other
// columns but the key null, it is not. Batches must come in the order of a
// scan, of one scan at a time: what continues a partition has its static
// values from the batch before. Batches are of the live view: they have no
// markers.
func (p *Predicate) Select(b *rowgroup.Batch, rows, partitions []bool) error {
	n := b.Len()
	p.result = slices.Grow(p.result[:0], n+b.NumPartitions())[:n+b.NumPartitions()]
	if err := p.root.eval(b, p.result); err != nil {
		return err
	}
	for i, t := range p.result[:n] {
		rows[i] = rows[i] && t == yes
	}
	for i, t := range p.result[n:] {
		partitions[i] = partitions[i] && t == yes
	}
	return nil
}

func bind(e expr, s *rowgroup.Schema) (node, error) {
	switch e := e.(type) {
	case andExpr:
		return bindPair(e.a, e.b, s, false)
	case orExpr:
		return bindPair(e.a, e.b, s, true)
	case notExpr:
		a, err := bind(e.a, s)
		return &inverse{a}, err
	case nullExpr:
		col := s.Lookup(e.column)
		return &leaf{col: col, role: s.Role(col), test: isNull{}}, nil
	}
	return bindComparison(e.(compareExpr), s)
}

func bindPair(x, y expr, s *rowgroup.Schema, either bool) (node, error) {
	a, err := bind(x, s)
	if err != nil {
		return nil, err
	}
	b, err := bind(y, s)
	return &pair{a: a, b: b, either: either}, err
}

// pair is a and b, or either of them.
type pair struct {
	a, b   node
	either bool
	other  []truth
}

func (p *pair) eval(b *rowgroup.Batch, out []truth) error {
	if err := p.a.eval(b, out); err != nil {
		return err
	}
	p.other = slices.Grow(p.other[:0], len(out))[:len(out)]
	if err := p.b.eval(b, p.other); err != nil {
		return err
	}
	if p.either {
		for i, t := range p.other {
			out[i] = max(out[i], t)
		}
		return nil
	}
	for i, t := range p.other {
		out[i] = min(out[i], t)
	}
	return nil
}

// inverse is not a.
type inverse struct{ a node }

func (n *inverse) eval(b *rowgroup.Batch, out []truth) error {
	if err := n.a.eval(b, out); err != nil {
		return err
	}
	for i := range out {
		out[i] = yes - out[i]
	}
	return nil
}

// test is what a leaf asks of a value.
type test interface {
	// null is what it is of no value.
	null() truth
	// value is what it is of a serialised value.
	value(v []byte) truth
	// all fills out with what it is of the values of a column as they lie in
	// memory, cells without a value among them.
	all(b *rowgroup.Batch, col int, out []truth)
}

// leaf asks something of a column.
type leaf struct {
	col  int
	role rowgroup.Role
	test
	last truth // of the partition that a batch continues
	buf  []byte
}

func (l *leaf) eval(b *rowgroup.Batch, out []truth) error {
	n := b.Len()
	if l.role == rowgroup.Clustering || l.role == rowgroup.Regular {
		l.cells(b, out[:n])
		for p := range out[n:] {
			out[n+p] = l.null()
		}
		return nil
	}
	for p := range b.NumPartitions() {
		switch h := b.Partition(p); {
		case l.role == rowgroup.PartitionKey:
			parts, err := rowgroup.SplitKey(b.Schema().KeyTypes(), b.Key(p))
			if err != nil {
				return err
			}
			l.last = l.value(parts[l.col])
		case h.Continued:
		case h.Static != rowgroup.StaticFull:
			l.last = l.null()
		default:
			l.last = l.cell(b, p)
		}
		from, to := b.PartitionRows(p)
		for i := from; i < to; i++ {
			out[i] = l.last
		}
		out[n+p] = l.last
	}
	return nil
}

// cells fills out for a column that has a cell a row.
func (l *leaf) cells(b *rowgroup.Batch, out []truth) {
	filled := 0
	switch b.Schema().Column(l.col).Type.Physical().Class() {
	case rowgroup.ClassInt32:
		filled = len(*b.Int32s(l.col))
	case rowgroup.ClassInt64:
		filled = len(*b.Int64s(l.col))
	case rowgroup.ClassFloat32:
		filled = len(*b.Float32s(l.col))
	case rowgroup.ClassFloat64:
		filled = len(*b.Float64s(l.col))
	default:
		filled = b.Bytes(l.col).Len()
	}
	filled = min(filled, len(out))
	l.all(b, l.col, out[:filled])
	for i := filled; i < len(out); i++ {
		out[i] = l.cell(b, i)
	}
	for i, c := range b.CellMeta(l.col).Cells {
		if !c.HasValue() {
			out[i] = l.cell(b, i)
		}
	}
}

func (l *leaf) cell(b *rowgroup.Batch, i int) truth {
	v, ok := b.AppendValue(l.buf[:0], l.col, i)
	l.buf = v
	if !ok {
		return l.null()
	}
	return l.value(v)
}

// isNull asks whether there is no value.
type isNull struct{}

func (isNull) null() truth          { return yes }
func (isNull) value(_ []byte) truth { return no }

func (isNull) all(_ *rowgroup.Batch, _ int, out []truth) {
	for i := range out {
		out[i] = no
	}
}

// comparison compares values with one.
type comparison struct {
	typ   rowgroup.Type // without what says that it is frozen or reversed
	class rowgroup.Class
	op    op
	with  []byte // serialised
	int   int64
	flip  int64 // makes the order of unsigned numbers that of signed ones
	float float64
}

func bindComparison(e compareExpr, s *rowgroup.Schema) (node, error) {
	col := s.Lookup(e.column)
	t := bare(s.Column(col).Type)
	c := &comparison{typ: t, class: t.Physical().Class(), op: e.op}
	v, exact, err := Value(t, e.value)
	if err != nil {
		return nil, fmt.Errorf("column %q is %s: %s", e.column, s.Column(col).Type, strings.TrimPrefix(err.Error(), "rowgroup: "))
	}
	c.with = v
	if !exact { // v is the next value above
		switch e.op {
		case equal:
			c.op = never
		case notEqual:
			c.op = always
		case lessOrEqual:
			c.op = less
		case greater:
			c.op = greaterOrEqual
		}
	}
	ordered := e.op != equal && e.op != notEqual
	if ordered && !t.Ordered() {
		return nil, fmt.Errorf("column %q is %s, which has no order: compare it by = and !=", e.column, s.Column(col).Type)
	}
	fits := true
	switch c.class {
	case rowgroup.ClassInt32, rowgroup.ClassInt64:
		c.int, fits = rowgroup.IntOf(t, v)
		switch t.Kind {
		case rowgroup.KindUint64, rowgroup.KindOldDate, rowgroup.KindTime:
			c.flip = math.MinInt64
		}
		c.int ^= c.flip
	case rowgroup.ClassFloat32, rowgroup.ClassFloat64:
		c.float, fits = c.floatOf(v)
		if ordered && math.IsNaN(c.float) {
			return nil, fmt.Errorf("column %q: nothing is less or greater than NaN", e.column)
		}
	}
	if !fits {
		return nil, fmt.Errorf("column %q is %s: expected a value, found %q", e.column, s.Column(col).Type, e.value)
	}
	return &leaf{col: col, role: s.Role(col), test: c}, nil
}

// bare is t without what only says that it is frozen or reversed.
func bare(t rowgroup.Type) rowgroup.Type {
	for (t.Kind == rowgroup.KindReversed || t.Kind == rowgroup.KindFrozen) && len(t.Args) == 1 {
		t = t.Args[0]
	}
	return t
}

func (c *comparison) floatOf(v []byte) (float64, bool) {
	if c.class == rowgroup.ClassFloat32 {
		f, ok := rowgroup.Float32Of(v)
		return float64(f), ok
	}
	return rowgroup.Float64Of(v)
}

func (c *comparison) null() truth { return unknown }

func (c *comparison) value(v []byte) truth {
	var out [1]truth
	switch c.class {
	case rowgroup.ClassFloat32, rowgroup.ClassFloat64:
		if f, ok := c.floatOf(v); ok {
			compareFloats(out[:], []float64{f}, c.op, c.float)
			return out[0]
		}
	}
	order := c.typ.Collate(v, c.with)
	if !c.typ.Ordered() {
		order = bytes.Compare(v, c.with)
	}
	compareInts(out[:], []int{order}, c.op, 0, 0)
	return out[0]
}

func (c *comparison) all(b *rowgroup.Batch, col int, out []truth) {
	switch c.class {
	case rowgroup.ClassInt32:
		compareInts(out, (*b.Int32s(col))[:len(out)], c.op, int32(c.int), 0)
	case rowgroup.ClassInt64:
		compareInts(out, (*b.Int64s(col))[:len(out)], c.op, c.int, c.flip)
	case rowgroup.ClassFloat32:
		compareFloats(out, (*b.Float32s(col))[:len(out)], c.op, float32(c.float))
	case rowgroup.ClassFloat64:
		compareFloats(out, (*b.Float64s(col))[:len(out)], c.op, c.float)
	default:
		for s, i := b.Bytes(col), 0; i < len(out); i++ {
			out[i] = c.value(s.At(i))
		}
	}
}

// compareInts compares each x of v, its bits changed by flip, with y.
func compareInts[T int | int32 | int64](out []truth, v []T, o op, y, flip T) {
	switch o {
	case equal:
		for i, x := range v {
			out[i] = truthOf(x^flip == y)
		}
	case notEqual:
		for i, x := range v {
			out[i] = truthOf(x^flip != y)
		}
	case less:
		for i, x := range v {
			out[i] = truthOf(x^flip < y)
		}
	case lessOrEqual:
		for i, x := range v {
			out[i] = truthOf(x^flip <= y)
		}
	case greater:
		for i, x := range v {
			out[i] = truthOf(x^flip > y)
		}
	case greaterOrEqual:
		for i, x := range v {
			out[i] = truthOf(x^flip >= y)
		}
	default:
		for i := range v {
			out[i] = truthOf(o == always)
		}
	}
}

// compareFloats compares each x of v with y.
func compareFloats[T float32 | float64](out []truth, v []T, o op, y T) {
	switch o {
	case equal:
		for i, x := range v {
			out[i] = truthOf(x == y || x != x && y != y)
		}
	case notEqual:
		for i, x := range v {
			out[i] = truthOf(x != y && (x == x || y == y))
		}
	case less:
		for i, x := range v {
			out[i] = truthOf(x < y)
		}
	case lessOrEqual:
		for i, x := range v {
			out[i] = truthOf(x <= y)
		}
	case greater:
		for i, x := range v {
			out[i] = truthOf(x > y)
		}
	default:
		for i, x := range v {
			out[i] = truthOf(x >= y)
		}
	}
}
