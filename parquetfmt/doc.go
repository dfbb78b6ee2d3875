// Package parquetfmt writes rows as Apache Parquet files and reads them back:
// with all their metadata, or their current values; and it reads flat files of
// others as tables.
//
// # Types
//
//	boolean                    BOOLEAN
//	tinyint, smallint          INT32, INT(8 or 16, signed)
//	int                        INT32
//	bigint                     INT64
//	uint8, uint16, uint32      INT32, INT(8, 16 or 32, unsigned)
//	uint64                     INT64, INT(64, unsigned)
//	float, double              FLOAT, DOUBLE
//	text, ascii                BYTE_ARRAY, STRING
//	blob, composite, opaque    BYTE_ARRAY
//	fixed(n)                   FIXED_LEN_BYTE_ARRAY(n); BYTE_ARRAY above 1 MiB
//	decimal(p,s)               INT32 for p up to 9, INT64 up to 18, else
//	                           FIXED_LEN_BYTE_ARRAY, DECIMAL(p,s)
//	uuid, timeuuid             FIXED_LEN_BYTE_ARRAY(16), UUID
//	timestamp(ms, us, ns)      INT64, TIMESTAMP(UTC, its unit)
//	timestamp(s), old_date     INT64, TIMESTAMP(UTC, MILLIS)
//	date                       INT32, DATE
//	time                       INT64, TIME(not UTC, NANOS)
//	decimal                    group: unscaled BYTE_ARRAY, two's complement
//	                           big-endian; scale INT32; or DECIMAL(p,s)
//	varint, inet               BYTE_ARRAY, STRING: its text
//	duration                   group: months INT32, days INT32, nanos INT64
//	counter                    INT64, the sum of its shards
//	list, set, vector          LIST
//	map                        MAP
//	tuple, udt                 group of f0, f1, ..., or its fields
//
// All columns are optional. Reversed and frozen types are as what is inside. A
// value of zero bytes of a type that has none such, null to most who read it, is
// null. What a column cannot hold is a ValueError that names row and column: a
// time outside of the day, a decimal out of its DECIMAL(p,s), text that is not
// UTF-8, for which WithReplacement puts U+FFFD instead.
//
// # Live files
//
// A live view has a row for each row of the table, and the columns of its
// schema: the partition key, clustering, static (the same value in all rows of a
// partition) and regular columns. A partition that has only a static row is one
// row whose clustering and regular columns are null. WithRowMetadata adds
//
//	$write_time   INT64   µs; null of rows that exist by their cells alone,
//	                      which are read as written at 0
//	$write_delay  INT64   in its place, if asked for: µs from the row's time
//	$ttl          INT32   s; null of rows that do not expire
//	$expiry       INT64   s; the same
//
// # Lossless files
//
// A lossless file has besides a row for each range tombstone marker, and up to
// two before the first row of a partition, so that a Reader yields the very same
// unfiltereds:
//
//	$kind                        STRING   row; partition: it has a deletion, or
//	                                      nothing else; static: its static row;
//	                                      static_empty; or the kind of a marker:
//	                                      incl_start, excl_start, incl_end,
//	                                      excl_end, excl_end_incl_start,
//	                                      incl_end_excl_start
//	$key                         BYTE_ARRAY  the partition key's exact bytes, where
//	                                      its columns do not give them
//	$liveness                    STRING   live, none, expiring, expired; of rows
//	$write_time, $ttl, $expiry            of the liveness
//	$deletion_time               INT64    µs: deletion of the row, the partition,
//	$local_deletion_time         INT64    s   or that which a marker closes
//	$shadowable                  BOOLEAN  of the row's deletion
//	$open_deletion_time          INT64    of the deletion that a marker opens
//	$open_local_deletion_time    INT64
//	$prefix                      INT32    clustering values of a marker
//	$bytes.c                     BYTE_ARRAY  the exact bytes of a value of column c
//	                                      where c does not give them
//	$cell.c                      INT32    rowgroup.Cell: kind of the cell in bits
//	                                      0 to 2 (0 as its row, 1 absent, 2 live,
//	                                      3 expiring, 4 tombstone), 8 a write time
//	                                      of its own, 16 a TTL and expiry of its
//	                                      own, 32 zero bytes, 64 bytes that the
//	                                      type cannot hold
//	$write_time.c, $ttl.c, $expiry.c      of such cells; the last is the local
//	                                      deletion time of a tombstone
//
// and of a multi-cell column c, in place of the last two rows,
//
//	$deletion_time.c, $local_deletion_time.c  of the complex deletion
//	$cells.c                     LIST of groups: path, cell, write_time, ttl,
//	                                      expiry, value; null where it is absent
//
// A column c gives a value's bytes if its type is one of those of one leaf whose
// form has all values, or a decimal with its scale. Of all others, and where c
// is null though there is a value, $bytes.c has them.
//
// # Metadata of the file
//
// colsst.schema is the table's schema as JSON, colsst.view is live or lossless,
// and colsst.user.K the user data of key K in base64.
//
// # Files of others
//
// Flat files of all types, encodings, versions of pages and compressions that
// have a standard are read, LZO and the LZ4 without a frame's end excepted: each
// column as the type from the table above, INT96 as timestamp(ns), FLOAT16 as
// float, DECIMAL(p,s) of any physical type as decimal(p,s) and, beyond 76 digits
// or with a scale that those do not have, as decimal. A timestamp that is not UTC is taken for one. Text
// that is not UTF-8 keeps its bytes. Columns of groups, lists and maps are an
// error by name.
//
// # Bad input
//
// A damaged file is an encoding.CorruptError behind the row group, column and
// page where it was found. Every count and length is checked before memory
// follows it: metadata takes some 40 times its bytes at most, a page
// (page.MaxBytes at most) what its compressed bytes can make.
package parquetfmt
