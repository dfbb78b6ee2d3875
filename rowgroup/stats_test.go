package rowgroup

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bytestrings"
)

// statsOf are the statistics of a whole batch, after a round trip.
func statsOf(t require.TestingT, b *Batch) *Stats {
	st := NewStats(b.schema)
	st.Add(b, 0, b.Len(), 0, b.NumPartitions())
	src := st.AppendTo(nil)
	got, rest, err := ParseStats(b.schema, append(src, 1, 2, 3))
	require.NoError(t, err)
	require.Equal(t, []byte{1, 2, 3}, rest)
	require.True(t, st.Equal(got))
	require.Equal(t, src, got.AppendTo(nil))
	return got
}

// valueBatch holds one partition with the clustering values 0..n-1 and one
// regular column, which fill fills.
func valueBatch(t require.TestingT, typ Type, n int) *Batch {
	s, err := NewSchema([]Column{{Name: "k", Type: Int}}, []Column{{Name: "c", Type: Int}}, nil, []Column{{Name: "v", Type: typ}})
	require.NoError(t, err)
	b := NewBatch(s)
	b.BeginPartition([]byte{0, 0, 0, 1})
	for i := range n {
		*b.Int32s(1) = append(*b.Int32s(1), int32(i))
	}
	return b
}

func TestT03StatsMinInt64AndNull(t *testing.T) {
	for _, c := range []struct {
		values   []int64
		null     []bool
		min, max int64
	}{
		{[]int64{0, math.MinInt64, -1}, []bool{true, false, false}, math.MinInt64, -1},
		{[]int64{math.MinInt64, 9, math.MaxInt64, 9, 9, 0}, []bool{false, true, false, true, true, false}, math.MinInt64, math.MaxInt64},
	} {
		b := valueBatch(t, Bigint, len(c.values))
		*b.Int64s(2) = c.values
		nulls := int64(0)
		for _, null := range c.null {
			cell := CellAsRow
			if null {
				cell = CellAbsent
				nulls++
			}
			b.vecs[2].Cells = append(b.vecs[2].Cells, cell)
		}
		col := statsOf(t, b).Column(2)
		require.Equal(t, ColumnStats{Values: int64(len(c.values)) - nulls, Nulls: nulls,
			Min: AppendInt(nil, Bigint, c.min), Max: AppendInt(nil, Bigint, c.max)}, col)
	}
}

func TestT16StatsOfNothing(t *testing.T) {
	nan := math.Float64frombits(0x7ff8000000000000)
	b := valueBatch(t, Double, 1024)
	for range 1024 {
		*b.Float64s(2) = append(*b.Float64s(2), nan)
	}
	require.Equal(t, ColumnStats{Values: 1024, NaNs: 1024}, statsOf(t, b).Column(2))

	b = valueBatch(t, Double, 1025)
	b.vecs[2].Cells = absent(1025)
	require.Equal(t, ColumnStats{Nulls: 1025}, statsOf(t, b).Column(2))
}

func TestT22T23StatsWithNaN(t *testing.T) {
	nan := math.NaN()
	negative := math.Float64frombits(math.Float64bits(nan) | 1<<63)
	for _, c := range []struct {
		values   []float64
		nans     int64
		min, max float64
	}{
		{[]float64{nan, 1, 2}, 1, 1, 2},
		{[]float64{1, nan, 2}, 1, 1, 2},
		{[]float64{3, nan, 3}, 1, 3, 3},
		{[]float64{3, negative, -3}, 1, -3, 3},
		{[]float64{0, math.Copysign(0, -1), 0}, 0, math.Copysign(0, -1), 0},
		{[]float64{math.Inf(1), nan, math.Inf(-1)}, 1, math.Inf(-1), math.Inf(1)},
		{[]float64{nan, negative}, 2, 0, 0},
	} {
		b := valueBatch(t, Double, len(c.values))
		*b.Float64s(2) = c.values
		f := valueBatch(t, Float, len(c.values))
		for _, x := range c.values {
			*f.Float32s(2) = append(*f.Float32s(2), float32(x))
		}
		want := ColumnStats{Values: int64(len(c.values)), NaNs: c.nans}
		want32 := want
		if c.nans < want.Values {
			want.Min, want.Max = AppendFloat64(nil, c.min), AppendFloat64(nil, c.max)
			want32.Min, want32.Max = AppendFloat32(nil, float32(c.min)), AppendFloat32(nil, float32(c.max))
		}
		require.Equal(t, want, statsOf(t, b).Column(2))
		require.Equal(t, want32, statsOf(t, f).Column(2))
	}
}

func TestT26StatsKeepNothing(t *testing.T) {
	b := valueBatch(t, Text, 1)
	st := NewStats(b.schema)
	for _, v := range []string{"Solo", "Skywalker", "Skywalker"} {
		b.vecs[2].str.Reset()
		require.NoError(t, b.vecs[2].str.Append([]byte(v)))
		st.Add(b, 0, 1, 0, 1)
		for i := range b.vecs[2].str.Data {
			b.vecs[2].str.Data[i] = 'z'
		}
	}
	col := st.Column(2)
	require.Equal(t, "Skywalker", string(col.Min))
	require.Equal(t, "Solo", string(col.Max))
	col.Min[0] = 'z'
	require.Equal(t, "Skywalker", string(st.Column(2).Min))
}

func TestStatsCutBounds(t *testing.T) {
	long := strings.Repeat("m", 70)
	top := strings.Repeat("\xff", 70)
	for _, c := range []struct {
		typ            Type
		values         []string
		min, max       any
		minCut, maxCut bool
	}{
		{Text, []string{"a", "b", ""}, "", "b", false, false},
		{Text, []string{long}, long[:64], long[:63] + "n", true, true},
		{Text, []string{long, "a", "z"}, "a", "z", false, false},
		{Text, []string{long, long[:64]}, long[:64], long[:63] + "n", false, true},
		{Text, []string{long, long[:63] + "n"}, long[:64], long[:63] + "n", true, false},
		{Blob, []string{top}, top[:64], nil, true, true},
		{Blob, []string{"m" + top, "a"}, "a", "n", false, true},
		{Blob, []string{top, "a"}, "a", nil, false, true},
		{Varint, []string{"\x01", "\xff"}, "\xff", "\x01", false, false},
		{Varint, []string{"\x01", long}, nil, nil, true, true},
		{Type{Kind: KindDuration}, []string{"\x01\x02\x03"}, nil, nil, false, false},
	} {
		for range 2 { // the order of values does not matter
			b := valueBatch(t, c.typ, len(c.values))
			for _, v := range c.values {
				require.NoError(t, b.vecs[2].str.Append([]byte(v)))
			}
			col := statsOf(t, b).Column(2)
			want := ColumnStats{Values: int64(len(c.values)), MinCut: c.minCut, MaxCut: c.maxCut}
			if c.min != nil {
				want.Min = []byte(c.min.(string))
			}
			if c.max != nil {
				want.Max = []byte(c.max.(string))
			}
			require.Equal(t, want, col, "%v", c.values)
			for i, j := 0, len(c.values)-1; i < j; i, j = i+1, j-1 {
				c.values[i], c.values[j] = c.values[j], c.values[i]
			}
		}
	}
}

func TestStatsOfIntegers(t *testing.T) {
	b := valueBatch(t, Type{Kind: KindUint64}, 3)
	*b.Int64s(2) = []int64{-1, 1, math.MinInt64}
	col := statsOf(t, b).Column(2)
	require.Equal(t, uint64(1), binary.BigEndian.Uint64(col.Min))
	require.Equal(t, uint64(math.MaxUint64), binary.BigEndian.Uint64(col.Max))

	b = valueBatch(t, Type{Kind: KindReversed, Args: []Type{Date}}, 3)
	*b.Int32s(2) = []int32{-1, 1, 0}
	col = statsOf(t, b).Column(2)
	require.Equal(t, AppendInt(nil, Date, -1), col.Min)
	require.Equal(t, AppendInt(nil, Date, 1), col.Max)

	b = valueBatch(t, Boolean, 4)
	*b.Int32s(2) = []int32{1, 0, 1, 1}
	b.vecs[2].Cells = []Cell{CellAsRow, CellAsRow | CellEmpty, CellAsRow | CellException, CellTombstone}
	b.vecs[2].Expiries = []int64{0, 0, 0, 77}
	b.vecs[2].Exceptions = []Exception{{2, []byte{9}}}
	st := statsOf(t, b)
	require.Equal(t, ColumnStats{Values: 3, Nulls: 1, Empties: 1, Exceptions: 1, Min: []byte{1}, Max: []byte{1}}, st.Column(2))
	require.Equal(t, int64(1), st.Tombstones)
	require.Equal(t, MinMax{77, 77, true}, st.LocalDeletions)
	require.Equal(t, ColumnStats{}, st.Column(0))
}

func TestStatsOfMetadata(t *testing.T) {
	s := historySchema(t, false)
	d := func(t int64) Deletion { return Deletion{t, t + 1000} }
	b := historyBatch(t, s, []history{
		{key: 1, deletion: d(-50), hasStatic: true, static: historyRow{written: 3, cells: [2]historyCell{{value: "s"}}}, rows: []historyRow{
			{marker: &Marker{Kind: InclStart, Open: d(90)}},
			{at: 1, liveness: LivenessExpiring, written: 5, ttl: 1, expiry: 600, deletion: &RowDeletion{Deletion: d(40)}},
			{at: 2, liveness: LivenessNone, cells: [2]historyCell{
				{state: CellTombstone | CellOwnTime, written: 77, expiry: 99},
				{state: CellExpiring | CellOwnTime | CellOwnExpiry, written: 8, ttl: 1, expiry: 700, value: "x"}}},
			{marker: &Marker{Kind: InclEnd, Close: d(90)}},
			{at: 3, liveness: LivenessExpired, written: 6, expiry: 500, cells: [2]historyCell{{state: CellAbsent}, {state: CellAbsent}}},
		}},
		{key: 2, deletion: LiveDeletion},
	})
	st := statsOf(t, b)
	require.Equal(t, int64(3), st.Rows)
	require.Equal(t, int64(2), st.Markers)
	require.Equal(t, int64(2), st.Partitions)
	require.Equal(t, int64(1), st.PartitionDeletions)
	require.Equal(t, int64(1), st.RowDeletions)
	require.Equal(t, int64(2), st.Tombstones)
	require.Equal(t, int64(2), st.Expiring)
	require.Equal(t, MinMax{-50, 90, true}, st.WriteTimes)
	require.Equal(t, MinMax{500, 700, true}, st.Expiries)
	require.Equal(t, MinMax{99, 1090, true}, st.LocalDeletions)
	require.Equal(t, ColumnStats{Values: 1, Nulls: 1, Min: []byte("s"), Max: []byte("s")}, st.Column(2))
	require.Equal(t, ColumnStats{Values: 1, Nulls: 2, Min: make([]byte, 4), Max: make([]byte, 4)}, st.Column(3))
	require.Equal(t, ColumnStats{Values: 3, Min: AppendInt(nil, Bigint, 1), Max: AppendInt(nil, Bigint, 3)}, st.Column(1))
}

// However rows are split over calls, batches and merged statistics, the result
// is the same.
func TestStatsDoNotDependOnTheSplit(t *testing.T) {
	s := historySchema(t, false)
	rapid.Check(t, func(t *rapid.T) {
		b := historyBatch(t, s, []history{drawLiveHistory(t, 1, false), drawLiveHistory(t, 2, false)})
		want := statsOf(t, b)
		cut := rapid.IntRange(0, b.Len()).Draw(t, "cut")
		p := 0
		for p < len(b.parts) && b.parts[p].Start < cut {
			p++
		}
		st := NewStats(s)
		st.Add(b, 0, cut, 0, p)
		st.Add(b, cut, b.Len(), p, len(b.parts))
		require.True(t, want.Equal(st))
		st.Reset()
		for _, c := range cutAt(t, b, cut) {
			part := NewStats(s)
			part.Add(c, 0, c.Len(), 0, c.NumPartitions())
			st.Merge(part)
		}
		require.True(t, want.Equal(st))
		require.Equal(t, want.AppendTo(nil), st.AppendTo(nil))
	})
}

// An encoder counts what Add counts, whatever the encodings are.
func TestEncodeCounting(t *testing.T) {
	check := func(t *rapid.T, b *Batch, o EncodeOptions) {
		e, want, got := NewSegmentEncoder(b.schema, o), NewStats(b.schema), NewStats(b.schema)
		rows := rapid.IntRange(1, 40).Draw(t, "rows")
		for spans := groupsOf(b, rows); len(spans) > 0; {
			n := rapid.IntRange(1, len(spans)).Draw(t, "groups")
			want.Reset()
			want.Add(b, spans[0].FromRow, spans[n-1].ToRow, spans[0].FromPart, spans[n-1].ToPart)
			got.Reset()
			_, err := e.EncodeCounting(b, spans[:n], got)
			require.NoError(t, err)
			require.True(t, want.Equal(got))
			require.Equal(t, want.AppendTo(nil), got.AppendTo(nil))
			spans = spans[n:]
		}
	}
	s := historySchema(t, false)
	rapid.Check(t, func(t *rapid.T) {
		check(t, historyBatch(t, s, []history{drawLiveHistory(t, 1, false), drawLiveHistory(t, 2, false)}), EncodeOptions{})
	})
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfN(rapid.StringN(0, 90, -1), 1, 5).Draw(t, "texts")
		b := valueBatch(t, Text, rapid.IntRange(1, 100).Draw(t, "n"))
		for range b.Len() {
			x, cell := rapid.SampledFrom(some).Draw(t, "text"), CellAsRow
			if rapid.IntRange(0, 5).Draw(t, "null") == 0 {
				x, cell = "", CellAbsent
			}
			require.NoError(t, b.vecs[2].str.Append([]byte(x)))
			b.vecs[2].Cells = append(b.vecs[2].Cells, cell)
		}
		o := EncodeOptions{Encodings: map[int][]encoding.ID{}}
		o.Encodings[2] = rapid.SliceOfN(rapid.SampledFrom([]encoding.ID{encoding.Dictionary, encoding.FrontCoded, encoding.LengthBytes}), 0, 1).Draw(t, "encodings")
		check(t, b, o)
	})
}

// Bounds of byte strings hold for every value and do not depend on the split.
func TestStatsBoundsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom([]Type{Blob, Varint}).Draw(t, "type")
		values := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) []byte {
			n := rapid.IntRange(60, 68).Draw(t, "length")
			v := bytes.Repeat([]byte{rapid.SampledFrom([]byte{0xfe, 0xff}).Draw(t, "byte")}, n)
			v[rapid.IntRange(0, n-1).Draw(t, "at")] = rapid.Byte().Draw(t, "other")
			return v
		}), 1, 6).Draw(t, "values")
		b := valueBatch(t, typ, len(values))
		for _, v := range values {
			require.NoError(t, b.vecs[2].str.Append(v))
		}
		whole := statsOf(t, b)
		parts := NewStats(b.schema)
		for i := range values {
			one := NewStats(b.schema)
			one.Add(b, len(values)-1-i, len(values)-i, 0, 0)
			parts.Merge(one)
		}
		parts.Partitions = whole.Partitions
		require.True(t, whole.Equal(parts))
		col := whole.Column(2)
		for _, v := range values {
			require.True(t, col.Min == nil || typ.Compare(col.Min, v) <= 0)
			require.True(t, col.Max == nil || typ.Compare(v, col.Max) <= 0)
		}
	})
}

func TestParseStatsRejects(t *testing.T) {
	b := valueBatch(t, Double, 2)
	*b.Float64s(2) = []float64{1, 2}
	st := NewStats(b.schema)
	st.Add(b, 0, 2, 0, 1)
	src := st.AppendTo(nil)
	for n := range src {
		_, _, err := ParseStats(b.schema, src[:n])
		require.ErrorIs(t, err, encoding.ErrCorrupt)
	}
	for at := range src {
		for bit := range 8 {
			bad := bytes.Clone(src)
			bad[at] ^= 1 << bit
			if got, _, err := ParseStats(b.schema, bad); err != nil {
				require.ErrorIs(t, err, encoding.ErrCorrupt)
			} else {
				require.False(t, got.Equal(st))
			}
		}
	}
}

func FuzzParseStats(f *testing.F) {
	s := historySchema(f, false)
	histories := rapid.Custom(func(t *rapid.T) history { return drawLiveHistory(t, 1, false) })
	for seed := range 20 {
		b := historyBatch(f, s, []history{histories.Example(seed)})
		st := NewStats(s)
		st.Add(b, 0, b.Len(), 0, 1)
		f.Add(st.AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		st, _, err := ParseStats(s, src)
		if err != nil {
			require.ErrorIs(t, err, encoding.ErrCorrupt)
			return
		}
		again, rest, err := ParseStats(s, st.AppendTo(nil))
		require.NoError(t, err)
		require.Empty(t, rest)
		require.True(t, st.Equal(again))
		for i := range s.NumColumns() {
			st.Column(i)
		}
	})
}

func TestStatsAllocate(t *testing.T) {
	b := plainBatch(t, 1000, LivenessExpiring, func(i int) int64 { return int64(i) })
	st := NewStats(b.schema)
	require.Zero(t, testing.AllocsPerRun(10, func() { st.Add(b, 0, b.Len(), 0, 1) }))
	require.Less(t, len(st.AppendTo(nil)), 48)
}

func BenchmarkStatsAdd(b *testing.B) {
	batch := plainBatch(b, 4096, LivenessExpiring, func(i int) int64 { return int64(i) })
	st := NewStats(batch.schema)
	for b.Loop() {
		st.Add(batch, 0, batch.Len(), 0, 1)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096, "ns/row")
}

func TestExtremes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s bytestrings.Strings
		// Long beginnings in common, zeros, and strings that begin others.
		list := rapid.SliceOfN(rapid.StringOfN(rapid.SampledFrom([]rune("\x00abc\u00ff")), 0, 20, -1), 1, 30).Draw(t, "strings")
		prefix := rapid.StringN(0, 30, -1).Draw(t, "prefix")
		for _, x := range list {
			if rapid.IntRange(0, 9).Draw(t, "bare") > 0 {
				x = prefix + x
			}
			raw := []byte(x)
			for i := range raw {
				if raw[i] >= 0x80 {
					raw[i] = 0xff
				}
			}
			if err := s.Append(raw); err != nil {
				t.Fatal(err)
			}
		}
		from := rapid.IntRange(0, s.Len()-1).Draw(t, "from")
		to := rapid.IntRange(from+1, s.Len()).Draw(t, "to")
		lo, hi := s.At(from), s.At(from)
		for i := from; i < to; i++ {
			if bytes.Compare(s.At(i), lo) < 0 {
				lo = s.At(i)
			}
			if bytes.Compare(s.At(i), hi) > 0 {
				hi = s.At(i)
			}
		}
		var e extremes
		middle := rapid.IntRange(from, to).Draw(t, "middle")
		e.add(&s, from, middle)
		e.add(&s, middle, to)
		lo, hi = keep(nil, lo), keep(nil, hi)
		if !bytes.Equal(e.lo, lo) || !bytes.Equal(e.hi, hi) {
			t.Fatalf("%q to %q, want %q to %q", e.lo, e.hi, lo, hi)
		}
	})
}
