package textfmt

import (
	"math"
	"strconv"
)

// parseInt reads [+-]?digits. ok is false if b is anything else or does not
// fit an int64.
func parseInt(b []byte) (v int64, ok bool) {
	neg := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		neg = b[0] == '-'
		b = b[1:]
	}
	if len(b) == 0 {
		return 0, false
	}
	u := uint64(0)
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
	if neg {
		return -int64(u), u <= 1<<63
	}
	return int64(u), u <= math.MaxInt64
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

var pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
	1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

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
	n, ok := parseNumber(b)
	if !ok {
		return floatWord(b)
	}
	return n.float64Of(b)
}

// parseFloat32 is the float nearest to the text b, rounded once.
func parseFloat32(b []byte) (v float32, ok bool) {
	n, ok := parseNumber(b)
	if !ok {
		w, ok := floatWord(b)
		return float32(w), ok
	}
	w, err := strconv.ParseFloat(string(b), 32)
	return float32(w), err == nil && (w != 0 || n.digits == 0)
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
