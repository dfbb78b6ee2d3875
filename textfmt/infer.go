package textfmt

import (
	"fmt"

	"github.com/colsst/colsst/rowgroup"
)

// The types of columns are inferred from as many rows and bytes of the input.
const (
	sampleRows  = 64 << 10
	sampleBytes = 16 << 20
)

// Choice is the type of one column and why it has it.
type Choice struct {
	Column string
	Type   rowgroup.Type
	Given  bool    // by the options, not inferred
	Why    string  // what was seen, for people
	Note   string  // what an inferred type does not keep, or ""
	Layout *Layout // of times that are not in the form of the package comment
}

// form is what the text of a cell looks like.
type form uint8

const (
	formText    form = iota // none of the others
	formInt                 // an integer that int64 holds and that reads back
	formBigInt              // a longer one
	formFloat               // a number with a point, an exponent or a minus before 0
	formWord                // NaN, Inf, +Inf, -Inf: a float as it is written
	formOddWord             // another spelling of these
	formBoolean             // true, false
	formDay                 // 2006-01-02
	formTime                // a day and a time
	numForms
)

var formNames = [numForms]string{
	formText: "text", formInt: "an integer", formBigInt: "an integer beyond 64 bits", formFloat: "a number",
	formWord: "NaN or infinity", formOddWord: "NaN or infinity", formBoolean: "true or false", formDay: "a day", formTime: "a time",
}

// maxInferredDigits bounds the integers that make a column a varint.
const maxInferredDigits = 100

// cell remembers where a text was seen.
type cell struct {
	line int64
	text string
}

func (c *cell) set(f *Field) {
	if c.line == 0 {
		*c = cell{f.Line, quote(f.Text)}
	}
}

func (c cell) String() string { return fmt.Sprintf("line %d: %s", c.line, c.text) }

// inference gathers what the cells of one column look like.
type inference struct {
	given   bool    // the type is not inferred
	strings bool    // texts in quotes are no numbers, as in JSON
	isTime  bool    // it is the time column
	layout  *Layout // of its times, where it is given

	rows, nulls int64
	quotedNulls int64 // null unless the column is text
	counts      [numForms]int64
	first       [numForms]cell
	times       times     // of the form of the package comment or the layout given
	others      []times   // of a time column, by commonLayouts, once there is need
	inexact     cell      // first integer that a double does not hold
	long        cell      // first float of more digits than a double keeps
	unclear     [2]string // layouts of a time that can be read in two ways
}

// times gathers what times look like that are read by one layout.
type times struct {
	count       int64
	unit        rowgroup.Unit // finest
	beyondNanos cell          // first that nanoseconds do not reach
	skipped     cell          // first wall time that its zone does not have
}

func (ts *times) add(t *instant, f *Field, zone wallZone) {
	ts.count++
	if !t.local(zone) {
		ts.skipped.set(f)
	}
	ts.unit = max(ts.unit, unitOf(t.digits))
	if _, _, fits := t.in(rowgroup.Nanos); !fits {
		ts.beyondNanos.set(f)
	}
}

// settled reports whether no further cell can change the choice: one text makes
// a column of texts, unless that is a time in another layout.
func (in *inference) settled() bool {
	return in.given || in.counts[formText] > 0 && !in.isTime && in.layout == nil
}

// add looks at one cell.
func (in *inference) add(f *Field, null bool, zone wallZone) {
	in.rows++
	if null {
		if f.Quoted {
			in.quotedNulls++
		} else {
			in.nulls++
		}
		return
	}
	k := in.look(f, zone)
	in.counts[k]++
	in.first[k].set(f)
	if in.isTime && in.layout == nil {
		in.try(f, zone)
	}
}

// another looks at a cell where that is one more integer, of which there is
// nothing to tell.
func (in *inference) another(text []byte) bool {
	if in.counts[formInt] == 0 || in.isTime || in.layout != nil {
		return false
	}
	v, ok := parseDigits(text)
	if !ok || v > 1<<53 || text[0] == '0' && len(text) > 1 {
		return false
	}
	in.rows++
	in.counts[formInt]++
	return true
}

// try reads a cell of a time column by the common layouts. It does so from the
// first cell on that is of another form than the package comment's, which is
// the first of all where all are.
func (in *inference) try(f *Field, zone wallZone) {
	if in.others == nil {
		if in.counts[formTime]+in.counts[formDay] > 0 {
			return
		}
		in.others = make([]times, len(commonLayouts))
		first, second, _ := dayAndMonth(f.Text)
		in.unclear = [2]string{first, second}
	}
	before := in.rows - in.nulls - in.quotedNulls - 1
	for i, l := range commonLayouts {
		if in.others[i].count < before {
			continue // some cell is of another layout
		}
		if t, ok := l.parse(f.Text); ok {
			in.others[i].add(&t, f, zone)
		}
	}
}

func (in *inference) look(f *Field, zone wallZone) form {
	b := f.Text
	if len(b) == 0 {
		return formText
	}
	if in.layout != nil {
		if t, ok := in.layout.parse(b); ok {
			in.times.add(&t, f, zone)
			return formTime
		}
		return formText
	}
	text := in.strings && f.Quoted
	if n, ok := parsePlain(b); ok && !text && n.mantissa < 1e17 {
		return in.plain(&n, f)
	}
	if n, ok := parseNumber(b); ok && !text {
		return in.number(&n, f)
	}
	switch string(b) {
	case "true", "false":
		if !text {
			return formBoolean
		}
	case "NaN", "Inf", "+Inf", "-Inf":
		return formWord
	}
	if _, ok := floatWord(b); ok && !text {
		return formOddWord
	}
	t, ok := parseInstant(b)
	if !ok {
		return formText
	}
	in.times.add(&t, f, zone)
	if t.day {
		return formDay
	}
	return formTime
}

// plain is number for a plain one of up to 17 digits.
func (in *inference) plain(n *plain, f *Field) form {
	whole := f.Text
	if n.neg {
		whole = whole[1:]
	}
	if n.decimals > 0 {
		whole = whole[:len(whole)-n.decimals-1]
	}
	switch {
	case len(whole) > 1 && whole[0] == '0':
		return formText
	case n.decimals > 0 || n.neg && n.mantissa == 0:
		return formFloat
	case !intInDouble(int64(n.mantissa)):
		in.inexact.set(f)
	}
	return formInt
}

func (in *inference) number(n *number, f *Field) form {
	switch {
	case n.zeros || f.Text[0] == '+':
		return formText // 007 and +5 would come back as 7 and 5
	case n.integer && !(n.neg && n.digits == 0):
		v, ok := parseInt(f.Text)
		if !ok || !intInDouble(v) {
			in.inexact.set(f)
		}
		if ok {
			return formInt
		}
		if len(f.Text) > maxInferredDigits {
			return formText
		}
		return formBigInt
	}
	if _, ok := n.float64Of(f.Text); !ok {
		return formText
	}
	if n.digits > 17 {
		in.long.set(f)
	}
	return formFloat
}

// intInDouble reports whether a float64 holds v exactly.
func intInDouble(v int64) bool {
	f := float64(v)
	return f < 1<<63 && int64(f) == v
}

// choose decides on the type of the column. Days alone are instants too in a
// time column.
func (in *inference) choose(name string) Choice {
	c := Choice{Column: name, Type: rowgroup.Text, Layout: in.layout}
	n := in.rows - in.nulls - in.quotedNulls
	is := func(forms ...form) bool {
		var sum int64
		for _, k := range forms {
			sum += in.counts[k]
		}
		return n > 0 && sum == n
	}
	switch {
	case in.layout != nil:
		in.chooseTime(&c, &in.times)
	case n == 0 && in.quotedNulls > 0:
		c.Why = "nothing but empty text"
	case n == 0:
		c.Why = "no value seen"
	case is(formBoolean):
		c.Type, c.Why = rowgroup.Boolean, "true and false"
	case is(formDay) && !in.isTime:
		c.Type, c.Why = rowgroup.Date, "days"
	case is(formDay, formTime):
		in.chooseTime(&c, &in.times)
	case is(formInt):
		c.Type, c.Why = rowgroup.Bigint, "integers"
	case is(formInt, formBigInt):
		c.Type, c.Why = rowgroup.Varint, "integers beyond 64 bits: "+in.first[formBigInt].String()
	case is(formInt, formFloat, formWord, formOddWord):
		c.Type, c.Why = rowgroup.Double, "numbers"
		if in.inexact.line > 0 {
			c.Type, c.Why = rowgroup.Text, "integers that a double does not hold, and fractions"
			c.Note = fmt.Sprintf("%s would lose digits as a double; give --type %s or --type %s", in.inexact, FlagValue(name, "decimal"), FlagValue(name, "double"))
		} else if in.long.line > 0 {
			c.Note = fmt.Sprintf("%s has more digits than a double keeps; give --type %s to keep them", in.long, FlagValue(name, "decimal"))
		}
	case is(formInt, formBigInt, formFloat):
		c.Why = "integers beyond 64 bits, and fractions"
		c.Note = fmt.Sprintf("%s would lose digits as a double; give --type %s or --type %s", in.inexact, FlagValue(name, "decimal"), FlagValue(name, "double"))
	case in.chooseLayout(&c, n):
	default:
		in.chooseText(&c)
		if in.unclear[0] != "" {
			c.Note = fmt.Sprintf("is the day first or the month? give --layout %s or --layout %s", FlagValue(name, in.unclear[0]), FlagValue(name, in.unclear[1]))
		}
	}
	return c
}

// chooseLayout takes the common layout that reads all n cells of a time column.
func (in *inference) chooseLayout(c *Choice, n int64) bool {
	for i := range in.others {
		if ts := &in.others[i]; ts.count == n {
			c.Layout = commonLayouts[i]
			in.chooseTime(c, ts)
			return true
		}
	}
	return false
}

func (in *inference) chooseTime(c *Choice, ts *times) {
	switch {
	case ts.skipped.line > 0 && c.Layout == nil:
		c.Why = "times, one of which its time zone skips"
		c.Note = ts.skipped.String() + " does not exist in the time zone given"
	case ts.unit == rowgroup.Nanos && ts.beyondNanos.line > 0 && c.Layout == nil:
		c.Why = "times of nanoseconds, one of which they do not reach"
		c.Note = ts.beyondNanos.String() + " is outside the years 1677 to 2262"
	default:
		c.Type = rowgroup.Timestamp(ts.unit)
		c.Why = "times"
		if ts.unit == rowgroup.Seconds {
			c.Why = "times of whole seconds"
		}
		if c.Layout != nil {
			c.Why += " like " + c.Layout.String()
		}
	}
}

// chooseText names a cell that makes the column a text, and one that does not
// go with it if there are several forms.
func (in *inference) chooseText(c *Choice) {
	a, b := numForms, numForms // the two forms seen first
	for k := range numForms {
		switch line := in.first[k].line; {
		case line == 0:
		case a == numForms || line < in.first[a].line:
			a, b = k, a
		case b == numForms || line < in.first[b].line:
			b = k
		}
	}
	if in.counts[formText] > 0 {
		c.Why = in.first[formText].String()
		return
	}
	c.Why = fmt.Sprintf("%s and %s: %s, %s", formNames[a], formNames[b], in.first[a], in.first[b])
}
