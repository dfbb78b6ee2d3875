package frame

import "math/bits"

// Samples is the number of values that CoreOf looks at, and CoreOfSample at
// most.
const Samples = 16

// Core is an estimate of where most of some values lie: the distance between an
// outer pair of quantiles, and the mean of the inner ones.
type Core struct {
	Span   uint64
	Centre int64
}

// CoreOf is the Core of x, from a few of its values.
func CoreOf[T Integer](x []T) Core {
	var s [Samples]int64
	k := min(len(x), Samples)
	if len(x) <= Samples {
		for i, v := range x {
			s[i] = int64(v)
		}
	} else {
		for i := range s {
			s[i] = int64(x[(2*i+1)*len(x)/(2*Samples)])
		}
	}
	return CoreOfSample(s[:k])
}

// CoreOfSample is the Core of a sample, which it sorts.
func CoreOfSample(s []int64) Core {
	if len(s) == 0 {
		return Core{}
	}
	order(s)
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
		s := (*[Samples]int64)(s)
		for _, p := range &network {
			a, b := s[p[0]%Samples], s[p[1]%Samples]
			s[p[0]%Samples], s[p[1]%Samples] = min(a, b), max(a, b)
		}
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

// network are the exchanges that sort Samples values without a branch that
// depends on them: Batcher's odd-even merge sort.
var network = func() (pairs [63][2]uint8) {
	n := 0
	for p := 1; p < Samples; p *= 2 {
		for k := p; k > 0; k /= 2 {
			for j := k % p; j+k < Samples; j += 2 * k {
				for i := j; i < min(j+k, Samples-k); i++ {
					if i/(2*p) == (i+k)/(2*p) {
						pairs[n] = [2]uint8{uint8(i), uint8(i + k)}
						n++
					}
				}
			}
		}
	}
	return pairs
}()

// Hopeful reports whether n values with this core may take fewer than limit
// bits in a frame.
func (c Core) Hopeful(n, limit int) bool {
	return n*(max(bits.Len64(c.Span), 1)-1) < limit
}
