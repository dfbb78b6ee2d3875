//go:build cgo && (linux || darwin) && (amd64 || arm64)

package imports

import (
	"database/sql"
	"errors"
	"strings"

	_ "github.com/duckdb/duckdb-go/v2" // the driver
)

func duckDB() []subject { return []subject{{duckName, importDuck}} }

// duckColumns are the columns with their types, which spares DuckDB to guess.
var duckColumns = map[kind]string{
	metrics:   "{'series': 'VARCHAR', 'time': 'INTEGER', 'value': 'FLOAT', 'write_time': 'BIGINT', 'ttl': 'INTEGER', 'expiry': 'BIGINT'}",
	accessLog: "{'ts': 'BIGINT', 'client': 'VARCHAR', 'method': 'VARCHAR', 'path': 'VARCHAR', 'proto': 'VARCHAR', 'status': 'BIGINT', 'bytes': 'BIGINT', 'referer': 'VARCHAR', 'agent': 'VARCHAR'}",
}

func importDuck(j *job, to string) (rows int64, err error) {
	db, err := sql.Open("duckdb", to+"?threads=1")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	path := "'" + strings.ReplaceAll(j.CSV, "'", "''") + "'"
	if _, err := db.Exec("CREATE TABLE t AS SELECT * FROM read_csv(" + path + ", header=true, delim=',', quote='\"', columns=" + duckColumns[j.Kind] + ")"); err != nil {
		return 0, err
	}
	if _, err := db.Exec("CHECKPOINT"); err != nil {
		return 0, err
	}
	err = db.QueryRow("SELECT count(*) FROM t").Scan(&rows)
	return rows, err
}
