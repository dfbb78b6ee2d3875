package textfmt

import (
	"bytes"
	"fmt"
	"strings"
)

// Layout is the form of times in a text. Nil is the form of the package
// comment.
type Layout struct {
	text  string
	unix  bool // decimal seconds since 1970
	items []layoutItem
}

// layoutItem is one part of a time.
type layoutItem struct {
	part    layoutPart
	min     int    // digits at least
	literal string // for partLiteral
}

type layoutPart uint8

const (
	partLiteral layoutPart = iota
	partYear               // four digits
	partYear2              // two, from 1969 to 2068
	partMonth
	partMonthName // Jan
	partMonthLong // January
	partDay
	partDayBlank // a blank instead of a leading zero
	partYearDay
	partHour
	partHour12
	partMinute
	partSecond // with as many fraction digits as there are
	partHalf   // AM or PM
	partZone   // Z, UTC, GMT, +01:00, +0100 or +01
	partWeekday
	partWeekdayLong
)

// namedLayouts are layouts that have a name.
var namedLayouts = map[string]string{
	"apache":  "02/Jan/2006:15:04:05 -0700",
	"rfc1123": "Mon, 02 Jan 2006 15:04:05 MST",
	"ansic":   "Mon Jan _2 15:04:05 2006",
}

// goTokens are the parts of a layout of package time. Of two that begin alike
// the longer one comes first.
var goTokens = []struct {
	text string
	item layoutItem
}{
	{"January", layoutItem{part: partMonthLong}}, {"Jan", layoutItem{part: partMonthName}},
	{"Monday", layoutItem{part: partWeekdayLong}}, {"Mon", layoutItem{part: partWeekday}}, {"MST", layoutItem{part: partZone}},
	{"2006", layoutItem{part: partYear}}, {"002", layoutItem{part: partYearDay}},
	{"01", layoutItem{part: partMonth, min: 2}}, {"02", layoutItem{part: partDay, min: 2}}, {"03", layoutItem{part: partHour12, min: 2}},
	{"04", layoutItem{part: partMinute, min: 2}}, {"05", layoutItem{part: partSecond, min: 2}}, {"06", layoutItem{part: partYear2}},
	{"15", layoutItem{part: partHour, min: 1}}, {"_2", layoutItem{part: partDayBlank, min: 1}},
	{"1", layoutItem{part: partMonth, min: 1}}, {"2", layoutItem{part: partDay, min: 1}}, {"3", layoutItem{part: partHour12, min: 1}},
	{"4", layoutItem{part: partMinute, min: 1}}, {"5", layoutItem{part: partSecond, min: 1}},
	{"PM", layoutItem{part: partHalf}}, {"pm", layoutItem{part: partHalf}},
	{"Z07:00", layoutItem{part: partZone}}, {"Z0700", layoutItem{part: partZone}}, {"Z07", layoutItem{part: partZone}},
	{"-07:00", layoutItem{part: partZone}}, {"-0700", layoutItem{part: partZone}}, {"-07", layoutItem{part: partZone}},
	{"Z", layoutItem{part: partZone}},
}

// strptimeTokens are the directives of strptime.
var strptimeTokens = map[byte]layoutItem{
	'Y': {part: partYear}, 'y': {part: partYear2}, 'm': {part: partMonth, min: 1}, 'd': {part: partDay, min: 1}, 'e': {part: partDayBlank, min: 1},
	'j': {part: partYearDay}, 'H': {part: partHour, min: 1}, 'I': {part: partHour12, min: 1}, 'M': {part: partMinute, min: 1},
	'S': {part: partSecond, min: 1}, 'p': {part: partHalf}, 'z': {part: partZone}, 'Z': {part: partZone},
	'b': {part: partMonthName}, 'h': {part: partMonthName}, 'B': {part: partMonthLong}, 'a': {part: partWeekday}, 'A': {part: partWeekdayLong},
	'%': {literal: "%"},
}

// strptimeShort are directives that stand for several.
var strptimeShort = strings.NewReplacer("%F", "%Y-%m-%d", "%T", "%H:%M:%S", "%R", "%H:%M", "%D", "%m/%d/%y", ".%f", "", ",%f", "")

// ParseLayout reads a layout in the manner of package time (02/01/2006
// 15:04:05), or of strptime (%d/%m/%Y %H:%M:%S), or one of these names:
//
//	iso      the form of the package comment
//	unix     decimal seconds since 1970: 1305031102.175304
//	apache   02/Jan/2006:15:04:05 -0700
//	rfc1123  Mon, 02 Jan 2006 15:04:05 MST
//	ansic    Mon Jan _2 15:04:05 2006
//
// Seconds may always have a fraction of up to nine digits, whether or not the
// layout shows one. Numbers have as many digits as the layout shows, or one
// less where package time or strptime lets them. A zone is Z, UTC, GMT or an
// offset; other names of zones mean several each. A weekday is read, not
// checked. Names of months and days are English, in any
// case.
func ParseLayout(s string) (*Layout, error) {
	switch s {
	case "iso":
		return nil, nil
	case "unix":
		return &Layout{text: s, unix: true}, nil
	}
	l := &Layout{text: s}
	if named, ok := namedLayouts[s]; ok {
		s = named
	}
	var err error
	if strings.Contains(s, "%") {
		err = l.strptime(strptimeShort.Replace(s))
	} else {
		l.goLayout(s)
	}
	if err == nil {
		err = l.check()
	}
	if err != nil {
		return nil, fmt.Errorf("layout %q: %w", l.text, err)
	}
	return l, nil
}

// String is the text of the layout.
func (l *Layout) String() string {
	if l == nil {
		return "2006-01-02T15:04:05Z"
	}
	return l.text
}

// add appends an item, joining literals.
func (l *Layout) add(it layoutItem) {
	if n := len(l.items); it.part == partLiteral && n > 0 && l.items[n-1].part == partLiteral {
		l.items[n-1].literal += it.literal
		return
	}
	l.items = append(l.items, it)
}

func (l *Layout) goLayout(s string) {
next:
	for len(s) > 0 {
		for _, t := range goTokens {
			if strings.HasPrefix(s, t.text) {
				l.add(t.item)
				s = s[len(t.text):]
				continue next
			}
		}
		if n := fraction(s); n > 0 && len(l.items) > 0 && l.items[len(l.items)-1].part == partSecond {
			s = s[n:]
			continue
		}
		l.add(layoutItem{literal: s[:1]})
		s = s[1:]
	}
}

// fraction is the length of .000 or its like at the start of s.
func fraction(s string) int {
	if s[0] != '.' && s[0] != ',' {
		return 0
	}
	n := 1
	for n < len(s) && (s[n] == '0' || s[n] == '9') && s[n] == s[1] {
		n++
	}
	if n == 1 {
		return 0
	}
	return n
}

func (l *Layout) strptime(s string) error {
	for len(s) > 0 {
		if s[0] != '%' {
			l.add(layoutItem{literal: s[:1]})
			s = s[1:]
			continue
		}
		if len(s) == 1 {
			return fmt.Errorf("%% at the end")
		}
		it, ok := strptimeTokens[s[1]]
		if !ok {
			return fmt.Errorf("directive %s is not known", s[:2])
		}
		l.add(it)
		s = s[2:]
	}
	return nil
}

// check finds layouts that do not tell a day.
func (l *Layout) check() error {
	var has [partWeekdayLong + 1]int
	for _, it := range l.items {
		has[it.part]++
	}
	month := has[partMonth] + has[partMonthName] + has[partMonthLong]
	day := has[partDay] + has[partDayBlank]
	switch {
	case has[partYear]+has[partYear2] != 1:
		return fmt.Errorf("expected one year, as 2006 or %%Y")
	case has[partYearDay] == 1 && month+day == 0:
	case month != 1 || day > 1 || has[partYearDay] > 0:
		return fmt.Errorf("expected one month and at most one day, as 01 and 02 or %%m and %%d")
	}
	hour := has[partHour] + has[partHour12]
	if hour > 1 || has[partMinute] > 1 || has[partSecond] > 1 || has[partZone] > 1 || has[partHalf] > 1 ||
		has[partMinute] > hour || has[partSecond] > has[partMinute] || has[partHalf] != has[partHour12] {
		return fmt.Errorf("its hours, minutes and seconds do not make a time of day; 12 hours need AM or PM")
	}
	return nil
}

var monthNames = [...]string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}
var dayNames = [...]string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// parse reads a time. ok is false for text of another form and for days and
// hours that do not exist.
func (l *Layout) parse(b []byte) (t instant, ok bool) {
	if l == nil {
		return parseInstant(b)
	}
	if l.unix {
		return parseUnix(b)
	}
	year, month, day, yearDay, hour, minute, second, half := 0, 1, 1, 0, 0, 0, 0, -1
	clock := false
	for i := range l.items {
		it := &l.items[i]
		ok := true
		switch it.part {
		case partLiteral:
			if len(b) < len(it.literal) || string(b[:len(it.literal)]) != it.literal {
				return t, false
			}
			b = b[len(it.literal):]
		case partYear:
			year, b, ok = digits(b, 4, 4)
		case partYear2:
			if year, b, ok = digits(b, 2, 2); year < 69 {
				year += 100
			}
			year += 1900
		case partMonth:
			month, b, ok = digits(b, it.min, 2)
		case partMonthName:
			month, b, ok = named(b, monthNames[:], 3)
		case partMonthLong:
			month, b, ok = named(b, monthNames[:], 0)
		case partDayBlank, partDay:
			if it.part == partDayBlank && len(b) > 0 && b[0] == ' ' {
				b = b[1:]
			}
			day, b, ok = digits(b, it.min, 2)
		case partYearDay:
			yearDay, b, ok = digits(b, 3, 3)
			ok = ok && yearDay > 0
		case partHour, partHour12:
			hour, b, ok = digits(b, it.min, 2)
			clock = true
			ok = ok && hour < 24 && (it.part == partHour || hour >= 1 && hour <= 12)
		case partMinute:
			minute, b, ok = digits(b, it.min, 2)
			ok = ok && minute < 60
		case partSecond:
			if second, b, ok = digits(b, it.min, 2); ok && second < 60 {
				b, ok = t.fraction(b)
			} else {
				ok = false
			}
		case partHalf:
			ok = len(b) >= 2 && (b[0]|0x20 == 'a' || b[0]|0x20 == 'p') && b[1]|0x20 == 'm'
			if ok {
				half = 0
				if b[0]|0x20 == 'p' {
					half = 1
				}
				b = b[2:]
			}
		case partZone:
			b, ok = t.offset(b)
		case partWeekday:
			_, b, ok = named(b, dayNames[:], 3)
		case partWeekdayLong:
			_, b, ok = named(b, dayNames[:], 0)
		}
		if !ok {
			return t, false
		}
	}
	if len(b) > 0 || year < 1 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return t, false
	}
	if half >= 0 {
		hour = hour%12 + 12*half
	}
	days := daysSince1970(year, month, day)
	if yearDay > 0 {
		if yearDay == 366 && daysIn(year, 2) == 28 || yearDay > 366 {
			return t, false
		}
		days += int64(yearDay - 1)
	}
	t.day = !clock
	t.sec += 86400*days + int64(3600*hour+60*minute+second)
	return t, true
}

// digits reads between least and most digits.
func digits(b []byte, least, most int) (v int, rest []byte, ok bool) {
	n := 0
	for n < len(b) && n < most && b[n]-'0' <= 9 {
		v = v*10 + int(b[n]-'0')
		n++
	}
	return v, b[n:], n >= least
}

// named reads one of the names, or their first letters where cut is not 0, in
// any case, and numbers it from 1.
func named(b []byte, names []string, cut int) (v int, rest []byte, ok bool) {
	for i, name := range names {
		if cut > 0 {
			name = name[:cut]
		}
		if len(b) >= len(name) && foldEqual(b[:len(name)], name) {
			return i + 1, b[len(name):], true
		}
	}
	return 0, b, false
}

// parseUnix reads [-]seconds[.fraction].
func parseUnix(b []byte) (t instant, ok bool) {
	neg := len(b) > 0 && b[0] == '-'
	if neg {
		b = b[1:]
	}
	n := 0
	for n < len(b) && n < 13 && b[n]-'0' <= 9 {
		t.sec = t.sec*10 + int64(b[n]-'0')
		n++
	}
	rest, ok := t.fraction(b[n:])
	if n == 0 || !ok || len(rest) > 0 {
		return t, false
	}
	if neg {
		t.sec = -t.sec
		if t.nanos > 0 {
			t.sec, t.nanos = t.sec-1, 1e9-t.nanos
		}
	}
	t.zone = true
	return t, firstSecond <= t.sec && t.sec < afterSecond
}

// The seconds since 1970 of 0001-01-01 and 10000-01-01.
var (
	firstSecond = 86400 * daysSince1970(1, 1, 1)
	afterSecond = 86400 * daysSince1970(10000, 1, 1)
)

// fraction reads the fraction of a second behind a point or comma, if there is
// one: up to nine digits, and zeros behind them.
func (t *instant) fraction(b []byte) (rest []byte, ok bool) {
	if len(b) < 2 || b[0] != '.' && b[0] != ',' || b[1]-'0' > 9 {
		return b, true
	}
	n := 1
	for ; n < len(b) && b[n]-'0' <= 9; n++ {
		if d := int64(b[n] - '0'); d > 0 {
			if n > 9 {
				return b, false
			}
			t.nanos += d * pow10int(9-n)
			t.digits = n
		}
	}
	return b[n:], true
}

func pow10int(n int) int64 { return int64(pow10uint[n]) }

// offset reads a zone: Z, UTC, GMT, or hours and minutes east of Greenwich.
func (t *instant) offset(b []byte) (rest []byte, ok bool) {
	t.zone = true
	for _, name := range [...]string{"utc", "gmt", "z"} {
		if len(b) >= len(name) && foldEqual(b[:len(name)], name) {
			return b[len(name):], true
		}
	}
	if len(b) < 3 || b[0] != '+' && b[0] != '-' {
		return b, false
	}
	hour, rest, ok := digits(b[1:], 2, 2)
	minute := 0
	if ok && len(rest) > 0 && rest[0] == ':' {
		minute, rest, ok = digits(rest[1:], 2, 2)
	} else if ok && len(rest) > 1 && rest[0]-'0' <= 9 {
		minute, rest, ok = digits(rest, 2, 2)
	}
	sec := int64(3600*hour + 60*minute)
	if b[0] == '-' {
		sec = -sec
	}
	t.sec -= sec
	return rest, ok && hour < 24 && minute < 60
}

// commonLayouts are those that a time column is tried with where it is not of
// the form of the package comment. None of them could be another one.
var commonLayouts = func() (all []*Layout) {
	for _, s := range []string{
		"2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02T15:04Z07:00",
		"2006/1/2", "2006/1/2 15:04", "2006/1/2 15:04:05", "2006.01.02 15:04:05",
		"20060102 150405", "20060102T150405Z07:00",
		"apache", "2/Jan/2006:15:04:05", "rfc1123", "ansic",
		"2 Jan 2006", "2 Jan 2006 15:04", "2 Jan 2006 15:04:05", "2-Jan-2006", "2-Jan-2006 15:04:05",
		"Jan 2, 2006", "Jan 2, 2006 15:04:05", "January 2, 2006",
	} {
		l, err := ParseLayout(s)
		if err != nil {
			panic(err)
		}
		all = append(all, l)
	}
	return all
}()

// dayAndMonth reports whether a time begins with two short numbers and a year,
// which leaves open which of them is the day, and gives the layouts of both.
func dayAndMonth(b []byte) (dayFirst, monthFirst string, ok bool) {
	_, rest, ok := digits(b, 1, 2)
	if !ok || len(rest) == 0 || !bytes.ContainsRune([]byte("/.-"), rune(rest[0])) {
		return "", "", false
	}
	sep := rest[0]
	_, rest, ok = digits(rest[1:], 1, 2)
	if !ok || len(rest) == 0 || rest[0] != sep {
		return "", "", false
	}
	if _, rest, ok = digits(rest[1:], 4, 4); !ok {
		return "", "", false
	}
	clock := ""
	for _, s := range []string{" 15:04:05", " 15:04", " 3:04:05 PM", " 3:04 PM"} {
		l, err := ParseLayout("2006-01-02" + s)
		if _, ok := l.parse(append([]byte("2006-01-02"), rest...)); err == nil && ok {
			clock = s
		}
	}
	s := string(sep)
	return "2" + s + "1" + s + "2006" + clock, "1" + s + "2" + s + "2006" + clock, true
}
