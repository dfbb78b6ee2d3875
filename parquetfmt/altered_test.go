package parquetfmt

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/internal/rowdiff"
	"github.com/colsst/colsst/rowgroup"
)

// Bytes all over a file altered, and the file cut there: an error that says what
// is damaged, and never other rows than there were, as far as the bytes are of
// pages.
func TestAlteredFile(t *testing.T) {
	h := generate.History{Partitions: 2, Names: 2, Times: 3, Seed: 5}
	all := h.Batch()
	for version := 1; version <= 2; version++ {
		file := writeBatches(t, all.Schema(), []*rowgroup.Batch{all}, WithLossless(), WithPageVersion(version), WithRowGroups(20, 1<<20))
		r := openBytes(t, file)
		pages := int64(0)
		for _, g := range r.meta.RowGroups {
			for _, c := range g.Columns {
				pages = max(pages, chunkStart(&c.MetaData)+c.MetaData.TotalCompressedSize)
			}
		}
		step := 11 // 1 holds as well, and takes long
		bad := bytes.Clone(file)
		for i := version; i < len(file); i += step {
			bad[i] ^= byte(1 << (i % 8))
			requireDamage(t, all, bad, i, int64(i) < pages)
			bad[i] = file[i]
		}
		for n := 0; n < len(file); n += step {
			_, err := Open(bytes.NewReader(file[:n]), int64(n))
			require.ErrorIs(t, err, encoding.ErrCorrupt, "%d bytes", n)
		}
	}
}

// requireDamage reads a file altered at byte i.
func requireDamage(t *testing.T, all *rowgroup.Batch, file []byte, i int, same bool) {
	r, err := Open(bytes.NewReader(file), int64(len(file)))
	if err == nil && all.Schema().Equal(r.Schema()) {
		var d *rowdiff.Result
		d, err = rowdiff.Compare(context.Background(), rowdiff.Side{Schema: all.Schema(), Rows: &onceIter{b: all.Clone()}}, scanOf(r), rowdiff.Options{Metadata: true, Report: 1})
		if err == nil && same {
			require.Zero(t, d.Differences, "byte %d", i)
		}
	} else if err == nil {
		err = r.Verify(context.Background(), VerifyValues, nil)
	}
	var value *ValueError
	if err != nil && !errors.Is(err, encoding.ErrCorrupt) && !errors.Is(err, encoding.ErrUnsupported) && !errors.As(err, &value) {
		t.Fatalf("byte %d: %T: %v", i, err, err)
	}
}
