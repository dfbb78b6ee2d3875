// Package table measures whole files: their size, writing, scans, ranges of
// rows and the latest row of a series, with ours and with other storage
// libraries for Go. Each subject runs in a process of its own.
package table

import (
	"slices"

	"github.com/colsst/colsst/rowgroup"
)

// writer takes the rows of metrics5 in order.
type writer interface {
	add(b *rowgroup.Batch) error
	finish() error
}

// reader answers queries for one goroutine; session makes one for another,
// closed by itself.
type reader interface {
	// scan reads everything, and sums the rows if it is asked to.
	scan(sum bool) (rows int64, checksum uint64, err error)
	// read decodes the rows of a series with times in [from, to] into memory of
	// its own, and copies them to out unless that is nil.
	read(key string, from, to int32, out *columns) (rows int, err error)
	latest(key string) (row, error)
	session() (reader, error)
	close() error
}

// subject is one way to store the table.
type subject struct {
	name  string
	write func(path string) (writer, error)
	open  func(path string) (reader, error)
	// load prepares reading, unmeasured: what stays in memory from then on.
	load func(path string) error
	// extra measures what only this subject knows.
	extra func(r reader, path string, add func(metric, unit string, v float64)) error

	ours      bool
	source    string // ours: where the bytes are read from
	level     string // ours: one below the highest
	irregular bool   // the rows, and so are answers of other sizes
}

// subjects lists all, ours first.
func subjects() []subject {
	return slices.Concat(ourSubjects(), []subject{
		parquetGo("parquet-go/default", 0), parquetGo("parquet-go/512", 512),
		arrowGo("arrow-go/default", 0), arrowGo("arrow-go/512", 512),
		pebbleTable("pebble-sst", false), pebbleTable("pebble-sst-split", true), pebbleDB(),
		goleveldb(),
	}, duckDB())
}

// id tells a subject from all others.
func (s *subject) id() string {
	id := s.name
	if s.source != "" {
		id += "@" + s.source
	}
	if s.level != "" {
		id += "@" + s.level
	}
	if s.irregular {
		id += "@irregular"
	}
	return id
}
