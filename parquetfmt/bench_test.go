package parquetfmt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/rowgroup"
)

// benchRows are the rows of the benchmarks, of which each op writes or reads all.
func benchRows(b testing.TB) (*rowgroup.Schema, []*rowgroup.Batch, int) {
	b.Helper()
	m := generate.Metrics5{Series: 2, Points: 60_000, Variant: generate.TwoDecimals}
	it := m.Rows()
	var batches []*rowgroup.Batch
	for {
		batch := rowgroup.NewBatch(m.Schema())
		ok, err := it.Next(batch)
		require.NoError(b, err)
		if !ok {
			return m.Schema(), batches, m.Series * m.Points
		}
		batches = append(batches, batch)
	}
}

var benchSettings = []struct {
	name string
	opts []Option
}{
	{"large/zstd", []Option{WithRowMetadata()}},
	{"512/zstd", []Option{WithRowMetadata(), WithRowGroups(512, 1<<20)}},
	{"large/none", []Option{WithRowMetadata(), WithCompression(Uncompressed)}},
	{"512/none", []Option{WithRowMetadata(), WithRowGroups(512, 1<<20), WithCompression(Uncompressed)}},
	{"large/alp", []Option{WithRowMetadata(), WithEncoding("value", ALP)}},
	{"lossless", []Option{WithLossless()}},
}

func BenchmarkWrite(b *testing.B) {
	s, batches, rows := benchRows(b)
	for _, x := range benchSettings {
		b.Run(x.name, func(b *testing.B) {
			for range b.N {
				w, err := NewWriter(io.Discard, s, x.opts...)
				require.NoError(b, err)
				for _, batch := range batches {
					require.NoError(b, w.Append(batch))
				}
				require.NoError(b, w.Close())
				b.ReportMetric(float64(w.Bytes())/float64(rows), "B/row")
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
		})
	}
}

func BenchmarkScan(b *testing.B) {
	s, batches, rows := benchRows(b)
	for _, x := range benchSettings {
		file := writeBatches(b, s, batches, x.opts...)
		b.Run(x.name, func(b *testing.B) {
			for range b.N {
				scanBytes(b, file, rows)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
		})
	}
}

// point is a row of the benchmarks for parquet-go.
type point struct {
	Series    string  `parquet:"series,dict,zstd"`
	Time      int32   `parquet:"time,delta,zstd"`
	Value     float32 `parquet:"value,split,zstd"`
	WriteTime int64   `parquet:"write_time,delta,zstd"`
	TTL       int32   `parquet:"ttl,delta,zstd"`
	Expiry    int64   `parquet:"expiry,delta,zstd"`
}

func pointsOf(batches []*rowgroup.Batch) (points []point) {
	for _, b := range batches {
		for p := range b.NumPartitions() {
			key := string(b.Key(p))
			from, to := b.PartitionRows(p)
			for i := from; i < to; i++ {
				points = append(points, point{key, (*b.Int32s(1))[i], (*b.Float32s(2))[i], b.Meta().WriteTimes[i], b.Meta().TTLs[i], b.Meta().Expiries[i]})
			}
		}
	}
	return points
}

// BenchmarkOtherWrite is parquet-go's writer of structs.
func BenchmarkOtherWrite(b *testing.B) {
	_, batches, rows := benchRows(b)
	points := pointsOf(batches)
	for _, group := range []int{1 << 17, 512} {
		b.Run(fmt.Sprint(group), func(b *testing.B) {
			for range b.N {
				w := parquet.NewGenericWriter[point](io.Discard, parquet.MaxRowsPerRowGroup(int64(group)), parquet.PageBufferSize(80_000))
				for at := 0; at < len(points); at += 512 {
					_, err := w.Write(points[at:min(at+512, len(points))])
					require.NoError(b, err)
				}
				require.NoError(b, w.Close())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
		})
	}
}

// BenchmarkScanOther is our reading of a file of parquet-go's.
func BenchmarkScanOther(b *testing.B) {
	_, batches, rows := benchRows(b)
	points := pointsOf(batches)
	for _, group := range []int{1 << 17, 512} {
		var file bytes.Buffer
		w := parquet.NewGenericWriter[point](&file, parquet.MaxRowsPerRowGroup(int64(group)), parquet.PageBufferSize(80_000))
		_, err := w.Write(points)
		require.NoError(b, err)
		require.NoError(b, w.Close())
		b.Run(fmt.Sprint(group), func(b *testing.B) {
			for range b.N {
				scanBytes(b, file.Bytes(), rows, WithPartitionKey("series"), WithClustering(Clustering{Column: "time"}), WithMetadata("write_time", "ttl", "expiry"))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
		})
	}
}

// scanBytes reads all rows of a file, which are so many.
func scanBytes(b *testing.B, file []byte, rows int, opts ...ReadOption) {
	b.Helper()
	r, err := Open(bytes.NewReader(file), int64(len(file)), opts...)
	require.NoError(b, err)
	it := r.Scan(context.Background(), rowgroup.ScanOptions{})
	batch := rowgroup.NewBatch(r.Schema())
	n := 0
	for {
		ok, err := it.Next(batch)
		require.NoError(b, err)
		if !ok {
			break
		}
		n += batch.Len()
	}
	require.Equal(b, rows, n)
	require.NoError(b, it.Close())
}

// BenchmarkOtherScan is parquet-go's reading of typed pages.
func BenchmarkOtherScan(b *testing.B) {
	_, batches, rows := benchRows(b)
	points := pointsOf(batches)
	for _, group := range []int{1 << 17, 512} {
		var file bytes.Buffer
		w := parquet.NewGenericWriter[point](&file, parquet.MaxRowsPerRowGroup(int64(group)), parquet.PageBufferSize(80_000))
		_, err := w.Write(points)
		require.NoError(b, err)
		require.NoError(b, w.Close())
		b.Run(fmt.Sprint(group), func(b *testing.B) {
			for range b.N {
				f, err := parquet.OpenFile(bytes.NewReader(file.Bytes()), int64(file.Len()))
				require.NoError(b, err)
				for _, g := range f.RowGroups() {
					for _, c := range g.ColumnChunks() {
						pages := c.Pages()
						for {
							p, err := pages.ReadPage()
							if errors.Is(err, io.EOF) {
								break
							}
							require.NoError(b, err)
							switch r := p.Data(); r.Kind() {
							default:
								_ = r.Size()
							}
							parquet.Release(p)
						}
						require.NoError(b, pages.Close())
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
		})
	}
}
