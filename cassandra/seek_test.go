package cassandra

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/rowgroup"
)

// unfilteredsOf are the rows and markers of a partition, with its end.
func unfilteredsOf(events []event, key []byte) (list []event) {
	inside := false
	for _, e := range events {
		switch {
		case e.Event == PartitionBegin:
			inside = bytes.Equal(e.Partition.Key, key)
		case inside && e.Event != StaticRow:
			list = append(list, e)
		}
	}
	return list
}

func prefixOfEvent(e *event) Prefix {
	if e.Event == RangeMarker {
		return e.Marker.Bound
	}
	return Prefix{kindClustering, e.Row.Clustering}
}

// checkBlocks reads from every block on: the tails of the partition; and seeks
// every unfiltered.
func checkBlocks(rt *rapid.T, s *SSTable, e *IndexEntry, all []event) {
	starts := make([]int, len(e.Blocks)) // where in all each block begins
	for i := range e.Blocks {
		r, err := s.ScanBlock(e, i, false)
		require.NoError(rt, err)
		got, err := collectPartition(r.BodyReader)
		require.NoError(rt, err)
		require.NoError(rt, r.Close())
		require.Equal(rt, e.Key, r.Partition().Key)
		starts[i] = len(all) - len(got)
		sameEvents(rt, all[starts[i]:], got)

		open := rowgroup.LiveDeletion
		for k := range starts[i] {
			if m := &all[k].Marker; all[k].Event == RangeMarker {
				if open = rowgroup.LiveDeletion; m.Kind.Opens() {
					open = m.Open
				}
			}
		}
		require.Equal(rt, open, e.OpenAt(i))
	}
	for i := range all[:len(all)-1] {
		if len(e.Blocks) == 0 {
			break
		}
		block, err := s.SeekBlock(e, prefixOfEvent(&all[i]))
		require.NoError(rt, err)
		require.LessOrEqual(rt, starts[block], i)
		if block+1 < len(starts) {
			require.Greater(rt, starts[block+1], i)
		}
	}
}

// collectPartition reads events up to the end of the partition.
func collectPartition(r *BodyReader) (events []event, err error) {
	for {
		e, err := r.Next()
		if err != nil {
			return events, err
		}
		events = append(events, r.clone(e))
		if e == PartitionEnd {
			return events, nil
		}
	}
}

func TestSeekWithoutBlocks(t *testing.T) {
	s := &SSTable{Descriptor: Descriptor{Version: "nb"}}
	_, err := s.SeekBlock(&IndexEntry{}, Prefix{})
	require.ErrorContains(t, err, "without blocks")
}
