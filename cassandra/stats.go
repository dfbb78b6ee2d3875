package cassandra

import "github.com/colsst/colsst/encoding"

// Stats is the component STATS of Statistics.db. Local deletion times are as
// Version.LocalDeletionTime makes them.
//
//	histogram      sizes of partitions: i32 n, each i64 offset, i64 count
//	histogram      cells of partitions
//	i64, i32       commit log: upper bound
//	i64, i64       timestamps: least, greatest
//	u32, u32       local deletion times: least, greatest
//	i32, i32       TTLs: least, greatest
//	f64            compressed size / size, or -1
//	tombstones     i32 most bins, i32 n, each point and count:
//	               f64 and i64; from oa on i64 and i32
//	i32            level of levelled compaction
//	i64            repaired at, ms; 0: not
//	clusterings    i32 n, each sbytes: least; then likewise greatest
//	 from oa on    vint n, each vbytes: types; then two bounds: kind u8,
//	               u16 n, values as in the body
//	u8             has legacy counter shards
//	i64, i64       cells (columns set), rows
//	mb on          i64, i32: commit log, lower bound
//	mc on          i32 n, each i64, i32, i64, i32: commit log, intervals
//	na on          u8 present, 16 bytes: pending repair; u8 transient
//	me, nb on      u8 present, 16 bytes: originating host
//	oa on          u8 has partition deletions; vbytes first key, vbytes last
//	               key; f64 share of the token space, or NaN
type Stats struct {
	PartitionSizes    []Bucket
	CellsPerPartition []Bucket

	CommitLogUpperBound CommitLogPosition
	CommitLogLowerBound CommitLogPosition
	CommitLogIntervals  []CommitLogInterval

	MinTimestamp, MaxTimestamp                 int64
	MinLocalDeletionTime, MaxLocalDeletionTime int64
	MinTTL, MaxTTL                             int32

	CompressionRatio float64
	MaxTombstoneBins int32
	Tombstones       []TombstoneBin
	Level            int32
	RepairedAt       int64

	MinClustering, MaxClustering [][]byte // before oa
	ClusteringTypes              []string // oa on
	CoveredStart, CoveredEnd     Bound    // oa on

	HasLegacyCounterShards     bool
	TotalColumnsSet, TotalRows int64
	PendingRepair              []byte // 16 bytes or nil
	Transient                  bool
	OriginatingHost            []byte // 16 bytes or nil
	HasPartitionLevelDeletions bool   // oa on
	FirstKey, LastKey          []byte // oa on
	TokenSpaceCoverage         float64
	Tail                       []byte // bytes behind all that is known
	endsBeforeTransient        bool   // as builds of 4.0 before its release wrote it
}

// Bucket is one bucket of an estimated histogram.
type Bucket struct{ Offset, Count int64 }

// TombstoneBin is one bin of the histogram of local deletion times.
type TombstoneBin struct {
	Point float64 // s
	Count int64
}

// CommitLogPosition is a place in the commit log.
type CommitLogPosition struct {
	Segment  int64
	Position int32
}

// CommitLogInterval is a stretch of the commit log.
type CommitLogInterval struct{ Start, End CommitLogPosition }

// ParseStats reads the component STATS of an SSTable of version v. It allows
// for bytes behind what is known, and for an end before Transient. The result
// aliases b.
func ParseStats(b []byte, v Version) (*Stats, error) {
	c := cursor{b: b}
	oa := v.unsignedDeletionTimes()
	s := &Stats{
		PartitionSizes:      c.histogram(),
		CellsPerPartition:   c.histogram(),
		CommitLogUpperBound: c.commitLog(),
		MinTimestamp:        c.i64(), MaxTimestamp: c.i64(),
		MinLocalDeletionTime: v.LocalDeletionTime(c.u32()), MaxLocalDeletionTime: v.LocalDeletionTime(c.u32()),
		MinTTL: c.i32(), MaxTTL: c.i32(),
		CompressionRatio: c.f64(),
		MaxTombstoneBins: c.i32(),
	}
	if oa {
		s.Tombstones = make([]TombstoneBin, c.count(uint64(c.u32()), 12))
		for i := range s.Tombstones {
			s.Tombstones[i] = TombstoneBin{float64(c.i64()), int64(c.i32())}
		}
	} else {
		s.Tombstones = make([]TombstoneBin, c.count(uint64(c.u32()), 16))
		for i := range s.Tombstones {
			s.Tombstones[i] = TombstoneBin{c.f64(), c.i64()}
		}
	}
	s.Level, s.RepairedAt = c.i32(), c.i64()
	if oa {
		s.ClusteringTypes = make([]string, c.count(c.vint(), 1))
		types := make([]Column, len(s.ClusteringTypes))
		for i := range types {
			s.ClusteringTypes[i] = string(c.vbytes())
			if c.short {
				break
			}
			var err error
			if types[i], err = newColumn("", s.ClusteringTypes[i]); err != nil {
				return nil, err
			}
		}
		s.CoveredStart, s.CoveredEnd = c.bound(types), c.bound(types)
	} else {
		s.MinClustering, s.MaxClustering = c.clusterings(), c.clusterings()
	}
	s.HasLegacyCounterShards = c.u8() != 0
	s.TotalColumnsSet, s.TotalRows = c.i64(), c.i64()
	if v.hasCommitLogLowerBound() {
		s.CommitLogLowerBound = c.commitLog()
	}
	if v.hasCommitLogIntervals() {
		s.CommitLogIntervals = make([]CommitLogInterval, c.count(uint64(c.u32()), 24))
		for i := range s.CommitLogIntervals {
			s.CommitLogIntervals[i] = CommitLogInterval{c.commitLog(), c.commitLog()}
		}
	}
	if v.hasChecksums() {
		s.PendingRepair = c.uuid()
		if s.endsBeforeTransient = !c.short && c.left() == 0; s.endsBeforeTransient {
			return s, nil
		}
		s.Transient = c.u8() != 0
	}
	if v.hasHostID() {
		s.OriginatingHost = c.uuid()
	}
	if oa {
		s.HasPartitionLevelDeletions = c.u8() != 0
		s.FirstKey, s.LastKey = c.vbytes(), c.vbytes()
		s.TokenSpaceCoverage = c.f64()
	}
	if c.short {
		return nil, encoding.Corruptf("STATS", "ends too early %s", c.bad)
	}
	s.Tail = c.take(uint64(c.left()))
	return s, nil
}

func (c *cursor) histogram() []Bucket {
	h := make([]Bucket, c.count(uint64(c.u32()), 16))
	for i := range h {
		h[i] = Bucket{c.i64(), c.i64()}
	}
	return h
}

func (c *cursor) commitLog() CommitLogPosition { return CommitLogPosition{c.i64(), c.i32()} }

func (c *cursor) clusterings() [][]byte {
	values := make([][]byte, c.count(uint64(c.u32()), 2))
	for i := range values {
		values[i] = c.sbytes()
	}
	return values
}

// uuid reads 16 bytes where a byte before them says that they are there.
func (c *cursor) uuid() []byte {
	if c.u8() == 0 {
		return nil
	}
	return c.take(16)
}

// Append appends the bytes of the component.
func (s *Stats) Append(dst []byte, v Version) []byte {
	oa := v.unsignedDeletionTimes()
	dst = appendHistogram(dst, s.PartitionSizes)
	dst = appendHistogram(dst, s.CellsPerPartition)
	dst = appendCommitLog(dst, s.CommitLogUpperBound)
	dst = appendU64(appendU64(dst, uint64(s.MinTimestamp)), uint64(s.MaxTimestamp))
	dst = appendU32(appendU32(dst, v.RawDeletionTime(s.MinLocalDeletionTime)), v.RawDeletionTime(s.MaxLocalDeletionTime))
	dst = appendU32(appendU32(dst, uint32(s.MinTTL)), uint32(s.MaxTTL))
	dst = appendF64(dst, s.CompressionRatio)
	dst = appendU32(appendU32(dst, uint32(s.MaxTombstoneBins)), uint32(len(s.Tombstones)))
	for _, t := range s.Tombstones {
		if oa {
			dst = appendU32(appendU64(dst, uint64(int64(t.Point))), uint32(t.Count))
		} else {
			dst = appendU64(appendF64(dst, t.Point), uint64(t.Count))
		}
	}
	dst = appendU64(appendU32(dst, uint32(s.Level)), uint64(s.RepairedAt))
	if oa {
		dst = appendVint(dst, uint64(len(s.ClusteringTypes)))
		for _, t := range s.ClusteringTypes {
			dst = appendVbytes(dst, []byte(t))
		}
		types := make([]Column, len(s.ClusteringTypes))
		for i, t := range s.ClusteringTypes {
			types[i], _ = newColumn("", t) // parsed before
		}
		dst = appendBound(appendBound(dst, s.CoveredStart, types), s.CoveredEnd, types)
	} else {
		for _, values := range [][][]byte{s.MinClustering, s.MaxClustering} {
			dst = appendU32(dst, uint32(len(values)))
			for _, value := range values {
				dst = appendSbytes(dst, value)
			}
		}
	}
	dst = appendBool(dst, s.HasLegacyCounterShards)
	dst = appendU64(appendU64(dst, uint64(s.TotalColumnsSet)), uint64(s.TotalRows))
	if v.hasCommitLogLowerBound() {
		dst = appendCommitLog(dst, s.CommitLogLowerBound)
	}
	if v.hasCommitLogIntervals() {
		dst = appendU32(dst, uint32(len(s.CommitLogIntervals)))
		for _, i := range s.CommitLogIntervals {
			dst = appendCommitLog(appendCommitLog(dst, i.Start), i.End)
		}
	}
	if v.hasChecksums() {
		if dst = appendUUID(dst, s.PendingRepair); s.endsBeforeTransient {
			return dst
		}
		dst = appendBool(dst, s.Transient)
	}
	if v.hasHostID() {
		dst = appendUUID(dst, s.OriginatingHost)
	}
	if oa {
		dst = appendBool(dst, s.HasPartitionLevelDeletions)
		dst = appendVbytes(appendVbytes(dst, s.FirstKey), s.LastKey)
		dst = appendF64(dst, s.TokenSpaceCoverage)
	}
	return append(dst, s.Tail...)
}

func appendHistogram(dst []byte, h []Bucket) []byte {
	dst = appendU32(dst, uint32(len(h)))
	for _, b := range h {
		dst = appendU64(appendU64(dst, uint64(b.Offset)), uint64(b.Count))
	}
	return dst
}

func appendCommitLog(dst []byte, p CommitLogPosition) []byte {
	return appendU32(appendU64(dst, uint64(p.Segment)), uint32(p.Position))
}

func appendUUID(dst, id []byte) []byte {
	dst = appendBool(dst, id != nil)
	return append(dst, id...)
}

func appendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, 1)
	}
	return append(dst, 0)
}
