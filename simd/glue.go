package simd

import "math"

// Glue64 sets dst[i] to the float with the bits table[l[i]] | r[i] and returns
// the greatest l[i], 0 if there are none: l are codes of leftWidth bits, at
// most 3, packed in lefts as Unpack64 reads them, and r those of width bits in
// rights. Kernels are the faster for capacity of 8 bytes more in lefts, and of
// 64 in rights.
func Glue64(dst []float64, lefts []byte, leftWidth uint, rights []byte, width uint, table *[8]uint64) (top uint64) {
	nl, nr := PackedLen(len(dst), leftWidth), PackedLen(len(dst), width)
	_, _ = lefts[:nl:len(lefts)], rights[:nr:len(rights)]
	lefts, rights = lefts[:nl], rights[:nr]
	done, top := glue64(dst, lefts, leftWidth, rights, width, table)
	if done == len(dst) {
		return top
	}
	l, r := Packed64(lefts, leftWidth), Packed64(rights, width)
	var left, right [someCodes]uint64
	for done < len(dst) {
		u := l.next(&left, done, len(dst))
		v := r.next(&right, done, len(dst))[:len(u)]
		for i, c := range u {
			dst[done+i] = math.Float64frombits(table[c&7] | v[i])
			top = max(top, c)
		}
		done += len(u)
	}
	return top
}

// Glue32 is Glue64 for float32.
func Glue32(dst []float32, lefts []byte, leftWidth uint, rights []byte, width uint, table *[8]uint32) (top uint32) {
	nl, nr := PackedLen(len(dst), leftWidth), PackedLen(len(dst), width)
	_, _ = lefts[:nl:len(lefts)], rights[:nr:len(rights)]
	lefts, rights = lefts[:nl], rights[:nr]
	done, top := glue32(dst, lefts, leftWidth, rights, width, table)
	if done == len(dst) {
		return top
	}
	l, r := Packed32(lefts, leftWidth), Packed32(rights, width)
	var left, right [someCodes]uint32
	for done < len(dst) {
		u := l.next(&left, done, len(dst))
		v := r.next(&right, done, len(dst))[:len(u)]
		for i, c := range u {
			dst[done+i] = math.Float32frombits(table[c&7] | v[i])
			top = max(top, c)
		}
		done += len(u)
	}
	return top
}
