package table

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"

	"github.com/colsst/colsst/bench/result"
	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/rowgroup"
)

// pointSubject is a way to store a table of many small partitions, of which the
// reads of whole partitions are measured.
type pointSubject struct {
	name, source       string
	partitions, perKey int
	write              func(path string, in rowgroup.Iter, s *rowgroup.Schema) error
	open               func(path string) (get func(key []byte) (rows int, err error), end func() error, err error)
	extra              func(path string, rec *recorder) error
}

func (s *pointSubject) data() string {
	return fmt.Sprintf("points, %d partitions x %d", s.partitions, s.perKey)
}

func (s *pointSubject) id() string {
	id := fmt.Sprintf("points-%dx%d/%s", s.partitions, s.perKey, s.name)
	if s.source != "" {
		id += "@" + s.source
	}
	return id
}

func pointSubjects() (all []pointSubject) {
	for _, n := range [][2]int{{1_000_000, 1}, {100_000, 12}} {
		all = append(all,
			pointSubject{ourDefault, fromFile, n[0], n[1], writeOurPoints, openOurPoints(fromFile), aboutOurPoints},
			pointSubject{ourDefault, fromMemory, n[0], n[1], writeOurPoints, openOurPoints(fromMemory), nil},
			pointSubject{pebbleName, "", n[0], n[1], writePebblePoints, openPebblePoints, nil})
	}
	return all
}

func (o *Options) measurePoints(s *pointSubject, dir string) (result.List, error) {
	n := s.partitions
	rec := &recorder{data: s.data(), subject: s.name, params: result.Params{}}
	if s.source != "" {
		rec.params["source"] = s.source
	}
	if o.Quick {
		n /= 10
		rec.params["partitions"] = n
	}
	p := generate.Points{Partitions: n, PerKey: s.perKey, Seed: generate.Seed}
	path := filepath.Join(dir, "points")
	in := &keyed{Iter: p.Rows()}
	var err error
	took := cpuOf(func() { err = s.write(path, in, p.Schema()) })
	if err != nil {
		return nil, fmt.Errorf("write: %w", err)
	}
	size, err := sizeOf(dir)
	if err != nil {
		return nil, err
	}
	rec.value("bytes_per_point", "B", float64(size)/float64(n*s.perKey), nil)
	rec.value("write_and_make_mpts_per_cpu_s", "", float64(n*s.perKey)/took.Seconds()/1e6, nil)
	get, end, err := s.open(path)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	r := &pointReader{get: get, rows: s.perKey}
	random := rand.New(rand.NewPCG(1, 2))
	qs := make([]query, 4096)
	for i := range qs {
		qs[i] = query{key: in.keys[random.IntN(len(in.keys))]}
	}
	for i := range qs { // to warm
		if err := qs[i].run(r); err != nil {
			return nil, errors.Join(err, end())
		}
	}
	timing, err := rate(r, qs, o.budget())
	if err != nil {
		return nil, errors.Join(err, end())
	}
	rec.timing("point_qps", "1/s", timing, nil)
	allocs, err := allocations(r, qs)
	rec.value("allocs_per_query", "", allocs, nil)
	if err == nil && s.extra != nil {
		err = s.extra(path, rec)
	}
	return rec.list, errors.Join(err, end())
}

// keyed remembers the keys that went by, up to some number.
type keyed struct {
	rowgroup.Iter
	keys []string
}

func (it *keyed) Next(b *rowgroup.Batch) (bool, error) {
	ok, err := it.Iter.Next(b)
	if ok {
		for p := range b.NumPartitions() {
			if p%16 == 0 {
				it.keys = append(it.keys, string(b.Key(p)))
			}
		}
	}
	return ok, err
}

// pointReader answers "latest" by the whole partition.
type pointReader struct {
	reader
	get  func(key []byte) (int, error)
	rows int
	key  []byte
}

func (r *pointReader) latest(key string) (x row, err error) {
	r.key = append(r.key[:0], key...)
	n, err := r.get(r.key)
	if err == nil && n != r.rows {
		err = fmt.Errorf("%d rows of %d", n, r.rows)
	}
	return x, err
}

func writeOurPoints(path string, in rowgroup.Iter, s *rowgroup.Schema) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w, err := columnar.NewWriter(f, s)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	b := rowgroup.NewBatch(s)
	for {
		ok, err := in.Next(b)
		if err == nil && ok {
			err = w.Append(b)
		}
		if err != nil {
			return errors.Join(err, w.Abort(), f.Close())
		}
		if !ok {
			return errors.Join(w.Close(), f.Close())
		}
	}
}

// openOurPoints opens our file from a source.
func openOurPoints(source string) func(path string) (func(key []byte) (int, error), func() error, error) {
	return func(path string) (func(key []byte) (int, error), func() error, error) {
		r, err := openSource(path, source)
		if err != nil {
			return nil, nil, err
		}
		return getOurs(r), r.Close, nil
	}
}

func openSource(path, source string) (*columnar.Reader, error) {
	switch source {
	case fromMemory:
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		return columnar.OpenBytes(text)
	case fromCache:
		return columnar.OpenFile(path, columnar.WithCache(columnar.NewCache(cacheBytes)))
	}
	return columnar.OpenFile(path)
}

func getOurs(r *columnar.Reader) func(key []byte) (int, error) {
	b, q := rowgroup.NewBatch(r.Schema()), r.NewQuery()
	return func(key []byte) (rows int, err error) {
		if err := q.Range(context.Background(), key, rowgroup.Bound{}, rowgroup.Bound{}, rowgroup.ScanOptions{}); err != nil {
			return 0, err
		}
		for {
			ok, err := q.Next(b)
			if !ok || err != nil {
				return rows, err
			}
			rows += b.Len()
		}
	}
}

// aboutOurPoints records what a partition takes beside its key and its values,
// and what opening the file takes.
func aboutOurPoints(path string, rec *recorder) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	r, _, err := countOpening(f, rec)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // it was only read
	d, err := r.Describe(context.Background())
	if err != nil {
		return err
	}
	rec.value("bytes_beside_payload_per_partition", "B", float64(d.Bytes-d.Layers.Payload)/float64(d.Partitions), nil)
	return timeOpening(func() (func() error, error) {
		r, err := columnar.OpenFile(path)
		if err != nil {
			return nil, err
		}
		return r.Close, nil
	}, rec)
}

// A point in Pebble is the key and the time, big endian, and the value.
func writePebblePoints(path string, in rowgroup.Iter, s *rowgroup.Schema) error {
	w, err := newPebbleDBWriter(path)
	if err != nil {
		return err
	}
	set := w.(*kvWriter).set
	b := rowgroup.NewBatch(s)
	var k, v []byte
	for {
		ok, err := in.Next(b)
		if err != nil {
			return err
		}
		if !ok {
			return w.finish()
		}
		times, values := *b.Int64s(timeColumn), *b.Float64s(valueColumn)
		for p := range b.NumPartitions() {
			from, to := b.PartitionRows(p)
			for i := from; i < to; i++ {
				k = binary.BigEndian.AppendUint64(append(k[:0], b.Key(p)...), uint64(times[i]))
				v = binary.LittleEndian.AppendUint64(v[:0], math.Float64bits(values[i]))
				if err := set(k, v); err != nil {
					return err
				}
			}
		}
	}
}

func openPebblePoints(path string) (func(key []byte) (int, error), func() error, error) {
	db, err := pebble.Open(path, pebbleDBOptions())
	if err != nil {
		return nil, nil, err
	}
	var times []int64
	var values []float64
	var upper []byte
	get := func(key []byte) (int, error) {
		upper = binary.BigEndian.AppendUint64(append(upper[:0], key...), math.MaxUint64)
		it, err := db.NewIter(&pebble.IterOptions{LowerBound: key, UpperBound: upper})
		if err != nil {
			return 0, err
		}
		times, values = times[:0], values[:0]
		for ok := it.First(); ok; ok = it.Next() {
			times = append(times, int64(binary.BigEndian.Uint64(it.Key()[len(key):])))
			values = append(values, math.Float64frombits(binary.LittleEndian.Uint64(it.Value())))
		}
		return len(times), errors.Join(it.Error(), it.Close())
	}
	return get, db.Close, nil
}

func pointTargets(l *result.List) {
	for _, r := range l.Where(result.Result{Metric: "bytes_beside_payload_per_partition"}) {
		l.Add(r, result.Target{What: "size", Of: r.Metric, Value: r.Value, Reference: 4, By: "what is to be reached", Most: 1})
		openTargets(l, r.Data, 5000, 4e6)
	}
	for _, r := range l.Where(result.Result{Subject: ourDefault, Metric: "point_qps"}) {
		for _, theirs := range l.Where(result.Result{Data: r.Data, Subject: pebbleName, Metric: "point_qps"}) {
			l.Add(r, result.Target{What: "speed against Pebble", Of: r.Metric, Value: r.Value, Reference: theirs.Value, By: theirs.Subject, Least: 1})
		}
	}
}
