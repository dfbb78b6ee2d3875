package columnar

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/FastFilter/xorfilter"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/internal/rawfile"
	"github.com/colsst/colsst/rowgroup"
)

// tailBytes is how much of a file's end is read at once and kept.
const tailBytes = 64 << 10

// Reader reads a table file. It is safe for concurrent use; its iterators are
// not. It is a rowgroup.Source.
type Reader struct {
	file      file
	version   int
	foot      *footer
	footAt    int64
	headed    atomic.Bool                         // the file header was checked
	templates []atomic.Pointer[rowgroup.Template] // nil: not parsed yet
	pool      sync.Pool                           // of *scratch
	batches   sync.Pool                           // of *rowgroup.Batch, for parallel scans
	step      int                                 // see stepBytes
	rootPage  slot
	pages     pageCache
	shards    []atomic.Pointer[shard]
	cache     *Cache // or nil
	id        uint64 // of the file in the cache
	closed    atomic.Bool
	order     rowgroup.IntOrder
	ints      bool         // the rows of a partition stand in order
	ordered   bool         // the order of partitions is known
	byBytes   bool         // it is that of the bytes of their keys
	users     atomic.Int64 // of the source: the Reader until it is closed, and scratches
	free      func() error // frees the source once nobody uses it, or nil
}

// shard is a filter shard that was read; filter is nil if it has no key.
type shard struct{ filter *xorfilter.BinaryFuse[uint8] }

var _ rowgroup.Source = (*Reader)(nil)

// Open reads the footer of a table file of size bytes. It fails with
// encoding.ErrCorrupt for what is not a whole table file, with
// encoding.ErrUnsupported for what is newer than this package. r must stay
// readable while the Reader is used; Close does not close it.
func Open(r io.ReaderAt, size int64, opts ...Option) (*Reader, error) {
	o := newOptions(opts)
	return newReader(newFile(r, size, o.name), &o, nil)
}

// newReader opens a file, which free frees in the end.
func newReader(f file, o *options, free func() error) (r *Reader, err error) {
	r = &Reader{step: stepBytes, file: f, pages: pageCache{limit: o.pageBytes}, free: free}
	r.users.Store(1)
	if f.mapped {
		defer rawfile.Catch(rawfile.Guard(), &err)
	}
	if err := r.open(); err != nil {
		return nil, err
	}
	switch inPlace := f.mem != nil && r.file.chunk == 0; {
	case inPlace && !o.everyChecksum:
		r.file.seen = newVerified(r.file.streamLen)
	case !inPlace && o.cache != nil:
		r.cache, r.id = o.cache, o.cache.files.Add(1)
	}
	return r, nil
}

func (r *Reader) open() error {
	f := &r.file
	ctx := context.Background()
	if f.size < fileHeaderLen+trailerLen {
		return f.atPhysical(encoding.Corruptf("file", "%d bytes are too few for a columnar SSTable", f.size), "file", 0)
	}
	tailAt := max(0, f.size-tailBytes)
	tail, err := f.bytes(ctx, tailAt, f.size-tailAt)
	if err != nil {
		return f.atPhysical(err, "trailer", tailAt)
	}
	f.tail = tail
	var head []byte // the file header, unless it is elsewhere: one read is enough to open
	if head = f.inMemory(0, fileHeaderLen); head != nil {
		if _, _, err := parseFileHeader(head); err != nil {
			return f.atPhysical(err, "file header", 0)
		}
	}
	trailerAt := f.size - trailerLen
	t, err := parseTrailer(tail[len(tail)-trailerLen:])
	if err != nil {
		return f.atPhysical(err, "trailer", trailerAt)
	}
	if t.footerLen > uint64(trailerAt-fileHeaderLen) {
		return f.atPhysical(encoding.Corruptf("trailer", "a footer of %d bytes in a file of %d", t.footerLen, f.size), "trailer", trailerAt)
	}
	if t.footerLen > math.MaxInt {
		return fmt.Errorf("%w: a footer of %d bytes, too many for the memory of this machine", encoding.ErrUnsupported, t.footerLen)
	}
	footAt := trailerAt - int64(t.footerLen)
	b, err := f.bytes(ctx, footAt, int64(t.footerLen))
	if err != nil {
		return f.atPhysical(err, "footer", footAt)
	}
	if checksum(b) != t.footerCRC {
		return f.atPhysical(encoding.Corruptf("footer", "checksum mismatch"), "footer", footAt)
	}
	if r.foot, err = parseFooter(b, t.features&featureChunks != 0, footAt-fileHeaderLen); err != nil {
		return f.atPhysical(err, "footer", footAt)
	}
	r.version, f.chunk = t.version, r.foot.chunk
	if head != nil {
		if err := r.checkHeader(ctx); err != nil {
			return err
		}
	}
	r.footAt = footAt
	r.order, r.ints = r.foot.schema.IntOrder()
	_, r.ordered = r.foot.schema.ComparePartitions(nil, nil)
	r.byBytes = r.foot.schema.Order() == "bytes" || r.foot.schema.Order() == "byteordered"
	r.templates = make([]atomic.Pointer[rowgroup.Template], len(r.foot.templates))
	f.streamLen = r.foot.streamLen
	r.shards = make([]atomic.Pointer[shard], len(r.foot.filter))
	if f.chunk > 0 {
		f.chunkAt = make([]int64, 0, len(r.foot.stored)+1)
		at := int64(fileHeaderLen)
		for _, n := range r.foot.stored {
			f.chunkAt = append(f.chunkAt, at)
			at += n + chunkFrame
		}
		f.chunkAt = append(f.chunkAt, at)
	}
	return nil
}

// checkHeader compares the file header with the trailer, once. Whatever reads
// the stream from its beginning does so first.
func (r *Reader) checkHeader(ctx context.Context) error {
	if r.headed.Load() {
		return nil
	}
	f := &r.file
	head, err := f.bytes(ctx, 0, fileHeaderLen)
	if err != nil {
		return f.atPhysical(err, "file header", 0)
	}
	_, chunkKiB, err := parseFileHeader(head)
	if err == nil && chunkKiB<<10 != f.chunk {
		err = encoding.Corruptf("file header", "outer chunks of %d KiB, the footer says %d", chunkKiB, f.chunk>>10)
	}
	if err != nil {
		return f.atPhysical(err, "file header", 0)
	}
	r.headed.Store(true)
	return nil
}

// Schema is the table's schema.
func (r *Reader) Schema() *rowgroup.Schema { return r.foot.schema }

// Rows is the number of rows, range tombstone markers not counted.
func (r *Reader) Rows() int64 { return r.foot.totals.rows - r.foot.stats.Markers }

// Partitions is the number of partitions.
func (r *Reader) Partitions() int64 { return r.foot.totals.partitions }

// RowGroups is the number of row groups.
func (r *Reader) RowGroups() int64 { return r.foot.totals.groups }

// Size is the size of the file in bytes.
func (r *Reader) Size() int64 { return r.file.size }

// Stats are the statistics of the whole file. The caller must not change them.
func (r *Reader) Stats() *rowgroup.Stats { return r.foot.stats }

// Version is the file's format version.
func (r *Reader) Version() int { return r.version }

// Options are the table options that the file was written with, by name.
func (r *Reader) Options() map[string]string {
	m := map[string]string{}
	for _, p := range r.foot.options {
		m[p.name] = string(p.value)
	}
	return m
}

// UserData is a copy of the value that was stored with WithUserData.
func (r *Reader) UserData(key string) ([]byte, bool) {
	for _, p := range r.foot.user {
		if p.name == key {
			return slices.Clone(p.value), true
		}
	}
	return nil, false
}

// UserDataKeys are the keys of UserData, in order.
func (r *Reader) UserDataKeys() (keys []string) {
	for _, p := range r.foot.user {
		keys = append(keys, p.name)
	}
	return keys
}

// Close frees what the Reader holds; a second call does nothing. What is used
// afterwards fails with ErrClosed. When the last iterator is at its end or
// closed, its blocks leave the cache, and a file that OpenFile opened is closed
// or unmapped.
func (r *Reader) Close() error {
	if r.closed.Swap(true) {
		return nil
	}
	r.pages.clear()
	for i := range r.shards {
		r.shards[i].Store(nil)
	}
	return r.leave()
}

// enter says that one user more reads the source, or is false if it is freed.
func (r *Reader) enter() bool {
	for {
		n := r.users.Load()
		if n == 0 {
			return false
		}
		if r.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// leave says that one user less reads the source.
func (r *Reader) leave() error {
	if r.users.Add(-1) > 0 {
		return nil
	}
	if r.cache != nil {
		r.cache.drop(r.id)
	}
	if r.free == nil {
		return nil
	}
	return r.free()
}

func (r *Reader) check(ctx context.Context) error {
	if r.closed.Load() {
		return fmt.Errorf("the reader is %w", ErrClosed)
	}
	return ctx.Err()
}

// All yields the batches of Scan. A batch is valid until the next one.
func (r *Reader) All(ctx context.Context, o rowgroup.ScanOptions) iter.Seq2[*rowgroup.Batch, error] {
	return func(yield func(*rowgroup.Batch, error) bool) {
		it := r.Scan(ctx, o)
		defer it.Close() //nolint:errcheck // it only frees memory
		b := rowgroup.NewBatch(r.foot.schema)
		for {
			ok, err := it.Next(b)
			if err != nil {
				yield(nil, err)
				return
			}
			if !ok || !yield(b, nil) {
				return
			}
		}
	}
}

// shard is filter shard i.
func (r *Reader) shard(ctx context.Context, i int) (*shard, error) {
	if s := r.shards[i].Load(); s != nil {
		return s, nil
	}
	w := window{f: &r.file, ctx: ctx}
	h, body, err := w.item(r.foot.filter[i], kindFilter)
	if err == nil && h.fields[0] != uint64(i) {
		err = encoding.Corruptf("filter", "shard %d where %d belongs", h.fields[0], i)
	}
	s := &shard{}
	if err == nil {
		s.filter, err = parseShard(slices.Clone(body))
	}
	if err != nil {
		return nil, r.file.at(err, "filter", r.foot.filter[i].off)
	}
	r.shards[i].Store(s)
	return s, nil
}

// mayContain reports whether the file can have a partition with this key.
func (r *Reader) mayContain(ctx context.Context, key []byte) (bool, error) {
	if r.foot.totals.partitions == 0 {
		return false, nil
	}
	if len(r.foot.filter) == 0 {
		return true, nil
	}
	hash := hashKey(key)
	s, err := r.shard(ctx, shardOf(hash, len(r.foot.filter)))
	if err != nil {
		return false, err
	}
	return s.filter != nil && s.filter.Contains(hash), nil
}

// template is template number id, which is parsed when it is first used.
func (r *Reader) template(id int) (*rowgroup.Template, error) {
	if id >= len(r.templates) {
		return nil, encoding.Corruptf("block", "template %d of %d", id, len(r.templates))
	}
	if t := r.templates[id].Load(); t != nil {
		return t, nil
	}
	t, err := rowgroup.ParseTemplate(r.foot.schema, r.foot.templates[id])
	if err != nil {
		return nil, r.file.atPhysical(err, fmt.Sprintf("template %d", id), r.footAt)
	}
	r.templates[id].Store(t)
	return t, nil
}

// checkColumns refuses numbers that are no static or regular columns, and
// ranges of values of what is no column.
func (r *Reader) checkColumns(o *rowgroup.ScanOptions) error {
	from, _ := r.foot.schema.Range(rowgroup.Static)
	for _, c := range o.Columns {
		if c < from || c >= r.foot.schema.NumColumns() {
			return fmt.Errorf("column number %d is no static or regular column", c)
		}
	}
	for _, w := range o.Within {
		if w.Column < 0 || w.Column >= r.foot.schema.NumColumns() {
			return fmt.Errorf("a range of values of column number %d, of %d columns", w.Column, r.foot.schema.NumColumns())
		}
	}
	return nil
}

// decodeOptions are the options to decode with: the live view is judged by all
// columns and metadata.
func decodeOptions(o rowgroup.ScanOptions) rowgroup.ScanOptions {
	if o.Live {
		o.Columns, o.WithoutMetadata = nil, false
	}
	return o
}
