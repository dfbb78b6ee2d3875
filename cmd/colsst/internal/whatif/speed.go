package whatif

import (
	"bytes"
	"context"
	"io"
	"slices"
	"time"

	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// Speed is how fast a choice is, in values a second of one goroutine: a table
// of that column alone written and scanned in memory, checksums and all.
type Speed struct {
	Encode     float64 `json:"encode"`
	Decode     float64 `json:"decode"`
	ZstdEncode float64 `json:"zstd_encode"`
	ZstdDecode float64 `json:"zstd_decode"`
}

// measured is for how long a speed is measured, at least; the fastest run
// counts.
const measured = 10 * time.Millisecond

// Measure sets the speeds of all choices of r but those of metadata and of
// columns that are functions of others.
func (t *Table) Measure(ctx context.Context, r *Result) error {
	for i := range r.Columns {
		c := &r.Columns[i]
		if !t.encodable(c.Name) || c.Values == 0 {
			continue
		}
		if t.Schema.Column(t.Schema.Lookup(c.Name)).Type.MultiCell() { // not without their rows
			continue
		}
		alone, err := t.column(c.Name)
		if err != nil {
			return err
		}
		for k := range c.Choices {
			var ids []encoding.ID
			for name := range c.Choices[k].Encodings {
				if id, ok := encoding.ParseID(name); ok {
					ids = append(ids, id)
				}
			}
			if slices.Contains(ids, encoding.Function) || len(ids) == 0 {
				continue
			}
			slices.Sort(ids)
			s := &Speed{}
			own := columnar.WithEncoding(c.Name, ids...)
			if s.Encode, s.Decode, err = alone.speed(ctx, own); err != nil {
				return err
			}
			if s.ZstdEncode, s.ZstdDecode, err = alone.speed(ctx, own, columnar.WithColumnCompression("*")); err != nil {
				return err
			}
			c.Choices[k].Speed = s
		}
	}
	return nil
}

// column is a table of one column of the rows alone.
func (t *Table) column(name string) (*Table, error) {
	col := t.Schema.Lookup(name)
	c := t.Schema.Column(col)
	s, err := rowgroup.NewSchema(nil, nil, nil, []rowgroup.Column{{Name: c.Name, Type: c.Type}})
	if err != nil {
		return nil, err
	}
	alone := &Table{Schema: s, Layout: t.Layout}
	for _, b := range t.Rows {
		n := b.Len()
		if t.Schema.Role(col) == rowgroup.Static {
			n = b.NumPartitions()
		}
		out := rowgroup.NewBatch(s)
		var v []byte
		for i := range n {
			var ok bool
			v, ok = b.AppendValue(v[:0], col, i)
			if err := out.PutValue(0, i, v, ok); err != nil {
				return nil, err
			}
		}
		alone.Rows = append(alone.Rows, out)
	}
	return alone, nil
}

// speed writes and scans the table for a while.
func (t *Table) speed(ctx context.Context, opts ...columnar.Option) (encode, decode float64, err error) {
	values := 0
	for _, b := range t.Rows {
		values += b.Len()
	}
	opts = append(slices.Clone(t.Layout), opts...)
	write := func(out io.Writer) error {
		w, err := columnar.NewWriter(out, t.Schema, opts...)
		if err != nil {
			return err
		}
		for _, b := range t.Rows {
			if err := w.Append(b); err != nil {
				return err
			}
		}
		return w.Close()
	}
	var file bytes.Buffer
	if err := write(&file); err != nil {
		return 0, 0, err
	}
	r, err := columnar.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		return 0, 0, err
	}
	b := rowgroup.NewBatch(t.Schema)
	scan := func() error {
		it := r.Scan(ctx, rowgroup.ScanOptions{WithoutMetadata: true})
		for {
			if more, err := it.Next(b); err != nil || !more {
				_ = it.Close() // only read
				return err
			}
		}
	}
	if encode, err = fastest(ctx, values, func() error { return write(io.Discard) }); err != nil {
		return 0, 0, err
	}
	decode, err = fastest(ctx, values, scan)
	return encode, decode, err
}

// fastest is the values a second of the fastest run of f.
func fastest(ctx context.Context, values int, f func() error) (float64, error) {
	best := 0.0
	for begin := time.Now(); time.Since(begin) < measured || best == 0; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		start := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		took := max(time.Since(start), 1)
		best = max(best, float64(values)/took.Seconds())
	}
	return best, nil
}
