package table

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/sstable/colblk"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	leveltable "github.com/syndtr/goleveldb/leveldb/table"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/colsst/colsst/rowgroup"
)

// A row in a key-value store: the key is that of the series and the time, big
// endian; the value is 16 bytes.

func kvKey(dst []byte, key string, time int32) []byte {
	return binary.BigEndian.AppendUint32(append(dst[:0], key...), uint32(time))
}

func kvValue(dst []byte, r row) []byte {
	dst = binary.LittleEndian.AppendUint32(dst[:0], math.Float32bits(r.value))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(r.wrote))
	return binary.LittleEndian.AppendUint32(dst, uint32(r.ttl))
}

func kvRow(k, v []byte) row {
	return row{
		int32(binary.BigEndian.Uint32(k[len(k)-4:])), math.Float32frombits(binary.LittleEndian.Uint32(v)),
		int64(binary.LittleEndian.Uint64(v[4:])), int32(binary.LittleEndian.Uint32(v[12:])),
	}
}

var errNone = errors.New("no such row")

// kvWriter sets one pair after another.
type kvWriter struct {
	set  func(k, v []byte) error
	end  func() error
	k, v []byte
}

func (w *kvWriter) add(b *rowgroup.Batch) error {
	for p := range parts(b) {
		for i, t := range p.time {
			w.k = binary.BigEndian.AppendUint32(append(w.k[:0], p.key...), uint32(t))
			w.v = kvValue(w.v, row{t, p.value[i], p.wrote[i], p.ttl[i]})
			if err := w.set(w.k, w.v); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *kvWriter) finish() error { return w.end() }

// kv is a reader over ordered pairs. each calls f for those in [from, to), nil
// being open ends; last finds the last.
type kv struct {
	each     func(from, to []byte, f func(k, v []byte)) error
	last     func(from, to []byte) (row, error)
	end      func() error // or nil: another's
	from, to []byte
	rows     columns
}

func (r *kv) scan(sum bool) (rows int64, checksum uint64, err error) {
	err = r.each(nil, nil, func(k, v []byte) {
		rows++
		x := kvRow(k, v)
		if sum {
			checksum += x.sum()
		}
	})
	return rows, checksum, err
}

func (r *kv) read(key string, from, to int32, out *columns) (int, error) {
	r.from, r.to = kvKey(r.from, key, from), kvKey(r.to, key, to+1)
	if out == nil {
		out = &r.rows
		out.reset()
	}
	err := r.each(r.from, r.to, func(k, v []byte) { out.push(kvRow(k, v)) })
	return len(out.time), err
}

func (r *kv) latest(key string) (row, error) {
	r.from, r.to = kvKey(r.from, key, 0), kvKey(r.to, key, -1)
	return r.last(r.from, r.to)
}

func (r *kv) session() (reader, error) { return &kv{each: r.each, last: r.last}, nil }

func (r *kv) close() error {
	if r.end == nil {
		return nil
	}
	return r.end()
}

// splitComparer tells Pebble that the last 4 bytes of a key are a suffix, which
// its columnar blocks then keep apart from the key of the series.
var splitComparer = func() *pebble.Comparer {
	c := *pebble.DefaultComparer
	c.Name = "bench.split4"
	c.Split = func(k []byte) int { return max(len(k)-4, 0) }
	return &c
}()

func pebbleOptions(c *pebble.Comparer) (sstable.WriterOptions, sstable.ReaderOptions) {
	keys := colblk.DefaultKeySchema(c, 16)
	return sstable.WriterOptions{
			Comparer: c, KeySchema: &keys, TableFormat: sstable.TableFormatPebblev7,
			Compression: block.ZstdCompression, BlockSize: 32 << 10, DisableValueBlocks: true,
		},
		sstable.ReaderOptions{Comparer: c, KeySchemas: sstable.MakeKeySchemas(&keys)}
}

func newPebbleWriter(path string, o sstable.WriterOptions) (*kvWriter, error) {
	f, err := vfs.Default.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	w := sstable.NewWriter(objstorageprovider.NewFileWritable(f), o)
	return &kvWriter{set: w.Set, end: w.Close}, nil
}

// pebbleTable is a bare sstable, whose reader cannot be given a cache.
func pebbleTable(name string, split bool) subject {
	c := pebble.DefaultComparer
	if split {
		c = splitComparer
	}
	wo, ro := pebbleOptions(c)
	return subject{
		name:  name,
		write: func(path string) (writer, error) { return newPebbleWriter(path, wo) },
		open: func(path string) (reader, error) {
			f, err := vfs.Default.Open(path)
			if err != nil {
				return nil, err
			}
			readable, err := sstable.NewSimpleReadable(f)
			if err != nil {
				return nil, err
			}
			r, err := sstable.NewReader(context.Background(), readable, ro)
			if err != nil {
				return nil, err
			}
			return &kv{
				each: func(from, to []byte, f func(k, v []byte)) error { return pebbleEach(r, from, to, f) },
				last: func(from, to []byte) (row, error) { return pebbleLast(r, from, to) },
				end:  r.Close,
			}, nil
		},
	}
}

func pebbleEach(r *sstable.Reader, from, to []byte, f func(k, v []byte)) error {
	it, err := r.NewIter(sstable.NoTransforms, nil, to, sstable.AssertNoBlobHandles)
	if err != nil {
		return err
	}
	pair := it.First()
	if from != nil {
		pair = it.SeekGE(from, 0)
	}
	for ; pair != nil; pair = it.Next() {
		v, _, err := pair.Value(nil)
		if err != nil {
			return errors.Join(err, it.Close())
		}
		f(pair.K.UserKey, v)
	}
	return errors.Join(it.Error(), it.Close())
}

func pebbleLast(r *sstable.Reader, from, to []byte) (x row, err error) {
	it, err := r.NewIter(sstable.NoTransforms, nil, nil, sstable.AssertNoBlobHandles)
	if err != nil {
		return x, err
	}
	pair := it.SeekLT(to, 0)
	if pair == nil || bytes.Compare(pair.K.UserKey, from) < 0 {
		return x, errors.Join(errNone, it.Error(), it.Close())
	}
	v, _, err := pair.Value(nil)
	if err == nil {
		x = kvRow(pair.K.UserKey, v)
	}
	return x, errors.Join(err, it.Close())
}

// pebbleDB is the same sstable taken into a database with a cache of 256 MB,
// warm once it was scanned.
func pebbleDB() subject {
	return subject{name: pebbleName, write: newPebbleDBWriter, open: func(path string) (reader, error) {
		db, err := pebble.Open(path, pebbleDBOptions())
		if err != nil {
			return nil, err
		}
		return pebbleDBReader(db), nil
	}}
}

const pebbleName = "pebble-db"

func pebbleDBOptions() *pebble.Options {
	return &pebble.Options{FormatMajorVersion: pebble.FormatNewest, CacheSize: 256 << 20, Logger: silent{}}
}

type silent struct{}

func (silent) Infof(string, ...any)  {}
func (silent) Errorf(string, ...any) {}
func (silent) Fatalf(string, ...any) {}

func newPebbleDBWriter(path string) (writer, error) {
	wo, _ := pebbleOptions(pebble.DefaultComparer)
	o := pebbleDBOptions()
	o.EnsureDefaults()
	for _, s := range o.KeySchemas {
		if s.Name == o.KeySchema {
			wo.KeySchema = s
		}
	}
	sst := path + ".sst"
	w, err := newPebbleWriter(sst, wo)
	if err != nil {
		return nil, err
	}
	closeTable := w.end
	w.end = func() error {
		if err := closeTable(); err != nil {
			return err
		}
		db, err := pebble.Open(path, pebbleDBOptions())
		if err != nil {
			return err
		}
		if err := db.Ingest(context.Background(), []string{sst}); err != nil {
			return errors.Join(err, db.Close())
		}
		return errors.Join(db.Close(), os.RemoveAll(sst)) // Ingest has usually moved it
	}
	return w, nil
}

func pebbleDBReader(db *pebble.DB) *kv {
	return &kv{
		each: func(from, to []byte, f func(k, v []byte)) error {
			it, err := db.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: to})
			if err != nil {
				return err
			}
			for ok := it.First(); ok; ok = it.Next() {
				f(it.Key(), it.Value())
			}
			return errors.Join(it.Error(), it.Close())
		},
		last: func(from, to []byte) (x row, err error) {
			it, err := db.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: to})
			if err != nil {
				return x, err
			}
			if it.Last() {
				x = kvRow(it.Key(), it.Value())
			} else {
				err = errNone
			}
			return x, errors.Join(err, it.Error(), it.Close())
		},
		end: db.Close,
	}
}

// goleveldb is an sstable of LevelDB in Go, which has no Zstd.
func goleveldb() subject {
	o := &opt.Options{Compression: opt.SnappyCompression, BlockSize: 32 << 10}
	return subject{
		name: "goleveldb-sst",
		write: func(path string) (writer, error) {
			f, err := os.Create(path)
			if err != nil {
				return nil, err
			}
			w := leveltable.NewWriter(f, o)
			return &kvWriter{set: w.Append, end: func() error { return errors.Join(w.Close(), f.Close()) }}, nil
		},
		open: func(path string) (reader, error) {
			f, err := os.Open(path)
			if err != nil {
				return nil, err
			}
			info, err := f.Stat()
			if err != nil {
				return nil, err
			}
			r, err := leveltable.NewReader(f, info.Size(), storage.FileDesc{}, nil, nil, o)
			if err != nil {
				return nil, err
			}
			return &kv{
				each: func(from, to []byte, f func(k, v []byte)) error {
					it := r.NewIterator(&util.Range{Start: from, Limit: to}, nil)
					defer it.Release()
					for it.Next() {
						f(it.Key(), it.Value())
					}
					return it.Error()
				},
				last: func(from, to []byte) (x row, err error) {
					it := r.NewIterator(&util.Range{Start: from, Limit: to}, nil)
					defer it.Release()
					if !it.Last() {
						return x, errors.Join(errNone, it.Error())
					}
					return kvRow(it.Key(), it.Value()), nil
				},
				end: func() error { r.Release(); return nil },
			}, nil
		},
	}
}
