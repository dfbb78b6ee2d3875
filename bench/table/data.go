package table

import (
	"bytes"
	"iter"
	"math"
	"slices"

	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/rowgroup"
)

// Columns of metrics5.
const (
	timeColumn  = 1
	valueColumn = 2
)

const (
	firstTime = 1_780_000_000 // s since 1970
	timeStep  = 5             // s
)

// part is consecutive rows of one series, as columns. It aliases a batch.
type part struct {
	key    []byte
	time   []int32
	value  []float32
	wrote  []int64 // µs
	ttl    []int32
	expiry []int64
}

// parts cuts a batch of metrics5.
func parts(b *rowgroup.Batch) iter.Seq[part] {
	return func(yield func(part) bool) {
		times, values, meta := *b.Int32s(timeColumn), *b.Float32s(valueColumn), b.Meta()
		for p := range b.NumPartitions() {
			from, to := b.PartitionRows(p)
			if !yield(part{b.Key(p), times[from:to], values[from:to], meta.WriteTimes[from:to], meta.TTLs[from:to], meta.Expiries[from:to]}) {
				return
			}
		}
	}
}

// row is a row of a series. Peers keep no expiry, which follows from the rest.
type row struct {
	time  int32
	value float32
	wrote int64
	ttl   int32
}

func (r row) sum() uint64 {
	return uint64(r.time) + uint64(math.Float32bits(r.value))*3 + uint64(r.wrote)*5 + uint64(r.ttl)*7
}

// columns are the rows of an answer.
type columns struct {
	time  []int32
	value []float32
	wrote []int64
	ttl   []int32
}

func (c *columns) reset() {
	c.time, c.value, c.wrote, c.ttl = c.time[:0], c.value[:0], c.wrote[:0], c.ttl[:0]
}

func (c *columns) push(r row) {
	c.time, c.value = append(c.time, r.time), append(c.value, r.value)
	c.wrote, c.ttl = append(c.wrote, r.wrote), append(c.ttl, r.ttl)
}

// slice are rows [from, to).
func (c *columns) slice(from, to int) *columns {
	return &columns{c.time[from:to], c.value[from:to], c.wrote[from:to], c.ttl[from:to]}
}

func (c *columns) equal(d *columns) bool {
	same := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
	return slices.Equal(c.time, d.time) && slices.EqualFunc(c.value, d.value, same) &&
		slices.Equal(c.wrote, d.wrote) && slices.Equal(c.ttl, d.ttl)
}

// sum is a checksum of rows in any order, the same for every subject.
func (p part) sum() (s uint64) {
	for i := range p.time {
		s += row{p.time[i], p.value[i], p.wrote[i], p.ttl[i]}.sum()
	}
	return s
}

// truth is what a subject must answer: the checksum of all rows, the keys, and
// one series in full.
type truth struct {
	rows   int64
	sum    uint64
	keys   []string
	sample columns
	key    string // of the sample
	about  bool   // rows are irregular: only their number is known
}

func (t *truth) add(p part, sampled []byte) {
	t.rows += int64(len(p.time))
	t.sum += p.sum()
	if n := len(t.keys); n == 0 || t.keys[n-1] != string(p.key) {
		t.keys = append(t.keys, string(p.key))
	}
	if bytes.Equal(p.key, sampled) {
		t.sample.time, t.sample.value = append(t.sample.time, p.time...), append(t.sample.value, p.value...)
		t.sample.wrote, t.sample.ttl = append(t.sample.wrote, p.wrote...), append(t.sample.ttl, p.ttl...)
	}
}

// metrics are the options of metrics5.
func (o *Options) metrics() (generate.Metrics5, error) {
	v, err := generate.ParseVariant(o.Variant)
	m := generate.Metrics5{Series: o.Series, Points: o.Points, Variant: v, Seed: generate.Seed}
	if err != nil {
		return m, err
	}
	return m, m.Check()
}
