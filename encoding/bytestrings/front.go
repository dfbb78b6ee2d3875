package bytestrings

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/internal/frame"
	"github.com/colsst/colsst/simd"
)

const (
	frontCoded = "front coded"
	maxInteger = 8 // bytes of a string that is an integer
)

// front is the state of the front_coded encoder.
type front struct {
	prefixes       []uint32
	deltas         []uint64
	prefix, suffix frame.Frame     // of the last chunk in prefixes and suffixes
	delta          frame.Frame     // of the last chunk in integers
	last, step     encoding.Params // parameters of the last chunk, their growth
}

func (e *front) reset() {
	e.prefix, e.suffix, e.delta = frame.Frame{}, frame.Frame{}, frame.Frame{}
	e.last, e.step = encoding.Params{}, encoding.Params{}
}

// AppendFrontCoded appends the front_coded body of src to dst and sets all of
// *p, in the smaller of the two forms, whatever the order of the strings. No
// string of src is longer than encoding.MaxValueBytes.
func (e *Encoder) AppendFrontCoded(dst []byte, src *Strings, p *encoding.Params) []byte {
	at := len(dst)
	dst, prefix, suffix, excess := e.appendSuffixes(dst, src)
	*p = encoding.Params{excess, prefix.P, int64(prefix.Width), suffix.P, int64(suffix.Width)}
	if length := integerLength(src); length > 0 {
		f, q := e.integers(src, length)
		size := int(packedLen(src.Len(), f.Width))
		if size+e.paramBytes(&q) < len(dst)-at+e.paramBytes(p) {
			dst, *p = simd.AppendPack64(dst[:at], e.deltas, f.Width), q
			e.delta = f
		}
	}
	if p[5] == 0 {
		e.prefix, e.suffix = prefix, suffix
	}
	for i, v := range p {
		e.step[i], e.last[i] = v-e.last[i], v
	}
	return dst
}

// paramBytes is about what p takes in a column of parameters, after the chunks
// before: what differs from the last, or from the last and its growth.
func (e *front) paramBytes(p *encoding.Params) int {
	n := 0
	for i, v := range p {
		n += min(encoding.Distance(v, e.last[i]), encoding.Distance(v-e.last[i], e.step[i]))
	}
	return (n + 7) / 8
}

// appendSuffixes appends the form of prefixes and suffixes, whose lengths above
// the base sum to excess.
func (e *Encoder) appendSuffixes(dst []byte, src *Strings) (out []byte, prefix, suffix frame.Frame, excess int64) {
	if src.Len() == 0 {
		return dst, e.prefix, e.suffix, 0
	}
	e.prefixes = slices.Grow(e.prefixes[:0], src.Len())[:src.Len()]
	e.lens = slices.Grow(e.lens[:0], src.Len())[:src.Len()]
	last, start := 0, 0
	for i, end := range src.Ends {
		shared := sharedPrefix(src.Data, last, start, int(end)-start)
		e.prefixes[i], e.lens[i] = uint32(shared), end-uint32(start+shared)
		last, start = start, int(end)
	}
	dst, prefix, _ = appendLengths(dst, e.prefixes[1:], e.prefix)
	dst, suffix, excess = appendLengths(dst, e.lens, e.suffix)
	base := suffix.Base()
	total := int(excess + int64(src.Len())*base)
	at := len(dst)
	dst = slices.Grow(dst, total+short)[:at+total+short]
	for i, end := range src.Ends {
		n := int(int64(e.lens[i]) + base)
		from := int(end) - n
		if n <= short && from+short <= len(src.Data) {
			// With what follows it, since a copy of fixed length takes less.
			*(*[short]byte)(dst[at:]) = *(*[short]byte)(src.Data[from:])
		} else {
			copy(dst[at:], src.Data[from:end])
		}
		at += n
	}
	return dst[:at], prefix, suffix, excess
}

// short is the length of suffixes that are copied as if they were as long.
const short = 16

// sharedPrefix is the number of bytes, at most n, that data[last:start] and
// data[start:start+n] begin with alike.
func sharedPrefix(data []byte, last, start, n int) int {
	n = min(n, start-last)
	i := 0
	for ; i < n && start+i+8 <= len(data); i += 8 {
		if x := binary.LittleEndian.Uint64(data[last+i:]) ^ binary.LittleEndian.Uint64(data[start+i:]); x != 0 {
			return min(n, i+bits.TrailingZeros64(x)/8)
		}
	}
	for i < n && data[last+i] == data[start+i] {
		i++
	}
	return min(n, i)
}

// integerLength is the length of two or more strings where it is the same for
// all and 1 to 8, else 0.
func integerLength(src *Strings) int {
	if src.Len() < 2 || src.Ends[0] == 0 || src.Ends[0] > maxInteger {
		return 0
	}
	length := src.Ends[0]
	for i, end := range src.Ends {
		if end-src.start(i) != length {
			return 0
		}
	}
	return int(length)
}

// integers leaves in e.deltas what the form of integers packs.
func (e *front) integers(src *Strings, length int) (frame.Frame, encoding.Params) {
	e.deltas = e.deltas[:0]
	var last uint64
	var lo, hi int64
	for i := range src.Len() {
		var x uint64
		for _, c := range src.At(i) {
			x = x<<8 | uint64(c)
		}
		d := int64(x - last)
		switch {
		case i == 1:
			lo, hi = d, d
		case i > 1:
			lo, hi = min(lo, d), max(hi, d)
		}
		e.deltas = append(e.deltas, uint64(d))
		last = x
	}
	f := frame.Choose(lo, hi, len(e.deltas), 64, e.delta)
	for i := range e.deltas {
		e.deltas[i] -= uint64(f.Base())
	}
	var first int64
	if f.Width < 64 {
		first = int64(e.deltas[0]) >> f.Width
		e.deltas[0] -= uint64(first) << f.Width
	}
	return f, encoding.Params{first, f.P, int64(f.Width), 5: int64(length)}
}

// frontShape is what the parameters of front_coded say.
type frontShape struct {
	integer        int         // length of the strings as integers, or 0
	prefix, suffix frame.Frame // of lengths
	delta          frame.Frame // of integers
	lengths        int64       // bytes of packed lengths
	payload        int64       // bytes of suffixes or of packed integers
}

func checkFront(p *encoding.Params, n int) (s frontShape, err error) {
	if p[5] < 0 || p[5] > maxInteger || p[6] != 0 || p[7] != 0 || p[5] > 0 && (p[3] != 0 || p[4] != 0) {
		return s, encoding.Corruptf(frontCoded, "parameters %v", *p)
	}
	if p[5] > 0 {
		s.integer = int(p[5])
		s.delta, err = frame.Check(frontCoded, p[1], p[2], 0, 0, n, 64)
		s.payload = packedLen(n, s.delta.Width)
		return s, err
	}
	if s.prefix, err = checkLengths(frontCoded, p[1], p[2], max(n, 1)-1); err != nil {
		return s, err
	}
	if s.suffix, err = checkLengths(frontCoded, p[3], p[4], n); err != nil {
		return s, err
	}
	s.lengths = packedLen(max(n, 1)-1, s.prefix.Width) + packedLen(n, s.suffix.Width)
	s.payload, err = checkTotal(frontCoded, s.suffix, p[0], n)
	return s, err
}

// FrontCodedLen is the length in bytes of the front_coded body of n strings.
// It fails on parameters that AppendFrontCoded does not set.
func FrontCodedLen(p *encoding.Params, n int) (int, error) {
	s, err := checkFront(p, n)
	if err != nil {
		return 0, err
	}
	return bodyLen(frontCoded, s.lengths+s.payload)
}

// FrontCodedSplit is how many bytes of the body are lengths and how many are
// suffixes or integers, for parameters that FrontCodedLen takes.
func FrontCodedSplit(p *encoding.Params, n int) (lengths, payload int) {
	s, _ := checkFront(p, n)
	return int(s.lengths), int(s.payload)
}

// FrontCoded appends n strings to dst from a front_coded body, whose length is
// what FrontCodedLen says. It fails on parameters that FrontCodedLen refuses,
// on lengths that contradict them or one another, and on more than limit bytes
// of strings; then dst is as it was. It keeps nothing of body.
func (d *Decoder) FrontCoded(dst *Strings, n int, p *encoding.Params, body []byte, limit int) error {
	s, err := checkFront(p, n)
	if err != nil {
		return err
	}
	if int64(len(body)) != s.lengths+s.payload {
		return encoding.Corruptf(frontCoded, "%d bytes, want %d", len(body), s.lengths+s.payload)
	}
	if s.integer > 0 {
		return d.integers(dst, n, uint64(p[0]), s, body, limit)
	}
	return d.suffixes(dst, n, p[0], s, body, limit)
}

func (d *Decoder) suffixes(dst *Strings, n int, want int64, s frontShape, body []byte, limit int) error {
	others := max(n, 1) - 1
	d.prefixes = slices.Grow(d.prefixes[:0], others)[:others]
	d.lens = slices.Grow(d.lens[:0], n)[:n]
	if _, err := unpackLengths(frontCoded, d.prefixes, body, s.prefix); err != nil {
		return err
	}
	excess, err := unpackLengths(frontCoded, d.lens, body[simd.PackedLen(others, s.prefix.Width):], s.suffix)
	if err != nil {
		return err
	}
	if excess != want {
		return encoding.Corruptf(frontCoded, "suffixes sum to %d above their base, want %d", excess, want)
	}
	var total, length int64 // of all strings so far, of the string before
	for i, suffix := range d.lens {
		var prefix int64
		if i > 0 {
			prefix = int64(d.prefixes[i-1])
		}
		if prefix > length {
			return encoding.Corruptf(frontCoded, "string %d shares %d of %d bytes", i, prefix, length)
		}
		length = prefix + int64(suffix)
		if length > encoding.MaxValueBytes {
			return encoding.Corruptf(frontCoded, "string %d of %d bytes", i, length)
		}
		total += length
	}
	if err := checkOutput(frontCoded, dst, total, limit); err != nil {
		return err
	}
	data := slices.Grow(dst.Data, int(total))
	dst.Ends = slices.Grow(dst.Ends, n)
	body = body[s.lengths:]
	last := len(data) // where the string before begins
	for i, suffix := range d.lens {
		start := len(data)
		if i > 0 {
			data = append(data, data[last:last+int(d.prefixes[i-1])]...)
		}
		data = append(data, body[:suffix]...)
		body = body[suffix:]
		dst.Ends = append(dst.Ends, uint32(len(data)))
		last = start
	}
	dst.Data = data
	return nil
}

func (d *Decoder) integers(dst *Strings, n int, first uint64, s frontShape, body []byte, limit int) error {
	if err := checkOutput(frontCoded, dst, int64(n)*int64(s.integer), limit); err != nil {
		return err
	}
	d.deltas = slices.Grow(d.deltas[:0], n)[:n]
	simd.Unpack64(d.deltas, body, s.delta.Width)
	x, base := first<<s.delta.Width, uint64(s.delta.Base())
	unused := uint(64 - 8*s.integer)
	for i, u := range d.deltas {
		x += base + u
		if x<<unused>>unused != x {
			return encoding.Corruptf(frontCoded, "integer %d exceeds %d bytes", i, s.integer)
		}
		d.deltas[i] = x << unused
	}
	at := len(dst.Data)
	data := slices.Grow(dst.Data, n*s.integer+8)[:at+n*s.integer+8] // an integer is stored with 8 bytes
	ends := slices.Grow(dst.Ends, n)[:len(dst.Ends)+n]
	for i, x := range d.deltas {
		binary.BigEndian.PutUint64(data[at:], x)
		at += s.integer
		ends[len(dst.Ends)+i] = uint32(at)
	}
	dst.Data, dst.Ends = data[:at], ends
	return nil
}
