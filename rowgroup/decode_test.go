package rowgroup

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// clocks is a table of series whose times, write times, TTLs and expiries are
// clocks, more or less.
func clocks(t *rapid.T) *Batch {
	timeType := rapid.SampledFrom([]Type{Int, Bigint, Smallint}).Draw(t, "time")
	s, err := NewSchema([]Column{{Name: "k", Type: Text}}, []Column{{Name: "time", Type: timeType}}, nil,
		[]Column{{Name: "f", Type: Float}, {Name: "n", Type: Bigint}, {Name: "s", Type: Text}})
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	b := NewBatch(s)
	b.BeginPartition([]byte("k"))
	rows := rapid.IntRange(1, 900).Draw(t, "rows")
	step := rapid.Int64Range(-3, 30).Draw(t, "step")
	noise := rapid.SampledFrom([]int64{1, 8000, 900_000, 3_000_000}).Draw(t, "noise")
	jitter := rapid.SampledFrom([]int64{1, 1, 4}).Draw(t, "jitter")
	few := func(name string) int { return rapid.SampledFrom([]int{0, 0, 1, 20, 100}).Draw(t, name) }
	gaps, nulls, deleted, updates, late := few("gaps"), few("nulls"), few("deleted"), few("updates"), few("late")
	some := func(percent int) bool { return r.IntN(100) < percent }
	m, f, n, text := b.Meta(), &b.vecs[2], &b.vecs[3], &b.vecs[4]
	at := rapid.Int64Range(-100, 100).Draw(t, "first")
	for i := range rows {
		if some(gaps) {
			at += step * r.Int64N(5)
		}
		at += step
		x := at + r.Int64N(jitter)
		switch timeType.Kind {
		case KindBigint:
			b.vecs[1].i64 = append(b.vecs[1].i64, x)
		default:
			x = int64(int16(x))
			b.vecs[1].i32 = append(b.vecs[1].i32, int32(x))
		}
		live := LivenessExpiring
		if some(updates) {
			live = LivenessNone
		}
		wrote := x*1_000_000 + r.Int64N(noise)
		ttl := int32(86_400 - x)
		if some(late) {
			wrote, ttl = wrote+1<<30, 60
		}
		m.Liveness, m.WriteTimes, m.TTLs = append(m.Liveness, live), append(m.WriteTimes, wrote), append(m.TTLs, ttl)
		m.Expiries = append(m.Expiries, wrote/1_000_000+int64(ttl))
		if some(deleted) {
			m.Deletions = append(m.Deletions, RowDeletion{Row: i, Deletion: Deletion{wrote - 1, x}})
		}
		for _, v := range []*vector{f, n, text} {
			c := CellAsRow
			if live == LivenessNone {
				c = CellLive | CellOwnTime
			}
			if some(nulls) {
				c = CellAbsent
			}
			v.Cells, v.WriteTimes = append(v.Cells, c), append(v.WriteTimes, wrote)
		}
		f.f32, n.i64 = append(f.f32, float32(r.IntN(1000))/10), append(n.i64, x*3)
		require.NoError(t, text.str.Append([]byte("text of more or less")[:r.IntN(20)]))
	}
	require.NoError(t, b.Check())
	return b
}

// sameRows requires that rows from to to of want are those of got.
func sameRows(t *rapid.T, want *Batch, from, to int, got *Batch, o *ScanOptions) {
	require.Equal(t, to-from, got.Len())
	if o.Columns == nil && !o.WithoutMetadata {
		require.NoError(t, got.Check())
	}
	for i := range to - from {
		for c := 1; c < want.schema.NumColumns(); c++ {
			if c > 1 && o.Columns != nil && !(&wanted{list: o.Columns}).has(c) {
				continue
			}
			w, g := &want.vecs[c], &got.vecs[c]
			require.Equal(t, want.Cell(c, from+i), got.Cell(c, i))
			if !want.Cell(c, from+i).HasValue() {
				continue
			}
			switch w.class {
			case ClassInt32:
				require.Equal(t, w.i32[from+i], g.i32[i])
			case ClassInt64:
				require.Equal(t, w.i64[from+i], g.i64[i])
			case ClassFloat32:
				require.Equal(t, w.f32[from+i], g.f32[i])
			case ClassBytes:
				require.Equal(t, string(w.str.At(from+i)), string(g.str.At(i)))
			}
			if want.Cell(c, from+i)&CellOwnTime != 0 && !o.WithoutMetadata {
				require.Equal(t, w.WriteTimes[from+i], g.WriteTimes[i])
			}
		}
		if o.WithoutMetadata {
			continue
		}
		live := at(want.meta.Liveness, from+i)
		require.Equal(t, live, at(got.meta.Liveness, i))
		if live == LivenessExpiring {
			require.Equal(t, want.meta.WriteTimes[from+i], at(got.meta.WriteTimes, i))
			require.Equal(t, want.meta.TTLs[from+i], at(got.meta.TTLs, i))
			require.Equal(t, want.meta.Expiries[from+i], at(got.meta.Expiries, i))
		}
	}
	if !o.WithoutMetadata {
		deleted := between(want.meta.Deletions, from, to, deletionRow)
		require.Len(t, got.meta.Deletions, len(deleted))
		for i, x := range deleted {
			x.Row -= from
			require.Equal(t, x, got.meta.Deletions[i])
		}
	}
}

// Groups decode alike whichever of them are decoded together, and whatever is
// left out.
func TestDecodeRanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := clocks(t)
		rows := rapid.SampledFrom([]int{8, 128, 100, 7, 300}).Draw(t, "rows a group")
		spans := groupsOf(b, rows)
		spans = spans[:min(len(spans), MaxBlockGroups)]
		o := EncodeOptions{ZstdMeta: rapid.IntRange(0, 3).Draw(t, "zstd") == 0}
		seg, err := NewSegmentEncoder(b.Schema(), o).Encode(b, spans)
		require.NoError(t, err)
		var ts TemplateSet
		d, got := NewBlockDecoder(b.Schema()), NewBatch(b.Schema())
		for first := 0; first < len(spans); {
			n := rapid.IntRange(1, len(spans)-first).Draw(t, "groups")
			block := spans[first : first+n]
			_, tm, _ := ts.Choose(seg, first, first+n)
			parts := 0
			if first == 0 {
				parts = 1
			}
			body := seg.AppendBlock(nil, first, first+n, tm)
			require.NoError(t, d.Open(tm, n, block[n-1].ToRow-block[0].FromRow, parts, body))
			for range 4 {
				from := rapid.IntRange(0, n-1).Draw(t, "from")
				to := rapid.IntRange(from+1, n).Draw(t, "to")
				o := ScanOptions{WithoutMetadata: rapid.Bool().Draw(t, "without metadata"),
					Columns: rapid.SampledFrom([][]int{nil, {}, {2}, {3, 4}}).Draw(t, "columns")}
				got.Clear()
				if first+from > 0 {
					got.BeginPartition(b.Key(0)).Continued = true
				}
				require.NoError(t, d.Decode(got, from, to, &o))
				sameRows(t, b, block[from].FromRow, block[to-1].ToRow, got, &o)
			}
			first += n
		}
	})
}
