package cassandra

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/colsst/colsst/rowgroup"
)

// SurveyOptions say at what second rows are looked at.
type SurveyOptions struct {
	Now     int64 // s: what has expired by then counts as expired
	GCGrace int64 // s: deletions older than Now - GCGrace may be dropped
	Largest int   // how many of the largest partitions are kept
}

// Survey is what an SSTable holds, by kinds.
type Survey struct {
	Partitions int64 `json:"partitions"`
	Rows       int64 `json:"rows"`
	StaticRows int64 `json:"static_rows"` // that hold something

	LiveCells     int64 `json:"live_cells"`     // without a TTL
	ExpiringCells int64 `json:"expiring_cells"` // not yet expired
	ExpiredCells  int64 `json:"expired_cells"`
	// OverflowedExpiries are expiries of rows and cells that are no time, as a
	// clock past 2038 made them in older versions; they count as the latest there
	// can be, as Cassandra 5.0 reads them.
	OverflowedExpiries int64 `json:"overflowed_expiries"`

	Tombstones struct {
		Partitions int64 `json:"partitions"`
		Ranges     int64 `json:"ranges"` // that begin
		Rows       int64 `json:"rows"`
		Complex    int64 `json:"complex"` // of whole collections
		Cells      int64 `json:"cells"`
	} `json:"tombstones"`
	// Droppable are the tombstones and expired cells that a compaction which has
	// all older data may drop: their deletion time is before Now - GCGrace.
	Droppable int64 `json:"droppable"`
	// DroppableRatio is Droppable by all tombstones and cells.
	DroppableRatio float64 `json:"droppable_ratio"`

	MinTimestamp *int64 `json:"min_timestamp"` // µs
	MaxTimestamp *int64 `json:"max_timestamp"`
	MinTTL       *int64 `json:"min_ttl"` // s
	MaxTTL       *int64 `json:"max_ttl"`
	MinExpiry    *int64 `json:"min_expiry"` // s
	MaxExpiry    *int64 `json:"max_expiry"`
	MinDeletion  *int64 `json:"min_deletion"` // s, of tombstones
	MaxDeletion  *int64 `json:"max_deletion"`

	TTLs      Histogram `json:"ttl_histogram"`      // of expiring rows and cells
	Expiries  Histogram `json:"expiry_histogram"`   // of them
	Deletions Histogram `json:"deletion_histogram"` // local deletion times of tombstones

	// DroppableAt is the second from which on the whole file may be dropped, if
	// nothing in it is older than what it could bring back elsewhere; null where
	// rows or cells without a TTL, NeverExpire of them, keep it.
	DroppableAt *int64 `json:"droppable_at"`
	NeverExpire int64  `json:"never_expire"`
	Keeper      []byte `json:"-"` // key of the partition that keeps it longest: the first of several

	Largest []PartitionSize `json:"largest"` // partitions, the largest first
}

// PartitionSize is the size of a partition.
type PartitionSize struct {
	Key   []byte `json:"key_hex"`
	Bytes int64  `json:"bytes"` // of the body
	Rows  int64  `json:"rows"`  // and markers
}

// Survey reads everything and counts it.
func (s *SSTable) Survey(ctx context.Context, o SurveyOptions) (x *Survey, err error) {
	r, err := s.Scan()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	x = &Survey{Largest: []PartitionSize{}}
	v := surveyor{Survey: x, o: o, read: asRead{signed: !s.Version.unsignedDeletionTimes()}}
	var size PartitionSize
	for n := 0; ; n++ {
		if n%ctxEvery == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		switch e {
		case PartitionBegin:
			x.Partitions++
			size = PartitionSize{}
			v.key = r.Partition().Key
			v.deletion(r.Partition().Deletion, &x.Tombstones.Partitions)
		case StaticRow:
			if row := r.Row(); cells(row) > 0 || row.HasDeletion || row.Liveness != rowgroup.LivenessNone {
				x.StaticRows++
				v.row(row)
			}
		case ClusteringRow:
			x.Rows++
			size.Rows++
			v.row(r.Row())
		case RangeMarker:
			size.Rows++
			if m := r.Marker(); m.Kind.Opens() {
				v.deletion(m.Open, &x.Tombstones.Ranges)
			}
		case PartitionEnd:
			size.Bytes = r.UnreadPosition() - r.Partition().Position
			v.large(size, r.Partition().Key)
		}
	}
	dead := x.Tombstones.Partitions + x.Tombstones.Ranges + x.Tombstones.Rows + x.Tombstones.Complex + x.Tombstones.Cells
	if all := dead + x.LiveCells + x.ExpiringCells + x.ExpiredCells; all > 0 {
		x.DroppableRatio = float64(x.Droppable) / float64(all)
	}
	if last := max(value(x.MaxExpiry), value(x.MaxDeletion)); x.NeverExpire == 0 && (x.MaxExpiry != nil || x.MaxDeletion != nil) {
		at := last + o.GCGrace + 1
		x.DroppableAt = &at
	}
	return x, nil
}

func value(p *int64) int64 {
	if p == nil {
		return 0
	}
	return *p
}

type surveyor struct {
	*Survey
	o    SurveyOptions
	read asRead
	key  []byte // of the partition
	kept int64  // until when the keeper keeps the file; math.MaxInt64: for ever
}

// keep notes until when the partition keeps the file.
func (v *surveyor) keep(until int64) {
	if until > v.kept || v.Keeper == nil {
		v.kept = until
		v.Keeper = append(v.Keeper[:0], v.key...)
	}
}

// never counts what has no TTL.
func (v *surveyor) never() {
	v.NeverExpire++
	v.keep(math.MaxInt64)
}

// expiring counts the times of what has a TTL and returns its expiry as it is
// read.
func (v *surveyor) expiring(ttl int32, stored int64) (expiry int64) {
	if expiry = v.read.expiry(stored, ttl, true); expiry != stored {
		v.OverflowedExpiries++
	}
	widen(&v.MinTTL, &v.MaxTTL, int64(ttl))
	widen(&v.MinExpiry, &v.MaxExpiry, expiry)
	v.TTLs.add(int64(ttl))
	v.Expiries.add(expiry)
	v.keep(expiry)
	return expiry
}

// tombstone counts the time of one.
func (v *surveyor) tombstone(at int64) {
	widen(&v.MinDeletion, &v.MaxDeletion, at)
	v.Deletions.add(at)
	v.keep(at)
	v.dead(at)
}

func widen(lo, hi **int64, v int64) {
	if *lo == nil {
		a, b := v, v
		*lo, *hi = &a, &b
		return
	}
	**lo, **hi = min(**lo, v), max(**hi, v)
}

func (v *surveyor) time(t int64) { widen(&v.MinTimestamp, &v.MaxTimestamp, t) }

// dead counts what has been dead since a second. Only what is dead before the
// grace may go.
func (v *surveyor) dead(since int64) {
	if since < v.o.Now-v.o.GCGrace {
		v.Droppable++
	}
}

func (v *surveyor) deletion(d rowgroup.Deletion, n *int64) {
	if d.Live() {
		return
	}
	*n++
	v.time(d.MarkedForDeleteAt)
	v.tombstone(d.LocalDeletionTime)
}

func (v *surveyor) row(row *Row) {
	switch row.Liveness {
	case rowgroup.LivenessLive:
		v.time(row.Timestamp)
		v.never()
	case rowgroup.LivenessExpiring:
		v.time(row.Timestamp)
		v.expiring(row.TTL, row.ExpirationTime)
	}
	if row.HasDeletion {
		v.deletion(row.Deletion, &v.Tombstones.Rows)
	}
	for i := range row.Cells {
		v.cell(&row.Cells[i])
	}
	for i := range row.Complex {
		v.deletion(row.Complex[i].Deletion, &v.Tombstones.Complex)
		for k := range row.Complex[i].Cells {
			v.cell(&row.Complex[i].Cells[k])
		}
	}
}

func (v *surveyor) cell(c *Cell) {
	v.time(c.Timestamp)
	switch c.Kind {
	case rowgroup.CellLive:
		v.LiveCells++
		v.never()
	case rowgroup.CellExpiring:
		expiry := v.expiring(c.TTL, c.LocalDeletionTime)
		if v.o.Now < expiry {
			v.ExpiringCells++
			return
		}
		v.ExpiredCells++
		v.dead(expiry)
	case rowgroup.CellTombstone:
		v.Tombstones.Cells++
		v.tombstone(c.LocalDeletionTime)
	}
}

// large keeps a partition that is among the largest.
func (v *surveyor) large(p PartitionSize, key []byte) {
	at, _ := slices.BinarySearchFunc(v.Largest, p, func(a, b PartitionSize) int {
		if a.Bytes >= b.Bytes {
			return -1
		}
		return 1
	})
	if at >= v.o.Largest {
		return
	}
	p.Key = slices.Clone(key)
	v.Largest = slices.Insert(v.Largest, at, p)
	v.Largest = v.Largest[:min(len(v.Largest), v.o.Largest)]
}
