package simd

// Match sets bit i&63 of dst[i>>6] where src[i] is one of the four bytes of
// set, and clears the other bits of the words that src reaches: of dst they are
// the first (len(src)+63)/64, so it holds at least as many.
func Match(dst []uint64, src []byte, set [4]byte) {
	dst = dst[: (len(src)+63)/64 : len(dst)]
	done := match(dst, src, uint32(set[0])|uint32(set[1])<<8|uint32(set[2])<<16|uint32(set[3])<<24)
	if done == len(dst) {
		return
	}
	var wanted [256]uint8
	for _, c := range set {
		wanted[c] = 1
	}
	for i := done; i < len(dst); i++ {
		word := uint64(0)
		for k, c := range src[64*i : min(64*i+64, len(src))] {
			word |= uint64(wanted[c]) << (k & 63)
		}
		dst[i] = word
	}
}
