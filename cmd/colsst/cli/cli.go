// Package cli holds the commands of colsst. A host program mounts them under
// a command of its own with
//
//	host.AddCommand(cli.New().Commands()...)
package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// Exit codes of the tool.
const (
	exitOK    = 0
	exitUsage = 2
)

// New returns the root command with every command of the tool below it. Each
// call builds a new tree, so a host may mount more than one.
func New() *cobra.Command {
	return &cobra.Command{
		Use:           "colsst",
		Short:         "Write, read and inspect columnar SSTables",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
}

// Execute runs the command line args (without the program's name) on the given
// streams and returns the exit code of the process. Errors are printed to
// stderr.
func Execute(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := New()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if err := root.Execute(); err != nil {
		fmt.Fprintln(stderr, "colsst:", err)
		return exitUsage
	}
	return exitOK
}
