package parquetfmt

import (
	"encoding/binary"
	"math/bits"

	"github.com/colsst/colsst/rowgroup"
)

// What Cassandra's serialised values consist of; see package rowgroup:
//
//	list, set      int32 count, then count x (int32 length, bytes)
//	map            int32 count, then count x (key and value as above)
//	tuple, udt     per field (int32 length, negative for null, bytes); fields
//	               at the end may be missing
//	vector         the elements back to back, or each (vint length, bytes)
//	counter        int16 n, n x int16, shards of 32 bytes, the count in the last 8
//	duration       months, days, nanoseconds: zigzag vints

// eachPart calls f with the parts of a valid value of s, until that returns
// false: part i is of shape p, and null if ok is false.
func eachPart(s *shape, v []byte, f func(i int, p *shape, v []byte, ok bool) bool) {
	n := len(s.parts)
	switch s.typ.Kind {
	case rowgroup.KindList, rowgroup.KindSet, rowgroup.KindMap:
		if len(v) < 4 {
			return
		}
		n *= int(binary.BigEndian.Uint32(v))
		v = v[4:]
	case rowgroup.KindVector:
		n = int(s.typ.Length)
		if size, fixed := s.typ.Args[0].ValueLen(); fixed {
			for i := range n {
				if !f(i, s.parts[0], v[i*size:(i+1)*size], true) {
					return
				}
			}
			return
		}
		for i := range n {
			size, rest := takeVint(v)
			if !f(i, s.parts[0], rest[:size], true) {
				return
			}
			v = rest[size:]
		}
		return
	}
	for i := range n {
		p := s.parts[i%len(s.parts)]
		if len(v) == 0 {
			if !f(i, p, nil, false) {
				return
			}
			continue
		}
		size := int32(binary.BigEndian.Uint32(v))
		v = v[4:]
		if size < 0 {
			if !f(i, p, nil, false) {
				return
			}
			continue
		}
		if !f(i, p, v[:size], true) {
			return
		}
		v = v[size:]
	}
}

// appendPart appends a part of a value of s: null if ok is false.
func appendPart(dst []byte, s *shape, v []byte, ok bool) []byte {
	if s.typ.Kind == rowgroup.KindVector {
		if _, fixed := s.typ.Args[0].ValueLen(); !fixed {
			dst = appendVint(dst, uint64(len(v)))
		}
		return append(dst, v...)
	}
	if !ok {
		return binary.BigEndian.AppendUint32(dst, 1<<32-1)
	}
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(v))), v...)
}

// takeVint takes a number of Cassandra's variable length: as many further bytes
// as the first has leading ones.
func takeVint(b []byte) (v uint64, rest []byte) {
	if len(b) == 0 {
		return 0, b
	}
	more := bits.LeadingZeros8(^b[0])
	if len(b) <= more {
		return 0, nil
	}
	v = uint64(b[0] & (0xff >> more))
	for _, c := range b[1 : 1+more] {
		v = v<<8 | uint64(c)
	}
	return v, b[1+more:]
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

// durationOf takes a valid duration apart.
func durationOf(b []byte) (months, days int32, nanos int64) {
	var v [3]int64
	for i := range v {
		var u uint64
		u, b = takeVint(b)
		v[i] = int64(u>>1) ^ -int64(u&1)
	}
	return int32(v[0]), int32(v[1]), v[2]
}

func appendDuration(dst []byte, months, days int32, nanos int64) []byte {
	for _, v := range [...]int64{int64(months), int64(days), nanos} {
		dst = appendVint(dst, uint64(v<<1)^uint64(v>>63))
	}
	return dst
}

// counterOf is the sum of the shards of a valid counter.
func counterOf(b []byte) (sum int64, ok bool) {
	if len(b) < 2 {
		return 0, false
	}
	header := 2 + 2*int(binary.BigEndian.Uint16(b))
	if len(b) < header || (len(b)-header)%32 != 0 {
		return 0, false
	}
	for b = b[header:]; len(b) > 0; b = b[32:] {
		sum += int64(binary.BigEndian.Uint64(b[24:]))
	}
	return sum, true
}
