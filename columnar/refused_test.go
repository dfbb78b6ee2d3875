package columnar

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

func TestNarrowValues(t *testing.T) {
	for name, c := range map[string]struct {
		typ rowgroup.Type
		v   int32
	}{
		"boolean 2": {rowgroup.Boolean, 2}, "tinyint 300": {rowgroup.Tinyint, 300}, "smallint 70000": {rowgroup.Smallint, 70000},
	} {
		t.Run(name, func(t *testing.T) {
			s := table(t, nil, []rowgroup.Column{{Name: "time", Type: rowgroup.Bigint}}, []rowgroup.Column{{Name: "v", Type: c.typ}})
			b := rowgroup.NewBatch(s)
			*b.Int64s(0) = append(*b.Int64s(0), 1)
			*b.Int32s(1) = append(*b.Int32s(1), c.v)
			var buf bytes.Buffer
			w, err := NewWriter(&buf, s)
			require.NoError(t, err)
			if err := w.Append(b); err != nil {
				return // refused: fine
			}
			if err := w.Close(); err != nil {
				return
			}
			_, err = Open(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
			require.NoError(t, err, "a file that the writer closed without error must open")
		})
	}
}

func TestKeyTwiceInBatch(t *testing.T) {
	s := testSchemas(t)["series"]
	add := func(b *rowgroup.Batch, key string, tm int64) {
		b.BeginPartition([]byte(key))
		*b.Int64s(1) = append(*b.Int64s(1), tm)
		*b.Float64s(2) = append(*b.Float64s(2), 1)
		*b.Int32s(3) = append(*b.Int32s(3), 1)
		_ = b.Bytes(4).Append(nil)
	}
	one := rowgroup.NewBatch(s)
	add(one, "a", 1)
	add(one, "a", 2)
	var buf bytes.Buffer
	w, err := NewWriter(&buf, s)
	require.NoError(t, err)
	if err := w.Append(one); err != nil {
		return // refused: fine
	}
	require.NoError(t, w.Close())
	var buf2 bytes.Buffer
	w, err = NewWriter(&buf2, s)
	require.NoError(t, err)
	for i := range 2 {
		b := rowgroup.NewBatch(s)
		add(b, "a", int64(i+1))
		require.NoError(t, w.Append(b))
	}
	require.NoError(t, w.Close())
	rd := open(t, buf.Bytes())
	q, err := rd.Partition(bg, []byte("a"))
	require.NoError(t, err)
	got, err := drain(q.Range(bg, rowgroup.Bound{}, rowgroup.Bound{}, rowgroup.ScanOptions{}), s)
	require.NoError(t, err)
	t.Log("partitions", rd.Partitions(), "rows of a:", got, "verify:", rd.Verify(bg, VerifyValues, nil), "other bytes:", !bytes.Equal(buf.Bytes(), buf2.Bytes()))
	require.EqualValues(t, 1, rd.Partitions())
}

func TestStaticForgotten(t *testing.T) {
	s := testSchemas(t)["static"]
	b := rowgroup.NewBatch(s)
	b.BeginPartition([]byte("a"))
	*b.Int64s(1) = append(*b.Int64s(1), 1)
	_ = b.Bytes(s.Lookup("st")).Append([]byte("kept?"))
	*b.Int64s(s.Lookup("sn")) = append(*b.Int64s(s.Lookup("sn")), 7)
	*b.Float64s(s.Lookup("v")) = append(*b.Float64s(s.Lookup("v")), 1)
	*b.Int32s(s.Lookup("n")) = append(*b.Int32s(s.Lookup("n")), 1)
	_ = b.Bytes(s.Lookup("s")).Append(nil)
	w, err := NewWriter(io.Discard, s)
	require.NoError(t, err)
	require.Error(t, w.Append(b))
}

func TestEncodingMisfit(t *testing.T) {
	s := testSchemas(t)["series"]
	for _, o := range []Option{
		WithEncoding("v", encoding.DeltaOfDelta), WithEncoding("s", encoding.ALP), WithEncoding("n", encoding.Dictionary),
		WithEncoding("k", encoding.Dictionary), WithColumnCompression("k"),
	} {
		_, err := NewWriter(io.Discard, s, o)
		require.Error(t, err)
	}
}

func TestBoundLength(t *testing.T) {
	b := points(t, 1, 2, 3)
	rd := open(t, write(t, b, 10))
	q, err := rd.Partition(bg, nil)
	require.NoError(t, err)
	four := rowgroup.Bound{Prefix: [][]byte{rowgroup.AppendInt(nil, rowgroup.Int, 2)}, Inclusive: true} // an int for a bigint
	n, err := drainCount(q.Range(bg, four, rowgroup.Bound{}, rowgroup.ScanOptions{}), b.Schema())
	require.Error(t, err, "%d rows, no error", n)
}

func TestAppendAfterClose(t *testing.T) {
	b := points(t, 1)
	w, err := NewWriter(io.Discard, b.Schema())
	require.NoError(t, err)
	require.NoError(t, w.Append(b))
	require.NoError(t, w.Close())
	require.Error(t, w.Append(points(t, 2)))
	require.NoError(t, w.Close(), "a second Close is a no-op")
}

// NewWriter gives no writer with an error.
func TestNoWriterWithAnError(t *testing.T) {
	w, err := NewWriter(&failingWriter{}, points(t, 1).Schema())
	require.ErrorIs(t, err, io.ErrClosedPipe)
	require.Nil(t, w)
}

// Verify finds a key twice, where the order of partitions is unknown as well.
func TestVerifyKeyTwice(t *testing.T) {
	s := table(t, []rowgroup.Column{{Name: "k", Type: rowgroup.Text}}, []rowgroup.Column{{Name: "time", Type: rowgroup.Bigint}}, nil, rowgroup.WithOrder("custom:x"))
	b := rowgroup.NewBatch(s)
	for _, k := range []string{"b", "a", "a", "c"} {
		b.BeginPartition([]byte(k))
		*b.Int64s(1) = append(*b.Int64s(1), 1)
	}
	var buf bytes.Buffer
	w, err := NewWriter(&buf, s)
	require.NoError(t, err)
	require.NoError(t, w.append(b)) // unchecked
	require.NoError(t, w.Close())
	require.ErrorContains(t, open(t, buf.Bytes()).Verify(bg, VerifyValues, nil), "twice")
}

// A look-up in a block whose keys are out of order finds its key or says so.
func TestKeysOutOfOrder(t *testing.T) {
	s := table(t, []rowgroup.Column{{Name: "k", Type: rowgroup.Text}}, []rowgroup.Column{{Name: "time", Type: rowgroup.Bigint}}, nil)
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.Permutation([]string{"b", "c", "d", "e", "f", "g", "h"}).Draw(t, "keys")
		keys = append([]string{"a"}, keys...) // as the index says
		b := rowgroup.NewBatch(s)
		for _, k := range keys {
			b.BeginPartition([]byte(k))
			*b.Int64s(1) = append(*b.Int64s(1), 1)
		}
		var buf bytes.Buffer
		w, err := NewWriter(&buf, s, WithRowGroupRows(rapid.IntRange(1, 8).Draw(t, "rows a group")))
		require.NoError(t, err)
		require.NoError(t, w.append(b)) // unchecked
		require.NoError(t, w.Close())
		rd, err := OpenBytes(buf.Bytes())
		require.NoError(t, err)
		for _, k := range keys {
			if p, err := rd.Partition(bg, []byte(k)); err != nil {
				require.ErrorIs(t, err, encoding.ErrCorrupt)
			} else {
				require.Equal(t, k, string(p.Key()))
			}
		}
	})
}

// The version is the file's.
func TestVersion(t *testing.T) {
	rd := open(t, write(t, points(t, 1), 10))
	require.Equal(t, Version, rd.Version())
	rd.version = 77
	require.Equal(t, 77, rd.Version())
	d, err := rd.Describe(bg)
	require.NoError(t, err)
	require.Equal(t, 77, d.Version)
}
