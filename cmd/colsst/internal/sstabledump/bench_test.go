package sstabledump

import (
	"io"
	"os"
	"testing"

	"github.com/colsst/colsst/cassandra"
)

// BenchmarkDump dumps the SSTable that the variable SSTABLE names.
func BenchmarkDump(b *testing.B) {
	path := os.Getenv("SSTABLE")
	if path == "" {
		b.Skip("SSTABLE is not set")
	}
	s, err := cassandra.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := Dump(b.Context(), io.Discard, s, &Options{Lines: true}); err != nil {
			b.Fatal(err)
		}
	}
}
