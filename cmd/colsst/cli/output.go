package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/colsst/colsst/internal/atomicfile"
)

// outFlags say where a command's output goes.
type outFlags struct {
	path   string
	format string
	force  bool
}

// file adds the flags of a command that writes rows.
func (o *outFlags) file(t *tool) {
	f := t.cmd.Flags()
	f.StringVarP(&o.path, "output", "o", "", "output file, or - for stdout")
	t.choice(&o.format, "output-format", "", "format of the output: "+strings.Join(outputFormats, ", ")+" (default: by its name, else csv)", outputFormats...)
	f.BoolVarP(&o.force, "force", "f", false, "replace an existing output file")
}

// report adds the flags of a command that prints, in the first of the formats
// unless another is asked for.
func (o *outFlags) report(t *tool, formats ...string) {
	f := t.cmd.Flags()
	f.StringVarP(&o.path, "output", "o", "-", "file to print to, or - for stdout")
	f.BoolVarP(&o.force, "force", "f", false, "replace an existing output file")
	t.choice(&o.format, "format", formats[0], "what is printed: "+strings.Join(formats, ", "), formats...)
}

// check settles the format of an output of rows.
func (o *outFlags) check() error {
	if err := checkName(o.path); err != nil {
		return err
	}
	if o.format == "" {
		o.format = formatOf(o.path)
		if o.path == "-" {
			o.format = formatCSV
		}
		if o.format == "" {
			return usagef("%s: its name tells no format: give --output-format, one of %s", o.path, strings.Join(outputFormats, ", "))
		}
	}
	if !slices.Contains(outputFormats, o.format) {
		return usagef("%s is read, not written: expected %s", o.format, strings.Join(outputFormats, ", "))
	}
	return nil
}

// checkName refuses names that no output has.
func checkName(path string) error {
	if path == "" || path == "=" { // the latter of -o=
		return usagef("no output: give -o FILE, or -o - for stdout")
	}
	if name, packed := unpackedName(path); packed {
		return usagef("%s: compressed output is not written: name it %s", path, name)
	}
	return nil
}

// checkOutputs refuses names that no output has, outputs that are one of the
// inputs, and two outputs that are one file.
func checkOutputs(inputs []string, outs ...string) error {
	for i, out := range outs {
		if err := checkName(out); err != nil {
			return err
		}
		for _, in := range inputs {
			if sameFile(in, out) {
				return usagef("%s is the input and the output", out)
			}
		}
		for _, other := range outs[:i] {
			if sameFile(other, out) {
				return usagef("%s is two outputs at once", out)
			}
		}
	}
	return nil
}

// sameFile reports whether two paths are of one regular file, which need not
// exist.
func sameFile(a, b string) bool {
	if a == "-" || b == "-" {
		return false
	}
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return y.Mode().IsRegular() && os.SameFile(x, y)
	}
	return errA != nil && errB != nil && realPath(a) == realPath(b)
}

// realPath is a path without links in its folder.
func realPath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	dir, name := filepath.Split(path)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return filepath.Join(dir, name)
}

// output is a file that appears when it is committed, or stdout.
type output struct {
	name string
	file *atomicfile.File // nil: stdout
	w    *bufio.Writer
	n    int64

	parts *parts // if it becomes several files
}

// createOutput begins the output. Tables do not go to a terminal.
func (t *tool) createOutput(o *outFlags) (*output, error) {
	if err := checkName(o.path); err != nil {
		return nil, err
	}
	out := &output{name: o.path}
	var w io.Writer
	if o.path == "-" {
		out.name, w = "stdout", t.stdout()
		if (o.format == formatTable || o.format == formatParquet) && isTerminal(w) {
			return nil, usagef("a table file is not written to a terminal: give -o FILE")
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

// createRows begins an output that is written while a bar of progress might be
// shown: not on the terminal that gets the rows.
func (t *tool) createRows(o *outFlags) (*output, error) {
	t.noProgress = t.noProgress || o.path == "-" && isTerminal(t.stdout())
	return t.createOutput(o)
}

// report prints with f to the output.
func (t *tool) report(o *outFlags, f func(w *bufio.Writer) error) error {
	out, err := t.createOutput(&outFlags{path: o.path, force: o.force})
	if err != nil {
		return err
	}
	defer out.abort()
	err = f(out.w)
	switch ExitCode(err) {
	case exitOK, exitNo, exitData, exitInput, exitSkipped:
		// What was printed before stands.
		if failed := out.commit(); failed != nil {
			return failed
		}
	}
	return err
}

// failure marks an error as one of the output.
func (o *output) failure(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return &exitError{exitOutput, &outputError{errors.New(o.name + ": exists; give -f to replace it")}}
	}
	var done *outputError
	if errors.As(err, &done) {
		return err
	}
	return coded(exitOutput, &outputError{fmt.Errorf("%s: %w", o.name, cause(err))})
}

// cause is what went wrong with a file, without the file's name.
func cause(err error) error {
	var (
		path *fs.PathError
		link *os.LinkError
	)
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
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

// commit makes the output appear.
func (o *output) commit() error {
	if o.parts != nil {
		return o.parts.commit()
	}
	if err := o.w.Flush(); err != nil {
		o.abort()
		return err
	}
	return o.appear()
}

// appear makes an output appear that was written to its end.
func (o *output) appear() error {
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
	if o.parts != nil {
		o.parts.abort()
	}
	if o.file != nil {
		o.file.Abort()
	}
}

func isTerminal(v any) bool {
	if s, ok := v.(*stdoutWriter); ok {
		v = s.w
	}
	f, ok := v.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
