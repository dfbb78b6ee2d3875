package cassandra

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/rowgroup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var compressors = []string{"", "LZ4Compressor", "SnappyCompressor", "DeflateCompressor", "ZstdCompressor", "NoopCompressor"}

func drawMaking(t *rapid.T) making {
	m := making{
		compressor:   rapid.SampledFrom(compressors).Draw(t, "compressor"),
		chunkLength:  16 << rapid.IntRange(0, 6).Draw(t, "chunk length"),
		trailing:     rapid.Bool().Draw(t, "trailing"),
		blockLength:  rapid.SampledFrom([]int{0, 1, 30, 200}).Draw(t, "block length"),
		summaryEvery: rapid.IntRange(1, 3).Draw(t, "summary every"),
	}
	if rapid.Bool().Draw(t, "raw") {
		m.maxCompressed = rapid.IntRange(1, m.chunkLength).Draw(t, "max compressed")
	}
	return m
}

// An SSTable of any version and compressor, made of random events, is sound,
// yields its events, and finds its partitions.
func TestSSTableRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := drawTable(rt, t, versions...)
		dir, err := os.MkdirTemp(t.TempDir(), "")
		require.NoError(rt, err)
		s, err := Open(write(t, dir, x.version, makeSSTable(rt, &x, drawMaking(rt))))
		require.NoError(rt, err)
		defer func() { require.NoError(rt, s.Close()) }()
		require.Empty(rt, s.Warnings)

		r, err := s.Scan()
		require.NoError(rt, err)
		got, err := collect(r.BodyReader)
		require.NoError(rt, err)
		require.NoError(rt, r.Close())
		sameEvents(rt, x.events, got)

		rep, err := s.Verify(t.Context())
		require.NoError(rt, err)
		require.Empty(rt, rep.Warnings)
		require.Zero(rt, rep.OddPrevious)
		for _, p := range partitionsOf(x.events) {
			e, err := s.Find(p.Key)
			require.NoError(rt, err)
			require.Equal(rt, p.Position, e.Position)
			require.Equal(rt, p.Deletion, e.Deletion)
			checkBlocks(rt, s, e, unfilteredsOf(x.events, p.Key))
			if other := append(bytes.Clone(p.Key), 7); len(other) < 5 {
				_, err = s.Find(other)
				require.ErrorIs(rt, err, rowgroup.ErrNotFound)
			}
		}
	})
}
