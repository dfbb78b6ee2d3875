package cassandra

import (
	"math"
	"slices"

	"github.com/colsst/colsst/rowgroup"
)

// asRead makes of stored rows what Cassandra does when it reads them under a
// schema.
type asRead struct {
	static, regular []int64 // by column: what was written by then, µs, does not count
	signed          bool    // of a version whose deletion times are signed
}

// maxExpiry is the expiry that Cassandra 5.0 takes one for that is no time at
// all, s.
const maxExpiry = math.MaxUint32 - 1

// AsRead is s as Cassandra 5.0 reads it under the schema of t (nil: that of the
// header). Cells and deletions of columns that t does not have are hidden, and
// of those that it dropped and has again what was written up to then. Rows that
// hold nothing (any more) are hidden. An expiry that is negative or less than
// its TTL, as a clock past 2038 made it in older versions, is the latest there
// can be.
func (s *Source) AsRead(t *Table) *Source {
	h := s.sst.Header
	a := &asRead{signed: !s.sst.Version.unsignedDeletionTimes()}
	limits := func(cols []Column, static bool) []int64 {
		list := make([]int64, len(cols))
		for i := range cols {
			list[i] = math.MinInt64
			if t == nil {
				continue
			}
			if c, _, dropped := t.lookup(cols[i].Name); c == nil || dropped {
				list[i] = math.MaxInt64
				continue
			}
			for _, d := range t.Dropped {
				if d.Name == cols[i].Name && d.Static == static {
					list[i] = max(list[i], d.At)
				}
			}
		}
		return list
	}
	a.static, a.regular = limits(h.Static, true), limits(h.Regular, false)
	x := *s
	x.asRead = a
	return &x
}

// row changes a row and reports whether anything is left of it. It may be nil:
// then rows are as they are stored.
func (a *asRead) row(row *Row, static bool) (some bool) {
	if a == nil {
		return true
	}
	limits := a.regular
	if static {
		limits = a.static
	}
	row.ExpirationTime = a.expiry(row.ExpirationTime, row.TTL, row.Liveness == rowgroup.LivenessExpiring)
	row.Cells = a.cells(row.Cells, limits)
	for i := range row.Complex {
		x := &row.Complex[i]
		x.Cells = a.cells(x.Cells, limits)
		if x.Deletion.MarkedForDeleteAt <= limits[x.Column] {
			x.Deletion.MarkedForDeleteAt = rowgroup.NoDeletion
		}
	}
	row.Complex = slices.DeleteFunc(row.Complex, func(x ComplexColumn) bool { return len(x.Cells) == 0 && x.Deletion.Live() })
	return holds(row)
}

// cells leaves those that count.
func (a *asRead) cells(cells []Cell, limits []int64) []Cell {
	n := 0
	for i := range cells {
		c := &cells[i]
		if c.Timestamp <= limits[c.Column] && limits[c.Column] != math.MinInt64 {
			continue
		}
		c.LocalDeletionTime = a.expiry(c.LocalDeletionTime, c.TTL, c.Kind == rowgroup.CellExpiring)
		cells[n] = *c
		n++
	}
	return cells[:n]
}

func (a *asRead) expiry(at int64, ttl int32, expiring bool) int64 {
	if expiring && a.signed && (at < 0 || at < int64(ttl)) {
		return maxExpiry
	}
	return at
}
