package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/rowgroup"
)

// Every byte flipped and every length cut of a small file with all layers on.
func TestEveryByteOfASmallFile(t *testing.T) {
	m := generate.Metrics5{Series: 2, Points: 40, Seed: generate.Seed}
	var file bytes.Buffer
	schema := m.Schema()
	w, err := columnar.NewWriter(&file, schema, columnar.WithRowGroupRows(16), columnar.WithBlockBytes(64),
		columnar.WithCompression(1), columnar.WithColumnCompression("*"), columnar.WithUserData("a", []byte("b")))
	require.NoError(t, err)
	it := m.Rows()
	for b := rowgroup.NewBatch(schema); ; {
		ok, err := it.Next(b)
		require.NoError(t, err)
		if !ok {
			break
		}
		require.NoError(t, w.Append(b))
	}
	require.NoError(t, w.Close())
	path := filepath.Join(t.TempDir(), "small.csst")
	require.NoError(t, os.WriteFile(path, file.Bytes(), 0o600))

	r, err := run(path)
	require.NoError(t, err)
	require.Equal(t, 3*file.Len(), r.Cases)
	require.Zero(t, r.Wrong, r.Examples)
	require.Zero(t, r.Panics, r.Examples)
	require.Equal(t, r.Cases, r.Detected+r.Identical)
	require.Equal(t, Walk{RowGroups: 6, Found: 6, Rows: 80, RowsFound: 80, Gaps: r.Walk.Gaps}, r.Walk)
}
