// Package simd holds the kernels under the codecs: packing and unpacking of
// bits, from codes to values and back, the search for decimals, byte streams,
// extremes, bytes of a set, checksums. The pure-Go code here is the reference;
// a kernel in assembly gives the same bits for the same input at every level.
//
// The contract of every kernel: it writes no byte outside the slices it is
// given and reads none outside them, packed sources being read up to their
// capacity, for speed alone; dst and src do not overlap, unless a comment says
// so; a source may be longer than the payload; lengths are checked here, once
// per call, and a slice too short is a panic, never a wrong result: that is
// s[:n:len(s)] where s has fewer than n elements, whatever its capacity. Kernels
// keep nothing and allocate nothing but what append needs.
//
// Assembly exists for amd64 in two tiers, chosen when the program starts by
// what the CPU has. The tag purego leaves it out. It is written by the program
// in _gen.
package simd

import "sync/atomic"

//go:generate env GOWORK=off go run -C _gen . -out ../kernels_amd64.s -stubs ../kernels_amd64.go -pkg simd

// Level is a tier of instructions.
type Level int32

// The tiers. Generic is pure Go; the others are used where the CPU has them
// and the build has assembly for them.
const (
	Generic Level = iota
	AVX2          // AVX2, BMI2, POPCNT
	AVX512        // AVX-512 F, CD, DQ, BW, VL, VBMI
)

func (l Level) String() string {
	switch l {
	case AVX2:
		return "avx2"
	case AVX512:
		return "avx512"
	}
	return "generic"
}

var level atomic.Int32

func init() { level.Store(int32(Supported())) }

// Current is the level in use.
func Current() Level { return Level(level.Load()) }

// SetLevel makes l, or the highest supported level below it, the level in use,
// and returns a function that puts the old one back. It is for tests and
// measurements: every level gives the same results.
func SetLevel(l Level) (restore func()) {
	old := level.Swap(int32(max(Generic, min(l, Supported()))))
	return func() { level.Store(old) }
}
