package cassandra

import (
	"encoding/binary"

	"github.com/colsst/colsst/encoding"
)

// IndexSummary is Summary.db: every so many entries of Index.db.
//
//	i32     entries of Index.db to one here, where none was dropped
//	i32     entries
//	i64     bytes of offsets and entries
//	i32     sampling level
//	i32     entries if none had been dropped
//	u32...  offset of each entry from the first offset, little-endian
//	entry   key, u64 position in Index.db, little-endian
//	i32     length, first key
//	i32     length, last key
type IndexSummary struct {
	MinIndexInterval   int32
	SamplingLevel      int32
	SizeAtFullSampling int32
	Entries            []SummaryEntry // in the order of Index.db
	First, Last        []byte         // keys of the SSTable
}

// SummaryEntry is a key and where its entry begins in Index.db.
type SummaryEntry struct {
	Key      []byte
	Position int64
}

// ParseSummary reads Summary.db. The result aliases b.
func ParseSummary(b []byte) (*IndexSummary, error) {
	const part = string(ComponentSummary)
	c := cursor{b: b}
	s := &IndexSummary{MinIndexInterval: c.i32()}
	count, size := c.u32(), c.u64()
	s.SamplingLevel, s.SizeAtFullSampling = c.i32(), c.i32()
	area := c.take(size)
	s.First = c.take(uint64(c.u32()))
	s.Last = c.take(uint64(c.u32()))
	if c.short || c.left() > 0 {
		return nil, encoding.Corruptf(part, "%d entries in %d bytes do not fill the file of %d", count, size, len(b))
	}
	if uint64(count) > size/4 || count == 0 && size > 0 {
		return nil, encoding.Corruptf(part, "%d entries in %d bytes", count, size)
	}
	s.Entries = make([]SummaryEntry, count)
	next := 4 * uint64(count)
	for i := range s.Entries {
		from, to := next, size
		if at := uint64(binary.LittleEndian.Uint32(area[4*i:])); at != from {
			return nil, encoding.Corruptf(part, "entry %d at %d, not %d", i, at, from)
		}
		if i+1 < len(s.Entries) {
			to = uint64(binary.LittleEndian.Uint32(area[4*i+4:]))
		}
		if to > size || to < from+8 {
			return nil, encoding.Corruptf(part, "entry %d at %d ends at %d of %d", i, from, to, size)
		}
		s.Entries[i] = SummaryEntry{area[from : to-8 : to-8], int64(binary.LittleEndian.Uint64(area[to-8:]))}
		next = to
	}
	return s, nil
}

// Append appends the bytes of Summary.db.
func (s *IndexSummary) Append(dst []byte) []byte {
	size := 4 * len(s.Entries)
	var offsets, entries []byte
	for _, e := range s.Entries {
		offsets = binary.LittleEndian.AppendUint32(offsets, uint32(size+len(entries)))
		entries = append(entries, e.Key...)
		entries = binary.LittleEndian.AppendUint64(entries, uint64(e.Position))
	}
	dst = appendU32(appendU32(dst, uint32(s.MinIndexInterval)), uint32(len(s.Entries)))
	dst = appendU64(dst, uint64(size+len(entries)))
	dst = appendU32(appendU32(dst, uint32(s.SamplingLevel)), uint32(s.SizeAtFullSampling))
	dst = append(append(dst, offsets...), entries...)
	for _, key := range [][]byte{s.First, s.Last} {
		dst = append(appendU32(dst, uint32(len(key))), key...)
	}
	return dst
}
