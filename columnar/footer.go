package columnar

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/deltadelta"
	"github.com/colsst/colsst/rowgroup"
)

// Version is the version of the format that a Writer writes and the newest
// that a Reader reads.
const Version = 1

const (
	fileHeaderLen = 16
	trailerLen    = 32
	headMagic     = "COLSST\r\n"
	tailMagic     = "\r\nCOLSST"
	featureChunks = 1 << 0
	knownFeatures = featureChunks
)

// The footer's sections.
const (
	secSchema = 1 + iota
	secOptions
	secTemplates
	secStream
	secIndex
	secFilter
	secTotals
	secStatistics
	secUser
	required = 0x80
)

func appendFileHeader(dst []byte, chunkKiB int) []byte {
	at := len(dst)
	dst = append(dst, headMagic...)
	dst = binary.LittleEndian.AppendUint16(dst, Version)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(chunkKiB))
	return binary.LittleEndian.AppendUint32(dst, checksum(dst[at:]))
}

// parseFileHeader returns the format version and the chunk length in KiB, 0
// for none.
func parseFileHeader(b []byte) (version, chunkKiB int, err error) {
	const part = "file header"
	if len(b) < fileHeaderLen || string(b[:len(headMagic)]) != headMagic {
		return 0, 0, encoding.Corruptf(part, "not a columnar SSTable")
	}
	if checksum(b[:12]) != binary.LittleEndian.Uint32(b[12:]) {
		return 0, 0, encoding.Corruptf(part, "checksum mismatch")
	}
	v := binary.LittleEndian.Uint16(b[8:])
	if v == 0 || v > Version {
		return 0, 0, unsupportedVersion(v)
	}
	chunkKiB = int(binary.LittleEndian.Uint16(b[10:]))
	if chunkKiB > maxChunkKiB {
		return 0, 0, encoding.Corruptf(part, "outer chunks of %d KiB", chunkKiB)
	}
	return int(v), chunkKiB, nil
}

func unsupportedVersion(v uint16) error {
	return fmt.Errorf("%w: format version %d; this reader knows 1 to %d", encoding.ErrUnsupported, v, Version)
}

func appendTrailer(dst, footer []byte, features uint32) []byte {
	at := len(dst)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(len(footer)))
	dst = binary.LittleEndian.AppendUint32(dst, checksum(footer))
	dst = binary.LittleEndian.AppendUint16(dst, Version)
	dst = binary.LittleEndian.AppendUint16(dst, 0)
	dst = binary.LittleEndian.AppendUint32(dst, features)
	dst = binary.LittleEndian.AppendUint32(dst, checksum(dst[at:]))
	return append(dst, tailMagic...)
}

// trailer is the fixed end of a file.
type trailer struct {
	version   int
	footerLen uint64
	footerCRC uint32
	features  uint32
}

func parseTrailer(b []byte) (t trailer, err error) {
	const part = "trailer"
	if string(b[24:]) != tailMagic {
		return t, encoding.Corruptf(part, "the file does not end as a columnar SSTable: truncated, or not one")
	}
	if checksum(b[:20]) != binary.LittleEndian.Uint32(b[20:]) {
		return t, encoding.Corruptf(part, "checksum mismatch")
	}
	if v := binary.LittleEndian.Uint16(b[12:]); v == 0 || v > Version {
		return t, unsupportedVersion(v)
	}
	if binary.LittleEndian.Uint16(b[14:]) != 0 {
		return t, encoding.Corruptf(part, "reserved bytes in use")
	}
	t = trailer{
		version: int(binary.LittleEndian.Uint16(b[12:])), footerLen: binary.LittleEndian.Uint64(b),
		footerCRC: binary.LittleEndian.Uint32(b[8:]), features: binary.LittleEndian.Uint32(b[16:]),
	}
	if unknown := t.features &^ knownFeatures; unknown != 0 {
		return t, fmt.Errorf("%w: the file requires feature bit %d, which this reader does not know",
			encoding.ErrUnsupported, bits.TrailingZeros32(unknown))
	}
	return t, nil
}

// totals are the counts of a file.
type totals struct {
	rows       int64 // unfiltereds
	partitions int64
	groups     int64
	blocks     int64
	segments   int64
}

// footer is what a footer says.
type footer struct {
	schemaBytes []byte
	schema      *rowgroup.Schema
	options     []pair
	templates   [][]byte
	streamLen   int64
	chunk       int     // logical bytes an outer chunk, or 0
	stored      []int64 // bytes stored by each outer chunk
	root        ref     // of the partition index; length 0 if there is none
	rootLevel   int
	filter      []ref
	groupRows   int // what a row group holds at most
	groupBytes  int
	totals      totals
	stats       *rowgroup.Stats
	statistics  []ref
	user        []pair
	sections    [secUser + 1]int // bytes of each section, its tag and length included
	unknown     int64            // the same of sections that are not known
}

func (f *footer) appendTo(dst []byte, chunk int) []byte {
	var b []byte
	section := func(tag byte) {
		dst = append(dst, tag)
		dst = appendBytes(dst, b)
		b = b[:0]
	}
	b = append(b, f.schemaBytes...)
	section(secSchema | required)
	b = appendPairs(b, f.options)
	section(secOptions)
	b = binary.AppendUvarint(b, uint64(len(f.templates)))
	for _, t := range f.templates {
		b = appendBytes(b, t)
	}
	section(secTemplates | required)
	b = binary.AppendUvarint(b, uint64(f.streamLen))
	if chunk > 0 {
		b = binary.AppendUvarint(b, uint64(chunk>>10))
		b = deltadelta.AppendInt64(b, f.stored)
	}
	section(secStream | required)
	if f.root.len > 0 {
		for _, v := range []int64{f.root.off, f.root.len, int64(f.rootLevel)} {
			b = binary.AppendUvarint(b, uint64(v))
		}
	}
	section(secIndex | required)
	if len(f.filter) > 0 {
		b = appendRefs(binary.AppendUvarint(b, uint64(len(f.filter))), f.filter)
		section(secFilter)
	}
	for _, v := range []int64{int64(f.groupRows), int64(f.groupBytes), f.totals.rows, f.totals.partitions, f.totals.groups, f.totals.blocks, f.totals.segments} {
		b = binary.AppendUvarint(b, uint64(v))
	}
	b = f.stats.AppendTo(b)
	section(secTotals | required)
	if len(f.statistics) > 0 {
		b = appendRefs(binary.AppendUvarint(b, uint64(len(f.statistics))), f.statistics)
		section(secStatistics)
	}
	if len(f.user) > 0 {
		b = appendPairs(b, f.user)
		section(secUser)
	}
	return dst
}

// parseFooter reads a footer whose checksum is right. physical is the number
// of bytes between the file header and the footer.
func parseFooter(src []byte, chunked bool, physical int64) (*footer, error) {
	const part = "footer"
	f := &footer{}
	r := reader{src: src}
	var sections [secUser + 1][]byte
	for len(r.src) > 0 {
		left := len(r.src)
		tag := r.byte()
		body := r.bytes()
		if r.bad {
			return nil, encoding.Corruptf(part, "section %d is cut", tag&^required)
		}
		n := int(tag &^ required)
		switch {
		case n == 0 || n > secUser:
			if tag&required != 0 {
				return nil, fmt.Errorf("%w: footer section %d, which this reader does not know", encoding.ErrUnsupported, n)
			}
			f.unknown += int64(left - len(r.src))
		case f.sections[n] > 0:
			return nil, encoding.Corruptf(part, "section %d stands twice", n)
		default:
			sections[n], f.sections[n] = body, left-len(r.src)
		}
	}
	for _, n := range []int{secSchema, secTemplates, secStream, secIndex, secTotals} {
		if f.sections[n] == 0 {
			return nil, encoding.Corruptf(part, "section %d is missing", n)
		}
	}
	f.schemaBytes = sections[secSchema]
	var err error
	if f.schema, err = parseSchema(f.schemaBytes); err != nil {
		return nil, err
	}
	if err = f.parseStream(sections[secStream], chunked, physical); err != nil {
		return nil, err
	}
	if r = (reader{src: sections[secIndex]}); len(r.src) > 0 {
		f.root = ref{r.int64(), r.int64()}
		level := r.uvarint()
		if r.bad || len(r.src) > 0 || level > maxLevel || f.root.len < minItem || f.root.len > f.streamLen-f.root.off || f.root.off > f.streamLen {
			return nil, encoding.Corruptf(part, "partition index of %d bytes at %d", f.root.len, f.root.off)
		}
		f.rootLevel = int(level)
	}
	if err = f.parseTotals(sections[secTotals]); err != nil {
		return nil, err
	}
	r = reader{src: sections[secTemplates]}
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		f.templates = append(f.templates, r.bytes())
	}
	if r.bad || len(r.src) > 0 || int64(len(f.templates)) > f.totals.blocks {
		return nil, encoding.Corruptf(part, "%d templates for %d blocks, cut, or bytes left over", len(f.templates), f.totals.blocks)
	}
	if f.filter, err = f.parseList("filter", sections[secFilter]); err != nil {
		return nil, err
	}
	if n := len(f.filter); n&(n-1) != 0 {
		return nil, encoding.Corruptf(part, "%d filter shards", n)
	}
	if f.statistics, err = f.parseList("statistics", sections[secStatistics]); err != nil {
		return nil, err
	}
	if f.sections[secOptions] > 0 {
		if f.options, err = parsePairs("options", sections[secOptions]); err != nil {
			return nil, err
		}
	}
	if f.sections[secUser] > 0 {
		if f.user, err = parsePairs("user data", sections[secUser]); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *footer) parseStream(src []byte, chunked bool, physical int64) error {
	r := reader{src: src}
	f.streamLen = r.int64()
	if r.bad {
		return encoding.Corruptf("footer", "stream length is cut")
	}
	if !chunked {
		if f.streamLen != physical || len(r.src) > 0 {
			return encoding.Corruptf("footer", "a stream of %d bytes in %d", f.streamLen, physical)
		}
		return nil
	}
	kib := r.uvarint()
	if kib == 0 || kib > maxChunkKiB {
		return encoding.Corruptf("footer", "outer chunks of %d KiB", kib)
	}
	chunk := int(kib) << 10
	f.chunk = chunk
	n := f.streamLen / int64(chunk)
	if f.streamLen%int64(chunk) > 0 {
		n++
	}
	if n > physical/(chunkFrame+1) {
		return encoding.Corruptf("footer", "%d outer chunks in %d bytes", n, physical)
	}
	if n > math.MaxInt/8 {
		return fmt.Errorf("%w: %d outer chunks, too many for the memory of this machine", encoding.ErrUnsupported, n)
	}
	f.stored = make([]int64, n)
	rest, err := deltadelta.DecodeInt64(f.stored, r.src)
	if err != nil {
		return err
	}
	left := physical
	for i, v := range f.stored {
		if v < 1 || v > int64(chunk) || v > left-chunkFrame {
			return encoding.Corruptf("footer", "outer chunk %d stores %d bytes, %d left", i, v, left)
		}
		left -= v + chunkFrame
	}
	if left != 0 || len(rest) > 0 {
		return encoding.Corruptf("footer", "outer chunks leave %d bytes over", left)
	}
	return nil
}

func (f *footer) parseTotals(src []byte) (err error) {
	r := reader{src: src}
	t := &f.totals
	groupRows, groupBytes := r.int64(), r.int64()
	for _, v := range []*int64{&t.rows, &t.partitions, &t.groups, &t.blocks, &t.segments} {
		*v = r.int64()
	}
	if r.bad {
		return encoding.Corruptf("footer", "totals are cut")
	}
	if groupRows < 1 || groupRows > encoding.MaxGroupRows || groupBytes < 1 || groupBytes > encoding.MaxGroupBytes {
		return encoding.Corruptf("footer", "row groups of %d rows, %d bytes", groupRows, groupBytes)
	}
	f.groupRows, f.groupBytes = int(groupRows), int(groupBytes)
	// A block takes at least a header in the stream, a segment a block.
	if t.blocks > f.streamLen/minItem || t.groups > t.blocks*segmentGroups || t.groups < t.blocks || t.segments > t.blocks ||
		t.rows > t.groups*groupRows || t.partitions > t.groups*groupRows ||
		(t.partitions == 0) != (f.root.len == 0) || (t.blocks == 0) != (t.partitions == 0) {
		return encoding.Corruptf("footer", "impossible totals: %d rows, %d partitions, %d row groups, %d blocks, %d segments",
			t.rows, t.partitions, t.groups, t.blocks, t.segments)
	}
	var rest []byte
	if f.stats, rest, err = rowgroup.ParseStats(f.schema, r.src); err != nil {
		return err
	}
	if len(rest) > 0 {
		return encoding.Corruptf("footer", "%d bytes after its totals", len(rest))
	}
	if st := f.stats; st.Rows < 0 || st.Markers < 0 || st.Rows > t.rows || st.Markers != t.rows-st.Rows || st.Partitions != t.partitions {
		return encoding.Corruptf("footer", "its statistics are of %d rows, %d markers, %d partitions; its totals say %d and %d",
			st.Rows, st.Markers, st.Partitions, t.rows, t.partitions)
	}
	return nil
}

// parseList reads a list of references to items.
func (f *footer) parseList(part string, src []byte) ([]ref, error) {
	if len(src) == 0 {
		return nil, nil
	}
	r := reader{src: src}
	n := r.uvarint()
	if r.bad || n == 0 || n > uint64(f.streamLen/minItem) || n > maxFilterShards {
		return nil, encoding.Corruptf(part, "%d items", n)
	}
	refs, rest, err := new(pageParser).refs(part, int(n), f.streamLen, r.src)
	if err == nil && len(rest) > 0 {
		err = encoding.Corruptf(part, "%d bytes left over", len(rest))
	}
	return refs, err
}
