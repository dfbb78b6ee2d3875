// Package rowgroup owns the rows: their types and order, the schema, batches
// of rows by columns with all their metadata, and the bytes of row groups.
//
// It does no I/O. A Source yields batches; package columnar stores them in a
// file, and other packages translate them from and to foreign formats.
//
// # Streams
//
// A row group is up to 65,536 unfiltereds (rows and range tombstone markers)
// in order, and the partitions that begin among them. It either holds whole
// partitions, or begins or continues one that is larger. A table limits the
// rows and the bytes of its groups: see BlockDecoder.SetLimits. It is stored as
// streams; a stream is the values of one kind, encoded as one chunk. The
// streams of a table, in order, with how many values each has:
//
//	stream                          type   values
//	$partition_rows                 int64  partitions, if more than one begins
//	$key                            bytes  partitions
//	$partition_state                int64  partitions; bit 0: deletion, from bit 1: StaticState
//	$partition_deletion_time        int64  those with a deletion
//	$partition_local_deletion_time  int64  the same
//	static rows                            see rows; one row a StaticFull partition
//	$kind                           int64  unfiltereds; 0: a row, else 1 + BoundKind
//	$marker_prefix                  int64  markers
//	$marker_close_time, …_local     int64  markers that close a deletion
//	$marker_open_time, …_local      int64  markers that open one
//	each clustering column:
//	  c.$state                      int64  unfiltereds; 0, CellAbsent or CellEmpty;
//	                                       CellAbsent beyond a marker's prefix
//	  c                             its    those of state 0
//	rows:
//	  $liveness                     int64  rows; Liveness
//	  $write_time                   int64  all but LivenessNone
//	  $ttl                          int64  LivenessExpiring
//	  $expiry                       int64  LivenessExpiring, LivenessExpired
//	  $deleted                      int64  rows; 0 no, 1 yes, 2 shadowable
//	  $deletion_time, $local_…      int64  those not 0
//	  each regular (static) column:
//	    c.$state                    int64  rows; Cell
//	    c.$write_time               int64  CellOwnTime
//	    c.$ttl                      int64  CellExpiring with CellOwnExpiry
//	    c.$expiry                   int64  CellOwnExpiry or CellTombstone
//	    c                           its    Cell.HasValue
//	    c.$exception                bytes  CellException
//	  a multi-cell one has before these, which are of its cells then:
//	    c.$cells                    int64  rows; 0: absent, else 1 + number of cells
//	    c.$deleted                  int64  rows where it is there; 1: a complex deletion
//	    c.$deletion_time, …_local   int64  those with one
//	    c.$path                     bytes  cells
//
// A column's values are of type int32 (bool, int8, int16 and int32), int64,
// float32, float64 or bytes. A cell that means the same as CellAsRow is stored
// as CellAsRow. The values of a multi-cell column are of the type of a list's
// elements or a map's values, or bytes in sets and user types.
//
// # Chunks
//
// A chunk is a body and eleven parameters, called slots:
//
//	slot 0     count: 0 as many values as the group has unfiltereds (streams
//	           down to the static columns: partitions; of cells: as $path), 1
//	           none, 2+n: n
//	slot 1     encoding.ID
//	slot 2     0, or the length of the body as one Zstd frame, which is less
//	slot 3-10  encoding.Params
//
// How long the body is, before Zstd, follows from the encoding, its parameters
// and the count, so that no length or offset is stored.
//
// # Blocks
//
// A block is 1 to 64 row groups of one table. Its parameters are stored as
// columns of as many values as it has groups: first the groups' numbers of
// unfiltereds and of partitions, then the slots of each stream.
//
//	block:   seeds | packed | bodies
//	seeds:   varints of each column, as its shape says
//	packed:  w bits of each group for each column that is packed, LSB first,
//	         padded to a byte at the end
//	bodies:  stream by stream, the bodies of all groups
//
// The template of the block gives each column a shape:
//
//	shape                   byte   value of group g           seeds
//	zero                    0      0
//	constant v              1, v   v
//	one value               2      first                      first
//	step v                  3, v   first + g*v                first
//	steps                   4      first + g*step             first, step
//	packed in w bits        5+w    least + bits of the group  least
//
//	template: shape of unfiltereds | shape of partitions | streams uvarint | stream …
//	stream:   number, less the one before and 1, uvarint | slots not zero, a
//	          bit each, uvarint | their shapes
//
// v is a varint; all sums wrap modulo 2^64. A stream that is not listed has no
// values in any group. Where a group has no values of a stream, its other
// slots mean nothing.
package rowgroup
