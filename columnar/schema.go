package columnar

import (
	"encoding/binary"
	"slices"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// The flags of a schema and of a column.
const (
	schemaMultiset = 1
	columnDesc     = 1
)

// appendSchema appends the bytes of s:
//
//	version 1 u8 | flags u8: bit 0 multiset | order, length uvarint and bytes |
//	columns uvarint | for each, by role: role u8 | flags u8: bit 0 descending |
//	id uvarint | name and type, length uvarint and bytes each
//
// Ids are 1, 2, ... in this version and stay with a column when a later one
// changes a schema.
func appendSchema(dst []byte, s *rowgroup.Schema) []byte {
	var flags byte
	if s.Multiset() {
		flags |= schemaMultiset
	}
	dst = append(dst, 1, flags)
	dst = appendBytes(dst, s.Order())
	dst = binary.AppendUvarint(dst, uint64(s.NumColumns()))
	for i := range s.NumColumns() {
		c := s.Column(i)
		flags = 0
		if c.Desc {
			flags |= columnDesc
		}
		dst = append(dst, byte(s.Role(i)), flags)
		dst = binary.AppendUvarint(dst, uint64(i+1))
		dst = appendBytes(dst, c.Name)
		dst = appendBytes(dst, c.Type.String())
	}
	return dst
}

func appendBytes[T ~string | ~[]byte](dst []byte, s T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func parseSchema(src []byte) (*rowgroup.Schema, error) {
	r := reader{src: src}
	if v := r.byte(); v != 1 {
		return nil, encoding.Corruptf("schema", "version %d", v)
	}
	var opts []rowgroup.SchemaOption
	flags := r.byte()
	if flags&schemaMultiset != 0 {
		opts = append(opts, rowgroup.WithMultiset())
	}
	if flags&^schemaMultiset != 0 {
		return nil, encoding.Corruptf("schema", "flags %#x", flags)
	}
	opts = append(opts, rowgroup.WithOrder(string(r.bytes())))
	n := r.uvarint()
	if n > encoding.MaxColumns {
		return nil, encoding.Corruptf("schema", "%d columns", n)
	}
	var columns [4][]rowgroup.Column
	last := byte(0)
	ids := map[uint64]bool{}
	for i := 0; i < int(n) && !r.bad; i++ {
		role, flags, id := r.byte(), r.byte(), r.uvarint()
		name, text := string(r.bytes()), string(r.bytes())
		if r.bad {
			break
		}
		if role > byte(rowgroup.Regular) || role < last || flags&^columnDesc != 0 || id == 0 || ids[id] {
			return nil, encoding.Corruptf("schema", "column %d: role %d, flags %#x, id %d", i, role, flags, id)
		}
		last, ids[id] = role, true
		t, err := rowgroup.ParseType(text)
		if err != nil {
			return nil, &encoding.CorruptError{Part: "schema", Offset: -1, Err: err}
		}
		columns[role] = append(columns[role], rowgroup.Column{Name: name, Type: t, Desc: flags&columnDesc != 0})
	}
	if r.bad || len(r.src) > 0 {
		return nil, encoding.Corruptf("schema", "cut, or bytes left over")
	}
	s, err := rowgroup.NewSchema(columns[0], columns[1], columns[2], columns[3], opts...)
	if err != nil {
		return nil, &encoding.CorruptError{Part: "schema", Offset: -1, Err: err}
	}
	return s, nil
}

// appendPairs appends named values.
func appendPairs(dst []byte, pairs []pair) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(pairs)))
	for _, p := range pairs {
		dst = appendBytes(dst, p.name)
		dst = appendBytes(dst, p.value)
	}
	return dst
}

// parsePairs reads what appendPairs wrote.
func parsePairs(part string, src []byte) ([]pair, error) {
	r := reader{src: src}
	var pairs []pair
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		name := string(r.bytes())
		pairs = append(pairs, pair{name, slices.Clone(r.bytes())})
	}
	if r.bad || len(r.src) > 0 {
		return nil, encoding.Corruptf(part, "cut, or bytes left over")
	}
	return pairs, nil
}
