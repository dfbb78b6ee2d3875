package rowgroup

import "github.com/colsst/colsst/encoding/bytestrings"

// Cut leaves of b partition p and of its unfiltereds [from, to), moved to the
// beginning. It allocates nothing.
func (b *Batch) Cut(p, from, to int) {
	n := b.Len()
	if parts := len(b.parts); parts > 1 {
		head := b.parts[p]
		head.Start = 0
		b.parts = append(b.parts[:0], head)
		cutStrings(&b.keys, p, p+1)
		for i := b.schema.from[Static]; i < b.schema.from[Regular]; i++ {
			b.vecs[i].cut(p, p+1)
		}
		b.static.cut(p, p+1)
	}
	if from == 0 && to == n {
		return
	}
	for i := b.schema.from[Clustering]; i < len(b.vecs); i++ {
		if i < b.schema.from[Static] || i >= b.schema.from[Regular] {
			b.vecs[i].cut(from, to)
		}
	}
	b.meta.cut(from, to)
	kept := b.markers[:0]
	for _, m := range between(b.markers, from, to, markerRow) {
		m.Row -= from
		kept = append(kept, m)
	}
	b.markers = kept
	if b.n != 0 {
		b.n = to - from
	}
}

func (v *vector) cut(from, to int) {
	if v.multi != nil {
		v.multi.cut(from, to)
		return
	}
	switch v.class {
	case ClassInt32:
		v.i32 = cutTo(v.i32, from, to)
	case ClassInt64:
		v.i64 = cutTo(v.i64, from, to)
	case ClassFloat32:
		v.f32 = cutTo(v.f32, from, to)
	case ClassFloat64:
		v.f64 = cutTo(v.f64, from, to)
	default:
		cutStrings(&v.str, from, to)
	}
	v.Cells = cutTo(v.Cells, from, to)
	v.WriteTimes = cutTo(v.WriteTimes, from, to)
	v.TTLs = cutTo(v.TTLs, from, to)
	v.Expiries = cutTo(v.Expiries, from, to)
	kept := v.Exceptions[:0]
	for _, e := range between(v.Exceptions, from, to, exceptionRow) {
		e.Row -= from
		kept = append(kept, e)
	}
	v.Exceptions = kept
}

func cutStrings(s *bytestrings.Strings, from, to int) {
	if s.Len() == 0 {
		return
	}
	s.Truncate(to)
	if from == 0 {
		return
	}
	at := s.Ends[from-1]
	s.Data = s.Data[:copy(s.Data, s.Data[at:])]
	s.Ends = s.Ends[:copy(s.Ends, s.Ends[from:])]
	for i := range s.Ends {
		s.Ends[i] -= at
	}
}

func (m *RowMeta) cut(from, to int) {
	m.Liveness = cutTo(m.Liveness, from, to)
	m.WriteTimes = cutTo(m.WriteTimes, from, to)
	m.TTLs = cutTo(m.TTLs, from, to)
	m.Expiries = cutTo(m.Expiries, from, to)
	kept := m.Deletions[:0]
	for _, d := range between(m.Deletions, from, to, deletionRow) {
		d.Row -= from
		kept = append(kept, d)
	}
	m.Deletions = kept
}

// cutTo leaves s[from:to], at its beginning. An empty slice stays so.
func cutTo[T any](s []T, from, to int) []T {
	if len(s) == 0 {
		return s
	}
	if from == 0 {
		return s[:to]
	}
	return s[:copy(s, s[from:to])]
}

// Swap exchanges what b and o hold; both are of one schema.
func (b *Batch) Swap(o *Batch) { *b, *o = *o, *b }

// SetKey gives the first partition of b another key, which the batch copies.
// It fails if the keys would pass 4 GiB.
func (b *Batch) SetKey(key []byte) error {
	if b.keys.Len() == 1 {
		b.keys.Reset()
		return b.keys.Append(key)
	}
	var keys bytestrings.Strings
	if err := keys.Append(key); err != nil {
		return err
	}
	if err := keys.AppendFrom(&b.keys, 1, b.keys.Len()); err != nil {
		return err
	}
	b.keys = keys
	return nil
}
