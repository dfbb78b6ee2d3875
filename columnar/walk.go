package columnar

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// walker goes through the items of a stream front to back without any index.
// After damage it goes on with the next valid item.
type walker struct {
	ctx    context.Context
	win    window
	wanted string // kinds of the items whose bodies are wanted
	off    int64
	gap    func(damage error, at, n int64) // called for every damaged part of the stream, n bytes
	wasted int64                           // bytes of items whose checksum was wrong
}

// walked is an item that a walker found.
type walked struct {
	header
	at   ref
	body []byte // valid until the next call; nil unless wanted
}

// next finds the next item. ok is false at the end of the stream. Errors are
// of I/O or of the context; damage goes to gap.
func (w *walker) next() (it walked, ok bool, err error) {
	f := w.win.f
	var damage error // of the gap that is being skipped
	start := w.off
	end := func() {
		if damage != nil {
			w.gap(damage, start, w.off-start)
		}
	}
	for w.off < f.streamLen {
		if err := w.ctx.Err(); err != nil {
			return it, false, err
		}
		if damage != nil {
			if err := w.skip(); err != nil {
				return it, false, err
			}
			if w.off >= f.streamLen {
				break
			}
		}
		it, err = w.item()
		if err == nil {
			end()
			w.off += it.at.len
			return it, true, nil
		}
		if !errors.Is(err, encoding.ErrCorrupt) {
			return it, false, err
		}
		if damage == nil {
			damage, start = err, w.off
		}
		w.off++
	}
	end()
	return it, false, nil
}

// item is the item where the walker stands. Bytes that look like headers could
// make it read the stream over and over: what it reads in vain is at most
// twice the stream.
func (w *walker) item() (it walked, err error) {
	f := w.win.f
	if it.header, err = w.win.header(w.off, scanAhead); err != nil {
		return it, err
	}
	it.at = ref{w.off, it.length(f.crc())}
	if w.wasted > 0 && it.at.len > 2*f.streamLen-w.wasted {
		return it, encoding.Corruptf(itemName(it.kind), "one of too many that overlap")
	}
	want := strings.IndexByte(w.wanted, it.kind) >= 0
	if !want || it.at.len > scanAhead {
		err = w.win.verify(w.off, &it.header)
	}
	if err == nil && want {
		it.body, err = w.win.body(w.off, &it.header, scanAhead)
	}
	if err != nil {
		w.wasted += it.at.len
	}
	return it, err
}

// skip goes on to the next byte where an item may begin.
func (w *walker) skip() error {
	f := w.win.f
	for w.off < f.streamLen {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		b, err := w.win.bytes(w.off, min(f.streamLen-w.off, minItem), scanAhead)
		switch {
		case err == nil:
		case f.chunk > 0 && errors.Is(err, encoding.ErrCorrupt): // on with the next chunk
			w.off += int64(f.chunk) - w.off%int64(f.chunk)
			continue
		default:
			return err
		}
		if b[0] == itemMagic {
			return nil
		}
		// What the window has from here on needs no further reads.
		have := w.win.ahead(w.off)
		if i := bytes.IndexByte(have, itemMagic); i >= 0 {
			w.off += int64(i)
			return nil
		}
		w.off += int64(len(have))
	}
	return nil
}

// chunkFinder finds outer chunks in a file without its footer. Where bytes
// look like the head of a chunk, its checksum decides. What it reads in vain
// is at most twice the file, but once the file for heads of raw chunks that
// are not full, of which a file has one at most and other bytes make many.
type chunkFinder struct {
	ctx    context.Context
	f      *file // the salvaged one
	win    window
	end    int64 // of the bytes behind the file header
	wasted [2]int64
}

// findChunks finds the outer chunks. What lies between two chunks and is none
// counts as one, which does not decode.
func (s *Salvaged) findChunks() error {
	f := &s.r.file
	raw := &file{r: f.r, ctx: f.ctx, size: f.size, name: f.name, streamLen: f.size - fileHeaderLen}
	c := chunkFinder{ctx: s.ctx, f: f, win: window{f: raw, ctx: s.ctx}, end: raw.streamLen}
	f.streamLen = 0
	junk := int64(-1)
	for off := int64(0); off < c.end; {
		n, size, err := c.at(off)
		if err != nil {
			return err
		}
		if n == 0 {
			if junk < 0 {
				junk = off
			}
			off++
			continue
		}
		if junk >= 0 {
			f.chunkAt = append(f.chunkAt, junk+fileHeaderLen)
			junk = -1
		}
		f.streamLen = int64(len(f.chunkAt))*int64(f.chunk) + int64(size)
		f.chunkAt = append(f.chunkAt, off+fileHeaderLen)
		off += n
	}
	if junk < 0 {
		junk = c.end
	} else {
		s.report.Gaps = append(s.report.Gaps, f.atPhysical(
			encoding.Corruptf("stream", "no chunk in the last %d bytes", c.end-junk), "stream", junk+fileHeaderLen))
	}
	f.chunkAt = append(f.chunkAt, junk+fileHeaderLen)
	return nil
}

// at is the whole length of the chunk at off, and how many bytes of the stream
// it says it holds; 0 if there is none.
func (c *chunkFinder) at(off int64) (n int64, size int, err error) {
	if off&(1<<12-1) == 0 {
		if err := c.ctx.Err(); err != nil {
			return 0, 0, err
		}
	}
	b, err := c.win.bytes(off, min(c.end-off, chunkHeader+4), scanAhead)
	if err != nil {
		return 0, 0, err
	}
	if n = c.f.chunkLen(b); n == 0 || n > c.end-off {
		return 0, 0, nil
	}
	budget, wasted := 2*c.end, &c.wasted[0]
	switch frame := binary.LittleEndian.Uint32(b)&zstdFlag != 0; {
	case frame && binary.LittleEndian.Uint32(b[chunkHeader:]) != zstdMagic:
		return 0, 0, nil
	case !frame && n < int64(c.f.chunk)+chunkFrame:
		budget, wasted = c.end, &c.wasted[1]
	}
	if *wasted > 0 && n > budget-*wasted {
		return 0, 0, nil
	}
	if err := c.ctx.Err(); err != nil {
		return 0, 0, err
	}
	if b, err = c.win.bytes(off, n, scanAhead); err != nil {
		return 0, 0, err
	}
	if checksum(b[:n-crcBytes]) != binary.LittleEndian.Uint32(b[n-crcBytes:]) {
		*wasted += n
		return 0, 0, nil
	}
	return n, logicalLen(b, c.f.chunk), nil
}

// zstdMagic begins a Zstd frame.
const zstdMagic = 0xfd2fb528

// chunkLen is the whole length of the chunk that begins with b, or 0.
func (f *file) chunkLen(b []byte) int64 {
	if len(b) < chunkHeader+4 {
		return 0
	}
	n := int64(binary.LittleEndian.Uint32(b) &^ zstdFlag)
	if n == 0 || n > int64(f.chunk) {
		return 0
	}
	return n + chunkFrame
}

// logicalLen is how many bytes of the stream a chunk says it holds.
func logicalLen(b []byte, chunk int) int {
	head := binary.LittleEndian.Uint32(b)
	if head&zstdFlag == 0 {
		return int(head)
	}
	var h zstd.Header
	if h.Decode(b[chunkHeader:]) != nil || !h.HasFCS || h.FrameContentSize > uint64(chunk) {
		return chunk
	}
	return int(h.FrameContentSize)
}

// Salvaged yields what could be read of a file without its footer. It is a
// rowgroup.Iter; damage does not end it.
type Salvaged struct {
	r         *Reader
	ctx       context.Context
	walk      walker
	s         *scratch
	templates []*rowgroup.Template // by number; nil for lost ones
	own       map[int64]ownHead    // partitions of more than one block, by ordinal

	at      int64 // of the open block
	blk     block
	steps   steps // of it
	ordinal int64 // of the partition read last
	key     []byte
	report  SalvageReport
	done    bool
}

// ownHead is what the partition index knows of a partition whose first block
// may be lost.
type ownHead struct {
	key      []byte
	deletion rowgroup.Deletion
}

// SalvageReport says what was found.
type SalvageReport struct {
	Blocks, RowGroups, Rows, Partitions int64
	Gaps                                []error // damaged or missing parts, as they stand in the file
}

var _ rowgroup.Iter = (*Salvaged)(nil)

// Salvage reads a table file front to back without its footer and indexes. It
// needs the file header and the schema, which is in the first item; templates
// are taken in line. Damaged items are skipped and reported.
func Salvage(ctx context.Context, r io.ReaderAt, size int64, opts ...Option) (*Salvaged, error) {
	o := newOptions(opts)
	s := &Salvaged{
		r: &Reader{step: stepBytes, file: newFile(r, size, o.name), foot: &footer{groupRows: encoding.MaxGroupRows, groupBytes: encoding.MaxGroupBytes}}, ctx: ctx,
		own: map[int64]ownHead{}, ordinal: -1,
	}
	f := &s.r.file
	head := make([]byte, fileHeaderLen)
	if size < fileHeaderLen {
		return nil, f.atPhysical(encoding.Corruptf("file", "%d bytes", size), "file", 0)
	}
	if err := f.readAt(ctx, head, 0); err != nil {
		return nil, f.atPhysical(err, "file header", 0)
	}
	_, chunkKiB, err := parseFileHeader(head)
	if err != nil {
		return nil, f.atPhysical(err, "file header", 0)
	}
	f.chunk, f.streamLen = chunkKiB<<10, size-fileHeaderLen
	if whole, err := Open(r, size, opts...); err == nil { // the footer is there, so it is no gap
		f.chunkAt, f.streamLen = whole.file.chunkAt, whole.file.streamLen
		s.r.foot.groupRows, s.r.foot.groupBytes = whole.foot.groupRows, whole.foot.groupBytes
		if err := whole.Close(); err != nil {
			return nil, err
		}
	} else if f.chunk > 0 {
		if err := s.findChunks(); err != nil {
			return nil, err
		}
	}
	if err := s.survey(); err != nil {
		return nil, err
	}
	s.r.users.Store(1)
	if s.s, err = s.r.scratch(ctx); err != nil {
		return nil, err
	}
	s.walk = walker{ctx: ctx, win: window{f: f, ctx: ctx}, wanted: "D", gap: func(damage error, at, n int64) {
		s.report.Gaps = append(s.report.Gaps, f.at(damage, fmt.Sprintf("%d bytes of the stream", n), at))
	}}
	return s, nil
}

// survey finds the schema, the templates and the keys in the index pages.
func (s *Salvaged) survey() error {
	f := &s.r.file
	w := walker{ctx: s.ctx, win: window{f: f, ctx: s.ctx}, wanted: "STI", gap: func(error, int64, int64) {}}
	for {
		it, ok, err := w.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		switch schema := s.r.foot.schema; {
		case it.kind == kindSchema && schema == nil:
			if s.r.foot.schema, err = parseSchema(it.body); err != nil {
				return f.at(err, "schema", it.at.off)
			}
		case schema == nil:
		case it.kind == kindTemplate:
			s.template(it)
		case it.kind == kindIndex && it.fields[0] == indexPartition && it.fields[1] == 0:
			p, err := new(pageParser).page(schema, &it.header, it.at.off, it.body)
			if err != nil {
				continue
			}
			for _, o := range p.own {
				s.own[p.ordinals[o.entry]] = ownHead{slices.Clone(p.keys.At(o.entry)), deletionOf(p.deleted, o.entry)}
			}
		}
	}
	if s.r.foot.schema == nil {
		return f.at(encoding.Corruptf("schema", "not found in the stream"), "schema", 0)
	}
	return nil
}

// template keeps a template under its number.
func (s *Salvaged) template(it walked) {
	n := it.fields[0]
	if n > uint64(it.at.off)/minItem { // as many cannot stand before it
		return
	}
	t, err := rowgroup.ParseTemplate(s.r.foot.schema, slices.Clone(it.body))
	if err != nil {
		return
	}
	for len(s.templates) <= int(n) {
		s.templates = append(s.templates, nil)
	}
	s.templates[n] = t
}

// Schema is the table's schema.
func (s *Salvaged) Schema() *rowgroup.Schema { return s.r.foot.schema }

// Report says what was found so far; after the last Next, of the whole file.
func (s *Salvaged) Report() *SalvageReport { return &s.report }

// Next fills b with rows of the next block that can be read. Errors are of I/O
// or of the context.
func (s *Salvaged) Next(b *rowgroup.Batch) (bool, error) {
	for !s.done {
		var damage error
		if s.steps.at < s.steps.groups {
			if damage = s.step(b); damage == nil {
				return true, nil
			}
			s.steps = steps{}
		} else {
			it, ok, err := s.walk.next()
			if err != nil {
				return false, err
			}
			if !ok {
				s.done = true
				break
			}
			if it.kind != kindData {
				continue
			}
			s.at = it.at.off
			damage = s.open(&it)
		}
		if damage != nil {
			s.report.Gaps = append(s.report.Gaps, s.r.file.at(damage, "block", s.at))
		}
	}
	b.Reset()
	return false, nil
}

// open opens a block.
func (s *Salvaged) open(it *walked) error {
	blk, err := it.block()
	if err != nil {
		return err
	}
	if blk.template >= len(s.templates) || s.templates[blk.template] == nil {
		return encoding.Corruptf("block", "its template %d is lost", blk.template)
	}
	if blk.ordinal < s.ordinal {
		return encoding.Corruptf("block", "partition %d after partition %d", blk.ordinal, s.ordinal)
	}
	if _, indexed := s.own[blk.ordinal]; blk.parts == 0 && blk.ordinal != s.ordinal && !indexed {
		return encoding.Corruptf("block", "%d rows of partition %d, whose key is lost", blk.rows, blk.ordinal)
	}
	if err := s.s.dec.Open(s.templates[blk.template], blk.groups, blk.rows, blk.parts, it.body); err != nil {
		return err
	}
	s.blk, s.steps = blk, steps{0, blk.groups}
	return nil
}

// step reads the next groups of the open block.
func (s *Salvaged) step(b *rowgroup.Batch) error {
	blk, begins := &s.blk, s.steps.at == 0
	head, lost := s.own[blk.ordinal], begins && blk.parts == 0 && blk.ordinal != s.ordinal
	if lost { // the first block, with the static row
		s.key = append(s.key[:0], head.key...)
	}
	from := s.steps.at
	if err := s.steps.next(b, s.s, s.key, nil); err != nil {
		return err
	}
	if lost {
		b.Partition(0).Continued, b.Partition(0).Deletion = false, head.deletion
	}
	s.key = lastKey(s.key, b)
	s.report.RowGroups += int64(s.steps.at - from)
	s.report.Rows += int64(b.Len() - len(*b.Markers()))
	if begins {
		s.report.Blocks++
		s.ordinal = blk.ordinal + int64(max(0, blk.parts-1))
		s.report.Partitions += int64(blk.parts)
	}
	return nil
}

// Close frees what it holds; a second call does nothing.
func (s *Salvaged) Close() error {
	s.done, s.s = true, nil
	return nil
}
