// Package cli holds the commands of colsst. A host program mounts them under
// a command of its own with
//
//	host.AddCommand(cli.New().Commands()...)
//
// and turns the error that a command returns into an exit code with ExitCode.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// New returns the root command with every command of the tool below it. Each
// call builds a new tree, so a host may mount more than one.
func New() *cobra.Command {
	root := &cobra.Command{
		Use:           "colsst",
		Short:         "Write, read and inspect columnar SSTables",
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newConvert(), newDescribe(), newVerify(), newDump(), newQuery(), newDiff(), newGen(), newVersion())
	return root
}

// Execute runs the command line args (without the program's name) on the given
// streams and returns the exit code of the process. Errors are printed to
// stderr. An interrupt or a request to terminate cancels the command, which
// then leaves no output behind; a second one ends the process at once.
func Execute(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	root := New()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	printError(stderr, err)
	return ExitCode(err)
}

// printError prints an error as lines that begin with the file or the
// program's name.
func printError(w io.Writer, err error) {
	var silent *silentError
	if err == nil || errors.As(err, &silent) {
		return
	}
	var coded *exitError
	ours := errors.As(err, &coded) && coded.code != exitUsage && coded.code != exitInterrupted
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSuffix(line, "\n"); ours {
			fmt.Fprintln(w, line)
		} else {
			fmt.Fprintln(w, "colsst:", line)
		}
	}
}

// tool is what every command has: its flags and streams.
type tool struct {
	cmd        *cobra.Command
	quiet      bool
	verbose    bool
	noProgress bool
	started    time.Time
}

// command makes a command whose errors carry exit codes.
func command(use, short, long string, args cobra.PositionalArgs, run func(t *tool, args []string) error) *tool {
	t := &tool{}
	t.cmd = &cobra.Command{
		Use: use, Short: short, Long: long,
		Args: func(cmd *cobra.Command, a []string) error {
			if err := args(cmd, a); err != nil {
				return usagef("%s: %w; see colsst %s --help", cmd.Name(), err, cmd.Name())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, a []string) error {
			t.started = time.Now()
			return classify(run(t, a))
		},
		SilenceUsage:          true,
		SilenceErrors:         true,
		DisableFlagsInUseLine: true,
	}
	t.cmd.SetFlagErrorFunc(flagError)
	f := t.cmd.Flags()
	f.BoolVarP(&t.quiet, "quiet", "q", false, "print nothing but results and errors")
	f.BoolVarP(&t.verbose, "verbose", "v", false, "tell the time taken too")
	f.BoolVar(&t.noProgress, "no-progress", false, "no progress on a terminal")
	return t
}

func (t *tool) ctx() context.Context {
	if ctx := t.cmd.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}

// notef prints a line to stderr unless the command is to be quiet.
func (t *tool) notef(format string, args ...any) {
	if !t.quiet {
		fmt.Fprintf(t.cmd.ErrOrStderr(), format+"\n", args...)
	}
}
