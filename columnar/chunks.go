package columnar

import (
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/internal/zstdframe"
)

// Bytes around what an outer chunk stores.
const (
	chunkHeader = 4
	chunkFrame  = chunkHeader + crcBytes
	zstdFlag    = 1 << 31
)

// writeBuffer is how much an uncompressed stream gathers before a write.
const writeBuffer = 64 << 10

// streamWriter turns the logical stream into the bytes of the file, chunk by
// chunk where the table has an outer compression.
type streamWriter struct {
	w      io.Writer
	chunk  int // logical bytes a chunk, or 0
	enc    *zstd.Encoder
	buf    []byte
	out    []byte
	off    int64   // logical bytes so far
	stored []int64 // bytes that each chunk stores
}

func newStreamWriter(w io.Writer, chunkKiB int) (*streamWriter, error) {
	s := &streamWriter{w: w, chunk: chunkKiB << 10}
	if s.chunk == 0 {
		return s, nil
	}
	window := zstd.MinWindowSize
	for window < s.chunk {
		window <<= 1
	}
	var err error
	s.enc, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true), zstd.WithWindowSize(window))
	return s, err
}

// Write appends p to the logical stream.
func (s *streamWriter) Write(p []byte) (int, error) {
	n := len(p)
	s.off += int64(n)
	if s.chunk == 0 {
		if n > writeBuffer { // as it is
			if err := s.flush(); err != nil {
				return 0, err
			}
			return n, writeFull(s.w, p)
		}
		s.buf = append(s.buf, p...)
		if len(s.buf) < writeBuffer {
			return n, nil
		}
		return n, s.flush()
	}
	for len(p) > 0 {
		k := min(len(p), s.chunk-len(s.buf))
		s.buf = append(s.buf, p[:k]...)
		p = p[k:]
		if len(s.buf) == s.chunk {
			if err := s.flush(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

// flush writes what is gathered, the last chunk if it is not full.
func (s *streamWriter) flush() error {
	if len(s.buf) == 0 {
		return nil
	}
	out := s.buf
	if s.chunk > 0 {
		s.out = appendChunk(s.out[:0], s.buf, s.enc)
		s.stored = append(s.stored, int64(len(s.out)-chunkFrame))
		out = s.out
	}
	s.buf = s.buf[:0]
	return writeFull(s.w, out)
}

func writeFull(w io.Writer, p []byte) error {
	n, err := w.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return err
}

// appendChunk appends the chunk of raw, compressed where that is smaller.
func appendChunk(dst, raw []byte, enc *zstd.Encoder) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = enc.EncodeAll(raw, dst)
	n, flag := len(dst)-at-chunkHeader, uint32(zstdFlag)
	if n >= len(raw) {
		dst = append(dst[:at+chunkHeader], raw...)
		n, flag = len(raw), 0
	}
	binary.LittleEndian.PutUint32(dst[at:], uint32(n)|flag)
	return binary.LittleEndian.AppendUint32(dst, checksum(dst[at:]))
}

// decodeChunk decodes src, a whole stored chunk, into dst, whose length is
// the chunk's.
func decodeChunk(dst, src []byte) error {
	if len(src) <= chunkFrame {
		return encoding.Corruptf("chunk", "%d bytes", len(src))
	}
	end := len(src) - crcBytes
	if checksum(src[:end]) != binary.LittleEndian.Uint32(src[end:]) {
		return encoding.Corruptf("chunk", "checksum mismatch")
	}
	head := binary.LittleEndian.Uint32(src)
	if n := int64(head &^ zstdFlag); n != int64(end-chunkHeader) {
		return encoding.Corruptf("chunk", "stores %d bytes, the footer says %d", n, end-chunkHeader)
	}
	body := src[chunkHeader:end]
	if head&zstdFlag == 0 {
		if len(body) != len(dst) {
			return encoding.Corruptf("chunk", "%d raw bytes for %d", len(body), len(dst))
		}
		copy(dst, body)
		return nil
	}
	if len(body) >= len(dst) {
		return encoding.Corruptf("chunk", "a Zstd frame of %d bytes for %d", len(body), len(dst))
	}
	if err := zstdframe.Decode(dst, body); err != nil {
		return &encoding.CorruptError{Part: "chunk", Offset: -1, Err: err}
	}
	return nil
}
