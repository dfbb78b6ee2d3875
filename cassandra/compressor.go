package cassandra

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/colsst/colsst/encoding"
)

// decompressor undoes one of Cassandra's compressors, chunk by chunk. It is for
// one goroutine.
type decompressor interface {
	// decompress fills dst exactly from src, or fails.
	decompress(dst, src []byte) error
}

var errLength = errors.New("holds another number of bytes")

// newDecompressor finds the decompressor of a compressor's class.
//
//	LZ4Compressor      u32 length, little-endian, and an LZ4 block
//	SnappyCompressor   a Snappy block
//	DeflateCompressor  a zlib stream
//	ZstdCompressor     a Zstandard frame
//	NoopCompressor     the bytes as they are
func newDecompressor(class string) (decompressor, error) {
	switch strings.TrimPrefix(class, "org.apache.cassandra.io.compress.") {
	case "LZ4Compressor":
		return lz4Decompressor{}, nil
	case "SnappyCompressor":
		return snappyDecompressor{}, nil
	case "DeflateCompressor":
		return &deflateDecompressor{}, nil
	case "ZstdCompressor":
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true),
			zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(2*maxChunkLength))
		return zstdDecompressor{d}, err
	case "NoopCompressor":
		return noopDecompressor{}, nil
	}
	return nil, fmt.Errorf("%w: compressor %q", encoding.ErrUnsupported, class)
}

type lz4Decompressor struct{}

func (lz4Decompressor) decompress(dst, src []byte) error {
	if len(src) < 4 || int64(binary.LittleEndian.Uint32(src)) != int64(len(dst)) {
		return errLength
	}
	if len(dst) == 0 {
		return nil
	}
	n, err := lz4.UncompressBlock(src[4:], dst)
	if err == nil && n != len(dst) {
		err = errLength
	}
	return err
}

type snappyDecompressor struct{}

func (snappyDecompressor) decompress(dst, src []byte) error {
	n, err := s2.DecodedLen(src)
	if err != nil {
		return err
	}
	if n != len(dst) {
		return errLength
	}
	if _, err = s2.Decode(dst, src); err != nil {
		return err
	}
	return nil
}

type deflateDecompressor struct {
	src bytes.Reader
	z   io.ReadCloser
}

func (d *deflateDecompressor) decompress(dst, src []byte) (err error) {
	d.src.Reset(src)
	if d.z == nil {
		d.z, err = zlib.NewReader(&d.src)
	} else {
		err = d.z.(zlib.Resetter).Reset(&d.src, nil)
	}
	if err != nil {
		d.z = nil
		return err
	}
	if _, err = io.ReadFull(d.z, dst); err != nil {
		return err
	}
	var more [1]byte
	if n, err := io.ReadFull(d.z, more[:]); n > 0 || !errors.Is(err, io.EOF) {
		if err == nil {
			err = errLength
		}
		return err
	}
	return nil
}

type zstdDecompressor struct{ d *zstd.Decoder }

func (z zstdDecompressor) decompress(dst, src []byte) error {
	out, err := z.d.DecodeAll(src, dst[:0:len(dst)])
	if err == nil && len(out) != len(dst) {
		err = errLength
	}
	return err
}

type noopDecompressor struct{}

func (noopDecompressor) decompress(dst, src []byte) error {
	if copy(dst, src) != len(dst) || len(src) != len(dst) {
		return errLength
	}
	return nil
}
