package cassandra_test

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/colsst/colsst/cassandra"
)

// Verify an SSTable, then read all its cells.
func Example() {
	s, err := cassandra.Open("testdata/nb/nb-1-big-Data.db")
	check(err)
	defer func() { check(s.Close()) }()
	report, err := s.Verify(context.Background())
	check(err)
	fmt.Println(report.Partitions, "partitions,", report.Rows, "rows,", report.Markers, "markers, in the order of", s.Order())

	scan, err := s.Scan()
	check(err)
	defer func() { check(scan.Close()) }()
	for {
		event, err := scan.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		check(err)
		switch event {
		case cassandra.PartitionBegin:
			fmt.Printf("key %x\n", scan.Partition().Key)
		case cassandra.ClusteringRow:
			for _, c := range scan.Row().Cells {
				fmt.Printf("  %x %s = %x, written at %d\n", scan.Row().Clustering, s.Header.Regular[c.Column].Name, c.Value, c.Timestamp)
			}
		}
	}
	// Output:
	// 2 partitions, 3 rows, 3 markers, in the order of byteordered
	// key 0001610000040000000700
	//   [00000001 7a] count = 0000000000000009, written at 1700000000000001
	//   [00000001 7a] note = 6869, written at 1700000000000001
	//   [00000001 7a] temp = 0000000000000009, written at 1700000000000001
	//   [00000001 ] count = 0000000000000009, written at 1700000000000001
	//   [00000001 ] note = , written at 1700000000000005
	//   [00000005 6b] temp = , written at 1700000000000006
	// key 0001610000040000000800
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
