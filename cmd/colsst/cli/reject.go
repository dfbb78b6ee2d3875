package cli

import (
	"encoding/csv"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/colsst/colsst/textfmt"
)

// rejects is the file of the rows that were skipped.
type rejects struct {
	out *output
	w   *csv.Writer
	err error                 // the first of writing it
	old map[string][][]string // lines of the runs that are resumed, by input
}

// rejectHeader is the first line of the file.
var rejectHeader = []string{"file", "line", "reason"}

func (c *convert) createRejects(path string, force bool) (*rejects, error) {
	if path == "-" {
		return nil, usagef("--reject: give a file")
	}
	var old map[string][][]string
	if c.resume {
		var err error
		if old, err = oldRejects(path); err != nil {
			return nil, err
		}
		force = force || old != nil
	}
	out, err := c.createOutput(&outFlags{path: path, force: force})
	if err != nil {
		return nil, err
	}
	r := &rejects{out: out, w: csv.NewWriter(out.w)}
	r.old = old
	r.write(rejectHeader...)
	return r, r.err
}

// oldRejects reads the file of the runs before; nil if there is none.
func oldRejects(path string) (map[string][][]string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, coded(exitInput, named(path, err))
	}
	defer func() { _ = f.Close() }() // only read
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil || len(lines) == 0 || !slices.Equal(lines[0], rejectHeader) {
		return nil, usagef("--reject: %s is no file of rejects of the runs before; give another", path)
	}
	old := map[string][][]string{}
	for _, l := range lines[1:] {
		old[l[0]] = append(old[l[0]], l)
	}
	return old, nil
}

// forget drops the lines that runs before wrote of an input.
func (r *rejects) forget(input string) {
	if r != nil {
		delete(r.old, input)
	}
}

func (r *rejects) write(fields ...string) {
	if err := r.w.Write(fields); err != nil && r.err == nil {
		r.err = r.out.failure(err)
	}
}

// flush brings all to the file, before the output appears.
func (r *rejects) flush() error {
	if r == nil {
		return nil
	}
	r.w.Flush()
	if err := r.w.Error(); err != nil && r.err == nil {
		r.err = r.out.failure(err)
	}
	if r.err == nil {
		r.err = r.out.w.Flush()
	}
	return r.err
}

// commit makes the file appear, with the lines of the runs before that still hold.
func (r *rejects) commit() error {
	if r == nil {
		return nil
	}
	for _, input := range slices.Sorted(maps.Keys(r.old)) {
		for _, line := range r.old[input] {
			r.write(line...)
		}
	}
	if err := r.flush(); err != nil {
		return err
	}
	return r.out.commit()
}

// skipRow takes note of a row that is malformed.
func (c *convert) skipRow(e *textfmt.SyntaxError) bool {
	const told = 10
	c.sum.Rejected++
	switch {
	case c.reject != nil:
		line := strconv.FormatInt(e.Line, 10)
		c.reject.write(e.File, line, strings.TrimPrefix(e.Error(), e.File+":"+line+":"))
		return c.reject.err == nil
	case c.sum.Rejected <= told:
		c.notef("skipped: %v", e)
	case c.sum.Rejected == told+1:
		c.notef("skipped: more rows; --reject FILE lists all")
	}
	return true
}
