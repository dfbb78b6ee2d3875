package rowgroup

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// metrics5 makes rows of the metrics table: points of series i.
func metrics5(t testing.TB, series, points int, decimals bool) *Batch {
	s, err := NewSchema([]Column{{Name: "series", Type: Text}}, []Column{{Name: "time", Type: Int}}, nil, []Column{{Name: "value", Type: Float}})
	require.NoError(t, err)
	b := NewBatch(s)
	for i := range series {
		r := rand.New(rand.NewPCG(20260701, uint64(i)))
		b.BeginPartition(fmt.Appendf(nil, "dc1.rack%02d.host%04d.cpu.user", i/20, i))
		v := 20 + 60*r.Float64()
		times, vals, m := b.Int32s(1), b.Float32s(2), b.Meta()
		for j := range points {
			tm := int32(1_780_000_000 + 5*j)
			v += float64(r.NormFloat64() * 0.25)
			x := v
			if decimals {
				x = math.Round(v*100) / 100
			}
			w := int64(tm)*1_000_000 + 2000 + int64(r.IntN(8000))
			ttl := int32(30*24*3600 - 5*(120960-1-j))
			*times = append(*times, tm)
			*vals = append(*vals, float32(x))
			m.Liveness = append(m.Liveness, LivenessExpiring)
			m.WriteTimes = append(m.WriteTimes, w)
			m.TTLs = append(m.TTLs, ttl)
			m.Expiries = append(m.Expiries, w/1_000_000+int64(ttl))
		}
	}
	require.NoError(t, b.Check())
	return b
}

func groupsOf(b *Batch, rows int) []Span {
	var spans []Span
	for p := range b.NumPartitions() {
		from, to := b.PartitionRows(p)
		for r := from; r < to || r == from; r += rows {
			sp := Span{FromRow: r, ToRow: min(to, r+rows), FromPart: p + 1, ToPart: p + 1}
			if r == from {
				sp.FromPart = p
			}
			spans = append(spans, sp)
		}
	}
	return spans
}

func TestSegmentMetrics5(t *testing.T) {
	for _, dec := range []bool{false, true} {
		b := metrics5(t, 1, 128*64*2, dec)
		spans := groupsOf(b, 128)
		e := NewSegmentEncoder(b.Schema(), EncodeOptions{})
		var ts TemplateSet
		var total, templates int
		got := NewBatch(b.Schema())
		d := NewBlockDecoder(b.Schema())
		var sizes Sizes
		for s := 0; s < len(spans); s += 64 {
			seg, err := e.Encode(b, spans[s:s+64])
			require.NoError(t, err)
			for g := 0; g < 64; {
				n, size := g, 0
				for n < 64 && (n == g || size+seg.GroupBytes(n) < 4060) {
					size += seg.GroupBytes(n)
					n++
				}
				_, tm, added := ts.Choose(seg, g, n)
				if added {
					bytes := tm.AppendTo(nil)
					templates += len(bytes)
					parsed, err := ParseTemplate(b.Schema(), bytes)
					require.NoError(t, err)
					require.Equal(t, bytes, parsed.AppendTo(nil))
				}
				body := seg.AppendBlock(nil, g, n, tm)
				total += len(body)
				rows, parts := 0, 0
				for i := g; i < n; i++ {
					rows += spans[s+i].ToRow - spans[s+i].FromRow
					parts += spans[s+i].ToPart - spans[s+i].FromPart
				}
				require.NoError(t, d.Open(tm, n-g, rows, parts, body))
				d.AddTo(&sizes)
				require.NoError(t, d.Decode(got, 0, n-g, nil))
				g = n
			}
		}
		require.Equal(t, b.Int32s(1), got.Int32s(1))
		require.Equal(t, b.Float32s(2), got.Float32s(2))
		require.Equal(t, b.Meta().WriteTimes, got.Meta().WriteTimes)
		require.Equal(t, b.Meta().TTLs, got.Meta().TTLs)
		require.Equal(t, b.Meta().Expiries, got.Meta().Expiries)
		require.Equal(t, b.Meta().Liveness, got.Meta().Liveness)
		n := float64(b.Len())
		t.Logf("%v: %.4f B/row, params %.2f B/group, templates %d, %d B (%d groups)", dec, float64(total)/n, float64(sizes.BlockParams)*128/n, len(ts.list), templates, len(spans))
		for _, s := range sizes.Streams {
			if s.Payload+s.Metadata > 0 {
				t.Logf("  %s payload %.4f meta %.4f %v", s.Name, float64(s.Payload)/n, float64(s.Metadata)/n, s.Encodings)
			}
		}
	}
}

// Row groups of exceptions, deletions and markers: what a group has of them is
// found without going through those of the whole batch, wherever it begins.
func TestSparseMetadataOfGroups(t *testing.T) {
	s, err := NewSchema(nil, []Column{{Name: "c", Type: Bigint}}, nil, []Column{{Name: "v", Type: Bigint}})
	require.NoError(t, err)
	b := NewBatch(s)
	for i := range 1000 {
		*b.Int64s(0) = append(*b.Int64s(0), int64(i))
		*b.Int64s(1) = append(*b.Int64s(1), int64(i))
		cell := CellAsRow
		switch {
		case i%7 == 3:
			*b.Markers() = append(*b.Markers(), Marker{Row: i, Prefix: 1, Kind: InclStart, Open: Deletion{int64(i), 1}, Close: LiveDeletion})
		case i%5 == 2:
			cell = CellException
			b.CellMeta(1).Exceptions = append(b.CellMeta(1).Exceptions, Exception{i, fmt.Append(nil, "x", i)})
		}
		if i%11 == 4 && i%7 != 3 {
			b.Meta().Deletions = append(b.Meta().Deletions, RowDeletion{Row: i, Deletion: Deletion{int64(i), 2}})
		}
		b.CellMeta(1).Cells = append(b.CellMeta(1).Cells, cell)
	}
	require.NoError(t, b.Check())
	for _, rows := range []int{16, 17, 100, 1000} {
		tm, groups, body := blockOf(t, b, rows, EncodeOptions{})
		d := NewBlockDecoder(s)
		require.NoError(t, d.Open(tm, groups, b.Len(), 1, body))
		got := NewBatch(s)
		got.clear()
		require.NoError(t, d.Decode(got, 0, groups, nil))
		require.Equal(t, b.text(), got.text())
	}
}
