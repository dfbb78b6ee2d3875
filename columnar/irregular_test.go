package columnar

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Deletions are local to the second in which they were marked, and blocks that
// differ in the widths of their parameters share templates.
func TestIrregularRowsAreSmall(t *testing.T) {
	r, err := OpenBytes(fileOf(t, day.Irregular()))
	require.NoError(t, err)
	d, err := r.Describe(bg)
	require.NoError(t, err)
	require.Less(t, float64(d.Bytes)/float64(d.Rows), 4.36)
	require.Less(t, d.Templates, d.Blocks/2)
	for _, c := range d.Columns {
		if c.Name == "$local_deletion_time" {
			require.Less(t, c.Bytes, d.Rows/100)
			return
		}
	}
	t.Fatal("no deletions")
}
