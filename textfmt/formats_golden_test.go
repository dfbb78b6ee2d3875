package textfmt

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

// TestFormatsGolden shows what becomes of the other formats.
//
//	read [time=SPEC] [type=a:TYPE,...] [measurement=NAME] [skip]
//
// sniffs the format, shows the columns and the rows sorted, in all formats that
// can be written.
func TestFormatsGolden(t *testing.T) {
	datadriven.RunTest(t, "testdata/formats", func(t *testing.T, d *datadriven.TestData) string {
		var out strings.Builder
		o := TableOptions{AnyOrder: true, Types: map[string]rowgroup.Type{}}
		lines := LineProtocolWriteOptions{Precision: rowgroup.Nanos}
		for _, a := range d.CmdArgs {
			switch a.Key {
			case "time":
				spec, err := ParseTimeSpec(a.Vals[0])
				require.NoError(t, err)
				o.Time = &spec
			case "type":
				for _, v := range a.Vals {
					name, typ, _ := strings.Cut(v, ":")
					var err error
					o.Types[name], err = rowgroup.ParseType(typ)
					require.NoError(t, err)
				}
			case "measurement":
				lines.Measurement = a.Vals[0]
			case "skip":
				o.OnError = func(e *SyntaxError) bool {
					fmt.Fprintf(&out, "skipped: %v\n", e)
					return true
				}
			}
		}
		in := d.Input + "\n"
		format := Sniff([]byte(in))
		fmt.Fprintf(&out, "%s\n", format)
		read := map[Format]func() (*Reader, error){
			NDJSON:       func() (*Reader, error) { return NewNDJSONReader(strings.NewReader(in), "in", o) },
			LineProtocol: func() (*Reader, error) { return NewLineProtocolReader(strings.NewReader(in), "in", o) },
			Prometheus:   func() (*Reader, error) { return NewPrometheusReader(strings.NewReader(in), "in", false, o) },
			OpenMetrics:  func() (*Reader, error) { return NewPrometheusReader(strings.NewReader(in), "in", true, o) },
		}[format]
		r, err := read()
		if err != nil {
			return out.String() + err.Error()
		}
		s := r.Schema()
		for _, c := range r.Choices() {
			why := c.Why
			if c.Given {
				why = "given"
			}
			fmt.Fprintf(&out, "  %s %s, %s: %s\n", c.Column, c.Type, s.Role(s.Lookup(c.Column)), why)
		}
		it, err := Sort(s, r)
		if err != nil {
			return out.String() + err.Error()
		}
		b := rowgroup.NewBatch(s)
		_, err = it.Next(b)
		require.NoError(t, err)
		type writer interface {
			Write(*rowgroup.Batch) error
			Flush() error
		}
		for _, w := range []struct {
			name string
			make func(io.Writer) (writer, error)
		}{
			{"csv", func(w io.Writer) (writer, error) {
				return NewCSVWriter(w, s, CSVWriteOptions{Columns: r.SourceColumns()})
			}},
			{"ndjson", func(w io.Writer) (writer, error) {
				return NewNDJSONWriter(w, s, NDJSONWriteOptions{Columns: r.SourceColumns(), OmitNull: true})
			}},
			{"line-protocol", func(w io.Writer) (writer, error) { return NewLineProtocolWriter(w, s, lines) }},
		} {
			fmt.Fprintf(&out, "-- %s\n", w.name)
			w, err := w.make(&out)
			if err == nil {
				err = w.Write(b)
			}
			if err == nil {
				err = w.Flush()
			}
			if err != nil {
				fmt.Fprintf(&out, "error: %v\n", err)
			}
		}
		return out.String()
	})
}
