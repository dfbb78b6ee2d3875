package textfmt

import (
	"bytes"
	"encoding/hex"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/colsst/colsst/rowgroup"
)

// DumpWriter writes everything that batches hold, each partition, row and range
// tombstone marker as one JSON object a line (NDJSON):
//
//	{"type":"partition","key":{"host":"a"},"key_hex":"61",
//	 "deletion":{"marked_for_delete_at":5,"local_deletion_time":7},
//	 "static":{"liveness":{...},"cells":{...}}}
//	{"type":"row","clustering":{"time":"2014-02-14T14:30:00Z"},
//	 "liveness":{"write_time":0,"ttl":60,"expiry":1700000000},
//	 "deletion":{...,"shadowable":true},
//	 "cells":{"value":{"value":1.5,"write_time":3,"ttl":60,"expiry":1700000000},
//	          "note":{"deleted":true,"write_time":3,"local_deletion_time":8}}}
//	{"type":"marker","kind":"incl_start","clustering":{...},
//	 "close":{...},"open":{...}}
//
// and among the cells those of a multi-cell column, whose values are left out in
// sets:
//
//	"tags":{"deletion":{"marked_for_delete_at":2,"local_deletion_time":3},
//	        "cells":[{"path":"a","value":1.5,"write_time":3},
//	                 {"path":"b","deleted":true,"local_deletion_time":8}]}
//
// Write times and marked_for_delete_at are µs, the other times s since 1970.
// Members that say nothing are left out: no deletion, cells that are absent,
// metadata of a cell that is the row's. A row without "liveness" has none; an
// expired marker has "expired":true. A cell with "live":true or "expiring":true
// is so whatever its row is.
//
// Numbers of every size are JSON numbers with all their digits; a reader must
// not take integers beyond 2^53 for doubles. NaN and the infinities are the
// strings "NaN", "+Inf", "-Inf", a NaN of other bits {"nan":"7ff8000000000001"};
// bytes that are no text {"hex":"ff00"}; a value of no bytes of a type that has
// some {"hex":""}; other types are strings as rowgroup.AppendText writes them.
type DumpWriter struct {
	// Exact writes what could not be read from its text again, as collections,
	// tuples and counters, as {"hex":...} too, so that DumpReader takes all.
	Exact bool

	w       io.Writer
	schema  *rowgroup.Schema
	names   [][]byte // of the columns, as JSON
	buf     []byte
	scratch []byte
	err     error
}

// NewDumpWriter makes a writer for batches of schema s.
func NewDumpWriter(w io.Writer, s *rowgroup.Schema) *DumpWriter {
	d := &DumpWriter{w: w, schema: s}
	for i := range s.NumColumns() {
		d.names = append(d.names, appendJSONString(nil, []byte(s.Column(i).Name)))
	}
	return d
}

// Write writes what b holds and keeps nothing of it. A partition that goes on
// from the batch before has no line again. The first error sticks.
func (d *DumpWriter) Write(b *rowgroup.Batch) error {
	if d.err == nil {
		d.err = d.write(b)
	}
	return d.err
}

// Flush writes what is buffered.
func (d *DumpWriter) Flush() error {
	if d.err == nil {
		d.err = d.flush()
	}
	return d.err
}

func (d *DumpWriter) flush() error {
	_, err := d.w.Write(d.buf)
	d.buf = d.buf[:0]
	return err
}

func (d *DumpWriter) write(b *rowgroup.Batch) error {
	markers := *b.Markers()
	deletions := b.Meta().Deletions
	for p := range b.NumPartitions() {
		if !b.Partition(p).Continued {
			if err := d.partition(b, p); err != nil {
				return err
			}
		}
		from, to := b.PartitionRows(p)
		for i := from; i < to; i++ {
			if len(markers) > 0 && markers[0].Row == i {
				d.marker(b, &markers[0])
				markers = markers[1:]
			} else {
				var deleted *rowgroup.RowDeletion
				if len(deletions) > 0 && deletions[0].Row == i {
					deleted = &deletions[0]
					deletions = deletions[1:]
				}
				d.row(b, i, deleted)
			}
			if d.err != nil {
				return d.err
			}
			if len(d.buf) >= flushAt {
				if err := d.flush(); err != nil {
					return err
				}
			}
		}
	}
	return d.err
}

func (d *DumpWriter) add(s string) { d.buf = append(d.buf, s...) }

func (d *DumpWriter) number(name string, v int64) {
	d.add(name)
	d.buf = strconv.AppendInt(d.buf, v, 10)
}

func (d *DumpWriter) partition(b *rowgroup.Batch, p int) error {
	d.add(`{"type":"partition","key":{`)
	from, to := d.schema.Range(rowgroup.PartitionKey)
	if from < to {
		parts, err := rowgroup.SplitKey(d.schema.KeyTypes(), b.Key(p))
		if err != nil {
			return err
		}
		for i, part := range parts {
			d.name(i, i > 0)
			d.value(d.schema.Column(i).Type, part)
		}
	}
	d.add(`},"key_hex":"`)
	d.buf = hex.AppendEncode(d.buf, b.Key(p))
	d.add(`"`)
	h := b.Partition(p)
	if !h.Deletion.Live() {
		d.deletion(`,"deletion":{`, h.Deletion)
		d.add("}")
	}
	switch h.Static {
	case rowgroup.StaticEmpty:
		d.add(`,"static":{}`)
	case rowgroup.StaticFull:
		m := b.StaticMeta()
		d.add(`,"static":{`)
		if d.liveness("", m, p) {
			d.add(",")
		}
		for _, del := range m.Deletions {
			if del.Row == p {
				d.deletion(`"deletion":{`, del.Deletion)
				d.add("},")
			}
		}
		d.cells(b, p, rowgroup.Static)
		d.add("}")
	}
	d.add("}\n")
	return nil
}

func (d *DumpWriter) row(b *rowgroup.Batch, i int, deleted *rowgroup.RowDeletion) {
	d.add(`{"type":"row","clustering":{`)
	_, to := d.schema.Range(rowgroup.Clustering)
	d.prefix(b, i, to)
	d.add("}")
	d.liveness(",", b.Meta(), i)
	if deleted != nil {
		d.deletion(`,"deletion":{`, deleted.Deletion)
		if deleted.Shadowable {
			d.add(`,"shadowable":true`)
		}
		d.add("}")
	}
	d.add(",")
	d.cells(b, i, rowgroup.Regular)
	d.add("}\n")
}

// boundNames are the kinds of markers.
var boundNames = map[rowgroup.BoundKind]string{
	rowgroup.ExclEnd:          "excl_end",
	rowgroup.InclStart:        "incl_start",
	rowgroup.ExclEndInclStart: "excl_end_incl_start",
	rowgroup.InclEndExclStart: "incl_end_excl_start",
	rowgroup.InclEnd:          "incl_end",
	rowgroup.ExclStart:        "excl_start",
}

func (d *DumpWriter) marker(b *rowgroup.Batch, m *rowgroup.Marker) {
	d.add(`{"type":"marker","kind":"` + boundNames[m.Kind] + `","clustering":{`)
	from, _ := d.schema.Range(rowgroup.Clustering)
	d.prefix(b, m.Row, from+m.Prefix)
	d.add("}")
	if m.Kind.Closes() {
		d.deletion(`,"close":{`, m.Close)
		d.add("}")
	}
	if m.Kind.Opens() {
		d.deletion(`,"open":{`, m.Open)
		d.add("}")
	}
	d.add("}\n")
}

func (d *DumpWriter) deletion(name string, del rowgroup.Deletion) {
	d.add(name)
	d.number(`"marked_for_delete_at":`, del.MarkedForDeleteAt)
	d.number(`,"local_deletion_time":`, del.LocalDeletionTime)
}

// prefix writes the values of the clustering columns before column to.
func (d *DumpWriter) prefix(b *rowgroup.Batch, i, to int) {
	from, _ := d.schema.Range(rowgroup.Clustering)
	for col := from; col < to; col++ {
		d.name(col, col > from)
		if isNull(b.Cell(col, i)) {
			d.add("null")
		} else {
			d.cellValue(b, col, i)
		}
	}
}

func (d *DumpWriter) name(col int, comma bool) {
	if comma {
		d.add(",")
	}
	d.buf = append(d.buf, d.names[col]...)
	d.add(":")
}

func (d *DumpWriter) liveness(comma string, m *rowgroup.RowMeta, i int) (there bool) {
	state := at(m.Liveness, i)
	if state == rowgroup.LivenessNone {
		return false
	}
	d.add(comma)
	d.number(`"liveness":{"write_time":`, at(m.WriteTimes, i))
	switch state {
	case rowgroup.LivenessExpiring:
		d.number(`,"ttl":`, int64(at(m.TTLs, i)))
		d.number(`,"expiry":`, at(m.Expiries, i))
	case rowgroup.LivenessExpired:
		d.number(`,"expired":true,"expiry":`, at(m.Expiries, i))
	}
	d.add("}")
	return true
}

// cells writes the cells of all columns of a role.
func (d *DumpWriter) cells(b *rowgroup.Batch, i int, role rowgroup.Role) {
	d.add(`"cells":{`)
	comma := false
	from, to := d.schema.Range(role)
	for col := from; col < to; col++ {
		if m := b.MultiCells(col); m != nil {
			if _, _, there := m.Row(i); there {
				d.name(col, comma)
				comma = true
				d.multiCells(m, i)
			}
			continue
		}
		c := b.Cell(col, i)
		if c.Kind() == rowgroup.CellAbsent {
			continue
		}
		d.name(col, comma)
		comma = true
		if c.Kind() == rowgroup.CellTombstone {
			d.add(`{"deleted":true`)
		} else {
			d.add(`{"value":`)
			d.cellValue(b, col, i)
		}
		d.cellMeta(b.CellMeta(col), c, i)
		d.add("}")
	}
	d.add("}")
}

// multiCells writes what row i has of a multi-cell column, which is there.
func (d *DumpWriter) multiCells(m *rowgroup.MultiCells, i int) {
	d.add("{")
	if del := m.Deletion(i); !del.Live() {
		d.deletion(`"deletion":{`, del)
		d.add("},")
	}
	d.add(`"cells":[`)
	from, to, _ := m.Row(i)
	for k := from; k < to; k++ {
		if k > from {
			d.add(",")
		}
		d.add(`{"path":`)
		d.value(m.PathType(), m.Paths.At(k))
		state := m.State(k)
		value, there := m.AppendValue(d.scratch[:0], k)
		d.scratch = value
		switch {
		case !there:
			d.add(`,"deleted":true`)
		case len(value) > 0 || !m.IsSet():
			d.add(`,"value":`)
			d.value(m.ValueType(m.Paths.At(k)), value)
		}
		d.cellMeta(m.Meta(), state, k)
		d.add("}")
	}
	d.add("]}")
}

func (d *DumpWriter) cellMeta(m *rowgroup.CellMeta, c rowgroup.Cell, i int) {
	if c&rowgroup.CellOwnTime != 0 {
		d.number(`,"write_time":`, at(m.WriteTimes, i))
	}
	switch c.Kind() {
	case rowgroup.CellLive:
		d.add(`,"live":true`)
	case rowgroup.CellExpiring:
		d.add(`,"expiring":true`)
	case rowgroup.CellTombstone:
		d.number(`,"local_deletion_time":`, at(m.Expiries, i))
		return
	}
	if c&rowgroup.CellOwnExpiry != 0 {
		d.number(`,"ttl":`, int64(at(m.TTLs, i)))
		d.number(`,"expiry":`, at(m.Expiries, i))
	}
}

func (d *DumpWriter) cellValue(b *rowgroup.Batch, col, i int) {
	if t := d.schema.Column(col).Type; b.MultiCells(col) == nil && b.Cell(col, i).HasValue() &&
		t.Physical().Class() == rowgroup.ClassBytes && i < b.Bytes(col).Len() {
		if v := b.Bytes(col).At(i); len(v) > largeValue && d.large(t, v) {
			return
		}
	}
	d.scratch = appendSerialised(d.scratch[:0], b, col, i)
	d.value(d.schema.Column(col).Type, d.scratch)
}

// largeValue is the length of values above which text is written piece by piece.
const largeValue = 1 << 20

// large writes a long blob or text as value does, without holding all of its
// text. It reports false, and writes nothing, where it does not.
func (d *DumpWriter) large(t rowgroup.Type, b []byte) bool {
	add := appendEscaped
	switch {
	case bare(t).Kind == rowgroup.KindBlob:
		d.add(`"0x`)
		add = hex.AppendEncode
	case isText(t) && utf8.Valid(b) && rowgroup.Valid(t, b) == nil:
		d.add(`"`)
	default:
		return false
	}
	for len(b) > 0 && d.err == nil {
		n := min(len(b), flushAt)
		d.buf = add(d.buf, b[:n])
		b = b[n:]
		d.err = d.flush()
	}
	d.add(`"`)
	return true
}

// value writes a serialised value.
func (d *DumpWriter) value(t rowgroup.Type, b []byte) {
	if d.Exact && len(b) > 0 && !payload(t, b) && !isReadable(t, b) {
		d.add(`{"hex":"`)
		d.buf = hex.AppendEncode(d.buf, b)
		d.add(`"}`)
		return
	}
	d.buf = AppendJSON(d.buf, t, b)
}

// isReadable reports whether a value can be read from its text, bit for bit.
func isReadable(t rowgroup.Type, b []byte) bool {
	if isText(t) {
		return true
	}
	v, err := rowgroup.ParseText(nil, t, string(rowgroup.AppendText(nil, t, b)))
	return err == nil && bytes.Equal(v, b)
}
