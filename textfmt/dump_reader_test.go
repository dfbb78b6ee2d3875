package textfmt

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/rowgroup"
)

// dumpOf writes all batches of an iterator.
func dumpOf(t *testing.T, it rowgroup.Iter, s *rowgroup.Schema) string {
	var out bytes.Buffer
	w := NewDumpWriter(&out, s)
	w.Exact = true
	for b := rowgroup.NewBatch(s); ; {
		more, err := it.Next(b)
		require.NoError(t, err)
		if !more {
			break
		}
		require.NoError(t, b.Check())
		require.NoError(t, w.Write(b))
	}
	require.NoError(t, w.Flush())
	require.NoError(t, it.Close())
	return out.String()
}

// The tables of every kind come back from their dumps, bit for bit: what is
// written of them again is equal.
func TestDumpReader(t *testing.T) {
	files, err := filepath.Glob("../testdata/golden/v*/*.csst")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			f, err := os.Open(path)
			require.NoError(t, err)
			defer f.Close()
			info, err := f.Stat()
			require.NoError(t, err)
			r, err := columnar.Open(f, info.Size())
			require.NoError(t, err)
			s := r.Schema()
			want := dumpOf(t, r.Scan(context.Background(), rowgroup.ScanOptions{}), s)
			require.Equal(t, want, dumpOf(t, NewDumpReader(strings.NewReader(want), "d", s), s))
		})
	}
}

func TestDumpReaderErrors(t *testing.T) {
	s := staticTable(t)
	const head = `{"type":"partition","key":{"k":"a"},"key_hex":"61"}` + "\n"
	for text, want := range map[string]string{
		"x": "d:1:1: expected an object as dump writes it",
		`{"type":"row","clustering":{"t":1,"u":1},"cells":{}}`:                                                   "a partition of one table",
		head + `{"type":"file","file":"b"}`:                                                                      "d:2:1: expected a partition of one table",
		head + `{"type":"row","clustering":{"t":1},"cells":{}}`:                                                  "a value of clustering column u",
		head + `{"type":"row","clustering":{"t":"x","u":1},"cells":{}}`:                                          `a value of column "t", int`,
		head + `{"type":"row","clustering":{"t":1,"u":1},"cells":{"z":{"value":1}}}`:                             "cells of columns of the schema",
		head + `{"type":"row","clustering":{"t":1,"u":1},"cells":{"v":{"value":1,"live":true,"expiring":true}}}`: "a cell",
		head + `{"type":"row","clustering":{"t":1,"u":1},"cells":{"v":{}}}`:                                      "a cell",
		head + `{"type":"row","clustering":{"t":1,"u":1},"odd":1,"cells":{}}`:                                    "unknown field",
		head + `{"type":"marker","kind":"incl_start","clustering":{"t":1}}`:                                      "a kind of marker",
		`{"type":"partition","key":{"k":"a"},"key_hex":"6"}`:                                                     "a key in hexadecimal",
	} {
		d := NewDumpReader(strings.NewReader(text), "d", s)
		_, err := d.Next(rowgroup.NewBatch(s))
		require.ErrorContains(t, err, want, text)
		var syntax *SyntaxError
		require.ErrorAs(t, err, &syntax)
	}
}

// No text makes the reader panic, and what it takes is written as it was read.
func FuzzDumpReader(f *testing.F) {
	s := func(t require.TestingT) *rowgroup.Schema { return staticTable(t) }
	f.Add(`{"type":"partition","key":{"k":"a"},"key_hex":"61","deletion":{"marked_for_delete_at":5,"local_deletion_time":7},"static":{"liveness":{"write_time":1},"cells":{"s":{"value":"x"}}}}
{"type":"marker","kind":"incl_start","clustering":{"t":1},"open":{"marked_for_delete_at":5,"local_deletion_time":7}}
{"type":"row","clustering":{"t":1,"u":null},"liveness":{"write_time":0,"ttl":60,"expiry":9},"deletion":{"marked_for_delete_at":5,"local_deletion_time":7,"shadowable":true},"cells":{"v":{"deleted":true,"write_time":3,"local_deletion_time":8},"w":{"value":"z","live":true}}}
`)
	f.Add(`{"type":"partition","key":{},"key_hex":""}` + "\n" + `{"type":"row","clustering":{"t":{"hex":""},"u":2},"cells":{"w":{"value":{"hex":"ff"},"expiring":true,"ttl":1,"expiry":2}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		schema := s(t)
		read := func(text string) (string, bool) {
			d := NewDumpReader(strings.NewReader(text), "d", schema)
			var out bytes.Buffer
			w := NewDumpWriter(&out, schema)
			w.Exact = true
			for b := rowgroup.NewBatch(schema); ; {
				more, err := d.Next(b)
				if err != nil {
					return "", false
				}
				if !more {
					break
				}
				if b.Check() != nil || w.Write(b) != nil { // what the writer of a table refuses
					return "", false
				}
			}
			require.NoError(t, w.Flush())
			return out.String(), true
		}
		once, ok := read(text)
		if !ok {
			return
		}
		twice, ok := read(once)
		require.True(t, ok, once)
		require.Equal(t, once, twice)
	})
}
