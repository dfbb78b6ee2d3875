package imports

import (
	"encoding/csv"
	"errors"
	"io"
	"os"
	"strconv"

	"github.com/parquet-go/parquet-go"
)

type parquetMetrics struct {
	Series string  `parquet:"series,dict,zstd"`
	Time   int32   `parquet:"time,delta,zstd"`
	Value  float32 `parquet:"value,split,zstd"`
	Wrote  int64   `parquet:"write_time,delta,zstd"`
	TTL    int32   `parquet:"ttl,delta,zstd"`
	Expiry int64   `parquet:"expiry,delta,zstd"`
}

type parquetAccess struct {
	Time    int64  `parquet:"ts,delta,zstd"`
	Client  string `parquet:"client,dict,zstd"`
	Method  string `parquet:"method,dict,zstd"`
	Path    string `parquet:"path,zstd"`
	Proto   string `parquet:"proto,dict,zstd"`
	Status  int32  `parquet:"status,dict,zstd"`
	Bytes   *int64 `parquet:"bytes,optional,zstd"`
	Referer string `parquet:"referer,dict,zstd"`
	Agent   string `parquet:"agent,dict,zstd"`
}

// importParquet reads the text with encoding/csv and writes rows of a struct,
// as a program would that was written for this text.
func importParquet(j *job, to string) (int64, error) {
	if j.Kind == metrics {
		return toParquet(j, to, func(rec []string, r *parquetMetrics) (err error) {
			r.Series = rec[0]
			r.Time = int32(integer(rec[1], 32, &err))
			value, e := strconv.ParseFloat(rec[2], 32)
			r.Value, err = float32(value), errors.Join(err, e)
			r.Wrote, r.TTL, r.Expiry = integer(rec[3], 64, &err), int32(integer(rec[4], 32, &err)), integer(rec[5], 64, &err)
			return err
		})
	}
	return toParquet(j, to, func(rec []string, r *parquetAccess) (err error) {
		r.Client, r.Method, r.Path, r.Proto, r.Referer, r.Agent = rec[1], rec[2], rec[3], rec[4], rec[7], rec[8]
		r.Time, r.Status = integer(rec[0], 64, &err), int32(integer(rec[5], 32, &err))
		if rec[6] == "" {
			r.Bytes = nil
			return err
		}
		if r.Bytes == nil {
			r.Bytes = new(int64)
		}
		*r.Bytes = integer(rec[6], 64, &err)
		return err
	})
}

func integer(s string, bits int, err *error) int64 {
	v, e := strconv.ParseInt(s, 10, bits)
	if e != nil {
		*err = e
	}
	return v
}

func toParquet[T any](j *job, to string, parse func(record []string, row *T) error) (n int64, err error) {
	in, err := os.Open(j.CSV)
	if err != nil {
		return 0, err
	}
	defer func() { _ = in.Close() }() // only read
	out, err := os.Create(to)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	r, w := csv.NewReader(in), parquet.NewGenericWriter[T](out)
	r.ReuseRecord = true
	if _, err := r.Read(); err != nil { // the header
		return 0, err
	}
	rows := make([]T, 4096)
	for {
		k := 0
		for k < len(rows) {
			record, err := r.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				err = parse(record, &rows[k])
			}
			if err != nil {
				return n, err
			}
			k++
		}
		if _, err := w.Write(rows[:k]); err != nil {
			return n, err
		}
		n += int64(k)
		if k < len(rows) {
			return n, w.Close()
		}
	}
}
