package rowgroup

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
)

// A value of decimal(p,s) is a number of units of 10^-s, of at most p digits:
//
//	digits      in memory            serialised, two's complement big-endian
//	1 to 9      int32                4 bytes
//	10 to 18    int64                8 bytes
//	19 to 76    as it is serialised  as few bytes as hold p digits: 9 to 32

// numericBytes is how many bytes hold a signed number of so many digits, where
// those are no int64.
func numericBytes(precision int32) int {
	// 10^p is below 2^(8n-1).
	return int(int64(precision)*33220/10000+1)/8 + 1
}

// numericRange is the range of the integers of a decimal(p,s) that are in an
// int64.
func numericRange(t *Type) (from, to int64) {
	to = 1
	for range t.Precision {
		to *= 10
	}
	return -(to - 1), to - 1
}

// wideMost are the greatest numbers by precision, serialised, where those are no
// int64.
var wideMost = func() (most [MaxPrecision + 1][]byte) {
	var w words
	for p := range int32(MaxPrecision + 1) {
		if p > maxDigits64 {
			most[p] = w.append(nil, false, numericBytes(p))
		}
		w.push(10, 9)
	}
	return most
}()

// numericInt is the integer of a decimal(p,s) of 4 or 8 bytes.
func numericInt(t *Type, b []byte) (v int64, ok bool) {
	if len(b) == 4 {
		v = int64(int32(binary.BigEndian.Uint32(b)))
	} else if len(b) == 8 {
		v = int64(binary.BigEndian.Uint64(b))
	} else {
		return 0, false
	}
	from, to := numericRange(t)
	return v, from <= v && v <= to
}

// validNumeric reports whether b, which is of the right length, has no more
// digits than t.
func validNumeric(t *Type, b []byte) bool {
	if t.Precision <= maxDigits64 {
		_, ok := numericInt(t, b)
		return ok
	}
	most := wideMost[t.Precision]
	if b[0] < 0x80 {
		return bytes.Compare(b, most) <= 0
	}
	// -most is the complement of most and 1 more.
	for i, c := range most[:len(most)-1] {
		if b[i] != ^c {
			return b[i] > ^c
		}
	}
	last := len(most) - 1
	return b[last] > ^most[last]
}

// AppendUnscaled appends the serialised value of the decimal(p,s) t, under frozen
// and reversed too, that has so many units of 10^-s, in two's complement
// big-endian bytes of any number but 0. It fails where that has more than p
// digits, and then returns dst as it was.
func AppendUnscaled(dst []byte, t Type, unscaled []byte) ([]byte, error) {
	bare := t.bare()
	if bare.Kind != KindNumeric || len(unscaled) == 0 {
		return dst, fmt.Errorf("rowgroup: %d bytes are no %s", len(unscaled), t)
	}
	at, n := len(dst), scalarLen(bare)
	u, sign := stripSign(unscaled), byte(0)
	if u[0] >= 0x80 {
		sign = 0xff
	}
	for i := len(u); i < n; i++ {
		dst = append(dst, sign)
	}
	dst = append(dst, u...)
	if len(u) > n || !validNumeric(bare, dst[at:]) {
		return dst[:at], fmt.Errorf("rowgroup: a number of more digits than a %s has", t)
	}
	return dst, nil
}

// words is a number below 2^256, the low word first.
type words [4]uint64

// push makes w w times by plus add; what exceeds 256 bits is lost.
func (w *words) push(by, add uint64) {
	for i := range w {
		high, low := bits.Mul64(w[i], by)
		var carry uint64
		w[i], carry = bits.Add64(low, add, 0)
		add = high + carry
	}
}

// pop divides w by by and returns the rest.
func (w *words) pop(by uint64) (rest uint64) {
	for i := len(w) - 1; i >= 0; i-- {
		w[i], rest = bits.Div64(rest, w[i], by)
	}
	return rest
}

// negate makes w -w modulo 2^256.
func (w *words) negate() {
	carry := uint64(1)
	for i := range w {
		w[i], carry = bits.Add64(^w[i], 0, carry)
	}
}

// append appends w or -w in n bytes of two's complement, big-endian.
func (w words) append(dst []byte, neg bool, n int) []byte {
	if neg {
		w.negate()
	}
	var all [32]byte
	for i := range w {
		binary.BigEndian.PutUint64(all[24-8*i:], w[i])
	}
	return append(dst, all[32-n:]...)
}

// wordsOf is the magnitude of a number of at most 32 bytes in two's complement.
func wordsOf(b []byte) (w words, neg bool) {
	var all [32]byte
	if neg = b[0] >= 0x80; neg {
		for i := range all {
			all[i] = 0xff
		}
	}
	copy(all[32-len(b):], b)
	for i := range w {
		w[i] = binary.BigEndian.Uint64(all[24-8*i:])
	}
	if neg {
		w.negate()
	}
	return w, neg
}

// appendNumeric appends the text of a valid value.
func appendNumeric(dst []byte, t *Type, b []byte) []byte {
	w, neg := wordsOf(b)
	if neg {
		dst = append(dst, '-')
	}
	const size = 1e19 // digits of a word
	var parts [4]uint64
	n := 0
	for parts[0] = w.pop(size); w != (words{}); parts[n] = w.pop(size) {
		n++
	}
	var buf [MaxPrecision]byte
	digits := strconv.AppendUint(buf[:0], parts[n], 10)
	for n--; n >= 0; n-- {
		digits = appendPadded19(digits, parts[n])
	}
	scale := int(t.Scale)
	for i := len(digits); i <= scale; i++ { // 0.05
		dst = append(dst, '0')
		if i == len(digits) && scale > 0 {
			dst = append(dst, '.')
		}
	}
	if whole := len(digits) - scale; whole > 0 && scale > 0 {
		dst = append(append(dst, digits[:whole]...), '.')
		digits = digits[whole:]
	}
	return append(dst, digits...)
}

// appendPadded19 appends v in 19 digits.
func appendPadded19(dst []byte, v uint64) []byte {
	at := len(dst)
	dst = append(dst, "0000000000000000000"...)
	for i := len(dst) - 1; i >= at; i-- {
		dst[i] = byte('0' + v%10)
		v /= 10
	}
	return dst
}

// parseNumeric appends the value of a text like 12.50 or 1.25e1. What t cannot
// hold is an error, and nothing is rounded.
func parseNumeric(dst []byte, t *Type, s string) ([]byte, error) {
	mantissa, exponent := s, int64(0)
	for i := range len(s) {
		if s[i] == 'e' || s[i] == 'E' {
			var err error
			if exponent, err = parseInt(s[i+1:], 64); err != nil && !errors.Is(err, errRange) {
				return nil, err
			} else if err != nil {
				return nil, errRange
			}
			exponent = min(max(exponent, -1<<40), 1<<40) // beyond that, the same holds
			mantissa = s[:i]
			break
		}
	}
	neg := false
	if mantissa != "" && (mantissa[0] == '-' || mantissa[0] == '+') {
		neg = mantissa[0] == '-'
		mantissa = mantissa[1:]
	}
	// The digits from the first to the last that is not 0, and what follows them.
	var w words
	digits, zeros, seen, point := 0, int64(0), 0, false
	for i := range len(mantissa) {
		c := mantissa[i]
		d := uint64(c - '0')
		switch {
		case c == '.' && !point:
			point = true
			continue
		case d > 9:
			return nil, errSyntax
		}
		seen++
		if point {
			exponent--
		}
		if d == 0 {
			if digits > 0 {
				zeros++
			}
			continue
		}
		if int64(digits)+zeros >= MaxPrecision {
			digits = MaxPrecision + 1 // too many in any case
			continue
		}
		for ; zeros > 0; zeros-- {
			w.push(10, 0)
			digits++
		}
		w.push(10, d)
		digits++
	}
	n := scalarLen(t)
	switch exponent += zeros + int64(t.Scale); {
	case seen == 0:
		return nil, errSyntax
	case digits == 0:
		return w.append(dst, false, n), nil
	case exponent < 0:
		return nil, fmt.Errorf("more than %d digits behind the point", t.Scale)
	case int64(digits)+exponent > int64(t.Precision):
		return nil, fmt.Errorf("more than %d digits before the point", t.Precision-t.Scale)
	}
	for range exponent {
		w.push(10, 0)
	}
	return w.append(dst, neg, n), nil
}
