package textfmt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// sortRow is a row to sort; i tells rows of equal keys apart.
type sortRow struct{ k, t, u, i int }

// sortSchema has the column t, descending or not, and for clustering 2 a text
// column u behind it, in the clustering.
func sortOptions(keyed, desc bool, clustering int) CSVOptions {
	o := CSVOptions{Names: []string{"k", "t", "u", "i"}}
	o.Types = map[string]rowgroup.Type{"k": rowgroup.Bigint, "t": rowgroup.Bigint, "u": rowgroup.Text, "i": rowgroup.Double}
	if keyed {
		o.PartitionKey = []string{"k"}
	}
	if clustering > 0 {
		o.Clustering = []ClusteringSpec{{Column: "t", Desc: desc}}
	}
	if clustering > 1 {
		o.Clustering = append(o.Clustering, ClusteringSpec{Column: "u"})
	}
	o.AnyOrder = true
	return o
}

// sortedText is the rows of an iterator as lines, and checks that it begins
// every partition once.
func sortedText(t require.TestingT, it rowgroup.Iter, s *rowgroup.Schema) string {
	b := rowgroup.NewBatch(s)
	var out strings.Builder
	w, err := NewCSVWriter(&out, s, CSVWriteOptions{NoHeader: true, Columns: []string{"k", "t", "u", "i"}, RowMetadata: true})
	require.NoError(t, err)
	begun := map[string]bool{}
	last := ""
	for {
		more, err := it.Next(b)
		require.NoError(t, err)
		if !more {
			break
		}
		require.NoError(t, b.Check())
		require.Positive(t, b.Len())
		for p := range b.NumPartitions() {
			key := string(b.Key(p))
			require.Equal(t, begun[key], b.Partition(p).Continued)
			require.True(t, !begun[key] || key == last)
			begun[key], last = true, key
		}
		require.NoError(t, w.Write(b))
	}
	require.NoError(t, w.Flush())
	return out.String()
}

// TestSortProperty: the same rows, in the order of the table, equal ones as
// they came, in memory or through runs.
func TestSortProperty(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		keyed, desc, clustering := rapid.Bool().Draw(t, "keyed"), rapid.Bool().Draw(t, "desc"), rapid.IntRange(0, 2).Draw(t, "clustering")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		n := rapid.IntRange(0, 3000).Draw(t, "rows")
		var rows []sortRow
		var text strings.Builder
		for i := range n {
			r := sortRow{random.IntN(6), random.IntN(30) - 10, random.IntN(3), i}
			rows = append(rows, r)
			fmt.Fprintf(&text, "%d,%d,%d,%d\n", r.k, r.t, r.u, r.i)
		}
		c, err := NewCSVReader(strings.NewReader(text.String()), "", sortOptions(keyed, desc, clustering))
		require.NoError(t, err)
		in := &smallBatches{c, rapid.IntRange(1, 500).Draw(t, "batch"), rowgroup.NewBatch(c.Schema()), 0}
		it, err := Sort(c.Schema(), in, WithTempDir(dir), WithMemory(rapid.SampledFrom([]int64{1, 20_000, 1 << 20}).Draw(t, "memory")))
		require.NoError(t, err)
		got := sortedText(t, it, c.Schema())
		require.NoError(t, it.Close())
		slices.SortStableFunc(rows, func(a, b sortRow) int {
			for _, c := range []struct {
				on   bool
				a, b int
			}{{keyed, a.k, b.k}, {clustering > 0 && !desc, a.t, b.t}, {clustering > 0 && desc, b.t, a.t}, {clustering > 1, a.u, b.u}} {
				if c.on && c.a != c.b {
					return c.a - c.b
				}
			}
			return 0
		})
		text.Reset()
		for _, r := range rows {
			fmt.Fprintf(&text, "%d,%d,%d,%d,0,,\n", r.k, r.t, r.u, r.i)
		}
		require.Equal(t, text.String(), got)
	})
	require.Empty(t, filesIn(t, dir))
}

// smallBatches cuts the batches of a reader.
type smallBatches struct {
	in   Batches
	most int
	b    *rowgroup.Batch
	at   int
}

func (s *smallBatches) Next(b *rowgroup.Batch) (bool, error) {
	if s.at == s.b.Len() {
		more, err := s.in.Next(s.b)
		if !more || err != nil {
			return false, err
		}
		s.at = 0
	}
	to := min(s.at+s.most, s.b.Len())
	b.Clear()
	first := 0
	for p := range s.b.NumPartitions() {
		if s.b.Partition(p).Start <= s.at {
			first = p
		}
	}
	b.BeginPartition(s.b.Key(first)).Continued = true
	last := first + 1
	for last < s.b.NumPartitions() && s.b.Partition(last).Start < to {
		last++
	}
	err := b.AppendParts(s.b, s.at, to, first+1, last)
	s.at = to
	return true, err
}

func filesIn(t *testing.T, dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestSortEverything: nulls, exceptions and metadata go through runs.
func TestSortEverything(t *testing.T) {
	s := everyClass(t)
	rapid.Check(t, func(t *rapid.T) {
		b := drawRows(t, s)
		n := b.Len()
		m := b.Meta()
		if rapid.Bool().Draw(t, "metadata") {
			for range n {
				m.Liveness = append(m.Liveness, rowgroup.LivenessExpiring)
				m.WriteTimes = append(m.WriteTimes, rapid.Int64().Draw(t, "write time"))
				m.TTLs = append(m.TTLs, rapid.Int32Range(1, 1<<30).Draw(t, "ttl"))
				m.Expiries = append(m.Expiries, rapid.Int64().Draw(t, "expiry"))
			}
		}
		once := &given{b, n == 0}
		it, err := Sort(s, once, WithMemory(1))
		require.NoError(t, err)
		defer it.Close()
		got := rowgroup.NewBatch(s)
		_, err = it.Next(got)
		require.NoError(t, err)
		require.NoError(t, got.Check())
		sameRows(t, b, got)
		require.Equal(t, m.WriteTimes, got.Meta().WriteTimes)
		require.Equal(t, m.TTLs, got.Meta().TTLs)
		require.Equal(t, m.Expiries, got.Meta().Expiries)
		require.Equal(t, m.Liveness, got.Meta().Liveness)
	})
}

// given yields one batch.
type given struct {
	b    *rowgroup.Batch
	done bool
}

func (g *given) Next(b *rowgroup.Batch) (bool, error) {
	if g.done {
		return false, nil
	}
	g.done = true
	return true, b.AppendParts(g.b, 0, g.b.Len(), 1, g.b.NumPartitions())
}

// TestSortNulls: null comes first whatever the order, in memory and merged.
func TestSortNulls(t *testing.T) {
	s, err := rowgroup.NewSchema(nil, []rowgroup.Column{{Name: "t", Type: rowgroup.Bigint, Desc: true}}, nil, nil, rowgroup.WithMultiset())
	require.NoError(t, err)
	for _, memory := range []int64{1, 1 << 20} {
		b := rowgroup.NewBatch(s)
		*b.Int64s(0) = []int64{1, 0, 3}
		b.CellMeta(0).Cells = []rowgroup.Cell{0, rowgroup.CellAbsent, 0}
		it, err := Sort(s, &given{b, false}, WithMemory(memory))
		require.NoError(t, err)
		got := rowgroup.NewBatch(s)
		_, err = it.Next(got)
		require.NoError(t, err)
		require.Equal(t, []int64{0, 3, 1}, *got.Int64s(0))
		require.NoError(t, it.Close())
	}
}

// numbered yields rows of a single number each, in falling order.
type numbered struct {
	left, batch int
	fail        error
}

func (n *numbered) Next(b *rowgroup.Batch) (bool, error) {
	b.Reset()
	if n.left == 0 {
		return false, n.fail
	}
	for range min(n.batch, n.left) {
		*b.Int64s(0) = append(*b.Int64s(0), int64(n.left))
		n.left--
	}
	return true, nil
}

func numberSchema(t *testing.T) *rowgroup.Schema {
	s, err := rowgroup.NewSchema(nil, []rowgroup.Column{{Name: "n", Type: rowgroup.Bigint}}, nil, nil, rowgroup.WithMultiset())
	require.NoError(t, err)
	return s
}

// TestSortManyRuns merges runs of merged runs.
func TestSortManyRuns(t *testing.T) {
	dir := t.TempDir()
	s := numberSchema(t)
	const n = 3*maxMerge*10 + 7
	it, err := Sort(s, &numbered{left: n, batch: 10}, WithMemory(1), WithTempDir(dir))
	require.NoError(t, err)
	b := rowgroup.NewBatch(s)
	want := int64(1)
	for {
		more, err := it.Next(b)
		require.NoError(t, err)
		if !more {
			break
		}
		for _, v := range *b.Int64s(0) {
			require.Equal(t, want, v)
			want++
		}
	}
	require.EqualValues(t, n+1, want)
	require.NoError(t, it.Close())
	require.NoError(t, it.Close())
	require.Empty(t, filesIn(t, dir))
}

func TestSortErrors(t *testing.T) {
	dir := t.TempDir()
	s := numberSchema(t)
	boom := errors.New("boom")
	_, err := Sort(s, &numbered{100, 10, boom}, WithMemory(1), WithTempDir(dir))
	require.ErrorIs(t, err, boom)
	ctx, cancel := context.WithCancel(context.Background())
	it, err := Sort(s, &numbered{left: 100, batch: 10}, WithMemory(1), WithTempDir(dir), WithContext(ctx))
	require.NoError(t, err)
	cancel()
	_, err = it.Next(rowgroup.NewBatch(s))
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, it.Close())
	_, err = Sort(s, &numbered{left: 100, batch: 10}, WithContext(ctx))
	require.ErrorIs(t, err, context.Canceled)
	_, err = Sort(s, &numbered{left: 100, batch: 10}, WithMemory(1), WithTempDir(dir+"/nowhere"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "temporary file: open ")
	require.Empty(t, filesIn(t, dir))
	static, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "k", Type: rowgroup.Int}}, nil, []rowgroup.Column{{Name: "s", Type: rowgroup.Int}}, nil)
	require.NoError(t, err)
	_, err = Sort(static, &numbered{})
	require.Error(t, err)
	other, err := rowgroup.NewSchema(nil, []rowgroup.Column{{Name: "k", Type: rowgroup.Type{Kind: rowgroup.KindDuration}}}, nil, nil)
	require.NoError(t, err)
	_, err = Sort(other, &numbered{})
	require.ErrorContains(t, err, "cannot sort")
}

// TestSpillDamage: any byte of a run that changes is found.
func TestSpillDamage(t *testing.T) {
	s := everyClass(t)
	b := rapid.Custom(func(t *rapid.T) *rowgroup.Batch { return drawRows(t, s) }).Example(3)
	r, err := newRun(t.TempDir())
	require.NoError(t, err)
	defer r.close()
	rows := newSortedRows(s)
	require.NoError(t, rows.batch().AppendParts(b, 0, b.Len(), 1, 1))
	rows.add(rows.batch())
	require.NoError(t, r.writeAll(s, &memoryIter{rows: rows, out: newGatherer(s), ctx: context.Background()}))
	whole := make([]byte, r.size)
	_, err = r.file.ReadAt(whole, 0)
	require.NoError(t, err)
	got := rowgroup.NewBatch(s)
	for i := range whole {
		_, err = r.file.WriteAt([]byte{whole[i] ^ 1}, int64(i))
		require.NoError(t, err)
		at := int64(0)
		_, err = r.read(&at, got, nil)
		require.ErrorIs(t, err, encoding.ErrCorrupt)
		_, err = r.file.WriteAt(whole[i:i+1], int64(i))
		require.NoError(t, err)
	}
	require.NoError(t, r.file.Truncate(r.size-1))
	at := int64(0)
	_, err = r.read(&at, got, nil)
	require.ErrorContains(t, err, "temporary file")
	// The reader of blocks itself takes anything.
	for i := range whole {
		bad := bytes.Clone(whole[blockHeader:])
		if i < len(bad) {
			bad[i] ^= 0x55
		}
		d := blockReader{b: bad}
		d.block(got)
	}
}

// TestSortMemory: the heap stays within a small multiple of what is allowed.
func TestSortMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("sorts 10 times its memory, which takes seconds: not in short mode")
	}
	s := numberSchema(t)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	const n = 2_000_000 // 64 MB with places
	it, err := Sort(s, &numbered{left: n, batch: 4096}, WithMemory(4<<20), WithTempDir(t.TempDir()))
	require.NoError(t, err)
	b := rowgroup.NewBatch(s)
	rows := 0
	for {
		more, err := it.Next(b)
		require.NoError(t, err)
		if !more {
			break
		}
		rows += b.Len()
	}
	require.Equal(t, n, rows)
	runtime.ReadMemStats(&after)
	require.NoError(t, it.Close())
	require.Less(t, after.HeapSys, before.HeapSys+32<<20)
}

func TestDistinct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 200).Draw(t, "rows")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		keyed := rapid.Bool().Draw(t, "keyed")
		most := rapid.IntRange(2, 100).Draw(t, "values")
		type key struct{ k, t int }
		firsts, lasts := map[key]int{}, map[key]int{}
		var text strings.Builder
		for i := range n {
			k := key{random.IntN(3), random.IntN(most)}
			fmt.Fprintf(&text, "%d,%d,x,%d\n", k.k, k.t, i)
			if !keyed {
				k.k = 0
			}
			if _, there := firsts[k]; !there {
				firsts[k] = i
			}
			lasts[k] = i
		}
		for _, u := range []Unique{UniqueError, UniqueFirst, UniqueLast} {
			o := sortOptions(keyed, false, 1)
			o.Unique = true
			c, err := NewCSVReader(strings.NewReader(text.String()), "", o)
			require.NoError(t, err)
			require.Equal(t, false, c.Schema().Multiset())
			it, err := Sort(c.Schema(), c)
			require.NoError(t, err)
			it = Distinct(c.Schema(), &cutIter{it, rapid.IntRange(1, 50).Draw(t, "batch"), rowgroup.NewBatch(c.Schema()), 0}, u)
			if u == UniqueError && len(firsts) < n {
				var e *DuplicateError
				b := rowgroup.NewBatch(c.Schema())
				for err == nil {
					more := false
					more, err = it.Next(b)
					require.True(t, more || err != nil)
				}
				require.ErrorAs(t, err, &e)
				require.Equal(t, keyed, strings.HasPrefix(e.Key, "k="))
				require.NoError(t, it.Close())
				continue
			}
			want := firsts
			if u == UniqueLast {
				want = lasts
			}
			got := sortedText(t, it, c.Schema())
			require.NoError(t, it.Close())
			lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
			if n == 0 {
				lines = nil
			}
			require.Len(t, lines, len(want))
			for _, line := range lines {
				f := strings.Split(line, ",")
				var k key
				if keyed {
					k.k, _ = strconv.Atoi(f[0])
				}
				k.t, _ = strconv.Atoi(f[1])
				require.Equal(t, strconv.Itoa(want[k]), f[3])
			}
		}
	})
	for _, s := range []string{"error", "first", "last"} {
		u, err := ParseUnique(s)
		require.NoError(t, err)
		require.Equal(t, s, u.String())
	}
	_, err := ParseUnique("any")
	require.EqualError(t, err, `"any": expected error, first or last`)
}

// cutIter cuts the batches of an iterator.
type cutIter struct {
	rowgroup.Iter
	most int
	b    *rowgroup.Batch
	at   int
}

func (c *cutIter) Next(b *rowgroup.Batch) (bool, error) {
	if c.at == c.b.Len() {
		more, err := c.Iter.Next(c.b)
		if !more || err != nil {
			return false, err
		}
		c.at = 0
	}
	s := smallBatches{b: c.b, most: c.most, at: c.at}
	more, err := s.Next(b)
	c.at = s.at
	return more, err
}

func BenchmarkSort(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	const n = 200_000
	for i := range n {
		fmt.Fprintf(&text, "%d,%d,x,%d\n", random.IntN(1000), random.IntN(1_000_000), i)
	}
	o := sortOptions(true, false, 1)
	for _, memory := range []int64{1 << 30, 4 << 20} {
		b.Run(fmt.Sprint(memory>>20, "MiB"), func(b *testing.B) {
			for b.Loop() {
				c, err := NewCSVReader(strings.NewReader(text.String()), "", o)
				require.NoError(b, err)
				it, err := Sort(c.Schema(), c, WithMemory(memory))
				require.NoError(b, err)
				batch := rowgroup.NewBatch(c.Schema())
				for more := true; more; {
					more, err = it.Next(batch)
					require.NoError(b, err)
				}
				require.NoError(b, it.Close())
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// FuzzSpill: blocks whose checksum is right by chance are refused or read, with
// no panic.
func FuzzSpill(f *testing.F) {
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "k", Type: rowgroup.Text}}, []rowgroup.Column{{Name: "t", Type: rowgroup.Bigint}}, nil,
		[]rowgroup.Column{{Name: "f", Type: rowgroup.Float}, {Name: "s", Type: rowgroup.Text}}, rowgroup.WithMultiset())
	require.NoError(f, err)
	b := rowgroup.NewBatch(s)
	b.BeginPartition([]byte("key"))
	*b.Int64s(1), *b.Float32s(2) = []int64{1, 2}, []float32{1.5, 2}
	require.NoError(f, b.Bytes(3).Append([]byte("x")))
	require.NoError(f, b.Bytes(3).Append(nil))
	b.CellMeta(3).Cells = []rowgroup.Cell{0, rowgroup.CellAbsent}
	b.Meta().WriteTimes = []int64{5, 6}
	f.Add(appendBlock(nil, b))
	f.Fuzz(func(t *testing.T, body []byte) {
		d := blockReader{b: body}
		d.block(b)
		if !d.bad && len(d.b) == 0 && b.Check() == nil && b.Len() > 0 {
			again := rowgroup.NewBatch(s)
			d = blockReader{b: appendBlock(nil, b)}
			d.block(again)
			require.False(t, d.bad)
			sameRows(t, b, again)
		}
	})
}
