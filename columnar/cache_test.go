package columnar

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/internal/invariants"
	"github.com/colsst/colsst/rowgroup"
)

// A cache holds what it was given last, within its bytes.
func TestCache(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := NewCache(rapid.Int64Range(0, 5000).Draw(t, "bytes"))
		body := func(k cacheKey) []byte {
			return bytes.Repeat(binary.BigEndian.AppendUint64(nil, uint64(k.off)<<8|k.file), int(k.off)+1)
		}
		held := map[cacheKey]bool{}
		var hits, misses int64
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			k := cacheKey{rapid.Uint64Range(0, 2).Draw(t, "file"), rapid.Int64Range(0, 30).Draw(t, "off")}
			switch rapid.IntRange(0, 20).Draw(t, "what") {
			case 0:
				c.drop(k.file)
			default:
				h, b, ok := c.get(k)
				if !ok {
					misses++
					c.add(k, &header{kind: kindData, body: len(body(k))}, body(k))
					held[k] = true
					break
				}
				hits++
				require.True(t, held[k])
				require.Equal(t, body(k), b)
				require.Equal(t, len(b), h.body)
			}
			st := c.Stats()
			require.LessOrEqual(t, st.Bytes, st.Capacity)
			require.Equal(t, hits, st.Hits)
			require.Equal(t, misses, st.Misses)
			require.LessOrEqual(t, st.Blocks, misses-st.Evictions)
			s, n, size := &c.shards[0], int64(0), int64(0)
			for i := s.entries[0].next; i != 0; i = s.entries[i].next {
				n++
				size += int64(len(s.entries[i].bytes)) + entryBytes
				require.Equal(t, i, s.entries[s.entries[i].next].prev)
			}
			require.Equal(t, st.Blocks, n)
			require.Equal(t, st.Bytes, size)
		}
	})
}

// What is read again and again stays while other blocks pass.
func TestCacheKeepsWhatIsRead(t *testing.T) {
	c := NewCache(10 * (100 + entryBytes))
	hot := cacheKey{1, 7}
	add := func(k cacheKey) { c.add(k, &header{}, make([]byte, 100)) }
	add(hot)
	for i := range int64(1000) {
		_, _, ok := c.get(hot)
		require.True(t, ok, i)
		add(cacheKey{2, i})
	}
	require.EqualValues(t, 10, c.Stats().Blocks)
	require.EqualValues(t, 991, c.Stats().Evictions)
}

// Readers share a cache, by many goroutines; a second read of a block costs
// no read of the source.
func TestSharedCache(t *testing.T) {
	s := testSchemas(t)["static"]
	r := rand.New(rand.NewPCG(1, 2))
	b := history(t, s, r, historyOptions{20, 60, false})
	for name, opts := range layered() {
		if invariants.Enabled && r.IntN(3) > 0 { // slow builds
			continue
		}
		opts = append([]Option{WithRowGroupRows(8), WithBlockBytes(300)}, opts...)
		file := write(t, b, 100, opts...)
		for _, size := range []int64{5000, 64 << 20} {
			cache := NewCache(size)
			var sources [3]countedReads
			var readers [3]*Reader
			for i := range readers {
				sources[i].ReaderAt = bytes.NewReader(file)
				var err error
				readers[i], err = Open(&sources[i], int64(len(file)), WithCache(cache))
				require.NoError(t, err)
				readers[i].file.tail = nil
			}
			read := func() {
				var wg sync.WaitGroup
				for g := range 6 {
					wg.Go(func() {
						q, dst := readers[g%3].NewQuery(), rowgroup.NewBatch(s)
						for k := range 20 {
							p := (k + g) % b.NumPartitions()
							if err := q.Range(bg, b.Key(p), rowgroup.Bound{}, rowgroup.Bound{}, rowgroup.ScanOptions{}); err != nil {
								t.Error(err)
							}
							n := 0
							for ok, err := true, error(nil); ok; n += dst.Len() {
								if ok, err = q.Next(dst); err != nil {
									t.Error(err)
								}
							}
							if from, to := b.PartitionRows(p); n != to-from {
								t.Error(name, n, to-from)
							}
						}
						if err := q.Close(); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
			}
			read()
			if cold := sources[0].reads.Swap(0); size > 1<<20 {
				require.Positive(t, cold)
				read()
				require.Zero(t, sources[0].reads.Load(), name)
				require.Greater(t, cache.Stats().Hits, cache.Stats().Misses)
			}
			require.LessOrEqual(t, cache.Stats().Bytes, size)
			for _, rd := range readers {
				require.NoError(t, rd.Close())
			}
			require.Zero(t, cache.Stats().Bytes)
		}
	}
}

// countedReads counts the reads of a source and their bytes.
type countedReads struct {
	io.ReaderAt
	reads, bytes atomic.Int64
}

func (c *countedReads) ReadAt(p []byte, off int64) (int, error) {
	c.reads.Add(1)
	c.bytes.Add(int64(len(p)))
	return c.ReaderAt.ReadAt(p, off)
}

// A block whose checksum is wrong is not kept; nor is one that another read of
// its bytes would deny.
func TestCacheOfDamage(t *testing.T) {
	b, file := sample(t)
	bad := bytes.Clone(file)
	rd, err := Open(bytes.NewReader(bad), int64(len(bad)))
	require.NoError(t, err)
	p, err := rd.Partition(bg, keysOf(b)[0])
	require.NoError(t, err)
	at := p.(*partition).at
	if p.(*partition).leaf != nil {
		at = p.(*partition).first
	}
	bad[fileHeaderLen+at.off+30] ^= 1
	cache := NewCache(1 << 20)
	rd, err = Open(onlyReaderAt{bytes.NewReader(bad)}, int64(len(bad)), WithCache(cache))
	require.NoError(t, err)
	rd.file.tail = nil
	for range 3 {
		s, err := rd.scratch(bg)
		require.NoError(t, err)
		_, _, err = s.openAt(rd, at)
		require.ErrorIs(t, err, encoding.ErrCorrupt)
		rd.release(s)
	}
	require.Zero(t, cache.Stats().Blocks)
	bad[fileHeaderLen+at.off+30] ^= 1 // whole again
	s, err := rd.scratch(bg)
	require.NoError(t, err)
	_, _, err = s.openAt(rd, at)
	require.NoError(t, err)
	require.EqualValues(t, 1, cache.Stats().Blocks)
	_, _, err = s.openAt(rd, ref{at.off, at.len - 1})
	require.ErrorIs(t, err, encoding.ErrCorrupt)
	require.NotErrorIs(t, err, rowgroup.ErrNotFound)
	rd.release(s)
}

type onlyReaderAt struct{ io.ReaderAt }
