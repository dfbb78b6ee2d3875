package page

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/colsst/colsst/encoding"
)

// MaxBytes is the greatest length of a page, compressed or not.
const MaxBytes = 1 << 29

// Codec compresses and decompresses pages. It is not safe for concurrent use.
type Codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
	gz  *gzip.Reader
	br  *brotli.Reader
	lz  lz4.Compressor
}

// Decompress appends the n bytes that src holds to dst. Before it allocates, it
// compares n with what that many compressed bytes can hold at most.
func (c *Codec) Decompress(dst []byte, how format.CompressionCodec, src []byte, n int) ([]byte, error) {
	if n < 0 || n > MaxBytes {
		return nil, encoding.Corruptf("page", "%d bytes", n)
	}
	if n == 0 {
		return dst, nil // nothing, however that was compressed
	}
	at := len(dst)
	var err error
	switch how {
	case format.Uncompressed:
		dst = append(dst, src...)
	case format.Snappy:
		// No element makes more than 64 bytes of two.
		if size, serr := snappy.DecodedLen(src); serr != nil || size != n || n > 64*len(src) {
			return nil, encoding.Corruptf("page", "Snappy data of %d bytes in place of %d", size, n)
		}
		dst = slices.Grow(dst, n)[:at+n]
		_, err = snappy.Decode(dst[at:], src)
	case format.Lz4Raw:
		if n > 255*len(src) {
			return nil, encoding.Corruptf("page", "%d bytes in LZ4 data of %d", n, len(src))
		}
		dst = slices.Grow(dst, n)[:at+n]
		var got int
		if got, err = lz4.UncompressBlock(src, dst[at:]); err == nil {
			dst = dst[:at+got]
		}
	case format.Gzip:
		if c.gz == nil {
			c.gz, err = gzip.NewReader(bytes.NewReader(src))
		} else {
			err = c.gz.Reset(bytes.NewReader(src))
		}
		if err == nil {
			dst, err = readAll(dst, c.gz, n)
		}
	case format.Brotli:
		if c.br == nil {
			c.br = brotli.NewReader(bytes.NewReader(src))
		} else {
			err = c.br.Reset(bytes.NewReader(src))
		}
		if err == nil {
			dst, err = readAll(dst, c.br, n)
		}
	case format.Zstd:
		dst, err = c.unzstd(dst, src, n)
	default:
		return nil, fmt.Errorf("%w: compression %s", encoding.ErrUnsupported, how)
	}
	if err != nil {
		return nil, encoding.Corruptf("page", "%s data: %s", how, err)
	}
	if len(dst)-at != n {
		return nil, encoding.Corruptf("page", "%s data of %d bytes in place of %d", how, len(dst)-at, n)
	}
	return dst, nil
}

// readAll appends what r yields, up to n bytes and one, in steps.
func readAll(dst []byte, r io.Reader, n int) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	_, err := b.ReadFrom(io.LimitReader(r, int64(n)+1))
	return b.Bytes(), err
}

// unzstd appends the n bytes of Zstd frames, which may not say their lengths.
func (c *Codec) unzstd(dst, src []byte, n int) ([]byte, error) {
	// A block takes 4 bytes or more and makes at most 128 KiB.
	if uint64(n) > (uint64(len(src))/4+1)<<17 {
		return nil, errors.New("shorter than the page")
	}
	if c.dec == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxBytes), zstd.WithDecoderLowmem(true),
			zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, err
		}
		c.dec = d
	}
	dst = slices.Grow(dst, n)
	return c.dec.DecodeAll(src, dst[:len(dst):len(dst)+n])
}

// Compress appends src compressed with Zstd at its default level, or as
// otherwise said.
func (c *Codec) Compress(dst []byte, how format.CompressionCodec, src []byte) ([]byte, error) {
	switch how {
	case format.Uncompressed:
		return append(dst, src...), nil
	case format.Snappy:
		at := len(dst)
		dst = slices.Grow(dst, snappy.MaxEncodedLen(len(src)))
		return dst[:at+len(snappy.Encode(dst[at:cap(dst)], src))], nil
	case format.Lz4Raw:
		at, most := len(dst), lz4.CompressBlockBound(len(src))
		dst = slices.Grow(dst, most)
		n, err := c.lz.CompressBlock(src, dst[at:at+most])
		return dst[:at+n], err
	case format.Gzip:
		b := bytes.NewBuffer(dst)
		w := gzip.NewWriter(b)
		if _, err := w.Write(src); err != nil {
			return nil, err
		}
		err := w.Close()
		return b.Bytes(), err
	case format.Zstd:
		if c.enc == nil {
			e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false))
			if err != nil {
				return nil, err
			}
			c.enc = e
		}
		return c.enc.EncodeAll(src, dst), nil
	}
	return nil, fmt.Errorf("%w: compression %s", encoding.ErrUnsupported, how)
}

var codecs = sync.Pool{New: func() any { return new(Codec) }}

// TakeCodec is a Codec that Return takes back.
func TakeCodec() *Codec { return codecs.Get().(*Codec) }

// Return lets others use the codec.
func (c *Codec) Return() { codecs.Put(c) }
