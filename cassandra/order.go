package cassandra

import (
	"bytes"
	"cmp"

	"github.com/colsst/colsst/rowgroup"
)

// compareValues compares clustering values of equal number: null first, then
// by type. known is false where it came to a type without order.
func compareValues(cols []Column, a, b [][]byte) (c int, known bool) {
	for i := range a {
		x, y := a[i], b[i]
		switch {
		case x == nil || y == nil:
			c = cmp.Compare(notNil(x), notNil(y))
		case !cols[i].Type.Ordered():
			if bytes.Equal(x, y) {
				continue
			}
			return 0, false
		default:
			c = cols[i].Type.Collate(x, y)
		}
		if c != 0 {
			return c, true
		}
	}
	return 0, true
}

func notNil(b []byte) int {
	if b == nil {
		return 0
	}
	return 1
}

// weight places a prefix among the clusterings that begin with it.
func weight(k rowgroup.BoundKind) int {
	switch {
	case k < kindStatic:
		return -1
	case k > kindClustering:
		return 1
	}
	return 0
}

// comparePrefixes is the order of unfiltereds in a partition: by the values
// that both have; then bounds stand before or after what begins with them.
func comparePrefixes(cols []Column, a, b Prefix) (c int, known bool) {
	n := min(len(a.Values), len(b.Values))
	if c, known = compareValues(cols, a.Values[:n], b.Values[:n]); c != 0 || !known {
		return c, known
	}
	switch {
	case len(a.Values) == len(b.Values):
		return cmp.Compare(weight(a.Kind), weight(b.Kind)), true
	case len(a.Values) < len(b.Values):
		return weight(a.Kind), true
	}
	return -weight(b.Kind), true
}

// prefixOf is the prefix of the unfiltered that r has just read. It aliases r.
func prefixOf(e Event, r *BodyReader) Prefix {
	if e == RangeMarker {
		return r.marker.Bound
	}
	return Prefix{kindClustering, r.row.Clustering}
}

// keep copies p into dst's memory.
func (p Prefix) keep(dst *Prefix) {
	dst.Kind = p.Kind
	values := dst.Values[:cap(dst.Values)]
	for len(values) < len(p.Values) {
		values = append(values, nil)
	}
	dst.Values = values[:len(p.Values)]
	for i, v := range p.Values {
		if v == nil {
			dst.Values[i] = nil
			continue
		}
		if dst.Values[i] == nil {
			dst.Values[i] = []byte{}
		}
		dst.Values[i] = append(dst.Values[i][:0], v...)
	}
}
