package parquetfmt

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/format"

	"github.com/colsst/colsst/encoding"
)

// compactReader reads structs of Thrift's compact protocol that measure has
// found whole. The first error sticks. Fields of other types than Parquet gives
// them are passed over as unknown ones are.
type compactReader struct {
	src []byte
	err error
}

// tag is a field's number and type, of which a switch takes both at once.
type tag int

func tagOf(id int, t compactType) tag { return tag(id)<<4 | tag(t) }

// The types of fields, shifted beside their numbers in tags.
const (
	tagTrue   = tag(compactTrue)
	tagFalse  = tag(compactFalse)
	tagI16    = tag(compactI16)
	tagI32    = tag(compactI32)
	tagI64    = tag(compactI64)
	tagBinary = tag(compactBinary)
	tagList   = tag(compactList)
	tagStruct = tag(compactStruct)
)

// field reads the head of the next field of a struct, whose last one was id, and
// reports false at the end of the struct.
func (r *compactReader) field(id *int) (tag, bool) {
	if r.err != nil || len(r.src) == 0 || r.src[0] == 0 {
		if len(r.src) > 0 {
			r.src = r.src[1:]
		}
		return 0, false
	}
	head := r.src[0]
	r.src = r.src[1:]
	if head>>4 != 0 {
		*id += int(head >> 4)
	} else {
		*id = int(int16(r.varint(16)))
	}
	return tagOf(*id, head&15), true
}

// varint reads a zigzag varint that fits into so many bits.
func (r *compactReader) varint(bits uint) int64 {
	if len(r.src) > 0 && r.src[0] < 0x80 { // most are short
		u := int64(r.src[0])
		r.src = r.src[1:]
		return u>>1 ^ -(u & 1)
	}
	v, n := binary.Varint(r.src)
	if n <= 0 || v>>(bits-1) != 0 && v>>(bits-1) != -1 {
		r.fail("a number of more than %d bits", bits)
		return 0
	}
	r.src = r.src[n:]
	return v
}

func (r *compactReader) fail(f string, args ...any) {
	if r.err == nil {
		r.err = encoding.Corruptf("metadata", f, args...)
	}
}

func (r *compactReader) i32() int32 { return int32(r.varint(32)) }
func (r *compactReader) i64() int64 { return r.varint(64) }

// bytes is a byte string, which stays in the source.
func (r *compactReader) bytes() []byte {
	u, n := binary.Uvarint(r.src)
	if n <= 0 || u > uint64(len(r.src)-n) {
		r.err = errCut
		return nil
	}
	b := r.src[n : n+int(u) : n+int(u)]
	r.src = r.src[n+int(u):]
	return b
}

// list reads the head of a list, and fails where its elements have another type.
func (r *compactReader) list(t compactType) (n int) {
	if len(r.src) == 0 {
		r.err = errCut
		return 0
	}
	head := r.src[0]
	r.src = r.src[1:]
	count := uint64(head >> 4)
	if count == 15 {
		u, size := binary.Uvarint(r.src)
		if size <= 0 {
			r.err = errCut
			return 0
		}
		count, r.src = u, r.src[size:]
	}
	if count > uint64(len(r.src)) || count > 0 && head&15 != t {
		r.fail("a list of %d values of type %d where %d is expected", count, head&15, t)
		return 0
	}
	return int(count)
}

// skip passes over the value of a field.
func (r *compactReader) skip(t tag) {
	if k := compactType(t & 15); k != compactTrue && k != compactFalse {
		rest, err := measureValue(r.src, k, 0)
		if err != nil {
			r.err = err
			return
		}
		r.src = rest
	}
}

// fields reads a struct: known reads the value of a field that it knows by its
// number and type, and reports false for others, which are passed over. It fails
// where required fields, of which the set has a bit each, are missing.
func (r *compactReader) fields(what string, required uint, known func(t tag) bool) {
	seen := uint(0)
	for id := 0; ; {
		t, ok := r.field(&id)
		switch {
		case !ok:
			if seen&required != required {
				r.fail("%s without all of its fields", what)
			}
			return
		case known(t):
			seen |= 1 << (uint(t>>4) & 63)
		default:
			r.skip(t)
		}
	}
}

// bit is a set of fields that are required.
func bit(ids ...int) (set uint) {
	for _, id := range ids {
		set |= 1 << id
	}
	return set
}

// What Parquet requires.
var (
	needGroup      = bit(1, 2, 3)
	needChunk      = bit(2)
	needColumn     = bit(1, 2, 3, 4, 5, 6, 7, 9)
	needStats      = bit(1, 2, 3)
	needSorting    = bit(1, 2, 3)
	needHeader     = bit(1, 2, 3)
	needData       = bit(1, 2, 3, 4)
	needDataV2     = bit(1, 2, 3, 4, 5, 6)
	needDictionary = bit(1, 2)
)

// rowGroups reads the list of a footer's row groups.
func (r *compactReader) rowGroups() []format.RowGroup {
	groups := make([]format.RowGroup, r.list(compactStruct))
	for i := range groups {
		if r.err != nil {
			return nil
		}
		r.rowGroup(&groups[i])
	}
	return groups
}

func (r *compactReader) rowGroup(g *format.RowGroup) {
	r.fields("a row group", needGroup, func(t tag) bool {
		switch t {
		case 1<<4 | tagList:
			g.Columns = make([]format.ColumnChunk, r.list(compactStruct))
			for i := range g.Columns {
				r.columnChunk(&g.Columns[i])
			}
		case 2<<4 | tagI64:
			g.TotalByteSize = r.i64()
		case 3<<4 | tagI64:
			g.NumRows = r.i64()
		case 4<<4 | tagList:
			g.SortingColumns = make([]format.SortingColumn, r.list(compactStruct))
			for i := range g.SortingColumns {
				r.sortingColumn(&g.SortingColumns[i])
			}
		case 5<<4 | tagI64:
			g.FileOffset = r.i64()
		case 6<<4 | tagI64:
			g.TotalCompressedSize = r.i64()
		case 7<<4 | tagI16:
			g.Ordinal = int16(r.varint(16))
		default:
			return false
		}
		return true
	})
}

func (r *compactReader) sortingColumn(s *format.SortingColumn) {
	r.fields("a sorting column", needSorting, func(t tag) bool {
		switch t {
		case 1<<4 | tagI32:
			s.ColumnIdx = r.i32()
		case 2<<4 | tagTrue, 2<<4 | tagFalse:
			s.Descending = t&15 == tagTrue
		case 3<<4 | tagTrue, 3<<4 | tagFalse:
			s.NullsFirst = t&15 == tagTrue
		default:
			return false
		}
		return true
	})
}

func (r *compactReader) columnChunk(c *format.ColumnChunk) {
	r.fields("a column chunk", needChunk, func(t tag) bool {
		switch t {
		case 1<<4 | tagBinary:
			c.FilePath = string(r.bytes())
		case 2<<4 | tagI64:
			c.FileOffset = r.i64()
		case 3<<4 | tagStruct:
			r.columnMetaData(&c.MetaData)
		case 4<<4 | tagI64:
			c.OffsetIndexOffset = r.i64()
		case 5<<4 | tagI32:
			c.OffsetIndexLength = r.i32()
		case 6<<4 | tagI64:
			c.ColumnIndexOffset = r.i64()
		case 7<<4 | tagI32:
			c.ColumnIndexLength = r.i32()
		default:
			return false
		}
		return true
	})
}

// columnMetaData reads all but the path, which follows from the schema, and what
// the package has no use for.
func (r *compactReader) columnMetaData(m *format.ColumnMetaData) {
	r.fields("a column chunk", needColumn, func(t tag) bool {
		switch t {
		case 1<<4 | tagI32:
			m.Type = format.Type(r.i32())
		case 2<<4 | tagList:
			m.Encoding = make([]format.Encoding, r.list(compactI32))
			for i := range m.Encoding {
				m.Encoding[i] = format.Encoding(r.i32())
			}
		case 3<<4 | tagList:
			r.skip(t)
		case 4<<4 | tagI32:
			m.Codec = format.CompressionCodec(r.i32())
		case 5<<4 | tagI64:
			m.NumValues = r.i64()
		case 6<<4 | tagI64:
			m.TotalUncompressedSize = r.i64()
		case 7<<4 | tagI64:
			m.TotalCompressedSize = r.i64()
		case 9<<4 | tagI64:
			m.DataPageOffset = r.i64()
		case 11<<4 | tagI64:
			m.DictionaryPageOffset = r.i64()
		case 12<<4 | tagStruct:
			r.statistics(&m.Statistics)
		case 13<<4 | tagList:
			m.EncodingStats = make([]format.PageEncodingStats, r.list(compactStruct))
			for i := range m.EncodingStats {
				r.encodingStats(&m.EncodingStats[i])
			}
		case 14<<4 | tagI64:
			m.BloomFilterOffset = r.i64()
		case 15<<4 | tagI32:
			m.BloomFilterLength = r.i32()
		default:
			return false
		}
		return true
	})
}

func (r *compactReader) encodingStats(s *format.PageEncodingStats) {
	r.fields("statistics of encodings", needStats, func(t tag) bool {
		switch t {
		case 1<<4 | tagI32:
			s.PageType = format.PageType(r.i32())
		case 2<<4 | tagI32:
			s.Encoding = format.Encoding(r.i32())
		case 3<<4 | tagI32:
			s.Count = r.i32()
		default:
			return false
		}
		return true
	})
}

// statistics reads those by the order of the type, not the older ones.
func (r *compactReader) statistics(s *format.Statistics) {
	r.fields("statistics", 0, func(t tag) bool {
		switch t {
		case 3<<4 | tagI64:
			s.NullCount = r.i64()
		case 5<<4 | tagBinary:
			s.MaxValue = r.bytes()
		case 6<<4 | tagBinary:
			s.MinValue = r.bytes()
		default:
			return false
		}
		return true
	})
}

// decodePageHeader is decodeStruct for the header of a page, without its
// statistics.
func decodePageHeader(src []byte, h *format.PageHeader) (n int, err error) {
	if n, err = measure(src); err != nil {
		return 0, err
	}
	r := compactReader{src: src[:n]}
	r.pageHeader(h)
	return n, r.err
}

func (r *compactReader) pageHeader(h *format.PageHeader) {
	*h = format.PageHeader{}
	r.fields("the header of a page", needHeader, func(t tag) bool {
		switch t {
		case 1<<4 | tagI32:
			h.Type = format.PageType(r.i32())
		case 2<<4 | tagI32:
			h.UncompressedPageSize = r.i32()
		case 3<<4 | tagI32:
			h.CompressedPageSize = r.i32()
		case 4<<4 | tagI32:
			h.CRC = r.i32()
		case 5<<4 | tagStruct:
			h.DataPageHeader.Valid = true
			r.dataPageHeader(&h.DataPageHeader.V)
		case 7<<4 | tagStruct:
			h.DictionaryPageHeader.Valid = true
			r.dictionaryPageHeader(&h.DictionaryPageHeader.V)
		case 8<<4 | tagStruct:
			h.DataPageHeaderV2.Valid = true
			r.dataPageHeaderV2(&h.DataPageHeaderV2.V)
		default:
			return false
		}
		return true
	})
}

func (r *compactReader) dataPageHeader(h *format.DataPageHeader) {
	r.fields("the header of a data page", needData, func(t tag) bool {
		switch t {
		case 1<<4 | tagI32:
			h.NumValues = r.i32()
		case 2<<4 | tagI32:
			h.Encoding = format.Encoding(r.i32())
		case 3<<4 | tagI32:
			h.DefinitionLevelEncoding = format.Encoding(r.i32())
		case 4<<4 | tagI32:
			h.RepetitionLevelEncoding = format.Encoding(r.i32())
		default:
			return false
		}
		return true
	})
}

func (r *compactReader) dataPageHeaderV2(h *format.DataPageHeaderV2) {
	r.fields("the header of a data page", needDataV2, func(t tag) bool {
		switch t {
		case 1<<4 | tagI32:
			h.NumValues = r.i32()
		case 2<<4 | tagI32:
			h.NumNulls = r.i32()
		case 3<<4 | tagI32:
			h.NumRows = r.i32()
		case 4<<4 | tagI32:
			h.Encoding = format.Encoding(r.i32())
		case 5<<4 | tagI32:
			h.DefinitionLevelsByteLength = r.i32()
		case 6<<4 | tagI32:
			h.RepetitionLevelsByteLength = r.i32()
		case 7<<4 | tagTrue, 7<<4 | tagFalse:
			h.IsCompressed.Valid, h.IsCompressed.V = true, t&15 == tagTrue
		default:
			return false
		}
		return true
	})
}

func (r *compactReader) dictionaryPageHeader(h *format.DictionaryPageHeader) {
	r.fields("the header of a dictionary", needDictionary, func(t tag) bool {
		switch t {
		case 1<<4 | tagI32:
			h.NumValues = r.i32()
		case 2<<4 | tagI32:
			h.Encoding = format.Encoding(r.i32())
		default:
			return false
		}
		return true
	})
}

// decodeFooter decodes a footer, which body is. The row groups, of which there
// are most, are read here, the rest by the names of its fields.
func decodeFooter(body []byte) (m *format.FileMetaData, n int, err error) {
	if n, err = measure(body); err != nil {
		return nil, 0, err
	}
	r := compactReader{src: body[:n:n]}
	var groups []format.RowGroup
	rest := make([]byte, 0, 1024)
	from := 0
	r.fields("a footer", 0, func(t tag) bool {
		if t != 4<<4|tagList {
			return false
		}
		at := n - len(r.src)
		groups = r.rowGroups()
		rest = append(append(rest, body[from:at]...), compactStruct) // a list of none
		from = n - len(r.src)
		return true
	})
	if r.err != nil {
		return nil, 0, r.err
	}
	m = new(format.FileMetaData)
	if _, err := decodeStruct(append(rest, body[from:n]...), m); err != nil {
		return nil, 0, err
	}
	m.RowGroups = groups
	return m, n, nil
}
