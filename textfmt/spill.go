package textfmt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/internal/atomicfile"
	"github.com/colsst/colsst/rowgroup"
)

// run is a temporary file of sorted rows, as blocks one after another:
//
//	+-----------+-----------+---------------------------------------------+
//	| length of | CRC-32C   | body: rows, partitions (start, key), then   |
//	| body, u32 | of body   | by column values, cell states, exceptions;  |
//	|           |           | metadata of the rows                        |
//	+-----------+-----------+---------------------------------------------+
//
// Numbers are little-endian; counts, lengths and positions uvarints; integers
// of columns the zigzag varints of their differences; floats their bits. The
// file lives no longer than the process, so the form has no version.
type run struct {
	file *atomicfile.TempFile
	size int64
	rows int // of a block
	buf  []byte
}

type runs []*run

const (
	blockHeader = 8
	blockBytes  = 64 << 10 // about, of the values in memory
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// newRun makes an empty run.
func newRun(dir string) (*run, error) {
	f, err := atomicfile.Temp(dir)
	if err != nil {
		return nil, fmt.Errorf("temporary file: %w", err)
	}
	return &run{file: f}, nil
}

func (r *run) close() {
	_ = r.file.Close() // nobody reads it again
	r.buf = nil
}

func (rs runs) close() {
	for _, r := range rs {
		r.close()
	}
}

// blockRows decides how many rows the blocks have.
func (r *run) blockRows(t *sortedRows) int {
	r.rows = int(max(1, min(batchRows, blockBytes*int64(len(t.rows))/max(t.size, 1))))
	return r.rows
}

// writeAll writes all batches of it as blocks.
func (r *run) writeAll(s *rowgroup.Schema, it rowgroup.Iter) error {
	b := rowgroup.NewBatch(s)
	w := &fileWriter{f: r.file}
	for {
		more, err := it.Next(b)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		r.rows = max(r.rows, b.Len())
		r.buf = appendBlock(append(r.buf[:0], make([]byte, blockHeader)...), b)
		body := r.buf[blockHeader:]
		if int64(len(body)) > math.MaxUint32 {
			return errors.New("rows of more than 4 GiB cannot be sorted")
		}
		binary.LittleEndian.PutUint32(r.buf, uint32(len(body)))
		binary.LittleEndian.PutUint32(r.buf[4:], crc32.Checksum(body, castagnoli))
		r.size += int64(len(r.buf))
		if err := w.write(r.buf); err != nil {
			return fmt.Errorf("temporary file: %w", err)
		}
	}
	r.buf = nil
	if err := w.flush(); err != nil {
		return fmt.Errorf("temporary file: %w", err)
	}
	return nil
}

// fileWriter writes large pieces.
type fileWriter struct {
	f   io.Writer
	buf []byte
}

func (w *fileWriter) write(p []byte) error {
	if w.buf = append(w.buf, p...); len(w.buf) < 4*blockBytes {
		return nil
	}
	return w.flush()
}

func (w *fileWriter) flush() error {
	_, err := w.f.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}

// read reads the block at a position into b and moves the position behind it.
// buf is memory that it may use; it returns it.
func (r *run) read(at *int64, b *rowgroup.Batch, buf []byte) ([]byte, error) {
	var header [blockHeader]byte
	if _, err := r.file.ReadAt(header[:], *at); err != nil {
		return buf, fmt.Errorf("temporary file: %w", err)
	}
	n := int64(binary.LittleEndian.Uint32(header[:]))
	if n > r.size-*at-blockHeader {
		return buf, r.damage(*at, "a block of %d bytes", n)
	}
	buf = append(buf[:0], make([]byte, n)...)
	if _, err := r.file.ReadAt(buf, *at+blockHeader); err != nil {
		return buf, fmt.Errorf("temporary file: %w", err)
	}
	if crc32.Checksum(buf, castagnoli) != binary.LittleEndian.Uint32(header[4:]) {
		return buf, r.damage(*at, "checksum mismatch")
	}
	d := blockReader{b: buf}
	d.block(b)
	if d.bad || len(d.b) > 0 {
		return buf, r.damage(*at, "malformed rows")
	}
	*at += blockHeader + n
	return buf, nil
}

func (r *run) damage(at int64, format string, args ...any) error {
	return &encoding.CorruptError{File: "temporary file", Part: "sorted rows", Offset: at, Reason: fmt.Sprintf(format, args...)}
}

// appendBlock appends the body of a block.
func appendBlock(dst []byte, b *rowgroup.Batch) []byte {
	s := b.Schema()
	n := b.Len()
	dst = binary.AppendUvarint(dst, uint64(n))
	if len(s.Columns(rowgroup.PartitionKey)) > 0 {
		dst = binary.AppendUvarint(dst, uint64(b.NumPartitions()))
		for p := range b.NumPartitions() {
			dst = binary.AppendUvarint(dst, uint64(b.Partition(p).Start))
			dst = appendBytes(dst, b.Key(p))
		}
	}
	from, _ := s.Range(rowgroup.Clustering)
	for col := from; col < s.NumColumns(); col++ {
		switch s.Column(col).Type.Physical().Class() {
		case rowgroup.ClassInt32:
			dst = appendInts(dst, *b.Int32s(col))
		case rowgroup.ClassInt64:
			dst = appendInts(dst, *b.Int64s(col))
		case rowgroup.ClassFloat32:
			for _, v := range *b.Float32s(col) {
				dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
			}
		case rowgroup.ClassFloat64:
			for _, v := range *b.Float64s(col) {
				dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
			}
		case rowgroup.ClassBytes:
			for i := range n {
				dst = appendBytes(dst, b.Bytes(col).At(i))
			}
		}
		m := b.CellMeta(col)
		dst = binary.AppendUvarint(dst, uint64(len(m.Cells)))
		for _, c := range m.Cells {
			dst = append(dst, byte(c))
		}
		dst = binary.AppendUvarint(dst, uint64(len(m.Exceptions)))
		for _, e := range m.Exceptions {
			dst = binary.AppendUvarint(dst, uint64(e.Row))
			dst = appendBytes(dst, e.Value)
		}
	}
	m := b.Meta()
	dst = appendOptional(dst, m.Liveness)
	dst = appendOptional(dst, m.WriteTimes)
	dst = appendOptional(dst, m.TTLs)
	return appendOptional(dst, m.Expiries)
}

func appendBytes(dst, v []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(v))), v...)
}

type integer interface {
	~uint8 | ~int32 | ~int64
}

func appendInts[T integer](dst []byte, values []T) []byte {
	before := int64(0)
	for _, v := range values {
		dst = binary.AppendVarint(dst, int64(v)-before)
		before = int64(v)
	}
	return dst
}

// appendOptional appends values that may be none at all.
func appendOptional[T integer](dst []byte, values []T) []byte {
	return appendInts(binary.AppendUvarint(dst, uint64(len(values))), values)
}

// blockReader reads the body of a block. Once bad it reads zeros.
type blockReader struct {
	b   []byte
	bad bool
}

func (d *blockReader) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	return d.moved(v, n)
}

func (d *blockReader) moved(v uint64, n int) uint64 {
	if n <= 0 || d.bad {
		d.bad = true
		return 0
	}
	d.b = d.b[n:]
	return v
}

// count reads a number of things that take a byte or more each.
func (d *blockReader) count() int {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		d.bad = true
		return 0
	}
	return int(n)
}

func (d *blockReader) bytes(n int) []byte {
	if d.bad || n > len(d.b) {
		d.bad = true
		return nil
	}
	v := d.b[:n:n]
	d.b = d.b[n:]
	return v
}

func (d *blockReader) block(b *rowgroup.Batch) {
	b.Reset()
	s := b.Schema()
	n := int(min(d.uvarint(), batchRows+1))
	if n > batchRows {
		d.bad, n = true, 0
	}
	if len(s.Columns(rowgroup.PartitionKey)) > 0 {
		for range d.count() {
			start := int(min(d.uvarint(), math.MaxInt32))
			b.BeginPartition(d.bytes(d.count())).Start = start
		}
	}
	from, _ := s.Range(rowgroup.Clustering)
	for col := from; col < s.NumColumns() && !d.bad; col++ {
		switch s.Column(col).Type.Physical().Class() {
		case rowgroup.ClassInt32:
			readInts(d, b.Int32s(col), n)
		case rowgroup.ClassInt64:
			readInts(d, b.Int64s(col), n)
		case rowgroup.ClassFloat32:
			values := b.Float32s(col)
			for v := d.bytes(4 * n); len(v) > 0; v = v[4:] {
				*values = append(*values, math.Float32frombits(binary.LittleEndian.Uint32(v)))
			}
		case rowgroup.ClassFloat64:
			values := b.Float64s(col)
			for v := d.bytes(8 * n); len(v) > 0; v = v[8:] {
				*values = append(*values, math.Float64frombits(binary.LittleEndian.Uint64(v)))
			}
		case rowgroup.ClassBytes:
			values := b.Bytes(col)
			for i := 0; i < n && !d.bad; i++ {
				d.bad = values.Append(d.bytes(d.count())) != nil || d.bad
			}
		}
		m := b.CellMeta(col)
		for _, c := range d.bytes(d.count()) {
			m.Cells = append(m.Cells, rowgroup.Cell(c))
		}
		for range d.count() {
			row := int(min(d.uvarint(), math.MaxInt32))
			m.Exceptions = append(m.Exceptions, rowgroup.Exception{Row: row, Value: append([]byte(nil), d.bytes(d.count())...)})
		}
	}
	m := b.Meta()
	readInts(d, &m.Liveness, d.count())
	readInts(d, &m.WriteTimes, d.count())
	readInts(d, &m.TTLs, d.count())
	readInts(d, &m.Expiries, d.count())
	b.SetLen(n)
}

func readInts[T integer](d *blockReader, values *[]T, n int) {
	before := int64(0)
	for i := 0; i < n && !d.bad; i++ {
		v, k := binary.Varint(d.b)
		before += int64(d.moved(uint64(v), k))
		*values = append(*values, T(before))
	}
}
