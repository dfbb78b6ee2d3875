package columnar

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/internal/invariants"
)

// file gives access to the logical stream of a table file. It is safe for
// concurrent use once it is set up.
type file struct {
	r         io.ReaderAt
	size      int64
	name      string
	streamLen int64
	chunk     int     // logical bytes a chunk, or 0
	chunkAt   []int64 // where each chunk begins in the file, and where the last ends
	tail      []byte  // the end of the file
}

// crc is the number of bytes of an item's checksum.
func (f *file) crc() int {
	if f.chunk > 0 {
		return 0
	}
	return crcBytes
}

// physical is the file offset of a logical offset, or of the chunk that holds
// it.
func (f *file) physical(off int64) int64 {
	if f.chunk == 0 {
		return off + fileHeaderLen
	}
	i := off / int64(f.chunk)
	if i < 0 || i >= int64(len(f.chunkAt)) {
		return -1
	}
	return f.chunkAt[i]
}

// readAt reads len(dst) bytes at a file offset.
func (f *file) readAt(dst []byte, at int64) error {
	if from := at - (f.size - int64(len(f.tail))); from >= 0 && from+int64(len(dst)) <= int64(len(f.tail)) {
		copy(dst, f.tail[from:])
		return nil
	}
	n, err := f.r.ReadAt(dst, at)
	switch {
	case n == len(dst):
		return nil
	case err == io.EOF || err == nil:
		return &encoding.CorruptError{
			File: f.name, Part: "file", Offset: at,
			Reason: fmt.Sprintf("truncated: %d of %d bytes", n, len(dst)),
		}
	case f.name != "":
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return err
}

// at adds to an error the file, the part and the file offset of the logical
// offset where it begins. Errors that are not about the bytes pass through.
func (f *file) at(err error, part string, off int64) error {
	return f.atPhysical(err, part, f.physical(off))
}

func (f *file) atPhysical(err error, part string, at int64) error {
	var c *encoding.CorruptError
	if !errors.As(err, &c) {
		if errors.Is(err, encoding.ErrUnsupported) && f.name != "" {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		return err
	}
	if c.Offset >= 0 {
		return err
	}
	e := &encoding.CorruptError{File: f.name, Part: part, Offset: at, Err: err}
	if direct, ok := err.(*encoding.CorruptError); ok && strings.HasPrefix(part, direct.Part) { //nolint:errorlint // not one that something wraps
		e.Reason, e.Err = direct.Reason, direct.Err
	}
	return e
}

// window is a part of the logical stream in memory. Each iterator has its own.
type window struct {
	f      *file
	buf    []byte
	at     int64
	stored []byte
}

// bytes are the n bytes at off, valid until the next call. If it has to read,
// it reads on to ahead bytes from off.
func (w *window) bytes(off, n, ahead int64) ([]byte, error) {
	if from := off - w.at; from >= 0 && from+n <= int64(len(w.buf)) {
		return w.buf[from : from+n : from+n], nil
	}
	f := w.f
	if off < 0 || n < 0 || n > f.streamLen-off {
		return nil, encoding.Corruptf("stream", "%d bytes at %d are beyond its end at %d", n, off, f.streamLen)
	}
	end := off + n
	if ahead > n {
		end = min(f.streamLen, off+ahead)
	}
	if f.chunk > 0 {
		if err := w.chunks(off/int64(f.chunk), (end+int64(f.chunk)-1)/int64(f.chunk)); err != nil {
			return nil, err
		}
	} else if err := w.raw(off, end); err != nil {
		return nil, err
	}
	from := off - w.at
	return w.buf[from : from+n : from+n], nil
}

// slide makes off the start of the window and keeps what it has from there on.
func (w *window) slide(off int64) {
	kept := 0
	if from := off - w.at; from >= 0 && from < int64(len(w.buf)) {
		kept = copy(w.buf, w.buf[from:])
	}
	invariants.Mangle(w.buf[kept:])
	w.buf, w.at = w.buf[:kept], off
}

func (w *window) raw(off, end int64) error {
	w.slide(off)
	kept := len(w.buf)
	w.buf = slices.Grow(w.buf, int(end-off)-kept)[:end-off]
	if err := w.f.readAt(w.buf[kept:], w.f.physical(off)+int64(kept)); err != nil {
		w.buf = w.buf[:0]
		return err
	}
	return nil
}

// chunks makes the window hold outer chunks [from, to).
func (w *window) chunks(from, to int64) error {
	f := w.f
	size := int64(f.chunk)
	w.slide(from * size)
	for i := from + int64(len(w.buf))/size; i < to; i++ {
		n := int(min(size, f.streamLen-i*size))
		kept := len(w.buf)
		w.buf = slices.Grow(w.buf, n)[:kept+n]
		if err := w.readChunk(w.buf[kept:], i); err != nil {
			w.buf = w.buf[:0]
			return err
		}
	}
	return nil
}

func (w *window) readChunk(dst []byte, i int64) error {
	f := w.f
	n := int(f.chunkAt[i+1] - f.chunkAt[i])
	w.stored = slices.Grow(w.stored[:0], n)[:n]
	if err := f.readAt(w.stored, f.chunkAt[i]); err != nil {
		return err
	}
	if err := decodeChunk(dst, w.stored); err != nil {
		return f.atPhysical(err, fmt.Sprintf("chunk %d", i), f.chunkAt[i])
	}
	return nil
}

// header is the header of the item at off.
func (w *window) header(off, ahead int64) (h header, err error) {
	f := w.f
	b, err := w.bytes(off, min(maxHeader, f.streamLen-off), ahead)
	if err != nil {
		return h, err
	}
	return parseHeader(b, f.crc(), f.streamLen-off)
}

// body is the body of the item at off, which has header h, its checksum
// verified. It is valid until the next call.
func (w *window) body(off int64, h *header, ahead int64) ([]byte, error) {
	crc := w.f.crc()
	b, err := w.bytes(off, h.length(crc), ahead)
	if err != nil {
		return nil, err
	}
	return itemBody(b, h, crc)
}

// verify reads the item at off, which has header h, piece by piece, and
// verifies its checksum.
func (w *window) verify(off int64, h *header) error {
	sum, end := uint32(0), off+int64(h.size)+int64(h.body)
	for off < end {
		n := min(scanAhead, end-off)
		b, err := w.bytes(off, n, scanAhead)
		if err != nil {
			return err
		}
		sum, off = crc32.Update(sum, castagnoli, b), off+n
	}
	if w.f.crc() == 0 {
		return nil
	}
	b, err := w.bytes(end, crcBytes, scanAhead)
	if err == nil && sum != binary.LittleEndian.Uint32(b) {
		err = encoding.Corruptf(itemName(h.kind), "checksum mismatch")
	}
	return err
}

// item is the item at r, which must be of this kind and length.
func (w *window) item(r ref, kind byte) (h header, body []byte, err error) {
	b, err := w.bytes(r.off, r.len, 0)
	if err != nil {
		return h, nil, err
	}
	crc := w.f.crc()
	if h, err = parseHeader(b, crc, r.len); err != nil {
		return h, nil, err
	}
	if h.kind != kind || h.length(crc) != r.len {
		return h, nil, encoding.Corruptf(itemName(kind), "an item of kind %q and %d bytes; its entry says %q, %d bytes",
			h.kind, h.length(crc), kind, r.len)
	}
	body, err = itemBody(b, &h, crc)
	return h, body, err
}

// itemBody is the body of the whole item b, its checksum verified.
func itemBody(b []byte, h *header, crc int) ([]byte, error) {
	end := h.size + h.body
	if crc > 0 && checksum(b[:end]) != binary.LittleEndian.Uint32(b[end:]) {
		return nil, encoding.Corruptf(itemName(h.kind), "checksum mismatch")
	}
	return b[h.size:end:end], nil
}
