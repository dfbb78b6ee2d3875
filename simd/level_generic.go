//go:build !amd64 || purego

package simd

// Supported is the highest level that this CPU and this build can run.
func Supported() Level { return Generic }
