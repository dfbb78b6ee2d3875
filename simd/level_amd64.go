//go:build !purego

package simd

import (
	"encoding/binary"

	"golang.org/x/sys/cpu"
)

var supported = func() Level {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasBMI2 || !x.HasPOPCNT:
		return Generic
	case x.HasAVX512F && x.HasAVX512CD && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL && x.HasAVX512VBMI:
		return AVX512
	}
	return AVX2
}()

// hasCarryless says that the CPU multiplies polynomials of 64 bits in all lanes.
var hasCarryless = cpu.X86.HasAVX512VPCLMULQDQ && cpu.X86.HasSSE42

// Supported is the highest level that this CPU and this build can run.
func Supported() Level { return supported }

// unpackTables say per size of values (32, 64 bits), level (AVX2, AVX512) and
// width which bytes of a group make each value, and by how much it is then
// shifted: indices in the first half, counts of 32 or 64 bits in the second.
// Bytes count from the start of the group for AVX512, and from that of the
// first value for each 16 bytes of AVX2.
var unpackTables [2][2][65][128]byte

// packTables say per width how 8 shifted values of 64 bits, or pairs of 32,
// make the bytes of a group: indices for those of even and odd index, 64 bytes
// each, shift counts, and the masks of the bytes of each kind.
var packTables [65][64 + 64 + 64 + 8 + 8]byte

// pairTables say per width how AVX2 makes the bytes of a group of 8 elements of
// 64 bits, 16 at a time: shift counts, where the odd element of each pair goes
// in the 16 bytes, and the last byte of those before where the first bits share
// it; 64 bytes each.
var pairTables [65][64 + 64 + 64]byte

func init() {
	if supported == Generic {
		return
	}
	le := binary.LittleEndian
	for w := 0; w <= 64; w++ {
		for kind, size := range []int{32, 64} {
			if w > size {
				continue
			}
			bytes := size / 8
			for avx512, span := range []int{16, 64} {
				t := &unpackTables[kind][avx512][w]
				for i := 0; i < 64; i += bytes {
					value := i / bytes                          // of the group
					first := i / span * (span / bytes) * w >> 3 // byte that the load begins at
					at := value * w                             // first bit
					for k := range bytes {
						t[i+k] = byte(at>>3-first+k) & 63
					}
					if size == 64 {
						le.PutUint64(t[64+i:], uint64(at&7))
					} else {
						le.PutUint32(t[64+i:], uint32(at&7))
					}
				}
			}
		}
		if !oneWindow(uint(w), 64) {
			continue
		}
		pairs := &pairTables[w]
		for i := range pairs[64:] {
			pairs[64+i] = 0x80 // none
		}
		for j := range 8 {
			at, first := j*w, j&^1*w // bits: of the element, of the pair
			le.PutUint64(pairs[8*j:], uint64(at&7))
			if j&1 != 0 {
				for k := range 8 {
					if to := at>>3 - first>>3 + k; to < 16 {
						pairs[64+8*(j-1)+to] = byte(8 + k)
					}
				}
			} else if at&7 != 0 {
				pairs[128+8*j] = byte(at>>3 - (at-2*w)>>3)
			}
		}
		if w < 7 {
			continue
		}
		t := &packTables[w]
		for j := range 8 {
			at := j * w
			le.PutUint64(t[128+8*j:], uint64(at&7))
			for k := at >> 3; k <= (at+w-1)>>3; k++ {
				kind := j & 1
				t[64*kind+k] = byte(8*j + k - at>>3)
				t[192+8*kind+k>>3] |= 1 << (k & 7)
			}
		}
	}
}
