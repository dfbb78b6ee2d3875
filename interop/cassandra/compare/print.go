package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/colsst/colsst/cassandra"
	"github.com/colsst/colsst/rowgroup"
)

// printTable writes the events of an SSTable in the lines that README.md of the
// folder above describes, as java/Dump.java does.
func printTable(out io.Writer, s *cassandra.SSTable) (err error) {
	r, err := s.Scan()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var p printer
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		p.text = p.text[:0]
		switch e {
		case cassandra.PartitionBegin:
			p.addf("partition x%x", r.Partition().Key)
			p.deletion("deleted", r.Partition().Deletion)
			p.addf("\n")
		case cassandra.StaticRow:
			p.row("static", r.Row(), s.Header.Static)
		case cassandra.ClusteringRow:
			p.row("row", r.Row(), s.Header.Regular)
		case cassandra.RangeMarker:
			p.marker(r.Marker())
		}
		if _, err := out.Write(p.text); err != nil {
			return err
		}
	}
}

// printer makes the lines of an event.
type printer struct{ text []byte }

func (p *printer) addf(format string, args ...any) {
	p.text = fmt.Appendf(p.text, format, args...)
}

func (p *printer) values(values [][]byte) {
	for _, v := range values {
		if v == nil {
			p.addf(" null")
		} else {
			p.addf(" x%x", v)
		}
	}
}

func (p *printer) deletion(what string, d rowgroup.Deletion) {
	if !d.Live() {
		p.addf(" %s %d %d", what, d.MarkedForDeleteAt, d.LocalDeletionTime)
	}
}

func (p *printer) marker(m *cassandra.Marker) {
	p.addf("marker %s", map[rowgroup.BoundKind]string{
		rowgroup.ExclEnd:          "EXCL_END_BOUND",
		rowgroup.InclStart:        "INCL_START_BOUND",
		rowgroup.ExclEndInclStart: "EXCL_END_INCL_START_BOUNDARY",
		rowgroup.InclEndExclStart: "INCL_END_EXCL_START_BOUNDARY",
		rowgroup.InclEnd:          "INCL_END_BOUND",
		rowgroup.ExclStart:        "EXCL_START_BOUND",
	}[m.Kind])
	p.values(m.Values)
	p.deletion("close", m.Close)
	p.deletion("open", m.Open)
	p.addf("\n")
}

// row prints a row, unless it holds nothing: Cassandra passes over such rows.
func (p *printer) row(what string, r *cassandra.Row, cols []cassandra.Column) {
	p.addf("%s", what)
	p.values(r.Clustering)
	bare := len(p.text)
	if r.Liveness != rowgroup.LivenessNone {
		p.addf(" at %d", r.Timestamp)
		if r.Liveness != rowgroup.LivenessLive {
			p.addf(" ttl %d until %d", r.TTL, r.ExpirationTime)
		}
	}
	p.deletion("deleted", r.Deletion)
	if r.Shadowable {
		p.addf(" shadowable")
	}
	head := len(p.text)
	p.addf("\n")
	lines := len(p.text)
	for i := range r.Cells {
		p.addf(" cell x%x", cols[r.Cells[i].Column].Name)
		p.cell(&r.Cells[i])
	}
	for _, x := range r.Complex {
		if x.Deletion.Live() && len(x.Cells) == 0 {
			continue
		}
		p.addf(" complex x%x", cols[x.Column].Name)
		p.deletion("deleted", x.Deletion)
		p.addf("\n")
		for i := range x.Cells {
			p.addf("  cell x%x", x.Cells[i].Path)
			p.cell(&x.Cells[i])
		}
	}
	if head == bare && len(p.text) == lines {
		p.text = p.text[:0]
	}
}

func (p *printer) cell(c *cassandra.Cell) {
	p.addf(" at %d", c.Timestamp)
	switch c.Kind {
	case rowgroup.CellExpiring:
		p.addf(" ttl %d until %d", c.TTL, c.LocalDeletionTime)
	case rowgroup.CellTombstone:
		p.addf(" deleted %d", c.LocalDeletionTime)
	}
	p.addf(" x%x\n", c.Value)
}
