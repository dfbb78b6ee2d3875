package cli

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/colsst/colsst/cassandra"
)

// skipFlags say what becomes of the partitions of SSTables that cannot be read,
// in commands that print rows.
type skipFlags struct {
	onError, path string
	rejects       *rejects
}

// add adds the flags, and --max-row.
func (s *skipFlags) add(t *tool) {
	t.choice(&s.onError, "on-error", "fail", "what to do with a partition of an SSTable that cannot be read: fail, or skip all of it (exit code 6)", "fail", "skip")
	t.cmd.Flags().StringVar(&s.path, "reject", "", "with --on-error skip: a CSV of the partitions skipped: file, partition_key, chunk, offset, reason")
	t.maxRowFlag()
}

func (s *skipFlags) skips() bool { return s.onError == "skip" }

func (s *skipFlags) check() error {
	if s.path != "" && !s.skips() {
		return usagef("--reject is for --on-error skip")
	}
	return oneOf("on-error", s.onError, "fail", "skip")
}

// begin creates the file of --reject.
func (s *skipFlags) begin(t *tool, paths []string, force bool) (err error) {
	if s.path == "" {
		return nil
	}
	if err := checkOutputs(paths, s.path); err != nil {
		return err
	}
	s.rejects, err = t.createRejects(s.path, paths, force, false)
	return err
}

func (s *skipFlags) abort() {
	if s.rejects != nil {
		s.rejects.out.abort()
	}
}

// end makes the file appear, and says so if anything was left out.
func (s *skipFlags) end(t *tool) error {
	if err := s.rejects.commit(); err != nil {
		return err
	}
	return leftOut(t.sum.BadPartitions)
}

// leaveOut takes note of a partition in the file, if there is one.
func (s *skipFlags) leaveOut(t *tool) func(fields []string) (listed bool, err error) {
	return func(fields []string) (bool, error) {
		if s.rejects == nil {
			return false, nil
		}
		s.rejects.write(fields...)
		return true, s.rejects.err
	}
}

// skipping is eachFileOf for commands with skipFlags.
func (t *tool) skipping(s *skipFlags, args []string, wanted func(string) bool, out *outFlags, f func(path string, w *bufio.Writer) error) error {
	if s.path != "" {
		paths, err := expand(args, wanted)
		if err == nil {
			err = s.begin(t, paths, out.force)
		}
		if err != nil {
			return err
		}
		defer s.abort()
	}
	if err := t.eachFileOf(args, wanted, out, f); err != nil {
		return err
	}
	return s.end(t)
}

// leftOut is the error of a command that has finished without n partitions.
func leftOut(n int64) error {
	if n == 0 {
		return nil
	}
	return &exitError{exitSkipped, fmt.Errorf("finished, but %s left out", plural(n, "partition was", "partitions were"))}
}

// salvage leaves out of an SSTable what cannot be read. list takes a line of
// the file of rejects and reports whether it has it.
func (t *tool) salvage(x *sstable, list func(fields []string) (listed bool, err error)) error {
	path := x.SSTable().Path(cassandra.ComponentData)
	return orElse(exitData, named(path, x.Salvage(t.ctx(), t.badPartition(x, list))))
}

// badPartition takes note of a partition that is left out.
func (t *tool) badPartition(x *sstable, list func(fields []string) (listed bool, err error)) func(*cassandra.BadPartition) error {
	path := x.SSTable().Path(cassandra.ComponentData)
	return func(p *cassandra.BadPartition) error {
		t.sum.BadPartitions++
		reason := strings.TrimPrefix(p.Err.Error(), path+": ")
		listed, err := list([]string{path, hex.EncodeToString(p.Key), strconv.Itoa(p.Chunk), strconv.FormatInt(p.Offset, 10), reason})
		if err != nil || listed {
			return err
		}
		what := "partition " + hex.EncodeToString(p.Key)
		if p.Key == nil {
			what = fmt.Sprintf("a partition at %d of the body", p.Position)
		}
		if p.Rest {
			what += " and all behind it"
		}
		switch {
		case t.sum.BadPartitions <= told:
			t.warnf("%s: left out: %s: %s", path, what, reason)
		case t.sum.BadPartitions == told+1:
			t.warnf("%s: left out: more partitions; --reject FILE lists all", path)
		}
		return nil
	}
}

// leaveOut takes note of a partition in the journal or the file of rejects.
func (c *convert) leaveOut(fields []string) (listed bool, err error) {
	switch {
	case c.journal != nil: // from which the file takes it
		return c.reject != nil, c.journal.write(fields...)
	case c.reject != nil:
		c.reject.write(fields...)
		return true, c.reject.err
	}
	return false, nil
}
