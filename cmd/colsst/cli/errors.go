package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/textfmt"
)

// Exit codes of the tool.
const (
	exitOK          = 0
	exitNo          = 1 // the answer is no
	exitUsage       = 2
	exitData        = 3 // input that is corrupt, unsupported or malformed
	exitInput       = 4 // input that is missing, vanished or unreadable
	exitOutput      = 5 // output that exists or cannot be written
	exitSkipped     = 6 // finished, but rows or inputs were skipped
	exitInterrupted = 130
)

func topicExitCodes() *cobra.Command {
	return &cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: `  0    all is well
  1    the answer is no: files differ, there is no such partition
  2    usage: the command line asks for what is not there
  3    input that is corrupt, not supported or malformed
  4    input that is missing, vanished or cannot be read
  5    output that exists or cannot be written
  6    finished, but rows or inputs were skipped
  130  interrupted; no output is left

Of several inputs the first that fails decides.`}
}

// exitError is an error with its exit code.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// silentError has no line on stderr.
type silentError struct{}

func (*silentError) Error() string { return "no" }

func isSilent(err error) bool {
	var s *silentError
	return errors.As(err, &s)
}

// errNo is the answer no, which was printed already.
var errNo error = &exitError{exitNo, &silentError{}}

// coded gives err a code unless it has one.
func coded(code int, err error) error {
	var e *exitError
	if err == nil || errors.As(err, &e) {
		return err
	}
	return &exitError{code, err}
}

func usagef(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// plain is the text of err without the prefix of the package that made it.
func plain(err error) string { return strings.TrimPrefix(err.Error(), "rowgroup: ") }

// flagError makes an error of the parser of flags one for people.
func flagError(cmd *cobra.Command, err error) error {
	var (
		invalid *pflag.InvalidValueError
		missing *pflag.ValueRequiredError
		unknown *pflag.NotExistError
	)
	switch {
	case errors.As(err, &invalid):
		f, want := invalid.GetFlag(), "another value"
		switch f.Value.Type() {
		case "int", "int64":
			want = "a whole number"
		case "uint64":
			want = "a whole number from 0"
		case "bool":
			want = "true or false"
		}
		return usagef("--%s %s: expected %s", f.Name, invalid.GetValue(), want)
	case errors.As(err, &missing):
		return usagef("--%s: expected a value, found none", missing.GetFlag().Name)
	}
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		if like := similarFlags(cmd, unknown.GetSpecifiedName()); len(like) > 0 {
			return usagef("%w; did you mean %s? See %s --help", err, strings.Join(like, " or "), cmd.CommandPath())
		}
	}
	return usagef("%w; see %s --help", err, cmd.CommandPath())
}

// similarFlags are the flags of a command that are named nearly like one that it
// does not have, or with the same word last.
func similarFlags(cmd *cobra.Command, name string) (like []string) {
	lastWord := func(s string) string { return s[strings.LastIndexByte(s, '-')+1:] }
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && (distance(f.Name, name) <= min(2, (len(name)+1)/3) || lastWord(f.Name) == lastWord(name)) {
			like = append(like, "--"+f.Name)
		}
	})
	return like
}

// distance is how many letters have to be put in, left out or changed to make
// one word of the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// orElse gives err the code that its kind asks for, or else this one.
func orElse(code int, err error) error {
	var (
		syntax *textfmt.SyntaxError
		order  *textfmt.OrderError
		rows   *rowgroup.OrderError
		static *textfmt.StaticError
		path   *fs.PathError
	)
	switch {
	case errors.Is(err, context.Canceled):
		return coded(exitInterrupted, err)
	case errors.Is(err, encoding.ErrCorrupt), errors.Is(err, encoding.ErrUnsupported),
		errors.As(err, &syntax), errors.As(err, &order), errors.As(err, &rows), errors.As(err, &static):
		return coded(exitData, err)
	case errors.As(err, &path):
		return coded(exitInput, err) // those of outputs have their code
	}
	return coded(code, err)
}

// classify gives every error of a command an exit code: what is not told apart
// is data that breaks its schema or order.
func classify(err error) error {
	if err != nil && errors.Is(err, context.Canceled) {
		return &exitError{exitInterrupted, errors.New("interrupted")}
	}
	return orElse(exitData, err)
}

// ExitCode is the exit code that the tool's process returns for an error of
// one of its commands: 0 no error, 1 the answer is no, 2 usage, 3 input that
// is corrupt, malformed or unsupported, 4 input missing or unreadable, 5
// output that exists or cannot be written, 6 finished but rows or inputs were
// skipped, 130 interrupted.
func ExitCode(err error) int {
	var e *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &e):
		return e.code
	}
	return exitUsage // cobra's own
}

// outputError names its output already.
type outputError struct{ err error }

func (e *outputError) Error() string { return e.err.Error() }
func (e *outputError) Unwrap() error { return e.err }

// inputError names its input.
type inputError struct{ err error }

func (e *inputError) Error() string { return e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

// named puts the input's name before an error that does not begin with it and
// is not about another file.
func named(name string, err error) error {
	var (
		out  *outputError
		in   *inputError
		path *fs.PathError
	)
	switch {
	case err == nil || errors.As(err, &out) || errors.As(err, &in):
		return err
	case errors.As(err, &path):
		return rewrap(err, &inputError{fmt.Errorf("%s: %w", name, path.Err)})
	case strings.HasPrefix(err.Error(), name+":"):
		return &inputError{err}
	}
	return &inputError{fmt.Errorf("%s: %w", name, err)}
}

// rewrap gives to the code that from has.
func rewrap(from, to error) error {
	var e *exitError
	if errors.As(from, &e) {
		return &exitError{e.code, to}
	}
	return to
}
