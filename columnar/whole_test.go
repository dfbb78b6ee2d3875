package columnar

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/internal/invariants"
	"github.com/colsst/colsst/rowgroup"
)

// steadyTable is a table of partitions whose rows are alike, but for some, if
// mixed, that lack cells or were deleted in the last of them.
func steadyTable(t testing.TB, r *rand.Rand, time rowgroup.Column, mixed bool) *rowgroup.Batch {
	s := table(t, []rowgroup.Column{{Name: "k", Type: rowgroup.Text}}, []rowgroup.Column{time},
		[]rowgroup.Column{{Name: "a", Type: rowgroup.Float}, {Name: "b", Type: rowgroup.Double}, {Name: "n", Type: rowgroup.Numeric(6, 1)}})
	down, typ := time.Desc, time.Type
	for ; typ.Kind == rowgroup.KindReversed; typ = typ.Args[0] {
		down = !down
	}
	b := rowgroup.NewBatch(s)
	m := b.Meta()
	step := int64(1 + r.IntN(9))
	live := []rowgroup.Liveness{rowgroup.LivenessLive, rowgroup.LivenessExpiring, rowgroup.LivenessExpired}[r.IntN(3)]
	noise := []int64{1, 2, 60_000}[r.IntN(3)]
	digits := []float64{1, 100}[r.IntN(2)]
	for p := range 12 {
		h := b.BeginPartition(fmt.Appendf(nil, "%02d", p))
		if r.IntN(4) == 0 {
			h.Deletion = rowgroup.Deletion{MarkedForDeleteAt: r.Int64N(200_000_000), LocalDeletionTime: 7}
		}
		rows := 64*(1+r.IntN(8)) + r.IntN(2)*r.IntN(2)*r.IntN(40)
		if r.IntN(3) == 0 {
			rows = 1 + r.IntN(40)
		}
		odd := mixed && p > 9
		v := 0.0
		for i := range rows {
			at, clock := b.Len(), step*int64(i)
			x := clock
			if down {
				x = step*int64(rows) - clock
			}
			require.NoError(t, b.PutValue(1, at, rowgroup.AppendInt(nil, time.Type, x), true))
			wrote, ttl, expiry := clock*1_000_000+r.Int64N(noise), int32(0), int64(0)
			if live == rowgroup.LivenessExpiring {
				ttl = 500
			}
			if live != rowgroup.LivenessLive {
				expiry = wrote/1_000_000 + int64(ttl)
			}
			m.Liveness, m.WriteTimes = append(m.Liveness, live), append(m.WriteTimes, wrote)
			m.TTLs, m.Expiries = append(m.TTLs, ttl), append(m.Expiries, expiry)
			v += r.NormFloat64()
			y := math.Round(v*digits) / digits
			missing := odd && r.IntN(40) == 0
			require.NoError(t, b.PutValue(2, at, rowgroup.AppendFloat32(nil, float32(y)), true))
			require.NoError(t, b.PutValue(3, at, rowgroup.AppendFloat64(nil, y), !missing))
			require.NoError(t, b.PutValue(4, at, rowgroup.AppendInt(nil, rowgroup.Numeric(6, 1), 3*clock), true))
			if odd && r.IntN(50) == 0 {
				m.Deletions = append(m.Deletions, rowgroup.RowDeletion{Row: at, Deletion: rowgroup.Deletion{MarkedForDeleteAt: wrote - 1, LocalDeletionTime: clock}})
			}
		}
	}
	for c := 2; c < 5; c++ {
		if cells := &b.CellMeta(c).Cells; len(*cells) > 0 {
			*cells = append(*cells, make([]rowgroup.Cell, b.Len()-len(*cells))...)
		}
	}
	require.NoError(t, b.Check())
	return b
}

// inOnePass is how many blocks of a file are decoded in one pass.
func inOnePass(t testing.TB, rd *Reader) (n int) {
	s, err := rd.scratch(bg)
	require.NoError(t, err)
	defer rd.release(s)
	b, o := rowgroup.NewBatch(rd.Schema()), rowgroup.ScanOptions{}
	w := walker{ctx: bg, wanted: "D", win: window{f: &rd.file}, gap: func(error, int64, int64) {}}
	for {
		it, ok, err := w.next()
		require.NoError(t, err)
		if !ok {
			return n
		}
		if it.kind != kindData {
			continue
		}
		blk, err := it.header.block()
		require.NoError(t, err)
		if s.whole(b, rd, &blk, it.body, nil, &o) {
			n++
		}
	}
}

// drainInto is drain with a batch that was used before.
func drainInto(b *rowgroup.Batch, it rowgroup.Iter) (lines []string, err error) {
	for {
		ok, err := it.Next(b)
		if err != nil || !ok {
			return lines, err
		}
		lines = append(lines, dump(b)...)
	}
}

// Blocks decoded in one pass give what they give group by group, in every kind of
// read, of every source, by goroutines side by side.
func TestOnePass(t *testing.T) {
	passed := 0
	for seed, time := range []rowgroup.Column{
		{Name: "time", Type: rowgroup.Timestamp(rowgroup.Seconds)},
		{Name: "time", Type: rowgroup.Int},
		{Name: "time", Type: rowgroup.Int, Desc: true},
		{Name: "time", Type: rowgroup.Type{Kind: rowgroup.KindReversed, Args: []rowgroup.Type{rowgroup.Timestamp(rowgroup.Seconds)}}},
		{Name: "time", Type: rowgroup.Type{Kind: rowgroup.KindUint64}, Desc: true},
		{Name: "time", Type: rowgroup.Numeric(18, 2)},
	} {
		r := rand.New(rand.NewPCG(uint64(seed), 31))
		b := steadyTable(t, r, time, seed%2 == 1)
		s := b.Schema()
		opts := []Option{WithRowGroupRows(32), WithBlockBytes([]int{300, 1000, 4000}[seed%3])}
		file := write(t, b, 700, opts...)
		for i, n := range []int{37, 4000} { // whatever the batches and goroutines
			require.Equal(t, file, write(t, b, n, append(slices.Clone(opts), WithConcurrency(1+3*i))...))
		}
		byGroup := open(t, file)
		byGroup.step = 1 << 20
		all := sources(t, file)
		require.Zero(t, inOnePass(t, byGroup))
		passed += inOnePass(t, all["memory"])
		reads := 8
		if invariants.Enabled {
			reads = 3
		}
		type read struct {
			what     string
			of       func(rd *Reader, q *Query) (rowgroup.Iter, error)
			expected []string
		}
		var list []read
		for range reads {
			o := rowgroup.ScanOptions{Desc: r.IntN(2) == 0, Live: r.IntN(4) == 0, Now: r.Int64N(2000), WithoutMetadata: r.IntN(4) == 0,
				Columns: [][]int{nil, nil, {}, {3}, {2, 4}}[r.IntN(5)]}
			p := r.IntN(b.NumPartitions())
			key := b.Key(p)
			from, to := b.PartitionRows(p)
			var bounds [2]rowgroup.Bound
			for i := range bounds {
				if r.IntN(5) > 0 {
					v, ok := b.AppendValue(nil, 1, from+r.IntN(to-from))
					require.True(t, ok)
					bounds[i] = rowgroup.Bound{Prefix: [][]byte{v}, Inclusive: r.IntN(2) == 0}
				}
			}
			n := 1 + r.IntN(80)
			what := fmt.Sprint(time, string(key), bounds, n, o)
			list = append(list,
				read{what: "range " + what, of: func(_ *Reader, q *Query) (rowgroup.Iter, error) {
					return unclosed{q}, q.Range(bg, key, bounds[0], bounds[1], o)
				}},
				read{what: "latest " + what, of: func(_ *Reader, q *Query) (rowgroup.Iter, error) {
					return unclosed{q}, q.Latest(bg, key, n, o)
				}},
				read{what: "partition " + what, of: func(rd *Reader, _ *Query) (rowgroup.Iter, error) {
					part, err := rd.Partition(bg, key)
					if err != nil {
						return nil, err
					}
					return part.Range(bg, bounds[0], bounds[1], o), nil
				}})
			if len(list) < 10 {
				list = append(list, read{what: "scan " + what, of: func(rd *Reader, _ *Query) (rowgroup.Iter, error) {
					o := o
					o.Concurrency = n % 4
					return rd.Scan(bg, o), nil
				}})
			}
		}
		get := func(x *read, rd *Reader, q *Query, b *rowgroup.Batch) ([]string, error) {
			it, err := x.of(rd, q)
			if err != nil {
				return nil, err
			}
			defer it.Close()
			return drainInto(b, it)
		}
		q := byGroup.NewQuery()
		for i := range list {
			x := &list[i]
			var err error
			x.expected, err = get(x, byGroup, q, rowgroup.NewBatch(s))
			require.NoError(t, err, x.what)
		}
		require.NoError(t, q.Close())
		for source, rd := range all {
			var wait sync.WaitGroup
			for g := range 2 {
				wait.Go(func() {
					q, b := rd.NewQuery(), rowgroup.NewBatch(s)
					defer q.Close()
					for _, i := range rand.New(rand.NewPCG(uint64(g), 1)).Perm(len(list)) {
						x := &list[i]
						got, err := get(x, rd, q, b)
						if err != nil || !slices.Equal(x.expected, got) {
							t.Errorf("%s: %s: %v: %d lines, not %d", source, x.what, err, len(got), len(x.expected))
							for k := range min(len(got), len(x.expected)) {
								if got[k] != x.expected[k] {
									t.Errorf("%d: want %s\n got %s", k, x.expected[k], got[k])
									break
								}
							}
							return
						}
					}
				})
			}
			wait.Wait()
		}
	}
	require.Greater(t, passed, 10)
}
