package textfmt_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/textfmt"
)

// Rows of two hosts come in order of time; the table wants them by host.
func Example() {
	text := `time,host,cpu
2024-05-01 10:00:00,web2,0.25
2024-05-01 10:00:00,web1,0.5
2024-05-01 10:00:30.5,web2,
`
	o := textfmt.CSVOptions{Header: true}
	o.PartitionKey = []string{"host"}
	o.Time = &textfmt.TimeSpec{Column: "time"}
	o.AnyOrder = true
	r, err := textfmt.NewCSVReader(strings.NewReader(text), "cpu.csv", o)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range r.Choices() {
		fmt.Println(c.Column, c.Type)
	}
	rows, err := textfmt.Sort(r.Schema(), r)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rows.Close()
	w, err := textfmt.NewCSVWriter(os.Stdout, r.Schema(), textfmt.CSVWriteOptions{Columns: r.SourceColumns()})
	if err != nil {
		fmt.Println(err)
		return
	}
	b := rowgroup.NewBatch(r.Schema())
	for {
		more, err := rows.Next(b)
		if err != nil {
			fmt.Println(err)
			return
		}
		if !more {
			break
		}
		if err := w.Write(b); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := w.Flush(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// time timestamp(ms)
	// host text
	// cpu double
	// time,host,cpu
	// 2024-05-01T10:00:00.000Z,web1,0.5
	// 2024-05-01T10:00:00.000Z,web2,0.25
	// 2024-05-01T10:00:30.500Z,web2,
}

func ExampleScanner() {
	s, err := textfmt.NewScanner(strings.NewReader("a;\"b\r\n;c\"\n;\"\"\n"), "in.csv", ';')
	if err != nil {
		fmt.Println(err)
		return
	}
	for {
		fields, err := s.Scan()
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, f := range fields {
			fmt.Printf("%d:%d %q %t\n", f.Line, f.Column, f.Text, f.Quoted)
		}
	}
	// Output:
	// 1:1 "a" false
	// 1:3 "b\r\n;c" true
	// 3:1 "" false
	// 3:2 "" true
	// EOF
}
