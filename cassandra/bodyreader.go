package cassandra

import (
	"errors"
	"fmt"
	"io"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/internal/invariants"
	"github.com/colsst/colsst/rowgroup"
)

const (
	bodyBuffer = 64 << 10 // least size of a reader's buffer
	errorKey   = 32       // bytes of a key in a message
)

// BodyReader decodes the body of an SSTable, the data of Data.db, event by
// event. It holds one row at a time, so partitions may be of any size; it
// allocates nothing per cell. It checks every length, that a row ends where its
// size says, and that markers open and close in turn. It does not check order.
// It is not safe for concurrent use.
type BodyReader struct {
	window
	file    *DataFile // for messages, or nil
	version Version
	deltas  deltas
	header  *Header
	live    rowgroup.Deletion // what is in place of none
	static  columns
	regular columns
	maxRow  int

	state     bodyState
	err       error
	open      bool // a marker has opened a deletion
	partition Partition
	row       Row
	marker    Marker
	at        int64 // position of the last event
	pool      []Cell
	ranges    []int // ends in pool of the row's complex columns
	present   []int
}

type bodyState uint8

const (
	beforePartition bodyState = iota
	beforeStatic
	inPartition
)

// columns are the static or the regular columns in the order of cells.
type columns struct {
	cols []Column
	all  []int // 0, 1, ...
}

func newColumns(cols []Column) columns {
	c := columns{cols: cols, all: make([]int, len(cols))}
	for i := range c.all {
		c.all[i] = i
	}
	return c
}

// BodyOption is an option of NewBodyReader.
type BodyOption func(*BodyReader)

// WithMaxRow refuses rows whose body is larger; the default, and the most, is
// encoding.MaxRowBytes.
func WithMaxRow(bytes int) BodyOption {
	return func(r *BodyReader) { r.maxRow = min(max(bytes, 0), encoding.MaxRowBytes) }
}

// withFile lets errors name the file and the chunk; the body starts at position.
func withFile(f *DataFile, position int64) BodyOption {
	return func(r *BodyReader) { r.file, r.base = f, position }
}

// NewBodyReader reads a body of version v under header h from src, which it
// does not close. The body starts at the head of a partition.
func NewBodyReader(src io.Reader, v Version, h *Header, opts ...BodyOption) *BodyReader {
	r := &BodyReader{
		window:  window{src: src, unit: bodyBuffer},
		version: v, deltas: newDeltas(v, h), header: h,
		live:   rowgroup.Deletion{MarkedForDeleteAt: rowgroup.NoDeletion, LocalDeletionTime: v.NoDeletionTime()},
		static: newColumns(h.Static), regular: newColumns(h.Regular), maxRow: encoding.MaxRowBytes,
	}
	for _, o := range opts {
		o(r)
	}
	return r
}

// Partition is the head of the partition being read.
func (r *BodyReader) Partition() *Partition { return &r.partition }

// Row is the row of a StaticRow or ClusteringRow.
func (r *BodyReader) Row() *Row { return &r.row }

// Marker is the marker of a RangeMarker.
func (r *BodyReader) Marker() *Marker { return &r.marker }

// Position is where the last event begins in the body.
func (r *BodyReader) Position() int64 { return r.at }

// UnreadPosition is where the last event ends in the body.
func (r *BodyReader) UnreadPosition() int64 { return r.position() }

// Next reads the next event, or fails with io.EOF at the end of the body. What
// earlier events lent is no longer valid. After an error it stays so.
func (r *BodyReader) Next() (Event, error) {
	if r.err != nil {
		return NoEvent, r.err
	}
	if invariants.Enabled && r.at >= r.base { // what the last event lent
		invariants.Mangle(r.buf[r.at-r.base : r.pos])
	}
	e, err := r.next()
	if err != nil {
		r.err = err
	}
	return e, err
}

func (r *BodyReader) next() (Event, error) {
	for {
		r.at = r.position()
		c := cursor{b: r.unread()}
		e, need, err := r.decode(&c)
		switch {
		case err != nil:
			return NoEvent, err
		case c.bad != "":
			return NoEvent, r.corruptf("%s", c.bad)
		case !c.short && need <= 0:
			r.pos += c.p
			return e, nil
		}
		if err := r.room(max(need, len(c.b)+1)); err != nil {
			if errors.Is(err, io.EOF) && len(c.b) == 0 && r.state == beforePartition {
				return NoEvent, io.EOF
			}
			switch {
			case errors.Is(err, io.EOF):
				err = r.corruptf("the body ends %d bytes after its start", len(c.b))
			case errors.Is(err, encoding.ErrCorrupt) && !errors.Is(err, encoding.ErrUnsupported): // a chunk
				err = fmt.Errorf("%w, %s", err, r.near())
			}
			return NoEvent, err
		}
	}
}

// release lets go of a large row, of which the caller has a copy. What the last
// event lent is no longer valid.
func (r *BodyReader) release() {
	if r.shrink(0) {
		r.row, r.marker, r.pool = Row{}, Marker{}, nil
	}
}

// room fetches n bytes, if a row within the limit can need as many.
func (r *BodyReader) room(n int) error {
	if limit := r.maxRow + bodyBuffer + encoding.MaxKeyBytes; n > limit {
		return r.refusef("larger than %d bytes, or damaged", r.maxRow)
	}
	return r.more(n)
}

// decode reads one event from c, which holds all unread bytes at hand. If need
// is positive, that many must be at hand to go on; if c is short, more.
func (r *BodyReader) decode(c *cursor) (e Event, need int, err error) {
	switch r.state {
	case beforePartition:
		key := c.sbytes()
		deletion := c.partitionDeletion(r.version)
		if c.short {
			return 0, 0, nil
		}
		r.partition.Key = append(r.partition.Key[:0], key...)
		r.partition.Deletion, r.partition.Position = deletion, r.at
		r.open = false
		r.state = inPartition
		if len(r.static.cols) > 0 {
			r.state = beforeStatic
		}
		return PartitionBegin, 0, nil
	case beforeStatic:
		flags, extended := c.u8(), c.u8()
		if c.short {
			return 0, 0, nil
		}
		if flags&(flagExtended|flagMarker|flagEnd) != flagExtended || extended&extendedStatic == 0 {
			return 0, 0, r.corruptf("flags %02x %02x, where the static row is expected", flags, extended)
		}
		if need, err = r.decodeRow(c, flags, extended, &r.static); need == 0 && err == nil && !c.short {
			r.state = inPartition
		}
		return StaticRow, need, err
	}
	flags := c.u8()
	switch {
	case c.short:
		return 0, 0, nil
	case flags&flagEnd != 0:
		if flags != flagEnd {
			return 0, 0, r.corruptf("flags %02x", flags)
		}
		if r.open {
			return 0, 0, r.corruptf("the partition ends within a range tombstone")
		}
		r.state = beforePartition
		return PartitionEnd, 0, nil
	case flags&flagMarker != 0:
		if flags != flagMarker {
			return 0, 0, r.corruptf("flags %02x of a marker", flags)
		}
		need, err = r.decodeMarker(c)
		return RangeMarker, need, err
	}
	extended := byte(0)
	if flags&flagExtended != 0 {
		if extended = c.u8(); extended&extendedStatic != 0 {
			return 0, 0, r.corruptf("a static row that is not at the start of its partition")
		}
	}
	need, err = r.decodeRow(c, flags, extended, &r.regular)
	return ClusteringRow, need, err
}

// body cuts out the counted bytes of an unfiltered of these clustering values,
// size of them.
func (r *BodyReader) body(c *cursor, values [][]byte) (body cursor, need int, err error) {
	size := c.vint()
	switch {
	case c.short:
		return body, 0, nil
	case size > uint64(r.maxRow):
		return body, 0, r.refusef("a row of %d bytes with clustering %s, larger than %d", size, hexValues(values), r.maxRow)
	case size > uint64(c.left()):
		return body, c.p + int(size), nil
	}
	return cursor{b: c.take(size)}, 0, nil
}

// ended checks that an unfiltered ends where its size says.
func (r *BodyReader) ended(body *cursor) error {
	switch {
	case body.bad != "":
		return r.corruptf("%s", body.bad)
	case body.short:
		return r.corruptf("its parts are longer than its size of %d bytes", len(body.b))
	case body.left() > 0:
		return r.corruptf("its parts end %d bytes before its size of %d bytes", body.left(), len(body.b))
	}
	return nil
}

// decodeMarker reads a marker behind its flags.
//
//	u8    kind
//	      bound: number of values and values
//	vint  size of what follows
//	vint  size of the unfiltered before
//	      deletion that ends, where one does
//	      deletion that begins, where one does
func (r *BodyReader) decodeMarker(c *cursor) (need int, err error) {
	m := &r.marker
	m.Kind = rowgroup.BoundKind(c.u8())
	m.Values = c.boundValues(m.Values[:0], r.header.Clustering)
	if c.short {
		return 0, nil
	}
	closes, opens := m.Kind.Closes(), m.Kind.Opens()
	if !closes && !opens {
		return 0, r.corruptf("marker of kind %d", m.Kind)
	}
	body, need, err := r.body(c, m.Values)
	if c.short || need > 0 || err != nil {
		return need, err
	}
	m.PreviousSize = body.vint()
	m.Close, m.Open = r.live, r.live
	if closes {
		m.Close = r.deltas.readDeletion(&body)
	}
	if opens {
		m.Open = r.deltas.readDeletion(&body)
	}
	if closes != r.open {
		return 0, r.corruptf("marker of kind %d, while a range tombstone is open: %t", m.Kind, r.open)
	}
	r.open = opens
	return 0, r.ended(&body)
}

// where names the place of the event being read.
func (r *BodyReader) where() (file, part string, offset int64) {
	what := "partition"
	if r.state != beforePartition {
		what = "partition " + hexKey(r.partition.Key) + ", unfiltered"
	}
	part, offset = fmt.Sprintf("%s at %d of the body", what, r.at), -1
	if r.file != nil {
		chunk, at := r.file.locate(r.at)
		file, part, offset = r.file.Name, fmt.Sprintf("%s, chunk %d", part, chunk), at
	}
	return file, part, offset
}

// near names the partition that a damaged chunk breaks off, or that is before it.
func (r *BodyReader) near() string {
	switch {
	case r.state != beforePartition:
		return "within partition " + hexKey(r.partition.Key)
	case r.partition.Key != nil:
		return "behind partition " + hexKey(r.partition.Key)
	}
	return fmt.Sprintf("at %d of the body", r.at)
}

func (r *BodyReader) corruptf(format string, args ...any) error {
	file, part, offset := r.where()
	return &encoding.CorruptError{File: file, Part: part, Offset: offset, Reason: fmt.Sprintf(format, args...)}
}

// refusef is about a row that is too large to be read.
func (r *BodyReader) refusef(format string, args ...any) error {
	return fmt.Errorf("%w (%w)", r.corruptf(format, args...), encoding.ErrUnsupported)
}
