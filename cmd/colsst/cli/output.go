package cli

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/colsst/colsst/internal/atomicfile"
)

// outFlags say where a command's output goes.
type outFlags struct {
	path   string
	format string
	force  bool
}

func (o *outFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.path, "output", "o", "", "output file, or - for stdout")
	f.StringVar(&o.format, "output-format", "", "colsst or csv (default: by the file's name)")
	f.BoolVarP(&o.force, "force", "f", false, "replace an existing output file")
}

// check settles the format.
func (o *outFlags) check() error {
	if o.path == "" {
		return usagef("no output: give -o FILE, or -o - for stdout")
	}
	if err := checkFormat("--output-format", o.format); err != nil {
		return err
	}
	if o.format == "" {
		if o.format = formatOf(o.path); o.format == "" {
			return usagef("%s: its name tells no format: give --output-format colsst or csv", o.path)
		}
		if len(o.path) > 3 && o.path[len(o.path)-3:] == ".gz" {
			return usagef("%s: compressed output is not written; leave .gz away", o.path)
		}
	}
	return nil
}

// output is a file that appears when it is committed, or stdout.
type output struct {
	name string
	file *atomicfile.File // nil: stdout
	w    *bufio.Writer
	n    int64
}

// createOutput begins the output. Tables do not go to a terminal.
func (t *tool) createOutput(o *outFlags) (*output, error) {
	out := &output{name: o.path}
	var w io.Writer
	if o.path == "-" {
		out.name, w = "stdout", t.cmd.OutOrStdout()
		if o.format == formatTable && isTerminal(w) {
			return nil, usagef("a table is not written to a terminal: give -o FILE")
		}
	} else {
		f, err := atomicfile.Create(o.path, o.force)
		if err != nil {
			return nil, out.failure(err)
		}
		out.file, w = f, f
	}
	out.w = bufio.NewWriterSize(outputWriter{out, w}, 256<<10)
	return out, nil
}

// failure marks an error as one of the output.
func (o *output) failure(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return &exitError{exitOutput, errors.New(o.name + ": exists; give -f to replace it")}
	}
	return coded(exitOutput, named(o.name, err))
}

type outputWriter struct {
	o *output
	w io.Writer
}

func (w outputWriter) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	w.o.n += int64(n)
	if err != nil {
		err = w.o.failure(err)
	}
	return n, err
}

// flush brings everything to the file.
func (o *output) flush() error { return o.w.Flush() }

// commit makes the output appear.
func (o *output) commit() error {
	if err := o.flush(); err != nil {
		o.abort()
		return err
	}
	if o.file == nil {
		return nil
	}
	if err := o.file.Commit(); err != nil {
		return o.failure(err)
	}
	return nil
}

// abort leaves no output; after commit it is a no-op.
func (o *output) abort() {
	if o.file != nil {
		o.file.Abort()
	}
}

func isTerminal(v any) bool {
	f, ok := v.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
