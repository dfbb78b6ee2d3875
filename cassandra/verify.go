package cassandra

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/colsst/colsst/rowgroup"
)

// Report is what Verify counted and found.
type Report struct {
	Partitions  int64
	Rows        int64 // without static rows
	StaticRows  int64 // that hold something
	Markers     int64
	Cells       int64    // of static rows and rows
	OddPrevious int64    // unfiltereds whose size of the one before is not that
	Unchecked   bool     // Data.db has no checksum at all: neither CRC.db nor a digest
	Warnings    []string // those of Open, and: digest mismatch, order of types unknown
}

// Verify reads everything: it checks the digest, all chunks, every row, the
// order of partitions and unfiltereds, and the indexes against what it read:
// keys and positions of partitions, blocks, and the summary. A wrong digest is
// a warning, because the chunks have checksums of their own; anything else
// that is wrong is the error.
func (s *SSTable) Verify(ctx context.Context) (*Report, error) {
	rep := &Report{Warnings: append([]string(nil), s.Warnings...)}
	if err := s.verifyDigest(ctx, rep); err != nil {
		return rep, err
	}
	index, err := s.newIndexCheck()
	if err != nil {
		return rep, err
	}
	r, err := s.Scan()
	if err != nil {
		return rep, err
	}
	v := &verifier{s: s, r: r.BodyReader, rep: rep, index: index}
	return rep, errors.Join(v.run(ctx), r.Close())
}

func (s *SSTable) verifyDigest(ctx context.Context, rep *Report) error {
	if !s.has(ComponentDigest) {
		rep.Unchecked = s.Data.Compression == nil && s.Data.Checksums == nil
		return nil
	}
	text, err := s.read(ComponentDigest)
	if err != nil {
		return err
	}
	want, err := ParseDigest(text)
	if err != nil {
		return s.name(ComponentDigest, err)
	}
	got, err := checksumFile(ctx, s.data, s.Data.Size)
	if err == nil && got != want {
		rep.Warnings = append(rep.Warnings, fmt.Sprintf("digest mismatch: %s has %d, Data.db %d", ComponentDigest, want, got))
	}
	return err
}

// verifier checks the order of a body and drives the check of the index.
type verifier struct {
	s     *SSTable
	r     *BodyReader
	rep   *Report
	index indexCheck

	keys     *rowgroup.Schema
	lastKey  []byte
	last     Prefix
	first    bool // no unfiltered of the partition so far
	unknown  bool // an order that is unknown has been met
	previous int64
	open     rowgroup.Deletion
}

// ctxEvery is how many events go by between looks at the context.
const ctxEvery = 1 << 12

func (v *verifier) run(ctx context.Context) (err error) {
	if v.keys, err = v.s.keyOrder(); err != nil {
		return err
	}
	for n := 0; ; n++ {
		if n%ctxEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		e, err := v.r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := v.event(e); err != nil {
			return err
		}
	}
	if v.unknown {
		v.rep.Warnings = append(v.rep.Warnings, "the order of keys or of clusterings is unknown and was not checked")
	}
	return v.index.end(v.rep.Partitions)
}

func (v *verifier) event(e Event) error {
	at := v.r.Position()
	switch e {
	case PartitionBegin:
		return v.partition(at)
	case StaticRow:
		row := v.r.Row()
		v.rep.Cells += cells(row)
		if holds(row) {
			v.rep.StaticRows++
		}
		return v.paths(row, v.r.header.Static)
	case PartitionEnd:
		return v.index.endPartition(at)
	case ClusteringRow:
		v.rep.Rows++
		v.rep.Cells += cells(v.r.Row())
		if err := v.paths(v.r.Row(), v.r.header.Regular); err != nil {
			return err
		}
		if v.r.Row().PreviousSize != uint64(at-v.previous) {
			v.rep.OddPrevious++
		}
	case RangeMarker:
		v.rep.Markers++
		if v.r.Marker().PreviousSize != uint64(at-v.previous) {
			v.rep.OddPrevious++
		}
	}
	v.previous = at
	p := prefixOf(e, v.r)
	if !v.first {
		c, known := comparePrefixes(v.r.header.Clustering, v.last, p)
		v.unknown = v.unknown || !known
		if known && c >= 0 {
			return v.r.corruptf("out of order, or twice")
		}
	}
	if e == RangeMarker {
		m := v.r.Marker()
		if m.Kind.Closes() && m.Close != v.open {
			return v.r.corruptf("a range tombstone of %v ends that began as %v", m.Close, v.open)
		}
	}
	if err := v.index.unfiltered(at, p, v.open); err != nil {
		return err
	}
	if e == RangeMarker && v.r.Marker().Kind.Opens() {
		v.open = v.r.Marker().Open
	} else if e == RangeMarker {
		v.open = rowgroup.LiveDeletion
	}
	v.first = false
	p.keep(&v.last)
	return nil
}

// holds says whether there is anything in a row.
func holds(row *Row) bool {
	deleted := func(x ComplexColumn) bool { return !x.Deletion.Live() }
	return cells(row) > 0 || row.HasDeletion || row.Liveness != rowgroup.LivenessNone || slices.ContainsFunc(row.Complex, deleted)
}

func cells(row *Row) int64 {
	n := int64(len(row.Cells))
	for i := range row.Complex {
		n += int64(len(row.Complex[i].Cells))
	}
	return n
}

// paths checks the order of the cells of complex columns.
func (v *verifier) paths(row *Row, cols []Column) error {
	for i := range row.Complex {
		x := &row.Complex[i]
		typ := cols[x.Column].PathType()
		if !typ.Ordered() {
			v.unknown = true
			continue
		}
		for k := 1; k < len(x.Cells); k++ {
			if typ.Collate(x.Cells[k-1].Path, x.Cells[k].Path) >= 0 {
				return v.r.corruptf("column %s: path %s is out of order, or twice", quote(cols[x.Column].Name), hexKey(x.Cells[k].Path))
			}
		}
	}
	return nil
}

func (v *verifier) partition(at int64) error {
	p := v.r.Partition()
	if v.rep.Partitions > 0 {
		c, known := v.keys.ComparePartitions(v.lastKey, p.Key)
		v.unknown = v.unknown || !known
		if known && c >= 0 {
			return v.r.corruptf("key %s is out of order, or twice", hexKey(p.Key))
		}
	}
	v.lastKey = append(v.lastKey[:0], p.Key...)
	v.rep.Partitions++
	v.first, v.previous, v.open = true, at, rowgroup.LiveDeletion
	return v.index.partition(p)
}

// indexCheck compares an index with what a scan finds.
type indexCheck interface {
	partition(p *Partition) error
	// unfiltered is called for each; open is the deletion in force before it. p
	// is valid until the next call.
	unfiltered(at int64, p Prefix, open rowgroup.Deletion) error
	endPartition(at int64) error
	end(partitions int64) error
}

// newIndexCheck makes the check of the indexes that are there.
func (s *SSTable) newIndexCheck() (indexCheck, error) {
	switch {
	case s.Version.bti() && s.has(ComponentPartitions) && s.has(ComponentRows):
		x, err := s.useIndexes()
		if err != nil {
			return nil, err
		}
		return &trieCheck{s: s, x: x, walk: x.partitions.Walk()}, nil
	case !s.Version.bti() && s.has(ComponentIndex):
		x, err := s.useIndexes()
		if err != nil {
			return nil, err
		}
		return &bigCheck{s: s, x: x, r: NewIndexReader(io.NewSectionReader(x.index, 0, x.indexSize), s.Version, s.Header)}, nil
	}
	return noCheck{}, nil
}

type noCheck struct{}

func (noCheck) partition(*Partition) error                        { return nil }
func (noCheck) unfiltered(int64, Prefix, rowgroup.Deletion) error { return nil }
func (noCheck) endPartition(int64) error                          { return nil }
func (noCheck) end(int64) error                                   { return nil }
