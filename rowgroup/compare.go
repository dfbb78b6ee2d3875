package rowgroup

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
)

// Compare orders the serialised values a and b, Cassandra's big-endian bytes:
// -1, 0 or 1. It is Collate made total: values that Cassandra holds for equal
// though their bytes differ (1.0 and 1.00, NaNs, true as 1 and as 2) follow by
// their unsigned bytes, so only equal bytes compare as 0. It never panics.
// Types that are not Ordered compare by their bytes.
func (t Type) Compare(a, b []byte) int {
	if c := collate(&t, a, b); c != 0 {
		return c
	}
	return t.direction(bytes.Compare(a, b))
}

// Collate orders a and b as Cassandra does, by value. A zero-length value is
// first and one that is not of the type's form is last.
//
//	boolean               false, true
//	integers, timestamp   signed; so are the units of a decimal(p,s)
//	old_date, date, time  unsigned
//	float, double         -0.0 before 0.0, NaNs last
//	varint, decimal       by number
//	uuid                  version, then version 1 by time, then unsigned bytes
//	timeuuid              time, then signed bytes
//	lexical_uuid          two signed halves
//	tuple, udt, list ...  component by component: null, zero-length, value;
//	                      the shorter first where one begins the other
//	reversed              the other way round
//	any other             unsigned bytes
func (t Type) Collate(a, b []byte) int { return collate(&t, a, b) }

// direction turns c round if t is reversed.
func (t *Type) direction(c int) int {
	for len(t.Args) == 1 {
		switch t.Kind {
		case KindReversed:
			c = -c
		case KindFrozen:
		default:
			return c
		}
		t = &t.Args[0]
	}
	return c
}

// CompareInt64 is Type.Compare for values of ClassInt64 as they lie in memory.
func CompareInt64(t Type, a, b int64) int {
	if t.unsigned() {
		return t.direction(cmp.Compare(uint64(a), uint64(b)))
	}
	return t.direction(cmp.Compare(a, b))
}

// CompareInt32 is Type.Compare for values of ClassInt32 as they lie in memory.
func CompareInt32(t Type, a, b int32) int { return t.direction(cmp.Compare(a, b)) }

// CompareFloat64 is Type.Compare for values of ClassFloat64.
func CompareFloat64(t Type, a, b float64) int {
	c := collateFloat64(a, b)
	if c == 0 {
		c = cmp.Compare(math.Float64bits(a), math.Float64bits(b))
	}
	return t.direction(c)
}

// CompareFloat32 is Type.Compare for values of ClassFloat32.
func CompareFloat32(t Type, a, b float32) int {
	c := collateFloat32(a, b)
	if c == 0 {
		c = cmp.Compare(math.Float32bits(a), math.Float32bits(b))
	}
	return t.direction(c)
}

// unsigned reports whether the int64 of t is ordered as an unsigned number.
func (t *Type) unsigned() bool {
	switch t.Kind {
	case KindUint64, KindOldDate, KindTime:
		return true
	case KindFrozen, KindReversed:
		return len(t.Args) == 1 && t.Args[0].unsigned()
	}
	return false
}

func collate(t *Type, a, b []byte) int {
	if t.Kind == KindFrozen && len(t.Args) == 1 {
		return collate(&t.Args[0], a, b)
	}
	if t.Kind == KindReversed && len(t.Args) == 1 {
		return collate(&t.Args[0], b, a)
	}
	if len(a) == 0 || len(b) == 0 {
		return cmp.Compare(len(a), len(b))
	}
	switch t.Kind {
	case KindBoolean, KindTinyint, KindSmallint, KindInt, KindBigint, KindTimestamp, KindFloat, KindDouble,
		KindUUID, KindTimeUUID, KindLexicalUUID, KindNumeric:
		n := scalarLen(t)
		if len(a) != n || len(b) != n {
			return compareMisfits(a, b, len(a) == n, len(b) == n)
		}
	}
	switch t.Kind {
	case KindBoolean:
		return cmp.Compare(min(a[0], 1), min(b[0], 1))
	case KindTinyint, KindSmallint, KindInt, KindBigint, KindTimestamp, KindNumeric:
		return compareSigned(a, b)
	case KindFloat:
		x, _ := Float32Of(a)
		y, _ := Float32Of(b)
		return collateFloat32(x, y)
	case KindDouble:
		x, _ := Float64Of(a)
		y, _ := Float64Of(b)
		return collateFloat64(x, y)
	case KindVarint:
		return compareVarints(a, b)
	case KindDecimal:
		if len(a) < minDecimal || len(b) < minDecimal {
			return compareMisfits(a, b, len(a) >= minDecimal, len(b) >= minDecimal)
		}
		return compareDecimals(a, b)
	case KindUUID:
		return compareUUIDs(a, b)
	case KindTimeUUID:
		return compareTimeUUIDs(a, b)
	case KindLexicalUUID:
		if c := compareSigned(a[:8], b[:8]); c != 0 {
			return c
		}
		return compareSigned(a[8:], b[8:])
	case KindList, KindSet, KindMap, KindTuple, KindUDT, KindVector, KindComposite:
		return compareElements(t, a, b)
	}
	return bytes.Compare(a, b)
}

// compareMisfits compares values of which one at least is not of its type's
// form: those that are come first, the others follow by their bytes.
func compareMisfits(a, b []byte, okA, okB bool) int {
	switch {
	case okA:
		return -1
	case okB:
		return 1
	}
	return bytes.Compare(a, b)
}

// compareSigned compares two's complement big-endian numbers of equal length.
func compareSigned(a, b []byte) int {
	if c := cmp.Compare(int8(a[0]), int8(b[0])); c != 0 {
		return c
	}
	return bytes.Compare(a[1:], b[1:])
}

// collateFloat64 is the order of Java's Double.compare, in which all NaNs are
// equal.
func collateFloat64(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b: // equal, or zeros of either sign
		return cmp.Compare(int64(math.Float64bits(a)), int64(math.Float64bits(b)))
	}
	return compareNaNs(a != a, b != b)
}

// collateFloat32 is the order of Java's Float.compare.
func collateFloat32(a, b float32) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return cmp.Compare(int32(math.Float32bits(a)), int32(math.Float32bits(b)))
	}
	return compareNaNs(a != a, b != b)
}

// compareNaNs puts what is a NaN last.
func compareNaNs(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// stripSign cuts the leading bytes of a two's complement number that only
// repeat its sign. u is not empty.
func stripSign(u []byte) []byte {
	for len(u) > 1 && (u[0] == 0 && u[1] < 0x80 || u[0] == 0xff && u[1] >= 0x80) {
		u = u[1:]
	}
	return u
}

// compareVarints compares two's complement numbers of any length but 0.
func compareVarints(a, b []byte) int {
	a, b = stripSign(a), stripSign(b)
	negative := a[0] >= 0x80
	switch {
	case negative != (b[0] >= 0x80) || len(a) == len(b):
		return compareSigned(a[:min(len(a), len(b))], b[:min(len(a), len(b))])
	case negative:
		return cmp.Compare(len(b), len(a))
	}
	return cmp.Compare(len(a), len(b))
}

// minDecimal is the length of the shortest decimal: a scale and one byte.
const minDecimal = 5

// compareDecimals compares unscaled x 10^-scale by value. It works by the
// numbers' magnitudes as long as these decide, so that a large scale costs
// nothing; where they do not, the powers of ten are no longer than the values.
func compareDecimals(a, b []byte) int {
	scaleA, scaleB := decimalScale(a), decimalScale(b)
	ua, ub := stripSign(a[4:]), stripSign(b[4:])
	if scaleA == scaleB {
		return compareVarints(ua, ub)
	}
	signA, signB := varintSign(ua), varintSign(ub)
	if signA != signB || signA == 0 {
		return cmp.Compare(signA, signB)
	}
	lowA, highA := digitBounds(ua)
	lowB, highB := digitBounds(ub)
	if highA-scaleA <= lowB-scaleB {
		return -signA
	}
	if highB-scaleB <= lowA-scaleA {
		return signA
	}
	x, y := bigVarint(ua), bigVarint(ub)
	power := big.NewInt(10)
	if scaleA < scaleB {
		x.Mul(x, power.Exp(power, big.NewInt(scaleB-scaleA), nil))
	} else {
		y.Mul(y, power.Exp(power, big.NewInt(scaleA-scaleB), nil))
	}
	return x.Cmp(y)
}

func decimalScale(b []byte) int64 { return int64(int32(binary.BigEndian.Uint32(b))) }

// varintSign is the sign of a number that stripSign has seen.
func varintSign(u []byte) int {
	switch {
	case u[0] >= 0x80:
		return -1
	case len(u) == 1 && u[0] == 0:
		return 0
	}
	return 1
}

// digitBounds bounds the magnitude of u, which stripSign has seen and which is
// not 0: 10^low <= |u| < 10^high.
func digitBounds(u []byte) (low, high int64) {
	first, rest := u[0], u[1:]
	if first >= 0x80 {
		first = ^first
	}
	if first == 0 && len(rest) > 0 {
		if first, rest = rest[0], rest[1:]; u[0] >= 0x80 {
			first = ^first
		}
	}
	// 2^(n-1) <= |u| <= 2^n, and log10(2) = 0.30102999...
	n := int64(bits.Len8(first)) + 8*int64(len(rest))
	return max(n-1, 0) * 30102 / 100000, (n+1)*30103/100000 + 1
}

// bigVarint is the number whose two's complement bytes are u.
func bigVarint(u []byte) *big.Int {
	x := new(big.Int).SetBytes(u)
	if len(u) > 0 && u[0] >= 0x80 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(len(u))*8))
	}
	return x
}

func uuidVersion(u []byte) byte { return u[6] >> 4 }

// uuidTime is the 60-bit time of a version 1 UUID with the version on top.
func uuidTime(u []byte) uint64 {
	return uint64(binary.BigEndian.Uint16(u[6:]))<<48 | uint64(binary.BigEndian.Uint16(u[4:]))<<32 |
		uint64(binary.BigEndian.Uint32(u))
}

func compareUUIDs(a, b []byte) int {
	version := uuidVersion(a)
	if c := cmp.Compare(version, uuidVersion(b)); c != 0 {
		return c
	}
	if version == 1 {
		if c := cmp.Compare(uuidTime(a), uuidTime(b)); c != 0 {
			return c
		}
	}
	return bytes.Compare(a, b)
}

func compareTimeUUIDs(a, b []byte) int {
	if c := cmp.Compare(int64(uuidTime(a)), int64(uuidTime(b))); c != 0 {
		return c
	}
	for i := 8; i < 16; i++ {
		if c := cmp.Compare(int8(a[i]), int8(b[i])); c != 0 {
			return c
		}
	}
	return 0
}

// compareElements compares values that consist of others.
func compareElements(t *Type, a, b []byte) int {
	ea, eb := elementsOf(t, a), elementsOf(t, b)
	for i := 0; ; i++ {
		ta, va := ea.next()
		tb, vb := eb.next()
		if ta != tb {
			return cmp.Compare(ta, tb)
		}
		switch ta {
		case endToken:
			return 0
		case badToken:
			return bytes.Compare(ea.rest, eb.rest)
		case valueToken:
			if c := collate(t.element(i), va, vb); c != 0 {
				return c
			}
			if c := cmp.Compare(ea.mark, eb.mark); c != 0 {
				return c
			}
		}
	}
}
