package columnar

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/rowgroup"
)

// The bytes of a file depend neither on the batches nor on how many segments
// are encoded at a time.
func TestConcurrentWriting(t *testing.T) {
	m := generate.Metrics5{Series: 3, Points: 2500, Seed: generate.Seed}
	series := rowgroup.NewBatch(m.Schema())
	for _, b := range batches(t, m.Schema(), m.Rows()) {
		require.NoError(t, series.AppendRange(b, 0, b.Len()))
	}
	r := rand.New(rand.NewPCG(8, 1))
	tables := map[string]*rowgroup.Batch{"metrics5": series}
	for name, s := range testSchemas(t) {
		// Many partitions of each size: shared groups, units, big partitions.
		tables[name] = history(t, s, r, historyOptions{30, 60, false})
	}
	for name, b := range tables {
		opts := []Option{WithRowGroupRows(4), WithBlockBytes(300)}
		want := write(t, b, 1<<30, opts...)
		for _, n := range []int{1, 2, 8} {
			for _, rows := range []int{1, 7, 128, 100_000} {
				got := write(t, b, rows, append(opts, WithConcurrency(n))...)
				require.True(t, bytes.Equal(want, got), "%s: %d at a time, batches of %d", name, n, rows)
			}
		}
	}
	_, err := NewWriter(io.Discard, m.Schema(), WithConcurrency(0))
	require.ErrorContains(t, err, "option concurrency: 0 is out of 1 to 256")
}

// So it is where rows are larger than a segment, which has what is before them
// written first.
func TestLargeRows(t *testing.T) {
	s := table(t, []rowgroup.Column{{Name: "k", Type: rowgroup.Text}}, []rowgroup.Column{{Name: "c", Type: rowgroup.Int}},
		[]rowgroup.Column{{Name: "v", Type: rowgroup.Blob}})
	rapid.Check(t, func(rt *rapid.T) {
		const group = 64 // bytes, so that a segment has 4 KiB
		b := rowgroup.NewBatch(s)
		parts := rapid.IntRange(1, 12).Draw(rt, "partitions")
		for p := range parts {
			b.BeginPartition(fmt.Appendf(nil, "p%02d", p))
			rows := rapid.SampledFrom([]int{0, 1, 2, 3, 30}).Draw(rt, "rows")
			for i := range rows {
				size := rapid.SampledFrom([]int{0, 1, 5, group, 3 * group, 63 * group, 64*group - 8, 64 * group, 65 * group, 100 * group}).Draw(rt, "size")
				*b.Int32s(1) = append(*b.Int32s(1), int32(i))
				require.NoError(rt, b.Bytes(2).Append(make([]byte, size)))
			}
		}
		opts := []Option{WithRowGroupBytes(group), WithRowGroupRows(rapid.SampledFrom([]int{1, 2, 128}).Draw(rt, "rows a group"))}
		want := write(t, b, 1<<30, opts...)
		for _, rows := range []int{1, 2, 5} {
			require.True(rt, bytes.Equal(want, write(t, b, rows, append(opts, WithConcurrency(2))...)), "batches of %d", rows)
		}
	})
}

// However a file ends, nobody encodes any more; an error of the file beneath
// comes out of Append or Close and stays.
func TestConcurrentWritingEnds(t *testing.T) {
	m := generate.Metrics5{Series: 2, Points: 4000, Seed: generate.Seed}
	s := m.Schema()
	all := batches(t, s, m.Rows())
	bad := rowgroup.NewBatch(s)
	bad.BeginPartition([]byte("a")) // before all others
	*bad.Int32s(1), *bad.Float32s(2) = []int32{1}, []float32{1}
	goroutines := runtime.NumGoroutine()
	idle := func() {
		for range 100 { // one that is done may still be counted
			if runtime.NumGoroutine() <= goroutines {
				return
			}
			time.Sleep(time.Millisecond)
		}
		require.LessOrEqual(t, runtime.NumGoroutine(), goroutines)
	}
	for _, n := range []int{1, 2, 8} {
		for _, left := range []int{0, 100, 3000, 20_000} {
			w, err := NewWriter(&failingWriter{left}, s, WithConcurrency(n), WithRowGroupRows(8))
			for i := 0; err == nil && i < len(all); i++ {
				err = w.Append(all[i])
			}
			if err == nil {
				err = w.Close()
			}
			require.Error(t, err, left)
			if w != nil {
				require.Equal(t, err, w.Append(all[0]))
				require.Equal(t, err, w.Close())
			}
			idle()
		}
		for what, end := range map[string]func(w *Writer) error{
			"abort": func(w *Writer) error { require.NoError(t, w.Abort()); return w.Close() },
			"order": func(w *Writer) error { return errors.Join(w.Append(bad), w.Close()) },
		} {
			var f bytes.Buffer
			w, err := NewWriter(&f, s, WithConcurrency(n), WithRowGroupRows(8))
			require.NoError(t, err)
			require.NoError(t, w.Append(all[0]))
			require.Error(t, end(w), what)
			idle()
			_, err = Open(bytes.NewReader(f.Bytes()), int64(f.Len()))
			require.Error(t, err, fmt.Sprint(what, ": such a file must not open"))
		}
	}
}

func TestSortHashes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{0, 1, 127, 128, 5000, 100_000} {
		for _, mask := range []uint64{1<<64 - 1, 0, 1, 0xff << 20, 3<<62 | 7} {
			hashes := make([]uint64, n)
			for i := range hashes {
				hashes[i] = r.Uint64() & mask
			}
			want := slices.Clone(hashes)
			slices.Sort(want)
			sortHashes(hashes, 56)
			require.True(t, slices.Equal(want, hashes), "%d, %x", n, mask)
		}
	}
}

// Large segments wait for one another, however many may be encoded at a time.
func TestConcurrentWritingMemory(t *testing.T) {
	s := table(t, nil, []rowgroup.Column{{Name: "time", Type: rowgroup.Bigint}}, []rowgroup.Column{{Name: "v", Type: rowgroup.Blob}})
	w, err := NewWriter(io.Discard, s, WithConcurrency(64))
	require.NoError(t, err)
	b := rowgroup.NewBatch(s)
	var most int64
	for i := range 20 {
		b.Reset()
		*b.Int64s(0) = append(*b.Int64s(0), int64(i))
		require.NoError(t, b.Bytes(1).Append(make([]byte, 5<<20)))
		require.NoError(t, w.Append(b))
		most = max(most, w.queue.bytes)
		require.Less(t, w.held(1), 96<<20)
	}
	require.NoError(t, w.Close())
	require.LessOrEqual(t, most, int64(maxQueuedBytes))
	require.Zero(t, w.queue.bytes)
}
