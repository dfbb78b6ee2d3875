package cli

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/colsst/colsst/internal/atomicfile"
)

func newMan() *cobra.Command {
	var out outFlags
	t := command("man [COMMAND...] [flags]", "Print manual pages, or write all of them to a folder",
		`Man prints the manual page of a command, for example

  colsst man convert | man -l -

or, with -o FOLDER/, writes those of all commands there, as files for a
folder man1 in the path of man.`,
		arguments{0, -1, ""}, func(t *tool, args []string) error {
			header := doc.GenManHeader{Section: "1", Source: "colsst " + version(), Manual: "colsst"}
			if strings.HasSuffix(out.path, "/") {
				if len(args) > 0 {
					return usagef("man: a folder gets the pages of all commands")
				}
				return t.manFolder(out.path, out.force, &header)
			}
			cmd, rest, err := t.cmd.Parent().Find(args)
			if err != nil || len(rest) > 0 {
				return usagef("man: there is no command %q", strings.Join(args, " "))
			}
			return t.report(&out, func(w *bufio.Writer) error { return doc.GenMan(cmd, &header, w) })
		})
	f := t.cmd.Flags()
	f.StringVarP(&out.path, "output", "o", "-", "file to print to, - for stdout, or a folder with / at its end")
	f.BoolVarP(&out.force, "force", "f", false, "replace existing files")
	return t.cmd
}

// manFolder writes the pages of all commands.
func (t *tool) manFolder(dir string, force bool, header *doc.GenManHeader) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return coded(exitOutput, &outputError{fmt.Errorf("%s: %w", dir, cause(err))})
	}
	var each func(cmd *cobra.Command) error
	each = func(cmd *cobra.Command) error {
		if !cmd.IsAvailableCommand() && cmd.HasParent() && !cmd.IsAdditionalHelpTopicCommand() {
			return nil
		}
		h := *header
		out := output{name: filepath.Join(dir, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1")}
		f, err := atomicfile.Create(out.name, force)
		if err != nil {
			return out.failure(err)
		}
		defer f.Abort()
		if err := doc.GenMan(cmd, &h, f); err != nil {
			return out.failure(err)
		}
		if err := f.Commit(); err != nil {
			return out.failure(err)
		}
		for _, sub := range cmd.Commands() {
			if err := each(sub); err != nil {
				return err
			}
		}
		return nil
	}
	return each(t.cmd.Parent())
}
