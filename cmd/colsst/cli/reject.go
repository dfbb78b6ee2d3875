package cli

import (
	"encoding/csv"
	"strconv"
	"strings"

	"github.com/colsst/colsst/textfmt"
)

// rejects is the file of the rows that were skipped.
type rejects struct {
	out *output
	w   *csv.Writer
	err error // the first of writing it
}

func (c *convert) createRejects(path string, force bool) (*rejects, error) {
	if path == "-" {
		return nil, usagef("--reject: give a file")
	}
	out, err := c.createOutput(&outFlags{path: path, force: force})
	if err != nil {
		return nil, err
	}
	r := &rejects{out: out, w: csv.NewWriter(out.w)}
	r.write("file", "line", "reason")
	return r, r.err
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

func (r *rejects) commit() error {
	if err := r.flush(); r == nil || err != nil {
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
