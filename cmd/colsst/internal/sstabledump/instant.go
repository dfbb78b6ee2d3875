package sstabledump

import (
	"math"
	"strconv"
)

// The forms of a point in time.
type timeForm uint8

const (
	instantForm timeForm = iota // 2023-11-14T22:13:20.000001Z: no, 3, 6 or 9 digits
	stringForm                  // 2023-11-14T22:13:20.000Z
	jsonForm                    // 2023-11-14 22:13:20.000Z
)

// clock writes points in time. It keeps the day that it wrote last.
type clock struct {
	eras bool // years before the first one are counted from 1 upwards
	day  int64
	text []byte // of day
}

// append appends sec seconds and nanos nanoseconds, 0 to 999,999,999, since
// 1970 in a form of Java's.
func (c *clock) append(dst []byte, sec, nanos int64, form timeForm) []byte {
	day := sec / 86400
	if sec %= 86400; sec < 0 {
		sec += 86400
		day--
	}
	if c.text == nil || day != c.day {
		c.day, c.text = day, appendDay(c.text[:0], day, c.eras)
	}
	dst = append(dst, c.text...)
	sep := byte('T')
	if form == jsonForm {
		sep = ' '
	}
	h, m, s := sec/3600, sec/60%60, sec%60
	dst = append(dst, sep, digit(h/10), digit(h%10), ':', digit(m/10), digit(m%10), ':', digit(s/10), digit(s%10))
	switch {
	case form != instantForm || nanos != 0 && nanos%1e6 == 0:
		dst = appendFraction(dst, nanos/1e6, 3)
	case nanos == 0:
	case nanos%1e3 == 0:
		dst = appendFraction(dst, nanos/1e3, 6)
	default:
		dst = appendFraction(dst, nanos, 9)
	}
	return append(dst, 'Z')
}

func digit(n int64) byte { return byte('0' + n) }

func appendFraction(dst []byte, n int64, digits int) []byte {
	dst = append(dst, ".000000000"[:1+digits]...)
	for i := len(dst) - 1; n > 0; i-- {
		dst[i] = digit(n % 10)
		n /= 10
	}
	return dst
}

// appendDay appends a day since 1970 as year-month-day: of years beyond 9999
// with a sign, and of years before 0, unless they are counted in eras.
func appendDay(dst []byte, day int64, eras bool) []byte {
	// Years that begin in March, in cycles of 400 of them.
	const cycle = 146097 // days
	day += 719468        // since March of the year 0
	n := day / cycle
	if day%cycle < 0 {
		n--
	}
	day -= n * cycle
	year := (day - day/1460 + day/36524 - day/146096) / 365
	day -= 365*year + year/4 - year/100
	month := (5*day + 2) / 153
	d := day - (153*month+2)/5 + 1
	year += 400 * n
	if month += 3; month > 12 {
		month -= 12
		year++
	}
	if eras && year <= 0 {
		year = 1 - year
	}
	switch {
	case year > 9999:
		dst = append(dst, '+')
	case year < 0:
		dst = append(dst, '-')
		year = -year
	}
	for least := int64(1000); least > max(year, 1); least /= 10 {
		dst = append(dst, '0')
	}
	dst = strconv.AppendInt(dst, year, 10)
	return append(dst, '-', digit(month/10), digit(month%10), '-', digit(d/10), digit(d%10))
}

// appendMillis appends a timestamp of milliseconds, in which years are of eras.
func appendMillis(dst []byte, ms int64, form timeForm) []byte {
	c := clock{eras: true}
	return c.appendMillis(dst, ms, form)
}

func (c *clock) appendMillis(dst []byte, ms int64, form timeForm) []byte {
	sec := ms / 1000
	if ms %= 1000; ms < 0 {
		ms += 1000
		sec--
	}
	return c.append(dst, sec, ms*1e6, form)
}

// appendTimeOfDay appends nanoseconds of a day.
func appendTimeOfDay(dst []byte, ns int64) []byte {
	s := ns / 1e9
	h, m := s/3600%24, s/60%60
	s %= 60
	dst = append(dst, digit(h/10), digit(h%10), ':', digit(m/10), digit(m%10), ':', digit(s/10), digit(s%10))
	return appendFraction(dst, ns%1e9, 9)
}

// micros writes a write time. Cassandra takes the seconds towards zero and the
// fraction towards the past, so a time before 1970 comes out a second late.
func (d *dumper) micros(t int64) {
	d.quote()
	if d.o.RawTimes {
		d.out = strconv.AppendInt(d.out, t, 10)
	} else {
		nanos := t * 1000
		if t > math.MaxInt64/1000 {
			nanos = math.MaxInt64
		} else if t < math.MinInt64/1000 {
			nanos = math.MinInt64
		}
		if nanos %= 1e9; nanos < 0 {
			nanos += 1e9
		}
		d.out = d.clock.append(d.out, t/1e6, nanos, instantForm)
	}
	d.unquote()
}

func (d *dumper) seconds(t int64) {
	d.quote()
	if d.o.RawTimes {
		d.out = strconv.AppendInt(d.out, t, 10)
	} else {
		d.out = d.clock.append(d.out, t, 0, instantForm)
	}
	d.unquote()
}
