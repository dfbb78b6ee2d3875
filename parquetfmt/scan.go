package parquetfmt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/parquetfmt/internal/page"
	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/simd"
)

// batchRows is how many rows of a file a batch is made of at most.
const batchRows = 8192

// scan reads a file's rows.
type scan struct {
	ctx   context.Context
	f     *Reader
	o     rowgroup.ScanOptions
	key   []byte // the only partition wanted, unless all are
	all   bool
	codec *page.Codec
	keys  int // columns of the partition key
	err   error
	done  bool

	chunks  []*chunkReader // by leaf; nil: not wanted
	columns []*readColumn  // by column number; nil: not wanted
	rows    []*readColumn  // of metadata of rows that are flat
	cells   []*readColumn  // of metadata of cells that are flat
	multi   []*readColumn  // cells of multi-cell columns, which are read by the row
	group   int            // the next row group
	first   int64          // row of the file that the group at hand begins with
	end     int64          // and that it ends before
	ranges  []rowRange     // of the group at hand, yet to be read
	at      int64          // row of the group that comes next

	live  rowgroup.LiveFilter
	build builder
}

// rowRange is rows [from, to) of a row group.
type rowRange struct{ from, to int64 }

// readColumn is a column's values of the rows at hand.
type readColumn struct {
	*shape
	chunk   *chunkReader   // of a flat one
	parts   []*chunkReader // of others
	entries []*entries
	values  page.Values // one a row; of other than flat ones serialised
	nulls   []bool      // one a row, or none
	inRuns  bool        // values and nulls are one a run of rows, which is up to ends
	ends    []int
	run     int // that of the row asked for last
	asm     assembler
}

func newScan(ctx context.Context, f *Reader, o rowgroup.ScanOptions, key []byte) rowgroup.Iter {
	s := &scan{ctx: ctx, f: f, o: o, key: key, all: key == nil, codec: page.TakeCodec()}
	s.chunks = make([]*chunkReader, len(f.leaves))
	s.columns = make([]*readColumn, len(f.plan.columns))
	for i, x := range f.plan.columns {
		role := f.schema.Role(i)
		if role == rowgroup.Static || role == rowgroup.Regular {
			if o.Columns != nil && !slices.Contains(o.Columns, i) && !s.o.Live {
				continue
			}
			// A lossless file has the cells of such a column elsewhere.
			if f.plan.lossless && f.plan.cells[i].cells != nil {
				continue
			}
		}
		s.columns[i] = s.column(x)
		s.columns[i].inRuns = role == rowgroup.PartitionKey && x.flat()
	}
	s.keys = len(f.schema.KeyTypes())
	s.build.init(s)
	s.live.Reset(o.Now, false)
	return s
}

// column makes the column of a shape ready to be read.
func (s *scan) column(x *shape) *readColumn {
	if x == nil {
		return nil
	}
	c := &readColumn{shape: x}
	for i := range x.leaves {
		r := s.chunks[x.leaf+i]
		if r == nil {
			r = &chunkReader{codec: s.codec}
			s.chunks[x.leaf+i] = r
		}
		c.parts = append(c.parts, r)
	}
	if x.flat() {
		c.chunk, c.parts = c.parts[0], nil
		return c
	}
	for range c.parts {
		c.entries = append(c.entries, new(entries))
	}
	c.asm = assembler{leaves: c.entries, first: x.leaf}
	return c
}

// Close frees what the scan holds.
func (s *scan) Close() error {
	if s.codec != nil {
		s.codec.Return()
		s.codec = nil
	}
	s.done = true
	return nil
}

// Next fills b with the next rows.
func (s *scan) Next(b *rowgroup.Batch) (bool, error) {
	for s.err == nil && !s.done {
		if s.err = s.ctx.Err(); s.err != nil {
			break
		}
		more, err := s.next(b)
		if err != nil {
			s.err = s.f.named(err)
			break
		}
		if !more {
			s.done = true
			break
		}
		if s.o.Live {
			s.live.Apply(b)
		}
		if b.NumPartitions() == 0 {
			continue
		}
		b.Strip(&s.o)
		return true, nil
	}
	return false, s.err
}

// next reads the next rows of the file as a batch, which may be empty.
func (s *scan) next(b *rowgroup.Batch) (more bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = encoding.Corruptf("file", "row group %d: %v", s.group-1, r)
		}
	}()
	for len(s.ranges) == 0 {
		if s.group == len(s.f.meta.RowGroups) {
			if s.build.loss != nil {
				return s.build.loss.finish(&s.build, b)
			}
			return false, nil
		}
		if err := s.openGroup(); err != nil {
			return false, err
		}
	}
	r := &s.ranges[0]
	n := int(min(r.to-r.from, batchRows))
	if err := s.read(r.from, n); err != nil {
		return false, err
	}
	first := s.first + r.from
	if r.from += int64(n); r.from == r.to {
		s.ranges = s.ranges[1:]
	}
	return true, s.build.batch(b, n, first)
}

// openGroup begins the next row group.
func (s *scan) openGroup() error {
	g := &s.f.meta.RowGroups[s.group]
	s.group++
	s.first, s.end = s.end, s.end+g.NumRows
	ranges, err := s.wanted(s.group - 1)
	if err != nil {
		return err
	}
	if s.ranges, s.at = ranges, 0; len(ranges) == 0 {
		return nil
	}
	jumps := len(ranges) > 1 || ranges[0].to-ranges[0].from < g.NumRows
	for i, c := range s.chunks {
		if c == nil {
			continue
		}
		m := &g.Columns[i]
		var index []format.PageLocation
		if jumps {
			if index, err = s.f.offsetIndex(m); err != nil {
				return fmt.Errorf("row group %d, column %s: offset index: %w", s.group-1, s.f.leaves[i], err)
			}
		}
		c.open(s.f.r, s.f.leaves[i], s.group-1, g.NumRows, &m.MetaData, index)
	}
	for _, c := range s.columns {
		c.reset()
	}
	for _, list := range [][]*readColumn{s.rows, s.cells, s.multi} {
		for _, c := range list {
			c.reset()
		}
	}
	return nil
}

// reset forgets the entries of another row group.
func (c *readColumn) reset() {
	if c == nil {
		return
	}
	for i, e := range c.entries {
		*e = entries{}
		e.values.Init(c.parts[i].node.typ, int(c.parts[i].node.length))
	}
}

// read reads rows [from, from+n) of the row group into the columns.
func (s *scan) read(from int64, n int) error {
	skip := from - s.at
	s.at = from + int64(n)
	for _, list := range [][]*readColumn{s.columns, s.rows, s.cells} {
		for _, c := range list {
			if c == nil {
				continue
			}
			if err := c.read(skip, n); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *readColumn) read(skip int64, n int) error {
	if c.chunk != nil {
		if err := c.chunk.skip(skip); err != nil {
			return err
		}
		c.values.Init(c.chunk.node.typ, int(c.chunk.node.length))
		var err error
		if c.run = 0; c.inRuns {
			c.ends, c.nulls, err = c.chunk.readRuns(&c.values, c.ends[:0], c.nulls[:0], n)
			return err
		}
		c.nulls, err = c.chunk.read(&c.values, c.nulls[:0], n)
		return err
	}
	c.values.Init(format.ByteArray, 0)
	c.nulls = c.nulls[:0]
	for ; skip > 0; skip-- {
		if err := c.assemble(false); err != nil {
			return err
		}
	}
	for range n {
		if err := c.assemble(true); err != nil {
			return err
		}
	}
	return nil
}

// assemble takes one row of a column of several leaves, and appends its value.
func (c *readColumn) assemble(keep bool) error {
	if err := c.ready(); err != nil {
		return err
	}
	v, ok, err := c.asm.value(c.asm.scratch[:0], c.shape)
	if err == nil {
		err = c.rowEnded()
	}
	c.asm.scratch = v[:0]
	if err != nil {
		return fmt.Errorf("row group %d, column %s: %w", c.parts[0].group, c.node, err)
	}
	if !keep {
		return nil
	}
	if !ok && len(c.nulls) == 0 {
		c.nulls = slices.Grow(c.nulls, c.values.Len())[:c.values.Len()]
		clear(c.nulls)
	}
	if !ok || len(c.nulls) > 0 {
		c.nulls = append(c.nulls, !ok)
	}
	if !ok {
		v = nil
	}
	return c.values.Str.Append(v)
}

// ready reads pages until the next row is whole in every leaf.
func (c *readColumn) ready() error {
	for i, e := range c.entries {
		// Another row begins behind it, or the chunk has no more.
		at := e.entry + 1
		for at < len(e.reps) && e.reps[at] > 0 {
			at++
		}
		if at < len(e.defs) || e.entry < len(e.defs) && c.parts[i].values == 0 {
			continue
		}
		if err := c.parts[i].fill(e, 1); err != nil {
			return err
		}
	}
	return nil
}

// rowEnded checks that a row took what its leaves have of it.
func (c *readColumn) rowEnded() error {
	for _, e := range c.entries {
		if e.rep() != 0 {
			return errLevels
		}
	}
	return nil
}

// offsetIndex reads the offset index of a column chunk, if it has one.
func (f *Reader) offsetIndex(c *format.ColumnChunk) ([]format.PageLocation, error) {
	var x format.OffsetIndex
	ok, err := f.indexStruct(c.OffsetIndexOffset, c.OffsetIndexLength, &x)
	if !ok || err != nil {
		return nil, err
	}
	last := int64(-1)
	for _, p := range x.PageLocations {
		if p.FirstRowIndex <= last {
			return nil, encoding.Corruptf("offset index", "page at row %d behind one at %d", p.FirstRowIndex, last)
		}
		last = p.FirstRowIndex
	}
	return x.PageLocations, nil
}

func (f *Reader) columnIndex(c *format.ColumnChunk) (*format.ColumnIndex, error) {
	var x format.ColumnIndex
	ok, err := f.indexStruct(c.ColumnIndexOffset, c.ColumnIndexLength, &x)
	if !ok || err != nil {
		return nil, err
	}
	return &x, nil
}

func (f *Reader) indexStruct(off int64, length int32, v any) (ok bool, err error) {
	if off == 0 || length == 0 {
		return false, nil
	}
	if off < 0 || length < 0 || off > f.size-int64(length) {
		return false, encoding.Corruptf("page index", "%d bytes at %d", length, off)
	}
	b := make([]byte, length)
	if err := readAt(f.r, b, off); err != nil {
		return false, err
	}
	_, err = decodeStruct(b, v)
	return true, err
}

// builder makes batches of the columns that were read.
type builder struct {
	s       *scan
	last    []byte // key of the partition at hand
	begun   bool
	parts   [][]byte
	key     []byte
	value   []byte
	written *readColumn
	delay   *readColumn
	ttl     *readColumn
	expiry  *readColumn
	loss    *lossless
}

func (x *builder) init(s *scan) {
	x.s = s
	r := &s.f.plan.rows
	if s.f.plan.lossless {
		x.loss = newLossless(s)
		return
	}
	if s.o.WithoutMetadata && !s.o.Live {
		return
	}
	x.written, x.delay, x.ttl, x.expiry = s.column(r.writeTime), s.column(r.delay), s.column(r.ttl), s.column(r.expiry)
	for _, c := range []*readColumn{x.written, x.delay, x.ttl, x.expiry} {
		if c != nil {
			s.rows = append(s.rows, c)
		}
	}
}

// fail is an error of a value of row i of those at hand.
func (x *builder) fail(i int, first int64, name string, err error) error {
	return &ValueError{Row: first + int64(i), Column: name, Reason: err}
}

// batch fills b with n rows, of which the first has this number in the file.
func (x *builder) batch(b *rowgroup.Batch, n int, first int64) error {
	b.Clear()
	if x.loss != nil {
		return x.loss.batch(x, b, n, first)
	}
	s := x.s
	keys, clustering := s.keys, s.f.schema.Columns(rowgroup.Clustering)
	from := 0
	for i := 0; i < n; {
		// A partition's rows.
		end := n
		for k := range keys {
			end = min(end, s.columns[k].sameUntil(i, n))
		}
		key, err := x.keyAt(i, first)
		if err != nil {
			return err
		}
		if !x.s.all && !bytes.Equal(key, x.s.key) {
			if err := x.rows(b, from, i, first); err != nil {
				return err
			}
			i, from = end, end
			continue
		}
		if err := x.begin(b, b.Len()+i-from, key, i, first); err != nil {
			return err
		}
		if len(clustering) > 0 && x.onlyStatic(i) {
			if err := x.rows(b, from, i, first); err != nil {
				return err
			}
			from = i + 1
		}
		i = end
	}
	return x.rows(b, from, n, first)
}

// begin begins the partition of row i with this key, or goes on with it.
func (x *builder) begin(b *rowgroup.Batch, at int, key []byte, i int, first int64) error {
	h := b.BeginPartition(key)
	h.Start = at
	if x.begun && bytes.Equal(key, x.last) {
		h.Continued = true
		return x.pad(b)
	}
	x.begun, x.last = true, append(x.last[:0], key...)
	p := b.NumPartitions() - 1
	from, to := x.s.f.schema.Range(rowgroup.Static)
	for col := from; col < to; col++ {
		if x.s.columns[col] == nil {
			continue
		}
		v, ok, err := x.s.columns[col].value(x.value[:0], i)
		x.value = v
		if err != nil {
			return x.fail(i, first, x.s.f.schema.Column(col).Name, err)
		}
		if ok {
			b.Partition(p).Static = rowgroup.StaticFull
		}
		if err := b.PutValue(col, p, v, ok); err != nil {
			return err
		}
	}
	return nil
}

// pad gives the static columns an absent value for a partition that goes on.
func (x *builder) pad(b *rowgroup.Batch) error {
	from, to := x.s.f.schema.Range(rowgroup.Static)
	for col := from; col < to; col++ {
		if x.s.columns[col] != nil {
			if err := b.PutValue(col, b.NumPartitions()-1, nil, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// onlyStatic reports whether row i stands for a partition's static row alone: all
// its clustering is null.
func (x *builder) onlyStatic(i int) bool {
	if !x.s.f.plan.own || len(x.s.f.schema.Columns(rowgroup.Static)) == 0 {
		return false
	}
	from, to := x.s.f.schema.Range(rowgroup.Clustering)
	for col := from; col < to; col++ {
		if c := x.s.columns[col]; len(c.nulls) == 0 || !c.nulls[i] {
			return false
		}
	}
	from, to = x.s.f.schema.Range(rowgroup.Regular)
	for col := from; col < to; col++ {
		if c := x.s.columns[col]; c != nil && (len(c.nulls) == 0 || !c.nulls[i]) {
			return false
		}
	}
	return true
}

// sameValue reports whether value i is that before it, bit for bit.
func sameValue(v *page.Values, i int) bool {
	switch v.Type {
	case format.Boolean, format.Int32:
		return v.I32[i] == v.I32[i-1]
	case format.Int64:
		return v.I64[i] == v.I64[i-1]
	case format.Float:
		return math.Float32bits(v.F32[i]) == math.Float32bits(v.F32[i-1])
	case format.Double:
		return math.Float64bits(v.F64[i]) == math.Float64bits(v.F64[i-1])
	}
	return bytes.Equal(v.Str.At(i), v.Str.At(i-1))
}

var errNullKey = errors.New("a null in the partition key")

// keyAt is the partition key of row i, valid until the next call.
func (x *builder) keyAt(i int, first int64) ([]byte, error) {
	types := x.s.f.schema.KeyTypes()
	x.key = x.key[:0]
	if len(types) == 0 {
		return x.key, nil
	}
	for len(x.parts) < len(types) {
		x.parts = append(x.parts, nil)
	}
	for k := range types {
		v, ok, err := x.s.columns[k].value(x.parts[k][:0], i)
		x.parts[k] = v
		if err == nil && !ok {
			err = errNullKey
		}
		if err == nil && len(v) > encoding.MaxKeyBytes {
			err = fmt.Errorf("a key of %d bytes; the limit is %d", len(v), encoding.MaxKeyBytes)
		}
		if err != nil {
			return nil, x.fail(i, first, x.s.f.schema.Column(k).Name, err)
		}
	}
	x.key = rowgroup.AppendKey(x.key, types, x.parts[:len(types)])
	if len(x.key) > encoding.MaxKeyBytes {
		return nil, x.fail(i, first, x.s.f.schema.Column(0).Name, fmt.Errorf("a key of %d bytes; the limit is %d", len(x.key), encoding.MaxKeyBytes))
	}
	return x.key, nil
}

// sameUntil is the end, at most n, of the rows from i on that have its value.
func (c *readColumn) sameUntil(i, n int) int {
	if c.inRuns {
		return c.ends[c.slot(i)]
	}
	end := i + 1
	for end < n && (len(c.nulls) == 0 || c.nulls[end] == c.nulls[end-1]) && sameValue(&c.values, end) {
		end++
	}
	return end
}

// slot is the place of row i among the runs. Rows are asked for in order, more
// or less.
func (c *readColumn) slot(i int) int {
	if c.run > 0 && c.ends[c.run-1] > i {
		c.run = 0
	}
	for c.ends[c.run] <= i {
		c.run++
	}
	return c.run
}

// value appends the value of row i, serialised.
func (c *readColumn) value(dst []byte, i int) (_ []byte, ok bool, err error) {
	if c.inRuns {
		i = c.slot(i)
	}
	if len(c.nulls) > 0 && c.nulls[i] {
		return dst, false, nil
	}
	if c.chunk == nil {
		return append(dst, c.values.Str.At(i)...), true, nil
	}
	dst, err = appendLeaf(dst, c.shape, &c.values, i)
	return dst, true, err
}

// rows appends rows [from, to) to b, whose partitions are begun.
func (x *builder) rows(b *rowgroup.Batch, from, to int, first int64) error {
	if from >= to {
		return nil
	}
	at := b.Len()
	s := x.s.f.schema
	x.meta(b, from, to, at) // before times are moved
	for col, c := range x.s.columns {
		if role := s.Role(col); c == nil || role == rowgroup.PartitionKey || role == rowgroup.Static {
			continue
		}
		if err := x.append(b, col, c, from, to, at, first); err != nil {
			return err
		}
	}
	b.SetLen(at + to - from)
	return nil
}

// move appends values [from, to) of src, all of which become those of a dst that
// has none.
func move[T any](dst, src *[]T, from, to int) {
	if len(*dst) == 0 && from == 0 && to == len(*src) {
		*dst, *src = *src, *dst
		return
	}
	*dst = append(*dst, (*src)[from:to]...)
}

// append appends values [from, to) to a column of b that has at of them.
func (x *builder) append(b *rowgroup.Batch, col int, c *readColumn, from, to, at int, first int64) error {
	bulk := true
	switch t := c.typ; c.form {
	case formInt32, formBool:
		v := c.values.I32[from:to]
		if least, greatest := limitsOf(t); least != math.MinInt32 || greatest != math.MaxInt32 {
			if lo, hi := simd.MinMaxInt32(v); int64(lo) < least || int64(hi) > greatest {
				i := from + slices.IndexFunc(v, func(x int32) bool { return int64(x) < least || int64(x) > greatest })
				return x.fail(i, first, c.name, fmt.Errorf("%d is no %s", c.values.I32[i], t))
			}
		}
		move(b.Int32s(col), &c.values.I32, from, to)
	case formInt64:
		v := c.values.I64[from:to]
		if t.Kind == rowgroup.KindTime {
			if i := slices.IndexFunc(v, func(n int64) bool { return !validTime(n) }); i >= 0 {
				return x.fail(from+i, first, c.name, errTime)
			}
		}
		if t.Kind == rowgroup.KindNumeric {
			least, greatest := limitsOf(t)
			if lo, hi := simd.MinMaxInt64(v); lo < least || hi > greatest {
				i := from + slices.IndexFunc(v, func(x int64) bool { return x < least || x > greatest })
				return x.fail(i, first, c.name, fmt.Errorf("%d is no %s", c.values.I64[i], t))
			}
		}
		move(b.Int64s(col), &c.values.I64, from, to)
	case formCounter:
		move(b.Int64s(col), &c.values.I64, from, to)
	case formSeconds:
		for _, v := range c.values.I64[from:to] {
			*b.Int64s(col) = append(*b.Int64s(col), floorDiv(v, 1000))
		}
	case formUint32:
		for _, v := range c.values.I32[from:to] {
			*b.Int64s(col) = append(*b.Int64s(col), int64(uint32(v)))
		}
	case formFloat:
		move(b.Float32s(col), &c.values.F32, from, to)
	case formDouble:
		move(b.Float64s(col), &c.values.F64, from, to)
	case formBytes, formFixed:
		if bulk = t.Kind == rowgroup.KindBlob || c.form == formFixed && t.Kind != rowgroup.KindNumeric; bulk {
			if err := b.Bytes(col).AppendFrom(&c.values.Str, from, to); err != nil {
				return err
			}
		}
	case formText:
		for i := from; i < to && bulk; i++ {
			bulk = rowgroup.Valid(t, c.values.Str.At(i)) == nil
		}
		if bulk {
			if err := b.Bytes(col).AppendFrom(&c.values.Str, from, to); err != nil {
				return err
			}
		}
	default:
		bulk = false
	}
	if !bulk {
		for i := from; i < to; i++ {
			v, ok, err := c.value(x.value[:0], i)
			x.value = v
			if err != nil {
				return x.fail(i, first, c.name, err)
			}
			if err := b.PutValue(col, at+i-from, v, ok); err != nil {
				return err
			}
		}
		return nil
	}
	m := b.CellMeta(col)
	if len(c.nulls) == 0 && len(m.Cells) == 0 {
		return nil
	}
	if n := len(m.Cells); n < at {
		m.Cells = slices.Grow(m.Cells, at-n)[:at]
		clear(m.Cells[n:])
	}
	for i := from; i < to; i++ {
		state := rowgroup.CellAsRow
		if len(c.nulls) > 0 && c.nulls[i] {
			state = rowgroup.CellAbsent
		}
		m.Cells = append(m.Cells, state)
	}
	return nil
}

// limitsOf are the least and greatest integers of a type.
func limitsOf(t rowgroup.Type) (least, greatest int64) {
	switch t.Kind {
	case rowgroup.KindNumeric:
		for range t.Precision {
			greatest = 10*greatest + 9
		}
		return -greatest, greatest
	case rowgroup.KindTinyint:
		return math.MinInt8, math.MaxInt8
	case rowgroup.KindSmallint:
		return math.MinInt16, math.MaxInt16
	case rowgroup.KindUint8:
		return 0, math.MaxUint8
	case rowgroup.KindUint16:
		return 0, math.MaxUint16
	}
	return math.MinInt32, math.MaxInt32
}

// meta appends the metadata of rows.
func (x *builder) meta(b *rowgroup.Batch, from, to, at int) {
	m := b.Meta()
	if x.written == nil && x.delay == nil && x.ttl == nil && x.expiry == nil {
		return
	}
	if x.uniform(m, from, to, at) {
		return
	}
	number := func(c *readColumn, i int) (v int64, ok bool) {
		if c == nil || len(c.nulls) > 0 && c.nulls[i] {
			return 0, false
		}
		if c.values.Type == format.Int32 {
			return int64(c.values.I32[i]), true
		}
		return c.values.I64[i], true
	}
	for i := from; i < to; i++ {
		live := rowgroup.LivenessLive
		written, _ := number(x.written, i)
		if x.delay != nil {
			var there bool
			if written, there = number(x.delay, i); there {
				c := x.s.columns[x.s.f.plan.timeColumn]
				if t, ok := number(c, i); ok {
					if c.form == formSeconds {
						t = floorDiv(t, 1000)
					}
					us, _ := micros(t, x.s.f.plan.timeUnit)
					written += us
				}
			}
		}
		ttl, expires := number(x.ttl, i)
		expiry, known := number(x.expiry, i)
		switch {
		case expires && known:
			live = rowgroup.LivenessExpiring
		case expires && ttl > 0: // a file of others: it was written when it was written
			live, expiry = rowgroup.LivenessExpiring, floorDiv(written, 1_000_000)+ttl
		case known && !expires:
			live = rowgroup.LivenessExpiring
		}
		m.Liveness = append(pad(m.Liveness, at), live)
		m.WriteTimes = append(pad(m.WriteTimes, at), written)
		m.TTLs = append(pad(m.TTLs, at), int32(ttl))
		m.Expiries = append(pad(m.Expiries, at), expiry)
		at++
	}
}

// uniform appends the metadata of rows that all have a write time and those that
// all expire or none does, column by column; it reports whether they are such.
func (x *builder) uniform(m *rowgroup.RowMeta, from, to, at int) bool {
	whole := func(c *readColumn) bool { return c != nil && len(c.nulls) == 0 }
	if !whole(x.written) || x.delay != nil {
		return false
	}
	expiring := whole(x.ttl)
	switch {
	case expiring && x.expiry == nil && !x.s.f.plan.own:
		return false // by their TTLs
	case expiring && !whole(x.expiry), !expiring && (x.ttl != nil || x.expiry != nil):
		return false
	}
	live := rowgroup.LivenessLive
	if expiring {
		live = rowgroup.LivenessExpiring
		m.TTLs = appendInt32s(pad(m.TTLs, at), x.ttl, from, to)
		m.Expiries = appendInt64s(pad(m.Expiries, at), x.expiry, from, to)
	} else {
		m.TTLs, m.Expiries = pad(m.TTLs, at+to-from), pad(m.Expiries, at+to-from)
	}
	m.Liveness = slices.Grow(pad(m.Liveness, at), to-from)
	for range to - from {
		m.Liveness = append(m.Liveness, live)
	}
	m.WriteTimes = appendInt64s(pad(m.WriteTimes, at), x.written, from, to)
	return true
}

// appendInt64s appends values [from, to) of a column of integers.
func appendInt64s(dst []int64, c *readColumn, from, to int) []int64 {
	if c.values.Type == format.Int64 {
		return append(dst, c.values.I64[from:to]...)
	}
	for _, v := range c.values.I32[from:to] {
		dst = append(dst, int64(v))
	}
	return dst
}

// appendInt32s is appendInt64s for those of 32 bits, or their low ones.
func appendInt32s(dst []int32, c *readColumn, from, to int) []int32 {
	if c.values.Type == format.Int32 {
		return append(dst, c.values.I32[from:to]...)
	}
	for _, v := range c.values.I64[from:to] {
		dst = append(dst, int32(v))
	}
	return dst
}

// pad is s of at least n entries.
func pad[T any](s []T, n int) []T {
	if len(s) >= n {
		return s
	}
	at := len(s)
	s = slices.Grow(s, n-at)[:n]
	clear(s[at:])
	return s
}
