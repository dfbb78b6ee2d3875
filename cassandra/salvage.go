package cassandra

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sort"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// BadPartition is a partition that cannot be read as a whole, or that rows
// cannot hold.
type BadPartition struct {
	Key      []byte // nil: not known, since its head cannot be read and no index has it
	Position int64  // of the body, where it begins
	End      int64  // of the body, where the next partition is read
	Rest     bool   // it and all behind it, since no index tells where the next one begins
	Chunk    int    // that has the place of the error
	Offset   int64  // in Data.db, of that place
	Err      error
}

// extent is a stretch of the body, from the head of a partition to that of
// another.
type extent struct{ from, to int64 }

// Salvage reads everything and calls bad for each partition that cannot be read
// as a whole: of a chunk that is damaged, of a row that does not end at its
// size, out of order, larger than the limit of rows, or with something that
// rows cannot hold. Behind it the reading goes on at the next partition that
// the index has. Every later reading of s and of its SSTable leaves these
// partitions out, whole; no other may be under way. An error of bad ends the
// reading and is returned, as is one that is not about what the file holds.
//
// Where chunks have no checksums the index is a second witness: a partition
// that is not where the index has it, or has another key, is bad.
func (s *Source) Salvage(ctx context.Context, bad func(*BadPartition) error) error {
	x := s.sst
	x.bad, x.leftOut = nil, 0
	var list []extent
	v := s.salvager(ctx, func(p *BadPartition) error {
		if n := len(list); n > 0 && list[n-1].to == p.Position {
			list[n-1].to = p.End
		} else {
			list = append(list, extent{p.Position, p.End})
		}
		x.leftOut++
		return bad(p)
	})
	at := int64(0)
	for end := x.Data.Len(); at < end; {
		var err error
		if at, err = v.stretch(at); err != nil {
			return err
		}
	}
	if v.heads != nil {
		if err := v.lost(at); err != nil {
			return err
		}
	}
	x.bad = list
	return nil
}

// SalvagePartition is Salvage of the partition of one key, which it reads: ok
// says that it is whole, or not there at all. Later readings are as they were.
func (s *Source) SalvagePartition(ctx context.Context, key []byte, bad func(*BadPartition) error) (ok bool, err error) {
	e, err := s.sst.Find(key)
	switch {
	case errors.Is(err, fs.ErrNotExist): // no index
		e, err = s.scanFor(ctx, key)
	case isBad(err):
		return false, bad(s.sst.badPartition(nil, &BadPartition{Key: key, Position: -1, End: -1, Err: err}))
	}
	if errors.Is(err, rowgroup.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	found := false
	v := s.salvager(ctx, func(p *BadPartition) error {
		found = true
		return bad(p)
	})
	v.single = true
	_, err = v.stretch(e.Position)
	return !found && err == nil, err
}

// isBad reports whether an error is about what a file holds.
func isBad(err error) bool {
	return errors.Is(err, encoding.ErrCorrupt) || errors.Is(err, encoding.ErrUnsupported)
}

// salvager reads partitions in the order of the body.
type salvager struct {
	source  *Source
	ctx     context.Context
	bad     func(*BadPartition) error
	load    loader
	batch   *rowgroup.Batch
	filled  int64 // position of the body up to which the batch was emptied
	order   verifier
	heads   *heads // once it is needed
	witness bool   // the index is believed against the data
	jumped  bool   // the next partition is where the index has it
	single  bool   // of one partition
}

func (s *Source) salvager(ctx context.Context, bad func(*BadPartition) error) *salvager {
	d := s.sst.Data
	return &salvager{
		source: s, ctx: ctx, bad: bad, load: s.loader(&rowgroup.ScanOptions{}), batch: rowgroup.NewBatch(s.schema),
		order:   verifier{s: s.sst, rep: &Report{}, index: noCheck{}},
		witness: d.Compression == nil && d.Checksums == nil,
	}
}

func (v *salvager) index() *heads {
	if v.heads == nil {
		v.heads = v.source.sst.openHeads()
	}
	return v.heads
}

// stretch reads from a partition on to the end, or until it has to go on
// elsewhere, which it returns.
func (v *salvager) stretch(position int64) (next int64, err error) {
	s := v.source.sst
	r, err := s.ScanFrom(position, true)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	v.load.start(r, rowgroup.LiveDeletion)
	v.load.fill.begin(v.batch)
	v.filled = position
	if v.order.keys == nil {
		if v.order.keys, err = s.keyOrder(); err != nil {
			return 0, err
		}
	}
	v.order.r = r.BodyReader
	var wrong error // what is wrong with the partition, whose bytes can be read
	lastKey, partitions := bytes.Clone(v.order.lastKey), v.order.rep.Partitions
	begin := position
	for n := 0; ; n++ {
		if n%ctxEvery == 0 {
			if err := v.ctx.Err(); err != nil {
				return 0, err
			}
		}
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return s.Data.Len(), nil
		}
		if err != nil && !isBad(err) {
			return 0, err
		}
		if err == nil && e == PartitionBegin {
			begin, wrong = r.Position(), nil
			lastKey, partitions = append(lastKey[:0], v.order.lastKey...), v.order.rep.Partitions
		}
		if err == nil && wrong == nil {
			wrong = v.check(e)
		}
		if err == nil && (e != PartitionEnd || wrong == nil) {
			if e == PartitionEnd && v.single {
				return 0, nil
			}
			continue
		}
		if wrong == nil {
			wrong = err
		}
		if r.state == beforePartition && err != nil { // its head cannot be read
			begin = r.Position()
		}
		p := &BadPartition{Position: begin, Err: wrong}
		if e == PartitionEnd && err == nil || r.state != beforePartition {
			p.Key = bytes.Clone(r.Partition().Key)
		} else if next, ok := v.index().next(begin, -1); ok && next == begin {
			p.Key = v.heads.head.key
		}
		aside := err != nil // the reader cannot go on
		if p.End = r.UnreadPosition(); err != nil || v.witness {
			end, ok := v.index().next(begin+1, s.Data.Len())
			switch {
			case ok:
				aside = aside || end != p.End
				p.End = min(end, s.Data.Len())
			case err != nil:
				p.End, p.Rest = s.Data.Len(), true
				p.Err = fmt.Errorf("%w; no index tells where the next partition begins: %w", p.Err, v.heads.err)
			}
		}
		v.order.lastKey, v.order.rep.Partitions = append(v.order.lastKey[:0], lastKey...), partitions
		v.load.fill.begin(v.batch)
		if err := v.bad(s.badPartition(r.BodyReader, p)); err != nil {
			return 0, err
		}
		if v.jumped = aside; aside || v.single {
			return p.End, nil
		}
	}
}

// lost tells of the partitions that the index has at the end of the data or
// behind it, of which nothing is left.
func (v *salvager) lost(from int64) error {
	s, x := v.source.sst, v.heads
	for x.seek(from); x.err == nil; x.advance() {
		at := x.head.position
		p := &BadPartition{Key: x.head.key, Position: at, End: at, Err: &encoding.CorruptError{
			File: s.Data.Name, Part: "file", Offset: s.Data.Size,
			Reason: fmt.Sprintf("ends before the partition that the index has at %d of the body", at),
		}}
		if err := v.bad(s.badPartition(nil, p)); err != nil {
			return err
		}
	}
	return nil
}

// badPartition completes p: its key, by the index, and the place of the error.
func (s *SSTable) badPartition(r *BodyReader, p *BadPartition) *BadPartition {
	var corrupt *encoding.CorruptError
	switch {
	case errors.As(p.Err, &corrupt) && corrupt.Offset >= 0 && corrupt.File == s.Data.Name:
		p.Offset, p.Chunk = corrupt.Offset, s.Data.chunkOf(corrupt.Offset)
	case r != nil:
		p.Chunk, p.Offset = s.Data.locate(r.at)
	}
	return p
}

// chunkOf is the chunk that lies at an offset of the file.
func (d *DataFile) chunkOf(offset int64) int {
	n := sort.Search(d.numChunks(), func(i int) bool {
		from, _ := d.stored(i)
		return from > offset
	})
	return max(n-1, 0)
}

// check looks at an event that could be read.
func (v *salvager) check(e Event) error {
	r := v.order.r
	if e == PartitionBegin {
		if err := v.checkHead(); err != nil {
			return err
		}
	}
	if err := v.order.event(e); err != nil {
		return err
	}
	f, limits := v.load.fill, &v.source.limits
	if err := v.load.event(e); err != nil {
		return v.load.named(err)
	}
	if e != PartitionBegin && (f.n >= limits.rows || f.parts >= limits.partitions || r.UnreadPosition()-v.filled >= limits.bytes) {
		f.begin(v.batch)
		v.filled = r.UnreadPosition()
	}
	if e == PartitionEnd && v.witness {
		next, ok := v.index().next(r.Partition().Position+1, v.source.sst.Data.Len())
		if end := r.UnreadPosition(); ok && next != end {
			return r.corruptf("the partition ends at %d of the body, where the index has the next one at %d", end, next)
		}
	}
	return nil
}

// checkHead looks whether a partition is the one that the index has there.
func (v *salvager) checkHead() error {
	r := v.order.r
	if !v.jumped && !v.witness {
		return nil
	}
	v.jumped = false
	x := v.index()
	x.seek(r.Position())
	switch {
	case x.err != nil:
	case x.head.position != r.Position():
		return r.corruptf("a partition that the index does not have")
	case !v.source.sst.is(&x.head, r.Partition().Key):
		return r.corruptf("not the partition that the index has here")
	}
	return nil
}

// isLeftOut reports whether a position of the body is in a partition that
// Salvage found bad.
func (s *SSTable) isLeftOut(position int64) bool {
	i := s.badFrom(position)
	return i < len(s.bad) && s.bad[i].from <= position
}

// badFrom is the number of the first stretch that is left out and ends behind
// position.
func (s *SSTable) badFrom(position int64) int {
	return sort.Search(len(s.bad), func(i int) bool { return s.bad[i].to > position })
}
