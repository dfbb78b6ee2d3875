package rowgroup

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/simd"
)

// wholeIs requires that a block decoded whole is what it is when it is opened,
// and reports whether it could be.
func wholeIs(t testing.TB, x *testBlock) bool {
	x.got = NewBatch(x.batch.schema)
	if !x.whole() {
		return false
	}
	got := x.got
	x.got = NewBatch(x.batch.schema)
	require.NoError(t, x.open())
	require.NoError(t, x.decode(0, x.groups))
	sameBatch(t, x.got, got)
	return true
}

// withinIs requires that rows of a block of one clustering column are those of the
// whole block, as x.got has them, and reports whether they could be decoded.
func withinIs(t testing.TB, x *testBlock, r *RowRange, lo, hi int) bool {
	got := NewBatch(x.batch.schema)
	got.Clear()
	n, ok := x.dec.DecodeWithin(got, x.batch.Key(0), x.tm, x.groups, x.rows, x.parts, x.body, r, &x.o)
	if !ok {
		return false
	}
	require.Equal(t, hi-lo, n)
	all := x.got
	x.got = NewBatch(x.batch.schema)
	require.True(t, x.whole())
	want := x.got
	x.got = all
	want.Cut(0, lo, hi)
	sameBatch(t, want, got)
	return true
}

func TestDecodeWhole(t *testing.T) {
	for l := simd.Generic; l <= simd.Supported(); l++ {
		restore := simd.SetLevel(l)
		for name, x := range testBlocks(t) {
			require.Equal(t, name != "irregular", wholeIs(t, x), name)
		}
		restore()
	}
}

// steadyRows is a table of one series of numbers whose times, write times, TTLs
// and expiries are clocks.
func steadyRows(t *rapid.T) *Batch {
	number := rapid.SampledFrom([]Type{Float, Double})
	timeType := rapid.SampledFrom([]Type{Int, Bigint, Smallint, Timestamp(Micros), Date, {Kind: KindUint32}, {Kind: KindUint64}, Numeric(7, 2), Numeric(15, 3)}).Draw(t, "time")
	least, greatest := timeType.intRange()
	if desc := rapid.SampledFrom([]bool{false, false, true}).Draw(t, "descending"); desc {
		timeType = Type{Kind: KindReversed, Args: []Type{timeType}}
	}
	s, err := NewSchema([]Column{{Name: "k", Type: Text}}, []Column{{Name: "time", Type: timeType}}, nil,
		[]Column{{Name: "a", Type: number.Draw(t, "a")}, {Name: "b", Type: number.Draw(t, "b")}, {Name: "n", Type: Int}})
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	b := NewBatch(s)
	b.BeginPartition([]byte("k"))
	step := rapid.Int64Range(1, 3000).Draw(t, "step")
	noise := rapid.SampledFrom([]int64{1, 8000, 8000, 900_000, 3_000_000}).Draw(t, "noise")
	unit := rapid.SampledFrom([]int64{1, 1_000_000, 1_000_000}).Draw(t, "unit")
	drift := rapid.SampledFrom([]int64{0, 0, 0, 0, 1, 40}).Draw(t, "drift")
	live := rapid.SampledFrom([]Liveness{LivenessLive, LivenessExpiring, LivenessExpired}).Draw(t, "liveness")
	ttl := rapid.SampledFrom([]int64{0, 1, -1}).Draw(t, "ttl")
	digits := rapid.SampledFrom([]float64{1, 100, 1e6}).Draw(t, "digits")
	odd := rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "odd")
	few := rapid.SampledFrom([]int64{1, 4}).Draw(t, "few")
	rows := int64(32 * rapid.IntRange(2, 30).Draw(t, "groups"))
	span := step*rows + rows/100*drift
	base := rapid.SampledFrom([]int64{0, 0, least, greatest - span}).Draw(t, "base")
	m, v := b.Meta(), 0.0
	for i := range rows {
		clock := step*i + i/100*drift
		x := base + clock
		if timeType.Kind == KindReversed {
			x = base + span - clock
		}
		if x < least || x > greatest {
			x = clock % (greatest + 1)
		}
		if timeType.Physical().Class() == ClassInt32 {
			b.vecs[1].i32 = append(b.vecs[1].i32, int32(x))
		} else {
			b.vecs[1].i64 = append(b.vecs[1].i64, x)
		}
		wrote := clock*unit + r.Int64N(noise)
		m.Liveness, m.WriteTimes = append(m.Liveness, live), append(m.WriteTimes, wrote)
		m.TTLs = append(m.TTLs, 0)
		m.Expiries = append(m.Expiries, 0)
		if live == LivenessExpiring {
			m.TTLs[i] = int32(86_400 + ttl*i)
		}
		if live != LivenessLive {
			m.Expiries[i] = wrote/1_000_000 + int64(m.TTLs[i])
		}
		v += r.NormFloat64()
		for c := 2; c < 4; c++ {
			y := math.Round(v*digits) / digits
			if r.IntN(100) < odd {
				y = []float64{math.NaN(), 1e30, v, math.Copysign(0, -1)}[r.IntN(4)]
			}
			if b.vecs[c].class == ClassFloat32 {
				b.vecs[c].f32 = append(b.vecs[c].f32, float32(y))
			} else {
				b.vecs[c].f64 = append(b.vecs[c].f64, y)
			}
		}
		b.vecs[4].i32 = append(b.vecs[4].i32, int32(3*x+r.Int64N(few)))
	}
	require.NoError(t, b.Check())
	return b
}

func TestDecodeWholeOfSteadyRows(t *testing.T) {
	whole, some := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		b := steadyRows(rt)
		spans := groupsOf(b, 32)
		seg, err := NewSegmentEncoder(b.Schema(), EncodeOptions{}).Encode(b, spans)
		require.NoError(rt, err)
		var ts TemplateSet
		for from := 0; from < len(spans); {
			n := min(rapid.IntRange(1, 8).Draw(rt, "groups of a block"), len(spans)-from)
			x := &testBlock{batch: b, dec: NewBlockDecoder(b.Schema()), groups: n, rows: 32 * n}
			if from == 0 {
				x.parts = 1
			}
			_, x.tm, _ = ts.Choose(seg, from, from+n)
			x.body = seg.AppendBlock(nil, from, from+n, x.tm)
			x.o.WithoutMetadata = rapid.Bool().Draw(rt, "without metadata")
			x.o.Columns = rapid.SampledFrom([][]int{nil, {}, {2}, {3, 4}}).Draw(rt, "columns")
			if wholeIs(t, x) {
				whole++
				if someRows(t, rt, x) {
					some++
				}
			}
			from += n
		}
	})
	require.Positive(t, whole)
	require.Positive(t, some)
}

// someRows compares rows of x, which x.got has all of, in a range, and at an end.
func someRows(tb testing.TB, t *rapid.T, x *testBlock) bool {
	order, ok := x.batch.Schema().IntOrder()
	require.True(t, ok)
	at := func(i int) int64 {
		v, ok := order.At(x.got, i)
		require.True(t, ok)
		return v
	}
	lo := rapid.IntRange(0, x.rows-1).Draw(t, "first")
	hi := rapid.IntRange(lo, x.rows-1).Draw(t, "last")
	for i := 1; i < x.rows; i++ {
		if at(i) <= at(i-1) { // the type ends
			return true
		}
	}
	r := RowRange{Order: &order, Start: IntBound{Value: at(lo)}, End: IntBound{Value: at(hi), After: true}, Limit: -1}
	hi++
	if rapid.Bool().Draw(t, "limited") {
		r.Limit, r.Last = rapid.IntRange(1, 40).Draw(t, "limit"), rapid.Bool().Draw(t, "the last")
		if n := min(r.Limit, hi-lo); r.Last {
			lo = hi - n
		} else {
			hi = lo + n
		}
	}
	ok = withinIs(tb, x, &r, lo, hi)
	n := min(x.rows, rapid.IntRange(1, 40).Draw(t, "rows"))
	return withinIs(tb, x, &RowRange{Limit: n, Last: true}, x.rows-n, x.rows) && ok
}
