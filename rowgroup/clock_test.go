package rowgroup

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/simd"
)

// unsteadyRows is a table of one series whose times have gaps, with rows that
// replace deleted ones and cells that are not there.
func unsteadyRows(t *rapid.T) *Batch {
	timeType := rapid.SampledFrom([]Type{Int, Bigint, Timestamp(Millis)}).Draw(t, "time")
	number := rapid.SampledFrom([]Type{Float, Double, Int, Bigint, Text})
	s, err := NewSchema([]Column{{Name: "k", Type: Text}}, []Column{{Name: "time", Type: timeType}}, nil,
		[]Column{{Name: "a", Type: number.Draw(t, "a")}, {Name: "b", Type: number.Draw(t, "b")}})
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	b := NewBatch(s)
	b.BeginPartition([]byte("k"))
	step := rapid.Int64Range(1, 3000).Draw(t, "step")
	noise := rapid.SampledFrom([]int64{1, 8000, 900_000, 3_000_000}).Draw(t, "noise")
	unit := rapid.SampledFrom([]int64{1, 1000, 1_000_000}).Draw(t, "unit")
	jump := rapid.SampledFrom([]int64{1, 3, 1 << 20}).Draw(t, "jump")
	start := rapid.SampledFrom([]int64{0, -400_000, 1_700_000_000}).Draw(t, "start")
	odd := rapid.SampledFrom([]int{20, 100, 1000}).Draw(t, "odd")
	kinds := rapid.SampledFrom([][]Cell{{CellAbsent}, {CellAbsent, CellAsRow | CellEmpty, CellLive}, {CellAbsent, CellTombstone}}).Draw(t, "kinds")
	live := rapid.SampledFrom([]Liveness{LivenessLive, LivenessExpiring}).Draw(t, "liveness")
	m := b.Meta()
	for i, x := 0, start; i < 128*rapid.IntRange(2, 20).Draw(t, "groups")-i%7; i++ {
		if x += step; r.IntN(odd) == 0 {
			x += step * (1 + r.Int64N(jump))
		}
		if timeType.Physical().Class() == ClassInt32 {
			b.vecs[1].i32 = append(b.vecs[1].i32, int32(min(x, 1<<31-1)))
		} else {
			b.vecs[1].i64 = append(b.vecs[1].i64, x)
		}
		wrote := x*unit + r.Int64N(noise)
		m.Liveness, m.WriteTimes = append(m.Liveness, live), append(m.WriteTimes, wrote)
		m.TTLs, m.Expiries = append(m.TTLs, 0), append(m.Expiries, 0)
		if live == LivenessExpiring {
			m.TTLs[i] = int32(86_400 + (x-start)%(1<<30))
			m.Expiries[i] = wrote/1_000_000 + int64(m.TTLs[i])
		}
		if r.IntN(odd) == 0 {
			m.Deletions = append(m.Deletions, RowDeletion{Row: i, Deletion: Deletion{wrote - 1, wrote / 1_000_000}, Shadowable: r.IntN(9) == 0})
		}
		for c := 2; c < 4; c++ {
			v := &b.vecs[c]
			cell := CellAsRow
			if r.IntN(odd) == 0 {
				cell = kinds[r.IntN(len(kinds))]
			}
			if v.class == ClassBytes && cell&CellEmpty != 0 {
				cell = CellAbsent
			}
			v.Cells = append(v.Cells, cell)
			v.Expiries = append(v.Expiries, 0)
			if cell == CellTombstone {
				v.Expiries[i] = wrote / 1_000_000
			}
			x := int64(0)
			if cell.HasValue() {
				x = r.Int64N(1000)
			}
			switch v.class {
			case ClassInt32:
				v.i32 = append(v.i32, int32(x))
			case ClassInt64:
				v.i64 = append(v.i64, x)
			case ClassFloat32:
				v.f32 = append(v.f32, float32(x)/10)
			case ClassFloat64:
				v.f64 = append(v.f64, float64(x)/10)
			default:
				require.NoError(t, v.str.Append([]byte("some text")[:x%9]))
			}
		}
	}
	return b
}

// All groups decoded together are what they are one by one, at every level.
func TestDecodeTogether(tt *testing.T) {
	rapid.Check(tt, func(t *rapid.T) {
		b := unsteadyRows(t)
		spans := groupsOf(b, 128)
		seg, err := NewSegmentEncoder(b.Schema(), EncodeOptions{}).Encode(b, spans)
		require.NoError(t, err)
		var ts TemplateSet
		_, tm, _ := ts.Choose(seg, 0, len(spans))
		body := seg.AppendBlock(nil, 0, len(spans), tm)
		rows, parts := b.Len(), b.NumPartitions()
		defer simd.SetLevel(simd.Level(rapid.IntRange(int(simd.Generic), int(simd.Supported())).Draw(t, "level")))()
		dec, all, got := NewBlockDecoder(b.Schema()), NewBatch(b.Schema()), NewBatch(b.Schema())
		require.NoError(t, dec.Open(tm, len(spans), rows, parts, body))
		require.NoError(t, dec.Decode(all, 0, len(spans), nil))
		for g := range spans {
			require.NoError(t, dec.Decode(got, g, g+1, nil))
		}
		require.NoError(t, all.Check())
		sameBatch(tt, all, got)
		from := rapid.IntRange(0, len(spans)-1).Draw(t, "from")
		to := rapid.IntRange(from+1, len(spans)).Draw(t, "to")
		all, got = NewBatch(b.Schema()), NewBatch(b.Schema())
		if from > 0 {
			all.BeginPartition(b.Key(0)).Continued = true
			got.BeginPartition(b.Key(0)).Continued = true
		}
		require.NoError(t, dec.Decode(all, from, to, nil))
		for g := from; g < to; g++ {
			require.NoError(t, dec.Decode(got, g, g+1, nil))
		}
		sameBatch(tt, all, got)
	})
}

// A frame whose base moves from group to group.
func TestDecodeIrregularTogether(t *testing.T) {
	x := newTestBlock(t, irregular(t, 128*32), 0, 32)
	all := x.got
	x.got = NewBatch(x.batch.schema)
	for g := range x.groups {
		require.NoError(t, x.dec.Decode(x.got, g, g+1, &x.o))
	}
	sameBatch(t, all, x.got)
}
