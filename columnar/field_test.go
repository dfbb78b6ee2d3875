package columnar

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/internal/invariants"
	"github.com/colsst/colsst/rowgroup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func table(t testing.TB, key, clustering, regular []rowgroup.Column, opts ...rowgroup.SchemaOption) *rowgroup.Schema {
	s, err := rowgroup.NewSchema(key, clustering, nil, regular, opts...)
	require.NoError(t, err)
	return s
}

// points is one partition of rows at these times with value = time.
func points(t testing.TB, times ...int64) *rowgroup.Batch {
	s := table(t, nil, []rowgroup.Column{{Name: "time", Type: rowgroup.Bigint}}, []rowgroup.Column{{Name: "v", Type: rowgroup.Bigint}})
	b := rowgroup.NewBatch(s)
	*b.Int64s(0) = append(*b.Int64s(0), times...)
	*b.Int64s(1) = append(*b.Int64s(1), times...)
	return b
}

func sequence(n int, step int64) []int64 {
	v := make([]int64, n)
	for i := range v {
		v[i] = int64(i) * step
	}
	return v
}

func TestT09ManyRows(t *testing.T) {
	for _, n := range []int{65_535, 65_536, 70_000} {
		for _, opts := range [][]Option{nil, {WithRowGroupRows(65_536), WithRowGroupBytes(encoding.MaxGroupBytes)}} {
			b := points(t, sequence(n, 1)...)
			rd := open(t, write(t, b, 10_000, opts...))
			require.EqualValues(t, n, rd.Rows())
			got := rowgroup.NewBatch(b.Schema())
			for part, err := range rd.All(bg, rowgroup.ScanOptions{}) {
				require.NoError(t, err)
				*got.Int64s(0) = append(*got.Int64s(0), *part.Int64s(0)...)
				*got.Int64s(1) = append(*got.Int64s(1), *part.Int64s(1)...)
			}
			require.True(t, slices.Equal(*b.Int64s(0), *got.Int64s(0)))
			require.True(t, slices.Equal(*b.Int64s(1), *got.Int64s(1)))
		}
	}
}

func TestT11OddSizes(t *testing.T) {
	two31 := int64(1) << 31 // wraps where int has 32 bits
	b := points(t, sequence(3000, 7)...)
	want := dump(b)
	for name, option := range map[string]func(int) Option{
		"row_group_rows":          WithRowGroupRows,
		"row_group_size_in_bytes": WithRowGroupBytes,
		"block_size_in_bytes":     WithBlockBytes,
		"chunk_length_in_kb":      WithCompression,
	} {
		for _, n := range []int{-1, 0, 1, 300, 1000, 16383, 16384, 16385, 1<<31 - 1, -1 << 31, int(two31)} {
			w, err := NewWriter(io.Discard, b.Schema(), option(n))
			if err != nil {
				require.ErrorContains(t, err, name)
				require.NotContains(t, []int{1, 300, 1000, 16384}, n)
				continue
			}
			require.NoError(t, w.Abort())
			rd := open(t, write(t, b, 1000, option(n)))
			got, err := drain(rd.Scan(bg, rowgroup.ScanOptions{}), b.Schema())
			require.NoError(t, err)
			same(t, want, got, name)
		}
	}
	// A patched header, its checksum redone.
	for _, opts := range [][]Option{nil, {WithCompression(1)}} {
		file := write(t, b, 1000, opts...)
		for _, kib := range []int{0, 1, 2, 300, 16384, 16385, 65535} {
			bad := append(appendFileHeader(nil, kib), file[fileHeaderLen:]...)
			if bytes.Equal(bad, file) {
				continue
			}
			mustDetect(t, bad, nil, fmt.Sprint("chunks of ", kib))
		}
	}
}

func TestT26StatisticsAreCopies(t *testing.T) {
	s := table(t, nil, nil, []rowgroup.Column{{Name: "name", Type: rowgroup.Text}})
	b := rowgroup.NewBatch(s)
	for _, name := range []string{"Solo", "Skywalker", "Skywalker"} {
		b.Bytes(0).Append([]byte(name))
	}
	rd := open(t, write(t, b, 1, WithRowGroupRows(1), WithBlockBytes(1)))
	require.EqualValues(t, 3, rd.foot.totals.blocks)
	c := rd.Stats().Column(0)
	require.Equal(t, "Skywalker", string(c.Min))
	require.Equal(t, "Solo", string(c.Max))
}

func TestT29Empty(t *testing.T) {
	for name, s := range testSchemas(t) {
		for _, opts := range layered() {
			var buf bytes.Buffer
			w, err := NewWriter(&buf, s, opts...)
			require.NoError(t, err)
			require.NoError(t, w.Append(rowgroup.NewBatch(s)))
			require.NoError(t, w.Close())
			n := buf.Len()
			require.NoError(t, w.Close())
			require.NoError(t, w.Abort())
			require.Equal(t, n, buf.Len())
			require.Error(t, w.Append(rowgroup.NewBatch(s)))
			rd := open(t, buf.Bytes())
			require.Zero(t, rd.Rows()+rd.RowGroups()+rd.Partitions())
			require.True(t, rd.Schema().Equal(s), name)
			for _, desc := range []bool{false, true} {
				lines, err := drain(rd.Scan(bg, rowgroup.ScanOptions{Desc: desc}), s)
				require.NoError(t, err)
				require.Empty(t, lines)
			}
			require.NoError(t, rd.Verify(bg, VerifyValues, nil))
			_, err = rd.Partition(bg, nil)
			require.ErrorIs(t, err, rowgroup.ErrNotFound)
			d, err := rd.Describe(bg)
			require.NoError(t, err)
			require.EqualValues(t, n, sum(&d.Layers))
		}
	}
	for groups := 1; groups <= 2; groups++ {
		rd := open(t, write(t, points(t, sequence(128*groups, 1)...), 1000, WithBlockBytes(1)))
		require.EqualValues(t, groups, rd.RowGroups())
		require.EqualValues(t, groups, rd.foot.totals.blocks)
	}
}

func TestT32CompressingNothing(t *testing.T) {
	s := table(t, nil, nil, []rowgroup.Column{{Name: "v", Type: rowgroup.Text}})
	b := rowgroup.NewBatch(s)
	for range 300 {
		b.CellMeta(0).Cells = append(b.CellMeta(0).Cells, rowgroup.CellAbsent)
	}
	b.SetLen(300)
	for _, opts := range [][]Option{{WithColumnCompression("*")}, {WithColumnCompression("v"), WithCompression(1)}} {
		rd := open(t, write(t, b, 100, opts...))
		n := 0
		for part, err := range rd.All(bg, rowgroup.ScanOptions{}) {
			require.NoError(t, err)
			for i := range part.Len() {
				require.Equal(t, rowgroup.CellAbsent, part.Cell(0, i))
				n++
			}
		}
		require.Equal(t, 300, n)
	}
}

func times(t *testing.T, it rowgroup.Iter, s *rowgroup.Schema) (v []int64) {
	defer it.Close()
	b := rowgroup.NewBatch(s)
	for {
		ok, err := it.Next(b)
		require.NoError(t, err)
		if !ok {
			return v
		}
		v = append(v, *b.Int64s(0)...)
	}
}

func TestT40ReversedRanges(t *testing.T) {
	b := points(t, sequence(300, 1)...)
	for _, opts := range combinations() {
		rd := open(t, write(t, b, 1000, opts...))
		p, err := rd.Partition(bg, nil)
		require.NoError(t, err)
		for _, q := range [][2]int64{{50, 250}, {150, 160}, {0, 0}, {299, 299}, {99, 100}, {-10, 400}, {60, 60}, {250, 50}} {
			for _, inclusive := range []bool{false, true} {
				from, to := bound(q[0], true), bound(q[1], inclusive)
				var want []int64
				for _, v := range *b.Int64s(0) {
					if v >= q[0] && (v < q[1] || inclusive && v == q[1]) {
						want = append(want, v)
					}
				}
				require.Equal(t, want, times(t, p.Range(bg, from, to, rowgroup.ScanOptions{}), b.Schema()))
				slices.Reverse(want)
				require.Equal(t, want, times(t, p.Range(bg, from, to, rowgroup.ScanOptions{Desc: true}), b.Schema()))
			}
		}
	}
}

func TestT41Latest(t *testing.T) {
	for _, desc := range []bool{false, true} {
		s := table(t, []rowgroup.Column{{Name: "k", Type: rowgroup.Text}}, []rowgroup.Column{{Name: "time", Type: rowgroup.Bigint, Desc: desc}},
			[]rowgroup.Column{{Name: "v", Type: rowgroup.Bigint}})
		b := rowgroup.NewBatch(s)
		for _, k := range []string{"a", "b"} {
			b.BeginPartition([]byte(k))
			for i := range int64(2000) {
				if desc {
					i = 1999 - i
				}
				*b.Int64s(1) = append(*b.Int64s(1), i)
				*b.Int64s(2) = append(*b.Int64s(2), i)
				m, live := b.Meta(), rowgroup.LivenessLive
				if i == 1998 {
					live = rowgroup.LivenessExpiring
				}
				if i == 1999 {
					m.Deletions = append(m.Deletions, rowgroup.RowDeletion{Row: len(m.Liveness), Deletion: rowgroup.Deletion{MarkedForDeleteAt: 100, LocalDeletionTime: 1}})
				}
				m.Liveness = append(m.Liveness, live)
				m.WriteTimes = append(m.WriteTimes, 50)
				m.TTLs = append(m.TTLs, 10)
				m.Expiries = append(m.Expiries, 1000)
			}
		}
		for _, opts := range combinations() {
			rd := open(t, write(t, b, 1000, opts...))
			for _, k := range []string{"a", "b"} {
				p, err := rd.Partition(bg, []byte(k))
				require.NoError(t, err)
				for _, n := range []int{1, 2, 1000, 5000} {
					for top, o := range map[int64]rowgroup.ScanOptions{
						1999: {}, 1998: {Live: true, Now: 999}, 1997: {Live: true, Now: 1000},
					} {
						it := p.Latest(bg, n, o)
						part, got := rowgroup.NewBatch(s), []int64(nil)
						for {
							ok, err := it.Next(part)
							require.NoError(t, err)
							if !ok {
								break
							}
							got = append(got, *part.Int64s(1)...)
						}
						require.Len(t, got, min(n, int(top)+1))
						for i, v := range got {
							require.Equal(t, top-int64(i), v)
						}
					}
				}
			}
		}
	}
}

func TestT42RangeEnds(t *testing.T) {
	b := points(t, 3_599_999, 3_600_000, 3_600_001, 7_200_000)
	rd := open(t, write(t, b, 10, WithRowGroupRows(1), WithBlockBytes(1)))
	p, err := rd.Partition(bg, nil)
	require.NoError(t, err)
	for _, c := range []struct {
		from, to   int64
		incF, incT bool
		want       []int64
	}{
		{3_600_000, 7_200_000, true, false, []int64{3_600_000, 3_600_001}},
		{3_600_000, 7_200_000, false, true, []int64{3_600_001, 7_200_000}},
		{3_600_000, 3_600_000, true, true, []int64{3_600_000}},
		{7_200_000, 7_200_000, true, true, []int64{7_200_000}},
		{3_600_000, 3_600_000, true, false, nil},
	} {
		for _, desc := range []bool{false, true} {
			got := times(t, p.Range(bg, bound(c.from, c.incF), bound(c.to, c.incT), rowgroup.ScanOptions{Desc: desc}), b.Schema())
			if desc {
				slices.Reverse(got)
			}
			require.Equal(t, c.want, got)
		}
	}
}

func TestT43UnalignedRanges(t *testing.T) {
	s := table(t, nil, []rowgroup.Column{{Name: "row", Type: rowgroup.Bigint}}, []rowgroup.Column{
		{Name: "i", Type: rowgroup.Bigint},
		{Name: "f", Type: rowgroup.Double},
		{Name: "s", Type: rowgroup.Text},
	})
	b := rowgroup.NewBatch(s)
	for i := range 5000 {
		*b.Int64s(0) = append(*b.Int64s(0), int64(i))
		*b.Int64s(1) = append(*b.Int64s(1), int64(i))
		*b.Float64s(2) = append(*b.Float64s(2), float64(i)/10)
		b.Bytes(3).Append(fmt.Append(nil, i))
		for c := 1; c <= 3; c++ {
			cell := rowgroup.CellAsRow
			if i%7 == c {
				cell = rowgroup.CellAbsent
			}
			b.CellMeta(c).Cells = append(b.CellMeta(c).Cells, cell)
		}
	}
	want := rows(dump(b))
	for _, opts := range [][]Option{nil, {WithRowGroupRows(1024), WithBlockBytes(1 << 20)}, {WithRowGroupRows(5000), WithRowGroupBytes(1 << 20), WithCompression(16)}} {
		rd := open(t, write(t, b, 1000, opts...))
		p, err := rd.Partition(bg, nil)
		require.NoError(t, err)
		for _, a := range []int{0, 1, 1023, 1024, 1025, 2047, 4999} {
			for _, n := range []int{1, 2, 1023, 1024, 1025, 5000} {
				e := min(5000, a+n)
				got, err := drain(p.Range(bg, bound(int64(a), true), bound(int64(e), false), rowgroup.ScanOptions{}), s)
				require.NoError(t, err)
				same(t, want[a:e], rows(got))
				got, err = drain(p.Range(bg, bound(int64(a), true), bound(int64(e), false), rowgroup.ScanOptions{Desc: true}), s)
				require.NoError(t, err)
				same(t, reversed(want[a:e]), rows(got))
			}
		}
	}
}

// TestT48 is one file with every kind of deletion, at the second of expiry.
func TestT48DeletesAndTTL(t *testing.T) {
	s := table(t, []rowgroup.Column{{Name: "k", Type: rowgroup.Text}}, []rowgroup.Column{{Name: "time", Type: rowgroup.Bigint}},
		[]rowgroup.Column{{Name: "v", Type: rowgroup.Bigint}, {Name: "w", Type: rowgroup.Bigint}})
	b := rowgroup.NewBatch(s)
	row := func(time int64, live rowgroup.Liveness, written int64, v rowgroup.Cell) {
		*b.Int64s(1) = append(*b.Int64s(1), time)
		m := b.Meta()
		m.Liveness, m.WriteTimes = append(m.Liveness, live), append(m.WriteTimes, written)
		m.TTLs, m.Expiries = append(m.TTLs, 10), append(m.Expiries, 500)
		for c, cell := range []rowgroup.Cell{v, rowgroup.CellAsRow} {
			*b.Int64s(2 + c) = append(*b.Int64s(2 + c), time)
			cm := b.CellMeta(2 + c)
			cm.Cells, cm.Expiries = append(cm.Cells, cell), append(cm.Expiries, 77)
		}
	}
	marker := func(time int64, kind rowgroup.BoundKind) {
		d := rowgroup.Deletion{MarkedForDeleteAt: 100, LocalDeletionTime: 5}
		m := rowgroup.Marker{Row: b.Len(), Prefix: 1, Kind: kind, Open: rowgroup.LiveDeletion, Close: rowgroup.LiveDeletion}
		if kind.Opens() {
			m.Open = d
		} else {
			m.Close = d
		}
		*b.Markers() = append(*b.Markers(), m)
		row(time, rowgroup.LivenessLive, 0, rowgroup.CellAsRow)
	}
	b.BeginPartition([]byte("deleted")).Deletion = rowgroup.Deletion{MarkedForDeleteAt: 60, LocalDeletionTime: 5}
	for i := range int64(6) {
		row(i, rowgroup.LivenessLive, 58+i, rowgroup.CellAsRow) // 0, 1, 2 deleted
	}
	b.BeginPartition([]byte("range"))
	for i := range int64(10) {
		if i == 3 {
			marker(3, rowgroup.InclStart)
		}
		l, v := rowgroup.LivenessLive, rowgroup.CellAsRow
		if i == 7 {
			l = rowgroup.LivenessExpiring
		}
		if i == 8 {
			v = rowgroup.CellTombstone
		}
		row(i, l, 100+i/9, v) // 3, 4, 5 deleted; 9 newer
		if i == 5 {
			marker(5, rowgroup.InclEnd)
		}
	}
	require.NoError(t, b.Check())
	text := func(it rowgroup.Iter) (out []string) {
		part := rowgroup.NewBatch(s)
		for {
			ok, err := it.Next(part)
			require.NoError(t, err)
			if !ok {
				return out
			}
			require.Empty(t, *part.Markers())
			for i := range part.Len() {
				line := fmt.Sprint((*part.Int64s(1))[i])
				if part.Cell(2, i).Kind() == rowgroup.CellAbsent {
					line += "-"
				}
				out = append(out, line)
			}
		}
	}
	for name, opts := range combinations() {
		rd := open(t, write(t, b, 3, opts...))
		for now, want := range map[int64]string{499: "3 4 5 0 1 2 6 7 8- 9", 500: "3 4 5 0 1 2 6 8- 9", 501: "3 4 5 0 1 2 6 8- 9"} {
			want := strings.Fields(want)
			o := rowgroup.ScanOptions{Live: true, Now: now}
			down := rowgroup.ScanOptions{Live: true, Now: now, Desc: true}
			require.Equal(t, want, text(rd.Scan(bg, o)), name)
			require.Equal(t, reversed(want), text(rd.Scan(bg, down)), name)
			for k, want := range map[string][]string{"deleted": want[:3], "range": want[3:]} {
				p, err := rd.Partition(bg, []byte(k))
				require.NoError(t, err)
				require.Equal(t, want, text(p.Range(bg, rowgroup.Bound{}, rowgroup.Bound{}, o)), name)
				require.Equal(t, reversed(want), text(p.Range(bg, rowgroup.Bound{}, rowgroup.Bound{}, down)), name)
				require.Equal(t, reversed(want), text(p.Latest(bg, 100, o)), name)
				require.Equal(t, reversed(want)[:2], text(p.Latest(bg, 2, o)), name)
				for i := range int64(10) {
					var one []string
					for _, w := range want {
						if strings.TrimSuffix(w, "-") == fmt.Sprint(i) {
							one = append(one, w)
						}
					}
					require.Equal(t, one, text(p.Range(bg, bound(i, true), bound(i, true), o)), name)
					require.Equal(t, one, text(p.Range(bg, bound(i, true), bound(i, true), down)), name)
				}
			}
		}
	}
}

// TestT65CloseTwice closes everything again and again, then reads many files
// at once.
func TestT65CloseTwice(t *testing.T) {
	var files [][]byte
	var want [][]string
	for i := range 4 {
		b := history(t, testSchemas(t)["series"], rand.New(rand.NewPCG(uint64(i), 20)), historyOptions{5, 40, false})
		files = append(files, write(t, b, 1000, WithCompression(1), WithColumnCompression("*"), WithRowGroupRows(16), WithBlockBytes(500)))
		want = append(want, dump(b))
	}
	for _, f := range files {
		rd := open(t, f)
		b := rowgroup.NewBatch(rd.Schema())
		all := rd.Scan(bg, rowgroup.ScanOptions{})
		ok, err := all.Next(b)
		require.NoError(t, err)
		require.True(t, ok)
		p, err := rd.Partition(bg, b.Key(0))
		require.NoError(t, err)
		open := rowgroup.Bound{}
		its := []rowgroup.Iter{
			all, rd.Scan(bg, rowgroup.ScanOptions{Desc: true}), p.Range(bg, open, open, rowgroup.ScanOptions{}),
			p.Range(bg, open, open, rowgroup.ScanOptions{Desc: true}), p.Latest(bg, 2, rowgroup.ScanOptions{}),
		}
		for k, it := range its {
			if k > 0 {
				_, err := it.Next(b)
				require.NoError(t, err)
			}
			for range 2 {
				require.NoError(t, it.Close())
			}
		}
		// What was closed twice is not in use twice.
		x, err := rd.scratch(bg)
		require.NoError(t, err)
		y, err := rd.scratch(bg)
		require.NoError(t, err)
		require.NotSame(t, x, y)
		for range 3 {
			require.NoError(t, all.Close())
			require.NoError(t, rd.Close())
		}
		for _, it := range its {
			ok, err := it.Next(b)
			require.NoError(t, err)
			require.False(t, ok)
		}
		_, err = rd.Partition(bg, nil)
		require.Error(t, err)
	}
	shared := open(t, files[0])
	var wg sync.WaitGroup
	for g := range 32 {
		wg.Go(func() {
			i := g % len(files)
			rd := open(t, files[i])
			if i == 0 {
				rd = shared
			}
			got, err := drain(rd.Scan(bg, rowgroup.ScanOptions{}), rd.Schema())
			if err != nil || !slices.Equal(got, want[i]) {
				t.Errorf("file %d: %v", i, err)
			}
			for _, line := range want[i] {
				if line[0] != 'P' {
					continue
				}
				var key string
				if _, err := fmt.Sscanf(line, "P %q", &key); err != nil {
					t.Error(err)
				}
				p, err := rd.Partition(bg, []byte(key))
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := drain(p.Latest(bg, 3, rowgroup.ScanOptions{}), rd.Schema()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestT66ClonesStay(t *testing.T) {
	s := table(t, nil, nil, []rowgroup.Column{{Name: "v", Type: rowgroup.Text}})
	b := rowgroup.NewBatch(s)
	for i := range 20_000 {
		b.Bytes(0).Append(fmt.Appendf(nil, "text of row %d", i))
	}
	rd := open(t, write(t, b, 1<<20))
	var kept []*rowgroup.Batch
	var cut [][]byte // values, appended to: must not reach their neighbours
	for part, err := range rd.All(bg, rowgroup.ScanOptions{}) {
		require.NoError(t, err)
		kept = append(kept, part.Clone())
		cut = append(cut, append(part.Bytes(0).At(0), "more"...))
		require.Equal(t, part.Bytes(0).At(1), kept[len(kept)-1].Bytes(0).At(1))
	}
	require.NoError(t, rd.Close())
	runtime.GC()
	row := 0
	for _, part := range kept {
		for i := range part.Len() {
			require.Equal(t, fmt.Sprintf("text of row %d", row), string(part.Bytes(0).At(i)))
			row++
		}
	}
	require.Equal(t, 20_000, row)
	require.NotEmpty(t, cut)
}

// TestScanAllocates is that a scan allocates nothing from block to block.
func TestScanAllocates(t *testing.T) {
	if invariants.Enabled {
		t.Skip("the race detector allocates")
	}
	b := points(t, sequence(300_000, 11)...)
	rd := open(t, write(t, b, 1<<20, WithBlockBytes(100)))
	it := rd.Scan(bg, rowgroup.ScanOptions{})
	part := rowgroup.NewBatch(b.Schema())
	next := func() {
		ok, err := it.Next(part)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
	}
	for range 20 {
		next()
	}
	require.Zero(t, testing.AllocsPerRun(20, next))
}

func TestProjection(t *testing.T) {
	b := history(t, testSchemas(t)["static"], rand.New(rand.NewPCG(21, 22)), historyOptions{4, 60, false})
	s := b.Schema()
	rd := open(t, write(t, b, 1000, WithRowGroupRows(16), WithBlockBytes(500)))
	v, n := s.Lookup("v"), s.Lookup("n")
	for _, live := range []bool{false, true} {
		for _, desc := range []bool{false, true} {
			o := rowgroup.ScanOptions{Live: live, Now: 60, Desc: desc}
			full := rd.Scan(bg, o)
			o.Columns, o.WithoutMetadata = []int{n}, true
			part := rd.Scan(bg, o)
			x, y := rowgroup.NewBatch(s), rowgroup.NewBatch(s)
			for {
				ok1, err1 := full.Next(x)
				ok2, err2 := part.Next(y)
				require.NoError(t, err1)
				require.NoError(t, err2)
				require.Equal(t, ok1, ok2)
				if !ok1 {
					break
				}
				require.Equal(t, x.Len(), y.Len())
				require.Equal(t, *x.Int32s(n), *y.Int32s(n))
				require.Empty(t, *y.Float64s(v))
				require.Empty(t, y.CellMeta(v).Cells)
				require.Empty(t, y.Meta().WriteTimes)
			}
		}
	}
	_, err := rd.Scan(bg, rowgroup.ScanOptions{Columns: []int{0}}).Next(rowgroup.NewBatch(s))
	require.Error(t, err)
}

func sum(l *Layers) int64 { return l.Payload + l.RowMetadata + l.Overhead() + l.OuterSaving }

func TestDescribe(t *testing.T) {
	for name, s := range testSchemas(t) {
		for combo, opts := range combinations() {
			b := history(t, s, rand.New(rand.NewPCG(23, 24)), historyOptions{10, 40, false})
			file := write(t, b, 1000, opts...)
			rd := open(t, file)
			d, err := rd.Describe(bg)
			require.NoError(t, err)
			require.EqualValues(t, len(file), d.Bytes)
			require.Equal(t, d.Bytes, sum(&d.Layers), "%s %s %+v", name, combo, d.Layers)
			var columns int64
			for _, c := range d.Columns {
				columns += c.Bytes
			}
			require.Equal(t, d.Layers.Payload+d.Layers.RowMetadata+d.Layers.CodecParams, columns)
			require.Equal(t, rd.Rows(), d.Rows)
			require.NotEmpty(t, d.Options["row_group_rows"])
		}
	}
}

func TestUserData(t *testing.T) {
	b := points(t, 1, 2, 3)
	opts := []Option{WithUserData("z", []byte("last")), WithUserData("a", nil), WithUserData("m", []byte{0, 1})}
	file := write(t, b, 1, opts...)
	slices.Reverse(opts)
	require.Equal(t, file, write(t, b, 2, opts...))
	rd := open(t, file)
	v, ok := rd.UserData("z")
	require.True(t, ok)
	require.Equal(t, "last", string(v))
	v, ok = rd.UserData("a")
	require.True(t, ok)
	require.Empty(t, v)
	_, ok = rd.UserData("none")
	require.False(t, ok)
}

func TestWriterErrors(t *testing.T) {
	b := points(t, 3, 2)
	b2 := points(t, 1, 2)
	unique := table(t, []rowgroup.Column{{Name: "k", Type: rowgroup.Text}}, []rowgroup.Column{{Name: "time", Type: rowgroup.Bigint}}, nil)
	w, err := NewWriter(io.Discard, b.Schema())
	require.NoError(t, err)
	err = w.Append(b)
	require.ErrorContains(t, err, "time")
	require.Equal(t, err, w.Append(b2), "the first error sticks")
	require.Equal(t, err, w.Close())

	w, err = NewWriter(io.Discard, unique)
	require.NoError(t, err)
	part := rowgroup.NewBatch(unique)
	part.BeginPartition([]byte("b"))
	*part.Int64s(1) = append(*part.Int64s(1), 5)
	require.NoError(t, w.Append(part))
	require.ErrorContains(t, w.Append(part), "twice", "a duplicate across batches")

	w, err = NewWriter(io.Discard, unique)
	require.NoError(t, err)
	require.ErrorContains(t, w.Append(b2), "schema")
	w, err = NewWriter(io.Discard, unique)
	require.NoError(t, err)
	require.NoError(t, w.Append(part))
	require.NoError(t, w.Abort())
	require.ErrorIs(t, w.Close(), ErrAborted)
	require.ErrorIs(t, w.Append(part), ErrAborted)

	w, err = NewWriter(&failingWriter{left: 100}, b.Schema())
	require.NoError(t, err)
	require.NoError(t, w.Append(b2))
	err = w.Close()
	require.ErrorIs(t, err, io.ErrClosedPipe)
	require.Equal(t, err, w.Close())

	for _, o := range []Option{WithEncoding("nope", encoding.Raw), WithEncoding("v", encoding.ID(200)), WithColumnCompression("nope")} {
		_, err = NewWriter(io.Discard, b.Schema(), o)
		require.ErrorContains(t, err, "column_")
	}
}

type failingWriter struct{ left int }

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

// TestRandom checks round trips, ranges and verify over random tables.
func TestRandom(t *testing.T) {
	schemas := testSchemas(t)
	names := []string{"keyless", "lines", "series", "desc", "static", "two", "multi"}
	rapid.Check(t, func(rt *rapid.T) {
		s := schemas[rapid.SampledFrom(names).Draw(rt, "schema")]
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		b := history(t, s, r, historyOptions{rapid.IntRange(1, 12).Draw(rt, "partitions"), rapid.IntRange(1, 40).Draw(rt, "rows"), false})
		opts := []Option{
			WithRowGroupRows(rapid.IntRange(1, 40).Draw(rt, "group")), WithBlockBytes(rapid.IntRange(1, 1000).Draw(rt, "block")),
			WithCompression(rapid.IntRange(0, 2).Draw(rt, "outer")), WithRowGroupBytes(rapid.IntRange(1, 2000).Draw(rt, "bytes")),
			WithFilter(rapid.Bool().Draw(rt, "filter")),
		}
		if rapid.Bool().Draw(rt, "zstd") {
			opts = append(opts, WithColumnCompression("*"))
		}
		file := write(t, b, rapid.IntRange(1, 100).Draw(rt, "batch"), opts...)
		rd := open(t, file)
		got, err := drain(rd.Scan(bg, rowgroup.ScanOptions{}), s)
		require.NoError(rt, err)
		same(t, dump(b), got)
		require.NoError(rt, rd.Verify(bg, VerifyValues, nil))
		sv, err := Salvage(bg, bytes.NewReader(file), int64(len(file)))
		require.NoError(rt, err)
		got, err = drain(sv, s)
		require.NoError(rt, err)
		same(t, dump(b), got)
	})
}
