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
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
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
	root.AddCommand(newConvert(), newDescribe(), newVerify(), newDump(), newQuery(), newStats(), newTry(), newDiff(), newGen(), newCassandra(), newMan(), newVersion(),
		topicTypes(), topicExitCodes())
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
	out := &stdoutWriter{w: stdout}
	root := New()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(stderr)
	if f, ok := stdout.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil { // it is a terminal
			root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "Flags.FlagUsages ", fmt.Sprintf("Flags.FlagUsagesWrapped %d ", width)))
		}
	}
	checkTopics(root)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = out.err // of what cobra prints: help, completion, the version
	}
	if err != nil {
		if text, like, ok := strings.Cut(err.Error(), "\n\nDid you mean this?\n"); ok { // cobra's own
			err = usagef("%s; did you mean %s?", text, strings.Join(strings.Fields(like), " or "))
		}
	}
	printError(stderr, err)
	return ExitCode(err)
}

// checkTopics makes an unknown topic of help, and an unknown shell of completion,
// an error, for which cobra's commands only print help. Output is set before it.
func checkTopics(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				_, _, err := root.Find(args)
				return err
			}
		case "completion":
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
}

// tool is what every command has: its flags and streams.
type tool struct {
	cmd         *cobra.Command
	quiet       bool
	verbose     bool
	noProgress  bool
	jobs        int
	summaryFlag string
	schemaFile  string                  // with the names of an SSTable's columns
	schemas     map[string]schemaTables // by file or folder
	schemaTexts map[string][]byte       // of files of --schema
	asRead      bool                    // SSTables as Cassandra reads them
	maxRowText  string                  // the largest row of an SSTable
	maxRow      int                     // of maxRowText, in bytes
	started     time.Time
	sum         summary
}

// arguments says how many arguments a command takes, and what they are.
type arguments struct {
	min, max int // max < 0: any number
	what     string
}

// command makes a command whose errors carry exit codes.
func command(use, short, long string, args arguments, run func(t *tool, args []string) error) *tool {
	t := &tool{}
	t.cmd = &cobra.Command{
		Use: use, Short: short, Long: long,
		Args: func(cmd *cobra.Command, a []string) error {
			switch {
			case len(a) < args.min:
				return usagef("%s: give %s; see %s --help", cmd.Name(), args.what, cmd.CommandPath())
			case args.max == 0 && len(a) > 0:
				return usagef("%s: takes no arguments, found %q; see %s --help", cmd.Name(), a[0], cmd.CommandPath())
			case args.max > 0 && len(a) > args.max:
				return usagef("%s: give %s, not %q too; see %s --help", cmd.Name(), args.what, a[args.max], cmd.CommandPath())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, a []string) error {
			t.started = time.Now()
			err := t.checkFlags()
			if err == nil {
				err = classify(run(t, a))
			}
			return t.finish(err)
		},
		SilenceUsage:          true,
		SilenceErrors:         true,
		DisableFlagsInUseLine: true,
	}
	t.cmd.SetFlagErrorFunc(flagError)
	f := t.cmd.Flags()
	f.SortFlags = false
	f.BoolVarP(&t.quiet, "quiet", "q", false, "print nothing but results, errors and what values were changed")
	f.BoolVarP(&t.verbose, "verbose", "v", false, "tell the time taken and the memory used too")
	f.BoolVar(&t.noProgress, "no-progress", false, "no progress on a terminal")
	f.IntVarP(&t.jobs, "jobs", "j", runtime.GOMAXPROCS(0), "goroutines that parse text")
	f.Lookup("jobs").DefValue = "one a CPU"
	f.StringVar(&t.summaryFlag, "summary", "", "json: a last line of JSON on stderr")
	return t
}

// checkFlags refuses values that no command knows.
func (t *tool) checkFlags() (err error) {
	t.cmd.Flags().Visit(func(f *pflag.Flag) {
		if k := f.Value.Type(); err == nil && (k == "string" && f.Value.String() == "" || k == "stringSlice" && f.Value.String() == "[]") {
			err = usagef("--%s: expected a value, found none", f.Name)
		}
	})
	switch {
	case err != nil:
	case t.maxRowText != "" && t.parseMaxRow() != nil:
		err = t.parseMaxRow()
	case t.jobs < 1:
		err = usagef("--jobs %d: expected 1 or more", t.jobs)
	case t.summaryFlag != "" && t.summaryFlag != "json":
		err = usagef("--summary %s: expected json", t.summaryFlag)
		t.summaryFlag = ""
	}
	return err
}

// finish prints the line of --summary, as the last one on stderr.
func (t *tool) finish(err error) error {
	if t.summaryFlag == "" {
		return err
	}
	t.sum.Command, t.sum.Exit, t.sum.Seconds = t.cmd.Name(), ExitCode(err), time.Since(t.started).Seconds()
	if !isSilent(err) {
		printError(t.cmd.ErrOrStderr(), err)
		if err != nil {
			t.sum.Error = err.Error()
			err = &exitError{ExitCode(err), &silentError{}}
		}
	}
	if e := printLine(t.cmd.ErrOrStderr(), &t.sum); err == nil && e != nil {
		err = coded(exitOutput, fmt.Errorf("stderr: %w", e))
	}
	return err
}

func (t *tool) ctx() context.Context {
	if ctx := t.cmd.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}

// changed reports whether a flag was given.
func (t *tool) changed(flag string) bool { return t.cmd.Flags().Changed(flag) }

// refuse is an error if any of the flags was given: they have no effect here.
func (t *tool) refuse(why string, flags ...string) error {
	for _, f := range flags {
		if t.changed(f) {
			return usagef("--%s %s", f, why)
		}
	}
	return nil
}

// limitFlag adds --limit, -1 for none.
func (t *tool) limitFlag(limit *int64, usage string) {
	t.cmd.Flags().Int64Var(limit, "limit", -1, usage)
	t.cmd.Flags().Lookup("limit").DefValue = "all"
}

func (t *tool) checkLimit(limit int64) error {
	if t.changed("limit") && limit < 0 {
		return usagef("--limit %d: expected 0 or more", limit)
	}
	return nil
}

// choice adds a flag of one of several words and their completion.
func (t *tool) choice(p *string, name, value, usage string, words ...string) {
	t.cmd.Flags().StringVar(p, name, value, usage)
	_ = t.cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
}

// notef prints a line to stderr unless the command is to be quiet.
func (t *tool) notef(format string, args ...any) {
	if !t.quiet {
		t.warnf(format, args...)
	}
}

// warnf prints a line about values that were changed to stderr.
func (t *tool) warnf(format string, args ...any) {
	fmt.Fprintln(t.cmd.ErrOrStderr(), printable(fmt.Sprintf(format, args...)))
}

// oneOf refuses a value of a flag that is none of the words.
func oneOf(flag, value string, words ...string) error {
	for _, w := range words {
		if value == w {
			return nil
		}
	}
	last := len(words) - 1
	return usagef("--%s %s: expected %s or %s", flag, value, strings.Join(words[:last], ", "), words[last])
}

// printError prints an error as lines that begin with the file or the
// program's name.
func printError(w io.Writer, err error) {
	if err == nil || isSilent(err) {
		return
	}
	var e *exitError
	ours := errors.As(err, &e) && e.code != exitUsage && e.code != exitInterrupted
	for line := range strings.Lines(err.Error()) {
		if line = printable(strings.TrimSuffix(line, "\n")); ours {
			fmt.Fprintln(w, line)
		} else {
			fmt.Fprintln(w, "colsst:", line)
		}
	}
}

// printable is s with escapes in place of bytes that could steer a terminal.
func printable(s string) string {
	if strings.IndexFunc(s, isControl) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if isControl(r) {
			fmt.Fprintf(&b, `\x%02x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isControl(r rune) bool { return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 }
