package rowgroup

import "math"

// A row group is stored as streams: runs of values of one kind, each encoded
// as one chunk. Which streams a group has follows from the schema; how many
// values a stream has follows from the streams before it. doc.go draws them.
type stream struct {
	name   string // as tools show it
	column int    // the column whose values or metadata these are, or -1
	class  Class
	user   bool  // values of the user's columns and keys: counted as payload
	ref    refTo // the usual count
	paths  int   // refCells: the stream of the cells' paths
	narrow bool  // integers that do not fill the class: only [from, to] occur
	from   int64
	to     int64
}

// least and most are the bounds of an integer stream's values.
func (s *stream) least() int64 {
	switch {
	case s.narrow:
		return s.from
	case s.class == ClassInt32:
		return math.MinInt32
	}
	return math.MinInt64
}

func (s *stream) most() int64 {
	switch {
	case s.narrow:
		return s.to
	case s.class == ClassInt32:
		return math.MaxInt32
	}
	return math.MaxInt64
}

// refTo names the count that a stream usually has.
type refTo uint8

const (
	refRows       refTo = iota // unfiltereds of the group
	refPartitions              // partitions that begin in the group
	refCells                   // cells of the multi-cell column: values of the stream of their paths
)

// Streams that stand once. The streams of static rows, clustering columns and
// rows follow; a schema's layout says where.
const (
	sPartRows     = iota // unfiltereds of each partition, where more than one begins
	sKey                 // keys of the partitions
	sPartState           // bit 0: has a deletion; from bit 1: StaticState
	sPartDelTime         // marked for delete at, of those with a deletion
	sPartDelLocal        // local deletion time
	numPartitionStreams
)

// Streams of the metadata of rows, from a rowLayout's base on.
const (
	rLiveness  = iota // Liveness
	rWriteTime        // of rows with a liveness
	rTTL              // of LivenessExpiring
	rExpiry           // of LivenessExpiring and LivenessExpired
	rDelState         // 0: none, 1: a deletion, 2: a shadowable one
	rDelTime          // of those with a deletion
	rDelLocal
	numRowStreams
)

// Streams of a multi-cell column that stand before those below, which then are
// of its cells.
const (
	cCells    = iota - 5 // of rows: 0, or 1 + number of cells where the column is there
	cDeleted             // of rows where the column is there: 0, or 1 with a complex deletion
	cDelTime             // of those with one
	cDelLocal            // the same
	cPath                // of cells
)

// Streams of a static or regular column, after those of its rows.
const (
	cState     = iota // Cell
	cWriteTime        // of CellOwnTime
	cTTL              // of CellExpiring with CellOwnExpiry
	cExpiry           // of CellOwnExpiry and of CellTombstone
	cValue            // of cells that have one
	cException        // of CellException
	numColumnStreams
)

// Streams of markers.
const (
	mPrefix    = iota // number of clustering values
	mCloseTime        // of markers that close
	mCloseLocal
	mOpenTime // of markers that open
	mOpenLocal
	numMarkerStreams
)

// rowLayout says where the streams of static rows or of rows stand.
type rowLayout struct {
	base     int   // numRowStreams of the rows' metadata
	columns  []int // the first of each column's numColumnStreams
	from, to int   // the columns
	end      int   // behind their streams
}

// value is the stream of column col that holds what kind says.
func (l *rowLayout) value(col, kind int) int { return l.columns[col-l.from] + kind }

// layout is the list of streams of a schema.
type layout struct {
	streams    []stream
	static     rowLayout
	kinds      int // 0: a row, else 1 + BoundKind
	clustering int // a state and a value stream for each clustering column
	markers    int
	rows       rowLayout
	paths      []int // the streams of paths, one for each multi-cell column
}

func newLayout(s *Schema) *layout {
	l := &layout{}
	add := func(name string, column int, class Class, user bool, ref refTo) {
		str := stream{name: name, column: column, class: class, user: user, ref: ref}
		if ref == refCells {
			str.paths = len(l.streams) - 1
			if prev := &l.streams[len(l.streams)-1]; prev.ref == refCells {
				str.paths = prev.paths
			}
		}
		if user && column >= 0 && (class == ClassInt32 || class == ClassInt64) {
			t := s.cols[column].Type
			if ref == refCells {
				t = t.cellType()
			}
			str.from, str.to = t.bare().intRange()
			str.narrow = str.from != math.MinInt64 && (class == ClassInt64 || str.from != math.MinInt32)
		}
		l.streams = append(l.streams, str)
	}
	meta := func(prefix string, ref refTo, names ...string) {
		for _, n := range names {
			add(prefix+"$"+n, -1, ClassInt64, false, ref)
		}
	}
	addRows := func(r *rowLayout, role Role, prefix string, ref refTo) {
		r.base = len(l.streams)
		meta(prefix, ref, "liveness", "write_time", "ttl", "expiry", "deleted", "deletion_time", "local_deletion_time")
		r.from, r.to = s.Range(role)
		for i := r.from; i < r.to; i++ {
			c, ref, class := s.Column(i), ref, s.cols[i].Type.Physical().Class()
			if s.multiCell(i) {
				for _, n := range []string{"cells", "deleted", "deletion_time", "local_deletion_time"} {
					add(c.Name+".$"+n, i, ClassInt64, false, ref)
				}
				add(c.Name+".$path", i, ClassBytes, true, ref)
				ref, class = refCells, c.Type.cellType().Physical().Class()
				l.paths = append(l.paths, len(l.streams)-1)
			}
			r.columns = append(r.columns, len(l.streams))
			for _, n := range []string{"state", "write_time", "ttl", "expiry"} {
				add(c.Name+".$"+n, i, ClassInt64, false, ref)
			}
			add(c.Name, i, class, true, ref)
			add(c.Name+".$exception", i, ClassBytes, true, ref)
		}
		r.end = len(l.streams)
	}
	add("$partition_rows", -1, ClassInt64, false, refPartitions)
	add("$key", -1, ClassBytes, true, refPartitions)
	meta("", refPartitions, "partition_state", "partition_deletion_time", "partition_local_deletion_time")
	addRows(&l.static, Static, "$static.", refPartitions)
	l.kinds = len(l.streams)
	meta("", refRows, "kind")
	l.markers = len(l.streams)
	meta("", refRows, "marker_prefix", "marker_close_time", "marker_close_local", "marker_open_time", "marker_open_local")
	l.clustering = len(l.streams)
	from, to := s.Range(Clustering)
	for i := from; i < to; i++ {
		c := s.Column(i)
		add(c.Name+".$state", i, ClassInt64, false, refRows)
		add(c.Name, i, c.Type.Physical().Class(), true, refRows)
	}
	addRows(&l.rows, Regular, "", refRows)
	return l
}

// Where a stream's count stands among its parameters, and what the number
// means: the reference count, none, or an explicit count plus countExplicit.
const (
	countAll      = 0
	countNone     = 1
	countExplicit = 2
)

// Slots of a stream's parameter columns in a block.
const (
	slotCount = iota // see countAll
	slotID           // encoding.ID
	slotZstd         // stored length of a compressed body; 0: not compressed
	slotParam        // the first of encoding.NumParams
	numSlots  = slotParam + 8
)
