// Command show prints the rows of flat Parquet files, read by the package
// parquetfmt, in the text that README.md describes.
//
//	show LIST
//
// LIST has two lines for each file: its path, and the folder for colsst.txt or,
// where it cannot be read, colsst.error.
package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/colsst/colsst/parquetfmt"
	"github.com/colsst/colsst/rowgroup"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: show LIST")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(list string) error {
	text, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for ; len(lines) >= 2; lines = lines[2:] {
		name, content := "colsst.txt", []byte(nil)
		if content, err = show(lines[0]); err != nil {
			name, content = "colsst.error", []byte(err.Error()+"\n")
		}
		if err := os.WriteFile(filepath.Join(lines[1], name), content, 0o666); err != nil {
			return err
		}
	}
	return nil
}

func show(path string) (out []byte, err error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := parquetfmt.Open(bytes.NewReader(file), int64(len(file)), parquetfmt.WithName(path))
	if err != nil {
		return nil, err
	}
	s := r.Schema()
	for i := range s.NumColumns() {
		out = append(out, s.Column(i).Name+"\t"...)
	}
	out[len(out)-1] = '\n'
	it := r.Scan(context.Background(), rowgroup.ScanOptions{})
	defer func() { err = errors.Join(err, it.Close()) }()
	b := rowgroup.NewBatch(s)
	var value []byte
	for {
		more, err := it.Next(b)
		if err != nil || !more {
			return out, err
		}
		for row := range b.Len() {
			for col := range s.NumColumns() {
				v, ok := b.AppendValue(value[:0], col, row)
				if value = v; !ok {
					out = append(out, "null\t"...)
					continue
				}
				if out, err = appendValue(out, s.Column(col).Type, v); err != nil {
					return nil, err
				}
				out = append(out, '\t')
			}
			out[len(out)-1] = '\n'
		}
	}
}

// appendValue appends a value of a flat column.
func appendValue(dst []byte, t rowgroup.Type, v []byte) ([]byte, error) {
	integer, _ := rowgroup.IntOf(t, v)
	switch t.Kind {
	case rowgroup.KindBoolean:
		return fmt.Append(dst, integer != 0), nil
	case rowgroup.KindTinyint, rowgroup.KindSmallint, rowgroup.KindInt, rowgroup.KindBigint, rowgroup.KindUint8, rowgroup.KindUint16, rowgroup.KindUint32:
		return fmt.Append(dst, integer), nil
	case rowgroup.KindUint64:
		return fmt.Append(dst, uint64(integer)), nil
	case rowgroup.KindFloat:
		return append(dst, "f"+hex.EncodeToString(v)...), nil
	case rowgroup.KindDouble:
		return append(dst, "d"+hex.EncodeToString(v)...), nil
	case rowgroup.KindText, rowgroup.KindASCII:
		return append(dst, "s"+hex.EncodeToString(v)...), nil
	case rowgroup.KindBlob, rowgroup.KindUUID:
		return append(dst, "x"+hex.EncodeToString(v)...), nil
	case rowgroup.KindDate:
		return fmt.Append(dst, "D", integer), nil
	case rowgroup.KindTime:
		return fmt.Append(dst, "T", integer), nil
	case rowgroup.KindTimestamp:
		zeros := map[rowgroup.Unit]string{rowgroup.Seconds: "000000000", rowgroup.Millis: "000000", rowgroup.Micros: "000", rowgroup.Nanos: ""}[t.Unit]
		return fmt.Append(dst, "t", integer, zeros), nil
	}
	return nil, fmt.Errorf("values of %s", t)
}
