package rowgroup

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The order by one integer is that of positions and bounds.
func TestIntOrder(t *testing.T) {
	types := []Type{Boolean, Tinyint, Smallint, Int, Bigint, Timestamp(Millis), Date, Time,
		{Kind: KindUint8}, {Kind: KindUint16}, {Kind: KindUint32}, {Kind: KindUint64}, {Kind: KindOldDate}, Numeric(9, 2), Numeric(18, 0)}
	rapid.Check(t, func(rt *rapid.T) {
		typ := rapid.SampledFrom(types).Draw(rt, "type")
		col := Column{Name: "c", Type: typ, Desc: rapid.Bool().Draw(rt, "desc")}
		if rapid.Bool().Draw(rt, "reversed") {
			col.Type = Type{Kind: KindReversed, Args: []Type{typ}}
		}
		s, err := NewSchema(nil, []Column{col}, nil, nil, WithMultiset())
		require.NoError(rt, err)
		o, ok := s.IntOrder()
		require.True(rt, ok)
		value := rapid.Custom(func(rt *rapid.T) []byte {
			n := scalarLen(&typ)
			if rapid.IntRange(0, 9).Draw(rt, "odd") == 0 {
				return [][]byte{nil, {}}[rapid.IntRange(0, 1).Draw(rt, "none")]
			}
			b := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 0x7f, 0x80, 0xff}), n, n).Draw(rt, "bytes")
			return b
		})
		p, q := &Position{Prefix: [][]byte{value.Draw(rt, "p")}}, &Position{Prefix: [][]byte{value.Draw(rt, "q")}}
		v, okP := o.Position(p)
		w, okQ := o.Position(q)
		if okP && okQ {
			require.Equal(rt, s.ComparePositions(p, q), IntBound{w, false}.Compare(v)*btoi(v != w))
		}
		bound := Bound{Prefix: [][]byte{value.Draw(rt, "bound")}, Inclusive: rapid.Bool().Draw(rt, "inclusive")}
		if rapid.IntRange(0, 9).Draw(rt, "open") == 0 {
			bound.Prefix = nil
		}
		for _, isStart := range []bool{true, false} {
			if okP {
				require.Equal(rt, s.PositionToBound(p, bound, isStart), o.Bound(bound, isStart).Compare(v), "%v %v %v", p, bound, isStart)
			}
		}
	})
}

// Booleans above 1 are true, as rows and as bounds.
func TestIntOrderOfBooleans(t *testing.T) {
	s, err := NewSchema(nil, []Column{{Name: "c", Type: Boolean}}, nil, nil, WithMultiset())
	require.NoError(t, err)
	o, ok := s.IntOrder()
	require.True(t, ok)
	p := &Position{Prefix: [][]byte{{1}}}
	v, ok := o.Position(p)
	require.True(t, ok)
	for _, x := range []byte{1, 2, 0x7f, 0xff} {
		for _, inclusive := range []bool{true, false} {
			for _, isStart := range []bool{true, false} {
				bound := Bound{Prefix: [][]byte{{x}}, Inclusive: inclusive}
				require.Equal(t, s.PositionToBound(p, bound, isStart), o.Bound(bound, isStart).Compare(v), "%v %v", bound, isStart)
			}
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
