package cassandra

import (
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/colsst/colsst/encoding"
)

// The types of the components of Statistics.db.
const (
	validationType = iota
	compactionType
	statsType
	headerType
	numStatisticsTypes
)

// statisticsName is the name of a type.
func statisticsName(kind uint32) string {
	if kind < numStatisticsTypes {
		return [numStatisticsTypes]string{"VALIDATION", "COMPACTION", "STATS", "HEADER"}[kind]
	}
	return fmt.Sprintf("component of type %d", kind)
}

// StatisticsFile is Statistics.db: the header of the SSTable and what is known
// of its contents.
//
//	i32          components
//	u32 (na on)  CRC-32 of the field before
//	             each: i32 type, i32 offset from the start of the file
//	u32 (na on)  CRC-32 of the number and the table, without the CRC between
//	...          components, in any order, each up to the next offset; from na
//	             on the last 4 bytes of each are the CRC-32 of those before
type StatisticsFile struct {
	Header     *Header
	Stats      *Stats      // nil: no such component
	Validation *Validation // nil: no such component

	// The components as they stand in the file, without checksums; nil where
	// there is none. They alias the input.
	RawHeader, RawStats, RawValidation, RawCompaction []byte
}

// Validation is the component VALIDATION.
//
//	utf  class of the partitioner
//	f64  rate of false positives that the filter was made for
type Validation struct {
	Partitioner              string
	BloomFalsePositiveChance float64
}

// ParseStatistics reads Statistics.db of an SSTable of version v. Components
// of unknown types are left out.
func ParseStatistics(b []byte, v Version) (*StatisticsFile, error) {
	const part = string(ComponentStatistics)
	c := cursor{b: b}
	n := c.u32()
	sum := crc32.ChecksumIEEE(b[:c.p])
	if v.hasChecksums() {
		if got := c.u32(); !c.short && got != sum {
			return nil, encoding.Corruptf(part, "checksum of the number of components: %08x expected, %08x found", got, sum)
		}
	}
	from := c.p
	table := make([]struct {
		kind, offset uint32
	}, c.count(uint64(n), 8))
	offsets := make([]int, 0, len(table)+1)
	for i := range table {
		table[i].kind, table[i].offset = c.u32(), c.u32()
		if int64(table[i].offset) > int64(len(b)) {
			return nil, encoding.Corruptf(part, "component at %d of %d bytes", table[i].offset, len(b))
		}
		offsets = append(offsets, int(table[i].offset))
	}
	sum = crc32.Update(sum, crc32.IEEETable, b[from:c.p])
	if v.hasChecksums() {
		if got := c.u32(); !c.short && got != sum {
			return nil, encoding.Corruptf(part, "checksum of the table of components: %08x expected, %08x found", got, sum)
		}
	}
	if c.short {
		return nil, encoding.Corruptf(part, "ends within the table of %d components", n)
	}
	slices.Sort(offsets)
	offsets = append(offsets, len(b))

	var f StatisticsFile
	raw := [numStatisticsTypes]*[]byte{&f.RawValidation, &f.RawCompaction, &f.RawStats, &f.RawHeader}
	for _, t := range table {
		start := int(t.offset)
		i, _ := slices.BinarySearch(offsets, start+1)
		end := offsets[min(i, len(offsets)-1)]
		if start < c.p || t.kind < numStatisticsTypes && *raw[t.kind] != nil {
			return nil, encoding.Corruptf(part, "%s at %d: overlaps the table or stands twice", statisticsName(t.kind), start)
		}
		body := b[start:end:end]
		if v.hasChecksums() {
			if len(body) < crcLength {
				return nil, encoding.Corruptf(part, "%s at %d has %d bytes", statisticsName(t.kind), start, len(body))
			}
			whole := cursor{b: body, p: len(body) - crcLength}
			body = body[:whole.p:whole.p]
			if err := checkCRC(body, whole.u32()); err != nil {
				return nil, &encoding.CorruptError{Part: part + ", " + statisticsName(t.kind), Offset: int64(start), Err: err}
			}
		}
		if t.kind < numStatisticsTypes {
			*raw[t.kind] = body
		}
	}
	return &f, f.parse(v)
}

func (f *StatisticsFile) parse(v Version) (err error) {
	if f.RawHeader == nil {
		return encoding.Corruptf(string(ComponentStatistics), "no component HEADER")
	}
	if f.Header, err = ParseHeader(f.RawHeader); err != nil {
		return err
	}
	if f.RawStats != nil {
		if f.Stats, err = ParseStats(f.RawStats, v); err != nil {
			return err
		}
	}
	if f.RawValidation != nil {
		c := cursor{b: f.RawValidation}
		f.Validation = &Validation{c.utf(), c.f64()}
		if c.short {
			return encoding.Corruptf("VALIDATION", "ends too early")
		}
	}
	return nil
}

// AppendStatistics appends Statistics.db made of raw components, in the order
// in which Cassandra writes them; those that are nil are left out.
func AppendStatistics(dst []byte, v Version, f *StatisticsFile) []byte {
	all := [numStatisticsTypes][]byte{f.RawValidation, f.RawCompaction, f.RawStats, f.RawHeader}
	n := 0
	for _, raw := range all {
		if raw != nil {
			n++
		}
	}
	at := 4 + 8*n
	tail := 0
	if v.hasChecksums() {
		at += 2 * crcLength
		tail = crcLength
	}
	number := appendU32(nil, uint32(n))
	var table []byte
	for kind, raw := range all {
		if raw != nil {
			table = appendU32(appendU32(table, uint32(kind)), uint32(at))
			at += len(raw) + tail
		}
	}
	dst = append(dst, number...)
	if v.hasChecksums() {
		dst = appendU32(dst, crc32.ChecksumIEEE(number))
	}
	dst = append(dst, table...)
	if v.hasChecksums() {
		dst = appendU32(dst, crc32.ChecksumIEEE(append(number, table...)))
	}
	for _, raw := range all {
		if raw == nil {
			continue
		}
		dst = append(dst, raw...)
		if v.hasChecksums() {
			dst = appendU32(dst, crc32.ChecksumIEEE(raw))
		}
	}
	return dst
}

// Append appends the bytes of the component.
func (v *Validation) Append(dst []byte) []byte {
	return appendF64(appendUTF(dst, v.Partitioner), v.BloomFalsePositiveChance)
}
