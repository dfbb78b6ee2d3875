package invariants

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMangle(t *testing.T) {
	type kind uint8
	type pair struct {
		A [2]int32
		B string
		c int
	}
	var (
		bytes  = []byte{1, 2, 3}
		ints   = []int64{1, 2}
		kinds  = []kind{7}
		floats = []float32{1.5}
		pairs  = []pair{{A: [2]int32{1, 2}, B: "x", c: 3}}
		slices = [][]byte{{1}}
	)
	Mangle(bytes[:2])
	Mangle(ints)
	Mangle(kinds)
	Mangle(floats)
	Mangle(pairs)
	Mangle(slices)
	Mangle([]string(nil))
	if !Enabled {
		require.Equal(t, []byte{1, 2, 3}, bytes)
		require.Equal(t, []int64{1, 2}, ints)
		require.Equal(t, []pair{{A: [2]int32{1, 2}, B: "x", c: 3}}, pairs)
		return
	}
	const i64, i32 = ^0x5a5a5a5a5a5a5a5a, ^0x5a5a5a5a
	require.Equal(t, []byte{0xa5, 0xa5, 3}, bytes, "beyond the length nothing changes")
	require.Equal(t, []int64{i64, i64}, ints)
	require.Equal(t, []kind{0xa5}, kinds)
	require.True(t, math.IsNaN(float64(floats[0])))
	require.Equal(t, []pair{{A: [2]int32{i32, i32}, B: "mangled"}}, pairs)
	require.Nil(t, slices[0])
}

func TestMangleOffAllocatesNothing(t *testing.T) {
	if Enabled {
		t.Skip("this build has the checks on")
	}
	buf := make([]int64, 64)
	require.Zero(t, testing.AllocsPerRun(100, func() { Mangle(buf) }))
}
