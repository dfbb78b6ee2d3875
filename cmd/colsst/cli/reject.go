package cli

import (
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/colsst/colsst/textfmt"
)

// rejects is the file of the rows, or partitions of SSTables, that were skipped.
type rejects struct {
	out *output
	w   *csv.Writer
	err error // the first of writing it
}

// The first lines of the file: of rows of text, and of partitions.
var (
	rejectedRows       = []string{"file", "line", "reason"}
	rejectedPartitions = []string{"file", "partition_key", "chunk", "offset", "reason"}
)

// createRejects begins the file for what the inputs are. A run that goes on
// (resume) replaces the one of the runs before, whose lines it has.
func (t *tool) createRejects(path string, paths []string, force, resume bool) (*rejects, error) {
	if path == "-" {
		return nil, usagef("--reject: give a file")
	}
	header := rejectedRows
	if slices.ContainsFunc(paths, isSSTable) {
		header = rejectedPartitions
		if i := slices.IndexFunc(paths, func(p string) bool { return !isSSTable(p) && formatOf(p) != formatTable }); i >= 0 {
			return nil, usagef("--reject: %s is text, and other inputs are SSTables: give them in runs of their own", paths[i])
		}
	}
	if resume && !force {
		var err error
		if force, err = isRejects(path, header); err != nil {
			return nil, err
		}
	}
	out, err := t.createOutput(&outFlags{path: path, force: force})
	if err != nil {
		return nil, err
	}
	r := &rejects{out: out, w: csv.NewWriter(out.w)}
	r.write(header...)
	return r, r.err
}

// isRejects reports whether there is a file of rejects; another file is an
// error.
func isRejects(path string, header []string) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, coded(exitInput, named(path, err))
	}
	defer func() { _ = f.Close() }() // only read
	if line, err := csv.NewReader(f).Read(); err != nil || !slices.Equal(line, header) {
		return false, usagef("--reject: %s is no file of rejects of the runs before; give another", path)
	}
	return true, nil
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

// commit makes the file appear.
func (r *rejects) commit() error {
	if r == nil {
		return nil
	}
	if err := r.flush(); err != nil {
		return err
	}
	return r.out.commit()
}

// collect takes the lines of the inputs that are done from the journal.
func (r *rejects) collect(j *journal, s *state, outs []string) {
	if r == nil || j == nil {
		return
	}
	r.w.Flush()
	for _, out := range outs {
		e := s.done[out]
		if _, err := io.Copy(r.out.w, j.lines(e.RejectsFrom, e.RejectsTo)); err != nil && r.err == nil {
			r.err = r.out.failure(err)
		}
	}
}

// told is how many rows or partitions that were skipped are told of on stderr.
const told = 10

// skipRow takes note of a row that is malformed.
func (c *convert) skipRow(e *textfmt.SyntaxError) bool {
	c.sum.Rejected++
	line := strconv.FormatInt(e.Line, 10)
	fields := []string{e.File, line, strings.TrimPrefix(e.Error(), e.File+":"+line+":")}
	if c.journal != nil && c.journal.write(fields...) != nil {
		return false
	}
	switch {
	case c.reject != nil && c.journal == nil: // else it takes them from there
		c.reject.write(fields...)
		return c.reject.err == nil
	case c.reject != nil:
	case c.sum.Rejected <= told:
		c.notef("skipped: %v", e)
	case c.sum.Rejected == told+1:
		c.notef("skipped: more rows; --reject FILE lists all")
	}
	return true
}
