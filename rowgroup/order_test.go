package rowgroup

import (
	"bytes"
	"cmp"
	"crypto/md5"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
)

// orderPlace is the place of a row or, with a weight, of a marker.
type orderPlace struct {
	values []string // by ParseText; "null", "empty"
	weight int
}

func orderSchema(t require.TestingT, cols []Column, opts ...SchemaOption) *Schema {
	s, err := NewSchema([]Column{{Name: "k", Type: Text}}, cols, nil, []Column{{Name: "v", Type: Double}}, opts...)
	require.NoError(t, err)
	return s
}

// orderBatch holds one partition with an unfiltered at each of places.
func orderBatch(t require.TestingT, s *Schema, places ...orderPlace) *Batch {
	b := NewBatch(s)
	b.BeginPartition([]byte("key"))
	open := false
	for i, p := range places {
		for k, col := range s.Columns(Clustering) {
			v := &b.vecs[1+k]
			state, text := CellAsRow, "null"
			if k < len(p.values) {
				text = p.values[k]
			}
			switch text {
			case "null":
				state = CellAbsent
			case "empty":
				state = CellEmpty
			}
			v.Cells = append(v.Cells, state)
			require.NoError(t, v.pad(i+1))
			if state != CellAsRow {
				continue
			}
			x, err := ParseText(nil, col.Type, text)
			require.NoError(t, err)
			switch v.class {
			case ClassInt32:
				n, ok := IntOf(col.Type, x)
				require.True(t, ok)
				v.i32[i] = int32(n)
			case ClassInt64:
				n, ok := IntOf(col.Type, x)
				require.True(t, ok)
				v.i64[i] = n
			case ClassFloat32:
				v.f32[i], _ = Float32Of(x)
			case ClassFloat64:
				v.f64[i], _ = Float64Of(x)
			default:
				v.str.Truncate(i)
				require.NoError(t, v.str.Append(x))
			}
		}
		*b.Float64s(s.from[Regular]) = append(*b.Float64s(s.from[Regular]), 0)
		if p.weight != 0 {
			m := Marker{Row: i, Prefix: len(p.values), Kind: InclStart, Open: Deletion{1, 1}}
			switch {
			case !open && p.weight > 0:
				m.Kind = ExclStart
			case open && p.weight < 0:
				m = Marker{Row: i, Prefix: len(p.values), Kind: ExclEnd, Close: Deletion{1, 1}}
			case open:
				m = Marker{Row: i, Prefix: len(p.values), Kind: InclEnd, Close: Deletion{1, 1}}
			}
			open = !open
			b.markers = append(b.markers, m)
		}
	}
	require.NoError(t, b.Check())
	return b
}

func row(values ...string) orderPlace    { return orderPlace{values: values} }
func before(values ...string) orderPlace { return orderPlace{values, -1} }
func after(values ...string) orderPlace  { return orderPlace{values, 1} }

// Every place stands before all that follow it, however it is compared.
func TestClusteringOrder(t *testing.T) {
	for _, c := range []struct {
		name   string
		cols   []Column
		places []orderPlace
	}{
		{"bigint", []Column{{Name: "c", Type: Bigint}}, []orderPlace{
			before(), row("null"), row("empty"), row("-9223372036854775808"), before("-1"), row("-1"), after("-1"), row("0"), row("9223372036854775807"), after()}},
		{"bigint desc", []Column{{Name: "c", Type: Bigint, Desc: true}}, []orderPlace{
			before(), row("null"), row("9223372036854775807"), row("0"), before("-1"), row("-1"), after("-1"), row("-9223372036854775808"), row("empty"), after()}},
		{"reversed", []Column{{Name: "c", Type: Type{Kind: KindReversed, Args: []Type{Int}}}}, []orderPlace{
			row("null"), row("5"), row("-5"), row("empty")}},
		{"uint64", []Column{{Name: "c", Type: Type{Kind: KindUint64}}}, []orderPlace{row("0"), row("9223372036854775807"), row("18446744073709551615")}},
		{"uint64 desc", []Column{{Name: "c", Type: Type{Kind: KindUint64}, Desc: true}}, []orderPlace{row("18446744073709551615"), row("9223372036854775807"), row("0")}},
		{"double", []Column{{Name: "c", Type: Double}}, []orderPlace{row("-Inf"), row("-0"), row("0"), row("1.5"), row("+Inf"), row("NaN")}},
		{"float desc", []Column{{Name: "c", Type: Float, Desc: true}}, []orderPlace{row("NaN"), row("1"), row("0"), row("-0"), row("empty")}},
		{"text", []Column{{Name: "c", Type: Text}}, []orderPlace{row("null"), row(""), row("a"), row("ab"), row("b"), row("é")}},
		{"varint", []Column{{Name: "c", Type: Varint}}, []orderPlace{row("-300"), row("-1"), row("0"), row("128"), row("99999999999999999999")}},
		{"decimal(9,2)", []Column{{Name: "c", Type: Numeric(9, 2)}}, []orderPlace{
			row("null"), row("empty"), row("-9999999.99"), before("-0.01"), row("-0.01"), after("-0.01"), row("0"), row("9999999.99")}},
		{"decimal(18,0) desc", []Column{{Name: "c", Type: Numeric(18, 0), Desc: true}}, []orderPlace{row("999999999999999999"), row("-1"), row("-999999999999999999"), row("empty")}},
		{"decimal(40,3)", []Column{{Name: "c", Type: Numeric(40, 3)}}, []orderPlace{
			row("null"), row("empty"), row("-1234567890123456789012345678901234567.891"), row("-0.001"), before("0.002"), row("0.002"), after("0.002"), row("1e30")}},
		{"fixed(2)", []Column{{Name: "c", Type: Fixed(2)}}, []orderPlace{row("null"), row("empty"), row("0x0001"), row("0x7fff"), before("0x8000"), row("0x8000"), after("0x8000"), row("0xffff")}},
		{"two", []Column{{Name: "a", Type: Text}, {Name: "b", Type: Int, Desc: true}}, []orderPlace{
			before(), before("x"), before("x", "9"), row("x", "9"), after("x", "9"), row("x", "3"), row("x", "empty"), after("x"), row("y", "4"), after()}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := orderSchema(t, c.cols)
			b := orderBatch(t, s, c.places...)
			require.NoError(t, s.CheckOrder(b))
			positions := make([]Position, b.Len())
			var all []byte
			for i := range positions {
				all = s.AppendPosition(all, b, i)
			}
			rest := all
			for i := range positions {
				var err error
				positions[i], rest, err = ParsePosition(s, rest)
				require.NoError(t, err)
			}
			require.Empty(t, rest)
			for i := range b.Len() {
				for j := range b.Len() {
					want := cmp.Compare(i, j)
					require.Equal(t, want, s.CompareUnfiltered(b, i, b, j), "%d %d", i, j)
					require.Equal(t, want, s.ComparePosition(b, i, &positions[j]), "%d %d", i, j)
					require.Equal(t, want, s.ComparePositions(&positions[i], &positions[j]), "%d %d", i, j)
					if positions[j].Weight == 0 || len(positions[j].Prefix) == 0 {
						continue
					}
					// A bound at a marker's place.
					for _, isStart := range []bool{false, true} {
						bound := Bound{positions[j].Prefix, isStart == (positions[j].Weight < 0)}
						require.Equal(t, want, s.PositionToBound(&positions[i], bound, isStart))
						if want == 0 {
							want = 1
							if !b.MarkerAt(i).Kind.Opens() {
								want = -1
							}
						}
						require.Equal(t, want, s.CompareToBound(b, i, bound, isStart))
						want = cmp.Compare(i, j)
					}
				}
			}
			for cut := range all {
				_, _, err := ParsePosition(s, all[:cut])
				if err != nil {
					require.ErrorIs(t, err, encoding.ErrCorrupt)
				}
			}
		})
	}
}

func TestRangesAreSlices(t *testing.T) {
	s := orderSchema(t, []Column{{Name: "a", Type: Int}, {Name: "b", Type: Int}})
	var places []orderPlace
	for i := range 4 {
		for j := range 3 {
			places = append(places, row(fmt.Sprint(i), fmt.Sprint(j)))
		}
	}
	b := orderBatch(t, s, places...)
	bound := func(inclusive bool, v ...int64) Bound {
		x := Bound{Inclusive: inclusive}
		for _, v := range v {
			x.Prefix = append(x.Prefix, AppendInt(nil, Int, v))
		}
		require.NoError(t, s.CheckBound(x))
		return x
	}
	for _, c := range []struct {
		from, to   Bound
		first, end int
	}{
		{Bound{}, Bound{}, 0, 12},
		{bound(true, 1), bound(true, 1), 3, 6},
		{bound(true, 1), bound(false, 2), 3, 6},
		{bound(false, 1), bound(true, 2), 6, 9},
		{bound(false, 1, 1), bound(false, 3, 1), 5, 10},
		{bound(true, 1, 1), bound(true, 3, 1), 4, 11},
		{bound(true, 9), Bound{}, 12, 12},
		{Bound{}, bound(true, -9), 0, 0},
		{bound(true, 1, 7), bound(true, 1, 8), 6, 6},
	} {
		require.Equal(t, c.first, s.SearchBound(b, 0, b.Len(), c.from, true))
		require.Equal(t, c.end, s.SearchBound(b, 0, b.Len(), c.to, false))
	}
	require.Error(t, s.CheckBound(bound2(3)))
	unordered := orderSchema(t, []Column{{Name: "d", Type: Type{Kind: KindDuration}}})
	require.ErrorContains(t, unordered.CheckBound(bound2(1)), `column "d"`)
}

func bound2(n int) Bound { return Bound{Prefix: make([][]byte, n)} }

func TestParsePositionRejects(t *testing.T) {
	s := orderSchema(t, []Column{{Name: "c", Type: Text}})
	for _, src := range [][]byte{nil, {6}, {1}, {4}, {4, 9, 'a'}, {4, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}} {
		_, _, err := ParsePosition(s, src)
		require.ErrorIs(t, err, encoding.ErrCorrupt, "%x", src)
	}
	p, rest, err := ParsePosition(s, []byte{4, 1, 7})
	require.NoError(t, err)
	require.Equal(t, [][]byte{{}}, p.Prefix)
	require.Equal(t, []byte{7}, rest)
}

func TestCheckOrderErrors(t *testing.T) {
	one := []Column{{Name: "time", Type: Bigint}}
	desc := []Column{{Name: "time", Type: Int, Desc: true}}
	two := []Column{{Name: "a", Type: Text}, {Name: "b", Type: Int}}
	for _, c := range []struct {
		cols   []Column
		opts   []SchemaOption
		places []orderPlace
		want   string
	}{
		{one, nil, []orderPlace{row("1"), row("3"), row("2")}, `partition k = key: row 2: time = 2 stands after time = 3, but rows ascend by column "time"`},
		{one, nil, []orderPlace{row("1"), row("1")}, `partition k = key: row 1: time = 1 occurs twice, but rows of the table are unique`},
		{one, []SchemaOption{WithMultiset()}, []orderPlace{row("1"), row("1"), row("0")}, `partition k = key: row 2: time = 0 stands after time = 1, but rows ascend by column "time"`},
		{desc, nil, []orderPlace{row("1"), row("3")}, `partition k = key: row 1: time = 3 stands after time = 1, but rows descend by column "time"`},
		{two, nil, []orderPlace{row("x", "2"), row("x", "1")}, `partition k = key: row 1: a = x, b = 1 stands after a = x, b = 2, but rows ascend by column "b"`},
		{two, nil, []orderPlace{row("x", "2"), after("x"), row("x", "3")}, `partition k = key: row 2: a = x, b = 3 stands after a = x`},
		{two, []SchemaOption{WithMultiset()}, []orderPlace{before("x"), before("x")}, `partition k = key: row 1: a = x occurs twice, but rows of the table are unique`},
	} {
		s := orderSchema(t, c.cols, c.opts...)
		b := orderBatch(t, s, c.places...)
		var e *OrderError
		err := s.CheckOrder(b)
		require.ErrorAs(t, err, &e)
		require.Equal(t, c.want, err.Error())
		require.Equal(t, "key", string(e.Key))
		require.Equal(t, len(c.places)-1, e.Row)

		// The same rows in batches of one.
		if len(b.markers) > 0 {
			continue
		}
		b.vecs[1].Cells = nil // and by the path for plain integers
		check := NewOrderChecker(s)
		err = nil
		for i := 0; i < b.Len() && err == nil; i++ {
			part := NewBatch(s)
			part.BeginPartition(b.Key(0))
			require.NoError(t, part.AppendParts(b, i, i+1, 1, 1))
			err = check.Check(part)
		}
		require.ErrorAs(t, err, &e)
		require.Equal(t, 0, e.Row)
		require.Contains(t, err.Error(), "row 0")
		if len(c.cols) == 1 {
			require.Equal(t, c.want, s.CheckOrder(b).Error())
		}
	}
}

// Values that are equal to Cassandra have one place, however they are written.
func TestCheckOrderOfEqualValues(t *testing.T) {
	cols := []Column{{Name: "a", Type: Decimal}, {Name: "b", Type: Int}}
	at := func(a, b string) orderPlace { return orderPlace{values: []string{a, b}} }
	from := func(weight int, a string) orderPlace { return orderPlace{values: []string{a}, weight: weight} }
	s := orderSchema(t, cols)
	for _, places := range [][]orderPlace{
		{at("0.10", "3"), at("0.1", "5")},
		{at("0.1", "3"), at("0.10", "5")},
		{from(-1, "0.1"), at("0.10", "5"), from(1, "0.100")},
		{from(-1, "0.100"), at("0.10", "5"), from(1, "0.1")},
	} {
		require.NoError(t, NewOrderChecker(s).Check(orderBatch(t, s, places...)), "%v", places)
	}
	twice := orderBatch(t, s, at("0.1", "3"), at("0.10", "3"))
	var o *OrderError
	require.ErrorAs(t, NewOrderChecker(s).Check(twice), &o)
	require.True(t, o.Duplicate)
	s = orderSchema(t, cols, WithMultiset())
	require.NoError(t, NewOrderChecker(s).Check(orderBatch(t, s, at("0.10", "3"), at("0.1", "3"), at("0.10", "3"))))
}

func TestCheckOrderMarkers(t *testing.T) {
	s := orderSchema(t, []Column{{Name: "c", Type: Int}})
	d, other := Deletion{5, 5}, Deletion{6, 6}
	for _, c := range []struct {
		markers []Marker
		want    string
	}{
		{[]Marker{{Kind: InclStart, Open: d}, {Kind: ExclEndInclStart, Close: d, Open: other}, {Kind: InclEnd, Close: other}}, ""},
		{[]Marker{{Kind: InclEnd, Close: d}}, "row 0: the marker ends a range deletion where none is open"},
		{[]Marker{{Kind: InclStart, Open: d}, {Kind: InclStart, Open: d}}, "row 1: the marker begins a range deletion where one is open"},
		{[]Marker{{Kind: InclStart, Open: d}, {Kind: InclEnd, Close: other}}, "row 1: the marker ends another range deletion"},
		{[]Marker{{Kind: InclStart, Open: LiveDeletion}}, "row 0: the marker begins a range deletion that deletes nothing"},
		{[]Marker{{Kind: InclStart, Open: d}}, "partition k = key: ends within a range deletion"},
	} {
		b := NewBatch(s)
		b.BeginPartition([]byte("key"))
		for i, m := range c.markers {
			m.Row, m.Prefix = i, 1
			*b.Int32s(1) = append(*b.Int32s(1), int32(i))
			b.markers = append(b.markers, m)
		}
		if c.want == "" {
			require.NoError(t, s.CheckOrder(b))
			continue
		}
		require.ErrorContains(t, s.CheckOrder(b), c.want)
	}
}

func TestCheckOrderOfPartitions(t *testing.T) {
	for _, c := range []struct {
		order string
		keys  []string
		want  string
	}{
		{"bytes", []string{"a", "b", "c"}, ""},
		{"bytes", []string{"a", "b", "b", "c"}, `partition k = b: begins twice in one batch`},
		{"custom:mine", []string{"a", "a"}, `partition k = a: begins twice in one batch`},
		{"bytes", []string{"b", "a"}, `partition k = a: stands after partition k = b: but the order of partitions is "bytes"`},
		{"murmur3", []string{"a", "b"}, ""},
		{"murmur3", []string{"b", "a"}, `the order of partitions is "murmur3"`},
		{"custom:mine", []string{"b", "a", "b"}, ""},
		{"local(varint)", []string{"\xff", "\x00", "\x01"}, ""},
		{"local(varint)", []string{"\x00", "\xff"}, `the order of partitions is "local(varint)"`},
		{"local(duration)", []string{"b", "a"}, ""},
	} {
		s, err := NewSchema([]Column{{Name: "k", Type: Text}}, nil, nil, []Column{{Name: "v", Type: Int}}, WithOrder(c.order))
		require.NoError(t, err)
		b := NewBatch(s)
		for _, k := range c.keys {
			b.BeginPartition([]byte(k))
			*b.Int32s(1) = append(*b.Int32s(1), 1)
		}
		if c.want == "" {
			require.NoError(t, s.CheckOrder(b), c.order)
		} else {
			require.ErrorContains(t, s.CheckOrder(b), c.want)
		}
	}
	s := orderSchema(t, nil)
	b := NewBatch(s)
	b.BeginPartition([]byte("a"))
	b.BeginPartition([]byte("a")).Deletion = Deletion{1, 1}
	require.ErrorContains(t, s.CheckOrder(b), "begins twice")
}

func TestMurmur3Token(t *testing.T) {
	for key, want := range map[string]uint64{
		"":             1 << 63,
		"hello":        0xcbd8a7b341bd9b02,
		"hello, world": 0x342fac623a5ebc8e,
		"The quick brown fox jumps over the lazy dog.": 0xcd99481f9ee902c9,
	} {
		require.Equal(t, int64(want), Murmur3Token([]byte(key)), key)
	}
	for key, want := range map[int64]int64{
		1: -4069959284402364209, 2: -3248873570005575792, 3: 9010454139840013625, 4: -2729420104000364805, 5: -7509452495886106294,
	} {
		require.Equal(t, want, Murmur3Token(AppendInt(nil, Int, key)), "token(%d)", key)
	}
}

// The bytes after the last whole 16 count as signed: each of them sets the
// bits above it.
func TestMurmur3SignedTail(t *testing.T) {
	require.Equal(t, uint64(math.MaxUint64), signedTail([]byte{0xff}))
	require.Equal(t, uint64(0x80), signedTail([]byte{0x80, 0xff})&0xff)
	require.Equal(t, uint64(0), signedTail([]byte{0xff, 0xff})>>8&0xff)
}

func TestRandomOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := orderSchema(t, nil, WithOrder("random"))
		token := func(key []byte) *big.Int {
			if len(key) == 0 {
				return big.NewInt(-1)
			}
			sum := md5.Sum(key)
			x := new(big.Int).SetBytes(sum[:])
			if sum[0] >= 0x80 {
				x.Sub(x, new(big.Int).Lsh(big.NewInt(1), 128))
			}
			return x.Abs(x)
		}
		a := rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "a")
		b := rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "b")
		want := token(a).Cmp(token(b))
		if want == 0 {
			want = bytes.Compare(a, b)
		}
		got, ok := s.ComparePartitions(a, b)
		require.True(t, ok)
		require.Equal(t, want, got)
	})
}

// The path for plain integers agrees with the general one.
func TestCheckOrderFastPath(t *testing.T) {
	types := []Type{Int, Bigint, Timestamp(Millis), {Kind: KindUint64}, {Kind: KindReversed, Args: []Type{Bigint}}, Date}
	rapid.Check(t, func(t *rapid.T) {
		var opts []SchemaOption
		if rapid.Bool().Draw(t, "multiset") {
			opts = append(opts, WithMultiset())
		}
		s := orderSchema(t, []Column{{Name: "c", Type: rapid.SampledFrom(types).Draw(t, "type"), Desc: rapid.Bool().Draw(t, "desc")}}, opts...)
		values := rapid.SliceOfN(rapid.Int64Range(-2, 2), 1, 4).Draw(t, "values")
		b := NewBatch(s)
		b.BeginPartition([]byte("key"))
		for _, v := range values {
			if b.vecs[1].class == ClassInt32 {
				b.vecs[1].i32 = append(b.vecs[1].i32, int32(v))
			} else {
				b.vecs[1].i64 = append(b.vecs[1].i64, v)
			}
		}
		fast := s.CheckOrder(b)
		b.vecs[1].Cells = make([]Cell, len(values))
		slow := s.CheckOrder(b)
		require.Equal(t, slow, fast)
		sorted := slices.IsSortedFunc(index(len(values)), func(i, j int) int { return s.CompareUnfiltered(b, i, b, j) })
		if !isDuplicate(slow) {
			require.Equal(t, sorted, slow == nil)
		}
	})
}

func index(n int) []int {
	x := make([]int, n)
	for i := range x {
		x[i] = i
	}
	return x
}

func isDuplicate(err error) bool {
	var e *OrderError
	return errors.As(err, &e) && e.Duplicate
}

// Columns without order are taken as found, but not twice.
func TestCheckOrderUnordered(t *testing.T) {
	s := orderSchema(t, []Column{{Name: "a", Type: Int}, {Name: "d", Type: Type{Kind: KindDuration}}})
	require.NoError(t, s.CheckOrder(orderBatch(t, s, row("1", "5s"), row("1", "2s"), row("2", "9s"), row("2", "1s"))))
	require.ErrorContains(t, s.CheckOrder(orderBatch(t, s, row("1", "5s"), row("1", "5s"))), "occurs twice")
	require.ErrorContains(t, s.CheckOrder(orderBatch(t, s, row("2", "5s"), row("1", "6s"))), `rows ascend by column "a"`)
}

func TestOrderCheckerAllocates(t *testing.T) {
	b := plainBatch(t, 100, LivenessLive, nil)
	c := NewOrderChecker(b.schema)
	require.NoError(t, c.Check(b))
	next := int64(100)
	require.Zero(t, testing.AllocsPerRun(10, func() {
		for i := range b.vecs[1].i64 {
			b.vecs[1].i64[i] = next
			next++
		}
		if err := c.Check(b); err != nil {
			t.Fatal(err)
		}
	}))
}

func BenchmarkOrderChecker(b *testing.B) {
	batch := plainBatch(b, 4096, LivenessLive, nil)
	for b.Loop() {
		if err := batch.schema.CheckOrder(batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096, "ns/row")
}

func TestDisordered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Int64Range(-3, 3), 1, 5).Draw(t, "beginning")
		for range rapid.IntRange(0, 20).Draw(t, "more") { // mostly in order
			v = append(v, v[len(v)-1]+rapid.SampledFrom([]int64{1, 1, 1, 1, 5, 0, -1}).Draw(t, "step"))
		}
		flip := rapid.SampledFrom([]int64{0, -1, math.MinInt64}).Draw(t, "flip")
		strict := rapid.Bool().Draw(t, "strict")
		want := 1
		for want < len(v) && (v[want-1]^flip < v[want]^flip || !strict && v[want-1] == v[want]) {
			want++
		}
		if got := disordered(v, flip, strict); got != want {
			t.Fatal(v, flip, strict, got, want)
		}
	})
}

func BenchmarkCompareUnfiltered(b *testing.B) {
	s := orderSchema(b, []Column{{Name: "t", Type: Bigint}, {Name: "c", Type: Text}})
	batch := NewBatch(s)
	batch.BeginPartition([]byte("p"))
	const n = 1024
	for i := range n {
		*batch.Int64s(1) = append(*batch.Int64s(1), int64(i/8))
		require.NoError(b, batch.Bytes(2).Append(fmt.Appendf(nil, "key %d", i%8)))
		*batch.Float64s(3) = append(*batch.Float64s(3), 0)
	}
	for b.Loop() {
		for i := range n - 1 {
			if s.CompareUnfiltered(batch, i, batch, i+1) >= 0 {
				b.Fatal(i)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(n-1), "ns/row")
}
