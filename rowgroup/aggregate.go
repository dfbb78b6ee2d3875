package rowgroup

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"slices"

	"github.com/colsst/colsst/internal/exactsum"
)

// Aggregates is what an Aggregator has found.
type Aggregates struct {
	Rows    int64       // range tombstone markers do not count
	Columns []Aggregate // as the Aggregator's columns
}

// Aggregate is what one column's cells come to.
type Aggregate struct {
	Values int64 // cells with a value
	Nulls  int64 // cells absent or deleted
	NaNs   int64 // of the values
	// The least and greatest value in serialised bytes by the order of the type
	// (under reversed and frozen that of the type inside), NaNs, zero-length
	// values and exceptions left out; -0.0 is less than 0.0. Nil if there is
	// none, or where the type has no order.
	Min, Max []byte
	// Sum is the exact sum of the values of a float column, rounded once: it
	// depends neither on their order nor on the platform. IntSum is that of an
	// integer column, else nil, in units of 10^-Scale, which is 0 unless the column
	// is a decimal(p,s). Both are of columns in Aggregator's sums only.
	Sum    float64
	IntSum *big.Int
	Scale  int32
	Summed int64 // values in the sum: not the zero-length ones and the exceptions
}

// Mean is the sum by the number of values in it, NaN without any.
func (a *Aggregate) Mean() float64 {
	if a.IntSum == nil || a.Summed == 0 {
		return a.Sum / float64(a.Summed)
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(a.Scale)), nil)
	mean, _ := new(big.Rat).SetFrac(a.IntSum, unit.Mul(unit, big.NewInt(a.Summed))).Float64()
	return mean
}

// Aggregator adds up columns of batches, or of statistics. The zero value is of
// no use; see NewAggregator.
type Aggregator struct {
	rows int64
	cols []columnAggregate
}

type columnAggregate struct {
	col         int
	columnStats        // the counts, and the bounds of numbers
	ordered     bool   // least and greatest are wanted of byte strings
	min, max    []byte // of byte strings, where some
	some        bool
	sums        bool
	sum         exactsum.Sum
	high        int64 // the sum of integers is high * 2^64 + low
	low         uint64
}

// NewAggregator makes an Aggregator of clustering and regular columns of s. The
// sums of those in sums are formed too: their types must be numbers, a decimal(p,s)
// of at most 18 digits among them.
func NewAggregator(s *Schema, cols, sums []int) (*Aggregator, error) {
	a := &Aggregator{cols: make([]columnAggregate, len(cols))}
	stats := NewStats(s)
	for i, col := range cols {
		if col < s.from[Clustering] || col >= s.NumColumns() || s.from[Static] <= col && col < s.from[Regular] {
			return nil, fmt.Errorf("aggregate: column %d is neither a clustering nor a regular column", col)
		}
		c := &a.cols[i]
		c.col, c.columnStats = col, stats.cols[col-s.from[Clustering]]
		c.ordered = c.form >= prefixBounds
		if c.sums = slices.Contains(sums, col); c.sums && !c.typ.summable() {
			return nil, fmt.Errorf("aggregate: column %q, type %s, has no sum", s.cols[col].Name, s.cols[col].Type)
		}
	}
	for _, col := range sums {
		if !slices.Contains(cols, col) {
			return nil, fmt.Errorf("aggregate: the sum of column %d, which is not among the columns", col)
		}
	}
	return a, nil
}

// summable reports whether values of a bare type can be added.
func (t *Type) summable() bool {
	switch t.Kind {
	case KindTinyint, KindSmallint, KindInt, KindBigint, KindUint8, KindUint16, KindUint32, KindUint64, KindFloat, KindDouble:
		return true
	}
	return t.Kind == KindNumeric && t.Precision <= maxDigits64
}

// Add adds rows [from, to) of b, which must hold the columns with their cells.
func (a *Aggregator) Add(b *Batch, from, to int) {
	for m := b.markersFrom(from); m < len(b.markers) && b.markers[m].Row < to; m++ {
		a.addRows(b, from, b.markers[m].Row)
		from = b.markers[m].Row + 1
	}
	a.addRows(b, from, to)
}

// AddAll adds all rows of it, and closes it.
func (a *Aggregator) AddAll(it Iter, s *Schema) (err error) {
	defer func() { err = errors.Join(err, it.Close()) }()
	for b := NewBatch(s); ; a.Add(b, 0, b.Len()) {
		if ok, err := it.Next(b); !ok || err != nil {
			return err
		}
	}
}

func (a *Aggregator) addRows(b *Batch, from, to int) {
	if from >= to {
		return
	}
	a.rows += int64(to - from)
	for i := range a.cols {
		c := &a.cols[i]
		v := &b.vecs[c.col]
		if len(v.Cells) == 0 {
			if v.multi != nil {
				c.columnStats.add(v, from, to)
			} else if v.len() == 0 { // never filled
				c.nulls += int64(to - from)
			} else {
				c.addRun(v, from, to)
			}
			continue
		}
		for k := from; k < to; {
			run := k
			for k < to && v.Cells[k].HasValue() {
				k++
			}
			if k > run {
				c.addRun(v, run, k)
				continue
			}
			c.columnStats.add(v, k, k+1)
			k++
		}
	}
}

// addRun adds cells [from, to) of v, not none, each with a value.
func (c *columnAggregate) addRun(v *vector, from, to int) {
	if c.form < prefixBounds {
		c.addValues(v, from, to)
	} else if c.ordered {
		for i := from; i < to; i++ {
			c.addBytes(v.str.At(i))
		}
	}
	if !c.sums {
		return
	}
	switch c.class {
	case ClassInt32:
		var sum int64 // a batch has far less than 2^32 rows
		for _, x := range v.i32[from:to] {
			sum += int64(x)
		}
		c.addInt(sum)
	case ClassInt64:
		for _, x := range v.i64[from:to] {
			if c.typ.Kind == KindUint64 && x < 0 {
				c.high++
			}
			c.addInt(x)
		}
	case ClassFloat32:
		c.sum.AddFloat32(v.f32[from:to])
	case ClassFloat64:
		c.sum.Add(v.f64[from:to])
	}
}

func (c *columnAggregate) addInt(x int64) {
	low, carry := bits.Add64(c.low, uint64(x), 0)
	c.low, c.high = low, c.high+x>>63+int64(carry)
}

// addBytes takes x for the least or greatest value, if it is one.
func (c *columnAggregate) addBytes(x []byte) {
	if !c.some {
		c.min, c.max, c.some = append(c.min[:0], x...), append(c.max[:0], x...), true
		return
	}
	if c.compare(x, c.min) < 0 {
		c.min = append(c.min[:0], x...)
	} else if c.compare(x, c.max) > 0 {
		c.max = append(c.max[:0], x...)
	}
}

// AddStats adds what st says of its rows, and reports whether it can: not where
// sums are asked for, nor where a bound is not exact. What is counted is what
// is stored.
func (a *Aggregator) AddStats(st *Stats) bool {
	first := st.schema.from[Clustering]
	for i := range a.cols {
		c := &a.cols[i]
		d := &st.cols[c.col-first]
		if c.sums || c.ordered && (d.least.state > boundExact || d.most.state > boundExact) {
			return false
		}
	}
	a.rows += st.Rows
	for i := range a.cols {
		c := &a.cols[i]
		d := &st.cols[c.col-first]
		for k, n := range d.counts() {
			*c.counts()[k] += *n
		}
		if d.set {
			c.addKeys(d.lo, d.hi)
		}
		if c.ordered && d.least.state == boundExact {
			c.addBytes(d.least.value)
			c.addBytes(d.most.value)
		}
	}
	return true
}

// Result is what was added up so far. It shares nothing with a.
func (a *Aggregator) Result() Aggregates {
	r := Aggregates{Rows: a.rows, Columns: make([]Aggregate, len(a.cols))}
	for i := range a.cols {
		c, g := &a.cols[i], &r.Columns[i]
		*g = Aggregate{Values: a.rows - c.nulls, Nulls: c.nulls, NaNs: c.nans}
		switch {
		case c.set:
			g.Min, g.Max = c.serialised(c.lo), c.serialised(c.hi)
		case c.some:
			g.Min, g.Max = append([]byte{}, c.min...), append([]byte{}, c.max...)
		}
		if c.sums {
			g.Summed = g.Values - c.empties - c.exceptions
		}
		switch {
		case !c.sums:
		case c.form == floatBounds:
			g.Sum = c.sum.Float64()
		default:
			g.Scale = c.typ.Scale
			g.IntSum = new(big.Int).Lsh(big.NewInt(c.high), 64)
			g.IntSum.Add(g.IntSum, new(big.Int).SetUint64(c.low))
		}
	}
	return r
}
