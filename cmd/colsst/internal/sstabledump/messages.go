package sstabledump

import (
	"encoding/hex"
	"math"
	"strconv"

	"github.com/colsst/colsst/cassandra"
	"github.com/colsst/colsst/rowgroup"
)

// messages writes a line for each partition that is deleted, row and marker, in
// the internal form.
type messages struct {
	*dumper
	key []byte // [key]@
}

func (m *messages) begin()        {}
func (m *messages) endPartition() {}
func (m *messages) end()          {}

func (m *messages) add(text string) { m.out = append(m.out, text...) }
func (m *messages) addInt(n int64)  { m.out = strconv.AppendInt(m.out, n, 10) }

func (m *messages) line(position int64) {
	m.out = append(m.out, m.key...)
	m.addInt(position)
	m.out = append(m.out, ' ')
}

func (m *messages) partition(position int64) {
	p := m.r.Partition()
	m.key = append(m.keyString(append(m.key[:0], '['), p.Key), "]@"...)
	if p.Deletion.Live() {
		return
	}
	m.line(position)
	m.deletion(p.Deletion.MarkedForDeleteAt, partitionDeletion(p.Deletion.LocalDeletionTime))
	m.add("\n")
}

func (m *messages) deletion(marked, local int64) {
	m.add("deletedAt=")
	m.addInt(marked)
	m.add(", localDeletion=")
	m.addInt(local)
}

func (m *messages) row(row *cassandra.Row, static bool, position int64) {
	m.line(position)
	m.add("Row[info=[ts=")
	if row.Liveness == rowgroup.LivenessNone {
		m.addInt(math.MinInt64)
	} else {
		m.addInt(row.Timestamp)
	}
	if row.Liveness == rowgroup.LivenessExpiring || row.Liveness == rowgroup.LivenessExpired {
		m.add(" ttl=")
		m.addInt(int64(row.TTL))
		m.add(", let=")
		m.addInt(m.times.expiry(row.ExpirationTime, row.TTL))
	}
	m.add("]")
	if row.HasDeletion && !row.Deletion.Live() {
		m.add(" del=")
		m.deletion(row.Deletion.MarkedForDeleteAt, m.times.deletion(row.Deletion.LocalDeletionTime))
		if row.Shadowable {
			m.add("(shadowable)")
		}
	}
	m.add(" ]: ")
	cols := m.regular
	if static {
		cols = m.static
		m.add("STATIC")
	}
	for i, v := range row.Clustering {
		if i > 0 {
			m.add(", ")
		}
		m.out = appendLiteral(m.out, &m.s.Header.Clustering[i].Type, v)
	}
	m.add(" | ")
	for i := range row.Cells {
		if i > 0 {
			m.add(", ")
		}
		m.cell(&row.Cells[i], &cols[row.Cells[i].Column])
	}
	first := len(row.Cells) == 0
	for i := range row.Complex {
		x := &row.Complex[i]
		if x.Deletion.Live() && len(x.Cells) == 0 {
			continue // Cassandra does not see it
		}
		if !first {
			m.add(", ")
		}
		first = false
		if !x.Deletion.Live() {
			m.add("del(")
			m.add(cols[x.Column].Name)
			m.add(")=")
			m.deletion(x.Deletion.MarkedForDeleteAt, m.times.deletion(x.Deletion.LocalDeletionTime))
		}
		for k := range x.Cells {
			m.add(", ")
			m.cell(&x.Cells[k], &cols[x.Column])
		}
	}
	m.add("\n")
}

func (m *messages) cell(x *cassandra.Cell, c *column) {
	m.add("[")
	m.add(c.Name)
	deleted := x.Kind == rowgroup.CellTombstone
	if c.value.Kind == rowgroup.KindCounter && !c.Complex && !deleted {
		n, _ := cassandra.ParseCounter(x.Value)
		m.add("=")
		m.addInt(n.Total())
		m.add(" ts=")
		m.addInt(x.Timestamp)
		m.add("]")
		return
	}
	t := c.value
	switch {
	case c.Complex && c.Type.Kind == rowgroup.KindUDT:
		t = &c.Type // Cassandra takes the field's value for one of the whole
	case c.Complex:
		m.add("[")
		m.out = c.pathText(m.out, x.Path)
		m.add("]")
	}
	m.add("=")
	if deleted {
		m.add("<tombstone>")
	} else {
		out, ok := appendString(m.out, t, x.Value)
		if !ok {
			out = hex.AppendEncode(append(m.out, "0x"...), x.Value)
		}
		m.out = out
	}
	m.add(" ts=")
	m.addInt(x.Timestamp)
	switch x.Kind {
	case rowgroup.CellExpiring:
		m.add(" ttl=")
		m.addInt(int64(x.TTL))
		m.add(" ldt=")
		m.addInt(m.times.expiry(x.LocalDeletionTime, x.TTL))
	case rowgroup.CellTombstone:
		m.add(" ldt=")
		m.addInt(m.times.expiry(x.LocalDeletionTime, 0))
	}
	m.add("]")
}

// boundNames are Cassandra's.
var boundNames = map[rowgroup.BoundKind]string{
	rowgroup.ExclEnd:          "EXCL_END_BOUND",
	rowgroup.InclStart:        "INCL_START_BOUND",
	rowgroup.ExclEndInclStart: "EXCL_END_INCL_START_BOUNDARY",
	rowgroup.InclEndExclStart: "INCL_END_EXCL_START_BOUNDARY",
	rowgroup.InclEnd:          "INCL_END_BOUND",
	rowgroup.ExclStart:        "EXCL_START_BOUND",
}

func (m *messages) marker(x *cassandra.Marker, position int64) {
	m.line(position)
	m.add("Marker ")
	m.add(boundNames[x.Kind])
	m.add("(")
	for i, v := range x.Values {
		if i > 0 {
			m.add(", ")
		}
		if v == nil {
			m.add("null")
			continue
		}
		m.out, _ = appendString(m.out, &m.s.Header.Clustering[i].Type, v)
	}
	m.add(")@")
	times := func(del rowgroup.Deletion) {
		m.addInt(del.MarkedForDeleteAt)
		m.add("/")
		m.addInt(m.times.deletion(del.LocalDeletionTime))
	}
	if x.Kind.Closes() {
		times(x.Close)
	}
	if x.Kind.Closes() && x.Kind.Opens() {
		m.add("-")
	}
	if x.Kind.Opens() {
		times(x.Open)
	}
	m.add("\n")
}
