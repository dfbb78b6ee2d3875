package rowgroup

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
)

// everySchema has a column of every class in every role.
func everySchema(t testing.TB, opts ...SchemaOption) *Schema {
	cols := func(prefix string) []Column {
		var c []Column
		for _, ty := range []Type{Boolean, Int, Bigint, Float, Double, Text, UUID} {
			c = append(c, Column{Name: prefix + ty.String(), Type: ty})
		}
		for _, text := range multiTypes {
			ty, err := ParseType(text)
			require.NoError(t, err)
			c = append(c, Column{Name: prefix + text, Type: ty})
		}
		return c
	}
	s, err := NewSchema([]Column{{Name: "k", Type: Text}},
		[]Column{{Name: "c1", Type: Int}, {Name: "c2", Type: Text, Desc: true}},
		cols("s_"), cols("r_"), opts...)
	require.NoError(t, err)
	return s
}

// multiTypes are types of multi-cell columns, one of each kind.
var multiTypes = []string{"list<float>", "set<text>", "map<text,boolean>", "udt<ks.u{a:int,b:text}>"}

// drawCells appends the cells of multi-cell column col at row i, whose row has
// liveness l.
func drawCells(t *rapid.T, b *Batch, col, i int, l Liveness, plain bool) {
	m := b.MultiCells(col)
	if rapid.IntRange(0, 2).Draw(t, "there") == 0 {
		return
	}
	m.Begin(i)
	if rapid.IntRange(0, 3).Draw(t, "complex deletion") == 0 {
		m.Delete(drawDeletion(t))
	}
	n := rapid.IntRange(0, 4).Draw(t, "cells")
	for k := range n {
		c := MultiCell{
			Path: fmt.Appendf(nil, "%c%s", 'a'+k, strings.Repeat("x", rapid.IntRange(0, 2).Draw(t, "path"))), Value: []byte{},
			WriteTime: drawTime(t, "write time"), TTL: rapid.Int32Range(1, 100).Draw(t, "ttl"), Expiry: drawTime(t, "expiry"),
		}
		kinds := []Cell{CellAsRow}
		if !plain {
			kinds = append(kinds, CellLive, CellExpiring, CellTombstone)
		}
		if l == LivenessNone || l == LivenessExpired {
			kinds = []Cell{CellLive, CellExpiring, CellTombstone}
		}
		c.State = rapid.SampledFrom(kinds).Draw(t, "kind")
		if c.State != CellAsRow && (l == LivenessNone || rapid.Bool().Draw(t, "own time")) {
			c.State |= CellOwnTime
		}
		if c.State.Kind() == CellExpiring && (l != LivenessExpiring || rapid.Bool().Draw(t, "own expiry")) {
			c.State |= CellOwnExpiry
		}
		switch kind := b.schema.cols[col].Type.Kind; {
		case kind == KindUDT:
			c.Path = []byte{0, byte(k)}
			fallthrough
		case kind != KindSet:
			c.Value = rapid.OneOf(rapid.SampledFrom([][]byte{{}, {1}, {0}, {1, 2, 3, 4}}), rapid.SliceOfN(rapid.Byte(), 0, 5)).Draw(t, "value")
		}
		require.NoError(t, m.Append(&c))
	}
}

// drawValue appends a value to column col.
func drawValue(t *rapid.T, b *Batch, col int) {
	switch b.schema.Column(col).Type.Physical().Class() {
	case ClassInt32:
		v := b.Int32s(col)
		if b.schema.Column(col).Type.Kind == KindBoolean {
			*v = append(*v, int32(rapid.IntRange(0, 1).Draw(t, "bool")))
			return
		}
		*v = append(*v, rapid.OneOf(rapid.Int32Range(-3, 50), rapid.Int32()).Draw(t, "int"))
	case ClassInt64:
		*b.Int64s(col) = append(*b.Int64s(col), rapid.OneOf(rapid.Int64Range(-3, 50), rapid.Int64()).Draw(t, "bigint"))
	case ClassFloat32:
		*b.Float32s(col) = append(*b.Float32s(col), math.Float32frombits(rapid.OneOf(rapid.Uint32(), rapid.Just(math.Float32bits(1.25))).Draw(t, "float")))
	case ClassFloat64:
		*b.Float64s(col) = append(*b.Float64s(col), math.Float64frombits(rapid.OneOf(rapid.Uint64(), rapid.Just(math.Float64bits(0.1))).Draw(t, "double")))
	case ClassBytes:
		if b.schema.Column(col).Type.Physical() == PhysFixed {
			require.NoError(t, b.Bytes(col).Append(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "uuid")))
			return
		}
		require.NoError(t, b.Bytes(col).Append(rapid.OneOf(rapid.Just([]byte("abc")), rapid.SliceOfN(rapid.Byte(), 0, 20)).Draw(t, "text")))
	}
}

func drawTime(t *rapid.T, name string) int64 {
	return rapid.OneOf(rapid.Int64Range(1_000_000, 1_000_100), rapid.Int64()).Draw(t, name)
}

// drawCell appends the cell of column col at row i, whose row has liveness l.
func drawCell(t *rapid.T, b *Batch, col, i int, l Liveness, plain bool) {
	if b.MultiCells(col) != nil {
		drawCells(t, b, col, i, l, plain)
		return
	}
	drawValue(t, b, col)
	m := b.CellMeta(col)
	c := CellAsRow
	if !plain || l == LivenessNone {
		kinds := []Cell{CellAbsent, CellLive, CellExpiring, CellTombstone}
		if l == LivenessLive || l == LivenessExpiring {
			kinds = append(kinds, CellAsRow)
		}
		c = rapid.SampledFrom(kinds).Draw(t, "kind")
		if c != CellAbsent && c != CellAsRow && (l == LivenessNone || rapid.Bool().Draw(t, "own time")) {
			c |= CellOwnTime
		}
		if c.Kind() == CellExpiring && (l != LivenessExpiring || rapid.Bool().Draw(t, "own expiry")) {
			c |= CellOwnExpiry
		}
		if c.HasValue() {
			c |= rapid.SampledFrom([]Cell{0, 0, CellEmpty, CellException}).Draw(t, "value")
		}
	}
	if c&CellException != 0 {
		m.Exceptions = append(m.Exceptions, Exception{i, rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "exception")})
	}
	m.Cells = append(m.Cells, c)
	m.WriteTimes = append(m.WriteTimes, drawTime(t, "write time"))
	m.TTLs = append(m.TTLs, rapid.Int32Range(1, 100).Draw(t, "ttl"))
	m.Expiries = append(m.Expiries, drawTime(t, "expiry"))
}

func drawLiveness(t *rapid.T, m *RowMeta, plain bool) Liveness {
	l := LivenessLive
	if !plain {
		l = Liveness(rapid.IntRange(0, 3).Draw(t, "liveness"))
	}
	m.Liveness = append(m.Liveness, l)
	m.WriteTimes = append(m.WriteTimes, drawTime(t, "row write time"))
	m.TTLs = append(m.TTLs, rapid.Int32Range(1, 3).Draw(t, "row ttl"))
	m.Expiries = append(m.Expiries, drawTime(t, "row expiry"))
	return l
}

func drawDeletion(t *rapid.T) Deletion {
	return Deletion{rapid.Int64Range(0, math.MaxInt64).Draw(t, "mfda"), drawTime(t, "ldt")}
}

// drawHistory draws a batch of up to 6 partitions. It does not respect the
// order of clustering: the bytes of row groups do not depend on it.
func drawHistory(t *rapid.T, s *Schema) *Batch {
	b := NewBatch(s)
	plain := rapid.Bool().Draw(t, "plain")
	for p := range rapid.IntRange(1, 6).Draw(t, "partitions") {
		h := b.BeginPartition(fmt.Appendf(nil, "key%03d%s", p, strings.Repeat("x", rapid.IntRange(0, 3).Draw(t, "key"))))
		if !plain && rapid.Bool().Draw(t, "partition deletion") {
			h.Deletion = drawDeletion(t)
		}
		if !plain {
			h.Static = StaticState(rapid.IntRange(0, 2).Draw(t, "static"))
		}
		l := drawLiveness(t, &b.static, plain)
		for c := s.from[Static]; c < s.from[Regular]; c++ {
			if b.MultiCells(c) != nil && h.Static != StaticFull {
				continue
			}
			drawCell(t, b, c, p, l, plain)
			if m := b.CellMeta(c); h.Static != StaticFull && b.MultiCells(c) == nil {
				if m.Cells[p]&CellException != 0 {
					m.Exceptions = m.Exceptions[:len(m.Exceptions)-1]
				}
				m.Cells[p] = CellAbsent
			}
		}
		for range rapid.IntRange(0, 12).Draw(t, "rows") {
			i := b.Len()
			l := drawLiveness(t, &b.meta, plain)
			marker := !plain && rapid.IntRange(0, 5).Draw(t, "marker") == 0
			if marker {
				k := rapid.SampledFrom([]BoundKind{0, 1, 2, 5, 6, 7}).Draw(t, "bound")
				m := Marker{Row: i, Prefix: rapid.IntRange(0, 2).Draw(t, "prefix"), Kind: k, Close: LiveDeletion, Open: LiveDeletion}
				if k.Closes() {
					m.Close = drawDeletion(t)
				}
				if k.Opens() {
					m.Open = drawDeletion(t)
				}
				b.markers = append(b.markers, m)
			} else if !plain && rapid.IntRange(0, 5).Draw(t, "deleted") == 0 {
				b.meta.Deletions = append(b.meta.Deletions, RowDeletion{i, drawDeletion(t), rapid.Bool().Draw(t, "shadowable")})
			}
			for c := s.from[Clustering]; c < s.from[Static]; c++ {
				drawValue(t, b, c)
				st := CellAsRow
				if !plain {
					st = rapid.SampledFrom([]Cell{0, 0, 0, CellAbsent, CellEmpty}).Draw(t, "clustering state")
				}
				b.vecs[c].Cells = append(b.vecs[c].Cells, st)
			}
			for c := s.from[Regular]; c < s.NumColumns(); c++ {
				if !marker || b.MultiCells(c) == nil {
					drawCell(t, b, c, i, l, plain)
				}
			}
		}
	}
	for c := s.from[Static]; c < s.NumColumns(); c++ {
		if m := b.MultiCells(c); m != nil && s.Role(c) == Static {
			m.Pad(b.NumPartitions())
		} else if m != nil {
			m.Pad(b.Len())
		}
	}
	return b
}

// text is every fact of a batch, one line a partition or unfiltered.
func (b *Batch) text() string {
	var w strings.Builder
	value := func(v *vector, i int, c Cell, exc []Exception) {
		switch {
		case c&CellException != 0:
			for _, e := range exc {
				if e.Row == i {
					fmt.Fprintf(&w, "!%x", e.Value)
				}
			}
		case !c.HasValue():
		case v.class == ClassInt32:
			fmt.Fprintf(&w, "%d", v.i32[i])
		case v.class == ClassInt64:
			fmt.Fprintf(&w, "%d", v.i64[i])
		case v.class == ClassFloat32:
			fmt.Fprintf(&w, "%08x", math.Float32bits(v.f32[i]))
		case v.class == ClassFloat64:
			fmt.Fprintf(&w, "%016x", math.Float64bits(v.f64[i]))
		default:
			fmt.Fprintf(&w, "%x", v.str.At(i))
		}
	}
	row := func(m *RowMeta, role Role, i int) {
		l := at(m.Liveness, i)
		fmt.Fprintf(&w, " live=%d", l)
		if l != LivenessNone {
			fmt.Fprintf(&w, "@%d", at(m.WriteTimes, i))
		}
		if l == LivenessExpiring {
			fmt.Fprintf(&w, " ttl=%d", at(m.TTLs, i))
		}
		if l >= LivenessExpiring {
			fmt.Fprintf(&w, " expiry=%d", at(m.Expiries, i))
		}
		for _, d := range m.Deletions {
			if d.Row == i {
				fmt.Fprintf(&w, " del=%v,%v", d.Deletion, d.Shadowable)
			}
		}
		from, to := b.schema.Range(role)
		for c := from; c < to; c++ {
			v := &b.vecs[c]
			if v.multi != nil {
				from, to, there := v.multi.Row(i)
				if there {
					fmt.Fprintf(&w, " %d:{%v", c, v.multi.Deletion(i))
					for k := from; k < to; k++ {
						var cell MultiCell
						v.multi.Get(&cell, k)
						cell.State = canonical(cell.State, l)
						fmt.Fprintf(&w, " %x", cell)
					}
					w.WriteByte('}')
				}
				continue
			}
			cell := canonical(at(v.Cells, i), l)
			fmt.Fprintf(&w, " %d:%02x=", c, cell)
			value(v, i, cell, v.Exceptions)
			if cell&CellOwnTime != 0 {
				fmt.Fprintf(&w, "@%d", v.WriteTimes[i])
			}
			if cell&CellOwnExpiry != 0 {
				fmt.Fprintf(&w, "ttl%d", v.TTLs[i])
			}
			if cell&CellOwnExpiry != 0 || cell.Kind() == CellTombstone {
				fmt.Fprintf(&w, "exp%d", v.Expiries[i])
			}
		}
	}
	for p := range b.parts {
		h := b.parts[p]
		fmt.Fprintf(&w, "partition %q del=%v static=%d", b.Key(p), h.Deletion, h.Static)
		if h.Static == StaticFull {
			row(&b.static, Static, p)
		}
		w.WriteByte('\n')
		from, to := b.PartitionRows(p)
		for i := from; i < to; i++ {
			prefix := math.MaxInt
			for _, m := range b.markers {
				if m.Row == i {
					prefix = m.Prefix
					fmt.Fprintf(&w, "marker %d %v %v", m.Kind, m.Close, m.Open)
				}
			}
			for c := b.schema.from[Clustering]; c < b.schema.from[Static] && c-b.schema.from[Clustering] < prefix; c++ {
				v := &b.vecs[c]
				fmt.Fprintf(&w, " %02x=", at(v.Cells, i))
				value(v, i, at(v.Cells, i), nil)
			}
			if prefix == math.MaxInt {
				row(&b.meta, Regular, i)
			}
			w.WriteByte('\n')
		}
	}
	return w.String()
}

// spansOf cuts b into groups: whole partitions, or parts of one.
func spansOf(t *rapid.T, b *Batch) []Span {
	var spans []Span
	for p := 0; p < b.NumPartitions(); {
		q := min(b.NumPartitions(), p+rapid.IntRange(1, 3).Draw(t, "partitions in group"))
		from, _ := b.PartitionRows(p)
		_, to := b.PartitionRows(q - 1)
		if q == p+1 && to-from > 1 && rapid.Bool().Draw(t, "split") {
			mid := from + rapid.IntRange(1, to-from-1).Draw(t, "mid")
			spans = append(spans, Span{from, mid, p, q}, Span{mid, to, q, q})
		} else {
			spans = append(spans, Span{from, to, p, q})
		}
		p = q
	}
	return spans
}

func TestHistoriesRoundTrip(t *testing.T) {
	s := everySchema(t)
	rapid.Check(t, func(t *rapid.T) {
		b := drawHistory(t, s)
		require.NoError(t, b.Check())
		spans := spansOf(t, b)
		o := EncodeOptions{}
		if rapid.Bool().Draw(t, "zstd") {
			o.ZstdMeta, o.Zstd = true, map[int]bool{}
			for c := range s.NumColumns() {
				o.Zstd[c] = true
			}
		}
		if rapid.Bool().Draw(t, "forced") {
			o.Encodings = map[int][]encoding.ID{}
			for c := s.from[Clustering]; c < s.NumColumns(); c++ {
				o.Encodings[c] = []encoding.ID{encoding.ID(rapid.IntRange(0, 9).Draw(t, "id"))}
			}
		}
		e := NewSegmentEncoder(s, o)
		seg, err := e.Encode(b, spans)
		require.NoError(t, err)
		got := NewBatch(s)
		got.clear()
		d := NewBlockDecoder(s)
		var ts TemplateSet
		for g := 0; g < len(spans); {
			n := min(len(spans), g+rapid.IntRange(1, 4).Draw(t, "groups in block"))
			_, tm, _ := ts.Choose(seg, g, n)
			tm, err = ParseTemplate(s, tm.AppendTo(nil))
			require.NoError(t, err)
			body := seg.AppendBlock(nil, g, n, tm)
			rows, parts := 0, 0
			for _, sp := range spans[g:n] {
				rows += sp.ToRow - sp.FromRow
				parts += sp.ToPart - sp.FromPart
			}
			require.NoError(t, d.Open(tm, n-g, rows, parts, body))
			require.NoError(t, d.Decode(got, 0, n-g, nil))
			g = n
		}
		require.NoError(t, got.Check())
		require.Equal(t, b.text(), got.text())

		// A copy piece by piece, and turning round twice, change nothing.
		c := NewBatch(s)
		c.clear()
		for i := 0; i < b.Len() || i == 0; i += 3 {
			require.NoError(t, c.AppendRange(b, i, min(b.Len(), i+3)))
		}
		require.Equal(t, b.text(), c.text())
		c.Reverse()
		c.Reverse()
		require.Equal(t, b.text(), c.text())
	})
}
