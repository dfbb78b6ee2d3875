// Command faults damages a table file in every place and looks at what its
// readers say. For each damaged copy it opens the file, verifies it, scans it
// and reads each partition forwards and backwards, and its latest row. The
// answer must be an error, or the very rows of the file: a different answer is
// wrong. A panic counts apart.
//
//	go run ./internal/faults --file small.csst --json report.json
//
// At last it walks the file as if its footer were gone.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/textfmt"
)

// Report is what a run found.
type Report struct {
	File      string   `json:"file"`
	Bytes     int      `json:"bytes"`
	Cases     int      `json:"cases"`     // damaged copies
	Detected  int      `json:"detected"`  // answered with an error
	Identical int      `json:"identical"` // answered with the rows of the file
	Wrong     int      `json:"wrong"`     // answered otherwise
	Panics    int      `json:"panics"`
	Walk      Walk     `json:"walk"`
	Examples  []string `json:"examples,omitempty"` // of wrong answers and panics
}

// Walk is what was found without the footer.
type Walk struct {
	RowGroups int64 `json:"row_groups"`
	Found     int64 `json:"found"`
	Rows      int64 `json:"rows"`
	RowsFound int64 `json:"rows_found"`
	Gaps      int   `json:"gaps"`
}

func main() {
	file := flag.String("file", "", "a small table file")
	out := flag.String("json", "-", "where the report goes, - for stdout")
	flag.Parse()
	if *file == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	r, err := run(*file)
	if err == nil {
		err = write(r, *out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(4)
	}
	if r.Wrong+r.Panics > 0 || r.Walk.Found != r.Walk.RowGroups || r.Walk.RowsFound != r.Walk.Rows {
		os.Exit(1)
	}
}

func write(r *Report, out string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if out == "-" {
		_, err = os.Stdout.Write(b)
		return err
	}
	return os.WriteFile(out, b, 0o644)
}

func run(path string) (*Report, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	whole, keys, err := sound(data)
	if err != nil {
		return nil, fmt.Errorf("%s is not sound to begin with: %w", path, err)
	}
	r := &Report{File: path, Bytes: len(data)}
	damaged := make([]byte, len(data))
	for i := range data {
		for _, flip := range []byte{1 << (i % 8), 0xff} {
			copy(damaged, data)
			damaged[i] ^= flip
			r.judge(fmt.Sprintf("byte %d ^ %#02x", i, flip), damaged, whole, keys)
		}
		copy(damaged, data)
		r.judge(fmt.Sprintf("cut at %d", i), damaged[:i], whole, keys)
	}
	r.Walk, err = walk(data)
	return r, err
}

// sound reads an undamaged file: what each way of reading answers, and its
// keys.
func sound(data []byte) ([]answer, [][]byte, error) {
	var keys [][]byte
	rd, err := columnar.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = rd.Close() }()
	for b, err := range rd.All(context.Background(), rowgroup.ScanOptions{}) {
		if err != nil {
			return nil, nil, err
		}
		for p := range b.NumPartitions() {
			if !b.Partition(p).Continued {
				keys = append(keys, bytes.Clone(b.Key(p)))
			}
		}
	}
	answers := read(data, keys)
	for _, a := range answers {
		if a.err != nil {
			return nil, nil, a.err
		}
	}
	return answers, keys, nil
}

// judge reads a damaged copy and counts the outcome.
func (r *Report) judge(what string, data []byte, whole []answer, keys [][]byte) {
	r.Cases++
	answers, panicked := try(data, keys)
	if panicked != "" {
		r.Panics++
		r.example(what + ": " + panicked)
		return
	}
	failed := false
	for i, a := range answers {
		switch {
		case errors.Is(a.err, encoding.ErrCorrupt), errors.Is(a.err, encoding.ErrUnsupported):
			failed = true
		case a.err != nil, a.rows != whole[i].rows:
			r.Wrong++
			r.example(fmt.Sprintf("%s: reading %d: %v", what, i, a.err))
			return
		}
	}
	if failed {
		r.Detected++
	} else {
		r.Identical++
	}
}

func (r *Report) example(s string) {
	if len(r.Examples) < 20 {
		r.Examples = append(r.Examples, s)
	}
}

func try(data []byte, keys [][]byte) (answers []answer, panicked string) {
	defer func() {
		if v := recover(); v != nil {
			panicked = fmt.Sprintf("%v\n%s", v, debug.Stack())
		}
	}()
	return read(data, keys), ""
}

// answer is what one way of reading gave: a digest of all facts, or an error.
type answer struct {
	rows [sha256.Size]byte
	err  error
}

// read reads in every way.
func read(data []byte, keys [][]byte) []answer {
	ctx := context.Background()
	rd, err := columnar.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return []answer{{err: err}}
	}
	defer func() { _ = rd.Close() }()
	answers := []answer{{}, {err: rd.Verify(ctx, columnar.VerifyValues, func(error) {})}}
	add := func(it rowgroup.Iter) { answers = append(answers, dump(rd.Schema(), it)) }
	add(rd.Scan(ctx, rowgroup.ScanOptions{}))
	add(rd.Scan(ctx, rowgroup.ScanOptions{Desc: true}))
	for _, k := range keys {
		p, err := rd.Partition(ctx, k)
		if err != nil { // "not found" is a wrong answer too
			answers = append(answers, answer{err: err}, answer{err: err}, answer{err: err})
			continue
		}
		var all rowgroup.Bound
		add(p.Range(ctx, all, all, rowgroup.ScanOptions{}))
		add(p.Range(ctx, all, all, rowgroup.ScanOptions{Desc: true, Live: true}))
		add(p.Latest(ctx, 1, rowgroup.ScanOptions{Live: true}))
	}
	return answers
}

func dump(s *rowgroup.Schema, it rowgroup.Iter) (a answer) {
	h := sha256.New()
	b := rowgroup.NewBatch(s)
	w := textfmt.NewDumpWriter(h, s)
	for {
		ok, err := it.Next(b)
		if err == nil && ok {
			err = w.Write(b)
		}
		if err != nil || !ok {
			a.err = errors.Join(err, w.Flush(), it.Close())
			h.Sum(a.rows[:0])
			return a
		}
	}
}

// walk reads the file without its footer and compares with its counts.
func walk(data []byte) (w Walk, err error) {
	ctx := context.Background()
	rd, err := columnar.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return w, err
	}
	defer func() { _ = rd.Close() }()
	w.RowGroups, w.Rows = rd.RowGroups(), rd.Rows()
	headless := data[:len(data)-trailer]
	s, err := columnar.Salvage(ctx, bytes.NewReader(headless), int64(len(headless)))
	if err != nil {
		return w, err
	}
	defer func() { _ = s.Close() }()
	b := rowgroup.NewBatch(s.Schema())
	for {
		ok, err := s.Next(b)
		if err != nil {
			return w, err
		}
		if !ok {
			break
		}
		w.RowsFound += int64(b.Len() - len(*b.Markers()))
	}
	w.Found, w.Gaps = s.Report().RowGroups, len(s.Report().Gaps)
	return w, nil
}

// trailer is the length of the part of the file that says where its footer is.
const trailer = 32
