package cassandra

import (
	"errors"
	"io/fs"

	"github.com/colsst/colsst/rowgroup"
)

// Lifetime is what Cassandra goes by when it drops an SSTable as a whole since
// all in it has expired: the ranges of its keys and times.
type Lifetime struct {
	Path                       string // of Data.db
	MinTimestamp, MaxTimestamp int64  // µs
	MaxLocalDeletionTime       int64  // s; Version.NoDeletionTime: something never expires
	First, Last                []byte // keys; nil: not known

	order *rowgroup.Schema // of keys
}

// Lifetime reads it from Statistics.db and the indexes. ok is false where
// Statistics.db has no STATS.
func (s *SSTable) Lifetime() (l *Lifetime, ok bool, err error) {
	st := s.Statistics.Stats
	if st == nil {
		return nil, false, nil
	}
	l = &Lifetime{
		Path: s.Data.Name, MinTimestamp: st.MinTimestamp, MaxTimestamp: st.MaxTimestamp,
		MaxLocalDeletionTime: st.MaxLocalDeletionTime, First: st.FirstKey, Last: st.LastKey,
	}
	if l.order, err = s.keyOrder(); err != nil {
		return nil, false, err
	}
	x, err := s.useIndexes()
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, false, err
	case x.partitions != nil:
		l.First, l.Last = x.partitions.First, x.partitions.Last
	case x.summary != nil:
		l.First, l.Last = x.summary.First, x.summary.Last
	}
	return l, true, nil
}

// Expired reports whether all in the SSTable may go, by its times alone, with
// deletions kept up to a second.
func (l *Lifetime) Expired(gcBefore int64) bool { return l.MaxLocalDeletionTime < gcBefore }

// BlockedBy are those of the other SSTables of the same table that keep an
// expired one: they have live data as old as something in it, in its range of
// keys, which without its deletions could come back.
func (l *Lifetime) BlockedBy(others []*Lifetime, gcBefore int64) (paths []string) {
	for _, o := range others {
		if o.Path != l.Path && !o.Expired(gcBefore) && o.MinTimestamp <= l.MaxTimestamp && l.overlaps(o) {
			paths = append(paths, o.Path)
		}
	}
	return paths
}

// overlaps reports whether ranges of keys may have one in common.
func (l *Lifetime) overlaps(o *Lifetime) bool {
	if l.First == nil || o.First == nil {
		return true
	}
	before, known1 := l.order.ComparePartitions(l.Last, o.First)
	behind, known2 := l.order.ComparePartitions(l.First, o.Last)
	return !known1 || !known2 || before >= 0 && behind <= 0
}

// DroppableByStatistics is how many tombstones and expiring cells could be
// dropped, with deletions kept up to a second, by the histogram of Statistics.db
// and without reading rows; of as many cells.
func (s *Stats) DroppableByStatistics(gcBefore int64) (droppable, cells int64) {
	for _, t := range s.Tombstones {
		if t.Point < float64(gcBefore) {
			droppable += t.Count
		}
	}
	return droppable, s.TotalColumnsSet
}
