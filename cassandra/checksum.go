package cassandra

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"

	"github.com/colsst/colsst/encoding"
)

// Checksums are the CRC-32s of an uncompressed Data.db: CRC.db.
//
//	i32     length of a chunk
//	u32...  one of each chunk, to the end
type Checksums struct {
	ChunkLength int
	CRCs        []uint32
}

// ParseChecksums reads CRC.db.
func ParseChecksums(b []byte) (*Checksums, error) {
	const part = string(ComponentCRC)
	c := cursor{b: b}
	s := &Checksums{ChunkLength: int(c.i32())}
	if c.short || c.left()%4 != 0 {
		return nil, encoding.Corruptf(part, "%d bytes are no chunk length and checksums", len(b))
	}
	if s.ChunkLength <= 0 || s.ChunkLength > maxChunkLength {
		return nil, encoding.Corruptf(part, "chunk length %d", s.ChunkLength)
	}
	s.CRCs = make([]uint32, c.left()/4)
	for i := range s.CRCs {
		s.CRCs[i] = c.u32()
	}
	return s, nil
}

// Append appends the bytes of CRC.db.
func (s *Checksums) Append(dst []byte) []byte {
	dst = appendU32(dst, uint32(s.ChunkLength))
	for _, crc := range s.CRCs {
		dst = appendU32(dst, crc)
	}
	return dst
}

// ParseDigest reads Digest.crc32: the CRC-32 of all of Data.db as it is stored,
// in decimal digits.
func ParseDigest(text []byte) (uint32, error) {
	v, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 32)
	if err != nil {
		return 0, encoding.Corruptf(string(ComponentDigest), "%q is no CRC-32", text[:min(len(text), 32)])
	}
	return uint32(v), nil
}

// checksumFile is the CRC-32 of the size bytes of r.
func checksumFile(ctx context.Context, r io.ReaderAt, size int64) (uint32, error) {
	buf := make([]byte, min(size, 1<<20))
	crc := uint32(0)
	for off := int64(0); off < size; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, err := r.ReadAt(buf[:min(int64(len(buf)), size-off)], off)
		crc = crc32.Update(crc, crc32.IEEETable, buf[:n])
		off += int64(n)
		if err != nil && off < size {
			return 0, fmt.Errorf("%s: %w", ComponentData, err)
		}
	}
	return crc, nil
}
