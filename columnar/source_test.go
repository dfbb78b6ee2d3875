package columnar

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/internal/invariants"
	"github.com/colsst/colsst/internal/rawfile"
	"github.com/colsst/colsst/rowgroup"
)

// sources opens a file in every way.
func sources(t testing.TB, file []byte) map[string]*Reader {
	path := filepath.Join(t.TempDir(), "table")
	require.NoError(t, os.WriteFile(path, file, 0o600))
	all, cache := map[string]*Reader{"ReaderAt": open(t, file)}, NewCache(64<<20)
	for name, f := range map[string]func() (*Reader, error){
		"memory":         func() (*Reader, error) { return OpenBytes(file) },
		"every checksum": func() (*Reader, error) { return OpenBytes(file, WithEveryChecksum()) },
		"file":           func() (*Reader, error) { return OpenFile(path) },
		"mmap":           func() (*Reader, error) { return OpenFile(path, WithMmap()) },
		"little index":   func() (*Reader, error) { return OpenBytes(file, WithIndexMemory(2000)) },
		"cache":          func() (*Reader, error) { return OpenFile(path, WithCache(cache)) },
		"no index":       func() (*Reader, error) { return OpenFile(path, WithIndexMemory(0)) },
	} {
		r, err := f()
		require.NoError(t, err, name)
		t.Cleanup(func() { require.NoError(t, r.Close()) })
		all[name] = r
	}
	return all
}

// Every source answers the same, by Partition and by a Query that is used
// again and again.
func TestSources(t *testing.T) {
	for name, s := range testSchemas(t) {
		r := rand.New(rand.NewPCG(5, 6))
		for _, o := range []historyOptions{{30, 3, false}, {3, 300, false}} {
			b := history(t, s, r, o)
			for combo, opts := range layered() {
				if r.IntN(4) > 0 || invariants.Enabled && r.IntN(4) > 0 {
					continue
				}
				opts = append(slices.Clone(opts), WithRowGroupRows(16), WithBlockBytes(400))
				file := write(t, b, 1000, opts...)
				all := sources(t, file)
				queries := map[string]*Query{}
				for source, rd := range all {
					queries[source] = rd.NewQuery()
				}
				var scans []string
				for range 12 {
					p := r.IntN(b.NumPartitions())
					so := rowgroup.ScanOptions{Desc: r.IntN(2) == 0, Live: r.IntN(3) == 0, Now: 60}
					from, to := b.PartitionRows(p)
					var bounds [2]rowgroup.Bound
					if to > from && s.Seekable() == nil {
						for i := range bounds {
							pos, _, err := rowgroup.ParsePosition(s, s.AppendPosition(nil, b, from+r.IntN(to-from)))
							require.NoError(t, err)
							bounds[i] = rowgroup.Bound{Prefix: pos.Prefix[:r.IntN(len(pos.Prefix)+1)], Inclusive: r.IntN(2) == 0}
						}
					}
					n := r.IntN(40)
					q, err := all["ReaderAt"].Partition(bg, b.Key(p))
					require.NoError(t, err)
					want, err := drain(q.Range(bg, bounds[0], bounds[1], so), s)
					require.NoError(t, err)
					latest, err := drain(q.Latest(bg, n, so), s)
					require.NoError(t, err)
					for source, rd := range all {
						what := fmt.Sprint(name, combo, source)
						q, err := rd.Partition(bg, b.Key(p))
						require.NoError(t, err)
						got, err := drain(q.Range(bg, bounds[0], bounds[1], so), s)
						require.NoError(t, err)
						same(t, want, got, what)
						k := queries[source]
						require.NoError(t, k.Range(bg, b.Key(p), bounds[0], bounds[1], so))
						got, err = drainOpen(k, s)
						require.NoError(t, err)
						same(t, want, got, what)
						require.NoError(t, k.Latest(bg, b.Key(p), n, so))
						got, err = drainOpen(k, s)
						require.NoError(t, err)
						same(t, latest, got, what)
						if r.IntN(4) == 0 { // left before its end
							require.NoError(t, k.Range(bg, b.Key(p), bounds[0], bounds[1], so))
							_, err = k.Next(rowgroup.NewBatch(s))
							require.NoError(t, err)
						}
						require.ErrorIs(t, k.Latest(bg, []byte("none such"), 1, so), rowgroup.ErrNotFound)
					}
				}
				for source, rd := range all {
					got, err := drain(rd.Scan(bg, rowgroup.ScanOptions{}), s)
					require.NoError(t, err)
					if scans == nil {
						scans = got
					}
					same(t, scans, got, name, combo, source)
					require.NoError(t, queries[source].Close())
					require.NoError(t, queries[source].Close())
					require.ErrorIs(t, queries[source].Latest(bg, b.Key(0), 1, rowgroup.ScanOptions{}), ErrClosed)
				}
			}
		}
	}
}

// drainOpen is drain without Close.
func drainOpen(it rowgroup.Iter, s *rowgroup.Schema) ([]string, error) { return drain(unclosed{it}, s) }

type unclosed struct{ rowgroup.Iter }

func (unclosed) Close() error { return nil }

// onePool lets pools give back what was put last: one processor has no shares
// of others, and no collection empties them.
func onePool(t testing.TB) {
	processors, percent := runtime.GOMAXPROCS(1), debug.SetGCPercent(-1)
	t.Cleanup(func() { runtime.GOMAXPROCS(processors); debug.SetGCPercent(percent) })
}

// A warm Reader allocates nothing for a query or a step of a scan.
func TestAllocations(t *testing.T) {
	if invariants.Enabled {
		t.Skip("the checks of race and invariants builds allocate")
	}
	onePool(t)
	file := metrics5File(t)
	for name, rd := range sources(t, file) {
		if name == "no index" || name == "little index" {
			continue
		}
		s := rd.Schema()
		b, q, key := rowgroup.NewBatch(s), rd.NewQuery(), []byte(nil)
		for bt, err := range rd.All(bg, rowgroup.ScanOptions{}) {
			require.NoError(t, err)
			key = bytes.Clone(bt.Key(0))
			break
		}
		read := func(want int) {
			n := 0
			for {
				ok, err := q.Next(b)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break
				}
				n += b.Len()
			}
			if n != want {
				t.Fatal(n)
			}
		}
		require.Zero(t, testing.AllocsPerRun(200, func() {
			if err := q.Latest(bg, key, 1, rowgroup.ScanOptions{}); err != nil {
				t.Fatal(err)
			}
			read(1)
		}), "%s: latest", name)
		from := rowgroup.Bound{Prefix: [][]byte{rowgroup.AppendInt(nil, rowgroup.Int, 1_780_020_000)}, Inclusive: true}
		to := rowgroup.Bound{Prefix: [][]byte{rowgroup.AppendInt(nil, rowgroup.Int, 1_780_020_300)}}
		for _, o := range []rowgroup.ScanOptions{{}, {Desc: true}, {Columns: []int{2}}, {WithoutMetadata: true}} {
			require.Zero(t, testing.AllocsPerRun(200, func() {
				if err := q.Range(bg, key, from, to, o); err != nil {
					t.Fatal(err)
				}
				read(60)
			}), "%s: 60 rows", name)
		}
		require.NoError(t, q.Close())
		scan, again := rd.Scan(bg, rowgroup.ScanOptions{}), false
		next := func() {
			ok, err := scan.Next(b)
			if !ok && !again { // warm by now
				scan, again = rd.Scan(bg, rowgroup.ScanOptions{}), true
				ok, err = scan.Next(b)
			}
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
		}
		for !again {
			next()
		}
		require.Zero(t, testing.AllocsPerRun(50, next), "%s: scan", name)
		require.NoError(t, scan.Close())
	}
}

// Nor does it for partitions within a block.
func TestAllocationsOfPoints(t *testing.T) {
	if invariants.Enabled {
		t.Skip("the checks of race and invariants builds allocate")
	}
	onePool(t)
	file, keys := pointsFile(t, generate.Points{Partitions: 20_000, PerKey: 3, Seed: generate.Seed})
	rd, err := OpenBytes(file)
	require.NoError(t, err)
	b, q := rowgroup.NewBatch(rd.Schema()), rd.NewQuery()
	i := 0
	get := func() {
		i += 7919
		key := keys[i%len(keys)]
		if err := q.Range(bg, key, rowgroup.Bound{}, rowgroup.Bound{}, rowgroup.ScanOptions{}); err != nil {
			t.Fatal(err)
		}
		if ok, err := q.Next(b); !ok || b.Len() != 3 || !bytes.Equal(b.Key(0), key) {
			t.Fatal(ok, err, b.Len())
		}
	}
	for range 2000 {
		get()
	}
	require.Zero(t, testing.AllocsPerRun(1000, get))
}

// Every key is found, and none that is not there, in blocks of many groups.
func TestKeysWithinBlocks(t *testing.T) {
	for _, perKey := range []int{1, 5} {
		file, keys := pointsFile(t, generate.Points{Partitions: 3000, PerKey: perKey, Seed: 1})
		rd, err := OpenBytes(file)
		require.NoError(t, err)
		for _, key := range keys {
			p, err := rd.Partition(bg, key)
			require.NoError(t, err)
			require.Equal(t, key, p.Key())
			for _, other := range [][]byte{append(bytes.Clone(key), 0), key[:len(key)-1], bytes.ToUpper(key)} {
				if bytes.Equal(other, key) {
					continue
				}
				_, err := rd.findPlain(other)
				require.ErrorIs(t, err, rowgroup.ErrNotFound, "%q", other)
			}
		}
	}
}

// findPlain finds a partition without the filter.
func (r *Reader) findPlain(key []byte) (*partition, error) {
	s, err := r.scratch(bg)
	if err != nil {
		return nil, err
	}
	defer r.release(s)
	filter := r.foot.filter
	r.foot.filter = nil
	defer func() { r.foot.filter = filter }()
	q := new(partition)
	return q, r.find(bg, key, s, q)
}

// Damage in memory is found at the first touch of a block, and each time.
func TestDamageInMemory(t *testing.T) {
	b, file := sample(t)
	keys := keysOf(b)
	rd, err := OpenBytes(file)
	require.NoError(t, err)
	first, err := rd.Partition(bg, keys[0])
	require.NoError(t, err)
	p := first.(*partition)
	at := p.at.off
	if p.leaf != nil {
		at = p.first.off
	}
	bad := bytes.Clone(file)
	bad[fileHeaderLen+at+30] ^= 4
	rd, err = OpenBytes(bad)
	require.NoError(t, err)
	for range 3 {
		_, err := drain(rd.Scan(bg, rowgroup.ScanOptions{}), b.Schema())
		require.ErrorIs(t, err, encoding.ErrCorrupt)
	}
	require.ErrorIs(t, rd.Verify(bg, VerifyBlocks, nil), encoding.ErrCorrupt)

	// With every checksum, damage that comes later is found as well.
	for _, every := range []bool{false, true} {
		later := bytes.Clone(file)
		var opts []Option
		if every {
			opts = append(opts, WithEveryChecksum())
		}
		rd, err = OpenBytes(later, opts...)
		require.NoError(t, err)
		_, err = drain(rd.Scan(bg, rowgroup.ScanOptions{}), b.Schema())
		require.NoError(t, err)
		later[fileHeaderLen+at+30] ^= 4
		require.ErrorIs(t, rd.Verify(bg, VerifyBlocks, nil), encoding.ErrCorrupt)
		if every {
			_, err = drain(rd.Scan(bg, rowgroup.ScanOptions{}), b.Schema())
			require.ErrorIs(t, err, encoding.ErrCorrupt)
		}
	}
}

func TestVerified(t *testing.T) {
	v := newVerified(3*granule + 1)
	for _, off := range []int64{0, 17, granule - 1, granule, 3 * granule} {
		require.False(t, v.has(off))
		v.add(off)
		require.True(t, v.has(off))
	}
	require.False(t, v.has(0)) // the third of its granule took its place
	require.True(t, v.has(17))
	require.False(t, v.has(granule+1))
}

// A mapped file that becomes shorter gives errors, not a fault.
func TestMappedFileShrinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	file := metrics5File(t)
	require.NoError(t, os.WriteFile(path, file, 0o600))
	rd, err := OpenFile(path, WithMmap())
	require.NoError(t, err)
	if !rd.file.mapped {
		t.Skip("not mapped here")
	}
	b := rowgroup.NewBatch(rd.Schema())
	scan, back := rd.Scan(bg, rowgroup.ScanOptions{}), rd.Scan(bg, rowgroup.ScanOptions{Desc: true})
	ok, err := scan.Next(b)
	require.True(t, ok, err)
	key := bytes.Clone(b.Key(0))
	p, err := rd.Partition(bg, key)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(path, 0))
	var fault *rawfile.Error
	for name, it := range map[string]rowgroup.Iter{"scan": scan, "back": back,
		"range": p.Range(bg, rowgroup.Bound{}, rowgroup.Bound{}, rowgroup.ScanOptions{}), "latest": p.Latest(bg, 1, rowgroup.ScanOptions{})} {
		for range 2 {
			var err error
			for ok := true; ok && err == nil; {
				ok, err = it.Next(b)
			}
			require.ErrorAs(t, err, &fault, name)
		}
		require.NoError(t, it.Close())
	}
	_, err = rd.Describe(bg)
	require.ErrorAs(t, err, &fault)
	require.ErrorAs(t, rd.Verify(bg, VerifyValues, nil), &fault)
	require.NoError(t, os.WriteFile(path, file, 0o600)) // and works again
	require.NoError(t, rd.Verify(bg, VerifyValues, nil))
	require.NoError(t, rd.Close())
}

// A mapping stays until the last iterator is closed.
func TestCloseMapped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	require.NoError(t, os.WriteFile(path, metrics5File(t), 0o600))
	rd, err := OpenFile(path, WithMmap())
	require.NoError(t, err)
	it := rd.Scan(bg, rowgroup.ScanOptions{})
	ok, err := it.Next(rowgroup.NewBatch(rd.Schema()))
	require.True(t, ok, err)
	require.NoError(t, rd.Close())
	require.EqualValues(t, 1, rd.users.Load())
	for err == nil {
		_, err = it.Next(rowgroup.NewBatch(rd.Schema()))
	}
	require.ErrorIs(t, err, ErrClosed)
	require.NoError(t, it.Close())
	require.Zero(t, rd.users.Load())
	_, err = rd.Scan(bg, rowgroup.ScanOptions{}).Next(rowgroup.NewBatch(rd.Schema()))
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, rd.Verify(bg, VerifyBlocks, nil), ErrClosed)
}
