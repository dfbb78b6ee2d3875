package generate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/rowgroup"
)

func TestHistory(t *testing.T) {
	b := generate.History{Partitions: 30, Names: 4, Times: 12, Seed: generate.Seed}.Batch()
	require.NoError(t, b.Check())
	require.NoError(t, b.Schema().CheckOrder(b))
	require.True(t, b.Schema().Equal(generate.History{}.Schema()))

	var kinds [8]bool
	for _, m := range *b.Markers() {
		kinds[m.Kind] = true
	}
	require.Equal(t, [8]bool{true, true, true, false, false, true, true, true}, kinds)
	var live [4]bool
	for _, l := range b.Meta().Liveness {
		live[l] = true
	}
	require.Equal(t, [4]bool{true, true, true, true}, live)
	cells := map[rowgroup.Cell]bool{}
	for col := range b.Schema().NumColumns() {
		for _, c := range b.CellMeta(col).Cells {
			cells[c] = true
		}
	}
	require.Len(t, cells, 24, "states of cells")
}

func TestTypes(t *testing.T) {
	b := generate.Types{Rows: 30}.Batch()
	require.NoError(t, b.Check())
	require.NoError(t, b.Schema().CheckOrder(b))
	require.Equal(t, 30, b.Len())
}
