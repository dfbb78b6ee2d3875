package alp

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	parquetenc "github.com/parquet-go/parquet-go/encoding"

	"github.com/colsst/colsst/simd"
)

// appendPage appends a page of src in vectors of 2^log values.
func appendPage[F float, I integer](dst []byte, src []F, log uint) ([]byte, error) {
	switch {
	case log < minLogVectorSize || log > maxLogVectorSize:
		return dst, fmt.Errorf("vector size of 2^%d, want 2^%d to 2^%d: %w", log, minLogVectorSize, maxLogVectorSize, parquetenc.ErrInvalidArgument)
	case len(src) > math.MaxInt32:
		return dst, fmt.Errorf("%d values in a page: %w", len(src), parquetenc.ErrInvalidArgument)
	}
	dst = append(dst, 0, 0, byte(log))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(src)))
	offsets := len(dst)
	n := vectors(len(src), log)
	dst = append(dst, make([]byte, 4*n)...)
	var (
		ints [1 << DefaultLogVectorSize]I
		mask [2 << DefaultLogVectorSize / 8]byte
		v    = vectorEncoder[F, I]{ints: ints[:], masks: mask[:]}
	)
	if size := min(1<<log, len(src)); size > len(ints) {
		v.ints, v.masks = make([]I, size), make([]byte, 2*((size+7)/8))
	}
	for i := range n {
		at := len(dst) - offsets
		if uint64(at) > math.MaxUint32 {
			return dst, fmt.Errorf("more than 4 GiB in a page: %w", parquetenc.ErrInvalidArgument)
		}
		binary.LittleEndian.PutUint32(dst[offsets+4*i:], uint32(at))
		dst = v.append(dst, src[i<<log:min((i+1)<<log, len(src))])
	}
	return dst, nil
}

// vectorEncoder encodes the vectors of a page, one after another.
type vectorEncoder[F float, I integer] struct {
	search search

	ints  []I    // scratch of a vector's integers
	masks []byte // scratch of two times a bit for each
}

// append appends the vector src, which is not empty: at most as many bytes as if
// all were exceptions.
func (v *vectorEncoder[F, I]) append(dst []byte, src []F) []byte {
	n, k := len(src), (len(src)+7)/8
	each := int(bitsOf[F]() + 16) // bits of an exception
	p := choose(&v.search, src)
	ints, mask := v.ints[:n], v.masks[:k]
	exceptions, lo, hi := decimals(ints, mask, src, p)
	if exceptions > n/2 && large(src) {
		p = pair{}
		exceptions, lo, hi = wholes(any(ints).([]int64), mask, any(src).([]float64))
	}
	if exceptions < n {
		if exceptions > 0 {
			fill(ints, mask)
		}
		if w, from := window(ints, lo, hi, each); w < uint(bits.Len64(uint64(hi-lo))) {
			exceptions = prune(ints, mask, v.masks[k:2*k], w, from)
			lo, hi = extremes(ints)
		}
	}
	width := uint(bits.Len64(uint64(hi - lo)))
	if exceptions == n || int(width)*n >= (n-exceptions)*each {
		p, lo, width, exceptions = pair{}, 0, 0, n
		for i := range mask {
			mask[i] = 0xff
		}
		mask[k-1] >>= -n & 7
	}

	dst = append(dst, p.e, p.f)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(exceptions))
	switch ints := any(ints).(type) {
	case []int64:
		dst = binary.LittleEndian.AppendUint64(dst, uint64(lo))
		dst = simd.AppendPackRamp64(append(dst, byte(width)), ints, width, lo, 0)
	case []int32:
		dst = binary.LittleEndian.AppendUint32(dst, uint32(lo))
		dst = simd.AppendPackRamp32(append(dst, byte(width)), ints, width, int32(lo), 0)
	}
	if exceptions == 0 {
		return dst
	}
	for i, b := range mask {
		for ; b != 0; b &= b - 1 {
			dst = binary.LittleEndian.AppendUint16(dst, uint16(8*i+bits.TrailingZeros8(b)))
		}
	}
	for i, b := range mask {
		for ; b != 0; b &= b - 1 {
			dst = appendValue(dst, src[8*i+bits.TrailingZeros8(b)])
		}
	}
	return dst
}

func appendValue[F float](dst []byte, x F) []byte {
	switch x := any(x).(type) {
	case float64:
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
	case float32:
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
	}
	return dst
}

// fill gives each place whose bit in mask is set the integer before it, which
// costs nothing; the first ones that of the first other place, which there must
// be.
func fill[I integer](ints []I, mask []byte) {
	first := 0
	for mask[first/8]>>(first%8)&1 != 0 {
		first++
	}
	last := ints[first]
	for i, b := range mask {
		for ; b != 0; b &= b - 1 {
			at := 8*i + bits.TrailingZeros8(b)
			if at > 0 {
				last = ints[at-1]
			}
			ints[at] = last
		}
	}
}

// prune adds to mask what lies outside of the 2^w integers from from on, fills
// its places, and returns how many there are. outside is scratch, as long.
func prune[I integer](ints []I, mask, outside []byte, w uint, from int64) (exceptions int) {
	switch ints := any(ints).(type) {
	case []int64:
		simd.Outliers64(outside, ints, from, 1<<w-1)
	case []int32:
		simd.Outliers32(outside, ints, int32(from), 1<<w-1)
	}
	for i, b := range outside {
		mask[i] |= b
		exceptions += bits.OnesCount8(mask[i])
	}
	if exceptions > 0 {
		fill(ints, mask)
	}
	return exceptions
}

func extremes[I integer](ints []I) (least, greatest int64) {
	switch ints := any(ints).(type) {
	case []int64:
		return simd.MinMaxInt64(ints)
	case []int32:
		lo, hi := simd.MinMaxInt32(ints)
		return int64(lo), int64(hi)
	}
	return 0, 0
}
