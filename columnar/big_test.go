package columnar

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

// A file beyond 4 GiB of incompressible cells, read at its beginning, middle
// and end. It runs where COLSST_BIG_FILE is set: it takes a minute and the disk.
func TestT38FileBeyond4GiB(t *testing.T) {
	if os.Getenv("COLSST_BIG_FILE") == "" {
		t.Skip("writes 4.6 GB: set COLSST_BIG_FILE to run it")
	}
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "k", Type: rowgroup.Int}}, nil, nil, []rowgroup.Column{{Name: "v", Type: rowgroup.Blob}})
	require.NoError(t, err)
	f, err := os.Create(filepath.Join(t.TempDir(), "big.csst"))
	require.NoError(t, err)
	defer f.Close()
	w, err := NewWriter(f, s, WithRowGroupBytes(1<<20))
	require.NoError(t, err)
	const rows = 4500
	value := func(i int) []byte {
		r := rand.New(rand.NewPCG(uint64(i), 38))
		v := make([]byte, 1<<20)
		for k := 0; k < len(v); k += 8 {
			binary.LittleEndian.PutUint64(v[k:], r.Uint64())
		}
		return v
	}
	b := rowgroup.NewBatch(s)
	for i := range rows {
		b.Reset()
		b.BeginPartition(fmt.Appendf(nil, "%06d", i))
		require.NoError(t, b.Bytes(1).Append(value(i)))
		require.NoError(t, w.Append(b))
	}
	require.NoError(t, w.Close())
	info, err := f.Stat()
	require.NoError(t, err)
	require.Greater(t, info.Size(), int64(43<<30)/10)
	r, err := Open(f, info.Size())
	require.NoError(t, err)
	defer r.Close()
	for _, i := range []int{0, 1, rows / 4, rows / 2, 2047, 2048, 4095, 4096, rows - 2, rows - 1} {
		p, err := r.Partition(t.Context(), fmt.Appendf(nil, "%06d", i))
		require.NoError(t, err)
		it := p.Latest(t.Context(), 1, rowgroup.ScanOptions{})
		ok, err := it.Next(b)
		require.NoError(t, err)
		require.True(t, ok)
		require.True(t, bytes.Equal(value(i), b.Bytes(1).At(0)), "row %d", i)
		require.NoError(t, it.Close())
	}
	require.NoError(t, r.Verify(t.Context(), VerifyBlocks, func(err error) { t.Error(err) }))
}
