package rowgroup

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bytestrings"
)

// A value outside a type that is narrower than its slice is refused, in every
// role, unless it is a placeholder.
func TestCheckRanges(t *testing.T) {
	frozen := Type{Kind: KindFrozen, Args: []Type{{Kind: KindTinyint}}}
	for _, c := range []struct {
		typ      Type
		from, to int64
	}{
		{Boolean, 0, 1},
		{Tinyint, -128, 127},
		{frozen, -128, 127},
		{Smallint, -32768, 32767},
		{Type{Kind: KindUint8}, 0, 255},
		{Type{Kind: KindUint16}, 0, 65535},
		{Type{Kind: KindUint32}, 0, 1<<32 - 1},
		{Numeric(9, 2), -999999999, 999999999},
		{Numeric(4, 4), -9999, 9999},
		{Numeric(18, 0), -999999999999999999, 999999999999999999},
	} {
		for _, role := range []Role{Clustering, Static, Regular} {
			s, err := NewSchema([]Column{{Name: "k", Type: Text}}, []Column{{Name: "c", Type: c.typ}},
				[]Column{{Name: "s", Type: c.typ}}, []Column{{Name: "r", Type: c.typ}})
			require.NoError(t, err)
			col := map[Role]int{Clustering: 1, Static: 2, Regular: 3}[role]
			check := func(v int64, cell Cell, marker *Marker) error {
				b := NewBatch(s)
				b.BeginPartition([]byte("a")).Static = StaticFull
				for i := 1; i <= 3; i++ {
					x := int64(0)
					if i == col {
						x = v
						b.CellMeta(i).Cells = []Cell{cell}
					}
					if b.vecs[i].class == ClassInt32 {
						*b.Int32s(i) = append(*b.Int32s(i), int32(x))
					} else {
						*b.Int64s(i) = append(*b.Int64s(i), x)
					}
				}
				if marker != nil {
					*b.Markers() = append(*b.Markers(), *marker)
				}
				return b.Check()
			}
			for _, v := range []int64{c.from - 1, c.to + 1} {
				err := check(v, CellAsRow, nil)
				require.ErrorContains(t, err, s.Column(col).Name)
				require.ErrorContains(t, err, "row 0")
				require.ErrorContains(t, err, c.typ.String())
				require.NoError(t, check(v, CellAbsent, nil), "a placeholder")
				if role != Static {
					require.NoError(t, check(v, CellAsRow, &Marker{Kind: InclStart}), "a placeholder in a marker")
				}
				if role == Clustering {
					require.Error(t, check(v, CellAsRow, &Marker{Kind: InclStart, Prefix: 1}))
				} else {
					require.ErrorContains(t, err, "CellException")
				}
			}
			require.NoError(t, check(c.from, CellAsRow, nil))
			require.NoError(t, check(c.to, CellAsRow, nil))
		}
	}
}

func staticBatch(t *testing.T) (*Schema, *Batch) {
	s, err := NewSchema([]Column{{Name: "k", Type: Text}}, []Column{{Name: "c", Type: Int}},
		[]Column{{Name: "s", Type: Int}}, []Column{{Name: "r", Type: Int}})
	require.NoError(t, err)
	return s, NewBatch(s)
}

// Static values of a partition whose head says that it has none would vanish.
func TestCheckForgottenStatic(t *testing.T) {
	for _, state := range []StaticState{StaticAbsent, StaticEmpty} {
		_, b := staticBatch(t)
		h := b.BeginPartition([]byte("a"))
		h.Static = state
		*b.Int32s(2) = append(*b.Int32s(2), 7)
		require.ErrorContains(t, b.Check(), `column "s": partition 0 has a static cell`)
		h.Static = StaticFull
		require.NoError(t, b.Check())
		h.Static = state
		b.CellMeta(2).Cells = []Cell{CellAbsent}
		require.NoError(t, b.Check())
	}
}

// Partitions without a static row stay without one where others follow: when
// batches are joined and when row groups are read.
func TestStaticAfterNone(t *testing.T) {
	s, none := staticBatch(t)
	none.BeginPartition([]byte("a"))
	full := NewBatch(s)
	full.BeginPartition([]byte("b")).Static = StaticFull
	*full.Int32s(2) = append(*full.Int32s(2), 7)
	both := NewBatch(s)
	for _, b := range []*Batch{none, full, none} {
		require.NoError(t, both.AppendRange(b, 0, 0))
		require.NoError(t, both.Check())
	}
	require.Equal(t, []Cell{CellAbsent, CellAsRow, CellAbsent}, both.CellMeta(2).Cells)

	e := NewSegmentEncoder(s, EncodeOptions{})
	seg, err := e.Encode(both, []Span{{0, 0, 0, 1}, {0, 0, 1, 2}, {0, 0, 2, 3}})
	require.NoError(t, err)
	var ts TemplateSet
	_, tm, _ := ts.Choose(seg, 0, 3)
	d := NewBlockDecoder(s)
	require.NoError(t, d.Open(tm, 3, 0, 3, seg.AppendBlock(nil, 0, 3, tm)))
	got := NewBatch(s)
	require.NoError(t, d.Decode(got, 0, 3, nil))
	require.NoError(t, got.Check())
	require.Equal(t, both.text(), got.text())
}

// A partition that goes on in the next batch is one where both are joined.
func TestAppendJoinsContinued(t *testing.T) {
	s, one := staticBatch(t)
	row := func(b *Batch, c int32) {
		*b.Int32s(1) = append(*b.Int32s(1), c)
		*b.Int32s(3) = append(*b.Int32s(3), c)
	}
	one.BeginPartition([]byte("a")).Static = StaticFull
	*one.Int32s(2) = append(*one.Int32s(2), 7)
	row(one, 1)
	two := NewBatch(s)
	two.BeginPartition([]byte("a")).Continued = true
	row(two, 2)
	two.BeginPartition([]byte("b"))
	row(two, 1)
	for _, b := range []*Batch{one, two} {
		require.NoError(t, b.Check())
	}
	all := one.Clone()
	require.NoError(t, all.AppendRange(two, 0, 2))
	require.NoError(t, all.Check())
	require.Equal(t, 2, all.NumPartitions())
	from, to := all.PartitionRows(0)
	require.Equal(t, []int{0, 2}, []int{from, to})
	require.NoError(t, NewOrderChecker(s).Check(all))

	apart := NewOrderChecker(s)
	require.NoError(t, apart.Check(one))
	require.NoError(t, apart.Check(two))

	two.parts[0].Continued = false
	require.NoError(t, all.AppendRange(two, 0, 1))
	var order *OrderError
	require.ErrorAs(t, NewOrderChecker(s).Check(all), &order)
}

func TestKeyTwiceInBatch(t *testing.T) {
	s, b := staticBatch(t)
	for c := range int32(2) {
		b.BeginPartition([]byte("a"))
		*b.Int32s(1) = append(*b.Int32s(1), c)
		*b.Int32s(3) = append(*b.Int32s(3), c)
	}
	var order *OrderError
	require.ErrorAs(t, NewOrderChecker(s).Check(b), &order)
	require.True(t, order.Duplicate)
	require.ErrorContains(t, order, "twice")
}

func TestCheckBound(t *testing.T) {
	vector := Type{Kind: KindVector, Length: 2, Args: []Type{Float}}
	s, err := NewSchema(nil, []Column{{Name: "time", Type: Bigint}, {Name: "id", Type: UUID}, {Name: "vec", Type: vector}, {Name: "name", Type: Text}}, nil, nil)
	require.NoError(t, err)
	good := [][]byte{make([]byte, 8), make([]byte, 16), make([]byte, 8), []byte("any")}
	for n := range 5 {
		require.NoError(t, s.CheckBound(Bound{Prefix: good[:n]}))
	}
	require.NoError(t, s.CheckBound(Bound{Prefix: [][]byte{nil, {}, nil, {}}}), "null and empty values")
	for i, name := range []string{"time", "id", "vec"} {
		bad := append([][]byte{}, good...)
		bad[i] = make([]byte, 4)
		require.ErrorContains(t, s.CheckBound(Bound{Prefix: bad}), name)
	}
	require.Error(t, s.CheckBound(Bound{Prefix: append(good, nil)}))
}

// A block whose strings pass what one batch can hold is damage, not a limit
// of the caller.
func TestTooLargeIsDamage(t *testing.T) {
	err := tooLarge(fmt.Errorf("column v: %w", bytestrings.ErrTooLarge))
	require.ErrorIs(t, err, encoding.ErrCorrupt)
	require.ErrorIs(t, err, bytestrings.ErrTooLarge)
	require.NoError(t, tooLarge(nil))
}
