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

// clock writes points in time in one form. It keeps the minute that it wrote
// last.
type clock struct {
	form   timeForm
	minute int64
	text   []byte // up to the minute
}

// append appends sec seconds and nanos nanoseconds, 0 to 999,999,999, since
// 1970. The forms with milliseconds count years before the first one from 1
// upwards.
func (c *clock) append(dst []byte, sec, nanos int64) []byte {
	minute := sec / 60
	if sec %= 60; sec < 0 {
		sec += 60
		minute--
	}
	if c.text == nil || minute != c.minute {
		c.begin(minute)
	}
	dst = append(append(dst, c.text...), digit(sec/10), digit(sec%10))
	switch {
	case c.form != instantForm || nanos != 0 && nanos%1e6 == 0:
		dst = append3(append(dst, '.'), nanos/1e6)
	case nanos == 0:
	case nanos%1e3 == 0:
		dst = append3(append3(append(dst, '.'), nanos/1e6), nanos/1e3%1e3)
	default:
		dst = appendNanos(dst, nanos)
	}
	return append(dst, 'Z')
}

func (c *clock) begin(minute int64) {
	c.minute = minute
	day := minute / 1440
	if minute %= 1440; minute < 0 {
		minute += 1440
		day--
	}
	sep := byte('T')
	if c.form == jsonForm {
		sep = ' '
	}
	h, m := minute/60, minute%60
	c.text = appendDay(c.text[:0], day, c.form != instantForm)
	c.text = append(c.text, sep, digit(h/10), digit(h%10), ':', digit(m/10), digit(m%10), ':')
}

func digit(n int64) byte { return byte('0' + n) }

// append3 appends n, less than 1000, in three digits.
func append3(dst []byte, n int64) []byte {
	return append(dst, digit(n/100), digit(n/10%10), digit(n%10))
}

func appendNanos(dst []byte, n int64) []byte {
	return append3(append3(append3(append(dst, '.'), n/1e6), n/1e3%1e3), n%1e3)
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

// appendMillis appends a timestamp of milliseconds.
func (c *clock) appendMillis(dst []byte, ms int64) []byte {
	sec := ms / 1000
	if ms %= 1000; ms < 0 {
		ms += 1000
		sec--
	}
	return c.append(dst, sec, ms*1e6)
}

// appendTimeOfDay appends nanoseconds of a day.
func appendTimeOfDay(dst []byte, ns int64) []byte {
	s := ns / 1e9
	h, m := s/3600%24, s/60%60
	s %= 60
	dst = append(dst, digit(h/10), digit(h%10), ':', digit(m/10), digit(m%10), ':', digit(s/10), digit(s%10))
	return appendNanos(dst, ns%1e9)
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
		d.out = d.clock.append(d.out, t/1e6, nanos)
	}
	d.unquote()
}

func (d *dumper) seconds(t int64) {
	d.quote()
	if d.o.RawTimes {
		d.out = strconv.AppendInt(d.out, t, 10)
	} else {
		d.out = d.clock.append(d.out, t, 0)
	}
	d.unquote()
}
