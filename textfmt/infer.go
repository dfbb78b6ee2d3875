package textfmt

import (
	"fmt"
	"time"

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
	Given  bool   // by the options, not inferred
	Why    string // what was seen, for people
	Note   string // what an inferred type does not keep, or ""
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
	rows, nulls int64
	quotedNulls int64 // null unless the column is text
	counts      [numForms]int64
	first       [numForms]cell
	unit        rowgroup.Unit // finest of the times
	beyondNanos cell          // first time that nanoseconds do not reach
	skipped     cell          // first wall time that its zone does not have
	inexact     cell          // first integer that a double does not hold
	long        cell          // first float of more digits than a double keeps
}

// add looks at one cell.
func (in *inference) add(f *Field, null bool, zone *time.Location) {
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
}

func (in *inference) look(f *Field, zone *time.Location) form {
	b := f.Text
	if len(b) == 0 {
		return formText
	}
	if n, ok := parseNumber(b); ok {
		return in.number(&n, f)
	}
	switch string(b) {
	case "true", "false":
		return formBoolean
	case "NaN", "Inf", "+Inf", "-Inf":
		return formWord
	}
	if _, ok := floatWord(b); ok {
		return formOddWord
	}
	t, ok := parseInstant(b)
	if !ok {
		return formText
	}
	if !t.local(zone) {
		in.skipped.set(f)
	}
	in.unit = max(in.unit, unitOf(t.digits))
	if _, _, fits := t.in(rowgroup.Nanos); !fits {
		in.beyondNanos.set(f)
	}
	if t.day {
		return formDay
	}
	return formTime
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

// choose decides on the type of the column. isTime says that the column is the
// time column, whose days alone are instants too.
func (in *inference) choose(name string, isTime bool) Choice {
	c := Choice{Column: name, Type: rowgroup.Text}
	n := in.rows - in.nulls - in.quotedNulls
	is := func(forms ...form) bool {
		var sum int64
		for _, k := range forms {
			sum += in.counts[k]
		}
		return n > 0 && sum == n
	}
	switch {
	case n == 0 && in.quotedNulls > 0:
		c.Why = "nothing but empty text"
	case n == 0:
		c.Why = "no value seen"
	case is(formBoolean):
		c.Type, c.Why = rowgroup.Boolean, "true and false"
	case is(formDay) && !isTime:
		c.Type, c.Why = rowgroup.Date, "days"
	case is(formDay, formTime):
		in.chooseTime(&c)
	case is(formInt):
		c.Type, c.Why = rowgroup.Bigint, "integers"
	case is(formInt, formBigInt):
		c.Type, c.Why = rowgroup.Varint, "integers beyond 64 bits: "+in.first[formBigInt].String()
	case is(formInt, formFloat, formWord, formOddWord) && (in.counts[formOddWord] == 0 || in.counts[formInt]+in.counts[formFloat] > 0):
		c.Type, c.Why = rowgroup.Double, "numbers"
		if in.inexact.line > 0 {
			c.Type, c.Why = rowgroup.Text, "integers that a double does not hold, and fractions"
			c.Note = fmt.Sprintf("%s would lose digits as a double; give --type %s=decimal or --type %s=double", in.inexact, name, name)
		} else if in.long.line > 0 {
			c.Note = fmt.Sprintf("%s has more digits than a double keeps; give --type %s=decimal to keep them", in.long, name)
		}
	case is(formInt, formBigInt, formFloat):
		c.Why = "integers beyond 64 bits, and fractions"
		c.Note = fmt.Sprintf("%s would lose digits as a double; give --type %s=decimal or --type %s=double", in.inexact, name, name)
	default:
		in.chooseText(&c)
	}
	return c
}

func (in *inference) chooseTime(c *Choice) {
	switch {
	case in.skipped.line > 0:
		c.Why = "times, one of which its time zone skips"
		c.Note = in.skipped.String() + " does not exist in the time zone given"
	case in.unit == rowgroup.Nanos && in.beyondNanos.line > 0:
		c.Why = "times of nanoseconds, one of which they do not reach"
		c.Note = in.beyondNanos.String() + " is outside the years 1677 to 2262"
	default:
		c.Type = rowgroup.Timestamp(in.unit)
		c.Why = "times"
		if in.unit == rowgroup.Seconds {
			c.Why = "times of whole seconds"
		}
	}
}

// chooseText names a cell that makes the column a text, and one that does not
// go with it if there are several forms.
func (in *inference) chooseText(c *Choice) {
	var a, b form = numForms, numForms // the two forms seen first
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
