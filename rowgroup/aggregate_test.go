package rowgroup

import (
	"encoding/binary"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// aggregated is what column col of b comes to, value by value.
func aggregated(b *Batch, col int) (rows int64, a Aggregate) {
	t := b.schema.cols[col].Type.bare()
	for i := range b.Len() {
		if b.isMarker(i) {
			continue
		}
		rows++
		v, ok := b.AppendValue(nil, col, i)
		if !ok {
			a.Nulls++
			continue
		}
		a.Values++
		if c := b.Cell(col, i); c&(CellEmpty|CellException) != 0 {
			continue
		}
		if t.Kind == KindFloat || t.Kind == KindDouble {
			f := 0.0
			if t.Kind == KindFloat {
				x, _ := Float32Of(v)
				f = float64(x)
			} else {
				f, _ = Float64Of(v)
			}
			if f != f {
				a.NaNs++
				continue
			}
		}
		if !t.Ordered() || b.MultiCells(col) != nil {
			continue
		}
		if a.Min == nil || t.Compare(v, a.Min) < 0 {
			a.Min = append([]byte{}, v...)
		}
		if a.Max == nil || t.Compare(v, a.Max) > 0 {
			a.Max = append([]byte{}, v...)
		}
	}
	return rows, a
}

func TestAggregator(t *testing.T) {
	s := everySchema(t)
	var cols []int
	for col := range s.NumColumns() {
		from, to := s.Range(Static)
		if first, _ := s.Range(Clustering); col >= first && (col < from || col >= to) {
			cols = append(cols, col)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		b := drawHistory(t, s)
		a, err := NewAggregator(s, cols, nil)
		require.NoError(t, err)
		cut := rapid.IntRange(0, b.Len()).Draw(t, "cut")
		a.Add(b, 0, cut)
		a.Add(b, cut, b.Len())
		got := a.Result()
		for i, col := range cols {
			rows, want := aggregated(b, col)
			require.Equal(t, rows, got.Rows)
			require.Equal(t, want, got.Columns[i], "column %s", s.Column(col).Name)
		}
		st := NewStats(s)
		st.Add(b, 0, b.Len(), 0, b.NumPartitions())
		byStats, err := NewAggregator(s, cols, nil)
		require.NoError(t, err)
		if byStats.AddStats(st) {
			require.Equal(t, got, byStats.Result())
		}
	})
}

func TestAggregatorSums(t *testing.T) {
	sumOf := func(typ Type, fill func(b *Batch, col int)) Aggregate {
		s, err := NewSchema(nil, nil, nil, []Column{{Name: "v", Type: typ}})
		require.NoError(t, err)
		b := NewBatch(s)
		b.BeginPartition(nil)
		fill(b, 0)
		a, err := NewAggregator(s, []int{0}, []int{0})
		require.NoError(t, err)
		a.Add(b, 0, b.Len())
		require.False(t, a.AddStats(NewStats(s)), "statistics have no sums")
		return a.Result().Columns[0]
	}
	ints := func(v ...int64) func(*Batch, int) {
		return func(b *Batch, col int) { *b.Int64s(col) = append(*b.Int64s(col), v...) }
	}
	for _, c := range []struct {
		typ  Type
		fill func(*Batch, int)
		want string
	}{
		{Bigint, ints(1, -2, 3), "2"},
		{Bigint, ints(math.MaxInt64, math.MaxInt64, 1), "18446744073709551615"},
		{Bigint, ints(math.MinInt64, math.MinInt64, -1), "-18446744073709551617"},
		{Type{Kind: KindUint64}, ints(-1, -1), "36893488147419103230"},
		{Int, func(b *Batch, col int) {
			*b.Int32s(col) = append(*b.Int32s(col), math.MinInt32, math.MinInt32, 1)
		}, "-4294967295"},
	} {
		got := sumOf(c.typ, c.fill)
		require.Equal(t, c.want, got.IntSum.String())
	}
	f := sumOf(Double, func(b *Batch, col int) { *b.Float64s(col) = append(*b.Float64s(col), 1e308, 1, 1e308, -1e308, -1e308) })
	require.Equal(t, 1.0, f.Sum)
	require.Equal(t, 0.2, f.Mean())
	f = sumOf(Float, func(b *Batch, col int) { *b.Float32s(col) = append(*b.Float32s(col), 0.5, -0.25) })
	require.Equal(t, 0.25, f.Sum)
	f = sumOf(Double, func(*Batch, int) {})
	require.True(t, math.IsNaN(f.Mean()))
	i := Aggregate{IntSum: big.NewInt(1), Summed: 3}
	require.Equal(t, 1.0/3, i.Mean())
	d := sumOf(Numeric(12, 2), ints(150, -25, 3))
	require.Equal(t, "128", d.IntSum.String())
	require.Equal(t, int32(2), d.Scale)
	require.Equal(t, 1.28/3, d.Mean())
}

func TestAggregatorLongTexts(t *testing.T) {
	s, err := NewSchema(nil, nil, nil, []Column{{Name: "v", Type: Text}})
	require.NoError(t, err)
	b := NewBatch(s)
	b.BeginPartition(nil)
	long := make([]byte, 3*MaxBoundBytes)
	for i := range 3 {
		binary.BigEndian.PutUint32(long[2*MaxBoundBytes:], uint32(i))
		b.Bytes(0).Append(long)
	}
	a, err := NewAggregator(s, []int{0}, nil)
	require.NoError(t, err)
	st := NewStats(s)
	st.Add(b, 0, 3, 0, 1)
	require.False(t, a.AddStats(st), "the bounds are cut")
	a.Add(b, 0, 3)
	r := a.Result()
	require.Equal(t, b.Bytes(0).At(0), r.Columns[0].Min)
	require.Equal(t, b.Bytes(0).At(2), r.Columns[0].Max)
}

func TestNewAggregatorRefuses(t *testing.T) {
	s := everySchema(t)
	first, _ := s.Range(Static)
	_, err := NewAggregator(s, []int{0}, nil)
	require.ErrorContains(t, err, "neither a clustering nor a regular column")
	_, err = NewAggregator(s, []int{first}, nil)
	require.ErrorContains(t, err, "neither")
	last := s.NumColumns() - 1
	_, err = NewAggregator(s, nil, []int{last})
	require.ErrorContains(t, err, "not among the columns")
	text, err := NewSchema(nil, nil, nil, []Column{{Name: "v", Type: Text}})
	require.NoError(t, err)
	_, err = NewAggregator(text, []int{0}, []int{0})
	require.EqualError(t, err, `aggregate: column "v", type text, has no sum`)
}
