package textfmt

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"

	"github.com/colsst/colsst/rowgroup"
)

// parseInt reads [+-]?digits. ok is false if b is anything else or does not
// fit an int64.
func parseInt(b []byte) (v int64, ok bool) {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		return parseSigned(b)
	}
	u, ok := parseDigits(b)
	if !ok {
		u, ok = parseLongInt(b)
	}
	return int64(u), ok && u <= math.MaxInt64
}

// parseSigned is parseInt for what begins with a sign.
func parseSigned(b []byte) (v int64, ok bool) {
	u, ok := parseDigits(b[1:])
	if !ok {
		u, ok = parseLongInt(b[1:])
	}
	if b[0] == '-' {
		return -int64(u), ok && u <= 1<<63
	}
	return int64(u), ok && u <= math.MaxInt64
}

// parseLongInt reads digits, any number of which are leading zeros. ok is false
// if they do not fit.
func parseLongInt(b []byte) (u uint64, ok bool) {
	for _, c := range b {
		d := uint64(c - '0')
		if d > 9 || u > math.MaxUint64/10 {
			return 0, false
		}
		u = u*10 + d
		if u < d {
			return 0, false
		}
	}
	return u, len(b) > 0
}

// parseDigits reads 1 to 19 digits, eight of them at once. ok is false for all
// else. It loads what lies behind b in its memory, and shifts it out.
func parseDigits(b []byte) (u uint64, ok bool) {
	n := uint(len(b))
	if n-1 > 15 {
		if n-1 > 18 {
			return 0, false
		}
		high, ok1 := parseDigits(b[:n-16])
		low, ok2 := parseDigits(b[n-16:])
		return high*1e16 + low, ok1 && ok2
	}
	var padded [16]byte
	if cap(b) < 16 {
		copy(padded[:], b)
		b = padded[:]
	}
	b = b[:16]
	const zeros = '0' * everyByte
	high := binary.LittleEndian.Uint64(b) ^ zeros
	if n <= 8 {
		high <<= (64 - 8*n) & 63
		return joinDigits(high), areDigits(high)
	}
	low := (binary.LittleEndian.Uint64(b[8:]) ^ zeros) << ((128 - 8*n) & 63)
	return joinDigits(high)*pow10uint[n-8] + joinDigits(low), areDigits(high) && areDigits(low)
}

// everyByte repeats a byte by multiplication.
const everyByte = 0x0101010101010101

// areDigits reports whether the eight bytes of d are numbers up to 9: those do
// not reach the high half of their byte, nor with 6 added.
func areDigits(d uint64) bool { return (d|(d+6*everyByte))&(0xf0*everyByte) == 0 }

// joinDigits is the number of eight digits, numbers 0 to 9, the first of them in
// the lowest byte: it joins pairs, and fours, and these.
func joinDigits(d uint64) uint64 {
	d = d*10 + d>>8
	const mask = 0x000000ff000000ff
	return ((d&mask)*(100+1000000<<32) + (d>>16&mask)*(1+10000<<32)) >> 32
}

// number is what the text of a decimal number looks like.
type number struct {
	neg      bool
	integer  bool   // neither point nor exponent
	zeros    bool   // an integer part like 007
	digits   int    // significant digits, without zeros at either end
	mantissa uint64 // the first 19 significant digits
	exact    bool   // mantissa holds all of them
	exp      int    // value = mantissa x 10^exp, if exact
}

// parseNumber reads [+-]?(digits[.digits?]|.digits)([eE][+-]?digits)?.
func parseNumber(b []byte) (n number, ok bool) {
	i := 0
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		n.neg = b[0] == '-'
		i = 1
	}
	n.integer, n.exact = true, true
	start, seen, zeros := i, 0, 0
	for ; i < len(b); i++ {
		c := b[i]
		d := c - '0'
		if d > 9 {
			if c != '.' || !n.integer {
				break
			}
			n.integer = false
			n.zeros = seen > 1 && b[start] == '0'
			continue
		}
		seen++
		if !n.integer {
			n.exp--
		}
		switch {
		case d == 0 && n.digits == 0:
		case d == 0:
			zeros++ // not significant unless another digit follows
		default:
			n.digits += zeros + 1
			if n.digits > 19 {
				n.exact = false
			} else {
				for ; zeros > 0; zeros-- {
					n.mantissa *= 10
				}
				n.mantissa = n.mantissa*10 + uint64(d)
			}
			zeros = 0
		}
	}
	if seen == 0 {
		return n, false
	}
	if n.integer {
		n.zeros = seen > 1 && b[start] == '0'
	}
	n.exp += zeros
	if i == len(b) {
		return n, true
	}
	if b[i] != 'e' && b[i] != 'E' {
		return n, false
	}
	n.integer = false
	i++
	neg := false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		neg = b[i] == '-'
		i++
	}
	if i == len(b) {
		return n, false
	}
	e := 0
	for ; i < len(b); i++ {
		d := b[i] - '0'
		if d > 9 {
			return n, false
		}
		e = min(e*10+int(d), 1<<24)
	}
	if neg {
		e = -e
	}
	n.exp += e
	return n, true
}

// parsePlain reads [-]digits[.digits], at most 19 digits behind the point and a
// mantissa below 2^63: the number is mantissa / 10^decimals. It reads most numbers
// that there are; for others, ok is false.
func parsePlain(b []byte) (n plain, ok bool) {
	if len(b) > 0 && b[0] == '-' {
		n.neg = true
		b = b[1:]
	}
	point := findPoint(b)
	if point < 0 {
		n.mantissa, ok = parseDigits(b)
		return n, ok && n.mantissa < 1<<63
	}
	whole, ok1 := parseDigits(b[:point])
	part, ok2 := parseDigits(b[point+1:])
	n.decimals = len(b) - point - 1
	if !ok1 || !ok2 || whole > 0 && point+n.decimals > 18 {
		return n, false
	}
	n.mantissa = whole*pow10uint[n.decimals] + part
	return n, n.mantissa < 1<<63
}

// findPoint is where the point is in the first 20 bytes of b, -1 if there is none.
func findPoint(b []byte) int {
	if cap(b) < 8 {
		return bytes.IndexByte(b, '.') // in less than 8
	}
	x := binary.LittleEndian.Uint64(b[:8]) ^ '.'*everyByte
	zero := (x - everyByte) &^ x & (0x80 * everyByte) // its lowest bit is of the first byte of x that is 0
	if at := bits.TrailingZeros64(zero) >> 3; at < len(b) && at < 8 {
		return at
	} else if at < 8 || len(b) <= 8 {
		return -1
	}
	return bytes.IndexByte(b[:min(len(b), 20)], '.')
}

// plain is a decimal number without exponent.
type plain struct {
	neg      bool
	mantissa uint64
	decimals int // at most 19
}

// units is n as a number of units of the decimal(p,s) t, of at most 18 digits. ok
// is false where that may not be it exactly.
func (n *plain) units(t *rowgroup.Type) (v int64, ok bool) {
	by := int(t.Scale) - n.decimals
	if by < 0 {
		return 0, false
	}
	high, u := bits.Mul64(n.mantissa, pow10uint[by])
	if high > 0 || u >= pow10uint[t.Precision] {
		return 0, false
	}
	if n.neg {
		return -int64(u), true
	}
	return int64(u), true
}

// float64Of is the double nearest to n.
func (n *plain) float64Of() float64 {
	var v float64
	if n.mantissa <= 1<<53 {
		v = float64(n.mantissa) / pow10[n.decimals] // both are exact, so it rounds once
	} else {
		v = divide(n.mantissa, pow10uint[n.decimals], 53)
	}
	if n.neg {
		return -v
	}
	return v
}

// float32Of is the float nearest to n.
func (n *plain) float32Of() float32 {
	var v float32
	const halfway = 1 << 28 // of the bits that a double has more
	d := float64(n.mantissa) / pow10[n.decimals]
	if n.mantissa <= 1<<53 && math.Float64bits(d)&(2*halfway-1) != halfway {
		// A double beside the middle of two floats is on the number's side of it.
		v = float32(d)
	} else {
		v = float32(divide(n.mantissa, pow10uint[n.decimals], 24))
	}
	if n.neg {
		return -v
	}
	return v
}

// divide is a/b rounded once to so many bits, half to even; neither is 0.
func divide(a, b uint64, significant int) float64 {
	// Of a quotient of 63 or 64 bits the lowest stands for all that follow.
	ea, eb := bits.LeadingZeros64(a), bits.LeadingZeros64(b)
	q, r := bits.Div64(a<<ea>>1, a<<ea<<63, b<<eb)
	if r > 0 {
		q |= 1
	}
	drop := bits.Len64(q) - significant
	half := uint64(1) << (drop - 1)
	rest := q & (2*half - 1)
	q >>= drop
	if rest > half || rest == half && q&1 == 1 {
		q++
	}
	scale := math.Float64frombits(uint64(1023+drop+eb-ea-63) << 52)
	return float64(q) * scale
}

var pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
	1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

var pow10uint = [...]uint64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
	1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// float64Of is the double nearest to the number n, whose text is b. ok is
// false if it is beyond the range of doubles or would become 0.
func (n *number) float64Of(b []byte) (v float64, ok bool) {
	// Both factors are exact, so one multiplication or division rounds once.
	if n.exact && n.mantissa <= 1<<53 && n.exp >= -22 && n.exp <= 22 {
		v = float64(n.mantissa)
		if n.exp < 0 {
			v /= pow10[-n.exp]
		} else {
			v *= pow10[n.exp]
		}
		if n.neg {
			v = -v
		}
		return v, true
	}
	v, err := strconv.ParseFloat(string(b), 64)
	return v, err == nil && (v != 0 || n.digits == 0)
}

// parseFloat64 is the double nearest to the text b.
func parseFloat64(b []byte) (v float64, ok bool) {
	if n, ok := parsePlain(b); ok {
		return n.float64Of(), true
	}
	n, ok := parseNumber(b)
	if !ok {
		return floatWord(b)
	}
	return n.float64Of(b)
}

// parseFloat32 is the float nearest to the text b, rounded once.
func parseFloat32(b []byte) (v float32, ok bool) {
	if n, ok := parsePlain(b); ok {
		return n.float32Of(), true
	}
	n, ok := parseNumber(b)
	if !ok {
		w, ok := floatWord(b)
		return float32(w), ok
	}
	w, err := strconv.ParseFloat(string(b), 32)
	return float32(w), err == nil && (w != 0 || n.digits == 0)
}

// parseFloat is parseFloat32 or parseFloat64, by size, with whether the number
// was rounded.
func parseFloat(b []byte, always, size int) (v float64, inexact, ok bool) {
	if n, ok := parsePlain(b); ok {
		if size == 32 {
			v = float64(n.float32Of())
		} else {
			v = n.float64Of()
		}
		return v, n.rounded(b, v, always, size), true
	}
	if size == 32 {
		var short float32
		short, ok = parseFloat32(b)
		v = float64(short)
	} else {
		v, ok = parseFloat64(b)
	}
	return v, ok && rounded(b, v, always, size), ok
}

// The bits of the NaN that the text NaN stands for, as a double and a float.
const (
	canonicalNaN   = 0x7ff8000000000000
	canonicalNaN32 = 0x7fc00000
)

// floatWord reads NaN, Inf and Infinity in any case, the latter two with or
// without a sign.
func floatWord(b []byte) (v float64, ok bool) {
	if foldEqual(b, "nan") {
		return math.Float64frombits(canonicalNaN), true
	}
	sign := 1
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		if b[0] == '-' {
			sign = -1
		}
		b = b[1:]
	}
	return math.Inf(sign), foldEqual(b, "inf") || foldEqual(b, "infinity")
}

// foldEqual reports whether b is the lower-case ASCII word in any case.
func foldEqual(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i, c := range b {
		if c|0x20 != word[i] {
			return false
		}
	}
	return true
}
