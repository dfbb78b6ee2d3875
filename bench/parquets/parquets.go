// Package parquets measures Parquet files of ours beside parquet-go's own
// writer and reader, and beside our table files: size, writing, reading of all
// columns, and ALP pages beside the codec of our files.
package parquets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/colsst/colsst/bench/measure"
	"github.com/colsst/colsst/bench/result"
	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/encoding/alp"
	"github.com/colsst/colsst/encoding/bss"
	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/parquetfmt"
	parquetalp "github.com/colsst/colsst/parquetfmt/alp"
	"github.com/colsst/colsst/rowgroup"
)

const suite = "parquet"

// Options say what to measure.
type Options struct {
	Quick bool
	Log   io.Writer
}

// Metrics.
const (
	bytesPerPoint = "bytes_per_point"
	write         = "write_mpts_per_cpu_s"
	read          = "read_mpts_per_cpu_s"
	encodeTime    = "encode_ns_per_value"
	decodeTime    = "decode_ns_per_value"
	bytesPerValue = "bytes_per_value"
)

// Subjects.
const (
	ours      = "parquetfmt"
	oursALP   = "parquetfmt/alp"
	oursDelay = "parquetfmt/alp, write delays"
	peer      = "parquet-go"
	peerTyped = "parquet-go, typed columns"
	native    = "encoding/alp"
	pageALP   = "parquetfmt/alp"
	splitZstd = "byte stream split + Zstd"
)

type run struct {
	plan    measure.Plan
	results result.List
	log     io.Writer
}

// Run measures everything.
func Run(ctx context.Context, o Options) (result.List, error) {
	runtime.GOMAXPROCS(1)
	x := &run{plan: measure.Plan{Repeats: 5, Least: 1}, log: o.Log, results: result.List{result.Describe(suite)}}
	points := 120_960
	if o.Quick {
		points, x.plan.Repeats = 17_280, 3
	}
	for _, v := range []generate.Variant{generate.Full, generate.TwoDecimals} {
		g := generate.Metrics5{Series: 20, Points: points, Variant: v}
		if err := x.tables(ctx, "metrics5 "+v.String(), g); err != nil {
			return nil, err
		}
	}
	if err := x.columns(o.Quick); err != nil {
		return nil, err
	}
	x.targets()
	return x.results, nil
}

func (x *run) add(data, subject, metric, unit string, p result.Params, v float64) {
	x.results = append(x.results, result.Result{Suite: suite, Data: data, Subject: subject, Params: p, Metric: metric, Unit: unit, Value: v})
}

// speed adds how many million points a second of CPU time fn does.
func (x *run) speed(data, subject, metric string, p result.Params, points int64, fn func() error) error {
	var failed error
	t := x.plan.Time(func() {
		if err := fn(); err != nil && failed == nil {
			failed = err
		}
	})
	if failed != nil {
		return fmt.Errorf("%s, %s, %s: %w", data, subject, metric, failed)
	}
	rate := func(ns float64) float64 { return float64(points) / ns * 1000 }
	r := result.Result{Suite: suite, Data: data, Subject: subject, Params: p, Metric: metric}
	x.results = append(x.results, r.WithSpread(measure.Timing{Median: rate(t.Median), Least: rate(t.Most), Most: rate(t.Least)}))
	return nil
}

// tables measures whole files of one table.
func (x *run) tables(ctx context.Context, data string, g generate.Metrics5) error {
	var batches []*rowgroup.Batch
	points, it, b := int64(0), g.Rows(), rowgroup.NewBatch(g.Schema())
	for {
		more, err := it.Next(b)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		points += int64(b.Len())
		batches = append(batches, b.Clone())
	}
	fmt.Fprintf(x.log, "parquet: %s, %d points\n", data, points)
	for _, setting := range []struct {
		name string
		opts []columnar.Option
	}{
		{"colsst/default", nil},
		{"colsst/C", []columnar.Option{columnar.WithCompression(16)}},
	} {
		var file bytes.Buffer
		w, err := columnar.NewWriter(&file, g.Schema(), setting.opts...)
		if err != nil {
			return err
		}
		for _, b := range batches {
			if err := w.Append(b); err != nil {
				return err
			}
		}
		if err := w.Close(); err != nil {
			return err
		}
		x.add(data, setting.name, bytesPerPoint, "B", nil, float64(file.Len())/float64(points))
	}
	for _, rows := range []int{512, 131_072} {
		p := result.Params{"rows": rows}
		var file bytes.Buffer
		size := func(subject string) {
			x.add(data, subject, bytesPerPoint, "B", p, float64(file.Len())/float64(points))
		}
		for _, s := range []struct {
			name string
			opts []parquetfmt.Option
		}{
			{ours, []parquetfmt.Option{parquetfmt.WithRowMetadata()}},
			{oursALP, []parquetfmt.Option{parquetfmt.WithRowMetadata(), parquetfmt.WithEncoding("value", parquetfmt.ALP)}},
			{oursDelay, []parquetfmt.Option{parquetfmt.WithEncoding("value", parquetfmt.ALP), parquetfmt.WithWriteTimeDelays(rowgroup.Seconds)}},
		} {
			fmt.Fprintf(x.log, "parquet: %s, %s, %d rows a group\n", data, s.name, rows)
			opts := append(s.opts, parquetfmt.WithRowGroups(rows, 64<<20))
			if err := x.speed(data, s.name, write, p, points, func() error {
				file.Reset()
				w, err := parquetfmt.NewWriter(&file, g.Schema(), opts...)
				if err != nil {
					return err
				}
				for _, b := range batches {
					if err := w.Append(b); err != nil {
						return err
					}
				}
				return w.Close()
			}); err != nil {
				return err
			}
			size(s.name)
			if err := x.speed(data, s.name, read, p, points, func() error { return readOurs(ctx, file.Bytes(), points) }); err != nil {
				return err
			}
		}
		for _, s := range []struct {
			name  string
			write func(*bytes.Buffer, []*rowgroup.Batch, int) error
		}{{peer, writePeer}, {peerTyped, writePeerTyped}} {
			fmt.Fprintf(x.log, "parquet: %s, %s, %d rows a group\n", data, s.name, rows)
			if err := x.speed(data, s.name, write, p, points, func() error {
				file.Reset()
				return s.write(&file, batches, rows)
			}); err != nil {
				return err
			}
			size(s.name)
		}
		if err := x.speed(data, peerTyped, read, p, points, func() error { return readPeer(file.Bytes(), points) }); err != nil {
			return err
		}
		theirs := result.Params{"rows": rows, "file": peer}
		if err := x.speed(data, ours, read, theirs, points, func() error { return readOurs(ctx, file.Bytes(), points, peerTable...) }); err != nil {
			return err
		}
	}
	return nil
}

// readOurs reads all columns of a file into batches.
func readOurs(ctx context.Context, file []byte, points int64, opts ...parquetfmt.ReadOption) error {
	r, err := parquetfmt.Open(bytes.NewReader(file), int64(len(file)), opts...)
	if err != nil {
		return err
	}
	it := r.Scan(ctx, rowgroup.ScanOptions{})
	b, n := rowgroup.NewBatch(r.Schema()), int64(0)
	for {
		more, err := it.Next(b)
		if err != nil {
			return errors.Join(err, it.Close())
		}
		if !more {
			break
		}
		n += int64(b.Len())
	}
	if n != points {
		return fmt.Errorf("%d rows of %d", n, points)
	}
	return it.Close()
}

// columns measures ALP pages of floats beside the codec of our files and byte
// stream split with Zstd.
func (x *run) columns(quick bool) error {
	x.plan.Least = 20e6
	if quick {
		x.plan.Least = 2e6
	}
	random := rand.New(rand.NewPCG(1, 2))
	const n = 1 << 16
	for _, digits := range []int{1, 2, 4} {
		power := math.Pow10(digits)
		doubles, floats := make([]float64, n), make([]float32, n)
		walk := 100.0
		for i := range doubles {
			walk += random.NormFloat64()
			doubles[i] = math.Round(walk*power) / power
			floats[i] = float32(math.Round(walk*min(power, 100)) / min(power, 100))
		}
		if err := measureColumn(x, fmt.Sprintf("double, a walk of %d decimals", digits), doubles, alp.AppendFloat64, alp.DecodeFloat64, parquetalp.AppendDouble,
			new(parquetalp.Encoding).DecodeDouble, bss.AppendFloat64); err != nil {
			return err
		}
		if digits > 2 {
			continue
		}
		if err := measureColumn(x, fmt.Sprintf("float, a walk of %d decimals", digits), floats, alp.AppendFloat32, alp.DecodeFloat32, parquetalp.AppendFloat,
			new(parquetalp.Encoding).DecodeFloat, bss.AppendFloat32); err != nil {
			return err
		}
	}
	return nil
}

func measureColumn[T float32 | float64](x *run, data string, values []T, nativeAppend func([]byte, []T) []byte, nativeDecode func([]T, []byte) ([]byte, error),
	pageAppend func([]byte, []T) ([]byte, error), pageDecode func([]T, []byte) ([]T, error), split func([]byte, []T) []byte) error {
	fmt.Fprintf(x.log, "parquet: %s\n", data)
	dst := make([]T, len(values))
	n := float64(len(values))
	timed := func(subject, metric string, fn func()) {
		r := result.Result{Suite: suite, Data: data, Subject: subject, Metric: metric, Unit: "ns"}
		x.results = append(x.results, r.WithSpread(x.plan.Time(fn).Per(len(values))))
	}
	body := nativeAppend(nil, values)
	x.add(data, native, bytesPerValue, "B", nil, float64(len(body))/n)
	timed(native, encodeTime, func() { body = nativeAppend(body[:0], values) })
	if _, err := nativeDecode(dst, body); err != nil {
		return err
	}
	timed(native, decodeTime, func() { _, _ = nativeDecode(dst, body) })
	page, err := pageAppend(nil, values)
	if err != nil {
		return err
	}
	x.add(data, pageALP, bytesPerValue, "B", nil, float64(len(page))/n)
	timed(pageALP, encodeTime, func() { page, _ = pageAppend(page[:0], values) })
	if dst, err = pageDecode(dst, page); err != nil {
		return err
	}
	if !slices.Equal(dst, values) {
		return errors.New("ALP gives other values back")
	}
	timed(pageALP, decodeTime, func() { dst, _ = pageDecode(dst, page) })
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	x.add(data, splitZstd, bytesPerValue, "B", nil, float64(len(z.EncodeAll(split(nil, values), nil)))/n)
	return z.Close()
}

// targets adds the ratios that are to be reached.
func (x *run) targets() {
	one := func(q result.Result) (r result.Result, ok bool) {
		l := x.results.Where(q)
		if len(l) == 0 {
			return r, false
		}
		return l[0], true
	}
	for _, data := range []string{"metrics5 full", "metrics5 2dec"} {
		for _, rows := range []int{512, 131_072} {
			p := result.Params{"rows": rows}
			mine, _ := one(result.Result{Data: data, Subject: ours, Metric: write, Params: p})
			var theirs result.List
			for _, s := range []string{peer, peerTyped} {
				theirs = append(theirs, x.results.Where(result.Result{Data: data, Subject: s, Metric: write, Params: p})...)
			}
			if best, ok := theirs.Best(true); ok {
				x.results.Add(mine, result.Target{What: "write", Of: write, Value: mine.Value, Reference: best.Value, By: best.Subject, Least: 3})
			}
			typed, ok := one(result.Result{Data: data, Subject: peerTyped, Metric: read, Params: p})
			same, _ := one(result.Result{Data: data, Subject: ours, Metric: read, Params: result.Params{"rows": rows, "file": peer}})
			if ok {
				x.results.Add(same, result.Target{What: "typed read of one file", Of: read, Value: same.Value, Reference: typed.Value, By: peerTyped, Least: 1.5})
			}
		}
	}
	for _, s := range []struct {
		subject string
		rows    int
		most    float64
	}{{oursALP, 512, 5.2}, {oursALP, 131_072, 3.5}, {oursDelay, 131_072, 3.2}} {
		if r, ok := one(result.Result{Data: "metrics5 2dec", Subject: s.subject, Metric: bytesPerPoint, Params: result.Params{"rows": s.rows}}); ok {
			x.results.Add(r, result.Target{What: "size", Of: bytesPerPoint, Value: r.Value, Reference: s.most, By: "what is to be reached", Most: 1})
		}
	}
	for _, r := range x.results.Where(result.Result{Subject: pageALP, Metric: encodeTime}) {
		for _, metric := range []string{encodeTime, decodeTime} {
			a, okA := one(result.Result{Data: r.Data, Subject: pageALP, Metric: metric})
			b, okB := one(result.Result{Data: r.Data, Subject: native, Metric: metric})
			if okA && okB {
				x.results.Add(a, result.Target{What: "ALP beside the native codec", Of: metric, Value: a.Value, Reference: b.Value, By: native, Most: 1.3})
			}
		}
		a, okA := one(result.Result{Data: r.Data, Subject: pageALP, Metric: bytesPerValue})
		b, okB := one(result.Result{Data: r.Data, Subject: splitZstd, Metric: bytesPerValue})
		if okA && okB {
			x.results.Add(a, result.Target{What: "ALP beside byte stream split + Zstd", Of: bytesPerValue, Value: a.Value, Reference: b.Value, By: splitZstd, Most: 0.9})
		}
	}
}
