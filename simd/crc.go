package simd

import "hash/crc32"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CRC32C adds p to the CRC-32C (Castagnoli) of what came before: 0 for nothing.
// It is crc32.Update of the standard library, whose kernel takes less than 256
// bytes, and all where there is no carry-less multiplication of 64 bytes.
func CRC32C(sum uint32, p []byte) uint32 {
	done, state := crc32c(^sum, p)
	return crc32.Update(^state, castagnoli, p[done:])
}
