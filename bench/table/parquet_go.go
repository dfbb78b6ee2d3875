package table

import (
	"errors"
	"io"
	"math"
	"os"

	pq "github.com/parquet-go/parquet-go"

	"github.com/colsst/colsst/rowgroup"
)

type parquetGoRow struct {
	Series string  `parquet:"series,dict,zstd"`
	Time   int32   `parquet:"time,delta,zstd"`
	Value  float32 `parquet:"value,split,zstd"`
	Wrote  int64   `parquet:"wrote,delta,zstd"`
	TTL    int32   `parquet:"ttl,delta,zstd"`
}

// Numbers of the columns of a Parquet file.
const (
	pqSeries = iota
	pqTime
	pqValue
	pqWrote
	pqTTL
	pqColumns
)

// parquetGo writes row groups of so many rows, or of the library's default.
func parquetGo(name string, rows int64) subject {
	return subject{
		name: name,
		write: func(path string) (writer, error) {
			f, err := os.Create(path)
			if err != nil {
				return nil, err
			}
			// The default cuts the bounds of keys to a prefix that all share.
			o := []pq.WriterOption{pq.ColumnIndexSizeLimit(func([]string) int { return 64 })}
			if rows > 0 {
				o = append(o, pq.MaxRowsPerRowGroup(rows))
			}
			return &parquetGoWriter{f: f, w: pq.NewGenericWriter[parquetGoRow](f, o...)}, nil
		},
		open: openParquetGo,
		extra: func(r reader, _ string, add func(metric, unit string, v float64)) error {
			return r.(*parquetGoReader).rowScan(add)
		},
	}
}

type parquetGoWriter struct {
	f    *os.File
	w    *pq.GenericWriter[parquetGoRow]
	rows []parquetGoRow
}

func (w *parquetGoWriter) add(b *rowgroup.Batch) error {
	w.rows = w.rows[:0]
	for p := range parts(b) {
		key := string(p.key)
		for i, t := range p.time {
			w.rows = append(w.rows, parquetGoRow{key, t, p.value[i], p.wrote[i], p.ttl[i]})
		}
	}
	_, err := w.w.Write(w.rows)
	return err
}

func (w *parquetGoWriter) finish() error { return errors.Join(w.w.Close(), w.f.Close()) }

type parquetGoReader struct {
	parquetQueries
	*parquetGoFile
	file *os.File // or nil: another's
}

type parquetGoFile struct {
	f *pq.File
	*pages
}

func openParquetGo(path string) (reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	file, err := pq.OpenFile(f, info.Size())
	if err != nil {
		return nil, err
	}
	p := &pages{groups: []int64{0}}
	for g, rg := range file.RowGroups() {
		p.groups = append(p.groups, p.groups[g]+rg.NumRows())
		if err := p.add(rg.ColumnChunks()[pqSeries], g, &p.keys, func(x *page, ci pq.ColumnIndex, i int) {
			x.minKey, x.maxKey = string(ci.MinValue(i).ByteArray()), string(ci.MaxValue(i).ByteArray())
		}); err != nil {
			return nil, err
		}
		if err := p.add(rg.ColumnChunks()[pqTime], g, &p.times, func(x *page, ci pq.ColumnIndex, i int) {
			x.minTime, x.maxTime = ci.MinValue(i).Int32(), ci.MaxValue(i).Int32()
		}); err != nil {
			return nil, err
		}
	}
	return newParquetGoReader(&parquetGoFile{file, p}, f), nil
}

// add appends the pages of a chunk of row group g.
func (p *pages) add(c pq.ColumnChunk, g int, to *[]page, bounds func(*page, pq.ColumnIndex, int)) error {
	ci, err := c.ColumnIndex()
	if err != nil {
		return err
	}
	oi, err := c.OffsetIndex()
	if err != nil {
		return err
	}
	for i := range ci.NumPages() {
		x := page{from: p.groups[g] + oi.FirstRowIndex(i), to: p.groups[g+1]}
		if i+1 < oi.NumPages() {
			x.to = p.groups[g] + oi.FirstRowIndex(i+1)
		}
		bounds(&x, ci, i)
		*to = append(*to, x)
	}
	return nil
}

func newParquetGoReader(f *parquetGoFile, file *os.File) *parquetGoReader {
	return &parquetGoReader{parquetQueries{pages: f.pages, columns: f}, f, file}
}

func (r *parquetGoReader) session() (reader, error) {
	return newParquetGoReader(r.parquetGoFile, nil), nil
}

func (r *parquetGoReader) close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// each calls f for the pages of rows [from, to) of a column, cut to them.
func (p *parquetGoFile) each(col int, from, to int64, f func(pq.Page) error) error {
	groups := p.f.RowGroups()
	for g := p.group(from); from < to; g++ {
		end := min(to, p.groups[g+1])
		in := groups[g].ColumnChunks()[col].Pages()
		if err := in.SeekToRow(from - p.groups[g]); err != nil {
			return errors.Join(err, in.Close())
		}
		for from < end {
			pg, err := in.ReadPage()
			if err != nil {
				return errors.Join(err, in.Close())
			}
			part := pg
			if n := pg.NumRows(); n > end-from {
				part = pg.Slice(0, end-from)
			}
			err = f(part)
			from += part.NumRows()
			pq.Release(pg)
			if err != nil {
				return errors.Join(err, in.Close())
			}
		}
		if err := in.Close(); err != nil {
			return err
		}
	}
	return nil
}

// grow appends n zero values and returns them too.
func grow[T any](dst []T, n int64) (all, added []T) {
	all = append(dst, make([]T, n)...)
	return all, all[len(dst):]
}

func notEOF(_ int, err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (p *parquetGoFile) int32s(col int, from, to int64, dst []int32) ([]int32, error) {
	err := p.each(col, from, to, func(pg pq.Page) (err error) {
		var added []int32
		dst, added = grow(dst, pg.NumRows())
		return notEOF(pg.Values().(pq.Int32Reader).ReadInt32s(added))
	})
	return dst, err
}

func (p *parquetGoFile) times(from, to int64, dst []int32) ([]int32, error) {
	return p.int32s(pqTime, from, to, dst)
}

func (p *parquetGoFile) rest(from, to int64, out *columns) (err error) {
	if err := p.each(pqValue, from, to, func(pg pq.Page) error {
		var added []float32
		out.value, added = grow(out.value, pg.NumRows())
		return notEOF(pg.Values().(pq.FloatReader).ReadFloats(added))
	}); err != nil {
		return err
	}
	if err := p.each(pqWrote, from, to, func(pg pq.Page) error {
		var added []int64
		out.wrote, added = grow(out.wrote, pg.NumRows())
		return notEOF(pg.Values().(pq.Int64Reader).ReadInt64s(added))
	}); err != nil {
		return err
	}
	out.ttl, err = p.int32s(pqTTL, from, to, out.ttl)
	return err
}

func (p *parquetGoFile) span(key string, lo, hi int64) (from, to int64, err error) {
	from, to = -1, -1
	at := lo
	err = p.each(pqSeries, lo, hi, func(pg pq.Page) error {
		data, dict := pg.Data(), pg.Dictionary()
		want := int32(-1)
		for i := range dict.Len() {
			if string(dict.Index(int32(i)).ByteArray()) == key {
				want = int32(i)
				break
			}
		}
		for i, x := range data.Int32()[:pg.NumRows()] {
			if x == want {
				if from < 0 {
					from = at + int64(i)
				}
				to = at + int64(i) + 1
			}
		}
		at += pg.NumRows()
		return nil
	})
	return from, to, err
}

// scan reads the columns of each row group through the readers of typed pages.
func (r *parquetGoReader) scan(sum bool) (rows int64, checksum uint64, err error) {
	var c columns
	for _, rg := range r.f.RowGroups() {
		for col, chunk := range rg.ColumnChunks() {
			in := chunk.Pages()
			for {
				pg, err := in.ReadPage()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					return 0, 0, errors.Join(err, in.Close())
				}
				c.reset()
				if col == pqSeries {
					data := pg.Data()
					rows += int64(len(data.Int32()))
				} else if err = c.page(col, pg); err == nil && sum {
					checksum += c.partialSum(col)
				}
				pq.Release(pg)
				if err != nil {
					return 0, 0, errors.Join(err, in.Close())
				}
			}
			if err := in.Close(); err != nil {
				return 0, 0, err
			}
		}
	}
	return rows, checksum, nil
}

// page reads the values of a page of column col; TTLs go where times do.
func (c *columns) page(col int, pg pq.Page) error {
	n := int(pg.NumRows())
	switch col {
	case pqTime, pqTTL:
		c.time = sized(c.time, n)
		return notEOF(pg.Values().(pq.Int32Reader).ReadInt32s(c.time))
	case pqValue:
		c.value = sized(c.value, n)
		return notEOF(pg.Values().(pq.FloatReader).ReadFloats(c.value))
	default:
		c.wrote = sized(c.wrote, n)
		return notEOF(pg.Values().(pq.Int64Reader).ReadInt64s(c.wrote))
	}
}

func sized[T any](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n)
	}
	return v[:n]
}

// partialSum is what the values of one column give to the checksum of rows.
func (c *columns) partialSum(col int) (s uint64) {
	switch col {
	case pqTime:
		for _, v := range c.time {
			s += uint64(v)
		}
	case pqTTL:
		for _, v := range c.time {
			s += uint64(v) * 7
		}
	case pqValue:
		for _, v := range c.value {
			s += uint64(math.Float32bits(v)) * 3
		}
	case pqWrote:
		for _, v := range c.wrote {
			s += uint64(v) * 5
		}
	}
	return s
}

// rowScan is a scan through the interface of rows, which most users take.
func (r *parquetGoReader) rowScan(add func(metric, unit string, v float64)) error {
	in := pq.NewGenericReader[parquetGoRow](r.f)
	defer in.Close() //nolint:errcheck // it was only read
	buffer := make([]parquetGoRow, 1024)
	rows, err := 0, error(nil)
	took := cpuOf(func() {
		for err == nil {
			var n int
			n, err = in.Read(buffer)
			rows += n
		}
	})
	if !errors.Is(err, io.EOF) {
		return err
	}
	add("scan_by_rows_mpts_per_cpu_s", "", float64(rows)/took.Seconds()/1e6)
	return nil
}
