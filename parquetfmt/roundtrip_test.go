package parquetfmt

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/cassandra"
	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/internal/rowdiff"
	"github.com/colsst/colsst/rowgroup"
)

// writeAll writes all rows of it.
func writeAll(t testing.TB, s *rowgroup.Schema, it rowgroup.Iter, opts ...Option) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := NewWriter(&file, s, opts...)
	require.NoError(t, err)
	b := rowgroup.NewBatch(s)
	for {
		ok, err := it.Next(b)
		require.NoError(t, err)
		if !ok {
			break
		}
		require.NoError(t, w.Append(b))
	}
	require.NoError(t, it.Close())
	require.NoError(t, w.Close())
	return file.Bytes()
}

func openBytes(t testing.TB, file []byte, opts ...ReadOption) *Reader {
	t.Helper()
	r, err := Open(bytes.NewReader(file), int64(len(file)), opts...)
	require.NoError(t, err)
	return r
}

func requireEqualRows(t testing.TB, a, b rowdiff.Side, metadata bool) {
	t.Helper()
	d, err := rowdiff.Compare(context.Background(), a, b, rowdiff.Options{Metadata: metadata, Report: 3})
	require.NoError(t, err)
	for i := range d.First {
		t.Error(d.First[i].String())
	}
	require.Zero(t, d.Differences)
}

func scanOf(r rowgroup.Source) rowdiff.Side {
	return rowdiff.Side{Schema: r.Schema(), Rows: r.Scan(context.Background(), rowgroup.ScanOptions{})}
}

func TestMetrics5(t *testing.T) {
	m := generate.Metrics5{Series: 3, Points: 20_000}
	for _, opts := range [][]Option{
		{WithLossless()},
		{WithRowMetadata()},
		{WithWriteTimeDelays(rowgroup.Seconds), WithRowGroups(512, 1<<20)},
		{WithRowMetadata(), WithPageVersion(1), WithRowGroups(512, 1<<20), WithCompression(Uncompressed)},
		{WithLossless(), WithRowGroups(1000, 1<<30), WithPages(100, 1<<20), WithCompression(Snappy)},
		{WithRowMetadata(), WithEncoding("*", Dictionary), WithCompression(Gzip)},
		{WithRowMetadata(), WithEncoding("*", Plain), WithCompression(LZ4)},
	} {
		file := writeAll(t, m.Schema(), m.Rows(), opts...)
		r := openBytes(t, file)
		require.True(t, m.Schema().Equal(r.Schema()))
		requireEqualRows(t, rowdiff.Side{Schema: m.Schema(), Rows: m.Rows()}, scanOf(r), true)
		t.Logf("%d bytes, %.3f a point", len(file), float64(len(file))/60_000)
	}
}

// Every SSTable of the project's fixtures, and of those beside the project where
// they are there, comes back with every unfiltered. Of the latter four cannot be
// read: two have damaged chunks, two no CompressionInfo.db.
func TestSSTables(t *testing.T) {
	for dir, damaged := range map[string]int{"../cassandra/testdata": 0, "../../shared/testdata/sstables": 4} {
		unread := 0
		if _, err := os.Stat(dir); err != nil {
			t.Logf("%s is not there", dir)
			continue
		}
		require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "-Data.db") {
				return err
			}
			t.Run(strings.TrimPrefix(path, dir+"/"), func(t *testing.T) {
				if err := sstableRoundTrip(t, path); err != nil {
					t.Log("not read:", err)
					unread++
				}
			})
			return nil
		}))
		require.Equal(t, damaged, unread, dir)
	}
}

// sstableRoundTrip returns why an SSTable cannot be read.
func sstableRoundTrip(t *testing.T, path string) error {
	x, err := cassandra.Open(path)
	if err != nil {
		return err
	}
	defer func() { require.NoError(t, x.Close()) }()
	src, err := cassandra.NewSource(x, nil)
	if err != nil {
		return err
	}
	if x.Data.Size > 1<<20 && testing.Short() {
		return nil // for the long tests
	}
	it := src.Scan(context.Background(), rowgroup.ScanOptions{})
	b := rowgroup.NewBatch(src.Schema())
	for ok := true; ok; {
		if ok, err = it.Next(b); err != nil {
			return err
		}
	}
	require.NoError(t, it.Close())
	file := writeAll(t, src.Schema(), src.Scan(context.Background(), rowgroup.ScanOptions{}), WithLossless(), WithRowGroups(700, 1<<20))
	r := openBytes(t, file)
	require.True(t, src.Schema().Equal(r.Schema()))
	requireEqualRows(t, scanOf(src), scanOf(r), true)

	// The live view is written and read, too.
	live := rowgroup.ScanOptions{Live: true, Now: -1 << 63}
	for _, opts := range [][]Option{{WithReplacement()}, {WithReplacement(), WithRowMetadata()}} {
		readLive(t, writeAll(t, src.Schema(), src.Scan(context.Background(), live), opts...))
	}
	return nil
}

// readLive reads a live file, whose rows are those of a table.
func readLive(t *testing.T, file []byte) {
	r := openBytes(t, file)
	require.NoError(t, r.Verify(context.Background(), VerifyFooter, nil))
	n := int64(0)
	it := r.Scan(context.Background(), rowgroup.ScanOptions{})
	b := rowgroup.NewBatch(r.Schema())
	for {
		ok, err := it.Next(b)
		require.NoError(t, err)
		if !ok {
			break
		}
		require.NoError(t, b.Check())
		n += int64(b.Len())
	}
	require.LessOrEqual(t, n, r.Rows())
}
