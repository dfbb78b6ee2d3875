package cassandra

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

// metricsBody is the body of a table of metrics: series text, time timestamp,
// value double and count bigint, rows with a TTL.
func metricsBody(tb testing.TB, v Version, rows int) (*Header, []byte) {
	h := makeHeader(tb, "UTF8Type", []string{"ReversedType(TimestampType)"}, nil, []string{"count LongType", "value DoubleType"})
	h.MinTimestamp, h.MinLocalDeletionTime, h.MinTTL = 1_700_000_000_000_000, 1_700_086_400, 86400
	var b bytes.Buffer
	w := NewBodyWriter(&b, v, h)
	row := &Row{Clustering: make([][]byte, 1), Liveness: rowgroup.LivenessExpiring, TTL: 86400, Cells: make([]Cell, 2)}
	for i := range rows {
		if i%1000 == 0 {
			if i > 0 {
				require.NoError(tb, w.EndPartition())
			}
			require.NoError(tb, w.BeginPartition(binary.BigEndian.AppendUint32([]byte("host"), uint32(i)), rowgroup.LiveDeletion))
		}
		row.Timestamp = 1_700_000_000_000_000 + int64(rows-i)*10_000_019 // the newest first
		row.ExpirationTime = row.Timestamp/1_000_000 + 86400
		row.Clustering[0] = binary.BigEndian.AppendUint64(row.Clustering[0][:0], uint64(row.Timestamp/1000))
		for k := range row.Cells {
			c := &row.Cells[k]
			c.Column, c.Kind, c.Timestamp, c.TTL, c.LocalDeletionTime = k, rowgroup.CellExpiring, row.Timestamp, row.TTL, row.ExpirationTime
			c.Value = binary.BigEndian.AppendUint64(c.Value[:0], uint64(i)*uint64(k+3))
		}
		require.NoError(tb, w.Row(row))
	}
	require.NoError(tb, w.EndPartition())
	require.NoError(tb, w.Flush())
	return h, b.Bytes()
}

func BenchmarkBodyReader(b *testing.B) {
	const rows = 100_000
	h, body := metricsBody(b, "nb", rows)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		r := NewBodyReader(bytes.NewReader(body), "nb", h)
		n := 0
		for {
			e, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if e == ClusteringRow {
				n++
			}
		}
		require.Equal(b, rows, n)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}

// BenchmarkScan reads an SSTable through chunks, checksums and body.
func BenchmarkScan(b *testing.B) {
	const rows = 500_000
	for _, class := range []string{"", "LZ4Compressor", "ZstdCompressor"} {
		b.Run(class, func(b *testing.B) {
			h, body := metricsBody(b, "nb", rows)
			data, info, sums := makeData(b, "nb", body, making{compressor: class, chunkLength: 16 << 10})
			d := &DataFile{Name: "Data.db", File: bytes.NewReader(data), Size: int64(len(data)), Compression: info, Checksums: sums}
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				s, err := d.Stream(0, true)
				require.NoError(b, err)
				r := NewBodyReader(s, "nb", h)
				for err == nil {
					_, err = r.Next()
				}
				require.ErrorIs(b, err, io.EOF)
				require.NoError(b, s.Close())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}
