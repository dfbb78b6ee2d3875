package parquetfmt

import (
	"encoding/binary"

	"github.com/colsst/colsst/encoding"
)

// Thrift's compact protocol, as far as Parquet's metadata needs it:
//
//	struct  fields, a zero byte
//	field   u8 (id less the last id) << 4 | type, or u8 type and a zigzag varint
//	        id where the difference is not in 1 to 15; then the value
//	values  integers: zigzag varints; bytes, strings: uvarint length, bytes;
//	        booleans: the type; list: u8 length << 4 | type, or 0xf0 | type and a
//	        uvarint length from 15 on, elements
type compactType = byte

const (
	compactTrue   compactType = 1
	compactFalse  compactType = 2
	compactByte   compactType = 3
	compactI16    compactType = 4
	compactI32    compactType = 5
	compactI64    compactType = 6
	compactDouble compactType = 7
	compactBinary compactType = 8
	compactList   compactType = 9
	compactSet    compactType = 10
	compactMap    compactType = 11
	compactStruct compactType = 12
)

// compactWriter writes structs.
type compactWriter struct {
	buf  []byte
	last int   // the field before
	open []int // last of the structs around
}

func (w *compactWriter) field(id int, t compactType) {
	w.buf = append(w.buf, byte(id-w.last)<<4|t)
	w.last = id
}

func (w *compactWriter) i32(id int, v int32) {
	w.field(id, compactI32)
	w.buf = binary.AppendVarint(w.buf, int64(v))
}

func (w *compactWriter) i64(id int, v int64) {
	w.field(id, compactI64)
	w.buf = binary.AppendVarint(w.buf, v)
}

func (w *compactWriter) bool(id int, v bool) {
	if v {
		w.field(id, compactTrue)
	} else {
		w.field(id, compactFalse)
	}
}

func (w *compactWriter) bytes(id int, v []byte) {
	w.field(id, compactBinary)
	w.element(v)
}

// element is bytes in a list.
func (w *compactWriter) element(v []byte) {
	w.buf = binary.AppendUvarint(w.buf, uint64(len(v)))
	w.buf = append(w.buf, v...)
}

func (w *compactWriter) list(id int, t compactType, n int) {
	w.field(id, compactList)
	if n < 15 {
		w.buf = append(w.buf, byte(n)<<4|t)
		return
	}
	w.buf = append(w.buf, 0xf0|t)
	w.buf = binary.AppendUvarint(w.buf, uint64(n))
}

func (w *compactWriter) i64s(id int, v []int64) {
	w.list(id, compactI64, len(v))
	for _, x := range v {
		w.buf = binary.AppendVarint(w.buf, x)
	}
}

// begin begins a struct: one in a list, or the outermost.
func (w *compactWriter) begin() {
	w.open = append(w.open, w.last)
	w.last = 0
}

// beginField begins a struct that is a field.
func (w *compactWriter) beginField(id int) {
	w.field(id, compactStruct)
	w.begin()
}

func (w *compactWriter) end() {
	w.buf = append(w.buf, 0)
	w.last = w.open[len(w.open)-1]
	w.open = w.open[:len(w.open)-1]
}

// The least that structs in lists take: what Parquet requires of a column chunk
// and of any other. They bound what reading metadata takes in memory, as a
// multiple of its bytes.
const (
	minStruct = 3
	minChunk  = 16
)

// measure is the length of the struct that src begins with. Of all that a
// reader would allocate by counts in it, it checks that the bytes are there.
func measure(src []byte) (n int, err error) {
	rest, err := measureStruct(src, 0)
	return len(src) - len(rest), err
}

// errCut says that bytes end within a struct.
var errCut = encoding.Corruptf("metadata", "it is cut")

func measureStruct(src []byte, depth int) (rest []byte, err error) {
	if depth > maxDepth {
		return nil, encoding.Corruptf("metadata", "more than %d structs in one another", maxDepth)
	}
	for {
		if len(src) == 0 {
			return nil, errCut
		}
		head := src[0]
		src = src[1:]
		if head == 0 {
			return src, nil
		}
		if head>>4 == 0 {
			_, n := binary.Varint(src)
			if n <= 0 {
				return nil, varintError(n)
			}
			src = src[n:]
		}
		if t := head & 15; t != compactTrue && t != compactFalse {
			if src, err = measureValue(src, t, depth); err != nil {
				return nil, err
			}
		}
	}
}

func varintError(n int) error {
	if n == 0 {
		return errCut
	}
	return encoding.Corruptf("metadata", "a number of more than 64 bits")
}

func measureValue(src []byte, t compactType, depth int) (rest []byte, err error) {
	size := 0
	switch t {
	case compactTrue, compactFalse, compactByte:
		size = 1
	case compactDouble:
		size = 8
	case compactI16, compactI32, compactI64:
		_, n := binary.Uvarint(src)
		if n <= 0 {
			return nil, varintError(n)
		}
		size = n
	case compactBinary:
		u, n := binary.Uvarint(src)
		if n <= 0 {
			return nil, varintError(n)
		}
		if u > uint64(len(src)-n) {
			return nil, errCut
		}
		size = n + int(u)
	case compactStruct:
		return measureStruct(src, depth+1)
	case compactList, compactSet:
		if len(src) == 0 {
			return nil, errCut
		}
		element, count := src[0]&15, uint64(src[0]>>4)
		src = src[1:]
		if count == 15 {
			u, n := binary.Uvarint(src)
			if n <= 0 {
				return nil, varintError(n)
			}
			count, src = u, src[n:]
		}
		least := uint64(1)
		if element == compactStruct {
			least = minStruct
		}
		if count > uint64(len(src))/least+1 {
			return nil, errCut
		}
		for range count {
			before := len(src)
			if src, err = measureValue(src, element, depth); err != nil {
				return nil, err
			}
			if size := before - len(src); element == compactStruct && (size < minStruct || depth == 1 && size < minChunk && count > 64) {
				return nil, encoding.Corruptf("metadata", "a list of %d structs of %d bytes", count, size)
			}
		}
		return src, nil
	default: // a map: Parquet has none
		return nil, encoding.Corruptf("metadata", "a field of type %d", t)
	}
	if size > len(src) {
		return nil, errCut
	}
	return src[size:], nil
}
