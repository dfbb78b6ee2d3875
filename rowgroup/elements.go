package rowgroup

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// token is what stands next in a value that consists of others. Tokens are in
// the order in which they compare.
type token uint8

const (
	endToken   token = iota // no more
	nullToken               // an element that is null or, in a tuple, missing
	valueToken              // an element
	badToken                // bytes that are no element
)

// framing is how elements lie in a value.
type framing uint8

const (
	int32Framing framing = iota // int32 length, negative for null, and bytes
	tupleFraming                // the same; elements at the end may be missing
	keyFraming                  // uint16 length, bytes, end-of-component byte; may end early
	vintFraming                 // variable-length length and bytes
	fixedFraming                // bytes of the element's fixed length
)

// elements walks over the elements of a serialised collection, tuple, user
// type, vector or composite:
//
//	list, set      int32 count, then count x (int32 length, bytes)
//	map            int32 count, then count x (key and value as above)
//	tuple, udt     per field (int32 length, bytes)
//	vector         the elements back to back, or each (vint length, bytes)
//	composite      per component (uint16 length, bytes, int8 mark)
type elements struct {
	rest    []byte // the bytes not yet walked over
	left    int64  // elements yet to come
	framing framing
	width   int  // fixedFraming: length of an element
	mark    int8 // keyFraming: end-of-component byte of the last element
}

// elementsOf starts at the first element of the value b of a type from KindList
// to KindComposite.
func elementsOf(t *Type, b []byte) elements {
	e := elements{rest: b, left: int64(len(t.Args))}
	switch t.Kind {
	case KindList, KindSet, KindMap:
		e.left = 0
		if len(b) < 4 || b[0] >= 0x80 {
			break // the bytes without a count are no elements
		}
		e.left, e.rest = int64(binary.BigEndian.Uint32(b)), b[4:]
		if t.Kind == KindMap {
			e.left *= 2
		}
	case KindTuple, KindUDT:
		e.framing = tupleFraming
	case KindComposite:
		e.framing = keyFraming
	case KindVector:
		e.left = int64(t.Length)
		e.framing = vintFraming
		if len(t.Args) == 1 {
			if e.width = valueLen(&t.Args[0]); e.width >= 0 {
				e.framing = fixedFraming
			}
		}
		if e.width == 0 {
			e.left = 0 // no such type can be parsed
		}
	}
	return e
}

// element is the type of element i.
func (t *Type) element(i int) *Type {
	switch t.Kind {
	case KindTuple, KindUDT, KindComposite:
	case KindMap:
		i &= 1
	default:
		i = 0
	}
	if i < len(t.Args) {
		return &t.Args[i]
	}
	return &Blob
}

// next takes the next element. After endToken and badToken it stays there.
func (e *elements) next() (token, []byte) {
	if e.left == 0 {
		if len(e.rest) > 0 {
			return badToken, nil
		}
		return endToken, nil
	}
	n, head, tail := int64(-1), 0, 0 // length of the element, bytes before and after
	switch e.framing {
	case int32Framing, tupleFraming:
		if len(e.rest) == 0 && e.framing == tupleFraming {
			e.left--
			return nullToken, nil
		}
		if len(e.rest) < 4 {
			return badToken, nil
		}
		head = 4
		if n = int64(int32(binary.BigEndian.Uint32(e.rest))); n < 0 {
			e.left--
			e.rest = e.rest[4:]
			return nullToken, nil
		}
	case keyFraming:
		if len(e.rest) == 0 {
			return endToken, nil
		}
		if len(e.rest) < 3 {
			return badToken, nil
		}
		n, head, tail = int64(binary.BigEndian.Uint16(e.rest)), 2, 1
	case vintFraming:
		u, rest, ok := takeVint(e.rest)
		if !ok || u > math.MaxInt32 {
			return badToken, nil
		}
		n, head = int64(u), len(e.rest)-len(rest)
	case fixedFraming:
		n = int64(e.width)
	}
	if n > int64(len(e.rest)-head-tail) {
		return badToken, nil
	}
	end := head + int(n)
	v := e.rest[head:end:end]
	if tail > 0 {
		e.mark = int8(e.rest[end])
	}
	e.rest = e.rest[end+tail:]
	e.left--
	return valueToken, v
}

// takeVint takes a number of Cassandra's variable length: as many further bytes
// as the first has leading ones.
func takeVint(b []byte) (v uint64, rest []byte, ok bool) {
	if len(b) == 0 {
		return 0, b, false
	}
	more := bits.LeadingZeros8(^b[0])
	if len(b) <= more {
		return 0, b, false
	}
	v = uint64(b[0] & (0xff >> more))
	for _, c := range b[1 : 1+more] {
		v = v<<8 | uint64(c)
	}
	return v, b[1+more:], true
}

// appendVint appends v in the shortest form that takeVint reads.
func appendVint(dst []byte, v uint64) []byte {
	more := min((bits.Len64(v|1)-1)/7, 8)
	dst = append(dst, ^byte(0xff>>more)|byte(v>>(8*more)))
	for i := more - 1; i >= 0; i-- {
		dst = append(dst, byte(v>>(8*i)))
	}
	return dst
}

// takeDuration takes the three signed numbers apart of which a duration
// consists. ok is false unless they are all there is, of one sign, and the
// months and days of 32 bits.
func takeDuration(b []byte) (months, days int32, nanos int64, ok bool) {
	var v [3]int64
	for i := range v {
		var u uint64
		if u, b, ok = takeVint(b); !ok {
			return 0, 0, 0, false
		}
		v[i] = int64(u>>1) ^ -int64(u&1)
	}
	months, days, nanos = int32(v[0]), int32(v[1]), v[2]
	ok = len(b) == 0 && int64(months) == v[0] && int64(days) == v[1] &&
		(min(v[0], v[1], v[2]) >= 0 || max(v[0], v[1], v[2]) <= 0)
	return months, days, nanos, ok
}

func appendDuration(dst []byte, months, days int32, nanos int64) []byte {
	for _, v := range [...]int64{int64(months), int64(days), nanos} {
		dst = appendVint(dst, uint64(v<<1)^uint64(v>>63))
	}
	return dst
}
