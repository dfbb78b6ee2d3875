package parquetfmt

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/parquet-go/parquet-go/format"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/parquetfmt/internal/page"
	"github.com/colsst/colsst/rowgroup"
)

// Level is how deep Verify looks.
type Level int

// The levels; each includes those before it.
const (
	VerifyFooter Level = iota // what Open and the page index say
	VerifyPages               // pages: headers, checksums, compression
	VerifyValues              // values: decoded, compared with the statistics; rows: their order
)

// Verify checks a file and calls report with what it finds, or returns the first
// finding where report is nil. It goes on with the next column chunk after one
// that is damaged. The error is that of ctx.
func (f *Reader) Verify(ctx context.Context, level Level, report func(error)) error {
	var first error
	if report == nil {
		report = func(err error) {
			if first == nil {
				first = err
			}
		}
	}
	codec := page.TakeCodec()
	defer codec.Return()
	found := false
	for g := range f.meta.RowGroups {
		for i := range f.leaves {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := f.verifyChunk(codec, g, i, level); err != nil {
				found = true
				report(f.named(err))
			}
		}
	}
	if level == VerifyValues && !found {
		if err := f.verifyRows(ctx); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			report(err)
		}
	}
	return first
}

// verifyRows reads the rows of the table, and of a file of ours checks their
// order.
func (f *Reader) verifyRows(ctx context.Context) (err error) {
	it := f.Scan(ctx, rowgroup.ScanOptions{})
	defer func() { err = errors.Join(err, it.Close()) }()
	order := rowgroup.NewOrderChecker(f.schema)
	b := rowgroup.NewBatch(f.schema)
	for {
		ok, err := it.Next(b)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := b.Check(); err != nil {
			return f.named(encoding.Corruptf("rows", "%s", err))
		}
		if f.plan.own {
			if err := order.Check(b); err != nil {
				return f.named(encoding.Corruptf("rows", "%s", err))
			}
		}
	}
	if f.plan.own {
		if err := order.Finish(); err != nil {
			return f.named(encoding.Corruptf("rows", "%s", err))
		}
	}
	return nil
}

func (f *Reader) verifyChunk(codec *page.Codec, group, leaf int, level Level) (err error) {
	g := &f.meta.RowGroups[group]
	c := &chunkReader{codec: codec}
	n := f.leaves[leaf]
	c.open(f.r, n, group, g.NumRows, &g.Columns[leaf].MetaData, nil)
	defer func() {
		if r := recover(); r != nil {
			err = c.fail(encoding.Corruptf("page", "%v", r))
		}
	}()
	place := func(err error) error { return fmt.Errorf("row group %d, column %s: %w", group, n, err) }
	pages, err := f.offsetIndex(&g.Columns[leaf])
	if err != nil {
		return place(fmt.Errorf("offset index: %w", err))
	}
	index, err := f.columnIndex(&g.Columns[leaf])
	if err != nil {
		return place(fmt.Errorf("column index: %w", err))
	}
	if index != nil && (len(index.MinValues) != len(pages) || len(index.MaxValues) != len(pages) || len(index.NullPages) != len(pages)) {
		return place(encoding.Corruptf("column index", "%d pages where there are %d", len(index.NullPages), len(pages)))
	}
	if level == VerifyFooter {
		return nil
	}
	var values page.Values
	rows := int64(0)
	order := comparisonOf(n)
	var total bounds
	for k := 0; c.values > 0; k++ {
		if _, err := c.nextPage(0); err != nil {
			return err
		}
		if k < len(pages) && rows != pages[k].FirstRowIndex {
			return c.fail(encoding.Corruptf("offset index", "page %d at row %d, not %d", k, pages[k].FirstRowIndex, rows))
		}
		if level == VerifyPages {
			pages, c.left = nil, 0 // rows are not counted
			continue
		}
		values.Init(n.typ, int(n.length))
		e := entriesOfPage{}
		if err := e.read(c, &values); err != nil {
			return err
		}
		rows += e.rows
		b := boundsOf(&values, 0, values.Len(), order)
		total.add(&b, n.typ, order)
		if index != nil && k < len(pages) && order != noOrder && values.Len() > 0 && b.min != nil {
			if index.NullPages[k] || !within(&b, index.MinValues[k], index.MaxValues[k], n, order) {
				return c.fail(encoding.Corruptf("column index", "values beyond the bounds of page %d", k))
			}
		}
	}
	if level == VerifyValues && rows != g.NumRows {
		return place(encoding.Corruptf("column chunk", "%d rows where the row group has %d", rows, g.NumRows))
	}
	if st := &g.Columns[leaf].MetaData.Statistics; level == VerifyValues && order != noOrder && total.min != nil && st.MinValue != nil && st.MaxValue != nil {
		if !within(&total, st.MinValue, st.MaxValue, n, order) {
			return place(encoding.Corruptf("statistics", "values beyond their bounds"))
		}
	}
	return nil
}

// within reports whether bounds lie in those that statistics give; ones of a
// wrong length, and NaNs, say nothing.
func within(b *bounds, least, greatest []byte, n *node, order comparison) bool {
	size := map[format.Type]int{format.Boolean: 1, format.Int32: 4, format.Int64: 8, format.Float: 4, format.Double: 8}[n.typ]
	if size > 0 && (len(least) != size || len(greatest) != size) {
		return true
	}
	if isNaN(least, n.typ) || isNaN(greatest, n.typ) {
		return true
	}
	return compareBound(least, b.min, n.typ, order) <= 0 && compareBound(greatest, b.max, n.typ, order) >= 0
}

// isNaN reports whether PLAIN bytes of the type's length are a NaN.
func isNaN(b []byte, t format.Type) bool {
	switch t {
	case format.Float:
		f := math.Float32frombits(binary.LittleEndian.Uint32(b))
		return f != f
	case format.Double:
		return math.IsNaN(math.Float64frombits(binary.LittleEndian.Uint64(b)))
	}
	return false
}

// entriesOfPage counts the rows of a page.
type entriesOfPage struct{ rows int64 }

// read reads what is left of the page at hand.
func (e *entriesOfPage) read(c *chunkReader, values *page.Values) error {
	k := c.left
	c.left = 0
	levels := make([]uint32, min(k, 4096))
	there := k
	for at := 0; at < k && c.maxRep > 0; at += len(levels) {
		part := levels[:min(len(levels), k-at)]
		if err := c.reps.Next(part); err != nil {
			return c.fail(err)
		}
		for _, x := range part {
			if x > uint32(c.maxRep) {
				return c.fail(encoding.Corruptf("levels", "level %d of %d", x, c.maxRep))
			}
			if x == 0 {
				e.rows++
			}
		}
	}
	if c.maxRep == 0 {
		e.rows = int64(k)
	}
	if c.maxDef > 0 {
		var err error
		if there, err = c.count(k); err != nil {
			return c.fail(err)
		}
	}
	if err := c.data.Next(values, there); err != nil {
		return c.fail(err)
	}
	return nil
}
