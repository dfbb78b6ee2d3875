package parquetfmt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sort"

	"github.com/parquet-go/parquet-go/format"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/parquetfmt/internal/page"
)

// chunkReader reads the entries of one column chunk, page by page.
type chunkReader struct {
	r     io.ReaderAt
	codec *page.Codec
	*node
	group  int
	meta   *format.ColumnMetaData
	off    int64 // of the next page
	end    int64
	values int64 // entries in pages to come
	rows   int64 // rows of the group in pages to come, known where maxRep is 0
	index  []format.PageLocation

	window    []byte // file bytes from windowOff on
	windowOff int64
	header    format.PageHeader
	pages     int // number of the page at hand, the dictionary counted
	body, raw []byte
	dictBody  []byte
	dict      page.Values
	hasDict   bool

	left       int // entries left in the page at hand
	defs, reps page.Hybrid
	data       page.Reader
	levels     []uint32
}

// open begins a chunk.
func (c *chunkReader) open(r io.ReaderAt, n *node, group int, rows int64, m *format.ColumnMetaData, index []format.PageLocation) {
	c.r, c.node, c.group, c.meta, c.index = r, n, group, m, index
	c.off = chunkStart(m)
	c.end = c.off + m.TotalCompressedSize
	c.values, c.rows = m.NumValues, rows
	c.window, c.windowOff, c.pages, c.left, c.hasDict = c.window[:0], 0, 0, 0, false
}

// fail names the place of an error in the file.
func (c *chunkReader) fail(err error) error {
	return fmt.Errorf("row group %d, column %s, page %d: %w", c.group, c.node, max(c.pages-1, 0), err)
}

const readAhead = 128 << 10

// peek returns up to n bytes from off on, fewer only at the end of the chunk.
// They are valid until the next call.
func (c *chunkReader) peek(n int) ([]byte, error) {
	n = int(min(int64(n), c.end-c.off))
	from := c.off - c.windowOff
	if from < 0 || from+int64(n) > int64(len(c.window)) {
		size := int(min(int64(max(n, readAhead)), c.end-c.off))
		c.window = slices.Grow(c.window[:0], size)[:size]
		c.windowOff, from = c.off, 0
		if err := readAt(c.r, c.window, c.off); err != nil {
			c.window = c.window[:0]
			return nil, err
		}
	}
	return c.window[from : from+int64(n)], nil
}

// readHeader reads the header of the next page.
func (c *chunkReader) readHeader() error {
	if c.off >= c.end {
		return encoding.Corruptf("column chunk", "it ends before its %d last values", c.values)
	}
	for n := 512; ; n *= 16 {
		b, err := c.peek(n)
		if err != nil {
			return err
		}
		size, err := decodePageHeader(b, &c.header)
		if errors.Is(err, errCut) && len(b) == n && n < 16<<20 {
			continue
		}
		if err != nil {
			return err
		}
		c.off += int64(size)
		break
	}
	h := &c.header
	if h.CompressedPageSize < 0 || int64(h.CompressedPageSize) > c.end-c.off || h.UncompressedPageSize < 0 || h.UncompressedPageSize > page.MaxBytes {
		return encoding.Corruptf("page", "%d bytes stored, %d in all", h.CompressedPageSize, h.UncompressedPageSize)
	}
	return nil
}

// entriesOf is the number of entries of a data page by its header.
func entriesOf(h *format.PageHeader) (n int32, ok bool) {
	switch {
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		return h.DataPageHeader.V.NumValues, true
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		return h.DataPageHeaderV2.V.NumValues, true
	}
	return 0, false
}

// nextPage opens the next data page. Where maxRep is 0 it passes over pages
// whose entries are all among the next skip ones, and returns how many those
// were.
func (c *chunkReader) nextPage(skip int64) (skipped int64, err error) {
	for {
		if c.values == 0 {
			return skipped, encoding.Corruptf("column chunk", "fewer values than rows")
		}
		if err := c.readHeader(); err != nil {
			return skipped, c.fail(err)
		}
		c.pages++
		h := &c.header
		if h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid {
			if err := c.readDictionary(); err != nil {
				return skipped, c.fail(err)
			}
			continue
		}
		n, ok := entriesOf(h)
		if !ok {
			if h.Type == format.IndexPage {
				c.off += int64(h.CompressedPageSize)
				continue
			}
			return skipped, c.fail(encoding.Corruptf("page", "type %d", h.Type))
		}
		if n < 0 || int64(n) > c.values {
			return skipped, c.fail(encoding.Corruptf("page", "%d values where %d are left", n, c.values))
		}
		c.values -= int64(n)
		if c.maxRep == 0 && int64(n) <= skip-skipped {
			c.off += int64(h.CompressedPageSize)
			skipped += int64(n)
			if skipped == skip {
				return skipped, nil
			}
			continue
		}
		if n == 0 {
			c.off += int64(h.CompressedPageSize)
			continue
		}
		if err := c.openPage(); err != nil {
			return skipped, c.fail(err)
		}
		return skipped, nil
	}
}

// stored reads the body of the page at hand as it is stored, and checks it.
func (c *chunkReader) stored() ([]byte, error) {
	b, err := c.peek(int(c.header.CompressedPageSize))
	if err != nil {
		return nil, err
	}
	c.off += int64(len(b))
	if crc := c.header.CRC; crc != 0 && uint32(crc) != crc32.ChecksumIEEE(b) {
		return nil, encoding.Corruptf("page", "checksum mismatch")
	}
	return b, nil
}

func (c *chunkReader) readDictionary() error {
	b, err := c.stored()
	if err != nil {
		return err
	}
	h := &c.header.DictionaryPageHeader.V
	if h.Encoding != format.Plain && h.Encoding != page.PlainDictionary || h.NumValues < 0 {
		return encoding.Corruptf("dictionary", "%d values in encoding %s", h.NumValues, h.Encoding)
	}
	if c.hasDict {
		return encoding.Corruptf("dictionary", "a second one")
	}
	if c.dictBody, err = c.codec.Decompress(c.dictBody[:0], c.meta.Codec, b, int(c.header.UncompressedPageSize)); err != nil {
		return err
	}
	c.dict.Init(c.typ, int(c.length))
	c.hasDict = true
	return page.DecodePlain(&c.dict, c.dictBody, int(h.NumValues))
}

// openPage makes the data page whose header was read ready to be read.
func (c *chunkReader) openPage() error {
	b, err := c.stored()
	if err != nil {
		return err
	}
	var dict *page.Values
	if c.hasDict {
		dict = &c.dict
	}
	size := int(c.header.UncompressedPageSize)
	if c.header.Type == format.DataPageV2 {
		h := &c.header.DataPageHeaderV2.V
		reps, defs := int(h.RepetitionLevelsByteLength), int(h.DefinitionLevelsByteLength)
		if reps < 0 || defs < 0 || reps > len(b) || defs > len(b)-reps || reps+defs > size || h.NumNulls < 0 || h.NumNulls > h.NumValues {
			return encoding.Corruptf("page", "levels of %d and %d bytes, %d nulls of %d values", reps, defs, h.NumNulls, h.NumValues)
		}
		c.left = int(h.NumValues)
		values := c.left
		if c.maxDef > 0 {
			values -= int(h.NumNulls)
		}
		if err := c.reps.Reset(b[:reps], page.LevelWidth(c.maxRep)); err != nil {
			return err
		}
		if err := c.defs.Reset(b[reps:reps+defs], page.LevelWidth(c.maxDef)); err != nil {
			return err
		}
		rest := b[reps+defs:]
		if h.IsCompressed.Valid && !h.IsCompressed.V || c.meta.Codec == format.Uncompressed {
			if len(rest) != size-reps-defs {
				return encoding.Corruptf("page", "%d bytes in place of %d", len(rest), size-reps-defs)
			}
		} else if c.raw, err = c.codec.Decompress(c.raw[:0], c.meta.Codec, rest, size-reps-defs); err != nil {
			return err
		} else {
			rest = c.raw
		}
		if c.maxRep > 0 || c.maxDef > 0 {
			// Levels outlive the window of the file.
			c.body = append(c.body[:0], b[:reps+defs]...)
			_ = c.reps.Reset(c.body[:reps], page.LevelWidth(c.maxRep)) // as before
			_ = c.defs.Reset(c.body[reps:], page.LevelWidth(c.maxDef))
		}
		return c.data.Reset(c.typ, int(c.length), h.Encoding, c.own(rest), values, dict)
	}
	h := &c.header.DataPageHeader.V
	if c.meta.Codec == format.Uncompressed {
		if len(b) != size {
			return encoding.Corruptf("page", "%d bytes in place of %d", len(b), size)
		}
		c.raw = append(c.raw[:0], b...)
	} else if c.raw, err = c.codec.Decompress(c.raw[:0], c.meta.Codec, b, size); err != nil {
		return err
	}
	rest := c.raw
	c.left = int(h.NumValues)
	if rest, err = c.levelsV1(&c.reps, rest, c.maxRep, h.RepetitionLevelEncoding); err != nil {
		return err
	}
	defs := rest
	if rest, err = c.levelsV1(&c.defs, rest, c.maxDef, h.DefinitionLevelEncoding); err != nil {
		return err
	}
	values := c.left
	if c.maxDef > 0 {
		if values, err = c.count(c.left); err != nil {
			return err
		}
		if _, err = c.levelsV1(&c.defs, defs, c.maxDef, h.DefinitionLevelEncoding); err != nil {
			return err
		}
	}
	return c.data.Reset(c.typ, int(c.length), h.Encoding, rest, values, dict)
}

// own is b in memory that stays while the page is read.
func (c *chunkReader) own(b []byte) []byte {
	if len(b) > 0 && len(c.raw) > 0 && &b[0] == &c.raw[0] {
		return b
	}
	c.raw = append(c.raw[:0], b...)
	return c.raw
}

// levelsV1 begins the levels at the start of src and returns what follows them.
func (c *chunkReader) levelsV1(h *page.Hybrid, src []byte, most uint8, e format.Encoding) ([]byte, error) {
	if most == 0 {
		return src, nil
	}
	if e != format.RLE {
		return nil, fmt.Errorf("%w: levels in encoding %s", encoding.ErrUnsupported, e)
	}
	if len(src) < 4 {
		return nil, encoding.Corruptf("page", "levels are cut")
	}
	n := binary.LittleEndian.Uint32(src)
	if uint64(n) > uint64(len(src)-4) {
		return nil, encoding.Corruptf("page", "levels of %d bytes in %d", n, len(src)-4)
	}
	return src[4+n:], h.Reset(src[4:4+n], page.LevelWidth(most))
}

// count takes n definition levels and says how many are of values.
func (c *chunkReader) count(n int) (values int, err error) {
	for n > 0 {
		if v, ok := c.defs.Run(n); ok {
			if v == uint32(c.maxDef) {
				values += n
			}
			return values, nil
		}
		k := min(n, 4096)
		c.levels = slices.Grow(c.levels[:0], k)[:k]
		if err := c.defs.Next(c.levels); err != nil {
			return 0, err
		}
		for _, x := range c.levels {
			if x == uint32(c.maxDef) {
				values++
			} else if x > uint32(c.maxDef) {
				return 0, encoding.Corruptf("levels", "level %d of %d", x, c.maxDef)
			}
		}
		n -= k
	}
	return values, nil
}

// read appends the next n rows of a leaf without repetition: values, zeros
// where there is none, and which those are. nulls is empty as long as there are
// none.
func (c *chunkReader) read(values *page.Values, nulls []bool, n int) (_ []bool, err error) {
	note := func(null bool, k int) {
		if at := values.Len(); null && len(nulls) == 0 {
			nulls = slices.Grow(nulls, at)[:at-k]
			clear(nulls)
		} else if len(nulls) == 0 {
			return
		}
		for range k {
			nulls = append(nulls, null)
		}
	}
	for n > 0 {
		if c.left == 0 {
			if _, err := c.nextPage(0); err != nil {
				return nulls, err
			}
		}
		k := min(n, c.left)
		if c.maxDef == 0 {
			if err := c.data.Next(values, k); err != nil {
				return nulls, c.fail(err)
			}
			note(false, k)
		} else if v, ok := c.defs.Run(k); ok {
			if v == uint32(c.maxDef) {
				err = c.data.Next(values, k)
			} else {
				values.AppendZeros(k)
			}
			if err != nil {
				return nulls, c.fail(err)
			}
			note(v != uint32(c.maxDef), k)
		} else {
			k = min(k, 4096)
			c.levels = slices.Grow(c.levels[:0], k)[:k]
			if err := c.defs.Next(c.levels); err != nil {
				return nulls, c.fail(err)
			}
			for i := 0; i < k; {
				there := c.levels[i] == uint32(c.maxDef)
				from := i
				for i < k && (c.levels[i] == uint32(c.maxDef)) == there {
					i++
				}
				if there {
					if err := c.data.Next(values, i-from); err != nil {
						return nulls, c.fail(err)
					}
				} else {
					values.AppendZeros(i - from)
				}
				note(!there, i-from)
			}
		}
		c.left -= k
		n -= k
	}
	return nulls, nil
}

// readRuns is read for columns whose values are runs of equal ones: it appends a
// value for each, which ends before row ends[k] of those asked for. A null is a
// run by itself.
func (c *chunkReader) readRuns(values *page.Values, ends []int, nulls []bool, n int) (_ []int, _ []bool, err error) {
	for at := 0; at < n; {
		if c.left == 0 {
			if _, err := c.nextPage(0); err != nil {
				return ends, nulls, err
			}
		}
		k, there := min(n-at, c.left), true
		if c.maxDef > 0 {
			level, run, err := c.defs.NextRun(k)
			if err != nil {
				return ends, nulls, c.fail(err)
			}
			k, there = run, level == uint32(c.maxDef)
		}
		c.left -= k
		if !there {
			values.AppendZeros(1)
			at += k
			ends, nulls = append(ends, at), append(nulls, true)
			continue
		}
		for k > 0 {
			run, err := c.data.NextRun(values, k)
			if err != nil {
				return ends, nulls, c.fail(err)
			}
			at, k = at+run, k-run
			if last := len(ends) - 1; last >= 0 && !nulls[last] && sameValue(values, last+1) {
				values.Truncate(last + 1)
				ends[last] = at
				continue
			}
			ends, nulls = append(ends, at), append(nulls, false)
		}
	}
	return ends, nulls, nil
}

// skip passes over the next n rows of a leaf without repetition.
func (c *chunkReader) skip(n int64) error {
	for n > 0 {
		if c.left == 0 {
			n -= c.jump(n)
			skipped, err := c.nextPage(n)
			if err != nil {
				return err
			}
			if n -= skipped; n == 0 {
				return nil
			}
		}
		k := int(min(n, int64(c.left)))
		values := k
		if c.maxDef > 0 {
			var err error
			if values, err = c.count(k); err != nil {
				return c.fail(err)
			}
		}
		if err := c.data.Skip(values); err != nil {
			return c.fail(err)
		}
		c.left -= k
		n -= int64(k)
	}
	return nil
}

// jump goes to the page that has the n-th row from here by the offset index, and
// returns how many rows that passes over: none without an index.
func (c *chunkReader) jump(n int64) int64 {
	at := c.meta.NumValues - c.values // the row here
	i := sort.Search(len(c.index), func(i int) bool { return c.index[i].FirstRowIndex > at+n }) - 1
	if i <= 0 || c.index[i].FirstRowIndex <= at || c.index[i].FirstRowIndex > c.meta.NumValues {
		return 0
	}
	to := c.index[i].Offset
	if to < c.off || to >= c.end {
		return 0
	}
	if !c.hasDict && c.pages == 0 && c.off < c.meta.DataPageOffset { // read on the way
		if c.readHeader() != nil {
			return 0
		}
		c.pages++
		if c.header.Type != format.DictionaryPage || !c.header.DictionaryPageHeader.Valid || c.readDictionary() != nil {
			c.off, c.pages, c.hasDict = chunkStart(c.meta), 0, false
			return 0
		}
	}
	jumped := c.index[i].FirstRowIndex - at
	c.off, c.values = to, c.values-jumped
	c.pages += i
	return jumped
}

// entries are the entries of leaves with repetition that were read and not yet
// taken.
type entries struct {
	defs, reps []uint8
	values     page.Values
	entry      int // defs[entry:] are not yet taken
	value      int
}

// fill reads pages until more than n rows are there, or all that the chunk has.
func (c *chunkReader) fill(e *entries, n int) error {
	// What was taken makes room.
	if e.entry > 0 {
		e.defs = append(e.defs[:0], e.defs[e.entry:]...)
		if c.maxRep > 0 {
			e.reps = append(e.reps[:0], e.reps[e.entry:]...)
		}
		var rest page.Values
		rest.Init(c.typ, int(c.length))
		if err := rest.AppendRange(&e.values, e.value, e.values.Len()); err != nil {
			return err
		}
		e.values, e.entry, e.value = rest, 0, 0
	}
	rows := len(e.defs)
	if c.maxRep > 0 {
		rows = 0
		for _, r := range e.reps {
			if r == 0 {
				rows++
			}
		}
	}
	for rows <= n && c.values > 0 {
		if len(e.defs) > page.MaxValues { // pages of a few bytes can go on so
			return c.fail(fmt.Errorf("%w: a row of more than %d values", encoding.ErrUnsupported, page.MaxValues))
		}
		if _, err := c.nextPage(0); err != nil {
			return err
		}
		k := c.left
		if k > page.MaxValues {
			return c.fail(fmt.Errorf("%w: a page of %d values", encoding.ErrUnsupported, k))
		}
		take := func(h *page.Hybrid, dst []uint8, most uint8) ([]uint8, error) {
			c.levels = slices.Grow(c.levels[:0], k)[:k]
			if err := h.Next(c.levels); err != nil {
				return dst, err
			}
			for _, x := range c.levels {
				if x > uint32(most) {
					return dst, encoding.Corruptf("levels", "level %d of %d", x, most)
				}
				dst = append(dst, uint8(x))
			}
			return dst, nil
		}
		at := len(e.defs)
		var err error
		if c.maxDef == 0 {
			e.defs = appendN(e.defs, 0, k)
		} else if e.defs, err = take(&c.defs, e.defs, c.maxDef); err != nil {
			return c.fail(err)
		}
		if c.maxRep == 0 {
			rows += k
		} else {
			if e.reps, err = take(&c.reps, e.reps, c.maxRep); err != nil {
				return c.fail(err)
			}
			for _, r := range e.reps[at:] {
				if r == 0 {
					rows++
				}
			}
		}
		values := 0
		for _, d := range e.defs[at:] {
			if d == c.maxDef {
				values++
			}
		}
		if err := c.data.Next(&e.values, values); err != nil {
			return c.fail(err)
		}
		c.left = 0
	}
	if rows < n {
		return c.fail(encoding.Corruptf("column chunk", "fewer rows than the row group has"))
	}
	return nil
}
