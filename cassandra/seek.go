package cassandra

import (
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/colsst/colsst/rowgroup"
)

// ScanBlock reads a partition from the beginning of a block on: its unfiltereds
// and what follows. The deletion in force there is that of the block before.
// The entry is of Find.
func (s *SSTable) ScanBlock(e *IndexEntry, block int, ahead bool) (*Scanner, error) {
	position := e.Position + e.Blocks[block].Offset
	r, err := s.ScanFrom(position, ahead)
	if err != nil {
		return nil, err
	}
	r.within(e, !e.OpenAt(block).Live())
	return r, nil
}

// within starts the reader inside a partition, behind its static row.
func (r *BodyReader) within(e *IndexEntry, open bool) {
	r.partition.Key = append(r.partition.Key[:0], e.Key...)
	r.partition.Deletion, r.partition.Position = e.Deletion, e.Position
	r.state, r.open = inPartition, open
}

// SeekBlock is the first block of a partition that can hold an unfiltered at or
// behind p: the last that begins at or before it, or the first. Of BTI it reads
// the beginnings of some blocks. Clusterings of a type without order are an
// error.
func (s *SSTable) SeekBlock(e *IndexEntry, p Prefix) (block int, err error) {
	if len(e.Blocks) == 0 {
		return 0, errors.New("cassandra: a partition without blocks")
	}
	n := sort.Search(len(e.Blocks), func(i int) bool {
		if err != nil {
			return true
		}
		first := e.Blocks[i].First
		if s.Version.bti() {
			if first, err = s.firstOf(e, i); err != nil {
				return true
			}
		}
		c, known := comparePrefixes(s.Header.Clustering, first, p)
		if !known {
			err = fmt.Errorf("cassandra: the order of %s is unknown", s.Header.Clustering[0].Type)
		}
		return c > 0
	})
	return max(n-1, 0), err
}

// firstOf reads the first clustering of a block.
func (s *SSTable) firstOf(e *IndexEntry, block int) (p Prefix, err error) {
	r, err := s.ScanBlock(e, block, false)
	if err != nil {
		return p, err
	}
	event, err := r.Next()
	switch {
	case errors.Is(err, io.EOF) || err == nil && event != ClusteringRow && event != RangeMarker:
		err = s.foreign(r.Position(), e.Key)
	case err == nil:
		prefixOf(event, r.BodyReader).keep(&p)
	}
	return p, errors.Join(err, r.Close())
}

// OpenAt is the deletion in force at the beginning of a block.
func (e *IndexEntry) OpenAt(block int) rowgroup.Deletion {
	if block > 0 && e.Blocks[block-1].Open != nil {
		return *e.Blocks[block-1].Open
	}
	return rowgroup.LiveDeletion
}
