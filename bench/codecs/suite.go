package codecs

import (
	"fmt"
	"io"
	"time"

	"github.com/colsst/colsst/bench/measure"
	"github.com/colsst/colsst/bench/result"
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/simd"
)

const suite = "codecs"

// Options say how much to measure.
type Options struct {
	Quick     bool
	Real      string             // a folder of real data, or ""
	Reference map[string]float64 // figures of the C++ reference, in place of those of References
	Log       io.Writer          // progress
}

// run is the suite under way.
type run struct {
	Options
	plan      measure.Plan
	values    int   // of a synthetic column
	realMost  int   // values of a real one
	peerBlock []int // rows of blocks for peers
	ourBlocks []int
	levels    []simd.Level // the last is the highest
	results   result.List
}

// Run measures and returns the results, the ratios to be reached among them.
func Run(o Options) (result.List, error) {
	x := &run{Options: o,
		plan: measure.Plan{Repeats: 7, Least: 30 * time.Millisecond}, values: 1 << 19, realMost: 1 << 17,
		peerBlock: []int{512, 1024, 4096}, ourBlocks: []int{128, 512, 1024, 4096}}
	if o.Quick {
		x.plan = measure.Plan{Repeats: 5, Least: time.Millisecond}
		x.values, x.realMost, x.peerBlock = 1<<15, 1<<14, []int{4096}
	}
	for l := simd.Generic; l <= simd.Supported(); l++ {
		x.levels = append(x.levels, l)
	}
	x.results = append(x.results, result.Describe(suite))
	x.kernels()
	if err := x.group(); err != nil {
		return nil, err
	}
	if err := columns(x, int64Columns(x.values), ourInt64(), peersInt64(), x.peerBlock); err != nil {
		return nil, err
	}
	if err := columns(x, int32Columns(x.values), ourInt32(), peersInt32(), x.peerBlock); err != nil {
		return nil, err
	}
	if err := columns(x, float64Columns(x.values), ourFloat64(), peersFloat64(), x.peerBlock); err != nil {
		return nil, err
	}
	if err := columns(x, float32Columns(x.values), ourFloat32(), peersFloat32(), x.peerBlock); err != nil {
		return nil, err
	}
	if err := x.files(); err != nil {
		return nil, err
	}
	if err := x.real(); err != nil {
		return nil, err
	}
	x.targets()
	return x.results, nil
}

func (x *run) logf(format string, args ...any) { fmt.Fprintf(x.Log, format+"\n", args...) }

// each runs f at every level and leaves the highest.
func (x *run) each(f func(simd.Level) error) error {
	defer simd.SetLevel(simd.Current())()
	for _, l := range x.levels {
		simd.SetLevel(l)
		if err := f(l); err != nil {
			return err
		}
	}
	return nil
}

func (x *run) top() simd.Level { return x.levels[len(x.levels)-1] }

// columns measures our codecs at every level and size of blocks, and peers.
func columns[T number](x *run, all []column[T], ours, peers []codec[T], peerBlocks []int) error {
	for _, col := range all {
		x.logf("codecs: %s", col.name)
		err := x.each(func(l simd.Level) error {
			for _, c := range ours {
				for _, rows := range x.ourBlocks {
					if c.form == selfContained && rows != 1024 && rows != 4096 {
						continue // its vectors have 1,024 values
					}
					p := result.Params{"block": rows, "level": l.String(), "form": c.form}
					if err := one(x, col, c, rows, p); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, c := range peers {
			for _, rows := range peerBlocks {
				// A peer that refuses a column or fails is told of, no more.
				if err := one(x, col, c, rows, result.Params{"block": rows}); err != nil {
					x.logf("codecs: %v", err)
				}
			}
		}
	}
	return nil
}

// one measures a codec on a column in blocks.
func one[T number](x *run, col column[T], c codec[T], rows int, p result.Params) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
		if err != nil {
			err = fmt.Errorf("%s, %s, blocks of %d: %w", c.name, col.name, rows, err)
		}
	}()
	blocks := make([]block, (len(col.values)+rows-1)/rows)
	part := func(i int) []T { return col.values[i*rows : min((i+1)*rows, len(col.values))] }
	buffer := make([]T, 0, rows+64)
	scratch := block{bytes: make([]byte, 0, 2*size[T]()*rows+1024)}
	if c.reset != nil {
		c.reset()
	}
	bytes, exact := 0.0, 1.0
	var last encoding.Params
	for i := range blocks {
		if err := c.encode(&scratch, part(i)); err != nil {
			return err
		}
		b := &blocks[i]
		b.rows, b.params, b.bytes = scratch.rows, scratch.params, append([]byte(nil), scratch.bytes...)
		bytes += float64(len(b.bytes))
		if c.form == planned { // what a row group takes for the parameters, about
			bytes += float64(b.params.Distance(&last)) / 8
			last = b.params
		}
		got, err := c.decode(buffer, b)
		if err != nil {
			return err
		}
		if !equal(got, part(i)) {
			exact = 0
		}
	}
	if exact == 0 && c.form != "" {
		return fmt.Errorf("decodes to other values")
	}
	encode := x.plan.Time(func() {
		for i := range blocks {
			_ = c.encode(&scratch, part(i)) // succeeded above
		}
	})
	decode := x.plan.Time(func() {
		for i := range blocks {
			_, _ = c.decode(buffer, &blocks[i])
		}
	})
	n := len(col.values)
	add := func(metric, unit string, t measure.Timing) {
		x.results = append(x.results, result.Result{Suite: suite, Data: col.name, Subject: c.name, Params: p, Metric: metric, Unit: unit}.WithSpread(t))
	}
	value := func(metric, unit string, v float64) {
		x.results = append(x.results, result.Result{Suite: suite, Data: col.name, Subject: c.name, Params: p, Metric: metric, Unit: unit, Value: v})
	}
	add("encode_ns_per_value", "ns", encode.Per(n))
	add("decode_ns_per_value", "ns", decode.Per(n))
	value("bytes_per_value", "B", bytes/float64(n))
	value("encode_allocs_per_block", "", encode.Allocs/float64(len(blocks)))
	value("decode_allocs_per_block", "", decode.Allocs/float64(len(blocks)))
	value("exact", "", exact)
	return nil
}

// real measures the columns of files; blocks are of 1,024 values, so that each
// of the samples is one.
func (x *run) real() error {
	all, err := readReal(x.Real, x.realMost)
	if err != nil {
		return err
	}
	if len(all.float64)+len(all.samples) == 0 {
		x.logf("codecs: no real data; --real names the folder")
		return nil
	}
	columns64, peers := all.float64, []int{sampleValues}
	var samples []float64
	for _, s := range all.samples {
		samples = append(samples, s.values...)
	}
	if len(samples) > 0 {
		columns64 = append(columns64, column[float64]{fmt.Sprintf("real alp/samples, all %d", len(all.samples)), samples})
	}
	ours := x.ourBlocks
	x.ourBlocks = []int{128, sampleValues}
	defer func() { x.ourBlocks = ours }()
	if err := columns(x, columns64, ourFloat64(), peersFloat64(), peers); err != nil {
		return err
	}
	if err := columns(x, all.float32, ourFloat32(), peersFloat32(), peers); err != nil {
		return err
	}
	return x.samples(all.samples)
}
