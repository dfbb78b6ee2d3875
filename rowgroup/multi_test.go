package rowgroup

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
)

// multiSchema has a multi-cell column of each kind, also a static one, between
// others.
func multiSchema(t testing.TB) *Schema {
	column := func(name, text string) Column {
		typ, err := ParseType(text)
		require.NoError(t, err)
		return Column{Name: name, Type: typ}
	}
	s, err := NewSchema([]Column{{Name: "k", Type: Text}}, []Column{{Name: "c1", Type: Int}, {Name: "c2", Type: Text, Desc: true}},
		[]Column{{Name: "st", Type: Int}, column("sm", "map<text,int>")},
		[]Column{{Name: "v", Type: Int}, column("l", "list<float>"), column("s", "set<text>"), column("m", "map<text,boolean>"), column("u", "udt<ks.u{a:int,b:text}>")})
	require.NoError(t, err)
	return s
}

func TestMultiCells(t *testing.T) {
	s := multiSchema(t)
	require.True(t, s.HasMultiCells())
	b := NewBatch(s)
	b.BeginPartition([]byte("k"))
	for i := range 3 {
		*b.Int32s(1), *b.Int32s(5) = append(*b.Int32s(1), int32(i)), append(*b.Int32s(5), 7)
		require.NoError(t, b.Bytes(2).Append(nil))
	}
	require.Nil(t, b.MultiCells(5))
	add := func(col, row int, cells ...MultiCell) {
		m := b.MultiCells(col)
		m.Begin(row)
		for _, c := range cells {
			require.NoError(t, m.Append(&c))
		}
	}
	gone := MultiCell{Path: []byte("gone"), State: CellTombstone, Expiry: 9}
	add(6, 1, MultiCell{Path: []byte("p"), Value: AppendFloat32(nil, 1.5)}, gone, MultiCell{Path: []byte("q"), Value: []byte{1}}, MultiCell{Path: []byte("r")})
	add(7, 1, MultiCell{Path: []byte("a")}, gone, MultiCell{Path: []byte("b"), State: CellLive | CellOwnTime, WriteTime: 5})
	add(8, 0, gone)
	add(8, 2, MultiCell{Path: []byte("x"), Value: []byte{1}}, MultiCell{Path: []byte("y"), Value: []byte{2}})
	add(9, 2, MultiCell{Path: []byte{0, 1}, Value: []byte("text")}, MultiCell{Path: []byte("odd")})
	b.MultiCells(9).Delete(Deletion{3, 4})
	for col := 6; col < 10; col++ {
		b.MultiCells(col).Pad(3)
	}
	require.NoError(t, b.Check())

	value := func(col, row int) string {
		v, ok := b.AppendValue(nil, col, row)
		require.Equal(t, ok, b.Cell(col, row) != CellAbsent)
		if !ok {
			return "null"
		}
		return string(AppendText(nil, s.Column(col).Type, v))
	}
	require.Equal(t, "null", value(6, 0))
	require.Equal(t, "0x00000003000000043fc00000000000010100000000", value(6, 1))
	require.Equal(t, "{'a', 'b'}", value(7, 1))
	require.Equal(t, "null", value(8, 0))
	require.Equal(t, "{'x': true, 'y': true}", value(8, 2))
	require.Equal(t, "{a: null, b: 'text'}", value(9, 2))

	u := b.MultiCells(9)
	from, to, there := u.Row(2)
	require.Equal(t, []any{0, 2, true}, []any{from, to, there})
	require.Equal(t, Deletion{3, 4}, u.Deletion(2))
	require.True(t, u.Deletion(1).Live())
	require.Equal(t, []Type{Smallint, Text, Blob}, []Type{u.PathType(), u.ValueType([]byte{0, 1}), u.ValueType([]byte("odd"))})
	var c MultiCell
	b.MultiCells(7).Get(&c, 2)
	require.Equal(t, MultiCell{Path: []byte("b"), State: CellLive | CellOwnTime, WriteTime: 5}, MultiCell{Path: c.Path, State: c.State, WriteTime: c.WriteTime})
	b.MultiCells(7).Get(&c, 1)
	require.Equal(t, int64(9), c.Expiry)
	require.Equal(t, []Cell{0, 4, CellException, CellEmpty}, b.MultiCells(6).Meta().Cells)

	st := statsOf(t, b)
	require.Equal(t, ColumnStats{Values: 1, Nulls: 2}, st.Column(6))
	require.Equal(t, ColumnStats{Nulls: 3}, ColumnStats{Values: st.Column(8).Values - 1, Nulls: st.Column(8).Nulls + 1})
	require.Equal(t, int64(4), st.Tombstones)
	require.Equal(t, MinMax{4, 9, true}, st.LocalDeletions)

	require.ErrorIs(t, b.PutValue(6, 3, nil, true), encoding.ErrUnsupported)
	_, err := NewSchema(nil, []Column{{Name: "c", Type: s.Column(6).Type}}, nil, nil)
	require.ErrorContains(t, err, "must be frozen")
}

func TestMultiCellsCheck(t *testing.T) {
	s := multiSchema(t)
	for name, spoil := range map[string]func(b *Batch, m *MultiCells){
		"values for 3":         func(_ *Batch, m *MultiCells) { m.Pad(3) },
		"end before they":      func(_ *Batch, m *MultiCells) { m.rows[1].end = 0 },
		"absent":               func(_ *Batch, m *MultiCells) { m.rows[0].there = false },
		"paths for":            func(_ *Batch, m *MultiCells) { m.Paths.Truncate(1) },
		"values for 2":         func(_ *Batch, m *MultiCells) { m.values.i32 = m.values.i32[:1] },
		"cell 1 is absent":     func(_ *Batch, m *MultiCells) { m.values.Cells[1] = CellAbsent },
		"is no boolean":        func(_ *Batch, m *MultiCells) { m.values.i32[0] = 2 },
		"without its metadata": func(_ *Batch, m *MultiCells) { m.values.Cells[0] |= CellLive | CellOwnTime },
		"complex deletion":     func(_ *Batch, m *MultiCells) { m.Deletions = []CellsDeletion{{1, Deletion{1, 1}}} },
		"deletion":             func(_ *Batch, m *MultiCells) { m.Deletions = []CellsDeletion{{0, LiveDeletion}} },
		"of its own":           func(b *Batch, _ *MultiCells) { b.meta.Liveness = []Liveness{LivenessNone, 0} },
		"cannot have cells":    func(b *Batch, _ *MultiCells) { b.markers = []Marker{{Row: 0, Kind: InclStart}} },
		"single values":        func(b *Batch, _ *MultiCells) { b.vecs[8].Cells = []Cell{0, 0} },
		"static row 0 cannot": func(b *Batch, _ *MultiCells) {
			b.MultiCells(4).Begin(0)
			b.parts[0].Static = StaticEmpty
		},
	} {
		b := NewBatch(s)
		b.BeginPartition([]byte("k"))
		for range 2 {
			*b.Int32s(1), *b.Int32s(5) = append(*b.Int32s(1), 1), append(*b.Int32s(5), 7)
			require.NoError(t, b.Bytes(2).Append(nil))
		}
		b.SetLen(2)
		m := b.MultiCells(8)
		m.Begin(0)
		require.NoError(t, m.Append(&MultiCell{Path: []byte("x"), Value: []byte{1}}))
		require.NoError(t, m.Append(&MultiCell{Path: []byte("y"), Value: []byte{}}))
		m.Pad(2)
		require.NoError(t, b.Check(), name)
		spoil(b, m)
		require.ErrorContains(t, b.Check(), name)
	}
}

// Cutting, keeping and turning round do in place what appending does.
func TestMultiCellsInPlace(t *testing.T) {
	s := multiSchema(t)
	rapid.Check(t, func(t *rapid.T) {
		b := drawHistory(t, s)
		want, kept := NewBatch(s), b.Clone()
		want.clear()
		require.Equal(t, b.text(), kept.text())
		var sel []int32
		for p := range b.parts {
			from, to := b.PartitionRows(p)
			require.NoError(t, want.AppendParts(b, from, from, p, p+1))
			for i := from; i < to; i++ {
				if rapid.Bool().Draw(t, "keep") {
					sel = append(sel, int32(i))
					require.NoError(t, want.AppendParts(b, i, i+1, p, p))
				}
			}
		}
		kept.keep(sel)
		require.NoError(t, kept.Check())
		require.Equal(t, want.text(), kept.text())

		p := rapid.IntRange(0, b.NumPartitions()-1).Draw(t, "partition")
		first, end := b.PartitionRows(p)
		from := rapid.IntRange(first, end).Draw(t, "from")
		to := rapid.IntRange(from, end).Draw(t, "to")
		want.clear()
		require.NoError(t, want.AppendParts(b, from, from, p, p+1))
		want.parts[0].Start = 0
		require.NoError(t, want.AppendParts(b, from, to, p, p))
		cut := b.Clone()
		cut.Cut(p, from, to)
		require.NoError(t, cut.Check())
		require.Equal(t, want.text(), cut.text())

		turned := b.Clone()
		turned.Reverse()
		require.NoError(t, turned.Check())
		for i := range b.Len() {
			require.Equal(t, cellsText(b, i), cellsText(turned, b.Len()-1-i))
		}
	})
}

// cellsText is all cells that row i has in multi-cell columns.
func cellsText(b *Batch, i int) (text string) {
	for col := b.schema.from[Regular]; col < len(b.vecs); col++ {
		if m := b.vecs[col].multi; m != nil {
			from, to, there := m.Row(i)
			text += fmt.Sprint(there, m.Deletion(i))
			for k := from; k < to; k++ {
				var c MultiCell
				m.Get(&c, k)
				text += fmt.Sprintf(" %x", c)
			}
		}
	}
	return text
}

// The live view has the cells that are alive one by one.
func TestMultiCellsLive(t *testing.T) {
	s := multiSchema(t)
	rapid.Check(t, func(t *rapid.T) {
		b := drawHistory(t, s)
		b.markers = nil
		now := rapid.OneOf(rapid.Int64Range(1_000_000, 1_000_100), rapid.Int64()).Draw(t, "now")
		alive := func(m *MultiCells, meta *RowMeta, row int, deletions ...Deletion) (text string) {
			from, to, _ := m.Row(row)
			for k := from; k < to; k++ {
				var c MultiCell
				m.Get(&c, k)
				kind := c.State.Kind()
				if c.State&CellOwnTime == 0 {
					c.WriteTime = at(meta.WriteTimes, row)
				}
				dead := kind == CellTombstone
				for _, d := range append(deletions, m.Deletion(row)) {
					dead = dead || !d.Live() && c.WriteTime <= d.MarkedForDeleteAt
				}
				if kind == CellAsRow && at(meta.Liveness, row) == LivenessExpiring {
					kind = CellExpiring
				}
				if kind == CellExpiring {
					if c.State&CellOwnExpiry == 0 {
						c.TTL, c.Expiry = at(meta.TTLs, row), at(meta.Expiries, row)
					}
					dead = dead || now >= c.Expiry
				}
				if !dead {
					text += fmt.Sprintf(" %x=%x@%d+%d<%d", c.Path, c.Value, c.WriteTime, c.TTL, c.Expiry)
				}
			}
			return text
		}
		want, key := map[string]string{}, func(b *Batch, p, i, col int) string { return fmt.Sprintf("%q %d %d", b.Key(p), i, col) }
		for p := range b.parts {
			from, to := b.PartitionRows(p)
			for i := from; i < to; i++ { // a clustering of its own to find it by
				(*b.Int32s(1))[i], b.vecs[1].Cells[i] = int32(i), CellAsRow
				deletions := []Deletion{b.parts[p].Deletion}
				for _, d := range b.meta.Deletions {
					if d.Row == i && !(d.Shadowable && at(b.meta.Liveness, i) != LivenessNone && at(b.meta.WriteTimes, i) > d.MarkedForDeleteAt) {
						deletions = append(deletions, d.Deletion)
					}
				}
				for col := 6; col < 10; col++ {
					if text := alive(b.MultiCells(col), &b.meta, i, deletions...); text != "" {
						want[key(b, p, i, col)] = text
					}
				}
			}
			if text := alive(b.MultiCells(4), &b.static, p, b.parts[p].Deletion); text != "" {
				want[key(b, p, -1, 4)] = text
			}
		}
		var f LiveFilter
		f.Reset(now, false)
		f.Apply(b)
		require.NoError(t, b.Check())
		got := map[string]string{}
		for p := range b.parts {
			from, to := b.PartitionRows(p)
			for i := from; i < to; i++ {
				for col := 6; col < 10; col++ {
					if text := alive(b.MultiCells(col), &b.meta, i); text != "" {
						got[key(b, p, int((*b.Int32s(1))[i]), col)] = text
					}
					_, _, there := b.MultiCells(col).Row(i)
					require.Equal(t, b.MultiCells(col).hasValue(i), there)
				}
			}
			if text := alive(b.MultiCells(4), &b.static, p); text != "" {
				got[key(b, p, -1, 4)] = text
			}
		}
		require.Equal(t, want, got)
	})
}

// spoiledBlock is a block of one row group of 4 rows with cells, spoiled as no
// Check would let pass.
func spoiledBlock(t testing.TB, s *Schema, spoil func(b *Batch, m *MultiCells)) (tm *Template, body []byte) {
	b := NewBatch(s)
	b.BeginPartition([]byte("k"))
	m := b.MultiCells(8)
	for i := range 4 {
		*b.Int32s(1), *b.Int32s(5) = append(*b.Int32s(1), int32(i)), append(*b.Int32s(5), 7)
		require.NoError(t, b.Bytes(2).Append(nil))
		m.Begin(i)
		if i == 2 {
			m.Delete(Deletion{5, 6})
		}
		for k := range 3 {
			require.NoError(t, m.Append(&MultiCell{Path: binary.BigEndian.AppendUint16(nil, uint16(k)), Value: []byte{byte(k & 1)}, State: CellLive | CellOwnTime, WriteTime: int64(k)}))
		}
	}
	require.NoError(t, b.Check())
	if spoil != nil {
		spoil(b, m)
	}
	seg, err := NewSegmentEncoder(s, EncodeOptions{}).Encode(b, []Span{{0, 4, 0, 1}})
	require.NoError(t, err)
	var ts TemplateSet
	_, tm, _ = ts.Choose(seg, 0, 1)
	return tm, seg.AppendBlock(nil, 0, 1, tm)
}

func TestHostileMultiCells(t *testing.T) {
	s := multiSchema(t)
	decode := func(limit int, spoil func(b *Batch, m *MultiCells)) error {
		tm, body := spoiledBlock(t, s, spoil)
		d, b := NewBlockDecoder(s), NewBatch(s)
		b.clear()
		if limit > 0 {
			d.SetLimits(encoding.MaxGroupRows, limit)
		}
		if err := d.Open(tm, 1, 4, 1, body); err != nil {
			return err
		}
		return d.Decode(b, 0, 1, nil)
	}
	require.NoError(t, decode(0, nil))
	require.ErrorContains(t, decode(4*48+12+12*CellBytes-1, nil), "12 cells are more than a row group can hold")
	for want, spoil := range map[string]func(b *Batch, m *MultiCells){
		"a row of":              func(_ *Batch, m *MultiCells) { m.rows[2].end = 14 },
		"cells of no row":       func(_ *Batch, m *MultiCells) { m.rows[1].there = false; m.Deletions = nil },
		"state 1, time":         func(_ *Batch, m *MultiCells) { m.Deletions[0].MarkedForDeleteAt = NoDeletion },
		"a cell that is absent": func(_ *Batch, m *MultiCells) { m.values.Cells[3] = CellAbsent },
		"cell state 0x5":        func(_ *Batch, m *MultiCells) { m.values.Cells[3] = 5 },
		"outside its type":      func(_ *Batch, m *MultiCells) { m.values.i32[3] = 2 },
		"row without liveness": func(b *Batch, m *MultiCells) {
			b.meta.Liveness = []Liveness{0, 1, 0, 0}
			b.vecs[5].Cells = slices.Repeat([]Cell{CellAbsent}, 4)
			m.values.Cells[4] = CellLive
		},
		"as rows without": func(b *Batch, m *MultiCells) {
			b.meta.Liveness = []Liveness{1, 1, 1, 1}
			b.vecs[5].Cells = slices.Repeat([]Cell{CellAbsent}, 4)
			clear(m.values.Cells)
		},
	} {
		err := decode(0, spoil)
		require.ErrorIs(t, err, encoding.ErrCorrupt, want)
		require.ErrorContains(t, err, want)
	}

	// Streams that are missing, or stand where there are no cells.
	tm, body := spoiledBlock(t, s, nil)
	for st := s.layout.paths[0] - 4; st < len(s.layout.streams); st++ {
		parsed, err := ParseTemplate(s, tm.AppendTo(nil))
		require.NoError(t, err)
		k := slices.IndexFunc(parsed.streams, func(x listed) bool { return int(x.stream) == st })
		if k <= 0 {
			continue
		}
		parsed.streams[k].stream++ // its values are those of the next
		if k+1 < len(parsed.streams) && parsed.streams[k+1].stream == parsed.streams[k].stream {
			continue
		}
		d, b := NewBlockDecoder(s), NewBatch(s)
		b.clear()
		if err = d.Open(parsed, 1, 4, 1, body); err == nil {
			err = d.Decode(b, 0, 1, nil)
		}
		require.Error(t, err, s.layout.streams[st].name)
	}
}

// A row has as many cells as a chunk has values, and no more.
func TestMaxCells(t *testing.T) {
	typ, err := ParseType("set<int>")
	require.NoError(t, err)
	s, err := NewSchema(nil, nil, nil, []Column{{Name: "v", Type: typ}})
	require.NoError(t, err)
	b := NewBatch(s)
	m := b.MultiCells(0)
	m.Begin(0)
	for i := range MaxCells {
		require.NoError(t, m.Append(&MultiCell{Path: AppendInt(nil, Int, int64(i))}))
	}
	require.NoError(t, b.Check())
	require.Equal(t, int64(MaxCells*(CellBytes+4)), m.Size(0, 1))
	encodeBlocks(t, b, 1, EncodeOptions{})
	require.NoError(t, m.Append(&MultiCell{Path: AppendInt(nil, Int, math.MaxInt32)}))
	require.ErrorContains(t, b.Check(), "the limit is 65536")
}

func TestOrderOfCells(t *testing.T) {
	for _, c := range []struct{ typ, paths, disorder string }{
		{"set<int>", "ffffffff 00000000 00000001", ""},
		{"set<int>", "00000001 ffffffff", "its cell -1 stands after 1"},
		{"set<text>", "61 61", "its cell a stands after a"},
		{"set<duration>", "02 01", ""}, // no order
		{"map<blob,int>", "01 0100 02", ""},
		{"udt<k.u{a:int,b:int}>", "8000 0000 0001", ""},
		{"udt<k.u{a:int,b:int}>", "0001 0000", "its cell 0 stands after 1"},
		{"list<int>", "00000001000011ef8000000000000000 00000000000011f08000000000000000", ""},
		{"list<int>", "00000000000011f08000000000000000 00000001000011ef8000000000000000", "stands after"},
	} {
		typ, err := ParseType(c.typ)
		require.NoError(t, err)
		s, err := NewSchema([]Column{{Name: "k", Type: Text}}, nil, []Column{{Name: "s", Type: typ}}, []Column{{Name: "v", Type: typ}})
		require.NoError(t, err)
		for col := 1; col <= 2; col++ {
			b := NewBatch(s)
			b.BeginPartition([]byte("k")).Static = StaticFull
			m := b.MultiCells(col)
			m.Begin(0)
			for _, path := range strings.Fields(c.paths) {
				p, err := hex.DecodeString(path)
				require.NoError(t, err)
				require.NoError(t, m.Append(&MultiCell{Path: p, Value: []byte{0, 0, 0, 1}}))
			}
			b.SetLen(1)
			require.NoError(t, b.Check())
			if err := s.CheckOrder(b); c.disorder == "" {
				require.NoError(t, err, c.typ)
			} else {
				require.ErrorContains(t, err, c.disorder)
			}
		}
	}
}
