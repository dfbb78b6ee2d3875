package columnar

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// hooked calls before with the number of each read, which fails as that does.
type hooked struct {
	io.ReaderAt
	reads  atomic.Int64
	before func(read int) error
}

func (h *hooked) ReadAt(p []byte, off int64) (int, error) {
	n := h.reads.Add(1)
	if h.before != nil {
		if err := h.before(int(n)); err != nil {
			return 0, err
		}
	}
	return h.ReaderAt.ReadAt(p, off)
}

// opposite is a table whose clustering columns have opposite orders.
func opposite(t testing.TB) *rowgroup.Batch {
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "k", Type: rowgroup.Text}},
		[]rowgroup.Column{{Name: "day", Type: rowgroup.Int}, {Name: "time", Type: rowgroup.Int, Desc: true}}, nil,
		[]rowgroup.Column{{Name: "v", Type: rowgroup.Double}})
	require.NoError(t, err)
	b := rowgroup.NewBatch(s)
	b.BeginPartition([]byte("k"))
	for i := range int32(3000) {
		*b.Int32s(1), *b.Int32s(2) = append(*b.Int32s(1), i/10), append(*b.Int32s(2), -i)
		*b.Float64s(3) = append(*b.Float64s(3), float64(i)*1.37)
	}
	return b
}

// However reads end, and whatever is asked for and never read, a Reader that is
// closed frees its source once the iterators are closed.
func TestSourceIsFreed(t *testing.T) {
	large := opposite(t)
	small := points(t, sequence(10, 5)...)
	for name, b := range map[string]*rowgroup.Batch{"large": large, "small": small} {
		file := write(t, b, 1000, WithBlockBytes(256), WithRowGroupRows(8))
		broken := errors.New("broken")
		for _, from := range []int{0, 1, 2, 3, 5, 8, 13} {
			src := &hooked{ReaderAt: bytes.NewReader(file)}
			frees := 0
			rd, err := newReader(newFile(src, int64(len(file)), ""), new(options), func() error { frees++; return nil })
			require.NoError(t, err)
			rd.file.tail = nil
			ok := int(src.reads.Load()) + from
			src.before = func(n int) error {
				if from > 0 && n > ok {
					return broken
				}
				return nil
			}
			var its []rowgroup.Iter
			for range 3 {
				q, err := rd.Partition(bg, b.Key(0)) // of which two are not read
				if err != nil {
					require.ErrorIs(t, err, broken)
					continue
				}
				if len(its) == 0 {
					its = append(its, q.Latest(bg, 25, rowgroup.ScanOptions{}),
						q.Range(bg, rowgroup.Bound{}, rowgroup.Bound{}, rowgroup.ScanOptions{Desc: true}))
				}
			}
			its = append(its, rd.Scan(bg, rowgroup.ScanOptions{}), rd.Scan(bg, rowgroup.ScanOptions{Desc: true}),
				rd.Scan(bg, rowgroup.ScanOptions{Concurrency: 3}),
				rd.Scan(bg, rowgroup.ScanOptions{Within: []rowgroup.ValueRange{{Column: 1, Min: rowgroup.AppendInt(nil, rowgroup.Int, 1)}}}))
			q := rd.NewQuery()
			if err := q.Latest(bg, b.Key(0), 25, rowgroup.ScanOptions{}); err != nil {
				require.ErrorIs(t, err, broken)
			}
			for _, it := range append(its, q) {
				_, err := drain(it, b.Schema())
				if err != nil {
					require.ErrorIs(t, err, broken)
				}
			}
			require.EqualValues(t, 1, rd.users.Load(), "%s, broken after %d reads", name, from)
			require.NoError(t, rd.Close())
			require.Equal(t, 1, frees)
		}
	}
}

// A partition of one block that was found before its Reader was closed is not
// read any more.
func TestPartitionOfAClosedReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	b := points(t, sequence(10, 5)...)
	require.NoError(t, os.WriteFile(path, write(t, b, 1000), 0o600))
	for _, opts := range [][]Option{nil, {WithMmap()}} {
		rd, err := OpenFile(path, opts...)
		require.NoError(t, err)
		q, err := rd.Partition(bg, b.Key(0))
		require.NoError(t, err)
		require.NoError(t, rd.Close())
		require.Zero(t, rd.users.Load())
		_, err = drain(q.Range(bg, rowgroup.Bound{}, rowgroup.Bound{}, rowgroup.ScanOptions{}), b.Schema())
		require.ErrorIs(t, err, ErrClosed)
		_, err = drain(q.Latest(bg, 1, rowgroup.ScanOptions{}), b.Schema())
		require.ErrorIs(t, err, ErrClosed)
		require.Equal(t, b.Key(0), q.Key())
	}
}

// What a Reader knows by its footer it knows when a mapping is cut or gone.
func TestFooterOutlivesTheMapping(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	b := points(t, sequence(1000, 5)...)
	require.NoError(t, os.WriteFile(path, write(t, b, 1000, WithUserData("who", []byte("me"))), 0o600))
	rd, err := OpenFile(path, WithMmap())
	require.NoError(t, err)
	known := func() {
		who, ok := rd.UserData("who")
		require.True(t, ok)
		require.Equal(t, "me", string(who))
		require.Equal(t, "128", rd.Options()["row_group_rows"])
		require.Equal(t, rowgroup.AppendInt(nil, rowgroup.Bigint, 4995), rd.Stats().Column(1).Max)
		require.EqualValues(t, 1000, rd.Rows())
	}
	known()
	require.NoError(t, os.Truncate(path, 0))
	known()
	got, err := rd.Aggregate(bg, rowgroup.AggregateOptions{Columns: []int{1}})
	require.NoError(t, err)
	require.EqualValues(t, 1000, got.Rows)
	require.NoError(t, rd.Close())
	known()
	_, err = rd.Aggregate(bg, rowgroup.AggregateOptions{Columns: []int{1}})
	require.ErrorIs(t, err, ErrClosed)
}

// A context that has ended is what a scan by several goroutines reports, never
// a stream that is too short.
func TestParallelScanOfAnEndedContext(t *testing.T) {
	defer goleak.VerifyNone(t)
	b := points(t, sequence(20_000, 5)...)
	rd := open(t, write(t, b, 1<<30))
	dst := rowgroup.NewBatch(b.Schema())
	for i := range 200 {
		ctx, cancel := context.WithCancel(bg)
		if i%2 == 0 {
			cancel()
		}
		it := rd.Scan(ctx, rowgroup.ScanOptions{Concurrency: 2})
		cancel()
		_, err := it.Next(dst)
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, it.Close())
	}
}

// A context that ends while statistics say that nothing is wanted, or all is
// known, is noticed.
func TestContextEndsWhileSkipping(t *testing.T) {
	b := points(t, sequence(400_000, 5)...)
	file := write(t, b, 1<<30, WithRowGroupRows(4), WithBlockBytes(128))
	src := &hooked{ReaderAt: bytes.NewReader(file)}
	rd, err := Open(src, int64(len(file)))
	require.NoError(t, err)
	rd.file.tail = nil
	none := rowgroup.ScanOptions{Within: []rowgroup.ValueRange{{Column: 1, Min: rowgroup.AppendInt(nil, rowgroup.Bigint, 1_999_990)}}}
	for name, read := range map[string]func(ctx context.Context) error{
		"scan": func(ctx context.Context) error { _, err := drain(rd.Scan(ctx, none), b.Schema()); return err },
		"range": func(ctx context.Context) error {
			q, err := rd.Partition(ctx, b.Key(0))
			require.NoError(t, err)
			_, err = drain(q.Range(ctx, rowgroup.Bound{}, rowgroup.Bound{}, none), b.Schema())
			return err
		},
		"aggregate": func(ctx context.Context) error {
			q, err := rd.Partition(ctx, b.Key(0))
			require.NoError(t, err)
			_, err = q.(rowgroup.Aggregating).Aggregate(ctx, rowgroup.Bound{}, rowgroup.Bound{}, rowgroup.AggregateOptions{Columns: []int{1}})
			return err
		},
	} {
		src.before = nil
		src.reads.Store(0)
		require.NoError(t, read(bg), name)
		all := int(src.reads.Load())
		ctx, cancel := context.WithCancel(bg)
		src.reads.Store(0)
		src.before = func(n int) error {
			if n == 4 {
				cancel()
			}
			return nil
		}
		require.ErrorIs(t, read(ctx), context.Canceled, name)
		require.Less(t, int(src.reads.Load()), min(9, all), "%s: %d reads of all", name, all)
		cancel()
	}
}

// After an error a Query says the same again, and answers what it is asked next.
func TestQueryAfterErrors(t *testing.T) {
	b := points(t, sequence(2000, 5)...)
	file := write(t, b, 1000, WithBlockBytes(256))
	src := &hooked{ReaderAt: bytes.NewReader(file)}
	rd, err := newReader(newFile(src, int64(len(file)), ""), new(options), nil)
	require.NoError(t, err)
	rd.file.tail = nil
	q, dst := rd.NewQuery(), rowgroup.NewBatch(b.Schema())
	ok, err := q.Next(dst)
	require.False(t, ok)
	require.NoError(t, err, "nothing was asked for")
	ctx, cancel := context.WithCancel(bg)
	cancel()
	broken := errors.New("broken")
	two := rowgroup.ScanOptions{Columns: []int{1}}
	for name, c := range map[string]struct {
		ask  func() error
		want error
	}{
		"not found": {func() error { return q.Latest(bg, []byte("none"), 1, two) }, rowgroup.ErrNotFound},
		"canceled":  {func() error { return q.Latest(ctx, b.Key(0), 1, two) }, context.Canceled},
		"column":    {func() error { return q.Latest(bg, b.Key(0), 1, rowgroup.ScanOptions{Columns: []int{2}}) }, nil},
		"bound": {func() error {
			return q.Range(bg, b.Key(0), rowgroup.Bound{Prefix: [][]byte{{1}, {2}, {3}}}, rowgroup.Bound{}, two)
		}, nil},
		"within": {func() error {
			return q.Range(bg, b.Key(0), rowgroup.Bound{}, rowgroup.Bound{}, rowgroup.ScanOptions{Within: []rowgroup.ValueRange{{Column: 9}}})
		}, nil},
		"source": {func() error {
			src.before = func(int) error { return broken }
			err := q.Range(bg, b.Key(0), rowgroup.Bound{}, rowgroup.Bound{}, two)
			if err == nil {
				_, err = q.Next(dst)
			}
			src.before = nil
			return err
		}, broken},
	} {
		err := c.ask()
		require.Error(t, err, name)
		if c.want != nil {
			require.ErrorIs(t, err, c.want, name)
		}
		for range 2 {
			ok, again := q.Next(dst)
			require.False(t, ok)
			require.Equal(t, err, again, name)
			require.Zero(t, dst.Len())
		}
		require.NoError(t, q.Latest(bg, b.Key(0), 1, two), name)
		ok, err := q.Next(dst)
		require.NoError(t, err, name)
		require.True(t, ok)
		require.Equal(t, []int64{1999 * 5}, *dst.Int64s(0))
		ok, err = q.Next(dst)
		require.NoError(t, err)
		require.False(t, ok)
	}
	require.NoError(t, q.Close())
}

// Latest takes no notice of ranges of values.
func TestLatestIgnoresWithin(t *testing.T) {
	for _, b := range []*rowgroup.Batch{points(t, sequence(5000, 5)...), opposite(t)} {
		s := b.Schema()
		file := write(t, b, 1000, WithBlockBytes(128), WithRowGroupRows(4))
		within := []rowgroup.ValueRange{{Column: 1, Max: rowgroup.AppendInt(nil, s.Column(1).Type, 7)}}
		rd := open(t, file)
		part, err := rd.Partition(bg, b.Key(0))
		require.NoError(t, err)
		want, err := drain(part.Latest(bg, 5, rowgroup.ScanOptions{}), s)
		require.NoError(t, err)
		got, err := drain(part.Latest(bg, 5, rowgroup.ScanOptions{Within: within}), s)
		require.NoError(t, err)
		require.Equal(t, want, got)
		q := rd.NewQuery()
		require.NoError(t, q.Latest(bg, b.Key(0), 5, rowgroup.ScanOptions{Within: within}))
		got, err = drain(q, s)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

// Blocks that come into the cache after Close go with the last iterator.
func TestCacheAfterClose(t *testing.T) {
	b := points(t, sequence(5000, 5)...)
	file := write(t, b, 1000, WithBlockBytes(128))
	cache := NewCache(1 << 20)
	rd := open(t, file, WithCache(cache))
	q := rd.NewQuery()
	require.NoError(t, q.Latest(bg, b.Key(0), 1, rowgroup.ScanOptions{}))
	require.NoError(t, rd.Close())
	for at := int64(0); at < 2; at++ { // as reads that are under way
		_, _, err := q.s.block(rd, ref{0, 1})
		require.Error(t, err)
		cache.add(cacheKey{rd.id, at}, &header{}, make([]byte, 100))
	}
	require.NoError(t, q.Close())
	require.Zero(t, cache.Stats().Blocks)
	require.Zero(t, cache.Stats().Bytes)
}

// Wherever the io.Writer fails, the Writer says so, ends its goroutines and
// leaves nothing that opens.
func TestWriterFailsAnywhere(t *testing.T) {
	defer goleak.VerifyNone(t)
	b := points(t, sequence(1500, 5)...)
	opts := []Option{WithRowGroupRows(4), WithBlockBytes(256)}
	whole := write(t, b, 1<<30, opts...)
	for _, n := range []int{1, 3} {
		for left := range whole {
			if left%(3*n) > 0 && left > 100 { // every byte of the head, some of the others
				continue
			}
			var f bytes.Buffer
			w, err := NewWriter(&failingAfter{&f, left}, b.Schema(), append(opts, WithConcurrency(n))...)
			if err == nil {
				err = errors.Join(w.Append(b), w.Close())
			}
			require.ErrorIs(t, err, io.ErrShortWrite, left)
			require.Equal(t, string(whole[:left]), f.String())
			_, err = Open(bytes.NewReader(f.Bytes()), int64(f.Len()))
			require.ErrorIs(t, err, encoding.ErrCorrupt)
		}
	}
}

// failingAfter takes some bytes, then no more.
type failingAfter struct {
	to   io.Writer
	left int
}

func (w *failingAfter) Write(p []byte) (int, error) {
	n := min(len(p), w.left)
	w.left -= n
	k, err := w.to.Write(p[:n])
	if err == nil && k < len(p) {
		err = io.ErrShortWrite
	}
	return k, err
}
