package columnar

import (
	"encoding/binary"
	"math"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/simd"
)

func checksum(b []byte) uint32 { return simd.CRC32C(0, b) }

// The kinds of items.
const (
	kindSchema   = 'S'
	kindTemplate = 'T'
	kindData     = 'D'
	kindIndex    = 'I'
	kindFilter   = 'F'
	kindStats    = 'Q'
)

const (
	itemMagic = 0xc5
	maxHeader = 2 + 6*binary.MaxVarintLen64 + 2
	minItem   = 2 + 1 + 2
	crcBytes  = 4
	maxBody   = 1 << 30  // of blocks and of pages of time indexes
	maxMeta   = 16 << 20 // of other bodies
)

// ref says where an item lies: its logical offset and whole length.
type ref struct {
	off int64
	len int64
}

func (r ref) end() int64 { return r.off + r.len }

// header is the header of an item.
type header struct {
	kind   byte
	body   int // bytes of the body
	fields [5]uint64
	size   int // bytes of the header itself
}

// numFields is the number of fields of a kind, or -1 if there is no such kind.
func numFields(kind byte) int {
	switch kind {
	case kindSchema:
		return 0
	case kindTemplate:
		return 1
	case kindData:
		return 5
	case kindIndex:
		return 3
	case kindFilter, kindStats:
		return 2
	}
	return -1
}

// itemName names a kind in errors.
func itemName(kind byte) string {
	switch kind {
	case kindSchema:
		return "schema"
	case kindTemplate:
		return "template"
	case kindData:
		return "block"
	case kindIndex:
		return "index page"
	case kindFilter:
		return "filter"
	case kindStats:
		return "statistics page"
	}
	return "item"
}

// limit is the greatest length of the body.
func (h *header) limit() int {
	if h.kind == kindData || h.kind == kindIndex && h.fields[0] == indexTime {
		return maxBody
	}
	return maxMeta
}

func (h *header) appendTo(dst []byte) []byte {
	at := len(dst)
	dst = append(dst, itemMagic, h.kind)
	dst = binary.AppendUvarint(dst, uint64(h.body))
	for _, f := range h.fields[:numFields(h.kind)] {
		dst = binary.AppendUvarint(dst, f)
	}
	return binary.LittleEndian.AppendUint16(dst, uint16(checksum(dst[at:])))
}

// verify compares the header at the start of src, which is h, with its check.
func (h *header) verify(src []byte) error {
	at := h.size - 2
	if uint16(checksum(src[:at])) != binary.LittleEndian.Uint16(src[at:]) {
		return encoding.Corruptf("item header", "check mismatch")
	}
	return nil
}

// parseUnchecked reads the header at the start of src, but for its check. The
// item, of which crc bytes follow the body, must end within left bytes.
func parseUnchecked(src []byte, crc int, left int64) (h header, err error) {
	if len(src) < minItem || src[0] != itemMagic {
		return h, encoding.Corruptf("item header", "no item begins here")
	}
	h.kind = src[1]
	n := numFields(h.kind)
	if n < 0 {
		return h, encoding.Corruptf("item header", "unknown kind %#x", h.kind)
	}
	at := 2
	var body uint64
	for i := -1; i < n; i++ {
		var v uint64
		k := 1
		if at < len(src) && src[at] < 0x80 {
			v = uint64(src[at])
		} else {
			v, k = binary.Uvarint(src[at:])
		}
		if k <= 0 {
			return h, encoding.Corruptf("item header", "field is cut or overlong")
		}
		at += k
		if i < 0 {
			body = v
		} else {
			h.fields[i] = v
		}
	}
	if len(src) < at+2 {
		return h, encoding.Corruptf("item header", "cut")
	}
	h.size = at + 2
	if body > uint64(h.limit()) || int64(body) > left-int64(h.size)-int64(crc) {
		return h, encoding.Corruptf(itemName(h.kind), "length %d, %d bytes left", body, left)
	}
	h.body = int(body)
	return h, nil
}

// length is the length of the whole item.
func (h *header) length(crc int) int64 { return int64(h.size) + int64(h.body) + int64(crc) }

// block are the fields of a data item, checked for size.
type block struct {
	template, groups, rows, parts int
	ordinal                       int64
}

func (h *header) block() (b block, err error) {
	f := &h.fields
	if f[0] > math.MaxInt32 || f[1] > math.MaxInt64/2 || f[2] == 0 || f[2] > segmentGroups ||
		f[3] > segmentGroups*encoding.MaxGroupRows || f[4] > segmentGroups*encoding.MaxGroupRows {
		return b, encoding.Corruptf("block", "impossible header")
	}
	return block{int(f[0]), int(f[2]), int(f[3]), int(f[4]), int64(f[1])}, nil
}

// reader takes values off the front of a slice; after the first failure all
// are zero and bad stays set.
type reader struct {
	src []byte
	bad bool
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.src)
	if n <= 0 {
		r.bad, r.src = true, nil
		return 0
	}
	r.src = r.src[n:]
	return v
}

// int64 is a uvarint that is at most MaxInt64.
func (r *reader) int64() int64 {
	v := r.uvarint()
	if v > math.MaxInt64 {
		r.bad, r.src = true, nil
		return 0
	}
	return int64(v)
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.src)
	if n <= 0 {
		r.bad, r.src = true, nil
		return 0
	}
	r.src = r.src[n:]
	return v
}

// bytes are a uvarint length and as many bytes.
func (r *reader) bytes() []byte {
	n := r.uvarint()
	if n > uint64(len(r.src)) {
		r.bad, r.src = true, nil
		return nil
	}
	b := r.src[:n:n]
	r.src = r.src[n:]
	return b
}

func (r *reader) byte() byte {
	if len(r.src) == 0 {
		r.bad = true
		return 0
	}
	b := r.src[0]
	r.src = r.src[1:]
	return b
}
