package cassandra

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/colsst/colsst/encoding"
)

// DataFile is Data.db with what is known of its chunks. It never changes and
// may be shared.
//
//	compressed     chunks of CompressionInfo: stored bytes, u32 CRC-32 of them
//	uncompressed   the data; CRC-32s of its chunks in CRC.db
type DataFile struct {
	Name        string // for errors
	File        io.ReaderAt
	Size        int64            // of the file
	Compression *CompressionInfo // or nil
	Checksums   *Checksums       // of an uncompressed file; nil: not checked
}

// plainChunk is the unit of reading where no checksums tell one.
const plainChunk = 64 << 10

// chunkLength is the number of bytes of data in every chunk but the last.
func (d *DataFile) chunkLength() int {
	switch {
	case d.Compression != nil:
		return d.Compression.ChunkLength
	case d.Checksums != nil:
		return d.Checksums.ChunkLength
	}
	return plainChunk
}

// Len is the length of the data, that is of the body.
func (d *DataFile) Len() int64 {
	if d.Compression != nil {
		return d.Compression.DataLength
	}
	return d.Size
}

// numChunks counts the empty chunks at the end too, and those of which only a
// checksum is left.
func (d *DataFile) numChunks() int {
	if d.Compression != nil {
		return len(d.Compression.Offsets)
	}
	n := int64(d.chunkLength())
	chunks := int((d.Size + n - 1) / n)
	if d.Checksums != nil {
		chunks = max(chunks, len(d.Checksums.CRCs))
	}
	return chunks
}

// dataLength is the number of bytes of data in chunk i.
func (d *DataFile) dataLength(i int) int {
	n := d.chunkLength()
	return int(max(0, min(int64(n), d.Len()-int64(i)*int64(n))))
}

// stored is where chunk i lies in the file, its checksum included.
func (d *DataFile) stored(i int) (from, to int64) {
	if d.Compression == nil {
		from = min(int64(i)*int64(d.chunkLength()), d.Size)
		return from, from + int64(d.dataLength(i))
	}
	from, to = d.Compression.Offsets[i], d.Size
	if i+1 < len(d.Compression.Offsets) {
		to = d.Compression.Offsets[i+1]
	}
	return from, to
}

func (d *DataFile) chunkError(i int, err error) error {
	from, _ := d.stored(i)
	return &encoding.CorruptError{File: d.Name, Part: fmt.Sprintf("chunk %d", i), Offset: from, Err: err}
}

// chunkReader reads chunks. It is for one goroutine.
type chunkReader struct {
	*DataFile
	decompressor decompressor
	buf          []byte // stored bytes
}

func newChunkReader(d *DataFile) (*chunkReader, error) {
	r := &chunkReader{DataFile: d}
	if d.Compression == nil {
		return r, nil
	}
	var err error
	if r.decompressor, err = newDecompressor(d.Compression.Compressor); err != nil {
		err = fmt.Errorf("%s: %w", d.Name, err)
	}
	return r, err
}

// read appends the data of chunks [from, to) to dst, with one read of the file.
// After an error dst holds the data of the chunks before the bad one.
func (r *chunkReader) read(dst []byte, from, to int) ([]byte, error) {
	total := 0
	start, end := int64(0), int64(0)
	for i := from; i < to; i++ {
		lo, hi := r.stored(i)
		if i == from {
			start = lo
		}
		if err := r.checkStored(i, lo, hi); err != nil {
			if i > from { // what stands before it first
				var before error
				if dst, before = r.read(dst, from, i); before != nil {
					err = before
				}
			}
			return dst, err
		}
		end = hi
		total += r.dataLength(i)
	}
	r.buf = slices.Grow(r.buf[:0], int(end-start))[:end-start]
	if n, err := r.File.ReadAt(r.buf, start); n < len(r.buf) {
		if errors.Is(err, io.EOF) {
			return dst, &encoding.CorruptError{
				File: r.Name, Part: "file", Offset: start + int64(n),
				Reason: fmt.Sprintf("ends before chunk %d does", to-1),
			}
		}
		return dst, fmt.Errorf("%s: %w", r.Name, err)
	}
	dst = slices.Grow(dst, total)
	for i := from; i < to; i++ {
		lo, hi := r.stored(i)
		at := len(dst)
		dst = dst[:at+r.dataLength(i)]
		if err := r.decode(i, dst[at:], r.buf[lo-start:hi-start]); err != nil {
			return dst[:at], r.chunkError(i, err)
		}
	}
	return dst, nil
}

// checkStored checks a chunk's place before it is read: no compressor makes
// more than twice its input.
func (r *chunkReader) checkStored(i int, lo, hi int64) error {
	if hi < lo || hi > r.Size || r.Compression != nil && hi-lo < crcLength {
		return r.chunkError(i, fmt.Errorf("reaches to %d of %d", hi, r.Size))
	}
	if most := 2*int64(r.chunkLength()) + 1024; hi-lo > most {
		return r.chunkError(i, fmt.Errorf("%d stored bytes, more than %d", hi-lo, most))
	}
	return nil
}

// decode checks the stored bytes of chunk i and fills dst with its data.
func (r *chunkReader) decode(i int, dst, stored []byte) error {
	if r.Compression == nil {
		copy(dst, stored)
		if s := r.Checksums; s != nil {
			if i >= len(s.CRCs) {
				return errors.New("has no checksum")
			}
			return checkCRC(stored, s.CRCs[i])
		}
		return nil
	}
	n := len(stored) - crcLength
	if err := checkCRC(stored[:n], binary.BigEndian.Uint32(stored[n:])); err != nil {
		return err
	}
	stored = stored[:n]
	if n >= r.Compression.MaxCompressedLength { // as it is, perhaps with zeros behind
		if copy(dst, stored) < len(dst) {
			return errLength
		}
		return nil
	}
	return r.decompressor.decompress(dst, stored)
}

func checkCRC(b []byte, want uint32) error {
	if got := crc32.ChecksumIEEE(b); got != want {
		return fmt.Errorf("checksum %08x expected, %08x found", want, got)
	}
	return nil
}

// locate is the chunk that holds a position of the data, and where the chunk
// lies in the file.
func (d *DataFile) locate(position int64) (chunk int, offset int64) {
	chunk = min(int(position/int64(d.chunkLength())), d.numChunks()-1)
	if chunk < 0 {
		return 0, 0
	}
	offset, _ = d.stored(chunk)
	return chunk, offset
}
