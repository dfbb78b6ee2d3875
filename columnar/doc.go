// Package columnar is the table file: rows of one table in row groups, in
// blocks, with indexes, statistics, a filter of partition keys, checksums and
// a footer, written front to back to an io.Writer and read through an
// io.ReaderAt.
//
// # File
//
//	+-------------+------------------------------+--------+---------+
//	| file header | stream                       | footer | trailer |
//	| 16 bytes    | items, or chunks of items    |        | 32      |
//	+-------------+------------------------------+--------+---------+
//
// Integers are little-endian; "uvarint" is the variable-length integer of
// encoding/binary, "varint" the same of a zigzag value. Checksums are CRC-32C.
//
//	file header: magic "COLSST\r\n" | version u16 | outer chunk KiB u16, 0 = none | crc u32
//	trailer:     footer length u64 | footer crc u32 | version u16 | 0 u16 |
//	             required features u32 | crc of these 20 bytes u32 | magic "\r\nCOLSST"
//
// A crc covers what stands before it in the same structure. Feature bit 0 says
// that the stream is cut into outer chunks.
//
// # Items
//
//	item:   header | body | crc u32 over header and body, absent under outer chunks
//	header: C5 | kind u8 | body length uvarint | fields, uvarints | check u16
//
//	kind  body                         fields
//	S     schema                       -
//	T     template                     number
//	D     block of row groups          template, ordinal of the first partition,
//	                                   groups, unfiltereds, partitions that begin
//	I     index page                   0 partitions or 1 time, level, entries
//	F     filter shard                 shard, keys
//	Q     statistics of segments       first segment, segments
//
// The check is the low half of the crc of the header before it, so that a
// reader without a footer finds the next item after damage. The first item is
// the schema; a template stands before the first block that uses it. Offsets
// of items count from the end of the file header in the stream before outer
// compression: they are logical. A reference to an item is its offset and its
// whole length.
//
// # Outer chunks
//
//	chunk: stored length u32, bit 31 = Zstd | bytes | crc u32
//
// The stream is cut every chunk length bytes, whatever lies there. A chunk is
// one Zstd frame that declares its size where that is smaller, else raw. The
// footer repeats the stored lengths and must agree.
//
// # Segments and blocks
//
// A segment is at most 64 row groups, of 64 times row_group_size_in_bytes and
// 32 MiB unless one is larger, of one partition or of several whole ones.
// Partitions of at most row_group_rows unfiltereds share groups, whole;
// a larger one has groups of its own. A block is a run of groups of one
// segment. A partition that fits in one block is never spread over two; one of
// more than one block shares none, and its time index follows its last block.
//
// # Index pages
//
//	time page:      refs | unfiltereds, ints | first position, strings |
//	                last position, strings | open deletions
//	partition page: refs | first ordinal uvarint | partitions, ints | keys, strings,
//	                then at level 0, of the entries whose partitions is 0, the
//	                partitions of more than one block:
//	                flags, ints | time root distance, ints | time root length, ints |
//	                unfiltereds, ints | blocks, ints | deletions
//	refs:           first offset uvarint | gaps, ints | lengths, ints
//	deletions:      count uvarint | entry uvarint, marked varint, local varint each
//
// "ints" are encoding/deltadelta's self-contained int64 form, "strings" the
// parameters and body of encoding/bytestrings' front_coded. An entry of level 0
// is a block (in a partition page, of a partition of more than one block the
// first); an entry of level k is a page of level k-1. A gap is the distance
// from the end of the entry before, 0 for the first. A page lies behind all it
// refers to. Positions are rowgroup.Schema.AppendPosition's. Open deletions are
// the range deletions open at the start of a block. Flags: bit 0 static row,
// bit 1 markers, from bit 2 the level of the time root; the distance is counted
// from the partition's first block.
//
// # Filter
//
// The keys' XXH3-64 hashes (seed 0) are cut into a power of two of shards by
// their leading bits, each a binary fuse filter with 8-bit fingerprints
// (Graf, Lemire, "Binary Fuse Filters", 2022):
//
//	F body: seed u64 | log2 of segment length u8 | segments u32 | fingerprints
//
// There are (segments+2) << log2 fingerprints; a shard without keys is empty.
// docs/format.md says which three of them a hash meets.
//
// # Statistics
//
//	Q body: for each segment
//	        offset of its first block, less that of the segment before in
//	        this item (of the first: the offset), uvarint |
//	        blocks uvarint | groups uvarint | rowgroup.Stats
//
// A partition has none of its own: the records of its segments tell of it,
// where these hold no other.
//
// # Footer
//
//	footer:  sections
//	section: tag u8, bit 7 = required | length uvarint | bytes
//
//	 1 r  schema          as in the stream
//	 2    options         count, then name and value strings, uvarint length each
//	 3 r  templates       count, then length and bytes of each
//	 4 r  stream          logical length uvarint; under outer chunks: their KiB uvarint,
//	                     stored lengths, ints
//	 5 r  partition index offset uvarint, length uvarint, level uvarint; empty if no partitions
//	 6    filter          count uvarint | refs
//	 7 r  totals          row_group_rows, row_group_size_in_bytes, unfiltereds,
//	                      partitions, groups, blocks, segments: uvarints |
//	                      rowgroup.Stats of the whole file
//	 8    statistics      count uvarint | refs of the Q items
//	 9    user data       as options
//
// Each section stands at most once. An unknown required section, or an unknown
// feature bit, makes the file unsupported; other unknown sections are ignored.
//
// # Memory
//
// A row group holds at most row_group_rows unfiltereds and, unless it is of one
// row, row_group_size_in_bytes, counted by rowgroup.Schema.FixedBytes and
// rowgroup.CellBytes. Section 7 says both, and a group beyond them is corrupt;
// without a footer the limits of the format take their place. In a batch the metadata come to that: at most
// 21 bytes for each unfiltered, each partition and each of their cells.
//
// A Writer holds a segment and the row group that fills up, the segment
// encoded, 4 MiB or one row of the caller's batch, all rows twice while it
// drops what is written; an item, an outer chunk in both forms, 8 bytes a
// partition for the filter, 8 bytes an outer chunk, 16 a page of statistics,
// the last page of each index level, the templates, a copy of the user data.
//
// A Reader holds the footer and the templates that were used, 16 bytes an outer
// chunk, 64 KiB of the file's tail, index pages of about 16 MiB or WithIndexMemory,
// the filter shards that were used (1.13 bytes a key) and the scratch of finished
// reads, which the garbage collector may take; of a file in memory instead of its
// tail 4 bytes for every 4 KiB of the stream.
//
// An iterator holds one block or 128 KiB of the stream, whichever is more, an
// outer chunk in both forms, and twice the row groups that it decodes at once:
// 8 MiB of them or one, within a block. A scan by n goroutines holds n+1 times
// as much without the row groups, with 512 KiB in place of 128; n+2 times 32 KiB
// of blocks or one; and n MiB decoded in advance, or one step. Verify and
// Describe take as much, and Describe the sizes of each stream. Salvage holds
// the schema and templates, and the keys of partitions of more than one block;
// what it reads in vain is at most three times the file.
//
// A block and a page of a time index are at most 1 GiB, other bodies 16 MiB. A
// length or count is compared with the bytes that are left before anything is
// allocated for it.
package columnar
