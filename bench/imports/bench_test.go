package imports

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkOurs makes files of the texts, for profiles.
func BenchmarkOurs(b *testing.B) {
	o := Options{Quick: true, Log: io.Discard, Real: "../../../shared/testdata/real"}
	texts, err := o.texts(b.TempDir())
	require.NoError(b, err)
	for _, t := range texts {
		b.Run(t.name, func(b *testing.B) {
			j := job{Kind: t.kind, CSV: t.path, Dir: b.TempDir(), Rows: t.rows}
			run := importOurs
			if t.shuffled {
				run = sortOurs
			}
			for b.Loop() {
				rows, err := run(&j, filepath.Join(j.Dir, "table"))
				require.NoError(b, err)
				require.Equal(b, t.rows, rows)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(int64(b.N)*t.rows), "ns/row")
		})
	}
}
