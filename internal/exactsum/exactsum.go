// Package exactsum adds floating-point numbers without error: the sum of any
// float64s, in any order and grouping, rounded once at the end.
//
// The numbers are added into integers of 32 bits of weight each that span the
// whole range of float64, carries postponed: the "small superaccumulator" of
// Neal, "Fast Exact Summation Using Small and Large Superaccumulators", 2015.
package exactsum

import (
	"math"
	"math/big"
)

const (
	limbs    = 67 // 64 by exponent, one for the upper part of a mantissa, two for carries
	maxAdds  = 1 << 10
	mantissa = 1<<52 - 1
	nan      = 0x7ff8000000000000 // the NaN that the text NaN stands for; not that of package math
)

// Sum is a sum of float64s. The zero value is the sum of none. Sums of the same
// numbers are equal in what Float64 returns.
type Sum struct {
	limb [limbs]int64 // limb i weighs 2^(32i-1074)
	adds int          // since carries were last propagated
	inf  [2]bool      // +Inf, -Inf was added
	nan  bool
	pos  bool // something other than -0.0 was added
	any  bool
}

// Add adds every number of v.
func (s *Sum) Add(v []float64) {
	for len(v) > 0 {
		n := min(len(v), maxAdds-s.adds)
		for _, x := range v[:n] {
			s.add(math.Float64bits(x))
		}
		if s.adds += n; s.adds == maxAdds {
			s.carry()
		}
		v = v[n:]
	}
}

// AddFloat32 adds every number of v.
func (s *Sum) AddFloat32(v []float32) {
	for len(v) > 0 {
		n := min(len(v), maxAdds-s.adds)
		for _, x := range v[:n] {
			s.add(math.Float64bits(float64(x)))
		}
		if s.adds += n; s.adds == maxAdds {
			s.carry()
		}
		v = v[n:]
	}
}

func (s *Sum) add(bits uint64) {
	m, e := int64(bits&mantissa), uint(bits>>52)&0x7ff
	switch e {
	case 0x7ff:
		s.special(bits)
		return
	case 0:
		e = 1
	default:
		m |= mantissa + 1
	}
	s.any = true
	s.pos = s.pos || bits != 1<<63
	i, shift := (e-1)>>5&63, (e-1)&31
	sign := int64(bits) >> 63
	s.limb[i] += (m<<shift&math.MaxUint32 ^ sign) - sign
	s.limb[i+1] += (m>>(32-shift) ^ sign) - sign
}

// special takes an infinity or a NaN.
func (s *Sum) special(bits uint64) {
	s.any, s.pos = true, true
	if bits&mantissa != 0 {
		s.nan = true
	} else {
		s.inf[bits>>63] = true
	}
}

// carry leaves all limbs but the last in [0, 2^32).
func (s *Sum) carry() {
	for i := range limbs - 1 {
		s.limb[i+1] += s.limb[i] >> 32
		s.limb[i] &= math.MaxUint32
	}
	s.adds = 0
}

// Merge adds the sum o, which it may propagate carries in.
func (s *Sum) Merge(o *Sum) {
	s.carry()
	o.carry()
	for i, v := range o.limb {
		s.limb[i] += v
	}
	s.carry()
	s.any, s.pos, s.nan = s.any || o.any, s.pos || o.pos, s.nan || o.nan
	s.inf[0], s.inf[1] = s.inf[0] || o.inf[0], s.inf[1] || o.inf[1]
}

// Float64 is the sum, rounded to nearest, ties to even; +-Inf where it is
// beyond the range. With a NaN, or infinities of both signs, it is the NaN that
// the text NaN stands for. The sum of none is 0, of nothing but -0.0 it is -0.0.
func (s *Sum) Float64() float64 {
	switch {
	case s.nan || s.inf[0] && s.inf[1]:
		return math.Float64frombits(nan)
	case s.inf[0]:
		return math.Inf(1)
	case s.inf[1]:
		return math.Inf(-1)
	case s.any && !s.pos:
		return math.Copysign(0, -1)
	}
	s.carry()
	var sum, limb big.Int
	for i := limbs - 1; i >= 0; i-- {
		sum.Add(sum.Lsh(&sum, 32), limb.SetInt64(s.limb[i]))
	}
	// All bits, so that Float64 is the only step that rounds.
	f := new(big.Float).SetPrec(uint(max(64, sum.BitLen()))).SetInt(&sum)
	v, _ := f.SetMantExp(f, -1074).Float64()
	return v
}
