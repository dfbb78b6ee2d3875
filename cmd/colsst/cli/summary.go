package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"time"
)

// summary is the last line of --summary json.
type summary struct {
	Command       string        `json:"command"`
	Exit          int           `json:"exit"`
	Error         string        `json:"error,omitempty"`
	Inputs        int64         `json:"inputs"`                   // that were read to their end
	Skipped       int64         `json:"skipped,omitempty"`        // inputs that failed or were done before
	LeftOut       int64         `json:"left_out,omitempty"`       // SSTables and other files of folders that do not count
	LeftOutFiles  []leftOutFile `json:"left_out_files,omitempty"` // those, and why
	Output        string        `json:"output,omitempty"`
	Outputs       []outputPart  `json:"outputs,omitempty"` // the files of --output-size
	Rows          int64         `json:"rows"`
	Rejected      int64         `json:"rejected,omitempty"`       // rows of text that were skipped
	BadPartitions int64         `json:"bad_partitions,omitempty"` // of SSTables, that were left out
	BlankLines    int64         `json:"blank_lines,omitempty"`    // of CSV, which are no rows
	Rounded       int64         `json:"rounded,omitempty"`        // numbers of more digits than their type keeps
	Duplicates    int64         `json:"duplicates,omitempty"`     // rows left out by --unique
	BytesIn       *int64        `json:"bytes_in,omitempty"`       // absent where an input has no size
	BytesOut      int64         `json:"bytes_out,omitempty"`
	BytesPerRow   *float64      `json:"bytes_per_row,omitempty"`
	Seconds       float64       `json:"seconds"`
}

func printLine(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// written tells of an output that was written.
func (t *tool) written(out *output, rows int64, bytesIn *int64) {
	text := fmt.Sprintf("%s: %s", out.name, plural(rows, "row"))
	if bytesIn != nil {
		text += fmt.Sprintf(", %s in", plural(*bytesIn, "byte"))
	}
	text += fmt.Sprintf(", %s out", plural(out.n, "byte"))
	if rows > 0 {
		text += fmt.Sprintf(", %.2f bytes/row", float64(out.n)/float64(rows))
	}
	if took := time.Since(t.started); t.verbose && took > 0 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		text += fmt.Sprintf(", %s, %.0f rows/s, %d MiB of memory", took.Round(time.Millisecond), float64(rows)/took.Seconds(), m.Sys>>20)
	}
	t.notef("%s", text)
	s := &t.sum
	s.Rows += rows
	s.BytesOut += out.n
	if s.Rows > 0 {
		per := float64(s.BytesOut) / float64(s.Rows)
		s.BytesPerRow = &per
	}
}
