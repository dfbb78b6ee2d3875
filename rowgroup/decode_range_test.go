package rowgroup

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
)

// plainRows is a table without anything but values and the times of rows.
func plainRows(t *rapid.T) *Batch {
	s, err := NewSchema([]Column{{Name: "k", Type: Text}}, []Column{{Name: "time", Type: Bigint}}, nil,
		[]Column{{Name: "f", Type: Float}, {Name: "n", Type: Int}, {Name: "s", Type: Text}, {Name: "d", Type: Double}})
	require.NoError(t, err)
	b := NewBatch(s)
	b.BeginPartition([]byte("k"))
	noise := rapid.SampledFrom([]int64{1, 5, 1000, 3_000_000}).Draw(t, "noise")
	step := rapid.Int64Range(0, 7).Draw(t, "step")
	expiring := rapid.Bool().Draw(t, "expiring")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	m := b.Meta()
	for i := range rapid.IntRange(1, 700).Draw(t, "rows") {
		at := 1_000_000 + int64(i)*step
		b.vecs[1].i64 = append(b.vecs[1].i64, at)
		b.vecs[2].f32 = append(b.vecs[2].f32, float32(r.IntN(1000))/10)
		b.vecs[3].i32 = append(b.vecs[3].i32, int32(r.Int64N(noise)))
		require.NoError(t, b.vecs[4].str.Append(fmt.Append(nil, r.Int64N(noise))))
		b.vecs[5].f64 = append(b.vecs[5].f64, r.Float64())
		m.WriteTimes = append(m.WriteTimes, at*1_000_000+r.Int64N(noise))
		if expiring {
			m.Liveness, m.TTLs = append(m.Liveness, LivenessExpiring), append(m.TTLs, int32(100+r.Int64N(noise)))
			m.Expiries = append(m.Expiries, at+int64(m.TTLs[i]))
		}
	}
	require.NoError(t, b.Check())
	return b
}

// A part of a group decodes as the group does, and parameters tell where a bound
// lies among its rows.
func TestDecodeRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := plainRows(t)
		spans := groupsOf(b, rapid.SampledFrom([]int{8, 13, 128}).Draw(t, "rows a group"))
		spans = spans[:min(len(spans), MaxBlockGroups)]
		seg, err := NewSegmentEncoder(b.Schema(), EncodeOptions{}).Encode(b, spans)
		require.NoError(t, err)
		var ts TemplateSet
		n := len(spans)
		_, tm, _ := ts.Choose(seg, 0, n)
		d, got := NewBlockDecoder(b.Schema()), NewBatch(b.Schema())
		require.NoError(t, d.Open(tm, n, spans[n-1].ToRow, 1, seg.AppendBlock(nil, 0, n, tm)))
		order, ok := b.Schema().IntOrder()
		require.True(t, ok)
		for range 4 {
			g := rapid.IntRange(0, n-1).Draw(t, "group")
			lo := rapid.IntRange(0, d.GroupRows(g)-1).Draw(t, "lo")
			hi := rapid.IntRange(lo+1, d.GroupRows(g)).Draw(t, "hi")
			o := ScanOptions{WithoutMetadata: rapid.Bool().Draw(t, "without metadata"),
				Columns: rapid.SampledFrom([][]int{nil, {}, {2}, {3, 4}}).Draw(t, "columns")}
			got.Clear()
			got.BeginPartition([]byte("k"))
			ok, err := d.DecodeRows(got, g, lo, hi, &o)
			require.NoError(t, err)
			if d.GroupPartitions(g) == 0 && d.plain {
				require.True(t, ok)
				sameRows(t, b, spans[g].FromRow+lo, spans[g].FromRow+hi, got, &o)
				if o.Columns == nil {
					require.Equal(t, b.vecs[5].f64[spans[g].FromRow+lo:spans[g].FromRow+hi], got.vecs[5].f64)
				}
			}
			bound := IntBound{b.vecs[1].i64[spans[g].FromRow+lo], rapid.Bool().Draw(t, "after")}
			want, ok := order.Search(b, 0, spans[n-1].ToRow, bound)
			require.True(t, ok)
			if i, ok := d.SearchInt(&order, g, bound); ok {
				require.Equal(t, min(max(want, spans[g].FromRow), spans[g].ToRow), spans[g].FromRow+i)
			}
			if from, to, ok := d.GroupsWithin(&order, bound, IntBound{bound.Value, true}); ok {
				end, _ := order.Search(b, 0, spans[n-1].ToRow, IntBound{bound.Value, true})
				require.True(t, spans[from].FromRow <= want && want <= spans[to-1].ToRow, "%d in groups %d to %d", want, from, to)
				require.LessOrEqual(t, end, spans[to-1].ToRow)
			}
		}
	})
}

// Values of partitions in a group where none begins are refused by name, however
// its rows are asked for.
func TestDecodeHeadless(t *testing.T) {
	s, err := NewSchema([]Column{{Name: "k", Type: Text}}, []Column{{Name: "c", Type: Int}}, nil, []Column{{Name: "v", Type: Int}})
	require.NoError(t, err)
	b := NewBatch(s)
	b.BeginPartition([]byte("k"))
	for i := range int32(30) {
		b.vecs[1].i32, b.vecs[2].i32 = append(b.vecs[1].i32, i), append(b.vecs[2].i32, i*i)
	}
	seg, err := NewSegmentEncoder(s, EncodeOptions{}).Encode(b, []Span{{0, 10, 0, 1}, {10, 20, 1, 1}, {20, 30, 1, 1}})
	require.NoError(t, err)
	var ts TemplateSet
	_, sound, _ := ts.Choose(seg, 1, 3)
	body := seg.AppendBlock(nil, 1, 3, sound)
	for st, name := range []string{"$partition_rows", "$key", "$partition_state", "$partition_deletion_time", "$partition_local_deletion"} {
		tm := &Template{}
		for k, x := range sound.streams {
			shapes := sound.shapes(k)
			tm.add(x.stream, &shapes)
			if k == 0 { // of the groups: those of partitions come next
				id := encoding.Constant
				if st == sKey {
					id = encoding.LengthBytes
				}
				tm.add(int32(st), &[numSlots]shape{
					slotID:    {kind: shapeConst, v: int64(id)},
					slotCount: {kind: shapeConst, v: countExplicit + 1},
				})
			}
		}
		parsed, err := ParseTemplate(s, tm.AppendTo(nil))
		require.NoError(t, err)
		d := NewBlockDecoder(s)
		require.NoError(t, d.Open(parsed, 2, 20, 0, body))
		got := NewBatch(s)
		for _, decode := range []func() error{
			func() error { return d.Decode(got, 0, 2, nil) },
			func() error { return d.Decode(got, 1, 2, nil) },
			func() error {
				done, err := d.DecodeRows(got, 1, 2, 5, &ScanOptions{})
				require.True(t, done)
				return err
			},
		} {
			got.Clear()
			got.BeginPartition([]byte("k"))
			err := decode()
			require.ErrorIs(t, err, encoding.ErrCorrupt, name)
			require.ErrorContains(t, err, name)
			require.ErrorContains(t, err, "values without a partition")
		}
	}
}

// One of many partitions of a group decodes as it does among all.
func TestDecodePartition(t *testing.T) {
	every := everySchema(t)
	rapid.Check(t, func(t *rapid.T) {
		s := every
		b := drawHistory(t, s)
		if rapid.Bool().Draw(t, "bare") {
			b = manyPartitions(t)
			s = b.Schema()
		}
		spans := spansOf(t, b)
		spans = spans[:min(len(spans), MaxBlockGroups)]
		seg, err := NewSegmentEncoder(s, EncodeOptions{}).Encode(b, spans)
		require.NoError(t, err)
		var ts TemplateSet
		n := len(spans)
		_, tm, _ := ts.Choose(seg, 0, n)
		d, got, all := NewBlockDecoder(s), NewBatch(s), NewBatch(s)
		require.NoError(t, d.Open(tm, n, spans[n-1].ToRow, spans[n-1].ToPart, seg.AppendBlock(nil, 0, n, tm)))
		for g, sp := range spans {
			if sp.FromPart == sp.ToPart {
				continue
			}
			all.Clear()
			require.NoError(t, d.Decode(all, g, g+1, nil))
			keys, err := d.Keys(g)
			require.NoError(t, err)
			require.Equal(t, sp.ToPart-sp.FromPart, keys.Len())
			i := rapid.IntRange(0, keys.Len()-1).Draw(t, "partition")
			require.Equal(t, string(b.Key(sp.FromPart+i)), string(keys.At(i)))
			h, err := d.Head(g, i)
			require.NoError(t, err)
			require.Equal(t, *all.Partition(i), h)
			got.Clear()
			require.NoError(t, d.DecodePartition(got, g, g+1, i, nil))
			lo, hi := all.PartitionRows(i)
			all.Cut(i, lo, hi)
			require.Equal(t, all.text(), got.text())
		}
	})
}

// manyPartitions is a table of partitions of as many rows each.
func manyPartitions(t *rapid.T) *Batch {
	s, err := NewSchema([]Column{{Name: "k", Type: Bigint}}, []Column{{Name: "time", Type: Bigint}}, nil,
		[]Column{{Name: "v", Type: Double}, {Name: "s", Type: Text}})
	require.NoError(t, err)
	b, r := NewBatch(s), rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	each := rapid.IntRange(1, 5).Draw(t, "rows of each")
	for p := range rapid.IntRange(1, 40).Draw(t, "partitions") {
		b.BeginPartition(AppendInt(nil, Bigint, int64(p)*1000+r.Int64N(1000)))
		for i := range each {
			b.vecs[1].i64 = append(b.vecs[1].i64, int64(i))
			b.vecs[2].f64 = append(b.vecs[2].f64, float64(r.IntN(1000))/100)
			require.NoError(t, b.vecs[3].str.Append(fmt.Append(nil, r.IntN(100))))
			b.Meta().WriteTimes = append(b.Meta().WriteTimes, r.Int64N(1000))
		}
	}
	require.NoError(t, b.Check())
	return b
}

// A place on a ramp is found whatever the first guess, and where values overflow.
func TestSearchRamp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := encoding.Ramp{First: rapid.Int64().Draw(t, "first"), Step: rapid.OneOf(rapid.Int64Range(0, 9), rapid.Int64Range(0, 1<<55)).Draw(t, "step")}
		n := rapid.IntRange(0, 100).Draw(t, "values")
		r.First = min(r.First, math.MaxInt64-int64(n)*r.Step)
		flip := rapid.SampledFrom([]int64{0, -1, math.MinInt64, math.MaxInt64}).Draw(t, "flip")
		values := make([]int64, n)
		for i := range values {
			values[i] = (r.First + int64(i)*r.Step) ^ flip
		}
		if !slices.IsSorted(values) {
			slices.Reverse(values)
			r.First, r.Step = r.First+int64(n-1)*r.Step, -r.Step
		}
		if !slices.IsSorted(values) {
			t.Skip("no order")
		}
		bound := IntBound{rapid.Int64().Draw(t, "bound"), rapid.Bool().Draw(t, "after")}
		if n > 0 && rapid.Bool().Draw(t, "near") {
			bound.Value = rapid.SampledFrom(values).Draw(t, "value") + rapid.Int64Range(-1, 1).Draw(t, "off")
		}
		want := 0
		for want < n && bound.Compare(values[want]) < 0 {
			want++
		}
		require.Equal(t, want, searchRamp(r, n, flip, bound))
	})
}

// What a decoder opened before leaves nothing behind.
func TestOpenInTurns(t *testing.T) {
	every := everySchema(t)
	rapid.Check(t, func(t *rapid.T) {
		d := NewBlockDecoder(every)
		got, want := NewBatch(every), NewBatch(every)
		for range 4 {
			b := drawHistory(t, every)
			spans := spansOf(t, b)
			spans = spans[:min(len(spans), MaxBlockGroups)]
			if len(spans) == 0 {
				continue
			}
			seg, err := NewSegmentEncoder(every, EncodeOptions{}).Encode(b, spans)
			require.NoError(t, err)
			var ts TemplateSet
			to := rapid.IntRange(1, len(spans)).Draw(t, "groups")
			_, tm, _ := ts.Choose(seg, 0, to)
			body := seg.AppendBlock(nil, 0, to, tm)
			got.Clear()
			want.Clear()
			for _, x := range []struct {
				d *BlockDecoder
				b *Batch
			}{{d, got}, {NewBlockDecoder(every), want}} {
				require.NoError(t, x.d.Open(tm, to, spans[to-1].ToRow, spans[to-1].ToPart, body))
				require.NoError(t, x.d.Decode(x.b, 0, to, nil))
			}
			require.Equal(t, want.text(), got.text())
		}
	})
}
