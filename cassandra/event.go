package cassandra

import "github.com/colsst/colsst/rowgroup"

// Event is what a BodyReader found next.
type Event uint8

// The events of a partition, in this order: begin, static row where the header
// has static columns, rows and markers, end.
const (
	NoEvent        Event = iota
	PartitionBegin       // BodyReader.Partition
	StaticRow            // BodyReader.Row
	ClusteringRow        // BodyReader.Row
	RangeMarker          // BodyReader.Marker
	PartitionEnd
)

// Partition is the head of a partition.
type Partition struct {
	Key      []byte
	Deletion rowgroup.Deletion
	Position int64 // of the partition in the body
}

// Row is a row, or the static row, of a partition. Its slices belong to the
// reader and are valid until the next call of Next.
//
// A local deletion time, here and below, is what Version.LocalDeletionTime
// makes of the 32 bits in the file; it keeps them all.
type Row struct {
	Clustering [][]byte // nil: null; none in a static row

	Liveness       rowgroup.Liveness
	Timestamp      int64 // µs, unless LivenessNone
	TTL            int32 // s, of LivenessExpiring and LivenessExpired
	ExpirationTime int64 // s, likewise

	HasDeletion bool
	Deletion    rowgroup.Deletion
	Shadowable  bool // the deletion is of a materialised view

	Cells   []Cell          // of simple columns, by column
	Complex []ComplexColumn // by column

	// PreviousSize is the size of the unfiltered before this one, as the file
	// has it. A BodyWriter computes it.
	PreviousSize uint64
}

// Cell is one cell. Its slices alias the reader's buffer.
type Cell struct {
	Column            int           // in Header.Static or Header.Regular
	Kind              rowgroup.Cell // CellLive, CellExpiring or CellTombstone
	TTL               int32         // s, of CellExpiring
	Timestamp         int64         // µs
	LocalDeletionTime int64         // s: expiry of CellExpiring, deletion of CellTombstone
	Path              []byte        // of a cell of a complex column
	Value             []byte        // empty but not nil where zero-length; nil of a tombstone without value
}

// ComplexColumn holds the cells of a column that has many. Cells may be empty.
type ComplexColumn struct {
	Column   int // in Header.Static or Header.Regular
	Deletion rowgroup.Deletion
	Cells    []Cell // by path
}

// Marker is a range tombstone marker. Kind says which of the deletions count.
type Marker struct {
	Bound
	Close        rowgroup.Deletion
	Open         rowgroup.Deletion
	PreviousSize uint64 // as of Row
}

// Flags of an unfiltered.
const (
	flagEnd             = 0x01
	flagMarker          = 0x02
	flagTimestamp       = 0x04
	flagTTL             = 0x08
	flagDeletion        = 0x10
	flagAllColumns      = 0x20
	flagComplexDeletion = 0x40
	flagExtended        = 0x80

	extendedStatic     = 0x01
	extendedShadowable = 0x02
	extendedScylla     = 0x80
)

// Flags of a cell.
const (
	cellDeleted      = 0x01
	cellExpiring     = 0x02
	cellEmpty        = 0x04
	cellRowTimestamp = 0x08
	cellRowTTL       = 0x10
	cellFlags        = 0x1f
)

// expiredTTL is the TTL of a liveness that has expired (in views).
const expiredTTL = 1<<31 - 1
