package parquetfmt

import (
	"fmt"

	"github.com/parquet-go/parquet-go/bloom"
	"github.com/parquet-go/parquet-go/format"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/parquetfmt/internal/page"
	"github.com/colsst/colsst/rowgroup"
)

// wanted are the rows of a row group that can be in what a scan asks for, by
// statistics, Bloom filters and the page index. The rows of a lossless file
// depend on others before them, so that only whole files are read there.
func (s *scan) wanted(group int) ([]rowRange, error) {
	g := &s.f.meta.RowGroups[group]
	ranges := []rowRange{{0, g.NumRows}}
	if g.NumRows == 0 {
		return nil, nil
	}
	if s.f.plan.lossless {
		return ranges, nil
	}
	if !s.all {
		key, err := rowgroup.SplitKey(s.f.schema.KeyTypes(), s.key)
		if err != nil {
			return nil, nil // no such key
		}
		for i, v := range key {
			r := rowgroup.ValueRange{Column: i, Min: v, Max: v}
			if ranges, err = s.prune(g, group, ranges, &r, true); err != nil || len(ranges) == 0 {
				return nil, err
			}
		}
	}
	for i := range s.o.Within {
		var err error
		if ranges, err = s.prune(g, group, ranges, &s.o.Within[i], false); err != nil || len(ranges) == 0 {
			return nil, err
		}
	}
	return ranges, nil
}

// ordered reports whether the order of a shape's type is that of Parquet's
// statistics. That of floats is, but for NaNs, of which statistics are silent.
func (s *shape) ordered() bool {
	if !s.flat() {
		return false
	}
	switch s.form {
	case formInt32, formBool, formInt64, formUint32, formSeconds, formText, formBytes:
		switch s.typ.Kind {
		case rowgroup.KindOldDate, rowgroup.KindComposite, rowgroup.KindOpaque, rowgroup.KindEmpty, rowgroup.KindTuple, rowgroup.KindUDT:
			return false
		}
		return true
	case formFixed:
		return s.typ.Kind == rowgroup.KindFixed || s.typ.Kind == rowgroup.KindNumeric
	case formUnscaled:
		return s.node.typ != format.ByteArray // whose bounds may be cut
	}
	return false
}

// prune leaves out of ranges what has no value in r; of a key, which is one
// value, also by the Bloom filter.
func (s *scan) prune(g *format.RowGroup, group int, ranges []rowRange, r *rowgroup.ValueRange, key bool) ([]rowRange, error) {
	x := s.f.plan.columns[r.Column]
	if !x.flat() {
		return ranges, nil
	}
	c := &g.Columns[x.leaf]
	fail := func(what string, err error) error {
		return fmt.Errorf("row group %d, column %s: %s: %w", group, x.node, what, err)
	}
	if x.ordered() {
		st := &c.MetaData.Statistics
		if st.MinValue != nil && st.MaxValue != nil && outside(x, st.MinValue, st.MaxValue, r) {
			return nil, nil
		}
	}
	if key {
		there, err := s.f.inFilter(&c.MetaData, x, r.Min)
		if err != nil {
			return nil, fail("Bloom filter", err)
		}
		if !there {
			return nil, nil
		}
	}
	if !x.ordered() {
		return ranges, nil
	}
	index, err := s.f.columnIndex(c)
	if err != nil {
		return nil, fail("column index", err)
	}
	if index == nil {
		return ranges, nil
	}
	pages, err := s.f.offsetIndex(c)
	if err != nil {
		return nil, fail("offset index", err)
	}
	n := len(pages)
	if n == 0 {
		return ranges, nil
	}
	if len(index.MinValues) != n || len(index.MaxValues) != n || len(index.NullPages) != n {
		return nil, fail("column index", encoding.Corruptf("column index", "%d pages where there are %d", len(index.MinValues), n))
	}
	var kept []rowRange
	for i := range pages {
		from, to := pages[i].FirstRowIndex, g.NumRows
		if i+1 < n {
			to = pages[i+1].FirstRowIndex
		}
		if from < 0 || to > g.NumRows {
			return nil, fail("offset index", encoding.Corruptf("offset index", "a page at row %d of %d", from, g.NumRows))
		}
		if index.NullPages[i] || outside(x, index.MinValues[i], index.MaxValues[i], r) {
			continue
		}
		if len(kept) > 0 && kept[len(kept)-1].to == from {
			kept[len(kept)-1].to = to
		} else {
			kept = append(kept, rowRange{from, to})
		}
	}
	return intersect(ranges, kept), nil
}

// intersect is what is in both lists of ranges, which ascend.
func intersect(a, b []rowRange) (both []rowRange) {
	for len(a) > 0 && len(b) > 0 {
		if r := (rowRange{max(a[0].from, b[0].from), min(a[0].to, b[0].to)}); r.from < r.to {
			both = append(both, r)
		}
		if a[0].to < b[0].to {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return both
}

// outside reports whether no value from least to greatest is in r. Bounds that
// are no values of the column say nothing.
func outside(s *shape, least, greatest []byte, r *rowgroup.ValueRange) bool {
	lo, ok := boundValue(s, least)
	if !ok {
		return false
	}
	hi, ok := boundValue(s, greatest)
	if !ok || s.typ.Collate(lo, hi) > 0 {
		return false
	}
	return r.Max != nil && s.typ.Collate(lo, r.Max) > 0 || r.Min != nil && s.typ.Collate(hi, r.Min) < 0
}

// boundValue is a bound of statistics as a serialised value.
func boundValue(s *shape, b []byte) ([]byte, bool) {
	if s.node.typ == format.ByteArray {
		return b, true
	}
	var v page.Values
	v.Init(s.node.typ, int(s.length))
	if page.DecodePlain(&v, b, 1) != nil {
		return nil, false
	}
	x, err := appendLeaf(nil, s, &v, 0)
	return x, err == nil
}

// inFilter asks the Bloom filter of a column chunk, if it has one, for a
// serialised value.
func (f *Reader) inFilter(m *format.ColumnMetaData, s *shape, v []byte) (bool, error) {
	x := shredder{leaves: make([]leaf, 1)}
	n := *s
	n.node = cloneNode(s.node)
	n.leaf = 0
	if m.BloomFilterOffset == 0 || s.form > formFixed {
		return true, nil
	}
	x.leaves[0].init(n.node)
	if s.form == formText {
		n.form = formBytes // those of others have texts of any bytes
	}
	if x.check(&n, v) != nil {
		return false, nil // it cannot be there
	}
	if m.BloomFilterOffset < 0 || m.BloomFilterOffset >= f.size {
		return false, encoding.Corruptf("Bloom filter", "it lies at %d", m.BloomFilterOffset)
	}
	head := make([]byte, min(64, f.size-m.BloomFilterOffset))
	if err := readAt(f.r, head, m.BloomFilterOffset); err != nil {
		return false, err
	}
	var h format.BloomFilterHeader
	size, err := decodeStruct(head, &h)
	if err != nil {
		return false, err
	}
	_, split := h.Algorithm.Value.(*format.SplitBlockAlgorithm)
	_, hash := h.Hash.Value.(*format.XxHash)
	_, plain := h.Compression.Value.(*format.BloomFilterUncompressed)
	if !split || !hash || !plain {
		return true, nil
	}
	at := m.BloomFilterOffset + int64(size)
	if h.NumBytes < bloom.BlockSize || h.NumBytes%bloom.BlockSize != 0 || int64(h.NumBytes) > f.size-at {
		return false, encoding.Corruptf("Bloom filter", "%d bytes", h.NumBytes)
	}
	x.value(&n, v)
	b := appendHashed(nil, &x.leaves[0].values, 0)
	return bloom.CheckSplitBlock(&offsetReader{f, at}, int64(h.NumBytes), bloom.XXH64{}.Sum64(b))
}

// offsetReader reads the file from an offset on.
type offsetReader struct {
	f  *Reader
	at int64
}

// ReadAt reads from off on.
func (r *offsetReader) ReadAt(b []byte, off int64) (int, error) { return r.f.r.ReadAt(b, r.at+off) }
