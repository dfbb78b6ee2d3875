// Package generate makes the synthetic tables of the project's tests,
// benchmarks and the tool's gen command. The same options give the same rows on
// every platform. Iterators hold no more than a batch of rows; tables that come as
// one Batch are small.
package generate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/colsst/colsst/rowgroup"
)

// Defaults of the tables.
const (
	Seed       = 20260701
	WeekPoints = 7 * 24 * 3600 / 5 // one point every 5 s for 7 days
)

const (
	batchRows = 4096
	step      = 5             // seconds between points
	start     = 1_780_000_000 // the first time, s since 1970
	fullTTL   = 30 * 24 * 3600
)

// Variant is a kind of values and metadata of Metrics5.
type Variant uint8

// The variants.
const (
	Full        Variant = iota // random walks in all digits of a float32
	TwoDecimals                // the same walks, rounded to two decimals
	Backfill                   // Full, but expiries count from a late insertion
)

var variantNames = []string{Full: "full", TwoDecimals: "2dec", Backfill: "backfill"}

func (v Variant) String() string { return variantNames[v] }

// ParseVariant reads full, 2dec or backfill.
func ParseVariant(s string) (Variant, error) {
	if i := slices.Index(variantNames, s); i >= 0 {
		return Variant(i), nil
	}
	return 0, fmt.Errorf("variant %q: expected full, 2dec or backfill", s)
}

// Metrics5 is a table of metrics as a monitoring system writes them: a
// partition a series, a point every 5 seconds. Its columns are series (text,
// the partition key), time (int, seconds, ascending) and value (float). Each
// row has a write time a few milliseconds after its time, and a TTL of 30 days
// less the row's age at the end of the table. It expires a TTL after it was
// inserted: in the second of its write time, or, in Backfill, while an
// insertion clock runs that starts after the last point and takes 12 points of
// each series at a time, 130 a second.
type Metrics5 struct {
	Series  int     // partitions, in byte order of their keys
	Points  int     // rows of each, at most MaxPoints
	Variant Variant // of values and expiries
	Seed    uint64
}

// MaxPoints is how many points of Metrics5 fit into the 30 days before the
// oldest would have no TTL left.
const MaxPoints = fullTTL / step

// Check says which option is out of its range, or nil.
func (m Metrics5) Check() error {
	if m.Series < 0 || m.Series > math.MaxInt32 {
		return fmt.Errorf("%d series: expected 0 to %d", m.Series, math.MaxInt32)
	}
	if m.Points < 1 || m.Points > MaxPoints {
		return fmt.Errorf("%d points a series: expected 1 to %d, which 30 days hold", m.Points, MaxPoints)
	}
	return nil
}

// Schema is the table's schema.
func (Metrics5) Schema() *rowgroup.Schema {
	return schema("series", rowgroup.Text, rowgroup.Int, rowgroup.Float)
}

func schema(key string, keyType, time, value rowgroup.Type) *rowgroup.Schema {
	s, err := rowgroup.NewSchema(
		[]rowgroup.Column{{Name: key, Type: keyType}},
		[]rowgroup.Column{{Name: "time", Type: time}}, nil,
		[]rowgroup.Column{{Name: "value", Type: value}})
	if err != nil {
		panic(err) // the columns are constants
	}
	return s
}

// Rows yields the table's rows. It panics if Check fails.
func (m Metrics5) Rows() rowgroup.Iter {
	if err := m.Check(); err != nil {
		panic("generate: " + err.Error())
	}
	it := &metrics5{Metrics5: m, series: make([]int32, m.Series)}
	for i := range it.series {
		it.series[i] = int32(i)
	}
	var a, b []byte
	slices.SortFunc(it.series, func(i, j int32) int {
		a, b = appendSeriesKey(a[:0], i), appendSeriesKey(b[:0], j)
		return slices.Compare(a, b)
	})
	return it
}

func appendSeriesKey(dst []byte, i int32) []byte {
	return fmt.Appendf(dst, "dc1.rack%02d.host%04d.cpu.user", i/20, i)
}

type metrics5 struct {
	Metrics5
	series []int32 // those to come, in order of their keys
	point  int     // the next of series[0]
	key    []byte
	rand   *rand.Rand
	value  float64 // of the walk
}

func (it *metrics5) Next(b *rowgroup.Batch) (bool, error) {
	b.Reset()
	const colTime, colValue = 1, 2
	times, values, meta := b.Int32s(colTime), b.Float32s(colValue), b.Meta()
	last := start + step*(it.Points-1)
	for n := 0; n < batchRows && len(it.series) > 0; {
		if it.point == 0 {
			it.key = appendSeriesKey(it.key[:0], it.series[0])
			it.rand = rand.New(rand.NewPCG(it.Seed, uint64(it.series[0])))
			it.value = 20 + float64(60*it.rand.Float64())
		}
		head := b.BeginPartition(it.key)
		head.Start, head.Continued = n, it.point > 0
		for ; n < batchRows && it.point < it.Points; n++ {
			t := start + step*it.point
			it.value += float64(it.rand.NormFloat64() * 0.25)
			v := it.value
			if it.Variant == TwoDecimals {
				v = math.Round(v*100) / 100
			}
			ttl := fullTTL - (last - t)
			inserted := t
			if it.Variant == Backfill {
				inserted = last + step + it.point/12*12/130
			}
			*times = append(*times, int32(t))
			*values = append(*values, float32(v))
			meta.Liveness = append(meta.Liveness, rowgroup.LivenessExpiring)
			meta.WriteTimes = append(meta.WriteTimes, int64(t)*1_000_000+2000+int64(it.rand.IntN(8000)))
			meta.TTLs = append(meta.TTLs, int32(ttl))
			meta.Expiries = append(meta.Expiries, int64(inserted+ttl))
			it.point++
		}
		if it.point == it.Points {
			it.series, it.point = it.series[1:], 0
		}
	}
	return b.Len() > 0, nil
}

func (it *metrics5) Close() error {
	it.series = nil
	return nil
}

// Points is a table of many partitions: key (bigint, the partition key,
// ascending by random steps), time (timestamp(ms), ascending) and value
// (double, a walk in two decimals). Its rows are live with write time 0.
type Points struct {
	Partitions int
	PerKey     int // rows of each partition
	Seed       uint64
}

// Check says which option is out of its range, or nil.
func (p Points) Check() error {
	if p.Partitions < 0 {
		return fmt.Errorf("%d partitions: expected 0 or more", p.Partitions)
	}
	if p.PerKey < 1 {
		return fmt.Errorf("%d rows a partition: expected 1 or more", p.PerKey)
	}
	return nil
}

// Schema is the table's schema.
func (Points) Schema() *rowgroup.Schema {
	return schema("key", rowgroup.Bigint, rowgroup.Timestamp(rowgroup.Millis), rowgroup.Double)
}

// Rows yields the table's rows. It panics if Check fails.
func (p Points) Rows() rowgroup.Iter {
	if err := p.Check(); err != nil {
		panic("generate: " + err.Error())
	}
	return &points{Points: p, rand: rand.New(rand.NewPCG(p.Seed, 0))}
}

type points struct {
	Points
	partition int
	row       int // the next of the partition
	key       int64
	bytes     []byte // of the key
	rand      *rand.Rand
	time      int64
	value     float64
}

func (it *points) Next(b *rowgroup.Batch) (bool, error) {
	b.Reset()
	const colTime, colValue = 1, 2
	times, values := b.Int64s(colTime), b.Float64s(colValue)
	for n := 0; n < batchRows && it.partition < it.Partitions; {
		if it.row == 0 {
			it.key += 1 + it.rand.Int64N(1000)
			it.bytes = rowgroup.AppendInt(it.bytes[:0], rowgroup.Bigint, it.key)
			it.time = start*1000 + it.rand.Int64N(1000)
			it.value = 100 * it.rand.Float64()
		}
		head := b.BeginPartition(it.bytes)
		head.Start, head.Continued = n, it.row > 0
		for ; n < batchRows && it.row < it.PerKey; n++ {
			*times = append(*times, it.time)
			*values = append(*values, math.Round(it.value*100)/100)
			it.time += step*1000 + it.rand.Int64N(21) - 10
			it.value += float64(it.rand.NormFloat64() * 0.25)
			it.row++
		}
		if it.row == it.PerKey {
			it.partition, it.row = it.partition+1, 0
		}
	}
	return b.Len() > 0, nil
}

func (it *points) Close() error {
	it.partition = it.Partitions
	return nil
}
