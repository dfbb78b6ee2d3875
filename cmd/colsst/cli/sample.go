package cli

import (
	"fmt"
	"strings"

	"github.com/colsst/colsst/cmd/colsst/internal/whatif"
	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/rowgroup"
)

// sampled takes about so many rows of a table file, 0 for all: runs of as many
// as 64 row groups hold from all parts of it. They are to be written as the
// file is. Of a table with range tombstones it takes the live rows: a deletion
// cannot be cut.
func (t *tool) sampled(r *columnar.Reader, in *input, limit int64) (*whatif.Table, error) {
	flags := tableFlags{compression: "none", filter: true}
	options := r.Options()
	for _, name := range []string{"row_group_rows", "row_group_size_in_bytes", "block_size_in_bytes"} {
		flags.set = append(flags.set, name+"="+options[name])
	}
	w := &whatif.Table{Schema: r.Schema()}
	var err error
	if w.Layout, err = flags.options(); err != nil {
		return nil, err
	}
	if text := options["column_compression"]; text != "" {
		w.Zstd = strings.Split(text, ",")
	}
	if text := options["column_encodings"]; text != "" {
		flags = tableFlags{encoding: strings.Split(text, ";"), compression: "none", filter: true}
		if w.Encodings, err = flags.options(); err != nil {
			return nil, fmt.Errorf("its option column_encodings: %w", err)
		}
	}
	o := rowgroup.ScanOptions{}
	markers := r.Stats().Markers
	if o.Live = markers > 0; o.Live {
		o.Now, _, _ = (&nowFlag{}).parse() // never fails
	}
	total := r.Rows()
	run := int64(64 * 128)
	if _, err := fmt.Sscan(options["row_group_rows"], &run); err == nil {
		run *= 64
	}
	runs := int64(1)
	if limit == 0 || limit >= total {
		run = total
	} else {
		run = max(min(run, limit/4), 1)
		runs = limit / run
	}
	in.bar = t.newProgress(in.name, total, false)
	defer in.bar.end()
	at, k := int64(0), int64(0) // the next row, and the run that is taken or comes next
	var part *rowgroup.Batch
	err = eachBatch(t.ctx(), r.Scan(t.ctx(), o), r.Schema(), -1, func(b *rowgroup.Batch) error {
		in.bar.rows(int64(b.Len()))
		begin := at
		at += int64(b.Len())
		for k < runs {
			from, to := k*(total/runs), k*(total/runs)+run
			if k == runs-1 && run == total {
				to = max(to, at) // partitions without rows at its end
			}
			if from > at || from == at && b.Len() > 0 {
				return nil
			}
			if part == nil {
				part = rowgroup.NewBatch(r.Schema())
				part.Clear()
			}
			if err := takeRows(part, b, int(max(from-begin, 0)), int(min(to, at)-begin)); err != nil {
				return err
			}
			w.Rows = append(w.Rows, part)
			part = nil
			if to > at || k == runs-1 && run == total {
				return nil
			}
			k++
		}
		return nil
	})
	return w, err
}

// takeRows appends rows [from, to) of b to part, which is empty, and the head
// of their first partition even if that begins before them.
func takeRows(part, b *rowgroup.Batch, from, to int) error {
	for p := range b.NumPartitions() {
		if start, end := b.PartitionRows(p); start < from && from < end {
			if err := part.AppendParts(b, start, start, p, p+1); err != nil {
				return err
			}
		}
	}
	if err := part.AppendRange(b, from, to); err != nil {
		return err
	}
	if part.NumPartitions() > 0 {
		part.Partition(0).Continued = false // what it continues may not be there
	}
	return nil
}
