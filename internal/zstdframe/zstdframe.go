// Package zstdframe decompresses Zstd frames that must hold exactly so many
// bytes, as blocks and outer chunks of a table file do.
package zstdframe

import (
	"errors"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Is reports whether src is exactly one Zstd frame, from its magic to its last
// block or checksum, that needs no dictionary and declares size bytes of
// content (RFC 8878).
func Is(src []byte, size int) bool {
	var h zstd.Header
	if h.Decode(src) != nil || h.Skippable || h.DictionaryID != 0 || !h.HasFCS || h.FrameContentSize != uint64(size) {
		return false
	}
	at := h.HeaderSize
	for last := false; !last; {
		if len(src) < at+3 {
			return false
		}
		b := uint32(src[at]) | uint32(src[at+1])<<8 | uint32(src[at+2])<<16
		n := int(b >> 3)
		if b>>1&3 == 1 { // one byte, repeated
			n = 1
		}
		last = b&1 == 1
		if at += 3; n > len(src)-at {
			return false
		}
		at += n
	}
	if h.HasCheckSum {
		at += 4
	}
	return at == len(src)
}

var errNotWhole = errors.New("not one Zstd frame of the length expected")

// decoder serves all goroutines; it never grows the slice that it is given.
var decoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return d
})

// Decode fills dst with the content of src, which must be one frame of
// len(dst) bytes. It allocates nothing for the content, whatever src says. An
// error is one of src; dst is undefined then. It is safe for concurrent use.
func Decode(dst, src []byte) error {
	if !Is(src, len(dst)) {
		return errNotWhole
	}
	out, err := decoder().DecodeAll(src, dst[:0:len(dst)])
	if err == nil && len(out) != len(dst) {
		err = errNotWhole
	}
	return err
}
