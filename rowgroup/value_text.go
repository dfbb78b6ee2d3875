package rowgroup

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// AppendText appends the text of the serialised value b:
//
//	boolean            true, false
//	integers, varint   decimal digits
//	float, double      the shortest decimal that reads back as the same number,
//	                   with an exponent below 1e-6 and from 1e21; NaN (any), +Inf, -Inf
//	decimal            digits with the scale kept: 1.50, 1.2E+4
//	decimal(p,s)       plain digits, s of them behind the point
//	timestamp          2006-01-02T15:04:05.000Z with as many digits as its unit
//	                   has; outside the years 1 to 9999 the number of units
//	date               2006-01-02; -0044-03-15 and 12345-01-01 outside four digits
//	time               15:04:05.000000000
//	duration           1y2mo3d4h5m6s7ms8us9ns
//	text, ascii        as it is
//	blob, fixed, opaque
//	                   0x and hexadecimal digits
//	uuid, inet         as usual
//	counter            the sum of its shards
//	list, set, map, tuple, udt, vector, composite
//	                   a literal like CQL's, with nested texts in single quotes
//
// The text of a value without bytes is empty, but 0x for a blob. Bytes that are
// not Valid stand as 0x and hexadecimal digits, except for texts and UUIDs.
func AppendText(dst []byte, t Type, b []byte) []byte {
	bare := t.bare()
	switch bare.Kind {
	case KindText, KindASCII:
		return append(dst, b...)
	case KindBlob, KindOpaque:
		return appendHex(dst, b)
	case KindTimeUUID:
		bare = &UUID
	}
	if len(b) == 0 {
		return dst
	}
	if valid(bare, b) != nil {
		return appendHex(dst, b)
	}
	return appendText(dst, bare, b)
}

func appendHex(dst, b []byte) []byte {
	return hex.AppendEncode(append(dst, "0x"...), b)
}

// appendText appends the text of a valid value of at least one byte, or of none
// for a text.
func appendText(dst []byte, t *Type, b []byte) []byte {
	switch t.Kind {
	case KindBoolean:
		return strconv.AppendBool(dst, b[0] != 0)
	case KindUint64:
		return strconv.AppendUint(dst, binary.BigEndian.Uint64(b), 10)
	case KindTinyint, KindSmallint, KindInt, KindBigint, KindUint8, KindUint16, KindUint32:
		v, _ := IntOf(*t, b)
		return strconv.AppendInt(dst, v, 10)
	case KindTimestamp, KindOldDate:
		v, _ := IntOf(*t, b)
		return appendTimestamp(dst, v, t.unit())
	case KindDate:
		v, _ := IntOf(*t, b)
		return appendDate(dst, v)
	case KindTime:
		v, _ := IntOf(*t, b)
		return appendTime(dst, v)
	case KindFloat:
		v, _ := Float32Of(b)
		return appendFloat(dst, float64(v), 32)
	case KindDouble:
		v, _ := Float64Of(b)
		return appendFloat(dst, v, 64)
	case KindText, KindASCII:
		return append(dst, b...)
	case KindVarint:
		return bigVarint(b).Append(dst, 10)
	case KindDecimal:
		return appendDecimal(dst, decimalScale(b), bigVarint(b[4:]))
	case KindNumeric:
		return appendNumeric(dst, t, b)
	case KindUUID, KindTimeUUID, KindLexicalUUID:
		return appendUUID(dst, b)
	case KindDuration:
		months, days, nanos, _ := takeDuration(b)
		return appendDurationText(dst, months, days, nanos)
	case KindInet:
		addr, _ := netip.AddrFromSlice(b)
		return addr.AppendTo(dst)
	case KindCounter:
		v, _ := counterValue(b)
		return strconv.AppendInt(dst, v, 10)
	case KindList, KindVector:
		return appendElements(dst, t, b, '[', ']')
	case KindSet, KindMap, KindUDT:
		return appendElements(dst, t, b, '{', '}')
	case KindTuple, KindComposite:
		return appendElements(dst, t, b, '(', ')')
	}
	return appendHex(dst, b)
}

// appendElements appends a literal. Fields missing at the end of a tuple are
// left out.
func appendElements(dst []byte, t *Type, b []byte, open, end byte) []byte {
	dst = append(dst, open)
	e := elementsOf(t, b)
	for i := 0; e.framing != tupleFraming || len(e.rest) > 0; i++ {
		tok, v := e.next()
		if tok == endToken || tok == badToken {
			break
		}
		switch {
		case i == 0:
		case t.Kind == KindMap && i%2 == 1:
			dst = append(dst, ": "...)
		default:
			dst = append(dst, ", "...)
		}
		if t.Kind == KindUDT {
			dst = appendName(dst, t.field(i))
			dst = append(dst, ": "...)
		}
		if tok == nullToken {
			dst = append(dst, "null"...)
		} else {
			dst = appendNested(dst, t.element(i).bare(), v)
		}
	}
	return append(dst, end)
}

// appendNested appends the text of an element of a literal.
func appendNested(dst []byte, t *Type, b []byte) []byte {
	switch t.Kind {
	case KindText, KindASCII:
		return appendQuoted(dst, b, '\'')
	}
	if len(b) == 0 {
		return appendHex(dst, b)
	}
	switch t.Kind {
	case KindTimestamp, KindOldDate, KindDate, KindTime, KindInet:
		dst = append(dst, '\'')
		dst = appendText(dst, t, b)
		return append(dst, '\'')
	}
	return appendText(dst, t, b)
}

// unit is the unit of a timestamp, or of its older form.
func (t *Type) unit() Unit {
	if t.Kind == KindOldDate {
		return Millis
	}
	return t.Unit
}

// perSecond is how many of the unit make a second, and the digits of that.
func (u Unit) perSecond() (n int64, digits int) {
	switch u {
	case Millis:
		return 1e3, 3
	case Micros:
		return 1e6, 6
	case Nanos:
		return 1e9, 9
	}
	return 1, 0
}

// The seconds since 1970 of 0001-01-01 and 10000-01-01.
const (
	firstSecond = -62135596800
	afterSecond = 253402300800
	secondsADay = 24 * 60 * 60
)

func appendTimestamp(dst []byte, v int64, unit Unit) []byte {
	per, digits := unit.perSecond()
	sec, frac := v/per, v%per
	if frac < 0 {
		sec, frac = sec-1, frac+per
	}
	if sec < firstSecond || sec >= afterSecond {
		return strconv.AppendInt(dst, v, 10)
	}
	t := time.Unix(sec, 0).UTC()
	dst = appendCalendar(dst, t)
	dst = append(dst, 'T')
	dst = appendClock(dst, t.Hour()*3600+t.Minute()*60+t.Second())
	if digits > 0 {
		dst = append(dst, '.')
		dst = appendPadded(dst, frac, digits)
	}
	return append(dst, 'Z')
}

func appendDate(dst []byte, days int64) []byte {
	return appendCalendar(dst, time.Unix(days*secondsADay, 0).UTC())
}

func appendCalendar(dst []byte, t time.Time) []byte {
	year, month, day := t.Date()
	if year < 0 {
		dst = append(dst, '-')
		year = -year
	}
	dst = appendPadded(dst, int64(year), 4)
	dst = append(dst, '-')
	dst = appendPadded(dst, int64(month), 2)
	dst = append(dst, '-')
	return appendPadded(dst, int64(day), 2)
}

func appendTime(dst []byte, nanos int64) []byte {
	if nanos < 0 || nanos >= secondsADay*1e9 {
		return strconv.AppendInt(dst, nanos, 10)
	}
	dst = appendClock(dst, int(nanos/1e9))
	dst = append(dst, '.')
	return appendPadded(dst, nanos%1e9, 9)
}

func appendClock(dst []byte, sec int) []byte {
	dst = appendPadded(dst, int64(sec/3600), 2)
	dst = append(dst, ':')
	dst = appendPadded(dst, int64(sec/60%60), 2)
	dst = append(dst, ':')
	return appendPadded(dst, int64(sec%60), 2)
}

// appendPadded appends v >= 0 in at least that many digits.
func appendPadded(dst []byte, v int64, digits int) []byte {
	for n := int64(10); digits > 1; digits, n = digits-1, n*10 {
		if v < n {
			for range digits - 1 {
				dst = append(dst, '0')
			}
			break
		}
	}
	return strconv.AppendInt(dst, v, 10)
}

func appendFloat(dst []byte, v float64, size int) []byte {
	format := byte('f')
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, v, format, -1, size)
}

// appendDecimal appends unscaled x 10^-scale so that the scale can be read
// back: in plain digits for 0 <= scale and values from 1e-6, else with an
// exponent.
func appendDecimal(dst []byte, scale int64, unscaled *big.Int) []byte {
	from := len(dst)
	dst = unscaled.Append(dst, 10)
	if scale == 0 {
		return dst
	}
	if dst[from] == '-' {
		from++
	}
	digits := int64(len(dst) - from)
	exponent := digits - 1 - scale
	if scale > 0 && exponent >= -6 {
		if digits <= scale { // 0.00ddd
			zeros := int(scale - digits + 1)
			dst = append(dst, "00000000"[:zeros]...)
			copy(dst[from+zeros:], dst[from:])
			for i := range zeros {
				dst[from+i] = '0'
			}
			digits += int64(zeros)
		}
		return insertPoint(dst, from+int(digits-scale))
	}
	if digits > 1 {
		dst = insertPoint(dst, from+1)
	}
	dst = append(dst, 'E')
	if exponent >= 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, exponent, 10)
}

func insertPoint(dst []byte, at int) []byte {
	dst = append(dst, 0)
	copy(dst[at+1:], dst[at:])
	dst[at] = '.'
	return dst
}

func appendUUID(dst, b []byte) []byte {
	from := 0
	for _, to := range [...]int{4, 6, 8, 10, 16} {
		if from > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, b[from:to])
		from = to
	}
	return dst
}

// durationUnits are the units of a duration's text from the largest on, and how
// many of its part (0: months, 1: days, 2: nanoseconds) each is.
var durationUnits = [...]struct {
	name string
	part int
	size uint64
}{
	{"y", 0, 12}, {"mo", 0, 1},
	{"w", 1, 7}, {"d", 1, 1},
	{"h", 2, 3600e9}, {"m", 2, 60e9}, {"s", 2, 1e9}, {"ms", 2, 1e6}, {"us", 2, 1e3}, {"ns", 2, 1},
}

func appendDurationText(dst []byte, months, days int32, nanos int64) []byte {
	parts := [3]uint64{uint64(int64(months)), uint64(int64(days)), uint64(nanos)}
	if months < 0 || days < 0 || nanos < 0 {
		dst = append(dst, '-')
		for i := range parts {
			parts[i] = -parts[i]
		}
	}
	if parts == [3]uint64{} {
		return append(dst, "0ns"...)
	}
	for _, u := range durationUnits {
		if n := parts[u.part] / u.size; n > 0 && u.name != "w" {
			dst = strconv.AppendUint(dst, n, 10)
			dst = append(dst, u.name...)
			parts[u.part] -= n * u.size
		}
	}
	return dst
}

var (
	errSyntax = errors.New("wrong form")
	errRange  = errors.New("out of range")
)

// ParseText appends the serialised form of the value whose text is s. It reads
// what AppendText writes for scalar types, and is strict: no blanks around, no
// underscores, no hexadecimal numbers, no integers with a point or an exponent.
// Beyond that it accepts a plus sign, leading zeros, upper and lower case where
// case means nothing, and
//
//	timestamp  a blank in place of T; no time of day (midnight); no zone (UTC)
//	           or an offset (+01:00, +0100, +01); 1 to 9 digits of a fraction,
//	           but other than 0 only those that the unit has; a whole number
//	           is a number of units
//	time       no fraction or 1 to 9 digits; a whole number is nanoseconds
//	double     a point without digits before or after it; Inf, Infinity
//	duration   weeks (w)
//	decimal(p,s)
//	           fewer digits behind the point than s, or more that are 0, and an
//	           exponent
//
// Second 60 and hour 24 are refused. Collections, tuples and counters cannot be
// read from text. Errors name the type; after one, dst is returned as it was.
func ParseText(dst []byte, t Type, s string) ([]byte, error) {
	out, err := parseText(dst, t.bare(), s)
	if err != nil {
		return dst, fmt.Errorf("rowgroup: %q is no %s: %w", shorten(s), t, err)
	}
	return out, nil
}

func parseText(dst []byte, t *Type, s string) ([]byte, error) {
	switch t.Kind {
	case KindBoolean:
		switch {
		case strings.EqualFold(s, "true"):
			return append(dst, 1), nil
		case strings.EqualFold(s, "false"):
			return append(dst, 0), nil
		}
		return nil, errSyntax
	case KindTinyint, KindSmallint, KindInt, KindBigint:
		v, err := parseInt(s, 8*scalarLen(t))
		return AppendInt(dst, *t, v), err
	case KindUint8, KindUint16, KindUint32, KindUint64:
		v, err := parseUint(s, 8*scalarLen(t))
		return AppendInt(dst, *t, int64(v)), err
	case KindTimestamp, KindOldDate:
		v, err := parseTimestamp(s, t.unit())
		return AppendInt(dst, *t, v), err
	case KindDate:
		v, err := parseDate(s)
		return AppendInt(dst, *t, v), err
	case KindTime:
		v, err := parseTime(s)
		return AppendInt(dst, *t, v), err
	case KindFloat:
		v, err := parseFloat(s, 32)
		f := float32(v)
		if v != v {
			f = math.Float32frombits(nan32)
		}
		return AppendFloat32(dst, f), err
	case KindDouble:
		v, err := parseFloat(s, 64)
		return AppendFloat64(dst, v), err
	case KindText:
		if !utf8.ValidString(s) {
			return nil, errors.New("not UTF-8")
		}
		return append(dst, s...), nil
	case KindASCII:
		for i := range len(s) {
			if s[i] >= 0x80 {
				return nil, errors.New("not ASCII")
			}
		}
		return append(dst, s...), nil
	case KindBlob, KindOpaque, KindFixed:
		digits, ok := strings.CutPrefix(s, "0x")
		if !ok {
			return nil, errors.New("0x expected")
		}
		if t.Kind == KindFixed && len(digits) != 2*int(t.Length) {
			return nil, fmt.Errorf("%d hexadecimal digits expected", 2*t.Length)
		}
		return appendUnhex(dst, digits)
	case KindNumeric:
		return parseNumeric(dst, t, s)
	case KindVarint:
		return parseVarint(dst, s)
	case KindDecimal:
		return parseDecimal(dst, s)
	case KindUUID, KindTimeUUID, KindLexicalUUID:
		return parseUUID(dst, s, t.Kind == KindTimeUUID)
	case KindDuration:
		return parseDuration(dst, s)
	case KindInet:
		addr, err := netip.ParseAddr(s)
		if err != nil || addr.Zone() != "" {
			return nil, errSyntax
		}
		return append(dst, addr.AsSlice()...), nil
	case KindEmpty:
		if s != "" {
			return nil, errSyntax
		}
		return dst, nil
	}
	return nil, errors.New("values of this type have no text that can be read")
}

// digitsAt is how many decimal digits s has from i on.
func digitsAt(s string, i int) (n int) {
	for i+n < len(s) && '0' <= s[i+n] && s[i+n] <= '9' {
		n++
	}
	return n
}

// isInteger reports whether s is [+-]?[0-9]+.
func isInteger(s string) bool {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && digitsAt(s, 0) == len(s)
}

// numError makes an error of strconv short.
func numError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, strconv.ErrRange):
		return errRange
	}
	return errSyntax
}

func parseInt(s string, size int) (int64, error) {
	if !isInteger(s) {
		return 0, errSyntax
	}
	v, err := strconv.ParseInt(s, 10, size)
	return v, numError(err)
}

func parseUint(s string, size int) (uint64, error) {
	if !isInteger(s) {
		return 0, errSyntax
	}
	v, err := strconv.ParseUint(strings.TrimLeft(s, "+-"), 10, size)
	if err == nil && v > 0 && s[0] == '-' {
		return 0, errRange
	}
	return v, numError(err)
}

// The NaN that is read from text, Java's.
const (
	nan32 = 0x7fc00000
	nan64 = 0x7ff8000000000000
)

func parseFloat(s string, size int) (float64, error) {
	i := 0
	if s != "" && (s[0] == '+' || s[0] == '-') {
		i = 1
	}
	switch {
	case strings.EqualFold(s, "NaN"):
		return math.Float64frombits(nan64), nil
	case strings.EqualFold(s[i:], "Inf"), strings.EqualFold(s[i:], "Infinity"):
	default:
		whole := digitsAt(s, i)
		i += whole
		frac := 0
		if i < len(s) && s[i] == '.' {
			frac = digitsAt(s, i+1)
			i += 1 + frac
		}
		if whole+frac == 0 {
			return 0, errSyntax
		}
		if i < len(s) && (s[i] == 'e' || s[i] == 'E') && !isInteger(s[i+1:]) ||
			i < len(s) && s[i] != 'e' && s[i] != 'E' {
			return 0, errSyntax
		}
	}
	v, err := strconv.ParseFloat(s, size)
	return v, numError(err)
}

func parseVarint(dst []byte, s string) ([]byte, error) {
	if !isInteger(s) {
		return nil, errSyntax
	}
	x, _ := new(big.Int).SetString(s, 10)
	return appendBigVarint(dst, x), nil
}

// appendBigVarint appends x in the shortest two's complement form.
func appendBigVarint(dst []byte, x *big.Int) []byte {
	negative := x.Sign() < 0
	if negative {
		x = new(big.Int).Not(x)
	}
	from := len(dst)
	if x.BitLen()%8 == 0 { // room for the sign
		dst = append(dst, 0)
	}
	dst = append(dst, x.Bytes()...)
	for i := from; negative && i < len(dst); i++ {
		dst[i] = ^dst[i]
	}
	return dst
}

func parseDecimal(dst []byte, s string) ([]byte, error) {
	mantissa, exponent := s, int64(0)
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		var err error
		if exponent, err = parseInt(s[i+1:], 64); err != nil {
			return nil, err
		}
		mantissa = s[:i]
	}
	whole, frac, point := strings.Cut(mantissa, ".")
	if point && digitsAt(frac, 0) != len(frac) {
		return nil, errSyntax
	}
	if !isInteger(whole + frac) {
		return nil, errSyntax
	}
	scale := int64(len(frac)) - exponent
	// The bounds of the exponent keep the scale from overflowing unseen.
	if exponent < 2*math.MinInt32 || exponent > 2*math.MaxInt32 || int64(int32(scale)) != scale {
		return nil, errRange
	}
	x, _ := new(big.Int).SetString(whole+frac, 10)
	return appendBigVarint(binary.BigEndian.AppendUint32(dst, uint32(scale)), x), nil
}

func appendUnhex(dst []byte, digits string) ([]byte, error) {
	out, err := hex.AppendDecode(dst, []byte(digits))
	if err != nil {
		return nil, errSyntax
	}
	return out, nil
}

func parseUUID(dst []byte, s string, timeUUID bool) ([]byte, error) {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return nil, errSyntax
	}
	if timeUUID && s[14] != '1' {
		return nil, errors.New("not of version 1")
	}
	return appendUnhex(dst, s[:8]+s[9:13]+s[14:18]+s[19:23]+s[24:])
}

func parseDuration(dst []byte, s string) ([]byte, error) {
	rest, negative := strings.CutPrefix(s, "-")
	limits := [3]uint64{math.MaxInt32, math.MaxInt32, math.MaxInt64}
	if negative {
		for i := range limits {
			limits[i]++
		}
	}
	var parts [3]uint64
	next := 0 // units come from the largest on, each once
	for rest != "" || next == 0 {
		n := digitsAt(rest, 0)
		count, err := strconv.ParseUint(rest[:n], 10, 64)
		if err != nil {
			return nil, numError(err)
		}
		rest = rest[n:]
		name := rest
		if i := strings.IndexAny(rest, "0123456789"); i >= 0 {
			name = rest[:i]
		}
		rest = rest[len(name):]
		for next < len(durationUnits) && !strings.EqualFold(durationUnits[next].name, name) {
			next++
		}
		if next == len(durationUnits) {
			return nil, errSyntax
		}
		u := durationUnits[next]
		next++
		if count > (limits[u.part]-parts[u.part])/u.size {
			return nil, errRange
		}
		parts[u.part] += count * u.size
	}
	if negative {
		for i := range parts {
			parts[i] = -parts[i]
		}
	}
	return appendDuration(dst, int32(parts[0]), int32(parts[1]), int64(parts[2])), nil
}

// parseTimestamp reads a number of units, or a date with or without a time of
// day, fraction and zone.
func parseTimestamp(s string, unit Unit) (int64, error) {
	if isInteger(s) {
		return parseInt(s, 64)
	}
	if len(s) < 10 || digitsAt(s, 0) != 4 {
		return 0, errSyntax
	}
	days, year, ok := parseCalendar(s[:10])
	if !ok {
		return 0, errSyntax
	}
	if year < 1 {
		return 0, errRange
	}
	sec, frac := days*secondsADay, int64(0)
	if rest := s[10:]; rest != "" {
		if strings.IndexByte("Tt ", rest[0]) < 0 {
			return 0, errSyntax
		}
		var clock int64
		if clock, frac, rest, ok = parseClock(rest[1:]); !ok {
			return 0, errSyntax
		}
		offset, ok := parseZone(rest)
		if !ok {
			return 0, errSyntax
		}
		sec += clock - offset
	}
	per, _ := unit.perSecond()
	if frac%(1e9/per) != 0 {
		return 0, errors.New("more digits than its unit has")
	}
	frac /= 1e9 / per
	if sec < 0 && frac > 0 { // towards 0, so that the product overflows only if the sum does
		sec, frac = sec+1, frac-per
	}
	if sec > math.MaxInt64/per || sec < math.MinInt64/per {
		return 0, errRange
	}
	v := sec * per
	if frac > 0 && v > math.MaxInt64-frac || frac < 0 && v < math.MinInt64-frac {
		return 0, errRange
	}
	return v + frac, nil
}

// parseCalendar reads yyyy-mm-dd with a year of any length and sign, and
// returns days since 1970.
func parseCalendar(s string) (days int64, year int, ok bool) {
	n := len(s) - len("-mm-dd")
	if n < 1 || s[n] != '-' || s[n+3] != '-' || digitsAt(s, n+1) != 2 || digitsAt(s, n+4) != 2 {
		return 0, 0, false
	}
	year, err := strconv.Atoi(s[:n])
	month, day := twoDigits(s[n+1:]), twoDigits(s[n+4:])
	if err != nil || month < 1 || month > 12 || day < 1 {
		return 0, 0, false
	}
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return t.Unix() / secondsADay, year, t.Day() == day
}

// twoDigits is the number of the two digits at the start of s.
func twoDigits(s string) int { return int(s[0]-'0')*10 + int(s[1]-'0') }

func parseDate(s string) (int64, error) {
	sign := 0
	if s != "" && (s[0] == '+' || s[0] == '-') {
		sign = 1
	}
	if n := digitsAt(s, sign); n < 4 || n > 7 {
		return 0, errSyntax
	}
	days, _, ok := parseCalendar(s)
	if !ok {
		return 0, errSyntax
	}
	if int64(int32(days)) != days {
		return 0, errRange
	}
	return days, nil
}

// parseClock takes hh:mm:ss and a fraction of 1 to 9 digits where there is one,
// and returns seconds, nanoseconds and what follows.
func parseClock(s string) (sec, nanos int64, rest string, ok bool) {
	if digitsAt(s, 0) != 2 || digitsAt(s, 3) != 2 || digitsAt(s, 6) != 2 || s[2] != ':' || s[5] != ':' {
		return 0, 0, "", false
	}
	h, m, second := twoDigits(s), twoDigits(s[3:]), twoDigits(s[6:])
	if h > 23 || m > 59 || second > 59 {
		return 0, 0, "", false
	}
	sec, rest = int64(h*3600+m*60+second), s[8:]
	if rest != "" && rest[0] == '.' {
		n := digitsAt(rest, 1)
		if n < 1 || n > 9 {
			return 0, 0, "", false
		}
		for i := range 9 {
			nanos *= 10
			if i < n {
				nanos += int64(rest[1+i] - '0')
			}
		}
		rest = rest[1+n:]
	}
	return sec, nanos, rest, true
}

// parseZone reads nothing, Z, +hh:mm, +hhmm or +hh, and returns seconds east.
func parseZone(s string) (offset int64, ok bool) {
	if s == "" || s == "Z" || s == "z" {
		return 0, true
	}
	if s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	digits := s[1:]
	if len(digits) == 5 && digits[2] == ':' {
		digits = digits[:2] + digits[3:]
	}
	if len(digits) == 2 {
		digits += "00"
	}
	if len(digits) != 4 || digitsAt(digits, 0) != 4 || twoDigits(digits) > 23 || twoDigits(digits[2:]) > 59 {
		return 0, false
	}
	offset = int64(twoDigits(digits)*3600 + twoDigits(digits[2:])*60)
	if s[0] == '-' {
		offset = -offset
	}
	return offset, true
}

func parseTime(s string) (int64, error) {
	if isInteger(s) {
		v, err := parseInt(s, 64)
		if err == nil && (v < 0 || v >= secondsADay*1e9) {
			err = errRange
		}
		return v, err
	}
	sec, nanos, rest, ok := parseClock(s)
	if !ok || rest != "" {
		return 0, errSyntax
	}
	return sec*1e9 + nanos, nil
}
