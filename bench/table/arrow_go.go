package table

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sort"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/colsst/colsst/rowgroup"
)

// arrowGo writes row groups of so many rows, or of the library's default.
func arrowGo(name string, rows int) subject {
	required := parquet.Repetitions.Required
	root, err := schema.NewGroupNode("schema", required, schema.FieldList{
		schema.NewByteArrayNode("series", required, -1), schema.NewInt32Node("time", required, -1),
		schema.NewFloat32Node("value", required, -1), schema.NewInt64Node("wrote", required, -1), schema.NewInt32Node("ttl", required, -1),
	}, -1)
	if err != nil {
		panic(err) // the columns are constants
	}
	if rows == 0 {
		rows = int(parquet.DefaultMaxRowGroupLen)
	}
	props := parquet.NewWriterProperties(
		parquet.WithCompression(compress.Codecs.Zstd), parquet.WithPageIndexEnabled(true),
		parquet.WithDictionaryDefault(false), parquet.WithDictionaryFor("series", true),
		parquet.WithEncodingFor("time", parquet.Encodings.DeltaBinaryPacked), parquet.WithEncodingFor("ttl", parquet.Encodings.DeltaBinaryPacked),
		parquet.WithEncodingFor("wrote", parquet.Encodings.DeltaBinaryPacked), parquet.WithEncodingFor("value", parquet.Encodings.ByteStreamSplit))
	return subject{
		name: name,
		write: func(path string) (writer, error) {
			f, err := os.Create(path)
			if err != nil {
				return nil, err
			}
			return &arrowWriter{limit: rows, w: file.NewParquetWriter(f, root, file.WithWriterProps(props))}, nil
		},
		open: openArrow,
	}
}

type arrowWriter struct {
	w     *file.Writer
	group file.BufferedRowGroupWriter
	limit int // rows of a group
	rows  int // of the open one
	keys  []parquet.ByteArray
}

type arrowBatchWriter[T any] interface {
	WriteBatch(values []T, defLevels, repLevels []int16) (int64, error)
}

type arrowBatchReader[T any] interface {
	ReadBatch(batchSize int64, values []T, defLevels, repLevels []int16) (total int64, read int, err error)
}

func arrowWrite[T any](g file.BufferedRowGroupWriter, col int, v []T) error {
	w, err := g.Column(col)
	if err != nil {
		return err
	}
	_, err = w.(arrowBatchWriter[T]).WriteBatch(v, nil, nil)
	return err
}

func (w *arrowWriter) add(b *rowgroup.Batch) error {
	for p := range parts(b) {
		for from := 0; from < len(p.time); {
			if w.group == nil {
				g, err := w.w.AppendBufferedRowGroupChecked()
				if err != nil {
					return err
				}
				w.group, w.rows = g, 0
			}
			to := min(from+w.limit-w.rows, len(p.time))
			w.keys = w.keys[:0]
			for range to - from {
				w.keys = append(w.keys, parquet.ByteArray(p.key))
			}
			if err := errors.Join(
				arrowWrite(w.group, pqSeries, w.keys), arrowWrite(w.group, pqTime, p.time[from:to]), arrowWrite(w.group, pqValue, p.value[from:to]),
				arrowWrite(w.group, pqWrote, p.wrote[from:to]), arrowWrite(w.group, pqTTL, p.ttl[from:to])); err != nil {
				return err
			}
			w.rows += to - from
			from = to
			if w.rows == w.limit {
				if err := w.group.Close(); err != nil {
					return err
				}
				w.group = nil
			}
		}
	}
	return nil
}

func (w *arrowWriter) finish() error {
	var err error
	if w.group != nil {
		err = w.group.Close()
	}
	return errors.Join(err, w.w.Close()) // which closes the file
}

type arrowReader struct {
	parquetQueries
	file *arrowFile
	own  bool
}

type arrowFile struct {
	f *file.Reader
	*pages
	keys []parquet.ByteArray // scratch
}

func openArrow(path string) (reader, error) {
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		return nil, err
	}
	p := &pages{groups: []int64{0}}
	for g := range f.NumRowGroups() {
		from := p.groups[g]
		to := from + f.MetaData().RowGroup(g).NumRows()
		p.groups = append(p.groups, to)
		ix, err := f.GetPageIndexReader().RowGroup(g)
		if err != nil {
			return nil, err
		}
		for col := range pqTime + 1 {
			ci, err := ix.GetColumnIndex(col)
			if err != nil {
				return nil, err
			}
			oi, err := ix.GetOffsetIndex(col)
			if err != nil {
				return nil, err
			}
			at := oi.GetPageLocations()
			for i := range at {
				x := page{from: from + at[i].FirstRowIndex, to: to}
				if i+1 < len(at) {
					x.to = from + at[i+1].FirstRowIndex
				}
				switch ci := ci.(type) {
				case *metadata.TypedColumnIndex[parquet.ByteArray]:
					x.minKey, x.maxKey = string(ci.MinValues()[i]), string(ci.MaxValues()[i])
					p.keys = append(p.keys, x)
				case *metadata.TypedColumnIndex[int32]:
					x.minTime, x.maxTime = ci.MinValues()[i], ci.MaxValues()[i]
					p.times = append(p.times, x)
				default:
					return nil, fmt.Errorf("a column index of type %T", ci)
				}
			}
		}
	}
	return newArrowReader(f, p, true), nil
}

func newArrowReader(f *file.Reader, p *pages, own bool) *arrowReader {
	a := &arrowFile{f: f, pages: p}
	return &arrowReader{parquetQueries{pages: p, columns: a}, a, own}
}

func (r *arrowReader) session() (reader, error) { return newArrowReader(r.file.f, r.pages, false), nil }

func (r *arrowReader) close() error {
	if !r.own {
		return nil
	}
	return r.file.f.Close()
}

// arrowRange appends rows [from, to) of a column.
func arrowRange[T any](p *arrowFile, col int, from, to int64, dst []T) ([]T, error) {
	for g := p.group(from); from < to; g++ {
		end := min(to, p.groups[g+1])
		in, err := p.f.RowGroup(g).Column(col)
		if err != nil {
			return nil, err
		}
		if from > p.groups[g] {
			if err := in.SeekToRow(from - p.groups[g]); err != nil {
				return nil, err
			}
		}
		for from < end {
			var added []T
			n := len(dst)
			dst, added = grow(dst, end-from)
			_, k, err := in.(arrowBatchReader[T]).ReadBatch(end-from, added, nil, nil)
			dst = dst[:n+k]
			if err == nil && k == 0 {
				err = io.ErrUnexpectedEOF
			}
			if err != nil {
				return nil, err
			}
			from += int64(k)
		}
	}
	return dst, nil
}

func (p *arrowFile) span(key string, lo, hi int64) (from, to int64, err error) {
	if p.keys, err = arrowRange(p, pqSeries, lo, hi, p.keys[:0]); err != nil {
		return 0, 0, err
	}
	i := sort.Search(len(p.keys), func(i int) bool { return string(p.keys[i]) >= key })
	j := sort.Search(len(p.keys), func(i int) bool { return string(p.keys[i]) > key })
	if i == j {
		return -1, -1, nil
	}
	return lo + int64(i), lo + int64(j), nil
}

func (p *arrowFile) times(from, to int64, dst []int32) ([]int32, error) {
	return arrowRange(p, pqTime, from, to, dst)
}

func (p *arrowFile) rest(from, to int64, out *columns) (err error) {
	if out.value, err = arrowRange(p, pqValue, from, to, out.value); err != nil {
		return err
	}
	if out.wrote, err = arrowRange(p, pqWrote, from, to, out.wrote); err != nil {
		return err
	}
	out.ttl, err = arrowRange(p, pqTTL, from, to, out.ttl)
	return err
}

// arrowDrain reads a whole chunk through a buffer.
func arrowDrain[T any](in file.ColumnChunkReader, buffer []T, f func([]T)) error {
	for in.HasNext() {
		_, k, err := in.(arrowBatchReader[T]).ReadBatch(int64(len(buffer)), buffer, nil, nil)
		if err != nil {
			return err
		}
		f(buffer[:k])
	}
	return in.Err()
}

func (r *arrowReader) scan(sum bool) (rows int64, checksum uint64, err error) {
	const step = 8192
	keys := make([]parquet.ByteArray, step)
	i32, i64, f32 := make([]int32, step), make([]int64, step), make([]float32, step)
	for g := range r.file.f.NumRowGroups() {
		group := r.file.f.RowGroup(g)
		for col := range pqColumns {
			in, err := group.Column(col)
			if err != nil {
				return 0, 0, err
			}
			add := func(c columns) {
				if sum {
					checksum += c.partialSum(col)
				}
			}
			switch col {
			case pqSeries:
				err = arrowDrain(in, keys, func(v []parquet.ByteArray) { rows += int64(len(v)) })
			case pqTime, pqTTL:
				err = arrowDrain(in, i32, func(v []int32) { add(columns{time: v}) })
			case pqValue:
				err = arrowDrain(in, f32, func(v []float32) { add(columns{value: v}) })
			case pqWrote:
				err = arrowDrain(in, i64, func(v []int64) { add(columns{wrote: v}) })
			}
			if err != nil {
				return 0, 0, err
			}
		}
	}
	return rows, checksum, nil
}
