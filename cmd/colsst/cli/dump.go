package cli

import (
	"bufio"
	"time"

	"github.com/spf13/cobra"

	"github.com/colsst/colsst/cmd/colsst/internal/sstabledump"
	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/textfmt"
)

func newDump() *cobra.Command {
	var live, exact bool
	var limit int64
	var now nowFlag
	var other sstabledump.Options
	asOther := false
	q := &rowQuery{}
	skip := &q.skip
	q.tool = command("dump FILE... [flags]", "Print everything that table files hold",
		`Dump prints a JSON object a line: partitions, rows and range tombstone
markers as they are stored, with all their metadata. Of several files each has
a line {"type":"file"} with its name before it. With --exact, convert makes the
table of it again. With --live it prints current
values instead: the rows that a query sees.`,
		arguments{1, -1, "at least one FILE"}, func(t *tool, args []string) (err error) {
			if q.now, q.nowGiven, err = now.parse(); err != nil {
				return err
			}
			if err := t.checkLimit(limit); err != nil {
				return err
			}
			if err := oneOf("format", q.out.format, "ndjson", "csv"); err != nil {
				return err
			}
			if err := skip.check(); err != nil {
				return err
			}
			if asOther {
				if other.Now = q.now; !q.nowGiven {
					other.Now = time.Now().Unix()
				}
				if err := t.refuse("and --sstabledump exclude one another", "live", "limit", "format", "exact", "as-read"); err != nil {
					return err
				}
				return t.skipping(skip, args, isSSTableFormat, &q.out, func(path string, w *bufio.Writer) error { return t.sstabledump(w, path, &other, skip) })
			}
			if err := t.refuse("is for --sstabledump", "lines", "raw-times", "keys-only", "debug", "tombstones", "only-key", "exclude-key"); err != nil {
				return err
			}
			switch {
			case exact && live:
				return usagef("--exact and --live exclude one another")
			case q.nowGiven && !live:
				return usagef("--now is for --live")
			case q.out.format == "csv" && !live:
				return usagef("--format csv is for --live: a CSV has no place for all metadata")
			}
			q.limit = limit
			if live {
				return q.files(args)
			}
			several := false
			if paths, err := expand(args, isTable); err == nil {
				several = len(paths) > 1
			}
			return t.skipping(skip, args, isTable, &q.out, func(path string, w *bufio.Writer) error {
				return t.dump(w, path, limit, several, exact, skip)
			})
		})
	f := q.cmd.Flags()
	f.BoolVar(&live, "live", false, "current values in place of all that is stored")
	f.BoolVar(&exact, "exact", false, "write what its text does not say in full, as counters and collections, as its bytes")
	q.limitFlag(&limit, "at most so many rows and markers of each file")
	f.StringVar(&now.text, "now", "", nowUsage)
	q.namesFlag()
	skip.add(q.tool)
	q.asReadFlag()
	f.BoolVar(&asOther, "sstabledump", false, "SSTables: in the JSON of Cassandra's tool of that name; the flags of one letter below are that tool's")
	f.BoolVarP(&other.Lines, "lines", "l", false, "a partition a line")
	f.BoolVarP(&other.RawTimes, "raw-times", "t", false, "times as numbers")
	f.BoolVarP(&other.KeysOnly, "keys-only", "e", false, "partition keys alone")
	f.BoolVarP(&other.Debug, "debug", "d", false, "a row a line, in Cassandra's internal form")
	f.BoolVar(&other.Tombstones, "tombstones", false, "only what is deleted or has expired")
	f.StringArrayVarP(&other.Keys, "only-key", "k", nil, "this partition alone; may be given several times")
	f.StringArrayVarP(&other.Exclude, "exclude-key", "x", nil, "without this partition; may be given several times")
	q.out.report(q.tool, "ndjson", "csv")
	return q.cmd
}

func (t *tool) dump(out *bufio.Writer, path string, limit int64, name, exact bool, skip *skipFlags) error {
	r, in, err := t.openTable(path)
	if err != nil {
		return err
	}
	defer in.close()
	if err := t.checkAsRead(in); err != nil {
		return err
	}
	if skip.skips() {
		if in.sst == nil {
			return usagef("--on-error skip is for SSTables; %s is a table file", in.name)
		}
		if err := t.salvage(in.sst, skip.leaveOut(t)); err != nil {
			return err
		}
	}
	if name {
		line := struct {
			Type string `json:"type"`
			File string `json:"file"`
		}{"file", in.name}
		if err := printLine(out, line); err != nil {
			return err
		}
	}
	w := textfmt.NewDumpWriter(out, r.Schema())
	w.Exact = exact
	err = eachBatch(t.ctx(), r.Scan(t.ctx(), rowgroup.ScanOptions{}), r.Schema(), limit, func(b *rowgroup.Batch) error {
		t.sum.Rows += int64(b.Len() - len(*b.Markers()))
		return w.Write(b)
	})
	if err == nil {
		err = w.Flush()
	}
	return orElse(exitData, named(in.name, err))
}

// sstabledump prints an SSTable in the form of Cassandra's tool.
func (t *tool) sstabledump(w *bufio.Writer, path string, o *sstabledump.Options, skip *skipFlags) error {
	x, err := t.openSSTable(path)
	if err != nil {
		return err
	}
	defer func() { _ = x.SSTable().Close() }() // only read
	if skip.skips() {
		if err := t.salvage(x, skip.leaveOut(t)); err != nil {
			return err
		}
	}
	t.sum.Rows += x.Rows()
	return orElse(exitData, named(path, sstabledump.Dump(t.ctx(), w, x.SSTable(), o)))
}
