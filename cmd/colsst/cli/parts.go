package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/colsst/colsst/parquetfmt"
	"github.com/colsst/colsst/rowgroup"
)

// parts are the files of about one size that an output becomes: of OUT.parquet
// OUT-00000.parquet, OUT-00001.parquet and so on. They appear when all of them are
// whole.
type parts struct {
	tool  *tool
	out   outFlags
	size  int64
	files []*output
	rows  []int64  // of the files that are whole
	old   []string // those of another run, which go
}

// outputPart is what --summary json says of one of the files.
type outputPart struct {
	Path  string `json:"path"`
	Rows  int64  `json:"rows"`
	Bytes int64  `json:"bytes"`
}

// partPath is the name of the i-th file.
func partPath(out string, i int) string {
	ext := filepath.Ext(out)
	return fmt.Sprintf("%s-%05d%s", strings.TrimSuffix(out, ext), i, ext)
}

var partNumber = regexp.MustCompile(`^-[0-9]{5,}$`)

// partsOf are the files of an output that are there.
func partsOf(out string) ([]string, error) {
	dir, ext := filepath.Dir(out), filepath.Ext(out)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ext)
		n, same := strings.CutPrefix(name, strings.TrimSuffix(filepath.Base(out), ext))
		if ok && same && partNumber.MatchString(n) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, nil
}

// createParts begins an output of several files. Files of an earlier one are
// replaced by force, all of them.
func (t *tool) createParts(o *outFlags, size int64, inputs []string) (*output, error) {
	out := &output{name: o.path}
	old, err := partsOf(o.path)
	if err != nil {
		return nil, out.failure(err)
	}
	for _, path := range old {
		if slices.ContainsFunc(inputs, func(in string) bool { return sameFile(in, path) }) {
			return nil, usagef("%s is the input and the output", path)
		}
		if !o.force {
			return nil, (&output{name: path}).failure(os.ErrExist)
		}
	}
	out.parts = &parts{tool: t, out: *o, size: size, old: old}
	return out, nil
}

// next begins the next file.
func (p *parts) next() (*output, error) {
	o := p.out
	o.path = partPath(o.path, len(p.files))
	out, err := p.tool.createOutput(&o)
	if err != nil {
		return nil, err
	}
	p.files = append(p.files, out)
	return out, nil
}

// commit makes the files appear, and those of an earlier output go.
func (p *parts) commit() error {
	for _, f := range p.files {
		if err := f.appear(); err != nil {
			return err
		}
	}
	for _, path := range p.old {
		if !slices.ContainsFunc(p.files, func(f *output) bool { return filepath.Clean(f.name) == path }) {
			if err := os.Remove(path); err != nil {
				return (&output{name: path}).failure(err)
			}
		}
	}
	return nil
}

func (p *parts) abort() {
	for _, f := range p.files {
		f.abort()
	}
}

// partsSink writes Parquet files that are closed at about a size: between
// partitions, and between rows in one that alone is as large. A file that begins
// within a partition has its deletion and static row too.
type partsSink struct {
	convert *convert
	out     *output
	schema  *rowgroup.Schema
	columns []string
	opts    []parquetfmt.Option

	now     *parquetSink // nil: no file is open
	file    *output
	written int64           // bytes of the files before
	from    int64           // size of the file when the last partition began
	open    bool            // a range tombstone is open behind the last row
	head    *rowgroup.Batch // the last partition, without its rows
	part    *rowgroup.Batch
	raw     int64 // bytes of values in row groups that were written
	packed  int64 // of the groups
}

func newPartsSink(c *convert, out *output, s *rowgroup.Schema, columns []string, opts []parquetfmt.Option) (*partsSink, error) {
	p := &partsSink{convert: c, out: out, schema: s, columns: columns, opts: opts, head: rowgroup.NewBatch(s), part: rowgroup.NewBatch(s)}
	p.head.Clear()
	return p, p.begin()
}

func (p *partsSink) begin() (err error) {
	if p.file, err = p.out.parts.next(); err != nil {
		return err
	}
	p.from = 0
	p.now, err = newParquetSink(p.file, p.schema, p.columns, p.opts)
	return err
}

// size is about what the file would have if it ended here: the rows that wait
// become smaller as those before did.
func (p *partsSink) size() (int64, error) {
	w := p.now.w
	waiting := w.Buffered()
	if p.raw == 0 {
		if waiting < max(p.out.parts.size/2, 1) {
			return w.Bytes() + waiting, nil
		}
		if err := p.measure(); err != nil {
			return 0, err
		}
		waiting = 0
	}
	return w.Bytes() + int64(float64(waiting)*float64(p.packed)/float64(p.raw)), nil
}

// measure writes the rows that wait, to see how small they become.
func (p *partsSink) measure() error {
	w := p.now.w
	waiting, before := w.Buffered(), w.Bytes()
	if err := w.Flush(); err != nil {
		return orElse(exitData, err)
	}
	p.raw, p.packed = waiting, w.Bytes()-before
	return nil
}

func (p *partsSink) write(b *rowgroup.Batch) error {
	if b.NumPartitions() == 0 {
		return nil
	}
	size, err := p.size()
	if err != nil {
		return err
	}
	target := p.out.parts.size
	switch first := b.Partition(0); {
	case size < target:
	case !first.Continued:
		if err := p.cut(); err != nil {
			return err
		}
	case b.NumPartitions() > 1:
		from, _ := b.PartitionRows(1)
		p.part.Clear()
		if err := p.part.AppendParts(b, 0, from, 0, 1); err != nil {
			return orElse(exitData, err)
		}
		if err := p.append(p.part); err != nil {
			return err
		}
		if err := p.cut(); err != nil {
			return err
		}
		p.part.Clear()
		if err := p.part.AppendParts(b, from, b.Len(), 1, b.NumPartitions()); err != nil {
			return orElse(exitData, err)
		}
		b = p.part
	case size-p.from >= target && !p.open:
		if err := p.cut(); err != nil {
			return err
		}
		p.part.Clear()
		err := p.part.AppendParts(p.head, 0, 0, 0, 1)
		if err == nil {
			err = p.part.AppendParts(b, 0, b.Len(), 0, 1)
		}
		if err != nil {
			return orElse(exitData, err)
		}
		b = p.part
	}
	return p.append(b)
}

// append adds rows to the file and notes where they leave it.
func (p *partsSink) append(b *rowgroup.Batch) error {
	last := b.NumPartitions() - 1
	from, to := b.PartitionRows(last)
	if !b.Partition(last).Continued {
		size, err := p.size()
		if err != nil {
			return err
		}
		p.from, p.open = size, false
		p.head.Clear()
		if err := p.head.AppendParts(b, from, from, last, last+1); err != nil {
			return orElse(exitData, err)
		}
	}
	for _, m := range *b.Markers() {
		if m.Row >= from && m.Row < to {
			p.open = m.Kind.Opens()
		}
	}
	if err := p.now.write(b); err != nil {
		return err
	}
	p.out.n = p.written + p.now.w.Bytes()
	return nil
}

// close ends the file.
func (p *partsSink) close() error {
	if p.raw == 0 {
		if err := p.measure(); err != nil {
			return err
		}
	}
	if err := p.now.end(); err != nil {
		return err
	}
	if err := p.file.w.Flush(); err != nil {
		return err
	}
	p.file.w = nil // frees its buffer
	if p.convert.verify {
		if err := p.convert.verifyOutput(p.file); err != nil {
			return err
		}
	}
	p.written += p.file.n
	p.out.n = p.written
	p.out.parts.rows = append(p.out.parts.rows, p.now.w.Rows())
	return nil
}

func (p *partsSink) cut() error {
	if err := p.close(); err != nil {
		return err
	}
	return p.begin()
}

func (p *partsSink) end() error { return p.close() }

// list is what a summary says of the files.
func (p *parts) list() []outputPart {
	var list []outputPart
	for i, f := range p.files {
		list = append(list, outputPart{f.name, p.rows[i], f.n})
	}
	return list
}
