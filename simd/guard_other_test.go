//go:build !linux

package simd_test

import "testing"

// memory is at least size bytes.
func memory(_ testing.TB, size int) []byte { return make([]byte, size) }
