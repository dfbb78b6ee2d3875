package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/simd"
)

// variants are the options of our files. B to E are those of the published
// experiment.
var variants = []struct {
	name string
	opts []columnar.Option
}{
	{"default", nil},
	{"B", []columnar.Option{columnar.WithCompression(16), columnar.WithColumnCompression("*")}},
	{"C", []columnar.Option{columnar.WithCompression(16)}},
	{"D", []columnar.Option{columnar.WithColumnCompression("*")}},
	{"E", []columnar.Option{columnar.WithColumnCompression("*"), columnar.WithRowGroupRows(512)}},
	{"512", []columnar.Option{columnar.WithRowGroupRows(512)}},
	{"1024", []columnar.Option{columnar.WithRowGroupRows(1024)}},
}

// Where the bytes of a file are read from.
const (
	fromFile   = "file"
	fromMemory = "memory"
	fromCache  = "cache" // a file through a cache of blocks
	fromMmap   = "mmap"
)

// cacheBytes is the size of the cache, as large as Pebble's.
const cacheBytes = 256 << 20

const rowByRow = "rows" // a way to write

func ourSubjects() (all []subject) {
	for _, v := range variants {
		for _, source := range []string{fromFile, fromMemory, fromCache} {
			all = append(all, ours("colsst/"+v.name, source, "", v.opts))
		}
	}
	all = append(all, ours(ourDefault, fromMmap, "", nil))
	for _, source := range []string{fromFile, fromMemory} {
		s := ours(ourDefault, source, "", nil)
		s.irregular = true
		all = append(all, s)
	}
	for l := simd.Generic; l < simd.Supported(); l++ {
		for _, source := range []string{fromFile, fromMemory} {
			all = append(all, ours(ourDefault, source, l.String(), nil))
		}
	}
	return all
}

func ours(name, source, level string, opts []columnar.Option) subject {
	var memory []byte
	s := subject{name: name, source: source, level: level, ours: true}
	s.write = func(path string) (writer, error) { return newColsstWriter(path, opts) }
	s.load = func(path string) (err error) {
		if source == fromMemory {
			memory, err = os.ReadFile(path)
		}
		return err
	}
	s.open = func(path string) (reader, error) {
		switch source {
		case fromMemory:
			return openColsst(columnar.OpenBytes(memory))
		case fromCache:
			return openColsst(columnar.OpenFile(path, columnar.WithCache(columnar.NewCache(cacheBytes))))
		case fromMmap:
			return openColsst(columnar.OpenFile(path, columnar.WithMmap()))
		}
		return openColsst(columnar.OpenFile(path))
	}
	s.extra = func(r reader, path string, add func(metric, unit string, v float64)) error {
		d, err := r.(*colsst).r.Describe(context.Background())
		if err != nil {
			return err
		}
		add("overhead_bytes_per_group", "B", float64(d.Layers.Overhead())/float64(d.RowGroups))
		if d.Layers.OuterSaving != 0 {
			add("outer_saving", "", -float64(d.Layers.OuterSaving)/float64(d.Bytes-d.Layers.OuterSaving))
		}
		return nil
	}
	return s
}

// setLevel is for the process of a subject.
func (s *subject) setLevel() error {
	simd.SetLevel(simd.Supported())
	for l := simd.Generic; l <= simd.AVX512; l++ {
		if l.String() == s.level {
			simd.SetLevel(l)
			return nil
		}
	}
	if s.level != "" {
		return fmt.Errorf("there is no level %q", s.level)
	}
	return nil
}

type colsstWriter struct {
	f *os.File
	w *columnar.Writer
}

func newColsstWriter(path string, opts []columnar.Option) (writer, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	w, err := columnar.NewWriter(f, metricsSchema(), opts...)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &colsstWriter{f, w}, nil
}

func (w *colsstWriter) add(b *rowgroup.Batch) error { return w.w.Append(b) }
func (w *colsstWriter) finish() error               { return errors.Join(w.w.Close(), w.f.Close()) }

// rowWriter fills batches row by row, as a program does that gets its rows so.
type rowWriter struct {
	writer
	b *rowgroup.Batch
}

func (w *rowWriter) add(b *rowgroup.Batch) error {
	w.b.Reset()
	times, values, meta := w.b.Int32s(timeColumn), w.b.Float32s(valueColumn), w.b.Meta()
	n := 0
	for p := range parts(b) {
		w.b.BeginPartition(p.key).Start = n
		for i, t := range p.time {
			*times = append(*times, t)
			*values = append(*values, p.value[i])
			meta.Liveness = append(meta.Liveness, rowgroup.LivenessExpiring)
			meta.WriteTimes = append(meta.WriteTimes, p.wrote[i])
			meta.TTLs = append(meta.TTLs, p.ttl[i])
			meta.Expiries = append(meta.Expiries, p.expiry[i])
		}
		n += len(p.time)
	}
	return w.writer.add(w.b)
}

// colsst is a reader of our files and its memory for answers.
type colsst struct {
	r        *columnar.Reader
	shared   bool // r is another's
	q        *columnar.Query
	b        *rowgroup.Batch
	key      []byte
	from, to rowgroup.Bound
	bytes    [2][]byte // of the bounds
}

func openColsst(r *columnar.Reader, err error) (reader, error) {
	if err != nil {
		return nil, err
	}
	return newColsst(r), nil
}

func newColsst(r *columnar.Reader) *colsst {
	c := &colsst{r: r, q: r.NewQuery(), b: rowgroup.NewBatch(r.Schema())}
	c.from, c.to = rowgroup.Bound{Prefix: make([][]byte, 1), Inclusive: true}, rowgroup.Bound{Prefix: make([][]byte, 1), Inclusive: true}
	return c
}

func (c *colsst) scan(sum bool) (rows int64, checksum uint64, err error) {
	it := c.r.Scan(context.Background(), rowgroup.ScanOptions{})
	for {
		ok, err := it.Next(c.b)
		if !ok || err != nil {
			return rows, checksum, errors.Join(err, it.Close())
		}
		rows += int64(c.b.Len())
		if sum {
			for p := range parts(c.b) {
				checksum += p.sum()
			}
		}
	}
}

func (c *colsst) read(key string, from, to int32, out *columns) (rows int, err error) {
	c.key = append(c.key[:0], key...)
	c.bytes[0] = rowgroup.AppendInt(c.bytes[0][:0], rowgroup.Int, int64(from))
	c.bytes[1] = rowgroup.AppendInt(c.bytes[1][:0], rowgroup.Int, int64(to))
	c.from.Prefix[0], c.to.Prefix[0] = c.bytes[0], c.bytes[1]
	if err := c.q.Range(context.Background(), c.key, c.from, c.to, rowgroup.ScanOptions{}); err != nil {
		return 0, err
	}
	for {
		ok, err := c.q.Next(c.b)
		if !ok || err != nil {
			return rows, err
		}
		rows += c.b.Len()
		if out != nil {
			for p := range parts(c.b) {
				for i := range p.time {
					out.push(row{p.time[i], p.value[i], p.wrote[i], p.ttl[i]})
				}
			}
		}
	}
}

func (c *colsst) latest(key string) (r row, err error) {
	c.key = append(c.key[:0], key...)
	if err := c.q.Latest(context.Background(), c.key, 1, rowgroup.ScanOptions{}); err != nil {
		return r, err
	}
	ok, err := c.q.Next(c.b)
	if err == nil && (!ok || c.b.Len() != 1) {
		err = fmt.Errorf("%d rows", c.b.Len())
	}
	if err == nil {
		m := c.b.Meta()
		r = row{(*c.b.Int32s(timeColumn))[0], (*c.b.Float32s(valueColumn))[0], m.WriteTimes[0], m.TTLs[0]}
	}
	return r, err
}

func (c *colsst) session() (reader, error) {
	s := newColsst(c.r)
	s.shared = true
	return s, nil
}

func (c *colsst) close() error {
	err := c.q.Close()
	if c.shared {
		return err
	}
	return errors.Join(err, c.r.Close())
}

// counter counts the reads of a source and their bytes.
type counter struct {
	io.ReaderAt
	reads, bytes atomic.Int64
}

func (c *counter) ReadAt(p []byte, off int64) (int, error) {
	c.reads.Add(1)
	c.bytes.Add(int64(len(p)))
	return c.ReaderAt.ReadAt(p, off)
}
