package cli

import (
	"io"
	"strconv"
	"strings"

	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/textfmt"
)

// newPrinter is a sink that prints rows in a format: the named columns, whose
// numbers are columns.
func newPrinter(format string, out *output, s *rowgroup.Schema, names []string, columns []int) (sink, error) {
	v := rowValues{schema: s, columns: columns}
	switch format {
	case "csv":
		return newTextSink(out, s, textOut{format: formatCSV, columns: names})
	case "ndjson", "json":
		p := &jsonPrinter{out: out, values: v, array: format == "json"}
		for _, n := range names {
			p.names = append(p.names, textfmt.AppendJSON(nil, rowgroup.Text, []byte(n)))
		}
		return p, nil
	}
	p := &tablePrinter{out: out, values: v, grid: grid{align: strings.Repeat("l", len(names))}}
	var header []string
	for _, n := range names {
		header = append(header, visible(n))
	}
	p.grid.add(header...)
	return p, nil
}

// rowValues walks through the rows of batches.
type rowValues struct {
	schema  *rowgroup.Schema
	columns []int
	shared  map[int][]byte // of partition key and static columns; nil: null
	row     [][]byte
	ends    []int
	buf     []byte
}

// each calls f with the serialised values of every row, nil where there is
// none. They are valid until f returns.
func (v *rowValues) each(b *rowgroup.Batch, f func(row [][]byte) error) error {
	if v.shared == nil {
		v.shared = map[int][]byte{}
	}
	for p := range b.NumPartitions() {
		if err := v.partition(b, p); err != nil {
			return err
		}
		from, to := b.PartitionRows(p)
		if h := b.Partition(p); from == to && h.Static == rowgroup.StaticFull && !h.Continued {
			if err := f(v.values(b, -1)); err != nil {
				return err
			}
		}
		for i := from; i < to; i++ {
			if b.MarkerAt(i) != nil {
				continue
			}
			if err := f(v.values(b, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// partition takes what all rows of a partition share.
func (v *rowValues) partition(b *rowgroup.Batch, p int) error {
	parts, err := rowgroup.SplitKey(v.schema.KeyTypes(), b.Key(p))
	if err != nil {
		return err
	}
	for i := range v.schema.Columns(rowgroup.PartitionKey) {
		v.shared[i] = append([]byte{}, parts[i]...)
	}
	if b.Partition(p).Continued {
		return nil
	}
	from, to := v.schema.Range(rowgroup.Static)
	for col := from; col < to; col++ {
		v.shared[col] = nil
		if b.Partition(p).Static == rowgroup.StaticFull {
			if x, ok := b.AppendValue([]byte{}, col, p); ok {
				v.shared[col] = x
			}
		}
	}
	return nil
}

// values are those of row i; with i < 0 only of what its partition shares.
func (v *rowValues) values(b *rowgroup.Batch, i int) [][]byte {
	v.row, v.ends, v.buf = v.row[:0], v.ends[:0], v.buf[:0]
	for _, col := range v.columns {
		ok := false
		switch v.schema.Role(col) {
		case rowgroup.PartitionKey, rowgroup.Static:
			var x []byte
			x, ok = v.shared[col], v.shared[col] != nil
			v.buf = append(v.buf, x...)
		default:
			if i >= 0 {
				v.buf, ok = b.AppendValue(v.buf, col, i)
			}
		}
		end := len(v.buf)
		if !ok {
			end = -1
		}
		v.ends = append(v.ends, end)
	}
	last := 0
	for _, end := range v.ends {
		if end < 0 {
			v.row = append(v.row, nil)
			continue
		}
		v.row = append(v.row, v.buf[last:end:end])
		last = end
	}
	return v.row
}

// jsonPrinter prints an object a row: a line each, or all in an array.
type jsonPrinter struct {
	out    *output
	values rowValues
	names  [][]byte
	array  bool
	rows   int64
	buf    []byte
}

func (p *jsonPrinter) write(b *rowgroup.Batch) error {
	return p.values.each(b, func(row [][]byte) error {
		p.buf = p.buf[:0]
		if p.array && p.rows == 0 {
			p.buf = append(p.buf, "[\n"...)
		} else if p.array {
			p.buf = append(p.buf, ",\n"...)
		}
		p.rows++
		sep := byte('{')
		for i, x := range row {
			p.buf = append(append(append(p.buf, sep), p.names[i]...), ':')
			sep = ','
			if x == nil {
				p.buf = append(p.buf, "null"...)
			} else {
				p.buf = textfmt.AppendJSON(p.buf, p.values.schema.Column(p.values.columns[i]).Type, x)
			}
		}
		p.buf = append(p.buf, '}')
		if !p.array {
			p.buf = append(p.buf, '\n')
		}
		_, err := p.out.w.Write(p.buf)
		return err
	})
}

func (p *jsonPrinter) end() error {
	if p.array {
		end := "\n]\n"
		if p.rows == 0 {
			end = "[]\n"
		}
		if _, err := io.WriteString(p.out.w, end); err != nil {
			return err
		}
	}
	return nil
}

// tablePrinter prints aligned columns. It aligns 1,000 rows at a time.
type tablePrinter struct {
	out    *output
	values rowValues
	grid   grid
	text   []byte
}

func (p *tablePrinter) write(b *rowgroup.Batch) error {
	return p.values.each(b, func(row [][]byte) error {
		cells := make([]string, len(row))
		for i, x := range row {
			if x == nil {
				cells[i] = "null"
				continue
			}
			t := p.values.schema.Column(p.values.columns[i]).Type
			p.text = rowgroup.AppendText(p.text[:0], t, x)
			cells[i] = visible(string(p.text))
		}
		p.grid.add(cells...)
		if len(p.grid.rows) >= 1000 {
			return p.grid.print(p.out.w)
		}
		return nil
	})
}

func (p *tablePrinter) end() error { return p.grid.print(p.out.w) }

// visible is s, quoted where its bytes would break a table or a terminal, and
// where it would be taken for a null or for nothing.
func visible(s string) string {
	if s == "" || s == "null" || s[0] == '"' || strings.ContainsRune(s, '\ufffd') || strings.IndexFunc(s, isControl) >= 0 || strings.Contains(s, "\n") {
		return strconv.Quote(s)
	}
	return s
}
