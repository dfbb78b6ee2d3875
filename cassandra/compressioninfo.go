package cassandra

import (
	"math"

	"github.com/colsst/colsst/encoding"
)

// Limits of chunks, so that a damaged file cannot ask for any memory.
const (
	maxChunkLength = 16 << 20
	crcLength      = 4
)

// CompressionInfo says how Data.db is compressed: CompressionInfo.db.
//
//	utf            class of the compressor
//	i32            options, each utf key and utf value
//	i32            length of a chunk's data, a power of two
//	i32 (na on)    stored length from which on a chunk is stored as it is
//	i64            length of all data
//	i32            chunks, each i64 offset in Data.db
type CompressionInfo struct {
	Compressor          string
	Options             []CompressionOption
	ChunkLength         int   // bytes of data in every chunk but the last
	MaxCompressedLength int   // a chunk stored with as many bytes or more is not compressed; MaxInt32: never
	DataLength          int64 // bytes of data in all
	Offsets             []int64
}

// CompressionOption is a parameter of a compressor.
type CompressionOption struct{ Key, Value string }

// ParseCompressionInfo reads CompressionInfo.db of an SSTable of version v.
func ParseCompressionInfo(b []byte, v Version) (*CompressionInfo, error) {
	const part = string(ComponentCompressionInfo)
	c := cursor{b: b}
	ci := &CompressionInfo{Compressor: c.utf(), MaxCompressedLength: math.MaxInt32}
	ci.Options = make([]CompressionOption, c.count(uint64(c.u32()), 4))
	for i := range ci.Options {
		ci.Options[i] = CompressionOption{c.utf(), c.utf()}
	}
	ci.ChunkLength = int(c.i32())
	if v.hasChecksums() {
		ci.MaxCompressedLength = int(c.i32())
	}
	ci.DataLength = c.i64()
	ci.Offsets = make([]int64, c.count(uint64(c.u32()), 8))
	for i := range ci.Offsets {
		ci.Offsets[i] = c.i64()
	}
	switch n := ci.ChunkLength; {
	case c.short:
		return nil, encoding.Corruptf(part, "ends too early")
	case c.left() > 0:
		return nil, encoding.Corruptf(part, "%d bytes after the last chunk's offset", c.left())
	case n <= 0 || n&(n-1) != 0 || n > maxChunkLength:
		return nil, encoding.Corruptf(part, "chunk length %d is no power of two up to %d", n, maxChunkLength)
	case ci.MaxCompressedLength <= 0:
		return nil, encoding.Corruptf(part, "longest compressed chunk of %d bytes", ci.MaxCompressedLength)
	case ci.DataLength < 0:
		return nil, encoding.Corruptf(part, "data length %d", ci.DataLength)
	}
	if whole := int64(len(ci.Offsets)) * int64(ci.ChunkLength); ci.DataLength > whole {
		return nil, encoding.Corruptf(part, "%d chunks cannot hold %d bytes", len(ci.Offsets), ci.DataLength)
	}
	next := int64(0) // least offset
	for i, off := range ci.Offsets {
		if off < next || i == 0 && off != 0 {
			return nil, encoding.Corruptf(part, "offset %d of chunk %d, after %d", off, i, next)
		}
		if off > math.MaxInt64-crcLength {
			return nil, encoding.Corruptf(part, "offset %d of chunk %d", off, i)
		}
		next = off + crcLength
	}
	return ci, nil
}

// Append appends the bytes of CompressionInfo.db.
func (ci *CompressionInfo) Append(dst []byte, v Version) []byte {
	dst = appendUTF(dst, ci.Compressor)
	dst = appendU32(dst, uint32(len(ci.Options)))
	for _, o := range ci.Options {
		dst = appendUTF(appendUTF(dst, o.Key), o.Value)
	}
	dst = appendU32(dst, uint32(ci.ChunkLength))
	if v.hasChecksums() {
		dst = appendU32(dst, uint32(ci.MaxCompressedLength))
	}
	dst = appendU64(dst, uint64(ci.DataLength))
	dst = appendU32(dst, uint32(len(ci.Offsets)))
	for _, off := range ci.Offsets {
		dst = appendU64(dst, uint64(off))
	}
	return dst
}
