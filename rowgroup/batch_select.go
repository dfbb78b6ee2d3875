package rowgroup

import (
	"slices"

	"github.com/colsst/colsst/encoding/bytestrings"
)

// keep leaves of b the unfiltereds at the positions of sel, which ascend, and
// moves them together, in place. Partitions stay, also those left empty.
func (b *Batch) keep(sel []int32) {
	n := 0
	for p := range b.parts {
		for n < len(sel) && int(sel[n]) < b.parts[p].Start {
			n++
		}
		b.parts[p].Start = n
	}
	for i := b.schema.from[Clustering]; i < len(b.vecs); i++ {
		if i < b.schema.from[Static] || i >= b.schema.from[Regular] {
			b.vecs[i].keep(sel)
		}
	}
	b.meta.keep(sel)
	kept := b.markers[:0]
	next := 0
	for _, m := range b.markers {
		if row, ok := selected(sel, &next, m.Row); ok {
			m.Row = row
			kept = append(kept, m)
		}
	}
	b.markers = kept
	if b.n != 0 {
		b.n = len(sel)
	}
}

// keepPartitions leaves of b the partitions at the positions of sel, which
// ascend. Those that go must have no unfiltereds.
func (b *Batch) keepPartitions(sel []int32) {
	b.parts = keepAt(b.parts, sel)
	keepStrings(&b.keys, sel)
	for i := b.schema.from[Static]; i < b.schema.from[Regular]; i++ {
		b.vecs[i].keep(sel)
	}
	b.static.keep(sel)
}

func (v *vector) keep(sel []int32) {
	if v.multi != nil {
		v.multi.keep(sel)
		return
	}
	v.i32 = keepAt(v.i32, sel)
	v.i64 = keepAt(v.i64, sel)
	v.f32 = keepAt(v.f32, sel)
	v.f64 = keepAt(v.f64, sel)
	keepStrings(&v.str, sel)
	v.Cells = keepAt(v.Cells, sel)
	v.WriteTimes = keepAt(v.WriteTimes, sel)
	v.TTLs = keepAt(v.TTLs, sel)
	v.Expiries = keepAt(v.Expiries, sel)
	kept := v.Exceptions[:0]
	next := 0
	for _, e := range v.Exceptions {
		if row, ok := selected(sel, &next, e.Row); ok {
			e.Row = row
			kept = append(kept, e)
		}
	}
	v.Exceptions = kept
}

func (m *RowMeta) keep(sel []int32) {
	m.Liveness = keepAt(m.Liveness, sel)
	m.WriteTimes = keepAt(m.WriteTimes, sel)
	m.TTLs = keepAt(m.TTLs, sel)
	m.Expiries = keepAt(m.Expiries, sel)
	kept := m.Deletions[:0]
	next := 0
	for _, d := range m.Deletions {
		if row, ok := selected(sel, &next, d.Row); ok {
			d.Row = row
			kept = append(kept, d)
		}
	}
	m.Deletions = kept
}

// selected is the place of row in sel, if it is there. Over calls with rows
// that ascend, next walks through sel.
func selected(sel []int32, next *int, row int) (place int, ok bool) {
	for *next < len(sel) && int(sel[*next]) < row {
		*next++
	}
	return *next, *next < len(sel) && int(sel[*next]) == row
}

// keepAt moves the elements of s at the positions of sel together, in place.
// An empty slice, which stands for zeros, stays so.
func keepAt[T any](s []T, sel []int32) []T {
	if len(s) == 0 {
		return s
	}
	for i, j := range sel {
		s[i] = s[j]
	}
	return s[:len(sel)]
}

// keepStrings is keepAt for byte strings.
func keepStrings(s *bytestrings.Strings, sel []int32) {
	if s.Len() == 0 {
		return
	}
	n := uint32(0)
	for i, j := range sel {
		n += uint32(copy(s.Data[n:], s.At(int(j))))
		s.Ends[i] = n
	}
	s.Truncate(len(sel))
}

// Strip empties what the reader of a batch did not ask for: the columns that
// are not among o's, and metadata.
func (b *Batch) Strip(o *ScanOptions) {
	if o.Columns == nil && !o.WithoutMetadata {
		return
	}
	n := b.Len()
	for i := b.schema.from[Static]; i < len(b.vecs); i++ {
		v := &b.vecs[i]
		if o.WithoutMetadata {
			m := &v.CellMeta
			if v.multi != nil {
				m, v.multi.Deletions = v.multi.Meta(), v.multi.Deletions[:0]
			}
			m.WriteTimes, m.TTLs, m.Expiries = m.WriteTimes[:0], m.TTLs[:0], m.Expiries[:0]
		}
		if o.Columns != nil && !slices.Contains(o.Columns, i) {
			v.reset()
		}
	}
	if o.WithoutMetadata {
		for _, m := range []*RowMeta{&b.meta, &b.static} {
			m.WriteTimes, m.TTLs, m.Expiries = m.WriteTimes[:0], m.TTLs[:0], m.Expiries[:0]
			m.Liveness, m.Deletions = m.Liveness[:0], m.Deletions[:0]
		}
	}
	b.SetLen(n)
}
