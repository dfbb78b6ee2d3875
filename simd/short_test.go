package simd_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/simd"
)

// room is n values with capacity for more, which are no part of them.
func room[T any](n int) []T { return make([]T, n, n+100) }

// A slice one value or byte too short is a panic, even where its capacity would
// do.
func TestShortSlicesPanic(t *testing.T) {
	const n = 67
	bits, quarter := (n+7)/8, simd.PackedLen(n, 5)
	codes64, codes32 := simd.Packed64(room[byte](quarter-1), 5), simd.Packed32(room[byte](quarter-1), 5)
	plain64, plain32 := simd.Plain64(room[uint64](n-1)), simd.Plain32(room[uint32](n-1))
	cases := map[string]func(){
		"Unpack64":           func() { simd.Unpack64(room[uint64](n), room[byte](quarter-1), 5) },
		"Unpack32":           func() { simd.Unpack32(room[uint32](n), room[byte](quarter-1), 5) },
		"Glue64, lefts":      func() { simd.Glue64(room[float64](n), room[byte](quarter-1), 5, room[byte](8*n), 50, new([8]uint64)) },
		"Glue64, rights":     func() { simd.Glue64(room[float64](n), room[byte](n), 3, room[byte](quarter-1), 5, new([8]uint64)) },
		"Glue32, lefts":      func() { simd.Glue32(room[float32](n), room[byte](quarter-1), 5, room[byte](8*n), 20, new([8]uint32)) },
		"Glue32, rights":     func() { simd.Glue32(room[float32](n), room[byte](n), 3, room[byte](quarter-1), 5, new([8]uint32)) },
		"Widen32":            func() { simd.Widen32(room[int64](n-1), room[int32](n)) },
		"AddProducts64":      func() { simd.AddProducts64(room[int64](n), room[int64](n-1), 3) },
		"AddQuotients64":     func() { simd.AddQuotients64(room[int64](n), room[int64](n-1), 3, 7) },
		"SubQuotients64":     func() { simd.SubQuotients64(room[int64](n), room[int64](n-1), 3, 7) },
		"SubProducts64, dst": func() { simd.SubProducts64(room[int64](n-1), room[int64](n), room[int64](n), 3) },
		"SubProducts64, x":   func() { simd.SubProducts64(room[int64](n), room[int64](n), room[int64](n-1), 3) },
		"Outliers64":         func() { simd.Outliers64(room[byte](bits-1), room[int64](n), 0, 1) },
		"Outliers32":         func() { simd.Outliers32(room[byte](bits-1), room[int32](n), 0, 1) },
		"SubRamp64":          func() { simd.SubRamp64(room[int64](n-1), room[int64](n), 0, 1) },
		"SubRamp32":          func() { simd.SubRamp32(room[int32](n-1), room[int32](n), 0, 1) },
		"Sample64":           func() { simd.Sample64(new([16]int64), room[int64](15)) },
		"Sample32":           func() { simd.Sample32(new([16]int64), room[int32](15)) },
		"SampleDeltas64":     func() { simd.SampleDeltas64(new([16]int64), room[int64](16)) },
		"SampleDeltas32":     func() { simd.SampleDeltas32(new([16]int64), room[int32](16)) },
		"Match":              func() { simd.Match(room[uint64](1), room[byte](n), [4]byte{}) },
		"Deltas64":           func() { simd.Deltas64(room[int64](n-2), room[int64](n)) },
		"Deltas32":           func() { simd.Deltas32(room[int32](n-2), room[int32](n)) },
		"Order64":            func() { simd.Order64(room[int64](n-1), room[float64](n), 0) },
		"Order32":            func() { simd.Order32(room[int32](n-1), room[float32](n), 0) },
		"SplitInt64":         func() { simd.SplitInt64(room[byte](8*n-1), room[int64](n)) },
		"SplitFloat64":       func() { simd.SplitFloat64(room[byte](8*n-1), room[float64](n)) },
		"SplitInt32":         func() { simd.SplitInt32(room[byte](4*n-1), room[int32](n)) },
		"SplitFloat32":       func() { simd.SplitFloat32(room[byte](4*n-1), room[float32](n)) },
		"JoinInt64":          func() { simd.JoinInt64(room[int64](n), room[byte](8*n-1)) },
		"JoinFloat64":        func() { simd.JoinFloat64(room[float64](n), room[byte](8*n-1)) },
		"JoinInt32":          func() { simd.JoinInt32(room[int32](n), room[byte](4*n-1)) },
		"JoinFloat32":        func() { simd.JoinFloat32(room[float32](n), room[byte](4*n-1)) },
		"Lookup64, codes":    func() { simd.Lookup64(room[uint64](n-1), room[byte](bits), room[uint64](n), 3, new([8]uint64)) },
		"Lookup64, misses":   func() { simd.Lookup64(room[uint64](n), room[byte](bits-1), room[uint64](n), 3, new([8]uint64)) },
		"Decimals64, ints":   func() { simd.Decimals64(room[int64](n-1), room[byte](bits), room[float64](n), 1, 1, 1, 1) },
		"Decimals64, bits":   func() { simd.Decimals64(room[int64](n), room[byte](bits-1), room[float64](n), 1, 1, 1, 1) },
		"Decimals32, ints":   func() { simd.Decimals32(room[int32](n-1), room[byte](bits), room[float32](n), 1, 1, 1, 1) },
		"Decimals32, bits":   func() { simd.Decimals32(room[int32](n), room[byte](bits-1), room[float32](n), 1, 1, 1, 1) },
		"Singles32, ints":    func() { simd.Singles32(room[int32](n-1), room[byte](bits), room[float32](n), 1, 1, 1, 1) },
		"Singles32, bits":    func() { simd.Singles32(room[int32](n), room[byte](bits-1), room[float32](n), 1, 1, 1, 1) },
	}
	p := terms{back: 1, scale: 1}
	for _, name := range decoders64 {
		cases[name+"64, packed"] = func() { decode64(name, make([]byte, 8*n), &codes64, &p) }
		cases[name+"64, plain"] = func() { decode64(name, make([]byte, 8*n), &plain64, &p) }
	}
	for _, name := range decoders32 {
		cases[name+"32, packed"] = func() { decode32(name, make([]byte, 4*n), &codes32, &p) }
		cases[name+"32, plain"] = func() { decode32(name, make([]byte, 4*n), &plain32, &p) }
	}
	levels(t, func(t *testing.T) {
		for name, run := range cases {
			require.Panics(t, run, name)
		}
	})
}
