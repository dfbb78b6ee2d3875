package parquetfmt

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"

	"github.com/parquet-go/parquet-go/bloom"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/colsst/colsst/parquetfmt/alp"
	"github.com/colsst/colsst/parquetfmt/internal/page"
	"github.com/colsst/colsst/rowgroup"
)

// Writer writes batches as a Parquet file, front to back. It is not safe for
// concurrent use. Memory is one row group's values, and about 200 bytes a column
// chunk for the footer.
type Writer struct {
	w      io.Writer
	off    int64
	o      writeOptions
	lay    *layout
	x      shredder
	fill   filler
	codec  *page.Codec
	sorted []sortingColumn
	rows   int64 // in row groups that were written

	groups     []groupMeta
	err        error
	closed     bool
	body, comp []byte
	head       compactWriter
	structs    compactWriter // of the footer and the page index
	dict       page.Dictionary
	check      *rowgroup.OrderChecker
}

// groupMeta is what the footer says of a row group.
type groupMeta struct {
	rows, offset      int64
	bytes, compressed int64
	chunks            []chunkMeta
}

// chunkMeta is what the footer says of a column chunk: the struct's fields up to
// those of the page index, and the page index.
type chunkMeta struct {
	meta        []byte
	columnIndex []byte // nil where there is none
	offsetIndex []byte
}

type sortingColumn struct {
	leaf       int
	descending bool
}

const magic = "PAR1"

const createdBy = "colsst version 0.1.0"

// NewWriter begins a file of a table. Nothing is written before the first row
// group is full.
func NewWriter(w io.Writer, s *rowgroup.Schema, opts ...Option) (*Writer, error) {
	p := &Writer{w: w, o: defaults()}
	for _, opt := range opts {
		if err := opt(&p.o); err != nil {
			return nil, err
		}
	}
	var err error
	if p.lay, err = newLayout(s, &p.o); err != nil {
		return nil, err
	}
	for name := range p.o.encodings {
		if name != "*" && s.Lookup(name) < 0 && !slices.ContainsFunc(p.lay.fields, func(n *node) bool { return n.name == name }) {
			return nil, fmt.Errorf("parquetfmt: there is no column %q", name)
		}
	}
	p.x = shredder{leaves: make([]leaf, p.lay.leaves), replace: p.o.replace}
	for _, n := range p.lay.fields {
		n.eachLeaf(func(n *node) { p.x.leaves[n.leaf].init(n) })
	}
	for i := range s.KeyTypes() {
		if x := p.lay.columns[i]; x.flat() {
			p.x.leaves[x.leaf].inRuns = true
		}
	}
	p.sorted = sortingOf(p.lay, p.o.replace)
	p.codec = page.TakeCodec()
	p.fill = newFiller(p.lay, &p.x)
	p.check = rowgroup.NewOrderChecker(s)
	return p, nil
}

// sortingOf are the columns by which the rows of every row group ascend or
// descend, in the order that Parquet defines for their types. Texts in which
// bytes are replaced may be in another than those that they were.
func sortingOf(l *layout, replace bool) (sorted []sortingColumn) {
	s := l.schema
	if l.lossless {
		return nil // rows of partitions and markers stand between
	}
	keys := s.Columns(rowgroup.PartitionKey)
	switch len(keys) {
	case 0:
	case 1:
		// Keys are in the order of their bytes.
		x := l.columns[0]
		if o := s.Order(); o != "bytes" && o != "byteordered" || x.form != formText && x.form != formBytes && x.form != formFixed && x.form != formBool || replace && x.form == formText || x.typ.Kind == rowgroup.KindNumeric {
			return nil
		}
		sorted = append(sorted, sortingColumn{x.leaf, false})
	default:
		return nil
	}
	from, to := s.Range(rowgroup.Clustering)
	for i := from; i < to; i++ {
		x := l.columns[i]
		if replace && x.form == formText {
			return sorted
		}
		t := s.Column(i).Type
		reversed := t.Kind == rowgroup.KindReversed
		switch bare(t).Kind {
		case rowgroup.KindTinyint, rowgroup.KindSmallint, rowgroup.KindInt, rowgroup.KindBigint, rowgroup.KindTimestamp, rowgroup.KindTime,
			rowgroup.KindUint8, rowgroup.KindUint16, rowgroup.KindUint32, rowgroup.KindUint64, rowgroup.KindText, rowgroup.KindASCII, rowgroup.KindBlob, rowgroup.KindBoolean,
			rowgroup.KindFixed, rowgroup.KindNumeric:
		default:
			return sorted
		}
		sorted = append(sorted, sortingColumn{x.leaf, s.Column(i).Desc != reversed})
	}
	return sorted
}

// Rows is the number of rows of the file so far.
func (p *Writer) Rows() int64 { return p.rows + int64(p.x.leaves[0].rows) }

// Bytes is the length of the file so far, without the rows of the open row group.
func (p *Writer) Bytes() int64 { return p.off }

// Buffered is how many bytes the values of the open row group have, before
// encoding and compression.
func (p *Writer) Buffered() int64 { return int64(p.size()) }

// Flush ends the open row group, if it has rows. The first error sticks.
func (p *Writer) Flush() error {
	if p.err == nil && p.closed {
		p.err = errors.New("parquetfmt: Flush after Close")
	}
	if p.err == nil && p.x.leaves[0].rows > 0 {
		p.err = p.flush()
	}
	return p.err
}

// Append adds a batch. Rows must be in the table's order. It keeps nothing of
// b. The first error sticks.
func (p *Writer) Append(b *rowgroup.Batch) error {
	if p.err == nil && p.closed {
		p.err = errors.New("parquetfmt: Append after Close")
	}
	if p.err == nil {
		p.err = p.append(b)
	}
	return p.err
}

func (p *Writer) append(b *rowgroup.Batch) error {
	if err := b.Check(); err != nil {
		return err
	}
	if err := p.check.Check(b); err != nil {
		return err
	}
	p.fill.begin(b, p.Rows())
	for {
		room := p.o.groupRows - p.x.leaves[0].rows
		n, err := p.fill.next(min(room, 4096))
		if err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
		if n >= room || p.size() >= p.o.groupBytes {
			if err := p.flush(); err != nil {
				return err
			}
		}
	}
}

func (p *Writer) size() (n int) {
	for i := range p.x.leaves {
		n += p.x.leaves[i].size()
	}
	return n
}

func (p *Writer) write(b []byte) error {
	n, err := p.w.Write(b)
	p.off += int64(n)
	return err
}

func (p *Writer) begin() error {
	if p.off > 0 {
		return nil
	}
	return p.write([]byte(magic))
}

// ErrTooManyRowGroups says that a file would have more row groups than the
// format can number. Larger row groups help.
var ErrTooManyRowGroups = fmt.Errorf("parquetfmt: a file has at most %d row groups: make them larger", MaxRowGroups)

// flush writes the rows that wait as a row group.
func (p *Writer) flush() error {
	if len(p.groups) == MaxRowGroups {
		return ErrTooManyRowGroups
	}
	if err := p.begin(); err != nil {
		return err
	}
	g := groupMeta{rows: int64(p.x.leaves[0].rows), offset: p.off, chunks: make([]chunkMeta, len(p.x.leaves))}
	for i := range p.x.leaves {
		if err := p.writeChunk(&p.x.leaves[i], &g, &g.chunks[i]); err != nil {
			return fmt.Errorf("column %q: %w", p.x.leaves[i].String(), err)
		}
	}
	p.groups = append(p.groups, g)
	p.rows += g.rows
	for i := range p.x.leaves {
		p.x.leaves[i].reset()
	}
	return nil
}

// chunkWriter is what is known of a column chunk while its pages are written.
type chunkWriter struct {
	*leaf
	encoding    format.Encoding
	dictionary  bool
	pages       []pageMeta
	bounds      bounds
	order       comparison
	nulls       int64
	raw, stored int64   // bytes with headers
	dataPage    int64   // offset of the first
	dictPage    int64   // or 0
	defs, reps  []int64 // histograms
	strings     int64   // bytes of byte strings
	bloomAt     int64
	bloomLen    int32
}

type pageMeta struct {
	offset     int64
	length     int32
	firstRow   int64
	nulls      int64
	empty      bool // of nulls only
	bounds     bounds
	strings    int64
	defs, reps []int64
}

// writeChunk writes the values of a leaf and says what the footer needs.
func (p *Writer) writeChunk(l *leaf, g *groupMeta, meta *chunkMeta) error {
	c := &chunkWriter{leaf: l, order: comparisonOf(l.node), bloomAt: -1}
	defer func(inRuns bool) { l.inRuns = inRuns }(l.inRuns)
	if err := p.chooseEncoding(c); err != nil {
		return err
	}
	if c.maxDef > 0 {
		c.defs = make([]int64, c.maxDef+1)
	}
	if c.maxRep > 0 {
		c.reps = make([]int64, c.maxRep+1)
	}
	if c.dictionary {
		if err := p.writeDictionary(c); err != nil {
			return err
		}
	}
	c.dataPage = p.off
	for at := (cursor{}); at.row < l.rows; {
		from := at
		p.advance(l, &at)
		if err := p.writePage(c, from, at); err != nil {
			return err
		}
	}
	if p.o.filter && p.lay.isKey(l.leaf) {
		if err := p.writeFilter(c); err != nil {
			return err
		}
	}
	g.bytes += c.raw
	g.compressed += c.stored
	meta.meta = p.chunkStruct(c)
	meta.columnIndex, meta.offsetIndex = p.indexStructs(c)
	return nil
}

// cursor is a place among the entries of a leaf.
type cursor struct{ row, entry, value int }

// advance moves to the end of the page that begins at c.
func (p *Writer) advance(l *leaf, c *cursor) {
	from := *c
	for c.row < l.rows {
		step := min(p.o.pageRows-(c.row-from.row), l.rows-c.row)
		if step <= 0 {
			return
		}
		// Rows are taken in steps small enough to see the bytes grow.
		if width := l.values.Size(0, l.values.Len()) / max(l.rows, 1); width > 0 {
			step = min(step, max(1, p.o.pageBytes/width/8))
		}
		l.skipRows(c, step)
		first, end := l.slots(from.value, c.value)
		if l.values.Size(first, end)+c.entry-from.entry >= p.o.pageBytes {
			return
		}
	}
}

// skipRows moves c over n rows.
func (l *leaf) skipRows(c *cursor, n int) {
	c.row += n
	switch {
	case len(l.reps) > 0:
		for c.entry < len(l.reps) {
			if l.reps[c.entry] == 0 {
				if n == 0 {
					return
				}
				n--
			}
			if l.defs[c.entry] == l.maxDef {
				c.value++
			}
			c.entry++
		}
	case len(l.defs) > 0:
		for _, d := range l.defs[c.entry : c.entry+n] {
			if d == l.maxDef {
				c.value++
			}
		}
		c.entry += n
	default:
		c.entry, c.value = c.entry+n, c.value+n
	}
}

// chooseEncoding settles how a chunk is encoded, and makes its dictionary.
func (p *Writer) chooseEncoding(c *chunkWriter) error {
	e, given := p.o.encodings[c.path[0]]
	if !given || !page.Holds(c.typ, e) {
		all, ok := p.o.encodings["*"]
		e, given = all, ok && page.Holds(c.typ, all)
	}
	if !given {
		switch c.typ {
		case format.Int32, format.Int64:
			e = format.DeltaBinaryPacked
		case format.Float, format.Double:
			e = format.ByteStreamSplit
		case format.Boolean:
			e = format.Plain
		default:
			e = format.RLEDictionary
		}
	}
	c.encoding = e
	switch e {
	case format.RLEDictionary:
		// One that is not asked for must be worth it.
		most := c.count()
		if !given {
			most = most/2 + 1
		}
		if c.dictionary = p.dict.Build(&c.values, most, p.o.dictionaryBytes); c.dictionary {
			p.dict.Spread(c.ends)
			return nil
		}
		c.encoding = format.Plain
		if c.typ == format.ByteArray && !given {
			c.encoding = format.DeltaLengthByteArray
		}
	case alp.Format:
		if err := p.chooseALP(c.leaf); err != nil {
			return err
		}
		if c.vectors == 0 {
			c.encoding = format.ByteStreamSplit
		}
	}
	return c.spread()
}

// compress compresses what is in body behind the first keep bytes, and says
// whether that was worth it.
func (p *Writer) compress(keep int) (stored []byte, compressed bool, err error) {
	if p.o.codec == format.Uncompressed {
		return p.body, false, nil
	}
	p.comp, err = p.codec.Compress(append(p.comp[:0], p.body[:keep]...), p.o.codec, p.body[keep:])
	return p.comp, true, err
}

// put writes the header in p.head and a page's body.
func (p *Writer) put(c *chunkWriter, raw int, stored []byte) error {
	c.raw += int64(len(p.head.buf) + raw)
	c.stored += int64(len(p.head.buf) + len(stored))
	if err := p.write(p.head.buf); err != nil {
		return err
	}
	return p.write(stored)
}

// header begins the header of a page: its type, lengths and checksum.
func (p *Writer) header(t format.PageType, raw int, stored []byte) *compactWriter {
	h := &p.head
	h.buf = h.buf[:0]
	h.begin()
	h.i32(1, int32(t))
	h.i32(2, int32(raw))
	h.i32(3, int32(len(stored)))
	h.i32(4, int32(crc32.ChecksumIEEE(stored)))
	return h
}

func checkPage(raw int) error {
	if raw > page.MaxBytes {
		return fmt.Errorf("parquetfmt: a page of %d bytes; the limit is %d", raw, page.MaxBytes)
	}
	return nil
}

func (p *Writer) writeDictionary(c *chunkWriter) (err error) {
	if p.body, err = page.Append(p.body[:0], &p.dict.Values, 0, p.dict.Values.Len(), format.Plain); err != nil {
		return err
	}
	if err := checkPage(len(p.body)); err != nil {
		return err
	}
	stored, _, err := p.compress(0)
	if err != nil {
		return err
	}
	h := p.header(format.DictionaryPage, len(p.body), stored)
	h.beginField(7)
	h.i32(1, int32(p.dict.Values.Len()))
	h.i32(2, int32(format.Plain))
	h.end()
	h.end()
	c.dictPage = p.off
	return p.put(c, len(p.body), stored)
}

// writePage writes the entries from one place to another as a data page.
func (p *Writer) writePage(c *chunkWriter, from, to cursor) (err error) {
	m := pageMeta{offset: p.off, firstRow: int64(from.row), nulls: int64(to.entry - from.entry - (to.value - from.value))}
	m.empty = to.value == from.value
	first, end := c.slots(from.value, to.value)
	m.bounds = boundsOf(&c.values, first, end, c.order)
	if c.typ == format.ByteArray {
		m.strings = c.bytesOf(from.value, to.value)
	}
	p.body = p.body[:0]
	v1 := p.o.pageVersion == 1
	reps := c.appendLevels(&p.body, c.reps0(from, to), to.entry-from.entry, c.maxRep, v1, &m.reps)
	defs := c.appendLevels(&p.body, c.defs0(from, to), to.entry-from.entry, c.maxDef, v1, &m.defs)
	if c.dictionary {
		p.body = p.dict.AppendIndexes(p.body, from.value, to.value)
	} else if p.body, err = p.appendValues(c, from.value, to.value); err != nil {
		return err
	}
	if err := checkPage(len(p.body)); err != nil {
		return err
	}
	keep := 0
	if !v1 {
		keep = reps + defs
	}
	stored, compressed := p.body, false
	if v1 || c.tries() {
		if stored, compressed, err = p.compress(keep); err != nil {
			return err
		}
		if !v1 && !c.saved(len(p.body), len(stored)) {
			stored, compressed = p.body, false
		}
	}
	entries := int32(to.entry - from.entry)
	if v1 {
		h := p.header(format.DataPage, len(p.body), stored)
		h.beginField(5)
		h.i32(1, entries)
		h.i32(2, int32(c.encoding))
		h.i32(3, int32(format.RLE))
		h.i32(4, int32(format.RLE))
		h.end()
		h.end()
	} else {
		h := p.header(format.DataPageV2, len(p.body), stored)
		h.beginField(8)
		h.i32(1, entries)
		h.i32(2, int32(m.nulls))
		h.i32(3, int32(to.row-from.row))
		h.i32(4, int32(c.encoding))
		h.i32(5, int32(defs))
		h.i32(6, int32(reps))
		h.bool(7, compressed)
		h.end()
		h.end()
	}
	m.length = int32(len(p.head.buf) + len(stored))
	if err := p.put(c, len(p.body), stored); err != nil {
		return err
	}
	c.nulls += m.nulls
	c.strings += m.strings
	c.bounds.add(&m.bounds, c.typ, c.order)
	for i, n := range m.defs {
		c.defs[i] += n
	}
	for i, n := range m.reps {
		c.reps[i] += n
	}
	c.pages = append(c.pages, m)
	return nil
}

func (c *chunkWriter) reps0(from, to cursor) []uint8 {
	if len(c.leaf.reps) == 0 {
		return nil
	}
	return c.leaf.reps[from.entry:to.entry]
}

func (c *chunkWriter) defs0(from, to cursor) []uint8 {
	if len(c.leaf.defs) == 0 {
		return nil
	}
	return c.leaf.defs[from.entry:to.entry]
}

// appendLevels appends n levels up to most, nil where all are the greatest, and
// counts them. Those of pages of version 1 have their length before them.
func (c *chunkWriter) appendLevels(dst *[]byte, levels []uint8, n int, most uint8, v1 bool, histogram *[]int64) (size int) {
	if most == 0 {
		return 0
	}
	b, at := *dst, len(*dst)
	if v1 {
		b = append(b, 0, 0, 0, 0)
	}
	h := make([]int64, most+1)
	if levels == nil {
		b = page.AppendRun(b, uint32(most), n, page.LevelWidth(most))
		h[most] = int64(n)
	} else {
		b = page.AppendHybrid(b, levels, page.LevelWidth(most))
		for _, x := range levels {
			h[x]++
		}
	}
	*histogram = h
	if v1 {
		binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	}
	*dst = b
	return len(b) - at
}

// writeFilter writes a split block Bloom filter of the chunk's values, unless it
// has one value.
func (p *Writer) writeFilter(c *chunkWriter) error {
	var hashes []uint64
	var scratch []byte
	for i := range c.values.Len() {
		if i > 0 && c.sameValue(i) {
			continue
		}
		scratch = appendHashed(scratch[:0], &c.values, i)
		hashes = append(hashes, bloom.XXH64{}.Sum64(scratch))
	}
	slices.Sort(hashes)
	if hashes = slices.Compact(hashes); len(hashes) < 2 && c.bounds.min != nil {
		return nil // the bounds say as much
	}
	filter := make(bloom.SplitBlockFilter, max(1, bloom.NumSplitBlocksOf(int64(len(hashes)), 10)))
	for _, h := range hashes {
		filter.Insert(h)
	}
	bits := filter.Bytes()
	h := &p.head
	h.buf = h.buf[:0]
	h.begin()
	h.i32(1, int32(len(bits)))
	for id := 2; id <= 4; id++ { // SPLIT_BLOCK, XXHASH, UNCOMPRESSED
		h.beginField(id)
		h.beginField(1)
		h.end()
		h.end()
	}
	h.end()
	c.bloomAt, c.bloomLen = p.off, int32(len(h.buf)+len(bits))
	if err := p.write(h.buf); err != nil {
		return err
	}
	return p.write(bits)
}

// sameValue reports whether value i is that before it.
func (l *leaf) sameValue(i int) bool {
	v := &l.values
	switch v.Type {
	case format.Boolean, format.Int32:
		return v.I32[i] == v.I32[i-1]
	case format.Int64:
		return v.I64[i] == v.I64[i-1]
	case format.Float, format.Double:
		return false
	}
	return string(v.Str.At(i)) == string(v.Str.At(i-1))
}

// appendHashed appends the bytes of value i that a Bloom filter hashes: those of
// PLAIN, byte strings without a length.
func appendHashed(dst []byte, v *page.Values, i int) []byte {
	if v.Type == format.ByteArray {
		return append(dst, v.Str.At(i)...)
	}
	dst, _ = page.Append(dst, v, i, i+1, format.Plain) // of every type
	return dst
}

// chunkStruct is the ColumnChunk of the footer up to its metadata, as fields 2
// and 3 without the end of the struct.
func (p *Writer) chunkStruct(c *chunkWriter) []byte {
	w := p.beginStruct()
	w.i64(2, 0)
	w.beginField(3)
	w.i32(1, int32(c.typ))
	encodings := []format.Encoding{c.encoding, format.RLE}
	if c.dictionary {
		encodings = append(encodings, format.Plain)
	}
	slices.Sort(encodings)
	encodings = slices.Compact(encodings)
	w.list(2, compactI32, len(encodings))
	for _, e := range encodings {
		w.buf = binary.AppendVarint(w.buf, int64(e))
	}
	w.list(3, compactBinary, len(c.path))
	for _, name := range c.path {
		w.element([]byte(name))
	}
	w.i32(4, int32(p.o.codec))
	w.i64(5, int64(c.entries()))
	w.i64(6, c.raw)
	w.i64(7, c.stored)
	w.i64(9, c.dataPage)
	if c.dictionary {
		w.i64(11, c.dictPage)
	}
	w.beginField(12)
	w.i64(3, c.nulls)
	if c.bounds.min != nil {
		w.bytes(5, c.bounds.max)
		w.bytes(6, c.bounds.min)
		w.bool(7, true)
		w.bool(8, true)
	}
	if c.order == floatOrder {
		w.i64(9, c.bounds.nans)
	}
	w.end()
	t := format.DataPageV2
	if p.o.pageVersion == 1 {
		t = format.DataPage
	}
	stats := 1
	if c.dictionary {
		stats = 2
	}
	w.list(13, compactStruct, stats)
	if c.dictionary {
		w.encodingStats(format.DictionaryPage, format.Plain, 1)
	}
	w.encodingStats(t, c.encoding, len(c.pages))
	if c.bloomAt >= 0 {
		w.i64(14, c.bloomAt)
		w.i32(15, c.bloomLen)
	}
	if c.typ == format.ByteArray || c.reps != nil || c.levelsCount() {
		w.beginField(16)
		if c.typ == format.ByteArray {
			w.i64(1, c.strings)
		}
		if c.reps != nil {
			w.i64s(2, c.reps)
		}
		if c.levelsCount() {
			w.i64s(3, c.defs)
		}
		w.end()
	}
	w.end()
	return slices.Clone(w.buf)
}

// beginStruct begins a struct by itself, valid until the next one.
func (p *Writer) beginStruct() *compactWriter {
	p.structs.buf = p.structs.buf[:0]
	p.structs.begin()
	return &p.structs
}

// levelsCount reports whether histograms of definition levels say more than the
// counts of nulls.
func (c *chunkWriter) levelsCount() bool { return c.maxDef > 1 }

func (w *compactWriter) encodingStats(t format.PageType, e format.Encoding, n int) {
	w.begin()
	w.i32(1, int32(t))
	w.i32(2, int32(e))
	w.i32(3, int32(n))
	w.end()
}

// indexStructs are the page index of a chunk. There is no column index where a
// page has values but no bounds: only NaNs, or a type without order.
func (p *Writer) indexStructs(c *chunkWriter) (column, offset []byte) {
	w := p.beginStruct()
	w.list(1, compactStruct, len(c.pages))
	for i := range c.pages {
		m := &c.pages[i]
		w.begin()
		w.i64(1, m.offset)
		w.i32(2, m.length)
		w.i64(3, m.firstRow)
		w.end()
	}
	if c.typ == format.ByteArray {
		w.list(2, compactI64, len(c.pages))
		for i := range c.pages {
			w.buf = binary.AppendVarint(w.buf, c.pages[i].strings)
		}
	}
	w.end()
	offset = slices.Clone(w.buf)
	for i := range c.pages {
		if !c.pages[i].empty && c.pages[i].bounds.min == nil {
			return nil, offset
		}
	}
	w = p.beginStruct()
	w.list(1, compactTrue, len(c.pages))
	for i := range c.pages {
		b := compactFalse
		if c.pages[i].empty {
			b = compactTrue
		}
		w.buf = append(w.buf, b)
	}
	w.list(2, compactBinary, len(c.pages))
	for i := range c.pages {
		w.element(c.pages[i].bounds.min)
	}
	w.list(3, compactBinary, len(c.pages))
	for i := range c.pages {
		w.element(c.pages[i].bounds.max)
	}
	w.i32(4, int32(boundaryOrder(c)))
	w.list(5, compactI64, len(c.pages))
	for i := range c.pages {
		w.buf = binary.AppendVarint(w.buf, c.pages[i].nulls)
	}
	if c.reps != nil {
		w.list(6, compactI64, len(c.pages)*len(c.reps))
		for i := range c.pages {
			for _, n := range c.pages[i].reps {
				w.buf = binary.AppendVarint(w.buf, n)
			}
		}
	}
	if c.levelsCount() {
		w.list(7, compactI64, len(c.pages)*len(c.defs))
		for i := range c.pages {
			for _, n := range c.pages[i].defs {
				w.buf = binary.AppendVarint(w.buf, n)
			}
		}
	}
	w.end()
	return slices.Clone(w.buf), offset
}

// boundaryOrder is the order in which the bounds of a chunk's pages come.
func boundaryOrder(c *chunkWriter) format.BoundaryOrder {
	ascending, descending := true, true
	var last *bounds
	for i := range c.pages {
		b := &c.pages[i].bounds
		if c.pages[i].empty {
			continue
		}
		if last != nil {
			lo, hi := compareBound(last.min, b.min, c.typ, c.order), compareBound(last.max, b.max, c.typ, c.order)
			ascending = ascending && lo <= 0 && hi <= 0
			descending = descending && lo >= 0 && hi >= 0
		}
		last = b
	}
	switch {
	case ascending:
		return format.Ascending
	case descending:
		return format.Descending
	}
	return format.Unordered
}

// Close writes the rows that wait, and the footer. After an error it writes
// none and returns that; a second call is a no-op.
func (p *Writer) Close() error {
	if p.closed {
		return p.err
	}
	p.closed = true
	if p.err == nil {
		p.err = p.close()
	}
	p.codec.Return()
	p.codec = nil
	return p.err
}

func (p *Writer) close() error {
	if err := p.check.Finish(); err != nil {
		return err
	}
	if p.x.leaves[0].rows > 0 {
		if err := p.flush(); err != nil {
			return err
		}
	}
	if err := p.begin(); err != nil {
		return err
	}
	type place struct{ at, length int64 }
	places := make([][2]place, 0, len(p.groups)*len(p.x.leaves))
	for i := range p.groups {
		for k := range p.groups[i].chunks {
			c := &p.groups[i].chunks[k]
			at := place{p.off, int64(len(c.columnIndex))}
			if err := p.write(c.columnIndex); err != nil {
				return err
			}
			places = append(places, [2]place{at, {}})
		}
	}
	n := 0
	for i := range p.groups {
		for k := range p.groups[i].chunks {
			c := &p.groups[i].chunks[k]
			places[n][1] = place{p.off, int64(len(c.offsetIndex))}
			if err := p.write(c.offsetIndex); err != nil {
				return err
			}
			n++
		}
	}
	var w compactWriter
	w.begin()
	w.i32(1, 2)
	elements := schemaElements(p.lay.fields)
	w.list(2, compactStruct, len(elements))
	for i := range elements {
		b, err := thrift.Marshal(new(thrift.CompactProtocol), &elements[i])
		if err != nil {
			return err
		}
		w.buf = append(w.buf, b...)
	}
	w.i64(3, p.rows)
	w.list(4, compactStruct, len(p.groups))
	n = 0
	for i := range p.groups {
		g := &p.groups[i]
		w.begin()
		w.list(1, compactStruct, len(g.chunks))
		for k := range g.chunks {
			w.begin()
			w.buf = append(w.buf, g.chunks[k].meta...)
			w.last = 3
			column, offset := places[n][0], places[n][1]
			w.i64(4, offset.at)
			w.i32(5, int32(offset.length))
			if column.length > 0 {
				w.i64(6, column.at)
				w.i32(7, int32(column.length))
			}
			w.end()
			n++
		}
		w.i64(2, g.bytes)
		w.i64(3, g.rows)
		if len(p.sorted) > 0 {
			w.list(4, compactStruct, len(p.sorted))
			for _, s := range p.sorted {
				w.begin()
				w.i32(1, int32(s.leaf))
				w.bool(2, s.descending)
				w.bool(3, !s.descending)
				w.end()
			}
		}
		w.i64(5, g.offset)
		w.i64(6, g.compressed)
		w.field(7, compactI16)
		w.buf = binary.AppendVarint(w.buf, int64(i))
		w.end()
	}
	pairs, err := p.keyValues()
	if err != nil {
		return err
	}
	w.list(5, compactStruct, len(pairs))
	for _, kv := range pairs {
		w.begin()
		w.bytes(1, []byte(kv[0]))
		w.bytes(2, []byte(kv[1]))
		w.end()
	}
	w.bytes(6, []byte(createdBy))
	w.list(7, compactStruct, len(p.x.leaves))
	for range p.x.leaves { // TYPE_ORDER
		w.begin()
		w.beginField(1)
		w.end()
		w.end()
	}
	w.end()
	if len(w.buf) > 1<<31-1 {
		return fmt.Errorf("parquetfmt: a footer of %d bytes", len(w.buf))
	}
	w.buf = binary.LittleEndian.AppendUint32(w.buf, uint32(len(w.buf)))
	return p.write(append(w.buf, magic...))
}

func (p *Writer) keyValues() (pairs [][2]string, err error) {
	text, err := schemaText(p.lay.schema)
	if err != nil {
		return nil, err
	}
	view := viewLive
	if p.o.lossless {
		view = viewLossless
	}
	pairs = append(pairs, [2]string{schemaKey, text}, [2]string{viewKey, view})
	if p.lay.rows.delay != nil {
		pairs = append(pairs, [2]string{delayKey, p.lay.timeUnit.String()})
	}
	for _, k := range slices.Sorted(maps.Keys(p.o.user)) {
		pairs = append(pairs, [2]string{userKey + k, base64.StdEncoding.EncodeToString(p.o.user[k])})
	}
	return pairs, nil
}

// isKey reports whether a leaf is of a column of the partition key.
func (l *layout) isKey(leaf int) bool {
	from, to := l.schema.Range(rowgroup.PartitionKey)
	for i := from; i < to; i++ {
		if x := l.columns[i]; x.flat() && x.leaf == leaf {
			return true
		}
	}
	return false
}

// appendValues appends values [from, to) to p.body in the chunk's encoding.
func (p *Writer) appendValues(c *chunkWriter, from, to int) ([]byte, error) {
	if c.encoding == alp.Format {
		return page.AppendALP(p.body, &c.values, from, to, c.vectors)
	}
	return page.Append(p.body, &c.values, from, to, c.encoding)
}

// chooseALP settles the size of ALP's vectors by up to so many values from the
// begin, and whether their pages are smaller than those of BYTE_STREAM_SPLIT, both
// compressed. That serves for some chunks that follow.
func (p *Writer) chooseALP(l *leaf) (err error) {
	const most = 8192
	if l.serves -= l.values.Len(); l.serves > 0 {
		return nil
	}
	n := min(l.values.Len(), most)
	l.serves = 16 * n
	least := 0
	for _, log := range []uint8{alp.DefaultLogVectorSize, 9, 8, 7} {
		if p.body, err = page.AppendALP(p.body[:0], &l.values, 0, n, log); err != nil {
			return err
		}
		if least == 0 || len(p.body) < least {
			least, l.vectors = len(p.body), log
		}
	}
	size := func() (int, error) {
		stored, _, err := p.compress(0)
		return min(len(stored), len(p.body)), err
	}
	if p.body, err = page.AppendALP(p.body[:0], &l.values, 0, n, l.vectors); err != nil {
		return err
	}
	if least, err = size(); err != nil {
		return err
	}
	if p.body, err = page.Append(p.body[:0], &l.values, 0, n, format.ByteStreamSplit); err != nil {
		return err
	}
	split, err := size()
	if split <= least {
		l.vectors = 0
	}
	return err
}
