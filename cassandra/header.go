package cassandra

import (
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// What the minima of a header count from: 2015-09-22 UTC.
const (
	timestampEpoch    = 1442880000000000 // µs
	deletionTimeEpoch = 1442880000       // s
)

// Header is the component HEADER of Statistics.db: the columns, and what the
// numbers of the body are added to.
//
//	vint    least timestamp - 2015-09-22, µs
//	vint    least local deletion time - 2015-09-22, s
//	vint    least TTL
//	vbytes  type of the partition key
//	vint    clustering columns, each vbytes type
//	vint    static columns, each vbytes name, vbytes type
//	vint    regular columns, likewise
//
// The differences wrap around: a negative one is a vint of 9 bytes.
type Header struct {
	MinTimestamp         int64
	MinLocalDeletionTime int64 // the low 32 bits count
	MinTTL               int64 // the low 32 bits count

	Key        Column // CompositeType(...) where the key has several columns
	Clustering []Column
	Static     []Column // in the order of their cells in a row
	Regular    []Column // in the order of their cells in a row
}

// ParseHeader reads the component HEADER.
func ParseHeader(b []byte) (*Header, error) {
	c := cursor{b: b}
	h := &Header{
		MinTimestamp:         int64(c.vint() + timestampEpoch),
		MinLocalDeletionTime: int64(c.vint() + deletionTimeEpoch),
		MinTTL:               int64(c.vint()),
	}
	var err error
	if h.Key, err = newColumn("", string(c.vbytes())); err != nil {
		return nil, c.why(err)
	}
	h.Clustering = make([]Column, c.count(c.vint(), 1))
	for i := range h.Clustering {
		if h.Clustering[i], err = newColumn("", string(c.vbytes())); err != nil {
			return nil, c.why(err)
		}
	}
	for _, list := range []*[]Column{&h.Static, &h.Regular} {
		*list = make([]Column, c.count(c.vint(), 2))
		seen := make(map[string]bool, len(*list))
		for i := range *list {
			name := string(c.vbytes())
			if (*list)[i], err = newColumn(name, string(c.vbytes())); err != nil {
				return nil, c.why(err)
			}
			if seen[name] {
				return nil, encoding.Corruptf("HEADER", "column %s twice", quote(name))
			}
			seen[name] = true
			(*list)[i].Complex = (*list)[i].Type.MultiCell()
		}
		sortColumns(*list)
	}
	if c.short || c.left() > 0 {
		return nil, encoding.Corruptf("HEADER", "%d bytes left, or too few", c.left())
	}
	if n := len(h.Clustering) + len(h.Static) + len(h.Regular); n > encoding.MaxColumns {
		return nil, encoding.Corruptf("HEADER", "%d columns; the limit is %d", n, encoding.MaxColumns)
	}
	return h, nil
}

// why is err, or that the bytes ended, which is what err came of.
func (c *cursor) why(err error) error {
	if c.short {
		return encoding.Corruptf("HEADER", "ends too early")
	}
	return err
}

// Append appends the bytes of the component, with columns in the order that
// Cassandra gives them.
func (h *Header) Append(dst []byte) []byte {
	dst = appendVint(dst, uint64(h.MinTimestamp)-timestampEpoch)
	dst = appendVint(dst, uint64(h.MinLocalDeletionTime)-deletionTimeEpoch)
	dst = appendVint(dst, uint64(h.MinTTL))
	dst = appendVbytes(dst, []byte(h.Key.TypeText))
	dst = appendVint(dst, uint64(len(h.Clustering)))
	for i := range h.Clustering {
		dst = appendVbytes(dst, []byte(h.Clustering[i].TypeText))
	}
	for _, list := range [][]Column{h.Static, h.Regular} {
		dst = appendVint(dst, uint64(len(list)))
		for i := range list {
			dst = appendVbytes(dst, []byte(list[i].Name))
			dst = appendVbytes(dst, []byte(list[i].TypeText))
		}
	}
	return dst
}

// HasMultiCellUDTs reports whether static or regular columns are user types
// without FrozenType around: multi-cell columns, unless a Cassandra before
// 3.0.19 wrote the header, which left FrozenType out.
func (h *Header) HasMultiCellUDTs() bool {
	for _, list := range [][]Column{h.Static, h.Regular} {
		for i := range list {
			if list[i].Type.Kind == rowgroup.KindUDT {
				return true
			}
		}
	}
	return false
}

// WithFrozenUDTs is h with FrozenType around the types of such columns. It
// shares what does not change.
func (h *Header) WithFrozenUDTs() *Header {
	f := *h
	for _, list := range []*[]Column{&f.Static, &f.Regular} {
		cols := make([]Column, len(*list))
		for i, c := range *list {
			if c.Type.Kind == rowgroup.KindUDT {
				c = c.frozen()
			}
			cols[i] = c
		}
		sortColumns(cols)
		*list = cols
	}
	return &f
}
