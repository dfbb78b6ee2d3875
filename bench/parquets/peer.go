package parquets

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	pq "github.com/parquet-go/parquet-go"

	"github.com/colsst/colsst/parquetfmt"
	"github.com/colsst/colsst/rowgroup"
)

// peerRow has the columns and the encodings of our file.
type peerRow struct {
	Series string  `parquet:"series,dict,zstd"`
	Time   int32   `parquet:"time,delta,zstd"`
	Value  float32 `parquet:"value,split,zstd"`
	Wrote  int64   `parquet:"wrote,delta,zstd"`
	TTL    int32   `parquet:"ttl,delta,zstd"`
	Expiry int64   `parquet:"expiry,delta,zstd"`
}

// peerTable makes the columns of its file the table that they came from.
var peerTable = []parquetfmt.ReadOption{
	parquetfmt.WithPartitionKey("series"), parquetfmt.WithClustering(parquetfmt.Clustering{Column: "time"}),
	parquetfmt.WithMetadata("wrote", "ttl", "expiry"),
}

const (
	timeColumn  = 1 // of metrics5
	valueColumn = 2
)

// writePeer writes rows.
func writePeer(file *bytes.Buffer, batches []*rowgroup.Batch, groupRows int) error {
	w := pq.NewGenericWriter[peerRow](file, pq.MaxRowsPerRowGroup(int64(groupRows)))
	var rows []peerRow
	for _, b := range batches {
		rows = rows[:0]
		times, values, m := *b.Int32s(timeColumn), *b.Float32s(valueColumn), b.Meta()
		for p := range b.NumPartitions() {
			key := string(b.Key(p))
			from, to := b.PartitionRows(p)
			for i := from; i < to; i++ {
				rows = append(rows, peerRow{key, times[i], values[i], m.WriteTimes[i], m.TTLs[i], m.Expiries[i]})
			}
		}
		if _, err := w.Write(rows); err != nil {
			return err
		}
	}
	return w.Close()
}

// writePeerTyped fills a buffer of columns for each row group by their typed
// writers, the fastest way that the library has.
func writePeerTyped(file *bytes.Buffer, batches []*rowgroup.Batch, groupRows int) error {
	w := pq.NewGenericWriter[peerRow](file)
	buffer := pq.NewGenericBuffer[peerRow]()
	columns := buffer.ColumnBuffers()
	var keys []pq.Value
	flush := func() error {
		if buffer.Len() == 0 {
			return nil
		}
		_, err := w.WriteRowGroup(buffer)
		buffer.Reset()
		return err
	}
	for _, b := range batches {
		times, values, m := *b.Int32s(timeColumn), *b.Float32s(valueColumn), b.Meta()
		for p := range b.NumPartitions() {
			key := pq.ByteArrayValue(b.Key(p)).Level(0, 0, 0)
			from, to := b.PartitionRows(p)
			for from < to {
				n := min(to-from, groupRows-buffer.Len())
				keys = keys[:0]
				for range n {
					keys = append(keys, key)
				}
				_, err0 := columns[0].WriteValues(keys)
				_, err1 := columns[1].(pq.Int32Writer).WriteInt32s(times[from : from+n])
				_, err2 := columns[2].(pq.FloatWriter).WriteFloats(values[from : from+n])
				_, err3 := columns[3].(pq.Int64Writer).WriteInt64s(m.WriteTimes[from : from+n])
				_, err4 := columns[4].(pq.Int32Writer).WriteInt32s(m.TTLs[from : from+n])
				_, err5 := columns[5].(pq.Int64Writer).WriteInt64s(m.Expiries[from : from+n])
				if err := errors.Join(err0, err1, err2, err3, err4, err5); err != nil {
					return err
				}
				from += n
				if buffer.Len() == groupRows {
					if err := flush(); err != nil {
						return err
					}
				}
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	return w.Close()
}

// readPeer reads all columns by their typed readers.
func readPeer(file []byte, points int64) error {
	f, err := pq.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return err
	}
	var i32 []int32
	var i64 []int64
	var f32 []float32
	rows := int64(0)
	for _, g := range f.RowGroups() {
		for col, chunk := range g.ColumnChunks() {
			in := chunk.Pages()
			for {
				page, err := in.ReadPage()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					return errors.Join(err, in.Close())
				}
				n := int(page.NumRows())
				switch values := page.Values().(type) {
				case pq.Int32Reader:
					i32 = sized(i32, n)
					_, err = values.ReadInt32s(i32)
				case pq.Int64Reader:
					i64 = sized(i64, n)
					_, err = values.ReadInt64s(i64)
				case pq.FloatReader:
					f32 = sized(f32, n)
					_, err = values.ReadFloats(f32)
				default: // the keys, by their places in the dictionary
					data := page.Data()
					n = len(data.Int32())
				}
				if col == 0 {
					rows += int64(n)
				}
				pq.Release(page)
				if err != nil && !errors.Is(err, io.EOF) {
					return errors.Join(err, in.Close())
				}
			}
			if err := in.Close(); err != nil {
				return err
			}
		}
	}
	if rows != points {
		return fmt.Errorf("%d rows of %d", rows, points)
	}
	return nil
}

func sized[T any](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n)
	}
	return v[:n]
}
