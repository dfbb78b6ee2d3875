package columnar

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

func TestRowlessPartitionsMemory(t *testing.T) {
	s := testSchemas(t)["series"]
	w, err := NewWriter(io.Discard, s)
	require.NoError(t, err)
	b := rowgroup.NewBatch(s)
	most := 0
	for i := range 300 {
		b.Reset()
		for k := range 1000 {
			b.BeginPartition(fmt.Appendf(nil, "%09d", i*1000+k)).Deletion = rowgroup.Deletion{MarkedForDeleteAt: 5, LocalDeletionTime: 5}
		}
		require.NoError(t, w.Append(b))
		most = max(most, w.pend.NumPartitions())
	}
	require.Less(t, most, 64*128*3, "partitions held by the writer")
	require.NoError(t, w.Close())
}

func TestBatchMemory(t *testing.T) {
	var cols []rowgroup.Column
	for i := range 10 {
		cols = append(cols, rowgroup.Column{Name: fmt.Sprint("c", i), Type: rowgroup.Bigint})
	}
	s := table(t, nil, []rowgroup.Column{{Name: "time", Type: rowgroup.Bigint}}, cols)
	var buf bytes.Buffer
	w, err := NewWriter(&buf, s, WithRowGroupRows(65_536), WithRowGroupBytes(64<<20))
	require.NoError(t, err)
	b := rowgroup.NewBatch(s)
	for k := range 10 {
		b.Reset()
		for i := range 65_536 {
			*b.Int64s(0) = append(*b.Int64s(0), int64(k)*65_536+int64(i))
		}
		for c := 1; c <= 10; c++ {
			*b.Int64s(c) = append(*b.Int64s(c), make([]int64, 65_536)...)
		}
		require.NoError(t, w.Append(b))
	}
	require.NoError(t, w.Close())
	rd := open(t, buf.Bytes())
	n := allocated(func() { _, err = drainCount(rd.Scan(bg, rowgroup.ScanOptions{}), s) })
	require.NoError(t, err)
	t.Logf("a file of %d bytes: %d MiB allocated by a scan", buf.Len(), n>>20)
	require.Less(t, n, uint64(64<<20))
}

func TestLargeValuesMemory(t *testing.T) {
	s := table(t, nil, []rowgroup.Column{{Name: "time", Type: rowgroup.Bigint}}, []rowgroup.Column{{Name: "v", Type: rowgroup.Blob}})
	w, err := NewWriter(io.Discard, s)
	require.NoError(t, err)
	b := rowgroup.NewBatch(s)
	var most uint64
	for i := range 30 {
		b.Reset()
		*b.Int64s(0) = append(*b.Int64s(0), int64(i))
		require.NoError(t, b.Bytes(1).Append(make([]byte, 4<<20)))
		require.NoError(t, w.Append(b))
		most = max(most, uint64(w.held(1)+cap(w.out.body)+cap(w.out.item)+cap(w.out.stream.buf)))
	}
	require.Less(t, most, uint64(64<<20))
}

// held is the memory of column col, of byte strings, in batches.
func (w *Writer) held(col int) int {
	n := cap(w.pend.Bytes(col).Data)
	for _, b := range w.queue.batches {
		n += cap(b.Bytes(col).Data)
	}
	for _, s := range w.queue.waiting {
		n += cap(s.batch.Bytes(col).Data)
	}
	return n
}

func drainCount(it rowgroup.Iter, s *rowgroup.Schema) (n int, err error) {
	b := rowgroup.NewBatch(s)
	for {
		ok, err := it.Next(b)
		if err != nil || !ok {
			return n, err
		}
		n += b.Len()
	}
}

// A caller's batch is taken over piece by piece: what the writer holds does
// not follow it.
func TestLargeBatchMemory(t *testing.T) {
	s := table(t, nil, []rowgroup.Column{{Name: "time", Type: rowgroup.Bigint}}, []rowgroup.Column{{Name: "v", Type: rowgroup.Blob}})
	b := rowgroup.NewBatch(s)
	value := make([]byte, 64<<10)
	for i := range 1000 {
		*b.Int64s(0) = append(*b.Int64s(0), int64(i))
		require.NoError(t, b.Bytes(1).Append(value))
	}
	w, err := NewWriter(io.Discard, s)
	require.NoError(t, err)
	require.NoError(t, w.Append(b))
	require.Less(t, w.held(1), 32<<20)
	require.NoError(t, w.Close())
}

// Everything counts for row_group_size_in_bytes: keys, static rows, byte
// strings, exceptions and absent cells; the reader refuses groups beyond it.
func TestRowGroupBytes(t *testing.T) {
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "k", Type: rowgroup.Text}}, []rowgroup.Column{{Name: "time", Type: rowgroup.Bigint}},
		[]rowgroup.Column{{Name: "st", Type: rowgroup.Blob}}, []rowgroup.Column{{Name: "v", Type: rowgroup.Blob}, {Name: "n", Type: rowgroup.Bigint}})
	require.NoError(t, err)
	for what, c := range map[string]struct{ key, static, value, exception int }{
		"keys": {key: 400}, "static rows": {static: 400}, "values": {value: 400}, "exceptions": {exception: 400}, "rows": {},
	} {
		b := rowgroup.NewBatch(s)
		for i := range 100 {
			h := b.BeginPartition(append(fmt.Appendf(nil, "%03d", i), make([]byte, c.key)...))
			h.Static = rowgroup.StaticFull
			require.NoError(t, b.Bytes(2).Append(make([]byte, c.static)))
			*b.Int64s(1) = append(*b.Int64s(1), int64(i))
			require.NoError(t, b.Bytes(3).Append(make([]byte, c.value)))
			*b.Int64s(4) = append(*b.Int64s(4), 0)
			b.CellMeta(3).Cells = append(b.CellMeta(3).Cells, rowgroup.CellAsRow)
			cell := rowgroup.CellAbsent
			if c.exception > 0 {
				cell = rowgroup.CellException
				b.CellMeta(4).Exceptions = append(b.CellMeta(4).Exceptions, rowgroup.Exception{Row: i, Value: make([]byte, c.exception)})
			}
			b.CellMeta(4).Cells = append(b.CellMeta(4).Cells, cell)
		}
		file := write(t, b, 7, WithRowGroupBytes(1000))
		require.Equal(t, file, write(t, b, 1000, WithRowGroupBytes(1000)), what)
		rd := open(t, file)
		require.NoError(t, rd.Verify(bg, VerifyValues, nil), what)
		one := int64(1000 / (c.key + c.static + c.value + c.exception + 3 + 4*8))
		require.Equal(t, (100+one-1)/one, rd.RowGroups(), what)
		if one > 1 { // a file that says less than it holds
			for _, change := range []func(f *footer){func(f *footer) { f.groupBytes = 400 }, func(f *footer) { f.groupRows = 1 }} {
				bad := refoot(rd, file, change)
				r2, err := Open(bytes.NewReader(bad), int64(len(bad)))
				if err == nil {
					_, err = drainCount(r2.Scan(bg, rowgroup.ScanOptions{}), s)
				}
				require.ErrorIs(t, err, encoding.ErrCorrupt, what)
			}
		}
	}
	_, err = NewWriter(io.Discard, s, WithRowGroupBytes(encoding.MaxGroupBytes+1))
	require.ErrorContains(t, err, "row_group_size_in_bytes")
	_, err = NewWriter(io.Discard, testSchemas(t)["cells"], WithRowGroupBytes(rowgroup.MaxCellsBytes+1))
	require.ErrorContains(t, err, "row_group_size_in_bytes")
}

// Cells of multi-cell columns count: no row group has more than a chunk can hold.
func TestCellsCountForRowGroups(t *testing.T) {
	typ, err := rowgroup.ParseType("set<int>")
	require.NoError(t, err)
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "k", Type: rowgroup.Int}}, []rowgroup.Column{{Name: "c", Type: rowgroup.Int}},
		[]rowgroup.Column{{Name: "s", Type: typ}}, []rowgroup.Column{{Name: "v", Type: typ}})
	require.NoError(t, err)
	b := rowgroup.NewBatch(s)
	add := func(col, row, n int) {
		m := b.MultiCells(col)
		m.Begin(row)
		for i := range n {
			require.NoError(t, m.Append(&rowgroup.MultiCell{Path: rowgroup.AppendInt(nil, rowgroup.Int, int64(i))}))
		}
	}
	for p := range 2 {
		b.BeginPartition(rowgroup.AppendInt(nil, rowgroup.Int, int64(p))).Static = rowgroup.StaticFull
		add(2, p, 25_000)
		for i := range 3 {
			*b.Int32s(1) = append(*b.Int32s(1), int32(i))
			add(3, b.Len()-1, 25_000)
		}
	}
	require.NoError(t, b.Check())
	for _, n := range []int{64 << 10, rowgroup.MaxCellsBytes} {
		rd := open(t, write(t, b, 5, WithRowGroupBytes(n)))
		require.Less(t, rd.RowGroups(), int64(8))
		got, err := drain(rd.Scan(bg, rowgroup.ScanOptions{}), s)
		require.NoError(t, err)
		same(t, dump(b), got, "cells")
	}
}
