package cli

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
)

// journalName ends the name of the journal of a run with --resume, after that
// of its state.
const journalName = ".rejects"

// journal holds the rows skipped in a run that may be killed: the lines of a
// file of rejects, input after input. The state says where those of each input
// are, once it is done; what stands behind the last of them was not finished.
type journal struct {
	f   *os.File
	w   *csv.Writer
	at  int64 // lines up to here are of inputs that are done
	err error // the first of writing
}

// openJournal opens the journal of a state whose last lines end at end.
func openJournal(path string, end int64) (*journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, coded(exitOutput, &outputError{fmt.Errorf("%s: %w", path, cause(err))})
	}
	j := &journal{f: f, w: csv.NewWriter(f), at: end}
	info, err := f.Stat()
	if err == nil && info.Size() < end {
		err = errors.New("is shorter than the state beside it says; remove both to convert all inputs again")
	}
	if err == nil {
		err = j.drop()
	}
	if err != nil {
		j.close()
		return nil, coded(exitOutput, &outputError{fmt.Errorf("%s: %w", path, cause(err))})
	}
	return j, nil
}

func (j *journal) fail(err error) error {
	if err != nil && j.err == nil {
		j.err = coded(exitOutput, &outputError{fmt.Errorf("%s: %w", j.f.Name(), cause(err))})
	}
	return j.err
}

func (j *journal) write(fields ...string) error { return j.fail(j.w.Write(fields)) }

// sync makes durable what was written.
func (j *journal) sync() error {
	j.w.Flush()
	if err := j.fail(j.w.Error()); err != nil {
		return err
	}
	return j.fail(j.f.Sync())
}

// end settles the lines of an input, which were synced, and says where they are.
func (j *journal) end() (from, to int64, err error) {
	from = j.at
	j.at, err = j.f.Seek(0, io.SeekCurrent)
	return from, j.at, j.fail(err)
}

// drop removes the lines of an input that was not finished.
func (j *journal) drop() error {
	j.w = csv.NewWriter(j.f) // without what it holds
	if err := j.f.Truncate(j.at); err != nil {
		return j.fail(err)
	}
	_, err := j.f.Seek(j.at, io.SeekStart)
	return j.fail(err)
}

// lines reads the lines of an input.
func (j *journal) lines(from, to int64) io.Reader { return io.NewSectionReader(j.f, from, to-from) }

func (j *journal) close() { _ = j.f.Close() } // what counts was synced
