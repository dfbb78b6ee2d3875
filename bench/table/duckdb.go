//go:build cgo && (linux || darwin) && (amd64 || arm64)

package table

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/colsst/colsst/bench/measure"
	"github.com/colsst/colsst/rowgroup"
)

// duckDB is a table in a file of DuckDB, with one thread, read through
// database/sql. It needs a C compiler's linker.
func duckDB() []subject {
	return []subject{{
		name: "duckdb", write: newDuckWriter,
		open: func(path string) (reader, error) {
			db, err := sql.Open("duckdb", path+"?threads=1")
			if err != nil {
				return nil, err
			}
			return newDuckReader(db, true)
		},
		extra: func(r reader, path string, add func(metric, unit string, v float64)) error {
			// The engine without the way to Go, as an aggregate.
			d := r.(*duckReader)
			var rows, x float64
			if err := d.conn.QueryRowContext(context.Background(), "SELECT count(*) FROM t").Scan(&rows); err != nil {
				return err
			}
			start := measure.CPU()
			err := d.conn.QueryRowContext(context.Background(), "SELECT sum(time)+sum(value)+sum(wrote)+sum(ttl) FROM t").Scan(&x)
			add("engine_scan_mpts_per_cpu_s", "", rows/(measure.CPU()-start).Seconds()/1e6)
			return err
		},
	}}
}

type duckWriter struct {
	c    *duckdb.Connector
	conn driver.Conn
	app  *duckdb.Appender
}

func newDuckWriter(path string) (writer, error) {
	c, err := duckdb.NewConnector(path+"?threads=1", nil)
	if err != nil {
		return nil, err
	}
	conn, err := c.Connect(context.Background())
	if err != nil {
		return nil, err
	}
	const create = "CREATE TABLE t(series VARCHAR, time INTEGER, value FLOAT, wrote BIGINT, ttl INTEGER)"
	if _, err := conn.(driver.ExecerContext).ExecContext(context.Background(), create, nil); err != nil {
		return nil, err
	}
	app, err := duckdb.NewAppenderFromConn(conn, "", "t")
	return &duckWriter{c, conn, app}, err
}

func (w *duckWriter) add(b *rowgroup.Batch) error {
	for p := range parts(b) {
		key := string(p.key)
		for i, t := range p.time {
			if err := w.app.AppendRow(key, t, p.value[i], p.wrote[i], p.ttl[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *duckWriter) finish() error {
	if err := errors.Join(w.app.Close(), w.conn.Close()); err != nil {
		return err
	}
	db := sql.OpenDB(w.c)
	_, err := db.Exec("CHECKPOINT")
	return errors.Join(err, db.Close(), w.c.Close())
}

type duckReader struct {
	db           *sql.DB
	own          bool
	conn         *sql.Conn
	between, one *sql.Stmt
	rows         columns
}

func newDuckReader(db *sql.DB, own bool) (r *duckReader, err error) {
	ctx := context.Background()
	r = &duckReader{db: db, own: own}
	if r.conn, err = db.Conn(ctx); err != nil {
		return nil, err
	}
	if r.between, err = r.conn.PrepareContext(ctx, "SELECT time, value, wrote, ttl FROM t WHERE series = ? AND time BETWEEN ? AND ? ORDER BY time"); err != nil {
		return nil, err
	}
	r.one, err = r.conn.PrepareContext(ctx, "SELECT time, value, wrote, ttl FROM t WHERE series = ? ORDER BY time DESC LIMIT 1")
	return r, err
}

func (r *duckReader) scan(sum bool) (n int64, checksum uint64, err error) {
	rows, err := r.conn.QueryContext(context.Background(), "SELECT series, time, value, wrote, ttl FROM t")
	if err != nil {
		return 0, 0, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what failed
	var key sql.RawBytes
	var x row
	for rows.Next() {
		if err := rows.Scan(&key, &x.time, &x.value, &x.wrote, &x.ttl); err != nil {
			return n, checksum, err
		}
		n++
		if sum {
			checksum += x.sum()
		}
	}
	return n, checksum, rows.Err()
}

func (r *duckReader) read(key string, from, to int32, out *columns) (int, error) {
	if out == nil {
		out = &r.rows
		out.reset()
	}
	rows, err := r.between.QueryContext(context.Background(), key, from, to)
	if err != nil {
		return 0, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what failed
	var x row
	for rows.Next() {
		if err := rows.Scan(&x.time, &x.value, &x.wrote, &x.ttl); err != nil {
			return 0, err
		}
		out.push(x)
	}
	return len(out.time), rows.Err()
}

func (r *duckReader) latest(key string) (x row, err error) {
	err = r.one.QueryRowContext(context.Background(), key).Scan(&x.time, &x.value, &x.wrote, &x.ttl)
	return x, err
}

func (r *duckReader) session() (reader, error) { return newDuckReader(r.db, false) }

func (r *duckReader) close() error {
	err := errors.Join(r.between.Close(), r.one.Close(), r.conn.Close())
	if r.own {
		err = errors.Join(err, r.db.Close())
	}
	return err
}
