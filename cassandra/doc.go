// Package cassandra reads the SSTables of Apache Cassandra 3.0 to 5.0 without
// Cassandra: the formats BIG (versions ma to me, na to nc, oa) and BTI (da),
// every fact in them, and writes the body back byte for byte.
//
// An SSTable is a set of files, its components, whose names begin alike:
//
//	Data.db             the body: partitions and what is in them, in chunks
//	Statistics.db       the header (columns and types), statistics, partitioner
//	CompressionInfo.db  how Data.db is compressed; or CRC.db: its checksums
//	Digest.crc32        checksum of all of Data.db
//	Index.db            BIG: keys, positions, blocks; Summary.db samples it
//	Partitions.db       BTI: the same as a trie of keys; Rows.db: of blocks
//	TOC.txt             the list of components
//
// Only Data.db, Statistics.db and CompressionInfo.db are needed to read. The
// layout of each is drawn at the type that holds it: Descriptor, StatisticsFile,
// Header, Stats, CompressionInfo, Checksums, DataFile, IndexEntry,
// IndexSummary, PartitionIndex, RowIndexEntry, Counter. All fixed integers are
// big-endian unless something else is said; a vint has as many further bytes
// as its first byte has leading ones.
//
// Around the SSTables: Transaction is a log that says which of them count, and
// TablePath what a folder says of its table.
//
// # Layers
//
//	SSTable      components by name; Find, Verify
//	DataFile     chunks of Data.db; Stream: their data, decompressed ahead
//	BodyReader   the data as events; BodyWriter: events as data
//	Source       rows in batches; RowWriter: batches as data
//
// A BodyReader yields PartitionBegin, StaticRow where the header has static
// columns, ClusteringRow and RangeMarker in the order of clusterings, and
// PartitionEnd. Values stay the bytes they are; a column's Type says how they
// compare. Times and deletions are as rowgroup has them; nothing is filtered,
// since an SSTable is a delta and not a snapshot.
//
// # The body
//
// Partitions stand one after the other, up to the end of the data:
//
//	partition
//	┌────────────┬──────────┬──────────────────┬──────────────────┬──────┐
//	│ sbytes key │ deletion │ static row, if   │ rows and markers │ 0x01 │
//	│            │          │ header has any   │                  │      │
//	└────────────┴──────────┴──────────────────┴──────────────────┴──────┘
//	deletion before oa: u32 local deletion time, i64 marked for delete at
//	         oa and da: 0x80, or i64 marked for delete at, u32 local deletion time
//
//	row
//	┌───────┬───────────┬────────────┬───────────┬─────────────────┬───────────┐
//	│ flags │ if 0x80:  │ clustering │ vint size │ vint size of    │ see below │
//	│  u8   │ extended  │ values     │ of the    │ the unfiltered  │           │
//	│       │ flags u8  │            │ rest      │ before          │           │
//	└───────┴───────────┴────────────┴───────────┴─────────────────┴───────────┘
//	flags: 0x04 timestamp; 0x08 TTL, expiration time; 0x10 deletion; then, unless
//	0x20, which columns; then cells by column; 0x40: complex columns have
//	deletions. Extended: 0x01 static row (without clustering), 0x02 the deletion
//	is shadowable.
//
//	marker
//	┌──────┬─────────┬────────────┬────────────┬───────────┬───────────┬────────────┐
//	│ 0x02 │ kind u8 │ u16 values │ clustering │ vint size │ vint size │ deletions: │
//	│      │         │            │ values     │ of rest   │ of before │ close, open│
//	└──────┴─────────┴────────────┴────────────┴───────────┴───────────┴────────────┘
//
//	clustering values, for every 32 columns
//	┌───────────────────────────────────────┬───────────────────────┐
//	│ vint: 2 bits a column, 1 empty 2 null │ values that are there │
//	└───────────────────────────────────────┴───────────────────────┘
//
//	cell
//	┌───────┬───────────┬────────────────┬─────┬──────────────┬───────┐
//	│ flags │ timestamp │ local deletion │ TTL │ vbytes path  │ value │
//	│  u8   │           │ time           │     │ (in complex) │       │
//	└───────┴───────────┴────────────────┴─────┴──────────────┴───────┘
//	flags: 0x01 deleted, 0x02 expiring, 0x04 empty value, 0x08 the row's
//	timestamp, 0x10 the row's TTL and expiry
//
//	complex column
//	┌───────────────────┬────────────┬───────┐
//	│ deletion, if 0x40 │ vint cells │ cells │
//	└───────────────────┴────────────┴───────┘
//
// A timestamp, TTL or local deletion time is a vint to be added, with
// wrap-around, to the least one in the header. A value has no length where its
// type fixes one (rowgroup.Type.ValueLen), else a vint before it; in complex
// columns always a vint. In a row the TTL stands before the expiration time, in
// a cell behind it.
//
// # Errors
//
// Damage is an encoding.CorruptError that names file, chunk, offset and key;
// what is known and not read (other vendors' versions, compressors with
// dictionaries, encryption) an encoding.ErrUnsupported that names it; a missing
// component fs.ErrNotExist.
package cassandra
