package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/colsst/colsst/cassandra"
	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// How a comparison comes out.
const (
	equal   = "equal"
	differs = "differs"
	refused = "refused" // by one of the two or both, as is known
)

// compare reads an SSTable and compares it with theirs, Cassandra's text of it;
// ours is our text.
func compare(path string, theirs []byte, x exception) (outcome, detail string, ours []byte) {
	ours, about, failed := read(path)
	refusal := ""
	if at := strings.LastIndex("\n"+string(theirs), "\nerror "); at >= 0 {
		refusal = strings.TrimSpace(string(theirs[at:]))
	}
	switch {
	case (refusal != "") != x.cassandra():
		return differs, "Cassandra: " + refusal, ours
	case (failed != nil) != x.colsst():
		return differs, fmt.Sprintf("colsst: %v", failed), ours
	case (about.warnings != nil) != (x.who == "warning"):
		return differs, strings.Join(about.warnings, "; "), ours
	case x.who == "both" || x.who == "cassandra":
		return refused, "by " + x.who + ": " + x.why, ours
	case x.who == "colsst": // up to where it is
		theirs = theirs[:min(len(ours), len(theirs))]
	}
	overflows, detail := difference(string(ours), string(theirs), about.overflowed)
	switch {
	case detail != "":
		return differs, detail, ours
	case x.who == "colsst":
		return refused, "by colsst: " + x.why, ours
	case overflows > 0:
		about.notes = append(about.notes, fmt.Sprintf("but for %d times past 2038, which Cassandra takes for invalid", overflows))
	case x.who == "warning":
		about.notes = append(about.notes, x.why)
	}
	return equal, strings.Join(about.notes, "; "), ours
}

// about is what else is to be said of an SSTable.
type about struct {
	overflowed bool // it can hold overflowed deletion times
	warnings   []string
	notes      []string
}

// read reads an SSTable in every way: its events as text, all components
// against one another, and through a colsst file.
func read(path string) (text []byte, x about, err error) {
	s, err := cassandra.Open(path)
	if err != nil {
		return nil, x, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	x.overflowed = s.Version.LocalDeletionTime(1<<31) < 0
	var b bytes.Buffer
	if err = printTable(&b, s); err != nil {
		return b.Bytes(), x, err
	}
	rep, err := s.Verify(context.Background())
	if err != nil {
		return b.Bytes(), x, fmt.Errorf("verify: %w", err)
	}
	x.warnings = rep.Warnings
	x.notes = append(x.notes, chunks(s.Data))
	if err = findKeys(s); err != nil {
		return b.Bytes(), x, err
	}
	err = throughFile(s)
	if errors.Is(err, encoding.ErrUnsupported) {
		x.notes = append(x.notes, "not as rows: "+err.Error())
		err = nil
	}
	return b.Bytes(), x, err
}

// findKeys looks up every partition by its key, unless the partitioner has none.
func findKeys(s *cassandra.SSTable) (err error) {
	r, err := s.Scan()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if e != cassandra.PartitionBegin {
			continue
		}
		p := r.Partition()
		x, err := s.Find(p.Key)
		if errors.Is(err, encoding.ErrUnsupported) || errors.Is(err, fs.ErrNotExist) { // a local partitioner, no index
			return nil
		}
		if err != nil {
			return fmt.Errorf("key %x: %w", p.Key, err)
		}
		if x.Position != p.Position {
			return fmt.Errorf("key %x is found at %d, not at %d", p.Key, x.Position, p.Position)
		}
	}
}

// chunks says how the data is compressed.
func chunks(d *cassandra.DataFile) string {
	c := d.Compression
	if c == nil {
		return "not compressed"
	}
	raw := 0
	for i, from := range c.Offsets {
		to := d.Size
		if i+1 < len(c.Offsets) {
			to = c.Offsets[i+1]
		}
		if to-from-4 >= int64(c.MaxCompressedLength) { // without the checksum
			raw++
		}
	}
	return fmt.Sprintf("%s, %d of %d chunks raw", c.Compressor, raw, len(c.Offsets))
}

// throughFile writes the rows to a colsst file, and the body from that file,
// which must be the one that was read.
func throughFile(s *cassandra.SSTable) error {
	src, err := cassandra.NewSource(s, nil)
	if err != nil {
		return err
	}
	var file bytes.Buffer
	w, err := columnar.NewWriter(&file, src.Schema())
	if err != nil {
		return err
	}
	if err := each(src, w.Append); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	table, err := columnar.OpenBytes(file.Bytes())
	if err != nil {
		return err
	}
	from, err := src.Provenance(context.Background(), "")
	if err != nil {
		return err
	}
	var body bytes.Buffer
	if err := from.WriteBody(context.Background(), &body, table); err != nil {
		return err
	}
	stream, err := s.Data.Stream(0, false)
	if err != nil {
		return err
	}
	stored, err := io.ReadAll(stream)
	if err = errors.Join(err, stream.Close()); err != nil {
		return err
	}
	if !bytes.Equal(stored, body.Bytes()) {
		return errors.New("the body written from a colsst file is another")
	}
	return nil
}

// each does something with all batches of a source.
func each(src rowgroup.Source, do func(*rowgroup.Batch) error) (err error) {
	it := src.Scan(context.Background(), rowgroup.ScanOptions{})
	defer func() { err = errors.Join(err, it.Close()) }()
	b := rowgroup.NewBatch(src.Schema())
	for {
		more, err := it.Next(b)
		if err != nil || !more {
			return err
		}
		if err := do(b); err != nil {
			return err
		}
	}
}

// invalidTime is what Cassandra 5.0 makes of local deletion times before oa
// that are negative, or that it finds so since it adds the least one in the
// header with 64 bits, where the writer subtracted it with 32.
const invalidTime = "4294967294"

// difference says where two texts differ first. With overflowed it passes over
// invalid times, and counts them.
func difference(ours, theirs string, overflowed bool) (overflows int, detail string) {
	a, b := strings.Split(ours, "\n"), strings.Split(theirs, "\n")
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			return 0, fmt.Sprintf("line %d: Cassandra goes on: %.100s", i+1, b[i])
		case i >= len(b):
			return 0, fmt.Sprintf("line %d: Cassandra has ended: %.100s", i+1, a[i])
		case a[i] == b[i]:
			continue
		}
		x, y := strings.Split(a[i], " "), strings.Split(b[i], " ")
		same := overflowed && len(x) == len(y)
		for k := 0; same && k < len(x); k++ {
			if x[k] != y[k] {
				_, err := strconv.ParseInt(x[k], 10, 64)
				same = err == nil && y[k] == invalidTime
				overflows++
			}
		}
		if !same {
			return 0, fmt.Sprintf("line %d: %.100s; Cassandra: %.100s", i+1, a[i], b[i])
		}
	}
	return overflows, ""
}
