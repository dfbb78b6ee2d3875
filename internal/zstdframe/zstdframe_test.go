package zstdframe

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

func TestDecode(t *testing.T) {
	for i, opts := range [][]zstd.EOption{
		{zstd.WithSingleSegment(true), zstd.WithEncoderCRC(false)},
		{zstd.WithSingleSegment(true), zstd.WithEncoderCRC(true)},
		{zstd.WithEncoderLevel(zstd.SpeedBestCompression)},
	} {
		enc, err := zstd.NewWriter(nil, opts...)
		require.NoError(t, err)
		for _, n := range []int{1, 100, 1000, 300_000} {
			want := bytes.Repeat([]byte("colsst "), n)[:n]
			frame := enc.EncodeAll(want, nil)
			if i == 2 && n < 256 { // declares no size
				require.Error(t, Decode(make([]byte, n), frame))
				continue
			}
			got := make([]byte, n)
			require.NoError(t, Decode(got, frame))
			require.Equal(t, want, got)

			require.Error(t, Decode(make([]byte, n-1), frame))
			require.Error(t, Decode(make([]byte, n+1), frame))
			for _, cut := range []int{0, 1, 4, len(frame) / 2, len(frame) - 1} {
				require.Error(t, Decode(got, frame[:cut]))
			}
			for name, behind := range map[string][]byte{
				"a byte":            {0},
				"a skippable frame": {0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0},
				"another frame":     frame,
			} {
				require.Error(t, Decode(got, append(bytes.Clone(frame), behind...)), name)
				require.Error(t, Decode(got, append(bytes.Clone(behind), frame...)), name)
			}
		}
	}
}

// A frame that declares little and holds much, alone or behind a good one,
// makes nothing.
func TestBombs(t *testing.T) {
	enc, err := zstd.NewWriter(nil, zstd.WithSingleSegment(true), zstd.WithEncoderCRC(false))
	require.NoError(t, err)
	good := enc.EncodeAll(make([]byte, 1000), nil)
	bomb := enc.EncodeAll(make([]byte, 64<<20), nil)
	lying := bytes.Clone(bomb) // its content size, of 4 bytes, says 1,000
	require.EqualValues(t, 0xa0, lying[4])
	copy(lying[5:], []byte{0xe8, 3, 0, 0})
	require.True(t, Is(lying, 1000))

	dst := make([]byte, 1000)
	var a, b runtime.MemStats
	runtime.ReadMemStats(&a)
	require.Error(t, Decode(dst, append(bytes.Clone(good), bomb...)))
	require.Error(t, Decode(dst, bomb))
	require.Error(t, Decode(dst, lying))
	runtime.ReadMemStats(&b)
	require.Less(t, b.TotalAlloc-a.TotalAlloc, uint64(4<<20))
}
