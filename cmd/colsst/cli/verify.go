package cli

import (
	"bufio"
	"errors"
	"fmt"
	"math"

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
	Findings   []finding `json:"findings"`           // the first 10, or all with --all
	Warnings   []string  `json:"warnings,omitempty"` // of an SSTable
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
	var level string
	var all bool
	var out outFlags
	t := command("verify FILE... [flags]", "Check table files",
		`Verify checks that files are whole and agree with themselves: footer; blocks
too, with all checksums, index pages and filter; or values too, decoded and
compared with the order, the statistics and the filter. Each finding is a line
on stderr, the first 10 of each file unless --all is given. Exit code 3 if there
are any. With --format json a file is an object on a line.`,
		arguments{1, -1, "at least one FILE"}, func(t *tool, args []string) error {
			l, ok := levels[level]
			if !ok {
				return usagef("--level %s: expected footer, blocks or values", level)
			}
			if err := oneOf("format", out.format, "table", "json"); err != nil {
				return err
			}
			most := 10
			if all {
				most = math.MaxInt
			}
			return t.eachFile(args, &out, func(path string, w *bufio.Writer) error { return t.verify(w, path, l, level, out.format, most) })
		})
	t.choice(&level, "level", "values", "footer, blocks or values", "footer", "blocks", "values")
	t.cmd.Flags().BoolVar(&all, "all", false, "all findings, not the first 10 of a file")
	t.maxRowFlag()
	out.report(t, "table", "json")
	return t.cmd
}

func (t *tool) verify(w *bufio.Writer, path string, level columnar.Level, levelName, format string, most int) error {
	v := verification{File: path, Level: levelName, Findings: []finding{}}
	name := path
	var all error
	found := 0
	report := func(err error) {
		if found++; found > most {
			return
		}
		all = errors.Join(all, named(name, err))
		f := finding{Offset: -1, Error: err.Error()}
		var c *encoding.CorruptError
		if errors.As(err, &c) {
			f.Part, f.Offset = c.Part, c.Offset
		}
		v.Findings = append(v.Findings, f)
	}
	check := t.verifyTable
	if isSSTable(path) {
		check = t.verifySSTable
	}
	if err := check(&v, path, level, report); err != nil {
		return err
	}
	name = v.File
	if found > most {
		all = errors.Join(all, fmt.Errorf("%s: %d findings more; --all prints them", name, found-most))
	}
	v.OK = found == 0
	t.sum.Rows += v.Rows
	if format == "json" {
		if err := printLine(w, v); err != nil {
			return err
		}
	} else if v.OK && !t.quiet {
		parts := ", " + plural(v.Partitions, "partition")
		if v.Partitions == 0 && v.Rows > 0 { // of a Parquet file they are not counted
			parts = ""
		}
		if _, err := fmt.Fprintf(w, "%s: ok: %s%s, %s checked\n", printable(name), plural(v.Rows, "row"), parts, levelName); err != nil {
			return err
		}
	}
	return coded(exitData, all)
}

// verifyTable checks a table file.
func (t *tool) verifyTable(v *verification, path string, level columnar.Level, report func(error)) error {
	in, err := t.openInput(path, formatTable)
	if err != nil {
		return err
	}
	defer in.close()
	v.File = in.name
	if in.format == formatParquet {
		return t.verifyParquet(v, in, level, report)
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
	return nil
}
