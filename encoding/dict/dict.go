// Package dict is the dictionary encoding of byte strings: each distinct value
// once, in the order of first appearance, then an index for every string.
//
// # Layout
//
//	+----------------------+----------------------+----------------------+
//	| lengths of the       | the distinct values, | indices of the       |
//	| distinct values      | one after another    | strings              |
//	| ceil(d*w/8) bytes    |                      | ceil(n*b/8) bytes    |
//	+----------------------+----------------------+----------------------+
//
//	parameter 0   d, the number of distinct values, 0 only if n is
//	parameter 1   the sum of the packed lengths
//	parameter 2   base of the lengths
//	parameter 3   w, bits of length - base
//
// The first two parts are the distinct values as length_bytes of package
// bytestrings, whose parameters 0 to 2 are 1 to 3 here. b is the bits that d-1
// needs, so indices into a dictionary of one value take none. Indices are
// packed LSB first as in package bitpack; each is less than d.
package dict

import (
	"bytes"
	"hash/maphash"
	"math"
	"math/bits"
	"slices"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bytestrings"
	"github.com/colsst/colsst/encoding/internal/inline"
	"github.com/colsst/colsst/simd"
)

const part = "dictionary"

// indexWidth is the bits of an index into a dictionary of d values.
func indexWidth(d int) uint {
	if d <= 1 {
		return 0
	}
	return uint(bits.Len(uint(d - 1)))
}

// Encoder encodes chunks of one column that follow one another. The zero value
// is ready. It holds scratch for the distinct values of the largest chunk.
type Encoder struct {
	values  bytestrings.Encoder
	entries bytestrings.Strings
	indices []uint32
	firsts  []int32 // by entry: the string where it came first
	table   table
}

// Firsts are the numbers of the strings, ascending, whose value none before
// them has, of the chunk that was appended last. They are valid until the next.
func (e *Encoder) Firsts() []int32 { return e.firsts }

// Reset forgets the chunks before, as at the start of a segment.
func (e *Encoder) Reset() { e.values.Reset() }

// Append appends the body of src to dst and sets all of *p. No string of src
// is longer than encoding.MaxValueBytes.
func (e *Encoder) Append(dst []byte, src *bytestrings.Strings, p *encoding.Params) []byte {
	e.build(src, math.MaxInt64)
	return e.append(dst, p)
}

// TryAppend is Append where the body is smaller than that of length_bytes. If
// it is not, TryAppend returns false as soon as it knows, with dst and *p as
// they were.
func (e *Encoder) TryAppend(dst []byte, src *bytestrings.Strings, p *encoding.Params) ([]byte, bool) {
	if src.Len() <= 1 { // nothing to share, however long it is
		return dst, false
	}
	lo, hi, start := src.Ends[0], uint32(0), uint32(0)
	for _, end := range src.Ends {
		lo, hi = min(lo, end-start), max(hi, end-start)
		start = end
	}
	w := uint(bits.Len32(hi - lo))
	plain := int64(len(src.Data)) + int64(simd.PackedLen(src.Len(), w))
	if !e.build(src, plain) {
		return dst, false
	}
	d := e.entries.Len()
	size := int64(len(e.entries.Data)) + int64(simd.PackedLen(d, w)) + int64(simd.PackedLen(src.Len(), indexWidth(d)))
	if size >= plain {
		return dst, false
	}
	return e.append(dst, p), true
}

// build collects the distinct values of src and the indices. It stops with
// false when values and indices must take more than limit bytes.
func (e *Encoder) build(src *bytestrings.Strings, limit int64) bool {
	e.entries.Reset()
	e.firsts = e.firsts[:0]
	e.table.reset()
	n := src.Len()
	e.indices = slices.Grow(e.indices[:0], n)[:n]
	var last []byte
	var start, index uint32
	for i, end := range src.Ends {
		s := src.Data[start:end:end]
		start = end
		if i == 0 || !bytes.Equal(s, last) {
			var found bool
			if index, found = e.table.find(s, &e.entries); !found {
				_ = e.entries.Append(s) // fits, since src does
				e.firsts = append(e.firsts, int32(i))
				d := e.entries.Len()
				if int64(len(e.entries.Data))+int64(simd.PackedLen(n, indexWidth(d))) > limit {
					return false
				}
			}
			last = s
		}
		e.indices[i] = index
	}
	return true
}

// append appends what build collected.
func (e *Encoder) append(dst []byte, p *encoding.Params) []byte {
	d := e.entries.Len()
	dst = e.values.AppendLengthBytes(dst, &e.entries, p)
	*p = encoding.Params{int64(d), p[0], p[1], p[2]}
	return simd.AppendPack32(dst, e.indices, indexWidth(d))
}

// table finds the index of a value among the entries: open addressing with
// linear probing, at most half full.
type table struct {
	slots []slot
	used  int
	seed  maphash.Seed // drawn once, so that nobody can prepare values that collide
}

type slot struct {
	hash  uint32
	index uint32 // plus 1; 0 is an empty slot
}

const minSlots = 256

func (t *table) reset() {
	if t.slots == nil {
		t.slots = make([]slot, minSlots)
		t.seed = maphash.MakeSeed()
	}
	if t.used > 0 {
		clear(t.slots)
		t.used = 0
	}
}

// find is the index of s in entries. If it is not there, find gives it the
// next index and returns false, and the caller appends it.
func (t *table) find(s []byte, entries *bytestrings.Strings) (index uint32, found bool) {
	hash := uint32(maphash.Bytes(t.seed, s))
	mask := uint32(len(t.slots) - 1)
	i := hash & mask
	for ; t.slots[i].index != 0; i = (i + 1) & mask {
		if t.slots[i].hash == hash {
			if k := t.slots[i].index - 1; bytes.Equal(entries.At(int(k)), s) {
				return k, true
			}
		}
	}
	index = uint32(entries.Len())
	t.slots[i] = slot{hash, index + 1}
	if t.used++; 2*t.used > len(t.slots) {
		t.grow()
	}
	return index, false
}

func (t *table) grow() {
	old := t.slots
	t.slots = make([]slot, 2*len(old))
	mask := uint32(len(t.slots) - 1)
	for _, s := range old {
		if s.index == 0 {
			continue
		}
		i := s.hash & mask
		for t.slots[i].index != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = s
	}
}

// Len is the length in bytes of the body of n strings. It fails on parameters
// that Append does not set.
func Len(p *encoding.Params, n int) (int, error) {
	values, indices, err := check(p, n)
	if err == nil && values > math.MaxInt-indices {
		err = encoding.Corruptf(part, "%d bytes exceed the address space", values)
	}
	if err != nil {
		return 0, err
	}
	return values + indices, nil
}

// Split is how many bytes of the body are lengths and how many are values and
// indices, for parameters that Len takes.
func Split(p *encoding.Params, n int) (lengths, payload int) {
	q := entryParams(p)
	lengths, payload = bytestrings.LengthBytesSplit(&q, int(p[0]))
	return lengths, payload + simd.PackedLen(n, indexWidth(int(p[0])))
}

// entryParams are the parameters of the distinct values.
func entryParams(p *encoding.Params) encoding.Params { return encoding.Params{p[1], p[2], p[3]} }

// check is the number of bytes of values with their lengths and of indices.
func check(p *encoding.Params, n int) (values, indices int, err error) {
	switch {
	case *p != (encoding.Params{p[0], p[1], p[2], p[3]}):
		return 0, 0, encoding.Corruptf(part, "parameters %v, want 4", *p)
	case p[0] > int64(n) || p[0] < int64(min(n, 1)):
		return 0, 0, encoding.Corruptf(part, "%d distinct of %d values", p[0], n)
	}
	q := entryParams(p)
	if values, err = bytestrings.LengthBytesLen(&q, int(p[0])); err != nil {
		return 0, 0, err
	}
	packed := (uint64(n)*uint64(indexWidth(int(p[0]))) + 7) / 8
	if packed > math.MaxInt {
		return 0, 0, encoding.Corruptf(part, "%d indices exceed the address space", n)
	}
	return values, int(packed), nil
}

// Decoder decodes chunks. The zero value is ready. It holds scratch for the
// distinct values and the indices of the largest chunk.
type Decoder struct {
	values  bytestrings.Decoder
	entries bytestrings.Strings
	spans   []span // of the entries
	indices []uint32
}

// Decode appends n strings to dst from a body, whose length is what Len says.
// It fails on parameters that Len refuses, on indices that are not less than
// the number of distinct values, and on more than limit bytes of strings; then
// dst is as it was. It keeps nothing of body.
func (d *Decoder) Decode(dst *bytestrings.Strings, n int, p *encoding.Params, body []byte, limit int) error {
	values, indices, err := check(p, n)
	if err != nil {
		return err
	}
	if values > len(body) || len(body)-values != indices {
		return encoding.Corruptf(part, "%d bytes, want %d and %d", len(body), values, indices)
	}
	distinct := int(p[0])
	q := entryParams(p)
	d.entries.Reset()
	if err := d.values.LengthBytes(&d.entries, distinct, &q, body[:values], values); err != nil {
		return err
	}
	d.indices = slices.Grow(d.indices[:0], n)[:n]
	simd.Unpack32(d.indices, body[values:], indexWidth(distinct))
	start := uint32(0)
	d.spans = d.spans[:0]
	for _, end := range d.entries.Ends {
		d.spans = append(d.spans, span{start, end - start})
		start = end
	}
	total := int64(0)
	for i, k := range d.indices {
		if uint64(k) >= uint64(len(d.spans)) {
			return encoding.Corruptf(part, "string %d has index %d of %d", i, k, distinct)
		}
		total += int64(d.spans[k].len)
	}
	if total > int64(limit) {
		return encoding.Corruptf(part, "strings of %d bytes exceed the limit of %d", total, limit)
	}
	if !dst.Fits(int(total)) {
		return bytestrings.ErrTooLarge
	}
	d.gather(dst, int(total))
	return nil
}

// span is where an entry lies in the bytes of all.
type span struct{ start, len uint32 }

// short is the length of strings that are copied with what follows them, since
// a copy of fixed length takes a fraction of the time.
const short = 16

// gather appends the entries of all indices, total bytes, to dst. Behind its
// bytes there may be any afterwards, within the capacity.
func (d *Decoder) gather(dst *bytestrings.Strings, total int) {
	at, n := len(dst.Data), len(dst.Ends)
	data := slices.Grow(dst.Data, total+short)[:at+total+short]
	entries := slices.Grow(d.entries.Data, short)[:len(d.entries.Data)+short]
	d.entries.Data = entries[:len(d.entries.Data)]
	dst.Ends = slices.Grow(dst.Ends, len(d.indices))[:n+len(d.indices)]
	ends := dst.Ends[n:][:len(d.indices)]
	for i, k := range d.indices {
		e := d.spans[k]
		if e.len <= short {
			*(*[short]byte)(data[at:]) = *(*[short]byte)(entries[e.start:])
		} else {
			copy(data[at:], entries[e.start:][:e.len])
		}
		at += int(e.len)
		ends[i] = uint32(at)
	}
	dst.Data = data[:at]
}

// AppendBytes appends src in the self-contained form, which is the parameters
// in line and the body, to dst.
func AppendBytes(dst []byte, src *bytestrings.Strings) []byte {
	var e Encoder
	return inline.Append(dst, func(dst []byte, p *encoding.Params) []byte { return e.Append(dst, src, p) })
}

// DecodeBytes appends n strings to dst from what AppendBytes wrote of as many,
// and returns what follows it. It fails on more than limit bytes of strings.
func DecodeBytes(dst *bytestrings.Strings, n int, src []byte, limit int) (rest []byte, err error) {
	p, body, rest, err := inline.Read(part, src, n,
		func(p encoding.Params, n int) (int, error) { return Len(&p, n) })
	if err != nil {
		return nil, err
	}
	var d Decoder
	if err := d.Decode(dst, n, &p, body, limit); err != nil {
		return nil, err
	}
	return rest, nil
}
