// Package simd holds the kernels under the codecs: packing and unpacking of
// bits. The pure-Go code here is the reference; a kernel in assembly gives the
// same bits for the same input at every level.
//
// The contract of every kernel: it never touches a byte outside the slices it
// is given; dst and src do not overlap; a source may be longer than the
// payload; lengths are checked by the caller, once per block, and a slice too
// short is a panic, never a wrong result.
package simd

import "sync/atomic"

// Level is a tier of instructions.
type Level int32

// The tiers. Generic is pure Go; the others are used where the CPU has them
// and the build has assembly for them.
const (
	Generic Level = iota
	AVX2
	AVX512
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

// Supported is the highest level that this CPU and this build can run.
func Supported() Level { return Generic }

// Current is the level in use.
func Current() Level { return Level(level.Load()) }

// SetLevel makes l, or the highest supported level below it, the level in use,
// and returns a function that puts the old one back. It is for tests and
// measurements: every level gives the same results.
func SetLevel(l Level) (restore func()) {
	old := level.Swap(int32(min(l, Supported())))
	return func() { level.Store(old) }
}
