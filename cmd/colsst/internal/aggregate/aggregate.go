// Package aggregate counts and sums the rows of tables, all of them, by
// partition, or by windows of time. It works on runs of rows of one group,
// column by column.
//
//	count      rows
//	count(c)   rows where column c is not null
//	min(c)     the least value, by the order of its type
//	max(c)     the greatest
//	sum(c)     exact for integers, whatever its size; else a double
//	avg(c)     a double
//	first(c)   the value of the row of least clustering that has one
//	last(c)    that of the row of greatest clustering
//
// Nulls are left out, as in SQL; of no values at all count is 0 and the others
// are null. NaNs count for first, last, sum and avg, which become NaN, and for
// min and max only where there is nothing else. Sums of floating point numbers
// are compensated (Neumaier 1974), in the order of the rows. Numbers of zero
// length, as Cassandra has them, count for count, first and last alone.
package aggregate

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/colsst/colsst/rowgroup"
)

// Func is what is asked of a column.
type Func uint8

// The functions.
const (
	Count Func = iota
	Min
	Max
	Sum
	Avg
	First
	Last
)

var names = [...]string{"count", "min", "max", "sum", "avg", "first", "last"}

func (f Func) String() string { return names[f] }

// Spec is a function of a column. Count may have no column.
type Spec struct {
	Func   Func
	Column string
}

// String is the spec as Parse reads it, and the name of its column of results.
func (s Spec) String() string {
	if s.Column == "" {
		return s.Func.String()
	}
	return s.Func.String() + "(" + s.Column + ")"
}

// Parse reads a list like count, min(load), max(load).
func Parse(text string) ([]Spec, error) {
	var specs []Spec
	for rest := text; ; {
		rest = strings.TrimLeft(rest, " ")
		end := strings.IndexAny(rest, "(,")
		if end < 0 {
			end = len(rest)
		}
		f := slices.Index(names[:], strings.ToLower(strings.TrimSpace(rest[:end])))
		if f < 0 {
			return nil, fmt.Errorf("expected %s, found %q", strings.Join(names[:], ", "), strings.TrimSpace(rest[:end]))
		}
		spec := Spec{Func: Func(f)}
		if rest = rest[end:]; strings.HasPrefix(rest, "(") {
			end = strings.IndexByte(rest, ')')
			if end < 0 {
				return nil, fmt.Errorf("%s%s: a ( without its )", spec.Func, rest)
			}
			spec.Column = strings.TrimSpace(rest[1:end])
			rest = strings.TrimLeft(rest[end+1:], " ")
			if spec.Func == Count && spec.Column == "*" {
				spec.Column = ""
			}
		}
		if spec.Column == "" && spec.Func != Count {
			return nil, fmt.Errorf("%s: of which column? Write %s(column)", spec.Func, spec.Func)
		}
		if slices.Contains(specs, spec) {
			return nil, fmt.Errorf("%s stands there twice", spec)
		}
		specs = append(specs, spec)
		if rest == "" {
			return specs, nil
		}
		if rest[0] != ',' {
			return nil, fmt.Errorf("after %s: expected a comma, found %q", spec, rest)
		}
		rest = rest[1:]
	}
}

// Window is the length of the windows of time that rows are grouped by.
type Window struct {
	length  int64 // ns, or counts of the column
	counted bool
	text    string
}

// ParseWindow reads a duration like 30s, 5m, 1h30m, 7d or 2w, or a bare number,
// which counts what the column counts.
func ParseWindow(text string) (Window, error) {
	w := Window{text: text}
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil {
		w.length, w.counted = n, true
	} else {
		var d time.Duration
		short, days := text, int64(1)
		if number, ok := strings.CutSuffix(text, "d"); ok {
			short, days = number+"h", 24
		} else if number, ok := strings.CutSuffix(text, "w"); ok {
			short, days = number+"h", 7*24
		}
		if d, err = time.ParseDuration(short); err != nil {
			return w, fmt.Errorf("expected a duration like 30s, 5m, 1h, 7d or 2w, or a number, found %q", text)
		}
		if w.length = int64(d) * days; w.length/days != int64(d) {
			return w, fmt.Errorf("%s is too long", text)
		}
	}
	if w.length <= 0 {
		return w, fmt.Errorf("%s: expected more than nothing", text)
	}
	return w, nil
}

// Options say how rows are grouped.
type Options struct {
	ByPartition bool
	Every       *Window // of the time column, counted from 1970-01-01 UTC; nil: none
	Descending  bool    // the table stores the greatest first clustering first
	// Mixed says that partitions may come more than once, as those of several
	// files do.
	Mixed bool
}

// MaxGroups is how many groups there may be at a time. Where each group's rows
// follow one another there is one at a time.
const MaxGroups = 1 << 20

// ErrTooManyGroups says that there are more than MaxGroups.
var ErrTooManyGroups = fmt.Errorf("more than %d groups at a time", MaxGroups)

// Aggregator aggregates the rows of one table, or of several of one schema. It
// is not safe for concurrent use.
type Aggregator struct {
	schema  *rowgroup.Schema
	specs   []Spec
	columns []int // of the specs; -1 for none
	read    []int
	o       Options
	emit    func(*rowgroup.Batch) error

	time   int   // the column of the windows, or -1
	window int64 // in what it counts

	results *rowgroup.Schema
	out     *rowgroup.Batch
	most    int  // groups at a time
	keep    bool // groups are kept to the end
	groups  map[string]*group
	parts   map[string]int // partitions by order of their first row
	at      *group         // the group of the last row
	name    []byte
}

// New makes an aggregator for tables of schema s that calls emit with batches
// of results, which are valid until it returns. The columns of Schema are those
// of the partition key, where it is by partition; the begin of the window, where
// there are windows; and one a spec.
func New(s *rowgroup.Schema, specs []Spec, o Options, emit func(*rowgroup.Batch) error) (*Aggregator, error) {
	a := &Aggregator{schema: s, specs: specs, o: o, emit: emit, time: -1, most: MaxGroups, groups: map[string]*group{}, parts: map[string]int{}}
	var results []rowgroup.Column
	if o.ByPartition {
		if len(s.KeyTypes()) == 0 {
			return nil, errors.New("the table has no partition key to group by")
		}
		results = append(results, s.Columns(rowgroup.PartitionKey)...)
	}
	if o.Every != nil {
		c, err := a.useWindow()
		if err != nil {
			return nil, err
		}
		results = append(results, c)
	}
	for _, x := range specs {
		c, col, err := resultOf(s, x)
		if err != nil {
			return nil, err
		}
		results = append(results, c)
		a.columns = append(a.columns, col)
		if col >= 0 && s.Role(col) == rowgroup.Regular && !slices.Contains(a.read, col) {
			a.read = append(a.read, col)
		}
	}
	first, _ := s.Range(rowgroup.Clustering)
	a.keep = o.Every != nil && (!o.ByPartition || a.time != first) || o.Mixed && (o.ByPartition || o.Every != nil)
	var err error
	if a.results, err = rowgroup.NewSchema(nil, nil, nil, results); err != nil {
		return nil, err
	}
	a.out = rowgroup.NewBatch(a.results)
	if !o.ByPartition && o.Every == nil {
		a.at = a.newGroup(nil) // even if it stays empty
	}
	return a, nil
}

// Schema is the schema of the results, all of whose columns are regular.
func (a *Aggregator) Schema() *rowgroup.Schema { return a.results }

// Columns are the numbers of the regular columns that a scan must read.
func (a *Aggregator) Columns() []int { return a.read }

// bare is t without what only says that it is frozen or reversed.
func bare(t rowgroup.Type) rowgroup.Type {
	for (t.Kind == rowgroup.KindReversed || t.Kind == rowgroup.KindFrozen) && len(t.Args) == 1 {
		t = t.Args[0]
	}
	return t
}

// useWindow settles the column of the windows, a clustering column: the first
// timestamp, else the first of all.
func (a *Aggregator) useWindow() (c rowgroup.Column, err error) {
	from, to := a.schema.Range(rowgroup.Clustering)
	if from == to {
		return c, errors.New("the table has no clustering column for windows")
	}
	a.time = from
	for col := from; col < to; col++ {
		if bare(a.schema.Column(col).Type).Kind == rowgroup.KindTimestamp {
			a.time = col
			break
		}
	}
	c = a.schema.Column(a.time)
	c.Desc, c.Type = false, bare(c.Type)
	w := a.o.Every
	a.window = w.length
	switch c.Type.Kind {
	case rowgroup.KindTimestamp:
		if w.counted {
			break
		}
		step := int64(1)
		for u := c.Type.Unit; u < rowgroup.Nanos; u++ {
			step *= 1000
		}
		if a.window = w.length / step; a.window*step != w.length {
			return c, fmt.Errorf("%s is no whole number of the units of column %q, %s", w.text, c.Name, c.Type)
		}
	case rowgroup.KindTinyint, rowgroup.KindSmallint, rowgroup.KindInt, rowgroup.KindBigint,
		rowgroup.KindUint8, rowgroup.KindUint16, rowgroup.KindUint32:
		if !w.counted {
			return c, fmt.Errorf("column %q is %s, which has no unit: give a bare number for %s", c.Name, c.Type, w.text)
		}
		c.Type = rowgroup.Bigint
	default:
		return c, fmt.Errorf("column %q is %s; windows are of times and integers", c.Name, c.Type)
	}
	return c, nil
}

// resultOf is the column of a spec's results, and the number of its column.
func resultOf(s *rowgroup.Schema, x Spec) (c rowgroup.Column, col int, err error) {
	c = rowgroup.Column{Name: x.String(), Type: rowgroup.Bigint}
	if x.Column == "" {
		return c, -1, nil
	}
	if col = s.Lookup(x.Column); col < 0 {
		return c, -1, fmt.Errorf("there is no column %q", x.Column)
	}
	if r := s.Role(col); r != rowgroup.Clustering && r != rowgroup.Regular {
		return c, -1, fmt.Errorf("%s: column %q is the same in all rows of a partition", x, x.Column)
	}
	t := bare(s.Column(col).Type)
	switch x.Func {
	case Count:
	case Min, Max:
		if !t.Ordered() {
			return c, -1, fmt.Errorf("%s: column %q is %s, which has no order", x, x.Column, t)
		}
		c.Type = t
	case First, Last:
		c.Type = t
	case Sum, Avg:
		switch t.Kind {
		case rowgroup.KindFloat, rowgroup.KindDouble:
			c.Type = rowgroup.Double
		case rowgroup.KindTinyint, rowgroup.KindSmallint, rowgroup.KindInt, rowgroup.KindBigint,
			rowgroup.KindUint8, rowgroup.KindUint16, rowgroup.KindUint32, rowgroup.KindUint64:
			c.Type = rowgroup.Varint
		default:
			return c, -1, fmt.Errorf("%s: column %q is %s; sums are of integers, float and double", x, x.Column, t)
		}
		if x.Func == Avg {
			c.Type = rowgroup.Double
		}
	}
	return c, col, nil
}

// group is rows that belong together.
type group struct {
	part   int // order of its partition
	key    []byte
	begin  int64 // of its window
	null   bool  // rows without a time
	rows   int64
	values []accumulator // by spec
}

func (a *Aggregator) newGroup(key []byte) *group {
	return &group{key: slices.Clone(key), values: make([]accumulator, len(a.specs))}
}

// Add takes the rows of a batch of the live view, in the order of a scan.
func (a *Aggregator) Add(b *rowgroup.Batch) error {
	for p := range b.NumPartitions() {
		from, to := b.PartitionRows(p)
		if from == to {
			continue
		}
		var key []byte
		if a.o.ByPartition {
			key = b.Key(p)
		}
		for from < to {
			begin, null, end := a.windowOf(b, from, to)
			g, err := a.group(key, begin, null)
			if err != nil {
				return err
			}
			g.rows += int64(end - from)
			for i, x := range a.specs {
				if x.Column != "" {
					g.values[i].add(x.Func, a.schema, b, a.columns[i], from, end, a.o.Descending)
				}
			}
			from = end
		}
	}
	return nil
}

// windowOf is the window of row from and the first row after it that is not in
// that.
func (a *Aggregator) windowOf(b *rowgroup.Batch, from, to int) (begin int64, null bool, end int) {
	if a.time < 0 {
		return 0, false, to
	}
	end = from + 1
	if !b.Cell(a.time, from).HasValue() {
		for end < to && !b.Cell(a.time, end).HasValue() {
			end++
		}
		return 0, true, end
	}
	at := func(i int) int64 { return int64((*b.Int32s(a.time))[i]) }
	if a.schema.Column(a.time).Type.Physical().Class() == rowgroup.ClassInt64 {
		at = func(i int) int64 { return (*b.Int64s(a.time))[i] }
	}
	v := at(from)
	rest := v % a.window
	if rest < 0 {
		rest += a.window
	}
	if begin = v - rest; begin > v { // before the first count
		begin = math.MinInt64
	}
	// The windows at both ends of what can be counted are cut.
	for end < to && at(end) >= begin && uint64(at(end))-uint64(v-rest) < uint64(a.window) && b.Cell(a.time, end).HasValue() {
		end++
	}
	return begin, false, end
}

// group finds the group of a partition and a window.
func (a *Aggregator) group(key []byte, begin int64, null bool) (*group, error) {
	if g := a.at; g != nil && g.begin == begin && g.null == null && string(g.key) == string(key) {
		return g, nil
	}
	if !a.keep {
		if a.at != nil {
			if err := a.result(a.at); err != nil {
				return nil, err
			}
		}
		a.at = a.newGroup(key)
		a.at.begin, a.at.null = begin, null
		return a.at, nil
	}
	kind := byte(0)
	if null {
		kind = 1
	}
	a.name = append(binary.BigEndian.AppendUint64(append(a.name[:0], key...), uint64(begin)), kind)
	g := a.groups[string(a.name)]
	if g == nil {
		if len(a.groups) == a.most {
			return nil, ErrTooManyGroups
		}
		g = a.newGroup(key)
		g.begin, g.null = begin, null
		part, known := a.parts[string(key)]
		if !known {
			part = len(a.parts)
			a.parts[string(key)] = part
		}
		g.part = part
		a.groups[string(a.name)] = g
	}
	a.at = g
	return g, nil
}

// End emits the results that are left.
func (a *Aggregator) End() error {
	groups := make([]*group, 0, len(a.groups))
	for _, g := range a.groups {
		groups = append(groups, g)
	}
	if !a.keep && a.at != nil {
		groups = append(groups, a.at)
	}
	slices.SortFunc(groups, func(x, y *group) int {
		c := cmp.Or(-compareBools(x.null, y.null), cmp.Compare(x.begin, y.begin))
		if a.o.Descending {
			c = -c
		}
		return cmp.Or(cmp.Compare(x.part, y.part), c)
	})
	for _, g := range groups {
		if err := a.result(g); err != nil {
			return err
		}
	}
	a.groups, a.at = nil, nil
	return a.flush()
}

func compareBools(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return 1
	}
	return -1
}

// result adds the results of a group to the batch to emit.
func (a *Aggregator) result(g *group) error {
	col, row := 0, a.out.Len()
	put := func(v []byte, ok bool) error {
		err := a.out.PutValue(col, row, v, ok)
		col++
		return err
	}
	if a.o.ByPartition {
		parts, err := rowgroup.SplitKey(a.schema.KeyTypes(), g.key)
		if err != nil {
			return err
		}
		for _, v := range parts {
			if err := put(v, true); err != nil {
				return err
			}
		}
	}
	if a.time >= 0 {
		if err := put(rowgroup.AppendInt(nil, rowgroup.Bigint, g.begin), !g.null); err != nil {
			return err
		}
	}
	for i, x := range a.specs {
		v, ok := rowgroup.AppendInt(nil, rowgroup.Bigint, g.rows), true
		if x.Column != "" {
			v, ok = g.values[i].result(x.Func, bare(a.schema.Column(a.columns[i]).Type))
		}
		if err := put(v, ok); err != nil {
			return err
		}
	}
	if a.out.Len() >= 1024 {
		return a.flush()
	}
	return nil
}

func (a *Aggregator) flush() error {
	if a.out.Len() == 0 {
		return nil
	}
	err := a.emit(a.out)
	a.out.Reset()
	return err
}

// accumulator is what a spec has come to in a group.
type accumulator struct {
	n     int64  // values
	value []byte // of min, max, first and last; nil: none
	nan   bool   // there were NaNs
	place []byte // of the row of value, for first and last

	high int64 // of a sum of integers, 128 bits
	low  uint64
	sum  float64
	lost float64 // what sum has lost
}

// add takes rows [from, to) of column col.
func (x *accumulator) add(f Func, s *rowgroup.Schema, b *rowgroup.Batch, col, from, to int, descending bool) {
	switch f {
	case Count:
		x.count(b, col, from, to)
	case Min, Max:
		x.extreme(f == Max, s, b, col, from, to)
	case Sum, Avg:
		x.total(s, b, col, from, to)
	case First, Last:
		x.end((f == Last) != descending, s, b, col, from, to)
	}
}

// isNull reports whether the cell has no value, be it one of zero length.
func isNull(c rowgroup.Cell) bool {
	return c.Kind() == rowgroup.CellAbsent || c.Kind() == rowgroup.CellTombstone
}

func (x *accumulator) count(b *rowgroup.Batch, col, from, to int) {
	cells := b.CellMeta(col).Cells
	if len(cells) == 0 {
		if from < to {
			if _, ok := b.AppendValue(nil, col, from); ok { // else the column was never filled
				x.n += int64(to - from)
			}
		}
		return
	}
	for _, c := range cells[from:to] {
		if !isNull(c) {
			x.n++
		}
	}
}

// extreme looks for the least or greatest value.
func (x *accumulator) extreme(greatest bool, s *rowgroup.Schema, b *rowgroup.Batch, col, from, to int) {
	t := bare(s.Column(col).Type)
	cells := b.CellMeta(col).Cells
	best := -1
	switch t.Physical().Class() {
	case rowgroup.ClassInt32:
		best = bestOf(*b.Int32s(col), cells, from, to, func(v, w int32) bool { return (rowgroup.CompareInt32(t, v, w) > 0) == greatest && v != w })
	case rowgroup.ClassInt64:
		best = bestOf(*b.Int64s(col), cells, from, to, func(v, w int64) bool { return (rowgroup.CompareInt64(t, v, w) > 0) == greatest && v != w })
	case rowgroup.ClassFloat32:
		best = x.bestFloat(bestOf(*b.Float32s(col), cells, from, to, func(v, w float32) bool { return betterFloat(v, w, greatest) }),
			func(i int) bool { v := (*b.Float32s(col))[i]; return v != v })
	case rowgroup.ClassFloat64:
		best = x.bestFloat(bestOf(*b.Float64s(col), cells, from, to, func(v, w float64) bool { return betterFloat(v, w, greatest) }),
			func(i int) bool { v := (*b.Float64s(col))[i]; return v != v })
	default:
		values := b.Bytes(col)
		for i := from; i < min(to, values.Len()); i++ {
			if hasValue(cells, i) && (best < 0 || (t.Compare(values.At(i), values.At(best)) > 0) == greatest) {
				best = i
			}
		}
	}
	if best < 0 {
		return
	}
	v, ok := b.AppendValue([]byte{}, col, best)
	if ok && (x.value == nil || (t.Compare(v, x.value) > 0) == greatest) {
		x.value = v
	}
}

// bestFloat takes note if row i, the best, is a NaN, and then is no row.
func (x *accumulator) bestFloat(i int, isNaN func(int) bool) int {
	if i >= 0 && isNaN(i) {
		x.nan = true
		return -1
	}
	return i
}

func hasValue(cells []rowgroup.Cell, i int) bool { return len(cells) == 0 || cells[i].HasValue() }

// bestOf is the row of the first value than which none is better, or -1.
func bestOf[T any](v []T, cells []rowgroup.Cell, from, to int, better func(v, w T) bool) int {
	best := -1
	for i := from; i < min(to, len(v)); i++ {
		if hasValue(cells, i) && (best < 0 || better(v[i], v[best])) {
			best = i
		}
	}
	return best
}

// betterFloat holds every number for better than a NaN, and -0 for less than 0.
func betterFloat[T float32 | float64](v, w T, greatest bool) bool {
	switch {
	case v != v:
		return false
	case w != w:
		return true
	case v == w:
		return math.Signbit(float64(v)) != math.Signbit(float64(w)) && math.Signbit(float64(w)) == greatest
	}
	return (v > w) == greatest
}

// total adds values up.
func (x *accumulator) total(s *rowgroup.Schema, b *rowgroup.Batch, col, from, to int) {
	t := bare(s.Column(col).Type)
	cells := b.CellMeta(col).Cells
	switch t.Physical().Class() {
	case rowgroup.ClassInt32:
		v := *b.Int32s(col)
		for i := from; i < min(to, len(v)); i++ {
			if hasValue(cells, i) {
				x.addInt(int64(v[i]), false)
			}
		}
	case rowgroup.ClassInt64:
		v := *b.Int64s(col)
		for i := from; i < min(to, len(v)); i++ {
			if hasValue(cells, i) {
				x.addInt(v[i], t.Kind == rowgroup.KindUint64)
			}
		}
	case rowgroup.ClassFloat32:
		v := *b.Float32s(col)
		for i := from; i < min(to, len(v)); i++ {
			if hasValue(cells, i) {
				x.addFloat(float64(v[i]))
			}
		}
	case rowgroup.ClassFloat64:
		v := *b.Float64s(col)
		for i := from; i < min(to, len(v)); i++ {
			if hasValue(cells, i) {
				x.addFloat(v[i])
			}
		}
	}
}

func (x *accumulator) addInt(v int64, unsigned bool) {
	x.n++
	before := x.low
	if x.low += uint64(v); x.low < before {
		x.high++
	}
	if v < 0 && !unsigned {
		x.high--
	}
}

func (x *accumulator) addFloat(v float64) {
	x.n++
	sum := x.sum + v
	if math.Abs(x.sum) >= math.Abs(v) {
		x.lost += (x.sum - sum) + v
	} else {
		x.lost += (v - sum) + x.sum
	}
	x.sum = sum
}

// end looks for the value of the row that is stored first or last.
func (x *accumulator) end(last bool, s *rowgroup.Schema, b *rowgroup.Batch, col, from, to int) {
	i, step := from, 1
	if last {
		i, step = to-1, -1
	}
	for ; i >= from && i < to; i += step {
		if v, ok := b.AppendValue([]byte{}, col, i); ok {
			x.value = x.further(v, last, s, b, i)
			return
		}
	}
}

// further is v, the value of row i, if that row is further out than the one of
// the value before, else the latter.
func (x *accumulator) further(v []byte, last bool, s *rowgroup.Schema, b *rowgroup.Batch, i int) []byte {
	if x.value != nil {
		p, _, err := rowgroup.ParsePosition(s, x.place)
		if err != nil {
			return x.value // never: it was appended here
		}
		if c := s.ComparePosition(b, i, &p); last && c < 0 || !last && c >= 0 {
			return x.value
		}
	}
	x.place = s.AppendPosition(x.place[:0], b, i)
	return v
}

// result is what came out, serialised; ok is false for null.
func (x *accumulator) result(f Func, t rowgroup.Type) (v []byte, ok bool) {
	switch f {
	case Count:
		return rowgroup.AppendInt(nil, rowgroup.Bigint, x.n), true
	case Sum, Avg:
		if x.n == 0 {
			return nil, false
		}
		switch t.Kind {
		case rowgroup.KindFloat, rowgroup.KindDouble:
			sum := x.sum
			if !math.IsNaN(sum) && !math.IsInf(sum, 0) {
				sum += x.lost
			}
			if f == Avg {
				sum /= float64(x.n)
			}
			return rowgroup.AppendFloat64(nil, sum), true
		}
		sum := new(big.Int).Lsh(big.NewInt(x.high), 64)
		sum.Add(sum, new(big.Int).SetUint64(x.low))
		if f == Avg {
			avg, _ := new(big.Rat).SetFrac(sum, big.NewInt(x.n)).Float64()
			return rowgroup.AppendFloat64(nil, avg), true
		}
		v, err := rowgroup.ParseText(nil, rowgroup.Varint, sum.String())
		return v, err == nil // it is a number
	case Min, Max:
		if x.value == nil && x.nan {
			if t.Kind == rowgroup.KindFloat {
				return rowgroup.AppendFloat32(nil, float32(math.NaN())), true
			}
			return rowgroup.AppendFloat64(nil, math.NaN()), true
		}
	}
	return x.value, x.value != nil
}
