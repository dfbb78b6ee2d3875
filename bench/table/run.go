package table

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"time"

	"github.com/colsst/colsst/bench/result"
	"github.com/colsst/colsst/internal/generate"
)

const suite = "table"

// Options say what to measure.
type Options struct {
	Quick    bool
	Series   int
	Points   int    // of each series; 0: a week, or a day if Quick
	Variant  string // of values: full or 2dec
	Subjects string // a regular expression
	Dir      string // for the files

	Log io.Writer `json:"-"`
}

// budget is the time for one kind of query.
func (o *Options) budget() time.Duration {
	if o.Quick {
		return 100 * time.Millisecond
	}
	return time.Second
}

// Run measures every subject that o asks for, and returns the results, the
// ratios to be reached among them. A subject that fails is told of and left out.
func Run(ctx context.Context, o Options) (list result.List, err error) {
	only, err := regexp.Compile(o.Subjects)
	if err != nil {
		return nil, err
	}
	if o.Points == 0 {
		o.Points = generate.WeekPoints
		if o.Quick {
			o.Points = 17280
		}
	}
	if _, err := o.metrics(); err != nil {
		return nil, err
	}
	var ids []string
	for _, s := range subjects() {
		ids = append(ids, s.id())
	}
	for _, s := range pointSubjects() {
		ids = append(ids, s.id())
	}
	// Subjects that are interrupted leave their files, in here.
	if o.Dir, err = os.MkdirTemp(o.Dir, "colsst-bench-"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.Dir)) }()
	list = result.List{result.Describe(suite)}
	for _, id := range ids {
		if !only.MatchString(id) {
			continue
		}
		fmt.Fprintf(o.Log, "table: %s\n", id)
		l, err := runSubject(ctx, &o, id)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			fmt.Fprintf(o.Log, "table: %s failed: %v\n", id, err)
			continue
		}
		list = append(list, l...)
	}
	o.targets(&list)
	return list, nil
}

// runSubject measures in a process of its own, so that the peak of memory is
// the subject's.
func runSubject(ctx context.Context, o *Options, id string) (result.List, error) {
	options, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, Child, string(options), id)
	cmd.Stderr = o.Log
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	return result.Read(bytes.NewReader(out))
}
