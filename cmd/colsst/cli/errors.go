package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

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
	exitInterrupted = 130
)

// exitError is an error with its exit code.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// silentError says no without a line on stderr.
type silentError struct{}

func (*silentError) Error() string { return "no" }

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

func flagError(_ *cobra.Command, err error) error { return usagef("%w", err) }

// orElse gives err the code that its kind asks for, or else this one.
func orElse(code int, err error) error {
	var (
		syntax *textfmt.SyntaxError
		order  *textfmt.OrderError
		rows   *rowgroup.OrderError
		path   *fs.PathError
	)
	switch {
	case errors.Is(err, context.Canceled):
		return coded(exitInterrupted, err)
	case errors.Is(err, encoding.ErrCorrupt), errors.Is(err, encoding.ErrUnsupported),
		errors.As(err, &syntax), errors.As(err, &order), errors.As(err, &rows):
		return coded(exitData, err)
	case errors.As(err, &path):
		return coded(exitInput, err) // those of outputs have their code
	}
	return coded(code, err)
}

// classify gives every error of a command an exit code.
func classify(err error) error {
	if err != nil && errors.Is(err, context.Canceled) {
		return &exitError{exitInterrupted, errors.New("interrupted")}
	}
	return orElse(exitNo, err)
}

// ExitCode is the exit code that the tool's process returns for an error of
// one of its commands: 0 no error, 1 the answer is no, 2 usage, 3 input that
// is corrupt, malformed or unsupported, 4 input missing or unreadable, 5
// output that exists or cannot be written, 130 interrupted.
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

// named puts the file's name before an error that does not begin with it.
func named(name string, err error) error {
	if err == nil {
		return nil
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return rewrap(err, fmt.Errorf("%s: %w", name, path.Err))
	}
	if text := err.Error(); len(text) > len(name) && text[:len(name)] == name && text[len(name)] == ':' {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// rewrap gives to the code that from has.
func rewrap(from, to error) error {
	var e *exitError
	if errors.As(from, &e) {
		return &exitError{e.code, to}
	}
	return to
}
