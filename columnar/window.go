package columnar

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/internal/invariants"
	"github.com/colsst/colsst/simd"
)

// window is a part of the logical stream in memory. Each iterator has its own.
type window struct {
	f      *file
	ctx    context.Context // of reads
	trust  bool            // checksums of blocks in memory are verified once
	buf    []byte
	at     int64
	stored []byte
	parser *pageParser // or nil
}

// bytes are the n bytes at off, valid until the next call. If it has to read,
// it reads on to ahead bytes from off.
func (w *window) bytes(off, n, ahead int64) ([]byte, error) {
	if from := off - w.at; from >= 0 && from+n <= int64(len(w.buf)) {
		return within(w.buf[:cap(w.buf)], from, n), nil
	}
	f := w.f
	if off < 0 || n < 0 || n > f.streamLen-off {
		return nil, encoding.Corruptf("stream", "%d bytes at %d are beyond its end at %d", n, off, f.streamLen)
	}
	if f.mem != nil && f.chunk == 0 {
		return f.inMemory(f.physical(off), n), nil
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
	return within(w.buf[:cap(w.buf)], off-w.at, n), nil
}

// kernelRoom is how many bytes behind a body make kernels the faster.
const kernelRoom = 64

// within is b[from:from+n], with the capacity of what follows, for kernels.
func within(b []byte, from, n int64) []byte {
	end := from + n
	return b[from:end:min(end+kernelRoom, int64(len(b)))]
}

// drop forgets what the window holds and keeps its memory, unless that is large.
func (w *window) drop() {
	invariants.Mangle(w.buf)
	if cap(w.buf)+cap(w.stored) > keptWindow {
		w.buf, w.stored = nil, nil
	}
	w.buf, w.at = w.buf[:0], 0
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
	w.buf = slices.Grow(w.buf, int(end-off)-kept+kernelRoom)[:end-off]
	if err := w.f.readAt(w.ctx, w.buf[kept:], w.f.physical(off)+int64(kept)); err != nil {
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
		w.buf = slices.Grow(w.buf, n+kernelRoom)[:kept+n]
		if err := w.readChunk(w.buf[kept:], i); err != nil {
			w.buf = w.buf[:0]
			return err
		}
	}
	return nil
}

func (w *window) readChunk(dst []byte, i int64) error {
	f := w.f
	n := f.chunkAt[i+1] - f.chunkAt[i]
	stored := f.inMemory(f.chunkAt[i], n)
	if stored == nil {
		w.stored = slices.Grow(w.stored[:0], int(n))[:n]
		stored = w.stored
		if err := f.readAt(w.ctx, stored, f.chunkAt[i]); err != nil {
			return err
		}
	}
	if err := decodeChunk(dst, stored); err != nil {
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
	h, err = parseUnchecked(b, f.crc(), f.streamLen-off)
	if err != nil || w.trust && f.seen != nil && f.seen.has(off) { // it was verified with the whole item
		return h, err
	}
	return h, h.verify(b)
}

// ahead are the bytes at off that need no further read.
func (w *window) ahead(off int64) []byte {
	f := w.f
	if f.mem != nil && f.chunk == 0 {
		return f.inMemory(f.physical(off), min(scanAhead, f.streamLen-off))
	}
	if from := off - w.at; from >= 0 && from <= int64(len(w.buf)) {
		return w.buf[from:]
	}
	return nil
}

// body is the body of the item at off, which has header h, its checksum
// verified. It is valid until the next call.
func (w *window) body(off int64, h *header, ahead int64) ([]byte, error) {
	crc := w.f.crc()
	b, err := w.bytes(off, h.length(crc), ahead)
	if err != nil {
		return nil, err
	}
	return w.check(b, off, h)
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
		sum, off = simd.CRC32C(sum, b), off+n
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
	h, err = parseUnchecked(b, crc, r.len)
	if err == nil && crc == 0 { // else the checksum of the whole item covers the header
		err = h.verify(b)
	}
	if err != nil {
		return h, nil, err
	}
	if h.kind != kind || h.length(crc) != r.len {
		return h, nil, encoding.Corruptf(itemName(kind), "an item of kind %q and %d bytes; its entry says %q, %d bytes",
			h.kind, h.length(crc), kind, r.len)
	}
	body, err = w.check(b, r.off, &h)
	return h, body, err
}

// check is the body of b, the whole item at off, whose checksum it verifies
// unless that was done before and is trusted.
func (w *window) check(b []byte, off int64, h *header) ([]byte, error) {
	end := h.size + h.body
	body := b[h.size:end]
	seen := w.f.seen
	trust := w.trust && seen != nil && h.kind == kindData
	if w.f.crc() == 0 || trust && seen.has(off) {
		return body, nil
	}
	if checksum(b[:end]) != binary.LittleEndian.Uint32(b[end:]) {
		return nil, encoding.Corruptf(itemName(h.kind), "checksum mismatch")
	}
	if trust {
		seen.add(off)
	}
	return body, nil
}
