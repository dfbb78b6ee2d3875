package textfmt

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/colsst/colsst/rowgroup"
)

// instant is a point in time as a text gives it.
type instant struct {
	sec    int64 // since 1970-01-01 UTC; without a zone, as if in UTC
	nanos  int64
	digits int  // of the fraction, zeros at its end cut off
	day    bool // a day alone
	zone   bool // the text names its zone
}

// parseInstant reads yyyy-mm-dd, alone or with a T or a space and
// hh:mm:ss[.fraction][zone]. ok is false for all else, days and hours that do
// not exist among it, and years outside 1..9999.
func parseInstant(b []byte) (t instant, ok bool) {
	if len(b) < 10 {
		return t, false
	}
	d, ok := pairs(b, dayPattern, dayMarks)
	year, month := 100*int(byte(d))+int(byte(d>>16)), int(byte(d>>40))
	day, ok1 := decimal(b[8:10])
	if !ok || !ok1 || year < 1 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return t, false
	}
	t.sec = 86400 * daysSince1970(year, month, day)
	if len(b) == 10 {
		t.day = true
		return t, true
	}
	if len(b) < 19 || b[10]|0x20 != 't' && b[10] != ' ' {
		return t, false
	}
	d, ok = pairs(b[11:], clockPattern, clockMarks)
	hour, minute, second := int(byte(d)), int(byte(d>>24)), int(byte(d>>48))
	if !ok || hour > 23 || minute > 59 || second > 59 {
		return t, false
	}
	t.sec += int64(3600*hour + 60*minute + second)
	b = b[19:]
	if len(b) > 0 && b[0] == '.' {
		n := 1
		for n < len(b) && b[n]-'0' <= 9 {
			n++
		}
		if n == 1 || n > 10 {
			return t, false
		}
		u, _ := parseDigits(b[1:n])
		t.nanos = int64(u) * pow10int(10-n)
		for t.digits = n - 1; t.digits > 0 && b[t.digits] == '0'; {
			t.digits--
		}
		b = b[n:]
	}
	if len(b) == 0 {
		return t, true
	}
	t.zone = true
	if len(b) == 1 {
		return t, b[0]|0x20 == 'z'
	}
	east := int64(1)
	switch b[0] {
	case '+':
	case '-':
		east = -1
	default:
		return t, false
	}
	b = b[1:]
	minute = 0
	ok2 := true
	switch {
	case len(b) == 5 && b[2] == ':':
		minute, ok2 = decimal(b[3:5])
	case len(b) == 4:
		minute, ok2 = decimal(b[2:4])
	case len(b) != 2:
		return t, false
	}
	hour, ok1 = decimal(b[:2])
	t.sec -= east * int64(3600*hour+60*minute)
	return t, ok1 && ok2 && hour <= 23 && minute <= 59
}

// ParseTime reads a time in the forms of cells without a layout, or one of the
// common layouts that could be no other, as a count of the unit since 1970.
// Without a zone it is in tz; nil is UTC. A time between two units becomes the
// later of them, so that a half-open range keeps its rows.
func ParseTime(s string, unit rowgroup.Unit, tz *time.Location) (int64, error) {
	t, ok := parseInstant([]byte(s))
	for i := 0; i < len(commonLayouts) && !ok; i++ {
		t, ok = commonLayouts[i].parse([]byte(s))
	}
	if !ok {
		return 0, fmt.Errorf("expected a time like 2006-01-02, 2006-01-02 15:04 or 2006-01-02T15:04:05.999Z, found %q", s)
	}
	if !t.local(wallZone{loc: tz}) {
		return 0, fmt.Errorf("%q does not exist in %s: a change of clocks skips it", s, tz)
	}
	step := int64(1e9)
	for range unit {
		step /= 1000
	}
	if rest := t.nanos % step; rest > 0 {
		if t.nanos += step - rest; t.nanos == 1e9 {
			t.sec, t.nanos = t.sec+1, 0
		}
	}
	t.digits = 0
	v, _, fits := t.in(unit)
	if !fits {
		return 0, fmt.Errorf("%q is outside the years 1677 to 2262, which %s reach", s, unit)
	}
	return v, nil
}

// Eight bytes of a day and of a clock, and which of them are no digits.
var (
	dayPattern, dayMarks     = binary.LittleEndian.Uint64([]byte("0000-00-")), uint64(0xff0000ff00000000)
	clockPattern, clockMarks = binary.LittleEndian.Uint64([]byte("00:00:00")), uint64(0x0000ff0000ff0000)
)

// pairs reads the first eight bytes of b, digits but for the marks, which are
// those of the pattern: byte i is the number of two digits from i on.
func pairs(b []byte, pattern, marks uint64) (d uint64, ok bool) {
	d = binary.LittleEndian.Uint64(b) ^ pattern
	return d*10 + d>>8, areDigits(d) && d&marks == 0
}

// decimal reads digits, a few.
func decimal(b []byte) (v int, ok bool) {
	for _, c := range b {
		if c-'0' > 9 {
			return 0, false
		}
		v = v*10 + int(c-'0')
	}
	return v, true
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// daysSince1970 counts days of the proleptic Gregorian calendar. Its years
// begin in March here, so that a leap day is the last of its year.
func daysSince1970(year, month, day int) int64 {
	if month < 3 {
		year--
		month += 12
	}
	ofYear := (153*(month-3)+2)/5 + day - 1
	return int64(365*year+year/4-year/100+year/400+ofYear) - 719468
}

// wallZone is where times that name no zone are wall times.
type wallZone struct {
	loc   *time.Location // nil: UTC
	shift bool           // a time that is skipped counts on from those before it
}

// local makes t, which names no zone, the instant of that wall time. Of a wall
// time that happens twice it takes the first; ok is false for one that is
// skipped.
func (t *instant) local(z wallZone) (ok bool) {
	if t.zone || z.loc == nil || z.loc == time.UTC {
		return true
	}
	wall := t.sec
	ok = false
	before, after := z.offset(wall-86400), z.offset(wall+86400)
	for _, offset := range [2]int64{before, after} {
		sec := wall - offset
		if z.offset(sec) == offset && (!ok || sec < t.sec) {
			t.sec, ok = sec, true
		}
	}
	if !ok && z.shift {
		t.sec, ok = wall-before, true
	}
	return ok
}

// offset is how far east the clocks are at an instant.
func (z wallZone) offset(sec int64) int64 {
	_, offset := time.Unix(sec, 0).In(z.loc).Zone()
	return int64(offset)
}

// in is t in a unit. fits is false if the unit's int64 does not reach to it,
// exact if t has digits beyond the unit.
func (t *instant) in(unit rowgroup.Unit) (v int64, exact, fits bool) {
	digits := 3 * int(unit)
	scale := pow10int(digits)
	if t.digits > digits {
		return 0, false, true
	}
	const second int64 = 1e9
	part := t.nanos / (second / scale)
	if unit == rowgroup.Nanos {
		// Nanoseconds begin and end within a second.
		const lo, hi = math.MinInt64/second - 1, math.MaxInt64 / second
		if t.sec < lo || t.sec > hi || t.sec == hi && part > math.MaxInt64%second ||
			t.sec == lo && part < second+math.MinInt64%second {
			return 0, true, false
		}
	}
	return t.sec*scale + part, true, true
}

// unitOf is the coarsest unit with that many fraction digits.
func unitOf(digits int) rowgroup.Unit { return rowgroup.Unit((digits + 2) / 3) }
