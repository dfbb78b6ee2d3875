package imports

import (
	"bufio"
	"os"
	"path/filepath"
	"testing"

	"github.com/colsst/colsst/internal/generate"
)

// Every subject takes the rows of every kind of text.
func TestSubjects(t *testing.T) {
	m := generate.Metrics5{Series: 3, Points: 300, Seed: generate.Seed}
	for _, text := range []struct {
		kind     kind
		shuffled bool
		header   string
		make     func(w *bufio.Writer) (int64, error)
	}{
		{metrics, false, metricsHeader, func(w *bufio.Writer) (int64, error) { return writeMetrics(w, m) }},
		{metrics, true, metricsHeader, func(w *bufio.Writer) (int64, error) { return writeByTime(w, m) }},
		{accessLog, false, accessHeader, func(w *bufio.Writer) (int64, error) { return writeAccess(w, 500) }},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "in.csv")
		rows, err := writeText(path, text.header, text.make)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range subjects() {
			if text.shuffled != (s.name == sortName) {
				continue
			}
			j := &job{Subject: s.name, Kind: text.kind, CSV: path, Dir: dir, Rows: rows}
			to := filepath.Join(dir, "out")
			got, err := s.run(j, to)
			if err != nil || got != rows {
				t.Errorf("%s, %s: %d rows of %d, %v", text.kind, s.name, got, rows, err)
			}
			if err := os.Remove(to); err != nil {
				t.Error(err)
			}
		}
	}
}
