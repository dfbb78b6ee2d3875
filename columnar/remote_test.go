package columnar

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/rowgroup"
)

// remote is a source far away: it counts its requests, takes its time, and
// ends with the context.
type remote struct {
	file    []byte
	latency time.Duration
	reads   atomic.Int64
	fail    func(read int64) error // or nil
	short   bool                   // gives half of what is asked for with its error
}

func (r *remote) ReadAt([]byte, int64) (int, error) { return 0, errors.New("read without a context") }

func (r *remote) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	n := r.reads.Add(1)
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(r.latency):
	}
	if r.fail != nil {
		if err := r.fail(n); err != nil {
			if r.short {
				return copy(p[:len(p)/2], r.file[off:]), err
			}
			return 0, err
		}
	}
	n2 := copy(p, r.file[off:])
	if n2 < len(p) {
		return n2, io.EOF
	}
	return n2, nil
}

// manySeries is a table of 300 series of several blocks, larger than a tail.
func manySeries(t testing.TB) []byte {
	m := generate.Metrics5{Series: 300, Points: 3000, Seed: generate.Seed}
	var out bytes.Buffer
	w, err := NewWriter(&out, m.Schema(), WithRowGroupRows(64), WithBlockBytes(1000))
	require.NoError(t, err)
	b, rows := rowgroup.NewBatch(m.Schema()), m.Rows()
	for {
		ok, err := rows.Next(b)
		require.NoError(t, err)
		if !ok {
			break
		}
		require.NoError(t, w.Append(b))
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

// One read opens a file; the latest rows of any partition take two more at
// most, one once its index is known.
func TestReadsOfARemoteFile(t *testing.T) {
	file := manySeries(t)
	var keys [][]byte
	for b, err := range open(t, file).All(bg, rowgroup.ScanOptions{Columns: []int{}}) {
		require.NoError(t, err)
		if !b.Partition(0).Continued {
			keys = append(keys, bytes.Clone(b.Key(0)))
		}
	}
	require.Len(t, keys, 300)
	src := &remote{file: file, latency: 10 * time.Microsecond}
	rd, err := Open(src, int64(len(file)))
	require.NoError(t, err)
	require.EqualValues(t, 1, src.reads.Load(), "to open")
	b, q := rowgroup.NewBatch(rd.Schema()), rd.NewQuery()
	for round, most := range []int64{2, 1} {
		for _, i := range rand.Perm(len(keys)) {
			src.reads.Store(0)
			require.NoError(t, q.Latest(bg, keys[i], 5, rowgroup.ScanOptions{}))
			ok, err := q.Next(b)
			require.True(t, ok, err)
			require.Equal(t, 5, b.Len())
			require.LessOrEqual(t, src.reads.Load(), most, "round %d, series %d", round, i)
		}
	}
	src.reads.Store(0)
	require.ErrorIs(t, q.Latest(bg, []byte("series 9999"), 1, rowgroup.ScanOptions{}), rowgroup.ErrNotFound)
	require.LessOrEqual(t, src.reads.Load(), int64(1))
}

// A source that fails, at whatever read: the error says what was read and is
// that of the source, and the reader goes on when the source does.
func TestFailingSource(t *testing.T) {
	file := manySeries(t)
	whole := open(t, file)
	s := whole.Schema()
	broken := errors.New("the line is broken")
	key := []byte(nil)
	for b, err := range whole.All(bg, rowgroup.ScanOptions{}) {
		require.NoError(t, err)
		if key = bytes.Clone(b.Key(0)); len(key) > 0 {
			break
		}
	}
	p, err := whole.Partition(bg, key)
	require.NoError(t, err)
	latest, err := drain(p.Latest(bg, 3, rowgroup.ScanOptions{}), s)
	require.NoError(t, err)
	for _, short := range []bool{false, true} {
		for at := int64(1); at < 6; at++ {
			src := &remote{file: file, short: short}
			src.fail = func(n int64) error {
				if n == at {
					return broken
				}
				return nil
			}
			failures := 0
			try := func(f func() error) {
				for range 2 {
					err := f()
					if err == nil {
						return
					}
					failures++
					require.ErrorIs(t, err, broken)
					require.NotErrorIs(t, err, encoding.ErrCorrupt)
					require.NotErrorIs(t, err, rowgroup.ErrNotFound)
					require.Regexp(t, `^far\.csst: (trailer|footer|file header|index page|filter|block.*|item header): read \d+ bytes at \d+: the line is broken$`, err.Error())
				}
				t.Error("it fails on")
			}
			var rd *Reader
			try(func() (err error) {
				rd, err = Open(src, int64(len(file)), WithName("far.csst"))
				return err
			})
			try(func() error {
				p, err := rd.Partition(bg, key)
				if err != nil {
					return err
				}
				got, err := drain(p.Latest(bg, 3, rowgroup.ScanOptions{}), s)
				if err == nil {
					same(t, latest, got)
				}
				return err
			})
			try(func() error {
				n, err := drainCount(rd.Scan(bg, rowgroup.ScanOptions{}), s)
				if err == nil {
					require.EqualValues(t, whole.Rows(), n)
				}
				return err
			})
			require.Equal(t, 1, failures, at)
		}
	}
}

// A deadline ends a read that takes too long.
func TestDeadline(t *testing.T) {
	file := manySeries(t)
	src := &remote{file: file}
	rd, err := Open(src, int64(len(file)))
	require.NoError(t, err)
	src.latency = time.Minute
	ctx, cancel := context.WithTimeout(bg, 5*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err = rd.Scan(ctx, rowgroup.ScanOptions{}).Next(rowgroup.NewBatch(rd.Schema()))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = rd.Scan(ctx, rowgroup.ScanOptions{Desc: true}).Next(rowgroup.NewBatch(rd.Schema()))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, rd.Verify(ctx, VerifyBlocks, nil), context.DeadlineExceeded)
	require.Less(t, time.Since(start), 30*time.Second)
}

// A source that has become shorter than it was is damage, in the part that is
// gone.
func TestSourceThatShrank(t *testing.T) {
	file := manySeries(t)
	src := &remote{file: file}
	rd, err := Open(src, int64(len(file)), WithName("cut.csst"))
	require.NoError(t, err)
	src.file = file[:fileHeaderLen+100]
	_, err = drainCount(rd.Scan(bg, rowgroup.ScanOptions{}), rd.Schema())
	var c *encoding.CorruptError
	require.ErrorAs(t, err, &c)
	require.Equal(t, "cut.csst", c.File)
	require.Equal(t, "item header", c.Part)
	require.Contains(t, c.Reason, "truncated")
}
