package imports

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/textfmt"
)

// csvOptions are what a user of the tool would say of the text.
func csvOptions(k kind) textfmt.CSVOptions {
	o := textfmt.CSVOptions{Header: true}
	if k == metrics {
		o.PartitionKey = []string{"series"}
		o.Time = &textfmt.TimeSpec{Column: "time", Unit: rowgroup.Seconds, UnitSet: true}
		o.Types = map[string]rowgroup.Type{"value": rowgroup.Float}
		o.WriteTime, o.TTL, o.Expiry = "write_time", "ttl", "expiry"
	}
	return o
}

// importOurs keeps an access log in the order of the text.
func importOurs(j *job, to string) (rows int64, err error) {
	in, err := os.Open(j.CSV)
	if err != nil {
		return 0, err
	}
	defer func() { _ = in.Close() }() // only read
	r, err := textfmt.NewCSVReader(in, filepath.Base(j.CSV), csvOptions(j.Kind))
	if err != nil {
		return 0, err
	}
	defer func() { _ = r.Close() }() // only read
	return write(to, r.Schema(), r)
}

// sortOurs sorts the rows on their way.
func sortOurs(j *job, to string) (rows int64, err error) {
	in, err := os.Open(j.CSV)
	if err != nil {
		return 0, err
	}
	defer func() { _ = in.Close() }() // only read
	o := csvOptions(j.Kind)
	o.AnyOrder = true
	r, err := textfmt.NewCSVReader(in, filepath.Base(j.CSV), o)
	if err != nil {
		return 0, err
	}
	defer func() { _ = r.Close() }() // only read
	sorted, err := textfmt.Sort(r.Schema(), r, textfmt.WithTempDir(j.Dir), textfmt.WithMemory(32<<20))
	if err != nil {
		return 0, err
	}
	rows, err = write(to, r.Schema(), sorted)
	return rows, errors.Join(err, sorted.Close())
}

func write(to string, s *rowgroup.Schema, in rowgroup.Iter) (rows int64, err error) {
	f, err := os.Create(to)
	if err != nil {
		return 0, err
	}
	w, err := columnar.NewWriter(f, s)
	if err != nil {
		return 0, errors.Join(err, f.Close())
	}
	b := rowgroup.NewBatch(s)
	for {
		ok, err := in.Next(b)
		if err == nil && ok {
			rows += int64(b.Len())
			err = w.Append(b)
		}
		if err != nil {
			return rows, errors.Join(err, w.Abort(), f.Close())
		}
		if !ok {
			return rows, errors.Join(w.Close(), f.Close())
		}
	}
}
