package rowgroup

import (
	"bytes"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
)

// A compressed chunk is one frame: what stands behind it is damage and is
// never decompressed.
func TestInflateTrailing(t *testing.T) {
	s, err := NewSchema(nil, nil, nil, []Column{{Name: "v", Type: Bigint}})
	require.NoError(t, err)
	d := newBlockDecoder(s)
	enc, err := zstd.NewWriter(nil, zstd.WithSingleSegment(true), zstd.WithEncoderCRC(false))
	require.NoError(t, err)
	frame := enc.EncodeAll(make([]byte, 1000), nil)
	out, err := d.inflate(frame, 1000)
	require.NoError(t, err)
	require.Equal(t, make([]byte, 1000), out)
	for _, behind := range [][]byte{{0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0}, frame, enc.EncodeAll(make([]byte, 64<<20), nil)} {
		bad := append(bytes.Clone(frame), behind...)
		require.Less(t, allocated(func() { _, err = d.inflate(bad, 1000) }), uint64(1<<20))
		require.ErrorIs(t, err, encoding.ErrCorrupt)
	}
}
