package frame

import (
	"math/bits"

	"github.com/colsst/colsst/simd"
)

// Samples is the number of values that CoreOf looks at, and CoreOfSample at
// most.
const Samples = 16

// Core is an estimate of where most of some values lie: the distance between an
// outer pair of quantiles, and the mean of the inner ones.
type Core struct {
	Span   uint64
	Centre int64
}

// CoreOf is the Core of x, of which lo is the least and hi the greatest, from a
// few of its values.
func CoreOf[T Integer](x []T, lo, hi T) Core {
	if lo == hi {
		return Core{Centre: int64(lo)}
	}
	var s [Samples]int64
	if len(x) < Samples {
		for i, v := range x {
			s[i] = int64(v)
		}
		return CoreOfSample(s[:len(x)])
	}
	switch x := any(x).(type) {
	case []int64:
		simd.Sample64(&s, x)
	case []int32:
		simd.Sample32(&s, x)
	}
	return coreOfSorted(s[:])
}

// CoreOfDeltas is CoreOf the differences of neighbours in x.
func CoreOfDeltas[T Integer](x []T) Core {
	var s [Samples]int64
	if len(x) <= Samples {
		for i := range max(len(x), 1) - 1 {
			s[i] = int64(x[i+1] - x[i])
		}
		return CoreOfSample(s[:max(len(x), 1)-1])
	}
	switch x := any(x).(type) {
	case []int64:
		simd.SampleDeltas64(&s, x)
	case []int32:
		simd.SampleDeltas32(&s, x)
	}
	return coreOfSorted(s[:])
}

// CoreOfSample is the Core of a sample, which it sorts.
func CoreOfSample(s []int64) Core {
	if len(s) == 0 {
		return Core{}
	}
	order(s)
	return coreOfSorted(s)
}

func coreOfSorted(s []int64) Core {
	cut := len(s) / 8
	span := uint64(s[len(s)-1-cut]) - uint64(s[cut])
	k := max(bits.Len(uint(len(s))), 2) - 2
	inner := s[(len(s)-1<<k)/2:][:1<<k]
	var sum, rest uint64 // of distances to the first, cut so that no sum overflows
	for _, v := range inner {
		d := uint64(v) - uint64(inner[0])
		sum += d >> k
		rest += d & (1<<k - 1)
	}
	return Core{span, inner[0] + int64(sum+rest>>k)}
}

// order sorts a sample.
func order(s []int64) {
	if len(s) == Samples {
		simd.Sort16((*[Samples]int64)(s))
		return
	}
	for i := 1; i < len(s); i++ {
		v, j := s[i], i
		for ; j > 0 && s[j-1] > v; j-- {
			s[j] = s[j-1]
		}
		s[j] = v
	}
}

// Hopeful reports whether n values with this core may take fewer than limit
// bits in a frame.
func (c Core) Hopeful(n, limit int) bool {
	return n*(max(bits.Len64(c.Span), 1)-1) < limit
}
