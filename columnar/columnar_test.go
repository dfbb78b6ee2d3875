package columnar

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/internal/invariants"
	"github.com/colsst/colsst/rowgroup"
)

// combinations are the experiment's, and small sizes that make many levels.
func combinations() map[string][]Option {
	all := map[string][]Option{
		"default": nil,
		"B":       {WithColumnCompression("*"), WithCompression(16)},
		"C":       {WithCompression(16)},
		"D":       {WithColumnCompression("*")},
		"E":       {WithColumnCompression("*"), WithRowGroupRows(512)},
		"small":   {WithRowGroupRows(8), WithBlockBytes(300)},
		"tiny":    {WithRowGroupRows(3), WithBlockBytes(1), WithCompression(1)},
		"bytes":   {WithRowGroupBytes(200), WithFilter(false)},
	}
	if invariants.Enabled { // slow builds
		for _, name := range []string{"C", "D", "E", "bytes"} {
			delete(all, name)
		}
	}
	return all
}

func TestRoundTrip(t *testing.T) {
	for name, s := range testSchemas(t) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, o := range []historyOptions{{5, 150, true}, {40, 3, false}, {4, 100, false}, {2, 700, false}} {
			b := history(t, s, r, o)
			want := dump(b)
			rev := b.Clone()
			rev.Reverse()
			backwards := dump(rev)
			for combo, opts := range combinations() {
				what := fmt.Sprintf("%s, %s, %+v", name, combo, o)
				file := write(t, b, 1<<30, opts...)
				rd := open(t, file)
				require.True(t, rd.Schema().Equal(s))
				require.EqualValues(t, b.Len()-len(*b.Markers()), rd.Rows())
				require.EqualValues(t, b.NumPartitions(), rd.Partitions())
				got, err := drain(rd.Scan(bg, rowgroup.ScanOptions{}), s)
				require.NoError(t, err)
				same(t, want, got, what)
				got, err = drain(rd.Scan(bg, rowgroup.ScanOptions{Desc: true}), s)
				require.NoError(t, err)
				same(t, backwards, got, what)
				if o.rows > 100 || len(combo) < 4 {
					continue // batch boundaries: enough with the others
				}
				for _, n := range []int{1, 7, 128, 100_000} {
					if n > 1 || o.rows < 10 {
						require.True(t, slices.Equal(file, write(t, b, n, opts...)), "%s: batches of %d", what, n)
					}
				}
			}
		}
	}
}

func TestPartitions(t *testing.T) {
	for name, s := range testSchemas(t) {
		for combo, opts := range combinations() {
			t.Run(name+"/"+combo, func(t *testing.T) {
				r := rand.New(rand.NewPCG(3, 4))
				for _, o := range []historyOptions{{40, 3, false}, {4, 200, false}} {
					b := history(t, s, r, o)
					rd := open(t, write(t, b, 1<<30, opts...))
					for p := range b.NumPartitions() {
						one := rowgroup.NewBatch(s)
						one.Clear()
						from, to := b.PartitionRows(p)
						require.NoError(t, one.AppendParts(b, from, to, p, p+1))
						q, err := rd.Partition(bg, b.Key(p))
						require.NoError(t, err)
						require.Equal(t, b.Key(p), q.Key())
						got, err := drain(q.Range(bg, rowgroup.Bound{}, rowgroup.Bound{}, rowgroup.ScanOptions{}), s)
						require.NoError(t, err)
						same(t, dump(one), got)
						got, err = drain(q.Range(bg, rowgroup.Bound{}, rowgroup.Bound{}, rowgroup.ScanOptions{Desc: true}), s)
						require.NoError(t, err)
						one.Reverse()
						same(t, dump(one), got)
					}
					for _, k := range []string{"", "a", "host-000", "host-001.aa", "zzz"} {
						if k == "" && len(s.Columns(rowgroup.PartitionKey)) == 0 {
							continue
						}
						_, err := rd.Partition(bg, []byte(k))
						require.ErrorIs(t, err, rowgroup.ErrNotFound)
					}
				}
			})
		}
	}
}

// rows drops the lines of partitions.
func rows(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(s string) bool { return s[0] == 'P' })
}

func reversed(lines []string) []string {
	lines = slices.Clone(lines)
	slices.Reverse(lines)
	return lines
}

func TestRanges(t *testing.T) {
	for _, name := range []string{"series", "desc", "static", "multi", "keyless"} {
		s := testSchemas(t)[name]
		for combo, opts := range combinations() {
			t.Run(name+"/"+combo, func(t *testing.T) {
				r := rand.New(rand.NewPCG(5, 6))
				b := history(t, s, r, historyOptions{3, 60, false})
				rd := open(t, write(t, b, 1<<30, opts...))
				cf, _ := s.Range(rowgroup.Clustering)
				times := *b.Int64s(cf)
				for p := range b.NumPartitions() {
					q, err := rd.Partition(bg, b.Key(p))
					require.NoError(t, err)
					pf, pt := b.PartitionRows(p)
					if pf == pt {
						continue
					}
					bounds := []rowgroup.Bound{{}}
					for range 6 {
						v := times[pf+r.IntN(pt-pf)] + int64(r.IntN(3)-1)
						bounds = append(bounds, bound(v, r.IntN(2) == 0))
					}
					for _, from := range bounds {
						for _, to := range bounds {
							lo := s.SearchBound(b, pf, pt, from, true)
							hi := max(lo, s.SearchBound(b, pf, pt, to, false))
							one := rowgroup.NewBatch(s)
							one.Clear()
							one.BeginPartition(b.Key(p))
							require.NoError(t, one.AppendParts(b, lo, hi, 0, 0))
							want := rows(dump(one))
							got, err := drain(q.Range(bg, from, to, rowgroup.ScanOptions{}), s)
							require.NoError(t, err)
							if len(want) == 0 {
								require.Empty(t, rows(got))
								continue
							}
							same(t, want, rows(got))
							require.Equal(t, headLine(b, p), got[0])
							got, err = drain(q.Range(bg, from, to, rowgroup.ScanOptions{Desc: true}), s)
							require.NoError(t, err)
							same(t, reversed(want), rows(got))
							require.Equal(t, headLine(b, p), got[0])
						}
					}
				}
			})
		}
	}
}

func headLine(b *rowgroup.Batch, p int) string {
	one := rowgroup.NewBatch(b.Schema())
	one.Clear()
	from, _ := b.PartitionRows(p)
	if err := one.AppendParts(b, from, from, p, p+1); err != nil {
		panic(err)
	}
	return dump(one)[0]
}

// TestLive compares every path of the live view with the whole table filtered
// at once.
func TestLive(t *testing.T) {
	for _, name := range []string{"series", "desc", "static", "two"} {
		s := testSchemas(t)[name]
		for combo, opts := range combinations() {
			t.Run(name+"/"+combo, func(t *testing.T) {
				r := rand.New(rand.NewPCG(7, 8))
				b := history(t, s, r, historyOptions{6, 60, false})
				rd := open(t, write(t, b, 1<<30, opts...))
				for _, now := range []int64{0, 60, 100, 1000} {
					o := rowgroup.ScanOptions{Live: true, Now: now}
					live := b.Clone()
					var f rowgroup.LiveFilter
					f.Reset(now, false)
					f.Apply(live)
					want := dump(live)
					got, err := drain(rd.Scan(bg, o), s)
					require.NoError(t, err)
					same(t, want, got)
					o.Desc = true
					got, err = drain(rd.Scan(bg, o), s)
					require.NoError(t, err)
					rev := live.Clone()
					rev.Reverse()
					same(t, dump(rev), got)
					for p := range live.NumPartitions() {
						q, err := rd.Partition(bg, live.Key(p))
						require.NoError(t, err)
						from, to := live.PartitionRows(p)
						one := rowgroup.NewBatch(s)
						one.Clear()
						require.NoError(t, one.AppendParts(live, from, to, p, p+1))
						o.Desc = false
						got, err = drain(q.Range(bg, rowgroup.Bound{}, rowgroup.Bound{}, o), s)
						require.NoError(t, err)
						same(t, dump(one), got)
						for _, n := range []int{0, 1, 2, 10, 1000} {
							all := rows(dump(one))
							if !s.Columns(rowgroup.Clustering)[0].Desc {
								slices.Reverse(all)
							}
							got, err = drain(q.Latest(bg, n, o), s)
							require.NoError(t, err)
							same(t, all[:min(n, len(all))], rows(got), fmt.Sprint("latest ", n))
						}
					}
				}
			})
		}
	}
}

// TestLevels reads files whose indexes have several levels.
func TestLevels(t *testing.T) {
	s := testSchemas(t)["series"]
	r := rand.New(rand.NewPCG(25, 26))
	b := rowgroup.NewBatch(s)
	rows, levels := 70_000, 2
	if invariants.Enabled {
		rows, levels = 10_000, 1
	}
	for i := range 3000 {
		b.BeginPartition(fmt.Appendf(nil, "%05d.%x", i, r.Uint32()))
		n := 1
		if i == 1500 {
			n = rows
		}
		fillPartition(s, b, r, n, true)
	}
	file := write(t, b, 1<<30, WithRowGroupRows(1), WithBlockBytes(1))
	rd := open(t, file)
	require.NoError(t, rd.Verify(bg, VerifyValues, func(err error) { t.Error(err) }))
	require.GreaterOrEqual(t, rd.foot.rootLevel, 1)
	times := *b.Int64s(1)
	for range 50 {
		p := r.IntN(3000)
		if r.IntN(2) == 0 {
			p = 1500
		}
		q, err := rd.Partition(bg, b.Key(p))
		require.NoError(t, err)
		if p == 1500 {
			require.Equal(t, levels, q.(*partition).entry().level)
		}
		lo, hi := b.PartitionRows(p)
		from := lo + r.IntN(hi-lo)
		to := min(hi-1, from+r.IntN(20))
		for _, desc := range []bool{false, true} {
			it := q.Range(bg, bound(times[from], true), bound(times[to], true), rowgroup.ScanOptions{Desc: desc})
			got := rowgroup.NewBatch(s)
			var v []int64
			for {
				ok, err := it.Next(got)
				require.NoError(t, err)
				if !ok {
					break
				}
				v = append(v, *got.Int64s(1)...)
			}
			if desc {
				slices.Reverse(v)
			}
			require.Equal(t, times[from:to+1], v)
		}
	}
	got := 0
	it := rd.Scan(bg, rowgroup.ScanOptions{Desc: true})
	for {
		ok, err := it.Next(b)
		require.NoError(t, err)
		if !ok {
			break
		}
		got += b.Len()
	}
	require.EqualValues(t, rd.Rows(), got)
}

// TestUnknownOrder finds partitions where their order is not known.
func TestUnknownOrder(t *testing.T) {
	key := []rowgroup.Column{{Name: "k", Type: rowgroup.Text}}
	s := table(t, key, []rowgroup.Column{{Name: "time", Type: rowgroup.Bigint}}, nil, rowgroup.WithOrder("custom:mine"))
	b := rowgroup.NewBatch(s)
	r := rand.New(rand.NewPCG(27, 28))
	var keys []string
	for i := range 300 {
		keys = append(keys, fmt.Sprintf("%04x.%d", r.IntN(1<<16), i))
		b.BeginPartition([]byte(keys[i]))
		fillPartition(s, b, r, 1+r.IntN(20), true)
	}
	for _, opts := range [][]Option{nil, {WithRowGroupRows(4), WithBlockBytes(30), WithFilter(false)}} {
		rd := open(t, write(t, b, 100, opts...))
		require.NoError(t, rd.Verify(bg, VerifyValues, nil))
		for p, k := range keys {
			q, err := rd.Partition(bg, []byte(k))
			require.NoError(t, err)
			from, to := b.PartitionRows(p)
			got, err := drain(q.Range(bg, rowgroup.Bound{}, rowgroup.Bound{}, rowgroup.ScanOptions{}), s)
			require.NoError(t, err)
			require.Len(t, rows(got), to-from)
		}
		_, err := rd.Partition(bg, []byte("none"))
		require.ErrorIs(t, err, rowgroup.ErrNotFound)
	}
}

func TestFilterShards(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 4, 5, 100, 5000} {
		var hashes []uint64
		for i := range n {
			hashes = append(hashes, hashKey(fmt.Append(nil, i)), hashKey(fmt.Append(nil, i)))
		}
		var shards []*shard
		_, err := writeFilter(slices.Clone(hashes), 600, func(h *header, body []byte) (ref, error) {
			f, err := parseShard(slices.Clone(body))
			require.NoError(t, err)
			require.EqualValues(t, len(shards), h.fields[0])
			shards = append(shards, &shard{f})
			return ref{}, nil
		})
		require.NoError(t, err)
		if n == 5000 {
			require.Len(t, shards, 16)
		}
		contains := func(h uint64) bool {
			f := shards[shardOf(h, len(shards))].filter
			return f != nil && f.Contains(h)
		}
		for _, h := range hashes {
			require.True(t, contains(h))
		}
		false1 := 0
		for i := range 20_000 {
			if contains(hashKey(fmt.Append(nil, "other", i))) {
				false1++
			}
		}
		require.Less(t, false1, 200, n)
	}
	for _, body := range [][]byte{
		{1},
		make([]byte, filterHead), append(make([]byte, filterHead), 1, 2, 3),
		append([]byte{0, 0, 0, 0, 0, 0, 0, 0, 60, 1, 0, 0, 0}, make([]byte, 100)...),
		append([]byte{0, 0, 0, 0, 0, 0, 0, 0, 2, 255, 255, 255, 255}, make([]byte, 4)...),
	} {
		_, err := parseShard(body)
		require.ErrorIs(t, err, encoding.ErrCorrupt)
	}
}

func TestCancelled(t *testing.T) {
	b := points(t, sequence(10_000, 3)...)
	rd := open(t, write(t, b, 1000))
	p, err := rd.Partition(bg, nil)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(bg)
	its := []rowgroup.Iter{
		rd.Scan(ctx, rowgroup.ScanOptions{}), rd.Scan(ctx, rowgroup.ScanOptions{Desc: true}),
		p.Range(ctx, rowgroup.Bound{}, rowgroup.Bound{}, rowgroup.ScanOptions{}), p.Latest(ctx, 9000, rowgroup.ScanOptions{}),
	}
	part := rowgroup.NewBatch(b.Schema())
	for _, it := range its {
		ok, err := it.Next(part)
		require.NoError(t, err)
		require.True(t, ok)
	}
	cancel()
	for _, it := range its {
		for err = error(nil); err == nil; {
			var ok bool
			ok, err = it.Next(part)
			require.False(t, ok && err != nil)
		}
		require.ErrorIs(t, err, context.Canceled)
	}
	_, err = rd.Partition(ctx, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, rd.Verify(ctx, VerifyValues, nil), context.Canceled)
	_, err = Salvage(ctx, bytes.NewReader(nil), 0)
	require.Error(t, err)
}
