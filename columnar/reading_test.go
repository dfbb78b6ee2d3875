package columnar

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

func TestNoRegular(t *testing.T) {
	for _, regular := range [][]rowgroup.Column{nil} {
		for _, st := range [][]rowgroup.Column{nil, {{Name: "st", Type: rowgroup.Int}}} {
			s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "k", Type: rowgroup.Text}}, nil, st, regular)
			require.NoError(t, err)
			b := rowgroup.NewBatch(s)
			n := 0
			for i := range 300 {
				b.BeginPartition(fmt.Appendf(nil, "%04d", i))
				if st != nil {
					*b.Int32s(1) = append(*b.Int32s(1), int32(i))
					b.Partition(i).Static = rowgroup.StaticFull
				}
				if i%3 == 0 {
					n++
					b.SetLen(n)
				}
			}
			for combo, opts := range combinations() {
				for _, k := range []int{1, 7, 1 << 20} {
					file := write(t, b, k, opts...)
					rd := open(t, file)
					require.NoError(t, rd.Verify(bg, VerifyValues, nil), combo)
					got, err := drain(rd.Scan(bg, rowgroup.ScanOptions{}), s)
					require.NoError(t, err)
					same(t, dump(b), got, combo)
					got, err = drain(rd.Scan(bg, rowgroup.ScanOptions{Desc: true}), s)
					require.NoError(t, err)
					c := b.Clone()
					c.Reverse()
					same(t, dump(c), got, combo)
					for _, key := range []string{"0000", "0001", "0299"} {
						q, err := rd.Partition(bg, []byte(key))
						require.NoError(t, err)
						n, err := drainCount(q.Range(bg, rowgroup.Bound{}, rowgroup.Bound{}, rowgroup.ScanOptions{Live: true}), s)
						require.NoError(t, err)
						want := 0
						if key == "0000" {
							want = 1
						}
						require.Equal(t, want, n, key)
						n, err = drainCount(q.Latest(bg, 5, rowgroup.ScanOptions{}), s)
						require.NoError(t, err)
						require.Equal(t, want, n)
					}
				}
			}
		}
	}
}

func TestAfterClose(t *testing.T) {
	s := testSchemas(t)["static"]
	r := rand.New(rand.NewPCG(1, 2))
	b := history(t, s, r, historyOptions{5, 100, false})
	for _, opts := range layered() {
		rd := open(t, write(t, b, 100, opts...))
		q, err := rd.Partition(bg, b.Key(1))
		require.NoError(t, err)
		its := []rowgroup.Iter{rd.Scan(bg, rowgroup.ScanOptions{}), rd.Scan(bg, rowgroup.ScanOptions{Desc: true}), q.Range(bg, rowgroup.Bound{}, rowgroup.Bound{}, rowgroup.ScanOptions{})}
		dst := rowgroup.NewBatch(s)
		for _, it := range its {
			_, err := it.Next(dst)
			require.NoError(t, err)
		}
		require.NoError(t, rd.Close())
		for _, it := range its {
			for range 1000 {
				ok, err := it.Next(dst)
				if err != nil {
					require.NotErrorIs(t, err, encoding.ErrCorrupt)
				}
				if !ok {
					break
				}
			}
		}
		_, err = rd.Partition(bg, b.Key(1))
		require.ErrorIs(t, err, ErrClosed)
		_, err = rd.Describe(bg)
		require.ErrorIs(t, err, ErrClosed)
	}
}

func TestConcurrent(t *testing.T) {
	s := testSchemas(t)["static"]
	r := rand.New(rand.NewPCG(1, 2))
	b := history(t, s, r, historyOptions{20, 50, false})
	rd := open(t, write(t, b, 100, WithRowGroupRows(8), WithBlockBytes(300), WithCompression(1), WithColumnCompression("*")))
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for k := range 10 {
				p := (g*10 + k) % b.NumPartitions()
				q, err := rd.Partition(context.Background(), b.Key(p))
				if err != nil {
					t.Error(err)
					return
				}
				_, err = drain(q.Range(bg, rowgroup.Bound{}, rowgroup.Bound{}, rowgroup.ScanOptions{Desc: k%2 == 0, Live: k%3 == 0, Now: 60}), s)
				if err != nil {
					t.Error(err)
				}
				_, err = drain(q.Latest(bg, 3, rowgroup.ScanOptions{}), s)
				if err != nil {
					t.Error(err)
				}
			}
			_, _ = drain(rd.Scan(bg, rowgroup.ScanOptions{}), s)
		})
	}
	wg.Wait()
}

func TestPartitionHuge(t *testing.T) {
	s := testSchemas(t)["series"]
	for _, n := range []int{0, 65_535} {
		b := rowgroup.NewBatch(s)
		b.BeginPartition(make([]byte, n))
		*b.Int64s(1) = append(*b.Int64s(1), 1)
		*b.Float64s(2) = append(*b.Float64s(2), 1)
		*b.Int32s(3) = append(*b.Int32s(3), 1)
		_ = b.Bytes(4).Append(nil)
		rd := open(t, write(t, b, 10))
		_, err := rd.Partition(bg, make([]byte, n))
		require.NoError(t, err)
		require.NoError(t, rd.Verify(bg, VerifyValues, nil))
	}
	var keys []byte
	_ = keys
	// many partitions with keys of 64 KiB
	b := rowgroup.NewBatch(s)
	for i := range 300 {
		k := make([]byte, 65_535)
		binary.BigEndian.PutUint32(k, uint32(i))
		for j := 4; j < len(k); j++ {
			k[j] = byte(i*j + j>>7)
		}
		b.BeginPartition(k)
		*b.Int64s(1) = append(*b.Int64s(1), 1)
		*b.Float64s(2) = append(*b.Float64s(2), 1)
		*b.Int32s(3) = append(*b.Int32s(3), 1)
		_ = b.Bytes(4).Append(nil)
	}
	rd := open(t, write(t, b, 7))
	require.NoError(t, rd.Verify(bg, VerifyValues, nil))
	for p := range 300 {
		_, err := rd.Partition(bg, b.Key(p))
		require.NoError(t, err)
	}
	_, err := rd.Partition(bg, make([]byte, 65_535))
	require.ErrorIs(t, err, rowgroup.ErrNotFound)
}

func TestDescribeNames(t *testing.T) {
	s := table(t, nil, []rowgroup.Column{{Name: "time", Type: rowgroup.Bigint}},
		[]rowgroup.Column{{Name: "v", Type: rowgroup.Bigint}, {Name: "v.$state", Type: rowgroup.Bigint}})
	b := rowgroup.NewBatch(s)
	for i := range 1000 {
		*b.Int64s(0) = append(*b.Int64s(0), int64(i))
		*b.Int64s(1) = append(*b.Int64s(1), int64(i))
		*b.Int64s(2) = append(*b.Int64s(2), 5)
		b.CellMeta(1).Cells = append(b.CellMeta(1).Cells, rowgroup.Cell(i*7919%11/10))
	}
	rd := open(t, write(t, b, 100))
	d, err := rd.Describe(bg)
	require.NoError(t, err)
	for _, c := range d.Columns {
		if c.Name == "v.$state" && c.Role == "regular" {
			require.Zero(t, c.Metadata, "metadata of v counted as of the user's column v.$state")
		}
	}
}

func TestExceptionsQuadratic(t *testing.T) {
	s := table(t, nil, []rowgroup.Column{{Name: "time", Type: rowgroup.Bigint}}, []rowgroup.Column{{Name: "v", Type: rowgroup.Bigint}})
	var last time.Duration
	for _, n := range []int{20_000, 80_000} {
		b := rowgroup.NewBatch(s)
		for i := range n {
			*b.Int64s(0) = append(*b.Int64s(0), int64(i))
			*b.Int64s(1) = append(*b.Int64s(1), 0)
			m := b.CellMeta(1)
			m.Cells = append(m.Cells, rowgroup.CellException)
			m.Exceptions = append(m.Exceptions, rowgroup.Exception{Row: i, Value: []byte("x")})
		}
		start := time.Now()
		file := write(t, b, 1<<30)
		w := time.Since(start)
		start = time.Now()
		_, err := drainCount(open(t, file).Scan(bg, rowgroup.ScanOptions{}), s)
		require.NoError(t, err)
		t.Log(n, "written in", w, "read in", time.Since(start))
		if last > 0 {
			require.Less(t, w, 20*last+time.Second)
		}
		last = w
	}
}
