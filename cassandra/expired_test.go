package cassandra

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Which SSTables keep one that has expired: with live data as old as something
// in it, in its range of keys. The boundary of the grace is exact.
func TestBlockedBy(t *testing.T) {
	s := &SSTable{Statistics: &StatisticsFile{Validation: &Validation{Partitioner: partitionerPrefix + byteOrderedPartitioner}}}
	order, err := s.keyOrder()
	require.NoError(t, err)
	life := func(path string, from, to, last int64, keys string) *Lifetime {
		l := &Lifetime{Path: path, MinTimestamp: from, MaxTimestamp: to, MaxLocalDeletionTime: last, order: order}
		if keys != "" {
			l.First, l.Last = []byte(keys[:1]), []byte(keys[1:])
		}
		return l
	}
	x := life("x", 10, 20, 99, "cf")
	require.True(t, x.Expired(100))
	require.False(t, x.Expired(99))
	const never = 1<<31 - 1
	others := []*Lifetime{
		x,
		life("newer", 21, 90, never, "az"),
		life("as old", 20, 90, never, "az"),
		life("below", 1, 90, never, "ab"),
		life("above", 1, 90, never, "gz"),
		life("touches", 1, 90, never, "fg"),
		life("unknown keys", 1, 90, never, ""),
		life("expired too", 1, 90, 50, "az"),
	}
	require.Equal(t, []string{"as old", "touches", "unknown keys"}, x.BlockedBy(others, 100))
}

// The lifetime of SSTables of both formats is that of their statistics and
// indexes.
func TestLifetime(t *testing.T) {
	for _, v := range []Version{"mc", "nb", "oa", "da"} {
		x := manyPartitions(t, v, 5)
		src := openMade(t, v, makeSSTable(t, x, making{chunkLength: 4096}))
		l, ok, err := src.sst.Lifetime()
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, "p000", string(l.First))
		require.Equal(t, "p004", string(l.Last))
		require.Equal(t, int64(2), l.MaxTimestamp)
		require.False(t, l.Expired(1<<31-1))
		droppable, cells := src.sst.Statistics.Stats.DroppableByStatistics(1_700_000_001)
		require.Equal(t, int64(3), droppable)
		require.Equal(t, int64(7), cells)
		droppable, _ = src.sst.Statistics.Stats.DroppableByStatistics(1_700_000_000)
		require.Zero(t, droppable)
	}
}
