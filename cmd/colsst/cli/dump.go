package cli

import (
	"bufio"

	"github.com/spf13/cobra"

	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/textfmt"
)

func newDump() *cobra.Command {
	var live bool
	var limit int64
	var format string
	var now nowFlag
	t := command("dump FILE... [flags]", "Print everything that table files hold",
		`Dump prints a JSON object a line: partitions, rows and range tombstone
markers as they are stored, with all their metadata. With --live it prints
current values instead: the rows that a query sees.`,
		cobra.MinimumNArgs(1), func(t *tool, args []string) error {
			second, nowGiven, err := now.parse()
			switch {
			case err != nil:
				return err
			case nowGiven && !live:
				return usagef("--now is for --live")
			case format != "ndjson" && format != "csv", format == "csv" && !live:
				return usagef("--format %s: expected ndjson, or csv with --live", format)
			}
			q := &rowQuery{tool: t, format: format, now: second, nowGiven: nowGiven, limit: limit}
			return t.eachFile(args, func(path string) error {
				if live {
					return q.file(path)
				}
				return t.dump(path, limit)
			})
		})
	f := t.cmd.Flags()
	f.BoolVar(&live, "live", false, "current values in place of all that is stored")
	f.Int64Var(&limit, "limit", -1, "at most so many rows and markers of each file")
	f.StringVar(&format, "format", "ndjson", "ndjson; with --live csv too")
	f.StringVar(&now.text, "now", "", nowUsage)
	return t.cmd
}

func (t *tool) dump(path string, limit int64) error {
	r, in, err := t.openTable(path)
	if err != nil {
		return err
	}
	defer in.close()
	out := bufio.NewWriterSize(t.cmd.OutOrStdout(), 64<<10)
	w := textfmt.NewDumpWriter(out, r.Schema())
	err = eachBatch(t.ctx(), r.Scan(t.ctx(), rowgroup.ScanOptions{}), r.Schema(), limit, w.Write)
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return orElse(exitData, named(in.name, err))
	}
	return coded(exitOutput, out.Flush())
}
