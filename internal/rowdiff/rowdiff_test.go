package rowdiff

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/rowgroup"
)

// row is one of key k, time t; write time w; no value where v is "".
type row struct {
	k string
	t int64
	v string
	w int64
}

func table(t require.TestingT, keyed bool, names ...string) *rowgroup.Schema {
	var key []rowgroup.Column
	if keyed {
		key = []rowgroup.Column{{Name: "k", Type: rowgroup.Text}}
	}
	var regular []rowgroup.Column
	for _, n := range names {
		regular = append(regular, rowgroup.Column{Name: n, Type: rowgroup.Text})
	}
	s, err := rowgroup.NewSchema(key, []rowgroup.Column{{Name: "t", Type: rowgroup.Bigint}}, nil, regular, rowgroup.WithMultiset())
	require.NoError(t, err)
	return s
}

// slow yields rows in batches of size rows.
type slow struct {
	rows []row
	size int
	last string
	any  bool
}

func (s *slow) Next(b *rowgroup.Batch) (bool, error) {
	b.Reset()
	v := b.Schema().Lookup("v")
	tcol := b.Schema().Lookup("t")
	n := min(s.size, len(s.rows))
	for i, r := range s.rows[:n] {
		if tcol == 1 && (i == 0 || r.k != s.last) {
			h := b.BeginPartition([]byte(r.k))
			h.Start, h.Continued = i, s.any && r.k == s.last
		}
		s.last, s.any = r.k, true
		*b.Int64s(tcol) = append(*b.Int64s(tcol), r.t)
		_ = b.Bytes(v).Append([]byte(r.v))
		state := rowgroup.CellAsRow
		if r.v == "" {
			state = rowgroup.CellAbsent
		}
		b.CellMeta(v).Cells = append(b.CellMeta(v).Cells, state)
		b.Meta().WriteTimes = append(b.Meta().WriteTimes, r.w)
	}
	s.rows = s.rows[n:]
	return n > 0, nil
}

func (s *slow) Close() error { return nil }

func compare(t require.TestingT, s *rowgroup.Schema, a, b []row, size int, o Options) *Result {
	r, err := Compare(context.Background(), Side{"a", s, &slow{rows: a, size: size}}, Side{"b", s, &slow{rows: b, size: size + 1}}, o)
	require.NoError(t, err)
	return r
}

func TestCompare(t *testing.T) {
	base := []row{{"a", 1, "x", 5}, {"a", 2, "y", 5}, {"a", 2, "z", 5}, {"b", 1, "", 5}}
	for _, c := range []struct {
		name     string
		b        []row
		metadata bool
		want     string
	}{
		{"equal", base, true, ""},
		{"equal keys in another order", []row{base[0], base[2], base[1], base[3]}, true, ""},
		{"a value", []row{base[0], {"a", 2, "Y", 5}, base[2], base[3]}, true, `! k="a" t=2: v "y" != "Y"`},
		{"a null", []row{base[0], base[1], {"a", 2, "", 5}, base[3]}, true, `! k="a" t=2: v "z" != null`},
		{"a write time", []row{{"a", 1, "x", 6}, base[1], base[2], base[3]}, true, `! k="a" t=1: $write_time 5 != 6`},
		{"a write time not looked at", []row{{"a", 1, "x", 6}, base[1], base[2], base[3]}, false, ""},
		{"a row less", base[1:], false, `- k="a" t=1: v "x"`},
		{"a row more", append(slices.Clone(base), row{"b", 1, "q", 5}), false, `+ k="b" t=1: v "q"`},
		{"a partition less", base[:3], false, "- k=\"b\" (partition)\n- k=\"b\" t=1"},
	} {
		for size := 1; size < 6; size++ {
			r := compare(t, table(t, true, "v"), base, c.b, size, Options{Metadata: c.metadata, Report: 10})
			var lines []string
			for _, d := range r.First {
				lines = append(lines, d.String())
			}
			require.Equal(t, c.want, strings.Join(lines, "\n"), "%s, batches of %d", c.name, size)
			require.Equal(t, int64(len(lines)), r.Differences)
			require.Equal(t, int64(len(base)), r.Rows)
			require.True(t, r.MetadataA, "there are write times")
		}
	}
}

func TestSchemas(t *testing.T) {
	a, b := table(t, true, "v", "w"), table(t, true, "w", "v")
	require.Empty(t, Schemas(Side{Schema: a}, Side{Schema: b}))
	// Columns of another order are found by name.
	r, err := Compare(context.Background(), Side{"a", a, &slow{}}, Side{"b", b, &slow{}}, Options{})
	require.NoError(t, err)
	require.Zero(t, r.Differences)
	other := Side{Name: "two.csv", Schema: table(t, false, "v")}
	d := Schemas(Side{Name: "one.csv", Schema: a}, other)
	require.Equal(t, []string{`column "k" is only in one.csv`, `column "t": other place among the clustering columns`, `column "w" is only in one.csv`}, d)
	_, err = Compare(context.Background(), Side{Name: "one.csv", Schema: a}, other, Options{})
	require.ErrorContains(t, err, "only in one.csv")
}

// Floats differ by bits: -0.0 from 0.0, NaNs by payload; and not from themselves.
func TestBits(t *testing.T) {
	s, err := rowgroup.NewSchema(nil, nil, nil, []rowgroup.Column{{Name: "v", Type: rowgroup.Double}})
	require.NoError(t, err)
	side := func(v float64) Side {
		return Side{"x", s, &once{func(b *rowgroup.Batch) { *b.Float64s(0) = append(*b.Float64s(0), v, 1) }}}
	}
	nan, payload := math.NaN(), math.Float64frombits(0x7ff8000000000123)
	for _, c := range []struct {
		a, b float64
		want int64
	}{{0, math.Copysign(0, -1), 1}, {nan, nan, 0}, {nan, payload, 1}, {payload, payload, 0}, {1, 2, 1}} {
		r, err := Compare(context.Background(), side(c.a), side(c.b), Options{Report: 1})
		require.NoError(t, err)
		require.Equal(t, c.want, r.Differences, "%v %v", c.a, c.b)
		if c.want > 0 {
			require.Contains(t, r.First[0].String(), "row 1: v ")
		}
	}
}

// Clustering values of one place that are written otherwise differ.
func TestPlace(t *testing.T) {
	s, err := rowgroup.NewSchema(nil, []rowgroup.Column{{Name: "c", Type: rowgroup.Type{Kind: rowgroup.KindDecimal}}}, nil,
		[]rowgroup.Column{{Name: "v", Type: rowgroup.Int}}, rowgroup.WithMultiset())
	require.NoError(t, err)
	side := func(c []byte) Side {
		return Side{"x", s, &once{func(b *rowgroup.Batch) {
			b.BeginPartition(nil)
			b.Bytes(0).Append(c)
			*b.Int32s(1) = append(*b.Int32s(1), 7)
		}}}
	}
	one, long := []byte{0, 0, 0, 1, 10}, []byte{0, 0, 0, 2, 100} // 1.0, 1.00
	r, err := Compare(context.Background(), side(one), side(long), Options{Report: 1})
	require.NoError(t, err)
	require.Equal(t, int64(1), r.Differences)
	require.Equal(t, `! c="1.0": c "1.0" != "1.00"`, r.First[0].String())
	r, err = Compare(context.Background(), side(long), side(long), Options{Report: 1})
	require.NoError(t, err)
	require.Zero(t, r.Differences)
}

type once struct{ fill func(*rowgroup.Batch) }

func (o *once) Next(b *rowgroup.Batch) (bool, error) {
	if o.fill == nil {
		return false, nil
	}
	b.Reset()
	o.fill(b)
	o.fill = nil
	return true, nil
}

func (o *once) Close() error { return nil }

// Metadata that says the same at another place is equal.
func TestMetadata(t *testing.T) {
	s := table(t, true, "v")
	side := func(f func(b *rowgroup.Batch)) Side {
		return Side{"x", s, &once{func(b *rowgroup.Batch) {
			b.BeginPartition([]byte("k"))
			*b.Int64s(1) = append(*b.Int64s(1), 7)
			_ = b.Bytes(2).Append([]byte("v"))
			f(b)
		}}}
	}
	rowTime := func(b *rowgroup.Batch) { b.Meta().WriteTimes = []int64{9} }
	for _, c := range []struct {
		name string
		f    func(b *rowgroup.Batch)
		want string
	}{
		{"same", rowTime, ""},
		{"own time, equal", func(b *rowgroup.Batch) {
			rowTime(b)
			*b.CellMeta(2) = rowgroup.CellMeta{Cells: []rowgroup.Cell{rowgroup.CellLive | rowgroup.CellOwnTime}, WriteTimes: []int64{9}}
		}, ""},
		{"own time", func(b *rowgroup.Batch) {
			rowTime(b)
			*b.CellMeta(2) = rowgroup.CellMeta{Cells: []rowgroup.Cell{rowgroup.CellLive | rowgroup.CellOwnTime}, WriteTimes: []int64{8}}
		}, `! k="k" t=7: v.$write_time null != 8`},
		{"expiring", func(b *rowgroup.Batch) {
			*b.Meta() = rowgroup.RowMeta{Liveness: []rowgroup.Liveness{rowgroup.LivenessExpiring}, WriteTimes: []int64{9}, TTLs: []int32{1}, Expiries: []int64{2}}
		}, `! k="k" t=7: $liveness live != expiring, $ttl null != 1, $expiry null != 2`},
		{"deleted cell", func(b *rowgroup.Batch) {
			rowTime(b)
			*b.CellMeta(2) = rowgroup.CellMeta{Cells: []rowgroup.Cell{rowgroup.CellTombstone}, Expiries: []int64{3}}
		}, `! k="k" t=7: v "v" != null, v.$kind null != deleted, v.$expiry null != 3`},
		{"row deletion", func(b *rowgroup.Batch) {
			rowTime(b)
			b.Meta().Deletions = []rowgroup.RowDeletion{{Row: 0, Deletion: rowgroup.Deletion{MarkedForDeleteAt: 1, LocalDeletionTime: 2}}}
		}, `! k="k" t=7: $deletion null != at 1, local 2`},
		{"partition deletion", func(b *rowgroup.Batch) {
			rowTime(b)
			b.Partition(0).Deletion = rowgroup.Deletion{MarkedForDeleteAt: 1, LocalDeletionTime: 2}
		}, `! k="k" (partition): $partition_deletion null != at 1, local 2`},
		{"a marker", func(b *rowgroup.Batch) {
			rowTime(b)
			*b.Int64s(1) = append(*b.Int64s(1), 8)
			_ = b.Bytes(2).Append(nil)
			*b.Meta() = rowgroup.RowMeta{WriteTimes: []int64{9, 0}}
			*b.Markers() = []rowgroup.Marker{{Row: 1, Prefix: 1, Kind: rowgroup.InclStart, Open: rowgroup.Deletion{MarkedForDeleteAt: 1, LocalDeletionTime: 2}}}
		}, `+ k="k" t=8: $marker kind 1, 1 values, ends {0 0}, begins {1 2}`},
	} {
		r, err := Compare(context.Background(), side(rowTime), side(c.f), Options{Metadata: true, Report: 5})
		require.NoError(t, err, c.name)
		var lines []string
		for _, d := range r.First {
			lines = append(lines, d.String())
		}
		require.Equal(t, c.want, strings.Join(lines, "\n"), c.name)
		require.True(t, r.MetadataB)
	}
}

// The count of differences is that of two sorted lists of rows.
func TestCompareCounts(t *testing.T) {
	s := table(t, true, "v")
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) row {
			return row{fmt.Sprint(rapid.IntRange(0, 2).Draw(t, "k")), rapid.Int64Range(0, 3).Draw(t, "t"), rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "v"), 0}
		}), 0, 30)
		a, b := rows.Draw(t, "a"), rows.Draw(t, "b")
		byKey := func(x, y row) int { return strings.Compare(x.k+fmt.Sprint(x.t), y.k+fmt.Sprint(y.t)) }
		slices.SortStableFunc(a, byKey)
		slices.SortStableFunc(b, byKey)
		r := compare(t, s, a, b, rapid.IntRange(1, 40).Draw(t, "size"), Options{})
		count := map[string]map[row]int{}
		partitions := map[string]int{}
		add := func(rows []row, n, side int) {
			for _, r := range rows {
				key := r.k + fmt.Sprint(r.t)
				if count[key] == nil {
					count[key] = map[row]int{}
				}
				count[key][r] += n
				partitions[r.k] |= side
			}
		}
		add(a, 1, 1)
		add(b, -1, 2)
		want := int64(0)
		for _, side := range partitions {
			if side != 3 {
				want++
			}
		}
		for _, rows := range count {
			var more, less int64
			for _, n := range rows {
				if n > 0 {
					more += int64(n)
				} else {
					less -= int64(n)
				}
			}
			want += max(more, less)
		}
		require.Equal(t, want, r.Differences)
	})
}

// The cells of multi-cell columns differ in their values, or with metadata.
func TestCompareMultiCells(t *testing.T) {
	typ, err := rowgroup.ParseType("map<text,int>")
	require.NoError(t, err)
	s, err := rowgroup.NewSchema(nil, []rowgroup.Column{{Name: "t", Type: rowgroup.Int}}, nil, []rowgroup.Column{{Name: "m", Type: typ}})
	require.NoError(t, err)
	side := func(deletedAt int64, cells ...rowgroup.MultiCell) Side {
		return Side{"x", s, &once{func(b *rowgroup.Batch) {
			*b.Int32s(0) = append(*b.Int32s(0), 1)
			m := b.MultiCells(1)
			m.Begin(0)
			if deletedAt > 0 {
				m.Delete(rowgroup.Deletion{MarkedForDeleteAt: deletedAt, LocalDeletionTime: 2})
			}
			for _, c := range cells {
				require.NoError(t, m.Append(&c))
			}
		}}}
	}
	seven := rowgroup.AppendInt(nil, rowgroup.Int, 7)
	asRow := rowgroup.MultiCell{Path: []byte("a"), Value: seven}
	own := rowgroup.MultiCell{Path: []byte("a"), Value: seven, State: rowgroup.CellExpiring | rowgroup.CellOwnTime | rowgroup.CellOwnExpiry, WriteTime: 5, TTL: 6, Expiry: 7}
	gone := rowgroup.MultiCell{Path: []byte("b"), State: rowgroup.CellTombstone, Expiry: 9}
	for _, c := range []struct {
		a, b     Side
		metadata bool
		fields   string
	}{
		{side(0, asRow), side(0, asRow), true, ""},
		{side(0, asRow), side(4, own, gone), false, ""},
		{side(0, asRow), side(0, rowgroup.MultiCell{Path: []byte("c"), Value: seven}), false, "m: {'a': 7} | {'c': 7}"},
		{side(0, asRow), side(4, own, gone), true, "m.$deletion: null | at 4, local 2; m.$cells: a: 7 at 0 | a: 7 at 5, ttl 6, expiry 7; b at 0, deleted, local 9"},
	} {
		r, err := Compare(context.Background(), c.a, c.b, Options{Metadata: c.metadata, Report: 1})
		require.NoError(t, err)
		var fields []string
		for _, d := range r.First {
			for _, f := range d.Fields {
				fields = append(fields, fmt.Sprintf("%s: %s | %s", f.Column, strings.Trim(text(f.A), `"`), strings.Trim(text(f.B), `"`)))
			}
		}
		require.Equal(t, c.fields, strings.Join(fields, "; "))
	}
}
