//go:build cgo && (linux || darwin) && (amd64 || arm64)

package parquets

import (
	"database/sql"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2" // the driver

	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/parquetfmt"
	"github.com/colsst/colsst/rowgroup"
)

// DuckDB reads from Go what we write, in pages of both versions: the count, the
// sums and the keys of all columns.
func TestDuckDB(t *testing.T) {
	m := generate.Metrics5{Series: 3, Points: 2000}
	for version := 1; version <= 2; version++ {
		path := filepath.Join(t.TempDir(), "metrics5.parquet")
		want := writeMetrics(t, path, m, version)
		db, err := sql.Open("duckdb", "")
		if err != nil {
			t.Fatal(err)
		}
		const query = `SELECT count(*), count(DISTINCT series), sum("time")::BIGINT, sum(value::DOUBLE), sum("$write_time" % 1000000)::BIGINT,
			sum("$ttl")::BIGINT, sum("$expiry")::BIGINT FROM read_parquet(?)`
		var got totals
		if err := db.QueryRow(query, path).Scan(&got.rows, &got.keys, &got.times, &got.values, &got.written, &got.ttls, &got.expiries); err != nil {
			t.Fatal(err)
		}
		if math.Abs(got.values-want.values) < 1e-9*want.values { // in another order
			got.values = want.values
		}
		if got != want {
			t.Errorf("version %d: %+v, want %+v", version, got, want)
		}
		const one = `SELECT count(*) FROM read_parquet(?) WHERE series = 'dc1.rack00.host0001.cpu.user'`
		if err := db.QueryRow(one, path).Scan(&got.rows); err != nil || got.rows != int64(m.Points) {
			t.Errorf("%d rows of a key, want %d: %v", got.rows, m.Points, err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// totals are sums of columns: of write times within their seconds.
type totals struct {
	rows, keys, times, written, ttls, expiries int64
	values                                     float64
}

// writeMetrics writes m and says what a reader must find.
func writeMetrics(t *testing.T, path string, m generate.Metrics5, version int) (want totals) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := parquetfmt.NewWriter(f, m.Schema(), parquetfmt.WithRowMetadata(), parquetfmt.WithPageVersion(version), parquetfmt.WithRowGroups(512, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	b := rowgroup.NewBatch(m.Schema())
	for rows := m.Rows(); ; {
		ok, err := rows.Next(b)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		if err := w.Append(b); err != nil {
			t.Fatal(err)
		}
		meta := b.Meta()
		for i, v := range (*b.Int32s(timeColumn))[:b.Len()] {
			want.rows++
			want.times += int64(v)
			want.values += float64((*b.Float32s(valueColumn))[i])
			want.written += meta.WriteTimes[i] % 1_000_000
			want.ttls += int64(meta.TTLs[i])
			want.expiries += meta.Expiries[i]
		}
	}
	want.keys = int64(m.Series)
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return want
}
