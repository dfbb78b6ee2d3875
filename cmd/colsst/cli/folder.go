package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// stateName is the file of an output folder that says which inputs are done.
const stateName = ".colsst-convert"

// shardOf leaves the inputs of --shard.
func (c *convert) shardOf(paths []string) ([]string, error) {
	if c.shard == "" {
		return paths, nil
	}
	first, n, ok := strings.Cut(c.shard, "/")
	var err1, err2 error
	c.shardI, err1 = strconv.Atoi(first)
	c.shardN, err2 = strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || c.shardI < 1 || c.shardI > c.shardN {
		return nil, usagef("--shard %s: expected i/N, as in 2/4", c.shard)
	}
	var mine []string
	for i, p := range paths {
		if i%c.shardN == c.shardI-1 {
			mine = append(mine, p)
		}
	}
	return mine, nil
}

// folder converts each input to its file in the output folder.
func (c *convert) folder(paths, outs []string) (err error) {
	dir := c.out.path
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return coded(exitOutput, &outputError{fmt.Errorf("%s: %w", dir, cause(err))})
	}
	var s *state
	if c.resume {
		name := stateName
		if c.shardN > 0 {
			name += fmt.Sprintf(".%d-%d", c.shardI, c.shardN)
		}
		if s, err = openState(filepath.Join(dir, name), c.settings()); err != nil {
			return err
		}
		defer s.close()
		if c.onError == "skip" {
			if c.journal, err = openJournal(s.f.Name()+journalName, s.ends); err != nil {
				return err
			}
			defer func() {
				c.reject.collect(c.journal, s, outs)
				c.journal.close()
			}()
		}
	}
	gone := int64(0)
	for i, path := range paths {
		if err := c.ctx().Err(); err != nil {
			return err
		}
		err := c.one(s, path, outs[i])
		code := ExitCode(classify(err))
		switch {
		case err == nil:
		case vanished(path, err):
			c.notef("%s: has vanished since it was listed, as after a compaction", path)
			c.sum.Skipped++
			gone++
		case c.onError == "skip" && (code == exitData || code == exitInput):
			printError(c.cmd.ErrOrStderr(), classify(err))
			c.sum.Skipped++
		default:
			return err
		}
	}
	c.sum.Output = dir
	c.notef("%s: %s, %s", dir, plural(c.sum.Inputs, "input converted", "inputs converted"), plural(c.sum.Skipped, "skipped", "skipped"))
	if c.sum.Skipped > 0 && (c.onError == "skip" || gone > 0) && c.failedInputs(s) > 0 {
		return &exitError{exitSkipped, fmt.Errorf("finished, but %s", plural(c.failedInputs(s), "input was skipped", "inputs were skipped"))}
	}
	return nil
}

// failedInputs are those skipped for an error, not because they were done.
func (c *convert) failedInputs(s *state) int64 {
	if s == nil {
		return c.sum.Skipped
	}
	return c.sum.Skipped - s.skipped
}

// one converts an input, unless the state says that it is done.
func (c *convert) one(s *state, path, out string) error {
	o := outFlags{path: out, format: c.out.format, force: c.out.force}
	if o.format == "" {
		if o.format = formatOf(out); o.format == "" {
			return usagef("%s: its name tells no format: give --output-format", out)
		}
	}
	if err := c.checkOutput(o.format); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o777); err != nil {
		return coded(exitOutput, &outputError{fmt.Errorf("%s: %w", filepath.Dir(out), cause(err))})
	}
	if s == nil {
		return c.file([]string{path}, o, nil)
	}
	now, err := entryOf(path, out)
	if err != nil {
		return coded(exitInput, named(path, err))
	}
	if s.isDone(now) {
		s.skipped++
		c.sum.Skipped++
		c.rejectedBefore += s.done[out].Rejected
		c.leftOutBefore += s.done[out].LeftOut
		if c.verbose {
			c.notef("%s: done before", path)
		}
		return nil
	}
	// What a run that was killed has left may be replaced.
	o.force = o.force || s.begun[out]
	begun := func() error {
		if c.journal != nil {
			if err := c.journal.sync(); err != nil {
				return err
			}
		}
		return s.add(entry{Begin: now.Done, Output: out})
	}
	rejected, leftOut := c.sum.Rejected, c.sum.BadPartitions
	if err := c.file([]string{path}, o, begun); err != nil {
		if c.journal != nil {
			err = errors.Join(err, c.journal.drop())
			c.sum.Rejected, c.sum.BadPartitions = rejected, leftOut
		}
		return err
	}
	if c.journal != nil {
		if now.RejectsFrom, now.RejectsTo, err = c.journal.end(); err != nil {
			return err
		}
	}
	if c.partSize > 0 {
		files, err := partsOf(out)
		if err != nil {
			return coded(exitOutput, &outputError{fmt.Errorf("%s: %w", out, cause(err))})
		}
		now.Files = len(files)
	}
	now.Rejected, now.LeftOut = c.sum.Rejected-rejected, c.sum.BadPartitions-leftOut
	return s.add(now)
}

// outputs are the files that the inputs become: an input below a folder that
// was given keeps its place in it.
func (c *convert) outputs(dir string, args, paths []string) ([]string, error) {
	if slices.Contains(paths, "-") {
		return nil, usagef("stdin has no name for a file in %s: give -o FILE", dir)
	}
	outs := make([]string, len(paths))
	from := map[string]string{}
	for i, path := range paths {
		rel := filepath.Base(path)
		for _, arg := range args {
			if r, err := filepath.Rel(arg, path); err == nil && r != "." && filepath.IsLocal(r) {
				rel = r
			}
		}
		rel, _ = unpackedName(rel)
		name, isSSTable := strings.CutSuffix(rel, sstableSuffix)
		format := c.out.format
		if format == "" {
			format = formatTable
			if c.inputFormat == formatTable || c.inputFormat == "" && formatOf(path) == formatTable {
				format = formatCSV
			}
		}
		if isSSTable {
			rel = name
		} else if formatOf(rel) != "" {
			rel = strings.TrimSuffix(rel, filepath.Ext(rel))
		}
		outs[i] = filepath.Join(dir, rel) + map[string]string{formatTable: ".csst", formatLine: ".lp"}[format]
		if format != formatTable && format != formatLine {
			outs[i] += "." + format
		}
		if other, taken := from[outs[i]]; taken {
			return nil, usagef("%s and %s would both become %s", other, path, outs[i])
		}
		from[outs[i]] = path
	}
	return outs, nil
}

// settings are the flags that the outputs depend on.
func (c *convert) settings() string {
	var set []string
	c.cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"output", "force", "resume", "shard", "jobs", "quiet", "verbose", "no-progress", "summary", "reject", "on-error", "temp-dir"}, f.Name) {
			set = append(set, "--"+f.Name+"="+f.Value.String())
		}
	})
	return strings.Join(set, " ")
}

// state says which inputs are done: a line of JSON each, durable before the
// next input begins. The last line may be cut by a crash; it is dropped then.
//
//	{"settings":"--time=t:s"}
//	{"begin":"a.csv","output":"out/a.csst"}
//	{"done":"a.csv","output":"out/a.csst","size":120,"modified":1700000000000000000,"rejected":1,"rejects_to":80}
type state struct {
	f       *os.File
	done    map[string]entry // by output
	ends    int64            // of the lines of all inputs in the journal
	begun   map[string]bool  // outputs that may be of a run that was killed
	skipped int64
}

type entry struct {
	Settings *string `json:"settings,omitempty"`
	Begin    string  `json:"begin,omitempty"`
	Done     string  `json:"done,omitempty"`
	Output   string  `json:"output,omitempty"`
	Size     int64   `json:"size,omitempty"`
	Modified int64   `json:"modified,omitempty"` // ns since 1970
	Rejected int64   `json:"rejected,omitempty"` // rows that were skipped
	LeftOut  int64   `json:"left_out,omitempty"` // partitions, likewise
	Files    int     `json:"files,omitempty"`    // that the output consists of, with --output-size
	// Where their lines are in the journal, if there is one.
	RejectsFrom int64 `json:"rejects_from,omitempty"`
	RejectsTo   int64 `json:"rejects_to,omitempty"`
}

// entryOf is what the state will say of an input that is done.
func entryOf(path, out string) (entry, error) {
	info, err := os.Stat(path)
	if err != nil {
		return entry{}, err
	}
	return entry{Done: path, Output: out, Size: info.Size(), Modified: info.ModTime().UnixNano()}, nil
}

func openState(path, settings string) (*state, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, coded(exitOutput, &outputError{fmt.Errorf("%s: %w", path, cause(err))})
	}
	s := &state{f: f, done: map[string]entry{}, begun: map[string]bool{}}
	if err := s.load(settings); err != nil {
		s.close()
		return nil, coded(exitOutput, &outputError{fmt.Errorf("%s: %w", path, cause(err))})
	}
	return s, nil
}

func (s *state) load(settings string) error {
	text, err := io.ReadAll(bufio.NewReader(s.f))
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	if whole < len(text) {
		if err := s.f.Truncate(int64(whole)); err != nil {
			return err
		}
	}
	for line := range bytes.Lines(text[:whole]) {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return errors.New("is no state of convert --resume; remove it to convert all inputs again")
		}
		switch {
		case e.Settings != nil && *e.Settings != settings:
			return &exitError{exitUsage, fmt.Errorf("the run to resume had other options, %q; give the same, or remove the file to convert all again", *e.Settings)}
		case e.Begin != "":
			s.begun[e.Output] = true
		case e.Done != "":
			s.done[e.Output] = e
			s.ends = max(s.ends, e.RejectsTo)
		}
	}
	if whole == 0 {
		return s.add(entry{Settings: &settings})
	}
	return nil
}

// isDone reports whether the input is done and has not changed since.
func (s *state) isDone(e entry) bool {
	done := s.done[e.Output]
	files := done.Files
	done.Files = 0
	done.Rejected, done.LeftOut, done.RejectsFrom, done.RejectsTo = 0, 0, 0, 0 // are not of the input
	if done != e {
		return false
	}
	for i := range files {
		if _, err := os.Stat(partPath(e.Output, i)); errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	if files > 0 {
		return true
	}
	_, err := os.Stat(e.Output)
	return !errors.Is(err, fs.ErrNotExist)
}

func (s *state) add(e entry) error {
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if _, err = s.f.Write(append(b, '\n')); err == nil {
		err = s.f.Sync()
	}
	if err != nil {
		return coded(exitOutput, &outputError{fmt.Errorf("%s: %w", s.f.Name(), cause(err))})
	}
	s.begun[e.Output] = true
	if e.Done != "" {
		s.done[e.Output] = e
	}
	return nil
}

func (s *state) close() { _ = s.f.Close() } // all of it was synced
