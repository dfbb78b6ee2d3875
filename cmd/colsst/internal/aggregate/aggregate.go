// Package aggregate counts and sums the rows of tables, all of them, by
// partition, or by windows of time. It works on runs of rows of one group,
// column by column.
//
//	count      rows
//	count(c)   rows where column c is not null
//	min(c)     the least value, by the order of its type
//	max(c)     the greatest
//	sum(c)     exact for integers, whatever its size; else rounded once to a double
//	avg(c)     the sum by the number of its values, a double
//	first(c)   the value of the row of least clustering that has one
//	last(c)    that of the row of greatest clustering
//
// Nulls are left out, as in SQL; of no values at all count is 0 and the others
// are null. NaNs count for first, last, sum and avg, which become NaN, and for
// min and max only where there is nothing else. Numbers of zero length, as
// Cassandra has them, and bytes that are none of their type's values count for
// count, first and last alone.
package aggregate

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
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
const MaxGroups = 1 << 17

// ErrTooManyGroups says that there are more than MaxGroups.
var ErrTooManyGroups = fmt.Errorf("more than %d groups at a time", MaxGroups)

// Aggregator aggregates the rows of one table, or of several of one schema. It
// is not safe for concurrent use.
type Aggregator struct {
	schema  *rowgroup.Schema
	specs   []Spec
	columns []int // of the specs; -1 for none
	cols    []int // that are counted, and those of them that are summed
	sums    []int
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
		if col < 0 {
			continue
		}
		if s.Role(col) == rowgroup.Regular && !slices.Contains(a.read, col) {
			a.read = append(a.read, col)
		}
		if x.Func != First && x.Func != Last && !slices.Contains(a.cols, col) {
			a.cols = append(a.cols, col)
		}
		if (x.Func == Sum || x.Func == Avg) && !slices.Contains(a.sums, col) {
			a.sums = append(a.sums, col)
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
		a.at, err = a.newGroup(nil) // even if it stays empty
	}
	return a, err
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
	if t.MultiCell() { // a result is one value
		t = rowgroup.Type{Kind: rowgroup.KindFrozen, Args: []rowgroup.Type{t}}
	}
	switch x.Func {
	case Count:
	case Min, Max:
		if s.Column(col).Type.MultiCell() {
			return c, -1, fmt.Errorf("%s: column %q is %s: a row has many cells, which are not compared", x, x.Column, s.Column(col).Type)
		}
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
		case rowgroup.KindNumeric:
			c.Type = rowgroup.Decimal // which holds any number of digits
			if t.Physical() == rowgroup.PhysFixed {
				return c, -1, fmt.Errorf("%s: column %q is %s; sums of decimals are of those of at most 18 digits", x, x.Column, t)
			}
		default:
			return c, -1, fmt.Errorf("%s: column %q is %s; sums are of integers, float and double, and of decimal(p,s)", x, x.Column, t)
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
	counts *rowgroup.Aggregator
	whole  *rowgroup.Aggregates // in place of counts, where all was counted elsewhere
	ends   []end                // by spec
}

func (a *Aggregator) newGroup(key []byte) (*group, error) {
	counts, err := rowgroup.NewAggregator(a.schema, a.cols, a.sums)
	return &group{key: slices.Clone(key), counts: counts, ends: make([]end, len(a.specs))}, err
}

// Counts says what to count of whole tables or partitions for AddCounts. ok is
// false if that is not enough: rows are grouped, or a first or last is asked
// for.
func (a *Aggregator) Counts() (o rowgroup.AggregateOptions, ok bool) {
	ok = !a.o.ByPartition && a.o.Every == nil
	for _, x := range a.specs {
		ok = ok && x.Func != First && x.Func != Last
	}
	return rowgroup.AggregateOptions{Columns: a.cols, Sums: a.sums}, ok
}

// SetCounts takes what was counted as Counts says, of all rows that there are,
// in place of the rows.
func (a *Aggregator) SetCounts(r rowgroup.Aggregates) { a.at.whole = &r }

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
			g.counts.Add(b, from, end)
			for i, x := range a.specs {
				if x.Func == First || x.Func == Last {
					g.ends[i].add((x.Func == Last) != a.o.Descending, a.schema, b, a.columns[i], from, end)
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
		g, err := a.newGroup(key)
		g.begin, g.null = begin, null
		a.at = g
		return g, err
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
		var err error
		if g, err = a.newGroup(key); err != nil {
			return nil, err
		}
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
	counts := g.whole
	if counts == nil {
		r := g.counts.Result()
		counts = &r
	}
	for i, x := range a.specs {
		var v []byte
		ok := true
		switch {
		case x.Column == "":
			v = rowgroup.AppendInt(nil, rowgroup.Bigint, counts.Rows)
		case x.Func == First || x.Func == Last:
			v, ok = g.ends[i].value, g.ends[i].value != nil
		default:
			v, ok = resultOfCounts(x.Func, &counts.Columns[slices.Index(a.cols, a.columns[i])], bare(a.schema.Column(a.columns[i]).Type))
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

// resultOfCounts is what a function is of what was counted of a column,
// serialised; ok is false for null.
func resultOfCounts(f Func, c *rowgroup.Aggregate, t rowgroup.Type) (v []byte, ok bool) {
	switch f {
	case Count:
		return rowgroup.AppendInt(nil, rowgroup.Bigint, c.Values), true
	case Min, Max:
		if v = c.Min; f == Max {
			v = c.Max
		}
		if v == nil && c.NaNs > 0 {
			if t.Kind == rowgroup.KindFloat {
				return rowgroup.AppendFloat32(nil, math.Float32frombits(0x7fc00000)), true
			}
			return rowgroup.AppendFloat64(nil, math.Float64frombits(0x7ff8000000000000)), true
		}
		return v, v != nil
	}
	switch {
	case c.Summed == 0:
		return nil, false
	case f == Avg:
		return rowgroup.AppendFloat64(nil, c.Mean()), true
	case c.IntSum == nil:
		return rowgroup.AppendFloat64(nil, c.Sum), true
	}
	if t.Kind == rowgroup.KindNumeric {
		v, err := rowgroup.ParseText(nil, rowgroup.Decimal, fmt.Sprintf("%se%d", c.IntSum, -c.Scale))
		return v, err == nil
	}
	v, err := rowgroup.ParseText(nil, rowgroup.Varint, c.IntSum.String())
	return v, err == nil // it is a number
}

// end is the value of the row that is stored first or last of those that have
// one.
type end struct {
	value []byte // nil: none
	place []byte // of its row
}

// add looks at rows [from, to) of column col.
func (x *end) add(last bool, s *rowgroup.Schema, b *rowgroup.Batch, col, from, to int) {
	i, step := from, 1
	if last {
		i, step = to-1, -1
	}
	for ; i >= from && i < to; i += step {
		v, ok := b.AppendValue([]byte{}, col, i)
		if !ok {
			continue
		}
		if x.value == nil || x.isFurther(last, s, b, i) {
			x.value, x.place = v, s.AppendPosition(x.place[:0], b, i)
		}
		return
	}
}

// isFurther reports whether row i is further out than the row of the value.
func (x *end) isFurther(last bool, s *rowgroup.Schema, b *rowgroup.Batch, i int) bool {
	p, _, err := rowgroup.ParsePosition(s, x.place)
	if err != nil {
		return false // never: it was appended here
	}
	c := s.ComparePosition(b, i, &p)
	return last && c >= 0 || !last && c < 0
}
