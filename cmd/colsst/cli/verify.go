package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/encoding"
)

// verification is what verify finds in one file.
type verification struct {
	File       string    `json:"file"`
	Level      string    `json:"level"`
	OK         bool      `json:"ok"`
	Rows       int64     `json:"rows"` // 0 if the file cannot be opened
	Partitions int64     `json:"partitions"`
	RowGroups  int64     `json:"row_groups"`
	Findings   []finding `json:"findings"`
}

// finding is one thing that is wrong.
type finding struct {
	Part   string `json:"part"`
	Offset int64  `json:"offset"` // in the file, or -1
	Error  string `json:"error"`
}

// levels name how deep verify looks.
var levels = map[string]columnar.Level{
	"footer": columnar.VerifyFooter, "blocks": columnar.VerifyBlocks, "values": columnar.VerifyValues,
}

func newVerify() *cobra.Command {
	var level, format string
	t := command("verify FILE... [flags]", "Check table files",
		`Verify checks that files are whole and agree with themselves: footer; blocks
too, with all checksums, index pages and filter; or values too, decoded and
compared with the order, the statistics and the filter. Each finding is a line
on stderr. Exit code 3 if there are any.`,
		cobra.MinimumNArgs(1), func(t *tool, args []string) error {
			l, ok := levels[level]
			if !ok {
				return usagef("--level %s: expected footer, blocks or values", level)
			}
			if format != "table" && format != "json" {
				return usagef("--format %s: expected table or json", format)
			}
			return t.eachFile(args, func(path string) error { return t.verify(path, l, level, format) })
		})
	t.cmd.Flags().StringVar(&level, "level", "values", "footer, blocks or values")
	t.cmd.Flags().StringVar(&format, "format", "table", "table or json: an object a line and file")
	return t.cmd
}

func (t *tool) verify(path string, level columnar.Level, levelName, format string) error {
	v := verification{File: path, Level: levelName, Findings: []finding{}}
	in, err := t.openInput(path, formatTable)
	if err != nil {
		return err
	}
	defer in.close()
	v.File = in.name
	var all error
	report := func(err error) {
		all = errors.Join(all, named(in.name, err))
		f := finding{Offset: -1, Error: err.Error()}
		var c *encoding.CorruptError
		if errors.As(err, &c) {
			f.Part, f.Offset = c.Part, c.Offset
		}
		v.Findings = append(v.Findings, f)
	}
	r, err := in.table()
	switch {
	case err == nil:
		v.Rows, v.Partitions, v.RowGroups = r.Rows(), r.Partitions(), r.RowGroups()
		err = r.Verify(t.ctx(), level, report)
	case ExitCode(orElse(exitData, err)) == exitData:
		report(err)
	}
	if err != nil && len(v.Findings) == 0 {
		return orElse(exitData, named(in.name, err)) // not a finding: it could not be read
	}
	v.OK = len(v.Findings) == 0
	if format == "json" {
		if err := json.NewEncoder(t.cmd.OutOrStdout()).Encode(v); err != nil {
			return err
		}
	} else if v.OK && !t.quiet {
		fmt.Fprintf(t.cmd.OutOrStdout(), "%s: ok: %s, %s, %s checked\n", in.name, plural(v.Rows, "row"), plural(v.Partitions, "partition"), levelName)
	}
	return coded(exitData, all)
}
