package simd

// Run is one of many runs of packed codes in one source: those of a chunk, of
// which one call makes values. Offsets in the source are in bytes, widths in bits.
type Run[T int32 | int64] struct {
	Off   int // of the codes
	N     int // codes
	Width uint

	// What is added to some codes, packed: positions, which ascend, and numbers,
	// each of Width bits less than the code has at the top.
	Patches       int
	Positions     int  // offset
	PositionWidth uint // at most 16
	Highs         int  // offset of the numbers
	HighWidth     uint
	Sign          T // the top bit of a number, if that is its sign, else 0

	First, Add T // what the sum begins with, and what is added to each code
}

type (
	// Run64 is a run of codes of values of 64 bits.
	Run64 = Run[int64]
	// Run32 is a run of codes of values of 32 bits.
	Run32 = Run[int32]
)

// kernelRuns is how many of the first runs a kernel serves, and their codes, of
// which there is room for at most room. It panics if codes lie outside of src.
func kernelRuns[T int32 | int64](src []byte, runs []Run[T], room int, size uint) (k, n int) {
	for i := range runs {
		r := &runs[i]
		end := r.Off + PackedLen(r.N, r.Width)
		_ = src[r.Off:end:len(src)]
		if Current() == Generic || r.N <= 0 || r.N > room-n || r.N%32 != 0 || !oneWindow(r.Width, size) || cap(src)-end < 64 {
			return i, n
		}
		n += r.N
	}
	return len(runs), n
}

// What a kernel adds in each round where no codes are patched.
var (
	noHighs64 [16]uint64
	noHighs32 [32]uint32
)

// highsOrNone are n highs, or none, and whether there are any, which a kernel
// then walks through.
func highsOrNone[U uint32 | uint64](highs []U, n int, none []U) (h []U, walk int) {
	if len(highs) == 0 {
		return none, 0
	}
	return highs[:n:len(highs)], 1
}

// SumOrderedRuns64 is SumOrdered64 of one run after another: the integer of value
// i of a run is First plus the sum of Add + s[j] over all j <= i. dst has as many
// values as the runs have codes, which lie in src as Unpack64 reads them. highs,
// as long as dst or empty, are added to the codes, as patches are: see Patches64.
// Kernels are the faster where 64 bytes more of src, or of its capacity, follow a
// run, and N is a multiple of 32.
func SumOrderedRuns64(dst []float64, src []byte, runs []Run64, highs []uint64, zeros uint) {
	if len(highs) > 0 {
		_ = highs[:len(dst):len(highs)]
	}
	for len(runs) > 0 {
		k, n := kernelRuns(src, runs, len(dst), 64)
		if k > 0 {
			h, walk := highsOrNone(highs, n, noHighs64[:])
			if sumOrderedRuns64(dst[:n:len(dst)], src, runs[:k], h, walk, zeros) {
				dst, runs, highs = dst[n:], runs[k:], highs[min(n, len(highs)):]
				continue
			}
		}
		r := &runs[0]
		var buf [someCodes]uint64
		for at, first := 0, r.First; at < r.N; {
			c, n, last := some64(r, &buf, at, src, highs, first)
			SumOrdered64(dst[at:at+n:len(dst)], &c, first, r.Add, zeros)
			at, first = at+n, last
		}
		dst, runs, highs = dst[r.N:], runs[1:], highs[min(r.N, len(highs)):]
	}
}

// SumDecimalRuns64 is SumDecimal64 of one run after another, of sums as in
// SumOrderedRuns64.
func SumDecimalRuns64(dst []float64, src []byte, runs []Run64, highs []uint64, back, scale float64) (ok bool) {
	ok = true
	if len(highs) > 0 {
		_ = highs[:len(dst):len(highs)]
	}
	for len(runs) > 0 {
		k, n := kernelRuns(src, runs, len(dst), 64)
		if k > 0 {
			h, walk := highsOrNone(highs, n, noHighs64[:])
			if done, bad := sumDecimalRuns64(dst[:n:len(dst)], src, runs[:k], h, walk, back, scale); done {
				ok = ok && bad == 0
				dst, runs, highs = dst[n:], runs[k:], highs[min(n, len(highs)):]
				continue
			}
		}
		r := &runs[0]
		var buf [someCodes]uint64
		for at, first := 0, r.First; at < r.N; {
			c, n, last := some64(r, &buf, at, src, highs, first)
			ok = SumDecimal64(dst[at:at+n:len(dst)], &c, first, r.Add, back, scale) && ok
			at, first = at+n, last
		}
		dst, runs, highs = dst[r.N:], runs[1:], highs[min(r.N, len(highs)):]
	}
	return ok
}

// some64 are the codes of r from number at on, with what highs adds to them: all,
// or as many as buf holds. The sum before them is first; that of the last of
// them, unless it is the last of the run, is last.
func some64(r *Run64, buf *[someCodes]uint64, at int, src []byte, highs []uint64, first int64) (c Codes64, n int, last int64) {
	if len(highs) == 0 {
		return Packed64(src[r.Off:], r.Width), r.N, first
	}
	u := buf[:min(r.N-at, someCodes)]
	Unpack64(u, src[r.Off+at/8*int(r.Width):], r.Width)
	for i, h := range highs[at:][:len(u)] {
		u[i] += h
	}
	if at+len(u) < r.N {
		for _, x := range u {
			first += r.Add + int64(x)
		}
	}
	return Plain64(u), len(u), first
}

// SumOrderedRuns32 is SumOrderedRuns64 for 32 bits.
func SumOrderedRuns32(dst []float32, src []byte, runs []Run32, highs []uint32, zeros uint) {
	if len(highs) > 0 {
		_ = highs[:len(dst):len(highs)]
	}
	for len(runs) > 0 {
		k, n := kernelRuns(src, runs, len(dst), 32)
		if k > 0 {
			h, walk := highsOrNone(highs, n, noHighs32[:])
			if sumOrderedRuns32(dst[:n:len(dst)], src, runs[:k], h, walk, zeros) {
				dst, runs, highs = dst[n:], runs[k:], highs[min(n, len(highs)):]
				continue
			}
		}
		r := &runs[0]
		var buf [someCodes]uint32
		for at, first := 0, r.First; at < r.N; {
			c, n, last := some32(r, &buf, at, src, highs, first)
			SumOrdered32(dst[at:at+n:len(dst)], &c, first, r.Add, zeros)
			at, first = at+n, last
		}
		dst, runs, highs = dst[r.N:], runs[1:], highs[min(r.N, len(highs)):]
	}
}

// SumDecimalRuns32 is SumDecimalRuns64 for 32 bits.
func SumDecimalRuns32(dst []float32, src []byte, runs []Run32, highs []uint32, back, scale float64) (ok bool) {
	ok = true
	if len(highs) > 0 {
		_ = highs[:len(dst):len(highs)]
	}
	high, low, short := tenthsOf(back, scale)
	for len(runs) > 0 {
		k, n := kernelRuns(src, runs, len(dst), 32)
		if k > 0 {
			h, walk := highsOrNone(highs, n, noHighs32[:])
			done, bad := false, uint64(0)
			if short {
				done, bad = sumTenthsRuns32(dst[:n:len(dst)], src, runs[:k], h, walk, high, low)
			}
			if !done {
				done, bad = sumDecimalRuns32(dst[:n:len(dst)], src, runs[:k], h, walk, back, scale)
			}
			if done {
				ok = ok && bad == 0
				dst, runs, highs = dst[n:], runs[k:], highs[min(n, len(highs)):]
				continue
			}
		}
		r := &runs[0]
		var buf [someCodes]uint32
		for at, first := 0, r.First; at < r.N; {
			c, n, last := some32(r, &buf, at, src, highs, first)
			ok = SumDecimal32(dst[at:at+n:len(dst)], &c, first, r.Add, back, scale) && ok
			at, first = at+n, last
		}
		dst, runs, highs = dst[r.N:], runs[1:], highs[min(r.N, len(highs)):]
	}
	return ok
}

// some32 is some64 for 32 bits.
func some32(r *Run32, buf *[someCodes]uint32, at int, src []byte, highs []uint32, first int32) (c Codes32, n int, last int32) {
	if len(highs) == 0 {
		return Packed32(src[r.Off:], r.Width), r.N, first
	}
	u := buf[:min(r.N-at, someCodes)]
	Unpack32(u, src[r.Off+at/8*int(r.Width):], r.Width)
	for i, h := range highs[at:][:len(u)] {
		u[i] += h
	}
	if at+len(u) < r.N {
		for _, x := range u {
			first += r.Add + int32(x)
		}
	}
	return Plain32(u), len(u), first
}
