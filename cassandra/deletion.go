package cassandra

import (
	"math"

	"github.com/colsst/colsst/rowgroup"
)

// partitionDeletion reads the deletion of a partition, as the body and the
// indexes have it.
//
//	before oa   u32 local deletion time, i64 marked for delete at
//	from oa on  0x80: live; else i64 marked for delete at (not negative),
//	            u32 local deletion time
func (c *cursor) partitionDeletion(v Version) rowgroup.Deletion {
	if !v.unsignedDeletionTimes() {
		ldt := v.LocalDeletionTime(c.u32())
		return rowgroup.Deletion{MarkedForDeleteAt: c.i64(), LocalDeletionTime: ldt}
	}
	if c.p < len(c.b) && c.b[c.p] >= 0x80 {
		if c.u8() != 0x80 {
			c.fail()
			c.bad = "flags of the partition's deletion"
		}
		return rowgroup.Deletion{MarkedForDeleteAt: math.MinInt64, LocalDeletionTime: v.NoDeletionTime()}
	}
	marked := c.i64()
	return rowgroup.Deletion{MarkedForDeleteAt: marked, LocalDeletionTime: v.LocalDeletionTime(c.u32())}
}

func appendPartitionDeletion(dst []byte, v Version, d rowgroup.Deletion) []byte {
	switch {
	case !v.unsignedDeletionTimes():
		return appendU64(appendU32(dst, v.RawDeletionTime(d.LocalDeletionTime)), uint64(d.MarkedForDeleteAt))
	case d.Live():
		return append(dst, 0x80)
	}
	return appendU32(appendU64(dst, uint64(d.MarkedForDeleteAt)), v.RawDeletionTime(d.LocalDeletionTime))
}

// deltas are what the times of a body are added to, with wrap-around.
//
//	timestamp             vint + least timestamp           64 bits
//	TTL                   vint + least TTL                 32 bits
//	local deletion time   vint + least local deletion time 32 bits
//	deletion              timestamp, local deletion time
type deltas struct {
	timestamp    uint64
	ttl          uint32
	deletionTime uint32
	unsigned     bool
	version      Version
}

func newDeltas(v Version, h *Header) deltas {
	return deltas{
		timestamp:    uint64(h.MinTimestamp),
		ttl:          uint32(h.MinTTL),
		deletionTime: uint32(h.MinLocalDeletionTime),
		unsigned:     v.unsignedDeletionTimes(),
		version:      v,
	}
}

func (d *deltas) readTimestamp(c *cursor) int64 { return int64(c.vint() + d.timestamp) }
func (d *deltas) readTTL(c *cursor) int32       { return int32(uint32(c.vint()) + d.ttl) }

func (d *deltas) readDeletionTime(c *cursor) int64 {
	raw := uint32(c.vint()) + d.deletionTime
	if d.unsigned {
		return int64(raw)
	}
	return int64(int32(raw))
}

func (d *deltas) readDeletion(c *cursor) rowgroup.Deletion {
	marked := d.readTimestamp(c)
	return rowgroup.Deletion{MarkedForDeleteAt: marked, LocalDeletionTime: d.readDeletionTime(c)}
}

func (d *deltas) appendTimestamp(dst []byte, t int64) []byte {
	return appendVint(dst, uint64(t)-d.timestamp)
}

// A negative difference of 32 bits is written as one of 64 bits.
func (d *deltas) appendTTL(dst []byte, t int32) []byte {
	return appendVint(dst, uint64(int64(int32(uint32(t)-d.ttl))))
}

func (d *deltas) appendDeletionTime(dst []byte, t int64) []byte {
	return appendVint(dst, uint64(int64(int32(uint32(t)-d.deletionTime))))
}

func (d *deltas) appendDeletion(dst []byte, x rowgroup.Deletion) []byte {
	return d.appendDeletionTime(d.appendTimestamp(dst, x.MarkedForDeleteAt), x.LocalDeletionTime)
}
