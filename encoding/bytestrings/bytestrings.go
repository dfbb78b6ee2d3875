// Package bytestrings is lists of byte strings, and two encodings of them:
// length_bytes, for any, and front_coded, for strings that share prefixes
// with the one before, as sorted keys do.
//
// # length_bytes
//
//	+----------------------+----------------------+
//	| lengths, packed      | the strings,         |
//	| ceil(n*w/8) bytes    | one after another    |
//	+----------------------+----------------------+
//
//	parameter 0   the sum of the packed lengths, hence the number of bytes of
//	              all strings less n times the base
//	parameter 1   base of the lengths, in the unit of package frame
//	parameter 2   w, bits of length - base, at most 32
//
// # front_coded
//
// Parameter 5 says which of two forms a chunk has. If it is 0, string i is the
// first prefix[i] bytes of string i-1, then the next suffix[i] bytes of the
// body; prefix[0] is 0 and not stored:
//
//	+----------------------+----------------------+-----------------+
//	| prefix[1] on, packed | suffix[0] on, packed | suffixes,       |
//	| ceil((n-1)*v/8)      | ceil(n*w/8) bytes    | one by one      |
//	+----------------------+----------------------+-----------------+
//
//	parameter 0   the sum of the packed suffix lengths
//	parameter 1   base of the prefix lengths
//	parameter 2   v, bits of prefix length - base
//	parameter 3   base of the suffix lengths
//	parameter 4   w, bits of suffix length - base
//
// If parameter 5 is 1 to 8, that is the length of every string, and the
// strings are unsigned big-endian integers x[i]:
//
//	+----------------------+
//	| u[0] on, packed      |     x[i] = x[i-1] + base + u[i] modulo 2^64,
//	| ceil(n*w/8) bytes    |     x[-1] = parameter 0 << w
//	+----------------------+
//
//	parameter 0   high bits of the first integer
//	parameter 1   base of the deltas
//	parameter 2   w, bits of u
//
// Integers at a constant step take no body.
//
// Bits are packed LSB first as in package bitpack, bases are in the unit of
// package frame. A string has at most encoding.MaxValueBytes bytes.
package bytestrings

import (
	"math"
	"slices"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/internal/frame"
	"github.com/colsst/colsst/encoding/internal/inline"
)

const lengthBytes = "length bytes"

// Encoder encodes chunks of one column that follow one another. The zero value
// is ready.
type Encoder struct {
	lens []uint32
	prev frame.Frame // of length_bytes
	front
}

// Reset forgets the chunks before, as at the start of a segment.
func (e *Encoder) Reset() {
	e.prev = frame.Frame{}
	e.front.reset()
}

// AppendLengthBytes appends the length_bytes body of src to dst and sets all
// of *p. No string of src is longer than encoding.MaxValueBytes.
func (e *Encoder) AppendLengthBytes(dst []byte, src *Strings, p *encoding.Params) []byte {
	e.lens = e.lens[:0]
	start := uint32(0)
	for _, end := range src.Ends {
		e.lens = append(e.lens, end-start)
		start = end
	}
	dst, f, excess := appendLengths(dst, e.lens, e.prev)
	e.prev = f
	*p = encoding.Params{excess, f.P, int64(f.Width)}
	return append(dst, src.Data...)
}

// LengthBytesLen is the length in bytes of the length_bytes body of n strings.
// It fails on parameters that AppendLengthBytes does not set.
func LengthBytesLen(p *encoding.Params, n int) (int, error) {
	f, total, err := checkLengthBytes(p, n)
	if err != nil {
		return 0, err
	}
	return bodyLen(lengthBytes, packedLen(n, f.Width)+total)
}

// LengthBytesSplit is how many bytes of the body are lengths and how many are
// the strings, for parameters that LengthBytesLen takes.
func LengthBytesSplit(p *encoding.Params, n int) (lengths, payload int) {
	f, total, _ := checkLengthBytes(p, n)
	return int(packedLen(n, f.Width)), int(total)
}

func checkLengthBytes(p *encoding.Params, n int) (f frame.Frame, total int64, err error) {
	if *p != (encoding.Params{p[0], p[1], p[2]}) {
		return f, 0, encoding.Corruptf(lengthBytes, "parameters %v, want 3", *p)
	}
	if f, err = checkLengths(lengthBytes, p[1], p[2], n); err != nil {
		return f, 0, err
	}
	total, err = checkTotal(lengthBytes, f, p[0], n)
	return f, total, err
}

// bodyLen is n where it is an int.
func bodyLen(part string, n int64) (int, error) {
	if n > math.MaxInt {
		return 0, encoding.Corruptf(part, "%d bytes exceed the address space", n)
	}
	return int(n), nil
}

// checkOutput says whether dst takes total more bytes under the limit.
func checkOutput(part string, dst *Strings, total int64, limit int) error {
	if total > int64(limit) {
		return encoding.Corruptf(part, "strings of %d bytes exceed the limit of %d", total, limit)
	}
	if !dst.Fits(int(total)) {
		return ErrTooLarge
	}
	return nil
}

// Decoder decodes chunks. The zero value is ready.
type Decoder struct {
	lens, prefixes []uint32
	deltas         []uint64
}

// LengthBytes appends n strings to dst from a length_bytes body, whose length
// is what LengthBytesLen says. It fails on parameters that LengthBytesLen
// refuses, on lengths that do not sum to what they say, and on more than limit
// bytes of strings; then dst is as it was. It keeps nothing of body.
func (d *Decoder) LengthBytes(dst *Strings, n int, p *encoding.Params, body []byte, limit int) error {
	f, total, err := checkLengthBytes(p, n)
	if err != nil {
		return err
	}
	packed := packedLen(n, f.Width)
	if int64(len(body)) != packed+total {
		return encoding.Corruptf(lengthBytes, "%d bytes, want %d", len(body), packed+total)
	}
	if err := checkOutput(lengthBytes, dst, total, limit); err != nil {
		return err
	}
	d.lens = slices.Grow(d.lens[:0], n)[:n]
	excess, err := unpackLengths(lengthBytes, d.lens, body, f)
	if err != nil {
		return err
	}
	if excess != p[0] {
		return encoding.Corruptf(lengthBytes, "lengths sum to %d above their base, want %d", excess, p[0])
	}
	dst.Ends = slices.Grow(dst.Ends, n)
	end := uint32(len(dst.Data))
	for _, l := range d.lens {
		end += l
		dst.Ends = append(dst.Ends, end)
	}
	dst.Data = append(dst.Data, body[packed:]...)
	return nil
}

// AppendBytes appends src in the self-contained form of length_bytes, which is
// the parameters in line and the body, to dst.
func AppendBytes(dst []byte, src *Strings) []byte {
	var e Encoder
	return inline.Append(dst, func(dst []byte, p *encoding.Params) []byte { return e.AppendLengthBytes(dst, src, p) })
}

// DecodeBytes appends n strings to dst from what AppendBytes wrote of as many,
// and returns what follows it. It fails on more than limit bytes of strings.
func DecodeBytes(dst *Strings, n int, src []byte, limit int) (rest []byte, err error) {
	p, body, rest, err := inline.Read(lengthBytes, src, n,
		func(p encoding.Params, n int) (int, error) { return LengthBytesLen(&p, n) })
	if err != nil {
		return nil, err
	}
	var d Decoder
	if err := d.LengthBytes(dst, n, &p, body, limit); err != nil {
		return nil, err
	}
	return rest, nil
}
