package simd

import "github.com/colsst/colsst/internal/le"

// Patches64 sets highs, zeros, as many as the runs have codes, to what their
// patches add: x << Width at each position, where x is a number of HighWidth
// bits, as Unpack64 reads them, its sign extended. It reports whether positions
// ascend and lie in their run; if not, highs hold anything. Kernels are the
// faster where 64 bytes of src, or of its capacity, follow the patches.
func Patches64(highs []uint64, src []byte, runs []Run64) (ok bool) {
	if kernelPatches(src, runs, len(highs), 64) {
		if done, bad := scatterRuns64(highs, src, runs); done {
			return bad == 0
		}
	}
	ok = true
	for i := range runs {
		r := &runs[i]
		ok = ok && scatter(highs[:r.N:len(highs)], src, r, uint64(r.Sign))
		highs = highs[r.N:]
	}
	return ok
}

// Patches32 is Patches64 for 32 bits.
func Patches32(highs []uint32, src []byte, runs []Run32) (ok bool) {
	if kernelPatches(src, runs, len(highs), 32) {
		if done, bad := scatterRuns32(highs, src, runs); done {
			return bad == 0
		}
	}
	ok = true
	for i := range runs {
		r := &runs[i]
		ok = ok && scatter(highs[:r.N:len(highs)], src, r, uint64(uint32(r.Sign)))
		highs = highs[r.N:]
	}
	return ok
}

// kernelPatches reports whether there are patches and a kernel serves them all,
// of runs that have at most n codes.
func kernelPatches[T int32 | int64](src []byte, runs []Run[T], n int, size uint) bool {
	if Current() == Generic {
		return false
	}
	some := false
	for i := range runs {
		r := &runs[i]
		n -= r.N
		if r.N < 0 || n < 0 {
			return false
		}
		if r.Patches == 0 {
			continue
		}
		positions, highs := PackedLen(r.Patches, r.PositionWidth), PackedLen(r.Patches, r.HighWidth)
		if r.Patches < 0 || r.Patches > r.N || r.Positions < 0 || r.Positions > len(src)-positions || r.Positions+positions > cap(src)-64 ||
			r.Highs < 0 || r.Highs > len(src)-highs || r.Highs+highs > cap(src)-64 || r.Width >= size ||
			!oneWindow(r.PositionWidth, size) || !oneWindow(r.HighWidth, size) {
			return false
		}
		some = true
	}
	return some
}

// scatter stores the patches of one run.
func scatter[T int32 | int64, U uint32 | uint64](dst []U, src []byte, r *Run[T], sign uint64) (ok bool) {
	b, w := r.PositionWidth, r.HighWidth
	positions := src[r.Positions : r.Positions+PackedLen(r.Patches, b) : len(src)]
	highs := src[r.Highs : r.Highs+PackedLen(r.Patches, w) : len(src)]
	inside, ones := uint64(1)<<b-1, ^uint64(0)>>(64-w)
	last := -1
	at, high := uint(0), uint(0)
	for range r.Patches {
		p := int(le.Uint64Short(positions[at>>3:]) >> (at & 7) & inside)
		x := le.Uint64Short(highs[high>>3:]) >> (high & 7)
		if high&7+w > 64 {
			x |= uint64(highs[high>>3+8]) << (64 - high&7)
		}
		if p <= last || p >= len(dst) {
			return false
		}
		last = p
		dst[p] = U((x&ones ^ sign - sign) << (r.Width & 63)) // the sign extended
		at, high = at+b, high+w
	}
	return true
}
