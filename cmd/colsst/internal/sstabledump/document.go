package sstabledump

import (
	"encoding/binary"
	"strconv"

	"github.com/colsst/colsst/cassandra"
	"github.com/colsst/colsst/rowgroup"
)

// document writes JSON.
type document struct {
	*dumper
	*layout
	some bool // a partition has been written
}

// layout is what stands before the parts of a row that most rows have, and at
// the end of compact objects.
type layout struct {
	row, clustering, liveness, cells, end string
}

var (
	lineLayout = layout{
		row: `{"type":"row","position":`, clustering: `,"clustering":[`,
		liveness: `,"liveness_info":{"tstamp":`, cells: `,"cells":[`, end: "}",
	}
	prettyLayout = layout{
		row:        "{\n        \"type\" : \"row\",\n        \"position\" : ",
		clustering: ",\n        \"clustering\" : [",
		liveness:   ",\n        \"liveness_info\" : { \"tstamp\" : ",
		cells:      ",\n        \"cells\" : [",
		end:        " }",
	}
)

func newDocument(d *dumper) *document {
	if d.lines {
		return &document{dumper: d, layout: &lineLayout}
	}
	return &document{dumper: d, layout: &prettyLayout}
}

// begun takes it that the beginning of an object, or array, with so many members
// has been written.
func (d *document) begun(l level) {
	d.stack = append(d.stack, l)
}

func (d *document) begin() {
	if !d.lines {
		d.open(true)
	}
}

func (d *document) end() {
	if !d.lines {
		d.close()
	}
}

// keyOf writes the columns of a partition key.
func (d *document) keyOf(key []byte) {
	d.objects, d.arrays = true, true
	d.open(true)
	element := func(t *rowgroup.Type, b []byte) {
		d.buf, _ = appendString(d.buf[:0], t, b)
		d.text(d.buf)
	}
	if d.key.Kind == rowgroup.KindComposite {
		for i := range d.key.Args {
			v, end, rest, ok := component(key)
			if !ok {
				break
			}
			if element(&d.key.Args[i], v); end != 0 {
				break
			}
			key = rest
		}
	} else {
		element(d.key, key)
	}
	d.close()
	d.objects, d.arrays = false, false
}

func (d *document) partition(position int64) {
	p := d.r.Partition()
	if d.o.KeysOnly {
		d.keyOf(p.Key)
		return
	}
	if d.lines && d.some {
		d.out = append(d.out, '\n')
	}
	d.some = true
	d.open(false)
	d.name("table kind")
	d.plain("REGULAR")
	d.name("partition")
	d.open(false)
	d.name("key")
	d.keyOf(p.Key)
	d.name("position")
	d.number(position)
	if !p.Deletion.Live() {
		d.deletion(p.Deletion.MarkedForDeleteAt, partitionDeletion(p.Deletion.LocalDeletionTime))
	}
	d.close()
	d.name("rows")
	d.open(true)
}

func (d *document) endPartition() {
	d.close() // of the rows
	d.close()
}

func (d *document) row(row *cassandra.Row, static bool, position int64) {
	cols := d.regular
	d.value()
	if static {
		cols = d.static
		d.begun(level{})
		d.out = append(d.out, '{')
		d.name("type")
		d.plain("static_block")
		d.name("position")
		d.number(position)
	} else {
		d.out = strconv.AppendInt(append(d.out, d.layout.row...), position, 10)
		d.begun(level{n: 2})
		d.clusteringOf(row.Clustering)
	}
	if row.Liveness != rowgroup.LivenessNone {
		d.out = append(d.out, d.layout.liveness...)
		d.named = true
		d.micros(row.Timestamp)
		if row.Liveness != rowgroup.LivenessLive {
			expiry := d.times.expiry(row.ExpirationTime, row.TTL)
			d.begun(level{n: 1})
			d.objects = true
			d.name("ttl")
			d.number(int64(row.TTL))
			d.name("expires_at")
			d.seconds(expiry)
			d.name("expired")
			d.boolean(expiry < d.o.Now)
			d.stack = d.stack[:len(d.stack)-1]
			d.objects = false
		}
		d.out = append(d.out, d.layout.end...)
	}
	if row.HasDeletion && !row.Deletion.Live() {
		d.deletion(row.Deletion.MarkedForDeleteAt, d.times.deletion(row.Deletion.LocalDeletionTime))
	}
	d.out = append(d.out, d.layout.cells...)
	d.begun(level{array: true})
	for i := range row.Cells {
		d.cell(row, &row.Cells[i], &cols[row.Cells[i].Column])
	}
	for i := range row.Complex {
		x := &row.Complex[i]
		c := &cols[x.Column]
		if !x.Deletion.Live() {
			d.objects = true
			d.open(false)
			d.name("name")
			d.raw(c.quoted)
			d.deletion(x.Deletion.MarkedForDeleteAt, d.times.deletion(x.Deletion.LocalDeletionTime))
			d.objects = true
			d.close()
			d.objects = false
		}
		for k := range x.Cells {
			d.cell(row, &x.Cells[k], c)
		}
	}
	d.close()
	d.close()
}

// json writes a value that has been begun.
func (d *document) json(t *rowgroup.Type, b []byte) {
	if t = bare(t); t.Kind != rowgroup.KindTimestamp || len(b) != 8 {
		d.out = appendJSON(d.out, t, b)
		return
	}
	d.out = append(d.millis.appendMillis(append(d.out, '"'), int64(binary.BigEndian.Uint64(b))), '"')
}

// cell writes a cell. Behind a deletion_info its members are on lines of their
// own.
func (d *document) cell(row *cassandra.Row, x *cassandra.Cell, c *column) {
	if c.head != "" && x.Kind != rowgroup.CellTombstone {
		d.value()
		d.out = append(d.out, c.head...)
		d.json(c.value, x.Value)
		if row.Liveness != rowgroup.LivenessNone && x.Timestamp == row.Timestamp && (x.Kind != rowgroup.CellExpiring || x.TTL == row.TTL) {
			d.out = append(d.out, d.layout.end...)
			return
		}
		d.begun(level{n: 2})
		d.objects = true
		d.endCell(row, x)
		return
	}
	d.open(false)
	d.objects = true
	d.name("name")
	d.raw(c.quoted)
	if c.Complex {
		d.name("path")
		d.arrays = true
		d.open(true)
		d.buf = c.pathText(d.buf[:0], x.Path)
		d.text(d.buf)
		d.close()
		d.arrays = false
	}
	if x.Kind == rowgroup.CellTombstone {
		d.name("deletion_info")
		d.open(false)
		d.name("local_delete_time")
		d.seconds(d.times.expiry(x.LocalDeletionTime, 0))
		d.close()
		d.objects = false
	} else {
		d.name("value")
		d.value()
		d.json(c.valueType(x.Path), x.Value)
	}
	d.endCell(row, x)
}

// endCell writes of a cell what its row does not say.
func (d *document) endCell(row *cassandra.Row, x *cassandra.Cell) {
	live := row.Liveness != rowgroup.LivenessNone
	if !live || x.Timestamp != row.Timestamp {
		d.name("tstamp")
		d.micros(x.Timestamp)
	}
	if x.Kind == rowgroup.CellExpiring && (!live || x.TTL != row.TTL) {
		expiry := d.times.expiry(x.LocalDeletionTime, x.TTL)
		d.name("ttl")
		d.number(int64(x.TTL))
		d.name("expires_at")
		d.seconds(expiry)
		d.name("expired")
		d.boolean(d.expired(expiry))
	}
	d.close()
	d.objects = false
}

func (d *document) marker(m *cassandra.Marker, _ int64) {
	d.open(false)
	d.name("type")
	if m.Kind.Opens() && m.Kind.Closes() {
		d.plain("range_tombstone_boundary")
	} else {
		d.plain("range_tombstone_bound")
	}
	if m.Kind.Opens() {
		d.bound("start", m.Kind == rowgroup.InclStart || m.Kind == rowgroup.ExclEndInclStart, m.Values, m.Open)
	}
	if m.Kind.Closes() {
		d.bound("end", m.Kind == rowgroup.InclEnd || m.Kind == rowgroup.InclEndExclStart, m.Values, m.Close)
	}
	d.close()
	d.objects = false
}

func (d *document) bound(name string, inclusive bool, values [][]byte, del rowgroup.Deletion) {
	d.name(name)
	d.open(false)
	d.name("type")
	d.plain([2]string{"exclusive", "inclusive"}[b2i(inclusive)])
	if len(values) > 0 {
		d.name("clustering")
		d.open(true)
		d.clusteringValues(values)
	}
	d.deletion(del.MarkedForDeleteAt, d.times.deletion(del.LocalDeletionTime))
	d.close()
}

// clusteringOf writes clustering values as a member that is not the first.
func (d *document) clusteringOf(values [][]byte) {
	if len(values) == 0 {
		return
	}
	d.out = append(d.out, d.layout.clustering...)
	d.begun(level{array: true})
	d.clusteringValues(values)
}

func (d *document) clusteringValues(values [][]byte) {
	d.arrays = true
	for i := range d.s.Header.Clustering {
		switch {
		case i >= len(values):
			d.plain("*")
		case values[i] == nil:
			d.raw("null")
		default:
			d.value()
			d.json(&d.s.Header.Clustering[i].Type, values[i])
		}
	}
	d.close()
	d.objects, d.arrays = false, false
}

func (d *document) deletion(marked, local int64) {
	d.name("deletion_info")
	d.objects = true
	d.open(false)
	d.name("marked_deleted")
	d.micros(marked)
	d.name("local_delete_time")
	d.seconds(local)
	d.close()
	d.objects = false
}
