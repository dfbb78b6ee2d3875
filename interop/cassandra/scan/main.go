// Command scan reads an SSTable by the package cassandra several times, every
// cell, and prints the rows, the sum of the cells' lengths and the CPU seconds of
// each time.
//
//	scan events|batches DATA N
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"

	"github.com/colsst/colsst/cassandra"
	"github.com/colsst/colsst/rowgroup"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: scan events|batches DATA N")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(how, path, times string) error {
	n, err := strconv.Atoi(times)
	if err != nil {
		return err
	}
	s, err := cassandra.Open(path)
	if err != nil {
		return err
	}
	scan := events
	if how == "batches" {
		scan = batches
	}
	for range n {
		before := cpu()
		rows, bytes, err := scan(s)
		if err != nil {
			return err
		}
		fmt.Printf("%d %d %.2f\n", rows, bytes, cpu()-before)
	}
	return s.Close()
}

func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(u.Utime) + seconds(u.Stime)
}

func events(s *cassandra.SSTable) (rows, bytes int, err error) {
	r, err := s.Scan()
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return rows, bytes, nil
		}
		if err != nil {
			return 0, 0, err
		}
		if e != cassandra.ClusteringRow {
			continue
		}
		rows++
		row := r.Row()
		for i := range row.Cells {
			bytes += len(row.Cells[i].Value)
		}
	}
}

// batches looks at the columns of what conversion and queries start from.
func batches(s *cassandra.SSTable) (rows, bytes int, err error) {
	src, err := cassandra.NewSource(s, nil)
	if err != nil {
		return 0, 0, err
	}
	it := src.Scan(context.Background(), rowgroup.ScanOptions{})
	defer func() { err = errors.Join(err, it.Close()) }()
	b := rowgroup.NewBatch(src.Schema())
	for {
		ok, err := it.Next(b)
		if err != nil || !ok {
			return rows, bytes, err
		}
		rows += b.Len()
	}
}
