// Package le reads and writes little-endian integers at any alignment. The
// compiler turns each call into one load or store on little-endian machines
// and adds the byte swap on others, so there is no unsafe twin.
package le

import "encoding/binary"

// Uint64 is the integer in b[0:8].
func Uint64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// Uint32 is the integer in b[0:4].
func Uint32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

// Uint64Short is the integer in the first min(8, len(b)) bytes of b, as if b
// were followed by zeros.
func Uint64Short(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.LittleEndian.Uint64(b)
	}
	var x uint64
	for i, c := range b {
		x |= uint64(c) << (8 * i)
	}
	return x
}
