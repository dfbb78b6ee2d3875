package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

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
	p.statistics(s)
	if _, err := out.Write(p.text); err != nil {
		return err
	}
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

func (p *printer) statistics(s *cassandra.SSTable) {
	x := s.Statistics.Stats
	local := func(t int64) string {
		if t == s.Version.NoDeletionTime() {
			return "none"
		}
		return strconv.FormatInt(t, 10)
	}
	p.addf("statistics at %d %d until %s %s ttl %d %d rows %d cells %d level %d repaired %d host %s\n",
		x.MinTimestamp, x.MaxTimestamp, local(x.MinLocalDeletionTime), local(x.MaxLocalDeletionTime), x.MinTTL, x.MaxTTL,
		x.TotalRows, x.TotalColumnsSet, x.Level, x.RepairedAt, uuid(x.OriginatingHost))
	p.histogram("sizes", x.PartitionSizes)
	p.histogram("counts", x.CellsPerPartition)
	if x.FirstKey == nil { // before oa
		return
	}
	p.addf("covers %s", kinds[x.CoveredStart.Kind])
	p.values(x.CoveredStart.Values)
	p.addf(" %s", kinds[x.CoveredEnd.Kind])
	p.values(x.CoveredEnd.Values)
	p.addf("\nkeys x%x x%x deletions %t share %x\ntombstones", x.FirstKey, x.LastKey, x.HasPartitionLevelDeletions, math.Float64bits(x.TokenSpaceCoverage))
	for _, b := range x.Tombstones {
		p.addf(" %d:%d", int64(b.Point), b.Count)
	}
	p.addf("\n")
}

// histogram prints the buckets that hold something. The offset of each is that
// of the bucket before: a bucket reaches from there to its own.
func (p *printer) histogram(what string, buckets []cassandra.Bucket) {
	p.addf("%s", what)
	for i, b := range buckets {
		switch {
		case b.Count == 0:
		case i == len(buckets)-1:
			p.addf(" beyond:%d", b.Count)
		default:
			p.addf(" %d:%d", buckets[i+1].Offset, b.Count)
		}
	}
	p.addf("\n")
}

func uuid(b []byte) string {
	if b == nil {
		return "null"
	}
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
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

// kinds are Cassandra's names.
var kinds = map[rowgroup.BoundKind]string{
	rowgroup.ExclEnd:          "EXCL_END_BOUND",
	rowgroup.InclStart:        "INCL_START_BOUND",
	rowgroup.ExclEndInclStart: "EXCL_END_INCL_START_BOUNDARY",
	rowgroup.InclEndExclStart: "INCL_END_EXCL_START_BOUNDARY",
	rowgroup.InclEnd:          "INCL_END_BOUND",
	rowgroup.ExclStart:        "EXCL_START_BOUND",
}

func (p *printer) marker(m *cassandra.Marker) {
	p.addf("marker %s", kinds[m.Kind])
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
