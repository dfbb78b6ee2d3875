package simd_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/simd"
)

// bit is bit i of b, the slow and obvious way.
func bit(b []byte, i int) uint64 { return uint64(b[i/8]>>(i%8)) & 1 }

func TestUnpackShortSourcePanics(t *testing.T) {
	levels(t, func(t *testing.T) {
		require.Panics(t, func() { simd.Unpack64(make([]uint64, 9), make([]byte, 8), 8) })
		require.Panics(t, func() { simd.Unpack32(make([]uint32, 9), make([]byte, 8), 8) })
		require.Panics(t, func() { simd.Unpack64(make([]uint64, 1), nil, 1) })
	})
}

func TestLevels(t *testing.T) {
	defer simd.SetLevel(99)()
	require.Equal(t, simd.Supported(), simd.Current())
	defer simd.SetLevel(-1)()
	require.Equal(t, simd.Generic, simd.Current())
}

func ExampleUnpack64() {
	packed := simd.AppendPack64(nil, []uint64{5, 1, 7}, 3)
	values := make([]uint64, 3)
	simd.Unpack64(values, packed, 3)
	fmt.Printf("%08b %v\n", packed, values)
	// Output: [11001101 00000001] [5 1 7]
}
